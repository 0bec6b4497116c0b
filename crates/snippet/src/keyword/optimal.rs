//! Optimal data snippet: covers the keywords, then adds the most representative triples in a component as large as
//! possible.
//!
//! The objective on sets of triples is from research on snippets that explain why a dataset was found (nju-websoft,
//! *optimal data snippets*). Let *T* be the number of triples, *n* the count of a property or pattern, *E* the
//! entities, and *k* the budget:
//!
//! ```text
//! F(S) = Σ n/T                                                              over the properties in S
//!      + Σ ln(in + 1) / Σ_E ln(in + 1) + ln(out + 1) / Σ_E ln(out + 1)      over the entities in S
//!      + Σ n/|E| · largest share of its elements that one entity shows in S over the entity description patterns
//!      + 2 · |largest piece of S| / k
//! ```
//!
//! subject to |S| ≤ k and to *S* containing min(k, number) of the present keywords. A component is connected by
//! entities, not by literals or classes. The greedy algorithm chooses triples with most new keywords until all are
//! covered, then triples with the largest gain of *F*. Ties between keywords are broken by *F*, and ties of *F* by
//! order.
//!
//! *Cost.* Properties, entities and patterns that others show only reduce a triple's gain. The gain can rise if one of
//! its ends shows more than before, or belongs to a component that grew. After each choice, triples are therefore
//! re-evaluated at the ends of the chosen triple. The same is done at components that joined the largest one, or that
//! grew and are not the largest. This takes O(T) once, the triples at such ends for each of k choices, and O(log T) for
//! each triple that is queued again. The keywords are covered before; each of these steps inspects the triples of the
//! best keyword sets. A work bound and a deadline end the choice early, after at least one triple. The result is then a
//! prefix of the full result.

use super::queue::{Candidate, LazyQueue, Limit, Meter};
use super::{Degrees, KeywordMatcher, KeywordSet, Matches, Roles, compute_shares, log1};
use crate::{Deadline, Snippet, SnippetExtractor, TripleBudget, find_links};
use lodeseek_profile::{Element, PatternId, Patterns, Profile};
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::{FxHashMap, FxHashSet};

/// Weight of the largest component; each other part has weight 1.
const PIECE_WEIGHT: f64 = 2.0;

/// Choice of the first triple.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Opening {
    #[default]
    Keywords,
    BestTriple,
}

/// Extractor of the optimal data snippet. See the module documentation.
#[derive(Clone, Copy)]
pub struct OptimalSnippet<'m> {
    keywords: &'m dyn KeywordMatcher,
    patterns: Option<&'m Patterns>,
    opening: Opening,
    limit: Limit<'m>,
}

impl<'m> OptimalSnippet<'m> {
    /// Creates an extractor for these keywords.
    #[must_use]
    pub fn new(keywords: &'m dyn KeywordMatcher) -> Self {
        Self {
            keywords,
            patterns: None,
            opening: Opening::default(),
            limit: Limit::default(),
        }
    }

    /// Sets precomputed patterns of the graph. Default: they are computed.
    #[must_use]
    pub fn with_patterns(self, patterns: &'m Patterns) -> Self {
        Self {
            patterns: Some(patterns),
            ..self
        }
    }

    /// Starts with the triple that adds most to the objective, regardless of keywords.
    #[must_use]
    pub fn with_best_triple_first(self) -> Self {
        Self {
            opening: Opening::BestTriple,
            ..self
        }
    }

    /// Sets the maximum number of triples inspected again after the initial pass. Default: no limit. The snippet has at
    /// least one triple.
    #[must_use]
    pub fn with_work(self, work: u64) -> Self {
        Self {
            limit: Limit { work, ..self.limit },
            ..self
        }
    }

    /// Sets a deadline. When it has passed, extraction ends with the triples chosen so far: at least one.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline<'m>) -> Self {
        Self {
            limit: Limit {
                deadline,
                ..self.limit
            },
            ..self
        }
    }
}

