//! IlluSnip: connected snippets that cover frequent classes and properties and show central entities.
//!
//! G. Cheng, C. Jin, W. Ding, D. Xu, Y. Qu: *Generating Illustrative Snippets for Open Data on the Web*, WSDM 2017. The
//! anytime variant is from D. Liu, G. Cheng, Q. Liu, Y. Qu: *Fast and Practical Snippet Generation for RDF Datasets*,
//! ACM TWEB 13(4), 2019.
//!
//! Let *T* be the number of triples, *C* the number of `rdf:type` triples, and *n* the number of triples of a property
//! or class:
//!
//! ```text
//! cov(property) = ln(n + 1) / ln(T + 1)        cov(class) = ln(n + 1) / ln(C + 1)
//! fam(entity)   = PageRank / largest PageRank  (undirected multigraph of entity links)
//! gain(triple)  = 0.8 · cov of its property or class, 0 once covered
//!               + 0.2 · familiarity of its entities not covered yet (the mean where both are new)
//! ```
//!
//! A snippet grows from a start triple. The triple of the frontier with the largest gain is added repeatedly, until the
//! budget is spent or no gain is left. The frontier contains the triples at the subjects and entity objects chosen so
//! far. It never passes through a literal. It passes through a class only if the class is also an entity. The snippet
//! is therefore connected.
//!
//! *The frontier is a lazy heap of runs.* A run contains the triples at one entity with the same property or class. It
//! is sorted once by the familiarity of their other ends. The heap contains only the head of a run, with the gain it
//! would have if its other end were new. This is an upper bound for the whole run, because coverage gains only fall.
//!
//! * A popped entry whose gain is still correct is the maximum.
//! * If the gain of the whole run has fallen, the run is pushed again with its new gain.
//! * If only the gain of the head has fallen, the head is pushed again as an entry of its own.
//! * One gain can rise: that of a link from an entity that was passed as a class and is covered later. The runs of this
//!   entity are then pushed again.
//!
//! The runs of an entity are sorted by maximum gain. Only the first run whose element is not covered is in the heap.
//! The next one is pushed when it is popped.
//!
//! *Cost.* Let a growth of k triples reach entities with d triples in r runs. The first growth that reaches them costs
//! O(d log d). Every later one costs O((k + r + h) log r), where h counts heads popped in vain. The published algorithm
//! sorts the frontier at every step, which costs O(k d log d).
//!
//! *Polishing.* OPT-RANK refines every new best snippet. Each triple in turn is left out, together with those that are
//! then disconnected, and the rest is grown again. This ends when no exchange increases the gain. Fewer starts are
//! therefore needed for the same gain.
//!
//! *Deterministic and anytime.* The starts are tried by decreasing gain, one for every subject first. The best snippet
//! so far is kept until the work bound is reached. The bound counts heap operations and reads no clock. A [`Deadline`]
//! serves callers with clocks. Memory is linear in the terms and triples of the graph.

mod ranking;

pub use ranking::rank_triples;

use super::{Deadline, Snippet, SnippetExtractor, TripleBudget, find_links};
use crate::graph::{LinkGraph, PageRank};
use lodeseek_profile::Profile;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Weight of coverage in a triple's gain.
const COVERAGE_WEIGHT: f64 = 0.8;
/// Weight of familiarity in a triple's gain.
const FAMILIARITY_WEIGHT: f64 = 0.2;
/// Number of familiarity levels. Familiarity is rounded so that unequal values give unequal gains; the order within a
/// run requires this.
const FAMILIARITY_STEPS: f64 = (1_u64 << 40) as f64;
/// Default number of heap operations after which no further start is tried: a few milliseconds. It suffices for the
/// gain of the published code on all seven of its inputs; 100,000 do not suffice for two of them.
pub(super) const DEFAULT_WORK: u64 = 200_000;
/// Constant part of the work bound during indexing.
const BASE_INDEXING_WORK: u64 = 110_000;
/// Minimum increase of the gain that counts as an improvement; larger than rounding errors.
const MIN_IMPROVEMENT: f64 = 1e-9;

