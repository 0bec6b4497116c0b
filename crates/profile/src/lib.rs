#![doc = include_str!("../README.md")]

mod linkage;
pub mod pattern;
mod schema;
mod shapes;
mod streamed;
mod table_sketch;
mod tables;
mod void;

pub use linkage::Linkage;
pub use pattern::{
    CountedLinkPattern, Element, EntityPattern, LinkPattern, LinkPatternCount, LinkPatternId,
    PatternId, PatternSummary, Patterns,
};
pub use schema::{Schema, SchemaEdge, SchemaNode};
pub use shapes::{NodeKinds, NodeShape, PropertyShape, Shapes};
pub use table_sketch::{
    ColumnSketch, ComparableTables, ComparedTable, JoinableColumns, KeyColumn, SharedValues,
    TableOverlap, TableSketch, UnionableTables,
};
pub use tables::TableSummary;

use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, TripleGraph, namespace};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Maximum length of a name in a summary and a schema, in bytes: they have hundreds of names.
const MAX_NAME_BYTES: usize = 2_000;

/// Counts of one graph, by term id. Lists are sorted by count, descending, then by term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Distinct triples.
    pub triples: u64,
    /// IRIs and blank nodes that are subjects, or objects of triples other than `rdf:type`.
    pub entities: u64,
    /// Distinct subjects.
    pub distinct_subjects: u64,
    /// Distinct objects, literals included.
    pub distinct_objects: u64,
    /// Distinct literals.
    pub literals: u64,
    /// Triples of `rdf:type`.
    pub type_triples: u64,
    /// (class, entities of that class): the triples of `rdf:type` with that object.
    pub classes: Vec<(TermId, u64)>,
    /// (property, triples with it).
    pub properties: Vec<(TermId, u64)>,
    /// (namespace, triples that use a property or class of it).
    pub vocabularies: Vec<(String, u64)>,
    /// (language tag in lower case, distinct literals in it).
    pub languages: Vec<(String, u64)>,
    /// (URI space of another data source, triples whose object lies there and is not described here).
    pub links: Vec<(String, u64)>,
    /// The spaces and entities behind `links`.
    pub linkage: Linkage,
    /// Tables with the facts that their reader stated. Empty for a graph that exceeds memory.
    pub tables: Vec<TableSummary>,
}

impl Profile {
    /// Counts a graph in two passes over its triples and two over its terms.
    #[must_use]
    pub fn new(graph: &TripleGraph) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let mut subjects = vec![false; graph.term_count()];
        let mut objects = vec![false; graph.term_count()];
        let mut entities = vec![false; graph.term_count()];
        let mut properties: FxHashMap<TermId, u64> = FxHashMap::default();
        let mut classes: FxHashMap<TermId, u64> = FxHashMap::default();
        let mut type_triples = 0;
        for triple in graph.triples() {
            subjects[triple.subject.index()] = true;
            objects[triple.object.index()] = true;
            entities[triple.subject.index()] = true;
            *properties.entry(triple.predicate).or_default() += 1;
            if Some(triple.predicate) == kind {
                type_triples += 1;
                if graph.is_resource(triple.object) {
                    *classes.entry(triple.object).or_default() += 1;
                }
            } else if graph.is_resource(triple.object) {
                entities[triple.object.index()] = true;
            }
        }
        let linkage = Linkage::new(graph);
        Self {
            triples: graph.len() as u64,
            entities: count_marks(&entities),
            distinct_subjects: count_marks(&subjects),
            distinct_objects: count_marks(&objects),
            literals: graph.literals().count() as u64,
            type_triples,
            vocabularies: count_vocabularies(graph, &classes, &properties),
            languages: count_languages(graph),
            links: linkage.links(graph),
            linkage,
            classes: sort_by_count(classes),
            properties: sort_by_count(properties),
            tables: tables::tables(graph),
        }
    }

    /// Returns the profile with names instead of ids, for display and exchange. Lists contain at most `max_entries`
    /// entries, and no name of more than 2,000 bytes.
    #[must_use]
    pub fn summary(&self, graph: &TripleGraph, max_entries: usize) -> Summary {
        Summary {
            triples: self.triples,
            entities: self.entities,
            literals: self.literals,
            class_count: self.classes.len() as u64,
            property_count: self.properties.len() as u64,
            classes: select_terms(graph, &self.classes, max_entries),
            properties: select_terms(graph, &self.properties, max_entries),
            vocabularies: select_names(&self.vocabularies, max_entries),
            languages: select_names(&self.languages, max_entries),
            links: select_names(&self.links, max_entries),
            tables: self.tables.iter().take(max_entries).cloned().collect(),
        }
    }
}

