//! The storage of snapshots: records, manifests and objects below one URL.

use crate::chain::ChainLink;
use crate::local::{hex, is_relative};
use crate::{Retention, SnapshotError};
use futures_util::{StreamExt, TryStreamExt};
use lodeseek_engine::{BackupError, EngineError, HomeManifest, is_sha256};
use lodeseek_store::SETTINGS;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{
    Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, RetryConfig,
    WriteMultipart,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use url::Url;

const OBJECTS: &str = "objects";
const SNAPSHOTS: &str = "snapshots";
/// Age of the objects that can be deleted. A publication in progress needs younger ones.
const MIN_AGE: Duration = Duration::from_secs(24 * 3600);
/// Name of the file that is locked while a home is open.
pub(crate) const HOME_LOCK: &str = "lock";
/// Format of records.
const RECORD_FORMAT: u32 = 1;
/// Minimum size of a part of a large upload in bytes. Smaller files are uploaded with one request.
pub(crate) const MIN_PART_BYTES: usize = 8 << 20;
/// Maximum number of parts of an upload. S3 accepts 10,000.
const MAX_PARTS: u64 = 9_000;
/// Maximum number of parts of one file that are uploaded concurrently.
const MAX_CONCURRENT_PARTS: usize = 2;
/// Maximum size of a record in bytes.
const MAX_RECORD_BYTES: u64 = 1 << 20;
/// Maximum size of a manifest in bytes: about a million files.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;
/// Maximum number of repetitions of a failed request, and their total time.
const RETRIES: (usize, Duration) = (5, Duration::from_secs(30));

/// URL of a storage of snapshots: `s3://BUCKET/PREFIX` or `file:///FOLDER`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SnapshotLocation(Url);

/// A text is no location of snapshots.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{text:?} is no location of snapshots: {reason}; supported: s3://BUCKET/PREFIX, file:///FOLDER"
)]
pub struct InvalidLocation {
    text: String,
    reason: String,
}

impl InvalidLocation {
    fn new(text: &str, reason: &str) -> Self {
        Self {
            text: text.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

impl FromStr for SnapshotLocation {
    type Err = InvalidLocation;

    fn from_str(text: &str) -> Result<Self, InvalidLocation> {
        let url =
            Url::parse(text).map_err(|error| InvalidLocation::new(text, &error.to_string()))?;
        let has_extras =
            url.query().is_some() || url.fragment().is_some() || !url.username().is_empty();
        match url.scheme() {
            _ if has_extras => Err(InvalidLocation::new(
                text,
                "it has a user, a query or a fragment",
            )),
            "s3" if url.host_str().is_none_or(str::is_empty) => {
                Err(InvalidLocation::new(text, "it has no bucket"))
            }
            "file" if url.host_str().is_some_and(|host| !host.is_empty()) => Err(
                InvalidLocation::new(text, "it has a host; write three slashes"),
            ),
            "file" if url.path() == "/" => Err(InvalidLocation::new(text, "it has no folder")),
            "s3" | "file" => Ok(Self(url)),
            _ => Err(InvalidLocation::new(text, "unknown scheme")),
        }
    }
}

impl SnapshotLocation {
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the error of a location that the storage cannot have.
    pub(crate) fn invalid(&self, reason: &impl ToString) -> InvalidLocation {
        InvalidLocation {
            text: self.0.to_string(),
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for SnapshotLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

/// Access to storage: the `AWS_*` variables of the environment, such as `AWS_ACCESS_KEY_ID` and `AWS_ENDPOINT_URL`.
#[derive(Clone, Default)]
pub struct StorageOptions(Vec<(AmazonS3ConfigKey, String)>);

impl StorageOptions {
    /// Selects the known ones of some variables. An empty variable is not set.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut options = Vec::new();
        for (name, value) in variables {
            if !name.starts_with("AWS_") || value.is_empty() {
                continue;
            }
            if let Ok(key) = name.to_ascii_lowercase().parse() {
                options.push((key, value));
            }
        }
        Self(options)
    }

    /// Returns true if the configured endpoint is a plain HTTP address.
    fn has_http_endpoint(&self) -> bool {
        self.0.iter().any(|(key, value)| {
            matches!(
                key,
                AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint
            ) && value.starts_with("http://")
        })
    }
}

// The options contain secrets.
impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageOptions").finish_non_exhaustive()
    }
}

/// The record of a snapshot. Records of earlier versions have neither number, home nor predecessor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SnapshotRecord {
    pub(crate) format: u32,
    /// Number of the snapshot. A copy of the record under another number is not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Random id of the home that published it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// SHA-256 of the record of the previous snapshot; `None` for the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// SHA-256 of the manifest.
    pub manifest: String,
    /// Time of the publication (`xsd:dateTime`), if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Number of datasets.
    pub datasets: usize,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Signature of the publisher's key, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// SHA-256 of the stored record.
    #[serde(skip)]
    pub(crate) digest: String,
}

/// Objects below a prefix.
pub(crate) struct Storage {
    store: Arc<dyn ObjectStore>,
    prefix: Key,
    location: String,
}

/// The snapshots below a location.
pub struct RemoteSnapshots {
    /// Requests on other tasks share it. The runtime is not shared: it must not be dropped by one of its own tasks.
    pub(crate) storage: Arc<Storage>,
    pub(crate) runtime: Runtime,
}

impl fmt::Debug for RemoteSnapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSnapshots")
            .field("location", &self.storage.location)
            .finish_non_exhaustive()
    }
}

