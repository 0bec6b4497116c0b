//! Statistics of endpoints, and rate limits of their hosts.

use super::error::{FailureKind, RemoteError};
use super::timeout::{POLL_INTERVAL, Timeout};
use crate::egress::EgressFault;
use oxrdf::NamedNode;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Minimum time between two looks at the queue of a host.
const MIN_QUEUE_WAIT: Duration = Duration::from_millis(1);

/// Statistics of the calls to one endpoint.
#[derive(Clone, Debug)]
pub struct EndpointStatistics {
    /// Endpoint.
    pub endpoint: NamedNode,
    /// Number of completed calls.
    pub calls: u64,
    /// Number of requests of these calls, with retries.
    pub requests: u64,
    /// Number of failed calls, by kind.
    pub failures: BTreeMap<FailureKind, u64>,
    /// Number of returned rows.
    pub rows: u64,
    /// Number of values in these rows that were repaired or left out: IRIs with spaces, wrong language tags.
    pub repairs: u64,
    /// Size of the decompressed responses in bytes.
    pub bytes: u64,
    /// Total time of all calls, from the first request to the last row. It includes the time a caller takes to read rows.
    pub total_time: Duration,
    /// Longest time of one call.
    pub max_time: Duration,
    /// Time and message of the last failed call.
    pub last_error: Option<(Instant, String)>,
    /// Time of the last successful call.
    pub last_success: Option<Instant>,
}

impl EndpointStatistics {
    fn new(endpoint: NamedNode) -> Self {
        Self {
            endpoint,
            calls: 0,
            requests: 0,
            failures: BTreeMap::new(),
            rows: 0,
            repairs: 0,
            bytes: 0,
            total_time: Duration::ZERO,
            max_time: Duration::ZERO,
            last_error: None,
            last_success: None,
        }
    }

    fn add(&mut self, call: &ActiveCall) {
        let (now, time) = (Instant::now(), call.start.elapsed());
        self.calls += 1;
        self.requests += call.requests;
        self.rows += call.rows;
        self.repairs += call.repairs;
        self.bytes += call.bytes.load(Ordering::Relaxed);
        self.total_time += time;
        self.max_time = self.max_time.max(time);
        match &call.failure {
            Some((kind, message)) => {
                *self.failures.entry(*kind).or_default() += 1;
                self.last_error = Some((now, message.clone()));
            }
            None => self.last_success = Some(now),
        }
    }
}

#[derive(Debug)]
struct HostState {
    inside: usize,
    /// Earliest start of the next request.
    next: Instant,
    /// Numbers of the calls that wait to start a request, in their order.
    queue: VecDeque<u64>,
    /// Number of the last call in the queue.
    last_number: u64,
}

/// Host of one or more endpoints. Rate limits apply to the host.
#[derive(Debug)]
pub(super) struct Host {
    /// Name and port as in the IRI.
    name: String,
    state: Mutex<HostState>,
    left: Condvar,
}

