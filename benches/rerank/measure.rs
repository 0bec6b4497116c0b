//! Measurement functions shared by all parts.

use lodeseek_index::vectors::Precision;
use std::hint::black_box;
use std::ops::{Add, Sub};
use std::time::Instant;

/// Candidates of a query.
pub(super) const CANDIDATES: [usize; 3] = [10, 20, 50];
pub(super) const PRECISIONS: [Precision; 3] = [Precision::F16, Precision::I8, Precision::I2];

/// A generator of its own, from a seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 40
    }

    /// From -1 to below 1.
    pub(super) fn signed(&mut self) -> f32 {
        self.next() as f32 / (1 << 23) as f32 - 1.0
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() as usize * end) >> 24
    }
}

/// Milliseconds: wall-clock time, and CPU time of the calling thread. On a shared machine only the second measures the work
/// itself. It excludes the work of other threads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) wall: f64,
    pub(super) core: f64,
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wall: self.wall + other.wall,
            core: self.core + other.core,
        }
    }
}

impl Sub for Cost {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            wall: self.wall - other.wall,
            core: self.core - other.core,
        }
    }
}

/// Measures the cost of a call.
pub(super) fn cost<T>(call: impl FnOnce() -> T) -> (Cost, T) {
    let (core, started) = (on_core(), Instant::now());
    let outcome = black_box(call());
    let wall = started.elapsed().as_secs_f64() * 1e3;
    (
        Cost {
            wall,
            core: on_core() - core,
        },
        outcome,
    )
}

/// Milliseconds that this thread has had a core, as of the scheduler's last tick; 0 where the system does not tell.
fn on_core() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ')
        .next()
        .and_then(|time| time.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1e6
}

/// Numbers in order.
pub(super) struct Spread(Vec<f64>);

impl Spread {
    pub(super) fn new(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut numbers: Vec<f64> = numbers.into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        Self(numbers)
    }

    /// The number below which so large a share lies; not a number where there is none.
    pub(super) fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0
            .get((last as f64 * share).round() as usize)
            .copied()
            .unwrap_or(f64::NAN)
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

/// `p50 … ms, p95 … ms`, of some rounds after one that is not counted.
pub(super) fn repeated<T>(rounds: usize, mut work: impl FnMut() -> T) -> String {
    black_box(work());
    let times = Spread::new((0..rounds).map(|_| cost(&mut work).0.wall));
    format!("p50 {:.3} ms, p95 {:.3} ms", times.at(0.5), times.at(0.95))
}

/// A line of this process's memory in bytes, such as `VmRSS`; 0 where the system does not tell.
pub(super) fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let told = status
        .lines()
        .find_map(|told| told.strip_prefix(line)?.strip_prefix(':'));
    told.and_then(|told| told.trim().split(' ').next()?.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}