/// A profile with names instead of term ids. [`Profile`] defines the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are those of `Profile`; the two counts are the lengths of the whole lists"
)]
pub struct Summary {
    pub triples: u64,
    pub entities: u64,
    pub literals: u64,
    pub class_count: u64,
    pub property_count: u64,
    pub classes: Vec<(String, u64)>,
    pub properties: Vec<(String, u64)>,
    pub vocabularies: Vec<(String, u64)>,
    pub languages: Vec<(String, u64)>,
    pub links: Vec<(String, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableSummary>,
}

fn count_marks(marks: &[bool]) -> u64 {
    marks.iter().filter(|mark| **mark).count() as u64
}

/// Returns the names of the first terms, without the long ones.
fn select_terms(
    graph: &TripleGraph,
    counts: &[(TermId, u64)],
    max_entries: usize,
) -> Vec<(String, u64)> {
    counts
        .iter()
        .map(|&(id, count)| (graph.term(id).text(), count))
        .filter(|(name, _)| name.len() <= MAX_NAME_BYTES)
        .take(max_entries)
        .map(|(name, count)| (name.to_owned(), count))
        .collect()
}

/// Returns the first names, without the long ones.
fn select_names(counts: &[(String, u64)], max_entries: usize) -> Vec<(String, u64)> {
    counts
        .iter()
        .filter(|(name, _)| name.len() <= MAX_NAME_BYTES)
        .take(max_entries)
        .cloned()
        .collect()
}

/// Sorts by descending count, then by key.
fn sort_by_count<K: Ord>(counts: FxHashMap<K, u64>) -> Vec<(K, u64)> {
    let mut counts: Vec<(K, u64)> = counts.into_iter().collect();
    counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

fn count_vocabularies(
    graph: &TripleGraph,
    classes: &FxHashMap<TermId, u64>,
    properties: &FxHashMap<TermId, u64>,
) -> Vec<(String, u64)> {
    let mut counts: FxHashMap<&str, u64> = FxHashMap::default();
    for (&id, &count) in classes.iter().chain(properties) {
        if let Some(namespace) = namespace(graph.term(id).text()).filter(|_| graph.is_iri(id)) {
            *counts.entry(namespace).or_default() += count;
        }
    }
    sort_by_count(
        counts
            .into_iter()
            .map(|(namespace, count)| (namespace.to_owned(), count))
            .collect(),
    )
}

fn count_languages(graph: &TripleGraph) -> Vec<(String, u64)> {
    let mut counts: FxHashMap<&str, u64> = FxHashMap::default();
    for id in graph.literals() {
        if let Some(tag) = graph.term(id).language() {
            *counts.entry(tag).or_default() += 1;
        }
    }
    let mut lowered: FxHashMap<String, u64> = FxHashMap::default();
    for (tag, count) in counts {
        *lowered.entry(tag.to_ascii_lowercase()).or_default() += count;
    }
    sort_by_count(lowered)
}

/// Returns scheme and authority with a final slash, for example `http://dbpedia.org/`.
fn uri_space(iri: &str) -> Option<&str> {
    let authority = iri.find("://")? + 3;
    let end = authority + iri[authority..].find('/')? + 1;
    iri.starts_with("http").then(|| &iri[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;

    fn profile_of(turtle: &str) -> Summary {
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        let graph = builder.finish();
        Profile::new(&graph).summary(&graph, 10)
    }

    #[test]
    fn counts_by_hand() {
        let summary = profile_of(
            "@prefix e: <http://e.org/> . @prefix v: <http://v.org/ns#> .
             e:a a v:City ; v:name \"A\"@en, \"Ä\"@de ; v:near e:b, <http://dbpedia.org/resource/X> .
             e:b a v:City ; v:near e:a ; v:size 3 .",
        );
        assert_eq!(
            (summary.triples, summary.entities, summary.literals),
            (8, 3, 3)
        );
        assert_eq!(summary.classes, [("http://v.org/ns#City".to_owned(), 2)]);
        assert_eq!(
            summary.properties[0],
            ("http://v.org/ns#near".to_owned(), 3)
        );
        assert_eq!(
            summary.languages,
            [("de".to_owned(), 1), ("en".to_owned(), 1)]
        );
        assert_eq!(summary.links, [("http://dbpedia.org/".to_owned(), 1)]);
        assert_eq!(summary.vocabularies[0], ("http://v.org/ns#".to_owned(), 8));
    }

    #[test]
    fn long_names_are_not_listed() {
        let long = "a".repeat(MAX_NAME_BYTES);
        let summary = profile_of(&format!(
            "<e:s> a <e:{long}> , <e:C> ; <http://e.org/{long}/p> 1 ; <http://e.org/p> 1 ."
        ));
        assert_eq!((summary.class_count, summary.property_count), (2, 3));
        assert_eq!((summary.classes.len(), summary.properties.len()), (1, 2));
        assert!(
            summary
                .vocabularies
                .iter()
                .all(|(name, _)| name.len() <= MAX_NAME_BYTES)
        );
    }

    #[test]
    fn nothing_has_a_profile_of_zeros() {
        assert_eq!(profile_of(""), Summary::default());
    }
}