impl Host {
    fn new(name: String) -> Self {
        Self {
            name,
            state: Mutex::new(HostState {
                inside: 0,
                next: Instant::now(),
                queue: VecDeque::new(),
                last_number: 0,
            }),
            left: Condvar::new(),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for one of `concurrent` permits.
    fn acquire_permit(
        self: &Arc<Self>,
        concurrent: usize,
        timeout: &Timeout,
    ) -> Result<Permit, EgressFault> {
        let mut state = self.lock_state();
        while state.inside >= concurrent.max(1) {
            let left = timeout.left()?;
            state = self
                .left
                // In intervals, because nothing notifies the thread of a cancellation.
                .wait_timeout(state, left.min(POLL_INTERVAL))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.inside += 1;
        Ok(Permit(Arc::clone(self)))
    }

    /// Waits until a request may start; the next one can start `pause` later. Fails at once if the deadline comes first. A call
    /// that fails delays no other one.
    fn wait_for_turn(&self, pause: Duration, timeout: &Timeout) -> Result<(), EgressFault> {
        if pause.is_zero() {
            timeout.left()?;
            return Ok(());
        }
        let place = self.join_queue();
        loop {
            let left = timeout.left()?;
            let Some(wait) = place.start_request(pause) else {
                return Ok(());
            };
            if wait >= left {
                return Err(EgressFault::TimedOut);
            }
            // In intervals, because calls before this one may end, and nothing notifies the thread of a cancellation.
            thread::sleep(wait.clamp(MIN_QUEUE_WAIT, POLL_INTERVAL));
        }
    }

    /// Adds a call at the end of the queue.
    fn join_queue(&self) -> QueuePlace<'_> {
        let mut state = self.lock_state();
        state.last_number += 1;
        let number = state.last_number;
        state.queue.push_back(number);
        QueuePlace { host: self, number }
    }
}

/// Place of a call in the queue of a host. The call leaves the queue with its value, whether it sends a request or not.
#[derive(Debug)]
struct QueuePlace<'h> {
    host: &'h Host,
    number: u64,
}

impl QueuePlace<'_> {
    /// Starts the request if it is its turn. Otherwise returns the time until then, which is shorter if calls before it fail.
    fn start_request(&self, pause: Duration) -> Option<Duration> {
        let mut state = self.host.lock_state();
        let now = Instant::now();
        let before = state
            .queue
            .iter()
            .take_while(|number| **number != self.number)
            .count();
        let wait = state.next.saturating_duration_since(now);
        if before == 0 && wait.is_zero() {
            state.next = now + pause;
            return None;
        }
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        Some(wait.saturating_add(pause.saturating_mul(before)))
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut state = self.host.lock_state();
        state.queue.retain(|number| *number != self.number);
    }
}

/// Returns the authority of an endpoint's IRI in lower case, or the IRI itself if it has none.
fn host_of(endpoint: &NamedNode) -> String {
    let iri = oxiri::IriRef::parse(endpoint.as_str()).ok();
    let authority = iri
        .as_ref()
        .and_then(|iri| iri.authority())
        .unwrap_or(endpoint.as_str());
    authority.to_ascii_lowercase()
}

#[derive(Debug)]
pub(super) struct Endpoint {
    host: Arc<Host>,
    statistics: Mutex<EndpointStatistics>,
    /// If true, the endpoint accepts queries by GET only.
    get_only: AtomicBool,
    /// Number of the last call, counted over the whole client.
    pub(super) last_use: AtomicU64,
}

impl Endpoint {
    /// Creates an endpoint. It shares the host of a known endpoint with the same authority.
    pub(super) fn new<'e>(
        endpoint: NamedNode,
        mut known: impl Iterator<Item = &'e Arc<Self>>,
    ) -> Self {
        let name = host_of(&endpoint);
        let host = known
            .find(|known| known.host.name == name)
            .map(|known| Arc::clone(&known.host));
        Self {
            host: host.unwrap_or_else(|| Arc::new(Host::new(name))),
            statistics: Mutex::new(EndpointStatistics::new(endpoint)),
            get_only: AtomicBool::new(false),
            last_use: AtomicU64::new(0),
        }
    }

    pub(super) fn snapshot(&self) -> EndpointStatistics {
        self.lock_statistics().clone()
    }

    pub(super) fn is_get_only(&self) -> bool {
        self.get_only.load(Ordering::Relaxed)
    }

    pub(super) fn mark_get_only(&self) {
        self.get_only.store(true, Ordering::Relaxed);
    }

    fn lock_statistics(&self) -> MutexGuard<'_, EndpointStatistics> {
        self.statistics
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permit for one concurrent call to a host.
#[derive(Debug)]
struct Permit(Arc<Host>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.lock_state().inside -= 1;
        self.0.left.notify_one();
    }
}

/// Running call: it holds a permit of the host and adds to the statistics when it ends.
#[derive(Debug)]
pub(super) struct ActiveCall {
    pub(super) endpoint: Arc<Endpoint>,
    /// `None` if the call failed to get a permit. Such calls are also counted.
    _place: Option<Permit>,
    start: Instant,
    requests: u64,
    pub(super) rows: u64,
    pub(super) repairs: u64,
    pub(super) bytes: Arc<AtomicU64>,
    failure: Option<(FailureKind, String)>,
}

