//! Configuration of learned sparse models (T. Formal et al.: *SPLADE v2*, 2021) as sentence-transformers writes them: a masked
//! language model with `SpladePooling`. With a `Router`, queries may have a weight for each token instead, without inference.

use super::sentence_transformers::{class_name, do_lower_case, module_list, transformer_of_task};
use super::{
    Head, ModelConfig, PooledOutput, Settings, Side, TermPooling, read_max_length, reject_left_side,
};
use crate::encoder::{ModelError, Similarity};
use std::path::{Path, PathBuf};

/// Folders of the modules of a sparse model.
struct Modules {
    transformer: PathBuf,
    pooling: PathBuf,
    query_weights: Option<PathBuf>,
}

/// Reads the settings of a folder; `None` if it is no sparse model.
pub(super) fn read(folder: &Path) -> Result<Option<ModelConfig>, ModelError> {
    let (_, list) = module_list(folder)?;
    let kinds: Vec<&str> = list.iter().map(class_name).collect();
    let modules = match kinds[..] {
        ["Router"] => read_routes(folder)?,
        ["MLMTransformer" | "Transformer", "SpladePooling"] => Modules {
            transformer: folder.join(&list[0].path),
            pooling: folder.join(&list[1].path),
            query_weights: None,
        },
        _ => return Ok(None),
    };
    let tower = modules.transformer;
    reject_left_side(&tower)?;
    let transformer = transformer_of_task(&tower, "fill-mask")?;
    let length = match transformer.length("max_seq_length")? {
        Some(length) => length,
        None => read_max_length(&tower)?,
    };
    let model = Settings::read_optional(&folder.join("config_sentence_transformers.json"))?;
    model.expect_value("similarity_fn_name", &"dot".into())?;
    Ok(Some(ModelConfig {
        query: Side::plain(length),
        document: Side::plain(length),
        head: Head::Terms(read_pooling(&modules.pooling)?),
        similarity: Similarity::Dot,
        lower_case: do_lower_case(&transformer)?,
        pooled_output: PooledOutput::Never,
        query_weights: modules.query_weights,
        towers: vec![tower],
    }))
}

/// Reads the routes of a `Router`: documents through a masked language model, queries through the weights of their tokens.
fn read_routes(folder: &Path) -> Result<Modules, ModelError> {
    let settings = Settings::read(&folder.join("router_config.json"))?;
    let types = settings
        .section("types")?
        .ok_or_else(|| settings.refusal("types", "it is missing"))?;
    let structure = settings
        .section("structure")?
        .ok_or_else(|| settings.refusal("structure", "it is missing"))?;
    let document = read_route(folder, &types, &structure, "document")?;
    let query = read_route(folder, &types, &structure, "query")?;
    match (&document[..], &query[..]) {
        ([transformer, pooling], [weights])
            if matches!(&*transformer.class, "MLMTransformer" | "Transformer")
                && pooling.class == "SpladePooling"
                && weights.class == "SparseStaticEmbedding" =>
        {
            Ok(Modules {
                transformer: transformer.folder.clone(),
                pooling: pooling.folder.clone(),
                query_weights: Some(weights.folder.clone()),
            })
        }
        _ => Err(settings.refusal(
            "structure",
            "only documents by MLMTransformer and SpladePooling with queries by SparseStaticEmbedding are possible",
        )),
    }
}

/// A module of a route.
struct RouteModule {
    /// Name of its class, without the path of the class.
    class: String,
    folder: PathBuf,
}

/// Reads the modules of a route, in their order.
fn read_route(
    folder: &Path,
    types: &Settings,
    structure: &Settings,
    name: &str,
) -> Result<Vec<RouteModule>, ModelError> {
    let modules = structure
        .texts(name)?
        .ok_or_else(|| structure.refusal(name, "it is missing"))?;
    let mut route = Vec::with_capacity(modules.len());
    for module in modules {
        let class = types
            .text(&module)?
            .ok_or_else(|| types.refusal(&module, "it is missing"))?;
        route.push(RouteModule {
            class: class.rsplit('.').next().unwrap_or_default().to_owned(),
            folder: folder.join(&module),
        });
    }
    Ok(route)
}

fn read_pooling(place: &Path) -> Result<TermPooling, ModelError> {
    let settings = Settings::read(&place.join("config.json"))?;
    let sizes = [
        "embedding_dimension",
        "word_embedding_dimension",
        "chunk_size",
    ];
    settings.reject_others(&[&sizes[..], &["pooling_strategy", "activation_function"]].concat())?;
    let is_sum = match settings.text("pooling_strategy")? {
        None | Some("max") => false,
        Some("sum") => true,
        _ => return Err(settings.refusal("pooling_strategy", "max or sum is expected")),
    };
    let is_log_twice = match settings.text("activation_function")? {
        None | Some("relu") => false,
        Some("log1p_relu") => true,
        _ => return Err(settings.refusal("activation_function", "relu or log1p_relu is expected")),
    };
    Ok(TermPooling {
        is_sum,
        is_log_twice,
    })
}
