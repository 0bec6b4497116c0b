//! Rows that a home re-ranks by vectors.

use super::condition::{ExperimentContext, WeightSource};
use super::tuning::FusionTuning;
use anyhow::{Context, bail, ensure};
use lodeseek_engine::{
    ComponentRankings, EncodingOptions, RerankOptions, Reranker, Searcher, WeightedFusion, encode,
};
use lodeseek_eval::{Run, Topics};
use lodeseek_index::sparse::ModelKind;
use lodeseek_rerank::{Combination, Encoder, Granularity, Method};
use serde::Deserialize;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Opens the encoder of a granularity: the one named on the command line, or one in a folder of trained models.
pub type Encoders<'e> =
    dyn Fn(Granularity, Option<&Path>) -> anyhow::Result<Box<dyn Encoder>> + Sync + 'e;

/// Candidates, encoders, and the fusion of their rankings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RerankSpec {
    /// Models whose best results are candidates. Their rankings take part in the fusion.
    #[serde(default)]
    pub pool: Vec<ModelKind>,
    /// Run file whose best results are candidates, in place of a pool. Its ranking takes part in the fusion.
    pub candidates: Option<PathBuf>,
    /// Number of candidates of each model, or of the run.
    pub depth: usize,
    /// Number of candidates by vectors, from all datasets.
    #[serde(default)]
    pub dense: usize,
    /// Encoders, by the granularity of their vectors.
    pub encoders: Vec<Granularity>,
    /// Folder of the encoders among trained models. If absent, the encoders of the command line.
    pub trained: Option<PathBuf>,
    /// Folder of the multilingual encoder among trained models. If absent, there is none.
    pub multilingual: Option<PathBuf>,
    /// File with other texts of the same topics, such as in another language. If absent, those of the collection.
    pub queries: Option<PathBuf>,
    /// If true, `trained` contains a model for each fold (`fold0`, `fold1` …) that was trained without the fold's test
    /// topics. Each topic is ranked by the model of the fold that tests it.
    #[serde(default)]
    pub by_fold: bool,
    /// Combination of the scores of metadata and data.
    #[serde(default, deserialize_with = "parse_combination")]
    pub combine: Combination,
    /// Fusion of the rankings. If absent, the single encoder ranks alone.
    #[serde(default, deserialize_with = "parse_method")]
    pub fusion: Option<Method>,
    /// `published` for equal weights, `tuned` for weights learned by folds.
    #[serde(default)]
    pub weights: WeightSource,
}

fn parse_combination<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Combination, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map_err(serde::de::Error::custom)
}

fn parse_method<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Method>, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map(Some)
        .map_err(serde::de::Error::custom)
}

impl RerankSpec {
    /// Checks that candidates come from a pool or from a run.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.pool.is_empty() == self.candidates.is_some(),
            "candidates come from a `pool` of models or from a run (`candidates = FILE`): use one of the two"
        );
        ensure!(
            self.candidates.is_none() || self.weights == WeightSource::Published,
            "weights cannot be learned for `candidates` of a run: leave `weights` out"
        );
        ensure!(
            self.queries.is_none()
                || self.candidates.is_none() && self.weights == WeightSource::Published,
            "`queries` of a row are for a `pool` with published weights"
        );
        Ok(())
    }

    pub(super) fn options(&self) -> RerankOptions {
        RerankOptions {
            pool: self.pool.clone(),
            depth: self.depth,
            dense: NonZeroUsize::new(self.dense),
            combination: self.combine,
            fusion: self.fusion.map(|method| WeightedFusion {
                method,
                weights: Vec::new(),
            }),
            works: None,
            ..RerankOptions::default()
        }
    }
}

