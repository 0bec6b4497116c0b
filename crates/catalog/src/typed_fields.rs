//! Converts the typed fields of a dataset to statements.

use super::addresses::is_unsafe_address;
use super::digest::{format_hex, hash_values};
use super::names::{CONCEPT_CODES, CONCEPT_LABELS};
use super::statement::{Node, Statement, Value};
use super::{
    Agent, Dataset, Distribution, Extent, Metadata, RemoteContent, Scheme, Text, Theme, Work,
};
use lodeseek_rdf::vocab::{dcat, dcterms, foaf, lodeseek, owl, rdf, sd, skos, void};
use lodeseek_rdf::{local_name, words};
use oxrdf::{Literal, NamedNode};
use oxsdatatypes::{Date, DateTime, GYear, GYearMonth};
use rustc_hash::FxHashSet;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Datatype of an identifier that was an IRI.
pub(super) const ANY_URI: &str = "http://www.w3.org/2001/XMLSchema#anyURI";
/// Length of the hash in the name of a part, in bytes.
pub(super) const PART_HASH_BYTES: usize = 6;
/// Namespace of IANA's media types, as used by DCAT.
pub(super) const MEDIA_TYPES: &str = "https://www.iana.org/assignments/media-types/";

/// Returns the statements of the typed fields.
///
/// If `is_described` returns true for the node of an agent, other statements contain its names. Keywords that are labels of
/// described themes are omitted: those that the catalogue declares are among the other statements.
pub(super) fn statements(
    dataset: &Dataset,
    is_described: &dyn Fn(&Node) -> bool,
) -> Vec<Statement> {
    let mut out = Statements(Vec::new());
    let stated = StatedValues::new(&dataset.extra_statements);
    out.metadata(
        &dataset.metadata,
        &concept_labels(&dataset.extra_statements),
        &stated,
    );
    if !dataset.states_license()
        && !stated.has(dcterms::RIGHTS, dataset.metadata.license.as_deref())
    {
        out.license(&dataset.metadata);
    }
    for theme in &dataset.metadata.themes {
        out.theme(theme);
    }
    for work in &dataset.metadata.introduced_by {
        out.work(work);
    }
    let creators = dataset
        .metadata
        .creators
        .iter()
        .map(|agent| (dcterms::CREATOR, agent));
    let publishers = dataset
        .metadata
        .publishers
        .iter()
        .map(|agent| (dcterms::PUBLISHER, agent));
    for (property, agent) in creators.chain(publishers) {
        out.agent(property, agent, is_described);
    }
    for (place, distribution) in dataset.distributions.iter().enumerate() {
        out.distribution(distribution, Node::Part(distribution_part(place)));
    }
    if let Some(remote) = &dataset.remote {
        out.remote(remote);
    }
    out.0
}

/// Returns the name of a part from its kind and a hash of its content. The same content has the same name in every
/// run.
pub(super) fn part_name(kind: &str, content: &[&str]) -> String {
    let digest = hash_values(content.iter().map(|piece| piece.as_bytes()));
    format!("{kind}-{}", format_hex(&digest[..PART_HASH_BYTES]))
}

/// If true, there is a statement about the dataset with this property.
pub(super) fn states_property(statements: &[Statement], property: &str) -> bool {
    statements
        .iter()
        .any(|one| one.subject == Node::Dataset && one.predicate == property)
}

/// Values of a dataset that the further statements contain in the form of the catalogue. The typed fields add no second form of
/// them.
struct StatedValues<'d> {
    /// (property, text) of literals with a datatype, IRIs and texts.
    values: FxHashSet<(&'d str, &'d str)>,
    has_identifier: bool,
}

impl<'d> StatedValues<'d> {
    /// Properties with a value that a typed field may have: as a literal with a datatype, or as that of another property.
    const PROPERTIES: [&'static str; 8] = [
        dcterms::TITLE,
        dcterms::ALTERNATIVE,
        dcterms::DESCRIPTION,
        dcat::KEYWORD,
        dcterms::ISSUED,
        dcterms::MODIFIED,
        dcat::LANDING_PAGE,
        dcterms::RIGHTS,
    ];

