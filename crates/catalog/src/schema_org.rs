//! Datasets in schema.org's terms, and in Croissant's, which extend them: converts their graph to DCAT. Terms without
//! an equivalent in DCAT are kept.
//! <https://schema.org/Dataset>, <http://mlcommons.org/croissant/1.0>

use super::dcat_builder::{DcatBuilder, FieldKind, Subject};
use lodeseek_rdf::vocab::{dcat, dcterms, foaf, rdf, schema, spdx};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use oxrdf::{BlankNode, NamedNode, Term};
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Namespace without the scheme: both `https:` and `http:` are in use.
const NAMESPACE: &str = "://schema.org/";

/// (class of schema.org or Croissant, class of DCAT).
const CLASSES: &[(&str, &str)] = &[
    ("Dataset", dcat::DATASET),
    ("DataDownload", dcat::DISTRIBUTION_CLASS),
    ("DataCatalog", dcat::CATALOG),
    ("Person", foaf::AGENT),
    ("Organization", foaf::AGENT),
    ("GovernmentOrganization", foaf::AGENT),
    ("CollegeOrUniversity", foaf::AGENT),
    ("ResearchOrganization", foaf::AGENT),
];
const CROISSANT: &str = "http://mlcommons.org/croissant/";

const OF_DATASET: &[(&str, &str, FieldKind)] = &[
    ("name", dcterms::TITLE, FieldKind::Text),
    ("alternateName", dcterms::ALTERNATIVE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("url", dcat::LANDING_PAGE, FieldKind::Resource),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("creator", dcterms::CREATOR, FieldKind::Resource),
    ("author", dcterms::CREATOR, FieldKind::Resource),
    ("publisher", dcterms::PUBLISHER, FieldKind::Resource),
    ("contributor", dcterms::CONTRIBUTOR, FieldKind::Resource),
    ("datePublished", dcterms::ISSUED, FieldKind::Date),
    ("dateModified", dcterms::MODIFIED, FieldKind::Date),
    ("dateCreated", dcterms::CREATED, FieldKind::Date),
    ("distribution", dcat::DISTRIBUTION, FieldKind::Resource),
    ("identifier", dcterms::IDENTIFIER, FieldKind::Resource),
    ("inLanguage", dcterms::LANGUAGE, FieldKind::Resource),
    ("spatialCoverage", dcterms::SPATIAL, FieldKind::Resource),
    ("version", dcat::VERSION, FieldKind::Text),
    ("includedInDataCatalog", dcterms::IS_PART_OF, FieldKind::Resource),
    ("isPartOf", dcterms::IS_PART_OF, FieldKind::Resource),
    ("hasPart", dcterms::HAS_PART, FieldKind::Resource),
    ("contactPoint", dcat::CONTACT_POINT, FieldKind::Resource),
];
const OF_DISTRIBUTION: &[(&str, &str, FieldKind)] = &[
    ("name", dcterms::TITLE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("contentUrl", dcat::DOWNLOAD_URL, FieldKind::Resource),
    ("url", dcat::ACCESS_URL, FieldKind::Resource),
    ("encodingFormat", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("fileFormat", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("contentSize", dcat::BYTE_SIZE, FieldKind::Number),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("datePublished", dcterms::ISSUED, FieldKind::Date),
    ("dateModified", dcterms::MODIFIED, FieldKind::Date),
];
const OF_AGENT: &[(&str, &str, FieldKind)] = &[
    ("name", foaf::NAME, FieldKind::Text),
    ("url", foaf::HOMEPAGE, FieldKind::Resource),
    ("email", foaf::MBOX, FieldKind::Resource),
    ("identifier", dcterms::IDENTIFIER, FieldKind::Resource),
];
const OF_CATALOG: &[(&str, &str, FieldKind)] = &[
    ("name", dcterms::TITLE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("url", foaf::HOMEPAGE, FieldKind::Resource),
    ("dataset", dcat::HAS_DATASET, FieldKind::Resource),
];

/// Returns the datasets of a graph in schema.org's terms.
pub(super) fn datasets(graph: &TripleGraph) -> Vec<TermId> {
    let Some(kind) = graph.iri(rdf::TYPE) else { return Vec::new() };
    let triples = graph.triples().iter().filter(|triple| triple.predicate == kind);
    let is_dataset = |class| local(graph.term(class)).is_some_and(|name| name == "Dataset");
    triples.filter(|triple| is_dataset(triple.object)).map(|triple| triple.subject).collect()
}

/// Converts the graph to DCAT.
pub(super) fn to_dcat(graph: &TripleGraph) -> TripleGraph {
    let kinds = kinds(graph);
    let mut builder = DcatBuilder::default();
    for triple in graph.triples() {
        let plain = graph.to_triple(*triple);
        let subject = renamed(plain.subject);
        let kind = kinds.get(&triple.subject).copied();
        let predicate = graph.term(triple.predicate);
        let object = lodeseek_rdf::relabelled_term(plain.object, &mut grouped);
        if plain.predicate.as_str() == rdf::TYPE {
            if let Some(class) = kind {
                builder.class(&subject, class);
            }
            if local(graph.term(triple.object)) != Some("Dataset") {
                builder.add(&subject, rdf::TYPE, object);
            }
            continue;
        }
        match (local(predicate), kind) {
            (Some(name), Some(class)) => statement(&mut builder, &subject, class, name, object),
            (Some(name), None) => builder.add(&subject, &format!("{}{name}", schema::NAMESPACE), object),
            (None, class) => foreign_statement(&mut builder, &subject, class, predicate.text(), object),
        }
    }
    builder.finish()
}

/// Adds a statement outside of schema.org's namespace. Two properties of Croissant's files have equivalents in DCAT.
fn foreign_statement(builder: &mut DcatBuilder, subject: &Subject, class: Option<&str>, predicate: &str, object: Term) {
    let croissant = predicate.strip_prefix(CROISSANT).filter(|_| class == Some(dcat::DISTRIBUTION_CLASS));
    match (croissant, &object) {
        (Some("contentUrl"), _) => builder.add(subject, dcat::DOWNLOAD_URL, object),
        (Some("md5"), Term::Literal(number)) if is_hex(number.value()) => {
            checksum(builder, subject, number.value(), spdx::MD5);
        }
        _ => builder.add(subject, predicate, object),
    }
}

/// Renames blank nodes of the graph, so that they differ from those of the builder.
fn renamed(node: Subject) -> Subject {
    match node {
        Subject::BlankNode(node) => grouped(node).into(),
        node @ Subject::NamedNode(_) => node,
    }
}

fn grouped(node: BlankNode) -> BlankNode {
    BlankNode::new_unchecked(format!("g{}", node.as_str()))
}

fn local<'a>(term: TermRef<'a>) -> Option<&'a str> {
    let TermRef::Iri(iri) = term else { return None };
    iri.strip_prefix("https").or_else(|| iri.strip_prefix("http"))?.strip_prefix(NAMESPACE)
}

/// Returns the DCAT classes of nodes, from their classes or from the properties that lead to them.
fn kinds(graph: &TripleGraph) -> FxHashMap<TermId, &'static str> {
    let mut kinds = FxHashMap::default();
    for triple in graph.triples() {
        let found = match (graph.term(triple.predicate).text(), local(graph.term(triple.predicate))) {
            (rdf::TYPE, _) => {
                let term = graph.term(triple.object);
                let file = term.text().strip_prefix(CROISSANT).is_some_and(|name| name.starts_with("File"));
                let class = local(term).and_then(|name| CLASSES.iter().find(|(own, _)| *own == name));
                let class = class.map(|(_, class)| *class).or(file.then_some(dcat::DISTRIBUTION_CLASS));
                class.map(|class| (triple.subject, class))
            }
            (_, Some("distribution")) => Some((triple.object, dcat::DISTRIBUTION_CLASS)),
            (_, Some("creator" | "author" | "publisher" | "contributor")) => Some((triple.object, foaf::AGENT)),
            (_, Some("includedInDataCatalog")) => Some((triple.object, dcat::CATALOG)),
            _ => None,
        };
        if let Some((node, class)) = found.filter(|(node, _)| graph.is_resource(*node)) {
            kinds.entry(node).or_insert(class);
        }
    }
    kinds
}

/// If true, the text is a byte string in hexadecimal. Some files contain an address or a placeholder instead.
fn is_hex(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn checksum(builder: &mut DcatBuilder, file: &Subject, number: &str, algorithm: &str) {
    let part = builder.part(file, spdx::CHECKSUM, spdx::CHECKSUM_CLASS);
    builder.typed(&part, spdx::CHECKSUM_VALUE, number.trim(), "hexBinary");
    builder.add(&part, spdx::ALGORITHM, NamedNode::new_unchecked(algorithm));
}

fn statement(builder: &mut DcatBuilder, subject: &Subject, class: &str, name: &str, object: Term) {
    let fields = match class {
        dcat::DATASET => OF_DATASET,
        dcat::DISTRIBUTION_CLASS => OF_DISTRIBUTION,
        dcat::CATALOG => OF_CATALOG,
        _ => OF_AGENT,
    };
    let text = match &object {
        Term::Literal(literal) if literal.language().is_none() => Some(literal.value().to_owned()),
        _ => None,
    };
    // Croissant's context tags every text as English, numbers included.
    match &object {
        Term::Literal(number) if (name, class) == ("sha256", dcat::DISTRIBUTION_CLASS) && is_hex(number.value()) => {
            return checksum(builder, subject, number.value(), spdx::SHA256);
        }
        _ => {}
    }
    match (fields.iter().find(|(key, ..)| *key == name), text, name, class) {
        (_, Some(text), "keywords", dcat::DATASET) => {
            for keyword in text.split(',').map(str::trim).filter(|keyword| !keyword.is_empty()) {
                builder.text(subject, dcat::KEYWORD, &Value::String(keyword.to_owned()));
            }
        }
        (_, None, "keywords", dcat::DATASET) => builder.add(subject, dcat::KEYWORD, object),
        (_, Some(text), "temporalCoverage", dcat::DATASET) => builder.interval(subject, &text),
        (Some((_, property, kind)), Some(text), ..) => {
            builder.value(subject, property, *kind, &Value::String(text));
        }
        (Some((_, property, _)), None, ..) => builder.add(subject, property, object),
        (None, ..) => {
            builder.add(subject, NamedNode::new_unchecked(format!("{}{name}", schema::NAMESPACE)).as_str(), object)
        }
    }
}
