//! Fusion with weights learned by cross-validation.

use super::{CoordinateSearch, Progress};
use lodeseek_eval::{Fold, Folds, Grades, Metric, Qrels, Run, mean};
use lodeseek_ranking::Ranking;
use lodeseek_rerank::{Method, Normalization, Pool};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The judgements that weights are learned from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum LearnOn {
    /// The training and the validation part of a fold.
    #[default]
    #[serde(rename = "train+valid")]
    TrainAndValid,
    /// The validation part alone.
    #[serde(rename = "valid")]
    Valid,
}

/// A name that is no part of a fold to learn from.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is neither train+valid nor valid")]
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

/// Why nothing was learned.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TuneError {
    /// A topic to report on is among those to learn from.
    #[error("fold {fold}: topic {topic} is in the test part and among the topics to learn from")]
    Leak {
        /// The fold, from 0.
        fold: usize,
        /// The topic.
        topic: String,
    },
    /// A topic is tested twice.
    #[error("topic {topic} is in the test parts of two folds, the later being fold {fold}")]
    TestedTwice {
        /// The later fold, from 0.
        fold: usize,
        /// The topic.
        topic: String,
    },
    /// A part of a fold is empty.
    #[error("fold {fold} has no topics to learn from, or none to test on")]
    Empty {
        /// The fold, from 0.
        fold: usize,
    },
    /// There is nothing to choose from.
    #[error("{0}")]
    Nothing(&'static str),
}

/// How far the tuning of a fold is; folds run side by side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TuningProgress {
    /// The fold, from 0.
    pub fold: usize,
    /// The method being tried.
    pub method: Method,
    /// Of its search.
    pub search: Progress,
}

/// Learns, for each fold, how to fuse runs, and fuses the fold's test topics so.
///
/// Of several methods a fold takes the one whose weights, learned on its *training* part, do best on its *validation*
/// part; then the weights are learned anew from all that it may learn from. Nothing is chosen by test topics.
#[derive(Clone, PartialEq, Debug)]
pub struct FusionTuning {
    methods: Vec<Method>,
    objective: Vec<Metric>,
    learn_on: LearnOn,
    search: CoordinateSearch,
    depth: usize,
}

/// What a fold learned.
#[derive(Clone, PartialEq, Debug)]
pub struct TunedFold {
    /// The method taken.
    pub method: Method,
    /// A weight for every run.
    pub weights: Vec<f64>,
    /// The objective on the topics learned from.
    pub learned: f64,
    /// Of every method, the objective on the validation part under weights learned on the training part; empty where there
    /// was one method alone.
    pub validated: Vec<(Method, f64)>,
    /// The number of test topics.
    pub topics: usize,
}

/// The fused test topics of all folds, and how they came about.
#[derive(Clone, PartialEq, Debug)]
pub struct TunedFusion {
    /// The fused rankings.
    pub run: Run,
    /// What each fold learned.
    pub folds: Vec<TunedFold>,
    /// The mean number of distinct documents that a test topic's ranking was chosen from.
    pub pool: f64,
}

impl Default for FusionTuning {
    fn default() -> Self {
        Self {
            methods: vec![Method::CombSum(Normalization::MinMax)],
            objective: vec![Metric::ndcg(10)],
            learn_on: LearnOn::default(),
            search: CoordinateSearch::default(),
            depth: Self::DEPTH,
        }
    }
}

impl FusionTuning {
    /// Documents kept for a topic.
    pub const DEPTH: usize = 100;

    /// The methods to choose from.
    #[must_use]
    pub fn with_methods(mut self, methods: Vec<Method>) -> Self {
        self.methods = methods;
        self
    }

    /// What to maximise: the mean of these measures.
    #[must_use]
    pub fn with_objective(mut self, objective: Vec<Metric>) -> Self {
        self.objective = objective;
        self
    }

    /// Which judgements to learn from.
    #[must_use]
    pub fn with_learn_on(mut self, learn_on: LearnOn) -> Self {
        self.learn_on = learn_on;
        self
    }

    /// How to search.
    #[must_use]
    pub fn with_search(mut self, search: CoordinateSearch) -> Self {
        self.search = search;
        self
    }

    /// Keeps this many documents for a topic.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Learns and fuses, folds side by side.
    pub fn run(
        &self,
        runs: &[Run],
        folds: &Folds,
        progress: &(dyn Fn(TuningProgress) + Sync),
    ) -> Result<TunedFusion, TuneError> {
        if runs.is_empty() || self.methods.is_empty() || self.objective.is_empty() || folds.0.is_empty() {
            return Err(TuneError::Nothing("tuning needs runs, folds, a method and an objective"));
        }
        check_disjoint(folds, self.learn_on)?;
        let learned = side_by_side(folds.0.len(), &|fold| self.learn(runs, fold, &folds.0[fold], progress));
        let mut run = Run::new("lodeseek-fusion");
        let mut sizes = Vec::new();
        for (fold, tuned) in folds.0.iter().zip(&learned) {
            for topic in fold.test.topics() {
                let pool = pool(runs, tuned.method, topic);
                let ranking = pool.fuse(&tuned.weights);
                sizes.push(ranking.len() as f64);
                if !ranking.is_empty() {
                    run.insert(topic, ranking.cut(self.depth));
                }
            }
        }
        Ok(TunedFusion { run, folds: learned, pool: mean(&sizes) })
    }

