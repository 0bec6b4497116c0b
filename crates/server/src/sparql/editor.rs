//! Editor of the page `/sparql`: YASGUI, bundled by `make web` and served from a folder. It is optional: without it the page
//! has a plain form.

use super::SparqlState;
use crate::error::ApiError;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use std::io;
use std::path::{Path, PathBuf};

/// Content security policy of the page with the editor: scripts and styles of this server only, none inline; in addition,
/// requests to this server, and images and fonts embedded in the style sheet.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// Error of a folder without the editor's files.
#[derive(Debug, thiserror::Error)]
#[error("the editor cannot be read from {path}: {cause} (`make web` makes it)")]
pub struct EditorError {
    path: PathBuf,
    cause: io::Error,
}

/// Files of the bundled editor.
#[derive(Clone, Debug)]
pub struct Editor {
    script: Bytes,
    style: Bytes,
}

impl Editor {
    /// Reads `editor.js` and `editor.css` of a folder.
    pub fn read(folder: &Path) -> Result<Self, EditorError> {
        Ok(Self {
            script: read_file(folder, "editor.js")?,
            style: read_file(folder, "editor.css")?,
        })
    }
}

fn read_file(folder: &Path, name: &str) -> Result<Bytes, EditorError> {
    let path = folder.join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(bytes.into()),
        Err(cause) => Err(EditorError { path, cause }),
    }
}

/// Replaces the content security policy of a response by that of the editor.
pub(super) fn allow(response: &mut Response) {
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
}

pub(super) async fn script(State(state): State<SparqlState>) -> Response {
    file_response(
        state.editor.as_deref().map(|editor| &editor.script),
        "text/javascript; charset=utf-8",
    )
}

pub(super) async fn style(State(state): State<SparqlState>) -> Response {
    file_response(
        state.editor.as_deref().map(|editor| &editor.style),
        "text/css; charset=utf-8",
    )
}

fn file_response(file: Option<&Bytes>, media_type: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "max-age=3600"),
    ];
    match file {
        Some(bytes) => (headers, bytes.clone()).into_response(),
        None => ApiError::not_found("this server has no SPARQL editor").into_response(),
    }
}
