//! Statistics first: counts and listings over one triple pattern of a parsed query are read from statistics.
//!
//! These forms are recognised outside `GRAPH`, `SERVICE` and `EXISTS`:
//!
//! - `COUNT`s over one pattern, grouped or not, by property, by class or by graph;
//! - `SELECT DISTINCT` of properties, classes and graphs of one pattern;
//! - `ASK` of one pattern in `GRAPH ?g`.
//!
//! The pattern becomes a table (`VALUES`) of its properties, classes and graphs, with a column for each number; its
//! counts become sums over those columns. Filters on the table, `HAVING`, order, limit and names are unchanged and
//! evaluated as usual. A query with a number that is not known exactly is left unchanged.
//!
//! *Costs of the first query.* The counts of datasets are small files, read once per opened store. The metadata is
//! counted by a scan, some microseconds a triple, again after every change: when a query covers all graphs, or covers
//! the metadata for the second time. Until then such queries are evaluated.
//!
//! *Several graphs as the default graph.* They are answered from statistics if no triple can be in two of them. Otherwise Oxigraph
//! returns such a triple twice. Oxigraph then also computes the count, so that it equals the number of rows.

mod pattern;
mod table;

use super::QueryEngine;
use super::algebra::each_child;
use super::graphs::{Graphs, Visible};
use super::limits::{SparqlLimits, Statistics};
use lodeseek_rdf::vocab::lodeseek;
use lodeseek_store::StoreError;
use oxigraph::sparql::SparqlEvaluator;
use oxrdf::{BlankNode, NamedNode, Term, Variable};
use pattern::{Active, OnePattern, Rows, rows_of, variables_of};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, AggregateFunction, Expression, GraphPattern};
use std::collections::BTreeSet;
use table::{Column, Table};

/// Rewrites the parts of a query that statistics answer. `visible` are the graphs of the query.
pub(super) fn answer_first(
    engine: &QueryEngine,
    graphs: &Graphs,
    query: &mut Query,
    visible: &Visible,
    limits: &SparqlLimits,
) -> Result<(), StoreError> {
    if limits.statistics == Statistics::Never {
        return Ok(());
    }
    let scope = Scope {
        engine,
        graphs,
        default: &visible.default,
        named: &visible.named,
    };
    match query {
        Query::Ask { pattern, .. } => match scope.answer_ask(pattern)? {
            Some(answer) => *pattern = answer,
            None => scope.rewrite(pattern)?,
        },
        Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. } => {
            scope.rewrite(pattern)?;
        }
    }
    Ok(())
}

/// Adds the function that rewritten queries call: it creates blank nodes, which `VALUES` cannot contain, from their labels.
pub(super) fn with_functions(evaluator: SparqlEvaluator) -> SparqlEvaluator {
    evaluator.with_custom_function(
        NamedNode::new_unchecked(lodeseek::BLANK_NODE),
        |arguments: &[Term]| match arguments {
            [Term::Literal(label)] => BlankNode::new(label.value()).ok().map(Term::from),
            _ => None,
        },
    )
}

/// Graphs visible to a query.
struct Scope<'q> {
    engine: &'q QueryEngine,
    graphs: &'q Graphs,
    default: &'q [NamedNode],
    named: &'q [NamedNode],
}

