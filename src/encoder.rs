//! Encoders by their folders, and the arguments that say how vectors take part in ranking.

use super::model::ModelArguments;
use anyhow::{Context, ensure};
use lodeseek_engine::{RerankOptions, Reranker, WeightedFusion};
use lodeseek_index::sparse::ModelKind;
use lodeseek_rerank::encoder::{Device, EncoderOptions, library_in, open, open_both, stated_floor};
use lodeseek_rerank::{Combination, Encoder, Granularity, Method, Normalization};
use serde_json::{Value, json};
use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Models, and how they are run.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct EncoderArguments {
    /// A model with one vector a text, in this folder: sentence-transformers, DPR.
    #[arg(long, value_name = "FOLDER")]
    dpr: Option<PathBuf>,
    /// A model with a vector a piece, in this folder: ColBERT, or the pieces of a sentence-transformers model.
    #[arg(long, value_name = "FOLDER")]
    colbert: Option<PathBuf>,
    /// The ONNX file in the models' folders, such as model_int8.onnx [default: model.onnx, or model_int8.onnx
    /// where that is all there is].
    #[arg(long, value_name = "FILE")]
    onnx: Option<String>,
    /// Where the models run: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    device: Device,
    /// Threads of one run of a model, and of scoring [default: one for each physical core while encoding, 1 for a query:
    /// more hinder one another].
    #[arg(long, value_name = "N")]
    model_threads: Option<NonZeroUsize>,
    /// ONNX Runtime's library [default: ORT_DYLIB_PATH, else what `make setup` put into the cache, else the system's].
    #[arg(long, value_name = "FILE")]
    onnxruntime: Option<PathBuf>,
}

impl EncoderArguments {
    /// Whether any model is named.
    pub(super) fn is_any(&self) -> bool {
        self.dpr.is_some() || self.colbert.is_some()
    }

    /// The models, that with a vector a text first; on so many threads where nothing else was asked for.
    pub(super) fn open(&self, threads: Option<NonZeroUsize>) -> anyhow::Result<Vec<Box<dyn Encoder>>> {
        if let (Some(dpr), Some(colbert)) = (&self.dpr, &self.colbert)
            && dpr.canonicalize().is_ok_and(|dpr| colbert.canonicalize().is_ok_and(|colbert| dpr == colbert))
        {
            check_folder(dpr)?;
            let both = open_both(dpr, &self.options(None, threads))?;
            tracing::debug!(model = both[0].name(), device = both[0].device(), "model opened for both");
            return Ok(both.into());
        }
        let asked = [(&self.dpr, Granularity::Text), (&self.colbert, Granularity::Piece)];
        let folders = asked.into_iter().filter_map(|(folder, granularity)| Some((folder.as_deref()?, granularity)));
        folders.map(|(folder, granularity)| self.open_as(folder, granularity, threads)).collect()
    }

    /// The model of a granularity, which must have been named.
    pub(super) fn one(&self, granularity: Granularity) -> anyhow::Result<Box<dyn Encoder>> {
        let (folder, flag) = match granularity {
            Granularity::Text => (&self.dpr, "--dpr"),
            Granularity::Piece => (&self.colbert, "--colbert"),
        };
        let folder = folder.as_deref().with_context(|| format!("this needs a model: {flag} FOLDER"))?;
        self.open_as(folder, granularity, None)
    }

    /// A model in a folder that no flag names.
    pub(super) fn of_folder(&self, granularity: Granularity, folder: &Path) -> anyhow::Result<Box<dyn Encoder>> {
        self.open_as(folder, granularity, None)
    }

    /// The model with one vector a text, if one is named, on all processors.
    pub(super) fn text(&self) -> anyhow::Result<Option<Box<dyn Encoder>>> {
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

    /// The floors that the models' folders state; none where one states none.
    fn floors(&self) -> anyhow::Result<Vec<f64>> {
        let asked = [(&self.dpr, Granularity::Text), (&self.colbert, Granularity::Piece)];
        let mut floors = Vec::new();
        for (folder, rows) in asked.into_iter().filter_map(|(folder, rows)| Some((folder.as_deref()?, rows))) {
            let Some(floor) = stated_floor(folder, rows)? else { return Ok(Vec::new()) };
            floors.push(floor);
        }
        Ok(floors)
    }

    fn library(&self) -> Option<PathBuf> {
        let named = || env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
        self.onnxruntime.clone().or_else(named).or_else(|| library_in(&cache()?))
    }
}

fn check_folder(folder: &Path) -> anyhow::Result<()> {
    ensure!(folder.is_dir(), "there is no model at {}: it is a folder with model.onnx", folder.display());
    Ok(())
}

/// The folder that `make setup` puts libraries and models into.
fn cache() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let users = || folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    folder("LODESEEK_CACHE").or_else(|| Some(users()?.join("lodeseek")))
}

