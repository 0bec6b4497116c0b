//! Admission control: permits for running queries, in total, per client, and for slow ones.
//!
//! A query that finds all permits taken waits for a bounded time, in a queue of bounded length. The next permit goes to the client
//! with the fewest running queries, and of these to the query that waits longest: a client with many queries delays its own. Most
//! queries take milliseconds, so a permit is soon free as long as few queries hold theirs for seconds.
//!
//! *Slots.* Queries that compute at the same time take the caches of the processor from each other, and all end later. So there is
//! only one slot more than processors. A query uses none while it waits for its client, nor if it may wait for services. A quarter of
//! the slots, and of the permits, is reserved for short queries.
//!
//! *Slow queries.* A query that is expected to run longer than [`SparqlLimits::long_after`], because earlier ones of its shape did,
//! starts only if the reserved slots remain. If the known work before it takes longer than [`SparqlLimits::queue_timeout`], it is
//! rejected at once. One that runs longer unexpectedly continues, unless it uses a reserved slot and a short query is queued: then it
//! is cancelled, and the next one of its shape is expected to be slow.
//!
//! *Time.* A query among more of them than there are processors takes longer, and is no slower query for that. So running times are in
//! the time of a query alone: a clock that advances by the share of a processor that each running query has.
//!
//! Queries that wait for the answer of an equal one need no permit for running, and count as queries of their client.

use super::running_times::{Expectation, RunningTimes, Shape};
use super::stream::{CHECK_INTERVAL, Cancellation};
use super::{SparqlError, SparqlLimits};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Running queries of a store, including cancelled ones that have not ended yet.
pub(super) struct Admission {
    counts: Mutex<Counts>,
    /// Notified when a permit is released, and when the next query of the queue changes.
    changed: Condvar,
}

impl Default for Admission {
    fn default() -> Self {
        let processors = match thread::available_parallelism() {
            Ok(number) => number.get(),
            Err(_) => 1,
        };
        Self::with_processors(processors)
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
    /// Number of processors.
    processors: usize,
    clock: Clock,
    /// Running times of earlier queries.
    times: RunningTimes,
    running: usize,
    /// Of these, long queries.
    long: usize,
    /// Of the running queries, those that compute.
    computing: usize,
    /// Of these, long queries.
    long_computing: usize,
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
    shape: Option<Shape>,
    /// Expected running time.
    time: Duration,
}

impl Queued {
    fn is_long(&self, limits: &SparqlLimits) -> bool {
        self.time >= limits.long_after
    }
}

/// Request for a permit.
#[derive(Clone)]
pub(super) struct PermitRequest {
    pub(super) client: Option<IpAddr>,
    /// Shape of the query, by which its running time is expected. Without one it is expected to be short.
    pub(super) shape: Option<Shape>,
    /// Cancelled if the client leaves.
    pub(super) cancellation: Cancellation,
}

impl Counts {
    /// Returns the number of slots for queries that compute.
    fn slots(&self, limits: &SparqlLimits) -> usize {
        limits.concurrent.min(self.processors + 1)
    }

    fn has_free_permit(&self, query: &Queued, limits: &SparqlLimits) -> bool {
        if self.running >= limits.concurrent {
            return false;
        }
        (is_federated(query.shape) || self.computing < self.slots(limits))
            && (!query.is_long(limits) || self.has_place_for_long(query.shape, limits))
    }

    /// Returns true if one more long query leaves the reserved permits and slots to short ones.
    fn has_place_for_long(&self, shape: Option<Shape>, limits: &SparqlLimits) -> bool {
        let slots = self.slots(limits);
        self.long + reserved_permits(limits.concurrent) < limits.concurrent
            && (is_federated(shape) || self.long_computing + reserved_permits(slots) < slots)
    }

    /// Advances the clock to now. To be called before the number of computing queries changes.
    fn advance_clock(&mut self) -> Duration {
        self.clock.advance(self.computing, self.processors)
    }

    /// Returns the expected time until the work of all queries before a new one is done. The running ones have done half of theirs on
    /// average.
    fn expected_wait(&self) -> Duration {
        let queued: Duration = self.queue.iter().map(|queued| queued.time).sum();
        (queued + self.running_time / 2).div_f64(self.processors.max(1) as f64)
    }

    fn expectation(&mut self, shape: Option<Shape>) -> Expectation {
        match shape {
            Some(shape) => self.times.expectation(shape),
            None => Expectation::default(),
        }
    }

