//! DCAT: reads datasets from a description in RDF and writes datasets into the catalogue graph.
//! <https://www.w3.org/TR/vocab-dcat-3/>

use super::addresses::is_unsafe_address;
use super::bounded_description::{
    BoundedDescription, CatalogIndex, ExtraStatements, MEMBERSHIP, TypedNodes,
};
use super::direct_values::with_direct_values;
use super::embedded_references::without_references;
use super::iris::id_of_dataset_iri;
use super::node_reader::{FOLDER, NodeReader, relative_reference};
use super::statement::{reference_node, reference_of};
use super::typed_fields::scheme_iri;
use super::{
    Agent, Catalog, CatalogFile, CatalogLink, Dataset, DatasetId, Dialect, Distribution, EntryKey,
    Extent, Format, IdOrigin, Iris, LinkKind, Location, Metadata, Node, OtherResourceCounts,
    Problem, RemoteContent, Scheme, Statement, Text, Theme, Value, Work, ro_crate, schema_org,
    typed_fields,
};
use lodeseek_rdf::dump::{DumpReader, FileReport, Limits, Outcome, Refusal, Syntax};
use lodeseek_rdf::vocab::{
    bibo, dc11, dcat, dcatus, dcterms, foaf, geodcatap, healthdcatap, hydra, ldp, lodeseek, owl,
    rdf, rdfs, schema, sd, skos, void,
};
use lodeseek_rdf::{TermId, TermRef, TripleGraph, TripleGraphBuilder, local_name, words};
use oxrdf::{NamedNode, Triple as OxTriple};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Properties with texts that describe the content, in DCAT-AP, HealthDCAT-AP, DCAT-US and GeoDCAT-AP.
const NOTES: &[&str] = &[
    dcatus::PURPOSE,
    geodcatap::PURPOSE,
    healthdcatap::POPULATION_COVERAGE,
    skos::SCOPE_NOTE,
    dcterms::PROVENANCE,
];

/// Namespace of the properties of members of RDF containers: a number follows.
const MEMBER: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#_";
/// Number of decompressed bytes in which a catalogue in RDF must describe a dataset. A larger file without one is a dump.
const MAX_BEGINNING_BYTES: u64 = 256 << 20;

/// Reads a catalogue in any RDF syntax, in the terms of DCAT, VoID or schema.org. A file that describes no dataset is
/// a dump: it becomes a catalogue of one dataset.
pub fn read(path: &Path) -> io::Result<Catalog> {
    read_place(&CatalogFile {
        path,
        address: None,
        media_type: None,
    })
}

pub(super) fn read_place(file: &CatalogFile<'_>) -> io::Result<Catalog> {
    read_in_two_steps(file, MAX_BEGINNING_BYTES)
}

/// Reads a file whose beginning decides whether it is a catalogue: a large dump is not read as a whole.
fn read_in_two_steps(file: &CatalogFile<'_>, beginning: u64) -> io::Result<Catalog> {
    let (name, base) = file.name_and_base();
    let document = Document {
        name: &name,
        base: &base,
        is_page: false,
    };
    let limits = Limits {
        decompressed_bytes: beginning,
        document_bytes: beginning,
        ..Limits::default()
    };
    let (graph, reports) = read_triples(file, &document, limits);
    // The reports contain the refusal only as a text.
    let is_larger = Refusal::DecompressedSize { limit: beginning }.to_string();
    if !reports
        .iter()
        .flat_map(|report| &report.problems)
        .any(|problem| problem.message.starts_with(&is_larger))
    {
        return from_file(&graph, &reports, file, &document);
    }
    if read_descriptions(&graph, &document).is_none() {
        return Ok(dump_as_catalog(&graph, &document));
    }
    // The memory of the first graph is free before the second reading.
    drop(graph);
    let (graph, reports) = read_triples(file, &document, Limits::default());
    from_file(&graph, &reports, file, &document)
}

/// Reads the triples of a file up to the limits.
fn read_triples(
    file: &CatalogFile<'_>,
    document: &Document<'_>,
    limits: Limits,
) -> (TripleGraph, Vec<FileReport>) {
    let mut builder = TripleGraphBuilder::new();
    let reader = DumpReader::with_limits(limits);
    let reader = match file.media_type {
        Some(media_type) => reader.with_media_type(media_type),
        None => reader,
    };
    let reports = reader.read_file(file.path, document.name, document.base, &mut builder);
    (builder.finish(), reports)
}

/// Returns the catalogue of a table: one dataset, named after the file.
pub(super) fn read_table(file: &CatalogFile<'_>) -> Catalog {
    let (name, base) = file.name_and_base();
    let document = Document {
        name: &name,
        base: &base,
        is_page: false,
    };
    dump_as_catalog(&TripleGraphBuilder::new().finish(), &document)
}

/// A document that may be a catalogue.
struct Document<'d> {
    /// Name of the file.
    name: &'d str,
    /// Base of its relative IRIs.
    base: &'d str,
    /// If true, it is a page of the web or another document that cannot be a dump.
    is_page: bool,
}

/// Reads several JSON-LD documents from one file, for example the scripts of an HTML page. They are no dump.
pub(super) fn read_texts(file: &CatalogFile<'_>, texts: &[&str]) -> io::Result<Catalog> {
    read_json_ld(file, texts, true)
}

/// Reads the text of a JSON-LD file, which may be a dump.
pub(super) fn read_text(file: &CatalogFile<'_>, text: &str) -> io::Result<Catalog> {
    read_json_ld(file, &[text], false)
}

fn read_json_ld(file: &CatalogFile<'_>, texts: &[&str], is_page: bool) -> io::Result<Catalog> {
    let (name, base) = file.name_and_base();
    let mut builder = TripleGraphBuilder::new();
    let intake = DumpReader::default().with_media_type("application/ld+json");
    let mut reports = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let piece = format!("{name}#{}", number + 1);
        reports.extend(intake.read(text.as_bytes(), &piece, &base, &mut builder));
    }
    from_file(
        &builder.finish(),
        &reports,
        file,
        &Document {
            name: &name,
            base: &base,
            is_page,
        },
    )
}

/// Reads several documents as one description.
pub(super) fn read_documents(files: &[CatalogFile<'_>]) -> io::Result<Catalog> {
    let Some(first) = files.first() else {
        return Err(io::Error::other("no document"));
    };
    let mut builder = TripleGraphBuilder::new();
    let mut reports = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let (name, base) = file.name_and_base();
        let reader = match file.media_type {
            Some(media_type) => DumpReader::default().with_media_type(media_type),
            None => DumpReader::default(),
        };
        // Blank nodes belong to their document, whose name may be that of another one.
        let name = format!("{}-{name}", number + 1);
        reports.extend(reader.read_file(file.path, &name, &base, &mut builder));
    }
    let (name, base) = first.name_and_base();
    let document = Document {
        name: &name,
        base: &base,
        is_page: true,
    };
    from_file(&builder.finish(), &reports, first, &document)
}

impl CatalogFile<'_> {
    /// Returns the name of the file and the base of its relative IRIs.
    fn name_and_base(&self) -> (String, String) {
        let Some(address) = self.address else {
            let name = file_name(self.path);
            let base = base_of_file(&name);
            return (name, base);
        };
        let path = address
            .split(['?', '#'])
            .next()
            .unwrap_or(address)
            .trim_end_matches('/');
        let last = path
            .rsplit('/')
            .next()
            .filter(|last| !last.is_empty())
            .unwrap_or("catalog");
        (
            super::iris::decode_segment(last).unwrap_or_else(|| last.to_owned()),
            address.to_owned(),
        )
    }
}

fn file_name(path: &Path) -> String {
    match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "catalog".to_owned(),
    }
}

fn base_of_file(name: &str) -> String {
    format!("{FOLDER}{}", name.replace([' ', '#', '?', '%'], "_"))
}

