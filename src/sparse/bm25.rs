//! BM25 over fields, as ACORDAR calls “BM25F”: a weighted sum of one BM25 a field.
//!
//! S. Robertson, S. Walker et al.: *Okapi at TREC-3*, 1994; the form is Lucene's (since version 8, without the constant
//! factor k₁ + 1). For a term with frequency *tf* in a field of length *l*, found in *n* of the *N* documents that have
//! the field, whose average length is *l̄*:
//!
//! ```text
//! idf = ln(1 + (N − n + 0.5) / (n + 0.5))
//! S   = idf · tf / (tf + k1 · (1 − b + b · l / l̄))
//! score = Σ over the query's tokens Σ over fields  weight · S
//! ```
//!
//! Saturation is per field: this is not Robertson's BM25F, which would saturate once over all fields.

use super::{Explanation, SparseModel};
use crate::document::Field;
use crate::index::{AnalyzedQuery, CollectionStatistics, DocumentStatistics};

/// A weight for every field; 0 leaves it out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FieldWeights(pub [f64; 8]);

impl Default for FieldWeights {
    /// Those published with ACORDAR 2 for BM25 and the pooling of judgements
    /// (title 1, description .9, author .9, tags .6, entity .2, literal .3, class .1, property .1).
    fn default() -> Self {
        Self([1.0, 0.9, 0.9, 0.6, 0.2, 0.3, 0.1, 0.1])
    }
}

impl FieldWeights {
    /// The weight of a field.
    #[must_use]
    pub fn of(&self, field: Field) -> f64 {
        self.0[field.index()]
    }

    /// These weights for the fields that pass, 0 for the others.
    #[must_use]
    pub fn only(self, passes: impl Fn(Field) -> bool) -> Self {
        let mut weights = self;
        for field in Field::ALL {
            if !passes(field) {
                weights.0[field.index()] = 0.0;
            }
        }
        weights
    }
}

/// The model. See the module documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bm25 {
    /// How soon repetition stops to count.
    pub k1: f64,
    /// How much length counts.
    pub b: f64,
    /// What a field counts.
    pub weights: FieldWeights,
}

impl Default for Bm25 {
    /// Lucene's k₁ = 1.2 and b = 0.75.
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75, weights: FieldWeights::default() }
    }
}

/// The numbers of one term in one field of one document.
struct Numbers {
    frequency: f64,
    length: f64,
    average: f64,
    documents: f64,
    with_term: f64,
}

impl Numbers {
    fn of(term: usize, field: Field, document: &DocumentStatistics, collection: &CollectionStatistics) -> Option<Self> {
        let frequency = document.frequencies[term][field.index()];
        (frequency > 0).then(|| Self {
            frequency: f64::from(frequency),
            length: f64::from(document.lengths[field.index()]),
            average: collection.fields[field.index()].average_length(),
            documents: collection.fields[field.index()].documents as f64,
            with_term: collection.terms[term][field.index()].documents as f64,
        })
    }

    fn idf(&self) -> f64 {
        (1.0 + (self.documents - self.with_term + 0.5) / (self.with_term + 0.5)).ln()
    }
}

impl Bm25 {
    /// With other weights.
    #[must_use]
    pub fn with_weights(self, weights: FieldWeights) -> Self {
        Self { weights, ..self }
    }

    fn saturation(&self, numbers: &Numbers) -> f64 {
        let norm = self.k1 * (1.0 - self.b + self.b * numbers.length / numbers.average);
        numbers.frequency / (numbers.frequency + norm)
    }

    fn explain_field(&self, weight: f64, field: Field, term: &str, numbers: &Numbers) -> Explanation {
        let (idf, saturation) = (numbers.idf(), self.saturation(numbers));
        Explanation {
            value: weight * (idf * saturation),
            description: format!("{field}: {term}"),
            details: vec![
                Explanation::leaf(weight, format!("weight of the field {field}")),
                Explanation::leaf(
                    idf,
                    format!("idf: in {} of {} datasets with this field", numbers.with_term, numbers.documents),
                ),
                Explanation::leaf(
                    saturation,
                    format!(
                        "tf: {} times among {} tokens (average {:.1})",
                        numbers.frequency, numbers.length, numbers.average
                    ),
                ),
            ],
        }
    }
}

