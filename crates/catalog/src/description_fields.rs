//! Descriptions as JSON objects with a fixed set of keys, as clients and operators write them.
//!
//! Nothing is guessed: an unknown key and a value of another type are errors that name the key. Catalogues of portals have
//! dialects of their own, which accept what portals publish.

use super::dcat_builder::{DcatBuilder, Field, FieldKind, Object, Subject, is_placeholder};
use super::languages::language_tag;
use super::statement::{Node, Statement, Value as StatementValue};
use super::typed_fields;
use super::{Dataset, DatasetId, Distribution, Location, Metadata, Moment, Period, dcat as reader};
use lodeseek_rdf::local_name;
use lodeseek_rdf::vocab::{adms, dc11, dcat, dcterms, foaf, owl, rdf, rdfs, skos, vcard};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Key of the texts without a language in an object of texts by language (BCP 47: undetermined).
pub(super) const UNDETERMINED: &str = "und";
/// Keys of the files of a new description. An edit cannot change them.
const FILES: [&str; 3] = ["download", "dump", "dumps"];
/// Keys of the id, which must be that of the dataset.
const IDS: [&str; 3] = ["id", "dataset_id", "identifier"];
/// Maximum number of levels of nested descriptions in JSON.
const MAX_DEPTH: usize = 3;
/// Minimum similarity (Jaro-Winkler) of a suggested key.
const MIN_SIMILARITY: f64 = 0.8;

/// Form of the values of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ValueForm {
    /// A text, or texts by language.
    Texts,
    /// A list of texts, or lists by language.
    Keywords,
    /// An IRI or a name, an object with both, or a list of these.
    Resources,
    /// An address, or a list of addresses.
    Addresses,
    /// A date, or a time.
    Date,
    /// A name, an object with these members, or a list of these.
    Objects(&'static [&'static str]),
    /// A period: two dates with a slash, or an object with `start` and `end`.
    Period,
    /// A text, or a list of texts.
    Identifiers,
}

impl ValueForm {
    /// Returns the description of the form in messages and in the reference.
    fn text(self) -> &'static str {
        match self {
            Self::Texts => "a text, or an object of texts by language",
            Self::Keywords => "a list of texts, or an object of lists by language",
            Self::Resources => {
                "an IRI or a name, an object with `iri` and `name`, or a list of these"
            }
            Self::Addresses => "an http or https address, or a list of these",
            Self::Date => "a date such as 2026-01-31, 2026-01 or 2026, or a time",
            Self::Objects(_) => "a name, an object with its members, or a list of these",
            Self::Period => {
                "two dates with a slash, an object with `start` and `end`, or a list of these"
            }
            Self::Identifiers => "a text, or a list of texts",
        }
    }
}

const AGENT_MEMBERS: &[&str] = &["name", "iri", "email", "homepage"];
const CONTACT_MEMBERS: &[&str] = &["name", "iri", "email", "homepage", "phone"];
const PLACE_MEMBERS: &[&str] = &["name", "iri", "geometry", "bbox"];

/// A key of a description, and the properties of DCAT that have its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DescriptionField {
    /// The key.
    pub key: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// IRIs of the properties. New values have the first one.
    pub properties: &'static [&'static str],
    form: ValueForm,
    kind: FieldKind,
}

const fn field(
    key: &'static str,
    properties: &'static [&'static str],
    form: ValueForm,
    kind: FieldKind,
) -> DescriptionField {
    DescriptionField {
        key,
        aliases: &[],
        properties,
        form,
        kind,
    }
}

const fn alias(field: DescriptionField, aliases: &'static [&'static str]) -> DescriptionField {
    DescriptionField { aliases, ..field }
}

