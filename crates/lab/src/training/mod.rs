//! Training data: queries with the passages that answer them and passages that do not, for those who train encoders.
//!
//! Six kinds, most after the two papers whose retrievers they train. Q. Chen et al., *Dense Re-Ranking with Weak Supervision for
//! RDF Dataset Search* (DR2), ISWC 2023: [titles] whose words are masked in what they are to find (distant supervision),
//! [queries] generated from the content of datasets (self-training), and [judged] topics (fine-tuning). V. Viswanathan et
//! al., *DataFinder*, ACL 2023: papers that name the datasets they use
//! ([mentions]), and beside them what papers are about ([crops], by which the shipped encoder is trained,
//! and [abstracts]). A folder of them is what
//! [`TrainingData::write`] says; the passages are exactly those that the [engine](lodeseek_engine::passages) has encoded, so
//! that what is trained on is what is ranked. Everything is drawn by hashes of what it is drawn for: the same input gives
//! the same bytes, and one more dataset or paper moves no other.

pub mod abstracts;
mod asked;
mod collection;
pub mod crops;
mod examples;
mod folder;
pub mod judged;
mod keyphrases;
pub mod mentions;
mod names;
mod overlap;
mod papers;
pub mod queries;
mod sentences;
pub mod titles;
mod tokens;

pub use examples::{Counts, Example, PassageKind, PassageRecord, Split, Style, TrainingData};
pub use folder::check_free;
pub use papers::PaperOptions;

use crate::tagger::TaggerError;
use lodeseek_engine::EngineError;
use lodeseek_eval::EvalError;
use std::io;
use std::path::PathBuf;

/// Why there is no training data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// The home failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Topics or judgements cannot be read.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The names of datasets cannot be searched for.
    #[error(transparent)]
    Names(#[from] TaggerError),
    /// A file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A line is no paper.
    #[error("{path}:{line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// The folder asked for holds something else.
    #[error("{0} is there already and holds no training data; it is not replaced")]
    Taken(PathBuf),
}

impl TrainingError {
    fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { path: path.to_owned(), cause }
    }
}
