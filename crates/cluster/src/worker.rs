//! The worker: fetches the files of tasks, has them derived in a worker process, encodes texts, and stores the results.
//!
//! The process that reads untrusted files has no network, no credentials and no files but those of its task. It writes in one
//! folder, whose files this process does not open. This process handles storage, downloads and models. Credentials of the storage
//! are not sent to hosts of the web, because downloads have another client.

use crate::derivation::{Answer, Derivation, DerivationTask, peak_bytes};
use crate::record::{RecordBuilder, RecordHeader};
use crate::task::{TABLE, Task, TaskSource};
use crate::{ClusterError, TaskResult, TaskStatus, result};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use lodeseek_engine::{AnalysisKind, encode_dataset};
use lodeseek_harvest::{Download, Downloader, is_address};
use lodeseek_index::IndexDocument;
use lodeseek_index::vectors::Precision;
use lodeseek_rerank::Encoder;
use lodeseek_snapshot::{Fetched, RemoteFiles, RemoteSnapshots, SnapshotError};
use lodeseek_store::{SourceFile, SourcePlace, version_paths};
use lodeseek_worker::{Limits, Pool, PoolOptions, Task as PoolTask, WorkerError};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Number of tasks after which a worker process is replaced.
const MAX_TASKS_PER_PROCESS: usize = 1_000;
/// Maximum number of open files of a worker process. A graph that exceeds memory is merged from three files for each 128 MiB.
const MAX_OPEN_FILES: u64 = 4096;
/// Maximum size in bytes of a file that a worker process writes, such as a graph file.
const MAX_FILE_BYTES: u64 = 64 << 30;
/// Maximum stack of a worker process in megabytes. Readers of nested formats recurse.
const MAX_STACK_MEGABYTES: u64 = 256;

/// Options of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Program that calls [`run_derivation_worker`](crate::run_derivation_worker) after the arguments `arguments` and the limits.
    pub program: PathBuf,
    /// First arguments of the program.
    pub arguments: Vec<OsString>,
    /// Folder for the files of a task. The worker makes a folder in it, and deletes it at the end.
    pub scratch: PathBuf,
    /// Memory of the derivation of one dataset, in megabytes.
    pub memory_megabytes: u64,
    /// Time of the derivation of one dataset.
    pub time: Duration,
    /// Text analysis of the index.
    pub analysis: AnalysisKind,
    /// Number format of vectors.
    pub precision: Precision,
    /// Size of the compact form in bytes above which a graph is not held in memory: that of the home,
    /// [`MAX_COMPACT_BYTES`](lodeseek_rdf::MAX_COMPACT_BYTES). For tests of large graphs.
    pub graph_limit: usize,
}

/// A worker.
pub struct Worker<'d> {
    options: WorkerOptions,
    remote: RemoteSnapshots,
    files: RemoteFiles,
    downloader: Downloader<'d>,
    encoders: Vec<Box<dyn Encoder>>,
    pool: Pool,
    folder: TempDir,
    /// Folder in which the worker process may write.
    process_folder: PathBuf,
    status: Option<Mutex<File>>,
}

impl<'d> Worker<'d> {
    /// Starts a worker that stores results at `remote`, and fetches files by `files`, those of the web by `downloader`. Its scratch
    /// folder must be on the file system of [`WorkerOptions::scratch`].
    ///
    /// # Errors
    /// If the worker process cannot be started, or the scratch folder not written.
    pub fn start(
        options: WorkerOptions,
        remote: RemoteSnapshots,
        files: RemoteFiles,
        downloader: Downloader<'d>,
        encoders: Vec<Box<dyn Encoder>>,
    ) -> Result<Self, ClusterError> {
        let folder =
            tempfile::tempdir_in(&options.scratch).map_err(ClusterError::io(&options.scratch))?;
        let process_folder = folder.path().join("process");
        fs::create_dir(&process_folder).map_err(ClusterError::io(&process_folder))?;
        let limits = Limits {
            memory_megabytes: options.memory_megabytes,
            open_files: MAX_OPEN_FILES,
            stack_megabytes: MAX_STACK_MEGABYTES,
            readable: vec![folder.path().to_owned()],
            writable: vec![process_folder.clone()],
            file_bytes: MAX_FILE_BYTES,
        };
        let pool = Pool::start(PoolOptions {
            program: options.program.clone(),
            arguments: options.arguments.clone(),
            limits,
            idle: 1,
            idle_time: Duration::from_secs(60),
            tasks: MAX_TASKS_PER_PROCESS,
        })?;
        let status = File::open("/proc/self/status").ok().map(Mutex::new);
        Ok(Self {
            options,
            remote,
            files,
            downloader,
            encoders,
            pool,
            folder,
            process_folder,
            status,
        })
    }

