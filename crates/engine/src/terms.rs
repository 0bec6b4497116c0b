//! Query terms as keywords of snippet methods.

use lodeseek_index::{Analysis, QueryTerm, TermFinder};
use lodeseek_rdf::TripleGraph;
use lodeseek_snippet::keyword::{KeywordMatcher, KeywordSet, LabelMatcher, Matches};
use std::cell::RefCell;

/// A matcher of analysed query terms in the labels of a graph. It matches as the index's content fields do.
pub struct QueryTerms<'q> {
    analysis: &'q Analysis,
    terms: &'q [QueryTerm],
}

impl<'q> QueryTerms<'q> {
    /// Creates a matcher of a query's terms. Terms beyond the 64th are ignored.
    #[must_use]
    pub fn new(terms: &'q [QueryTerm], analysis: &'q Analysis) -> Self {
        Self { analysis, terms }
    }

    /// Returns the query terms in the label of each term of a graph.
    #[must_use]
    pub fn matches(&self, graph: &TripleGraph) -> Matches {
        Matches::new(self, graph)
    }
}

impl KeywordMatcher for QueryTerms<'_> {
    fn match_terms(&self, graph: &TripleGraph) -> Vec<KeywordSet> {
        let finder = RefCell::new(TermFinder::new(self.analysis, self.terms));
        LabelMatcher(|label: &str| KeywordSet(finder.borrow_mut().find(label))).match_terms(graph)
    }
}
