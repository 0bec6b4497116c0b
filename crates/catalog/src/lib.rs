#![doc = include_str!("../README.md")]

pub mod acordar;
mod addresses;
pub mod application_profile;
mod ckan;
mod ckan_licenses;
mod bounded_description;
mod citing_works;
mod coverage;
mod croissant;
mod csvw;
mod data_json;
mod data_package;
mod datacite;
mod dataset;
mod dataset_licenses;
pub mod dcat;
mod dcat_us;
mod digest;
mod description_fields;
mod direct_values;
mod dublin_core;
mod dump_folder;
pub mod duplicates;
pub mod editions;
mod edits;
mod embedded_references;
mod entry_ids;
mod event_stream;
mod folder;
mod format;
mod html;
mod iris;
mod iso19139;
mod json;
mod json_document;
mod json_entries;
mod json_lines;
mod json_repair;
#[cfg(test)]
mod json_values;
mod languages;
mod lod_cloud;
mod moment;
mod names;
mod node_reader;
mod ogc_records;
pub mod papers_with_code;
mod plain_text;
mod problems;
mod registry;
mod ro_crate;
mod schema_org;
mod service_response;
mod service_xml;
mod source;
mod stac;
mod stated_licenses;
mod dcat_builder;
mod statement;
mod tables;
mod theme;
mod extra_properties;
mod typed_fields;
#[cfg(test)]
mod key_tests;
#[cfg(test)]
mod outgoing_tests;
#[cfg(test)]
mod value_tests;
mod xml_tree;

pub use citing_works::{CitingWork, CitingWorks};
pub use ckan_licenses::CkanLicense;
pub use coverage::{
    BoundingBox, CoverageExpression, CoverageValue, Day, DeclaredPeriod, DeclaredPlace, InvalidBox,
    InvalidPeriod, Period, box_of_geojson, box_of_wkt, coverage_expressions, place_name,
};
pub use dataset::{
    Agent, Dataset, Distribution, Extent, LocalCopy, Location, Metadata, RemoteContent, Scheme,
    Text, Theme, Work, select_text,
};
pub use description_fields::{DescriptionField, FieldError, description_json, read_description};
pub use digest::format_hex;
pub use dump_folder::{AssignedDumps, DumpFolder};
pub use edits::{Edit, Edits, Patch, in_language, parse_assignment};
pub use entry_ids::{
    EntryKey, IdOrigin, disambiguate_id, dump_path, is_iri_key, is_local_key, rename_references,
    title_of_key,
};
pub use extra_properties::ExtraProperty;
pub use folder::FolderListing;
pub use format::Format;
pub use iris::{InvalidBase, Iris};
pub use lodeseek_ranking::{DatasetId, InvalidDatasetId};
pub use moment::Moment;
pub use plain_text::plain_text;
pub use problems::{Problem, ProblemGroup, ProblemGroups, Problems};
pub use service_response::{
    CswCapabilities, EventPage, MetadataFormat, OaiRepository, RecordHeader, RecordPage,
    ServiceError, ServiceProtocol, ServiceResponse, Sitemap,
};
pub use source::{
    CatalogReader, CatalogSource, DirectCatalogReader, DownloadedDocument, SerializedCatalog,
    SerializedDataset, SerializedError,
};
pub use stated_licenses::is_stated_license;
pub use statement::{Node, Statement, Value};
pub use theme::{DATA_THEME_COUNT, data_theme, data_theme_iri, data_theme_names};
pub use typed_fields::name_of_iri;

use coverage::{box_of_gml, box_of_text};
use lodeseek_rdf::dump::{self, DecodedText, Limits, XmlRoot};
use lodeseek_rdf::local_name;
use node_reader::MAX_TEXT_BYTES;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum size of all texts and IRIs of a dataset's description, in bytes: 32 MiB. Each search that returns the dataset
/// reads all of them.
const MAX_DESCRIPTION_BYTES: usize = 32 << 20;
/// Maximum number of characters of an address in a problem.
const MAX_SHOWN_CHARACTERS: usize = 200;

