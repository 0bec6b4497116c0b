//! The administration in a browser: a page for each task below `/operator`, with forms that work without scripts.
//!
//! A visitor enters a token once and gets a [session](super::sessions). Each form queues the same change as the route of
//! `/api/admin` for programs, with the rights of the token.

mod datasets;
mod jobs;
mod searches;
mod sources;

use super::is_current;
use super::management::{Caller, management, queue};
use super::sessions::Session;
use crate::AppState;
use crate::connections::TrustedBody;
use crate::error::ApiError;
use crate::hosts::is_from_other_origin;
use crate::pages::{PageContext, error, render};
use crate::parameters::{Pairs, pairs};
use crate::public_url::LinkBase;
use askama::Template;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use lodeseek_changes::{Change, MAX_UPLOAD_BYTES, Scope};
use std::time::Duration;

/// Time that a response waits for the end of a job. Then the page of the job shows its progress.
const MAX_JOB_WAIT: Duration = Duration::from_secs(5);
/// Returns the routes. Pages of other sites may not send requests to them.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/operator/login", get(login_page).post(log_in))
        .route("/operator/logout", post(log_out))
        .route(
            "/operator/sources",
            get(sources::page).post(sources::harvest),
        )
        .route(
            "/operator/upload",
            get(sources::upload_page)
                .post(sources::upload)
                .layer(DefaultBodyLimit::max(MAX_UPLOAD_BYTES)),
        )
        .route("/operator/datasets", get(datasets::page))
        .route(
            "/operator/dataset",
            get(datasets::form).post(datasets::change),
        )
        .route("/operator/jobs", get(jobs::page).post(jobs::cancel))
        .route(
            "/operator/backup",
            get(jobs::backup_page).post(jobs::back_up),
        )
        .route("/operator/audit", get(jobs::audit_page))
        .route("/operator/searches", get(searches::page))
        .layer(from_fn(only_own_pages))
}

/// Rejects requests that a page of another site caused, and forbids caches to keep responses.
async fn only_own_pages(request: Request, next: Next) -> Response {
    if is_from_other_origin(request.headers()) {
        let message = "pages of other sites may not send requests to this route";
        return ApiError::with_status(StatusCode::FORBIDDEN, message).into_response();
    }
    let mut response = next.run(request).await;
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A visitor with a session.
struct Operator {
    session: Session,
    caller: Caller,
}

impl Operator {
    /// Checks the rights and the secret of a form.
    fn authorize(&self, scope: Scope, form_secret: &str) -> Result<(), ApiError> {
        if !self.session.has_form_secret(form_secret) {
            let message = "the form is too old; open its page again";
            return Err(ApiError::with_status(StatusCode::FORBIDDEN, message));
        }
        self.caller.require(scope)
    }

    fn nav(&self, task: &'static str) -> Nav {
        Nav::of_session(&self.session, task)
    }

    /// Responds with a page, or with that of the error, which has the same menu.
    async fn respond(
        &self,
        page: &PageContext,
        task: &'static str,
        answer: impl Future<Output = Result<Response, ApiError>>,
    ) -> Response {
        match answer.await {
            Ok(response) => response,
            Err(failed) => {
                let content = ErrorPage {
                    page: page.clone(),
                    nav: self.nav(task),
                    status: failed.status.as_u16(),
                    heading: error_heading(failed.status),
                    message: failed.message.clone(),
                };
                let mut response = (failed.status, render(&content)).into_response();
                failed.set_retry_after(&mut response);
                response
            }
        }
    }
}

/// Page of an error.
#[derive(Template)]
#[template(path = "operator-error.html")]
struct ErrorPage {
    page: PageContext,
    nav: Nav,
    status: u16,
    heading: &'static str,
    message: String,
}

/// Returns the heading of the page of an error.
fn error_heading(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::SERVICE_UNAVAILABLE => "Busy",
        status if status.is_server_error() => "The server failed",
        _ => "Not done",
    }
}

impl FromRequestParts<AppState> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let management = match management(state) {
            Ok(management) => management,
            Err(failed) => return Err(failed.into_response()),
        };
        // A token that was removed ends its sessions.
        match management.sessions.find(&parts.headers) {
            Some(session) if is_current(state, &session.token) => {
                if session.token.scope >= Scope::Write {
                    TrustedBody::grant(&parts.extensions);
                }
                let caller = Caller::with_token(session.token.clone());
                Ok(Self { session, caller })
            }
            _ => Err(Redirect::to("/operator/login").into_response()),
        }
    }
}

/// Menu of the pages, the rights of the session, and the secret of the forms.
pub(super) struct Nav {
    pub(super) task: &'static str,
    pub(super) session: Option<NavSession>,
}

/// The session of a menu.
pub(super) struct NavSession {
    pub(super) name: String,
    pub(super) scope: Scope,
    pub(super) form_secret: String,
}

impl Nav {
    fn of_session(session: &Session, task: &'static str) -> Self {
        let session = NavSession {
            name: session.token.name.clone(),
            scope: session.token.scope,
            form_secret: session.form_secret.clone(),
        };
        Self {
            task,
            session: Some(session),
        }
    }

