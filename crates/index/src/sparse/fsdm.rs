//! Fielded sequential dependence model: single words, ordered pairs of adjacent words, and unordered pairs in a window.
//!
//! N. Zhiltsov, A. Kotov, F. Nikolaev: *Fielded sequential dependence model for ad-hoc entity retrieval in the web of
//! data*, SIGIR 2015, with one set of field weights, as in ACORDAR. For a query q₁ … qₙ:
//!
//! ```text
//! score = λT · T + λO · O + λU · U
//! T = Σ over tokens        ln(ε + Σ over fields  v · (tf + μ · cf / C) / (l + μ))
//! O = Σ over adjacent pairs, the same with tf = places where the second follows the first
//! U = Σ over adjacent pairs, the same with tf = windows of eight tokens that hold both
//! ```
//!
//! * v are the field weights divided by their sum.
//! * μ is the average length of the field.
//! * C is the number of the field's tokens in the collection.
//! * cf is the number of occurrences of the token in the collection. For a pair it is the smaller cf of its tokens,
//!   because counting pairs in the collection would read every position.
//! * ε = 10⁻¹⁰⁰ replaces a probability of 0.
//!
//! Scores are negative and comparable only within a query. The score of a query of one word is T.
//!
//! Scoring requires positions. Therefore only the best [`Fsdm::candidates`] documents of BM25 with uniform field
//! weights are scored.

use super::{
    Bm25, Explanation, FieldWeights, LengthMode, Mixture, RetrievalPlan, ScoreParts, SparseModel,
};
use crate::document::Field;
use crate::{
    AnalyzedQuery, CollectionStatistics, DocumentStatistics, StatisticsLevel, WINDOW_WIDTH,
};
use std::array;

/// FSDM model. See the module documentation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fsdm {
    /// Weight of single tokens. Default: 0.8.
    pub lambda_terms: f64,
    /// Weight of ordered pairs. Default: 0.1.
    pub lambda_ordered: f64,
    /// Weight of unordered pairs in a window. Default: 0.1.
    pub lambda_unordered: f64,
    /// Field weights.
    pub weights: FieldWeights,
    /// Length mode.
    pub lengths: LengthMode,
    /// Model that selects the candidates. Default: BM25 with uniform weights.
    pub candidate_model: Bm25,
    /// Number of candidates that are scored. Default: 100.
    pub candidates: usize,
}

impl Default for Fsdm {
    /// Returns λ = 0.8, 0.1, 0.1, weights and 100 candidates as in ACORDAR, and BM25 with uniform weights for
    /// candidates.
    fn default() -> Self {
        Self {
            lambda_terms: 0.8,
            lambda_ordered: 0.1,
            lambda_unordered: 0.1,
            weights: FieldWeights::ACORDAR_FSDM,
            lengths: LengthMode::Exact,
            candidate_model: Bm25 {
                weights: FieldWeights::UNIFORM,
                ..Bm25::default()
            },
            candidates: 100,
        }
    }
}

/// Feature of the query: a token, or a pair of adjacent tokens.
struct Feature {
    coefficient: f64,
    name: String,
    /// Occurrences in the document and in the collection, by field.
    counts: [(u32, u64); 8],
}

