//! Where the stages meet: [`Indexer`] takes datasets from the store to the index, [`Searcher`] takes a need in words to
//! ranked, explained datasets.

mod card;
mod content;
mod evidence;
mod indexer;
mod searcher;
mod snippets;
mod terms;

pub use card::{CARD_LANGUAGES, Card};
pub use content::Content;
pub use evidence::Evidence;
pub use indexer::{IndexOptions, IndexProgress, IndexReport, Indexer, StageTimes};
pub use searcher::{FieldMatch, Hit, SearchRequest, SearchResponse, Searcher, SnippetKind};
pub use snippets::{DatasetSnippet, MadeSnippet, QueryWords, SnippetRequest, SnippetTriple, make_snippet};
pub use terms::QueryTerms;

use crate::index::IndexError;
use crate::snippet::MethodError;
use crate::store::StoreError;
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
    /// A card cannot be written or read.
    #[error("a dataset's card cannot be written or read: {0}")]
    Card(#[from] serde_json::Error),
}

/// The folder of a home's index.
#[must_use]
pub fn index_folder(home: &Path) -> PathBuf {
    home.join("index")
}