/// A catalogue that was read: its datasets and the problems found.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Folder of local paths. Paths are relative to it and cannot leave it.
    pub folder: PathBuf,
    /// Datasets, in the order of the source.
    pub datasets: Vec<Dataset>,
    /// Problems with entries and their values, each with its reason.
    pub problems: Problems,
    /// Later entries of datasets that the catalogue lists twice. They are left out.
    pub duplicates: Vec<Problem>,
    /// Lower bound of the number of entries that could not be read and are not among the datasets.
    pub unreadable_entries: usize,
    /// If true, datasets may be missing: a file is truncated, or a file or folder within the source cannot be read.
    pub is_incomplete: bool,
    /// Numbers of other resources that the catalogue describes.
    pub other_resources: OtherResourceCounts,
    /// Dialect in which the catalogue was read.
    pub dialect: Dialect,
    /// URLs of the following pages, from Hydra's properties `next` and `nextPage`, or from links of other dialects.
    pub next_pages: Vec<String>,
    /// Resources that the catalogue lists and does not describe.
    pub links: Vec<CatalogLink>,
    /// Content of a response of a harvesting protocol, beside the datasets.
    pub response: Option<ServiceResponse>,
    /// Number of triples of a document in RDF; 0 for other documents.
    pub triples: u64,
}

/// A resource that a catalogue lists and does not describe.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CatalogLink {
    /// Kind of the resource, by the property that leads to it.
    pub kind: LinkKind,
    /// IRI of the resource.
    pub address: String,
}

/// Kind of a linked resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum LinkKind {
    /// A catalogue, or a member of a container of unknown kind.
    Catalog,
    /// A dataset.
    Dataset,
    /// A distribution.
    Distribution,
}

/// Dialects of catalogues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Dialect {
    /// DCAT in any RDF syntax.
    #[default]
    Dcat,
    /// VoID descriptions.
    Void,
    /// RO-Crate: a folder of files with its description.
    RoCrate,
    /// schema.org datasets and Croissant, in JSON-LD or any RDF syntax.
    SchemaOrg,
    /// ACORDAR's `datasets.json`.
    Acordar,
    /// Papers with Code's list of datasets, or DataFinder's collection.
    PapersWithCode,
    /// JSON Lines with titles and descriptions, without ids.
    JsonLines,
    /// Packages and API responses of CKAN.
    Ckan,
    /// Project Open Data's `data.json`.
    DataJson,
    /// The LOD Cloud's `lod-data.json`.
    LodCloud,
    /// A registry of ontologies, in the form of the OBO Foundry's.
    Registry,
    /// A Data Package of version 1 or 2.
    DataPackage,
    /// Metadata of DataCite, in JSON or XML.
    DataCite,
    /// Metadata of ISO 19139 or ISO 19115-3.
    Iso19139,
    /// A record of Dublin Core, as OAI-PMH has it.
    DublinCore,
    /// Collections of a SpatioTemporal Asset Catalog.
    Stac,
    /// Records of OGC API Records.
    OgcRecords,
    /// Tables of CSV on the Web.
    Csvw,
    /// A response of OAI-PMH.
    OaiPmh,
    /// A response of a catalogue service (CSW).
    Csw,
    /// A sitemap: addresses of pages.
    Sitemap,
    /// A Linked Data Event Stream.
    EventStream,
    /// An RDF dump that describes no catalogue.
    Dump,
    /// A folder of files in any dialect.
    Folder,
}

impl Dialect {
    /// Returns true if a document of the dialect is a list of entries, of which each describes a dataset.
    #[must_use]
    pub fn has_entries(self) -> bool {
        matches!(
            self,
            Self::Acordar
                | Self::PapersWithCode
                | Self::JsonLines
                | Self::Ckan
                | Self::DataJson
                | Self::LodCloud
                | Self::Registry
                | Self::DataCite
                | Self::Stac
                | Self::OgcRecords
                | Self::OaiPmh
                | Self::Csw
        )
    }

    /// Returns the name of the dialect, for example `data.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dcat => "dcat",
            Self::Void => "void",
            Self::RoCrate => "ro-crate",
            Self::SchemaOrg => "schema.org",
            Self::Acordar => "acordar",
            Self::PapersWithCode => "papers-with-code",
            Self::JsonLines => "json-lines",
            Self::Ckan => "ckan",
            Self::DataJson => "data.json",
            Self::LodCloud => "lod-cloud",
            Self::Registry => "registry",
            Self::DataPackage => "data-package",
            Self::DataCite => "datacite",
            Self::Iso19139 => "iso-19139",
            Self::DublinCore => "dublin-core",
            Self::Stac => "stac",
            Self::OgcRecords => "ogc-records",
            Self::Csvw => "csvw",
            Self::OaiPmh => "oai-pmh",
            Self::Csw => "csw",
            Self::Sitemap => "sitemap",
            Self::EventStream => "ldes",
            Self::Dump => "dump",
            Self::Folder => "folder",
        }
    }
}

