//! What a dataset, or an example, may have in common with others: its features, from its profile.

use lodeseek_index::{Feature, FeatureKind};
use lodeseek_profile::Profile;
use lodeseek_rdf::{TermId, TripleGraph};

/// Classes, and properties, that are features: the most frequent ones.
const TERMS: usize = 1000;
/// Vocabularies, and URI spaces of either kind.
const SPACES: usize = 100;
/// Entities of others: those with most links. They tell what kind of links these are; all of them would be the dataset.
const ENTITIES: usize = 100;

/// The features of a graph. `rdf:type` is one too: that everything has it, makes it count for nothing.
pub(super) fn features(graph: &TripleGraph, profile: &Profile) -> Vec<Feature> {
    let terms = |kind: FeatureKind, counts: &[(TermId, u64)], most: usize| {
        let named = counts.iter().filter(|(id, _)| graph.is_iri(*id)).take(most);
        named.filter_map(|(id, _)| Feature::new(kind, graph.term(*id).text())).collect::<Vec<_>>()
    };
    let spaces = |kind: FeatureKind, counts: &[(String, u64)]| {
        counts.iter().take(SPACES).filter_map(|(space, _)| Feature::new(kind, space)).collect::<Vec<_>>()
    };
    [
        terms(FeatureKind::Class, &profile.classes, TERMS),
        terms(FeatureKind::Property, &profile.properties, TERMS),
        spaces(FeatureKind::Vocabulary, &profile.vocabularies),
        spaces(FeatureKind::Space, &profile.linkage.spaces),
        spaces(FeatureKind::Target, &profile.links),
        terms(FeatureKind::Entity, &profile.linkage.targets, ENTITIES),
    ]
    .concat()
}
