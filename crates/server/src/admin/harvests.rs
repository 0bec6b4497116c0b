//! Harvests into the home that is served: by schedule, or as a job.
//!
//! One harvest runs at a time. It locks changes for each batch only, so that other changes go between its batches.

use super::Live;
use super::changes::{Control, Failure, MAX_LISTED};
use super::jobs::{Progress, is_zero};
use crate::parsing::{Parser, loaded_keys, remove_conflicts, store_outcome};
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_harvest::{
    Batch, DatasetSink, HarvestOptions, HarvestProgress, HarvestReport, HarvestRequest, Harvester,
    StoreOutcome, is_address,
};
use lodeseek_net::egress::Egress;
use lodeseek_rdf::dump::Outcome;
use lodeseek_store::{DatasetReport, LoadOptions, LoadSource, Stamp};
use oxrdf::NamedNode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of datasets of one batch. Other changes wait for one batch at most.
const MAX_BATCH_DATASETS: usize = 200;
/// Interval at which a harvest that waits for another one checks for its cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Outcome of one harvest, as its report file contains it.
#[derive(Debug, Serialize, Deserialize)]
pub struct HarvestOutcome {
    /// Sources and datasets.
    #[serde(flatten)]
    pub harvest: HarvestReport,
    /// Datasets with a file that could not be read completely, as [`DatasetReport`].
    pub problems: Vec<Value>,
    /// Number of such datasets that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_problems: usize,
    /// Duration in seconds.
    pub seconds: f64,
}

impl HarvestOutcome {
    /// Combines the reports on a harvest.
    ///
    /// # Errors
    /// If a report cannot be written as JSON.
    pub fn new(
        harvest: HarvestReport,
        problems: &[DatasetReport],
        started: Instant,
    ) -> serde_json::Result<Self> {
        let problems = problems
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            harvest,
            problems,
            unlisted_problems: 0,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// Returns true if at least one source is a catalogue.
    #[must_use]
    pub fn has_catalog(&self) -> bool {
        self.harvest
            .sources
            .iter()
            .any(|source| source.form.is_some())
    }
}

/// Returns true if a file could not be read completely. Files that were not to be downloaded do not count.
#[must_use]
pub fn has_unread_file(dataset: &DatasetReport) -> bool {
    dataset
        .files
        .iter()
        .any(|file| !file.is_clean() && file.outcome != Outcome::Refused)
}

/// Harvests as a job. The result has one outcome for each harvest. A cancellation keeps the batches that are stored.
pub(super) fn harvest(
    request: &HarvestRequest,
    live: &Live,
    control: &Control,
) -> Result<Value, Failure> {
    let _harvest = acquire(live, control)?;
    let mut outcomes: Vec<HarvestOutcome> = Vec::new();
    let groups = request.groups();
    // The bound is that of the job.
    let max_listed = MAX_LISTED / groups.len().max(1);
    for sources in groups {
        control.check()?;
        let earlier = outcomes
            .iter()
            .flat_map(|outcome| &outcome.harvest.sources)
            .map(|source| source.datasets)
            .sum();
        let outcome = harvest_group(request, sources, live, control, earlier, max_listed);
        outcomes.push(outcome.map_err(|error| failed(error.as_ref()))?);
    }
    control.check()?;
    if !outcomes.iter().any(HarvestOutcome::has_catalog) {
        let failed = outcomes
            .iter()
            .flat_map(|outcome| &outcome.harvest.sources)
            .flat_map(|source| &source.failed)
            .map(|failed| failed.reason.clone());
        let mut reasons: Vec<String> = failed.take(MAX_REASONS).collect();
        reasons.insert(0, "no catalogue was found in the sources".to_owned());
        return Err(Failure::Error(reasons.join("; ")));
    }
    Ok(json!({ "harvests": outcomes }))
}

/// Maximum number of reasons in the message of a harvest without a catalogue.
const MAX_REASONS: usize = 5;

fn failed(error: &(dyn Error + 'static)) -> Failure {
    let error = error_chain(error);
    tracing::error!(error, "a harvest failed");
    Failure::Error(error)
}

/// Waits until no other harvest runs.
fn acquire<'l>(live: &'l Live, control: &Control) -> Result<MutexGuard<'l, ()>, Failure> {
    loop {
        control.check()?;
        match live.harvests.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(error)) => return Ok(error.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(POLL_INTERVAL),
        }
    }
}

fn harvest_group(
    request: &HarvestRequest,
    sources: &[String],
    live: &Live,
    control: &Control,
    earlier: u64,
    max_listed: usize,
) -> Result<HarvestOutcome, BoxError> {
    let started = Instant::now();
    let egress = Egress::new(request.policy(sources)?);
    let options = HarvestOptions {
        cancellation: control.cancellation(),
        ..request.options()
    };
    let show = |progress: HarvestProgress| {
        let datasets = usize::try_from(earlier + progress.datasets).unwrap_or(usize::MAX);
        let HarvestProgress { pages, spent, .. } = progress;
        let (requests, bytes) = (Some(spent.requests), Some(spent.bytes));
        control.report_progress(Progress {
            done: datasets,
            total: 0,
            pages: Some(pages),
            requests,
            bytes,
        });
    };
    let Harvested {
        report,
        problems,
        unlisted_problems,
    } = run(
        live,
        &egress,
        &request.name_of(sources),
        sources,
        options,
        max_listed,
        &show,
    )?;
    Ok(HarvestOutcome {
        unlisted_problems,
        ..HarvestOutcome::new(report, &problems, started)?
    })
}