/// Numbers of the resources of a catalogue that are not datasets. Their statements about a dataset become part of its
/// description.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OtherResourceCounts {
    /// Catalogues.
    pub catalogs: usize,
    /// Catalogue records (`dcat:CatalogRecord`).
    pub records: usize,
    /// Data services.
    pub services: usize,
}

/// Error: a catalogue cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        cause: std::io::Error,
    },
    /// The file is not JSON.
    #[error("cannot read {path}: not valid JSON: {cause}")]
    Json {
        /// The file.
        path: PathBuf,
        /// Cause, with line and column.
        cause: serde_json::Error,
    },
    /// An HTML page without a dataset in JSON-LD.
    #[error(
        "{path}: an HTML page without a dataset in JSON-LD (`<script type=\"application/ld+json\">`)"
    )]
    NoDataset {
        /// The file.
        path: PathBuf,
    },
    /// A source without any dataset.
    #[error(
        "no dataset was found in {path}: {reason}; `lodeseek load --help` lists the supported catalogues and dumps"
    )]
    Empty {
        /// The file or folder.
        path: PathBuf,
        /// The first problem, or what is missing.
        reason: String,
    },
    /// Two sources have a dataset with the same id.
    #[error(
        "the dataset id {id} is in {first} and in {second}; load the sources one by one, with --id-prefix"
    )]
    SharedId {
        /// The id.
        id: DatasetId,
        /// The first source.
        first: PathBuf,
        /// The second source.
        second: PathBuf,
    },
    /// A prefix that makes an id invalid.
    #[error(transparent)]
    Id(#[from] InvalidDatasetId),
    /// JSON without a list of datasets.
    #[error(
        "{path}: JSON without a list of datasets; supported: a list, or an object with \"datasets\", CKAN, data.json, LOD Cloud, OBO Foundry"
    )]
    NoList {
        /// The file.
        path: PathBuf,
    },
    /// A document of no known dialect, or without descriptions of datasets.
    #[error("cannot read {path}: {reason}")]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// A JSON document of no known dialect. In a folder it is a table.
    #[error("cannot read {path}: {reason}")]
    UnknownJson {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The process that read the file failed.
    #[error("cannot read {path}: {reason}")]
    Reader {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// A pattern of dumps that cannot be a path in their folder.
    #[error(
        "{0:?} is no pattern of dumps: write a path within the folder that contains {{id}}, for example \"{{id}}/data.nt\""
    )]
    DumpPattern(String),
}

impl CatalogError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }

    fn not_understood(path: &Path, reason: String) -> Self {
        Self::NotUnderstood {
            path: path.to_owned(),
            reason,
        }
    }
}

impl Catalog {
    /// Reads a catalogue of any dialect from a file, or from a folder of files.
    ///
    /// The content decides on the dialect, not the file name. An RDF file that describes no dataset becomes a
    /// catalogue of one dataset, with the file as its content.
    ///
    /// # Errors
    /// The file cannot be opened, is not JSON although it begins like JSON, or contains no list of datasets.
    /// Unreadable entries are not errors: see [`problems`](Self::problems).
    pub fn read(path: &Path) -> Result<Self, CatalogError> {
        let catalog = if path.is_dir() {
            folder::read(path)?
        } else {
            Self::read_file(path)?
        };
        Ok(catalog.finish())
    }

    /// Reads several sources, and adds a prefix to all ids.
    ///
    /// # Errors
    /// As for [`read`](Self::read), or if a source contains no dataset, or two sources contain the same id.
    pub fn read_all(paths: &[PathBuf], id_prefix: &str) -> Result<Vec<Self>, CatalogError> {
        Self::read_all_with(&DirectCatalogReader, paths, id_prefix)
    }

