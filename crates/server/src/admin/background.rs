//! What a server does beside answering: bring its collection up to date.

use super::Tasks;
use crate::AppState;
use lodeseek_engine::Searcher;
use lodeseek_sparql::QueryEngine;
use lodeseek_store::Store;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A task that runs in a thread of its own as long as the server does.
#[derive(Clone)]
pub struct Background(Arc<dyn Fn(&Live) + Send + Sync>);

impl Background {
    /// A task. It should return soon after [`Live::sleep`] has told it to stop.
    pub fn new(task: impl Fn(&Live) + Send + Sync + 'static) -> Self {
        Self(Arc::new(task))
    }

    pub(crate) fn run(&self, live: &Live) {
        (self.0)(live);
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Background")
    }
}

/// What is served, for a task that changes it.
#[derive(Clone)]
pub struct Live {
    /// The store, opened for writing.
    pub store: Arc<Store>,
    /// SPARQL evaluation over the store.
    pub queries: Arc<QueryEngine>,
    /// The search.
    pub searcher: Arc<Searcher>,
    stop: Stop,
    tasks: Arc<Tasks>,
}

impl Live {
    pub(crate) fn new(state: &AppState, stop: Stop) -> Self {
        let tasks = state.admin.as_ref().map(|operator| Arc::clone(&operator.tasks)).unwrap_or_default();
        Self {
            store: Arc::clone(&state.store),
            queries: Arc::clone(&state.sparql.engine),
            searcher: Arc::clone(&state.searcher),
            stop,
            tasks,
        }
    }

    /// Tells the operator what came of something: what was done, or why it was not.
    pub fn tell(&self, what: &str, outcome: Result<String, String>) {
        self.tasks.add(what, outcome);
    }

    /// Waits. Whether the server still runs.
    #[must_use]
    pub fn sleep(&self, time: Duration) -> bool {
        self.stop.sleep(time)
    }
}

/// Whether the server is asked to stop.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    pub(crate) fn request(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    fn sleep(&self, time: Duration) -> bool {
        let (is_asked, told) = &*self.0;
        let until = Instant::now() + time;
        let mut asked = is_asked.lock().unwrap_or_else(PoisonError::into_inner);
        while !*asked {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            asked = told.wait_timeout(asked, left).unwrap_or_else(PoisonError::into_inner).0;
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
        let stop = Stop::default();
        assert!(stop.sleep(Duration::from_millis(10)));
        thread::scope(|scope| {
            scope.spawn(|| stop.request());
            assert!(!stop.sleep(Duration::from_secs(600)));
        });
        assert!(!stop.sleep(Duration::from_secs(600)), "nor does one begin after that");
    }
}
