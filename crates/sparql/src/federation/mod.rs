//! `SERVICE`: patterns evaluated by other endpoints, joined with local solutions.
//! <https://www.w3.org/TR/sparql11-federated-query/>
//!
//! Before a query is evaluated, each `SERVICE` in it is resolved ([`plan`]). The pattern joined with it restricts the
//! values of its variables, so only those are requested, in blocks of `VALUES` (bound join, [`service_rows`]). The rows received
//! replace the clause, and Oxigraph evaluates the whole query. No rule of SPARQL is implemented twice. This module selects the
//! rows that are requested: the other rows cannot change the result.
//!
//! *Valid bindings.* A binding may be sent if the service's solutions are joined with solutions of the context and both bind the
//! variable in every solution: a row of the service with another value joins no solution. Values are sent in a form that each endpoint
//! compares alike ([`join_keys`]). Under `OPTIONAL` and on the right of
//! `MINUS` only the left side is such a context. A sub-select with `LIMIT` or with aggregates ends the context: there every row
//! counts, joined or not.
//!
//! *Blank nodes.* A local blank node and one in an answer are never the same (SPARQL 1.1 Federated Query, 3). Rows of
//! the context in which a shared variable is a blank node are not requested: they join no row.

mod conditions;
mod join_keys;
mod service_rows;
mod plan;
mod serialize;
mod solve;
#[cfg(test)]
mod tests;

pub(super) use plan::{Reader, expand, resolve, services_of};
pub(super) use service_rows::ServiceRows;
pub use solve::triple_patterns;

use lodeseek_worker::{Call, Calls};
use oxigraph::sparql::CancellationToken;
use oxrdf::{NamedNode, Term, Variable};
use serde::{Deserialize, Serialize};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::GroundTerm;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// One value for each variable, in the order of [`ServiceCall::variables`].
pub type ServiceRow = Vec<Option<Term>>;

/// Distinct bindings of shared variables, with which the rows of a service are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bindings {
    /// The variables.
    pub variables: Vec<Variable>,
    /// Distinct rows. One empty row without variables requests all rows of the service.
    pub rows: Vec<Vec<GroundTerm>>,
    /// Further conditions of the rows, over variables that the pattern binds.
    pub conditions: Vec<Expression>,
}

impl Bindings {
    /// Returns the bindings that every row of the service joins.
    #[must_use]
    pub fn unrestricted() -> Self {
        Self {
            variables: Vec::new(),
            rows: vec![Vec::new()],
            conditions: Vec::new(),
        }
    }

    /// Returns the number of rows and of values in conditions.
    #[must_use]
    pub fn size(&self) -> usize {
        let values = self.conditions.iter().map(|condition| match condition {
            Expression::In(_, values) => values.len(),
            _ => 1,
        });
        self.rows.len() + values.sum::<usize>()
    }
}

/// Call of a service: a pattern and its bindings.
#[derive(Clone, Copy)]
pub struct ServiceCall<'c> {
    /// Name of the service.
    pub service: &'c NamedNode,
    /// Pattern to evaluate.
    pub pattern: &'c GraphPattern,
    /// Variables of the answer.
    pub variables: &'c [Variable],
    /// Bindings with which the rows are joined. Rows that join none may be omitted.
    pub bindings: &'c Bindings,
    /// Maximum number of rows. Any rows may be returned.
    pub limit: Option<usize>,
    /// Time at which the call is cancelled.
    pub deadline: Instant,
    /// Set when the answer is no longer needed.
    pub cancelled: &'c CancellationToken,
}

impl ServiceCall<'_> {
    /// Returns a function for other threads that returns true after the call was cancelled.
    #[must_use]
    pub fn cancellation(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let cancelled = self.cancelled.clone();
        Arc::new(move || cancelled.is_cancelled())
    }

    /// Returns the pattern with its bindings as `VALUES` and filters, and its row limit. The bindings are joined below filters, with the
    /// pattern that they restrict: every solution of that pattern binds their variables.
    fn restricted_pattern(&self) -> GraphPattern {
        let mut pattern = self.pattern.clone();
        for condition in &self.bindings.conditions {
            pattern = GraphPattern::Filter {
                expr: condition.clone(),
                inner: Box::new(pattern),
            };
        }
        if !self.bindings.variables.is_empty() {
            let rows = self
                .bindings
                .rows
                .iter()
                .map(|row| row.iter().cloned().map(Some).collect())
                .collect();
            let values = GraphPattern::Values {
                variables: self.bindings.variables.clone(),
                bindings: rows,
            };
            let mut place = &mut pattern;
            while let GraphPattern::Filter { inner, .. } = place {
                place = inner;
            }
            let inner = std::mem::take(place);
            *place = GraphPattern::Join {
                left: Box::new(values),
                right: Box::new(inner),
            };
        }
        if self.limit.is_some() {
            let inner = Box::new(GraphPattern::Project {
                inner: Box::new(pattern),
                variables: self.variables.to_vec(),
            });
            pattern = GraphPattern::Slice {
                inner,
                start: 0,
                length: self.limit,
            };
        }
        pattern
    }

    /// Returns the call as a `SELECT` query.
    #[must_use]
    pub fn query(&self) -> Query {
        let pattern = GraphPattern::Project {
            inner: Box::new(self.restricted_pattern()),
            variables: self.variables.to_vec(),
        };
        Query::Select {
            dataset: None,
            pattern,
            base_iri: None,
        }
    }

    /// Returns the call as the text of a `SELECT` query, for other endpoints.
    #[must_use]
    pub fn text(&self) -> String {
        serialize::select(self.variables, &self.restricted_pattern())
    }
}

/// Errors of a service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ServiceError {
    /// Requests to the service are forbidden.
    #[error("{0}")]
    Refused(String),
    /// The query is wrong: no such request is possible.
    #[error("{0}")]
    Wrong(String),
    /// The request is too large; a smaller block may succeed.
    #[error("{0}")]
    TooLarge(String),
    /// The service cannot be reached, or returned an error or an invalid answer.
    #[error("{0}")]
    Failed(String),
}

/// Evaluators of `SERVICE` clauses.
pub trait Services: Send + Sync + fmt::Debug {
    /// Calls a service and passes each row to `rows` until it breaks. The rows may include some that join none of the bindings.
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

    /// Answers a call of the services in a worker process that needs the network, the index, or this process.
    fn answer(&self, _request: &[u8], _call: &Call) {}

    /// Returns the service that computes the values of a property in patterns outside of any `SERVICE`.
    fn of_property(&self, _property: &NamedNode) -> Option<NamedNode> {
        None
    }
}

/// Creates the services of a query in a worker process, from the settings of [`Services::worker_settings`]. Their calls are answered
/// by [`Services::answer`] in the parent process.
pub type WorkerServices = fn(&str, Calls) -> io::Result<Arc<dyn Services>>;

/// Services of a request without any: every `SERVICE` is rejected.
#[derive(Debug)]
pub(super) struct NoServices;

impl Services for NoServices {
    fn call(
        &self,
        call: &ServiceCall<'_>,
        _: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        Err(ServiceError::Refused(format!(
            "{}: SERVICE is disabled here",
            call.service
        )))
    }
}
