//! Dense retrieval: scores of datasets by one encoder's vectors, and the parts of their texts that contribute most.

mod matches;
mod term_index;
mod vector_matrix;

pub use matches::{DenseMatch, PartKind, PartShare};

use crate::encoding::{document_digest, normalize, pack_rows, passages, read_compact_document};
use crate::scope::CandidateScope;
use crate::{EngineError, vectors_folder};
use lodeseek_catalog::DatasetId;
use lodeseek_index::Snapshot;
use lodeseek_index::document::CompactDocument;
use lodeseek_index::vectors::{Precision, Rows, Vectors, VectorsSnapshot, model_folder};
use lodeseek_rerank::{
    Combination, Encoder, Granularity, Matrix, Passage, Query, colbert, dpr, term_weights,
};
use lru::LruCache;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use term_index::TermIndex;
use vector_matrix::{
    MAX_EXACT_DATASETS, ScoredPlace, StoredMatrix, VectorSource, top_filtered_places, top_places,
};

/// Maximum number of queries whose vectors are cached.
const MAX_CACHED_QUERIES: NonZeroUsize = NonZeroUsize::new(256).expect("above 0");
/// Maximum number of parts returned as explanation of a score.
const MAX_PARTS: usize = 3;

/// An encoder and the vectors that it made of a home's datasets.
pub(super) struct DenseRetriever {
    encoder: Box<dyn Encoder>,
    vectors: Vectors,
    queries: Mutex<LruCache<String, Arc<Query>>>,
    matrix: Mutex<Option<Arc<StoredMatrix>>>,
    term_index: Mutex<Option<Arc<TermIndex>>>,
    freshness: Mutex<FreshnessCache>,
    damaged: Mutex<DamagedVectors>,
}

/// The datasets whose vectors were found damaged.
#[derive(Default)]
struct DamagedVectors {
    /// The generation of the vectors for which the list is valid.
    generation: u64,
    ids: BTreeSet<DatasetId>,
}

/// A cache of tests if a dataset's vectors belong to its current texts.
#[derive(Default)]
struct FreshnessCache {
    /// The generations of the vectors and of the index for which the entries are valid.
    generations: (u64, u64),
    is_current: FxHashMap<DatasetId, bool>,
}

/// Returns true if a dataset's vectors belong to its current texts.
fn is_current(
    id: &DatasetId,
    vectors: &VectorsSnapshot,
    index: &Snapshot,
) -> Result<bool, EngineError> {
    let Some(encoded) = vectors.digest(id) else {
        return Ok(false);
    };
    let Some(compact) = read_compact_document(index, id)? else {
        return Ok(false);
    };
    Ok(encoded == document_digest(&compact)?)
}

/// The vectors of a query, and the snapshot of the datasets' vectors with which it is compared.
pub(super) struct EncodedQuery {
    vectors: Arc<VectorsSnapshot>,
    query: Arc<Query>,
}

impl EncodedQuery {
    /// Returns the vectors of the query.
    pub(super) fn vectors(&self) -> &Query {
        &self.query
    }
}

/// The vectors of a dataset's metadata and data, as far as there are any, for comparison with other datasets.
pub(super) struct DatasetVectors([Option<Query>; 2]);

/// Options of scoring candidates.
pub(super) struct ScoringOptions {
    pub(super) combination: Combination,
    pub(super) condition: MatchCondition,
    pub(super) threads: NonZeroUsize,
}

/// Condition under which the score of an encoder makes a dataset a match.
#[derive(Clone, Copy)]
pub(super) enum MatchCondition {
    Always,
    /// Minimum similarity, per row of the query.
    AtLeast(f64),
    Never,
}

impl MatchCondition {
    fn is_met(self, score: f64, rows: f64) -> bool {
        match self {
            Self::Always => true,
            Self::AtLeast(min_similarity) => score >= min_similarity * rows,
            Self::Never => false,
        }
    }
}

impl DenseRetriever {
    pub(super) fn open(home: &Path, encoder: Box<dyn Encoder>) -> Result<Self, EngineError> {
        let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
        let vectors = Vectors::open(&folder, encoder.fingerprint())?;
        let queries = Mutex::new(LruCache::new(MAX_CACHED_QUERIES));
        Ok(Self {
            encoder,
            vectors,
            queries,
            matrix: Mutex::default(),
            term_index: Mutex::default(),
            freshness: Mutex::default(),
            damaged: Mutex::default(),
        })
    }

