//! IlluSnip: one connected piece of the dataset that covers frequent classes and properties and shows familiar entities.
//!
//! G. Cheng, C. Jin, W. Ding, D. Xu, Y. Qu: *Generating Illustrative Snippets for Open Data on the Web*, WSDM 2017; the
//! anytime variant from D. Liu, G. Cheng, Q. Liu, Y. Qu: *Fast and Practical Snippet Generation for RDF Datasets*,
//! ACM TWEB 13(4), 2019.
//!
//! With *T* triples of which *C* are of `rdf:type`, and *n* the number of triples of a property or class:
//!
//! ```text
//! cov(property) = ln(n + 1) / ln(T + 1)        cov(class) = ln(n + 1) / ln(C + 1)
//! fam(entity)   = PageRank / largest PageRank  (undirected multigraph of entity links)
//! gain(triple)  = 0.8 · cov of its property or class, 0 once covered
//!               + 0.2 · familiarity of its entities not covered yet (the mean where both are new)
//! ```
//!
//! A snippet grows from a start: again and again the heaviest triple of the frontier is added, until the budget is spent
//! or nothing adds anything. The frontier are the triples at the subjects and entity objects chosen so far; it never
//! passes through a literal, and through a class only where the class is also an entity. So a snippet is connected.
//!
//! *The frontier is a lazy heap.* Coverage only falls, so a stale weight is an upper bound, with one exception: the
//! familiarity of a triple can rise when the less familiar of its entities becomes covered. But exactly then all triples
//! of that entity enter the heap, with their new weights. So every frontier triple has an entry at least as heavy as it
//! is, and the first popped entry whose weight is still true is the maximum. A growth costs O((k + F) log F) for F
//! triples in the frontier, instead of the O(k F log F) of sorting it again at every step.
//!
//! *Deterministic and anytime.* The starts are tried by decreasing weight and the best snippet so far is kept, until the
//! work bound, a count of heap operations and not a clock, is reached; a [`Deadline`] serves callers with clocks.

use super::{Deadline, Snippet, SnippetExtractor, TripleBudget};
use crate::graph::{LinkGraph, PageRank};
use crate::profile::Profile;
use crate::rdf::vocab::rdf;
use crate::rdf::{TermId, Triple, TripleGraph};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The weight of coverage in a triple's gain.
const COVERAGE_WEIGHT: f64 = 0.8;
/// The weight of familiarity in a triple's gain.
const FAMILIARITY_WEIGHT: f64 = 0.2;
/// Heap operations after which no further start is tried: some milliseconds.
const DEFAULT_WORK: u64 = 200_000;

/// From which triples a snippet may grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts {
    /// OPT-MAX: only from the heaviest triple.
    Heaviest,
    /// OPT-RANK: from all, heaviest first, as long as the work bound allows.
    Ranked,
}

/// The extractor. See the module documentation.
#[derive(Clone, Copy)]
pub struct IlluSnip<'h> {
    starts: Starts,
    work: u64,
    deadline: Deadline<'h>,
}

impl Default for IlluSnip<'_> {
    fn default() -> Self {
        Self { starts: Starts::Ranked, work: DEFAULT_WORK, deadline: Deadline::never() }
    }
}

impl<'h> IlluSnip<'h> {
    /// With these starts.
    #[must_use]
    pub fn with_starts(self, starts: Starts) -> Self {
        Self { starts, ..self }
    }

    /// With this bound on heap operations. The first start is always grown to its end.
    #[must_use]
    pub fn with_work(self, work: u64) -> Self {
        Self { work, ..self }
    }

    /// Ends the search, with the best snippet so far, when the deadline has passed.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline<'h>) -> Self {
        Self { deadline, ..self }
    }
}

impl SnippetExtractor for IlluSnip<'_> {
    fn name(&self) -> &'static str {
        match self.starts {
            Starts::Heaviest => "IlluSnip OPT-MAX",
            Starts::Ranked => "IlluSnip OPT-RANK",
        }
    }

    fn extract(&self, graph: &TripleGraph, profile: &Profile, budget: TripleBudget) -> Snippet {
        let empty = Snippet { triples: Vec::new(), gain: 0.0, interrupted: false };
        if graph.is_empty() || budget.0 == 0 {
            return empty;
        }
        let weights = Weights::of(graph, profile);
        let mut growth = Growth::new(&weights);
        let mut starts: BinaryHeap<Candidate> =
            (0..graph.len() as u32).map(|triple| Candidate { gain: growth.gain(triple), triple }).collect();
        let mut best = empty;
        while let Some(start) = starts.pop() {
            let (triples, gain) = growth.grow(start.triple, budget.0);
            if best.triples.is_empty() || gain > best.gain {
                best.triples = triples.iter().map(|&triple| graph.triples()[triple as usize]).collect();
                best.gain = gain;
            }
            if self.starts == Starts::Heaviest {
                break;
            }
            if !starts.is_empty() && (growth.work >= self.work || self.deadline.has_passed()) {
                best.interrupted = true;
                break;
            }
        }
        best
    }
}

