//! Errors of snapshots.

use crate::InvalidLocation;
use lodeseek_engine::EngineError;
use std::io;
use std::path::{Path, PathBuf};

/// Error of a publication, or of a replica that reads snapshots.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The location is no URL of a supported storage.
    #[error(transparent)]
    Location(#[from] InvalidLocation),
    /// A request to the storage failed.
    #[error(
        "{location}: cannot {action}: {cause}; check the address, the AWS_* variables and the permissions"
    )]
    Storage {
        /// The location of the snapshots.
        location: String,
        /// The failed action, such as "read objects/…".
        action: String,
        /// The error of the storage.
        cause: Box<object_store::Error>,
    },
    /// The location has no snapshot.
    #[error(
        "{location}: there is no snapshot; run `lodeseek publish {location}` where the collection is"
    )]
    Missing {
        /// The location of the snapshots.
        location: String,
    },
    /// The home has no index.
    #[error("cannot publish {0}: it has no index yet; run `lodeseek index`")]
    NoIndex(PathBuf),
    /// An object is damaged.
    #[error(
        "{location}: {key} is damaged: {reason}; delete the object and run `lodeseek publish`, which uploads it again"
    )]
    Damaged {
        /// The location of the snapshots.
        location: String,
        /// The key of the object below the location.
        key: String,
        /// The damage.
        reason: String,
    },
    /// Another process published meanwhile.
    #[error(
        "{location}: another process published snapshot {number} meanwhile; run `lodeseek publish` again"
    )]
    Conflict {
        /// The location of the snapshots.
        location: String,
        /// The number of the other snapshot.
        number: u64,
    },
    /// A snapshot does not follow the served one.
    #[error(
        "{location}: snapshot {number} is not served: {reason}; if the publisher was replaced on purpose, stop the server and delete its cache folder; else run `lodeseek publish --force` where the collection is"
    )]
    NotInChain {
        /// The location of the snapshots.
        location: String,
        /// Number of the snapshot.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// The last record is not one of the home that publishes.
    #[error(
        "{location}: cannot continue after snapshot {number}: {reason}; choose another location, or delete such records with `lodeseek publish --force`"
    )]
    Foreign {
        /// The location of the snapshots.
        location: String,
        /// Number of the snapshot.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// The snapshot is of another version of the program.
    #[error(
        "{location}: {key} has another format; read it with the version of lodeseek that published it"
    )]
    OtherVersion {
        /// The location of the snapshots.
        location: String,
        /// The key of the object.
        key: String,
    },
    /// A file has no usable key.
    #[error("{path}: {reason}")]
    Key {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Another process uses the cache.
    #[error("the cache {0} is used by another process; choose another folder with --cache")]
    CacheInUse(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The home cannot be copied.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl SnapshotError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }
}
