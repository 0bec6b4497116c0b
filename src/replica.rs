//! Settings of servers that serve snapshots (`serve --snapshot`), and the access to storage.

use super::config::Config;
use anyhow::Context;
use lodeseek_cli::encoder::user_cache_folder;
use lodeseek_snapshot::{
    PublicKey, RemoteSnapshots, SnapshotCache, SnapshotLocation, StorageOptions,
};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default time between two checks for a new snapshot.
pub(crate) const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);

/// Returns the access to storage that the environment configures.
pub(super) fn storage_options() -> StorageOptions {
    let variables = std::env::vars_os();
    StorageOptions::from_variables(
        variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }),
    )
}

/// Returns the time between two checks for a new snapshot.
pub(super) fn interval(config: &Config) -> Duration {
    match config.settings.server.snapshot_interval {
        Some(seconds) => Duration::from_secs(seconds.get()),
        None => DEFAULT_INTERVAL,
    }
}

/// Opens the cache of a location in a folder, by default one of the user's cache folder. With a file of a public key, only snapshots
/// with its signature are accepted.
///
/// # Errors
/// If the key cannot be read, no folder is given and the user has no cache folder, or if the cache cannot be opened.
pub(super) fn open_cache(
    location: &SnapshotLocation,
    folder: Option<&Path>,
    key: Option<&Path>,
) -> anyhow::Result<SnapshotCache> {
    let key = key.map(PublicKey::read).transpose()?;
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => default_folder(location)
            .context("the user has no cache folder; choose one with --cache")?,
    };
    let remote = RemoteSnapshots::open(location, &storage_options())?;
    Ok(SnapshotCache::open(&folder, remote)?.with_key(key))
}

/// Returns the default folder of a location. Its name is derived from the location.
fn default_folder(location: &SnapshotLocation) -> Option<PathBuf> {
    let hash = Sha256::digest(location.to_string());
    let name: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Some(user_cache_folder()?.join("lodeseek/snapshots").join(name))
}
