//! Query syntax: phrases in quotation marks, excluded words, and names of classes and properties.
//!
//! | written | part |
//! |---|---|
//! | `air quality` | two words |
//! | `"air quality"`, `“air quality”`, `„Luftqualität“`, `«qualité de l'air»` | a phrase |
//! | `-Berlin`, `-"New York"`, `-foaf:Person` | an excluded word, phrase or name |
//! | `foaf:Person`, `<http://xmlns.com/foaf/0.1/Person>`, `http://xmlns.com/foaf/0.1/` | a name |
//!
//! Every text is a query: anything else is a word. A quotation mark without its counterpart belongs to a word. A minus
//! excludes only at the beginning of a word, and only before a letter, a quotation mark or `<`: `air-quality`, `-5` and
//! `2010 - 2015` exclude nothing.

use lodeseek_rdf::vocab::PREFIXES;
use std::ops::Range;

/// Maximum number of phrases, exclusions and names in a query. Those after them are words.
const MAX_OPERATORS: usize = 16;
/// Opening quotation marks with the marks that close them.
const QUOTATION_MARKS: [(char, &[char]); 4] = [
    ('"', &['"']),
    ('“', &['”', '"']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
];

/// Form of a part of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartForm {
    /// Text between spaces.
    Word,
    /// Text in quotation marks.
    Phrase,
    /// IRI or prefixed name.
    Name,
}

/// Part of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryPart {
    /// Form.
    pub form: PartForm,
    /// Text without quotation marks, minus and angle brackets.
    pub text: String,
    /// If true, datasets with this part are excluded.
    pub excluded: bool,
    /// Range of its bytes in the query, with quotation marks, minus and angle brackets.
    pub range: Range<usize>,
}

impl QueryPart {
    /// Returns the IRI of a name: prefixes are expanded. `None` for other forms.
    #[must_use]
    pub fn iri(&self) -> Option<String> {
        if self.form == PartForm::Name {
            expand_name(&self.text)
        } else {
            None
        }
    }
}

/// Splits a query into its parts, in their order. A blank query has none.
///
/// ```
/// use lodeseek_index::{PartForm, parse_query};
/// let parts = parse_query("\"air quality\" Madrid -traffic skos:Concept");
/// let forms: Vec<_> = parts.iter().map(|part| (part.form, part.text.as_str(), part.excluded)).collect();
/// assert_eq!(forms, [
///     (PartForm::Phrase, "air quality", false),
///     (PartForm::Word, "Madrid", false),
///     (PartForm::Word, "traffic", true),
///     (PartForm::Name, "skos:Concept", false),
/// ]);
/// ```
#[must_use]
pub fn parse_query(query: &str) -> Vec<QueryPart> {
    let mut parts = Vec::new();
    let mut operators = 0;
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let (mut part, after) = if operators < MAX_OPERATORS {
            next_part(rest)
        } else {
            next_word(rest)
        };
        part.range = query.len() - rest.len()..query.len() - after.len();
        operators += usize::from(part.excluded || part.form != PartForm::Word);
        parts.push(part);
        rest = after.trim_start();
    }
    parts
}

/// Reads a part at the beginning of a text that begins with no space. Returns it, without its range, and the text after it.
fn next_part(text: &str) -> (QueryPart, &str) {
    let unsigned = text.strip_prefix('-').filter(|after| is_excludable(after));
    let content = unsigned.unwrap_or(text);
    let excluded = unsigned.is_some();
    if let Some((phrase, after)) = split_phrase(content) {
        return (
            QueryPart {
                form: PartForm::Phrase,
                text: phrase.to_owned(),
                excluded,
                range: 0..0,
            },
            after,
        );
    }
    let (word, after) = next_word(content);
    let name = word
        .text
        .strip_prefix('<')
        .and_then(|name| name.strip_suffix('>'))
        .unwrap_or(&word.text);
    if expand_name(name).is_some() {
        return (
            QueryPart {
                form: PartForm::Name,
                text: name.to_owned(),
                excluded,
                range: 0..0,
            },
            after,
        );
    }
    (QueryPart { excluded, ..word }, after)
}

/// Reads a text up to the next space as a word.
fn next_word(text: &str) -> (QueryPart, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let word = QueryPart {
        form: PartForm::Word,
        text: text[..end].to_owned(),
        excluded: false,
        range: 0..0,
    };
    (word, &text[end..])
}

/// Returns true if a minus before this text excludes it.
fn is_excludable(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '<')
        || split_phrase(text).is_some()
}

