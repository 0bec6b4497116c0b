//! Datasets that a description only refers to.
//!
//! A catalogue or a page may repeat a few facts on another dataset, for example on that from which a dataset is derived. Such
//! a node is no entry of the catalogue, and neither are the licence and the files of a dataset, whatever their class is.

use super::schema_org;
use lodeseek_rdf::vocab::{dc11, dcat, dcterms, rdf, rdfs, skos, void};
use lodeseek_rdf::{TermId, TripleGraph, local_name};
use rustc_hash::{FxHashMap, FxHashSet};

/// Properties of a dataset whose values are no datasets.
const OWNED: &[&str] = &["distribution", "encoding", "license", "rights", "usageInfo"];
/// Properties that refer to a dataset in another place.
const REFERRING: &[&str] = &[
    "alternateOf",
    "citation",
    "entity",
    "exampleOfWork",
    "hadPrimarySource",
    "hasFormat",
    "hasVersion",
    "includedInDataCatalog",
    "inSeries",
    "isBasedOn",
    "isBasedOnUrl",
    "isFormatOf",
    "isPartOf",
    "isReferencedBy",
    "isRelatedTo",
    "isReplacedBy",
    "isRequiredBy",
    "isSimilarTo",
    "isVersionOf",
    "next",
    "predecessorOf",
    "prev",
    "previousVersion",
    "references",
    "relation",
    "replaces",
    "requires",
    "sameAs",
    "source",
    "specializationOf",
    "successorOf",
    "supersededBy",
    "translationOfWork",
    "used",
    "versionOf",
    "wasDerivedFrom",
    "wasRevisionOf",
];
/// Properties of schema.org that identify a dataset without describing it.
const IDENTIFYING: &[&str] = &[
    "alternateName",
    "headline",
    "identifier",
    "name",
    "sameAs",
    "url",
];
/// Properties with which a dataset of DCAT is an entry of its own.
const DESCRIBING: &[&str] = &[
    dcterms::TITLE,
    dc11::TITLE,
    rdfs::LABEL,
    skos::PREF_LABEL,
    dcterms::DESCRIPTION,
    dcat::DISTRIBUTION,
    void::DATA_DUMP,
];

/// Kind of a link to a dataset. The order of the variants is their precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    Reference,
    Owned,
    Other,
}

impl Link {
    fn from_property(property: &str) -> Self {
        let name = local_name(property);
        if OWNED.contains(&name) {
            Self::Owned
        } else if REFERRING.contains(&name) {
            Self::Reference
        } else {
            Self::Other
        }
    }
}

/// Removes the nodes that are only licences, files or references in the descriptions of others.
pub(super) fn without_references(graph: &TripleGraph, nodes: Vec<TermId>) -> Vec<TermId> {
    let known: FxHashSet<TermId> = nodes.iter().copied().collect();
    let mut kinds: FxHashMap<TermId, Link> = FxHashMap::default();
    let mut links: FxHashMap<TermId, Link> = FxHashMap::default();
    for triple in graph.triples() {
        if triple.subject == triple.object || !known.contains(&triple.object) {
            continue;
        }
        let property = graph.term(triple.predicate).text();
        let kind = *kinds
            .entry(triple.predicate)
            .or_insert_with(|| Link::from_property(property));
        let link = links.entry(triple.object).or_insert(kind);
        *link = kind.max(*link);
    }
    let entries = nodes.into_iter().filter(|node| match links.get(node) {
        Some(Link::Owned) => false,
        Some(Link::Reference) => is_described(graph, *node),
        Some(Link::Other) | None => true,
    });
    entries.collect()
}

/// If true, the graph states more of a dataset than a reference needs.
fn is_described(graph: &TripleGraph, node: TermId) -> bool {
    graph.subject_triples(node).iter().any(|triple| {
        let property = graph.term(triple.predicate);
        match schema_org::local_name(property) {
            Some(name) => !IDENTIFYING.contains(&name),
            None => property.text() != rdf::TYPE && DESCRIBING.contains(&property.text()),
        }
    })
}
