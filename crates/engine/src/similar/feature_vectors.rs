//! Feature vectors of datasets and their cosine similarities, computed with inverted lists.

use super::{MAX_NAMED_FEATURES, SharedFeatures};
use lodeseek_index::{DocumentAddress, Feature, FeatureKind, IndexError, Snapshot};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The squared lengths of the feature vectors of all datasets, by place: of vocabulary and of links.
pub(in super::super) struct VectorLengths {
    generation: u64,
    squares: Vec<[f64; 2]>,
}

/// The vector lengths for the latest commit to the index.
#[derive(Default)]
pub(in super::super) struct VectorLengthCache(Mutex<Option<Arc<VectorLengths>>>);

impl VectorLengthCache {
    /// Returns the lengths for a snapshot. Concurrent callers wait until they are computed.
    pub(super) fn get(&self, snapshot: &Snapshot) -> Result<Arc<VectorLengths>, IndexError> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lengths) = &*cached
            && lengths.generation == snapshot.generation()
        {
            return Ok(Arc::clone(lengths));
        }
        let lengths = Arc::new(VectorLengths::new(snapshot)?);
        *cached = Some(Arc::clone(&lengths));
        Ok(lengths)
    }
}

impl VectorLengths {
    fn new(snapshot: &Snapshot) -> Result<Self, IndexError> {
        let mut squares = vec![[0.0; 2]; snapshot.addresses()];
        snapshot.each_feature(|kind, documents| {
            if let Some(vector) = vector_of(kind) {
                let weight = feature_weight(snapshot.len(), documents.len());
                for &address in documents {
                    squares[snapshot.place(address)][vector] += weight * weight;
                }
            }
        })?;
        Ok(Self {
            generation: snapshot.generation(),
            squares,
        })
    }
}

/// Returns the vector to which features of a kind belong: 0 for vocabulary, 1 for links.
fn vector_of(kind: FeatureKind) -> Option<usize> {
    match kind {
        FeatureKind::Class | FeatureKind::Property | FeatureKind::Vocabulary => Some(0),
        FeatureKind::Target | FeatureKind::Entity => Some(1),
        FeatureKind::Space => None,
    }
}

/// Weight of the additional feature of [`damped_cosine`], as a share of ln N. Chosen on the judgements of
/// `docs/src/benchmarks/similar-datasets.md`.
const DAMPING_WEIGHT: f64 = 0.5;

/// Returns the weight ln(N / n) of a feature that n of N datasets have. A feature of an example alone counts as if one
/// dataset had it.
pub(super) fn feature_weight(datasets: u64, with_feature: usize) -> f64 {
    (datasets.max(1) as f64 / with_feature.max(1) as f64)
        .ln()
        .max(0.0)
}

/// The similarities of all datasets to some features.
pub(super) struct FeatureSimilarities {
    /// By place: the similarities of vocabulary and of links.
    pub(super) scores: Vec<[f64; 2]>,
    /// If true, there are features of vocabulary, or of links, to compare.
    pub(super) has_features: [bool; 2],
    weights: FxHashMap<Feature, f64>,
}

impl FeatureSimilarities {
    pub(super) fn new(
        features: &[Feature],
        snapshot: &Snapshot,
        lengths: &VectorLengths,
    ) -> Result<Self, IndexError> {
        let mut products = vec![[0.0_f64; 2]; lengths.squares.len()];
        let mut link_rarity = vec![0.0_f64; lengths.squares.len()];
        let mut own_squares = [0.0; 2];
        let mut weights = FxHashMap::default();
        let mut has_linked = false;
        for feature in features {
            let with_feature = snapshot.with_feature(feature)?;
            let weight = feature_weight(snapshot.len(), with_feature.len());
            weights.insert(feature.clone(), weight);
            if let Some(vector) = vector_of(feature.kind) {
                own_squares[vector] += weight * weight;
                for &address in &with_feature {
                    // A weight depends on the feature alone, so it is the same in both vectors.
                    products[snapshot.place(address)][vector] += weight * weight;
                }
            }
            for (rarity, address) in linked_datasets(feature, weight, snapshot)? {
                let highest = &mut link_rarity[snapshot.place(address)];
                *highest = rarity.max(*highest);
                has_linked = true;
            }
        }
        let mut scores = products;
        for ((scores, squares), rarity) in scores.iter_mut().zip(&lengths.squares).zip(link_rarity)
        {
            for vector in 0..2 {
                scores[vector] = damped_cosine(
                    scores[vector],
                    squares[vector],
                    own_squares[vector],
                    snapshot.len(),
                );
            }
            scores[1] = scores[1].max(rarity);
        }
        let has_features = [own_squares[0] > 0.0, own_squares[1] > 0.0 || has_linked];
        Ok(Self {
            scores,
            has_features,
            weights,
        })
    }

