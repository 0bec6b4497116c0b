//! `GET /api/quality`, `GET /api/quality/{id}`, and the pages `/quality` and `/dataset/{id}/quality`: how good the datasets
//! are, all together and one by one. One dataset's can be had in the Data Quality Vocabulary, too.

use super::error::ApiError;
use super::form::{self, Kind};
use super::kept::Kept;
use super::negotiation::best;
use super::sparql::pairs;
use super::{AppState, page};
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{quality_of, quality_of_all};
use lodeseek_quality::{
    Assessment, Dimension, Finding, DatasetLabel, Overview, Problem, PublisherRow, QualityError, UrlChecks, DatasetRow, to_dqv,
};
use lodeseek_rdf::RdfSyntax;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::SystemTime;

/// Datasets with the lowest scores that are named.
pub(super) const WORST: usize = 20;
/// Publishers that are named.
pub(super) const PUBLISHERS: usize = 100;

/// The overview last made, by what changes with every commit to the index, every change of the catalogue, and every check
/// of addresses.
pub(super) type KeptOverview = Kept<(u64, u64, Option<SystemTime>), Overview>;

/// The overview of what is served now.
pub(super) fn overview(state: &AppState) -> Result<Arc<Overview>, ApiError> {
    let home = state.store.home();
    let now = (state.searcher.generation()?, state.store.catalog_generation(), UrlChecks::last_modified(home));
    state.quality.get(now, || Ok(quality_of_all(&state.store, &state.searcher, &UrlChecks::read(home)?)?))
}

impl From<QualityError> for ApiError {
    fn from(error: QualityError) -> Self {
        Self::internal(&error)
    }
}

/// The assessment of a dataset that is served.
pub(super) fn assessed(state: &AppState, id: &DatasetId) -> Result<(DatasetLabel, Assessment), ApiError> {
    let reached = UrlChecks::read(state.store.home())?;
    let found = quality_of(id, &state.store, &state.searcher, &reached)?;
    found.ok_or_else(|| ApiError::not_found(format!("there is no dataset {id}")))
}

pub(super) async fn all(State(state): State<AppState>) -> Response {
    let overview = state.work(overview).await;
    overview.map(|overview| Json(overview_json(&overview))).into_response()
}

pub(super) async fn page_of_all(State(state): State<AppState>) -> Response {
    page::quality(&state).await
}

pub(super) async fn one(
    State(state): State<AppState>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    answer(&state, id, query.as_deref(), &headers, "application/json").await
}

pub(super) async fn page_of_one(
    State(state): State<AppState>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    answer(&state, id, query.as_deref(), &headers, form::HTML).await
}

/// In the form asked for; where nothing is said, in the usual one of the address.
async fn answer(
    state: &AppState,
    id: String,
    query: Option<&str>,
    headers: &HeaderMap,
    usual: &'static str,
) -> Response {
    let parameters = pairs(query.unwrap_or_default().as_bytes());
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()));
    let found = match (wanted(&parameters, headers, usual), id) {
        (Ok(form::HTML), Ok(id)) => return page::quality_of(state, id).await,
        (Ok(form::HTML), Err(error)) => return page::error(&error),
        (Ok(media_type), Ok(id)) => state.work(move |state| written(state, &id, media_type)).await,
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    let mut response = found.into_response();
    response.headers_mut().insert(header::VARY, header::HeaderValue::from_static("accept"));
    response
}

fn written(state: &AppState, id: &DatasetId, media_type: &'static str) -> Result<Response, ApiError> {
    let (named, found) = assessed(state, id)?;
    if media_type == "application/json" {
        return Ok(Json(assessment_json(&named, &found)).into_response());
    }
    form::graph(&to_dqv(&found, &state.store.iris().dataset(id)), media_type)
}

fn wanted(parameters: &[(String, String)], headers: &HeaderMap, usual: &'static str) -> Result<&'static str, ApiError> {
    let plain = ["application/json", form::HTML];
    let named = parameters.iter().find(|(name, value)| name == "format" && !value.is_empty());
    match named.map(|(_, value)| value.as_str()) {
        Some("json") => return Ok("application/json"),
        Some("html") => return Ok(form::HTML),
        Some(_) => return Kind::Data.wanted(parameters, headers),
        None => {}
    }
    let offers: Vec<&'static str> =
        [usual].into_iter().chain(plain).chain(RdfSyntax::ALL.map(RdfSyntax::media_type)).collect();
    let offer = best(headers, &offers);
    offer.ok_or_else(|| {
        ApiError::with_status(axum::http::StatusCode::NOT_ACCEPTABLE, format!("to be had are {}", offers.join(", ")))
    })
}

/// One decimal.
fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// The assessment of one dataset, as `/api/quality/{id}` gives it.
#[must_use]
pub fn assessment_json(named: &DatasetLabel, found: &Assessment) -> Value {
    let dimension = |dimension: Dimension| {
        let of = found.findings.iter().filter(|finding| finding.indicator.dimension() == dimension);
        let indicators: Vec<Value> = of.map(finding_json).collect();
        json!({
            "dimension": dimension,
            "scored": dimension.is_scored(),
            "points": found.points_of(dimension),
            "indicators": indicators,
        })
    };
    let improvements = found.improvements();
    let advice = improvements.iter().map(|finding| {
        json!({ "indicator": finding.indicator.key(), "points": finding.indicator.weight(), "advice": finding.indicator.advice() })
    });
    json!({
        "id": named.id.as_str(),
        "title": named.title,
        "publisher": named.publisher,
        "score": found.score(),
        "of": lodeseek_quality::POINTS,
        "band": found.band(),
        "points": found.points(),
        "distribution": found.distribution,
        "dimensions": Dimension::ALL.map(dimension),
        "improvements": advice.collect::<Vec<_>>(),
        "violations": found.violations,
        "recommendations": found.recommendations,
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "indicator": finding.indicator.key(),
        "points": finding.indicator.weight(),
        "outcome": finding.outcome,
        "reason": finding.reason,
    })
}

/// All datasets together, as `/api/quality` gives them.
#[must_use]
pub fn overview_json(overview: &Overview) -> Value {
    let bands = overview.bands().map(|(band, count)| json!({ "band": band, "datasets": count }));
    let dimensions = Dimension::ALL.map(|dimension| {
        let share = overview.share_of(dimension).map(|share| (share * 1000.0).round() / 1000.0);
        json!({ "dimension": dimension, "scored": dimension.is_scored(), "share": share })
    });
    let publisher = |row: &PublisherRow| {
        json!({
            "publisher": row.name,
            "datasets": row.datasets,
            "meanScore": rounded(row.mean),
            "worst": row.worst.map(|problem| problem.indicator.key()),
        })
    };
    let row = |row: &&DatasetRow| json!({ "id": row.dataset.id.as_str(), "title": row.dataset.title, "score": row.score, "points": row.points });
    json!({
        "datasets": overview.len(),
        "meanScore": rounded(overview.mean()),
        "of": lodeseek_quality::POINTS,
        "bands": bands,
        "dimensions": dimensions,
        "problems": overview.problems().iter().map(problem_json).collect::<Vec<_>>(),
        "publishers": overview.publishers().iter().take(PUBLISHERS).map(publisher).collect::<Vec<_>>(),
        "worst": overview.worst(WORST).iter().map(row).collect::<Vec<_>>(),
    })
}

fn problem_json(problem: &Problem) -> Value {
    json!({
        "indicator": problem.indicator.key(),
        "dimension": problem.indicator.dimension(),
        "points": problem.indicator.weight(),
        "met": problem.met,
        "missed": problem.missed,
        "unknown": problem.unknown,
    })
}
