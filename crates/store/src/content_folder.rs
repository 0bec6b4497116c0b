//! Folder of the files of dataset versions: a home, or a folder of a process that derives a dataset for a home.
//!
//! ```text
//! folder/graphs/    the files of each version: graph, counts, canonical fingerprint; a sample, if it exceeds memory;
//!                   multilingual labels, if it has some
//! folder/scratch/   temporary files of large graphs
//! ```

use super::intake::{ContentReader, DatasetContent, ReadFiles, SourceFile, read_into};
use super::{
    GraphCounts, MultilingualLabels, StoreError, StoredContent, counts, fingerprint, graph_file,
    labels, repair, sample,
};
use lodeseek_rdf::dump::{FileReport, Limits};
use lodeseek_rdf::{
    BuiltGraph, ExternalGraphBuilder, MAX_COMPACT_BYTES, SortedRuns, TripleGraph,
    TripleGraphBuilder,
};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Folder of temporary files.
const SCRATCH: &str = "scratch";

/// Folder of the files of dataset versions.
#[derive(Clone, Debug)]
pub struct ContentFolder {
    path: PathBuf,
    /// Size of the compact form above which a graph is not held in memory.
    pub(super) graph_limit: usize,
}

impl ContentFolder {
    /// A folder at a path, which [`Self::create`] creates.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            graph_limit: MAX_COMPACT_BYTES,
        }
    }

    /// Sets the size of the compact form in bytes above which a graph is not held in memory. Default: [`MAX_COMPACT_BYTES`]. For
    /// tests of large graphs.
    #[must_use]
    pub fn with_graph_limit(self, bytes: usize) -> Self {
        Self {
            graph_limit: bytes,
            ..self
        }
    }

    /// Creates the folder, if it is missing.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(&self) -> Result<(), StoreError> {
        fs::create_dir_all(self.path.join("graphs")).map_err(StoreError::io(&self.path))
    }

    /// Returns the path of the graph file of a version.
    #[must_use]
    pub fn graph_path(&self, version: &str) -> PathBuf {
        graph_file::path(&self.path, version)
    }

    /// Returns a folder for temporary files that does not exist yet. Its user removes it. The folders of a killed process are removed
    /// when the home is opened for writing.
    #[must_use]
    pub fn scratch_folder(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        self.path
            .join(SCRATCH)
            .join(NEXT.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// Removes the temporary files that a killed process left.
    pub(super) fn remove_scratch(&self) -> Result<(), StoreError> {
        repair::remove_folder(&self.path.join(SCRATCH))
    }

    /// Opens the content of a version.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if its graph file is missing or damaged.
    pub fn open(&self, version: &str) -> Result<StoredContent, StoreError> {
        self.try_open(version)
            .map_err(|reason| StoreError::Damaged {
                home: self.path.clone(),
                reason: format!("{}: {reason}", self.graph_path(version).display()),
            })
    }

    /// Opens the content of a version.
    ///
    /// # Errors
    /// The reason if its graph file cannot be used.
    pub(super) fn try_open(&self, version: &str) -> Result<StoredContent, String> {
        graph_file::open(&self.graph_path(version), version, self.graph_limit)
    }

    /// Stores the sample of a large graph.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_sample(&self, version: &str, sample: &TripleGraph) -> Result<(), StoreError> {
        sample::write(&self.path, version, sample)
    }

    /// Stores the labels of a version in several languages, if it has some.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write_labels(
        &self,
        version: &str,
        labels: &MultilingualLabels,
    ) -> Result<(), StoreError> {
        labels::write(&self.path, version, labels)
    }

    /// Reads the labels of a version in several languages. `None` if it has none.
    ///
    /// # Errors
    /// [`StoreError::DamagedFile`] if their file is damaged.
    pub fn read_labels(&self, version: &str) -> Result<Option<MultilingualLabels>, StoreError> {
        labels::read(&self.path, version)
    }

    /// Returns true if a version has labels in several languages.
    #[must_use]
    pub fn has_labels(&self, version: &str) -> bool {
        labels::path(&self.path, version).exists()
    }

    /// Reads the files of a dataset, and writes the files of its version, except a sample and labels. Problems of files are in their reports.
    /// Paths in `sources` may be relative to `catalog_folder`.
    ///
    /// # Errors
    /// If `reader` cannot read files at the moment, or a file cannot be written.
    pub fn read_sources(
        &self,
        sources: &[SourceFile],
        catalog_folder: &Path,
        limits: &Limits,
        reader: &dyn ContentReader,
    ) -> Result<DatasetContent, StoreError> {
        self.read_sources_of_many(sources, catalog_folder, limits, reader, &mut None)
    }

    /// Reads the files of one of many datasets, as [`Self::read_sources`] does. `empty_version`: the version of empty content, if
    /// its files exist: they are not written again for each dataset that is only described.
    pub(super) fn read_sources_of_many(
        &self,
        sources: &[SourceFile],
        catalog_folder: &Path,
        limits: &Limits,
        reader: &dyn ContentReader,
        empty_version: &mut Option<String>,
    ) -> Result<DatasetContent, StoreError> {
        let scratch = self.scratch_folder();
        let mut builder = ExternalGraphBuilder::new(scratch.clone()).with_limit(self.graph_limit);
        let read = read_into(&mut builder, sources, catalog_folder, limits, reader);
        let read = read.map_err(StoreError::Reader)?;
        match builder.finish() {
            Ok(BuiltGraph::InMemory(graph)) => self.write_graph(graph, read, empty_version),
            Ok(BuiltGraph::Runs(runs)) => self.write_runs(runs, read),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let read = ReadFiles {
                    files: without_content(read.files, self.graph_limit),
                    lacks_content: true,
                    readable: Vec::new(),
                };
                self.write_graph(TripleGraphBuilder::new().finish(), read, empty_version)
            }
            Err(error) => Err(StoreError::io(&scratch)(error)),
        }
    }

    /// Writes the graph file, counts and fingerprint of a graph. If `empty_version` is set, those of empty content exist.
    pub(super) fn write_graph(
        &self,
        graph: TripleGraph,
        read: ReadFiles,
        empty_version: &mut Option<String>,
    ) -> Result<DatasetContent, StoreError> {
        let version = match empty_version {
            Some(version) if graph.is_empty() => version.clone(),
            _ => {
                let version = graph_file::write(&self.path, &graph)?;
                GraphCounts::write_if_missing(&self.path, &version, &graph)?;
                fingerprint::write_if_missing(&self.path, &version, &graph)?;
                version
            }
        };
        if graph.is_empty() {
            *empty_version = Some(version.clone());
        }
        Ok(DatasetContent {
            version,
            content: StoredContent::InMemory(graph),
            files: read.files,
            lacks_content: read.lacks_content,
            readable: read.readable,
        })
    }

    /// Writes the file and counts of a graph from sorted runs. If it exceeds memory, it gets no fingerprint.
    fn write_runs(&self, runs: SortedRuns, read: ReadFiles) -> Result<DatasetContent, StoreError> {
        let (version, content) = graph_file::write_runs(&self.path, runs, self.graph_limit)?;
        match &content {
            // The runs repeated triples.
            StoredContent::InMemory(graph) => {
                GraphCounts::write_if_missing(&self.path, &version, graph)?;
                fingerprint::write_if_missing(&self.path, &version, graph)?;
            }
            StoredContent::Streamed(_) => {
                if GraphCounts::read(&self.path, &version).is_none() {
                    self.count(&content)?.write(&self.path, &version)?;
                }
                fingerprint::write_none_if_missing(&self.path, &version)?;
            }
        }
        Ok(DatasetContent {
            version,
            content,
            files: read.files,
            lacks_content: read.lacks_content,
            readable: read.readable,
        })
    }

    /// Counts content, in memory or streamed.
    pub(super) fn count(&self, content: &StoredContent) -> Result<GraphCounts, StoreError> {
        match content {
            StoredContent::InMemory(graph) => Ok(GraphCounts::from_graph(graph)),
            StoredContent::Streamed(graph) => {
                let scratch = self.scratch_folder();
                GraphCounts::from_stream(graph, &scratch).map_err(StoreError::io(&scratch))
            }
        }
    }
}

/// Returns the reports of files whose content exceeds memory and has triple terms: their content is not used.
fn without_content(files: Vec<FileReport>, limit: usize) -> Vec<FileReport> {
    let reason = format!(
        "content with triple terms of RDF 1.2 beyond {limit} bytes is not supported; split the dataset into smaller ones"
    );
    files
        .into_iter()
        .map(|file| {
            if file.triples > 0 {
                FileReport::unreadable(&file.file, &reason)
            } else {
                file
            }
        })
        .collect()
}

/// Returns the paths of the files of a version in a [`ContentFolder`]: of the graph, the counts, the fingerprint, the sample
/// and the labels.
/// `None` if the version is not valid: it may come from another process.
#[must_use]
pub fn version_paths(folder: &Path, version: &str) -> Option<[PathBuf; 5]> {
    if !graph_file::is_version(version) {
        return None;
    }
    Some([
        graph_file::path(folder, version),
        counts::path(folder, version),
        fingerprint::path(folder, version),
        sample::path(folder, version),
        labels::path(folder, version),
    ])
}
