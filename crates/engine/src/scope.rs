//! The set of datasets that a ranking may contain.

use lodeseek_index::{FilteredDocs, Snapshot};

/// The datasets that a ranking may contain: those of an index snapshot, restricted by a filter if there is one.
#[derive(Clone, Copy)]
pub(super) struct CandidateScope<'s> {
    pub(super) snapshot: &'s Snapshot,
    /// The documents that pass the filter. `None`: all documents.
    pub(super) filtered: Option<&'s FilteredDocs>,
}

impl<'s> CandidateScope<'s> {
    /// Returns the scope of all datasets of a snapshot.
    pub(super) fn all(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, filtered: None }
    }
}
