//! The text index, on tantivy: postings and positions of eight fields, exact field lengths, and the card of each dataset.
//!
//! tantivy's own scoring is not used: its BM25 has its parameters and a lossy one-byte length built in. It keeps the
//! postings; [`Snapshot::gather`] reads them into plain numbers, and the models of the stage above turn numbers into
//! scores. Statistics are exact: they count live documents only, after every change.

mod analysis;
mod recorded;
mod schema;
mod statistics;
mod writer;

pub use analysis::{Analysis, AnalysisKind, STOP_WORDS, UnknownAnalysis};
pub use statistics::{
    AnalyzedQuery, CollectionStatistics, DocumentStatistics, FieldStatistics, Gathered, TermStatistics,
};
pub use writer::{IndexDocument, IndexWriter};

use crate::catalog::DatasetId;
use crate::document::Field;
use schema::Fields;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::postings::Postings;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyDocument, Term};

/// What can go wrong with the index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index yet.
    #[error("there is no index at {0}; `lodeseek index` makes one")]
    Missing(PathBuf),
    /// The index was made by another version of the program.
    #[error("the index at {0} is of another version; run `lodeseek index --rebuild`")]
    OtherVersion(PathBuf),
    /// The index was made with an analysis that this version of the program does not know.
    #[error("the index was analysed by another version ({0}); run `lodeseek index --rebuild`")]
    OtherAnalysis(String),
    /// tantivy failed.
    #[error("index: {0}")]
    Tantivy(#[from] tantivy::TantivyError),
    /// The disk failed.
    #[error("index: {0}")]
    Io(#[from] std::io::Error),
    /// A card that cannot be read.
    #[error("index: the card of a dataset cannot be read: {0}")]
    Card(String),
}

/// An index on disk, opened for reading. Follows the commits of writers in other processes.
pub struct Index {
    index: tantivy::Index,
    reader: tantivy::IndexReader,
    fields: Fields,
    cached: Mutex<Option<Arc<Snapshot>>>,
}

/// The index at one moment, with its statistics.
pub struct Snapshot {
    searcher: Searcher,
    fields: Fields,
    analysis: Analysis,
    /// Ids and field lengths by segment and document.
    segments: Vec<SegmentColumns>,
    collection: [FieldStatistics; 8],
    documents: u64,
}

struct SegmentColumns {
    ids: Vec<DatasetId>,
    lengths: Vec<[u32; 8]>,
}

impl Index {
    /// Opens the index in a folder.
    pub fn open(folder: &Path) -> Result<Self, IndexError> {
        if !folder.join("meta.json").exists() {
            return Err(IndexError::Missing(folder.to_owned()));
        }
        let index = tantivy::Index::open_in_dir(folder)?;
        let fields = Fields::of(&index.schema()).ok_or_else(|| IndexError::OtherVersion(folder.to_owned()))?;
        recorded::analysis_of(&index)?;
        Ok(Self { reader: index.reader()?, index, fields, cached: Mutex::new(None) })
    }

    /// The index as last committed; made anew only after a commit.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, IndexError> {
        let searcher = self.reader.searcher();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = &*cached
            && snapshot.generation() == searcher.generation().generation_id()
        {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(Snapshot::of(searcher, self.fields.clone(), recorded::analysis_of(&self.index)?)?);
        *cached = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}

impl Snapshot {
    fn of(searcher: Searcher, fields: Fields, analysis: AnalysisKind) -> Result<Self, IndexError> {
        let mut segments = Vec::new();
        let mut collection = [FieldStatistics::default(); 8];
        let mut documents = 0;
        for reader in searcher.segment_readers() {
            let lengths_of = Field::ALL.map(|field| reader.fast_fields().u64(fields.length_name(field)));
            let ids = reader.fast_fields().str(schema::ID)?;
            let mut columns = SegmentColumns { ids: Vec::new(), lengths: Vec::new() };
            let mut name = String::new();
            for document in 0..reader.max_doc() {
                name.clear();
                if let Some(ids) = &ids
                    && let Some(ordinal) = ids.term_ords(document).next()
                {
                    ids.ord_to_str(ordinal, &mut name)?;
                }
                let mut lengths = [0; 8];
                for (length, column) in lengths.iter_mut().zip(&lengths_of) {
                    *length = column.as_ref().ok().and_then(|column| column.first(document)).unwrap_or(0) as u32;
                }
                if reader.alive_bitset().is_none_or(|alive| alive.is_alive(document)) {
                    documents += 1;
                    for (field, &length) in collection.iter_mut().zip(&lengths) {
                        field.documents += u64::from(length > 0);
                        field.tokens += u64::from(length);
                    }
                }
                let unreadable = || IndexError::Card(format!("{name:?} is no id"));
                columns.ids.push(DatasetId::new(name.as_str()).map_err(|_| unreadable())?);
                columns.lengths.push(lengths);
            }
            segments.push(columns);
        }
        Ok(Self { searcher, fields, analysis: Analysis::new(analysis), segments, collection, documents })
    }

    /// The analysis that made the tokens of its documents; queries need the same.
    #[must_use]
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The number of datasets.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.documents
    }

    /// Whether the index is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// A number that changes with every commit.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.searcher.generation().generation_id()
    }

    /// Everything a model needs for a query: which documents hold which of its terms in which of `fields`, how often, and
    /// how common the terms are.
    pub fn gather(&self, query: &AnalyzedQuery, fields: &[Field]) -> Result<Gathered, IndexError> {
        let mut terms = vec![[TermStatistics::default(); 8]; query.distinct.len()];
        let mut found: rustc_hash::FxHashMap<DocAddress, Vec<[u32; 8]>> = rustc_hash::FxHashMap::default();
        for (place, text) in query.distinct.iter().enumerate() {
            for &field in fields {
                let statistics = &mut terms[place][field.index()];
                let term = Term::from_field_text(self.fields.text(field), text);
                for (ordinal, reader) in self.searcher.segment_readers().iter().enumerate() {
                    let inverted = reader.inverted_index(self.fields.text(field))?;
                    let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::WithFreqs)? else {
                        continue;
                    };
                    let mut document = postings.doc();
                    while document != TERMINATED {
                        if reader.alive_bitset().is_none_or(|alive| alive.is_alive(document)) {
                            let count = postings.term_freq();
                            statistics.documents += 1;
                            statistics.occurrences += u64::from(count);
                            let address = DocAddress::new(ordinal as u32, document);
                            found.entry(address).or_insert_with(|| vec![[0; 8]; query.distinct.len()])[place]
                                [field.index()] = count;
                        }
                        document = postings.advance();
                    }
                }
            }
        }
        let documents = found.into_iter().map(|(address, frequencies)| {
            let columns = &self.segments[address.segment_ord as usize];
            let lengths = columns.lengths[address.doc_id as usize];
            (columns.ids[address.doc_id as usize].clone(), DocumentStatistics { frequencies, lengths })
        });
        let collection = CollectionStatistics { documents: self.documents, fields: self.collection, terms };
        Ok(Gathered { collection, documents: documents.collect() })
    }

    /// The card of a dataset, as it was written; `None` where there is no such dataset.
    pub fn card(&self, id: &DatasetId) -> Result<Option<Vec<u8>>, IndexError> {
        self.stored(id, self.fields.card)
    }

    /// The compact document of a dataset, as it was written.
    pub fn compact(&self, id: &DatasetId) -> Result<Option<Vec<u8>>, IndexError> {
        self.stored(id, self.fields.compact)
    }

    fn stored(&self, id: &DatasetId, field: tantivy::schema::Field) -> Result<Option<Vec<u8>>, IndexError> {
        let term = Term::from_field_text(self.fields.id, id.as_str());
        for (ordinal, reader) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = reader.inverted_index(self.fields.id)?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? else { continue };
            while postings.doc() != TERMINATED {
                if reader.alive_bitset().is_none_or(|alive| alive.is_alive(postings.doc())) {
                    let document: TantivyDocument =
                        self.searcher.doc(DocAddress::new(ordinal as u32, postings.doc()))?;
                    return Ok(document.get_first(field).and_then(|value| value.as_bytes().map(<[u8]>::to_vec)));
                }
                postings.advance();
            }
        }
        Ok(None)
    }

    /// The ids of all datasets, in no particular order.
    pub fn ids(&self) -> impl Iterator<Item = &DatasetId> {
        self.searcher
            .segment_readers()
            .iter()
            .zip(&self.segments)
            .flat_map(|(reader, columns)| reader.doc_ids_alive().map(|document| &columns.ids[document as usize]))
    }

    /// (id, version) of every dataset: what the next indexing need not do again.
    pub fn versions(&self) -> Result<std::collections::BTreeMap<DatasetId, String>, IndexError> {
        let mut versions = std::collections::BTreeMap::new();
        for (reader, columns) in self.searcher.segment_readers().iter().zip(&self.segments) {
            let column = reader.fast_fields().str(schema::VERSION)?;
            for document in reader.doc_ids_alive() {
                let mut version = String::new();
                if let Some(column) = &column
                    && let Some(ordinal) = column.term_ords(document).next()
                {
                    column.ord_to_str(ordinal, &mut version)?;
                }
                versions.insert(columns.ids[document as usize].clone(), version);
            }
        }
        Ok(versions)
    }
}
