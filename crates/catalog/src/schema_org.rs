//! Datasets in schema.org's terms, and in Croissant's, which extend them: converts their graph to DCAT. Terms without
//! an equivalent in DCAT are kept.
//! <https://schema.org/Dataset>, <http://mlcommons.org/croissant/1.0>

use super::croissant;
use super::dcat_builder::{DcatBuilder, FieldKind, Subject};
use lodeseek_rdf::vocab::{
    adms, croissant as terms, dcat, dcterms, foaf, rdf, schema, skos, spdx, vcard,
};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

/// Namespace without the scheme: both `https:` and `http:` are in use.
const NAMESPACE: &str = "://schema.org/";

/// (class of schema.org or Croissant, class of DCAT). Datasets are distinguished from references to datasets first.
const CLASSES: &[(&str, &str)] = &[
    ("DataDownload", dcat::DISTRIBUTION_CLASS),
    ("FileObject", dcat::DISTRIBUTION_CLASS),
    ("FileSet", dcat::DISTRIBUTION_CLASS),
    ("DataCatalog", dcat::CATALOG),
    ("Person", foaf::AGENT),
    ("Organization", foaf::AGENT),
    ("GovernmentOrganization", foaf::AGENT),
    ("CollegeOrUniversity", foaf::AGENT),
    ("ResearchOrganization", foaf::AGENT),
    ("DefinedTerm", skos::CONCEPT),
    ("CategoryCode", skos::CONCEPT),
    ("ContactPoint", vcard::KIND),
];
/// Classes of nodes that describe the page of a dataset and its site, besides those that end with `Page`.
const PAGE_CLASSES: &[&str] = &[
    "BreadcrumbList",
    "DataCatalog",
    "ImageObject",
    "SearchAction",
    "SiteNavigationElement",
    "WPFooter",
    "WPHeader",
    "WPSideBar",
    "WebSite",
];
/// Properties that lead from a page, or from what it is about, to a dataset.
const PAGE_LINKS: &[&str] = &[
    "about",
    "dataset",
    "hasPart",
    "item",
    "itemListElement",
    "mainEntity",
    "mentions",
    "subjectOf",
];
/// Maximum number of people and organisations that belong to a page. More of them are the content of a dump.
const MAX_PAGE_AGENTS: usize = 5;
/// Maximum number of statements that belong to a page but not to its datasets.
const MAX_PAGE_STATEMENTS: usize = 2000;
/// Properties of schema.org whose values are people and organisations.
pub(super) const AGENT_PROPERTIES: &[&str] = &[
    "author",
    "contributor",
    "copyrightHolder",
    "creator",
    "editor",
    "funder",
    "maintainer",
    "producer",
    "provider",
    "publisher",
    "sdPublisher",
    "sourceOrganization",
    "sponsor",
];