fn from_file(
    graph: &TripleGraph,
    reports: &[FileReport],
    file: &CatalogFile<'_>,
    document: &Document<'_>,
) -> io::Result<Catalog> {
    let unread = reports
        .iter()
        .find(|r| matches!(r.outcome, Outcome::Unreadable | Outcome::Refused));
    if let Some(report) = unread.filter(|_| graph.is_empty()) {
        let reason = report
            .problems
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        return Err(io::Error::other(reason));
    }
    let is_json = reports
        .iter()
        .any(|report| report.syntax == Some(Syntax::JsonLd));
    if graph.is_empty() && is_json && !document.is_page {
        return Err(io::Error::other(
            "JSON without a statement: it is no JSON-LD with a context that is read, and no catalogue of another dialect",
        ));
    }
    let mut catalog =
        read_descriptions(graph, document).unwrap_or_else(|| dump_as_catalog(graph, document));
    catalog.next_pages = following_pages(graph, file.address);
    catalog.links = undescribed_links(graph);
    catalog.triples = graph.len() as u64;
    if catalog.dialect == Dialect::Dcat && (file.address.is_none() || catalog.datasets.is_empty()) {
        catalog.problems.extend(links_problem(&catalog.links, file));
    }
    // A local file without statements is an empty dump. A response from the web without statements lists no dataset.
    if file.address.is_some() && graph.is_empty() {
        catalog.datasets.clear();
    }
    // A skipped statement may have listed a dataset.
    catalog.is_incomplete = reports
        .iter()
        .any(|report| report.outcome == Outcome::Truncated);
    catalog.unreadable_entries += reports
        .iter()
        .filter(|report| report.outcome != Outcome::Complete)
        .count();
    // The problems of a dump are reported when it is loaded.
    if catalog.dialect != Dialect::Dump {
        let problems = reports.iter().flat_map(|r| &r.problems);
        let place = file.path.display().to_string();
        catalog.problems.extend(problems.map(|problem| {
            // Relative references are shown as the file has them.
            Problem::new(problem.to_string().replace(FOLDER, "")).at(&place)
        }));
    }
    Ok(catalog)
}

/// Returns the following pages of a paged catalogue, in both of Hydra's dialects. Some tools write the addresses as
/// literals.
fn following_pages(graph: &TripleGraph, address: Option<&str>) -> Vec<String> {
    let properties: Vec<TermId> = [hydra::NEXT, hydra::NEXT_PAGE]
        .iter()
        .filter_map(|name| graph.iri(name))
        .collect();
    let following = graph
        .triples()
        .iter()
        .filter(|triple| properties.contains(&triple.predicate));
    let mut pages: Vec<String> = following
        .filter_map(|triple| match graph.term(triple.object) {
            TermRef::Iri(iri) => Some(iri.to_owned()),
            TermRef::Literal { lexical, .. } => {
                Some(super::resolve_reference(address?, lexical.trim()))
            }
            TermRef::Blank(_) | TermRef::Triple(_) => None,
        })
        .collect();
    pages.sort();
    pages.dedup();
    pages
}

/// Maximum number of links of a document that are returned.
const MAX_LINKS: usize = 100_000;

/// Returns the catalogues, datasets and distributions on the web that a document lists and does not describe.
fn undescribed_links(graph: &TripleGraph) -> Vec<CatalogLink> {
    let kinds = [
        (dcat::DISTRIBUTION, LinkKind::Distribution),
        (dcat::HAS_DATASET, LinkKind::Dataset),
        (dcat::CATALOG_PROPERTY, LinkKind::Catalog),
        (ldp::CONTAINS, LinkKind::Catalog),
    ];
    let mut found: FxHashMap<TermId, LinkKind> = FxHashMap::default();
    for (property, kind) in kinds {
        let Some(property) = graph.iri(property) else {
            continue;
        };
        let links = graph
            .triples()
            .iter()
            .filter(|triple| triple.predicate == property);
        for triple in links {
            let is_linked = graph.is_iri(triple.object)
                && graph.term(triple.object).text().starts_with("http")
                && graph.subject_triples(triple.object).is_empty();
            if is_linked && found.len() < MAX_LINKS {
                // The first property is the most specific one.
                found.entry(triple.object).or_insert(kind);
            }
        }
    }
    let mut links: Vec<CatalogLink> = found
        .into_iter()
        .map(|(node, kind)| CatalogLink {
            kind,
            address: graph.term(node).text().to_owned(),
        })
        .collect();
    links.sort();
    links
}

/// Returns the problem that a catalogue lists resources without a description.
fn links_problem(links: &[CatalogLink], file: &CatalogFile<'_>) -> Option<String> {
    // Listed datasets without a description are named by the reader of the graph.
    let catalogs = links
        .iter()
        .filter(|link| link.kind == LinkKind::Catalog)
        .count();
    (catalogs > 0).then(|| {
        format!(
            "{}: {catalogs} catalogues are listed and not described; `harvest` follows the links of an address",
            file.path.display()
        )
    })
}

/// Classes of the resources that a catalogue describes.
const CLASSES: &[&str] = &[
    dcat::CATALOG,
    dcat::DATASET,
    dcat::DATASET_SERIES,
    dcat::CATALOG_RECORD,
    dcat::DATA_SERVICE,
    schema::DATASET,
    "http://schema.org/Dataset",
    "https://schema.org/DataFeed",
    "http://schema.org/DataFeed",
    void::DATASET,
];

/// Reads the datasets that a document describes in DCAT, schema.org or VoID; `None` for a dump.
///
/// A dump may have a header in VoID or schema.org. It counts as a description only if most of its statements belong to
/// the header. In schema.org, the statements about the page itself and its site count as part of the header.
fn read_descriptions(graph: &TripleGraph, document: &Document<'_>) -> Option<Catalog> {
    if !CLASSES.iter().any(|class| graph.iri(class).is_some()) {
        return None;
    }
    if let Some(described) = ro_crate::to_schema_org(graph, document.base) {
        let described = with_direct_values(&described, document.base).unwrap_or(described);
        let datasets = schema_org::find_datasets(&described);
        let converted = schema_org::to_dcat(&described, &datasets, document.base);
        return Some(Catalog {
            dialect: Dialect::RoCrate,
            ..from_graph(&converted)
        });
    }
    let direct = with_direct_values(graph, document.base);
    let graph = direct.as_ref().unwrap_or(graph);
    let (mut catalog, omitted) = read_graph(graph);
    // A description in DCAT precedes one in schema.org: a page may have both, of the same dataset.
    if !catalog.datasets.is_empty() || !catalog.problems.is_empty() {
        catalog.problems.extend(omitted);
        return Some(catalog);
    }
    let datasets = without_references(graph, schema_org::find_datasets(graph));
    let is_described =
        document.is_page && !datasets.is_empty() || schema_org::is_description(graph, &datasets);
    if is_described {
        let converted = schema_org::to_dcat(graph, &datasets, document.base);
        return Some(Catalog {
            dialect: Dialect::SchemaOrg,
            ..from_graph(&converted)
        });
    }
    if catalog.other_resources != OtherResourceCounts::default() {
        catalog.problems.extend(omitted);
        return Some(catalog);
    }
    let datasets = void_datasets(graph);
    is_description(graph, &datasets).then(|| Catalog {
        dialect: Dialect::Void,
        ..read_nodes(graph, datasets)
    })
}

/// Returns the VoID datasets that are not only parts of others.
fn void_datasets(graph: &TripleGraph) -> Vec<TermId> {
    let parts = [
        void::SUBSET,
        void::CLASS_PARTITION,
        void::PROPERTY_PARTITION,
        void::OBJECTS_TARGET,
    ];
    let parts: Vec<TermId> = parts
        .iter()
        .filter_map(|property| graph.iri(property))
        .collect();
    let parts: FxHashSet<TermId> = graph
        .triples()
        .iter()
        .filter(|triple| parts.contains(&triple.predicate))
        .map(|triple| triple.object)
        .collect();
    instances_of(graph, void::DATASET)
        .filter(|node| !parts.contains(node))
        .collect()
}

