//! Queue of changes, in the order of their requests, beside running searches.
//!
//! The queue has lanes. Each lane makes one change at a time; a long harvest or download does not delay the changes of the
//! others.

use crate::audit::{AuditEntry, AuditLog};
use crate::change::{Change, Lane};
use crate::control::{Control, DISK_FULL, Outcome};
use crate::edits::EDIT;
use crate::execute::MAX_LIST_ENTRIES;
use crate::tokens::Rights;
use lodeseek_net::egress::Cancellation;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Maximum number of waiting jobs. Further changes are rejected with status 503.
const MAX_WAITING_JOBS: usize = 1000;
/// Status code of a job that failed because a condition of its client does not hold, as HTTP has it.
const CONDITION_FAILED: u16 = 412;
/// Maximum number of ended jobs in memory. The audit log contains all.
const MAX_ENDED_JOBS: usize = 1000;

/// Maximum number of datasets of a load or a harvest that the audit log names. Of more it has the number.
const MAX_AUDITED_DATASETS: usize = 20;

/// State of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It has not begun.
    Queued,
    /// It is made.
    Running,
    /// It was made.
    Done,
    /// It was not made, for a reason.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl JobState {
    /// Returns true if the job runs no more.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Returns the name, as JSON has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Progress of a running job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Datasets done.
    pub done: usize,
    /// Datasets of the change; 0 for a harvest, which does not know them before its end.
    pub total: usize,
    /// Pages read by a harvest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Requests sent by a harvest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Bytes received by a harvest or a download, or read by a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes of all files of a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Distinct triples stored by a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triples: Option<u64>,
}

/// A change that was requested.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Number of the job.
    pub id: u64,
    /// Name of the action.
    pub action: &'static str,
    /// Ids of the datasets that the change names.
    pub datasets: Vec<String>,
    /// Number of datasets that are not listed. Only an ended job lists a part of its datasets.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted_datasets: usize,
    /// Addresses, file names and folders that the change reads or writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Ids of the works that the change names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<String>,
    /// Number of works that are not listed, likewise.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted_works: usize,
    /// State.
    pub state: JobState,
    /// Progress.
    pub progress: Progress,
    /// Name of the token, or `local`.
    pub by: String,
    /// Time of the request, in seconds since 1970.
    pub requested: u64,
    /// Time of the beginning, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// Time of the end, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// Result of a job that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Reason for which the job failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// If true, the job failed because the disk is full.
    #[serde(skip)]
    pub is_disk_full: bool,
    /// Status code of a job that failed for a reason of its own, for example 412.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Keys of the description that the change names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
pub(crate) fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// Returns the ids of the datasets that a load or a harvest added, changed or removed, as far as its result lists them.
#[must_use]
pub fn written_datasets(result: &Value) -> Vec<String> {
    let mut ids = Vec::new();
    for dataset in list_elements(&result["datasets"]) {
        let is_written = !matches!(dataset["outcome"].as_str(), Some("unchanged" | "kept"));
        ids.extend(dataset["id"].as_str().filter(|_| is_written));
    }
    for harvest in list_elements(&result["harvests"]) {
        for key in ["new", "changed"] {
            ids.extend(
                list_elements(&harvest[key])
                    .iter()
                    .filter_map(Value::as_str),
            );
        }
        for source in list_elements(&harvest["sources"]) {
            if source["removed"] == true {
                ids.extend(
                    list_elements(&source["gone"])
                        .iter()
                        .filter_map(Value::as_str),
                );
            }
        }
    }
    ids.into_iter().map(str::to_owned).collect()
}

/// Returns the elements of a JSON array; none of another value.
#[must_use]
pub fn list_elements(value: &Value) -> &[Value] {
    match value.as_array() {
        Some(elements) => elements.as_slice(),
        None => &[],
    }
}

/// Returns the action of an ended job for the audit log. An edit that changes only keys with an edit is a correction of that.
fn audited_action(action: &'static str, result: Option<&Value>) -> &'static str {
    let Some(result) = result.filter(|_| action == EDIT) else {
        return action;
    };
    let corrected = list_elements(&result["corrected"]);
    if !corrected.is_empty() && corrected.len() == list_elements(&result["changed"]).len() {
        return "correction";
    }
    action
}

/// Keeps the first entries of a list. Returns the number of the others.
fn truncate_ids(ids: &mut Vec<String>) -> usize {
    let unlisted = ids.len().saturating_sub(MAX_LIST_ENTRIES);
    ids.truncate(MAX_LIST_ENTRIES);
    ids.shrink_to_fit();
    unlisted
}

/// Error: a change is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The queue is full.
    Full,
    /// The server stops.
    Stopping,
}

