//! Linked Data Event Streams: members with a time, and the pages that hold them.
//!
//! A member is the description of its IRI in the default graph, with its blank nodes, and the graph that it names. The newest member
//! of each entity counts; one that is deleted has none. The entities of a feed are described apart, such as a dataset, its
//! distributions and its publisher, so the newest members of all entities are one description.
//! <https://w3id.org/ldes/specification>, <https://semiceu.github.io/LDES-DCAT-AP-feeds/>

use super::service_response::{EventPage, ServiceResponse};
use super::{Catalog, CatalogError, CatalogFile, Dialect, Moment, dcat, read_text};
use lodeseek_rdf::vocab::{activity_streams, dcterms, ldes, rdf, tree};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder, TripleSink};
use oxrdf::{BlankNode, GraphName, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use oxsdatatypes::DateTime;
use oxttl::TriGParser;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum size of all pages of a stream in bytes: 512 MiB. Their newest members are held in memory.
const MAX_STREAM_BYTES: u64 = 512 << 20;
/// Maximum number of triples of a member.
const MAX_MEMBER_TRIPLES: usize = 1_000_000;
/// Maximum number of steps from a member to its blank nodes.
const MAX_DEPTH: usize = 16;

/// Returns true if the beginning of a document has the terms of event streams in a syntax with graphs.
pub(super) fn looks_like(head: &str) -> bool {
    let is_terse =
        !head.starts_with(['{', '[']) && !head.starts_with("<?xml") && !head.starts_with("<!");
    is_terse && (head.contains(ldes::NAMESPACE) || head.contains(tree::NAMESPACE))
}

/// Reads a page. `None` if it is no page of a stream.
pub(super) fn read_page(file: &CatalogFile<'_>) -> Result<Option<Catalog>, CatalogError> {
    let quads = read_quads(file)?;
    let document = Document::new(&quads, file.address.unwrap_or_default());
    if !document.is_stream() {
        return Ok(None);
    }
    let Some(_) = file.address else {
        return Err(CatalogError::NotUnderstood {
            path: file.path.to_owned(),
            reason: "a page of an event stream (LDES); `harvest` reads the stream at its address"
                .to_owned(),
        });
    };
    Ok(Some(Catalog {
        dialect: Dialect::EventStream,
        response: Some(ServiceResponse::Events(document.page())),
        ..Catalog::default()
    }))
}

/// Reads all pages of a stream as one description: the newest member of each entity.
pub(super) fn read_stream(files: &[CatalogFile<'_>]) -> Result<Catalog, CatalogError> {
    let mut newest: BTreeMap<String, Version> = BTreeMap::new();
    let (mut bytes, mut paths) = (0, Paths::default());
    let mut pages = Vec::new();
    for file in files {
        bytes += file
            .path
            .metadata()
            .map_err(CatalogError::io(file.path))?
            .len();
        if bytes > MAX_STREAM_BYTES {
            return Err(CatalogError::NotUnderstood {
                path: file.path.to_owned(),
                reason: format!(
                    "an event stream of more than {} MiB",
                    MAX_STREAM_BYTES >> 20
                ),
            });
        }
        let quads = read_quads(file)?;
        // The paths are stated once; some pages have members only.
        paths.add(&Document::new(&quads, file.address.unwrap_or_default()));
        pages.push((file, quads));
    }
    let mut problems = Vec::new();
    for (number, (file, quads)) in pages.into_iter().enumerate() {
        let document = Document::new(&quads, file.address.unwrap_or_default());
        for member in document.members() {
            match document.version(member, &paths, number) {
                Ok(version) => {
                    let is_newer = newest
                        .get(&version.entity)
                        .is_none_or(|known| version.is_newer_than(known));
                    if is_newer {
                        newest.insert(version.entity.clone(), version);
                    }
                }
                Err(reason) => problems.push(format!("{}: {reason}", file.path.display())),
            }
        }
    }
    let mut deleted = Vec::new();
    let mut builder = TripleGraphBuilder::new();
    for (entity, version) in newest {
        if version.is_deleted {
            deleted.push(entity);
            continue;
        }
        // Blank nodes of two members are different, although their pages may label them alike.
        builder.start_file();
        for triple in &version.triples {
            builder.insert_triple(triple.as_ref());
        }
    }
    let graph: TripleGraph = builder.finish();
    let mut catalog = dcat::from_graph(&graph);
    catalog.dialect = Dialect::EventStream;
    catalog.unreadable_entries += problems.len();
    catalog.problems.extend(problems);
    catalog.response = Some(ServiceResponse::Events(EventPage {
        deleted,
        ..EventPage::default()
    }));
    Ok(catalog)
}

fn read_quads(file: &CatalogFile<'_>) -> Result<Vec<Quad>, CatalogError> {
    let path: &Path = file.path;
    let decoded = read_text(path, None).map_err(CatalogError::io(path))?;
    let parser = TriGParser::new();
    let parser = match file.address {
        Some(address) => parser.clone().with_base_iri(address).unwrap_or(parser),
        None => parser,
    };
    let mut quads = Vec::new();
    for quad in parser.for_slice(decoded.text.as_bytes()) {
        quads.push(quad.map_err(|error| CatalogError::NotUnderstood {
            path: path.to_owned(),
            reason: format!("a page of an event stream that is no TriG: {error}"),
        })?);
    }
    Ok(quads)
}

/// Paths to the entity, the time and the kind of a member.
#[derive(Default)]
struct Paths {
    entity: Option<String>,
    time: Option<String>,
    deletions: Vec<String>,
}

impl Paths {
    fn add(&mut self, document: &Document<'_>) {
        if self.entity.is_none() {
            self.entity = document.property_path(ldes::VERSION_OF_PATH);
        }
        if self.time.is_none() {
            self.time = document.property_path(ldes::TIMESTAMP_PATH);
        }
        self.deletions
            .extend(document.objects_of_streams(ldes::VERSION_DELETE_OBJECT));
    }
}

/// A version of an entity.
struct Version {
    entity: String,
    time: Option<DateTime>,
    /// Number of the page, for members without a time.
    page: usize,
    is_deleted: bool,
    triples: Vec<Triple>,
}

impl Version {
    fn is_newer_than(&self, other: &Self) -> bool {
        match (&self.time, &other.time) {
            (Some(own), Some(others)) if own != others => {
                own.partial_cmp(others).is_none_or(Ordering::is_gt)
            }
            _ => self.page >= other.page,
        }
    }
}

/// The quads of a page by subject.
struct Document<'q> {
    address: &'q str,
    /// Triples of the default graph.
    subjects: FxHashMap<&'q NamedOrBlankNode, Vec<&'q Quad>>,
    /// Triples of named graphs.
    graphs: FxHashMap<&'q GraphName, Vec<&'q Quad>>,
}

impl<'q> Document<'q> {
    fn new(quads: &'q [Quad], address: &'q str) -> Self {
        let (mut subjects, mut graphs) = (FxHashMap::default(), FxHashMap::default());
        for quad in quads {
            let list: &mut Vec<&Quad> = if quad.graph_name.is_default_graph() {
                subjects.entry(&quad.subject).or_default()
            } else {
                graphs.entry(&quad.graph_name).or_default()
            };
            list.push(quad);
        }
        Self {
            address,
            subjects,
            graphs,
        }
    }

    fn values(&self, subject: &NamedOrBlankNode, property: &str) -> impl Iterator<Item = &'q Term> {
        let triples = self.subjects.get(subject).cloned().unwrap_or_default();
        let property = property.to_owned();
        triples
            .into_iter()
            .filter(move |quad| quad.predicate.as_str() == property)
            .map(|quad| &quad.object)
    }

    fn streams(&self) -> Vec<&'q NamedOrBlankNode> {
        let mut streams: Vec<&NamedOrBlankNode> = self
            .subjects
            .iter()
            .filter(|(_, quads)| {
                quads.iter().any(|quad| {
                    let property = quad.predicate.as_str();
                    let is_stream =
                        property == rdf::TYPE && iri_of(&quad.object) == Some(ldes::EVENT_STREAM);
                    is_stream || property == tree::VIEW || property == tree::MEMBER
                })
            })
            .map(|(subject, _)| *subject)
            .collect();
        // The order of a hash map would decide which declaration counts.
        streams.sort_by_key(ToString::to_string);
        streams
    }

    fn is_stream(&self) -> bool {
        let has_relations = self
            .subjects
            .values()
            .flatten()
            .any(|quad| quad.predicate.as_str() == tree::RELATION);
        has_relations || !self.streams().is_empty()
    }

    /// Returns the IRI of a property that the streams declare.
    fn property_path(&self, declaration: &str) -> Option<String> {
        self.objects_of_streams(declaration)
            .find(|value| value.contains("://"))
    }

    fn objects_of_streams(&self, property: &str) -> impl Iterator<Item = String> {
        let mut found = Vec::new();
        for stream in self.streams() {
            let values = self.values(stream, property);
            found.extend(values.filter_map(iri_of).map(str::to_owned));
        }
        found.into_iter()
    }

    fn members(&self) -> Vec<NamedNode> {
        let mut members = Vec::new();
        for stream in self.streams() {
            for member in self.values(stream, tree::MEMBER) {
                if let Term::NamedNode(member) = member {
                    members.push(member.clone());
                }
            }
        }
        members
    }

    fn page(&self) -> EventPage {
        let mut page = EventPage::default();
        for (subject, quads) in &self.subjects {
            for quad in quads {
                match quad.predicate.as_str() {
                    tree::VIEW => page.views.extend(iri_of(&quad.object).map(str::to_owned)),
                    tree::RELATION => {
                        if let Some(relation) = node_of(&quad.object) {
                            let nodes = self.values(&relation, tree::NODE);
                            page.relations
                                .extend(nodes.filter_map(iri_of).map(str::to_owned));
                        }
                    }
                    ldes::RETENTION_POLICY => page.has_retention_policy = true,
                    ldes::VERSION_OF_PATH | ldes::TIMESTAMP_PATH
                        if iri_of(&quad.object).is_none() =>
                    {
                        page.unsupported_paths
                            .push(quad.predicate.as_str().to_owned());
                    }
                    _ => {}
                }
            }
            let is_own = matches!(subject, NamedOrBlankNode::NamedNode(node) if node.as_str() == self.address);
            page.is_node |= is_own
                && quads
                    .iter()
                    .any(|quad| quad.predicate.as_str() == tree::RELATION);
        }
        page.members = self.members().len() as u64;
        for list in [&mut page.views, &mut page.relations] {
            list.sort();
            list.dedup();
        }
        page
    }

    /// Returns the version that a member describes. The error is the reason why there is none.
    fn version(&self, member: NamedNode, paths: &Paths, page: usize) -> Result<Version, String> {
        let node: NamedOrBlankNode = member.clone().into();
        let entity_path = paths.entity.as_deref().unwrap_or(dcterms::IS_VERSION_OF);
        let entity = self.values(&node, entity_path).next();
        let entity = entity.and_then(iri_of).map(str::to_owned);
        let time = paths
            .time
            .as_deref()
            .and_then(|path| self.values(&node, path).next());
        let time = time.and_then(|time| match time {
            Term::Literal(literal) => time_of(literal.value()),
            _ => None,
        });
        let is_deleted = self
            .values(&node, rdf::TYPE)
            .filter_map(iri_of)
            .any(|kind| {
                kind == activity_streams::DELETE || paths.deletions.iter().any(|one| one == kind)
            });
        let graph = self.graphs.get(&GraphName::NamedNode(member.clone()));
        let mut triples = Vec::new();
        let entity = match (entity, graph) {
            (Some(entity), _) => entity,
            (None, _) => member.as_str().to_owned(),
        };
        match graph {
            Some(quads) => {
                triples.extend(quads.iter().map(|quad| Triple::from((*quad).clone())));
            }
            None if !is_deleted => self.star(&node, &entity, entity_path, &mut triples),
            None => {}
        }
        if triples.len() > MAX_MEMBER_TRIPLES {
            return Err(format!(
                "the member <{}> has more than {MAX_MEMBER_TRIPLES} triples",
                member.as_str()
            ));
        }
        Ok(Version {
            entity,
            time,
            page,
            is_deleted,
            triples,
        })
    }

    /// Adds the triples of a member, with its blank nodes. The member is replaced by its entity.
    fn star(
        &self,
        member: &NamedOrBlankNode,
        entity: &str,
        entity_path: &str,
        triples: &mut Vec<Triple>,
    ) {
        let own: NamedOrBlankNode = NamedNode::new_unchecked(entity).into();
        // Blank nodes may form a circle.
        let mut seen: FxHashSet<NamedOrBlankNode> = FxHashSet::from_iter([member.clone()]);
        let mut level = vec![member.clone()];
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for node in level {
                for quad in self.subjects.get(&node).into_iter().flatten() {
                    if node == *member && quad.predicate.as_str() == entity_path {
                        continue;
                    }
                    let subject = if node == *member {
                        own.clone()
                    } else {
                        node.clone()
                    };
                    triples.push(Triple::new(
                        subject,
                        quad.predicate.clone(),
                        quad.object.clone(),
                    ));
                    if let Term::BlankNode(blank) = &quad.object {
                        let blank: NamedOrBlankNode = BlankNode::clone(blank).into();
                        if seen.insert(blank.clone()) {
                            next.push(blank);
                        }
                    }
                }
            }
            level = next;
        }
    }
}