    /// Returns the protections that this system lacks.
    #[must_use]
    pub fn missing_protections(&self) -> &[String] {
        self.pool.missing_protections()
    }

    /// Reads tasks as an Arrow stream, and writes the result of each as soon as it is known.
    ///
    /// # Errors
    /// If a stream cannot be read or written, or the storage fails. A dataset that cannot be derived is no error.
    pub fn serve(&mut self, input: impl Read, output: impl Write) -> Result<(), ClusterError> {
        let reader = StreamReader::try_new(input, None).map_err(ClusterError::arrow(TABLE))?;
        let failed = ClusterError::arrow(result::TABLE);
        let mut writer = StreamWriter::try_new(output, &TaskResult::schema()).map_err(&failed)?;
        for batch in reader {
            for task in Task::from_batch(&batch.map_err(ClusterError::arrow(TABLE))?)? {
                writer
                    .write(&self.run(&task)?.to_batch()?)
                    .map_err(&failed)?;
                writer.flush().map_err(&failed)?;
            }
        }
        writer.finish().map_err(&failed)
    }

    /// Runs a task.
    ///
    /// # Errors
    /// If the storage fails, or a worker process cannot be started.
    pub fn run(&mut self, task: &Task) -> Result<TaskResult, ClusterError> {
        let started = Instant::now();
        let folder = tempfile::tempdir_in(self.folder.path())
            .map_err(ClusterError::io(self.folder.path()))?;
        let mut result = match self.derive(task, folder.path())? {
            Ok((derivation, contents)) => self.store(task, derivation, &contents, folder.path())?,
            Err(reason) => TaskResult::failed(task, reason),
        };
        result.seconds = started.elapsed().as_secs_f64();
        let own = self
            .status
            .as_ref()
            .and_then(|status| peak_bytes(status).ok());
        result.peak_bytes += own.unwrap_or_default();
        Ok(result)
    }

