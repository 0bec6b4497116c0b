//! Builder of a DCAT description. Readers of JSON dialects write each entry to a builder of its own.

use super::typed_fields;
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, rdf, rdfs, schema, skos, vcard};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;
pub(super) type Subject = NamedOrBlankNode;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const GEO_JSON: &str = "http://www.opengis.net/ont/geosparql#geoJSONLiteral";

/// Kind of a key's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldKind {
    /// Text, in one language or in several.
    Text,
    /// An IRI, or a name if it is not an IRI.
    Resource,
    /// A date.
    Date,
    /// A number.
    Number,
    /// A duration.
    Duration,
    /// The IRI or the text of a resource for which DCAT requires a node of this class.
    LabelledNode(&'static str),
    /// An additional identifier.
    Identifier,
    /// A media type, or a format if it is not a media type.
    MediaType,
}

/// (key, property, kind): mapping of a dialect's key to a property of DCAT.
pub(super) type Field = (&'static str, &'static str, FieldKind);

/// Description of one entry, as a graph.
#[derive(Default)]
pub(super) struct DcatBuilder {
    triples: TripleGraphBuilder,
    blanks: usize,
}

impl DcatBuilder {
    pub(super) fn blank(&mut self) -> Subject {
        self.blanks += 1;
        BlankNode::new_unchecked(format!("n{}", self.blanks)).into()
    }

    /// Returns the node of an IRI, else a new blank node.
    pub(super) fn node(&mut self, iri: Option<&str>) -> Subject {
        let known = iri.filter(|iri| iri.contains("://")).and_then(|iri| NamedNode::new(iri.trim()).ok());
        known.map_or_else(|| self.blank(), Into::into)
    }

    pub(super) fn add(&mut self, subject: &Subject, property: &str, object: impl Into<Term>) {
        let triple = Triple::new(subject.clone(), NamedNode::new_unchecked(property), object);
        self.triples.insert(triple.as_ref());
    }

    pub(super) fn class(&mut self, subject: &Subject, class: &str) {
        self.add(subject, rdf::TYPE, NamedNode::new_unchecked(class));
    }

    /// Adds a new node of a class as a value of a property and returns it.
    pub(super) fn part(&mut self, subject: &Subject, property: &str, class: &str) -> Subject {
        let part = self.blank();
        self.add(subject, property, part.clone());
        self.class(&part, class);
        part
    }

    pub(super) fn typed(&mut self, subject: &Subject, property: &str, text: &str, datatype: &str) {
        let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
        self.add(subject, property, Literal::new_typed_literal(text, datatype));
    }