    /// The method and weights of a fold. Its test part is only counted.
    fn learn(&self, runs: &[Run], fold: usize, parts: &Fold, progress: &(dyn Fn(TuningProgress) + Sync)) -> TunedFold {
        let search = |method: Method, judgements: &[&Qrels]| {
            let lesson = Lesson::new(runs, method, judgements, &self.objective);
            let told = |search| progress(TuningProgress { fold, method, search });
            self.search.maximize(runs.len(), &|weights: &[f64]| lesson.value(weights), &told)
        };
        let validate = |&method: &Method| {
            let weights = search(method, &[&parts.train]).weights;
            (method, Lesson::new(runs, method, &[&parts.valid], &self.objective).value(&weights))
        };
        let validated: Vec<(Method, f64)> =
            if self.methods.len() > 1 { self.methods.iter().map(validate).collect() } else { Vec::new() };
        let mut best = (self.methods[0], f64::NEG_INFINITY);
        for &(method, value) in &validated {
            if value > best.1 {
                best = (method, value);
            }
        }
        let optimum = search(best.0, &learned_from(parts, self.learn_on));
        let topics = parts.test.topics().count();
        TunedFold { method: best.0, weights: optimum.weights, learned: optimum.value, validated, topics }
    }
}

pub(super) fn learned_from(fold: &Fold, learn_on: LearnOn) -> Vec<&Qrels> {
    match learn_on {
        LearnOn::TrainAndValid => vec![&fold.train, &fold.valid],
        LearnOn::Valid => vec![&fold.valid],
    }
}

/// No topic is tested twice, and none is tested that was learned from: not by the training part either, for a method may
/// be chosen with it.
pub(super) fn check_disjoint(folds: &Folds, learn_on: LearnOn) -> Result<(), TuneError> {
    let mut tested = BTreeSet::new();
    for (place, fold) in folds.0.iter().enumerate() {
        let learned: BTreeSet<&str> = fold.train.topics().chain(fold.valid.topics()).collect();
        let nothing_to_learn = learned_from(fold, learn_on).iter().all(|part| part.topics().next().is_none());
        if nothing_to_learn || fold.test.topics().next().is_none() {
            return Err(TuneError::Empty { fold: place });
        }
        for topic in fold.test.topics() {
            if learned.contains(topic) {
                return Err(TuneError::Leak { fold: place, topic: topic.to_owned() });
            }
            if !tested.insert(topic) {
                return Err(TuneError::TestedTwice { fold: place, topic: topic.to_owned() });
            }
        }
    }
    Ok(())
}

fn pool(runs: &[Run], method: Method, topic: &str) -> Pool {
    let none = Ranking::default();
    let rankings: Vec<&Ranking> = runs.iter().map(|run| run.ranking(topic).unwrap_or(&none)).collect();
    Pool::new(method, &rankings)
}

/// The topics to learn from, made ready for thousands of weightings.
struct Lesson<'o> {
    objective: &'o [Metric],
    /// The ranks that the objective looks at.
    depth: usize,
    topics: Vec<LessonTopic>,
}

struct LessonTopic {
    pool: Pool,
    /// Of the pool's documents, in their order.
    grades: Vec<Option<i32>>,
    /// All grades, best first.
    judged: Vec<i32>,
}

impl<'o> Lesson<'o> {
    fn new(runs: &[Run], method: Method, judgements: &[&Qrels], objective: &'o [Metric]) -> Self {
        let all_ranks = objective.iter().any(|metric| metric.depth() == 0);
        let deepest = objective.iter().map(|metric| metric.depth()).max().unwrap_or(0);
        let topic = |qrels: &Qrels, topic: &str| {
            let pool = pool(runs, method, topic);
            let grades = pool.documents().map(|document| qrels.judged(topic, document)).collect();
            LessonTopic { pool, grades, judged: Grades::judged(qrels, topic) }
        };
        let topics = judgements.iter().flat_map(|qrels| qrels.topics().map(|id| topic(qrels, id))).collect();
        Self { objective, depth: if all_ranks { usize::MAX } else { deepest }, topics }
    }

    /// The mean of the measures over the topics.
    fn value(&self, weights: &[f64]) -> f64 {
        let of = |topic: &LessonTopic| {
            let grades = topic.ranked(weights, self.depth);
            self.objective.iter().map(|metric| metric.evaluate_grades(&grades, &topic.judged)).sum::<f64>()
        };
        self.topics.iter().map(of).sum::<f64>() / (self.topics.len() * self.objective.len()).max(1) as f64
    }
}