/// Start triples from which snippets are grown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts {
    /// BASIC: every triple, regardless of the work bound.
    All,
    /// OPT-MAX: only the triple with the largest gain.
    Heaviest,
    /// OPT-RANK: all triples by decreasing gain, within the work bound. Every new best snippet is polished.
    Ranked,
}

/// IlluSnip extractor. See the module documentation.
#[derive(Clone, Copy)]
pub struct IlluSnip<'h> {
    starts: Starts,
    work: u64,
    deadline: Deadline<'h>,
}

impl Default for IlluSnip<'_> {
    fn default() -> Self {
        Self {
            starts: Starts::Ranked,
            work: DEFAULT_WORK,
            deadline: Deadline::never(),
        }
    }
}

impl<'h> IlluSnip<'h> {
    /// Sets the start triples. Default: [`Starts::Ranked`].
    #[must_use]
    pub fn with_starts(self, starts: Starts) -> Self {
        Self { starts, ..self }
    }

    /// Sets the maximum number of heap operations. Default: 200,000. The first start is always completed.
    #[must_use]
    pub fn with_work(self, work: u64) -> Self {
        Self { work, ..self }
    }

    /// Returns a work bound for bulk indexing: 110,000 plus one operation for each triple of the graph.
    ///
    /// For small graphs this is about half the default bound. For large graphs it is proportional to the other work of
    /// indexing. It also suffices for the gain of the published code on all of its inputs.
    #[must_use]
    pub const fn indexing_work(triples: u64) -> u64 {
        BASE_INDEXING_WORK + triples
    }

    /// Extracts a snippet, and ranks triples as [`rank_triples`] does. The weights are computed only once.
    #[must_use]
    pub fn extract_and_rank(
        &self,
        budget: TripleBudget,
        ranked: TripleBudget,
        graph: &TripleGraph,
        profile: &Profile,
    ) -> (Snippet, Vec<Triple>) {
        if graph.is_empty() || budget.0 == 0 {
            return (
                self.extract(graph, profile, budget),
                rank_triples(graph, profile, &[], ranked),
            );
        }
        let weights = Weights::new(graph, profile);
        let mut growth = Growth::new(&weights);
        (self.search(&mut growth, budget), growth.rank(&[], ranked.0))
    }

    fn search(&self, growth: &mut Growth<'_>, budget: TripleBudget) -> Snippet {
        growth.work = 0;
        growth.growth += 1; // what the last growth covered is new again when the starts are weighed
        let weights = growth.weights;
        let mut search = Search {
            options: self,
            growth,
            budget: budget.0,
            best: BestSnippet::default(),
        };
        let interrupted = match self.starts {
            Starts::All => search.all(),
            Starts::Heaviest => search.heaviest(),
            Starts::Ranked => search.try_ranked_starts(),
        };
        let triples = search
            .best
            .triples
            .iter()
            .map(|&triple| weights.triple(triple))
            .collect();
        Snippet {
            triples,
            gain: search.best.gain,
            interrupted,
        }
    }

    /// Sets a deadline. When it has passed, the search ends with the best snippet so far.
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
            return Snippet {
                triples: Vec::new(),
                gain: 0.0,
                interrupted: false,
            };
        }
        self.search(&mut Growth::new(&Weights::new(graph, profile)), budget)
    }
}

/// Best triples so far, and their gain.
#[derive(Default)]
struct BestSnippet {
    triples: Vec<u32>,
    gain: f64,
}

impl BestSnippet {
    fn take(&mut self, growth: &Growth<'_>) -> bool {
        let better = self.triples.is_empty() || growth.total > self.gain + MIN_IMPROVEMENT;
        if better {
            self.triples.clone_from(&growth.triples);
            self.gain = growth.total;
        }
        better
    }
}

