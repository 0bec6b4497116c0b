//! Works that use datasets, as evidence for ranking: the datasets of the works nearest to a query are candidates.
//!
//! ```text
//! home/works/works.jsonl   all works, which the store also describes in RDF
//! home/works/MODEL/        one vector for each work, made by a model with one vector per text
//! ```
//!
//! The k works nearest to a query vote for the datasets that they use, each with its similarity as weight: nearest
//! neighbours in the sense of V. Viswanathan et al., *DataFinder: Scientific Dataset Recommendation from Natural Language
//! Descriptions*, ACL 2023, section 5. Their script weights by distance, so that the farthest works count most.

mod encoding;
mod nearest;

pub use encoding::{WorksReport, encode_works};
pub use nearest::{NearWork, WorkEvidence};
pub(super) use nearest::{VoteLimits, WorkRetriever, WorkVotes};

use super::EngineError;
use lodeseek_catalog::CitingWork;
use lodeseek_rerank::Encoder;
use lodeseek_store::{Store, read_works};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Report of adding works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedWorks {
    /// Number of new works.
    pub added: usize,
    /// Number of works that replaced an earlier one with the same URL, or the same title and year.
    pub replaced: usize,
    /// Number of works that the home had already.
    pub unchanged: usize,
    /// Number of works of the home afterwards.
    pub total: usize,
    /// Number of datasets of the home that at least one work uses.
    pub used_datasets: usize,
    /// Number of ids in all works that are no dataset of the home. They count as soon as the dataset is loaded.
    pub unknown_datasets: usize,
}

/// Adds works to the home of a store, which must be open for writing. A work replaces an earlier one with the same URL, or
/// the same title and year. All are added in one commit, or none.
///
/// # Errors
/// If the present works are damaged, or the new ones cannot be written.
pub fn add_works(store: &Store, works: Vec<CitingWork>) -> Result<AddedWorks, EngineError> {
    let former = read_works(store.home())?;
    let mut present = former.clone();
    let mut report = AddedWorks::default();
    for work in works {
        let key = work.key();
        match present.get(&key) {
            Some(old) if *old == work => report.unchanged += 1,
            Some(_) => report.replaced += 1,
            None => report.added += 1,
        }
        present.insert(key, work);
    }
    report.total = present.len();
    let mut used: Vec<_> = present.values().flat_map(|work| &work.datasets).collect();
    used.sort_unstable();
    used.dedup();
    let ids = store.ids()?;
    report.used_datasets = used.iter().filter(|id| ids.binary_search(id).is_ok()).count();
    report.unknown_datasets = used.len() - report.used_datasets;
    if report.added + report.replaced > 0 {
        store.replace_works(&former, &present)?;
    }
    Ok(report)
}

/// Returns the number of works of a home.
pub(super) fn count_works(home: &Path) -> Result<usize, EngineError> {
    Ok(read_works(home)?.len())
}

/// Returns true if a home has vectors of works by one of some encoders.
///
/// # Errors
/// If the vectors cannot be read.
pub fn has_encoded_works(home: &Path, encoders: &[Box<dyn Encoder>]) -> Result<bool, EngineError> {
    for encoder in encoders {
        if WorkRetriever::open(home, encoder.as_ref())?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
