//! What a harvest did.

use super::Spent;
use lodeseek_catalog::DatasetId;
use serde::Serialize;

/// Something that was not had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// A page, a file or an entry.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// What became of one source.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SourceReport {
    /// The source.
    pub source: String,
    /// What it was read as, in words of [`Form`](lodeseek_catalog::Form).
    pub form: Option<&'static str>,
    /// Whether all that it lists was had, so that what it does not list is gone.
    pub whole: bool,
    /// Pages read.
    pub pages: u64,
    /// Datasets listed, each once.
    pub datasets: u64,
    /// Those of them that were not asked for again: a CKAN portal told that they have not changed, and they are taken as they
    /// were had before.
    pub as_before: u64,
    /// Why a CKAN portal that was known was read whole all the same.
    pub whole_because: Option<String>,
    /// Datasets that another page, or another source, listed before.
    pub repeated: u64,
    /// Pages and entries that were not had.
    pub failed: Vec<Failure>,
    /// What was wrong with its pages otherwise.
    pub problems: Vec<String>,
    /// Datasets that it does not list any more. They are removed if it is whole.
    pub gone: Vec<DatasetId>,
    /// Whether they were removed.
    pub removed: bool,
}

impl SourceReport {
    /// Something of it was not had: what is missing may be there.
    pub(super) fn fail(&mut self, what: &str, reason: impl ToString) {
        self.whole = false;
        self.failed.push(Failure { what: what.to_owned(), reason: reason.to_string() });
    }
}

/// What became of a harvest.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HarvestReport {
    /// Its name.
    pub name: String,
    /// Its sources.
    pub sources: Vec<SourceReport>,
    /// Datasets that are new.
    pub new: Vec<DatasetId>,
    /// Datasets of which something changed.
    pub changed: Vec<DatasetId>,
    /// Datasets that are as they were.
    pub unchanged: u64,
    /// Datasets that stay as they were, since a file of them cannot be had or read.
    pub kept: Vec<DatasetId>,
    /// Files of datasets that are here as they are there.
    pub files: u64,
    /// Those of them that are new or changed.
    pub new_files: u64,
    /// Files of datasets that were not had.
    pub failed_files: Vec<Failure>,
    /// What it cost.
    #[serde(flatten)]
    pub spent: Spent,
}

impl HarvestReport {
    /// Whether every source was read to its end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.sources.iter().all(|source| source.whole)
    }

    /// Whether nothing failed at all.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.is_whole() && self.kept.is_empty() && self.failed_files.is_empty()
    }

    /// Datasets that are gone, of all sources.
    pub fn gone(&self) -> impl Iterator<Item = &DatasetId> {
        self.sources.iter().flat_map(|source| &source.gone)
    }
}