/// Classes of datasets: `Dataset` and its subclasses.
const DATASET_CLASSES: &[&str] = &["Dataset", "DataFeed", "CompleteDataFeed"];

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
    ("spatial", dcterms::SPATIAL, FieldKind::Resource),
    ("contentLocation", dcterms::SPATIAL, FieldKind::Resource),
    (
        "copyrightHolder",
        dcterms::RIGHTS_HOLDER,
        FieldKind::Resource,
    ),
    ("version", dcat::VERSION, FieldKind::Text),
    (
        "includedInDataCatalog",
        dcterms::IS_PART_OF,
        FieldKind::Resource,
    ),
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
const OF_CONTACT: &[(&str, &str, FieldKind)] = &[
    ("name", vcard::FN, FieldKind::Text),
    ("telephone", vcard::HAS_TELEPHONE, FieldKind::Resource),
    ("url", vcard::HAS_URL, FieldKind::Resource),
];
const OF_CONCEPT: &[(&str, &str, FieldKind)] = &[
    ("name", skos::PREF_LABEL, FieldKind::Text),
    ("alternateName", skos::ALT_LABEL, FieldKind::Text),
    ("description", skos::DEFINITION, FieldKind::Text),
    ("termCode", skos::NOTATION, FieldKind::Text),
    ("codeValue", skos::NOTATION, FieldKind::Text),
    ("inDefinedTermSet", skos::IN_SCHEME, FieldKind::Resource),
    ("inCodeSet", skos::IN_SCHEME, FieldKind::Resource),
];
const OF_IDENTIFIER: &[(&str, &str, FieldKind)] = &[("value", skos::NOTATION, FieldKind::Text)];
const OF_CATALOG: &[(&str, &str, FieldKind)] = &[
    ("name", dcterms::TITLE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("url", foaf::HOMEPAGE, FieldKind::Resource),
    ("dataset", dcat::HAS_DATASET, FieldKind::Resource),
];

/// Returns the datasets of a graph in schema.org's terms.
pub(super) fn find_datasets(graph: &TripleGraph) -> Vec<TermId> {
    let Some(kind) = graph.iri(rdf::TYPE) else {
        return Vec::new();
    };
    let mut datasets = Vec::new();
    for triple in graph.triples() {
        if triple.predicate == kind
            && let Some(class) = local_name(graph.term(triple.object))
            && DATASET_CLASSES.contains(&class)
        {
            datasets.push(triple.subject);
        }
    }
    // The triples are sorted by subject, thus a node with two of these classes follows itself.
    datasets.dedup();
    datasets
}

/// If true, at least half of the statements belong to these datasets, to their page and its site.
pub(super) fn is_description(graph: &TripleGraph, datasets: &[TermId]) -> bool {
    let mut seen = FxHashSet::default();
    let described = count_statements(graph, datasets, &mut seen, usize::MAX);
    if described == 0 || 2 * described >= graph.len() {
        return described > 0;
    }
    let page = page_nodes(graph, datasets);
    let all = described + count_statements(graph, &page, &mut seen, MAX_PAGE_STATEMENTS);
    2 * all >= graph.len()
}

/// Counts the statements about nodes and the nodes reachable from them, up to a limit. Nodes in `seen` are not counted again.
pub(super) fn count_statements(
    graph: &TripleGraph,
    nodes: &[TermId],
    seen: &mut FxHashSet<TermId>,
    limit: usize,
) -> usize {
    let mut waiting: Vec<TermId> = nodes
        .iter()
        .copied()
        .filter(|node| seen.insert(*node))
        .collect();
    let mut statements = 0;
    while let Some(node) = waiting.pop().filter(|_| statements < limit) {
        let triples = graph.subject_triples(node);
        statements += triples.len();
        waiting.extend(
            triples
                .iter()
                .map(|t| t.object)
                .filter(|&node| graph.is_resource(node) && seen.insert(node)),
        );
    }
    statements.min(limit)
}

/// Returns the nodes of a page besides its datasets.
fn page_nodes(graph: &TripleGraph, datasets: &[TermId]) -> Vec<TermId> {
    let datasets: FxHashSet<TermId> = datasets.iter().copied().collect();
    let (mut nodes, mut agents) = (Vec::new(), Vec::new());
    for triple in graph.triples() {
        let (property, object) = (graph.term(triple.predicate), graph.term(triple.object));
        if property.text() == rdf::TYPE {
            let Some(class) = local_name(object) else {
                continue;
            };
            if PAGE_CLASSES.contains(&class) || class.ends_with("Page") {
                nodes.push(triple.subject);
            } else if CLASSES
                .iter()
                .any(|(name, kind)| *name == class && *kind == foaf::AGENT)
            {
                agents.push(triple.subject);
            }
        } else if datasets.contains(&triple.object)
            && local_name(property).is_some_and(|name| PAGE_LINKS.contains(&name))
        {
            nodes.push(triple.subject);
        }
    }
    if agents.len() <= MAX_PAGE_AGENTS {
        nodes.append(&mut agents);
    }
    nodes
}

/// Converts the graph with these datasets to DCAT. `base` is the address of the document, which names of nodes are relative to.
pub(super) fn to_dcat(graph: &TripleGraph, datasets: &[TermId], base: &str) -> TripleGraph {
    let kinds = find_classes(graph, datasets);
    let contained = croissant::contained_files(graph);
    let published = subjects_of(graph, "publisher");
    let mut builder = DcatBuilder::default();
    for triple in graph.triples() {
        let mut plain = graph.to_triple(*triple);
        let subject = rename_subject(plain.subject);
        let kind = kinds.get(&triple.subject).copied();
        let predicate = graph.term(triple.predicate);
        if let Term::Literal(literal) = &plain.object
            && literal.language().is_some()
            && croissant::is_without_language(
                local_name(predicate),
                predicate.text(),
                literal.value(),
            )
        {
            plain.object = croissant::remove_language_tag(literal).into();
        }
        let object = lodeseek_rdf::relabel_term(plain.object, &mut rename_blank_node);
        if plain.predicate.as_str() == rdf::TYPE {
            if let Some(class) = kind {
                builder.class(&subject, class);
            }
            if local_name(graph.term(triple.object)) != Some("Dataset")
                || kind != Some(dcat::DATASET)
            {
                builder.add(&subject, rdf::TYPE, object);
            }
            if let (true, Subject::NamedNode(node)) =
                (croissant::is_class(graph.term(triple.object)), &subject)
                && let Some(name) = croissant::local_name(node.as_str(), base)
            {
                builder.add(
                    &subject,
                    dcterms::IDENTIFIER,
                    Literal::new_simple_literal(name),
                );
            }
            continue;
        }
        // The path of a file in an archive is no address.
        if contained.contains(&triple.subject)
            && matches!(local_name(predicate), Some("contentUrl"))
        {
            builder.add(&subject, schema::CONTENT_URL, object);
            continue;
        }
        match (local_name(predicate), kind) {
            (Some("provider"), Some(dcat::DATASET)) if !published.contains(&triple.subject) => {
                add_statement(&mut builder, &subject, dcat::DATASET, "publisher", object);
            }
            (Some(name), Some(class)) => add_statement(&mut builder, &subject, class, name, object),
            (Some(name), None) => {
                builder.add(&subject, &format!("{}{name}", schema::NAMESPACE), object)
            }
            (None, class) => {
                foreign_statement(&mut builder, &subject, class, predicate.text(), object)
            }
        }
    }
    builder.finish()
}

/// Adds a statement outside of schema.org's namespace. Two properties of Croissant's files have equivalents in DCAT.
fn foreign_statement(
    builder: &mut DcatBuilder,
    subject: &Subject,
    class: Option<&str>,
    predicate: &str,
    object: Term,
) {
    let croissant = predicate
        .strip_prefix(terms::NAMESPACE)
        .filter(|_| class == Some(dcat::DISTRIBUTION_CLASS));
    match (croissant, &object) {
        (_, Term::Literal(address)) if predicate == dcterms::CONFORMS_TO => {
            builder.resource(subject, predicate, address.value());
        }
        (Some("contentUrl"), _) => builder.add(subject, dcat::DOWNLOAD_URL, object),
        (Some("md5"), Term::Literal(number)) if is_hex(number.value()) => {
            add_checksum(builder, subject, number.value(), spdx::MD5);
        }
        _ => builder.add(subject, predicate, object),
    }
}

/// Renames blank nodes of the graph, so that they differ from those of the builder.
fn rename_subject(node: Subject) -> Subject {
    match node {
        Subject::BlankNode(node) => rename_blank_node(node).into(),
        node @ Subject::NamedNode(_) => node,
    }
}

fn rename_blank_node(node: BlankNode) -> BlankNode {
    BlankNode::new_unchecked(format!("g{}", node.as_str()))
}

/// Returns the local name of a term of schema.org.
pub(super) fn local_name<'a>(term: TermRef<'a>) -> Option<&'a str> {
    let TermRef::Iri(iri) = term else { return None };
    iri.strip_prefix("https")
        .or_else(|| iri.strip_prefix("http"))?
        .strip_prefix(NAMESPACE)
}

