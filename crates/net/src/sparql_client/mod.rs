//! Client of the SPARQL 1.1 Protocol. <https://www.w3.org/TR/sparql11-protocol/>
//!
//! Many endpoints deviate from the protocol, and many are overloaded. The client therefore
//!
//! - sends a query by POST, and by GET if the endpoint rejects POST (405, 501);
//! - detects the format of a response by its first character;
//! - requests XML if a JSON response cannot be parsed;
//! - retries after transient failures (failed connection, 429, 502, 503, 504), after the delay in `Retry-After` or after
//!   [`ClientOptions::back_off`], as far as the deadline permits.
//!
//! This ends with the first row. Later errors are final, because a caller could not separate the rows of two attempts.
//!
//! Every call has a deadline and limits of rows and bytes. A result over a limit is an error, never a truncated result.
//! All requests obey the policy of the [`Egress`].
//!
//! # Rate limits
//!
//! A host gets at most [`ClientOptions::concurrent`] calls at a time, and requests are at least [`ClientOptions::pause`]
//! apart. A call lasts until its rows are read or dropped. A caller that holds open rows should read them before it opens
//! further calls to the same host. Otherwise the new calls may fail with [`RemoteError::Crowded`].
//!
//! # Blank nodes
//!
//! Blank node labels are valid within one response. The client renames them, so that they differ from those of all its
//! other responses and of all datasets in the store. Use one client per program.

mod endpoint;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod graph;
mod json_results;
mod relay;
mod solutions;
mod source;
mod terms;
#[cfg(test)]
mod tests;
mod timeout;
mod xml_results;

pub use endpoint::EndpointStatistics;
pub use error::{Excerpt, FailureKind, RemoteError};
pub use graph::RemoteGraph;
pub use relay::{ParseOutcome, RelayedBody, ResponseRows};
pub use solutions::Solutions;

use crate::egress::{Cancellation, Egress, Request, RequestLimits, Response, deadline_after};
use endpoint::{ActiveCall, Endpoint};
use oxrdf::{NamedNode, NamedNodeRef};
use rustc_hash::FxHashMap;
use solutions::Answer;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use timeout::Timeout;

/// `Accept` headers of SELECT and ASK: the first attempt, and the retry if JSON could not be parsed. Endpoints of RDF 1.2 send triple
/// terms to clients that ask for it.
const RESULTS_ACCEPT: &[&str] = &[
    "application/sparql-results+json;version=1.2, application/sparql-results+json;q=0.9, application/sparql-results+xml;q=0.8",
    "application/sparql-results+xml",
];
/// `Accept` headers of CONSTRUCT and DESCRIBE. N-Triples is preferred: a broken line does not affect others.
const GRAPHS_ACCEPT: &[&str] = &[
    "application/n-triples;version=1.2, application/n-triples;q=0.95, text/turtle;q=0.9, application/rdf+xml;q=0.5",
];
/// Maximum length of a query that is sent by GET, in bytes.
const MAX_GET_QUERY_BYTES: usize = 2000;
/// Maximum number of bytes read of an error response.
const MAX_FAILURE_BYTES: u64 = 4096;
/// Maximum number of endpoints with statistics. The least recently used idle endpoint is evicted.
const MAX_ENDPOINTS: usize = 4096;

/// Options of the client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Maximum number of concurrent calls to one host, over all its endpoints. Default 4.
    pub concurrent: usize,
    /// Minimum time between the starts of two requests to one host. Default 0.
    pub pause: Duration,
    /// Delays before the retries, unless the endpoint sends `Retry-After`. Default 250 ms, 1 s and 4 s.
    pub back_off: Vec<Duration>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        let back_off = [250, 1000, 4000].map(Duration::from_millis).to_vec();
        Self {
            concurrent: 4,
            pause: Duration::ZERO,
            back_off,
        }
    }
}

