//! RO-Crate 1.1 to 1.3: a folder of files with a description in schema.org's terms, in `ro-crate-metadata.json`.
//!
//! The root data entity is the dataset. Its files become distributions, also those in folders inside of it. Other entities of type
//! `Dataset` are folders or references, not datasets of the catalogue.
//! <https://www.researchobject.org/ro-crate/specification/1.2/>

use super::node_reader::FOLDER;
use super::{Dataset, Node, Value, schema_org};
use lodeseek_rdf::vocab::{dcterms, rdf};
use lodeseek_rdf::{TermId, TermRef, Triple, TripleGraph, TripleGraphBuilder};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple as OxTriple};
use rustc_hash::FxHashSet;
use std::path::Path;

/// Name of the description in the folder of a crate.
pub(super) const METADATA_FILE: &str = "ro-crate-metadata.json";
/// Page for readers beside the description. It repeats the description.
pub(super) const PREVIEW_FILE: &str = "ro-crate-preview.html";
/// IRIs of versions and profiles, without the scheme.
const PROFILES: &str = "://w3id.org/ro/crate";
/// Namespaces of schema.org. The context of RO-Crate has the first.
const SCHEMA: [&str; 2] = ["http://schema.org/", "https://schema.org/"];
/// Maximum depth of folders inside of a crate.
const MAX_DEPTH: usize = 16;

/// If true, the file is the description of a crate, or its page, by its name.
pub(super) fn is_metadata_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == METADATA_FILE)
}

/// Descriptor and root data entity of a crate.
#[derive(Clone, Copy)]
struct Crate {
    descriptor: TermId,
    root: TermId,
}

/// Returns the description in schema.org's terms with the root data entity as only dataset; `None` if the graph is no crate.
pub(super) fn to_schema_org(graph: &TripleGraph, base: &str) -> Option<TripleGraph> {
    let entry = find_crate(graph, base)?;
    let files = find_files(graph, entry.root);
    let root = root_node(graph, entry.root, base);
    let mut writer = Writer {
        graph,
        entry,
        root: root.clone(),
        builder: TripleGraphBuilder::new(),
    };
    let has_address: FxHashSet<TermId> = find_triples(graph, "contentUrl")
        .map(|triple| triple.subject)
        .filter(|file| files.contains(file))
        .collect();
    let folders = find_folders(graph, entry.root);
    for (folder, name) in folders
        .iter()
        .filter_map(|&folder| Some((folder, local_name(graph, folder, base)?)))
    {
        if let Some(subject) = writer.node(folder) {
            writer.add(
                subject,
                dcterms::IDENTIFIER,
                Literal::new_simple_literal(name).into(),
            );
        }
    }
    writer.add(
        root.clone(),
        rdf::TYPE,
        NamedNode::new_unchecked(format!("{}Dataset", SCHEMA[0])).into(),
    );
    if let Some(descriptor) = writer.node(entry.descriptor) {
        writer.add(root.clone(), &schema_iri("subjectOf"), descriptor.into());
    }
    for triple in graph.triples() {
        let (Some(subject), property) = (
            writer.node(triple.subject),
            graph.term(triple.predicate).text(),
        ) else {
            continue;
        };
        let object = match writer.node(triple.object) {
            Some(node) => Term::from(node),
            None => graph.to_term(triple.object),
        };
        let name = schema_org::local_name(graph.term(triple.predicate));
        if property == rdf::TYPE
            && schema_org::local_name(graph.term(triple.object)) == Some("Dataset")
        {
            if triple.subject != entry.root {
                writer.add(
                    subject,
                    property,
                    NamedNode::new_unchecked(schema_iri("Collection")).into(),
                );
            }
        } else if triple.subject == entry.root
            && name == Some("hasPart")
            && files.contains(&triple.object)
        {
            // It is a distribution.
        } else if name == Some("contentUrl")
            && files.contains(&triple.subject)
            && is_local(graph, triple.subject)
        {
            writer.add(subject, &schema_iri("url"), object);
        } else {
            writer.add(subject, property, object);
        }
    }
    for &file in &files {
        let Some(subject) = writer.node(file) else {
            continue;
        };
        writer.add(
            root.clone(),
            &schema_iri("distribution"),
            subject.clone().into(),
        );
        let is_file = is_local(graph, file) || !has_address.contains(&file);
        if let (NamedOrBlankNode::NamedNode(address), true) =
            (&subject, is_file && is_address(graph, file, base))
        {
            writer.add(
                subject.clone(),
                &schema_iri("contentUrl"),
                address.clone().into(),
            );
        }
    }
    Some(writer.builder.finish())
}

