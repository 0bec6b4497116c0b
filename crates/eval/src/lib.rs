//! Judging rankings, as trec_eval does. Pure: topics, judgements and rankings in, numbers out.
//!
//! A [`Run`] and [`Qrels`] become [`TopicValues`], one value a topic for every [`Metric`]; those are averaged
//! ([`Average`]) and compared ([`compare`]) between runs.

mod average;
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
pub use datafinder::{QueryForm, QueryPart, ResearchTopic, match_judgements, topic_id};
pub use folds::{Fold, Folds, FoldsMismatch};
pub use metrics::{Gain, Grades, Measure, Metric, MinimumGrade, ParseMetricError, mean};
pub use provenance::{Input, Provenance, digest};
pub use qrels::Qrels;
pub use run::{Run, ScorePrecision};
pub use significance::{Comparison, Differences, Resampling, SignificanceTest, holm};
pub use topic_sampling::{SamplingMethod, TopicSamples};
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
    /// There is nothing in the file.
    #[error("{path}: there are no {what} in it")]
    Empty {
        /// The file.
        path: PathBuf,
        /// What should be there.
        what: &'static str,
    },
}

#[cfg(test)]
mod tests;
