//! A queue of triples by what they would add, kept right lazily.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A triple with the gain it had when it was queued. Equal gains: the triple that comes first in the graph's order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Candidate {
    pub(super) gain: f64,
    pub(super) triple: u32,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| other.triple.cmp(&self.triple))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The lazy queue: every triple not chosen yet has an entry of at least its present gain.
///
/// So the first entry popped whose gain is still true is the greatest of all, and of equal ones the first in order. Gains
/// that fall need nothing; whoever makes a gain rise calls [`raise`](Self::raise). Filling it with *n* triples takes O(n),
/// each entry popped or raised O(log n).
pub(super) struct LazyQueue {
    heap: BinaryHeap<Candidate>,
    /// By triple: the gain of its newest entry.
    newest: Vec<f64>,
    chosen: Vec<bool>,
}

impl LazyQueue {
    /// All triples below `count`, with their gains.
    pub(super) fn new(count: usize, gain: impl Fn(u32) -> f64) -> Self {
        let newest: Vec<f64> = (0..count as u32).map(gain).collect();
        let heap = newest.iter().enumerate().map(|(triple, &gain)| Candidate { gain, triple: triple as u32 }).collect();
        Self { heap, newest, chosen: vec![false; count] }
    }

    /// Takes a triple that was chosen elsewhere out of the queue.
    pub(super) fn remove(&mut self, triple: u32) {
        self.chosen[triple as usize] = true;
    }

    /// Takes out the triple that adds most; `None` where no triple adds anything.
    pub(super) fn pop(&mut self, gain: impl Fn(u32) -> f64) -> Option<Candidate> {
        while let Some(top) = self.heap.pop() {
            let place = top.triple as usize;
            if self.chosen[place] {
                continue;
            }
            let now = gain(top.triple);
            if now == top.gain {
                self.chosen[place] = true;
                return (now > 0.0).then_some(top);
            }
            // An entry below the present gain has a newer one above it, which comes first.
            if now < top.gain {
                self.newest[place] = now;
                self.heap.push(Candidate { gain: now, ..top });
            }
        }
        None
    }

    /// Tells that the gain of a triple may have risen.
    pub(super) fn raise(&mut self, triple: u32, gain: impl Fn(u32) -> f64) {
        let place = triple as usize;
        if self.chosen[place] {
            return;
        }
        let now = gain(triple);
        if now > self.newest[place] {
            self.newest[place] = now;
            self.heap.push(Candidate { gain: now, triple });
        }
    }
}
