//! Builder of a DCAT description. Readers of JSON dialects write each entry to a builder of its own.
//!
//! Every value of an entry goes into the description: by a mapping of its key, or as `schema:additionalProperty`. What is
//! changed on the way, or kept in another form than requested, is a problem of the entry.

use super::addresses::{Address, is_bare_scheme, parse_address, split_addresses};
use super::languages::{language_tag, split_suffix, texts_by_language};
use super::plain_text::{decode_entities, plain_title};
use super::typed_fields;
use super::{box_of_geojson, box_of_gml, box_of_text};
use lodeseek_rdf::vocab::{
    adms, dcat, dcterms, foaf, geosparql, locn, org, rdf, rdfs, schema, skos, vcard,
};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder, local_name};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) type Object = Map<String, Value>;
pub(super) type Subject = NamedOrBlankNode;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const GEO_JSON: &str = "http://www.opengis.net/ont/geosparql#geoJSONLiteral";
const GML: &str = "http://www.opengis.net/ont/geosparql#gmlLiteral";
/// Maximum number of problems of an entry that are listed.
const MAX_PROBLEMS: usize = 20;
/// Maximum number of characters of a text in a problem.
const MAX_PROBLEM_CHARS: usize = 200;

/// Kind of a key's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldKind {
    /// Title or name without HTML, in one language or in several.
    Title,
    /// Text as published, in one language or in several.
    Text,
    /// Keywords: a list, lists by language, or one text with commas.
    Keywords,
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
    /// A place: an IRI, a name, a geometry, or an object with them.
    Place,
    /// A period: an interval, a name, or an object with dates.
    Period,
    /// An agent: a name, or an object with a name.
    Agent,
    /// A contact point: a name, or an object with a name.
    Contact,
}

/// (key, property, kind): mapping of a dialect's key to a property of DCAT.
pub(super) type Field = (&'static str, &'static str, FieldKind);

/// A place in the description for the value of a key.
#[derive(Clone, Copy)]
struct Slot<'s> {
    subject: &'s Subject,
    /// Key of the entry, for values that have no other place.
    key: &'s str,
    property: &'s str,
    kind: FieldKind,
}

/// Description of one entry, as a graph.
#[derive(Default)]
pub(super) struct DcatBuilder {
    triples: TripleGraphBuilder,
    blanks: usize,
    problems: Vec<String>,
    /// Number of problems beyond [`MAX_PROBLEMS`].
    unlisted_problems: usize,
}

impl DcatBuilder {
    pub(super) fn blank(&mut self) -> Subject {
        self.blanks += 1;
        BlankNode::new_unchecked(format!("n{}", self.blanks)).into()
    }

