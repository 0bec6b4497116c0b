#![doc = include_str!("../README.md")]

mod average;
mod coordinate;
mod folds;
mod lines;
mod metrics;
mod provenance;
mod qrels;
mod datafinder;
mod run;
mod significance;
mod topic_sampling;
mod topics;

pub use average::{Average, TopicValues, compare};
pub use coordinate::{CoordinateSearch, Optimum, Progress, Start};
pub use datafinder::{QueryForm, QueryPart, ResearchTopic, match_judgements, topic_id};
pub use folds::{Fold, Folds, FoldsMismatch};
pub use metrics::{Gain, Grades, Measure, Metric, MinimumGrade, ParseMetricError, mean};
pub use provenance::{Input, Provenance, digest};
pub use qrels::Qrels;
pub use run::{Run, ScorePrecision};
pub use significance::{Comparison, Correction, Differences, Resampling, SignificanceTest, holm};
pub use topic_sampling::{SamplingMethod, TopicSamples};
pub use topics::{Topic, Topics};

use std::io;
use std::path::{Path, PathBuf};

/// Error of reading an evaluation file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// Input or output error.
    #[error("{path}: {cause}")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the error.
        cause: io::Error,
    },
    /// Missing folder.
    #[error("the folder {0} does not exist")]
    NoFolder(PathBuf),
    /// Malformed line.
    #[error("{path}:{line}: {reason}")]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Line number, starting at 1.
        line: usize,
        /// Cause of the error.
        reason: String,
    },
    /// File without entries.
    #[error("{path}: the file contains no {what}")]
    Empty {
        /// Path of the file.
        path: PathBuf,
        /// Name of the missing entries, in the plural.
        what: &'static str,
    },
}

impl EvalError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }
}

#[cfg(test)]
mod tests;
