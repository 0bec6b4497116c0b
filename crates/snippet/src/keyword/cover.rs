//! Keyword cover: the fewest triples that contain the keywords, informative ones first, connected where possible.
//!
//! Triples with the same keywords are equivalent at first. The cover is therefore computed on the distinct keyword
//! sets. For up to [`MAX_EXACT_KEYWORDS`] present keywords it is exact, by breadth-first
//! search over the covered sets. Beyond, it is greedy by the weight of the new keywords.
//!
//! For each chosen set, one triple is selected by these criteria:
//!
//! 1. It touches entities chosen before.
//! 2. Its entities contain most of the other sets.
//! 3. Its predicate or object contains the keyword, not its subject.
//! 4. It is the first in order.
//!
//! With budget left, links that connect the components are added.
//!
//! One pass over the triples groups them, and one more connects components. All else is linear in the triples with
//! keywords. A work bound and a deadline are checked between these passes. They omit the last sets and the connection;
//! triples already chosen remain.

use super::queue::{Limit, Meter};
use super::{KeywordMatcher, KeywordSet, Matches, Roles};
use crate::{Deadline, Snippet, SnippetExtractor, TripleBudget};
use lodeseek_profile::Profile;
use lodeseek_rdf::{TermId, TripleGraph};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;

/// Maximum number of keywords for an exact cover: 256 states. Beyond, the cover is greedy.
const MAX_EXACT_KEYWORDS: u32 = 8;

/// Use of the budget that the cover leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Remainder {
    Join,
    Fill,
}

/// Keyword cover extractor. See the module documentation.
#[derive(Clone)]
pub struct KeywordCover<'m> {
    keywords: &'m dyn KeywordMatcher,
    weights: Option<Vec<f64>>,
    rest: Remainder,
    limit: Limit<'m>,
}

impl<'m> KeywordCover<'m> {
    /// Creates an extractor. The default weight of a keyword increases with its rarity among the triples.
    #[must_use]
    pub fn new(keywords: &'m dyn KeywordMatcher) -> Self {
        Self {
            keywords,
            weights: None,
            rest: Remainder::Join,
            limit: Limit::default(),
        }
    }

    /// Sets the weights of the keywords, by their position in the query.
    #[must_use]
    pub fn with_weights(self, weights: Vec<f64>) -> Self {
        Self {
            weights: Some(weights),
            ..self
        }
    }

    /// Fills the remaining budget with further triples that contain keywords, the heaviest first, instead of connecting
    /// links.
    #[must_use]
    pub fn with_filling(self) -> Self {
        Self {
            rest: Remainder::Fill,
            ..self
        }
    }

    /// Sets the maximum number of triples inspected again after grouping. Default: no limit. The first set always gets
    /// its triple; sets beyond the limit get none.
    #[must_use]
    pub fn with_work(self, work: u64) -> Self {
        let limit = Limit { work, ..self.limit };
        Self { limit, ..self }
    }

    /// Sets a deadline. When it has passed, extraction ends with the triples chosen so far: at least one if a keyword
    /// matches.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline<'m>) -> Self {
        let limit = Limit {
            deadline,
            ..self.limit
        };
        Self { limit, ..self }
    }
}

impl SnippetExtractor for KeywordCover<'_> {
    fn name(&self) -> &'static str {
        "keyword cover"
    }

    fn extract(&self, graph: &TripleGraph, _: &Profile, budget: TripleBudget) -> Snippet {
        let matches = Matches::new(self.keywords, graph);
        let groups = matches.groups(graph);
        let weights = self
            .weights
            .clone()
            .unwrap_or_else(|| compute_rarity(&groups, graph.len()));
        let sets: Vec<KeywordSet> = groups.iter().map(|(set, _)| *set).collect();
        let cover = cover(&sets, &weights, budget.0);
        let mut meter = Meter::new(self.limit);
        let chooser = Chooser {
            roles: Roles::new(graph),
            matches: &matches,
            weights: &weights,
            groups: &groups,
        };
        let mut chosen = chooser.choose(&cover, &mut meter);
        let covered = cover
            .iter()
            .take(chosen.len())
            .fold(KeywordSet::NONE, |all, &set| all.union(set));
        match self.rest {
            Remainder::Join => chooser.join(&mut chosen, budget.0, &mut meter),
            Remainder::Fill => chooser.fill(&mut chosen, budget.0, &mut meter),
        }
        let triples = chosen
            .iter()
            .map(|&place| graph.triples()[place as usize])
            .collect();
        Snippet {
            triples,
            gain: sum_weights(&weights, covered),
            interrupted: meter.was_over(),
        }
    }
}