    /// Returns the node of an IRI, else a new blank node. Another text becomes an additional identifier of the node.
    pub(super) fn node(&mut self, iri: Option<&str>) -> Subject {
        let Some(text) = iri else { return self.blank() };
        match parse_address(text) {
            // A text with a colon, such as `doi:10.1/x`, also has the syntax of an IRI.
            Address::Iri(iri) if iri.contains("://") || iri.starts_with("urn:") => {
                NamedNode::new_unchecked(iri).into()
            }
            _ => {
                let node = self.blank();
                let identifier = self.part(&node, adms::IDENTIFIER, adms::IDENTIFIER_CLASS);
                self.add(&identifier, skos::NOTATION, Literal::from(text));
                node
            }
        }
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

    pub(super) fn add_typed_literal(
        &mut self,
        subject: &Subject,
        property: &str,
        text: &str,
        datatype: &str,
    ) {
        let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
        self.add(
            subject,
            property,
            Literal::new_typed_literal(text, datatype),
        );
    }

    /// Adds a problem with the value of a key. It ends with the beginning of a text.
    pub(super) fn problem(&mut self, key: &str, message: &str, text: &str) {
        if self.problems.len() == MAX_PROBLEMS {
            self.unlisted_problems += 1;
            return;
        }
        let start: String = text.chars().take(MAX_PROBLEM_CHARS).collect();
        let end = if start.len() < text.len() { "…" } else { "" };
        self.problems
            .push(format!("{key}: {message}: {start}{end}"));
    }

    /// Adds the value of a key. Placeholders such as `N/A` are no values.
    pub(super) fn field(
        &mut self,
        subject: &Subject,
        key: &str,
        property: &str,
        kind: FieldKind,
        value: &Value,
    ) {
        self.fill(
            Slot {
                subject,
                key,
                property,
                kind,
            },
            value,
        );
    }

    /// Adds a text or a list of texts in a language.
    pub(super) fn texts(
        &mut self,
        subject: &Subject,
        key: &str,
        property: &str,
        kind: FieldKind,
        texts: &Value,
        language: Option<&str>,
    ) {
        let slot = Slot {
            subject,
            key,
            property,
            kind,
        };
        self.add_in_language(slot, texts, language);
    }

    /// Returns the number of triples.
    pub(super) fn len(&self) -> usize {
        self.triples.len()
    }

    /// Adds titles or names: one, a list, or one per language.
    pub(super) fn title(&mut self, subject: &Subject, key: &str, property: &str, value: &Value) {
        self.field(subject, key, property, FieldKind::Title, value);
    }

    /// Adds the value of a key whose texts are in a language. A code that is no language is ignored.
    pub(super) fn add_field_in_language(
        &mut self,
        subject: &Subject,
        key: &str,
        property: &str,
        kind: FieldKind,
        value: &Value,
        language: Option<&str>,
    ) {
        let slot = Slot {
            subject,
            key,
            property,
            kind,
        };
        match language.and_then(language_tag) {
            Some(language) if is_text_or_list(value) => {
                self.add_in_language(slot, value, Some(&language));
            }
            _ => self.fill(slot, value),
        }
    }

    /// Adds a value of a kind. A text is a value, also if it is a placeholder.
    pub(super) fn value(
        &mut self,
        subject: &Subject,
        property: &str,
        kind: FieldKind,
        value: &Value,
    ) {
        let slot = Slot {
            subject,
            key: local_name(property),
            property,
            kind,
        };
        match scalar_text(value) {
            Some(text) => self.add_text(slot, &text),
            None => self.fill(slot, value),
        }
    }

    /// Adds texts: one, a list, or one per language.
    pub(super) fn text(&mut self, subject: &Subject, property: &str, value: &Value) {
        self.value(subject, property, FieldKind::Text, value);
    }

    /// Adds an IRI as a node and any other text as a literal.
    pub(super) fn resource(&mut self, subject: &Subject, property: &str, text: &str) {
        self.add_resource(
            Slot {
                subject,
                key: local_name(property),
                property,
                kind: FieldKind::Resource,
            },
            text,
        );
    }

    /// Adds a period in the form of an ISO 8601 interval, or any other text.
    pub(super) fn interval(&mut self, subject: &Subject, text: &str) {
        let property = dcterms::TEMPORAL;
        self.add_interval(
            Slot {
                subject,
                key: local_name(property),
                property,
                kind: FieldKind::Period,
            },
            text,
        );
    }

    fn fill(&mut self, slot: Slot<'_>, value: &Value) {
        if slot.kind == FieldKind::Place {
            return self.place(slot, value);
        }
        let value = nested_json(value, slot.kind);
        match (slot.kind, value.as_ref()) {
            (FieldKind::Period, value) => self.period_value(slot, value),
            (_, Value::Array(values)) => {
                for value in values {
                    match value {
                        // A keyword of a list may contain a comma.
                        Value::String(keyword) if slot.kind == FieldKind::Keywords => {
                            self.add_title(slot, keyword, None)
                        }
                        value => self.fill(slot, value),
                    }
                }
            }
            (FieldKind::Agent | FieldKind::Contact, value) => self.agent(slot, value),
            (_, Value::Object(object)) => self.object(slot, object),
            (FieldKind::Keywords, Value::String(text)) => {
                split_keywords(text).for_each(|keyword| self.add_title(slot, keyword, None));
            }
            (_, value) => {
                if let Some(text) = scalar_text(value).filter(|text| !is_placeholder(text)) {
                    self.add_text(slot, &text);
                }
            }
        }
    }

    /// Adds an object in the place of a text or an IRI.
    fn object(&mut self, slot: Slot<'_>, object: &Object) {
        if let Some((texts, rest)) = texts_by_language(object) {
            for text in &texts {
                self.add_in_language(slot, text.value, text.language.as_deref());
            }
            self.extra(slot.subject, slot.key, &Value::Object(rest));
            return;
        }
        match slot.kind {
            FieldKind::Resource | FieldKind::MediaType => {
                self.add_described_resource(slot, object, None)
            }
            FieldKind::LabelledNode(class) => {
                self.add_described_resource(slot, object, Some(class))
            }
            FieldKind::Identifier => {
                let mut rest = object.clone();
                let notation = take_first(
                    &mut rest,
                    &[
                        "identifier",
                        "notation",
                        "skos:notation",
                        "value",
                        "id",
                        "@value",
                    ],
                );
                let Some(notation) = notation.as_ref().and_then(scalar_text) else {
                    return self.extra(slot.subject, slot.key, &Value::Object(object.clone()));
                };
                let part = self.part(slot.subject, slot.property, adms::IDENTIFIER_CLASS);
                self.add(&part, skos::NOTATION, Literal::from(notation));
                self.extras(&part, rest);
            }
            _ => {
                let mut rest = object.clone();
                match take_first(&mut rest, NAMES).filter(|label| !label.is_array()) {
                    Some(label) => {
                        self.fill(slot, &label);
                        self.extra(slot.subject, slot.key, &Value::Object(rest));
                    }
                    None => self.extra(slot.subject, slot.key, &Value::Object(object.clone())),
                }
            }
        }
    }

    /// Adds a resource that an object describes by an IRI, a name and other members.
    fn add_described_resource(&mut self, slot: Slot<'_>, object: &Object, class: Option<&str>) {
        let mut rest = object.clone();
        let iri = take_iri(&mut rest);
        let label = take_first(&mut rest, NAMES);
        let (is_theme, is_plain) = (
            slot.property == dcat::THEME,
            rest.is_empty() && class.is_none(),
        );
        match (&iri, &label) {
            (None, None) => {
                return self.extra(slot.subject, slot.key, &Value::Object(object.clone()));
            }
            (Some(iri), None) if is_plain => return self.add_resource(slot, iri),
            (None, Some(label)) if is_plain && !is_theme => return self.fill(slot, label),
            // A description may not make statements about a file or page.
            (Some(iri), _) if ADDRESSES.contains(&slot.property) => {
                self.add_resource(slot, iri);
                rest.extend(label.map(|label| ("name".to_owned(), label)));
                return self.extra(slot.subject, slot.key, &Value::Object(rest));
            }
            _ => {}
        }
        let node = self.node(iri.as_deref());
        self.add(slot.subject, slot.property, node.clone());
        if let Some(class) = class.or(is_theme.then_some(skos::CONCEPT)) {
            self.class(&node, class);
        }
        let property = if is_theme {
            skos::PREF_LABEL
        } else {
            rdfs::LABEL
        };
        if let Some(label) = &label {
            self.title(&node, "name", property, label);
        }
        self.extras(&node, rest);
    }

    /// Adds a text or a list of texts in a language.
    fn add_in_language(&mut self, slot: Slot<'_>, value: &Value, language: Option<&str>) {
        match value {
            Value::Array(values) => {
                for value in values {
                    match value {
                        Value::String(keyword) if slot.kind == FieldKind::Keywords => {
                            self.add_title(slot, keyword, language);
                        }
                        value => self.add_in_language(slot, value, language),
                    }
                }
            }
            Value::String(text) if slot.kind == FieldKind::Keywords => {
                split_keywords(text).for_each(|keyword| self.add_title(slot, keyword, language));
            }
            value => {
                let Some(text) = scalar_text(value).filter(|text| !is_placeholder(text)) else {
                    return;
                };
                match (slot.kind, parse_address(&text)) {
                    (FieldKind::Title | FieldKind::Keywords, _) => {
                        self.add_title(slot, &text, language)
                    }
                    (FieldKind::Text, _) | (FieldKind::Resource, Address::Text) => {
                        self.add(slot.subject, slot.property, new_literal(&text, language));
                    }
                    (FieldKind::LabelledNode(class), Address::Text) => {
                        let part = self.part(slot.subject, slot.property, class);
                        self.add(&part, rdfs::LABEL, new_literal(&text, language));
                    }
                    _ => self.add_text(slot, &text),
                }
            }
        }
    }

    /// Adds a text without HTML.
    fn add_title(&mut self, slot: Slot<'_>, text: &str, language: Option<&str>) {
        if is_placeholder(text) {
            return;
        }
        let plain = plain_title(text);
        // Decoded character references are no loss, thus no problem.
        if matches!(plain, Cow::Owned(_)) && plain != decode_entities(text) {
            self.problem(slot.key, "HTML tags were removed", text);
        }
        let text = plain.trim();
        if !text.is_empty() {
            self.add(slot.subject, slot.property, new_literal(text, language));
        }
    }

    fn add_text(&mut self, slot: Slot<'_>, text: &str) {
        let Slot {
            subject, property, ..
        } = slot;
        match slot.kind {
            FieldKind::Title | FieldKind::Keywords | FieldKind::Agent | FieldKind::Contact => {
                self.add_title(slot, text, None);
            }
            FieldKind::Text => self.add(subject, property, Literal::from(text)),
            // An identifier is a text, also if it is an address.
            FieldKind::Resource if property == dcterms::IDENTIFIER => {
                self.add(subject, property, Literal::from(text));
            }
            FieldKind::Resource | FieldKind::Place | FieldKind::Period => {
                self.add_resource(slot, text)
            }
            FieldKind::Date => self.add(subject, property, typed_fields::date_literal(text)),
            FieldKind::Duration if text.parse::<oxsdatatypes::Duration>().is_ok() => {
                self.add_typed_literal(subject, property, text, "duration");
            }
            FieldKind::Number if text.parse::<i64>().is_ok() => {
                self.add_typed_literal(subject, property, text, "integer")
            }
            FieldKind::Number
                // The lexical form of `xsd:decimal` has no exponent. <https://www.w3.org/TR/xmlschema11-2/#decimal>
                if text.parse::<f64>().is_ok_and(f64::is_finite) && !text.contains(['e', 'E']) =>
            {
                self.add_typed_literal(subject, property, text, "decimal");
            }
            FieldKind::Number | FieldKind::Duration => {
                self.add(subject, property, Literal::from(text))
            }
            FieldKind::LabelledNode(class) => match parse_address(text) {
                Address::Iri(iri) => self.add(subject, property, NamedNode::new_unchecked(iri)),
                Address::Unsafe | Address::Text => {
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
                let property = if is_type {
                    dcat::MEDIA_TYPE
                } else {
                    dcterms::FORMAT
                };
                // The range of `dcat:mediaType` is a media type. A name such as `CSV` is a value of `dct:format`.
                self.add_resource(Slot { property, ..slot }, text);
            }
        }
    }

    fn add_resource(&mut self, slot: Slot<'_>, text: &str) {
        let Slot {
            subject, property, ..
        } = slot;
        for text in split_addresses(text) {
            match parse_address(text) {
                Address::Iri(iri) => self.add(subject, property, NamedNode::new_unchecked(iri)),
                Address::Text => self.add(subject, property, Literal::from(text.trim())),
                Address::Unsafe => {
                    self.problem(
                        slot.key,
                        "an address of this scheme is kept as text only",
                        text,
                    );
                    self.extra(subject, slot.key, &Value::from(text));
                }
            }
        }
    }

    /// Removes the keys of a mapping from an object and adds their values. A key of a text may end with a language, as in
    /// `title_fr`.
    pub(super) fn fields(&mut self, subject: &Subject, object: &mut Object, fields: &[Field]) {
        for (key, property, kind) in fields {
            if let Some(value) = object.remove(*key) {
                self.field(subject, key, property, *kind, &value);
            }
        }
        let texts = fields.iter().filter(|(_, _, kind)| kind.is_text());
        let texts: Vec<&str> = texts.map(|(key, ..)| *key).collect();
        // The keys are collected first, because the loop borrows the object.
        let mut suffixed = Vec::new();
        for (key, value) in object.iter() {
            if let Some((field, language)) =
                split_suffix(key, &texts).filter(|_| is_text_or_list(value))
            {
                suffixed.push((key.clone(), field.to_owned(), language));
            }
        }
        for (key, field, language) in suffixed {
            let mapping = fields.iter().find(|(name, ..)| *name == field);
            if let (Some((_, property, kind)), Some(value)) = (mapping, object.remove(&key)) {
                self.add_in_language(
                    Slot {
                        subject,
                        key: &key,
                        property,
                        kind: *kind,
                    },
                    &value,
                    Some(&language),
                );
            }
        }
    }

    /// Adds the value of a key without a property in DCAT as `schema:additionalProperty`.
    pub(super) fn extra(&mut self, subject: &Subject, key: &str, value: &Value) {
        let Some(value) = prune(value.clone()) else {
            return;
        };
        let part = self.part(subject, schema::ADDITIONAL_PROPERTY, schema::PROPERTY_VALUE);
        self.add(&part, schema::NAME, Literal::from(key));
        if let Value::Object(object) = &value
            && let Some((texts, rest)) = texts_by_language(object)
            && rest.is_empty()
        {
            for text in &texts {
                for value in scalar_texts(text.value) {
                    self.add(
                        &part,
                        schema::VALUE,
                        new_literal(&value, text.language.as_deref()),
                    );
                }
            }
            return;
        }
        let texts = match &value {
            Value::Array(values) if values.iter().all(is_scalar) => {
                values.iter().map(format_plain).collect()
            }
            value => vec![format_plain(value)],
        };
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

    /// Adds the class that an object declares by `@type`. The classes in `implied` need no statement.
    pub(super) fn declared_class(
        &mut self,
        subject: &Subject,
        object: &mut Object,
        implied: &[&str],
    ) {
        let Some(declared) = object.remove("@type") else {
            return;
        };
        for name in scalar_texts(&declared) {
            let (local, known) = (
                name.rsplit([':', '#', '/']).next().unwrap_or(&name),
                CLASSES,
            );
            match known.iter().find(|(class, _)| *class == local) {
                _ if implied.contains(&local) => {}
                Some((_, class)) => self.class(subject, class),
                None => self.extra(subject, "@type", &Value::from(name)),
            }
        }
        if !is_text_or_list(&declared) {
            self.extra(subject, "@type", &declared);
        }
    }

    /// Adds an agent or a contact point: a name, or an object with a name.
    fn agent(&mut self, slot: Slot<'_>, value: &Value) {
        let is_contact = slot.kind == FieldKind::Contact;
        let (class, name) = if is_contact {
            (vcard::KIND, vcard::FN)
        } else {
            (foaf::AGENT, foaf::NAME)
        };
        let Value::Object(object) = value else {
            if let Some(text) = scalar_text(value).filter(|text| !is_placeholder(text)) {
                // The IRI of an authority in place of a name.
                if !is_contact && super::names::is_address(text.trim()) {
                    let node = self.node(Some(text.trim()));
                    self.add(slot.subject, slot.property, node.clone());
                    return self.class(&node, class);
                }
                let node = self.part(slot.subject, slot.property, class);
                match split_emails(&text).filter(|_| is_contact) {
                    Some(addresses) => self.emails(&node, slot.key, is_contact, &addresses),
                    None => self.title(&node, slot.key, name, &Value::from(text)),
                }
            }
            return;
        };
        let Some(Value::Object(mut agent)) = prune(Value::Object(object.clone())) else {
            return;
        };
        if let Some((texts, rest)) = texts_by_language(&agent) {
            let node = self.part(slot.subject, slot.property, class);
            let slot = Slot {
                subject: &node,
                key: slot.key,
                property: name,
                kind: FieldKind::Title,
            };
            texts
                .iter()
                .for_each(|text| self.add_in_language(slot, text.value, text.language.as_deref()));
            self.extras(&node, rest);
            return;
        }
        // This comes first, because repeated texts are found by the keys without the role.
        strip_role(&mut agent, slot.key);
        drop_repeated_text(&mut agent, "name", "name_translated");
        drop_repeated_text(&mut agent, "title", "title_translated");
        if agent.values().all(is_placeholder_value) {
            return;
        }
        let iri = ["uri", "@id"]
            .iter()
            .find_map(|key| take_text(&mut agent, key));
        // The IRI of a contact is that of a person or organisation, not of the vCard: it becomes `vcard:hasUID`.
        let node = if is_contact {
            if let Some(iri) = &iri {
                agent
                    .entry("uri")
                    .or_insert_with(|| Value::from(iri.as_str()));
            }
            self.blank()
        } else {
            self.node(iri.as_deref())
        };
        self.add(slot.subject, slot.property, node.clone());
        self.class(&node, class);
        self.declared_class(&node, &mut agent, &["Agent", "Kind", "Contact"]);
        let fields = if is_contact { CONTACT } else { AGENT };
        let names: Vec<Field> = fields
            .iter()
            .filter(|(_, property, _)| *property == name)
            .copied()
            .collect();
        // Only the first of several names names the agent, for example `name` before `title`.
        let first = names.iter().find(|(key, ..)| {
            agent
                .get(*key)
                .is_some_and(|value| !is_placeholder_value(value))
        });
        if let Some(first) = first {
            let (key, translated) = (first.0, format!("{}_translated", first.0));
            for key in [key, &translated] {
                if let Some(value) = agent.remove(key) {
                    self.title(&node, key, name, &value);
                }
            }
        } else if let Some(value) = take_first(
            &mut agent,
            &["name_translated", "title_translated", "label_translated"],
        ) {
            self.title(&node, "name", name, &value);
        }
        let others: Vec<Field> = fields
            .iter()
            .filter(|(_, property, _)| *property != name)
            .copied()
            .collect();
        self.fields(&node, &mut agent, &others);
        self.fields(&node, &mut agent, &[("name", name, FieldKind::Title)]);
        for key in ["email", "hasEmail", "mbox"] {
            let Some(value) = agent.remove(key).map(unwrap_value) else {
                continue;
            };
            let values = match value {
                Value::Array(values) => values,
                value => vec![value],
            };
            for value in values {
                let Some(text) = scalar_text(&value) else {
                    self.extra(&node, key, &value);
                    continue;
                };
                if !is_placeholder(&text) {
                    let addresses = split_emails(&text).unwrap_or_else(|| vec![text.clone()]);
                    self.emails(&node, key, is_contact, &addresses);
                }
            }
        }
        self.extras(&node, agent);
    }

    fn emails(&mut self, node: &Subject, key: &str, is_contact: bool, addresses: &[String]) {
        let property = if is_contact {
            vcard::HAS_EMAIL
        } else {
            foaf::MBOX
        };
        for address in addresses {
            let slot = Slot {
                subject: node,
                key,
                property,
                kind: FieldKind::Resource,
            };
            self.add_resource(slot, &to_mailto_iri(address));
        }
    }

    /// Adds a period of time. Two open ends are an additional property, because DCAT has periods with dates only.
    pub(super) fn period(&mut self, subject: &Subject, start: Option<&str>, end: Option<&str>) {
        let ends = [start, end].map(|bound| bound.filter(|bound| !is_placeholder(bound)));
        let [start, end] = ends.map(|bound| bound.filter(|bound| is_known_bound(bound)));
        if start.is_none() && end.is_none() {
            let open: Vec<&str> = ends.into_iter().flatten().collect();
            return self.extra(subject, "temporal", &Value::from(open.join("/")));
        }
        let period = self.part(subject, dcterms::TEMPORAL, dcterms::PERIOD_OF_TIME);
        for (property, bound) in [(dcat::START_DATE, start), (dcat::END_DATE, end)] {
            if let Some(bound) = bound {
                self.add(&period, property, typed_fields::date_literal(bound.trim()));
            }
        }
    }

    /// Adds periods: intervals, other texts, or objects with dates.
    fn period_value(&mut self, slot: Slot<'_>, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.fill(slot, value)),
            Value::Object(object) => {
                let mut rest = object.clone();
                let [start, end] = [STARTS, ENDS].map(|keys| take_first(&mut rest, keys));
                if start.is_none() && end.is_none() {
                    return self.object(
                        Slot {
                            kind: FieldKind::Resource,
                            ..slot
                        },
                        object,
                    );
                }
                let iri = take_iri(&mut rest);
                let period = self.node(iri.as_deref());
                self.add(slot.subject, slot.property, period.clone());
                self.declared_class(&period, &mut rest, &["PeriodOfTime"]);
                self.class(&period, dcterms::PERIOD_OF_TIME);
                for (key, property, bound) in [
                    ("start", dcat::START_DATE, start),
                    ("end", dcat::END_DATE, end),
                ] {
                    if let Some(bound) = bound.map(unwrap_value) {
                        self.field(&period, key, property, FieldKind::Date, &bound);
                    }
                }
                if let Some(label) = take_first(&mut rest, NAMES) {
                    self.title(&period, "name", rdfs::LABEL, &label);
                }
                self.extras(&period, rest);
            }
            value => {
                if let Some(text) = scalar_text(value).filter(|text| !is_placeholder(text)) {
                    self.add_interval(slot, &text);
                }
            }
        }
    }

    /// Adds an interval of two dates, of which one may be open, as a period, and any other text as it is.
    fn add_interval(&mut self, slot: Slot<'_>, text: &str) {
        if let Some((start, end)) = text.split_once('/') {
            let (start, end) = (start.trim(), end.trim());
            let is_interval = is_date_or_open(start) && is_date_or_open(end);
            // Without a date, as in `../..`, a period would have no statement.
            if is_interval && (is_known_bound(start) || is_known_bound(end)) {
                return self.period(slot.subject, Some(start), Some(end));
            }
        }
        self.add_resource(slot, text);
    }

    /// Adds places: IRIs, names, geometries, boxes, or objects with them.
    fn place(&mut self, slot: Slot<'_>, value: &Value) {
        let nested = nested_json(value, FieldKind::Place);
        match nested.as_ref() {
            Value::Array(values) if is_box(values) => self.geometry_place(slot, dcat::BBOX, value),
            Value::Array(values) => values.iter().for_each(|value| self.place(slot, value)),
            Value::Object(object) if is_geometry(object) => {
                self.geometry_place(slot, locn::GEOMETRY, value)
            }
            Value::Object(object) => self.described_place(slot, object),
            value => {
                let Some(text) = scalar_text(value).filter(|text| !is_placeholder(text)) else {
                    return;
                };
                if is_markup_geometry(&text) {
                    self.geometry_place(slot, locn::GEOMETRY, value);
                } else if box_of_text(&text).is_some() {
                    self.geometry_place(slot, dcat::BBOX, value);
                } else {
                    self.add_resource(slot, &text);
                }
            }
        }
    }

    fn geometry_place(&mut self, slot: Slot<'_>, property: &str, geometry: &Value) {
        let location = self.part(slot.subject, slot.property, dcterms::LOCATION);
        self.geometry(&location, property, geometry);
    }

    /// Adds a place that an object describes by an IRI, names, geometries and other members.
    fn described_place(&mut self, slot: Slot<'_>, object: &Object) {
        let mut place = object.clone();
        if let Some((texts, rest)) = texts_by_language(object) {
            texts.iter().for_each(|text| {
                self.add_in_language(
                    Slot {
                        kind: FieldKind::Resource,
                        ..slot
                    },
                    text.value,
                    text.language.as_deref(),
                );
            });
            return self.extra(slot.subject, slot.key, &Value::Object(rest));
        }
        let iri = take_iri(&mut place);
        let location = self.node(iri.as_deref());
        self.add(slot.subject, slot.property, location.clone());
        self.class(&location, dcterms::LOCATION);
        self.declared_class(&location, &mut place, &["Location"]);
        for key in [
            "text",
            "prefLabel",
            "name",
            "label",
            "title",
            "display_name",
        ] {
            if let Some(label) = place.remove(key) {
                self.title(&location, key, skos::PREF_LABEL, &label);
            }
        }
        for (keys, property) in [
            (&["geom", "geometry"][..], locn::GEOMETRY),
            (&["bbox", "boundingBox", "bounding_box"], dcat::BBOX),
            (&["centroid"], dcat::CENTROID),
        ] {
            for key in keys {
                if let Some(geometry) = place.remove(*key) {
                    self.geometry(&location, property, &geometry);
                }
            }
        }
        self.extras(&location, place);
    }

    /// Adds a geometry: GeoJSON, Well-known Text, GML, a box, or any other text.
    pub(super) fn geometry(&mut self, subject: &Subject, property: &str, value: &Value) {
        let nested = nested_json(value, FieldKind::Place);
        if let Value::Array(values) = nested.as_ref()
            && !is_box(values)
        {
            return values
                .iter()
                .for_each(|value| self.geometry(subject, property, value));
        }
        // The text of a geometry is kept as it is published.
        let text = format_plain(value);
        if value.is_null() || is_placeholder(&text) {
            return;
        }
        if nested.is_object() {
            self.add_with_datatype(subject, property, text, GEO_JSON);
        } else if text.starts_with('<') && box_of_gml(&text).is_some() {
            self.add_with_datatype(subject, property, text, GML);
        } else if super::box_of_wkt(&text).is_some() {
            self.add_with_datatype(subject, property, text, geosparql::WKT_LITERAL);
        } else {
            self.add(subject, property, Literal::from(text));
        }
    }

    fn add_with_datatype(
        &mut self,
        subject: &Subject,
        property: &str,
        text: String,
        datatype: &str,
    ) {
        self.add(
            subject,
            property,
            Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype)),
        );
    }

