//! Comparison of two sets of (paper, dataset) pairs, and samples of pairs for manual review.

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of pairs that both sets contain, and that only one contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PairCounts {
    /// Pairs in both sets.
    pub both: u32,
    /// Pairs only in ours.
    pub ours_alone: u32,
    /// Pairs only in theirs.
    pub theirs_alone: u32,
}

impl PairCounts {
    /// Returns the share of our pairs that are also theirs; 1 if we have none.
    #[must_use]
    pub fn precision(&self) -> f64 {
        share(self.both, self.both + self.ours_alone)
    }

    /// Returns the share of their pairs that are also ours; 1 if they have none.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.both, self.both + self.theirs_alone)
    }

    /// Returns the harmonic mean of precision and recall.
    #[must_use]
    pub fn f1(&self) -> f64 {
        share(
            2 * self.both,
            2 * self.both + self.ours_alone + self.theirs_alone,
        )
    }

    fn from_sets<T: Ord>(ours: &BTreeSet<T>, theirs: &BTreeSet<T>) -> Self {
        let both = ours.intersection(theirs).count();
        Self {
            both: to_count(both),
            ours_alone: to_count(ours.len() - both),
            theirs_alone: to_count(theirs.len() - both),
        }
    }
}

fn to_count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 {
        1.0
    } else {
        f64::from(part) / f64::from(whole)
    }
}

/// Agreement of two taggings of the same papers.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Number of compared papers.
    pub papers: u32,
    /// Number of papers with identical datasets.
    pub equal: u32,
    /// Counts over all papers.
    pub pairs: PairCounts,
    /// Sums over papers.
    precision: f64,
    recall: f64,
    f1: f64,
    datasets: BTreeMap<String, PairCounts>,
}

impl Agreement {
    /// Adds a paper with the datasets of both taggings.
    pub fn add(&mut self, ours: &BTreeSet<String>, theirs: &BTreeSet<String>) {
        let counts = PairCounts::from_sets(ours, theirs);
        self.papers += 1;
        self.equal += u32::from(ours == theirs);
        self.pairs = self.pairs.plus(counts);
        self.precision += counts.precision();
        self.recall += counts.recall();
        self.f1 += counts.f1();
        for id in ours.union(theirs) {
            let pair = match (ours.contains(id), theirs.contains(id)) {
                (true, false) => PairCounts {
                    ours_alone: 1,
                    ..PairCounts::default()
                },
                // Each id of the union is in at least one of the sets.
                (false, _) => PairCounts {
                    theirs_alone: 1,
                    ..PairCounts::default()
                },
                (true, true) => PairCounts {
                    both: 1,
                    ..PairCounts::default()
                },
            };
            let known = self.datasets.entry(id.clone()).or_default();
            *known = known.plus(pair);
        }
    }

    /// Returns precision, recall and F1 as means over papers.
    #[must_use]
    pub fn per_paper(&self) -> [f64; 3] {
        [self.precision, self.recall, self.f1].map(|sum| {
            if self.papers == 0 {
                1.0
            } else {
                sum / f64::from(self.papers)
            }
        })
    }

    /// Returns the datasets that only one tagging contains, most frequent first.
    #[must_use]
    pub fn most(&self, alone: impl Fn(&PairCounts) -> u32, number: usize) -> Vec<(&str, u32)> {
        let mut counts: Vec<(&str, u32)> = self
            .datasets
            .iter()
            .map(|(id, counts)| (id.as_str(), alone(counts)))
            .filter(|(_, count)| *count > 0)
            .collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        counts.truncate(number);
        counts
    }
}

impl PairCounts {
    fn plus(self, other: Self) -> Self {
        Self {
            both: self.both + other.both,
            ours_alone: self.ours_alone + other.ours_alone,
            theirs_alone: self.theirs_alone + other.theirs_alone,
        }
    }
}

/// Draws pairs of line and dataset: those with the smallest digests of seed, line and id, in the order of lines.
///
/// The sample does not depend on the order of the pairs. One more pair changes at most one member of the sample.
#[must_use]
pub fn draw_sample<P>(
    pairs: Vec<P>,
    key: impl Fn(&P) -> (usize, &str),
    number: usize,
    seed: u64,
) -> Vec<P> {
    let mut drawn: Vec<(Vec<u8>, P)> = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let (line, id) = key(&pair);
        let digest = Sha256::digest(format!("{seed}\t{line}\t{id}")).to_vec();
        drawn.push((digest, pair));
    }
    drawn.sort_by(|(a, _), (b, _)| a.cmp(b));
    drawn.truncate(number);
    let mut drawn: Vec<P> = drawn.into_iter().map(|(_, pair)| pair).collect();
    drawn.sort_by(|a, b| key(a).cmp(&key(b)));
    drawn
}