impl SnippetExtractor for OptimalSnippet<'_> {
    fn name(&self) -> &'static str {
        "optimal data snippet"
    }

    fn extract(&self, graph: &TripleGraph, profile: &Profile, budget: TripleBudget) -> Snippet {
        if graph.is_empty() || budget.0 == 0 {
            return Snippet {
                triples: Vec::new(),
                gain: 0.0,
                interrupted: false,
            };
        }
        let computed = self
            .patterns
            .is_none()
            .then(|| Patterns::without_links(graph));
        let patterns = self.patterns.or(computed.as_ref());
        let weights = Weights::new(graph, profile, patterns, budget);
        let matches = Matches::new(self.keywords, graph);
        let mut objective = Objective::new(&weights);
        let meter = Meter::new(self.limit);
        let mut greedy = Greedy {
            objective: &mut objective,
            chosen: Vec::new(),
            budget: budget.0,
            gain: 0.0,
            meter,
        };
        let mut uncovered = matches.present();
        if self.opening == Opening::BestTriple
            && let Some(best) = greedy.best(0..graph.len() as u32)
        {
            uncovered = uncovered.difference(matches.triple(weights.roles.triple(best.triple)));
            greedy.choose(best);
        }
        greedy.cover_keywords(&matches, uncovered);
        greedy.fill(graph.len());
        let triples = greedy
            .chosen
            .iter()
            .map(|&place| weights.roles.triple(place))
            .collect();
        Snippet {
            triples,
            gain: greedy.gain,
            interrupted: greedy.meter.was_over(),
        }
    }
}

/// Precomputed weights, constant while a snippet grows.
pub(super) struct Weights<'g> {
    roles: Roles<'g>,
    patterns: Option<&'g Patterns>,
    /// Weights by term: share of a property, centrality of an entity.
    property: Vec<f64>,
    entity: Vec<f64>,
    /// Gain of one more element of each pattern.
    element: Vec<f64>,
    /// Gain of one more triple in the largest component.
    piece: f64,
    links: IncomingLinks,
}

impl<'g> Weights<'g> {
    pub(super) fn new(
        graph: &'g TripleGraph,
        profile: &Profile,
        patterns: Option<&'g Patterns>,
        budget: TripleBudget,
    ) -> Self {
        let roles = Roles::new(graph);
        let entities = match patterns {
            Some(patterns) => patterns.entities().len() as f64,
            None => 0.0,
        };
        let element = patterns.into_iter().flat_map(Patterns::patterns);
        Self {
            property: compute_shares(graph.term_count(), &profile.properties, profile.triples),
            entity: compute_centrality(graph),
            element: element
                .map(|one| one.count() as f64 / entities / one.elements.len() as f64)
                .collect(),
            piece: PIECE_WEIGHT / budget.0 as f64,
            links: IncomingLinks::new(&roles),
            patterns,
            roles,
        }
    }

    /// Returns the positions of the triples at an entity.
    fn at(&self, entity: TermId) -> impl Iterator<Item = u32> {
        let from = self
            .roles
            .graph
            .subject_range(entity)
            .map(|place| place as u32);
        from.chain(self.links.row(entity).iter().copied())
    }

    /// Returns the pattern elements that a triple shows at its ends. A self-link shows both.
    fn contributions(&self, triple: Triple) -> impl Iterator<Item = (TermId, Element)> {
        let own = match (
            self.roles.class(triple),
            Some(triple.predicate) == self.roles.kind,
        ) {
            (Some(class), _) => Some(Element::Class(class)),
            (None, false) => Some(Element::Outgoing(triple.predicate)),
            (None, true) => None, // a literal is no class
        };
        let other = self
            .roles
            .target(triple)
            .map(|target| (target, Element::Incoming(triple.predicate)));
        own.map(|element| (triple.subject, element))
            .into_iter()
            .chain(other)
    }
}

/// Returns the centrality of each term: its logarithmic degrees as shares of all entities' degrees.
fn compute_centrality(graph: &TripleGraph) -> Vec<f64> {
    let degrees = Degrees::new(graph);
    let out = sum_logs(&degrees.out);
    let into = sum_logs(&degrees.into);
    degrees
        .out
        .iter()
        .zip(&degrees.into)
        .map(|(&o, &i)| log1(o) / out + log1(i) / into)
        .collect()
}

/// Returns the sum of the logarithms of degrees; 1 if it is 0.
fn sum_logs(degrees: &[u32]) -> f64 {
    let sum: f64 = degrees.iter().copied().map(log1).sum();
    if sum > 0.0 { sum } else { 1.0 }
}

