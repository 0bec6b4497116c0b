//! What a model's folder says of how texts become vectors around the network: prompts, markers, lengths, expansion,
//! pooling, projections.
//!
//! Four kinds of folders are known by what lies in them: the two towers of DPR (`question_encoder/`, `ctx_encoder/`),
//! Stanford's ColBERT (`artifact.metadata`, or `HF_ColBERT` as architecture), an export of PyLate (`onnx_config.json`),
//! and sentence-transformers (`modules.json`) with PyLate and its own multi-vector models among them.

mod colbert;
mod dpr;
mod sentence_transformers;
mod settings;

use super::vectors::{Dense, Pooling};
use super::{EncoderOptions, Granularity, ModelError, Similarity};
use settings::Settings;
use std::path::{Path, PathBuf};

/// The most pieces of a text, whatever a folder or an option says: queries may be filled up to their length, and what is
/// attended to costs its square.
const MAX_LENGTH: usize = 32_768;

/// Where a folder with one vector a text keeps what makes one a piece, trained together with it: modules of its own, whose
/// transformer is the folder above.
const PIECES: &str = "pieces";

/// How texts become vectors.
pub(super) struct ModelConfig {
    /// The folders with tokenizer and network: one, or one for queries and one for passages.
    pub(super) towers: Vec<PathBuf>,
    pub(super) query: Side,
    pub(super) document: Side,
    pub(super) head: Head,
    pub(super) similarity: Similarity,
    /// Texts are lower-cased before they are cut.
    pub(super) lower_case: bool,
    /// The network's own output is a row a text: a pooled output serves where token vectors are missing.
    pub(super) pooled_output: PooledOutput,
}

/// Whether the network's own pooled output may stand for pooling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PooledOutput {
    Never,
    /// DPR's `pooler_output` is the vector of the first token.
    Serves,
    /// DPR with a projection behind the first token's vector: only `pooler_output` has it.
    Required,
}

/// How a query or a passage is cut into pieces.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The index of its tower.
    pub(super) tower: usize,
    /// Put before the text.
    pub(super) prompt: String,
    /// Put after the first piece, once the text is cut.
    pub(super) marker: Option<Marker>,
    /// The most pieces, markers included.
    pub(super) length: usize,
    pub(super) expansion: Option<Expansion>,
    pub(super) skipped: Skipped,
}

/// A token that tells queries from passages.
#[derive(Clone, Debug)]
pub(super) struct Marker {
    /// The entry in the vocabulary.
    pub(super) token: String,
    /// What people call it.
    pub(super) shown: String,
}

/// Mask tokens that a query is filled up with, each with a vector of its own.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    /// Without a name: the tokenizer's mask.
    pub(super) token: Option<String>,
    /// Filled up to so many pieces.
    pub(super) length: usize,
    /// Whether the other pieces attend to them.
    pub(super) attended: bool,
}

/// TokenizedText whose vectors are dropped from passages.
#[derive(Clone, Debug)]
pub(super) enum Skipped {
    Nothing,
    /// The first piece of each text, as Stanford does.
    FirstPieces(Vec<String>),
    /// Entries of the vocabulary; what is none counts as unknown, and with it all that is unknown, as PyLate does.
    Entries(Vec<String>),
    /// Entries of the vocabulary, as sentence-transformers does: what is none is not skipped.
    KnownEntries(Vec<String>),
}

/// What is done with the network's token vectors.
#[derive(Clone, Debug)]
pub(super) enum Head {
    /// One row a text. Several ways of pooling are put side by side.
    Text { pooling: Vec<Pooling>, prompt_counts: bool, steps: Vec<Step> },
    /// A row a piece.
    Tokens { steps: Vec<Step> },
}

/// What is done with each row.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Dense(Dense),
    Normalize,
}

impl Side {
    fn plain(length: usize) -> Self {
        Self { tower: 0, prompt: String::new(), marker: None, length, expansion: None, skipped: Skipped::Nothing }
    }
}

impl Head {
    pub(super) fn steps(&self) -> &[Step] {
        let (Self::Text { steps, .. } | Self::Tokens { steps }) = self;
        steps
    }

    pub(super) fn granularity(&self) -> Granularity {
        match self {
            Self::Text { .. } => Granularity::Text,
            Self::Tokens { .. } => Granularity::Piece,
        }
    }
}

