//! Requests of the services of a worker process, and the answers of its parent.
//!
//! The request of a call is JSON. A message of the parent begins with a byte for its kind ([`Message`]). The worker parses the
//! responses of endpoints: their bytes are passed on, and only the worker returns how many rows they have. A hostile response thus costs
//! the query that requested it, and nothing else.

use super::local::{LocalRequests, SelectRequest};
use super::{Federation, POLL_INTERVAL, Requests, ServiceNames};
use lodeseek_net::egress::{EgressError, EgressFault, deadline_after};
use lodeseek_net::sparql_client::{ParseOutcome, RelayedBody, RemoteError, ResponseRows};
use lodeseek_sparql::{
    Call, Calls, ServiceCall, ServiceError, ServiceRow, Services, decode_rows, encode_rows,
    row_bytes,
};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Length of the pieces in which the body of a response is passed on, in bytes.
const PIECE_BYTES: usize = 64 << 10;
/// Number of rows that are sent at once.
const BATCH_ROWS: usize = 256;
/// Memory in bytes from which on a row is sent at once, with those before it.
const LARGE_ROW_BYTES: usize = 16 << 10;

/// A request to the parent process.
#[derive(Serialize, Deserialize)]
enum Request {
    /// Triples of the hits of a search. The values of its properties are a row.
    Search {
        properties: Vec<String>,
        values: Vec<u8>,
    },
    /// Rows of a `SELECT`.
    Select {
        service: String,
        query: String,
        variables: Vec<String>,
        bindings: usize,
        time: Duration,
    },
}

