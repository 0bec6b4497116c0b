//! The local cache of a replica.
//!
//! ```text
//! CACHE/objects/ab/SHA256   downloaded contents
//! CACHE/homes/12-1/         snapshot 12 as a home: hard links to the objects
//! CACHE/current             number and record of the snapshot that was opened last, for a start without the storage
//! CACHE/lock                held by the process that uses the cache
//! ```
//!
//! Every content is compared with its SHA-256 before it becomes part of a home: after its download, and once in each process
//! if it was in the cache already. A home is deleted as soon as nothing uses it. Its links keep their contents, so that
//! objects can be deleted while an older home is still in use.

use crate::local::{hash_file, hex};
use crate::remote::{HOME_LOCK, Storage, object_name};
use crate::{PublicKey, RemoteSnapshots, SnapshotError, SnapshotRecord};
use lodeseek_engine::{EngineError, HomeManifest};
use lodeseek_store::{SETTINGS, create_private_folder, read_checked, write_checked};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::JoinSet;

const OBJECTS: &str = "objects";
const HOMES: &str = "homes";
const CURRENT: &str = "current";
const LOCK: &str = "lock";
/// Maximum number of concurrent downloads.
const MAX_CONCURRENT_DOWNLOADS: usize = 16;

/// Cache of the snapshots of one location in a folder. One process uses it at a time.
#[derive(Debug)]
pub struct SnapshotCache {
    folder: PathBuf,
    remote: RemoteSnapshots,
    /// Key that signs all records; `None` if they need no signature.
    key: Option<PublicKey>,
    /// Snapshot that was opened last, also by an earlier process.
    last: Option<(u64, SnapshotRecord)>,
    /// Objects that this process compared with their checksums.
    verified: BTreeSet<String>,
    /// Number of homes that this process created.
    homes: usize,
    _lock: File,
}

/// A snapshot as a home on the local disk, to be opened for reading. The folder is deleted with this value.
#[derive(Debug)]
pub struct SnapshotHome {
    number: u64,
    record: SnapshotRecord,
    path: PathBuf,
    /// Objects of the snapshot.
    objects: BTreeSet<String>,
}

/// The file `current`.
#[derive(Serialize, Deserialize)]
struct Current {
    location: String,
    number: u64,
    record: SnapshotRecord,
    /// SHA-256 of the stored record; empty if an earlier version wrote the file.
    #[serde(default)]
    digest: String,
}

impl SnapshotHome {
    /// Returns the number of the snapshot.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the record of the snapshot.
    #[must_use]
    pub fn record(&self) -> &SnapshotRecord {
        &self.record
    }

    /// Returns the folder of the home.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SnapshotHome {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.path) {
            tracing::warn!(%error, "cannot delete a snapshot that is no longer used; the next start deletes it");
        }
    }
}

