//! Catalogues: what datasets there are and what people say of them.
//!
//! [`Dialect`] lists what is read. ACORDAR's and Papers with Code's lists, and plain lines of JSON, become [`Dataset`]s at once; every other form is
//! told as DCAT first and read by the one reader of [`dcat`], which keeps in typed fields what search uses and carries all
//! else along ([`Statement`]). Every dataset is written as a `dcat:Dataset` into the catalogue graph. The form is known by
//! the content of a file, never by its name.

pub mod acordar;
pub mod application_profile;
mod ckan;
mod bounded_description;
mod data_json;
mod dataset;
pub mod dcat;
pub mod duplicates;
pub mod editions;
mod folder;
mod format;
mod html;
mod iris;
mod json;
mod json_entries;
mod json_lines;
mod lod_cloud;
mod node_reader;
pub mod papers_with_code;
mod registry;
mod schema_org;
mod dcat_builder;
mod statement;
mod theme;
mod extra_properties;
mod typed_fields;

pub use dataset::{
    Agent, Dataset, Distribution, Extent, LocalCopy, Location, Metadata, RemoteContent, Scheme, Text, Theme, Work,
    preferred,
};
pub use format::Format;
pub use iris::{InvalidBase, Iris};
pub use lodeseek_ranking::{DatasetId, InvalidDatasetId};
pub use statement::{Node, Statement, Value};

use lodeseek_rdf::dump::{self, Limits};
use std::collections::BTreeMap;
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
    /// How many entries, at least, are not among the datasets since they could not be read.
    pub unreadable_entries: usize,
    /// What else it describes.
    pub other_resources: OtherResourceCounts,
    /// What it was read as.
    pub dialect: Dialect,
    /// Addresses of the pages that follow, as Hydra's properties tell them.
    pub next_pages: Vec<String>,
}

/// The forms of catalogues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// DCAT in any RDF syntax.
    #[default]
    Dcat,
    /// VoID descriptions.
    Void,
    /// schema.org's datasets and Croissant, in JSON-LD or any RDF syntax.
    SchemaOrg,
    /// ACORDAR's `datasets.json`.
    Acordar,
    /// Papers with Code's datasets, or DataFinder's collection.
    PapersWithCode,
    /// Lines of JSON with titles and descriptions, without ids.
    JsonLines,
    /// Answers and packages of CKAN.
    Ckan,
    /// Project Open Data's `data.json`.
    DataJson,
    /// The LOD Cloud's list.
    LodCloud,
    /// A registry of ontologies.
    Registry,
    /// No catalogue: an RDF dump.
    Dump,
    /// A folder of files of any form.
    Folder,
}

impl Dialect {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dcat => "dcat",
            Self::Void => "void",
            Self::SchemaOrg => "schema.org",
            Self::Acordar => "acordar",
            Self::PapersWithCode => "papers-with-code",
            Self::JsonLines => "json-lines",
            Self::Ckan => "ckan",
            Self::DataJson => "data.json",
            Self::LodCloud => "lod-cloud",
            Self::Registry => "registry",
            Self::Dump => "dump",
            Self::Folder => "folder",
        }
    }
}

/// Nodes of a catalogue that are no datasets. What they say of a dataset is carried with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OtherResourceCounts {
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
    /// A page without a dataset's description in JSON-LD.
    #[error("{path}: an HTML page, not a dump, and without a dataset in JSON-LD")]
    NoDataset {
        /// The file.
        path: PathBuf,
    },
    /// JSON, but of no catalogue.
    #[error("{path}: no list of datasets (a JSON list, or an object with \"datasets\")")]
    NoList {
        /// The file.
        path: PathBuf,
    },
}

impl CatalogError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { path: path.to_owned(), cause }
    }
}

impl Catalog {
    /// Reads a catalogue of any dialect: a file, or a folder of them. An RDF file that describes no dataset is taken for a
    /// dump and becomes a catalogue of one dataset.
    pub fn read(path: &Path) -> Result<Self, CatalogError> {
        let mut catalog = if path.is_dir() { folder::read(path)? } else { Self::read_file(path)? };
        catalog.make_ids_unique();
        Ok(catalog)
    }

    /// Reads what was had from an address on the web: the base of its relative IRIs, and of places that are none. Nothing of
    /// it lies beside the file. A dump is a catalogue of one dataset, whose copy is the file.
    pub fn read_download(path: &Path, address: &str, media_type: Option<&str>) -> Result<Self, CatalogError> {
        let mut catalog = Self::read_place(&CatalogFile { path, address: Some(address), media_type })?;
        if catalog.dialect == Dialect::Dump {
            for distribution in catalog.datasets.iter_mut().flat_map(|dataset| &mut dataset.distributions) {
                distribution.location = Location::Remote(address.to_owned());
                distribution.media_type = media_type.map(|text| typed_fields::media_type_name(text).to_owned());
                distribution.copy = Some(LocalCopy::File(path.to_owned()));
            }
        }
        Ok(catalog.seen_from(address))
    }