impl RemoteSnapshots {
    /// Prepares the access to a location. No request is sent.
    ///
    /// # Errors
    /// If the options are not valid.
    pub fn open(
        location: &SnapshotLocation,
        options: &StorageOptions,
    ) -> Result<Self, SnapshotError> {
        let name = location.to_string();
        let store: Arc<dyn ObjectStore> = match location.0.scheme() {
            // Objects must be on the disk before the record that needs them.
            "file" => Arc::new(LocalFileSystem::new().with_fsync(true)),
            _ => Arc::new(
                open_bucket(&location.0, options)
                    .map_err(|cause| storage_error(&name, "open the storage", cause))?,
            ),
        };
        let prefix = Key::from_url_path(location.0.path())
            .map_err(|cause| storage_error(&name, "open the storage", cause.into()))?;
        Self::with_store(store, prefix, name)
    }

    pub(crate) fn with_store(
        store: Arc<dyn ObjectStore>,
        prefix: Key,
        location: String,
    ) -> Result<Self, SnapshotError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let runtime = runtime.map_err(SnapshotError::io(Path::new(&location)))?;
        Ok(Self {
            storage: Arc::new(Storage {
                store,
                prefix,
                location,
            }),
            runtime,
        })
    }

    /// Returns the location, for messages.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.storage.location
    }

    /// Returns the last snapshot with its number, if there is one with a number above `after`.
    ///
    /// # Errors
    /// If the storage cannot be read, or the record is not valid.
    pub fn latest(&self, after: u64) -> Result<Option<(u64, SnapshotRecord)>, SnapshotError> {
        let storage = &self.storage;
        self.runtime.block_on(async {
            let Some(number) = storage.list_numbers(after).await?.pop() else {
                return Ok(None);
            };
            let record = storage.read_record(number).await?;
            Ok(Some((number, record)))
        })
    }

    /// Returns the manifest with this hash.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn manifest(&self, sha256: &str) -> Result<HomeManifest, SnapshotError> {
        self.storage
            .parse_manifest(sha256, &self.manifest_body(sha256)?)
    }

    /// Returns the bytes of a manifest, which have this hash.
    pub(crate) fn manifest_body(&self, sha256: &str) -> Result<Vec<u8>, SnapshotError> {
        self.runtime.block_on(self.storage.manifest_body(sha256))
    }

    /// Writes the manifest and the record of a snapshot, the latter on the condition that there is none with this number.
    ///
    /// # Errors
    /// [`SnapshotError::Conflict`] if there is another one.
    pub(crate) fn commit(
        &self,
        link: &ChainLink<'_>,
        manifest: &HomeManifest,
    ) -> Result<(), SnapshotError> {
        self.runtime.block_on(self.storage.commit(link, manifest))
    }

    /// Deletes all but the last snapshots, and old objects that these do not use. Returns the number of both.
    pub(crate) fn delete_old(&self, retention: Retention) -> Result<(usize, usize), SnapshotError> {
        self.runtime.block_on(self.storage.delete_old(retention))
    }

    /// Returns the sizes of all objects by SHA-256.
    pub(crate) fn list_objects(&self) -> Result<BTreeMap<String, u64>, SnapshotError> {
        let objects = self.runtime.block_on(self.storage.list_objects())?;
        Ok(objects
            .into_iter()
            .map(|(sha256, object)| (sha256, object.size))
            .collect())
    }
}