impl SparseModel for Bm25 {
    fn name(&self) -> &'static str {
        "bm25"
    }

    fn fields(&self) -> Vec<Field> {
        Field::ALL.into_iter().filter(|&field| self.weights.of(field) > 0.0).collect()
    }

    fn score(&self, query: &AnalyzedQuery, document: &DocumentStatistics, collection: &CollectionStatistics) -> f64 {
        let mut score = 0.0;
        for &term in &query.sequence {
            // Summed term by term, as the explanation does: the two agree to the last bit.
            score += Field::ALL
                .into_iter()
                .filter_map(|field| {
                    let weight = self.weights.of(field);
                    let numbers = (weight > 0.0).then(|| Numbers::of(term, field, document, collection)).flatten()?;
                    Some(weight * (numbers.idf() * self.saturation(&numbers)))
                })
                .sum::<f64>();
        }
        score
    }

    fn explain(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Explanation {
        let of_term = |&term: &usize| {
            let text = &query.distinct[term];
            let fields = Field::ALL.into_iter().filter_map(|field| {
                let weight = self.weights.of(field);
                let numbers = (weight > 0.0).then(|| Numbers::of(term, field, document, collection)).flatten()?;
                Some(self.explain_field(weight, field, text, &numbers))
            });
            Explanation::sum(format!("“{text}”"), fields.collect())
        };
        Explanation::sum(
            "BM25 over fields",
            query.sequence.iter().map(of_term).filter(|term| !term.details.is_empty()).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{FieldStatistics, TermStatistics};
    use proptest::prelude::*;

    fn statistics(tf: [u32; 8], lengths: [u32; 8]) -> (DocumentStatistics, CollectionStatistics) {
        let mut fields = [FieldStatistics::default(); 8];
        fields[Field::Title.index()] = FieldStatistics { documents: 3, tokens: 12 };
        fields[Field::Literal.index()] = FieldStatistics { documents: 2, tokens: 30 };
        let mut term = [TermStatistics::default(); 8];
        term[Field::Title.index()] = TermStatistics { documents: 1, occurrences: 2 };
        term[Field::Literal.index()] = TermStatistics { documents: 2, occurrences: 5 };
        (
            DocumentStatistics { frequencies: vec![tf], lengths },
            CollectionStatistics { documents: 3, fields, terms: vec![term] },
        )
    }

    fn query() -> AnalyzedQuery {
        AnalyzedQuery { distinct: vec!["x".into()], sequence: vec![0] }
    }

    #[test]
    fn a_score_by_hand() {
        let (document, collection) = statistics([2, 0, 0, 0, 0, 3, 0, 0], [5, 0, 0, 0, 0, 10, 0, 0]);
        // title: idf = ln(1 + 2.5/1.5), norm = 1.2 (0.25 + 0.75 · 5/4); literal: idf = ln(1 + 0.5/2.5), norm = 1.2 (0.25 + 0.75 · 10/15)
        let title = (1.0 + 2.5 / 1.5_f64).ln() * 2.0 / (2.0 + 1.2 * (0.25 + 0.75 * 1.25));
        let literal = 0.3 * (1.0 + 0.5 / 2.5_f64).ln() * 3.0 / (3.0 + 1.2 * 0.75);
        let score = Bm25::default().score(&query(), &document, &collection);
        assert!((score - (title + literal)).abs() < 1e-12, "{score}");
        let only_metadata = Bm25::default().with_weights(FieldWeights::default().only(Field::is_metadata));
        assert!((only_metadata.score(&query(), &document, &collection) - title).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_explanation_is_the_score(title in 0u32..9, literal in 0u32..9, repeated in 1usize..3) {
            let (document, collection) = statistics([title, 0, 0, 0, 0, literal, 0, 0], [9, 0, 0, 0, 0, 20, 0, 0]);
            let query = AnalyzedQuery { sequence: vec![0; repeated], ..query() };
            let model = Bm25::default();
            prop_assert_eq!(model.explain(&query, &document, &collection).value, model.score(&query, &document, &collection));
        }
    }
}
