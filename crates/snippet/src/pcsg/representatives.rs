//! One representative entity for each description pattern. This snippet fills the texts of dense rankers.
//!
//! Q. Chen, X. Chen, …, G. Cheng: *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023, extracts
//! subsets of triples that each cover one entity description pattern, ranked by its frequency. The paper does not
//! specify which entity represents a pattern. This implementation chooses the entity with most elements already shown.
//! Ties are broken by the shortest name (IRIs before blank nodes), then by order.

use super::{EntityGraph, described_share};
use crate::{Deadline, Snippet, SnippetExtractor, TripleBudget};
use lodeseek_profile::{Element, EntityPattern, PatternId, Patterns, Profile};
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Maximum number of triples inspected to find the shortest example of an element.
const MAX_INSPECTED_TRIPLES: usize = 64;

/// Options of [`PatternRepresentatives`].
#[derive(Clone, Copy, Default)]
pub struct RepresentativeOptions<'h> {
    /// Deadline after which no further triple is shown.
    pub deadline: Deadline<'h>,
}

/// Extractor of pattern representatives. See the module documentation. After the patterns, O(T) for each
/// triple of the budget.
#[derive(Clone, Copy, Default)]
pub struct PatternRepresentatives<'h> {
    options: RepresentativeOptions<'h>,
}

impl<'h> PatternRepresentatives<'h> {
    /// Creates an extractor with these options.
    #[must_use]
    pub fn new(options: RepresentativeOptions<'h>) -> Self {
        Self { options }
    }
}

impl SnippetExtractor for PatternRepresentatives<'_> {
    fn name(&self) -> &'static str {
        "patterns"
    }

    fn extract(&self, graph: &TripleGraph, _profile: &Profile, budget: TripleBudget) -> Snippet {
        let patterns = Patterns::without_links(graph);
        let entity_graph = EntityGraph::new(graph, &patterns);
        let mut builder = SnippetBuilder {
            entity_graph: &entity_graph,
            shown: FxHashMap::default(),
            touched: FxHashMap::default(),
            triples: Vec::new(),
            interrupted: false,
        };
        for pattern in patterns.patterns() {
            if !builder.show(&pattern, budget, self.options.deadline) {
                break;
            }
        }
        Snippet {
            gain: described_share(&entity_graph, &builder.triples),
            triples: builder.triples,
            interrupted: builder.interrupted,
        }
    }
}

struct SnippetBuilder<'s, 'g> {
    entity_graph: &'s EntityGraph<'g>,
    /// Elements shown so far, for each entity in the chosen triples.
    shown: FxHashMap<TermId, FxHashSet<Element>>,
    /// Entities in the chosen triples, by pattern.
    touched: FxHashMap<PatternId, Vec<TermId>>,
    triples: Vec<Triple>,
    /// If true, the deadline ended the snippet. The end of the budget does not count.
    interrupted: bool,
}

impl SnippetBuilder<'_, '_> {
    /// Shows a pattern. Returns false if the budget or the deadline ended it: a pattern may have as many elements as the graph has
    /// triples.
    fn show(
        &mut self,
        pattern: &EntityPattern<'_>,
        budget: TripleBudget,
        deadline: Deadline<'_>,
    ) -> bool {
        if self.is_over(budget, deadline) {
            return false;
        }
        let Some(entity) = self.representative(pattern) else {
            return true;
        };
        let number = self.entity_graph.number(entity);
        for &element in pattern.elements {
            if !self
                .shown
                .get(&entity)
                .is_some_and(|shown| shown.contains(&element))
                && let Some(triple) = self.example(number, element)
            {
                if self.is_over(budget, deadline) {
                    return false;
                }
                self.add(triple);
            }
        }
        if pattern.elements.is_empty() {
            // An entity whose only types are literals: any of its triples represents it.
            self.triples.extend(
                self.entity_graph
                    .outgoing(number)
                    .next()
                    .map(|place| self.entity_graph.triple(place)),
            );
        }
        true
    }

    /// Returns true if the budget or the time is spent. The first triple is always shown, so that the snippet is not empty.
    fn is_over(&mut self, budget: TripleBudget, deadline: Deadline<'_>) -> bool {
        if self.triples.len() >= budget.0 {
            return true;
        }
        self.interrupted = !self.triples.is_empty() && deadline.has_passed();
        self.interrupted
    }

    fn representative(&self, pattern: &EntityPattern<'_>) -> Option<TermId> {
        match self.touched.get(&pattern.id) {
            Some(touched) => touched
                .iter()
                .copied()
                .min_by_key(|&entity| (Reverse(self.shown_count(entity)), self.name_rank(entity))),
            None => pattern
                .entities
                .iter()
                .copied()
                .min_by_key(|&entity| self.name_rank(entity)),
        }
    }

    /// Returns the number of shown elements of an entity.
    fn shown_count(&self, entity: TermId) -> usize {
        match self.shown.get(&entity) {
            Some(elements) => elements.len(),
            None => 0,
        }
    }

    /// Returns a key by which IRIs and short names come first.
    fn name_rank(&self, entity: TermId) -> (bool, usize, TermId) {
        let graph = self.entity_graph.graph;
        (
            !graph.is_iri(entity),
            graph.term(entity).text().len(),
            entity,
        )
    }

    /// Returns the triple with the shortest other end, the first of equals.
    fn example(&self, number: u32, element: Element) -> Option<Triple> {
        let entity_graph = self.entity_graph;
        let entity = self.entity_graph.entity(number);
        let graph = entity_graph.graph;
        if let Element::Incoming(_) = element {
            return entity_graph
                .incoming(number)
                .iter()
                .map(|&place| entity_graph.triple(place))
                .filter(|&triple| entity_graph.shows(triple, entity, element))
                .take(MAX_INSPECTED_TRIPLES)
                .min_by_key(|triple| graph.term(triple.subject).text().len());
        }
        entity_graph
            .outgoing(number)
            .map(|place| entity_graph.triple(place))
            .filter(|&triple| entity_graph.shows(triple, entity, element))
            .take(MAX_INSPECTED_TRIPLES)
            .min_by_key(|triple| graph.term(triple.object).text().len())
    }

    fn add(&mut self, triple: Triple) {
        for (entity, element) in self.entity_graph.contributions(triple) {
            let shown = self.shown.entry(entity).or_default();
            if shown.is_empty()
                && let Some(pattern) = self.entity_graph.patterns.pattern_of(entity)
            {
                self.touched.entry(pattern).or_default().push(entity);
            }
            shown.insert(element);
        }
        self.triples.push(triple);
    }
}