impl Storage {
    /// Returns the location, for messages.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    pub(crate) async fn read_record(&self, number: u64) -> Result<SnapshotRecord, SnapshotError> {
        let key = format!("{SNAPSHOTS}/{}", record_name(number));
        let body = self.read(&key, MAX_RECORD_BYTES).await?;
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        // The format alone first: a record of another version may lack fields, and would count as damaged.
        if serde_json::from_slice::<Format>(&body).is_ok_and(|one| one.format != RECORD_FORMAT) {
            return Err(SnapshotError::OtherVersion {
                location: self.location.clone(),
                key,
            });
        }
        let record: SnapshotRecord = serde_json::from_slice(&body)
            .map_err(|error| self.damage_error(&key, error.to_string()))?;
        if !is_sha256(&record.manifest) {
            return Err(self.damage_error(&key, format!("{:?} is no SHA-256", record.manifest)));
        }
        Ok(SnapshotRecord {
            // Of the bytes as stored: fields that this version does not have are part of the digest.
            digest: hex(Sha256::new_with_prefix(&body)),
            ..record
        })
    }

    /// Reads a small object.
    async fn read(&self, key: &str, limit: u64) -> Result<Vec<u8>, SnapshotError> {
        let action = format!("read {key}");
        let result = match self.store.get(&self.key(key)).await {
            Err(Error::NotFound { .. }) => {
                return Err(self.damage_error(key, "it is missing".to_owned()));
            }
            result => result.map_err(|cause| self.error(&action, cause))?,
        };
        // Before the content is read: whoever writes to the storage could fill the memory.
        if result.meta.size > limit {
            return Err(self.damage_error(
                key,
                format!("it has {} bytes; the limit is {limit}", result.meta.size),
            ));
        }
        let bytes = result
            .bytes()
            .await
            .map_err(|cause| self.error(&action, cause))?;
        Ok(bytes.to_vec())
    }

    async fn manifest_body(&self, sha256: &str) -> Result<Vec<u8>, SnapshotError> {
        let key = object_name(sha256);
        let body = self.read(&key, MAX_MANIFEST_BYTES).await?;
        let found = hex(Sha256::new_with_prefix(&body));
        if found != sha256 {
            return Err(self.damage_error(&key, format!("its SHA-256 is {found}")));
        }
        Ok(body)
    }

    /// Parses a manifest, and checks its format and its paths.
    pub(crate) fn parse_manifest(
        &self,
        sha256: &str,
        body: &[u8],
    ) -> Result<HomeManifest, SnapshotError> {
        let key = object_name(sha256);
        let manifest: HomeManifest = serde_json::from_slice(body)
            .map_err(|error| self.damage_error(&key, error.to_string()))?;
        if manifest.format != HomeManifest::FORMAT {
            return Err(SnapshotError::OtherVersion {
                location: self.location.clone(),
                key,
            });
        }
        for (path, file) in &manifest.files {
            let is_own = path == SETTINGS || path == HOME_LOCK; // a replica writes these files itself
            if is_own || !is_relative(path) || !is_sha256(&file.sha256) {
                return Err(
                    self.damage_error(&key, format!("the manifest contains the path {path:?}"))
                );
            }
        }
        Ok(manifest)
    }

    async fn commit(
        &self,
        link: &ChainLink<'_>,
        manifest: &HomeManifest,
    ) -> Result<(), SnapshotError> {
        let number = link.number;
        let body = to_json(manifest)?;
        let sha256 = hex(Sha256::new_with_prefix(&body));
        let key = object_name(&sha256);
        // On no condition: the name is the hash, so that another writer writes the same bytes.
        let written = self
            .store
            .put(&self.key(&key), PutPayload::from(body))
            .await;
        written.map_err(|cause| self.error(&format!("write {key}"), cause))?;
        let mut record = SnapshotRecord {
            format: RECORD_FORMAT,
            number: Some(number),
            home: Some(link.home.to_owned()),
            previous: link.previous.map(str::to_owned),
            manifest: sha256,
            created: manifest.created.clone(),
            datasets: manifest.datasets,
            bytes: manifest.bytes(),
            signature: None,
            digest: String::new(),
        };
        record.signature = link.key.map(|key| key.sign(&record.signed_message()));
        let body = to_json(&record)?;
        record.digest = hex(Sha256::new_with_prefix(&body));
        let name = format!("{SNAPSHOTS}/{}", record_name(number));
        let options = PutOptions {
            // The one condition of a publication: the first writer of a number wins, see the module documentation.
            mode: PutMode::Create,
            ..PutOptions::default()
        };
        match self
            .store
            .put_opts(&self.key(&name), PutPayload::from(body), options)
            .await
        {
            Ok(_) => Ok(()),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                // A repeated request finds the record that the first one wrote.
                if self.read_record(number).await? == record {
                    return Ok(());
                }
                Err(SnapshotError::Conflict {
                    location: self.location.clone(),
                    number,
                })
            }
            Err(cause) => Err(self.error(&format!("write {name}"), cause)),
        }
    }

    /// Returns the objects by SHA-256.
    async fn list_objects(&self) -> Result<BTreeMap<String, ObjectMeta>, SnapshotError> {
        let listed = self
            .store
            .list(Some(&self.key(OBJECTS)))
            .try_collect::<Vec<_>>()
            .await;
        let listed = listed.map_err(|cause| self.error("list objects/", cause))?;
        // Only names of objects: other files below the prefix are not deleted.
        let named = listed
            .into_iter()
            .filter_map(|object| Some((object.location.filename()?.to_owned(), object)));
        Ok(named.filter(|(name, _)| is_sha256(name)).collect())
    }

    /// Returns the numbers of the snapshots above `after`, in ascending order.
    pub(crate) async fn list_numbers(&self, after: u64) -> Result<Vec<u64>, SnapshotError> {
        let folder = self.key(SNAPSHOTS);
        let offset = folder.clone().join(record_name(after));
        let listed = self
            .store
            .list_with_offset(Some(&folder), &offset)
            .try_collect::<Vec<_>>()
            .await;
        let listed = listed.map_err(|cause| self.error("list snapshots/", cause))?;
        let mut numbers: Vec<u64> = listed
            .iter()
            .filter_map(|object| record_number(object.location.filename()?))
            .collect();
        // The order of a list depends on the storage.
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Deletes all but the last snapshots, and old objects that these do not use. Returns the number of both.
    async fn delete_old(&self, retention: Retention) -> Result<(usize, usize), SnapshotError> {
        let mut old = self.list_numbers(0).await?;
        let kept = old.split_off(old.len().saturating_sub(retention.keep.get()));
        let mut used = BTreeSet::new();
        for number in kept {
            match self.used_by(number).await {
                Ok(objects) => used.extend(objects),
                // The snapshot is published already; without the list of its objects nothing may be deleted.
                Err(
                    error @ (SnapshotError::Damaged { .. } | SnapshotError::OtherVersion { .. }),
                ) => {
                    tracing::warn!(number, %error, "cannot read a snapshot that is kept; nothing is deleted");
                    return Ok((0, 0));
                }
                Err(error) => return Err(error),
            }
        }
        // Records first: an interrupted deletion leaves no snapshot without its objects.
        for number in &old {
            self.delete_record(*number).await?;
        }
        let mut deleted = 0;
        for (sha256, object) in self.list_objects().await? {
            let age = retention
                .now
                .duration_since(object.last_modified.into())
                .unwrap_or_default();
            if !used.contains(&sha256) && age >= MIN_AGE {
                self.delete(&object.location).await?;
                deleted += 1;
            }
        }
        Ok((old.len(), deleted))
    }

    /// Deletes the record of a snapshot.
    pub(crate) async fn delete_record(&self, number: u64) -> Result<(), SnapshotError> {
        self.delete(&self.key(&format!("{SNAPSHOTS}/{}", record_name(number))))
            .await
    }

    /// Returns the SHA-256 of the objects of a snapshot.
    async fn used_by(&self, number: u64) -> Result<BTreeSet<String>, SnapshotError> {
        let record = self.read_record(number).await?;
        let body = self.manifest_body(&record.manifest).await?;
        let manifest = self.parse_manifest(&record.manifest, &body)?;
        Ok(manifest
            .files
            .into_values()
            .map(|file| file.sha256)
            .chain([record.manifest])
            .collect())
    }

    async fn delete(&self, key: &Key) -> Result<(), SnapshotError> {
        match self.store.delete(key).await {
            // Another publication may have deleted it.
            Err(Error::NotFound { .. }) => Ok(()),
            deleted => deleted.map_err(|cause| self.error(&format!("delete {key}"), cause)),
        }
    }

    /// Uploads a file with a known size and hash.
    ///
    /// # Errors
    /// If the file has another hash by now; nothing is written then.
    pub(crate) async fn upload(
        &self,
        mut file: File,
        bytes: u64,
        sha256: &str,
    ) -> Result<(), SnapshotError> {
        let key = object_name(sha256);
        let action = format!("write {key}");
        let at = self.key(&key);
        let path = Path::new(&key);
        let mut hasher = Sha256::new();
        if bytes <= MIN_PART_BYTES as u64 {
            let body = read_part(&mut file, MIN_PART_BYTES).map_err(SnapshotError::io(path))?;
            hasher.update(&body);
            // The file may have changed since it was hashed. An object must never have another content than its name states.
            if hex(hasher) != sha256 {
                return Err(changed_file_error());
            }
            let written = self.store.put(&at, PutPayload::from(body)).await;
            return written
                .map(drop)
                .map_err(|cause| self.error(&action, cause));
        }
        let upload = self
            .store
            .put_multipart(&at)
            .await
            .map_err(|cause| self.error(&action, cause))?;
        // Rounded down, so that there may be a few parts more than MAX_PARTS, but fewer than S3 accepts.
        let part_bytes =
            MIN_PART_BYTES.max(usize::try_from(bytes / MAX_PARTS).unwrap_or(MIN_PART_BYTES));
        let mut upload = WriteMultipart::new_with_chunk_size(upload, part_bytes);
        loop {
            let part = match read_part(&mut file, part_bytes) {
                Ok(part) => part,
                Err(cause) => {
                    // If the parts cannot be deleted either, they are no object: only the first error is reported.
                    upload.abort().await.ok();
                    return Err(SnapshotError::io(path)(cause));
                }
            };
            if part.is_empty() {
                break;
            }
            hasher.update(&part);
            // The parts in memory are bounded.
            if let Err(cause) = upload.wait_for_capacity(MAX_CONCURRENT_PARTS).await {
                upload.abort().await.ok();
                return Err(self.error(&action, cause));
            }
            upload.write(&part);
        }
        // Before the last request: without it, the parts do not become an object.
        if hex(hasher) != sha256 {
            upload.abort().await.ok();
            return Err(changed_file_error());
        }
        upload
            .finish()
            .await
            .map(drop)
            .map_err(|cause| self.error(&action, cause))
    }

    /// Copies an object to a file, and compares its size and its hash.
    ///
    /// # Errors
    /// [`SnapshotError::Damaged`] if the object is missing or has another content. The file is then of no use.
    pub(crate) async fn download(
        &self,
        sha256: &str,
        bytes: u64,
        to: &Path,
    ) -> Result<(), SnapshotError> {
        let key = object_name(sha256);
        let result = self
            .store
            .get(&self.key(&key))
            .await
            .map_err(|cause| self.object_error(&key, cause))?;
        let size = result.meta.size;
        // Before the download, which could fill the disk.
        if size != bytes {
            return Err(self.damage_error(&key, format!("it has {size} bytes instead of {bytes}")));
        }
        let mut file = File::create(to).map_err(SnapshotError::io(to))?;
        let mut hasher = Sha256::new();
        let mut stream = result.into_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|cause| self.object_error(&key, cause))?;
            hasher.update(&chunk);
            file.write_all(&chunk).map_err(SnapshotError::io(to))?;
        }
        let found = hex(hasher);
        if found != sha256 {
            return Err(self.damage_error(&key, format!("its SHA-256 is {found}")));
        }
        Ok(())
    }

    fn key(&self, name: &str) -> Key {
        name.split('/').fold(self.prefix.clone(), Key::join)
    }

    fn error(&self, action: &str, cause: Error) -> SnapshotError {
        storage_error(&self.location, action, cause)
    }

    /// Returns the error for an object that cannot be read.
    fn object_error(&self, key: &str, cause: Error) -> SnapshotError {
        match cause {
            Error::NotFound { .. } => self.damage_error(key, "it is missing".to_owned()),
            cause => self.error(&format!("read {key}"), cause),
        }
    }

    pub(crate) fn damage_error(&self, key: &str, reason: String) -> SnapshotError {
        SnapshotError::Damaged {
            location: self.location.clone(),
            key: key.to_owned(),
            reason,
        }
    }
}

