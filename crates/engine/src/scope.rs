//! The set of datasets that a ranking may contain.

use lodeseek_catalog::DatasetId;
use lodeseek_index::{Filter, FilteredDocs, IndexError, Snapshot};

/// The datasets that a ranking may contain: those of an index snapshot, restricted by a filter if there is one.
#[derive(Clone, Copy)]
pub(super) struct CandidateScope<'s> {
    pub(super) snapshot: &'s Snapshot,
    /// The documents that pass the filter. `None`: all documents.
    pub(super) filtered: Option<&'s FilteredDocs>,
    /// The last year of works that count as evidence. `None`: all works.
    pub(super) until: Option<i32>,
}

impl<'s> CandidateScope<'s> {
    /// Returns the scope of the datasets that pass a filter. `filtered` are the documents of the snapshot that do.
    pub(super) fn new(
        snapshot: &'s Snapshot,
        filtered: Option<&'s FilteredDocs>,
        filter: &Filter,
    ) -> Self {
        Self {
            snapshot,
            filtered,
            until: filter.until,
        }
    }

    /// Returns the scope of all datasets of a snapshot.
    pub(super) fn all(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            filtered: None,
            until: None,
        }
    }

    /// Returns true if a dataset is in the scope.
    pub(super) fn contains(&self, id: &DatasetId) -> Result<bool, IndexError> {
        let Some(address) = self.snapshot.address(id)? else {
            return Ok(false);
        };
        Ok(self
            .filtered
            .is_none_or(|filtered| filtered.contains(address)))
    }
}
