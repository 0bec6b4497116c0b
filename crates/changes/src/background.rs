//! Background tasks of the server, for example the harvest that updates its collection.

use crate::change_lock::{ChangeGuard, ChangeLock};
use crate::parsing::Parser;
use crate::setting_files::SettingFiles;
use crate::tasks::Tasks;
use crate::vectors::VectorUpdates;
use lodeseek_engine::{EngineError, IndexOptions, Searcher, Updater};
use lodeseek_net::egress::{Cancellation, deadline_after};
use lodeseek_snapshot::StorageOptions;
use lodeseek_sparql::QueryEngine;
use lodeseek_store::{LoadOptions, Stamp, Store};
use oxsdatatypes::DateTime;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time after which replaced content is deleted. Requests that began earlier may still read it.
pub(crate) const MIN_RETENTION: Duration = Duration::from_secs(60);

/// A task on a thread of its own, for the lifetime of the server.
#[derive(Clone)]
pub struct Background(Arc<dyn Fn(&Live) + Send + Sync>);

impl Background {
    /// Creates a task. It should return soon after [`Live::sleep`] returned false.
    pub fn new(task: impl Fn(&Live) + Send + Sync + 'static) -> Self {
        Self(Arc::new(task))
    }

    /// Runs the task until it ends.
    pub fn run(&self, live: &Live) {
        (self.0)(live);
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Background")
    }
}

/// The served collection, for a task that changes it.
#[derive(Clone)]
pub struct Live {
    /// Store, opened for writing.
    pub store: Arc<Store>,
    /// SPARQL evaluation over the store.
    pub queries: Arc<QueryEngine>,
    /// Search over the index.
    pub searcher: Arc<Searcher>,
    /// Access to storage, for the publication of snapshots.
    pub storage: Arc<StorageOptions>,
    /// Reader of the files that the settings name, for backups.
    pub setting_files: SettingFiles,
    /// Parser of catalogues and dumps.
    pub parser: Parser,
    /// Signal that ends the task.
    pub stop: StopSignal,
    /// Outcomes of tasks.
    pub tasks: Arc<Tasks>,
    /// Order of the changes.
    pub turns: Arc<Turns>,
}

/// Order of the changes of a collection, which all its tasks share.
#[derive(Debug, Default)]
pub struct Turns {
    /// Held while the collection is changed.
    pub(crate) changes: ChangeLock,
    /// Held by the harvest that runs.
    pub(crate) harvests: Mutex<()>,
    /// Updates of vectors, which a task makes while it changes the collection.
    pub(crate) vectors: VectorUpdates,
}

impl Live {
    /// Adds an outcome to the operator's list: a summary of success, or the cause of failure.
    pub fn record(&self, what: &str, outcome: Result<String, String>) {
        self.tasks.add(what, outcome);
    }

    /// Waits until no other task changes the collection, and keeps others from changing it until the result is dropped. Tasks
    /// get the lock in the order of their requests.
    pub fn lock_changes(&self) -> ChangeGuard<'_> {
        self.turns.changes.lock()
    }

    /// Returns an updater that stamps datasets and snippets with the current time.
    pub(crate) fn updater(&self, load: LoadOptions) -> Updater<'_> {
        let now = Some(DateTime::now());
        let stamp = Stamp { now, ..load.stamp };
        Updater::new(
            &self.store,
            LoadOptions { stamp, ..load },
            IndexOptions {
                now,
                ..IndexOptions::default()
            },
        )
    }

    /// Deletes replaced content. Returns false if a change was made within [`MIN_RETENTION`]: requests that began earlier may still
    /// read what it replaced.
    pub(crate) fn clear_replaced_content(&self) -> Result<bool, EngineError> {
        let Some(_change) = self.turns.changes.lock_if_quiet(MIN_RETENTION) else {
            return Ok(false);
        };
        self.updater(LoadOptions::default()).clear_replaced()?;
        Ok(true)
    }

    /// Sleeps for a time, or until the server stops. Returns true if the server still runs.
    #[must_use]
    pub fn sleep(&self, time: Duration) -> bool {
        self.stop.sleep(time)
    }

    /// Returns true if the server stops.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_requested()
    }

    /// Updates the vectors of datasets and works, and then the statistics of queries, until the server stops. Returns the number
    /// of datasets encoded. The next start makes what is missing.
    pub(crate) fn update_vectors_and_statistics(&self) -> Result<usize, EngineError> {
        let encoded = self
            .turns
            .vectors
            .run(&self.searcher, &|| self.is_stopping())?;
        if !self.is_stopping() {
            self.queries.prepare_statistics()?;
        }
        Ok(encoded)
    }

    /// Returns the cancellation of work that ends when the server stops.
    pub(crate) fn cancellation(&self) -> Cancellation {
        let stop = self.stop.clone();
        Cancellation::from_fn(move || stop.is_requested())
    }
}

/// Signal that the server stops.
#[derive(Clone, Default)]
pub struct StopSignal(Arc<(Mutex<bool>, Condvar)>);

impl StopSignal {
    /// Requests the stop.
    pub fn request(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    fn is_requested(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps for a time, or until the server stops. Returns true if the server still runs.
    #[must_use]
    pub fn sleep(&self, time: Duration) -> bool {
        let (is_stopped, condition) = &*self.0;
        let until = deadline_after(time);
        let mut stopped = is_stopped.lock().unwrap_or_else(PoisonError::into_inner);
        while !*stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            stopped = condition
                .wait_timeout(stopped, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_sleep_ends_when_the_server_does() {
        let stop = StopSignal::default();
        assert!(stop.sleep(Duration::from_millis(10)) && !stop.is_requested());
        thread::scope(|scope| {
            scope.spawn(|| stop.request());
            assert!(!stop.sleep(Duration::from_secs(600)));
        });
        assert!(
            !stop.sleep(Duration::from_secs(600)),
            "nor does one begin after that"
        );
        assert!(stop.is_requested());
    }
}
