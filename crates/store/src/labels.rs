//! Multilingual labels of a graph, in a file of a dataset version. The dictionary that translates queries is made of them.
//!
//! The indexer writes the file if the graph has a resource with labels in two or more languages. Its body is a line with the
//! number of resources beyond [`MAX_LABELLED_RESOURCES`], then a line for each resource: language codes and labels,
//! separated by tabs, the preferred labels first.

use super::{StoreError, graph_file};
use lodeseek_rdf::vocab::skos;
use lodeseek_rdf::{LABEL_PROPERTIES, TermId, TermRef, TripleGraph, corrected_language_code};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Maximum number of resources of a graph whose labels are extracted.
pub const MAX_LABELLED_RESOURCES: usize = 200_000;
/// Maximum number of bytes of an extracted label. Longer ones are sentences, which translate nothing.
const MAX_LABEL_BYTES: usize = 120;
/// Maximum number of extracted labels of a resource.
const MAX_RESOURCE_LABELS: usize = 200;
const SUFFIX: &str = "labels";

/// Labels of a resource in two or more languages: codes of languages, and texts, the preferred ones first.
pub type ResourceLabels = Vec<(String, String)>;

/// Multilingual labels of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MultilingualLabels {
    /// Labels of each resource.
    pub resources: Vec<ResourceLabels>,
    /// Number of further resources, whose labels were not extracted.
    pub omitted: u64,
}

impl MultilingualLabels {
    /// Extracts the labels of a graph. Mistaken language codes, such as `dk` and `jp`, are corrected.
    #[must_use]
    pub fn from_graph(graph: &TripleGraph) -> Self {
        let mut properties: Vec<TermId> = Vec::new();
        for iri in LABEL_PROPERTIES.iter().chain(&[skos::ALT_LABEL]) {
            properties.extend(graph.iri(iri));
        }
        let mut labels = Self::default();
        // Triples are sorted: those of a subject follow each other.
        for of_subject in graph
            .triples()
            .chunk_by(|one, next| one.subject == next.subject)
        {
            let resource = labels_of_subject(graph, of_subject, &properties);
            let is_multilingual = resource
                .first()
                .is_some_and(|first| resource.iter().any(|label| label.0 != first.0));
            if !is_multilingual {
                continue;
            }
            if labels.resources.len() < MAX_LABELLED_RESOURCES {
                labels.resources.push(resource);
            } else {
                labels.omitted += 1;
            }
        }
        labels
    }

    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.omitted);
        for resource in &self.resources {
            let mut separator = "";
            for (language, label) in resource {
                let _ = write!(text, "{separator}{language}\t{label}");
                separator = "\t";
            }
            text.push('\n');
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let omitted = lines.next()?.parse().ok()?;
        let mut resources = Vec::new();
        for line in lines {
            let mut cells = line.split('\t');
            let mut resource = ResourceLabels::new();
            while let Some(language) = cells.next() {
                resource.push((language.to_owned(), cells.next()?.to_owned()));
            }
            resources.push(resource);
        }
        Some(Self { resources, omitted })
    }
}

/// Returns the labels with a language among the triples of one subject, in the order of the properties.
fn labels_of_subject(
    graph: &TripleGraph,
    triples: &[lodeseek_rdf::Triple],
    properties: &[TermId],
) -> ResourceLabels {
    let mut ranked = Vec::new();
    for triple in triples {
        let Some(rank) = properties
            .iter()
            .position(|property| *property == triple.predicate)
        else {
            continue;
        };
        let TermRef::Literal { lexical, kind } = graph.term(triple.object) else {
            continue;
        };
        if let Some(tag) = kind.language()
            && lexical.len() <= MAX_LABEL_BYTES
            && ranked.len() < MAX_RESOURCE_LABELS
        {
            // Tabs and line breaks separate labels and resources in the file.
            let text: Vec<&str> = lexical.split_whitespace().collect();
            if !text.is_empty() {
                ranked.push((rank, (corrected_language_code(tag), text.join(" "))));
            }
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, label)| label).collect()
}

pub(super) fn path(home: &Path, version: &str) -> PathBuf {
    home.join("graphs").join(format!("{version}.{SUFFIX}"))
}

/// Returns true if a file name is that of multilingual labels.
pub(super) fn is_labels(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == SUFFIX)
}

/// Writes the labels of a version, if it has some.
pub(super) fn write(
    home: &Path,
    version: &str,
    labels: &MultilingualLabels,
) -> Result<(), StoreError> {
    if labels.resources.is_empty() {
        return Ok(());
    }
    graph_file::write_checked(&path(home, version), labels.to_text().as_bytes())
}

/// Reads the labels of a version; `None` if it has none.
///
/// # Errors
/// [`StoreError::DamagedFile`] if the file is damaged.
pub(super) fn read(home: &Path, version: &str) -> Result<Option<MultilingualLabels>, StoreError> {
    let path = path(home, version);
    let Some(body) = graph_file::read_checked(&path)? else {
        return Ok(None);
    };
    let text = String::from_utf8(body).ok();
    match text.as_deref().and_then(MultilingualLabels::parse) {
        Some(labels) => Ok(Some(labels)),
        None => Err(StoreError::DamagedFile { path }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::vocab::rdfs;
    use oxrdf::{Literal, NamedNodeRef, TripleRef};

    fn graph(labels: &[(&str, &str, &str, &str)]) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        for (subject, property, text, tag) in labels {
            let literal = Literal::new_language_tagged_literal_unchecked(*text, *tag);
            let node = NamedNodeRef::new_unchecked;
            builder.insert(TripleRef::new(node(subject), node(property), &literal));
        }
        builder.finish()
    }

    #[test]
    fn resources_with_labels_in_several_languages_are_extracted() {
        let graph = graph(&[
            ("ex:a", skos::ALT_LABEL, "N\n fertiliser", "en"),
            ("ex:a", skos::PREF_LABEL, "nitrogen", "en"),
            ("ex:a", skos::PREF_LABEL, "kvælstof", "dk"),
            ("ex:b", rdfs::LABEL, "air", "en"),
            ("ex:b", rdfs::LABEL, "Air", "en-GB"),
            ("ex:c", rdfs::COMMENT, "eau", "fr"),
            ("ex:c", rdfs::LABEL, "water", "en"),
        ]);
        let labels = MultilingualLabels::from_graph(&graph);
        let [resource] = labels.resources.as_slice() else {
            panic!("one resource: {labels:?}");
        };
        let mut preferred = resource[..2].to_vec();
        preferred.sort();
        assert_eq!(
            preferred,
            [
                ("da".to_owned(), "kvælstof".to_owned()),
                ("en".to_owned(), "nitrogen".to_owned())
            ]
        );
        assert_eq!(resource[2].1, "N fertiliser", "alternative labels are last");

        let home = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(home.path().join("graphs")).expect("created");
        write(home.path(), "v", &MultilingualLabels::default()).expect("nothing to write");
        assert_eq!(read(home.path(), "v").expect("read"), None);
        write(home.path(), "v", &labels).expect("written");
        assert_eq!(read(home.path(), "v").expect("read"), Some(labels));
        std::fs::write(path(home.path(), "v"), "0\nde").expect("written");
        assert!(read(home.path(), "v").is_err(), "wrong checksum");
    }
}
