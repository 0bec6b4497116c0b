//! Canonical fingerprint of a dataset version, stored in a file.
//!
//! The version is a hash of bytes: it changes with the labels of blank nodes, which follow the order of a dump. The
//! fingerprint is a hash of the graph ([`canonical_fingerprint`]), so that another syntax or order of one graph is
//! recognised. It is computed once, with the version; in older homes on first use.

use super::{Entry, Store, StoreError, StoredContent, graph_file};
use lodeseek_rdf::{TripleGraph, canonical_fingerprint};
use std::fs;
use std::path::{Path, PathBuf};

const SUFFIX: &str = "rdfc";
/// Content of the file if the graph exceeds the bounds of canonicalization.
const NONE: &str = "none";

/// Identity of the content of a dataset version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fingerprint {
    /// SHA-256 of its canonical N-Quads (RDFC-1.0), equal for isomorphic graphs.
    Canonical(String),
    /// Version of a graph that exceeds the bounds of canonicalization. It is equal for equal graphs with equal labels of blank nodes.
    Labelled(String),
}

impl Store {
    /// Returns the fingerprint of a dataset's current content: from its file, or computed and, if the home is writable, written.
    pub fn fingerprint(&self, entry: &Entry) -> Result<Fingerprint, StoreError> {
        let version = &entry.version;
        let line = match read(&self.home, version) {
            Some(line) => line,
            None => {
                let line = match self.open_content(entry)? {
                    StoredContent::InMemory(graph) => compute(version, &graph),
                    StoredContent::Streamed(_) => NONE.to_owned(),
                };
                if self.access == super::Access::Write {
                    write(&self.home, version, &line)?;
                }
                line
            }
        };
        Ok(if line == NONE {
            Fingerprint::Labelled(version.clone())
        } else {
            Fingerprint::Canonical(line)
        })
    }
}

/// Computes and writes the fingerprint of a version if its file is missing or damaged.
pub(super) fn write_if_missing(
    home: &Path,
    version: &str,
    graph: &TripleGraph,
) -> Result<(), StoreError> {
    match read(home, version) {
        Some(_) => Ok(()),
        None => write(home, version, &compute(version, graph)),
    }
}

/// Records that a version has no fingerprint, because its graph exceeds memory. An existing fingerprint is kept.
pub(super) fn write_none_if_missing(home: &Path, version: &str) -> Result<(), StoreError> {
    match read(home, version) {
        Some(_) => Ok(()),
        None => write(home, version, NONE),
    }
}

fn compute(version: &str, graph: &TripleGraph) -> String {
    canonical_fingerprint(graph).unwrap_or_else(|reason| {
        tracing::info!(version, %reason, "content without a canonical fingerprint");
        NONE.to_owned()
    })
}

pub(super) fn path(home: &Path, version: &str) -> PathBuf {
    home.join("graphs").join(format!("{version}.{SUFFIX}"))
}

fn write(home: &Path, version: &str, line: &str) -> Result<(), StoreError> {
    graph_file::write_without_sync(
        &path(home, version),
        &graph_file::with_checksum(line.as_bytes()),
    )
}

/// Reads the stored fingerprint of a version; `None` if the file is missing or damaged.
pub(super) fn read(home: &Path, version: &str) -> Option<String> {
    let bytes = fs::read(path(home, version)).ok()?;
    // Early versions wrote no checksum, and only the line.
    let line = graph_file::verify_body(&bytes).unwrap_or(&bytes);
    let line = std::str::from_utf8(line).ok()?.to_owned();
    let is_hash = line.len() == 64 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash || line == NONE).then_some(line)
}

/// Returns true if a file name is that of a fingerprint.
pub(super) fn is_fingerprint(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loader;
    use lodeseek_catalog::{Dataset, DatasetId, Iris, Metadata};
    use lodeseek_rdf::TripleGraphBuilder;
    use oxrdf::{BlankNode, NamedNodeRef, TripleRef};

    /// Returns a clique, whose nodes cannot be distinguished.
    fn clique(size: usize) -> TripleGraph {
        let nodes: Vec<BlankNode> = (0..size)
            .map(|node| BlankNode::new_unchecked(format!("n{node}")))
            .collect();
        let mut builder = TripleGraphBuilder::new();
        for (one, other) in nodes
            .iter()
            .flat_map(|one| nodes.iter().map(move |other| (one, other)))
        {
            if one != other {
                builder.insert(TripleRef::new(
                    one,
                    NamedNodeRef::new_unchecked("ex:p"),
                    other,
                ));
            }
        }
        builder.finish()
    }

    #[test]
    fn missing_and_damaged_fingerprints_are_computed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory(
            folder.path(),
            Iris::new(Iris::DEFAULT_BASE).expect("a base"),
        )
        .expect("a store");
        let dataset = |id: &str| Dataset::new(Metadata::new(DatasetId::new(id).expect("an id")));
        let graphs = vec![
            (dataset("alike"), clique(30)),
            (dataset("plain"), clique(2)),
        ];
        Loader::new(&store)
            .load_graphs(graphs, &|_| ())
            .expect("loaded");
        let entry = |id: &str| {
            store
                .entry(&DatasetId::new(id).expect("an id"))
                .expect("there")
        };
        let (alike, plain) = (entry("alike"), entry("plain"));
        assert_eq!(
            store.fingerprint(&alike).expect("read"),
            Fingerprint::Labelled(alike.version.clone())
        );
        let kept = store.fingerprint(&plain).expect("read");
        assert!(matches!(kept, Fingerprint::Canonical(_)));
        for damaged in [None, Some("none of this")] {
            let path = path(folder.path(), &plain.version);
            fs::remove_file(&path).expect("it was kept");
            if let Some(text) = damaged {
                fs::write(&path, text).expect("written");
            }
            assert_eq!(store.fingerprint(&plain).expect("made"), kept);
            assert!(path.exists(), "and kept again");
        }
        store.clear_replaced(&|_, _| ()).expect("cleared");
        assert!(path(folder.path(), &plain.version).exists());
        store
            .remove(std::slice::from_ref(&plain.dataset.metadata.id))
            .expect("removed");
        store.clear_replaced(&|_, _| ()).expect("cleared");
        assert!(!path(folder.path(), &plain.version).exists());
    }
}