    /// Returns the menu of the page of the server's state, which clients without a session reach, too. `None` if the administration is
    /// disabled.
    pub(super) fn of_status(state: &AppState, headers: &HeaderMap) -> Option<Self> {
        let task = "status";
        let session = management(state).ok()?.sessions.find(headers);
        match session.filter(|session| is_current(state, &session.token)) {
            Some(session) => Some(Self::of_session(&session, task)),
            None => Some(Self {
                task,
                session: None,
            }),
        }
    }

    /// Returns the secret of the forms; empty without a session.
    pub(super) fn form_secret(&self) -> &str {
        match &self.session {
            Some(session) => &session.form_secret,
            None => "",
        }
    }

    fn has_scope(&self, scope: Scope) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.scope >= scope)
    }

    /// Returns true if the session may change datasets.
    pub(super) fn can_write(&self) -> bool {
        self.has_scope(Scope::Write)
    }

    /// Returns true if the session may harvest and back up.
    pub(super) fn can_administer(&self) -> bool {
        self.has_scope(Scope::Admin)
    }
}

/// Fields of a form.
struct Fields(Pairs);

impl Fields {
    /// Reads the body of a form.
    async fn read(request: Request) -> Result<Self, ApiError> {
        let body = Bytes::from_request(request, &()).await;
        let body = body.map_err(|rejection| {
            ApiError::with_status(rejection.status(), rejection.body_text())
        })?;
        Ok(Self(pairs(&body)))
    }

    /// Returns a value without white space around it; an empty text if there is none.
    fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        match found {
            Some((_, value)) => value.trim(),
            None => "",
        }
    }

    /// Returns a value with line breaks as in stored texts, without white space around it; `None` if the form lacks it.
    fn text(&self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some(value.replace("\r\n", "\n").trim().to_owned())
    }
}

/// Responds with a page, or with that of the error.
async fn respond(
    page: &PageContext,
    answer: impl Future<Output = Result<Response, ApiError>>,
) -> Response {
    answer.await.unwrap_or_else(|failed| error(page, &failed))
}

/// Queues a change, waits a moment, and leads to the page of the job.
async fn queue_change(
    state: &AppState,
    operator: &Operator,
    change: Change,
) -> Result<Response, ApiError> {
    // A harvest waits for its sources: the page of its job shows its progress.
    let wait = match change {
        Change::Harvest(_) => Duration::ZERO,
        _ => MAX_JOB_WAIT,
    };
    let job = queue(state, change, &operator.caller, wait).await?;
    Ok(Redirect::to(&job_address(job.id)).into_response())
}

/// Returns the address of the page of a job.
fn job_address(job: u64) -> String {
    format!("/operator/jobs?job={job}")
}

#[derive(Template)]
#[template(path = "operator-login.html")]
struct LoginPage {
    page: PageContext,
    is_wrong: bool,
}

async fn login_page(State(state): State<AppState>, page: PageContext) -> Response {
    respond(&page, async {
        management(&state)?;
        Ok(render(&LoginPage {
            page: page.clone(),
            is_wrong: false,
        }))
    })
    .await
}

/// Opens a session for a token.
async fn log_in(
    State(state): State<AppState>,
    page: PageContext,
    links: LinkBase,
    request: Request,
) -> Response {
    respond(&page, async {
        let management = management(&state)?;
        let fields = Fields::read(request).await?;
        let secret = fields.get("token");
        let found = management.tokens.find(secret);
        let found = found.map_err(|error| ApiError::internal(&error))?;
        let admin = state.admin.as_ref();
        let found = found.or_else(|| admin?.access().find(secret));
        let Some(token) = found else {
            let form = LoginPage {
                page: page.clone(),
                is_wrong: true,
            };
            return Ok((StatusCode::FORBIDDEN, render(&form)).into_response());
        };
        let (path, is_secure) = cookie_scope(&state, &links);
        let cookie = management.sessions.open(token, &path, is_secure);
        let cookie = cookie.map_err(|error| ApiError::internal(&error))?;
        Ok(with_cookie("/operator/datasets", &cookie))
    })
    .await
}

async fn log_out(
    State(state): State<AppState>,
    page: PageContext,
    links: LinkBase,
    operator: Operator,
    request: Request,
) -> Response {
    let headers = request.headers().clone();
    respond(&page, async {
        let fields = Fields::read(request).await?;
        operator.authorize(Scope::Read, fields.get("form"))?;
        let (path, is_secure) = cookie_scope(&state, &links);
        let cookie = management(&state)?
            .sessions
            .close(&headers, &path, is_secure);
        Ok(with_cookie("/operator/login", &cookie))
    })
    .await
}

/// Returns the path of the cookie. If the second value is true, browsers send it over TLS only.
fn cookie_scope(state: &AppState, links: &LinkBase) -> (String, bool) {
    let path = format!("{}/operator", state.site.base_path());
    (path, links.as_str().starts_with("https://"))
}

fn with_cookie(target: &str, cookie: &str) -> Response {
    let mut response = Redirect::to(target).into_response();
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}
