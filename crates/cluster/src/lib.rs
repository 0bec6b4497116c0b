#![doc = include_str!("../README.md")]

mod assembly;
mod columns;
mod derivation;
#[cfg(fuzzing)]
pub mod fuzzing;
mod plan;
mod record;
mod result;
mod task;
mod worker;

pub use assembly::{Assembly, AssemblyTarget, read_results};
pub use derivation::{DERIVATION_ROLE, run_derivation_worker};
pub use plan::{Plan, PlanOptions};
pub use result::{TaskResult, TaskStatus};
pub use task::{Task, TaskSource};
pub use worker::{Worker, WorkerOptions};

use arrow_schema::ArrowError;
use lodeseek_catalog::{InvalidBase, InvalidDatasetId};
use lodeseek_engine::{AnalysisKind, EngineError};
use lodeseek_harvest::HarvestError;
use lodeseek_index::vectors::Precision;
use lodeseek_rdf::WriteError;
use lodeseek_snapshot::SnapshotError;
use lodeseek_store::StoreError;
use lodeseek_worker::WorkerError;
use std::io;
use std::path::{Path, PathBuf};

/// Error of a plan, a worker or an assembly. What is wrong with one dataset is in its result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] SnapshotError),
    /// A file of the web cannot be written.
    #[error(transparent)]
    Download(#[from] HarvestError),
    /// A worker process cannot be started.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A table cannot be read or written.
    #[error("cannot read or write the Arrow table of {table}: {cause}")]
    Arrow {
        /// Content of the table.
        table: &'static str,
        /// The cause.
        cause: ArrowError,
    },
    /// A table lacks a column, or has one of another type.
    #[error("the Arrow table of {table} has no column {column} of {expected}")]
    Column {
        /// Content of the table.
        table: &'static str,
        /// Name of the column.
        column: &'static str,
        /// Expected type.
        expected: &'static str,
    },
    /// A row of a table is not valid.
    #[error("the Arrow table of {table}: row of {id}: {reason}")]
    Row {
        /// Content of the table.
        table: &'static str,
        /// Id of the dataset.
        id: String,
        /// The fault.
        reason: String,
    },
    /// The base of a task cannot be used.
    #[error(transparent)]
    Base(#[from] InvalidBase),
    /// An id of a task cannot be used.
    #[error(transparent)]
    Id(#[from] InvalidDatasetId),
    /// A description cannot be serialized.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The tasks were planned for another base.
    #[error(
        "{id} was derived for the base {derived}, but the base of the home is {home}; plan again with --base {home}"
    )]
    OtherBase {
        /// Id of the dataset.
        id: String,
        /// Base of its task.
        derived: String,
        /// Base of the home.
        home: String,
    },
    /// The workers used another text analysis.
    #[error(
        "{id} was derived with the text analysis {derived}, but the home has {home}; run `lodeseek cluster work` with --analysis {home}, \
         or set `analysis = \"{derived}\"` in lodeseek.toml"
    )]
    OtherAnalysis {
        /// Id of the dataset.
        id: String,
        /// Analysis of the worker.
        derived: AnalysisKind,
        /// Analysis of the home.
        home: AnalysisKind,
    },
    /// The workers stored vectors in another number format.
    #[error(
        "{id} has vectors of {derived}, but the home has vectors of {home}; run `lodeseek cluster work` with --vectors {home}, or \
         `lodeseek cluster assemble` with --vectors {derived}"
    )]
    OtherPrecision {
        /// Id of the dataset.
        id: String,
        /// Number format of the worker.
        derived: Precision,
        /// Number format of the home.
        home: Precision,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
}

impl ClusterError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }

    fn arrow(table: &'static str) -> impl Fn(ArrowError) -> Self {
        move |cause| Self::Arrow { table, cause }
    }

    fn row(table: &'static str, id: &str, reason: impl ToString) -> Self {
        Self::Row {
            table,
            id: id.to_owned(),
            reason: reason.to_string(),
        }
    }
}
