//! What a catalogue says beyond the typed fields, free of any home: the dataset and its parts have no IRIs yet.

use super::{DatasetId, Iris};
use oxrdf::{Literal, NamedNode, Term, Triple};

/// Something a description is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// The dataset itself.
    Dataset,
    /// A part of its description, by a name that is unique within it.
    Part(String),
    /// Something of the web at large.
    Iri(String),
}

/// What is said of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// Another node.
    Node(Node),
    /// A text, number or date.
    Literal(Literal),
}

impl From<Node> for Value {
    fn from(node: Node) -> Self {
        Self::Node(node)
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Self {
        Self::Literal(literal)
    }
}

/// One statement of a dataset's description.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Statement {
    /// What it is about.
    pub subject: Node,
    /// The IRI of its property.
    pub predicate: String,
    /// What it says.
    pub object: Value,
}

impl Statement {
    /// A statement.
    #[must_use]
    pub fn new(subject: Node, predicate: &str, object: impl Into<Value>) -> Self {
        Self { subject, predicate: predicate.to_owned(), object: object.into() }
    }

    /// The triple of the catalogue graph that says it.
    #[must_use]
    pub fn to_triple(&self, id: &DatasetId, iris: &Iris) -> Triple {
        let node = |node: &Node| match node {
            Node::Dataset => iris.dataset(id),
            Node::Part(name) => iris.part(id, name),
            Node::Iri(iri) => NamedNode::new_unchecked(iri),
        };
        let object: Term = match &self.object {
            Value::Node(object) => node(object).into(),
            Value::Literal(literal) => literal.clone().into(),
        };
        Triple::new(node(&self.subject), NamedNode::new_unchecked(&self.predicate), object)
    }
}
