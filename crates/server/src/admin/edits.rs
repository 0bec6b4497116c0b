//! `GET` and `PATCH /api/admin/datasets/{id}`, and the removal of edits: corrections of descriptions, kept apart from the source.

use super::management::{Caller, dataset_id, management, respond, submit, wait_time};
use super::preconditions::{check_state, read_preconditions, set_state_headers};
use crate::AppState;
use crate::documentation::{BadRequest, BodyTimeout, Id, JsonError, NotFound, QueueFull};
use crate::error::ApiError;
use crate::negotiation::matches_tag;
use crate::text::href;
use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::{DatasetId, DescriptionField, Edit, FieldError, Patch, description_json};
use lodeseek_changes::{
    Change, DatasetEdit, DatasetState, EditAction, Preconditions, Scope, present_edits,
};
use lodeseek_store::{DatasetEdits, Store, StoreError};
use serde_json::{Map, Value, json};

/// Maximum number of keys of a request that removes edits.
const MAX_KEYS: usize = 100;
/// Media types of a patch.
const PATCH_TYPES: [&str; 2] = ["application/merge-patch+json", "application/json"];

/// Returns the error of keys of a description: status 422.
pub(super) fn field_errors(errors: &[FieldError]) -> ApiError {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    ApiError::with_status(StatusCode::UNPROCESSABLE_ENTITY, texts.join("; "))
}

/// Checks conditions when a change is requested, unless a job that waits changes the dataset: its effect is unknown yet.
pub(super) async fn check_now(
    state: &AppState,
    id: &DatasetId,
    conditions: &Preconditions,
) -> Result<(), ApiError> {
    if conditions.is_empty() || management(state)?.jobs.is_pending(id.as_str()) {
        return Ok(());
    }
    let (id, conditions) = (id.clone(), conditions.clone());
    state
        .work(move |state| {
            let current = DatasetState::read(&state.store, &id)?;
            check_state(&conditions, &id, current.as_ref())
        })
        .await
}

/// `GET /api/admin/datasets/{id}`.
#[utoipa::path(get, path = "/api/admin/datasets/{id}", tag = "Administration", operation_id = "get_description",
    summary = "The description of a dataset, its edits and its files",
    description = "`description` has the keys that PATCH changes, with texts by language; `edits` the corrections with the time and \
        the token; `source` what the source states for the edited keys; `files` the files as they were loaded. The headers ETag and \
        Last-Modified are for conditions of changes.",
    params(Id),
    responses(
        (status = 200, description = "The description.", body = Object),
        (status = 304, description = "If-None-Match has the present entity tag."),
        NotFound<JsonError>),
    security(("bearer" = ["read"])))]
pub(super) async fn get_dataset(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    respond(async {
        caller.require(Scope::Read)?;
        let id = dataset_id(&id)?;
        let (body, current) = state
            .work(move |state| description(&state.store, &id))
            .await?;
        let mut response = if matches_tag(&headers, &current.tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            Json(body).into_response()
        };
        set_state_headers(&current, response.headers_mut());
        Ok(response)
    })
    .await
}

pub(super) fn description(
    store: &Store,
    id: &DatasetId,
) -> Result<(Value, DatasetState), ApiError> {
    let entry = store.entry(id)?;
    let state = DatasetState::read(store, id)?.ok_or_else(|| ApiError::no_dataset(id))?;
    let mut body = json!({
        "id": id, "etag": state.tag, "description": description_json(&entry.dataset),
        "edits": {}, "files": files_json(store, id)?,
    });
    if let Some(DatasetEdits { edits, source }) = store.dataset_edits(id)? {
        let source = description_json(&source);
        let mut stated = Map::new();
        for (key, edit) in edits.iter() {
            body["edits"][key] = json!({ "value": edit.value(), "by": edit.by, "time": edit.time });
            stated.insert(key.to_owned(), source.get(key).cloned().unwrap_or_default());
        }
        body["source"] = Value::Object(stated);
    }
    Ok((body, state))
}

/// Returns the kept files of a dataset with their addresses on this server.
fn files_json(store: &Store, id: &DatasetId) -> Result<Value, StoreError> {
    let files = store.dataset_files(id)?;
    let files = files.iter().map(|file| {
        json!({
            "name": file.name, "bytes": file.bytes, "mediaType": file.media_type(), "sha256": file.sha256,
            "location": file.location, "path": format!("{}/files/{}", href(id), crate::text::segment(&file.name)),
        })
    });
    Ok(files.collect())
}