    fn new(statements: &'d [Statement]) -> Self {
        let mut values = FxHashSet::default();
        for statement in statements {
            let property = statement.predicate.as_str();
            if statement.subject != Node::Dataset || !Self::PROPERTIES.contains(&property) {
                continue;
            }
            match &statement.object {
                Value::Literal(literal) if literal.language().is_none() => {
                    values.insert((property, literal.value().trim()));
                }
                Value::Node(Node::Iri(iri)) => {
                    values.insert((property, iri.as_str()));
                }
                Value::Literal(_) | Value::Node(_) => {}
            }
        }
        Self {
            values,
            has_identifier: states_property(statements, dcterms::IDENTIFIER),
        }
    }

    fn has(&self, property: &str, value: Option<&str>) -> bool {
        value.is_some_and(|value| self.values.contains(&(property, value)))
    }
}

/// Returns the node of an agent: its IRI, else a part.
pub(super) fn agent_node(agent: &Agent) -> Node {
    known_or(agent.iri.as_deref(), || {
        part_name(
            "agent",
            &[&agent.name, agent.iri.as_deref().unwrap_or_default()],
        )
    })
}

pub(super) fn distribution_part(place: usize) -> String {
    format!("distribution-{}", place + 1)
}

/// Returns the node of a theme: its IRI, else a part.
pub(super) fn theme_node(theme: &Theme) -> Node {
    known_or(theme.iri.as_deref(), || {
        part_name("theme", &[&theme.label, theme.scheme.name()])
    })
}

pub(super) fn work_node(work: &Work) -> Node {
    known_or(work.iri.as_deref(), || {
        part_name(
            "work",
            &[&work.title, work.issued.as_deref().unwrap_or_default()],
        )
    })
}

fn known_or(iri: Option<&str>, own: impl FnOnce() -> String) -> Node {
    match iri {
        Some(iri) if is_iri(iri) => Node::Iri(iri.to_owned()),
        _ => Node::Part(own()),
    }
}

/// Returns the names of the themes, subjects and keywords that statements describe, which the reader adds to the keywords.
pub(super) fn concept_labels(statements: &[Statement]) -> FxHashSet<Literal> {
    let mut concepts = FxHashSet::default();
    for statement in statements {
        if statement.subject == Node::Dataset
            && [dcat::THEME, dcterms::SUBJECT, dcat::KEYWORD]
                .contains(&statement.predicate.as_str())
            && let Value::Node(concept) = &statement.object
        {
            concepts.insert(concept);
        }
    }
    let mut labels = FxHashSet::default();
    for statement in statements {
        if CONCEPT_LABELS
            .iter()
            .chain(CONCEPT_CODES)
            .any(|property| statement.predicate == *property)
            && concepts.contains(&statement.subject)
            && let Value::Literal(label) = &statement.object
        {
            let language = label.language().map(str::to_owned);
            labels.insert(new_literal(&Text {
                value: label.value().trim().to_owned(),
                language,
            }));
        }
    }
    labels
}

struct Statements(Vec<Statement>);

impl Statements {
    fn add(&mut self, subject: &Node, predicate: &str, object: impl Into<Value>) {
        self.0
            .push(Statement::new(subject.clone(), predicate, object));
    }

    fn iri(&mut self, subject: &Node, predicate: &str, object: &str) {
        self.add(subject, predicate, Node::Iri(object.to_owned()));
    }

    fn text(&mut self, subject: &Node, predicate: &str, text: &str) {
        self.add(subject, predicate, Literal::from(text));
    }

