//! Static embeddings: the vector of a text is the mean of the stored vectors of its tokens. ONNX Runtime is not needed.
//!
//! Two layouts are recognised. A folder of model2vec has the tensor `embeddings`, optionally with a weight for each token (`weights`)
//! and a row for each token (`mapping`). A `StaticEmbedding` of sentence-transformers has the tensor `embedding.weight`.
//!
//! As in model2vec, the unknown token has no vector, and texts are cut to `max_length` tokens, and before that to as many median token
//! lengths. As in sentence-transformers, its own layout does neither; texts are cut to [`MAX_TOKENS`] tokens.

use super::model_config::sentence_transformers::{self, PASSAGE_PROMPTS, QUERY_PROMPTS};
use super::model_config::{MAX_TOKENS, Settings};
use super::vectors::{normalize, read_rows, read_tensor};
use super::{
    EncodeError, Encoder, EncoderOptions, Granularity, Matrix, ModelError, Passage, Similarity,
    folder_name,
};
use safetensors::SafeTensors;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use tokenizers::Tokenizer;

/// Default of model2vec: the maximum number of tokens of a text.
const DEFAULT_MAX_LENGTH: usize = 512;

/// Opened model.
pub(super) struct StaticModel {
    name: String,
    fingerprint: String,
    tokenizer: Tokenizer,
    table: Table,
    similarity: Similarity,
    is_normalized: bool,
    limits: Limits,
}

/// Vectors of the tokens.
struct Table {
    columns: usize,
    rows: Vec<f32>,
    /// Row of each token. Default: the number of the token.
    mapping: Option<Vec<usize>>,
    /// Weight of each token. Default: 1.
    weights: Option<Vec<f32>>,
}

/// Limits of the text that is encoded.
struct Limits {
    tokens: usize,
    characters: usize,
    unknown: Option<u32>,
}

/// Returns the folder of the token vectors, if a folder contains static embeddings.
pub(super) fn table_folder(folder: &Path) -> Result<Option<PathBuf>, ModelError> {
    if folder.join("modules.json").is_file() {
        let (_, modules) = sentence_transformers::module_list(folder)?;
        let first = modules
            .first()
            .filter(|module| sentence_transformers::class_name(module) == "StaticEmbedding");
        return Ok(first.map(|module| folder.join(&module.path)));
    }
    let config = Settings::read_optional(&folder.join("config.json"))?;
    let is_static = config.get("model_type").and_then(Value::as_str) == Some("model2vec");
    Ok(is_static.then(|| folder.to_owned()))
}

impl StaticModel {
    /// Opens the model in `folder` with its token vectors in `table`.
    pub(super) fn open(
        folder: &Path,
        table: &Path,
        options: &EncoderOptions,
    ) -> Result<Self, ModelError> {
        if options
            .granularity
            .is_some_and(|granularity| granularity != Granularity::Text)
        {
            return Err(ModelError::folder(
                folder,
                "static embeddings give one vector for each text; use --dpr",
            ));
        }
        if options.pooling.is_some() {
            return Err(ModelError::folder(
                folder,
                "static embeddings are always averaged; remove --pooling",
            ));
        }
        let path = table.join("tokenizer.json");
        let file = fs::read(&path).map_err(|cause| ModelError::file(&path, cause))?;
        let mut tokenizer =
            Tokenizer::from_bytes(&file).map_err(|cause| ModelError::file(&path, cause))?;
        // The file may set truncation and padding, but texts are cut by `Limits`.
        tokenizer
            .with_truncation(None)
            .map_err(|cause| ModelError::file(&path, cause))?;
        tokenizer.with_padding(None);
        let weights = table.join("model.safetensors");
        let bytes = fs::read(&weights).map_err(|cause| ModelError::file(&weights, cause))?;
        let (vectors, is_model2vec) =
            Table::read(&bytes).map_err(|cause| ModelError::file(&weights, cause))?;
        vectors
            .check(&tokenizer)
            .map_err(|reason| ModelError::file(&weights, reason))?;
        let config = Settings::read_optional(&folder.join("config.json"))?;
        let is_normalized = if is_model2vec {
            config.flag("normalize")?.unwrap_or(false)
        } else {
            has_normalize(folder)?
        };
        let limits = if is_model2vec {
            let unknown =
                unknown_token(&file, &tokenizer).map_err(|cause| ModelError::file(&path, cause))?;
            Limits::of_model2vec(config.length("max_length")?, &tokenizer, unknown)
        } else {
            Limits {
                tokens: MAX_TOKENS,
                characters: usize::MAX,
                unknown: None,
            }
        };
        let settings = Settings::read_optional(&folder.join("config_sentence_transformers.json"))?;
        let similarity = sentence_transformers::read_similarity(&settings, false)?;
        for names in [QUERY_PROMPTS, PASSAGE_PROMPTS] {
            if !sentence_transformers::read_prompt(&settings, names)?.is_empty() {
                return Err(settings.refusal(
                    "prompts",
                    "static embeddings are computed without prompts here",
                ));
            }
        }
        let mut digest = Sha256::new();
        digest.update(&bytes);
        digest.update(&file);
        let cuts = (limits.tokens, limits.characters, limits.unknown);
        digest.update(format!("static {is_normalized} {similarity:?} {cuts:?}"));
        let fingerprint = super::to_hexadecimal(&digest.finalize());
        Ok(Self {
            name: folder_name(folder),
            fingerprint,
            tokenizer,
            table: vectors,
            similarity,
            is_normalized,
            limits,
        })
    }

