//! Whether one system is better than another, or was lucky with the topics.
//!
//! All tests are paired, two-sided, and about the mean of the differences d₁ … dₙ of two systems' values, one a topic. The
//! null hypothesis is that both systems are the same one under two names.
//!
//! - **t-test**: t = mean(d) / (s / √n), s with n − 1 below; p = P(|T| ≥ |t|) of Student's T with n − 1 degrees of freedom.
//! - **Randomisation** (Fisher): if the systems are the same, each dᵢ could as well have the other sign. p is the share of
//!   the 2ⁿ ways of choosing signs whose mean is at least as far from 0. They are all tried where at most
//!   [`EXACT`] differences are not 0; otherwise random ones are drawn.
//! - **Bootstrap** (Efron; Sakai): the differences are shifted to mean 0 and n of them drawn with replacement; p is the share
//!   of draws whose t is at least as far from 0.
//!
//! Of `B` random draws, `b` at least as extreme, p = (b + 1) / (B + 1): what was observed is one of the ways it could have
//! been, and no p is 0 (B. Phipson, G. Smyth: Permutation p-values should never be zero. SAGMB 9(1), 2010).
//!
//! Where all differences are equal but not 0, t is not defined; the sign test's p = 2^(1 − n) stands in for it, which the
//! exact randomisation test gives, too. Where all are 0, or there are fewer than two topics, p = 1.
//!
//! Sources: M. Smucker, J. Allan, B. Carterette: A comparison of statistical significance tests for information retrieval
//! evaluation. CIKM 2007. T. Sakai: Evaluating evaluation metrics based on the bootstrap. SIGIR 2006, and: Statistical
//! reform in information retrieval? SIGIR Forum 48(1), 2014 (effect sizes and intervals belong beside p values).
//! S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2), 1979.

use super::metrics::mean;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Up to so many differences that are not 0, the randomisation test tries every choice of signs.
pub(super) const EXACT: usize = 20;

/// Values are in [0, 1] and known to about 1e-16: what is smaller than this is an accident of summation order.
const NOISE: f64 = 1e-12;

/// How a test that draws at random draws. Equal settings give equal results, on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resampling {
    /// How often.
    pub samples: u32,
    /// Where the generator (ChaCha8) begins; every comparison begins there anew.
    pub seed: u64,
}

impl Default for Resampling {
    /// As many samples as Smucker, Allan and Carterette drew.
    fn default() -> Self {
        Self { samples: 100_000, seed: 20_070_611 }
    }
}

/// A test of significance.
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
    /// The two-sided p value, in (0, 1].
    #[must_use]
    pub fn p(self, differences: &Differences) -> f64 {
        let count = differences.len();
        if count < 2 || differences.0.iter().all(|&difference| difference == 0.0) {
            return 1.0;
        }
        let p = match (self, differences.statistic()) {
            (Self::Randomisation(resampling), _) => randomisation(differences, resampling),
            (_, None) => 0.5_f64.powf((count - 1) as f64),
            (Self::StudentT, Some(t)) => student(count).map_or(1.0, |student| 2.0 * student.sf(t.abs())),
            (Self::Bootstrap(resampling), Some(t)) => bootstrap(differences, t, resampling),
        };
        p.clamp(f64::MIN_POSITIVE, 1.0)
    }
}

/// The differences of two systems' values, one a topic.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Differences(Vec<f64>);

impl Differences {
    /// Takes differences; those that only rounding made are 0.
    pub fn new(differences: impl IntoIterator<Item = f64>) -> Self {
        let clean = |difference: f64| if difference.abs() < NOISE { 0.0 } else { difference };
        Self(differences.into_iter().map(clean).collect())
    }

    /// The number of topics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no topic.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mean; 0 of none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.0)
    }

    /// The standard deviation with n − 1 below; 0 where all are equal, `None` where there are fewer than two.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        let (first, rest) = self.0.split_first().filter(|(_, rest)| !rest.is_empty())?;
        if rest.iter().all(|difference| (difference - first).abs() < NOISE) {
            return Some(0.0);
        }
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|difference| (difference - mean).powi(2)).sum();
        Some((squares / rest.len() as f64).sqrt())
    }

    /// Cohen's d of paired samples: the mean in standard deviations. 0 where the systems are equal, `None` where they differ
    /// by the same on every topic.
    #[must_use]
    pub fn effect_size(&self) -> Option<f64> {
        match (self.mean(), self.deviation()?) {
            (0.0, _) => Some(0.0),
            (_, 0.0) => None,
            (mean, deviation) => Some(mean / deviation),
        }
    }

    /// Between which values the mean over all topics there could be lies, with a confidence of 95 %:
    /// mean ± t₀.₉₇₅ s / √n. `None` where there are fewer than two topics.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        let deviation = self.deviation()?;
        let half = student(self.len())?.inverse_cdf(0.975) * deviation / (self.len() as f64).sqrt();
        Some((self.mean() - half, self.mean() + half))
    }

    /// t, where it is defined.
    fn statistic(&self) -> Option<f64> {
        let deviation = self.deviation().filter(|&deviation| deviation > 0.0)?;
        Some(self.mean() / (deviation / (self.len() as f64).sqrt()))
    }
}