/// Outcome of a request to cancel a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancelled {
    /// The job had not begun, and never will.
    Removed,
    /// The job ends after its current step.
    Requested,
    /// The job had ended.
    TooLate,
    /// There is no such job.
    Unknown,
}

#[derive(Default)]
struct Inner {
    last: u64,
    waiting: VecDeque<(u64, Change, Rights)>,
    jobs: BTreeMap<u64, Job>,
    /// Running jobs, at most one of each lane.
    running: Vec<(u64, Arc<AtomicBool>)>,
    is_stopping: bool,
}

impl Inner {
    /// Returns the position of the first waiting job of a lane.
    fn find_waiting(&self, lane: Lane) -> Option<usize> {
        self.waiting
            .iter()
            .position(|(_, change, _)| change.lane() == lane)
    }
}

/// The queue.
pub struct Jobs {
    inner: Mutex<Inner>,
    wake: Condvar,
    /// Called at the end of each job.
    on_end: Box<dyn Fn() + Send + Sync>,
    /// The audit log of the home.
    pub audit: AuditLog,
}

/// Next work of the thread that makes the changes.
pub(crate) enum Next {
    Job(u64, Change, Rights, Arc<AtomicBool>),
    /// Nothing was requested for a while.
    Idle,
    Stop,
}

impl Jobs {
    /// Creates an empty queue of a home.
    #[must_use]
    pub fn new(home: &Path) -> Self {
        Self {
            inner: Mutex::default(),
            wake: Condvar::new(),
            on_end: Box::new(|| ()),
            audit: AuditLog::new(home),
        }
    }

