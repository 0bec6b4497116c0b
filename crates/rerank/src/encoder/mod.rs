//! Encoders: neural models that turn texts into vectors.
//!
//! An [`Encoder`] tokenizes texts, runs the model, and returns one vector per text (bi-encoders such as DPR) or one per token
//! (late interaction such as ColBERT). Scores are computed elsewhere, by pure functions of matrices.
//!
//! [`open`] reads a model folder in its usual layout: sentence-transformers, the two towers of DPR, and ColBERT as written by
//! Stanford's code, PyLate and sentence-transformers. It also reads one network with two heads, as `training/` produces it;
//! the folder `pieces` then describes the head for token vectors. Other kinds are learned sparse models (SPLADE), with one weight
//! per term, and static embeddings (model2vec), without a network. Every setting of the folder is applied or rejected. Ignored
//! are only unknown keys of `config.json`, `onnx_config.json` and `config_sentence_transformers.json`.
//!
//! The network is run by ONNX Runtime, a library that is loaded at run time. [`open_both`] runs it once for both heads.
//!
//! A cross-encoder scores a query and a text together: [`open_cross_encoder`] opens a [`PairScorer`].

mod error;
mod options;
#[cfg(feature = "onnx")]
mod model;
#[cfg(feature = "onnx")]
mod forward_cache;
#[cfg(feature = "onnx")]
mod tokenization;
#[cfg(feature = "onnx")]
mod model_config;
#[cfg(feature = "onnx")]
mod cross_encoder;
#[cfg(feature = "onnx")]
mod query_weights;
#[cfg(feature = "onnx")]
mod runtime;
#[cfg(feature = "onnx")]
mod static_embeddings;
#[cfg(feature = "onnx")]
mod vectors;

pub use error::ModelError;
pub use options::{
    Device, EncoderOptions, POOLINGS, ParseDeviceError, configured_min_similarity, find_library,
    library_in,
};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Opens the model in a folder.
///
/// # Errors
///
/// If ONNX Runtime cannot be loaded, a file is missing or unreadable, or a setting is not supported.
///
/// ```no_run
/// use lodeseek_rerank::encoder::{Device, EncoderOptions, find_library, open};
/// use std::path::Path;
///
/// let options = EncoderOptions {
///     library: find_library(Path::new("/home/me/.cache/lodeseek")),
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
    match static_embeddings::table_folder(folder)? {
        Some(table) => Ok(Box::new(static_embeddings::StaticModel::open(
            folder, &table, options,
        )?)),
        None => Ok(Box::new(model::Model::open(folder, options)?)),
    }
}

/// Opens the cross-encoder in a folder.
///
/// # Errors
///
/// As [`open`].
#[cfg(feature = "onnx")]
pub fn open_cross_encoder(
    folder: &Path,
    options: &EncoderOptions,
) -> Result<Box<dyn PairScorer>, ModelError> {
    Ok(Box::new(cross_encoder::CrossEncoder::open(
        folder, options,
    )?))
}

/// Returns [`ModelError::FeatureDisabled`], because this build lacks the feature `onnx`.
#[cfg(not(feature = "onnx"))]
pub fn open_cross_encoder(
    folder: &Path,
    _options: &EncoderOptions,
) -> Result<Box<dyn PairScorer>, ModelError> {
    Err(ModelError::FeatureDisabled {
        folder: folder.to_owned(),
    })
}

/// Opens the model in a folder twice: with one vector per text, and with one per token. If both use one network, as
/// `training/` produces it, the network is loaded once. A text that both encode in short succession is processed once.
/// [`EncoderOptions::granularity`] is ignored.
///
/// # Errors
///
/// As [`open`].
#[cfg(feature = "onnx")]
pub fn open_both(
    folder: &Path,
    options: &EncoderOptions,
) -> Result<[Box<dyn Encoder>; 2], ModelError> {
    Ok(model::Model::open_both(folder, options)?.map(|model| Box::new(model) as Box<dyn Encoder>))
}

/// Returns [`ModelError::FeatureDisabled`], because this build lacks the feature `onnx`.
#[cfg(not(feature = "onnx"))]
pub fn open_both(
    folder: &Path,
    _options: &EncoderOptions,
) -> Result<[Box<dyn Encoder>; 2], ModelError> {
    Err(ModelError::FeatureDisabled {
        folder: folder.to_owned(),
    })
}

/// Returns [`ModelError::FeatureDisabled`], because this build lacks the feature `onnx`.
#[cfg(not(feature = "onnx"))]
pub fn open(folder: &Path, _options: &EncoderOptions) -> Result<Box<dyn Encoder>, ModelError> {
    Err(ModelError::FeatureDisabled {
        folder: folder.to_owned(),
    })
}

