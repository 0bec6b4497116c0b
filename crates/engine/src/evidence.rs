//! Evidence: the triples of a dataset that contain a query's terms.

use super::snippets::label_all;
use lodeseek_profile::Profile;
use lodeseek_rdf::{TableGraph, TripleGraph};
use lodeseek_snippet::keyword::{KeywordCover, Matches};
use lodeseek_snippet::{LabelledTriple, SnippetExtractor, TripleBudget};
use serde::{Deserialize, Serialize};

/// A triple and the query's terms in its labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The triple.
    pub triple: LabelledTriple,
    /// The number of the row, beginning with 1, if the triple is a cell of a table. The predicate is the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// The words, as typed, in lower case.
    pub terms: Vec<String>,
}

/// Returns at most `limit` triples: first the fewest that together contain as many terms as possible, then further ones.
///
/// `weights` has one weight for each distinct term of the query; terms with a higher weight are covered first. `work` is the
/// bound of [`KeywordCover::with_work`].
pub(super) fn find(
    graph: &TripleGraph,
    languages: &[String],
    matches: &Matches,
    terms: &[String],
    weights: &[f64],
    limit: usize,
    work: Option<u64>,
) -> Vec<Evidence> {
    let cover = KeywordCover::new(matches)
        .with_weights(weights.to_vec())
        .with_filling()
        .with_work(work.unwrap_or(u64::MAX));
    let triples = cover
        .extract(graph, &Profile::default(), TripleBudget(limit))
        .triples;
    let labelled = label_all(graph, &triples, languages);
    let tables = TableGraph::new(graph);
    let mut evidence = Vec::with_capacity(triples.len());
    for (labelled, triple) in labelled.into_iter().zip(triples) {
        let matched = matches
            .triple(triple)
            .places()
            .map(|place| terms[place].clone());
        let row = tables
            .as_ref()
            .filter(|tables| tables.is_column(triple.predicate))
            .and_then(|tables| tables.row_number(triple.subject));
        evidence.push(Evidence {
            triple: labelled,
            row,
            terms: matched.collect(),
        });
    }
    evidence
}
