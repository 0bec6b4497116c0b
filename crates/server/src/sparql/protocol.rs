//! `/sparql`: query operations of the SPARQL 1.1 Protocol. <https://www.w3.org/TR/sparql11-protocol/>
//!
//! Queries are sent by GET, as a form, as a body, or by the method QUERY (RFC 10008), a safe method with a body. Without a
//! query the response is the service description. With `provenance=true` rows contain the endpoint of each `SERVICE`. With
//! `download=true` browsers save the response.
//!
//! *Streaming.* The first [`MAX_BUFFERED_BYTES`] are buffered. Smaller responses have a length and, if truncated, the header
//! `Lodeseek-Truncated`; errors before have a status. Larger ones are streamed, and clients can detect truncation:
//!
//! | event | after the first chunk |
//! |---|---|
//! | deadline, memory limit, evaluation error | the connection is aborted |
//! | limit of rows or bytes, in JSON, XML and RDF other than JSON-LD | the document is well-formed, with a mark and the trailer `Lodeseek-Truncated` |
//! | … in CSV, TSV and JSON-LD, which cannot signal truncation | the connection is aborted |
//!
//! A slow client delays the evaluation. The deadline includes the transfer. If the client disconnects, the evaluation is
//! cancelled. Statements that RDF/XML cannot express, and characters that XML does not permit, are left out of streamed responses, and
//! counted in trailers. HTTP/1.0 cannot signal an aborted transfer, so its responses are buffered completely, and truncated at 16 MB.

use super::graph_store::file_suffix;
use super::streaming::{ChunkWriter, End, Timeout, transfer};
use super::{description, page};
use crate::AppState;
use crate::api::content_disposition;
use crate::documentation::{
    BadRequest, BodyTimeout, ClientLimit, FormatParameter, Html, Negotiated, NotAcceptable,
    QueryLimit, SparqlAnswer, Text, object,
};
use crate::error::ApiError;
use crate::negotiation::essence;
use crate::pages::PageContext;
use crate::parameters::{Pairs, pairs};
use crate::public_url::LinkBase;
use crate::request_encoding::check_utf8;
use crate::response_formats::{self, Kind};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, RawQuery, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::response::{IntoResponse, Redirect, Response};
use lodeseek_net::egress::deadline_after;
use lodeseek_rdf::Omissions;
use lodeseek_sparql::{
    Answer, AnswerStream, Cancellation, Head, Provenance, QueryRequest, SendError,
    SerializedResults,
};
use oxrdf::NamedNode;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// Supported methods, for `Allow`.
pub(super) const METHODS: &str = "GET, HEAD, POST, QUERY, OPTIONS";
/// Media types of request bodies, for `Accept-Post` and `Accept-Query`.
pub(super) const BODIES: &str = "application/sparql-query, application/x-www-form-urlencoded";

/// Number of bytes that are buffered before streaming.
const MAX_BUFFERED_BYTES: usize = 64 << 10;
/// Maximum memory of an answer that is held completely, as a page or for HTTP/1.0, in bytes.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// A query as a form, for its description.
struct QueryForm;

impl PartialSchema for QueryForm {
    fn schema() -> RefOr<Schema> {
        object(Type::Object)
            .property("query", object(Type::String))
            .property("format", object(Type::String))
            .property("download", object(Type::Boolean))
            .required("query")
            .into()
    }
}

impl ToSchema for QueryForm {}

/// Headers, HTTP version and connection of a request.
pub(super) struct RequestContext {
    headers: HeaderMap,
    version: Version,
    extensions: Extensions,
    page: PageContext,
}

impl FromRequestParts<AppState> for RequestContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        let page = PageContext::from_request_parts(parts, state).await?;
        let (headers, extensions) = (parts.headers.clone(), parts.extensions.clone());
        Ok(Self {
            headers,
            version: parts.version,
            extensions,
            page,
        })
    }
}

#[utoipa::path(get, path = "/sparql", tag = "SPARQL", operation_id = "query",
    summary = "SPARQL 1.1 Protocol, queries only; without a query the service description",
    params(
        ("query" = Option<String>, Query, description = "The query."),
        ("default-graph-uri" = Option<String>, Query, description = "A graph of the default graph."),
        ("named-graph-uri" = Option<String>, Query, description = "A named graph."),
        ("provenance" = Option<bool>, Query, description = "If true, rows contain the endpoint of each SERVICE pattern."),
        ("download" = Option<bool>, Query, description = "If true, browsers save the result as a file."),
        FormatParameter),
    responses(
        Negotiated<SparqlAnswer>,
        BadRequest<(Html, Text)>,
        (status = 403, description = "The egress policy blocks a remote endpoint of the query.", content(
            (String = "text/html"),
            (String = "text/plain"))),
        NotAcceptable<Text>,
        ClientLimit<(Html, Text)>,
        (status = 502, description = "A remote endpoint of the query failed.", content(
            (String = "text/html"),
            (String = "text/plain"))),
        QueryLimit<(Html, Text)>))]
