//! Parsing of untrusted catalogues and dumps: in worker processes, or in this process if there are none.
//!
//! A worker parses one file at a time, and sends its triples, or the datasets that it describes. The graph of a dataset is built
//! here, so that its size is not bounded by the memory of a worker. If a worker fails, its file counts as unreadable.

#[cfg(fuzzing)]
pub mod fuzzing;

use lodeseek_catalog::{
    Catalog, CatalogError, CatalogReader, CatalogSource, Dataset, DatasetId, Problems,
    SerializedCatalog, SerializedDataset, SerializedError, Statement,
};
use lodeseek_harvest::StoreOutcome;
use lodeseek_net::egress::Cancellation;
use lodeseek_rdf::dump::{FileReport, Outcome};
use lodeseek_rdf::{TripleSink, TripleStreamWriter, read_triple_stream};
use lodeseek_store::{ContentReader, DatasetOutcome, DatasetReport, DumpFile, Store, StoreError};
use lodeseek_worker::{Handler, Pool, PoolOptions, Task, TaskContext, WorkerError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time limit of parsing one file.
const PARSE_TIMEOUT: Duration = Duration::from_secs(3600);
/// Maximum number of pools. Beyond it, the oldest one is ended.
const MAX_POOLS: usize = 4;

/// First byte of a piece of a result.
const TRIPLES_TAG: u8 = b'T';
const REPORTS_TAG: u8 = b'R';
const DATASET_TAG: u8 = b'D';
const CATALOG_TAG: u8 = b'C';
const ERROR_TAG: u8 = b'E';

/// Parser of untrusted files.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// Worker processes; `None` if this process parses.
    pools: Option<Arc<ParserPools>>,
    cancellation: Cancellation,
}

impl Parser {
    /// Creates a parser whose workers have these options, and can read `folders`; for a file elsewhere, its own folder. The first
    /// file starts the first worker.
    pub(crate) fn with_workers(options: PoolOptions, folders: Vec<PathBuf>) -> Self {
        let pools = ParserPools {
            options,
            folders,
            pools: Mutex::default(),
        };
        Self {
            pools: Some(Arc::new(pools)),
            cancellation: Cancellation::default(),
        }
    }

    /// Returns a parser with the same workers that stops at a cancellation. Files that are parsed meanwhile are not read.
    #[must_use]
    pub fn with_cancellation(&self, cancellation: Cancellation) -> Self {
        Self {
            pools: self.pools.clone(),
            cancellation,
        }
    }

    /// Returns the reader of catalogues.
    #[must_use]
    pub fn catalogs(&self) -> Arc<dyn CatalogReader> {
        Arc::new(self.clone())
    }

    /// Returns the reader of the content of datasets.
    #[must_use]
    pub fn contents(&self) -> Arc<dyn ContentReader> {
        Arc::new(self.clone())
    }
}

/// Returns the datasets that were loaded and not harvested, with their keys: [`HarvestOptions::loaded_keys`].
///
/// [`HarvestOptions::loaded_keys`]: lodeseek_harvest::HarvestOptions::loaded_keys
///
/// # Errors
/// If the store cannot be read.
pub(crate) fn loaded_keys(store: &Store) -> Result<BTreeMap<DatasetId, String>, StoreError> {
    let mut keys = BTreeMap::new();
    for (id, origin) in store.dataset_origins()? {
        if !origin.source.is_harvest {
            keys.insert(id, origin.key);
        }
    }
    Ok(keys)
}

/// Removes the datasets that another change has added since a harvest began, and returns their outcomes. `existing` are the datasets
/// of the home at that time. A harvest passes each dataset once.
///
/// # Errors
/// If the store cannot be read.
pub(crate) fn remove_conflicts(
    datasets: &mut Vec<Dataset>,
    existing: &BTreeSet<DatasetId>,
    store: &Store,
) -> Result<Vec<(DatasetId, StoreOutcome)>, StoreError> {
    let (mut own, mut conflicts) = (Vec::with_capacity(datasets.len()), Vec::new());
    for dataset in std::mem::take(datasets) {
        let id = &dataset.metadata.id;
        if !existing.contains(id) && store.contains(id)? {
            conflicts.push((dataset.metadata.id, StoreOutcome::Conflict));
        } else {
            own.push(dataset);
        }
    }
    *datasets = own;
    Ok(conflicts)
}

