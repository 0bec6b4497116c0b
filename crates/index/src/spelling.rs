//! Fuzzy dictionary lookup: candidates for spelling correction.

use super::{DocumentAddress, IndexError, QueryTerm, Snapshot, StatisticsLevel};
use crate::document::Field;
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, Term};
use tantivy_fst::Automaton;

/// Levenshtein automaton builders for distances 1 and 2. A transposition of neighbours is one edit. Building one takes
/// longer than using it, so they are shared.
static BUILDERS: LazyLock<[LevenshteinAutomatonBuilder; 2]> =
    LazyLock::new(|| [1, 2].map(|distance| LevenshteinAutomatonBuilder::new(distance, true)));

/// Candidate for spelling correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpellingCandidate {
    /// Word in the index.
    pub word: String,
    /// Edit distance.
    pub edits: u8,
    /// Document frequency in the field in which the word is most frequent.
    pub documents: u64,
}

/// Adapter of a Levenshtein automaton to the bytes of the term dictionary.
struct LevenshteinDfa(DFA);

impl Automaton for LevenshteinDfa {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

impl Snapshot {
    /// Returns the document frequency of a query word, in the field in which it is most frequent.
    pub fn document_frequency(
        &self,
        term: &QueryTerm,
        fields: &[Field],
    ) -> Result<u64, IndexError> {
        let mut most = 0;
        for &field in fields {
            most = most.max(
                self.term_statistics(field, term, StatisticsLevel::Documents)?
                    .documents,
            );
        }
        Ok(most)
    }

    /// Returns the words of some fields at an edit distance of 1 to `edits` (at most 2), in no order. Documents deleted
    /// since the last merge are counted; words that occur only in such documents are rare.
    pub fn spelling_candidates(
        &self,
        word: &str,
        edits: u8,
        fields: &[Field],
    ) -> Result<Vec<SpellingCandidate>, IndexError> {
        let fields: Vec<_> = fields
            .iter()
            .map(|field| self.fields.text(*field))
            .collect();
        self.candidates_in(word, edits, &fields)
    }

    /// Returns the words of all fields, as written in lower case, at an edit distance of 1 to `edits` (at most 2), in no order. None from an index of an earlier version; see [`has_names`](Self::has_names).
    pub fn written_candidates(
        &self,
        word: &str,
        edits: u8,
    ) -> Result<Vec<SpellingCandidate>, IndexError> {
        match self.fields.names {
            Some(names) => self.candidates_in(word, edits, &[names.words]),
            None => Ok(Vec::new()),
        }
    }

    /// Returns true if most datasets with a word as written are in a language, by its BCP 47 tag: function words show it. `None` if
    /// no dataset with the word has function words, or the index has no words as written.
    #[must_use]
    pub fn is_word_of(&self, word: &str, language: &str) -> Option<bool> {
        self.analysis.is_word_of(word, language)
    }

    /// Returns the number of datasets with a word as written. Documents deleted since
    /// the last merge are counted.
    pub fn written_frequency(&self, word: &str) -> Result<u64, IndexError> {
        let Some(names) = self.fields.names else {
            return Ok(0);
        };
        Ok(self
            .searcher
            .doc_freq(&Term::from_field_text(names.words, word))?)
    }

    fn candidates_in(
        &self,
        word: &str,
        edits: u8,
        fields: &[tantivy::schema::Field],
    ) -> Result<Vec<SpellingCandidate>, IndexError> {
        let builder = &BUILDERS[usize::from(edits.clamp(1, 2)) - 1];
        let measure = builder.build_dfa(word);
        let mut frequencies: FxHashMap<String, u64> = FxHashMap::default();
        for &field in fields {
            let mut of_field: FxHashMap<String, u64> = FxHashMap::default();
            for reader in self.searcher.segment_readers() {
                let inverted = reader.inverted_index(field)?;
                let mut words = inverted
                    .terms()
                    .search(LevenshteinDfa(builder.build_dfa(word)))
                    .into_stream()?;
                while words.advance() {
                    let Ok(near) = std::str::from_utf8(words.key()) else {
                        continue;
                    };
                    *of_field.entry(near.to_owned()).or_default() +=
                        u64::from(words.value().doc_freq);
                }
            }
            for (near, documents) in of_field {
                let most = frequencies.entry(near).or_default();
                *most = documents.max(*most);
            }
        }
        let mut candidates = Vec::new();
        for (word, documents) in frequencies {
            // The word itself is no candidate.
            if let Distance::Exact(edits) = measure.eval(&word)
                && edits > 0
            {
                candidates.push(SpellingCandidate {
                    word,
                    edits,
                    documents,
                });
            }
        }
        Ok(candidates)
    }

    /// Returns the first live document with a token in a field.
    pub fn first_with_token(
        &self,
        token: &str,
        field: Field,
    ) -> Result<Option<DocumentAddress>, IndexError> {
        let text = self.fields.text(field);
        for (reader, segment) in self.searcher.segment_readers().iter().zip(0..) {
            let term = Term::from_field_text(text, token);
            let postings = reader
                .inverted_index(text)?
                .read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else {
                continue;
            };
            while postings.doc() != TERMINATED {
                if reader
                    .alive_bitset()
                    .is_none_or(|alive| alive.is_alive(postings.doc()))
                {
                    return Ok(Some(DocumentAddress {
                        segment,
                        document: postings.doc(),
                    }));
                }
                postings.advance();
            }
        }
        Ok(None)
    }
}