/// The arguments that say how candidates are ranked again.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Ranking again by vectors (of models that `index` was given)")]
pub(super) struct RerankArguments {
    #[command(flatten)]
    encoders: EncoderArguments,
    /// The models whose best are candidates [default: fsdm,bm25; or the one model that --model, --fields, --weights or
    /// --lengths make; or, with --popularity alone, the usual model].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pool: Vec<ModelKind>,
    /// Candidates of each model.
    #[arg(long, value_name = "N", default_value = "30")]
    pool_depth: NonZeroUsize,
    /// Candidates by the vectors of --dpr, from among all datasets, beside those of the models; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 10)]
    dense_depth: usize,
    /// How the scores of metadata and data become one: max, sum, mean, metadata or data.
    #[arg(long, value_name = "HOW", default_value_t)]
    combine: Combination,
    /// How the rankings of the models and those by vectors become one: rrf, "rrf k=60", combsum, "combsum z", combmnz or
    /// mixed; or none, for vectors alone [default: combsum].
    #[arg(long, value_name = "METHOD", value_parser = fusion)]
    fusion: Option<Joining>,
    /// Weights to fuse with: one for each model of the pool, then of --dpr, then of --colbert [default: equal].
    #[arg(long, value_name = "W", value_delimiter = ',')]
    fusion_weights: Vec<f64>,
    /// Adds WEIGHT · ln(1 + n) to a dataset's score, n the works known to use it or, where nobody counted, its names. Both
    /// were counted when the catalogue was made: knowledge from later than the query.
    #[arg(long, value_name = "WEIGHT")]
    popularity: Option<f64>,
    /// The scores by vectors, of --dpr, then of --colbert for a piece of the query, below which a dataset counts as
    /// closest, not as found [default: what lodeseek.json in the models' folders says, if all say it; 0 for none].
    #[arg(long, value_name = "SCORE", value_delimiter = ',')]
    floor: Vec<f64>,
}

/// Whether rankings are fused, and how.
#[derive(Clone, Copy, Debug)]
enum Joining {
    VectorsAlone,
    Fused(Method),
}

fn fusion(name: &str) -> Result<Joining, String> {
    if name == "none" {
        return Ok(Joining::VectorsAlone);
    }
    name.parse().map(Joining::Fused).map_err(|error: lodeseek_rerank::ParseMethodError| error.to_string())
}

impl RerankArguments {
    /// Whether anything is to be ranked again.
    pub(super) fn is_wanted(&self) -> bool {
        self.encoders.is_any() || self.popularity.is_some()
    }

    /// What was asked for, with candidates enough to show so many.
    pub(super) fn reranker(&self, home: &Path, pool: Vec<ModelKind>, shown: usize) -> anyhow::Result<Option<Reranker>> {
        if !self.is_wanted() {
            return Ok(None);
        }
        Ok(Some(Reranker::open(home, self.encoders.open(Some(NonZeroUsize::MIN))?, self.options(pool, shown)?)?))
    }

    /// The pool named, else the usual one beside vectors; popularity alone is added to what ranks without it.
    pub(super) fn pool_or_usual(&self) -> Vec<ModelKind> {
        if self.pool.is_empty() && self.encoders.is_any() {
            return vec![ModelKind::Fsdm, ModelKind::Bm25];
        }
        self.pool.clone()
    }

    /// The same beside the arguments of a ranking model; these, where they say something, are the pool: an empty one.
    pub(super) fn pool_beside(&self, ranking: &ModelArguments) -> anyhow::Result<Vec<ModelKind>> {
        if ranking.is_usual() {
            return Ok(self.pool_or_usual());
        }
        ensure!(self.pool.is_empty(), "--pool names its own models: it does not go with --model, --fields, --weights");
        Ok(Vec::new())
    }

    /// The pool where every model ranks for itself: that model.
    pub(super) fn pool_of_each(&self) -> anyhow::Result<Vec<ModelKind>> {
        ensure!(self.pool.is_empty(), "--pool does not go with --models: each has its own candidates");
        Ok(Vec::new())
    }

    fn options(&self, pool: Vec<ModelKind>, shown: usize) -> anyhow::Result<RerankOptions> {
        let method = match self.fusion.unwrap_or(Joining::Fused(Method::CombSum(Normalization::MinMax))) {
            Joining::VectorsAlone => None,
            Joining::Fused(_) if pool.len() < 2 && !self.encoders.is_any() => None,
            Joining::Fused(method) => Some(method),
        };
        Ok(RerankOptions {
            pool,
            depth: self.pool_depth.get().max(shown),
            dense: NonZeroUsize::new(self.dense_depth).filter(|_| self.encoders.dpr.is_some()),
            combination: self.combine,
            fusion: method.map(|method| WeightedFusion { method, weights: self.fusion_weights.clone() }),
            floors: if self.floor.is_empty() { self.encoders.floors()? } else { floors(&self.floor) },
            popularity: self.popularity,
            threads: self.encoders.model_threads.unwrap_or(NonZeroUsize::MIN),
        })
    }
}

/// Likeness may be below 0: a floor of 0 that stands for none must be below everything.
fn floors(asked: &[f64]) -> Vec<f64> {
    asked.iter().map(|&floor| if floor == 0.0 { f64::NEG_INFINITY } else { floor }).collect()
}

/// What a reranker is, for the record of a run.
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
        "floors": options.floors,
        "popularity": options.popularity,
        "fusion_weights": options.fusion.as_ref().map(|fusion| fusion.weights.clone()),
    })
}

/// The tag of a run that a reranker made, over a model where it has no pool of its own.
pub(super) fn tag(model: &str, reranker: &Reranker) -> String {
    let pool: Vec<&str> = reranker.options().pool.iter().map(|kind| kind.name()).collect();
    let pool = if pool.is_empty() { model.to_owned() } else { pool.join("+") };
    let encoders = reranker.encoders().map(|encoder| format!("+{}", encoder.name().replace(char::is_whitespace, "-")));
    [pool].into_iter().chain(encoders).collect()
}

/// What the rows of an encoder stand for, to people.
pub(super) fn rows(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Text => "texts",
        Granularity::Piece => "words",
    }
}
