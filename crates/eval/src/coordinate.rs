//! Coordinate search: optimises weights on a grid, one weight at a time.
//!
//! Exhaustive search over eight field weights with eleven values each is infeasible (2 · 10⁸ points). Coordinate search
//! tries all values of one weight while the others are fixed, and keeps the best. It continues with the next weight,
//! and ends after a round without gain. The result cannot be improved by changing a single weight. Several starts
//! reduce the risk of a poor local optimum.

use std::num::NonZeroUsize;
use std::thread;

/// Initial weights of a search.
#[derive(Clone, PartialEq, Debug)]
pub enum Start {
    /// Every weight at the largest value of the grid.
    Uniform,
    /// One weight at the largest value and all others 0: the best of these points. Among equals the first wins.
    BestAlone,
    /// Given weights.
    At(Vec<f64>),
}

/// Progress of a search, reported after every weight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Index of the start, from 0.
    pub start: usize,
    /// Round since this start, from 0.
    pub round: usize,
    /// Weight that was just optimised, from 0.
    pub dimension: usize,
    /// Best value so far since this start.
    pub value: f64,
    /// Number of evaluations of the objective, over all starts.
    pub evaluations: usize,
}

/// Result of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Optimum {
    /// The best weights.
    pub weights: Vec<f64>,
    /// Value of the objective at these weights.
    pub value: f64,
    /// Index of the start that led to them, from 0.
    pub start: usize,
    /// Number of evaluations of the objective.
    pub evaluations: usize,
}

/// Coordinate search on a grid.
///
/// The search is deterministic. Among equal values the current one stays, otherwise the smaller weight wins. Among
/// equal starts the first wins.
///
/// ```
/// use lodeseek_eval::CoordinateSearch;
/// let objective = |weights: &[f64]| -(weights[0] - 0.3).powi(2) - (weights[1] - 0.8).powi(2);
/// let best = CoordinateSearch::default().maximize(2, &objective, &|_| ());
/// assert_eq!(best.weights, [0.3, 0.8]);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct CoordinateSearch {
    grid: Vec<f64>,
    starts: Vec<Start>,
    rounds: usize,
    threads: NonZeroUsize,
}

impl CoordinateSearch {
    /// The grid of ACORDAR's field weights: 0, 0.1 … 1.
    pub const GRID: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
    /// Maximum number of rounds from one start. The searches so far needed fewer.
    pub const MAX_ROUNDS: usize = 50;
    /// Smallest difference that counts as a gain. It excludes differences due to the order of summation.
    pub const MIN_GAIN: f64 = 1e-9;

    /// Sets the grid, which is sorted.
    ///
    /// # Panics
    ///
    /// Panics if the grid is empty.
    #[must_use]
    pub fn with_grid(mut self, grid: &[f64]) -> Self {
        assert!(!grid.is_empty(), "a grid needs a value");
        self.grid = grid.to_vec();
        self.grid.sort_by(f64::total_cmp);
        self
    }

    /// Sets the starts.
    ///
    /// # Panics
    ///
    /// Panics if there is no start.
    #[must_use]
    pub fn with_starts(mut self, starts: Vec<Start>) -> Self {
        assert!(!starts.is_empty(), "a search needs a start");
        self.starts = starts;
        self
    }

    /// Sets the maximum number of rounds from each start.
    #[must_use]
    pub fn with_rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the number of threads that evaluate the objective. The result does not depend on it.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads;
        self
    }

    /// Returns the best weights reached from the starts.
    ///
    /// # Panics
    ///
    /// Panics if a [`Start::At`] has another number of weights than `dimensions`.
    pub fn maximize<F>(
        &self,
        dimensions: usize,
        objective: &F,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Optimum
    where
        F: Fn(&[f64]) -> f64 + Sync,
    {
        let mut climb = Climb {
            search: self,
            objective,
            evaluations: 0,
        };
        let mut best: Option<Optimum> = None;
        for place in 0..self.starts.len() {
            let (weights, value) = climb.climb_from(place, dimensions, progress);
            if best
                .as_ref()
                .is_none_or(|best| value > best.value + Self::MIN_GAIN)
            {
                best = Some(Optimum {
                    weights,
                    value,
                    start: place,
                    evaluations: 0,
                });
            }
        }
        let best = best.expect("there is a start");
        Optimum {
            evaluations: climb.evaluations,
            ..best
        }
    }

    fn largest(&self) -> f64 {
        self.grid.last().copied().unwrap_or(1.0)
    }
}