/// Limits of one call.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// Total timeout up to the last row, with waiting and retries. Default 30 s.
    pub time: Duration,
    /// Connect timeout. Default 5 s.
    pub connect: Duration,
    /// Maximum number of rows or triples. Default 1,000,000.
    pub rows: u64,
    /// Maximum size of the decompressed response in bytes. Default 100 MiB.
    pub bytes: u64,
    /// Cancellation of the call. Default: never cancelled.
    pub cancellation: Cancellation,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30),
            connect: Duration::from_secs(5),
            rows: 1_000_000,
            bytes: 100 << 20,
            cancellation: Cancellation::default(),
        }
    }
}

/// Client for SPARQL endpoints. Share one instance between all threads.
///
/// ```
/// use lodeseek_net::egress::{Egress, EgressPolicy};
/// use lodeseek_net::sparql_client::{CallOptions, ClientOptions, FailureKind, SparqlClient};
/// use oxrdf::NamedNodeRef;
/// use std::sync::Arc;
///
/// let egress = Egress::new(EgressPolicy::default()); // blocks every request
/// let client = SparqlClient::new(Arc::new(egress), ClientOptions::default());
/// let endpoint = NamedNodeRef::new("https://query.wikidata.org/sparql")?;
/// let error = client.ask(endpoint, "ASK { ?s ?p ?o }", &CallOptions::default()).unwrap_err();
/// assert_eq!(error.kind(), FailureKind::Refused);
/// # Ok::<(), oxrdf::IriParseError>(())
/// ```
#[derive(Debug)]
pub struct SparqlClient {
    egress: Arc<Egress>,
    options: ClientOptions,
    endpoints: Mutex<FxHashMap<NamedNode, Arc<Endpoint>>>,
    calls: AtomicU64,
    responses: AtomicU64,
}

impl SparqlClient {
    /// Creates a client that sends its requests by `egress`.
    #[must_use]
    pub fn new(egress: Arc<Egress>, options: ClientOptions) -> Self {
        let endpoints = Mutex::default();
        Self {
            egress,
            options,
            endpoints,
            calls: AtomicU64::new(0),
            responses: AtomicU64::new(0),
        }
    }

