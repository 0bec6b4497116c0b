//! `GET /api/search`.

use super::AppState;
use super::error::{ApiError, say_when};
use super::filter::{Pairs, filter};
use super::negotiation::languages;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::{Metadata, Scheme};
use lodeseek_engine::{FacetValues, Hit, SearchRequest, SearchResponse, Shown, SnippetKind, facet_label};
use lodeseek_index::sparse::ModelKind;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

/// Hits of one answer at most.
pub(super) const MOST: usize = 100;
/// Hits with explanations or snippets for the query at most: each reads a whole graph.
const MOST_EXPLAINED: usize = 10;
/// Values of each facet at most.
const MOST_VALUES: usize = 100;
/// Characters of a query at most.
pub(super) const LONGEST: usize = 2000;

#[derive(Deserialize)]
pub(super) struct Parameters {
    q: Option<String>,
    k: Option<usize>,
    skip: Option<usize>,
    explain: Option<bool>,
    model: Option<ModelKind>,
    snippet: Option<SnippetKind>,
    lang: Option<String>,
    facets: Option<bool>,
    duplicates: Option<String>,
}

pub(super) async fn search(
    State(state): State<AppState>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    Query(pairs): Query<Pairs>,
) -> Response {
    let answer = async {
        let Query(parameters) = parameters.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
        let request = SearchRequest { filter: filter(&pairs)?, ..request(parameters)? };
        let turn = turn(&state, &request).await?;
        state
            .work(move |state| {
                let _turn = turn;
                let response = state.searcher.search(&request)?;
                Ok(hit_json(&request.query, &response))
            })
            .await
    };
    match answer.await {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => json_error(&error),
    }
}

/// A place among those who read whole graphs or run a model, for requests that do.
pub(super) async fn turn(state: &AppState, request: &SearchRequest) -> Result<Option<OwnedSemaphorePermit>, ApiError> {
    let reads = request.explain || request.snippet != SnippetKind::Stored;
    let encodes = request.model.is_none() && state.searcher.has_reranker();
    Ok(if reads || encodes { Some(state.turn().await?) } else { None })
}

pub(super) fn json_error(error: &ApiError) -> Response {
    let mut response = (error.status, Json(json!({ "error": error.message }))).into_response();
    say_when(&mut response);
    response
}

fn request(parameters: Parameters) -> Result<SearchRequest, ApiError> {
    let query = parameters.q.ok_or_else(|| ApiError::bad_request("the parameter q is missing: /api/search?q=words"))?;
    check_query(&query)?;
    let depth = parameters.k.unwrap_or(10);
    if !(1..=MOST).contains(&depth) {
        return Err(ApiError::bad_request(format!("k must be from 1 to {MOST}")));
    }
    let explain = parameters.explain.unwrap_or(false);
    if explain && depth > MOST_EXPLAINED {
        return Err(ApiError::bad_request(format!("with explain, k must be at most {MOST_EXPLAINED}")));
    }
    let snippet = parameters.snippet.unwrap_or_default();
    check_snippet(snippet)?;
    if snippet != SnippetKind::Stored && depth > MOST_EXPLAINED {
        return Err(ApiError::bad_request(format!("with snippets made on demand, k must be at most {MOST_EXPLAINED}")));
    }
    let languages = languages(&HeaderMap::new(), parameters.lang.as_deref())?;
    let skip = parameters.skip.unwrap_or(0);
    let (model, facets) = (parameters.model, parameters.facets.unwrap_or(false).then_some(MOST_VALUES));
    let duplicates = shown(parameters.duplicates.as_deref())?;
    Ok(SearchRequest {
        depth,
        skip,
        explain,
        model,
        snippet,
        languages,
        facets,
        duplicates,
        ..SearchRequest::new(query)
    })
}

/// The model of a parameter; of an empty one, as of a form, none.
pub(super) fn model(text: Option<&str>) -> Result<Option<ModelKind>, ApiError> {
    let named = text.map(str::trim).filter(|text| !text.is_empty()).map(str::parse);
    named.transpose().map_err(|error| ApiError::bad_request(format!("model: {error}")))
}

/// Whether datasets that are one are shown as one: so they are unless all are asked for.
pub(super) fn shown(duplicates: Option<&str>) -> Result<Shown, ApiError> {
    match duplicates {
        None | Some("" | "once") => Ok(Shown::Once),
        Some("all") => Ok(Shown::All),
        Some(other) => Err(ApiError::bad_request(format!("duplicates is once or all, not {other:?}"))),
    }
}