impl Default for CoordinateSearch {
    fn default() -> Self {
        Self {
            grid: Self::GRID.to_vec(),
            starts: vec![Start::Uniform, Start::BestAlone],
            rounds: Self::MAX_ROUNDS,
            threads: NonZeroUsize::MIN,
        }
    }
}

struct Climb<'s, F> {
    search: &'s CoordinateSearch,
    objective: &'s F,
    evaluations: usize,
}

impl<F: Fn(&[f64]) -> f64 + Sync> Climb<'_, F> {
    /// Optimises the weights in rounds, beginning with one of the starts.
    fn climb_from(
        &mut self,
        start: usize,
        dimensions: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> (Vec<f64>, f64) {
        let mut weights = self.initial_weights(&self.search.starts[start], dimensions);
        let mut value = self.values(std::slice::from_ref(&weights))[0];
        for round in 0..self.search.rounds {
            let before = value;
            for dimension in 0..dimensions {
                value = self.improve(&mut weights, dimension, value);
                progress(Progress {
                    start,
                    round,
                    dimension,
                    value,
                    evaluations: self.evaluations,
                });
            }
            // Each change gains at least `MIN_GAIN`, so without a higher value the whole round changed nothing.
            if value <= before {
                break;
            }
        }
        (weights, value)
    }

    fn initial_weights(&mut self, start: &Start, dimensions: usize) -> Vec<f64> {
        let largest = self.search.largest();
        match start {
            Start::Uniform => vec![largest; dimensions],
            Start::At(weights) => {
                assert_eq!(
                    weights.len(),
                    dimensions,
                    "a start needs a weight for every dimension"
                );
                weights.clone()
            }
            Start::BestAlone => {
                let mut points = vec![vec![0.0; dimensions]; dimensions];
                for (place, point) in points.iter_mut().enumerate() {
                    point[place] = largest;
                }
                let values = self.values(&points);
                // Without a finite value, the first point is as good as any other.
                let best = first_best(&values, f64::NEG_INFINITY).unwrap_or(0);
                points.into_iter().nth(best).unwrap_or_default()
            }
        }
    }

    /// Sets one weight to its best value if that is a gain.
    fn improve(&mut self, weights: &mut [f64], dimension: usize, value: f64) -> f64 {
        let others: Vec<f64> = self
            .search
            .grid
            // The value of the current point is known already.
            .iter()
            .copied()
            .filter(|&point| point != weights[dimension])
            .collect();
        let mut points = Vec::with_capacity(others.len());
        for &point in &others {
            let mut changed = weights.to_vec();
            changed[dimension] = point;
            points.push(changed);
        }
        let values = self.values(&points);
        // The grid is sorted, so the first of equal values is that of the smallest weight.
        match first_best(&values, value) {
            Some(best) => {
                weights[dimension] = others[best];
                values[best]
            }
            None => value,
        }
    }

    /// Evaluates the objective at some points, in their order.
    fn values(&mut self, points: &[Vec<f64>]) -> Vec<f64> {
        self.evaluations += points.len();
        let threads = self.search.threads.get().min(points.len());
        if threads <= 1 {
            return evaluate(self.objective, points);
        }
        let objective = self.objective;
        thread::scope(|scope| {
            // Contiguous parts that are joined in their order keep the values in the order of the points.
            let parts = points.chunks(points.len().div_ceil(threads));
            let running: Vec<_> = parts
                .map(|part| scope.spawn(move || evaluate(objective, part)))
                .collect();
            running
                .into_iter()
                .flat_map(|part| part.join().expect("the objective does not panic"))
                .collect()
        })
    }
}

fn evaluate<F: Fn(&[f64]) -> f64>(objective: &F, points: &[Vec<f64>]) -> Vec<f64> {
    points.iter().map(|point| objective(point)).collect()
}

