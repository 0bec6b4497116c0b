//! Order of the columns of `SELECT *`.
//!
//! SPARQL does not define it, and the parser sorts the variables by name. Users expect the columns of a table in the order of their
//! query, so the variables are sorted by their first occurrence in the pattern.

use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, Variable};

/// Sorts the variables of `SELECT *` by the order of the pattern. Other queries are unchanged.
pub(crate) fn order_columns(query: &mut Query, text: &str) {
    let Query::Select { pattern, .. } = query else {
        return;
    };
    if !selects_all(text) {
        return;
    }
    let mut pattern = pattern;
    loop {
        match pattern {
            GraphPattern::Slice { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner } => {
                pattern = inner;
            }
            GraphPattern::Project { inner, variables } => {
                let mut ordered = Vec::with_capacity(variables.len());
                visit_variables(inner, &mut |variable| {
                    if variables.contains(variable) && !ordered.contains(variable) {
                        ordered.push(variable.clone());
                    }
                });
                debug_assert_eq!(ordered.len(), variables.len(), "all variables are in scope");
                *variables = ordered;
                return;
            }
            _ => return,
        }
    }
}

/// Visits the variables in scope from left to right. `BIND` follows the pattern that it extends.
fn visit_variables(pattern: &GraphPattern, visit: &mut impl FnMut(&Variable)) {
    match pattern {
        GraphPattern::Extend {
            inner, variable, ..
        } => {
            visit_variables(inner, visit);
            visit(variable);
        }
        GraphPattern::Join { left, right }
        | GraphPattern::LeftJoin { left, right, .. }
        | GraphPattern::Union { left, right } => {
            visit_variables(left, visit);
            visit_variables(right, visit);
        }
        GraphPattern::Filter { inner, .. } | GraphPattern::OrderBy { inner, .. } => {
            visit_variables(inner, visit)
        }
        GraphPattern::Graph { name, inner } => {
            if let NamedNodePattern::Variable(graph) = name {
                visit(graph);
            }
            visit_variables(inner, visit);
        }
        other => other.on_in_scope_variable(visit),
    }
}

/// Returns true if a valid query begins, after its prologue, with `SELECT *`.
fn selects_all(text: &str) -> bool {
    let mut tokens = Tokens(text);
    tokens
        .by_ref()
        .find(|token| token.eq_ignore_ascii_case("select"));
    tokens.find(|token| !is_duplicate_option(token)) == Some("*")
}

fn is_duplicate_option(token: &str) -> bool {
    token.eq_ignore_ascii_case("distinct") || token.eq_ignore_ascii_case("reduced")
}

/// Tokens of a prologue and of the start of a `SELECT` clause: IRIs, words and single characters, without comments. A prefix
/// and its colon are one word.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        self.0 = self.0.trim_start();
        while self.0.starts_with('#') {
            let end = self.0.find(['\n', '\r']).unwrap_or(self.0.len());
            self.0 = self.0[end..].trim_start();
        }
        let first = self.0.chars().next()?;
        let end = match first {
            '<' => match self.0.find('>') {
                Some(end) => end + 1,
                None => self.0.len(),
            },
            _ if is_word_character(first) => {
                let end = self.0.find(|c| !is_word_character(c));
                end.unwrap_or(self.0.len())
            }
            _ => first.len_utf8(),
        };
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ':' | '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::SparqlParser;

    fn columns(text: &str) -> Vec<String> {
        let mut query = SparqlParser::new()
            .parse_query(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        order_columns(&mut query, text);
        let Query::Select { mut pattern, .. } = query else {
            panic!("no SELECT: {text}")
        };
        loop {
            match pattern {
                GraphPattern::Slice { inner, .. }
                | GraphPattern::Distinct { inner }
                | GraphPattern::Reduced { inner } => {
                    pattern = *inner;
                }
                GraphPattern::Project { variables, .. } => {
                    return variables
                        .into_iter()
                        .map(|variable| variable.into_string())
                        .collect();
                }
                other => panic!("no projection: {other}"),
            }
        }
    }

    #[test]
    fn columns_of_all_variables_are_in_the_order_of_the_pattern() {
        for (text, expected) in [
            ("SELECT * { ?s ?p ?o }", &["s", "p", "o"][..]),
            (
                "select*{ GRAPH ?z { ?y <p:x> ?a } OPTIONAL { ?y <p:y> ?b } }",
                &["z", "y", "a", "b"],
            ),
            (
                "# SELECT ?a\nPREFIX select: <http://e.org/#select>\nSELECT DISTINCT * { ?t select:x ?a } LIMIT 3",
                &["t", "a"],
            ),
            (
                "SELECT REDUCED # all\n * { ?z <p:x> ?y BIND(?y AS ?c) } ORDER BY ?c",
                &["z", "y", "c"],
            ),
            (
                "SELECT * { { SELECT ?b ?a { ?a <p:x>* ?b } } VALUES (?d ?c) { (1 2) } }",
                &["b", "a", "d", "c"],
            ),
            (
                "SELECT * { ?z <p:x>/<p:y> ?y . ?x <p:x> ?z }",
                &["z", "y", "x"],
            ),
        ] {
            assert_eq!(columns(text), expected, "{text}");
        }
    }

    #[test]
    fn named_columns_keep_their_order() {
        for (text, expected) in [
            ("SELECT ?b ?a { ?a <p:x> ?b }", &["b", "a"][..]),
            ("SELECT ?a ?b { ?b <p:x> ?a }", &["a", "b"]),
            ("SELECT (COUNT(*) AS ?n) { ?b <p:x> ?a }", &["n"]),
            ("SELECT ?a { { SELECT * { ?b <p:x> ?a } } }", &["a"]),
        ] {
            assert_eq!(columns(text), expected, "{text}");
        }
    }
}