/// A harvest that has ended. Its lists are limited.
pub(super) struct Harvested {
    pub(super) report: HarvestReport,
    /// Datasets with a file that could not be read completely.
    pub(super) problems: Vec<DatasetReport>,
    /// Number of such datasets that are not listed.
    pub(super) unlisted_problems: usize,
}

/// Harvests sources under one name into the served home. Each list of the result has at most `max_listed` entries.
pub(super) fn run(
    live: &Live,
    egress: &Egress,
    name: &str,
    sources: &[String],
    options: HarvestOptions,
    max_listed: usize,
    show: &dyn Fn(HarvestProgress),
) -> Result<Harvested, BoxError> {
    let existing: BTreeSet<DatasetId> = live.store.ids()?.into_iter().collect();
    let existing_ids = existing.clone();
    let parser = live.parser.with_cancellation(options.cancellation.clone());
    let loaded_keys = loaded_keys(&live.store)?;
    let options = HarvestOptions {
        existing_ids,
        loaded_keys,
        reader: parser.catalogs(),
        batch_size: MAX_BATCH_DATASETS,
        ..options
    };
    let mut sink = LiveSink {
        live,
        parser,
        existing,
        max_listed,
        problems: Vec::new(),
        unlisted_problems: 0,
    };
    let harvester =
        Harvester::new(egress, &live.store.home().join("harvest"), name).with_options(options);
    let mut report = harvester.run(sources, &mut sink, show)?;
    report.limit(max_listed);
    let LiveSink {
        problems,
        unlisted_problems,
        ..
    } = sink;
    Ok(Harvested {
        report,
        problems,
        unlisted_problems,
    })
}

/// Returns the messages of an error and of its causes, separated by colons.
pub(super) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Sink that stores and indexes harvested datasets in the home that is served.
struct LiveSink<'l> {
    live: &'l Live,
    parser: Parser,
    /// Datasets in the home when the harvest began.
    existing: BTreeSet<DatasetId>,
    /// Maximum number of listed datasets.
    max_listed: usize,
    /// Datasets with a file that could not be read completely.
    problems: Vec<DatasetReport>,
    /// Number of such datasets that are not listed.
    unlisted_problems: usize,
}

impl LiveSink<'_> {
    /// Adds the datasets of a batch. The list is limited at once: a portal may have many thousands, each with many problems.
    fn add_problems(&mut self, datasets: Vec<DatasetReport>) {
        self.problems
            .extend(datasets.into_iter().filter(has_unread_file));
        self.unlisted_problems += self.problems.len().saturating_sub(self.max_listed);
        self.problems.truncate(self.max_listed);
        DatasetReport::limit_files(&mut self.problems, self.max_listed);
    }
}

impl DatasetSink for LiveSink<'_> {
    fn store(&mut self, batch: Batch) -> Result<Vec<(DatasetId, StoreOutcome)>, BoxError> {
        let _change = self.live.lock_changes();
        let mut datasets = batch.datasets;
        let mut outcomes = remove_conflicts(&mut datasets, &self.existing, &self.live.store)?;
        let stamp = Stamp {
            now: None,
            origin: origin(&batch.source),
        };
        let source = Some(LoadSource {
            source: batch.source,
            is_harvest: true,
            ..LoadSource::default()
        });
        let load = LoadOptions {
            stamp,
            reader: self.parser.contents(),
            source,
            ..LoadOptions::default()
        };
        let catalog = Catalog {
            folder: batch.folder,
            datasets,
            ..Catalog::default()
        };
        let report = self.live.updater(load).run(catalog, &[])?;
        self.live.searcher.refresh()?;
        outcomes.extend(
            report
                .load
                .datasets
                .iter()
                .map(|dataset| (dataset.id.clone(), store_outcome(dataset))),
        );
        self.add_problems(report.load.datasets);
        Ok(outcomes)
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), BoxError> {
        let _change = self.live.lock_changes();
        // Another change may have removed some of them since the harvest began.
        let present = self.live.store.ids()?;
        let ids: Vec<DatasetId> = ids
            .iter()
            .filter(|id| present.binary_search(id).is_ok())
            .cloned()
            .collect();
        self.live.updater(LoadOptions::default()).remove(&ids)?;
        self.live.searcher.refresh()?;
        Ok(())
    }
}

/// Returns the IRI of a source, or `None` if the source is a local path.
fn origin(source: &str) -> Option<NamedNode> {
    if is_address(source) {
        NamedNode::new(source).ok()
    } else {
        None
    }
}

/// Waits until no other harvest runs, without a job.
pub(super) fn acquire_for_schedule(live: &Live) -> MutexGuard<'_, ()> {
    live.harvests.lock().unwrap_or_else(PoisonError::into_inner)
}
