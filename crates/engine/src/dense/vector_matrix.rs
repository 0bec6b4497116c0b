//! All vectors of a text encoder as one matrix, for exhaustive nearest-neighbour search.

use crate::EngineError;
use lodeseek_catalog::DatasetId;
use lodeseek_index::vectors::{Rows, VectorsSnapshot};
use lodeseek_index::{FilteredDocs, Snapshot};
use lodeseek_rerank::{Combination, Query, dpr};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The vectors of all texts of all datasets, one row per text, held in memory.
pub(super) struct VectorMatrix {
    /// The generation of the vectors from which the matrix was made.
    pub(super) generation: u64,
    pub(super) rows: Rows,
    /// For each dataset, the rows of its metadata and of its data.
    pub(super) places: Vec<(DatasetId, [Option<usize>; 2])>,
}

impl VectorMatrix {
    /// Reads all vectors. Calls `on_damage` with each dataset whose vectors are damaged.
    pub(super) fn new(vectors: &VectorsSnapshot, mut on_damage: impl FnMut(&DatasetId)) -> Self {
        let mut values = Vec::new();
        let mut places = Vec::new();
        let mut rows = 0;
        for id in vectors.ids() {
            let stored = match vectors.get(id) {
                Ok(Some(stored)) => stored,
                Ok(None) => continue,
                Err(_) => {
                    on_damage(id);
                    continue;
                }
            };
            let mut place = [None; 2];
            for (place, matrix) in place.iter_mut().zip([&stored.metadata, &stored.data]) {
                if matrix.rows() > 0 {
                    values.extend(matrix.row(0));
                    *place = Some(rows);
                    rows += 1;
                }
            }
            places.push((id.clone(), place));
        }
        let description = vectors.description();
        let rows = Rows::pack(&values, description.columns, description.precision);
        Self { generation: vectors.generation(), rows, places }
    }

    /// Returns the scores of all datasets that have vectors, in no order.
    pub(super) fn scores(&self, query: &Query, combination: Combination) -> Vec<ScoredId<'_>> {
        let similarities = dpr::dot(query, &self.rows);
        let mut scored = Vec::with_capacity(self.places.len());
        for (id, places) in &self.places {
            let [metadata, data] = places.map(|place| place.map(|place| f64::from(similarities[place])));
            if let Some(score) = combination.combine(metadata, data) {
                scored.push(ScoredId { score, id });
            }
        }
        scored
    }
}

/// A dataset and its score. The greatest is the best: that with the highest score, then the last id.
pub(super) struct ScoredId<'v> {
    score: f64,
    id: &'v DatasetId,
}

impl Ord for ScoredId<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.id.cmp(other.id))
    }
}

impl PartialOrd for ScoredId<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ScoredId<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ScoredId<'_> {}

/// Returns the ids of the best `depth` datasets, in no order.
pub(super) fn top_ids(mut scored: Vec<ScoredId<'_>>, depth: usize) -> Vec<DatasetId> {
    if depth < scored.len() {
        scored.select_nth_unstable_by(depth, |a, b| b.cmp(a));
        scored.truncate(depth);
    }
    scored.into_iter().map(|scored| scored.id.clone()).collect()
}

/// Returns the ids of the best `depth` datasets that pass a filter, in no order.
///
/// If few datasets pass, their ids are read and the others dropped. If many pass, datasets are tested from the best one on
/// until enough have passed. Either way needs at most about √(depth · all) look-ups, provided that the filter is independent
/// of the similarity.
pub(super) fn top_filtered_ids(
    scored: Vec<ScoredId<'_>>,
    depth: usize,
    index: &Snapshot,
    filtered: &FilteredDocs,
) -> Result<Vec<DatasetId>, EngineError> {
    let max_ids = depth.saturating_mul(scored.len()).isqrt();
    if let Some(ids) = index.ids_if_few(filtered, max_ids)? {
        let ids: FxHashSet<DatasetId> = ids.into_iter().collect();
        return Ok(top_ids(scored.into_iter().filter(|scored| ids.contains(scored.id)).collect(), depth));
    }
    let mut remaining = BinaryHeap::from(scored);
    let mut best = Vec::new();
    while best.len() < depth
        && let Some(scored) = remaining.pop()
    {
        if index.address(scored.id)?.is_some_and(|address| filtered.contains(address)) {
            best.push(scored.id.clone());
        }
    }
    Ok(best)
}
