//! Reading of responses without requests. Only in fuzz builds.

use super::solutions::Answer;
use super::{RemoteError, RemoteGraph, ResponseRows, graph};
use sparesults::QuerySolution;
use std::io::Cursor;
use std::sync::Arc;

/// Name of the endpoint in errors.
const ENDPOINT: &str = "http://endpoint.example/sparql";

/// Reads the response to a `SELECT`.
///
/// # Errors
/// As for [`SparqlClient::select`](super::SparqlClient::select) and its rows.
pub fn read_rows(body: Vec<u8>, limit: u64) -> Result<Vec<QuerySolution>, RemoteError> {
    ResponseRows::open(ENDPOINT, Cursor::new(body), limit, 0)?.collect()
}

/// Reads the response to an `ASK`.
///
/// # Errors
/// As for [`SparqlClient::ask`](super::SparqlClient::ask).
pub fn read_boolean(body: Vec<u8>) -> Result<bool, RemoteError> {
    Answer::open(ENDPOINT, Cursor::new(body), Arc::default())?.boolean()
}

/// Reads the response to a `CONSTRUCT`.
///
/// # Errors
/// As for [`SparqlClient::construct`](super::SparqlClient::construct).
pub fn read_graph(media_type: &str, body: &[u8], limit: u64) -> Result<RemoteGraph, RemoteError> {
    graph::read(ENDPOINT, media_type, body, Arc::default(), limit, 0)
}