    /// Returns the graph.
    pub(super) fn finish(self) -> TripleGraph {
        self.triples.finish()
    }

    /// Returns the graph, and the problems with the values.
    pub(super) fn finish_with_problems(mut self) -> (TripleGraph, Vec<String>) {
        if self.unlisted_problems > 0 {
            self.problems.push(format!(
                "{} further problems of the entry",
                self.unlisted_problems
            ));
        }
        (self.triples.finish(), self.problems)
    }
}

impl FieldKind {
    /// If true, the values are texts that may be in several languages.
    fn is_text(self) -> bool {
        matches!(self, Self::Title | Self::Text | Self::Keywords)
    }
}

const AGENT: &[Field] = &[
    ("name", foaf::NAME, FieldKind::Title),
    ("fn", foaf::NAME, FieldKind::Title),
    ("title", foaf::NAME, FieldKind::Title),
    ("label", foaf::NAME, FieldKind::Title),
    ("prefLabel", foaf::NAME, FieldKind::Title),
    ("display_name", foaf::NAME, FieldKind::Title),
    ("fullname", foaf::NAME, FieldKind::Title),
    ("url", foaf::HOMEPAGE, FieldKind::Resource),
    ("homepage", foaf::HOMEPAGE, FieldKind::Resource),
    ("type", dcterms::TYPE, FieldKind::Resource),
    ("identifier", dcterms::IDENTIFIER, FieldKind::Resource),
];
const CONTACT: &[Field] = &[
    ("name", vcard::FN, FieldKind::Title),
    ("fn", vcard::FN, FieldKind::Title),
    ("title", vcard::FN, FieldKind::Title),
    ("label", vcard::FN, FieldKind::Title),
    ("display_name", vcard::FN, FieldKind::Title),
    ("phone", vcard::HAS_TELEPHONE, FieldKind::Resource),
    ("telephone", vcard::HAS_TELEPHONE, FieldKind::Resource),
    ("tel", vcard::HAS_TELEPHONE, FieldKind::Resource),
    ("hasTelephone", vcard::HAS_TELEPHONE, FieldKind::Resource),
    ("url", vcard::HAS_URL, FieldKind::Resource),
    ("hasURL", vcard::HAS_URL, FieldKind::Resource),
    ("identifier", vcard::HAS_UID, FieldKind::Resource),
    ("uri", vcard::HAS_UID, FieldKind::Resource),
];
/// Classes that objects declare: (local name, IRI).
const CLASSES: &[(&str, &str)] = &[
    ("Organization", org::ORGANIZATION),
    ("Agent", foaf::AGENT),
    ("DatasetSeries", dcat::DATASET_SERIES),
    ("Location", dcterms::LOCATION),
    ("Concept", skos::CONCEPT),
];
/// Properties whose values are addresses of files and pages.
const ADDRESSES: &[&str] = &[
    dcat::DOWNLOAD_URL,
    dcat::ACCESS_URL,
    dcat::LANDING_PAGE,
    dcat::ENDPOINT_URL,
];
/// Keys of a resource's name, best first.
const NAMES: &[&str] = &[
    "name",
    "title",
    "label",
    "prefLabel",
    "display_name",
    "fn",
    "text",
    "@value",
    "value",
    "name_translated",
    "title_translated",
    "label_translated",
    "skos:prefLabel",
    "rdfs:label",
    "dct:title",
    "dataset_identifier",
    "theme",
];
/// Keys of a resource's IRI, best first.
const IRIS: &[&str] = &["uri", "@id", "iri", "id", "url", "href", "link"];
const STARTS: &[&str] = &[
    "start",
    "startDate",
    "start_date",
    "begin",
    "beginDate",
    "begin_date",
    "from",
    "temporal_start",
    "gte",
    "dcat:startDate",
    "schema:startDate",
];
const ENDS: &[&str] = &[
    "end",
    "endDate",
    "end_date",
    "finish",
    "to",
    "until",
    "temporal_end",
    "lte",
    "dcat:endDate",
    "schema:endDate",
];

