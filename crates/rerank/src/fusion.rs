//! Late fusion: combines several rankings of one topic, using only their ranks and scores.
//!
//! Let R be the rankings, w(r) their weights, and s(r, d) the score of document d in ranking r, normalised by a
//! [`Normalization`]. The sums include only rankings that contain d and have a weight above 0:
//!
//! * reciprocal rank: f(d) = Σ w(r) / (k + rank(r, d)), after Cormack, Clarke and Büttcher (SIGIR 2009);
//! * CombSUM: f(d) = Σ w(r) s(r, d), after Fox and Shaw (TREC-2);
//! * CombMNZ: f(d) = m(d) Σ w(r) s(r, d), where m(d) counts the rankings in the sum, after the same;
//! * mixed: f(d) = √m(d) Σ w(r) s(r, d), the fusion of the runs published with CDS and with optimal data snippets.
//!
//! A ranking that does not contain a document contributes 0: under min-max this equals the last place, under z-score the
//! mean. Rankings of weight 0 and empty rankings (topics missing in a run) have no effect.

use lodeseek_ranking::{Ranking, Scored};
use rustc_hash::FxHashMap;
use std::fmt;
use std::str::FromStr;

/// Normalisation of the scores of one ranking to a common scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Normalization {
    /// (s − min) / (max − min), in [0, 1]; 1 if all scores are equal, because every document is then the best.
    #[default]
    MinMax,
    /// (s − mean) / standard deviation (of the population); 0 if all scores are equal.
    ZScore,
}

/// Score range above which scores are scaled down first, to avoid overflow of differences and their squares.
const RESCALE_ABOVE: f64 = 1e150;

impl Normalization {
    /// Returns the normalised scores in the same order. A score that is not finite counts as the lowest finite one.
    #[must_use]
    pub fn apply(self, scores: &[f64]) -> Vec<f64> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for score in scores.iter().filter(|score| score.is_finite()) {
            low = low.min(*score);
            high = high.max(*score);
        }
        if high - low > RESCALE_ABOVE {
            // Scaling avoids the overflow and does not change the normalised scores.
            return self.apply(
                &scores
                    .iter()
                    .map(|score| score / RESCALE_ABOVE)
                    .collect::<Vec<_>>(),
            );
        }
        if low >= high {
            let level = if self == Self::MinMax { 1.0 } else { 0.0 };
            return vec![level; scores.len()];
        }
        let (origin, unit) = match self {
            Self::MinMax => (low, high - low),
            Self::ZScore => mean_and_deviation(
                scores
                    .iter()
                    .map(|&score| if score.is_finite() { score } else { low }),
            ),
        };
        scores
            .iter()
            .map(|&score| ((if score.is_finite() { score } else { low }) - origin) / unit)
            .collect()
    }
}

fn mean_and_deviation(scores: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = scores.clone().count() as f64;
    let mean = scores.clone().sum::<f64>() / count;
    (
        mean,
        (scores.map(|score| (score - mean).powi(2)).sum::<f64>() / count).sqrt(),
    )
}

impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MinMax => "min-max",
            Self::ZScore => "z",
        })
    }
}

impl FromStr for Normalization {
    type Err = ParseMethodError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "min-max" => Ok(Self::MinMax),
            "z" => Ok(Self::ZScore),
            _ => Err(ParseMethodError(name.to_owned())),
        }
    }
}

/// Fusion method; see the module documentation for the formulas.
///
/// Written `rrf`, `rrf k=60`, `combsum min-max`, `combmnz z`, `mixed min-max`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Method {
    /// Sum of weighted reciprocal ranks.
    ReciprocalRank {
        /// Constant added to every rank; a larger value reduces the influence of the first ranks.
        k: f64,
    },
    /// Weighted sum of normalised scores.
    CombSum(Normalization),
    /// Weighted sum multiplied by the number of rankings that contain the document.
    CombMnz(Normalization),
    /// Weighted sum multiplied by the square root of that number.
    Mixed(Normalization),
}

