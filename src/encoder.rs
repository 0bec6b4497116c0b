//! Arguments of encoders and of re-ranking by vectors.

use super::config::Config;
use super::model::ModelArguments;
use super::ranking::{Choice, FusionSettings, Opened, Preset};
use super::values::positive;
use anyhow::ensure;
pub(super) use lodeseek_cli::encoder::EncoderArguments;
use lodeseek_cli::encoder::MULTILINGUAL_MODEL;
use lodeseek_engine::{
    LongQueryOptions, MULTILINGUAL_WEIGHT, RerankOptions, Reranker, WeightedFusion,
    has_encoded_works, index_folder, ranks_by_works,
};
use lodeseek_index::sparse::ModelKind;
use lodeseek_rerank::{Combination, Encoder, Granularity, Method, Normalization, ParseMethodError};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

/// Default number of candidates of each model of the pool.
const DEFAULT_POOL_DEPTH: usize = 30;
/// Default number of candidates by vectors.
const DEFAULT_DENSE_DEPTH: usize = 10;
/// Default number of candidates of each model, and by vectors, in a home of descriptions and works.
const DEFAULT_WORKS_DEPTH: usize = 100;
/// Default fusion weights in a home of descriptions and works: of all models of the pool together, of the vectors of texts, and
/// of works. Weights and depth were chosen on DataFinder's dev topics.
const WORKS_WEIGHTS: [f64; 3] = [0.15, 1.0, 0.4];
/// Default options for long queries in such a home, chosen on the same topics.
const LONG_QUERY_OPTIONS: LongQueryOptions = LongQueryOptions {
    works: NonZeroUsize::new(25).expect("above 0"),
    works_weight: 0.5,
};

/// Arguments of re-ranking.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Ranking")]
pub(super) struct RerankArguments {
    /// Ranking: words (one model, by default BM25), balanced (FSDM and BM25, fused) or best (fused with the vectors of --dpr
    /// and --colbert) [default: as indexed, else best].
    #[arg(long, value_name = "PRESET")]
    pub(super) ranking: Option<Preset>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// Cross-encoder that orders the ten best datasets: its folder, or the name of an installed model [default: none].
    #[arg(long, value_name = "MODEL")]
    cross_encoder: Option<String>,
    /// Maximum time of --cross-encoder for a query, in milliseconds. After it, the order before remains [default: 1000].
    #[arg(long, value_name = "MS")]
    cross_encoder_deadline: Option<u64>,
    /// Ranking models whose best datasets are candidates [default: fsdm,bm25; with --model, --fields, --weights or --lengths
    /// that one model].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pool: Vec<ModelKind>,
    /// Number of candidates of each model [default: 30; with works and descriptions alone: 100].
    #[arg(long, value_name = "N", value_parser = positive)]
    pool_depth: Option<NonZeroUsize>,
    /// Number of additional candidates: the nearest of all datasets by the vectors of --dpr, and by --sparse; 0 disables [default: 10;
    /// with works and descriptions alone: 100].
    #[arg(long, value_name = "N")]
    dense_depth: Option<usize>,
    /// Combination of the scores of metadata and data: max, sum, mean, metadata or data [default: max].
    #[arg(long, value_name = "HOW")]
    combine: Option<Combination>,
    /// Fusion of the rankings by models and by vectors: rrf, "rrf k=60", combsum, "combsum z", combmnz or mixed; none ranks by
    /// vectors only [default: combsum].
    #[arg(long, value_name = "METHOD")]
    fusion: Option<FusionChoice>,
    /// Fusion weights: one for each model of the pool, then for --dpr, --colbert and --sparse, then for works if there are some.
    /// Only these rankings take part: lodeseek-multilingual does not [default: equal; if datasets are descriptions alone and works are loaded: .15 for the pool, 1 for --dpr, .4 for works (.5 if
    /// the query has eight words or more)].
    #[arg(long, value_name = "W", value_delimiter = ',')]
    fusion_weights: Vec<f64>,
    /// Add WEIGHT · ln(1 + n) to the score of a dataset. n is the number of works that use it or, if unknown, of its names,
    /// as of the catalogue. In evaluations this is information published after the query (leakage).
    #[arg(long, value_name = "WEIGHT")]
    popularity: Option<f64>,
    /// Number of works nearest to the query that vote for the datasets they use, if works are loaded; 0 ignores works
    /// [default: 50; if datasets are descriptions alone and the query has eight words or more: 25].
    #[arg(long, value_name = "N")]
    works: Option<usize>,
    /// Minimum similarities of a match: of --dpr, then of --colbert per query token, then of --sparse per query term. Datasets
    /// below are shown as nearest results, not as matches; 0 disables [default: the values in lodeseek.json of the models, if
    /// --dpr and --colbert have one; if --sparse has none, its scores alone make no match].
    #[arg(long, alias = "floor", value_name = "SCORE", value_delimiter = ',')]
    min_similarity: Vec<f64>,
}

