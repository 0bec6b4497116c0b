//! Terms of results, read tolerantly: one bad term does not reject an answer.
//!
//! Endpoints send IRIs with spaces, language tags such as `en_GB`, and empty tags. Forbidden characters of an IRI are percent-encoded,
//! and tags corrected, as in downloads (`repair_iri`, `correct_language_tag`). A value that cannot be repaired, as an IRI without a
//! scheme, is left out: its variable is unbound in that row. A tag that cannot be repaired is left out, and its text is a string. Both
//! are counted.

use lodeseek_rdf::{correct_language_tag, repair_iri};
use oxrdf::{BaseDirection, Literal, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use std::io;
use std::sync::Arc;

/// Maximum nesting depth of triple terms.
pub(super) const MAX_TRIPLE_DEPTH: usize = 32;

/// Error of reading results.
#[derive(Debug)]
pub(super) enum ReadError {
    Io(io::Error),
    /// The response is no result in its format, for this reason.
    Invalid(String),
    /// More rows than the limit precede the variables.
    TooManyRows,
}

/// Returns an error with a reason.
pub(super) fn invalid<T>(message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::Invalid(message.into()))
}

/// Row whose variables have no places yet.
pub(super) type NamedRow = Vec<(String, Term)>;

/// Adds a variable of the head of results.
pub(super) fn add_variable(variables: &mut Vec<Variable>, name: String) -> Result<(), ReadError> {
    match Variable::new(name) {
        Ok(variable) if variables.contains(&variable) => {
            invalid(format!("the head lists {variable} twice"))
        }
        Ok(variable) => {
            variables.push(variable);
            Ok(())
        }
        Err(error) => invalid(error.to_string()),
    }
}

/// Returns the variables of rows in the order of their first occurrences.
pub(super) fn variables_of(rows: &[NamedRow]) -> Result<Arc<[Variable]>, ReadError> {
    let mut variables: Vec<Variable> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !variables.iter().any(|variable| variable.as_str() == name) {
            add_variable(&mut variables, name.clone())?;
        }
    }
    Ok(variables.into())
}

/// Parts of a literal as they are written.
#[derive(Default)]
pub(super) struct LiteralParts {
    pub(super) language: Option<String>,
    pub(super) direction: Option<String>,
    pub(super) datatype: Option<String>,
}

/// Constructor of terms that counts its repairs.
#[derive(Debug, Default)]
pub(super) struct TermBuilder {
    /// Number of values that were repaired or left out.
    pub(super) repairs: u64,
}

impl TermBuilder {
    /// Returns an IRI, repaired if it is invalid. `None` if that is impossible.
    pub(super) fn iri(&mut self, value: &str) -> Option<NamedNode> {
        if let Ok(node) = NamedNode::new(value) {
            return Some(node);
        }
        self.repairs += 1;
        NamedNode::new(repair_iri(value)?).ok()
    }

    /// Returns a literal. An empty language tag, datatype or direction is none.
    pub(super) fn literal(
        &mut self,
        value: String,
        parts: LiteralParts,
    ) -> Result<Literal, ReadError> {
        let [language, direction, datatype] = [parts.language, parts.direction, parts.datatype]
            .map(|part| part.filter(|text| !text.trim().is_empty()));
        if let Some(language) = language {
            let direction = match direction.as_deref() {
                None => None,
                Some("ltr") => Some(BaseDirection::Ltr),
                Some("rtl") => Some(BaseDirection::Rtl),
                Some(_) => return invalid("`its:dir` is neither `ltr` nor `rtl`"),
            };
            // A language determines the datatype: another one that is written is ignored.
            return Ok(self.language_tagged_literal(value, language, direction));
        }
        if direction.is_some() {
            return invalid("`its:dir` without `xml:lang`");
        }
        Ok(match datatype.and_then(|datatype| self.iri(&datatype)) {
            Some(datatype) => Literal::new_typed_literal(value, datatype),
            None => Literal::from(value),
        })
    }

    fn language_tagged_literal(
        &mut self,
        value: String,
        language: String,
        direction: Option<BaseDirection>,
    ) -> Literal {
        let language = if Literal::new_language_tagged_literal("", &language).is_ok() {
            language.to_ascii_lowercase()
        } else {
            self.repairs += 1;
            match correct_language_tag(&language) {
                Some(language) => language,
                None => return Literal::from(value),
            }
        };
        match direction {
            Some(direction) => Literal::new_directional_language_tagged_literal_unchecked(
                value, language, direction,
            ),
            None => Literal::new_language_tagged_literal_unchecked(value, language),
        }
    }

    /// Returns a triple term. `None` if one of its terms was left out.
    ///
    /// # Errors
    /// If a term is missing, or has the wrong kind.
    pub(super) fn triple(
        [subject, predicate, object]: [Option<Option<Term>>; 3],
    ) -> Result<Option<Term>, ReadError> {
        let (Some(subject), Some(predicate), Some(object)) = (subject, predicate, object) else {
            return invalid("a triple lacks a subject, predicate or object");
        };
        let (Some(subject), Some(predicate), Some(object)) = (subject, predicate, object) else {
            return Ok(None);
        };
        let subject = match subject {
            Term::NamedNode(node) => NamedOrBlankNode::from(node),
            Term::BlankNode(node) => node.into(),
            Term::Literal(_) | Term::Triple(_) => {
                return invalid("the subject of a triple is neither an IRI nor a blank node");
            }
        };
        let Term::NamedNode(predicate) = predicate else {
            return invalid("the predicate of a triple is no IRI");
        };
        Ok(Some(Triple::new(subject, predicate, object).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_repaired_and_counted() {
        let mut builder = TermBuilder::default();
        for (value, expected, repairs) in [
            ("http://e.org/a", Some("http://e.org/a"), 0),
            ("http://e.org/a b{1}", Some("http://e.org/a%20b%7B1%7D"), 1),
            ("no scheme", None, 2),
            ("", None, 3),
        ] {
            let iri = builder.iri(value);
            assert_eq!(iri.as_ref().map(NamedNode::as_str), expected, "{value}");
            assert_eq!(builder.repairs, repairs, "{value}");
        }
        for (language, datatype, expected, repairs) in [
            (Some("en"), None, "\"x\"@en", 3),
            (Some("en_US"), None, "\"x\"@en-us", 4),
            (Some(""), None, "\"x\"", 4),
            (Some("not a tag"), None, "\"x\"", 5),
            (
                None,
                Some("http://e.org/d t"),
                "\"x\"^^<http://e.org/d%20t>",
                6,
            ),
            (None, Some("d"), "\"x\"", 7),
            (None, Some(""), "\"x\"", 7),
        ] {
            let parts = LiteralParts {
                language: language.map(str::to_owned),
                datatype: datatype.map(str::to_owned),
                direction: None,
            };
            let literal = builder.literal("x".to_owned(), parts).expect("a literal");
            assert_eq!(literal.to_string(), expected);
            assert_eq!(builder.repairs, repairs, "{expected}");
        }
    }
}
