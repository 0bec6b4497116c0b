//! Files of a dataset, and their content as one graph.

use super::StoredContent;
use lodeseek_catalog::{Dataset, DatasetId, Distribution, Iris, LocalCopy, Location, dcat};
use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::{DumpReader, FileReport, Limits, Outcome};
use lodeseek_tabular::Tables;
use oxrdf::{NamedNode, Triple};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};

/// File with content of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path or address in the catalogue.
    pub name: String,
    /// IANA media type, if declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Base of its relative IRIs.
    pub base: String,
    /// Place of the file, or the reason why it is not read.
    pub place: SourcePlace,
}

/// Place of a file, or the reason why it is not read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourcePlace {
    /// A local file.
    File(PathBuf),
    /// It must not be read.
    Refused(String),
    /// It is missing now, and may be present at another time.
    Unreadable(String),
}

/// Content of a dataset, whose version files are in a [`ContentFolder`](super::ContentFolder).
#[derive(Debug)]
pub struct DatasetContent {
    /// Version, which is the name of the files without their suffixes.
    pub version: String,
    /// All triples of its files.
    pub content: StoredContent,
    /// Reports about its files.
    pub files: Vec<FileReport>,
    /// If true, a file that should hold content is missing, damaged, or holds nothing that can be read.
    pub lacks_content: bool,
    /// Indexes of the sources that are RDF, whether or not some of their statements are broken.
    pub readable: Vec<usize>,
}

/// Returns the files of a dataset in the order of its catalogue. Paths are relative to the catalogue's folder.
#[must_use]
pub fn source_files(dataset: &Dataset, folder: &Path, iris: &Iris) -> Vec<SourceFile> {
    let id = &dataset.metadata.id;
    let mut sources = Vec::with_capacity(dataset.distributions.len());
    for distribution in &dataset.distributions {
        let Some(place) = find_local_content(distribution, folder) else {
            continue;
        };
        sources.push(SourceFile {
            name: distribution.location.as_str().to_owned(),
            media_type: distribution.media_type.clone(),
            base: base_of(distribution, id, iris),
            place,
        });
    }
    sources
}

/// Returns the description of a dataset in the catalogue graph.
#[must_use]
pub fn describe_dataset(dataset: &Dataset, iris: &Iris) -> Vec<Triple> {
    let id = &dataset.metadata.id;
    let mut triples = dcat::to_triples(dataset, iris);
    triples.extend(dcat::content_graph(
        &iris.dataset(id),
        iris.part(id, "graph"),
    ));
    triples
}

/// File to read, with limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DumpFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Name in reports.
    pub name: String,
    /// IANA media type, if declared.
    pub media_type: Option<String>,
    /// Base of relative IRIs.
    pub base: String,
    /// Limits beyond which it is rejected.
    pub limits: Limits,
}

impl DumpFile {
    /// Reads the file in this process. A parser that panics affects this file only.
    pub fn read(&self, sink: &mut dyn TripleSink) -> Vec<FileReport> {
        let Self {
            path,
            name,
            media_type,
            base,
            limits,
        } = self;
        let mut reader = DumpReader::with_limits(limits.clone()).with_tables(&Tables);
        if let Some(media_type) = media_type {
            reader = reader.with_media_type(media_type);
        }
        let read = catch_unwind(AssertUnwindSafe(|| {
            reader.read_file(path, name, base, sink)
        }));
        read.unwrap_or_else(|_| {
            vec![FileReport::unreadable(
                name,
                "its parser panicked: please report this bug",
            )]
        })
    }
}

/// Reader of the files of datasets.
pub trait ContentReader: fmt::Debug + Send + Sync {
    /// Reads a file into a sink, and returns a report about each of its documents. `folder` is the folder of the catalogue. A
    /// file that cannot be read has the outcome [`Outcome::Unreadable`].
    ///
    /// # Errors
    /// If no file can be read at the moment.
    fn read_file(
        &self,
        file: &DumpFile,
        folder: &Path,
        sink: &mut dyn TripleSink,
    ) -> io::Result<Vec<FileReport>>;
}

/// Reader of the files of datasets in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectContentReader;

impl ContentReader for DirectContentReader {
    fn read_file(
        &self,
        file: &DumpFile,
        _: &Path,
        sink: &mut dyn TripleSink,
    ) -> io::Result<Vec<FileReport>> {
        Ok(file.read(sink))
    }
}

