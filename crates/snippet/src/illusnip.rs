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
//! *The frontier is a lazy heap of runs.* The triples at one entity with the same property or class are a run, sorted
//! once by the familiarity of their other ends. Only the head of a run is in the heap, weighed as if its other end were
//! new: an upper bound for the whole run, as coverage only falls. A popped entry whose weight is still true is the maximum;
//! a run that has become lighter goes back with its new weight, all at once; a head that alone has become lighter stands
//! for itself from then on. One weight can rise: that of a link from an entity passed as a class, once that is covered;
//! but then its runs enter the heap anew. The runs of an entity wait for one another: sorted by what they add at most, only
//! the first whose element is not covered enters the heap, and the next when it is popped. With d triples and r runs at the entities a growth reaches, the first growth
//! that reaches them costs O(d log d), every other O((k + r + h) log r), where h counts heads popped in vain; sorting the
//! frontier again at every step, as published, costs O(k d log d).
//!
//! *Polish.* OPT-RANK takes every new best apart: each triple in turn is left out, with what then hangs loose, and the
//! rest is grown again, until no such exchange adds anything. So fewer starts are needed for the same gain.
//!
//! *Deterministic and anytime.* The starts are tried by decreasing weight, one of every subject first, and the best snippet so far is kept, until the
//! work bound, a count of heap operations and not a clock, is reached; a [`Deadline`] serves callers with clocks. Memory
//! is linear in the terms and triples of the graph.

use super::{Deadline, Snippet, SnippetExtractor, TripleBudget};
use crate::graph::{LinkGraph, PageRank};
use lodeseek_profile::Profile;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The weight of coverage in a triple's gain.
const COVERAGE_WEIGHT: f64 = 0.8;
/// The weight of familiarity in a triple's gain.
const FAMILIARITY_WEIGHT: f64 = 0.2;
/// Familiarity is rounded to such parts, so that unequal ones give unequal gains: the order within a run needs that.
const FAMILIARITY_STEPS: f64 = (1_u64 << 40) as f64;
/// Heap operations after which no further start is tried: a few milliseconds. Enough for the gain of the published code
/// on all of its inputs; 100,000 are too few for two of the seven.
pub(super) const DEFAULT_WORK: u64 = 200_000;
/// The part of the bound beside indexing that does not grow with the graph.
const LEAST_WORK: u64 = 110_000;
/// What a snippet must add beyond another to be better: more than rounding.
const LEAST_GAIN: f64 = 1e-9;

/// From which triples a snippet may grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts {
    /// BASIC: from every triple, whatever the work.
    All,
    /// OPT-MAX: only from the heaviest triple.
    Heaviest,
    /// OPT-RANK: from all, heaviest first, as long as the work bound allows; every new best is polished.
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

    /// A bound for the snippets of many datasets: half the usual one for small graphs, and beyond it no more than in
    /// proportion to what else is done with a graph. It too suffices for the gain of the published code on all inputs.
    #[must_use]
    pub const fn work_beside_indexing(triples: u64) -> u64 {
        LEAST_WORK + triples
    }

    /// Two snippets of the same graph, each as [`extract`](SnippetExtractor::extract) gives it, for the cost of its weights
    /// once.
    #[must_use]
    pub fn extract_with(
        &self,
        budget: TripleBudget,
        other: (&Self, TripleBudget),
        graph: &TripleGraph,
        profile: &Profile,
    ) -> (Snippet, Snippet) {
        if graph.is_empty() || budget.0 == 0 || other.1.0 == 0 {
            return (self.extract(graph, profile, budget), other.0.extract(graph, profile, other.1));
        }
        let weights = Weights::of(graph, profile);
        let mut growth = Growth::new(&weights);
        (self.search(&mut growth, budget), other.0.search(&mut growth, other.1))
    }

    fn search(&self, growth: &mut Growth<'_>, budget: TripleBudget) -> Snippet {
        growth.work = 0;
        growth.growth += 1; // what the last growth covered is new again when the starts are weighed
        let weights = growth.weights;
        let mut search = Search { options: self, growth, budget: budget.0, best: Best::default() };
        let interrupted = match self.starts {
            Starts::All => search.all(),
            Starts::Heaviest => search.heaviest(),
            Starts::Ranked => search.ranked(),
        };
        let triples = search.best.triples.iter().map(|&triple| weights.triple(triple)).collect();
        Snippet { triples, gain: search.best.gain, interrupted }
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
            Starts::All => "IlluSnip BASIC",
            Starts::Heaviest => "IlluSnip OPT-MAX",
            Starts::Ranked => "IlluSnip OPT-RANK",
        }
    }

    fn extract(&self, graph: &TripleGraph, profile: &Profile, budget: TripleBudget) -> Snippet {
        if graph.is_empty() || budget.0 == 0 {
            return Snippet { triples: Vec::new(), gain: 0.0, interrupted: false };
        }
        self.search(&mut Growth::new(&Weights::of(graph, profile)), budget)
    }
}

