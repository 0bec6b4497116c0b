//! Syntax errors of queries: the place, the cause, and the correction if it is known.
//!
//! The parser reports the farthest place at which it failed, and everything that it tried there: often keywords that would not help.
//! The causes that are frequent are found by a scan of the text: an undeclared prefix, an update, a misspelled query form.

use super::limits::{SparqlLimits, check_size};
use super::on_deep_stack;
use super::select_aliases::{parse_query, without_mark};
use lodeseek_rdf::vocab::PREFIXES;
use spargebra::SparqlParser;
use std::collections::BTreeSet;
use std::fmt;

/// The keywords that begin a query, after its prologue.
const QUERY_FORMS: [&str; 4] = ["SELECT", "CONSTRUCT", "DESCRIBE", "ASK"];
/// The keywords that begin an update, after its prologue.
const UPDATE_FORMS: [&str; 10] = [
    "INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH",
];
/// Maximum number of expected symbols in a message. The parser lists more where almost anything may follow.
const MAX_EXPECTED: usize = 8;

/// A syntax error of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Number of characters that are wrong; 0 at the end of the query.
    pub length: usize,
    /// The cause.
    pub cause: SyntaxErrorCause,
}

/// Cause of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorCause {
    /// A prefix is used without a declaration.
    UndeclaredPrefix {
        /// The prefix, without the colon.
        prefix: String,
        /// Its namespace, if it is well known.
        namespace: Option<&'static str>,
    },
    /// The text is an update.
    Update,
    /// The text begins with another word than a query.
    NoQueryForm {
        /// The word; empty if there is none.
        found: String,
    },
    /// The query breaks a rule that the parser states.
    Rule(String),
    /// The text cannot continue like this.
    Unexpected {
        /// The word at the place; empty at the end of the query.
        found: String,
        /// Symbols that may stand there.
        expected: Vec<String>,
    },
}

impl SyntaxError {
    /// Returns the syntax error of a query, or `None` if it has none or exceeds the limits of size and nesting: such a query is not
    /// parsed.
    #[must_use]
    pub fn find(query: &str, limits: &SparqlLimits) -> Option<Self> {
        check_size(query, limits).ok()?;
        let parser = SparqlParser::new()
            .with_base_iri("http://localhost/")
            .ok()?;
        let query = without_mark(query);
        let error = on_deep_stack(|| {
            parse_query(parser, query)
                .err()
                .map(|error| error.to_string())
        })
        .ok()??;
        Some(Self::new(query, &error))
    }

    /// Explains the message of the parser.
    pub(crate) fn new(query: &str, message: &str) -> Self {
        let names = find_names(query);
        let (form, word) = find_query_form(&names, query);
        if is_one_of(word, &UPDATE_FORMS) {
            return Self::at_offset(query, form, word.chars().count(), SyntaxErrorCause::Update);
        }
        if let Some((prefix, offset)) = undeclared_prefix(&names) {
            let namespace = PREFIXES
                .iter()
                .find(|(known, _)| *known == prefix)
                .map(|(_, namespace)| *namespace);
            let cause = SyntaxErrorCause::UndeclaredPrefix {
                prefix: prefix.to_owned(),
                namespace,
            };
            return Self::at_offset(query, offset, prefix.chars().count() + 1, cause);
        }
        if !is_one_of(word, &QUERY_FORMS) {
            let cause = SyntaxErrorCause::NoQueryForm {
                found: word.to_owned(),
            };
            return Self::at_offset(query, form, word.chars().count(), cause);
        }
        let Some((line, column, expected)) = parse_location(message) else {
            return Self {
                line: 1,
                column: 1,
                length: 0,
                cause: SyntaxErrorCause::Rule(message.to_owned()),
            };
        };
        let query = query.trim_end();
        let (offset, found) = word_at(query, offset_of(query, line, column));
        let (rules, expected) = parse_alternatives(expected);
        let cause = match rules.into_iter().next() {
            Some(rule) => SyntaxErrorCause::Rule(rule),
            None => SyntaxErrorCause::Unexpected {
                found: found.to_owned(),
                expected,
            },
        };
        Self::at_offset(query, offset, found.chars().count(), cause)
    }

