//! Operator's routes `/operator`, `/api/operator` and `/metrics`, changes under `/api/admin`, and background tasks.
//!
//! The routes are for local requests, or for clients with a token. Unlike all other routes, other origins may not read them. A
//! request is local if its connection is, if its `Host` is a local name (which excludes DNS rebinding), and if it has no header
//! of a proxy. Requests that a page of another origin caused are rejected. Behind a local reverse proxy without such headers every client appears to be local: set a token.

mod change_state;
mod edits;
mod forms;
#[cfg(unix)]
mod local_socket;
mod management;
mod metrics;
mod page;
mod preconditions;
mod removal;
mod schemas;
mod sessions;
mod uploads;
mod works;

pub(crate) use change_state::ChangeState;
#[cfg(unix)]
pub(crate) use local_socket::LocalSocket;
pub(crate) use management::Operations as ManagementOperations;
pub(crate) use metrics::{Metrics, observe};

use crate::AppState;
use crate::cache::GenerationCache;
use crate::error::ApiError;
use crate::hosts::{is_from_other_origin, is_loopback_host};
use crate::negotiation::{PAGES, best};
use crate::sparql::endpoint_statistics;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lodeseek_catalog::DatasetId;
use lodeseek_changes::{Scope, Task, Tasks, Token, digest, unix_seconds};
use lodeseek_engine::index_folder;
use lodeseek_sparql::resident_memory;
use lodeseek_store::PastLoad;
use metrics::RouteRow;
use schemas::{OperatorOnly, OperatorState};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;
use utoipa::OpenApi;

/// Name of the operator token in sessions.
const OPERATOR_TOKEN: &str = "operator-token";

/// Access rule of the operator's routes: the SHA-256 of a token in hexadecimal digits, or local requests.
#[derive(Clone, Debug, Default)]
pub struct Operators(Option<String>);

impl Operators {
    /// Requires this token, also for local requests.
    #[must_use]
    pub fn with_token(token: &str) -> Self {
        Self(Some(digest(token)))
    }

    /// Compares digests, so that the time does not depend on the token.
    fn admits(&self, state: &AppState, request: &Request) -> bool {
        let secret = request_token(request.headers());
        if state
            .changes
            .management
            .as_ref()
            .zip(secret)
            .is_some_and(|(management, secret)| management.admits(&secret))
        {
            return true;
        }
        let management = state.changes.management.as_ref();
        if let Some(session) =
            management.and_then(|management| management.sessions.find(request.headers()))
            && is_current(state, &session.token)
        {
            return true;
        }
        match &self.0 {
            Some(sha256) => {
                request_token(request.headers()).is_some_and(|token| digest(&token) == *sha256)
            }
            None => is_of_this_machine(state, request),
        }
    }

    /// Returns a token for sessions, if the secret is that of the operator token. It has the scope `read`.
    fn find(&self, secret: &str) -> Option<Token> {
        let token = Token::read_only(OPERATOR_TOKEN, secret);
        self.is_token(&token).then_some(token)
    }

    /// Returns true if a token is the one that [`Self::find`] returns for the operator token. A token of the token file with the same
    /// secret has rights of its own.
    fn is_token(&self, token: &Token) -> bool {
        token.name == OPERATOR_TOKEN
            && token.scope == Scope::Read
            && self.0.as_deref() == Some(token.sha256())
    }
}

/// Returns true if the token of a session still exists: in the token file, or as the operator token.
fn is_current(state: &AppState, token: &Token) -> bool {
    let management = state.changes.management.as_ref();
    let tokens = management.and_then(|management| management.tokens.list().ok());
    let is_listed = tokens.is_some_and(|tokens| tokens.contains(token));
    let admin = state.admin.as_ref();
    is_listed || admin.is_some_and(|admin| admin.access().is_token(token))
}

