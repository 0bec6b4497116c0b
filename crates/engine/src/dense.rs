//! One encoder and the vectors that it made of a home's datasets: how like a query they are, and by which parts.

use super::encoding::{compact, comparable, digest, passages};
use super::{EngineError, vectors_folder};
use lodeseek_catalog::DatasetId;
use lodeseek_index::document::CompactDocument;
use lodeseek_index::vectors::{Precision, Rows, Vectors, VectorsSnapshot, model_folder};
use lodeseek_index::{FilteredDocs, Snapshot};
use lodeseek_rerank::{Combination, Encoder, Granularity, Matrix, Passage, Query, colbert, dpr};
use lru::LruCache;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Queries whose vectors are kept.
const QUERIES_KEPT: NonZeroUsize = NonZeroUsize::new(256).expect("above 0");
/// Parts named for a hit.
const PARTS: usize = 3;

/// How a dataset was scored by its vectors.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct DenseMatch {
    /// The encoder's name.
    pub model: String,
    /// What its rows stand for.
    pub granularity: Granularity,
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

/// An encoder and the vectors that it made of a home's datasets.
pub(super) struct Dense {
    encoder: Box<dyn Encoder>,
    vectors: Vectors,
    queries: Mutex<LruCache<String, Arc<Query>>>,
    all: Mutex<Option<Arc<All>>>,
    known: Mutex<Known>,
}

/// Whether vectors are of the texts that the index has, as far as it was asked for.
#[derive(Default)]
struct Known {
    /// Of the vectors, and of the index.
    generations: (u64, u64),
    current: FxHashMap<DatasetId, bool>,
}

fn is_current(id: &DatasetId, vectors: &VectorsSnapshot, index: &Snapshot) -> Result<bool, EngineError> {
    let (Some(encoded), Some(compact)) = (vectors.digest(id), compact(index, id)?) else { return Ok(false) };
    Ok(encoded == digest(&compact)?)
}

/// Where candidates are from: an index, and what passes of it where not all does.
#[derive(Clone, Copy)]
pub(super) struct Among<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) passing: Option<&'s FilteredDocs>,
}

/// A query's vectors, and those it is compared with: as they were when it was asked.
pub(super) struct Asked {
    vectors: Arc<VectorsSnapshot>,
    query: Arc<Query>,
}

/// What datasets are compared with each other by: the vectors of metadata and data, where there are any.
pub(super) struct Pair([Option<Query>; 2]);

/// How likeness becomes a score.
pub(super) struct Scoring {
    pub(super) combination: Combination,
    pub(super) floor: Option<f64>,
    pub(super) threads: NonZeroUsize,
}

impl Dense {
    pub(super) fn open(home: &Path, encoder: Box<dyn Encoder>) -> Result<Self, EngineError> {
        let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
        let vectors = Vectors::open(&folder, encoder.fingerprint())?;
        let queries = Mutex::new(LruCache::new(QUERIES_KEPT));
        Ok(Self { encoder, vectors, queries, all: Mutex::default(), known: Mutex::default() })
    }

    pub(super) fn encoder(&self) -> &dyn Encoder {
        self.encoder.as_ref()
    }

    /// How its vectors are stored.
    pub(super) fn precision(&self) -> Result<Precision, EngineError> {
        Ok(self.vectors.snapshot()?.description().precision)
    }

    pub(super) fn ask(&self, query: &str) -> Result<Asked, EngineError> {
        Ok(Asked { vectors: self.vectors.snapshot()?, query: self.query(query)? })
    }

    /// Those of the candidates whose texts are still the ones that were encoded. What was found of a dataset is remembered
    /// until index or vectors change: reading a text and making its digest takes a tenth of a millisecond.
    pub(super) fn current(
        &self,
        asked: &Asked,
        candidates: &[DatasetId],
        index: &Snapshot,
    ) -> Result<Vec<DatasetId>, EngineError> {
        self.current_among(&asked.vectors, candidates, index)
    }

