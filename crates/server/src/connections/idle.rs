//! Connections without a request in progress. If all permits are taken, one of them gives its permit to a new connection: the oldest one of
//! the client with the most waiting connections. So clients that open connections and send nothing cannot exclude others, not even
//! those that are slow to send their request.

use crate::permits::Permit;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Permits of connections that wait for a request, the longest waiting first.
#[derive(Default)]
pub(super) struct IdleConnections(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    /// Address of the client. `None` for a trusted proxy, whose connections have many clients.
    client: Option<IpAddr>,
    permit: Permit,
    closed: Arc<Notify>,
}

impl Queue {
    /// Returns the turn of the connection that has waited longest, of the client with most waiting connections. Each connection of a
    /// trusted proxy counts as one client.
    fn turn_to_close(&self) -> Option<u64> {
        let mut clients: HashMap<Result<IpAddr, u64>, (usize, Reverse<u64>)> = HashMap::new();
        for (turn, waiting) in &self.waiting {
            clients
                // The queue is in the order of turns, so that the first one of a client is its oldest.
                .entry(waiting.client.ok_or(*turn))
                .or_insert((0, Reverse(*turn)))
                .0 += 1;
        }
        clients.into_values().max().map(|(_, Reverse(turn))| turn)
    }
}

impl IdleConnections {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, client: Option<IpAddr>, permit: Permit, closed: &Arc<Notify>) -> u64 {
        let mut queue = self.queue();
        queue.next += 1;
        let turn = queue.next;
        queue.waiting.insert(
            turn,
            Waiting {
                client,
                permit,
                closed: Arc::clone(closed),
            },
        );
        turn
    }

    fn take(&self, turn: u64) -> Option<Permit> {
        self.queue()
            .waiting
            .remove(&turn)
            .map(|waiting| waiting.permit)
    }

    /// Closes a waiting connection. Returns false if all have a request in progress.
    pub(super) fn close_one(&self) -> bool {
        let mut queue = self.queue();
        // Only the queue is locked. A place locks its state first and then the queue, so that no two threads wait for each
        // other.
        let waiting = queue
            .turn_to_close()
            .and_then(|turn| queue.waiting.remove(&turn));
        drop(queue);
        let Some(Waiting { permit, closed, .. }) = waiting else {
            return false;
        };
        closed.notify_one();
        // Returned at once: the new connection does not wait until the closed one has ended.
        drop(permit);
        true
    }
}

/// Permit of an open connection.
pub(super) struct Place {
    idle: Arc<IdleConnections>,
    client: Option<IpAddr>,
    closed: Arc<Notify>,
    state: Mutex<State>,
}

enum State {
    /// Waits for a request, with this turn in the queue.
    Idle(u64),
    /// Has a request in progress.
    Busy(Permit),
    /// The end of a response has not been written to the socket yet.
    Sending(Permit),
    Closed,
}

impl Place {
    /// Makes the place of a new connection of a client, which waits for its first request.
    pub(super) fn new(idle: &Arc<IdleConnections>, client: Option<IpAddr>, permit: Permit) -> Self {
        let closed = Arc::default();
        let state = Mutex::new(State::Idle(idle.push(client, permit, &closed)));
        Self {
            idle: Arc::clone(idle),
            client,
            closed,
            state,
        }
    }

    fn change(&self, change: impl FnOnce(State) -> State) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // `Closed` stands in during the change; the lock hides it.
        *state = change(mem::replace(&mut *state, State::Closed));
    }

    /// Waits until the connection is to be closed for another one.
    pub(super) async fn wait_for_close(&self) {
        self.closed.notified().await;
    }

    /// Begins a request, which keeps the connection open until the returned value is dropped and the response is written.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.change(|state| match state {
            // Without a permit, the connection was closed for another one in this moment.
            State::Idle(turn) => match self.idle.take(turn) {
                Some(permit) => State::Busy(permit),
                None => State::Closed,
            },
            State::Sending(permit) => State::Busy(permit),
            State::Busy(_) | State::Closed => state,
        });
        Busy(Arc::clone(self))
    }

    /// Accepts that everything was written to the socket. After the end of a response the connection waits for a request.
    pub(super) fn record_flush(&self) {
        self.change(|state| match state {
            State::Sending(permit) => {
                State::Idle(self.idle.push(self.client, permit, &self.closed))
            }
            State::Idle(_) | State::Busy(_) | State::Closed => state,
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.change(|state| {
            if let State::Idle(turn) = state {
                self.idle.take(turn);
            }
            State::Closed
        });
    }
}

/// A request in progress, until the end of its response.
pub(super) struct Busy(Arc<Place>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(|state| {
            if let State::Busy(permit) = state {
                // Not idle yet: closing the connection now would cut the response.
                State::Sending(permit)
            } else {
                state
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permits::Permits;

    #[test]
    fn only_connections_without_a_request_give_up_their_permits() {
        let (permits, idle) = (Permits::new(2, 2), Arc::default());
        let connect = || {
            Some(Arc::new(Place::new(
                &idle,
                None,
                permits.try_acquire(None).ok()?,
            )))
        };
        let (first, second) = (connect().expect("free"), connect().expect("free"));
        let request = first.begin();
        assert!(connect().is_none() && idle.close_one());
        let third = connect().expect("the permit of the second");
        drop(second.begin()); // too late
        drop(second);
        let other = third.begin();
        assert!(!idle.close_one(), "both have a request");
        drop(request);
        assert!(!idle.close_one(), "the response is not written yet");
        first.record_flush();
        assert!(idle.close_one() && connect().is_some());
        drop((other, third));
        assert!(
            connect().is_some() && !idle.close_one(),
            "closed connections do not wait"
        );
    }

    #[test]
    fn the_client_with_most_waiting_connections_gives_up_the_oldest() {
        let (permits, idle) = (Permits::new(9, 9), Arc::default());
        let address = |last: u8| Some(IpAddr::from([127, 0, 0, last]));
        let connect =
            |client| Place::new(&idle, client, permits.try_acquire(client).expect("free"));
        let places = [
            None,
            None,
            address(1),
            address(2),
            address(3),
            address(2),
            address(3),
        ]
        .map(connect);
        let is_open = |place: &Place| matches!(*place.state.lock().expect("unharmed"), State::Idle(turn) if idle.queue().waiting.contains_key(&turn));
        for expected in [3, 4, 0, 1, 2, 5, 6] {
            assert!(is_open(&places[expected]) && idle.close_one());
            assert!(!is_open(&places[expected]), "{expected}");
        }
        assert!(!idle.close_one());
    }
}
