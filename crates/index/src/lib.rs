#![doc = include_str!("../README.md")]

pub mod document;
pub mod sparse;
mod analysis;
mod collation;
mod columns;
mod commit_metadata;
mod conditions;
mod facets;
mod facts;
mod features;
mod filter;
mod literals;
mod names;
mod pair_frequencies;
mod postings;
mod query_syntax;
mod schema;
mod sketches;
mod spelling;
mod statistics;
mod suggested_themes;
mod table_columns;
mod top_docs;
pub mod vectors;
mod verified_directory;
mod vocabulary;
mod writer;

pub use analysis::{
    Analysis, AnalysisKind, AnalyzedWord, QueriedWord, QueryTerm, STOP_WORDS, TermFinder,
    Translation, Translations, TranslationsBuilder, UnknownAnalysis, compose, fold_text,
};
pub use collation::Collation;
pub use commit_metadata::read_analysis;
pub use conditions::{Condition, MAX_PHRASE_TOKENS};
pub use facts::{Facet, Facts, Filter, NumericFacts, ParseFacetError};
pub use features::{Feature, FeatureKind};
pub use filter::{
    FacetCounter, FacetCounts, FacetValues, FilteredDocs, Selection, ValueCount, YearCounts,
};
pub use literals::{EntityMatch, EntityMatches, EntitySearch};
pub use names::name_key;
pub use pair_frequencies::{PairFrequencies, WINDOW_WIDTH};
pub use query_syntax::{PartForm, QueryPart, parse_query};
pub use spelling::SpellingCandidate;
pub use statistics::{
    AnalyzedQuery, CollectionStatistics, DocumentStatistics, FieldStatistics, StatisticsLevel,
    TermStatistics,
};
pub use table_columns::{ColumnCondition, Comparison, ParseColumnError, TableColumn};
pub use top_docs::{Clause, DocumentAddress, PostingsSlice, TermScorer, TopDocs, WindowScores};
pub use verified_directory::{DamagedFile, MAX_VERIFIED_BYTES, link_commit, verify};
pub use writer::{IndexDocument, IndexWriter, document_version};

use crate::document::Field;
use columns::SegmentColumns;
use facets::FacetTable;
use lodeseek_ranking::DatasetId;
use postings::TermPostings;
use rustc_hash::FxHashMap;
use schema::Fields;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, DocSet, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term};
use vocabulary::IndexVocabulary;

/// Errors of the index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The folder contains no index.
    #[error("there is no index at {0}; run `lodeseek index`")]
    Missing(PathBuf),
    /// The index was written by another version of the program.
    #[error("the index at {0} has another format version; run `lodeseek index --rebuild`")]
    OtherVersion(PathBuf),
    /// The index was written with an analysis that this version does not support.
    #[error("the index has an unsupported analysis ({0}); run `lodeseek index --rebuild`")]
    OtherAnalysis(String),
    /// The index was created before places and periods were indexed.
    #[error(
        "cannot filter by place or period: an earlier version created the index, without places and periods; run \
         `lodeseek index --rebuild`"
    )]
    WithoutCoverage,
    /// The index was created before columns of tables were indexed.
    #[error(
        "cannot filter by columns: an earlier version created the index, without the columns of tables; run \
         `lodeseek index --rebuild`"
    )]
    WithoutTableColumns,
    /// The index was created before literals could be searched.
    #[error(
        "cannot search literals: an earlier version created the index, without the positions of literals; run \
         `lodeseek index --rebuild`"
    )]
    WithoutLiterals,
    /// A file of the index is damaged or missing.
    #[error("the index is damaged: {0}; run `lodeseek index --rebuild`")]
    Damaged(String),
    /// Error of tantivy.
    #[error("cannot access the index: {0}")]
    Tantivy(String),
    /// I/O error.
    #[error("cannot access the index: {0}")]
    Io(std::io::Error),
    /// Unreadable stored data of a dataset.
    #[error("the index contains unreadable data of a dataset: {0}; run `lodeseek index --rebuild`")]
    Card(String),
}

