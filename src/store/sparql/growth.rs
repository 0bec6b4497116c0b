//! How long the texts may become that a query makes: nothing stops an evaluation that doubles a text again and again.

use super::algebra::{expressions, inside, operands};
use oxrdf::Variable;
use rustc_hash::FxHashMap;
use spargebra::algebra::{AggregateExpression, AggregateFunction, Expression, Function, GraphPattern};

/// Bytes that count as one text.
const TEXT: f64 = 1000.0;

/// How many times longer than a text of the store, or than [`TEXT`] bytes of the query, any text of the pattern's
/// expressions may be. Rows that `GROUP_CONCAT` joins are counted as one: they take time, and are watched while they do.
pub(super) fn growth_of(pattern: &GraphPattern) -> f64 {
    let mut lengths = Lengths::default();
    lengths.add(pattern);
    lengths.longest
}

#[derive(Default)]
struct Lengths<'q> {
    of: FxHashMap<&'q Variable, f64>,
    longest: f64,
}

impl<'q> Lengths<'q> {
    /// Adds a pattern after those inside: names are bound before they are read.
    fn add(&mut self, pattern: &'q GraphPattern) {
        inside(pattern).into_iter().for_each(|inner| self.add(inner));
        for expression in expressions(pattern) {
            let length = self.of(expression);
            self.longest = self.longest.max(length);
        }
        match pattern {
            GraphPattern::Extend { variable, expression, .. } => self.bind(variable, self.of(expression)),
            GraphPattern::Group { aggregates, .. } => {
                for (variable, aggregate) in aggregates {
                    self.bind(variable, self.aggregated(aggregate));
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, variable: &'q Variable, length: f64) {
        let known = self.of.entry(variable).or_default();
        *known = known.max(length);
    }

    fn aggregated(&self, aggregate: &AggregateExpression) -> f64 {
        match aggregate {
            AggregateExpression::FunctionCall { name: AggregateFunction::GroupConcat { separator }, expr, .. } => {
                self.of(expr) + separator.as_ref().map_or(0.0, |separator| separator.len() as f64 / TEXT)
            }
            AggregateExpression::FunctionCall { expr, .. } => self.of(expr),
            AggregateExpression::CountSolutions { .. } => 1.0,
        }
    }

    fn of(&self, expression: &Expression) -> f64 {
        match expression {
            Expression::Variable(variable) => self.of.get(variable).copied().unwrap_or(1.0),
            Expression::Literal(literal) => literal.value().len() as f64 / TEXT,
            Expression::NamedNode(node) => node.as_str().len() as f64 / TEXT,
            Expression::If(_, yes, no) => self.of(yes).max(self.of(no)),
            Expression::Coalesce(list) => list.iter().map(|item| self.of(item)).fold(0.0, f64::max),
            Expression::FunctionCall(function, arguments) => self.called(function, arguments),
            // What gives a truth value or a number may still be made of what is long.
            other => operands(other).into_iter().map(|operand| self.of(operand)).fold(0.0, f64::max),
        }
    }

    fn called(&self, function: &Function, arguments: &[Expression]) -> f64 {
        let lengths = arguments.iter().map(|argument| self.of(argument));
        match (function, arguments) {
            // Each place between two characters may take the replacement.
            (Function::Replace, [text, _, replacement, ..]) => {
                self.of(text).max(1.0 / TEXT) * (1.0 + TEXT * self.of(replacement))
            }
            (Function::EncodeForUri, _) => 3.0 * lengths.sum::<f64>(),
            // `CONCAT`, and the others are no longer than that.
            _ => lengths.sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sparql::algebra::pattern_of;
    use spargebra::SparqlParser;

    fn growth(select: &str) -> f64 {
        growth_of(pattern_of(&SparqlParser::new().parse_query(select).expect("a query")))
    }

    fn doubled(times: usize) -> String {
        let binds = (0..times).map(|n| format!("BIND(CONCAT(?x{n}, ?x{n}) AS ?x{}) ", n + 1));
        format!("SELECT * {{ ?s ?p ?x0 {} }}", binds.collect::<String>())
    }

    #[test]
    fn texts_of_usual_queries_stay_short() {
        for query in [
            "SELECT (CONCAT(?a, ', ', ?b) AS ?c) { ?s ?a ?b FILTER(REGEX(LCASE(STR(?b)), 'x')) }",
            "SELECT (GROUP_CONCAT(STR(?b); separator=', ') AS ?c) { ?s ?a ?b } GROUP BY ?s",
            "SELECT (REPLACE(STR(?s), '^.*/', '') AS ?name) { ?s ?p ?o }",
            "SELECT (IRI(CONCAT('http://e.org/', ENCODE_FOR_URI(?o))) AS ?iri) { ?s ?p ?o }",
        ] {
            assert!(growth(query) < 10.0, "{query}: {}", growth(query));
        }
    }

    #[test]
    fn doublings_are_powers() {
        assert!((growth(&doubled(10)) - 1024.0).abs() < 1.0);
        assert!(growth(&doubled(60)) > 1e18);
        let replaced = "SELECT * { ?s ?p ?x BIND(REPLACE(?x, '', ?x) AS ?y) BIND(REPLACE(?y, '', ?y) AS ?z) }";
        assert!(growth(replaced) > 1e6, "{}", growth(replaced));
        let concatenated =
            "SELECT * { { SELECT (GROUP_CONCAT(CONCAT(?o, ?o)) AS ?c) { ?s ?p ?o } } BIND(CONCAT(?c, ?c) AS ?d) }";
        assert!((growth(concatenated) - 4.0).abs() < 0.1);
    }
}