    /// Returns the tokens of a text that have vectors, at most `max` of all its tokens, and the number of all these.
    fn tokens(&self, text: &str, max: usize) -> Result<(Vec<u32>, usize), EncodeError> {
        // As in model2vec, before the text is tokenized: the rest of a long text takes no time.
        let end = match text.char_indices().nth(self.limits.characters) {
            Some((end, _)) => end,
            None => text.len(),
        };
        let encoding = self.tokenizer.encode_fast(&text[..end], false);
        let encoding = encoding.map_err(|cause| EncodeError {
            model: self.name.clone(),
            cause,
        })?;
        let all = &encoding.get_ids()[..encoding.len().min(max)];
        let known = all
            .iter()
            .copied()
            .filter(|id| Some(*id) != self.limits.unknown);
        Ok((known.collect(), all.len()))
    }

    /// Returns the mean vector of tokens.
    fn mean(&self, tokens: &[u32]) -> Matrix {
        let mut mean = vec![0.0; self.table.columns];
        for &token in tokens {
            let (row, weight) = self.table.row(token);
            mean.iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += weight * value);
        }
        mean.iter_mut()
            .for_each(|sum| *sum /= tokens.len().max(1) as f32);
        if self.is_normalized {
            normalize(&mut mean, self.table.columns);
        }
        Matrix::new(self.table.columns, mean)
    }

    fn encode_passage(&self, passage: Passage<'_>) -> Result<Matrix, EncodeError> {
        let mut tokens = Vec::new();
        let mut left = self.limits.tokens;
        for part in passage.parts {
            let (known, count) =
                self.tokens(part, left.min(passage.pieces_a_part.unwrap_or(left)))?;
            tokens.extend(known);
            left -= count;
        }
        Ok(if tokens.is_empty() {
            Matrix::new(self.table.columns, Vec::new())
        } else {
            self.mean(&tokens)
        })
    }
}

impl Table {
    /// Reads the tensors. Returns true if the layout is that of model2vec.
    fn read(bytes: &[u8]) -> Result<(Self, bool), Box<dyn std::error::Error + Send + Sync>> {
        let tensors = SafeTensors::deserialize(bytes)?;
        let names = tensors.names();
        let is_model2vec = names.contains(&"embeddings");
        let (shape, rows) = read_tensor(
            &tensors,
            if is_model2vec {
                "embeddings"
            } else {
                "embedding.weight"
            },
        )?;
        let [_, columns] = shape[..] else {
            return Err(format!(
                "the token vectors have the shape {shape:?}, not rows and columns"
            )
            .into());
        };
        let mapping = if names.contains(&"mapping") {
            Some(read_rows(&tensors, "mapping")?)
        } else {
            None
        };
        let weights = if names.contains(&"weights") {
            Some(read_tensor(&tensors, "weights")?.1)
        } else {
            None
        };
        Ok((
            Self {
                columns,
                rows,
                mapping,
                weights,
            },
            is_model2vec,
        ))
    }

