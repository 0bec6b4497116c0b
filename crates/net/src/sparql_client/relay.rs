//! Responses to `SELECT` that another process parses.
//!
//! The client sends the request, applies policy, limits and retries, and counts. The other process receives the bytes of each response
//! and returns what it found in them. A retry after an unreadable response thus works as in one process.

use super::error::RemoteError;
use super::solutions::{Answer, Rows};
use super::{CallOptions, RESULTS_ACCEPT, SparqlClient};
use crate::egress::{Body, EgressError};
use oxrdf::NamedNodeRef;
use serde::{Deserialize, Serialize};
use sparesults::QuerySolution;
use std::cell::RefCell;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Outcome of parsing a response elsewhere.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ParseOutcome {
    /// Number of rows that were read.
    pub rows: u64,
    /// Number of values in these rows that were repaired or left out.
    pub repairs: u64,
    /// Error that ended the reading, if any.
    pub error: Option<RemoteError>,
}

/// Body of a response on its way to the process that parses it.
#[derive(Debug)]
pub struct RelayedBody {
    /// Number of the response, which makes its blank nodes unique.
    pub number: u64,
    body: Body,
    bytes: Arc<AtomicU64>,
    failure: Option<EgressError>,
}

impl Read for RelayedBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(buffer);
        match &read {
            Ok(length) => drop(self.bytes.fetch_add(*length as u64, Ordering::Relaxed)),
            Err(error) => self.failure = EgressError::find_in(error).cloned(),
        }
        read
    }
}

impl SparqlClient {
    /// Runs a `SELECT` query. `parse` hands each response to another process, which reads it with [`ResponseRows`].
    ///
    /// # Errors
    /// As for [`SparqlClient::select`] and its rows.
    pub fn relay(
        &self,
        endpoint: NamedNodeRef<'_>,
        query: &str,
        options: &CallOptions,
        parse: impl FnMut(&mut RelayedBody) -> ParseOutcome,
    ) -> Result<(), RemoteError> {
        let parse = RefCell::new(parse);
        let (outcome, mut active) = self.call(
            endpoint,
            query,
            options,
            RESULTS_ACCEPT,
            |_, response, bytes| {
                let mut body = RelayedBody {
                    number: self.next_response_number(),
                    body: response.into_body(),
                    bytes,
                    failure: None,
                };
                let mut outcome = (parse.borrow_mut())(&mut body);
                if let (Some(error), Some(failure)) = (&mut outcome.error, body.failure) {
                    *error = failure.into(); // the cause of what the other process found
                }
                match outcome.error {
                    // As in one process: only before the first row, the attempt can be repeated.
                    Some(error) if outcome.rows == 0 => Err(error),
                    error => Ok(ParseOutcome { error, ..outcome }),
                }
            },
        )?;
        active.rows = outcome.rows;
        active.repairs = outcome.repairs;
        match outcome.error {
            Some(error) => Err(active.fail(error)),
            None => Ok(()),
        }
    }
}

/// Rows of a response that another process received.
pub struct ResponseRows(Rows);

impl ResponseRows {
    /// Reads the response up to its first row. `number` is [`RelayedBody::number`].
    ///
    /// # Errors
    /// [`RemoteError::Unreadable`] if it is no result of a `SELECT`.
    pub fn open(
        endpoint: &str,
        body: impl Read + Send + 'static,
        limit: u64,
        number: u64,
    ) -> Result<Self, RemoteError> {
        Ok(Self(
            Answer::open(endpoint, body, Arc::default())?.rows(limit, number)?,
        ))
    }

    /// Returns the number of values of the rows so far that were repaired or left out.
    #[must_use]
    pub fn repairs(&self) -> u64 {
        self.0.repairs()
    }
}

impl Iterator for ResponseRows {
    type Item = Result<QuerySolution, RemoteError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
