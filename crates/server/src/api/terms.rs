//! `GET /api/terms`: prefixes, classes and properties of the collection, for completion in editors of SPARQL queries.

use crate::AppState;
use crate::cache::GenerationCache;
use crate::error::ApiError;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use lodeseek_rdf::vocab::PREFIXES;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Maximum number of classes, and of properties.
const MAX_TERMS: usize = 2_000;

/// Cache of the response. Its generation changes with the index.
pub(super) type CachedTerms = GenerationCache<u64, String>;

/// A class or property.
#[derive(Serialize, ToSchema)]
pub(super) struct Term {
    /// Its IRI.
    iri: String,
    /// Number of datasets with it.
    datasets: u64,
}

/// Terms for queries.
#[derive(Serialize, ToSchema)]
pub(super) struct Terms {
    /// Namespaces by prefix.
    prefixes: BTreeMap<&'static str, &'static str>,
    /// Classes, those of the most datasets first.
    classes: Vec<Term>,
    /// Properties, those of the most datasets first.
    properties: Vec<Term>,
}

/// Counts of datasets by IRI.
#[derive(Default)]
struct DatasetCounts(FxHashMap<String, u64>);

impl DatasetCounts {
    fn add(&mut self, terms: Vec<(String, u64)>) {
        for (iri, _) in terms {
            *self.0.entry(iri).or_default() += 1;
        }
    }

    /// Returns the most frequent terms, those of equal frequency by IRI.
    fn most_frequent(self) -> Vec<Term> {
        let mut terms: Vec<Term> = self
            .0
            .into_iter()
            .map(|(iri, datasets)| Term { iri, datasets })
            .collect();
        terms.sort_by(|a, b| b.datasets.cmp(&a.datasets).then_with(|| a.iri.cmp(&b.iri)));
        terms.truncate(MAX_TERMS);
        terms
    }
}

fn read_terms(state: &AppState) -> Result<Terms, ApiError> {
    let catalog = state.searcher.catalog();
    let (mut classes, mut properties) = (DatasetCounts::default(), DatasetCounts::default());
    for id in catalog.ids()? {
        if let Some(card) = catalog.card(&id)? {
            classes.add(card.profile.classes);
            properties.add(card.profile.properties);
        }
    }
    let (classes, properties) = (classes.most_frequent(), properties.most_frequent());
    Ok(Terms {
        prefixes: PREFIXES.iter().copied().collect(),
        classes,
        properties,
    })
}

#[utoipa::path(get, path = "/api/terms", tag = "SPARQL", summary = "Prefixes, classes and properties for queries",
    responses((status = 200, description = "Well-known prefixes, and the classes and properties of the most datasets, at most \
        2,000 of each.", body = inline(Terms))))]
pub(super) async fn terms(State(state): State<AppState>) -> Result<Response, ApiError> {
    let terms = state.work(|state| {
        let generation = state.searcher.catalog().generation()?;
        state.api.terms.get_or_compute(generation, || {
            serde_json::to_string(&read_terms(state)?).map_err(|error| ApiError::internal(&error))
        })
    });
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "max-age=300"),
    ];
    Ok((headers, terms.await?.as_str().to_owned()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_many_datasets_come_first() {
        let mut counts = DatasetCounts::default();
        counts.add(vec![("b".to_owned(), 9), ("a".to_owned(), 1)]);
        counts.add(vec![("c".to_owned(), 1), ("a".to_owned(), 1)]);
        let terms: Vec<(String, u64)> = counts
            .most_frequent()
            .into_iter()
            .map(|one| (one.iri, one.datasets))
            .collect();
        assert_eq!(
            terms,
            [
                ("a".to_owned(), 2),
                ("b".to_owned(), 1),
                ("c".to_owned(), 1)
            ]
        );
    }
}
