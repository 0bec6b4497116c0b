//! A queue of triples by what they would add, kept right lazily.

use crate::Deadline;
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

    /// Takes out the triple that adds most; `None` where no triple adds anything, or past the limit.
    pub(super) fn pop(&mut self, gain: impl Fn(u32) -> f64, meter: &mut Meter<'_>) -> Option<Candidate> {
        while let Some(top) = self.heap.pop() {
            if meter.is_over(1) {
                return None;
            }
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

/// When an extractor must end: by a count of its steps (for keywords, the triples looked at once more), which is the same on
/// every run, or by a deadline, asked for now and then.
#[derive(Clone, Copy)]
pub(crate) struct Limit<'h> {
    pub(crate) work: u64,
    pub(crate) deadline: Deadline<'h>,
}

impl Default for Limit<'_> {
    fn default() -> Self {
        Self { work: u64::MAX, deadline: Deadline::never() }
    }
}

/// What is left of a [`Limit`]. Nothing counts before [`start`](Self::start), so that there is always a first triple.
pub(crate) struct Meter<'h> {
    started: bool,
    left: u64,
    until_check: u64,
    deadline: Deadline<'h>,
    over: bool,
}

/// Work between two questions whether the deadline has passed: less than a millisecond.
const DEADLINE_CHECK_INTERVAL: u64 = 4096;

impl<'h> Meter<'h> {
    pub(crate) fn new(limit: Limit<'h>) -> Self {
        Self { started: false, left: limit.work, until_check: 0, deadline: limit.deadline, over: false }
    }

    /// From here on work counts, and the deadline too.
    pub(crate) fn start(&mut self) {
        self.started = true;
    }

    /// Counts work. Once over, it stays over, and the deadline is not asked again.
    pub(crate) fn is_over(&mut self, work: u64) -> bool {
        if self.over || !self.started {
            return self.over;
        }
        let check = work >= self.until_check;
        self.until_check = if check { DEADLINE_CHECK_INTERVAL } else { self.until_check - work };
        self.over = work > self.left || (check && self.deadline.has_passed());
        self.left = self.left.saturating_sub(work);
        self.over
    }

    /// Whether it was over at any time.
    pub(crate) fn was_over(&self) -> bool {
        self.over
    }
}