    fn metadata(
        &mut self,
        metadata: &Metadata,
        concept_labels: &FxHashSet<Literal>,
        stated: &StatedValues<'_>,
    ) {
        let node = &Node::Dataset;
        self.iri(node, rdf::TYPE, dcat::DATASET);
        self.text(node, lodeseek::ID, metadata.id.as_str());
        if !stated.has_identifier {
            self.text(node, dcterms::IDENTIFIER, metadata.id.as_str());
        }
        for (property, texts) in [
            (dcterms::TITLE, &metadata.titles),
            (dcterms::ALTERNATIVE, &metadata.alternatives),
            (dcterms::DESCRIPTION, &metadata.descriptions),
            (dcat::KEYWORD, &metadata.keywords),
        ] {
            for text in texts {
                let literal = new_literal(text);
                let is_label = property == dcat::KEYWORD && concept_labels.contains(&literal);
                let is_stated =
                    text.language.is_none() && stated.has(property, Some(text.value.as_str()));
                if !is_label && !is_stated {
                    self.add(node, property, literal);
                }
            }
        }
        if let Some(uses) = metadata.uses {
            self.add(node, lodeseek::USES, Literal::from(uses));
        }
        if let Some(source) = &metadata.source {
            self.add(node, lodeseek::SOURCE_IRI, iri_or_literal(source));
            if is_iri(source) {
                self.iri(node, owl::SAME_AS, source);
            }
        }
        let page = metadata.landing_page.as_deref();
        if let Some(page) = page.filter(|page| !stated.has(dcat::LANDING_PAGE, Some(page))) {
            self.add(node, dcat::LANDING_PAGE, iri_or_literal(page));
        }
        for (property, value) in [
            (dcterms::ISSUED, &metadata.issued),
            (dcterms::MODIFIED, &metadata.modified),
        ] {
            if let Some(value) = value
                && !stated.has(property, Some(value))
            {
                self.add(node, property, date_literal(value));
            }
        }
    }

    fn license(&mut self, metadata: &Metadata) {
        if let Some(license) = &metadata.license {
            self.add(&Node::Dataset, dcterms::LICENSE, iri_or_literal(license));
        }
    }

    fn theme(&mut self, theme: &Theme) {
        let concept = theme_node(theme);
        self.add(&Node::Dataset, dcat::THEME, concept.clone());
        self.iri(&concept, rdf::TYPE, skos::CONCEPT);
        self.text(&concept, skos::PREF_LABEL, &theme.label);
        self.iri(&concept, skos::IN_SCHEME, scheme_iri(theme.scheme));
    }

    fn work(&mut self, work: &Work) {
        let paper = work_node(work);
        self.add(&Node::Dataset, lodeseek::INTRODUCED_BY, paper.clone());
        self.text(&paper, dcterms::TITLE, &work.title);
        if let Some(issued) = &work.issued {
            self.add(&paper, dcterms::ISSUED, date_literal(issued));
        }
    }

    fn agent(&mut self, property: &str, agent: &Agent, is_described: &dyn Fn(&Node) -> bool) {
        let node = agent_node(agent);
        self.add(&Node::Dataset, property, node.clone());
        self.iri(&node, rdf::TYPE, foaf::AGENT);
        // A name that comes from the IRI is no statement of the catalogue.
        let is_from_iri = agent
            .iri
            .as_deref()
            .is_some_and(|iri| iri == agent.name || name_of_iri(iri).as_ref() == Some(&agent.name));
        if !is_from_iri && !is_described(&node) {
            self.text(&node, foaf::NAME, &agent.name);
        }
    }

    fn distribution(&mut self, distribution: &Distribution, part: Node) {
        self.add(&Node::Dataset, dcat::DISTRIBUTION, part.clone());
        self.iri(&part, rdf::TYPE, dcat::DISTRIBUTION_CLASS);
        let location = distribution.location.as_str();
        if distribution.access.as_deref() != Some(location) {
            self.add(&part, dcat::DOWNLOAD_URL, iri_or_literal(location));
        }
        if let Some(access) = &distribution.access {
            self.add(&part, dcat::ACCESS_URL, iri_or_literal(access));
        }
        // A value that is not a media type was a `dct:format`. It is among the extra statements.
        if let Some(media_type) = distribution
            .media_type
            .as_deref()
            .filter(|name| is_media_type(name))
        {
            self.add(&part, dcat::MEDIA_TYPE, media_type_iri(media_type));
        }
    }