impl Method {
    /// Published constant of reciprocal rank fusion (SIGIR 2009).
    pub const RECIPROCAL_RANK_K: f64 = 60.0;

    /// Returns the unweighted contribution of a ranking to each of its documents.
    fn contributions(self, ranking: &Ranking) -> Vec<f64> {
        match self {
            Self::ReciprocalRank { k } => (1..=ranking.len())
                .map(|rank| 1.0 / (k + rank as f64))
                .collect(),
            Self::CombSum(scale) | Self::CombMnz(scale) | Self::Mixed(scale) => {
                scale.apply(&ranking.iter().map(|entry| entry.score).collect::<Vec<_>>())
            }
        }
    }

    /// Returns the part of a ranking in the fused score of a document. `None` if the ranking does not contain it.
    #[must_use]
    pub fn contribution(self, ranking: &Ranking, id: &str) -> Option<Contribution> {
        let values = self.contributions(ranking);
        for ((entry, value), rank) in ranking.iter().zip(values).zip(1..) {
            if entry.id.as_str() == id {
                return Some(Contribution {
                    rank,
                    score: entry.score,
                    value,
                });
            }
        }
        None
    }

    /// Returns the factor by which the weighted sum of a number of rankings is multiplied.
    #[must_use]
    pub fn factor(self, rankings: u32) -> f64 {
        match self {
            Self::ReciprocalRank { .. } | Self::CombSum(_) => 1.0,
            Self::CombMnz(_) => f64::from(rankings),
            Self::Mixed(_) => f64::from(rankings).sqrt(),
        }
    }
}

impl Default for Method {
    fn default() -> Self {
        Self::ReciprocalRank {
            k: Self::RECIPROCAL_RANK_K,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReciprocalRank { k } => write!(f, "rrf k={k}"),
            Self::CombSum(scale) => write!(f, "combsum {scale}"),
            Self::CombMnz(scale) => write!(f, "combmnz {scale}"),
            Self::Mixed(scale) => write!(f, "mixed {scale}"),
        }
    }
}

/// Part of a ranking in the fused score of a document.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contribution {
    /// Rank of the document, from 1.
    pub rank: usize,
    /// Score of the document in the ranking.
    pub score: f64,
    /// Normalised score or reciprocal rank, which the weight of the ranking multiplies.
    pub value: f64,
}

/// Error of parsing an unknown fusion method or normalisation.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "unknown fusion method {0:?}; supported: rrf, and combsum, combmnz, mixed with min-max or z"
)]
pub struct ParseMethodError(String);

impl FromStr for Method {
    type Err = ParseMethodError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_method(text).ok_or_else(|| ParseMethodError(text.to_owned()))
    }
}

fn parse_method(text: &str) -> Option<Method> {
    let mut words = text.split_whitespace();
    let (name, detail) = (words.next()?, words.next());
    if words.next().is_some() {
        return None;
    }
    match name {
        "rrf" => {
            let k = match detail {
                Some(detail) => detail.strip_prefix("k=")?.parse().ok()?,
                None => Method::RECIPROCAL_RANK_K,
            };
            (k.is_finite() && k >= 0.0).then_some(Method::ReciprocalRank { k })
        }
        "combsum" => Some(Method::CombSum(parse_normalization(detail)?)),
        "combmnz" => Some(Method::CombMnz(parse_normalization(detail)?)),
        "mixed" => Some(Method::Mixed(parse_normalization(detail)?)),
        _ => None,
    }
}

/// Parses the name of a normalization. Without a name, it is the default one.
fn parse_normalization(name: Option<&str>) -> Option<Normalization> {
    match name {
        Some(name) => name.parse().ok(),
        None => Some(Normalization::default()),
    }
}

/// Documents of several rankings of one topic with their contributions: computed once, fused with many weights.
#[derive(Clone, Debug)]
pub struct Pool {
    method: Method,
    /// Documents with zero scores, in the order of [`Ranking`] for equal scores: id descending.
    documents: Vec<Scored>,
    /// For each ranking: pairs of an index in `documents` and a contribution.
    contributions: Vec<Vec<(u32, f64)>>,
}

