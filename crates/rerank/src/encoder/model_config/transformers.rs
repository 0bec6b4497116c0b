//! Configuration of a folder that transformers writes: `config.json` and the tokenizer, without any statement how the token vectors
//! become one vector. The caller states the pooling.

use super::{
    Head, ModelConfig, PooledOutput, Settings, Side, read_max_length, reject_left_side,
    sentence_transformers,
};
use crate::encoder::vectors::Pooling;
use crate::encoder::{Granularity, ModelError, POOLINGS, Similarity};
use std::path::Path;

/// Reads a folder. Vectors are compared by cosine, and prompts are read from `config_sentence_transformers.json` if it exists.
pub(super) fn read(
    folder: &Path,
    pooling: Option<&str>,
    granularity: Option<Granularity>,
) -> Result<ModelConfig, ModelError> {
    reject_left_side(folder)?;
    let pooling = match pooling {
        Some(name) => Pooling::from_name(name)
            .ok_or_else(|| ModelError::folder(folder, describe_unknown(name)))?,
        None if granularity == Some(Granularity::Piece) => Pooling::Mean,
        None => return Err(ModelError::folder(folder, MISSING)),
    };
    let length = read_max_length(folder)?;
    let settings = Settings::read_optional(&folder.join("config_sentence_transformers.json"))?;
    Ok(ModelConfig {
        towers: vec![folder.to_owned()],
        query: Side {
            prompt: sentence_transformers::read_prompt(
                &settings,
                sentence_transformers::QUERY_PROMPTS,
            )?,
            ..Side::plain(length)
        },
        document: Side {
            prompt: sentence_transformers::read_prompt(
                &settings,
                sentence_transformers::PASSAGE_PROMPTS,
            )?,
            ..Side::plain(length)
        },
        head: Head::Text {
            pooling: vec![pooling],
            prompt_counts: true,
            steps: Vec::new(),
        },
        similarity: Similarity::Cosine,
        lower_case: false,
        pooled_output: PooledOutput::Never,
        query_weights: None,
    })
}

const MISSING: &str = "without modules.json it is unknown how token vectors become one vector: add --pooling mean, cls or lasttoken, \
                       as the card of the model states";

fn describe_unknown(name: &str) -> String {
    format!(
        "unknown pooling {name:?}; supported: {}",
        POOLINGS.join(", ")
    )
}