    pub(super) fn encoder(&self) -> &dyn Encoder {
        self.encoder.as_ref()
    }

    /// Returns the number of datasets whose vectors were found damaged so far.
    pub(super) fn count_damaged(&self) -> usize {
        self.damaged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .ids
            .len()
    }

    /// Counts the datasets among some whose vectors were found damaged.
    pub(super) fn count_damaged_among(&self, ids: &[DatasetId]) -> usize {
        let damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        ids.iter().filter(|id| damaged.ids.contains(*id)).count()
    }

    /// Notes that the vectors of a dataset are damaged. Logs it once for each commit of the vectors.
    fn note_damage(&self, id: &DatasetId, generation: u64) {
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        if damaged.generation != generation {
            *damaged = DamagedVectors {
                generation,
                ids: BTreeSet::new(),
            };
        }
        if damaged.ids.insert(id.clone()) {
            let model = self.encoder.name();
            tracing::error!(
                "the vectors of dataset {id} by {model} are damaged: it is ranked without them; run `lodeseek repair`, then \
                 `lodeseek index` with the encoder"
            );
        }
    }

    /// Returns the number format of its stored vectors.
    pub(super) fn precision(&self) -> Result<Precision, EngineError> {
        Ok(self.vectors.snapshot()?.description().precision)
    }

    /// Encodes a query, or returns its cached vectors.
    pub(super) fn encode_query(&self, query: &str) -> Result<EncodedQuery, EngineError> {
        Ok(EncodedQuery {
            vectors: self.vectors.snapshot()?,
            query: self.query(query)?,
        })
    }

    /// Returns the candidates whose texts have not changed since they were encoded.
    ///
    /// Results are cached until the index or the vectors change: reading and hashing the text of a dataset takes about 0.1 ms.
    pub(super) fn current_candidates(
        &self,
        encoded: &EncodedQuery,
        candidates: &[DatasetId],
        index: &Snapshot,
    ) -> Result<Vec<DatasetId>, EngineError> {
        self.current_in(&encoded.vectors, candidates, index)
    }

    /// Returns the datasets whose texts have not changed since the latest vectors were made.
    pub(super) fn current(
        &self,
        candidates: &[DatasetId],
        index: &Snapshot,
    ) -> Result<Vec<DatasetId>, EngineError> {
        let vectors = self.vectors.snapshot()?;
        self.current_in(&vectors, candidates, index)
    }

    fn current_in(
        &self,
        vectors: &VectorsSnapshot,
        candidates: &[DatasetId],
        index: &Snapshot,
    ) -> Result<Vec<DatasetId>, EngineError> {
        let generations = (vectors.generation(), index.generation());
        let mut cache = self
            .freshness
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if cache.generations != generations {
            *cache = FreshnessCache {
                generations,
                is_current: FxHashMap::default(),
            };
        }
        let mut current = Vec::with_capacity(candidates.len());
        for id in candidates {
            let is_current = match cache.is_current.get(id) {
                Some(&is_current) => is_current,
                None => *cache
                    .is_current
                    .entry(id.clone())
                    .or_insert(is_current(id, vectors, index)?),
            };
            if is_current {
                current.push(id.clone());
            }
        }
        Ok(current)
    }

    /// Returns the nearest `depth` datasets of a scope, in no order. Not for an encoder with one vector per token.
    ///
    /// By learned sparse vectors, none are found if there are more than [`MAX_EXACT_DATASETS`]: their lists would exceed the memory.
    pub(super) fn nearest(
        &self,
        encoded: &EncodedQuery,
        combination: Combination,
        depth: usize,
        scope: CandidateScope<'_>,
    ) -> Result<Vec<DatasetId>, EngineError> {
        let vectors = &*encoded.vectors;
        let source = self.source(vectors);
        let places = if self.encoder.granularity() == Granularity::Term {
            match self.term_index(vectors) {
                Some(index) => {
                    let scored = index.scores(&encoded.query, |[metadata, data]| {
                        combination.combine(metadata, data)
                    });
                    top_places_in_scope(scored, depth, vectors, scope)?
                }
                None => Vec::new(),
            }
        } else {
            self.matrix(vectors).nearest(
                &source,
                [Some(&*encoded.query); 2],
                |[metadata, data]| combination.combine(metadata, data),
                depth,
                |scored, depth| top_places_in_scope(scored, depth, vectors, scope),
            )?
        };
        Ok(source.ids(&places))
    }