    /// The same for vectors as they are now.
    pub(super) fn current_now(
        &self,
        candidates: &[DatasetId],
        index: &Snapshot,
    ) -> Result<Vec<DatasetId>, EngineError> {
        let vectors = self.vectors.snapshot()?;
        self.current_among(&vectors, candidates, index)
    }

    fn current_among(
        &self,
        vectors: &VectorsSnapshot,
        candidates: &[DatasetId],
        index: &Snapshot,
    ) -> Result<Vec<DatasetId>, EngineError> {
        let generations = (vectors.generation(), index.generation());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.generations != generations {
            *known = Known { generations, current: FxHashMap::default() };
        }
        let mut current = Vec::with_capacity(candidates.len());
        for id in candidates {
            let is_current = match known.current.get(id) {
                Some(&is_current) => is_current,
                None => *known.current.entry(id.clone()).or_insert(is_current(id, vectors, index)?),
            };
            current.extend(is_current.then(|| id.clone()));
        }
        Ok(current)
    }

    /// The best of all datasets, or of those that pass; only for an encoder with one vector a text.
    pub(super) fn best(
        &self,
        asked: &Asked,
        combination: Combination,
        depth: usize,
        among: Among<'_>,
    ) -> Result<Vec<DatasetId>, EngineError> {
        let all = self.all(&asked.vectors);
        let scored = all.scores(&asked.query, combination);
        match among.passing {
            None => Ok(best(scored, depth)),
            Some(passing) => best_passing(scored, depth, among.snapshot, passing),
        }
    }

    /// The vectors of a dataset; `None` where it has none, or its texts are no longer those that were encoded.
    pub(super) fn pair(&self, id: &DatasetId, index: &Snapshot) -> Result<Option<Pair>, EngineError> {
        let vectors = self.vectors.snapshot()?;
        if !is_current(id, &vectors, index)? {
            return Ok(None);
        }
        let Some(stored) = vectors.get(id)? else { return Ok(None) };
        let first = |rows: &Rows| (rows.rows() > 0).then(|| Query::new(&Matrix::new(rows.columns(), rows.row(0))));
        Ok(Some(Pair([first(&stored.metadata), first(&stored.data)])))
    }

    /// The vectors of texts, made now.
    pub(super) fn pair_of(&self, compact: &CompactDocument) -> Result<Pair, EngineError> {
        let matrices = self.encoder.encode_passages(&passages(compact))?;
        let query = |matrix: &Matrix| (matrix.rows() > 0).then(|| Query::new(&comparable(self.encoder(), matrix)));
        let mut queries = matrices.iter().map(query);
        Ok(Pair([queries.next().flatten(), queries.next().flatten()]))
    }

