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
    let terms = |kind: FeatureKind, counts: &[(TermId, u64)], most: usize| {
        let named = counts.iter().filter(|(id, _)| graph.is_iri(*id)).take(most);
        named
            .filter_map(|(id, _)| Feature::new(kind, graph.term(*id).text()))
            .collect::<Vec<_>>()
    };
    let spaces = |kind: FeatureKind, counts: &[(String, u64)]| {
        counts
            .iter()
            .take(MAX_SPACES)
            .filter_map(|(space, _)| Feature::new(kind, space))
            .collect::<Vec<_>>()
    };
    [
        terms(FeatureKind::Class, &profile.classes, MAX_TERMS),
        terms(FeatureKind::Property, &profile.properties, MAX_TERMS),
        spaces(FeatureKind::Vocabulary, &profile.vocabularies),
        spaces(FeatureKind::Space, &profile.linkage.spaces),
        spaces(FeatureKind::Target, &profile.links),
        terms(FeatureKind::Entity, &profile.linkage.targets, MAX_ENTITIES),
    ]
    .concat()
}
