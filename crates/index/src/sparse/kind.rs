//! Models and field sets by name.

use super::{Bm25, FieldWeights, Fsdm, LengthMode, Lmd, SparseModel, TfIdf};
use crate::document::Field;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Sparse model by name.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
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
    /// All models.
    pub const ALL: [Self; 4] = [Self::TfIdf, Self::Bm25, Self::Lmd, Self::Fsdm];

    /// Returns the name, as in run tags and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TfIdf => "tf-idf",
            Self::Bm25 => "bm25",
            Self::Lmd => "lmd",
            Self::Fsdm => "fsdm",
        }
    }

    /// Creates the model with its published parameters.
    ///
    /// FSDM's own formula has exact lengths in both modes, as in ACORDAR's code: there, only the BM25 of its candidates
    /// reads Lucene's lengths.
    #[must_use]
    pub fn model(self, lengths: LengthMode) -> Box<dyn SparseModel> {
        match self {
            Self::TfIdf => Box::new(TfIdf {
                lengths,
                ..TfIdf::default()
            }),
            Self::Bm25 => Box::new(Bm25 {
                lengths,
                ..Bm25::default()
            }),
            Self::Lmd => Box::new(Lmd {
                lengths,
                ..Lmd::default()
            }),
            Self::Fsdm => Box::new(Fsdm {
                lengths: LengthMode::Exact,
                candidate_model: Bm25 {
                    lengths,
                    weights: FieldWeights::UNIFORM,
                    ..Bm25::default()
                },
                ..Fsdm::default()
            }),
        }
    }
}

/// Set of fields by name.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum FieldSet {
    /// Metadata and data.
    #[default]
    All,
    /// Title, description, author, tags.
    Metadata,
    /// Entities, literals, classes, properties.
    Data,
}

impl FieldSet {
    /// All field sets.
    pub const ALL: [Self; 3] = [Self::All, Self::Metadata, Self::Data];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Metadata => "metadata",
            Self::Data => "data",
        }
    }

    /// Returns true if the set contains a field.
    #[must_use]
    pub fn contains(self, field: Field) -> bool {
        match self {
            Self::All => true,
            Self::Metadata => field.is_metadata(),
            Self::Data => !field.is_metadata(),
        }
    }

    /// Returns the run tag of a model over these fields. It contains the set's name unless it is all fields.
    #[must_use]
    pub fn tag(self, model: ModelKind) -> String {
        match self {
            Self::All => model.to_string(),
            some => format!("{model}.{}", some.name()),
        }
    }
}

/// Error for an unknown field set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown field set {0:?}; supported: all, metadata, data")]
pub struct ParseFieldSetError(String);

impl FromStr for FieldSet {
    type Err = ParseFieldSetError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|set| set.name() == name)
            .ok_or_else(|| ParseFieldSetError(name.to_owned()))
    }
}

impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for an unknown model.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown model {0:?}; supported: tf-idf, bm25, lmd, fsdm")]
pub struct ParseModelError(String);

impl FromStr for ModelKind {
    type Err = ParseModelError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| ParseModelError(name.to_owned()))
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