/// A triple of the frontier with the weight it had when it was put there. Equal weights: the triple that comes first in
/// the graph's order.
#[derive(Clone, Copy, PartialEq)]
struct Candidate {
    gain: f64,
    triple: u32,
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

/// What does not change while snippets grow.
struct Weights<'g> {
    graph: &'g TripleGraph,
    kind: Option<TermId>,
    /// By term: coverage as a property, coverage as a class, familiarity (0 for terms that are no entities).
    property: Vec<f64>,
    class: Vec<f64>,
    familiarity: Vec<f64>,
    is_entity: Vec<bool>,
    /// Triples by object, for objects that are entities: rows of `object_triples` between two offsets.
    object_offsets: Vec<u32>,
    object_triples: Vec<u32>,
}

impl<'g> Weights<'g> {
    fn of(graph: &'g TripleGraph, profile: &Profile) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let mut is_entity = vec![false; graph.term_count()];
        for triple in graph.triples() {
            is_entity[triple.subject.index()] = true;
            if Some(triple.predicate) != kind && !graph.is_literal(triple.object) {
                is_entity[triple.object.index()] = true;
            }
        }
        let share = |counts: &[(TermId, u64)], total: u64| {
            let mut coverage = vec![0.0; graph.term_count()];
            for &(id, count) in counts {
                coverage[id.index()] = ((count + 1) as f64).ln() / ((total + 1) as f64).ln();
            }
            coverage
        };
        let (object_offsets, object_triples) = by_object(graph, &is_entity);
        Self {
            property: share(&profile.properties, profile.triples),
            class: share(&profile.classes, profile.type_triples),
            familiarity: familiarity(graph, kind, &is_entity),
            graph,
            kind,
            is_entity,
            object_offsets,
            object_triples,
        }
    }

    fn triple(&self, triple: u32) -> Triple {
        self.graph.triples()[triple as usize]
    }

    fn is_type(&self, triple: Triple) -> bool {
        Some(triple.predicate) == self.kind
    }

    /// The object, where the triple is a link between two entities.
    fn linked(&self, triple: Triple) -> Option<TermId> {
        let link = !self.is_type(triple) && !self.graph.is_literal(triple.object) && triple.object != triple.subject;
        link.then_some(triple.object)
    }
}

fn by_object(graph: &TripleGraph, is_entity: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; graph.term_count() + 1];
    for triple in graph.triples().iter().filter(|triple| is_entity[triple.object.index()]) {
        offsets[triple.object.index() + 1] += 1;
    }
    for index in 1..offsets.len() {
        offsets[index] += offsets[index - 1];
    }
    let mut next = offsets.clone();
    let mut triples = vec![0u32; offsets.last().map_or(0, |&end| end as usize)];
    for (place, triple) in graph.triples().iter().enumerate() {
        if is_entity[triple.object.index()] {
            let slot = &mut next[triple.object.index()];
            triples[*slot as usize] = place as u32;
            *slot += 1;
        }
    }
    (offsets, triples)
}

fn familiarity(graph: &TripleGraph, kind: Option<TermId>, is_entity: &[bool]) -> Vec<f64> {
    let mut numbers = vec![u32::MAX; graph.term_count()];
    let mut count = 0;
    for (term, _) in is_entity.iter().enumerate().filter(|(_, entity)| **entity) {
        numbers[term] = count;
        count += 1;
    }
    let links = graph
        .triples()
        .iter()
        .filter(|triple| Some(triple.predicate) != kind && !graph.is_literal(triple.object))
        .map(|triple| (numbers[triple.subject.index()], numbers[triple.object.index()]));
    let scores = PageRank::default().scores(&LinkGraph::new(count as usize, links));
    let largest = scores.iter().copied().fold(0.0, f64::max);
    let score = |&number: &u32| if number == u32::MAX { 0.0 } else { scores[number as usize] / largest };
    numbers.iter().map(score).collect()
}

/// One growth after another over the same weights. Marks carry the number of the growth, so none has to be cleared.
struct Growth<'w> {
    weights: &'w Weights<'w>,
    growth: u32,
    chosen: Vec<u32>,
    covered_property: Vec<u32>,
    covered_class: Vec<u32>,
    covered_entity: Vec<u32>,
    passed_class: Vec<u32>,
    frontier: BinaryHeap<Candidate>,
    /// Heap operations so far, over all growths.
    work: u64,
}

