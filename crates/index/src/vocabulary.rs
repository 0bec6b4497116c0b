//! The words of an index, for the translation of queries.

use super::schema::Fields;
use crate::analysis::Vocabulary;
use crate::document::Field;
use tantivy::{Searcher, Term};

/// Tokens of the eight text fields of an index at one point in time.
pub(super) struct IndexVocabulary {
    searcher: Searcher,
    fields: Fields,
}

impl IndexVocabulary {
    pub(super) fn new(searcher: Searcher, fields: Fields) -> Self {
        Self { searcher, fields }
    }
}

impl Vocabulary for IndexVocabulary {
    /// A segment that cannot be read contains nothing: the search itself reports the error.
    fn contains(&self, tokens: &[String]) -> bool {
        tokens.iter().any(|token| {
            Field::ALL.iter().any(|field| {
                let term = Term::from_field_text(self.fields.text(*field), token);
                self.searcher.doc_freq(&term).unwrap_or(0) > 0
            })
        })
    }
}