fn new_literal(text: &str, language: Option<&str>) -> Literal {
    match language {
        // RDF compares language tags without case. With one form, equal literals are equal terms.
        Some(tag) => Literal::new_language_tagged_literal_unchecked(text, tag.to_ascii_lowercase()),
        None => Literal::from(text),
    }
}

/// Returns the value in the JSON of a text, else the value itself. A text that may be a title or a description is only read
/// as texts by language.
fn nested_json(value: &Value, kind: FieldKind) -> Cow<'_, Value> {
    let Value::String(text) = value else {
        return Cow::Borrowed(value);
    };
    let text = text.trim();
    if !text.starts_with(['{', '[']) || !text.ends_with(['}', ']']) {
        return Cow::Borrowed(value);
    }
    let Some(nested) = serde_json::from_str::<Value>(text).ok().and_then(prune) else {
        return match postgres_array(text).filter(|_| kind == FieldKind::Resource) {
            Some(list) => Cow::Owned(list),
            None => Cow::Borrowed(value),
        };
    };
    let is_read = match (kind, &nested) {
        (FieldKind::Title | FieldKind::Text, Value::Object(object)) => {
            texts_by_language(object).is_some()
        }
        (FieldKind::Title | FieldKind::Text, _) => false,
        (_, Value::Array(values)) => !values.is_empty(),
        (_, nested) => nested.is_object(),
    };
    if is_read {
        Cow::Owned(nested)
    } else {
        Cow::Borrowed(value)
    }
}