/// The heaviest triples so far, and what they add.
#[derive(Default)]
struct Best {
    triples: Vec<u32>,
    gain: f64,
}

impl Best {
    fn take(&mut self, growth: &Growth<'_>) -> bool {
        let better = self.triples.is_empty() || growth.total > self.gain + LEAST_GAIN;
        if better {
            self.triples.clone_from(&growth.triples);
            self.gain = growth.total;
        }
        better
    }
}

/// The starts, heaviest first; but before any subject's second one the first of every subject, as growths from the same
/// entity are much alike.
struct Order {
    first: BinaryHeap<Candidate>,
    later: Vec<Candidate>,
    /// The subjects that had their start; `None` in the second round.
    started: Option<FxHashSet<TermId>>,
}

impl Order {
    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.later.is_empty()
    }

    fn next(&mut self, weights: &Weights<'_>) -> Option<Candidate> {
        while let Some(start) = self.first.pop() {
            let is_first = |started: &mut FxHashSet<TermId>| started.insert(weights.triple(start.triple).subject);
            if self.started.as_mut().is_none_or(is_first) {
                return Some(start);
            }
            self.later.push(start);
        }
        self.started = None;
        self.first = std::mem::take(&mut self.later).into();
        self.first.pop()
    }
}

/// One growth after another until the bounds are reached. Every way to search says whether it was interrupted.
struct Search<'s, 'w> {
    options: &'s IlluSnip<'s>,
    growth: &'s mut Growth<'w>,
    budget: usize,
    best: Best,
}

impl Search<'_, '_> {
    /// All triples with their initial weights.
    fn starts(&self) -> impl Iterator<Item = Candidate> + '_ {
        let triples = 0..self.growth.weights.graph.len() as u32;
        triples.map(|triple| Candidate { gain: self.growth.gain(triple), triple, run: ALONE })
    }

    fn heaviest(&mut self) -> bool {
        if let Some(start) = self.starts().max() {
            self.growth.grow(&[start.triple], self.budget);
            self.best.take(self.growth);
        }
        false
    }

    fn all(&mut self) -> bool {
        let count = self.growth.weights.graph.len() as u32;
        for start in 0..count {
            self.growth.grow(&[start], self.budget);
            self.best.take(self.growth);
            if start + 1 < count && self.options.deadline.has_passed() {
                return true;
            }
        }
        false
    }

    fn ranked(&mut self) -> bool {
        let mut starts =
            Order { first: self.starts().collect(), later: Vec::new(), started: Some(FxHashSet::default()) };
        let mut record = Best::default();
        while let Some(start) = starts.next(self.growth.weights) {
            self.growth.grow(&[start.triple], self.budget);
            if record.take(self.growth) {
                self.best.take(self.growth);
                if self.polish(&record) {
                    return true;
                }
            }
            if !starts.is_empty() && self.is_over() {
                return true;
            }
        }
        false
    }

    fn is_over(&self) -> bool {
        self.growth.work >= self.options.work || self.options.deadline.has_passed()
    }

    /// Leaves out one triple after another, and what then hangs loose, and grows the rest again: while that adds more.
    fn polish(&mut self, from: &Best) -> bool {
        let mut polished = Best { triples: from.triples.clone(), gain: from.gain };
        let mut left_out = 0;
        while left_out < polished.triples.len() {
            if self.is_over() {
                return true;
            }
            let seeds = self.joined_without(&polished.triples, left_out);
            left_out += 1;
            self.growth.grow(&seeds, self.budget);
            if polished.take(self.growth) {
                self.best.take(self.growth);
                left_out = 0;
            }
        }
        false
    }

    /// The triples without one of them, as far as they still hang together, in their order but for the first: a triple
    /// with one entity, where there is one, since a link between two new entities adds only the mean of both.
    fn joined_without(&mut self, triples: &[u32], left_out: usize) -> Vec<u32> {
        let weights = self.growth.weights;
        let mut rest: Vec<u32> = triples.to_vec();
        rest.remove(left_out);
        if let Some(place) = rest.iter().position(|&triple| weights.linked(weights.triple(triple)).is_none()) {
            rest[..=place].rotate_right(1);
        }
        let mut joined = Vec::with_capacity(rest.len());
        let mut ends: FxHashSet<TermId> = FxHashSet::default();
        loop {
            let before = joined.len();
            rest.retain(|&number| {
                let triple = weights.triple(number);
                let both = [triple.subject, triple.object];
                let reached = || both.into_iter().filter(|end| weights.is_entity[end.index()]);
                let joins = ends.is_empty() || reached().any(|end| ends.contains(&end));
                if joins {
                    ends.extend(reached());
                    joined.push(number);
                }
                !joins
            });
            self.growth.work += joined.len() as u64;
            if joined.len() == before {
                return joined;
            }
        }
    }
}