    /// Updates the expectation of queued queries of a shape.
    fn update_queue(&mut self, shape: Shape) {
        let time = self.times.expectation(shape).time;
        for queued in &mut self.queue {
            if queued.shape == Some(shape) {
                queued.time = time;
            }
        }
    }

    fn has_short_in_queue(&self, limits: &SparqlLimits) -> bool {
        self.queue.iter().any(|queued| !queued.is_long(limits))
    }

    fn add_running(&mut self, running: &Running) {
        self.running += 1;
        self.long += usize::from(running.is_long);
        self.computing += usize::from(running.is_computing());
        self.long_computing += usize::from(running.is_long && running.is_computing());
        self.running_time += running.expected;
    }

    fn remove_running(&mut self, running: &Running) {
        self.running -= 1;
        self.long -= usize::from(running.is_long);
        self.computing -= usize::from(running.is_computing());
        self.long_computing -= usize::from(running.is_long && running.is_computing());
        self.running_time -= running.expected;
    }

    /// Returns the ticket of the query that gets the next permit.
    fn next_ticket(&self, limits: &SparqlLimits) -> Option<u64> {
        let next = self
            .queue
            .iter()
            .filter(|queued| self.has_free_permit(queued, limits))
            .min_by_key(|queued| (self.running_of(queued.client), queued.ticket));
        next.map(|queued| queued.ticket)
    }

    /// Returns the number of running queries of a client. Those without an address are no one client.
    fn running_of(&self, client: Option<IpAddr>) -> usize {
        let Some(address) = client else { return 0 };
        let all = self.clients.get(&address).copied().unwrap_or_default();
        // The number of a client includes its queued queries.
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

/// Returns the number of slots or permits that are reserved for short queries.
fn reserved_permits(all: usize) -> usize {
    // At least one, but never all: long queries must run at some time.
    (all / 4).max(1).min(all.saturating_sub(1))
}

fn is_federated(shape: Option<Shape>) -> bool {
    shape.is_some_and(|shape| shape.is_federated)
}

impl Admission {
    /// Creates the admission of queries that take no processor for long: each that has a permit has a slot.
    pub(super) fn with_slots_for_all() -> Self {
        // There is one slot more than processors.
        Self::with_processors(usize::MAX - 1)
    }

    pub(super) fn with_processors(processors: usize) -> Self {
        let counts = Counts {
            processors,
            ..Counts::default()
        };
        Self {
            counts: Mutex::new(counts),
            changed: Condvar::new(),
        }
    }

    fn lock_counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner) // the numbers are consistent at every moment
    }

    /// Starts a query whose client is counted, at once or after it was queued.
    fn start<'c>(
        &self,
        mut counts: MutexGuard<'c, Counts>,
        request: &PermitRequest,
        limits: &SparqlLimits,
    ) -> (MutexGuard<'c, Counts>, Result<PermitState, SparqlError>) {
        let expected = counts.expectation(request.shape);
        // It would hold a permit until it is cancelled, while others wait.
        if expected.exceeds_deadline && !counts.queue.is_empty() {
            let error = SparqlError::SlowLimit(counts.long);
            return (counts, Err(error));
        }
        let mut query = Queued {
            ticket: counts.last_ticket + 1,
            client: request.client,
            shape: request.shape,
            time: expected.time,
        };
        // A queued query that may run precedes it.
        let is_next =
            counts.next_ticket(limits).is_none() && counts.has_free_permit(&query, limits);
        if !is_next {
            let waits_too_long =
                query.is_long(limits) && counts.expected_wait() > limits.queue_timeout;
            if waits_too_long || counts.queue.len() >= limits.waiting {
                let error = SparqlError::Busy(counts.running);
                return (counts, Err(error));
            }
            let admitted;
            (counts, admitted) = self.wait(counts, query, request, limits);
            match admitted {
                // Queries of its shape may have ended meanwhile, and changed what is expected of it.
                Ok(queued) => query = queued,
                Err(error) => return (counts, Err(error)),
            }
        }
        let running = Running {
            since: counts.advance_clock(),
            shape: query.shape,
            expected: query.time,
            is_long: query.is_long(limits),
            waited: Duration::ZERO,
            waits_since: None,
        };
        counts.add_running(&running);
        (counts, Ok(PermitState::Running(running)))
    }

