//! Admission control: permits for running queries, in total, per client, and for slow ones.
//!
//! A query that finds all permits taken waits for a bounded time, in a queue of bounded length. Most queries take
//! milliseconds, so a permit is soon free as long as few queries hold theirs for seconds. A query that runs longer than
//! [`SparqlLimits::quick`] needs one of the [`SparqlLimits::concurrent_long`] slow permits. Without one it continues
//! while no query is queued, and is cancelled when one is.

use super::{SparqlError, SparqlLimits};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Running queries of a store, including cancelled ones that have not ended yet.
#[derive(Default)]
pub(super) struct Admission {
    counts: Mutex<Counts>,
    left: Condvar,
}

#[derive(Default)]
struct Counts {
    all: usize,
    long: usize,
    waiting: usize,
    /// Those that wait are counted for their client too.
    clients: HashMap<IpAddr, usize>,
}

impl Counts {
    fn free(&mut self, client: Option<IpAddr>) {
        let Some(client) = client else { return };
        match self.clients.get_mut(&client) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(self.clients.remove(&client)),
        }
    }
}

impl Admission {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner) // numbers are right at every moment
    }

    /// Waits until there is room, or until patience is at its end. Whether there is room.
    fn wait<'c>(&self, mut counts: MutexGuard<'c, Counts>, limits: &SparqlLimits) -> (MutexGuard<'c, Counts>, bool) {
        let until = Instant::now() + limits.patience;
        counts.waiting += 1;
        while counts.all >= limits.concurrent {
            let time_left = until.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                break;
            }
            counts = self.left.wait_timeout(counts, time_left).unwrap_or_else(PoisonError::into_inner).0;
        }
        counts.waiting -= 1;
        let is_room = counts.all < limits.concurrent;
        (counts, is_room)
    }
}

/// One of a store's places, given back when dropped.
pub(super) struct Permit {
    running: Arc<Admission>,
    client: Option<IpAddr>,
    is_long: Mutex<bool>,
}

impl Permit {
    pub(super) fn acquire(
        running: &Arc<Admission>,
        client: Option<IpAddr>,
        limits: &SparqlLimits,
    ) -> Result<Self, SparqlError> {
        let mut counts = running.counts();
        if let Some(client) = client {
            let own = counts.clients.get(&client).copied().unwrap_or_default();
            if own >= limits.concurrent_of_client {
                return Err(SparqlError::TooMany(own));
            }
            counts.clients.insert(client, own + 1);
        }
        if counts.all >= limits.concurrent {
            let is_room;
            let is_crowd = counts.waiting >= limits.waiting;
            (counts, is_room) = if is_crowd { (counts, false) } else { running.wait(counts, limits) };
            if !is_room {
                counts.free(client);
                return Err(SparqlError::Busy(counts.all));
            }
        }
        counts.all += 1;
        drop(counts);
        Ok(Self { running: Arc::clone(running), client, is_long: Mutex::new(false) })
    }

    /// To be called while a query takes longer than is quick: whether it may go on.
    pub(super) fn stay(&self, limits: &SparqlLimits) -> Result<(), SparqlError> {
        let mut is_long = self.is_long.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_long {
            return Ok(());
        }
        let mut counts = self.running.counts();
        if counts.long < limits.concurrent_long {
            counts.long += 1;
            *is_long = true;
            return Ok(());
        }
        if counts.waiting == 0 { Ok(()) } else { Err(SparqlError::SlowLimit(counts.long)) }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let is_long = *self.is_long.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut counts = self.running.counts();
        counts.all -= 1;
        counts.long -= usize::from(is_long);
        counts.free(self.client);
        drop(counts);
        self.running.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::thread;
    use std::time::Duration;

    fn client(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from(Ipv4Addr::new(192, 0, 2, last)))
    }

    fn limits() -> SparqlLimits {
        SparqlLimits {
            concurrent: 3,
            concurrent_of_client: 2,
            concurrent_long: 1,
            patience: Duration::ZERO,
            ..SparqlLimits::default()
        }
    }

    #[test]
    fn a_client_takes_no_more_than_its_share() {
        let running = Arc::new(Admission::default());
        let take = |last: Option<u8>| Permit::acquire(&running, last.and_then(client), &limits());
        let (first, _second) = (take(Some(1)).expect("a place"), take(Some(1)).expect("a place"));
        assert!(matches!(take(Some(1)), Err(SparqlError::TooMany(2))));
        let other = take(Some(2)).expect("a place for another");
        assert!(matches!(take(None), Err(SparqlError::Busy(3))));
        assert!(matches!(take(Some(3)), Err(SparqlError::Busy(3))));
        drop(first);
        let third = take(Some(1)).expect("the place given back");
        assert!(matches!(take(Some(1)), Err(SparqlError::TooMany(2))));
        drop((other, third));
        let counts = running.counts();
        assert_eq!((counts.all, counts.clients.len()), (1, 1), "who has no query is forgotten");
    }

    #[test]
    fn who_waits_gets_the_place_given_back() {
        let running = Arc::new(Admission::default());
        let patient = SparqlLimits { concurrent: 1, patience: Duration::from_secs(60), ..limits() };
        let held = Permit::acquire(&running, None, &patient).expect("a place");
        thread::scope(|scope| {
            let waits = scope.spawn(|| Permit::acquire(&running, client(1), &patient).map(drop));
            while running.counts().waiting == 0 {
                thread::yield_now();
            }
            drop(held);
            assert!(waits.join().expect("no panic").is_ok());
        });
        let counts = running.counts();
        assert_eq!((counts.all, counts.waiting, counts.clients.len()), (0, 0, 0));
    }

    #[test]
    fn no_crowd_waits() {
        let running = Arc::new(Admission::default());
        let none = SparqlLimits { concurrent: 0, waiting: 0, patience: Duration::from_secs(60), ..limits() };
        assert!(matches!(Permit::acquire(&running, client(1), &none), Err(SparqlError::Busy(0))));
        assert!(running.counts().clients.is_empty());
    }

    #[test]
    fn what_takes_long_makes_room_for_who_waits() {
        let running = Arc::new(Admission::default());
        let take = || Permit::acquire(&running, None, &limits()).expect("a place");
        let (first, second, third) = (take(), take(), take());
        assert!(first.stay(&limits()).is_ok() && first.stay(&limits()).is_ok());
        assert!(second.stay(&limits()).is_ok(), "nobody waits");
        running.counts().waiting = 1;
        assert!(first.stay(&limits()).is_ok(), "it has one of the places for what takes long");
        assert!(matches!(third.stay(&limits()), Err(SparqlError::SlowLimit(1))));
        drop(first);
        assert!(second.stay(&limits()).is_ok(), "the place for what takes long was given back");
        running.counts().waiting = 0;
        drop((second, third));
        let counts = running.counts();
        assert_eq!((counts.all, counts.long), (0, 0));
    }
}