impl SnapshotCache {
    /// Opens a cache, which is created if it does not exist, and deletes the homes that an earlier process left.
    ///
    /// # Errors
    /// [`SnapshotError::CacheInUse`] if another process uses it; errors of the folder.
    pub fn open(folder: &Path, remote: RemoteSnapshots) -> Result<Self, SnapshotError> {
        create_private_folder(folder).map_err(EngineError::from)?;
        let path = folder.join(LOCK);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path);
        let lock = lock.map_err(SnapshotError::io(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(SnapshotError::CacheInUse(folder.to_owned()));
            }
            Err(TryLockError::Error(cause)) => return Err(SnapshotError::Io { path, cause }),
        }
        // Only under the lock: nobody else can use these homes.
        remove_folder(&folder.join(HOMES))?;
        // Workers open files of a home by absolute paths.
        let folder = folder.canonicalize().map_err(SnapshotError::io(folder))?;
        let mut cache = Self {
            folder,
            remote,
            key: None,
            last: None,
            verified: BTreeSet::new(),
            homes: 0,
            _lock: lock,
        };
        cache.last = cache
            .read_current()?
            .map(|Current { number, record, .. }| (number, record));
        Ok(cache)
    }

    /// Accepts only snapshots that this key signed.
    #[must_use]
    pub fn with_key(self, key: Option<PublicKey>) -> Self {
        Self { key, ..self }
    }

    /// Returns the location of the snapshots.
    #[must_use]
    pub fn location(&self) -> &str {
        self.remote.location()
    }

    /// Returns the last snapshot as a home, if it is not the served one. Contents that the cache lacks are downloaded. Numbers begin
    /// again in a location that was emptied: the records are compared, too.
    ///
    /// # Errors
    /// [`SnapshotError::NotInChain`] if it does not follow the served one, or that of the last process;
    /// [`SnapshotError::Damaged`] if a content is missing or has another checksum; errors of storage and disk.
    pub fn fetch(
        &mut self,
        served: Option<&SnapshotHome>,
    ) -> Result<Option<SnapshotHome>, SnapshotError> {
        // A list of the served snapshot and the newer ones is short.
        let after = match served {
            Some(home) => home.number.saturating_sub(1),
            None => 0,
        };
        let latest = match self.remote.latest(after)? {
            // No number from the served one on: the location was emptied, and may begin again.
            None if after > 0 => self.remote.latest(0)?,
            latest => latest,
        };
        let Some((number, record)) = latest else {
            return Ok(None);
        };
        if served.is_some_and(|home| home.number == number && home.record.is_same_as(&record)) {
            return Ok(None);
        }
        // A server that starts continues where the last one ended.
        let last = served
            .map(|home| (home.number, &home.record))
            .or(self.last.as_ref().map(|(number, record)| (*number, record)))
            .filter(|(last, other)| *last != number || !other.is_same_as(&record));
        let check = self
            .remote
            .storage
            .check_successor(last, number, &record, self.key.as_ref());
        self.remote.runtime.block_on(check)?;
        self.make_home(number, record).map(Some)
    }

    /// Returns the snapshot to start with: the last one, or the one served last if the storage cannot be read.
    ///
    /// # Errors
    /// [`SnapshotError::Missing`] if there is no snapshot; the error of the storage if the cache has no complete snapshot.
    pub fn fetch_first(&mut self) -> Result<SnapshotHome, SnapshotError> {
        match self.fetch(None) {
            Ok(Some(home)) => Ok(home),
            Ok(None) => Err(SnapshotError::Missing {
                location: self.location().to_owned(),
            }),
            Err(error) => match self.read_current() {
                Ok(Some(Current { number, record, .. })) => {
                    // Without a key, an earlier process may have accepted it.
                    let check = self.remote.storage.check_successor(
                        None,
                        number,
                        &record,
                        self.key.as_ref(),
                    );
                    self.remote.runtime.block_on(check)?;
                    tracing::error!(%error, "cannot fetch the last snapshot; starting with snapshot {number} of the cache");
                    // The first error has the cause: the reason why the cache is used at all.
                    self.make_home(number, record).map_err(|_| error)
                }
                Ok(None) | Err(_) => Err(error),
            },
        }
    }

    /// Records that a snapshot was opened, and deletes contents that it does not use.
    ///
    /// # Errors
    /// If a file cannot be written or deleted.
    pub fn keep_only(&mut self, home: &SnapshotHome) -> Result<(), SnapshotError> {
        let current = Current {
            location: self.location().to_owned(),
            number: home.number,
            record: home.record.clone(),
            digest: home.record.digest.clone(),
        };
        let body = serde_json::to_vec(&current).map_err(EngineError::from)?;
        // First the record, then the deletions: if this process ends between, the next start finds all objects of the recorded
        // snapshot.
        write_checked(&self.folder.join(CURRENT), &body).map_err(EngineError::from)?;
        self.last = Some((home.number, home.record.clone()));
        let objects = self.folder.join(OBJECTS);
        for folder in list_folder(&objects)? {
            for path in list_folder(&folder)? {
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                if !home.objects.contains(&name) {
                    fs::remove_file(&path).map_err(SnapshotError::io(&path))?;
                    self.verified.remove(&name);
                }
            }
        }
        Ok(())
    }

    /// Returns the snapshot of this location that was opened last.
    fn read_current(&self) -> Result<Option<Current>, SnapshotError> {
        let body = read_checked(&self.folder.join(CURRENT)).map_err(EngineError::from)?;
        let current: Option<Current> = body.and_then(|body| serde_json::from_slice(&body).ok());
        let current = current.filter(|current| current.location == self.location());
        Ok(current.map(|mut current| {
            current.record.digest.clone_from(&current.digest);
            current
        }))
    }

    /// Makes the home of a snapshot: fetches what is missing, and links it.
    fn make_home(
        &mut self,
        number: u64,
        record: SnapshotRecord,
    ) -> Result<SnapshotHome, SnapshotError> {
        let manifest = self.load_manifest(&record.manifest)?;
        self.remote
            .storage
            .check_manifest(number, &record, &manifest)?;
        let mut unverified: BTreeMap<String, u64> = manifest
            .files
            .values()
            .map(|file| (file.sha256.clone(), file.bytes))
            .collect();
        let mut objects: BTreeSet<String> = unverified.keys().cloned().collect();
        objects.insert(record.manifest.clone());
        // Another program may have deleted files of the cache.
        unverified.retain(|sha256, _| {
            !self.verified.contains(sha256) || !self.folder.join(object_name(sha256)).exists()
        });
        self.fetch_objects(unverified)?;
        self.homes += 1;
        let path = self
            .folder
            .join(HOMES)
            .join(format!("{number}-{}", self.homes));
        remove_folder(&path)?;
        // From here on the folder is deleted if an error follows.
        let home = SnapshotHome {
            number,
            record,
            path,
            objects,
        };
        self.link_files(&manifest, &home.path)?;
        Ok(home)
    }

    /// Reads a manifest of the cache, or else of the storage, and keeps it.
    fn load_manifest(&self, sha256: &str) -> Result<HomeManifest, SnapshotError> {
        let path = self.folder.join(object_name(sha256));
        let body = match fs::read(&path) {
            Ok(body) if hex(Sha256::new_with_prefix(&body)) == sha256 => body,
            _ => {
                let body = self.remote.manifest_body(sha256)?;
                create_folder(path.parent().unwrap_or(&self.folder))?;
                // A file that is written in part is detected by its hash, and written again.
                fs::write(&path, &body).map_err(SnapshotError::io(&path))?;
                body
            }
        };
        self.remote.storage.parse_manifest(sha256, &body)
    }

    /// Checks objects of the cache, and downloads those that are missing or damaged, several at once.
    fn fetch_objects(&mut self, unverified: BTreeMap<String, u64>) -> Result<(), SnapshotError> {
        for sha256 in unverified.keys() {
            let path = self.folder.join(object_name(sha256));
            create_folder(path.parent().unwrap_or(&self.folder))?;
        }
        let mut unverified = unverified.into_iter();
        let (verified, folder, storage) = (&mut self.verified, &self.folder, &self.remote.storage);
        self.remote.runtime.block_on(async {
            let mut running: JoinSet<Result<String, SnapshotError>> = JoinSet::new();
            loop {
                while running.len() < MAX_CONCURRENT_DOWNLOADS
                    && let Some((sha256, bytes)) = unverified.next()
                {
                    let path = folder.join(object_name(&sha256));
                    let storage = Arc::clone(storage);
                    running.spawn(async move {
                        fetch_object(&storage, &sha256, bytes, &path).await?;
                        Ok(sha256)
                    });
                }
                match running.join_next().await {
                    None => return Ok(()),
                    Some(Ok(fetched)) => verified.insert(fetched?),
                    // No download is aborted, so that only a panic prevents a result.
                    Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
                };
            }
        })
    }

    /// Links the files of a home. The settings, which make the folder a home, are written last.
    fn link_files(&self, manifest: &HomeManifest, home: &Path) -> Result<(), SnapshotError> {
        create_folder(home)?;
        for (name, file) in &manifest.files {
            let (object, path) = (self.folder.join(object_name(&file.sha256)), home.join(name));
            create_folder(path.parent().unwrap_or(home))?;
            // A link needs no space, and keeps the content when the object is deleted or replaced.
            fs::hard_link(&object, &path).map_err(SnapshotError::io(&path))?;
        }
        let lock = home.join(HOME_LOCK);
        File::create(&lock).map_err(SnapshotError::io(&lock))?;
        let settings = home.join(SETTINGS);
        let base = serde_json::to_string(&manifest.base).map_err(EngineError::from)?;
        fs::write(&settings, format!("base = {base}\n")).map_err(SnapshotError::io(&settings))
    }
}

