//! `/api/admin`: changes of the collection while it is served, for clients with a token and for the local socket.
//!
//! A change is queued as a job and made beside running searches. Without the header `Prefer: wait=SECONDS` the response is
//! 202 with the job; with it the response waits for the end of the job. Other origins may not read these routes, and no
//! cookie authorizes a request; the [forms](super::forms) for browsers have routes of their own.

use super::edits;
use super::preconditions::read_preconditions;
use super::sessions::Sessions;
use super::uploads::{SourceNaming, is_form, receive, receive_sources};
use super::{removal, works};
use crate::AppState;
use crate::connections::TrustedBody;
use crate::documentation::{
    BadRequest, BodyTimeout, Id, JsonError, NotFound, ObjectArray, QueueFull,
};
use crate::error::ApiError;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use lodeseek_catalog::DatasetId;
use lodeseek_changes::{
    Cancelled, Change, ChangeWorker, DumpsRequest, Job, JobState, Jobs, LoadRequest, MAX_SOURCES,
    MAX_UPLOAD_BYTES, Publication, Refusal, Rights, Scope, Spool, StopSignal, Token, Tokens,
    UPLOADS_FOLDER,
};
use lodeseek_engine::{collection_status, list_datasets};
use lodeseek_harvest::HarvestRequest;
use lodeseek_snapshot::SnapshotLocation;
use lodeseek_store::ContentPlace;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use utoipa::{IntoParams, OpenApi};

/// Maximum time that a response waits for a job, in seconds.
const MAX_WAIT: u64 = 600;
/// Maximum number of entries of the audit log in a response.
const MAX_AUDIT_LINES: usize = 1000;

/// Tokens, jobs and uploads of the administration.
pub(crate) struct Management {
    pub(super) tokens: Arc<Tokens>,
    pub(super) sessions: Sessions,
    pub(super) jobs: Arc<Jobs>,
    /// Number of ended jobs.
    ended: watch::Sender<u64>,
    spool: PathBuf,
    uploads: AtomicU64,
}

impl Management {
    /// Creates the administration of a home, and deletes uploads that a killed process left.
    pub(crate) fn new(home: &std::path::Path) -> io::Result<Self> {
        let spool = home.join(UPLOADS_FOLDER);
        match fs::remove_dir_all(&spool) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let (tokens, uploads) = (Arc::new(Tokens::new(home)), AtomicU64::default());
        if let Err(error) = tokens.list() {
            tracing::error!(%error, "requests with a token are rejected");
        }
        let ended = watch::Sender::new(0);
        let counter = ended.clone();
        let jobs = Jobs::new(home).on_end(move || counter.send_modify(|count| *count += 1));
        Ok(Self {
            tokens,
            sessions: Sessions::default(),
            jobs: Arc::new(jobs),
            ended,
            spool,
            uploads,
        })
    }

    /// Waits until a job has ended, for at most a time. Returns its state then.
    pub(super) async fn wait(&self, id: u64, time: Duration) -> Option<Job> {
        // Subscribed before the job is read, so that its end in between is not missed.
        let mut ended = self.ended.subscribe();
        let until = tokio::time::Instant::now() + time;
        loop {
            let job = self.jobs.get(id)?;
            if job.state.has_ended() {
                return Some(job);
            }
            match tokio::time::timeout_at(until, ended.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return self.jobs.get(id),
            }
        }
    }

    /// Returns true if a token with this secret exists.
    pub(super) fn admits(&self, secret: &str) -> bool {
        matches!(self.tokens.find(secret), Ok(Some(_)))
    }

    /// Creates the folder of an upload.
    pub(super) fn new_spool(&self) -> io::Result<Spool> {
        Spool::create(
            self.spool
                .join(self.uploads.fetch_add(1, Ordering::SeqCst).to_string()),
        )
    }
}

impl AppState {
    /// Enables the administration under `/api/admin`, and starts the threads that make the changes. The store must be opened
    /// for writing.
    ///
    /// # Errors
    /// If uploads of an earlier process cannot be deleted, or a thread cannot be started.
    pub fn with_administration(self) -> io::Result<(Self, ChangeWorker)> {
        let management = Management::new(self.store.home())?;
        let worker = ChangeWorker::start(&management.jobs, &self.live(StopSignal::default()))?;
        let mut state = self;
        state.changes.management = Some(Arc::new(management));
        Ok((state, worker))
    }
}

