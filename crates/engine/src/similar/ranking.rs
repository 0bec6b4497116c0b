//! The ranking of datasets by similarity.

use super::VectorLengthCache;
use super::feature_vectors::FeatureSimilarities;
use super::{
    ExampleGraph, MAX_POOL_DATASETS, MAX_QUERY_WORDS, MIN_SIMILARITY, SimilarDataset,
    SimilarDatasets, SimilarityBasis, SimilarityPart, WEIGHTS,
};
use crate::dense::DatasetVectors;
use crate::indexed_catalog::IndexedCatalog;
use crate::ranker::Ranker;
use crate::scope::CandidateScope;
use crate::search::matched_fields_of;
use crate::{DatasetReference, EngineError};
use lodeseek_catalog::{DatasetId, Metadata};
use lodeseek_index::{AnalyzedQuery, Feature, FeatureKind, Snapshot};
use lodeseek_ranking::{Ranking, Scored};
use rustc_hash::{FxHashMap, FxHashSet};

/// The dataset or example with which others are compared.
pub(crate) struct Target {
    features: Vec<Feature>,
    vectors: Option<DatasetVectors>,
    /// Words of title and keywords, used only if nothing else can be compared. Empty for an example.
    words: String,
    /// Datasets that are not returned: the target itself, its duplicates and its editions.
    pub(crate) excluded: FxHashSet<DatasetId>,
}

/// The similarities of a candidate, in the order of [`WEIGHTS`].
pub(crate) type Scores = [f64; 4];

/// The similarities of all datasets to a target.
pub(crate) struct Similarities {
    features: FeatureSimilarities,
    meaning: FxHashMap<DatasetId, f64>,
    words: FxHashMap<DatasetId, f64>,
}

impl Similarities {
    /// Returns the share of each similarity in the score: its weight over the sum of those that can be compared.
    fn shares(&self) -> Scores {
        let [vocabulary, links] = self.features.has_features;
        shares([
            vocabulary,
            links,
            !self.meaning.is_empty(),
            !self.words.is_empty(),
        ])
    }

    /// Returns the score: the weighted mean of the similarities that can be compared. `None` below [`MIN_SIMILARITY`].
    pub(crate) fn score(&self, scores: Scores) -> Option<f64> {
        let score = scores
            .iter()
            .zip(self.shares())
            .map(|(score, share)| score * share)
            .sum::<f64>();
        (score >= MIN_SIMILARITY).then_some(score)
    }
}

/// Compares the datasets of an index snapshot with targets.
pub(crate) struct Comparison<'s> {
    pub(crate) catalog: &'s IndexedCatalog,
    pub(crate) ranker: &'s Ranker,
    pub(crate) vector_lengths: &'s VectorLengthCache,
    pub(crate) snapshot: &'s Snapshot,
}