impl From<tantivy::TantivyError> for IndexError {
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError as Error;
        use tantivy::directory::error::{LockError, OpenReadError};
        match &error {
            Error::OpenReadError(OpenReadError::IoError { io_error, filepath })
                if matches!(
                    io_error.kind(),
                    std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof
                ) =>
            {
                Self::Damaged(format!("{}: {io_error}", filepath.display()))
            }
            Error::OpenReadError(OpenReadError::FileDoesNotExist(path)) => {
                Self::Damaged(format!("{} is missing", path.display()))
            }
            Error::DataCorruption(corruption) => {
                Self::Damaged(first_line(&format!("{corruption:?}")))
            }
            Error::IoError(cause) if cause.kind() == std::io::ErrorKind::InvalidData => {
                Self::Damaged(cause.to_string())
            }
            Error::LockFailure(LockError::IoError(cause), _) => {
                Self::Tantivy(format!("no lock: {cause}"))
            }
            // tantivy does not return the cause.
            Error::ErrorInThread(_) => {
                let usual = "usually the disk is full: free space, and run the command again";
                Self::Tantivy(format!("{}; {usual}", first_line(&error.to_string())))
            }
            other => Self::Tantivy(first_line(&other.to_string())),
        }
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::InvalidData => Self::Damaged(error.to_string()),
            _ => Self::Io(error),
        }
    }
}

/// Returns the first line of a message, at most 300 characters: some messages of tantivy contain whole files.
fn first_line(message: &str) -> String {
    message
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(300)
        .collect()
}

/// Index on disk, opened for reading. Follows the commits of writers in other processes.
pub struct Index {
    index: tantivy::Index,
    reader: tantivy::IndexReader,
    fields: Fields,
    translations: Mutex<Option<Arc<Translations>>>,
    cached: Mutex<Option<Arc<Snapshot>>>,
}

/// Index at one point in time, with its statistics.
pub struct Snapshot {
    searcher: Searcher,
    fields: Fields,
    analysis: Analysis,
    segments: Vec<SegmentColumns>,
    collection: [FieldStatistics; 8],
    documents: u64,
    /// Cached term statistics, by field and tokens. Counting occurrences reads all postings of a term.
    terms: Mutex<FxHashMap<(Field, String), TermStatistics>>,
    facets: OnceLock<Vec<FacetTable>>,
    literals: OnceLock<u64>,
    /// First and last year of all periods.
    covered_years: OnceLock<Option<(i32, i32)>>,
}

/// Maximum number of cached term statistics.
const MAX_CACHED_TERMS: usize = 1 << 16;
/// Separator of tokens in a cache key. No token contains a line break.
const TOKEN_SEPARATOR: &str = "\n";

impl Index {
    /// Opens the index in a folder.
    ///
    /// # Errors
    ///
    /// [`IndexError::Missing`] if there is no index, [`IndexError::OtherVersion`] or [`IndexError::OtherAnalysis`] if
    /// another version of the program wrote it, [`IndexError::Damaged`] if the checksum of a file is wrong.
    pub fn open(folder: &Path) -> Result<Self, IndexError> {
        if !folder.join("meta.json").exists() {
            return Err(IndexError::Missing(folder.to_owned()));
        }
        let index = tantivy::Index::open(verified_directory::VerifiedDirectory::open(folder)?)?;
        let fields = Fields::from_schema(&index.schema())
            .ok_or_else(|| IndexError::OtherVersion(folder.to_owned()))?;
        commit_metadata::analysis_of(&index)?;
        Ok(Self {
            reader: index.reader()?,
            index,
            fields,
            translations: Mutex::default(),
            cached: Mutex::new(None),
        })
    }

    /// Sets the dictionary that translates the words of queries, from the next snapshot on.
    pub fn set_translations(&self, translations: Option<Translations>) {
        let mut current = self
            .translations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *current = translations.map(Arc::new);
        drop(current);
        // After the dictionary: another thread may just have cached a snapshot with the former one.
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Checks for a new commit immediately. Otherwise a commit is visible within half a second.
    pub fn refresh(&self) -> Result<(), IndexError> {
        Ok(self.reader.reload()?)
    }

    /// Returns the last commit. The snapshot is cached until the next commit.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, IndexError> {
        let searcher = self.reader.searcher();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = &*cached
            && snapshot.generation() == searcher.generation().generation_id()
        {
            return Ok(Arc::clone(snapshot));
        }
        let analysis = Analysis::new(commit_metadata::analysis_of(&self.index)?);
        let vocabulary = IndexVocabulary::new(searcher.clone(), self.fields.clone());
        let translations = self
            .translations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let analysis = analysis
            .with_translations(translations)
            .with_vocabulary(Arc::new(vocabulary));
        let snapshot = Arc::new(Snapshot::new(searcher, self.fields.clone(), analysis)?);
        *cached = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}

impl Snapshot {
    fn new(searcher: Searcher, fields: Fields, analysis: Analysis) -> Result<Self, IndexError> {
        let segments = SegmentColumns::load_all(searcher.segment_readers(), &fields)?;
        let mut collection = [FieldStatistics::default(); 8];
        let mut documents = 0;
        for (reader, columns) in searcher.segment_readers().iter().zip(&segments) {
            documents += columns.add_to(reader, &mut collection);
        }
        Ok(Self {
            searcher,
            fields,
            analysis,
            segments,
            collection,
            documents,
            terms: Mutex::default(),
            facets: OnceLock::new(),
            literals: OnceLock::new(),
            covered_years: OnceLock::new(),
        })
    }