/// Marks requests over the local socket: its file permissions authorize them.
#[derive(Clone, Copy)]
pub(crate) struct LocalPeer;

/// An authorized client.
pub(super) struct Caller {
    name: String,
    scope: Scope,
    /// Token of the client; `None` for the local socket.
    token: Option<Token>,
}

impl Caller {
    /// Returns the user of a token.
    pub(super) fn with_token(token: Token) -> Self {
        Self {
            name: token.name.clone(),
            scope: token.scope,
            token: Some(token),
        }
    }

    /// Returns the name of the token, or `local`.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true for a client of the local socket.
    fn is_local(&self) -> bool {
        self.token.is_none()
    }

    /// Returns the rights with which the caller requests a change.
    fn rights(&self, management: &Management, scope: Scope) -> Rights {
        match &self.token {
            Some(token) => Rights::new(&management.tokens, token.clone(), scope),
            None => Rights::default(),
        }
    }

    /// Rejects a caller with fewer rights.
    pub(super) fn require(&self, scope: Scope) -> Result<(), ApiError> {
        if self.scope >= scope {
            return Ok(());
        }
        let message = format!(
            "the token {} has the scope {}; this request needs {scope}",
            self.name, self.scope
        );
        Err(ApiError::with_status(StatusCode::FORBIDDEN, message))
    }
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let management = management(state).map_err(|error| error.to_json_response())?;
        if parts.extensions.get::<LocalPeer>().is_some() {
            return Ok(Self {
                name: "local".to_owned(),
                scope: Scope::Admin,
                token: None,
            });
        }
        let found = match bearer_token(&parts.headers) {
            Some(secret) => management.tokens.find(secret),
            None => Ok(None),
        };
        match found {
            Ok(Some(token)) => {
                // Tokens that only read send no large bodies.
                if token.scope >= Scope::Write {
                    TrustedBody::grant(&parts.extensions);
                }
                Ok(Self::with_token(token))
            }
            Ok(None) if bearer_token(&parts.headers).is_some() => Err(unauthorized_response(
                "this server rejects the token: it is unknown, or was removed; `lodeseek token list` shows those that are valid",
            )),
            Ok(None) => Err(unauthorized_response(
                "this request needs a token: `Authorization: Bearer TOKEN`; `lodeseek token add` creates one",
            )),
            Err(error) => Err(ApiError::internal(&error).to_json_response()),
        }
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

fn unauthorized_response(message: &str) -> Response {
    with_challenge(ApiError::with_status(StatusCode::UNAUTHORIZED, message).to_json_response())
}

/// Adds the scheme of tokens to responses of status 401.
fn with_challenge(mut response: Response) -> Response {
    if response.status() == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer realm=\"lodeseek administration\"");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

pub(super) fn management(state: &AppState) -> Result<&Arc<Management>, ApiError> {
    state.changes.management.as_ref().ok_or_else(|| match &state.snapshot {
        Some(_) => ApiError::with_status(
            StatusCode::FORBIDDEN,
            "this server only reads a snapshot; change the collection where it is, and run `lodeseek publish` there",
        ),
        None => {
            ApiError::not_found("the administration is disabled on this server; `lodeseek serve --admin` enables it")
        }
    })
}

/// Descriptions of the operations.
#[derive(OpenApi)]
#[openapi(paths(
    list_jobs,
    get_job,
    cancel_job,
    edits::get_dataset,
    put_dataset,
    edits::patch_dataset,
    edits::delete_edits,
    removal::delete_dataset,
    removal::remove_listed,
    load_sources,
    works::get_works,
    works::post_works,
    removal::delete_work,
    harvest_sources,
    index_collection,
    list_collection,
    show_status,
    show_token,
    audit_log
))]
pub(crate) struct Operations;