/// `PATCH /api/admin/datasets/{id}`.
#[utoipa::path(patch, path = "/api/admin/datasets/{id}", tag = "Administration", operation_id = "edit_description",
    summary = "Edit the description of a dataset",
    description = "The body is a JSON Merge Patch (RFC 7396) of `description` in the response of GET: what it does not name stays, null \
        removes. A text is in no language; an object has texts by language, as in {\"title\": {\"de\": \"Bäume\"}}, and changes these \
        languages only. Edits are kept apart from the source, and are applied after each load, upload and harvest. Without If-Match \
        or If-Unmodified-Since, a key that another token edited is status 428.",
    params(Id),
    request_body(content = Object, content_type = "application/merge-patch+json"),
    responses(
        (status = 200, description = "The description was edited (with Prefer: wait); `etag` in the result is the new entity tag.", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        BadRequest<JsonError>,
        (status = 401, description = "A token is required.", body = Object),
        (status = 403, description = "The token's scope is not sufficient.", body = Object),
        NotFound<JsonError>,
        BodyTimeout<JsonError>,
        (status = 412, description = "A condition does not hold: the dataset was changed meanwhile.", body = Object),
        (status = 415, description = "The body is neither application/merge-patch+json nor application/json.", body = Object),
        (status = 422, description = "A key is unknown, or its value is none of its kind; the message names it.", body = Object),
        (status = 428, description = "Another token edited a key: send If-Match.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
pub(super) async fn patch_dataset(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let id = dataset_id(&id)?;
        let conditions = read_preconditions(request.headers())?;
        let wait = wait_time(request.headers());
        let patch = read_patch(request).await?;
        check_now(&state, &id, &conditions).await?;
        let change = DatasetEdit {
            id,
            action: EditAction::Patch(patch),
            conditions,
            by: caller.name().to_owned(),
        };
        let change = check_edit(&state, change).await?;
        submit(&state, Change::Edit(Box::new(change)), &caller, wait).await
    })
    .await
}

/// Reads a JSON Merge Patch of a description.
async fn read_patch(request: Request) -> Result<Patch, ApiError> {
    let media_type = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.split(';').next())
        .unwrap_or_default()
        .trim();
    let is_patch = PATCH_TYPES
        .iter()
        .any(|known| media_type.eq_ignore_ascii_case(known));
    if !is_patch {
        let message = format!(
            "send a JSON Merge Patch with Content-Type: {}",
            PATCH_TYPES[0]
        );
        return Err(ApiError::with_status(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            message,
        ));
    }
    let body = Bytes::from_request(request, &()).await;
    let body =
        body.map_err(|rejection| ApiError::with_status(rejection.status(), rejection.body_text()))?;
    let patch = match serde_json::from_slice(&body) {
        Ok(Value::Object(object)) => {
            Patch::parse(&object).map_err(|errors| field_errors(&errors))?
        }
        Ok(_) => return Err(ApiError::bad_request("the body is no JSON object")),
        Err(error) => {
            return Err(ApiError::bad_request(format!(
                "the body is not valid JSON: {error}"
            )));
        }
    };
    if patch.is_empty() {
        return Err(ApiError::bad_request("the patch names no key"));
    }
    Ok(patch)
}

/// Checks a patch against the present description. Status 428 if it would overwrite an edit of another token unseen.
pub(super) async fn check_edit(
    state: &AppState,
    edit: DatasetEdit,
) -> Result<DatasetEdit, ApiError> {
    // A dataset whose addition is still queued is present when the job runs.
    if management(state)?.jobs.is_pending(edit.id.as_str()) {
        return Ok(edit);
    }
    state
        .work(move |state| {
            let DatasetEdits { mut edits, source } = present_edits(&state.store, &edit.id)?;
            let EditAction::Patch(patch) = &edit.action else {
                return Ok(edit);
            };
            let before = edits.clone();
            edits.apply_patch(patch, &source, &edit.by, "");
            // A condition shows that the client has seen the present edits.
            if !edit.conditions.name_a_state() {
                for key in patch.keys() {
                    let (was, is) = (before.get(key), edits.get(key));
                    if let Some(was) = was.filter(|was| was.by != edit.by)
                        && Some(was.value()) != is.map(Edit::value)
                    {
                        return Err(ApiError::with_status(
                            StatusCode::PRECONDITION_REQUIRED,
                            format!(
                                "{key}: {} edited it at {}; read the dataset, and send its entity tag in If-Match",
                                was.by, was.time
                            ),
                        ));
                    }
                }
            }
            // An edit that cannot be stated is found before it is queued.
            edits
                .apply(&source)
                .map_err(|error| field_errors(std::slice::from_ref(&error)))?;
            Ok(edit)
        })
        .await
}

/// `DELETE /api/admin/datasets/{id}/edits`.
#[utoipa::path(delete, path = "/api/admin/datasets/{id}/edits", tag = "Administration", operation_id = "remove_edits",
    summary = "Remove edits: the description is as its source states it",
    params(
        Id,
        ("key" = Option<String>, Query, description = "Key whose edit is removed; repeatable. Without it, all edits are removed.")),
    responses(
        (status = 200, description = "The edits were removed (with Prefer: wait).", body = Object),
        (status = 202, description = "The job is queued or running.", body = Object),
        NotFound<JsonError>,
        (status = 412, description = "A condition does not hold: the dataset was changed meanwhile.", body = Object),
        (status = 422, description = "A key is unknown; the message names it.", body = Object),
        QueueFull<JsonError>),
    security(("bearer" = ["write"])))]
pub(super) async fn delete_edits(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    respond(async {
        caller.require(Scope::Write)?;
        let id = dataset_id(&id)?;
        let conditions = read_preconditions(&headers)?;
        let mut keys = Vec::new();
        for (name, value) in
            crate::parameters::pairs(query.as_deref().unwrap_or_default().as_bytes())
        {
            if name != "key" || keys.len() == MAX_KEYS {
                return Err(ApiError::bad_request(format!(
                    "name at most {MAX_KEYS} keys, in parameters `key`"
                )));
            }
            let field =
                DescriptionField::require(&value).map_err(|error| field_errors(&[error]))?;
            keys.push(field.key.to_owned());
        }
        check_now(&state, &id, &conditions).await?;
        let requested = id.clone();
        if !management(&state)?.jobs.is_pending(id.as_str()) {
            state
                .work(move |state| Ok(state.store.entry(&requested).map(drop)?))
                .await?;
        }
        let change = DatasetEdit {
            id,
            action: EditAction::Reset(keys),
            conditions,
            by: caller.name().to_owned(),
        };
        submit(
            &state,
            Change::Edit(Box::new(change)),
            &caller,
            wait_time(&headers),
        )
        .await
    })
    .await
}
