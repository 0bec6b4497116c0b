//! The words of an index, for the translation and inflection of queries.

use super::IndexError;
use super::analysis::{USED_LANGUAGES, Vocabulary, WordUse};
use super::document::Field;
use super::schema::Fields;
use std::sync::OnceLock;
use tantivy::schema::{self, IndexRecordOption};
use tantivy::{DocSet, Searcher, TERMINATED, Term};

/// Words of at least three letters that occur in most texts of a language and hardly in others, by index in [`USED_LANGUAGES`].
const FUNCTION_WORDS: [&[&str]; USED_LANGUAGES.len()] = [
    &["the", "and", "with", "from"],
    &["und", "für", "eine"],
    &["het", "een", "voor"],
    &["dans", "une", "pour"],
    &["los", "las"],
    &["della", "delle", "gli"],
    &["uma", "dos", "não"],
];
/// Maximum number of datasets that are read to find the language of a word.
const MAX_DATASETS: usize = 1000;

/// Tokens of the eight text fields of an index at one point in time, and its words as written.
pub(super) struct IndexVocabulary {
    searcher: Searcher,
    fields: Fields,
    /// For each segment and document, the languages with function words in it, as bits by index in [`FUNCTION_WORDS`].
    languages: OnceLock<Vec<Vec<u8>>>,
}

impl IndexVocabulary {
    pub(super) fn new(searcher: Searcher, fields: Fields) -> Self {
        Self {
            searcher,
            fields,
            languages: OnceLock::new(),
        }
    }

    /// Returns the languages of the documents, from the function words that they contain.
    fn document_languages(&self, words: schema::Field) -> Result<&[Vec<u8>], IndexError> {
        if let Some(languages) = self.languages.get() {
            return Ok(languages);
        }
        let mut languages = Vec::new();
        for reader in self.searcher.segment_readers() {
            languages.push(vec![0; reader.max_doc() as usize]);
        }
        for (bit, function_words) in FUNCTION_WORDS.iter().enumerate() {
            for word in *function_words {
                self.for_each_document(words, word, usize::MAX, |segment, document| {
                    languages[segment][document] |= 1 << bit;
                })?;
            }
        }
        Ok(self.languages.get_or_init(|| languages))
    }

    /// Calls a function with the segment and the number of each document with a word as written, at most `limit` times.
    fn for_each_document(
        &self,
        words: schema::Field,
        word: &str,
        limit: usize,
        mut visit: impl FnMut(usize, usize),
    ) -> Result<(), IndexError> {
        let term = Term::from_field_text(words, word);
        let mut visited = 0;
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = reader.inverted_index(words)?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)?
            else {
                continue;
            };
            while postings.doc() != TERMINATED {
                if visited == limit {
                    return Ok(());
                }
                visit(segment, postings.doc() as usize);
                visited += 1;
                postings.advance();
            }
        }
        Ok(())
    }

    fn count_word(&self, word: &str) -> Result<WordUse, IndexError> {
        let mut count = WordUse::default();
        let Some(fields) = self.fields.names else {
            return Ok(count);
        };
        let languages = self.document_languages(fields.words)?;
        self.for_each_document(fields.words, word, MAX_DATASETS, |segment, document| {
            let found = languages[segment][document];
            count.datasets += 1;
            count.of_known_language += usize::from(found != 0);
            for (bit, datasets) in count.of_language.iter_mut().enumerate() {
                *datasets += usize::from(found >> bit & 1);
            }
        })?;
        Ok(count)
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

    /// A segment that cannot be read contains nothing: the search itself reports the error.
    fn word_use(&self, word: &str) -> WordUse {
        self.count_word(word).unwrap_or_default()
    }
}
