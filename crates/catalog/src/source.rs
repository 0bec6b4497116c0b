//! Sources of catalogues, and readers for them: in this process, or in another one.

use super::{
    Catalog, CatalogError, CatalogLink, Dataset, Dialect, LocalCopy, Location, Metadata,
    OtherResourceCounts, ServiceResponse,
};
use super::{Distribution, EntryKey, Problem, Problems, RemoteContent, Statement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A source of a catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CatalogSource {
    /// A file or folder, for [`Catalog::read`].
    Local {
        /// Path of the file or folder.
        path: PathBuf,
    },
    /// A downloaded file, for [`Catalog::read_download`].
    Download {
        /// Path of the file.
        path: PathBuf,
        /// Address of the file.
        address: String,
        /// Media type from the response.
        media_type: Option<String>,
    },
    /// Downloaded documents that describe one resource together, for [`Catalog::read_documents`].
    Documents {
        /// Documents, at least one.
        documents: Vec<DownloadedDocument>,
    },
    /// Downloaded pages of an event stream, for [`Catalog::read_event_stream`].
    EventStream {
        /// Pages, at least one.
        documents: Vec<DownloadedDocument>,
    },
    /// A downloaded response of CKAN, for [`Catalog::read_packages`].
    Packages {
        /// Path of the file.
        path: PathBuf,
        /// Address of the file.
        address: String,
        /// Ids of the packages.
        ids: BTreeSet<String>,
    },
}

/// A downloaded document.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DownloadedDocument {
    /// Path of the file.
    pub path: PathBuf,
    /// Address of the file.
    pub address: String,
    /// Media type from the response.
    pub media_type: Option<String>,
}

impl CatalogSource {
    /// Returns the path of the file or folder; of several documents, that of the first.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Documents { documents } | Self::EventStream { documents } => {
                match documents.first() {
                    Some(document) => &document.path,
                    None => Path::new(""),
                }
            }
            Self::Local { path } | Self::Download { path, .. } | Self::Packages { path, .. } => {
                path
            }
        }
    }

    /// Reads the catalogue in this process.
    ///
    /// # Errors
    /// As for [`Catalog::read`].
    pub fn read(&self) -> Result<Catalog, CatalogError> {
        match self {
            Self::Local { path } => Catalog::read(path),
            Self::Download {
                path,
                address,
                media_type,
            } => Catalog::read_download(path, address, media_type.as_deref()),
            Self::Documents { documents } => Catalog::read_documents(documents),
            Self::EventStream { documents } => Catalog::read_event_stream(documents),
            Self::Packages { path, address, ids } => {
                Catalog::read_packages(path, address, &|id| ids.contains(id))
            }
        }
    }
}

/// Reader of catalogues.
pub trait CatalogReader: fmt::Debug + Send + Sync {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// As for [`Catalog::read`], or [`CatalogError::Reader`] if the process that reads it fails.
    fn read(&self, source: &CatalogSource) -> Result<Catalog, CatalogError>;
}

/// Reader of catalogues in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectCatalogReader;

impl CatalogReader for DirectCatalogReader {
    fn read(&self, source: &CatalogSource) -> Result<Catalog, CatalogError> {
        source.read()
    }
}

/// A catalogue in serde's data model: [`Self::from_catalog`] separates its datasets, which are serialized one by one.
#[derive(Debug, Serialize, Deserialize)]
pub struct SerializedCatalog {
    folder: PathBuf,
    problems: Problems,
    duplicates: Vec<Problem>,
    unreadable_entries: usize,
    is_incomplete: bool,
    other_resources: OtherResourceCounts,
    dialect: Dialect,
    next_pages: Vec<String>,
    links: Vec<CatalogLink>,
    response: Option<ServiceResponse>,
    triples: u64,
}

/// A dataset in serde's data model, with the local copies of its distributions.
#[derive(Debug, Serialize, Deserialize)]
pub struct SerializedDataset {
    metadata: Metadata,
    distributions: Vec<Distribution>,
    /// Local copies, in the order of the distributions.
    copies: Vec<Option<LocalCopy>>,
    remote: Option<RemoteContent>,
    extra_statements: Vec<Statement>,
    entry: EntryKey,
}

impl SerializedCatalog {
    /// Separates the datasets of a catalogue.
    pub fn from_catalog(catalog: Catalog) -> (Self, impl Iterator<Item = SerializedDataset>) {
        let Catalog {
            folder,
            datasets,
            problems,
            duplicates,
            unreadable_entries,
            is_incomplete,
            other_resources,
            dialect,
            next_pages,
            links,
            response,
            triples,
        } = catalog;
        let rest = Self {
            folder,
            problems,
            duplicates,
            unreadable_entries,
            is_incomplete,
            other_resources,
            dialect,
            next_pages,
            links,
            response,
            triples,
        };
        (rest, datasets.into_iter().map(SerializedDataset::from))
    }

