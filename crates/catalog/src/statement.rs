//! Statements of a description beyond the typed fields. They are independent of a home: the dataset and its parts have
//! no IRIs yet.

use super::{DatasetId, Iris};
use oxrdf::{Literal, NamedNode, Term, Triple};

/// A node of a description.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// The dataset itself.
    Dataset,
    /// A part of the description, with a name that is unique within it.
    Part(String),
    /// A resource of the web, by its IRI.
    Iri(String),
}

/// The object of a statement.
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
    /// Subject of the statement.
    pub subject: Node,
    /// IRI of the property.
    pub predicate: String,
    /// Object of the statement.
    pub object: Value,
}

impl Statement {
    /// Creates a statement.
    #[must_use]
    pub fn new(subject: Node, predicate: &str, object: impl Into<Value>) -> Self {
        Self { subject, predicate: predicate.to_owned(), object: object.into() }
    }

    /// Returns the triple of this statement in the catalogue graph.
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
