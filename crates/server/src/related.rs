//! `GET /dataset/{id}/related`: which datasets are the same, and which are other editions, as this home found them.
//!
//! They are findings, made anew with every index, and no words of the catalogue: in the description of a dataset, or in
//! the feed, whoever harvests them would carry them on as said of the dataset, and they would stay when they are wrong. So
//! they have a resource of their own, which no catalogue lists. Editions are in the terms of DCAT 3, §11, where their order
//! is known; datasets that are the same are named in JSON alone, since `owl:sameAs` would say more than was found.

use super::AppState;
use super::error::ApiError;
use super::negotiation::best;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::editions::EditionRelation;
use lodeseek_engine::Related;
use lodeseek_rdf::RdfSyntax;
use lodeseek_rdf::vocab::dcat;
use oxrdf::{NamedNode, Triple};
use serde::Deserialize;

const JSON: &str = "application/json";

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
}

pub(super) async fn related(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let syntax = syntax(parameters.format.as_deref(), &headers)?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let mut response = state
        .work(move |state| {
            let found = state.searcher.related(&id)?;
            let related = found.ok_or_else(|| ApiError::not_found(format!("there is no dataset {id}")))?;
            let Some(syntax) = syntax else { return Ok(Json(related).into_response()) };
            let triples = triples(&related, &id, |id| state.store.iris().dataset(id));
            let bytes = syntax.write(&triples).map_err(|error| ApiError::internal(&error))?;
            Ok(([(header::CONTENT_TYPE, syntax.media_type())], bytes).into_response())
        })
        .await?;
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    Ok(response)
}

/// The syntax asked for; `None` for JSON.
fn syntax(format: Option<&str>, headers: &HeaderMap) -> Result<Option<RdfSyntax>, ApiError> {
    let offers: Vec<&str> = [JSON].into_iter().chain(RdfSyntax::ALL.map(RdfSyntax::media_type)).collect();
    match format {
        Some("json") => Ok(None),
        Some(name) => RdfSyntax::from_name(name)
            .map(Some)
            .ok_or_else(|| ApiError::bad_request(format!("{name:?} is no format here: json, ttl, jsonld, nt or rdf"))),
        None => best(headers, &offers).map(RdfSyntax::from_name).ok_or_else(|| {
            ApiError::with_status(StatusCode::NOT_ACCEPTABLE, format!("to be had are {}", offers.join(", ")))
        }),
    }
}

/// The editions whose relation is known.
fn triples(related: &Related, id: &DatasetId, iri: impl Fn(&DatasetId) -> NamedNode) -> Vec<Triple> {
    let own = iri(id);
    let triple = |subject: &NamedNode, property: &str, object: &NamedNode| {
        Some(Triple::new(subject.clone(), NamedNode::new_unchecked(property), object.clone()))
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
