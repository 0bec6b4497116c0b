//! `GRAPH` with a variable: it binds the IRIs of datasets.
//!
//! The name of a graph in the store contains the version of its content. The store also has a triple from each dataset to the
//! graph of its current content ([`Store::pointers`](lodeseek_store::Store::pointers)). So
//!
//! ```text
//! GRAPH ?g { PATTERN }   becomes   GRAPH ?graph { GRAPH <pointers> { ?g lodeseek:graph ?graph } PATTERN }
//! ```
//!
//! with a new variable `?graph`. `?g` is then an ordinary term: it joins descriptions in the catalogue, and the optimizer begins
//! with the smaller side. No term is decoded for it, and everything is read from one snapshot of the store.
//! Oxigraph's own encoded dataset cannot be wrapped, since it is private.
//!
//! *Position.* The triple is joined with the first part of the pattern, inside its filters, so that they can read `?g` as in
//! Oxigraph. A sub-select is evaluated once for each graph (`LATERAL`), as SPARQL defines it.
//!
//! *Limit.* `MINUS` compares the name of the graph too. So within `GRAPH ?g` it also removes a solution that binds none of the
//! variables that both sides may bind. SPARQL keeps such a solution.
//!
//! *Declared graphs.* With `FROM NAMED` only the declared graphs are read. A graph of metadata has no pointer. If one is declared, a
//! table of the names replaces the triple.

use super::algebra::{each_child, each_exists, expressions_of, in_scope, inner_patterns, read_by};
use super::graphs::{Graphs, Visible, is_no_graph};
use lodeseek_rdf::vocab::lodeseek;
use oxrdf::{NamedNode, NamedOrBlankNode, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TriplePattern};
use std::mem;

/// Names of the graphs that a query can read.
#[derive(Clone, Debug)]
pub(super) struct GraphNames {
    pointers: NamedNode,
    /// Graphs of `FROM NAMED`; `None` if the query can read all.
    declared: Option<Vec<NamedNode>>,
    /// Rows of public and stored name, if a graph without a pointer is declared.
    table: Option<Vec<Vec<Option<GroundTerm>>>>,
}

impl GraphNames {
    pub(super) fn new(graphs: &Graphs, visible: &Visible, pointers: &NamedNode) -> Self {
        let declared = visible.is_declared.then(|| visible.named.clone());
        let has_metadata = declared
            .iter()
            .flatten()
            .any(|graph| graphs.metadata().contains(graph));
        let table = has_metadata.then(|| {
            let rows = visible.named.iter().map(|graph| {
                let public = graphs.public_name(graph).clone();
                vec![
                    Some(GroundTerm::from(public)),
                    Some(GroundTerm::from(graph.clone())),
                ]
            });
            rows.collect()
        });
        Self {
            pointers: pointers.clone(),
            declared,
            table,
        }
    }

    /// Returns the graphs that `GRAPH` may read, for Oxigraph; `None` for all.
    pub(super) fn readable_graphs(&self) -> Option<Vec<NamedOrBlankNode>> {
        let declared = self.declared.as_ref()?;
        Some(
            declared
                .iter()
                .chain([&self.pointers])
                .cloned()
                .map(NamedOrBlankNode::from)
                .collect(),
        )
    }

    /// Rewrites every `GRAPH` with a variable.
    pub(super) fn bind_graphs(&self, query: &mut Query) {
        let (Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. }) = query;
        Rewriter {
            names: self,
            count: 0,
        }
        .visit(pattern);
    }
}

/// A `GRAPH` with a variable.
struct Scope {
    /// Variable of the query.
    public: Variable,
    /// Variable of the name in the store.
    stored: Variable,
    /// Pattern that binds both.
    link: GraphPattern,
}

struct Rewriter<'n> {
    names: &'n GraphNames,
    count: usize,
}

impl Rewriter<'_> {
    fn visit(&mut self, pattern: &mut GraphPattern) {
        if let GraphPattern::Service { .. } = pattern {
            return; // it is evaluated elsewhere
        }
        each_exists(pattern, &mut |inner| self.visit(inner));
        each_child(pattern, &mut |inner| self.visit(inner));
        let GraphPattern::Graph { name, inner } = pattern else {
            return;
        };
        if self.names.declared.is_none() && !is_no_graph(name) {
            replace_empty_groups(inner);
        }
        let NamedNodePattern::Variable(public) = name else {
            return;
        };
        let scope = self.new_scope(public.clone());
        remove_disjoint_minus(inner);
        *name = scope.stored.clone().into();
        scope.project_graph(inner);
        scope.attach_link(inner);
    }

    fn new_scope(&mut self, public: Variable) -> Scope {
        self.count += 1;
        let stored = Variable::new_unchecked(format!("graph {}", self.count)); // no query can contain this name
        let link = match &self.names.table {
            Some(rows) => GraphPattern::Values {
                variables: vec![public.clone(), stored.clone()],
                bindings: rows.clone(),
            },
            None => {
                let triple = TriplePattern {
                    subject: public.clone().into(),
                    predicate: NamedNode::new_unchecked(lodeseek::GRAPH).into(),
                    object: stored.clone().into(),
                };
                let inner = Box::new(GraphPattern::Bgp {
                    patterns: vec![triple],
                });
                let link = GraphPattern::Graph {
                    name: self.names.pointers.clone().into(),
                    inner,
                };
                match self.names.declared {
                    // The join with the empty group removes graphs that are not declared.
                    Some(_) => GraphPattern::Join {
                        left: Box::new(link),
                        right: Box::new(GraphPattern::default()),
                    },
                    None => link,
                }
            }
        };
        Scope {
            public,
            stored,
            link,
        }
    }
}

