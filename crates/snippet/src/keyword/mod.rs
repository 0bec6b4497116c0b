//! Snippets for a keyword query.
//!
//! *Interface.* A [`KeywordMatcher`] defines which terms contain which keywords, as a bit set for each term. Extractors
//! depend only on this trait. [`LabelMatcher`] calls a closure for each distinct label; it serves lexical matching with
//! the tokens of any index. An embedding-based matcher can implement the trait itself. It receives the whole graph, so
//! it can embed all labels in one batch and retain the nearest terms of each keyword.
//!
//! *Methods.* [`KeywordCover`] shows the keywords in the fewest triples. [`Ksd`] weighs keywords against frequent
//! classes and properties and central entities. [`OptimalSnippet`] covers the keywords, then adds the most
//! representative triples, in one connected component where possible.

mod cover;
mod ksd;
mod optimal;
mod queue;

pub use cover::KeywordCover;
pub use ksd::Ksd;
pub use optimal::OptimalSnippet;
pub(super) use queue::{Limit, Meter};

use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{Labels, TermId, TermRef, Triple, TripleGraph, local_name};
use rustc_hash::FxHashMap;

/// Default number of re-inspected triples after which a [`Method`](super::Method) ends.
pub(super) const DEFAULT_WORK: u64 = 10_000_000;

/// Set of keywords, as bits by their position in the query. At most 64 keywords.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct KeywordSet(pub u64);

impl KeywordSet {
    /// Empty set.
    pub const NONE: Self = Self(0);

    /// Returns the union.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the difference.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of keywords.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the positions of the keywords, ascending.
    pub fn places(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |place| self.0 >> place & 1 == 1)
    }
}

/// Matcher of keywords with the terms of a graph.
pub trait KeywordMatcher {
    /// Returns the keywords of each term, indexed by [`TermId`]. The result has one entry for each term of the graph.
    fn match_terms(&self, graph: &TripleGraph) -> Vec<KeywordSet>;
}

/// Matcher of term labels. The closure returns the keywords of a label as it is indexed.
///
/// It is called once for each literal and for each IRI without a label of its own, in the order of the terms.
pub struct LabelMatcher<F>(pub F);

impl<F: Fn(&str) -> KeywordSet> KeywordMatcher for LabelMatcher<F> {
    fn match_terms(&self, graph: &TripleGraph) -> Vec<KeywordSet> {
        let labels = Labels::for_index(graph);
        let mut matches = vec![KeywordSet::NONE; graph.term_count()];
        for id in graph.literals() {
            matches[id.index()] = (self.0)(graph.term(id).text());
        }
        for id in graph.iris() {
            matches[id.index()] = match (labels.label_term(id), graph.term(id)) {
                // Labels are literals, which were matched before.
                (Some(label), _) => matches[label.index()],
                (None, TermRef::Iri(iri)) => (self.0)(local_name(iri)),
                (None, _) => KeywordSet::NONE,
            };
        }
        add_triple_terms(graph, &mut matches);
        matches
    }
}

/// Sets the keywords of each triple term to those of its terms, which are matched before.
pub fn add_triple_terms(graph: &TripleGraph, matches: &mut [KeywordSet]) {
    for id in graph.triple_terms() {
        if let TermRef::Triple(triple) = graph.term(id) {
            let parts =
                [triple.subject, triple.predicate, triple.object].map(|part| matches[part.index()]);
            matches[id.index()] = parts.into_iter().fold(KeywordSet::NONE, KeywordSet::union);
        }
    }
}

/// Precomputed keywords of the terms of one graph, for several extractions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches(pub Vec<KeywordSet>);

impl Matches {
    /// Computes the matches of a graph.
    #[must_use]
    pub fn new(matcher: &dyn KeywordMatcher, graph: &TripleGraph) -> Self {
        Self(matcher.match_terms(graph))
    }