/// If true, at least half of the graph's triples describe these nodes and the nodes reachable from them.
fn is_description(graph: &TripleGraph, nodes: &[TermId]) -> bool {
    let statements =
        schema_org::count_statements(graph, nodes, &mut FxHashSet::default(), usize::MAX);
    statements > 0 && 2 * statements >= graph.len()
}

/// Reads the datasets that a graph describes in DCAT.
#[must_use]
pub fn from_graph(graph: &TripleGraph) -> Catalog {
    read_graph(graph).0
}

/// Reads the datasets that a graph describes in DCAT. Also returns the problems that name the resources of no dataset.
fn read_graph(graph: &TripleGraph) -> (Catalog, Vec<Problem>) {
    // A series is often declared to be a dataset as well.
    let mut seen = FxHashSet::default();
    let nodes = instances_of(graph, dcat::DATASET).chain(instances_of(graph, dcat::DATASET_SERIES));
    let nodes = nodes.filter(|node| seen.insert(*node)).collect();
    let nodes = without_references(graph, nodes);
    let index = CatalogIndex::new(graph, nodes.iter().copied().collect());
    let mut catalog = read_entries(&index, nodes);
    let omitted = omitted_resources(graph, &index);
    catalog.other_resources = OtherResourceCounts {
        catalogs: instances_of(graph, dcat::CATALOG).count(),
        records: instances_of(graph, dcat::CATALOG_RECORD).count(),
        services: instances_of(graph, dcat::DATA_SERVICE).count(),
    };
    (catalog, omitted)
}

/// Reads the datasets that some nodes of a graph describe.
pub(super) fn read_nodes(graph: &TripleGraph, nodes: Vec<TermId>) -> Catalog {
    let index = CatalogIndex::new(graph, nodes.iter().copied().collect());
    read_entries(&index, nodes)
}

/// Reads the datasets of an index, in the order of their nodes.
fn read_entries(index: &CatalogIndex<'_>, nodes: Vec<TermId>) -> Catalog {
    let graph = index.graph;
    let mut catalog = Catalog::default();
    let mut references: FxHashMap<&str, String> = FxHashMap::default();
    for node in nodes {
        let reader = NodeReader {
            graph,
            node,
            dataset_iri: None,
        };
        let Some((id, origin)) = reader.id() else {
            let reason = "no id: the dataset has neither identifier, IRI nor title";
            catalog
                .problems
                .push(Problem::new(reason).at(&node_name(graph, node)));
            catalog.unreadable_entries += 1;
            continue;
        };
        let (mut dataset, problem) = reader.dataset(id, index);
        dataset.entry = EntryKey::new(origin);
        if let TermRef::Blank(label) = graph.term(node) {
            references.insert(label, dataset.make_reference());
        }
        catalog.datasets.push(dataset);
        catalog.problems.extend(problem);
    }
    // References are replaced after the loop, because an entry may refer to a later one.
    if !references.is_empty() {
        for dataset in &mut catalog.datasets {
            dataset.replace_references(|object| match reference_of(object) {
                Some(label) => references
                    .get(label.as_str())
                    .map(|reference| reference_node(reference).into()),
                None => Some(object.clone()),
            });
        }
    }
    catalog
}

/// Maximum number of resources that a problem names.
const MAX_NAMED_RESOURCES: usize = 20;
/// Maximum number of characters of the name of a resource in a problem.
const MAX_NAME_CHARS: usize = 200;

/// Returns problems that name the resources of a catalogue that no description contains: listed datasets without a description, and
/// resources to which no dataset leads.
fn omitted_resources(graph: &TripleGraph, index: &CatalogIndex<'_>) -> Vec<Problem> {
    let covered = index.covered.borrow();
    let listed = graph.iri(dcat::HAS_DATASET);
    let (mut missing, mut omitted) = (Vec::new(), Vec::new());
    for triple in graph.triples() {
        if Some(triple.predicate) == listed
            && graph.is_iri(triple.object)
            && graph.subject_triples(triple.object).is_empty()
        {
            missing.push(triple.object);
        }
    }
    let membership: Vec<TermId> = MEMBERSHIP
        .iter()
        .filter_map(|property| graph.iri(property))
        .collect();
    // A part of another omitted resource is not named. What a description leaves out is reported with the dataset.
    let (mut parts, mut reported) = (FxHashSet::default(), FxHashSet::default());
    let mut last = None;
    for triple in graph.triples() {
        let subject = triple.subject;
        let is_omitted = !covered.contains(&subject) && !index.entries.contains(&subject);
        if is_omitted {
            if subject != triple.object {
                parts.insert(triple.object);
            }
        } else if !membership.contains(&triple.predicate) {
            reported.insert(triple.object);
        }
        if last != Some(subject) && is_omitted && is_content(graph, subject) {
            omitted.push(subject);
        }
        last = Some(subject);
    }
    omitted.retain(|node| {
        let is_part = parts.contains(node) && matches!(graph.term(*node), TermRef::Blank(_));
        !is_part && !reported.contains(node)
    });
    let mut problems = Vec::new();
    missing.sort_unstable();
    missing.dedup();
    for (nodes, reason) in [
        (missing, "listed datasets have no description"),
        (
            omitted,
            "described resources belong to no dataset and were left out",
        ),
    ] {
        let number = nodes.len();
        let named = nodes.iter().take(MAX_NAMED_RESOURCES);
        let mut names: Vec<String> = named.map(|node| omitted_name(graph, *node)).collect();
        names.sort();
        if number > 0 {
            problems.push(Problem::new(format!(
                "{number} {reason}: {}",
                names.join(", ")
            )));
        }
    }
    problems
}

/// If true, the node states more than its members, its class and the pages of the catalogue.
fn is_content(graph: &TripleGraph, node: TermId) -> bool {
    graph.subject_triples(node).iter().any(|triple| {
        let property = graph.term(triple.predicate).text();
        !MEMBERSHIP.contains(&property)
            && property != rdf::TYPE
            && !property.starts_with(hydra::NAMESPACE)
    })
}

/// Returns the name of a resource in a problem: its IRI, or else its title.
fn omitted_name(graph: &TripleGraph, node: TermId) -> String {
    let reader = NodeReader {
        graph,
        node,
        dataset_iri: None,
    };
    let title = reader.value(&[dcterms::TITLE, rdfs::LABEL, skos::PREF_LABEL, foaf::NAME]);
    let name = match (graph.term(node), title) {
        (TermRef::Blank(_), Some(title)) => format!("{title:?}"),
        (TermRef::Blank(_), None) => "a node without IRI and title".to_owned(),
        _ => node_name(graph, node),
    };
    name.chars().take(MAX_NAME_CHARS).collect()
}

/// Reads the dataset of one node, with the given id or an id from the description.
///
/// Returns the dataset and a problem with its description, if any. The error is the reason why there is no dataset.
pub(super) fn read_entry(
    graph: &TripleGraph,
    node: TermId,
    id: Option<DatasetId>,
) -> Result<(Dataset, Option<String>), String> {
    let reader = NodeReader {
        graph,
        node,
        dataset_iri: None,
    };
    let declared = id.map(|id| (id, IdOrigin::Declared));
    let (id, origin) = declared
        .or_else(|| reader.id())
        .ok_or("no id: the entry has neither identifier nor title")?;
    let (mut dataset, problem) = reader.dataset(id, &CatalogIndex::for_entry(graph, node));
    dataset.entry = EntryKey::new(origin);
    Ok((dataset, problem))
}

