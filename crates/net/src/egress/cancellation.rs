//! Giving up a request while it waits for the other side.
//!
//! *Why a variable of the thread?* A request runs in the thread that makes it, and its body is read in the thread that
//! reads it; but connections outlive requests, and the HTTP library tells a connection only how long it may wait, not for
//! whom. So whoever works for a request says so here, and the connection, which waits in short spells, looks it up.

use super::error::EgressFault;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use ureq::Error;
use ureq::unversioned::transport::time::Duration as Left;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// How long a wait goes on without looking whether anybody still wants its outcome.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    static CURRENT: RefCell<Cancellation> = const { RefCell::new(Cancellation(None)) };
}

/// Whether a request has been given up; asked while it waits. By default never.
#[derive(Clone, Default)]
pub struct Cancellation(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Cancellation {
    /// Given up as soon as the closure says so. It is called often.
    pub fn from_fn(is_cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_cancelled)))
    }

    /// Whether the request has been given up.
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
        formatter.debug_tuple("Cancellation").field(&self.is_cancelled()).finish()
    }
}

/// Restores what the thread worked for before, panics included.
struct RestoreOnDrop(Cancellation);

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        let before = std::mem::take(&mut self.0);
        CURRENT.with(|current| current.replace(before));
    }
}

/// Does a piece of a request's work.
pub(super) fn with_cancellation<T>(request: &Cancellation, work: impl FnOnce() -> T) -> T {
    let _before = RestoreOnDrop(CURRENT.with(|current| current.replace(request.clone())));
    work()
}

/// Whether the request this thread works for has been given up.
pub(super) fn is_cancelled() -> bool {
    CURRENT.with(|current| current.borrow().clone()).is_cancelled()
}

/// Makes connections wait in short spells.
#[derive(Debug)]
pub(super) struct CancellableConnector;

impl<In: Transport> Connector<In> for CancellableConnector {
    type Out = CancellableTransport<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
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
            let spell = NextTimeout { after: Left::Exact(left.min(POLL_INTERVAL)), ..timeout };
            match self.0.await_input(spell) {
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