/// A triple of the frontier with the weight it had when it was put there. Equal weights: the triple that comes first in
/// the graph's order.
#[derive(Clone, Copy, PartialEq)]
struct Candidate {
    gain: f64,
    triple: u32,
    /// The run whose head the triple is, or [`ALONE`].
    run: u32,
}

/// The run of a candidate that stands for itself only.
const ALONE: u32 = u32::MAX;

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.triple.cmp(&self.triple)).then(self.run.cmp(&other.run))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A triple seen from one of its entities.
struct Incident {
    /// Property or class, apart, and apart again without another end: so weights in a run fall from head to end.
    element: (u8, TermId),
    /// The familiarity of its other end; 0 where it has none.
    other: f64,
    triple: u32,
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

    /// The triples at an entity, each with the familiarity of its other end, where it has one.
    fn incident(&self, entity: TermId) -> Vec<Incident> {
        let element = |triple: Triple| if self.is_type(triple) { (1, triple.object) } else { (0, triple.predicate) };
        let alone = |(tag, term): (u8, TermId)| (tag + 2, term);
        let familiarity = |end: TermId| self.familiarity[end.index()];
        let row = self.object_offsets[entity.index()] as usize..self.object_offsets[entity.index() + 1] as usize;
        let outgoing = self.graph.subject_range(entity).map(|place| {
            let triple = self.graph.triples()[place];
            let (element, other) = match self.linked(triple) {
                Some(object) => (element(triple), familiarity(object)),
                None => (alone(element(triple)), 0.0),
            };
            Incident { element, other, triple: place as u32 }
        });
        let incoming = self.object_triples[row].iter().filter_map(|&place| {
            let triple = self.triple(place);
            let other = familiarity(triple.subject);
            (triple.subject != entity).then(|| Incident { element: element(triple), other, triple: place })
        });
        outgoing.chain(incoming).collect()
    }

    /// A run whose first triple this is.
    fn head(&self, first: &Incident, triples: Range<u32>) -> Head {
        let (tag, element) = first.element;
        let is_class = tag % 2 == 1;
        let coverage = if is_class { &self.class } else { &self.property };
        Head {
            start: triples.start,
            end: triples.end,
            element,
            is_class,
            gain: weighed(coverage[element.index()], first.other),
            gain_covered: weighed(0.0, first.other),
        }
    }

    /// The object, where the triple is a link between two entities.
    fn linked(&self, triple: Triple) -> Option<TermId> {
        let link = !self.is_type(triple) && !self.graph.is_literal(triple.object) && triple.object != triple.subject;
        link.then_some(triple.object)
    }
}

/// What a triple adds that covers so much and shows entities so familiar.
fn weighed(coverage: f64, familiarity: f64) -> f64 {
    COVERAGE_WEIGHT * coverage + FAMILIARITY_WEIGHT * familiarity
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
    let score = |&number: &u32| match scores.get(number as usize) {
        Some(score) => (score / largest * FAMILIARITY_STEPS).round() / FAMILIARITY_STEPS,
        None => 0.0,
    };
    numbers.iter().map(score).collect()
}

/// Triples at one entity with the same property or class: `triples[next..end]` of the [`Rows`] are still to come, and so
/// are those of its `heads` that follow, until the run is looked at.
#[derive(Clone)]
struct Run {
    entity: TermId,
    next: u32,
    end: u32,
    followers: Range<usize>,
}

/// A run as it enters the frontier, at an entity that is covered.
#[derive(Clone, Copy)]
struct Head {
    start: u32,
    end: u32,
    /// The property or class, and which of both.
    element: TermId,
    is_class: bool,
    /// What its first triple adds while the element is not covered, and afterwards.
    gain: f64,
    gain_covered: f64,
}

/// The triples of the entities reached so far, by any growth, in runs. Sorted when an entity is first reached.
struct Rows {
    triples: Vec<u32>,
    /// Of each entity those that may add most first; of equal ones the first in the graph's order.
    heads: Vec<Head>,
    /// By entity, its part of `heads`.
    of: Vec<(u32, u32)>,
}

