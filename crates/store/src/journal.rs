//! Reports of the latest loads for operators: `home/loads.json`.
//!
//! The catalogue lists the stored datasets. It does not list a dump that could not be read: its dataset is unchanged, or has no
//! content. Each load that changed something or met a problem therefore adds a short report to this file. The file is small for any
//! number of datasets.

use super::load_report::{DatasetOutcome, DatasetReport, LoadReport};
use super::{Stamp, Store, StoreError, graph_file};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::dump::FileReport;
use lodeseek_rdf::vocab::lodeseek;
use oxrdf::NamedNodeRef;
use oxsdatatypes::{DateTime, Double};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Maximum number of loads in the list.
const MAX_LOADS: usize = 20;
/// Maximum number of listed datasets of a load: those that failed, then those with problems, then the others.
const MAX_DATASETS: usize = 20;
/// Maximum length of a problem in characters.
const MAX_MESSAGE_CHARACTERS: usize = 200;

/// Report of an earlier load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastLoad {
    /// Time of the load in seconds since 1970.
    pub time: u64,
    /// Source of the descriptions, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Number of datasets, including unchanged ones.
    pub datasets: usize,
    /// Number of datasets that were added or changed.
    pub written: usize,
    /// Number of distinct triples of all datasets.
    pub triples: u64,
    /// Number of datasets with a file that was not read exactly.
    pub with_problems: usize,
    /// Number of these datasets with a file that was not read to its end.
    pub with_failures: usize,
    /// Number of problems of the catalogue itself.
    pub catalog_problems: usize,
    /// Some of the datasets: failures first, then problems.
    #[serde(alias = "told")]
    pub listed: Vec<PastDataset>,
}

/// Outcome of one dataset in a past load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastDataset {
    /// Id of the dataset.
    pub dataset: DatasetId,
    /// Title at the time of the load.
    pub title: String,
    /// Outcome of the load.
    pub outcome: DatasetOutcome,
    /// Number of distinct triples.
    pub triples: u64,
    /// Number of problems in its files.
    pub problems: u64,
    /// Number of its files that were not read to their end.
    pub failures: usize,
    /// First problem, with its file. Files that were not read to their end have priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_problem: Option<String>,
}

pub(super) fn path(home: &Path) -> PathBuf {
    home.join("loads.json")
}

impl Store {
    /// Returns the latest loads that changed something or met a problem, the latest first.
    pub fn past_loads(&self) -> Result<Vec<PastLoad>, StoreError> {
        let path = path(&self.home);
        let Some(text) = graph_file::read_checked(&path)? else {
            return Ok(Vec::new());
        };
        serde_json::from_slice(&text).map_err(|error| StoreError::Settings {
            path,
            reason: error.to_string(),
        })
    }

    /// Counts the datasets with statements in their files that could not be read.
    pub fn with_skipped_statements(&self) -> Result<u64, StoreError> {
        let (catalog, skipped) = (
            self.iris.catalog(),
            NamedNodeRef::new_unchecked(lodeseek::SKIPPED_STATEMENTS),
        );
        let mut found = self.oxigraph.quads_for_pattern(
            None,
            Some(skipped),
            None,
            Some(catalog.as_ref().into()),
        );
        found
            .try_fold(0, |count, quad| quad.map(|_| count + 1))
            .map_err(Into::into)
    }
}

/// Adds a load to the list, unless its time is unknown, or it changed nothing and met no problem.
pub(super) fn note(store: &Store, report: &LoadReport, stamp: &Stamp) -> Result<(), StoreError> {
    let Some(time) = stamp.now.and_then(unix_seconds) else {
        return Ok(());
    };
    let load = past_load(
        report,
        time,
        stamp
            .origin
            .as_ref()
            .map(|origin| origin.as_str().to_owned()),
    );
    if load.listed.is_empty() && load.catalog_problems == 0 {
        return Ok(());
    }
    let mut loads = store.past_loads().unwrap_or_else(|error| {
        // The datasets are stored: a damaged list must not make the load fail.
        tracing::warn!(%error, "the list of past loads cannot be read; it is replaced");
        Vec::new()
    });
    loads.insert(0, load);
    loads.truncate(MAX_LOADS);
    let path = path(&store.home);
    let text = serde_json::to_vec_pretty(&loads).map_err(|error| StoreError::Settings {
        path: path.clone(),
        reason: error.to_string(),
    })?;
    graph_file::write_checked(&path, &text)
}

