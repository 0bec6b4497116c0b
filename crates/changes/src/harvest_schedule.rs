//! Scheduled harvests: a background task that harvests sources at intervals into the home that is served.

use crate::background::{Background, Live, MIN_RETENTION};
use crate::collection::Collection;
use crate::execute::MAX_LIST_ENTRIES;
use crate::harvest_records::HarvestRecord;
use crate::harvests::{BoxError, Harvested, acquire_for_schedule, error_chain, run_harvest};
use crate::parsing::unreadable_file;
use lodeseek_harvest::{
    Downloads, HarvestOptions, HarvestProtocol, HarvestReport, HarvestRequest, allow_source_hosts,
    default_name,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use lodeseek_store::{DatasetReport, LoadOptions};
use std::time::{Duration, Instant};

/// Maximum number of failures that are logged for one harvest.
const MAX_LOGGED_FAILURES: usize = 5;

/// Sources that a server harvests again and again. Changes are served as soon as they are indexed.
///
/// Each source is harvested under a name of its own, so that adding or removing a source does not affect the others.
#[derive(Clone, Debug)]
pub struct HarvestSchedule {
    /// Sources, at least one.
    pub sources: Vec<ScheduledSource>,
    /// Egress policy. The hosts of the sources are added to its allow list.
    pub policy: EgressPolicy,
}

/// A source and its schedule.
#[derive(Clone, Debug)]
pub struct ScheduledSource {
    /// Address or local path.
    pub source: String,
    /// Protocol of the source.
    pub protocol: HarvestProtocol,
    /// Time between the beginnings of two harvests.
    pub every: Duration,
    /// Files that are downloaded beside the catalogue.
    pub downloads: Downloads,
}

impl HarvestSchedule {
    /// Returns the background task.
    #[must_use]
    pub fn into_background(self) -> Background {
        Background::new(move |live| self.run(live))
    }

    /// Harvests until the server stops. Sources that are due together are harvested one after the other.
    fn run(&self, live: &Live) {
        index_pending(live);
        let mut due = vec![Instant::now(); self.sources.len()];
        let mut has_replaced = false;
        loop {
            let Some(next) = due.iter().min() else { return };
            let next = next.saturating_duration_since(Instant::now());
            // A harvest may be due much later than the content that it replaced may be deleted.
            if !live.sleep(if has_replaced {
                next.min(MIN_RETENTION)
            } else {
                next
            }) {
                return;
            }
            for (source, due) in self.sources.iter().zip(&mut due) {
                if live.is_stopping() {
                    return;
                }
                let started = Instant::now();
                if *due <= started {
                    self.harvest_and_report(source, live);
                    *due = started + source.every;
                    has_replaced = true;
                }
            }
            if has_replaced {
                has_replaced = match live.clear_replaced_content() {
                    Ok(is_cleared) => !is_cleared,
                    Err(error) => {
                        tracing::warn!(%error, "cannot delete replaced content; retrying after the next harvest");
                        false
                    }
                };
            }
        }
    }

    /// Harvests one source, logs the outcome and adds it to the operator's list of tasks.
    fn harvest_and_report(&self, scheduled: &ScheduledSource, live: &Live) {
        let source = &scheduled.source;
        let outcome = match self.harvest(scheduled, live) {
            Ok((summary, failure)) => {
                tracing::info!("harvested {summary}");
                match failure {
                    Some(failure) => Err(format!("{source}: {summary}; {failure}")),
                    None => Ok(summary),
                }
            }
            Err(error) => {
                let message = error_chain(error.as_ref());
                tracing::error!("harvest: {message}; retrying at the next scheduled time");
                Err(format!("{source}: {message}"))
            }
        };
        live.record("harvest", outcome);
    }

    /// Harvests one source. Returns a summary of one line, and the first reason why a part of the source was not read.
    fn harvest(
        &self,
        scheduled: &ScheduledSource,
        live: &Live,
    ) -> Result<(String, Option<String>), BoxError> {
        let _harvest = acquire_for_schedule(live);
        let sources = [scheduled.source.clone()];
        let mut policy = self.policy.clone();
        allow_source_hosts(&mut policy, &sources)?;
        let egress = Egress::new(policy);
        // A server that stops ends the harvest, so that no content seems to have ended the process.
        let cancellation = live.cancellation();
        let options = HarvestOptions {
            protocol: scheduled.protocol,
            downloads: scheduled.downloads,
            cancellation,
            ..HarvestOptions::default()
        };
        let name = default_name(&sources);
        let collection = Collection::Served(live);
        let harvested = run_harvest(
            collection,
            &egress,
            &name,
            &sources,
            options,
            MAX_LIST_ENTRIES,
            &|_| (),
        )?;
        let request = HarvestRequest {
            sources: sources.to_vec(),
            protocol: scheduled.protocol,
            download: scheduled.downloads != Downloads::None,
            ..HarvestRequest::default()
        };
        HarvestRecord::write(live.store.home(), &name, request);
        let Harvested {
            report, problems, ..
        } = harvested;
        let change = live.lock_changes();
        if has_changes(&report) {
            live.updater(LoadOptions::default()).find_duplicates()?;
        }
        let encoded = live.update_vectors_and_statistics()?;
        drop(change);
        log_failures(&report, &problems);
        let mut failures = report.sources.iter().flat_map(|source| &source.failed);
        let failure = failures.next().map(|failure| failure.reason.clone());
        Ok((format_summary(&report, encoded), failure))
    }
}

/// Indexes datasets that were stored, but not indexed, before the server started.
pub(crate) fn index_pending(live: &Live) {
    let _change = live.lock_changes();
    match live
        .updater(LoadOptions::default())
        .catch_up(&live.searcher)
    {
        Ok(0) => {}
        Ok(count) => {
            tracing::info!("indexed {count} datasets whose index entry was missing or outdated")
        }
        Err(error) => tracing::error!(%error, "cannot index the datasets that are not indexed yet"),
    }
}

fn has_changes(report: &HarvestReport) -> bool {
    let counts = report.counts();
    counts.new + counts.changed + counts.gone > 0
}

fn log_failures(report: &HarvestReport, problems: &[DatasetReport]) {
    let failures = report
        .sources
        .iter()
        .flat_map(|source| &source.failed)
        .chain(&report.failed_files);
    for failure in failures.take(MAX_LOGGED_FAILURES) {
        tracing::warn!("harvest: {}: {}", failure.what, failure.reason);
    }
    let unreadable = problems
        .iter()
        .filter_map(|dataset| Some((&dataset.id, unreadable_file(&dataset.files)?)));
    for (id, problem) in unreadable.take(MAX_LOGGED_FAILURES) {
        tracing::warn!("harvest: dataset {id}: {problem}");
    }
}

fn format_summary(report: &HarvestReport, encoded: usize) -> String {
    let counts = report.counts();
    format!(
        "{}: {} new, {} changed, {} unchanged, {} gone, {encoded} encoded; {} requests, {} bytes",
        report.name,
        counts.new,
        counts.changed,
        report.unchanged,
        counts.gone,
        report.spent.requests,
        report.spent.bytes,
    )
}
