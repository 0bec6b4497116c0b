//! Rankings by the sparse model and the reranker of a searcher.

use super::dense::DenseRetriever;
use super::named::{named_datasets, with_named_first};
use super::rerank::{EncoderQuery, Reranked};
use super::scope::CandidateScope;
use super::{ComponentRankings, EngineError, Reranker};
use lodeseek_catalog::DatasetId;
use lodeseek_index::document::Field;
use lodeseek_index::sparse::{LengthMode, RankedDocs, SparseModel, rank_selection};
use lodeseek_index::{AnalyzedQuery, FilteredDocs, IndexError, Snapshot};
use lodeseek_ranking::Ranking;
use std::thread;

/// A sparse model and an optional reranker. Ranks the datasets of an index snapshot.
pub(super) struct Ranker {
    pub(super) model: Box<dyn SparseModel>,
    pub(super) reranker: Option<Reranker>,
}

/// Returns the share of the words of a query that no document contains, in none of their forms and translations; 0 without words.
pub(super) fn share_of_unknown_words(
    query: &AnalyzedQuery,
    snapshot: &Snapshot,
) -> Result<f64, EngineError> {
    let mut unknown = 0;
    for term in &query.distinct {
        if snapshot.document_frequency(term, &Field::ALL)? == 0 {
            unknown += 1;
        }
    }
    Ok(f64::from(unknown) / query.distinct.len().max(1) as f64)
}

impl Ranker {
    /// Returns the best `depth` datasets of a scope. Those that the query names come first.
    pub(super) fn rank(
        &self,
        query: &str,
        scope: CandidateScope<'_>,
        depth: usize,
    ) -> Result<Ranking, EngineError> {
        let analyzed = AnalyzedQuery::new(query, scope.snapshot.analysis());
        let unknown_words = share_of_unknown_words(&analyzed, scope.snapshot)?;
        let text = EncoderQuery::new(query, &analyzed).with_unknown_words(unknown_words);
        let ranking = match self.rerank(text, &analyzed, self.model.as_ref(), scope)? {
            Some(reranked) => reranked.ranking,
            None => rank_by_model(self.model.as_ref(), &analyzed, scope, depth)?.ranking,
        };
        let named = named_datasets(query, &analyzed, scope)?;
        Ok(with_named_first(ranking, &named).cut(depth))
    }

    /// Returns all datasets found in a scope, best first, and the number of them at the top with comparable scores.
    ///
    /// Those that the query names come first. The datasets with a query term that a reranker or FSDM did not rank follow after
    /// that number. Without named ones, the ranking is empty if no dataset contains a term and none reaches an encoder's minimum
    /// similarity.
    pub(super) fn rank_all(
        &self,
        query: &str,
        scope: CandidateScope<'_>,
    ) -> Result<(Ranking, usize), EngineError> {
        let analyzed = AnalyzedQuery::new(query, scope.snapshot.analysis());
        let depth = scope.snapshot.len() as usize;
        let mut sparse = rank_by_model(self.model.as_ref(), &analyzed, scope, depth)?.ranking;
        let comparable = sparse.len();
        if let Some(model) = self.model.candidate_model() {
            sparse = sparse.append(&rank_by_model(model, &analyzed, scope, depth)?.ranking);
        }
        let named = named_datasets(query, &analyzed, scope)?;
        let unknown_words = share_of_unknown_words(&analyzed, scope.snapshot)?;
        let text = EncoderQuery::new(query, &analyzed).with_unknown_words(unknown_words);
        let Some(reranked) = self.rerank(text, &analyzed, self.model.as_ref(), scope)? else {
            let added = number_of_others(&named, &sparse);
            return Ok((with_named_first(sparse, &named), comparable + added));
        };
        if sparse.is_empty() && reranked.is_closest() {
            let first = with_named_first(Ranking::default(), &named);
            return Ok((first, named.len()));
        }
        let comparable = reranked.comparable() + number_of_others(&named, &reranked.ranking);
        let ranking = with_named_first(reranked.ranking, &named);
        Ok((ranking.append(&sparse), comparable))
    }

