//! Inverted lists of learned sparse vectors, for retrieval.
//!
//! The lists of all datasets are held in memory: eight bytes for each term of a text, with SPLADE models about three kilobytes a
//! dataset. They are read from the stored vectors after each commit of these.

use super::vector_matrix::{ScoredPlace, VectorSource};
use lodeseek_catalog::DatasetId;
use lodeseek_rerank::{Query, term_weights};
use rustc_hash::FxHashMap;

/// The lists of a commit.
pub(super) struct TermIndex {
    /// The generation of the vectors.
    pub(super) generation: u64,
    /// For each dataset of the commit: if true, it has terms of its metadata, and of its data.
    has_terms: Vec<[bool; 2]>,
    /// For each term: the places of datasets with its weight in their metadata, and in their data.
    lists: FxHashMap<u32, [Vec<(u32, f32)>; 2]>,
}

impl TermIndex {
    /// Reads the vectors of all datasets.
    pub(super) fn new(source: &VectorSource<'_, impl Fn(&DatasetId)>) -> Self {
        let mut index = Self {
            generation: source.vectors.generation(),
            has_terms: Vec::new(),
            lists: FxHashMap::default(),
        };
        for place in source.places() {
            let texts = match source.get(place) {
                Some(stored) => [&stored.metadata, &stored.data].map(term_weights::stored_terms),
                None => Default::default(),
            };
            index
                .has_terms
                .push(texts.each_ref().map(|terms| !terms.is_empty()));
            for (text, terms) in texts.into_iter().enumerate() {
                for (term, weight) in terms {
                    index.lists.entry(term).or_default()[text].push((place, weight));
                }
            }
        }
        index
    }

    /// Returns the combined scores of the datasets that have a term of a query, in no order.
    pub(super) fn scores(
        &self,
        query: &Query,
        combine: impl Fn([Option<f64>; 2]) -> Option<f64>,
    ) -> impl Iterator<Item = ScoredPlace> {
        let mut sums: FxHashMap<u32, [f64; 2]> = FxHashMap::default();
        for (term, weight) in term_weights::query_terms(query) {
            for (text, list) in self.lists.get(&term).into_iter().flatten().enumerate() {
                for (place, stored) in list {
                    sums.entry(*place).or_default()[text] += f64::from(weight) * f64::from(*stored);
                }
            }
        }
        sums.into_iter()
            .filter_map(move |(place, [metadata, data])| {
                let [has_metadata, has_data] = self.has_terms[place as usize];
                let score = combine([has_metadata.then_some(metadata), has_data.then_some(data)])?;
                Some(ScoredPlace { score, place })
            })
    }
}