/// Dense matrix of `f32` values in row-major order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Matrix {
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// Creates a matrix from values in row-major order.
    ///
    /// # Panics
    ///
    /// If the number of values is not a multiple of `columns`.
    #[must_use]
    pub fn new(columns: usize, values: Vec<f32>) -> Self {
        assert!(
            if columns == 0 {
                values.is_empty()
            } else {
                values.len().is_multiple_of(columns)
            },
            "ragged matrix"
        );
        Self { columns, values }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// Returns all values in row-major order.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// One text of a document, in parts: title and description, or one part per triple. The encoder inserts its separator between
/// the parts and truncates the text to the model's maximum length.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'t> {
    /// Parts, in order.
    pub parts: &'t [String],
    /// Maximum number of tokens of each part; DR2 truncates triples to 45. Default: no limit.
    pub pieces_a_part: Option<usize>,
}

/// Unit that one row of an encoder's matrix represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// One row for the whole text.
    Text,
    /// One row of length 1 for each token, scored by MaxSim.
    Piece,
    /// One row for each term with a weight (learned sparse models); see [`term_weights`](crate::term_weights).
    Term,
}

/// Similarity measure that the model was trained with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// Inner product; equal to the cosine for vectors of length 1.
    Dot,
    /// Cosine of vectors of any length.
    Cosine,
}

/// Deterministic encoder of texts as vectors.
pub trait Encoder: Send + Sync {
    /// Returns the name of the model, which is the name of its folder.
    fn name(&self) -> &str;

    /// Returns a digest of everything that the vectors depend on: weights, tokenizer, lengths, markers, pooling; not the
    /// device. Stored document vectors are valid while it is unchanged.
    fn fingerprint(&self) -> &str;

    /// Returns the unit that one row represents.
    fn granularity(&self) -> Granularity;

    /// Returns the similarity measure for encoders with one row per text.
    fn similarity(&self) -> Similarity;

    /// Returns the number of columns.
    fn dimension(&self) -> usize;

    /// Returns a readable description of the device and the reason for its choice; may be empty.
    fn device(&self) -> &str {
        ""
    }

    /// Returns true if the vocabulary has a word as a whole. Frequent words are in it, and hardly any misspelled one.
    fn has_word(&self, _word: &str) -> bool {
        false
    }

    /// Returns a matrix for each query.
    ///
    /// # Errors
    ///
    /// If the tokenizer or the model fails.
    fn encode_queries(&self, queries: &[&str]) -> Result<Vec<Matrix>, EncodeError>;

    /// Returns a matrix for each passage. The matrix of a passage without text has no rows.
    ///
    /// # Errors
    ///
    /// If the tokenizer or the model fails.
    fn encode_passages(&self, passages: &[Passage<'_>]) -> Result<Vec<Matrix>, EncodeError>;

    /// Returns for each row of the passage's matrix the index of the part that contains its token; `None` for markers and
    /// separators, and for an encoder with one row per text. The model is not run.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    fn origins(&self, passage: Passage<'_>) -> Result<Vec<Option<usize>>, EncodeError>;

    /// Returns the readable tokens of a query, one for each row of its matrix, including markers and expansion. For an encoder
    /// with one row per text it returns the query. The model is not run.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    fn query_pieces(&self, query: &str) -> Result<Vec<String>, EncodeError>;
}

/// Deterministic model that scores a query and a text together.
pub trait PairScorer: Send + Sync {
    /// Returns the name of the model, which is the name of its folder.
    fn name(&self) -> &str;

    /// Returns the relevance of a text to a query; higher is better.
    ///
    /// # Errors
    ///
    /// If the tokenizer or the model fails.
    fn score(&self, query: &str, text: &str) -> Result<f64, EncodeError>;
}

/// Returns the name of a model: that of its folder.
#[cfg(feature = "onnx")]
fn folder_name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    match folder.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "model".to_owned(),
    }
}

/// Returns bytes in hexadecimal.
#[cfg(feature = "onnx")]
fn to_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Error of encoding texts.
#[derive(Debug)]
pub struct EncodeError {
    /// Name of the model.
    pub model: String,
    /// Error of the tokenizer or of ONNX Runtime.
    pub cause: Box<dyn std::error::Error + Send + Sync>,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the model {} cannot encode the texts: {}",
            self.model, self.cause
        )
    }
}

impl std::error::Error for EncodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}

#[cfg(all(test, feature = "onnx"))]
mod tests;
