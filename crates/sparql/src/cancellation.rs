//! Cancellation points inside an evaluation.
//!
//! Oxigraph checks its cancellation token when it reads the store. Where rows multiply in memory (patterns or
//! sub-selects without a shared variable), one read may be followed by billions of rows, and the evaluation continues
//! long after its client has left. Each such join is therefore wrapped in a filter that drops all rows once the token
//! is set. Operators above receive nothing more; operators below soon read the store and end.
//!
//! A join whose every step reads the store (a triple pattern, a path) needs no filter. It stays unchanged so that the
//! optimizer can order it.

use super::algebra::{Variables, each_child, each_exists, in_scope, name_blank_nodes};
use lodeseek_rdf::vocab::lodeseek;
use oxigraph::sparql::{CancellationToken, SparqlEvaluator};
use oxrdf::{Literal, NamedNode, Term, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern};
use spargebra::term::NamedNodePattern;
use std::mem;

/// Inserts the filters into a query.
pub(super) fn insert_filters(query: &mut Query) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    // A filter may separate two uses of a blank node, whose label must not be in two groups.
    name_blank_nodes(pattern);
    FilterInserter::default().visit(pattern, None);
}

/// Adds the function that the filters call to an evaluator.
pub(super) fn with_function(
    evaluator: SparqlEvaluator,
    token: CancellationToken,
) -> SparqlEvaluator {
    evaluator.with_custom_function(
        NamedNode::new_unchecked(lodeseek::IS_AWAITED),
        move |_: &[Term]| Some(Literal::from(!token.is_cancelled()).into()),
    )
}

#[derive(Default)]
struct FilterInserter {
    filters: usize,
}

impl FilterInserter {
    /// Inserts filters into a pattern. `graph` is the variable of the enclosing `GRAPH`, which all patterns in it share.
    fn visit(&mut self, pattern: &mut GraphPattern, graph: Option<&Variable>) {
        match pattern {
            GraphPattern::Join { .. } | GraphPattern::Bgp { .. } => {
                let mut parts = Vec::new();
                collect_parts(mem::take(pattern), &mut parts);
                parts
                    .iter_mut()
                    .filter(|part| !is_step(part))
                    .for_each(|part| self.visit(part, graph));
                *pattern = self.join_parts(parts, graph);
            }
            GraphPattern::Graph { name, inner } => {
                let name = if let NamedNodePattern::Variable(name) = name {
                    Some(&*name)
                } else {
                    None
                };
                self.visit(inner, name);
            }
            GraphPattern::Service { .. } => {} // it is evaluated elsewhere
            _ => {
                each_exists(pattern, &mut |inner| self.visit(inner, graph));
                each_child(pattern, &mut |inner| self.visit(inner, graph));
            }
        }
        // A single step on the right reads the store for each row of the left side.
        if let GraphPattern::LeftJoin { left, right, .. } = pattern
            && !(is_one_step(right) && shares_variable(&in_scope(left), right, graph))
        {
            *pattern = self.with_filter(mem::take(pattern));
        }
    }

    /// Returns the join of the parts, with the filters that it needs.
    fn join_parts(&mut self, parts: Vec<GraphPattern>, graph: Option<&Variable>) -> GraphPattern {
        let Some(steps) = order_parts(&parts, graph) else {
            return parts
                .into_iter()
                .fold(GraphPattern::default(), join_patterns);
        };
        let mut parts: Vec<Option<GraphPattern>> = parts.into_iter().map(Some).collect();
        let mut whole = GraphPattern::default();
        for Step { place, multiplies } in steps {
            let Some(part) = parts[place].take() else {
                continue;
            };
            whole = join_patterns(whole, part);
            if multiplies {
                whole = self.with_filter(whole);
            }
        }
        whole
    }

    /// Wraps a pattern in a filter that drops all rows after the cancellation.
    ///
    /// The filter reads a variable that is bound directly below it. Otherwise the optimizer would push it below the join.
    fn with_filter(&mut self, pattern: GraphPattern) -> GraphPattern {
        self.filters += 1;
        // No query can contain this name.
        let variable = Variable::new_unchecked(format!("awaited {}", self.filters));
        let is_awaited = Function::Custom(NamedNode::new_unchecked(lodeseek::IS_AWAITED));
        let expression = Literal::from(true).into();
        let bound = GraphPattern::Extend {
            inner: Box::new(pattern),
            variable: variable.clone(),
            expression,
        };
        let expr = Expression::FunctionCall(is_awaited, vec![variable.into()]);
        GraphPattern::Filter {
            expr,
            inner: Box::new(bound),
        }
    }
}

/// Collects the operands of nested joins, with one triple pattern each.
fn collect_parts(pattern: GraphPattern, parts: &mut Vec<GraphPattern>) {
    match pattern {
        GraphPattern::Join { left, right } => {
            collect_parts(*left, parts);
            collect_parts(*right, parts);
        }
        GraphPattern::Bgp { patterns } => {
            parts.extend(patterns.into_iter().map(|triple| GraphPattern::Bgp {
                patterns: vec![triple],
            }));
        }
        other => parts.push(other),
    }
}

/// Returns true if each row of a pattern is read from the store or written in the query.
fn is_step(pattern: &GraphPattern) -> bool {
    matches!(
        pattern,
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. }
    )
}

