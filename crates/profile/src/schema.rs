//! Schema summary of a dataset: entities per class, links between classes, and examples of entities.
//!
//! Such a summary by classes is the type graph of weak summaries (F. Goasdoué, P. Guzewicz, I. Manolescu: *RDF graph
//! summarization for first-sight structure discovery*, VLDB Journal 2020). It is limited to what a reader can take in:
//! the most frequent [`MAX_SCHEMA_CLASSES`] classes and [`MAX_SCHEMA_LINKS`] links. The numbers of omitted ones are given.
//!
//! *Cost.* Four passes over the triples. An entity of many classes counts for its [`MAX_ENTITY_CLASSES`] most frequent ones, so a
//! triple counts at most `MAX_ENTITY_CLASSES`² times.

use super::MAX_NAME_BYTES;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{StreamedGraph, TermId, Triple, TripleGraph};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;

/// Maximum number of classes of a schema.
const MAX_SCHEMA_CLASSES: usize = 30;
/// Maximum number of links of a schema.
const MAX_SCHEMA_LINKS: usize = 60;
/// Maximum number of classes for which an entity counts.
const MAX_ENTITY_CLASSES: usize = 4;
/// Maximum number of classes with example entities.
const MAX_EXAMPLE_CLASSES: usize = 6;
const MAX_EXAMPLES: usize = 3;

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
        // A graph in memory is read without errors.
        let numbered = NumberedSchema::new(graph).unwrap_or_default();
        numbered.with_names(|id| format_name(graph.term(id).text(), graph.is_iri(id)))
    }

    /// Creates the same schema of a streamed graph, in four passes over its triples. Memory: 12 bytes for each entity.
    ///
    /// # Errors
    /// If the graph cannot be read.
    pub fn from_stream(graph: &StreamedGraph) -> io::Result<Self> {
        let numbered = NumberedSchema::new(graph)?;
        let ids: Vec<TermId> = numbered.terms().into_iter().collect();
        let selected = graph.select_terms(&ids)?;
        Ok(numbered.with_names(|id| match ids.binary_search(&id) {
            Ok(place) => format_name(selected.term(TermId(place as u32)).text(), graph.is_iri(id)),
            Err(_) => String::new(),
        }))
    }

    /// If true, there are no classes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Keeps the classes for which `keeps` returns true, entities without a class, and the links between them.
    pub fn retain_classes(&mut self, keeps: impl Fn(&str) -> bool) {
        let mut new_places = Vec::with_capacity(self.nodes.len());
        let mut kept = 0;
        self.nodes.retain(|node| {
            let is_kept = node.class.as_deref().is_none_or(&keeps);
            new_places.push(is_kept.then_some(kept));
            kept += usize::from(is_kept);
            is_kept
        });
        self.edges.retain_mut(|edge| {
            let (Some(from), Some(to)) = (new_places[edge.from], new_places[edge.to]) else {
                return false;
            };
            (edge.from, edge.to) = (from, to);
            true
        });
    }
}

/// Graph whose triples are read in order.
trait TripleSource {
    fn kind(&self) -> io::Result<Option<TermId>>;
    fn is_iri(&self, id: TermId) -> bool;
    fn is_resource(&self, id: TermId) -> bool;
    fn each(&self) -> io::Result<impl Iterator<Item = io::Result<Triple>>>;
}

impl TripleSource for TripleGraph {
    fn kind(&self) -> io::Result<Option<TermId>> {
        Ok(self.iri(rdf::TYPE))
    }

    fn is_iri(&self, id: TermId) -> bool {
        self.is_iri(id)
    }

    fn is_resource(&self, id: TermId) -> bool {
        self.is_resource(id)
    }

    fn each(&self) -> io::Result<impl Iterator<Item = io::Result<Triple>>> {
        Ok(self.triples().iter().map(|triple| Ok(*triple)))
    }
}

impl TripleSource for StreamedGraph {
    fn kind(&self) -> io::Result<Option<TermId>> {
        self.iri(rdf::TYPE)
    }

    fn is_iri(&self, id: TermId) -> bool {
        self.is_iri(id)
    }

    fn is_resource(&self, id: TermId) -> bool {
        self.is_resource(id)
    }

