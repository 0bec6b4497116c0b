//! State of changes: what a request for a change needs beside the home.

use super::management::Management;
use crate::AppState;
use axum::extract::FromRef;
use lodeseek_changes::{ScheduledSource, SettingFiles, Turns};
use lodeseek_net::egress::IpNet;
use lodeseek_snapshot::StorageOptions;
use std::path::Path;
use std::sync::Arc;

/// Queue and settings of the changes of the collection.
#[derive(Clone, Default)]
pub(crate) struct ChangeState {
    /// Tokens and jobs; `None` if the collection cannot be changed over HTTP.
    pub(crate) management: Option<Arc<Management>>,
    /// Order of the changes of the collection.
    pub(crate) turns: Arc<Turns>,
    /// Private networks to which requests of the administration may be sent.
    pub(crate) private_networks: Arc<[IpNet]>,
    /// Access to storage, for the publication of snapshots.
    pub(crate) storage: Arc<StorageOptions>,
    /// Reader of the files that the settings name, for backups.
    pub(crate) setting_files: SettingFiles,
    /// Folder of the backups that operators request in a browser.
    pub(crate) backup_folder: Option<Arc<Path>>,
    /// Sources of the configuration that a background task harvests.
    pub(crate) schedule: Arc<[ScheduledSource]>,
}

impl FromRef<AppState> for ChangeState {
    fn from_ref(state: &AppState) -> Self {
        state.changes.clone()
    }
}
