//! `/api/admin/remove`, and `DELETE` of datasets and works: removals, all or none.

use super::edits::check_now;
use super::management::{Caller, dataset_id, management, read_json, respond, submit, wait_time};
use super::preconditions::read_preconditions;
use super::works::work_ids;
use crate::AppState;
use crate::documentation::{BadRequest, BodyTimeout, Id, JsonError, NotFound, QueueFull};
use crate::error::ApiError;
use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use lodeseek_changes::{ADD_WORKS, Change, Scope};
use lodeseek_store::read_works;
use serde::Deserialize;

/// Maximum number of datasets or works of one removal.
const MAX_REMOVED: usize = 10_000;
/// Maximum size of the body of `/api/admin/remove`: the ids have at most 200 characters.
pub(super) const MAX_LIST_BYTES: usize = 4 << 20;

/// `DELETE /api/admin/datasets/{id}`.
#[utoipa::path(delete, path = "/api/admin/datasets/{id}", tag = "Administration", summary = "Remove a dataset",
    params(Id),
    responses(
        (status = 200, description = "The dataset was removed (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        NotFound<JsonError>,
        (status = 412, description = "A condition does not hold: the dataset was changed meanwhile.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
pub(super) async fn delete_dataset(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let id = dataset_id(&id)?;
        let conditions = read_preconditions(&headers)?;
        check_now(&state, &id, &conditions).await?;
        let requested = id.clone();
        // A dataset whose addition is still queued is present when its removal runs.
        if !management(&state)?.jobs.is_pending(id.as_str()) {
            state
                .work(move |state| Ok(state.store.entry(&requested).map(drop)?))
                .await?;
        }
        let change = if conditions.is_empty() {
            Change::Remove(vec![id])
        } else {
            Change::RemoveIf(id, conditions)
        };
        submit(&state, change, &caller, wait_time(&headers)).await
    })
    .await
}

/// `DELETE /api/admin/works/{id}`.
#[utoipa::path(delete, path = "/api/admin/works/{id}", tag = "Administration", summary = "Remove a work",
    params(("id" = String, Path, description = "The work's id.")),
    responses(
        (status = 200, description = "The work was removed (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        BadRequest<JsonError>,
        NotFound<JsonError>,
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
pub(super) async fn delete_work(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let ids = work_ids(vec![id.clone()])?;
        // A work whose addition is still queued is present when its removal runs.
        if !management(&state)?
            .jobs
            .has_pending(|job| job.action == ADD_WORKS)
        {
            let works = state
                .work(|state| Ok(read_works(state.store.home())?))
                .await?;
            if !works.contains_key(&id) {
                return Err(ApiError::not_found(format!(
                    "there is no work {id}; GET /api/admin/works lists all"
                )));
            }
        }
        submit(
            &state,
            Change::RemoveWorks(ids),
            &caller,
            wait_time(&headers),
        )
        .await
    })
    .await
}

/// Datasets or works to remove.
#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Removal {
    /// Ids of the datasets.
    datasets: Vec<String>,
    /// Ids of the works.
    works: Vec<String>,
}

/// `POST /api/admin/remove`.
#[utoipa::path(post, path = "/api/admin/remove", tag = "Administration", summary = "Remove several datasets or works",
    description = "The body is a JSON object with `datasets` or `works`, ids of datasets or of works that use them. All are removed, or \
        none: if one of them does not exist, the job fails.",
    request_body(content = inline(Removal), content_type = "application/json"),
    responses(
        (status = 200, description = "The datasets or works were removed (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        BadRequest<JsonError>,
        BodyTimeout<JsonError>,
        (status = 413, description = "The body is larger than 4 MiB.", body = Object),
        (status = 422, description = "A dataset or work does not exist; nothing was removed.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
pub(super) async fn remove_listed(
    State(state): State<AppState>,
    caller: Caller,
    request: Request,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let wait = wait_time(request.headers());
        let Removal { datasets, works } = read_json(request).await?;
        let change = match (datasets.len(), works.len()) {
            (1..=MAX_REMOVED, 0) => Change::Remove(
                datasets
                    .iter()
                    .map(|id| dataset_id(id))
                    .collect::<Result<Vec<_>, _>>()?,
            ),
            (0, 1..=MAX_REMOVED) => Change::RemoveWorks(work_ids(works)?),
            _ => {
                let message = format!(
                    "name 1 to {MAX_REMOVED} datasets, or as many works; both need two requests"
                );
                return Err(ApiError::bad_request(message));
            }
        };
        submit(&state, change, &caller, wait).await
    })
    .await
}