/// Writer of a description in schema.org's terms.
struct Writer<'g> {
    /// The description of the crate.
    graph: &'g TripleGraph,
    entry: Crate,
    /// The node of the root data entity in the result.
    root: NamedOrBlankNode,
    builder: TripleGraphBuilder,
}

impl Writer<'_> {
    fn add(&mut self, subject: NamedOrBlankNode, property: &str, object: Term) {
        let property = NamedNode::new_unchecked(property);
        self.builder
            .insert(OxTriple::new(subject, property, object).as_ref());
    }

    /// Returns the node of the result for a node of the crate; `None` for literals.
    fn node(&self, id: TermId) -> Option<NamedOrBlankNode> {
        if id == self.entry.root {
            return Some(self.root.clone());
        }
        match self.graph.to_term(id) {
            Term::NamedNode(node) => Some(node.into()),
            Term::BlankNode(node) => Some(node.into()),
            _ => None,
        }
    }
}

fn schema_iri(name: &str) -> String {
    format!("{}{name}", SCHEMA[0])
}

/// Iterates over the triples of a property of schema.org.
fn find_triples<'g>(
    graph: &'g TripleGraph,
    name: &str,
) -> impl Iterator<Item = &'g Triple> + use<'g> {
    let properties = SCHEMA.map(|namespace| graph.iri(&format!("{namespace}{name}")));
    graph
        .triples()
        .iter()
        .filter(move |triple| properties.contains(&Some(triple.predicate)))
}

/// Returns the descriptor and the root data entity: the descriptor conforms to RO-Crate and is about the root.
///
/// A crate may describe other crates. The descriptor with the name of the file is preferred.
fn find_crate(graph: &TripleGraph, base: &str) -> Option<Crate> {
    let conforms = graph.iri(dcterms::CONFORMS_TO);
    let mut crates: Vec<Crate> = Vec::new();
    for triple in find_triples(graph, "about").filter(|triple| graph.is_resource(triple.object)) {
        let statements = graph.subject_triples(triple.subject).iter();
        let mut versions = statements.filter(|one| Some(one.predicate) == conforms);
        if versions.any(|one| is_profile(graph.term(one.object).text())) {
            crates.push(Crate {
                descriptor: triple.subject,
                root: triple.object,
            });
        }
    }
    let count = crates.len();
    let folder = match base.rfind('/') {
        Some(slash) => &base[..=slash],
        None => "",
    };
    // A dump may contain the descriptions of many crates.
    crates
        .into_iter()
        .filter(|one| count == 1 || graph.term(one.descriptor).text().starts_with(folder))
        .min_by_key(|one| {
            let iri = graph.term(one.descriptor).text();
            let name = iri.rsplit('/').next().unwrap_or(iri);
            (
                !iri.starts_with(folder),
                name != METADATA_FILE,
                !name.ends_with(METADATA_FILE),
                one.descriptor,
            )
        })
}

fn is_profile(text: &str) -> bool {
    text.split_once(PROFILES).is_some_and(|(scheme, rest)| {
        matches!(scheme, "http" | "https") && (rest.is_empty() || rest.starts_with('/'))
    })
}

/// Returns the node of the root: a folder on disk has no IRI.
fn root_node(graph: &TripleGraph, root: TermId, base: &str) -> NamedOrBlankNode {
    match graph.to_term(root) {
        Term::NamedNode(node)
            if !(base.starts_with(FOLDER) && node.as_str().starts_with(FOLDER)) =>
        {
            node.into()
        }
        Term::BlankNode(node) => node.into(),
        _ => BlankNode::new_unchecked("crate-root").into(),
    }
}

/// Returns the path of an entity in the crate.
fn local_name<'g>(graph: &'g TripleGraph, entity: TermId, base: &str) -> Option<&'g str> {
    let TermRef::Iri(iri) = graph.term(entity) else {
        return None;
    };
    super::croissant::local_name(iri, base)
}

/// Returns the paths of the folders of a crate that was read from a local file. Their files need not be listed.
pub(super) fn folder_paths(dataset: &Dataset) -> impl Iterator<Item = String> {
    let names = dataset
        .extra_statements
        .iter()
        .filter(|one| one.predicate == dcterms::IDENTIFIER);
    names.filter_map(|one| match (&one.subject, &one.object) {
        (Node::Part(_), Value::Literal(name)) if name.value().ends_with('/') => Some(
            super::iris::decode_segment(name.value()).unwrap_or_else(|| name.value().to_owned()),
        ),
        _ => None,
    })
}

