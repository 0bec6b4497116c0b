//! Who answers `SERVICE`: the search, this store itself under its own name, and the endpoints that may be asked.

use super::{SearchService, Searcher};
use lodeseek_net::egress::Cancellation;
use lodeseek_net::sparql_client::{CallOptions, FailureKind, RemoteError, SparqlClient};
use lodeseek_rdf::vocab::search;
use lodeseek_sparql::{Answer, QueryEngine, QueryRequest, ServiceCall, ServiceError, ServiceRow, Services, SparqlError, SparqlLimits};
use oxrdf::{NamedNode, Variable};
use spargebra::algebra::GraphPattern;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The services of a home.
pub struct Federation {
    /// Or why there is none.
    search: Result<SearchService, String>,
    /// Not kept open by queries that were given up.
    own: Weak<QueryEngine>,
    /// Under which it is reached besides its base.
    addresses: Vec<String>,
    limits: SparqlLimits,
    /// Calls of this store by itself under way: they take places of queries, and must leave some to others.
    own_calls: AtomicUsize,
    endpoints: Option<Arc<SparqlClient>>,
}

/// Calls of this store by itself at one time.
const OWN_CALLS: usize = 2;

/// One of them, however it ends.
struct OwnCall<'f>(&'f AtomicUsize);

impl Drop for OwnCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A block of fewer bindings that an endpoint fails at is not too large for it: the fault lies elsewhere.
const SMALL: usize = 100;

impl fmt::Debug for Federation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Federation").finish_non_exhaustive()
    }
}

impl Federation {
    /// Of an opened home: its own endpoint answers within these limits.
    #[must_use]
    pub fn new(queries: &Arc<QueryEngine>, limits: SparqlLimits) -> Self {
        let none = "there is no index to search; `lodeseek index` makes one".to_owned();
        Self {
            search: Err(none),
            own: Arc::downgrade(queries),
            addresses: Vec::new(),
            limits,
            own_calls: AtomicUsize::new(0),
            endpoints: None,
        }
    }

    /// With the search of an index.
    #[must_use]
    pub fn with_search(mut self, searcher: Arc<Searcher>) -> Self {
        if let Some(queries) = self.own.upgrade() {
            self.search = Ok(SearchService::new(searcher, queries.store().iris().clone()));
        }
        self
    }

    /// Reached under other addresses than its base, as `http://127.0.0.1:7878/`: a query that came to one of them names the
    /// search and the endpoint by it, and so do engines that send their `SERVICE` on.
    #[must_use]
    pub fn with_addresses(self, addresses: Vec<String>) -> Self {
        Self { addresses, ..self }
    }

    /// Without a search, and why: whoever asks it is told.
    #[must_use]
    pub fn without_search(self, reason: impl Into<String>) -> Self {
        Self { search: Err(reason.into()), ..self }
    }

    /// With a client that asks other endpoints, those that its policy lets it ask.
    #[must_use]
    pub fn with_endpoints(self, client: Arc<SparqlClient>) -> Self {
        Self { endpoints: Some(client), ..self }
    }

