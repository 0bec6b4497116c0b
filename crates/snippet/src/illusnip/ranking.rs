//! Ranking of triples for texts of a fixed length.
//!
//! Q. Chen et al.: *Dense Re-Ranking with Weak Supervision for RDF Dataset Search* (DR2), ISWC 2023, fills the text of an
//! encoder with the largest possible number of top-ranked triples. A snippet is too short for this if its component is
//! small, or if all of its component is covered. The ranking therefore continues:
//!
//! 1. The first triples, or the snippet of OPT-MAX if there are none.
//! 2. While a triple has a gain: the triple with the largest gain, in any component, and the growth from it.
//! 3. All other triples by their gain in an empty snippet.
//!
//! *Restarts are lazy.* A growth ends when no triple at its entities has a gain. The remaining triples with a gain are
//! therefore at new entities only, and their gains can only fall. A heap of old gains gives the next start.

use super::{Candidate, Growth, NO_RUN, Weights};
use crate::TripleBudget;
use lodeseek_profile::Profile;
use lodeseek_rdf::{Triple, TripleGraph};
use rustc_hash::FxHashSet;
use std::collections::BinaryHeap;

/// Ranks triples of a graph for a text, beginning with `first`. Returns `count` triples, or all if the graph has fewer.
///
/// `profile` must be the profile of `graph`. Triples of `first` that are not in the graph are omitted. Every triple
/// occurs once. For T triples the cost is that of a growth of `count` triples, O(T), and a few heap operations for each
/// restart.
///
/// ```
/// use lodeseek_profile::Profile;
/// use lodeseek_rdf::TripleGraphBuilder;
/// use lodeseek_rdf::dump::DumpReader;
/// use lodeseek_snippet::{TripleBudget, rank_triples};
///
/// let turtle = "@prefix e: <http://e.org/> . e:oak e:in e:park . e:cod e:in e:sea .";
/// let mut builder = TripleGraphBuilder::new();
/// DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
/// let graph = builder.finish();
/// let ranking = rank_triples(&graph, &Profile::new(&graph), &[], TripleBudget(171));
/// assert_eq!(ranking.len(), 2); // in two components
/// ```
#[must_use]
pub fn rank_triples(
    graph: &TripleGraph,
    profile: &Profile,
    first: &[Triple],
    count: TripleBudget,
) -> Vec<Triple> {
    let mut seeds = Vec::with_capacity(first.len().min(count.0));
    let mut seen = FxHashSet::default();
    for triple in first.iter().take(count.0) {
        if let Ok(place) = graph.triples().binary_search(triple)
            && seen.insert(place)
        {
            seeds.push(place as u32);
        }
    }
    if seeds.len() == count.0 {
        return seeds
            .iter()
            .map(|&place| graph.triples()[place as usize])
            .collect();
    }
    Growth::new(&Weights::new(graph, profile)).rank(&seeds, count.0)
}

impl Growth<'_> {
    /// Ranks `count` triples, beginning with the seeds. See the module documentation.
    pub(super) fn rank(&mut self, seeds: &[u32], count: usize) -> Vec<Triple> {
        self.growth += 1; // what an earlier growth covered is new again
        let heaviest = self.candidates().max();
        let start: Vec<u32> = heaviest.iter().map(|candidate| candidate.triple).collect();
        self.grow(if seeds.is_empty() { &start } else { seeds }, count);
        if self.triples.len() < count {
            self.grow_elsewhere(count);
        }
        if self.triples.len() < count {
            self.add_without_gain(count);
        }
        self.triples
            .iter()
            .map(|&triple| self.weights.triple(triple))
            .collect()
    }

    /// Returns all triples with their present gains.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Candidate> + '_ {
        let triples = 0..self.weights.graph.len() as u32;
        triples.map(|triple| Candidate {
            gain: self.gain(triple),
            triple,
            run: NO_RUN,
        })
    }

    fn grow_elsewhere(&mut self, count: usize) {
        let mut starts: BinaryHeap<Candidate> =
            self.candidates().filter(|start| start.gain > 0.0).collect();
        while self.triples.len() < count
            && let Some(start) = starts.pop()
        {
            let gain = self.gain(start.triple);
            if gain < start.gain {
                if gain > 0.0 {
                    starts.push(Candidate { gain, ..start });
                }
                continue;
            }
            self.choose(start.triple, gain);
            self.grow_further(count);
        }
    }

    /// Adds triples that are not chosen yet, by their gain in an empty snippet.
    fn add_without_gain(&mut self, count: usize) {
        self.growth += 1; // nothing is covered
        let chosen: FxHashSet<u32> = self.triples.iter().copied().collect();
        let mut others: Vec<Candidate> = self
            .candidates()
            .filter(|other| !chosen.contains(&other.triple))
            .collect();
        let missing = count - self.triples.len();
        if missing < others.len() {
            others.select_nth_unstable_by(missing, |a, b| b.cmp(a));
            others.truncate(missing);
        }
        others.sort_unstable_by(|a, b| b.cmp(a));
        self.triples.extend(others.iter().map(|other| other.triple));
    }
}