/// Makes sure that a file of the cache has the content with a hash.
async fn fetch_object(
    storage: &Storage,
    sha256: &str,
    bytes: u64,
    path: &Path,
) -> Result<(), SnapshotError> {
    match File::open(path) {
        Ok(mut file) => {
            if hash_file(&mut file).map_err(SnapshotError::io(path))? == (bytes, sha256.to_owned())
            {
                return Ok(());
            }
            tracing::warn!("{} is damaged; it is downloaded again", path.display());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(cause) => {
            return Err(SnapshotError::Io {
                path: path.to_owned(),
                cause,
            });
        }
    }
    let temporary = path.with_extension("part");
    if let Err(error) = storage.download(sha256, bytes, &temporary).await {
        fs::remove_file(&temporary).ok();
        return Err(error);
    }
    // Replaces the directory entry, not the content: homes with a link to a damaged file are not changed while they are served.
    fs::rename(&temporary, path).map_err(SnapshotError::io(path))
}

fn create_folder(path: &Path) -> Result<(), SnapshotError> {
    fs::create_dir_all(path).map_err(SnapshotError::io(path))
}

/// Deletes a folder, if it exists.
fn remove_folder(path: &Path) -> Result<(), SnapshotError> {
    match fs::remove_dir_all(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(SnapshotError::Io {
            path: path.to_owned(),
            cause,
        }),
        _ => Ok(()),
    }
}

/// Returns the paths in a folder, none if it does not exist.
fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => {
            return Err(SnapshotError::Io {
                path: folder.to_owned(),
                cause,
            });
        }
    };
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    paths.map_err(SnapshotError::io(folder))
}
