//! Fusion of runs with weights learned by cross-validation.

use crate::neighbors::parallel_map;
use lodeseek_eval::{CoordinateSearch, Optimum, Progress};
use lodeseek_eval::{Fold, Folds, Grades, Metric, Qrels, Run, mean};
use lodeseek_ranking::Ranking;
use lodeseek_rerank::{Method, Normalization, Pool};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::str::FromStr;

/// Judgements that weights are learned from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum LearnOn {
    /// The training and the validation part of a fold.
    #[default]
    #[serde(rename = "train+valid")]
    TrainAndValid,
    /// The validation part only.
    #[serde(rename = "valid")]
    Valid,
}

/// The name of a part of folds is unknown.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown parts of folds {0:?}: use train+valid or valid")]
pub struct ParseLearnOnError(String);

impl FromStr for LearnOn {
    type Err = ParseLearnOnError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "train+valid" => Ok(Self::TrainAndValid),
            "valid" => Ok(Self::Valid),
            _ => Err(ParseLearnOnError(name.to_owned())),
        }
    }
}

/// Errors of learning fusion weights.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TuneError {
    /// A test topic is also a training topic.
    #[error(
        "fold {fold}: topic {topic} is in the test part and in the training or validation part"
    )]
    Leak {
        /// The fold, counted from 0.
        fold: usize,
        /// The topic.
        topic: String,
    },
    /// A topic is tested by two folds.
    #[error("topic {topic} is in the test parts of fold {fold} and of an earlier fold")]
    TestedTwice {
        /// The later fold, counted from 0.
        fold: usize,
        /// The topic.
        topic: String,
    },
    /// A part of a fold is empty.
    #[error("fold {fold} has no training topics or no test topics")]
    Empty {
        /// The fold, counted from 0.
        fold: usize,
    },
    /// There is nothing to choose from.
    #[error("{0}")]
    Nothing(&'static str),
}

/// Progress of a fold. Folds run in parallel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TuningProgress {
    /// Fold, counted from 0.
    pub fold: usize,
    /// Method being tried.
    pub method: Method,
    /// Progress of its search.
    pub search: Progress,
}

/// Learns a fusion of runs for each fold, and fuses the fold's test topics.
///
/// Of several methods a fold takes the one that performs best on its *validation* part with weights learned on its
/// *training* part. The weights are then learned again from all judgements of [`LearnOn`]. Test topics influence no
/// choice.
#[derive(Clone, PartialEq, Debug)]
pub struct FusionTuning {
    methods: Vec<Method>,
    objective: Vec<Metric>,
    learn_on: LearnOn,
    search: CoordinateSearch,
    depth: usize,
}

/// Method and weights of a fold.
#[derive(Clone, PartialEq, Debug)]
pub struct TunedFold {
    /// Chosen method.
    pub method: Method,
    /// Weights, one for each run.
    pub weights: Vec<f64>,
    /// Value of the objective on the training topics.
    pub learned: f64,
    /// For every method, the value of the objective on the validation part with weights learned on the training part.
    /// Empty if there is a single method.
    pub validated: Vec<(Method, f64)>,
    /// Number of test topics.
    pub topics: usize,
}

/// Fused test topics of all folds, with the methods and weights of each fold.
#[derive(Clone, PartialEq, Debug)]
pub struct TunedFusion {
    /// Fused rankings.
    pub run: Run,
    /// Method and weights of each fold.
    pub folds: Vec<TunedFold>,
    /// Mean number of distinct documents that a test topic's ranking was chosen from.
    pub pool: f64,
}

impl Default for FusionTuning {
    fn default() -> Self {
        Self {
            methods: vec![Method::CombSum(Normalization::MinMax)],
            objective: vec![Metric::ndcg(10)],
            learn_on: LearnOn::default(),
            search: CoordinateSearch::default(),
            depth: Self::DEFAULT_DEPTH,
        }
    }
}

impl FusionTuning {
    /// Default number of documents of a topic.
    pub const DEFAULT_DEPTH: usize = 100;

    /// Sets the methods to choose from.
    #[must_use]
    pub fn with_methods(mut self, methods: Vec<Method>) -> Self {
        self.methods = methods;
        self
    }

    /// Sets the objective: the mean of these measures.
    #[must_use]
    pub fn with_objective(mut self, objective: Vec<Metric>) -> Self {
        self.objective = objective;
        self
    }

    /// Sets the judgements that weights are learned from.
    #[must_use]
    pub fn with_learn_on(mut self, learn_on: LearnOn) -> Self {
        self.learn_on = learn_on;
        self
    }

    /// Sets the search.
    #[must_use]
    pub fn with_search(mut self, search: CoordinateSearch) -> Self {
        self.search = search;
        self
    }