/// Returns the routes of the administration.
pub(crate) fn router() -> Router<AppState> {
    let upload_limit = DefaultBodyLimit::max(MAX_UPLOAD_BYTES);
    let list_limit = DefaultBodyLimit::max(removal::MAX_LIST_BYTES);
    Router::new()
        .route("/api/admin/jobs", get(list_jobs))
        .route("/api/admin/jobs/{job}", get(get_job).delete(cancel_job))
        .route("/api/admin/token", get(show_token))
        .route("/api/admin/status", get(show_status))
        .route("/api/admin/datasets", get(list_collection))
        .route(
            "/api/admin/datasets/{id}",
            put(put_dataset)
                .layer(upload_limit)
                .get(edits::get_dataset)
                .patch(edits::patch_dataset)
                .delete(removal::delete_dataset),
        )
        .route(
            "/api/admin/datasets/{id}/edits",
            delete(edits::delete_edits),
        )
        .route(
            "/api/admin/remove",
            post(removal::remove_listed).layer(list_limit),
        )
        .route("/api/admin/index", post(index_collection))
        .route("/api/admin/load", post(load_sources).layer(upload_limit))
        .route(
            "/api/admin/works",
            get(works::get_works).post(works::post_works),
        )
        .route("/api/admin/works/{id}", delete(removal::delete_work))
        .route("/api/admin/harvest", post(harvest_sources))
        .route("/api/admin/backup", post(back_up))
        .route("/api/admin/publish", post(publish))
        .route("/api/admin/audit", get(audit_log))
        .layer(map_response(without_caching))
}

async fn without_caching(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `GET /api/admin/jobs`.
#[utoipa::path(get, path = "/api/admin/jobs", tag = "Administration", summary = "Jobs, the latest first",
    responses((status = 200, description = "The jobs since the start, up to two thousand.", body = Object)),
    security(("bearer" = ["read"])))]
async fn list_jobs(State(state): State<AppState>, caller: Caller) -> Response {
    respond(async {
        caller.require(Scope::Read)?;
        Ok(Json(json!({ "jobs": management(&state)?.jobs.list() })).into_response())
    })
    .await
}

/// `GET /api/admin/jobs/{job}`.
#[utoipa::path(get, path = "/api/admin/jobs/{job}", tag = "Administration", summary = "One job with its progress",
    params(("job" = u64, Path, description = "The job's number.")),
    responses(
        (status = 200, body = Object, description = "State, progress and result. An ended job lists at most 1,000 of the datasets \
            or works that its change names; unlistedDatasets and unlistedWorks are the numbers of the others."),
        NotFound<JsonError>),
    security(("bearer" = ["read"])))]
async fn get_job(
    State(state): State<AppState>,
    caller: Caller,
    Path(job): Path<u64>,
    headers: HeaderMap,
) -> Response {
    respond(async {
        caller.require(Scope::Read)?;
        let job = management(&state)?.wait(job, wait_time(&headers)).await;
        Ok(Json(job.ok_or_else(no_job)?).into_response())
    })
    .await
}

fn no_job() -> ApiError {
    ApiError::not_found(
        "there is no such job since the start of the server; the audit log contains ended ones",
    )
}

/// `DELETE /api/admin/jobs/{job}`.
#[utoipa::path(delete, path = "/api/admin/jobs/{job}", tag = "Administration", summary = "Cancel a job",
    params(("job" = u64, Path, description = "The job's number.")),
    responses(
        (status = 200, description = "A waiting job is cancelled.", body = Object),
        (status = 202, description = "A running job ends after its current step.", body = Object),
        NotFound<JsonError>,
        (status = 409, description = "The job has ended.", body = Object)),
    security(("bearer" = ["write"])))]
async fn cancel_job(
    State(state): State<AppState>,
    caller: Caller,
    Path(job): Path<u64>,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let jobs = Arc::clone(&management(&state)?.jobs);
        let queue = Arc::clone(&jobs);
        let cancelled = tokio::task::spawn_blocking(move || queue.cancel(job)).await;
        let status = match cancelled.map_err(|error| ApiError::internal(&error))? {
            Cancelled::Removed => StatusCode::OK,
            Cancelled::Requested => StatusCode::ACCEPTED,
            Cancelled::TooLate => StatusCode::CONFLICT,
            Cancelled::Unknown => return Err(no_job()),
        };
        Ok((status, Json(jobs.get(job).ok_or_else(no_job)?)).into_response())
    })
    .await
}

/// `GET /api/admin/audit`.
#[utoipa::path(get, path = "/api/admin/audit", tag = "Administration", summary = "The last changes",
    responses((status = 200, description = "JSON lines: time, job, token, action, datasets, sources (addresses and file names), works that \
        were removed, outcome, SHA-256 of the line before, and of the rest of the line; the oldest first. A damaged line is replaced by an object with its text in `damaged`.",
        body = String, content_type = "application/jsonl")),
    security(("bearer" = ["read"])))]
