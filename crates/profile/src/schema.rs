//! Schema summary of a dataset: entities per class, links between classes, and examples of entities.
//!
//! Such a summary by classes is the type graph of weak summaries (F. Goasdoué, P. Guzewicz, I. Manolescu: *RDF graph
//! summarization for first-sight structure discovery*, VLDB Journal 2020). It is limited to what a reader can take in:
//! the most frequent [`NODES`] classes and [`EDGES`] links. The numbers of omitted ones are given.
//!
//! *Cost.* One pass over the triples. An entity of many classes counts for its [`CLASSES`] most frequent ones, so a
//! triple counts at most `CLASSES`² times.

use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Maximum number of classes of a schema.
const NODES: usize = 30;
/// Maximum number of links of a schema.
const EDGES: usize = 60;
/// Maximum number of classes for which an entity counts.
const CLASSES: usize = 4;
/// Maximum number of classes with example entities.
const EXAMPLE_CLASSES: usize = 6;
const EXAMPLES: usize = 3;

/// A class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaNode {
    /// IRI of the class; `None` for entities without a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Number of entities.
    pub entities: u64,
    /// Examples: the entities with the most properties, as IRIs or as blank nodes in the form `_:b0`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// Triples with one property from entities of one class to entities of one class, possibly the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaEdge {
    /// Index of the subjects' class in the nodes.
    pub from: usize,
    /// The property.
    pub property: String,
    /// Index of the objects' class in the nodes.
    pub to: usize,
    /// Number of triples.
    pub triples: u64,
}

/// Classes of a graph and the links between them, both by descending count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The classes.
    pub nodes: Vec<SchemaNode>,
    /// The links.
    pub edges: Vec<SchemaEdge>,
    /// Number of classes that are not in `nodes`.
    pub more_nodes: u64,
    /// Number of links that are not in `edges`, including those of omitted classes.
    pub more_edges: u64,
}

/// Class; `None` for entities without a class.
type Class = Option<TermId>;

impl Schema {
    /// Creates the schema of a graph.
    #[must_use]
    pub fn new(graph: &TripleGraph) -> Self {
        let described = EntityClasses::new(graph);
        let edges = described.edges(graph);
        let mut linked: FxHashMap<Class, u64> = FxHashMap::default();
        for (&(from, _, to), &count) in &edges {
            *linked.entry(from).or_default() += count;
            *linked.entry(to).or_default() += count;
        }
        let weight = |class: &Class| described.counts[class] + linked.get(class).copied().unwrap_or_default();
        let mut classes: Vec<Class> = described.counts.keys().copied().collect();
        classes.sort_unstable_by_key(|class| (std::cmp::Reverse(weight(class)), *class));
        let more_nodes = classes.len().saturating_sub(NODES) as u64;
        classes.truncate(NODES);
        classes.sort_unstable_by_key(|class| (std::cmp::Reverse(described.counts[class]), *class));
        let places: FxHashMap<Class, usize> =
            classes.iter().enumerate().map(|(place, class)| (*class, place)).collect();
        let total = edges.len();
        let mut edges = shown(graph, edges, &places);
        edges.truncate(EDGES);
        let more_edges = (total - edges.len()) as u64;
        Self { nodes: described.nodes(graph, &classes), edges, more_nodes, more_edges }
    }

