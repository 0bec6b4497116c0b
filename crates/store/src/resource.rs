//! One resource of a dataset: its incoming and outgoing triples, without a scan of the graph.
//!
//! The triples come from the store, which keeps numbers and dates by their value alone, in the order of the store:
//! triples of one property are adjacent.

use super::blank::{self, BlankNodeScope};
use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::LABEL_PROPERTIES;
use lodeseek_rdf::vocab::rdf;
use oxrdf::{BlankNode, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Maximum number of labels of one node and property.
const MAX_LABELS: usize = 20;
/// Maximum size of the text of a label in bytes. Longer ones are omitted.
const MAX_LABEL_BYTES: usize = 10_000;
/// Maximum size of the texts of an excerpt in bytes. The first triple may exceed it.
const MAX_EXCERPT_BYTES: usize = 16 << 20;

/// Maximum number of entities of a class that are sorted in memory.
const MAX_SORTED_ENTITIES: usize = 5000;

/// Position of a resource in triples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// Subject of the triples.
    Subject,
    /// Object of the triples.
    Object,
}

/// Limited number of triples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The triples.
    pub triples: Vec<Triple>,
    /// If true, further triples were omitted.
    pub more: bool,
}

impl Excerpt {
    /// Adds a triple. If the number of triples is at the limit, or the texts of a triple after the first exceed the remaining
    /// bytes, sets `more` and returns false.
    fn push(&mut self, triple: Triple, limit: usize, remaining: &mut usize) -> bool {
        let bytes = text_bytes(&triple);
        let is_full =
            self.triples.len() == limit || (bytes > *remaining && !self.triples.is_empty());
        if is_full {
            self.more = true;
            return false;
        }
        *remaining = remaining.saturating_sub(bytes);
        self.triples.push(triple);
        true
    }
}

/// Current content of a dataset, read by resource. Blank nodes have the labels of the graph file, the profile and the snippet.
pub struct Resources<'s> {
    store: &'s Store,
    graph: NamedNode,
    space: BlankNodeScope,
    /// Maximum size of the texts of an excerpt, and of labels, in bytes.
    max_bytes: usize,
}

impl Store {
    /// Returns the resources of a dataset's content.
    pub fn resources(&self, id: &DatasetId) -> Result<Resources<'_>, StoreError> {
        let version = self
            .version(id)?
            .ok_or_else(|| StoreError::NoDataset(id.clone()))?;
        let graph = self.iris.graph(id, &version);
        let space = BlankNodeScope::from_graph(&graph);
        Ok(Resources {
            store: self,
            graph,
            space,
            max_bytes: MAX_EXCERPT_BYTES,
        })
    }
}

/// Parses an IRI, or a blank node in the form `_:b0`. Returns `None` for other texts.
#[must_use]
pub fn parse_resource(text: &str) -> Option<NamedOrBlankNode> {
    match text.strip_prefix("_:") {
        Some(label) => BlankNode::new(label).ok().map(Into::into),
        None => NamedNode::new(text).ok().map(Into::into),
    }
}

