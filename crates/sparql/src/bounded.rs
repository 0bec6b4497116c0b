//! Queries whose cost is bounded before they run: they are evaluated in this process, with permits of their own.
//!
//! A bounded query has one of these forms, with projection, aliases, `UNION` and `LIMIT`:
//!
//! - *Tables*: rows written in the query or computed from statistics, at most [`MAX_TABLE_ROWS`]. Filters, joins, groups and orders of
//!   tables are tables. A call of a service that bounds its answer is a table, too.
//! - *Streams*: one triple pattern. Each row that is read is a row of the answer, so the limit of rows bounds the work. (In
//!   `GRAPH ?g`, rows of metadata are skipped.) A filter, an order, a group or a join of a stream is not bounded, nor is a
//!   `CONSTRUCT` whose template drops a variable.
//!
//! A call of a GeoSPARQL function, or of a pattern with backtracking, may take long for each row; queries with one are not bounded.
//!
//! All other queries count as expensive.

use super::algebra::{exists_patterns, expressions_of, is_constant, name_of, pattern_of};
use super::federation::Services;
use super::functions;
use super::geometry;
use super::limits::{SparqlLimits, count_comparisons};
use super::string_limits::{STRING_BYTES, growth_of};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// Maximum number of rows of a table.
const MAX_TABLE_ROWS: u64 = 100_000;
/// Maximum size of a table in bytes, estimated from its rows and the longest string of the expressions.
const MAX_TABLE_BYTES: f64 = 64e6;
/// Estimated minimum size of a row in bytes.
const MIN_ROW_BYTES: f64 = 100.0;
/// Maximum number of rows that a bounded service returns.
const MAX_SERVICE_ROWS: u64 = 1_000;
/// Maximum ratio of the length of a computed string to that of its inputs.
const MAX_GROWTH: f64 = 10.0;
/// Maximum number of comparisons for each row.
const MAX_COMPARISONS: usize = 100;

/// Cost of a pattern that is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    /// Maximum number of rows, which may be held in memory.
    Table(u64),
    /// Rows that are read one by one. Each is a row of the answer.
    Stream,
}

/// Returns true if the cost of a query with these services is bounded.
pub(super) fn is_bounded(query: &Query, services: &dyn Services, limits: &SparqlLimits) -> bool {
    let pattern = pattern_of(query);
    let growth = growth_of(pattern);
    if growth > MAX_GROWTH || count_comparisons(pattern) > MAX_COMPARISONS {
        return false;
    }
    // `GROUP_CONCAT` makes one string of all rows.
    let row_bytes = (growth * STRING_BYTES).max(MIN_ROW_BYTES);
    let table_rows = MAX_TABLE_ROWS.min((MAX_TABLE_BYTES / row_bytes) as u64);
    let bound = Analysis {
        services,
        rows: limits.rows,
        table_rows,
    }
    .bound_of(pattern);
    match query {
        // The number of triples of each resource is not bounded: the resources must be few.
        Query::Describe { .. } => matches!(bound, Some(Bound::Table(_))),
        // Repeated triples, and rows that make none, are not counted as rows of the answer.
        Query::Construct { template, .. } => match bound {
            Some(Bound::Stream) => makes_distinct_triples(template, pattern),
            bound => bound.is_some(),
        },
        Query::Select { .. } | Query::Ask { .. } => bound.is_some(),
    }
}

struct Analysis<'s> {
    services: &'s dyn Services,
    /// Limit of rows of the answer.
    rows: usize,
    /// Maximum number of rows of a table.
    table_rows: u64,
}

