//! Sparse ranking models. A model computes scores from statistics and is independent of the index; [`rank`] applies it
//! to an index.

mod bm25;
mod explanation;
mod field_sum;
mod fsdm;
mod kind;
mod length;
mod lmd;
mod score_parts;
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
pub use rank::{RankedDocs, count_selection, rank, rank_selection};
pub use score_parts::{Mixture, ScoreParts};
pub use tf_idf::TfIdf;
pub use weights::{FieldWeights, ParseWeightsError};

use crate::document::Field;
use crate::{AnalyzedQuery, Clause, CollectionStatistics, DocumentStatistics, StatisticsLevel};

/// Retrieval plan of a model for a query.
pub struct RetrievalPlan<'m> {
    /// Clauses whose sum selects the documents.
    pub clauses: Vec<Clause<'m>>,
    /// Number of best documents that [`SparseModel::score`] rescores; `None` if the sum is the score.
    pub rescore_depth: Option<usize>,
}

/// Model that scores documents for a query.
pub trait SparseModel: Send + Sync {
    /// Returns the name, as in run tags.
    fn name(&self) -> &'static str;

    /// Returns the field weights.
    fn weights(&self) -> &FieldWeights;

    /// Returns the model with other weights. Candidates that another model selects remain the same.
    fn with_weights(&self, weights: FieldWeights) -> Box<dyn SparseModel>;

    /// Returns the model restricted to fields that satisfy a predicate, including the selection of candidates.
    fn restricted_to(&self, passes: &dyn Fn(Field) -> bool) -> Box<dyn SparseModel>;

    /// Returns the model that selects the documents that this model rescores; `None` if it scores all documents.
    fn candidate_model(&self) -> Option<&dyn SparseModel> {
        None
    }

    /// Returns the parameters, except the weights, for run provenance.
    fn parameters(&self) -> Vec<(&'static str, f64)>;

    /// Returns the level of statistics that the model requires.
    fn statistics_level(&self) -> StatisticsLevel;

    /// Returns the fields that the model reads.
    fn fields(&self) -> Vec<Field>;

    /// Returns the retrieval plan for a query.
    fn plan<'m>(
        &'m self,
        query: &AnalyzedQuery,
        collection: &CollectionStatistics,
    ) -> RetrievalPlan<'m>;

    /// Returns the score as a function of the field weights.
    fn parts(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> ScoreParts;

    /// Returns the score of a document.
    fn score(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> f64;

    /// Explains the score of a document.
    fn explain(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Explanation;
}