/// Returns the bearer token, or the password of basic authentication.
fn request_token(headers: &HeaderMap) -> Option<String> {
    let credentials = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = credentials.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    let pair = scheme
        .eq_ignore_ascii_case("basic")
        .then(|| STANDARD.decode(rest.trim()).ok())
        .flatten()?;
    Some(String::from_utf8(pair).ok()?.split_once(':')?.1.to_owned())
}

fn is_of_this_machine(state: &AppState, request: &Request) -> bool {
    let headers = request.headers();
    let client = state.site.proxies.client(headers, request.extensions());
    let is_forwarded = headers.keys().map(header::HeaderName::as_str).any(|name| {
        name.starts_with("x-forwarded-")
            || matches!(name, "forwarded" | "via" | "x-real-ip" | "x-original-host")
    });
    client.is_some_and(|client| client.is_loopback()) && is_loopback_host(headers) && !is_forwarded
}

/// Descriptions of the operations.
#[derive(OpenApi)]
#[openapi(paths(page::operator, json, prometheus))]
pub(crate) struct Operations;

/// Returns the routes of the operator. Other origins may not read them.
pub(crate) fn router(state: &AppState) -> Router<AppState> {
    Router::new()
        .route("/operator", get(page::operator))
        .route("/api/operator", get(json))
        .route("/metrics", get(prometheus))
        .layer(from_fn_with_state(state.clone(), authorize))
        .merge(management::router())
        .merge(forms::router())
}

