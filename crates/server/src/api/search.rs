//! `GET /api/search` and `GET /api/duplicates`.

use super::schemas::{Duplicates, Model, SearchResult, Snippet};
use crate::AppState;
use crate::documentation::{BadRequest, Busy, ClientLimit, Error, Examples, Filters, JsonError};
use crate::error::ApiError;
use crate::negotiation::languages;
use crate::parameters::{
    Pairs, check_query, examples, filter, invalid_parameters, parse_duplicates, parse_model,
    parse_order, parse_snippet, query_syntax, unknown_parameter,
};
use crate::site::Client;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_engine::{SearchRequest, hit_json};
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;
use utoipa::IntoParams;

/// Default number of hits.
const DEFAULT_HITS: usize = 10;
/// Maximum number of hits.
const MAX_HITS: usize = 100;
/// Maximum number of hits with explanations or snippets for the query. Each of them reads a whole graph.
const MAX_EXPLAINED_HITS: usize = 10;
/// Maximum number of values of each facet.
const MAX_FACET_VALUES: usize = 100;

/// Names of all parameters, as documented.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let (examples, filters) = (
        Examples::into_params(|| None),
        Filters::into_params(|| None),
    );
    let documented = Parameters::into_params(|| None)
        .into_iter()
        .chain(examples)
        .chain(filters);
    documented.map(|parameter| parameter.name).collect()
});

/// Parameters of a search, except the filters.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Parameters {
    /// Query: words or a sentence.
    #[param(required, min_length = 1, max_length = 2000)]
    q: Option<String>,
    /// Number of hits.
    #[param(minimum = 1, maximum = 100, default = 10)]
    k: Option<usize>,
    /// Number of hits to skip, for the next page.
    #[param(default = 0)]
    skip: Option<usize>,
    /// If true, adds the contribution of each field and triples as evidence; at most ten hits.
    #[param(default = false)]
    explain: Option<bool>,
    /// Ranking model. Default: the best available, with re-ranking if the server has an encoder.
    #[param(value_type = Option<Model>, inline)]
    model: Option<String>,
    /// Triples or rows of each hit: stored with the index, none, or made by a method (query: for this query), of at most ten hits.
    #[param(value_type = Option<Snippet>, inline)]
    snippet: Option<String>,
    /// Languages of labels, best first: de,en.
    lang: Option<String>,
    /// If true, adds the values of all facets with counts.
    #[param(default = false)]
    facets: Option<bool>,
    /// If true, searches for the words as typed: quotation marks, minus and prefixed names have no meaning.
    #[param(default = false)]
    literal: Option<bool>,
    /// Duplicates as one hit (once, default), or as separate hits (all).
    #[param(value_type = Option<Duplicates>, inline)]
    duplicates: Option<String>,
    /// Order of the hits: relevance, newest, largest or title.
    #[param(value_type = Option<String>, default = "relevance")]
    sort: Option<String>,
}

#[utoipa::path(get, path = "/api/search", tag = "Search", summary = "Search datasets",
    params(Parameters, Examples, Filters),
    responses(
        (status = 200, description = "The hits, the best first.", body = SearchResult),
        BadRequest<JsonError>,
        (status = 414, description = "The query is too long.", body = Error),
        ClientLimit<JsonError>,
        Busy<JsonError>))]
pub(super) async fn search(
    State(state): State<AppState>,
    client: Client,
    parameters: Result<Query<Parameters>, QueryRejection>,
    Query(pairs): Query<Pairs>,
) -> Response {
    match search_json(&state, client, parameters, &pairs).await {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => error.to_json_response(),
    }
}

async fn search_json(
    state: &AppState,
    client: Client,
    parameters: Result<Query<Parameters>, QueryRejection>,
    pairs: &Pairs,
) -> Result<Value, ApiError> {
    check_names(pairs)?;
    let Query(parameters) =
        parameters.map_err(|rejection| invalid_parameters(&rejection, &[("k", 1..=MAX_HITS)]))?;
    let request = SearchRequest {
        filter: filter(pairs)?,
        examples: examples(pairs)?,
        ..search_request(parameters)?
    };
    let permit = state.acquire_search_permit(client, &request).await?;
    state
        .work(move |state| {
            let _permit = permit;
            let response = state.searcher.search(&request)?;
            state.record_search(client, &request, &response);
            Ok(hit_json(&request.query, &response))
        })
        .await
}

/// Rejects a parameter that the search does not have: a misspelt filter must not return unfiltered hits.
fn check_names(pairs: &Pairs) -> Result<(), ApiError> {
    match pairs.iter().find(|(name, _)| !NAMES.contains(name)) {
        Some((name, _)) => Err(unknown_parameter(name, &NAMES)),
        None => Ok(()),
    }
}

fn search_request(parameters: Parameters) -> Result<SearchRequest, ApiError> {
    let query = parameters
        .q
        .ok_or_else(|| ApiError::bad_request("the parameter q is missing: /api/search?q=words"))?;
    check_query(&query)?;
    let depth = parameters.k.unwrap_or(DEFAULT_HITS);
    if !(1..=MAX_HITS).contains(&depth) {
        return Err(ApiError::bad_request(format!(
            "k must be from 1 to {MAX_HITS}"
        )));
    }
    let explain = parameters.explain.unwrap_or(false);
    if explain && depth > MAX_EXPLAINED_HITS {
        return Err(ApiError::bad_request(format!(
            "with explain, k must be at most {MAX_EXPLAINED_HITS}"
        )));
    }
    let snippet = parse_snippet(parameters.snippet.as_deref())?;
    if snippet.is_on_demand() && depth > MAX_EXPLAINED_HITS {
        let message =
            format!("with snippets made on demand, k must be at most {MAX_EXPLAINED_HITS}");
        return Err(ApiError::bad_request(message));
    }
    Ok(SearchRequest {
        depth,
        skip: parameters.skip.unwrap_or(0),
        explain,
        model: parse_model(parameters.model.as_deref())?,
        snippet,
        languages: languages(&HeaderMap::new(), parameters.lang.as_deref())?,
        facets: parameters
            .facets
            .unwrap_or(false)
            .then_some(MAX_FACET_VALUES),
        duplicates: parse_duplicates(parameters.duplicates.as_deref())?,
        order: parse_order(parameters.sort.as_deref())?,
        syntax: query_syntax(parameters.literal),
        ..SearchRequest::new(query)
    })
}

/// `GET /api/duplicates`: groups of equal datasets, and of editions of one dataset.
#[utoipa::path(get, path = "/api/duplicates", tag = "Search", summary = "Groups of duplicates with reasons, and of editions",
    responses((status = 200, description = "All groups.", body = Object)))]
pub(super) async fn duplicates(State(state): State<AppState>) -> Response {
    let groups = state
        .work(|state| Ok(state.searcher.catalog().duplicates()?))
        .await;
    groups.map(Json).into_response()
}
