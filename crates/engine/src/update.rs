//! Datasets that come, change and go while others are searched.
//!
//! What is read of a dataset at one moment is of one version: content comes first, in a graph and a file that nothing names
//! yet; then description and pointer move in one transaction; then profile and snippet, each in one where they are few (of
//! many they are missing for a moment, see [`Store::replace_derived`]); then the index, in one commit. A search goes on by the index it began with, whose cards name the version of the content they are of; so
//! replaced content stays until [`Updater::clear`], which is to be called when no search of the time before runs any more.

use super::{Card, EngineError, IndexOptions, IndexReport, Indexer, Searcher, duplicates};
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_store::{DatasetOutcome, LoadOptions, LoadReport, Loader, Replaced, Store};
use serde::Serialize;

/// What an update did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UpdateReport {
    /// What became of the datasets that were read.
    pub load: LoadReport,
    /// What was indexed.
    pub index: IndexReport,
}

/// Takes changes from catalogues to the index, and nothing else.
pub struct Updater<'s> {
    store: &'s Store,
    load: LoadOptions,
    index: IndexOptions,
}

impl<'s> Updater<'s> {
    /// Over a store opened for writing.
    #[must_use]
    pub fn new(store: &'s Store, load: LoadOptions, index: IndexOptions) -> Self {
        Self { store, load: LoadOptions { replaced: Replaced::Kept, ..load }, index }
    }

    /// Loads a catalogue and indexes those of its datasets that changed, and takes `gone` out of the index.
    pub fn run(&self, catalog: Catalog, gone: &[DatasetId]) -> Result<UpdateReport, EngineError> {
        let load = Loader::new(self.store).with_options(self.load.clone()).load(catalog, &|_| ())?;
        let changed: Vec<DatasetId> = load
            .datasets
            .iter()
            .filter(|dataset| !matches!(dataset.outcome, DatasetOutcome::Unchanged | DatasetOutcome::Kept))
            .map(|dataset| dataset.id.clone())
            .collect();
        let index = if changed.is_empty() && gone.is_empty() {
            IndexReport::default()
        } else {
            Indexer::new(self.store, self.index).update(&changed, gone)?
        };
        Ok(UpdateReport { load, index })
    }

    /// Indexes what a stop in the middle of an update has left: what the index does not have as the store has it. How many
    /// datasets were indexed or taken out.
    pub fn catch_up(&self, searcher: &Searcher) -> Result<usize, EngineError> {
        let indexed = searcher.ids()?;
        let present = self.store.ids()?;
        let gone: Vec<DatasetId> = indexed.iter().filter(|id| present.binary_search(id).is_err()).cloned().collect();
        let mut changed = Vec::new();
        for id in present {
            let entry = self.store.entry(&id)?;
            let is_indexed = |card: Card| card.version == entry.version && card.metadata == entry.dataset.metadata;
            if !searcher.card(&id)?.is_some_and(is_indexed) {
                changed.push(id);
            }
        }
        if changed.is_empty() && gone.is_empty() {
            return Ok(0);
        }
        let report = Indexer::new(self.store, self.index).update(&changed, &gone)?;
        Ok(report.indexed + report.removed)
    }

    /// Finds anew which datasets are one: a look at what is said of all.
    pub fn find_duplicates(&self) -> Result<(), EngineError> {
        duplicates::keep(self.store, &self.store.entries()?)
    }

    /// Takes datasets away.
    pub fn remove(&self, ids: &[DatasetId]) -> Result<(), EngineError> {
        self.store.remove(ids)?;
        Indexer::new(self.store, self.index).update(&[], ids)?;
        Ok(())
    }

    /// Clears replaced content. How many graphs went.
    pub fn clear(&self) -> Result<usize, EngineError> {
        Ok(self.store.clear_replaced(&|_, _| ())?)
    }
}
