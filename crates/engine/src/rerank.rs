//! Ranking again by vectors: the best of several sparse models, and of all vectors where wanted, are scored by encoders'
//! vectors, and ranked by those scores alone or together with the sparse ones.

use super::dense::{Among, Dense, DenseMatch, PartShare, Scoring};
use super::{EncodingOptions, EngineError, encode_by};
use lodeseek_catalog::DatasetId;
use lodeseek_index::Snapshot;
use lodeseek_index::sparse::ModelKind;
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rerank::{Combination, Encoder, Fusion, Granularity, Method, Similarity};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;

/// Ranks down to which a sparse model's scores of candidates are known when rankings are fused; below, a candidate counts
/// as not found by it.
const SCORED: usize = 100;

/// How rankings are ranked again.
#[derive(Clone, Debug)]
pub struct RerankOptions {
    /// The sparse models whose best are candidates; none stands for the model that is searched with.
    pub pool: Vec<ModelKind>,
    /// Candidates of each. Default 20.
    pub depth: usize,
    /// Candidates by vectors, from among all datasets, for each encoder with one vector a text. Default none.
    ///
    /// Every vector is compared, so the best are found; they are held in memory as they are stored.
    pub dense: Option<NonZeroUsize>,
    /// How the scores of a dataset's two texts become one.
    pub combination: Combination,
    /// How the sparse rankings and the dense ones become one. Default: the dense scores of one encoder alone, as Q. Chen
    /// et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023.
    pub fusion: Option<WeightedFusion>,
    /// For each encoder the score, for a row of the query, below which it takes a hit for the closest there is rather than
    /// for found. Scores of different models do not compare: take what the irrelevant datasets of judged queries rarely
    /// exceed. Default: none.
    pub floors: Vec<f64>,
    /// What is added to a dataset's score for every power of e in 1 + its [popularity](lodeseek_index::NumericFacts::popularity).
    /// Default none: that was counted when the catalogue was made, so that it is knowledge from later than any query that
    /// has been judged, and than the work of whoever asks about an earlier time.
    pub popularity: Option<f64>,
    /// Threads that score the candidates of one query. Default 1.
    pub threads: NonZeroUsize,
}

impl Default for RerankOptions {
    fn default() -> Self {
        Self {
            pool: Vec::new(),
            depth: 20,
            dense: None,
            combination: Combination::default(),
            fusion: None,
            floors: Vec::new(),
            popularity: None,
            threads: NonZeroUsize::MIN,
        }
    }
}

/// A way to fuse, and the weight of each sparse ranking, then of each dense one. No weights stand for equal ones.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "named above")]
pub struct WeightedFusion {
    pub method: Method,
    pub weights: Vec<f64>,
}

/// Options that encoders cannot be used with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RerankError {
    /// Weights that are not one for each ranking.
    #[error("{given} weights for {expected} rankings: one for each model of the pool, and one for each encoder")]
    #[expect(missing_docs, reason = "named in the message")]
    Weights { given: usize, expected: usize },
    /// A weight below 0, or no number; or none above 0.
    #[error("weights must be numbers from 0 on, and one of them above 0")]
    NoWeight,
    /// A weight of popularity below 0, or no number.
    #[error("the weight of popularity must be a number from 0 on, not {0}")]
    Popularity(f64),
    /// Floors that are not one for each encoder.
    #[error("{given} floors for {expected} encoders")]
    #[expect(missing_docs, reason = "named in the message")]
    Floors { given: usize, expected: usize },
    /// All datasets are to be compared, and no encoder has one vector a text.
    #[error("{0} has a vector a piece: it ranks candidates, not all datasets")]
    VectorAPiece(String),
    /// Not one encoder, and no way to make several rankings one.
    #[error("{0} encoders without a fusion: vectors alone rank by one encoder")]
    NoFusion(usize),
}

/// Encoders, the vectors that they made of a home's datasets, and how these take part in ranking.
pub struct Reranker {
    encoders: Vec<Dense>,
    options: RerankOptions,
}

/// What a ranking by vectors says of itself.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct RerankSummary {
    /// The sparse models of the pool; none stands for the model that was searched with.
    pub pool: Vec<&'static str>,
    /// How the rankings became one; nothing where an encoder ranked alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fusion: Option<String>,
    /// The weight of popularity, which is known from later than the query; nothing where it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub popularity: Option<f64>,
    /// Datasets that were ranked again.
    pub candidates: usize,
    /// The encoders.
    pub encoders: Vec<EncoderSummary>,
}

/// What there was of an encoder.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct EncoderSummary {
    /// Its name.
    pub model: String,
    /// What its rows stand for.
    pub granularity: Granularity,
    /// Candidates without its vectors, with damaged ones or with those of older texts: placed by the other rankings.
    pub unencoded: usize,
}

/// The rankings of one query that are fused, each of candidates alone: those of the sparse models, then the encoders'.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// Of the models of the pool, in their order.
    pub sparse: Vec<Ranking>,
    /// Of the encoders, in their order.
    pub dense: Vec<Ranking>,
}

