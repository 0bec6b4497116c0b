//! `/api/admin/works`: lists and adds works that use datasets. Their removal is in `removal`.

use super::management::{Caller, management, respond, submit, wait_time};
use super::uploads::receive_body;
use crate::AppState;
use crate::documentation::{BadRequest, BodyTimeout, JsonError, ObjectArray, QueueFull};
use crate::error::ApiError;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use lodeseek_changes::{Change, Scope, WORKS_LIST, WorksUpload};
use lodeseek_engine::list_works;

/// Number of hexadecimal digits of an id.
const ID_DIGITS: usize = 32;

/// `GET /api/admin/works`.
#[utoipa::path(get, path = "/api/admin/works", tag = "Administration", summary = "Works that use datasets",
    responses((status = 200, description = "The works by title, as `lodeseek list --works --json` writes them.", body = inline(ObjectArray))),
    security(("bearer" = ["read"])))]
pub(super) async fn get_works(State(state): State<AppState>, caller: Caller) -> Response {
    respond(async {
        caller.require(Scope::Read)?;
        Ok(Json(state.work(|state| Ok(list_works(&state.store)?)).await?).into_response())
    })
    .await
}

/// `POST /api/admin/works`.
#[utoipa::path(post, path = "/api/admin/works", tag = "Administration", summary = "Add works that use datasets",
    description = "The body has one JSON object a line: title, abstract, year, url, and datasets (ids); at most 16 MiB, and 1 MiB \
        a line. A work replaces an earlier one with the same url, or the same title and year. All works are added, or none: if a \
        line cannot be read, the job fails. The result counts works: added, replaced, unchanged, and total; and datasets: \
        usedDatasets are in the home, unknownDatasets are not.",
    request_body(content = String, content_type = "application/jsonl"),
    responses(
        (status = 200, description = "The works were added (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        BadRequest<JsonError>,
        (status = 401, description = "A token is required.", body = Object),
        (status = 403, description = "The token's scope is not sufficient.", body = Object),
        BodyTimeout<JsonError>,
        (status = 413, description = "The body is larger than 16 MiB.", body = Object),
        (status = 422, description = "A line cannot be read; nothing was changed.", body = Object),
        (status = 507, description = "The server's disk is full; nothing was changed.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
pub(super) async fn post_works(
    State(state): State<AppState>,
    caller: Caller,
    request: Request,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let wait = wait_time(request.headers());
        let spool = management(&state)?
            .new_spool()
            .map_err(|error| ApiError::of_file(&error))?;
        receive_body(request.into_body(), &spool.path().join(WORKS_LIST)).await?;
        submit(
            &state,
            Change::Works(WorksUpload::File(spool)),
            &caller,
            wait,
        )
        .await
    })
    .await
}

/// Returns ids of works if all are well-formed. The audit log contains them, whether the works exist or not.
pub(super) fn work_ids(ids: Vec<String>) -> Result<Vec<String>, ApiError> {
    match ids.iter().find(|id| !is_id(id)) {
        Some(wrong) => {
            let wrong: String = wrong.chars().take(ID_DIGITS).collect();
            Err(ApiError::bad_request(format!(
                "{wrong:?} is no id of a work, which has {ID_DIGITS} hexadecimal digits; GET /api/admin/works lists all"
            )))
        }
        None => Ok(ids),
    }
}

fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