impl LessonTopic {
    /// The grades of the first ranks. The pool's order is that of equal scores, so places break ties as ids would.
    fn ranked(&self, weights: &[f64], depth: usize) -> Vec<Option<i32>> {
        let scores = self.pool.scores(weights);
        let mut order: Vec<(f64, usize)> =
            scores.iter().enumerate().filter_map(|(place, score)| Some(((*score)?, place))).collect();
        let before = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if order.len() > depth {
            order.select_nth_unstable_by(depth, before);
            order.truncate(depth);
        }
        order.sort_unstable_by(before);
        order.into_iter().map(|(_, place)| self.grades[place]).collect()
    }
}

/// Computes `work(0)`, `work(1)` … in as many threads as the machine has cores; results in order.
pub(super) fn side_by_side<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(count);
    let next = AtomicUsize::new(0);
    let take = || {
        let places = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|&place| place < count);
        places.map(|place| (place, work(place))).collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("the work does not panic")).collect()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// For every run, the place of the first run with the same rankings: its own, unless it is a copy. Tags do not count.
#[must_use]
pub fn distinct(runs: &[Run]) -> Vec<usize> {
    let same = |a: &Run, b: &Run| a.len() == b.len() && a.iter().eq(b.iter());
    runs.iter()
        .enumerate()
        .map(|(own, run)| runs[..own].iter().position(|other| same(run, other)).unwrap_or(own))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_ranking::DatasetId;
    use lodeseek_ranking::Scored;
    use proptest::prelude::*;

    /// Ten topics with documents a to d; `good` puts the relevant one first, `bad` last.
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
            let entry = |(place, id): (usize, &str)| Scored {
                id: DatasetId::new(id).expect("an id"),
                score: score(topic, place),
            };
            let scored = ["a", "b", "c", "d"].into_iter().enumerate().map(entry).collect();
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
        assert_eq!((tuned.run.len(), tuned.folds.len(), tuned.pool), (10, 5, 4.0));
        for (topic, ranking) in tuned.run.iter() {
            assert!((Metric::ndcg(1).evaluate(&qrels, topic, ranking) - 1.0).abs() < 1e-12, "{topic}");
        }
        for fold in &tuned.folds {
            assert!(
                fold.weights[1] > fold.weights[0] && (fold.learned - 1.0).abs() < 1e-12 && fold.topics == 2,
                "{fold:?}"
            );
            assert!(fold.validated.is_empty());
        }
    }

    #[test]
    fn of_methods_the_one_that_validates_best_is_taken_and_the_first_of_equals() {
        let methods = vec![Method::Mixed(Normalization::MinMax), Method::default()];
        let tuned = learned(&Folds::split(&qrels(), 5), &FusionTuning::default().with_methods(methods.clone()));
        for fold in &tuned.folds {
            assert_eq!(fold.validated.iter().map(|(method, _)| *method).collect::<Vec<_>>(), methods);
            let best = fold.validated.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max);
            let first = fold.validated.iter().find(|(_, value)| *value == best).expect("the best");
            assert_eq!(first.0, fold.method);
        }
    }

    #[test]
    fn a_topic_that_is_tested_is_not_learned_from() {
        let error = |folds: &Folds| FusionTuning::default().run(&runs(), folds, &|_| ()).expect_err("refused");
        let mut folds = Folds::split(&qrels(), 5);
        folds.0[1].train = qrels();
        assert_eq!(error(&folds), TuneError::Leak { fold: 1, topic: "1".to_owned() });
        let mut folds = Folds::split(&qrels(), 5);
        folds.0[3] = folds.0[2].clone();
        assert!(matches!(error(&folds), TuneError::TestedTwice { fold: 3, .. }));
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
        assert_eq!(distinct(&runs), [0, 1, 2, 1]);
    }

    proptest! {
        /// The test part decides about nothing but which topics are fused.
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

        /// What is learned with is what is reported with.
        #[test]
        fn a_lesson_values_as_the_measure_does(weights in proptest::collection::vec(0_u8..3, 3)) {
            let (weights, runs, qrels) = (weights.into_iter().map(f64::from).collect::<Vec<_>>(), runs(), qrels());
            for method in [Method::default(), Method::CombSum(Normalization::ZScore), Method::Mixed(Normalization::MinMax)] {
                for metric in ["nDCG@2", "AP@3", "RR"].map(|name| name.parse::<Metric>().expect(name)) {
                    let lesson = Lesson::new(&runs, method, &[&qrels], std::slice::from_ref(&metric)).value(&weights);
                    let of = |topic: &str| metric.evaluate(&qrels, topic, &pool(&runs, method, topic).fuse(&weights));
                    prop_assert!((lesson - mean(&qrels.topics().map(of).collect::<Vec<_>>())).abs() < 1e-12);
                }
            }
        }
    }
}