    /// Reads those packages of an answer of CKAN whose ids are wanted, as [`read_download`](Self::read_download) reads all of them.
    pub fn read_packages(path: &Path, address: &str, is_wanted: &dyn Fn(&str) -> bool) -> Result<Self, CatalogError> {
        let text = text(path).map_err(CatalogError::io(path))?;
        let document = json::document(&text, path)?;
        let mut packages = ckan::entries(&document).ok_or_else(|| CatalogError::NoList { path: path.to_owned() })?;
        packages.retain(|package| package.get("id").and_then(serde_json::Value::as_str).is_some_and(is_wanted));
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        Ok(Self { dialect: Dialect::Ckan, folder, ..ckan::read(packages, path) }.seen_from(address))
    }

    /// With places as seen from an address, and every id once.
    fn seen_from(mut self, address: &str) -> Self {
        for distribution in self.datasets.iter_mut().flat_map(|dataset| &mut dataset.distributions) {
            if let Location::File(place) = &distribution.location {
                distribution.location = Location::Remote(resolved(address, place));
            }
        }
        self.make_ids_unique();
        self
    }

    fn read_file(path: &Path) -> Result<Self, CatalogError> {
        Self::read_place(&CatalogFile { path, address: None, media_type: None })
    }

    fn read_place(file: &CatalogFile<'_>) -> Result<Self, CatalogError> {
        let path = file.path;
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let head = head(path).map_err(CatalogError::io(path))?;
        let catalog = if papers_with_code::looks_like(&head) {
            Self { dialect: Dialect::PapersWithCode, ..papers_with_code::read(path)? }
        } else if json_lines::looks_like(&head) {
            Self { dialect: Dialect::JsonLines, ..json_lines::read(path)? }
        } else if html::looks_like(&head) {
            let page = text(path).map_err(CatalogError::io(path))?;
            let scripts = html::scripts(&page);
            let read = dcat::read_texts(file, &scripts).map_err(CatalogError::io(path))?;
            if read.dialect == Dialect::Dump {
                return Err(CatalogError::NoDataset { path: path.to_owned() });
            }
            read
        } else if json::looks_like(&head) {
            json::read(file, &head)?
        } else {
            dcat::read_place(file).map_err(CatalogError::io(path))?
        };
        Ok(Self { folder, ..catalog })
    }

    /// Two entries with one id would replace each other without a word. The later one gets an id that tells its IRI; where
    /// it has none of its own, it is left out. Both are reported.
    fn make_ids_unique(&mut self) {
        let mut sources: BTreeMap<DatasetId, Option<String>> = BTreeMap::new();
        let (problems, lost) = (&mut self.problems, &mut self.unreadable_entries);
        self.datasets.retain_mut(|dataset| {
            let (id, source) = (dataset.metadata.id.clone(), dataset.metadata.source.clone());
            let Some(first) = sources.get(&id) else {
                sources.insert(id, source);
                return true;
            };
            let other = source.as_ref().filter(|_| source != *first).and_then(|source| disambiguate_id(&id, source));
            match other.filter(|other| !sources.contains_key(other)) {
                Some(other) => {
                    problems.push(format!("dataset {id}: the id occurs again; the later entry is {other}"));
                    sources.insert(other.clone(), source);
                    dataset.metadata.id = other;
                    true
                }
                None => {
                    problems.push(format!("dataset {id}: the id occurs again; the later entry was left out"));
                    *lost += 1;
                    false
                }
            }
        });
    }
}

/// A file being read, and where on the web it was had, if it was.
struct CatalogFile<'p> {
    path: &'p Path,
    address: Option<&'p str>,
    /// What the answer said that it is.
    media_type: Option<&'p str>,
}

/// A reference as seen from an address; what is no reference stays as it is, so that it is seen to be none.
fn resolved(address: &str, reference: &str) -> String {
    let base = oxiri::Iri::parse(address).ok();
    let found = base
        .and_then(|base| base.resolve(reference).ok().or_else(|| base.resolve(&reference.replace(' ', "%20")).ok()));
    found.map_or_else(|| reference.to_owned(), oxiri::Iri::into_inner)
}

/// An id with a mark of the dataset's IRI.
#[must_use]
pub fn disambiguate_id(id: &DatasetId, source: &str) -> Option<DatasetId> {
    DatasetId::new(typed_fields::part_name(id.as_str(), &[source])).ok()
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
    let unpacked = dump::open(path, &limits()).and_then(beginning);
    let bytes = unpacked.or_else(|_| beginning(Box::new(File::open(path)?)))?;
    Ok(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').trim_start().to_owned())
}

/// A text file as a whole, a compression taken off.
fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    dump::open(path, &limits())?.read_to_end(&mut bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}