    /// Derives a dataset in the worker process. Returns the paths of its contents, or the reason of a failure.
    fn derive(
        &mut self,
        task: &Task,
        folder: &Path,
    ) -> Result<Result<(Derivation, Contents), String>, ClusterError> {
        let sources = match self.fetch_sources(task, folder) {
            // An address that is not valid is a fault of this dataset, not of the storage.
            Err(ClusterError::Storage(SnapshotError::Location(error))) => {
                return Ok(Err(error.to_string()));
            }
            sources => sources?,
        };
        let scratch = tempfile::tempdir_in(&self.process_folder)
            .map_err(ClusterError::io(&self.process_folder))?;
        let derivation_task = DerivationTask {
            id: task.id.clone(),
            base: task.base.clone(),
            planned: task.planned.clone(),
            description: task.description.clone(),
            sources,
            analysis: self.options.analysis,
            scratch: scratch.path().to_owned(),
            graph_limit: self.options.graph_limit,
        };
        let json = serde_json::to_vec(&derivation_task)
            .map_err(|error| ClusterError::row(TABLE, &task.id, error))?;
        let limits = OutputLimits {
            graph_bytes: MAX_FILE_BYTES,
            other_bytes: self.options.memory_megabytes.saturating_mul(1 << 20),
        };
        let mut output = Output::new(folder, limits);
        let run = PoolTask {
            task: &json,
            input: &[],
            time: self.options.time,
            is_cancelled: &|| false,
            answer: None,
        };
        let done = self.pool.run(&run, &mut |piece| match output.take(&piece) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                output.error = Some(error);
                ControlFlow::Break(())
            }
        });
        if let Some(error) = output.error {
            return Err(error);
        }
        match done {
            Ok(()) => Ok(output.finish().and_then(|derived| {
                // The worker process parsed untrusted files: its result may name nothing but its own task.
                let Derivation {
                    version, report, ..
                } = &derived.0;
                if report.id.as_str() != task.id || version_paths(Path::new(""), version).is_none()
                {
                    return Err("the worker process returned a result that is not valid".to_owned());
                }
                Ok(derived)
            })),
            // Without a process, every task would fail. All other errors concern this dataset only.
            Err(error @ WorkerError::Start(_)) => Err(error.into()),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// Copies the files of a task into a folder. A file that is missing or has another content is not read.
    ///
    /// # Errors
    /// If an address is not valid, or the storage fails.
    fn fetch_sources(
        &mut self,
        task: &Task,
        folder: &Path,
    ) -> Result<Vec<SourceFile>, ClusterError> {
        let mut sources = Vec::with_capacity(task.sources.len());
        for (number, source) in task.sources.iter().enumerate() {
            let TaskSource {
                name,
                media_type,
                base,
                url,
                sha256,
                refused,
                unreadable,
                ..
            } = source;
            let path = folder.join(format!("source-{number}"));
            let place = match (url, refused, unreadable) {
                // The content may have changed since the plan.
                (Some(url), _, _) => match (self.fetch(url, &path)?, sha256) {
                    (Ok(found), Some(expected)) if found != *expected => SourcePlace::Unreadable(
                        format!("the SHA-256 of {url} is {found}, not {expected}"),
                    ),
                    (Ok(_), _) => SourcePlace::File(path),
                    (Err(reason), _) => SourcePlace::Unreadable(reason),
                },
                (None, Some(reason), _) => SourcePlace::Refused(reason.clone()),
                (None, None, reason) => SourcePlace::Unreadable(
                    reason
                        .clone()
                        .unwrap_or_else(|| "the task has no address".to_owned()),
                ),
            };
            sources.push(SourceFile {
                name: name.clone(),
                media_type: media_type.clone(),
                base: base.clone(),
                place,
            });
        }
        Ok(sources)
    }

    /// Copies a file to a path. Returns its SHA-256, or the reason why it is missing.
    fn fetch(&mut self, url: &str, path: &Path) -> Result<Result<String, String>, ClusterError> {
        if is_address(url) {
            return Ok(match self.downloader.download(url, path)? {
                Download::Downloaded { sha256, .. } => Ok(sha256),
                Download::Failed(reason) => Err(reason),
            });
        }
        Ok(match self.files.fetch(url, path)? {
            Fetched::Copied(copied) => Ok(copied.sha256),
            Fetched::Missing => Err(format!("{url} is missing")),
        })
    }

    /// Encodes the texts of a derived dataset, and stores everything.
    fn store(
        &self,
        task: &Task,
        derivation: Derivation,
        contents: &Contents,
        folder: &Path,
    ) -> Result<TaskResult, ClusterError> {
        let [
            graph,
            counts,
            fingerprint,
            sample,
            labels,
            document,
            profile,
            snippet,
        ] = contents.each_ref();
        let objects = [
            self.remote.store_file(graph)?,
            self.remote.store_file(counts)?,
            self.remote.store_file(fingerprint)?,
        ];
        let Derivation {
            version,
            lacks_content,
            report,
            sizes,
            ..
        } = derivation;
        let [_, _, _, sample_bytes, labels_bytes, ..] = sizes;
        let sample = if sample_bytes > 0 {
            Some(self.remote.store_file(sample)?)
        } else {
            None
        };
        let labels = if labels_bytes > 0 {
            Some(self.remote.store_file(labels)?)
        } else {
            None
        };
        let (triples, skipped) = (report.triples, report.skipped);
        let problem = report
            .files
            .iter()
            .find_map(|file| Some(format!("{}: {}", file.file, file.problems.first()?)));
        let header = RecordHeader {
            id: task.id.clone(),
            base: task.base.clone(),
            analysis: self.options.analysis,
            version,
            lacks_content,
            report,
            objects: objects.clone(),
            sample: sample.clone(),
            labels: labels.clone(),
        };
        let document = read_file(document)?;
        let started = Instant::now();
        let encoded = match self.encode(&task.id, &document) {
            Ok(encoded) => encoded,
            Err(error) => return Ok(TaskResult::failed(task, error)),
        };
        let encoding_seconds = started.elapsed().as_secs_f64();
        let mut record = RecordBuilder::new(
            &header,
            &task.description,
            [document, read_file(profile)?, read_file(snippet)?],
        )?;
        for encoded in &encoded {
            record.add_vectors(&task.id, encoded)?;
        }
        let path = folder.join("record");
        record.write(&path)?;
        let record = self.remote.store_file(&path)?;
        Ok(TaskResult {
            position: task.position,
            id: task.id.clone(),
            base: task.base.clone(),
            status: TaskStatus::Derived,
            reason: problem,
            triples,
            skipped,
            fingerprint: derivation.fingerprint,
            graph: Some(objects[0].sha256.clone()),
            stored_bytes: record.bytes
                + objects
                    .iter()
                    .chain(&sample)
                    .chain(&labels)
                    .map(|object| object.bytes)
                    .sum::<u64>(),
            record: Some(record),
            seconds: 0.0,
            encoding_seconds,
            peak_bytes: derivation.peak_bytes,
        })
    }

    fn encode(
        &self,
        id: &str,
        document: &[u8],
    ) -> Result<Vec<lodeseek_engine::EncodedDataset>, ClusterError> {
        if self.encoders.is_empty() {
            return Ok(Vec::new());
        }
        let document: IndexDocument = serde_json::from_slice(document)
            .map_err(|error| ClusterError::row(TABLE, id, error))?;
        let mut encoded = Vec::with_capacity(self.encoders.len());
        for encoder in &self.encoders {
            encoded.push(encode_dataset(
                encoder.as_ref(),
                self.options.precision,
                &document.compact,
            )?);
        }
        Ok(encoded)
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, ClusterError> {
    fs::read(path).map_err(ClusterError::io(path))
}

/// Paths of the contents of a derivation, in the order of [`Derivation::sizes`].
pub(crate) type Contents = [PathBuf; 8];

/// Maximum sizes of the contents of a derivation in bytes.
#[derive(Clone, Copy)]
pub(crate) struct OutputLimits {
    /// Size of the graph file, which may exceed memory.
    pub(crate) graph_bytes: u64,
    /// Total size of the other contents, which the process had in memory.
    pub(crate) other_bytes: u64,
}

impl OutputLimits {
    fn allow(self, sizes: [u64; 8]) -> bool {
        let [graph, others @ ..] = sizes;
        let total = others
            .iter()
            .fold(0_u64, |sum, size| sum.saturating_add(*size));
        graph <= self.graph_bytes && total <= self.other_bytes
    }
}

/// The output of a worker process, which is written to files as it comes.
pub(crate) struct Output {
    paths: Contents,
    answer: Option<Answer>,
    /// The content that is written: its place, its file, and the number of missing bytes.
    current: Option<(usize, File, u64)>,
    limits: OutputLimits,
    error: Option<ClusterError>,
}

impl Output {
    pub(crate) fn new(folder: &Path, limits: OutputLimits) -> Self {
        let names = [
            "graph",
            "counts",
            "fingerprint",
            "sample",
            "labels",
            "document",
            "profile",
            "snippet",
        ];
        Self {
            paths: names.map(|name| folder.join(name)),
            answer: None,
            current: None,
            limits,
            error: None,
        }
    }

    /// Takes a piece: the answer, or a part of the contents.
    pub(crate) fn take(&mut self, mut piece: &[u8]) -> Result<(), ClusterError> {
        if self.answer.is_none() {
            let mut answer = serde_json::from_slice(piece).unwrap_or_else(|error| {
                Answer::Failed(format!(
                    "the worker process returned a result that is not valid: {error}"
                ))
            });
            // Before a byte is written: the process is not trusted, and could fill the disk.
            if let Answer::Derived(derivation) = &answer
                && !self.limits.allow(derivation.sizes)
            {
                answer = Answer::Failed(
                    "the worker process announced a result larger than its limits".to_owned(),
                );
            }
            self.answer = Some(answer);
            return self.open(0);
        }
        // Without a current content, the rest of a result that failed is ignored.
        // A piece may end one content and begin others, also empty ones.
        while let Some((place, file, missing)) = &mut self.current {
            let length = usize::try_from(*missing)
                .unwrap_or(usize::MAX)
                .min(piece.len());
            let (now, rest) = piece.split_at(length);
            file.write_all(now)
                .map_err(ClusterError::io(&self.paths[*place]))?;
            *missing -= length as u64;
            piece = rest;
            if *missing > 0 {
                return Ok(());
            }
            let next = *place + 1;
            self.open(next)?;
        }
        Ok(())
    }

    /// Opens the file of a content.
    fn open(&mut self, place: usize) -> Result<(), ClusterError> {
        self.current = match (&self.answer, self.paths.get(place)) {
            (Some(Answer::Derived(derivation)), Some(path)) => {
                let file = File::create(path).map_err(ClusterError::io(path))?;
                Some((place, file, derivation.sizes[place]))
            }
            _ => None,
        };
        Ok(())
    }

    /// Returns the derivation, or the reason of a failure.
    pub(crate) fn finish(self) -> Result<(Derivation, Contents), String> {
        match (self.answer, self.current) {
            // Only a result whose last content is complete.
            (Some(Answer::Derived(derivation)), None) => Ok((*derivation, self.paths)),
            (Some(Answer::Failed(reason)), _) => Err(reason),
            _ => Err("the worker process sent an incomplete result".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(answer: &str, graph_bytes: u64, other_bytes: u64) -> Result<[u64; 8], String> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut output = Output::new(
            folder.path(),
            OutputLimits {
                graph_bytes,
                other_bytes,
            },
        );
        for piece in [answer, "abc", "def"] {
            output.take(piece.as_bytes()).expect("taken");
        }
        let (_, paths) = output.finish()?;
        Ok(paths.map(|path| fs::metadata(path).expect("a file").len()))
    }

    #[test]
    fn results_of_the_process_are_bounded() {
        let derived = r#"{"derived":{"version":"0","fingerprint":null,"lacks_content":false,"peak_bytes":0,"sizes":[1,1,1,0,0,1,1,1],
            "report":{"id":"a","title":"","outcome":"loaded","triples":0,"read":0,"skipped":0,"files":[]}}}"#;
        assert_eq!(finished(derived, 1, 5), Ok([1, 1, 1, 0, 0, 1, 1, 1]));
        let is_too_large = |outcome: Result<_, String>| {
            outcome.is_err_and(|reason| reason.contains("larger than its limits"))
        };
        assert!(is_too_large(finished(derived, 1, 4)));
        assert!(is_too_large(finished(derived, 0, 5)));
        let huge = derived.replace("[1,1,", "[1,18446744073709551615,");
        assert!(is_too_large(finished(&huge, 1, u64::MAX - 1)));
        let other = derived.replace(r#""id":"a""#, r#""id":"a b""#);
        assert!(finished(&other, 1, 5).is_err_and(|reason| reason.contains("invalid dataset id")));
    }
}