/// A ranking by vectors.
pub(super) struct Reranked {
    pub(super) ranking: Ranking,
    pub(super) dense: FxHashMap<DatasetId, Vec<DenseMatch>>,
    pub(super) summary: RerankSummary,
}

impl Reranked {
    /// How the vectors of a dataset were scored.
    pub(super) fn dense_of(&self, id: &DatasetId) -> Vec<DenseMatch> {
        self.dense.get(id).cloned().unwrap_or_default()
    }

    /// Whether no candidate is near enough for any encoder.
    pub(super) fn is_closest(&self) -> bool {
        !self.dense.is_empty() && self.dense.values().flatten().all(|found| found.closest)
    }
}

/// What encoders say of candidates.
struct Scores {
    components: Components,
    dense: FxHashMap<DatasetId, Vec<DenseMatch>>,
    candidates: usize,
}

impl Reranker {
    /// Opens the vectors that the encoders made of a home's datasets.
    pub fn open(
        home: &Path,
        encoders: impl IntoIterator<Item = Box<dyn Encoder>>,
        options: RerankOptions,
    ) -> Result<Self, EngineError> {
        let encoders: Vec<Dense> =
            encoders.into_iter().map(|encoder| Dense::open(home, encoder)).collect::<Result<_, _>>()?;
        check(&options, &encoders)?;
        Ok(Self { encoders, options })
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &RerankOptions {
        &self.options
    }

    /// The encoders.
    pub fn encoders(&self) -> impl ExactSizeIterator<Item = &dyn Encoder> {
        self.encoders.iter().map(Dense::encoder)
    }

    /// The encoder with one vector a text, compared by cosine, where there is one.
    pub(super) fn of_texts(&self) -> Option<&Dense> {
        let is_cosine = |dense: &&Dense| dense.encoder().similarity() == Similarity::Cosine;
        self.encoders.iter().filter(|dense| is_of_texts(dense)).find(is_cosine)
    }

    /// Brings the vectors of the encoders up to date with the index of a home, as precise as they are. How many texts were
    /// encoded.
    pub(super) fn encode(&self, home: &Path) -> Result<usize, EngineError> {
        let of = |dense: &'_ Dense| {
            dense.precision().map(|precision| EncodingOptions { precision, ..EncodingOptions::default() })
        };
        let options = self.encoders.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let encoders: Vec<_> = self.encoders.iter().map(Dense::encoder).zip(options).collect();
        Ok(encode_by(home, &encoders, &|_| ())?.iter().map(|report| report.encoded).sum())
    }

    /// Ranks down to which sparse rankings are wanted.
    pub(super) fn sparse_depth(&self) -> usize {
        if self.options.fusion.is_some() { self.options.depth.max(SCORED) } else { self.options.depth }
    }

    /// Ranks the union of sparse rankings, and of the best by vectors where wanted.
    ///
    /// The sparse rankings are of what passes already; the best by vectors are sought among what does.
    pub(super) fn rank(&self, query: &str, sparse: &[Ranking], among: Among<'_>) -> Result<Reranked, EngineError> {
        let Scores { components, dense, candidates } = self.scores(query, sparse, among)?;
        let of = |(dense, ranking): (&Dense, &Ranking)| EncoderSummary {
            model: dense.encoder().name().to_owned(),
            granularity: dense.encoder().granularity(),
            unencoded: candidates - ranking.len(),
        };
        let encoders = self.encoders.iter().zip(&components.dense).map(of).collect();
        let pool = self.options.pool.iter().map(|kind| kind.name()).collect();
        let fusion = self.options.fusion.as_ref().map(|fusion| fusion.method.to_string());
        let popularity = self.options.popularity;
        let summary = RerankSummary { pool, fusion, popularity, candidates, encoders };
        Ok(Reranked { ranking: self.raised(self.joined(components), among.snapshot)?, dense, summary })
    }

    /// With what popularity adds.
    fn raised(&self, ranking: Ranking, snapshot: &Snapshot) -> Result<Ranking, EngineError> {
        if self.options.popularity.is_none() {
            return Ok(ranking);
        }
        let mut raised = Vec::with_capacity(ranking.len());
        for scored in ranking.iter() {
            let added = self.popularity_of(&scored.id, snapshot)?.unwrap_or(0.0);
            raised.push(Scored { id: scored.id.clone(), score: scored.score + added });
        }
        Ok(Ranking::from_scores(raised))
    }

    /// What popularity adds to a dataset's score; nothing where it does not count.
    pub(super) fn popularity_of(&self, id: &DatasetId, snapshot: &Snapshot) -> Result<Option<f64>, EngineError> {
        let Some(weight) = self.options.popularity else { return Ok(None) };
        let numbers = snapshot.numeric_facts(id)?.unwrap_or_default();
        Ok(Some(weight * (numbers.popularity() as f64).ln_1p()))
    }

    /// The rankings that would be fused.
    pub(super) fn components(
        &self,
        query: &str,
        sparse: &[Ranking],
        among: Among<'_>,
    ) -> Result<Components, EngineError> {
        self.scores(query, sparse, among).map(|scores| scores.components)
    }

