//! Reports on a harvest and its sources.

use super::Usage;
use lodeseek_catalog::{DatasetId, Problem, ProblemGroups};
use serde::{Deserialize, Serialize};

/// Maximum number of listed failures of a source, and of listed files that could not be fetched. Others are counted.
const MAX_FAILURES: usize = 1000;
/// Maximum number of problems reported for one source.
const MAX_PROBLEMS: usize = 1000;
/// Maximum size in bytes of a text about a failure or a problem.
const MAX_TEXT_BYTES: usize = 2000;

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
    /// Number of failures that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_failed: usize,
    /// Other problems of its pages.
    pub problems: Vec<String>,
    /// Number of problems that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_problems: usize,
    /// Problems of its pages by kind, those that are not listed included.
    #[serde(default, skip_serializing_if = "ProblemGroups::is_empty")]
    pub problem_kinds: ProblemGroups,
    /// Delisted datasets: no longer listed by the source. They are removed if `whole` is true.
    pub gone: Vec<DatasetId>,
    /// Number of delisted datasets that are not listed here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_gone: usize,
    /// If true, the delisted datasets were removed.
    pub removed: bool,
}

impl SourceReport {
    /// Returns the number of delisted datasets, listed here or not.
    fn gone_count(&self) -> usize {
        self.gone.len() + self.unlisted_gone
    }

    fn has_failures(&self) -> bool {
        !self.failed.is_empty() || self.unlisted_failed > 0
    }

    /// Records a failure and marks the source as incomplete.
    pub(super) fn fail(&mut self, what: &str, reason: impl ToString) {
        self.whole = false;
        add_failure(&mut self.failed, &mut self.unlisted_failed, what, reason);
    }

    /// Records a failure that leaves the source complete.
    pub(super) fn add_failure(&mut self, reason: &str) {
        add_failure(&mut self.failed, &mut self.unlisted_failed, "", reason);
    }

    /// Lists problems, or counts them if the list is full.
    pub(super) fn add_problems(&mut self, problems: &[Problem]) {
        self.problem_kinds.add(problems);
        for problem in problems {
            if self.problems.len() < MAX_PROBLEMS {
                self.problems.push(shorten_text(problem));
            } else {
                self.unlisted_problems += 1;
            }
        }
    }
}

/// Adds a failure to a list; if the list is full, to the number of the others.
fn add_failure(list: &mut Vec<Failure>, unlisted: &mut usize, what: &str, reason: impl ToString) {
    if list.len() < MAX_FAILURES {
        list.push(Failure {
            what: shorten_text(what),
            reason: shorten_text(&reason.to_string()),
        });
    } else {
        *unlisted += 1;
    }
}

/// Returns the first [`MAX_TEXT_BYTES`] of a text: addresses and values of a portal may have any length.
pub(super) fn shorten_text(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()
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
    /// Number of new datasets that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_new: usize,
    /// Changed datasets.
    pub changed: Vec<DatasetId>,
    /// Number of changed datasets that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_changed: usize,
    /// Number of unchanged datasets.
    pub unchanged: u64,
    /// Datasets whose stored version was retained, because a file is missing or unreadable.
    pub kept: Vec<DatasetId>,
    /// Number of retained datasets that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_kept: usize,
    /// Number of up-to-date files of datasets.
    pub files: u64,
    /// Number of these files that are new or changed.
    pub new_files: u64,
    /// Files of datasets that could not be fetched.
    pub failed_files: Vec<Failure>,
    /// Number of such files that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_failed_files: usize,
    /// Requests and bytes used.
    #[serde(flatten)]
    pub spent: Usage,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// Numbers of datasets and files of a harvest, listed in its report or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HarvestCounts {
    /// New datasets.
    pub new: usize,
    /// Changed datasets.
    pub changed: usize,
    /// Datasets whose stored version was retained.
    pub kept: usize,
    /// Delisted datasets.
    pub gone: usize,
    /// Delisted datasets that were removed.
    pub removed: usize,
    /// Files that could not be fetched.
    pub failed_files: usize,
}

/// Removes the entries of a list beyond the first `max`, and adds their number to `unlisted`.
fn truncate_list<T>(list: &mut Vec<T>, unlisted: &mut usize, max: usize) {
    *unlisted += list.len().saturating_sub(max);
    list.truncate(max);
    list.shrink_to_fit();
}

impl HarvestReport {
    /// Records a file that could not be fetched.
    pub(super) fn fail_file(&mut self, address: &str, reason: &str) {
        add_failure(
            &mut self.failed_files,
            &mut self.unlisted_failed_files,
            address,
            reason,
        );
    }

