//! A language model with Dirichlet smoothing over fields, as Lucene's `LMDirichletSimilarity` computes it.
//!
//! C. Zhai, J. Lafferty: *A study of smoothing methods for language models applied to ad hoc information retrieval*,
//! SIGIR 2001. For a term with frequency *tf* in a field of length *l*, which occurs *cf* times among the field's *C*
//! tokens in the whole collection:
//!
//! ```text
//! p = (cf + 1) / (C + 1)
//! S = max(0, ln(1 + tf / (μ · p)) + ln(μ / (l + μ)))
//! ```
//!
//! A term that is absent costs nothing, and none counts against a document: this is what makes it a sum over postings.

use super::field_sum::{FieldSum, Numbers, in_words};
use super::{Explanation, FieldWeights, LengthMode};
use crate::{FieldStatistics, Impact, TermStatistics, Wanted};

/// The model. See the module documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lmd {
    /// How many tokens of the collection are mixed into a field.
    pub mu: f64,
    /// What a field counts.
    pub weights: FieldWeights,
    /// How lengths are seen.
    pub lengths: LengthMode,
}

impl Default for Lmd {
    /// Lucene's μ = 2000; ACORDAR's weights.
    fn default() -> Self {
        Self { mu: 2000.0, weights: FieldWeights::ACORDAR_LMD, lengths: LengthMode::Exact }
    }
}

/// S, with μ and p worked in.
pub(super) struct Smoothed {
    mu: f64,
    /// One over μ · p.
    surprise: f64,
    lengths: LengthMode,
}

impl Smoothed {
    fn term(&self, frequency: u32) -> f64 {
        (f64::from(frequency) * self.surprise).ln_1p()
    }

    fn norm(&self, length: u32) -> f64 {
        (self.mu / (f64::from(self.lengths.of(length)) + self.mu)).ln()
    }
}

impl Impact for Smoothed {
    #[inline]
    fn of(&self, frequency: u32, length: u32) -> f64 {
        (self.term(frequency) + self.norm(length)).max(0.0)
    }
}

impl FieldSum for Lmd {
    const NAME: &'static str = "lmd";
    const TITLE: &'static str = "language model with Dirichlet smoothing over fields";
    const WANTED: Wanted = Wanted::Occurrences;
    type Impact = Smoothed;

    fn weights(&self) -> &FieldWeights {
        &self.weights
    }

    fn weights_mut(&mut self) -> &mut FieldWeights {
        &mut self.weights
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("mu", self.mu)]
    }

    fn impact(&self, field: &FieldStatistics, term: &TermStatistics) -> Smoothed {
        let probability = (term.occurrences as f64 + 1.0) / (field.tokens as f64 + 1.0);
        Smoothed { mu: self.mu, surprise: 1.0 / (self.mu * probability), lengths: self.lengths }
    }

    fn factors(&self, impact: &Smoothed, numbers: &Numbers) -> Vec<Explanation> {
        let sum = Explanation {
            value: impact.of(numbers.frequency, numbers.length),
            description: "the sum of these, or 0 where it is negative".to_owned(),
            details: vec![
                Explanation::leaf(
                    impact.term(numbers.frequency),
                    format!(
                        "term: {} times here, {} times among {} tokens of this field in all datasets",
                        numbers.frequency, numbers.term.occurrences, numbers.field.tokens
                    ),
                ),
                Explanation::leaf(
                    impact.norm(numbers.length),
                    format!("norm: among {}", in_words(self.lengths, numbers.length)),
                ),
            ],
        };
        vec![sum]
    }
}