    fn each(&self) -> io::Result<impl Iterator<Item = io::Result<Triple>>> {
        self.triples()
    }
}

/// Schema with numbers in place of names.
#[derive(Default)]
struct NumberedSchema {
    /// Class, number of entities, and examples.
    nodes: Vec<(Class, u64, Vec<TermId>)>,
    /// Triples, index of the subjects' class, property, and index of the objects' class.
    edges: Vec<(u64, usize, TermId, usize)>,
    more_nodes: u64,
    more_edges: u64,
}

impl NumberedSchema {
    fn new(graph: &impl TripleSource) -> io::Result<Self> {
        let described = EntityClasses::new(graph)?;
        let edges = described.edges(graph)?;
        let mut linked: FxHashMap<Class, u64> = FxHashMap::default();
        for (&(from, _, to), &count) in &edges {
            *linked.entry(from).or_default() += count;
            *linked.entry(to).or_default() += count;
        }
        let mut classes: Vec<Class> = described.counts.keys().copied().collect();
        classes.sort_unstable_by_key(|class| {
            let links = linked.get(class).copied().unwrap_or_default();
            (std::cmp::Reverse(described.counts[class] + links), *class)
        });
        let more_nodes = classes.len().saturating_sub(MAX_SCHEMA_CLASSES) as u64;
        classes.truncate(MAX_SCHEMA_CLASSES);
        classes.sort_unstable_by_key(|class| (std::cmp::Reverse(described.counts[class]), *class));
        let places: FxHashMap<Class, usize> = classes
            .iter()
            .enumerate()
            .map(|(place, class)| (*class, place))
            .collect();
        let total = edges.len();
        let mut edges = select_edges(edges, &places);
        edges.truncate(MAX_SCHEMA_LINKS);
        let more_edges = (total - edges.len()) as u64;
        Ok(Self {
            nodes: described.nodes(graph, &classes)?,
            edges,
            more_nodes,
            more_edges,
        })
    }

    /// Returns the terms that need a name.
    fn terms(&self) -> BTreeSet<TermId> {
        let nodes = self
            .nodes
            .iter()
            .flat_map(|(class, _, examples)| class.iter().chain(examples));
        nodes
            .copied()
            .chain(self.edges.iter().map(|edge| edge.2))
            .collect()
    }

    /// Replaces ids by names. Longer names of classes and properties are cut, and end with an ellipsis.
    fn with_names(self, full_name: impl Fn(TermId) -> String) -> Schema {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for (class, entities, examples) in self.nodes {
            nodes.push(SchemaNode {
                class: class.map(|class| shorten_name(full_name(class))),
                entities,
                // A part of an IRI names another entity.
                examples: examples
                    .into_iter()
                    .map(&full_name)
                    .filter(|name| name.len() <= MAX_NAME_BYTES)
                    .collect(),
            });
        }
        let mut edges = Vec::with_capacity(self.edges.len());
        for (triples, from, property, to) in self.edges {
            edges.push(SchemaEdge {
                from,
                property: shorten_name(full_name(property)),
                to,
                triples,
            });
        }
        Schema {
            nodes,
            edges,
            more_nodes: self.more_nodes,
            more_edges: self.more_edges,
        }
    }
}

/// Cuts a long name, and ends it with an ellipsis.
fn shorten_name(mut name: String) -> String {
    if name.len() > MAX_NAME_BYTES {
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        name.push('…');
    }
    name
}

