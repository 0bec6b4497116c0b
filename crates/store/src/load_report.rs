//! Reports of loads.

use super::IdConflict;
use lodeseek_catalog::{DatasetId, Problem, ProblemGroups, Problems};
use lodeseek_rdf::dump::FileReport;
use serde::{Deserialize, Serialize};

/// Outcome of one dataset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatasetOutcome {
    /// New in the store.
    Loaded,
    /// Was there with other content or metadata.
    Replaced,
    /// Was there as it is; nothing was written.
    Unchanged,
    /// Was there, and keeps its previous version: a file of it is missing, damaged, or holds nothing that can be read.
    Kept,
    /// In the catalogue, but without a triple: no dump, or none that could be read.
    MetadataOnly,
}

/// The report of one dataset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DatasetReport {
    /// Its id.
    pub id: DatasetId,
    /// Its title.
    pub title: String,
    /// Outcome.
    pub outcome: DatasetOutcome,
    /// Distinct triples over all its files.
    pub triples: u64,
    /// Triples read, repeated ones counted again.
    pub read: u64,
    /// Statements skipped.
    pub skipped: u64,
    /// Its files.
    pub files: Vec<FileReport>,
    /// Number of files that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_files: usize,
    /// Messages about files that were read, but are not kept for downloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unkept_files: Vec<String>,
}

/// The report of a load.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadReport {
    /// Every dataset, in the order of the catalogue. A [limited](Self::limit) report has those with problems first.
    pub datasets: Vec<DatasetReport>,
    /// Numbers of the datasets that are not listed.
    #[serde(default, skip_serializing_if = "DatasetCounts::is_empty")]
    pub unlisted_datasets: DatasetCounts,
    /// Problems of the catalogue itself.
    pub catalog_problems: Vec<String>,
    /// Problems of the catalogue by kind, those that are not listed included.
    #[serde(default, skip_serializing_if = "ProblemGroups::is_empty")]
    pub catalog_problem_kinds: ProblemGroups,
    /// Later entries of datasets that the catalogue lists twice, which are not loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<String>,
    /// Number of such entries that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_duplicates: usize,
    /// Datasets whose id another source uses: they have another id, or have replaced the other dataset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub id_conflicts: Vec<IdConflict>,
    /// Number of such datasets that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_id_conflicts: usize,
    /// Number of problems of the catalogue that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_catalog_problems: usize,
    /// Graphs of replaced versions that were cleared.
    pub cleared_graphs: usize,
}

/// Numbers of datasets by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DatasetCounts {
    /// Datasets of any outcome.
    pub datasets: usize,
    /// New datasets.
    pub loaded: usize,
    /// Datasets with other content or metadata than before.
    pub replaced: usize,
    /// Datasets that were there as they are.
    pub unchanged: usize,
    /// Datasets that keep their previous version.
    pub kept: usize,
    /// Datasets without a triple.
    pub metadata_only: usize,
    /// Datasets with a file that was not read as it stands.
    pub with_problems: usize,
    /// Distinct triples of all datasets.
    pub triples: u64,
}

impl DatasetCounts {
    fn is_empty(&self) -> bool {
        self.datasets == 0
    }