    /// If true, there are no classes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// Returns the edges between classes with an index, by descending number of triples.
fn shown(
    graph: &TripleGraph,
    edges: FxHashMap<(Class, TermId, Class), u64>,
    places: &FxHashMap<Class, usize>,
) -> Vec<SchemaEdge> {
    let mut kept: Vec<(u64, usize, TermId, usize)> = edges
        .into_iter()
        .filter_map(|((from, property, to), triples)| Some((triples, *places.get(&from)?, property, *places.get(&to)?)))
        .collect();
    kept.sort_unstable_by_key(|&(triples, from, property, to)| (std::cmp::Reverse(triples), from, to, property));
    let edge = |(triples, from, property, to)| SchemaEdge {
        from,
        property: graph.term(property).text().to_owned(),
        to,
        triples,
    };
    kept.into_iter().map(edge).collect()
}

/// Classes of the entities of a graph.
struct EntityClasses {
    kind: Option<TermId>,
    /// Entities by class.
    counts: FxHashMap<Class, u64>,
    /// The classes for which each subject counts, one subject after another.
    classes: Vec<Class>,
    /// For each term, the position of its first class; one entry more.
    starts: Vec<u32>,
}

impl EntityClasses {
    fn new(graph: &TripleGraph) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let is_class = |triple: &&Triple| Some(triple.predicate) == kind && graph.is_resource(triple.object);
        let mut counts: FxHashMap<Class, u64> = FxHashMap::default();
        for triple in graph.triples().iter().filter(is_class) {
            *counts.entry(Some(triple.object)).or_default() += 1;
        }
        let mut untyped = 0;
        let (mut classes, mut starts) = (Vec::new(), Vec::with_capacity(graph.term_count() + 1));
        for triples in descriptions(graph) {
            starts.resize(triples[0].subject.index() + 1, classes.len() as u32);
            let start = classes.len();
            classes.extend(triples.iter().filter(is_class).map(|triple| Some(triple.object)));
            if classes.len() > start + CLASSES {
                classes[start..].sort_unstable_by_key(|class| (std::cmp::Reverse(counts[class]), *class));
                classes.truncate(start + CLASSES);
            }
            if classes.len() == start {
                classes.push(None);
                untyped += 1;
            }
        }
        starts.resize(graph.term_count() + 1, classes.len() as u32);
        if untyped > 0 {
            counts.insert(None, untyped);
        }
        Self { kind, counts, classes, starts }
    }

    /// Returns the classes for which an entity counts; none for a term that the graph does not describe.
    fn classes(&self, entity: TermId) -> &[Class] {
        &self.classes[self.starts[entity.index()] as usize..self.starts[entity.index() + 1] as usize]
    }

    fn edges(&self, graph: &TripleGraph) -> FxHashMap<(Class, TermId, Class), u64> {
        let mut edges = FxHashMap::default();
        for triple in graph.triples() {
            if Some(triple.predicate) == self.kind || !graph.is_resource(triple.object) {
                continue;
            }
            for &from in self.classes(triple.subject) {
                for &to in self.classes(triple.object) {
                    *edges.entry((from, triple.predicate, to)).or_default() += 1;
                }
            }
        }
        edges
    }

    fn nodes(&self, graph: &TripleGraph, classes: &[Class]) -> Vec<SchemaNode> {
        let mut examples = self.examples(graph, &classes[..classes.len().min(EXAMPLE_CLASSES)]);
        let node = |class: &Class| SchemaNode {
            class: class.map(|class| name(graph, class)),
            entities: self.counts[class],
            examples: examples.remove(class).unwrap_or_default(),
        };
        classes.iter().map(node).collect()
    }

    /// Returns the entities with the most properties for some classes, IRIs before blank nodes. Ties keep the order of
    /// the graph.
    fn examples(&self, graph: &TripleGraph, classes: &[Class]) -> FxHashMap<Class, Vec<String>> {
        let mut best: FxHashMap<Class, Vec<(bool, usize, TermId)>> =
            classes.iter().map(|class| (*class, Vec::new())).collect();
        for triples in descriptions(graph) {
            let subject = triples[0].subject;
            let told = (graph.is_iri(subject), properties(triples));
            for class in self.classes(subject) {
                let Some(best) = best.get_mut(class) else { continue };
                let place = best.partition_point(|&(is_iri, properties, _)| (is_iri, properties) >= told);
                if place < EXAMPLES {
                    best.insert(place, (told.0, told.1, subject));
                    best.truncate(EXAMPLES);
                }
            }
        }
        let named = |best: Vec<(bool, usize, TermId)>| best.into_iter().map(|(_, _, id)| name(graph, id)).collect();
        best.into_iter().map(|(class, best)| (class, named(best))).collect()
    }
}

/// Returns the IRI, or the blank node in the form `_:b0`.
fn name(graph: &TripleGraph, id: TermId) -> String {
    let text = graph.term(id).text();
    if graph.is_iri(id) { text.to_owned() } else { format!("_:{text}") }
}

/// Iterates over the triples of each subject. The triples of a graph are sorted by subject.
fn descriptions(graph: &TripleGraph) -> impl Iterator<Item = &[Triple]> {
    graph.triples().chunk_by(|one, next| one.subject == next.subject)
}

