//! `GET /dataset/{id}/related`: duplicates of a dataset and its other editions, as found by deduplication.
//!
//! These findings change with every index and are no metadata of the catalogue. Harvesters would copy them from a
//! description or a feed, and wrong ones would persist. Therefore they are a resource of their own, which no catalogue lists.
//! Editions use the terms of DCAT 3, §11, if their order is known. Duplicates are in JSON only: `owl:sameAs` would be a
//! stronger claim than the finding.

use crate::AppState;
use crate::documentation::{
    BadRequest, FormatParameter, Id, JsonObject, Negotiated, NotFound, Text, Turtle,
};
use crate::error::ApiError;
use crate::negotiation::json_or_syntax;
use crate::response_formats;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::editions::EditionRelation;
use lodeseek_engine::RelatedDatasets;
use lodeseek_rdf::vocab::dcat;
use oxrdf::{NamedNode, Triple};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
}

#[utoipa::path(get, path = "/dataset/{id}/related", tag = "Datasets",
    summary = "Duplicates of a dataset under other ids, and its editions",
    params(Id, FormatParameter),
    responses(Negotiated<(JsonObject, Turtle)>, BadRequest<Text>, NotFound<Text>))]
pub(super) async fn related(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let form = json_or_syntax(parameters.format.as_deref(), &headers)?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    state
        .work(move |state| {
            let related = state
                .searcher
                .catalog()
                .related(&id)?
                .ok_or_else(|| ApiError::no_dataset(&id))?;
            let Some(form) = form else {
                return Ok(Json(related).into_response());
            };
            let triples = triples(&related, &id, |id| state.store.iris().dataset(id));
            response_formats::graph_in(&triples, form)
        })
        .await
}

/// Returns a triple for each edition whose relation is known.
fn triples(
    related: &RelatedDatasets,
    id: &DatasetId,
    iri: impl Fn(&DatasetId) -> NamedNode,
) -> Vec<Triple> {
    let own = iri(id);
    let triple = |subject: &NamedNode, property: &str, object: &NamedNode| {
        Some(Triple::new(
            subject.clone(),
            NamedNode::new_unchecked(property),
            object.clone(),
        ))
    };
    let editions = related.editions.iter().filter_map(|one| {
        let other = iri(&one.dataset.id);
        match one.edition {
            EditionRelation::Whole => triple(&own, dcat::IS_VERSION_OF, &other),
            EditionRelation::Part => triple(&own, dcat::HAS_VERSION, &other),
            EditionRelation::PreviousVersion => triple(&own, dcat::PREVIOUS_VERSION, &other),
            EditionRelation::NextVersion => triple(&other, dcat::PREVIOUS_VERSION, &own),
            EditionRelation::PreviousInSeries => triple(&own, dcat::PREV, &other),
            EditionRelation::NextInSeries => triple(&other, dcat::PREV, &own),
            EditionRelation::Other => None,
        }
    });
    editions.collect()
}
