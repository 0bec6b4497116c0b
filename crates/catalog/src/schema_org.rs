//! schema.org's datasets, and Croissant's, whose terms are the same: their graph told in DCAT's terms. What DCAT has no
//! term for stays in schema.org's.
//! <https://schema.org/Dataset>, <http://mlcommons.org/croissant/1.0>

use super::sheet::{Kind, Sheet, Spot};
use lodeseek_rdf::vocab::{dcat, dcterms, foaf, rdf, schema, spdx};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use oxrdf::{NamedNode, Term};
use rustc_hash::FxHashMap;
use serde_json::Value;

/// The namespace without `https:`: people write it with `http:` too.
const NAMESPACE: &str = "://schema.org/";

/// (class of schema.org or Croissant, DCAT's).
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

const OF_DATASET: &[(&str, &str, Kind)] = &[
    ("name", dcterms::TITLE, Kind::Text),
    ("alternateName", dcterms::ALTERNATIVE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("url", dcat::LANDING_PAGE, Kind::Thing),
    ("license", dcterms::LICENSE, Kind::Thing),
    ("creator", dcterms::CREATOR, Kind::Thing),
    ("author", dcterms::CREATOR, Kind::Thing),
    ("publisher", dcterms::PUBLISHER, Kind::Thing),
    ("contributor", dcterms::CONTRIBUTOR, Kind::Thing),
    ("datePublished", dcterms::ISSUED, Kind::Date),
    ("dateModified", dcterms::MODIFIED, Kind::Date),
    ("dateCreated", dcterms::CREATED, Kind::Date),
    ("distribution", dcat::DISTRIBUTION, Kind::Thing),
    ("identifier", dcterms::IDENTIFIER, Kind::Thing),
    ("inLanguage", dcterms::LANGUAGE, Kind::Thing),
    ("spatialCoverage", dcterms::SPATIAL, Kind::Thing),
    ("version", dcat::VERSION, Kind::Text),
    ("includedInDataCatalog", dcterms::IS_PART_OF, Kind::Thing),
    ("isPartOf", dcterms::IS_PART_OF, Kind::Thing),
    ("hasPart", dcterms::HAS_PART, Kind::Thing),
    ("contactPoint", dcat::CONTACT_POINT, Kind::Thing),
];
const OF_DISTRIBUTION: &[(&str, &str, Kind)] = &[
    ("name", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("contentUrl", dcat::DOWNLOAD_URL, Kind::Thing),
    ("url", dcat::ACCESS_URL, Kind::Thing),
    ("encodingFormat", dcat::MEDIA_TYPE, Kind::MediaType),
    ("fileFormat", dcat::MEDIA_TYPE, Kind::MediaType),
    ("contentSize", dcat::BYTE_SIZE, Kind::Number),
    ("license", dcterms::LICENSE, Kind::Thing),
    ("datePublished", dcterms::ISSUED, Kind::Date),
    ("dateModified", dcterms::MODIFIED, Kind::Date),
];
const OF_AGENT: &[(&str, &str, Kind)] = &[
    ("name", foaf::NAME, Kind::Text),
    ("url", foaf::HOMEPAGE, Kind::Thing),
    ("email", foaf::MBOX, Kind::Thing),
    ("identifier", dcterms::IDENTIFIER, Kind::Thing),
];
const OF_CATALOG: &[(&str, &str, Kind)] = &[
    ("name", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("url", foaf::HOMEPAGE, Kind::Thing),
    ("dataset", dcat::HAS_DATASET, Kind::Thing),
];

/// The datasets of a graph in schema.org's terms.
pub(super) fn datasets(graph: &TripleGraph) -> Vec<TermId> {
    let Some(kind) = graph.iri(rdf::TYPE) else { return Vec::new() };
    let triples = graph.triples().iter().filter(|triple| triple.predicate == kind);
    let is_dataset = |class| local(graph.term(class)).is_some_and(|name| name == "Dataset");
    triples.filter(|triple| is_dataset(triple.object)).map(|triple| triple.subject).collect()
}

/// The graph in DCAT's terms.
pub(super) fn to_dcat(graph: &TripleGraph) -> TripleGraph {
    let kinds = kinds(graph);
    let mut sheet = Sheet::default();
    for triple in graph.triples() {
        let plain = graph.to_triple(*triple);
        let subject = renamed(plain.subject);
        let kind = kinds.get(&triple.subject).copied();
        let predicate = graph.term(triple.predicate);
        let object = match plain.object {
            Term::BlankNode(node) => renamed(node.into()).into(),
            other => other,
        };
        if plain.predicate.as_str() == rdf::TYPE {
            if let Some(class) = kind {
                sheet.class(&subject, class);
            }
            if local(graph.term(triple.object)) != Some("Dataset") {
                sheet.add(&subject, rdf::TYPE, object);
            }
            continue;
        }
        match (local(predicate), kind) {
            (Some(name), Some(class)) => statement(&mut sheet, &subject, class, name, object),
            (Some(name), None) => sheet.add(&subject, &format!("{}{name}", schema::NAMESPACE), object),
            (None, class) => match (predicate.text().strip_prefix(CROISSANT), class, &object) {
                (Some("contentUrl"), Some(dcat::DISTRIBUTION_CLASS), _) => {
                    sheet.add(&subject, dcat::DOWNLOAD_URL, object);
                }
                (Some("md5"), Some(dcat::DISTRIBUTION_CLASS), Term::Literal(number)) if is_hex(number.value()) => {
                    checksum(&mut sheet, &subject, number.value(), spdx::MD5);
                }
                _ => sheet.add(&subject, predicate.text(), object),
            },
        }
    }
    sheet.finish()
}

/// Blank nodes of the graph beside those that the sheet makes.
fn renamed(node: Spot) -> Spot {
    match node {
        Spot::BlankNode(node) => oxrdf::BlankNode::new_unchecked(format!("g{}", node.as_str())).into(),
        node @ Spot::NamedNode(_) => node,
    }
}

fn local<'a>(term: TermRef<'a>) -> Option<&'a str> {
    let TermRef::Iri(iri) = term else { return None };
    iri.strip_prefix("https").or_else(|| iri.strip_prefix("http"))?.strip_prefix(NAMESPACE)
}

/// What the nodes are in DCAT: by their class, else by what leads to them.
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
        if let Some((node, class)) = found.filter(|(node, _)| !graph.is_literal(*node)) {
            kinds.entry(node).or_insert(class);
        }
    }
    kinds
}

