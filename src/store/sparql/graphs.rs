//! Which graphs a query sees, and which names they have for it.

use super::QueryRequest;
use crate::store::{Store, StoreError};
use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression, QueryDataset};
use spargebra::term::NamedNodePattern;
use std::collections::HashMap;

/// The graphs of a store at one moment.
pub(super) struct Graphs {
    metadata: Vec<NamedNode>,
    /// Dataset IRI → graph of its present content.
    content: HashMap<NamedNode, NamedNode>,
}

impl Graphs {
    pub(super) fn of(store: &Store) -> Result<Self, StoreError> {
        let iris = &store.iris;
        let content =
            store.versions()?.into_iter().map(|(id, version)| (iris.dataset(&id), iris.graph(&id, &version))).collect();
        Ok(Self { metadata: vec![iris.catalog(), iris.profiles(), iris.snippets()], content })
    }

    fn name(&self, graph: &NamedNode) -> NamedNode {
        self.content.get(graph).unwrap_or(graph).clone()
    }

    fn is_visible(&self, graph: &NamedNode) -> bool {
        self.metadata.contains(graph) || self.content.values().any(|content| content == graph)
    }

    /// (default graph, named graphs) for a request and a query's own `FROM` clauses.
    pub(super) fn visible(
        &self,
        request: &QueryRequest,
        from: Option<QueryDataset>,
    ) -> (Vec<NamedNode>, Vec<NamedNode>) {
        let pick = |graphs: &[NamedNode]| -> Vec<NamedNode> {
            graphs.iter().map(|graph| self.name(graph)).filter(|graph| self.is_visible(graph)).collect()
        };
        if !request.default_graphs.is_empty() || !request.named_graphs.is_empty() {
            return (pick(&request.default_graphs), pick(&request.named_graphs));
        }
        match from {
            Some(dataset) => (pick(&dataset.default), pick(&dataset.named.unwrap_or_default())),
            None => {
                let named = self.metadata.iter().chain(self.content.values()).cloned().collect();
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