    fn add(&mut self, dataset: &DatasetReport) {
        let of_outcome = match dataset.outcome {
            DatasetOutcome::Loaded => &mut self.loaded,
            DatasetOutcome::Replaced => &mut self.replaced,
            DatasetOutcome::Unchanged => &mut self.unchanged,
            DatasetOutcome::Kept => &mut self.kept,
            DatasetOutcome::MetadataOnly => &mut self.metadata_only,
        };
        *of_outcome += 1;
        self.datasets += 1;
        self.with_problems += usize::from(!dataset.is_clean());
        self.triples += dataset.triples;
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

impl DatasetReport {
    /// Keeps at most `max` files of all datasets together, those with problems first, and at least one of each dataset. Keeps at
    /// most `max` problems of all files together. The numbers of the others are reported.
    pub fn limit_files(datasets: &mut [Self], max: usize) {
        let mut left = max;
        for dataset in &mut *datasets {
            let listed = left.max(1);
            if dataset.files.len() > listed {
                dataset.files.sort_by_key(FileReport::is_clean);
                dataset.unlisted_files += dataset.files.split_off(listed).len();
            }
            left = left.saturating_sub(dataset.files.len());
        }
        left = max;
        for file in datasets.iter_mut().flat_map(|dataset| &mut dataset.files) {
            let listed = file.problems.len().min(left);
            left -= listed;
            file.unlisted_problems = file
                .unlisted_problems
                .saturating_add((file.problems.len() - listed) as u64);
            file.problems.truncate(listed);
        }
    }

    /// Creates the report of a dataset with so many distinct triples.
    #[must_use]
    pub fn new(id: DatasetId, title: &str, triples: u64, files: Vec<FileReport>) -> Self {
        let read = files
            .iter()
            .map(|file| file.triples)
            .fold(0, u64::saturating_add);
        let skipped = files
            .iter()
            .map(|file| file.skipped)
            .fold(0, u64::saturating_add);
        let (outcome, title) = (DatasetOutcome::Loaded, title.to_owned());
        Self {
            id,
            title,
            outcome,
            triples,
            read,
            skipped,
            files,
            unlisted_files: 0,
            unkept_files: Vec::new(),
        }
    }

    /// Returns true if all files were read as they stand.
    fn is_clean(&self) -> bool {
        self.files.iter().all(FileReport::is_clean)
    }

    /// Returns the number of problems of all files. The counts may come from a worker process, which is not trusted.
    pub(crate) fn problems(&self) -> u64 {
        self.files
            .iter()
            .map(|file| {
                file.unlisted_problems
                    .saturating_add(file.problems.len() as u64)
            })
            .fold(0, u64::saturating_add)
    }
}

impl LoadReport {
    /// Creates a report with the problems of a catalogue.
    #[must_use]
    pub fn of_catalog(problems: Problems, duplicates: Vec<Problem>) -> Self {
        Self {
            catalog_problem_kinds: ProblemGroups::new(&problems),
            catalog_problems: problems.into_texts(),
            duplicates: duplicates.iter().map(ToString::to_string).collect(),
            ..Self::default()
        }
    }

    /// Adds the report of another catalogue.
    pub fn merge(&mut self, other: Self) {
        self.datasets.extend(other.datasets);
        self.catalog_problems.extend(other.catalog_problems);
        self.catalog_problem_kinds
            .merge(other.catalog_problem_kinds);
        self.duplicates.extend(other.duplicates);
        self.id_conflicts.extend(other.id_conflicts);
        self.cleared_graphs += other.cleared_graphs;
    }

    /// Returns the number of entries that are not loaded because the catalogue lists their datasets twice.
    #[must_use]
    pub fn duplicate_count(&self) -> usize {
        self.duplicates.len() + self.unlisted_duplicates
    }

    /// Returns the number of distinct triples of all datasets.
    #[must_use]
    pub fn triples(&self) -> u64 {
        self.counts().triples
    }

    /// Returns the numbers of all datasets, listed or not.
    #[must_use]
    pub fn counts(&self) -> DatasetCounts {
        let mut counts = self.unlisted_datasets;
        self.datasets.iter().for_each(|dataset| counts.add(dataset));
        counts
    }

    /// Keeps at most `max` datasets, those with problems first, and as many problems of the catalogue. [Limits the
    /// files](DatasetReport::limit_files) of the datasets. The numbers of the others are reported.
    pub fn limit(&mut self, max: usize) {
        if self.datasets.len() > max {
            self.datasets.sort_by_key(|dataset| {
                (dataset.outcome != DatasetOutcome::Kept, dataset.is_clean())
            });
            let unlisted = self.datasets.split_off(max);
            unlisted
                .iter()
                .for_each(|dataset| self.unlisted_datasets.add(dataset));
            self.datasets.shrink_to_fit();
        }
        self.unlisted_catalog_problems += self.catalog_problems.len().saturating_sub(max);
        self.catalog_problems.truncate(max);
        self.unlisted_duplicates += self.duplicates.len().saturating_sub(max);
        self.duplicates.truncate(max);
        self.unlisted_id_conflicts += self.id_conflicts.len().saturating_sub(max);
        self.id_conflicts.truncate(max);
        DatasetReport::limit_files(&mut self.datasets, max);
    }

    /// Returns the datasets with a file that was not read as it stands.
    pub fn with_problems(&self) -> impl Iterator<Item = &DatasetReport> {
        self.datasets.iter().filter(|dataset| !dataset.is_clean())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::dump::Outcome;

    #[test]
    fn datasets_and_files_beyond_a_limit_are_counted() {
        let file = |problem: bool| {
            let clean = FileReport {
                outcome: Outcome::Complete,
                problems: Vec::new(),
                ..FileReport::refused("a.nt", "")
            };
            if problem {
                FileReport::unreadable("b.nt", "missing")
            } else {
                clean
            }
        };
        let dataset = |id: &str, files: Vec<FileReport>| DatasetReport {
            triples: 7,
            ..DatasetReport::new(DatasetId::new(id).expect("an id"), "", 7, files)
        };
        let datasets = vec![
            dataset("oaks", vec![file(false)]),
            dataset(
                "elms",
                vec![file(false), file(false), file(true), file(false)],
            ),
            dataset("limes", vec![file(true), file(true)]),
            DatasetReport {
                outcome: DatasetOutcome::Unchanged,
                ..dataset("firs", vec![file(true)])
            },
            DatasetReport {
                outcome: DatasetOutcome::Kept,
                ..dataset("yews", Vec::new())
            },
        ];
        let mut report = LoadReport {
            datasets,
            ..LoadReport::default()
        };
        let counts = report.counts();
        assert_eq!(
            (
                counts.datasets,
                counts.loaded,
                counts.unchanged,
                counts.kept
            ),
            (5, 3, 1, 1)
        );
        assert_eq!((counts.with_problems, counts.triples), (3, 35));
        report.limit(5);
        assert!(
            report.unlisted_datasets == DatasetCounts::default()
                && report.datasets[0].id.as_str() == "oaks"
        );
        assert_eq!(report.datasets[1].files.len(), 4);
        report.limit(3);
        let listed: Vec<_> = report
            .datasets
            .iter()
            .map(|one| (one.id.as_str(), one.files.len(), one.unlisted_files))
            .collect();
        assert_eq!(listed, [("yews", 0, 0), ("elms", 3, 1), ("limes", 1, 1)]);
        assert!(
            !report.datasets[1].files[0].is_clean(),
            "files with problems come first"
        );
        assert_eq!(
            (
                report.unlisted_datasets.datasets,
                report.unlisted_datasets.loaded
            ),
            (2, 1)
        );
        assert_eq!((report.counts(), report.triples()), (counts, 35));
        let json = serde_json::to_string(&report).expect("JSON");
        let read: LoadReport = serde_json::from_str(&json).expect("a report");
        assert_eq!(read.counts(), counts);
    }

    #[test]
    fn problems_beyond_a_limit_are_counted() {
        let dataset = |id: &str| {
            let mut file = FileReport::unreadable("a.nt", "missing");
            file.problems.extend(file.problems.clone());
            DatasetReport::new(DatasetId::new(id).expect("an id"), "", 0, vec![file])
        };
        let datasets = vec![dataset("oaks"), dataset("elms")];
        let catalog_problems = vec!["invalid".to_owned(); 5];
        let mut report = LoadReport {
            datasets,
            catalog_problems,
            ..LoadReport::default()
        };
        report.limit(3);
        assert_eq!(
            (
                report.catalog_problems.len(),
                report.unlisted_catalog_problems
            ),
            (3, 2)
        );
        let files: Vec<_> = report
            .datasets
            .iter()
            .flat_map(|dataset| &dataset.files)
            .collect();
        assert_eq!(
            files
                .iter()
                .map(|file| file.problems.len())
                .collect::<Vec<_>>(),
            [2, 1]
        );
        assert_eq!(
            (files[1].unlisted_problems, report.with_problems().count()),
            (1, 2)
        );
    }
}