impl Analysis<'_> {
    fn bound_of(&self, pattern: &GraphPattern) -> Option<Bound> {
        if !exists_patterns(pattern).is_empty() {
            return None; // EXISTS
        }
        if expressions_of(pattern)
            .into_iter()
            .any(|one| geometry::is_called(one) || functions::may_backtrack(one))
        {
            return None;
        }
        let bound = match pattern {
            GraphPattern::Values { bindings, .. } => Bound::Table(bindings.len() as u64),
            GraphPattern::Bgp { patterns } => match patterns.as_slice() {
                [] => Bound::Table(1),
                [triple] if has_distinct_variables(triple) => Bound::Stream,
                _ => return None,
            },
            GraphPattern::Graph { name, inner } => match (self.bound_of(inner)?, name) {
                // The rows repeat for each graph.
                (Bound::Table(_), NamedNodePattern::Variable(_)) => return None,
                (bound, _) => bound,
            },
            GraphPattern::Extend { inner, .. } | GraphPattern::Project { inner, .. } => {
                self.bound_of(inner)?
            }
            GraphPattern::Slice { inner, start, .. } => match self.bound_of(inner)? {
                // The rows before the first one are read as well.
                Bound::Stream if *start > self.rows => return None,
                bound => bound,
            },
            GraphPattern::Filter { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Group { inner, .. } => Bound::Table(self.table_rows(inner)?),
            GraphPattern::Union { left, right } => {
                match (self.bound_of(left)?, self.bound_of(right)?) {
                    (Bound::Table(left), Bound::Table(right)) => {
                        Bound::Table(left.saturating_add(right))
                    }
                    _ => Bound::Stream,
                }
            }
            // A left join has the rows of its left side even if the right side has none.
            GraphPattern::Join { left, right }
            | GraphPattern::LeftJoin { left, right, .. }
            | GraphPattern::Minus { left, right } => Bound::Table(
                self.table_rows(left)?
                    .max(1)
                    .saturating_mul(self.table_rows(right)?.max(1)),
            ),
            GraphPattern::Service {
                name: NamedNodePattern::NamedNode(name),
                inner,
                ..
            } if self.services.is_bounded(name, inner) => Bound::Table(MAX_SERVICE_ROWS),
            _ => return None,
        };
        match bound {
            Bound::Table(rows) if rows > self.table_rows => None,
            bound => Some(bound),
        }
    }

    fn table_rows(&self, pattern: &GraphPattern) -> Option<u64> {
        match self.bound_of(pattern)? {
            Bound::Table(rows) => Some(rows),
            Bound::Stream => None,
        }
    }
}

/// Returns true if each row of a stream makes a triple of its own, but for the rows that parts of a `UNION` share: a triple of the
/// template has the variables of the pattern in their places.
fn makes_distinct_triples(template: &[TriplePattern], pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let [read] = patterns.as_slice() else {
                return patterns.is_empty();
            };
            template.iter().any(|made| has_variables_of(made, read))
        }
        GraphPattern::Extend { inner, .. }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Graph {
            name: NamedNodePattern::NamedNode(_),
            inner,
        } => makes_distinct_triples(template, inner),
        GraphPattern::Project { inner, variables } => {
            let made = template
                .iter()
                .filter(|made| {
                    names_of(made).into_iter().all(|name| {
                        name.is_none_or(|name| variables.iter().any(|one| one.to_string() == name))
                    })
                })
                .cloned();
            makes_distinct_triples(&made.collect::<Vec<_>>(), inner)
        }
        GraphPattern::Union { left, right } => {
            makes_distinct_triples(template, left) && makes_distinct_triples(template, right)
        }
        GraphPattern::Values { .. } => true,
        _ => false,
    }
}

/// Returns true if a triple of a template has each variable of a pattern in the same place, and constants elsewhere.
fn has_variables_of(made: &TriplePattern, read: &TriplePattern) -> bool {
    let fits_predicate = match &read.predicate {
        NamedNodePattern::Variable(_) => made.predicate == read.predicate,
        NamedNodePattern::NamedNode(_) => matches!(made.predicate, NamedNodePattern::NamedNode(_)),
    };
    has_variable_of(&made.subject, &read.subject)
        && fits_predicate
        && has_variable_of(&made.object, &read.object)
}

fn has_variable_of(made: &TermPattern, read: &TermPattern) -> bool {
    match read {
        TermPattern::Variable(_) => made == read,
        TermPattern::BlankNode(_) => false,
        _ => is_constant(made),
    }
}

/// Returns true if no variable occurs twice and none is in a triple term: such a pattern reads triples that match nothing.
fn has_distinct_variables(triple: &TriplePattern) -> bool {
    if [&triple.subject, &triple.object]
        .into_iter()
        .any(|term| matches!(term, TermPattern::Triple(_)) && !is_constant(term))
    {
        return false;
    }
    let [subject, predicate, object] = names_of(triple);
    let is_distinct_subject = subject.is_none() || (subject != predicate && subject != object);
    is_distinct_subject && (predicate.is_none() || predicate != object)
}

