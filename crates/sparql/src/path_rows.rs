//! Property paths with the solutions of SPARQL 1.1, section 18.4, where those of Oxigraph deviate.
//!
//! *Alternatives.* `a|b` has the solutions of a `UNION`: a pair that both properties connect counts twice. Oxigraph removes duplicates.
//! Such a path becomes a `UNION`, inside a sequence also. Repeated paths have no duplicates.
//!
//! *Paths of length zero.* `:x :p* ?y` has the solution `?y = :x`, if the graph contains `:x` or not: an end that the query states is a
//! node of its own. Oxigraph finds no solution for terms that are not in the graph. An end that another pattern binds is a variable
//! (18.2.2.4), which begins at nodes of the graph only. So the store is read once for each such path before the evaluation. A path
//! from a term that the graph does not contain has the term as its only solution. In `GRAPH ?g` the graph is tested for each graph.

use super::algebra::{each_child, each_exists};
use super::graphs::is_no_graph;
use oxrdf::{NamedNode, Term, Triple, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};
use std::mem;

/// Test of a term: true if it is a node of a graph, which is the default graph without a name.
pub(super) type NodeTest<'n> = &'n dyn Fn(&Term, Option<&NamedNode>) -> bool;

/// Rewrites the paths of a query without blank nodes.
pub(super) fn expand(query: &mut Query, is_node: NodeTest<'_>) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    Rewriter { is_node, names: 0 }.visit(pattern, None);
}

struct Rewriter<'n> {
    is_node: NodeTest<'n>,
    names: usize,
}

impl Rewriter<'_> {
    /// Rewrites the paths of a pattern inside a `GRAPH`, if any.
    fn visit(&mut self, pattern: &mut GraphPattern, graph: Option<&NamedNodePattern>) {
        each_exists(pattern, &mut |inner| self.visit(inner, graph));
        match pattern {
            GraphPattern::Path { .. } => {
                if let GraphPattern::Path {
                    subject,
                    path,
                    object,
                } = mem::take(pattern)
                {
                    *pattern = self.path(subject, path, object, graph);
                }
            }
            GraphPattern::Graph { name, inner } => self.visit(inner, Some(name)),
            GraphPattern::Service { .. } => {} // it is evaluated elsewhere
            _ => each_child(pattern, &mut |inner| self.visit(inner, graph)),
        }
    }

    /// Returns the pattern of a path.
    fn path(
        &mut self,
        subject: TermPattern,
        path: PropertyPathExpression,
        object: TermPattern,
        graph: Option<&NamedNodePattern>,
    ) -> GraphPattern {
        match path {
            PropertyPathExpression::NamedNode(predicate) => GraphPattern::Bgp {
                patterns: vec![TriplePattern {
                    subject,
                    predicate: predicate.into(),
                    object,
                }],
            },
            PropertyPathExpression::Reverse(path) => self.path(object, *path, subject, graph),
            PropertyPathExpression::Alternative(a, b) => {
                let left = Box::new(self.path(subject.clone(), *a, object.clone(), graph));
                let right = Box::new(self.path(subject, *b, object, graph));
                GraphPattern::Union { left, right }
            }
            PropertyPathExpression::Sequence(a, b)
                if counts_alternatives(&a) || counts_alternatives(&b) =>
            {
                self.names += 1;
                // No query can contain this name.
                let middle =
                    TermPattern::from(Variable::new_unchecked(format!("step {}", self.names)));
                let left = Box::new(self.path(subject, *a, middle.clone(), graph));
                let right = Box::new(self.path(middle, *b, object, graph));
                GraphPattern::Join { left, right }
            }
            path if is_zero_length(&path) => self.zero_length_path(subject, path, object, graph),
            path => GraphPattern::Path {
                subject,
                path,
                object,
            },
        }
    }

    /// Returns the pattern of a path that may have the length zero.
    fn zero_length_path(
        &self,
        subject: TermPattern,
        path: PropertyPathExpression,
        object: TermPattern,
        graph: Option<&NamedNodePattern>,
    ) -> GraphPattern {
        let ends = (constant_term(&subject), constant_term(&object));
        let (node, variables) = match (ends, &subject, &object) {
            ((Some(start), Some(end)), ..) if start == end => (start, Vec::new()),
            ((Some(start), None), _, TermPattern::Variable(end)) => (start, vec![end.clone()]),
            ((None, Some(end)), TermPattern::Variable(start), _) => (end, vec![start.clone()]),
            _ => {
                return GraphPattern::Path {
                    subject,
                    path,
                    object,
                };
            }
        };
        let Ok(value) = GroundTerm::try_from(node.clone()) else {
            return GraphPattern::Path {
                subject,
                path,
                object,
            };
        };
        let bindings = vec![variables.iter().map(|_| Some(value.clone())).collect()];
        let alone = GraphPattern::Values {
            variables,
            bindings,
        };
        let is_node = match graph {
            None => (self.is_node)(&node, None),
            // A graph that does not exist has no solution, not even of length zero.
            Some(name) if is_no_graph(name) => true,
            Some(NamedNodePattern::NamedNode(graph)) => (self.is_node)(&node, Some(graph)),
            Some(NamedNodePattern::Variable(_)) => {
                let left = Box::new(GraphPattern::Path {
                    subject,
                    path,
                    object,
                });
                let right = Box::new(GraphPattern::Filter {
                    expr: has_no_triple(&node),
                    inner: Box::new(alone),
                });
                return GraphPattern::Union { left, right };
            }
        };
        if is_node {
            GraphPattern::Path {
                subject,
                path,
                object,
            }
        } else {
            alone
        }
    }
}