    /// Keeps at most `max` entries of each list; those of all sources count together. The numbers of the others are reported.
    pub fn limit(&mut self, max: usize) {
        truncate_list(&mut self.new, &mut self.unlisted_new, max);
        truncate_list(&mut self.changed, &mut self.unlisted_changed, max);
        truncate_list(&mut self.kept, &mut self.unlisted_kept, max);
        truncate_list(&mut self.failed_files, &mut self.unlisted_failed_files, max);
        let [mut failed, mut problems, mut gone] = [max; 3];
        for source in &mut self.sources {
            truncate_list(&mut source.failed, &mut source.unlisted_failed, failed);
            truncate_list(
                &mut source.problems,
                &mut source.unlisted_problems,
                problems,
            );
            truncate_list(&mut source.gone, &mut source.unlisted_gone, gone);
            failed -= source.failed.len();
            problems -= source.problems.len();
            gone -= source.gone.len();
        }
    }

    /// Returns the numbers of datasets and files.
    #[must_use]
    pub fn counts(&self) -> HarvestCounts {
        HarvestCounts {
            new: self.new.len() + self.unlisted_new,
            changed: self.changed.len() + self.unlisted_changed,
            kept: self.kept.len() + self.unlisted_kept,
            gone: self.sources.iter().map(SourceReport::gone_count).sum(),
            removed: self
                .sources
                .iter()
                .filter(|source| source.removed)
                .map(SourceReport::gone_count)
                .sum(),
            failed_files: self.failed_files.len() + self.unlisted_failed_files,
        }
    }

    /// Returns true if every source was read completely.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.sources.iter().all(|source| source.whole)
    }

    /// Returns true if there were no failures.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let HarvestCounts {
            kept, failed_files, ..
        } = self.counts();
        self.is_whole()
            && kept == 0
            && failed_files == 0
            && !self.sources.iter().any(SourceReport::has_failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(count: usize) -> Vec<DatasetId> {
        (0..count)
            .map(|number| DatasetId::new(format!("d{number}")).expect("an id"))
            .collect()
    }

    #[test]
    fn lists_are_limited_and_counted() {
        let source = |gone: usize, removed| {
            let mut source = SourceReport {
                gone: ids(gone),
                removed,
                whole: true,
                ..SourceReport::default()
            };
            source.problems = vec!["no title".to_owned(); gone];
            source
        };
        let mut report = HarvestReport {
            sources: vec![source(2, true), source(5, false), source(1, true)],
            new: ids(9),
            kept: ids(1),
            ..HarvestReport::default()
        };
        let counts = report.counts();
        assert_eq!(
            counts,
            HarvestCounts {
                new: 9,
                changed: 0,
                kept: 1,
                gone: 8,
                removed: 3,
                failed_files: 0
            }
        );
        let unlimited = serde_json::to_string(&report).expect("JSON");
        assert!(!unlimited.contains("unlisted"), "{unlimited}");
        report.limit(4);
        report.limit(4);
        assert_eq!((report.new.len(), report.unlisted_new), (4, 5));
        let gone: Vec<_> = report
            .sources
            .iter()
            .map(|one| (one.gone.len(), one.unlisted_gone))
            .collect();
        assert_eq!(gone, [(2, 0), (2, 3), (0, 1)]);
        assert_eq!(
            (
                report.sources[1].problems.len(),
                report.sources[1].unlisted_problems
            ),
            (2, 3)
        );
        let json = serde_json::to_string(&report).expect("JSON");
        let mut read: HarvestReport = serde_json::from_str(&json).expect("a report");
        assert_eq!(read.counts(), counts);
        read.limit(0);
        assert!(
            read.kept.is_empty() && !read.is_clean(),
            "what is not listed counts"
        );
    }

    #[test]
    fn failures_are_limited_while_they_are_recorded() {
        let (mut source, mut report) = (SourceReport::default(), HarvestReport::default());
        let long = "é".repeat(MAX_TEXT_BYTES);
        for _ in 0..MAX_FAILURES + 5 {
            source.fail(&long, &long);
            report.fail_file(&long, &long);
        }
        for (list, unlisted) in [
            (&source.failed, source.unlisted_failed),
            (&report.failed_files, report.unlisted_failed_files),
        ] {
            assert_eq!((list.len(), unlisted), (MAX_FAILURES, 5));
            let is_short =
                |failure: &Failure| failure.what.len().max(failure.reason.len()) <= MAX_TEXT_BYTES;
            assert!(list.iter().all(is_short));
        }
    }
}
