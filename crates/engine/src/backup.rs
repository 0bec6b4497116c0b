//! Backups of a home, made while it is served, and their restoration.
//!
//! ```text
//! DIR/manifest         list of the files with size, time of modification and SHA-256; the first line is its checksum
//! DIR/objects/ab/…     content of the files, named by SHA-256
//! DIR/lock             held while a backup is written
//! ```
//!
//! A file is copied only if no earlier backup in the folder has its content, so that a second backup is incremental. Files that
//! only grow or never change are compared by size and time of modification, all others by SHA-256. The manifest is replaced last: an interrupted backup leaves the earlier one intact. Objects that no file uses any more are
//! deleted after that.
//!
//! The copy is consistent without stopping the server: RocksDB makes a checkpoint of hard links, the files of the index's
//! last commit are linked while their deletion is locked, and graph files never change.

use super::integrity::remove_folder;
use super::translations::DictionaryFile;
use super::{EngineError, index_folder, vectors_folder};
use lodeseek_index::vectors;
use lodeseek_store::{
    RESTORING, Store, StoreError, create_private_file, create_private_folder, make_private,
    read_checked, works_folder, write_checked,
};
use oxsdatatypes::DateTime;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Name of the list of files in the folder of a backup.
pub const BACKUP_MANIFEST: &str = "manifest";
const OBJECTS: &str = "objects";
const LOCK: &str = "lock";
/// Folder of the home with the links of a backup in progress.
const CHECKPOINT: &str = "backup.new";
/// Copy of a file whose checksum has not been verified, in a home that is restored.
const RESTORED: &str = "restoring.file";
/// Files and folders of a home that are copied as they are. Their writers replace files by renaming.
const PLAIN: [&str; 8] = [
    "ranking.json",
    "loads.json",
    "duplicates.json",
    DictionaryFile::Own.name(),
    DictionaryFile::Operator.name(),
    "quality",
    "remote",
    "works/works.jsonl",
];
/// Further ones, which only the machine that changes the home needs: its settings, its harvests, its secrets, its id as a publisher.
const PRIVATE: [&str; 6] = [
    "lodeseek.toml",
    "harvest",
    "tokens.json",
    // Entries that are added meanwhile must not be in the head only.
    "audit.head",
    "audit.jsonl",
    "home-id",
];
/// File with the number of the last commit.
const COMMIT_RECORD: &str = "commit.json";
/// File whose presence makes a folder a home. It is restored last.
const SETTINGS: &str = "lodeseek.toml";
/// Attempts to copy a state that changes meanwhile.
const MAX_COPY_ATTEMPTS: usize = 5;

/// The files of a home at one moment, with their checksums.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HomeManifest {
    /// Version of the format of this list: [`FORMAT`](Self::FORMAT).
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Time of the copy (`xsd:dateTime`), if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Base of all IRIs.
    pub base: String,
    /// Number of datasets.
    pub datasets: usize,
    /// Files by path, relative to the home, with `/` between folders.
    pub files: BTreeMap<String, SavedFile>,
}

impl HomeManifest {
    /// Format that this version reads and writes.
    pub const FORMAT: u32 = 1;

    /// Returns the size of all files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files
            .values()
            .map(|file| file.bytes)
            .fold(0, u64::saturating_add)
    }
}

/// A file of a copied home.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedFile {
    /// Size in bytes.
    pub bytes: u64,
    /// Time of modification of the copied file, in nanoseconds since 1970.
    pub modified: u64,
    /// SHA-256 of the content in hexadecimal digits.
    pub sha256: String,
}

/// A file or folder that a setting names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct SettingFile {
    /// Key of the setting, for example `portal.theme`.
    pub key: String,
    /// Path of the file or folder.
    pub path: PathBuf,
}