    /// Sets the number of documents of a topic.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Learns and fuses, with folds in parallel.
    ///
    /// # Errors
    ///
    /// Fails if there are no runs, methods or measures, if a part of a fold is empty, or if a test topic is not
    /// separate from the training topics.
    pub fn run(
        &self,
        runs: &[Run],
        folds: &Folds,
        progress: &(dyn Fn(TuningProgress) + Sync),
    ) -> Result<TunedFusion, TuneError> {
        if runs.is_empty()
            || self.methods.is_empty()
            || self.objective.is_empty()
            || folds.0.is_empty()
        {
            return Err(TuneError::Nothing(
                "tuning needs runs, folds, a method and an objective",
            ));
        }
        check_disjoint(folds, self.learn_on)?;
        let learned = parallel_map(folds.0.len(), |fold| {
            self.learn(runs, fold, &folds.0[fold], progress)
        });
        let mut run = Run::new("lodeseek-fusion");
        let mut sizes = Vec::new();
        for (fold, tuned) in folds.0.iter().zip(&learned) {
            for topic in fold.test.topics() {
                let pool = pool_rankings(runs, tuned.method, topic);
                let ranking = pool.fuse(&tuned.weights);
                sizes.push(ranking.len() as f64);
                if !ranking.is_empty() {
                    run.insert(topic, ranking.cut(self.depth));
                }
            }
        }
        Ok(TunedFusion {
            run,
            folds: learned,
            pool: mean(&sizes),
        })
    }

    /// Returns the method and weights of a fold. Its test part is only counted.
    fn learn(
        &self,
        runs: &[Run],
        fold: usize,
        parts: &Fold,
        progress: &(dyn Fn(TuningProgress) + Sync),
    ) -> TunedFold {
        let mut best = (self.methods[0], f64::NEG_INFINITY);
        let mut validated = Vec::new();
        // A single method leaves nothing to choose.
        if self.methods.len() > 1 {
            for &method in &self.methods {
                // The validation part chooses the method, so weights for the choice are learned without it.
                let optimum = self.optimize(runs, method, &[&parts.train], &|search| {
                    progress(TuningProgress {
                        fold,
                        method,
                        search,
                    })
                });
                let value = TrainingTopics::new(runs, method, &[&parts.valid], &self.objective)
                    .value(&optimum.weights);
                validated.push((method, value));
                if value > best.1 {
                    best = (method, value);
                }
            }
        }
        let method = best.0;
        let optimum = self.optimize(
            runs,
            method,
            &training_judgements(parts, self.learn_on),
            &|search| {
                progress(TuningProgress {
                    fold,
                    method,
                    search,
                })
            },
        );
        let topics = parts.test.topics().count();
        TunedFold {
            method,
            weights: optimum.weights,
            learned: optimum.value,
            validated,
            topics,
        }
    }

    /// Returns the best weights of a method on the topics of some judgements.
    fn optimize(
        &self,
        runs: &[Run],
        method: Method,
        judgements: &[&Qrels],
        on_step: &(dyn Fn(Progress) + Sync),
    ) -> Optimum {
        let topics = TrainingTopics::new(runs, method, judgements, &self.objective);
        self.search.maximize(
            runs.len(),
            &|weights: &[f64]| topics.value(weights),
            on_step,
        )
    }
}

/// Orders pairs of score and position: the highest score first, ties by position.
pub(super) fn compare_scores(one: &(f64, usize), other: &(f64, usize)) -> Ordering {
    other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
}

pub(super) fn training_judgements(fold: &Fold, learn_on: LearnOn) -> Vec<&Qrels> {
    match learn_on {
        LearnOn::TrainAndValid => vec![&fold.train, &fold.valid],
        LearnOn::Valid => vec![&fold.valid],
    }
}

/// Checks that no topic is tested twice and that no test topic is a training topic. The training part is always
/// checked, because methods may be chosen with it.
pub(super) fn check_disjoint(folds: &Folds, learn_on: LearnOn) -> Result<(), TuneError> {
    let mut tested = BTreeSet::new();
    for (place, fold) in folds.0.iter().enumerate() {
        let learned: BTreeSet<&str> = fold.train.topics().chain(fold.valid.topics()).collect();
        let nothing_to_learn = training_judgements(fold, learn_on)
            .iter()
            .all(|part| part.topics().next().is_none());
        if nothing_to_learn || fold.test.topics().next().is_none() {
            return Err(TuneError::Empty { fold: place });
        }
        for topic in fold.test.topics() {
            if learned.contains(topic) {
                return Err(TuneError::Leak {
                    fold: place,
                    topic: topic.to_owned(),
                });
            }
            if !tested.insert(topic) {
                return Err(TuneError::TestedTwice {
                    fold: place,
                    topic: topic.to_owned(),
                });
            }
        }
    }
    Ok(())
}

