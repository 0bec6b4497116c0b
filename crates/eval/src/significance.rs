//! Significance tests of the difference between two systems.
//!
//! All tests are paired and two-sided. The statistic is the mean of the differences d₁ … dₙ of two systems' values, one
//! per topic. The null hypothesis is that both systems are the same one under two names.
//!
//! - **t-test**: t = mean(d) / (s / √n), s with n − 1 below; p = P(|T| ≥ |t|) of Student's T with n − 1 degrees of freedom.
//! - **Randomisation** (Fisher): under the null hypothesis each dᵢ could have the other sign. p is the share of the 2ⁿ
//!   sign assignments whose mean is at least as far from 0. All assignments are enumerated if at most [`MAX_EXACT_DIFFERENCES`]
//!   differences are not 0; otherwise random assignments are drawn.
//! - **Bootstrap** (Efron; Sakai): the differences are shifted to mean 0 and n of them drawn with replacement; p is the share
//!   of draws whose t is at least as far from 0.
//!
//! If `b` of `B` random draws are at least as extreme, p = (b + 1) / (B + 1). The observation counts as one draw, so p is
//! never 0 (B. Phipson, G. Smyth: Permutation p-values should never be zero. SAGMB 9(1), 2010).
//!
//! If all differences are equal but not 0, t is undefined. The sign test's p = 2^(1 − n) replaces it, which is also the
//! result of the exact randomisation test. If all differences are 0, or there are fewer than two topics, p = 1.
//!
//! Sources: M. Smucker, J. Allan, B. Carterette: A comparison of statistical significance tests for information retrieval
//! evaluation. CIKM 2007. T. Sakai: Evaluating evaluation metrics based on the bootstrap. SIGIR 2006, and: Statistical
//! reform in information retrieval? SIGIR Forum 48(1), 2014 (effect sizes and intervals belong beside p values).
//! S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2), 1979.

use super::metrics::mean;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Largest number of non-zero differences for which the randomisation test enumerates all sign assignments.
pub(super) const MAX_EXACT_DIFFERENCES: usize = 20;

/// Values are in [0, 1] with a precision of about 1e-16. Smaller differences result from the order of summation.
pub(super) const MAX_ROUNDING_ERROR: f64 = 1e-12;

/// Settings of a resampling test. Equal settings give equal results on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resampling {
    /// Number of random draws.
    pub samples: u32,
    /// Seed of the random generator (ChaCha8). Each comparison starts from this seed.
    pub seed: u64,
}

impl Default for Resampling {
    /// Uses 100,000 samples, as Smucker, Allan and Carterette did.
    fn default() -> Self {
        Self {
            samples: 100_000,
            seed: 20_070_611,
        }
    }
}

/// Significance test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SignificanceTest {
    /// Student's paired t-test.
    #[default]
    StudentT,
    /// The paired bootstrap test, studentised.
    Bootstrap(Resampling),
    /// Fisher's paired randomisation test.
    Randomisation(Resampling),
}

impl SignificanceTest {
    /// Returns the two-sided p value, in (0, 1].
    #[must_use]
    pub fn p(self, differences: &Differences) -> f64 {
        let count = differences.len();
        if count < 2 || differences.0.iter().all(|&difference| difference == 0.0) {
            return 1.0;
        }
        let p = match (self, differences.statistic()) {
            // This test compares sums and needs no t, so it covers differences without a deviation as well.
            (Self::Randomisation(resampling), _) => test_by_randomisation(differences, resampling),
            (_, None) => 0.5_f64.powf((count - 1) as f64),
            (Self::StudentT, Some(t)) => test_by_student_t(count, t),
            (Self::Bootstrap(resampling), Some(t)) => test_by_bootstrap(differences, t, resampling),
        };
        // For an extreme t, the tail of the distribution is rounded to 0, but no p value is 0.
        p.clamp(f64::MIN_POSITIVE, 1.0)
    }
}

/// Differences between the values of two systems, one per topic.
///
/// ```
/// use lodeseek_eval::{Differences, SignificanceTest};
///
/// let differences = Differences::new([0.1, 0.2, 0.3, 0.2]);
/// assert!((differences.mean() - 0.2).abs() < 1e-12);
/// assert!(SignificanceTest::StudentT.p(&differences) < 0.05);
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Differences(Vec<f64>);