impl SettingFile {
    /// Returns the path relative to the home, with `/` between folders. `None` if it is outside of the home, or belongs to the home
    /// itself.
    fn name_in_home(&self, home: &Path) -> Option<String> {
        let inside = match self.path.strip_prefix(home) {
            // A link in the home has its name there, wherever it leads.
            Ok(path) if has_only_names(path) => path.to_owned(),
            _ => {
                let (path, home) = (self.path.canonicalize().ok()?, home.canonicalize().ok()?);
                path.strip_prefix(home).ok()?.to_owned()
            }
        };
        let name = relative_name(&inside, Path::new(""), "");
        let first = name.split('/').next().unwrap_or_default();
        (!first.is_empty() && !PARTS_OF_HOME.contains(&first)).then_some(name)
    }
}

/// Returns true if all components of a path are names: it is relative, and without `..`.
fn has_only_names(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(_)))
}

/// Files and folders that the program itself writes in a home. A backup copies what it needs of them in its own way.
const PARTS_OF_HOME: [&str; 22] = [
    "admin",
    "audit.jsonl",
    "backup.new",
    "commit.json",
    "duplicates.json",
    "files",
    "graphs",
    "harvest",
    "index",
    "loads.json",
    "lock",
    "lodeseek.toml",
    "quality",
    "remote",
    "restoring",
    "scratch",
    "store",
    "tokens.json",
    "uploads",
    "vectors",
    "views",
    "works",
];
/// Maximum depth of the folders that settings name: links may form a circle.
const MAX_SETTING_DEPTH: usize = 32;

/// Purpose of a copy, which decides the files it contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyPurpose<'p> {
    /// All that is needed to continue on another machine, with these files that the settings name.
    Backup(&'p [SettingFile]),
    /// The files that a read-only server needs: neither settings nor state of harvests, tokens or the audit log.
    Publication,
}

/// Destination of the contents of a copied home: a folder, or storage elsewhere.
pub trait ContentSink {
    /// Error of the destination.
    type Error: From<EngineError>;

    /// Returns true if the destination has the content of a file of the previous manifest.
    fn has(&self, file: &SavedFile) -> bool;

    /// Stores the content of an open file unless the destination has it. Returns its size in bytes and its SHA-256.
    ///
    /// # Errors
    /// If the file cannot be read, or the content cannot be stored.
    fn put(&mut self, path: &Path, file: File) -> Result<(u64, String), Self::Error>;
}

/// Report of a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    /// Number of datasets.
    pub datasets: usize,
    /// Number of files.
    pub files: usize,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Number of files copied; an earlier backup had the others.
    pub copied_files: usize,
    /// Size of the copied files in bytes.
    pub copied_bytes: u64,
    /// Number of objects of earlier backups that were deleted.
    pub deleted_objects: usize,
    /// Files that the settings name and the backup lacks: they are outside of the home, or missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_copied: Vec<SettingFile>,
}

/// Report of a restoration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreReport {
    /// Time of the backup, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Number of datasets.
    pub datasets: usize,
    /// Number of files, all of which were compared with their checksums.
    pub files: usize,
    /// Size of all files in bytes.
    pub bytes: u64,
}

/// Error of a backup or restoration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// Another process writes the backup.
    #[error("another process writes the backup at {0}; wait for it")]
    InUse(PathBuf),
    /// The folder contains no backup.
    #[error("there is no backup at {0}")]
    Missing(PathBuf),
    /// The backup cannot be written into the home, or into a folder with other files.
    #[error("cannot write a backup to {path}: {reason}; choose another folder")]
    Target {
        /// The folder.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// The home already has content.
    #[error(
        "cannot restore to {0}: the folder is not empty; move it away first, or choose another one with --home"
    )]
    NotEmpty(PathBuf),
    /// The manifest is of another version.
    #[error(
        "the backup at {0} has another format; restore it with the version of lodeseek that made it"
    )]
    OtherVersion(PathBuf),
    /// A file of the backup is damaged.
    #[error("the backup at {path} is damaged: {reason}; use another backup")]
    Damaged {
        /// The backup.
        path: PathBuf,
        /// The damage.
        reason: String,
    },
    /// The home changed too often while it was copied.
    #[error("the home changes too fast for a backup; try again later")]
    Busy,
}

