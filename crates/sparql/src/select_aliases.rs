//! Parsing of queries whose `SELECT` clause uses its own variables, as in `(SUM(?x) AS ?s) (?s / 2 AS ?half)`.
//!
//! SPARQL 1.1, section 16.1.2: a new variable can be used in the expressions that follow it in the clause. The parser permits it without
//! `GROUP BY`, and rejects it with aggregates, where it allows only variables of `GROUP BY`. It does not look into `COALESCE`, which
//! returns its only argument. So if a query is rejected, each such use `?s` becomes `COALESCE(?s)`, and the query is
//! parsed again. Uses of other variables are still rejected.

use spargebra::{Query, SparqlParser, SparqlSyntaxError};
use std::collections::BTreeSet;

/// Byte order mark, which may begin a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text of a query without its byte order mark.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Parses a query.
pub(crate) fn parse_query(parser: SparqlParser, text: &str) -> Result<Query, SparqlSyntaxError> {
    let text = without_mark(text);
    let error = match parser.clone().parse_query(text) {
        Ok(query) => return Ok(query),
        Err(error) => error,
    };
    // The parser reports the farthest place at which it failed, which may be another one.
    match wrap_aliases(text) {
        Some(wrapped) => parser.parse_query(&wrapped).map_err(|_| error),
        None => Err(error),
    }
}

/// Writes `COALESCE` around each use of a variable that an earlier expression of the same `SELECT` clause defines. `None` if there is
/// no such use.
fn wrap_aliases(text: &str) -> Option<String> {
    let tokens: Vec<Token> = Tokens { text, place: 0 }.collect();
    let mut uses = BTreeSet::new();
    for (place, token) in tokens.iter().enumerate() {
        if token.is_word(text, "SELECT") {
            find_uses(text, &tokens[place + 1..], &mut uses);
        }
    }
    if uses.is_empty() {
        return None;
    }
    let mut wrapped = String::with_capacity(text.len() + uses.len() * "COALESCE()".len());
    let mut end = 0;
    for (start, next) in uses {
        wrapped.push_str(&text[end..start]);
        wrapped.push_str("COALESCE(");
        wrapped.push_str(&text[start..next]);
        wrapped.push(')');
        end = next;
    }
    Some(wrapped + &text[end..])
}

/// Adds the places of the uses in one `SELECT` clause, whose tokens follow the keyword.
fn find_uses(text: &str, tokens: &[Token], uses: &mut BTreeSet<(usize, usize)>) {
    let mut aliases = BTreeSet::new();
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        let is_option = token.is_word(text, "DISTINCT") || token.is_word(text, "REDUCED");
        if is_option || token.kind == TokenKind::Variable {
            place += 1;
            continue;
        }
        let Some(item) = bracketed_tokens(&tokens[place..]) else {
            return;
        };
        place += item.len();
        let [_, expression @ .., keyword, alias, _] = item else {
            return;
        };
        if !keyword.is_word(text, "AS") || alias.kind != TokenKind::Variable {
            return;
        }
        let mut braces = 0_usize;
        for (number, token) in expression.iter().enumerate() {
            match token.kind {
                TokenKind::Open('{') => braces += 1,
                TokenKind::Close('}') => braces = braces.saturating_sub(1),
                TokenKind::Variable
                    if braces == 0
                        && aliases.contains(token.name(text))
                        && !is_tested(text, &expression[..number]) =>
                {
                    uses.insert((token.start, token.end));
                }
                _ => {}
            }
        }
        aliases.insert(alias.name(text));
    }
}

/// Returns true if the tokens before a variable are `BOUND (`, whose argument must be a variable.
fn is_tested(text: &str, before: &[Token]) -> bool {
    matches!(before, [.., bound, open] if bound.is_word(text, "BOUND") && open.kind == TokenKind::Open('('))
}

/// Returns the tokens from an opening round bracket to its counterpart.
fn bracketed_tokens(tokens: &[Token]) -> Option<&[Token]> {
    if tokens.first()?.kind != TokenKind::Open('(') {
        return None;
    }
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(&tokens[..=place]);
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TokenKind {
    Variable,
    /// A keyword, a prefixed name, a number or a label.
    Word,
    Open(char),
    Close(char),
    /// An IRI, a string or an operator.
    Other,
}

/// A token and its place in the text.
#[derive(Clone, Copy, Debug)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
}

impl Token {
    fn is_word(&self, text: &str, word: &str) -> bool {
        self.kind == TokenKind::Word && text[self.start..self.end].eq_ignore_ascii_case(word)
    }

    /// Returns the name of a variable.
    fn name<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start + 1..self.end]
    }
}

/// Tokens of a query, without comments.
struct Tokens<'t> {
    text: &'t str,
    place: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let mut rest = self.text[self.place..].trim_start();
        while rest.starts_with('#') {
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            rest = rest[end..].trim_start();
        }
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            '?' | '$' => match name_length(&rest[1..]) {
                0 => (TokenKind::Other, 1),
                length => (TokenKind::Variable, 1 + length),
            },
            '(' | '{' | '[' => (TokenKind::Open(first), 1),
            ')' | '}' | ']' => (TokenKind::Close(first), 1),
            '"' | '\'' => (TokenKind::Other, string_length(rest, first)),
            '<' => (TokenKind::Other, iri_length(rest)),
            _ if is_word_character(first) => (TokenKind::Word, word_length(rest)),
            _ => (TokenKind::Other, first.len_utf8()),
        };
        let start = self.text.len() - rest.len();
        self.place = start + length;
        Some(Token {
            kind,
            start,
            end: self.place,
        })
    }
}