    fn scores(&self, query: &str, sparse: &[Ranking], among: Among<'_>) -> Result<Scores, EngineError> {
        let asked = self.encoders.iter().map(|dense| dense.ask(query)).collect::<Result<Vec<_>, _>>()?;
        let best = |ranking: &Ranking| {
            ranking.iter().take(self.options.depth).map(|scored| scored.id.clone()).collect::<Vec<_>>()
        };
        let mut candidates: BTreeSet<DatasetId> = sparse.iter().flat_map(best).collect();
        if let Some(depth) = self.options.dense {
            for (dense, asked) in self.encoders.iter().zip(&asked).filter(|(dense, _)| is_of_texts(dense)) {
                candidates.extend(dense.best(asked, self.options.combination, depth.get(), among)?);
            }
        }
        let candidates: Vec<DatasetId> = candidates.into_iter().collect();
        let (mut matches, mut rankings) = (FxHashMap::<_, Vec<DenseMatch>>::default(), Vec::new());
        for (place, (dense, asked)) in self.encoders.iter().zip(&asked).enumerate() {
            let current = dense.current(asked, &candidates, among.snapshot)?;
            let scores = dense.scores(asked, &current, &self.scoring(place));
            let scored = scores.iter().map(|(id, found)| Scored { id: id.clone(), score: found.score });
            rankings.push(Ranking::from_scores(scored.collect()));
            scores.into_iter().for_each(|(id, found)| matches.entry(id).or_default().push(found));
        }
        let held = |ranking: &Ranking| {
            let kept = ranking.iter().filter(|scored| candidates.binary_search(&scored.id).is_ok());
            Ranking::from_scores(kept.cloned().collect())
        };
        let components = Components { sparse: sparse.iter().map(held).collect(), dense: rankings };
        Ok(Scores { components, dense: matches, candidates: candidates.len() })
    }

    fn scoring(&self, place: usize) -> Scoring {
        let RerankOptions { combination, ref floors, threads, .. } = self.options;
        Scoring { combination, floor: floors.get(place).copied(), threads }
    }

    fn joined(&self, Components { sparse, dense }: Components) -> Ranking {
        let Some(fusion) = &self.options.fusion else {
            if self.encoders.is_empty() {
                return sparse.into_iter().next().unwrap_or_default();
            }
            let weighted: Vec<_> = sparse.iter().map(|ranking| (ranking, 1.0)).collect();
            let unencoded = Fusion::default().with_depth(usize::MAX).fuse(&weighted);
            return dense.into_iter().next().unwrap_or_default().followed_by(&unencoded);
        };
        let rankings = sparse.iter().chain(&dense);
        let weighted: Vec<_> = match fusion.weights[..] {
            [] => rankings.map(|ranking| (ranking, 1.0)).collect(),
            ref weights => rankings.zip(weights.iter().copied()).collect(),
        };
        Fusion::default().with_method(fusion.method).with_depth(usize::MAX).fuse(&weighted)
    }

    /// The parts that carried most of a dataset's score by an encoder.
    pub(super) fn explain(
        &self,
        query: &str,
        id: &DatasetId,
        found: &DenseMatch,
        index: &Snapshot,
    ) -> Result<Vec<PartShare>, EngineError> {
        let by = |dense: &&Dense| {
            dense.encoder().name() == found.model && dense.encoder().granularity() == found.granularity
        };
        let Some(dense) = self.encoders.iter().find(by) else { return Ok(Vec::new()) };
        dense.explain(query, id, found, self.options.combination, index)
    }
}

fn is_of_texts(dense: &Dense) -> bool {
    dense.encoder().granularity() == Granularity::Text
}

fn check(options: &RerankOptions, encoders: &[Dense]) -> Result<(), RerankError> {
    let expected = options.pool.len().max(1) + encoders.len();
    match &options.fusion {
        None if encoders.len() > 1 || encoders.is_empty() && expected > 1 => {
            return Err(RerankError::NoFusion(encoders.len()));
        }
        Some(WeightedFusion { weights, .. }) if !weights.is_empty() => check_weights(weights, expected)?,
        _ => {}
    }
    if let Some(weight) = options.popularity
        && !(weight.is_finite() && weight >= 0.0)
    {
        return Err(RerankError::Popularity(weight));
    }
    if !options.floors.is_empty() && options.floors.len() != encoders.len() {
        return Err(RerankError::Floors { given: options.floors.len(), expected: encoders.len() });
    }
    if options.dense.is_some() && !encoders.iter().any(is_of_texts) {
        let names: Vec<&str> = encoders.iter().map(|dense| dense.encoder().name()).collect();
        return Err(RerankError::VectorAPiece(names.join(", ")));
    }
    Ok(())
}

fn check_weights(weights: &[f64], expected: usize) -> Result<(), RerankError> {
    if weights.len() != expected {
        return Err(RerankError::Weights { given: weights.len(), expected });
    }
    let sound = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
    if sound && weights.iter().any(|weight| *weight > 0.0) { Ok(()) } else { Err(RerankError::NoWeight) }
}