/// Value of `--fusion` and of the key `fusion.method`.
#[derive(Clone, Copy, Debug)]
pub(super) enum FusionChoice {
    /// No fusion: the vectors rank alone.
    VectorsOnly,
    /// Fusion of all rankings.
    Fused(Method),
}

impl FromStr for FusionChoice {
    type Err = ParseMethodError;

    fn from_str(name: &str) -> Result<Self, ParseMethodError> {
        if name == "none" {
            return Ok(Self::VectorsOnly);
        }
        name.parse().map(Self::Fused)
    }
}

/// Time at which a reranker looks for works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WorksUse {
    /// When it is opened. They are not expected to change.
    AtStart,
    /// After each change of a served collection.
    Followed,
}

impl RerankArguments {
    /// Creates the arguments of a command that chooses nothing but a preset. Everything else is as configured.
    pub(super) fn from_preset(ranking: Option<Preset>) -> Self {
        Self {
            ranking,
            ..Self::default()
        }
    }

    /// Returns the arguments, completed by the settings. Minimum similarities belong to the models of the home.
    fn with_settings(&self, choice: &Choice) -> Self {
        let settings = choice.rerank_settings();
        let mut merged = self.clone();
        merged.pool_depth = self.pool_depth.or(settings.pool_depth);
        merged.dense_depth = self.dense_depth.or(settings.dense_depth);
        merged.combine = self.combine.or(settings.combine);
        merged.works = self.works.or(settings.works);
        if merged.min_similarity.is_empty() && !self.encoders.is_any() {
            merged.min_similarity = settings.min_similarity.clone().unwrap_or_default();
        }
        merged
    }

    /// Returns true if the arguments name models or a preset, or request re-ranking.
    pub(super) fn is_requested(&self) -> bool {
        self.encoders.is_any()
            || self.ranking.is_some()
            || self.popularity.is_some()
            || self.cross_encoder.is_some()
    }

    /// Returns the chosen ranking. A ranking model, if one is given without a preset and without --dpr or --colbert, ranks alone.
    ///
    /// # Errors
    /// If arguments contradict each other.
    pub(super) fn choice(
        &self,
        home: &Path,
        config: &Config,
        model: Option<&ModelArguments>,
    ) -> anyhow::Result<Choice> {
        let choice = Choice::new(home, config, Some(&self.encoders), self.ranking)?;
        let is_given = model.is_some_and(ModelArguments::is_given);
        ensure!(
            self.pool.is_empty() || !is_given,
            "--pool cannot be combined with --model, --fields, --weights or --lengths; remove one of them"
        );
        let is_alone = is_given && self.ranking.is_none() && !self.encoders.is_any();
        Ok(if is_alone {
            choice.without_models()
        } else {
            choice
        })
    }

    /// Opens the reranker of a choice, with at least `shown` candidates. Returns `None` if one model ranks alone.
    ///
    /// # Errors
    /// If the home has no vectors of a model that was named, or options are not valid.
    pub(super) fn reranker(
        &self,
        home: &Path,
        choice: &Choice,
        model: Option<&ModelArguments>,
        shown: usize,
    ) -> anyhow::Result<Option<Reranker>> {
        let opened = choice.open_for(home)?.or_warn()?;
        let is_single =
            model.is_some_and(ModelArguments::is_given) || choice.preset() == Preset::Words;
        let pool = if is_single {
            self.pool.clone()
        } else {
            self.pool_of(choice)
        };
        self.reranker_of(home, choice, opened, pool, shown, WorksUse::AtStart)
    }