    /// How near every dataset is to a pair: the mean of the likeness of metadata and that of data, of those that both have.
    /// Nothing of a dataset that shares neither, or is not near at all.
    pub(super) fn near(&self, pair: &Pair) -> Result<Vec<(DatasetId, f64)>, EngineError> {
        let vectors = self.vectors.snapshot()?;
        let all = self.all(&vectors);
        let scores = pair.0.each_ref().map(|query| query.as_ref().map(|query| dpr::dot(query, &all.rows)));
        let near = |(id, places): &(DatasetId, [Option<usize>; 2])| {
            let both = scores.iter().zip(places).filter_map(|(scores, place)| Some(scores.as_ref()?[(*place)?]));
            let both: Vec<f64> = both.map(f64::from).collect();
            let mean = both.iter().sum::<f64>() / both.len().max(1) as f64;
            (mean > 0.0).then(|| (id.clone(), mean.min(1.0)))
        };
        Ok(all.places.iter().filter_map(near).collect())
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
    pub(super) fn scores(
        &self,
        asked: &Asked,
        candidates: &[DatasetId],
        how: &Scoring,
    ) -> FxHashMap<DatasetId, DenseMatch> {
        let score = |ids: &[DatasetId]| {
            let of = |id: &DatasetId| Some((id.clone(), self.score(asked, id, how)?));
            ids.iter().filter_map(of).collect::<Vec<_>>()
        };
        let threads = how.threads.get();
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

    fn score(&self, asked: &Asked, id: &DatasetId, how: &Scoring) -> Option<DenseMatch> {
        let stored = match asked.vectors.get(id) {
            Ok(stored) => stored?,
            Err(error) => {
                tracing::warn!(%error, "ranked without its vectors");
                return None;
            }
        };
        let [metadata, data] = [&stored.metadata, &stored.data].map(|rows| self.likeness(&asked.query, rows));
        let score = how.combination.of(metadata, data)?;
        let closest = how.floor.is_some_and(|floor| score < floor * asked.query.rows() as f64);
        let (model, granularity) = (self.encoder.name().to_owned(), self.encoder.granularity());
        Some(DenseMatch { model, granularity, score, metadata, data, closest, parts: Vec::new() })
    }

    fn likeness(&self, query: &Query, rows: &Rows) -> Option<f64> {
        match self.encoder.granularity() {
            Granularity::Text => dpr::dot(query, rows).first().map(|score| f64::from(*score)),
            Granularity::Piece => colbert::max_sim(query, rows),
        }
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
        combination: Combination,
        index: &Snapshot,
    ) -> Result<Vec<PartShare>, EngineError> {
        let Asked { vectors, query } = self.ask(query)?;
        let (Some(compact), Ok(Some(stored))) = (compact(index, id)?, vectors.get(id)) else { return Ok(Vec::new()) };
        if vectors.digest(id) != Some(digest(&compact)?.as_str()) {
            return Ok(Vec::new());
        }
        let carried = combination.carried(found.metadata, found.data);
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

    fn scores(&self, query: &Query, combination: Combination) -> Vec<Near<'_>> {
        let scores = dpr::dot(query, &self.rows);
        let scored = self.places.iter().filter_map(|(id, places)| {
            let [metadata, data] = places.map(|place| place.map(|place| f64::from(scores[place])));
            Some(Near { score: combination.of(metadata, data)?, id })
        });
        scored.collect()
    }
}

/// A dataset and its score by vectors. The best is the greatest: the highest score, then the last id.
struct Near<'v> {
    score: f64,
    id: &'v DatasetId,
}

impl Ord for Near<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.id.cmp(other.id))
    }
}

impl PartialOrd for Near<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Near<'_> {}

fn best(mut scored: Vec<Near<'_>>, depth: usize) -> Vec<DatasetId> {
    if depth < scored.len() {
        scored.select_nth_unstable_by(depth, |a, b| b.cmp(a));
        scored.truncate(depth);
    }
    scored.into_iter().map(|near| near.id.clone()).collect()
}

/// The best that pass. Where many pass, they are looked up from the best on until there are enough; where few do, that
/// could come to all there are, and these few are sought. Either takes about √(depth · all) look-ups at most, where what
/// passes is as likely to be near as what does not.
fn best_passing(
    scored: Vec<Near<'_>>,
    depth: usize,
    index: &Snapshot,
    passing: &FilteredDocs,
) -> Result<Vec<DatasetId>, EngineError> {
    if let Some(few) = index.ids_if_few(passing, depth.saturating_mul(scored.len()).isqrt())? {
        let few: FxHashSet<DatasetId> = few.into_iter().collect();
        return Ok(best(scored.into_iter().filter(|near| few.contains(near.id)).collect(), depth));
    }
    let (mut waiting, mut best) = (BinaryHeap::from(scored), Vec::new());
    while best.len() < depth
        && let Some(near) = waiting.pop()
    {
        if index.address(near.id)?.is_some_and(|address| passing.contains(address)) {
            best.push(near.id.clone());
        }
    }
    Ok(best)
}
