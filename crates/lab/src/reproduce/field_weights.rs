//! Field weights by cross-validation, after the tuning of ACORDAR's baselines.
//!
//! The candidate documents are retrieved once, with every field weighted 1, and stored as [`Parts`] of their scores.
//! Other weights are then evaluated without the index. ACORDAR's authors tried every point of their grid (10⁸ for eight
//! fields). [`CoordinateSearch`] tries a few hundred. With 0 in the grid, which the authors' grid lacks, a field can be
//! ignored.

use super::tuning::{check_disjoint, compare_scores, training_judgements};
use super::{LearnOn, TuneError};
use crate::neighbors::parallel_map;
use lodeseek_eval::{CoordinateSearch, Progress, Start};
use lodeseek_eval::{Folds, Grades, Metric, Qrels};
use lodeseek_index::document::Field;
use lodeseek_index::sparse::{FieldWeights, ScoreParts};
use lodeseek_ranking::DatasetId;
use std::collections::BTreeMap;

/// Candidate documents of every topic, with the parts of their scores.
pub type FieldPools = BTreeMap<String, Vec<(DatasetId, ScoreParts)>>;

/// Parameters of learning field weights.
#[derive(Clone, PartialEq, Debug)]
pub struct WeightTuning {
    /// Objective: the mean of this measure over the training topics.
    pub objective: Metric,
    /// Judgements that weights are learned from.
    pub learn_on: LearnOn,
    /// Published weights: one of the starts of the search. Fields without a weight remain without.
    pub published: FieldWeights,
    /// Values that a weight may have. Not empty.
    pub grid: Vec<f64>,
}

/// Weights of a fold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TunedWeights {
    /// The weights.
    pub weights: FieldWeights,
    /// Value of the objective on the training topics.
    pub learned: f64,
}

/// Progress of a fold. Folds run in parallel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WeightProgress {
    /// Fold, counted from 0.
    pub fold: usize,
    /// Progress of its search.
    pub search: Progress,
}

impl WeightTuning {
    /// Default number of candidate documents of a topic. It exceeds the depth of a ranking, so the bound seldom
    /// matters.
    pub const DEFAULT_CANDIDATES: usize = 1000;

    /// Learns weights for every fold that is not in `known`. Folds run in parallel; `done` is called as each one ends.
    pub fn run(
        &self,
        pools: &FieldPools,
        folds: &Folds,
        known: &BTreeMap<usize, TunedWeights>,
        done: &(dyn Fn(usize, &TunedWeights) + Sync),
        progress: &(dyn Fn(WeightProgress) + Sync),
    ) -> Result<Vec<TunedWeights>, TuneError> {
        check_disjoint(folds, self.learn_on)?;
        Ok(parallel_map(folds.0.len(), |fold| {
            if let Some(&known) = known.get(&fold) {
                return known;
            }
            let tuned = self.learn(
                pools,
                &training_judgements(&folds.0[fold], self.learn_on),
                &|search| progress(WeightProgress { fold, search }),
            );
            done(fold, &tuned);
            tuned
        }))
    }

    /// Returns the best weights for some judgements.
    pub fn learn(
        &self,
        pools: &FieldPools,
        judgements: &[&Qrels],
        progress: &(dyn Fn(Progress) + Sync),
    ) -> TunedWeights {
        let fields: Vec<Field> = self.published.fields().collect();
        let topics: Vec<TrainingTopic> = judgements
            .iter()
            .flat_map(|qrels| {
                qrels
                    .topics()
                    .map(|topic| TrainingTopic::new(qrels, topic, pools.get(topic)))
            })
            .collect();
        let published = fields
            .iter()
            .map(|&field| self.published.weight(field))
            .collect();
        let mut starts = vec![Start::At(published), Start::Uniform];
        // This start sets all other weights to 0.
        if self.grid.contains(&0.0) {
            starts.push(Start::BestAlone);
        }
        let search = CoordinateSearch::default()
            .with_grid(&self.grid)
            .with_starts(starts);
        let optimum = search.maximize(
            fields.len(),
            &|point: &[f64]| {
                let weights = field_weights_at(&fields, point);
                let mut values = Vec::with_capacity(topics.len());
                for topic in &topics {
                    values.push(topic.value(self.objective, &weights));
                }
                lodeseek_eval::mean(&values)
            },
            progress,
        );
        TunedWeights {
            weights: field_weights_at(&fields, &optimum.weights),
            learned: optimum.value,
        }
    }
}

fn field_weights_at(fields: &[Field], point: &[f64]) -> FieldWeights {
    let mut weights = FieldWeights([0.0; 8]);
    for (field, &weight) in fields.iter().zip(point) {
        weights.0[field.index()] = weight;
    }
    weights
}

/// A topic prepared for thousands of evaluations.
struct TrainingTopic<'p> {
    /// Sorted by id, descending as strings, so that positions break ties.
    documents: Vec<(&'p ScoreParts, Option<i32>)>,
    /// All grades, best first.
    judged: Vec<i32>,
}

impl<'p> TrainingTopic<'p> {
    fn new(qrels: &Qrels, topic: &str, pool: Option<&'p Vec<(DatasetId, ScoreParts)>>) -> Self {
        let mut pool: Vec<&(DatasetId, ScoreParts)> = pool.into_iter().flatten().collect();
        pool.sort_by(|a, b| b.0.cmp(&a.0));
        let documents = pool
            .into_iter()
            .map(|(id, parts)| (parts, qrels.find_grade(topic, id.as_str())))
            .collect();
        Self {
            documents,
            judged: Grades::judgements(qrels, topic),
        }
    }

    /// Returns the measure under some weights, and 0 if all weights are 0.
    fn value(&self, metric: Metric, weights: &FieldWeights) -> f64 {
        // Without weights all scores are 0, and only the ids would decide.
        if weights.fields().next().is_none() {
            return 0.0;
        }
        let mut order: Vec<(f64, usize)> = self
            .documents
            .iter()
            .enumerate()
            .map(|(place, (parts, _))| (parts.score(weights), place))
            .collect();
        let depth = metric.depth();
        if depth > 0 && order.len() > depth {
            order.select_nth_unstable_by(depth, compare_scores);
            order.truncate(depth);
        }
        order.sort_unstable_by(compare_scores);
        let grades: Vec<Option<i32>> = order
            .into_iter()
            .map(|(_, place)| self.documents[place].1)
            .collect();
        metric.evaluate_grades(&grades, &self.judged)
    }
}