/// `GET /api/duplicates`: the datasets that are one, and the editions of one.
pub(super) async fn duplicates(State(state): State<AppState>) -> Response {
    let found = state.work(|state| Ok(state.searcher.duplicates()?)).await;
    found.map(Json).into_response()
}

/// Refuses methods that nothing bounds.
pub(super) fn check_snippet(snippet: SnippetKind) -> Result<(), ApiError> {
    match snippet {
        SnippetKind::Made(method) if !method.is_bounded() => {
            Err(ApiError::bad_request(format!("{method} takes too long here")))
        }
        _ => Ok(()),
    }
}

/// Refuses what is no query: nothing, or a book.
pub(super) fn check_query(query: &str) -> Result<(), ApiError> {
    if query.trim().is_empty() {
        return Err(ApiError::bad_request("the query is empty"));
    }
    if query.chars().count() > LONGEST {
        return Err(ApiError::with_status(StatusCode::URI_TOO_LONG, format!("a query may have {LONGEST} characters")));
    }
    Ok(())
}

/// The answer as JSON: also what `lodeseek search --json` prints.
#[must_use]
pub fn hit_json(query: &str, response: &SearchResponse) -> Value {
    let mut value = json!({
        "query": query,
        "model": response.model,
        "terms": response.terms,
        "total": response.total,
        "withWords": response.with_words,
        "hits": response.hits.iter().map(one).collect::<Vec<_>>(),
    });
    if let Some(suggestion) = &response.suggestion {
        value["suggestion"] = json!(suggestion);
    }
    if let Some(rerank) = &response.rerank {
        value["rerank"] = json!(rerank);
        value["onlyClosest"] = json!(response.only_closest);
    }
    if response.hits.iter().any(|hit| !hit.duplicates.is_empty()) {
        value["counts"] = json!("every dataset, those that are the same each");
    }
    if let Some(facets) = &response.facets {
        value["facets"] = facets.facets.iter().map(facet_json).collect();
        value["years"] = json!(facets.years);
    }
    value
}

/// A facet; values that are IRIs have labels.
fn facet_json(one: &FacetValues) -> Value {
    let mut json = json!(one);
    if one.facet.has_iris()
        && let Some(values) = json["values"].as_array_mut()
    {
        for (json, value) in values.iter_mut().zip(&one.values) {
            json["label"] = json!(facet_label(one.facet, &value.value));
        }
    }
    json
}

fn one(hit: &Hit) -> Value {
    let metadata = &hit.card.metadata;
    let mut value = json!({
        "rank": hit.rank,
        "id": metadata.id,
        "title": metadata.title(),
        "score": hit.score,
        "description": metadata.description(),
        "creators": metadata.agents().collect::<Vec<_>>(),
        "license": metadata.license,
        "triples": hit.card.profile.triples,
        "fields": hit.fields,
        "snippet": hit.snippet,
    });
    if let Some(popularity) = hit.popularity {
        value["popularity"] = json!(popularity);
    }
    if let Some(remote) = &hit.card.remote {
        value["remote"] = json!(remote.clone().cut(0)); // where the content is, and how much of it there is
    }
    if !hit.duplicates.is_empty() {
        value["duplicates"] = json!(hit.duplicates);
    }
    describe(&mut value, metadata);
    if !hit.dense.is_empty() {
        value["dense"] = json!(hit.dense);
        value["closest"] = json!(hit.is_closest());
    }
    if let Some(object) = value.as_object_mut()
        && let Some(explanation) = &hit.explanation
    {
        object.insert("explanation".to_owned(), json!(explanation));
        object.insert("evidence".to_owned(), json!(hit.evidence));
    }
    value
}

/// What only some catalogues say.
fn describe(value: &mut Value, metadata: &Metadata) {
    if let Some(year) = metadata.first_year() {
        value["year"] = json!(year);
    }
    if let Some(uses) = metadata.uses {
        value["uses"] = json!(uses);
    }
    for (key, scheme) in [("tasks", Scheme::Task), ("modalities", Scheme::Modality), ("languages", Scheme::Language)] {
        let labels: Vec<&str> = metadata.themes_of(scheme).collect();
        if !labels.is_empty() {
            value[key] = json!(labels);
        }
    }
    if !metadata.introduced_by.is_empty() {
        value["introducedBy"] = json!(metadata.introduced_by);
    }
}