    fn source<'v>(&'v self, vectors: &'v VectorsSnapshot) -> VectorSource<'v, impl Fn(&DatasetId)> {
        VectorSource {
            vectors,
            on_damage: |id: &DatasetId| self.note_damage(id, vectors.generation()),
        }
    }

    /// Returns the vectors of a dataset. `None` if it has none, or if its texts have changed since.
    pub(super) fn vectors_of(
        &self,
        id: &DatasetId,
        index: &Snapshot,
    ) -> Result<Option<DatasetVectors>, EngineError> {
        let vectors = self.vectors.snapshot()?;
        if !is_current(id, &vectors, index)? {
            return Ok(None);
        }
        let Some(stored) = vectors.get(id)? else {
            return Ok(None);
        };
        Ok(Some(DatasetVectors([
            first_row(&stored.metadata),
            first_row(&stored.data),
        ])))
    }

    /// Encodes the texts of a dataset or an example.
    pub(super) fn encode_texts(
        &self,
        compact: &CompactDocument,
    ) -> Result<DatasetVectors, EngineError> {
        let matrices = self.encoder.encode_passages(&passages(compact))?;
        let mut queries = matrices.iter().map(|matrix| {
            (matrix.rows() > 0).then(|| Query::new(&normalize(self.encoder(), matrix)))
        });
        Ok(DatasetVectors([
            queries.next().flatten(),
            queries.next().flatten(),
        ]))
    }

    /// Returns the similarity of every dataset to some vectors, at most 1: the mean of the similarities of metadata and of
    /// data, as far as both have them. Datasets without a positive similarity are omitted, and in large collections those
    /// whose vectors are not among the nearest by their signs.
    pub(super) fn similarities(
        &self,
        vectors: &DatasetVectors,
    ) -> Result<Vec<(DatasetId, f64)>, EngineError> {
        let stored = self.vectors.snapshot()?;
        let queries = vectors.0.each_ref().map(Option::as_ref);
        let source = self.source(&stored);
        let similar = self
            .matrix(&stored)
            .similarities(&source, queries, mean_similarity);
        Ok(similar
            .into_iter()
            .map(|one| (source.id(one.place).clone(), one.score))
            .collect())
    }

    /// Returns the vectors of a query, ready for multiplication.
    fn query(&self, text: &str) -> Result<Arc<Query>, EngineError> {
        if let Some(cached) = self
            .queries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(text)
        {
            return Ok(Arc::clone(cached));
        }
        // The model runs without the lock, so that cached queries are not delayed.
        let matrix = self
            .encoder
            .encode_queries(&[text])?
            .pop()
            .unwrap_or_default();
        let query = Arc::new(Query::new(&normalize(self.encoder(), &matrix)));
        self.queries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .put(text.to_owned(), Arc::clone(&query));
        Ok(query)
    }

