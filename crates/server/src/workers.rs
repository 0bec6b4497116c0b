//! Worker processes of the server: one pool evaluates SPARQL queries, one parses examples of visitors, others parse catalogues
//! and dumps.

use crate::api::ExampleParser;
use lodeseek_changes::{FileParser, Parser, WorkerOptions, WorkerRole, pool_options};
use lodeseek_engine::worker_services;
use lodeseek_sparql::QueryWorker;
use lodeseek_worker::{Limits, Pool, WorkerError, serve};
use std::io;
use std::path::Path;

/// The pools of a server.
#[derive(Clone, Debug)]
pub struct Workers {
    pub(crate) queries: Pool,
    pub(crate) examples: Pool,
    pub(crate) parser: Parser,
}

impl Workers {
    /// Starts the worker processes of a home, and logs the protections that this system lacks.
    ///
    /// # Errors
    /// If a worker process cannot be started.
    pub fn start(home: &Path, options: &WorkerOptions) -> Result<Self, WorkerError> {
        let queries = Pool::start(pool_options(home, WorkerRole::Queries, options))?;
        let examples = Pool::start(pool_options(home, WorkerRole::Examples, options))?;
        for missing in queries.missing_protections() {
            tracing::warn!("worker processes lack a protection: {missing}");
        }
        Ok(Self {
            queries,
            examples,
            parser: Parser::in_workers(home, options),
        })
    }
}

/// Runs this process as a worker until its standard input ends. `limits` is the last argument of the command line.
///
/// # Errors
/// If the limits cannot be set, or if the parent process breaks the protocol.
pub fn run_worker(role: WorkerRole, home: &Path, limits: &str) -> io::Result<()> {
    let limits: Limits = serde_json::from_str(limits)?;
    match role {
        WorkerRole::Queries => serve(&limits, QueryWorker::new(home.to_owned(), worker_services)),
        WorkerRole::Examples => serve(&limits, ExampleParser),
        WorkerRole::Files => serve(&limits, FileParser),
    }
}
