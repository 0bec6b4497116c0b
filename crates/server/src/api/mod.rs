//! JSON API and linked data: search, datasets and what is known of each, quality, suggestions.
//!
//! Routes that also have a page choose it by content negotiation and render it with [`crate::pages`].

mod dataset;
mod entities;
mod entity;
mod example;
mod examples;
mod files;
mod quality;
mod related;
mod schemas;
mod search;
mod shapes;
mod similar;
mod snippet;
mod suggest;
mod table;
mod terms;

pub(crate) use files::content_disposition;

pub(crate) use example::ExampleParser;
pub(crate) use suggest::Titles;

use crate::AppState;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use utoipa::OpenApi;

/// Caches of the API.
#[derive(Default)]
pub(crate) struct ApiState {
    titles: suggest::CachedTitles,
    quality: quality::CachedOverview,
    terms: terms::CachedTerms,
}

/// Descriptions of the operations.
#[derive(OpenApi)]
#[openapi(
    components(schemas(schemas::Dataset)),
    paths(
        search::search,
        search::duplicates,
        dataset::dataset,
        snippet::snippet,
        shapes::shapes,
        shapes::void,
        examples::of_dataset,
        files::list,
        files::file,
        related::related,
        quality::page_of_one,
        similar::of_dataset,
        similar::form,
        similar::example,
        suggest::suggest,
        entity::entity,
        table::table,
        entities::entities,
        entities::page,
        quality::one,
        quality::all,
        terms::terms,
    )
)]
pub(crate) struct Operations;

/// Returns the routes of the API.
pub(crate) fn router() -> Router<AppState> {
    let example_limit = DefaultBodyLimit::max(similar::MAX_EXAMPLE_BYTES);
    Router::new()
        .route("/api/search", get(search::search))
        .route("/api/duplicates", get(search::duplicates))
        .route("/dataset/{id}", get(dataset::dataset))
        .route("/dataset/{id}/snippet", get(snippet::snippet))
        .route("/dataset/{id}/shapes", get(shapes::shapes))
        .route("/dataset/{id}/void", get(shapes::void))
        .route("/dataset/{id}/examples", get(examples::of_dataset))
        .route("/dataset/{id}/files", get(files::list))
        .route("/dataset/{id}/files/{name}", get(files::file))
        .route("/dataset/{id}/quality", get(quality::page_of_one))
        .route("/dataset/{id}/related", get(related::related))
        .route("/dataset/{id}/entity", get(entity::entity))
        .route("/dataset/{id}/table", get(table::table))
        .route("/dataset/{id}/similar", get(similar::of_dataset))
        .route(
            "/like",
            get(similar::form)
                .post(similar::example)
                .layer(example_limit),
        )
        .route("/entities", get(entities::page))
        .route("/api/entities", get(entities::entities))
        .route("/quality", get(quality::page_of_all))
        .route("/api/quality", get(quality::all))
        .route("/api/quality/{id}", get(quality::one))
        .route("/suggest", get(suggest::suggest))
        .route("/api/terms", get(terms::terms))
}
