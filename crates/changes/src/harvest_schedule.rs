//! Scheduled harvests: a background task that harvests sources at intervals into the home that is served.

use crate::background::{Background, Live};
use crate::collection::Collection;
use crate::execute::MAX_LIST_ENTRIES;
use crate::harvest_records::HarvestRecord;
use crate::harvests::{BoxError, Harvested, acquire_for_schedule, error_chain, run_harvest};
use crate::jobs::now;
use crate::parsing::unreadable_file;
use crate::stored_schedules::{StoredSchedule, stored_schedules};
use lodeseek_harvest::{HarvestOptions, HarvestReport, HarvestRequest};
use lodeseek_net::egress::{Egress, IpNet};
use lodeseek_store::{DatasetReport, LoadOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum number of failures that are logged for one harvest.
const MAX_LOGGED_FAILURES: usize = 5;
/// Time after which schedules that operators have changed take effect at the latest, if no harvest runs.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Sources that a server harvests again and again: those of its configuration, and those that operators have scheduled in the home.
/// Changes are served as soon as they are indexed.
///
/// Each source is harvested under a name of its own, so that adding or removing a source does not affect the others. Harvests run one
/// after the other, that which is due first before the others. A host that sends nothing delays them for
/// [`HarvestOptions::max_silence`] at most.
#[derive(Clone, Debug, Default)]
pub struct HarvestSchedule {
    /// Sources of the configuration.
    pub sources: Vec<ScheduledSource>,
    /// Private networks that sources, and the hosts that their requests allow, may be in.
    pub private_networks: Vec<IpNet>,
}

/// A source and its schedule.
#[derive(Clone, Debug)]
pub struct ScheduledSource {
    /// Source and options. Private networks are those of the schedule.
    pub request: HarvestRequest,
    /// Time between the beginnings of two harvests.
    pub every: Duration,
}

impl ScheduledSource {
    /// Returns true if it harvests a source.
    #[must_use]
    pub fn has_source(&self, source: &str) -> bool {
        self.request.sources.iter().any(|own| own == source)
    }
}

/// A harvest and the time when it is due.
#[derive(Debug)]
struct DueHarvest {
    request: HarvestRequest,
    name: String,
    due: Instant,
}

impl HarvestSchedule {
    /// Returns the background task.
    #[must_use]
    pub fn into_background(self) -> Background {
        Background::new(move |live| self.run(live))
    }

    /// Harvests until the server stops.
    fn run(&self, live: &Live) {
        // Without them, the server has an administration, whose thread does the same.
        if !self.sources.is_empty() {
            index_pending(live);
        }
        let start = Instant::now();
        let mut begins = BTreeMap::new();
        let mut has_replaced = false;
        loop {
            if has_replaced {
                has_replaced = !clear_replaced_content(live);
            }
            let next = self.next_harvest(live.store.home(), start, &begins);
            let wait = match &next {
                Some(next) => next.due.saturating_duration_since(Instant::now()),
                None => CHECK_INTERVAL,
            };
            let Some(next) = next.filter(|_| wait.is_zero()) else {
                if !live.sleep(wait.min(CHECK_INTERVAL)) {
                    return;
                }
                continue;
            };
            if live.is_stopping() {
                return;
            }
            begins.insert(next.name.clone(), Instant::now());
            self.harvest_and_report(&next, live);
            has_replaced = true;
        }
    }

    /// Returns the harvest that is due first. `begins` are the times at which harvests of this schedule have begun, by their names.
    fn next_harvest(
        &self,
        home: &Path,
        start: Instant,
        begins: &BTreeMap<String, Instant>,
    ) -> Option<DueHarvest> {
        let mut harvests = Vec::new();
        for source in &self.sources {
            let name = source.request.name_of(&source.request.sources);
            let due = match begins.get(&name) {
                Some(begin) => add_time(*begin, source.every),
                None => start,
            };
            harvests.push(DueHarvest {
                request: source.request.clone(),
                name,
                due,
            });
        }
        for schedule in stored_schedules(home) {
            let name = schedule.name();
            // The configuration has precedence.
            if harvests.iter().any(|harvest| harvest.name == name) {
                continue;
            }
            let mut due = due_time(&schedule, HarvestRecord::read(home, &name).as_ref());
            // A harvest that failed has no record.
            if let Some(begin) = begins.get(&name) {
                due = due.max(add_time(*begin, Duration::from_secs(schedule.every)));
            }
            harvests.push(DueHarvest {
                request: schedule.request,
                name,
                due,
            });
        }
        harvests.into_iter().min_by_key(|harvest| harvest.due)
    }

    /// Harvests one source, logs the outcome and adds it to the operator's list of tasks.
    fn harvest_and_report(&self, harvest: &DueHarvest, live: &Live) {
        let source = harvest.request.sources.join(", ");
        let outcome = match self.harvest(harvest, live) {
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
        harvest: &DueHarvest,
        live: &Live,
    ) -> Result<(String, Option<String>), BoxError> {
        let _harvest = acquire_for_schedule(live);
        let request = HarvestRequest {
            private_networks: self.private_networks.clone(),
            ..harvest.request.clone()
        };
        let egress = Egress::new(request.policy(&request.sources)?);
        // A server that stops ends the harvest, so that no content seems to have ended the process.
        let options = HarvestOptions {
            cancellation: live.cancellation(),
            ..request.options()
        };
        let collection = Collection::Served(live);
        let harvested = run_harvest(
            collection,
            &egress,
            &harvest.name,
            &request.sources,
            options,
            MAX_LIST_ENTRIES,
            &|_| (),
        )?;
        HarvestRecord::write(live.store.home(), &harvest.name, request);
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

/// Returns the time when a schedule of the home is due: after the last recorded harvest, or after it was set. A harvest that is overdue
/// was due in the past.
fn due_time(schedule: &StoredSchedule, record: Option<&HarvestRecord>) -> Instant {
    let last = match record {
        Some(record) => record.time.max(schedule.set),
        None => schedule.set,
    };
    let (due, present) = (last.saturating_add(schedule.every), now());
    let instant = Instant::now();
    if due > present {
        return add_time(instant, Duration::from_secs(due - present));
    }
    instant
        .checked_sub(Duration::from_secs(present - due))
        .unwrap_or(instant)
}

/// Adds a time. A time beyond those of the system is a year away.
fn add_time(instant: Instant, time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(366 * 86_400);
    instant.checked_add(time).unwrap_or(instant + YEAR)
}

/// Deletes replaced content. Returns false if that must be tried again later.
fn clear_replaced_content(live: &Live) -> bool {
    match live.clear_replaced_content() {
        Ok(is_cleared) => is_cleared,
        Err(error) => {
            tracing::warn!(%error, "cannot delete replaced content; retrying after the next harvest");
            true
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored_schedules::{ScheduleChange, change_schedule};
    use std::fs;

    fn request(source: &str) -> HarvestRequest {
        HarvestRequest {
            sources: vec![source.to_owned()],
            ..HarvestRequest::default()
        }
    }

    fn next_source(
        schedule: &HarvestSchedule,
        home: &Path,
        begins: &BTreeMap<String, Instant>,
    ) -> Option<(String, Duration)> {
        let start = Instant::now();
        let next = schedule.next_harvest(home, start, begins)?;
        let wait = next.due.saturating_duration_since(start);
        Some((next.request.sources[0].clone(), wait))
    }

    #[test]
    fn the_harvest_that_is_due_first_is_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        let (dead, sound) = ("https://dead.example/a.ttl", "https://e.org/b.ttl");
        let hour = Duration::from_secs(3600);
        let schedule = HarvestSchedule {
            sources: [dead, sound]
                .map(|source| ScheduledSource {
                    request: request(source),
                    every: hour,
                })
                .into(),
            ..HarvestSchedule::default()
        };
        let mut begins = BTreeMap::new();
        assert!(next_source(&HarvestSchedule::default(), home, &begins).is_none());
        let expected = Some((dead.to_owned(), Duration::ZERO));
        assert_eq!(next_source(&schedule, home, &begins), expected);
        // The other source is next, however long the first one takes.
        begins.insert(request(dead).name_of(&[dead.to_owned()]), Instant::now());
        let expected = Some((sound.to_owned(), Duration::ZERO));
        assert_eq!(next_source(&schedule, home, &begins), expected);
        begins.insert(request(sound).name_of(&[sound.to_owned()]), Instant::now());
        let (source, wait) = next_source(&schedule, home, &begins).expect("a harvest");
        assert!(
            source == dead && wait > hour / 2,
            "an hour after the first one began: {wait:?}"
        );
    }

    #[test]
    fn schedules_of_the_home_continue_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        let source = "https://e.org/trees.ttl";
        let name = request(source).name_of(&[source.to_owned()]);
        let change = ScheduleChange {
            request: request(source),
            every: Some(Duration::from_secs(3600)),
        };
        change_schedule(&change, home).expect("stored");
        let schedule = HarvestSchedule::default();
        let begins = BTreeMap::new();
        let (next, wait) = next_source(&schedule, home, &begins).expect("a schedule");
        assert!(
            next == source && wait > Duration::from_secs(1800),
            "{wait:?}"
        );
        // As if it had been set, and its last harvest had ended, long ago.
        let path = home.join("harvest").join(&name).join("schedule.json");
        let stored = StoredSchedule {
            every: 3600,
            set: now() - 9000,
            request: request(source),
        };
        fs::write(&path, serde_json::to_vec(&stored).expect("JSON")).expect("written");
        let (_, wait) = next_source(&schedule, home, &begins).expect("a schedule");
        assert!(wait.is_zero());
        // A harvest that failed is repeated after the interval, not at once.
        let failed = BTreeMap::from([(name.clone(), Instant::now())]);
        let (_, wait) = next_source(&schedule, home, &failed).expect("a schedule");
        assert!(wait > Duration::from_secs(1800), "{wait:?}");
        // One that was requested meanwhile counts.
        HarvestRecord::write(home, &name, request(source));
        let (_, wait) = next_source(&schedule, home, &begins).expect("a schedule");
        assert!(wait > Duration::from_secs(1800), "{wait:?}");
        // The configuration has precedence.
        let configured = HarvestSchedule {
            sources: vec![ScheduledSource {
                request: request(source),
                every: Duration::from_secs(60),
            }],
            ..HarvestSchedule::default()
        };
        let (_, wait) = next_source(&configured, home, &begins).expect("a harvest");
        assert!(wait.is_zero());
    }
}
