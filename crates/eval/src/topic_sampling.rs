//! How far a mean over topics could be from what it is, and how often one system would win, by drawing topics anew.
//!
//! DataFinder (V. Viswanathan et al., ACL 2023) draws half as many topics as there are, with replacement, and then forgets
//! how often each was drawn; the deviation is that of the means of 1,000 such samples, and a system wins a sample where its
//! mean is higher: ties count for the other one. Half a sample of distinct topics is too small, so that its deviations are
//! too large, and the asymmetric ties make `wins(a, b) + wins(b, a) < 1` where systems are alike. [`SamplingMethod::Bootstrap`] is
//! Efron's: as many topics as there are, as often as drawn; a tie is half a win.
//!
//! B. Efron: Bootstrap methods: another look at the jackknife. Annals of Statistics 7(1), 1979.

use super::metrics::mean;
use super::significance::Resampling;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// How samples of topics are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SamplingMethod {
    /// n of n, with replacement, each as often as it was drawn.
    #[default]
    Bootstrap,
    /// As DataFinder published it: n / 2 of n, with replacement, each once however often it was drawn.
    DataFinder,
}

/// Means that differ by less differ in the order of their additions: fifths of other topics add up to the same.
const ROUNDING: f64 = 1e-12;

/// TopicSamples of topics: the same for all systems that are compared.
#[derive(Clone, Debug)]
pub struct TopicSamples {
    draws: SamplingMethod,
    /// Of each sample, the places of its topics.
    places: Vec<Vec<u32>>,
}

impl TopicSamples {
    /// DataFinder's number of samples.
    pub const PUBLISHED: Resampling = Resampling { samples: 1000, seed: 20_230_709 };

    /// Draws samples of so many topics.
    #[must_use]
    pub fn new(topics: usize, draws: SamplingMethod, resampling: Resampling) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
        let size = match draws {
            SamplingMethod::Bootstrap => topics,
            SamplingMethod::DataFinder => topics / 2,
        };
        let mut sample = || {
            // A 32-bit number scaled to the count: no topic is likelier than another by more than count / 2^32.
            let place = |number: u32| ((u64::from(number) * topics as u64) >> 32) as u32;
            let mut places: Vec<u32> = (0..size).map(|_| place(random.next_u32())).collect();
            if draws == SamplingMethod::DataFinder {
                places.sort_unstable();
                places.dedup();
            }
            places
        };
        let places = (0..resampling.samples).map(|_| sample()).collect();
        Self { draws, places }
    }

    /// The means of every sample.
    fn means<'s>(&'s self, values: &'s [f64]) -> impl Iterator<Item = f64> + 's {
        self.places.iter().map(|places| {
            let sum: f64 = places.iter().map(|&place| values[place as usize]).sum();
            if places.is_empty() { 0.0 } else { sum / places.len() as f64 }
        })
    }

    /// The standard deviation of the mean, over the samples: with n below, as numpy's.
    #[must_use]
    pub fn deviation(&self, values: &[f64]) -> f64 {
        let means: Vec<f64> = self.means(values).collect();
        let centre = mean(&means);
        mean(&means.iter().map(|value| (value - centre).powi(2)).collect::<Vec<_>>()).sqrt()
    }

    /// The share of samples in which the first system wins.
    #[must_use]
    pub fn win_rate(&self, first: &[f64], second: &[f64]) -> f64 {
        let tie = match self.draws {
            SamplingMethod::Bootstrap => 0.5,
            SamplingMethod::DataFinder => 0.0,
        };
        let won = |(first, second): (f64, f64)| match first - second {
            difference if difference.abs() < ROUNDING => tie,
            difference => f64::from(u8::from(difference > 0.0)),
        };
        mean(&self.means(first).zip(self.means(second)).map(won).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: Resampling = Resampling { samples: 20_000, seed: 7 };

    /// Of n topics, a mean's deviation is σ / √n; what is distinct of n / 2 draws is 1 − e^(−1/2) of n, without replacement.
    #[test]
    fn deviations_are_those_that_theory_gives() {
        let values: Vec<f64> = (0..200).map(|place| f64::from(place % 2)).collect();
        let bootstrap = TopicSamples::new(200, SamplingMethod::Bootstrap, MANY).deviation(&values);
        assert!((bootstrap - 0.5 / 200_f64.sqrt()).abs() < 5e-4, "{bootstrap}");
        let size = 200.0 * (1.0 - (-0.5_f64).exp());
        let expected = 0.5 / size.sqrt() * ((200.0 - size) / 199.0).sqrt();
        let published = TopicSamples::new(200, SamplingMethod::DataFinder, MANY).deviation(&values);
        assert!((published - expected).abs() < 1e-3, "{published} instead of {expected}");
        assert!(published > bootstrap);
    }

    #[test]
    fn ties_are_halved_or_lost() {
        let (even, better) = (vec![0.5; 10], vec![0.6; 10]);
        for (draws, tie) in [(SamplingMethod::Bootstrap, 0.5), (SamplingMethod::DataFinder, 0.0)] {
            let samples = TopicSamples::new(10, draws, TopicSamples::PUBLISHED);
            assert_eq!(samples.win_rate(&even, &even), tie);
            assert_eq!((samples.win_rate(&better, &even), samples.win_rate(&even, &better)), (1.0, 0.0));
            assert_eq!(samples.deviation(&even), 0.0);
        }
    }

    /// One topic is worth .1 + .2 to one system and .3 to the other: in binary fractions these are not the same.
    #[test]
    fn rounding_breaks_no_tie() {
        let (one, other) = (vec![0.1 + 0.2; 7], vec![0.3; 7]);
        assert_ne!(one, other);
        assert_eq!(
            TopicSamples::new(7, SamplingMethod::Bootstrap, TopicSamples::PUBLISHED).win_rate(&one, &other),
            0.5
        );
        assert_eq!(
            TopicSamples::new(7, SamplingMethod::DataFinder, TopicSamples::PUBLISHED).win_rate(&one, &other),
            0.0
        );
    }

    #[test]
    fn samples_are_the_same_every_time() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let deviation = || TopicSamples::new(50, SamplingMethod::Bootstrap, TopicSamples::PUBLISHED).deviation(&values);
        assert_eq!(deviation().to_bits(), deviation().to_bits());
        assert_eq!(TopicSamples::new(0, SamplingMethod::Bootstrap, TopicSamples::PUBLISHED).deviation(&[]), 0.0);
    }
}