    /// Opens the reranker of opened encoders. Returns `None` if one model ranks alone.
    ///
    /// # Errors
    /// If options are not valid.
    pub(super) fn reranker_of(
        &self,
        home: &Path,
        choice: &Choice,
        opened: Opened,
        pool: Vec<ModelKind>,
        shown: usize,
        works: WorksUse,
    ) -> anyhow::Result<Option<Reranker>> {
        let cross_encoding = choice
            .open_cross_encoder(self.cross_encoder.as_deref(), self.cross_encoder_deadline)?;
        if opened.encoders.is_empty()
            && pool.len() < 2
            && self.popularity.is_none()
            && cross_encoding.is_none()
        {
            return Ok(None);
        }
        let reranker = self
            .with_settings(choice)
            .fusing_reranker(home, choice, opened, pool, shown, works)?;
        Ok(Some(match cross_encoding {
            Some(cross_encoding) => reranker.with_cross_encoding(cross_encoding),
            None => reranker,
        }))
    }

    /// Opens the reranker without a cross-encoder.
    fn fusing_reranker(
        &self,
        home: &Path,
        choice: &Choice,
        opened: Opened,
        pool: Vec<ModelKind>,
        shown: usize,
        works: WorksUse,
    ) -> anyhow::Result<Reranker> {
        let Opened {
            mut encoders,
            multilingual,
            ..
        } = opened;
        // Another fusion has no defaults for works.
        let has_works_defaults = self.works != Some(0) && self.fusion_of(choice).is_none();
        let ranks_by_works = has_works_defaults && ranks_by_works(home, &encoders)?;
        if ranks_by_works && works == WorksUse::AtStart {
            encoders.retain(|encoder| self.is_used_with_works(encoder.granularity()));
            let options = self.works_options(choice, &granularities(&encoders), pool, shown)?;
            return Ok(Reranker::open(home, encoders, options)?);
        }
        let all = granularities(&encoders);
        let mut options = self.options(choice, &all, pool.clone(), shown)?;
        let has_works = has_encoded_works(home, &encoders)?;
        // Without their works, the rankings are others than those of the configuration.
        let ignores_works = has_works && self.works == Some(0);
        if !encoders.is_empty() && !ignores_works {
            let rankings = ranking_names(&options.pool, &all, has_works);
            let configured = self.set_configured_fusion(choice, &rankings, &mut options);
            // A fusion that was learned with the options for works has no weights for all encoders, which rank after their removal.
            if !ranks_by_works {
                configured?;
            }
        }
        let mut reranker = Reranker::open(home, encoders, options)?;
        // Weights of the command line name the rankings that take part, and the multilingual one has none.
        let is_multilingual = reranker.options().fusion.is_some() && self.fusion_weights.is_empty();
        if let Some(multilingual) = multilingual.filter(|_| is_multilingual) {
            let min_similarity = multilingual.min_similarity;
            reranker = reranker.with_multilingual(home, multilingual.encoder, min_similarity)?;
        }
        if !has_works_defaults {
            return Ok(reranker);
        }
        // A server may receive its first works later, and lose all of them.
        let used: Vec<Granularity> = all
            .into_iter()
            .filter(|granularity| self.is_used_with_works(*granularity))
            .collect();
        match self.works_options(choice, &used, pool, shown) {
            Ok(options) if ranks_by_works => Ok(reranker
                .with_works_options(options, &used)
                .starting_with_works(home)?),
            Ok(options) => Ok(reranker.with_works_options(options, &used)),
            Err(error) if ranks_by_works => Err(error),
            // The configured fusion was learned without works.
            Err(_) => Ok(reranker),
        }
    }

    /// Returns true if an encoder is used where works rank with their own defaults. Vectors of tokens add nothing to votes of works.
    /// They are used only if an argument names or weights them.
    fn is_used_with_works(&self, granularity: Granularity) -> bool {
        granularity == Granularity::Text
            || self.encoders.is_any()
            || !self.fusion_weights.is_empty()
    }

    /// Returns the options where works rank with their own defaults, for the encoders that are used then.
    fn works_options(
        &self,
        choice: &Choice,
        encoders: &[Granularity],
        pool: Vec<ModelKind>,
        shown: usize,
    ) -> anyhow::Result<RerankOptions> {
        let of_texts = choice.clone().with_text_model_only();
        let choice = if self.is_used_with_works(Granularity::Piece) {
            choice
        } else {
            &of_texts
        };
        let mut options = self.options(choice, encoders, pool, shown)?;
        let rankings = ranking_names(&options.pool, encoders, true);
        self.set_configured_fusion(choice, &rankings, &mut options)?;
        self.set_works_defaults(&mut options, encoders, shown);
        Ok(options)
    }

