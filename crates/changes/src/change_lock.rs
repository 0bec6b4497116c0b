//! Lock of changes: the task that waits longest gets it next.
//!
//! A standard mutex lets a thread that stores one batch after another take it again before a waiting thread wakes.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A lock in the order of requests.
#[derive(Debug, Default)]
pub(crate) struct ChangeLock {
    tickets: Mutex<Tickets>,
    next: Condvar,
}

#[derive(Debug, Default)]
struct Tickets {
    /// Ticket of the next request.
    last: u64,
    /// Ticket that may hold the lock.
    current: u64,
    /// Time of the last release.
    released: Option<Instant>,
}

/// Keeps other tasks from changing the collection until it is dropped.
#[derive(Debug)]
pub struct ChangeGuard<'l>(&'l ChangeLock);

impl ChangeLock {
    /// Waits until all earlier requests have ended.
    pub(crate) fn lock(&self) -> ChangeGuard<'_> {
        let mut tickets = self.tickets();
        let own = tickets.last;
        tickets.last += 1;
        while tickets.current != own {
            tickets = self
                .next
                .wait(tickets)
                .unwrap_or_else(PoisonError::into_inner);
        }
        ChangeGuard(self)
    }

    /// Takes the lock if no task held or requested it for a time.
    pub(crate) fn lock_if_quiet(&self, time: Duration) -> Option<ChangeGuard<'_>> {
        let mut tickets = self.tickets();
        // Equal only if no request waits or has the lock.
        let is_free = tickets.current == tickets.last;
        if !is_free || tickets.released.is_some_and(|last| last.elapsed() < time) {
            return None;
        }
        tickets.last += 1;
        Some(ChangeGuard(self))
    }

    fn tickets(&self) -> MutexGuard<'_, Tickets> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ChangeGuard<'_> {
    fn drop(&mut self) {
        let mut tickets = self.0.tickets();
        tickets.current += 1;
        tickets.released = Some(Instant::now());
        drop(tickets);
        // Which of the waiting threads has the next ticket is unknown here.
        self.0.next.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    #[test]
    fn a_waiting_task_is_next() {
        let (lock, batches) = (Arc::new(ChangeLock::default()), Arc::new(AtomicU64::new(0)));
        let first = lock.lock();
        let waiting = {
            let (lock, batches) = (Arc::clone(&lock), Arc::clone(&batches));
            thread::spawn(move || {
                let _change = lock.lock();
                batches.load(Ordering::SeqCst)
            })
        };
        let started = Instant::now();
        while lock.tickets().last < 2 {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "the other thread requests the lock"
            );
            thread::yield_now();
        }
        drop(first);
        for _ in 0..1000 {
            let _change = lock.lock();
            batches.fetch_add(1, Ordering::SeqCst);
        }
        assert_eq!(
            waiting.join().expect("no panic"),
            0,
            "it was before all later batches"
        );
    }

    #[test]
    fn it_is_quiet_some_time_after_the_last_change() {
        let lock = ChangeLock::default();
        drop(
            lock.lock_if_quiet(Duration::from_secs(60))
                .expect("nothing was changed"),
        );
        assert!(
            lock.lock_if_quiet(Duration::from_secs(60)).is_none(),
            "it was held just now"
        );
        let change = lock
            .lock_if_quiet(Duration::ZERO)
            .expect("no other task holds it");
        assert!(
            lock.lock_if_quiet(Duration::ZERO).is_none(),
            "a change is made"
        );
        drop(change);
        drop(lock.lock());
    }
}
