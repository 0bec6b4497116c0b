//! Arguments of encoders and of re-ranking by vectors.

use super::model::ModelArguments;
#[cfg(feature = "lab")]
use anyhow::Context;
use anyhow::ensure;
use lodeseek_engine::{RerankOptions, Reranker, WeightedFusion};
use lodeseek_index::sparse::ModelKind;
use lodeseek_rerank::encoder::{Device, EncoderOptions, configured_min_similarity, find_library, open, open_both};
use lodeseek_rerank::{Combination, Encoder, Granularity, Method, Normalization};
use serde_json::{Value, json};
use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Encoder models and their execution.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct EncoderArguments {
    /// Folder of a model with one vector per text (DPR, sentence-transformers).
    #[arg(long, value_name = "FOLDER")]
    dpr: Option<PathBuf>,
    /// Folder of a model with one vector per token (ColBERT, or the token vectors of a sentence-transformers model).
    #[arg(long, value_name = "FOLDER")]
    colbert: Option<PathBuf>,
    /// Name of the ONNX file in the folders of the models, such as model_int8.onnx [default: model.onnx, else
    /// model_int8.onnx].
    #[arg(long, value_name = "FILE")]
    onnx: Option<String>,
    /// Device of the models: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    device: Device,
    /// Number of threads of one model run, and of scoring [default: the number of physical cores while encoding, 1 for a
    /// query].
    #[arg(long, value_name = "N")]
    model_threads: Option<NonZeroUsize>,
    /// Path of the ONNX Runtime library [default: ORT_DYLIB_PATH, else the one that `make setup` downloaded, else the
    /// system's].
    #[arg(long, value_name = "FILE")]
    onnxruntime: Option<PathBuf>,
}

impl EncoderArguments {
    /// Returns true if a model is given.
    pub(super) fn is_any(&self) -> bool {
        self.dpr.is_some() || self.colbert.is_some()
    }

    /// Opens the models, DPR first. `threads` is the default of --model-threads.
    pub(super) fn open(&self, threads: Option<NonZeroUsize>) -> anyhow::Result<Vec<Box<dyn Encoder>>> {
        if let (Some(dpr), Some(colbert)) = (&self.dpr, &self.colbert)
            && dpr.canonicalize().is_ok_and(|dpr| colbert.canonicalize().is_ok_and(|colbert| dpr == colbert))
        {
            check_folder(dpr)?;
            let both = open_both(dpr, &self.options(None, threads))?;
            tracing::debug!(model = both[0].name(), device = both[0].device(), "model opened for both");
            return Ok(both.into());
        }
        self.folders().map(|(folder, granularity)| self.open_as(folder, granularity, threads)).collect()
    }

    /// Returns the folders of the models with their granularities, DPR first.
    fn folders(&self) -> impl Iterator<Item = (&Path, Granularity)> {
        let folders = [(&self.dpr, Granularity::Text), (&self.colbert, Granularity::Piece)];
        folders.into_iter().filter_map(|(folder, granularity)| Some((folder.as_deref()?, granularity)))
    }

    /// Opens the model of a granularity.
    ///
    /// # Errors
    /// If there is no argument for it, or the model cannot be opened.
    #[cfg(feature = "lab")]
    pub(super) fn open_required(&self, granularity: Granularity) -> anyhow::Result<Box<dyn Encoder>> {
        let (folder, flag) = match granularity {
            Granularity::Text => (&self.dpr, "--dpr"),
            Granularity::Piece => (&self.colbert, "--colbert"),
        };
        let folder = folder.as_deref().with_context(|| format!("no model is given; add {flag} FOLDER"))?;
        self.open_as(folder, granularity, None)
    }

    /// Opens a model in a folder that is not an argument.
    #[cfg(feature = "lab")]
    pub(super) fn open_folder(&self, granularity: Granularity, folder: &Path) -> anyhow::Result<Box<dyn Encoder>> {
        self.open_as(folder, granularity, None)
    }

    /// Opens the model with one vector per text, if it is given.
    pub(super) fn open_text_encoder(&self) -> anyhow::Result<Option<Box<dyn Encoder>>> {
        self.dpr.as_deref().map(|folder| self.open_as(folder, Granularity::Text, None)).transpose()
    }

    fn open_as(
        &self,
        folder: &Path,
        granularity: Granularity,
        threads: Option<NonZeroUsize>,
    ) -> anyhow::Result<Box<dyn Encoder>> {
        check_folder(folder)?;
        let encoder = open(folder, &self.options(Some(granularity), threads))?;
        tracing::debug!(model = encoder.name(), device = encoder.device(), "model opened");
        Ok(encoder)
    }

