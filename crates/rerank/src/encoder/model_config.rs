//! Configuration of a model folder: prompts, markers, lengths, expansion, pooling and projections around the network.
//!
//! Five layouts are recognised by their files: the two towers of DPR (`question_encoder/`, `ctx_encoder/`), Stanford's ColBERT
//! (`artifact.metadata`, or the architecture `HF_ColBERT`), PyLate's export (`onnx_config.json`), sentence-transformers
//! (`modules.json`), and transformers (`config.json` alone). The fourth one includes PyLate's models, and the multi-vector and
//! sparse models of sentence-transformers.

mod colbert;
mod dpr;
pub(super) mod sentence_transformers;
mod settings;
mod splade;
mod transformers;

use super::vectors::{Dense, Pooling};
use super::{EncoderOptions, Granularity, ModelError, Similarity};
pub(super) use settings::Settings;
use std::path::{Path, PathBuf};

/// Maximum number of tokens of a text, independent of folder and options. Queries may be expanded to their full length, and
/// the cost of attention is quadratic.
pub(super) const MAX_TOKENS: usize = 32_768;

/// Subfolder with the modules of a jointly trained head for token vectors; its transformer is the parent folder.
const PIECES: &str = "pieces";

/// Parsed configuration of a model.
pub(super) struct ModelConfig {
    /// Folders with tokenizer and network: one, or one for queries and one for passages.
    pub(super) towers: Vec<PathBuf>,
    pub(super) query: Side,
    pub(super) document: Side,
    pub(super) head: Head,
    pub(super) similarity: Similarity,
    /// If true, texts are lower-cased before tokenization.
    pub(super) lower_case: bool,
    /// Use of the network's pooled output.
    pub(super) pooled_output: PooledOutput,
    /// Folder with a weight for each token, by which queries are encoded without the network.
    pub(super) query_weights: Option<PathBuf>,
}

/// Use of the network's pooled output (one row per text) instead of pooling token vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PooledOutput {
    /// Not allowed.
    Never,
    /// Allowed if token vectors are missing: DPR's `pooler_output` is the vector of the first token.
    Serves,
    /// Required: DPR with a projection of the first token's vector, which only `pooler_output` contains.
    Required,
}

/// Tokenization of queries or of passages.
///
/// Its `Debug` form is part of the encoder's fingerprint: do not rename fields or variants.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// Index of the tower.
    pub(super) tower: usize,
    /// Text inserted before the text.
    pub(super) prompt: String,
    /// Token inserted after the first token.
    pub(super) marker: Option<Marker>,
    /// Maximum number of tokens, markers included.
    pub(super) length: usize,
    pub(super) expansion: Option<Expansion>,
    pub(super) skipped: Skipped,
}

/// A token that distinguishes queries from passages.
#[derive(Clone, Debug)]
pub(super) struct Marker {
    /// Entry in the vocabulary.
    pub(super) token: String,
    /// Readable form.
    pub(super) shown: String,
}

/// Query expansion by mask tokens, each with its own vector.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    /// Name of the token. Default: the tokenizer's mask.
    pub(super) token: Option<String>,
    /// Number of tokens of an expanded query.
    pub(super) length: usize,
    /// If true, the other tokens attend to the expansion.
    pub(super) attended: bool,
}

/// Tokens whose vectors are dropped from passages.
#[derive(Clone, Debug)]
pub(super) enum Skipped {
    /// No tokens.
    Nothing,
    /// The first token of each text, as in Stanford's code.
    FirstPieces(Vec<String>),
    /// Entries of the vocabulary. A missing entry maps to the unknown token, so that all unknown tokens are dropped, as in
    /// PyLate.
    Entries(Vec<String>),
    /// Entries of the vocabulary; missing entries are ignored, as in sentence-transformers.
    KnownEntries(Vec<String>),
}

/// Processing of the network's token vectors.
#[derive(Clone, Debug)]
pub(super) enum Head {
    /// One row per text. The results of several poolings are concatenated.
    Text {
        pooling: Vec<Pooling>,
        prompt_counts: bool,
        steps: Vec<Step>,
    },
    /// One row per token.
    Tokens { steps: Vec<Step> },
    /// One row per term of the vocabulary with a weight.
    Terms(TermPooling),
}

/// Computation of the weight of a term from its logits at all tokens (SPLADE).
#[derive(Clone, Copy, Debug)]
pub(super) struct TermPooling {
    /// If true, the weights at all tokens are added; else the largest one is used.
    pub(super) is_sum: bool,
    /// If true, the logarithm is applied twice.
    pub(super) is_log_twice: bool,
}

/// Processing step for each row.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Dense(Dense),
    Normalize,
}

impl Side {
    fn plain(length: usize) -> Self {
        Self {
            tower: 0,
            prompt: String::new(),
            marker: None,
            length,
            expansion: None,
            skipped: Skipped::Nothing,
        }
    }
}

impl Head {
    pub(super) fn steps(&self) -> &[Step] {
        match self {
            Self::Text { steps, .. } | Self::Tokens { steps } => steps,
            Self::Terms(_) => &[],
        }
    }

    pub(super) fn granularity(&self) -> Granularity {
        match self {
            Self::Text { .. } => Granularity::Text,
            Self::Tokens { .. } => Granularity::Piece,
            Self::Terms(_) => Granularity::Term,
        }
    }
}

