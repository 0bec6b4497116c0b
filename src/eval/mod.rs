//! Judging rankings, as trec_eval does. Pure: topics, judgements and rankings in, numbers out.

mod folds;
mod metrics;
mod qrels;
mod run;
mod topics;

pub use folds::{Fold, Folds};
pub use metrics::{Metric, ParseMetricError, mean};
pub use qrels::Qrels;
pub use run::Run;
pub use topics::{Topic, Topics};

use std::path::PathBuf;

/// A file that cannot be read as it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The file cannot be read.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A line is not of the form asked for.
    #[error("{path}:{line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        reason: String,
    },
}