impl Rows {
    fn new(terms: usize) -> Self {
        Self { triples: Vec::new(), heads: Vec::new(), of: vec![(u32::MAX, 0); terms] }
    }

    /// The runs of an entity. O(d log d) for d triples the first time, O(1) later.
    fn at(&mut self, weights: &Weights<'_>, entity: TermId) -> Range<usize> {
        let known = self.of[entity.index()];
        if known.0 != u32::MAX {
            return known.0 as usize..known.1 as usize;
        }
        let first = self.heads.len();
        let mut incident = weights.incident(entity);
        incident.sort_unstable_by(|a, b| {
            a.element.cmp(&b.element).then(b.other.total_cmp(&a.other)).then(a.triple.cmp(&b.triple))
        });
        for run in incident.chunk_by(|a, b| a.element == b.element) {
            let start = self.triples.len() as u32;
            self.triples.extend(run.iter().map(|incident| incident.triple));
            self.heads.push(weights.head(&run[0], start..self.triples.len() as u32));
        }
        let triple = |head: &Head| self.triples[head.start as usize];
        self.heads[first..].sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(triple(a).cmp(&triple(b))));
        self.of[entity.index()] = (first as u32, self.heads.len() as u32);
        first..self.heads.len()
    }
}

/// One growth after another over the same weights. Marks carry the number of the growth, so none has to be cleared.
struct Growth<'w> {
    weights: &'w Weights<'w>,
    rows: Rows,
    growth: u32,
    chosen: Vec<u32>,
    covered_property: Vec<u32>,
    covered_class: Vec<u32>,
    covered_entity: Vec<u32>,
    passed_class: Vec<u32>,
    frontier: BinaryHeap<Candidate>,
    runs: Vec<Run>,
    /// The triples chosen in this growth, and what they added.
    triples: Vec<u32>,
    total: f64,
    /// Heap operations so far, over all growths.
    work: u64,
}

impl<'w> Growth<'w> {
    fn new(weights: &'w Weights<'w>) -> Self {
        let terms = weights.graph.term_count();
        Self {
            weights,
            rows: Rows::new(terms),
            growth: 1,
            chosen: vec![0; weights.graph.len()],
            covered_property: vec![0; terms],
            covered_class: vec![0; terms],
            covered_entity: vec![0; terms],
            passed_class: vec![0; terms],
            frontier: BinaryHeap::new(),
            runs: Vec::new(),
            triples: Vec::new(),
            total: 0.0,
            work: 0,
        }
    }

    fn is_new(&self, entity: TermId) -> bool {
        self.covered_entity[entity.index()] != self.growth
    }

    /// What a triple would add now.
    fn gain(&self, triple: u32) -> f64 {
        self.gain_if(triple, |entity| self.is_new(entity))
    }

    /// What a triple would add if only `entity`, of its ends, could be covered: at least what it adds.
    fn bound(&self, triple: u32, entity: TermId) -> f64 {
        self.gain_if(triple, |end| end != entity || self.is_new(end))
    }

    fn gain_if(&self, triple: u32, new: impl Fn(TermId) -> bool) -> f64 {
        let (weights, triple) = (self.weights, self.weights.triple(triple));
        let (coverage, covered, element) = if weights.is_type(triple) {
            (&weights.class, &self.covered_class, triple.object)
        } else {
            (&weights.property, &self.covered_property, triple.predicate)
        };
        let coverage = if covered[element.index()] == self.growth { 0.0 } else { coverage[element.index()] };
        let familiarity = |entity: TermId| weights.familiarity[entity.index()];
        let familiarity = match (new(triple.subject), weights.linked(triple).map(|object| (new(object), object))) {
            (true, Some((true, object))) => f64::midpoint(familiarity(triple.subject), familiarity(object)),
            (false, Some((true, object))) => familiarity(object),
            (true, _) => familiarity(triple.subject),
            (false, _) => 0.0,
        };
        weighed(coverage, familiarity)
    }

    /// Grows from these triples, which are taken first and in this order, each joined to those before it.
    fn grow(&mut self, seeds: &[u32], budget: usize) {
        self.growth += 1;
        self.frontier.clear();
        self.runs.clear();
        self.triples.clear();
        self.total = 0.0;
        for &seed in seeds.iter().take(budget) {
            let gain = self.gain(seed);
            self.choose(seed, gain);
        }
        while self.triples.len() < budget
            && let Some(candidate) = self.heaviest()
        {
            self.choose(candidate.triple, candidate.gain);
        }
    }