    fn at_offset(query: &str, offset: usize, length: usize, cause: SyntaxErrorCause) -> Self {
        let start = match query[..offset].rfind('\n') {
            Some(end) => end + 1,
            None => 0,
        };
        let line = query[..offset].matches('\n').count() + 1;
        Self {
            line,
            column: query[start..offset].chars().count() + 1,
            length,
            cause,
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        match &self.cause {
            SyntaxErrorCause::UndeclaredPrefix { prefix, namespace } => {
                let namespace = namespace.unwrap_or("…");
                write!(
                    f,
                    "the prefix {prefix}: is not declared; add PREFIX {prefix}: <{namespace}>"
                )
            }
            SyntaxErrorCause::Update => {
                f.write_str("updates are not supported: queries are read-only")
            }
            SyntaxErrorCause::NoQueryForm { found } => {
                let [first, second, third, last] = QUERY_FORMS;
                write!(
                    f,
                    "a query begins with {first}, {second}, {third} or {last}"
                )?;
                if found.is_empty() {
                    Ok(())
                } else {
                    write!(f, ", not with {found}")
                }
            }
            SyntaxErrorCause::Rule(rule) => f.write_str(rule),
            SyntaxErrorCause::Unexpected { found, expected } => {
                if found.is_empty() {
                    f.write_str("the query ends too early")?;
                } else {
                    write!(f, "{found} is not possible here")?;
                }
                match expected.as_slice() {
                    [] => Ok(()),
                    [one] => write!(f, "; expected {one}"),
                    several => write!(f, "; expected one of {}", several.join(" ")),
                }
            }
        }
    }
}

/// Parses the place of a syntax error: `error at LINE:COLUMN: REST`.
fn parse_location(message: &str) -> Option<(usize, usize, &str)> {
    let (place, rest) = message.strip_prefix("error at ")?.split_once(": ")?;
    let (line, column) = place.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?, rest))
}

/// Returns the rules that the parser states, and the symbols of one or two characters that it expects. Keywords and classes of
/// characters are omitted: they are what the parser tried last, not what is missing.
fn parse_alternatives(expected: &str) -> (Vec<String>, Vec<String>) {
    let list = expected
        .strip_prefix("expected one of ")
        .or_else(|| expected.strip_prefix("expected "))
        .unwrap_or(expected);
    let (mut rules, mut symbols) = (Vec::new(), Vec::new());
    for part in list.split(", ") {
        let symbol = part
            .strip_prefix('"')
            .and_then(|part| part.strip_suffix('"'));
        if let Some(symbol) =
            symbol.filter(|symbol| matches!(symbol.len(), 1 | 2) && !symbol.starts_with('\\'))
        {
            symbols.push(symbol.to_owned());
        } else if part.contains(' ') && part.starts_with(|first: char| first.is_ascii_uppercase()) {
            rules.push(part.to_owned());
        }
    }
    if symbols.len() > MAX_EXPECTED {
        symbols.clear();
    }
    (rules, symbols)
}

/// Returns the offset of a line and column; that of the end if they are beyond it.
fn offset_of(query: &str, line: usize, column: usize) -> usize {
    let mut offset = 0;
    for (number, text) in query.split_inclusive('\n').enumerate() {
        if number + 1 == line {
            return match text.char_indices().nth(column.saturating_sub(1)) {
                Some((start, _)) => offset + start,
                None => offset + text.len(),
            };
        }
        offset += text.len();
    }
    query.len()
}

/// Returns the word at an offset, and its own offset. Behind a word, the parser has read it, and it is wrong as a whole. The parser
/// reads on behind a pattern that is incomplete, up to the end of a query whose brackets are closed: then it is the last bracket.
fn word_at(query: &str, offset: usize) -> (usize, &str) {
    let (before, rest) = query.split_at(offset);
    if rest.is_empty()
        && query.ends_with('}')
        && query.matches('{').count() == query.matches('}').count()
    {
        return (query.len() - 1, "}");
    }
    let is_behind_word = rest.starts_with(char::is_whitespace);
    let start = if is_behind_word {
        before.trim_end_matches(is_name).len()
    } else {
        offset
    };
    let rest = query[start..].trim_start();
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    (query.len() - rest.len(), &rest[..end])
}

/// A keyword, number or prefix in a query.
struct Name<'q> {
    text: &'q str,
    offset: usize,
    /// If true, a colon and a local part follow.
    is_prefix: bool,
}