    fn ask(
        &self,
        client: &SparqlClient,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let cancelled = call.cancelled.clone();
        let options = CallOptions {
            time: call.deadline.saturating_duration_since(Instant::now()),
            rows: self.limits.service_rows as u64,
            cancellation: Cancellation::from_fn(move || cancelled.is_cancelled()),
            ..CallOptions::default()
        };
        let failed = |error: RemoteError| failure(&error, call.bindings.rows.len());
        let query = call.text();
        for row in client.select(call.service.as_ref(), &query, &options).map_err(failed)? {
            let row = row.map_err(failed)?;
            if rows(call.variables.iter().map(|variable| row.get(variable).cloned()).collect()).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Asks the store that asks, as soon as not too many do.
    fn ask_own(
        &self,
        queries: &Arc<QueryEngine>,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let enter = |calls: usize| (calls < OWN_CALLS).then_some(calls + 1);
        while self.own_calls.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).is_err() {
            if call.cancelled.is_cancelled() || Instant::now() >= call.deadline {
                return Err(ServiceError::Failed(format!("{} is kept busy by itself", call.service)));
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _call = OwnCall(&self.own_calls);
        ask_own(queries, &self.limits, call, rows)
    }

    /// The store that a service's name stands for, where it is this one.
    fn own(&self, service: &NamedNode) -> Option<Arc<QueryEngine>> {
        let queries = self.own.upgrade()?;
        let named = service.as_str().strip_prefix(queries.store().iris().base()) == Some("sparql");
        (named || self.is_part(service, "sparql")).then_some(queries)
    }

    fn is_search(&self, service: &NamedNode) -> bool {
        let named = self.search.as_ref().is_ok_and(|search| search.is_named(service));
        named || service.as_str() == search::SERVICE || self.is_part(service, "search")
    }

    fn is_part(&self, service: &NamedNode, part: &str) -> bool {
        self.addresses.iter().any(|address| service.as_str().strip_prefix(address.as_str()) == Some(part))
    }
}

impl Services for Federation {
    fn call(
        &self,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        if self.is_search(call.service) {
            let search = self.search.as_ref().map_err(|reason| ServiceError::Failed(reason.clone()))?;
            return search.answer(call, rows);
        }
        match self.own(call.service) {
            Some(queries) => self.ask_own(&queries, call, rows),
            None => match &self.endpoints {
                Some(client) => self.ask(client, call, rows),
                None => {
                    Err(ServiceError::Refused(format!("{} is not asked: SERVICE is switched off here", call.service)))
                }
            },
        }
    }

    fn needs(&self, service: &NamedNode, pattern: &GraphPattern) -> Vec<Variable> {
        if self.search.is_ok() && self.is_search(service) { SearchService::needs(pattern) } else { Vec::new() }
    }

    fn of_property(&self, property: &NamedNode) -> Option<NamedNode> {
        SearchService::has_property(property).then(|| NamedNode::new_unchecked(search::SERVICE))
    }
}

/// Endpoints say in many ways that a query is too long for them.
fn failure(error: &RemoteError, bindings: usize) -> ServiceError {
    let reason = error.to_string();
    match error.kind() {
        FailureKind::Refused => ServiceError::Refused(reason),
        FailureKind::RequestTooLarge => ServiceError::TooLarge(reason),
        FailureKind::Rejected | FailureKind::Status if bindings >= SMALL => ServiceError::TooLarge(reason),
        _ => ServiceError::Failed(reason),
    }
}

/// Asks the store that asks: no request goes out. The query takes a place of its own.
fn ask_own(
    queries: &Arc<QueryEngine>,
    limits: &SparqlLimits,
    call: &ServiceCall<'_>,
    rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
) -> Result<(), ServiceError> {
    let deadline = call.deadline.saturating_duration_since(Instant::now());
    let limits = SparqlLimits { deadline, rows: limits.service_rows, query_bytes: usize::MAX, ..limits.clone() };
    let request = QueryRequest { query: call.text(), ..QueryRequest::default() };
    let answer = queries.evaluate(&request, &limits).map_err(|error| match error {
        SparqlError::Refused(reason) => ServiceError::Refused(reason),
        SparqlError::TooLarge(reason) => ServiceError::TooLarge(reason),
        other => ServiceError::Failed(other.to_string()),
    })?;
    let Answer::Solutions { variables, rows: found, truncated } = answer else { return Ok(()) };
    if truncated {
        return Err(ServiceError::Failed(format!("its answer has more than {} rows", limits.rows)));
    }
    let places: Vec<Option<usize>> =
        call.variables.iter().map(|wanted| variables.iter().position(|variable| variable == wanted)).collect();
    for row in found {
        if rows(places.iter().map(|place| row[(*place)?].clone()).collect()).is_break() {
            break;
        }
    }
    Ok(())
}