fn node_name(graph: &TripleGraph, node: TermId) -> String {
    match graph.term(node) {
        TermRef::Iri(iri) => format!("<{}>", relative_reference(iri).as_deref().unwrap_or(iri)),
        term => format!("_:{}", term.text()),
    }
}

pub(super) fn instances_of<'g>(
    graph: &'g TripleGraph,
    class: &str,
) -> impl Iterator<Item = TermId> + use<'g> {
    let ids = graph.iri(rdf::TYPE).zip(graph.iri(class));
    graph
        .triples()
        .iter()
        .filter(move |triple| {
            ids.is_some_and(|(kind, class)| triple.predicate == kind && triple.object == class)
        })
        .map(|triple| triple.subject)
}

/// Creates the catalogue of a dump: one dataset, named after the file and described by the dump's header, if any.
fn dump_as_catalog(graph: &TripleGraph, document: &Document<'_>) -> Catalog {
    let datasets = dump_as_dataset(graph, document).into_iter().collect();
    Catalog {
        datasets,
        dialect: Dialect::Dump,
        ..Catalog::default()
    }
}

fn dump_as_dataset(graph: &TripleGraph, document: &Document<'_>) -> Option<Dataset> {
    let name = document.name;
    let stem = name.split('.').find(|part| !part.is_empty())?;
    let id = DatasetId::from_text(stem)?;
    let mut header = [owl::ONTOLOGY, void::DATASET, skos::CONCEPT_SCHEME].iter();
    let header = header.find_map(|class| instances_of(graph, class).next());
    let header = header.or_else(|| schema_org::find_datasets(graph).first().copied());
    let mut dataset = match header.and_then(|header| dump_header(graph, header, document)) {
        // What the description leaves out is in the content.
        Some((graph, node)) => {
            let index = CatalogIndex::for_dump_header(&graph, node);
            NodeReader {
                graph: &graph,
                node,
                dataset_iri: None,
            }
            .dataset(id, &index)
            .0
        }
        None => Dataset::new(Metadata::new(id)),
    };
    if dataset.metadata.titles.is_empty() {
        dataset.metadata.titles.push(Text::plain(words(stem)));
    }
    // The content is this file, whatever location the header declares. The declared locations are kept as statements.
    dataset
        .extra_statements
        .extend(dataset.distributions.iter().map(|distribution| {
            Statement::new(
                Node::Dataset,
                void::DATA_DUMP,
                typed_fields::iri_or_literal(distribution.location.as_str()),
            )
        }));
    dataset.extra_statements.retain(|statement| {
        !matches!(&statement.subject, Node::Part(name) if name.starts_with("distribution-"))
    });
    dataset.distributions = vec![Distribution::new(Location::File(name.to_owned()))];
    dataset.entry = EntryKey::new(IdOrigin::File(name.to_owned()));
    Some(dataset)
}

/// Maximum number of statements of a dump that are read as its header.
const MAX_HEADER_STATEMENTS: usize = 100_000;

/// Returns the header of a dump as a graph of its own, in the terms of DCAT, and its node in it.
///
/// The graph contains the statements about the node, its blank nodes and the resources that it links to.
fn dump_header(
    graph: &TripleGraph,
    header: TermId,
    document: &Document<'_>,
) -> Option<(TripleGraph, TermId)> {
    let mut builder = TripleGraphBuilder::new();
    let (mut waiting, mut seen) = (vec![header], FxHashSet::from_iter([header]));
    while let Some(node) = waiting.pop() {
        // Statements about another IRI are kept, but not followed: beyond it lies the content of the dump.
        let is_followed = node == header || !graph.is_iri(node);
        for triple in graph.subject_triples(node) {
            if builder.len() == MAX_HEADER_STATEMENTS {
                break;
            }
            builder.insert_with_labels(graph.to_triple(*triple).as_ref());
            if is_followed && graph.is_resource(triple.object) && seen.insert(triple.object) {
                waiting.push(triple.object);
            }
        }
    }
    let copy = builder.finish();
    let copy = with_direct_values(&copy, document.base).unwrap_or(copy);
    let term = graph.term(header);
    let mut nodes = copy.triples().iter().map(|triple| triple.subject);
    let node = nodes.find(|node| copy.term(*node) == term)?;
    if !schema_org::find_datasets(&copy).contains(&node) {
        return Some((copy, node));
    }
    let converted = schema_org::to_dcat(&copy, &[node], document.base);
    let node = instances_of(&converted, dcat::DATASET).next()?;
    Some((converted, node))
}

/// Reads the metadata of a node, and the id from its `dct:identifier`, if that is one short word.
///
/// Returns `None` if the graph does not describe the node.
#[must_use]
pub fn metadata_of(
    graph: &TripleGraph,
    node: &NamedNode,
    id: DatasetId,
) -> Option<(Option<DatasetId>, Metadata)> {
    let node = graph
        .iri(node.as_str())
        .filter(|node| !graph.subject_triples(*node).is_empty())?;
    let reader = NodeReader {
        graph,
        node,
        dataset_iri: None,
    };
    Some((reader.identifier(), reader.metadata(id)))
}

impl<'g> NodeReader<'g> {
    /// Returns the distinct agents in the order of the properties, and adds their nodes to `nodes`. Creators are in the order of
    /// `bibo:authorList`, if the description has one.
    fn agents(&self, properties: &[&str], nodes: &mut FxHashMap<TermId, Agent>) -> Vec<Agent> {
        let (mut agents, mut seen) = (Vec::new(), FxHashSet::default());
        let mut objects: Vec<TermId> = properties
            .iter()
            .flat_map(|property| self.objects(property))
            .collect();
        let order = self.author_order();
        // The sort is stable: agents without a place in the order keep that of the statements.
        objects.sort_by_key(|object| order.get(object).copied().unwrap_or(usize::MAX));
        for object in objects {
            let Some(agent) = self
                .at(object)
                .agent()
                .filter(|agent| !agent.name.is_empty())
            else {
                continue;
            };
            nodes.insert(object, agent.clone());
            if seen.insert(agent.clone()) {
                agents.push(agent);
            }
        }
        agents
    }

    /// Returns the positions of the authors in the ordered list of authors.
    fn author_order(&self) -> FxHashMap<TermId, usize> {
        let mut authors: Vec<(usize, u32, TermId)> = Vec::new();
        for (place, list) in self.parts(bibo::AUTHOR_LIST).enumerate() {
            for triple in self.graph.subject_triples(list.node) {
                let number = self
                    .graph
                    .term(triple.predicate)
                    .text()
                    .strip_prefix(MEMBER);
                authors.extend(
                    number
                        .and_then(|text| text.parse().ok())
                        .map(|number| (place, number, triple.object)),
                );
            }
        }
        authors.sort_unstable();
        let mut order = FxHashMap::default();
        for (place, (_, _, author)) in authors.into_iter().enumerate() {
            order.entry(author).or_insert(place);
        }
        order
    }

    /// Returns the agent of this node: a literal, or a node with a name or with an IRI that serves as one.
    fn agent(&self) -> Option<Agent> {
        if let TermRef::Literal { lexical, .. } = self.graph.term(self.node) {
            return Some(Agent {
                name: lexical.trim().to_owned(),
                iri: None,
            });
        }
        let iri = self.web_iri();
        let name = self
            .agent_name()
            .or_else(|| self.name_from_iri())
            .or_else(|| self.web_address())?;
        Some(Agent { name, iri })
    }

    fn identifier(&self) -> Option<DatasetId> {
        let text = self.value(&[dcterms::IDENTIFIER])?;
        let name = if text.contains("://") {
            local_name(&text).to_owned()
        } else {
            text
        };
        DatasetId::new(name).ok()
    }

