//! Models that are a weighted sum over terms and fields.
//!
//! ```text
//! score = Σ over the distinct terms of the query, Σ over fields:  (times said · weight of the field) · S(tf, length)
//! ```
//!
//! TF-IDF, BM25 and LMD differ in S alone. Terms and fields are summed in one fixed order, the same here and in
//! [`Snapshot::best`](crate::Snapshot::best): scores agree to the last bit.

use super::{Explanation, FieldWeights, LengthMode, Parts, Plan, SparseModel};
use crate::document::Field;
use crate::{
    AnalyzedQuery, Clause, CollectionStatistics, DocumentStatistics, FieldStatistics, Impact, TermStatistics, Wanted,
};

/// A formula S for one term in one field.
pub(super) trait FieldSum: Clone + Send + Sync + 'static {
    /// The name, as in run tags.
    const NAME: &'static str;
    /// What people call it.
    const TITLE: &'static str;
    /// What the formula has to know.
    const WANTED: Wanted;
    /// S, with the statistics worked in.
    type Impact: Impact;

    fn weights(&self) -> &FieldWeights;
    fn weights_mut(&mut self) -> &mut FieldWeights;
    fn parameters(&self) -> Vec<(&'static str, f64)>;
    fn impact(&self, field: &FieldStatistics, term: &TermStatistics) -> Self::Impact;

    /// The factors of S, explained.
    fn factors(&self, impact: &Self::Impact, numbers: &Numbers) -> Vec<Explanation>;
}

/// The numbers of one term in one field of one document.
pub(super) struct Numbers {
    pub(super) frequency: u32,
    pub(super) length: u32,
    pub(super) field: FieldStatistics,
    pub(super) term: TermStatistics,
}

impl Numbers {
    /// `None` where the term is not in the field.
    fn of(term: usize, field: Field, document: &DocumentStatistics, collection: &CollectionStatistics) -> Option<Self> {
        let frequency = document.frequencies[term][field.index()];
        (frequency > 0).then(|| Self {
            frequency,
            length: document.lengths[field.index()],
            field: collection.fields[field.index()],
            term: collection.terms[term][field.index()],
        })
    }
}

/// Every (term, field) with its factor, in the one order of summation.
fn pairs(weights: FieldWeights, query: &AnalyzedQuery) -> impl Iterator<Item = (usize, Field, f64)> + use<> {
    let of_term = move |(term, said): (usize, usize)| {
        let fields = Field::ALL.into_iter().filter(move |&field| weights.of(field) > 0.0);
        fields.map(move |field| (term, field, said as f64 * weights.of(field)))
    };
    query.multiplicities().into_iter().enumerate().flat_map(of_term)
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

    fn only(&self, passes: &dyn Fn(Field) -> bool) -> Box<dyn SparseModel> {
        SparseModel::with_weights(self, FieldSum::weights(self).only(passes))
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        FieldSum::parameters(self)
    }

    fn wanted(&self) -> Wanted {
        M::WANTED
    }

    fn fields(&self) -> Vec<Field> {
        FieldSum::weights(self).fields().collect()
    }

    fn plan<'m>(&'m self, query: &AnalyzedQuery, collection: &CollectionStatistics) -> Plan<'m> {
        let clauses = pairs(*FieldSum::weights(self), query).filter_map(|(term, field, factor)| {
            let statistics = &collection.terms[term][field.index()];
            let impact = || self.impact(&collection.fields[field.index()], statistics);
            (statistics.documents > 0).then(|| Clause { term, field, factor, impact: Box::new(impact()) })
        });
        Plan { clauses: clauses.collect(), rescored: None }
    }

    fn parts(&self, query: &AnalyzedQuery, document: &DocumentStatistics, collection: &CollectionStatistics) -> Parts {
        let mut sums = [0.0; 8];
        for (term, field, said) in pairs(FieldWeights::UNIFORM, query) {
            if let Some(numbers) = Numbers::of(term, field, document, collection) {
                let impact = self.impact(&numbers.field, &numbers.term);
                sums[field.index()] += said * impact.of(numbers.frequency, numbers.length);
            }
        }
        Parts::Sum(sums)
    }

    fn score(&self, query: &AnalyzedQuery, document: &DocumentStatistics, collection: &CollectionStatistics) -> f64 {
        let mut score = 0.0;
        for (term, field, factor) in pairs(*FieldSum::weights(self), query) {
            if let Some(numbers) = Numbers::of(term, field, document, collection) {
                let impact = self.impact(&numbers.field, &numbers.term);
                score += factor * impact.of(numbers.frequency, numbers.length);
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
        for (term, field, factor) in pairs(*FieldSum::weights(self), query) {
            let Some(numbers) = Numbers::of(term, field, document, collection) else { continue };
            let explained = explain_pair(self, factor, field, &query.distinct[term].text, &numbers);
            match terms.last_mut() {
                Some((last, fields)) if *last == term => fields.push(explained),
                _ => terms.push((term, vec![explained])),
            }
        }
        let explained =
            |(term, fields): (usize, Vec<Explanation>)| Explanation::sum(query.distinct[term].quoted(), fields);
        Explanation {
            value: self.score(query, document, collection),
            description: M::TITLE.to_owned(),
            details: terms.into_iter().map(explained).collect(),
        }
    }
}

fn explain_pair<M: FieldSum>(model: &M, factor: f64, field: Field, term: &str, numbers: &Numbers) -> Explanation {
    let impact = model.impact(&numbers.field, &numbers.term);
    let weight = FieldSum::weights(model).of(field);
    let mut details = vec![Explanation::leaf(weight, format!("weight of the field {field}"))];
    if factor != weight {
        details.push(Explanation::leaf(factor / weight, "times the query says it"));
    }
    details.extend(model.factors(&impact, numbers));
    Explanation {
        value: factor * impact.of(numbers.frequency, numbers.length),
        description: format!("{field}: {term}"),
        details,
    }
}

/// The length as the formula sees it, in words.
pub(super) fn in_words(mode: LengthMode, tokens: u32) -> String {
    match mode.of(tokens) {
        same if same == tokens => format!("{tokens} tokens"),
        seen => format!("{tokens} tokens, taken as {seen}"),
    }
}
