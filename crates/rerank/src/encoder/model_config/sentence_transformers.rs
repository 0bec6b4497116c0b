//! Configuration of sentence-transformers models: a list of modules, each with its own folder and settings.

use super::{
    Expansion, Head, ModelConfig, PooledOutput, Settings, Side, Skipped, Step, colbert,
    read_max_length, reject_left_side,
};
use crate::encoder::vectors::{Dense, Pooling};
use crate::encoder::{ModelError, Similarity};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Entry of `modules.json`.
#[derive(Deserialize)]
pub(in crate::encoder) struct Module {
    pub(in crate::encoder) path: String,
    pub(in crate::encoder) r#type: String,
}

/// Names of the prompt of queries.
pub(in crate::encoder) const QUERY_PROMPTS: &[&str] = &["query"];
/// Names of the prompt of passages, in the order of precedence.
pub(in crate::encoder) const PASSAGE_PROMPTS: &[&str] = &["document", "passage", "corpus"];

/// Settings of the modules after the transformer.
#[derive(Default)]
struct Modules {
    pooling: Option<(Vec<Pooling>, bool)>,
    steps: Vec<Step>,
    skipped: Option<Skipped>,
}

/// Old form of the settings in `1_Pooling/config.json`, in the order of concatenation.
const OLD_POOLING: [(&str, Pooling); 6] = [
    ("pooling_mode_cls_token", Pooling::First),
    ("pooling_mode_max_tokens", Pooling::Max),
    ("pooling_mode_mean_tokens", Pooling::Mean),
    ("pooling_mode_mean_sqrt_len_tokens", Pooling::MeanSqrt),
    ("pooling_mode_weightedmean_tokens", Pooling::WeightedMean),
    ("pooling_mode_lasttoken", Pooling::Last),
];

pub(super) fn read(folder: &Path) -> Result<ModelConfig, ModelError> {
    let (tower, modules) = read_modules(folder)?;
    reject_left_side(&tower)?;
    let model = Settings::read_optional(&folder.join("config_sentence_transformers.json"))?;
    let transformer = read_transformer(&tower)?;
    if colbert::is_pylate(&model) {
        return colbert::pylate(tower, &model, modules.steps, do_lower_case(&transformer)?);
    }
    let length = match transformer.length("max_seq_length")? {
        Some(length) => length,
        None => read_max_length(&tower)?,
    };
    let mut query = Side {
        prompt: read_prompt(&model, QUERY_PROMPTS)?,
        ..Side::plain(length)
    };
    let mut document = Side {
        prompt: read_prompt(&model, PASSAGE_PROMPTS)?,
        ..Side::plain(length)
    };
    if modules.skipped.is_some() {
        query.length = transformer.length("query_length")?.unwrap_or(length);
        document.length = transformer.length("document_length")?.unwrap_or(length);
        set_expansion(&mut query, transformer.section("query_expansion")?)?;
    } else if transformer.get("query_expansion").is_some() {
        return Err(transformer.refusal(
            "query_expansion",
            "only models with a MultiVectorMask expand queries",
        ));
    }
    let similarity = read_similarity(&model, modules.skipped.is_some())?;
    let lower_case = do_lower_case(&transformer)?;
    let head = read_head(folder, modules, &mut document)?;
    Ok(ModelConfig {
        towers: vec![tower],
        query,
        document,
        head,
        similarity,
        lower_case,
        pooled_output: PooledOutput::Never,
        query_weights: None,
    })
}

fn read_head(folder: &Path, modules: Modules, document: &mut Side) -> Result<Head, ModelError> {
    match (modules.pooling, modules.skipped) {
        (Some((pooling, prompt_counts)), None) => Ok(Head::Text {
            pooling,
            prompt_counts,
            steps: modules.steps,
        }),
        (None, Some(skipped)) if matches!(modules.steps.last(), Some(Step::Normalize)) => {
            document.skipped = skipped;
            Ok(Head::Tokens {
                steps: modules.steps,
            })
        }
        (None, Some(_)) => Err(ModelError::folder(
            folder,
            "modules.json has a MultiVectorMask, but no Normalize at its end",
        )),
        _ => Err(ModelError::folder(
            folder,
            "modules.json needs either a Pooling or a MultiVectorMask",
        )),
    }
}

