//! `/sparql`: the query part of the SPARQL 1.1 Protocol. <https://www.w3.org/TR/sparql11-protocol/>

use super::error::ApiError;
use super::negotiation::best;
use super::{AppState, page};
use crate::rdf::RdfSyntax;
use crate::store::{Answer, QueryRequest, evaluate};
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oxrdf::NamedNode;
use std::sync::Arc;

const HTML: &str = "text/html";
const JSON: &str = "application/sparql-results+json";
/// The forms of solutions and booleans, the default first.
const RESULTS: [&str; 6] =
    [JSON, "application/sparql-results+xml", "text/csv", "text/tab-separated-values", "application/json", HTML];

pub(super) async fn get(State(state): State<AppState>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    let asks = parameters.iter().any(|(name, value)| name == "query" && !value.trim().is_empty());
    if !asks && best(&headers, &["text/plain", HTML]) == Some(HTML) {
        return page::sparql(&state, "", None);
    }
    respond(&state, parameters, &headers).await
}

pub(super) async fn post(
    State(state): State<AppState>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let mut parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    match media_type.as_str() {
        "application/x-www-form-urlencoded" => parameters = pairs(&body),
        "application/sparql-query" => match String::from_utf8(body.to_vec()) {
            Ok(query) => parameters.push(("query".to_owned(), query)),
            Err(_) => return ApiError::bad_request("the query is not UTF-8").into_response(),
        },
        "application/sparql-update" => return read_only().into_response(),
        other => {
            let message = format!(
                "{other:?} is no form of a query: send application/x-www-form-urlencoded or application/sparql-query"
            );
            return ApiError::with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, message).into_response();
        }
    }
    respond(&state, parameters, &headers).await
}

fn read_only() -> ApiError {
    ApiError::with_status(
        StatusCode::FORBIDDEN,
        "this endpoint answers queries only; nothing can be changed through it",
    )
}

fn pairs(encoded: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(encoded).into_owned().collect()
}

async fn respond(state: &AppState, parameters: Vec<(String, String)>, headers: &HeaderMap) -> Response {
    let wants_html = wanted(&parameters, headers, &RESULTS).is_ok_and(|media_type| media_type == HTML);
    let (request, answer) = match request(&parameters) {
        Ok(request) => {
            let asked = request.clone();
            let answer = state.work(move |state| Ok(evaluate(&Arc::clone(&state.store), &asked, &state.sparql)?)).await;
            (request, answer)
        }
        Err(error) => (QueryRequest::default(), Err(error)),
    };
    match answer {
        Ok(answer) if !wants_html => {
            let headers = headers.clone();
            let written = state.work(move |_| write(&answer, &parameters, &headers)).await;
            written.unwrap_or_else(IntoResponse::into_response)
        }
        Err(error) if !wants_html => error.into_response(),
        answer => page::sparql(state, &request.query, Some(answer)),
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
    Ok(QueryRequest { query, default_graphs: graphs("default-graph-uri")?, named_graphs: graphs("named-graph-uri")? })
}

/// The media type asked for by `format` or `Accept`.
fn wanted<'o>(parameters: &[(String, String)], headers: &HeaderMap, offers: &[&'o str]) -> Result<&'o str, ApiError> {
    if let Some((_, name)) =
        parameters.iter().find(|(name, value)| matches!(name.as_str(), "format" | "output") && !value.is_empty())
    {
        let media_type = match name.as_str() {
            "json" | "srj" => JSON,
            "xml" | "srx" => "application/sparql-results+xml",
            "csv" => "text/csv",
            "tsv" => "text/tab-separated-values",
            "html" => HTML,
            other => RdfSyntax::from_name(other).map_or(other, |syntax| syntax.media_type()),
        };
        let offered = offers.iter().find(|offer| **offer == media_type);
        return offered.copied().ok_or_else(|| ApiError::bad_request(format!("{name:?} is no format of this answer")));
    }
    best(headers, offers).ok_or_else(|| {
        ApiError::with_status(StatusCode::NOT_ACCEPTABLE, format!("this answer can be had as {}", offers.join(", ")))
    })
}

fn write(answer: &Answer, parameters: &[(String, String)], headers: &HeaderMap) -> Result<Response, ApiError> {
    let (media_type, bytes) = if let Answer::Graph { triples, .. } = answer {
        let media_type = wanted(parameters, headers, &RdfSyntax::ALL.map(RdfSyntax::media_type))?;
        let syntax = RdfSyntax::from_name(media_type).unwrap_or(RdfSyntax::Turtle);
        (media_type, syntax.write(triples).map_err(|error| ApiError::internal(&error))?)
    } else {
        let media_type = match wanted(parameters, headers, &RESULTS)? {
            "application/json" => JSON,
            other => other,
        };
        let bytes = answer.write_results(media_type).ok_or_else(|| ApiError::internal(&"no such result format"))?;
        (media_type, bytes.map_err(|error| ApiError::internal(&error))?)
    };
    let mut response = ([(header::CONTENT_TYPE, media_type)], bytes).into_response();
    if answer.is_truncated() {
        let name = HeaderName::from_static("lodeseek-truncated");
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static("the answer has more rows than this endpoint gives"));
    }
    Ok(response)
}
