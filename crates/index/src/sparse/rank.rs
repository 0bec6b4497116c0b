//! Ranking: applies a model to an index.

use super::SparseModel;
use crate::{
    AnalyzedQuery, CollectionStatistics, DocumentAddress, FilteredDocs, IndexError, Selection,
    Snapshot,
};
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::{Ranking, Scored};
use rustc_hash::FxHashMap;

/// Ranking for a query, with the data for explanations.
pub struct RankedDocs {
    /// Best documents.
    pub ranking: Ranking,
    /// Number of selected documents that contain at least one query term.
    pub total: usize,
    /// Collection statistics used for the scores.
    pub collection: CollectionStatistics,
    addresses: FxHashMap<DatasetId, DocumentAddress>,
}

impl RankedDocs {
    /// Returns the address of a ranked document in the index.
    #[must_use]
    pub fn address(&self, id: &DatasetId) -> Option<DocumentAddress> {
        self.addresses.get(id).copied()
    }
}

/// Ranks the documents of an index and returns the best `depth`. A model that rescores candidates ranks only those.
pub fn rank(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    snapshot: &Snapshot,
    depth: usize,
) -> Result<RankedDocs, IndexError> {
    rank_selection(model, query, snapshot, depth, &mut None::<&FilteredDocs>)
}

/// Returns the number of selected documents that contain at least one term.
pub fn count_selection<S: Selection>(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    snapshot: &Snapshot,
    selection: &mut S,
) -> Result<usize, IndexError> {
    let collection =
        snapshot.collection_statistics(query, &model.fields(), model.statistics_level())?;
    let plan = model.plan(query, &collection);
    Ok(snapshot
        .top_docs(&query.distinct, &plan.clauses, 0, selection)?
        .total)
}

/// Ranks the selected documents of an index and returns the best `depth`. Scores are those among all documents. A model
/// that rescores candidates rescores the best selected ones.
pub fn rank_selection<S: Selection>(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    snapshot: &Snapshot,
    depth: usize,
    selection: &mut S,
) -> Result<RankedDocs, IndexError> {
    let fields = model.fields();
    let collection = snapshot.collection_statistics(query, &fields, model.statistics_level())?;
    let plan = model.plan(query, &collection);
    let mut top = snapshot.top_docs(
        &query.distinct,
        &plan.clauses,
        plan.rescore_depth.unwrap_or(depth),
        selection,
    )?;
    if plan.rescore_depth.is_some() {
        let addresses: Vec<DocumentAddress> =
            top.best.iter().map(|(address, _)| *address).collect();
        let counts =
            snapshot.document_statistics(query, &fields, &addresses, model.statistics_level())?;
        for ((_, score), document) in top.best.iter_mut().zip(&counts) {
            *score = model.score(query, document, &collection);
        }
        // Ids are read only for returned documents.
        top.best = snapshot.select_top(top.best, depth);
    }
    let mut scored = Vec::with_capacity(top.best.len());
    let mut addresses = FxHashMap::default();
    for (address, score) in top.best {
        let id = snapshot.id(address)?;
        addresses.insert(id.clone(), address);
        scored.push(Scored { id, score });
    }
    let ranking = Ranking::from_scores(scored).cut(depth);
    Ok(RankedDocs {
        ranking,
        total: top.total,
        collection,
        addresses,
    })
}