    /// Queues a query until a permit is free and no other query precedes it. Fails after [`SparqlLimits::queue_timeout`], and if
    /// the client leaves. Returns it with what is expected of it now.
    fn wait<'c>(
        &self,
        mut counts: MutexGuard<'c, Counts>,
        query: Queued,
        request: &PermitRequest,
        limits: &SparqlLimits,
    ) -> (MutexGuard<'c, Counts>, Result<Queued, SparqlError>) {
        let until = Instant::now() + limits.queue_timeout;
        let ticket = query.ticket;
        counts.last_ticket = ticket;
        counts.queue.push_back(query);
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
            // A cancellation notifies nobody, so it is checked regularly.
            counts = self
                .changed
                .wait_timeout(counts, time_left.min(CHECK_INTERVAL))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        };
        let place = counts.queue.iter().position(|other| other.ticket == ticket);
        let queued = place.and_then(|place| counts.queue.remove(place));
        self.changed.notify_all(); // another permit may be free for the next query
        (counts, admitted.map(|()| queued.unwrap_or(query)))
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
    shape: Option<Shape>,
    /// Expected running time.
    expected: Duration,
    is_long: bool,
    /// Time that it waited for its client before.
    waited: Duration,
    /// Time of the clock since when it waits for its client.
    waits_since: Option<Duration>,
}

impl Running {
    /// Returns true if it uses a slot.
    fn is_computing(&self) -> bool {
        self.waits_since.is_none() && !is_federated(self.shape)
    }

