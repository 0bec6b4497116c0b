//! Language model with Dirichlet smoothing over fields, as in Lucene's `LMDirichletSimilarity`.
//!
//! C. Zhai, J. Lafferty: *A study of smoothing methods for language models applied to ad hoc information retrieval*,
//! SIGIR 2001. The term has frequency *tf* in a field of length *l*. It occurs *cf* times among the field's *C* tokens
//! in the whole collection:
//!
//! ```text
//! p = (cf + 1) / (C + 1)
//! S = max(0, ln(1 + tf / (μ · p)) + ln(μ / (l + μ)))
//! ```
//!
//! An absent term contributes 0, and no term contributes less. The score is therefore a sum over postings.

use super::field_sum::{FieldSum, TermInputs, describe_length};
use super::{Explanation, FieldWeights, LengthMode};
use crate::{FieldStatistics, StatisticsLevel, TermScorer, TermStatistics};

/// Language model. See the module documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lmd {
    /// Smoothing parameter in tokens. Default: 2000.
    pub mu: f64,
    /// Field weights.
    pub weights: FieldWeights,
    /// Length mode.
    pub lengths: LengthMode,
}

impl Default for Lmd {
    /// Returns Lucene's μ = 2000 and ACORDAR's weights.
    fn default() -> Self {
        Self {
            mu: 2000.0,
            weights: FieldWeights::ACORDAR_LMD,
            lengths: LengthMode::Exact,
        }
    }
}

/// S, with μ and p precomputed.
pub(super) struct LmdScorer {
    mu: f64,
    /// 1 / (μ · p).
    inverse_prior: f64,
    lengths: LengthMode,
}

impl LmdScorer {
    fn term(&self, frequency: u32) -> f64 {
        (f64::from(frequency) * self.inverse_prior).ln_1p()
    }

    fn norm(&self, length: u32) -> f64 {
        (self.mu / (f64::from(self.lengths.apply(length)) + self.mu)).ln()
    }
}

impl TermScorer for LmdScorer {
    #[inline]
    fn score(&self, frequency: u32, length: u32) -> f64 {
        (self.term(frequency) + self.norm(length)).max(0.0)
    }
}

impl FieldSum for Lmd {
    const NAME: &'static str = "lmd";
    const TITLE: &'static str = "language model with Dirichlet smoothing over fields";
    const STATISTICS_LEVEL: StatisticsLevel = StatisticsLevel::Occurrences;
    type Scorer = LmdScorer;

    fn weights(&self) -> &FieldWeights {
        &self.weights
    }

    fn weights_mut(&mut self) -> &mut FieldWeights {
        &mut self.weights
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("mu", self.mu)]
    }

    fn scorer(&self, field: &FieldStatistics, term: &TermStatistics) -> LmdScorer {
        let probability = (term.occurrences as f64 + 1.0) / (field.tokens as f64 + 1.0);
        LmdScorer {
            mu: self.mu,
            inverse_prior: 1.0 / (self.mu * probability),
            lengths: self.lengths,
        }
    }

    fn factors(&self, scorer: &LmdScorer, numbers: &TermInputs) -> Vec<Explanation> {
        let sum = Explanation {
            value: scorer.score(numbers.frequency, numbers.length),
            description: "the sum of these, or 0 where it is negative".to_owned(),
            details: vec![
                Explanation::leaf(
                    scorer.term(numbers.frequency),
                    format!(
                        "term: {} times here, {} times among {} tokens of this field in all datasets",
                        numbers.frequency, numbers.term.occurrences, numbers.field.tokens
                    ),
                ),
                Explanation::leaf(
                    scorer.norm(numbers.length),
                    format!(
                        "norm: among {}",
                        describe_length(self.lengths, numbers.length)
                    ),
                ),
            ],
        };
        vec![sum]
    }
}