    /// Returns the id: `dct:identifier` if that is one short word, else the last part of the IRI, else the title.
    fn id(&self) -> Option<(DatasetId, IdOrigin)> {
        let declared = self.value(&[dcterms::IDENTIFIER]);
        if let Some(id) = self.identifier() {
            let origin = match declared {
                Some(text) if text.contains("://") => IdOrigin::Identifier(text),
                _ => IdOrigin::Declared,
            };
            return Some((id, origin));
        }
        if let Some(id) = self.id_from_iri() {
            return Some((id, IdOrigin::Iri));
        }
        let id = DatasetId::from_text(&self.texts(&[dcterms::TITLE]).first()?.value)?;
        let origin = match declared {
            Some(text) => IdOrigin::Identifier(text),
            None => IdOrigin::Title,
        };
        Some((id, origin))
    }

    /// Returns the id that the last part of the IRI makes.
    fn id_from_iri(&self) -> Option<DatasetId> {
        let TermRef::Iri(iri) = self.graph.term(self.node) else {
            return None;
        };
        match relative_reference(iri) {
            // A folder has no name of its own.
            Some(path) => {
                let name = local_name(&path);
                DatasetId::from_text(name).filter(|_| name.contains(char::is_alphanumeric))
            }
            None => DatasetId::from_text(local_name(iri)),
        }
    }

    fn metadata(&self, id: DatasetId) -> Metadata {
        Metadata {
            titles: self.texts(&[dcterms::TITLE, dc11::TITLE, rdfs::LABEL, skos::PREF_LABEL]),
            descriptions: self.texts(&[dcterms::DESCRIPTION, dc11::DESCRIPTION, rdfs::COMMENT]),
            alternatives: self.texts(&[dcterms::ALTERNATIVE]),
            notes: self.notes(),
            keywords: self.keywords(),
            themes: self.themes(),
            introduced_by: self.works(),
            uses: self
                .value(&[lodeseek::USES])
                .and_then(|count| count.parse().ok()),
            creators: self.agents(
                &[dcterms::CREATOR, dc11::CREATOR],
                &mut FxHashMap::default(),
            ),
            publishers: self.agents(&[dcterms::PUBLISHER], &mut FxHashMap::default()),
            license: self.licenses().into_iter().next(),
            created: self.value(&[dcterms::CREATED]),
            issued: self.value(&[dcterms::ISSUED]),
            modified: self.value(&[dcterms::MODIFIED]),
            landing_page: self
                .value(&[dcat::LANDING_PAGE])
                .map(|page| typed_fields::repaired_address(&page).unwrap_or(page)),
            source: self.web_iri(),
            is_series: self
                .objects(rdf::TYPE)
                .any(|class| self.graph.term(class).text() == dcat::DATASET_SERIES),
            id,
        }
    }

    /// Returns the texts of [`NOTES`], and those of the statements of provenance.
    fn notes(&self) -> Vec<Text> {
        let mut notes = self.texts(NOTES);
        for provenance in self.parts(dcterms::PROVENANCE) {
            notes.extend(provenance.texts(&[rdfs::LABEL, dcterms::DESCRIPTION]));
        }
        notes.extend(super::croissant::field_texts(self));
        notes
    }

    /// Returns the keywords, and the labels of themes and subjects that this description contains.
    fn keywords(&self) -> Vec<Text> {
        let mut keywords = self.texts(&[dcat::KEYWORD]);
        for concept in [dcat::KEYWORD, dcterms::SUBJECT]
            .into_iter()
            .flat_map(|property| self.parts(property))
        {
            keywords.extend(concept.concept_names());
        }
        for theme in self
            .parts(dcat::THEME)
            .filter(|theme| theme.scheme().is_none())
        {
            keywords.extend(theme.texts(&[skos::PREF_LABEL, rdfs::LABEL, schema::NAME]));
        }
        let mut seen = FxHashSet::default();
        keywords.retain(|keyword| seen.insert(keyword.clone()));
        keywords
    }

    fn scheme(&self) -> Option<Scheme> {
        let schemes: Vec<&str> = self
            .objects(skos::IN_SCHEME)
            .map(|scheme| self.graph.term(scheme).text())
            .collect();
        Scheme::ALL
            .into_iter()
            .find(|scheme| schemes.contains(&scheme_iri(*scheme)))
    }

    /// Returns the themes from the supported concept schemes. The labels of other themes become keywords.
    fn themes(&self) -> Vec<Theme> {
        let mut themes: Vec<Theme> = self
            .parts(dcat::THEME)
            .filter_map(|theme| theme.theme())
            .collect();
        themes.sort();
        themes
    }

    fn theme(&self) -> Option<Theme> {
        let label = self.value(&[skos::PREF_LABEL, rdfs::LABEL])?;
        Some(Theme {
            label,
            scheme: self.scheme()?,
            iri: self.web_iri(),
        })
    }

    fn works(&self) -> Vec<Work> {
        let mut works: Vec<Work> = self
            .parts(lodeseek::INTRODUCED_BY)
            .filter_map(|work| work.work())
            .collect();
        works.sort();
        works
    }

    fn work(&self) -> Option<Work> {
        let (title, issued) = (
            self.value(&[dcterms::TITLE])?,
            self.value(&[dcterms::ISSUED]),
        );
        Some(Work {
            title,
            iri: self.web_iri(),
            issued,
        })
    }

    /// Reads the dataset. Also returns a message if parts of its description were left out.
    fn dataset(&self, id: DatasetId, index: &CatalogIndex<'_>) -> (Dataset, Option<String>) {
        let mut named = self.typed_nodes();
        let description =
            BoundedDescription::new(*self, index, &named.nodes.keys().copied().collect());
        let distributions = self.distributions(&description, &mut named);
        let mut dataset = Dataset {
            distributions,
            ..Dataset::new(self.metadata(id))
        };
        dataset.remote = self.dataset_iri.and_then(|_| self.remote());
        if self.is_stored() {
            let property = if self.is_of_earlier_version() {
                dcterms::SOURCE
            } else {
                lodeseek::SOURCE_IRI
            };
            dataset.metadata.source = self.value(&[property]);
        }
        let (further, problem) = ExtraStatements::new(description, named).collect(&dataset);
        dataset.extra_statements = further;
        (dataset, problem)
    }

    /// Returns the nodes of themes, works and agents.
    fn typed_nodes(&self) -> TypedNodes {
        let mut named = TypedNodes::default();
        let themes = self
            .parts(dcat::THEME)
            .filter_map(|part| Some((part.node, typed_fields::theme_node(&part.theme()?))));
        let works = self.parts(lodeseek::INTRODUCED_BY);
        let works =
            works.filter_map(|part| Some((part.node, typed_fields::work_node(&part.work()?))));
        named.nodes.extend(themes.chain(works));
        self.agents(
            &[dcterms::CREATOR, dc11::CREATOR, dcterms::PUBLISHER],
            &mut named.agents,
        );
        named
    }

    /// Returns the distributions with a location, in an order that is independent of blank node labels.
    fn distributions(
        &self,
        description: &BoundedDescription<'_>,
        named: &mut TypedNodes,
    ) -> Vec<Distribution> {
        let mut nodes: Vec<TermId> = self.objects(dcat::DISTRIBUTION).collect();
        nodes.sort_by_cached_key(|&node| {
            let (is_blank, length, name) = description.order(node);
            let place = self
                .at(node)
                .distribution()
                .map(|distribution| distribution.location.as_str().to_owned());
            // Nodes with the same colour have the same place, thus they are adjacent.
            (is_blank, length, place.filter(|_| is_blank), name)
        });
        let mut distributions: Vec<Distribution> = Vec::new();
        let mut last: Option<TermId> = None;
        for node in nodes {
            // Blank nodes with the same content are one distribution. The names of both lead to it.
            if last.is_some_and(|last| description.is_same(last, node)) {
                named.nodes.insert(
                    node,
                    Node::Part(typed_fields::distribution_part(distributions.len() - 1)),
                );
            } else if let Some(distribution) = self.at(node).distribution() {
                named.nodes.insert(
                    node,
                    Node::Part(typed_fields::distribution_part(distributions.len())),
                );
                distributions.push(distribution);
                last = Some(node);
            }
        }
        let mut known: FxHashSet<Location> = distributions
            .iter()
            .map(|one| one.location.clone())
            .collect();
        for dump in self.objects(void::DATA_DUMP).filter(|dump| {
            !matches!(
                self.graph.term(*dump),
                TermRef::Blank(_) | TermRef::Triple(_)
            )
        }) {
            let address = self.graph.term(dump).text();
            if is_unsafe_address(address) {
                continue;
            }
            let location = parse_location(address);
            if known.insert(location.clone()) {
                distributions.push(Distribution::new(location));
            }
        }
        distributions
    }

