//! Repeated property paths with two open ends, evaluated start by start.
//!
//! Oxigraph computes all pairs of such a path at once, and continues after a cancellation until all pairs are computed. Each such path
//! is therefore joined laterally with the nodes of its graph from which its first step leads on, or with all of them if it may have
//! no step: the pairs of one start are computed at a time, and a cancelled evaluation ends with the current start. The solutions are
//! the same.
//!
//! A path with an end that another pattern binds is unchanged: the optimizer evaluates it from that end. In a worker process, which
//! can be killed, so is a path whose solutions are grouped or sorted: no row is sent before all pairs are known, and computing them
//! at once takes two thirds of the time.

use super::algebra::{Variables, certain_variables, each_child, each_exists, in_scope};
use oxrdf::Variable;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::mem;

/// Rewrites the open paths of a query without blank nodes. `can_be_killed` if it is evaluated in a worker process.
pub(super) fn bind_starts(query: &mut Query, can_be_killed: bool) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut rewriter = Rewriter {
        can_be_killed,
        names: 0,
    };
    rewriter.visit(pattern, &Variables::new(), None);
}

struct Rewriter {
    can_be_killed: bool,
    names: usize,
}

impl Rewriter {
    /// Rewrites the open paths of a pattern. Returns true if it was changed. `bound` are the variables that joined patterns bind,
    /// `graph` is the variable of the enclosing `GRAPH`.
    fn visit(
        &mut self,
        pattern: &mut GraphPattern,
        bound: &Variables,
        graph: Option<&Variable>,
    ) -> bool {
        let outer = certain_variables(pattern);
        each_exists(pattern, &mut |inner| {
            self.visit(inner, &outer, graph);
        });
        match pattern {
            GraphPattern::Path {
                subject: TermPattern::Variable(start),
                path,
                object: TermPattern::Variable(end),
            } if is_repeated(path) && !bound.contains(start) && !bound.contains(end) => {
                let nodes = self.starts(path, start.clone(), graph);
                *pattern = GraphPattern::Lateral {
                    left: Box::new(nodes),
                    right: Box::new(mem::take(pattern)),
                };
                true
            }
            GraphPattern::Join { left, right } => {
                // Of two open paths with a common variable, the left one is changed, and the right one begins at its
                // ends.
                let changed = self.visit(left, &(bound | &bound_by_steps(right)), graph);
                let right_changed = self.visit(right, &(bound | &certain_variables(left)), graph);
                if changed && is_open_path(right) && !in_scope(left).is_disjoint(&in_scope(right)) {
                    *pattern = GraphPattern::Lateral {
                        left: mem::take(left),
                        right: mem::take(right),
                    };
                }
                changed || right_changed
            }
            GraphPattern::LeftJoin { left, right, .. } => {
                let changed = self.visit(left, bound, graph);
                self.visit(right, &(bound | &certain_variables(left)), graph) || changed
            }
            GraphPattern::Union { left, right } => {
                let changed = self.visit(left, bound, graph);
                self.visit(right, bound, graph) || changed
            }
            GraphPattern::Filter { inner, .. } | GraphPattern::Extend { inner, .. } => {
                self.visit(inner, bound, graph)
            }
            GraphPattern::Graph { name, inner } => {
                let graph = if let NamedNodePattern::Variable(name) = name {
                    Some(&*name)
                } else {
                    None
                };
                self.visit(inner, bound, graph)
            }
            GraphPattern::Service { .. } => false, // it is evaluated elsewhere
            GraphPattern::Group { .. } | GraphPattern::OrderBy { .. } if self.can_be_killed => {
                false
            }
            _ => {
                let mut changed = false;
                each_child(pattern, &mut |inner| {
                    changed |= self.visit(inner, &Variables::new(), graph)
                });
                changed
            }
        }
    }

    /// Returns a pattern of the nodes at which a path may start.
    fn starts(
        &mut self,
        path: &PropertyPathExpression,
        node: Variable,
        graph: Option<&Variable>,
    ) -> GraphPattern {
        self.names += 1;
        let other = self.name("other");
        let mut steps = Vec::new();
        if !add_first_steps(path, Direction::Forward, &node, &other, &mut steps) {
            // The path may have no step, so each node may be a start.
            let predicate = self.name("predicate");
            steps = vec![
                triple_pattern(&node, predicate.clone(), &other),
                triple_pattern(&other, predicate, &node),
            ];
        }
        let union = steps.into_iter().reduce(|left, right| GraphPattern::Union {
            left: Box::new(left),
            right: Box::new(right),
        });
        let inner = Box::new(union.unwrap_or_default());
        let variables = std::iter::once(node).chain(graph.cloned()).collect();
        GraphPattern::Distinct {
            inner: Box::new(GraphPattern::Project { inner, variables }),
        }
    }

