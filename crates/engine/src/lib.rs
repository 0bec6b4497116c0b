#![doc = include_str!("../README.md")]

mod backup;
mod browse;
mod card;
mod collection;
mod content;
mod content_terms;
mod coverage;
mod dataset_triples;
mod dense;
mod duplicates;
mod encoding;
mod entities;
mod evidence;
mod facts;
mod features;
mod federation;
mod indexed_catalog;
mod indexer;
mod integrity;
mod named;
mod order;
mod quality;
mod quality_json;
mod ranker;
mod rerank;
mod scope;
mod search;
mod search_json;
mod searcher;
mod service;
mod similar;
mod snippets;
mod spelling;
mod table_overlap;
mod terms;
mod texts;
mod translations;
mod tuning;
mod unknown_values;
mod update;
mod works;

pub use backup::{
    BACKUP_MANIFEST, BackupError, BackupReport, ContentSink, CopyPurpose, HomeManifest,
    RestoreReport, SavedFile, SettingFile, backup, copy_and_hash, copy_home, is_sha256, restore,
};
pub use browse::{BrowseRequest, DatasetListing, ListedDataset};
pub use card::{CARD_LANGUAGES, Card};
pub use collection::{
    CollectionDataset, CollectionStatus, CoverageCounts, IndexState, IndexStatus,
    TranslationStatus, VectorStatus, collection_status, has_index, list_datasets, similar_ids,
};
pub use content::Content;
pub use coverage::{Coverage, CoverageSource, PeriodCoverage, PlaceCoverage};
pub use dataset_triples::{
    add_file_addresses, dataset_shapes, dataset_triples, dataset_void, suggested_theme_triples,
};
pub use dense::{DenseMatch, PartKind, PartShare};
pub use duplicates::{
    DatasetReference, DuplicateMode, MAX_DUPLICATES_SHOWN, RelatedDatasets, RelatedEdition,
};
pub use encoding::{
    EncodedDataset, EncodingOptions, EncodingProgress, EncodingReport, create_vectors, encode,
    encode_all, encode_all_until, encode_all_with, encode_dataset, has_vectors, list_vectors,
    passages,
};
pub use entities::{EntityHit, EntityRequest, EntityResponse};
pub use evidence::Evidence;
pub use facts::{facet_label, facet_value};
pub use federation::{Federation, worker_services};
pub use indexed_catalog::IndexedCatalog;
pub use indexer::{
    DerivedDataset, DerivedSource, Deriver, IndexOptions, IndexProgress, IndexReport, Indexer,
    StageTimes,
};
pub use integrity::{
    IncompleteIndex, IntegrityReport, RepairReport, has_unusable_index, incomplete_index, repair,
    verify, verify_open,
};
pub use lodeseek_catalog::{BoundingBox, Period};
pub use lodeseek_profile::TableOverlap;
pub use order::{ParseOrderError, ResultOrder};
pub use quality::{
    assess_catalog, assess_dataset, distribution_addresses, read_url_checks, url_checks_time,
    write_url_checks,
};
pub use quality_json::{MAX_PUBLISHERS, MAX_WORST_DATASETS, assessment_json, overview_json};
pub use rerank::{
    ComponentRankings, CrossEncoding, EncoderSummary, LongQueryOptions, MULTILINGUAL_WEIGHT,
    MultilingualRanking, PairSummary, RerankError, RerankOptions, RerankSummary, Reranker,
    WeightedFusion,
};
pub use search::{
    EmptyQuery, Example, ExampleSimilarity, FieldMatch, Hit, Interpretation, InterpretationKind,
    MAX_EXAMPLES, MatchFeatures, MatchQuality, QuerySyntax, SearchRequest, SearchResponse,
    SnippetKind, SuggestedFilter, UnknownSnippetKind, check_query,
};
pub use search_json::{dataset_json, hit_json};
pub use searcher::Searcher;
pub use similar::{
    ExampleGraph, SharedFeatures, SimilarDataset, SimilarDatasets, SimilarityBasis,
    SimilarityClause, SimilarityPart,
};
pub use snippets::{
    DatasetSnippet, ExtractedSnippet, QueryWords, SnippetCell, SnippetRequest, SnippetRow,
    SnippetTable, SnippetTriple, extract_snippet,
};
pub use table_overlap::{RelatedTables, overlap_clauses};
pub use terms::QueryTerms;
pub use texts::Texts;
pub use translations::{
    DictionaryFile, LabelCollector, is_multilingual, read_dictionary, read_translations,
    remove_translations, update_own_translations, write_translations,
};
pub use tuning::TuningPool;
pub use unknown_values::UnknownValue;
pub use update::{UpdateReport, Updater};
pub use works::{
    AddedWorks, CollectionWork, NearWork, WorkEvidence, WorksReport, add_works, encode_works,
    encode_works_until, has_encoded_works, list_works, ranks_by_works, remove_works,
};

pub use lodeseek_profile::{Schema, SchemaEdge, SchemaNode};

pub use lodeseek_index::{
    AnalysisKind, ColumnCondition, Facet, FacetCounts, FacetValues, Filter, NumericFacts,
    ParseFacetError, ValueCount, YearCounts,
};

use lodeseek_catalog::DatasetId;
use lodeseek_index::IndexError;
use lodeseek_index::vectors::VectorsError;
use lodeseek_rerank::EncodeError;
use lodeseek_snippet::MethodError;
use lodeseek_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// An error of indexing, searching or encoding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The snippet method cannot be used.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The vectors failed.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// The encoder failed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The options of re-ranking are invalid.
    #[error(transparent)]
    Rerank(#[from] RerankError),
    /// The file of duplicates cannot be written or read.
    #[error("{path}: {cause}")]
    Duplicates {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// A backup or restoration failed.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A file or folder of the home cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// An example is not in the index.
    #[error("like: the index has no dataset with the id {0}")]
    UnknownExample(DatasetId),
    /// A work that was to be removed does not exist.
    #[error("nothing was removed: there is no work {0:?}; `lodeseek list --works` lists all")]
    UnknownWork(String),
    /// A search has too many examples.
    #[error("like: {0} examples; the limit is {MAX_EXAMPLES}")]
    TooManyExamples(usize),
    /// A dataset's stored JSON cannot be written or read.
    #[error(
        "cannot write or read the JSON of a dataset in the index: {0}; `lodeseek index --rebuild` makes it anew"
    )]
    Card(#[from] serde_json::Error),
}

impl EngineError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }
}

/// Returns the folder of a home's index.
#[must_use]
pub fn index_folder(home: &Path) -> PathBuf {
    home.join("index")
}

/// Returns the folder of a home's vectors, of all models.
#[must_use]
pub fn vectors_folder(home: &Path) -> PathBuf {
    home.join("vectors")
}
