//! Duplicate datasets: found when the index is made, stored in `home/duplicates.json` and merged in results.

use super::card::read_card;
use super::table_overlap::RelatedTables;
use super::{Card, EngineError};
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::duplicates::{Candidate, Content, Duplicates, Reason};
use lodeseek_catalog::editions::EditionRelation;
use lodeseek_index::Snapshot;
use lodeseek_store::{self as store, Entry, Fingerprint, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Maximum number of duplicates named with a dataset.
pub const MAX_DUPLICATES_SHOWN: usize = 10;

/// The handling of duplicate datasets in results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DuplicateMode {
    /// Every duplicate is a result of its own. Evaluations use this mode.
    #[default]
    All,
    /// Only the best duplicate of each group is a result, with references to the others.
    Grouped,
}

/// A reference to another dataset of the index.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DatasetReference {
    /// Its id.
    pub id: DatasetId,
    /// Its title.
    pub title: String,
    /// Its publisher, or else its creator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// Its IRI in the catalogue it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl DatasetReference {
    pub(super) fn from_card(card: &Card) -> Self {
        let metadata = &card.metadata;
        Self {
            id: metadata.id.clone(),
            title: metadata.title().to_owned(),
            publisher: metadata
                .publishers
                .first()
                .or(metadata.creators.first())
                .map(|agent| agent.name.clone()),
            source: metadata.source.clone(),
        }
    }
}

/// Another edition of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RelatedEdition {
    /// Its relation to the dataset.
    pub edition: EditionRelation,
    /// The edition.
    #[serde(flatten)]
    pub dataset: DatasetReference,
}

/// The duplicates and editions of a dataset, found when the index was last made.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RelatedDatasets {
    /// The same dataset under other ids.
    pub duplicates: Vec<DatasetReference>,
    /// The reasons for which these are duplicates.
    pub reasons: BTreeSet<Reason>,
    /// Its other editions, ordered by title.
    pub editions: Vec<RelatedEdition>,
    /// Number of further editions, which are not listed.
    pub more_editions: usize,
    /// Datasets whose tables can be joined or united with its own, those with the most common values first.
    pub tables: Vec<RelatedTables>,
}

/// Returns references to the first of some datasets, at most [`MAX_DUPLICATES_SHOWN`].
pub(super) fn references<'i>(
    ids: impl Iterator<Item = &'i DatasetId>,
    snapshot: &Snapshot,
) -> Result<Vec<DatasetReference>, EngineError> {
    let mut references = Vec::new();
    for id in ids.take(MAX_DUPLICATES_SHOWN) {
        references.extend(read_card(snapshot, id)?.map(|card| DatasetReference::from_card(&card)));
    }
    Ok(references)
}

pub(super) fn path(home: &Path) -> PathBuf {
    home.join("duplicates.json")
}

fn file_error(home: &Path) -> impl FnOnce(io::Error) -> EngineError {
    let path = path(home);
    move |cause| EngineError::Duplicates { path, cause }
}

/// Reads the file of duplicates, if there is one, and discards its content.
pub(super) fn check(home: &Path) -> Result<(), EngineError> {
    let Some(text) = store::read_checked(&path(home))? else {
        return Ok(());
    };
    serde_json::from_slice::<Duplicates>(&text)
        .map_err(io::Error::other)
        .map_err(file_error(home))?;
    Ok(())
}

/// Returns the properties of a dataset that are compared.
pub(super) fn candidate(store: &Store, entry: &Entry) -> Result<Candidate, EngineError> {
    let is_empty = entry.version == store::empty_version();
    let content = if is_empty {
        None
    } else {
        Some(read_content(store, entry)?)
    };
    Ok(Candidate::new(&entry.dataset, content.as_ref()))
}

/// Finds the duplicates among all datasets of a store and writes them to the home, replacing the file atomically.
pub(super) fn update(store: &Store, candidates: &[Candidate]) -> Result<(), EngineError> {
    let home = store.home();
    let text = serde_json::to_vec(&Duplicates::find(candidates))
        .map_err(io::Error::other)
        .map_err(file_error(home))?;
    // The file keeps its time, so that readers need not read it again.
    if store::read_checked(&path(home)).is_ok_and(|current| current.as_deref() == Some(&text)) {
        return Ok(());
    }
    Ok(store::write_checked(&path(home), &text)?)
}