/// Reads `modules.json`: returns the transformer's folder and the settings of the other modules.
fn read_modules(folder: &Path) -> Result<(PathBuf, Modules), ModelError> {
    let (path, list) = module_list(folder)?;
    let (first, rest) = list
        .split_first()
        .ok_or_else(|| ModelError::folder(folder, "modules.json is empty"))?;
    if class_name(first) != "Transformer" {
        return Err(module_error(
            path,
            first,
            "the first module must be a Transformer",
        ));
    }
    let mut modules = Modules::default();
    for module in rest {
        let place = folder.join(&module.path);
        match class_name(module) {
            "Pooling" if modules.steps.is_empty() => modules.pooling = Some(read_pooling(&place)?),
            "Dense" => modules.steps.push(Step::Dense(read_dense(&place)?)),
            "Normalize" => modules.steps.push(Step::Normalize),
            "MultiVectorMask" => modules.skipped = Some(read_skipped_tokens(&place)?),
            _ => {
                return Err(module_error(
                    path,
                    module,
                    "this module is not known, or not at this place",
                ));
            }
        }
    }
    Ok((folder.join(&first.path), modules))
}

fn module_error(path: PathBuf, module: &Module, reason: &str) -> ModelError {
    ModelError::Setting {
        path,
        key: "type".to_owned(),
        value: module.r#type.clone(),
        reason: reason.to_owned(),
    }
}

/// Reads the entries of `modules.json`; returns them with its path.
pub(in crate::encoder) fn module_list(folder: &Path) -> Result<(PathBuf, Vec<Module>), ModelError> {
    let path = folder.join("modules.json");
    let text = std::fs::read_to_string(&path).map_err(|cause| ModelError::file(&path, cause))?;
    let list = serde_json::from_str(&text).map_err(|cause| ModelError::file(&path, cause))?;
    Ok((path, list))
}

/// Returns the last component of the module's class path.
pub(in crate::encoder) fn class_name(module: &Module) -> &str {
    module.r#type.rsplit('.').next().unwrap_or_default()
}

/// Reads the settings of the transformer.
fn read_transformer(tower: &Path) -> Result<Settings, ModelError> {
    let settings = transformer_of_task(tower, "feature-extraction")?;
    settings.expect_value("module_output_name", &"token_embeddings".into())?;
    Ok(settings)
}

/// Reads the settings of a transformer, which must have this task if one is stated.
pub(super) fn transformer_of_task(tower: &Path, task: &str) -> Result<Settings, ModelError> {
    let settings = Settings::read_optional(&tower.join("sentence_bert_config.json"))?;
    let lengths = [
        "max_seq_length",
        "do_lower_case",
        "query_length",
        "document_length",
        "query_expansion",
    ];
    let others = [
        "transformer_task",
        "modality_config",
        "module_output_name",
        "processing_kwargs",
        "unpad_inputs",
    ];
    settings.reject_others(&[&lengths[..], &others[..]].concat())?;
    settings.expect_value("transformer_task", &task.into())?;
    settings.expect_value("processing_kwargs", &serde_json::json!({}))?;
    Ok(settings)
}

pub(super) fn do_lower_case(transformer: &Settings) -> Result<bool, ModelError> {
    Ok(transformer.flag("do_lower_case")?.unwrap_or(false))
}

/// Returns the first non-empty prompt of these names, or an empty text.
///
/// As in `encode_query` and `encode_document` of sentence-transformers 5, `default_prompt_name` is ignored. There every model
/// has the prompts `query` and `document`, empty by default, and an empty prompt overrides the default one. The default applies
/// to `encode` only, which does not distinguish queries from passages. One deviation: sentence-transformers stops at the empty
/// `document` prompt that it adds, while this function continues with `passage` and `corpus`, which models are trained with.
pub(in crate::encoder) fn read_prompt(
    model: &Settings,
    names: &[&str],
) -> Result<String, ModelError> {
    let Some(prompts) = model.section("prompts")? else {
        return Ok(String::new());
    };
    for name in names {
        if let Some(prompt) = prompts.text(name)?.filter(|prompt| !prompt.is_empty()) {
            return Ok(prompt.to_owned());
        }
    }
    Ok(String::new())
}

pub(in crate::encoder) fn read_similarity(
    model: &Settings,
    by_piece: bool,
) -> Result<Similarity, ModelError> {
    match (model.text("similarity_fn_name")?, by_piece) {
        (None | Some("cosine"), false) => Ok(Similarity::Cosine),
        (Some("dot" | "dot_product"), false) => Ok(Similarity::Dot),
        (None | Some("maxsim" | "MaxSim"), true) => Ok(Similarity::Dot),
        _ => Err(model.refusal(
            "similarity_fn_name",
            "vectors are not compared that way here",
        )),
    }
}

fn read_pooling(place: &Path) -> Result<(Vec<Pooling>, bool), ModelError> {
    let settings = Settings::read(&place.join("config.json"))?;
    let old = OLD_POOLING.map(|(key, _)| key);
    settings.reject_others(
        &[
            &old[..],
            &[
                "pooling_mode",
                "embedding_dimension",
                "word_embedding_dimension",
                "include_prompt",
            ],
        ]
        .concat(),
    )?;
    let prompt_counts = settings.flag("include_prompt")?.unwrap_or(true);
    let modes = if settings.has("pooling_mode") {
        new_pooling(&settings)?
    } else {
        old_pooling(&settings)?
    };
    Ok((modes, prompt_counts))
}