/// Queue of starts by decreasing gain. The first start of every subject precedes the second start of any subject,
/// because growths from the same entity are similar.
struct StartQueue {
    first: BinaryHeap<Candidate>,
    later: Vec<Candidate>,
    /// Subjects that already had a start; `None` in the second round.
    started: Option<FxHashSet<TermId>>,
}

impl StartQueue {
    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.later.is_empty()
    }

    fn next(&mut self, weights: &Weights<'_>) -> Option<Candidate> {
        while let Some(start) = self.first.pop() {
            let is_first = match &mut self.started {
                Some(started) => started.insert(weights.triple(start.triple).subject),
                None => true,
            };
            if is_first {
                return Some(start);
            }
            self.later.push(start);
        }
        self.started = None;
        self.first = std::mem::take(&mut self.later).into();
        self.first.pop()
    }
}

/// Sequence of growths until a bound is reached. Each search method returns true if it was interrupted.
struct Search<'s, 'w> {
    options: &'s IlluSnip<'s>,
    growth: &'s mut Growth<'w>,
    budget: usize,
    best: BestSnippet,
}

impl Search<'_, '_> {
    fn heaviest(&mut self) -> bool {
        if let Some(start) = self.growth.candidates().max() {
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
            // After the last start nothing is left out.
            if start + 1 < count && self.options.deadline.has_passed() {
                return true;
            }
        }
        false
    }