/// Writes a backup of the home of an open store to a folder, and deletes what only earlier backups there needed. `settings` are the
/// files that the settings of the home name: those inside the home are copied, and the report lists the others. `now` is recorded
/// as its time. `on_progress` gets the number of files done and of all files.
pub fn backup(
    store: &Store,
    target: &Path,
    settings: &[SettingFile],
    now: Option<DateTime>,
    on_progress: &dyn Fn(usize, usize),
) -> Result<BackupReport, EngineError> {
    let home = store.home();
    let previous = open_target(home, target)?;
    let _lock = lock_target(target)?;
    let mut sink = FolderSink {
        target,
        copied_files: 0,
        copied_bytes: 0,
    };
    let manifest = copy_home(
        store,
        CopyPurpose::Backup(settings),
        previous.as_ref(),
        &mut sink,
        now,
        on_progress,
    )?;
    let used: BTreeSet<&str> = manifest
        .files
        .values()
        .map(|file| file.sha256.as_str())
        .collect();
    let unused = unused_objects(target, &used)?;
    write_checked(
        &target.join(BACKUP_MANIFEST),
        &serde_json::to_vec_pretty(&manifest)?,
    )?;
    for path in &unused {
        fs::remove_file(path).map_err(EngineError::io(path))?;
    }
    Ok(BackupReport {
        datasets: manifest.datasets,
        files: manifest.files.len(),
        bytes: manifest.bytes(),
        copied_files: sink.copied_files,
        copied_bytes: sink.copied_bytes,
        deleted_objects: unused.len(),
        not_copied: settings
            .iter()
            .filter(|file| !file.path.exists() || file.name_in_home(home).is_none())
            .cloned()
            .collect(),
    })
}

/// Copies the files of a consistent state of a home to a sink, also while the home is served. Large contents that
/// `previous` lists for unchanged files, and that the sink has, are not read: tables, segments, versions of datasets, vectors. `now` is recorded as the time of the copy. `on_progress` gets the
/// number of files done and of all files.
///
/// # Errors
/// [`BackupError::Busy`] if the home changes in each of five attempts; errors of reading, and of the sink.
pub fn copy_home<S: ContentSink>(
    store: &Store,
    purpose: CopyPurpose<'_>,
    previous: Option<&HomeManifest>,
    sink: &mut S,
    now: Option<DateTime>,
    on_progress: &dyn Fn(usize, usize),
) -> Result<HomeManifest, S::Error> {
    let checkpoint = Checkpoint::new(store.home())?;
    for _ in 0..MAX_COPY_ATTEMPTS {
        // The generation differs during a change and after it: then the copied files need not belong together.
        let generation = store.generation();
        remove_folder(&checkpoint.0)?;
        let mut copier = Copier {
            previous,
            sink: &mut *sink,
            files: BTreeMap::new(),
        };
        // A file that was deleted meanwhile belongs to a version that was replaced.
        let is_complete = copier.copy(store, &checkpoint, purpose, on_progress)?;
        if is_complete && generation == store.generation() {
            return Ok(HomeManifest {
                format: HomeManifest::FORMAT,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                created: now.map(|now| now.to_string()),
                base: store.iris().base().to_owned(),
                datasets: store.versions().map_err(EngineError::from)?.len(),
                files: copier.files,
            });
        }
    }
    Err(EngineError::from(BackupError::Busy).into())
}