impl DescriptionField {
    /// All keys, in the order of the reference.
    pub const ALL: &[Self] = &[
        field(
            "title",
            &[dcterms::TITLE, dc11::TITLE, rdfs::LABEL, skos::PREF_LABEL],
            ValueForm::Texts,
            FieldKind::Title,
        ),
        field(
            "alternative",
            &[dcterms::ALTERNATIVE],
            ValueForm::Texts,
            FieldKind::Title,
        ),
        field(
            "description",
            &[dcterms::DESCRIPTION, dc11::DESCRIPTION, rdfs::COMMENT],
            ValueForm::Texts,
            FieldKind::Text,
        ),
        alias(
            field(
                "keywords",
                &[dcat::KEYWORD],
                ValueForm::Keywords,
                FieldKind::Keywords,
            ),
            &["tags", "keyword"],
        ),
        field(
            "theme",
            &[dcat::THEME],
            ValueForm::Resources,
            FieldKind::Resource,
        ),
        alias(
            field(
                "creator",
                &[dcterms::CREATOR, dc11::CREATOR],
                ValueForm::Objects(AGENT_MEMBERS),
                FieldKind::Agent,
            ),
            &["author"],
        ),
        field(
            "publisher",
            &[dcterms::PUBLISHER],
            ValueForm::Objects(AGENT_MEMBERS),
            FieldKind::Agent,
        ),
        alias(
            field(
                "contact",
                &[dcat::CONTACT_POINT],
                ValueForm::Objects(CONTACT_MEMBERS),
                FieldKind::Contact,
            ),
            &["contactPoint"],
        ),
        field(
            "license",
            &[dcterms::LICENSE],
            ValueForm::Resources,
            FieldKind::Resource,
        ),
        field(
            "accessRights",
            &[dcterms::ACCESS_RIGHTS],
            ValueForm::Resources,
            FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
        ),
        alias(
            field(
                "issued",
                &[dcterms::ISSUED, dcterms::CREATED],
                ValueForm::Date,
                FieldKind::Date,
            ),
            &["created"],
        ),
        alias(
            field(
                "modified",
                &[dcterms::MODIFIED],
                ValueForm::Date,
                FieldKind::Date,
            ),
            &["updated"],
        ),
        alias(
            field(
                "landingPage",
                &[dcat::LANDING_PAGE],
                ValueForm::Addresses,
                FieldKind::Resource,
            ),
            &["landing_page", "url", "source_repo"],
        ),
        field(
            "language",
            &[dcterms::LANGUAGE],
            ValueForm::Resources,
            FieldKind::Resource,
        ),
        field(
            "spatial",
            &[dcterms::SPATIAL],
            ValueForm::Objects(PLACE_MEMBERS),
            FieldKind::Place,
        ),
        field(
            "temporal",
            &[dcterms::TEMPORAL],
            ValueForm::Period,
            FieldKind::Period,
        ),
        field(
            "frequency",
            &[dcterms::ACCRUAL_PERIODICITY],
            ValueForm::Resources,
            FieldKind::Resource,
        ),
        field(
            "version",
            &[dcat::VERSION, owl::VERSION_INFO],
            ValueForm::Texts,
            FieldKind::Text,
        ),
        field(
            "conformsTo",
            &[dcterms::CONFORMS_TO],
            ValueForm::Resources,
            FieldKind::Resource,
        ),
        field(
            "otherIdentifier",
            &[adms::IDENTIFIER],
            ValueForm::Identifiers,
            FieldKind::Identifier,
        ),
    ];

