//! Statements of a description beyond the typed fields. They are independent of a home: the dataset and its parts have
//! no IRIs yet.

use super::iris::{decode_segment, encode_segment};
use super::{DatasetId, Iris};
use lodeseek_rdf::vocab::owl;
use lodeseek_rdf::{is_writable_iri, is_writable_tag};
use oxrdf::{BaseDirection, Literal, NamedNode, Term, Triple};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::RefCell;

/// A node of a description.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Node {
    /// The dataset itself.
    Dataset,
    /// A part of the description, with a name that is unique within it.
    Part(String),
    /// A resource of the web, by its IRI.
    Iri(String),
}

/// The object of a statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Value {
    /// Another node.
    Node(Node),
    /// A text, number or date.
    Literal(#[serde(with = "literal")] Literal),
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
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
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
        Self {
            subject,
            predicate: predicate.to_owned(),
            object: object.into(),
        }
    }

    /// Returns true if the IRIs, also those of parts, and the language tag have no characters that end them in RDF syntaxes.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        let is_object = match &self.object {
            Value::Node(node) => node.is_writable(),
            Value::Literal(literal) => match literal.language() {
                Some(tag) => is_writable_tag(tag),
                None => is_writable_iri(literal.datatype().as_str()),
            },
        };
        self.subject.is_writable() && is_writable_iri(&self.predicate) && is_object
    }

    /// Returns the triple of this statement in the catalogue graph.
    #[must_use]
    pub fn to_triple(&self, id: &DatasetId, iris: &Iris) -> Triple {
        let object: Term = match &self.object {
            Value::Node(object) => object.to_named_node(id, iris).into(),
            Value::Literal(literal) => literal.clone().into(),
        };
        Triple::new(
            self.subject.to_named_node(id, iris),
            NamedNode::new_unchecked(&self.predicate),
            object,
        )
    }

    /// Returns the size of the texts and IRIs, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let object = match &self.object {
            Value::Literal(literal) => {
                literal.value().len()
                    + literal
                        .language()
                        .unwrap_or_else(|| literal.datatype().as_str())
                        .len()
            }
            Value::Node(node) => node.text_bytes(),
        };
        self.subject.text_bytes() + self.predicate.len() + object
    }
}

impl Node {
    /// Returns the node in the catalogue graph.
    fn to_named_node(&self, id: &DatasetId, iris: &Iris) -> NamedNode {
        match self {
            Self::Dataset => iris.dataset(id),
            Self::Part(name) => iris.part(id, name),
            Self::Iri(iri) => match listed_id(iri) {
                Some(id) => iris.dataset(&id),
                None => NamedNode::new_unchecked(iri),
            },
        }
    }

    fn is_writable(&self) -> bool {
        match self {
            Self::Dataset => true,
            Self::Part(text) | Self::Iri(text) => is_writable_iri(text),
        }
    }

    fn text_bytes(&self) -> usize {
        match self {
            Self::Iri(name) | Self::Part(name) => name.len(),
            Self::Dataset => 0,
        }
    }
}

/// Beginning of the IRI that stands for another dataset of the same catalogue, which has no IRI: its id follows.
const LISTED: &str = "urn:lodeseek:dataset:";
/// Beginning of that IRI until the catalogue is read to its end: a reference follows.
const REFERENCE: &str = "urn:lodeseek:entry:";

/// Returns the node that stands for another dataset of the catalogue.
pub(super) fn listed_node(id: &DatasetId) -> Node {
    Node::Iri(format!("{LISTED}{}", encode_segment(id.as_str())))
}

/// Returns the id of the other dataset of the catalogue that an IRI stands for.
pub(super) fn listed_id(iri: &str) -> Option<DatasetId> {
    DatasetId::new(decode_segment(iri.strip_prefix(LISTED)?)?).ok()
}

/// Returns the node that stands for an entry of the catalogue whose id may change.
pub(super) fn reference_node(reference: &str) -> Node {
    Node::Iri(format!("{REFERENCE}{}", encode_segment(reference)))
}

/// Returns the reference to an entry of the catalogue in an object.
pub(super) fn reference_of(object: &Value) -> Option<String> {
    match object {
        Value::Node(Node::Iri(iri)) => decode_segment(iri.strip_prefix(REFERENCE)?),
        Value::Node(_) | Value::Literal(_) => None,
    }
}

/// Statements of a description by subject, in their order.
pub(super) struct StatementIndex<'d>(FxHashMap<&'d Node, Vec<&'d Statement>>);

impl<'d> StatementIndex<'d> {
    pub(super) fn new(statements: &'d [Statement]) -> Self {
        let mut by_subject: FxHashMap<&Node, Vec<&Statement>> = FxHashMap::default();
        for statement in statements {
            by_subject
                .entry(&statement.subject)
                .or_default()
                .push(statement);
        }
        Self(by_subject)
    }

    /// Returns true if there are statements about a node.
    pub(super) fn describes(&self, node: &Node) -> bool {
        self.0.contains_key(node)
    }

    /// Returns the statements about a node.
    pub(super) fn about(&self, node: &Node) -> &[&'d Statement] {
        match self.0.get(node) {
            Some(statements) => statements.as_slice(),
            None => &[],
        }
    }