impl ExperimentContext<'_> {
    /// Returns the home's rankings, and a description of learned weights for the report.
    pub(super) fn rerank(&mut self, spec: &RerankSpec) -> anyhow::Result<(Run, Option<String>)> {
        let searchers = self.searchers(spec)?;
        if let Some(expected) = &self.collection.home {
            // All searchers read the same home.
            expected
                .verify(searchers.for_fold(0))
                .with_context(|| self.home.display().to_string())?;
        }
        match spec.weights {
            WeightSource::Published => match &spec.candidates {
                Some(path) => self.rerank_run(&searchers, path, spec.depth),
                None => self.rerank_with_equal_weights(spec, &searchers),
            },
            WeightSource::Tuned => self.rerank_by_folds(spec, &searchers),
            WeightSource::TunedOnValid => {
                bail!("weights `tuned-on-valid` are not supported for re-ranking: use `tuned`")
            }
        }
    }

    fn searchers(&self, spec: &RerankSpec) -> anyhow::Result<Searchers> {
        match &spec.trained {
            Some(folder) if spec.by_fold => {
                let folders = (0..self.collection.folds.0.len())
                    .map(|fold| folder.join(format!("fold{fold}")));
                Ok(Searchers(
                    folders
                        .map(|folder| self.searcher(spec, Some(&folder)))
                        .collect::<Result<_, _>>()?,
                ))
            }
            Some(folder) => Ok(Searchers(vec![self.searcher(spec, Some(folder))?])),
            None if spec.by_fold => bail!("`by-fold` needs the folder `trained`"),
            None => Ok(Searchers(vec![self.searcher(spec, None)?])),
        }
    }

    /// Opens the home with the encoders. Datasets without vectors of a trained model are encoded first, as by `lodeseek
    /// index`.
    fn searcher(&self, spec: &RerankSpec, trained: Option<&Path>) -> anyhow::Result<Searcher> {
        let mut encoders = Vec::new();
        for &granularity in &spec.encoders {
            let encoder = (self.encoders)(granularity, trained)?;
            if trained.is_some() {
                encode(
                    self.home,
                    encoder.as_ref(),
                    &EncodingOptions::default(),
                    &|_| (),
                )?;
            }
            encoders.push(encoder);
        }
        let mut reranker = Reranker::open(self.home, encoders, spec.options())?;
        if let Some(folder) = &spec.multilingual {
            let encoder = (self.encoders)(Granularity::Text, Some(folder))?;
            reranker = reranker.with_multilingual(self.home, encoder, None)?;
        }
        Ok(Searcher::open(self.home)?.with_reranker(reranker))
    }

    fn searcher_for<'s>(&self, searchers: &'s Searchers, topic: &str) -> &'s Searcher {
        searchers.for_fold(self.collection.folds.test_fold(topic).unwrap_or_default())
    }

    fn rerank_with_equal_weights(
        &self,
        spec: &RerankSpec,
        searchers: &Searchers,
    ) -> anyhow::Result<(Run, Option<String>)> {
        let mut run = Run::new("lodeseek-rerank");
        let other_queries = match &spec.queries {
            Some(path) => Some(Topics::read(&self.data.join(path))?),
            None => None,
        };
        let queries = other_queries.as_ref().unwrap_or(&self.collection.queries);
        for topic in &self.collection.topics {
            let query = queries.0.iter().find(|query| query.id == *topic);
            let query = query.with_context(|| format!("the judged topic {topic} has no text"))?;
            let searcher = self.searcher_for(searchers, &query.id);
            run.insert(
                &query.id,
                searcher.rank(&query.text, FusionTuning::DEFAULT_DEPTH)?,
            );
        }
        Ok((run, None))
    }

    /// Re-ranks the best results of a run. The note counts candidates that are not in the home: they keep the last places.
    fn rerank_run(
        &mut self,
        searchers: &Searchers,
        path: &Path,
        depth: usize,
    ) -> anyhow::Result<(Run, Option<String>)> {
        let candidates = self.run(path)?.clone();
        let (mut run, mut missing, mut all) = (Run::new("lodeseek-rerank"), 0, 0);
        for query in self.queries() {
            let Some(ranking) = candidates.ranking(&query.id) else {
                continue;
            };
            let ranking = ranking.clone().cut(depth);
            let searcher = self.searcher_for(searchers, &query.id);
            for candidate in ranking.iter() {
                all += 1;
                missing += usize::from(searcher.catalog().card(&candidate.id)?.is_none());
            }
            run.insert(&query.id, searcher.rerank(&query.text, &ranking)?);
        }
        ensure!(
            missing < all,
            "none of the {all} candidates of {} is in the home: load the collection of the run",
            path.display()
        );
        Ok((
            run,
            Some(format!(
                "{all} candidates of {}, {missing} of them not in the home",
                path.display()
            )),
        ))
    }

    fn rerank_by_folds(
        &self,
        spec: &RerankSpec,
        searchers: &Searchers,
    ) -> anyhow::Result<(Run, Option<String>)> {
        let Some(method) = spec.fusion else {
            bail!("weights `tuned` need a `fusion`")
        };
        let mut runs = vec![Run::new("component"); spec.pool.len() + spec.encoders.len()];
        for query in self.queries() {
            let searcher = self.searcher_for(searchers, &query.id);
            let Some(ComponentRankings { sparse, dense, .. }) =
                searcher.tuning_pool().component_rankings(&query.text)?
            else {
                continue;
            };
            for (run, ranking) in runs.iter_mut().zip(sparse.into_iter().chain(dense)) {
                run.insert(&query.id, ranking);
            }
        }
        let tuning = FusionTuning::default().with_methods(vec![method]);
        let tuned = tuning.run(&runs, &self.collection.folds, &|step| {
            self.report_fusion(step)
        })?;
        ensure!(
            tuned
                .folds
                .iter()
                .all(|fold| fold.weights.len() == runs.len()),
            "the fusion learned another number of weights than there are rankings"
        );
        let mut by_fold = Vec::with_capacity(tuned.folds.len());
        for fold in &tuned.folds {
            let weights: Vec<String> = fold
                .weights
                .iter()
                .map(|weight| format!("{weight:.2}"))
                .collect();
            by_fold.push(weights.join(" "));
        }
        let note = format!(
            "weights by fold: {}; {:.1} candidates on average",
            by_fold.join("; "),
            tuned.pool
        );
        Ok((tuned.run, Some(note)))
    }
}

/// One searcher for all topics, or one for each fold.
struct Searchers(Vec<Searcher>);

impl Searchers {
    fn for_fold(&self, fold: usize) -> &Searcher {
        &self.0[fold % self.0.len()]
    }
}
