//! Changes of metadata, counted so that caches of other crates can detect them.

use super::Store;
use std::sync::atomic::{AtomicU64, Ordering};

/// A change of metadata in progress. Dropping it ends the change.
pub(crate) struct Change<'s>(&'s AtomicU64);

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Store {
    /// Starts a change of metadata. The caller holds it while it writes.
    pub(crate) fn change(&self) -> Change<'_> {
        self.changes.fetch_add(1, Ordering::SeqCst);
        Change(&self.changes)
    }

    /// Number that differs after every change of metadata. What was read between two equal values is consistent and may be
    /// cached; the value is unequal while a change is in progress and after it.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }
}
