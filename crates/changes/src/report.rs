//! Reports of changes: the same for a command and for a job of a server.

use crate::harvests::HarvestOutcome;
use crate::stored_schedules::Scheduled;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{AddedWorks, BackupReport};
use lodeseek_snapshot::PublishReport;
use lodeseek_store::LoadReport;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of reasons in the message of a harvest without a catalogue.
const MAX_REASONS: usize = 5;

/// Report of a change that was made.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ChangeReport {
    /// Report of an upload or an edit of one dataset.
    Dataset(Value),
    /// Report of a load.
    Load(Box<LoadOutcome>),
    /// Report of added works.
    Works(AddedWorks),
    /// Report of harvests.
    Harvest(Harvests),
    /// Report of a change of a schedule.
    Schedule(Scheduled),
    /// Report of a removal.
    Remove(Removed),
    /// Report of indexing.
    Index(Indexed),
    /// Report of a backup.
    Backup(BackupReport),
    /// Report of a publication.
    Publish(PublishReport),
}

/// Report of a load.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// Datasets and problems.
    #[serde(flatten)]
    pub report: LoadReport,
    /// Places of the sources whose datasets may be missing, because a file or an entry is truncated or cannot be read.
    #[serde(default)]
    pub incomplete_sources: Vec<usize>,
    /// Dumps of a folder that were assigned to the datasets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_dumps: Option<Assigned>,
}

/// Dumps of a folder that were assigned to datasets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Assigned {
    /// Number of datasets with at least one dump.
    pub datasets: usize,
    /// Datasets without a dump.
    pub missing: Vec<DatasetId>,
    /// Number of files directly in the folder that belong to no dataset.
    pub unused_files: usize,
}

/// Report of harvests.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Harvests {
    /// One outcome for each harvest.
    pub harvests: Vec<HarvestOutcome>,
    /// If true, the harvest was cancelled: batches that were stored are kept.
    #[serde(skip)]
    pub is_cancelled: bool,
}

impl Harvests {
    /// Returns the reason why the harvests as a whole failed, if they found no catalogue.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        if self.harvests.iter().any(HarvestOutcome::has_catalog) {
            return None;
        }
        let sources = self
            .harvests
            .iter()
            .flat_map(|outcome| &outcome.harvest.sources);
        let failures = sources.flat_map(|source| &source.failed);
        let mut reasons = vec!["no catalogue was found in the sources".to_owned()];
        reasons.extend(
            failures
                .take(MAX_REASONS)
                .map(|failure| failure.reason.clone()),
        );
        Some(reasons.join("; "))
    }
}

/// Report of a removal.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Removed {
    /// Number of datasets or works that were removed.
    pub removed: usize,
}

/// Report of indexing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Indexed {
    /// Number of datasets that were indexed.
    pub indexed: usize,
    /// Number of datasets that were removed from the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
}

impl ChangeReport {
    /// Returns the report as JSON.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn to_json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}
