//! `/rdf-graph-store`: the reading half of the SPARQL 1.1 Graph Store Protocol.
//! <https://www.w3.org/TR/sparql11-http-rdf-update/>
//!
//! Graphs are named indirectly: `?graph=IRI`, a dataset's own IRI included, or `?default`. They come whole, not cut like
//! the answers of queries, and so as a stream: of a graph only what the client has not yet taken is in memory as text.

use super::AppState;
use super::error::ApiError;
use super::form::{self, Kind};
use super::sparql::pairs;
use crate::rdf::RdfSyntax;
use crate::store::{Store, StoreError, StoredGraph};
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use oxrdf::NamedNode;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The methods of the graph store, as `Allow` has them.
pub(super) const METHODS: &str = "GET, HEAD, OPTIONS";
/// Bytes handed over at a time.
const CHUNK: usize = 64 << 10;
/// Chunks that wait for the client.
const WAITING: usize = 4;
/// Time a client has for one chunk; one that takes longer is given up, with the place it holds.
const STALL: Duration = Duration::from_secs(30);

/// Why a graph that was begun does not come to its end.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub(super) async fn get(
    State(state): State<AppState>,
    method: Method,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    let name = name(&parameters)?;
    let graph = state.work(move |state| find(&state.store, name.as_ref())).await?;
    let media_type = Kind::Data.wanted(&parameters, &headers)?;
    let body =
        if method == Method::HEAD { Body::empty() } else { body(&state, graph, form::syntax(media_type)).await? };
    Ok(form::sent(media_type, body))
}

pub(super) async fn other(method: Method) -> Response {
    ApiError::no_method(&method, METHODS).into_response()
}

/// The graph a request names; `None` for the default graph.
fn name(parameters: &[(String, String)]) -> Result<Option<NamedNode>, ApiError> {
    let named = parameters.iter().filter(|(name, _)| matches!(name.as_str(), "graph" | "default"));
    match named.collect::<Vec<_>>().as_slice() {
        [(name, _)] if name == "default" => Ok(None),
        [(_, iri)] => match NamedNode::new(iri.as_str()) {
            Ok(node) => Ok(Some(node)),
            Err(error) => Err(ApiError::bad_request(format!("graph={iri}: {error}"))),
        },
        _ => Err(ApiError::bad_request("name one graph: ?graph=IRI or ?default")),
    }
}

fn find(store: &Store, name: Option<&NamedNode>) -> Result<StoredGraph, ApiError> {
    let Some(name) = name else { return Ok(store.default_graph()) };
    store.graph(name)?.ok_or_else(|| ApiError::not_found(format!("there is no graph {name}")))
}

/// The graph as text. The answer begins once there is something to send, so that what fails at once fails with a status.
async fn body(state: &AppState, graph: StoredGraph, syntax: RdfSyntax) -> Result<Body, ApiError> {
    let turn = state.turn().await?;
    let (sender, mut receiver) = channel(WAITING);
    let state = state.clone();
    tokio::task::spawn_blocking(move || send(&state.store, &graph, syntax, sender, turn));
    match receiver.recv().await {
        Some(Ok(first)) => Ok(Body::from_stream(Chunks { first: Some(first), receiver, ended: false })),
        Some(Err(error)) => Err(ApiError::internal(&error)),
        None => Err(ApiError::internal(&"the graph broke off")),
    }
}

/// Writes a graph to whoever receives, and the empty chunk after it.
fn send(store: &Store, graph: &StoredGraph, syntax: RdfSyntax, sender: Sender<Chunk>, _turn: OwnedSemaphorePermit) {
    let mut writer = ChunkWriter { sender, buffer: Vec::with_capacity(CHUNK), runtime: Handle::current() };
    let written = store.triples(graph).map_err(Broken::from).and_then(|triples| {
        syntax.write_to(triples.map(|triple| triple.map_err(Broken::from)), &mut writer)?;
        writer.flush()?;
        Ok(writer.hand_over(Ok(Bytes::new()))?)
    });
    match written {
        Err(Broken::Store(error)) => {
            tracing::error!(%error, ?graph, "a graph was not sent to its end");
            let _ = writer.hand_over(Err(io::Error::other(error))); // or nobody listens
        }
        Err(Broken::Io(error)) => tracing::debug!(%error, ?graph, "who asked for a graph does not take it"),
        Ok(()) => {}
    }
}

/// A piece of the text. An empty one says that it is whole: what ends without is broken off, so that no client takes the
/// half of a graph for all of it.
type Chunk = io::Result<Bytes>;

/// Writes into a channel that an answer's body reads.
struct ChunkWriter {
    sender: Sender<Chunk>,
    buffer: Vec<u8>,
    runtime: Handle,
}

impl ChunkWriter {
    fn hand_over(&self, chunk: Chunk) -> io::Result<()> {
        let sent = self.runtime.block_on(tokio::time::timeout(STALL, self.sender.send(chunk)));
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK));
        self.hand_over(Ok(chunk.into()))
    }
}

/// The body of an answer: what was received already, then the rest.
struct Chunks {
    first: Option<Bytes>,
    receiver: Receiver<Chunk>,
    ended: bool,
}

impl Stream for Chunks {
    type Item = Chunk;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Chunk>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let next = match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => std::task::ready!(self.receiver.poll_recv(context)),
        };
        self.ended = !matches!(&next, Some(Ok(chunk)) if !chunk.is_empty());
        Poll::Ready(match next {
            Some(Ok(chunk)) if chunk.is_empty() => None,
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    async fn read(chunks: Vec<Chunk>) -> io::Result<Vec<u8>> {
        let (sender, receiver) = channel(chunks.len() + 1);
        for chunk in chunks {
            sender.try_send(chunk).expect("room");
        }
        drop(sender);
        let body = Body::from_stream(Chunks { first: Some(Bytes::from_static(b"a")), receiver, ended: false });
        body.collect().await.map(|whole| whole.to_bytes().to_vec()).map_err(io::Error::other)
    }

    #[tokio::test]
    async fn only_what_says_so_is_whole() {
        let piece = || Ok(Bytes::from_static(b"b"));
        assert_eq!(read(vec![piece(), piece(), Ok(Bytes::new())]).await.expect("whole"), b"abb");
        assert!(read(vec![piece()]).await.is_err(), "the writer went away");
        assert!(read(vec![piece(), Err(io::Error::other("store"))]).await.is_err());
    }
}