    /// Returns a variable that no query can contain.
    fn name(&self, part: &str) -> Variable {
        Variable::new_unchecked(format!("{part} {}", self.names))
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

impl Direction {
    fn reverse(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }
}

/// Adds the patterns of the first steps of a path from a node to another. Returns false if the path may have no step.
fn add_first_steps(
    path: &PropertyPathExpression,
    direction: Direction,
    node: &Variable,
    other: &Variable,
    steps: &mut Vec<GraphPattern>,
) -> bool {
    let (subject, object) = match direction {
        Direction::Forward => (node, other),
        Direction::Backward => (other, node),
    };
    match path {
        PropertyPathExpression::NamedNode(property) => {
            steps.push(triple_pattern(subject, property.clone(), object));
            true
        }
        PropertyPathExpression::NegatedPropertySet(_) => {
            steps.push(GraphPattern::Path {
                subject: subject.clone().into(),
                path: path.clone(),
                object: object.clone().into(),
            });
            true
        }
        PropertyPathExpression::Reverse(path) => {
            add_first_steps(path, direction.reverse(), node, other, steps)
        }
        PropertyPathExpression::OneOrMore(path) => {
            add_first_steps(path, direction, node, other, steps)
        }
        PropertyPathExpression::Sequence(a, b) => {
            let first = match direction {
                Direction::Forward => a,
                Direction::Backward => b,
            };
            add_first_steps(first, direction, node, other, steps)
        }
        PropertyPathExpression::Alternative(a, b) => {
            add_first_steps(a, direction, node, other, steps)
                && add_first_steps(b, direction, node, other, steps)
        }
        PropertyPathExpression::ZeroOrMore(_) | PropertyPathExpression::ZeroOrOne(_) => false,
    }
}

fn triple_pattern(
    subject: &Variable,
    predicate: impl Into<NamedNodePattern>,
    object: &Variable,
) -> GraphPattern {
    GraphPattern::Bgp {
        patterns: vec![TriplePattern {
            subject: subject.clone().into(),
            predicate: predicate.into(),
            object: object.clone().into(),
        }],
    }
}

/// Returns the variables that patterns other than open paths bind.
fn bound_by_steps(pattern: &GraphPattern) -> Variables {
    match pattern {
        GraphPattern::Join { left, right } => &bound_by_steps(left) | &bound_by_steps(right),
        other if is_open_path(other) => Variables::new(),
        other => certain_variables(other),
    }
}

fn is_open_path(pattern: &GraphPattern) -> bool {
    matches!(
        pattern,
        GraphPattern::Path { subject: TermPattern::Variable(_), path, object: TermPattern::Variable(_) }
            if is_repeated(path)
    )
}

fn is_repeated(path: &PropertyPathExpression) -> bool {
    match path {
        PropertyPathExpression::ZeroOrMore(_) | PropertyPathExpression::OneOrMore(_) => true,
        PropertyPathExpression::Reverse(path) | PropertyPathExpression::ZeroOrOne(path) => {
            is_repeated(path)
        }
        PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
            is_repeated(a) || is_repeated(b)
        }
        PropertyPathExpression::NamedNode(_) | PropertyPathExpression::NegatedPropertySet(_) => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxigraph::model::{GraphName, Quad};
    use oxigraph::sparql::{QueryResults, SparqlEvaluator};
    use oxigraph::store::Store;
    use oxrdf::NamedNode;
    use spargebra::SparqlParser;

    fn rows(store: &Store, query: Query) -> Vec<String> {
        let results = SparqlEvaluator::new()
            .for_query(query)
            .on_store(store)
            .execute()
            .expect("evaluated");
        let QueryResults::Solutions(solutions) = results else {
            return Vec::new();
        };
        let mut rows: Vec<String> = solutions
            .map(|row| {
                let row = row.expect("a row");
                let mut row: Vec<String> = row
                    .iter()
                    .map(|(name, term)| format!("{name}={term}"))
                    .collect();
                row.sort();
                row.join(" ")
            })
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn open_paths_have_the_same_solutions_start_by_start() {
        let store = Store::new().expect("a store");
        let node = |name: String| NamedNode::new_unchecked(format!("x:{name}"));
        for (s, p, o, g) in [
            (1, 'p', 2, 1),
            (2, 'p', 3, 1),
            (3, 'q', 1, 1),
            (2, 'p', 4, 2),
            (4, 'p', 4, 2),
            (5, 'q', 2, 2),
            (1, 'p', 5, 0),
            (5, 'q', 5, 0),
        ] {
            let graph = if g == 0 {
                GraphName::DefaultGraph
            } else {
                node(format!("g{g}")).into()
            };
            let quad = Quad::new(
                node(s.to_string()),
                node(p.to_string()),
                node(o.to_string()),
                graph,
            );
            store.insert(&quad).expect("inserted");
        }
        for (pattern, laterals) in [
            ("GRAPH ?g { ?a (<x:p>|!<x:p>)* ?b }", 1),
            ("GRAPH <x:g1> { ?a <x:p>+ ?b }", 1),
            ("GRAPH ?g { ?a ^<x:p>+ ?b }", 1),
            ("GRAPH ?g { ?a (<x:q>/<x:p>)+ ?b }", 1),
            ("GRAPH ?g { ?a ^(<x:q>/<x:p>)+ ?b }", 1),
            ("GRAPH ?g { ?a (^<x:q>|!<x:q>)+ ?b }", 1),
            ("GRAPH ?g { ?a (<x:q>?/<x:p>)+ ?b }", 1),
            ("?a (<x:p>+/<x:q>*)+ ?b", 1),
            ("?a (<x:p>*)|<x:q> ?b", 1),
            ("GRAPH ?g { ?a <x:p>* ?a }", 1),
            ("GRAPH ?g { ?a <x:p>* ?b . ?b <x:q>* ?c }", 2),
            ("GRAPH ?g { ?a <x:q> ?b . ?b <x:p>* ?c }", 0),
            ("GRAPH ?g { ?a <x:q> ?b OPTIONAL { ?b <x:p>+ ?c } }", 0),
            ("GRAPH ?g { <x:1> (<x:p>|<x:q>)* ?c }", 0),
            (
                "GRAPH ?g { ?a <x:q> ?b } MINUS { GRAPH ?h { ?b <x:p>+ ?c } }",
                1,
            ),
            (
                "GRAPH ?g { ?a <x:q> ?b } FILTER EXISTS { GRAPH ?h { ?c <x:p>+ ?d } }",
                1,
            ),
            ("GRAPH ?g { { ?a <x:p>* ?b } UNION { ?a <x:q>+ ?b } }", 2),
        ] {
            let parsed = SparqlParser::new()
                .parse_query(&format!("SELECT * {{ {pattern} }}"))
                .expect("a query");
            let mut rewritten = parsed.clone();
            bind_starts(&mut rewritten, false);
            assert_eq!(
                rewritten.to_sse().matches("(lateral").count(),
                laterals,
                "{}",
                rewritten.to_sse()
            );
            assert_eq!(rows(&store, rewritten), rows(&store, parsed), "{pattern}");
        }
    }

    #[test]
    fn grouped_and_sorted_paths_of_workers_are_unchanged() {
        for (query, is_changed) in [
            ("SELECT * { ?a <x:p>+ ?b }", true),
            ("SELECT DISTINCT ?a { ?a <x:p>+ ?b } LIMIT 5", true),
            ("SELECT * { ?a <x:p>+ ?b } ORDER BY ?b LIMIT 5", false),
            ("SELECT (COUNT(*) AS ?n) { ?a <x:p>+ ?b }", false),
            (
                "SELECT * { ?x <x:q>* ?y { SELECT ?a { ?a <x:p>+ ?b } ORDER BY ?b LIMIT 5 } }",
                true,
            ),
        ] {
            let parsed = SparqlParser::new().parse_query(query).expect("a query");
            for (can_be_killed, is_changed) in [(true, is_changed), (false, true)] {
                let mut rewritten = parsed.clone();
                bind_starts(&mut rewritten, can_be_killed);
                assert_eq!(rewritten != parsed, is_changed, "{query}");
            }
        }
    }
}