impl Pool {
    /// Collects the documents and contributions of rankings.
    #[must_use]
    pub fn new(method: Method, rankings: &[&Ranking]) -> Self {
        let unique: FxHashMap<&str, &Scored> = rankings
            .iter()
            .flat_map(|ranking| ranking.iter())
            .map(|entry| (entry.id.as_str(), entry))
            .collect();
        let entries = unique.into_values().map(|entry| Scored {
            id: entry.id.clone(),
            score: 0.0,
        });
        let documents: Vec<Scored> = Ranking::from_scores(entries.collect())
            .iter()
            .cloned()
            .collect();
        let places: FxHashMap<&str, u32> = (0..)
            .zip(&documents)
            .map(|(place, entry)| (entry.id.as_str(), place))
            .collect();
        let mut contributions = Vec::new();
        for ranking in rankings {
            let ranking_places = ranking.iter().map(|entry| places[entry.id.as_str()]);
            contributions.push(ranking_places.zip(method.contributions(ranking)).collect());
        }
        Self {
            method,
            documents,
            contributions,
        }
    }

    /// Returns the number of distinct documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns true if no ranking contains a document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Yields the documents by id descending, in the order of [`Pool::scores`].
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.documents.iter().map(|entry| entry.id.as_str())
    }

    /// Returns the fused score of every document for given weights, one per ranking; `None` for a document that no ranking of
    /// a weight above 0 contains.
    #[must_use]
    pub fn scores(&self, weights: &[f64]) -> Vec<Option<f64>> {
        let mut sums = vec![(0.0, 0_u32); self.documents.len()];
        for (contributions, &weight) in self
            .contributions
            .iter()
            .zip(weights)
            .filter(|(_, weight)| **weight > 0.0)
        {
            for &(place, value) in contributions {
                let (sum, rankings) = &mut sums[place as usize];
                *sum += weight * value;
                *rankings += 1;
            }
        }
        sums.into_iter()
            .map(|(sum, rankings)| (rankings > 0).then(|| self.method.factor(rankings) * sum))
            .collect()
    }

    /// Returns the fused ranking for given weights, one per ranking.
    #[must_use]
    pub fn fuse(&self, weights: &[f64]) -> Ranking {
        let scored = self.documents.iter().zip(self.scores(weights));
        let kept = scored.filter_map(|(entry, score)| {
            Some(Scored {
                id: entry.id.clone(),
                score: score?,
            })
        });
        Ranking::from_scores(kept.collect())
    }
}

/// Fusion of rankings: a method, and an optional depth of the result.
///
/// ```
/// use lodeseek_ranking::DatasetId;
/// use lodeseek_ranking::{Ranking, Scored};
/// use lodeseek_rerank::Fusion;
/// fn ranking(ids: &[&str]) -> Ranking {
///     let scored = ids.iter().zip([3.0, 2.0, 1.0]).map(|(id, score)| Scored { id: DatasetId::new(*id).expect("an id"), score });
///     Ranking::from_scores(scored.collect())
/// }
/// let (words, vectors) = (ranking(&["a", "b", "c"]), ranking(&["b", "d", "a"]));
/// let fused = Fusion::default().fuse(&[(&words, 1.0), (&vectors, 1.0)]);
/// let ids: Vec<_> = fused.iter().map(|entry| entry.id.as_str()).collect();
/// assert_eq!(ids, ["b", "a", "d", "c"]);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Fusion {
    method: Method,
    depth: Option<usize>,
}