    /// Reads several sources by a reader, as [`read_all`](Self::read_all) does.
    ///
    /// # Errors
    /// As for [`read_all`](Self::read_all), or if the reader fails.
    pub fn read_all_with(
        reader: &dyn CatalogReader,
        paths: &[PathBuf],
        id_prefix: &str,
    ) -> Result<Vec<Self>, CatalogError> {
        let mut catalogs = Vec::new();
        let mut sources: BTreeMap<DatasetId, &PathBuf> = BTreeMap::new();
        for path in paths {
            let mut catalog = reader.read(&CatalogSource::Local { path: path.clone() })?;
            if catalog.datasets.is_empty() {
                return Err(CatalogError::Empty {
                    path: path.clone(),
                    reason: catalog.empty_reason(path),
                });
            }
            let mut renames = BTreeMap::new();
            for dataset in &mut catalog.datasets {
                let id = DatasetId::new(format!("{id_prefix}{}", dataset.metadata.id))?;
                renames.insert(dataset.metadata.id.clone(), id.clone());
                if let Some(first) = sources.insert(id.clone(), path) {
                    return Err(CatalogError::SharedId {
                        id,
                        first: first.clone(),
                        second: path.clone(),
                    });
                }
                dataset.set_id(id);
            }
            rename_references(&mut catalog.datasets, &renames);
            catalogs.push(catalog);
        }
        Ok(catalogs)
    }

    /// Returns the reason why a source contains no dataset.
    fn empty_reason(&self, path: &Path) -> String {
        match (&self.problems[..], self.is_incomplete) {
            ([first, ..], _) => first.chars().take(200).collect(),
            ([], true) => "the file is truncated".to_owned(),
            ([], false) if path.is_dir() => {
                "the folder holds neither a catalogue nor an RDF file".to_owned()
            }
            ([], false) => "it describes no dataset".to_owned(),
        }
    }

