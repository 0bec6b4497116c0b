//! Datasets that are one, found when the index is made, kept in `home/duplicates.json` and shown once in results.

use super::{Card, EngineError};
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::duplicates::{Candidate, Content, Duplicates, Reason};
use lodeseek_catalog::editions::EditionRelation;
use lodeseek_store::{self as store, Entry, Fingerprint, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Whether datasets that are one are shown as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shown {
    /// Each by itself. Rankings that are measured are of this kind.
    #[default]
    All,
    /// The best of them, with the names of the others.
    Once,
}

/// Another dataset that is the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Other {
    /// Its id.
    pub id: DatasetId,
    /// Its title.
    pub title: String,
    /// Who publishes it, or made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// Its IRI in the catalogue it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Other {
    pub(super) fn of(card: &Card) -> Self {
        let metadata = &card.metadata;
        Self {
            id: metadata.id.clone(),
            title: metadata.title().to_owned(),
            publisher: metadata.publishers.first().or(metadata.creators.first()).map(|agent| agent.name.clone()),
            source: metadata.source.clone(),
        }
    }
}

/// Another edition of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OtherEdition {
    /// What it is to the dataset.
    pub edition: EditionRelation,
    /// It.
    #[serde(flatten)]
    pub dataset: Other,
}

/// What was found of a dataset among the others, when the index was made last.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Related {
    /// Those that are the same.
    pub duplicates: Vec<Other>,
    /// Why these are the same.
    pub reasons: BTreeSet<Reason>,
    /// Its other editions, by title.
    pub editions: Vec<OtherEdition>,
    /// Further editions, which are not named.
    pub more_editions: usize,
}

fn path(home: &Path) -> PathBuf {
    home.join("duplicates.json")
}

fn failed(home: &Path) -> impl FnOnce(io::Error) -> EngineError {
    let path = path(home);
    move |cause| EngineError::Duplicates { path, cause }
}

/// Finds the duplicates among all datasets and keeps them, as a whole or not at all.
pub(super) fn keep(store: &Store, entries: &[Entry]) -> Result<(), EngineError> {
    let (home, empty) = (store.home(), store::empty_version());
    let mut candidates = Vec::with_capacity(entries.len());
    for entry in entries {
        let content = if entry.version == empty { None } else { Some(content(store, entry)?) };
        candidates.push(Candidate::new(&entry.dataset, content));
    }
    let found = serde_json::to_vec(&Duplicates::find(&candidates)).map_err(io::Error::other).map_err(failed(home))?;
    if fs::read(path(home)).is_ok_and(|kept| kept == found) {
        return Ok(());
    }
    Ok(store::write_whole(&path(home), &found)?)
}

fn content(store: &Store, entry: &Entry) -> Result<Content, EngineError> {
    Ok(match store.fingerprint(entry)? {
        Fingerprint::Canonical(hash) => Content::Canonical(hash),
        Fingerprint::Labelled(version) => Content::Labelled(version),
    })
}

/// Groups by their members.
#[derive(Default)]
pub(super) struct Folding {
    pub(super) found: Duplicates,
    groups: FxHashMap<DatasetId, usize>,
    versions: FxHashMap<DatasetId, usize>,
    pub(super) surplus: usize,
}

impl Folding {
    fn of(found: Duplicates) -> Self {
        let members = |(place, group): (usize, &lodeseek_catalog::duplicates::Group)| {
            group.members.iter().map(|id| (id.clone(), place)).collect::<Vec<_>>()
        };
        let groups = found.groups.iter().enumerate().flat_map(members).collect();
        let editions = found.versions.iter().enumerate();
        let versions = editions.flat_map(|(place, ids)| ids.iter().map(move |id| (id.clone(), place))).collect();
        Self { groups, versions, surplus: found.surplus(), found }
    }

    /// Tells, of datasets in the order of a ranking, whether each is the first of its group.
    pub(super) fn first_seen(&self) -> impl FnMut(&DatasetId) -> bool + '_ {
        let mut seen = FxHashSet::default();
        move |id| self.groups.get(id).is_none_or(|group| seen.insert(*group))
    }

    /// Why a dataset is one with others.
    pub(super) fn reasons(&self, id: &DatasetId) -> BTreeSet<Reason> {
        self.groups.get(id).map(|group| self.found.groups[*group].reasons.clone()).unwrap_or_default()
    }

    /// All editions of a dataset, itself among them; none where it has no other.
    pub(super) fn editions(&self, id: &DatasetId) -> &[DatasetId] {
        self.versions.get(id).map_or(&[], |place| &self.found.versions[*place])
    }

    /// The others of a dataset's group.
    pub(super) fn others(&self, id: &DatasetId) -> impl Iterator<Item = &DatasetId> {
        let group = self.groups.get(id).map(|group| &self.found.groups[*group]);
        group.into_iter().flat_map(|group| &group.members).filter(move |other| *other != id)
    }
}

/// What was found when the index was made last. An index of before that has none.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<(SystemTime, Arc<Folding>)>>);

impl Kept {
    pub(super) fn read(&self, home: &Path) -> Result<Arc<Folding>, EngineError> {
        let written = match fs::metadata(path(home)).and_then(|metadata| metadata.modified()) {
            Ok(written) => written,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(cause) => return Err(failed(home)(cause)),
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, folding)) = &*kept
            && *known == written
        {
            return Ok(Arc::clone(folding));
        }
        let text = fs::read(path(home)).map_err(failed(home))?;
        let found = serde_json::from_slice(&text).map_err(io::Error::other).map_err(failed(home))?;
        let folding = Arc::new(Folding::of(found));
        *kept = Some((written, Arc::clone(&folding)));
        Ok(folding)
    }
}
