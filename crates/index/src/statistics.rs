//! Plain numbers between index and models.

use super::{Analysis, PairFrequencies, QueryTerm};

/// A query's words: each distinct one once, and their sequence.
///
/// Two words that stand for the same tokens, in whatever order, are one. Such as have some tokens in common, and others
/// not, stay apart: an occurrence of a common token then counts for both, as it is an occurrence of either.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnalyzedQuery {
    /// The distinct words, in the order of their first occurrence.
    pub distinct: Vec<QueryTerm>,
    /// Places in `distinct`, one a word of the query: a word counts twice counts twice.
    pub sequence: Vec<usize>,
}

impl AnalyzedQuery {
    /// Analyses a query as the documents were.
    #[must_use]
    pub fn new(text: &str, analysis: &Analysis) -> Self {
        let mut query = Self::default();
        for word in analysis.query_words(text) {
            let place = query.distinct.iter().position(|other| other.is_equivalent(&word)).unwrap_or_else(|| {
                query.distinct.push(word);
                query.distinct.len() - 1
            });
            query.sequence.push(place);
        }
        query
    }

    /// The distinct words, as typed.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.distinct.iter().map(|term| term.text.clone()).collect()
    }

    /// Adjacent words, as places in `distinct`.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sequence.windows(2).map(|pair| (pair[0], pair[1]))
    }

    /// How often each distinct word is counts.
    #[must_use]
    pub fn multiplicities(&self) -> Vec<usize> {
        let mut counts = vec![0; self.distinct.len()];
        for &place in &self.sequence {
            counts[place] += 1;
        }
        counts
    }

    /// Whether no word is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sequence.is_empty()
    }
}

/// A field over the whole collection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FieldStatistics {
    /// Documents in which the field has at least one token.
    pub documents: u64,
    /// Tokens of the field in all documents.
    pub tokens: u64,
}

impl FieldStatistics {
    /// Tokens a document that has the field; 0 where none has.
    #[must_use]
    pub fn average_length(&self) -> f64 {
        if self.documents == 0 { 0.0 } else { self.tokens as f64 / self.documents as f64 }
    }
}

/// A term in one field over the whole collection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TermStatistics {
    /// Documents with the term in the field: with any of its tokens, each document once.
    pub documents: u64,
    /// Occurrences of the term in the field, of all its tokens; 0 where they were not wanted.
    pub occurrences: u64,
}

/// What a model knows of the collection.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionStatistics {
    /// All documents.
    pub documents: u64,
    /// By [`Field::index`](crate::document::Field::index).
    pub fields: [FieldStatistics; 8],
    /// By distinct term of the query, then field.
    pub terms: Vec<[TermStatistics; 8]>,
}

/// What a model knows of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentStatistics {
    /// Term frequencies, by distinct term of the query, then field.
    pub frequencies: Vec<[u32; 8]>,
    /// By pair of adjacent words of the query, then field; all 0 where pairs were not wanted.
    pub pairs: Vec<[PairFrequencies; 8]>,
    /// Exact field lengths in tokens.
    pub lengths: [u32; 8],
}

/// How much a model has to know; each includes those before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StatisticsLevel {
    /// In how many documents a term is, and how often in each.
    Documents,
    /// How often a term is in the whole collection.
    Occurrences,
    /// How often adjacent terms of the query stand together.
    Pairs,
}