    /// Checks that every token has a vector.
    fn check(&self, tokenizer: &Tokenizer) -> Result<(), String> {
        let rows = self.rows.len().checked_div(self.columns).unwrap_or(0);
        let tokens = match tokenizer.get_vocab(true).into_values().max() {
            Some(last) => last as usize + 1,
            None => 0,
        };
        let is_mapped = self
            .mapping
            .as_ref()
            .is_none_or(|mapping| mapping.len() >= tokens && mapping.iter().all(|&row| row < rows));
        let is_weighted = self
            .weights
            .as_ref()
            .is_none_or(|weights| weights.len() >= tokens);
        if is_mapped && is_weighted && rows > 0 && (self.mapping.is_some() || rows >= tokens) {
            return Ok(());
        }
        Err(format!(
            "{rows} vectors do not fit the {tokens} tokens of the tokenizer, its weights or its mapping"
        ))
    }

    /// Returns the vector and the weight of a token.
    fn row(&self, token: u32) -> (&[f32], f32) {
        let token = token as usize;
        let row = match &self.mapping {
            Some(mapping) => mapping[token],
            None => token,
        };
        let weight = match &self.weights {
            Some(weights) => weights[token],
            None => 1.0,
        };
        (
            &self.rows[row * self.columns..(row + 1) * self.columns],
            weight,
        )
    }
}

impl Limits {
    fn of_model2vec(
        max_length: Option<usize>,
        tokenizer: &Tokenizer,
        unknown: Option<u32>,
    ) -> Self {
        let tokens = max_length.unwrap_or(DEFAULT_MAX_LENGTH);
        let mut lengths: Vec<usize> = tokenizer
            .get_vocab(true)
            .keys()
            .map(|token| token.chars().count())
            .collect();
        lengths.sort_unstable();
        let middle = lengths.len() / 2;
        let median = match lengths[..] {
            [] => 0,
            _ if lengths.len() % 2 == 1 => lengths[middle],
            _ => usize::midpoint(lengths[middle - 1], lengths[middle]),
        };
        Self {
            tokens,
            characters: tokens.saturating_mul(median),
            unknown,
        }
    }
}

/// Returns the unknown token of a tokenizer, from its file.
fn unknown_token(file: &[u8], tokenizer: &Tokenizer) -> Result<Option<u32>, serde_json::Error> {
    let file: Value = serde_json::from_slice(file)?;
    let model = &file["model"];
    let by_name = model["unk_token"]
        .as_str()
        .and_then(|token| tokenizer.token_to_id(token));
    Ok(by_name.or_else(|| model["unk_id"].as_u64().and_then(|id| id.try_into().ok())))
}

/// Returns true if the modules of a folder contain `Normalize`. Other modules after the first are rejected.
fn has_normalize(folder: &Path) -> Result<bool, ModelError> {
    let (_, modules) = sentence_transformers::module_list(folder)?;
    let mut is_normalized = false;
    for module in modules.iter().skip(1) {
        if sentence_transformers::class_name(module) != "Normalize" {
            let reason = format!(
                "the module {} cannot follow static embeddings",
                module.r#type
            );
            return Err(ModelError::folder(folder, reason));
        }
        is_normalized = true;
    }
    Ok(is_normalized)
}

impl Encoder for StaticModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn granularity(&self) -> Granularity {
        Granularity::Text
    }

    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn dimension(&self) -> usize {
        self.table.columns
    }

    fn device(&self) -> &'static str {
        "cpu, without a network"
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Vec<Matrix>, EncodeError> {
        queries
            .iter()
            .map(|query| Ok(self.mean(&self.tokens(query, self.limits.tokens)?.0)))
            .collect()
    }

    fn encode_passages(&self, passages: &[Passage<'_>]) -> Result<Vec<Matrix>, EncodeError> {
        passages
            .iter()
            .map(|passage| self.encode_passage(*passage))
            .collect()
    }

    fn origins(&self, passage: Passage<'_>) -> Result<Vec<Option<usize>>, EncodeError> {
        Ok(vec![None; self.encode_passage(passage)?.rows()])
    }

    fn query_pieces(&self, query: &str) -> Result<Vec<String>, EncodeError> {
        Ok(vec![query.to_owned()])
    }
}
