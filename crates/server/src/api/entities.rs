//! `GET /api/entities` and `GET /entities`: entities by the words of their literals, and the datasets of a resource.

use crate::AppState;
use crate::documentation::{AnyError, BadRequest, Busy, ClientLimit, Html, JsonError, NotFound};
use crate::entity_search::{
    DEFAULT_HITS, Found, MAX_SKIPPED, Occurrence, ResourceOccurrences, find,
};
use crate::error::ApiError;
use crate::negotiation::languages;
use crate::pages::{self, PageContext};
use crate::parameters::{Pairs, check_query, invalid_parameters, unknown_parameter};
use crate::site::Client;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{EntityRequest, EntityResponse};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;
use utoipa::IntoParams;

/// Maximum number of hits.
const MAX_HITS: usize = 100;

/// Names of all parameters, as documented.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    Parameters::into_params(|| None)
        .into_iter()
        .map(|parameter| parameter.name)
        .collect()
});

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Parameters {
    /// Words, or a resource: its IRI, or a name with a well-known prefix such as foaf:Person.
    #[param(required, min_length = 1, max_length = 2000)]
    q: Option<String>,
    /// Id of the only dataset to search for words. Default: all datasets.
    dataset: Option<String>,
    /// Number of entities.
    #[param(minimum = 1, maximum = 100, default = 10)]
    k: Option<usize>,
    /// Number of entities to skip, for the next page.
    #[param(maximum = 10000, default = 0)]
    skip: Option<usize>,
    /// Languages of labels, best first: de,en.
    lang: Option<String>,
}

impl Parameters {
    fn request(self, headers: &HeaderMap) -> Result<EntityRequest, ApiError> {
        let text = self.q.ok_or_else(|| {
            ApiError::bad_request("the parameter q is missing: /api/entities?q=words")
        })?;
        check_query(&text)?;
        let (depth, skip) = (self.k.unwrap_or(DEFAULT_HITS), self.skip.unwrap_or(0));
        if !(1..=MAX_HITS).contains(&depth) {
            return Err(ApiError::bad_request(format!(
                "k must be from 1 to {MAX_HITS}"
            )));
        }
        if skip > MAX_SKIPPED {
            return Err(ApiError::bad_request(format!(
                "skip must be at most {MAX_SKIPPED}"
            )));
        }
        let mut datasets = Vec::new();
        if let Some(id) = self.dataset.filter(|id| !id.is_empty()) {
            datasets
                .push(DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?);
        }
        Ok(EntityRequest {
            text,
            datasets,
            depth,
            skip,
            languages: languages(headers, self.lang.as_deref())?,
        })
    }
}

#[utoipa::path(get, path = "/api/entities", tag = "Search",
    summary = "Entities by the words of their literals, or the datasets in which a resource occurs",
    params(Parameters),
    responses(
        (status = 200, description = "Entities, the best first, or datasets, those with most uses first.", body = Object),
        BadRequest<JsonError>,
        NotFound<JsonError>,
        ClientLimit<JsonError>,
        Busy<JsonError>))]
pub(super) async fn entities(
    State(state): State<AppState>,
    client: Client,
    parameters: Result<Query<Parameters>, QueryRejection>,
    Query(pairs): Query<Pairs>,
) -> Response {
    let answer = async {
        if let Some((name, _)) = pairs.iter().find(|(name, _)| !NAMES.contains(name)) {
            return Err(unknown_parameter(name, &NAMES));
        }
        let Query(parameters) = parameters.map_err(|rejection| {
            invalid_parameters(
                &rejection,
                &[("k", 1..=MAX_HITS), ("skip", 0..=MAX_SKIPPED)],
            )
        })?;
        let request = parameters.request(&HeaderMap::new())?;
        let found = search(&state, client, request.clone()).await?;
        Ok(match &found {
            Found::Entities(response) => entities_json(&request, response),
            Found::Occurrences(occurrences) => occurrences_json(occurrences),
        })
    };
    match answer.await {
        Ok(json) => Json(json).into_response(),
        Err(error) => error.to_json_response(),
    }
}

#[utoipa::path(get, path = "/entities", tag = "Search", summary = "Page of /api/entities",
    params(Parameters),
    responses(
        (status = 200, description = "The page.", content((String = "text/html"))),
        BadRequest<AnyError>,
        NotFound<Html>,
        ClientLimit<Html>,
        Busy<Html>))]
pub(super) async fn page(
    State(state): State<AppState>,
    client: Client,
    parameters: Result<Query<Parameters>, QueryRejection>,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        let Query(parameters) = parameters.map_err(|rejection| {
            invalid_parameters(
                &rejection,
                &[("k", 1..=MAX_HITS), ("skip", 0..=MAX_SKIPPED)],
            )
        })?;
        let request = parameters.request(&headers)?;
        let found = search(&state, client, request.clone()).await?;
        let index_only = state.work(|state| Ok(state.store.index_only()?)).await?;
        Ok::<_, ApiError>(pages::entities(&page, &request, &found, &index_only))
    };
    answer
        .await
        .unwrap_or_else(|error| pages::error(&page, &error))
}

async fn search(
    state: &AppState,
    client: Client,
    request: EntityRequest,
) -> Result<Found, ApiError> {
    state
        .work_with_permit(client, move |state| {
            for id in &request.datasets {
                if state.searcher.catalog().numeric_facts(id)?.is_none() {
                    return Err(ApiError::no_dataset(id));
                }
            }
            find(state, &request)
        })
        .await
}

fn entities_json(request: &EntityRequest, response: &EntityResponse) -> Value {
    let mut hits = Vec::with_capacity(response.hits.len());
    for hit in &response.hits {
        hits.push(json!({
            "rank": hit.rank,
            "score": hit.score,
            "dataset": { "id": hit.dataset, "title": hit.title },
            "entity": hit.triple.subject,
            "property": hit.triple.predicate,
            "literal": hit.triple.object,
        }));
    }
    json!({
        "query": request.text,
        "terms": response.words.texts(),
        "total": response.total,
        "datasets": response.datasets,
        "complete": response.is_complete,
        "hits": hits,
    })
}

fn occurrences_json(occurrences: &ResourceOccurrences) -> Value {
    let mut datasets = Vec::with_capacity(occurrences.datasets.len());
    for Occurrence { metadata, uses } in &occurrences.datasets {
        datasets.push(json!({
            "id": metadata.id,
            "title": metadata.title(),
            "subject": uses.subject,
            "object": uses.object,
            "class": uses.class,
            "property": uses.property,
        }));
    }
    json!({
        "resource": occurrences.resource.as_str(),
        "exact": occurrences.is_exact,
        "complete": occurrences.is_complete,
        "datasets": datasets,
    })
}
