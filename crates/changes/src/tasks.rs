//! Outcomes of background tasks, for operators.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Maximum number of task outcomes in memory.
const MAX_OUTCOMES: usize = 50;

/// Outcomes of background tasks, the last first.
#[derive(Debug, Default)]
pub struct Tasks(Mutex<Vec<Task>>);

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
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.insert(
            0,
            Task {
                when: SystemTime::now(),
                what: what.to_owned(),
                outcome,
            },
        );
        tasks.truncate(MAX_OUTCOMES);
    }

    /// Returns the outcomes, the last first.
    #[must_use]
    pub fn outcomes(&self) -> Vec<Task> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
