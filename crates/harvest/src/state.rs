//! State kept between harvests.
//!
//! ```text
//! harvest/<name>/state.json   all cached files with their response headers; all datasets with their fingerprints;
//!                             all completely read CKAN portals with the pages that contain their packages; all completely
//!                             read lists of records
//! harvest/<name>/lock         lock file of the running harvest
//! harvest/<name>/reading.json, storing.json, quarantine.json   see [`quarantine`](super::quarantine)
//! harvest/<name>/files/       files named by hashes of address and content; *.part are incomplete downloads
//! ```
//!
//! A file is never modified: new content gets a new name. The state is written to a temporary file and renamed, so it is
//! consistent whenever the process ends. The next harvest removes files that the state does not reference.

use super::HarvestError;
use super::quarantine::Quarantine;
use lodeseek_catalog::{DatasetId, is_iri_key, title_of_key};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval between saves of the state. Files fetched since the last save are fetched again after a kill.
const SAVE_INTERVAL: Duration = Duration::from_secs(2);
/// Size of the kept incomplete downloads in bytes, from which on older ones are removed.
const MAX_PARTIAL_BYTES: u64 = 16 << 30;

/// Maximum size of the name of a harvest in bytes.
const MAX_NAME_BYTES: usize = 100;

/// A cached file with its response headers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedFile {
    /// File name in the folder `files`.
    pub(super) file: String,
    pub(super) length: u64,
    pub(super) sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_modified: Option<String>,
    /// Media type with its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) media_type: Option<String>,
    /// Address after redirects.
    pub(super) address: String,
    /// Address of the next page, from the `Link` headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
}

impl CachedFile {
    /// Returns the media type without its parameters in lower case; empty without one.
    pub(super) fn essence(&self) -> String {
        let media_type = self.media_type.as_deref().unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }
}

/// A stored dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DatasetRecord {
    /// Key that identifies the dataset: its IRI, or the id in its catalogue.
    pub(super) key: String,
    /// Source that lists it.
    pub(super) source: String,
    /// Digest of its description and files; empty until it is stored.
    pub(super) fingerprint: String,
}

/// A CKAN portal that was read completely. Its packages are in `pages`; a later page overrides an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PortalRecord {
    /// Timestamp of the newest package when the last harvest began. Later changes have this timestamp or a later one.
    #[serde(rename = "mark")]
    pub(super) watermark: String,
    /// Number of packages.
    pub(super) count: u64,
    /// Number of incremental harvests since it was read completely.
    #[serde(rename = "in_part")]
    pub(super) incremental_harvests: u32,
    /// Names of the cached pages.
    pub(super) pages: Vec<String>,
}

/// A list of records that was read to its end, with the datasets of each record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordList {
    /// Time from which the next harvest requests changes.
    pub(super) from: String,
    /// Number of incremental harvests since it was read completely.
    pub(super) incremental_harvests: u32,
    /// Keys of the datasets, by the identifier of the record.
    pub(super) records: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct SavedState {
    files: BTreeMap<String, CachedFile>,
    datasets: BTreeMap<DatasetId, DatasetRecord>,
    /// Portals, by the address of the search that lists their packages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    portals: BTreeMap<String, PortalRecord>,
    /// Lists of records of services, by the address of the list.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lists: BTreeMap<String, RecordList>,
}

/// The state of one harvest.
#[derive(Debug)]
pub(super) struct State {
    folder: PathBuf,
    saved: SavedState,
    /// Ids of datasets, by key.
    ids: BTreeMap<String, DatasetId>,
    /// Ids assigned by other harvests of this home.
    others: BTreeSet<DatasetId>,
    /// Addresses used in this run.
    touched: BTreeSet<String>,
    last_save: Instant,
    pub(super) quarantine: Quarantine,
    _lock: File,
}