/// Checks the folder of a backup and returns the manifest of the earlier backup in it.
fn open_target(home: &Path, target: &Path) -> Result<Option<HomeManifest>, EngineError> {
    create_private_folder(target)?;
    let (home, folder) = (
        home.canonicalize().map_err(EngineError::io(home))?,
        target.canonicalize().map_err(EngineError::io(target))?,
    );
    if folder.starts_with(&home) {
        return Err(target_error(target, "it is inside the home"));
    }
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(target).map_err(EngineError::io(target))? {
        names.insert(
            entry
                .map_err(EngineError::io(target))?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    for name in &names {
        // An interrupted backup leaves a temporary file of its manifest.
        let is_temporary = name.starts_with(BACKUP_MANIFEST) && name.ends_with(".new");
        if !is_temporary && ![BACKUP_MANIFEST, OBJECTS, LOCK].contains(&name.as_str()) {
            return Err(target_error(target, "it contains other files"));
        }
    }
    // Without a readable manifest every file is copied again.
    Ok(read_manifest(target).ok())
}

fn target_error(target: &Path, reason: &'static str) -> EngineError {
    BackupError::Target {
        path: target.to_owned(),
        reason,
    }
    .into()
}

fn read_manifest(target: &Path) -> Result<HomeManifest, EngineError> {
    let path = target.join(BACKUP_MANIFEST);
    let body = match read_checked(&path) {
        Ok(Some(body)) => body,
        Ok(None) => return Err(BackupError::Missing(target.to_owned()).into()),
        Err(StoreError::DamagedFile { .. }) => {
            let reason = "the checksum of the manifest is wrong".to_owned();
            return Err(damage_error(target, reason));
        }
        Err(error) => return Err(error.into()),
    };
    // Only the number: the rest of another format need not be readable.
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    if !serde_json::from_slice::<Format>(&body).is_ok_and(|one| one.format == HomeManifest::FORMAT)
    {
        return Err(BackupError::OtherVersion(target.to_owned()).into());
    }
    serde_json::from_slice(&body).map_err(|error| damage_error(target, error.to_string()))
}

fn damage_error(backup: &Path, reason: String) -> EngineError {
    BackupError::Damaged {
        path: backup.to_owned(),
        reason,
    }
    .into()
}

fn lock_target(target: &Path) -> Result<File, EngineError> {
    let path = target.join(LOCK);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(EngineError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(BackupError::InUse(target.to_owned()).into()),
        Err(fs::TryLockError::Error(cause)) => Err(EngineError::Io { path, cause }),
    }
}

/// Folder of hard links in the home, deleted when it is dropped. Nothing is linked if the home cannot be changed.
struct Checkpoint(PathBuf);

impl Checkpoint {
    fn new(home: &Path) -> Result<Self, EngineError> {
        let checkpoint = Self(home.join(CHECKPOINT));
        remove_folder(&checkpoint.0)?;
        Ok(checkpoint)
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.0) {
            tracing::warn!(%error, "cannot delete the links of a backup; the next backup deletes them");
        }
    }
}

/// A file of a home that is copied.
struct Source {
    /// Path relative to the home, with `/` between folders.
    name: String,
    path: PathBuf,
    /// If true, the content of a file with this name only grows or never changes, so that an equal size and time of modification mean an
    /// equal content. All other files are read in each backup: settings, tokens and lists can change without a change of either.
    is_append_only: bool,
}

/// Returns the files of a home except the commit record.
fn list_sources(
    store: &Store,
    checkpoint: &Checkpoint,
    purpose: CopyPurpose<'_>,
) -> Result<Vec<Source>, EngineError> {
    let home = store.home();
    let mut sources: Vec<Source> = Vec::new();
    // The index follows the store: an index that is behind is brought up to date by `index`.
    let links = checkpoint.0.join("index");
    if let Some(folder) =
        lodeseek_index::link_commit(&index_folder(home), store.is_writable().then_some(&links))?
    {
        for path in folder {
            let name = relative_name(&path, path.parent().unwrap_or(&path), "index");
            sources.push(Source {
                // Tantivy names the files of a segment by a UUID, and replaces those of its metadata.
                is_append_only: !name.ends_with(".json"),
                name,
                path,
            });
        }
    }
    let store_folder = if store.is_writable() {
        let folder = checkpoint.0.join("store");
        fs::create_dir_all(&checkpoint.0).map_err(EngineError::io(&checkpoint.0))?;
        store.checkpoint(&folder)?;
        folder
    } else {
        // Nobody writes while this process holds the home for reading.
        home.join("store")
    };
    for path in files_below(&store_folder)? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // Neither belongs to the data. RocksDB creates both when it opens a store.
        if name != "LOCK" && !name.starts_with("LOG") {
            sources.push(Source {
                name: relative_name(&path, &store_folder, "store"),
                // RocksDB never gives the number of a table to another one.
                is_append_only: name.ends_with(".sst"),
                path,
            });
        }
    }
    let versions = store.version_files()?;
    for path in versions.into_iter().chain(store.kept_file_paths()?) {
        sources.push(Source {
            name: relative_name(&path, home, ""),
            // The names contain the checksum of the content.
            is_append_only: true,
            path,
        });
    }
    let private: &[&str] = match purpose {
        CopyPurpose::Backup(settings) => {
            for file in settings {
                if let Some(name) = file.name_in_home(home) {
                    add_setting_files(&name, &file.path, 0, &mut sources)?;
                }
            }
            &PRIVATE
        }
        CopyPurpose::Publication => &[],
    };
    for name in PLAIN.iter().chain(private) {
        for path in files_below(&home.join(name))? {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let is_temporary = name == LOCK || name.ends_with(".new") || name.ends_with(".part");
            if !is_temporary {
                sources.push(Source {
                    name: relative_name(&path, home, ""),
                    is_append_only: false,
                    path,
                });
            }
        }
    }
    let mut models = vectors::list(&vectors_folder(home))?;
    models.extend(vectors::list(&works_folder(home))?);
    for model in models {
        if let Some(committed) = vectors::committed_files(&model.folder)? {
            for (path, is_append_only) in [(committed.directory, false), (committed.data, true)] {
                sources.push(Source {
                    name: relative_name(&path, home, ""),
                    is_append_only,
                    path,
                });
            }
        }
    }
    Ok(sources)
}