    /// Returns the scores of the candidates that have vectors.
    pub(super) fn scores(
        &self,
        encoded: &EncodedQuery,
        candidates: &[DatasetId],
        options: &ScoringOptions,
    ) -> FxHashMap<DatasetId, DenseMatch> {
        let threads = options.threads.get();
        if threads == 1 || candidates.len() < 2 {
            return self
                .score_chunk(encoded, candidates, options)
                .into_iter()
                .collect();
        }
        thread::scope(|scope| {
            let mut workers = Vec::with_capacity(threads);
            for ids in candidates.chunks(candidates.len().div_ceil(threads)) {
                workers.push(scope.spawn(move || self.score_chunk(encoded, ids, options)));
            }
            let mut scores = FxHashMap::default();
            for worker in workers {
                match worker.join() {
                    Ok(chunk) => scores.extend(chunk),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            scores
        })
    }

    fn score_chunk(
        &self,
        encoded: &EncodedQuery,
        ids: &[DatasetId],
        options: &ScoringOptions,
    ) -> Vec<(DatasetId, DenseMatch)> {
        let mut scores = Vec::with_capacity(ids.len());
        for id in ids {
            scores.extend(
                self.score(encoded, id, options)
                    .map(|score| (id.clone(), score)),
            );
        }
        scores
    }

    fn score(
        &self,
        encoded: &EncodedQuery,
        id: &DatasetId,
        options: &ScoringOptions,
    ) -> Option<DenseMatch> {
        let stored = match encoded.vectors.get(id) {
            Ok(stored) => stored?,
            Err(_) => {
                self.note_damage(id, encoded.vectors.generation());
                return None;
            }
        };
        let metadata = self.similarity(&encoded.query, &stored.metadata);
        let data = self.similarity(&encoded.query, &stored.data);
        let score = options.combination.combine(metadata, data)?;
        let rows = encoded.query.rows().max(1) as f64;
        Some(DenseMatch {
            model: self.encoder.name().to_owned(),
            granularity: self.encoder.granularity(),
            score,
            metadata,
            data,
            closest: !options.condition.is_met(score, rows),
            is_multilingual: false,
            parts: Vec::new(),
        })
    }

    fn similarity(&self, query: &Query, rows: &Rows) -> Option<f64> {
        match self.encoder.granularity() {
            Granularity::Text => dpr::dot(query, rows).first().map(|score| f64::from(*score)),
            Granularity::Piece => colbert::max_sim(query, rows),
            Granularity::Term => {
                term_weights::products(query, rows).map(|products| products.iter().sum())
            }
        }
    }

    /// Returns the inverted lists of all vectors, read again after a commit. `None` if there are too many datasets.
    fn term_index(&self, vectors: &VectorsSnapshot) -> Option<Arc<TermIndex>> {
        if vectors.len() > MAX_EXACT_DATASETS {
            return None;
        }
        // Locked while it is made: other queries need it, too, and would make it again.
        let mut cached = self
            .term_index
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = cached
            .as_ref()
            .filter(|index| index.generation == vectors.generation())
        {
            return Some(Arc::clone(index));
        }
        let index = Arc::new(TermIndex::new(&self.source(vectors)));
        *cached = Some(Arc::clone(&index));
        Some(index)
    }

    /// Returns all vectors, read again after a commit.
    fn matrix(&self, vectors: &VectorsSnapshot) -> Arc<StoredMatrix> {
        let mut cached = self.matrix.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(matrix) = &*cached
            && matrix.generation == vectors.generation()
        {
            return Arc::clone(matrix);
        }
        let matrix = Arc::new(StoredMatrix::new(&self.source(vectors), MAX_EXACT_DATASETS));
        *cached = Some(Arc::clone(&matrix));
        matrix
    }

    /// Returns the parts that contribute most to a dataset's score. Empty if its texts have changed since they were encoded.
    pub(super) fn explain(
        &self,
        query: &str,
        id: &DatasetId,
        matched: &DenseMatch,
        combination: Combination,
        index: &Snapshot,
    ) -> Result<Vec<PartShare>, EngineError> {
        let text = query;
        let EncodedQuery { vectors, query } = self.encode_query(query)?;
        let Some(compact) = read_compact_document(index, id)? else {
            return Ok(Vec::new());
        };
        // Damage was noted when the score was computed.
        let Ok(Some(stored)) = vectors.get(id) else {
            return Ok(Vec::new());
        };
        if vectors.digest(id) != Some(document_digest(&compact)?.as_str()) {
            return Ok(Vec::new());
        }
        let contributes = combination.contributions(matched.metadata, matched.data);
        let rows = [&stored.metadata, &stored.data];
        let terms = match self.encoder.granularity() {
            Granularity::Term => self.encoder.query_pieces(text)?,
            Granularity::Text | Granularity::Piece => Vec::new(),
        };
        let mut shares = Vec::new();
        for (place, passage) in passages(&compact).into_iter().enumerate() {
            if !contributes[place] {
                continue;
            }
            if self.encoder.granularity() == Granularity::Term {
                shares.extend(term_shares(
                    &terms,
                    &query,
                    PartKind::BOTH[place],
                    rows[place],
                ));
            } else {
                shares.extend(self.part_shares(
                    &query,
                    PartKind::BOTH[place],
                    passage,
                    rows[place],
                )?);
            }
        }
        shares.sort_by(|a, b| b.score.total_cmp(&a.score));
        shares.truncate(MAX_PARTS);
        Ok(shares)
    }

    /// Returns the contribution of each part of a text.
    fn part_shares(
        &self,
        query: &Query,
        kind: PartKind,
        passage: Passage<'_>,
        rows: &Rows,
    ) -> Result<Vec<PartShare>, EngineError> {
        let scores = match self.encoder.granularity() {
            Granularity::Piece => {
                let origins = self.encoder.origins(passage)?;
                sums_by_part(
                    &colbert::best_matches(query, rows),
                    &origins,
                    passage.parts.len(),
                )
            }
            Granularity::Text => self.scores_of_parts(query, passage)?,
            Granularity::Term => Vec::new(),
        };
        let mut shares = Vec::new();
        for (text, score) in passage.parts.iter().zip(scores) {
            shares.extend(score.map(|score| PartShare {
                of: kind,
                text: text.clone(),
                score,
            }));
        }
        Ok(shares)
    }

    /// Returns the score of each part as a text of its own.
    fn scores_of_parts(
        &self,
        query: &Query,
        passage: Passage<'_>,
    ) -> Result<Vec<Option<f64>>, EngineError> {
        let parts: Vec<Passage<'_>> = passage
            .parts
            .chunks(1)
            .map(|parts| Passage {
                parts,
                pieces_a_part: passage.pieces_a_part,
            })
            .collect();
        let mut scores = Vec::with_capacity(parts.len());
        for matrix in self.encoder.encode_passages(&parts)? {
            let rows = pack_rows(self.encoder(), &matrix, Precision::F16);
            scores.push(self.similarity(query, &rows));
        }
        Ok(scores)
    }
}

/// Returns the best `depth` of scored datasets that pass the filter of a scope, in no order.
fn top_places_in_scope(
    scored: impl Iterator<Item = ScoredPlace>,
    depth: usize,
    vectors: &VectorsSnapshot,
    scope: CandidateScope<'_>,
) -> Result<Vec<u32>, EngineError> {
    match scope.filtered {
        None => Ok(top_places(scored, depth)),
        Some(filtered) => top_filtered_places(scored, depth, vectors, scope.snapshot, filtered),
    }
}

/// Returns the first of some rows, ready for multiplication. `None` if there are no rows.
fn first_row(rows: &Rows) -> Option<Query> {
    (rows.rows() > 0).then(|| Query::new(&Matrix::new(rows.columns(), rows.row(0))))
}

/// Returns the mean of the known similarities, at most 1. `None` if it is not positive.
fn mean_similarity(products: [Option<f64>; 2]) -> Option<f64> {
    let count = products.iter().flatten().count();
    let mean = products.iter().flatten().sum::<f64>() / count.max(1) as f64;
    (mean > 0.0).then_some(mean.min(1.0))
}

/// Returns the contribution of each term of a query that a text has.
fn term_shares(terms: &[String], query: &Query, kind: PartKind, rows: &Rows) -> Vec<PartShare> {
    let products = term_weights::products(query, rows).unwrap_or_default();
    let mut shares = Vec::new();
    for (term, score) in terms.iter().zip(products) {
        if score > 0.0 {
            shares.push(PartShare {
                of: kind,
                text: term.clone(),
                score,
            });
        }
    }
    shares
}

/// Returns the sum of the similarities of each part's best matches. `None` for a part that is no row's best match.
fn sums_by_part(
    matches: &[colbert::BestMatch],
    origins: &[Option<usize>],
    parts: usize,
) -> Vec<Option<f64>> {
    let mut sums = vec![None; parts];
    for best in matches {
        let part = origins.get(best.row).copied().flatten();
        if let Some(sum) = part.and_then(|part| sums.get_mut(part)) {
            *sum = Some(sum.unwrap_or(0.0) + f64::from(best.similarity));
        }
    }
    sums
}