/// Reads a list of codes in the syntax of PostgreSQL, as in `{ITA,DEU}`, which Italian portals write.
fn postgres_array(text: &str) -> Option<Value> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let codes: Vec<&str> = inner.split(',').map(str::trim).collect();
    codes.iter().all(|code| is_code(code)).then(|| codes.into())
}

fn is_code(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Splits a text of several keywords at commas and semicolons.
fn split_keywords(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';'])
        .map(str::trim)
        .filter(|keyword| !keyword.is_empty())
}

/// Removes the name of a role from the keys of an agent, as in `creator_name`.
fn strip_role(agent: &mut Object, role: &str) {
    let prefixed = agent.keys().filter_map(|key| {
        let rest = key.strip_prefix(role)?.strip_prefix('_')?;
        (!rest.is_empty() && !agent.contains_key(rest)).then(|| (key.clone(), rest.to_owned()))
    });
    for (key, rest) in prefixed.collect::<Vec<_>>() {
        if let Some(value) = agent.remove(&key) {
            agent.insert(rest, value);
        }
    }
}

/// Removes a text that is repeated in the texts by language of another key.
pub(super) fn drop_repeated_text(object: &mut Object, key: &str, translated: &str) {
    let Some(Value::String(text)) = object.get(key) else {
        return;
    };
    let translated = object
        .get(translated)
        .map(|value| nested_json(value, FieldKind::Text));
    let Some(Value::Object(texts)) = translated.as_deref() else {
        return;
    };
    let is_repeated = texts_by_language(texts).is_some_and(|(texts, _)| {
        texts.iter().any(|one| {
            one.language.is_some()
                && one
                    .value
                    .as_str()
                    .is_some_and(|other| other.trim() == text.trim())
        })
    });
    if is_repeated {
        object.remove(key);
    }
}

