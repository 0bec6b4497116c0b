//! The collection that a change is made to: one that is served, or a home that this process opens.

use crate::background::Live;
use crate::change_lock::ChangeGuard;
use crate::execute::MAX_LIST_ENTRIES;
use crate::parsing::Parser;
use crate::setting_files::SettingFiles;
use lodeseek_catalog::{Catalog, Dataset, DatasetId, Edits};
use lodeseek_engine::{EngineError, IndexOptions, Updater, has_index};
use lodeseek_snapshot::StorageOptions;
use lodeseek_store::{
    Access, ContentPlace, LoadOptions, LoadProgress, LoadReport, Loader, Replaced, Stamp, Store,
    TableTreatment,
};
use oxsdatatypes::DateTime;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of datasets of a served collection that are stored and indexed as one step. Searches find them after it. Other changes
/// go between the steps of a harvest, but wait for the end of a load.
const MAX_STEP_DATASETS: usize = 200;

/// A home that no server serves.
///
/// A load or a harvest stores datasets, and `lodeseek index` indexes them later, all at once. Other changes also update the index, if
/// there is one.
#[derive(Clone, Debug, Default)]
pub struct LocalHome {
    /// Folder of the home.
    pub home: PathBuf,
    /// Base of a new home. That of a present one must be the same.
    pub base: Option<String>,
    /// Parser of catalogues and dumps.
    pub parser: Parser,
    /// Place of the content; `None` for the setting of the home.
    pub content: Option<ContentPlace>,
    /// Treatment of tables; `None` for the setting of the home.
    pub tables: Option<TableTreatment>,
    /// If true, the bytes of files are kept; `None` for the setting of the home.
    pub keep_files: Option<bool>,
    /// Reader of the files that the settings name, for backups.
    pub setting_files: SettingFiles,
    /// Access to storage, for the publication of snapshots.
    pub storage: Arc<StorageOptions>,
}

/// The collection that a change is made to.
#[derive(Clone, Copy)]
pub enum Collection<'c> {
    /// A collection that is served. Searches find what was changed after each step.
    Served(&'c Live),
    /// A home that no server serves. It is open only while something is stored, so that other processes can use it meanwhile.
    Local(&'c LocalHome),
}

impl<'c> Collection<'c> {
    /// Returns the folder of the home.
    #[must_use]
    pub fn home(self) -> &'c Path {
        match self {
            Self::Served(live) => live.store.home(),
            Self::Local(local) => &local.home,
        }
    }

    pub(crate) fn parser(self) -> &'c Parser {
        match self {
            Self::Served(live) => &live.parser,
            Self::Local(local) => &local.parser,
        }
    }

    pub(crate) fn setting_files(self) -> &'c SettingFiles {
        match self {
            Self::Served(live) => &live.setting_files,
            Self::Local(local) => &local.setting_files,
        }
    }

    pub(crate) fn storage(self) -> &'c StorageOptions {
        match self {
            Self::Served(live) => &live.storage,
            Self::Local(local) => &local.storage,
        }
    }

    /// Returns the number of datasets that are stored as one step.
    pub(crate) fn max_step_datasets(self) -> usize {
        match self {
            Self::Served(_) => MAX_STEP_DATASETS,
            Self::Local(_) => usize::MAX,
        }
    }

    /// Returns the number of entries of each list in a report. Those of a server are sent to clients and stay in its memory.
    pub(crate) fn max_list_entries(self) -> usize {
        match self {
            Self::Served(_) => MAX_LIST_ENTRIES,
            Self::Local(_) => usize::MAX,
        }
    }

    /// Opens the collection for a step of a change. No other step is made until the result is dropped.
    pub(crate) fn open(self) -> Result<OpenCollection<'c>, EngineError> {
        self.open_for(Access::Write)
    }

    /// Opens the collection for a step that only reads it. No step of a change is made meanwhile.
    pub(crate) fn open_to_read(self) -> Result<OpenCollection<'c>, EngineError> {
        self.open_for(Access::Read)
    }

    fn open_for(self, access: Access) -> Result<OpenCollection<'c>, EngineError> {
        Ok(match self {
            Self::Served(live) => OpenCollection::Served {
                live,
                _turn: live.lock_changes(),
            },
            Self::Local(local) => OpenCollection::Local {
                local,
                store: Box::new(Store::open(&local.home, access, local.base.as_deref())?),
            },
        })
    }
}

/// Change of the descriptions or the content of some datasets.
pub(crate) enum Step {
    /// Stores the datasets of a catalogue.
    Store(Box<Catalog>),
    /// Replaces the description of a dataset.
    Describe(Box<Dataset>),
    /// Replaces the edits of a description.
    Edit(DatasetId, Edits),
    /// Removes datasets.
    Remove(Vec<DatasetId>),
}

