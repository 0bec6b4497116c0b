//! The error of all routes: a status, a message for the client, and the cause for the log.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lodeseek_changes::DISK_FULL;
use lodeseek_engine::EngineError;
use lodeseek_index::IndexError;
use lodeseek_sparql::SparqlError;
use lodeseek_store::StoreError;
use serde_json::json;
use std::fmt::Display;
use std::io;

/// Status and message of a failed request. The cause of an internal error is logged and not sent.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// If true, the same request can succeed later: the response has `Retry-After`.
    pub(crate) is_temporary: bool,
}

impl ApiError {
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::with_status(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::with_status(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn no_dataset(id: &impl Display) -> Self {
        Self::not_found(format!("there is no dataset {id}"))
    }

    pub(crate) fn method_not_allowed(method: &Method, allowed: &str) -> Self {
        let message = format!(
            "{method} is not supported: this resource is read-only; supported methods: {allowed}"
        );
        Self::with_status(StatusCode::METHOD_NOT_ALLOWED, message)
    }

    /// 406: no format of this resource matches `Accept`.
    pub(crate) fn not_acceptable(media_types: &[&str]) -> Self {
        let message = format!("supported formats: {}", media_types.join(", "));
        Self::with_status(StatusCode::NOT_ACCEPTABLE, message)
    }

    /// 400: the parameter `format` names no format of this resource.
    pub(crate) fn unknown_format(name: &str, supported: &str) -> Self {
        Self::bad_request(format!(
            "format={name:?} is not supported here; supported formats: {supported}"
        ))
    }

    /// Returns an error with a status. Status 429 and 503 are temporary.
    pub(crate) fn with_status(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            is_temporary: matches!(
                status,
                StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
            ),
        }
    }

    /// Logs the cause and returns an error without it.
    pub(crate) fn internal(cause: &dyn Display) -> Self {
        tracing::error!(%cause, "a request failed");
        Self::with_status(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error; the cause is in the server's log",
        )
    }

    /// Returns the error of a file of the server: status 507 if the disk is full or a quota exhausted. Clients get no path.
    pub(crate) fn of_file(cause: &io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                tracing::error!(%cause, "the disk is full");
                Self::with_status(StatusCode::INSUFFICIENT_STORAGE, DISK_FULL)
            }
            _ => Self::internal(cause),
        }
    }

    /// Returns the response of a JSON route: `{"error": MESSAGE}`.
    pub(crate) fn to_json_response(&self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.message }))).into_response();
        self.set_retry_after(&mut response);
        response
    }

    /// Adds `Retry-After` to the response of a temporary error.
    pub(crate) fn set_retry_after(&self, response: &mut Response) {
        if self.is_temporary {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Method(error) => Self::bad_request(error.to_string()),
            EngineError::Index(
                error @ (IndexError::WithoutCoverage
                | IndexError::WithoutLiterals
                | IndexError::WithoutTableColumns),
            ) => Self::bad_request(error.to_string()),
            error @ (EngineError::UnknownExample(_) | EngineError::TooManyExamples(_)) => {
                Self::bad_request(error.to_string())
            }
            other => Self::internal(&other),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoDataset(_) => Self::not_found(error.to_string()),
            other => Self::internal(&other),
        }
    }
}

impl From<SparqlError> for ApiError {
    fn from(error: SparqlError) -> Self {
        // A query that is too expensive by itself fails again, so clients must not repeat it.
        let is_too_expensive = matches!(error, SparqlError::Deadline(_) | SparqlError::Memory(_));
        let status = match error {
            SparqlError::Syntax(_) | SparqlError::TooLarge(_) | SparqlError::Unsupported(_) => {
                StatusCode::BAD_REQUEST
            }
            SparqlError::Deadline(_)
            | SparqlError::Memory(_)
            | SparqlError::Busy(_)
            | SparqlError::SlowLimit(_)
            | SparqlError::Worker(_)
            | SparqlError::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            SparqlError::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            SparqlError::Refused(_) => StatusCode::FORBIDDEN,
            SparqlError::Service(_) => StatusCode::BAD_GATEWAY,
            SparqlError::Evaluation(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut failed = Self::with_status(status, error.to_string());
        failed.is_temporary &= !is_too_expensive;
        failed
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let content_type = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        let mut response =
            (self.status, content_type, format!("{}\n", self.message)).into_response();
        self.set_retry_after(&mut response);
        response
    }
}

/// Maximum size of an error message that is put into JSON, in bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// Gives errors under `/api/` the form of [`ApiError::to_json_response`], also those of the router, of extractors and of
/// panics. Pages are unchanged: some routes also have HTML, for clients that prefer it.
pub(crate) async fn json_errors(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let method = request.method().clone();
    let response = next.run(request).await;
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    let media_type = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if !is_api || !is_error || !(media_type.is_empty() || media_type.starts_with("text/plain")) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = to_bytes(body, MAX_MESSAGE_BYTES)
        .await
        .ok()
        .map(|text| String::from_utf8_lossy(&text).trim().to_owned())
        .filter(|text| !text.is_empty());
    // The router adds the header `Allow` after all layers.
    let message = text.unwrap_or_else(|| match parts.status {
        StatusCode::METHOD_NOT_ALLOWED => {
            format!("{method} is not supported here; the header Allow lists the methods")
        }
        status => status.canonical_reason().unwrap_or("error").to_lowercase(),
    });
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Response::from_parts(parts, Body::from(json!({ "error": message }).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_temporary_errors_have_a_time_to_retry() {
        for (error, status, is_temporary) in [
            (SparqlError::Deadline(Duration::from_secs(30)), 503, false),
            (SparqlError::Memory(64), 503, false),
            (SparqlError::Busy(8), 503, true),
            (SparqlError::SlowLimit(4), 503, true),
            (SparqlError::TooMany(2), 429, true),
            (SparqlError::Syntax("?".to_owned()), 400, false),
        ] {
            let error = ApiError::from(error);
            let json = error.to_json_response();
            let text = error.into_response();
            for response in [json, text] {
                assert_eq!(response.status().as_u16(), status);
                assert_eq!(
                    response.headers().contains_key(header::RETRY_AFTER),
                    is_temporary,
                    "{status}"
                );
            }
        }
    }
}
