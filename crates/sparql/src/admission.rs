//! Admission control: permits for running queries, in total, per client, and for slow ones.
//!
//! A query that finds all permits taken waits for a bounded time, in a queue of bounded length. The next permit goes to the client
//! with the fewest running queries, and of these to the query that waits longest: a client with many queries delays its own. Most
//! queries take milliseconds, so a permit is soon free as long as few queries hold theirs for seconds.
//!
//! A query that is expected to be slow, because earlier ones of its shape were, takes one of the [`SparqlLimits::concurrent_long`]
//! slow permits before it starts, and waits for one. While no short query is queued, there are more slow permits: a quarter of all
//! permits remains for short ones. If the known work before it takes longer than [`SparqlLimits::queue_timeout`], it is rejected at
//! once.
//!
//! A query that unexpectedly runs longer than [`SparqlLimits::long_after`] takes a slow permit, too, as long as a quarter of all
//! permits remains. Otherwise it continues while no short query is queued, and is cancelled when one is.
//!
//! *Time.* Running queries share the processors. A query among more of them than there are processors takes longer, and is no slower
//! query for that. So running times are in the time of a query alone: a clock that advances by the share of a processor that each
//! running query has.
//!
//! Queries that wait for the answer of an equal one need no permit for running, and count as queries of their client.

use super::running_times::Expectation;
use super::stream::{CHECK_INTERVAL, Cancellation};
use super::{SparqlError, SparqlLimits};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Running queries of a store, including cancelled ones that have not ended yet.
pub(super) struct Admission {
    /// Number of processors.
    processors: usize,
    counts: Mutex<Counts>,
    /// Notified when a permit is released, and when the next query of the queue changes.
    changed: Condvar,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            processors: thread::available_parallelism().map_or(1, usize::from),
            counts: Mutex::new(Counts::default()),
            changed: Condvar::new(),
        }
    }
}

/// Clock that advances by the share of a processor that each running query has.
struct Clock {
    time: Duration,
    updated: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            time: Duration::ZERO,
            updated: Instant::now(),
        }
    }
}

impl Clock {
    /// Advances the clock. To be called before the number of running queries changes.
    fn advance(&mut self, running: usize, processors: usize) -> Duration {
        let share = (processors as f64 / running.max(1) as f64).min(1.0);
        let now = Instant::now();
        self.time += (now - self.updated).mul_f64(share);
        self.updated = now;
        self.time
    }
}

#[derive(Default)]
struct Counts {
    clock: Clock,
    running: usize,
    /// Of these, queries with a slow permit.
    long: usize,
    /// Sum of the expected running times of the running queries.
    running_time: Duration,
    /// Queries that wait for the answer of an equal one.
    sharing: usize,
    /// The queued queries, the oldest first.
    queue: VecDeque<Queued>,
    last_ticket: u64,
    /// Running, queued and sharing queries of each client.
    clients: HashMap<IpAddr, usize>,
}

/// A query without a permit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Queued {
    ticket: u64,
    client: Option<IpAddr>,
    /// If true, it needs a slow permit.
    is_long: bool,
    /// Expected running time.
    time: Duration,
}

/// Request for a permit.
#[derive(Clone)]
pub(super) struct PermitRequest {
    pub(super) client: Option<IpAddr>,
    pub(super) expected: Expectation,
    /// Cancelled if the client leaves.
    pub(super) cancellation: Cancellation,
}

impl Counts {
    fn has_free_permit(&self, is_long: bool, limits: &SparqlLimits) -> bool {
        if self.running >= limits.concurrent {
            return false;
        }
        !is_long
            || self.long < limits.concurrent_long
            || (self.running < unreserved(limits) && !self.has_short_in_queue())
    }

    /// Returns the expected time until the work of all queries before a new one is done. The running ones have done half of theirs on
    /// average.
    fn expected_wait(&self, processors: usize) -> Duration {
        let queued: Duration = self.queue.iter().map(|queued| queued.time).sum();
        (queued + self.running_time / 2).div_f64(processors as f64)
    }

    fn has_short_in_queue(&self) -> bool {
        self.queue.iter().any(|queued| !queued.is_long)
    }

