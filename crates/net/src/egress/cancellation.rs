//! Cancellation of requests that wait for the network.
//!
//! # Why a thread-local variable?
//!
//! Connections outlive requests, and the HTTP library passes only a timeout to a connection, not the request. The current
//! [`Cancellation`] is therefore stored in a thread-local variable while a request is sent or its body is read. The
//! connection waits in intervals of 50 ms and checks this variable after each.

use super::error::EgressFault;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use ureq::Error;
use ureq::unversioned::transport::time::Duration as Left;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// Interval in which a waiting connection checks for cancellation.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    static CURRENT: RefCell<Cancellation> = const { RefCell::new(Cancellation(None)) };
}

/// Cancellation check of a request, called while the request waits. The default is never cancelled.
///
/// ```
/// use lodeseek_net::egress::Cancellation;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let flag = Arc::new(AtomicBool::new(false));
/// let cancellation = Cancellation::from(Arc::clone(&flag));
/// assert!(!cancellation.is_cancelled());
/// flag.store(true, Ordering::Relaxed);
/// assert!(cancellation.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancellation(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Cancellation {
    /// Cancels as soon as the function returns true. It is called about every 50 ms and must be cheap.
    pub fn from_fn(is_cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_cancelled)))
    }

    /// Returns true if the request is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|is_cancelled| is_cancelled())
    }
}

impl From<Arc<AtomicBool>> for Cancellation {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self::from_fn(move || flag.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Cancellation")
            .field(&self.is_cancelled())
            .finish()
    }
}

/// Restores the previous cancellation of the thread when dropped, also after a panic.
struct RestoreOnDrop(Cancellation);

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        let before = std::mem::take(&mut self.0);
        CURRENT.with(|current| current.replace(before));
    }
}

/// Runs `work` with `request` as the current cancellation of the thread.
pub(super) fn with_cancellation<T>(request: &Cancellation, work: impl FnOnce() -> T) -> T {
    let _before = RestoreOnDrop(CURRENT.with(|current| current.replace(request.clone())));
    work()
}

/// Returns true if the current request of this thread is cancelled.
pub(super) fn is_cancelled() -> bool {
    CURRENT
        .with(|current| current.borrow().clone())
        .is_cancelled()
}

/// Connector whose connections check for cancellation while they wait.
#[derive(Debug)]
pub(super) struct CancellableConnector;

impl<In: Transport> Connector<In> for CancellableConnector {
    type Out = CancellableTransport<In>;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(CancellableTransport))
    }
}

#[derive(Debug)]
pub(super) struct CancellableTransport<T>(T);

impl<T: Transport> Transport for CancellableTransport<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let start = Instant::now();
        loop {
            if is_cancelled() {
                return Err(EgressFault::Cancelled.into_io().into());
            }
            let left = timeout.after.saturating_sub(start.elapsed());
            let spell = NextTimeout {
                after: Left::Exact(left.min(POLL_INTERVAL)),
                ..timeout
            };
            match self.0.await_input(spell) {
                // Only the end of an interval; at the end of the whole time, the library gets its own error.
                Err(Error::Timeout(_)) if left > POLL_INTERVAL => {}
                outcome => return outcome,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}