/// Whether a text is bytes in hexadecimal: some write an address there, or what is missing.
fn is_hex(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn checksum(sheet: &mut Sheet, file: &Spot, number: &str, algorithm: &str) {
    let part = sheet.part(file, spdx::CHECKSUM, spdx::CHECKSUM_CLASS);
    sheet.typed(&part, spdx::CHECKSUM_VALUE, number.trim(), "hexBinary");
    sheet.add(&part, spdx::ALGORITHM, NamedNode::new_unchecked(algorithm));
}

fn statement(sheet: &mut Sheet, subject: &Spot, class: &str, name: &str, object: Term) {
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
    // Croissant's context makes every text an English one, numbers too.
    match &object {
        Term::Literal(number) if (name, class) == ("sha256", dcat::DISTRIBUTION_CLASS) && is_hex(number.value()) => {
            return checksum(sheet, subject, number.value(), spdx::SHA256);
        }
        _ => {}
    }
    match (fields.iter().find(|(key, ..)| *key == name), text, name, class) {
        (_, Some(text), "keywords", dcat::DATASET) => {
            for keyword in text.split(',').map(str::trim).filter(|keyword| !keyword.is_empty()) {
                sheet.text(subject, dcat::KEYWORD, &Value::String(keyword.to_owned()));
            }
        }
        (_, None, "keywords", dcat::DATASET) => sheet.add(subject, dcat::KEYWORD, object),
        (_, Some(text), "temporalCoverage", dcat::DATASET) => sheet.interval(subject, &text),
        (Some((_, property, kind)), Some(text), ..) => {
            sheet.value(subject, property, *kind, &Value::String(text));
        }
        (Some((_, property, _)), None, ..) => sheet.add(subject, property, object),
        (None, ..) => {
            sheet.add(subject, NamedNode::new_unchecked(format!("{}{name}", schema::NAMESPACE)).as_str(), object)
        }
    }
}
