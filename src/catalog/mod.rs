//! Catalogues: what datasets there are and what people say of them.
//!
//! Three forms are read: ACORDAR's `datasets.json` ([`acordar`]), Papers with Code's lists ([`papers_with_code`]) and DCAT
//! in any RDF syntax ([`dcat`]). All become [`Dataset`]s, and every dataset is written as a `dcat:Dataset` into the
//! catalogue graph.

pub mod acordar;
mod closure;
mod dataset;
pub mod dcat;
mod iris;
pub mod papers_with_code;
mod statement;
mod typed;

pub use dataset::{
    Agent, Dataset, DatasetId, Distribution, Extent, InvalidDatasetId, Location, Metadata, RemoteContent, Scheme, Text,
    Theme, Work, preferred,
};
pub use iris::{InvalidBase, Iris};
pub use statement::{Node, Statement, Value};

use crate::rdf::intake::{self, Limits};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A catalogue as read: its datasets, and what was wrong with it.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The folder local paths are relative to, and may not leave.
    pub folder: PathBuf,
    /// The datasets, in the order of the source.
    pub datasets: Vec<Dataset>,
    /// Entries that could not be read, and why.
    pub problems: Vec<String>,
    /// What else it describes.
    pub beside: Beside,
}

/// Nodes of a catalogue that are no datasets. What they say of a dataset is carried with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beside {
    /// Catalogues.
    pub catalogs: usize,
    /// Records of entries.
    pub records: usize,
    /// Series that datasets belong to.
    pub series: usize,
    /// Data services.
    pub services: usize,
}

/// A catalogue that cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The file cannot be opened or read.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The file is no JSON.
    #[error("{path}: {cause}")]
    Json {
        /// The file.
        path: PathBuf,
        /// Why, with line and column.
        cause: serde_json::Error,
    },
    /// JSON, but of no catalogue.
    #[error("{path}: no list of datasets (a JSON list, or an object with \"datasets\")")]
    NoList {
        /// The file.
        path: PathBuf,
    },
}

impl Catalog {
    /// Reads a catalogue file of any form; an RDF file that describes no dataset is taken for a dump and becomes a
    /// catalogue of one dataset.
    pub fn read(path: &Path) -> Result<Self, CatalogError> {
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let io_error = |cause| CatalogError::Io { path: path.to_owned(), cause };
        let head = head(path).map_err(io_error)?;
        let mut catalog = if papers_with_code::looks_like(&head) {
            papers_with_code::read(path)?
        } else if acordar::looks_like(&head) {
            acordar::read(path)?
        } else {
            dcat::read(path).map_err(io_error)?
        };
        catalog.folder = folder;
        catalog.make_ids_unique();
        Ok(catalog)
    }

    /// Two entries with one id would replace each other without a word: the later one is left out and reported.
    fn make_ids_unique(&mut self) {
        let mut seen = std::collections::BTreeSet::new();
        let problems = &mut self.problems;
        self.datasets.retain(|dataset| {
            let id = &dataset.metadata.id;
            let new = seen.insert(id.clone());
            if !new {
                problems.push(format!("dataset {id}: the id occurs again; the later entry was left out"));
            }
            new
        });
    }
}

/// Bytes of a catalogue in JSON, compressions taken off: it is held in memory as a whole.
const LARGEST_JSON: u64 = 2 << 30;

/// How much a compressed catalogue in JSON may unpack to.
fn limits() -> Limits {
    Limits { decompressed_bytes: LARGEST_JSON, ..Limits::default() }
}

/// The first characters of a file, a compression taken off, without byte order mark and leading white space. What cannot be
/// unpacked is left to those who read it all and say why.
fn head(path: &Path) -> io::Result<String> {
    let beginning = |mut reader: Box<dyn Read>| {
        let mut bytes = Vec::new();
        reader.by_ref().take(4096).read_to_end(&mut bytes).map(|_| bytes)
    };
    let unpacked = intake::open(path, &limits()).and_then(beginning);
    let bytes = unpacked.or_else(|_| beginning(Box::new(File::open(path)?)))?;
    Ok(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').trim_start().to_owned())
}