/// Adds the files at or below a path that a setting names. Links are followed.
fn add_setting_files(
    name: &str,
    path: &Path,
    depth: usize,
    sources: &mut Vec<Source>,
) -> Result<(), EngineError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        // The report lists it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(EngineError::io(path)(cause)),
    };
    if metadata.is_file() {
        sources.push(Source {
            name: name.to_owned(),
            path: path.to_owned(),
            is_append_only: false,
        });
    } else if metadata.is_dir() && depth < MAX_SETTING_DEPTH {
        for entry in fs::read_dir(path).map_err(EngineError::io(path))? {
            let path = entry.map_err(EngineError::io(path))?.path();
            let last = path.file_name().unwrap_or_default().to_string_lossy();
            add_setting_files(&format!("{name}/{last}"), &path, depth + 1, sources)?;
        }
    }
    Ok(())
}

/// Returns true if a file was missing.
fn is_missing(error: &EngineError) -> bool {
    matches!(error, EngineError::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound)
}

/// Copies the files of a home to a sink.
struct Copier<'c, S> {
    previous: Option<&'c HomeManifest>,
    sink: &'c mut S,
    files: BTreeMap<String, SavedFile>,
}

impl<S: ContentSink> Copier<'_, S> {
    /// Copies a home. Returns false if a file was deleted meanwhile.
    fn copy(
        &mut self,
        store: &Store,
        checkpoint: &Checkpoint,
        purpose: CopyPurpose<'_>,
        on_progress: &dyn Fn(usize, usize),
    ) -> Result<bool, S::Error> {
        // The commit record is copied first: the store may have a later commit, but no earlier one.
        let record = store.home().join(COMMIT_RECORD);
        let record = Source {
            name: COMMIT_RECORD.to_owned(),
            path: record,
            is_append_only: false,
        };
        if record.path.exists() && !self.save(record)? {
            return Ok(false);
        }
        let sources = match list_sources(store, checkpoint, purpose) {
            Err(error) if is_missing(&error) => return Ok(false),
            sources => sources?,
        };
        let total = sources.len();
        for (done, source) in sources.into_iter().enumerate() {
            on_progress(done, total);
            if !self.save(source)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies a file, unless the sink has it already. Returns false if the file is missing.
    fn save(&mut self, source: Source) -> Result<bool, S::Error> {
        let Source {
            name,
            path,
            is_append_only,
        } = source;
        let path = path.as_path();
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file.map_err(EngineError::io(path))?,
        };
        let metadata = file.metadata().map_err(EngineError::io(path))?;
        let modified = to_nanoseconds(metadata.modified().map_err(EngineError::io(path))?);
        let before = self
            .previous
            .filter(|_| is_append_only)
            .and_then(|manifest| manifest.files.get(&name));
        let saved =
            match before.filter(|file| file.bytes == metadata.len() && file.modified == modified) {
                Some(file) if self.sink.has(file) => file.clone(),
                _ => {
                    let (bytes, sha256) = self.sink.put(path, file)?;
                    SavedFile {
                        bytes,
                        modified,
                        sha256,
                    }
                }
            };
        self.files.insert(name, saved);
        Ok(true)
    }
}

