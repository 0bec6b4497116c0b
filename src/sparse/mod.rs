//! Sparse models: from counts to scores. A model sees numbers, never an index.

mod bm25;
mod explanation;

pub use bm25::{Bm25, FieldWeights};
pub use explanation::Explanation;

use crate::document::Field;
use crate::index::{AnalyzedQuery, CollectionStatistics, DocumentStatistics, Gathered};
use crate::ranking::{Ranking, Scored};

/// Scores documents for a query.
pub trait SparseModel {
    /// The name, as in run tags.
    fn name(&self) -> &'static str;

    /// The fields the model reads: those with a weight.
    fn fields(&self) -> Vec<Field>;

    /// The score of a document, and what it is made of.
    fn explain(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Explanation;

    /// The score of a document: the value of its explanation, without making one.
    fn score(&self, query: &AnalyzedQuery, document: &DocumentStatistics, collection: &CollectionStatistics) -> f64;
}

/// Ranks all that a query touches.
#[must_use]
pub fn rank(model: &dyn SparseModel, query: &AnalyzedQuery, gathered: &Gathered) -> Ranking {
    let scored = gathered
        .documents
        .iter()
        .map(|(id, document)| Scored { id: id.clone(), score: model.score(query, document, &gathered.collection) });
    Ranking::from_scores(scored.filter(|scored| scored.score > 0.0).collect())
}
