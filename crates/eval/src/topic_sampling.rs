//! Resampling of topics: standard deviation of a mean over topics, and win rates between systems.
//!
//! DataFinder (V. Viswanathan et al., ACL 2023) draws n / 2 of n topics with replacement and then drops repetitions. Its
//! deviation is that of the means of 1,000 such samples. A system wins a sample if its mean is higher; ties count for
//! the other system. Such samples are too small, so their deviations are too large. Because of the asymmetric ties,
//! `win_rate(a, b) + win_rate(b, a) < 1` for similar systems.
//!
//! [`SamplingMethod::Bootstrap`] is Efron's method: n of n topics, with repetitions, and a tie is half a win.
//!
//! B. Efron: Bootstrap methods: another look at the jackknife. Annals of Statistics 7(1), 1979.

use super::metrics::mean;
use super::significance::{MAX_ROUNDING_ERROR, Resampling};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Method of drawing samples of topics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SamplingMethod {
    /// Draw n of n topics with replacement and keep repetitions.
    #[default]
    Bootstrap,
    /// DataFinder's published method: draw n / 2 of n topics with replacement and drop repetitions.
    DataFinder,
}

/// Random samples of topics, shared by all compared systems.
///
/// ```
/// use lodeseek_eval::{SamplingMethod, TopicSamples};
///
/// let samples = TopicSamples::new(3, SamplingMethod::Bootstrap, TopicSamples::PUBLISHED);
/// assert_eq!(samples.win_rate(&[0.5, 0.6, 0.7], &[0.4, 0.5, 0.6]), 1.0);
/// assert_eq!(samples.deviation(&[0.5, 0.5, 0.5]), 0.0);
/// ```
#[derive(Clone, Debug)]
pub struct TopicSamples {
    method: SamplingMethod,
    /// Topic positions of each sample.
    samples: Vec<Vec<u32>>,
}

impl TopicSamples {
    /// Settings with DataFinder's number of samples.
    pub const PUBLISHED: Resampling = Resampling {
        samples: 1000,
        seed: 20_230_709,
    };

    /// Draws samples of a number of topics.
    #[must_use]
    pub fn new(topics: usize, method: SamplingMethod, resampling: Resampling) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
        let size = match method {
            SamplingMethod::Bootstrap => topics,
            SamplingMethod::DataFinder => topics / 2,
        };
        let mut samples = Vec::with_capacity(resampling.samples as usize);
        for _ in 0..resampling.samples {
            let mut positions: Vec<u32> = (0..size)
                .map(|_| draw_position(&mut random, topics))
                .collect();
            if method == SamplingMethod::DataFinder {
                positions.sort_unstable();
                positions.dedup();
            }
            samples.push(positions);
        }
        Self { method, samples }
    }

    /// Iterates over the means of the samples.
    fn means<'s>(&'s self, values: &'s [f64]) -> impl Iterator<Item = f64> + 's {
        self.samples.iter().map(|positions| {
            let sum: f64 = positions
                .iter()
                .map(|&position| values[position as usize])
                .sum();
            // Half of a single topic is no topic.
            if positions.is_empty() {
                0.0
            } else {
                sum / positions.len() as f64
            }
        })
    }

    /// Returns the standard deviation of the sample means, with divisor n as in numpy.
    #[must_use]
    pub fn deviation(&self, values: &[f64]) -> f64 {
        let means: Vec<f64> = self.means(values).collect();
        let centre = mean(&means);
        mean(
            &means
                .iter()
                .map(|value| (value - centre).powi(2))
                .collect::<Vec<_>>(),
        )
        .sqrt()
    }

    /// Returns the share of samples in which the first system wins, in [0, 1].
    #[must_use]
    pub fn win_rate(&self, first: &[f64], second: &[f64]) -> f64 {
        let tie = match self.method {
            SamplingMethod::Bootstrap => 0.5,
            SamplingMethod::DataFinder => 0.0,
        };
        let mut wins = Vec::with_capacity(self.samples.len());
        for (first, second) in self.means(first).zip(self.means(second)) {
            wins.push(match first - second {
                // Equal means may differ by the order of summation, which must not decide a win.
                difference if difference.abs() < MAX_ROUNDING_ERROR => tie,
                difference if difference > 0.0 => 1.0,
                _ => 0.0,
            });
        }
        mean(&wins)
    }
}

/// Draws the position of one of `topics` topics.
fn draw_position(random: &mut ChaCha8Rng, topics: usize) -> u32 {
    // A 32-bit number is scaled to the count: the probabilities of two topics differ by at most count / 2^32.
    ((u64::from(random.next_u32()) * topics as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: Resampling = Resampling {
        samples: 20_000,
        seed: 7,
    };

    /// The deviation of a mean over n topics is σ / √n. Of n / 2 draws, n (1 − e^(−1/2)) are distinct, without replacement.
    #[test]
    fn deviations_are_those_that_theory_gives() {
        let values: Vec<f64> = (0..200).map(|place| f64::from(place % 2)).collect();
        let bootstrap = TopicSamples::new(200, SamplingMethod::Bootstrap, MANY).deviation(&values);
        assert!(
            (bootstrap - 0.5 / 200_f64.sqrt()).abs() < 5e-4,
            "{bootstrap}"
        );
        let size = 200.0 * (1.0 - (-0.5_f64).exp());
        let expected = 0.5 / size.sqrt() * ((200.0 - size) / 199.0).sqrt();
        let published = TopicSamples::new(200, SamplingMethod::DataFinder, MANY).deviation(&values);
        assert!(
            (published - expected).abs() < 1e-3,
            "{published} instead of {expected}"
        );
        assert!(published > bootstrap);
    }

    #[test]
    fn ties_are_halved_or_lost() {
        let (even, better) = (vec![0.5; 10], vec![0.6; 10]);
        for (draws, tie) in [
            (SamplingMethod::Bootstrap, 0.5),
            (SamplingMethod::DataFinder, 0.0),
        ] {
            let samples = TopicSamples::new(10, draws, TopicSamples::PUBLISHED);
            assert_eq!(samples.win_rate(&even, &even), tie);
            assert_eq!(
                (
                    samples.win_rate(&better, &even),
                    samples.win_rate(&even, &better)
                ),
                (1.0, 0.0)
            );
            assert_eq!(samples.deviation(&even), 0.0);
        }
    }

    /// One system has .1 + .2, the other .3: as binary fractions these differ.
    #[test]
    fn rounding_breaks_no_tie() {
        let (one, other) = (vec![0.1 + 0.2; 7], vec![0.3; 7]);
        assert_ne!(one, other);
        assert_eq!(
            TopicSamples::new(7, SamplingMethod::Bootstrap, TopicSamples::PUBLISHED)
                .win_rate(&one, &other),
            0.5
        );
        assert_eq!(
            TopicSamples::new(7, SamplingMethod::DataFinder, TopicSamples::PUBLISHED)
                .win_rate(&one, &other),
            0.0
        );
    }

    #[test]
    fn samples_are_the_same_every_time() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let deviation = || {
            TopicSamples::new(50, SamplingMethod::Bootstrap, TopicSamples::PUBLISHED)
                .deviation(&values)
        };
        assert_eq!(deviation().to_bits(), deviation().to_bits());
        assert_eq!(
            TopicSamples::new(0, SamplingMethod::Bootstrap, TopicSamples::PUBLISHED).deviation(&[]),
            0.0
        );
    }
}