/// Returns the outcome of a loaded dataset that a harvester expects. One whose worker failed is read again by the next harvest,
/// which may have other limits.
#[must_use]
pub fn store_outcome(dataset: &DatasetReport) -> StoreOutcome {
    let is_complete = !dataset.files.iter().any(|file| file.reader_failed);
    match dataset.outcome {
        DatasetOutcome::Unchanged if is_complete => StoreOutcome::Unchanged,
        DatasetOutcome::Unchanged | DatasetOutcome::Kept => StoreOutcome::Retained,
        DatasetOutcome::Loaded | DatasetOutcome::Replaced | DatasetOutcome::MetadataOnly
            if is_complete =>
        {
            StoreOutcome::Stored
        }
        DatasetOutcome::Loaded | DatasetOutcome::Replaced | DatasetOutcome::MetadataOnly => {
            StoreOutcome::Incomplete
        }
    }
}

impl CatalogReader for Parser {
    fn read(&self, source: &CatalogSource) -> Result<Catalog, CatalogError> {
        let Some(pools) = &self.pools else {
            return source.read();
        };
        let path = source.path();
        let folder = if path.is_dir() { path } else { Path::new("") };
        let mut result = CatalogResult::default();
        // A worker holds a catalogue as a whole, in more bytes than it sends.
        let limit = pools.options.limits.memory_bytes();
        let task = ParseTask::Catalog(source.clone());
        let run = pools.run(
            path,
            folder,
            &task,
            limit,
            &self.cancellation,
            &mut |piece| result.take(piece),
        );
        run.map_err(|error| reader_error(path, failure_reason(&error)))?;
        let catalog = result
            .finish()
            .ok_or_else(|| reader_error(path, INCOMPLETE.to_owned()))??;
        // The worker parsed the input of others: it decides about no other files.
        catalog
            .confined_to(source)
            .map_err(|reason| reader_error(path, format!("{DAMAGED}{reason}")))
    }
}

impl ContentReader for Parser {
    fn read_file(
        &self,
        file: &DumpFile,
        folder: &Path,
        sink: &mut dyn TripleSink,
    ) -> io::Result<Vec<FileReport>> {
        let Some(pools) = &self.pools else {
            return Ok(file.read(sink));
        };
        let (mut reports, mut triples) = (None, 0);
        let limit = file.limits.decompressed_bytes;
        let task = ParseTask::Content(file.clone());
        let run = pools.run(
            &file.path,
            folder,
            &task,
            limit,
            &self.cancellation,
            &mut |piece| {
                match piece.split_first() {
                    Some((&TRIPLES_TAG, piece)) => triples += read_triple_stream(piece, sink)?,
                    Some((&REPORTS_TAG, json)) => reports = Some(serde_json::from_slice(json)?),
                    _ => return Err(io::ErrorKind::InvalidData.into()),
                }
                Ok(())
            },
        );
        let reason = match (run, reports) {
            (Ok(()), Some(reports)) => return Ok(reports),
            (Ok(()), None) => INCOMPLETE.to_owned(),
            // The file is not the cause.
            (Err(error @ (WorkerError::Start(_) | WorkerError::Cancelled)), _) => {
                return Err(io::Error::other(error));
            }
            (Err(error), _) => failure_reason(&error),
        };
        let reason = if triples > 0 {
            format!("{reason}; the rest was not read")
        } else {
            reason
        };
        tracing::warn!(file = file.name, reason, "a file could not be parsed");
        Ok(vec![FileReport {
            triples,
            reader_failed: true,
            ..FileReport::unreadable(&file.name, reason)
        }])
    }
}

const INCOMPLETE: &str = "the process that parsed it sent an incomplete result";
const DAMAGED: &str = "the process that parsed it sent a damaged result: ";

/// Returns the error of a catalogue that no worker could read.
fn reader_error(path: &Path, reason: String) -> CatalogError {
    CatalogError::Reader {
        path: path.to_owned(),
        reason,
    }
}

/// Returns the reason for which a file was not parsed.
fn failure_reason(error: &WorkerError) -> String {
    match error {
        WorkerError::Memory(megabytes) => {
            format!(
                "parsing it needs more than {megabytes} MB of memory; raise `server.worker-memory` in lodeseek.toml if you trust the file"
            )
        }
        WorkerError::Time(time) => {
            let seconds = time.as_secs();
            format!(
                "parsing it needs more than {seconds} s; without worker processes (`server.workers = false` in lodeseek.toml) there is no such limit, if you trust the file"
            )
        }
        WorkerError::Ended(reason) => format!("the process that parsed it ended: {reason}"),
        error => error.to_string(),
    }
}