/// A message of the parent process.
enum Message<'m> {
    /// The response of an endpoint begins. Its number makes its blank nodes unique.
    Response(u64),
    /// A piece of the body.
    Body(&'m [u8]),
    EndOfBody,
    /// The rest of the body cannot be received.
    BrokenBody,
    /// Rows of this store, or triples of a search.
    Rows(&'m [u8]),
    /// Last message: the outcome, in JSON.
    Outcome(&'m [u8]),
}

impl<'m> Message<'m> {
    fn encode(&self) -> Vec<u8> {
        let number;
        let (kind, content) = match self {
            Self::Response(response) => {
                number = response.to_le_bytes();
                (b'N', &number[..])
            }
            Self::Body(bytes) => (b'B', *bytes),
            Self::EndOfBody => (b'E', &[][..]),
            Self::BrokenBody => (b'F', &[][..]),
            Self::Rows(rows) => (b'R', *rows),
            Self::Outcome(outcome) => (b'O', *outcome),
        };
        [&[kind], content].concat()
    }

    fn decode(bytes: &'m [u8]) -> io::Result<Self> {
        let Some((kind, content)) = bytes.split_first() else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        Ok(match kind {
            b'N' => Self::Response(u64::from_le_bytes(
                content.try_into().map_err(io::Error::other)?,
            )),
            b'B' => Self::Body(content),
            b'E' => Self::EndOfBody,
            b'F' => Self::BrokenBody,
            b'R' => Self::Rows(content),
            b'O' => Self::Outcome(content),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}

/// Creates the services of a query in a worker process.
///
/// # Errors
/// If the settings are not those of a [`Federation`].
pub fn worker_services(settings: &str, calls: Calls) -> io::Result<Arc<dyn Services>> {
    let names: ServiceNames = serde_json::from_str(settings)?;
    Ok(Arc::new(Federation {
        names,
        requests: Requests::Parent(WorkerRequests(calls)),
    }))
}

fn connection_error(error: impl Into<io::Error>) -> ServiceError {
    let error = error.into();
    ServiceError::Failed(format!("the server process gave no answer: {error}"))
}

/// The worker's side: requests that the parent process answers.
pub(super) struct WorkerRequests(Calls);

impl WorkerRequests {
    fn open(
        &self,
        request: &Request,
        call: &ServiceCall<'_>,
    ) -> Result<Conversation, ServiceError> {
        let request = serde_json::to_vec(request).map_err(connection_error)?;
        let open = self.0.open(&request).map_err(connection_error)?;
        let open = Arc::new(Mutex::new(open));
        Ok(Conversation {
            call: open,
            is_cancelled: call.cancellation(),
            deadline: call.deadline,
        })
    }

    pub(super) fn search(
        &self,
        parameters: &[(&str, Term)],
        call: &ServiceCall<'_>,
    ) -> Result<Vec<Triple>, ServiceError> {
        let properties = parameters
            .iter()
            .map(|(property, _)| (*property).to_owned())
            .collect();
        let values = parameters
            .iter()
            .map(|(_, value)| Some(value.clone()))
            .collect();
        let values = encode_rows(&[values]).map_err(connection_error)?;
        let conversation = self.open(&Request::Search { properties, values }, call)?;
        let mut triples = Vec::new();
        loop {
            let message = conversation.next().map_err(connection_error)?;
            match Message::decode(&message).map_err(connection_error)? {
                Message::Rows(rows) => {
                    let rows = decode_rows(rows).map_err(connection_error)?;
                    triples.extend(rows.into_iter().filter_map(decode_triple));
                }
                Message::Outcome(outcome) => return parse_outcome(outcome).map(|()| triples),
                _ => {}
            }
        }
    }

    pub(super) fn select(
        &self,
        call: &ServiceCall<'_>,
        max_rows: u64,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let request = Request::Select {
            service: call.service.as_str().to_owned(),
            query: call.text(),
            variables: call
                .variables
                .iter()
                .map(|variable| variable.as_str().to_owned())
                .collect(),
            bindings: call.bindings.size(),
            time: call.deadline.saturating_duration_since(Instant::now()),
        };
        let conversation = self.open(&request, call)?;
        loop {
            let message = conversation.next().map_err(connection_error)?;
            match Message::decode(&message).map_err(connection_error)? {
                Message::Response(number) => {
                    let (outcome, flow) =
                        parse_response(&conversation, call, max_rows, number, rows);
                    // Sent even if no further rows are needed: the parent waits for it.
                    conversation.send(&outcome).map_err(connection_error)?;
                    if flow.is_break() {
                        return Ok(());
                    }
                }
                Message::Rows(found) => {
                    for row in decode_rows(found).map_err(connection_error)? {
                        if rows(row).is_break() {
                            return Ok(());
                        }
                    }
                }
                Message::Outcome(outcome) => return parse_outcome(outcome),
                // The rest of a body that was not read to its end.
                Message::Body(_) | Message::EndOfBody | Message::BrokenBody => {}
            }
        }
    }
}

fn parse_outcome(outcome: &[u8]) -> Result<(), ServiceError> {
    serde_json::from_slice(outcome).unwrap_or_else(|error| Err(connection_error(error)))
}

/// Parses the response of an endpoint, and hands over its rows.
fn parse_response(
    conversation: &Conversation,
    call: &ServiceCall<'_>,
    max_rows: u64,
    number: u64,
    rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
) -> (ParseOutcome, ControlFlow<()>) {
    let body = ResponseBody {
        conversation: conversation.clone(),
        piece: Vec::new(),
        place: 1,
        has_ended: false,
    };
    let mut outcome = ParseOutcome::default();
    let mut found = match ResponseRows::open(call.service.as_str(), body, max_rows, number) {
        Ok(found) => found,
        Err(error) => {
            return (
                ParseOutcome {
                    error: Some(error),
                    ..outcome
                },
                ControlFlow::Continue(()),
            );
        }
    };
    while let Some(row) = found.next() {
        outcome.repairs = found.repairs();
        match row {
            Ok(row) => {
                outcome.rows += 1;
                let values = call
                    .variables
                    .iter()
                    .map(|variable| row.get(variable).cloned())
                    .collect();
                if rows(values).is_break() {
                    return (outcome, ControlFlow::Break(()));
                }
            }
            Err(error) => {
                return (
                    ParseOutcome {
                        error: Some(error),
                        ..outcome
                    },
                    ControlFlow::Continue(()),
                );
            }
        }
    }
    (outcome, ControlFlow::Continue(()))
}

/// A call of the parent process, until the deadline or the cancellation of the query.
#[derive(Clone)]
struct Conversation {
    call: Arc<Mutex<Call>>,
    is_cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    deadline: Instant,
}

impl Conversation {
    fn next(&self) -> io::Result<Vec<u8>> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match call.receive(POLL_INTERVAL) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(RecvTimeoutError::Timeout) if (self.is_cancelled)() => {
                    return Err(io::Error::other("the query was cancelled"));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= self.deadline => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn send(&self, outcome: &ParseOutcome) -> io::Result<()> {
        let message = serde_json::to_vec(outcome)?;
        self.call
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .send(&message)
    }
}

/// Body of a response that the parent process passes on.
struct ResponseBody {
    conversation: Conversation,
    /// Message of the current piece.
    piece: Vec<u8>,
    /// Index of the next byte of the message. Its first byte is its kind.
    place: usize,
    has_ended: bool,
}

impl Read for ResponseBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.place >= self.piece.len() && !self.has_ended {
            let message = self.conversation.next()?;
            match Message::decode(&message)? {
                Message::Body(_) => (self.piece, self.place) = (message, 1),
                Message::EndOfBody => self.has_ended = true,
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let mut rest = self.piece.get(self.place..).unwrap_or_default();
        let read = rest.read(buffer)?;
        self.place += read;
        Ok(read)
    }
}

/// The parent's side: answers a request of a worker.
pub(super) fn answer(local: &LocalRequests, names: &ServiceNames, request: &[u8], call: &Call) {
    let outcome = match serde_json::from_slice(request) {
        Ok(Request::Search { properties, values }) => {
            search_datasets(local, &properties, &values, call)
        }
        Ok(Request::Select {
            service,
            query,
            variables,
            bindings,
            time,
        }) => {
            let is_closed = call.closed_flag();
            let service = NamedNode::new_unchecked(service);
            let variables: Vec<Variable> =
                variables.into_iter().map(Variable::new_unchecked).collect();
            let request = SelectRequest {
                service: &service,
                query: &query,
                variables: &variables,
                bindings,
                // The worker parses hostile input: it must not set the deadline of the parent.
                deadline: deadline_after(local.limit_time(time)),
                is_cancelled: Arc::new(move || is_closed.load(Ordering::Acquire)),
            };
            match local.own().filter(|_| names.is_own(&service)) {
                Some(queries) => {
                    let mut batch = Vec::new();
                    let called = local.call_own(&queries, &request, &mut |row| {
                        send_row(call, &mut batch, row)
                    });
                    called.and_then(|()| send_rows(call, &mut batch))
                }
                None => local.relay(&request, &mut |body| pass_on(body, &service, call)),
            }
        }
        Err(error) => Err(connection_error(error)),
    };
    // The worker may have ended, or need no more.
    if let Ok(outcome) = serde_json::to_vec(&outcome) {
        let _ = call.send(&Message::Outcome(&outcome).encode());
    }
}

fn search_datasets(
    local: &LocalRequests,
    properties: &[String],
    values: &[u8],
    call: &Call,
) -> Result<(), ServiceError> {
    let values = decode_rows(values)
        .map_err(connection_error)?
        .into_iter()
        .flatten()
        .flatten();
    let parameters: Vec<(&str, Term)> = properties.iter().map(String::as_str).zip(values).collect();
    let is_closed = call.closed_flag();
    let deadline = deadline_after(local.limit_time(Duration::MAX));
    let mut batch = Vec::new();
    for Triple {
        subject,
        predicate,
        object,
    } in local.search(&parameters, &|| {
        is_closed.load(Ordering::Acquire) || Instant::now() >= deadline
    })? {
        let row = vec![Some(subject.into()), Some(predicate.into()), Some(object)];
        if send_row(call, &mut batch, row).is_break() {
            return Ok(());
        }
    }
    send_rows(call, &mut batch)
}

fn send_row(call: &Call, batch: &mut Vec<ServiceRow>, row: ServiceRow) -> ControlFlow<()> {
    let is_large = row_bytes(&row) >= LARGE_ROW_BYTES;
    batch.push(row);
    if batch.len() < BATCH_ROWS && !is_large {
        return ControlFlow::Continue(());
    }
    if send_rows(call, batch).is_ok() {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(())
    }
}

fn send_rows(call: &Call, batch: &mut Vec<ServiceRow>) -> Result<(), ServiceError> {
    let rows = encode_rows(&std::mem::take(batch)).map_err(connection_error)?;
    call.send(&Message::Rows(&rows).encode())
        .map_err(connection_error)
}

/// Passes the body of a response on to the worker, and returns what it found.
fn pass_on(body: &mut RelayedBody, service: &NamedNode, call: &Call) -> ParseOutcome {
    let passed = pass_on_all(body, call);
    passed.unwrap_or_else(|_| {
        let gone = EgressError {
            iri: service.as_str().to_owned(),
            fault: EgressFault::Cancelled,
        };
        // The last message may be the outcome of a worker that needs no more.
        decode_outcome(call.try_receive()).unwrap_or(ParseOutcome {
            error: Some(RemoteError::Egress(gone)),
            ..ParseOutcome::default()
        })
    })
}

fn pass_on_all(body: &mut RelayedBody, call: &Call) -> io::Result<ParseOutcome> {
    call.send(&Message::Response(body.number).encode())?;
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        if let Some(outcome) = decode_outcome(call.try_receive()) {
            return Ok(outcome);
        }
        match body.read(&mut buffer) {
            Ok(0) => break call.send(&Message::EndOfBody.encode())?,
            Ok(length) => call.send(&Message::Body(&buffer[..length]).encode())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break call.send(&Message::BrokenBody.encode())?,
        }
    }
    loop {
        match call.receive(POLL_INTERVAL) {
            Ok(message) => {
                return decode_outcome(Some(message))
                    .ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

fn decode_outcome(message: Option<Vec<u8>>) -> Option<ParseOutcome> {
    serde_json::from_slice(&message?).ok()
}

fn decode_triple(row: ServiceRow) -> Option<Triple> {
    let [subject, predicate, object] = <[Option<Term>; 3]>::try_from(row).ok()?;
    let subject = match subject? {
        Term::NamedNode(node) => NamedOrBlankNode::from(node),
        Term::BlankNode(node) => node.into(),
        Term::Literal(_) | Term::Triple(_) => return None,
    };
    let Term::NamedNode(predicate) = predicate? else {
        return None;
    };
    Some(Triple::new(subject, predicate, object?))
}