impl Fusion {
    /// Sets the method. Default: reciprocal rank with k = 60.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets the number of documents in the result. Default: all.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = Some(depth);
        self
    }

    /// Fuses the rankings of one topic, each with its weight.
    #[must_use]
    pub fn fuse(&self, rankings: &[(&Ranking, f64)]) -> Ranking {
        let (rankings, weights): (Vec<&Ranking>, Vec<f64>) = rankings.iter().copied().unzip();
        let fused = Pool::new(self.method, &rankings).fuse(&weights);
        match self.depth {
            Some(depth) => fused.cut(depth),
            None => fused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_ranking::DatasetId;
    use proptest::prelude::*;

    const METHODS: [Method; 7] = [
        Method::ReciprocalRank {
            k: Method::RECIPROCAL_RANK_K,
        },
        Method::CombSum(Normalization::MinMax),
        Method::CombSum(Normalization::ZScore),
        Method::CombMnz(Normalization::MinMax),
        Method::CombMnz(Normalization::ZScore),
        Method::Mixed(Normalization::MinMax),
        Method::Mixed(Normalization::ZScore),
    ];

    fn ranking(scores: &[(&str, f64)]) -> Ranking {
        let scored = scores.iter().map(|(id, score)| Scored {
            id: DatasetId::new(*id).expect("an id"),
            score: *score,
        });
        Ranking::from_scores(scored.collect())
    }

    fn fuse(method: Method, rankings: &[(&Ranking, f64)]) -> Vec<(String, f64)> {
        let fused = Fusion::default().with_method(method).fuse(rankings);
        fused
            .iter()
            .map(|entry| (entry.id.to_string(), entry.score))
            .collect()
    }

    fn is(found: &[(String, f64)], expected: &[(&str, f64)]) -> bool {
        found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|((id, score), (name, value))| id == name && (score - value).abs() < 1e-12)
    }

    #[test]
    fn scores_by_hand() {
        let (first, second) = (
            ranking(&[("a", 10.0), ("b", 6.0), ("c", 2.0)]),
            ranking(&[("b", 0.9), ("d", 0.1)]),
        );
        let both = [(&first, 1.0), (&second, 0.5)];
        let rrf = fuse(Method::default(), &both);
        let expected = [
            ("b", 1.0 / 62.0 + 0.5 / 61.0),
            ("a", 1.0 / 61.0),
            ("c", 1.0 / 63.0),
            ("d", 0.5 / 62.0),
        ];
        assert!(is(&rrf, &expected), "{rrf:?}");
        let sum = fuse(Method::CombSum(Normalization::MinMax), &both);
        assert!(
            is(&sum, &[("b", 1.0), ("a", 1.0), ("d", 0.0), ("c", 0.0)]),
            "{sum:?}"
        );
        let mnz = fuse(Method::CombMnz(Normalization::MinMax), &both);
        assert!(
            is(&mnz, &[("b", 2.0), ("a", 1.0), ("d", 0.0), ("c", 0.0)]),
            "{mnz:?}"
        );
        let mixed = fuse(Method::Mixed(Normalization::MinMax), &both);
        assert!(
            is(
                &mixed,
                &[("b", 2.0_f64.sqrt()), ("a", 1.0), ("d", 0.0), ("c", 0.0)]
            ),
            "{mixed:?}"
        );
        let z = 4.0 / (32.0_f64 / 3.0).sqrt();
        let sum = fuse(Method::CombSum(Normalization::ZScore), &both);
        assert!(
            is(&sum, &[("a", z), ("b", 0.5), ("d", -0.5), ("c", -z)]),
            "{sum:?}"
        );
    }

    #[test]
    fn degenerate_rankings() {
        assert_eq!(Normalization::MinMax.apply(&[3.0, 3.0]), [1.0, 1.0]);
        assert_eq!(Normalization::ZScore.apply(&[3.0, 3.0]), [0.0, 0.0]);
        assert_eq!(Normalization::MinMax.apply(&[7.0]), [1.0]);
        assert_eq!(
            Normalization::MinMax.apply(&[4.0, 2.0, f64::NEG_INFINITY, f64::NAN]),
            [1.0, 0.0, 0.0, 0.0]
        );
        assert!(Normalization::MinMax.apply(&[]).is_empty());
        let (one, none) = (ranking(&[("a", -5.0)]), ranking(&[]));
        for method in METHODS {
            assert!(
                fuse(method, &[]).is_empty() && fuse(method, &[(&none, 1.0)]).is_empty(),
                "{method}"
            );
            let (alone, beside) = (
                fuse(method, &[(&one, 1.0)]),
                fuse(method, &[(&none, 1.0), (&one, 1.0)]),
            );
            assert!(
                alone == beside && alone.len() == 1,
                "{method}: {alone:?} {beside:?}"
            );
        }
        assert_eq!(
            Fusion::default()
                .with_depth(1)
                .fuse(&[(&ranking(&[("a", 1.0), ("b", 2.0)]), 1.0)])
                .len(),
            1
        );
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for method in METHODS {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        assert_eq!("rrf".parse(), Ok(Method::default()));
        assert_eq!("rrf k=10".parse(), Ok(Method::ReciprocalRank { k: 10.0 }));
        assert_eq!("mixed".parse(), Ok(Method::Mixed(Normalization::MinMax)));
        for wrong in [
            "",
            "rrf k=-1",
            "rrf min-max",
            "combsum max",
            "combsum z z",
            "borda",
        ] {
            assert!(wrong.parse::<Method>().is_err(), "{wrong}");
        }
    }

    fn any_ranking() -> impl Strategy<Value = Ranking> {
        proptest::collection::btree_map(0_u8..12, -3_i8..4, 0..8).prop_map(|scores| {
            let scored = scores.into_iter().map(|(id, score)| Scored {
                id: DatasetId::new(format!("d{id}")).expect("an id"),
                score: f64::from(score),
            });
            Ranking::from_scores(scored.collect())
        })
    }

    fn weighted() -> impl Strategy<Value = Vec<(Ranking, f64)>> {
        proptest::collection::vec(
            (
                any_ranking(),
                (0_u8..5).prop_map(|weight| f64::from(weight) / 4.0),
            ),
            1..5,
        )
    }

    fn by_id(method: Method, rankings: &[(Ranking, f64)]) -> Vec<(String, f64)> {
        let mut fused = fuse(
            method,
            &rankings
                .iter()
                .map(|(ranking, weight)| (ranking, *weight))
                .collect::<Vec<_>>(),
        );
        fused.sort_by(|a, b| a.0.cmp(&b.0));
        fused
    }

    proptest! {
        #[test]
        fn order_of_rankings_does_not_matter(rankings in weighted()) {
            let reversed: Vec<_> = rankings.iter().rev().cloned().collect();
            for method in METHODS {
                let (one, other) = (by_id(method, &rankings), by_id(method, &reversed));
                prop_assert_eq!(one.len(), other.len());
                for (one, other) in one.iter().zip(&other) {
                    prop_assert!(one.0 == other.0 && (one.1 - other.1).abs() < 1e-9, "{} {:?} {:?}", method, one, other);
                }
            }
        }

        #[test]
        fn a_ranking_of_weight_zero_is_not_there(rankings in weighted(), other in any_ranking()) {
            let mut more = rankings.clone();
            more.push((other, 0.0));
            for method in METHODS {
                prop_assert_eq!(by_id(method, &rankings), by_id(method, &more));
            }
        }

        #[test]
        fn every_document_of_a_weighted_ranking_comes_once_and_in_order(rankings in weighted()) {
            let mut expected: Vec<&str> = rankings.iter().filter(|(_, weight)| *weight > 0.0)
                .flat_map(|(ranking, _)| ranking.iter()).map(|entry| entry.id.as_str()).collect();
            expected.sort_unstable();
            expected.dedup();
            for method in METHODS {
                let fused = by_id(method, &rankings);
                prop_assert_eq!(fused.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), expected.clone());
            }
        }

        #[test]
        fn one_ranking_alone_keeps_its_order(ranking in any_ranking()) {
            for method in METHODS {
                let fused = fuse(method, &[(&ranking, 0.5)]);
                let before: Vec<&str> = ranking.iter().map(|entry| entry.id.as_str()).collect();
                prop_assert_eq!(fused.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), before);
            }
        }
    }
}