/// Rejects requests of clients that are not the operator.
async fn authorize(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let operator = match admin_state(&state) {
        Ok(operator) => operator,
        Err(failed) => return failed.into_response(),
    };
    if is_from_other_origin(request.headers()) {
        let message = "pages of other sites may not send requests to this route";
        return ApiError::with_status(StatusCode::FORBIDDEN, message).into_response();
    }
    let access = operator.access();
    if access.admits(&state, &request) {
        let mut response = next.run(request).await;
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        return response;
    }
    if prefers_login(&state, &request) {
        let mut response = Redirect::to("/operator/login").into_response();
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        return response;
    }
    if access.0.is_none() {
        let message = "this route is for local requests only; allow others with `serve --operator-token-file FILE`";
        return ApiError::with_status(StatusCode::FORBIDDEN, message).into_response();
    }
    let message = if state.changes.management.is_some() {
        "this route requires the operator's token, or a login at /operator/login with a token of `lodeseek token add`"
    } else {
        "this route requires the operator's token"
    };
    let mut response = ApiError::with_status(StatusCode::UNAUTHORIZED, message).into_response();
    let challenge = HeaderValue::from_static("Basic realm=\"operator\", charset=\"UTF-8\"");
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// Returns true for a browser that requests the page without a token: it can log in. Programs get a status.
fn prefers_login(state: &AppState, request: &Request) -> bool {
    let headers = request.headers();
    let [html, xhtml] = PAGES;
    state.changes.management.is_some()
        && request.uri().path() == "/operator"
        && !headers.contains_key(header::AUTHORIZATION)
        && best(headers, &["text/plain", html, xhtml]).is_some_and(|chosen| PAGES.contains(&chosen))
}

/// Access rule, metrics and background tasks.
pub(crate) struct AdminState {
    access: Arc<RwLock<Operators>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tasks: Arc<Tasks>,
    /// Cached number of datasets with statements that could not be parsed, by catalogue generation.
    with_skipped: GenerationCache<u64, u64>,
}

impl AdminState {
    pub(crate) fn new(access: Operators, tasks: Arc<Tasks>) -> ::prometheus::Result<Self> {
        Ok(Self {
            access: Arc::new(RwLock::new(access)),
            metrics: Arc::new(Metrics::new()?),
            tasks,
            with_skipped: GenerationCache::default(),
        })
    }

    /// Returns the same counters, tasks and access rule for another home.
    pub(crate) fn for_other_home(&self) -> Self {
        Self {
            access: Arc::clone(&self.access),
            metrics: Arc::clone(&self.metrics),
            tasks: Arc::clone(&self.tasks),
            with_skipped: GenerationCache::default(),
        }
    }
}

impl AdminState {
    /// Returns the current access rule.
    fn access(&self) -> Operators {
        self.access
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the access rule.
    pub(crate) fn set_access(&self, access: Operators) {
        *self.access.write().unwrap_or_else(PoisonError::into_inner) = access;
    }
}

/// Returns the operator's state. Status 404 if requests are not counted.
fn admin_state(state: &AppState) -> Result<&AdminState, ApiError> {
    state
        .admin
        .as_deref()
        .ok_or_else(|| ApiError::not_found("metrics are disabled on this server"))
}

/// Snapshot of the server's state.
pub(crate) struct Overview {
    pub(crate) version: &'static str,
    pub(crate) since: SystemTime,
    pub(crate) datasets: u64,
    pub(crate) indexed: Option<SystemTime>,
    pub(crate) memory: Option<u64>,
    pub(crate) in_flight: i64,
    /// Requests a second in the last one, five and fifteen minutes.
    pub(crate) pace: [f64; 3],
    pub(crate) routes: Vec<RouteView>,
    pub(crate) tasks: Vec<TaskView>,
    /// The last loads, the latest first.
    pub(crate) loads: Vec<PastLoad>,
    /// Datasets of these loads that are still there.
    pub(crate) present: BTreeSet<DatasetId>,
    /// Number of datasets with statements that could not be parsed.
    pub(crate) with_skipped: u64,
    pub(crate) endpoints: Vec<Value>,
}

/// A route with times in milliseconds; `None` beyond the last bound.
pub(crate) struct RouteView {
    pub(crate) route: String,
    pub(crate) requests: u64,
    pub(crate) refused: u64,
    pub(crate) failed: u64,
    pub(crate) milliseconds: [Option<f64>; 3],
    pub(crate) bars: Vec<(Option<f64>, u64)>,
}

/// The outcome of a background task.
pub(crate) struct TaskView {
    pub(crate) when: SystemTime,
    pub(crate) what: String,
    pub(crate) is_done: bool,
    pub(crate) outcome: String,
}

/// Collects the current state.
pub(crate) fn overview(state: &AppState) -> Result<Overview, ApiError> {
    let AdminState {
        metrics,
        tasks,
        with_skipped,
        ..
    } = admin_state(state)?;
    let (datasets, indexed, memory) = update_gauges(state)?;
    // An unreadable list of loads does not hide the rest.
    let loads = state.store.past_loads().unwrap_or_else(|error| {
        tracing::warn!(%error, "the list of past loads cannot be read");
        Vec::new()
    });
    Ok(Overview {
        present: present_datasets(state, &loads)?,
        loads,
        version: env!("CARGO_PKG_VERSION"),
        since: metrics.since,
        datasets,
        indexed,
        memory,
        in_flight: metrics.in_flight(),
        pace: [60, 300, 900].map(|seconds| metrics.pace(seconds)),
        routes: metrics.routes().into_iter().map(route_view).collect(),
        tasks: tasks.outcomes().into_iter().map(task_view).collect(),
        with_skipped: *with_skipped.get_or_compute(state.store.catalog_generation(), || {
            Ok(state.store.with_skipped_statements()?)
        })?,
        endpoints: endpoint_statistics(&state.sparql),
    })
}

/// Returns the listed datasets of some loads that were not removed since.
fn present_datasets(state: &AppState, loads: &[PastLoad]) -> Result<BTreeSet<DatasetId>, ApiError> {
    let mut present = BTreeSet::new();
    for dataset in loads.iter().flat_map(|load| &load.listed) {
        if !present.contains(&dataset.dataset) && state.store.contains(&dataset.dataset)? {
            present.insert(dataset.dataset.clone());
        }
    }
    Ok(present)
}

fn route_view(row: RouteRow) -> RouteView {
    let RouteRow {
        route,
        requests,
        refused,
        failed,
        quantiles,
        bars,
        ..
    } = row;
    let milliseconds = quantiles.map(|seconds| seconds.is_finite().then_some(seconds * 1000.0));
    RouteView {
        route,
        requests,
        refused,
        failed,
        milliseconds,
        bars,
    }
}

fn task_view(task: Task) -> TaskView {
    let is_done = task.outcome.is_ok();
    TaskView {
        when: task.when,
        what: task.what,
        is_done,
        outcome: task.outcome.unwrap_or_else(|failure| failure),
    }
}

/// Measures values that are not counted, and sets their gauges.
fn update_gauges(state: &AppState) -> Result<(u64, Option<SystemTime>, Option<u64>), ApiError> {
    let datasets = state.searcher.catalog().len()?;
    let meta = std::fs::metadata(index_folder(state.store.home()).join("meta.json"));
    let indexed = meta.and_then(|meta| meta.modified()).ok();
    let memory = resident_memory();
    let AdminState { metrics, tasks, .. } = admin_state(state)?;
    metrics.set(datasets, indexed, memory);
    metrics.set_tasks(tasks);
    metrics.set_snapshot(state.snapshot_number());
    Ok((datasets, indexed, memory))
}

/// `GET /metrics`.
#[utoipa::path(get, path = "/metrics", tag = "Server", operation_id = "metrics", summary = "Metrics for Prometheus",
    responses((status = 200, description = "Current state.", body = String), OperatorOnly),
    security((), ("bearer" = []), ("basic" = [])))]
