//! One error for all routes: a status, a text for the client, and the cause for the log.

use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_engine::EngineError;
use lodeseek_sparql::{SparqlError};
use lodeseek_store::{StoreError};
use std::fmt::Display;

/// What a client is told. The cause of an internal error stays in the log.
#[derive(Debug)]
pub(super) struct ApiError {
    pub(super) status: StatusCode,
    pub(super) message: String,
}

impl ApiError {
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into() }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.into() }
    }

    pub(super) fn no_method(method: &Method, allowed: &str) -> Self {
        let message = format!("{method} does nothing here; what is served can be read, not changed: {allowed}");
        Self { status: StatusCode::METHOD_NOT_ALLOWED, message }
    }

    pub(super) fn with_status(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn internal(cause: &dyn Display) -> Self {
        tracing::error!(%cause, "a request failed");
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message: "something went wrong here; the log says what".to_owned(),
        }
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Method(error) => Self::bad_request(error.to_string()),
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
        let status = match error {
            SparqlError::Syntax(_) | SparqlError::TooLarge(_) | SparqlError::Unsupported(_) => StatusCode::BAD_REQUEST,
            SparqlError::Deadline(_)
            | SparqlError::Memory(_)
            | SparqlError::Busy(_)
            | SparqlError::Crowded(_)
            | SparqlError::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            SparqlError::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            SparqlError::Refused(_) => StatusCode::FORBIDDEN,
            SparqlError::Service(_) => StatusCode::BAD_GATEWAY,
            SparqlError::Evaluation(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, message: error.to_string() }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response =
            (self.status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{}\n", self.message))
                .into_response();
        say_when(&mut response);
        response
    }
}

/// Tells a client that is refused for now when to come again.
pub(super) fn say_when(response: &mut Response) {
    if matches!(response.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
}