fn unix_seconds(time: DateTime) -> Option<u64> {
    let epoch: DateTime = "1970-01-01T00:00:00Z".parse().ok()?;
    let since = f64::from(Double::from(time.checked_sub(epoch)?.as_seconds()));
    (since >= 0.0).then_some(since as u64)
}

fn past_load(report: &LoadReport, time: u64, origin: Option<String>) -> PastLoad {
    let mut listed: Vec<PastDataset> = report
        .datasets
        .iter()
        .filter(|dataset| is_written(dataset) || has_problem(dataset))
        .map(past_dataset)
        .collect();
    let with_failures = listed.iter().filter(|dataset| dataset.failures > 0).count();
    listed.sort_by_key(|dataset| (dataset.failures == 0, dataset.problems == 0));
    listed.truncate(MAX_DATASETS);
    PastLoad {
        time,
        origin,
        datasets: report.datasets.len(),
        written: report
            .datasets
            .iter()
            .filter(|dataset| is_written(dataset))
            .count(),
        triples: report.triples(),
        with_problems: report
            .datasets
            .iter()
            .filter(|one| has_problem(one))
            .count(),
        with_failures,
        catalog_problems: report.catalog_problems.len(),
        listed,
    }
}

fn is_written(report: &DatasetReport) -> bool {
    !matches!(
        report.outcome,
        DatasetOutcome::Unchanged | DatasetOutcome::Kept
    )
}

/// Returns true if a file was not read exactly. Files that are on the web are only described.
fn has_problem(report: &DatasetReport) -> bool {
    read_files(report).any(|file| !file.is_clean())
}

/// Iterates over the files that a load was to read.
fn read_files(report: &DatasetReport) -> impl Iterator<Item = &FileReport> {
    report.files.iter().filter(|file| !file.is_on_web())
}