/// Pools of workers, by the folders that they can read.
#[derive(Debug)]
struct ParserPools {
    options: PoolOptions,
    /// Folders that one pool can read together, if they exist.
    folders: Vec<PathBuf>,
    pools: Mutex<Vec<ParserPool>>,
}

#[derive(Clone, Debug)]
struct ParserPool {
    /// Folders without symbolic links.
    folders: Vec<PathBuf>,
    pool: Pool,
}

impl ParserPools {
    /// Runs a task about a file, and passes on the pieces of its result, at most `limit` bytes. An error of `receive` ends the
    /// task.
    fn run(
        &self,
        path: &Path,
        folder: &Path,
        task: &ParseTask,
        limit: u64,
        cancellation: &Cancellation,
        receive: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), WorkerError> {
        // A path that is no Unicode text has no JSON.
        let json = serde_json::to_vec(task).map_err(|error| {
            WorkerError::Ended(format!(
                "{}: {error}; rename it, or set `server.workers = false` in lodeseek.toml",
                path.display()
            ))
        })?;
        let task = Task {
            task: &json,
            input: &[],
            time: PARSE_TIMEOUT,
            is_cancelled: &|| cancellation.is_cancelled(),
            answer: None,
        };
        let (mut failure, mut left) = (None, limit);
        let run = self.pool(path, folder)?.run(&task, &mut |piece| {
            let received = match left.checked_sub(piece.len() as u64) {
                Some(rest) => {
                    left = rest;
                    receive(&piece)
                }
                None => Err(io::Error::other(format!("it has more than {limit} bytes"))),
            };
            match received {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        match failure {
            Some(error) => Err(WorkerError::Ended(format!(
                "its result is damaged: {error}"
            ))),
            None => run,
        }
    }

    /// Returns a pool whose workers can read a file, in its catalogue's folder or elsewhere.
    fn pool(&self, path: &Path, folder: &Path) -> Result<Pool, WorkerError> {
        // Of a file that does not exist, any worker reports the reason.
        let path = fs::canonicalize(path).ok();
        let shared: Vec<PathBuf> = self
            .folders
            .iter()
            .filter_map(|folder| fs::canonicalize(folder).ok())
            .collect();
        let readable = match &path {
            Some(path) if !shared.iter().any(|folder| path.starts_with(folder)) => {
                vec![readable_folder(path, folder)]
            }
            _ => shared,
        };
        // A worker reads no more than its files need: a pool that can read other folders, too, is not used.
        if let Some(pool) = find_pool(&self.pools(), &readable) {
            return Ok(pool);
        }
        // Other files do not wait for the start.
        let pool = self.start(readable.clone())?;
        let mut pools = self.pools();
        // Another thread may have started one meanwhile.
        if let Some(first) = find_pool(&pools, &readable) {
            return Ok(first);
        }
        if pools.len() >= MAX_POOLS {
            pools.remove(0);
        }
        pools.push(pool.clone());
        Ok(pool.pool)
    }

    fn pools(&self) -> MutexGuard<'_, Vec<ParserPool>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a pool whose workers can read folders without symbolic links.
    fn start(&self, folders: Vec<PathBuf>) -> Result<ParserPool, WorkerError> {
        let mut options = self.options.clone();
        options.limits.readable.clone_from(&folders);
        Ok(ParserPool {
            folders,
            pool: Pool::start(options)?,
        })
    }
}

/// Returns a pool that can read these folders and no others.
fn find_pool(pools: &[ParserPool], folders: &[PathBuf]) -> Option<Pool> {
    pools
        .iter()
        .find(|pool| pool.folders == folders)
        .map(|pool| pool.pool.clone())
}

/// Returns the folder that a worker must read for a file: that of its catalogue, or its own if it is elsewhere.
fn readable_folder(path: &Path, folder: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    // In the root, a worker could read all files.
    let catalog = fs::canonicalize(folder)
        .ok()
        .filter(|folder| folder.parent().is_some() && path.starts_with(folder));
    catalog.unwrap_or_else(|| path.parent().unwrap_or(path).to_owned())
}

/// A task of a worker.
#[derive(Serialize, Deserialize)]
enum ParseTask {
    /// Sends the triples of a file, then the reports.
    Content(DumpFile),
    /// Sends the datasets of a catalogue, then the rest of it, or an error.
    Catalog(CatalogSource),
}

/// The parser in a worker process.
#[derive(Debug)]
pub struct FileParser;

impl Handler for FileParser {
    fn handle(&self, task: &[u8], context: &TaskContext) -> io::Result<()> {
        match serde_json::from_slice(task)? {
            ParseTask::Content(file) => send_content(&file, context),
            ParseTask::Catalog(source) => send_catalog(&source, context),
        }
    }
}

fn send_content(file: &DumpFile, context: &TaskContext) -> io::Result<()> {
    let mut writer =
        TripleStreamWriter::new(|triples: &[u8]| send_piece(context, TRIPLES_TAG, triples));
    let reports = file.read(&mut writer);
    writer.finish()?;
    send_json(context, REPORTS_TAG, &reports)
}

fn send_catalog(source: &CatalogSource, context: &TaskContext) -> io::Result<()> {
    let catalog = match source.read() {
        Ok(catalog) => catalog,
        Err(error) => {
            return send_json(
                context,
                ERROR_TAG,
                &SerializedError::from_error(error, source.path()),
            );
        }
    };
    let (catalog, datasets) = SerializedCatalog::from_catalog(catalog);
    for dataset in datasets {
        send_json(context, DATASET_TAG, &dataset)?;
    }
    send_json(context, CATALOG_TAG, &catalog)
}

fn send_json(context: &TaskContext, kind: u8, value: &impl Serialize) -> io::Result<()> {
    let mut piece = vec![kind];
    serde_json::to_writer(&mut piece, value)?;
    context.send(&piece)
}

fn send_piece(context: &TaskContext, kind: u8, content: &[u8]) -> io::Result<()> {
    let mut piece = Vec::with_capacity(1 + content.len());
    piece.push(kind);
    piece.extend_from_slice(content);
    context.send(&piece)
}

/// The result of a task about a catalogue, as it is received.
#[derive(Default)]
struct CatalogResult {
    datasets: Vec<Dataset>,
    problems: Problems,
    end: Option<Result<SerializedCatalog, SerializedError>>,
}

impl CatalogResult {
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        match piece.split_first() {
            Some((&DATASET_TAG, json)) => {
                self.add(serde_json::from_slice::<SerializedDataset>(json)?.into())
            }
            Some((&CATALOG_TAG, json)) => self.end = Some(Ok(serde_json::from_slice(json)?)),
            Some((&ERROR_TAG, json)) => self.end = Some(Err(serde_json::from_slice(json)?)),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        Ok(())
    }

    /// Adds a dataset without the statements that no RDF syntax can write.
    fn add(&mut self, mut dataset: Dataset) {
        let all = dataset.extra_statements.len();
        dataset.extra_statements.retain(Statement::is_writable);
        let left_out = all - dataset.extra_statements.len();
        if left_out > 0 {
            let id = &dataset.metadata.id;
            self.problems
                .push(format!("dataset {id}: {left_out} statements with invalid IRIs or language tags were left out"));
        }
        self.datasets.push(dataset);
    }

    /// Returns the catalogue or the error; `None` if the result is incomplete.
    fn finish(self) -> Option<Result<Catalog, CatalogError>> {
        Some(match self.end? {
            Ok(catalog) => {
                let mut catalog = catalog.into_catalog(self.datasets);
                catalog.problems.extend(self.problems);
                Ok(catalog)
            }
            Err(error) => Err(error.into()),
        })
    }
}

/// Returns the problem of the first file of a dataset that could not be read at all.
pub(crate) fn unreadable_file(files: &[FileReport]) -> Option<String> {
    let file = files
        .iter()
        .find(|file| file.outcome == Outcome::Unreadable)?;
    Some(format!("{}: {}", file.file, file.problems.first()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::DatasetId;

    /// Two datasets of a batch may have files with the same name.
    #[test]
    fn a_failed_reader_concerns_its_own_dataset_only() {
        let report = |id: &str, reader_failed: bool| {
            let files = vec![FileReport {
                reader_failed,
                ..FileReport::unreadable("data.nt", "a reason")
            }];
            DatasetReport::new(DatasetId::new(id).expect("an id"), "", 1, files)
        };
        assert_eq!(
            store_outcome(&report("oaks", true)),
            StoreOutcome::Incomplete
        );
        assert_eq!(store_outcome(&report("elms", false)), StoreOutcome::Stored);
    }
}