    /// Returns the ticket of the query that gets the next permit.
    fn next_ticket(&self, limits: &SparqlLimits) -> Option<u64> {
        let next = self
            .queue
            .iter()
            .filter(|queued| self.has_free_permit(queued.is_long, limits))
            .min_by_key(|queued| (self.running_of(queued.client), queued.ticket));
        next.map(|queued| queued.ticket)
    }

    /// Returns the number of running queries of a client. Those without an address are no one client.
    fn running_of(&self, client: Option<IpAddr>) -> usize {
        let Some(address) = client else { return 0 };
        let all = self.clients.get(&address).copied().unwrap_or_default();
        let queued = self.queue.iter().filter(|queued| queued.client == client);
        all.saturating_sub(queued.count())
    }

    fn add_client(
        &mut self,
        client: Option<IpAddr>,
        limits: &SparqlLimits,
    ) -> Result<(), SparqlError> {
        let Some(client) = client else { return Ok(()) };
        let own = self.clients.get(&client).copied().unwrap_or_default();
        if own >= limits.concurrent_of_client {
            return Err(SparqlError::TooMany(own));
        }
        self.clients.insert(client, own + 1);
        Ok(())
    }

    fn remove_client(&mut self, client: Option<IpAddr>) {
        let Some(client) = client else { return };
        match self.clients.get_mut(&client) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(self.clients.remove(&client)),
        }
    }
}

/// Returns the number of permits that are not reserved for short queries.
fn unreserved(limits: &SparqlLimits) -> usize {
    let reserved = (limits.concurrent / 4).max(1);
    limits.concurrent.saturating_sub(reserved)
}

impl Admission {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner) // the numbers are consistent at every moment
    }

    /// Starts a query whose client is counted, at once or after it was queued.
    fn start<'c>(
        &self,
        mut counts: MutexGuard<'c, Counts>,
        request: &PermitRequest,
        limits: &SparqlLimits,
    ) -> (MutexGuard<'c, Counts>, Result<PermitState, SparqlError>) {
        let is_long = request.expected.time >= limits.long_after;
        if request.expected.exceeds_deadline && !counts.queue.is_empty() {
            let error = SparqlError::SlowLimit(counts.long);
            return (counts, Err(error));
        }
        let is_next =
            counts.next_ticket(limits).is_none() && counts.has_free_permit(is_long, limits);
        if !is_next {
            let waits_too_long =
                is_long && counts.expected_wait(self.processors) > limits.queue_timeout;
            if waits_too_long || counts.queue.len() >= limits.waiting {
                let error = SparqlError::Busy(counts.running);
                return (counts, Err(error));
            }
            let admitted;
            (counts, admitted) = self.wait(counts, request, is_long, limits);
            if let Err(error) = admitted {
                return (counts, Err(error));
            }
        }
        let running = counts.running;
        let running = Running {
            since: counts.clock.advance(running, self.processors),
            expected: request.expected.time,
            is_long,
        };
        counts.running += 1;
        counts.long += usize::from(is_long);
        counts.running_time += running.expected;
        (counts, Ok(PermitState::Running(running)))
    }

    /// Queues a query until a permit is free and no other query precedes it. Fails after [`SparqlLimits::queue_timeout`], and if
    /// the client leaves.
    fn wait<'c>(
        &self,
        mut counts: MutexGuard<'c, Counts>,
        request: &PermitRequest,
        is_long: bool,
        limits: &SparqlLimits,
    ) -> (MutexGuard<'c, Counts>, Result<(), SparqlError>) {
        let until = Instant::now() + limits.queue_timeout;
        counts.last_ticket += 1;
        let ticket = counts.last_ticket;
        counts.queue.push_back(Queued {
            ticket,
            client: request.client,
            is_long,
            time: request.expected.time,
        });
        let admitted = loop {
            if counts.next_ticket(limits) == Some(ticket) {
                break Ok(());
            }
            if request.cancellation.is_cancelled() {
                break Err(SparqlError::Cancelled);
            }
            let time_left = until.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                break Err(SparqlError::Busy(counts.running));
            }
            counts = self
                .changed
                .wait_timeout(counts, time_left.min(CHECK_INTERVAL))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        };
        counts.queue.retain(|other| other.ticket != ticket);
        self.changed.notify_all(); // another permit may be free for the next query
        (counts, admitted)
    }
}