    /// Returns the field of a key or of one of its other spellings.
    #[must_use]
    pub fn find(key: &str) -> Option<&'static Self> {
        Self::ALL
            .iter()
            .find(|field| field.key == key || field.aliases.contains(&key))
    }

    /// Returns the field of a key.
    ///
    /// # Errors
    /// If the key is unknown; the message suggests a similar one.
    pub fn require(key: &str) -> Result<&'static Self, FieldError> {
        Self::find(key).ok_or_else(|| FieldError::unknown_key(key))
    }

    /// Returns the description of the values, for the reference.
    #[must_use]
    pub fn values(&self) -> String {
        match self.form {
            ValueForm::Objects(members) => {
                let members: Vec<String> = members.iter().map(|name| format!("`{name}`")).collect();
                format!(
                    "a name, an object with {}, or a list of these",
                    members.join(", ")
                )
            }
            form => form.text().to_owned(),
        }
    }

    /// Returns the mapping of the key for the builder of DCAT.
    pub(super) fn mapping(&self) -> Field {
        (self.key, self.properties[0], self.kind)
    }

    /// If true, the values are texts by language, and a patch may change one language.
    pub(super) fn has_languages(&self) -> bool {
        matches!(self.form, ValueForm::Texts | ValueForm::Keywords)
    }

    fn error(&self, reason: impl Into<String>) -> FieldError {
        FieldError {
            key: self.key.to_owned(),
            reason: reason.into(),
        }
    }

    fn wrong_type(&self, value: &Value) -> FieldError {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.error(format!("{} is expected, not {found}", self.form.text()))
    }

    /// Checks a value, and returns it in its regular form. Texts are objects by language. Null is no value.
    ///
    /// # Errors
    /// If the value has another type, or is none.
    pub(super) fn regular(&self, value: &Value) -> Result<Value, FieldError> {
        if value.is_null() {
            return Ok(Value::Null);
        }
        let regular = match self.form {
            ValueForm::Texts | ValueForm::Keywords => {
                let mut languages = self.by_language(value)?;
                languages.retain(|_, texts| !texts.is_null());
                Value::Object(languages)
            }
            ValueForm::Date => Value::from(self.date(value)?),
            ValueForm::Addresses => self.list(value, Self::address)?,
            ValueForm::Resources => self.list(value, Self::resource)?,
            ValueForm::Objects(_) => self.list(value, Self::object)?,
            ValueForm::Period => self.list(value, Self::period)?,
            ValueForm::Identifiers => {
                self.list(value, |field, value| Ok(Value::from(field.text(value)?)))?
            }
        };
        let is_empty = match &regular {
            Value::Object(languages) => languages.is_empty(),
            Value::Array(values) => values.is_empty(),
            _ => false,
        };
        Ok(if is_empty { Value::Null } else { regular })
    }

    /// Returns texts by language; null is kept, because a patch removes a language by it.
    ///
    /// # Errors
    /// If the value is no text and no object of texts by language.
    pub(super) fn by_language(&self, value: &Value) -> Result<Map<String, Value>, FieldError> {
        let Value::Object(object) = value else {
            return Ok(Map::from_iter([(
                UNDETERMINED.to_owned(),
                self.texts(value)?,
            )]));
        };
        let mut languages = Map::new();
        for (key, value) in object {
            let language = language_key(key).ok_or_else(|| {
                self.error(format!(
                    "{key:?} is no language tag; examples: en, de-AT, {UNDETERMINED} (undetermined)"
                ))
            })?;
            let texts = match value {
                Value::Null => Value::Null,
                value => self.texts(value)?,
            };
            if languages.insert(language.clone(), texts).is_some() {
                return Err(self.error(format!("the language {language} occurs twice")));
            }
        }
        Ok(languages)
    }

    /// Returns the texts of one language: one text, or a list.
    fn texts(&self, value: &Value) -> Result<Value, FieldError> {
        let is_list = self.form == ValueForm::Keywords;
        match value {
            Value::String(text) if is_list => {
                let parts = text.split([',', ';']).map(str::trim);
                let parts: Vec<Value> = parts
                    .filter(|part| !part.is_empty())
                    .map(Value::from)
                    .collect();
                if parts.is_empty() {
                    return Err(self.error("the text is empty; null removes the key"));
                }
                Ok(Value::Array(parts))
            }
            Value::String(_) => Ok(Value::from(self.text(value)?)),
            Value::Array(values) => {
                let texts: Vec<Value> = values
                    .iter()
                    .map(|value| self.text(value).map(Value::from))
                    .collect::<Result<_, _>>()?;
                Ok(match <[Value; 1]>::try_from(texts) {
                    Ok([text]) if !is_list => text,
                    Ok(texts) => Value::Array(texts.into()),
                    Err(texts) => Value::Array(texts),
                })
            }
            value => Err(self.wrong_type(value)),
        }
    }

    fn text(&self, value: &Value) -> Result<String, FieldError> {
        let Value::String(text) = value else {
            return Err(self.wrong_type(value));
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(self.error("the text is empty; null removes the key"));
        }
        if is_placeholder(text) {
            return Err(self.error(format!(
                "{text:?} is a placeholder, no value; null removes the key"
            )));
        }
        if text.len() > super::MAX_TEXT_BYTES {
            return Err(self.error(format!(
                "the text has more than {} bytes",
                super::MAX_TEXT_BYTES
            )));
        }
        Ok(text.to_owned())
    }

    fn date(&self, value: &Value) -> Result<String, FieldError> {
        let text = match value {
            Value::Number(year) if year.is_u64() => year.to_string(),
            value => self.text(value)?,
        };
        if Moment::parse(&text).is_none() {
            return Err(self.error(format!("{text:?} is no date; {}", self.form.text())));
        }
        Ok(text)
    }

    /// Returns a list of values in their regular form.
    fn list(
        &self,
        value: &Value,
        regular: impl Fn(&Self, &Value) -> Result<Value, FieldError>,
    ) -> Result<Value, FieldError> {
        let values = match value {
            Value::Array(values) => values.iter().map(|value| regular(self, value)).collect(),
            value => regular(self, value).map(|value| vec![value]),
        };
        Ok(Value::Array(values?))
    }

    fn address(&self, value: &Value) -> Result<Value, FieldError> {
        let text = self.text(value)?;
        let is_web = text.starts_with("http://") || text.starts_with("https://");
        if !is_web || oxrdf::NamedNode::new(text.as_str()).is_err() {
            return Err(self.error(format!("{text:?} is no http or https address")));
        }
        Ok(Value::from(text))
    }

    fn resource(&self, value: &Value) -> Result<Value, FieldError> {
        match value {
            Value::Object(object) => self.members(object, &["iri", "name"]),
            value => Ok(Value::from(self.text(value)?)),
        }
    }

    fn object(&self, value: &Value) -> Result<Value, FieldError> {
        match (value, self.form) {
            (Value::Object(object), ValueForm::Objects(members)) => self.members(object, members),
            (value, _) => Ok(Value::from(self.text(value)?)),
        }
    }

    fn period(&self, value: &Value) -> Result<Value, FieldError> {
        if let Value::Object(object) = value {
            let period = self.members(object, &["start", "end"])?;
            for bound in ["start", "end"].iter().filter_map(|key| period.get(key)) {
                self.bound(bound.as_str().unwrap_or_default())?;
            }
            return Ok(period);
        }
        let text = self.text(value)?;
        let Some((start, end)) = text.split_once('/') else {
            return Err(self.error(format!("{text:?} is no period; {}", self.form.text())));
        };
        for bound in [start.trim(), end.trim()] {
            if !matches!(bound, "" | "..") {
                self.bound(bound)?;
            }
        }
        Ok(Value::from(text))
    }

    fn bound(&self, text: &str) -> Result<(), FieldError> {
        if Period::from_date_text(text).is_some() {
            return Ok(());
        }
        Err(self.error(format!("{text:?} is no date; example: 2026-01-31")))
    }

    /// Checks the members of an object. All are texts, except geometries; a name may be in several languages.
    fn members(&self, object: &Object, known: &[&str]) -> Result<Value, FieldError> {
        let mut members = Map::new();
        for (key, value) in object {
            if !known.contains(&key.as_str()) {
                return Err(FieldError {
                    key: format!("{}.{key}", self.key),
                    reason: format!("unknown key; supported here: {}", known.join(", ")),
                });
            }
            let member = match (key.as_str(), value) {
                ("geometry" | "bbox", Value::Object(_) | Value::Array(_)) => value.clone(),
                ("iri" | "homepage", value) => {
                    let text = self.text(value)?;
                    if oxrdf::NamedNode::new(text.as_str()).is_err() {
                        return Err(self.error(format!("{key}: {text:?} is no IRI")));
                    }
                    Value::from(text)
                }
                (_, value) => Value::from(self.text(value)?),
            };
            members.insert(key.clone(), member);
        }
        if members.is_empty() {
            return Err(self.error(format!("an object needs one of: {}", known.join(", "))));
        }
        Ok(Value::Object(members))
    }

    /// Adds a value in its regular form to a description.
    pub(super) fn write(&self, builder: &mut DcatBuilder, subject: &Subject, value: &Value) {
        let property = self.properties[0];
        if let (Value::Object(languages), true) = (value, self.has_languages()) {
            for (language, texts) in languages {
                let language = Some(language.as_str()).filter(|language| *language != UNDETERMINED);
                builder.texts(subject, self.key, property, self.kind, texts, language);
            }
            return;
        }
        builder.field(subject, self.key, property, self.kind, &for_builder(value));
    }
}