impl ModelConfig {
    /// Reads the folder's settings and applies the options.
    pub(super) fn read(folder: &Path, options: &EncoderOptions) -> Result<Self, ModelError> {
        if !folder.is_dir() {
            return Err(ModelError::folder(folder, "there is no such folder"));
        }
        let pieces = folder.join(PIECES);
        let has_head = options.granularity == Some(Granularity::Piece)
            && pieces.join("modules.json").is_file();
        let pooling = options
            .pooling
            .as_deref()
            .filter(|_| matches!(options.granularity, None | Some(Granularity::Text)));
        let mut config = Self::from_folder(
            if has_head { &pieces } else { folder },
            pooling,
            options.granularity,
        )?;
        config.set_granularity(folder, options.granularity)?;
        config.set_lengths(folder, options)?;
        Ok(config)
    }

    /// Reads the settings of a folder. `pooling` is for a folder that does not state it.
    fn from_folder(
        folder: &Path,
        pooling: Option<&str>,
        granularity: Option<Granularity>,
    ) -> Result<Self, ModelError> {
        let states_pooling = if has_entry(folder, dpr::QUESTIONS)
            && has_entry(folder, dpr::PASSAGES)
        {
            dpr::read(folder)
        } else if colbert::is_stanford(folder)? {
            colbert::stanford(folder)
        } else if has_entry(folder, "onnx_config.json") {
            colbert::pylate_export(folder)
        } else if has_entry(folder, "modules.json") {
            match splade::read(folder)? {
                Some(splade) => Ok(splade),
                None => sentence_transformers::read(folder),
            }
        } else if has_entry(folder, "config.json") {
            return transformers::read(folder, pooling, granularity);
        } else {
            Err(ModelError::folder(
                folder,
                "no model of a known kind: none of modules.json (sentence-transformers, PyLate), artifact.metadata \
                 (Stanford's ColBERT), onnx_config.json (PyLate's export), question_encoder/ and ctx_encoder/ (DPR), config.json \
                 (transformers, model2vec) is there",
            ))
        };
        match pooling {
            Some(_) if states_pooling.is_ok() => Err(ModelError::folder(
                folder,
                "the folder states how token vectors are pooled; remove --pooling",
            )),
            _ => states_pooling,
        }
    }

    /// Applies a requested granularity. If token vectors of a model with one row per text are requested, pooling and later steps
    /// are omitted, and each vector is normalised. The reverse is an error, because no pooling is configured.
    fn set_granularity(
        &mut self,
        folder: &Path,
        requested: Option<Granularity>,
    ) -> Result<(), ModelError> {
        match (requested, self.head.granularity()) {
            (Some(Granularity::Piece), Granularity::Text)
                if self.pooled_output == PooledOutput::Never =>
            {
                self.head = Head::Tokens {
                    steps: vec![Step::Normalize],
                };
                self.similarity = Similarity::Dot;
                Ok(())
            }
            (Some(requested), own) if requested != own => {
                let reason = format!(
                    "the model gives rows by {own:?}, rows by {requested:?} were requested"
                );
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
            let most = match read_positions(&self.towers[side.tower])? {
                Some(positions) => positions.min(MAX_TOKENS),
                None => MAX_TOKENS,
            };
            let expanded = match &side.expansion {
                Some(expansion) => expansion.length,
                None => 0,
            };
            let longest = side.length.max(expanded);
            if side.length < 3 || longest > most {
                let reason = format!("a length of {longest} pieces is not possible: 3 to {most}");
                return Err(ModelError::folder(folder, reason));
            }
        }
        Ok(())
    }
}

fn has_entry(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}

/// Reads the number of positions that the network supports; `None` if it is not configured.
fn read_positions(tower: &Path) -> Result<Option<usize>, ModelError> {
    Settings::read_optional(&tower.join("config.json"))?.number("max_position_embeddings")
}

/// Reads the maximum number of tokens: the smaller of network and tokenizer, as in sentence-transformers, and at most
/// [`MAX_TOKENS`].
pub(super) fn read_max_length(tower: &Path) -> Result<usize, ModelError> {
    let tokenizer = Settings::read_optional(&tower.join("tokenizer_config.json"))?;
    // Tokenizers without a limit write 1e30.
    let limit = tokenizer
        .get("model_max_length")
        .and_then(serde_json::Value::as_f64)
        .filter(|&limit| limit < 1e9);
    match (read_positions(tower)?, limit.map(|limit| limit as usize)) {
        (Some(positions), Some(limit)) => Ok(positions.min(limit).min(MAX_TOKENS)),
        (Some(length), None) | (None, Some(length)) => Ok(length.min(MAX_TOKENS)),
        (None, None) => Err(ModelError::folder(
            tower,
            "the maximum length of texts is unknown: config.json lacks max_position_embeddings and tokenizer_config.json lacks model_max_length",
        )),
    }
}

/// Rejects truncation and padding on the left, which would need other position ids.
pub(super) fn reject_left_side(tower: &Path) -> Result<(), ModelError> {
    let tokenizer = Settings::read_optional(&tower.join("tokenizer_config.json"))?;
    for key in ["truncation_side", "padding_side"] {
        tokenizer.expect_value(key, &"right".into())?;
    }
    Ok(())
}
