//! Threads that make the changes of a served collection, and the derived data that follows them.

use crate::background::{Live, StopSignal};
use crate::change::Lane;
use crate::collection::Collection;
use crate::control::{ChangeError, Outcome, failure_outcome};
use crate::execute::make_change;
use crate::harvest_schedule::index_pending;
use crate::harvests::error_chain;
use crate::jobs::{Jobs, Next};
use crate::report::ChangeReport;
use lodeseek_engine::EngineError;
use lodeseek_store::LoadOptions;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Quiet time after which derived data of the whole collection is updated: duplicates, vectors, statistics.
const MIN_QUIET_TIME: Duration = Duration::from_secs(2);
/// Time after which it is updated even if changes never pause.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// The threads that make the changes, one for each lane of the queue. Dropping it stops them after their current steps.
pub struct ChangeWorker {
    jobs: Arc<Jobs>,
    /// Ends the updates of derived data, which are no jobs.
    stop_signal: StopSignal,
    threads: Vec<JoinHandle<()>>,
}

impl ChangeWorker {
    /// Starts the threads that make the changes of a queue.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(jobs: &Arc<Jobs>, live: &Live) -> io::Result<Self> {
        let mut worker = Self {
            jobs: Arc::clone(jobs),
            stop_signal: live.stop.clone(),
            threads: Vec::new(),
        };
        for lane in Lane::ALL {
            let (queue, live) = (Arc::clone(&worker.jobs), live.clone());
            let thread = std::thread::Builder::new().name(lane.name().to_owned());
            worker
                .threads
                .push(thread.spawn(move || make_changes(&queue, lane, &live))?);
        }
        Ok(worker)
    }

    /// Cancels waiting jobs, and waits at most this time for the end of running ones.
    pub fn stop(mut self, time: Duration) {
        self.request_stop();
        let until = Instant::now() + time;
        // A thread cannot be joined with a time limit.
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            if Instant::now() >= until {
                tracing::warn!(
                    "a change did not end in time and was interrupted; the next start completes or undoes it"
                );
                // Dropping this value would otherwise wait for them.
                self.threads.clear();
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn request_stop(&self) {
        self.stop_signal.request();
        self.jobs.stop();
    }
}

impl Drop for ChangeWorker {
    fn drop(&mut self) {
        self.request_stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic was reported by the thread
        }
    }
}

/// Makes the changes of a lane until the server stops.
fn make_changes(jobs: &Arc<Jobs>, lane: Lane, live: &Live) {
    let mut tasks = Upkeep::default();
    if lane == Lane::Changes {
        index_pending(live);
        // The server may have stopped between a change and the derived data of the collection.
        tasks.note_change();
    }
    loop {
        match jobs.next(lane, MIN_QUIET_TIME) {
            Next::Stop => return,
            Next::Idle => tasks.run(live),
            Next::Job(id, change, rights, is_cancelled) => {
                let control = jobs.control(id, rights, is_cancelled);
                // A panic ends one job, not the queue.
                let collection = Collection::Served(live);
                let made = catch_unwind(AssertUnwindSafe(|| {
                    make_change(change, collection, &control)
                }));
                // Also after a failure, because a load or a harvest may have made some of its steps.
                tasks.note_change();
                jobs.end(id, job_outcome(made, live.store.home()));
                if tasks.are_overdue() {
                    tasks.run(live);
                }
            }
        }
    }
}

/// Returns the outcome of a job from the result of its change; an error if the change panicked.
fn job_outcome(
    made: std::thread::Result<Result<ChangeReport, ChangeError>>,
    home: &Path,
) -> Outcome {
    let error = match made {
        Ok(Ok(ChangeReport::Harvest(harvests))) if harvests.is_cancelled => {
            return Outcome::Cancelled;
        }
        Ok(Ok(ChangeReport::Harvest(harvests))) => match harvests.failure() {
            Some(reason) => ChangeError::Failed(reason),
            None => return Outcome::Done(ChangeReport::Harvest(harvests)),
        },
        Ok(Ok(report)) => return Outcome::Done(report),
        Ok(Err(ChangeError::Cancelled)) => return Outcome::Cancelled,
        Ok(Err(ChangeError::ConditionFailed(reason))) => return Outcome::ConditionFailed(reason),
        Ok(Err(error)) => error,
        Err(_) => ChangeError::Failed("internal error; see the server's log".to_owned()),
    };
    // The messages of other errors contain those of their causes.
    let text = match &error {
        ChangeError::Harvest(error) => error_chain(error.as_ref()),
        error => error.to_string(),
    };
    if !matches!(error, ChangeError::Failed(_) | ChangeError::Catalog(_)) {
        tracing::error!(error = text, "a change failed");
    }
    failure_outcome(&text, home)
}

/// Updates of derived data of the whole collection, which follow changes with a delay.
#[derive(Default)]
struct Upkeep {
    /// Time of the first change since the last update.
    changed: Option<Instant>,
    /// If true, there were changes since replaced content was deleted.
    has_replaced: bool,
}

impl Upkeep {
    fn note_change(&mut self) {
        self.changed.get_or_insert_with(Instant::now);
        self.has_replaced = true;
    }

    fn are_overdue(&self) -> bool {
        self.changed
            .is_some_and(|since| since.elapsed() >= MAX_DELAY)
    }

    fn run(&mut self, live: &Live) {
        // The next start updates all.
        if live.is_stopping() {
            return;
        }
        if self.changed.take().is_some()
            && let Err(error) = update_derived_data(live)
        {
            tracing::warn!(%error, "cannot update duplicates, vectors and statistics; the next change tries again");
        }
        // The jobs of other lanes replace content, too.
        if self.has_replaced {
            match live.clear_replaced_content() {
                Ok(is_cleared) => self.has_replaced = !is_cleared,
                Err(error) => {
                    self.has_replaced = false;
                    tracing::warn!(%error, "cannot delete replaced content; the next change tries again");
                }
            }
        }
    }
}

fn update_derived_data(live: &Live) -> Result<(), EngineError> {
    let _change = live.lock_changes();
    live.updater(LoadOptions::default()).find_duplicates()?;
    live.update_vectors_and_statistics()?;
    Ok(())
}