/// Returns the name of a file relative to a folder, below another name.
fn relative_name(path: &Path, folder: &Path, below: &str) -> String {
    let rest = path.strip_prefix(folder).unwrap_or(path);
    let parts = rest
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let below = Some(below.to_owned()).filter(|below| !below.is_empty());
    below.into_iter().chain(parts).collect::<Vec<_>>().join("/")
}

/// Returns all files below a path, which may be a file or missing.
fn files_below(path: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(EngineError::io(path)(cause)),
    };
    if metadata.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    if metadata.is_dir() {
        for entry in fs::read_dir(path).map_err(EngineError::io(path))? {
            found.extend(files_below(&entry.map_err(EngineError::io(path))?.path())?);
        }
    }
    found.sort();
    Ok(found)
}

/// The objects of a backup in a folder.
struct FolderSink<'s> {
    target: &'s Path,
    copied_files: usize,
    copied_bytes: u64,
}

impl ContentSink for FolderSink<'_> {
    type Error = EngineError;

    fn has(&self, file: &SavedFile) -> bool {
        object_path(self.target, &file.sha256)
            .metadata()
            .is_ok_and(|metadata| metadata.len() == file.bytes)
    }

    fn put(&mut self, _: &Path, mut source: File) -> Result<(u64, String), EngineError> {
        let objects = self.target.join(OBJECTS);
        fs::create_dir_all(&objects).map_err(EngineError::io(&objects))?;
        // One name suffices: the backup is locked.
        let temporary = objects.join("new");
        let mut file = File::create(&temporary).map_err(EngineError::io(&temporary))?;
        let (bytes, sha256) =
            copy_and_hash(&mut source, &mut file).map_err(EngineError::io(&temporary))?;
        let object = object_path(self.target, &sha256);
        // An object of another size is damaged, and is replaced.
        if object
            .metadata()
            .is_ok_and(|metadata| metadata.len() == bytes)
        {
            fs::remove_file(&temporary).map_err(EngineError::io(&temporary))?;
            return Ok((bytes, sha256));
        }
        file.sync_all().map_err(EngineError::io(&temporary))?;
        let folder = object.parent().unwrap_or(&objects);
        fs::create_dir_all(folder).map_err(EngineError::io(folder))?;
        fs::rename(&temporary, &object).map_err(EngineError::io(&object))?;
        self.copied_files += 1;
        self.copied_bytes += bytes;
        Ok((bytes, sha256))
    }
}

/// Returns true if a text is a SHA-256 in lower-case hexadecimal digits.
#[must_use]
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn unused_objects(target: &Path, used: &BTreeSet<&str>) -> Result<Vec<PathBuf>, EngineError> {
    let mut paths = files_below(&target.join(OBJECTS))?;
    paths.retain(|path| {
        path.file_name()
            .is_none_or(|name| !used.contains(&*name.to_string_lossy()))
    });
    Ok(paths)
}

fn object_path(target: &Path, sha256: &str) -> PathBuf {
    target
        .join(OBJECTS)
        .join(sha256.get(..2).unwrap_or("00"))
        .join(sha256)
}

fn to_nanoseconds(time: SystemTime) -> u64 {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Copies a stream. Returns its size in bytes and its SHA-256 in hexadecimal digits.
///
/// # Errors
/// If the source cannot be read, or the target cannot be written.
pub fn copy_and_hash(source: &mut impl Read, target: &mut impl Write) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 17];
    let mut bytes = 0;
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        target.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
    let sha256 = hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok((bytes, sha256))
}

