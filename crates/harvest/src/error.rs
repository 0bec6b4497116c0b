//! What can go wrong in a harvest: as a whole, and with one request.

use lodeseek_net::egress::{EgressError, EgressFault};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a harvest cannot go on. What goes wrong at a portal is in its report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarvestError {
    /// A kept file or the state cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The state is damaged.
    #[error("{path}: {cause}; remove the folder to harvest anew, its datasets are then taken for new ones")]
    State {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: serde_json::Error,
    },
    /// A name that cannot name a folder.
    #[error("{0:?} is no name of a harvest: letters, digits, dots, hyphens and underscores, no dot at the beginning")]
    Name(String),
    /// Another process harvests under this name.
    #[error("another lodeseek process harvests {0} at this moment")]
    InUse(String),
    /// What was harvested cannot be stored; it is kept, and a further run asks for little.
    #[error("what was harvested cannot be stored")]
    Store(#[source] Box<dyn Error + Send + Sync>),
}

impl HarvestError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { path: path.to_owned(), cause }
    }
}

/// Why an address was not had.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error("<{address}>: status {status}")]
    Status { address: String, status: u16, retry_after: Option<Duration> },
    #[error("<{0}>: robots.txt does not allow it")]
    Robots(String),
    #[error("<{0}>: robots.txt cannot be read now, so nothing else is asked there")]
    NoRobots(String),
    #[error("<{address}>: robots.txt wants {seconds:.0} s between requests, which is longer than this harvest waits")]
    CrawlDelay { address: String, seconds: f32 },
    #[error("<{address}>: the file is cut off or damaged ({cause})")]
    Damaged { address: String, cause: io::Error },
    #[error("<{0}>: the answer is another part of the file than was asked for")]
    OtherPart(String),
    #[error("the harvest's budget of {0} is spent")]
    Budget(&'static str),
    #[error("the harvest was given up")]
    Cancelled,
    #[error(transparent)]
    Disk(HarvestError),
}

impl FetchError {
    /// Whether the same request may have luck a moment later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Egress(error) => error.fault.is_transient() || error.fault == EgressFault::Protocol,
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..=599),
            Self::OtherPart(_) => true,
            _ => false,
        }
    }

    /// Whether nothing more is to be asked in this harvest.
    pub(super) fn ends_all(&self) -> bool {
        matches!(self, Self::Budget(_) | Self::Cancelled | Self::Disk(_))
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

impl From<HarvestError> for FetchError {
    fn from(error: HarvestError) -> Self {
        Self::Disk(error)
    }
}