fn pool_rankings(runs: &[Run], method: Method, topic: &str) -> Pool {
    let none = Ranking::default();
    let rankings: Vec<&Ranking> = runs
        .iter()
        .map(|run| run.ranking(topic).unwrap_or(&none))
        .collect();
    Pool::new(method, &rankings)
}

/// Training topics, prepared for thousands of evaluations.
struct TrainingTopics<'o> {
    objective: &'o [Metric],
    /// Number of ranks that the objective reads.
    depth: usize,
    topics: Vec<TrainingTopic>,
}

struct TrainingTopic {
    pool: Pool,
    /// Grades of the pool's documents, in their order.
    grades: Vec<Option<i32>>,
    /// All grades, best first.
    judged: Vec<i32>,
}

impl<'o> TrainingTopics<'o> {
    fn new(runs: &[Run], method: Method, judgements: &[&Qrels], objective: &'o [Metric]) -> Self {
        // A depth of 0 stands for all ranks, so the largest depth would miss it.
        let all_ranks = objective.iter().any(|metric| metric.depth() == 0);
        let deepest = objective
            .iter()
            .map(|metric| metric.depth())
            .max()
            .unwrap_or(0);
        let mut topics = Vec::new();
        for qrels in judgements {
            topics.extend(
                qrels
                    .topics()
                    .map(|topic| TrainingTopic::new(runs, method, qrels, topic)),
            );
        }
        Self {
            objective,
            depth: if all_ranks { usize::MAX } else { deepest },
            topics,
        }
    }

    /// Returns the mean of the measures over the topics.
    fn value(&self, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        for topic in &self.topics {
            let grades = topic.grades_by_rank(weights, self.depth);
            sum += self
                .objective
                .iter()
                .map(|metric| metric.evaluate_grades(&grades, &topic.judged))
                .sum::<f64>();
        }
        sum / (self.topics.len() * self.objective.len()).max(1) as f64
    }
}

impl TrainingTopic {
    fn new(runs: &[Run], method: Method, qrels: &Qrels, topic: &str) -> Self {
        let pool = pool_rankings(runs, method, topic);
        let grades = pool
            .documents()
            .map(|document| qrels.find_grade(topic, document))
            .collect();
        Self {
            pool,
            grades,
            judged: Grades::judgements(qrels, topic),
        }
    }

    /// Returns the grades of the first ranks. The pool has the order of equal scores, so positions break ties as ids
    /// would.
    fn grades_by_rank(&self, weights: &[f64], depth: usize) -> Vec<Option<i32>> {
        let scores = self.pool.scores(weights);
        let mut order: Vec<(f64, usize)> = scores
            .iter()
            .enumerate()
            .filter_map(|(place, score)| Some(((*score)?, place)))
            .collect();
        // A search evaluates thousands of weights: only the ranks that the objective reads are sorted.
        if order.len() > depth {
            order.select_nth_unstable_by(depth, compare_scores);
            order.truncate(depth);
        }
        order.sort_unstable_by(compare_scores);
        order
            .into_iter()
            .map(|(_, place)| self.grades[place])
            .collect()
    }
}