/// Permit of a running query, or of one that waits for the answer of an equal one. Released when dropped.
pub(super) struct Permit {
    admission: Arc<Admission>,
    client: Option<IpAddr>,
    state: Mutex<PermitState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PermitState {
    /// The query waits for the answer of an equal one.
    Sharing,
    /// The query runs.
    Running(Running),
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Running {
    /// Time of the clock at the start.
    since: Duration,
    /// Expected running time.
    expected: Duration,
    /// If true, it has a slow permit.
    is_long: bool,
}

impl Permit {
    /// Acquires a permit to run. Waits if none is free or other queries precede this one.
    ///
    /// A query whose shape exceeded its deadline in the last runs is rejected at once while others are queued.
    pub(super) fn acquire(
        admission: &Arc<Admission>,
        request: &PermitRequest,
        limits: &SparqlLimits,
    ) -> Result<Self, SparqlError> {
        let mut counts = admission.counts();
        counts.add_client(request.client, limits)?;
        let (mut counts, admitted) = admission.start(counts, request, limits);
        match admitted {
            Ok(state) => {
                drop(counts);
                Ok(Self {
                    admission: Arc::clone(admission),
                    client: request.client,
                    state: Mutex::new(state),
                })
            }
            Err(error) => {
                counts.remove_client(request.client);
                Err(error)
            }
        }
    }

    /// Acquires a permit to wait for the answer of an equal query. `None` if [`SparqlLimits::waiting`] queries have one.
    pub(super) fn acquire_sharing(
        admission: &Arc<Admission>,
        client: Option<IpAddr>,
        limits: &SparqlLimits,
    ) -> Result<Option<Self>, SparqlError> {
        let mut counts = admission.counts();
        if counts.sharing >= limits.waiting {
            return Ok(None);
        }
        counts.add_client(client, limits)?;
        counts.sharing += 1;
        drop(counts);
        Ok(Some(Self {
            admission: Arc::clone(admission),
            client,
            state: Mutex::new(PermitState::Sharing),
        }))
    }

    /// Turns a permit to wait for the answer of an equal query into one to run, as [`Permit::acquire`] does.
    pub(super) fn run(
        &self,
        request: &PermitRequest,
        limits: &SparqlLimits,
    ) -> Result<(), SparqlError> {
        if *self.state() != PermitState::Sharing {
            return Ok(());
        }
        let (mut counts, admitted) = self
            .admission
            .start(self.admission.counts(), request, limits);
        let running = admitted?;
        counts.sharing -= 1;
        drop(counts);
        *self.state() = running;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, PermitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the running time of the query, as if it ran alone.
    pub(super) fn running_time(&self) -> Duration {
        match *self.state() {
            PermitState::Sharing => Duration::ZERO,
            PermitState::Running(running) => {
                self.time_since(&running, &mut self.admission.counts())
            }
        }
    }

    fn time_since(&self, running: &Running, counts: &mut Counts) -> Duration {
        let number = counts.running;
        let now = counts.clock.advance(number, self.admission.processors);
        now.saturating_sub(running.since)
    }

    /// Checks the running time of the query. One that is long takes a slow permit. Fails if none is free and a queued query could use
    /// the permit of this one.
    pub(super) fn check_running_time(&self, limits: &SparqlLimits) -> Result<(), SparqlError> {
        let mut state = self.state();
        let PermitState::Running(running) = &mut *state else {
            return Ok(());
        };
        let mut counts = self.admission.counts();
        if running.is_long || self.time_since(running, &mut counts) < limits.long_after {
            return Ok(());
        }
        if counts.long < limits.concurrent_long.max(unreserved(limits)) {
            counts.long += 1;
            running.is_long = true;
            return Ok(());
        }
        if counts.has_short_in_queue() {
            Err(SparqlError::SlowLimit(counts.long))
        } else {
            Ok(())
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let state = *self.state();
        let mut counts = self.admission.counts();
        match state {
            PermitState::Running(running) => {
                self.time_since(&running, &mut counts); // the number of running queries changes
                counts.running -= 1;
                counts.long -= usize::from(running.is_long);
                counts.running_time -= running.expected;
            }
            PermitState::Sharing => counts.sharing -= 1,
        }
        counts.remove_client(self.client);
        drop(counts);
        self.admission.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// A query that waits for ever.
    const QUEUED: Queued = Queued {
        ticket: 0,
        client: None,
        is_long: false,
        time: Duration::ZERO,
    };

    fn request(client: Option<IpAddr>) -> PermitRequest {
        PermitRequest {
            client,
            expected: Expectation::default(),
            cancellation: Cancellation::default(),
        }
    }

    fn client(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from(Ipv4Addr::new(192, 0, 2, last)))
    }

    fn limits() -> SparqlLimits {
        SparqlLimits {
            concurrent: 3,
            concurrent_of_client: 2,
            concurrent_long: 1,
            queue_timeout: Duration::ZERO,
            long_after: Duration::from_nanos(1),
            ..SparqlLimits::default()
        }
    }

    #[test]
    fn a_client_has_a_limited_share_of_the_permits() {
        let admission = Arc::new(Admission::default());
        let acquire = |last: Option<u8>| {
            Permit::acquire(&admission, &request(last.and_then(client)), &limits())
        };
        let (first, _second) = (
            acquire(Some(1)).expect("a permit"),
            acquire(Some(1)).expect("a permit"),
        );
        assert!(matches!(acquire(Some(1)), Err(SparqlError::TooMany(2))));
        let other = acquire(Some(2)).expect("a permit for another client");
        assert!(matches!(acquire(None), Err(SparqlError::Busy(3))));
        assert!(matches!(acquire(Some(3)), Err(SparqlError::Busy(3))));
        drop(first);
        let third = acquire(Some(1)).expect("the released permit");
        assert!(matches!(acquire(Some(1)), Err(SparqlError::TooMany(2))));
        drop((other, third));
        let counts = admission.counts();
        assert_eq!(
            (counts.running, counts.clients.len()),
            (1, 1),
            "clients without queries are removed"
        );
    }

    #[test]
    fn queued_queries_are_admitted_in_their_order() {
        let admission = Arc::new(Admission::default());
        let queued = SparqlLimits {
            concurrent: 1,
            queue_timeout: Duration::from_secs(60),
            ..limits()
        };
        let held = Permit::acquire(&admission, &request(None), &queued).expect("a permit");
        let admitted = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for number in 0..5 {
                let (admission, queued, admitted) = (&admission, &queued, &admitted);
                scope.spawn(move || {
                    let permit = Permit::acquire(admission, &request(client(number)), queued)
                        .expect("a permit");
                    admitted.lock().expect("no panic").push(number);
                    drop(permit);
                });
                while admission.counts().queue.len() <= usize::from(number) {
                    thread::yield_now();
                }
            }
            drop(held);
        });
        assert_eq!(admitted.into_inner().expect("no panic"), [0, 1, 2, 3, 4]);
        let counts = admission.counts();
        assert_eq!(
            (counts.running, counts.queue.len(), counts.clients.len()),
            (0, 0, 0)
        );
    }

    #[test]
    fn the_client_with_the_fewest_running_queries_is_next() {
        let admission = Arc::new(Admission::default());
        let queued = SparqlLimits {
            concurrent: 2,
            concurrent_of_client: 9,
            queue_timeout: Duration::from_secs(60),
            ..limits()
        };
        let acquire =
            |last| Permit::acquire(&admission, &request(client(last)), &queued).expect("a permit");
        let (first, second) = (acquire(1), acquire(1));
        let admitted = Mutex::new(Vec::new());
        thread::scope(|scope| {
            // Client 1 has a running query more than the others, and asks before them.
            for (place, last) in [1, 1, 2, 3].into_iter().enumerate() {
                let (acquire, admitted) = (&acquire, &admitted);
                scope.spawn(move || {
                    let permit = acquire(last);
                    admitted.lock().expect("no panic").push(last);
                    drop(permit);
                });
                while admission.counts().queue.len() <= place {
                    thread::yield_now();
                }
            }
            drop(first);
        });
        drop(second);
        assert_eq!(admitted.into_inner().expect("no panic"), [2, 3, 1, 1]);
    }

    #[test]
    fn a_new_query_does_not_overtake_a_queued_one() {
        let admission = Arc::new(Admission::default());
        admission.counts().queue.push_back(QUEUED); // a permit was released, and the queued query has not been woken yet
        assert!(matches!(
            Permit::acquire(&admission, &request(client(1)), &limits()),
            Err(SparqlError::Busy(0))
        ));
        assert_eq!(
            admission.counts().queue,
            [QUEUED],
            "the query that timed out is not queued"
        );
    }

    #[test]
    fn two_released_permits_admit_two_queued_queries() {
        let admission = Arc::new(Admission::default());
        let queued = SparqlLimits {
            concurrent: 2,
            queue_timeout: Duration::from_secs(60),
            ..limits()
        };
        let held = [(); 2]
            .map(|()| Permit::acquire(&admission, &request(None), &queued).expect("a permit"));
        let both = std::sync::Barrier::new(2);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _permit =
                        Permit::acquire(&admission, &request(None), &queued).expect("a permit");
                    both.wait();
                });
            }
            while admission.counts().queue.len() < 2 {
                thread::yield_now();
            }
            drop(held);
        });
        assert_eq!(admission.counts().running, 0);
    }

    #[test]
    fn a_full_queue_rejects_queries() {
        let admission = Arc::new(Admission::default());
        let none = SparqlLimits {
            concurrent: 0,
            waiting: 0,
            queue_timeout: Duration::from_secs(60),
            ..limits()
        };
        assert!(matches!(
            Permit::acquire(&admission, &request(client(1)), &none),
            Err(SparqlError::Busy(0))
        ));
        assert!(admission.counts().clients.is_empty());
    }

    #[test]
    fn long_queries_are_cancelled_while_others_are_queued() {
        let admission = Arc::new(Admission::default());
        let acquire = || Permit::acquire(&admission, &request(None), &limits()).expect("a permit");
        let (first, second, third) = (acquire(), acquire(), acquire());
        for _ in 0..2 {
            assert!(first.check_running_time(&limits()).is_ok());
            assert!(second.check_running_time(&limits()).is_ok());
        }
        assert!(
            third.check_running_time(&limits()).is_ok(),
            "no query is queued"
        );
        admission.counts().queue.push_back(QUEUED);
        assert!(
            first.check_running_time(&limits()).is_ok(),
            "it has a slow permit"
        );
        assert!(matches!(
            third.check_running_time(&limits()),
            Err(SparqlError::SlowLimit(2))
        ));
        drop(first);
        assert!(
            third.check_running_time(&limits()).is_ok(),
            "the slow permit was released"
        );
        admission.counts().queue.clear();
        drop((second, third));
        let counts = admission.counts();
        assert_eq!((counts.running, counts.long), (0, 0));
    }

    #[test]
    fn the_clock_advances_by_the_share_of_a_processor() {
        let mut clock = Clock::default();
        for (running, processors, share) in [(4, 2, 0.5), (2, 2, 1.0), (1, 2, 1.0), (0, 2, 1.0)] {
            let before = clock.time;
            let ago = Duration::from_secs(1_000);
            clock.updated = Instant::now().checked_sub(ago).unwrap_or(clock.updated);
            let advanced = clock.advance(running, processors) - before;
            let deviation = advanced.as_secs_f64() / ago.as_secs_f64() - share;
            assert!((0.0..0.01).contains(&deviation), "{running}: {advanced:?}");
        }
    }

    #[test]
    fn a_long_query_is_rejected_at_once_if_it_would_wait_for_long() {
        let admission = Arc::new(Admission {
            processors: 2,
            ..Admission::default()
        });
        let patient = SparqlLimits {
            queue_timeout: Duration::from_secs(600),
            ..limits()
        };
        let expecting = |seconds| PermitRequest {
            expected: Expectation {
                time: Duration::from_secs(seconds),
                exceeds_deadline: false,
            },
            ..request(None)
        };
        let _running = [(); 2]
            .map(|()| Permit::acquire(&admission, &expecting(400), &patient).expect("a permit"));
        let queued = Queued {
            is_long: true,
            time: Duration::from_secs(700),
            ..QUEUED
        };
        admission.counts().queue.push_back(queued);
        assert_eq!(
            admission.counts().expected_wait(2),
            Duration::from_secs(550)
        );
        admission.counts().queue.push_back(queued);
        assert!(matches!(
            Permit::acquire(&admission, &expecting(1), &patient),
            Err(SparqlError::Busy(2))
        ));
        let short = Permit::acquire(&admission, &request(None), &patient);
        assert!(short.is_ok(), "a permit is reserved for it");
    }

    #[test]
    fn a_query_of_a_long_shape_waits_for_a_slow_permit() {
        let admission = Arc::new(Admission::default());
        let long = PermitRequest {
            expected: Expectation {
                time: Duration::from_secs(1),
                exceeds_deadline: false,
            },
            ..request(None)
        };
        let first = Permit::acquire(&admission, &long, &limits()).expect("a slow permit");
        let second = Permit::acquire(&admission, &long, &limits()).expect("one permit is left");
        assert!(matches!(
            Permit::acquire(&admission, &long, &limits()),
            Err(SparqlError::Busy(2))
        ));
        drop(second);
        admission.counts().queue.push_back(QUEUED);
        assert!(matches!(
            Permit::acquire(&admission, &long, &limits()),
            Err(SparqlError::Busy(1))
        ));
        admission.counts().queue.clear();
        admission.counts().queue.push_back(Queued {
            is_long: true,
            ..QUEUED
        });
        let short = Permit::acquire(&admission, &request(None), &limits())
            .expect("a queued long query does not delay it");
        assert!(
            short.check_running_time(&limits()).is_ok(),
            "the queued query could not use its permit"
        );
        admission.counts().queue.clear();
        drop(first);
        assert!(Permit::acquire(&admission, &long, &limits()).is_ok());
    }

    #[test]
    fn a_query_that_will_not_end_is_refused_while_others_wait() {
        let admission = Arc::new(Admission::default());
        let endless = PermitRequest {
            expected: Expectation {
                time: limits().deadline,
                exceeds_deadline: true,
            },
            ..request(client(1))
        };
        drop(Permit::acquire(&admission, &endless, &limits()).expect("no query waits"));
        admission.counts().queue.push_back(QUEUED);
        assert!(matches!(
            Permit::acquire(&admission, &endless, &limits()),
            Err(SparqlError::SlowLimit(0))
        ));
        assert!(admission.counts().clients.is_empty());
    }

    #[test]
    fn a_query_leaves_the_queue_with_its_client() {
        let admission = Arc::new(Admission::default());
        let none = SparqlLimits {
            concurrent: 0,
            queue_timeout: Duration::from_secs(600),
            ..limits()
        };
        let gone = request(client(1));
        gone.cancellation.cancel();
        assert!(matches!(
            Permit::acquire(&admission, &gone, &none),
            Err(SparqlError::Cancelled)
        ));
        let counts = admission.counts();
        assert_eq!((counts.queue.len(), counts.clients.len()), (0, 0));
    }

    #[test]
    fn queries_that_share_an_answer_are_bounded() {
        let admission = Arc::new(Admission::default());
        let few = SparqlLimits {
            waiting: 3,
            ..limits()
        };
        let share = |last| Permit::acquire_sharing(&admission, client(last), &few);
        let (first, _second) = (share(1).expect("a permit"), share(1).expect("a permit"));
        assert!(matches!(share(1), Err(SparqlError::TooMany(2))));
        let third = share(2).expect("a permit");
        assert!(matches!(share(3), Ok(None)));
        drop(first);
        assert!(matches!(share(3), Ok(Some(_))));
        let third = third.expect("a permit");
        third
            .run(&request(client(2)), &few)
            .expect("a permit to run, for a query that is counted");
        assert!(third.check_running_time(&few).is_ok());
        let counts = admission.counts();
        assert_eq!((counts.running, counts.sharing, counts.long), (1, 1, 1));
        drop(counts);
        drop(third);
        assert_eq!(admission.counts().running, 0);
    }
}
