//! Datasets similar to a dataset or to an example graph, with the reasons for each.
//!
//! There are four similarities, each from 0 to 1:
//!
//! * *Vocabulary*: the damped cosine of the vectors of the classes, properties and vocabularies used. A feature has the weight
//!   ln(N / n) if n of N datasets have it. The vectors are tf-idf vectors as those of M. Ben Ellefi, Z. Bellahsene, S. Dietze,
//!   K. Todorov: *Dataset Recommendation for Data Linking: An Intensional Approach*, ESWC 2016. Frequencies within a dataset
//!   are ignored: they separate datasets by size, not by subject.
//! * *Links*: the damped cosine over the URI spaces and the entities of other datasets to which a dataset links. This follows
//!   G. Lopes et al.: *Two Approaches to the Dataset Interlinking Recommendation Problem*, WISE 2014, where datasets with
//!   the same link targets are similar. If one dataset links into a URI space in which the other describes entities, the
//!   rarity ln(N / n) / ln N of that link is used instead, if it is higher.
//! * *Meaning*: the mean cosine of an encoder's vectors, of metadata with metadata and of data with data. It needs an encoder
//!   with one vector per text and cosine similarity.
//! * *Words*: the score by the searcher's model for the words of title and keywords, divided by the score of the dataset
//!   itself. It is used only if neither vocabulary nor meaning can be compared.
//!
//! The damped cosine is the cosine of vectors that have one more feature each, which the other lacks. Without it, datasets that
//! have nothing but a link to the same hub would be equal.
//!
//! The score is the mean of the similarities that can be compared, weighted by [`WEIGHTS`]. Datasets below
//! [`MIN_SIMILARITY`] are not similar. Both were chosen on 418 judgements of 20 datasets, see
//! `docs/src/benchmarks/similar-datasets.md`.
//!
//! *Cost.* The inverted lists of the target's features are read, at most 2,400. No pairs of datasets are compared. The lengths
//! of all vectors are computed in one pass over all lists after each commit and take sixteen bytes per dataset.

mod feature_vectors;
mod ranking;

pub(super) use feature_vectors::VectorLengthCache;
pub(super) use ranking::{Comparison, Scores, Similarities, Target};

use super::DatasetReference;
use super::features::features;
use super::table_overlap::RelatedTables;
use lodeseek_catalog::{DatasetId, Metadata};
use lodeseek_index::Feature;
use lodeseek_index::document::CompactDocument;
use lodeseek_profile::Profile;
use lodeseek_rdf::{TripleGraph, to_prefixed_name};
use lodeseek_snippet::rank_triples;
use serde::{Deserialize, Serialize};

/// The weights of the similarities of vocabulary, links, meaning and words.
const WEIGHTS: [f64; 4] = [1.0, 0.5, 3.0, 1.0];
/// The minimum score of a similar dataset.
const MIN_SIMILARITY: f64 = 0.3;
/// Number of candidates by each similarity.
pub(super) const MAX_POOL_DATASETS: usize = 100;
/// Maximum number of features named as a reason.
const MAX_NAMED_FEATURES: usize = 6;
/// Maximum number of words of title and keywords that are searched for.
const MAX_QUERY_WORDS: usize = 40;

/// The features that two datasets share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedFeatures {
    /// Number of shared features.
    pub count: usize,
    /// The IRIs of the rarest of them, the rarest first.
    #[serde(rename = "telling")]
    pub rarest: Vec<String>,
}

/// The basis of a similarity: what two datasets have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "described at the variants")]
pub enum SimilarityBasis {
    /// Classes, properties, and their namespaces.
    Vocabulary {
        classes: SharedFeatures,
        properties: SharedFeatures,
        vocabularies: SharedFeatures,
    },
    /// URI spaces of the other dataset to which this one links, own ones to which the other links, and common link targets.
    Links {
        to: SharedFeatures,
        from: SharedFeatures,
        targets: SharedFeatures,
        entities: SharedFeatures,
    },
    /// Texts that are similar by an encoder.
    Meaning { model: String },
    /// Words of title and keywords.
    Words { words: Vec<String> },
}

/// A similarity and its share of the score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarityPart {
    /// The similarity, from 0 to 1.
    pub score: f64,
    /// Its share of the weights, from 0 to 1. The score of the dataset is the sum of score · weight.
    pub weight: f64,
    /// The basis of the similarity.
    #[serde(flatten)]
    pub basis: SimilarityBasis,
}

