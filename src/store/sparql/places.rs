//! Places for queries: how many are answered at one time, in all and for one client.

use super::{SparqlError, SparqlLimits};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The queries of a store that are being answered, those given up and not yet ended included.
#[derive(Default)]
pub(in crate::store) struct Running(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    all: usize,
    clients: HashMap<IpAddr, usize>,
}

impl Running {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner) // two numbers are right at every moment
    }
}

/// One of a store's places, given back when dropped.
pub(super) struct Place {
    running: Arc<Running>,
    client: Option<IpAddr>,
}

impl Place {
    pub(super) fn take(
        running: &Arc<Running>,
        client: Option<IpAddr>,
        limits: &SparqlLimits,
    ) -> Result<Self, SparqlError> {
        let mut counts = running.counts();
        let own = client.and_then(|client| counts.clients.get(&client)).copied().unwrap_or_default();
        if client.is_some() && own >= limits.concurrent_of_client {
            return Err(SparqlError::TooMany(own));
        }
        if counts.all >= limits.concurrent {
            return Err(SparqlError::Busy(counts.all));
        }
        counts.all += 1;
        if let Some(client) = client {
            counts.clients.insert(client, own + 1);
        }
        Ok(Self { running: Arc::clone(running), client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.running.counts();
        counts.all -= 1;
        let Some(client) = self.client else { return };
        match counts.clients.get_mut(&client) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(counts.clients.remove(&client)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_client_takes_no_more_than_its_share() {
        let running = Arc::new(Running::default());
        let limits = SparqlLimits { concurrent: 3, concurrent_of_client: 2, ..SparqlLimits::default() };
        let take = |last: Option<u8>| {
            let client = last.map(|last| IpAddr::from(Ipv4Addr::new(192, 0, 2, last)));
            Place::take(&running, client, &limits)
        };
        let (first, _second) = (take(Some(1)).expect("a place"), take(Some(1)).expect("a place"));
        assert!(matches!(take(Some(1)), Err(SparqlError::TooMany(2))));
        let other = take(Some(2)).expect("a place for another");
        assert!(matches!(take(None), Err(SparqlError::Busy(3))));
        drop(first);
        let third = take(Some(1)).expect("the place given back");
        assert!(matches!(take(Some(1)), Err(SparqlError::TooMany(2))));
        drop((other, third));
        let counts = running.counts();
        assert_eq!((counts.all, counts.clients.len()), (1, 1), "who has no query is forgotten");
        drop(counts);
    }
}
