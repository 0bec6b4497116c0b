//! The models by name.

use super::{Bm25, FieldWeights, Fsdm, LengthMode, Lmd, SparseModel, TfIdf};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of the four models.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// [`TfIdf`].
    TfIdf,
    /// [`Bm25`].
    #[default]
    Bm25,
    /// [`Lmd`].
    Lmd,
    /// [`Fsdm`].
    Fsdm,
}

impl ModelKind {
    /// All four.
    pub const ALL: [Self; 4] = [Self::TfIdf, Self::Bm25, Self::Lmd, Self::Fsdm];

    /// The name, as in run tags and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TfIdf => "tf-idf",
            Self::Bm25 => "bm25",
            Self::Lmd => "lmd",
            Self::Fsdm => "fsdm",
        }
    }

    /// The model with its published parameters.
    #[must_use]
    pub fn model(self, lengths: LengthMode) -> Box<dyn SparseModel> {
        match self {
            Self::TfIdf => Box::new(TfIdf { lengths, ..TfIdf::default() }),
            Self::Bm25 => Box::new(Bm25 { lengths, ..Bm25::default() }),
            Self::Lmd => Box::new(Lmd { lengths, ..Lmd::default() }),
            Self::Fsdm => Box::new(Fsdm {
                lengths,
                first: Bm25 { lengths, weights: FieldWeights::UNIFORM, ..Bm25::default() },
                ..Fsdm::default()
            }),
        }
    }
}

/// A name that is no model's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is no model; known are tf-idf, bm25, lmd and fsdm")]
pub struct ParseModelError(String);

impl FromStr for ModelKind {
    type Err = ParseModelError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| ParseModelError(name.to_owned()))
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