    /// Returns the remote content of which this dataset is a sample or copy.
    fn remote(&self) -> Option<RemoteContent> {
        let whole = self.parts(lodeseek::SAMPLE_OF).next()?;
        let classes: Vec<&str> = self
            .objects(rdf::TYPE)
            .map(|class| self.graph.term(class).text())
            .collect();
        let sampled = classes.contains(&lodeseek::SAMPLED_CONTENT);
        Some(RemoteContent {
            endpoint: whole.value(&[void::SPARQL_ENDPOINT])?,
            graph: whole.value(&[sd::NAME]),
            extent: if sampled {
                Extent::Sample
            } else {
                Extent::Whole
            },
            triples: whole.number(void::TRIPLES),
            classes: whole.partition(void::CLASS_PARTITION, void::CLASS, void::ENTITIES),
            properties: whole.partition(void::PROPERTY_PARTITION, void::PROPERTY, void::TRIPLES),
        })
    }

    /// Returns (class or property, count) of every part, by descending count.
    fn partition(&self, parts: &str, name: &str, count: &str) -> Vec<(String, u64)> {
        let mut found: Vec<(String, u64)> = self
            .parts(parts)
            .filter_map(|part| Some((part.value(&[name])?, part.number(count)?)))
            .collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found
    }

    /// Returns the media type or, without one, the format of a distribution. A known format of content comes first.
    fn format(&self) -> Option<String> {
        for property in [dcat::MEDIA_TYPE, dcterms::FORMAT] {
            let names =
                self.parts(property)
                    .filter_map(|format| match self.graph.term(format.node) {
                        TermRef::Literal { lexical, .. } => Some(lexical.trim().to_owned()),
                        _ => format.format_name(),
                    });
            let names =
                super::names::sort_addresses_first(names.filter(|name| !name.is_empty()).collect());
            let known = names
                .iter()
                .find(|name| Format::from_text(name).is_some_and(Format::is_of_content));
            if let Some(name) = known.or_else(|| names.first()) {
                return Some(name.clone());
            }
        }
        None
    }

    /// Returns the first address of a property that is safe to follow.
    fn address(&self, property: &str) -> Option<String> {
        self.values(&[property])
            .find(|address| !is_unsafe_address(address))
    }

    /// Returns the distribution if it has an address. One that runs a program or is its own content is none.
    fn distribution(&self) -> Option<Distribution> {
        let access = self
            .address(dcat::ACCESS_URL)
            .map(|access| parse_location(&access).as_str().to_owned());
        let file = self.address(dcat::DOWNLOAD_URL);
        let location = parse_location(file.as_deref().or(access.as_deref())?);
        let media_type = self
            .format()
            .map(|text| typed_fields::media_type_name(&text).to_owned());
        let media_type = media_type.filter(|name| !name.is_empty());
        Some(Distribution {
            location,
            access,
            media_type,
            copy: None,
        })
    }
}

fn parse_location(text: &str) -> Location {
    match relative_reference(text) {
        // A file name may contain spaces, an IRI cannot.
        Some(path) => Location::File(path),
        // An address in a literal may be no valid IRI.
        None => match Location::from_text(text) {
            Location::Remote(address) => {
                Location::Remote(typed_fields::repaired_address(&address).unwrap_or(address))
            }
            location => location,
        },
    }
}

/// Returns the triples of a dataset's description.
///
/// Every node that is not a resource of the web has an IRI under the dataset's own. Other subjects are resources of the
/// web that the catalogue describes: terms, agents, places, licences and so on.
#[must_use]
pub fn to_triples(dataset: &Dataset, iris: &Iris) -> Vec<OxTriple> {
    let id = &dataset.metadata.id;
    let (mut described, mut with_media_type) = (FxHashSet::default(), FxHashSet::default());
    for statement in &dataset.extra_statements {
        described.insert(&statement.subject);
        with_media_type.extend(media_type_of(statement));
    }
    let typed = typed_fields::statements(dataset, &|node| described.contains(node));
    let of_home = HomeResources::new(dataset, iris);
    let (catalog, node) = (iris.catalog(), iris.dataset(id));
    let mut triples = Vec::with_capacity(typed.len() + dataset.extra_statements.len() + 1);
    triples.push(OxTriple::new(
        catalog,
        NamedNode::new_unchecked(dcat::HAS_DATASET),
        node.clone(),
    ));
    for (iri, part) in &of_home.parts {
        let same = NamedNode::new_unchecked(owl::SAME_AS);
        triples.push(OxTriple::new(
            iris.part(id, part),
            same,
            NamedNode::new_unchecked(*iri),
        ));
    }
    // The catalogue may have another IRI of the same media type, for example with the scheme `http`: only that one is kept.
    let typed = typed.iter().filter(|statement| {
        media_type_of(statement).is_none_or(|media_type| !with_media_type.contains(&media_type))
    });
    for statement in typed.chain(&dataset.extra_statements) {
        // Without other names of parts, the statement need not be copied.
        if of_home.parts.is_empty() && is_allowed(statement, iris) {
            triples.push(statement.to_triple(id, iris));
            continue;
        }
        let statement = of_home.replace(statement);
        if is_allowed(&statement, iris) {
            triples.push(statement.to_triple(id, iris));
        }
    }
    triples
}

/// Returns the subject and the name of a statement's media type.
fn media_type_of(statement: &Statement) -> Option<(&Node, &str)> {
    match &statement.object {
        Value::Node(Node::Iri(iri)) if statement.predicate == dcat::MEDIA_TYPE => {
            Some((&statement.subject, typed_fields::media_type_name(iri)))
        }
        _ => None,
    }
}

/// Returns false for statements about other nodes of this home: a catalogue cannot make them.
fn is_allowed(statement: &Statement, iris: &Iris) -> bool {
    match &statement.subject {
        Node::Iri(iri) => !iri.starts_with(iris.base()),
        Node::Dataset | Node::Part(_) => true,
    }
}

/// Resources with IRIs of this home that a catalogue describes. They become parts, which denote the same resources with the
/// statements of this catalogue only.
struct HomeResources<'d> {
    parts: BTreeMap<&'d str, String>,
}

impl<'d> HomeResources<'d> {
    fn new(dataset: &'d Dataset, iris: &Iris) -> Self {
        let mut parts = BTreeMap::new();
        for statement in &dataset.extra_statements {
            if let Node::Iri(iri) = &statement.subject
                && iri.starts_with(iris.base())
                && !parts.contains_key(iri.as_str())
            {
                parts.insert(iri.as_str(), typed_fields::part_name("resource", &[iri]));
            }
        }
        Self { parts }
    }

    fn node(&self, node: &Node) -> Node {
        match node {
            Node::Iri(iri) => match self.parts.get(iri.as_str()) {
                Some(part) => Node::Part(part.clone()),
                None => node.clone(),
            },
            Node::Dataset | Node::Part(_) => node.clone(),
        }
    }

