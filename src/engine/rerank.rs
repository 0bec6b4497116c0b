//! Ranking again by vectors: the best of several sparse models, and of all vectors where wanted, are scored by an
//! encoder's vectors, and ranked by those scores alone or together with the sparse ones.

use super::encoding::{compact, comparable, digest, passages};
use super::{EngineError, vectors_folder};
use crate::catalog::DatasetId;
use crate::index::Snapshot;
use crate::index::vectors::{Precision, Rows, Vectors, VectorsSnapshot, model_folder};
use crate::ranking::{Ranking, Scored};
use crate::rerank::{Combination, Encoder, Fusion, Granularity, Matrix, Method, Passage, Query, colbert, dpr};
use crate::sparse::ModelKind;
use lru::LruCache;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Queries whose vectors are kept.
const QUERIES_KEPT: NonZeroUsize = NonZeroUsize::new(256).expect("above 0");
/// Parts named for a hit.
const PARTS: usize = 3;

/// How rankings are ranked again.
#[derive(Clone, Debug)]
pub struct RerankOptions {
    /// The sparse models whose best are candidates; none stands for the model that is searched with.
    pub pool: Vec<ModelKind>,
    /// Candidates of each. Default 20.
    pub depth: usize,
    /// Candidates by vectors, from among all datasets; needs an encoder with one vector a text. Default none.
    ///
    /// Every vector is compared, so the best are found; they are held in memory as they are stored.
    pub dense: Option<NonZeroUsize>,
    /// How the scores of a dataset's two texts become one.
    pub combination: Combination,
    /// How the sparse rankings and the dense one become one. Default: the dense scores alone, as Q. Chen et al., *Dense
    /// Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023.
    pub fusion: Option<WeightedFusion>,
    /// The score, for a row of the query, below which a hit counts as the closest there is rather than found. Scores of
    /// different models do not compare: take what the irrelevant datasets of judged queries rarely exceed. Default none.
    pub floor: Option<f64>,
    /// Threads that score the candidates of one query. Default 1.
    pub threads: NonZeroUsize,
}

impl Default for RerankOptions {
    fn default() -> Self {
        Self {
            pool: Vec::new(),
            depth: 20,
            dense: None,
            combination: Combination::default(),
            fusion: None,
            floor: None,
            threads: NonZeroUsize::MIN,
        }
    }
}

/// A way to fuse, and the weight of each sparse ranking, then of the dense one. No weights stand for equal ones.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "named above")]
pub struct WeightedFusion {
    pub method: Method,
    pub weights: Vec<f64>,
}

/// Options that an encoder cannot be used with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RerankError {
    /// Weights that are not one for each ranking.
    #[error("{given} weights for {expected} rankings: one for each model of the pool, and one for the vectors")]
    #[expect(missing_docs, reason = "named in the message")]
    Weights { given: usize, expected: usize },
    /// A weight below 0, or no number; or none above 0.
    #[error("weights must be numbers from 0 on, and one of them above 0")]
    NoWeight,
    /// All datasets are to be compared by a model with a vector a piece.
    #[error("the model {0} has a vector a piece: it ranks candidates, not all datasets")]
    VectorAPiece(String),
}

/// An encoder and the vectors that it made of a home's datasets.
pub struct Reranker {
    encoder: Box<dyn Encoder>,
    options: RerankOptions,
    vectors: Vectors,
    queries: Mutex<LruCache<String, Arc<Query>>>,
    all: Mutex<Option<Arc<All>>>,
}

/// What a ranking by vectors says of itself.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct RerankSummary {
    /// The encoder's name.
    pub model: String,
    /// Datasets that were ranked again.
    pub candidates: usize,
    /// Those of them without vectors, or with damaged ones: placed by the sparse models alone.
    pub unencoded: usize,
}

/// How a dataset was scored by its vectors.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct DenseMatch {
    /// The score.
    pub score: f64,
    /// That of the metadata, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<f64>,
    /// That of the triples, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<f64>,
    /// Whether it is below the floor: among the closest there are, but hardly what was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closest: bool,
    /// The parts that carried most of it, where explanations were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartShare>,
}

