//! Plain numbers between index and models.

use super::Analysis;
use crate::catalog::DatasetId;

/// A query's tokens: each distinct one once, and their sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnalyzedQuery {
    /// The distinct tokens, in the order of their first occurrence.
    pub distinct: Vec<String>,
    /// Places in `distinct`, one a token of the query: a word said twice counts twice.
    pub sequence: Vec<usize>,
}

impl AnalyzedQuery {
    /// Analyses a query as the documents were.
    #[must_use]
    pub fn new(text: &str, analysis: &Analysis) -> Self {
        let mut query = Self::default();
        for token in analysis.query_tokens(text) {
            let place = query.distinct.iter().position(|known| *known == token).unwrap_or_else(|| {
                query.distinct.push(token);
                query.distinct.len() - 1
            });
            query.sequence.push(place);
        }
        query
    }

    /// Whether no token is left.
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
    /// Documents with the term in the field.
    pub documents: u64,
    /// Occurrences of the term in the field.
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
    /// Exact field lengths in tokens.
    pub lengths: [u32; 8],
}

/// All that a query touches.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The collection.
    pub collection: CollectionStatistics,
    /// Every document with at least one term of the query, in no particular order.
    pub documents: Vec<(DatasetId, DocumentStatistics)>,
}
