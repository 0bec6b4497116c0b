//! Errors of queries, explained: the place in the query, and how to correct it.

use crate::pages::PageContext;
use lodeseek_sparql::{SparqlLimits, SyntaxError, SyntaxErrorCause};

/// An error of a query as a sentence.
pub(super) struct Failure {
    pub(super) sentence: String,
    /// A line that corrects the query, if known.
    pub(super) advice: Option<String>,
    pub(super) place: Option<Place>,
    /// The symbols that may stand at the place.
    pub(super) detail: String,
}

/// A place in a query: its line in three parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Line number from 1.
    pub(super) line: usize,
    pub(super) before: String,
    pub(super) marked: String,
    pub(super) after: String,
}

impl Failure {
    /// Explains an error. Errors other than of syntax are returned as they are.
    pub(super) fn new(
        page: &PageContext,
        query: &str,
        message: &str,
        limits: &SparqlLimits,
    ) -> Self {
        let Some(error) = SyntaxError::find(query, limits) else {
            return Self {
                sentence: message.to_owned(),
                advice: None,
                place: None,
                detail: String::new(),
            };
        };
        let (mut advice, mut detail) = (None, String::new());
        let sentence = match &error.cause {
            SyntaxErrorCause::UndeclaredPrefix { prefix, namespace } => {
                advice = Some(format!("PREFIX {prefix}: <{}>", namespace.unwrap_or("…")));
                page.locale.text_with(
                    "sparql-unknown-prefix",
                    &[("line", &error.line), ("prefix", prefix)],
                )
            }
            SyntaxErrorCause::Unexpected { found, expected } => {
                detail = expected.join(" ");
                if found.is_empty() {
                    page.text_with("sparql-unexpected-end", "line", error.line)
                } else {
                    let values: [(&str, &dyn std::fmt::Display); 3] = [
                        ("line", &error.line),
                        ("column", &error.column),
                        ("found", found),
                    ];
                    page.locale.text_with("sparql-unexpected", &values)
                }
            }
            _ => error.to_string(),
        };
        Self {
            sentence,
            advice,
            place: Some(Place::new(&error, query)),
            detail,
        }
    }
}

impl Place {
    fn new(error: &SyntaxError, query: &str) -> Self {
        let line: Vec<char> = query
            .lines()
            .nth(error.line.saturating_sub(1))
            .unwrap_or_default()
            .chars()
            .collect();
        let start = error.column.saturating_sub(1).min(line.len());
        let end = start.saturating_add(error.length).min(line.len());
        let [before, marked, after] =
            [&line[..start], &line[start..end], &line[end..]].map(String::from_iter);
        Self {
            line: error.line,
            before,
            marked,
            after,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_with_a_marked_word() {
        let query = "SELECT *\nWHERE { ?é ?p }";
        let place = Place::new(
            &SyntaxError::find(query, &SparqlLimits::default()).expect("an error"),
            query,
        );
        assert_eq!(
            (
                place.line,
                place.before.as_str(),
                place.marked.as_str(),
                place.after.as_str()
            ),
            (2, "WHERE { ?é ?p ", "}", "")
        );
        let query = "ASK {\n?s foaf:name ?n }";
        let place = Place::new(
            &SyntaxError::find(query, &SparqlLimits::default()).expect("an error"),
            query,
        );
        assert_eq!(
            (
                place.before.as_str(),
                place.marked.as_str(),
                place.after.as_str()
            ),
            ("?s ", "foaf:", "name ?n }")
        );
        let query = "ASK {";
        let place = Place::new(
            &SyntaxError::find(query, &SparqlLimits::default()).expect("an error"),
            query,
        );
        assert_eq!(
            (place.before.as_str(), place.marked.as_str()),
            ("ASK {", "")
        );
    }
}
