//! Harvests into a collection: by schedule, as a job, or of a command.
//!
//! One harvest runs at a time in a served collection. It locks changes for each batch only, so that other changes go between its
//! batches.

use crate::background::Live;
use crate::collection::{Collection, Step};
use crate::control::{ChangeError, Control};
use crate::harvest_records::HarvestRecord;
use crate::jobs::{Progress, is_zero};
use crate::parsing::{Parser, loaded_keys, remove_conflicts, store_outcome};
use crate::report::Harvests;
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_harvest::{
    Batch, DatasetSink, HarvestOptions, HarvestProgress, HarvestReport, HarvestRequest, Harvester,
    StoreOutcome, is_address,
};
use lodeseek_net::egress::Egress;
use lodeseek_rdf::dump::Outcome;
use lodeseek_store::{DatasetReport, LoadOptions, LoadSource, Replaced, Stamp};
use oxrdf::NamedNode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which a harvest that waits for another one checks for its cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

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

    /// Returns the number of datasets of all sources.
    fn datasets(&self) -> u64 {
        let sources = self.harvest.sources.iter();
        sources.map(|source| source.datasets).sum()
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
pub(crate) fn has_unread_file(dataset: &DatasetReport) -> bool {
    dataset
        .files
        .iter()
        .any(|file| !file.is_clean() && file.outcome != Outcome::Refused)
}

/// Harvests one group of sources after the other. A cancellation keeps the batches that are stored.
pub(crate) fn harvest_groups(
    request: &HarvestRequest,
    collection: Collection<'_>,
    control: &Control,
) -> Result<Harvests, ChangeError> {
    let _harvest = match collection {
        Collection::Served(live) => Some(acquire(live, control)?),
        Collection::Local(_) => None,
    };
    let groups = request.groups();
    // The bound is that of the change.
    let max_listed = collection.max_list_entries() / groups.len().max(1);
    let mut harvests = Vec::new();
    let mut earlier = 0;
    for sources in groups {
        if control.cancellation().is_cancelled() {
            break;
        }
        control.check()?;
        let harvested = harvest_group(request, sources, collection, control, earlier, max_listed);
        let outcome = harvested.map_err(ChangeError::Harvest)?;
        earlier += outcome.datasets();
        harvests.push(outcome);
    }
    Ok(Harvests {
        harvests,
        is_cancelled: control.cancellation().is_cancelled(),
    })
}

/// Waits until no other harvest runs.
fn acquire<'l>(live: &'l Live, control: &Control) -> Result<MutexGuard<'l, ()>, ChangeError> {
    loop {
        control.check()?;
        match live.turns.harvests.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(error)) => return Ok(error.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(POLL_INTERVAL),
        }
    }
}

/// Harvests sources under one name. `earlier` is the number of datasets of the groups before.
fn harvest_group(
    request: &HarvestRequest,
    sources: &[String],
    collection: Collection<'_>,
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
    let Harvested {
        report,
        problems,
        unlisted_problems,
    } = run_harvest(
        collection,
        &egress,
        &request.name_of(sources),
        sources,
        options,
        max_listed,
        &|progress| control.report_progress(job_progress(progress, earlier)),
    )?;
    let recorded = HarvestRequest {
        sources: sources.to_vec(),
        ..request.clone()
    };
    HarvestRecord::write(collection.home(), &request.name_of(sources), recorded);
    Ok(HarvestOutcome {
        unlisted_problems,
        ..HarvestOutcome::new(report, &problems, started)?
    })
}

/// Returns the progress of a job after `earlier` datasets of other groups.
fn job_progress(progress: HarvestProgress, earlier: u64) -> Progress {
    let HarvestProgress { pages, spent, .. } = progress;
    Progress {
        done: usize::try_from(earlier + progress.datasets).unwrap_or(usize::MAX),
        pages: Some(pages),
        requests: Some(spent.requests),
        bytes: Some(spent.bytes),
        ..Progress::default()
    }
}

/// A harvest that has ended. Its lists are limited.
pub(crate) struct Harvested {
    pub(crate) report: HarvestReport,
    /// Datasets with a file that could not be read completely.
    pub(crate) problems: Vec<DatasetReport>,
    /// Number of such datasets that are not listed.
    pub(crate) unlisted_problems: usize,
}

