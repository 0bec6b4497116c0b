//! Query templates from `queries/remote-*.rq`, whose parameters are set in the parsed algebra, never in the text.
//!
//! A template declares a parameter by `VALUES ?name { UNDEF }`. The queried graph becomes its `FROM` clause, so that one
//! template serves named graphs and the default graph of any engine.

use crate::query_parameters::{set_values, visit_patterns};
use oxrdf::NamedNode;
use spargebra::algebra::{GraphPattern, QueryDataset};
use spargebra::{Query, SparqlParser};
use std::fmt;

/// A `SELECT` query with parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Template {
    pattern: GraphPattern,
    graph: Option<NamedNode>,
}

impl Template {
    /// Parses a query; `None` if it is not a valid `SELECT`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match SparqlParser::new().parse_query(text).ok()? {
            Query::Select { pattern, .. } => Some(Self {
                pattern,
                graph: None,
            }),
            _ => None,
        }
    }

    /// Sets the graph to query; `None` is the default graph.
    pub(super) fn in_graph(self, graph: Option<&NamedNode>) -> Self {
        Self {
            graph: graph.cloned(),
            ..self
        }
    }

    /// Sets the terms of the parameter `name`.
    pub(super) fn with_values(mut self, name: &str, terms: &[NamedNode]) -> Self {
        set_values(&mut self.pattern, name, terms);
        self
    }

    /// Sets `OFFSET` and `LIMIT` of the query.
    pub(super) fn with_page(mut self, start: usize, length: usize) -> Self {
        if let GraphPattern::Slice {
            start: from,
            length: most,
            ..
        } = &mut self.pattern
        {
            (*from, *most) = (start, Some(length));
        }
        self
    }

    /// Sets the `LIMIT` of the subquery.
    pub(super) fn with_inner_limit(mut self, length: usize) -> Self {
        if let GraphPattern::Slice { inner, .. } = &mut self.pattern {
            visit_patterns(inner, &mut |pattern| {
                if let GraphPattern::Slice { length: most, .. } = pattern {
                    *most = Some(length);
                }
            });
        }
        self
    }

    /// Removes every `ORDER BY`, for endpoints that fail to sort large results.
    pub(super) fn without_order(mut self) -> Self {
        visit_patterns(&mut self.pattern, &mut |pattern| {
            if let GraphPattern::OrderBy { inner, .. } = pattern {
                *pattern = std::mem::take(inner);
            }
        });
        self
    }
}

impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dataset = self.graph.clone().map(|graph| QueryDataset {
            default: vec![graph],
            named: None,
        });
        Query::Select {
            dataset,
            pattern: self.pattern.clone(),
            base_iri: None,
        }
        .fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::super::queries;
    use super::*;

    fn node(iri: &str) -> NamedNode {
        NamedNode::new(iri).expect("an IRI")
    }

    #[test]
    fn what_is_filled_in_is_in_the_query() {
        let graph = node("http://e.org/graph");
        let class = [node("http://e.org/A%3E%20b")];
        let query = queries::entities()
            .in_graph(Some(&graph))
            .with_values("class", &class)
            .with_page(3, 77)
            .with_inner_limit(9);
        let text = query.to_string();
        for part in [
            "FROM <http://e.org/graph>",
            "<http://e.org/A%3E%20b>",
            "OFFSET 3",
            "LIMIT 77",
            "LIMIT 9",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("UNDEF"), "{text}");
        assert!(
            text.contains("ORDER BY") && !query.without_order().to_string().contains("ORDER BY"),
            "{text}"
        );
    }

    #[test]
    fn every_query_can_be_parsed_again() {
        for (name, template) in queries::all() {
            let text = template
                .in_graph(Some(&node("http://e.org/g")))
                .with_page(10, 20)
                .to_string();
            let again = Template::parse(&text);
            assert!(again.is_some(), "{name}: {text}");
        }
    }
}