/// Returns a value with the member names that the builder of DCAT reads.
pub(super) fn for_builder(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(for_builder).collect(),
        Value::Object(object) => {
            let renamed = object.iter().map(|(key, value)| {
                let key = if key == "iri" { "uri" } else { key };
                (key.to_owned(), value.clone())
            });
            Value::Object(renamed.collect())
        }
        value => value.clone(),
    }
}

/// Returns the regular form of a key of an object of texts by language.
fn language_key(key: &str) -> Option<String> {
    let key = key.trim();
    if matches!(key, "" | UNDETERMINED) {
        return Some(UNDETERMINED.to_owned());
    }
    if let Some(tag) = language_tag(key) {
        return Some(tag);
    }
    // Languages that the table of portals' codes lacks.
    let primary = key.split('-').next().unwrap_or_default();
    let is_code =
        matches!(primary.len(), 2 | 3) && primary.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_code && oxrdf::Literal::new_language_tagged_literal("", key).is_ok())
        .then(|| key.to_ascii_lowercase())
}

/// Error: a key of a description is unknown, or its value is none of its kind.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct FieldError {
    /// The key.
    pub key: String,
    /// The reason, and what is expected.
    pub reason: String,
}

impl FieldError {
    fn unknown_key(key: &str) -> Self {
        let best = DescriptionField::ALL
            .iter()
            .map(|field| {
                let known = field.key.to_lowercase();
                (strsim::jaro_winkler(&key.to_lowercase(), &known), field.key)
            })
            .max_by(|one, other| one.0.total_cmp(&other.0));
        let hint = match best {
            Some((similarity, known)) if similarity >= MIN_SIMILARITY => {
                format!("did you mean {known}?")
            }
            _ => {
                let known: Vec<&str> = DescriptionField::ALL
                    .iter()
                    .map(|field| field.key)
                    .collect();
                format!("supported keys: {}", known.join(", "))
            }
        };
        Self {
            key: key.chars().take(100).collect(),
            reason: format!("unknown key; {hint}"),
        }
    }
}

