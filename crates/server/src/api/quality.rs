//! `GET /api/quality`, `GET /api/quality/{id}`, and the pages `/quality` and `/dataset/{id}/quality`: quality of all
//! datasets together, and of one. That of one dataset is also available in the Data Quality Vocabulary.

use crate::AppState;
use crate::cache::GenerationCache;
use crate::documentation::{
    AnyError, BadRequest, Busy, ClientLimit, FormatParameter, Graph, Html, Id, JsonError,
    JsonObject, Negotiated, NotAcceptable, NotFound, Text,
};
use crate::error::ApiError;
use crate::negotiation::best;
use crate::pages::{self, PageContext};
use crate::parameters::pairs;
use crate::response_formats::{self, Kind};
use crate::site::Client;
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    assess_catalog, assess_dataset, assessment_json, overview_json, read_url_checks,
    url_checks_time,
};
use lodeseek_quality::{Assessment, DatasetLabel, Overview, to_dqv};
use lodeseek_rdf::RdfSyntax;
use std::sync::Arc;
use std::time::SystemTime;

/// Cache of the overview. Its generation changes with the index, the catalogue, and the checks of addresses.
pub(super) type CachedOverview = GenerationCache<(u64, u64, Option<SystemTime>), Overview>;

/// Returns the overview of the current collection.
fn overview(state: &AppState) -> Result<Arc<Overview>, ApiError> {
    let home = state.store.home();
    let generation = (
        state.searcher.catalog().generation()?,
        state.store.catalog_generation(),
        url_checks_time(home),
    );
    state.api.quality.get_or_compute(generation, || {
        Ok(assess_catalog(
            &state.store,
            &state.searcher,
            &read_url_checks(home)?,
        )?)
    })
}

/// Returns the assessment of a dataset.
fn assess(state: &AppState, id: &DatasetId) -> Result<(DatasetLabel, Assessment), ApiError> {
    let reached = read_url_checks(state.store.home())?;
    let assessment = assess_dataset(id, &state.store, &state.searcher, &reached)?;
    assessment.ok_or_else(|| ApiError::no_dataset(id))
}

/// Assesses a dataset with a permit for an expensive request. The status 404 needs no permit.
async fn with_dataset<T: Send + 'static>(
    state: &AppState,
    client: Client,
    id: DatasetId,
    work: impl FnOnce(&AppState, &DatasetId) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    state.check_dataset(&id).await?;
    state
        .work_with_permit(client, move |state| work(state, &id))
        .await
}

#[utoipa::path(get, path = "/api/quality", tag = "Quality", operation_id = "qualityOfAll",
    summary = "Quality of all datasets together",
    responses(
        (status = 200, description = "The overview.", body = Object),
        ClientLimit<JsonError>,
        Busy<JsonError>))]
pub(super) async fn all(State(state): State<AppState>, client: Client) -> Response {
    let overview = state.work_with_permit(client, overview).await;
    overview
        .map(|overview| Json(overview_json(&overview)))
        .into_response()
}

pub(super) async fn page_of_all(
    State(state): State<AppState>,
    client: Client,
    page: PageContext,
) -> Response {
    match state.work_with_permit(client, overview).await {
        Ok(overview) => pages::quality(&page, &overview),
        Err(failed) => pages::error(&page, &failed),
    }
}

#[utoipa::path(get, path = "/api/quality/{id}", tag = "Quality", operation_id = "quality",
    summary = "Quality of a dataset, with a reason for every point",
    params(Id, FormatParameter),
    responses(
        Negotiated<(JsonObject, Html, Graph)>,
        BadRequest<JsonError>,
        NotFound<(JsonError, Html)>,
        NotAcceptable<JsonError>,
        ClientLimit<(JsonError, Html)>,
        Busy<(JsonError, Html)>))]
pub(super) async fn one(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    respond(
        &state,
        client,
        &page,
        id,
        query.as_deref(),
        &headers,
        "application/json",
    )
    .await
}

#[utoipa::path(get, path = "/dataset/{id}/quality", tag = "Quality", operation_id = "qualityPage",
    summary = "Quality of a dataset: a page, JSON, or DQV in RDF",
    params(Id, FormatParameter),
    responses(
        Negotiated<(Html, JsonObject, Graph)>,
        BadRequest<AnyError>,
        NotFound<(Html, Text)>,
        NotAcceptable<Text>,
        ClientLimit<(Html, Text)>,
        Busy<(Html, Text)>))]
pub(super) async fn page_of_one(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    respond(
        &state,
        client,
        &page,
        id,
        query.as_deref(),
        &headers,
        response_formats::HTML,
    )
    .await
}

/// Responds in the negotiated format; in `default` if the client has no preference.
async fn respond(
    state: &AppState,
    client: Client,
    page: &PageContext,
    id: String,
    query: Option<&str>,
    headers: &HeaderMap,
    default: &'static str,
) -> Response {
    let parameters = pairs(query.unwrap_or_default().as_bytes());
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()));
    let found = match (negotiate(&parameters, headers, default), id) {
        (Ok(response_formats::HTML), Ok(id)) => {
            return match with_dataset(state, client, id, assess).await {
                Ok((named, assessment)) => pages::quality_of(page, &named, &assessment),
                Err(failed) => pages::error(page, &failed),
            };
        }
        (Ok(response_formats::HTML), Err(error)) => return pages::error(page, &error),
        (Ok(media_type), Ok(id)) => {
            with_dataset(state, client, id, move |state, id| {
                serialize(state, id, media_type)
            })
            .await
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    found.into_response()
}

fn serialize(
    state: &AppState,
    id: &DatasetId,
    media_type: &'static str,
) -> Result<Response, ApiError> {
    let (named, assessment) = assess(state, id)?;
    if media_type == "application/json" {
        return Ok(Json(assessment_json(&named, &assessment)).into_response());
    }
    response_formats::graph(
        &to_dqv(&assessment, &state.store.iris().dataset(id)),
        media_type,
    )
}

fn negotiate(
    parameters: &[(String, String)],
    headers: &HeaderMap,
    default: &'static str,
) -> Result<&'static str, ApiError> {
    let plain = ["application/json", response_formats::HTML];
    let named = parameters
        .iter()
        .find(|(name, value)| name == "format" && !value.is_empty());
    match named.map(|(_, value)| value.as_str()) {
        Some("json") => return Ok("application/json"),
        Some("html") => return Ok(response_formats::HTML),
        Some(_) => return Kind::Data.negotiate(parameters, headers),
        None => {}
    }
    let offers: Vec<&'static str> = [default]
        .into_iter()
        .chain(plain)
        .chain(RdfSyntax::ALL.map(RdfSyntax::media_type))
        .collect();
    let chosen = best(headers, &offers).ok_or_else(|| ApiError::not_acceptable(&offers))?;
    Ok(response_formats::with_requested_version(chosen, headers))
}
