//! Encoders by their folders, and the arguments that say how vectors take part in ranking.

use crate::engine::{RerankOptions, Reranker, WeightedFusion};
use crate::rerank::{Combination, Encoder, Method};
use crate::sparse::ModelKind;
use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a model runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Device {
    /// On the first accelerator there is, else on the processor.
    #[default]
    Auto,
    Cpu,
    /// On the accelerator with this number.
    Cuda(u32),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => name
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| format!("{name:?} is no device; known are auto, cpu, cuda and cuda:N")),
        }
    }
}

/// How a model runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncoderOptions {
    pub(super) device: Device,
    pub(super) threads: NonZeroUsize,
}

/// Opens the model in a folder.
pub(super) fn open_encoder(folder: &Path, options: &EncoderOptions) -> anyhow::Result<Box<dyn Encoder>> {
    ensure!(folder.is_dir(), "there is no model at {}", folder.display());
    let EncoderOptions { device, threads } = options;
    bail!("this version of the program cannot run the model at {} ({device:?}, {threads} threads)", folder.display())
}

/// The arguments that say how candidates are ranked again.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct RerankArguments {
    /// Rank candidates again with the vectors that the model in this folder made (`index --encoder`).
    #[arg(long, value_name = "FOLDER")]
    rerank: Option<PathBuf>,
    /// The models whose best are candidates [default: the ranking model].
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "rerank")]
    pool: Vec<ModelKind>,
    /// Candidates of each model.
    #[arg(long, value_name = "N", default_value = "20", requires = "rerank")]
    depth_pool: NonZeroUsize,
    /// Candidates by vectors, from among all datasets, beside those of the models.
    #[arg(long, value_name = "N", requires = "rerank")]
    dense_pool: Option<NonZeroUsize>,
    /// How the scores of metadata and data become one: max, sum, mean, metadata or data.
    #[arg(long, value_name = "HOW", default_value_t, requires = "rerank")]
    combine: Combination,
    /// Fuse the rankings of the models with that by vectors: rrf, "rrf k=60", combsum, "combsum z", combmnz or mixed
    /// [default: vectors alone].
    #[arg(long, value_name = "METHOD", requires = "rerank")]
    fusion: Option<Method>,
    /// Weights to fuse with: one for each model of the pool, then one for the vectors [default: equal].
    #[arg(long, value_name = "W", value_delimiter = ',', requires = "fusion")]
    fusion_weights: Vec<f64>,
    /// The score by vectors, for a row of the query, below which a dataset counts as closest, not as found.
    #[arg(long, value_name = "SCORE", requires = "rerank")]
    floor: Option<f64>,
    /// Where the model runs: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "auto", requires = "rerank")]
    device: Device,
    /// Threads of the model, and of scoring.
    #[arg(long, value_name = "N", default_value = "1", requires = "rerank")]
    rerank_threads: NonZeroUsize,
}

impl RerankArguments {
    /// Whether anything is to be ranked again.
    pub(super) fn is_wanted(&self) -> bool {
        self.rerank.is_some()
    }

    /// What was asked for, with candidates enough to show so many.
    pub(super) fn reranker(&self, home: &Path, shown: usize) -> anyhow::Result<Option<Reranker>> {
        let Some(folder) = &self.rerank else { return Ok(None) };
        let encoder = open_encoder(folder, &EncoderOptions { device: self.device, threads: self.rerank_threads })?;
        let none = || format!("{} cannot rank", folder.display());
        Reranker::open(home, encoder, self.options(shown)).map(Some).with_context(none)
    }

    fn options(&self, shown: usize) -> RerankOptions {
        let weighted = |method| WeightedFusion { method, weights: self.fusion_weights.clone() };
        RerankOptions {
            pool: self.pool.clone(),
            depth: self.depth_pool.get().max(shown),
            dense: self.dense_pool,
            combination: self.combine,
            fusion: self.fusion.map(weighted),
            floor: self.floor,
            threads: self.rerank_threads,
        }
    }
}

/// What a reranker is, for the record of a run.
pub(super) fn record(reranker: &Reranker) -> Value {
    let (encoder, options) = (reranker.encoder(), reranker.options());
    json!({
        "model": encoder.name(),
        "fingerprint": encoder.fingerprint(),
        "pool": options.pool.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "depth_pool": options.depth,
        "dense_pool": options.dense,
        "combination": options.combination.name(),
        "fusion": options.fusion.as_ref().map(|fusion| fusion.method.to_string()),
        "fusion_weights": options.fusion.as_ref().map(|fusion| fusion.weights.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name() {
        for (name, device) in
            [("auto", Device::Auto), ("cpu", Device::Cpu), ("cuda", Device::Cuda(0)), ("cuda:3", Device::Cuda(3))]
        {
            assert_eq!(name.parse(), Ok(device));
        }
        for wrong in ["", "gpu", "cuda:", "cuda:x", "cuda3"] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
    }
}