/// Reads a description as a JSON object with the keys of [`DescriptionField`], and `download` for addresses and paths of files.
///
/// # Errors
/// If a key is unknown, or a value is none of its kind: all such keys, in the order of the object.
pub fn read_description(
    object: &Map<String, Value>,
    id: &DatasetId,
) -> Result<Dataset, Vec<FieldError>> {
    let mut errors = Vec::new();
    let mut values: BTreeMap<&str, Value> = BTreeMap::new();
    let mut distributions = Vec::new();
    for (key, value) in object {
        if FILES.contains(&key.as_str()) {
            match parse_locations(key, value) {
                Ok(found) => distributions.extend(found),
                Err(error) => errors.push(error),
            }
            continue;
        }
        if IDS.contains(&key.as_str()) {
            errors.extend(check_id(key, value, id));
            continue;
        }
        let regular =
            DescriptionField::require(key).and_then(|field| Ok((field, field.regular(value)?)));
        match regular {
            Ok((field, value)) => {
                if values.insert(field.key, value).is_some() {
                    errors.push(field.error("the key occurs twice, in two spellings"));
                }
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut dataset = Dataset::new(Metadata::new(id.clone()));
    dataset.distributions = distributions;
    let values: Vec<(&DescriptionField, &Value)> = values
        .iter()
        .filter_map(|(key, value)| Some((DescriptionField::find(key)?, value)))
        .collect();
    with_values(&dataset, &values).map_err(|error| vec![error])
}

fn parse_locations(key: &str, value: &Value) -> Result<Vec<Distribution>, FieldError> {
    let texts = match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.as_str()],
        Value::Array(values) => values
            .iter()
            .map(|value| value.as_str().ok_or_else(|| invalid_location(key)))
            .collect::<Result<_, _>>()?,
        _ => return Err(invalid_location(key)),
    };
    let locations = texts.iter().map(|text| text.trim());
    Ok(locations
        .filter(|text| !text.is_empty())
        .map(|text| Distribution::new(Location::from_text(text)))
        .collect())
}

fn invalid_location(key: &str) -> FieldError {
    FieldError {
        key: key.to_owned(),
        reason: "an address or a path, or a list of these, is expected".to_owned(),
    }
}

fn check_id(key: &str, value: &Value, id: &DatasetId) -> Option<FieldError> {
    let is_same = match value {
        Value::String(text) => text == id.as_str(),
        Value::Number(number) => number.to_string() == id.as_str(),
        _ => false,
    };
    (!is_same).then(|| FieldError {
        key: key.to_owned(),
        reason: format!("the dataset has the id {id}, which no description changes; omit the key"),
    })
}

/// Returns a dataset with other values of some fields, in their regular form. Null removes all values of a field.
///
/// # Errors
/// If a value cannot be stated in DCAT.
pub(super) fn with_values(
    dataset: &Dataset,
    values: &[(&DescriptionField, &Value)],
) -> Result<Dataset, FieldError> {
    // The names of parts begin with the IRI of the dataset, so that they are the same afterwards.
    let iris = super::Iris::new(EDITED).map_err(|error| FieldError {
        key: String::new(),
        reason: error.to_string(),
    })?;
    let node = iris.dataset(&dataset.metadata.id);
    let replaced: Vec<&str> = values
        .iter()
        .flat_map(|(field, _)| field.properties.iter().copied())
        .collect();
    let mut triples = reader::to_triples(dataset, &iris);
    triples.retain(|triple| !is_subject(triple, iris.catalog().as_str()));
    remove_values(&mut triples, &node, &replaced);
    let mut builder = DcatBuilder::default();
    let subject = Subject::from(node.clone());
    for (field, value) in values {
        let before = builder.len();
        if value.is_null() {
            continue;
        }
        field.write(&mut builder, &subject, value);
        if builder.len() == before {
            return Err(field.error(format!("{value} is no value")));
        }
    }
    let (added, problems) = builder.finish_with_problems();
    if let Some(problem) = problems.first() {
        let (key, reason) = problem.split_once(": ").unwrap_or(("", problem));
        return Err(FieldError {
            key: key.to_owned(),
            reason: reason.to_owned(),
        });
    }
    let mut graph = lodeseek_rdf::TripleGraphBuilder::new();
    triples
        .iter()
        .for_each(|triple| graph.insert(triple.as_ref()));
    for triple in added.triples() {
        graph.insert_with_labels(added.to_triple(*triple).as_ref());
    }
    let read = reader::from_triples(&graph.finish(), &node);
    let mut edited = read.ok_or_else(|| FieldError {
        key: "title".to_owned(),
        reason: "the description has no statement about the dataset".to_owned(),
    })?;
    edited.metadata.id.clone_from(&dataset.metadata.id);
    edited.metadata.source.clone_from(&dataset.metadata.source);
    edited.distributions.clone_from(&dataset.distributions);
    edited.entry = dataset.entry.clone();
    Ok(edited)
}

/// Base of the IRIs of a description while it is edited. It occurs in no catalogue (RFC 6761).
const EDITED: &str = "http://edited.invalid/";

/// Removes the values of some properties of a node, and what only they describe.
fn remove_values(triples: &mut Vec<oxrdf::Triple>, node: &oxrdf::NamedNode, properties: &[&str]) {
    let reached = find_reachable_nodes(triples, node);
    triples.retain(|triple| {
        !(is_subject(triple, node.as_str()) && properties.contains(&triple.predicate.as_str()))
    });
    let kept = find_reachable_nodes(triples, node);
    triples.retain(|triple| match &triple.subject {
        oxrdf::NamedOrBlankNode::NamedNode(subject) => {
            kept.contains(subject.as_str()) || !reached.contains(subject.as_str())
        }
        oxrdf::NamedOrBlankNode::BlankNode(_) => true,
    });
}

fn is_subject(triple: &oxrdf::Triple, node: &str) -> bool {
    matches!(&triple.subject, oxrdf::NamedOrBlankNode::NamedNode(subject) if subject.as_str() == node)
}

/// Returns the IRIs that statements link with a node, directly or through others.
fn find_reachable_nodes(
    triples: &[oxrdf::Triple],
    node: &oxrdf::NamedNode,
) -> rustc_hash::FxHashSet<String> {
    let mut links: rustc_hash::FxHashMap<&str, Vec<&str>> = rustc_hash::FxHashMap::default();
    for triple in triples {
        if let (oxrdf::NamedOrBlankNode::NamedNode(subject), oxrdf::Term::NamedNode(object)) =
            (&triple.subject, &triple.object)
        {
            links
                .entry(subject.as_str())
                .or_default()
                .push(object.as_str());
        }
    }
    let mut reached = rustc_hash::FxHashSet::from_iter([node.as_str().to_owned()]);
    let mut waiting = vec![node.as_str()];
    while let Some(next) = waiting.pop() {
        for object in links.get(next).into_iter().flatten() {
            if reached.insert((*object).to_owned()) {
                waiting.push(object);
            }
        }
    }
    reached
}

/// Returns the description of a dataset as a JSON object with the keys of [`DescriptionField`]. Texts are objects by language.
#[must_use]
pub fn description_json(dataset: &Dataset) -> Map<String, Value> {
    let mut described = rustc_hash::FxHashSet::default();
    for statement in &dataset.extra_statements {
        described.insert(&statement.subject);
    }
    let mut statements = typed_fields::statements(dataset, &|node| described.contains(node));
    statements.extend(dataset.extra_statements.iter().cloned());
    let mut object = Map::new();
    for field in DescriptionField::ALL {
        let values = statements.iter().filter(|one| {
            one.subject == Node::Dataset && field.properties.contains(&one.predicate.as_str())
        });
        let value = if field.has_languages() {
            texts_json(field, values)
        } else {
            let mut list: Vec<Value> = Vec::new();
            for one in values {
                let value = value_json(&one.object, &statements, 0);
                if !list.contains(&value) {
                    list.push(value);
                }
            }
            match field.form {
                ValueForm::Date => list.into_iter().next(),
                _ => Some(Value::Array(list)).filter(|list| list != &Value::Array(Vec::new())),
            }
        };
        if let Some(value) = value {
            object.insert(field.key.to_owned(), value);
        }
    }
    object
}

/// Returns the texts of a field by language; `None` without texts.
fn texts_json<'s>(
    field: &DescriptionField,
    statements: impl Iterator<Item = &'s Statement>,
) -> Option<Value> {
    let mut languages: Map<String, Value> = Map::new();
    for statement in statements {
        let StatementValue::Literal(literal) = &statement.object else {
            continue;
        };
        let language = literal.language().unwrap_or(UNDETERMINED);
        let texts = languages
            .entry(language_key(language).unwrap_or_else(|| language.to_owned()))
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(texts) = texts
            && !texts.contains(&Value::from(literal.value()))
        {
            texts.push(Value::from(literal.value()));
        }
    }
    if field.form == ValueForm::Texts {
        for texts in languages.values_mut() {
            if let Value::Array(list) = texts
                && list.len() == 1
            {
                *texts = list.remove(0);
            }
        }
    }
    (!languages.is_empty()).then_some(Value::Object(languages))
}

