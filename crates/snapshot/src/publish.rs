//! Publication of a home.

use crate::chain::{ChainLink, home_id};
use crate::local::hash_file;
use crate::remote::MIN_PART_BYTES;
use crate::{RemoteSnapshots, SigningKey, SnapshotError};
use lodeseek_engine::{ContentSink, CopyPurpose, HomeManifest, SavedFile, copy_home, index_folder};
use lodeseek_store::Store;
use oxsdatatypes::DateTime;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

/// Maximum number of concurrent uploads of small files.
const MAX_CONCURRENT_UPLOADS: usize = 16;
/// Number of small files that a large one counts as: its parts need memory.
const LARGE_FILE_PERMITS: u32 = 4;

/// Report of a publication.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishReport {
    /// Number of the current snapshot.
    pub snapshot: u64,
    /// If true, the previous snapshot has the same files, and no other one was created.
    pub unchanged: bool,
    /// Number of datasets.
    pub datasets: usize,
    /// Number of files.
    pub files: usize,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Number of uploaded objects; the storage had the others.
    pub uploaded_files: usize,
    /// Size of the uploaded objects in bytes.
    pub uploaded_bytes: u64,
    /// Number of files whose content the storage had, or that have the content of another file.
    pub reused_files: usize,
    /// Number of deleted snapshots.
    #[serde(default)]
    pub deleted_snapshots: usize,
    /// Number of deleted objects.
    #[serde(default)]
    pub deleted_objects: usize,
    /// Number of records that were deleted because they were not of this home.
    #[serde(default)]
    pub removed_records: usize,
}

/// Options of a publication.
#[derive(Clone, Debug, Default)]
pub struct PublishOptions {
    /// Time of the snapshot, if it is recorded. Replicas compare it when numbers begin again.
    pub now: Option<DateTime>,
    /// If set, old snapshots are deleted afterwards.
    pub retention: Option<Retention>,
    /// Key that signs the record.
    pub key: Option<SigningKey>,
    /// If true, records above the last one of this home are deleted first: those of other homes, copies under higher numbers, and
    /// damaged ones. Otherwise they are an error.
    pub force: bool,
}

/// Rule for the deletion of old snapshots. Run no other publication to the location meanwhile: it could reuse an old object that is
/// being deleted. Replicas would detect that, and the next publication would upload the object again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Number of snapshots that are kept: the last ones.
    pub keep: NonZeroUsize,
    /// The current time. Objects that were written in the day before it are kept: another publication may need them.
    pub now: SystemTime,
}

/// Publishes the home of an open store as the next snapshot, also while it is served. Only contents that the storage lacks are
/// uploaded. `on_progress` gets the number of files done and of all files. The first publication gives the home an id.
///
/// # Errors
/// [`SnapshotError::NoIndex`] if the home cannot be searched; [`SnapshotError::Foreign`] if the last snapshot is not of this home;
/// [`SnapshotError::Conflict`] if another process published meanwhile; errors of the home and of the storage.
pub fn publish(
    store: &Store,
    remote: &RemoteSnapshots,
    options: &PublishOptions,
    on_progress: &dyn Fn(usize, usize),
) -> Result<PublishReport, SnapshotError> {
    if !index_folder(store.home()).join("meta.json").exists() {
        return Err(SnapshotError::NoIndex(store.home().to_owned()));
    }
    let home = home_id(store.home())?;
    let (latest, removed_records) = if options.force {
        remote.remove_foreign(&home)?
    } else {
        (remote.last_own(&home)?, 0)
    };
    let number = match &latest {
        Some((number, _)) => *number,
        None => 0,
    };
    let previous = match &latest {
        // The previous manifest only saves the reading of unchanged files: a publication works without it.
        Some((number, record)) => match remote.manifest(&record.manifest) {
            Ok(manifest) => Some(manifest),
            Err(error) => {
                tracing::warn!(%error, "cannot read the manifest of snapshot {number}; every file is read");
                None
            }
        },
        None => None,
    };
    let mut sink = UploadSink {
        remote,
        present: remote.list_objects()?,
        uploads: JoinSet::new(),
        permits: Arc::new(Semaphore::new(MAX_CONCURRENT_UPLOADS)),
        files: 0,
        bytes: 0,
    };
    let manifest = copy_home(
        store,
        CopyPurpose::Publication,
        previous.as_ref(),
        &mut sink,
        options.now,
        on_progress,
    )?;
    // The record makes the snapshot visible, so that all objects must be stored before.
    sink.wait_for_uploads()?;
    let record = latest.as_ref().map(|(_, record)| record);
    // A key that was not used before signs at once.
    let is_signed = options.key.as_ref().is_none_or(|key| {
        record.is_some_and(|record| {
            let signature = record.signature.as_deref().unwrap_or_default();
            key.public_key()
                .verifies(&record.signed_message(), signature)
        })
    });
    let unchanged =
        is_signed && previous.is_some_and(|previous| has_same_content(&previous, &manifest));
    let snapshot = if unchanged { number } else { number + 1 };
    if !unchanged {
        let link = ChainLink {
            number: snapshot,
            home: &home,
            previous: record.map(|record| record.digest.as_str()),
            key: options.key.as_ref(),
        };
        remote.commit(&link, &manifest)?;
    }
    let (deleted_snapshots, deleted_objects) = match options.retention {
        Some(retention) => remote.delete_old(retention)?,
        None => (0, 0),
    };
    Ok(PublishReport {
        snapshot,
        unchanged,
        datasets: manifest.datasets,
        files: manifest.files.len(),
        bytes: manifest.bytes(),
        uploaded_files: sink.files,
        uploaded_bytes: sink.bytes,
        reused_files: manifest.files.len().saturating_sub(sink.files),
        deleted_snapshots,
        deleted_objects,
        removed_records,
    })
}