async fn audit_log(State(state): State<AppState>, caller: Caller) -> Response {
    respond(async {
        caller.require(Scope::Read)?;
        let management = Arc::clone(management(&state)?);
        let lines = state
            .work(move |_| {
                management
                    .jobs
                    .audit
                    .last(MAX_AUDIT_LINES)
                    .map_err(|error| ApiError::internal(&error))
            })
            .await?;
        Ok(([(header::CONTENT_TYPE, "application/jsonl")], lines).into_response())
    })
    .await
}

/// `PUT /api/admin/datasets/{id}`.
#[utoipa::path(put, path = "/api/admin/datasets/{id}", tag = "Administration", summary = "Add or replace a dataset",
    description = "The body is a description (Turtle, JSON-LD, or another format that `load` reads; or a JSON object with \
        title, description, tags and others), or multipart/form-data with the fields `metadata` (one), `dump` (RDF files) and \
        `url` (addresses of RDF files, which the server downloads); up to 100 files. Or the JSON object {\"url\": ADDRESS}. \
        A description replaces the present one as a whole: keys that it lacks are removed, and named by `removedKeys` in the result; \
        PATCH changes single keys. Edits of the operator stay in force. Without metadata the present description is kept, without \
        files the present content. Conditions (If-Match, If-None-Match: *, If-Unmodified-Since) are checked before the body is read, \
        and again when the job begins.",
    params(Id),
    request_body(content = String, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The dataset was replaced (with Prefer: wait).", body = Object),
        (status = 201, description = "The dataset is new (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        BadRequest<JsonError>,
        (status = 401, description = "A token is required.", body = Object),
        (status = 403, description = "The token's scope is not sufficient.", body = Object),
        BodyTimeout<JsonError>,
        (status = 412, description = "A condition does not hold: the dataset was changed meanwhile, or is present.", body = Object),
        (status = 422, description = "A key of the description is unknown or its value is none of its kind, which the message names; or \
            the change failed. The collection is as before.", body = Object),
        (status = 507, description = "The server's disk is full; nothing was changed.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
async fn put_dataset(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let id = dataset_id(&id)?;
        let wait = wait_time(request.headers());
        let conditions = read_preconditions(request.headers())?;
        edits::check_now(&state, &id, &conditions).await?;
        let spool = management(&state)?
            .new_spool()
            .map_err(|error| ApiError::of_file(&error))?;
        let mut upload = receive(request, id, spool, &state.parser()).await?;
        upload.conditions = conditions;
        // What is in a private network becomes public with the dataset.
        if caller.scope == Scope::Admin {
            upload.networks = Arc::clone(&state.changes.private_networks);
        }
        submit(&state, Change::Put(Box::new(upload)), &caller, wait).await
    })
    .await
}

/// Parameters of indexing.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct IndexParameters {
    /// If true, all datasets are indexed again, not only those whose index entries are missing or outdated.
    #[param(default = false)]
    rebuild: Option<bool>,
}