pub(super) async fn get(
    State(state): State<AppState>,
    links: LinkBase,
    RawQuery(query): RawQuery,
    context: RequestContext,
) -> Response {
    let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    let asks = parameters
        .iter()
        .any(|(name, value)| name == "query" && !value.trim().is_empty());
    if asks || has_parameter(&parameters, "update") {
        return respond(&state, parameters, &context).await;
    }
    match Kind::Graph.negotiate(&parameters, &context.headers) {
        Ok(response_formats::HTML) => {
            let context = context.page.clone();
            let form = state
                .work(move |state| Ok(page::page(state, &context, "", None)))
                .await;
            form.unwrap_or_else(IntoResponse::into_response)
        }
        Ok(_) if has_parameter(&parameters, "query") => respond(&state, parameters, &context).await,
        Ok(media_type) => description::service(&state, &links, media_type).await,
        Err(error) => error.into_response(),
    }
}

/// `GET /search`: as `/sparql`. Words of a search are those of the start page, which is where the client is sent.
pub(super) async fn get_search(
    state: State<AppState>,
    links: LinkBase,
    RawQuery(query): RawQuery,
    context: RequestContext,
) -> Response {
    let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    if has_parameter(&parameters, "q") && !has_parameter(&parameters, "query") {
        let query = query.unwrap_or_default();
        return Redirect::to(&format!("/?{query}")).into_response();
    }
    get(state, links, RawQuery(query), context).await
}

#[utoipa::path(post, path = "/sparql", tag = "SPARQL", operation_id = "queryByPost",
    summary = "The same, with the query in the body",
    request_body(content(
        (String = "application/sparql-query"),
        (inline(QueryForm) = "application/x-www-form-urlencoded"))),
    responses(
        Negotiated<SparqlAnswer>,
        BadRequest<(Html, Text)>,
        (status = 403, description = "The egress policy blocks a remote endpoint of the query.", content(
            (String = "text/html"),
            (String = "text/plain"))),
        NotAcceptable<Text>,
        BodyTimeout<Text>,
        (status = 415, description = "The body has another media type or encoding.", body = String),
        ClientLimit<(Html, Text)>,
        (status = 502, description = "A remote endpoint of the query failed.", content(
            (String = "text/html"),
            (String = "text/plain"))),
        QueryLimit<(Html, Text)>))]
pub(super) async fn post(
    State(state): State<AppState>,
    RawQuery(query): RawQuery,
    mut context: RequestContext,
    body: Bytes,
) -> Response {
    let mut parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    match parse_body(&context.headers, &body) {
        Ok(found) => {
            context.page = context.page.with_form(&found, &context.headers);
            parameters.extend(found);
        }
        Err(error) => return error.into_response(),
    }
    respond(&state, parameters, &context).await
}

/// Handles `QUERY`, and rejects other methods.
pub(super) async fn other(
    state: State<AppState>,
    method: Method,
    query: RawQuery,
    context: RequestContext,
    body: Bytes,
) -> Response {
    match method.as_str() {
        "QUERY" => post(state, query, context, body).await,
        _ => ApiError::method_not_allowed(&method, METHODS).into_response(),
    }
}

/// Parses a request body of the protocol's media types to parameters.
fn parse_body(headers: &HeaderMap, body: &[u8]) -> Result<Pairs, ApiError> {
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    match media_type.as_str() {
        "application/sparql-update" => Err(read_only()),
        "" => Err(unsupported_body("the body has no Content-Type")),
        _ if !is_utf8(content_type) => Err(unsupported_body(&format!(
            "{content_type:?} is in another encoding"
        ))),
        "application/x-www-form-urlencoded" => {
            check_utf8(body)?;
            Ok(pairs(body))
        }
        "application/sparql-query" => {
            let query = String::from_utf8(body.to_vec()).map_err(|error| {
                ApiError::bad_request(format!(
                    "the query is not UTF-8 from byte {} on",
                    error.utf8_error().valid_up_to()
                ))
            })?;
            Ok(vec![("query".to_owned(), query)])
        }
        other => Err(unsupported_body(&format!(
            "{other:?} is no form of a query"
        ))),
    }
}