/// Returns the names of the variables and blank nodes of a pattern, by their place.
fn names_of(triple: &TriplePattern) -> [Option<String>; 3] {
    let predicate = match &triple.predicate {
        NamedNodePattern::Variable(variable) => Some(variable.to_string()),
        NamedNodePattern::NamedNode(_) => None,
    };
    [name_of(&triple.subject), predicate, name_of(&triple.object)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::federation::NoServices;
    use spargebra::SparqlParser;

    fn is_cheap(query: &str) -> bool {
        let query = SparqlParser::new()
            .parse_query(query)
            .unwrap_or_else(|error| panic!("{query}: {error}"));
        is_bounded(&query, &NoServices, &SparqlLimits::default())
    }

    #[test]
    fn lookups_and_tables_are_bounded() {
        for query in [
            "ASK {}",
            "ASK { ?s <x:p> ?o }",
            "ASK { ?x <x:p> _:x }",
            "SELECT * { ?s ?p ?o } LIMIT 10",
            "SELECT ?p (STR(?o) AS ?t) { GRAPH ?g { <x:s> ?p ?o } } OFFSET 5",
            "SELECT (REGEX(?o, '^a.*[b-d]', 'i') AS ?t) { GRAPH ?g { <x:s> ?p ?o } }",
            "SELECT * { { <x:s> ?p ?o } UNION { ?s ?p <x:s> } }",
            "SELECT (COUNT(*) AS ?n) { VALUES ?x { 1 2 3 } FILTER(?x > 1) }",
            "SELECT ?x { VALUES ?x { 1 2 3 } VALUES ?y { 1 2 3 } } ORDER BY ?x",
            "CONSTRUCT { ?s <x:q> ?o } WHERE { ?s <x:p> ?o }",
            "CONSTRUCT WHERE { ?s ?p ?o }",
            "CONSTRUCT { ?s <x:q> ?o } WHERE { { SELECT ?s ?o { ?s <x:p> ?o } } }",
            "DESCRIBE <x:s>",
        ] {
            assert!(is_cheap(query), "{query}");
        }
    }

    #[test]
    fn queries_that_read_more_than_they_return_are_not_bounded() {
        let comparisons = "?x = 1 || ".repeat(200);
        for query in [
            "SELECT * { ?s <x:p> ?o . ?o <x:q> ?z }",
            "SELECT * { ?s <x:p> ?o FILTER(CONTAINS(STR(?o), 'x')) }",
            "ASK { ?s <x:p> ?o FILTER(?o = 1) }",
            "SELECT * { ?s <x:p> ?s }",
            "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
            "SELECT DISTINCT ?s { ?s ?p ?o }",
            "SELECT * { ?s ?p ?o } ORDER BY ?o",
            "SELECT * { ?s ?p ?o } OFFSET 10000000",
            "SELECT (1 + <http://www.opengis.net/def/function/geosparql/area>(?o) AS ?area) { ?s ?p ?o }",
            r#"SELECT (REGEX(?o, "(a)\\\\1") AS ?x) { ?s ?p ?o }"#,
            r#"SELECT (REPLACE(?o, ?p, "x") AS ?x) { ?s ?p ?o }"#,
            r#"SELECT (STRLEN(REPLACE(?o, "^a", "x", "m")) AS ?x) { ?s ?p ?o }"#,
            "SELECT * { ?s <x:p>* ?o }",
            "SELECT * { ?s <x:p> ?o OPTIONAL { ?o <x:q> ?z } }",
            "SELECT * { VALUES ?s { <x:s> } ?s ?p ?o }",
            "SELECT * { VALUES ?s { <x:s> } FILTER EXISTS { ?s ?p ?o } }",
            "SELECT * { GRAPH ?g { VALUES ?s { <x:s> } } }",
            "SELECT * { SERVICE <http://e.org/> { ?s ?p ?o } }",
            "DESCRIBE ?s { ?s ?p ?o }",
            "SELECT REDUCED (1 AS ?x) { ?s ?p ?o }",
            "CONSTRUCT { <x:a> <x:b> <x:c> } WHERE { ?s ?p ?o }",
            "CONSTRUCT { ?s <x:p> ?unbound } WHERE { ?s ?p ?o }",
            "CONSTRUCT { ?s ?p <x:o> } WHERE { ?s ?p ?o }",
            "CONSTRUCT { ?o ?p ?s } WHERE { ?s ?p ?o }",
            "CONSTRUCT { ?s <x:q> ?o } WHERE { { SELECT ?s { ?s <x:p> ?o } } }",
            "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }",
            "CONSTRUCT { ?s <x:q> ?x } WHERE { ?s <x:p> <x:o> BIND(1 / 0 AS ?x) }",
            &format!("SELECT * {{ VALUES ?x {{ 1 }} FILTER({comparisons} ?x = 1) }}"),
            "SELECT (CONCAT(?o,?o,?o,?o,?o,?o,?o,?o,?o,?o,?o) AS ?t) { ?s ?p ?o }",
        ] {
            assert!(!is_cheap(query), "{query}");
        }
    }

    #[test]
    fn large_tables_are_not_bounded() {
        let values = |name: &str| format!("VALUES ?{name} {{ {} }}", "1 ".repeat(400));
        assert!(is_cheap(&format!("SELECT * {{ {} }}", values("a"))));
        assert!(!is_cheap(&format!(
            "SELECT * {{ {} {} }}",
            values("a"),
            values("b")
        )));
    }
}