/// Returns the nodes with a property of schema.org.
fn subjects_of(graph: &TripleGraph, name: &str) -> FxHashSet<TermId> {
    let triples = graph
        .triples()
        .iter()
        .filter(|triple| local_name(graph.term(triple.predicate)) == Some(name));
    triples.map(|triple| triple.subject).collect()
}

/// Returns the DCAT classes of nodes, from their classes or from the properties that lead to them.
fn find_classes(graph: &TripleGraph, datasets: &[TermId]) -> FxHashMap<TermId, &'static str> {
    let mut kinds: FxHashMap<TermId, &'static str> =
        datasets.iter().map(|node| (*node, dcat::DATASET)).collect();
    for triple in graph.triples() {
        let found = match (
            graph.term(triple.predicate).text(),
            local_name(graph.term(triple.predicate)),
        ) {
            (rdf::TYPE, _) => {
                let term = graph.term(triple.object);
                let file = term
                    .text()
                    .strip_prefix(terms::NAMESPACE)
                    .is_some_and(|name| name.starts_with("File"));
                let class =
                    local_name(term).and_then(|name| CLASSES.iter().find(|(own, _)| *own == name));
                let class = class
                    .map(|(_, class)| *class)
                    .or(file.then_some(dcat::DISTRIBUTION_CLASS));
                class.map(|class| (triple.subject, class))
            }
            (_, Some("distribution")) => Some((triple.object, dcat::DISTRIBUTION_CLASS)),
            (_, Some("includedInDataCatalog")) => Some((triple.object, dcat::CATALOG)),
            (_, Some("keywords")) => Some((triple.object, skos::CONCEPT)),
            (_, Some("identifier")) => Some((triple.object, adms::IDENTIFIER_CLASS)),
            (_, Some(name)) if AGENT_PROPERTIES.contains(&name) => {
                Some((triple.object, foaf::AGENT))
            }
            _ => None,
        };
        // An IRI that is not described is a value.
        if let Some((node, class)) = found
            && graph.is_resource(node)
            && !graph.subject_triples(node).is_empty()
        {
            kinds.entry(node).or_insert(class);
        }
    }
    kinds
}

