//! Candidates and component rankings from which weights are learned.

use super::indexed_catalog::IndexedCatalog;
use super::named::named_datasets;
use super::ranker::{Ranker, rank_by_model};
use super::scope::CandidateScope;
use super::{ComponentRankings, EngineError, Filter};
use lodeseek_catalog::DatasetId;
use lodeseek_index::AnalyzedQuery;
use lodeseek_index::sparse::{FieldWeights, ScoreParts, SparseModel};

/// The candidates of queries with the parts of their scores: the input of weight tuning.
///
/// Returned by [`Searcher::tuning_pool`](super::Searcher::tuning_pool).
#[derive(Clone, Copy)]
pub struct TuningPool<'s> {
    catalog: &'s IndexedCatalog,
    ranker: &'s Ranker,
}

impl<'s> TuningPool<'s> {
    pub(super) fn new(catalog: &'s IndexedCatalog, ranker: &'s Ranker) -> Self {
        Self { catalog, ranker }
    }

    /// Returns the best `depth` datasets for a query with every field weighted 1, and the parts of their scores.
    ///
    /// A model that rescores candidates returns at most the candidates that it rescores.
    pub fn candidates(
        &self,
        query: &str,
        depth: usize,
    ) -> Result<Vec<(DatasetId, ScoreParts)>, EngineError> {
        self.candidates_with_filter(query, &Filter::default(), depth)
    }

    /// Returns the [candidates](Self::candidates) among the datasets that pass a filter.
    pub fn candidates_with_filter(
        &self,
        query: &str,
        filter: &Filter,
        depth: usize,
    ) -> Result<Vec<(DatasetId, ScoreParts)>, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        let filtered = snapshot.filtered_docs(filter)?;
        let scope = CandidateScope::new(&snapshot, filtered.as_ref(), filter);
        let query = AnalyzedQuery::new(query, snapshot.analysis());
        let model = with_uniform_weights(self.ranker.model.as_ref());
        let ranked = rank_by_model(model.as_ref(), &query, scope, depth)?;
        let mut ids = Vec::with_capacity(ranked.ranking.len());
        let mut addresses = Vec::with_capacity(ranked.ranking.len());
        for scored in ranked.ranking.iter() {
            ids.push(scored.id.clone());
            addresses.extend(ranked.address(&scored.id));
        }
        let statistics = snapshot.document_statistics(
            &query,
            &model.fields(),
            &addresses,
            model.statistics_level(),
        )?;
        let parts = statistics
            .iter()
            .map(|document| model.parts(&query, document, &ranked.collection));
        Ok(ids.into_iter().zip(parts).collect())
    }

    /// Returns the rankings that the reranker fuses for a query. `None` without a reranker.
    pub fn component_rankings(
        &self,
        query: &str,
    ) -> Result<Option<ComponentRankings>, EngineError> {
        self.component_rankings_with_filter(query, &Filter::default())
    }

    /// Returns the [component rankings](Self::component_rankings) of the datasets that pass a filter.
    pub fn component_rankings_with_filter(
        &self,
        query: &str,
        filter: &Filter,
    ) -> Result<Option<ComponentRankings>, EngineError> {
        if self.ranker.reranker.is_none() {
            return Ok(None);
        }
        let snapshot = self.catalog.snapshot()?;
        let filtered = snapshot.filtered_docs(filter)?;
        let scope = CandidateScope::new(&snapshot, filtered.as_ref(), filter);
        self.ranker.component_rankings(query, scope)
    }

    /// Returns the datasets that a query names and that pass a filter, in their order. In a search they precede all others.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn named_datasets(
        &self,
        query: &str,
        filter: &Filter,
    ) -> Result<Vec<DatasetId>, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        let filtered = snapshot.filtered_docs(filter)?;
        let scope = CandidateScope::new(&snapshot, filtered.as_ref(), filter);
        let analyzed = AnalyzedQuery::new(query, snapshot.analysis());
        named_datasets(query, &analyzed, scope)
    }
}

/// Returns a copy of a model with weight 1 for every field that it uses.
fn with_uniform_weights(model: &dyn SparseModel) -> Box<dyn SparseModel> {
    let mut weights = FieldWeights([0.0; 8]);
    for field in model.weights().fields() {
        weights.0[field.index()] = 1.0;
    }
    model.with_weights(weights)
}
