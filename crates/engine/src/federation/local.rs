//! Requests of services, answered in this process: searches, queries of this store, and requests to remote endpoints.

use super::POLL_INTERVAL;
use crate::Searcher;
use crate::service::SearchService;
use lodeseek_net::egress::Cancellation as RequestCancellation;
use lodeseek_net::sparql_client::{
    CallOptions, FailureKind, ParseOutcome, RelayedBody, RemoteError, SparqlClient,
};
use lodeseek_sparql::{
    Cancellation, Head, QueryEngine, QueryRequest, ServiceCall, ServiceError, ServiceRow,
    SparqlError, SparqlLimits,
};
use oxrdf::{NamedNode, Term, Triple, Variable};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of concurrent calls of this store by itself.
const MAX_OWN_CALLS: usize = 2;
/// Minimum number of bindings in a rejected request for which the size counts as the cause of the rejection.
const MIN_TOO_LARGE: usize = 100;

/// Opens an index, or returns the reason for which it cannot be opened.
type OpenIndex = dyn Fn() -> Result<Arc<Searcher>, String> + Send + Sync;

/// Sources of the services of a home: index, query engine and client.
pub(super) struct LocalRequests {
    /// The search service, or the reason for which there is none.
    search: OnceLock<Result<SearchService, String>>,
    /// Opens the index for the first search.
    open_index: Option<Box<OpenIndex>>,
    /// This home's query engine. Weak, so that cancelled queries do not keep the store open.
    own: Weak<QueryEngine>,
    limits: SparqlLimits,
    /// Number of running calls of this store by itself. They need query permits, so their number is limited.
    own_calls: AtomicUsize,
    endpoints: Option<Arc<SparqlClient>>,
}

/// A running call of this store by itself. Dropping it ends the call.
struct OwnCall<'f>(&'f AtomicUsize);

