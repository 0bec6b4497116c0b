//! Texts to vectors.
//!
//! An [`Encoder`] stands before a neural model: it cuts texts into the model's pieces, runs it, and gives one vector a text
//! (bi-encoders, as DPR) or one a piece (late interaction, as ColBERT). What is done with the vectors is none of its
//! business: scores are made outside, by plain functions of matrices.
//!
//! [`open`] reads a model from a folder as people have it: sentence-transformers, the two towers of DPR, ColBERT as
//! Stanford, PyLate and sentence-transformers write it; and one network with a head for each, as `training/` makes it, whose
//! vectors by piece are described in its folder `pieces`. The folder's own settings are honoured or refused; passed over
//! are only unknown keys of `onnx_config.json` and `config_sentence_transformers.json`. The network itself is run by ONNX
//! Runtime, a library that is found when the program runs. [`open_both`] has it run once for both heads.

mod error;
mod options;
#[cfg(feature = "onnx")]
mod model;
#[cfg(feature = "onnx")]
mod passes;
#[cfg(feature = "onnx")]
mod pieces;
#[cfg(feature = "onnx")]
mod recipe;
#[cfg(feature = "onnx")]
mod runtime;
#[cfg(feature = "onnx")]
mod vectors;

pub use error::ModelError;
pub use options::{Device, EncoderOptions, ParseDeviceError, library_in, stated_floor};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Opens the model in a folder.
///
/// ```no_run
/// use lodeseek_rerank::encoder::{Device, EncoderOptions, library_in, open};
/// use std::path::Path;
///
/// let options = EncoderOptions {
///     library: library_in(Path::new("/home/me/.cache/lodeseek")),
///     device: Device::Cpu,
///     variant: Some("model_int8.onnx".to_owned()),
///     ..EncoderOptions::default()
/// };
/// let encoder = open(Path::new("models/all-MiniLM-L6-v2"), &options)?;
/// let vectors = encoder.encode_queries(&["air quality in Paris"])?;
/// assert_eq!(vectors[0].columns(), encoder.dimension());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "onnx")]
pub fn open(folder: &Path, options: &EncoderOptions) -> Result<Box<dyn Encoder>, ModelError> {
    Ok(Box::new(model::Model::open(folder, options)?))
}

/// Opens the model in a folder twice: with one vector a text, and with one a piece. Where both are of one network, as
/// `training/` makes it, it is held in memory once, and run once for a text that both are asked about, one soon after the
/// other. [`EncoderOptions::granularity`] does not count.
#[cfg(feature = "onnx")]
pub fn open_both(folder: &Path, options: &EncoderOptions) -> Result<[Box<dyn Encoder>; 2], ModelError> {
    Ok(model::Model::open_both(folder, options)?.map(|model| Box::new(model) as Box<dyn Encoder>))
}

/// Says that this build runs no models: it was made without the feature `onnx`.
#[cfg(not(feature = "onnx"))]
pub fn open_both(folder: &Path, _options: &EncoderOptions) -> Result<[Box<dyn Encoder>; 2], ModelError> {
    Err(ModelError::NotBuiltIn { folder: folder.to_owned() })
}

/// Says that this build runs no models: it was made without the feature `onnx`.
#[cfg(not(feature = "onnx"))]
pub fn open(folder: &Path, _options: &EncoderOptions) -> Result<Box<dyn Encoder>, ModelError> {
    Err(ModelError::NotBuiltIn { folder: folder.to_owned() })
}

/// Rows of numbers, one row after the other.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Matrix {
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// A matrix of rows with so many columns; `values` holds row after row.
    ///
    /// # Panics
    ///
    /// Where the values do not fill whole rows.
    #[must_use]
    pub fn new(columns: usize, values: Vec<f32>) -> Self {
        assert!(if columns == 0 { values.is_empty() } else { values.len().is_multiple_of(columns) }, "ragged matrix");
        Self { columns, values }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// The length of a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// All rows, one after the other.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// One text of a document, in parts: a title, a description; or a triple a part. The encoder puts its own separator
/// between them and cuts the whole to the length that the model reads.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'t> {
    /// The parts, in order.
    pub parts: &'t [String],
    /// The most pieces kept of each part: DR2 cuts triples to 45.
    pub pieces_a_part: Option<usize>,
}

/// What the rows of an encoder's matrices stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// One row: the text.
    Text,
    /// A row a piece, each of length 1: scored by MaxSim.
    Piece,
}

/// How likeness of two vectors is measured, as the model was trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// The inner product. Of vectors of length 1 it is the cosine.
    Dot,
    /// The cosine of vectors of any length.
    Cosine,
}

/// Texts to vectors; the same on every run.
pub trait Encoder: Send + Sync {
    /// The model's name, as in run tags: the folder's.
    fn name(&self) -> &str;

    /// A digest of all that the vectors depend on: weights, tokenizer, lengths, markers, pooling. Vectors of documents
    /// kept from earlier serve as long as it is the same. Never of the device.
    fn fingerprint(&self) -> &str;

    /// What the rows stand for.
    fn granularity(&self) -> Granularity;

    /// How vectors are compared, where there is one a text.
    fn similarity(&self) -> Similarity;

    /// The length of a row.
    fn dimension(&self) -> usize;

    /// What the model runs on and why, for people; empty where there is nothing to say.
    fn device(&self) -> &str {
        ""
    }

    /// A matrix for each query.
    fn encode_queries(&self, queries: &[&str]) -> Result<Vec<Matrix>, EncodeError>;

    /// A matrix for each passage. A passage without any text has a matrix without rows.
    fn encode_passages(&self, passages: &[Passage<'_>]) -> Result<Vec<Matrix>, EncodeError>;

    /// For each row of the passage's matrix, the part that its piece was cut from; nothing for markers and separators,
    /// and for an encoder with one row a text. The model is not run.
    fn origins(&self, passage: Passage<'_>) -> Result<Vec<Option<usize>>, EncodeError>;

    /// The pieces of a query, one for each row of its matrix, as people can read them; markers and expansion by their
    /// own names. For an encoder with one row a text: the query. The model is not run.
    fn query_pieces(&self, query: &str) -> Result<Vec<String>, EncodeError>;
}

/// Why texts did not become vectors.
#[derive(Debug)]
pub struct EncodeError {
    /// The model's name.
    pub model: String,
    /// What went wrong.
    pub cause: Box<dyn std::error::Error + Send + Sync>,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model {} could not encode: {}", self.model, self.cause)
    }
}

impl std::error::Error for EncodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}

#[cfg(all(test, feature = "onnx"))]
mod tests;
