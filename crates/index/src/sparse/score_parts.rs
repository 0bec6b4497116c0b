//! Scores as functions of the field weights, for tuning the weights.

use super::FieldWeights;

/// Replacement of a probability of 0, so that its logarithm exists.
const EPSILON: f64 = 1e-100;

/// Score of a document for a query before fields are weighted.
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
    /// Weight of the feature.
    pub coefficient: f64,
    /// Probability in each field.
    pub probabilities: [f64; 8],
}

impl Mixture {
    /// Returns the value for weights that sum to 1.
    #[must_use]
    pub fn score(&self, normalized: &FieldWeights) -> f64 {
        let mixed: f64 = normalized
            .0
            .iter()
            .zip(&self.probabilities)
            .map(|(weight, part)| weight * part)
            .sum();
        self.coefficient * (EPSILON + mixed).ln()
    }
}

impl ScoreParts {
    /// Returns the score for these weights. The last digits may differ from the model's score, because the order of
    /// summation differs.
    #[must_use]
    pub fn score(&self, weights: &FieldWeights) -> f64 {
        match self {
            Self::Sum(parts) => weights
                .0
                .iter()
                .zip(parts)
                .map(|(weight, part)| weight * part)
                .sum(),
            Self::LogMixtures(mixtures) => {
                let normalized = weights.normalize();
                mixtures
                    .iter()
                    .map(|mixture| mixture.score(&normalized))
                    .sum()
            }
        }
    }

    /// Returns the share of each field in the score. For a sum, it is the field's weighted part. For mixtures, it is
    /// the field's share of each probability times the coefficient, so that the shares of a feature sum to its
    /// coefficient.
    #[must_use]
    pub fn shares(&self, weights: &FieldWeights) -> [f64; 8] {
        match self {
            Self::Sum(parts) => std::array::from_fn(|field| weights.0[field] * parts[field]),
            Self::LogMixtures(mixtures) => {
                let mut shares = [0.0; 8];
                for mixture in mixtures {
                    let weighted: [f64; 8] =
                        std::array::from_fn(|f| weights.0[f] * mixture.probabilities[f]);
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
