//! Snippets for a need: what of a dataset answers these keywords.
//!
//! *The seam.* An extractor does not know what it means for a term to hold a keyword; a [`KeywordMatcher`] does, and says
//! it as one set of bits a term. [`LabelMatcher`] asks a closure about each distinct label and serves lexical matching, with
//! the tokens of whatever index the caller has. A matcher by embeddings implements the trait itself: it sees the whole
//! graph, so it may embed all labels in one batch and keep the terms nearest to each keyword.
//!
//! *The methods.* [`KeywordCover`] shows the keywords in the fewest triples; [`Ksd`] weighs keywords against frequent
//! classes and properties and central entities; [`OptimalSnippet`] covers the keywords, then adds what says most of the
//! dataset, in one piece where it can.

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

/// Triples looked at again after which a method named by a [`Method`](super::Method) ends, where no other bound is given.
pub(super) const DEFAULT_WORK: u64 = 10_000_000;

/// A set of keywords, by their places in the query: the first 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct KeywordSet(pub u64);

impl KeywordSet {
    /// No keyword.
    pub const NONE: Self = Self(0);

    /// The keywords in either.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The keywords in both.
    #[must_use]
    pub const fn shared_with(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The keywords not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The places of the keywords, ascending.
    pub fn places(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |place| self.0 >> place & 1 == 1)
    }
}

/// Says which keywords the terms of a graph hold.
pub trait KeywordMatcher {
    /// The keywords of each term, by [`TermId`]: as many entries as the graph has terms.
    fn match_terms(&self, graph: &TripleGraph) -> Vec<KeywordSet>;
}

/// Matches a term by its label as it is indexed; the closure says which keywords a label holds.
///
/// It is asked once for each literal and for each IRI without a label of its own, in the order of the terms.
pub struct LabelMatcher<F>(pub F);

impl<F: Fn(&str) -> KeywordSet> KeywordMatcher for LabelMatcher<F> {
    fn match_terms(&self, graph: &TripleGraph) -> Vec<KeywordSet> {
        let labels = Labels::for_index(graph);
        let mut held = vec![KeywordSet::NONE; graph.term_count()];
        for id in graph.literals() {
            held[id.index()] = (self.0)(graph.term(id).text());
        }
        for id in graph.iris() {
            held[id.index()] = match (labels.label_term(id), graph.term(id)) {
                (Some(label), _) => held[label.index()],
                (None, TermRef::Iri(iri)) => (self.0)(local_name(iri)),
                (None, _) => KeywordSet::NONE,
            };
        }
        held
    }
}

/// Keywords of the terms of one graph, known already: for callers that extract more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches(pub Vec<KeywordSet>);

impl Matches {
    /// Asks a matcher.
    #[must_use]
    pub fn new(matcher: &dyn KeywordMatcher, graph: &TripleGraph) -> Self {
        Self(matcher.match_terms(graph))
    }

    /// The keywords of a term.
    #[must_use]
    pub fn term(&self, term: TermId) -> KeywordSet {
        self.0.get(term.index()).copied().unwrap_or_default()
    }

    /// The keywords in any of a triple's terms.
    #[must_use]
    pub fn triple(&self, triple: Triple) -> KeywordSet {
        self.statement_keywords(triple).with(self.term(triple.subject))
    }

    /// The keywords in what a triple says of its subject.
    #[must_use]
    pub fn statement_keywords(&self, triple: Triple) -> KeywordSet {
        self.term(triple.predicate).with(self.term(triple.object))
    }

    /// The keywords in any term: every term is one of some triple.
    #[must_use]
    pub fn present(&self) -> KeywordSet {
        self.0.iter().fold(KeywordSet::NONE, |all, &held| all.with(held))
    }

    /// The triples with keywords, by the keywords they have, those with the smallest set of bits first.
    fn groups(&self, graph: &TripleGraph) -> Vec<(KeywordSet, Vec<u32>)> {
        let mut groups: FxHashMap<KeywordSet, Vec<u32>> = FxHashMap::default();
        for (place, &triple) in graph.triples().iter().enumerate() {
            let held = self.triple(triple);
            if !held.is_empty() {
                groups.entry(held).or_default().push(place as u32);
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

/// A graph as keyword methods see it: which terms are entities, which triples link two of them.
struct Roles<'g> {
    graph: &'g TripleGraph,
    kind: Option<TermId>,
}

impl<'g> Roles<'g> {
    fn new(graph: &'g TripleGraph) -> Self {
        Self { graph, kind: graph.iri(rdf::TYPE) }
    }

    fn triple(&self, place: u32) -> Triple {
        self.graph.triples()[place as usize]
    }

    /// The class, where the triple gives one.
    fn class(&self, triple: Triple) -> Option<TermId> {
        (Some(triple.predicate) == self.kind && !self.graph.is_literal(triple.object)).then_some(triple.object)
    }

    /// The entity that the triple leads to, be it the subject itself.
    fn target(&self, triple: Triple) -> Option<TermId> {
        let links = Some(triple.predicate) != self.kind && !self.graph.is_literal(triple.object);
        links.then_some(triple.object)
    }

    /// The subject, and the other entity where the triple is a link between two.
    fn ends(&self, triple: Triple) -> impl Iterator<Item = TermId> + use<> {
        let other = self.target(triple).filter(|&other| other != triple.subject);
        std::iter::once(triple.subject).chain(other)
    }
}

/// How many triples start at each term, and how many links end there.
pub(super) struct Degrees {
    pub(super) out: Vec<u32>,
    pub(super) into: Vec<u32>,
}

impl Degrees {
    pub(super) fn new(graph: &TripleGraph) -> Self {
        let roles = Roles::new(graph);
        let mut degrees = Self { out: vec![0; graph.term_count()], into: vec![0; graph.term_count()] };
        for &triple in graph.triples() {
            degrees.out[triple.subject.index()] += 1;
            if let Some(target) = roles.target(triple) {
                degrees.into[target.index()] += 1;
            }
        }
        degrees
    }
}

/// ln(n + 1).
pub(super) fn log1(count: u32) -> f64 {
    f64::from(count).ln_1p()
}

/// Each term's count as a share of a total; 0 for terms not counted.
fn shares(terms: usize, counts: &[(TermId, u64)], total: u64) -> Vec<f64> {
    let mut shares = vec![0.0; terms];
    for &(id, count) in counts {
        shares[id.index()] = count as f64 / total.max(1) as f64;
    }
    shares
}

#[cfg(test)]
mod tests;
