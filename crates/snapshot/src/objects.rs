//! Objects that are stored apart from a publication, and files elsewhere on object storage.

use crate::local::{hash_file, hex};
use crate::remote::{open_bucket, storage_error};
use crate::{RemoteSnapshots, SnapshotError, SnapshotLocation, StorageOptions};
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;

/// Maximum number of objects that are downloaded at once.
const MAX_CONCURRENT_DOWNLOADS: usize = 16;

/// An object of the storage: the content of a file under its SHA-256.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredObject {
    /// SHA-256 of the content, which names the object.
    pub sha256: String,
    /// Size of the content in bytes.
    pub bytes: u64,
}

impl RemoteSnapshots {
    /// Stores the content of a file. A later publication does not upload it again. A repetition has no effect.
    ///
    /// # Errors
    /// If the file cannot be read, or the storage not written.
    pub fn store_file(&self, path: &Path) -> Result<StoredObject, SnapshotError> {
        let mut file = File::open(path).map_err(SnapshotError::io(path))?;
        let (bytes, sha256) = hash_file(&mut file).map_err(SnapshotError::io(path))?;
        file.seek(SeekFrom::Start(0))
            .map_err(SnapshotError::io(path))?;
        self.runtime
            .block_on(self.storage.upload(file, bytes, &sha256))?;
        Ok(StoredObject { sha256, bytes })
    }

    /// Copies objects to files, several at once. Each content is compared with its hash.
    ///
    /// # Errors
    /// The first error; the other files may be incomplete then.
    pub fn fetch_objects(&self, objects: &[(StoredObject, PathBuf)]) -> Result<(), SnapshotError> {
        self.runtime.block_on(async {
            let downloads = futures_util::stream::iter(objects);
            let downloads = downloads
                .map(|(object, path)| self.storage.download(&object.sha256, object.bytes, path));
            downloads
                .buffer_unordered(MAX_CONCURRENT_DOWNLOADS)
                .try_collect::<Vec<()>>()
                .await
                .map(drop)
        })
    }
}

/// Files at addresses such as `s3://BUCKET/KEY` and `file:///PATH`, in any bucket.
pub struct RemoteFiles {
    options: StorageOptions,
    runtime: Runtime,
    /// Access by bucket; the empty name is that of the local file system.
    stores: Mutex<BTreeMap<String, Arc<dyn ObjectStore>>>,
}

/// Outcome of fetching a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fetched {
    /// The file was copied.
    Copied(StoredObject),
    /// There is no such file.
    Missing,
}

impl RemoteFiles {
    /// Prepares the access to files. No request is sent.
    ///
    /// # Errors
    /// If the threads of the client cannot be started.
    pub fn new(options: StorageOptions) -> Result<Self, SnapshotError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.map_err(SnapshotError::io(Path::new("object storage")))?;
        Ok(Self {
            options,
            runtime,
            stores: Mutex::default(),
        })
    }

    /// Copies a file. Its size and SHA-256 are computed on the way.
    ///
    /// # Errors
    /// If the address is not supported, or the storage cannot be read, or the copy not written.
    pub fn fetch(&self, address: &str, to: &Path) -> Result<Fetched, SnapshotError> {
        let location: SnapshotLocation = address.parse()?;
        let key =
            Key::from_url_path(location.url().path()).map_err(|error| location.invalid(&error))?;
        let store = self
            .store(&location)
            .map_err(|cause| read_error(address, cause))?;
        self.runtime.block_on(async {
            let result = match store.get(&key).await {
                // A missing file is a fault of its dataset, every other error one of the storage.
                Err(Error::NotFound { .. }) => return Ok(Fetched::Missing),
                result => result.map_err(|cause| read_error(address, cause))?,
            };
            let mut file = File::create(to).map_err(SnapshotError::io(to))?;
            let mut hasher = Sha256::new();
            let mut bytes = 0;
            let mut stream = result.into_stream();
            while let Some(chunk) = stream.next().await {
                let chunk = chunk.map_err(|cause| read_error(address, cause))?;
                hasher.update(&chunk);
                bytes += chunk.len() as u64;
                file.write_all(&chunk).map_err(SnapshotError::io(to))?;
            }
            Ok(Fetched::Copied(StoredObject {
                sha256: hex(hasher),
                bytes,
            }))
        })
    }

    fn store(&self, location: &SnapshotLocation) -> Result<Arc<dyn ObjectStore>, Error> {
        let url = location.url();
        let bucket = url.host_str().unwrap_or_default().to_owned();
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(&bucket) {
            return Ok(Arc::clone(store));
        }
        let store: Arc<dyn ObjectStore> = match url.scheme() {
            "file" => Arc::new(LocalFileSystem::new()),
            _ => Arc::new(open_bucket(url, &self.options)?),
        };
        stores.insert(bucket, Arc::clone(&store));
        Ok(store)
    }
}

fn read_error(address: &str, cause: Error) -> SnapshotError {
    storage_error(address, "read the file", cause)
}
