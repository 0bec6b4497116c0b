//! Options of re-ranking and their errors.

use crate::dense::DenseRetriever;
use lodeseek_index::sparse::ModelKind;
use lodeseek_rerank::{Combination, Granularity, Method};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Default number of works that vote.
const DEFAULT_WORKS: NonZeroUsize = NonZeroUsize::new(50).expect("above 0");

/// Options of re-ranking.
#[derive(Clone, Debug)]
pub struct RerankOptions {
    /// The sparse models whose best datasets are candidates. Default: empty, which stands for the searcher's model.
    pub pool: Vec<ModelKind>,
    /// Number of candidates of each sparse model. Default 20.
    pub depth: usize,
    /// Number of candidates by vectors, for each encoder with one vector per text, or with one weight per term. Default: none.
    ///
    /// The search is exhaustive and exact. All vectors are held in memory, in their stored number format.
    pub dense: Option<NonZeroUsize>,
    /// The combination of the scores of a dataset's metadata and data.
    pub combination: Combination,
    /// The fusion of sparse and dense rankings. Default: none, the dense scores of one encoder alone rank, after Q. Chen
    /// et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023.
    pub fusion: Option<WeightedFusion>,
    /// The minimum similarity of a match, per row of the query, for each encoder. Hits below it are marked as nearest
    /// results, not as matches. Scores of different models are not comparable: choose a value that irrelevant datasets of
    /// judged queries rarely exceed. `None` stands for an encoder whose scores alone make no match. Default: none.
    pub min_similarities: Vec<Option<f64>>,
    /// The weight w of popularity: w · ln(1 + [popularity](lodeseek_index::NumericFacts::popularity)) is added to a
    /// dataset's score. Default: none. Popularity was counted when the catalogue was made. It is later information than any
    /// judged query, so evaluations with it leak.
    pub popularity: Option<f64>,
    /// Number of works nearest to the query that vote for the datasets they use, if the home has vectors of works and there
    /// is a fusion. Works below the minimum similarity of their encoder do not vote. Default 50. `None` ignores works.
    pub works: Option<NonZeroUsize>,
    /// Number and weight of works for [long queries](LongQueryOptions). Default: those of all queries.
    pub long_queries: Option<LongQueryOptions>,
    /// Number of threads that score the candidates of one query. Default 1.
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
            min_similarities: Vec::new(),
            popularity: None,
            works: Some(DEFAULT_WORKS),
            long_queries: None,
            threads: NonZeroUsize::MIN,
        }
    }
}

/// Options for queries of at least [`Self::MIN_WORDS`] words, such as sentences.
///
/// On DataFinder's topics, fewer works with more weight rank sentences better, but not keyphrases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongQueryOptions {
    /// Number of works that vote. Replaces [`RerankOptions::works`], if that is not `None`.
    pub works: NonZeroUsize,
    /// The weight of works. Replaces the last [weight](WeightedFusion::weights) of the fusion, if it has weights.
    pub works_weight: f64,
}

impl LongQueryOptions {
    /// Minimum number of words of a long query. White space separates words.
    pub const MIN_WORDS: usize = 8;
}

impl RerankOptions {
    /// Returns the options for long queries if a query is long.
    fn long_query_options(&self, query: &str) -> Option<LongQueryOptions> {
        self.long_queries.filter(|_| {
            query
                .split_whitespace()
                .nth(LongQueryOptions::MIN_WORDS - 1)
                .is_some()
        })
    }

    /// Returns the number of works that vote for a query.
    pub(super) fn works_for(&self, query: &str) -> Option<NonZeroUsize> {
        let works = self.works?;
        match self.long_query_options(query) {
            Some(long) => Some(long.works),
            None => Some(works),
        }
    }

    /// Returns the weight that replaces the one of works for a query.
    pub(super) fn works_weight_for(&self, query: &str) -> Option<f64> {
        self.long_query_options(query).map(|long| long.works_weight)
    }
}

/// A fusion method with the weight of each sparse ranking, of each dense one, and of works if the home has some. Without weights, all are equal.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "named above")]
pub struct WeightedFusion {
    pub method: Method,
    pub weights: Vec<f64>,
}

/// An error in the options of re-ranking.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RerankError {
    /// The number of weights differs from the number of rankings.
    #[error(
        "{actual} weights for {expected} rankings: give one for each model of the pool, one for each encoder, and one for works if the home has vectors of works"
    )]
    #[expect(missing_docs, reason = "named in the message")]
    Weights { actual: usize, expected: usize },
    /// A weight is negative or not finite, or all are 0.
    #[error("weights must be finite numbers of at least 0, and one of them above 0")]
    NoWeight,
    /// The weight of popularity is negative or not finite.
    #[error("the weight of popularity must be a finite number of at least 0, not {0}")]
    Popularity(f64),
    /// The number of minimum similarities differs from the number of encoders.
    #[error("{actual} minimum similarities for {expected} encoders: give one for each encoder")]
    #[expect(missing_docs, reason = "named in the message")]
    MinSimilarities { actual: usize, expected: usize },
    /// Candidates by vectors are requested, but no encoder has one vector per text.
    #[error(
        "{0} has one vector per word piece: it re-ranks candidates, but cannot search all datasets; use an encoder with one vector per text"
    )]
    VectorPerPiece(String),
    /// There are several rankings, but no fusion.
    #[error(
        "{0} encoders without a fusion: without one, exactly one encoder ranks; set a fusion method"
    )]
    NoFusion(usize),
}

/// Checks options against encoders.
pub(super) fn check_options(
    options: &RerankOptions,
    encoders: &[Arc<DenseRetriever>],
    has_works: bool,
) -> Result<(), RerankError> {
    let expected = options.pool.len().max(1) + encoders.len() + usize::from(has_works);
    match &options.fusion {
        None if encoders.len() > 1 || encoders.is_empty() && expected > 1 => {
            return Err(RerankError::NoFusion(encoders.len()));
        }
        Some(WeightedFusion { weights, .. }) if !weights.is_empty() => {
            check_weights(weights, expected)?
        }
        _ => {}
    }
    if options
        .long_queries
        .is_some_and(|long| !is_weight(long.works_weight))
    {
        return Err(RerankError::NoWeight);
    }
    if let Some(weight) = options.popularity
        && !is_weight(weight)
    {
        return Err(RerankError::Popularity(weight));
    }
    if !options.min_similarities.is_empty() && options.min_similarities.len() != encoders.len() {
        return Err(RerankError::MinSimilarities {
            actual: options.min_similarities.len(),
            expected: encoders.len(),
        });
    }
    if options.dense.is_some()
        && encoders
            .iter()
            .all(|dense| dense.encoder().granularity() == Granularity::Piece)
    {
        let names: Vec<&str> = encoders
            .iter()
            .map(|dense| dense.encoder().name())
            .collect();
        return Err(RerankError::VectorPerPiece(names.join(", ")));
    }
    Ok(())
}

fn check_weights(weights: &[f64], expected: usize) -> Result<(), RerankError> {
    if weights.len() != expected {
        return Err(RerankError::Weights {
            actual: weights.len(),
            expected,
        });
    }
    if weights.iter().copied().all(is_weight) && weights.iter().any(|weight| *weight > 0.0) {
        Ok(())
    } else {
        Err(RerankError::NoWeight)
    }
}

pub(super) fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}