impl Drop for OwnCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A `SELECT` for a service.
pub(super) struct SelectRequest<'r> {
    pub(super) service: &'r NamedNode,
    pub(super) query: &'r str,
    /// Variables of a row, in this order.
    pub(super) variables: &'r [Variable],
    /// Number of bindings in the query.
    pub(super) bindings: usize,
    pub(super) deadline: Instant,
    pub(super) is_cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl LocalRequests {
    pub(super) fn new(queries: &Arc<QueryEngine>, limits: SparqlLimits) -> Self {
        Self {
            search: OnceLock::new(),
            open_index: None,
            own: Arc::downgrade(queries),
            limits,
            own_calls: AtomicUsize::new(0),
            endpoints: None,
        }
    }

    pub(super) fn with_search(self, searcher: Arc<Searcher>) -> Self {
        let service = self.service(searcher);
        Self {
            search: OnceLock::from(service),
            ..self
        }
    }

    pub(super) fn with_search_on_demand(self, open: Box<OpenIndex>) -> Self {
        Self {
            open_index: Some(open),
            ..self
        }
    }

    fn service(&self, searcher: Arc<Searcher>) -> Result<SearchService, String> {
        match self.own.upgrade() {
            Some(queries) => Ok(SearchService::new(searcher, Arc::clone(queries.store()))),
            None => Err("the home is closed".to_owned()),
        }
    }

    fn open_search(&self) -> Result<SearchService, String> {
        match &self.open_index {
            Some(open) => self.service(open()?),
            None => Err("there is no index to search; run `lodeseek index`".to_owned()),
        }
    }

    pub(super) fn with_endpoints(self, client: Arc<SparqlClient>) -> Self {
        Self {
            endpoints: Some(client),
            ..self
        }
    }

    /// Executes a search with some parameters and returns its hits as triples.
    pub(super) fn search(
        &self,
        parameters: &[(&str, Term)],
        has_passed: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Triple>, ServiceError> {
        let search = self
            .search
            .get_or_init(|| self.open_search())
            .as_ref()
            .map_err(|reason| ServiceError::Failed(reason.clone()))?;
        search.triples(parameters, has_passed)
    }

    /// Calls this store itself, or a remote endpoint.
    pub(super) fn select(
        &self,
        call: &ServiceCall<'_>,
        is_own: bool,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let request = SelectRequest {
            service: call.service,
            query: &call.text(),
            variables: call.variables,
            bindings: call.bindings.size(),
            deadline: call.deadline,
            is_cancelled: call.cancellation(),
        };
        match self.own.upgrade().filter(|_| is_own) {
            Some(queries) => self.call_own(&queries, &request, rows),
            None => self.call_remote(&request, rows),
        }
    }

    fn client(&self, service: &NamedNode) -> Result<&SparqlClient, ServiceError> {
        self.endpoints.as_deref().ok_or_else(|| {
            ServiceError::Refused(format!(
                "{service}: calls of remote endpoints are disabled here"
            ))
        })
    }

    fn options(&self, request: &SelectRequest<'_>) -> CallOptions {
        let is_cancelled = Arc::clone(&request.is_cancelled);
        CallOptions {
            time: request.deadline.saturating_duration_since(Instant::now()),
            rows: self.limits.service_rows as u64,
            cancellation: RequestCancellation::from_fn(move || is_cancelled()),
            ..CallOptions::default()
        }
    }

    /// Calls a remote endpoint.
    fn call_remote(
        &self,
        request: &SelectRequest<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let client = self.client(request.service)?;
        let found = client
            .select(
                request.service.as_ref(),
                request.query,
                &self.options(request),
            )
            .map_err(|error| service_error(&error, request))?;
        for row in found {
            let row = row.map_err(|error| service_error(&error, request))?;
            let values = request
                .variables
                .iter()
                .map(|variable| row.get(variable).cloned())
                .collect();
            if rows(values).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls a remote endpoint, whose response another process parses.
    pub(super) fn relay(
        &self,
        request: &SelectRequest<'_>,
        parse: &mut dyn FnMut(&mut RelayedBody) -> ParseOutcome,
    ) -> Result<(), ServiceError> {
        let client = self.client(request.service)?;
        let relayed = client.relay(
            request.service.as_ref(),
            request.query,
            &self.options(request),
            parse,
        );
        relayed.map_err(|error| service_error(&error, request))
    }

    /// Returns the time that a request of a worker has.
    pub(super) fn limit_time(&self, requested: Duration) -> Duration {
        requested.min(self.limits.deadline)
    }

    /// Returns this home's query engine, while the home is open.
    pub(super) fn own(&self) -> Option<Arc<QueryEngine>> {
        self.own.upgrade()
    }

    /// Calls this store itself, once fewer than [`MAX_OWN_CALLS`] such calls are running.
    pub(super) fn call_own(
        &self,
        queries: &Arc<QueryEngine>,
        request: &SelectRequest<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        while self
            .own_calls
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |calls| {
                (calls < MAX_OWN_CALLS).then_some(calls + 1)
            })
            .is_err()
        {
            if (request.is_cancelled)() || Instant::now() >= request.deadline {
                return Err(ServiceError::Failed(format!(
                    "{}: timed out while other queries of this server call the same service; try again later",
                    request.service
                )));
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _call = OwnCall(&self.own_calls);
        evaluate_own(queries, &self.limits, request, rows)
    }
}

/// Returns true if a query may have triple terms or base directions. A string with such marks counts too.
fn has_rdf_12(query: &str) -> bool {
    ["<<(", "--ltr", "--rtl"]
        .iter()
        .any(|mark| query.contains(mark))
}

/// Classifies the failure of a remote endpoint. Endpoints report in many ways that a query is too long.
fn service_error(error: &RemoteError, request: &SelectRequest<'_>) -> ServiceError {
    let mut reason = error.to_string();
    if matches!(error.kind(), FailureKind::Rejected | FailureKind::Status)
        && has_rdf_12(request.query)
    {
        reason
            .push_str("; the query has triple terms or base directions (RDF 1.2), which the endpoint may not support");
    }
    match error.kind() {
        FailureKind::Refused => ServiceError::Refused(reason),
        FailureKind::RequestTooLarge => ServiceError::TooLarge(reason),
        FailureKind::Rejected | FailureKind::Status if request.bindings >= MIN_TOO_LARGE => {
            ServiceError::TooLarge(reason)
        }
        _ => ServiceError::Failed(reason),
    }
}

/// Evaluates a call of this store, without an HTTP request. The query needs a permit of its own. Its rows are passed on one by one:
/// with worker processes, this process does not hold all of them.
fn evaluate_own(
    queries: &Arc<QueryEngine>,
    limits: &SparqlLimits,
    request: &SelectRequest<'_>,
    rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
) -> Result<(), ServiceError> {
    let deadline = request.deadline.saturating_duration_since(Instant::now());
    let limits = SparqlLimits {
        deadline,
        rows: limits.service_rows,
        // The text contains bindings: it may be longer than the query of the user, whose length was checked.
        query_bytes: usize::MAX,
        ..limits.clone()
    };
    let query = QueryRequest {
        query: request.query.to_owned(),
        is_part: true,
        ..QueryRequest::default()
    };
    let outcome: Result<bool, SparqlError> =
        run_cancellable(&request.is_cancelled, |cancellation| {
            let mut answer = queries.stream(&query, &limits, cancellation)?;
            let columns = find_columns(answer.head(), request.variables);
            while let Some(row) = answer.next_row() {
                let row = row?;
                let values = columns
                    .iter()
                    .map(|column| row.get((*column)?)?.clone())
                    .collect();
                if rows(values).is_break() {
                    return Ok(false);
                }
            }
            Ok(answer.is_truncated())
        });
    let truncated = outcome.map_err(|error| match error {
        SparqlError::Refused(reason) => ServiceError::Refused(reason),
        SparqlError::TooLarge(reason) => ServiceError::TooLarge(reason),
        other => ServiceError::Failed(other.to_string()),
    })?;
    if truncated {
        return Err(ServiceError::Failed(format!(
            "{}: the result has more than {} rows or {} MB",
            request.service, limits.rows, limits.answer_megabytes
        )));
    }
    Ok(())
}

/// Returns the index of each variable among the columns of an answer.
fn find_columns(head: &Head, variables: &[Variable]) -> Vec<Option<usize>> {
    let Head::Solutions(found) = head else {
        return vec![None; variables.len()];
    };
    variables
        .iter()
        .map(|variable| found.iter().position(|column| column == variable))
        .collect()
}

/// Evaluates with a cancellation that follows a condition.
fn run_cancellable<T>(
    is_cancelled: &Arc<dyn Fn() -> bool + Send + Sync>,
    evaluate: impl FnOnce(&Cancellation) -> T,
) -> T {
    let cancellation = Cancellation::default();
    thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        let watched = cancellation.clone();
        scope.spawn(move || {
            while ended.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if is_cancelled() {
                    watched.cancel();
                }
            }
        });
        let outcome = evaluate(&cancellation);
        // Dropping the sender ends the watching thread at once, not after its interval.
        drop(running);
        outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::Iris;
    use lodeseek_store::Store;
    use oxrdf::Quad;

    /// Calls a store with 100 triples in its graph `catalog`, and passes the rows on until `stop` have arrived.
    /// Returns the outcome and the rows.
    fn call(
        pattern: &str,
        limits: SparqlLimits,
        stop: usize,
    ) -> (Result<(), ServiceError>, Vec<ServiceRow>) {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(folder.path(), iris).expect("a store");
        let node = |number: usize| NamedNode::new_unchecked(format!("x:{number}"));
        for number in 0..100 {
            let quad = Quad::new(
                node(number),
                node(0),
                node(number + 1),
                store.iris().catalog(),
            );
            store.oxigraph().insert(&quad).expect("inserted");
        }
        let queries = QueryEngine::new(Arc::new(store));
        let variables = ["b", "missing", "a"].map(Variable::new_unchecked);
        let request = SelectRequest {
            service: &NamedNode::new_unchecked("http://localhost:7878/sparql"),
            query: &format!("SELECT ?a ?b {{ GRAPH <catalog> {{ {pattern} }} }}"),
            variables: &variables,
            bindings: 1,
            deadline: Instant::now() + limits.deadline,
            is_cancelled: Arc::new(|| false),
        };
        let mut received = Vec::new();
        let outcome = evaluate_own(&queries, &limits, &request, &mut |row| {
            received.push(row);
            if received.len() == stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        (outcome, received)
    }

    #[test]
    fn rows_of_this_store_are_passed_on_before_the_end_of_the_answer() {
        let limits = SparqlLimits {
            service_rows: 10,
            ..SparqlLimits::default()
        };
        let (outcome, rows) = call("?a ?p ?b", limits, 3);
        assert_eq!((outcome, rows.len()), (Ok(()), 3));
    }

    #[test]
    fn a_truncated_answer_of_this_store_is_an_error() {
        let limits = SparqlLimits {
            service_rows: 99,
            ..SparqlLimits::default()
        };
        let (outcome, rows) = call("?a ?p ?b", limits, usize::MAX);
        assert!(outcome.is_err_and(|error| error.to_string().contains("more than 99 rows")));
        assert_eq!(rows.len(), 99);
    }

    #[test]
    fn rows_have_the_requested_variables() {
        let (outcome, rows) = call(
            "?a ?p ?b FILTER(?a = <x:1>)",
            SparqlLimits::default(),
            usize::MAX,
        );
        let node = |iri: &str| Some(Term::from(NamedNode::new_unchecked(iri)));
        assert_eq!(
            (outcome, rows),
            (Ok(()), vec![vec![node("x:2"), None, node("x:1")]])
        );
    }
}