/// Returns the edges between classes with an index, by descending number of triples.
fn select_edges(
    edges: FxHashMap<(Class, TermId, Class), u64>,
    places: &FxHashMap<Class, usize>,
) -> Vec<(u64, usize, TermId, usize)> {
    let mut kept: Vec<(u64, usize, TermId, usize)> = edges
        .into_iter()
        .filter_map(|((from, property, to), triples)| {
            Some((triples, *places.get(&from)?, property, *places.get(&to)?))
        })
        .collect();
    kept.sort_unstable_by_key(|&(triples, from, property, to)| {
        (std::cmp::Reverse(triples), from, to, property)
    });
    kept
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
    fn new(graph: &impl TripleSource) -> io::Result<Self> {
        let kind = graph.kind()?;
        let mut counts: FxHashMap<Class, u64> = FxHashMap::default();
        for triple in graph.each()? {
            let triple = triple?;
            if Some(triple.predicate) == kind && graph.is_resource(triple.object) {
                *counts.entry(Some(triple.object)).or_default() += 1;
            }
        }
        let mut untyped = 0;
        let (mut classes, mut starts): (Vec<Class>, Vec<u32>) = (Vec::new(), Vec::new());
        each_description(graph, kind, |description| {
            // Terms without a description get an empty range.
            starts.resize(description.subject.index() + 1, classes.len() as u32);
            let start = classes.len();
            classes.extend(description.classes.iter().map(|class| Some(*class)));
            if classes.len() > start + MAX_ENTITY_CLASSES {
                classes[start..]
                    .sort_unstable_by_key(|class| (std::cmp::Reverse(counts[class]), *class));
                classes.truncate(start + MAX_ENTITY_CLASSES);
            }
            if classes.len() == start {
                classes.push(None);
                untyped += 1;
            }
        })?;
        starts.push(classes.len() as u32);
        if untyped > 0 {
            counts.insert(None, untyped);
        }
        Ok(Self {
            kind,
            counts,
            classes,
            starts,
        })
    }

    /// Returns the classes for which an entity counts; none for a term that the graph does not describe.
    fn classes(&self, entity: TermId) -> &[Class] {
        // Terms after the last subject have no start.
        let Some(&end) = self.starts.get(entity.index() + 1) else {
            return &[];
        };
        &self.classes[self.starts[entity.index()] as usize..end as usize]
    }

    fn edges(
        &self,
        graph: &impl TripleSource,
    ) -> io::Result<FxHashMap<(Class, TermId, Class), u64>> {
        let mut edges = FxHashMap::default();
        for triple in graph.each()? {
            let triple = triple?;
            if Some(triple.predicate) == self.kind || !graph.is_resource(triple.object) {
                continue;
            }
            for &from in self.classes(triple.subject) {
                for &to in self.classes(triple.object) {
                    *edges.entry((from, triple.predicate, to)).or_default() += 1;
                }
            }
        }
        Ok(edges)
    }

    fn nodes(
        &self,
        graph: &impl TripleSource,
        classes: &[Class],
    ) -> io::Result<Vec<(Class, u64, Vec<TermId>)>> {
        let mut examples =
            self.examples(graph, &classes[..classes.len().min(MAX_EXAMPLE_CLASSES)])?;
        let mut nodes = Vec::with_capacity(classes.len());
        for class in classes {
            let examples = examples.remove(class).unwrap_or_default();
            nodes.push((*class, self.counts[class], examples));
        }
        Ok(nodes)
    }

    /// Returns the entities with the most properties for some classes, IRIs before blank nodes. Ties keep the order of
    /// the graph.
    fn examples(
        &self,
        graph: &impl TripleSource,
        classes: &[Class],
    ) -> io::Result<FxHashMap<Class, Vec<TermId>>> {
        let mut best: FxHashMap<Class, Vec<(bool, usize, TermId)>> =
            classes.iter().map(|class| (*class, Vec::new())).collect();
        each_description(graph, self.kind, |description| {
            let rank = (graph.is_iri(description.subject), description.properties);
            for class in self.classes(description.subject) {
                let Some(best) = best.get_mut(class) else {
                    continue;
                };
                // Behind those of equal rank, so that ties keep the order of the graph.
                let place =
                    best.partition_point(|&(is_iri, properties, _)| (is_iri, properties) >= rank);
                if place < MAX_EXAMPLES {
                    best.insert(place, (rank.0, rank.1, description.subject));
                    best.truncate(MAX_EXAMPLES);
                }
            }
        })?;
        let mut examples = FxHashMap::default();
        for (class, ranked) in best {
            examples.insert(class, ranked.into_iter().map(|(_, _, id)| id).collect());
        }
        Ok(examples)
    }
}

/// Returns the IRI, or the blank node in the form `_:b0`.
fn format_name(text: &str, is_iri: bool) -> String {
    if is_iri {
        text.to_owned()
    } else {
        format!("_:{text}")
    }
}

/// A subject, its classes and the number of its distinct properties.
struct EntityDescription {
    subject: TermId,
    classes: Vec<TermId>,
    properties: usize,
}