impl Name<'_> {
    fn is_one_of(&self, keywords: &[&str]) -> bool {
        !self.is_prefix && is_one_of(self.text, keywords)
    }
}

fn is_one_of(word: &str, keywords: &[&str]) -> bool {
    keywords
        .iter()
        .any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Returns the names of a query outside of comments, IRIs, strings, variables and language tags.
fn find_names(query: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    let mut offset = 0;
    while let Some(character) = query[offset..].chars().next() {
        let rest = &query[offset..];
        offset += match character {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '<' => iri_length(rest),
            '"' | '\'' => string_length(rest, character),
            '?' | '$' => {
                1 + rest[1..]
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len() - 1)
            }
            '@' => 1 + name_length(&rest[1..]),
            _ if character == ':' || is_name(character) && !matches!(character, '.' | '-') => {
                let length = name_length(rest);
                let is_prefix = rest[length..].starts_with(':');
                names.push(Name {
                    text: &rest[..length],
                    offset,
                    is_prefix,
                });
                if is_prefix {
                    length + 1 + local_length(&rest[length + 1..])
                } else {
                    length
                }
            }
            other => other.len_utf8(),
        };
    }
    names
}

/// Returns the first word after the prologue (`BASE`, `PREFIX`, `VERSION`), and its offset; that of the end without one.
fn find_query_form<'q>(names: &[Name<'q>], query: &'q str) -> (usize, &'q str) {
    let first = (0..names.len()).find(|&place| {
        let is_declared =
            names[place].is_prefix && place > 0 && names[place - 1].is_one_of(&["prefix"]);
        !is_declared && !names[place].is_one_of(&["base", "prefix", "version"])
    });
    match first {
        Some(place) => (names[place].offset, names[place].text),
        None => (query.len(), ""),
    }
}

/// Finds the first prefixed name whose prefix the query does not declare: the prefix and its offset in bytes.
fn undeclared_prefix<'q>(names: &[Name<'q>]) -> Option<(&'q str, usize)> {
    // Labels of blank nodes look like prefixed names.
    let mut declared = BTreeSet::from(["_"]);
    let mut used = Vec::new();
    let mut follows_keyword = false;
    for name in names {
        if name.is_prefix && follows_keyword {
            declared.insert(name.text);
        } else if name.is_prefix {
            used.push((name.text, name.offset));
        }
        follows_keyword = name.is_one_of(&["prefix"]);
    }
    used.into_iter()
        .find(|(prefix, _)| !declared.contains(prefix))
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || "_-.".contains(character)
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !is_name(c)).unwrap_or(text.len())
}

/// Returns the length of the part of a prefixed name after the colon.
fn local_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|c: char| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        !was_escaped && !is_name(c) && !matches!(c, ':' | '%' | '\\')
    });
    end.unwrap_or(text.len())
}

/// Returns the length of an IRI in angle brackets; 1 for an operator.
fn iri_length(text: &str) -> usize {
    match text.find(|c: char| c == '>' || c.is_whitespace()) {
        Some(end) if text[end..].starts_with('>') => end + 1,
        _ => 1,
    }
}