/// Returns ln(1 + triples / triples that contain the keyword), by position.
fn compute_rarity(groups: &[(KeywordSet, Vec<u32>)], triples: usize) -> Vec<f64> {
    let mut holding = [0usize; 64];
    for (set, group) in groups {
        set.places().for_each(|place| holding[place] += group.len());
    }
    holding
        .iter()
        .map(|&count| (triples as f64 / count.max(1) as f64).ln_1p())
        .collect()
}

pub(super) fn sum_weights(weights: &[f64], set: KeywordSet) -> f64 {
    set.places()
        .map(|place| weights.get(place).copied().unwrap_or(0.0))
        .sum()
}

/// Returns the sets with the heaviest union among at most `limit` of the given sets, and of these the fewest. Heaviest
/// first.
pub(super) fn cover(sets: &[KeywordSet], weights: &[f64], limit: usize) -> Vec<KeywordSet> {
    let all = sets
        .iter()
        .fold(KeywordSet::NONE, |all, &set| all.union(set));
    let is_exact = all.len() <= MAX_EXACT_KEYWORDS;
    let mut sets: Vec<KeywordSet> = if is_exact {
        sets.iter()
            .copied()
            // A set that another one contains is never needed.
            .filter(|set| !sets.iter().any(|other| is_proper_subset(*set, *other)))
            .collect()
    } else {
        // Many keywords have many sets, too many to compare each with each other. The greedy choice prefers a set to
        // those that it contains, since they are lighter.
        sets.to_vec()
    };
    sort_by_weight(&mut sets, weights);
    let mut cover = if is_exact {
        find_smallest_cover(&sets, all, weights, limit)
    } else {
        cover_greedily(&sets, weights, limit)
    };
    sort_by_weight(&mut cover, weights);
    cover
}

/// Sorts by descending weight, then by the sets.
fn sort_by_weight(sets: &mut [KeywordSet], weights: &[f64]) {
    sets.sort_by(|a, b| {
        sum_weights(weights, *b)
            .total_cmp(&sum_weights(weights, *a))
            .then(a.cmp(b))
    });
}

fn is_proper_subset(set: KeywordSet, other: KeywordSet) -> bool {
    set != other && set.difference(other).is_empty()
}

/// Breadth-first search over unions. The first path to each union has the fewest sets.
fn find_smallest_cover(
    sets: &[KeywordSet],
    all: KeywordSet,
    weights: &[f64],
    limit: usize,
) -> Vec<KeywordSet> {
    let mut way: FxHashMap<KeywordSet, Vec<KeywordSet>> =
        FxHashMap::from_iter([(KeywordSet::NONE, Vec::new())]);
    let mut layer = vec![KeywordSet::NONE];
    let mut best = KeywordSet::NONE;
    for _ in 0..limit {
        let mut next = Vec::new();
        for &covered in &layer {
            for &set in sets {
                let union = covered.union(set);
                if !way.contains_key(&union) {
                    let longer = way[&covered].iter().copied().chain([set]).collect();
                    way.insert(union, longer);
                    next.push(union);
                }
            }
        }
        for &union in &next {
            if sum_weights(weights, union) > sum_weights(weights, best) {
                best = union;
            }
        }
        if best == all || next.is_empty() {
            break;
        }
        layer = next;
    }
    way.remove(&best).unwrap_or_default()
}

fn cover_greedily(sets: &[KeywordSet], weights: &[f64], limit: usize) -> Vec<KeywordSet> {
    let mut covered = KeywordSet::NONE;
    let mut chosen = Vec::new();
    while chosen.len() < limit {
        // `max_by` returns the last of equal elements.
        let best = sets.iter().rev().max_by(|a, b| {
            sum_weights(weights, a.difference(covered))
                .total_cmp(&sum_weights(weights, b.difference(covered)))
        });
        let Some(&best) = best else {
            break;
        };
        if best.difference(covered).is_empty() {
            break;
        }
        covered = covered.union(best);
        chosen.push(best);
    }
    chosen
}

struct Chooser<'c> {
    roles: Roles<'c>,
    matches: &'c Matches,
    weights: &'c [f64],
    groups: &'c [(KeywordSet, Vec<u32>)],
}