impl Comparison<'_> {
    /// Returns a dataset as a target. `None` if the index has no such dataset.
    pub(crate) fn dataset(&self, id: &DatasetId) -> Result<Option<Target>, EngineError> {
        let Some(features) = self.snapshot.features(id)? else {
            return Ok(None);
        };
        let Some(card) = self.catalog.card(id)? else {
            return Ok(None);
        };
        let groups = self.catalog.duplicate_groups()?;
        let excluded = groups
            .others(id)
            .chain(groups.editions(id))
            .chain([id])
            .cloned()
            .collect();
        let vectors = match self.ranker.text_encoder() {
            Some(dense) => dense.vectors_of(id, self.snapshot)?,
            None => None,
        };
        Ok(Some(Target {
            features,
            vectors,
            words: query_words(&card.metadata),
            excluded,
        }))
    }

    /// Returns an example graph as a target. With an encoder of texts, its texts are encoded.
    pub(crate) fn graph(&self, example: &ExampleGraph) -> Result<Target, EngineError> {
        let vectors = match (self.ranker.text_encoder(), &example.texts) {
            (Some(dense), Some(texts)) => Some(dense.encode_texts(texts)?),
            _ => None,
        };
        let features = example.features.clone();
        Ok(Target {
            features,
            vectors,
            words: String::new(),
            excluded: FxHashSet::default(),
        })
    }

    /// Returns the datasets most similar to a target, best first.
    pub(crate) fn rank(
        &self,
        target: &Target,
        depth: usize,
    ) -> Result<SimilarDatasets, EngineError> {
        let similarities = self.similarities(target)?;
        let candidates = self.scores(target, &similarities, self.pool(&similarities)?)?;
        let mut scored = Vec::with_capacity(candidates.len());
        for (id, scores) in &candidates {
            scored.extend(similarities.score(*scores).map(|score| Scored {
                id: id.clone(),
                score,
            }));
        }
        let ranking = Ranking::from_scores(scored);
        let groups = self.catalog.duplicate_groups()?;
        let mut is_first = groups.first_of_group();
        let mut similar = Vec::new();
        for scored in ranking
            .iter()
            .filter(|scored| is_first(&scored.id))
            .take(depth)
        {
            let Some(card) = self.catalog.card(&scored.id)? else {
                continue;
            };
            let parts = self.parts(target, &similarities, &scored.id, candidates[&scored.id])?;
            let triples = card.profile.triples;
            let dataset = DatasetReference::from_card(&card);
            similar.push(SimilarDataset {
                dataset,
                triples,
                score: scored.score,
                parts,
            });
        }
        Ok(SimilarDatasets {
            of: self.snapshot.len(),
            similar,
            tables: Vec::new(),
        })
    }

    /// Compares a target with all datasets.
    pub(crate) fn similarities(&self, target: &Target) -> Result<Similarities, EngineError> {
        let lengths = self.vector_lengths.get(self.snapshot)?;
        let features = FeatureSimilarities::new(&target.features, self.snapshot, &lengths)?;
        let meaning: FxHashMap<DatasetId, f64> = match (self.ranker.text_encoder(), &target.vectors)
        {
            (Some(dense), Some(vectors)) => dense.similarities(vectors)?.into_iter().collect(),
            _ => FxHashMap::default(),
        };
        let words = if !features.has_features[0] && meaning.is_empty() {
            self.word_similarities(&target.words)?
        } else {
            FxHashMap::default()
        };
        Ok(Similarities {
            features,
            meaning,
            words,
        })
    }

    /// Returns the scores of some datasets, without those that the target excludes.
    pub(crate) fn scores(
        &self,
        target: &Target,
        similarities: &Similarities,
        ids: FxHashSet<DatasetId>,
    ) -> Result<FxHashMap<DatasetId, Scores>, EngineError> {
        let ids: Vec<DatasetId> = ids.into_iter().collect();
        // Vectors of outdated texts are ignored.
        let current: FxHashSet<DatasetId> = match self.ranker.text_encoder() {
            Some(dense) if !similarities.meaning.is_empty() => {
                dense.current(&ids, self.snapshot)?.into_iter().collect()
            }
            _ => FxHashSet::default(),
        };
        let mut candidates = FxHashMap::default();
        for id in ids {
            if target.excluded.contains(&id) {
                continue;
            }
            // Vectors may remain of datasets that the index has no more.
            let Some(address) = self.snapshot.address(&id)? else {
                continue;
            };
            let [vocabulary, links] = similarities.features.scores[self.snapshot.place(address)];
            let meaning = match similarities.meaning.get(&id) {
                Some(similarity) if current.contains(&id) => *similarity,
                _ => 0.0,
            };
            let words = similarities.words.get(&id).copied().unwrap_or_default();
            candidates.insert(id, [vocabulary, links, meaning, words]);
        }
        Ok(candidates)
    }

    /// Returns the parts of a dataset's similarity, in descending order of their contribution.
    pub(crate) fn parts(
        &self,
        target: &Target,
        similarities: &Similarities,
        id: &DatasetId,
        scores: Scores,
    ) -> Result<Vec<SimilarityPart>, EngineError> {
        let features: FxHashSet<Feature> = self
            .snapshot
            .features(id)?
            .unwrap_or_default()
            .into_iter()
            .collect();
        let shared = FeatureComparison {
            target,
            similarities: &similarities.features,
            features,
        };
        let shares = similarities.shares();
        let mut parts = Vec::new();
        for place in 0..scores.len() {
            if scores[place] <= 0.0 {
                continue;
            }
            let basis = match place {
                0 => shared.vocabulary_basis(),
                1 => shared.link_basis(),
                2 => SimilarityBasis::Meaning {
                    model: self.text_encoder_name(),
                },
                _ => SimilarityBasis::Words {
                    words: self.common_words(&target.words, id)?,
                },
            };
            parts.push(SimilarityPart {
                score: scores[place],
                weight: shares[place],
                basis,
            });
        }
        parts.sort_by(|a, b| (b.score * b.weight).total_cmp(&(a.score * a.weight)));
        Ok(parts)
    }

    fn text_encoder_name(&self) -> String {
        match self.ranker.text_encoder() {
            Some(dense) => dense.encoder().name().to_owned(),
            None => String::new(),
        }
    }

    /// Returns the scores of datasets for some words, divided by the best score, which is that of the target itself.
    fn word_similarities(&self, words: &str) -> Result<FxHashMap<DatasetId, f64>, EngineError> {
        if words.is_empty() {
            return Ok(FxHashMap::default());
        }
        let ranking = self.ranker.rank_sparse(
            words,
            CandidateScope::all(self.snapshot),
            MAX_POOL_DATASETS,
        )?;
        // No division by zero if all scores are 0.
        let best = match ranking.iter().next() {
            Some(scored) => scored.score.max(f64::MIN_POSITIVE),
            None => 1.0,
        };
        Ok(ranking
            .iter()
            .map(|scored| (scored.id.clone(), (scored.score / best).clamp(0.0, 1.0)))
            .collect())
    }

    /// Returns the words that occur in a dataset, in alphabetical order.
    fn common_words(&self, words: &str, id: &DatasetId) -> Result<Vec<String>, EngineError> {
        let query = AnalyzedQuery::new(words, self.snapshot.analysis());
        let fields = matched_fields_of(
            self.ranker.model.as_ref(),
            &query,
            self.snapshot,
            std::slice::from_ref(id),
        )?;
        let mut common: Vec<String> = fields
            .into_iter()
            .flatten()
            .flat_map(|field| field.terms)
            .collect();
        common.sort();
        common.dedup();
        Ok(common)
    }

    /// Returns the best datasets by each similarity.
    pub(crate) fn pool(
        &self,
        similarities: &Similarities,
    ) -> Result<FxHashSet<DatasetId>, EngineError> {
        let mut pool = FxHashSet::default();
        for vector in 0..2 {
            let mut scored = Vec::new();
            for (place, scores) in similarities.features.scores.iter().enumerate() {
                if scores[vector] > 0.0 {
                    scored.push((scores[vector], place));
                }
            }
            for place in top_items(scored) {
                if let Some(address) = self.snapshot.at(place) {
                    pool.insert(self.snapshot.id(address)?);
                }
            }
        }
        for scores in [&similarities.meaning, &similarities.words] {
            let scored = scores.iter().map(|(id, score)| (*score, id)).collect();
            pool.extend(top_items(scored).into_iter().cloned());
        }
        Ok(pool)
    }
}