fn is_one_step(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.len() == 1,
        other => is_step(other),
    }
}

fn shares_variable(bound: &Variables, part: &GraphPattern, graph: Option<&Variable>) -> bool {
    let in_graph = graph.is_some() && !matches!(part, GraphPattern::Values { .. });
    in_graph || !bound.is_disjoint(&in_scope(part))
}

/// A part of a join at its place in the order.
struct Step {
    place: usize,
    /// If true, its rows may multiply with earlier ones in memory, without reads of the store.
    multiplies: bool,
}

/// Orders the parts so that each shares a variable with earlier ones, if possible. Returns `None` if no rows multiply in memory: the
/// optimizer then chooses the order.
fn order_parts(parts: &[GraphPattern], graph: Option<&Variable>) -> Option<Vec<Step>> {
    let mut left: Vec<usize> = (0..parts.len()).collect();
    let mut bound = Variables::new();
    let mut in_memory = 0;
    let mut steps = Vec::new();
    while !left.is_empty() {
        let mut candidates = left.iter().map(|&place| &parts[place]);
        let linked = candidates
            .clone()
            .position(|part| is_step(part) && shares_variable(&bound, part, graph))
            .or_else(|| {
                candidates
                    .clone()
                    .position(|part| shares_variable(&bound, part, graph))
            });
        let at = linked.or_else(|| candidates.position(is_step)).unwrap_or(0);
        let place = left.remove(at);
        let from_memory = !is_step(&parts[place]);
        let multiplies = !steps.is_empty() && (linked.is_none() || (from_memory && in_memory > 0));
        in_memory += usize::from(from_memory);
        bound.append(&mut in_scope(&parts[place]));
        steps.push(Step { place, multiplies });
    }
    steps.iter().any(|step| step.multiplies).then_some(steps)
}

fn join_patterns(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    match (left, right) {
        (GraphPattern::Bgp { patterns }, right) if patterns.is_empty() => right,
        (GraphPattern::Bgp { mut patterns }, GraphPattern::Bgp { patterns: more }) => {
            patterns.extend(more);
            GraphPattern::Bgp { patterns }
        }
        (left, right) => GraphPattern::Join {
            left: Box::new(left),
            right: Box::new(right),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::SparqlParser;

    /// Returns the pattern of a query after the insertion of filters.
    fn guarded(pattern: &str) -> String {
        let mut query = SparqlParser::new()
            .parse_query(&format!("SELECT * {{ {pattern} }}"))
            .expect("a query");
        insert_filters(&mut query);
        let (Query::Select { pattern, .. } | Query::Ask { pattern, .. }) = query else {
            return String::new();
        };
        pattern.to_string()
    }

    fn guards(pattern: &str) -> usize {
        guarded(pattern).matches(lodeseek::IS_AWAITED).count()
    }

    #[test]
    fn patterns_that_read_the_store_for_every_row_are_unchanged() {
        for pattern in [
            "?a ?p ?b . ?b ?q ?c . ?c ?r ?d",
            "_:x ?p ?b . _:x ?q ?c",
            "GRAPH ?g { ?a ?p ?b . ?c ?q ?d }",
            "VALUES (?a ?c) { (1 2) } ?a ?p ?b . ?c ?q ?d",
            "?a ?p ?b OPTIONAL { ?b ?q ?c }",
            "?a ?p ?b { SELECT ?b { ?b ?q ?c } }",
            "?a <urn:q>/<urn:p>* ?b . ?b <urn:p>+ ?c",
        ] {
            assert_eq!(guards(pattern), 0, "{}", guarded(pattern));
        }
    }

    #[test]
    fn joins_that_multiply_in_memory_get_filters() {
        for (pattern, count) in [
            ("?a ?p ?b . ?c ?q ?d", 1),
            ("?a ?p ?b . ?c ?q ?d . ?e ?r ?f", 2),
            ("_:a <urn:p> _:b . _:c <urn:p> _:d", 1),
            ("GRAPH <urn:g> { ?a ?p ?b . ?c ?q ?d }", 1),
            ("VALUES ?x { 1 } ?a ?p ?b", 1),
            ("?a ?p ?b OPTIONAL { ?c ?q ?d }", 1),
            ("?a ?p ?b OPTIONAL { ?b ?q ?c . ?c ?r ?d }", 1),
            (
                "{ SELECT ?c { ?a a ?c } } { SELECT ?c { ?b a ?c } } { SELECT ?c { ?d a ?c } }",
                2,
            ),
            ("?x <urn:p> ?y FILTER EXISTS { ?a ?p ?b . ?c ?q ?d }", 1),
            ("{ ?a ?p ?b } UNION { ?c ?q ?d . ?e ?r ?f }", 1),
        ] {
            assert_eq!(guards(pattern), count, "{}", guarded(pattern));
        }
    }

    #[test]
    fn parts_that_share_variables_are_joined_before_others() {
        let whole = guarded("?a <urn:p> ?b . ?c <urn:q> ?d . ?b <urn:r> ?e . ?d <urn:s> ?f");
        let places: Vec<Option<usize>> = ["urn:p", "urn:r", "urn:q", "urn:s"]
            .iter()
            .map(|name| whole.find(name))
            .collect();
        assert!(places.is_sorted(), "{whole}");
        assert_eq!(whole.matches(lodeseek::IS_AWAITED).count(), 1, "{whole}");
    }
}