/// A dataset similar to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarDataset {
    /// The dataset.
    #[serde(flatten)]
    pub dataset: DatasetReference,
    /// Number of its triples in the store.
    pub triples: u64,
    /// The similarity, from 0 to 1.
    pub score: f64,
    /// The parts of the score, in descending order of their contribution.
    pub parts: Vec<SimilarityPart>,
}

/// The datasets similar to a dataset or an example graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarDatasets {
    /// Number of datasets in the index.
    pub of: u64,
    /// The most similar datasets, best first, without the dataset's duplicates and other editions.
    pub similar: Vec<SimilarDataset>,
    /// Datasets whose tables can be joined or united with those of the dataset, whatever their similarity, at most as many as
    /// similar ones were requested. Empty for an example.
    pub tables: Vec<RelatedTables>,
}

/// A reason for a similarity, as text for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarityClause {
    /// The common features: “12 classes in common”.
    pub text: String,
    /// Some of the features: label and IRI.
    pub names: Vec<(String, String)>,
    /// If true, `names` contains all of them.
    pub all: bool,
}

impl SimilarityClause {
    pub(crate) fn new(text: String) -> Self {
        Self {
            text,
            names: Vec::new(),
            all: true,
        }
    }

    /// Creates a clause about shared features with a text for one or for several. `None` if there are none.
    fn from_features(shared: &SharedFeatures, one: &str, many: &str) -> Option<Self> {
        let text = match shared.count {
            0 => return None,
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let names: Vec<_> = shared
            .rarest
            .iter()
            .map(|iri| (to_prefixed_name(iri), iri.clone()))
            .collect();
        let all = names.len() == shared.count;
        Some(Self { text, names, all })
    }
}

impl SimilarityPart {
    /// Returns the reasons for the similarity, as texts for users.
    #[must_use]
    pub fn clauses(&self) -> Vec<SimilarityClause> {
        use SimilarityClause as Clause;
        let mut clauses = Vec::new();
        match &self.basis {
            SimilarityBasis::Vocabulary {
                classes,
                properties,
                vocabularies,
            } => {
                clauses.extend(Clause::from_features(
                    classes,
                    "class in common",
                    "classes in common",
                ));
                clauses.extend(Clause::from_features(
                    properties,
                    "property in common",
                    "properties in common",
                ));
                clauses.extend(Clause::from_features(
                    vocabularies,
                    "vocabulary in common",
                    "vocabularies in common",
                ));
            }
            SimilarityBasis::Links {
                to,
                from,
                targets,
                entities,
            } => {
                let (one, many) = (
                    "of its namespaces is linked to",
                    "of its namespaces are linked to",
                );
                clauses.extend(Clause::from_features(to, one, many));
                let (one, many) = ("namespace that it links to", "namespaces that it links to");
                clauses.extend(Clause::from_features(from, one, many));
                let (one, many) = ("entity that both link to", "entities that both link to");
                clauses.extend(Clause::from_features(entities, one, many));
                let (one, many) = (
                    "other source that both link to",
                    "other sources that both link to",
                );
                clauses.extend(Clause::from_features(targets, one, many));
            }
            SimilarityBasis::Meaning { model } => {
                clauses.push(Clause::new(format!(
                    "near in meaning (cosine {:.2}, {model})",
                    self.score
                )));
            }
            SimilarityBasis::Words { words } => {
                clauses.push(Clause::new(format!("the words {}", words.join(", "))))
            }
        }
        clauses
    }
}

/// The compared parts of an RDF graph: its features, and its texts if a model reads them. They may come from another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExampleGraph {
    triples: usize,
    features: Vec<Feature>,
    texts: Option<CompactDocument>,
}

impl ExampleGraph {
    /// Computes the features of a graph.
    #[must_use]
    pub fn new(graph: &TripleGraph) -> Self {
        Self {
            triples: graph.len(),
            features: features(graph, &Profile::new(graph)),
            texts: None,
        }
    }

    /// Adds the texts of the graph, which searchers with a text encoder compare
    /// ([`encodes_examples`](super::Searcher::encodes_examples)).
    #[must_use]
    pub fn with_texts(self, graph: &TripleGraph) -> Self {
        let Ok(id) = DatasetId::new("example") else {
            return self;
        };
        let ranking = rank_triples(
            graph,
            &Profile::new(graph),
            &[],
            super::indexer::COMPACT_BUDGET,
        );
        let texts = CompactDocument {
            metadata: Vec::new(),
            ..CompactDocument::new(&Metadata::new(id), graph, &ranking)
        };
        Self {
            texts: Some(texts),
            ..self
        }
    }

    /// Returns the number of triples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.triples
    }

    /// Returns true if the graph has no triples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.triples == 0
    }
}