    /// Sets a function that is called at the end of each job.
    #[must_use]
    pub fn on_end(self, on_end: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            on_end: Box::new(on_end),
            ..self
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a change to the queue. The rights are checked again when it is made.
    ///
    /// # Errors
    /// [`Refusal`] if the queue is full or the server stops.
    pub fn add(&self, change: Change, by: &str, rights: Rights) -> Result<Job, Refusal> {
        let mut inner = self.lock();
        if inner.is_stopping {
            return Err(Refusal::Stopping);
        }
        if inner.waiting.len() >= MAX_WAITING_JOBS {
            return Err(Refusal::Full);
        }
        inner.last += 1;
        let job = Job {
            id: inner.last,
            action: change.action(),
            datasets: change.datasets(),
            unlisted_datasets: 0,
            sources: change.sources(),
            works: change.works(),
            unlisted_works: 0,
            state: JobState::Queued,
            progress: Progress::default(),
            by: by.to_owned(),
            requested: now(),
            started: None,
            ended: None,
            result: None,
            error: None,
            is_disk_full: false,
            status: None,
            fields: change.fields(),
        };
        inner.jobs.insert(job.id, job.clone());
        inner.waiting.push_back((job.id, change, rights));
        // The threads of all lanes wait for this.
        self.wake.notify_all();
        Ok(job)
    }

    /// Returns the next job of a lane when there is one, or [`Next::Idle`] after a time without.
    pub(crate) fn next(&self, lane: Lane, timeout: Duration) -> Next {
        let inner = self.lock();
        let waited = self.wake.wait_timeout_while(inner, timeout, |inner| {
            inner.find_waiting(lane).is_none() && !inner.is_stopping
        });
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if inner.is_stopping {
            return Next::Stop;
        }
        let next = inner
            .find_waiting(lane)
            .and_then(|position| inner.waiting.remove(position));
        let Some((id, change, rights)) = next else {
            return Next::Idle;
        };
        let is_cancelled = Arc::new(AtomicBool::new(false));
        inner.running.push((id, Arc::clone(&is_cancelled)));
        if let Some(job) = inner.jobs.get_mut(&id) {
            job.state = JobState::Running;
            job.started = Some(now());
        }
        Next::Job(id, change, rights, is_cancelled)
    }

    /// Returns the control of a running job.
    pub(crate) fn control(
        self: &Arc<Self>,
        id: u64,
        rights: Rights,
        is_cancelled: Arc<AtomicBool>,
    ) -> Control {
        let jobs = Arc::clone(self);
        let control = Control::new(Cancellation::from(is_cancelled), move |progress| {
            if let Some(job) = jobs.lock().jobs.get_mut(&id) {
                job.progress = progress;
            }
        });
        control.with_rights(rights)
    }

    /// Ends a running job and logs it.
    pub(crate) fn end(&self, id: u64, outcome: Outcome) {
        let (state, result, error) = match outcome {
            Outcome::Done(report) => match report.to_json() {
                Ok(result) => (JobState::Done, Some(result), None),
                Err(error) => (JobState::Failed, None, Some(error.to_string())),
            },
            Outcome::Failed(error) => (JobState::Failed, None, Some(error)),
            Outcome::DiskFull => {
                // Before `finish` makes the end visible.
                if let Some(job) = self.lock().jobs.get_mut(&id) {
                    job.is_disk_full = true;
                }
                (JobState::Failed, None, Some(DISK_FULL.to_owned()))
            }
            Outcome::ConditionFailed(reason) => {
                if let Some(job) = self.lock().jobs.get_mut(&id) {
                    job.status = Some(CONDITION_FAILED);
                }
                (JobState::Failed, None, Some(reason))
            }
            Outcome::Cancelled => (JobState::Cancelled, None, None),
        };
        self.finish(id, state, result, error);
    }

    /// Logs the end of a job, then makes it visible. Nothing is written while the queue is locked.
    fn finish(&self, id: u64, state: JobState, result: Option<Value>, error: Option<String>) {
        let Some(job) = self.get(id) else { return };
        let Job {
            by,
            datasets,
            sources,
            works,
            fields,
            ..
        } = &job;
        // A load or a harvest names no datasets before its end.
        let written = match &result {
            Some(result) if datasets.is_empty() => written_datasets(result),
            _ => Vec::new(),
        };
        let (datasets, count) = match written.len() {
            0 => (datasets, None),
            1..=MAX_AUDITED_DATASETS => (&written, None),
            count => (datasets, Some(format!("{count} datasets changed"))),
        };
        // A job that is done names the keys that it changed.
        let changed = result
            .as_ref()
            .and_then(|result| result["changed"].as_array());
        let changed: Option<Vec<String>> = changed.map(|keys| {
            keys.iter()
                .filter_map(|key| Some(key.as_str()?.to_owned()))
                .collect()
        });
        let fields = changed.as_ref().unwrap_or(fields);
        let action = audited_action(job.action, result.as_ref());
        let detail = error.as_deref().or(count.as_deref());
        let (time, outcome) = (now(), state.name());
        let (datasets_named, works_named) = (datasets.len(), works.len());
        tracing::info!(
            job = id,
            by,
            action,
            outcome,
            detail,
            datasets = datasets_named,
            works = works_named,
            "a change ended"
        );
        let entry = AuditEntry {
            time,
            job: id,
            by,
            action,
            datasets,
            sources,
            works,
            fields,
            outcome,
            detail,
        };
        // The change was made or failed before, so its job keeps its outcome.
        if let Err(error) = self.audit.append(&entry) {
            tracing::error!(%error, job = id, "cannot write the audit log");
        }
        let mut inner = self.lock();
        inner.running.retain(|(running, _)| *running != id);
        if let Some(job) = inner.jobs.get_mut(&id) {
            (job.state, job.ended, job.result, job.error) = (state, Some(time), result, error);
            // The audit log lists all.
            job.unlisted_datasets = truncate_ids(&mut job.datasets);
            job.unlisted_works = truncate_ids(&mut job.works);
        }
        forget_old(&mut inner.jobs);
        // `on_end` may read the queue.
        drop(inner);
        (self.on_end)();
    }

    /// Cancels a job: at once if it has not begun, else after its current step. The files of its change are deleted, and the
    /// audit log is written: not for async threads.
    pub fn cancel(&self, id: u64) -> Cancelled {
        let mut inner = self.lock();
        let Some(state) = inner.jobs.get(&id).map(|job| job.state) else {
            return Cancelled::Unknown;
        };
        if state.has_ended() {
            return Cancelled::TooLate;
        }
        if let Some((_, is_cancelled)) = inner.running.iter().find(|(running, _)| *running == id) {
            is_cancelled.store(true, Ordering::SeqCst);
            return Cancelled::Requested;
        }
        let place = inner
            .waiting
            .iter()
            .position(|(waiting, ..)| *waiting == id);
        let change = place.and_then(|place| inner.waiting.remove(place));
        // Deleting files and writing the log take time, in which the queue must be free.
        drop(inner);
        // Without a change, another thread is cancelling the job.
        if change.is_some() {
            drop(change);
            self.finish(id, JobState::Cancelled, None, None);
        }
        Cancelled::Removed
    }

    /// Cancels all jobs that have not begun, and accepts no more. Running jobs end.
    pub fn stop(&self) {
        let waiting: Vec<u64> = {
            let mut inner = self.lock();
            inner.is_stopping = true;
            for (_, is_cancelled) in &inner.running {
                is_cancelled.store(true, Ordering::SeqCst);
            }
            // `cancel` locks the queue itself.
            inner.waiting.iter().map(|(id, ..)| *id).collect()
        };
        for id in waiting {
            self.cancel(id);
        }
        self.wake.notify_all();
    }

    /// Returns the present state of a job.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<Job> {
        self.lock().jobs.get(&id).cloned()
    }

