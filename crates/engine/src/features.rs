//! The features by which datasets and example graphs are compared: classes, properties, vocabularies and links.

use lodeseek_index::{Feature, FeatureKind};
use lodeseek_profile::Profile;
use lodeseek_rdf::{TermId, TripleGraph};

/// Maximum number of classes, and of properties: the most frequent ones.
const MAX_TERMS: usize = 1000;
/// Maximum number of vocabularies, and of URI spaces of either kind.
const MAX_SPACES: usize = 100;
/// Maximum number of linked entities of other datasets: those with most links. A sample suffices to characterize the links.
const MAX_ENTITIES: usize = 100;

/// Returns the features of a graph. They include `rdf:type`, whose weight is 0 because every dataset has it.
pub(super) fn features(graph: &TripleGraph, profile: &Profile) -> Vec<Feature> {
    let linkage = &profile.linkage;
    [
        term_features(FeatureKind::Class, &profile.classes, graph, MAX_TERMS),
        term_features(FeatureKind::Property, &profile.properties, graph, MAX_TERMS),
        space_features(FeatureKind::Vocabulary, &profile.vocabularies),
        space_features(FeatureKind::Space, &linkage.spaces),
        space_features(FeatureKind::Target, &profile.links),
        term_features(FeatureKind::Entity, &linkage.targets, graph, MAX_ENTITIES),
    ]
    .concat()
}

/// Returns the features of the first IRIs among counted terms, at most `max_terms`.
fn term_features(
    kind: FeatureKind,
    counts: &[(TermId, u64)],
    graph: &TripleGraph,
    max_terms: usize,
) -> Vec<Feature> {
    counts
        .iter()
        .filter(|(id, _)| graph.is_iri(*id))
        .take(max_terms)
        .filter_map(|(id, _)| Feature::new(kind, graph.term(*id).text()))
        .collect()
}

/// Returns the features of the first URI spaces, at most [`MAX_SPACES`].
fn space_features(kind: FeatureKind, counts: &[(String, u64)]) -> Vec<Feature> {
    counts
        .iter()
        .take(MAX_SPACES)
        .filter_map(|(space, _)| Feature::new(kind, space))
        .collect()
}