impl Differences {
    /// Collects differences. Values within the rounding error are set to 0.
    pub fn new(differences: impl IntoIterator<Item = f64>) -> Self {
        let mut values = Vec::new();
        for difference in differences {
            values.push(match difference.abs() < MAX_ROUNDING_ERROR {
                true => 0.0,
                false => difference,
            });
        }
        Self(values)
    }

    /// Returns the number of topics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no topics.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the mean, or 0 if there are no topics.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.0)
    }

    /// Returns the standard deviation (divisor n − 1): 0 if all differences are equal, `None` for fewer than two topics.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        let (first, rest) = self.0.split_first().filter(|(_, rest)| !rest.is_empty())?;
        // The squares of rounding errors would be a tiny deviation, and t would be enormous.
        if rest
            .iter()
            .all(|difference| (difference - first).abs() < MAX_ROUNDING_ERROR)
        {
            return Some(0.0);
        }
        let mean = self.mean();
        let squares: f64 = self
            .0
            .iter()
            .map(|difference| (difference - mean).powi(2))
            .sum();
        // `rest` has n − 1 elements.
        Some((squares / rest.len() as f64).sqrt())
    }

    /// Returns Cohen's d of paired samples: the mean divided by the standard deviation.
    ///
    /// It is 0 if the mean is 0, and `None` if all differences are equal and not 0.
    #[must_use]
    pub fn effect_size(&self) -> Option<f64> {
        match (self.mean(), self.deviation()?) {
            (0.0, _) => Some(0.0),
            (_, 0.0) => None,
            (mean, deviation) => Some(mean / deviation),
        }
    }

    /// Returns the 95 % confidence interval of the mean: mean ± t₀.₉₇₅ s / √n. `None` for fewer than two topics.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        let deviation = self.deviation()?;
        let half = student_distribution(self.len())?.inverse_cdf(0.975) * deviation
            / (self.len() as f64).sqrt();
        Some((self.mean() - half, self.mean() + half))
    }

    /// Returns the t statistic, or `None` if it is undefined.
    fn statistic(&self) -> Option<f64> {
        let deviation = self.deviation().filter(|&deviation| deviation > 0.0)?;
        Some(self.mean() / (deviation / (self.len() as f64).sqrt()))
    }
}

/// Returns Student's t distribution for a number of topics, or `None` for fewer than two.
fn student_distribution(topics: usize) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, topics as f64 - 1.0).ok()
}

fn test_by_student_t(topics: usize, t: f64) -> f64 {
    match student_distribution(topics) {
        Some(student) => 2.0 * student.sf(t.abs()),
        None => 1.0,
    }
}

fn test_by_randomisation(differences: &Differences, resampling: Resampling) -> f64 {
    let signed: Vec<f64> = differences
        .0
        .iter()
        .copied()
        // The sign of 0 has no effect: zeros would only double the number of assignments.
        .filter(|&difference| difference != 0.0)
        .collect();
    // `p` returns before if all differences are 0, so at least one remains.
    let flips = SignFlips::new(&signed);
    if signed.len() <= MAX_EXACT_DIFFERENCES {
        // An assignment and its opposite are equally far from 0, so half of them suffice.
        let choices = 1_u32 << (signed.len() - 1);
        let extreme = (0..choices)
            // In this order of bytes, byte i has the signs of group i.
            .filter(|choice| flips.is_extreme(&choice.to_le_bytes()))
            .count();
        return extreme as f64 / f64::from(choices);
    }
    let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
    let mut signs = vec![0_u8; flips.sums.len()];
    let extreme = (0..resampling.samples).filter(|_| {
        // Bits beyond the last difference have no effect on the sums of its group.
        random.fill_bytes(&mut signs);
        flips.is_extreme(&signs)
    });
    share_of_extremes(extreme.count(), resampling)
}

/// Sums of differences under all sign assignments, eight differences at a time.
struct SignFlips {
    /// Sum of each group of eight differences under each of the 256 sign assignments.
    sums: Vec<[f64; 256]>,
    /// Lowest absolute sum that counts as extreme: the observed one, less the rounding error.
    threshold: f64,
}

impl SignFlips {
    fn new(differences: &[f64]) -> Self {
        let size: f64 = differences.iter().map(|difference| difference.abs()).sum();
        // Assignments with equal sums may differ by rounding, which grows with the size of the summands.
        let threshold = differences.iter().sum::<f64>().abs() - size * MAX_ROUNDING_ERROR;
        Self {
            sums: differences.chunks(8).map(sums_by_signs).collect(),
            threshold,
        }
    }

