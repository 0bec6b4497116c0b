//! Fused rankings, kept for a search so that it can explain each score.

use lodeseek_catalog::DatasetId;
use lodeseek_index::sparse::{Explanation, ModelKind};
use lodeseek_ranking::Ranking;
use lodeseek_rerank::{Encoder, Fusion, Granularity, Method};

/// Source of a ranking that is fused.
pub(super) enum RankingSource {
    /// A sparse model of the pool. `None`: the searcher's model.
    Sparse(Option<ModelKind>),
    /// An encoder, with its name and unit of text.
    Encoder(String),
    /// The works nearest to the query.
    Works,
}

impl RankingSource {
    pub(super) fn from_encoder(encoder: &dyn Encoder) -> Self {
        let unit = match encoder.granularity() {
            Granularity::Text => "one vector per text",
            Granularity::Piece => "one vector per word piece",
            Granularity::Term => "one weight per term",
        };
        Self::Encoder(format!("{}, {unit}", encoder.name()))
    }
}

/// A ranking with its weight.
pub(super) struct WeightedRanking {
    pub(super) source: RankingSource,
    pub(super) ranking: Ranking,
    pub(super) weight: f64,
}

/// The rankings of a fusion.
pub(super) struct FusedRankings {
    pub(super) method: Method,
    pub(super) rankings: Vec<WeightedRanking>,
}

impl FusedRankings {
    /// Returns the fused ranking.
    pub(super) fn fuse(&self) -> Ranking {
        let mut weighted = Vec::with_capacity(self.rankings.len());
        for one in &self.rankings {
            weighted.push((&one.ranking, one.weight));
        }
        Fusion::default()
            .with_method(self.method)
            .with_depth(usize::MAX)
            .fuse(&weighted)
    }

    /// Returns the fused score of a dataset as a tree: for each ranking the weight, the normalised score and the score, of which
    /// that by the searcher's model is explained by `sparse`. `None` if no ranking contains the dataset.
    pub(super) fn explain(
        &self,
        id: &DatasetId,
        sparse: &Explanation,
        model: &str,
    ) -> Option<Explanation> {
        let mut parts = Vec::new();
        for one in self.rankings.iter().filter(|one| one.weight > 0.0) {
            let Some(part) = self.method.contribution(&one.ranking, id.as_str()) else {
                continue;
            };
            let (name, score) = match &one.source {
                RankingSource::Sparse(kind) => {
                    let name = match kind {
                        Some(kind) => kind.name(),
                        None => model,
                    };
                    let score = if name == model {
                        explain_sparse_score(part.score, sparse)
                    } else {
                        Explanation::leaf(part.score, format!("score by {name}"))
                    };
                    (name.to_owned(), score)
                }
                RankingSource::Encoder(name) => (
                    name.clone(),
                    Explanation::leaf(part.score, "similarity to the query"),
                ),
                RankingSource::Works => (
                    "works".to_owned(),
                    Explanation::leaf(part.score, "votes of the works nearest to the query"),
                ),
            };
            let value = match self.method {
                Method::ReciprocalRank { k } => format!("1 / ({k} + rank {})", part.rank),
                Method::CombSum(scale) | Method::CombMnz(scale) | Method::Mixed(scale) => {
                    format!("score normalised by {scale}, rank {}", part.rank)
                }
            };
            parts.push(Explanation {
                value: one.weight * part.value,
                description: format!("{name}: product of weight and normalised score"),
                details: vec![
                    Explanation::leaf(one.weight, "weight"),
                    Explanation::leaf(part.value, value),
                    score,
                ],
            });
        }
        let number = u32::try_from(parts.len())
            .ok()
            .filter(|number| *number > 0)?;
        let sum = Explanation::sum(format!("sum of the rankings ({})", self.method), parts);
        let factor = match self.method {
            Method::ReciprocalRank { .. } | Method::CombSum(_) => return Some(sum),
            Method::CombMnz(_) => "number of rankings with the dataset",
            Method::Mixed(_) => "square root of the number of rankings with the dataset",
        };
        let value = self.method.factor(number);
        Some(Explanation {
            value: value * sum.value,
            description: format!("product ({})", self.method),
            details: vec![Explanation::leaf(value, factor), sum],
        })
    }
}

/// Returns a score by the searcher's model with its tree.
fn explain_sparse_score(score: f64, tree: &Explanation) -> Explanation {
    if is_value_of(score, tree) {
        return tree.clone();
    }
    Explanation {
        value: score,
        description: "score by words".to_owned(),
        details: vec![tree.clone()],
    }
}

/// Returns true if a score is the value of a tree, but for rounding.
pub(crate) fn is_value_of(score: f64, tree: &Explanation) -> bool {
    (score - tree.value).abs() < 1e-9 * score.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_ranking::Scored;
    use lodeseek_rerank::Normalization;

    fn id(name: &str) -> DatasetId {
        DatasetId::new(name).expect("an id")
    }

    fn ranking(scores: &[(&str, f64)]) -> Ranking {
        let scored = scores.iter().map(|(name, score)| Scored {
            id: id(name),
            score: *score,
        });
        Ranking::from_scores(scored.collect())
    }

    fn fused(method: Method) -> FusedRankings {
        fn weighted(source: RankingSource, scores: &[(&str, f64)], weight: f64) -> WeightedRanking {
            WeightedRanking {
                source,
                ranking: ranking(scores),
                weight,
            }
        }
        FusedRankings {
            method,
            rankings: vec![
                weighted(
                    RankingSource::Sparse(None),
                    &[("oaks", 4.0), ("elms", 3.0), ("ash", 1.0)],
                    1.0,
                ),
                weighted(
                    RankingSource::Sparse(Some(ModelKind::Fsdm)),
                    &[("elms", -2.0), ("oaks", -4.0)],
                    0.5,
                ),
                weighted(
                    RankingSource::Encoder("m, one vector per text".to_owned()),
                    &[("elms", 0.9), ("ash", 0.2)],
                    2.0,
                ),
                weighted(RankingSource::Works, &[("ash", 3.0), ("elms", 1.5)], 0.0),
            ],
        }
    }

    #[test]
    fn the_tree_of_every_method_has_the_fused_score() {
        for method in [
            Method::default(),
            Method::CombSum(Normalization::MinMax),
            Method::CombMnz(Normalization::ZScore),
            Method::Mixed(Normalization::MinMax),
        ] {
            let fused = fused(method);
            for scored in fused.fuse().iter() {
                let tree = Explanation::leaf(3.0, "BM25 over fields");
                let explained = fused.explain(&scored.id, &tree, "bm25").expect("a tree");
                assert!(
                    (explained.value - scored.score).abs() < 1e-12,
                    "{method}: {explained}"
                );
            }
        }
    }

    #[test]
    fn each_ranking_has_its_weight_and_scores() {
        let fused = fused(Method::CombSum(Normalization::MinMax));
        let tree = Explanation::leaf(3.0, "BM25 over fields");
        let explained = fused.explain(&id("elms"), &tree, "bm25").expect("a tree");
        let rows: Vec<Vec<f64>> = explained
            .details
            .iter()
            .map(|part| part.details.iter().map(|detail| detail.value).collect())
            .collect();
        assert_eq!(
            rows,
            [[1.0, 2.0 / 3.0, 3.0], [0.5, 1.0, -2.0], [2.0, 1.0, 0.9]]
        );
        assert_eq!(explained.details[0].details[2], tree);
        assert!(fused.explain(&id("yew"), &tree, "bm25").is_none());
    }
}