    /// Returns the analysis of the documents. Queries require the same analysis.
    #[must_use]
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// Returns the number of datasets.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.documents
    }

    /// Returns true if the index is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Returns a number that changes with every commit.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.searcher.generation().generation_id()
    }

    /// Returns the collection statistics that a model needs for a query.
    pub fn collection_statistics(
        &self,
        query: &AnalyzedQuery,
        fields: &[Field],
        level: StatisticsLevel,
    ) -> Result<CollectionStatistics, IndexError> {
        let mut terms = vec![[TermStatistics::default(); 8]; query.distinct.len()];
        for (statistics, term) in terms.iter_mut().zip(&query.distinct) {
            for &field in fields {
                statistics[field.index()] = self.term_statistics(field, term, level)?;
            }
        }
        Ok(CollectionStatistics {
            documents: self.documents,
            fields: self.collection,
            terms,
        })
    }

    /// Returns the statistics of a term. The document frequency of several tokens cannot be computed from their single
    /// frequencies. Their postings are therefore read together, once.
    fn term_statistics(
        &self,
        field: Field,
        term: &QueryTerm,
        level: StatisticsLevel,
    ) -> Result<TermStatistics, IndexError> {
        let key = (field, term.alternatives.join(TOKEN_SEPARATOR));
        let full = level >= StatisticsLevel::Occurrences || term.alternatives.len() > 1;
        if full
            && let Some(&cached) = self
                .terms
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&key)
        {
            return Ok(cached);
        }
        let mut statistics = TermStatistics::default();
        let text = self.fields.text(field);
        for reader in self.searcher.segment_readers() {
            // The stored frequency includes deleted documents.
            if full || reader.has_deletes() {
                count_term(reader, text, term, &mut statistics)?;
            } else if let Some(token) = term.alternatives.first() {
                let term = Term::from_field_text(text, token);
                statistics.documents += u64::from(reader.inverted_index(text)?.doc_freq(&term)?);
            }
        }
        if full {
            let mut cached = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
            if cached.len() >= MAX_CACHED_TERMS {
                cached.clear();
            }
            cached.insert(key, statistics);
        }
        Ok(statistics)
    }

    /// Removes tokens without occurrences in these fields from words with several tokens. The statistics remain the
    /// same; use it for display.
    pub fn without_absent_tokens(
        &self,
        query: &AnalyzedQuery,
        fields: &[Field],
    ) -> Result<AnalyzedQuery, IndexError> {
        let mut query = query.clone();
        for term in query
            .distinct
            .iter_mut()
            .filter(|term| term.alternatives.len() > 1)
        {
            let mut occurring = Vec::new();
            for token in std::mem::take(&mut term.alternatives) {
                let alone = QueryTerm::from(token);
                let mut documents = 0;
                for &field in fields {
                    documents += self
                        .term_statistics(field, &alone, StatisticsLevel::Documents)?
                        .documents;
                }
                if documents > 0 {
                    occurring.extend(alone.alternatives);
                }
            }
            term.alternatives = occurring;
        }
        Ok(query)
    }

    /// Returns the statistics of some documents that a model needs for a query, in the order of `documents`.
    pub fn document_statistics(
        &self,
        query: &AnalyzedQuery,
        fields: &[Field],
        documents: &[DocumentAddress],
        level: StatisticsLevel,
    ) -> Result<Vec<DocumentStatistics>, IndexError> {
        let mut counts: Vec<DocumentStatistics> = documents
            .iter()
            .map(|address| DocumentStatistics {
                frequencies: vec![[0; 8]; query.distinct.len()],
                pairs: vec![[PairFrequencies::default(); 8]; query.pairs().count()],
                lengths: Field::ALL.map(|field| {
                    self.segments[address.segment as usize].length(field, address.document)
                }),
            })
            .collect();
        // Pairs require two terms.
        let option = if level == StatisticsLevel::Pairs && query.sequence.len() > 1 {
            IndexRecordOption::WithFreqsAndPositions
        } else {
            IndexRecordOption::WithFreqs
        };
        // Postings are read forwards, so documents are processed in index order.
        let mut ascending: Vec<usize> = (0..documents.len()).collect();
        ascending.sort_unstable_by_key(|&place| documents[place]);
        for each in ascending.chunk_by(|&a, &b| documents[a].segment == documents[b].segment) {
            let reader = &self.searcher.segment_readers()[documents[each[0]].segment as usize];
            for &field in fields {
                let mut cursors = self.term_cursors(reader, query, field, option)?;
                for &place in each {
                    count_field(
                        &mut cursors,
                        query,
                        field,
                        documents[place].document,
                        &mut counts[place],
                    );
                }
            }
        }
        Ok(counts)
    }

    fn term_cursors(
        &self,
        reader: &SegmentReader,
        query: &AnalyzedQuery,
        field: Field,
        option: IndexRecordOption,
    ) -> Result<Vec<TermCursor>, IndexError> {
        let text = self.fields.text(field);
        let inverted = reader.inverted_index(text)?;
        let mut cursors = Vec::with_capacity(query.distinct.len());
        for term in &query.distinct {
            let mut lists = Vec::new();
            for token in &term.alternatives {
                lists.extend(inverted.read_postings(&Term::from_field_text(text, token), option)?);
            }
            let with_positions = option == IndexRecordOption::WithFreqsAndPositions;
            cursors.push(TermCursor {
                lists,
                with_positions,
                positions: Vec::new(),
            });
        }
        Ok(cursors)
    }

    /// Returns the id of a document.
    pub fn id(&self, address: DocumentAddress) -> Result<DatasetId, IndexError> {
        read_id(&self.segments[address.segment as usize], address.document)
    }

    /// Returns the datasets that have a term.
    fn documents_with(&self, term: &Term) -> Result<Vec<DocumentAddress>, IndexError> {
        let mut documents = Vec::new();
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = reader.inverted_index(term.field())?;
            if let Some(postings) = inverted.read_postings(term, IndexRecordOption::Basic)? {
                collect_live_documents(reader, segment, postings, &mut documents)?;
            }
        }
        Ok(documents)
    }

    /// Returns the address of a dataset, or `None` if there is no such dataset.
    pub fn address(&self, id: &DatasetId) -> Result<Option<DocumentAddress>, IndexError> {
        let term = Term::from_field_text(self.fields.id, id.as_str());
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = reader.inverted_index(self.fields.id)?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)?
            else {
                continue;
            };
            // Replaced documents remain in the postings until their segment is merged.
            while postings.doc() != TERMINATED {
                if reader
                    .alive_bitset()
                    .is_none_or(|alive| alive.is_alive(postings.doc()))
                {
                    return Ok(Some(DocumentAddress {
                        segment: segment as u32,
                        document: postings.doc(),
                    }));
                }
                postings.advance();
            }
        }
        Ok(None)
    }

    /// Returns the stored display data (card) of a dataset, or `None` if there is no such dataset.
    pub fn card(&self, id: &DatasetId) -> Result<Option<Vec<u8>>, IndexError> {
        self.read_field(id, self.fields.card)
    }

    /// Passes the stored display data (card) of every dataset to a function. Cards are stored in compressed blocks, which are read
    /// once in this order.
    ///
    /// # Errors
    /// If a document cannot be read, or the function fails.
    pub fn visit_cards<E: From<IndexError>>(
        &self,
        mut visit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            for document in reader.doc_ids_alive() {
                let address = DocAddress::new(segment as u32, document);
                let document: TantivyDocument =
                    self.searcher.doc(address).map_err(IndexError::from)?;
                let card = document.get_first(self.fields.card);
                if let Some(bytes) = card.and_then(|card| card.as_bytes()) {
                    visit(bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the stored compact document of a dataset, or `None` if there is no such dataset.
    pub fn compact(&self, id: &DatasetId) -> Result<Option<Vec<u8>>, IndexError> {
        self.read_field(id, self.fields.compact)
    }

    fn read_field(
        &self,
        id: &DatasetId,
        field: tantivy::schema::Field,
    ) -> Result<Option<Vec<u8>>, IndexError> {
        let Some(DocumentAddress { segment, document }) = self.address(id)? else {
            return Ok(None);
        };
        let document: TantivyDocument = self.searcher.doc(DocAddress::new(segment, document))?;
        Ok(document
            .get_first(field)
            .and_then(|value| value.as_bytes().map(<[u8]>::to_vec)))
    }

    /// Returns the id of a dataset of the index, or `None` if it is empty.
    pub fn any_id(&self) -> Result<Option<DatasetId>, IndexError> {
        for (reader, columns) in self.searcher.segment_readers().iter().zip(&self.segments) {
            if let Some(document) = reader.doc_ids_alive().next() {
                return read_id(columns, document).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the version of every dataset. Datasets with an unchanged version need no new indexing.
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
                versions.insert(read_id(columns, document)?, version);
            }
        }
        Ok(versions)
    }
}

/// Collects the live documents of postings. Damaged postings may name documents that do not exist.
fn collect_live_documents(
    reader: &SegmentReader,
    segment: usize,
    mut postings: impl DocSet,
    documents: &mut Vec<DocumentAddress>,
) -> Result<(), IndexError> {
    let alive = reader.alive_bitset();
    while postings.doc() != TERMINATED {
        if postings.doc() >= reader.max_doc() {
            let (document, all) = (postings.doc(), reader.max_doc());
            return Err(IndexError::Damaged(format!(
                "postings contain document {document} of {all}"
            )));
        }
        if alive.is_none_or(|alive| alive.is_alive(postings.doc())) {
            documents.push(DocumentAddress {
                segment: segment as u32,
                document: postings.doc(),
            });
        }
        postings.advance();
    }
    Ok(())
}

fn read_id(columns: &SegmentColumns, document: tantivy::DocId) -> Result<DatasetId, IndexError> {
    let id = columns.id(document)?;
    DatasetId::new(id.as_str()).map_err(|_| IndexError::Card(format!("{id:?} is not a dataset id")))
}

/// Forward cursor on the postings of a term in a field.
struct TermCursor {
    /// One posting list for each token of the term.
    lists: Vec<SegmentPostings>,
    with_positions: bool,
    /// Positions in the current document, ascending.
    positions: Vec<u32>,
}

impl TermCursor {
    /// Moves to a document and returns the term frequency. Reads positions if they are required.
    fn seek(&mut self, document: u32) -> u32 {
        self.positions.clear();
        let mut frequency = 0;
        let mut holding = 0;
        for postings in &mut self.lists {
            // Postings are read forwards, and may be behind the document already.
            if postings.doc() < document {
                postings.seek(document);
            }
            if postings.doc() != document {
                continue;
            }
            if self.with_positions {
                postings.append_positions_with_offset(0, &mut self.positions);
            }
            frequency += postings.term_freq();
            holding += 1;
        }
        // Each list is sorted, but not all of them together.
        if holding > 1 {
            self.positions.sort_unstable();
        }
        frequency
    }
}

/// Counts the terms and term pairs of a query in a field of a document.
fn count_field(
    cursors: &mut [TermCursor],
    query: &AnalyzedQuery,
    field: Field,
    document: u32,
    counts: &mut DocumentStatistics,
) {
    for (cursor, frequencies) in cursors.iter_mut().zip(&mut counts.frequencies) {
        frequencies[field.index()] = cursor.seek(document);
    }
    let length = counts.lengths[field.index()];
    let mut counted = FxHashMap::default();
    for (words, pair) in query.pairs().zip(&mut counts.pairs) {
        // A pair that the query repeats is counted once.
        pair[field.index()] = *counted.entry(words).or_insert_with(|| {
            PairFrequencies::count(
                &cursors[words.0].positions,
                &cursors[words.1].positions,
                length,
            )
        });
    }
}

/// Adds a segment's live documents that contain a term, and its occurrences in them.
fn count_term(
    reader: &SegmentReader,
    field: tantivy::schema::Field,
    term: &QueryTerm,
    statistics: &mut TermStatistics,
) -> Result<(), IndexError> {
    let inverted = reader.inverted_index(field)?;
    let Some(mut postings) = TermPostings::open(&inverted, field, &term.alternatives)? else {
        return Ok(());
    };
    let alive = reader.alive_bitset();
    postings.read(TERMINATED, |documents, frequencies| {
        let living = documents
            .iter()
            .zip(frequencies)
            .filter(|(document, _)| match alive {
                Some(alive) => alive.is_alive(**document),
                None => true,
            });
        for (_, &frequency) in living {
            statistics.documents += 1;
            statistics.occurrences += u64::from(frequency);
        }
    });
    Ok(())
}