    fn options(&self, granularity: Option<Granularity>, threads: Option<NonZeroUsize>) -> EncoderOptions {
        EncoderOptions {
            library: self.library(),
            device: self.device,
            threads: self.model_threads.or(threads).map(NonZeroUsize::get),
            variant: self.onnx.clone(),
            granularity,
            ..EncoderOptions::default()
        }
    }

    /// Returns the minimum similarities that the folders of the models declare, or an empty list if one declares none.
    fn declared_min_similarities(&self) -> anyhow::Result<Vec<f64>> {
        let mut declared = Vec::new();
        for (folder, granularity) in self.folders() {
            let Some(similarity) = configured_min_similarity(folder, granularity)? else { return Ok(Vec::new()) };
            declared.push(similarity);
        }
        Ok(declared)
    }

    /// Returns the path of the ONNX Runtime library: of the argument, the environment or the cache.
    fn library(&self) -> Option<PathBuf> {
        let library = self.onnxruntime.clone().or_else(|| path_of_variable("ORT_DYLIB_PATH"));
        library.or_else(|| find_library(&cache_folder()?))
    }
}

fn check_folder(folder: &Path) -> anyhow::Result<()> {
    ensure!(folder.is_dir(), "there is no model at {}; name a folder that contains model.onnx", folder.display());
    Ok(())
}

/// Returns the folder into which `make setup` downloads libraries and models.
fn cache_folder() -> Option<PathBuf> {
    path_of_variable("LODESEEK_CACHE").or_else(|| Some(user_cache_folder()?.join("lodeseek")))
}

fn user_cache_folder() -> Option<PathBuf> {
    path_of_variable("XDG_CACHE_HOME").or_else(|| Some(path_of_variable("HOME")?.join(".cache")))
}

/// Returns the path in an environment variable, or `None` if it is not set or empty.
fn path_of_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Arguments of re-ranking.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Re-ranking by vectors (of models that `index` was run with)")]
pub(super) struct RerankArguments {
    #[command(flatten)]
    encoders: EncoderArguments,
    /// Ranking models whose best datasets are candidates [default: fsdm,bm25; with --model, --fields, --weights or --lengths
    /// that one model; with --popularity alone the default model].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pool: Vec<ModelKind>,
    /// Number of candidates of each model.
    #[arg(long, value_name = "N", default_value = "30")]
    pool_depth: NonZeroUsize,
    /// Number of additional candidates: the nearest of all datasets by the vectors of --dpr; 0 disables.
    #[arg(long, value_name = "N", default_value_t = 10)]
    dense_depth: usize,
    /// Combination of the scores of metadata and data: max, sum, mean, metadata or data.
    #[arg(long, value_name = "HOW", default_value_t)]
    combine: Combination,
    /// Fusion of the rankings by models and by vectors: rrf, "rrf k=60", combsum, "combsum z", combmnz or mixed; none ranks by
    /// vectors only [default: combsum].
    #[arg(long, value_name = "METHOD", value_parser = fusion)]
    fusion: Option<FusionArgument>,
    /// Fusion weights: one for each model of the pool, then for --dpr, then for --colbert [default: equal].
    #[arg(long, value_name = "W", value_delimiter = ',')]
    fusion_weights: Vec<f64>,
    /// Add WEIGHT · ln(1 + n) to the score of a dataset. n is the number of works that use it or, if unknown, of its names,
    /// as of the catalogue. In evaluations this is information published after the query (leakage).
    #[arg(long, value_name = "WEIGHT")]
    popularity: Option<f64>,
    /// Minimum similarities of a match: of --dpr, then of --colbert per query token. Datasets below are shown as nearest
    /// results, not as matches [default: the values in lodeseek.json of the models, if all declare one; 0 disables].
    #[arg(long, alias = "floor", value_name = "SCORE", value_delimiter = ',')]
    min_similarity: Vec<f64>,
}

/// Value of `--fusion`.
#[derive(Clone, Copy, Debug)]
enum FusionArgument {
    /// No fusion: the vectors rank alone.
    VectorsOnly,
    /// Fusion of all rankings.
    Fused(Method),
}

/// Parses the value of `--fusion`.
fn fusion(name: &str) -> Result<FusionArgument, String> {
    if name == "none" {
        return Ok(FusionArgument::VectorsOnly);
    }
    name.parse().map(FusionArgument::Fused).map_err(|error: lodeseek_rerank::ParseMethodError| error.to_string())
}

impl RerankArguments {
    /// Returns true if the arguments request re-ranking.
    pub(super) fn is_requested(&self) -> bool {
        self.encoders.is_any() || self.popularity.is_some()
    }

