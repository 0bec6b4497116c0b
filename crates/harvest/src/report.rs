//! Reports on a harvest and its sources.

use super::Usage;
use lodeseek_catalog::DatasetId;
use serde::{Deserialize, Serialize};

/// A page, file or entry that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Address of the page or file, or key of the entry.
    pub what: String,
    /// Reason of the failure.
    pub reason: String,
}

/// Report on one source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceReport {
    /// Address or path of the source.
    pub source: String,
    /// Name of the [`Dialect`](lodeseek_catalog::Dialect) it was read as.
    pub form: Option<String>,
    /// If true, the source was read completely, so that datasets it does not list are delisted.
    pub whole: bool,
    /// Number of pages read.
    pub pages: u64,
    /// Number of distinct datasets listed.
    pub datasets: u64,
    /// Number of these datasets that were not requested again, because a CKAN portal reports them as unchanged. Their cached
    /// descriptions are used.
    pub not_requested: u64,
    /// Reason why a CKAN portal was read completely although an earlier harvest had read it.
    pub complete_reason: Option<String>,
    /// Number of datasets that an earlier page or source had listed.
    pub repeated: u64,
    /// Pages and entries that could not be read.
    pub failed: Vec<Failure>,
    /// Other problems of its pages.
    pub problems: Vec<String>,
    /// Delisted datasets: no longer listed by the source. They are removed if `whole` is true.
    pub gone: Vec<DatasetId>,
    /// If true, the delisted datasets were removed.
    pub removed: bool,
}

impl SourceReport {
    /// Records a failure and marks the source as incomplete.
    pub(super) fn fail(&mut self, what: &str, reason: impl ToString) {
        self.whole = false;
        self.failed.push(Failure { what: what.to_owned(), reason: reason.to_string() });
    }
}

/// Report on one harvest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HarvestReport {
    /// Name of the harvest.
    pub name: String,
    /// Reports on its sources.
    pub sources: Vec<SourceReport>,
    /// New datasets.
    pub new: Vec<DatasetId>,
    /// Changed datasets.
    pub changed: Vec<DatasetId>,
    /// Number of unchanged datasets.
    pub unchanged: u64,
    /// Datasets whose stored version was retained, because a file is missing or unreadable.
    pub kept: Vec<DatasetId>,
    /// Number of up-to-date files of datasets.
    pub files: u64,
    /// Number of these files that are new or changed.
    pub new_files: u64,
    /// Files of datasets that could not be fetched.
    pub failed_files: Vec<Failure>,
    /// Requests and bytes used.
    #[serde(flatten)]
    pub spent: Usage,
}

impl HarvestReport {
    /// Returns true if every source was read completely.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.sources.iter().all(|source| source.whole)
    }

    /// Returns true if there were no failures.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.is_whole() && self.kept.is_empty() && self.failed_files.is_empty()
    }

    /// Yields the delisted datasets of all sources.
    pub fn gone(&self) -> impl Iterator<Item = &DatasetId> {
        self.sources.iter().flat_map(|source| &source.gone)
    }
}
