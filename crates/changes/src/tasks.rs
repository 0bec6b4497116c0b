//! Outcomes of background tasks, for operators.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Maximum number of task outcomes in memory.
const MAX_OUTCOMES: usize = 50;

/// Outcomes of background tasks, the last first, and totals of all outcomes.
#[derive(Debug, Default)]
pub struct Tasks(Mutex<Log>);

#[derive(Debug, Default)]
struct Log {
    outcomes: Vec<Task>,
    /// By kind of the task, and whether it was done.
    totals: BTreeMap<(String, bool), TaskTotal>,
}

/// Number of tasks of a kind with one outcome.
#[derive(Clone, Copy, Debug)]
pub struct TaskTotal {
    /// Number of tasks since the start.
    pub count: u64,
    /// Time of the end of the last one.
    pub last: SystemTime,
}

/// Outcome of a background task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Time of the end.
    pub when: SystemTime,
    /// Kind of the task, for example `harvest`.
    pub what: String,
    /// Summary of success, or the cause of failure.
    pub outcome: Result<String, String>,
}

impl Tasks {
    /// Adds an outcome.
    pub fn add(&self, what: &str, outcome: Result<String, String>) {
        let when = SystemTime::now();
        let mut log = self.lock();
        let kind = (what.to_owned(), outcome.is_ok());
        let count = match log.totals.get(&kind) {
            Some(total) => total.count + 1,
            None => 1,
        };
        log.totals.insert(kind, TaskTotal { count, last: when });
        let task = Task {
            when,
            what: what.to_owned(),
            outcome,
        };
        log.outcomes.insert(0, task);
        log.outcomes.truncate(MAX_OUTCOMES);
    }

    /// Returns the outcomes, the last first.
    #[must_use]
    pub fn outcomes(&self) -> Vec<Task> {
        self.lock().outcomes.clone()
    }

    /// Returns the totals by kind of the task and whether it was done.
    #[must_use]
    pub fn totals(&self) -> BTreeMap<(String, bool), TaskTotal> {
        self.lock().totals.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
