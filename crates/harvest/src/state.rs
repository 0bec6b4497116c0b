//! What is known from one harvest to the next.
//!
//! ```text
//! harvest/<name>/state.json   every file kept, with what its server said of it; every dataset had, with its fingerprint;
//!                             every portal of CKAN that was read whole, with the pages that tell its packages
//! harvest/<name>/lock         held by whoever harvests under the name
//! harvest/<name>/files/       files by hashes of their address and content; *.part are still coming
//! ```
//!
//! A file is never changed: new content has a new name. So a state written beside its place and renamed is right whenever
//! the process ends; what it does not name is removed by the next harvest.

use super::HarvestError;
use lodeseek_catalog::DatasetId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long what was fetched may be unknown to the state: a process killed asks for it once more.
const SAVE_INTERVAL: Duration = Duration::from_secs(2);

/// A file as it was had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedFile {
    /// Its name in the folder.
    pub(super) file: String,
    pub(super) length: u64,
    pub(super) sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_modified: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) media_type: Option<String>,
    /// Who answered in the end.
    pub(super) address: String,
    /// The next page, by its `Link` headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
}

/// A dataset as it was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DatasetRecord {
    /// What it is recognised by: its IRI, or the id its catalogue gives.
    pub(super) key: String,
    /// The source that lists it.
    pub(super) source: String,
    pub(super) fingerprint: String,
}

/// A portal of CKAN whose packages are all known: what the pages named here tell, a later one more than an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PortalRecord {
    /// The moment of the newest package when the last reading began: what changed since then is of this moment or later.
    pub(super) mark: String,
    /// How many packages there are.
    pub(super) count: u64,
    /// Harvests since it was read whole.
    pub(super) in_part: u32,
    /// The pages, by what they are kept under.
    pub(super) pages: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct SavedState {
    files: BTreeMap<String, CachedFile>,
    datasets: BTreeMap<DatasetId, DatasetRecord>,
    /// By the search that lists their packages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    portals: BTreeMap<String, PortalRecord>,
}

/// The state of one harvest.
#[derive(Debug)]
pub(super) struct State {
    folder: PathBuf,
    saved: SavedState,
    /// The ids of datasets by what they are recognised by.
    ids: BTreeMap<String, DatasetId>,
    /// IdScheme that other harvests of this home gave.
    others: BTreeSet<DatasetId>,
    /// Addresses that this run had to do with.
    touched: BTreeSet<String>,
    last_save: Instant,
    _lock: File,
}

impl State {
    /// Opens the state under a name in the folder of all harvests.
    pub(super) fn open(harvests: &Path, name: &str) -> Result<Self, HarvestError> {
        let proper = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(proper) {
            return Err(HarvestError::Name(name.to_owned()));
        }
        let folder = harvests.join(name);
        fs::create_dir_all(folder.join("files")).map_err(HarvestError::io(&folder))?;
        let lock = lock(&folder.join("lock"), name)?;
        let saved = read(&folder.join("state.json"))?;
        let ids = saved.datasets.iter().map(|(id, known)| (known.key.clone(), id.clone())).collect();
        let others = ids_of_others(harvests, name)?;
        let (touched, last_save) = (BTreeSet::new(), Instant::now());
        Ok(Self { folder, saved, ids, others, touched, last_save, _lock: lock })
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.join("files").join(file)
    }

    /// A file that is kept, and still there.
    pub(super) fn cached_file(&mut self, address: &str) -> Option<CachedFile> {
        self.touched.insert(address.to_owned());
        let kept = self.saved.files.get(address)?;
        let there = self.path(&kept.file).metadata().is_ok_and(|metadata| metadata.len() == kept.length);
        there.then(|| kept.clone())
    }

    pub(super) fn cache_file(&mut self, address: &str, kept: CachedFile) -> Result<(), HarvestError> {
        self.saved.files.insert(address.to_owned(), kept);
        if self.last_save.elapsed() >= SAVE_INTERVAL { self.save() } else { Ok(()) }
    }