impl ActiveCall {
    /// Waits for a permit.
    pub(super) fn begin(
        endpoint: Arc<Endpoint>,
        concurrent: usize,
        timeout: &Timeout,
    ) -> Result<Self, RemoteError> {
        match endpoint.host.acquire_permit(concurrent, timeout) {
            Ok(place) => Ok(Self::new(endpoint, Some(place))),
            Err(EgressFault::TimedOut) => {
                let crowded = RemoteError::Crowded {
                    endpoint: timeout.iri.clone(),
                };
                Err(Self::new(endpoint, None).fail(crowded))
            }
            Err(fault) => Err(Self::new(endpoint, None).fail(timeout.error(fault).into())),
        }
    }

    fn new(endpoint: Arc<Endpoint>, place: Option<Permit>) -> Self {
        let bytes = Arc::default();
        Self {
            endpoint,
            _place: place,
            start: Instant::now(),
            requests: 0,
            rows: 0,
            repairs: 0,
            bytes,
            failure: None,
        }
    }

    /// Waits until the rate limit permits a request.
    pub(super) fn pace(&mut self, pause: Duration, timeout: &Timeout) -> Result<(), RemoteError> {
        self.endpoint
            .host
            .wait_for_turn(pause, timeout)
            .map_err(|fault| timeout.error(fault))?;
        self.requests += 1;
        Ok(())
    }

    /// Ends the call with a failure and returns the error.
    pub(super) fn fail(mut self, error: RemoteError) -> RemoteError {
        self.failure = Some((error.kind(), error.to_string()));
        error
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.endpoint.lock_statistics().add(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Cancellation;
    use std::sync::atomic::AtomicUsize;

    /// Returns a host that has just got a request; the next one can start after the pause.
    fn busy_host(pause: Duration) -> (Host, Instant) {
        let host = Host::new("e.org".to_owned());
        host.wait_for_turn(pause, &timeout_after(pause * 2))
            .expect("the first request");
        let next = host.lock_state().next;
        (host, next)
    }

    fn timeout_after(time: Duration) -> Timeout {
        Timeout {
            iri: "http://e.org/sparql".to_owned(),
            deadline: Instant::now() + time,
            cancellation: Cancellation::default(),
        }
    }

    #[test]
    fn calls_that_time_out_delay_no_other_call() {
        let pause = Duration::from_secs(60);
        let (host, next) = busy_host(pause);
        for _ in 0..3 {
            let failed = host.wait_for_turn(pause, &timeout_after(pause / 2));
            assert!(matches!(failed, Err(EgressFault::TimedOut)), "{failed:?}");
        }
        let state = host.lock_state();
        assert_eq!(state.next, next);
        assert!(state.queue.is_empty(), "{state:?}");
    }

    #[test]
    fn cancelled_calls_delay_no_other_call() {
        let pause = Duration::from_secs(60);
        let (host, next) = busy_host(pause);
        let checks = AtomicUsize::new(0);
        let timeout = Timeout {
            // Only the second check finds the cancellation: the call has waited before.
            cancellation: Cancellation::from_fn(move || checks.fetch_add(1, Ordering::Relaxed) > 0),
            ..timeout_after(pause * 2)
        };
        let failed = host.wait_for_turn(pause, &timeout);
        assert!(matches!(failed, Err(EgressFault::Cancelled)), "{failed:?}");
        let state = host.lock_state();
        assert_eq!(state.next, next);
        assert!(state.queue.is_empty(), "{state:?}");
    }

    #[test]
    fn calls_start_in_their_order() {
        let pause = Duration::from_secs(60);
        let (host, _) = busy_host(pause);
        let first = host.join_queue();
        let second = host.join_queue();
        let wait = first.start_request(pause).expect("a time to wait");
        assert!(wait <= pause, "{wait:?}");
        let wait = second.start_request(pause).expect("a time to wait");
        assert!(wait > pause && wait <= pause * 2, "{wait:?}");
        drop(first);
        let wait = second.start_request(pause).expect("a time to wait");
        assert!(wait <= pause, "{wait:?}");
        host.lock_state().next = Instant::now();
        assert_eq!(second.start_request(pause), None);
    }
}