/// A part of a dataset's texts, and what it gave to the score.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct PartShare {
    /// The text it belongs to.
    pub of: PartKind,
    /// Its words.
    pub text: String,
    /// With a vector a piece: the sum over the query's pieces that it answers best. With a vector a text: the score it
    /// would have alone.
    pub score: f64,
}

/// What a part is.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// A title, a description, tags, an author.
    Metadata,
    /// A triple.
    Triple,
}

impl PartKind {
    const BOTH: [Self; 2] = [Self::Metadata, Self::Triple];
}

/// A ranking by vectors.
pub(super) struct Reranked {
    pub(super) ranking: Ranking,
    pub(super) dense: FxHashMap<DatasetId, DenseMatch>,
    pub(super) summary: RerankSummary,
}

impl Reranker {
    /// Opens the vectors that the encoder made of a home's datasets.
    pub fn open(home: &Path, encoder: Box<dyn Encoder>, options: RerankOptions) -> Result<Self, EngineError> {
        check(&options, encoder.as_ref())?;
        let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
        let vectors = Vectors::open(&folder, encoder.fingerprint())?;
        let queries = Mutex::new(LruCache::new(QUERIES_KEPT));
        Ok(Self { encoder, options, vectors, queries, all: Mutex::default() })
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &RerankOptions {
        &self.options
    }

    /// The encoder.
    #[must_use]
    pub fn encoder(&self) -> &dyn Encoder {
        self.encoder.as_ref()
    }

    /// Ranks the union of sparse rankings, and of the best by vectors where wanted.
    pub(super) fn rank(&self, query: &str, sparse: &[Ranking]) -> Result<Reranked, EngineError> {
        let (vectors, query) = (self.vectors.snapshot()?, self.query(query)?);
        let mut candidates: BTreeSet<DatasetId> =
            sparse.iter().flat_map(|ranking| ranking.iter()).map(|scored| scored.id.clone()).collect();
        if let Some(depth) = self.options.dense {
            candidates.extend(self.all(&vectors).best(&query, self.options.combination, depth.get()));
        }
        let candidates: Vec<DatasetId> = candidates.into_iter().collect();
        let dense = self.scores(&query, &candidates, &vectors);
        let summary = RerankSummary {
            model: self.encoder.name().to_owned(),
            candidates: candidates.len(),
            unencoded: candidates.len() - dense.len(),
        };
        let scored = dense.iter().map(|(id, dense)| Scored { id: id.clone(), score: dense.score }).collect();
        let ranking = self.joined(sparse, Ranking::from_scores(scored));
        Ok(Reranked { ranking, dense, summary })
    }

    /// The vectors of a query, as they are multiplied.
    fn query(&self, text: &str) -> Result<Arc<Query>, EngineError> {
        if let Some(known) = self.queries.lock().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(Arc::clone(known));
        }
        // Not under the lock: others need not wait for the model.
        let matrix = self.encoder.encode_queries(&[text])?.pop().unwrap_or_default();
        let query = Arc::new(Query::new(&comparable(self.encoder(), &matrix)));
        self.queries.lock().unwrap_or_else(PoisonError::into_inner).put(text.to_owned(), Arc::clone(&query));
        Ok(query)
    }