/// Prepares the access to a bucket.
pub(crate) fn open_bucket(url: &Url, options: &StorageOptions) -> Result<impl ObjectStore, Error> {
    // The client library has no provider of its own. An earlier choice of the process stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig {
        max_retries: RETRIES.0,
        retry_timeout: RETRIES.1,
        ..RetryConfig::default()
    };
    let mut builder = AmazonS3Builder::new()
        .with_allow_http(options.has_http_endpoint())
        .with_retry(retry);
    for (key, value) in &options.0 {
        builder = builder.with_config(*key, value);
    }
    builder
        .with_bucket_name(url.host_str().unwrap_or_default())
        .build()
}

/// Returns the error for a file that changed while it was uploaded.
fn changed_file_error() -> SnapshotError {
    EngineError::from(BackupError::Busy).into()
}

pub(crate) fn storage_error(location: &str, action: &str, cause: Error) -> SnapshotError {
    SnapshotError::Storage {
        location: location.to_owned(),
        action: action.to_owned(),
        cause: Box::new(cause),
    }
}

/// Returns the JSON of a manifest or a record.
fn to_json(value: &impl Serialize) -> Result<Vec<u8>, SnapshotError> {
    Ok(serde_json::to_vec_pretty(value).map_err(EngineError::from)?)
}

/// Returns the name of a record. Ten digits keep the order of the numbers in lists.
fn record_name(number: u64) -> String {
    format!("{number:010}.json")
}

fn record_number(name: &str) -> Option<u64> {
    name.strip_suffix(".json")
        .filter(|digits| digits.len() == 10)?
        .parse()
        .ok()
}

/// Returns the key of an object below the location.
pub(crate) fn object_name(sha256: &str) -> String {
    format!("{OBJECTS}/{}/{sha256}", sha256.get(..2).unwrap_or("00"))
}

/// Reads at most some bytes of a file; fewer at its end.
fn read_part(file: &mut File, bytes: usize) -> io::Result<Vec<u8>> {
    let mut part = Vec::new();
    file.take(bytes as u64).read_to_end(&mut part)?;
    Ok(part)
}
