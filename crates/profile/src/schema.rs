//! The shape of a dataset: how many entities its classes have, which properties lead from one class to another, and what
//! an entity of the largest classes is like.
//!
//! Such a summary by classes is the type graph of weak summaries (F. Goasdoué, P. Guzewicz, I. Manolescu: *RDF graph
//! summarization for first-sight structure discovery*, VLDB Journal 2020), cut to what a person can take in: at most
//! [`NODES`] classes and [`EDGES`] links, the most frequent ones, and the numbers of those left out.
//!
//! *Cost.* One pass over the triples; an entity of many classes counts for its [`CLASSES`] most frequent ones, so that a
//! triple counts at most `CLASSES`² times.

use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, TripleGraph};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Classes of a schema at most.
const NODES: usize = 30;
/// Links of a schema at most.
const EDGES: usize = 60;
/// Classes for which an entity counts.
const CLASSES: usize = 4;
/// Classes of which entities are shown, and entities of each.
const EXAMPLE_CLASSES: usize = 6;
const EXAMPLES: usize = 3;

/// A class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaNode {
    /// Its IRI; nothing for the entities of no class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its entities.
    pub entities: u64,
    /// Some of them, the most fully described: IRIs, or blank nodes as `_:b0`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// Triples with one property from entities of one class to those of another, or the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaEdge {
    /// The place of the subjects' class among the nodes.
    pub from: usize,
    /// The property.
    pub property: String,
    /// The place of the objects' class.
    pub to: usize,
    /// How many triples.
    pub triples: u64,
}

/// The classes of a graph and the links between them, both by count, descending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The classes.
    pub nodes: Vec<SchemaNode>,
    /// The links.
    pub edges: Vec<SchemaEdge>,
    /// Classes that are not among the nodes.
    pub more_nodes: u64,
    /// Links that are not among the edges, those of the classes left out among them.
    pub more_edges: u64,
}

/// A class as it is counted; `None` for entities of no class.
type Class = Option<TermId>;

impl Schema {
    /// That of a graph.
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

    /// Whether there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// The edges between classes that have a place, the heaviest first.
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

/// The classes of the entities of a graph.
struct EntityClasses {
    kind: Option<TermId>,
    /// Entities by class.
    counts: FxHashMap<Class, u64>,
}

impl EntityClasses {
    fn new(graph: &TripleGraph) -> Self {
        let mut described = Self { kind: graph.iri(rdf::TYPE), counts: FxHashMap::default() };
        for triple in graph.triples().iter().filter(|triple| Some(triple.predicate) == described.kind) {
            if !graph.is_literal(triple.object) {
                *described.counts.entry(Some(triple.object)).or_default() += 1;
            }
        }
        let untyped = subjects(graph).filter(|&subject| described.typed(graph, subject).next().is_none()).count();
        if untyped > 0 {
            described.counts.insert(None, untyped as u64);
        }
        described
    }

    fn typed<'g>(&self, graph: &'g TripleGraph, entity: TermId) -> impl Iterator<Item = TermId> + use<'g> {
        let kind = self.kind;
        let triples = graph.subject_triples(entity).iter();
        let types = triples.filter(move |triple| Some(triple.predicate) == kind).map(|triple| triple.object);
        types.filter(|class| !graph.is_literal(*class))
    }

    /// The classes for which an entity counts; none for what the graph says nothing of.
    fn classes(&self, graph: &TripleGraph, entity: TermId) -> Vec<Class> {
        let mut classes: Vec<Class> = self.typed(graph, entity).map(Some).collect();
        if classes.len() > CLASSES {
            classes.sort_unstable_by_key(|class| (std::cmp::Reverse(self.counts[class]), *class));
            classes.truncate(CLASSES);
        }
        if classes.is_empty() && !graph.subject_range(entity).is_empty() {
            classes.push(None);
        }
        classes
    }

    fn edges(&self, graph: &TripleGraph) -> FxHashMap<(Class, TermId, Class), u64> {
        let mut edges = FxHashMap::default();
        let mut known: FxHashMap<TermId, Vec<Class>> = FxHashMap::default();
        for subject in subjects(graph) {
            let from = self.classes(graph, subject);
            for triple in graph.subject_triples(subject) {
                if Some(triple.predicate) == self.kind || graph.is_literal(triple.object) {
                    continue;
                }
                let to = known.entry(triple.object).or_insert_with(|| self.classes(graph, triple.object));
                for (&from, &to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
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

    /// The entities of some classes with the most properties, those with IRIs first; ties in the order of the graph.
    fn examples(&self, graph: &TripleGraph, classes: &[Class]) -> FxHashMap<Class, Vec<String>> {
        let mut best: FxHashMap<Class, Vec<(bool, usize, TermId)>> =
            classes.iter().map(|class| (*class, Vec::new())).collect();
        for subject in subjects(graph) {
            let told = (graph.is_iri(subject), properties(graph, subject));
            for class in self.classes(graph, subject) {
                let Some(best) = best.get_mut(&class) else { continue };
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

/// The IRI, or the blank node as it is written.
fn name(graph: &TripleGraph, id: TermId) -> String {
    let text = graph.term(id).text();
    if graph.is_iri(id) { text.to_owned() } else { format!("_:{text}") }
}

/// The subjects of a graph, each once: its triples are sorted by them.
fn subjects(graph: &TripleGraph) -> impl Iterator<Item = TermId> {
    graph.triples().chunk_by(|one, next| one.subject == next.subject).map(|triples| triples[0].subject)
}

/// Distinct properties of a subject: its triples are sorted by them.
fn properties(graph: &TripleGraph, subject: TermId) -> usize {
    graph.subject_triples(subject).chunk_by(|one, next| one.predicate == next.predicate).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;

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
