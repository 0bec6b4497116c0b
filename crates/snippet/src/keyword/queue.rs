//! Lazy priority queue of triples by gain.

use crate::Deadline;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Triple with its gain at the time of insertion. Ties are broken by the order of the graph.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Candidate {
    pub(super) gain: f64,
    pub(super) triple: u32,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain
            .total_cmp(&other.gain)
            .then_with(|| other.triple.cmp(&self.triple))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Lazy queue. Invariant: every triple not yet chosen has an entry with at least its present gain.
///
/// The first popped entry whose gain is still correct is therefore the maximum, and the first of equals. Falling gains
/// need no action. A caller that makes a gain rise must call [`raise`](Self::raise). Filling the queue with *n* triples
/// takes O(n), each popped or raised entry O(log n).
pub(super) struct LazyQueue {
    heap: BinaryHeap<Candidate>,
    /// Gain of the newest entry of each triple.
    newest: Vec<f64>,
    chosen: Vec<bool>,
}

impl LazyQueue {
    /// Creates a queue of all triples below `count`, with their gains.
    pub(super) fn new(count: usize, gain: impl Fn(u32) -> f64) -> Self {
        let newest: Vec<f64> = (0..count as u32).map(gain).collect();
        let heap = newest
            .iter()
            .enumerate()
            .map(|(triple, &gain)| Candidate {
                gain,
                triple: triple as u32,
            })
            .collect();
        Self {
            heap,
            newest,
            chosen: vec![false; count],
        }
    }

    /// Removes a triple that was chosen elsewhere.
    pub(super) fn remove(&mut self, triple: u32) {
        self.chosen[triple as usize] = true;
    }

    /// Removes and returns the triple with the largest gain, or `None` if all gains are 0 or the limit is reached.
    pub(super) fn pop(
        &mut self,
        gain: impl Fn(u32) -> f64,
        meter: &mut Meter<'_>,
    ) -> Option<Candidate> {
        while let Some(top) = self.heap.pop() {
            if meter.is_over(1) {
                return None;
            }
            let place = top.triple as usize;
            if self.chosen[place] {
                continue;
            }
            let now = gain(top.triple);
            // Exact comparison: a gain that has not changed is computed by the same operations.
            if now == top.gain {
                self.chosen[place] = true;
                return (now > 0.0).then_some(top);
            }
            // An entry below the present gain has a newer entry above it, which is popped first.
            if now < top.gain {
                self.newest[place] = now;
                self.heap.push(Candidate { gain: now, ..top });
            }
        }
        None
    }

    /// Updates the gain of a triple after it may have risen.
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

/// Limit of an extractor: a number of steps, which is the same on every run, or a deadline, checked at intervals. For
/// keyword methods, a step is a triple that is inspected again.
#[derive(Clone, Copy)]
pub(crate) struct Limit<'h> {
    pub(crate) work: u64,
    pub(crate) deadline: Deadline<'h>,
}

impl Default for Limit<'_> {
    fn default() -> Self {
        Self {
            work: u64::MAX,
            deadline: Deadline::never(),
        }
    }
}

/// Remainder of a [`Limit`]. Nothing is counted before [`start`](Self::start), so that there is always a first triple.
pub(crate) struct Meter<'h> {
    started: bool,
    left: u64,
    until_check: u64,
    deadline: Deadline<'h>,
    over: bool,
}

/// Steps between two checks of the deadline: less than a millisecond.
const DEADLINE_CHECK_INTERVAL: u64 = 4096;

impl<'h> Meter<'h> {
    pub(crate) fn new(limit: Limit<'h>) -> Self {
        Self {
            started: false,
            left: limit.work,
            until_check: 0,
            deadline: limit.deadline,
            over: false,
        }
    }

    /// Starts counting work and checking the deadline.
    pub(crate) fn start(&mut self) {
        self.started = true;
    }

    /// Counts work and returns true if the limit is exceeded. Once exceeded it stays so, and the deadline is not
    /// checked again.
    pub(crate) fn is_over(&mut self, work: u64) -> bool {
        if self.over || !self.started {
            return self.over;
        }
        let check = work >= self.until_check;
        self.until_check = if check {
            DEADLINE_CHECK_INTERVAL
        } else {
            self.until_check - work
        };
        self.over = work > self.left || (check && self.deadline.has_passed());
        self.left = self.left.saturating_sub(work);
        self.over
    }

    /// Returns true if the limit was exceeded at any time.
    pub(crate) fn was_over(&self) -> bool {
        self.over
    }
}