    /// Returns the catalogue with its datasets.
    #[must_use]
    pub fn into_catalog(self, datasets: Vec<Dataset>) -> Catalog {
        let Self {
            folder,
            problems,
            duplicates,
            unreadable_entries,
            is_incomplete,
            other_resources,
            dialect,
            next_pages,
            links,
            response,
            triples,
        } = self;
        let mut catalog = Catalog {
            folder,
            datasets,
            problems,
            duplicates,
            unreadable_entries,
            is_incomplete,
            other_resources,
            dialect,
            next_pages,
            links,
            response,
            triples,
        };
        // The datasets come one by one. Only here can ids be compared.
        catalog.make_ids_unique();
        catalog
    }
}

impl Catalog {
    /// Returns a catalogue whose files are those that its source may name: in its folder if it is local, and none but the file
    /// itself if it was downloaded.
    ///
    /// # Errors
    /// If the catalogue names another file: an untrusted process wrote it.
    pub fn confined_to(mut self, source: &CatalogSource) -> Result<Self, String> {
        let path = source.path();
        let folder = if path.is_dir() {
            Some(path)
        } else {
            path.parent()
        };
        self.folder = folder.unwrap_or(Path::new("")).to_owned();
        let is_local = matches!(source, CatalogSource::Local { .. });
        for distribution in self
            .datasets
            .iter()
            .flat_map(|dataset| &dataset.distributions)
        {
            let other = match (&distribution.copy, &distribution.location) {
                (Some(LocalCopy::File(copy)), _) if copy != path => copy.as_path(),
                (_, Location::File(file)) if !is_local => Path::new(file),
                _ => continue,
            };
            return Err(format!("it names the file {}", other.display()));
        }
        Ok(self)
    }
}

impl From<Dataset> for SerializedDataset {
    fn from(dataset: Dataset) -> Self {
        let Dataset {
            metadata,
            mut distributions,
            remote,
            extra_statements,
            entry,
        } = dataset;
        let copies = distributions
            .iter_mut()
            .map(|distribution| distribution.copy.take())
            .collect();
        Self {
            metadata,
            distributions,
            copies,
            remote,
            extra_statements,
            entry,
        }
    }
}

impl From<SerializedDataset> for Dataset {
    fn from(dataset: SerializedDataset) -> Self {
        let SerializedDataset {
            metadata,
            mut distributions,
            copies,
            remote,
            extra_statements,
            entry,
        } = dataset;
        for (distribution, copy) in distributions.iter_mut().zip(copies) {
            distribution.copy = copy;
        }
        Self {
            metadata,
            distributions,
            remote,
            extra_statements,
            entry,
        }
    }
}

/// The error of a reader in serde's data model. Causes are kept as texts.
#[derive(Debug, Serialize, Deserialize)]
pub enum SerializedError {
    /// [`CatalogError::Io`].
    Io(PathBuf, String),
    /// [`CatalogError::Json`].
    Json(PathBuf, String),
    /// [`CatalogError::NoDataset`].
    NoDataset(PathBuf),
    /// [`CatalogError::NoList`].
    NoList(PathBuf),
    /// [`CatalogError::NotUnderstood`].
    NotUnderstood(PathBuf, String),
    /// [`CatalogError::UnknownJson`].
    UnknownJson(PathBuf, String),
    /// Any other error.
    Other(PathBuf, String),
}

impl SerializedError {
    /// Converts an error of the source with a path.
    #[must_use]
    pub fn from_error(error: CatalogError, source: &Path) -> Self {
        match error {
            CatalogError::Io { path, cause } => Self::Io(path, cause.to_string()),
            CatalogError::Json { path, cause } => Self::Json(path, cause.to_string()),
            CatalogError::NoDataset { path } => Self::NoDataset(path),
            CatalogError::NoList { path } => Self::NoList(path),
            CatalogError::NotUnderstood { path, reason } => Self::NotUnderstood(path, reason),
            CatalogError::UnknownJson { path, reason } => Self::UnknownJson(path, reason),
            other => Self::Other(source.to_owned(), other.to_string()),
        }
    }
}

