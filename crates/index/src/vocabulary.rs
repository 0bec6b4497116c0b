//! The words of an index, for the translation and inflection of queries.

use super::IndexError;
use super::analysis::{LANGUAGES, Vocabulary, WordUse};
use super::document::Field;
use super::schema::Fields;
use rustc_hash::FxHashSet;
use std::sync::OnceLock;
use tantivy::schema::{self, IndexRecordOption};
use tantivy::{DocSet, Searcher, TERMINATED, Term};

/// Words of at least three letters that occur in most texts of a language and hardly in others, by index in [`LANGUAGES`]. Danish
/// and Norwegian share theirs.
const FUNCTION_WORDS: [&[&str]; LANGUAGES.len()] = [
    &["the", "and", "with", "from"],
    &["und", "für", "eine"],
    &["dans", "une", "pour"],
    &["los", "las"],
    &["della", "delle", "gli"],
    &["uma", "dos", "não"],
    &["het", "een", "voor"],
    &["och", "för", "att"],
    &["ikke", "også", "hvor"],
    &["ikke", "også", "hvor"],
    &["sekä", "että", "ovat"],
    &["egy", "hogy", "vagy"],
    &["pentru", "sunt", "prin"],
    &["для", "или", "как"],
    &["için", "olan", "veya"],
    &["και", "της", "για"],
    &["على", "إلى", "التي"],
    &["ஒரு", "இது"],
];
/// Maximum number of datasets that are read to find the language of a word.
const MAX_DATASETS: usize = 1000;

/// Tokens of the eight text fields of an index at one point in time, and its words as written.
pub(super) struct IndexVocabulary {
    searcher: Searcher,
    fields: Fields,
    /// For each segment and document, the languages with function words in it, as bits by index in [`FUNCTION_WORDS`].
    languages: OnceLock<Vec<Vec<u32>>>,
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
    fn document_languages(&self, words: schema::Field) -> Result<&[Vec<u32>], IndexError> {
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

    /// Counts the datasets with a word, or a token, in some fields.
    fn count(&self, fields: &[schema::Field], word: &str) -> Result<WordUse, IndexError> {
        let mut count = WordUse::default();
        let Some(names) = self.fields.names else {
            return Ok(count);
        };
        let languages = self.document_languages(names.words)?;
        let mut documents = FxHashSet::default();
        for field in fields {
            self.for_each_document(*field, word, MAX_DATASETS, |segment, document| {
                documents.insert((segment, document));
            })?;
        }
        for (segment, document) in documents {
            let found = languages[segment][document];
            count.datasets += 1;
            count.of_known_language += usize::from(found != 0);
            for (bit, datasets) in count.of_language.iter_mut().enumerate() {
                *datasets += usize::try_from(found >> bit & 1).unwrap_or_default();
            }
        }
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
        let Some(names) = self.fields.names else {
            return WordUse::default();
        };
        self.count(&[names.words], word).unwrap_or_default()
    }

    /// A segment that cannot be read contains nothing: the search itself reports the error. In an index of an earlier version,
    /// which has no words as written, every token may be a word of any language.
    fn token_use(&self, token: &str) -> WordUse {
        if self.fields.names.is_none() {
            return WordUse {
                datasets: 1,
                ..WordUse::default()
            };
        }
        let fields = Field::ALL.map(|field| self.fields.text(field));
        self.count(&fields, token).unwrap_or_default()
    }
}
