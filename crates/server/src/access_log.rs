//! Access log: one message for each request, when its response has been sent; and request ids.
//!
//! The query string is not logged: it contains the words that people search for.

use crate::observed_body::ObservedBody;
use crate::proxies::Proxies;
use axum::body::Bytes;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use http_body::Frame;
use opentelemetry_http::HeaderExtractor;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use tracing::{Instrument, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Header with the id of a request.
pub(crate) const REQUEST_ID: &str = "x-request-id";
/// Maximum number of characters of an id from a client or proxy.
const MAX_ID_CHARS: usize = 64;

/// Removes an id that is too long or not plain text, so that a new one is made.
pub(crate) async fn check_request_id(mut request: Request, next: Next) -> Response {
    let id = request.headers().get(REQUEST_ID);
    if id.is_some_and(|id| !id.to_str().is_ok_and(is_plain_id)) {
        request.headers_mut().remove(REQUEST_ID);
    }
    next.run(request).await
}

fn is_plain_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID_CHARS && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the id of a request, for logs.
pub(crate) fn request_id(headers: &HeaderMap) -> &str {
    headers
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok())
        .unwrap_or_default()
}

/// Logs a request at the end of its response.
pub(crate) async fn log_access(proxies: Arc<Proxies>, request: Request, next: Next) -> Response {
    let span = trace_span(&request);
    let mut entry = Entry {
        started: Instant::now(),
        span: span.clone(),
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
        client: proxies.client(request.headers(), request.extensions()),
        id: request_id(request.headers()).to_owned(),
        // If the request is cancelled, the entry is dropped with this status.
        status: closed_by_client(),
        bytes: 0,
    };
    let response = next.run(request).instrument(span).await;
    entry.status = response.status();
    // The end of the body, or that of the connection, drops the entry, which logs it.
    response.map(|body| {
        ObservedBody::wrap(body, move |frame| {
            entry.count(frame);
            Ok(())
        })
    })
}

/// Status of a request whose connection ended before there was a response: 499, as in the logs of nginx.
fn closed_by_client() -> StatusCode {
    StatusCode::from_u16(499).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Creates the span of a request for traces. It continues the trace of the client, if the request names one.
/// <https://opentelemetry.io/docs/specs/semconv/http/http-spans/>
fn trace_span(request: &Request) -> Span {
    let (method, path) = (request.method(), request.uri().path());
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(MatchedPath::as_str);
    let name = format!("{method} {}", route.unwrap_or_default());
    let span = tracing::info_span!(
        target: "traces",
        "request",
        otel.name = name.trim_end(),
        otel.kind = "server",
        http.request.method = %method,
        http.route = route,
        url.path = path,
        request.id = request_id(request.headers()),
        http.response.status_code = tracing::field::Empty,
        http.response.body.size = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
    );
    if !span.is_disabled() {
        let extractor = HeaderExtractor(request.headers());
        let parent = opentelemetry::global::get_text_map_propagator(|propagator| {
            propagator.extract(&extractor)
        });
        // The only error is that no collector is configured.
        let _ = span.set_parent(parent);
    }
    span
}

/// A request and its response.
struct Entry {
    started: Instant,
    span: Span,
    method: Method,
    path: String,
    client: Option<IpAddr>,
    id: String,
    status: StatusCode,
    bytes: u64,
}

impl Entry {
    fn count(&mut self, frame: &Frame<Bytes>) {
        if let Some(data) = frame.data_ref() {
            self.bytes += data.len() as u64;
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.span
            .record("http.response.status_code", self.status.as_u16());
        self.span.record("http.response.body.size", self.bytes);
        if self.status.is_server_error() {
            self.span.record("otel.status_code", "ERROR");
        }
        let client = self
            .client
            .map(|client| client.to_string())
            .unwrap_or_default();
        tracing::info!(
            method = %self.method,
            path = self.path,
            status = self.status.as_u16(),
            bytes = self.bytes,
            ms = self.started.elapsed().as_millis() as u64,
            client,
            id = self.id,
            "request"
        );
    }
}