fn new_pooling(settings: &Settings) -> Result<Vec<Pooling>, ModelError> {
    let names = match settings.get("pooling_mode") {
        Some(serde_json::Value::String(name)) => vec![name.clone()],
        _ => settings.texts("pooling_mode")?.unwrap_or_default(),
    };
    let modes: Option<Vec<_>> = names.iter().map(|name| Pooling::from_name(name)).collect();
    modes
        .filter(|modes| !modes.is_empty())
        .ok_or_else(|| settings.refusal("pooling_mode", "this pooling is not known"))
}

/// Reads the old form of pooling settings. Mean pooling is the only one that is enabled by default.
fn old_pooling(settings: &Settings) -> Result<Vec<Pooling>, ModelError> {
    let mut modes = Vec::new();
    for (key, mode) in OLD_POOLING {
        if settings.flag(key)?.unwrap_or(mode == Pooling::Mean) {
            modes.push(mode);
        }
    }
    if modes.is_empty() {
        return Err(settings.refusal("pooling_mode_mean_tokens", "no pooling mode is enabled"));
    }
    Ok(modes)
}

fn read_dense(place: &Path) -> Result<Dense, ModelError> {
    let settings = Settings::read(&place.join("config.json"))?;
    let sizes = ["in_features", "out_features", "bias", "activation_function"];
    settings.reject_others(
        &[
            &sizes[..],
            &["use_residual", "module_input_name", "module_output_name"],
        ]
        .concat(),
    )?;
    let has_residual = settings.flag("use_residual")?.unwrap_or(false);
    // The default of sentence-transformers.
    let name = settings
        .text("activation_function")?
        .unwrap_or("torch.nn.modules.activation.Tanh");
    let activation = name
        .rsplit('.')
        .next()
        .and_then(crate::encoder::vectors::Activation::from_class)
        .ok_or_else(|| settings.refusal("activation_function", "this activation is not known"))?;
    let biased = settings.flag("bias")?.unwrap_or(true);
    Dense::read_with_residual(
        &place.join("model.safetensors"),
        biased,
        activation,
        has_residual,
    )
}

fn read_skipped_tokens(place: &Path) -> Result<Skipped, ModelError> {
    let settings = Settings::read(&place.join("config.json"))?;
    settings.reject_others(&["skiplist_words", "skiplist_tasks", "keep_only_token_ids"])?;
    settings.expect_value("skiplist_tasks", &serde_json::json!(["document"]))?;
    settings.expect_value("keep_only_token_ids", &serde_json::Value::Null)?;
    Ok(Skipped::KnownEntries(
        settings.texts("skiplist_words")?.unwrap_or_default(),
    ))
}

/// Applies the settings of query expansion: `fixed` truncates or expands queries to one length, `min` expands short ones.
fn set_expansion(query: &mut Side, settings: Option<Settings>) -> Result<(), ModelError> {
    let Some(settings) = settings else {
        return Ok(());
    };
    settings.reject_others(&["strategy", "attend", "token", "length"])?;
    let length = settings.required_length("length")?;
    match settings.text("strategy")? {
        Some("fixed") => query.length = length,
        Some("min") => {}
        _ => return Err(settings.refusal("strategy", "fixed or min is expected")),
    }
    let attended = settings.flag("attend")?.unwrap_or(false);
    query.expansion = Some(Expansion {
        token: settings.text("token")?.map(str::to_owned),
        length,
        attended,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Returns the prompts of queries and passages.
    fn prompts(settings: &Value) -> (String, String) {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("config_sentence_transformers.json");
        std::fs::write(&file, settings.to_string()).expect("settings");
        let model = Settings::read(&file).expect("settings");
        (
            read_prompt(&model, QUERY_PROMPTS).expect("texts"),
            read_prompt(&model, PASSAGE_PROMPTS).expect("texts"),
        )
    }

    #[test]
    fn the_default_prompt_lands_on_neither_side() {
        let of = |query: &str, passage: &str| (query.to_owned(), passage.to_owned());
        let default = |prompts: Value| json!({"prompts": prompts, "default_prompt_name": "query"});
        assert_eq!(
            prompts(&default(json!({"query": "find: ", "document": ""}))),
            of("find: ", "")
        );
        assert_eq!(
            prompts(&default(json!({"query": "find: "}))),
            of("find: ", "")
        );
        assert_eq!(
            prompts(&default(
                json!({"query": "", "document": "", "corpus": "text: "})
            )),
            of("", "text: ")
        );
        let other =
            json!({"prompts": {"query": "", "other": "x: "}, "default_prompt_name": "other"});
        assert_eq!(prompts(&other), of("", ""));
        assert_eq!(prompts(&json!({"default_prompt_name": null})), of("", ""));
    }
}