/// Outcome of reading the files of a dataset.
#[derive(Debug, Default)]
pub(super) struct ReadFiles {
    pub(super) files: Vec<FileReport>,
    /// If true, a file that should hold content does not.
    pub(super) lacks_content: bool,
    /// Indexes of the sources that are RDF.
    pub(super) readable: Vec<usize>,
}

/// Reads the files of a dataset.
pub(super) fn read_into(
    sink: &mut dyn TripleSink,
    sources: &[SourceFile],
    folder: &Path,
    limits: &Limits,
    reader: &dyn ContentReader,
) -> io::Result<ReadFiles> {
    let (mut files, mut readable) = (Vec::new(), Vec::new());
    let mut has_void_file = false;
    for (
        number,
        SourceFile {
            name,
            media_type,
            base,
            place,
        },
    ) in sources.iter().enumerate()
    {
        match place {
            SourcePlace::File(path) => {
                let file = DumpFile {
                    path: path.clone(),
                    name: name.clone(),
                    media_type: media_type.clone(),
                    base: base.clone(),
                    limits: limits.clone(),
                };
                let reports = reader.read_file(&file, folder, sink)?;
                let is_void = is_void(path, &reports);
                has_void_file |= is_void;
                if !is_void {
                    readable.push(number);
                }
                files.extend(reports);
            }
            SourcePlace::Refused(reason) => files.push(FileReport::refused(name, reason)),
            SourcePlace::Unreadable(reason) => files.push(FileReport::unreadable(name, reason)),
        }
    }
    let lacks_content =
        has_void_file || files.iter().any(|file| file.outcome == Outcome::Unreadable);
    Ok(ReadFiles {
        files,
        lacks_content,
        readable,
    })
}

/// Returns the size of the local files of a dataset in bytes.
pub(super) fn bytes_of(dataset: &Dataset, folder: &Path) -> u64 {
    let places = dataset
        .distributions
        .iter()
        .filter_map(|distribution| find_local_content(distribution, folder));
    let metadata = places.filter_map(|place| match place {
        SourcePlace::File(path) => path.metadata().ok(),
        _ => None,
    });
    metadata.map(|metadata| metadata.len()).sum()
}

/// Returns true if a file holds nothing that can be read: it is empty, no RDF (a web page in its place), or every statement
/// is broken. A file that is read completely may hold no triples.
fn is_void(path: &Path, reports: &[FileReport]) -> bool {
    if reports.iter().any(|report| report.triples > 0) {
        return false;
    }
    let is_empty = path.metadata().is_ok_and(|metadata| metadata.len() == 0);
    is_empty
        || reports
            .iter()
            .any(|report| report.outcome != Outcome::Complete)
}

/// Returns the place of a distribution's content: its local copy, or a file of the catalogue's folder. `None` if other files
/// have the content.
fn find_local_content(distribution: &Distribution, folder: &Path) -> Option<SourcePlace> {
    match &distribution.copy {
        Some(LocalCopy::File(path)) => Some(SourcePlace::File(path.clone())),
        Some(LocalCopy::Missing(reason)) => Some(SourcePlace::Unreadable(reason.clone())),
        Some(LocalCopy::Unused) => None,
        None => match local_path(&distribution.location, folder) {
            Ok(path) => Some(SourcePlace::File(path)),
            Err(reason) => Some(SourcePlace::Refused(reason)),
        },
    }
}

/// Returns the path of a local distribution, if it is in the catalogue's folder.
fn local_path(location: &Location, folder: &Path) -> Result<PathBuf, String> {
    match location {
        Location::Remote(address) => Err(format!(
            "{address} is on the web; `load` reads local files only and fetches nothing"
        )),
        Location::File(path) => {
            let inside = Path::new(path)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if inside && !path.is_empty() {
                Ok(folder.join(path))
            } else {
                Err(format!(
                    "the path {path:?} leads outside the catalogue's folder"
                ))
            }
        }
    }
}

/// Returns the base of a dump's relative IRIs: the address of its download (RFC 3986, 5.1.3), or else one of this home.
fn base_of(distribution: &Distribution, id: &DatasetId, iris: &Iris) -> String {
    match (&distribution.location, &distribution.copy) {
        (Location::Remote(address), Some(_)) if NamedNode::new(address.as_str()).is_ok() => {
            address.clone()
        }
        (location, _) => iris.dump_base(id, location.as_str()),
    }
}