    /// Returns true if a job that has not ended names a dataset.
    pub fn is_pending(&self, dataset: &str) -> bool {
        self.has_pending(|job| job.datasets.iter().any(|named| named == dataset))
    }

    /// Returns true if a condition holds for a job that has not ended.
    pub fn has_pending(&self, is_wanted: impl Fn(&Job) -> bool) -> bool {
        self.lock()
            .jobs
            .values()
            .any(|job| !job.state.has_ended() && is_wanted(job))
    }

    /// Returns all jobs in memory, the latest first.
    pub fn list(&self) -> Vec<Job> {
        self.lock().jobs.values().rev().cloned().collect()
    }
}

/// Removes the ended jobs beyond the limit, those that ended first.
fn forget_old(jobs: &mut BTreeMap<u64, Job>) {
    let ended = jobs
        .values()
        .filter(|job| job.state.has_ended())
        .map(|job| (job.ended, job.id));
    let mut ended: Vec<(Option<u64>, u64)> = ended.collect();
    ended.sort_unstable();
    for (_, id) in &ended[..ended.len().saturating_sub(MAX_ENDED_JOBS)] {
        jobs.remove(id);
    }
}

/// Returns the current time in seconds since 1970.
pub(crate) fn now() -> u64 {
    unix_seconds(SystemTime::now())
}