/// Replaces empty groups by a table of one empty row: the store does not list graphs without triples.
fn replace_empty_groups(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Bgp { patterns } if patterns.is_empty() => {
            *pattern = GraphPattern::Values {
                variables: Vec::new(),
                bindings: vec![Vec::new()],
            };
        }
        GraphPattern::Graph { .. } | GraphPattern::Service { .. } => {}
        _ => {
            each_exists(pattern, &mut replace_empty_groups);
            each_child(pattern, &mut replace_empty_groups);
        }
    }
}

/// Removes each `MINUS` that shares no variable with its left side: it removes nothing, but both sides would share the name of the
/// graph.
fn remove_disjoint_minus(pattern: &mut GraphPattern) {
    if let GraphPattern::Graph { .. } | GraphPattern::Service { .. } = pattern {
        return;
    }
    each_exists(pattern, &mut remove_disjoint_minus);
    each_child(pattern, &mut remove_disjoint_minus);
    if let GraphPattern::Minus { left, right } = pattern
        && in_scope(left).is_disjoint(&in_scope(right))
    {
        *pattern = mem::take(left);
    }
}

impl Scope {
    /// Adds the name of the graph to the projections of sub-selects, and links those of `EXISTS`.
    fn project_graph(&self, pattern: &mut GraphPattern) {
        match pattern {
            GraphPattern::Graph { .. } | GraphPattern::Service { .. } => return,
            GraphPattern::Project { variables, .. } => variables.push(self.stored.clone()),
            _ => {}
        }
        each_exists(pattern, &mut |inner| {
            self.project_graph(inner);
            if self.needs_link(inner) {
                self.attach_link(inner);
            }
        });
        each_child(pattern, &mut |inner| self.project_graph(inner));
    }

    /// Joins the link with the parts of a pattern that need it.
    fn attach_link(&self, pattern: &mut GraphPattern) {
        match pattern {
            GraphPattern::Filter { inner, .. } | GraphPattern::Extend { inner, .. } => {
                self.attach_link(inner)
            }
            GraphPattern::Union { left, right } => {
                self.attach_link(left);
                self.attach_link(right);
            }
            GraphPattern::Join { left, right }
            | GraphPattern::LeftJoin { left, right, .. }
            | GraphPattern::Minus { left, right } => {
                self.attach_link(left);
                if self.needs_link(right) {
                    self.attach_link(right);
                }
            }
            GraphPattern::Lateral { left, .. } => self.attach_link(left),
            _ => {
                let (left, right) = (Box::new(self.link.clone()), Box::new(mem::take(pattern)));
                *pattern = if is_sub_select(&right) {
                    GraphPattern::Lateral { left, right }
                } else {
                    GraphPattern::Join { left, right }
                };
            }
        }
    }

    /// Returns true if an expression reads the name of the graph, or may.
    fn is_read_by(&self, expression: &Expression) -> bool {
        read_by(expression).is_none_or(|variables| variables.contains(&self.public))
    }

    /// Returns true if a part must be evaluated for each graph, or its expressions read the name of the graph.
    fn needs_link(&self, pattern: &GraphPattern) -> bool {
        if let GraphPattern::Graph { .. } | GraphPattern::Service { .. } = pattern {
            return false;
        }
        is_sub_select(pattern)
            || matches!(pattern, GraphPattern::LeftJoin { left, .. } | GraphPattern::Minus { left, .. } if !reads_triples(left))
            || expressions_of(pattern)
                .into_iter()
                .any(|expression| self.is_read_by(expression))
            || inner_patterns(pattern)
                .into_iter()
                .any(|inner| self.needs_link(inner))
    }
}

/// Returns true if every solution of a pattern comes from a triple, and so binds the name of the graph. Otherwise the right side of
/// `OPTIONAL` and `MINUS` needs the link, too.
fn reads_triples(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => !patterns.is_empty(),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            reads_triples(left) || reads_triples(right)
        }
        GraphPattern::Union { left, right } => reads_triples(left) && reads_triples(right),
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. } => reads_triples(inner),
        _ => false,
    }
}

fn is_sub_select(pattern: &GraphPattern) -> bool {
    matches!(
        pattern,
        GraphPattern::Project { .. }
            | GraphPattern::Distinct { .. }
            | GraphPattern::Reduced { .. }
            | GraphPattern::Slice { .. }
            | GraphPattern::OrderBy { .. }
            | GraphPattern::Group { .. }
    )
}

#[cfg(test)]
mod tests;
