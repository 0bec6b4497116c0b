//! A score with the field weights taken out: what tuning turns.

use super::FieldWeights;

/// Stands for a probability of nothing at all, so that its logarithm exists.
const EPSILON: f64 = 1e-100;

/// What a model says of a document for a query, before fields are weighted.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreParts {
    /// The score is `Σ weight · part`.
    Sum([f64; 8]),
    /// The score is a sum of [`Mixture`]s.
    LogMixtures(Vec<Mixture>),
}

/// `coefficient · ln(ε + Σ v · probability)`, with v the weights over their sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// What the feature counts.
    pub coefficient: f64,
    /// Its probability in each field.
    pub probabilities: [f64; 8],
}

impl Mixture {
    /// The value for weights that sum to 1.
    #[must_use]
    pub fn score(&self, normalized: &FieldWeights) -> f64 {
        let mixed: f64 = normalized.0.iter().zip(&self.probabilities).map(|(weight, part)| weight * part).sum();
        self.coefficient * (EPSILON + mixed).ln()
    }
}

impl ScoreParts {
    /// The score under these weights. May differ from the model's own in the last digits, where it sums in another order.
    #[must_use]
    pub fn score(&self, weights: &FieldWeights) -> f64 {
        match self {
            Self::Sum(parts) => weights.0.iter().zip(parts).map(|(weight, part)| weight * part).sum(),
            Self::LogMixtures(mixtures) => {
                let normalized = weights.normalized();
                mixtures.iter().map(|mixture| mixture.score(&normalized)).sum()
            }
        }
    }

    /// How much of the score each field gives: for a sum its weighted part; for mixtures its share of each probability,
    /// times the coefficient, so that the shares of one feature sum to its coefficient.
    #[must_use]
    pub fn shares(&self, weights: &FieldWeights) -> [f64; 8] {
        match self {
            Self::Sum(parts) => std::array::from_fn(|field| weights.0[field] * parts[field]),
            Self::LogMixtures(mixtures) => {
                let mut shares = [0.0; 8];
                for mixture in mixtures {
                    let weighted: [f64; 8] = std::array::from_fn(|f| weights.0[f] * mixture.probabilities[f]);
                    let all: f64 = weighted.iter().sum();
                    for (share, part) in shares.iter_mut().zip(weighted).filter(|_| all > 0.0) {
                        *share += mixture.coefficient * part / all;
                    }
                }
                shares
            }
        }
    }
}
