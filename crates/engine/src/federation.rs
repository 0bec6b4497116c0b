//! Resolution of `SERVICE` calls: to the search, to this store under its own IRI, or to permitted remote endpoints.

use super::{SearchService, Searcher};
use lodeseek_net::egress::Cancellation;
use lodeseek_net::sparql_client::{CallOptions, FailureKind, RemoteError, SparqlClient};
use lodeseek_rdf::vocab::search;
use lodeseek_sparql::{
    Answer, QueryEngine, QueryRequest, ServiceCall, ServiceError, ServiceRow, Services, SparqlError, SparqlLimits,
};
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
    /// The search service, or the reason for which there is none.
    search: Result<SearchService, String>,
    /// This home's query engine. Weak, so that cancelled queries do not keep the store open.
    own: Weak<QueryEngine>,
    /// Addresses of this home besides its base IRI.
    addresses: Vec<String>,
    limits: SparqlLimits,
    /// Number of running calls of this store by itself. They need query permits, so their number is limited.
    own_calls: AtomicUsize,
    endpoints: Option<Arc<SparqlClient>>,
}

/// Maximum number of concurrent calls of this store by itself.
const MAX_OWN_CALLS: usize = 2;

/// A running call of this store by itself. Dropping it ends the call.
struct OwnCall<'f>(&'f AtomicUsize);

impl Drop for OwnCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Minimum number of bindings in a rejected request for which the size counts as the cause of the rejection.
const MIN_TOO_LARGE: usize = 100;

impl fmt::Debug for Federation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Federation").finish_non_exhaustive()
    }
}

impl Federation {
    /// Creates the services of an opened home. Calls of its own endpoint obey the limits.
    #[must_use]
    pub fn new(queries: &Arc<QueryEngine>, limits: SparqlLimits) -> Self {
        let none = "there is no index to search; run `lodeseek index`".to_owned();
        Self {
            search: Err(none),
            own: Arc::downgrade(queries),
            addresses: Vec::new(),
            limits,
            own_calls: AtomicUsize::new(0),
            endpoints: None,
        }
    }

    /// Adds the search service of an index.
    #[must_use]
    pub fn with_search(mut self, searcher: Arc<Searcher>) -> Self {
        if let Some(queries) = self.own.upgrade() {
            self.search = Ok(SearchService::new(searcher, Arc::clone(queries.store())));
        }
        self
    }

    /// Sets the addresses of this home besides its base, as `http://127.0.0.1:7878/`. Queries sent to such an address, and
    /// other engines that forward a `SERVICE`, use it in the IRIs of the search and the endpoint.
    #[must_use]
    pub fn with_addresses(self, addresses: Vec<String>) -> Self {
        Self { addresses, ..self }
    }

    /// Disables the search service. Calls of it fail with this reason.
    #[must_use]
    pub fn without_search(self, reason: impl Into<String>) -> Self {
        Self { search: Err(reason.into()), ..self }
    }

    /// Sets the client for remote endpoints, which are restricted by the client's egress policy.
    #[must_use]
    pub fn with_endpoints(self, client: Arc<SparqlClient>) -> Self {
        Self { endpoints: Some(client), ..self }
    }

    /// Calls a remote endpoint.
    fn call_remote(
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
        let service_error = |error: RemoteError| service_error(&error, call.bindings.rows.len());
        let query = call.text();
        for row in client.select(call.service.as_ref(), &query, &options).map_err(service_error)? {
            let row = row.map_err(service_error)?;
            let values = call.variables.iter().map(|variable| row.get(variable).cloned()).collect();
            if rows(values).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls this store itself, once fewer than [`MAX_OWN_CALLS`] such calls are running.
    fn call_own(
        &self,
        queries: &Arc<QueryEngine>,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let enter = |calls: usize| (calls < MAX_OWN_CALLS).then_some(calls + 1);
        while self.own_calls.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).is_err() {
            if call.cancelled.is_cancelled() || Instant::now() >= call.deadline {
                return Err(ServiceError::Failed(format!(
                    "{}: timed out while other queries of this server call the same service; try again later",
                    call.service
                )));
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _call = OwnCall(&self.own_calls);
        evaluate_own(queries, &self.limits, call, rows)
    }

    /// Returns this home's query engine if the IRI of a service denotes its endpoint.
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
            Some(queries) => self.call_own(&queries, call, rows),
            None => match &self.endpoints {
                Some(client) => self.call_remote(client, call, rows),
                None => {
                    Err(ServiceError::Refused(format!("{}: calls of remote endpoints are disabled here", call.service)))
                }
            },
        }
    }

    fn needs(&self, service: &NamedNode, pattern: &GraphPattern) -> Vec<Variable> {
        if self.search.is_ok() && self.is_search(service) { SearchService::needs(pattern) } else { Vec::new() }
    }

    fn is_bounded(&self, service: &NamedNode, pattern: &GraphPattern) -> bool {
        self.is_search(service) && SearchService::is_bounded(pattern)
    }

    fn of_property(&self, property: &NamedNode) -> Option<NamedNode> {
        SearchService::has_property(property).then(|| NamedNode::new_unchecked(search::SERVICE))
    }
}

/// Classifies the failure of a remote endpoint. Endpoints report in many ways that a query is too long.
fn service_error(error: &RemoteError, bindings: usize) -> ServiceError {
    let reason = error.to_string();
    match error.kind() {
        FailureKind::Refused => ServiceError::Refused(reason),
        FailureKind::RequestTooLarge => ServiceError::TooLarge(reason),
        FailureKind::Rejected | FailureKind::Status if bindings >= MIN_TOO_LARGE => ServiceError::TooLarge(reason),
        _ => ServiceError::Failed(reason),
    }
}

/// Evaluates a call in this process, without an HTTP request. The query needs a permit of its own.
fn evaluate_own(
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
        return Err(ServiceError::Failed(format!("{}: the result has more than {} rows", call.service, limits.rows)));
    }
    let mut columns = Vec::with_capacity(call.variables.len());
    for requested in call.variables {
        columns.push(variables.iter().position(|variable| variable == requested));
    }
    for row in found {
        let values = columns.iter().map(|column| row[(*column)?].clone()).collect();
        if rows(values).is_break() {
            break;
        }
    }
    Ok(())
}
