//! Worker processes: their options, and the limits of each role.

use crate::parsing::Parser;
use crate::uploads::UPLOADS_FOLDER;
use lodeseek_worker::{Limits, PoolOptions};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Maximum number of workers of a pool that wait for tasks for longer than [`MAX_IDLE_TIME`].
const MAX_IDLE_WORKERS: usize = 2;
const MAX_IDLE_TIME: Duration = Duration::from_secs(30);
/// Number of tasks after which a worker is replaced.
const MAX_TASKS_OF_WORKER: usize = 1_000;

/// Options of the worker processes.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Program that calls `run_worker` of the server after the arguments `arguments`, the name of a [`WorkerRole`], and the limits.
    pub program: PathBuf,
    /// First arguments of the program.
    pub arguments: Vec<OsString>,
    /// Memory of a query, and of parsing a file, in megabytes.
    pub memory_megabytes: u64,
}

/// Work of a worker process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerRole {
    /// Evaluates SPARQL queries. It can read the home.
    Queries,
    /// Parses examples of visitors. It can read no files.
    Examples,
    /// Parses catalogues and dumps. It can read their folders.
    Files,
}

impl WorkerRole {
    fn name(self) -> &'static str {
        match self {
            Self::Queries => "queries",
            Self::Examples => "examples",
            Self::Files => "files",
        }
    }
}

impl FromStr for WorkerRole {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let roles = [Self::Queries, Self::Examples, Self::Files];
        roles
            .into_iter()
            .find(|role| role.name() == name)
            .ok_or_else(|| format!("{name} is no role: queries, examples, files"))
    }
}

impl Parser {
    /// Creates a parser in worker processes: of harvested and uploaded files of a home, and of other files of this machine. The
    /// first file starts the first process.
    #[must_use]
    pub fn in_workers(home: &Path, options: &WorkerOptions) -> Self {
        let folders = vec![home.join("harvest"), home.join(UPLOADS_FOLDER)];
        Self::with_workers(pool_options(home, WorkerRole::Files, options), folders)
    }
}

/// Returns the options of the pool of a role.
#[must_use]
pub fn pool_options(home: &Path, role: WorkerRole, options: &WorkerOptions) -> PoolOptions {
    let mut arguments = options.arguments.clone();
    arguments.push(role.name().into());
    let (open_files, stack_megabytes, readable) = match role {
        // RocksDB keeps its files open. The parser of queries recurses.
        WorkerRole::Queries => (4096, 256, vec![home.to_owned()]),
        WorkerRole::Examples => (32, 64, Vec::new()),
        // Readers of nested formats recurse. The folders follow when a pool is started.
        WorkerRole::Files => (64, 256, Vec::new()),
    };
    let limits = Limits {
        memory_megabytes: options.memory_megabytes,
        open_files,
        stack_megabytes,
        readable,
        writable: Vec::new(),
        file_bytes: 0,
    };
    let program = options.program.clone();
    PoolOptions {
        program,
        arguments,
        limits,
        idle: MAX_IDLE_WORKERS,
        idle_time: MAX_IDLE_TIME,
        tasks: MAX_TASKS_OF_WORKER,
    }
}