/// Calls `found` for each subject. The triples of a graph are sorted by subject, then by property.
fn each_description(
    graph: &impl TripleSource,
    kind: Option<TermId>,
    mut found: impl FnMut(&EntityDescription),
) -> io::Result<()> {
    let mut description: Option<EntityDescription> = None;
    let mut last = None;
    for triple in graph.each()? {
        let triple = triple?;
        let mut current = match description.take() {
            Some(current) if current.subject == triple.subject => current,
            other => {
                let mut classes = Vec::new();
                if let Some(ended) = other {
                    found(&ended);
                    classes = ended.classes;
                    classes.clear();
                }
                last = None;
                EntityDescription {
                    subject: triple.subject,
                    classes,
                    properties: 0,
                }
            }
        };
        if last != Some(triple.predicate) {
            current.properties += 1;
            last = Some(triple.predicate);
        }
        if Some(triple.predicate) == kind && graph.is_resource(triple.object) {
            current.classes.push(triple.object);
        }
        description = Some(current);
    }
    if let Some(ended) = description {
        found(&ended);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::dump::DumpReader;
    use lodeseek_rdf::{TripleGraphBuilder, local_name};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn schema_of(turtle: &str) -> Schema {
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        Schema::new(&builder.finish())
    }

    #[test]
    fn links_of_kept_classes_alone_are_kept() {
        let mut schema = schema_of(
            "@prefix : <http://e.org/> . :a a :Table ; :of :b . :b a :City ; :in :c . :c a :Land . :d :in :c .",
        );
        schema.retain_classes(|class| class != "http://e.org/Table");
        let class = |place: usize| schema.nodes[place].class.as_deref().map(local_name);
        let mut links: Vec<_> = schema
            .edges
            .iter()
            .map(|edge| (class(edge.from), class(edge.to)))
            .collect();
        links.sort();
        assert_eq!(links, [(None, Some("Land")), (Some("City"), Some("Land"))]);
        assert_eq!(schema.nodes.len(), 3);
    }

    #[test]
    fn classes_and_links_are_counted() {
        let schema = schema_of(
            "@prefix : <http://e.org/> . :a a :Person ; :knows :b, :c ; :name \"A\" ; :in :rome ; :sees :nobody .
             :b a :Person ; :knows :a . :c a :Person . :rome a :City, :Place ; :mayor [ :name \"M\" ] .",
        );
        let class = |place: usize| {
            schema.nodes[place]
                .class
                .as_deref()
                .unwrap_or("none")
                .replace("http://e.org/", "")
        };
        let nodes: Vec<_> = (0..schema.nodes.len())
            .map(|place| (class(place), schema.nodes[place].entities))
            .collect();
        let expected = [("Person", 3), ("none", 1), ("City", 1), ("Place", 1)]
            .map(|(name, n)| (name.to_owned(), n));
        assert_eq!(nodes, expected);
        let edges: Vec<_> = schema
            .edges
            .iter()
            .map(|e| (class(e.from), class(e.to), e.triples))
            .collect();
        assert!(
            edges[0] == ("Person".to_owned(), "Person".to_owned(), 3),
            "{edges:?}"
        );
        assert_eq!(
            edges.len(),
            5,
            "to City and Place, from both to the node of no class: {edges:?}"
        );
        assert_eq!(
            schema.nodes[0].examples,
            ["http://e.org/a", "http://e.org/b", "http://e.org/c"]
        );
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
                kept.truncate(MAX_ENTITY_CLASSES);
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
        let classes: String = (0..40)
            .map(|n| {
                format!(
                    ":e{n} a :C{n} ; :p{n} :e{} . :f{n} a :C{n} .\n",
                    (n + 1) % 40
                )
            })
            .collect();
        let schema = schema_of(&format!("@prefix : <http://e.org/> .\n{classes}"));
        assert_eq!(
            (schema.nodes.len(), schema.more_nodes),
            (MAX_SCHEMA_CLASSES, 10)
        );
        assert_eq!(schema.edges.len() as u64 + schema.more_edges, 40);
        assert!(
            schema
                .edges
                .iter()
                .all(|edge| edge.from < MAX_SCHEMA_CLASSES && edge.to < MAX_SCHEMA_CLASSES)
        );
        assert!(schema_of("").is_empty());
    }
}
