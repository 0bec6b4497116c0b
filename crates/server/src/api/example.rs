//! Parsing of examples that visitors send, in a worker process if there are any.
//!
//! An example is parsed like a dump: broken statements are skipped and reported. Only what is compared leaves the parser: features and
//! texts of bounded number.

use crate::error::ApiError;
use axum::body::Bytes;
use axum::http::StatusCode;
use lodeseek_engine::ExampleGraph;
use lodeseek_rdf::dump::{DumpReader, FileReport, Limits, Outcome};
use lodeseek_rdf::{TripleGraphBuilder, TripleSink};
use lodeseek_worker::{Handler, Pool, Task, TaskContext, WorkerError};
use oxrdf::TripleRef;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum size of an uncompressed example in bytes.
const MAX_UNPACKED_BYTES: u64 = 64 << 20;
/// Maximum number of triples of an example that are compared.
const MAX_EXAMPLE_TRIPLES: usize = 500_000;
/// Time limit for parsing an example. What was parsed by then is compared.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which a worker that parses an example is ended.
const WORKER_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of reported problems of an example.
const MAX_PROBLEMS: usize = 20;

/// Description of an example, without its bytes.
#[derive(Serialize, Deserialize)]
pub(super) struct ExampleSource {
    /// File name, or a description of its origin.
    pub(super) name: String,
    /// Declared media type.
    pub(super) media_type: Option<String>,
    /// Base of relative IRIs.
    pub(super) base: String,
    /// If true, the texts of the example are compared.
    pub(super) has_texts: bool,
}

/// A parsed example.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ParsedExample {
    pub(super) example: ExampleGraph,
    /// Skipped statements with their lines, and limits that were reached.
    pub(super) problems: Vec<String>,
}

/// Outcome of parsing: the example, or the reason for which it cannot be compared.
type Outcomes = Result<ParsedExample, String>;

impl ExampleSource {
    /// Parses an example in a worker, or in this process if there are no workers.
    pub(super) fn parse(
        &self,
        bytes: &Bytes,
        workers: Option<&Pool>,
        is_gone: &AtomicBool,
    ) -> Result<ParsedExample, ApiError> {
        let outcome = match workers {
            Some(pool) => self.parse_in_worker(bytes, pool, is_gone)?,
            None => self.parse_here(&bytes[..]),
        };
        outcome.map_err(ApiError::bad_request)
    }

    fn parse_in_worker(
        &self,
        bytes: &[u8],
        pool: &Pool,
        is_gone: &AtomicBool,
    ) -> Result<Outcomes, ApiError> {
        let task = serde_json::to_vec(self).map_err(|error| ApiError::internal(&error))?;
        let task = Task {
            task: &task,
            input: bytes,
            time: WORKER_TIMEOUT,
            is_cancelled: &|| is_gone.load(Ordering::Relaxed),
            answer: None,
        };
        let mut result = Vec::new();
        let run = pool.run(&task, &mut |piece| {
            result = piece;
            ControlFlow::Continue(())
        });
        run.map_err(|error| self.worker_error(&error))?;
        serde_json::from_slice(&result).map_err(|error| ApiError::internal(&error))
    }

    fn worker_error(&self, error: &WorkerError) -> ApiError {
        let name = &self.name;
        match error {
            WorkerError::Memory(megabytes) => ApiError::with_status(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "{name} needs more than {megabytes} MB of memory to parse; send a part of it"
                ),
            ),
            WorkerError::Time(time) => ApiError::with_status(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!(
                    "{name} needs more than {} s to parse; send a part of it",
                    time.as_secs()
                ),
            ),
            error => {
                tracing::warn!(%error, "an example could not be parsed");
                let message = format!(
                    "the process that parsed {name} ended; send a part of it, or N-Triples"
                );
                ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, message)
            }
        }
    }

    fn parse_here(&self, bytes: impl Read) -> Outcomes {
        let limits = Limits {
            decompressed_bytes: MAX_UNPACKED_BYTES,
            json_memory: 512 << 20,
            ..Limits::default()
        };
        let dump_reader = DumpReader::with_limits(limits);
        let dump_reader = match &self.media_type {
            Some(media_type) => dump_reader.with_media_type(media_type),
            None => dump_reader,
        };
        let mut graph = BoundedGraph {
            builder: TripleGraphBuilder::new(),
            over: false,
        };
        let reader = TimeLimitedReader {
            reader: bytes,
            until: Instant::now() + READ_TIMEOUT,
        };
        let reports = dump_reader.read(reader, &self.name, &self.base, &mut graph);
        let mut problems = list_problems(&reports);
        if graph.over {
            problems.push(format!(
                "only the first {MAX_EXAMPLE_TRIPLES} triples were compared"
            ));
        }
        if graph.builder.is_empty() {
            let why = if problems.is_empty() {
                "it contains no triple".to_owned()
            } else {
                problems.join("\n")
            };
            return Err(format!("{} cannot be compared:\n{why}", self.name));
        }
        let graph = graph.builder.finish();
        let example = ExampleGraph::new(&graph);
        let example = if self.has_texts {
            example.with_texts(&graph)
        } else {
            example
        };
        Ok(ParsedExample { example, problems })
    }
}

/// The worker's side.
pub(crate) struct ExampleParser;

impl Handler for ExampleParser {
    fn handle(&self, task: &[u8], context: &TaskContext) -> io::Result<()> {
        let source: ExampleSource = serde_json::from_slice(task)?;
        context.send(&serde_json::to_vec(&source.parse_here(context.input()))?)
    }
}

fn list_problems(reports: &[FileReport]) -> Vec<String> {
    let listed = reports.iter().flat_map(|report| &report.problems);
    let mut problems: Vec<String> = listed
        .clone()
        .take(MAX_PROBLEMS)
        .map(ToString::to_string)
        .collect();
    let unlisted: u64 = reports.iter().map(|report| report.unlisted_problems).sum();
    let more = listed.count().saturating_sub(MAX_PROBLEMS) as u64 + unlisted;
    if more > 0 {
        problems.push(format!("and {more} more problems"));
    }
    if problems.is_empty()
        && reports
            .iter()
            .any(|report| report.outcome != Outcome::Complete)
    {
        problems.push("not all of it could be read".to_owned());
    }
    problems
}

/// Graph of at most [`MAX_EXAMPLE_TRIPLES`] triples.
struct BoundedGraph {
    builder: TripleGraphBuilder,
    over: bool,
}

impl TripleSink for BoundedGraph {
    fn start_file(&mut self) {
        self.builder.start_file();
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        match self.builder.len() < MAX_EXAMPLE_TRIPLES {
            true => self.builder.insert(triple),
            false => self.over = true,
        }
    }
}

/// Reader that fails at a point in time.
struct TimeLimitedReader<R> {
    reader: R,
    until: Instant,
}

impl<R: Read> Read for TimeLimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() > self.until {
            return Err(io::Error::other(format!(
                "parsing took more than {} s",
                READ_TIMEOUT.as_secs()
            )));
        }
        // In small chunks, so that the time for each is bounded, too.
        let most = buffer.len().min(1 << 16);
        self.reader.read(&mut buffer[..most])
    }
}