    fn replace(&self, statement: &Statement) -> Statement {
        let object = match &statement.object {
            // The part of a home of an earlier version already has this link.
            Value::Node(object) if statement.predicate != owl::SAME_AS => {
                Value::Node(self.node(object))
            }
            object => object.clone(),
        };
        Statement {
            subject: self.node(&statement.subject),
            predicate: statement.predicate.clone(),
            object,
        }
    }
}

/// Reads a dataset from the catalogue graph; `None` if the graph does not describe it.
#[must_use]
pub fn from_triples(graph: &TripleGraph, dataset: &NamedNode) -> Option<Dataset> {
    let node = graph.iri(dataset.as_str())?;
    let reader = NodeReader {
        graph,
        node,
        dataset_iri: Some(graph.term(node).text()),
    };
    let id = id_of_dataset_iri(dataset.as_str()).or_else(|| Some(reader.id()?.0))?;
    let (read, _) = reader.dataset(id, &CatalogIndex::for_entry(graph, node));
    Some(read)
}

/// Returns the agent that a node denotes in the description of a stored dataset. `None` if it has no name.
#[must_use]
pub fn agent_at(graph: &TripleGraph, node: TermId, dataset: &NamedNode) -> Option<Agent> {
    NodeReader {
        graph,
        node,
        dataset_iri: Some(dataset.as_str()),
    }
    .agent()
    .filter(|agent| !agent.name.is_empty())
}