/// A target and the features of another dataset.
struct FeatureComparison<'c> {
    target: &'c Target,
    similarities: &'c FeatureSimilarities,
    /// The features of the other dataset.
    features: FxHashSet<Feature>,
}

impl FeatureComparison<'_> {
    fn vocabulary_basis(&self) -> SimilarityBasis {
        use FeatureKind::{Class, Property, Vocabulary};
        SimilarityBasis::Vocabulary {
            classes: self.shared_features(Class, Class),
            properties: self.shared_features(Property, Property),
            vocabularies: self.shared_features(Vocabulary, Vocabulary),
        }
    }

    fn link_basis(&self) -> SimilarityBasis {
        use FeatureKind::{Entity, Space, Target};
        SimilarityBasis::Links {
            to: self.shared_features(Target, Space),
            from: self.shared_features(Space, Target),
            targets: self.shared_features(Target, Target),
            entities: self.shared_features(Entity, Entity),
        }
    }

    /// Returns the features of kind `own` of the target whose IRI the other dataset has as a feature of kind `other`.
    fn shared_features(&self, own: FeatureKind, other: FeatureKind) -> super::SharedFeatures {
        let target = &self.target.features;
        let of_kind = target.iter().filter(|feature| feature.kind == own);
        let shared = of_kind.filter(|feature| {
            self.features.contains(&Feature {
                kind: other,
                iri: feature.iri.clone(),
            })
        });
        self.similarities.select_rarest(shared)
    }
}

/// Returns the share of each weight in the sum of the weights of the known similarities.
fn shares(is_known: [bool; 4]) -> Scores {
    let known = is_known.map(f64::from);
    let sum: f64 = WEIGHTS
        .iter()
        .zip(known)
        .map(|(weight, known)| weight * known)
        .sum();
    let mut shares = [0.0; 4];
    for ((share, weight), known) in shares.iter_mut().zip(WEIGHTS).zip(known) {
        *share = if sum > 0.0 { weight * known / sum } else { 0.0 };
    }
    shares
}

/// Returns the [`MAX_POOL_DATASETS`] best items, in no order. Ties are broken by the items' order.
fn top_items<T: Ord>(mut scored: Vec<(f64, T)>) -> Vec<T> {
    if scored.len() > MAX_POOL_DATASETS {
        scored.select_nth_unstable_by(MAX_POOL_DATASETS, |a, b| {
            b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1))
        });
        scored.truncate(MAX_POOL_DATASETS);
    }
    scored.into_iter().map(|(_, item)| item).collect()
}

/// Returns the distinct words of a title and keywords, at most [`MAX_QUERY_WORDS`].
fn query_words(metadata: &Metadata) -> String {
    let keywords = metadata
        .keywords
        .iter()
        .map(|keyword| keyword.value.as_str());
    let texts = [metadata.title()].into_iter().chain(keywords);
    let mut seen = FxHashSet::default();
    let mut words = Vec::new();
    for word in texts.flat_map(str::split_whitespace) {
        if words.len() < MAX_QUERY_WORDS && seen.insert(word.to_lowercase()) {
            words.push(word);
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_known_similarities_sum_to_one() {
        assert_eq!(shares([true, false, false, false]), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(
            shares([true, true, true, false]),
            [1.0 / 4.5, 0.5 / 4.5, 3.0 / 4.5, 0.0]
        );
        assert_eq!(shares([false; 4]), [0.0; 4]);
    }

    #[test]
    fn the_best_items_are_returned_in_any_input_order() {
        let mut best = top_items((0..500).map(|n| (f64::from(n % 500), n)).collect());
        best.sort_unstable();
        assert_eq!(best, (400..500).collect::<Vec<_>>());
    }
}
