//! The fields in which a dataset matches a query.

use super::FieldMatch;
use crate::EngineError;
use lodeseek_catalog::DatasetId;
use lodeseek_index::sparse::SparseModel;
use lodeseek_index::{AnalyzedQuery, CollectionStatistics, DocumentStatistics, Snapshot};

/// Returns the fields that contain a term of the query, in descending order of their share of the score.
pub(super) fn matched_fields(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    document: &DocumentStatistics,
    collection: &CollectionStatistics,
) -> Vec<FieldMatch> {
    let shares = model
        .parts(query, document, collection)
        .shares(model.weights());
    let mut matched = Vec::new();
    for field in model.weights().fields() {
        let mut terms = Vec::new();
        for (term, frequencies) in query.distinct.iter().zip(&document.frequencies) {
            if frequencies[field.index()] > 0 {
                terms.push(term.text.clone());
            }
        }
        if !terms.is_empty() {
            matched.push(FieldMatch {
                field,
                score: shares[field.index()],
                terms,
            });
        }
    }
    matched.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.field.cmp(&b.field))
    });
    matched
}

/// Returns the matched fields of each of some datasets; none for a dataset that is not in the index.
pub(crate) fn matched_fields_of(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    snapshot: &Snapshot,
    ids: &[DatasetId],
) -> Result<Vec<Vec<FieldMatch>>, EngineError> {
    let (fields, level) = (model.fields(), model.statistics_level());
    let collection = snapshot.collection_statistics(query, &fields, level)?;
    let mut all = Vec::with_capacity(ids.len());
    for id in ids {
        let mut matched = Vec::new();
        if let Some(address) = snapshot.address(id)? {
            for document in snapshot.document_statistics(query, &fields, &[address], level)? {
                matched = matched_fields(model, query, &document, &collection);
            }
        }
        all.push(matched);
    }
    Ok(all)
}
