//! The triples of a dataset that hold a query's terms: why its content matched.

use crate::profile::Profile;
use crate::rdf::{Labels, TripleGraph};
use crate::snippet::keyword::{KeywordCover, Matches, OptimalSnippet};
use crate::snippet::{LabelledTriple, SnippetExtractor, TripleBudget, labelled};
use serde::{Deserialize, Serialize};

/// A triple and the query's words in its labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The triple.
    pub triple: LabelledTriple,
    /// The words, as typed, in lower case.
    pub terms: Vec<String>,
}

/// At most `limit` triples: first the fewest that together hold as many terms as possible, then further ones.
///
/// `weights` says how telling each distinct term of the query is.
pub(super) fn find(
    graph: &TripleGraph,
    labels: &Labels<'_>,
    matches: &Matches,
    terms: &[String],
    weights: &[f64],
    limit: usize,
) -> Vec<Evidence> {
    let cover = KeywordCover::new(matches).with_weights(weights.to_vec()).filled();
    let found = cover.extract(graph, &Profile::default(), TripleBudget(limit));
    let evidence = |&triple| Evidence {
        triple: labelled(graph, labels, triple),
        terms: matches.triple(triple).places().map(|place| terms[place].clone()).collect(),
    };
    found.triples.iter().map(evidence).collect()
}

/// A snippet that explains the hit: the query's terms, and what the dataset says most beside them.
pub(super) fn snippet(
    graph: &TripleGraph,
    labels: &Labels<'_>,
    matches: &Matches,
    budget: TripleBudget,
) -> Vec<LabelledTriple> {
    let snippet = OptimalSnippet::new(matches).extract(graph, &Profile::of(graph), budget);
    snippet.triples.iter().map(|&triple| labelled(graph, labels, triple)).collect()
}
