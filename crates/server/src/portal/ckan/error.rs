//! Errors of actions, with CKAN's types and status codes.

use crate::error::ApiError;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lodeseek_engine::EngineError;
use lodeseek_store::StoreError;
use serde_json::{Value, json};

/// Error of an action.
#[derive(Debug, thiserror::Error)]
pub(super) enum ActionError {
    /// Unknown action.
    #[error("Bad request - Action name not known: {0}")]
    NoAction(String),
    /// A body that is not parsable as parameters.
    #[error("Bad request - JSON Error: {0}")]
    Body(String),
    /// Parameters that are not UTF-8.
    #[error("Bad request - {0}")]
    Encoding(String),
    /// No object of this name.
    #[error("Not found")]
    NotFound,
    /// A write action.
    #[error("Access denied: this portal is read-only")]
    Denied,
    /// A script of any page would read a server that only this machine can reach.
    #[error(
        "Access denied: callback (JSONP) is not supported by a server of this machine only; read the JSON by CORS instead"
    )]
    Script,
    /// An invalid parameter.
    #[error("{0}: {1}")]
    Invalid(&'static str, String),
    /// An invalid query, filter or order.
    #[error("Search Query is invalid: {0}")]
    Query(#[from] QueryError),
    /// An internal error.
    #[error("{}", .0.message)]
    Failed(ApiError),
}

/// Syntax error of a CKAN query.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum QueryError {
    #[error("missing closing {0}")]
    Open(char),
    #[error("unexpected {0:?}")]
    Unexpected(String),
    #[error("unexpected end")]
    End,
    #[error("undefined field {0}")]
    Field(String),
    #[error("{0:?} is not a date; example: 2021-02-11T00:00:00Z")]
    Date(String),
    #[error("{0:?} is not a number; example: num_resources:[1 TO *]")]
    Number(String),
    #[error("invalid range; syntax: [from TO to]")]
    Range,
    #[error("parentheses and signs may be nested at most {0} deep")]
    Deep(usize),
    #[error("a query may have at most {0} characters")]
    Long(usize),
    #[error("a query and its filters may have at most {0} characters together")]
    LongTogether(usize),
    #[error("a query and its filters may have at most {0} clauses together")]
    Clauses(usize),
    #[error("a query may have at most {0} groups of words")]
    Words(usize),
    #[error("Invalid \"sort\" parameter: {0}")]
    Sort(String),
    #[error("{0} are not supported: {1}")]
    Unsupported(&'static str, String),
    #[error("Invalid search parameters: {0:?}")]
    Parameters(Vec<String>),
    #[error("{0} is not supported: {1:?}")]
    Parameter(&'static str, String),
    #[error("{0:?} is no minimum number of words; examples: 2, -1, 75%, 2<-1 5<80%")]
    MinimumMatch(String),
    #[error("cannot count the values of the field {0}")]
    Facet(String),
}

impl From<ApiError> for ActionError {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

impl From<EngineError> for ActionError {
    fn from(error: EngineError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<StoreError> for ActionError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl ActionError {
    pub(super) fn missing(parameter: &'static str) -> Self {
        Self::Invalid(parameter, "Missing value".to_owned())
    }

    /// Returns the response, with the address of the help.
    pub(super) fn respond(&self, help: &str) -> Response {
        let message = self.to_string();
        let (status, error) = match self {
            // CKAN sends these as plain text.
            Self::NoAction(_) | Self::Body(_) | Self::Encoding(_) => {
                return (StatusCode::BAD_REQUEST, Json(message)).into_response();
            }
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                error_object("Not Found Error", &message),
            ),
            Self::Denied | Self::Script => (
                StatusCode::FORBIDDEN,
                error_object("Authorization Error", &message),
            ),
            Self::Invalid(parameter, message) => (
                StatusCode::CONFLICT,
                json!({ "__type": "Validation Error", *parameter: [message] }),
            ),
            Self::Query(_) => (
                StatusCode::BAD_REQUEST,
                error_object("Search Query Error", &message),
            ),
            Self::Failed(error) => (
                error.status,
                error_object("Internal Server Error", &message),
            ),
        };
        let mut response = (
            status,
            Json(json!({ "help": help, "success": false, "error": error })),
        )
            .into_response();
        if let Self::Failed(error) = self {
            error.set_retry_after(&mut response);
        }
        response
    }
}

fn error_object(kind: &str, message: &str) -> Value {
    json!({ "__type": kind, "message": message })
}