/// Links to each entity: rows of `places` between two starts.
struct IncomingLinks {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl IncomingLinks {
    fn new(roles: &Roles<'_>) -> Self {
        let mut starts = vec![0u32; roles.graph.term_count() + 1];
        let links = find_links(roles.graph, roles.kind);
        for (_, link) in links.clone() {
            starts[link.object.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0; links.clone().count()];
        for (place, link) in links {
            let slot = &mut next[link.object.index()];
            places[*slot as usize] = place as u32;
            *slot += 1;
        }
        Self { starts, places }
    }

    fn row(&self, term: TermId) -> &[u32] {
        &self.places[self.starts[term.index()] as usize..self.starts[term.index() + 1] as usize]
    }
}

/// Objective of a growing set of triples.
pub(super) struct Objective<'w> {
    weights: &'w Weights<'w>,
    has_property: FxHashSet<TermId>,
    /// Component number of each entity.
    piece_of: FxHashMap<TermId, u32>,
    /// Number of triples of each component; 0 for a component that was merged into another.
    pieces: Vec<u32>,
    shown: FxHashSet<(TermId, Element)>,
    shown_of: FxHashMap<TermId, u32>,
    /// Largest number of elements that one entity of each pattern shows.
    best: FxHashMap<PatternId, u32>,
}

impl<'w> Objective<'w> {
    pub(super) fn new(weights: &'w Weights<'w>) -> Self {
        Self {
            weights,
            has_property: FxHashSet::default(),
            piece_of: FxHashMap::default(),
            pieces: Vec::new(),
            shown: FxHashSet::default(),
            shown_of: FxHashMap::default(),
            best: FxHashMap::default(),
        }
    }

    /// Returns the present gain of a triple.
    pub(super) fn gain(&self, place: u32) -> f64 {
        let triple = self.weights.roles.triple(place);
        let property = if self.has_property.contains(&triple.predicate) {
            0.0
        } else {
            self.weights.property[triple.predicate.index()]
        };
        let new = self
            .weights
            .roles
            .ends(triple)
            .filter(|end| !self.piece_of.contains_key(end));
        let entities: f64 = new.map(|end| self.weights.entity[end.index()]).sum();
        property + entities + self.pattern_gain(triple) + self.piece_gain(triple)
    }

    /// Returns the patterns of the ends, with the number of elements that each entity would then show; at most two.
    fn would_show(&self, triple: Triple) -> [Option<(PatternId, u32)>; 2] {
        let mut counts: [Option<(TermId, u32)>; 2] = [None; 2];
        for (entity, element) in self.weights.contributions(triple) {
            let new = u32::from(!self.shown.contains(&(entity, element)));
            match &mut counts[0] {
                Some((first, count)) if *first == entity => *count += new,
                Some(_) => counts[1] = Some((entity, new)),
                None => counts[0] = Some((entity, new)),
            }
        }
        counts.map(|one| {
            let (entity, new) = one?;
            let pattern = self.weights.patterns?.pattern_of(entity)?;
            Some((
                pattern,
                self.shown_of.get(&entity).copied().unwrap_or(0) + new,
            ))
        })
    }

    fn pattern_gain(&self, triple: Triple) -> f64 {
        match self.would_show(triple) {
            // Only the entity that shows most of a pattern counts.
            [Some(a), Some(b)] if a.0 == b.0 => self.element_gain(a.0, a.1.max(b.1)),
            ends => ends
                .into_iter()
                .flatten()
                .map(|(pattern, count)| self.element_gain(pattern, count))
                .sum(),
        }
    }

    /// Returns the gain of an entity that shows `count` elements of its pattern.
    fn element_gain(&self, pattern: PatternId, count: u32) -> f64 {
        let best = self.best.get(&pattern).copied().unwrap_or(0);
        f64::from(count.saturating_sub(best)) * self.weights.element[pattern.index()]
    }

    fn piece(&self, entity: TermId) -> Option<u32> {
        self.piece_of.get(&entity).copied()
    }

    fn size(&self, piece: u32) -> u32 {
        self.pieces[piece as usize]
    }

    fn largest(&self) -> u32 {
        self.pieces.iter().copied().max().unwrap_or(0)
    }

    /// Returns the components that a triple would connect.
    fn joins(&self, triple: Triple) -> impl Iterator<Item = u32> {
        let mut pieces = self.weights.roles.ends(triple).map(|end| self.piece(end));
        let first = pieces.next().flatten();
        let second = pieces.next().flatten();
        first.into_iter().chain(second.filter(|_| second != first))
    }

    fn piece_gain(&self, triple: Triple) -> f64 {
        let joined: u32 = 1 + self
            .joins(triple)
            .map(|piece| self.size(piece))
            .sum::<u32>();
        f64::from(joined.saturating_sub(self.largest())) * self.weights.piece
    }

