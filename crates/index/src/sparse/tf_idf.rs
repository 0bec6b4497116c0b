//! TF-IDF over fields, as Lucene's `ClassicSimilarity` computes it.
//!
//! G. Salton, C. Buckley: *Term-weighting approaches in automatic text retrieval*, 1988. For a term with frequency *tf*
//! in a field of length *l*, found in *n* of the *N* documents that have the field:
//!
//! ```text
//! idf = ln((N + 1) / (n + 1)) + 1
//! S   = √tf · idf / √l
//! ```
//!
//! ACORDAR names it a cosine, which it is not: idf counts once, and the length is that of the field, not of a vector.

use super::field_sum::{FieldSum, Numbers, in_words};
use super::{Explanation, FieldWeights, LengthMode};
use crate::{FieldStatistics, Impact, TermStatistics, Wanted};

/// The model. See the module documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TfIdf {
    /// What a field counts.
    pub weights: FieldWeights,
    /// How lengths are seen.
    pub lengths: LengthMode,
}

impl Default for TfIdf {
    /// ACORDAR's weights.
    fn default() -> Self {
        Self { weights: FieldWeights::ACORDAR_TF_IDF, lengths: LengthMode::Exact }
    }
}

/// S, with idf worked in.
pub(super) struct Classic {
    idf: f64,
    lengths: LengthMode,
}

impl Classic {
    fn norm(&self, length: u32) -> f64 {
        1.0 / f64::from(self.lengths.of(length)).sqrt()
    }
}

impl Impact for Classic {
    #[inline]
    fn of(&self, frequency: u32, length: u32) -> f64 {
        f64::from(frequency).sqrt() * self.idf * self.norm(length)
    }
}

impl FieldSum for TfIdf {
    const NAME: &'static str = "tf-idf";
    const TITLE: &'static str = "TF-IDF over fields";
    const WANTED: Wanted = Wanted::Documents;
    type Impact = Classic;

    fn weights(&self) -> &FieldWeights {
        &self.weights
    }

    fn weights_mut(&mut self) -> &mut FieldWeights {
        &mut self.weights
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    fn impact(&self, field: &FieldStatistics, term: &TermStatistics) -> Classic {
        let ratio = (field.documents as f64 + 1.0) / (term.documents as f64 + 1.0);
        Classic { idf: ratio.ln() + 1.0, lengths: self.lengths }
    }

    fn factors(&self, impact: &Classic, numbers: &Numbers) -> Vec<Explanation> {
        let (with_term, all) = (numbers.term.documents, numbers.field.documents);
        vec![
            Explanation::leaf(impact.idf, format!("idf: in {with_term} of {all} datasets with this field")),
            Explanation::leaf(
                f64::from(numbers.frequency).sqrt(),
                format!("tf: the root of {} times", numbers.frequency),
            ),
            Explanation::leaf(
                impact.norm(numbers.length),
                format!("norm: one over the root of {}", in_words(self.lengths, numbers.length)),
            ),
        ]
    }
}
