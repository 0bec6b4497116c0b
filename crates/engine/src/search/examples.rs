//! Search by words and examples: datasets are ranked by the query and by their similarity to given datasets or graphs.
//!
//! The task is that of *DSEBench: A Test Collection for Explainable Dataset Search with Examples* (arXiv 2510.17228). The ranking by
//! words and that by similarity, the mean over the examples, are fused: the scores of each are divided by its best one, and added.

use super::request::Example;
use super::response::ExampleSimilarity;
use crate::scope::CandidateScope;
use crate::similar::{Comparison, Scores, Similarities, Target};
use crate::{DatasetReference, EngineError, MAX_EXAMPLES};
use lodeseek_catalog::DatasetId;
use lodeseek_index::sparse::Explanation;
use lodeseek_index::{Condition, FilteredDocs};
use lodeseek_ranking::{Ranking, Scored};
use rustc_hash::{FxHashMap, FxHashSet};

/// The weight of the similarity to examples beside that of words, 1. Chosen by folds over topics; see "Search by words and examples" in
/// `docs/src/explanation/ranking.md`.
const SIMILARITY_WEIGHT: f64 = 0.5;

/// The examples of a request, compared with all datasets.
pub(super) struct ComparedExamples<'s> {
    comparison: &'s Comparison<'s>,
    examples: Vec<(Target, Similarities)>,
    references: Vec<Option<DatasetReference>>,
}

/// The datasets ranked by words and examples.
pub(super) struct SimilarDocs {
    /// The datasets, best first.
    pub(super) ranking: Ranking,
    /// The ranking by words, if it is fused.
    by_words: Option<Ranking>,
    /// The ranking by the mean similarity to the examples.
    by_similarity: Ranking,
    /// The similarities to each example.
    scores: Vec<FxHashMap<DatasetId, Scores>>,
}

impl SimilarDocs {
    /// Returns true if no dataset is similar to an example.
    pub(super) fn is_empty(&self) -> bool {
        self.scores.iter().all(FxHashMap::is_empty)
    }

    /// Returns the score of a dataset by words, if the ranking by words is fused and contains it.
    pub(super) fn words_score(&self, id: &DatasetId) -> Option<f64> {
        score_of(self.by_words.as_ref()?, id)
    }

    /// Returns the score of a dataset as a tree. `words` is that of its score by words.
    pub(super) fn explain(&self, id: &DatasetId, words: Explanation) -> Explanation {
        let mut parts = Vec::with_capacity(2);
        if let Some(by_words) = &self.by_words
            && let Some(score) = score_of(by_words, id)
        {
            let words = Explanation {
                value: score,
                ..words
            };
            parts.push(weighted_part("words", by_words, 1.0, words));
        }
        if let Some(score) = score_of(&self.by_similarity, id) {
            let similarity = Explanation::leaf(score, "mean similarity to the examples");
            let weight = SIMILARITY_WEIGHT;
            parts.push(weighted_part(
                "examples",
                &self.by_similarity,
                weight,
                similarity,
            ));
        }
        Explanation::sum("sum of words and examples", parts)
    }

    /// Returns true if a dataset is similar to an example.
    pub(super) fn contains(&self, id: &DatasetId) -> bool {
        self.scores.iter().any(|scores| scores.contains_key(id))
    }
}

impl<'s> ComparedExamples<'s> {
    /// Compares the examples of a request with all datasets. `None` without examples.
    pub(super) fn new(
        comparison: &'s Comparison<'s>,
        examples: &[Example],
    ) -> Result<Option<Self>, EngineError> {
        if examples.is_empty() {
            return Ok(None);
        }
        if examples.len() > MAX_EXAMPLES {
            return Err(EngineError::TooManyExamples(examples.len()));
        }
        let (mut compared, mut references) = (Vec::new(), Vec::new());
        for example in examples {
            let (target, reference) = match example {
                Example::Dataset(id) => {
                    let Some(target) = comparison.dataset(id)? else {
                        return Err(EngineError::UnknownExample(id.clone()));
                    };
                    let Some(card) = comparison.catalog.card(id)? else {
                        return Err(EngineError::UnknownExample(id.clone()));
                    };
                    (target, Some(DatasetReference::from_card(&card)))
                }
                Example::Graph(graph) => (comparison.graph(graph)?, None),
            };
            let similarities = comparison.similarities(&target)?;
            compared.push((target, similarities));
            references.push(reference);
        }
        Ok(Some(Self {
            comparison,
            examples: compared,
            references,
        }))
    }

    /// Returns the documents that pass a filter without the examples, their duplicates and editions.
    pub(super) fn exclude_from(
        &self,
        filtered: Option<FilteredDocs>,
    ) -> Result<FilteredDocs, EngineError> {
        let snapshot = self.comparison.snapshot;
        let mut addresses = Vec::new();
        for id in self
            .examples
            .iter()
            .flat_map(|(target, _)| &target.excluded)
        {
            addresses.extend(snapshot.address(id)?);
        }
        let mut passing = filtered.unwrap_or_else(|| snapshot.all_docs());
        passing.restrict(&addresses, Condition::Excluded);
        Ok(passing)
    }