    /// Opens the reranker that the arguments specify, with at least `shown` candidates. Returns `None` without re-ranking.
    pub(super) fn reranker(&self, home: &Path, pool: Vec<ModelKind>, shown: usize) -> anyhow::Result<Option<Reranker>> {
        if !self.is_requested() {
            return Ok(None);
        }
        Ok(Some(Reranker::open(home, self.encoders.open(Some(NonZeroUsize::MIN))?, self.options(pool, shown)?)?))
    }

    /// Returns the value of --pool. Its default is FSDM and BM25 with vectors, and empty without.
    pub(super) fn pool_or_default(&self) -> Vec<ModelKind> {
        if self.pool.is_empty() && self.encoders.is_any() {
            return vec![ModelKind::Fsdm, ModelKind::Bm25];
        }
        self.pool.clone()
    }

    /// Returns the pool for commands with a ranking model. If that model is specified, it is the pool, and the result empty.
    ///
    /// # Errors
    /// If both --pool and a ranking model are specified.
    pub(super) fn pool_with_model(&self, ranking: &ModelArguments) -> anyhow::Result<Vec<ModelKind>> {
        if ranking.is_default() {
            return Ok(self.pool_or_default());
        }
        ensure!(
            self.pool.is_empty(),
            "--pool cannot be combined with --model, --fields, --weights or --lengths; remove one of them"
        );
        Ok(Vec::new())
    }

    /// Returns the empty pool for commands in which each of --models supplies its own candidates.
    ///
    /// # Errors
    /// If --pool is specified.
    pub(super) fn pool_of_each_model(&self) -> anyhow::Result<Vec<ModelKind>> {
        ensure!(
            self.pool.is_empty(),
            "--pool cannot be combined with --models: each model supplies its own candidates"
        );
        Ok(Vec::new())
    }

    /// Returns the minimum similarities of the argument or of the models. Similarities can be negative, so 0 (disabled) becomes
    /// negative infinity.
    fn min_similarities(&self) -> anyhow::Result<Vec<f64>> {
        if self.min_similarity.is_empty() {
            return self.encoders.declared_min_similarities();
        }
        let similarities = self.min_similarity.iter();
        Ok(similarities.map(|&value| if value == 0.0 { f64::NEG_INFINITY } else { value }).collect())
    }

    fn options(&self, pool: Vec<ModelKind>, shown: usize) -> anyhow::Result<RerankOptions> {
        let method = match self.fusion.unwrap_or(FusionArgument::Fused(Method::CombSum(Normalization::MinMax))) {
            FusionArgument::VectorsOnly => None,
            FusionArgument::Fused(_) if pool.len() < 2 && !self.encoders.is_any() => None,
            FusionArgument::Fused(method) => Some(method),
        };
        Ok(RerankOptions {
            pool,
            depth: self.pool_depth.get().max(shown),
            dense: NonZeroUsize::new(self.dense_depth).filter(|_| self.encoders.dpr.is_some()),
            combination: self.combine,
            fusion: method.map(|method| WeightedFusion { method, weights: self.fusion_weights.clone() }),
            min_similarities: self.min_similarities()?,
            popularity: self.popularity,
            threads: self.encoders.model_threads.unwrap_or(NonZeroUsize::MIN),
        })
    }
}

/// Describes a reranker for the provenance record of a run.
pub(super) fn record(reranker: &Reranker) -> Value {
    let options = reranker.options();
    let encoder = |encoder: &dyn Encoder| json!({ "model": encoder.name(), "fingerprint": encoder.fingerprint(), "granularity": encoder.granularity() });
    json!({
        "encoders": reranker.encoders().map(encoder).collect::<Vec<_>>(),
        "pool": options.pool.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "pool_depth": options.depth,
        "dense_depth": options.dense,
        "combination": options.combination.name(),
        "fusion": options.fusion.as_ref().map(|fusion| fusion.method.to_string()),
        "floors": options.min_similarities,
        "popularity": options.popularity,
        "fusion_weights": options.fusion.as_ref().map(|fusion| fusion.weights.clone()),
    })
}

/// Returns the tag of a re-ranked run: the pool, or `model` if the pool is empty, and the encoders.
pub(super) fn tag(model: &str, reranker: &Reranker) -> String {
    let pool: Vec<&str> = reranker.options().pool.iter().map(|kind| kind.name()).collect();
    let pool = if pool.is_empty() { model.to_owned() } else { pool.join("+") };
    let encoders = reranker.encoders().map(|encoder| format!("+{}", encoder.name().replace(char::is_whitespace, "-")));
    [pool].into_iter().chain(encoders).collect()
}

/// Returns the name that users know for the method of a granularity.
pub(super) fn method_name(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Text => "DPR",
        Granularity::Piece => "ColBERT",
    }
}