/// Returns the files of the root and of the folders inside of it, in the order of the graph.
fn find_files(graph: &TripleGraph, root: TermId) -> Vec<TermId> {
    find_parts(graph, root).0
}

/// Returns the folders inside of the root.
fn find_folders(graph: &TripleGraph, root: TermId) -> Vec<TermId> {
    find_parts(graph, root).1
}

/// Returns the files and the other parts of the root and of its parts, in the order of the graph.
fn find_parts(graph: &TripleGraph, root: TermId) -> (Vec<TermId>, Vec<TermId>) {
    let parts: Vec<&Triple> = find_triples(graph, "hasPart").collect();
    let kind = graph.iri(rdf::TYPE);
    let mut known = FxHashSet::from_iter([root]);
    let (mut level, mut files, mut others) = (vec![root], Vec::new(), Vec::new());
    for _ in 0..MAX_DEPTH {
        let folders: FxHashSet<TermId> = level.drain(..).collect();
        if folders.is_empty() {
            break;
        }
        for part in parts
            .iter()
            .filter(|triple| folders.contains(&triple.subject))
        {
            if !graph.is_resource(part.object) || !known.insert(part.object) {
                continue;
            }
            let statements = graph.subject_triples(part.object).iter();
            let mut classes = statements
                .filter(|one| Some(one.predicate) == kind)
                .map(|one| graph.term(one.object));
            if classes.any(|class| {
                matches!(
                    schema_org::local_name(class),
                    Some("MediaObject" | "ImageObject" | "VideoObject" | "AudioObject")
                )
            }) {
                files.push(part.object);
            } else {
                level.push(part.object);
                others.push(part.object);
            }
        }
    }
    (files, others)
}

/// If true, the entity is a file in the folder of the crate.
fn is_local(graph: &TripleGraph, file: TermId) -> bool {
    matches!(graph.term(file), TermRef::Iri(iri) if iri.starts_with(FOLDER) && !iri.contains('#'))
}

/// If true, the IRI of an entity is the address of a file: it is no name within the document.
fn is_address(graph: &TripleGraph, file: TermId, base: &str) -> bool {
    let document = base.split('#').next().unwrap_or(base);
    let TermRef::Iri(iri) = graph.term(file) else {
        return false;
    };
    let is_name = iri
        .strip_prefix(document)
        .is_some_and(|rest| rest.starts_with('#'));
    !is_name && iri.contains("://")
}

#[cfg(test)]
mod tests {
    use crate::{Catalog, Dialect, Location};
    use std::fs;