impl ModelConfig {
    /// Reads the folder's settings and puts the options' wishes over them.
    pub(super) fn read(folder: &Path, options: &EncoderOptions) -> Result<Self, ModelError> {
        if !folder.is_dir() {
            return Err(ModelError::folder(folder, "there is no such folder"));
        }
        let pieces = folder.join(PIECES);
        let has_head = options.granularity == Some(Granularity::Piece) && pieces.join("modules.json").is_file();
        let mut config = Self::from_folder(if has_head { &pieces } else { folder })?;
        config.set_granularity(folder, options.granularity)?;
        config.set_lengths(folder, options)?;
        Ok(config)
    }

    fn from_folder(folder: &Path) -> Result<Self, ModelError> {
        let has = |name: &str| folder.join(name).exists();
        if has(dpr::QUESTIONS) && has(dpr::PASSAGES) {
            dpr::read(folder)
        } else if colbert::is_stanford(folder)? {
            colbert::stanford(folder)
        } else if has("onnx_config.json") {
            colbert::pylate_export(folder)
        } else if has("modules.json") {
            sentence_transformers::read(folder)
        } else {
            Err(ModelError::folder(
                folder,
                "no model of a known kind: none of modules.json (sentence-transformers, PyLate), artifact.metadata \
                 (Stanford's ColBERT), onnx_config.json (PyLate's export), question_encoder/ and ctx_encoder/ (DPR) is there",
            ))
        }
    }

    /// A model of one row a text is used by its token vectors where that is asked for: pooling and what follows fall
    /// away, each vector is brought to length 1. The other way round there is nothing to pool with.
    fn set_granularity(&mut self, folder: &Path, wanted: Option<Granularity>) -> Result<(), ModelError> {
        match (wanted, self.head.granularity()) {
            (Some(Granularity::Piece), Granularity::Text) if self.pooled_output == PooledOutput::Never => {
                self.head = Head::Tokens { steps: vec![Step::Normalize] };
                self.similarity = Similarity::Dot;
                Ok(())
            }
            (Some(wanted), own) if wanted != own => {
                let reason = format!("the model gives rows by {own:?}, rows by {wanted:?} were asked for");
                Err(ModelError::folder(folder, reason))
            }
            _ => Ok(()),
        }
    }

    fn set_lengths(&mut self, folder: &Path, options: &EncoderOptions) -> Result<(), ModelError> {
        if let Some(length) = options.query_length {
            self.query.length = length;
            if let Some(expansion) = &mut self.query.expansion {
                expansion.length = length;
            }
        }
        self.document.length = options.document_length.unwrap_or(self.document.length);
        for side in [&self.query, &self.document] {
            let most = positions(&self.towers[side.tower])?.map_or(MAX_LENGTH, |positions| positions.min(MAX_LENGTH));
            let expanded = side.expansion.as_ref().map_or(0, |expansion| expansion.length);
            let longest = side.length.max(expanded);
            if side.length < 3 || longest > most {
                let reason = format!("a length of {longest} pieces is not possible: 3 to {most}");
                return Err(ModelError::folder(folder, reason));
            }
        }
        Ok(())
    }
}

/// How many positions the network knows, where its settings say so.
fn positions(tower: &Path) -> Result<Option<usize>, ModelError> {
    Settings::read_optional(&tower.join("config.json"))?.number("max_position_embeddings")
}

/// The most pieces by network and tokenizer: the smaller of both, as sentence-transformers has it, and [`MAX_LENGTH`] at most.
fn longest(tower: &Path) -> Result<usize, ModelError> {
    let tokenizer = Settings::read_optional(&tower.join("tokenizer_config.json"))?;
    // Tokenizers without a limit write 1e30.
    let limit = tokenizer.get("model_max_length").and_then(serde_json::Value::as_f64).filter(|&limit| limit < 1e9);
    match (positions(tower)?, limit.map(|limit| limit as usize)) {
        (Some(positions), Some(limit)) => Ok(positions.min(limit).min(MAX_LENGTH)),
        (Some(length), None) | (None, Some(length)) => Ok(length.min(MAX_LENGTH)),
        (None, None) => Err(ModelError::folder(
            tower,
            "the longest text is not known: neither config.json has max_position_embeddings nor tokenizer_config.json model_max_length",
        )),
    }
}

/// Cutting from the left or filling on the left would need other positions than we give.
fn reject_left_side(tower: &Path) -> Result<(), ModelError> {
    let tokenizer = Settings::read_optional(&tower.join("tokenizer_config.json"))?;
    for key in ["truncation_side", "padding_side"] {
        tokenizer.expect_value(key, &"right".into())?;
    }
    Ok(())
}