    /// Keeps a file under a name of its own as well, so that the next answer of its address does not take its place.
    pub(super) fn pin_file(&mut self, address: &str, kept: CachedFile) -> Result<String, HarvestError> {
        let name = format!("{address}#{}", &kept.sha256[..24]);
        self.touched.insert(name.clone());
        self.cache_file(&name, kept)?;
        Ok(name)
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

    pub(super) fn id_of(&self, key: &str) -> Option<&DatasetId> {
        self.ids.get(key)
    }

    /// Whether an id is another harvest's.
    pub(super) fn is_used_elsewhere(&self, id: &DatasetId) -> bool {
        self.others.contains(id)
    }

    pub(super) fn dataset(&self, id: &DatasetId) -> Option<&DatasetRecord> {
        self.saved.datasets.get(id)
    }

    /// The datasets that a source listed when they were last seen.
    pub(super) fn datasets_of_source(&self, source: &str) -> Vec<DatasetId> {
        let datasets_of_source = self.saved.datasets.iter().filter(|(_, known)| known.source == source);
        datasets_of_source.map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn set_dataset(&mut self, id: DatasetId, known: DatasetRecord) {
        self.ids.insert(known.key.clone(), id.clone());
        self.saved.datasets.insert(id, known);
    }

    pub(super) fn remove_datasets(&mut self, ids: &[DatasetId]) {
        for id in ids {
            if let Some(known) = self.saved.datasets.remove(id) {
                self.ids.remove(&known.key);
            }
        }
    }

    pub(super) fn save(&mut self) -> Result<(), HarvestError> {
        let path = self.folder.join("state.json");
        let beside = self.folder.join("state.new");
        let write = || {
            let mut file = io::BufWriter::new(File::create(&beside)?);
            serde_json::to_writer(&mut file, &self.saved)?;
            file.write_all(b"\n")?;
            file.into_inner()?.sync_all()?;
            fs::rename(&beside, &path)
        };
        write().map_err(HarvestError::io(&path))?;
        self.last_save = Instant::now();
        Ok(())
    }

    /// Forgets files of addresses that this run had nothing to do with, if it saw all there is of `sources`, and nothing
    /// is known of others.
    pub(super) fn remove_untouched(&mut self, sources: &[String]) {
        if self.saved.datasets.values().all(|known| sources.contains(&known.source)) {
            let touched = &self.touched;
            self.saved.files.retain(|address, _| touched.contains(address));
        }
    }

    /// Removes the files that the state does not name; what is still coming stays if it may be gone on with.
    pub(super) fn clear(&self) -> Result<(), HarvestError> {
        let named: BTreeSet<&str> = self.saved.files.values().map(|kept| kept.file.as_str()).collect();
        let folder = self.folder.join("files");
        for entry in fs::read_dir(&folder).map_err(HarvestError::io(&folder))? {
            let entry = entry.map_err(HarvestError::io(&folder))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !named.contains(&*name) && !name.contains(".part") {
                fs::remove_file(entry.path()).map_err(HarvestError::io(&entry.path()))?;
            }
        }
        Ok(())
    }
}

fn lock(path: &Path, name: &str) -> Result<File, HarvestError> {
    let file = File::options().create(true).truncate(false).write(true).open(path).map_err(HarvestError::io(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(HarvestError::InUse(name.to_owned())),
        Err(TryLockError::Error(cause)) => Err(HarvestError::Io { path: path.to_owned(), cause }),
    }
}

fn read(path: &Path) -> Result<SavedState, HarvestError> {
    match fs::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|cause| HarvestError::State { path: path.to_owned(), cause })
        }
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(SavedState::default()),
        Err(cause) => Err(HarvestError::Io { path: path.to_owned(), cause }),
    }
}

fn ids_of_others(harvests: &Path, name: &str) -> Result<BTreeSet<DatasetId>, HarvestError> {
    let mut ids = BTreeSet::new();
    for entry in fs::read_dir(harvests).map_err(HarvestError::io(harvests))? {
        let entry = entry.map_err(HarvestError::io(harvests))?;
        if entry.file_name() != name && entry.path().is_dir() {
            ids.extend(read(&entry.path().join("state.json"))?.datasets.into_keys());
        }
    }
    Ok(ids)
}

/// The SHA-256 of all that a reader gives.
pub(super) fn hash_of(mut reader: impl Read) -> io::Result<String> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            length => hash.update(&buffer[..length]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(super) fn hash_of_text(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