    /// Reads a downloaded catalogue. `address` is the base of relative IRIs and of local paths.
    ///
    /// No files are expected beside the downloaded one. A dump becomes a catalogue of one dataset whose local copy is
    /// the file.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_download(
        path: &Path,
        address: &str,
        media_type: Option<&str>,
    ) -> Result<Self, CatalogError> {
        let mut catalog = Self::read_place(&CatalogFile {
            path,
            address: Some(address),
            media_type,
        })?;
        if catalog.dialect == Dialect::Dump {
            for dataset in &mut catalog.datasets {
                // Its address identifies it, not the name of the file.
                dataset.entry = EntryKey::new(IdOrigin::Iri);
            }
            for distribution in catalog
                .datasets
                .iter_mut()
                .flat_map(|dataset| &mut dataset.distributions)
            {
                distribution.location = Location::Remote(address.to_owned());
                distribution.media_type =
                    media_type.map(|text| typed_fields::media_type_name(text).to_owned());
                distribution.copy = Some(LocalCopy::File(path.to_owned()));
            }
        }
        Ok(catalog.seen_from(address))
    }

    /// Reads downloaded documents in RDF as one description, as [`read_download`](Self::read_download) does.
    ///
    /// # Errors
    /// As for [`read`](Self::read), or if there is no document.
    pub fn read_documents(documents: &[DownloadedDocument]) -> Result<Self, CatalogError> {
        let files = downloaded_files(documents);
        let Some(first) = documents.first() else {
            return Err(CatalogError::NotUnderstood {
                path: PathBuf::new(),
                reason: "no document".to_owned(),
            });
        };
        let catalog = dcat::read_documents(&files).map_err(CatalogError::io(&first.path))?;
        Ok(catalog.seen_from(&first.address))
    }

    /// Reads the downloaded pages of an event stream: the newest member of each entity, as one description.
    ///
    /// # Errors
    /// If a page cannot be read, or if the pages are too large.
    pub fn read_event_stream(documents: &[DownloadedDocument]) -> Result<Self, CatalogError> {
        let catalog = event_stream::read_stream(&downloaded_files(documents))?;
        let address = match documents.first() {
            Some(document) => document.address.as_str(),
            None => "",
        };
        Ok(catalog.seen_from(address))
    }

    /// Reads the packages of a CKAN response for whose ids `is_wanted` returns true, as
    /// [`read_download`](Self::read_download) does.
    ///
    /// # Errors
    /// As for [`read`](Self::read); the file must contain CKAN packages.
    pub fn read_packages(
        path: &Path,
        address: &str,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Self, CatalogError> {
        let text = read_text(path, None).map_err(CatalogError::io(path))?.text;
        let (document, repaired) = json::parse_document(&text, path)?;
        drop(text);
        let mut packages = match ckan::content(&document) {
            Some(ckan::Document::Packages(packages)) => packages,
            Some(ckan::Document::Other(reason)) => {
                return Err(CatalogError::NotUnderstood {
                    path: path.to_owned(),
                    reason,
                });
            }
            None => {
                return Err(CatalogError::NoList {
                    path: path.to_owned(),
                });
            }
        };
        packages.retain(|package| {
            package
                .get("id")
                .and_then(serde_json::Value::as_str)
                .is_some_and(is_wanted)
        });
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut catalog = Self {
            dialect: Dialect::Ckan,
            folder,
            ..ckan::read(packages, path)
        };
        catalog
            .problems
            .extend(repaired.map(|problem| format!("{}: {problem}", path.display())));
        Ok(catalog.seen_from(address))
    }

    /// Resolves local paths against the address and makes ids unique.
    fn seen_from(mut self, address: &str) -> Self {
        for distribution in self
            .datasets
            .iter_mut()
            .flat_map(|dataset| &mut dataset.distributions)
        {
            if let Location::File(place) = &distribution.location {
                distribution.location = Location::Remote(resolve_reference(address, place));
            }
        }
        self.finish()
    }

    /// Makes ids unique, and leaves out unsafe addresses, long texts, and datasets with too much text.
    fn finish(mut self) -> Self {
        self.make_ids_unique();
        let (problems, lost) = (&mut self.problems, &mut self.unreadable_entries);
        self.datasets.retain_mut(|dataset| {
            for (property, address) in dataset.disarm_addresses() {
                let start: String = address.chars().take(MAX_SHOWN_CHARACTERS).collect();
                problems.push(
                    Problem::new(format!(
                        "an address of this scheme is kept as text only: {start:?}"
                    ))
                    .of_property(local_name(&property))
                    .of_dataset(dataset.metadata.id.as_str()),
                );
            }
            let omitted = dataset.omit_long_texts();
            for field in omitted {
                let reason = format!("left out, because it has more than {MAX_TEXT_BYTES} bytes");
                problems.push(
                    Problem::new(reason)
                        .of_property(field)
                        .of_dataset(dataset.metadata.id.as_str()),
                );
            }
            let fits = dataset.text_bytes() <= MAX_DESCRIPTION_BYTES;
            if !fits {
                let (id, limit) = (&dataset.metadata.id, MAX_DESCRIPTION_BYTES >> 20);
                problems.push(format!(
                    "dataset {id}: the texts of its description exceed {limit} MiB; it was left out"
                ));
                *lost += 1;
            }
            fits
        });
        self
    }

    fn read_file(path: &Path) -> Result<Self, CatalogError> {
        Self::read_place(&CatalogFile {
            path,
            address: None,
            media_type: None,
        })
    }

    /// Returns a catalogue of one dataset, whose content is a table.
    fn read_as_table(path: &Path) -> Self {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Self {
            folder,
            ..dcat::read_table(&CatalogFile {
                path,
                address: None,
                media_type: None,
            })
        }
    }

    fn read_place(file: &CatalogFile<'_>) -> Result<Self, CatalogError> {
        let path = file.path;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let head = read_head(path).map_err(CatalogError::io(path))?;
        let root = XmlRoot::from_head(&head.text);
        let is_json = json::looks_like(&head.text);
        let catalog = if let Some(kind) = root.as_ref().and_then(service_xml::Kind::from_root) {
            service_xml::read(file, kind)?
        } else if !is_json && tables::is_table(file) {
            dcat::read_table(file)
        } else if papers_with_code::looks_like(&head.text) {
            Self {
                dialect: Dialect::PapersWithCode,
                ..papers_with_code::read(path)?
            }
        } else if let Some(lines) = json_lines::read(file, &head)? {
            lines
        } else if file.address.is_none() && json_lines::is_table(file, &head)? {
            dcat::read_table(file)
        } else if html::looks_like(&head.text) {
            Self::read_page(file, &head)?
        } else if is_json {
            match json::read(file, &head) {
                // Records of OGC API and items of STAC are GeoJSON, too: only features of no catalogue are a table.
                Err(CatalogError::NotUnderstood { .. } | CatalogError::UnknownJson { .. })
                    if file.address.is_none() && tables::is_table(file) =>
                {
                    dcat::read_table(file)
                }
                read => read?,
            }
        } else if let Some(page) = event_stream::looks_like(&head.text)
            .then(|| event_stream::read_page(file))
            .transpose()?
            .flatten()
        {
            page
        } else {
            let catalog = dcat::read_place(file).map_err(CatalogError::io(path))?;
            if let Some(root) = root.filter(|root| !root.is_rdf())
                && (catalog.is_incomplete || catalog.unreadable_entries > 0)
            {
                return Err(CatalogError::NotUnderstood {
                    path: path.to_owned(),
                    reason: format!(
                        "XML with the root element {root}, which cannot be read as RDF/XML to its end"
                    ),
                });
            }
            catalog
        };
        Ok(Self { folder, ..catalog })
    }

    /// Reads the JSON-LD scripts of an HTML page. A script that is not valid JSON, and cannot be repaired, is left out and
    /// reported.
    fn read_page(file: &CatalogFile<'_>, head: &Head) -> Result<Self, CatalogError> {
        let path = file.path;
        let encoding = html::declared_encoding(&head.text);
        let page = downloaded_text(file, encoding.as_deref()).map_err(CatalogError::io(path))?;
        let mut problems: Vec<String> = page
            .problems
            .iter()
            .map(|problem| format!("{}: {problem}", path.display()))
            .collect();
        let (mut texts, mut broken) = (Vec::new(), 0_usize);
        for (script, number) in html::find_scripts(&page.text).into_iter().zip(1..) {
            let place = format!(
                "{}: script {number} in line {}",
                path.display(),
                script.line
            );
            // Marks of comments and CDATA sections are usual in scripts of pages, and no fault.
            match json_repair::repair(json_repair::without_marks(script.text)) {
                Ok(repaired) => {
                    let problem = repaired.problem();
                    problems.extend(problem.map(|problem| format!("{place}: {problem}")));
                    texts.push(json_document::with_all_digits(&repaired.text).into_owned());
                }
                Err(error) => {
                    problems.push(format!("{place}: left out: {error}"));
                    broken += 1;
                }
            }
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let base = html::base_address(&page.text).map(|base| match file.address {
            Some(address) => resolve_reference(address, &base),
            None => base,
        });
        let file = &CatalogFile {
            address: base
                .as_deref()
                .filter(|base| oxiri::Iri::parse(*base).is_ok())
                .or(file.address),
            ..*file
        };
        let mut catalog = dcat::read_texts(file, &texts).map_err(CatalogError::io(path))?;
        if catalog.dialect == Dialect::Dump {
            return Err(match problems.iter().find(|_| broken > 0) {
                Some(_) => CatalogError::NotUnderstood {
                    path: path.to_owned(),
                    reason: format!(
                        "an HTML page without a dataset in JSON-LD; {}",
                        problems.join("; ")
                    ),
                },
                None => CatalogError::NoDataset {
                    path: path.to_owned(),
                },
            });
        }
        catalog.problems.extend(problems);
        // A script that cannot be read may describe a dataset.
        catalog.unreadable_entries += broken;
        Ok(catalog)
    }

    /// Replaces the path of the file in all problems, for example by the address from which it was downloaded.
    pub fn rename_file(&mut self, path: &str, name: &str) {
        self.problems.rename(path, name);
        for problem in &mut self.duplicates {
            problem.rename(path, name);
        }
    }

    /// Gives each dataset an id of its own, and lists the entries of datasets that are listed twice.
    fn make_ids_unique(&mut self) {
        let mut problems = Vec::new();
        self.duplicates.extend(entry_ids::make_ids_unique(
            &mut self.datasets,
            &mut problems,
        ));
        self.problems.extend(problems);
    }
}

fn downloaded_files(documents: &[DownloadedDocument]) -> Vec<CatalogFile<'_>> {
    documents
        .iter()
        .map(|document| CatalogFile {
            path: &document.path,
            address: Some(&document.address),
            media_type: document.media_type.as_deref(),
        })
        .collect()
}