/// Returns the triples of the catalogue graph that declare the graph of a dataset's current content: it has the IRI of the dataset.
#[must_use]
pub fn content_graph(dataset: &NamedNode, part: NamedNode) -> Vec<OxTriple> {
    let class = NamedNode::new_unchecked(sd::NAMED_GRAPH_CLASS);
    let statements = [
        (dataset, lodeseek::GRAPH, dataset),
        (dataset, sd::NAMED_GRAPH, &part),
        (&part, rdf::TYPE, &class),
        (&part, sd::NAME, dataset),
    ];
    let triples = statements.map(|(subject, predicate, object)| {
        OxTriple::new(
            subject.clone(),
            NamedNode::new_unchecked(predicate),
            object.clone(),
        )
    });
    triples.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node_reader::MAX_TEXT_BYTES;

    fn graph_of(triples: &[OxTriple]) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        for triple in triples {
            builder.insert(triple.as_ref());
        }
        builder.finish()
    }

    fn read_turtle(turtle: &str) -> Catalog {
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(
            turtle.as_bytes(),
            "c.ttl",
            &format!("{FOLDER}c.ttl"),
            &mut builder,
        );
        let graph = builder.finish();
        from_graph(&with_direct_values(&graph, &format!("{FOLDER}c.ttl")).unwrap_or(graph))
    }

    #[test]
    fn the_beginning_of_a_large_file_decides_whether_it_is_a_dump() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("large.nt");
        let content: String = (0..100_000)
            .map(|number| format!("<e:s{number}> <e:p> \"{number}\" .\n"))
            .collect();
        let dataset = "<e:d> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/dcat#Dataset> .\n";
        let title = "<e:d> <http://purl.org/dc/terms/title> \"Late\" .\n";
        let read = |text: String, beginning: u64| {
            std::fs::write(&path, text).expect("written");
            let file = CatalogFile {
                path: &path,
                address: None,
                media_type: None,
            };
            let catalog = read_in_two_steps(&file, beginning).expect("read");
            assert!(!catalog.is_incomplete && catalog.unreadable_entries == 0);
            // The content is no part of a description.
            let has_omissions = catalog.dialect == Dialect::Dcat;
            assert_eq!(catalog.problems.len(), usize::from(has_omissions));
            (
                catalog.dialect,
                catalog.datasets[0].metadata.title().to_owned(),
            )
        };
        let described = format!("{dataset}{content}{title}");
        assert_eq!(
            read(described, 1 << 20),
            (Dialect::Dcat, "Late".to_owned()),
            "the rest is read, too"
        );
        let late = format!("{content}{dataset}{title}");
        assert_eq!(
            read(late.clone(), 1 << 20),
            (Dialect::Dump, "large".to_owned())
        );
        assert_eq!(
            read(late, MAX_BEGINNING_BYTES),
            (Dialect::Dcat, "Late".to_owned())
        );
    }

    #[test]
    fn long_texts_of_a_description_are_left_out() {
        let long = "a".repeat(MAX_TEXT_BYTES + 1);
        let read = read_turtle(&format!(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
             @prefix foaf: <http://xmlns.com/foaf/0.1/> .
             <http://e.org/d> a dcat:Dataset ; dct:identifier \"d\" ; dct:title \"Trees\" , \"{long}\" ; dct:license \"{long}\" ;
               dct:description \"{}\" ; dct:creator [ foaf:name \"{long}\" ; foaf:homepage <http://e.org/> ] .",
            "b".repeat(MAX_TEXT_BYTES)
        ));
        let Dataset {
            metadata,
            extra_statements,
            ..
        } = &read.datasets[0];
        assert_eq!(
            (
                metadata.titles.len(),
                metadata.descriptions.len(),
                &metadata.license
            ),
            (1, 1, &None)
        );
        let is_short = |statement: &Statement| match &statement.object {
            Value::Literal(literal) => literal.value().len() <= MAX_TEXT_BYTES,
            Value::Node(_) => true,
        };
        assert!(metadata.creators.is_empty() && extra_statements.iter().all(is_short));
        assert!(
            read.problems[0].contains("3 texts or IRIs of more than 100000 bytes"),
            "{:?}",
            read.problems
        );
        let texts = |number: usize| {
            let texts = (0..number)
                .map(|place| format!("\"{place}{}\"", "c".repeat(MAX_TEXT_BYTES - 10)))
                .collect::<Vec<_>>();
            let turtle = format!(
                "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
                 <http://e.org/d> a dcat:Dataset ; dct:identifier \"d\" ; dct:description {} .",
                texts.join(", ")
            );
            let catalog = read_turtle(&turtle).seen_from("http://e.org/");
            (catalog.datasets.len(), catalog.unreadable_entries)
        };
        assert_eq!([texts(300), texts(400)], [(1, 0), (0, 1)]);
    }

    #[test]
    fn large_geometries_become_boxes() {
        let points: Vec<String> = (0..20_000)
            .map(|place| format!("4 {}", 50.0 + f64::from(place) / 20_000.0))
            .collect();
        let read = read_turtle(&format!(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
             <http://e.org/d> a dcat:Dataset ; dct:identifier \"d\" ; dct:title \"Trees\" ;
               dct:spatial [ a dct:Location ; dcat:bbox \"LINESTRING({})\"^^<http://www.opengis.net/ont/geosparql#wktLiteral> ] .",
            points.join(", ")
        ));
        let place = read.datasets[0].declared_place().expect("a place");
        assert_eq!(place.bounds.to_string(), "4,50,4,50.99995");
        assert!(
            read.problems[0].contains("1 geometries of more than 100000 bytes"),
            "{:?}",
            read.problems
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let dataset = Dataset {
            metadata: Metadata {
                titles: vec![
                    Text {
                        value: "Bäume".into(),
                        language: Some("de".into()),
                    },
                    Text {
                        value: "Trees".into(),
                        language: Some("en".into()),
                    },
                ],
                descriptions: vec![Text::plain("All trees")],
                keywords: vec![Text::plain("oak"), Text::plain("trees")],
                creators: vec![
                    Agent {
                        name: "City".into(),
                        iri: Some("http://e.org/city".into()),
                    },
                    Agent {
                        name: "N. N.".into(),
                        iri: None,
                    },
                ],
                publishers: vec![Agent {
                    name: "Press".into(),
                    iri: Some("http://e.org/press".into()),
                }],
                license: Some("CC-BY-4.0".into()),
                issued: Some("2024-01-02".into()),
                modified: Some("last year".into()),
                landing_page: Some("http://e.org/trees".into()),
                source: Some("http://e.org/set/1".into()),
                alternatives: vec![Text::plain("Bäume 2024")],
                themes: vec![
                    Theme {
                        label: "Counting".into(),
                        scheme: Scheme::Task,
                        iri: Some("http://e.org/count".into()),
                    },
                    Theme {
                        label: "Images".into(),
                        scheme: Scheme::Modality,
                        iri: None,
                    },
                ],
                introduced_by: vec![Work {
                    title: "On trees".into(),
                    iri: Some("http://e.org/paper".into()),
                    issued: Some("2023".into()),
                }],
                uses: Some(7),
                ..Metadata::new(DatasetId::new("1").expect("an id"))
            },
            distributions: vec![
                Distribution {
                    media_type: Some("text/turtle".into()),
                    ..Distribution::new(Location::File("a/b.ttl".into()))
                },
                Distribution {
                    access: Some("http://e.org/page".into()),
                    ..Distribution::new(Location::Remote("http://e.org/a.nt".into()))
                },
            ],
            extra_statements: vec![Statement::new(
                Node::Dataset,
                dcat::VERSION,
                oxrdf::Literal::from("2"),
            )],
            remote: Some(RemoteContent {
                endpoint: "http://e.org/sparql".into(),
                graph: Some("http://e.org/graph".into()),
                extent: Extent::Sample,
                triples: Some(1000),
                classes: vec![("http://e.org/B".into(), 5), ("http://e.org/A".into(), 4)],
                properties: vec![("http://e.org/p".into(), 900)],
            }),
            entry: EntryKey::default(),
        };
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let graph = graph_of(&to_triples(&dataset, &iris));
        let mut read =
            from_triples(&graph, &iris.dataset(&dataset.metadata.id)).expect("described");
        read.metadata.creators.sort();
        assert_eq!(read, dataset);
    }

    /// If each agent or dump were compared with all others, the work would be quadratic.
    #[test]
    fn many_agents_and_dumps_are_read() {
        let dataset = NamedNode::new_unchecked("http://e.org/set");
        let mut triples = Vec::new();
        for number in 0..50_000 {
            let creator = oxrdf::Literal::from(format!("Creator {number}"));
            let dump = NamedNode::new_unchecked(format!("http://e.org/{number}.nt"));
            triples.push(OxTriple::new(
                dataset.clone(),
                NamedNode::new_unchecked(dcterms::CREATOR),
                creator,
            ));
            triples.push(OxTriple::new(
                dataset.clone(),
                NamedNode::new_unchecked(void::DATA_DUMP),
                dump,
            ));
        }
        let graph = graph_of(&triples);
        let node = graph.iri(dataset.as_str()).expect("described");
        let reader = NodeReader {
            graph: &graph,
            node,
            dataset_iri: None,
        };
        let agents = reader.agents(
            &[dcterms::CREATOR, dcterms::CREATOR],
            &mut FxHashMap::default(),
        );
        assert_eq!(agents.len(), 50_000);
        let index = CatalogIndex::for_entry(&graph, node);
        let description = BoundedDescription::new(reader, &index, &FxHashSet::default());
        assert_eq!(
            reader
                .distributions(&description, &mut TypedNodes::default())
                .len(),
            50_000
        );
    }

    #[test]
    fn dcat_as_portals_write_it() {
        let catalog = read_turtle(
            r#"@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
            <http://e.org/set/7> a dcat:Dataset ; dct:title "Seven" ; dct:publisher [ a foaf:Agent ; foaf:name "City" ] ;
              dcat:distribution [ dcat:downloadURL <dumps/seven.ttl> ; dcat:mediaType <https://www.iana.org/assignments/media-types/text/turtle> ] ,
                [ dcat:accessURL <http://e.org/page> ] , [ dcat:downloadURL <../../etc/passwd> ] , [ dcat:downloadURL <a%20file.nt> ] .
            [] a dcat:Dataset ."#,
        );
        assert_eq!(catalog.problems.len(), 1);
        let dataset = &catalog.datasets[0];
        assert_eq!(dataset.metadata.id.as_str(), "7");
        assert_eq!(dataset.metadata.publishers[0].name, "City");
        let mut places: Vec<&str> = dataset
            .distributions
            .iter()
            .map(|d| d.location.as_str())
            .collect();
        places.sort_unstable();
        assert_eq!(
            places,
            [
                "../../etc/passwd",
                "a file.nt",
                "dumps/seven.ttl",
                "http://e.org/page"
            ]
        );
    }

    #[test]
    fn described_resources_keep_their_iris_and_names_are_not_invented() {
        let read = read_turtle(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
             @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
             @prefix : <http://e.org/> .
             :d a dcat:Dataset ; dct:identifier \"d\" ; dct:publisher :town_council , :mill ; dct:creator [ foaf:homepage :x ] ;
               dcat:theme :soil , :rock ; dcat:keyword \"Rock\" ;
               dcat:distribution [ dcat:accessURL :page ; dcat:mediaType <http://www.iana.org/assignments/media-types/text/csv> ] .
             :town_council a foaf:Organization . :mill foaf:name \"mill\" .
             :soil skos:prefLabel \"Soil\" . :rock skos:prefLabel \"Rock\" .",
        );
        let metadata = &read.datasets[0].metadata;
        let names: Vec<&str> = metadata
            .publishers
            .iter()
            .map(|agent| agent.name.as_str())
            .collect();
        assert_eq!(
            (names, metadata.creators.len()),
            (vec!["mill", "town council"], 0)
        );
        let triples = to_triples(&read.datasets[0], &Iris::default());
        let lines: Vec<String> = triples.iter().map(ToString::to_string).collect();
        let with = |part: &str| {
            lines
                .iter()
                .filter(|line| line.contains(part))
                .map(String::as_str)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            with("foaf/0.1/name"),
            ["<http://e.org/mill> <http://xmlns.com/foaf/0.1/name> \"mill\""]
        );
        assert_eq!(with("dcat#theme>").len(), 2);
        assert!(
            with("dcat#theme>")
                .iter()
                .all(|line| line.contains("> <http://e.org/")),
            "{lines:#?}"
        );
        assert!(
            matches!(with("dcat#keyword")[..], [keyword] if keyword.ends_with("\"Rock\"")),
            "{lines:#?}"
        );
        assert_eq!(
            with("media-types").len(),
            1,
            "one IRI of the media type: {lines:#?}"
        );
        let same = "sameAs> <http://e.org/d>";
        assert!(
            matches!(with("sameAs")[..], [own] if own.ends_with(same)),
            "{lines:#?}"
        );
    }

    #[test]
    fn a_dataset_without_a_date_of_issue_has_the_year_of_its_creation() {
        let prefixes = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .";
        let metadata = |dates: &str| {
            let catalog = read_turtle(&format!(
                "{prefixes} <http://e.org/set/7> a dcat:Dataset ; {dates} ."
            ));
            catalog.datasets[0].metadata.clone()
        };
        let created = metadata("dct:created \"2019-03-04\" ; dct:modified \"2022\"");
        assert_eq!(
            (created.created.as_deref(), created.issued.as_deref()),
            (Some("2019-03-04"), None)
        );
        assert_eq!(created.first_year(), Some(2019));
        let both = metadata("dct:created \"2019-03-04\" ; dct:issued \"2020-05\"");
        assert_eq!(
            both.issued.as_deref(),
            Some("2020-05"),
            "the date of issue comes first"
        );
        let modified = metadata("dct:modified \"2022\"");
        assert_eq!(
            (modified.issued, modified.modified.as_deref()),
            (None, Some("2022"))
        );
        for placeholder in ["9999-12-31", "2109", "0000"] {
            assert_eq!(
                metadata(&format!("dct:issued \"{placeholder}\"")).first_year(),
                None,
                "{placeholder}"
            );
        }
    }
}