/// Restores a home from a backup into a folder that is empty, missing, or left by an interrupted restoration. Every file is
/// compared with its checksum. Only the owner has access to the home and its files. Until the end, the home cannot be opened. `on_progress` gets the number of files done and of all files.
pub fn restore(
    backup: &Path,
    home: &Path,
    on_progress: &dyn Fn(usize, usize),
) -> Result<RestoreReport, EngineError> {
    let manifest = read_manifest(backup)?;
    let marker = home.join(RESTORING);
    let is_empty = match fs::read_dir(home) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(cause) => return Err(EngineError::io(home)(cause)),
    };
    if !is_empty && !marker.exists() {
        return Err(BackupError::NotEmpty(home.to_owned()).into());
    }
    create_private_folder(home)?;
    make_private(home).map_err(EngineError::io(home))?;
    // On the disk before the first file: an incomplete home must not be taken for a complete one.
    let mark = create_private_file(&marker).map_err(EngineError::io(&marker))?;
    mark.sync_all().map_err(EngineError::io(&marker))?;
    sync_folder(home)?;
    let mut report = RestoreReport {
        created: manifest.created.clone(),
        datasets: manifest.datasets,
        files: 0,
        bytes: 0,
    };
    let mut folders = BTreeSet::from([home.to_owned()]);
    // A folder with settings is a home: they come last.
    let (last, first): (Vec<_>, Vec<_>) = manifest
        .files
        .iter()
        .partition(|(name, _)| *name == SETTINGS);
    for (name, file) in first.into_iter().chain(last) {
        on_progress(report.files, manifest.files.len());
        restore_file(backup, home, name, file)?;
        folders.extend(
            home.join(name)
                .ancestors()
                .skip(1)
                .take_while(|folder| folder.starts_with(home))
                .map(Path::to_owned),
        );
        report.files += 1;
        report.bytes += file.bytes;
    }
    // Readers open the lock file without creating it.
    let lock = home.join(LOCK);
    create_private_file(&lock).map_err(EngineError::io(&lock))?;
    // All files must be there, also after a loss of power, before the mark is not.
    for folder in &folders {
        sync_folder(folder)?;
    }
    fs::remove_file(&marker).map_err(EngineError::io(&marker))?;
    Ok(report)
}

