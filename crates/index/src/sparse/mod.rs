//! Sparse models: from counts to scores. A model sees numbers, never an index; [`rank`] brings the two together.

mod bm25;
mod explanation;
mod field_sum;
mod fsdm;
mod kind;
mod length;
mod lmd;
mod parts;
mod rank;
#[cfg(test)]
mod tests;
mod tf_idf;
mod weights;

pub use bm25::Bm25;
pub use explanation::Explanation;
pub use fsdm::Fsdm;
pub use kind::{FieldSet, ModelKind, ParseFieldSetError, ParseModelError};
pub use length::LengthMode;
pub use lmd::Lmd;
pub use parts::{Mixture, ScoreParts};
pub use rank::{RankedDocs, rank, rank_selected};
pub use tf_idf::TfIdf;
pub use weights::{FieldWeights, ParseWeightsError};

use crate::document::Field;
use crate::{AnalyzedQuery, Clause, CollectionStatistics, DocumentStatistics, StatisticsLevel};

/// How a model finds documents.
pub struct RetrievalPlan<'m> {
    /// Documents are found by the sum of these.
    pub clauses: Vec<Clause<'m>>,
    /// Where the sum is not yet the score: how many of the best are scored by [`SparseModel::score`].
    pub rescore_depth: Option<usize>,
}

/// Scores documents for a query.
pub trait SparseModel: Send + Sync {
    /// The name, as in run tags.
    fn name(&self) -> &'static str;

    /// What each field counts.
    fn weights(&self) -> &FieldWeights;

    /// The model with other weights. Where candidates are found by another model, they stay the same.
    fn with_weights(&self, weights: FieldWeights) -> Box<dyn SparseModel>;

    /// The model over the fields that pass alone, candidates included.
    fn restricted_to(&self, passes: &dyn Fn(Field) -> bool) -> Box<dyn SparseModel>;

    /// The parameters beside the weights, for the record.
    fn parameters(&self) -> Vec<(&'static str, f64)>;

    /// What the model has to know.
    fn statistics_level(&self) -> StatisticsLevel;

    /// The fields the model reads.
    fn fields(&self) -> Vec<Field>;

    /// How documents are found for a query.
    fn plan<'m>(&'m self, query: &AnalyzedQuery, collection: &CollectionStatistics) -> RetrievalPlan<'m>;

    /// The score with the weights taken out.
    fn parts(&self, query: &AnalyzedQuery, document: &DocumentStatistics, collection: &CollectionStatistics) -> ScoreParts;

    /// The score of a document.
    fn score(&self, query: &AnalyzedQuery, document: &DocumentStatistics, collection: &CollectionStatistics) -> f64;

    /// The score of a document, and what it is made of.
    fn explain(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Explanation;
}