/// A file to read, and the address from which it was downloaded, if any.
struct CatalogFile<'p> {
    path: &'p Path,
    address: Option<&'p str>,
    /// Media type from the `Content-Type` header of the response.
    media_type: Option<&'p str>,
}

impl CatalogFile<'_> {
    /// Returns the encoding in the media type.
    fn charset(&self) -> Option<&str> {
        let (_, parameters) = self.media_type?.split_once(';')?;
        for parameter in parameters.split(';') {
            if let Some((name, value)) = parameter.split_once('=')
                && name.trim().eq_ignore_ascii_case("charset")
            {
                let value = value.trim().trim_matches(['"', '\'']);
                return Some(value).filter(|value| !value.is_empty());
            }
        }
        None
    }
}

/// Resolves a reference against an address. Returns an invalid reference unchanged, so that it is reported as invalid
/// later.
fn resolve_reference(address: &str, reference: &str) -> String {
    let base = oxiri::Iri::parse(address).ok();
    let found = base.and_then(|base| match base.resolve(reference) {
        Ok(resolved) => Some(resolved),
        Err(_) => base.resolve(&lodeseek_rdf::repair_iri(reference)?).ok(),
    });
    match found {
        Some(iri) => iri.into_inner(),
        None => reference.to_owned(),
    }
}