/// Returns a time in seconds since 1970; 0 for an earlier time.
#[must_use]
pub fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ChangeReport, Removed};
    use lodeseek_catalog::DatasetId;
    use serde_json::json;

    fn removal(id: &str) -> Change {
        Change::Remove(vec![DatasetId::new(id).expect("an id")])
    }

    fn done() -> Outcome {
        Outcome::Done(ChangeReport::Remove(Removed { removed: 1 }))
    }

    fn harvest() -> Change {
        Change::Harvest(Box::default())
    }

    fn next(jobs: &Jobs) -> Option<(u64, Arc<AtomicBool>)> {
        match jobs.next(Lane::Changes, Duration::from_millis(1)) {
            Next::Job(id, _, _, is_cancelled) => Some((id, is_cancelled)),
            Next::Idle | Next::Stop => None,
        }
    }

    #[test]
    fn jobs_run_in_order_and_end_in_the_audit_log() {
        let home = tempfile::tempdir().expect("a folder");
        let jobs = Arc::new(Jobs::new(home.path()));
        let ids: Vec<u64> = ["a", "b", "c"]
            .map(|id| {
                jobs.add(removal(id), "ci", Rights::default())
                    .expect("added")
                    .id
            })
            .to_vec();
        assert_eq!(ids, [1, 2, 3]);
        assert_eq!(jobs.cancel(2), Cancelled::Removed);
        let (first, _) = next(&jobs).expect("a job");
        assert_eq!(
            (first, jobs.get(1).expect("a job").state),
            (1, JobState::Running)
        );
        jobs.end(1, done());
        let (third, is_cancelled) = next(&jobs).expect("a job");
        assert_eq!((third, jobs.cancel(3)), (3, Cancelled::Requested));
        assert!(is_cancelled.load(Ordering::SeqCst));
        jobs.end(3, Outcome::Cancelled);
        assert!(next(&jobs).is_none());
        assert_eq!(
            (jobs.cancel(1), jobs.cancel(9)),
            (Cancelled::TooLate, Cancelled::Unknown)
        );
        let states: Vec<&str> = jobs.list().iter().map(|job| job.state.name()).collect();
        assert_eq!(states, ["cancelled", "cancelled", "done"]);
        let audit = jobs.audit.last(10).expect("read");
        let outcomes: Vec<String> = audit
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
            .map(|entry| {
                format!(
                    "{} {}",
                    entry["datasets"][0].as_str().unwrap_or_default(),
                    entry["outcome"]
                )
            })
            .collect();
        assert_eq!(
            outcomes,
            ["b \"cancelled\"", "a \"done\"", "c \"cancelled\""]
        );
    }

    #[test]
    fn a_harvest_delays_no_other_change() {
        let home = tempfile::tempdir().expect("a folder");
        let jobs = Arc::new(Jobs::new(home.path()));
        for change in [harvest(), harvest(), removal("a")] {
            jobs.add(change, "ci", Rights::default()).expect("added");
        }
        let started = |lane| match jobs.next(lane, Duration::from_millis(1)) {
            Next::Job(id, _, _, is_cancelled) => Some((id, is_cancelled)),
            Next::Idle | Next::Stop => None,
        };
        let (first, of_first) = started(Lane::Harvests).expect("a job");
        let (removal, of_removal) = started(Lane::Changes).expect("a job");
        assert_eq!(
            (first, removal, started(Lane::Changes).is_none()),
            (1, 3, true)
        );
        jobs.end(removal, done());
        assert_eq!(
            (jobs.cancel(1), jobs.cancel(2)),
            (Cancelled::Requested, Cancelled::Removed)
        );
        assert!(of_first.load(Ordering::SeqCst) && !of_removal.load(Ordering::SeqCst));
        jobs.stop();
        jobs.end(first, Outcome::Cancelled);
        let states: Vec<&str> = jobs.list().iter().map(|job| job.state.name()).collect();
        assert_eq!(states, ["done", "cancelled", "cancelled"]);
    }

    #[test]
    fn the_audit_log_names_sources_and_the_datasets_that_a_harvest_changed() {
        let home = tempfile::tempdir().expect("a folder");
        let jobs = Jobs::new(home.path());
        let request = lodeseek_harvest::HarvestRequest {
            sources: vec!["https://e.org/catalog.ttl".to_owned()],
            ..lodeseek_harvest::HarvestRequest::default()
        };
        for changed in [2, MAX_AUDITED_DATASETS + 1] {
            let change = Change::Harvest(Box::new(request.clone()));
            let job = jobs.add(change, "ci", Rights::default()).expect("added");
            assert_eq!(job.sources, request.sources);
            let ids: Vec<String> = (0..changed).map(|number| format!("d{number}")).collect();
            let result = json!({ "harvests": [{ "new": ids, "changed": [] }] });
            jobs.finish(job.id, JobState::Done, Some(result), None);
        }
        let entries = jobs.audit.last(2).expect("read");
        let entries: Vec<Value> = entries
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(entries[0]["sources"], json!(["https://e.org/catalog.ttl"]));
        assert_eq!(entries[0]["datasets"], json!(["d0", "d1"]));
        assert_eq!(
            (&entries[1]["datasets"], &entries[1]["detail"]),
            (&json!([]), &json!("21 datasets changed"))
        );
        let damage = crate::audit::verify_audit(home.path()).expect("read");
        assert_eq!(damage, crate::audit::AuditDamage::default());
    }

    #[test]
    fn results_name_the_datasets_that_were_written() {
        let load = json!({ "datasets": [
            { "id": "oaks", "outcome": "loaded" }, { "id": "elms", "outcome": "unchanged" },
            { "id": "firs", "outcome": "kept" }, { "id": "yews", "outcome": "metadata-only" },
        ] });
        assert_eq!(written_datasets(&load), ["oaks", "yews"]);
        let harvest = json!({ "harvests": [{ "new": ["oaks"], "changed": ["elms"], "kept": ["firs"], "sources": [
            { "gone": ["yews"], "removed": true }, { "gone": ["limes"], "removed": false },
        ] }] });
        assert_eq!(written_datasets(&harvest), ["oaks", "elms", "yews"]);
        assert!(written_datasets(&json!({ "datasets": 3, "files": 12 })).is_empty());
    }

    #[test]
    fn a_stop_cancels_what_has_not_begun() {
        let home = tempfile::tempdir().expect("a folder");
        let jobs = Jobs::new(home.path());
        jobs.add(removal("a"), "ci", Rights::default())
            .expect("added");
        jobs.stop();
        assert_eq!(jobs.get(1).expect("a job").state, JobState::Cancelled);
        assert!(matches!(
            jobs.next(Lane::Changes, Duration::from_secs(60)),
            Next::Stop
        ));
        assert_eq!(
            jobs.add(removal("b"), "ci", Rights::default())
                .map(|job| job.id),
            Err(Refusal::Stopping)
        );
    }

    #[test]
    fn only_the_latest_ended_jobs_are_kept() {
        let home = tempfile::tempdir().expect("a folder");
        let jobs = Jobs::new(home.path());
        let waiting = jobs
            .add(removal("a"), "ci", Rights::default())
            .expect("added");
        assert!(jobs.is_pending("a") && !jobs.is_pending("b"));
        // The first of them ended last.
        let ended = |id: u64| {
            let time = if id == 2 { 9000 } else { id };
            (
                id,
                Job {
                    id,
                    state: JobState::Done,
                    ended: Some(time),
                    ..waiting.clone()
                },
            )
        };
        let mut all: BTreeMap<u64, Job> = (2..MAX_ENDED_JOBS as u64 + 12).map(ended).collect();
        all.insert(1, waiting.clone());
        forget_old(&mut all);
        let ids: Vec<u64> = all.into_keys().collect();
        assert_eq!(
            (ids.len(), &ids[..3]),
            (MAX_ENDED_JOBS + 1, &[1, 2, 13][..])
        );
    }

    #[test]
    fn an_ended_job_lists_a_part_of_its_datasets_and_works() {
        let home = tempfile::tempdir().expect("a folder");
        let jobs = Jobs::new(home.path());
        let ids = (0..MAX_LIST_ENTRIES + 7)
            .map(|number| DatasetId::new(format!("d{number}")).expect("an id"));
        let job = jobs
            .add(Change::Remove(ids.collect()), "ci", Rights::default())
            .expect("added");
        assert!(job.datasets.len() == MAX_LIST_ENTRIES + 7 && jobs.is_pending("d1006"));
        assert!(json!(job).get("unlistedDatasets").is_none());
        assert_eq!(jobs.cancel(job.id), Cancelled::Removed);
        let ended = json!(jobs.get(job.id).expect("a job"));
        assert_eq!(
            (
                ended["datasets"].as_array().map(Vec::len),
                &ended["unlistedDatasets"]
            ),
            (Some(MAX_LIST_ENTRIES), &json!(7))
        );
        let audit: Value = serde_json::from_str(&jobs.audit.last(1).expect("read")).expect("JSON");
        assert_eq!(
            audit["datasets"].as_array().map(Vec::len),
            Some(MAX_LIST_ENTRIES + 7)
        );
        let job = jobs
            .add(
                Change::RemoveWorks(vec!["0f".repeat(16); MAX_LIST_ENTRIES + 3]),
                "ci",
                Rights::default(),
            )
            .expect("added");
        assert_eq!(jobs.cancel(job.id), Cancelled::Removed);
        let ended = jobs.get(job.id).expect("a job");
        assert_eq!(
            (ended.works.len(), ended.unlisted_works),
            (MAX_LIST_ENTRIES, 3)
        );
    }

    #[test]
    fn a_full_queue_refuses() {
        let home = tempfile::tempdir().expect("a folder");
        let jobs = Jobs::new(home.path());
        for _ in 0..MAX_WAITING_JOBS {
            jobs.add(removal("a"), "ci", Rights::default())
                .expect("added");
        }
        assert_eq!(
            jobs.add(removal("a"), "ci", Rights::default())
                .map(|job| job.id),
            Err(Refusal::Full)
        );
    }
}
