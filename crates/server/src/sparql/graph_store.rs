//! `/rdf-graph-store`: the read operations of the SPARQL 1.1 Graph Store Protocol.
//! <https://www.w3.org/TR/sparql11-http-rdf-update/>
//!
//! Graphs are identified indirectly: `?graph=IRI`, which includes IRIs of datasets, or `?default`. They are complete, unlike
//! query results with their limits. Therefore they are streamed: only the chunks that the client has not received yet are in
//! memory.

use super::streaming::{ChunkWriter, End, Timeout, transfer};
use crate::AppState;
use crate::api::content_disposition;
use crate::documentation::{
    BadRequest, Busy, ClientLimit, FormatParameter, Graph, Negotiated, NotAcceptable, NotFound,
    Text, object, query,
};
use crate::error::ApiError;
use crate::observed_body::BodyOfUnknownSize;
use crate::parameters::pairs;
use crate::permits::Permit;
use crate::response_formats::{self, Kind};
use crate::site::Client;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use lodeseek_rdf::RdfForm;
use lodeseek_store::{Store, StoreError, StoredGraph};
use oxrdf::NamedNode;
use std::io;
use std::time::Duration;
use utoipa::IntoParams;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::Type;

/// Supported methods, for `Allow`.
pub(super) const METHODS: &str = "GET, HEAD, OPTIONS";
/// Time limit of a client for each chunk. After it the transfer is aborted and its permit is released.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(30);

/// The parameter `default`, which has no value, for its description.
struct DefaultGraph;

impl IntoParams for DefaultGraph {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameter = query("default", "The default graph.", object(Type::String));
        // A field of OpenAPI that utoipa lacks; extensions are written beside the other fields.
        parameter.extensions = Some(Extensions::from_iter([("allowEmptyValue", true)]));
        vec![parameter]
    }
}

/// Error of a started transfer.
#[derive(Debug, thiserror::Error)]
enum TransferError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[utoipa::path(get, path = "/rdf-graph-store", tag = "SPARQL", operation_id = "graph",
    summary = "The content of a dataset, as a graph",
    params(
        ("graph" = Option<String>, Query, description = "IRI of the graph."),
        DefaultGraph,
        FormatParameter),
    responses(
        Negotiated<Graph>,
        BadRequest<Text>,
        NotFound<Text>,
        NotAcceptable<Text>,
        ClientLimit<Text>,
        Busy<Text>))]
pub(super) async fn get(
    State(state): State<AppState>,
    client: Client,
    method: Method,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    let name = parse_graph_name(&parameters)?;
    let dataset = name
        .as_ref()
        .and_then(|name| state.store.iris().dataset_id(name.as_str()));
    let graph = state
        .work(move |state| find(&state.store, name.as_ref()))
        .await?;
    // After the graph: a graph that does not exist is 404 in any format.
    let media_type = Kind::Data.negotiate(&parameters, &headers)?;
    let body = if method == Method::HEAD {
        Body::new(BodyOfUnknownSize)
    } else {
        stream_graph(&state, client, graph, response_formats::form(media_type)).await?
    };
    let mut response = response_formats::sent(media_type, body);
    response.headers_mut().insert(
        header::TRAILER,
        HeaderValue::from_static(response_formats::TRAILERS),
    );
    // Browsers would name a saved file after the path of the address.
    if let Some(id) = dataset {
        let name = format!("{id}.{}", file_suffix(media_type));
        if let Ok(disposition) = HeaderValue::from_str(&content_disposition("inline", &name)) {
            response
                .headers_mut()
                .insert(header::CONTENT_DISPOSITION, disposition);
        }
    }
    Ok(response)
}

/// Returns the usual suffix of files of a media type.
pub(super) fn file_suffix(media_type: &str) -> &'static str {
    match media_type.split(';').next().unwrap_or(media_type).trim() {
        "application/ld+json" => "jsonld",
        "application/n-triples" => "nt",
        "application/rdf+xml" => "rdf",
        "application/trig" => "trig",
        "application/n-quads" => "nq",
        _ => "ttl",
    }
}

pub(super) async fn other(method: Method) -> Response {
    ApiError::method_not_allowed(&method, METHODS).into_response()
}

/// Returns the graph of a request; `None` for the default graph.
fn parse_graph_name(parameters: &[(String, String)]) -> Result<Option<NamedNode>, ApiError> {
    let named = parameters
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "graph" | "default"));
    match named.collect::<Vec<_>>().as_slice() {
        [(name, _)] if name == "default" => Ok(None),
        [(_, iri)] => match NamedNode::new(iri.as_str()) {
            Ok(node) => Ok(Some(node)),
            Err(error) => Err(ApiError::bad_request(format!("graph={iri}: {error}"))),
        },
        _ => Err(ApiError::bad_request(
            "name one graph: ?graph=IRI or ?default",
        )),
    }
}

fn find(store: &Store, name: Option<&NamedNode>) -> Result<StoredGraph, ApiError> {
    let Some(name) = name else {
        return Ok(store.default_graph());
    };
    store
        .graph(name)?
        .ok_or_else(|| ApiError::not_found(format!("there is no graph {name}")))
}

/// Streams a graph. The response starts with the first chunk, so that earlier errors have a status.
async fn stream_graph(
    state: &AppState,
    client: Client,
    graph: StoredGraph,
    form: RdfForm,
) -> Result<Body, ApiError> {
    let permit = state.limits.acquire_download_permit(client).await?;
    let (writer, transfer) = transfer(Timeout::ForEach(CHUNK_TIMEOUT), ());
    let state = state.clone();
    tokio::task::spawn_blocking(move || write_graph(&state.store, &graph, form, writer, permit));
    transfer
        .start()
        .await
        .map_err(|error| ApiError::internal(&error))
}

/// Writes a graph to its receiver, and marks its end.
fn write_graph(
    store: &Store,
    graph: &StoredGraph,
    form: RdfForm,
    mut writer: ChunkWriter,
    _permit: Permit,
) {
    let written = store
        .triples(graph)
        .map_err(TransferError::from)
        .and_then(|triples| {
            let triples = triples.map(|triple| triple.map_err(TransferError::from));
            let omissions = form.write_to(triples, &mut writer)?;
            Ok(writer.end(End::Complete, &omissions)?)
        });
    match written {
        Err(TransferError::Store(error)) => {
            tracing::error!(%error, ?graph, "the transfer of a graph failed");
            writer.abort(io::Error::other(error));
        }
        Err(TransferError::Io(error)) => {
            tracing::debug!(%error, ?graph, "a client disconnected during the transfer of a graph")
        }
        Ok(()) => {}
    }
}