impl Scope<'_> {
    fn rewrite(&self, pattern: &mut GraphPattern) -> Result<(), StoreError> {
        let answer = match pattern {
            GraphPattern::Group { .. } => self.rewrite_group(pattern)?,
            GraphPattern::Distinct { .. } | GraphPattern::Reduced { .. } => {
                self.rewrite_distinct(pattern)?
            }
            _ => None,
        };
        if let Some(answer) = answer {
            *pattern = answer;
            return Ok(());
        }
        // `GRAPH` changes the active graph, and `SERVICE` is evaluated elsewhere.
        let mut done = Ok(());
        if !matches!(
            pattern,
            GraphPattern::Graph { .. } | GraphPattern::Service { .. }
        ) {
            each_child(pattern, &mut |inner| {
                if done.is_ok() {
                    done = self.rewrite(inner);
                }
            });
        }
        done
    }

    /// Rewrites `SELECT DISTINCT` of properties, classes or graphs: a table replaces the pattern.
    fn rewrite_distinct(&self, pattern: &GraphPattern) -> Result<Option<GraphPattern>, StoreError> {
        let (GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner }) = pattern else {
            return Ok(None);
        };
        let GraphPattern::Project { inner, variables } = inner.as_ref() else {
            return Ok(None);
        };
        let mut used: BTreeSet<Variable> = variables.iter().cloned().collect();
        let Some(one) = variables_of(inner, &mut used).and_then(OnePattern::from_pattern) else {
            return Ok(None);
        };
        let Some(keys) = one.key_variables(&used) else {
            return Ok(None);
        };
        let Some(rows) = rows_of(self, &one, &keys, Rows::Listed)? else {
            return Ok(None);
        };
        let table = Table::from_rows(
            &self.engine.statistics.terms(),
            &one,
            &keys,
            &rows,
            &BTreeSet::new(),
        );
        Ok(table.map(|table| {
            let mut answer = pattern.clone();
            *innermost_pattern(&mut answer) = table.into_pattern();
            answer
        }))
    }

    /// Rewrites counts as sums over the columns of a table.
    fn rewrite_group(&self, pattern: &GraphPattern) -> Result<Option<GraphPattern>, StoreError> {
        let GraphPattern::Group {
            inner,
            variables,
            aggregates,
        } = pattern
        else {
            return Ok(None);
        };
        let mut used: BTreeSet<Variable> = variables.iter().cloned().collect();
        let Some(one) = variables_of(inner, &mut used).and_then(OnePattern::from_pattern) else {
            return Ok(None);
        };
        let counted: BTreeSet<Variable> = aggregates
            .iter()
            .filter_map(|(_, aggregate)| distinct_variable(aggregate))
            .cloned()
            .collect();
        // A column has the number of distinct values of a variable if each group is one row. Otherwise the rows are counted.
        for listed in [BTreeSet::new(), counted] {
            let used: BTreeSet<Variable> = used.union(&listed).cloned().collect();
            let Some(keys) = one.key_variables(&used) else {
                continue;
            };
            let one_row = keys.iter().all(|key| variables.contains(key));
            let counts = aggregates
                .iter()
                .map(|(_, aggregate)| Count::from_aggregate(aggregate, &one, &keys, one_row));
            let Some(counts) = counts.collect::<Option<Vec<Count>>>() else {
                continue;
            };
            let Some(rows) = rows_of(self, &one, &keys, Rows::Counted)? else {
                return Ok(None);
            };
            let columns: BTreeSet<Column> =
                counts.iter().filter_map(|count| count.column).collect();
            let rows: Vec<_> = if variables.is_empty() || !keys.is_empty() {
                rows
            } else {
                rows.into_iter().filter(|row| row.triples > 0).collect() // no group without a row
            };
            let table = Table::from_rows(
                &self.engine.statistics.terms(),
                &one,
                &keys,
                &rows,
                &columns,
            );
            if let Some(table) = table {
                return Ok(Some(sum_over_table(pattern, table, &counts)));
            }
        }
        Ok(None)
    }

    /// Rewrites `ASK { GRAPH ?g { one pattern } }`: counts answer it for datasets, patterns for the graphs of metadata.
    fn answer_ask(&self, pattern: &GraphPattern) -> Result<Option<GraphPattern>, StoreError> {
        let inner = match pattern {
            GraphPattern::Project { inner, .. } => inner,
            other => other,
        };
        let Some(one) = OnePattern::from_pattern(inner) else {
            return Ok(None);
        };
        let Active::Each(_) = one.active else {
            return Ok(None);
        };
        for graph in self.named {
            if let Some(known) =
                self.engine
                    .statistics
                    .content(&self.engine.store, self.graphs, graph)?
                && one.count_triples(&known, &self.engine.statistics.terms()) > 0
            {
                return Ok(Some(GraphPattern::Values {
                    variables: Vec::new(),
                    bindings: vec![Vec::new()],
                }));
            }
        }
        let metadata = self
            .named
            .iter()
            .filter(|graph| self.graphs.metadata().contains(graph));
        let nothing = GraphPattern::Values {
            variables: Vec::new(),
            bindings: Vec::new(),
        };
        Ok(Some(metadata.fold(nothing, |left, graph| {
            GraphPattern::Union {
                left: Box::new(left),
                right: Box::new(one.within(graph)),
            }
        })))
    }
}

/// Returns the pattern under filters, extensions, order and projection.
fn innermost_pattern(pattern: &mut GraphPattern) -> &mut GraphPattern {
    match pattern {
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Group { inner, .. } => innermost_pattern(inner),
        pattern => pattern,
    }
}

fn distinct_variable(aggregate: &AggregateExpression) -> Option<&Variable> {
    match aggregate {
        AggregateExpression::FunctionCall {
            expr: Expression::Variable(variable),
            distinct: true,
            ..
        } => Some(variable),
        _ => None,
    }
}

/// Computation of a count from the table: the sum of a column, or the original count if there is no column.
struct Count {
    column: Option<Column>,
}

impl Count {
    fn sum(column: Column) -> Self {
        Self {
            column: Some(column),
        }
    }

    fn from_aggregate(
        aggregate: &AggregateExpression,
        one: &OnePattern,
        keys: &[Variable],
        one_row: bool,
    ) -> Option<Self> {
        match aggregate {
            AggregateExpression::CountSolutions { distinct: false } => {
                Some(Self::sum(Column::Triples))
            }
            AggregateExpression::CountSolutions { distinct: true } => {
                one.is_all_named().then_some(Self::sum(Column::Triples))
            }
            AggregateExpression::FunctionCall {
                name: AggregateFunction::Count,
                expr,
                distinct,
            } => match expr {
                Expression::Variable(variable) if !distinct => one
                    .has_variable(variable)
                    .then_some(Self::sum(Column::Triples)),
                // Without a match, a variable that is bound to a constant must not be counted: evaluation decides.
                Expression::Variable(variable) if keys.contains(variable) => {
                    Some(Self { column: None })
                }
                Expression::Variable(variable) if one_row => {
                    Some(Self::sum(one.distinct_column(variable)?))
                }
                _ => None,
            },
            AggregateExpression::FunctionCall { .. } => None,
        }
    }
}

/// Replaces the pattern of a group by a table.
fn sum_over_table(pattern: &GraphPattern, table: Table, counts: &[Count]) -> GraphPattern {
    let mut answer = pattern.clone();
    if let GraphPattern::Group {
        inner, aggregates, ..
    } = &mut answer
    {
        *innermost_pattern(inner) = table.into_pattern();
        for ((_, aggregate), count) in aggregates.iter_mut().zip(counts) {
            if let Some(column) = count.column {
                *aggregate = AggregateExpression::FunctionCall {
                    name: AggregateFunction::Sum,
                    expr: Expression::Variable(column.variable()),
                    distinct: false,
                };
            }
        }
    }
    answer
}

#[cfg(test)]
mod tests;
