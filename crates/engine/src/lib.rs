//! Where the stages meet: [`Indexer`] takes datasets from the store to the index, [`Searcher`] takes a need in words to
//! ranked, explained datasets, ranked again by a [`Reranker`] where an encoder has made vectors of them ([`encode`]).

mod browse;
mod card;
mod content;
mod dataset_triples;
mod dense;
mod duplicates;
mod encoding;
mod evidence;
mod facts;
mod features;
mod federation;
mod indexer;
mod quality;
mod quality_json;
mod rerank;
mod search_json;
mod searcher;
mod service;
mod similar;
mod snippets;
mod spelling;
mod terms;
mod texts;
mod update;

pub use browse::{BrowseRequest, Listed, Listing};
pub use card::{CARD_LANGUAGES, Card};
pub use content::Content;
pub use dataset_triples::dataset_triples;
pub use dense::{DenseMatch, PartKind, PartShare};
pub use duplicates::{Other, OtherEdition, Related, Shown};
pub use encoding::{EncodingOptions, EncodingProgress, EncodingReport, encode, encode_by, passages, vectors_of};
pub use evidence::Evidence;
pub use facts::{facet_label, facet_value};
pub use federation::Federation;
pub use indexer::{IndexOptions, IndexProgress, IndexReport, Indexer, StageTimes};
pub use quality::{distribution_addresses, quality_of, quality_of_all};
pub use quality_json::{MAX_PUBLISHERS, WORST_DATASETS, assessment_json, overview_json};
pub use rerank::{Components, EncoderSummary, RerankError, RerankOptions, RerankSummary, Reranker, WeightedFusion};
pub use search_json::hit_json;
pub use searcher::{FieldMatch, Hit, OTHERS, SearchRequest, SearchResponse, Searcher, SnippetKind};
pub use service::SearchService;
pub use similar::{Clause, Example, Likeness, Shared, SimilarDataset, SimilarDatasets, SimilarityPart};
pub use snippets::{DatasetSnippet, MadeSnippet, QueryWords, SnippetRequest, SnippetTriple, make_snippet};
pub use terms::QueryTerms;
pub use texts::Texts;
pub use update::{UpdateReport, Updater};

pub use lodeseek_profile::{Schema, SchemaEdge, SchemaNode};

pub use lodeseek_index::{
    AnalysisKind, Facet, FacetCounts, FacetValues, Filter, NumericFacts, ParseFacetError, ValueCount, YearCounts,
};

use lodeseek_index::IndexError;
use lodeseek_index::vectors::VectorsError;
use lodeseek_rerank::EncodeError;
use lodeseek_snippet::MethodError;
use lodeseek_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong where stages meet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The snippet method cannot be had.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The vectors failed.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// The encoder failed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The options of re-ranking do not fit.
    #[error(transparent)]
    Rerank(#[from] RerankError),
    /// What is kept of duplicates cannot be written or read.
    #[error("{path}: {cause}")]
    Duplicates {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A card cannot be written or read.
    #[error("a dataset's card cannot be written or read: {0}")]
    Card(#[from] serde_json::Error),
}

/// The folder of a home's index.
#[must_use]
pub fn index_folder(home: &Path) -> PathBuf {
    home.join("index")
}

/// The folder of a home's vectors, of all models.
#[must_use]
pub fn vectors_folder(home: &Path) -> PathBuf {
    home.join("vectors")
}