/// `POST /api/admin/index`.
#[utoipa::path(post, path = "/api/admin/index", tag = "Administration", summary = "Index the collection",
    params(IndexParameters),
    responses(
        (status = 200, description = "The collection was indexed (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["admin"])))]
async fn index_collection(
    State(state): State<AppState>,
    caller: Caller,
    Query(parameters): Query<IndexParameters>,
    headers: HeaderMap,
) -> Response {
    respond(async {
        caller.require(Scope::Admin)?;
        let change = Change::Index {
            rebuild: parameters.rebuild.unwrap_or(false),
        };
        submit(&state, change, &caller, wait_time(&headers)).await
    })
    .await
}

/// Sources of the local socket's clients: absolute paths on this machine.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sources {
    sources: Vec<PathBuf>,
    #[serde(default)]
    id_prefix: String,
    #[serde(default)]
    replace: bool,
    /// Place of the content; `None` for the setting of the home.
    content: Option<ContentPlace>,
    /// Folder or archive of dumps that are named after the ids of the datasets.
    dumps: Option<PathBuf>,
    /// Path of a dump in it.
    dumps_pattern: Option<String>,
}

impl Sources {
    /// Returns the request of a load. All paths must be absolute.
    fn into_request(self) -> LoadRequest {
        let Self {
            sources,
            id_prefix,
            replace,
            content,
            dumps,
            dumps_pattern,
        } = self;
        let dumps = dumps.map(|path| DumpsRequest {
            path,
            pattern: dumps_pattern,
        });
        LoadRequest {
            sources,
            id_prefix,
            replace,
            content,
            dumps,
            ..LoadRequest::default()
        }
    }
}

/// `POST /api/admin/load`.
#[utoipa::path(post, path = "/api/admin/load", tag = "Administration", summary = "Load catalogues and dumps",
    description = "The body is multipart/form-data: fields `file` with the files, whose file names are different paths such as \
        `catalog.ttl` and `dumps/trees.nt`, one field `source` for each of these that is a catalogue, a dump or a folder to \
        load. Optional fields: `idPrefix`; `replace` with the value true, which replaces datasets of other sources that have the \
        same ids; `content` with the value index-only, which keeps the content out of SPARQL; one field `origin` for each `source`, the place from which the client took it. Datasets without an IRI are \
        recognised by their origin, else by the name in `source`. Over the local socket, also a JSON object with `sources`, \
        absolute paths. The result lists at most 1,000 datasets, those with problems first; unlisted_datasets has the numbers of \
        the others by outcome. id_conflicts lists the datasets whose ids another source uses, with their other ids.",
    request_body(content = String, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The sources were loaded (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        BadRequest<JsonError>,
        (status = 401, description = "A token is required.", body = Object),
        (status = 403, description = "The token's scope is not sufficient.", body = Object),
        BodyTimeout<JsonError>,
        (status = 422, description = "A source cannot be read.", body = Object),
        (status = 507, description = "The server's disk is full; nothing was changed.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
async fn load_sources(State(state): State<AppState>, caller: Caller, request: Request) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let wait = wait_time(request.headers());
        let change = if is_form(request.headers()) {
            let spool = management(&state)?.new_spool().map_err(|error| ApiError::of_file(&error))?;
            receive_sources(request, spool, SourceNaming::ByFields).await?
        } else {
            let message =
                "files of the server's machine are loaded over its local socket only; upload them as multipart/form-data";
            // Before the body is read: only local clients may send one.
            require_local_paths(&caller, &[], message)?;
            let sources: Sources = read_json(request).await?;
            require_local_paths(&caller, &sources.sources, message)?;
            require_local_paths(&caller, sources.dumps.as_slice(), message)?;
            Change::Load(Box::new(sources.into_request()))
        };
        submit(&state, change, &caller, wait).await
    })
    .await
}

/// `POST /api/admin/harvest`.
#[utoipa::path(post, path = "/api/admin/harvest", tag = "Administration", summary = "Harvest portals now",
    description = "The body is a JSON object with `sources`, addresses of catalogues or portals, and the options of \
        `lodeseek harvest`: name, protocol, download, keepGone, idPrefix, fullHarvestEvery, hosts, otherHosts (refused or any-public), \
        pause, maxRequests, maxMegabytes, maxMinutes, maxPages, maxFileMegabytes, maxFileSeconds. Harvests run one after the \
        other; other changes are made between their batches of 200 datasets. The result has one report for each harvest. \
        All reports together list at most 1,000 new, changed, kept and gone datasets each, and as many problems; the keys \
        unlisted_… have the numbers of the others. \
        Local paths and privateNetworks are accepted over the local socket only.",
    request_body(content = Object, content_type = "application/json"),
    responses(
        (status = 200, description = "The harvest has ended (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        BadRequest<JsonError>,
        (status = 401, description = "A token is required.", body = Object),
        (status = 403, description = "The token's scope is not sufficient, or a source is a local path.", body = Object),
        BodyTimeout<JsonError>,
        (status = 422, description = "The harvest failed; batches that were stored are kept.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["admin"])))]
async fn harvest_sources(State(state): State<AppState>, caller: Caller, body: Request) -> Response {
    respond(async {
        caller.require(Scope::Admin)?;
        let wait = wait_time(body.headers());
        let mut request: HarvestRequest = read_json(body).await?;
        if request.sources.is_empty() || request.sources.len() > MAX_SOURCES {
            return Err(ApiError::bad_request(format!(
                "name 1 to {MAX_SOURCES} sources"
            )));
        }
        if !caller.is_local() {
            restrict(&mut request, &state)?;
        } else if request.private_networks.is_empty() {
            request.private_networks = state.changes.private_networks.to_vec();
        }
        request
            .policy(&request.sources)
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
        submit(&state, Change::Harvest(Box::new(request)), &caller, wait).await
    })
    .await
}

/// Rejects files and networks that a client of another machine may not read, and sets the networks of the configuration.
pub(super) fn restrict(request: &mut HarvestRequest, state: &AppState) -> Result<(), ApiError> {
    let message = if let Some(path) = request.local_source() {
        format!(
            "{path:?} is no http or https address; files of the server's machine are harvested over its local socket only"
        )
    } else if !request.private_networks.is_empty() {
        "private networks are allowed by the server's settings only: `private-networks` in the table [service]"
            .to_owned()
    } else {
        request.private_networks = state.changes.private_networks.to_vec();
        return Ok(());
    };
    Err(ApiError::with_status(StatusCode::FORBIDDEN, message))
}

/// `GET /api/admin/datasets`.
#[utoipa::path(get, path = "/api/admin/datasets", tag = "Administration", summary = "Datasets with their states",
    responses((status = 200, description = "The datasets by id, as `lodeseek list --json` writes them.", body = inline(ObjectArray))),
    security(("bearer" = ["read"])))]
async fn list_collection(State(state): State<AppState>, caller: Caller) -> Response {
    respond(async {
        caller.require(Scope::Read)?;
        Ok(Json(state.work(|state| Ok(list_datasets(&state.store)?)).await?).into_response())
    })
    .await
}

/// `GET /api/admin/status`.
#[utoipa::path(get, path = "/api/admin/status", tag = "Administration", summary = "State of the collection",
    responses((status = 200, body = Object, description =
        "The state as `lodeseek status --json` writes it, and the server's version.")),
    security(("bearer" = ["read"])))]
