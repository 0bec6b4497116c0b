//! Training data for encoders: queries with relevant and irrelevant passages.
//!
//! There are six kinds, most of them after the papers whose retrievers are trained with them:
//!
//! | kind | source | paper |
//! |---|---|---|
//! | [`titles`] | masked titles of datasets | DR2, distant supervision |
//! | [`queries`] | queries generated from the content of datasets | DR2, self-training |
//! | [`judged`] | topics with human judgements | DR2, fine-tuning |
//! | [`mentions`] | papers that name their datasets | DataFinder, training of the bi-encoder |
//! | [`crops`] | pieces of abstracts; the shipped encoder is trained with them | González-Márquez et al., TMLR 2026 |
//! | [`abstracts`] | titles and abstracts of papers | – |
//!
//! DR2 is Q. Chen et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023. DataFinder is V.
//! Viswanathan et al., ACL 2023.
//!
//! [`TrainingData::write`] writes a folder. Passages are those that the [engine](lodeseek_engine::passages) encodes, so
//! training and ranking read the same texts. Random choices are hashes of the item's name: equal input gives equal
//! bytes, and an added dataset or paper changes no other example.

pub mod abstracts;
pub mod crops;
mod home_datasets;
pub mod judged;
mod keyphrases;
pub mod mentions;
mod names;
mod near_duplicates;
mod output_folder;
mod papers;
pub mod queries;
mod query_log;
mod records;
mod sentences;
pub mod titles;
mod tokens;

pub use output_folder::check_output_folder;
pub use papers::PaperOptions;
pub use records::{Counts, Example, PassageKind, PassageRecord, Split, Style, TrainingData};

use crate::tagger::TaggerError;
use lodeseek_engine::EngineError;
use lodeseek_eval::EvalError;
use std::io;
use std::path::PathBuf;

/// Errors of making training data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// The home cannot be read or searched.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Topics or judgements cannot be read.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The automaton of dataset names cannot be built.
    #[error(transparent)]
    Names(#[from] TaggerError),
    /// A file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// A line does not describe a paper.
    #[error("{path}:{line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The cause.
        reason: String,
    },
    /// The output folder contains other files than training data.
    #[error("{0} exists and holds no training data; choose another output folder")]
    NotTrainingData(PathBuf),
}

impl TrainingError {
    fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }
}
