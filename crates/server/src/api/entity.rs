//! `GET /dataset/{id}/entity?iri=`: one resource of a dataset.
//!
//! The page shows its triples in both directions, with labels and page by page. Programs get its symmetric concise bounded
//! description. Blank nodes are named `_:b0`; these names are valid until the content of the dataset changes.

use crate::AppState;
use crate::documentation::{
    AnyError, BadRequest, Busy, ClientLimit, FormatParameter, Html, Id, Negotiated, NotAcceptable,
    NotFound, Rdf, Text,
};
use crate::entities::find;
use crate::error::ApiError;
use crate::negotiation::{languages, page_or_syntax};
use crate::pages::{self, PageContext};
use crate::parameters::invalid_parameters;
use crate::response_formats::{graph_in, mark_truncated};
use crate::site::Client;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::RdfForm;
use lodeseek_store::{Excerpt, Resources, parse_resource};
use oxrdf::NamedOrBlankNode;
use serde::Deserialize;
use utoipa::IntoParams;

/// Maximum number of triples before a page. Each page reads over them.
const MAX_SKIPPED: usize = 20_000;
/// Maximum number of triples of a description.
const MAX_DESCRIPTION: usize = 2000;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Parameters {
    /// IRI of the resource, or a blank node as in _:b0.
    #[param(required)]
    iri: Option<String>,
    /// Number of triples with this subject to skip.
    #[param(maximum = 20000)]
    #[serde(default)]
    skip: usize,
    /// Number of triples with this object to skip.
    #[param(maximum = 20000)]
    #[serde(default)]
    to: usize,
    /// Languages of labels, best first.
    lang: Option<String>,
    #[param(ignore)]
    format: Option<String>,
}

#[utoipa::path(get, path = "/dataset/{id}/entity", tag = "Datasets",
    summary = "One resource of a dataset: a page, or its symmetric concise bounded description",
    params(Id, Parameters, FormatParameter),
    responses(
        Negotiated<(Html, Rdf)>,
        BadRequest<AnyError>,
        NotFound<(Html, Text)>,
        NotAcceptable<(Html, Text)>,
        ClientLimit<(Html, Text)>,
        Busy<(Html, Text)>))]
pub(super) async fn entity(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        let Query(parameters) =
            parameters.map_err(|rejection| invalid_parameters(&rejection, &[]))?;
        let form = page_or_syntax(parameters.format.as_deref(), &headers)?;
        entity_response(&state, client, &page, id, parameters, form, &headers).await
    };
    // Errors are pages unless `Accept` prefers RDF, whatever `format` is.
    answer
        .await
        .unwrap_or_else(|error| match page_or_syntax(None, &headers) {
            Ok(Some(_)) => error.into_response(),
            _ => pages::error(&page, &error),
        })
}

async fn entity_response(
    state: &AppState,
    client: Client,
    page: &PageContext,
    id: String,
    parameters: Parameters,
    form: Option<RdfForm>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let named = parameters.iri.unwrap_or_default();
    let node = parse_resource(&named).ok_or_else(|| {
        ApiError::bad_request(format!("iri={named:?} is neither an IRI nor a blank node"))
    })?;
    if parameters.skip.max(parameters.to) > MAX_SKIPPED {
        return Err(ApiError::bad_request(format!(
            "skip and to must be at most {MAX_SKIPPED}; use the SPARQL endpoint for more"
        )));
    }
    let languages = languages(headers, parameters.lang.as_deref())?;
    let page = page.clone();
    let card = state.card(&id).await?;
    state
        .work_with_permit(client, move |state| {
            let resources = state.store.resources(&id)?;
            match form {
                Some(form) => describe_resource(&resources, &node, form),
                None => {
                    let found = find(
                        &resources,
                        &node,
                        [parameters.skip, parameters.to],
                        &languages,
                    )?;
                    let entity = found.ok_or_else(|| {
                        ApiError::not_found(format!("the dataset has no triple of {named}"))
                    })?;
                    Ok(pages::entity(&page, &card, &entity))
                }
            }
        })
        .await
}

fn describe_resource(
    resources: &Resources<'_>,
    node: &NamedOrBlankNode,
    form: RdfForm,
) -> Result<Response, ApiError> {
    let Excerpt { triples, more } = resources.description(node, MAX_DESCRIPTION)?;
    if triples.is_empty() {
        return Err(ApiError::not_found(format!(
            "the dataset has no triple of {node}"
        )));
    }
    let mut response = graph_in(&triples, form)?;
    if more {
        mark_truncated(&mut response);
    }
    Ok(response)
}
