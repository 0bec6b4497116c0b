//! A model and an index to a ranking.

use super::SparseModel;
use crate::{AnalyzedQuery, CollectionStatistics, DocumentAddress, IndexError, FilteredDocs, Selection, Snapshot};
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::{Ranking, Scored};
use rustc_hash::FxHashMap;

/// The ranking for a query, and what it takes to explain it.
pub struct RankedDocs {
    /// The best documents.
    pub ranking: Ranking,
    /// Documents with at least one of the query's terms, of those selected.
    pub total: usize,
    /// The statistics the scores were computed with.
    pub collection: CollectionStatistics,
    addresses: FxHashMap<DatasetId, DocumentAddress>,
}

impl RankedDocs {
    /// Where a ranked document lies in the index.
    #[must_use]
    pub fn address(&self, id: &DatasetId) -> Option<DocumentAddress> {
        self.addresses.get(id).copied()
    }
}

/// Ranks the documents of an index, `depth` of them. A model that scores candidates anew ranks no more than those.
pub fn rank(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    snapshot: &Snapshot,
    depth: usize,
) -> Result<RankedDocs, IndexError> {
    rank_selected(model, query, snapshot, depth, &mut None::<&FilteredDocs>)
}

/// Ranks the selected documents of an index: the best `depth` of them, with the scores they have among all documents. A
/// model that scores candidates anew scores the best of those selected.
pub fn rank_selected<S: Selection>(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    snapshot: &Snapshot,
    depth: usize,
    selection: &mut S,
) -> Result<RankedDocs, IndexError> {
    let fields = model.fields();
    let collection = snapshot.collection_statistics(query, &fields, model.statistics_level())?;
    let plan = model.plan(query, &collection);
    let mut found = snapshot.top_docs(&query.distinct, &plan.clauses, plan.rescore_depth.unwrap_or(depth), selection)?;
    if plan.rescore_depth.is_some() {
        let addresses: Vec<DocumentAddress> = found.best.iter().map(|(address, _)| *address).collect();
        let counts = snapshot.document_statistics(query, &fields, &addresses, model.statistics_level())?;
        for ((_, score), document) in found.best.iter_mut().zip(&counts) {
            *score = model.score(query, document, &collection);
        }
        // Ids are read for those that are shown alone.
        found.best = snapshot.select_top(found.best, depth);
    }
    let (mut scored, mut addresses) = (Vec::with_capacity(found.best.len()), FxHashMap::default());
    for (address, score) in found.best {
        let id = snapshot.id(address)?;
        addresses.insert(id.clone(), address);
        scored.push(Scored { id, score });
    }
    let ranking = Ranking::from_scores(scored).cut(depth);
    Ok(RankedDocs { ranking, total: found.total, collection, addresses })
}
