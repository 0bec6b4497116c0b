//! Samples of large graphs, stored in files for snippets on demand.
//!
//! The indexer writes them. A sample is a graph file of its own, with a checksum in place of a name.

use super::{StoreError, graph_file};
use lodeseek_rdf::TripleGraph;
use std::path::{Path, PathBuf};

const SUFFIX: &str = "sample";

pub(super) fn path(home: &Path, version: &str) -> PathBuf {
    home.join("graphs").join(format!("{version}.{SUFFIX}"))
}

/// Returns true if a file name is that of a sample.
pub(super) fn is_sample(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == SUFFIX)
}

/// Writes the sample of a version.
pub(super) fn write(home: &Path, version: &str, sample: &TripleGraph) -> Result<(), StoreError> {
    graph_file::write_checked(&path(home, version), &sample.to_compact())
}

/// Reads the stored sample of a version; `None` if there is none, or it is damaged.
pub(super) fn read(home: &Path, version: &str) -> Option<TripleGraph> {
    let bytes = std::fs::read(path(home, version)).ok()?;
    TripleGraph::from_compact(graph_file::verify_body(&bytes)?)
}
