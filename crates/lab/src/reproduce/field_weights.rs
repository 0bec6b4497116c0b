//! Field weights learned by cross-validation, as ACORDAR's baselines were tuned.
//!
//! The documents that weights may choose from are found once, with every field weighted 1, and kept as
//! [`Parts`]: a weighting is then judged without the index. Where ACORDAR's authors tried every point of their grid
//! (10⁸ for eight fields), [`CoordinateSearch`] tries a few hundred, and 0 is among the values: a field may be left out.

use super::tuning::{check_disjoint, learned_from, side_by_side};
use super::{CoordinateSearch, LearnOn, Progress, Start, TuneError};
use lodeseek_eval::{Folds, Grades, Metric, Qrels};
use lodeseek_index::document::Field;
use lodeseek_index::sparse::{FieldWeights, Parts};
use lodeseek_ranking::DatasetId;
use std::collections::BTreeMap;

/// For every topic the documents that may be ranked, with the parts of their scores.
pub type FieldPools = BTreeMap<String, Vec<(DatasetId, Parts)>>;

/// How field weights are learned.
#[derive(Clone, PartialEq, Debug)]
pub struct WeightTuning {
    /// What is maximised: its mean over the topics learned from.
    pub objective: Metric,
    /// Which judgements are learned from.
    pub learn_on: LearnOn,
    /// The published weights: one of the places where the search begins, and where fields have none they stay out.
    pub published: FieldWeights,
}

/// What a fold learned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TunedWeights {
    /// The weights.
    pub weights: FieldWeights,
    /// The objective on the topics learned from.
    pub learned: f64,
}

/// How far the tuning of a fold is; folds run side by side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WeightProgress {
    /// The fold, from 0.
    pub fold: usize,
    /// Of its search.
    pub search: Progress,
}

impl WeightTuning {
    /// Documents that weights may choose from, by default: more than a ranking shows, so that they seldom matter.
    pub const CANDIDATES: usize = 1000;

    /// Learns weights for every fold that is not `known` yet, folds side by side; `done` hears of each as it ends.
    pub fn run(
        &self,
        pools: &FieldPools,
        folds: &Folds,
        known: &BTreeMap<usize, TunedWeights>,
        done: &(dyn Fn(usize, &TunedWeights) + Sync),
        progress: &(dyn Fn(WeightProgress) + Sync),
    ) -> Result<Vec<TunedWeights>, TuneError> {
        check_disjoint(folds, self.learn_on)?;
        Ok(side_by_side(folds.0.len(), &|fold| {
            if let Some(&known) = known.get(&fold) {
                return known;
            }
            let told = |search| progress(WeightProgress { fold, search });
            let tuned = self.learn(pools, &learned_from(&folds.0[fold], self.learn_on), &told);
            done(fold, &tuned);
            tuned
        }))
    }

    /// The best weights for some judgements.
    pub fn learn(&self, pools: &FieldPools, judgements: &[&Qrels], told: &(dyn Fn(Progress) + Sync)) -> TunedWeights {
        let fields: Vec<Field> = self.published.fields().collect();
        let lessons: Vec<Lesson> = judgements
            .iter()
            .flat_map(|qrels| qrels.topics().map(|topic| Lesson::new(qrels, topic, pools.get(topic))))
            .collect();
        let objective = |point: &[f64]| {
            let weights = weights_of(&fields, point);
            lessons.iter().map(|lesson| lesson.value(self.objective, &weights)).sum::<f64>()
                / lessons.len().max(1) as f64
        };
        let published = fields.iter().map(|&field| self.published.of(field)).collect();
        let search =
            CoordinateSearch::default().with_starts(vec![Start::At(published), Start::Uniform, Start::BestAlone]);
        let optimum = search.maximize(fields.len(), &objective, told);
        TunedWeights { weights: weights_of(&fields, &optimum.weights), learned: optimum.value }
    }
}

fn weights_of(fields: &[Field], point: &[f64]) -> FieldWeights {
    let mut weights = FieldWeights([0.0; 8]);
    for (field, &weight) in fields.iter().zip(point) {
        weights.0[field.index()] = weight;
    }
    weights
}

/// A topic made ready for thousands of weightings.
struct Lesson<'p> {
    /// By id descending as strings, so that places break ties.
    documents: Vec<(&'p Parts, Option<i32>)>,
    /// All grades, best first.
    judged: Vec<i32>,
}

impl<'p> Lesson<'p> {
    fn new(qrels: &Qrels, topic: &str, pool: Option<&'p Vec<(DatasetId, Parts)>>) -> Self {
        let mut pool: Vec<&(DatasetId, Parts)> = pool.into_iter().flatten().collect();
        pool.sort_by(|a, b| b.0.cmp(&a.0));
        let documents = pool.into_iter().map(|(id, parts)| (parts, qrels.judged(topic, id.as_str()))).collect();
        Self { documents, judged: Grades::judged(qrels, topic) }
    }

    /// The measure under some weights; 0 where no field has one.
    fn value(&self, metric: Metric, weights: &FieldWeights) -> f64 {
        if weights.fields().next().is_none() {
            return 0.0;
        }
        let mut order: Vec<(f64, usize)> =
            self.documents.iter().enumerate().map(|(place, (parts, _))| (parts.score(weights), place)).collect();
        let before = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let depth = metric.depth();
        if depth > 0 && order.len() > depth {
            order.select_nth_unstable_by(depth, before);
            order.truncate(depth);
        }
        order.sort_unstable_by(before);
        let grades: Vec<Option<i32>> = order.into_iter().map(|(_, place)| self.documents[place].1).collect();
        metric.evaluate_grades(&grades, &self.judged)
    }
}