impl State {
    /// Opens and locks the state of a harvest; `harvests` is the folder of all harvests.
    pub(super) fn open(harvests: &Path, name: &str) -> Result<Self, HarvestError> {
        if !is_valid_name(name) {
            return Err(HarvestError::Name(name.to_owned()));
        }
        let folder = harvests.join(name);
        fs::create_dir_all(folder.join("files")).map_err(HarvestError::io(&folder))?;
        let lock = lock_file(&folder.join("lock"), name)?;
        let saved = read_saved_state(&folder.join("state.json"))?;
        let ids = saved
            .datasets
            .iter()
            .map(|(id, record)| (record.key.clone(), id.clone()))
            .collect();
        let others = ids_of_others(harvests, name)?;
        let (touched, last_save) = (BTreeSet::new(), Instant::now());
        let quarantine = Quarantine::open(&folder)?;
        Ok(Self {
            folder,
            saved,
            ids,
            others,
            touched,
            last_save,
            quarantine,
            _lock: lock,
        })
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.join("files").join(file)
    }

    /// Returns the cached file of an address, if it still exists.
    pub(super) fn cached_file(&mut self, address: &str) -> Option<CachedFile> {
        let file = self.saved.files.get(address)?;
        self.touched.insert(address.to_owned());
        // By its length, because a crash of the machine may have left a part.
        let exists = self
            .path(&file.file)
            .metadata()
            .is_ok_and(|metadata| metadata.len() == file.length);
        exists.then(|| file.clone())
    }

    pub(super) fn cache_file(
        &mut self,
        address: &str,
        file: CachedFile,
    ) -> Result<(), HarvestError> {
        self.touched.insert(address.to_owned());
        self.saved.files.insert(address.to_owned(), file);
        if self.last_save.elapsed() >= SAVE_INTERVAL {
            self.save()
        } else {
            Ok(())
        }
    }

    /// Removes a file from the cache, but not from the folder.
    pub(super) fn forget_file(&mut self, address: &str) {
        self.saved.files.remove(address);
        self.touched.remove(address);
    }

    /// Caches a file under an additional name, so that the next response of its address does not replace it.
    pub(super) fn pin_file(
        &mut self,
        address: &str,
        file: CachedFile,
    ) -> Result<String, HarvestError> {
        let name = format!(
            "{address}#{}",
            file.sha256.get(..24).unwrap_or(&file.sha256)
        );
        self.cache_file(&name, file)?;
        Ok(name)
    }

    /// Removes the datasets whose ids belong to datasets of other sources now. `loaded` contains the keys of those.
    pub(super) fn remove_replaced_datasets(&mut self, loaded: &BTreeMap<DatasetId, String>) {
        let mut replaced = Vec::new();
        for (id, record) in &self.saved.datasets {
            if let Some(key) = loaded.get(id)
                && (*key != record.key || !is_iri_key(key))
            {
                replaced.push(id.clone());
            }
        }
        self.remove_datasets(&replaced);
    }

    pub(super) fn portal(&self, search: &str) -> Option<PortalRecord> {
        self.saved.portals.get(search).cloned()
    }

    pub(super) fn set_portal(&mut self, search: &str, portal: PortalRecord) {
        self.saved.portals.insert(search.to_owned(), portal);
    }

    pub(super) fn remove_portal(&mut self, search: &str) {
        self.saved.portals.remove(search);
    }

    pub(super) fn record_list(&self, address: &str) -> Option<RecordList> {
        self.saved.lists.get(address).cloned()
    }

    pub(super) fn set_record_list(&mut self, address: &str, list: RecordList) {
        self.saved.lists.insert(address.to_owned(), list);
    }

    pub(super) fn remove_record_list(&mut self, address: &str) {
        self.saved.lists.remove(address);
    }

    pub(super) fn id_of(&self, key: &str) -> Option<&DatasetId> {
        self.ids.get(key)
    }

