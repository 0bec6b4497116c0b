//! Errors of a harvest as a whole, and of one request.

use lodeseek_net::egress::{EgressError, EgressFault};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Errors that abort a harvest. Failures of a portal are recorded in its report instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarvestError {
    /// A cached file or the state cannot be read or written.
    #[error("cannot access {path}: {cause}")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// The state file is damaged.
    #[error(
        "cannot read the harvest state {path}: {cause}; remove its folder to harvest again (all datasets then count as new)"
    )]
    State {
        /// Path of the state file.
        path: PathBuf,
        /// Error of the JSON parser.
        cause: serde_json::Error,
    },
    /// The name is not a valid folder name.
    #[error(
        "{0:?} is not a valid harvest name; use 1 to 100 letters, digits, dots, hyphens and underscores, not starting with a dot"
    )]
    Name(String),
    /// Another process is using this name.
    #[error("another lodeseek process is harvesting {0}; wait until it ends")]
    InUse(String),
    /// The sink failed. Fetched files stay cached, so that the next run needs few requests.
    #[error(
        "cannot store harvested datasets; the fetched files are cached, so run the command again"
    )]
    Store(#[source] Box<dyn Error + Send + Sync>),
}

impl HarvestError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }
}

/// Reasons why an address could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error("<{address}>: status {status}")]
    Status {
        address: String,
        status: u16,
        retry_after: Option<Duration>,
    },
    #[error("<{0}>: robots.txt does not allow it")]
    RobotsDisallowed(String),
    #[error("<{0}>: robots.txt is unreachable, so the host is not accessed now")]
    RobotsUnreachable(String),
    #[error(
        "<{address}>: the crawl delay of {seconds:.0} s in robots.txt exceeds the accepted maximum"
    )]
    CrawlDelay { address: String, seconds: f32 },
    #[error("<{address}>: the file is truncated or damaged ({cause})")]
    Damaged { address: String, cause: io::Error },
    #[error("<{0}>: the response contains another range of the file than requested")]
    WrongRange(String),
    #[error("<{0}>: the endpoint states that its answer is incomplete")]
    PartialAnswer(String),
    #[error(
        "<{address}>: the host sent nothing for {seconds} s; this harvest does not request it again"
    )]
    Silent { address: String, seconds: u64 },
    #[error("the harvest's budget of {0} is exhausted")]
    Budget(&'static str),
    #[error("the harvest was cancelled")]
    Cancelled,
    #[error(transparent)]
    Disk(HarvestError),
}

impl FetchError {
    /// Returns true if the same request may succeed later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Egress(error) => {
                error.fault.is_transient() || error.fault == EgressFault::Protocol
            }
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..=599),
            Self::WrongRange(_) => true,
            _ => false,
        }
    }

    /// Returns true if the host sent no response, or none to its end.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            Self::Silent { .. } => true,
            Self::Egress(error) => matches!(
                error.fault,
                EgressFault::TimedOut | EgressFault::Connect(_) | EgressFault::Broken(_)
            ),
            _ => false,
        }
    }

    /// Returns the address of the host to which no connection was possible: that of a redirect, too.
    pub(super) fn unreachable_address(&self) -> Option<&str> {
        match self {
            Self::Egress(error) if matches!(error.fault, EgressFault::Connect(_)) => {
                Some(&error.iri)
            }
            _ => None,
        }
    }

    /// Returns true if the harvest sends no further requests.
    pub(super) fn is_fatal(&self) -> bool {
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