async fn show_status(State(state): State<AppState>, caller: Caller) -> Response {
    respond(async {
        caller.require(Scope::Read)?;
        let status = state
            .work(|state| Ok(collection_status(&state.store)?))
            .await?;
        Ok(Json(json!({ "version": env!("CARGO_PKG_VERSION"), "status": status })).into_response())
    })
    .await
}

/// `GET /api/admin/token`.
#[utoipa::path(get, path = "/api/admin/token", tag = "Administration", summary = "The token of the request",
    responses((status = 200, description = "Name and scope, for a check before an upload.", body = Object)),
    security(("bearer" = [])))]
async fn show_token(caller: Caller) -> Response {
    Json(json!({ "name": caller.name, "scope": caller.scope })).into_response()
}

/// Rejects paths of this machine from other clients than those of the local socket, and relative paths.
fn require_local_paths(
    caller: &Caller,
    paths: &[PathBuf],
    message: &'static str,
) -> Result<(), ApiError> {
    if !caller.is_local() {
        return Err(ApiError::with_status(StatusCode::FORBIDDEN, message));
    }
    match paths.iter().find(|path| !path.is_absolute()) {
        Some(path) => Err(ApiError::bad_request(format!(
            "the path {} is not absolute",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Target of a backup: an absolute path on this machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupTarget {
    folder: PathBuf,
}

/// `POST /api/admin/backup`: writes a backup to a folder of this machine. Only for the local socket: others must not write its
/// files.
async fn back_up(State(state): State<AppState>, caller: Caller, request: Request) -> Response {
    respond(async {
        let message = "backups are made over the local socket only; run `lodeseek backup` on the server's machine";
        require_local_paths(&caller, &[], message)?;
        let wait = wait_time(request.headers());
        let BackupTarget { folder } = read_json(request).await?;
        require_local_paths(&caller, std::slice::from_ref(&folder), message)?;
        submit(&state, Change::Backup(folder), &caller, wait).await
    })
    .await
}

/// Target of a publication.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicationTarget {
    location: String,
    /// Number of snapshots that are kept; all without it.
    keep: Option<NonZeroUsize>,
    /// Absolute path of a private key.
    key: Option<PathBuf>,
    #[serde(default)]
    force: bool,
}

/// `POST /api/admin/publish`: publishes a snapshot. Only for the local socket: others must not choose where its data goes.
async fn publish(State(state): State<AppState>, caller: Caller, request: Request) -> Response {
    respond(async {
        let message =
            "snapshots are published over the local socket only; run `lodeseek publish` on the server's machine";
        require_local_paths(&caller, &[], message)?;
        let wait = wait_time(request.headers());
        let target: PublicationTarget = read_json(request).await?;
        let location = target.location.parse::<SnapshotLocation>();
        let location = location.map_err(|error| ApiError::bad_request(error.to_string()))?;
        require_local_paths(&caller, target.key.as_slice(), message)?;
        let PublicationTarget { keep, key, force, .. } = target;
        let publication = Publication { location, keep, key, force };
        submit(&state, Change::Publish(Box::new(publication)), &caller, wait).await
    })
    .await
}

/// Reads a JSON body. To be called after the check of rights, so that nobody else sends one.
///
/// # Errors
/// If it has not the expected structure, or is too large.
pub(super) async fn read_json<T: DeserializeOwned>(request: Request) -> Result<T, ApiError> {
    let Json(value) = Json::from_request(request, &())
        .await
        .map_err(rejected_body)?;
    Ok(value)
}

fn rejected_body(rejection: JsonRejection) -> ApiError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::with_status(StatusCode::PAYLOAD_TOO_LARGE, rejection.body_text())
        }
        _ => ApiError::bad_request(rejection.body_text()),
    }
}

/// Converts errors to JSON.
pub(super) async fn respond(handler: impl Future<Output = Result<Response, ApiError>>) -> Response {
    handler
        .await
        .unwrap_or_else(|error| with_challenge(error.to_json_response()))
}

pub(super) fn dataset_id(text: &str) -> Result<DatasetId, ApiError> {
    DatasetId::new(text).map_err(|error| ApiError::bad_request(error.to_string()))
}

/// Returns the time of `Prefer: wait=SECONDS` (RFC 7240), at most ten minutes.
pub(super) fn wait_time(headers: &HeaderMap) -> Duration {
    let preferences = headers
        .get_all("prefer")
        .iter()
        .filter_map(|value| value.to_str().ok());
    let wait = preferences
        .flat_map(|value| value.split([',', ';']))
        .find_map(|preference| {
            let (name, value) = preference.split_once('=')?;
            if name.trim().eq_ignore_ascii_case("wait") {
                value.trim().parse::<u64>().ok()
            } else {
                None
            }
        });
    Duration::from_secs(wait.unwrap_or(0).min(MAX_WAIT))
}

/// Queues a change, and waits for its end if the client prefers so.
pub(super) async fn submit(
    state: &AppState,
    change: Change,
    caller: &Caller,
    wait: Duration,
) -> Result<Response, ApiError> {
    let job = queue(state, change, caller, wait).await?;
    Ok(job_response(&job))
}

/// Queues a change, waits at most this time for its end, and returns its job.
pub(super) async fn queue(
    state: &AppState,
    change: Change,
    caller: &Caller,
    wait: Duration,
) -> Result<Job, ApiError> {
    let management = management(state)?;
    let rights = caller.rights(management, change.scope());
    // The body may have taken hours.
    rights
        .check()
        .map_err(|message| ApiError::with_status(StatusCode::UNAUTHORIZED, message))?;
    let jobs = &management.jobs;
    let job = jobs.add(change, &caller.name, rights).map_err(|refusal| {
        let message = match refusal {
            Refusal::Full => "the queue of changes is full; retry later",
            Refusal::Stopping => "the server is stopping",
        };
        ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, message)
    })?;
    Ok(management.wait(job.id, wait).await.unwrap_or(job))
}