/// Returns the condition that no triple has a term as subject or object.
fn has_no_triple(node: &Term) -> Expression {
    let node = TermPattern::from(node.clone());
    let is_object = triple_exists(internal_variable("subject").into(), node.clone());
    let is_node = match node {
        TermPattern::NamedNode(_) => Expression::Or(
            Box::new(triple_exists(node, internal_variable("object").into())),
            Box::new(is_object),
        ),
        _ => is_object,
    };
    Expression::Not(Box::new(is_node))
}

/// Returns the condition that a triple has these ends.
fn triple_exists(subject: TermPattern, object: TermPattern) -> Expression {
    let triple = TriplePattern {
        subject,
        predicate: internal_variable("predicate").into(),
        object,
    };
    Expression::Exists(Box::new(GraphPattern::Bgp {
        patterns: vec![triple],
    }))
}

/// Returns a variable that no query can contain.
fn internal_variable(name: &str) -> Variable {
    Variable::new_unchecked(format!("any {name}"))
}

/// Returns the term of an end that the query states.
fn constant_term(end: &TermPattern) -> Option<Term> {
    match end {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Triple(triple) => {
            let TriplePattern {
                subject,
                predicate,
                object,
            } = triple.as_ref();
            let NamedNodePattern::NamedNode(predicate) = predicate else {
                return None;
            };
            let Term::NamedNode(subject) = constant_term(subject)? else {
                return None;
            };
            Some(Triple::new(subject, predicate.clone(), constant_term(object)?).into())
        }
        TermPattern::BlankNode(_) | TermPattern::Variable(_) => None,
    }
}

/// Returns true if a path has a solution for each of its alternatives.
fn counts_alternatives(path: &PropertyPathExpression) -> bool {
    match path {
        PropertyPathExpression::Alternative(..) => true,
        PropertyPathExpression::Reverse(path) => counts_alternatives(path),
        PropertyPathExpression::Sequence(a, b) => counts_alternatives(a) || counts_alternatives(b),
        _ => false,
    }
}