    /// Returns the keywords of a term.
    #[must_use]
    pub fn term(&self, term: TermId) -> KeywordSet {
        self.0.get(term.index()).copied().unwrap_or_default()
    }

    /// Returns the keywords of all terms of a triple.
    #[must_use]
    pub fn triple(&self, triple: Triple) -> KeywordSet {
        self.statement_keywords(triple)
            .union(self.term(triple.subject))
    }

    /// Returns the keywords of a triple's predicate and object.
    #[must_use]
    pub fn statement_keywords(&self, triple: Triple) -> KeywordSet {
        self.term(triple.predicate).union(self.term(triple.object))
    }

    /// Returns the keywords in any term. Every term occurs in a triple.
    #[must_use]
    pub fn present(&self) -> KeywordSet {
        self.0
            .iter()
            .fold(KeywordSet::NONE, |all, &keywords| all.union(keywords))
    }

    /// Groups the triples with keywords by their keyword sets, in ascending order of the sets.
    fn groups(&self, graph: &TripleGraph) -> Vec<(KeywordSet, Vec<u32>)> {
        let mut groups: FxHashMap<KeywordSet, Vec<u32>> = FxHashMap::default();
        for (place, &triple) in graph.triples().iter().enumerate() {
            let keywords = self.triple(triple);
            if !keywords.is_empty() {
                groups.entry(keywords).or_default().push(place as u32);
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_unstable();
        groups
    }
}

impl KeywordMatcher for Matches {
    fn match_terms(&self, _: &TripleGraph) -> Vec<KeywordSet> {
        self.0.clone()
    }
}

/// Graph as seen by the keyword methods: terms that are entities, and triples that link two entities.
struct Roles<'g> {
    graph: &'g TripleGraph,
    kind: Option<TermId>,
}

impl<'g> Roles<'g> {
    fn new(graph: &'g TripleGraph) -> Self {
        Self {
            graph,
            kind: graph.iri(rdf::TYPE),
        }
    }

    fn triple(&self, place: u32) -> Triple {
        self.graph.triples()[place as usize]
    }

    /// Returns the class if the triple assigns one.
    fn class(&self, triple: Triple) -> Option<TermId> {
        (Some(triple.predicate) == self.kind && self.graph.is_resource(triple.object))
            .then_some(triple.object)
    }

    /// Returns the entity that the triple links to, which may be the subject itself.
    fn target(&self, triple: Triple) -> Option<TermId> {
        let links = Some(triple.predicate) != self.kind && self.graph.is_resource(triple.object);
        links.then_some(triple.object)
    }

    /// Returns the subject, and the other entity if the triple is a link.
    fn ends(&self, triple: Triple) -> impl Iterator<Item = TermId> + use<> {
        let other = self.target(triple).filter(|&other| other != triple.subject);
        std::iter::once(triple.subject).chain(other)
    }
}

/// Number of outgoing triples and incoming links of each term.
pub(super) struct Degrees {
    pub(super) out: Vec<u32>,
    pub(super) into: Vec<u32>,
}

impl Degrees {
    pub(super) fn new(graph: &TripleGraph) -> Self {
        let roles = Roles::new(graph);
        let mut degrees = Self {
            out: vec![0; graph.term_count()],
            into: vec![0; graph.term_count()],
        };
        for &triple in graph.triples() {
            degrees.out[triple.subject.index()] += 1;
            if let Some(target) = roles.target(triple) {
                degrees.into[target.index()] += 1;
            }
        }
        degrees
    }
}

/// Returns ln(n + 1).
pub(super) fn log1(count: u32) -> f64 {
    f64::from(count).ln_1p()
}

/// Returns each term's count as a share of a total; 0 for other terms.
fn compute_shares(terms: usize, counts: &[(TermId, u64)], total: u64) -> Vec<f64> {
    let mut shares = vec![0.0; terms];
    for &(id, count) in counts {
        shares[id.index()] = count as f64 / total.max(1) as f64;
    }
    shares
}

#[cfg(test)]
mod tests;