/// Returns true if two homes have the same files with the same contents.
fn has_same_content(one: &HomeManifest, other: &HomeManifest) -> bool {
    one.base == other.base && file_hashes(one).eq(file_hashes(other))
}

/// Returns the name and the SHA-256 of each file of a home.
fn file_hashes(manifest: &HomeManifest) -> impl Iterator<Item = (&String, &String)> {
    manifest
        .files
        .iter()
        .map(|(name, file)| (name, &file.sha256))
}

/// Uploads contents that the storage lacks, several at once.
struct UploadSink<'r> {
    remote: &'r RemoteSnapshots,
    /// Sizes of the objects that the storage has, or will have.
    present: BTreeMap<String, u64>,
    uploads: JoinSet<Result<(), SnapshotError>>,
    permits: Arc<Semaphore>,
    files: usize,
    bytes: u64,
}

impl UploadSink<'_> {
    fn has_object(&self, sha256: &str, bytes: u64) -> bool {
        self.present.get(sha256) == Some(&bytes)
    }

    /// Waits for all uploads.
    fn wait_for_uploads(&mut self) -> Result<(), SnapshotError> {
        self.remote.runtime.block_on(async {
            while let Some(done) = self.uploads.join_next().await {
                flatten_outcome(done)?;
            }
            Ok(())
        })
    }
}

fn flatten_outcome(
    joined: Result<Result<(), SnapshotError>, JoinError>,
) -> Result<(), SnapshotError> {
    match joined {
        Ok(result) => result,
        // No upload is aborted, so that only a panic prevents a result.
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

impl ContentSink for UploadSink<'_> {
    type Error = SnapshotError;

    fn has(&self, file: &SavedFile) -> bool {
        self.has_object(&file.sha256, file.bytes)
    }

    fn put(&mut self, path: &Path, mut file: File) -> Result<(u64, String), SnapshotError> {
        let (bytes, sha256) = hash_file(&mut file).map_err(SnapshotError::io(path))?;
        if self.has_object(&sha256, bytes) {
            return Ok((bytes, sha256));
        }
        // A failed upload ends the publication here, before the rest of the home is read.
        while let Some(done) = self.uploads.try_join_next() {
            flatten_outcome(done)?;
        }
        file.seek(SeekFrom::Start(0))
            .map_err(SnapshotError::io(path))?;
        // The permits bound memory and the number of open files.
        let permits = Arc::clone(&self.permits);
        let count = if bytes > MIN_PART_BYTES as u64 {
            LARGE_FILE_PERMITS
        } else {
            1
        };
        let permit = self
            .remote
            .runtime
            .block_on(permits.acquire_many_owned(count));
        let (storage, hash) = (Arc::clone(&self.remote.storage), sha256.clone());
        let upload = async move {
            let _permit = permit;
            storage.upload(file, bytes, &hash).await
        };
        self.uploads.spawn_on(upload, self.remote.runtime.handle());
        // Before the upload has ended, so that an equal file is not uploaded again. All uploads end before the record is
        // written.
        self.present.insert(sha256.clone(), bytes);
        self.files += 1;
        self.bytes += bytes;
        Ok((bytes, sha256))
    }
}