    const CRATE: &str = r##"{"@context": ["https://w3id.org/ro/crate/1.2/context", {"gauge": "https://gauges.example.org/terms#gauge"}], "@graph": [
        {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "conformsTo": {"@id": "https://w3id.org/ro/crate/1.2"}, "about": {"@id": "./"}},
        {"@id": "./", "@type": "Dataset", "name": "Levels of rivers", "description": "Levels at two gauges", "gauge": "Elbe 1",
         "datePublished": "2025-02-03", "keywords": "water, river", "license": {"@id": "https://creativecommons.org/licenses/by/4.0/"},
         "author": [{"@id": "#ada"}], "publisher": {"@id": "https://ror.example.org/water"},
         "hasPart": [{"@id": "levels.ttl"}, {"@id": "tables/"}, {"@id": "https://gauges.example.org/photo.png"}, {"@id": "#service"}]},
        {"@id": "#ada", "@type": "Person", "name": "Ada Fluss", "affiliation": {"@id": "https://ror.example.org/water"}},
        {"@id": "https://ror.example.org/water", "@type": "Organization", "name": "Water Office"},
        {"@id": "levels.ttl", "@type": "File", "name": "levels", "encodingFormat": ["text/turtle", {"@id": "https://formats.example.org/1"}], "contentSize": "99"},
        {"@id": "tables/", "@type": "Dataset", "name": "Tables", "hasPart": [{"@id": "tables/one%20gauge.csv"}]},
        {"@id": "tables/one%20gauge.csv", "@type": "File", "encodingFormat": "text/csv"},
        {"@id": "https://gauges.example.org/photo.png", "@type": ["File", "ImageObject"], "encodingFormat": "image/png"},
        {"@id": "#service", "@type": "WebAPI", "name": "Interface"},
        {"@id": "https://other.example.org/older", "@type": "Dataset", "name": "An older one"}]}"##;

    #[test]
    fn a_folder_with_a_description_is_one_dataset() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("ro-crate-metadata.json", CRATE);
        write("ro-crate-preview.html", "<html><body>Levels</body></html>");
        write(
            "levels.ttl",
            "<http://e.org/d> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> \"Inner\" .",
        );
        write("tables/one gauge.csv", "a,b\n");
        write(
            "tables/more.nt",
            "<http://e.org/b> <http://e.org/p> <http://e.org/c> .\n",
        );
        write("tables/notes.txt", "Notes");
        write(
            "apart.nt",
            "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n",
        );
        let alone = Catalog::read(&folder.path().join("ro-crate-metadata.json")).expect("a crate");
        assert_eq!(
            (alone.dialect, alone.datasets.len(), alone.problems.len()),
            (Dialect::RoCrate, 1, 0)
        );
        let whole = Catalog::read(folder.path()).expect("a folder");
        assert!(whole.problems.is_empty(), "{:?}", whole.problems);
        let ids: Vec<&str> = whole
            .datasets
            .iter()
            .map(|dataset| dataset.metadata.id.as_str())
            .collect();
        assert_eq!(ids, ["Levels-of-rivers", "apart"]);
        for (dataset, is_folder) in [(&alone.datasets[0], false), (&whole.datasets[0], true)] {
            let metadata = &dataset.metadata;
            assert_eq!(
                (metadata.title(), metadata.description()),
                ("Levels of rivers", Some("Levels at two gauges"))
            );
            assert_eq!(
                metadata.license.as_deref(),
                Some("https://creativecommons.org/licenses/by/4.0/")
            );
            assert_eq!(
                (metadata.issued.as_deref(), metadata.source.as_deref()),
                (Some("2025-02-03"), None)
            );
            let names = |agents: &[crate::Agent]| {
                agents
                    .iter()
                    .map(|agent| agent.name.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                (names(&metadata.creators), names(&metadata.publishers)),
                (vec!["Ada Fluss".into()], vec!["Water Office".into()])
            );
            let mut keywords: Vec<&str> = metadata
                .keywords
                .iter()
                .map(|text| text.value.as_str())
                .collect();
            keywords.sort_unstable();
            assert_eq!(keywords, ["river", "water"]);
            let mut places: Vec<&Location> = dataset
                .distributions
                .iter()
                .map(|one| &one.location)
                .collect();
            places.sort_by_key(|place| place.as_str().to_owned());
            // A folder is read with its unlisted files.
            let unlisted = Location::File("tables/more.nt".into());
            places.retain(|place| **place != unlisted);
            assert_eq!(
                dataset.distributions.len() - places.len(),
                usize::from(is_folder)
            );
            assert_eq!(
                places,
                [
                    &Location::Remote("https://gauges.example.org/photo.png".into()),
                    &Location::File("levels.ttl".into()),
                    &Location::File("tables/one gauge.csv".into()),
                ]
            );
            let statements: Vec<String> = dataset
                .extra_statements
                .iter()
                .map(|one| format!("{one:?}"))
                .collect();
            assert!(
                statements
                    .iter()
                    .any(|one| one.contains("gauges.example.org/terms#gauge")),
                "own terms are kept"
            );
            assert!(
                statements.iter().any(|one| one.contains("Interface")),
                "other parts are kept"
            );
            assert!(
                statements.iter().all(|one| !one.contains("catalog-folder")),
                "{statements:#?}"
            );
        }
    }

    #[test]
    fn a_crate_on_the_web_has_addresses() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("download");
        fs::write(&path, CRATE).expect("written");
        let address = "https://gauges.example.org/rivers/ro-crate-metadata.json";
        let catalog =
            Catalog::read_download(&path, address, Some("application/ld+json")).expect("a crate");
        assert_eq!(
            (catalog.dialect, catalog.datasets.len()),
            (Dialect::RoCrate, 1),
            "{:?}",
            catalog.problems
        );
        let dataset = &catalog.datasets[0];
        assert_eq!(
            dataset.metadata.source.as_deref(),
            Some("https://gauges.example.org/rivers/")
        );
        let levels = Location::Remote("https://gauges.example.org/rivers/levels.ttl".into());
        assert!(
            dataset
                .distributions
                .iter()
                .any(|one| one.location == levels),
            "{:?}",
            dataset.distributions
        );
    }
}