    fn try_ranked_starts(&mut self) -> bool {
        let mut starts = StartQueue {
            first: self.growth.candidates().collect(),
            later: Vec::new(),
            started: Some(FxHashSet::default()),
        };
        let mut record = BestSnippet::default();
        while let Some(start) = starts.next(self.growth.weights) {
            self.growth.grow(&[start.triple], self.budget);
            // Compared with growths, not with polished snippets: polishing may make the best one of a growth that is
            // below these.
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

    /// Leaves out one triple after another, with those that are then disconnected, and grows the rest again, as long as
    /// the gain increases. Returns true if it was interrupted.
    fn polish(&mut self, from: &BestSnippet) -> bool {
        let mut polished = BestSnippet {
            triples: from.triples.clone(),
            gain: from.gain,
        };
        let mut left_out = 0;
        while left_out < polished.triples.len() {
            if self.is_over() {
                return true;
            }
            let seeds = self.connect_without(&polished.triples, left_out);
            left_out += 1;
            self.growth.grow(&seeds, self.budget);
            if polished.take(self.growth) {
                self.best.take(self.growth);
                left_out = 0;
            }
        }
        false
    }

    /// Returns the triples without one of them, as far as they remain connected. The order is kept, except for the
    /// first triple: it is one with a single entity, if possible, because a link between two new entities adds only
    /// their mean familiarity.
    fn connect_without(&mut self, triples: &[u32], left_out: usize) -> Vec<u32> {
        let weights = self.growth.weights;
        let mut rest: Vec<u32> = triples.to_vec();
        rest.remove(left_out);
        if let Some(place) = rest
            .iter()
            .position(|&triple| weights.link_target(weights.triple(triple)).is_none())
        {
            rest[..=place].rotate_right(1);
        }
        let mut joined = Vec::with_capacity(rest.len());
        let mut ends: FxHashSet<TermId> = FxHashSet::default();
        loop {
            let before = joined.len();
            rest.retain(|&number| {
                let triple = weights.triple(number);
                let reached = [triple.subject, triple.object]
                    .into_iter()
                    .filter(|end| weights.is_entity[end.index()]);
                let joins = ends.is_empty() || reached.clone().any(|end| ends.contains(&end));
                if joins {
                    ends.extend(reached);
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

/// Triple of the frontier with its gain at the time of insertion. Ties are broken by the order of the graph.
#[derive(Clone, Copy, PartialEq)]
struct Candidate {
    gain: f64,
    triple: u32,
    /// Run whose head is this triple, or [`NO_RUN`].
    run: u32,
}

/// Marks a candidate that represents no run.
const NO_RUN: u32 = u32::MAX;

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain
            .total_cmp(&other.gain)
            // In a heap of maxima, the first triple of equals is to be the greatest.
            .then(other.triple.cmp(&self.triple))
            .then(self.run.cmp(&other.run))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Triple at one of its entities.
struct Incident {
    /// Property or class. The number separates both kinds, and triples with and without another end, so that gains fall
    /// from head to tail of a run.
    element: (u8, TermId),
    /// Familiarity of the other end; 0 if there is none.
    other: f64,
    triple: u32,
}

/// Precomputed weights, constant during growth.
struct Weights<'g> {
    graph: &'g TripleGraph,
    kind: Option<TermId>,
    /// Weights by term: coverage as a property, coverage as a class, familiarity (0 for terms that are not entities).
    property: Vec<f64>,
    class: Vec<f64>,
    familiarity: Vec<f64>,
    is_entity: Vec<bool>,
    /// Triples by object, for objects that are entities: rows of `object_triples` between two offsets.
    object_offsets: Vec<u32>,
    object_triples: Vec<u32>,
}

impl<'g> Weights<'g> {
    fn new(graph: &'g TripleGraph, profile: &Profile) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let mut is_entity = vec![false; graph.term_count()];
        for triple in graph.triples() {
            is_entity[triple.subject.index()] = true;
            if Some(triple.predicate) != kind && graph.is_resource(triple.object) {
                is_entity[triple.object.index()] = true;
            }
        }
        let (object_offsets, object_triples) = index_by_object(graph, &is_entity);
        Self {
            property: weigh_coverage(&profile.properties, profile.triples, graph.term_count()),
            class: weigh_coverage(&profile.classes, profile.type_triples, graph.term_count()),
            familiarity: compute_familiarity(graph, kind, &is_entity),
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

    /// Returns the class or property that a triple covers, with a tag that distinguishes them.
    fn element(&self, triple: Triple) -> (u8, TermId) {
        if self.is_type(triple) {
            (1, triple.object)
        } else {
            (0, triple.predicate)
        }
    }

    fn familiarity_of(&self, entity: TermId) -> f64 {
        self.familiarity[entity.index()]
    }

    /// Returns the triples at an entity, each with the familiarity of its other end, if any.
    fn find_incident_triples(&self, entity: TermId) -> Vec<Incident> {
        let row = self.object_offsets[entity.index()] as usize
            ..self.object_offsets[entity.index() + 1] as usize;
        let outgoing = self.graph.subject_range(entity).map(|place| {
            let triple = self.graph.triples()[place];
            let (element, other) = match self.link_target(triple) {
                Some(object) => (self.element(triple), self.familiarity_of(object)),
                None => {
                    let (tag, term) = self.element(triple);
                    ((tag + 2, term), 0.0)
                }
            };
            Incident {
                element,
                other,
                triple: place as u32,
            }
        });
        let incoming = self.object_triples[row].iter().filter_map(|&place| {
            let triple = self.triple(place);
            let other = self.familiarity_of(triple.subject);
            // A link to itself is among the outgoing triples already.
            (triple.subject != entity).then(|| Incident {
                element: self.element(triple),
                other,
                triple: place,
            })
        });
        outgoing.chain(incoming).collect()
    }

    /// Returns the run that starts with the given triple.
    fn head(&self, first: &Incident, triples: Range<u32>) -> Head {
        let (tag, element) = first.element;
        let is_class = tag % 2 == 1;
        let coverage = if is_class {
            &self.class
        } else {
            &self.property
        };
        Head {
            start: triples.start,
            end: triples.end,
            element,
            is_class,
            gain: weigh(coverage[element.index()], first.other),
            gain_covered: weigh(0.0, first.other),
        }
    }

    /// Returns the object if the triple is a link between two entities.
    fn link_target(&self, triple: Triple) -> Option<TermId> {
        let link = !self.is_type(triple)
            && self.graph.is_resource(triple.object)
            && triple.object != triple.subject;
        link.then_some(triple.object)
    }
}

/// Returns the gain of a triple from its coverage and the familiarity of its entities.
fn weigh(coverage: f64, familiarity: f64) -> f64 {
    COVERAGE_WEIGHT * coverage + FAMILIARITY_WEIGHT * familiarity
}

/// Returns the coverage weight of each class or property: its logarithmic share of `total`.
fn weigh_coverage(counts: &[(TermId, u64)], total: u64, term_count: usize) -> Vec<f64> {
    let mut coverage = vec![0.0; term_count];
    for &(id, count) in counts {
        coverage[id.index()] = ((count + 1) as f64).ln() / ((total + 1) as f64).ln();
    }
    coverage
}

fn index_by_object(graph: &TripleGraph, is_entity: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; graph.term_count() + 1];
    for triple in graph
        .triples()
        .iter()
        .filter(|triple| is_entity[triple.object.index()])
    {
        offsets[triple.object.index() + 1] += 1;
    }
    for index in 1..offsets.len() {
        offsets[index] += offsets[index - 1];
    }
    let mut next = offsets.clone();
    let mut triples = vec![0u32; offsets.last().copied().unwrap_or(0) as usize];
    for (place, triple) in graph.triples().iter().enumerate() {
        if is_entity[triple.object.index()] {
            let slot = &mut next[triple.object.index()];
            triples[*slot as usize] = place as u32;
            *slot += 1;
        }
    }
    (offsets, triples)
}

fn compute_familiarity(graph: &TripleGraph, kind: Option<TermId>, is_entity: &[bool]) -> Vec<f64> {
    let mut numbers = vec![u32::MAX; graph.term_count()];
    let mut count = 0;
    for (term, _) in is_entity.iter().enumerate().filter(|(_, entity)| **entity) {
        numbers[term] = count;
        count += 1;
    }
    let links = find_links(graph, kind).map(|(_, triple)| {
        (
            numbers[triple.subject.index()],
            numbers[triple.object.index()],
        )
    });
    let scores = PageRank::default().scores(&LinkGraph::new(count as usize, links));
    let largest = scores.iter().copied().fold(0.0, f64::max);
    numbers
        .iter()
        .map(|&number| match scores.get(number as usize) {
            Some(score) => (score / largest * FAMILIARITY_STEPS).round() / FAMILIARITY_STEPS,
            None => 0.0,
        })
        .collect()
}

/// Triples at one entity with the same property or class. `triples[next..end]` of the [`Rows`] are still to come. The
/// same holds for the `heads` that follow, until the run is processed.
#[derive(Clone)]
struct Run {
    entity: TermId,
    next: u32,
    end: u32,
    followers: Range<usize>,
}

/// Run as it enters the frontier, at a covered entity.
#[derive(Clone, Copy)]
struct Head {
    start: u32,
    end: u32,
    /// Property or class, as given by `is_class`.
    element: TermId,
    is_class: bool,
    /// Gain of the first triple before and after the element is covered.
    gain: f64,
    gain_covered: f64,
}

/// Triples of all entities reached so far by any growth, in runs. They are sorted when an entity is first reached.
struct Rows {
    triples: Vec<u32>,
    /// Heads of each entity by decreasing maximum gain; ties by the order of the graph.
    heads: Vec<Head>,
    /// Range of `heads` for each entity.
    of: Vec<(u32, u32)>,
}

impl Rows {
    fn new(terms: usize) -> Self {
        Self {
            triples: Vec::new(),
            heads: Vec::new(),
            of: vec![(u32::MAX, 0); terms],
        }
    }

    /// Returns the runs of an entity. O(d log d) for d triples the first time, O(1) later.
    fn at(&mut self, weights: &Weights<'_>, entity: TermId) -> Range<usize> {
        let range = self.of[entity.index()];
        if range.0 != u32::MAX {
            return range.0 as usize..range.1 as usize;
        }
        let first = self.heads.len();
        let mut incident = weights.find_incident_triples(entity);
        incident.sort_unstable_by(|a, b| {
            a.element
                .cmp(&b.element)
                .then(b.other.total_cmp(&a.other))
                .then(a.triple.cmp(&b.triple))
        });
        for run in incident.chunk_by(|a, b| a.element == b.element) {
            let start = self.triples.len() as u32;
            self.triples
                .extend(run.iter().map(|incident| incident.triple));
            self.heads
                .push(weights.head(&run[0], start..self.triples.len() as u32));
        }
        self.heads[first..].sort_unstable_by(|a, b| {
            let (a_triple, b_triple) = (
                self.triples[a.start as usize],
                self.triples[b.start as usize],
            );
            b.gain.total_cmp(&a.gain).then(a_triple.cmp(&b_triple))
        });
        self.of[entity.index()] = (first as u32, self.heads.len() as u32);
        first..self.heads.len()
    }
}

/// Reusable state of growths over the same weights. Marks contain the number of the growth, so that none has to be
/// cleared.
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
    /// Triples chosen in this growth, and their total gain.
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

    /// Returns the present gain of a triple.
    fn gain(&self, triple: u32) -> f64 {
        self.gain_if(triple, |entity| self.is_new(entity))
    }

    /// Returns an upper bound of a triple's gain: the gain if only `entity`, of its ends, could be covered.
    fn bound(&self, triple: u32, entity: TermId) -> f64 {
        self.gain_if(triple, |end| end != entity || self.is_new(end))
    }

    fn gain_if(&self, triple: u32, new: impl Fn(TermId) -> bool) -> f64 {
        let weights = self.weights;
        let triple = self.weights.triple(triple);
        let (coverage, covered, element) = if weights.is_type(triple) {
            (&weights.class, &self.covered_class, triple.object)
        } else {
            (&weights.property, &self.covered_property, triple.predicate)
        };
        let coverage = if covered[element.index()] == self.growth {
            0.0
        } else {
            coverage[element.index()]
        };
        let familiarity = match (
            new(triple.subject),
            weights
                .link_target(triple)
                .map(|object| (new(object), object)),
        ) {
            (true, Some((true, object))) => f64::midpoint(
                weights.familiarity_of(triple.subject),
                weights.familiarity_of(object),
            ),
            (false, Some((true, object))) => weights.familiarity_of(object),
            (true, _) => weights.familiarity_of(triple.subject),
            (false, _) => 0.0,
        };
        weigh(coverage, familiarity)
    }

    /// Grows from seed triples. They are taken first, in this order; each must be connected to those before it.
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
        self.grow_further(budget);
    }

    /// Adds triples of the frontier until the budget is spent or no gain is left.
    fn grow_further(&mut self, budget: usize) {
        while self.triples.len() < budget
            && let Some(candidate) = self.heaviest()
        {
            self.choose(candidate.triple, candidate.gain);
        }
    }

    /// Returns the triple of the frontier with the largest gain, or `None` if all gains are 0.
    fn heaviest(&mut self) -> Option<Candidate> {
        while let Some(candidate) = self.frontier.pop() {
            self.work += 1;
            self.bring_followers(candidate.run);
            let chosen = self.chosen[candidate.triple as usize] == self.growth;
            let gain = if chosen {
                0.0
            } else {
                self.gain(candidate.triple)
            };
            // Exact comparison: a gain that has not changed is computed by the same operations.
            if gain == candidate.gain {
                self.advance(candidate.run);
                return Some(candidate);
            }
            if candidate.run == NO_RUN {
                self.put(Candidate { gain, ..candidate });
                continue;
            }
            // The gain of the whole run may have fallen because its element is covered, or only that of its head.
            let bound = self.bound(candidate.triple, self.runs[candidate.run as usize].entity);
            if bound < candidate.gain && !chosen {
                self.put(Candidate {
                    gain: bound,
                    ..candidate
                });
            } else {
                self.put(Candidate {
                    gain,
                    triple: candidate.triple,
                    run: NO_RUN,
                });
                self.advance(candidate.run);
            }
        }
        None
    }

    /// Pushes the next triple of a run into the frontier.
    fn advance(&mut self, number: u32) {
        let Some(run) = self.runs.get_mut(number as usize) else {
            return;
        };
        run.next += 1;
        if run.next < run.end {
            let triple = self.rows.triples[run.next as usize];
            let entity = run.entity;
            self.put(Candidate {
                gain: self.bound(triple, entity),
                triple,
                run: number,
            });
        }
    }

    /// Drops candidates without gain: they will never have one, and they head their run.
    fn put(&mut self, candidate: Candidate) {
        if candidate.gain > 0.0 {
            self.work += 1;
            self.frontier.push(candidate);
        }
    }

    fn choose(&mut self, number: u32, gain: f64) {
        let weights = self.weights;
        let triple = self.weights.triple(number);
        self.triples.push(number);
        self.total += gain;
        self.chosen[number as usize] = self.growth;
        if weights.is_type(triple) {
            self.covered_class[triple.object.index()] = self.growth;
        } else {
            self.covered_property[triple.predicate.index()] = self.growth;
        }
        let linked = weights.link_target(triple);
        let passed = Some(triple.object)
            .filter(|object| linked.is_none() && weights.is_entity[object.index()]);
        // A class that is also an entity is passed through but shown as a class. It is not covered as an entity.
        let reached = [
            mark_entity(&mut self.covered_entity, Some(triple.subject), self.growth),
            mark_entity(&mut self.covered_entity, linked, self.growth),
            mark_entity(&mut self.passed_class, passed, self.growth),
        ];
        for entity in reached.into_iter().flatten() {
            self.reach(entity);
        }
    }

    /// Pushes the runs of an entity into the frontier with their present gains. If the entity was only passed and still
    /// counts as new, all runs are pushed. Otherwise [`bring`](Self::bring) decides.
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

    /// Pushes the first of these runs whose element is not covered, followed by those after it. The runs before it are
    /// pushed with the gains of their links.
    fn bring(&mut self, entity: TermId, places: Range<usize>) {
        for place in places.clone() {
            let head = self.rows.heads[place];
            let covered = if head.is_class {
                &self.covered_class
            } else {
                &self.covered_property
            };
            if covered[head.element.index()] != self.growth {
                return self.put_run(entity, head, head.gain, place + 1..places.end);
            }
            self.put_run(entity, head, head.gain_covered, 0..0);
        }
    }

    fn bring_followers(&mut self, number: u32) {
        let Some(run) = self.runs.get_mut(number as usize) else {
            return;
        };
        let entity = run.entity;
        let followers = std::mem::take(&mut run.followers);
        self.bring(entity, followers);
    }

    fn put_run(&mut self, entity: TermId, head: Head, gain: f64, followers: Range<usize>) {
        if gain > 0.0 {
            let triple = self.rows.triples[head.start as usize];
            let run = self.runs.len() as u32;
            self.runs.push(Run {
                entity,
                next: head.start,
                end: head.end,
                followers,
            });
            self.put(Candidate { gain, triple, run });
        }
    }
}

/// Marks an entity for a growth, and returns it if it was not marked yet.
fn mark_entity(marks: &mut [u32], entity: Option<TermId>, growth: u32) -> Option<TermId> {
    entity.filter(|entity| std::mem::replace(&mut marks[entity.index()], growth) != growth)
}

#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
