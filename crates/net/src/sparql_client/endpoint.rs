//! What is known of one endpoint: how the former calls went; and of its host: how many calls run, and when the next may
//! begin.

use super::error::{FailureKind, RemoteError};
use super::timeout::{POLL_INTERVAL, Timeout};
use crate::egress::EgressFault;
use oxrdf::NamedNode;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How the calls to one endpoint went.
#[derive(Clone, Debug)]
pub struct EndpointStatistics {
    /// The endpoint.
    pub endpoint: NamedNode,
    /// Calls that have ended.
    pub calls: u64,
    /// Requests made for them: first ones, repeated ones, and those in another form.
    pub requests: u64,
    /// Calls that failed.
    pub failures: BTreeMap<FailureKind, u64>,
    /// Rows handed out.
    pub rows: u64,
    /// Bytes of answers, decompressed.
    pub bytes: u64,
    /// Time from the first request of a call to the end of its rows, over all calls. Whoever reads rows slowly adds to it.
    pub total_time: Duration,
    /// The longest time of one call.
    pub max_time: Duration,
    /// When a call last failed, and how.
    pub last_error: Option<(Instant, String)>,
    /// When a call last succeeded.
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
    /// When the next request may begin.
    next: Instant,
}

/// A server, however many endpoints it has: it is one machine that answers them all.
#[derive(Debug)]
pub(super) struct Host {
    /// Name and port, as IRIs have them.
    name: String,
    state: Mutex<HostState>,
    left: Condvar,
}

impl Host {
    fn new(name: String) -> Self {
        Self { name, state: Mutex::new(HostState { inside: 0, next: Instant::now() }), left: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place among the `concurrent` ones.
    fn acquire_permit(self: &Arc<Self>, concurrent: usize, timeout: &Timeout) -> Result<Permit, EgressFault> {
        let mut state = self.state();
        while state.inside >= concurrent.max(1) {
            let left = timeout.left()?;
            state = self.left.wait_timeout(state, left.min(POLL_INTERVAL)).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.inside += 1;
        Ok(Permit(Arc::clone(self)))
    }

    /// When a request may begin; the next one may begin `pause` later.
    fn reserve(&self, pause: Duration) -> Instant {
        let mut state = self.state();
        let turn = state.next.max(Instant::now());
        state.next = turn + pause;
        turn
    }
}

/// The host of an endpoint: its IRI's user, name and port; the IRI itself where it has none.
fn host_of(endpoint: &NamedNode) -> String {
    let iri = oxiri::IriRef::parse(endpoint.as_str()).ok();
    let authority = iri.as_ref().and_then(|iri| iri.authority()).unwrap_or(endpoint.as_str());
    authority.to_ascii_lowercase()
}

#[derive(Debug)]
pub(super) struct Endpoint {
    host: Arc<Host>,
    statistics: Mutex<EndpointStatistics>,
    /// It takes queries by GET alone.
    get_only: AtomicBool,
    /// When it was last asked for, counted in calls of the client.
    pub(super) last_use: AtomicU64,
}

impl Endpoint {
    /// An endpoint that is new among those `known`, with whose host it may be one.
    pub(super) fn new<'e>(endpoint: NamedNode, mut known: impl Iterator<Item = &'e Arc<Self>>) -> Self {
        let name = host_of(&endpoint);
        let host = known.find(|known| known.host.name == name).map(|known| Arc::clone(&known.host));
        Self {
            host: host.unwrap_or_else(|| Arc::new(Host::new(name))),
            statistics: Mutex::new(EndpointStatistics::new(endpoint)),
            get_only: AtomicBool::new(false),
            last_use: AtomicU64::new(0),
        }
    }

    pub(super) fn snapshot(&self) -> EndpointStatistics {
        self.statistics().clone()
    }

    pub(super) fn is_get_only(&self) -> bool {
        self.get_only.load(Ordering::Relaxed)
    }

    pub(super) fn mark_get_only(&self) {
        self.get_only.store(true, Ordering::Relaxed);
    }

    fn statistics(&self) -> MutexGuard<'_, EndpointStatistics> {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the places that calls to a host have.
#[derive(Debug)]
struct Permit(Arc<Host>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.state().inside -= 1;
        self.0.left.notify_one();
    }
}

/// One call to an endpoint: a place there while it lasts, and a line of the statistics when it ends.
#[derive(Debug)]
pub(super) struct ActiveCall {
    pub(super) endpoint: Arc<Endpoint>,
    /// None for a call that waited in vain: it is counted all the same.
    _place: Option<Permit>,
    start: Instant,
    requests: u64,
    pub(super) rows: u64,
    pub(super) bytes: Arc<AtomicU64>,
    failure: Option<(FailureKind, String)>,
}

impl ActiveCall {
    /// Waits for a place.
    pub(super) fn begin(endpoint: Arc<Endpoint>, concurrent: usize, timeout: &Timeout) -> Result<Self, RemoteError> {
        match endpoint.host.acquire_permit(concurrent, timeout) {
            Ok(place) => Ok(Self::new(endpoint, Some(place))),
            Err(EgressFault::TimedOut) => {
                let crowded = RemoteError::Crowded { endpoint: timeout.iri.clone() };
                Err(Self::new(endpoint, None).failed(crowded))
            }
            Err(fault) => Err(Self::new(endpoint, None).failed(timeout.error(fault).into())),
        }
    }

    fn new(endpoint: Arc<Endpoint>, place: Option<Permit>) -> Self {
        let bytes = Arc::default();
        Self { endpoint, _place: place, start: Instant::now(), requests: 0, rows: 0, bytes, failure: None }
    }

    /// Waits until the endpoint may be sent a request.
    pub(super) fn pace(&mut self, pause: Duration, timeout: &Timeout) -> Result<(), RemoteError> {
        let turn = self.endpoint.host.reserve(pause);
        timeout.wait_until(turn).map_err(|fault| timeout.error(fault))?;
        self.requests += 1;
        Ok(())
    }

    /// ResponseEnds the call with a failure, which is handed through.
    pub(super) fn failed(mut self, error: RemoteError) -> RemoteError {
        self.failure = Some((error.kind(), error.to_string()));
        error
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.endpoint.statistics().add(self);
    }
}
