//! KSD: keywords, schema and central entities in one weighted cover.
//!
//! X. Wang, G. Cheng, J. Z. Pan, E. Kharlamov, Y. Qu: *BANDAR: Benchmarking Snippet Generation Algorithms for (RDF)
//! Dataset Search*, IEEE TKDE 35(2), 2023. Let *T* be the number of triples, *C* the number of `rdf:type` triples, *n*
//! the number of triples of a property or class, and *K* the keywords that the dataset contains:
//!
//! ```text
//! gain(triple) = 2 · |keywords not covered yet| / |K|
//!              + n/T of its property, 0 once covered      + n/C of its class, 0 once covered
//!              + Σ ln(out + 1)/ln(largest out + 1) + ln(in + 1)/ln(largest in + 1)   over its entities not covered yet
//! ```
//!
//! The triples need not be connected. Gains only fall, so a lazy queue gives exactly the greedy choice. Filling it
//! takes O(T). Each re-evaluated entry takes O(log T); these are the entries whose property, class, keyword or entity
//! was covered since. A work bound and a deadline end the choice early, after at least one triple. The result is then a
//! prefix of the full result.

use super::queue::{LazyQueue, Limit, Meter};
use super::{Degrees, KeywordMatcher, KeywordSet, Matches, Roles, compute_shares, log1};
use crate::{Deadline, Snippet, SnippetExtractor, TripleBudget};
use lodeseek_profile::Profile;
use lodeseek_rdf::TripleGraph;

/// Weight of the keywords; each other part has weight 1.
const KEYWORD_WEIGHT: f64 = 2.0;

/// KSD extractor. See the module documentation.
#[derive(Clone, Copy)]
pub struct Ksd<'m> {
    keywords: &'m dyn KeywordMatcher,
    limit: Limit<'m>,
}

impl<'m> Ksd<'m> {
    /// Creates an extractor for these keywords.
    #[must_use]
    pub fn new(keywords: &'m dyn KeywordMatcher) -> Self {
        Self {
            keywords,
            limit: Limit::default(),
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

impl SnippetExtractor for Ksd<'_> {
    fn name(&self) -> &'static str {
        "KSD"
    }

    fn extract(&self, graph: &TripleGraph, profile: &Profile, budget: TripleBudget) -> Snippet {
        let mut snippet = Snippet {
            triples: Vec::new(),
            gain: 0.0,
            interrupted: false,
        };
        if graph.is_empty() || budget.0 == 0 {
            return snippet;
        }
        let mut cover = Cover::new(graph, profile, Matches::new(self.keywords, graph));
        let mut queue = LazyQueue::new(graph.len(), |triple| cover.gain(triple));
        let mut meter = Meter::new(self.limit);
        while snippet.triples.len() < budget.0
            && let Some(best) = queue.pop(|triple| cover.gain(triple), &mut meter)
        {
            snippet.gain += best.gain;
            snippet.triples.push(graph.triples()[best.triple as usize]);
            cover.choose(best.triple);
            meter.start();
        }
        snippet.interrupted = meter.was_over();
        snippet
    }
}

/// Weights of what is not covered yet. Covering a term sets its weight to 0.
pub(super) struct Cover<'g> {
    roles: Roles<'g>,
    matches: Matches,
    keywords: f64,
    uncovered: KeywordSet,
    property: Vec<f64>,
    class: Vec<f64>,
    entity: Vec<f64>,
}

impl<'g> Cover<'g> {
    pub(super) fn new(graph: &'g TripleGraph, profile: &Profile, matches: Matches) -> Self {
        let uncovered = matches.present();
        Self {
            roles: Roles::new(graph),
            keywords: f64::from(uncovered.len().max(1)),
            uncovered,
            matches,
            property: compute_shares(graph.term_count(), &profile.properties, profile.triples),
            class: compute_shares(graph.term_count(), &profile.classes, profile.type_triples),
            entity: compute_centrality(graph),
        }
    }

    pub(super) fn gain(&self, place: u32) -> f64 {
        let triple = self.roles.triple(place);
        let new = self.matches.triple(triple).intersection(self.uncovered);
        let class = match self.roles.class(triple) {
            Some(class) => self.class[class.index()],
            None => 0.0,
        };
        let entities: f64 = self
            .roles
            .ends(triple)
            .map(|entity| self.entity[entity.index()])
            .sum();
        let keywords = KEYWORD_WEIGHT * f64::from(new.len()) / self.keywords;
        keywords + self.property[triple.predicate.index()] + class + entities
    }

    pub(super) fn choose(&mut self, place: u32) {
        let triple = self.roles.triple(place);
        self.uncovered = self.uncovered.difference(self.matches.triple(triple));
        self.property[triple.predicate.index()] = 0.0;
        if let Some(class) = self.roles.class(triple) {
            self.class[class.index()] = 0.0;
        }
        for entity in self.roles.ends(triple) {
            self.entity[entity.index()] = 0.0;
        }
    }
}

/// Returns the centrality of each term: the logarithms of its degrees, relative to the largest.
fn compute_centrality(graph: &TripleGraph) -> Vec<f64> {
    let degrees = Degrees::new(graph);
    let out = largest_log(&degrees.out);
    let into = largest_log(&degrees.into);
    (0..graph.term_count())
        .map(|id| log1(degrees.out[id]) / out + log1(degrees.into[id]) / into)
        .collect()
}

/// Returns the logarithm of the largest degree; 1 if there is none above 0.
fn largest_log(degrees: &[u32]) -> f64 {
    match degrees.iter().copied().max() {
        Some(largest) if largest > 0 => log1(largest),
        _ => 1.0,
    }
}