    /// Returns the value of --pool, else of the configuration, else the default.
    pub(super) fn pool_of(&self, choice: &Choice) -> Vec<ModelKind> {
        match choice.fusion().pool {
            Some(pool) if self.pool.is_empty() => pool,
            _ => self.pool_or_default(),
        }
    }

    /// Returns the value of --fusion, else of the configuration.
    fn fusion_of(&self, choice: &Choice) -> Option<FusionChoice> {
        self.fusion.or(choice.fusion_method())
    }

    /// Sets the fusion of the configuration, as far as no argument sets another one. It belongs to the pool with which it was learned,
    /// and to all encoders of the home.
    ///
    /// # Errors
    /// If it has another number of weights than there are rankings.
    fn set_configured_fusion(
        &self,
        choice: &Choice,
        rankings: &[String],
        options: &mut RerankOptions,
    ) -> anyhow::Result<()> {
        let FusionSettings {
            pool,
            weights,
            popularity,
            ..
        } = choice.fusion();
        let is_other = !self.pool.is_empty() || pool.is_some_and(|pool| pool != options.pool);
        if is_other || options.pool.is_empty() {
            return Ok(());
        }
        options.popularity = options.popularity.or(popularity);
        let Some(weights) = weights.filter(|_| self.fusion_weights.is_empty()) else {
            return Ok(());
        };
        let Some(fusion) = options.fusion.as_mut().filter(|_| self.fusion.is_none()) else {
            return Ok(());
        };
        check_weight_count(&weights, rankings)?;
        fusion.weights = weights;
        Ok(())
    }

    /// Checks the weights of the configuration as a search does, for a home with an index.
    ///
    /// # Errors
    /// If a search would reject them.
    pub(super) fn check_configured_weights(home: &Path, config: &Config) -> anyhow::Result<()> {
        let Some(weights) = &config.settings.fusion.weights else {
            return Ok(());
        };
        let arguments = Self::default();
        let choice = arguments.choice(home, config, None)?;
        // Other presets ignore them.
        if choice.fusion().weights.is_none() {
            return Ok(());
        }
        // Works, which have a weight, are known to the index alone.
        if index_folder(home).exists() {
            arguments.reranker(home, &choice, None, 1)?;
            return Ok(());
        }
        let encoders = choice.granularities();
        let pool = arguments.pool_of(&choice);
        let with_works = ranking_names(&pool, &encoders, true);
        if weights.len() == with_works.len() {
            return Ok(());
        }
        check_weight_count(weights, &ranking_names(&pool, &encoders, false))
    }

