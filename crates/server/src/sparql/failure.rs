//! Errors of queries, explained: the place in the query, and how to correct it.

use crate::pages::PageContext;
use lodeseek_rdf::vocab::PREFIXES;
use std::collections::BTreeSet;

/// An error of a query as a sentence.
pub(super) struct Failure {
    pub(super) sentence: String,
    /// A line that corrects the query, if known.
    pub(super) advice: Option<String>,
    pub(super) place: Option<Place>,
    /// The parser's report.
    pub(super) detail: String,
}

/// A place in a query: its line in three parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Line number from 1.
    pub(super) line: usize,
    column: usize,
    pub(super) before: String,
    pub(super) marked: String,
    pub(super) after: String,
}

impl Failure {
    /// Explains an error. Errors other than of syntax are returned as they are.
    pub(super) fn new(page: &PageContext, query: &str, message: &str) -> Self {
        let reported = location(message);
        if let Some((prefix, offset)) = undeclared_prefix(query).filter(|_| reported.is_some()) {
            let namespace = PREFIXES.iter().find(|(known, _)| *known == prefix).map(|(_, namespace)| *namespace);
            let place = Place::at_offset(query, offset, prefix.len() + 1);
            return Self {
                sentence: page.locale.text_with("sparql-unknown-prefix", &[("line", &place.line), ("prefix", &prefix)]),
                advice: Some(match namespace {
                    Some(namespace) => format!("PREFIX {prefix}: <{namespace}>"),
                    None => format!("PREFIX {prefix}: <…>"),
                }),
                place: Some(place),
                detail: String::new(),
            };
        }
        let Some((line, column, expected)) = reported else {
            return Self { sentence: message.to_owned(), advice: None, place: None, detail: String::new() };
        };
        let place = Place::at(query, line, column);
        let found = place.marked.trim();
        let sentence = if found.is_empty() {
            page.text_with("sparql-unexpected-end", "line", place.line)
        } else {
            let values: [(&str, &dyn std::fmt::Display); 3] =
                [("line", &place.line), ("column", &place.column), ("found", &found)];
            page.locale.text_with("sparql-unexpected", &values)
        };
        Self { sentence, advice: None, detail: expected.to_owned(), place: Some(place) }
    }
}

/// Parses the place of a syntax error: `error at LINE:COLUMN: REST`.
fn location(message: &str) -> Option<(usize, usize, &str)> {
    let (place, rest) = message.strip_prefix("error at ")?.split_once(": ")?;
    let (line, column) = place.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?, rest))
}

impl Place {
    /// Creates a place by line and column, with the word there.
    fn at(query: &str, line: usize, column: usize) -> Self {
        let text = query.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let mut start = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(start, _)| start);
        // After a complete word, the word itself is wrong.
        let rest = &text[start..];
        if rest.starts_with(char::is_whitespace) && !rest.trim().is_empty() {
            start = text[..start].trim_end_matches(is_name).len();
        }
        let (before, rest) = text.split_at(start);
        let spaces = rest.len() - rest.trim_start().len();
        let word = rest[spaces..].find(char::is_whitespace).map_or(rest.len(), |end| spaces + end);
        let (marked, after) = rest.split_at(word);
        Self { line, column, before: before.to_owned(), marked: marked.to_owned(), after: after.to_owned() }
    }

    /// Creates a place by an offset and a length in bytes.
    fn at_offset(query: &str, offset: usize, length: usize) -> Self {
        let start = query[..offset].rfind('\n').map_or(0, |end| end + 1);
        let end = query[offset..].find('\n').map_or(query.len(), |end| offset + end);
        Self {
            line: query[..offset].matches('\n').count() + 1,
            column: query[start..offset].chars().count() + 1,
            before: query[start..offset].to_owned(),
            marked: query[offset..offset + length].to_owned(),
            after: query[offset + length..end].to_owned(),
        }
    }
}