fn job_response(job: &Job) -> Response {
    let is_new = job
        .result
        .as_ref()
        .is_some_and(|result| result["created"] == Value::Bool(true));
    let status = match job.state {
        JobState::Queued | JobState::Running => StatusCode::ACCEPTED,
        JobState::Done if is_new => StatusCode::CREATED,
        JobState::Done => StatusCode::OK,
        JobState::Failed if job.is_disk_full => StatusCode::INSUFFICIENT_STORAGE,
        JobState::Failed => job
            .status
            .and_then(|status| StatusCode::from_u16(status).ok())
            .unwrap_or(StatusCode::UNPROCESSABLE_ENTITY),
        JobState::Cancelled => StatusCode::CONFLICT,
    };
    let mut response = (status, Json(job)).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/api/admin/jobs/{}", job.id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    let tag = job
        .result
        .as_ref()
        .and_then(|result| result["etag"].as_str());
    if let Some(Ok(tag)) = tag.map(HeaderValue::from_str) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_parsed_and_bounded() {
        let wait = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("prefer", text.parse().expect("a header"));
            wait_time(&headers).as_secs()
        };
        assert_eq!(
            [
                wait("wait=7"),
                wait("respond-async, wait=9"),
                wait("wait=99999"),
                wait("wait=x")
            ],
            [7, 9, 600, 0]
        );
        assert_eq!(wait_time(&HeaderMap::new()), Duration::ZERO);
    }
}