/// Removes and returns the value of the first key that an object has.
pub(super) fn take_first(object: &mut Object, keys: &[&str]) -> Option<Value> {
    keys.iter().find_map(|key| object.remove(*key))
}

/// Returns the values of a key: those of a list, or the value alone.
pub(super) fn into_list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(values)) => values,
        Some(value) => vec![value],
        None => Vec::new(),
    }
}

/// Removes and returns the text of a key. Another value stays.
pub(super) fn take_text(object: &mut Object, key: &str) -> Option<String> {
    let text = object.get(key).and_then(scalar_text)?;
    object.remove(key);
    Some(text)
}

/// Removes and returns the IRI of an object.
fn take_iri(object: &mut Object) -> Option<String> {
    let key = IRIS.iter().find(|key| {
        let text = object.get(**key).and_then(Value::as_str);
        text.is_some_and(|text| matches!(parse_address(text), Address::Iri(_)))
    })?;
    object.remove(*key).and_then(|iri| scalar_text(&iri))
}

/// Returns the value of an object that has nothing else, as in `{"@value": "2020"}`.
fn unwrap_value(value: Value) -> Value {
    match value {
        Value::Object(mut object)
            if object.len() == 1
                && (object.contains_key("@value") || object.contains_key("@id")) =>
        {
            take_first(&mut object, &["@value", "@id"]).unwrap_or_default()
        }
        other => other,
    }
}

