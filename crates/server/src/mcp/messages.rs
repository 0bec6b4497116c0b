//! Messages of JSON-RPC 2.0 over HTTP: a body that is no message is status 400 with an error object, as the section 5.1 of the
//! specification requires. The library responds with status 415 and plain text.

use super::MAX_REQUEST_BYTES;
use crate::negotiation::essence;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Code of a body or line that is no JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// Code of JSON that is no message.
const INVALID_REQUEST: i32 = -32600;

/// Returns a response with an error.
pub(super) fn error_response(code: i32, message: &str, id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// Returns the layer that limits the size of a body.
pub(super) fn body_limit() -> DefaultBodyLimit {
    DefaultBodyLimit::max(MAX_REQUEST_BYTES)
}

/// Responds to bodies that are no messages. Another `Content-Type` is left to the library.
pub(super) async fn check_message(request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let read = Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await;
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(rejection) => return rejection.into_response(),
    };
    let message = match parse(&bytes) {
        Ok(message) => message,
        Err((code, reason)) => return bad_request(code, &reason, &Value::Null),
    };
    let response = next
        .run(Request::from_parts(parts, Body::from(bytes)))
        .await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        let id = match &message["id"] {
            id @ (Value::String(_) | Value::Number(_)) => id,
            _ => &Value::Null,
        };
        let reason =
            "Invalid Request: the body is no request, notification or response of JSON-RPC 2.0";
        return bad_request(INVALID_REQUEST, reason, id);
    }
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    content_type.is_some_and(|text| essence(text).eq_ignore_ascii_case("application/json"))
}

/// Parses a body as one object. The error is its code and message.
fn parse(bytes: &[u8]) -> Result<Value, (i32, String)> {
    if bytes.trim_ascii().is_empty() {
        let reason = "Parse error: the body is empty".to_owned();
        return Err((PARSE_ERROR, reason));
    }
    match serde_json::from_slice(bytes) {
        Ok(message @ Value::Object(_)) => Ok(message),
        Ok(Value::Array(_)) => {
            let reason = "Invalid Request: batches are not supported; send one message a request";
            Err((INVALID_REQUEST, reason.to_owned()))
        }
        Ok(_) => {
            let reason = "Invalid Request: the body is no object".to_owned();
            Err((INVALID_REQUEST, reason))
        }
        Err(error) => Err((
            PARSE_ERROR,
            format!("Parse error: the body is no JSON: {error}"),
        )),
    }
}

fn bad_request(code: i32, message: &str, id: &Value) -> Response {
    let body = Json(error_response(code, message, id));
    (StatusCode::BAD_REQUEST, body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_that_are_no_objects_have_a_code() {
        for (body, expected) in [
            ("{\"id\": 1}", None),
            ("{\"id\": 1", Some(PARSE_ERROR)),
            ("", Some(PARSE_ERROR)),
            (" \n", Some(PARSE_ERROR)),
            ("[{\"id\": 1}]", Some(INVALID_REQUEST)),
            ("[]", Some(INVALID_REQUEST)),
            ("1", Some(INVALID_REQUEST)),
        ] {
            let code = parse(body.as_bytes()).err().map(|(code, _)| code);
            assert_eq!(code, expected, "{body}");
        }
    }
}
