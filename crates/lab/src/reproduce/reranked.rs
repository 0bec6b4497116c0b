//! Rows that a home ranks again by vectors.

use super::condition::{Laboratory, WeightSource};
use super::tuning::FusionTuning;
use anyhow::{Context, bail, ensure};
use lodeseek_engine::{Components, EncodingOptions, RerankOptions, Reranker, Searcher, WeightedFusion, encode};
use lodeseek_eval::Run;
use lodeseek_index::sparse::ModelKind;
use lodeseek_rerank::{Combination, Encoder, Granularity, Method};
use serde::Deserialize;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Opens the encoder of a granularity that a condition asks for: the one named on the command line, or that in a folder
/// among trained models.
pub type Encoders<'e> = dyn Fn(Granularity, Option<&Path>) -> anyhow::Result<Box<dyn Encoder>> + Sync + 'e;

/// Candidates, encoders, and how all rankings become one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RerankSpec {
    /// The models whose best are candidates, and whose rankings are fused.
    pub pool: Vec<ModelKind>,
    /// Candidates of each model.
    pub depth: usize,
    /// Candidates by vectors of texts, from among all datasets.
    #[serde(default)]
    pub dense: usize,
    /// The encoders, by what their rows stand for.
    pub encoders: Vec<Granularity>,
    /// The folder, among trained models, of the encoders; without, those that the command line names.
    pub trained: Option<PathBuf>,
    /// Whether `trained` has a model for each fold (`fold0`, `fold1` …), trained without that fold's test topics. Each topic is
    /// ranked by the model of the fold that tests it.
    #[serde(default)]
    pub by_fold: bool,
    /// How the scores of metadata and data become one.
    #[serde(default, deserialize_with = "one_by_name")]
    pub combine: Combination,
    /// How the rankings become one; without, the one encoder ranks alone.
    #[serde(default, deserialize_with = "some_by_name")]
    pub fusion: Option<Method>,
    /// `published` for equal weights, `tuned` for weights learned by folds.
    #[serde(default)]
    pub weights: WeightSource,
}

fn one_by_name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Combination, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

fn some_by_name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Method>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(serde::de::Error::custom)
}

impl RerankSpec {
    fn options(&self) -> RerankOptions {
        RerankOptions {
            pool: self.pool.clone(),
            depth: self.depth,
            dense: NonZeroUsize::new(self.dense),
            combination: self.combine,
            fusion: self.fusion.map(|method| WeightedFusion { method, weights: Vec::new() }),
            ..RerankOptions::default()
        }
    }
}

impl Laboratory<'_> {
    /// What the home ranks, and in words how.
    pub(super) fn rerank(&self, spec: &RerankSpec) -> anyhow::Result<(Run, Option<String>)> {
        let searchers = self.searchers(spec)?;
        if let Some(expected) = &self.facts.home {
            expected.verify(searchers.of_fold(0)).with_context(|| self.home.display().to_string())?;
        }
        match spec.weights {
            WeightSource::Published => self.rerank_as_given(&searchers),
            WeightSource::Tuned => self.rerank_by_folds(spec, &searchers),
            WeightSource::TunedOnValid => bail!("fusions are tuned on training and validation topics"),
        }
    }

    fn searchers(&self, spec: &RerankSpec) -> anyhow::Result<Searchers> {
        match &spec.trained {
            Some(folder) if spec.by_fold => {
                let folders = (0..self.facts.folds.0.len()).map(|fold| folder.join(format!("fold{fold}")));
                Ok(Searchers(folders.map(|folder| self.searcher(spec, Some(&folder))).collect::<Result<_, _>>()?))
            }
            Some(folder) => Ok(Searchers(vec![self.searcher(spec, Some(folder))?])),
            None if spec.by_fold => bail!("models by fold are trained ones"),
            None => Ok(Searchers(vec![self.searcher(spec, None)?])),
        }
    }

    /// A searcher of the home; what a trained model has not encoded yet is encoded first, as `index` would.
    fn searcher(&self, spec: &RerankSpec, trained: Option<&Path>) -> anyhow::Result<Searcher> {
        let mut encoders = Vec::new();
        for &granularity in &spec.encoders {
            let encoder = (self.encoders)(granularity, trained)?;
            if trained.is_some() {
                encode(self.home, encoder.as_ref(), &EncodingOptions::default(), &|_| ())?;
            }
            encoders.push(encoder);
        }
        let reranker = Reranker::open(self.home, encoders, spec.options())?;
        Ok(Searcher::open(self.home)?.with_reranker(reranker))
    }

    fn searcher_for<'s>(&self, searchers: &'s Searchers, topic: &str) -> &'s Searcher {
        searchers.of_fold(self.facts.folds.test_fold(topic).unwrap_or_default())
    }

    fn rerank_as_given(&self, searchers: &Searchers) -> anyhow::Result<(Run, Option<String>)> {
        let mut run = Run::new("lodeseek-rerank");
        for query in self.queries() {
            let searcher = self.searcher_for(searchers, &query.id);
            run.insert(&query.id, searcher.rank(&query.text, FusionTuning::DEPTH)?);
        }
        Ok((run, None))
    }

    fn rerank_by_folds(&self, spec: &RerankSpec, searchers: &Searchers) -> anyhow::Result<(Run, Option<String>)> {
        let Some(method) = spec.fusion else { bail!("only a fusion has weights to tune") };
        let mut runs = vec![Run::new("component"); spec.pool.len() + spec.encoders.len()];
        for query in self.queries() {
            let searcher = self.searcher_for(searchers, &query.id);
            let Some(Components { sparse, dense }) = searcher.components(&query.text)? else { continue };
            for (run, ranking) in runs.iter_mut().zip(sparse.into_iter().chain(dense)) {
                run.insert(&query.id, ranking);
            }
        }
        let tuning = FusionTuning::default().with_methods(vec![method]);
        let tuned = tuning.run(&runs, &self.facts.folds, &|step| self.tell_fusion(step))?;
        ensure!(tuned.folds.iter().all(|fold| fold.weights.len() == runs.len()), "a weight for each ranking");
        let weights =
            |weights: &[f64]| weights.iter().map(|weight| format!("{weight:.2}")).collect::<Vec<_>>().join(" ");
        let by_fold: Vec<String> = tuned.folds.iter().map(|fold| weights(&fold.weights)).collect();
        let note = format!("weights by fold: {}; {:.1} candidates on average", by_fold.join("; "), tuned.pool);
        Ok((tuned.run, Some(note)))
    }
}

/// One searcher for every topic, or one a fold.
struct Searchers(Vec<Searcher>);

impl Searchers {
    fn of_fold(&self, fold: usize) -> &Searcher {
        &self.0[fold % self.0.len()]
    }
}
