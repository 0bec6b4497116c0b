//! `GET /dataset/{id}/files` and `GET /dataset/{id}/files/{name}`: the files of a dataset as they were loaded.
//!
//! A file is sent with its own bytes. It may be anything that has a reader of RDF, also HTML: browsers save it, and show nothing of it
//! in the origin of this server.

use super::snippet::cacheable;
use crate::AppState;
use crate::documentation::{Busy, ClientLimit, Id, JsonError, NotFound, Text};
use crate::error::ApiError;
use crate::negotiation::matches_tag;
use crate::public_url::LinkBase;
use crate::response_formats::AsStored;
use crate::site::Client;
use crate::sparql::streaming::{ChunkWriter, End, Timeout, transfer};
use crate::text::{href, segment};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::Omissions;
use lodeseek_store::{StoreError, StoredFile};
use serde_json::json;
use std::io::{self, Read};
use std::time::Duration;

/// Time limit of a client for each chunk. After it the transfer is aborted and its permit is released.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(30);
/// Content security policy of a file: nothing of it is executed or loaded, and it has no origin.
const FILE_POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// `GET /dataset/{id}/files`.
#[utoipa::path(get, path = "/dataset/{id}/files", tag = "Datasets", operation_id = "files_of_dataset",
    summary = "The files of a dataset as they were loaded",
    params(Id),
    responses(
        (status = 200, description = "For each file: name, bytes, mediaType, sha256, location (as its catalogue states it), and url.",
            body = Object),
        NotFound<JsonError>))]
pub(super) async fn list(
    State(state): State<AppState>,
    links: LinkBase,
    Path(id): Path<String>,
) -> Response {
    match list_files(&state, &links, id).await {
        Ok(response) => response,
        Err(error) => error.to_json_response(),
    }
}

async fn list_files(state: &AppState, links: &LinkBase, id: String) -> Result<Response, ApiError> {
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let requested = id.clone();
    let files = state
        .work(move |state| stored_files(state, &requested))
        .await?;
    let files: Vec<_> = files
        .iter()
        .map(|file| {
            json!({
                "name": file.name, "bytes": file.bytes, "mediaType": file.media_type(), "sha256": file.sha256,
                "location": file.location, "url": file_address(&id, &file.name, links.as_str()),
            })
        })
        .collect();
    Ok(Json(json!({ "dataset": id, "files": files })).into_response())
}

/// Returns the address of a kept file.
fn file_address(id: &DatasetId, name: &str, base: &str) -> String {
    let path = format!("{}/files/{}", href(id), segment(name));
    format!("{base}{}", path.trim_start_matches('/'))
}

/// Returns the kept files of a dataset.
fn stored_files(state: &AppState, id: &DatasetId) -> Result<Vec<StoredFile>, ApiError> {
    if !state.store.contains(id)? {
        return Err(ApiError::no_dataset(id));
    }
    Ok(state.store.dataset_files(id)?)
}

/// `GET /dataset/{id}/files/{name}`.
#[utoipa::path(get, path = "/dataset/{id}/files/{name}", tag = "Datasets", operation_id = "file_of_dataset",
    summary = "A file of a dataset as it was loaded: its own bytes, name and media type",
    params(Id, ("name" = String, Path, description = "Name of the file, as /dataset/{id}/files lists it.")),
    responses(
        (status = 200, description = "The bytes of the file with its media type, as an attachment with its name. The ETag is its SHA-256.",
            body = String, content_type = "*/*"),
        (status = 304, description = "If-None-Match has the SHA-256 of the file."),
        NotFound<Text>,
        ClientLimit<Text>,
        Busy<Text>))]
