//! The triples of a dataset that hold a query's terms: why its content matched.

use crate::index::{Analysis, AnalyzedQuery};
use crate::rdf::{Labels, Triple, TripleGraph};
use crate::snippet::{LabelledTriple, labelled};
use serde::{Deserialize, Serialize};

/// A triple and the query's words in its labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The triple.
    pub triple: LabelledTriple,
    /// The words, as typed, in lower case.
    pub terms: Vec<String>,
}

/// At most `limit` triples: first such as together hold as many terms as possible, rare ones first, then further ones.
///
/// `weights` says how telling each distinct term of the query is.
pub(super) fn find(
    graph: &TripleGraph,
    query: &AnalyzedQuery,
    weights: &[f64],
    analysis: &Analysis,
    limit: usize,
) -> Vec<Evidence> {
    let labels = Labels::for_index(graph);
    let held = terms_by_id(graph, &labels, query, analysis);
    let of_triple =
        |triple: &Triple| held[triple.subject.index()] | held[triple.predicate.index()] | held[triple.object.index()];
    let mut found: Vec<(u64, usize)> = graph
        .triples()
        .iter()
        .enumerate()
        .map(|(place, triple)| (of_triple(triple), place))
        .filter(|(terms, _)| *terms != 0)
        .collect();
    let weight = |terms: u64| -> f64 { bits(terms).map(|bit| weights.get(bit).copied().unwrap_or(0.0)).sum() };
    // Of equal weight: what is said (predicate or object) before what it is said of.
    let said = |place: usize| {
        let triple = graph.triples()[place];
        weight(held[triple.predicate.index()] | held[triple.object.index()])
    };
    found.sort_by(|a, b| {
        weight(b.0).total_cmp(&weight(a.0)).then_with(|| said(b.1).total_cmp(&said(a.1))).then_with(|| a.1.cmp(&b.1))
    });
    let mut chosen: Vec<(u64, usize)> = Vec::new();
    let mut covered = 0;
    for &(terms, place) in &found {
        if chosen.len() < limit && terms & !covered != 0 {
            covered |= terms;
            chosen.push((terms, place));
        }
    }
    let further: Vec<(u64, usize)> =
        found.iter().copied().filter(|one| !chosen.contains(one)).take(limit - chosen.len()).collect();
    chosen.extend(further);
    let display = Labels::for_display(graph, &["en"]);
    let evidence = |(terms, place): (u64, usize)| Evidence {
        triple: labelled(graph, &display, graph.triples()[place]),
        terms: bits(terms).map(|bit| query.distinct[bit].text.clone()).collect(),
    };
    chosen.into_iter().map(evidence).collect()
}

fn bits(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |bit| set >> bit & 1 == 1)
}

/// The query's terms in each term's label, as bits; terms of the query beyond the 64th are not looked for.
fn terms_by_id(graph: &TripleGraph, labels: &Labels<'_>, query: &AnalyzedQuery, analysis: &Analysis) -> Vec<u64> {
    let mut held = vec![0u64; graph.term_count()];
    for id in graph.iris().chain(graph.literals()) {
        let Some(label) = labels.label(id) else { continue };
        for token in analysis.tokens(&label) {
            for (place, _) in query.distinct.iter().take(64).enumerate().filter(|(_, term)| term.is(&token)) {
                held[id.index()] |= 1 << place;
            }
        }
    }
    held
}