    /// The triple of the frontier that adds most; `None` where nothing adds anything.
    fn heaviest(&mut self) -> Option<Candidate> {
        while let Some(candidate) = self.frontier.pop() {
            self.work += 1;
            self.bring_followers(candidate.run);
            let chosen = self.chosen[candidate.triple as usize] == self.growth;
            let gain = if chosen { 0.0 } else { self.gain(candidate.triple) };
            if gain == candidate.gain {
                self.advance(candidate.run);
                return Some(candidate);
            }
            if candidate.run == ALONE {
                self.put(Candidate { gain, ..candidate });
                continue;
            }
            // The run may have become lighter as a whole, by its element's being covered, or only its head.
            let bound = self.bound(candidate.triple, self.runs[candidate.run as usize].entity);
            if bound < candidate.gain && !chosen {
                self.put(Candidate { gain: bound, ..candidate });
            } else {
                self.put(Candidate { gain, triple: candidate.triple, run: ALONE });
                self.advance(candidate.run);
            }
        }
        None
    }

    /// Puts the next triple of a run into the frontier.
    fn advance(&mut self, number: u32) {
        let Some(run) = self.runs.get_mut(number as usize) else { return };
        run.next += 1;
        if run.next < run.end {
            let (triple, entity) = (self.rows.triples[run.next as usize], run.entity);
            self.put(Candidate { gain: self.bound(triple, entity), triple, run: number });
        }
    }

    /// What adds nothing now adds nothing later, and heads its run.
    fn put(&mut self, candidate: Candidate) {
        if candidate.gain > 0.0 {
            self.work += 1;
            self.frontier.push(candidate);
        }
    }

    fn choose(&mut self, number: u32, gain: f64) {
        let (weights, triple) = (self.weights, self.weights.triple(number));
        self.triples.push(number);
        self.total += gain;
        self.chosen[number as usize] = self.growth;
        if weights.is_type(triple) {
            self.covered_class[triple.object.index()] = self.growth;
        } else {
            self.covered_property[triple.predicate.index()] = self.growth;
        }
        let linked = weights.linked(triple);
        let passed = Some(triple.object).filter(|object| linked.is_none() && weights.is_entity[object.index()]);
        let mark = |marks: &mut [u32], entity: Option<TermId>, growth: u32| {
            entity.filter(|entity| std::mem::replace(&mut marks[entity.index()], growth) != growth)
        };
        // A class that is an entity is passed through, but shown as a class: it is not covered as an entity.
        let reached = [
            mark(&mut self.covered_entity, Some(triple.subject), self.growth),
            mark(&mut self.covered_entity, linked, self.growth),
            mark(&mut self.passed_class, passed, self.growth),
        ];
        for entity in reached.into_iter().flatten() {
            self.reach(entity);
        }
    }

    /// Puts the runs of an entity into the frontier, with their present weights: all, where the entity was only passed
    /// and still counts as new; else as far as [`bring`](Self::bring) does.
    fn reach(&mut self, entity: TermId) {
        let places = self.rows.at(self.weights, entity);
        if !self.is_new(entity) {
            return self.bring(entity, places);
        }
        for place in places {
            let head = self.rows.heads[place];
            let gain = self.bound(self.rows.triples[head.start as usize], entity);
            self.put_run(entity, head, gain, 0..0);
        }
    }

    /// Puts the first of these runs into the frontier whose element is not covered, to be followed by those after it, and
    /// those before it with what their links add.
    fn bring(&mut self, entity: TermId, places: Range<usize>) {
        for place in places.clone() {
            let head = self.rows.heads[place];
            let covered = if head.is_class { &self.covered_class } else { &self.covered_property };
            if covered[head.element.index()] != self.growth {
                return self.put_run(entity, head, head.gain, place + 1..places.end);
            }
            self.put_run(entity, head, head.gain_covered, 0..0);
        }
    }

    fn bring_followers(&mut self, number: u32) {
        let Some(run) = self.runs.get_mut(number as usize) else { return };
        let (entity, followers) = (run.entity, std::mem::take(&mut run.followers));
        self.bring(entity, followers);
    }

    fn put_run(&mut self, entity: TermId, head: Head, gain: f64, followers: Range<usize>) {
        if gain > 0.0 {
            let (triple, run) = (self.rows.triples[head.start as usize], self.runs.len() as u32);
            self.runs.push(Run { entity, next: head.start, end: head.end, followers });
            self.put(Candidate { gain, triple, run });
        }
    }
}

#[cfg(test)]
mod peers;
#[cfg(test)]
mod tests;