pub(super) async fn file(
    State(state): State<AppState>,
    client: Client,
    method: Method,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let requested = name.clone();
    let of_dataset = id.clone();
    let files = state
        .work(move |state| stored_files(state, &of_dataset))
        .await?;
    let file = files.into_iter().find(|file| file.name == requested);
    let file = file.ok_or_else(|| {
        ApiError::not_found(format!(
            "there is no file {name:?} of {id}; {}/files lists all",
            href(&id)
        ))
    })?;
    let tag = format!("\"{}\"", file.sha256);
    if matches_tag(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, cacheable(&tag)).into_response());
    }
    let head = file_headers(&file);
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        stream_file(&state, client, file).await?
    };
    let mut response = (cacheable(&tag), body).into_response();
    response.headers_mut().extend(head);
    response.extensions_mut().insert(AsStored);
    Ok(response)
}

/// Returns the headers that describe a file.
fn file_headers(file: &StoredFile) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let media_type = HeaderValue::from_str(file.media_type());
    headers.insert(
        header::CONTENT_TYPE,
        media_type.unwrap_or(HeaderValue::from_static("application/octet-stream")),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(file.bytes));
    if let Ok(disposition) = HeaderValue::from_str(&content_disposition("attachment", &file.name)) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(FILE_POLICY),
    );
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("none"));
    headers
}

/// Returns the header `Content-Disposition` (RFC 6266) of a file with a name. `kind` is `attachment` or `inline`.
pub(crate) fn content_disposition(kind: &str, name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|character| match character {
            '"' | '\\' | '%' => '_',
            character if character.is_ascii_graphic() || character == ' ' => character,
            _ => '_',
        })
        .collect();
    if plain == name {
        return format!("{kind}; filename=\"{plain}\"");
    }
    format!(
        "{kind}; filename=\"{plain}\"; filename*=UTF-8''{}",
        encode_extended_value(name)
    )
}

/// Returns a text as an extended value of a header (RFC 8187).
fn encode_extended_value(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Streams a file. The response starts with the first chunk, so that earlier errors have a status.
async fn stream_file(state: &AppState, client: Client, file: StoredFile) -> Result<Body, ApiError> {
    if file.bytes == 0 {
        return Ok(Body::empty());
    }
    let permit = state.limits.acquire_download_permit(client).await?;
    let (writer, transfer) = transfer(Timeout::ForEach(CHUNK_TIMEOUT), ());
    let state = state.clone();
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        write_file(&state, &file, writer);
    });
    transfer
        .start()
        .await
        .map_err(|error| ApiError::internal(&error))
}

/// Writes a file to its receiver, and marks its end.
fn write_file(state: &AppState, file: &StoredFile, mut writer: ChunkWriter) {
    let opened = state.store.open_file(file);
    let reader = match opened {
        Ok(reader) => reader,
        Err(error) => {
            let cause = match error {
                StoreError::Io { path, cause } => {
                    tracing::error!(path = %path.display(), %cause, "a kept file is lost; load its dataset again");
                    cause
                }
                other => io::Error::other(other),
            };
            writer.abort(cause);
            return;
        }
    };
    // A damaged file must not be longer than its headers state.
    let sent = io::copy(&mut reader.take(file.bytes), &mut writer);
    match sent {
        Ok(bytes) if bytes == file.bytes => {
            let _ = writer.end(End::Complete, &Omissions::default()); // the client disconnected
        }
        Ok(_) => {
            tracing::error!(
                name = file.name,
                "a kept file is damaged; load its dataset again"
            );
            writer.abort(io::ErrorKind::UnexpectedEof.into());
        }
        Err(error) => {
            tracing::debug!(%error, "the transfer of a file ended early");
            writer.abort(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_headers() {
        for (name, expected) in [
            ("trees.ttl", "attachment; filename=\"trees.ttl\""),
            (
                "Bäume \"1\".ttl",
                "attachment; filename=\"B_ume _1_.ttl\"; filename*=UTF-8''B%C3%A4ume%20%221%22.ttl",
            ),
            (
                "a\r\nb",
                "attachment; filename=\"a__b\"; filename*=UTF-8''a%0D%0Ab",
            ),
        ] {
            assert_eq!(content_disposition("attachment", name), expected);
        }
    }
}