    /// Adds texts: one, a list, or one per language.
    pub(super) fn text(&mut self, subject: &Subject, property: &str, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.text(subject, property, value)),
            Value::Object(texts) => {
                for (tag, value) in texts {
                    for text in scalars(value) {
                        let literal = Literal::new_language_tagged_literal(text.as_str(), tag);
                        self.add(subject, property, literal.unwrap_or_else(|_| Literal::from(text)));
                    }
                }
            }
            other => {
                if let Some(text) = scalar(other) {
                    self.add(subject, property, Literal::from(text));
                }
            }
        }
    }

    /// Adds a value of a kind.
    pub(super) fn value(&mut self, subject: &Subject, property: &str, kind: FieldKind, value: &Value) {
        if kind == FieldKind::Text || matches!((kind, value), (FieldKind::LabelledNode(_), Value::Object(_))) {
            let FieldKind::LabelledNode(class) = kind else { return self.text(subject, property, value) };
            let part = self.part(subject, property, class);
            return self.text(&part, rdfs::LABEL, value);
        }
        for text in scalars(value) {
            self.add_text(subject, property, kind, &text);
        }
        if let Value::Array(values) = value {
            for nested in values.iter().filter(|value| value.is_object()) {
                self.extra(subject, local(property), nested);
            }
        } else if value.is_object() {
            self.extra(subject, local(property), value);
        }
    }

    fn add_text(&mut self, subject: &Subject, property: &str, kind: FieldKind, text: &str) {
        match kind {
            FieldKind::Text => self.add(subject, property, Literal::from(text)),
            FieldKind::Resource => self.resource(subject, property, text),
            FieldKind::Date => self.add(subject, property, typed_fields::date(text)),
            FieldKind::Duration => self.typed(subject, property, text, "duration"),
            FieldKind::Number if text.parse::<i64>().is_ok() => self.typed(subject, property, text, "integer"),
            FieldKind::Number if text.parse::<f64>().is_ok_and(f64::is_finite) && !text.contains(['e', 'E']) => {
                self.typed(subject, property, text, "decimal");
            }
            FieldKind::Number => self.add(subject, property, Literal::from(text)),
            FieldKind::LabelledNode(class) => match typed_fields::iri_or_literal(text) {
                super::Value::Node(super::Node::Iri(iri)) => {
                    self.add(subject, property, NamedNode::new_unchecked(iri));
                }
                _ => {
                    let part = self.part(subject, property, class);
                    self.add(&part, rdfs::LABEL, Literal::from(text));
                }
            },
            FieldKind::Identifier => {
                let part = self.part(subject, property, adms::IDENTIFIER_CLASS);
                self.add(&part, skos::NOTATION, Literal::from(text));
            }
            FieldKind::MediaType => {
                let is_type = typed_fields::is_media_type(typed_fields::media_type_name(text));
                self.resource(subject, if is_type { dcat::MEDIA_TYPE } else { dcterms::FORMAT }, text);
            }
        }
    }

    /// Adds an IRI as a node and any other text as a literal.
    pub(super) fn resource(&mut self, subject: &Subject, property: &str, text: &str) {
        match typed_fields::iri_or_literal(text.trim()) {
            super::Value::Node(super::Node::Iri(iri)) => self.add(subject, property, NamedNode::new_unchecked(iri)),
            _ => self.add(subject, property, Literal::from(text.trim())),
        }
    }

    /// Removes the keys of a mapping from an object and adds their values.
    pub(super) fn fields(&mut self, subject: &Subject, object: &mut Object, fields: &[Field]) {
        for (key, property, kind) in fields {
            if let Some(value) = object.remove(*key) {
                self.value(subject, property, *kind, &value);
            }
        }
    }

    /// Adds the value of a key without a property in DCAT as `schema:additionalProperty`.
    pub(super) fn extra(&mut self, subject: &Subject, key: &str, value: &Value) {
        let is_empty = match value {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            Value::Array(values) => values.is_empty(),
            Value::Object(values) => values.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        if is_empty {
            return;
        }
        let texts = match value {
            Value::Array(values) if values.iter().all(|value| !value.is_object() && !value.is_array()) => {
                values.iter().map(plain).collect()
            }
            value => vec![plain(value)],
        };
        let part = self.part(subject, schema::ADDITIONAL_PROPERTY, schema::PROPERTY_VALUE);
        self.add(&part, schema::NAME, Literal::from(key));
        for text in texts {
            self.add(&part, schema::VALUE, Literal::from(text));
        }
    }

    /// Adds all remaining keys.
    pub(super) fn extras(&mut self, subject: &Subject, object: Object) {
        for (key, value) in object {
            self.extra(subject, &key, &value);
        }
    }

    /// Adds an agent: a name, or an object with a name.
    pub(super) fn agent(&mut self, subject: &Subject, property: &str, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.agent(subject, property, value)),
            Value::Object(agent) => {
                let mut agent = agent.clone();
                agent.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
                if agent.is_empty() {
                    return;
                }
                let iri = ["uri", "@id"].iter().find_map(|key| agent.remove(*key)).and_then(|iri| scalar(&iri));
                let node = self.node(iri.as_deref());
                self.add(subject, property, node.clone());
                self.class(&node, foaf::AGENT);
                let names = agent.remove("name_translated");
                self.fields(&node, &mut agent, AGENT);
                self.text(&node, foaf::NAME, &names.unwrap_or_default());
                for key in ["email", "mbox"] {
                    if let Some(address) = agent.remove(key).and_then(|value| scalar(&value)) {
                        self.resource(&node, foaf::MBOX, &mailto(&address));
                    }
                }
                agent.remove("@type");
                self.extras(&node, agent);
            }
            other => {
                if let Some(name) = scalar(other) {
                    let node = self.part(subject, property, foaf::AGENT);
                    self.add(&node, foaf::NAME, Literal::from(name));
                }
            }
        }
    }

    /// Adds a contact point: a name, or an object with a name.
    pub(super) fn contact(&mut self, subject: &Subject, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.contact(subject, value)),
            Value::Object(contact) => {
                let mut contact = contact.clone();
                contact.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
                if contact.is_empty() {
                    return;
                }
                let node = self.part(subject, dcat::CONTACT_POINT, vcard::KIND);
                let names = contact.remove("name_translated");
                self.fields(&node, &mut contact, CONTACT);
                self.text(&node, vcard::FN, &names.unwrap_or_default());
                for key in ["email", "hasEmail", "mbox"] {
                    if let Some(address) = contact.remove(key).and_then(|value| scalar(&value)) {
                        self.resource(&node, vcard::HAS_EMAIL, &mailto(&address));
                    }
                }
                contact.remove("@type");
                self.extras(&node, contact);
            }
            other => {
                if let Some(name) = scalar(other) {
                    let node = self.part(subject, dcat::CONTACT_POINT, vcard::KIND);
                    self.add(&node, vcard::FN, Literal::from(name));
                }
            }
        }
    }

    /// Adds a period of time.
    pub(super) fn period(&mut self, subject: &Subject, start: Option<&str>, end: Option<&str>) {
        let bounds = [(dcat::START_DATE, start), (dcat::END_DATE, end)];
        if bounds.iter().all(|(_, bound)| bound.is_none()) {
            return;
        }
        let period = self.part(subject, dcterms::TEMPORAL, dcterms::PERIOD_OF_TIME);
        for (property, bound) in bounds {
            if let Some(bound) = bound {
                self.add(&period, property, typed_fields::date(bound.trim()));
            }
        }
    }

    /// Adds a period in the form of an ISO 8601 interval, or any other text.
    pub(super) fn interval(&mut self, subject: &Subject, text: &str) {
        match text.split_once('/').filter(|_| !text.contains("://")) {
            Some((start, end)) => {
                let known = |bound: &'_ str| !bound.is_empty() && bound != "..";
                self.period(subject, Some(start).filter(|b| known(b)), Some(end).filter(|b| known(b)));
            }
            None => self.resource(subject, dcterms::TEMPORAL, text),
        }
    }

    /// Adds a geometry: GeoJSON, or any other text.
    pub(super) fn geometry(&mut self, subject: &Subject, property: &str, value: &Value) {
        let is_json = value.is_object() || value.as_str().is_some_and(|text| text.trim_start().starts_with('{'));
        let text = plain(value);
        if text.is_empty() || value.is_null() {
            return;
        }
        if is_json {
            self.add(subject, property, Literal::new_typed_literal(text, NamedNode::new_unchecked(GEO_JSON)));
        } else {
            self.add(subject, property, Literal::from(text));
        }
    }

    pub(super) fn finish(self) -> TripleGraph {
        self.triples.finish()
    }
}