    fn is_extreme(&self, signs: &[u8]) -> bool {
        let sum: f64 = self
            .sums
            .iter()
            .zip(signs)
            .map(|(sums, &signs)| sums[usize::from(signs)])
            .sum();
        sum.abs() >= self.threshold
    }
}

fn test_by_bootstrap(differences: &Differences, observed: f64, resampling: Resampling) -> f64 {
    let mean = differences.mean();
    let shifted: Vec<f64> = differences
        .0
        .iter()
        .map(|difference| difference - mean)
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
    let extreme =
        (0..resampling.samples).filter(|_| is_extreme_draw(&shifted, &mut random, observed.abs()));
    share_of_extremes(extreme.count(), resampling)
}

/// Returns the sums of at most eight differences under all 256 sign assignments. A set bit stands for a minus sign.
fn sums_by_signs(differences: &[f64]) -> [f64; 256] {
    let mut sums = [0.0; 256];
    for (signs, sum) in sums.iter_mut().enumerate() {
        *sum = differences
            .iter()
            .enumerate()
            .map(|(bit, value)| {
                if signs >> bit & 1 == 0 {
                    *value
                } else {
                    -value
                }
            })
            .sum();
    }
    sums
}

/// Draws n of n differences with replacement. Returns true if |t| reaches the observed value.
fn is_extreme_draw(shifted: &[f64], random: &mut ChaCha8Rng, observed: f64) -> bool {
    let count = shifted.len() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in shifted {
        // A 32-bit number is scaled to the count: the probabilities of two indices differ by at most count / 2^32.
        let place = (u64::from(random.next_u32()) * shifted.len() as u64) >> 32;
        let value = shifted[place as usize];
        sum += value;
        squares += value * value;
    }
    let mean = sum / count;
    // If all drawn differences are equal, rounding may make this negative.
    let variance = ((squares - sum * mean) / (count - 1.0)).max(0.0);
    // |mean| / √(variance / n) ≥ observed, without a division by 0 if all drawn differences are equal.
    mean.abs() >= observed * (variance / count).sqrt()
}

/// Returns the share of extreme draws, with the observation counted as one of them.
fn share_of_extremes(extreme: usize, resampling: Resampling) -> f64 {
    (extreme as f64 + 1.0) / (f64::from(resampling.samples) + 1.0)
}

/// Corrects p values for multiple tests by Holm's step-down procedure. The order of the values is kept.
///
/// The smallest value is multiplied by the number of values, the next by one less, and so on. A corrected value is never
/// smaller than the one before it and never larger than 1.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut corrected, mut largest) = (vec![1.0; p.len()], 0.0_f64);
    for (rank, &place) in order.iter().enumerate() {
        largest = largest.max(p[place] * (p.len() - rank) as f64).min(1.0);
        corrected[place] = largest;
    }
    corrected
}

/// Correction of p values for multiple tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Correction {
    /// Holm's step-down procedure; see [`holm`].
    #[default]
    Holm,
    /// Bonferroni's: each value is multiplied by the number of values.
    Bonferroni,
    /// No correction.
    None,
}

impl Correction {
    /// Returns the corrected values in the order of the values.
    #[must_use]
    pub fn correct(self, p: &[f64]) -> Vec<f64> {
        match self {
            Self::Holm => holm(p),
            Self::Bonferroni => p
                .iter()
                .map(|one| (one * p.len() as f64).min(1.0))
                .collect(),
            Self::None => p.to_vec(),
        }
    }
}

/// Comparison of a run with a baseline under one measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Number of topics that count for both runs.
    pub topics: usize,
    /// Mean difference over these topics: the run's value minus the baseline's.
    pub difference: f64,
    /// The p value of the test.
    pub p: f64,
    /// The p value, corrected for the pairs that are compared together.
    pub corrected_p: f64,
    /// Cohen's d; see [`Differences::effect_size`].
    pub effect_size: Option<f64>,
    /// 95 % confidence interval of the difference; see [`Differences::interval`].
    pub interval: Option<(f64, f64)>,
}

impl Comparison {
    /// Tests differences. The p value is not corrected yet.
    #[must_use]
    pub fn new(differences: &Differences, test: SignificanceTest) -> Self {
        let p = test.p(differences);
        Self {
            topics: differences.len(),
            difference: differences.mean(),
            p,
            corrected_p: p,
            effect_size: differences.effect_size(),
            interval: differences.interval(),
        }
    }
}