impl Step {
    /// Returns the ids of the datasets.
    fn ids(&self) -> Vec<DatasetId> {
        match self {
            Self::Store(catalog) => {
                let ids = catalog.datasets.iter();
                ids.map(|dataset| dataset.metadata.id.clone()).collect()
            }
            Self::Describe(dataset) => vec![dataset.metadata.id.clone()],
            Self::Edit(id, _) => vec![id.clone()],
            Self::Remove(ids) => ids.clone(),
        }
    }

    /// Returns true if content may be left without a dataset. Changes of descriptions leave all content in place, and the search for
    /// such content reads the pointers of all datasets.
    fn may_replace_content(&self) -> bool {
        match self {
            Self::Store(_) | Self::Remove(_) => true,
            Self::Describe(_) | Self::Edit(..) => false,
        }
    }

    /// Changes the store and the index.
    fn update(self, updater: &Updater<'_>) -> Result<LoadReport, EngineError> {
        Ok(match self {
            Self::Store(catalog) => updater.run(*catalog, &[])?.load,
            Self::Describe(dataset) => updater.replace_description(&dataset)?.load,
            Self::Edit(id, edits) => updater.edit(&id, edits)?.load,
            Self::Remove(ids) => {
                updater.remove(&ids)?;
                LoadReport::default()
            }
        })
    }

    /// Changes the store alone.
    fn load(
        self,
        loader: &Loader<'_>,
        store: &Store,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, EngineError> {
        Ok(match self {
            Self::Store(catalog) => loader.load(*catalog, on_progress)?,
            Self::Describe(dataset) => loader.replace_description(&dataset)?,
            Self::Edit(id, edits) => loader.edit(&id, edits)?,
            Self::Remove(ids) => {
                store.remove(&ids)?;
                LoadReport::default()
            }
        })
    }
}

/// A collection while a step of a change is made.
pub(crate) enum OpenCollection<'c> {
    Served {
        live: &'c Live,
        _turn: ChangeGuard<'c>,
    },
    Local {
        local: &'c LocalHome,
        store: Box<Store>,
    },
}

impl OpenCollection<'_> {
    pub(crate) fn store(&self) -> &Store {
        match self {
            Self::Served { live, .. } => &live.store,
            Self::Local { store, .. } => store,
        }
    }

    /// Makes a step of a load or a harvest. The index of a local home follows later.
    pub(crate) fn store_datasets(
        &self,
        step: Step,
        load: LoadOptions,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, EngineError> {
        match self {
            Self::Served { .. } => self.change_datasets(step, load),
            Self::Local { store, .. } => {
                // A load clears what it replaces itself.
                let must_clear =
                    matches!(step, Step::Remove(_)) && load.replaced == Replaced::Cleared;
                let loader = Loader::new(store).with_options(self.with_settings(load));
                let report = step.load(&loader, store, on_progress)?;
                if must_clear {
                    store.clear_replaced(&|_, _| ())?;
                }
                Ok(report)
            }
        }
    }

    /// Makes a step as a whole or not at all, and updates the index.
    pub(crate) fn change_datasets(
        &self,
        step: Step,
        load: LoadOptions,
    ) -> Result<LoadReport, EngineError> {
        match self {
            Self::Served { live, .. } => {
                let updater = live.updater(load);
                let report = updater.all_or_nothing(&step.ids(), |updater| step.update(updater))?;
                live.searcher.refresh()?;
                Ok(report)
            }
            Self::Local { store, .. } if has_index(store.home()) => {
                let index = IndexOptions {
                    now: Some(DateTime::now()),
                    ..IndexOptions::default()
                };
                let must_clear = step.may_replace_content();
                let updater = Updater::new(store, self.with_settings(load), index);
                let report = updater.all_or_nothing(&step.ids(), |updater| step.update(updater))?;
                // In a served collection, a thread does this after a pause of the changes.
                updater.find_duplicates()?;
                if must_clear {
                    store.clear_replaced(&|_, _| ())?;
                }
                Ok(report)
            }
            Self::Local { .. } => self.store_datasets(step, load, &|_| ()),
        }
    }

    /// Adds the settings of a local home and the current time to the options of a load.
    fn with_settings(&self, load: LoadOptions) -> LoadOptions {
        let stamp = Stamp {
            now: Some(DateTime::now()),
            ..load.stamp
        };
        match self {
            Self::Served { .. } => LoadOptions { stamp, ..load },
            Self::Local { local, .. } => LoadOptions {
                stamp,
                content: load.content.or(local.content),
                tables: load.tables.or(local.tables),
                keep_files: load.keep_files.or(local.keep_files),
                ..load
            },
        }
    }

    /// Makes the changes visible to searches of a served collection.
    pub(crate) fn refresh(&self) -> Result<(), EngineError> {
        match self {
            Self::Served { live, .. } => live.searcher.refresh(),
            Self::Local { .. } => Ok(()),
        }
    }
}