    /// Ranks the best datasets by words and the most similar ones of a scope by both. `by_words` is restricted to the scope. If none
    /// of them matches the words, they are ranked only if no dataset is similar.
    pub(super) fn rank(
        &self,
        by_words: &Ranking,
        has_matches: bool,
        scope: CandidateScope<'_>,
    ) -> Result<SimilarDocs, EngineError> {
        let mut candidates: FxHashSet<DatasetId> =
            by_words.iter().map(|scored| scored.id.clone()).collect();
        for (_, similarities) in &self.examples {
            for id in self.comparison.pool(similarities)? {
                if scope.contains(&id)? {
                    candidates.insert(id);
                }
            }
        }
        let mut all_scores = Vec::with_capacity(self.examples.len());
        let mut sums = FxHashMap::<DatasetId, f64>::default();
        for (target, similarities) in &self.examples {
            let mut scores = self
                .comparison
                .scores(target, similarities, candidates.clone())?;
            scores.retain(|_, scores| similarities.score(*scores).is_some());
            for (id, scores) in &scores {
                *sums.entry(id.clone()).or_default() +=
                    similarities.score(*scores).unwrap_or_default();
            }
            all_scores.push(scores);
        }
        let by_similarity = Ranking::from_scores(
            sums.into_iter()
                .map(|(id, sum)| Scored {
                    id,
                    score: sum / self.examples.len() as f64,
                })
                .collect(),
        );
        let mut fused = FxHashMap::default();
        let is_by_words = has_matches || by_similarity.is_empty();
        if is_by_words {
            add_weighted_scores(&mut fused, by_words, 1.0);
        }
        add_weighted_scores(&mut fused, &by_similarity, SIMILARITY_WEIGHT);
        let ranking = Ranking::from_scores(
            fused
                .into_iter()
                .map(|(id, score)| Scored { id, score })
                .collect(),
        );
        Ok(SimilarDocs {
            ranking,
            by_words: is_by_words.then(|| by_words.clone()),
            by_similarity,
            scores: all_scores,
        })
    }

    /// Returns the similarities of a dataset to the examples, with reasons.
    pub(super) fn similarities(
        &self,
        id: &DatasetId,
        similar: &SimilarDocs,
    ) -> Result<Vec<ExampleSimilarity>, EngineError> {
        let mut found = Vec::new();
        for (example, ((target, similarities), scores)) in
            self.examples.iter().zip(&similar.scores).enumerate()
        {
            let Some(scores) = scores.get(id) else {
                continue;
            };
            let Some(score) = similarities.score(*scores) else {
                continue;
            };
            let parts = self.comparison.parts(target, similarities, id, *scores)?;
            found.push(ExampleSimilarity {
                example,
                score,
                parts,
            });
        }
        Ok(found)
    }

    /// Returns references to the examples that are datasets.
    pub(super) fn into_references(self) -> Vec<Option<DatasetReference>> {
        self.references
    }
}

/// Adds the scores of a ranking, divided by the best one and weighted. If some are negative, as those of FSDM, they are first
/// shifted: the lowest becomes 0.
fn add_weighted_scores(sums: &mut FxHashMap<DatasetId, f64>, ranking: &Ranking, weight: f64) {
    let scale = Scale::new(ranking);
    for scored in ranking.iter() {
        *sums.entry(scored.id.clone()).or_default() += weight * scale.share(scored.score);
    }
}

/// Returns the score of a dataset in a ranking.
fn score_of(ranking: &Ranking, id: &DatasetId) -> Option<f64> {
    let mut scored = ranking.iter();
    scored
        .find(|scored| scored.id == *id)
        .map(|scored| scored.score)
}

/// Returns the part of a ranking in the score of a dataset, whose score in the ranking is explained.
fn weighted_part(name: &str, ranking: &Ranking, weight: f64, score: Explanation) -> Explanation {
    let share = Scale::new(ranking).share(score.value);
    Explanation {
        value: weight * share,
        description: format!("{name}: product of weight and scaled score"),
        details: vec![
            Explanation::leaf(weight, "weight"),
            Explanation::leaf(share, "score divided by the best one"),
            score,
        ],
    }
}

/// Range of the scores of a ranking.
struct Scale {
    lowest: f64,
    /// Distance of the best score from the lowest one.
    best: f64,
}

impl Scale {
    fn new(ranking: &Ranking) -> Self {
        let (mut lowest, mut highest) = (0.0_f64, f64::NEG_INFINITY);
        for scored in ranking.iter() {
            lowest = lowest.min(scored.score);
            highest = highest.max(scored.score);
        }
        let best = (highest - lowest).max(0.0);
        Self { lowest, best }
    }

    /// Returns a score as a share of the best one.
    fn share(&self, score: f64) -> f64 {
        if self.best > 0.0 {
            (score - self.lowest) / self.best
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(scores: &[f64]) -> Vec<f64> {
        let id = |place: usize| DatasetId::new(format!("{place}").as_str()).expect("an id");
        let scored = scores.iter().enumerate().map(|(place, score)| Scored {
            id: id(place),
            score: *score,
        });
        let mut sums = FxHashMap::default();
        add_weighted_scores(&mut sums, &Ranking::from_scores(scored.collect()), 0.5);
        (0..scores.len()).map(|place| sums[&id(place)]).collect()
    }

    #[test]
    fn scores_are_scaled_by_the_best() {
        assert_eq!(scaled(&[4.0, 1.0]), [0.5, 0.125]);
        assert_eq!(scaled(&[-1.0, -3.0]), [0.5, 0.0]);
        assert_eq!(scaled(&[0.0, 0.0]), [0.5, 0.5]);
        assert!(scaled(&[]).is_empty());
    }
}
