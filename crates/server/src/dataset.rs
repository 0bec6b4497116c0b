//! `GET /dataset/{id}`: a page for people, linked data for programs.

use super::error::ApiError;
use super::negotiation::{best, languages};
use super::rdf::dataset_triples;
use super::{AppState, page};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::RdfSyntax;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
    lang: Option<String>,
}

pub(super) async fn dataset(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Response {
    let html = ["text/html", "application/xhtml+xml"];
    let offers: Vec<&str> = html.into_iter().chain(RdfSyntax::ALL.map(RdfSyntax::media_type)).collect();
    let chosen = match &parameters.format {
        Some(name) if name == "html" => Ok(None),
        Some(name) => RdfSyntax::from_name(name)
            .map(Some)
            .ok_or_else(|| ApiError::bad_request(format!("{name:?} is no format here: html, ttl, jsonld, nt or rdf"))),
        None => best(&headers, &offers).map(RdfSyntax::from_name).ok_or_else(|| {
            ApiError::with_status(StatusCode::NOT_ACCEPTABLE, format!("to be had are {}", offers.join(", ")))
        }),
    };
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()));
    let mut response = match (chosen, id) {
        (Err(error), _) => error.into_response(),
        (Ok(None), Err(error)) => page::error(&error),
        (Ok(Some(_)), Err(error)) => error.into_response(),
        (Ok(None), Ok(id)) => match languages(&headers, parameters.lang.as_deref()) {
            Ok(languages) => page::dataset(&state, id, languages).await,
            Err(error) => page::error(&error),
        },
        (Ok(Some(syntax)), Ok(id)) => linked_data(&state, id, syntax).await.unwrap_or_else(IntoResponse::into_response),
    };
    response.headers_mut().append(header::VARY, header::HeaderValue::from_static("accept, accept-language"));
    response
}

async fn linked_data(state: &AppState, id: DatasetId, syntax: RdfSyntax) -> Result<Response, ApiError> {
    let bytes = state
        .work(move |state| {
            let triples = dataset_triples(&state.store, &id)?;
            syntax.write(&triples).map_err(|error| ApiError::internal(&error))
        })
        .await?;
    Ok(([(header::CONTENT_TYPE, syntax.media_type())], bytes).into_response())
}