fn read_content(store: &Store, entry: &Entry) -> Result<Content, EngineError> {
    Ok(match store.fingerprint(entry)? {
        Fingerprint::Canonical(hash) => Content::Canonical(hash),
        Fingerprint::Labelled(version) => Content::Labelled(version),
    })
}

/// The groups of duplicates and of editions, indexed by their members.
#[derive(Default)]
pub(super) struct DuplicateGroups {
    pub(super) duplicates: Duplicates,
    /// The group of each dataset that has duplicates: an index into `duplicates.groups`.
    groups: FxHashMap<DatasetId, usize>,
    /// The editions of each dataset that has others: an index into `duplicates.versions`.
    versions: FxHashMap<DatasetId, usize>,
    /// Number of datasets that disappear from results if each group is shown as one.
    pub(super) surplus: usize,
}

impl DuplicateGroups {
    fn new(duplicates: Duplicates) -> Self {
        let mut groups = FxHashMap::default();
        for (place, group) in duplicates.groups.iter().enumerate() {
            groups.extend(group.members.iter().map(|id| (id.clone(), place)));
        }
        let mut versions = FxHashMap::default();
        for (place, ids) in duplicates.versions.iter().enumerate() {
            versions.extend(ids.iter().map(|id| (id.clone(), place)));
        }
        Self {
            groups,
            versions,
            surplus: duplicates.surplus(),
            duplicates,
        }
    }

    /// Returns a predicate that is true for the first dataset of each group. Call it once for each dataset, in the order of
    /// the ranking.
    pub(super) fn first_of_group(&self) -> impl FnMut(&DatasetId) -> bool + '_ {
        let mut seen = FxHashSet::default();
        move |id| self.groups.get(id).is_none_or(|group| seen.insert(*group))
    }

    /// Returns the reasons for which a dataset has duplicates.
    pub(super) fn reasons(&self, id: &DatasetId) -> BTreeSet<Reason> {
        self.groups
            .get(id)
            .map(|group| self.duplicates.groups[*group].reasons.clone())
            .unwrap_or_default()
    }

    /// Returns all editions of a dataset, including itself. Empty if it has no other.
    pub(super) fn editions(&self, id: &DatasetId) -> &[DatasetId] {
        match self.versions.get(id) {
            Some(place) => &self.duplicates.versions[*place],
            None => &[],
        }
    }

    /// Returns the other members of a dataset's group.
    pub(super) fn others(&self, id: &DatasetId) -> impl Iterator<Item = &DatasetId> {
        let group = self
            .groups
            .get(id)
            .map(|group| &self.duplicates.groups[*group]);
        group
            .into_iter()
            .flat_map(|group| &group.members)
            .filter(move |other| *other != id)
    }
}

/// The groups as last read from the home, with the file's time of modification. Indexes of early versions have no file.
#[derive(Default)]
pub(super) struct DuplicateCache(Mutex<Option<(SystemTime, Arc<DuplicateGroups>)>>);

impl DuplicateCache {
    /// Returns the groups of a home. Reads the file again after it was modified.
    pub(super) fn read(&self, home: &Path) -> Result<Arc<DuplicateGroups>, EngineError> {
        // Before the file is read: one that is replaced meanwhile is read again.
        let modified = match fs::metadata(path(home)).and_then(|metadata| metadata.modified()) {
            Ok(modified) => modified,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(cause) => return Err(file_error(home)(cause)),
        };
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((time, groups)) = &*cached
            && *time == modified
        {
            return Ok(Arc::clone(groups));
        }
        let text = store::read_checked(&path(home))?.unwrap_or_default();
        let duplicates = serde_json::from_slice(&text)
            .map_err(io::Error::other)
            .map_err(file_error(home))?;
        let groups = Arc::new(DuplicateGroups::new(duplicates));
        *cached = Some((modified, Arc::clone(&groups)));
        Ok(groups)
    }
}