/// If true, a media type has no charset other than UTF-8.
fn is_utf8(content_type: &str) -> bool {
    let parameters = content_type
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.all(|(_, value)| value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8"))
}

fn unsupported_body(reason: &str) -> ApiError {
    let message = format!("{reason}: send {BODIES}, in UTF-8");
    ApiError::with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
}

fn read_only() -> ApiError {
    ApiError::with_status(
        StatusCode::FORBIDDEN,
        "updates are not supported: this endpoint is read-only",
    )
}

/// Guard that cancels an evaluation when its future or response body is dropped because the client disconnected.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

async fn respond(state: &AppState, parameters: Pairs, context: &RequestContext) -> Response {
    let request = match parse_request(&parameters) {
        Ok(request) => {
            let client = state
                .site
                .proxies
                .client(&context.headers, &context.extensions);
            QueryRequest {
                client,
                services: Some(Arc::clone(&state.sparql.services)),
                ..request
            }
        }
        Err(error) => {
            return respond_with_error(state, String::new(), error, &parameters, context).await;
        }
    };
    let query = request.query.clone();
    match answer_query(state, request, &parameters, context).await {
        Ok(mut response) => {
            if is_true(&parameters, "download") {
                set_attachment(&mut response);
            }
            response
        }
        Err(error) => respond_with_error(state, query, error, &parameters, context).await,
    }
}

async fn respond_with_error(
    state: &AppState,
    query: String,
    error: ApiError,
    parameters: &Pairs,
    context: &RequestContext,
) -> Response {
    if !response_formats::prefers_pages(parameters, &context.headers) {
        return error.into_response();
    }
    let context = context.page.clone();
    let page = state
        .work(move |state| Ok(page::page(state, &context, &query, Some(Err(error)))))
        .await;
    page.unwrap_or_else(IntoResponse::into_response)
}

async fn answer_query(
    state: &AppState,
    request: QueryRequest,
    parameters: &Pairs,
    context: &RequestContext,
) -> Result<Response, ApiError> {
    response_formats::check(parameters, &context.headers)?;
    let cancellation = Cancellation::default();
    // Dropped with this future, or with the body into which it moves: the evaluation ends when the client leaves.
    let gone = CancelOnDrop(cancellation.clone());
    let query = request.query.clone();
    let is_streamed = context.version >= Version::HTTP_11;
    let buffered = if is_streamed {
        MAX_BUFFERED_BYTES
    } else {
        MAX_ANSWER_BYTES
    };
    let (answer, is_complete) = state
        .work(move |state| {
            let _span = tracing::info_span!(target: "traces", "evaluate").entered();
            let mut answer =
                state
                    .sparql
                    .engine
                    .stream(&request, &state.sparql.limits, &cancellation)?;
            // An error within the buffered part still has a status.
            let is_complete = answer.hold(buffered)?;
            Ok((answer, is_complete))
        })
        .await?;
    match Kind::for_head(answer.head()).negotiate_answer(parameters, &context.headers)? {
        response_formats::HTML => {
            let context = context.page.clone();
            state
                .work(move |state| {
                    Ok(page::page(
                        state,
                        &context,
                        &query,
                        Some(Ok(answer.whole_within(MAX_ANSWER_BYTES)?)),
                    ))
                })
                .await
        }
        media_type if is_complete || !is_streamed => {
            state
                .work(move |_| write_answer(&answer.whole_within(MAX_ANSWER_BYTES)?, media_type))
                .await
        }
        media_type => stream_answer(answer, media_type, gone).await,
    }
}

/// Streams an answer that exceeds the buffer.
async fn stream_answer(
    answer: AnswerStream,
    media_type: &'static str,
    gone: CancelOnDrop,
) -> Result<Response, ApiError> {
    let deadline = deadline_after(answer.time_left());
    let (writer, transfer) = transfer(Timeout::Until(deadline), gone);
    tokio::task::spawn_blocking(move || write_stream(answer, media_type, writer));
    let body: Body = transfer
        .start()
        .await
        .map_err(|error| ApiError::internal(&error))?;
    let mut response = response_formats::sent(media_type, body);
    response.headers_mut().insert(
        header::TRAILER,
        HeaderValue::from_static(response_formats::TRAILERS),
    );
    Ok(response)
}

/// Writes an answer to its receiver, and handles its end.
fn write_stream(mut answer: AnswerStream, media_type: &str, mut writer: ChunkWriter) {
    let written = match answer.head() {
        Head::Graph => answer.write_graph(response_formats::form(media_type), &mut writer),
        Head::Solutions(_) | Head::Boolean(_) => {
            let version = response_formats::version(media_type);
            let characters = answer.write_results(essence(media_type), version, &mut writer);
            characters.map(|characters| Omissions {
                characters,
                ..Omissions::default()
            })
        }
    };
    let ended = written
        .and_then(|omissions| Ok(end_document(&answer, media_type, &omissions, &mut writer)?));
    match ended {
        Ok(()) => {}
        Err(SendError::Io(error)) => {
            tracing::debug!(%error, "a client disconnected during the transfer of an answer")
        }
        Err(error) => {
            tracing::info!(%error, "the transfer of an answer was aborted");
            writer.abort(io::Error::other(error));
        }
    }
}

/// Ends a document. A truncated one that cannot signal it is aborted.
fn end_document(
    answer: &AnswerStream,
    media_type: &str,
    omissions: &Omissions,
    writer: &mut ChunkWriter,
) -> io::Result<()> {
    if !answer.is_truncated() {
        return writer.end(End::Complete, omissions);
    }
    match response_formats::mark_within(media_type) {
        Some((end, marked)) => {
            writer.amend(end, &marked)?;
            writer.end(End::Truncated, omissions)
        }
        None => {
            writer.abort(io::Error::other(response_formats::TRUNCATED_NOTE));
            Ok(())
        }
    }
}

fn parse_request(parameters: &[(String, String)]) -> Result<QueryRequest, ApiError> {
    if has_parameter(parameters, "update") {
        return Err(read_only());
    }
    let mut queries = parameter_values(parameters, "query");
    let query = queries
        .pop()
        .ok_or_else(|| ApiError::bad_request("the parameter query is missing"))?;
    // SPARQL 1.1 Protocol, 2.1: exactly one query.
    if !queries.is_empty() {
        return Err(ApiError::bad_request("more than one query"));
    }
    Ok(QueryRequest {
        query,
        default_graphs: parse_graphs(parameters, "default-graph-uri")?,
        named_graphs: parse_graphs(parameters, "named-graph-uri")?,
        provenance: if is_true(parameters, "provenance") {
            Provenance::PerService
        } else {
            Provenance::None
        },
        ..QueryRequest::default()
    })
}

/// Makes browsers save an answer. The form of the page requests it for downloads: browsers show JSON otherwise.
fn set_attachment(response: &mut Response) {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let suffix = match content_type.map(essence) {
        Some("application/sparql-results+json") => "json",
        Some("application/sparql-results+xml") => "xml",
        Some("text/csv") => "csv",
        Some("text/tab-separated-values") => "tsv",
        Some(response_formats::HTML) | None => return,
        Some(media_type) => file_suffix(media_type),
    };
    let name = format!("results.{suffix}");
    if let Ok(disposition) = HeaderValue::from_str(&content_disposition("attachment", &name)) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, disposition);
    }
}

