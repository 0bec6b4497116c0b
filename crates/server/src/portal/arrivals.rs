//! Datasets by the time at which they were added to the catalogue.

use crate::AppState;
use crate::cache::GenerationCache;
use crate::error::ApiError;
use lodeseek_catalog::DatasetId;
use std::sync::Arc;

/// Maximum number of newest datasets.
pub(crate) const MAX_ARRIVALS: usize = 5;

/// Cache of the newest datasets. Its generation changes with the index and the catalogue.
pub(super) type CachedArrivals = GenerationCache<(u64, u64), Vec<DatasetId>>;

/// Returns the datasets that were added last, the latest first. Of those added at the same time, the first are those of the latest
/// year. Empty if no dataset has a record.
pub(crate) fn latest(state: &AppState) -> Result<Arc<Vec<DatasetId>>, ApiError> {
    let generation = (
        state.searcher.catalog().generation()?,
        state.store.catalog_generation(),
    );
    let cache = &state.portal.arrivals;
    cache.get_or_compute(generation, || read_latest(state))
}

fn read_latest(state: &AppState) -> Result<Vec<DatasetId>, ApiError> {
    let arrivals = state.store.arrivals()?;
    let mut arrivals: Vec<_> = arrivals.into_iter().map(|(id, time)| (time, id)).collect();
    arrivals.sort_unstable_by(|one, other| other.cmp(one));
    let mut dated: Vec<(String, Option<i32>, DatasetId)> = Vec::new();
    for (time, id) in arrivals {
        // Only those that were added at the time of the last one may still precede it.
        if dated.len() >= MAX_ARRIVALS && dated.last().is_some_and(|(last, ..)| *last != time) {
            break;
        }
        // Datasets that are not indexed yet have no page.
        if let Some(facts) = state.searcher.catalog().numeric_facts(&id)? {
            dated.push((time, facts.year, id));
        }
    }
    dated.sort_unstable_by(|one, other| other.cmp(one));
    dated.truncate(MAX_ARRIVALS);
    Ok(dated.into_iter().map(|(.., id)| id).collect())
}