impl<'w> Growth<'w> {
    fn new(weights: &'w Weights<'w>) -> Self {
        let terms = weights.graph.term_count();
        Self {
            weights,
            growth: 1,
            chosen: vec![0; weights.graph.len()],
            covered_property: vec![0; terms],
            covered_class: vec![0; terms],
            covered_entity: vec![0; terms],
            passed_class: vec![0; terms],
            frontier: BinaryHeap::new(),
            work: 0,
        }
    }

    /// What a triple would add now.
    fn gain(&self, triple: u32) -> f64 {
        let (weights, triple) = (self.weights, self.weights.triple(triple));
        let (coverage, covered, element) = if weights.is_type(triple) {
            (&weights.class, &self.covered_class, triple.object)
        } else {
            (&weights.property, &self.covered_property, triple.predicate)
        };
        let coverage = if covered[element.index()] == self.growth { 0.0 } else { coverage[element.index()] };
        let new = |entity: TermId| self.covered_entity[entity.index()] != self.growth;
        let familiarity = |entity: TermId| weights.familiarity[entity.index()];
        let familiarity = match (new(triple.subject), weights.linked(triple).map(|object| (new(object), object))) {
            (true, Some((true, object))) => f64::midpoint(familiarity(triple.subject), familiarity(object)),
            (false, Some((true, object))) => familiarity(object),
            (true, _) => familiarity(triple.subject),
            (false, _) => 0.0,
        };
        COVERAGE_WEIGHT * coverage + FAMILIARITY_WEIGHT * familiarity
    }

    fn grow(&mut self, start: u32, budget: usize) -> (Vec<u32>, f64) {
        self.growth += 1;
        self.frontier.clear();
        self.frontier.push(Candidate { gain: self.gain(start), triple: start });
        let mut triples = Vec::with_capacity(budget.min(self.weights.graph.len()));
        let mut total = 0.0;
        while triples.len() < budget
            && let Some(candidate) = self.heaviest()
        {
            total += candidate.gain;
            triples.push(candidate.triple);
            self.choose(candidate.triple);
        }
        (triples, total)
    }

    /// The triple of the frontier that adds most; `None` where nothing adds anything.
    fn heaviest(&mut self) -> Option<Candidate> {
        while let Some(candidate) = self.frontier.pop() {
            self.work += 1;
            if self.chosen[candidate.triple as usize] == self.growth {
                continue;
            }
            let gain = self.gain(candidate.triple);
            if gain == candidate.gain {
                return (gain > 0.0).then_some(candidate);
            }
            // Where the weight rose, the entity that became covered has put in an entry with the new one.
            if gain < candidate.gain {
                self.frontier.push(Candidate { gain, ..candidate });
            }
        }
        None
    }

    fn choose(&mut self, number: u32) {
        let (weights, triple) = (self.weights, self.weights.triple(number));
        self.chosen[number as usize] = self.growth;
        if weights.is_type(triple) {
            self.covered_class[triple.object.index()] = self.growth;
        } else {
            self.covered_property[triple.predicate.index()] = self.growth;
        }
        let reached = [Some(triple.subject), Some(triple.object).filter(|object| weights.is_entity[object.index()])];
        let covers_object = weights.linked(triple).is_some();
        let mut new = Vec::with_capacity(2);
        for (place, entity) in reached.into_iter().enumerate() {
            let Some(entity) = entity else { continue };
            // A class that is an entity is passed through, but shown as a class: it is not covered as an entity.
            let covers = place == 0 || covers_object;
            let mark = if covers { &mut self.covered_entity } else { &mut self.passed_class };
            if std::mem::replace(&mut mark[entity.index()], self.growth) != self.growth {
                new.push(entity);
            }
        }
        for entity in new {
            self.reach(entity);
        }
    }

    /// Puts all triples of an entity into the frontier, with their present weights.
    fn reach(&mut self, entity: TermId) {
        let weights = self.weights;
        let subject = weights.graph.subject_range(entity).map(|place| place as u32);
        let row = weights.object_offsets[entity.index()] as usize..weights.object_offsets[entity.index() + 1] as usize;
        for triple in subject.chain(weights.object_triples[row].iter().copied()) {
            if self.chosen[triple as usize] != self.growth {
                let gain = self.gain(triple);
                if gain > 0.0 {
                    self.work += 1;
                    self.frontier.push(Candidate { gain, triple });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