    /// Returns the keys and ids of datasets with neither IRI nor identifier that have a title.
    pub(super) fn ids_with_title<'s>(
        &'s self,
        title: &'s str,
    ) -> impl Iterator<Item = (&'s str, &'s DatasetId)> {
        let start = format!("title:{title}#");
        let keys = self
            .ids
            .range(start.clone()..)
            .take_while(move |(key, _)| key.starts_with(&start));
        let datasets = keys.map(|(key, id)| (key.as_str(), id));
        // A title may contain `#`, so that the prefix alone is not enough.
        datasets.filter(move |(key, _)| title_of_key(key) == Some(title))
    }

    /// Returns true if another harvest assigned an id.
    pub(super) fn is_used_elsewhere(&self, id: &DatasetId) -> bool {
        self.others.contains(id)
    }

    pub(super) fn dataset(&self, id: &DatasetId) -> Option<&DatasetRecord> {
        self.saved.datasets.get(id)
    }

    /// Returns the datasets that a source listed last.
    pub(super) fn datasets_of_source(&self, source: &str) -> Vec<DatasetId> {
        let datasets_of_source = self
            .saved
            .datasets
            .iter()
            .filter(|(_, record)| record.source == source);
        datasets_of_source.map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn set_dataset(&mut self, id: DatasetId, record: DatasetRecord) {
        // Only if the key still belongs to this id: another dataset may have it by now.
        if let Some(before) = self.saved.datasets.get(&id)
            && before.key != record.key
            && self.ids.get(&before.key) == Some(&id)
        {
            self.ids.remove(&before.key);
        }
        self.ids.insert(record.key.clone(), id.clone());
        self.saved.datasets.insert(id, record);
    }

    pub(super) fn remove_datasets(&mut self, ids: &[DatasetId]) {
        for id in ids {
            if let Some(record) = self.saved.datasets.remove(id) {
                self.ids.remove(&record.key);
            }
        }
    }

    pub(super) fn save(&mut self) -> Result<(), HarvestError> {
        let path = self.folder.join("state.json");
        self.write_to(&path).map_err(HarvestError::io(&path))?;
        self.last_save = Instant::now();
        Ok(())
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let temporary = path.with_extension("new");
        let mut file = io::BufWriter::new(File::create(&temporary)?);
        serde_json::to_writer(&mut file, &self.saved)?;
        file.write_all(b"\n")?;
        // After a crash, the file must not have the new name without the new content.
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, path)
    }

    /// Removes files that this run did not use, unless the state contains datasets of sources outside `sources`.
    pub(super) fn remove_untouched_files(&mut self, sources: &[String]) {
        // The harvest may have been run with other sources before, whose files stay.
        if self
            .saved
            .datasets
            .values()
            .all(|record| sources.contains(&record.source))
        {
            let touched = &self.touched;
            self.saved
                .files
                .retain(|address, _| touched.contains(address));
        }
    }

    /// Removes files that the state does not reference. The latest incomplete downloads stay, because they may be resumed.
    pub(super) fn clear(&self) -> Result<(), HarvestError> {
        let named: BTreeSet<&str> = self
            .saved
            .files
            .values()
            .map(|file| file.file.as_str())
            .collect();
        let folder = self.folder.join("files");
        let mut partial = Vec::new();
        for entry in fs::read_dir(&folder).map_err(HarvestError::io(&folder))? {
            let entry = entry.map_err(HarvestError::io(&folder))?;
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_string_lossy();
            if name.ends_with(".part") {
                let metadata = entry.metadata().map_err(HarvestError::io(&path))?;
                partial.push((
                    metadata.modified().map_err(HarvestError::io(&path))?,
                    metadata.len(),
                    path,
                ));
            } else if !(named.contains(&*name)
                || name.ends_with(".part-tag") && path.with_extension("part").exists())
            {
                fs::remove_file(&path).map_err(HarvestError::io(&path))?;
            }
        }
        partial.sort_unstable();
        let mut bytes = 0;
        for (_, length, path) in partial.into_iter().rev() {
            if bytes >= MAX_PARTIAL_BYTES {
                fs::remove_file(&path).map_err(HarvestError::io(&path))?;
            }
            bytes += length;
        }
        Ok(())
    }
}