/// Harvests sources under one name. Each list of the result has at most `max_listed` entries.
pub(crate) fn run_harvest(
    collection: Collection<'_>,
    egress: &Egress,
    name: &str,
    sources: &[String],
    options: HarvestOptions,
    max_listed: usize,
    show: &dyn Fn(HarvestProgress),
) -> Result<Harvested, BoxError> {
    // A home that is in use, or has another base, is reported before any request.
    let open = collection.open()?;
    let existing: BTreeSet<DatasetId> = open.store().ids()?.into_iter().collect();
    let loaded_keys = loaded_keys(open.store())?;
    drop(open);
    let parser = collection.parser();
    let parser = parser.with_cancellation(options.cancellation.clone());
    let options = HarvestOptions {
        existing_ids: existing.clone(),
        loaded_keys,
        reader: parser.catalogs(),
        batch_size: options.batch_size.min(collection.max_step_datasets()),
        ..options
    };
    let mut sink = CollectionSink {
        collection,
        parser,
        existing,
        max_listed,
        problems: Vec::new(),
        unlisted_problems: 0,
        has_changed: false,
    };
    let harvester =
        Harvester::new(egress, &collection.home().join("harvest"), name).with_options(options);
    let harvested = harvester.run(sources, &mut sink, show);
    // Also after a failure, because batches may have been stored.
    let cleared = sink.clear_replaced_content();
    let mut report = harvested?;
    cleared?;
    report.limit(max_listed);
    let CollectionSink {
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
pub(crate) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Sink that stores harvested datasets in a collection.
struct CollectionSink<'c> {
    collection: Collection<'c>,
    parser: Parser,
    /// Datasets in the home when the harvest began.
    existing: BTreeSet<DatasetId>,
    /// Maximum number of listed datasets.
    max_listed: usize,
    /// Datasets with a file that could not be read completely.
    problems: Vec<DatasetReport>,
    /// Number of such datasets that are not listed.
    unlisted_problems: usize,
    /// If true, datasets were stored or removed, at least in part.
    has_changed: bool,
}

impl CollectionSink<'_> {
    /// Clears replaced content of a local home once, at the end: each clearing reads all pointers. In a served collection, a background
    /// task does this.
    fn clear_replaced_content(&self) -> Result<(), BoxError> {
        if self.has_changed
            && let Collection::Local(_) = self.collection
        {
            self.collection.open()?.store().clear_replaced(&|_, _| ())?;
        }
        Ok(())
    }

    /// Adds the datasets of a batch. The list is limited at once: a portal may have many thousands, each with many problems.
    fn add_problems(&mut self, datasets: Vec<DatasetReport>) {
        self.problems
            .extend(datasets.into_iter().filter(has_unread_file));
        self.unlisted_problems += self.problems.len().saturating_sub(self.max_listed);
        self.problems.truncate(self.max_listed);
        DatasetReport::limit_files(&mut self.problems, self.max_listed);
    }
}

impl DatasetSink for CollectionSink<'_> {
    fn store(&mut self, batch: Batch) -> Result<Vec<(DatasetId, StoreOutcome)>, BoxError> {
        let open = self.collection.open()?;
        let mut datasets = batch.datasets;
        let mut outcomes = remove_conflicts(&mut datasets, &self.existing, open.store())?;
        let stamp = Stamp {
            now: None,
            origin: source_iri(&batch.source),
        };
        let source = Some(LoadSource {
            source: batch.source,
            is_harvest: true,
            ..LoadSource::default()
        });
        let options = LoadOptions {
            stamp,
            reader: self.parser.contents(),
            source,
            replaced: Replaced::Kept,
            ..LoadOptions::default()
        };
        let catalog = Catalog {
            folder: batch.folder,
            datasets,
            ..Catalog::default()
        };
        // Before the step, which may fail after a part of it.
        self.has_changed = true;
        let report = open.store_datasets(Step::Store(Box::new(catalog)), options, &|_| ())?;
        for dataset in &report.datasets {
            outcomes.push((dataset.id.clone(), store_outcome(dataset)));
        }
        self.add_problems(report.datasets);
        Ok(outcomes)
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), BoxError> {
        let open = self.collection.open()?;
        // Another change may have removed some of them since the harvest began.
        let mut present = open.store().ids()?;
        present.retain(|id| ids.contains(id));
        let options = LoadOptions {
            replaced: Replaced::Kept,
            ..LoadOptions::default()
        };
        self.has_changed = true;
        open.store_datasets(Step::Remove(present), options, &|_| ())?;
        Ok(())
    }
}

/// Returns the IRI of a source, or `None` if the source is a local path.
fn source_iri(source: &str) -> Option<NamedNode> {
    if is_address(source) {
        NamedNode::new(source).ok()
    } else {
        None
    }
}

/// Waits until no other harvest runs, without a job.
pub(crate) fn acquire_for_schedule(live: &Live) -> MutexGuard<'_, ()> {
    live.turns
        .harvests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}
