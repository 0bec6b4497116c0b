//! A multilingual encoder beside the others: its ranking is fused with theirs, so that queries in any language find datasets.

use super::super::dense::{
    DenseMatch, DenseRetriever, EncodedQuery, MatchCondition, PartShare, ScoringOptions,
};
use super::super::scope::CandidateScope;
use super::EngineError;
use lodeseek_catalog::DatasetId;
use lodeseek_index::Snapshot;
use lodeseek_rerank::{Combination, Encoder};
use std::num::NonZeroUsize;
use std::path::Path;

/// Weight of the ranking by the multilingual encoder in the fusion, as a share of the sum of all other weights.
pub const MULTILINGUAL_WEIGHT: f64 = 0.3;
/// Weight that is added for a query of which no word is known: the other rankings then have nothing but chance.
const UNKNOWN_WORDS_WEIGHT: f64 = 2.0;

/// Returns the weight of the ranking as a share of the sum of all other weights. `unknown_words` is the share of the words that the
/// collection contains in no form and no translation.
pub(super) fn multilingual_weight(unknown_words: f64) -> f64 {
    // Squared: one unknown word among several is often a form or a function word, and means little.
    MULTILINGUAL_WEIGHT + UNKNOWN_WORDS_WEIGHT * unknown_words.powi(2)
}

/// A multilingual encoder and its vectors of a home's datasets.
pub(super) struct MultilingualRetriever {
    pub(super) dense: DenseRetriever,
    /// Minimum similarity of a match. `None`: its scores alone make no match.
    pub(super) min_similarity: Option<f64>,
}

impl MultilingualRetriever {
    /// Combination of the scores of metadata and data. With the higher one instead, fewer datasets of other languages are found.
    const COMBINATION: Combination = Combination::Mean;

    pub(super) fn open(
        home: &Path,
        encoder: Box<dyn Encoder>,
        min_similarity: Option<f64>,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            dense: DenseRetriever::open(home, encoder)?,
            min_similarity,
        })
    }

    /// Returns the nearest datasets of a scope, in no order.
    pub(super) fn nearest(
        &self,
        query: &EncodedQuery,
        depth: NonZeroUsize,
        scope: CandidateScope<'_>,
    ) -> Result<Vec<DatasetId>, EngineError> {
        self.dense
            .nearest(query, Self::COMBINATION, depth.get(), scope)
    }

    /// Returns the scores of datasets whose texts have not changed since they were encoded.
    pub(super) fn scores(
        &self,
        query: &EncodedQuery,
        current: &[DatasetId],
        threads: NonZeroUsize,
    ) -> Vec<(DatasetId, DenseMatch)> {
        let options = ScoringOptions {
            combination: Self::COMBINATION,
            condition: match self.min_similarity {
                Some(min_similarity) => MatchCondition::AtLeast(min_similarity),
                None => MatchCondition::Never,
            },
            threads,
        };
        let mut scores = Vec::with_capacity(current.len());
        for (id, mut matched) in self.dense.scores(query, current, &options) {
            matched.is_multilingual = true;
            scores.push((id, matched));
        }
        scores
    }

    /// Returns the parts of a dataset's texts that contribute most to its score.
    pub(super) fn explain(
        &self,
        query: &str,
        id: &DatasetId,
        matched: &DenseMatch,
        index: &Snapshot,
    ) -> Result<Vec<PartShare>, EngineError> {
        self.dense
            .explain(query, id, matched, Self::COMBINATION, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_leave_the_query_to_the_multilingual_encoder() {
        assert!((multilingual_weight(0.0) - MULTILINGUAL_WEIGHT).abs() < f64::EPSILON);
        let half = multilingual_weight(0.5);
        assert!(MULTILINGUAL_WEIGHT < half && half < multilingual_weight(1.0));
        assert!(multilingual_weight(1.0) > 1.0, "it outweighs all others");
    }
}
