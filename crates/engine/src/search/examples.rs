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
    /// The similarities to each example.
    scores: Vec<FxHashMap<DatasetId, Scores>>,
}

impl SimilarDocs {
    /// Returns true if no dataset is similar to an example.
    pub(super) fn is_empty(&self) -> bool {
        self.scores.iter().all(FxHashMap::is_empty)
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
                    let unknown = || EngineError::UnknownExample(id.clone());
                    let target = comparison.dataset(id)?.ok_or_else(unknown)?;
                    let card = comparison.catalog.card(id)?.ok_or_else(unknown)?;
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
        if has_matches || by_similarity.is_empty() {
            add_scaled(&mut fused, by_words, 1.0);
        }
        add_scaled(&mut fused, &by_similarity, SIMILARITY_WEIGHT);
        let ranking = Ranking::from_scores(
            fused
                .into_iter()
                .map(|(id, score)| Scored { id, score })
                .collect(),
        );
        Ok(SimilarDocs {
            ranking,
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
fn add_scaled(sums: &mut FxHashMap<DatasetId, f64>, ranking: &Ranking, weight: f64) {
    let lowest = ranking
        .iter()
        .map(|scored| scored.score)
        .fold(0.0, f64::min);
    let best = ranking
        .iter()
        .map(|scored| scored.score - lowest)
        .fold(0.0, f64::max);
    for scored in ranking.iter() {
        let share = if best > 0.0 {
            (scored.score - lowest) / best
        } else {
            1.0
        };
        *sums.entry(scored.id.clone()).or_default() += weight * share;
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
        add_scaled(&mut sums, &Ranking::from_scores(scored.collect()), 0.5);
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
