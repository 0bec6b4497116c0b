//! The triples of a dataset that hold a query's terms: why its content matched.

use super::snippets::label_all;
use lodeseek_profile::Profile;
use lodeseek_rdf::TripleGraph;
use lodeseek_snippet::keyword::{KeywordCover, Matches};
use lodeseek_snippet::{LabelledTriple, SnippetExtractor, TripleBudget};
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
    languages: &[String],
    matches: &Matches,
    terms: &[String],
    weights: &[f64],
    limit: usize,
) -> Vec<Evidence> {
    let cover = KeywordCover::new(matches).with_weights(weights.to_vec()).with_filling();
    let found = cover.extract(graph, &Profile::default(), TripleBudget(limit)).triples;
    let held = |&triple| matches.triple(triple).places().map(|place| terms[place].clone()).collect();
    let labelled = label_all(graph, &found, languages);
    labelled.into_iter().zip(&found).map(|(triple, found)| Evidence { triple, terms: held(found) }).collect()
}