/// Maximum size of an uncompressed JSON catalogue in bytes: 2 GiB. It is held in memory as a whole.
const MAX_JSON_BYTES: u64 = 2 << 30;

/// Returns the limits for unpacking a compressed catalogue.
fn text_limits() -> Limits {
    Limits {
        decompressed_bytes: MAX_JSON_BYTES,
        ..Limits::default()
    }
}

/// Number of bytes of the beginning of a file as UTF-8, and number of bytes from which it is decoded.
const MAX_HEAD_BYTES: usize = 4096;
const MAX_ENCODED_HEAD_BYTES: usize = 4 * MAX_HEAD_BYTES;

/// The beginning of a file.
struct Head {
    /// Text without byte order mark and leading white space.
    text: String,
    /// If true, the file is in an encoding that readers of UTF-8 cannot read.
    is_converted: bool,
}

/// Reads the first 4 KiB of a file, uncompressed and as UTF-8, without byte order mark and leading white space.
///
/// A file that cannot be uncompressed is returned as it is, and of a truncated one what can be uncompressed. The reader of the whole
/// file reports the reason.
fn read_head(path: &Path) -> io::Result<Head> {
    let unpacked = dump::open(path, &text_limits()).and_then(read_head_bytes);
    let bytes = unpacked.or_else(|_| read_head_bytes(File::open(path)?))?;
    let decoded = dump::decode_text(bytes.as_slice(), None)?;
    let mut text = decoded.text.trim_start().to_owned();
    let end = (0..=MAX_HEAD_BYTES.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    text.truncate(end);
    Ok(Head {
        text,
        is_converted: decoded.is_converted,
    })
}

fn read_head_bytes(reader: impl Read) -> io::Result<Vec<u8>> {
    Ok(dump::read_beginning(reader, MAX_ENCODED_HEAD_BYTES)?.bytes)
}

/// Reads a text file as a whole, uncompresses it and converts it to UTF-8. `encoding` is the one that the file declares.
fn read_text(path: &Path, encoding: Option<&str>) -> io::Result<DecodedText> {
    dump::decode_text(dump::open(path, &text_limits())?, encoding)
}

/// Reads a text file as [`read_text`] does. A byte order mark decides on the encoding, else the media type of the response, else the
/// declaration in the file (RFC 7303, section 3.2). Text in UTF-8 is read as such: many servers add an encoding to all their responses.
fn downloaded_text(file: &CatalogFile<'_>, declared: Option<&str>) -> io::Result<DecodedText> {
    let Some(charset) = file.charset() else {
        return read_text(file.path, declared);
    };
    let mut bytes = Vec::new();
    dump::open(file.path, &text_limits())?.read_to_end(&mut bytes)?;
    let is_utf8 = !bytes.is_ascii() && std::str::from_utf8(&bytes).is_ok();
    blank_xml_encoding(&mut bytes);
    dump::decode_text(bytes.as_slice(), Some(charset).filter(|_| !is_utf8))
}

/// Replaces the encoding in an XML declaration by spaces, because the media type states another one.
fn blank_xml_encoding(bytes: &mut [u8]) {
    if !bytes.starts_with(b"<?xml") {
        return;
    }
    let Some(end) = bytes
        .windows(2)
        .take(MAX_HEAD_BYTES)
        .position(|two| two == b"?>")
    else {
        return;
    };
    let declaration = &mut bytes[..end];
    let Some(start) = declaration.windows(8).position(|name| name == b"encoding") else {
        return;
    };
    let mut quotes = (start..end).filter(|place| matches!(declaration[*place], b'"' | b'\''));
    if let Some(close) = quotes.nth(1) {
        declaration[start..=close].fill(b' ');
    }
}