    /// The dense scores of the candidates that have vectors.
    fn scores(
        &self,
        query: &Query,
        candidates: &[DatasetId],
        vectors: &VectorsSnapshot,
    ) -> FxHashMap<DatasetId, DenseMatch> {
        let score = |ids: &[DatasetId]| {
            let of = |id: &DatasetId| Some((id.clone(), self.score(query, id, vectors)?));
            ids.iter().filter_map(of).collect::<Vec<_>>()
        };
        let threads = self.options.threads.get();
        if threads == 1 || candidates.len() < 2 {
            return score(candidates).into_iter().collect();
        }
        thread::scope(|scope| {
            let chunks = candidates.chunks(candidates.len().div_ceil(threads));
            let running: Vec<_> = chunks.map(|ids| scope.spawn(|| score(ids))).collect();
            let scores = running.into_iter().flat_map(|thread| match thread.join() {
                Ok(scores) => scores,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            scores.collect()
        })
    }

    fn score(&self, query: &Query, id: &DatasetId, vectors: &VectorsSnapshot) -> Option<DenseMatch> {
        let stored = match vectors.get(id) {
            Ok(stored) => stored?,
            Err(error) => {
                tracing::warn!(%error, "ranked without its vectors");
                return None;
            }
        };
        let [metadata, data] = [&stored.metadata, &stored.data].map(|rows| self.likeness(query, rows));
        let score = self.options.combination.of(metadata, data)?;
        let closest = self.options.floor.is_some_and(|floor| score < floor * query.rows() as f64);
        Some(DenseMatch { score, metadata, data, closest, parts: Vec::new() })
    }

    fn likeness(&self, query: &Query, rows: &Rows) -> Option<f64> {
        match self.encoder.granularity() {
            Granularity::Text => dpr::dot(query, rows).first().map(|score| f64::from(*score)),
            Granularity::Piece => colbert::max_sim(query, rows),
        }
    }

    fn joined(&self, sparse: &[Ranking], dense: Ranking) -> Ranking {
        let Some(fusion) = &self.options.fusion else { return behind(dense, sparse) };
        let rankings = sparse.iter().chain([&dense]);
        let weighted: Vec<_> = match fusion.weights[..] {
            [] => rankings.map(|ranking| (ranking, 1.0)).collect(),
            ref weights => rankings.zip(weights.iter().copied()).collect(),
        };
        Fusion::default().with_method(fusion.method).with_depth(usize::MAX).fuse(&weighted)
    }

    /// All vectors as one matrix; made anew after a commit.
    fn all(&self, vectors: &VectorsSnapshot) -> Arc<All> {
        let mut kept = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = &*kept
            && all.generation == vectors.generation()
        {
            return Arc::clone(all);
        }
        let all = Arc::new(All::of(vectors));
        *kept = Some(Arc::clone(&all));
        all
    }

    /// The parts that carried most of a dataset's score; none where its texts are no longer those that were encoded.
    pub(super) fn explain(
        &self,
        query: &str,
        id: &DatasetId,
        found: &DenseMatch,
        index: &Snapshot,
    ) -> Result<Vec<PartShare>, EngineError> {
        let (vectors, query) = (self.vectors.snapshot()?, self.query(query)?);
        let (Some(compact), Ok(Some(stored))) = (compact(index, id)?, vectors.get(id)) else { return Ok(Vec::new()) };
        if vectors.digest(id) != Some(digest(&compact)?.as_str()) {
            return Ok(Vec::new());
        }
        let carried = self.options.combination.carried(found.metadata, found.data);
        let mut shares = Vec::new();
        for (((kind, passage), rows), carried) in
            PartKind::BOTH.into_iter().zip(passages(&compact)).zip([&stored.metadata, &stored.data]).zip(carried)
        {
            if carried {
                shares.extend(self.shares(&query, kind, passage, rows)?);
            }
        }
        shares.sort_by(|a, b| b.score.total_cmp(&a.score));
        shares.truncate(PARTS);
        Ok(shares)
    }

    /// What each part of a text gave.
    fn shares(
        &self,
        query: &Query,
        kind: PartKind,
        passage: Passage<'_>,
        rows: &Rows,
    ) -> Result<Vec<PartShare>, EngineError> {
        let scores = match self.encoder.granularity() {
            Granularity::Piece => {
                let origins = self.encoder.origins(passage)?;
                won(&colbert::winners(query, rows), &origins, passage.parts.len())
            }
            Granularity::Text => self.alone(query, passage)?,
        };
        let share =
            |(text, score): (&String, Option<f64>)| Some(PartShare { of: kind, text: text.clone(), score: score? });
        Ok(passage.parts.iter().zip(scores).filter_map(share).collect())
    }

    /// The score that each part would have as a text of its own.
    fn alone(&self, query: &Query, passage: Passage<'_>) -> Result<Vec<Option<f64>>, EngineError> {
        let alone: Vec<Passage<'_>> =
            passage.parts.chunks(1).map(|parts| Passage { parts, pieces_a_part: passage.pieces_a_part }).collect();
        let rows = |matrix: &Matrix| {
            let comparable = comparable(self.encoder(), matrix);
            Rows::pack(comparable.values(), comparable.columns(), Precision::F16)
        };
        let matrices = self.encoder.encode_passages(&alone)?;
        Ok(matrices.iter().map(|matrix| self.likeness(query, &rows(matrix))).collect())
    }
}

/// The sums of the similarities won by each part; nothing for a part that answers no row of the query best.
fn won(winners: &[colbert::Winner], origins: &[Option<usize>], parts: usize) -> Vec<Option<f64>> {
    let mut sums = vec![None; parts];
    for winner in winners {
        if let Some(sum) = origins.get(winner.row).copied().flatten().and_then(|part| sums.get_mut(part)) {
            *sum = Some(sum.unwrap_or(0.0) + f64::from(winner.similarity));
        }
    }
    sums
}

fn check(options: &RerankOptions, encoder: &dyn Encoder) -> Result<(), RerankError> {
    let expected = options.pool.len().max(1) + 1;
    if let Some(WeightedFusion { weights, .. }) = &options.fusion
        && !weights.is_empty()
    {
        if weights.len() != expected {
            return Err(RerankError::Weights { given: weights.len(), expected });
        }
        let sound = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
        if !sound || weights.iter().all(|weight| *weight == 0.0) {
            return Err(RerankError::NoWeight);
        }
    }
    if options.dense.is_some() && encoder.granularity() == Granularity::Piece {
        return Err(RerankError::VectorAPiece(encoder.name().to_owned()));
    }
    Ok(())
}

/// A dense ranking and, behind it, what it does not hold, in the order of the sparse rankings fused by their ranks. How far
/// below the last dense score the scores of these lie says that order and no more: nothing compares them.
fn behind(dense: Ranking, sparse: &[Ranking]) -> Ranking {
    let held: BTreeSet<DatasetId> = dense.iter().map(|scored| scored.id.clone()).collect();
    let lowest = dense.iter().last().map_or(0.0, |scored| scored.score);
    let weighted: Vec<_> = sparse.iter().map(|ranking| (ranking, 1.0)).collect();
    let fused = Fusion::default().with_depth(usize::MAX).fuse(&weighted);
    let others = fused.iter().filter(|scored| !held.contains(&scored.id));
    let others =
        others.zip(1_u32..).map(|(scored, place)| Scored { id: scored.id.clone(), score: lowest - f64::from(place) });
    Ranking::from_scores(dense.iter().cloned().chain(others).collect())
}

/// The one vector of every text, in memory, for comparing all of them.
struct All {
    generation: u64,
    rows: Rows,
    /// For each dataset, the rows of its metadata and its data.
    places: Vec<(DatasetId, [Option<usize>; 2])>,
}

impl All {
    fn of(vectors: &VectorsSnapshot) -> Self {
        let (mut values, mut places, mut rows) = (Vec::new(), Vec::new(), 0);
        for id in vectors.ids() {
            // A damaged block is reported where the dataset is a candidate.
            let Ok(Some(stored)) = vectors.get(id) else { continue };
            let place = [&stored.metadata, &stored.data].map(|matrix| {
                (matrix.rows() > 0).then(|| {
                    values.extend(matrix.row(0));
                    rows += 1;
                    rows - 1
                })
            });
            places.push((id.clone(), place));
        }
        let description = vectors.description();
        let rows = Rows::pack(&values, description.columns, description.precision);
        Self { generation: vectors.generation(), rows, places }
    }

    /// The best datasets.
    fn best(&self, query: &Query, combination: Combination, depth: usize) -> Vec<DatasetId> {
        let scores = dpr::dot(query, &self.rows);
        let scored = self.places.iter().filter_map(|(id, places)| {
            let [metadata, data] = places.map(|place| place.map(|place| f64::from(scores[place])));
            Some((combination.of(metadata, data)?, id))
        });
        let mut scored: Vec<(f64, &DatasetId)> = scored.collect();
        let order = |a: &(f64, &DatasetId), b: &(f64, &DatasetId)| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(a.1));
        if depth < scored.len() {
            scored.select_nth_unstable_by(depth, order);
            scored.truncate(depth);
        }
        scored.into_iter().map(|(_, id)| id.clone()).collect()
    }
}
