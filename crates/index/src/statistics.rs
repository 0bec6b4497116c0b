//! Plain statistics as the interface between index and models.

use super::{Analysis, PairFrequencies, QueryTerm, Translation};

/// Maximum number of pairs of adjacent words of a query: each reads all positions of both words in a document.
const MAX_PAIRS: usize = 64;

/// Analysed query: its distinct words and their sequence.
///
/// Words that stand for the same set of tokens are one word. Words that share only some tokens are distinct. An
/// occurrence of a shared token counts for both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnalyzedQuery {
    /// Distinct words in the order of their first occurrence.
    pub distinct: Vec<QueryTerm>,
    /// Indexes into `distinct`, one for each word of the query, with repetitions.
    pub sequence: Vec<usize>,
    /// The translation, if words were translated.
    pub translation: Option<Translation>,
}

impl AnalyzedQuery {
    /// Analyses a query. Use the analysis of the index.
    #[must_use]
    pub fn new(text: &str, analysis: &Analysis) -> Self {
        let (words, translation) = analysis.translated_words(text);
        let mut query = Self {
            translation,
            ..Self::default()
        };
        for word in words {
            let place = query
                .distinct
                .iter()
                .position(|other| other.is_equivalent(&word))
                .unwrap_or_else(|| {
                    query.distinct.push(word);
                    query.distinct.len() - 1
                });
            query.sequence.push(place);
        }
        query
    }

    /// Returns the distinct words as typed.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.distinct.iter().map(|term| term.text.clone()).collect()
    }

    /// Returns the text that encoders read: the translation, or the text as typed.
    #[must_use]
    pub fn encoder_text<'t>(&'t self, typed: &'t str) -> &'t str {
        match &self.translation {
            Some(translation) => &translation.text,
            None => typed,
        }
    }

    /// Returns the first 64 pairs of adjacent words, as indexes into `distinct`.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sequence
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .take(MAX_PAIRS)
    }

    /// Returns the number of occurrences of each distinct word in the query.
    #[must_use]
    pub fn multiplicities(&self) -> Vec<usize> {
        let mut counts = vec![0; self.distinct.len()];
        for &place in &self.sequence {
            counts[place] += 1;
        }
        counts
    }

    /// Returns true if the query has no words after analysis.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sequence.is_empty()
    }
}

/// Statistics of a field in the whole collection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FieldStatistics {
    /// Number of documents in which the field has at least one token.
    pub documents: u64,
    /// Number of tokens of the field in all documents.
    pub tokens: u64,
}

impl FieldStatistics {
    /// Returns the average number of tokens of the documents that have the field; 0 if none has.
    #[must_use]
    pub fn average_length(&self) -> f64 {
        if self.documents == 0 {
            0.0
        } else {
            self.tokens as f64 / self.documents as f64
        }
    }
}

/// Statistics of a term in one field of the whole collection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TermStatistics {
    /// Number of documents in which the field contains the term, that is any of its tokens.
    pub documents: u64,
    /// Number of occurrences of the term in the field, over all its tokens; 0 if not requested.
    pub occurrences: u64,
}

/// Collection statistics for a query.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionStatistics {
    /// Number of documents.
    pub documents: u64,
    /// Field statistics by [`Field::index`](crate::document::Field::index).
    pub fields: [FieldStatistics; 8],
    /// Term statistics by distinct term of the query, then field.
    pub terms: Vec<[TermStatistics; 8]>,
}

/// Statistics of a document for a query.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentStatistics {
    /// Term frequencies by distinct term of the query, then field.
    pub frequencies: Vec<[u32; 8]>,
    /// Pair frequencies by pair of adjacent query words, then field; all 0 if not requested.
    pub pairs: Vec<[PairFrequencies; 8]>,
    /// Exact field lengths in tokens.
    pub lengths: [u32; 8],
}

/// Level of statistics that a model requires. Each level includes those before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StatisticsLevel {
    /// Document frequencies, and term frequencies in documents.
    Documents,
    /// Also the number of occurrences in the whole collection.
    Occurrences,
    /// Also the frequencies of adjacent query terms together.
    Pairs,
}
