//! BM25 over fields, called “BM25F” by ACORDAR: a weighted sum of one BM25 score for each field.
//!
//! S. Robertson, S. Walker et al.: *Okapi at TREC-3*, 1994. The formula is Lucene's since version 8, without the
//! constant factor k₁ + 1. The term has frequency *tf* in a field of length *l*. It occurs in *n* of the *N* documents
//! that have the field, whose average length is *l̄*:
//!
//! ```text
//! idf = ln(1 + (N − n + 0.5) / (n + 0.5))
//! S   = idf · tf / (tf + k1 · (1 − b + b · l / l̄))
//! ```
//!
//! Saturation is computed for each field. Robertson's BM25F, in contrast, saturates once over all fields.

use super::field_sum::{FieldSum, TermInputs, describe_length};
use super::{Explanation, FieldWeights, LengthMode};
use crate::{FieldStatistics, StatisticsLevel, TermScorer, TermStatistics};

/// BM25 model. See the module documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bm25 {
    /// Saturation of term frequency. Default: 1.2.
    pub k1: f64,
    /// Length normalization, from 0 (none) to 1 (full). Default: 0.75.
    pub b: f64,
    /// Field weights.
    pub weights: FieldWeights,
    /// Length mode.
    pub lengths: LengthMode,
}

impl Default for Bm25 {
    /// Returns Lucene's k₁ = 1.2 and b = 0.75, and ACORDAR's weights.
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            weights: FieldWeights::ACORDAR_BM25,
            lengths: LengthMode::Exact,
        }
    }
}

impl Bm25 {
    /// Returns the inverse document frequency of a term in a field.
    pub(crate) fn idf(&self, field: &FieldStatistics, term: &TermStatistics) -> f64 {
        self.scorer(field, term).idf
    }

    /// Returns the scorer of a term in a field.
    pub(crate) fn term_scorer(
        &self,
        field: &FieldStatistics,
        term: &TermStatistics,
    ) -> impl TermScorer + use<> {
        self.scorer(field, term)
    }
}

/// S, with all factors that do not depend on the document precomputed.
pub(super) struct Bm25Scorer {
    idf: f64,
    /// k1 · (1 − b).
    base: f64,
    /// k1 · b / l̄.
    slope: f64,
    lengths: LengthMode,
}

impl Bm25Scorer {
    fn saturation(&self, frequency: u32, length: u32) -> f64 {
        let frequency = f64::from(frequency);
        frequency / (frequency + self.base + self.slope * f64::from(self.lengths.apply(length)))
    }
}

impl TermScorer for Bm25Scorer {
    #[inline]
    fn score(&self, frequency: u32, length: u32) -> f64 {
        self.idf * self.saturation(frequency, length)
    }
}

impl FieldSum for Bm25 {
    const NAME: &'static str = "bm25";
    const TITLE: &'static str = "BM25 over fields";
    const STATISTICS_LEVEL: StatisticsLevel = StatisticsLevel::Documents;
    type Scorer = Bm25Scorer;

    fn weights(&self) -> &FieldWeights {
        &self.weights
    }

    fn weights_mut(&mut self) -> &mut FieldWeights {
        &mut self.weights
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("k1", self.k1), ("b", self.b)]
    }

    fn scorer(&self, field: &FieldStatistics, term: &TermStatistics) -> Bm25Scorer {
        let all = field.documents as f64;
        let with_term = term.documents as f64;
        Bm25Scorer {
            idf: (1.0 + (all - with_term + 0.5) / (with_term + 0.5)).ln(),
            base: self.k1 * (1.0 - self.b),
            slope: self.k1 * self.b / field.average_length(),
            lengths: self.lengths,
        }
    }

    fn factors(&self, scorer: &Bm25Scorer, numbers: &TermInputs) -> Vec<Explanation> {
        let with_term = numbers.term.documents;
        let all = numbers.field.documents;
        let among = describe_length(self.lengths, numbers.length);
        let average = numbers.field.average_length();
        vec![
            Explanation::leaf(
                scorer.idf,
                format!("idf: in {with_term} of {all} datasets with this field"),
            ),
            Explanation::leaf(
                scorer.saturation(numbers.frequency, numbers.length),
                format!(
                    "tf: {} times among {among} (average {average:.1})",
                    numbers.frequency
                ),
            ),
        ]
    }
}
