//! Control of a running change: progress, cancellation, and the reasons why a change is not made.

use crate::jobs::Progress;
use crate::report::ChangeReport;
use crate::tokens::Rights;
use lodeseek_catalog::CatalogError;
use lodeseek_engine::EngineError;
use lodeseek_net::egress::Cancellation;
use lodeseek_snapshot::SnapshotError;
use lodeseek_store::StoreError;
use std::error::Error;
use std::path::Path;

/// Message of a change that a full disk prevents.
pub const DISK_FULL: &str =
    "the server's disk is full; nothing was changed; free space on it and send the request again";

/// Outcome of a job.
pub(crate) enum Outcome {
    Done(ChangeReport),
    Failed(String),
    /// The change was not made, because the disk is full.
    DiskFull,
    /// The change was not made: a condition of its client does not hold.
    ConditionFailed(String),
    Cancelled,
}

/// Progress and cancellation of a change that is made.
pub struct Control {
    cancellation: Cancellation,
    rights: Rights,
    report: Box<dyn Fn(Progress) + Send + Sync>,
}

impl Control {
    /// Creates the control of a change of a user of this machine. `report` is called with its progress.
    pub fn new(
        cancellation: Cancellation,
        report: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Self {
        Self {
            cancellation,
            rights: Rights::default(),
            report: Box::new(report),
        }
    }

    /// Sets the rights of the client, which are checked before each step.
    pub(crate) fn with_rights(self, rights: Rights) -> Self {
        Self { rights, ..self }
    }

    /// Ends the change here if its cancellation was requested, or if its client lost the rights.
    pub(crate) fn check(&self) -> Result<(), ChangeError> {
        if self.cancellation.is_cancelled() {
            return Err(ChangeError::Cancelled);
        }
        self.rights.check().map_err(ChangeError::Failed)
    }

    pub(crate) fn report(&self, done: usize, total: usize) {
        self.report_progress(Progress {
            done,
            total,
            ..Progress::default()
        });
    }

    pub(crate) fn report_progress(&self, progress: Progress) {
        (self.report)(progress);
    }

    /// Returns the cancellation of requests that the change sends.
    pub(crate) fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }
}

/// Reason why a change was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// Its cancellation was requested.
    #[error("the change was cancelled")]
    Cancelled,
    /// The change cannot be made.
    #[error("{0}")]
    Failed(String),
    /// A condition of the client does not hold.
    #[error("{0}")]
    ConditionFailed(String),
    /// The store, the index or a file of the home failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A source cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A publication failed.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A harvest failed.
    #[error(transparent)]
    Harvest(Box<dyn Error + Send + Sync>),
}

impl From<StoreError> for ChangeError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

/// Returns the outcome of a failed change. Paths of the home are no concern of clients.
pub(crate) fn failure_outcome(error: &str, home: &Path) -> Outcome {
    if is_full_disk(error) {
        tracing::error!(error, "the disk is full");
        return Outcome::DiskFull;
    }
    let mut error = error.to_owned();
    // Messages may contain the path with or without symbolic links.
    for home in [Some(home.to_owned()), home.canonicalize().ok()]
        .iter()
        .flatten()
    {
        error = error.replace(&format!("{}/", home.display()), "");
    }
    Outcome::Failed(error)
}

/// Returns true if a message contains the cause of a full disk or of an exhausted quota. RocksDB, tantivy and worker processes report
/// it as a text only.
fn is_full_disk(error: &str) -> bool {
    let signs = [
        "No space left on device",
        "Disk quota exceeded",
        "not enough space on the disk",
    ];
    signs.iter().any(|sign| error.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_contain_no_paths_of_the_home() {
        let home = Path::new("/srv/lodeseek");
        let Outcome::Failed(error) =
            failure_outcome("/srv/lodeseek/works/works.jsonl: damaged", home)
        else {
            panic!("it failed");
        };
        assert_eq!(error, "works/works.jsonl: damaged");
        for text in [
            "/srv/lodeseek/uploads/1/a.nt: No space left on device (os error 28)",
            "store: IO error: No space left on device: While appending to file: /srv/lodeseek/store/000012.sst",
            "/srv/lodeseek/index: Disk quota exceeded (os error 122)",
        ] {
            assert!(
                matches!(failure_outcome(text, home), Outcome::DiskFull),
                "{text}"
            );
        }
    }
}