/// Properties of nodes with their keys in JSON.
const MEMBERS: [(&str, &str); 14] = [
    (foaf::NAME, "name"),
    (vcard::FN, "name"),
    (skos::PREF_LABEL, "name"),
    (rdfs::LABEL, "name"),
    (dcterms::TITLE, "name"),
    (skos::NOTATION, "name"),
    (foaf::MBOX, "email"),
    (vcard::HAS_EMAIL, "email"),
    (foaf::HOMEPAGE, "homepage"),
    (vcard::HAS_URL, "homepage"),
    (vcard::HAS_TELEPHONE, "phone"),
    (dcat::START_DATE, "start"),
    (dcat::END_DATE, "end"),
    (dcat::BBOX, "bbox"),
];

/// Returns a value: a text, an IRI, or an object of what is stated about a node.
fn value_json(value: &StatementValue, statements: &[Statement], depth: usize) -> Value {
    let node = match value {
        StatementValue::Literal(literal) => return Value::from(literal.value()),
        StatementValue::Node(node) => node,
    };
    let mut object: Map<String, Value> = Map::new();
    let about = statements
        .iter()
        .filter(|one| one.subject == *node && one.predicate != rdf::TYPE);
    for statement in about.filter(|_| depth < MAX_DEPTH) {
        let predicate = statement.predicate.as_str();
        let entry = MEMBERS.iter().find(|(property, _)| *property == predicate);
        let key = match entry {
            Some(&(_, key)) => key,
            None => local_name(predicate),
        };
        let member = match value_json(&statement.object, statements, depth + 1) {
            Value::String(text) if key == "email" => {
                Value::from(text.strip_prefix("mailto:").unwrap_or(&text))
            }
            member => member,
        };
        match object.get_mut(key) {
            None => {
                object.insert(key.to_owned(), member);
            }
            Some(Value::Array(members)) if !members.contains(&member) => members.push(member),
            Some(present) if *present != member => {
                *present = Value::Array(vec![present.take(), member]);
            }
            Some(_) => {}
        }
    }
    match node {
        Node::Iri(iri) if object.is_empty() => Value::from(iri.as_str()),
        Node::Iri(iri) => {
            object.insert("iri".to_owned(), Value::from(iri.as_str()));
            Value::Object(object)
        }
        // A name alone is written as it is read.
        Node::Part(_) | Node::Dataset => match object.get("name") {
            Some(Value::String(name)) if object.len() == 1 => Value::from(name.as_str()),
            _ => Value::Object(object),
        },
    }
}
