//! Queries of learned sparse models without inference: a stored weight for each token (`SparseStaticEmbedding` of
//! sentence-transformers), often its inverse document frequency.

use super::model_config::{MAX_TOKENS, Settings};
use super::tokenization::Cause;
use super::vectors::read_tensor;
use super::{Matrix, ModelError};
use crate::term_weights;
use safetensors::SafeTensors;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tokenizers::Tokenizer;

/// Tokenizer of queries with the weights of its tokens.
pub(super) struct QueryWeights {
    tokenizer: Tokenizer,
    weights: Vec<f32>,
    /// Digest of both.
    digest: Vec<u8>,
}

impl QueryWeights {
    /// Reads the tokenizer and the weights: `model.safetensors`, or the JSON file that `config.json` names.
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("tokenizer.json");
        let mut tokenizer =
            Tokenizer::from_file(&path).map_err(|cause| ModelError::file(&path, cause))?;
        tokenizer
            .with_truncation(None)
            .map_err(|cause| ModelError::file(&path, cause))?;
        tokenizer.with_padding(None);
        let config = Settings::read_optional(&folder.join("config.json"))?;
        config.reject_others(&["frozen", "path"])?;
        let weights = match config.text("path")? {
            Some(file) => weights_by_name(&folder.join(file), &tokenizer)?,
            None => weights_by_number(&folder.join("model.safetensors"))?,
        };
        let mut digest = Sha256::new();
        digest.update(fs::read(&path).map_err(|cause| ModelError::file(&path, cause))?);
        weights
            .iter()
            .for_each(|weight| digest.update(weight.to_le_bytes()));
        Ok(Self {
            tokenizer,
            weights,
            digest: digest.finalize().to_vec(),
        })
    }

    pub(super) fn digest(&self, digest: &mut Sha256) {
        digest.update(&self.digest);
    }

    /// Returns a row for each distinct token of a query with a positive weight. Special tokens are not added.
    pub(super) fn encode(&self, query: &str) -> Result<Matrix, Cause> {
        let encoding = self.tokenizer.encode_fast(query, false)?;
        let terms: BTreeSet<u32> = encoding
            .get_ids()
            .iter()
            .take(MAX_TOKENS)
            .copied()
            .collect();
        let mut rows = Vec::new();
        for term in terms {
            let weight = self.weights.get(term as usize).copied().unwrap_or(0.0);
            if weight > 0.0 {
                rows.extend(term_weights::row(term, weight));
            }
        }
        Ok(Matrix::new(term_weights::COLUMNS, rows))
    }
}

fn weights_by_number(path: &Path) -> Result<Vec<f32>, ModelError> {
    let bytes = fs::read(path).map_err(|cause| ModelError::file(path, cause))?;
    let tensors =
        SafeTensors::deserialize(&bytes).map_err(|cause| ModelError::file(path, cause))?;
    Ok(read_tensor(&tensors, "weight")
        .map_err(|cause| ModelError::file(path, cause))?
        .1)
}

fn weights_by_name(path: &Path, tokenizer: &Tokenizer) -> Result<Vec<f32>, ModelError> {
    let text = fs::read(path).map_err(|cause| ModelError::file(path, cause))?;
    let named: Map<String, Value> =
        serde_json::from_slice(&text).map_err(|cause| ModelError::file(path, cause))?;
    let mut weights = vec![0.0; tokenizer.get_vocab_size(true)];
    for (token, weight) in named {
        let place = tokenizer
            .token_to_id(&token)
            .and_then(|id| weights.get_mut(id as usize));
        match (place, weight.as_f64()) {
            (Some(place), Some(weight)) => *place = weight as f32,
            _ => {
                return Err(ModelError::file(
                    path,
                    format!("{token:?} = {weight} is no weight of a known token"),
                ));
            }
        }
    }
    Ok(weights)
}