    /// Adds the remote content as a `void:Dataset` of its own with the counts of the endpoint. Counts of the dataset
    /// itself describe the local content.
    fn remote(&mut self, remote: &RemoteContent) {
        let (node, whole) = (&Node::Dataset, Node::Part("remote".to_owned()));
        if remote.extent == Extent::Sample {
            self.iri(node, rdf::TYPE, lodeseek::SAMPLED_CONTENT);
        }
        self.add(node, lodeseek::SAMPLE_OF, whole.clone());
        self.iri(&whole, rdf::TYPE, void::DATASET);
        for subject in [node, &whole] {
            self.add(
                subject,
                void::SPARQL_ENDPOINT,
                iri_or_literal(&remote.endpoint),
            );
        }
        if let Some(graph) = &remote.graph {
            self.add(&whole, sd::NAME, iri_or_literal(graph));
        }
        if let Some(triples) = remote.triples {
            self.add(&whole, void::TRIPLES, Literal::from(triples));
        }
        let classes = (void::CLASS_PARTITION, void::CLASS, void::ENTITIES);
        let properties = (void::PROPERTY_PARTITION, void::PROPERTY, void::TRIPLES);
        for ((part_of, name, count), counts) in
            [(classes, &remote.classes), (properties, &remote.properties)]
        {
            for (place, (term, number)) in counts.iter().enumerate() {
                let part = Node::Part(format!("remote-{}-{}", local_name(name), place + 1));
                self.add(&whole, part_of, part.clone());
                self.add(&part, name, iri_or_literal(term));
                self.add(&part, count, Literal::from(*number));
            }
        }
    }
}

pub(super) fn scheme_iri(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Task => lodeseek::TASK,
        Scheme::Modality => lodeseek::MODALITY,
        Scheme::Language => lodeseek::LANGUAGE,
    }
}

fn new_literal(text: &Text) -> Literal {
    let tagged = text
        .language
        .as_deref()
        .and_then(|tag| Literal::new_language_tagged_literal(text.value.as_str(), tag).ok());
    tagged.unwrap_or_else(|| Literal::from(text.value.as_str()))
}

/// Fragments with which documents name a node of theirs by its role. They name nobody.
const ROLES: &[&str] = &[
    "agent",
    "author",
    "contact",
    "creator",
    "i",
    "id",
    "it",
    "me",
    "org",
    "organisation",
    "organization",
    "person",
    "publisher",
    "this",
];

/// Returns a name for readers from the end of an IRI. `None` if the end is a code, a role in its document, or part of a query:
/// `Q42`, `04wxnsj81`, `#organization`, `index.php?id=12`.
#[must_use]
pub fn name_of_iri(iri: &str) -> Option<String> {
    let local = local_name(iri);
    let is_role = iri.contains('#') && ROLES.iter().any(|role| local.eq_ignore_ascii_case(role));
    if is_role || local.contains(['?', '=']) || has_hash(local) {
        return None;
    }
    let name = words(local);
    let has_word = name
        .split(|c: char| !c.is_alphanumeric())
        .any(is_pronounceable);
    has_word.then_some(name)
}

/// If true, the end of an IRI is no name: it is empty, or has a hexadecimal number as the parts that programs name.
pub(super) fn is_opaque(iri: &str) -> bool {
    let local = local_name(iri);
    local.trim().is_empty() || has_hash(local)
}

fn has_hash(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| {
            // Both a digit and a letter are required: `20240131` is a date, and `fabaceae` is a word.
            word.len() >= 8
                && word.bytes().all(|byte| byte.is_ascii_hexdigit())
                && word.bytes().any(|byte| byte.is_ascii_digit())
                && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        })
}

/// If true, a word has two letters or more, more letters than digits, and does not begin with a digit.
fn is_pronounceable(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(|c| c.is_numeric()).count();
    letters >= 2 && letters > digits && !word.starts_with(char::is_numeric)
}

fn is_iri(text: &str) -> bool {
    NamedNode::new(text).is_ok()
}

/// Returns a node for an IRI, and a literal for any other text and for addresses that run a program.
pub(super) fn iri_or_literal(value: &str) -> Value {
    let address = ["urn:", "mailto:", "tel:", "doi:"]
        .iter()
        .any(|scheme| value.starts_with(scheme));
    if (value.contains("://") || address) && is_iri(value) && !is_unsafe_address(value) {
        Node::Iri(value.to_owned()).into()
    } else {
        Literal::from(value).into()
    }
}

/// Returns an address with percent-encoded characters where an IRI cannot have them; `None` if it is an IRI, or no address.
pub(super) fn repaired_address(text: &str) -> Option<String> {
    if !text.contains("://") || is_iri(text) {
        return None;
    }
    lodeseek_rdf::repair_iri(text).filter(|iri| is_iri(iri))
}

/// Returns true if an IRI is that of a media type, with either scheme.
pub(super) fn is_media_type_iri(iri: &str) -> bool {
    let name = type_with_parameters(iri);
    name.len() < iri.len() && is_media_type(name)
}

