//! Which graphs a query sees, and which names they have for it.

use super::QueryRequest;
use crate::catalog::DatasetId;
use crate::store::{Store, StoreError};
use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression, QueryDataset};
use spargebra::term::NamedNodePattern;
use std::collections::{HashMap, HashSet};

/// The graphs of a store at one moment.
#[derive(Debug)]
pub(super) struct Graphs {
    metadata: Vec<NamedNode>,
    /// Dataset IRI → graph of its present content.
    content: HashMap<NamedNode, NamedNode>,
    /// Graph of present content → what it is of.
    versions: HashMap<NamedNode, (DatasetId, String)>,
}

impl Graphs {
    pub(super) fn of(store: &Store) -> Result<Self, StoreError> {
        let iris = &store.iris;
        let (mut content, mut versions) = (HashMap::new(), HashMap::new());
        for (id, version) in store.versions()? {
            let graph = iris.graph(&id, &version);
            content.insert(iris.dataset(&id), graph.clone());
            versions.insert(graph, (id, version));
        }
        Ok(Self { metadata: vec![iris.catalog(), iris.profiles(), iris.snippets()], content, versions })
    }

    /// The graphs of metadata, which together are the default graph.
    pub(super) fn metadata(&self) -> &[NamedNode] {
        &self.metadata
    }

    /// The dataset and version whose content a graph is.
    pub(super) fn content(&self, graph: &NamedNode) -> Option<&(DatasetId, String)> {
        self.versions.get(graph)
    }

    /// Every dataset's graph of present content.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&DatasetId, &NamedNode)> {
        self.versions.iter().map(|(graph, (id, _))| (id, graph))
    }

    fn name(&self, graph: &NamedNode) -> NamedNode {
        self.content.get(graph).unwrap_or(graph).clone()
    }

    fn is_visible(&self, graph: &NamedNode) -> bool {
        self.metadata.contains(graph) || self.versions.contains_key(graph)
    }

    /// (default graph, named graphs) for a request and a query's own `FROM` clauses. A graph named twice is one graph.
    pub(super) fn visible(
        &self,
        request: &QueryRequest,
        from: Option<QueryDataset>,
    ) -> (Vec<NamedNode>, Vec<NamedNode>) {
        let pick = |graphs: &[NamedNode]| -> Vec<NamedNode> {
            let mut seen = HashSet::new();
            let known = graphs.iter().map(|graph| self.name(graph)).filter(|graph| self.is_visible(graph));
            known.filter(|graph| seen.insert(graph.clone())).collect()
        };
        if !request.default_graphs.is_empty() || !request.named_graphs.is_empty() {
            return (pick(&request.default_graphs), pick(&request.named_graphs));
        }
        match from {
            Some(dataset) => (pick(&dataset.default), pick(&dataset.named.unwrap_or_default())),
            None => {
                let named = self.metadata.iter().chain(self.versions.keys()).cloned().collect();
                (self.metadata.clone(), named)
            }
        }
    }

    /// Dataset IRIs that stand for graphs become the graphs' own names.
    pub(super) fn resolve(&self, query: &mut Query) {
        let pattern = match query {
            Query::Select { pattern, .. }
            | Query::Construct { pattern, .. }
            | Query::Describe { pattern, .. }
            | Query::Ask { pattern, .. } => pattern,
        };
        self.in_pattern(pattern);
    }

    fn in_pattern(&self, pattern: &mut GraphPattern) {
        match pattern {
            GraphPattern::Graph { name, inner } => {
                if let NamedNodePattern::NamedNode(node) = name {
                    *node = self.name(node);
                }
                self.in_pattern(inner);
            }
            GraphPattern::Join { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right } => {
                self.in_pattern(left);
                self.in_pattern(right);
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.in_pattern(left);
                self.in_pattern(right);
                if let Some(expression) = expression {
                    self.in_expression(expression);
                }
            }
            GraphPattern::Filter { expr, inner } | GraphPattern::Extend { expression: expr, inner, .. } => {
                self.in_expression(expr);
                self.in_pattern(inner);
            }
            GraphPattern::OrderBy { inner, expression } => {
                for order in expression {
                    let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
                    self.in_expression(expression);
                }
                self.in_pattern(inner);
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        self.in_expression(expr);
                    }
                }
                self.in_pattern(inner);
            }
            GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.in_pattern(inner),
            // A service has graphs of its own; the others hold no pattern.
            _ => {}
        }
    }

    fn in_expression(&self, expression: &mut Expression) {
        match expression {
            Expression::Exists(pattern) => self.in_pattern(pattern),
            Expression::Or(a, b)
            | Expression::And(a, b)
            | Expression::Equal(a, b)
            | Expression::SameTerm(a, b)
            | Expression::Greater(a, b)
            | Expression::GreaterOrEqual(a, b)
            | Expression::Less(a, b)
            | Expression::LessOrEqual(a, b)
            | Expression::Add(a, b)
            | Expression::Subtract(a, b)
            | Expression::Multiply(a, b)
            | Expression::Divide(a, b) => {
                self.in_expression(a);
                self.in_expression(b);
            }
            Expression::Not(a) | Expression::UnaryPlus(a) | Expression::UnaryMinus(a) => self.in_expression(a),
            Expression::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.in_expression(part)),
            Expression::In(a, list) => {
                self.in_expression(a);
                list.iter_mut().for_each(|part| self.in_expression(part));
            }
            Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
                list.iter_mut().for_each(|part| self.in_expression(part));
            }
            Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => {}
        }
    }
}
