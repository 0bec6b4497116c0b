//! `SERVICE`: patterns evaluated by other endpoints, joined with local solutions.
//! <https://www.w3.org/TR/sparql11-federated-query/>
//!
//! Before a query is evaluated, each `SERVICE` in it is resolved ([`plan`]). The pattern joined with it restricts the
//! values of its variables, so only those are requested, in blocks of `VALUES` (bound join, [`service_rows`]). The rows
//! received replace the clause, and Oxigraph evaluates the whole query. No rule of SPARQL is implemented twice; this
//! module decides *which rows are requested* and proves that the others cannot matter.
//!
//! *When may a binding be passed on?* If the service's solutions are joined with solutions of the context and both bind
//! the variable in every solution: a row of the service with another value joins nothing. Under `OPTIONAL` and on the
//! right of `MINUS` only the left side is such a context. A sub-select with `LIMIT` or with aggregates ends the
//! context: there every row counts, joined or not.
//!
//! *Blank nodes.* A local blank node and one in an answer are never the same (SPARQL 1.1 Federated Query, 3). Rows of
//! the context in which a shared variable is a blank node are not requested: they join nothing.

mod service_rows;
mod plan;
mod serialize;
mod solve;

pub(super) use plan::{Reader, expand, resolve, services_of};
pub(super) use service_rows::ServiceRows;
pub use solve::triple_patterns;

use lodeseek_worker::{Call, Calls};
use oxigraph::sparql::CancellationToken;
use oxrdf::{NamedNode, Term, Variable};
use serde::{Deserialize, Serialize};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// One value a variable, in the order of [`ServiceCall::variables`].
pub type ServiceRow = Vec<Option<Term>>;

/// Values that variables have where the answer of a service is joined: of each row, all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bindings {
    /// The variables.
    pub variables: Vec<Variable>,
    /// The rows, each different. One empty row without variables: whatever the service has.
    pub rows: Vec<Vec<GroundTerm>>,
}

impl Bindings {
    /// Nothing is known: every row of the service is wanted.
    #[must_use]
    pub fn unrestricted() -> Self {
        Self { variables: Vec::new(), rows: vec![Vec::new()] }
    }
}

/// A pattern for a service, and for which bindings.
#[derive(Clone, Copy)]
pub struct ServiceCall<'c> {
    /// Name of the service.
    pub service: &'c NamedNode,
    /// Pattern to evaluate.
    pub pattern: &'c GraphPattern,
    /// The variables of the answer.
    pub variables: &'c [Variable],
    /// Rows that join none of these may be left out.
    pub bindings: &'c Bindings,
    /// Rows of which any so many will do, where not all are wanted.
    pub most: Option<usize>,
    /// When the answer is no longer wanted.
    pub deadline: Instant,
    /// Set once nobody waits any more.
    pub cancelled: &'c CancellationToken,
}

impl ServiceCall<'_> {
    /// Returns a check for whether nobody waits any more, for other threads.
    #[must_use]
    pub fn cancellation(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let cancelled = self.cancelled.clone();
        Arc::new(move || cancelled.is_cancelled())
    }

    /// Returns the pattern with its bindings as `VALUES` and its row limit. The bindings go below filters, beside the
    /// pattern that they restrict: every solution of the pattern binds their variables.
    fn restricted(&self) -> GraphPattern {
        let mut pattern = self.pattern.clone();
        if !self.bindings.variables.is_empty() {
            let rows = self.bindings.rows.iter().map(|row| row.iter().cloned().map(Some).collect()).collect();
            let values = GraphPattern::Values { variables: self.bindings.variables.clone(), bindings: rows };
            let mut place = &mut pattern;
            while let GraphPattern::Filter { inner, .. } = place {
                place = inner;
            }
            let inner = std::mem::replace(place, GraphPattern::Bgp { patterns: Vec::new() });
            *place = GraphPattern::Join { left: Box::new(values), right: Box::new(inner) };
        }
        if self.most.is_some() {
            let inner =
                Box::new(GraphPattern::Project { inner: Box::new(pattern), variables: self.variables.to_vec() });
            pattern = GraphPattern::Slice { inner, start: 0, length: self.most };
        }
        pattern
    }

    /// The call as a `SELECT`.
    #[must_use]
    pub fn query(&self) -> Query {
        let pattern = GraphPattern::Project { inner: Box::new(self.restricted()), variables: self.variables.to_vec() };
        Query::Select { dataset: None, pattern, base_iri: None }
    }

    /// The call as the text of a `SELECT`, as it goes to others.
    #[must_use]
    pub fn text(&self) -> String {
        serialize::select(self.variables, &self.restricted())
    }
}

/// Why a service gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ServiceError {
    /// Requests to the service are forbidden.
    #[error("{0}")]
    Refused(String),
    /// The request is impossible; the query is at fault.
    #[error("{0}")]
    Wrong(String),
    /// The request is too large; a smaller block may succeed.
    #[error("{0}")]
    TooLarge(String),
    /// It cannot be reached, or answers with an error or with nonsense.
    #[error("{0}")]
    Failed(String),
}

/// Evaluators of `SERVICE` clauses.
pub trait Services: Send + Sync + fmt::Debug {
    /// Calls a service and passes each row to `rows` until that breaks. Rows that join none of the bindings may be
    /// among them.
    fn call(
        &self,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError>;

    /// Returns the variables without which a service cannot answer a pattern. Rows of the context that leave one of
    /// them unbound are not requested.
    fn needs(&self, _service: &NamedNode, _pattern: &GraphPattern) -> Vec<Variable> {
        Vec::new()
    }

    /// Returns true if a service returns at most a thousand rows for a pattern, at a cost that it bounds.
    fn is_bounded(&self, _service: &NamedNode, _pattern: &GraphPattern) -> bool {
        false
    }

    /// Returns the settings from which a worker process creates services that call back ([`WorkerServices`]). `None`: queries with
    /// these services are evaluated in this process.
    fn worker_settings(&self) -> Option<String> {
        None
    }

    /// Answers a call of the services in a worker process: what needs the network, the index, or this process.
    fn answer(&self, _request: &[u8], _call: &Call) {}

    /// The service that gives a property its values where it stands in a pattern outside of any `SERVICE`.
    fn of_property(&self, _property: &NamedNode) -> Option<NamedNode> {
        None
    }
}

/// Creates the services of a query in a worker process, from the settings of [`Services::worker_settings`]. Their calls are answered
/// by [`Services::answer`] in the parent process.
pub type WorkerServices = fn(&str, Calls) -> io::Result<Arc<dyn Services>>;

/// Nobody: every `SERVICE` is refused.
#[derive(Debug)]
pub(super) struct NoServices;

impl Services for NoServices {
    fn call(
        &self,
        call: &ServiceCall<'_>,
        _: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        Err(ServiceError::Refused(format!("{}: SERVICE is disabled here", call.service)))
    }
}
