//! Updates of single datasets while others are searched.
//!
//! Readers always see one version of a dataset. An update runs in this order:
//!
//! 1. Content is written to a graph and a file that nothing refers to yet.
//! 2. Description and version pointer change in one transaction.
//! 3. Profiles and snippets of all changed datasets are replaced, in one transaction if they are small. Large ones are missing for a
//!    moment, see [`Store::replace_derived_triples`].
//! 4. The index changes in one commit.
//!
//! A running search continues with the index it began with, whose cards name the version of their content. Replaced content
//! therefore stays until [`Updater::clear_replaced`]: call it when no earlier search is running.

use super::indexer::Examined;
use super::{EngineError, IndexOptions, IndexReport, Indexer, Searcher, duplicates};
use lodeseek_catalog::{Catalog, Dataset, DatasetId, Edits};
use lodeseek_store::{DatasetOutcome, LoadOptions, LoadReport, Loader, Replaced, Store};
use serde::Serialize;

/// A report of an update.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UpdateReport {
    /// The outcome for each dataset that was read.
    pub load: LoadReport,
    /// The report of the indexing.
    pub index: IndexReport,
}

/// Loads changed datasets of catalogues and indexes them.
pub struct Updater<'s> {
    store: &'s Store,
    load: LoadOptions,
    index: IndexOptions,
}

impl<'s> Updater<'s> {
    /// Creates an updater of a store opened for writing.
    #[must_use]
    pub fn new(store: &'s Store, load: LoadOptions, index: IndexOptions) -> Self {
        Self {
            store,
            load: LoadOptions {
                replaced: Replaced::Kept,
                ..load
            },
            index,
        }
    }

    /// Loads a catalogue, indexes those of its datasets that changed, and removes others from the index.
    pub fn run(
        &self,
        catalog: Catalog,
        removed: &[DatasetId],
    ) -> Result<UpdateReport, EngineError> {
        let load = Loader::new(self.store)
            .with_options(self.load.clone())
            .load(catalog, &|_| ())?;
        self.index_changes(load, removed)
    }

    /// Replaces the description of a present dataset, and indexes it if the description changed. The content stays as it is.
    pub fn replace_description(&self, dataset: &Dataset) -> Result<UpdateReport, EngineError> {
        let load = Loader::new(self.store)
            .with_options(self.load.clone())
            .replace_description(dataset)?;
        self.index_changes(load, &[])
    }

    /// Replaces the edits of a dataset's description, and indexes it if the description changed.
    pub fn edit(&self, id: &DatasetId, edits: Edits) -> Result<UpdateReport, EngineError> {
        let load = Loader::new(self.store)
            .with_options(self.load.clone())
            .edit(id, edits)?;
        self.index_changes(load, &[])
    }

    fn index_changes(
        &self,
        load: LoadReport,
        removed: &[DatasetId],
    ) -> Result<UpdateReport, EngineError> {
        let changed: Vec<DatasetId> = load
            .datasets
            .iter()
            .filter(|dataset| {
                !matches!(
                    dataset.outcome,
                    DatasetOutcome::Unchanged | DatasetOutcome::Kept
                )
            })
            .map(|dataset| dataset.id.clone())
            .collect();
        let index = if changed.is_empty() && removed.is_empty() {
            IndexReport::default()
        } else {
            Indexer::new(self.store, self.index).update(&changed, removed)?
        };
        Ok(UpdateReport { load, index })
    }

    /// Makes a change of some datasets, as a whole or not at all: if it fails, the store is restored, and the index follows it.
    pub fn all_or_nothing<T>(
        &self,
        ids: &[DatasetId],
        change: impl FnOnce(&Self) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let before = self.store.undo(ids)?;
        let failure = match change(self) {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        self.store.restore(&before)?;
        // The index usually still has the state before. If its failure came after its commit, it is committed again.
        if let Err(error) = self.sync_index(ids) {
            tracing::warn!(%error, "the index could not be restored after a failed change; the next start restores it");
        }
        Err(failure)
    }

    fn sync_index(&self, ids: &[DatasetId]) -> Result<(), EngineError> {
        let present = self.store.ids()?;
        let (present, absent): (Vec<DatasetId>, Vec<DatasetId>) = ids
            .iter()
            .cloned()
            .partition(|id| present.binary_search(id).is_ok());
        Indexer::new(self.store, self.index).update(&present, &absent)?;
        Ok(())
    }

    /// Completes an interrupted update: indexes every dataset whose version in the index differs from the store's. Returns
    /// the number of datasets indexed or removed.
    pub fn catch_up(&self, searcher: &Searcher) -> Result<usize, EngineError> {
        let indexed = searcher.catalog().ids()?;
        let present = self.store.ids()?;
        let removed: Vec<DatasetId> = indexed
            .iter()
            .filter(|id| present.binary_search(id).is_err())
            .cloned()
            .collect();
        let mut changed = Vec::new();
        for id in present {
            let entry = self.store.entry(&id)?;
            match searcher.catalog().card(&id)? {
                Some(card) if card.is_current(&entry)? => {}
                _ => changed.push(id),
            }
        }
        if changed.is_empty() && removed.is_empty() {
            return Ok(0);
        }
        let report = Indexer::new(self.store, self.index).update(&changed, &removed)?;
        Ok(report.indexed + report.removed)
    }

    /// Recomputes the groups of duplicates and editions. Only descriptions that changed since the last complete run of the indexer are
    /// read.
    ///
    /// # Errors
    /// If the store cannot be read, or the file of the groups cannot be written.
    pub fn find_duplicates(&self) -> Result<(), EngineError> {
        let mut examined = Examined::read_of_this_program(self.store.home());
        let mut digests = self.store.description_digests()?;
        let mut candidates = Vec::new();
        for (id, content) in self.store.versions()? {
            let digest = digests.remove(&id);
            if let Some(known) = examined.remove(&id)
                && known.is_unchanged(&content, digest.as_ref())
            {
                candidates.push(known.candidate);
            } else if let Some(entry) = self.store.read_entry(&id, content)? {
                candidates.push(duplicates::candidate(self.store, &entry)?);
            }
        }
        duplicates::update(self.store, &candidates)
    }

    /// Removes datasets from the store and the index.
    pub fn remove(&self, ids: &[DatasetId]) -> Result<(), EngineError> {
        self.store.remove(ids)?;
        Indexer::new(self.store, self.index).update(&[], ids)?;
        Ok(())
    }

    /// Deletes replaced content. Returns the number of graphs deleted.
    pub fn clear_replaced(&self) -> Result<usize, EngineError> {
        Ok(self.store.clear_replaced(&|_, _| ())?)
    }
}
