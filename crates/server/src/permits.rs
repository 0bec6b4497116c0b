//! Permits for work of one kind: a limit in total, and one for each client address.

use crate::error::ApiError;
use axum::http::StatusCode;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Number of clients in memory above which clients without a permit are forgotten.
const MAX_IDLE_CLIENTS: usize = 1024;

/// Permits for one kind of work, for example uploads.
///
/// A client that waits for one of its own permits is not in the queue for all permits: clients take turns.
pub(crate) struct Permits {
    total: usize,
    of_client: usize,
    all: Arc<Semaphore>,
    clients: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
}

/// A permit, returned when it is dropped.
pub(crate) struct Permit {
    _all: OwnedSemaphorePermit,
    _of_client: Option<OwnedSemaphorePermit>,
}

/// Limit that leaves no permit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exhausted {
    /// All permits are taken.
    Total(usize),
    /// All permits of this client are taken.
    OfClient(usize),
}

impl Exhausted {
    /// Returns 503 or, if the client itself holds the permits, 429.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Total(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::OfClient(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// Returns the error of a request. `what` names the work, for example "uploads".
    pub(crate) fn error(self, what: &str) -> ApiError {
        let message = match self {
            Self::Total(limit) => {
                format!("the server already handles {limit} {what}; try again later")
            }
            Self::OfClient(limit) => {
                format!("your address already has {limit} {what}; try again later")
            }
        };
        ApiError::with_status(self.status(), message)
    }
}

impl Permits {
    /// Creates permits: so many in total, and so many for each client address, at least 1.
    pub(crate) fn new(total: usize, of_client: usize) -> Self {
        let total = total.min(Semaphore::MAX_PERMITS);
        let of_client = of_client.clamp(1, total.max(1));
        Self {
            total,
            of_client,
            all: Arc::new(Semaphore::new(total)),
            clients: Mutex::default(),
        }
    }

    /// Waits for a permit. Without a client address only the limit in total applies.
    pub(crate) async fn acquire(
        &self,
        client: Option<IpAddr>,
        patience: Duration,
    ) -> Result<Permit, Exhausted> {
        // One deadline for both waits.
        let until = Instant::now() + patience;
        // The client's permit first: while it waits for one of its own, it takes no place in the queue for all.
        let of_client = match client {
            Some(client) => match timeout_at(until, self.semaphore(client).acquire_owned()).await {
                Ok(Ok(permit)) => Some(permit),
                Ok(Err(_)) | Err(_) => return Err(Exhausted::OfClient(self.of_client)),
            },
            None => None,
        };
        match timeout_at(until, Arc::clone(&self.all).acquire_owned()).await {
            Ok(Ok(all)) => Ok(Permit {
                _all: all,
                _of_client: of_client,
            }),
            Ok(Err(_)) | Err(_) => Err(Exhausted::Total(self.total)),
        }
    }

    /// Returns a permit if there is one now.
    pub(crate) fn try_acquire(&self, client: Option<IpAddr>) -> Result<Permit, Exhausted> {
        let of_client = match client {
            Some(client) => {
                let permit = self.semaphore(client).try_acquire_owned();
                Some(permit.map_err(|_| Exhausted::OfClient(self.of_client))?)
            }
            None => None,
        };
        let all = Arc::clone(&self.all)
            .try_acquire_owned()
            .map_err(|_| Exhausted::Total(self.total))?;
        Ok(Permit {
            _all: all,
            _of_client: of_client,
        })
    }

    fn semaphore(&self, client: IpAddr) -> Arc<Semaphore> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MAX_IDLE_CLIENTS {
            // Permits and waiting requests share their semaphore.
            clients.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        }
        Arc::clone(
            clients
                .entry(client)
                .or_insert_with(|| Arc::new(Semaphore::new(self.of_client))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn client(number: u32) -> Option<IpAddr> {
        Some(IpAddr::from(Ipv4Addr::from_bits(number)))
    }

    #[tokio::test]
    async fn one_client_leaves_permits_to_others() {
        let permits = Permits::new(3, 2);
        let take = |number| permits.try_acquire(client(number));
        let (first, _second) = (take(1).expect("free"), take(1).expect("free"));
        assert_eq!(take(1).err(), Some(Exhausted::OfClient(2)));
        assert_eq!(
            permits.acquire(client(1), Duration::ZERO).await.err(),
            Some(Exhausted::OfClient(2))
        );
        let _other = take(2).expect("free for another client");
        assert_eq!(take(3).err(), Some(Exhausted::Total(3)));
        assert_eq!(permits.try_acquire(None).err(), Some(Exhausted::Total(3)));
        drop(first);
        assert!(take(3).is_ok(), "the failed attempts hold nothing");
    }

    #[tokio::test]
    async fn a_waiting_request_receives_the_next_permit() {
        let permits = Permits::new(1, 1);
        let held = permits.try_acquire(client(1)).expect("free");
        let waiting = permits.acquire(client(2), Duration::from_secs(60));
        let returned = async {
            tokio::task::yield_now().await;
            drop(held);
        };
        assert!(tokio::join!(waiting, returned).0.is_ok());
    }

    #[tokio::test]
    async fn waiting_requests_of_one_client_do_not_delay_others() {
        let permits = Arc::new(Permits::new(2, 1));
        let held = permits.try_acquire(client(1)).expect("free");
        let crowd = Arc::clone(&permits);
        let waiting = tokio::spawn(async move {
            crowd
                .acquire(client(1), Duration::from_secs(60))
                .await
                .is_ok()
        });
        tokio::task::yield_now().await;
        assert!(permits.acquire(client(2), Duration::ZERO).await.is_ok());
        drop(held);
        assert!(waiting.await.expect("no panic"));
    }

    #[test]
    fn idle_clients_are_forgotten() {
        let permits = Permits::new(usize::MAX, 1);
        let _held: Vec<_> = (0..10)
            .map(|number| permits.try_acquire(client(number)).expect("free"))
            .collect();
        for number in 0..10_000 {
            let _ = permits.try_acquire(client(number));
        }
        let clients = permits.clients.lock().expect("not poisoned");
        assert!(
            (10..=MAX_IDLE_CLIENTS).contains(&clients.len()),
            "{}",
            clients.len()
        );
        drop(clients);
        assert!(
            permits.try_acquire(client(5)).is_err(),
            "clients with a permit are not"
        );
    }
}
