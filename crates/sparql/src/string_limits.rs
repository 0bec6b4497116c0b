//! Bounds on the length of strings that a query builds. An evaluation that doubles a string repeatedly cannot be interrupted.

use super::algebra::{expressions_of, inner_patterns, operands_of};
use oxrdf::Variable;
use rustc_hash::FxHashMap;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern,
};
use spargebra::term::NamedNodePattern;

/// Bytes that count as one string.
pub(super) const STRING_BYTES: f64 = 1000.0;

/// Returns the maximum ratio of the length of a string in the expressions of a pattern to that of a string of the
/// store, or to [`STRING_BYTES`] bytes of the query. Rows joined by `GROUP_CONCAT` count as one: the cancellation is checked while
/// they are read.
pub(super) fn growth_of(pattern: &GraphPattern) -> f64 {
    let mut lengths = Lengths::default();
    lengths.add(pattern);
    lengths.longest
}

#[derive(Default)]
struct Lengths<'q> {
    by_variable: FxHashMap<&'q Variable, f64>,
    longest: f64,
}

impl<'q> Lengths<'q> {
    /// Adds a pattern after its inner patterns, which bind the names that it reads.
    fn add(&mut self, pattern: &'q GraphPattern) {
        inner_patterns(pattern)
            .into_iter()
            .for_each(|inner| self.add(inner));
        for expression in expressions_of(pattern) {
            let length = self.factor(expression);
            self.longest = self.longest.max(length);
        }
        match pattern {
            GraphPattern::Extend {
                variable,
                expression,
                ..
            } => self.bind(variable, self.factor(expression)),
            GraphPattern::Values {
                variables,
                bindings,
            } => {
                for (column, variable) in variables.iter().enumerate() {
                    let bytes = bindings
                        .iter()
                        .filter_map(|row| row[column].as_ref())
                        .map(|term| term.to_string().len());
                    self.bind(
                        variable,
                        bytes.max().unwrap_or_default() as f64 / STRING_BYTES,
                    );
                }
            }
            GraphPattern::Group { aggregates, .. } => {
                for (variable, aggregate) in aggregates {
                    self.bind(variable, self.aggregate_factor(aggregate));
                }
            }
            // Strings of the store, also where the name is bound to shorter ones elsewhere.
            GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Service { .. } => {
                pattern.on_in_scope_variable(|variable| self.bind(variable, 1.0));
            }
            GraphPattern::Graph {
                name: NamedNodePattern::Variable(name),
                ..
            } => self.bind(name, 1.0),
            _ => {}
        }
    }

    fn bind(&mut self, variable: &'q Variable, length: f64) {
        let known = self.by_variable.entry(variable).or_default();
        *known = known.max(length);
    }

    fn aggregate_factor(&self, aggregate: &AggregateExpression) -> f64 {
        match aggregate {
            AggregateExpression::FunctionCall {
                name: AggregateFunction::GroupConcat { separator },
                expr,
                ..
            } => {
                let separator_bytes = match separator {
                    Some(separator) => separator.len() as f64,
                    None => 0.0,
                };
                self.factor(expr) + separator_bytes / STRING_BYTES
            }
            AggregateExpression::FunctionCall { expr, .. } => self.factor(expr),
            AggregateExpression::CountSolutions { .. } => 1.0,
        }
    }

    fn factor(&self, expression: &Expression) -> f64 {
        match expression {
            Expression::Variable(variable) => {
                self.by_variable.get(variable).copied().unwrap_or(1.0)
            }
            Expression::Literal(literal) => literal.value().len() as f64 / STRING_BYTES,
            Expression::NamedNode(node) => node.as_str().len() as f64 / STRING_BYTES,
            Expression::If(_, yes, no) => self.factor(yes).max(self.factor(no)),
            Expression::Coalesce(list) => list
                .iter()
                .map(|item| self.factor(item))
                .fold(0.0, f64::max),
            Expression::FunctionCall(function, arguments) => self.call_factor(function, arguments),
            // Expressions with a boolean or numeric value may still be computed from long strings.
            other => operands_of(other)
                .into_iter()
                .map(|operand| self.factor(operand))
                .fold(0.0, f64::max),
        }
    }