impl From<SerializedError> for CatalogError {
    fn from(error: SerializedError) -> Self {
        match error {
            SerializedError::Io(path, cause) => Self::Io {
                path,
                cause: io::Error::other(cause),
            },
            SerializedError::Json(path, cause) => Self::Json {
                path,
                cause: serde::de::Error::custom(cause),
            },
            SerializedError::NoDataset(path) => Self::NoDataset { path },
            SerializedError::NoList(path) => Self::NoList { path },
            SerializedError::NotUnderstood(path, reason) => Self::NotUnderstood { path, reason },
            SerializedError::UnknownJson(path, reason) => Self::UnknownJson { path, reason },
            SerializedError::Other(path, reason) => Self::Reader { path, reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn through_json(catalog: Catalog) -> Catalog {
        let (rest, datasets) = SerializedCatalog::from_catalog(catalog);
        let datasets = datasets.map(|dataset| {
            let json = serde_json::to_string(&dataset).expect("JSON");
            serde_json::from_str::<SerializedDataset>(&json)
                .expect("a dataset")
                .into()
        });
        let datasets = datasets.collect();
        let json = serde_json::to_string(&rest).expect("JSON");
        serde_json::from_str::<SerializedCatalog>(&json)
            .expect("a catalogue")
            .into_catalog(datasets)
    }

    #[test]
    fn catalogues_are_the_same_after_json() {
        let folder = tempfile::tempdir().expect("a folder");
        let dump = folder.path().join("dump.nt");
        fs::write(&dump, "<http://e.org/a> <http://e.org/p> \"1\" .").expect("written");
        let download = CatalogSource::Download {
            path: dump,
            address: "http://e.org/dump.nt".to_owned(),
            media_type: Some("application/n-triples".to_owned()),
        };
        let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/catalog.ttl");
        for source in [download, CatalogSource::Local { path: testdata }] {
            let read = || source.read().expect("a catalogue");
            let (expected, found) = (read(), through_json(read()));
            assert!(!expected.datasets.is_empty(), "{source:?}: {expected:?}");
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }

    #[test]
    fn a_catalogue_names_no_files_outside_of_its_source() {
        let download = CatalogSource::Download {
            path: "/home/harvest/page".into(),
            address: "http://e.org/".to_owned(),
            media_type: None,
        };
        let local = CatalogSource::Local {
            path: "/data/catalog.ttl".into(),
        };
        let catalog = |location: Location, copy: Option<LocalCopy>| {
            let distribution = Distribution {
                copy,
                ..Distribution::new(location)
            };
            let metadata = Metadata::new(crate::DatasetId::new("a").expect("an id"));
            let dataset = Dataset {
                distributions: vec![distribution],
                ..Dataset::new(metadata)
            };
            Catalog {
                folder: "/".into(),
                datasets: vec![dataset],
                ..Catalog::default()
            }
        };
        let remote = || Location::Remote("http://e.org/a.nt".to_owned());
        let copy = |path: &str| Some(LocalCopy::File(path.into()));
        let sound = catalog(remote(), copy("/home/harvest/page"))
            .confined_to(&download)
            .expect("its own file");
        assert_eq!(sound.folder, Path::new("/home/harvest"));
        let sound = catalog(Location::File("a.nt".to_owned()), None)
            .confined_to(&local)
            .expect("a file in its folder");
        assert_eq!(sound.folder, Path::new("/data"));
        for (source, location, copy) in [
            (&download, remote(), copy("/etc/passwd")),
            (&download, Location::File("etc/passwd".to_owned()), None),
            (&local, remote(), copy("/etc/passwd")),
        ] {
            assert!(
                catalog(location, copy)
                    .confined_to(source)
                    .is_err_and(|reason| reason.contains("etc/passwd"))
            );
        }
    }

    #[test]
    fn errors_have_the_same_message_after_json() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page");
        for content in [
            Some("<!DOCTYPE html><html></html>"),
            Some("{\"datasets\": [1,"),
            Some("{\"datasets\": 1}"),
            None,
        ] {
            match content {
                Some(content) => fs::write(&path, content).expect("written"),
                None => fs::remove_file(&path).expect("removed"),
            }
            let read = || {
                CatalogSource::Local { path: path.clone() }
                    .read()
                    .expect_err("an error")
            };
            let json =
                serde_json::to_string(&SerializedError::from_error(read(), &path)).expect("JSON");
            let found = CatalogError::from(
                serde_json::from_str::<SerializedError>(&json).expect("an error"),
            );
            assert_eq!(found.to_string(), read().to_string());
            assert_eq!(
                std::mem::discriminant(&found),
                std::mem::discriminant(&read())
            );
        }
    }
}
