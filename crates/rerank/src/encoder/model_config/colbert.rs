//! Configuration of ColBERT models (Khattab and Zaharia, SIGIR 2020) in the layouts of Stanford's code and PyLate.

use super::{
    Expansion, Head, Marker, ModelConfig, PooledOutput, Settings, Side, Skipped, Step,
    reject_left_side,
};
use crate::encoder::vectors::{Activation, Dense};
use crate::encoder::{ModelError, Similarity};
use std::path::{Path, PathBuf};

/// Python's `string.punctuation`.
const PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
/// Default lengths of queries and passages in Stanford's code.
const STANFORD_LENGTHS: (usize, usize) = (32, 220);
/// Default lengths of queries and passages in PyLate.
const PYLATE_LENGTHS: (usize, usize) = (32, 180);

fn punctuation() -> Vec<String> {
    PUNCTUATION.chars().map(String::from).collect()
}

pub(super) fn is_stanford(folder: &Path) -> Result<bool, ModelError> {
    let config = Settings::read_optional(&folder.join("config.json"))?;
    let named = config
        .texts("architectures")?
        .is_some_and(|names| names.iter().any(|name| name == "HF_ColBERT"));
    Ok(folder.join("artifact.metadata").exists() || named && !folder.join("modules.json").exists())
}

/// Reads a checkpoint of Stanford's code. Queries are always expanded with masks, and punctuation in passages has no vectors.
/// The projection has no bias; it is read from the weights file, because the graph ends before it.
pub(super) fn stanford(folder: &Path) -> Result<ModelConfig, ModelError> {
    reject_left_side(folder)?;
    let settings = Settings::read_optional(&folder.join("artifact.metadata"))?;
    settings.expect_value("similarity", &"cosine".into())?;
    let length = settings
        .length("query_maxlen")?
        .unwrap_or(STANFORD_LENGTHS.0);
    let attended = settings.flag("attend_to_mask_tokens")?.unwrap_or(false);
    let query = Side {
        marker: Some(stanford_marker(&settings, "query", "[unused0]", "[Q]")?),
        expansion: Some(Expansion {
            token: None,
            length,
            attended,
        }),
        ..Side::plain(length)
    };
    let skips = settings.flag("mask_punctuation")?.unwrap_or(true);
    let document = Side {
        marker: Some(stanford_marker(&settings, "doc", "[unused1]", "[D]")?),
        skipped: if skips {
            Skipped::FirstPieces(punctuation())
        } else {
            Skipped::Nothing
        },
        ..Side::plain(settings.length("doc_maxlen")?.unwrap_or(STANFORD_LENGTHS.1))
    };
    let projection = Dense::read(
        &folder.join("model.safetensors"),
        false,
        Activation::Identity,
    )?;
    if settings
        .number("dim")?
        .is_some_and(|dimension| dimension != projection.rows())
    {
        return Err(settings.refusal(
            "dim",
            &format!("linear.weight gives vectors of {}", projection.rows()),
        ));
    }
    Ok(token_config(
        folder.to_owned(),
        query,
        document,
        vec![Step::Dense(projection), Step::Normalize],
        false,
    ))
}

fn stanford_marker(
    settings: &Settings,
    side: &str,
    token: &str,
    shown: &str,
) -> Result<Marker, ModelError> {
    let token = settings
        .text(&format!("{side}_token_id"))?
        .unwrap_or(token)
        .to_owned();
    Ok(Marker {
        token,
        shown: settings
            .text(&format!("{side}_token"))?
            .unwrap_or(shown)
            .to_owned(),
    })
}

/// Returns true if `config_sentence_transformers.json` was written by PyLate.
pub(super) fn is_pylate(model: &Settings) -> bool {
    ["query_prefix", "document_prefix", "do_query_expansion"]
        .iter()
        .any(|key| model.has(key))
}

pub(super) fn pylate(
    tower: PathBuf,
    model: &Settings,
    steps: Vec<Step>,
    lower_case: bool,
) -> Result<ModelConfig, ModelError> {
    model.expect_value("similarity_fn_name", &"MaxSim".into())?;
    let steps = steps.into_iter().chain([Step::Normalize]).collect();
    let (query, document) = pylate_sides(model)?;
    Ok(token_config(tower, query, document, steps, lower_case))
}

/// Reads the output of `pylate-onnx-export`, whose graph contains projection and normalisation. Normalising the rows again only
/// removes small deviations of int8.
pub(super) fn pylate_export(folder: &Path) -> Result<ModelConfig, ModelError> {
    reject_left_side(folder)?;
    let settings = Settings::read(&folder.join("onnx_config.json"))?;
    let (query, document) = pylate_sides(&settings)?;
    let lower_case = settings.flag("do_lower_case")?.unwrap_or(false);
    Ok(token_config(
        folder.to_owned(),
        query,
        document,
        vec![Step::Normalize],
        lower_case,
    ))
}

fn pylate_sides(settings: &Settings) -> Result<(Side, Side), ModelError> {
    let length = settings.length("query_length")?.unwrap_or(PYLATE_LENGTHS.0);
    let expands = settings.flag("do_query_expansion")?.unwrap_or(true);
    let attended = settings
        .flag("attend_to_expansion_tokens")?
        .unwrap_or(false);
    let query = Side {
        marker: pylate_marker(settings, "query_prefix", "[Q] ")?,
        expansion: expands.then_some(Expansion {
            token: None,
            length,
            attended,
        }),
        ..Side::plain(length)
    };
    let document = Side {
        marker: pylate_marker(settings, "document_prefix", "[D] ")?,
        skipped: Skipped::Entries(
            settings
                .texts("skiplist_words")?
                .unwrap_or_else(punctuation),
        ),
        ..Side::plain(
            settings
                .length("document_length")?
                .unwrap_or(PYLATE_LENGTHS.1),
        )
    };
    Ok((query, document))
}

/// Reads a prefix of PyLate, which is one token including its space. An empty prefix means no marker.
fn pylate_marker(
    settings: &Settings,
    key: &str,
    token: &str,
) -> Result<Option<Marker>, ModelError> {
    let token = settings.text(key)?.unwrap_or(token);
    if token.is_empty() {
        return Ok(None);
    }
    Ok(Some(Marker {
        token: token.to_owned(),
        shown: token.trim().to_owned(),
    }))
}

fn token_config(
    tower: PathBuf,
    query: Side,
    document: Side,
    steps: Vec<Step>,
    lower_case: bool,
) -> ModelConfig {
    ModelConfig {
        towers: vec![tower],
        query,
        document,
        head: Head::Tokens { steps },
        similarity: Similarity::Dot,
        lower_case,
        pooled_output: PooledOutput::Never,
        query_weights: None,
    }
}
