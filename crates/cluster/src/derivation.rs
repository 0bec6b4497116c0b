//! Derivation of a dataset in a worker process, which reads untrusted files.

use crate::ClusterError;
use crate::record::triples_to_json;
use lodeseek_catalog::{DatasetId, Iris, dcat};
use lodeseek_engine::{AnalysisKind, Deriver, IndexOptions};
use lodeseek_rdf::TripleGraphBuilder;
use lodeseek_rdf::dump::Limits as DumpLimits;
use lodeseek_store::{
    ContentFolder, DatasetContent, DatasetReport, DirectContentReader, Entry, SourceFile,
    version_paths,
};
use lodeseek_worker::{Handler, Limits, TaskContext, serve};
use oxrdf::Triple;
use oxttl::NTriplesParser;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Name of the role of a worker process that derives datasets.
pub const DERIVATION_ROLE: &str = "derivation";
/// Maximum length of the pieces of a result.
const MAX_PIECE_BYTES: usize = 1 << 20;

/// A task for the worker process: all files are local.
#[derive(Serialize, Deserialize)]
pub(crate) struct DerivationTask {
    pub(crate) id: String,
    pub(crate) base: String,
    pub(crate) planned: String,
    pub(crate) description: String,
    pub(crate) sources: Vec<SourceFile>,
    pub(crate) analysis: AnalysisKind,
    /// Empty folder for the files of the version and for temporary files. The process may write in it.
    pub(crate) scratch: PathBuf,
    /// Size of the compact form in bytes above which the graph is not held in memory.
    pub(crate) graph_limit: usize,
}

/// The first piece of a result.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// The contents follow: those of [`Derivation::sizes`].
    Derived(Box<Derivation>),
    /// The task cannot be done, for this reason.
    Failed(String),
}

/// A derived dataset, without the contents that follow.
#[derive(Serialize, Deserialize)]
pub(crate) struct Derivation {
    pub(crate) version: String,
    pub(crate) fingerprint: Option<String>,
    pub(crate) lacks_content: bool,
    pub(crate) report: DatasetReport,
    pub(crate) peak_bytes: u64,
    /// Sizes of the graph file, the counts, the fingerprint, the sample, the labels, the document, the profile and the snippet. The
    /// sample is empty if the content does not exceed memory, the labels if they are in one language.
    pub(crate) sizes: [u64; 8],
}

/// Runs this process as a worker until its standard input ends. `limits` is the last argument of the command line.
///
/// # Errors
/// If the limits cannot be set, or if the parent process breaks the protocol.
pub fn run_derivation_worker(limits: &str) -> io::Result<()> {
    let limits: Limits = serde_json::from_str(limits)?;
    // It is opened before the limits apply: no other file of the system is readable then.
    let status = File::open("/proc/self/status").ok().map(Mutex::new);
    serve(&limits, DerivationHandler { status })
}

struct DerivationHandler {
    status: Option<Mutex<File>>,
}

impl Handler for DerivationHandler {
    fn handle(&self, task: &[u8], context: &TaskContext) -> io::Result<()> {
        let task: DerivationTask = serde_json::from_slice(task)?;
        let (mut derivation, mut contents) = match derive(&task) {
            Ok(derived) => derived,
            Err(error) => {
                // A dataset that cannot be derived is a result. An error of this function would end the process.
                return context.send(&serde_json::to_vec(&Answer::Failed(error.to_string()))?);
            }
        };
        derivation.peak_bytes = self
            .status
            .as_ref()
            .and_then(|status| peak_bytes(status).ok())
            .unwrap_or_default();
        // The sizes come first: the contents follow without marks between them.
        context.send(&serde_json::to_vec(&Answer::Derived(Box::new(derivation)))?)?;
        let mut piece = vec![0; MAX_PIECE_BYTES];
        for content in &mut contents {
            loop {
                match content.reader.read(&mut piece)? {
                    0 => break,
                    length => context.send(&piece[..length])?,
                }
            }
        }
        Ok(())
    }
}

/// Content of a result: a file, or bytes.
struct Content {
    bytes: u64,
    reader: Box<dyn Read>,
}

impl Content {
    /// Opens a file. A missing one is empty.
    fn from_file(path: &Path) -> Result<Self, ClusterError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::from_bytes(Vec::new()));
            }
            opened => opened.map_err(ClusterError::io(path))?,
        };
        let bytes = file.metadata().map_err(ClusterError::io(path))?.len();
        Ok(Self {
            bytes,
            reader: Box::new(file),
        })
    }

    fn from_bytes(bytes: Vec<u8>) -> Self {
        Self {
            bytes: bytes.len() as u64,
            reader: Box::new(Cursor::new(bytes)),
        }
    }
}

