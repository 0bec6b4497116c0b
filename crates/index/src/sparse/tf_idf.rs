//! TF-IDF over fields, as in Lucene's `ClassicSimilarity`.
//!
//! G. Salton, C. Buckley: *Term-weighting approaches in automatic text retrieval*, 1988. The term has frequency *tf* in
//! a field of length *l*. It occurs in *n* of the *N* documents that have the field:
//!
//! ```text
//! idf = ln((N + 1) / (n + 1)) + 1
//! S   = √tf · idf / √l
//! ```
//!
//! ACORDAR calls it a cosine. It is not: idf counts only once, and the length is that of the field, not of a vector.

use super::field_sum::{FieldSum, TermInputs, describe_length};
use super::{Explanation, FieldWeights, LengthMode};
use crate::{FieldStatistics, StatisticsLevel, TermScorer, TermStatistics};

/// TF-IDF model. See the module documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TfIdf {
    /// Field weights.
    pub weights: FieldWeights,
    /// Length mode.
    pub lengths: LengthMode,
}

impl Default for TfIdf {
    /// Returns ACORDAR's weights.
    fn default() -> Self {
        Self {
            weights: FieldWeights::ACORDAR_TF_IDF,
            lengths: LengthMode::Exact,
        }
    }
}

/// S, with idf precomputed.
pub(super) struct TfIdfScorer {
    idf: f64,
    lengths: LengthMode,
}

impl TfIdfScorer {
    fn norm(&self, length: u32) -> f64 {
        1.0 / f64::from(self.lengths.apply(length)).sqrt()
    }
}

impl TermScorer for TfIdfScorer {
    #[inline]
    fn score(&self, frequency: u32, length: u32) -> f64 {
        f64::from(frequency).sqrt() * self.idf * self.norm(length)
    }
}

impl FieldSum for TfIdf {
    const NAME: &'static str = "tf-idf";
    const TITLE: &'static str = "TF-IDF over fields";
    const STATISTICS_LEVEL: StatisticsLevel = StatisticsLevel::Documents;
    type Scorer = TfIdfScorer;

    fn weights(&self) -> &FieldWeights {
        &self.weights
    }

    fn weights_mut(&mut self) -> &mut FieldWeights {
        &mut self.weights
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    fn scorer(&self, field: &FieldStatistics, term: &TermStatistics) -> TfIdfScorer {
        let ratio = (field.documents as f64 + 1.0) / (term.documents as f64 + 1.0);
        TfIdfScorer {
            idf: ratio.ln() + 1.0,
            lengths: self.lengths,
        }
    }

    fn factors(&self, scorer: &TfIdfScorer, numbers: &TermInputs) -> Vec<Explanation> {
        let with_term = numbers.term.documents;
        let all = numbers.field.documents;
        vec![
            Explanation::leaf(
                scorer.idf,
                format!("idf: in {with_term} of {all} datasets with this field"),
            ),
            Explanation::leaf(
                f64::from(numbers.frequency).sqrt(),
                format!("tf: the root of {} times", numbers.frequency),
            ),
            Explanation::leaf(
                scorer.norm(numbers.length),
                format!(
                    "norm: one over the root of {}",
                    describe_length(self.lengths, numbers.length)
                ),
            ),
        ]
    }
}