/// If true, the list has the numbers of a box or a position.
pub(super) fn is_box(values: &[Value]) -> bool {
    matches!(values.len(), 2 | 4 | 6) && values.iter().all(Value::is_number)
        || values.len() == 2 && values.iter().all(is_number_pair)
}

fn is_number_pair(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|pair| pair.len() == 2 && pair.iter().all(Value::is_number))
}

/// If true, the object is a geometry of GeoJSON or of ArcGIS.
pub(super) fn is_geometry(object: &Object) -> bool {
    let is_typed = object.contains_key("type")
        && ["coordinates", "geometries", "features"]
            .iter()
            .any(|key| object.contains_key(*key));
    let is_feature = object.get("type").and_then(Value::as_str) == Some("Feature")
        && object.contains_key("geometry");
    is_typed
        || is_feature
        || ["xmin", "ymin", "xmax", "ymax"]
            .iter()
            .all(|key| object.contains_key(*key))
}

/// If true, the text is a geometry in Well-known Text, GML or GeoJSON.
fn is_markup_geometry(text: &str) -> bool {
    let bounds = match text.as_bytes().first() {
        Some(b'{') => box_of_geojson(text),
        _ => super::box_of_wkt(text).or_else(|| box_of_gml(text)),
    };
    bounds.is_some()
}