pub(crate) async fn prometheus(State(state): State<AppState>) -> Response {
    let text = state
        .work(|state| {
            update_gauges(state)?;
            admin_state(state)?
                .metrics
                .text()
                .map_err(|error| ApiError::internal(&error))
        })
        .await;
    text.map(|text| ([(header::CONTENT_TYPE, ::prometheus::TEXT_FORMAT)], text))
        .into_response()
}

/// `GET /api/operator`.
#[utoipa::path(get, path = "/api/operator", tag = "Server", operation_id = "operator", summary = "State of the server",
    responses(
        (status = 200, body = inline(OperatorState), description =
            "Current state: requests, harvests, the last loads with their problems, endpoints. Times are seconds since 1970."),
        OperatorOnly),
    security((), ("bearer" = []), ("basic" = [])))]
pub(crate) async fn json(State(state): State<AppState>) -> Response {
    state
        .work(|state| overview(state).map(|overview| axum::Json(overview_json(&overview))))
        .await
        .into_response()
}

fn overview_json(overview: &Overview) -> Value {
    json!({
        "version": overview.version,
        "startedAt": unix_seconds(overview.since),
        "datasets": overview.datasets,
        "indexedAt": overview.indexed.map(unix_seconds),
        "residentBytes": overview.memory,
        "inFlight": overview.in_flight,
        "requestsPerSecond": { "minute": overview.pace[0], "fiveMinutes": overview.pace[1], "quarterHour": overview.pace[2] },
        "routes": overview.routes.iter().map(route_json).collect::<Vec<_>>(),
        "harvests": overview.tasks.iter().map(task_json).collect::<Vec<_>>(),
        "loads": overview.loads,
        "datasetsWithSkippedStatements": overview.with_skipped,
        "endpoints": overview.endpoints,
    })
}

fn route_json(row: &RouteView) -> Value {
    let [p50, p95, p99] = row.milliseconds;
    let bars: Vec<Value> = row
        .bars
        .iter()
        .map(|(bound, count)| json!({ "upToSeconds": bound, "requests": count }))
        .collect();
    json!({ "route": row.route, "requests": row.requests, "refused": row.refused, "failed": row.failed,
            "milliseconds": { "p50": p50, "p95": p95, "p99": p99 }, "histogram": bars })
}

fn task_json(task: &TaskView) -> Value {
    json!({ "time": unix_seconds(task.when), "what": task.what, "done": task.is_done, "outcome": task.outcome })
}