const AGENT: &[Field] = &[
    ("name", foaf::NAME, FieldKind::Text),
    ("url", foaf::HOMEPAGE, FieldKind::Resource),
    ("homepage", foaf::HOMEPAGE, FieldKind::Resource),
    ("type", dcterms::TYPE, FieldKind::Resource),
    ("identifier", dcterms::IDENTIFIER, FieldKind::Resource),
];
const CONTACT: &[Field] = &[
    ("name", vcard::FN, FieldKind::Text),
    ("fn", vcard::FN, FieldKind::Text),
    ("phone", vcard::HAS_TELEPHONE, FieldKind::Resource),
    ("url", vcard::HAS_URL, FieldKind::Resource),
    ("identifier", vcard::HAS_UID, FieldKind::Resource),
    ("uri", vcard::HAS_UID, FieldKind::Resource),
];

fn mailto(address: &str) -> String {
    let address = address.trim();
    if address.contains('@') && !address.contains(':') { format!("mailto:{address}") } else { address.to_owned() }
}

fn local(property: &str) -> &str {
    lodeseek_rdf::local_name(property)
}

/// Returns the text of a string, number or boolean; `None` for an empty text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

pub(super) fn scalars(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(scalar).collect(),
        other => scalar(other).into_iter().collect(),
    }
}

fn plain(value: &Value) -> String {
    scalar(value).unwrap_or_else(|| value.to_string())
}

/// Returns the text of the first key that has one.
pub(super) fn first(object: &Object, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| scalar(object.get(*key)?))
}