/// If true, the text is a byte string in hexadecimal. Some files contain an address or a placeholder instead.
fn is_hex(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len().is_multiple_of(2)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn add_checksum(builder: &mut DcatBuilder, file: &Subject, number: &str, algorithm: &str) {
    let part = builder.part(file, spdx::CHECKSUM, spdx::CHECKSUM_CLASS);
    builder.add_typed_literal(&part, spdx::CHECKSUM_VALUE, number.trim(), "hexBinary");
    builder.add(&part, spdx::ALGORITHM, NamedNode::new_unchecked(algorithm));
}

/// Adds the size of a file. DCAT has the number of bytes; a size with a unit is kept as well.
fn content_size(builder: &mut DcatBuilder, file: &Subject, size: &Literal) {
    let text = text_of(size);
    let bytes = croissant::size_in_bytes(&text);
    if let Some(bytes) = bytes {
        builder.add_typed_literal(file, dcat::BYTE_SIZE, &bytes.to_string(), "integer");
    }
    if bytes.is_none_or(|bytes| text != bytes.to_string()) {
        let is_number = size.datatype() == xsd::DOUBLE;
        let size = if is_number {
            Literal::from(text.as_str())
        } else {
            size.clone()
        };
        builder.add(file, schema::CONTENT_SIZE, size);
    }
}

fn add_statement(
    builder: &mut DcatBuilder,
    subject: &Subject,
    class: &str,
    name: &str,
    object: Term,
) {
    let fields = match class {
        dcat::DATASET => OF_DATASET,
        dcat::DISTRIBUTION_CLASS => OF_DISTRIBUTION,
        dcat::CATALOG => OF_CATALOG,
        skos::CONCEPT => OF_CONCEPT,
        adms::IDENTIFIER_CLASS => OF_IDENTIFIER,
        vcard::KIND => OF_CONTACT,
        _ => OF_AGENT,
    };
    let field = fields.iter().find(|(key, ..)| *key == name);
    // Croissant's context tags every text as English, numbers and dates included.
    let text = match (&object, field) {
        (Term::Literal(literal), Some((_, _, FieldKind::Text))) if literal.language().is_some() => {
            None
        }
        (Term::Literal(literal), _) => Some(text_of(literal)),
        (Term::NamedNode(iri), Some((_, _, FieldKind::MediaType))) => Some(iri.as_str().to_owned()),
        _ => None,
    };
    match &object {
        Term::Literal(number)
            if (name, class) == ("sha256", dcat::DISTRIBUTION_CLASS) && is_hex(number.value()) =>
        {
            return add_checksum(builder, subject, number.value(), spdx::SHA256);
        }
        Term::Literal(keywords) if (name, class) == ("keywords", dcat::DATASET) => {
            return add_keywords(builder, subject, keywords);
        }
        Term::Literal(size) if (name, class) == ("contentSize", dcat::DISTRIBUTION_CLASS) => {
            return content_size(builder, subject, size);
        }
        Term::Literal(page) if name == "sameAs" && class == dcat::DATASET => {
            return builder.resource(subject, schema::SAME_AS, page.value());
        }
        // An address in place of a description of the file.
        Term::Literal(address) if (name, class) == ("distribution", dcat::DATASET) => {
            let file = builder.part(subject, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
            return builder.resource(&file, dcat::DOWNLOAD_URL, address.value());
        }
        _ => {}
    }
    match (field, text, name, class) {
        (_, None, "keywords", dcat::DATASET) => builder.add(subject, dcterms::SUBJECT, object),
        (_, Some(text), "temporalCoverage" | "temporal" | "datasetTimeInterval", dcat::DATASET) => {
            builder.interval(subject, &text)
        }
        (_, None, "temporalCoverage" | "temporal" | "datasetTimeInterval", dcat::DATASET) => {
            builder.add(subject, dcterms::TEMPORAL, object)
        }
        (_, Some(text), "email", vcard::KIND) => {
            let is_plain = text.contains('@') && !text.contains(':');
            let address = if is_plain {
                format!("mailto:{}", text.trim())
            } else {
                text
            };
            builder.resource(subject, vcard::HAS_EMAIL, &address);
        }
        (Some((_, property, kind)), Some(text), ..) => {
            builder.value(subject, property, *kind, &Value::String(text));
        }
        (Some((_, property, _)), None, ..) => builder.add(subject, property, object),
        (None, ..) => builder.add(
            subject,
            NamedNode::new_unchecked(format!("{}{name}", schema::NAMESPACE)).as_str(),
            object,
        ),
    }
}

/// Returns the text of a literal. JSON-LD makes doubles of numbers: `1.1` is `1.1E0`.
fn text_of(literal: &Literal) -> String {
    if literal.datatype() == xsd::DOUBLE
        && let Ok(number) = literal.value().parse::<f64>()
        && number.is_finite()
    {
        return number.to_string();
    }
    literal.value().to_owned()
}

/// Adds the keywords of a text that separates them by commas, with the language of the text.
fn add_keywords(builder: &mut DcatBuilder, subject: &Subject, keywords: &Literal) {
    for keyword in keywords
        .value()
        .split(',')
        .map(str::trim)
        .filter(|keyword| !keyword.is_empty())
    {
        let keyword = match keywords.language() {
            Some(tag) => Literal::new_language_tagged_literal_unchecked(keyword, tag),
            None => Literal::from(keyword),
        };
        builder.add(subject, dcat::KEYWORD, keyword);
    }
}