    /// Adds a triple and returns the entities at whose triples gains may have risen.
    pub(super) fn add(&mut self, place: u32) -> FxHashSet<TermId> {
        let triple = self.weights.roles.triple(place);
        self.has_property.insert(triple.predicate);
        for (pattern, count) in self.would_show(triple).into_iter().flatten() {
            let best = self.best.entry(pattern).or_default();
            *best = (*best).max(count);
        }
        for (entity, element) in self.weights.contributions(triple) {
            if self.shown.insert((entity, element)) {
                *self.shown_of.entry(entity).or_default() += 1;
            }
        }
        let largest = self.largest();
        let joined: Vec<u32> = self.joins(triple).collect();
        let mut risen: FxHashSet<TermId> = self.weights.roles.ends(triple).collect();
        // No gain rises at the entities of the former largest component: it has grown by as much as the largest.
        risen.extend(
            self.piece_of
                .iter()
                .filter(|(_, piece)| joined.contains(piece) && self.size(**piece) < largest)
                .map(|(entity, _)| *entity),
        );
        self.merge(triple, &joined);
        risen
    }

    fn merge(&mut self, triple: Triple, joined: &[u32]) {
        let into = joined.first().copied().unwrap_or_else(|| {
            self.pieces.push(0);
            self.pieces.len() as u32 - 1
        });
        for &other in joined.iter().skip(1) {
            self.pieces[into as usize] += std::mem::take(&mut self.pieces[other as usize]);
            self.piece_of
                .values_mut()
                .filter(|piece| **piece == other)
                .for_each(|piece| *piece = into);
        }
        self.pieces[into as usize] += 1;
        for end in self.weights.roles.ends(triple) {
            self.piece_of.insert(end, into);
        }
    }
}

struct Greedy<'o, 'w, 'h> {
    objective: &'o mut Objective<'w>,
    chosen: Vec<u32>,
    budget: usize,
    gain: f64,
    meter: Meter<'h>,
}

impl Greedy<'_, '_, '_> {
    /// Returns the triple with the largest gain.
    fn best(&self, places: impl Iterator<Item = u32>) -> Option<Candidate> {
        places
            .map(|triple| Candidate {
                gain: self.objective.gain(triple),
                triple,
            })
            .max()
    }

    fn choose(&mut self, candidate: Candidate) -> FxHashSet<TermId> {
        self.meter.start();
        self.chosen.push(candidate.triple);
        self.gain += candidate.gain;
        self.objective.add(candidate.triple)
    }

    /// Chooses triples with most new keywords until all are covered.
    fn cover_keywords(&mut self, matches: &Matches, mut uncovered: KeywordSet) {
        if uncovered.is_empty() {
            return;
        }
        let groups = matches.groups(self.objective.weights.roles.graph);
        while !uncovered.is_empty() && self.chosen.len() < self.budget {
            let most = groups
                .iter()
                .map(|(set, _)| set.intersection(uncovered).len())
                .max()
                .unwrap_or(0);
            let tied: Vec<&[u32]> = groups
                .iter()
                .filter(|(set, _)| set.intersection(uncovered).len() == most)
                .map(|(_, group)| &group[..])
                .collect();
            if self
                .meter
                .is_over(tied.iter().map(|group| group.len() as u64).sum())
            {
                return;
            }
            let Some(best) = self.best(tied.into_iter().flatten().copied()) else {
                return;
            };
            uncovered = uncovered
                .difference(matches.triple(self.objective.weights.roles.triple(best.triple)));
            self.choose(best);
        }
    }

    /// Chooses triples with the largest gain until the budget is spent.
    fn fill(&mut self, triples: usize) {
        if self.chosen.len() >= self.budget || self.meter.is_over(0) {
            return;
        }
        let mut queue = LazyQueue::new(triples, |triple| self.objective.gain(triple));
        self.chosen.iter().for_each(|&triple| queue.remove(triple));
        while let Some(best) = queue.pop(|triple| self.objective.gain(triple), &mut self.meter) {
            let risen = self.choose(best);
            if self.chosen.len() >= self.budget {
                return;
            }
            self.raise(&mut queue, risen);
        }
    }

    /// Re-evaluates the triples of these entities.
    fn raise(&mut self, queue: &mut LazyQueue, risen: FxHashSet<TermId>) {
        for entity in risen {
            for triple in self.objective.weights.at(entity) {
                if self.meter.is_over(1) {
                    return; // and no further triple is taken from the queue
                }
                queue.raise(triple, |triple| self.objective.gain(triple));
            }
        }
    }
}