impl Resources<'_> {
    /// Returns at most `limit` triples with a resource at a position, without the first `skip` ones. There are fewer, and `more`
    /// is true, if the texts of the next triple would exceed 16 MiB in total.
    pub fn triples(
        &self,
        resource: &NamedOrBlankNode,
        position: Position,
        skip: usize,
        limit: usize,
    ) -> Result<Excerpt, StoreError> {
        let mut found = Excerpt::default();
        let mut remaining = self.max_bytes;
        for triple in self.quads(resource, position).skip(skip) {
            if !found.push(triple?, limit, &mut remaining) {
                break;
            }
        }
        Ok(found)
    }

    /// Returns at most `limit` values of a property of a resource, in the order of the store. There are fewer if the texts of the
    /// next value would exceed 16 MiB in total.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn values(
        &self,
        resource: &NamedOrBlankNode,
        property: NamedNodeRef<'_>,
        limit: usize,
    ) -> Result<Vec<Term>, StoreError> {
        let resource = self.to_store_node(resource);
        let quads = self.store.oxigraph.quads_for_pattern(
            Some(resource.as_ref()),
            Some(property),
            None,
            Some(self.graph.as_ref().into()),
        );
        let mut found = Excerpt::default();
        let mut remaining = self.max_bytes;
        for quad in quads {
            if !found.push(blank::from_store(quad?), limit, &mut remaining) {
                break;
            }
        }
        let values = found.triples.into_iter().map(|triple| triple.object);
        Ok(values.collect())
    }

    /// Iterates over the entities of a class, in the order of the store.
    pub fn instances(
        &self,
        class: &NamedNode,
    ) -> impl Iterator<Item = Result<NamedOrBlankNode, StoreError>> + use<'_> {
        let quads = self.store.oxigraph.quads_for_pattern(
            None,
            Some(NamedNodeRef::new_unchecked(rdf::TYPE)),
            Some(class.as_ref().into()),
            Some(self.graph.as_ref().into()),
        );
        quads.map(|quad| Ok(blank::from_store(quad?).subject))
    }

    /// Returns true if a resource is an entity of a class.
    pub fn is_instance(
        &self,
        resource: &NamedOrBlankNode,
        class: &NamedNode,
    ) -> Result<bool, StoreError> {
        let resource = self.to_store_node(resource);
        let mut quads = self.store.oxigraph.quads_for_pattern(
            Some(resource.as_ref()),
            Some(NamedNodeRef::new_unchecked(rdf::TYPE)),
            Some(class.as_ref().into()),
            Some(self.graph.as_ref().into()),
        );
        Ok(quads.next().transpose()?.is_some())
    }

    /// Iterates over the entities of a class by the value of a property: positive whole numbers in ascending order. Entities without
    /// a number are last, or omitted in a class of more than 5,000 entities.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn by_number(
        &self,
        property: NamedNodeRef<'_>,
        class: &NamedNode,
    ) -> Result<Box<dyn Iterator<Item = Result<NamedOrBlankNode, StoreError>> + '_>, StoreError>
    {
        // Beside a small class there may be a large one with the same numbers.
        let first = self.instances(class).take(MAX_SORTED_ENTITIES + 1);
        let mut entities = first.collect::<Result<Vec<NamedOrBlankNode>, StoreError>>()?;
        let is_small = entities.len() <= MAX_SORTED_ENTITIES;
        // A store in memory has no keys in the order of numbers.
        if !is_small && !self.store.is_on_disk() {
            entities = self.instances(class).collect::<Result<_, _>>()?;
        } else if !is_small {
            return Ok(Box::new(self.stored_by_number(property, class.clone())));
        }
        let mut numbered = Vec::with_capacity(entities.len());
        for entity in entities {
            let number = self.number(&entity, property)?.unwrap_or(u64::MAX);
            numbered.push((number, entity));
        }
        numbered.sort_by_key(|(number, _)| *number);
        Ok(Box::new(numbered.into_iter().map(|(_, entity)| Ok(entity))))
    }

    /// Iterates over the entities of a class in the order of the index for a graph and a property, whose keys contain whole numbers
    /// in big-endian bytes.
    fn stored_by_number(
        &self,
        property: NamedNodeRef<'_>,
        class: NamedNode,
    ) -> impl Iterator<Item = Result<NamedOrBlankNode, StoreError>> + use<'_> {
        let quads = self.store.oxigraph.quads_for_pattern(
            None,
            Some(property),
            None,
            Some(self.graph.as_ref().into()),
        );
        quads.filter_map(move |quad| {
            let entity = match quad {
                Ok(quad) => blank::from_store(quad).subject,
                Err(error) => return Some(Err(error.into())),
            };
            match self.is_instance(&entity, &class) {
                Ok(is_instance) => is_instance.then_some(Ok(entity)),
                Err(error) => Some(Err(error)),
            }
        })
    }

    /// Returns the value of a property of a resource, if it is a positive whole number.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn number(
        &self,
        resource: &NamedOrBlankNode,
        property: NamedNodeRef<'_>,
    ) -> Result<Option<u64>, StoreError> {
        let resource = self.to_store_node(resource);
        let quads = self.store.oxigraph.quads_for_pattern(
            Some(resource.as_ref()),
            Some(property),
            None,
            Some(self.graph.as_ref().into()),
        );
        for quad in quads {
            if let Term::Literal(number) = &quad?.object
                && let Ok(number) = number.value().parse()
            {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Returns true if the dataset contains a triple about a resource.
    pub fn describes(&self, resource: &NamedOrBlankNode) -> Result<bool, StoreError> {
        Ok(self
            .quads(resource, Position::Subject)
            .next()
            .transpose()?
            .is_some())
    }

    /// Returns labels of resources, by any labelling property. Labels of more than 10,000 bytes are omitted, and all labels after
    /// 16 MiB of texts.
    pub fn labels<'r>(
        &self,
        resources: impl IntoIterator<Item = &'r NamedOrBlankNode>,
    ) -> Result<Vec<Triple>, StoreError> {
        let mut found = Excerpt::default();
        let mut remaining = self.max_bytes;
        for resource in resources {
            let subject = self.to_store_node(resource);
            for property in LABEL_PROPERTIES {
                let property = NamedNodeRef::new_unchecked(property);
                let graph = self.graph.as_ref().into();
                let quads = self.store.oxigraph.quads_for_pattern(
                    Some(subject.as_ref()),
                    Some(property),
                    None,
                    Some(graph),
                );
                for quad in quads.take(MAX_LABELS) {
                    let label = blank::from_store(quad?);
                    if matches!(&label.object, Term::Literal(text) if text.value().len() > MAX_LABEL_BYTES)
                    {
                        continue;
                    }
                    if !found.push(label, usize::MAX, &mut remaining) {
                        return Ok(found.triples);
                    }
                }
            }
        }
        Ok(found.triples)
    }

    /// Returns the symmetric concise bounded description of a resource, with at most `limit` triples: its incoming and outgoing
    /// triples, and those of blank nodes on the way. <https://www.w3.org/submissions/CBD/> It ends early, and `more` is true, if
    /// the texts of the next triple would exceed 16 MiB in total.
    pub fn description(
        &self,
        resource: &NamedOrBlankNode,
        limit: usize,
    ) -> Result<Excerpt, StoreError> {
        let mut found = Excerpt::default();
        let mut seen: HashSet<(NamedOrBlankNode, bool)> = HashSet::new();
        let mut waiting = vec![
            (resource.clone(), Position::Subject),
            (resource.clone(), Position::Object),
        ];
        let mut remaining = self.max_bytes;
        // Hashes instead of copies of triples, whose texts may be long.
        let hasher = RandomState::new();
        let mut inserted: HashSet<u64> = HashSet::new();
        while let Some((node, position)) = waiting.pop() {
            if !seen.insert((node.clone(), position == Position::Subject)) {
                continue;
            }
            for triple in self.quads(&node, position) {
                let triple = triple?;
                waiting.extend(next_blank_node(&triple, position));
                let is_new = inserted.insert(hasher.hash_one(&triple));
                if is_new && !found.push(triple, limit, &mut remaining) {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    fn quads(
        &self,
        resource: &NamedOrBlankNode,
        position: Position,
    ) -> impl Iterator<Item = Result<Triple, StoreError>> + use<'_> {
        let (node, graph) = (
            self.to_store_node(resource),
            Some(self.graph.as_ref().into()),
        );
        let quads = match position {
            Position::Subject => {
                self.store
                    .oxigraph
                    .quads_for_pattern(Some(node.as_ref()), None, None, graph)
            }
            Position::Object => {
                let node = Term::from(node);
                self.store
                    .oxigraph
                    .quads_for_pattern(None, None, Some(node.as_ref()), graph)
            }
        };
        quads.map(|quad| Ok(blank::from_store(quad?)))
    }

    fn to_store_node(&self, resource: &NamedOrBlankNode) -> NamedOrBlankNode {
        match self.space.term_to_store(resource.clone().into()) {
            Term::BlankNode(node) => node.into(),
            _ => resource.clone(),
        }
    }
}

/// Returns the blank node at the other end of a triple, and the position of it in the next triples.
fn next_blank_node(triple: &Triple, position: Position) -> Option<(NamedOrBlankNode, Position)> {
    match (position, &triple.subject, &triple.object) {
        (Position::Subject, _, Term::BlankNode(node))
        | (Position::Object, NamedOrBlankNode::BlankNode(node), _) => {
            Some((node.clone().into(), position))
        }
        _ => None,
    }
}

/// Returns the size of the texts of a triple in bytes.
#[must_use]
pub fn text_bytes(triple: &Triple) -> usize {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => node.as_str(),
        NamedOrBlankNode::BlankNode(node) => node.as_str(),
    };
    subject.len() + triple.predicate.as_str().len() + term_bytes(&triple.object)
}

/// Returns the size of the texts of a term in bytes.
fn term_bytes(term: &Term) -> usize {
    match term {
        Term::NamedNode(node) => node.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => {
            literal.value().len()
                + literal
                    .language()
                    .unwrap_or_else(|| literal.datatype().as_str())
                    .len()
        }
        Term::Triple(triple) => text_bytes(triple),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loader;
    use lodeseek_catalog::{Catalog, Iris};
    use oxrdf::Literal;
    use std::fs;

    const CATALOG: &str = r#"
        @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/trees> a dcat:Dataset ; dct:identifier "trees" ; dct:title "Trees" ;
            dcat:distribution [ dcat:downloadURL <trees.ttl> ] ."#;

    /// Calls a test with the resources of a dataset with this content.
    fn with_content(turtle: &str, test: impl FnOnce(&mut Resources<'_>)) {
        let folder = tempfile::tempdir().expect("a folder");
        let catalog = folder.path().join("catalog.ttl");
        fs::write(&catalog, CATALOG).expect("written");
        fs::write(folder.path().join("trees.ttl"), turtle).expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        Loader::new(&store)
            .load(Catalog::read(&catalog).expect("a catalogue"), &|_| ())
            .expect("loaded");
        let entry = store.entries().expect("entries").remove(0);
        test(
            &mut store
                .resources(&entry.dataset.metadata.id)
                .expect("content"),
        );
    }

    fn oak() -> NamedOrBlankNode {
        parse_resource("http://e.org/oak").expect("an IRI")
    }

    #[test]
    fn pages_end_at_the_limit_of_bytes_and_continue_after_it() {
        let values: Vec<String> = (0..7)
            .map(|number| format!("\"{number}{}\"", "x".repeat(99)))
            .collect();
        with_content(
            &format!(
                "<http://e.org/oak> <http://e.org/p> {} .",
                values.join(", ")
            ),
            |resources| {
                let all = resources
                    .triples(&oak(), Position::Subject, 0, 50)
                    .expect("read");
                assert_eq!((all.triples.len(), all.more), (7, false));
                let first = resources
                    .triples(&oak(), Position::Subject, 0, 3)
                    .expect("read");
                assert_eq!((&first.triples[..], first.more), (&all.triples[..3], true));
                for (max_bytes, on_page) in [(1, 1), (400, 2)] {
                    resources.max_bytes = max_bytes;
                    let (mut shown, mut pages): (Vec<Triple>, usize) = (Vec::new(), 0);
                    loop {
                        let page = resources
                            .triples(&oak(), Position::Subject, shown.len(), 50)
                            .expect("read");
                        assert!(
                            (1..=on_page).contains(&page.triples.len()),
                            "{max_bytes}: {page:?}"
                        );
                        pages += 1;
                        shown.extend(page.triples);
                        if !page.more {
                            break;
                        }
                    }
                    assert_eq!(shown, all.triples, "{max_bytes}");
                    assert_eq!(pages, all.triples.len().div_ceil(on_page), "{max_bytes}");
                }
            },
        );
    }

    #[test]
    fn values_are_those_of_one_property_up_to_the_limits() {
        let turtle = "<http://e.org/oak> <http://e.org/p> 1, 2, 3 ; <http://e.org/q> 4 .";
        let property = NamedNode::new_unchecked("http://e.org/p");
        with_content(turtle, |resources| {
            for (limit, max_bytes, expected) in [(9, 1 << 20, 3), (2, 1 << 20, 2), (9, 1, 1)] {
                resources.max_bytes = max_bytes;
                let values = resources
                    .values(&oak(), property.as_ref(), limit)
                    .expect("read");
                assert_eq!(values.len(), expected, "{limit} {max_bytes}");
                assert!(!values.contains(&Literal::from(4).into()), "{values:?}");
            }
        });
    }

    #[test]
    fn descriptions_have_each_triple_once_and_end_at_the_limits() {
        let turtle = "<http://e.org/oak> <http://e.org/p> <http://e.org/oak> ; <http://e.org/q> [ <http://e.org/p> 1 ] .";
        with_content(turtle, |resources| {
            for (limit, max_bytes, expected) in [
                (9, 1 << 20, (3, false)),
                (3, 1 << 20, (3, false)),
                (2, 1 << 20, (2, true)),
                (9, 1, (1, true)),
            ] {
                resources.max_bytes = max_bytes;
                let found = resources.description(&oak(), limit).expect("read");
                assert_eq!(
                    (found.triples.len(), found.more),
                    expected,
                    "{limit} {max_bytes}"
                );
            }
        });
    }

    #[test]
    fn long_labels_are_omitted() {
        let long = "x".repeat(MAX_LABEL_BYTES + 1);
        let labels = "<http://www.w3.org/2000/01/rdf-schema#label>";
        with_content(
            &format!("<http://e.org/oak> {labels} \"{long}\", \"Oak\", \"Eiche\"@de ."),
            |resources| {
                let label_count =
                    |resources: &Resources<'_>| resources.labels([&oak()]).expect("read").len();
                assert_eq!(label_count(resources), 2);
                resources.max_bytes = 1;
                assert_eq!(label_count(resources), 1);
            },
        );
    }

    #[test]
    fn triple_terms_count_with_all_of_their_texts() {
        let node = |text: &str| NamedNode::new_unchecked(text);
        let inner = Triple::new(
            node("e:a"),
            node("e:b"),
            Literal::new_language_tagged_literal_unchecked("Oak", "en"),
        );
        assert_eq!(text_bytes(&inner), 11);
        assert_eq!(
            text_bytes(&Triple::new(
                node("e:c"),
                node("e:d"),
                Term::Triple(Box::new(inner))
            )),
            17
        );
    }

    #[test]
    fn entities_of_a_class_are_in_the_order_of_their_numbers() {
        let number = NamedNode::new_unchecked("http://e.org/number");
        let class = NamedNode::new_unchecked("http://e.org/Tree");
        with_content(
            "@prefix e: <http://e.org/> . e:elm a e:Tree ; e:number 10 . e:ash a e:Tree ; e:number 9 .
             e:mill a e:Mill ; e:number 1 . e:yew a e:Tree . e:oak a e:Tree ; e:number 200, \"many\" .",
            |resources| {
                let found = resources.by_number(number.as_ref(), &class).expect("read");
                let found: Vec<String> = found
                    .map(|entity| entity.expect("an entity").to_string())
                    .collect();
                assert_eq!(
                    found,
                    ["ash", "elm", "oak", "yew"].map(|name| format!("<http://e.org/{name}>"))
                );
                let mill = parse_resource("http://e.org/mill").expect("an IRI");
                let found = resources.number(&mill, number.as_ref()).expect("read");
                assert_eq!(found, Some(1));
            },
        );
    }
}
