//! Configuration of DPR models (Karpukhin et al., EMNLP 2020): one network for questions, one for passages, the unmodified
//! vector of the first token, and the inner product.

use super::{Head, ModelConfig, PooledOutput, Settings, Side, read_max_length, reject_left_side};
use crate::encoder::vectors::Pooling;
use crate::encoder::{ModelError, Similarity};
use std::path::{Path, PathBuf};

pub(super) const QUESTIONS: &str = "question_encoder";
pub(super) const PASSAGES: &str = "ctx_encoder";

pub(super) fn read(folder: &Path) -> Result<ModelConfig, ModelError> {
    let towers = vec![folder.join(QUESTIONS), folder.join(PASSAGES)];
    let pooled_output = pooled_output(&towers)?;
    Ok(ModelConfig {
        query: read_side(&towers, 0)?,
        document: read_side(&towers, 1)?,
        towers,
        head: Head::Text {
            pooling: vec![Pooling::First],
            prompt_counts: true,
            steps: Vec::new(),
        },
        similarity: Similarity::Dot,
        lower_case: false,
        pooled_output,
        query_weights: None,
    })
}

fn read_side(towers: &[PathBuf], tower: usize) -> Result<Side, ModelError> {
    reject_left_side(&towers[tower])?;
    Ok(Side {
        tower,
        ..Side::plain(read_max_length(&towers[tower])?)
    })
}

/// Reads `projection_dim`: a projection of the first token's vector exists if it is not 0. Both towers must agree.
fn pooled_output(towers: &[PathBuf]) -> Result<PooledOutput, ModelError> {
    let mut sizes = Vec::new();
    for tower in towers {
        let config = Settings::read(&tower.join("config.json"))?;
        config.expect_value("model_type", &"dpr".into())?;
        sizes.push(config.number("projection_dim")?.unwrap_or(0));
        if sizes[0] != sizes[sizes.len() - 1] {
            return Err(config.refusal("projection_dim", "the other tower has a different value"));
        }
    }
    Ok(if sizes[0] == 0 {
        PooledOutput::Serves
    } else {
        PooledOutput::Required
    })
}
