//! Good and weak matches.
//!
//! Any dataset with a word of the query is found, so that most of a long result is noise. A logistic model of four
//! features estimates the probability that a found dataset is relevant; a match is *good* if it is at least
//! [`MatchFeatures::MIN_PROBABILITY`]. `lodeseek-lab reproduce matches` derives the weights from judged topics and measures them by folds.

use crate::dense::DenseMatch;
use lodeseek_index::DocumentStatistics;
use lodeseek_index::document::Field;
use lodeseek_rerank::Granularity;
use serde::Serialize;

/// Intercept and weights of [`MatchFeatures::values`], of rankings with vectors.
const WITH_SIMILARITY: [f64; MatchFeatures::LEN + 1] = [-7.9, 3.5, 0.5, 5.8, 4.1];
/// Intercept and weights of [`MatchFeatures::values`], of rankings by words alone: the similarity is 0.
const BY_WORDS: [f64; MatchFeatures::LEN + 1] = [-7.5, 4.6, 2.5, 4.9, 0.0];

/// Fields of the description of a dataset.
const METADATA: [Field; 4] = [Field::Title, Field::Description, Field::Author, Field::Tags];

/// Quality of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchQuality {
    /// Likely relevant.
    Good,
    /// Found, but rarely relevant.
    #[default]
    Weak,
}

impl MatchQuality {
    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Weak => "weak",
        }
    }
}

/// Features of a found dataset, from 0 to 1 but for the similarity.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MatchFeatures {
    /// Share of the query's words that the dataset contains, weighted by their inverse document frequency.
    pub words: f64,
    /// The same share of its metadata alone.
    pub metadata_words: f64,
    /// The place of its score between the lowest and the highest one of the candidates.
    pub score: f64,
    /// Its highest similarity by an encoder with one vector for each text other than the multilingual one, 0 if it has no vectors. `None`: the ranking is by words alone.
    pub similarity: Option<f64>,
    /// If true, it contains no word of the query, and its similarity by every encoder is below the minimum: it is one of the nearest
    /// datasets, and no match however high its place.
    pub is_closest: bool,
}

/// Returns the share of a part in a whole; 0 if the whole is 0.
fn share_of(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl MatchFeatures {
    /// Number of features.
    pub const LEN: usize = 4;
    /// Minimum probability of a good match. On the judged topics, lower values find few more relevant datasets among many others.
    pub const MIN_PROBABILITY: f64 = 0.3;

    /// Returns the features of a document. `weights` are those of the query's words.
    pub(super) fn new(
        document: &DocumentStatistics,
        weights: &[f64],
        score: f64,
        dense: &[DenseMatch],
    ) -> Self {
        let (mut words, mut metadata_words) = (0.0, 0.0);
        for (frequencies, weight) in document.frequencies.iter().zip(weights) {
            if frequencies.iter().any(|count| *count > 0) {
                words += weight;
            }
            if METADATA.iter().any(|field| frequencies[field.index()] > 0) {
                metadata_words += weight;
            }
        }
        let all: f64 = weights.iter().sum();
        let is_distant = !dense.is_empty() && dense.iter().all(|one| one.closest);
        Self {
            words: share_of(words, all),
            metadata_words: share_of(metadata_words, all),
            score,
            similarity: dense
                .iter()
                .filter(|one| one.granularity == Granularity::Text && !one.is_multilingual)
                .map(|one| one.score)
                .reduce(f64::max),
            is_closest: words == 0.0 && is_distant,
        }
    }

    /// Returns the features as the model reads them. The similarity of a ranking by words alone is 0.
    #[must_use]
    pub fn values(&self) -> [f64; Self::LEN] {
        [
            self.words,
            self.metadata_words,
            self.score,
            self.similarity.unwrap_or(0.0),
        ]
    }

    /// Returns the probability that the dataset is relevant.
    #[must_use]
    pub fn probability(&self) -> f64 {
        let [intercept, weights @ ..] = match self.similarity {
            Some(_) => WITH_SIMILARITY,
            None => BY_WORDS,
        };
        let mut sum = intercept;
        for (value, weight) in self.values().iter().zip(weights) {
            sum += value * weight;
        }
        1.0 / (1.0 + (-sum).exp())
    }

    /// Returns the quality that these features alone show.
    #[must_use]
    pub fn quality(&self) -> MatchQuality {
        if !self.is_closest && self.probability() >= Self::MIN_PROBABILITY {
            MatchQuality::Good
        } else {
            MatchQuality::Weak
        }
    }
}

/// Lowest and highest score of the candidates of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreRange {
    lowest: f64,
    highest: f64,
}

impl ScoreRange {
    pub(super) fn new(scores: impl Iterator<Item = f64>) -> Self {
        let mut range = Self {
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
        };
        for score in scores {
            range.lowest = range.lowest.min(score);
            range.highest = range.highest.max(score);
        }
        range
    }

    /// Returns the place of a score in the range, from 0 to 1. The only score, and any higher one, is at 1.
    pub(super) fn place(self, score: f64) -> f64 {
        if score >= self.highest {
            return 1.0;
        }
        ((score - self.lowest) / (self.highest - self.lowest)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(words: f64, score: f64, similarity: Option<f64>) -> MatchFeatures {
        MatchFeatures {
            words,
            metadata_words: words,
            score,
            similarity,
            is_closest: false,
        }
    }

    #[test]
    fn the_nearest_dataset_below_the_minimum_similarity_is_weak() {
        let near = features(0.0, 1.0, Some(0.5));
        assert_eq!(near.quality(), MatchQuality::Good);
        let closest = MatchFeatures {
            is_closest: true,
            ..near
        };
        assert_eq!(closest.quality(), MatchQuality::Weak);
    }

    #[test]
    fn all_words_and_a_high_score_are_good_and_half_of_the_words_are_weak() {
        for similarity in [Some(0.5), None] {
            assert_eq!(features(1.0, 0.9, similarity).quality(), MatchQuality::Good);
            assert_eq!(features(0.5, 0.3, similarity).quality(), MatchQuality::Weak);
        }
        // The first hit of a query whose words hardly occur.
        assert_eq!(features(0.1, 1.0, Some(0.05)).quality(), MatchQuality::Weak);
    }

    #[test]
    fn scores_have_a_place_between_the_lowest_and_the_highest() {
        let range = ScoreRange::new([3.0, 1.0, 2.0].into_iter());
        assert_eq!(
            [1.0, 2.0, 3.0, 9.0].map(|score| range.place(score)),
            [0.0, 0.5, 1.0, 1.0]
        );
        assert_eq!(ScoreRange::new([2.0].into_iter()).place(2.0), 1.0);
    }
}
