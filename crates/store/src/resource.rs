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

/// Labels of one node and property that are read.
const LABELS: usize = 20;

/// Position of a resource in triples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// As their subject.
    Subject,
    /// As their object.
    Object,
}

/// Some triples, and whether there are more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The triples.
    pub triples: Vec<Triple>,
    /// If true, further triples were left out.
    pub more: bool,
}

/// The content of a dataset as it is now, to be looked at resource by resource. Blank nodes have the labels that they have
/// in the graph's file and in what is made of it.
pub struct Resources<'s> {
    store: &'s Store,
    graph: NamedNode,
    space: BlankNodeScope,
}

impl Store {
    /// The resources of a dataset's content.
    pub fn resources(&self, id: &DatasetId) -> Result<Resources<'_>, StoreError> {
        let version = self.version(id)?.ok_or_else(|| StoreError::NoDataset(id.clone()))?;
        let graph = self.iris.graph(id, &version);
        Ok(Resources { store: self, space: BlankNodeScope::from_graph(&graph), graph })
    }
}

/// An IRI, or a blank node as it is written: `_:b0`. `None` for what is neither.
#[must_use]
pub fn resource(text: &str) -> Option<NamedOrBlankNode> {
    match text.strip_prefix("_:") {
        Some(label) => BlankNode::new(label).ok().map(Into::into),
        None => NamedNode::new(text).ok().map(Into::into),
    }
}

impl Resources<'_> {
    /// The triples in which a resource stands first, or last: `most` of them from the `skip`th on.
    pub fn triples(
        &self,
        resource: &NamedOrBlankNode,
        stands: Position,
        skip: usize,
        most: usize,
    ) -> Result<Excerpt, StoreError> {
        let mut quads = self.quads(resource, stands).skip(skip);
        let triples = quads.by_ref().take(most).collect::<Result<_, _>>()?;
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

    /// The symmetric concise bounded description of a resource: what begins and ends at it, and at the blank nodes met so;
    /// at most so many triples. <https://www.w3.org/submissions/CBD/>
    pub fn description(&self, resource: &NamedOrBlankNode, most: usize) -> Result<Excerpt, StoreError> {
        let mut found = Excerpt::default();
        let mut seen: HashSet<(NamedOrBlankNode, bool)> = HashSet::new();
        let mut waiting = vec![(resource.clone(), Position::Subject), (resource.clone(), Position::Object)];
        let mut kept = HashSet::new();
        while let Some((node, stands)) = waiting.pop() {
            if !seen.insert((node.clone(), stands == Position::Subject)) {
                continue;
            }
            for triple in self.quads(&node, stands) {
                let triple = triple?;
                if found.triples.len() == most {
                    found.more = true;
                    return Ok(found);
                }
                waiting.extend(beyond(&triple, stands));
                if kept.insert(triple.clone()) {
                    found.triples.push(triple);
                }
            }
        }
        Ok(found)
    }

    fn quads(
        &self,
        resource: &NamedOrBlankNode,
        stands: Position,
    ) -> impl Iterator<Item = Result<Triple, StoreError>> + use<'_> {
        let (node, graph) = (self.stored(resource), Some(self.graph.as_ref().into()));
        let quads = match stands {
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

/// The blank node at the other end of a triple, and how it goes on from there.
fn beyond(triple: &Triple, stands: Position) -> Option<(NamedOrBlankNode, Position)> {
    match (stands, &triple.subject, &triple.object) {
        (Position::Subject, _, Term::BlankNode(node)) | (Position::Object, NamedOrBlankNode::BlankNode(node), _) => {
            Some((node.clone().into(), stands))
        }
        _ => None,
    }
}