    /// Returns true if the egress policy blocks every endpoint.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.egress.is_closed()
    }

    /// Runs a `SELECT` query and returns its rows as they arrive.
    pub fn select(
        &self,
        endpoint: NamedNodeRef<'_>,
        query: &str,
        options: &CallOptions,
    ) -> Result<Solutions, RemoteError> {
        let (rows, active) = self.call(
            endpoint,
            query,
            options,
            RESULTS_ACCEPT,
            |endpoint, response, bytes| {
                Answer::open(endpoint, response.into_body(), bytes)?
                    .rows(options.rows, self.next_response_number())
            },
        )?;
        Ok(Solutions::new(rows, active))
    }

    /// Runs an `ASK` query.
    pub fn ask(
        &self,
        endpoint: NamedNodeRef<'_>,
        query: &str,
        options: &CallOptions,
    ) -> Result<bool, RemoteError> {
        let (answer, _) = self.call(
            endpoint,
            query,
            options,
            RESULTS_ACCEPT,
            |endpoint, response, bytes| {
                Answer::open(endpoint, response.into_body(), bytes)?.boolean()
            },
        )?;
        Ok(answer)
    }

    /// Runs a `CONSTRUCT` or `DESCRIBE` query. The graph is held in memory; [`CallOptions::rows`] limits its triples.
    pub fn construct(
        &self,
        endpoint: NamedNodeRef<'_>,
        query: &str,
        options: &CallOptions,
    ) -> Result<RemoteGraph, RemoteError> {
        let (graph, mut active) = self.call(
            endpoint,
            query,
            options,
            GRAPHS_ACCEPT,
            |endpoint, response, bytes| {
                let media_type = response
                    .header("content-type")
                    .unwrap_or_default()
                    .to_owned();
                graph::read(
                    endpoint,
                    &media_type,
                    response.into_body(),
                    bytes,
                    options.rows,
                    self.next_response_number(),
                )
            },
        )?;
        active.rows = graph.triples.len() as u64;
        Ok(graph)
    }

    /// Returns statistics of all endpoints, ordered by endpoint. Running calls are not included.
    #[must_use]
    pub fn snapshot(&self) -> Vec<EndpointStatistics> {
        let known: Vec<_> = self.lock_endpoints().values().cloned().collect();
        let mut statistics: Vec<_> = known.iter().map(|endpoint| endpoint.snapshot()).collect();
        statistics.sort_by(|a, b| a.endpoint.cmp(&b.endpoint));
        statistics
    }

    fn lock_endpoints(&self) -> MutexGuard<'_, FxHashMap<NamedNode, Arc<Endpoint>>> {
        self.endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a unique response number.
    fn next_response_number(&self) -> u64 {
        self.responses.fetch_add(1, Ordering::Relaxed)
    }

    fn call<T>(
        &self,
        endpoint: NamedNodeRef<'_>,
        query: &str,
        options: &CallOptions,
        accept_headers: &'static [&'static str],
        read: impl Fn(&str, Response, Arc<AtomicU64>) -> Result<T, RemoteError>,
    ) -> Result<(T, ActiveCall), RemoteError> {
        self.egress.check(endpoint.as_str())?; // otherwise queries could fill the table with forbidden endpoints
        let timeout = Timeout {
            iri: endpoint.as_str().to_owned(),
            deadline: deadline_after(options.time),
            cancellation: options.cancellation.clone(),
        };
        let mut active =
            ActiveCall::begin(self.endpoint(endpoint), self.options.concurrent, &timeout)?;
        let mut call = Call {
            client: self,
            query,
            options,
            timeout,
            method: Method::Post,
            accept_headers,
        };
        match call.answer(&mut active, read) {
            Ok(answer) => Ok((answer, active)),
            Err(error) => Err(active.fail(error)),
        }
    }

    fn endpoint(&self, iri: NamedNodeRef<'_>) -> Arc<Endpoint> {
        let iri = iri.into_owned();
        let mut endpoints = self.lock_endpoints();
        if !endpoints.contains_key(&iri) && endpoints.len() >= MAX_ENDPOINTS {
            evict_one(&mut endpoints);
        }
        let known = endpoints.get(&iri).cloned();
        let endpoint = known.unwrap_or_else(|| {
            let new = Arc::new(Endpoint::new(iri.clone(), endpoints.values()));
            endpoints.insert(iri, Arc::clone(&new));
            new
        });
        // Relaxed: the numbers only order endpoints for eviction.
        endpoint.last_use.store(
            self.calls.fetch_add(1, Ordering::Relaxed),
            Ordering::Relaxed,
        );
        endpoint
    }
}

fn evict_one(endpoints: &mut FxHashMap<NamedNode, Arc<Endpoint>>) {
    // The caller has locked the table, so that the only reference to an idle endpoint is the one in it.
    let idle = endpoints
        .iter()
        .filter(|(_, endpoint)| Arc::strong_count(endpoint) == 1);
    let oldest = idle.min_by_key(|(_, endpoint)| endpoint.last_use.load(Ordering::Relaxed));
    if let Some(iri) = oldest.map(|(iri, _)| iri.clone()) {
        endpoints.remove(&iri);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Post,
    Get,
}

/// State of one call until its response.
struct Call<'c> {
    client: &'c SparqlClient,
    query: &'c str,
    options: &'c CallOptions,
    timeout: Timeout,
    method: Method,
    /// `Accept` headers: the first is sent, the next after an unreadable response.
    accept_headers: &'static [&'static str],
}