impl Fsdm {
    fn features(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Vec<Feature> {
        let terms = &collection.terms;
        let mut features: Vec<Feature> = query
            .sequence
            .iter()
            .map(|&term| Feature {
                coefficient: self.lambda_terms,
                name: query.distinct[term].quote(),
                counts: array::from_fn(|field| {
                    (
                        document.frequencies[term][field],
                        terms[term][field].occurrences,
                    )
                }),
            })
            .collect();
        for (ordered, coefficient) in [(true, self.lambda_ordered), (false, self.lambda_unordered)]
        {
            for ((first, second), pair) in query.pairs().zip(&document.pairs) {
                let how = if ordered {
                    "in order".to_owned()
                } else {
                    format!("within {WINDOW_WIDTH} tokens")
                };
                features.push(Feature {
                    coefficient,
                    name: format!(
                        "“{} {}” {how}",
                        query.distinct[first].text, query.distinct[second].text
                    ),
                    counts: array::from_fn(|field| {
                        let here = if ordered {
                            pair[field].ordered
                        } else {
                            pair[field].unordered
                        };
                        let there = terms[first][field]
                            .occurrences
                            .min(terms[second][field].occurrences);
                        (here, there)
                    }),
                });
            }
        }
        features
    }

    /// Returns the smoothed probability of a feature in each field.
    fn mixture(
        &self,
        feature: &Feature,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Mixture {
        let probabilities = array::from_fn(|field| {
            let statistics = &collection.fields[field];
            // Without tokens there is no average length.
            if statistics.tokens == 0 {
                return 0.0;
            }
            let (here, there) = feature.counts[field];
            let mu = statistics.average_length();
            let length = f64::from(self.lengths.apply(document.lengths[field]));
            (f64::from(here) + mu * there as f64 / statistics.tokens as f64) / (length + mu)
        });
        Mixture {
            coefficient: feature.coefficient,
            probabilities,
        }
    }

    fn explain_feature(
        &self,
        feature: &Feature,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Explanation {
        let weights = self.weights.normalize();
        let mixture = self.mixture(feature, document, collection);
        let possible = weights
            .fields()
            .filter(|field| mixture.probabilities[field.index()] > 0.0);
        let fields = possible.map(|field| {
            let (here, there) = feature.counts[field.index()];
            let weight = weights.weight(field);
            let length = document.lengths[field.index()];
            let counted =
                format!("{here} times among {length} tokens here, {there} times in all datasets");
            Explanation::leaf(
                weight * mixture.probabilities[field.index()],
                format!("{field}: {counted}, smoothed; times the weight {weight:.3}"),
            )
        });
        Explanation {
            value: mixture.score(&weights),
            description: format!("{}: {} · ln of the sum", feature.name, feature.coefficient),
            details: fields.collect(),
        }
    }
}

impl SparseModel for Fsdm {
    fn name(&self) -> &'static str {
        "fsdm"
    }

    fn weights(&self) -> &FieldWeights {
        &self.weights
    }

    fn with_weights(&self, weights: FieldWeights) -> Box<dyn SparseModel> {
        Box::new(Self { weights, ..*self })
    }

    fn restricted_to(&self, passes: &dyn Fn(Field) -> bool) -> Box<dyn SparseModel> {
        let candidate_model = Bm25 {
            weights: self.candidate_model.weights.restricted_to(passes),
            ..self.candidate_model
        };
        Box::new(Self {
            weights: self.weights.restricted_to(passes),
            candidate_model,
            ..*self
        })
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("lambda_terms", self.lambda_terms),
            ("lambda_ordered", self.lambda_ordered),
            ("lambda_unordered", self.lambda_unordered),
            ("window", f64::from(WINDOW_WIDTH)),
            ("candidates", self.candidates as f64),
        ]
    }

    fn candidate_model(&self) -> Option<&dyn SparseModel> {
        Some(&self.candidate_model)
    }

    fn statistics_level(&self) -> StatisticsLevel {
        StatisticsLevel::Pairs
    }

    fn fields(&self) -> Vec<Field> {
        Field::ALL
            .into_iter()
            .filter(|field| {
                self.weights.weight(*field) > 0.0
                    || self.candidate_model.weights.weight(*field) > 0.0
            })
            .collect()
    }

    fn plan<'m>(
        &'m self,
        query: &AnalyzedQuery,
        collection: &CollectionStatistics,
    ) -> RetrievalPlan<'m> {
        RetrievalPlan {
            rescore_depth: Some(self.candidates),
            ..self.candidate_model.plan(query, collection)
        }
    }

    fn parts(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> ScoreParts {
        let features = self.features(query, document, collection);
        ScoreParts::LogMixtures(
            features
                .iter()
                .map(|feature| self.mixture(feature, document, collection))
                .collect(),
        )
    }

    fn score(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> f64 {
        self.parts(query, document, collection).score(&self.weights)
    }

    fn explain(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Explanation {
        let features = self.features(query, document, collection);
        let explained = features
            .iter()
            .map(|feature| self.explain_feature(feature, document, collection));
        Explanation {
            value: self.score(query, document, collection),
            description: "fielded sequential dependence model".to_owned(),
            details: explained.collect(),
        }
    }
}