/// Returns the position of the largest value that is a gain over `than`. Among equals the first wins.
fn first_best(values: &[f64], than: f64) -> Option<usize> {
    let (mut best, mut least) = (None, than);
    for (place, &value) in values.iter().enumerate() {
        if value > least + CoordinateSearch::MIN_GAIN {
            (best, least) = (Some(place), value);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Mutex;

    const GRID: [f64; 4] = [0.0, 0.25, 0.5, 1.0];

    fn points(dimensions: usize) -> Vec<Vec<f64>> {
        let mut all = vec![Vec::new()];
        for _ in 0..dimensions {
            all = all
                .iter()
                .flat_map(|point| GRID.map(|value| [point.as_slice(), &[value]].concat()))
                .collect();
        }
        all
    }

    /// A function with values from a table, indexed by the positions of the weights in the grid.
    fn table(values: &[u8]) -> impl Fn(&[f64]) -> f64 + Sync + '_ {
        |weights| {
            let digit = |weight: &f64| {
                GRID.iter()
                    .position(|value| value == weight)
                    .expect("on the grid")
            };
            f64::from(
                values[weights
                    .iter()
                    .fold(0, |place, weight| place * GRID.len() + digit(weight))],
            )
        }
    }

    fn search() -> CoordinateSearch {
        CoordinateSearch::default().with_grid(&GRID)
    }

    #[test]
    fn ties_keep_what_is_and_else_the_smaller_value() {
        let flat = search().maximize(2, &|_: &[f64]| 1.0, &|_| ());
        assert_eq!(
            (flat.weights, flat.value, flat.start),
            (vec![1.0, 1.0], 1.0, 0)
        );
        let step = search().maximize(
            1,
            &|weights: &[f64]| if weights[0] < 1.0 { 1.0 } else { 0.0 },
            &|_| (),
        );
        assert_eq!(step.weights, [0.0]);
    }

    #[test]
    fn a_second_start_finds_what_the_first_cannot() {
        let objective = |weights: &[f64]| match weights {
            [1.0, 1.0] => 1.0,
            [0.0, 1.0] => 2.0,
            _ => 0.0,
        };
        let from = |starts| {
            search()
                .with_starts(starts)
                .maximize(2, &objective, &|_| ())
        };
        assert_eq!(from(vec![Start::At(vec![0.5, 0.5])]).value, 0.0);
        let best = from(vec![Start::At(vec![0.5, 0.5]), Start::BestAlone]);
        assert_eq!(
            (best.weights, best.value, best.start),
            (vec![0.0, 1.0], 2.0, 1)
        );
    }

    #[test]
    fn progress_is_reported_and_rounds_are_bounded() {
        let seen = Mutex::new(Vec::new());
        let record = |progress: Progress| seen.lock().expect("a lock").push(progress);
        let one = search().with_rounds(1).with_starts(vec![Start::Uniform]);
        let best = one.maximize(3, &|weights: &[f64]| -weights.iter().sum::<f64>(), &record);
        let seen = seen.into_inner().expect("a lock");
        assert_eq!(
            seen.iter().map(|step| step.dimension).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        assert_eq!((best.value, best.evaluations), (0.0, 1 + 3 * 3));
        assert_eq!(
            seen.last().map(|step| step.evaluations),
            Some(best.evaluations)
        );
    }

    proptest! {
        #[test]
        fn what_is_found_cannot_be_improved_in_one_weight(values in proptest::collection::vec(0_u8..20, 64)) {
            let objective = table(&values);
            let best = search().maximize(3, &objective, &|_| ());
            prop_assert_eq!(objective(&best.weights), best.value);
            for dimension in 0..3 {
                for value in GRID {
                    let mut other = best.weights.clone();
                    other[dimension] = value;
                    prop_assert!(objective(&other) <= best.value);
                }
            }
        }

        #[test]
        fn from_everywhere_it_is_as_good_as_brute_force(values in proptest::collection::vec(0_u8..20, 16)) {
            let objective = table(&values);
            let starts = points(2).into_iter().map(Start::At).collect();
            let best = search().with_starts(starts).maximize(2, &objective, &|_| ());
            let brute = points(2).iter().map(|point| objective(point)).fold(f64::MIN, f64::max);
            prop_assert_eq!(best.value, brute);
        }

        #[test]
        fn a_sum_of_single_terms_is_solved_from_any_start(terms in proptest::collection::vec(proptest::collection::vec(0_u8..9, 4), 3)) {
            let place = |weight: f64| GRID.iter().position(|value| *value == weight).expect("on the grid");
            let objective = |weights: &[f64]| weights.iter().zip(&terms).map(|(w, term)| f64::from(term[place(*w)])).sum::<f64>();
            let brute = points(3).iter().map(|point| objective(point)).fold(f64::MIN, f64::max);
            for start in [Start::Uniform, Start::BestAlone, Start::At(vec![0.25, 0.0, 0.5])] {
                prop_assert_eq!(search().with_starts(vec![start]).maximize(3, &objective, &|_| ()).value, brute);
            }
        }

        #[test]
        fn threads_change_nothing(values in proptest::collection::vec(0_u8..20, 64)) {
            let objective = table(&values);
            let three = NonZeroUsize::new(3).expect("three");
            prop_assert_eq!(search().maximize(3, &objective, &|_| ()), search().with_threads(three).maximize(3, &objective, &|_| ()));
        }
    }
}