impl Call<'_> {
    /// Sends requests until one succeeds or no further attempt is useful.
    fn answer<T>(
        &mut self,
        active: &mut ActiveCall,
        read: impl Fn(&str, Response, Arc<AtomicU64>) -> Result<T, RemoteError>,
    ) -> Result<T, RemoteError> {
        if active.endpoint.is_get_only() && self.fits_get() {
            self.method = Method::Get;
        }
        // The changes to GET and to XML need no delay and are made once each, so that they do not use up the retries.
        let mut steps = self.client.options.back_off.iter();
        let mut unreadable = None;
        loop {
            let error = match self.attempt(active, &read) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if self.can_get_instead(&error) {
                active.endpoint.mark_get_only();
                self.method = Method::Get;
            } else if self.can_read_xml_instead(&error) {
                self.accept_headers = &self.accept_headers[1..];
                unreadable = Some(error);
            } else {
                let Some(wait) = steps.next().filter(|_| error.is_transient()) else {
                    // The first fault is reported: that of the retry may only be that the endpoint has no XML.
                    return Err(unreadable.unwrap_or(error));
                };
                self.back_off(error.retry_after().unwrap_or(*wait), error)?;
            }
        }
    }

    fn fits_get(&self) -> bool {
        self.query.len() <= MAX_GET_QUERY_BYTES
    }

    fn can_get_instead(&self, error: &RemoteError) -> bool {
        self.method == Method::Post
            && self.fits_get()
            && matches!(
                error,
                RemoteError::Status {
                    status: 405 | 501,
                    ..
                }
            )
    }

    fn can_read_xml_instead(&self, error: &RemoteError) -> bool {
        self.accept_headers.len() > 1 && matches!(error, RemoteError::Unreadable { json: true, .. })
    }

    /// Waits before the next attempt. Returns the error if the attempt would start after the deadline.
    fn back_off(&self, wait: Duration, error: RemoteError) -> Result<(), RemoteError> {
        if !self.timeout.allows(wait) {
            return Err(error);
        }
        tracing::debug!(%error, ?wait, "retrying");
        self.timeout
            .wait_until(Instant::now() + wait)
            .map_err(|fault| self.timeout.error(fault).into())
    }

    fn attempt<T>(
        &self,
        active: &mut ActiveCall,
        read: impl Fn(&str, Response, Arc<AtomicU64>) -> Result<T, RemoteError>,
    ) -> Result<T, RemoteError> {
        active.pace(self.client.options.pause, &self.timeout)?;
        let response = self.request()?.send()?;
        let endpoint = &*self.timeout.iri;
        match response.status() {
            // Reading the first row belongs to the attempt: a response that breaks before can be repeated.
            200..=299 => read(endpoint, response, Arc::clone(&active.bytes)),
            _ => Err(read_failure(endpoint, response)),
        }
    }

    fn request(&self) -> Result<Request<'_>, RemoteError> {
        let total = self
            .timeout
            .left()
            .map_err(|fault| self.timeout.error(fault))?;
        let limits = RequestLimits {
            connect: self.options.connect,
            total,
            bytes: self.options.bytes,
        };
        let (egress, endpoint) = (&self.client.egress, &*self.timeout.iri);
        let request = match self.method {
            Method::Post => egress.post_form(endpoint, &[("query", self.query)]),
            Method::Get => egress.get(endpoint).with_parameter("query", self.query),
        };
        let cancellation = self.timeout.cancellation.clone();
        Ok(request
            .with_accept(self.accept_headers[0])
            .with_limits(limits)
            .with_cancellation(cancellation))
    }
}

/// Converts an error response. A text that cannot be read is treated as empty.
fn read_failure(endpoint: &str, response: Response) -> RemoteError {
    let (status, retry_after) = (response.status(), response.retry_after());
    let mut text = Vec::new();
    let read = response
        .into_body()
        .take(MAX_FAILURE_BYTES)
        .read_to_end(&mut text);
    if let Err(error) = read {
        tracing::debug!(endpoint, status, %error, "cannot read the text of an error response");
    }
    RemoteError::from_status(endpoint, status, retry_after, Excerpt::from_bytes(&text))
}