/// Finds the first prefixed name whose prefix the query does not declare: the prefix and its offset in bytes.
fn undeclared_prefix(query: &str) -> Option<(&str, usize)> {
    let mut declared = BTreeSet::new();
    let mut follows_keyword = false;
    let mut used = Vec::new();
    let mut place = 0;
    while let Some(character) = query[place..].chars().next() {
        let rest = &query[place..];
        let length = match character {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '<' => iri_length(rest),
            '"' | '\'' => string_length(rest, character),
            '?' | '$' | '@' => character.len_utf8() + name_length(&rest[1..]),
            _ if character == ':' || is_name(character) => {
                let length = name_length(rest);
                let name = &rest[..length];
                if rest[length..].starts_with(':') {
                    if follows_keyword {
                        declared.insert(name);
                    } else if name != "_" {
                        used.push((name, place));
                    }
                    // The local part.
                    let local = &rest[length + 1..];
                    follows_keyword = false;
                    length + 1 + local.find(|c: char| !is_name(c) && c != ':' && c != '%').unwrap_or(local.len())
                } else {
                    follows_keyword = name.eq_ignore_ascii_case("prefix");
                    length
                }
            }
            other => other.len_utf8(),
        };
        place += length.max(1);
    }
    used.into_iter().find(|(name, _)| !declared.contains(name))
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || "_-.".contains(character)
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !is_name(c)).unwrap_or(text.len())
}

/// Returns the length of an IRI in angle brackets; 1 for an operator.
fn iri_length(text: &str) -> usize {
    let end = text.find(|c: char| c == '>' || c.is_whitespace());
    end.filter(|end| text[*end..].starts_with('>')).map_or(1, |end| end + 1)
}

/// Returns the length of a string literal with its quotes.
fn string_length(text: &str, quote: char) -> usize {
    let long = quote.to_string().repeat(3);
    let (start, end) = if text.starts_with(&long) { (3, long.as_str()) } else { (1, &text[..1]) };
    let mut place = start;
    while place < text.len() {
        if text[place..].starts_with('\\') {
            place += 1 + text[place + 1..].chars().next().map_or(0, char::len_utf8);
        } else if text[place..].starts_with(end) {
            return place + end.len();
        } else {
            place += text[place..].chars().next().map_or(1, char::len_utf8);
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
            ("PREFIX foaf: <http://xmlns.com/foaf/0.1/> SELECT * { ?s foaf:name/foaf:x ?n }", None),
            ("prefix : <http://e.org/>\nSELECT * { ?s :a ex:b }", Some(("ex", 42))),
            ("SELECT * { ?s ?p \"a:b\" , 'c:d', '''e:\n'f:''' , \"\\\"g:h\" # i:j\n}", None),
            ("SELECT * { <http://e.org/a:b> ?p _:b FILTER(?p < 3 && ?p > 1) }", None),
            ("SELECT * { ?s ?p \"x\"^^xsd:date }", Some(("xsd", 22))),
            ("SELECT * { ?s :a \"ü", Some(("", 14))),
            ("é:x", Some(("é", 0))),
            ("\\\"\\", None),
        ] {
            assert_eq!(undeclared_prefix(query), expected, "{query}");
        }
    }

    #[test]
    fn places_are_lines_with_a_marked_word() {
        let query = "SELECT *\nWHERE { ?s oops }";
        let place = Place::at(query, 2, 12);
        assert_eq!((place.before.as_str(), place.marked.as_str(), place.after.as_str()), ("WHERE { ?s ", "oops", " }"));
        assert_eq!(Place::at(query, 2, 16).marked, "oops", "the parser stops behind the word");
        assert_eq!(Place::at_offset(query, 20, 4), place);
        assert_eq!(Place::at(query, 9, 99).marked, "");
        assert_eq!(location("error at 2:12: expected one of \"a\""), Some((2, 12, "expected one of \"a\"")));
        assert_eq!(location("no answer within 3 s"), None);
    }
}
