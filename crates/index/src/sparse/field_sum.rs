//! Models that are a weighted sum over terms and fields.
//!
//! ```text
//! score = Σ over the distinct terms of the query, Σ over fields:  (occurrences in the query · weight of the field) · S(tf, length)
//! ```
//!
//! TF-IDF, BM25 and LMD differ only in S. Terms and fields are summed in a fixed order, here and in
//! [`Snapshot::top_docs`](crate::Snapshot::top_docs), so that scores are bit-identical.

use super::{Explanation, FieldWeights, LengthMode, RetrievalPlan, ScoreParts, SparseModel};
use crate::document::Field;
use crate::{
    AnalyzedQuery, Clause, CollectionStatistics, DocumentStatistics, FieldStatistics,
    StatisticsLevel, TermScorer, TermStatistics,
};

/// Formula S for one term in one field.
pub(super) trait FieldSum: Clone + Send + Sync + 'static {
    /// Name, as in run tags.
    const NAME: &'static str;
    /// Title in explanations.
    const TITLE: &'static str;
    /// Level of statistics that the formula requires.
    const STATISTICS_LEVEL: StatisticsLevel;
    /// S, with the statistics precomputed.
    type Scorer: TermScorer;

    fn weights(&self) -> &FieldWeights;
    fn weights_mut(&mut self) -> &mut FieldWeights;
    fn parameters(&self) -> Vec<(&'static str, f64)>;
    fn scorer(&self, field: &FieldStatistics, term: &TermStatistics) -> Self::Scorer;

    /// Explains the factors of S.
    fn factors(&self, scorer: &Self::Scorer, numbers: &TermInputs) -> Vec<Explanation>;
}

/// Statistics of one term in one field of one document.
pub(super) struct TermInputs {
    pub(super) frequency: u32,
    pub(super) length: u32,
    pub(super) field: FieldStatistics,
    pub(super) term: TermStatistics,
}

impl TermInputs {
    /// Returns `None` if the field does not contain the term.
    fn new(
        term: usize,
        field: Field,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Option<Self> {
        let frequency = document.frequencies[term][field.index()];
        (frequency > 0).then(|| Self {
            frequency,
            length: document.lengths[field.index()],
            field: collection.fields[field.index()],
            term: collection.terms[term][field.index()],
        })
    }
}

/// Returns every (term, field, factor) in the fixed order of summation.
fn weighted_terms(
    weights: FieldWeights,
    query: &AnalyzedQuery,
) -> impl Iterator<Item = (usize, Field, f64)> + use<> {
    query
        .multiplicities()
        .into_iter()
        .enumerate()
        .flat_map(move |(term, multiplicity)| {
            let fields = Field::ALL
                .into_iter()
                .filter(move |&field| weights.weight(field) > 0.0);
            fields.map(move |field| (term, field, multiplicity as f64 * weights.weight(field)))
        })
}

impl<M: FieldSum> SparseModel for M {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn weights(&self) -> &FieldWeights {
        FieldSum::weights(self)
    }

    fn with_weights(&self, weights: FieldWeights) -> Box<dyn SparseModel> {
        let mut model = self.clone();
        *model.weights_mut() = weights;
        Box::new(model)
    }

    fn restricted_to(&self, passes: &dyn Fn(Field) -> bool) -> Box<dyn SparseModel> {
        SparseModel::with_weights(self, FieldSum::weights(self).restricted_to(passes))
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        FieldSum::parameters(self)
    }

    fn statistics_level(&self) -> StatisticsLevel {
        M::STATISTICS_LEVEL
    }

    fn fields(&self) -> Vec<Field> {
        FieldSum::weights(self).fields().collect()
    }

    fn plan<'m>(
        &'m self,
        query: &AnalyzedQuery,
        collection: &CollectionStatistics,
    ) -> RetrievalPlan<'m> {
        let clauses =
            weighted_terms(*FieldSum::weights(self), query).filter_map(|(term, field, factor)| {
                let statistics = &collection.terms[term][field.index()];
                (statistics.documents > 0).then(|| Clause {
                    term,
                    field,
                    factor,
                    scorer: Box::new(self.scorer(&collection.fields[field.index()], statistics)),
                })
            });
        RetrievalPlan {
            clauses: clauses.collect(),
            rescore_depth: None,
        }
    }

    fn parts(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> ScoreParts {
        let mut sums = [0.0; 8];
        for (term, field, multiplicity) in weighted_terms(FieldWeights::UNIFORM, query) {
            if let Some(numbers) = TermInputs::new(term, field, document, collection) {
                let scorer = self.scorer(&numbers.field, &numbers.term);
                sums[field.index()] +=
                    multiplicity * scorer.score(numbers.frequency, numbers.length);
            }
        }
        ScoreParts::Sum(sums)
    }

    fn score(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> f64 {
        let mut score = 0.0;
        for (term, field, factor) in weighted_terms(*FieldSum::weights(self), query) {
            if let Some(numbers) = TermInputs::new(term, field, document, collection) {
                let scorer = self.scorer(&numbers.field, &numbers.term);
                score += factor * scorer.score(numbers.frequency, numbers.length);
            }
        }
        score
    }

    fn explain(
        &self,
        query: &AnalyzedQuery,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
    ) -> Explanation {
        let mut terms: Vec<(usize, Vec<Explanation>)> = Vec::new();
        for (term, field, factor) in weighted_terms(*FieldSum::weights(self), query) {
            let Some(numbers) = TermInputs::new(term, field, document, collection) else {
                continue;
            };
            let explained = explain_pair(self, factor, field, &query.distinct[term].text, &numbers);
            match terms.last_mut() {
                Some((last, fields)) if *last == term => fields.push(explained),
                _ => terms.push((term, vec![explained])),
            }
        }
        Explanation {
            value: self.score(query, document, collection),
            description: M::TITLE.to_owned(),
            details: terms
                .into_iter()
                .map(|(term, fields)| Explanation::sum(query.distinct[term].quote(), fields))
                .collect(),
        }
    }
}

fn explain_pair<M: FieldSum>(
    model: &M,
    factor: f64,
    field: Field,
    term: &str,
    numbers: &TermInputs,
) -> Explanation {
    let scorer = model.scorer(&numbers.field, &numbers.term);
    let weight = FieldSum::weights(model).weight(field);
    let mut details = vec![Explanation::leaf(
        weight,
        format!("weight of the field {field}"),
    )];
    if factor != weight {
        details.push(Explanation::leaf(
            factor / weight,
            "occurrences in the query",
        ));
    }
    details.extend(model.factors(&scorer, numbers));
    Explanation {
        value: factor * scorer.score(numbers.frequency, numbers.length),
        description: format!("{field}: {term}"),
        details,
    }
}

/// Describes the length as used by the formula.
pub(super) fn describe_length(mode: LengthMode, tokens: u32) -> String {
    match mode.apply(tokens) {
        same if same == tokens => format!("{tokens} tokens"),
        seen => format!("{tokens} tokens, rounded to {seen}"),
    }
}