/// Returns true if the last value of a parameter is `true` or `1`.
fn is_true(parameters: &[(String, String)], name: &str) -> bool {
    let values = parameter_values(parameters, name);
    matches!(values.last().map(String::as_str), Some("true" | "1"))
}

fn has_parameter(parameters: &[(String, String)], name: &str) -> bool {
    parameters.iter().any(|(known, _)| known == name)
}

fn parameter_values(parameters: &[(String, String)], name: &str) -> Vec<String> {
    parameters
        .iter()
        .filter(|(known, _)| known == name)
        .map(|(_, value)| value.clone())
        .collect()
}

/// Parses the IRIs of a parameter. Forms send an empty value for a field that is not filled in.
fn parse_graphs(parameters: &[(String, String)], name: &str) -> Result<Vec<NamedNode>, ApiError> {
    parameter_values(parameters, name)
        .into_iter()
        .filter(|iri| !iri.trim().is_empty())
        .map(|iri| {
            NamedNode::new(iri.as_str())
                .map_err(|error| ApiError::bad_request(format!("{name} <{iri}>: {error}")))
        })
        .collect()
}

fn write_answer(answer: &Answer, media_type: &'static str) -> Result<Response, ApiError> {
    let mut response = if let Answer::Graph { triples, .. } = answer {
        response_formats::graph(triples, media_type)?
    } else {
        let version = response_formats::version(media_type);
        let written = answer.write_results(essence(media_type), version);
        let written = written.ok_or_else(|| ApiError::internal(&"no such result format"))?;
        let SerializedResults {
            bytes,
            removed_characters,
        } = written.map_err(|error| ApiError::internal(&error))?;
        let mut response = response_formats::sent(media_type, bytes);
        let omissions = Omissions {
            characters: removed_characters,
            ..Omissions::default()
        };
        response_formats::mark_omissions(&omissions, response.headers_mut());
        response
    };
    if answer.is_truncated() {
        response_formats::mark_truncated(&mut response);
    }
    Ok(response)
}