/// Returns the name of a media type without IANA's namespace and without parameters.
pub(super) fn media_type_name(text: &str) -> &str {
    let name = type_with_parameters(text);
    match name.split_once(';') {
        Some((name, _)) if is_media_type(name.trim_end()) => name.trim_end(),
        _ => name,
    }
}

/// Returns a media type without IANA's namespace.
fn type_with_parameters(text: &str) -> &str {
    let address = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .unwrap_or_default();
    let address = address.strip_prefix("www.").unwrap_or(address);
    let name = address.strip_prefix("iana.org/assignments/media-types/");
    match name {
        Some(name) => name.trim_end_matches('/'),
        None => text,
    }
}

/// Top-level media types of IANA's registry, and one that is in use without registration.
const TOP_LEVEL_TYPES: &[&str] = &[
    "application",
    "audio",
    "chemical",
    "font",
    "haptics",
    "image",
    "message",
    "model",
    "multipart",
    "text",
    "video",
];

pub(super) fn is_media_type(name: &str) -> bool {
    let Some((kind, rest)) = name.split_once('/') else {
        return false;
    };
    let is_known = TOP_LEVEL_TYPES
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known))
        || kind.starts_with("x-");
    is_known
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || matches!(c, ':' | '/' | ';'))
}

pub(super) fn media_type_iri(name: &str) -> Value {
    iri_or_literal(&format!("{MEDIA_TYPES}{name}"))
}

/// Returns a literal with the datatype of a date, with or without a time zone. An invalid date becomes a plain literal.
pub(super) fn date_literal(value: &str) -> Literal {
    // More digits are rarely a year: 20200131, 201920-12.
    let digits = value
        .trim_start_matches('-')
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    let kind = if digits == 4 && value.parse::<GYear>().is_ok() {
        "gYear"
    } else if digits == 4 && value.parse::<GYearMonth>().is_ok() {
        "gYearMonth"
    } else if value.parse::<Date>().is_ok() {
        "date"
    } else if value.parse::<DateTime>().is_ok() {
        "dateTime"
    } else {
        return Literal::from(value);
    };
    Literal::new_typed_literal(value, NamedNode::new_unchecked(format!("{XSD}{kind}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_at_the_end_of_an_iri_are_names() {
        for (iri, name) in [
            ("http://e.org/town_council", Some("town council")),
            ("http://e.org/authority/ESTAT", Some("ESTAT")),
            ("http://e.org/dataset/a#publisher-8cf0d599bf5b", None),
            ("urn:uuid:0c4d22b1-7a51-4c5e-9d3f-1f0e6a9b7c21", None),
            ("http://e.org/", Some("e.org")),
            ("http://e.org/theme/co2", Some("co2")),
            ("https://orcid.org/0000-0000-0000-0001", None),
            ("http://e.org/entity/Q42", None),
            ("http://e.org/org/5418", None),
            ("http://e.org/04wxnsj81", None),
            ("http://e.org/#organization", None),
            ("http://e.org/index.php?id=12", None),
        ] {
            assert_eq!(name_of_iri(iri).as_deref(), name, "{iri}");
        }
    }

    #[test]
    fn dates_have_datatypes_with_and_without_time_zones() {
        for (text, kind) in [
            ("2020", "gYear"),
            ("0000", "gYear"),
            ("-0044", "gYear"),
            ("2020Z", "gYear"),
            ("2020+02:00", "gYear"),
            ("2020-05:00", "gYear"),
            ("2020-05", "gYearMonth"),
            ("2020-05Z", "gYearMonth"),
            ("2020-05-05:00", "gYearMonth"),
            ("2020-05-31", "date"),
            ("2020-05-31Z", "date"),
            ("2020-05-31+02:00", "date"),
            ("2020-05-31-05:00", "date"),
            ("2020-05-31T12:00:00", "dateTime"),
            ("2020-05-31T12:00:00.5Z", "dateTime"),
            ("2020-05-31T12:00:00-05:00", "dateTime"),
            ("20200531", "string"),
            ("2020-13", "string"),
            ("2020-05-32Z", "string"),
            ("2020-05-31+15:00", "string"),
            ("last year", "string"),
            ("", "string"),
        ] {
            assert_eq!(
                date_literal(text).datatype().as_str(),
                format!("{XSD}{kind}"),
                "{text}"
            );
        }
    }
}