    /// Returns the ratio by which a string grows if a replacement takes the place of each match. A plain string matches no
    /// more often than it fits; an expression may match between all characters, and flags may shorten a plain string.
    /// Each reference of the replacement, such as `$0`, repeats at most the whole string.
    fn replacement_factor(
        &self,
        pattern: &Expression,
        replacement: &Expression,
        has_flags: bool,
    ) -> f64 {
        let bytes = STRING_BYTES * self.factor(replacement);
        let plain = match pattern {
            Expression::Literal(literal) if !literal.value().is_empty() && !has_flags => literal
                .value()
                .find(|c: char| "\\^$.|?*+()[]{}".contains(c))
                .is_none()
                .then(|| literal.value().len()),
            _ => None,
        };
        let growth = match plain {
            Some(length) => (bytes / length as f64).max(1.0),
            None => 1.0 + bytes,
        };
        match replacement {
            Expression::Literal(literal) => growth + literal.value().matches('$').count() as f64,
            // A computed replacement may consist of references, of two bytes each.
            _ => growth.max(bytes / 2.0),
        }
    }

    fn call_factor(&self, function: &Function, arguments: &[Expression]) -> f64 {
        let lengths = arguments.iter().map(|argument| self.factor(argument));
        match (function, arguments) {
            (Function::Replace, [text, pattern, replacement, flags @ ..]) => {
                self.factor(text).max(1.0 / STRING_BYTES)
                    * self.replacement_factor(pattern, replacement, !flags.is_empty())
            }
            // A byte becomes up to three characters.
            (Function::EncodeForUri, _) => 3.0 * lengths.sum::<f64>(),
            // `CONCAT`, and the others are no longer than that.
            _ => lengths.sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::pattern_of;
    use spargebra::SparqlParser;

    fn growth(select: &str) -> f64 {
        growth_of(pattern_of(
            &SparqlParser::new().parse_query(select).expect("a query"),
        ))
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
            "SELECT (REPLACE(STR(?o), ?from, ?to) AS ?x) { ?s ?p ?o . VALUES (?from ?to) { ('a' 'b') } }",
        ] {
            assert!(growth(query) < 10.0, "{query}: {}", growth(query));
        }
    }

    #[test]
    fn escaping_is_no_attack() {
        let escaped = ["&' , '&amp;", "<', '&lt;", ">', '&gt;", "\"', '&quot;"];
        let nested = escaped.iter().fold("STR(?o)".to_owned(), |inner, pair| {
            format!("REPLACE({inner}, '{pair}')")
        });
        let found = growth(&format!("SELECT ({nested} AS ?x) {{ ?s ?p ?o }}"));
        assert!((479.0..=481.0).contains(&found), "{found}");
    }

    #[test]
    fn replacements_repeat_what_they_match() {
        let nested = |replace: &str| {
            (0..3).fold("'aaaaaaaaaaaaaaaaaaaa'".to_owned(), |text, _| {
                replace.replace("TEXT", &text)
            })
        };
        for replace in [
            "REPLACE(TEXT, 'aaaaaaaaaaaaaaaaaaaa', '$0$0$0$0$0$0$0$0$0$0')",
            "REPLACE(TEXT, '                   a', 'aaaaaaaaaaaaaaaaaaaa', 'x')",
            "REPLACE(TEXT, 'aaaaaaaaaaaaaaaaaaaa', CONCAT('$0$0$0$0$0', '$0$0$0$0$0'))",
        ] {
            let query = format!("SELECT ({} AS ?x) {{}}", nested(replace));
            assert!(growth(&query) > 10.0, "{query}: {}", growth(&query));
        }
    }

    #[test]
    fn names_of_data_are_as_long_as_data() {
        let doubled = (0..10)
            .map(|n| format!("BIND(CONCAT(?x{n}, ?x{n}) AS ?x{}) ", n + 1))
            .collect::<String>();
        let query =
            format!("SELECT ?x10 {{ {{ VALUES ?x0 {{ 'a' }} }} UNION {{ ?s ?p ?x0 }} {doubled} }}");
        assert!(growth(&query) >= 1024.0, "{}", growth(&query));
    }

    #[test]
    fn doublings_are_powers() {
        assert!((growth(&doubled(10)) - 1024.0).abs() < 1.0);
        let replaced = "SELECT * { ?s ?p ?x BIND(REPLACE(?x, '', ?x) AS ?y) }";
        assert!(growth(replaced) > 1e3, "{}", growth(replaced));
        let concatenated = "SELECT * { { SELECT (GROUP_CONCAT(CONCAT(?o, ?o)) AS ?c) { ?s ?p ?o } } BIND(CONCAT(?c, ?c) AS ?d) }";
        assert!((growth(concatenated) - 4.0).abs() < 0.1);
    }
}
