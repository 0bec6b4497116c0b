//! `GET /dataset/{id}/examples`: example queries of a dataset, as JSON, text or RDF.

use crate::AppState;
use crate::documentation::{
    BadRequest, FormatParameter, Id, JsonArray, JsonError, Negotiated, NotAcceptable, NotFound,
    Rdf, Text,
};
use crate::error::ApiError;
use crate::example_queries::{Example, example_queries, executable};
use crate::locale::{Locale, Texts};
use crate::negotiation::best;
use crate::public_url::LinkBase;
use crate::response_formats;
use crate::sparql::endpoint_iri;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::RdfSyntax;
use serde::Deserialize;
use std::sync::Arc;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
}

/// Chooses the media type of the list.
fn negotiate(format: Option<&str>, headers: &HeaderMap) -> Result<&'static str, ApiError> {
    let rdf = RdfSyntax::ALL.map(RdfSyntax::media_type);
    match format.filter(|name| !name.is_empty()) {
        Some("json" | JSON) => Ok(JSON),
        Some("text" | "txt" | TEXT) => Ok(TEXT),
        Some(name) => match RdfSyntax::from_name(name) {
            Some(syntax) => Ok(response_formats::with_requested_version(
                syntax.media_type(),
                headers,
            )),
            None => Err(ApiError::unknown_format(
                name,
                "json, text, ttl, jsonld, nt, rdf",
            )),
        },
        None => {
            let offers: Vec<&'static str> = [JSON, TEXT].into_iter().chain(rdf).collect();
            let chosen = best(headers, &offers).ok_or_else(|| ApiError::not_acceptable(&offers))?;
            Ok(response_formats::with_requested_version(chosen, headers))
        }
    }
}

#[utoipa::path(get, path = "/dataset/{id}/examples", tag = "Datasets", operation_id = "examples",
    summary = "Example SPARQL queries",
    params(Id, FormatParameter),
    responses(
        Negotiated<(JsonArray, Text, Rdf)>,
        BadRequest<(JsonError, Text)>,
        NotFound<Text>,
        NotAcceptable<Text>))]
pub(super) async fn of_dataset(
    State(state): State<AppState>,
    links: LinkBase,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let media_type = negotiate(parameters.format.as_deref(), &headers)?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let endpoint = endpoint_iri(&links);
    state
        .work(move |state| {
            let card = state.searcher.catalog().card(&id)?;
            let card = card.ok_or_else(|| ApiError::no_dataset(&id))?;
            let dataset = state.store.iris().dataset(&id);
            // The RDF has the titles as English texts.
            let english = Texts::new(Locale::English, Arc::default());
            let examples = example_queries(&card, &dataset, &english);
            match media_type {
                JSON => Ok(response_formats::sent(
                    media_type,
                    axum::Json(&examples).into_response().into_body(),
                )),
                TEXT => Ok(response_formats::sent(
                    "text/plain; charset=utf-8",
                    format_examples(&examples),
                )),
                _ => response_formats::graph(
                    &executable(
                        &examples,
                        &format!("{}/examples#", dataset.as_str()),
                        &endpoint,
                    ),
                    media_type,
                ),
            }
        })
        .await
}

fn format_examples(examples: &[Example]) -> String {
    // A query begins with its title.
    let texts = examples.iter().map(|example| example.query.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
