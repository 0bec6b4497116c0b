//! One resource of a dataset: its incoming and outgoing triples, without a scan of the graph.
//!
//! The triples come from the store, which keeps numbers and dates by their value alone, in the order of the store:
//! triples of one property are adjacent.

use super::blank::{self, BlankNodeScope};
use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::LABEL_PROPERTIES;
use oxrdf::{BlankNode, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use std::collections::HashSet;

/// Maximum number of labels of one node and property.
const LABELS: usize = 20;

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

/// Current content of a dataset, read by resource. Blank nodes have the labels of the graph file, the profile and the snippet.
pub struct Resources<'s> {
    store: &'s Store,
    graph: NamedNode,
    space: BlankNodeScope,
}

impl Store {
    /// Returns the resources of a dataset's content.
    pub fn resources(&self, id: &DatasetId) -> Result<Resources<'_>, StoreError> {
        let version = self.version(id)?.ok_or_else(|| StoreError::NoDataset(id.clone()))?;
        let graph = self.iris.graph(id, &version);
        Ok(Resources { store: self, space: BlankNodeScope::from_graph(&graph), graph })
    }
}

/// Parses an IRI, or a blank node in the form `_:b0`. Returns `None` for other texts.
#[must_use]
pub fn resource(text: &str) -> Option<NamedOrBlankNode> {
    match text.strip_prefix("_:") {
        Some(label) => BlankNode::new(label).ok().map(Into::into),
        None => NamedNode::new(text).ok().map(Into::into),
    }
}

impl Resources<'_> {
    /// Returns at most `limit` triples with a resource at a position, without the first `skip` ones.
    pub fn triples(
        &self,
        resource: &NamedOrBlankNode,
        position: Position,
        skip: usize,
        limit: usize,
    ) -> Result<Excerpt, StoreError> {
        let mut quads = self.quads(resource, position).skip(skip);
        let triples = quads.by_ref().take(limit).collect::<Result<_, _>>()?;
        Ok(Excerpt { triples, more: quads.next().transpose()?.is_some() })
    }

    /// Returns true if the dataset contains a triple about a resource.
    pub fn describes(&self, resource: &NamedOrBlankNode) -> Result<bool, StoreError> {
        Ok(self.quads(resource, Position::Subject).next().transpose()?.is_some())
    }

    /// Returns labels of resources, by any labelling property.
    pub fn labels<'r>(
        &self,
        resources: impl IntoIterator<Item = &'r NamedOrBlankNode>,
    ) -> Result<Vec<Triple>, StoreError> {
        let mut labels = Vec::new();
        for resource in resources {
            let subject = self.stored(resource);
            for property in LABEL_PROPERTIES {
                let property = NamedNodeRef::new_unchecked(property);
                let graph = self.graph.as_ref().into();
                let quads =
                    self.store.oxigraph.quads_for_pattern(Some(subject.as_ref()), Some(property), None, Some(graph));
                for quad in quads.take(LABELS) {
                    labels.push(blank::from_store(quad?));
                }
            }
        }
        Ok(labels)
    }

    /// Returns the symmetric concise bounded description of a resource, with at most `limit` triples: its incoming and outgoing
    /// triples, and those of blank nodes on the way. <https://www.w3.org/submissions/CBD/>
    pub fn description(&self, resource: &NamedOrBlankNode, limit: usize) -> Result<Excerpt, StoreError> {
        let mut found = Excerpt::default();
        let mut seen: HashSet<(NamedOrBlankNode, bool)> = HashSet::new();
        let mut waiting = vec![(resource.clone(), Position::Subject), (resource.clone(), Position::Object)];
        let mut inserted = HashSet::new();
        while let Some((node, position)) = waiting.pop() {
            if !seen.insert((node.clone(), position == Position::Subject)) {
                continue;
            }
            for triple in self.quads(&node, position) {
                let triple = triple?;
                if found.triples.len() == limit {
                    found.more = true;
                    return Ok(found);
                }
                waiting.extend(next_blank_node(&triple, position));
                if inserted.insert(triple.clone()) {
                    found.triples.push(triple);
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
        let (node, graph) = (self.stored(resource), Some(self.graph.as_ref().into()));
        let quads = match position {
            Position::Subject => self.store.oxigraph.quads_for_pattern(Some(node.as_ref()), None, None, graph),
            Position::Object => {
                let node = Term::from(node);
                self.store.oxigraph.quads_for_pattern(None, None, Some(node.as_ref()), graph)
            }
        };
        quads.map(|quad| Ok(blank::from_store(quad?)))
    }

    fn stored(&self, resource: &NamedOrBlankNode) -> NamedOrBlankNode {
        match self.space.term_to_store(resource.clone().into()) {
            Term::BlankNode(node) => node.into(),
            _ => resource.clone(),
        }
    }
}

/// Returns the blank node at the other end of a triple, and the position of it in the next triples.
fn next_blank_node(triple: &Triple, position: Position) -> Option<(NamedOrBlankNode, Position)> {
    match (position, &triple.subject, &triple.object) {
        (Position::Subject, _, Term::BlankNode(node)) | (Position::Object, NamedOrBlankNode::BlankNode(node), _) => {
            Some((node.clone().into(), position))
        }
        _ => None,
    }
}