    /// Returns the best `depth` datasets by the sparse model, without the reranker.
    pub(super) fn rank_sparse(
        &self,
        query: &str,
        scope: CandidateScope<'_>,
        depth: usize,
    ) -> Result<Ranking, EngineError> {
        let analyzed = AnalyzedQuery::new(query, scope.snapshot.analysis());
        Ok(rank_by_model(self.model.as_ref(), &analyzed, scope, depth)?.ranking)
    }

    /// Re-ranks the candidates for a query. `None` without a reranker.
    pub(super) fn rerank(
        &self,
        text: EncoderQuery<'_>,
        query: &AnalyzedQuery,
        model: &dyn SparseModel,
        scope: CandidateScope<'_>,
    ) -> Result<Option<Reranked>, EngineError> {
        let Some(reranker) = &self.reranker else {
            return Ok(None);
        };
        // The multilingual encoder needs no ranking by words: its network runs meanwhile.
        let sparse = thread::scope(|threads| {
            threads.spawn(|| reranker.cache_multilingual(text.typed));
            sparse_rankings(reranker, query, model, scope)
        })?;
        reranker.rank(text, &sparse, scope).map(Some)
    }

    /// Re-ranks given candidates. Without a reranker, they are returned as they are.
    pub(super) fn rerank_candidates(
        &self,
        query: &str,
        candidates: &Ranking,
        scope: CandidateScope<'_>,
    ) -> Result<Ranking, EngineError> {
        let Some(reranker) = &self.reranker else {
            return Ok(candidates.clone());
        };
        let analyzed = AnalyzedQuery::new(query, scope.snapshot.analysis());
        Ok(reranker
            .rank(
                EncoderQuery::new(query, &analyzed),
                std::slice::from_ref(candidates),
                scope,
            )?
            .ranking)
    }

    /// Returns the rankings that the reranker fuses for a query. `None` without a reranker.
    pub(super) fn component_rankings(
        &self,
        query: &str,
        scope: CandidateScope<'_>,
    ) -> Result<Option<ComponentRankings>, EngineError> {
        let Some(reranker) = &self.reranker else {
            return Ok(None);
        };
        let analyzed = AnalyzedQuery::new(query, scope.snapshot.analysis());
        let unknown_words = share_of_unknown_words(&analyzed, scope.snapshot)?;
        let text = EncoderQuery::new(query, &analyzed).with_unknown_words(unknown_words);
        let sparse = sparse_rankings(reranker, &analyzed, self.model.as_ref(), scope)?;
        reranker.component_rankings(text, &sparse, scope).map(Some)
    }

    /// Returns the encoder with one vector per text and cosine similarity, if there is one.
    pub(super) fn text_encoder(&self) -> Option<&DenseRetriever> {
        self.reranker.as_ref().and_then(Reranker::text_encoder)
    }
}

/// Returns the number of named datasets that a ranking does not contain.
fn number_of_others(named: &[DatasetId], ranking: &Ranking) -> usize {
    named
        .iter()
        .filter(|id| ranking.iter().all(|scored| scored.id != **id))
        .count()
}

/// Returns the rankings by the sparse models of a reranker's pool, or by `model` if the pool is empty.
fn sparse_rankings(
    reranker: &Reranker,
    query: &AnalyzedQuery,
    model: &dyn SparseModel,
    scope: CandidateScope<'_>,
) -> Result<Vec<Ranking>, EngineError> {
    let depth = reranker.sparse_depth();
    let pool = &reranker.options().pool;
    if pool.is_empty() {
        return Ok(vec![rank_by_model(model, query, scope, depth)?.ranking]);
    }
    let mut rankings = Vec::with_capacity(pool.len());
    for kind in pool {
        let model = kind.model(LengthMode::Exact);
        rankings.push(rank_by_model(model.as_ref(), query, scope, depth)?.ranking);
    }
    Ok(rankings)
}

/// Returns the best `depth` datasets of a scope by a sparse model.
pub(super) fn rank_by_model(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    scope: CandidateScope<'_>,
    depth: usize,
) -> Result<RankedDocs, IndexError> {
    let mut selection: Option<&FilteredDocs> = scope.filtered;
    rank_selection(model, query, scope.snapshot, depth, &mut selection)
}
