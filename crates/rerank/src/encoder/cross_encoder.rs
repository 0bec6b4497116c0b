//! Cross-encoders: a network reads a query and a text together and returns one score (R. Nogueira, K. Cho: *Passage Re-ranking
//! with BERT*, 2019).
//!
//! The layout is that of sentence-transformers: `config.json` of a sequence classifier with one label, and the tokenizer. The
//! activation of the score is read from `config.json`; without one it is the logistic function, as there.

use super::model::find_graph;
use super::model_config::{Settings, read_max_length, reject_left_side};
use super::runtime::{Batch, Network, PooledOutputs};
use super::vectors::Activation;
use super::{EncodeError, EncoderOptions, ModelError, PairScorer, folder_name};
use std::path::Path;
use tokenizers::{Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

/// Opened model.
pub(super) struct CrossEncoder {
    name: String,
    tokenizer: Tokenizer,
    network: Network,
    activation: Activation,
}

impl CrossEncoder {
    pub(super) fn open(folder: &Path, options: &EncoderOptions) -> Result<Self, ModelError> {
        let config = Settings::read(&folder.join("config.json"))?;
        reject_left_side(folder)?;
        let path = folder.join("tokenizer.json");
        let mut tokenizer =
            Tokenizer::from_file(&path).map_err(|cause| ModelError::file(&path, cause))?;
        let truncation = TruncationParams {
            direction: TruncationDirection::Right,
            max_length: read_max_length(folder)?,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|cause| ModelError::file(&path, cause))?;
        tokenizer.with_padding(None);
        let network = Network::load(
            &find_graph(folder, options)?,
            options,
            PooledOutputs::Logits,
        )?;
        if network.columns != 1 {
            let reason = format!(
                "the model has {} labels; a cross-encoder has one, the relevance",
                network.columns
            );
            return Err(ModelError::folder(folder, reason));
        }
        Ok(Self {
            name: folder_name(folder),
            tokenizer,
            network,
            activation: read_activation(&config)?,
        })
    }

    fn error(&self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> EncodeError {
        EncodeError {
            model: self.name.clone(),
            cause: cause.into(),
        }
    }
}

/// Reads the activation of the score.
fn read_activation(config: &Settings) -> Result<Activation, ModelError> {
    const NEW_KEY: &str = "activation_fn";
    const OLD_KEY: &str = "sbert_ce_default_activation_function";
    let settings = config.section("sentence_transformers")?;
    let (place, key) = match &settings {
        Some(settings) if settings.get(NEW_KEY).is_some() => (settings, NEW_KEY),
        _ => (config, OLD_KEY),
    };
    let Some(name) = place.text(key)? else {
        return Ok(Activation::Sigmoid);
    };
    name.rsplit('.')
        .next()
        .and_then(Activation::from_class)
        .ok_or_else(|| place.refusal(key, &format!("the activation {name} is not known")))
}

fn to_i64(values: &[u32]) -> Vec<i64> {
    values.iter().map(|&value| i64::from(value)).collect()
}

impl PairScorer for CrossEncoder {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, query: &str, text: &str) -> Result<f64, EncodeError> {
        let encoding = self
            .tokenizer
            .encode_fast((query, text), true)
            .map_err(|cause| self.error(cause))?;
        let batch = Batch {
            texts: 1,
            width: encoding.len(),
            ids: to_i64(encoding.get_ids()),
            attention: vec![1; encoding.len()],
            types: Some(to_i64(encoding.get_type_ids())),
        };
        let logits = self
            .network
            .run(&batch)
            .map_err(|cause| self.error(cause.to_string()))?;
        Ok(f64::from(self.activation.apply(logits[0])))
    }
}