/// Returns the length of a string literal with its quotes.
fn string_length(text: &str, quote: char) -> usize {
    let long = quote.to_string().repeat(3);
    let (start, end) = if text.starts_with(&long) {
        (3, long.as_str())
    } else {
        (1, &text[..1])
    };
    let mut place = start;
    while let Some(char) = text[place..].chars().next() {
        if text[place..].starts_with(end) {
            return place + end.len();
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

    #[test]
    fn undeclared_prefixes_are_found() {
        for (query, expected) in [
            ("SELECT * { ?s foaf:name ?n }", Some(("foaf", 14))),
            (
                "PREFIX foaf: <http://xmlns.com/foaf/0.1/> SELECT * { ?s foaf:name/foaf:x ?n }",
                None,
            ),
            (
                "prefix : <http://e.org/>\nSELECT * { ?s :a ex:b }",
                Some(("ex", 42)),
            ),
            (
                "SELECT * { ?s ?p \"a:b\" , 'c:d', '''e:\n'f:''' , \"\\\"g:h\" # i:j\n}",
                None,
            ),
            (
                "SELECT * { <http://e.org/a:b> ?p _:b FILTER(?p < 3 && ?p > 1) }",
                None,
            ),
            ("SELECT * { ?s ?p \"x\"^^xsd:date }", Some(("xsd", 22))),
            ("SELECT * { ?s :a \"ü", Some(("", 14))),
            (
                "PREFIX ex: <e:> SELECT * { ?s a ex:A .ex:b ex:p ?o.ex:c ex:d\\,e:f ; ex:q 1 . }",
                None,
            ),
            ("é:x", Some(("é", 0))),
            ("\\\"\\", None),
        ] {
            assert_eq!(undeclared_prefix(&find_names(query)), expected, "{query}");
        }
    }

    #[test]
    fn errors_have_a_place_a_cause_and_a_correction() {
        for (query, expected) in [
            (
                "SELECT * { ?s foaf:name ?n }",
                "line 1, column 15: the prefix foaf: is not declared; add PREFIX foaf: <http://xmlns.com/foaf/0.1/>",
            ),
            (
                "SELECT *\n{ ?s my:name ?n }",
                "line 2, column 6: the prefix my: is not declared; add PREFIX my: <…>",
            ),
            (
                "SELECT * WHERE { ?s ?p }",
                "line 1, column 24: } is not possible here",
            ),
            (
                "SELECT * { ?s ?p ?o ",
                "the query ends too early; expected one of , . ; { {| } ~",
            ),
            (
                "SELEC * {}",
                "line 1, column 1: a query begins with SELECT, CONSTRUCT, DESCRIBE or ASK, not with SELEC",
            ),
            (
                "",
                "line 1, column 1: a query begins with SELECT, CONSTRUCT, DESCRIBE or ASK",
            ),
            (
                "# a comment\nPREFIX a: <b:> delete WHERE { ?s ?p ?o }",
                "line 2, column 16: updates are not supported: queries are read-only",
            ),
            (
                "BASE <x:> SELECT * { ?s ?p }",
                "line 1, column 28: } is not possible here",
            ),
            (
                "VERSION \"1.2\" INSERT DATA {}",
                "line 1, column 15: updates are not supported",
            ),
            ("PREFIX prefix: <e:> SELEKT", "not with SELEKT"),
            (
                "SELECT ?x { ?s ?p ?o } GROUP BY ?s",
                "The SELECT contains a variable that is unbound",
            ),
        ] {
            let message = SyntaxError::find(query, &SparqlLimits::default())
                .expect("an error")
                .to_string();
            assert!(message.contains(expected), "{query}: {message}");
            assert!(
                !message.contains('[') && !message.contains("LATERAL"),
                "{query}: {message}"
            );
        }
        let query = "VERSION \"1.2\" BASE <http://e.org/> ASK { <a> ?p ?o }";
        assert_eq!(SyntaxError::find(query, &SparqlLimits::default()), None);
    }

    #[test]
    fn the_place_is_that_of_the_wrong_word() {
        let place = |query: &str| {
            let error = SyntaxError::find(query, &SparqlLimits::default()).expect("an error");
            (error.line, error.column, error.length)
        };
        assert_eq!(place("SELECT *\nWHERE { ?s ?p }\n\n"), (2, 15, 1));
        assert_eq!(place("ASK {\n"), (1, 6, 0));
        let query = "ASK { ?é oops\n ?o }";
        assert_eq!(word_at(query, offset_of(query, 1, 10)), (10, "oops"));
        assert_eq!(
            word_at(query, offset_of(query, 1, 14)),
            (10, "oops"),
            "the parser stops behind the word"
        );
        assert_eq!(word_at("ASK {", offset_of("ASK {", 9, 99)), (5, ""));
        assert_eq!(
            parse_location("error at 2:12: expected one of \"a\""),
            Some((2, 12, "expected one of \"a\""))
        );
        assert_eq!(parse_location("no answer within 3 s"), None);
    }

    proptest::proptest! {
        /// No text makes the explanation panic, and its place lies in the text.
        #[test]
        fn any_text_is_explained(text in "[ -~é\n]{0,60}", line in 0_usize..5, column in 0_usize..70) {
            let error = SyntaxError::new(&text, &format!("error at {line}:{column}: expected one of \"a\", [_]"));
            let of_line = text.lines().nth(error.line - 1).unwrap_or_default().chars().count();
            proptest::prop_assert!(error.column >= 1 && error.column - 1 + error.length <= of_line, "{error:?}");
        }
    }
}