/// Returns the number of distinct properties of a subject. Its triples are sorted by property.
fn properties(triples: &[Triple]) -> usize {
    triples.chunk_by(|one, next| one.predicate == next.predicate).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn schema_of(turtle: &str) -> Schema {
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        Schema::new(&builder.finish())
    }

    #[test]
    fn classes_and_links_are_counted() {
        let schema = schema_of(
            "@prefix : <http://e.org/> . :a a :Person ; :knows :b, :c ; :name \"A\" ; :in :rome ; :sees :nobody .
             :b a :Person ; :knows :a . :c a :Person . :rome a :City, :Place ; :mayor [ :name \"M\" ] .",
        );
        let class = |place: usize| schema.nodes[place].class.as_deref().unwrap_or("none").replace("http://e.org/", "");
        let nodes: Vec<_> = (0..schema.nodes.len()).map(|place| (class(place), schema.nodes[place].entities)).collect();
        let expected = [("Person", 3), ("none", 1), ("City", 1), ("Place", 1)].map(|(name, n)| (name.to_owned(), n));
        assert_eq!(nodes, expected);
        let edges: Vec<_> = schema.edges.iter().map(|e| (class(e.from), class(e.to), e.triples)).collect();
        assert!(edges[0] == ("Person".to_owned(), "Person".to_owned(), 3), "{edges:?}");
        assert_eq!(edges.len(), 5, "to City and Place, from both to the node of no class: {edges:?}");
        assert_eq!(schema.nodes[0].examples, ["http://e.org/a", "http://e.org/b", "http://e.org/c"]);
        assert_eq!(schema.nodes[1].examples, ["_:b0"]);
        assert_eq!((schema.more_nodes, schema.more_edges), (0, 0));
    }

    proptest! {
        /// Every class and link, counted by scans of all triples.
        #[test]
        fn as_counted_by_scans(triples in prop::collection::vec((0_u8..6, 0_u8..4, 0_u8..9), 0..40)) {
            let term = |number: u8| if number < 6 { format!("<http://e.org/{number}>") } else { format!("\"{number}\"") };
            let property = |number: u8| if number == 0 { "a".to_owned() } else { format!("<http://e.org/p{number}>") };
            let turtle: String =
                triples.iter().map(|&(s, p, o)| format!("{} {} {} .\n", term(s), property(p), term(o))).collect();
            let schema = schema_of(&turtle);
            let triples: BTreeSet<(u8, u8, u8)> = triples.into_iter().collect();
            let classes = |entity: u8| -> Vec<Option<u8>> {
                let all: Vec<u8> =
                    triples.iter().filter(|(s, p, o)| (*s, *p) == (entity, 0) && *o < 6).map(|(_, _, o)| *o).collect();
                let count = |class: u8| triples.iter().filter(|(_, p, o)| (*p, *o) == (0, class)).count();
                let mut kept = all;
                kept.sort_by_key(|class| (std::cmp::Reverse(count(*class)), *class));
                kept.truncate(CLASSES);
                let is_described = triples.iter().any(|(s, _, _)| *s == entity);
                if kept.is_empty() && is_described { vec![None] } else { kept.into_iter().map(Some).collect() }
            };
            let mut edges: BTreeMap<(Option<String>, String, Option<String>), u64> = BTreeMap::new();
            let name = |class: Option<u8>| class.map(|class| format!("http://e.org/{class}"));
            for &(s, p, o) in triples.iter().filter(|(_, p, o)| *p != 0 && *o < 6) {
                for from in classes(s) {
                    for to in classes(o) {
                        *edges.entry((name(from), format!("http://e.org/p{p}"), name(to))).or_default() += 1;
                    }
                }
            }
            let class = |place: usize| schema.nodes[place].class.clone();
            let found: BTreeMap<_, u64> =
                schema.edges.iter().map(|e| ((class(e.from), e.property.clone(), class(e.to)), e.triples)).collect();
            prop_assert_eq!(schema.more_edges, (edges.len() - found.len()) as u64);
            prop_assert!(found.iter().all(|(edge, count)| edges.get(edge) == Some(count)), "{:?} {:?}", found, edges);
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let classes: String =
            (0..40).map(|n| format!(":e{n} a :C{n} ; :p{n} :e{} . :f{n} a :C{n} .\n", (n + 1) % 40)).collect();
        let schema = schema_of(&format!("@prefix : <http://e.org/> .\n{classes}"));
        assert_eq!((schema.nodes.len(), schema.more_nodes), (NODES, 10));
        assert_eq!(schema.edges.len() as u64 + schema.more_edges, 40);
        assert!(schema.edges.iter().all(|edge| edge.from < NODES && edge.to < NODES));
        assert!(schema_of("").is_empty());
    }
}
