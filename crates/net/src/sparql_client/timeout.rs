//! Deadline and cancellation of a call.

use crate::egress::{Cancellation, EgressError, EgressFault};
use std::thread;
use std::time::{Duration, Instant};

/// Interval in which a waiting call checks for cancellation.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Deadline and cancellation of one call.
pub(super) struct Timeout {
    pub(super) iri: String,
    pub(super) deadline: Instant,
    pub(super) cancellation: Cancellation,
}

impl Timeout {
    pub(super) fn error(&self, fault: EgressFault) -> EgressError {
        EgressError {
            iri: self.iri.clone(),
            fault,
        }
    }

    /// Returns the time left, or an error if it is zero or the call is cancelled.
    pub(super) fn left(&self) -> Result<Duration, EgressFault> {
        if self.cancellation.is_cancelled() {
            return Err(EgressFault::Cancelled);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            Err(EgressFault::TimedOut)
        } else {
            Ok(left)
        }
    }

    /// Returns true if a wait can end before the deadline.
    pub(super) fn allows(&self, wait: Duration) -> bool {
        self.left().is_ok_and(|left| wait < left)
    }

    /// Waits until an instant. Fails at once if the deadline comes first.
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