    /// Returns its running time without the time that it waited for its client.
    fn own_time(&self, now: Duration) -> Duration {
        self.waits_since
            .unwrap_or(now)
            .saturating_sub(self.since + self.waited)
    }
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
        let mut counts = admission.lock_counts();
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
        let mut counts = admission.lock_counts();
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
        if *self.lock_state() != PermitState::Sharing {
            return Ok(());
        }
        let (mut counts, admitted) =
            self.admission
                .start(self.admission.lock_counts(), request, limits);
        let running = admitted?;
        counts.sharing -= 1;
        // Locks are taken in the order state, counts: the counts are released before the state is locked.
        drop(counts);
        *self.lock_state() = running;
        Ok(())
    }

    fn lock_state(&self) -> MutexGuard<'_, PermitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the evaluation of the query and records its time, without the time that it waited for its client.
    pub(super) fn measure(
        &self,
        evaluate: impl FnOnce() -> Result<(), SparqlError>,
    ) -> Result<(), SparqlError> {
        let outcome = evaluate();
        if let PermitState::Running(running) = *self.lock_state()
            && let Some(shape) = running.shape
        {
            let mut counts = self.admission.lock_counts();
            let time = running.own_time(counts.advance_clock());
            counts.times.record(shape, time, &outcome);
            counts.update_queue(shape);
        }
        outcome
    }

    /// Releases the slot of a query while it waits for its client, or takes it again.
    pub(super) fn set_waiting(&self, is_waiting: bool) {
        let mut state = self.lock_state();
        let PermitState::Running(running) = &mut *state else {
            return;
        };
        if running.waits_since.is_some() == is_waiting {
            return;
        }
        let mut counts = self.admission.lock_counts();
        let now = counts.advance_clock();
        // The counts depend on its state, so it is removed with the old one and added with the new one.
        counts.remove_running(running);
        match running.waits_since.take() {
            Some(since) => running.waited += now.saturating_sub(since),
            None => running.waits_since = Some(now),
        }
        counts.add_running(running);
        drop(counts);
        if is_waiting {
            self.admission.changed.notify_all(); // its slot is free
        }
    }

    /// Checks the running time of the query, with that in which it waited for its client. Fails if it is unexpectedly long, only
    /// reserved slots or permits are left for it, and a short query is queued.
    pub(super) fn check_running_time(&self, limits: &SparqlLimits) -> Result<(), SparqlError> {
        let mut state = self.lock_state();
        let PermitState::Running(running) = &mut *state else {
            return Ok(());
        };
        if running.is_long {
            return Ok(());
        }
        let mut counts = self.admission.lock_counts();
        let now = counts.advance_clock();
        if now.saturating_sub(running.since) < limits.long_after {
            return Ok(());
        }
        counts.remove_running(running);
        running.is_long = counts.has_place_for_long(running.shape, limits);
        let time = running.own_time(now);
        // The time that it waited for its client is no property of its shape.
        if running.expected < limits.long_after && time >= limits.long_after {
            running.expected = time;
            if let Some(shape) = running.shape {
                counts.times.record_minimum(shape, time);
                counts.update_queue(shape);
            }
        }
        counts.add_running(running);
        if !running.is_long && counts.has_short_in_queue(limits) {
            return Err(SparqlError::SlowLimit(counts.long));
        }
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let state = *self.lock_state();
        let mut counts = self.admission.lock_counts();
        match state {
            PermitState::Running(running) => {
                counts.advance_clock();
                counts.remove_running(&running);
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
        shape: None,
        time: Duration::ZERO,
    };
    const SHAPE: Shape = Shape::of_test(false);
    const FEDERATED: Shape = Shape::of_test(true);

    fn request(client: Option<IpAddr>) -> PermitRequest {
        PermitRequest {
            client,
            shape: None,
            cancellation: Cancellation::default(),
        }
    }

    /// Returns a request of a query whose shape took this time before.
    fn expecting(admission: &Admission, shape: Shape, seconds: u64) -> PermitRequest {
        let time = Duration::from_secs(seconds);
        admission.lock_counts().times.record(shape, time, &Ok(()));
        PermitRequest {
            shape: Some(shape),
            ..request(None)
        }
    }

    fn client(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from(Ipv4Addr::new(192, 0, 2, last)))
    }

    fn limits() -> SparqlLimits {
        SparqlLimits {
            concurrent: 3,
            concurrent_of_client: 2,
            queue_timeout: Duration::ZERO,
            long_after: Duration::from_nanos(1),
            ..SparqlLimits::default()
        }
    }

    #[test]
    fn a_client_has_a_limited_share_of_the_permits() {
        let admission = Arc::new(Admission::with_processors(2));
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
        let counts = admission.lock_counts();
        assert_eq!(
            (counts.running, counts.clients.len()),
            (1, 1),
            "clients without queries are removed"
        );
    }

    #[test]
    fn queued_queries_are_admitted_in_their_order() {
        let admission = Arc::new(Admission::with_processors(2));
        let queued = SparqlLimits {
            concurrent: 1,
            queue_timeout: Duration::from_secs(60),
            ..limits()
        };
        let first_permit = Permit::acquire(&admission, &request(None), &queued).expect("a permit");
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
                while admission.lock_counts().queue.len() <= usize::from(number) {
                    thread::yield_now();
                }
            }
            drop(first_permit);
        });
        assert_eq!(admitted.into_inner().expect("no panic"), [0, 1, 2, 3, 4]);
        let counts = admission.lock_counts();
        assert_eq!(
            (counts.running, counts.queue.len(), counts.clients.len()),
            (0, 0, 0)
        );
    }

    #[test]
    fn the_client_with_the_fewest_running_queries_is_next() {
        let admission = Arc::new(Admission::with_processors(2));
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
                while admission.lock_counts().queue.len() <= place {
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
        let admission = Arc::new(Admission::with_processors(2));
        admission.lock_counts().queue.push_back(QUEUED); // a permit was released, and the queued query has not been woken yet
        assert!(matches!(
            Permit::acquire(&admission, &request(client(1)), &limits()),
            Err(SparqlError::Busy(0))
        ));
        assert_eq!(
            admission.lock_counts().queue,
            [QUEUED],
            "the query that timed out is not queued"
        );
    }

    #[test]
    fn two_released_permits_admit_two_queued_queries() {
        let admission = Arc::new(Admission::with_processors(2));
        let queued = SparqlLimits {
            concurrent: 2,
            queue_timeout: Duration::from_secs(60),
            ..limits()
        };
        let first_permits = [(); 2]
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
            while admission.lock_counts().queue.len() < 2 {
                thread::yield_now();
            }
            drop(first_permits);
        });
        assert_eq!(admission.lock_counts().running, 0);
    }

    #[test]
    fn a_full_queue_rejects_queries() {
        let admission = Arc::new(Admission::with_processors(2));
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
        assert!(admission.lock_counts().clients.is_empty());
    }

    #[test]
    fn long_queries_are_cancelled_while_others_are_queued() {
        let admission = Arc::new(Admission::with_processors(2));
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
        admission.lock_counts().queue.push_back(QUEUED);
        assert!(
            first.check_running_time(&limits()).is_ok(),
            "it has a slot for long queries"
        );
        assert!(matches!(
            third.check_running_time(&limits()),
            Err(SparqlError::SlowLimit(2))
        ));
        drop(first);
        assert!(
            third.check_running_time(&limits()).is_ok(),
            "a slot was released"
        );
        admission.lock_counts().queue.clear();
        drop((second, third));
        let counts = admission.lock_counts();
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
        let admission = Arc::new(Admission::with_processors(2));
        let patient = SparqlLimits {
            queue_timeout: Duration::from_secs(600),
            ..limits()
        };
        let long = expecting(&admission, SHAPE, 400);
        let _running =
            [(); 2].map(|()| Permit::acquire(&admission, &long, &patient).expect("a permit"));
        let queued = Queued {
            time: Duration::from_secs(700),
            ..QUEUED
        };
        admission.lock_counts().queue.push_back(queued);
        assert_eq!(
            admission.lock_counts().expected_wait(),
            Duration::from_secs(550)
        );
        admission.lock_counts().queue.push_back(queued);
        assert!(matches!(
            Permit::acquire(&admission, &long, &patient),
            Err(SparqlError::Busy(2))
        ));
        let short = Permit::acquire(&admission, &request(None), &patient);
        assert!(short.is_ok(), "a permit is reserved for it");
    }

    #[test]
    fn a_query_of_a_long_shape_waits_for_a_slow_permit() {
        let admission = Arc::new(Admission::with_processors(2));
        let long = expecting(&admission, SHAPE, 1);
        let acquire = |request: &PermitRequest| Permit::acquire(&admission, request, &limits());
        let long_ones = [(); 2].map(|()| acquire(&long).expect("a slot for long queries"));
        assert!(matches!(acquire(&long), Err(SparqlError::Busy(2))));
        admission.lock_counts().queue.push_back(Queued {
            time: Duration::from_secs(1),
            ..QUEUED
        });
        let short = acquire(&request(None)).expect("a queued long query does not delay it");
        assert!(
            short.check_running_time(&limits()).is_ok(),
            "the queued query could not use its slot"
        );
        admission.lock_counts().queue.clear();
        drop((long_ones, short));
        assert!(acquire(&long).is_ok());
    }

    #[test]
    fn there_are_no_more_long_queries_than_processors() {
        let admission = Arc::new(Admission::with_processors(2));
        let many = SparqlLimits {
            concurrent: 8,
            ..limits()
        };
        let long = expecting(&admission, SHAPE, 1);
        let acquire = |request: &PermitRequest| Permit::acquire(&admission, request, &many);
        let long_ones = [(); 2].map(|()| acquire(&long).expect("a slot for long queries"));
        assert!(matches!(acquire(&long), Err(SparqlError::Busy(2))));
        let federated = expecting(&admission, FEDERATED, 1);
        let _waiting =
            [(); 4].map(|()| acquire(&federated).expect("a permit: it may wait for services"));
        assert!(matches!(acquire(&federated), Err(SparqlError::Busy(6))));
        assert!(matches!(acquire(&long), Err(SparqlError::Busy(6))));
        long_ones[0].set_waiting(true);
        let short = [(); 2].map(|()| acquire(&request(None)).expect("a reserved permit"));
        assert!(matches!(acquire(&request(None)), Err(SparqlError::Busy(8))));
        drop(short);
        long_ones[0].set_waiting(false);
        let counts = admission.lock_counts();
        assert_eq!(
            (counts.running, counts.computing, counts.long_computing),
            (6, 2, 2)
        );
    }

    #[test]
    fn a_query_that_waits_for_its_client_uses_no_slot() {
        let admission = Arc::new(Admission::with_processors(1));
        let many = SparqlLimits {
            concurrent: 4,
            ..limits()
        };
        let acquire = || Permit::acquire(&admission, &request(None), &many);
        let running = [(); 2].map(|()| acquire().expect("a slot"));
        assert!(matches!(acquire(), Err(SparqlError::Busy(2))));
        running[0].set_waiting(true);
        running[0].set_waiting(true);
        let another = acquire().expect("the slot of the query that waits");
        assert!(matches!(acquire(), Err(SparqlError::Busy(3))));
        running[0].set_waiting(false);
        drop((running, another));
        let counts = admission.lock_counts();
        assert_eq!((counts.running, counts.computing), (0, 0));
    }

    #[test]
    fn queries_that_wait_for_their_clients_leave_slots_and_permits() {
        let admission = Arc::new(Admission::with_processors(1));
        let many = SparqlLimits {
            concurrent: 4,
            ..limits()
        };
        let of_shape = PermitRequest {
            shape: Some(SHAPE),
            ..request(None)
        };
        let acquire = || Permit::acquire(&admission, &of_shape, &many).expect("a permit");
        let waiting = [(); 4].map(|()| {
            let permit = acquire();
            permit.set_waiting(true);
            permit
        });
        for permit in &waiting {
            assert!(permit.check_running_time(&many).is_ok());
        }
        {
            let mut counts = admission.lock_counts();
            let own = counts.times.expectation(SHAPE).time;
            assert!(own < Duration::from_millis(100), "{own:?}: it waited");
            assert_eq!((counts.long, counts.long_computing), (3, 0));
            counts.queue.push_back(QUEUED);
        }
        assert!(waiting[0].check_running_time(&many).is_ok());
        assert!(matches!(
            waiting[3].check_running_time(&many),
            Err(SparqlError::SlowLimit(3))
        ));
    }

    #[test]
    fn the_time_for_the_client_is_no_running_time() {
        let second = Duration::from_secs(1);
        let running = Running {
            since: 2 * second,
            shape: None,
            expected: Duration::ZERO,
            is_long: false,
            waited: 3 * second,
            waits_since: None,
        };
        assert_eq!(running.own_time(9 * second), 4 * second);
        let waiting = Running {
            waits_since: Some(8 * second),
            ..running
        };
        assert_eq!(waiting.own_time(90 * second), 3 * second);
    }

    #[test]
    fn queries_of_bounded_cost_need_no_slot() {
        let admission = Arc::new(Admission::with_slots_for_all());
        let many = SparqlLimits {
            concurrent: 16,
            ..limits()
        };
        let acquire = || Permit::acquire(&admission, &request(None), &many);
        let _running = [(); 16].map(|()| acquire().expect("a permit"));
        assert!(matches!(acquire(), Err(SparqlError::Busy(16))));
        assert_eq!(admission.lock_counts().expected_wait(), Duration::ZERO);
    }

    #[test]
    fn queued_queries_learn_from_running_ones() {
        let admission = Arc::new(Admission::with_processors(1));
        let of_shape = PermitRequest {
            shape: Some(SHAPE),
            ..request(None)
        };
        let running = Permit::acquire(&admission, &of_shape, &limits()).expect("a permit");
        admission.lock_counts().queue.push_back(Queued {
            shape: Some(SHAPE),
            ..QUEUED
        });
        assert!(admission.lock_counts().has_short_in_queue(&limits()));
        assert!(running.check_running_time(&limits()).is_ok());
        assert!(!admission.lock_counts().has_short_in_queue(&limits()));
    }

    #[test]
    fn a_query_that_will_not_end_is_refused_while_others_wait() {
        let admission = Arc::new(Admission::with_processors(2));
        let endless = PermitRequest {
            client: client(1),
            ..expecting(&admission, SHAPE, 1)
        };
        for _ in 0..2 {
            let deadline = limits().deadline;
            let outcome = Err(SparqlError::Deadline(deadline));
            admission
                .lock_counts()
                .times
                .record(SHAPE, deadline, &outcome);
        }
        drop(Permit::acquire(&admission, &endless, &limits()).expect("no query waits"));
        admission.lock_counts().queue.push_back(QUEUED);
        assert!(matches!(
            Permit::acquire(&admission, &endless, &limits()),
            Err(SparqlError::SlowLimit(0))
        ));
        assert!(admission.lock_counts().clients.is_empty());
    }

    #[test]
    fn a_query_leaves_the_queue_with_its_client() {
        let admission = Arc::new(Admission::with_processors(2));
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
        let counts = admission.lock_counts();
        assert_eq!((counts.queue.len(), counts.clients.len()), (0, 0));
    }

    #[test]
    fn queries_that_share_an_answer_are_bounded() {
        let admission = Arc::new(Admission::with_processors(2));
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
        let counts = admission.lock_counts();
        assert_eq!((counts.running, counts.sharing, counts.long), (1, 1, 1));
        drop(counts);
        drop(third);
        assert_eq!(admission.lock_counts().running, 0);
    }
}