/// Student's distribution for so many topics, of which two are needed.
fn student(topics: usize) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, topics as f64 - 1.0).ok()
}

fn randomisation(differences: &Differences, resampling: Resampling) -> f64 {
    let signed: Vec<f64> = differences.0.iter().copied().filter(|&difference| difference != 0.0).collect();
    let flips = SignFlips::new(&signed);
    if signed.len() <= EXACT {
        // A choice and its opposite are equally far from 0: half of them tell all.
        let choices = 1_u32 << (signed.len() - 1);
        let extreme = (0..choices).filter(|choice| flips.is_extreme(&choice.to_le_bytes())).count();
        return extreme as f64 / f64::from(choices);
    }
    let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
    let mut signs = vec![0_u8; flips.sums.len()];
    let extreme = (0..resampling.samples).filter(|_| {
        random.fill_bytes(&mut signs);
        flips.is_extreme(&signs)
    });
    share(extreme.count(), resampling)
}

/// The sums of differences under all signs, eight differences at a time.
struct SignFlips {
    /// For every eight differences, their sum under each of the 256 choices of signs.
    sums: Vec<[f64; 256]>,
    /// From which sum on a choice is as far from 0 as what was observed, rounding aside.
    threshold: f64,
}

impl SignFlips {
    fn new(differences: &[f64]) -> Self {
        let signed = |signs: usize, (place, difference): (usize, &f64)| match (signs >> place) & 1 {
            0 => *difference,
            _ => -difference,
        };
        let sums_of = |eight: &[f64]| -> [f64; 256] {
            std::array::from_fn(|signs| eight.iter().enumerate().map(|difference| signed(signs, difference)).sum())
        };
        let size: f64 = differences.iter().map(|difference| difference.abs()).sum();
        let threshold = differences.iter().sum::<f64>().abs() - size * NOISE;
        Self { sums: differences.chunks(8).map(sums_of).collect(), threshold }
    }

    fn is_extreme(&self, signs: &[u8]) -> bool {
        let sum: f64 = self.sums.iter().zip(signs).map(|(sums, &signs)| sums[usize::from(signs)]).sum();
        sum.abs() >= self.threshold
    }
}

fn bootstrap(differences: &Differences, observed: f64, resampling: Resampling) -> f64 {
    let mean = differences.mean();
    let shifted: Vec<f64> = differences.0.iter().map(|difference| difference - mean).collect();
    let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
    let extreme = (0..resampling.samples).filter(|_| is_extreme_draw(&shifted, &mut random, observed.abs()));
    share(extreme.count(), resampling)
}

/// Draws as many differences as there are, with replacement: whether |t| of them reaches the observed one.
fn is_extreme_draw(shifted: &[f64], random: &mut ChaCha8Rng, observed: f64) -> bool {
    let count = shifted.len() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in shifted {
        // A 32-bit number scaled to the count: no index is likelier than another by more than count / 2^32.
        let place = (u64::from(random.next_u32()) * shifted.len() as u64) >> 32;
        let value = shifted[place as usize];
        sum += value;
        squares += value * value;
    }
    let mean = sum / count;
    let variance = ((squares - sum * mean) / (count - 1.0)).max(0.0);
    // |mean| / √(variance / n) ≥ observed, without a division by the 0 of a draw of equal differences
    mean.abs() >= observed * (variance / count).sqrt()
}

/// What share of random draws is as extreme as what was observed, itself among them.
fn share(extreme: usize, resampling: Resampling) -> f64 {
    (extreme as f64 + 1.0) / (f64::from(resampling.samples) + 1.0)
}

/// p values corrected for there being several, by Holm's step-down procedure: the smallest is multiplied by their number,
/// the next by one less, and so on; none gets smaller than one before it, none larger than 1. In the order given.
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

/// How a run differs from a baseline under one measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The topics that count for both.
    pub topics: usize,
    /// The mean over these topics of the run's value minus the baseline's.
    pub difference: f64,
    /// The test's p value.
    pub p: f64,
    /// The p value corrected over the runs compared at once, by [`holm`].
    pub corrected_p: f64,
    /// Cohen's d, see [`Differences::effect_size`].
    pub effect_size: Option<f64>,
    /// Of the difference, with a confidence of 95 %, see [`Differences::interval`].
    pub interval: Option<(f64, f64)>,
}

impl Comparison {
    /// One comparison; nothing to correct yet.
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
