//! A query's terms as keywords of snippets.

use lodeseek_index::{Analysis, QueryTerm, TermFinder};
use lodeseek_rdf::TripleGraph;
use lodeseek_snippet::keyword::{LabelMatcher, KeywordMatcher, KeywordSet, Matches};
use std::cell::RefCell;

/// Which of a query's terms, as analysed, the labels of a graph hold: what content fields are matched by.
pub struct QueryTerms<'q> {
    analysis: &'q Analysis,
    terms: &'q [QueryTerm],
}

impl<'q> QueryTerms<'q> {
    /// The terms of a query; those beyond the 64th are not looked for.
    #[must_use]
    pub fn new(terms: &'q [QueryTerm], analysis: &'q Analysis) -> Self {
        Self { analysis, terms }
    }

    /// The terms of each term of a graph, found once for all that is done with them.
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
