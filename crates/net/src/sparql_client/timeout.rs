//! How long a call waits, for whatever it waits.

use crate::egress::{Cancellation, EgressError, EgressFault};
use std::thread;
use std::time::{Duration, Instant};

/// How long a wait goes on without looking whether anybody still wants its outcome.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A call's deadline, and whether it was given up.
pub(super) struct Timeout {
    pub(super) iri: String,
    pub(super) deadline: Instant,
    pub(super) cancellation: Cancellation,
}

impl Timeout {
    pub(super) fn error(&self, fault: EgressFault) -> EgressError {
        EgressError { iri: self.iri.clone(), fault }
    }

    /// The time left, never none.
    pub(super) fn left(&self) -> Result<Duration, EgressFault> {
        if self.cancellation.is_cancelled() {
            return Err(EgressFault::Cancelled);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(EgressFault::TimedOut) } else { Ok(left) }
    }

    /// Whether a wait can end before the deadline.
    pub(super) fn allows(&self, wait: Duration) -> bool {
        self.left().is_ok_and(|left| wait < left)
    }

    /// Waits; not at all where the deadline comes first.
    pub(super) fn wait_until(&self, then: Instant) -> Result<(), EgressFault> {
        if then >= self.deadline {
            return Err(EgressFault::TimedOut);
        }
        loop {
            self.left()?;
            let wait = then.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return Ok(());
            }
            thread::sleep(wait.min(POLL_INTERVAL));
        }
    }
}