fn past_dataset(report: &DatasetReport) -> PastDataset {
    let failed = read_files(report).find(|file| file.outcome.is_failure());
    // The last problem of a file is the reason for which reading ended.
    let last = failed.and_then(|file| Some((file, file.problems.last()?)));
    let problem = last
        .or_else(|| read_files(report).find_map(|file| Some((file, file.problems.first()?))))
        .map(|(file, problem)| format!("{}: {problem}", file.file));
    let on_web: u64 = report
        .files
        .iter()
        .filter(|file| file.is_on_web())
        .map(|file| file.problems.len() as u64)
        .sum();
    PastDataset {
        dataset: report.id.clone(),
        title: report.title.chars().take(MAX_MESSAGE_CHARACTERS).collect(),
        outcome: report.outcome,
        triples: report.triples,
        problems: report.problems().saturating_sub(on_web),
        failures: read_files(report)
            .filter(|file| file.outcome.is_failure())
            .count(),
        first_problem: problem
            .map(|problem| problem.chars().take(MAX_MESSAGE_CHARACTERS).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::Iris;
    use lodeseek_rdf::dump::Outcome;
    use std::fs;

    fn dataset(id: &str, outcome: DatasetOutcome, files: Vec<FileReport>) -> DatasetReport {
        let id = DatasetId::new(id).expect("an id");
        let (title, unlisted_files) = (format!("The {id}"), 0);
        DatasetReport {
            title,
            id,
            outcome,
            triples: 3,
            read: 3,
            skipped: 0,
            files,
            unlisted_files,
            unkept_files: Vec::new(),
        }
    }

    fn store(home: &Path) -> Store {
        Store::in_memory(home, Iris::new(Iris::DEFAULT_BASE).expect("the default"))
            .expect("a store")
    }

    fn stamp(seconds: u32) -> Stamp {
        Stamp {
            now: format!("1970-01-02T00:00:{seconds:02}.5Z").parse().ok(),
            origin: None,
        }
    }

    #[test]
    fn counts_of_worker_processes_do_not_overflow() {
        let file = FileReport {
            unlisted_problems: u64::MAX,
            ..FileReport::refused("a.ttl", "a statement")
        };
        let mut report = dataset("a", DatasetOutcome::Loaded, vec![file.clone(), file]);
        assert_eq!(report.problems(), u64::MAX);
        DatasetReport::limit_files(std::slice::from_mut(&mut report), 0);
        assert_eq!(
            (report.files[0].unlisted_problems, report.unlisted_files),
            (u64::MAX, 1)
        );
    }

    #[test]
    fn failures_are_listed_first_and_lists_are_short() {
        let home = tempfile::tempdir().expect("a folder");
        let store = store(home.path());
        assert_eq!(store.past_loads().expect("read"), []);
        let mut datasets: Vec<DatasetReport> = (0..30)
            .map(|number| dataset(&format!("d{number}"), DatasetOutcome::Loaded, Vec::new()))
            .collect();
        let mut skipped = FileReport::refused("a.ttl", "a statement");
        skipped.outcome = Outcome::Skipped;
        datasets.push(dataset("skipped", DatasetOutcome::Replaced, vec![skipped]));
        datasets.push(dataset(
            "kept",
            DatasetOutcome::Kept,
            vec![FileReport::unreadable("b.ttl", "no such file")],
        ));
        datasets.push(dataset("same", DatasetOutcome::Unchanged, Vec::new()));
        let report = LoadReport {
            datasets,
            catalog_problems: vec!["an id".to_owned()],
            ..LoadReport::default()
        };
        note(&store, &report, &stamp(7)).expect("noted");
        let [load] = store
            .past_loads()
            .expect("read")
            .try_into()
            .expect("one load");
        assert_eq!(
            (load.time, load.datasets, load.written, load.triples),
            (86_407, 33, 31, 99)
        );
        assert_eq!(
            (
                load.with_problems,
                load.with_failures,
                load.catalog_problems
            ),
            (2, 1, 1)
        );
        let ids: Vec<&str> = load
            .listed
            .iter()
            .map(|dataset| dataset.dataset.as_str())
            .collect();
        assert_eq!(
            (&ids[..3], ids.len()),
            (&["kept", "skipped", "d0"][..], MAX_DATASETS)
        );
        assert_eq!(
            load.listed[0].first_problem.as_deref(),
            Some("b.ttl: no such file")
        );
        assert_eq!(
            (
                load.listed[0].failures,
                load.listed[1].failures,
                load.listed[1].problems
            ),
            (1, 0, 1)
        );
    }

    #[test]
    fn the_latest_loads_with_changes_are_listed() {
        let home = tempfile::tempdir().expect("a folder");
        let store = store(home.path());
        let of = |outcome| LoadReport {
            datasets: vec![dataset("a", outcome, Vec::new())],
            ..LoadReport::default()
        };
        for second in 0..30 {
            note(&store, &of(DatasetOutcome::Loaded), &stamp(second)).expect("noted");
            note(&store, &of(DatasetOutcome::Unchanged), &stamp(59)).expect("noted");
            note(&store, &of(DatasetOutcome::Loaded), &Stamp::default()).expect("noted");
        }
        let times: Vec<u64> = store
            .past_loads()
            .expect("read")
            .iter()
            .map(|load| load.time)
            .collect();
        assert_eq!(
            times,
            (10..30)
                .rev()
                .map(|second| 86_400 + second)
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_damaged_list_is_reported_and_replaced() {
        let home = tempfile::tempdir().expect("a folder");
        let store = store(home.path());
        fs::write(path(home.path()), "[{").expect("written");
        let error = store.past_loads().expect_err("broken").to_string();
        assert!(
            error.contains("loads.json") && error.contains("EOF"),
            "{error}"
        );
        let report = LoadReport {
            catalog_problems: vec!["no title".to_owned()],
            ..LoadReport::default()
        };
        note(&store, &report, &stamp(1)).expect("noted");
        assert_eq!(store.past_loads().expect("read").len(), 1);
    }
}