/// Derives a dataset by the steps of a load and of an index. Returns the contents in the order of [`Derivation::sizes`].
fn derive(task: &DerivationTask) -> Result<(Derivation, [Content; 8]), ClusterError> {
    let iris = Iris::new(&task.base)?;
    let id = DatasetId::new(task.id.as_str())?;
    let description =
        parse_description(&task.description).map_err(|error| invalid_task(task, error))?;
    let folder = ContentFolder::new(&task.scratch).with_graph_limit(task.graph_limit);
    folder.create()?;
    let DatasetContent {
        version,
        content,
        files,
        lacks_content,
        ..
    } = folder.read_sources(
        &task.sources,
        Path::new(""),
        &DumpLimits::default(),
        &DirectContentReader,
    )?;
    // The graph is opened again below: it must not be in memory twice.
    let triples = content.len();
    drop(content);
    let entry = find_entry(&description, &id, &iris, &version).ok_or_else(|| {
        let reason = format!("its description does not describe {}", iris.dataset(&id));
        invalid_task(task, reason)
    })?;
    let now = match task.planned.as_str() {
        "" => None,
        time => Some(
            time.parse()
                .map_err(|error| invalid_task(task, format!("planned: {error}")))?,
        ),
    };
    let options = IndexOptions {
        now,
        ..IndexOptions::default()
    };
    let deriver = Deriver::new(&iris, options, task.analysis);
    // As the indexer opens it: of a graph close to the limit, the loader only estimates the size.
    let content = folder.open(&version)?;
    let derived = deriver.derive(&folder, &entry, &deriver.version(&entry)?, &content)?;
    drop(content);
    let report = DatasetReport::new(id, entry.dataset.metadata.title(), triples, files);
    let paths = version_paths(&task.scratch, &version)
        .ok_or_else(|| invalid_task(task, "its version is not valid"))?;
    let document =
        serde_json::to_vec(&derived.document).map_err(|error| invalid_task(task, error))?;
    let [graph, counts, canonical, sample, labels] = &paths;
    let canonical = fs::read(canonical).map_err(ClusterError::io(canonical))?;
    let fingerprint = parse_fingerprint(&canonical);
    let contents = [
        Content::from_file(graph)?,
        Content::from_file(counts)?,
        Content::from_bytes(canonical),
        Content::from_file(sample)?,
        Content::from_file(labels)?,
        Content::from_bytes(document),
        serialize_triples(task, &derived.profile)?,
        serialize_triples(task, &derived.snippet)?,
    ];
    let sizes = contents.each_ref().map(|content| content.bytes);
    let derivation = Derivation {
        version,
        fingerprint,
        lacks_content,
        report,
        peak_bytes: 0,
        sizes,
    };
    Ok((derivation, contents))
}

/// Parses a description. IRIs are not validated again: catalogues contain invalid ones.
pub(crate) fn parse_description(text: &str) -> Result<Vec<Triple>, oxttl::TurtleSyntaxError> {
    NTriplesParser::new()
        .lenient()
        .for_slice(text.as_bytes())
        .collect()
}

/// Returns the dataset as the store returns it: from its description.
fn find_entry(description: &[Triple], id: &DatasetId, iris: &Iris, version: &str) -> Option<Entry> {
    let mut builder = TripleGraphBuilder::new();
    description
        .iter()
        .for_each(|triple| builder.insert_with_labels(triple.as_ref()));
    let dataset = dcat::from_triples(&builder.finish(), &iris.dataset(id))?;
    Some(Entry {
        dataset,
        version: version.to_owned(),
        origin: None,
    })
}

fn serialize_triples(task: &DerivationTask, triples: &[Triple]) -> Result<Content, ClusterError> {
    triples_to_json(triples)
        .map(Content::from_bytes)
        .map_err(|error| invalid_task(task, error))
}

fn invalid_task(task: &DerivationTask, reason: impl ToString) -> ClusterError {
    ClusterError::row(crate::task::TABLE, &task.id, reason)
}

/// Returns the canonical fingerprint in its file: the second line, unless it was not computed.
fn parse_fingerprint(file: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(file).ok()?.lines().nth(1)?;
    (line.len() == 64).then(|| line.to_owned())
}

/// Returns the peak memory of a process so far, from its file in `/proc`.
pub(crate) fn peak_bytes(status: &Mutex<File>) -> io::Result<u64> {
    let mut status = status.lock().map_err(|_| io::ErrorKind::Other)?;
    status.seek(SeekFrom::Start(0))?;
    let mut text = String::new();
    status.read_to_string(&mut text)?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Ok(kilobytes.ok_or(io::ErrorKind::InvalidData)? << 10)
}