    /// Iterates over the values of a node's property. Terms of schema.org are found with both schemes.
    pub(super) fn values<'i>(
        &'i self,
        node: &Node,
        property: &'i str,
    ) -> impl Iterator<Item = &'d Value> + use<'d, 'i> {
        let twin = property.strip_prefix("https://schema.org/");
        let statements = self.about(node).iter();
        statements
            .filter(move |one| {
                one.predicate == property
                    || twin.is_some() && one.predicate.strip_prefix("http://schema.org/") == twin
            })
            .map(|one| &one.object)
    }

    /// Iterates over the IRIs of the resources that a node denotes: its own, or those that are declared for a part.
    pub(super) fn web_iris<'i>(
        &'i self,
        node: &'d Node,
    ) -> impl Iterator<Item = &'d str> + use<'d, 'i> {
        let own = match node {
            Node::Iri(iri) => Some(iri.as_str()),
            Node::Dataset | Node::Part(_) => None,
        };
        let same = if own.is_none() { self.about(node) } else { &[] };
        own.into_iter()
            .chain(same.iter().filter_map(|statement| match &statement.object {
                Value::Node(Node::Iri(iri)) if statement.predicate == owl::SAME_AS => {
                    Some(iri.as_str())
                }
                _ => None,
            }))
    }
}

/// Results that were computed for nodes.
pub(super) type NodeCache<'d, T> = RefCell<FxHashMap<&'d Node, T>>;

/// Returns the cached result for a node, or computes it. Thousands of nodes may link to one node.
pub(super) fn get_or_compute<'d, T: Clone>(
    cache: &NodeCache<'d, T>,
    node: &'d Node,
    compute: impl FnOnce() -> T,
) -> T {
    let known = cache.borrow().get(node).cloned();
    known.unwrap_or_else(|| {
        let result = compute();
        cache.borrow_mut().insert(node, result.clone());
        result
    })
}

/// Literals in serde's data model. They are not validated: catalogues contain invalid ones.
mod literal {
    use super::*;

    #[derive(Serialize, Deserialize)]
    enum Kind {
        Datatype(String),
        Language(String),
        LeftToRight(String),
        RightToLeft(String),
    }

    pub(super) fn serialize<S: Serializer>(
        literal: &Literal,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let language = literal.language().map(str::to_owned);
        let kind = match (language, literal.direction()) {
            (Some(language), Some(BaseDirection::Ltr)) => Kind::LeftToRight(language),
            (Some(language), Some(BaseDirection::Rtl)) => Kind::RightToLeft(language),
            (Some(language), None) => Kind::Language(language),
            (None, _) => Kind::Datatype(literal.datatype().as_str().to_owned()),
        };
        (literal.value(), kind).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Literal, D::Error> {
        let (value, kind) = <(String, Kind)>::deserialize(deserializer)?;
        let directional = Literal::new_directional_language_tagged_literal_unchecked;
        Ok(match kind {
            Kind::Datatype(datatype) => {
                Literal::new_typed_literal(value, NamedNode::new_unchecked(datatype))
            }
            Kind::Language(language) => {
                Literal::new_language_tagged_literal_unchecked(value, language)
            }
            Kind::LeftToRight(language) => directional(value, language, BaseDirection::Ltr),
            Kind::RightToLeft(language) => directional(value, language, BaseDirection::Rtl),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_would_forge_others_are_not_writable() {
        let forged = "http://e.org/o> .\n<http://e.org/victim";
        let tagged = Literal::new_language_tagged_literal_unchecked("x", "en .\n<s> <p> <o>");
        for (subject, predicate, object) in [
            (
                Node::Iri(forged.into()),
                "http://e.org/p",
                Value::from(Literal::from(7)),
            ),
            (
                Node::Part(forged.into()),
                "http://e.org/p",
                Literal::from(7).into(),
            ),
            (
                Node::Dataset,
                "http://e.org/p",
                Node::Part("a> .".into()).into(),
            ),
            (Node::Dataset, forged, Literal::from(7).into()),
            (
                Node::Dataset,
                "http://e.org/p",
                Node::Iri(forged.into()).into(),
            ),
            (
                Node::Dataset,
                "http://e.org/p",
                Literal::new_typed_literal("x", NamedNode::new_unchecked(forged)).into(),
            ),
            (Node::Dataset, "http://e.org/p", tagged.into()),
        ] {
            assert!(!Statement::new(subject, predicate, object).is_writable());
        }
        assert!(
            Statement::new(
                Node::Dataset,
                "http://e.org/p",
                Node::Iri("http://e.org/ö?a#b".into())
            )
            .is_writable()
        );
    }

    #[test]
    fn statements_are_the_same_after_json() {
        let literals = [
            Literal::new_simple_literal("text"),
            Literal::from(7),
            Literal::new_typed_literal("x", NamedNode::new_unchecked("no IRI")),
            Literal::new_language_tagged_literal_unchecked("x", "no tag"),
            Literal::new_directional_language_tagged_literal_unchecked(
                "x",
                "he",
                BaseDirection::Rtl,
            ),
            Literal::new_directional_language_tagged_literal_unchecked(
                "x",
                "en",
                BaseDirection::Ltr,
            ),
        ];
        let mut statements: Vec<Statement> = literals
            .into_iter()
            .map(|literal| Statement::new(Node::Dataset, "http://e.org/p", literal))
            .collect();
        statements.push(Statement::new(
            Node::Part("a".into()),
            "http://e.org/p",
            Node::Iri("http://e.org/o".into()),
        ));
        let json = serde_json::to_string(&statements).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Vec<Statement>>(&json).expect("statements"),
            statements
        );
    }
}