fn is_word_character(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | ':' | '%' | '\\')
}

/// Returns the length of a name of a variable.
fn name_length(text: &str) -> usize {
    let end = text.find(|char: char| {
        !(char.is_alphanumeric()
            || matches!(
                char,
                '_' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}'
            ))
    });
    end.unwrap_or(text.len())
}

/// Returns the length of a word. Hyphens and full stops belong to names, not to numbers.
fn word_length(text: &str) -> usize {
    let is_number = text.starts_with(|char: char| char.is_ascii_digit());
    let end = text
        .find(|char: char| !(is_word_character(char) || !is_number && matches!(char, '-' | '.')));
    end.unwrap_or(text.len())
}

/// Returns the length of an IRI in angle brackets, or 1 for the operator `<`.
fn iri_length(text: &str) -> usize {
    let end = text[1..].find(|char: char| {
        char <= ' ' || matches!(char, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`')
    });
    match end {
        Some(end) if text[1 + end..].starts_with('>') => end + 2,
        _ => 1,
    }
}

/// Returns the length of a string with its quotation marks.
fn string_length(text: &str, quote: char) -> usize {
    let long: String = [quote; 3].iter().collect();
    let mark = if text.starts_with(&long) {
        &long
    } else {
        &long[..1]
    };
    let mut place = mark.len();
    while let Some(char) = text[place..].chars().next() {
        if text[place..].starts_with(mark) {
            return place + mark.len();
        }
        place += char.len_utf8();
        if char == '\\'
            && let Some(escaped) = text[place..].chars().next()
        {
            place += escaped.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxigraph::sparql::{QueryResults, SparqlEvaluator};
    use oxigraph::store::Store;

    const DATA: &str = "{ VALUES (?k ?x) { ('a' 1) ('a' 3) ('b' 10) } }";

    /// Returns the values of the rows of a query, sorted.
    fn rows(select: &str, end: &str) -> Vec<String> {
        let text = format!("{select} {DATA} {end}");
        let query = parse_query(SparqlParser::new(), &text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let store = Store::new().expect("a store");
        let results = SparqlEvaluator::new()
            .for_query(query)
            .on_store(&store)
            .execute();
        let Ok(QueryResults::Solutions(solutions)) = results else {
            panic!("{text}")
        };
        let mut rows: Vec<String> = solutions
            .map(|solution| {
                let solution = solution.expect("a solution");
                let values = solution.values().iter().map(|value| match value {
                    Some(oxrdf::Term::Literal(literal)) => literal.value().to_owned(),
                    _ => "-".to_owned(),
                });
                values.collect::<Vec<_>>().join(" ")
            })
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn new_variables_are_used_in_later_expressions() {
        for (select, end, expected) in [
            (
                "SELECT ?k (COUNT(*) AS ?n) (SUM(?x) AS ?s) (?s/?n AS ?avg)",
                "GROUP BY ?k",
                &["a 2 4 2", "b 1 10 10"][..],
            ),
            (
                "\u{feff}# SELECT (1 AS ?s)\nselect distinct ?k ( sum(?x)as ?s ) (?s*2 as ?t)(?t+$s AS ?u)",
                "GROUP BY ?k",
                &["a 4 8 12", "b 10 20 30"],
            ),
            (
                "SELECT (SUM(?x) AS ?s) (IF(BOUND(?s) && ?s<20, '?s) AS \\'', \"\"\"it's ?s\"\"\") AS ?t)",
                "",
                &["14 ?s) AS '"],
            ),
            (
                "SELECT ?k (MAX(?x) AS ?m) (?m IN (3, 4) AS ?i) (EXISTS { BIND(?m AS ?z) } AS ?e)",
                "GROUP BY ?k ORDER BY ?m",
                &["a 3 true true", "b 10 false true"],
            ),
            (
                "SELECT ?k (?s / 2 AS ?h) { SELECT ?k (SUM(?x) AS ?s) (-?s AS ?minus)",
                "GROUP BY ?k }",
                &["a 2", "b 5"],
            ),
        ] {
            assert_eq!(rows(select, end), expected, "{select}");
        }
    }

    #[test]
    fn other_variables_are_rejected() {
        for select in [
            "SELECT ?k (SUM(?x) AS ?s) (?x AS ?y)",
            "SELECT ?k (?s + 1 AS ?t) (SUM(?x) AS ?s)",
            "SELECT ?k (SUM(?x) AS ?s) (?other + ?s AS ?y)",
            "SELECT ?k (SUM(?x) AS ?s) (?s AS ?s)",
        ] {
            let text = format!("{select} {DATA} GROUP BY ?k");
            assert!(parse_query(SparqlParser::new(), &text).is_err(), "{text}");
        }
    }
}