/// Returns for every run the position of the first run with the same rankings: its own position unless it is a
/// duplicate. Tags are ignored.
#[must_use]
pub fn find_first_equal_runs(runs: &[Run]) -> Vec<usize> {
    runs.iter()
        .enumerate()
        .map(|(own, run)| {
            runs[..own]
                .iter()
                .position(|other| run.len() == other.len() && run.iter().eq(other.iter()))
                .unwrap_or(own)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_ranking::DatasetId;
    use lodeseek_ranking::Scored;
    use proptest::prelude::*;

    /// Ten topics with documents a to d. `good` ranks the relevant one first, `bad` last.
    fn qrels() -> Qrels {
        let mut qrels = Qrels::default();
        for topic in 0..10 {
            for (place, document) in ["a", "b", "c", "d"].into_iter().enumerate() {
                qrels.insert(&topic.to_string(), document, i32::from(place == topic % 4));
            }
        }
        qrels
    }

    fn run(score: impl Fn(usize, usize) -> f64) -> Run {
        let mut run = Run::new("test");
        for topic in 0..10 {
            let scored = ["a", "b", "c", "d"]
                .into_iter()
                .enumerate()
                .map(|(place, id)| Scored {
                    id: DatasetId::new(id).expect("an id"),
                    score: score(topic, place),
                })
                .collect();
            run.insert(topic.to_string(), Ranking::from_scores(scored));
        }
        run
    }

    fn runs() -> Vec<Run> {
        let relevant = |topic: usize, place: usize| f64::from(u8::from(place == topic % 4));
        vec![
            run(|topic, place| 4.0 - relevant(topic, place) * 4.0 + place as f64 / 10.0),
            run(relevant),
            run(|_, place| place as f64),
        ]
    }

    fn learned(folds: &Folds, tuning: &FusionTuning) -> TunedFusion {
        tuning.run(&runs(), folds, &|_| ()).expect("tuned")
    }

    #[test]
    fn the_good_run_is_found() {
        let qrels = qrels();
        let tuned = learned(&Folds::split(&qrels, 5), &FusionTuning::default());
        assert_eq!(
            (tuned.run.len(), tuned.folds.len(), tuned.pool),
            (10, 5, 4.0)
        );
        for (topic, ranking) in tuned.run.iter() {
            assert!(
                (Metric::ndcg(1).evaluate(&qrels, topic, ranking) - 1.0).abs() < 1e-12,
                "{topic}"
            );
        }
        for fold in &tuned.folds {
            assert!(
                fold.weights[1] > fold.weights[0]
                    && (fold.learned - 1.0).abs() < 1e-12
                    && fold.topics == 2,
                "{fold:?}"
            );
            assert!(fold.validated.is_empty());
        }
    }

    #[test]
    fn of_methods_the_one_that_validates_best_is_taken_and_the_first_of_equals() {
        let methods = vec![Method::Mixed(Normalization::MinMax), Method::default()];
        let tuned = learned(
            &Folds::split(&qrels(), 5),
            &FusionTuning::default().with_methods(methods.clone()),
        );
        for fold in &tuned.folds {
            assert_eq!(
                fold.validated
                    .iter()
                    .map(|(method, _)| *method)
                    .collect::<Vec<_>>(),
                methods
            );
            let best = fold
                .validated
                .iter()
                .map(|(_, value)| *value)
                .fold(f64::MIN, f64::max);
            let first = fold
                .validated
                .iter()
                .find(|(_, value)| *value == best)
                .expect("the best");
            assert_eq!(first.0, fold.method);
        }
    }

    #[test]
    fn a_topic_that_is_tested_is_not_learned_from() {
        let error = |folds: &Folds| {
            FusionTuning::default()
                .run(&runs(), folds, &|_| ())
                .expect_err("refused")
        };
        let mut folds = Folds::split(&qrels(), 5);
        folds.0[1].train = qrels();
        assert_eq!(
            error(&folds),
            TuneError::Leak {
                fold: 1,
                topic: "1".to_owned()
            }
        );
        let mut folds = Folds::split(&qrels(), 5);
        folds.0[3] = folds.0[2].clone();
        assert!(matches!(
            error(&folds),
            TuneError::TestedTwice { fold: 3, .. }
        ));
        let mut folds = Folds::split(&qrels(), 5);
        folds.0[0].test = Qrels::default();
        assert_eq!(error(&folds), TuneError::Empty { fold: 0 });
        assert!(matches!(error(&Folds(Vec::new())), TuneError::Nothing(_)));
    }

    #[test]
    fn copies_are_seen() {
        let mut runs = runs();
        runs.push(runs[1].clone());
        runs[3].tag = "another".to_owned();
        assert_eq!(find_first_equal_runs(&runs), [0, 1, 2, 1]);
    }

    proptest! {
        /// The test part only selects the topics that are fused.
        #[test]
        fn test_judgements_change_no_weight(grades in proptest::collection::vec(0_i32..3, 8)) {
            let tuning = FusionTuning::default().with_methods(vec![Method::default(), Method::CombSum(Normalization::ZScore)]);
            let folds = Folds::split(&qrels(), 5);
            let mut other = folds.clone();
            for fold in &mut other.0 {
                let topics: Vec<String> = fold.test.topics().map(str::to_owned).collect();
                for (place, grade) in grades.iter().enumerate() {
                    fold.test.insert(&topics[place % topics.len()], ["a", "b", "c", "d"][place / 2], *grade);
                }
            }
            prop_assert_eq!(learned(&folds, &tuning), learned(&other, &tuning));
        }

        /// Training and reporting use the same measure.
        #[test]
        fn a_lesson_values_as_the_measure_does(weights in proptest::collection::vec(0_u8..3, 3)) {
            let (weights, runs, qrels) = (weights.into_iter().map(f64::from).collect::<Vec<_>>(), runs(), qrels());
            for method in [Method::default(), Method::CombSum(Normalization::ZScore), Method::Mixed(Normalization::MinMax)] {
                for metric in ["nDCG@2", "AP@3", "RR"].map(|name| name.parse::<Metric>().expect(name)) {
                    let value = TrainingTopics::new(&runs, method, &[&qrels], std::slice::from_ref(&metric)).value(&weights);
                    prop_assert!((value - mean(&qrels.topics().map(|topic| metric.evaluate(&qrels, topic, &pool_rankings(&runs, method, topic).fuse(&weights))).collect::<Vec<_>>())).abs() < 1e-12);
                }
            }
        }
    }
}
