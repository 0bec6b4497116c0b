//! New datasets, which one commit makes visible.

use super::quad_changes::QuadChanges;
use super::{ChangeKind, Stamp, Store, StoreError};
use lodeseek_catalog::DatasetId;
use oxigraph::store::BulkLoader;
use oxrdf::Quad;
use std::sync::atomic::Ordering;

/// Content and descriptions of new datasets. They become table files at once, and visible together in the next commit.
///
/// RocksDB merges what each commit adds with much of what the store has, so few large commits write less than many small ones.
pub(super) struct NewDatasets<'s> {
    store: &'s Store,
    threads: usize,
    megabytes: usize,
    stamp: &'s Stamp,
    /// Loader of what is not committed.
    bulk: Option<BulkLoader<'s>>,
    /// Datasets that are described, but not committed.
    ids: Vec<DatasetId>,
    /// Number of quads that are not committed.
    quads: u64,
}

impl<'s> NewDatasets<'s> {
    pub(super) fn new(
        store: &'s Store,
        stamp: &'s Stamp,
        threads: usize,
        megabytes: usize,
    ) -> Self {
        Self {
            store,
            threads,
            megabytes,
            stamp,
            bulk: None,
            ids: Vec::new(),
            quads: 0,
        }
    }

    /// Number of quads that are not committed.
    pub(super) fn waiting_quads(&self) -> u64 {
        self.quads
    }

    fn bulk(&mut self) -> &mut BulkLoader<'s> {
        self.bulk
            .get_or_insert_with(|| self.store.bulk_loader(self.threads, self.megabytes))
    }

    /// Adds content, of new datasets or of new versions.
    ///
    /// # Errors
    /// If its table files cannot be written.
    pub(super) fn add_content(
        &mut self,
        quads: impl Iterator<Item = Quad>,
    ) -> Result<(), StoreError> {
        let mut number = 0;
        let counted = quads.inspect(|_| number += 1);
        self.bulk().load_quads(counted)?;
        self.quads += number;
        Ok(())
    }

    /// Adds descriptions from [`Store::describe_new`].
    ///
    /// # Errors
    /// If their table files cannot be written.
    pub(super) fn add_descriptions(
        &mut self,
        mut ids: Vec<DatasetId>,
        mut changes: QuadChanges,
    ) -> Result<(), StoreError> {
        self.quads += changes.added_quads() as u64;
        changes.load_added_quads(self.bulk())?;
        self.ids.append(&mut ids);
        Ok(())
    }

    /// Commits everything. Without anything to commit, nothing changes.
    ///
    /// # Errors
    /// Errors of the store, which then has nothing of it.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        let Some(bulk) = self.bulk.take() else {
            return Ok(());
        };
        let ids = std::mem::take(&mut self.ids);
        self.quads = 0;
        if ids.is_empty() {
            // Content without a description is visible to nobody.
            return Ok(bulk.commit()?);
        }
        let store = self.store;
        let _change = store.change();
        let commit = store.start_commit();
        let mut changes = QuadChanges::default();
        store.mark_commit(&commit, &mut changes)?;
        if self.stamp.now.is_some() {
            let created: Vec<_> = ids.iter().map(|id| (id, ChangeKind::Create)).collect();
            store.record_changes(&mut changes, &created)?;
        }
        let written = changes.commit_with(bulk, store)?;
        store.described.fetch_add(1, Ordering::SeqCst);
        store.finish_commit(commit, written)
    }
}