/// Splits e-mail addresses; `None` if the text is something else.
fn split_emails(text: &str) -> Option<Vec<String>> {
    let pieces = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';'))
        .filter(|piece| !piece.is_empty());
    let pieces: Vec<String> = pieces.map(str::to_owned).collect();
    (!pieces.is_empty() && pieces.iter().all(|piece| is_email(piece))).then_some(pieces)
}

fn is_email(text: &str) -> bool {
    let address = text.strip_prefix("mailto:").unwrap_or(text);
    address
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
}

fn to_mailto_iri(address: &str) -> String {
    let address = address.trim();
    if address.contains('@') && !address.contains(':') {
        format!("mailto:{address}")
    } else {
        address.to_owned()
    }
}

/// If true, the text is no sign of an unknown or open end.
fn is_known_bound(text: &str) -> bool {
    !is_placeholder(text) && !matches!(text, ".." | "*")
}

/// If true, the text is the end of an interval: a date, or a sign of an open end.
fn is_date_or_open(text: &str) -> bool {
    matches!(text, "" | "..") || super::Period::from_date_text(text).is_some()
}

/// If true, the value is a text that stands for a missing value.
pub(super) fn is_placeholder_value(value: &Value) -> bool {
    value.as_str().is_some_and(is_placeholder)
}

/// If true, the text stands for a missing value.
pub(super) fn is_placeholder(text: &str) -> bool {
    const PLACEHOLDERS: [&str; 14] = [
        "null",
        "none",
        "nil",
        "nan",
        "undefined",
        "n/a",
        "n.a.",
        "#n/a",
        "not available",
        "not applicable",
        "-",
        "--",
        "–",
        "—",
    ];
    let text = text.trim();
    text.is_empty()
        || is_bare_scheme(text)
        || PLACEHOLDERS
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
}

pub(super) fn is_text_or_list(value: &Value) -> bool {
    is_scalar(value)
        || value
            .as_array()
            .is_some_and(|values| values.iter().all(is_scalar))
}

/// If true, the value is neither an object nor a list.
pub(super) fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Returns a value without nulls, empty texts, and empty lists and objects; `None` if nothing is left.
pub(super) fn prune(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.trim().is_empty()).then_some(Value::String(text)),
        Value::Array(values) => {
            let values: Vec<Value> = values.into_iter().filter_map(prune).collect();
            (!values.is_empty()).then_some(Value::Array(values))
        }
        Value::Object(object) => {
            let object: Object = object
                .into_iter()
                .filter_map(|(key, value)| Some((key, prune(value)?)))
                .collect();
            (!object.is_empty()).then_some(Value::Object(object))
        }
        other => Some(other),
    }
}

/// Returns an object without empty values.
pub(super) fn prune_object(object: &Object) -> Object {
    match prune(Value::Object(object.clone())) {
        Some(Value::Object(object)) => object,
        _ => Object::new(),
    }
}

/// Returns the text of a string, number or boolean; `None` for an empty text.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

pub(super) fn scalar_texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(scalar_text).collect(),
        other => scalar_text(other).into_iter().collect(),
    }
}

fn format_plain(value: &Value) -> String {
    scalar_text(value).unwrap_or_else(|| value.to_string())
}

/// Returns the text of the first key that has one.
pub(super) fn first_scalar(object: &Object, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| scalar_text(object.get(*key)?))
}