/// Returns true if a path leads from a term to itself that is not in the graph. The second part of a sequence begins at a variable.
fn is_zero_length(path: &PropertyPathExpression) -> bool {
    match path {
        PropertyPathExpression::ZeroOrMore(_) | PropertyPathExpression::ZeroOrOne(_) => true,
        PropertyPathExpression::OneOrMore(path) | PropertyPathExpression::Reverse(path) => {
            is_zero_length(path)
        }
        PropertyPathExpression::Alternative(a, b) => is_zero_length(a) || is_zero_length(b),
        PropertyPathExpression::Sequence(..)
        | PropertyPathExpression::NamedNode(_)
        | PropertyPathExpression::NegatedPropertySet(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Answer, QueryEngine, QueryRequest, SparqlLimits};
    use lodeseek_catalog::Iris;
    use lodeseek_store::Store;
    use oxrdf::{NamedNode, Quad};
    use std::sync::Arc;

    /// Returns the sorted rows of a pattern over `1 p 2 . 2 p 3 . 1 q 2 . 3 r "text"` in the default graph.
    fn rows(pattern: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let engine = QueryEngine::new(Arc::new(
            Store::in_memory(folder.path(), iris).expect("a store"),
        ));
        let graph = engine.store.iris().catalog();
        let node = |name: &str| NamedNode::new_unchecked(format!("x:{name}"));
        for (s, p, o) in [("1", "p", "2"), ("2", "p", "3"), ("1", "q", "2")] {
            let quad = Quad::new(node(s), node(p), node(o), graph.clone());
            engine.store.oxigraph().insert(&quad).expect("inserted");
        }
        let quad = Quad::new(
            node("3"),
            node("r"),
            oxrdf::Literal::from("text"),
            graph.clone(),
        );
        engine.store.oxigraph().insert(&quad).expect("inserted");
        let query = format!("PREFIX : <x:> SELECT * {{ {pattern} }}");
        let request = QueryRequest {
            query,
            ..QueryRequest::default()
        };
        match engine.evaluate(&request, &SparqlLimits::default()) {
            Ok(Answer::Solutions { rows, .. }) => {
                let mut rows: Vec<String> = rows
                    .into_iter()
                    .map(|row| {
                        row.into_iter()
                            .map(|term| match term {
                                Some(term) => term.to_string(),
                                None => "-".to_owned(),
                            })
                            .collect::<Vec<_>>()
                            .join(" ")
                    })
                    .collect();
                rows.sort();
                rows
            }
            other => panic!("{pattern}: {other:?}"),
        }
    }

    #[test]
    fn paths_of_length_zero_begin_at_the_terms_of_the_query() {
        for (pattern, expected) in [
            (":1 :p* ?x", vec!["<x:1>", "<x:2>", "<x:3>"]),
            (":9 :p* ?x", vec!["<x:9>"]),
            (":9 :p? ?x", vec!["<x:9>"]),
            ("?x :p* :9", vec!["<x:9>"]),
            ("?x ^:p* :9", vec!["<x:9>"]),
            (":9 (:p?)+ ?x", vec!["<x:9>"]),
            (":9 :p+ ?x", vec![]),
            (":9 :p*/:q? ?x", vec![]),
            (":9 (:p*|:q?) ?x", vec!["<x:9>", "<x:9>"]),
            (":9 (:p|:q)* ?x", vec!["<x:9>"]),
            (":9 :p* :9", vec![""]),
            (":9 :p? :8", vec![]),
            (":1 :none* ?x", vec!["<x:1>"]),
            ("?x :p* 'text'", vec!["\"text\""]),
            ("?x :p* 'none'", vec!["\"none\""]),
            ("VALUES ?x { :9 } ?x :p* ?y", vec![]),
            ("BIND(:9 AS ?x) ?x :p? ?x", vec![]),
            ("?x :p* :9 . ?x :q ?y", vec![]),
            (":9 :p* ?x OPTIONAL { ?x :q ?y }", vec!["<x:9> -"]),
            ("?a :q ?b FILTER NOT EXISTS { :9 :p* :9 }", vec![]),
            ("GRAPH <urn:no:graph> { :9 :p* ?x }", vec![]),
        ] {
            assert_eq!(rows(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn alternatives_count_as_those_of_union() {
        for (pattern, expected) in [
            (":1 :p|:q ?x", vec!["<x:2>", "<x:2>"]),
            ("?x (:p|:q)/:p ?y", vec!["<x:1> <x:3>", "<x:1> <x:3>"]),
            ("?x ^(:p|:q) :1", vec!["<x:2>", "<x:2>"]),
            (":1 (:p|:q)+ ?x", vec!["<x:2>", "<x:3>"]),
            (":1 :p|:p|:q :2", vec!["", "", ""]),
            (":1 (:p|:q)? ?x", vec!["<x:1>", "<x:2>"]),
            ("?x (:q|(:p/:r)) ?y", vec!["<x:1> <x:2>", "<x:2> \"text\""]),
        ] {
            assert_eq!(rows(pattern), expected, "{pattern}");
        }
    }
}
