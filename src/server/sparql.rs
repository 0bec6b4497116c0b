//! `/sparql`: the query part of the SPARQL 1.1 Protocol. <https://www.w3.org/TR/sparql11-protocol/>
//!
//! A query comes by GET, as a form, as itself, or by the method QUERY (RFC 10008), which is a POST that promises to change
//! nothing. Without a query the endpoint describes itself.

use super::error::ApiError;
use super::form::{self, Kind};
use super::{AppState, description, page};
use crate::store::{Answer, QueryRequest, evaluate};
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oxrdf::NamedNode;
use std::sync::Arc;

/// The methods of the endpoint, as `Allow` has them.
pub(super) const METHODS: &str = "GET, HEAD, POST, QUERY, OPTIONS";
/// What it takes as a body, as `Accept-Post` and `Accept-Query` have it.
pub(super) const BODIES: &str = "application/sparql-query, application/x-www-form-urlencoded";

type Parameters = Vec<(String, String)>;

pub(super) async fn get(State(state): State<AppState>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    let has = |name: &str| parameters.iter().any(|(known, _)| known == name);
    let asks = parameters.iter().any(|(name, value)| name == "query" && !value.trim().is_empty());
    if asks || has("update") {
        return respond(&state, parameters, &headers).await;
    }
    match Kind::Graph.wanted(&parameters, &headers) {
        Ok(form::HTML) => page::sparql(&state, "", None),
        Ok(_) if has("query") => respond(&state, parameters, &headers).await,
        Ok(media_type) => description::service(&state, &headers, media_type).await,
        Err(error) => error.into_response(),
    }
}

pub(super) async fn post(
    State(state): State<AppState>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    match in_body(&headers, &body) {
        Ok(found) => parameters.extend(found),
        Err(error) => return error.into_response(),
    }
    respond(&state, parameters, &headers).await
}

/// `QUERY`, and whatever else is no method of the endpoint.
pub(super) async fn other(
    state: State<AppState>,
    method: Method,
    query: RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match method.as_str() {
        "QUERY" => post(state, query, headers, body).await,
        _ => ApiError::no_method(&method, METHODS).into_response(),
    }
}

/// The parameters that a body of one of the protocol's media types stands for.
fn in_body(headers: &HeaderMap, body: &[u8]) -> Result<Parameters, ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let unsupported = |what: String| {
        let message = format!("{what}: send {BODIES}, in UTF-8");
        ApiError::with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
    };
    match media_type.as_str() {
        "application/sparql-update" => Err(read_only()),
        "" => Err(unsupported("the body has no Content-Type".to_owned())),
        _ if !is_utf8(content_type) => Err(unsupported(format!("{content_type:?} is in another encoding"))),
        "application/x-www-form-urlencoded" => Ok(pairs(body)),
        "application/sparql-query" => {
            let query = String::from_utf8(body.to_vec()).map_err(|error| {
                ApiError::bad_request(format!(
                    "the query is not UTF-8 from byte {} on",
                    error.utf8_error().valid_up_to()
                ))
            })?;
            Ok(vec![("query".to_owned(), query)])
        }
        other => Err(unsupported(format!("{other:?} is no form of a query"))),
    }
}

/// Whether a media type names no encoding but UTF-8.
fn is_utf8(content_type: &str) -> bool {
    let parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.all(|(_, value)| value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8"))
}

fn read_only() -> ApiError {
    ApiError::with_status(
        StatusCode::FORBIDDEN,
        "this endpoint answers queries only; nothing can be changed through it",
    )
}

pub(super) fn pairs(encoded: &[u8]) -> Parameters {
    form_urlencoded::parse(encoded).into_owned().collect()
}

async fn respond(state: &AppState, parameters: Parameters, headers: &HeaderMap) -> Response {
    let (request, answer) = match request(&parameters).and_then(|request| {
        form::check(&parameters, headers)?;
        Ok(request)
    }) {
        Ok(request) => {
            let services = Some(Arc::clone(&state.services));
            let asked = QueryRequest { services, ..request.clone() };
            let answer = state.work(move |state| Ok(evaluate(&Arc::clone(&state.store), &asked, &state.sparql)?)).await;
            (request, answer)
        }
        Err(error) => (QueryRequest::default(), Err(error)),
    };
    let wanted = answer.and_then(|answer| Ok((Kind::of(&answer).wanted(&parameters, headers)?, answer)));
    match wanted {
        Ok((form::HTML, answer)) => page::sparql(state, &request.query, Some(Ok(answer))),
        Ok((media_type, answer)) => {
            let written = state.work(move |_| write(&answer, media_type)).await;
            written.unwrap_or_else(IntoResponse::into_response)
        }
        Err(error) if form::prefers_pages(&parameters, headers) => {
            page::sparql(state, &request.query, Some(Err(error)))
        }
        Err(error) => error.into_response(),
    }
}

fn request(parameters: &[(String, String)]) -> Result<QueryRequest, ApiError> {
    let values = |name: &str| {
        parameters.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    if !values("update").is_empty() {
        return Err(read_only());
    }
    let mut queries = values("query");
    let query = queries.pop().ok_or_else(|| ApiError::bad_request("the parameter query is missing"))?;
    if !queries.is_empty() {
        return Err(ApiError::bad_request("more than one query"));
    }
    let graphs = |name: &str| -> Result<Vec<NamedNode>, ApiError> {
        let node = |iri: String| {
            NamedNode::new(iri.as_str()).map_err(|error| ApiError::bad_request(format!("{name} <{iri}>: {error}")))
        };
        values(name).into_iter().map(node).collect()
    };
    Ok(QueryRequest { query, default_graphs: graphs("default-graph-uri")?, named_graphs: graphs("named-graph-uri")?, ..QueryRequest::default() })
}

fn write(answer: &Answer, media_type: &'static str) -> Result<Response, ApiError> {
    let mut response = if let Answer::Graph { triples, .. } = answer {
        form::graph(triples, media_type)?
    } else {
        let bytes = answer.write_results(media_type).ok_or_else(|| ApiError::internal(&"no such result format"))?;
        form::sent(media_type, bytes.map_err(|error| ApiError::internal(&error))?)
    };
    if answer.is_truncated() {
        form::mark_truncated(&mut response);
    }
    Ok(response)
}
