//! Evaluation of a call over a small graph, for services that compute their answer as a graph.

use super::super::functions;
use super::{ServiceCall, ServiceError, ServiceRow};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxrdf::{Dataset, GraphName, Triple};
use spargebra::algebra::GraphPattern;
use spargebra::term::TriplePattern;
use std::ops::ControlFlow;

impl<'c> ServiceCall<'c> {
    /// Returns every triple pattern of a pattern, at any depth, except those for other services.
    #[must_use]
    pub fn triple_patterns(&self) -> Vec<&'c TriplePattern> {
        triple_patterns(self.pattern)
    }

    /// Evaluates the call over a graph of these triples.
    pub fn solve(
        &self,
        triples: impl IntoIterator<Item = Triple>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ServiceError> {
        let graph: Dataset = triples
            .into_iter()
            .map(|triple| triple.in_graph(GraphName::DefaultGraph))
            .collect();
        let evaluator = SparqlEvaluator::new().with_cancellation_token(self.cancelled.clone());
        let mut query = self.query();
        let functions = functions::replace_calls(&mut query);
        let results = functions
            .register(evaluator)
            .for_query(query)
            .on_queryable_dataset(&graph)
            .execute();
        let results = results.map_err(|error| ServiceError::Failed(error.to_string()))?;
        let QueryResults::Solutions(solutions) = results else {
            return Ok(ControlFlow::Continue(()));
        };
        for solution in solutions {
            let solution = solution.map_err(|error| ServiceError::Failed(error.to_string()))?;
            if rows(
                self.variables
                    .iter()
                    .map(|variable| solution.get(variable).cloned())
                    .collect(),
            )
            .is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Returns every triple pattern inside a pattern, except those for other services.
#[must_use]
pub fn triple_patterns(pattern: &GraphPattern) -> Vec<&TriplePattern> {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.iter().collect(),
        GraphPattern::Service { .. } => Vec::new(),
        other => super::super::algebra::child_patterns(other)
            .into_iter()
            .flat_map(triple_patterns)
            .collect(),
    }
}