/// Returns a time with its fraction of a second; of a date, its first second.
fn time_of(text: &str) -> Option<DateTime> {
    let exact: Option<DateTime> = text.trim().parse().ok();
    exact.or_else(|| format!("{}Z", Moment::parse(text)?.second()).parse().ok())
}

fn iri_of(term: &Term) -> Option<&str> {
    match term {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    }
}

fn node_of(term: &Term) -> Option<NamedOrBlankNode> {
    match term {
        Term::NamedNode(node) => Some(node.clone().into()),
        Term::BlankNode(node) => Some(node.clone().into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, DownloadedDocument};
    use std::path::PathBuf;

    const PREFIXES: &str = "@prefix ldes: <https://w3id.org/ldes#> . @prefix tree: <https://w3id.org/tree#> . \
        @prefix as: <https://www.w3.org/ns/activitystreams#> . @prefix dct: <http://purl.org/dc/terms/> . \
        @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n";
    const STREAM: &str = "<http://e.org/feed#s> a ldes:EventStream ; ldes:timestampPath as:published ; ldes:versionOfPath as:object ; \
        tree:view <http://e.org/feed> .\n<http://e.org/feed> tree:relation [ tree:node <http://e.org/feed/1> ] .\n";

    fn event(number: u32, kind: &str, entity: &str, time: &str, content: &str) -> String {
        let graph = match content {
            "" => String::new(),
            content => {
                format!("<http://e.org/e{number}> {{ <http://e.org/{entity}> {content} }}\n")
            }
        };
        format!(
            "<http://e.org/feed#s> tree:member <http://e.org/e{number}> .\n<http://e.org/e{number}> a as:{kind} ; as:object <http://e.org/{entity}> ; as:published \"{time}\"^^xsd:dateTime .\n{graph}"
        )
    }

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, format!("{PREFIXES}{text}")).expect("written");
        path
    }

    #[test]
    fn the_newest_member_of_each_entity_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = write(folder.path(), "root", STREAM);
        let read = Catalog::read_download(&root, "http://e.org/feed", Some("application/trig"))
            .expect("a page");
        let Some(ServiceResponse::Events(page)) = read.response else {
            panic!("no page of events")
        };
        assert_eq!(
            (page.views, page.relations),
            (
                vec!["http://e.org/feed".to_owned()],
                vec!["http://e.org/feed/1".to_owned()]
            )
        );
        // Pages are in no order of time, and parts of a dataset are entities of their own.
        let later = [
            event(
                7,
                "Update",
                "kilns",
                "2026-03-01T08:00:00.5Z",
                "a dcat:Dataset ; dct:title \"New\" ; dcat:distribution <http://e.org/file>",
            ),
            event(8, "Delete", "ovens", "2026-03-02T08:00:00Z", ""),
        ];
        let earlier = [
            event(
                1,
                "Create",
                "kilns",
                "2026-03-01T08:00:00Z",
                "a dcat:Dataset ; dct:title \"Old\"",
            ),
            event(
                2,
                "Create",
                "ovens",
                "2026-02-01T08:00:00Z",
                "a dcat:Dataset ; dct:title \"Ovens\"",
            ),
            event(
                3,
                "Create",
                "file",
                "2026-02-01T08:00:00Z",
                "a dcat:Distribution ; dcat:downloadURL <http://e.org/k.ttl>",
            ),
        ];
        let documents: Vec<DownloadedDocument> = [
            ("1", later.concat()),
            ("2", earlier.concat()),
            ("root", STREAM.to_owned()),
        ]
        .into_iter()
        .map(|(name, text)| DownloadedDocument {
            path: write(folder.path(), name, &text),
            address: format!("http://e.org/feed/{name}"),
            media_type: None,
        })
        .collect();
        let catalog = Catalog::read_event_stream(&documents).expect("a stream");
        assert_eq!(
            (
                catalog.dialect,
                catalog.datasets.len(),
                catalog.problems.len()
            ),
            (Dialect::EventStream, 1, 0)
        );
        let dataset = &catalog.datasets[0];
        assert_eq!(
            (dataset.metadata.id.as_str(), dataset.metadata.title()),
            ("kilns", "New")
        );
        assert_eq!(
            dataset.distributions[0].location.as_str(),
            "http://e.org/k.ttl"
        );
        let Some(ServiceResponse::Events(page)) = catalog.response else {
            panic!("no deletions")
        };
        assert_eq!(page.deleted, ["http://e.org/ovens"]);
    }

    #[test]
    fn versions_are_named_by_their_entities() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "<http://e.org/s> a ldes:EventStream ; ldes:timestampPath dct:modified ; ldes:versionOfPath dct:isVersionOf ; tree:member <http://e.org/d/v1>, <http://e.org/d/v2> .\n\
            <http://e.org/d/v1> a dcat:Dataset ; dct:isVersionOf <http://e.org/d> ; dct:modified \"2026-01-02\"^^xsd:date ; dct:title \"First\" .\n\
            <http://e.org/d/v2> a dcat:Dataset ; dct:isVersionOf <http://e.org/d> ; dct:modified \"2026-01-03\"^^xsd:date ; dct:title \"Second\" ; \
            dcat:distribution [ a dcat:Distribution ; dcat:accessURL <http://e.org/x.ttl> ] .";
        let document = DownloadedDocument {
            path: write(folder.path(), "page", text),
            address: "http://e.org/s".to_owned(),
            media_type: None,
        };
        let catalog = Catalog::read_event_stream(&[document]).expect("a stream");
        let dataset = &catalog.datasets[0];
        assert_eq!(
            (
                catalog.datasets.len(),
                dataset.metadata.id.as_str(),
                dataset.metadata.title()
            ),
            (1, "d", "Second")
        );
        assert_eq!(dataset.distributions.len(), 1);
        let page = write(folder.path(), "local.ttl", text);
        let error = Catalog::read(&page).expect_err("no catalogue").to_string();
        assert!(error.contains("a page of an event stream"), "{error}");
    }
}