/// Makes the next harvests store some datasets again, although their sources may not have changed. `harvests` is the folder
/// of all harvests, which may be missing. Returns the number of datasets found in their states.
///
/// # Errors
/// If a harvest is running, or a state cannot be read or written.
pub fn forget_datasets(harvests: &Path, ids: &BTreeSet<DatasetId>) -> Result<usize, HarvestError> {
    let mut found = 0;
    if ids.is_empty() || !harvests.exists() {
        return Ok(found);
    }
    for entry in fs::read_dir(harvests).map_err(HarvestError::io(harvests))? {
        let entry = entry.map_err(HarvestError::io(harvests))?;
        if !entry.path().join("state.json").exists() {
            continue;
        }
        let mut state = State::open(harvests, &entry.file_name().to_string_lossy())?;
        let before = found;
        for (id, record) in &mut state.saved.datasets {
            if ids.contains(id) {
                // An empty fingerprint differs from that of every dataset.
                record.fingerprint.clear();
                found += 1;
            }
        }
        if found > before {
            // An incremental harvest would not list unchanged datasets.
            state.saved.portals.clear();
            state.saved.lists.clear();
            state.save()?;
        }
    }
    Ok(found)
}

/// Returns true if a harvest can have this name, which becomes a folder.
fn is_valid_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && !name.starts_with('.')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

fn lock_file(path: &Path, name: &str) -> Result<File, HarvestError> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(HarvestError::io(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(HarvestError::InUse(name.to_owned())),
        Err(TryLockError::Error(cause)) => Err(HarvestError::Io {
            path: path.to_owned(),
            cause,
        }),
    }
}

fn read_saved_state(path: &Path) -> Result<SavedState, HarvestError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| HarvestError::State {
            path: path.to_owned(),
            cause,
        }),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(SavedState::default()),
        Err(cause) => Err(HarvestError::Io {
            path: path.to_owned(),
            cause,
        }),
    }
}

fn ids_of_others(harvests: &Path, name: &str) -> Result<BTreeSet<DatasetId>, HarvestError> {
    let mut ids = BTreeSet::new();
    for entry in fs::read_dir(harvests).map_err(HarvestError::io(harvests))? {
        let entry = entry.map_err(HarvestError::io(harvests))?;
        if entry.file_name() != name && entry.path().is_dir() {
            ids.extend(
                read_saved_state(&entry.path().join("state.json"))?
                    .datasets
                    .into_keys(),
            );
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn old_incomplete_downloads_are_removed() {
        let harvests = tempfile::tempdir().expect("a folder");
        let state = State::open(harvests.path(), "a").expect("a state");
        for (name, gigabytes, day) in [("old", 1_u64, 1_u64), ("new", 10, 3), ("recent", 10, 2)] {
            let part = File::create(state.path(&format!("{name}.part"))).expect("a file");
            part.set_len(gigabytes << 30).expect("a sparse file");
            part.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400))
                .expect("a time");
            fs::write(state.path(&format!("{name}.part-tag")), "\"tag\"").expect("written");
        }
        fs::write(state.path("unnamed"), "").expect("written");
        // The tag of a removed file is removed by the next call.
        for _ in 0..2 {
            state.clear().expect("cleared");
        }
        let entries = fs::read_dir(harvests.path().join("a/files")).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["new.part", "new.part-tag", "recent.part", "recent.part-tag"]
        );
    }

    #[test]
    fn a_damaged_checksum_is_no_panic() {
        let harvests = tempfile::tempdir().expect("a folder");
        let mut state = State::open(harvests.path(), "a").expect("a state");
        fs::write(state.path("f"), b"").expect("written");
        let json = r#"{"file": "f", "length": 0, "sha256": "é", "address": "http://e.org/"}"#;
        let file: CachedFile = serde_json::from_str(json).expect("a file");
        assert_eq!(
            state.pin_file("http://e.org/", file).expect("pinned"),
            "http://e.org/#é"
        );
    }
}