/// Waits until the names of the files in a folder are on the disk, where the system supports that.
fn sync_folder(folder: &Path) -> Result<(), EngineError> {
    #[cfg(unix)]
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(EngineError::io(folder))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Copies a file of a backup into a home. It gets its name when its checksum has been verified.
fn restore_file(
    backup: &Path,
    home: &Path,
    name: &str,
    file: &SavedFile,
) -> Result<(), EngineError> {
    let relative = Path::new(name);
    // It names the file to read.
    if !is_sha256(&file.sha256) {
        let reason = format!("{:?} is no SHA-256", file.sha256);
        return Err(damage_error(backup, reason));
    }
    if !has_only_names(relative) {
        let reason = format!("the manifest contains the path {name:?}");
        return Err(damage_error(backup, reason));
    }
    let (source, path) = (object_path(backup, &file.sha256), home.join(relative));
    let mut input = match File::open(&source) {
        Ok(input) => input,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let reason = format!("{name} is missing ({})", source.display());
            return Err(damage_error(backup, reason));
        }
        Err(cause) => return Err(EngineError::io(&source)(cause)),
    };
    let folder = path.parent().unwrap_or(home);
    create_private_folder(folder)?;
    // One name suffices: files are restored one by one.
    let copy = home.join(RESTORED);
    let mut output = create_private_file(&copy).map_err(EngineError::io(&copy))?;
    let (bytes, sha256) = copy_and_hash(&mut input, &mut output).map_err(EngineError::io(&copy))?;
    if bytes != file.bytes || sha256 != file.sha256 {
        let reason = format!("the checksum of {name} is wrong ({})", source.display());
        return Err(damage_error(backup, reason));
    }
    output.sync_all().map_err(EngineError::io(&copy))?;
    fs::rename(&copy, &path).map_err(EngineError::io(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(files: &[(&str, &SavedFile)]) -> HomeManifest {
        let files = files
            .iter()
            .map(|(name, file)| ((*name).to_owned(), (*file).clone()))
            .collect();
        let (version, base) = ("0".to_owned(), "http://e.org/".to_owned());
        HomeManifest {
            format: HomeManifest::FORMAT,
            version,
            created: None,
            base,
            datasets: 0,
            files,
        }
    }

    #[test]
    fn a_manifest_names_no_other_files_and_its_sum_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let (backup, home) = (folder.path().join("backup"), folder.path().join("home"));
        let secret = folder.path().join("secret");
        fs::create_dir(&backup).expect("a folder");
        fs::write(&secret, "secret").expect("written");
        for sha256 in [
            secret.to_string_lossy().into_owned(),
            "../../../secret".to_owned(),
            String::new(),
        ] {
            let file = SavedFile {
                bytes: u64::MAX,
                modified: 0,
                sha256,
            };
            let manifest = manifest(&[("a", &file), ("b", &file)]);
            assert_eq!(manifest.bytes(), u64::MAX);
            write_checked(
                &backup.join(BACKUP_MANIFEST),
                &serde_json::to_vec(&manifest).expect("JSON"),
            )
            .expect("written");
            let error = restore(&backup, &home, &|_, _| {})
                .expect_err("a damaged backup")
                .to_string();
            assert!(error.contains("is no SHA-256"), "{error}");
            assert!(!home.join("a").exists());
        }
    }

    #[test]
    fn only_files_of_the_operator_inside_the_home_are_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        fs::create_dir_all(home.join("theme/images")).expect("a folder");
        for name in ["theme/style.css", "theme/images/a.svg", "logo.svg"] {
            fs::write(home.join(name), name).expect("written");
        }
        fs::write(folder.path().join("outside.svg"), "x").expect("written");
        let file = |path: PathBuf| SettingFile {
            key: "portal.logo".to_owned(),
            path,
        };
        let name = |path: PathBuf| file(path).name_in_home(&home);
        assert_eq!(name(home.join("logo.svg")).as_deref(), Some("logo.svg"));
        assert_eq!(
            name(home.join("theme/../logo.svg")).as_deref(),
            Some("logo.svg")
        );
        for outside in [
            folder.path().join("outside.svg"),
            home.join("../outside.svg"),
            home.clone(),
            home.join("index/x"),
            home.join("missing/../x"),
        ] {
            assert_eq!(name(outside.clone()), None, "{}", outside.display());
        }
        let mut sources = Vec::new();
        add_setting_files("theme", &home.join("theme"), 0, &mut sources).expect("read");
        let mut names: Vec<String> = sources.into_iter().map(|source| source.name).collect();
        names.sort();
        assert_eq!(names, ["theme/images/a.svg", "theme/style.css"]);
    }

    #[test]
    fn damaged_settings_make_no_home() {
        let folder = tempfile::tempdir().expect("a folder");
        let (backup, home) = (folder.path().join("backup"), folder.path().join("home"));
        let sha256 = "ab".repeat(32);
        let object = object_path(&backup, &sha256);
        fs::create_dir_all(object.parent().expect("a folder")).expect("a folder");
        fs::write(&object, "base = 1").expect("written");
        let manifest = manifest(&[(
            SETTINGS,
            &SavedFile {
                bytes: 8,
                modified: 0,
                sha256,
            },
        )]);
        write_checked(
            &backup.join(BACKUP_MANIFEST),
            &serde_json::to_vec(&manifest).expect("JSON"),
        )
        .expect("written");
        let error = restore(&backup, &home, &|_, _| {})
            .expect_err("a damaged backup")
            .to_string();
        assert!(
            error.contains("the checksum of lodeseek.toml is wrong"),
            "{error}"
        );
        assert!(!home.join(SETTINGS).exists());
    }
}