/// Returns a phrase in quotation marks at the beginning of a text, and the text after it.
fn split_phrase(text: &str) -> Option<(&str, &str)> {
    let opening = text.chars().next()?;
    let (_, closing) = QUOTATION_MARKS.iter().find(|(mark, _)| *mark == opening)?;
    let content = &text[opening.len_utf8()..];
    let end = content.find(*closing)?;
    let phrase = content[..end].trim();
    let closing = content[end..].chars().next()?;
    (!phrase.is_empty()).then(|| (phrase, &content[end + closing.len_utf8()..]))
}

/// Returns the IRI that a text names: itself if it is an address of the web, or the expansion of a well-known prefix.
fn expand_name(text: &str) -> Option<String> {
    for scheme in ["http://", "https://"] {
        if text
            .strip_prefix(scheme)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
        {
            return Some(text.to_owned());
        }
    }
    let (prefix, name) = text.split_once(':')?;
    let (_, namespace) = PREFIXES.iter().find(|(known, _)| *known == prefix)?;
    Some(format!("{namespace}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes parts as `[-]form:text`.
    fn parsed(query: &str) -> Vec<String> {
        let mut written = Vec::new();
        for part in parse_query(query) {
            let sign = if part.excluded { "-" } else { "" };
            written.push(format!("{sign}{:?}:{}", part.form, part.text).to_lowercase());
        }
        written
    }

    #[test]
    fn phrases_are_quoted_in_several_ways() {
        for query in [
            "\"air quality\"",
            "“air quality”",
            "„air quality“",
            "«air quality»",
            "\" air quality \"",
        ] {
            assert_eq!(parsed(query), ["phrase:air quality"], "{query}");
        }
        assert_eq!(parsed("a \"b c\"d"), ["word:a", "phrase:b c", "word:d"]);
        assert_eq!(parsed("6\" pipes"), ["word:6\"", "word:pipes"]);
        assert_eq!(parsed("\"open air"), ["word:\"open", "word:air"]);
        assert_eq!(parsed("\"\" x"), ["word:\"\"", "word:x"]);
    }

    #[test]
    fn a_minus_excludes_at_the_beginning_of_a_word_only() {
        assert_eq!(parsed("parks -Berlin"), ["word:parks", "-word:berlin"]);
        assert_eq!(
            parsed("parks -\"New York\""),
            ["word:parks", "-phrase:new york"]
        );
        assert_eq!(parsed("-foaf:Person"), ["-name:foaf:person"]);
        assert_eq!(parsed("air-quality"), ["word:air-quality"]);
        assert_eq!(
            parsed("2010 - 2015 -5 -- --x"),
            [
                "word:2010",
                "word:-",
                "word:2015",
                "word:-5",
                "word:--",
                "word:--x"
            ]
        );
    }

    #[test]
    fn names_are_iris_or_have_a_known_prefix() {
        assert_eq!(
            parsed("foaf:Person <http://e.org/A>"),
            ["name:foaf:person", "name:http://e.org/a"]
        );
        assert_eq!(
            parsed("note: http:// 12:30 nobody:Knows"),
            [
                "word:note:",
                "word:http://",
                "word:12:30",
                "word:nobody:knows"
            ]
        );
        assert_eq!(
            parse_query("foaf:Person")[0].iri().as_deref(),
            Some("http://xmlns.com/foaf/0.1/Person")
        );
        assert_eq!(parse_query("person")[0].iri(), None);
    }

    #[test]
    fn years_are_words() {
        assert_eq!(
            parsed("since 2012, 2010-2015"),
            ["word:since", "word:2012,", "word:2010-2015"]
        );
    }

    #[test]
    fn the_number_of_operators_is_bounded() {
        let parts = parse_query(&"-a ".repeat(50));
        assert_eq!(
            parts.iter().filter(|part| part.excluded).count(),
            MAX_OPERATORS
        );
        assert_eq!(parts.len(), 50);
    }

    proptest! {
        #[test]
        fn no_letter_or_digit_is_lost_or_added(query in "([-\"“”„«»<> a-zäß0-9:/]|foaf:|http://){0,60}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            let parts = parse_query(&query);
            let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
            prop_assert_eq!(letters(&joined), letters(&query));
            prop_assert_eq!(parts.is_empty(), query.trim().is_empty());
        }

        #[test]
        fn any_text_is_a_query(query in ".{0,80}") {
            for part in parse_query(&query) {
                prop_assert!(!part.text.is_empty());
                prop_assert_eq!(part.iri().is_some(), part.form == PartForm::Name);
                prop_assert!(query[part.range].contains(&part.text));
            }
        }
    }
}