    /// Returns the value of --pool, by default FSDM and BM25.
    pub(super) fn pool_or_default(&self) -> Vec<ModelKind> {
        if self.pool.is_empty() {
            vec![ModelKind::Fsdm, ModelKind::Bm25]
        } else {
            self.pool.clone()
        }
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
    fn min_similarities(
        &self,
        choice: &Choice,
        encoders: &[Granularity],
    ) -> anyhow::Result<Vec<Option<f64>>> {
        if self.min_similarity.is_empty() {
            return if encoders.is_empty() {
                Ok(Vec::new())
            } else {
                choice.declared_min_similarities()
            };
        }
        let similarities = self.min_similarity.iter();
        Ok(similarities
            .map(|&value| {
                Some(if value == 0.0 {
                    f64::NEG_INFINITY
                } else {
                    value
                })
            })
            .collect())
    }

    /// Sets the defaults for a home of descriptions and works, as far as no argument or configuration sets another
    /// value. Long queries have other defaults only if neither works nor weights are set. Vectors of tokens get the
    /// weight 0.
    fn set_works_defaults(
        &self,
        options: &mut RerankOptions,
        encoders: &[Granularity],
        shown: usize,
    ) {
        options.depth = self
            .pool_depth
            .map(NonZeroUsize::get)
            .unwrap_or(DEFAULT_WORKS_DEPTH)
            .max(shown);
        options.dense = NonZeroUsize::new(self.dense_depth.unwrap_or(DEFAULT_WORKS_DEPTH));
        let [of_pool, of_texts, of_works] = WORKS_WEIGHTS;
        if let Some(fusion) = options
            .fusion
            .as_mut()
            .filter(|fusion| fusion.weights.is_empty())
        {
            // Without a pool, one ranking model supplies the candidates, and has a weight.
            let models = options.pool.len().max(1);
            fusion.weights = vec![of_pool / models as f64; models];
            fusion
                .weights
                .extend(encoders.iter().map(|granularity| match granularity {
                    Granularity::Text => of_texts,
                    Granularity::Piece | Granularity::Term => 0.0,
                }));
            fusion.weights.push(of_works);
            options.long_queries = self.works.is_none().then_some(LONG_QUERY_OPTIONS);
        }
    }

    /// Returns the options for encoders of these granularities.
    fn options(
        &self,
        choice: &Choice,
        encoders: &[Granularity],
        pool: Vec<ModelKind>,
        shown: usize,
    ) -> anyhow::Result<RerankOptions> {
        let default = FusionChoice::Fused(Method::CombSum(Normalization::MinMax));
        let method = match self.fusion_of(choice).unwrap_or(default) {
            FusionChoice::VectorsOnly => None,
            // A single ranking has nothing with which it could be fused.
            FusionChoice::Fused(_) if pool.len() < 2 && encoders.is_empty() => None,
            FusionChoice::Fused(method) => Some(method),
        };
        // Vectors of tokens order given candidates; they are not searched.
        let can_search = encoders
            .iter()
            .any(|granularity| *granularity != Granularity::Piece);
        Ok(RerankOptions {
            pool,
            depth: self
                .pool_depth
                .map(NonZeroUsize::get)
                .unwrap_or(DEFAULT_POOL_DEPTH)
                .max(shown),
            dense: NonZeroUsize::new(self.dense_depth.unwrap_or(DEFAULT_DENSE_DEPTH))
                .filter(|_| can_search),
            combination: self.combine.unwrap_or_default(),
            fusion: method.map(|method| WeightedFusion {
                method,
                weights: self.fusion_weights.clone(),
            }),
            min_similarities: self.min_similarities(choice, encoders)?,
            popularity: self.popularity,
            long_queries: None,
            works: match self.works {
                Some(works) => NonZeroUsize::new(works),
                None => RerankOptions::default().works,
            },
            threads: choice.execution.threads.unwrap_or(NonZeroUsize::MIN),
        })
    }
}

/// Returns the names of the rankings that have weights, in the order of the weights.
fn ranking_names(pool: &[ModelKind], encoders: &[Granularity], has_works: bool) -> Vec<String> {
    let mut names: Vec<String> = pool.iter().map(|kind| kind.name().to_owned()).collect();
    // Without a pool, one ranking model supplies the candidates.
    if names.is_empty() {
        names.push("the ranking model".to_owned());
    }
    for granularity in encoders {
        names.push(format!("--{}", method_name(*granularity).to_lowercase()));
    }
    if has_works {
        names.push("works".to_owned());
    }
    names
}

/// Checks that configured weights have the number of the rankings.
fn check_weight_count(weights: &[f64], rankings: &[String]) -> anyhow::Result<()> {
    let (actual, expected) = (weights.len(), rankings.len());
    ensure!(
        actual == expected,
        "`fusion.weights` of lodeseek.toml are for {actual} rankings, and there are {expected}: {}; run `lodeseek tune` again, or \
         remove them. {MULTILINGUAL_MODEL} needs no weight: it always has {MULTILINGUAL_WEIGHT} times that of all others together",
        rankings.join(", ")
    );
    Ok(())
}

fn granularities(encoders: &[Box<dyn Encoder>]) -> Vec<Granularity> {
    encoders
        .iter()
        .map(|encoder| encoder.granularity())
        .collect()
}

/// Describes a reranker for the provenance record of a run.
pub(super) fn describe_reranker(reranker: &Reranker) -> Value {
    let options = reranker.options();
    json!({
        "encoders": reranker.encoders().map(describe_encoder).collect::<Vec<_>>(),
        "multilingual": reranker.multilingual().map(|(model, min_similarity)| json!({
            "model": model.name(), "fingerprint": model.fingerprint(), "weight": MULTILINGUAL_WEIGHT, "floor": min_similarity,
        })),
        "pool": options.pool.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "pool_depth": options.depth,
        "dense_depth": options.dense,
        "combination": options.combination.name(),
        "fusion": options.fusion.as_ref().map(|fusion| fusion.method.to_string()),
        "floors": options.min_similarities,
        "popularity": options.popularity,
        "works": options.works,
        "long_queries": options.long_queries.map(|long| json!({ "works": long.works, "works_weight": long.works_weight })),
        "fusion_weights": options.fusion.as_ref().map(|fusion| fusion.weights.clone()),
        "cross_encoder": reranker.cross_encoding().map(|stage| json!({ "model": stage.scorer.name(), "depth": stage.depth })),
    })
}

fn describe_encoder(encoder: &dyn Encoder) -> Value {
    json!({
        "model": encoder.name(), "fingerprint": encoder.fingerprint(), "granularity": encoder.granularity(),
    })
}

/// Returns the tag of a re-ranked run: the pool, or `model` if the pool is empty, and the encoders with their methods. A fusion
/// is written `fsdm+bm25+dpr:NAME`; without one, `fsdm>>dpr:NAME`, as in PyTerrier. A prior adds `+popularity`, a cross-encoder
/// `>>cross-encoder:NAME`.
pub(super) fn run_tag(model: &str, reranker: &Reranker) -> String {
    let pool: Vec<&str> = reranker
        .options()
        .pool
        .iter()
        .map(|kind| kind.name())
        .collect();
    let pool = if pool.is_empty() {
        model.to_owned()
    } else {
        pool.join("+")
    };
    let multilingual = reranker.multilingual().map(|(encoder, _)| encoder);
    let encoders = reranker.encoders().chain(multilingual).map(|encoder| {
        let method = method_name(encoder.granularity()).to_lowercase();
        format!("{method}:{}", without_white_space(encoder.name()))
    });
    let encoders = encoders.collect::<Vec<_>>().join("+");
    let operator = if reranker.options().fusion.is_some() {
        "+"
    } else {
        ">>"
    };
    let mut tag = if encoders.is_empty() {
        pool
    } else {
        [pool, encoders].join(operator)
    };
    if reranker.options().popularity.is_some() {
        tag.push_str("+popularity");
    }
    if let Some(stage) = reranker.cross_encoding() {
        tag.push_str(">>cross-encoder:");
        tag.push_str(&without_white_space(stage.scorer.name()));
    }
    tag
}

/// Returns the name of a model as a part of a tag, which is one word.
fn without_white_space(name: &str) -> String {
    name.replace(char::is_whitespace, "-")
}

/// Returns the name that users know for the method of a granularity.
pub(super) fn method_name(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Text => "DPR",
        Granularity::Piece => "ColBERT",
        Granularity::Term => "sparse",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_of_weights_is_an_error_that_names_the_rankings() {
        let pool = [ModelKind::Fsdm, ModelKind::Bm25];
        let encoders = [Granularity::Text, Granularity::Piece];
        let rankings = ranking_names(&pool, &encoders, false);
        assert_eq!(rankings, ["fsdm", "bm25", "--dpr", "--colbert"]);
        assert!(check_weight_count(&[1.0; 4], &rankings).is_ok());
        let error = check_weight_count(&[1.0; 5], &rankings).expect_err("one too many");
        let error = error.to_string();
        assert!(
            error.contains("for 5 rankings, and there are 4: fsdm, bm25, --dpr, --colbert;")
                && error.contains("lodeseek-multilingual needs no weight: it always has 0.3 times"),
            "{error}"
        );
        let alone = ranking_names(&[], &[Granularity::Term], true);
        assert_eq!(alone, ["the ranking model", "--sparse", "works"]);
    }

    #[test]
    fn weights_are_checked_before_there_is_an_index() {
        let home = tempfile::tempdir().expect("a folder");
        let mut config = Config::default();
        for (weights, is_valid) in [(3, false), (4, true), (5, true), (6, false)] {
            config.settings.fusion.weights = Some(vec![1.0; weights]);
            let checked = RerankArguments::check_configured_weights(home.path(), &config);
            assert_eq!(checked.is_ok(), is_valid, "{weights}");
        }
        config.settings.ranking = Some(Preset::Balanced);
        RerankArguments::check_configured_weights(home.path(), &config)
            .expect("another ranking ignores them");
    }
}