impl Chooser<'_> {
    fn group(&self, set: KeywordSet) -> &[u32] {
        match self.groups.binary_search_by_key(&set, |(set, _)| *set) {
            Ok(place) => &self.groups[place].1,
            Err(_) => &[],
        }
    }

    fn statement_weight(&self, place: u32) -> f64 {
        sum_weights(
            self.weights,
            self.matches.statement_keywords(self.roles.triple(place)),
        )
    }

    /// Returns the number of ends of a triple that are touched, and of sets that its ends contain.
    fn connections(
        &self,
        place: u32,
        touched: &FxHashSet<TermId>,
        near: &FxHashMap<TermId, u64>,
    ) -> (usize, u32) {
        let (mut touches, mut sets) = (0, 0u64);
        for end in self.roles.ends(self.roles.triple(place)) {
            touches += usize::from(touched.contains(&end));
            sets |= near.get(&end).copied().unwrap_or(0);
        }
        (touches, sets.count_ones())
    }

    /// Selects a triple for each set, within the meter's limit.
    fn choose(&self, cover: &[KeywordSet], meter: &mut Meter<'_>) -> Vec<u32> {
        let near = self.near(cover);
        let mut touched: FxHashSet<TermId> = FxHashSet::default();
        let mut chosen = Vec::with_capacity(cover.len());
        for &set in cover {
            if meter.is_over(self.group(set).len() as u64) {
                break;
            }
            meter.start();
            let best = self.group(set).iter().max_by(|&&a, &&b| {
                self.connections(a, &touched, &near)
                    .cmp(&self.connections(b, &touched, &near))
                    .then_with(|| {
                        self.statement_weight(a)
                            .total_cmp(&self.statement_weight(b))
                    })
                    .then_with(|| b.cmp(&a))
            });
            if let Some(&best) = best {
                touched.extend(self.roles.ends(self.roles.triple(best)));
                chosen.push(best);
            }
        }
        chosen
    }

    /// Returns the sets of the cover contained in each entity's triples, as bits by position in the cover.
    fn near(&self, cover: &[KeywordSet]) -> FxHashMap<TermId, u64> {
        let mut near: FxHashMap<TermId, u64> = FxHashMap::default();
        if cover.len() > 1 {
            for (bit, &set) in cover.iter().enumerate() {
                for &place in self.group(set) {
                    for end in self.roles.ends(self.roles.triple(place)) {
                        // At most 64 sets: each set of a cover adds a keyword.
                        *near.entry(end).or_default() |= 1 << bit;
                    }
                }
            }
        }
        near
    }

    /// Adds links between entities of different components, in order.
    fn join(&self, chosen: &mut Vec<u32>, limit: usize, meter: &mut Meter<'_>) {
        let mut piece: FxHashMap<TermId, u32> = FxHashMap::default();
        let mut pieces = 0;
        for &place in chosen.iter() {
            let mut ends = self.roles.ends(self.roles.triple(place));
            let first = ends.next();
            let second = ends.next();
            pieces += 1;
            for end in [first, second].into_iter().flatten() {
                let own = piece.insert(end, pieces).unwrap_or(pieces);
                merge_pieces(&mut piece, own, pieces);
            }
        }
        let is_whole = chosen.len() >= limit || piece.values().all(|&own| own == pieces);
        if is_whole || meter.is_over(self.roles.graph.len() as u64) {
            return;
        }
        for place in 0..self.roles.graph.len() as u32 {
            let triple = self.roles.triple(place);
            let Some(target) = self.roles.target(triple) else {
                continue;
            };
            if let (Some(&from), Some(&to)) = (piece.get(&triple.subject), piece.get(&target))
                && from != to
                && chosen.len() < limit
            {
                merge_pieces(&mut piece, from, to);
                chosen.push(place);
            }
        }
    }

    /// Adds further triples with keywords: the heaviest sets first, and within a set those with the keyword in
    /// predicate or object.
    fn fill(&self, chosen: &mut Vec<u32>, limit: usize, meter: &mut Meter<'_>) {
        let mut groups: Vec<&(KeywordSet, Vec<u32>)> = self.groups.iter().collect();
        groups.sort_by(|a, b| {
            sum_weights(self.weights, b.0)
                .total_cmp(&sum_weights(self.weights, a.0))
                .then(a.0.cmp(&b.0))
        });
        for (_, group) in groups {
            if chosen.len() >= limit || meter.is_over(group.len() as u64) {
                return;
            }
            let mut further: Vec<u32> = group
                .iter()
                .copied()
                .filter(|place| !chosen.contains(place))
                .collect();
            let count = (limit - chosen.len()).min(further.len());
            if count < further.len() {
                further.select_nth_unstable_by(count, |a, b| self.compare_statements(*a, *b));
                further.truncate(count);
            }
            further.sort_unstable_by(|a, b| self.compare_statements(*a, *b));
            chosen.extend(further);
        }
    }

    /// Compares triples by descending weight, then by position.
    fn compare_statements(&self, a: u32, b: u32) -> Ordering {
        self.statement_weight(b)
            .total_cmp(&self.statement_weight(a))
            .then_with(|| a.cmp(&b))
    }
}

fn merge_pieces(piece: &mut FxHashMap<TermId, u32>, from: u32, to: u32) {
    piece
        .values_mut()
        .filter(|own| **own == from)
        .for_each(|own| *own = to);
}
