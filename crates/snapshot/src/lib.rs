#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! ```text
//! PREFIX/objects/ab/SHA256           content of a file, or a manifest, named by its SHA-256
//! PREFIX/snapshots/0000000012.json   snapshot 12: the SHA-256 of its manifest, and a summary
//! ```
//!
//! Nothing is ever replaced. A publication writes the missing objects, then the manifest, and last the record of the next
//! number, on the condition that there is none: of two concurrent publications one fails. The snapshot with the highest number
//! is the current one.
//!
//! *Why numbers, and no pointer that is overwritten?* Creating an object on the condition that it does not exist is the one
//! conditional write that all stores have, local folders included. A reader needs one list request to find what is newer, and
//! reads the last record, because the numbers begin again in a location that was emptied.
//!
//! Each record names its number, its home and the record before it, and may be signed: see the module `chain`.

mod cache;
mod chain;
mod error;
mod local;
mod objects;
mod publish;
mod remote;
mod signature;
#[cfg(test)]
mod tests;

pub use cache::{SnapshotCache, SnapshotHome};
pub use error::SnapshotError;
pub use objects::{Fetched, RemoteFiles, StoredObject};
pub use publish::{PublishOptions, PublishReport, Retention, publish};
pub use remote::{
    InvalidLocation, RemoteSnapshots, SnapshotLocation, SnapshotRecord, StorageOptions,
};
pub use signature::{InvalidKey, PublicKey, SigningKey};