    /// Returns the features that two datasets share, the rarest first. Features of at least half of all datasets are
    /// omitted, because they are no evidence of similarity.
    pub(super) fn select_rarest<'f>(
        &self,
        shared: impl Iterator<Item = &'f Feature>,
    ) -> SharedFeatures {
        let mut shared: Vec<&Feature> = shared
            // ln(N / n) > ln 2 holds if fewer than half of the datasets have the feature.
            .filter(|feature| self.weight(feature) > std::f64::consts::LN_2)
            .collect();
        shared.sort_by(|a, b| {
            self.weight(b)
                .total_cmp(&self.weight(a))
                .then_with(|| a.cmp(b))
        });
        let rarest = shared
            .iter()
            .take(MAX_NAMED_FEATURES)
            .map(|feature| feature.iri.clone())
            .collect();
        SharedFeatures {
            count: shared.len(),
            rarest,
        }
    }

    /// Returns the weight of a feature; 0 if the target does not have it.
    fn weight(&self, feature: &Feature) -> f64 {
        self.weights.get(feature).copied().unwrap_or_default()
    }
}

/// Returns the cosine of two vectors, from their inner product and their squared lengths, as if each had one more feature of half the
/// greatest weight ln N, which the other lacks.
///
/// Two vectors with a single feature have the cosine 1, even if most datasets have this feature. With the additional feature, common
/// features alone give a low similarity, and many or rare ones nearly the cosine.
fn damped_cosine(product: f64, square: f64, other_square: f64, datasets: u64) -> f64 {
    let additional = (DAMPING_WEIGHT * (datasets.max(2) as f64).ln()).powi(2);
    (product / ((square + additional) * (other_square + additional)).sqrt()).min(1.0)
}

/// Returns the datasets to which a feature links, or that link to it, with the rarity ln(N / n) / ln N of the link.
///
/// A link target leads to the datasets that describe entities in its URI space. A described URI space leads to the datasets
/// that link into it. Of both numbers n is the larger one: a link to a hub, into which many datasets link, is no rare link.
fn linked_datasets(
    feature: &Feature,
    weight: f64,
    snapshot: &Snapshot,
) -> Result<Vec<(f64, DocumentAddress)>, IndexError> {
    let opposite = match feature.kind {
        FeatureKind::Target => FeatureKind::Space,
        FeatureKind::Space => FeatureKind::Target,
        _ => return Ok(Vec::new()),
    };
    let addresses = snapshot.with_feature(&Feature {
        kind: opposite,
        iri: feature.iri.clone(),
    })?;
    // At least ln 2: with one dataset, ln N would be 0.
    let max_weight = (snapshot.len().max(2) as f64).ln();
    let rarity = weight.min(feature_weight(snapshot.len(), addresses.len())) / max_weight;
    Ok(addresses
        .into_iter()
        .map(|address| (rarity, address))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_all_datasets_have_no_weight() {
        assert_eq!(feature_weight(8, 8), 0.0);
        assert!((feature_weight(8, 2) - 4f64.ln()).abs() < 1e-12);
        assert_eq!(feature_weight(8, 0), feature_weight(8, 1));
    }

    /// Datasets with one feature and nothing else: a hub of 100 of 476 datasets, and a feature of two.
    #[test]
    fn a_common_feature_alone_gives_a_low_similarity() {
        let similarity = |with_feature| {
            let square = feature_weight(476, with_feature).powi(2);
            damped_cosine(square, square, square, 476)
        };
        assert!(
            similarity(100) < 0.21 && similarity(2) > 0.75,
            "{} {}",
            similarity(100),
            similarity(2)
        );
        let many = 40.0 * feature_weight(476, 20).powi(2);
        assert!(damped_cosine(many, many, many, 476) > 0.95);
        assert_eq!(damped_cosine(0.0, 0.0, 0.0, 1), 0.0);
    }
}
