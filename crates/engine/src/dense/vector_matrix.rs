//! All vectors of a text encoder, for nearest-neighbour search.
//!
//! Up to [`MAX_EXACT_DATASETS`], a query is compared with all vectors. Beyond that, their signs alone are held in memory, a
//! sixteenth of f16: the best candidates by the signs are read and compared exactly. An exhaustive scan of signs was preferred to a
//! graph (HNSW) or an inverted file: it needs no construction, respects any filter, and returns the same for the same vectors.

use crate::EngineError;
use lodeseek_catalog::DatasetId;
use lodeseek_index::vectors::{DatasetVectors, Rows, VectorsSnapshot};
use lodeseek_index::{FilteredDocs, Snapshot};
use lodeseek_rerank::{Query, SignRows, dpr};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Maximum number of datasets whose vectors, or weights of terms, are held in memory and compared exactly.
pub(super) const MAX_EXACT_DATASETS: usize = 50_000;

/// Returns the number of candidates by signs that are compared exactly to find the best `depth`.
///
/// Measured with the included encoder, 60 queries and a million vectors made of real ones with noise: 99.7 and 100 % of the best
/// ten, 99.2 and 99.4 % of the best thirty, at two levels of noise.
fn candidates_by_signs(depth: usize) -> usize {
    depth.saturating_mul(40).max(4_000)
}

/// Vectors that can be compared with a query.
trait Comparable {
    /// Returns the inner product of the first row of a query with each row, or an estimate of it.
    fn products(&self, query: &Query) -> Vec<f32>;
}

impl Comparable for Rows {
    fn products(&self, query: &Query) -> Vec<f32> {
        dpr::dot(query, self)
    }
}

impl Comparable for SignRows {
    fn products(&self, query: &Query) -> Vec<f32> {
        self.estimate(query)
    }
}

/// The vectors of all datasets, held in memory.
enum AllVectors {
    Exact(VectorMatrix<Rows>),
    Signs(VectorMatrix<SignRows>),
}

/// Stored vectors, and a function that receives the datasets whose vectors are damaged. A dataset is named by its place among them.
pub(super) struct VectorSource<'v, D> {
    pub(super) vectors: &'v VectorsSnapshot,
    pub(super) on_damage: D,
}

impl<D: Fn(&DatasetId)> VectorSource<'_, D> {
    /// Returns the places of all datasets.
    pub(super) fn places(&self) -> Range<u32> {
        0..u32::try_from(self.vectors.len()).expect("fewer than 2^32 datasets fit into memory")
    }

    /// Returns the vectors of a dataset, or `None` if they are damaged.
    pub(super) fn get(&self, place: u32) -> Option<DatasetVectors> {
        let stored = self.vectors.get_at(place as usize).ok();
        if stored.is_none() {
            (self.on_damage)(self.id(place));
        }
        stored
    }

    /// Returns the id of a dataset.
    pub(super) fn id(&self, place: u32) -> &DatasetId {
        &self.vectors.ids()[place as usize]
    }

    /// Returns the ids of some datasets.
    pub(super) fn ids(&self, places: &[u32]) -> Vec<DatasetId> {
        places.iter().map(|place| self.id(*place).clone()).collect()
    }
}

/// All vectors of a commit, held in memory, exactly or by their signs.
pub(super) struct StoredMatrix {
    /// The generation of the vectors.
    pub(super) generation: u64,
    all: AllVectors,
}

impl StoredMatrix {
    /// Reads all vectors, exactly if there are at most `max_exact` datasets.
    pub(super) fn new(source: &VectorSource<'_, impl Fn(&DatasetId)>, max_exact: usize) -> Self {
        let vectors = source.vectors;
        let all = if vectors.len() <= max_exact {
            AllVectors::Exact(VectorMatrix::exact(source))
        } else {
            AllVectors::Signs(VectorMatrix::signs(source))
        };
        Self {
            generation: vectors.generation(),
            all,
        }
    }

    /// Returns the best `depth` datasets by the combined products of their metadata and their data with two queries, in no order.
    ///
    /// `select` returns the best so many of some datasets that pass a filter. `source` must be of the same generation.
    pub(super) fn nearest(
        &self,
        source: &VectorSource<'_, impl Fn(&DatasetId)>,
        queries: [Option<&Query>; 2],
        combine: impl Fn([Option<f64>; 2]) -> Option<f64>,
        depth: usize,
        select: impl Fn(&mut dyn Iterator<Item = ScoredPlace>, usize) -> Result<Vec<u32>, EngineError>,
    ) -> Result<Vec<u32>, EngineError> {
        match &self.all {
            AllVectors::Exact(matrix) => select(&mut matrix.scores(queries, combine), depth),
            AllVectors::Signs(matrix) => {
                let candidates = select(
                    &mut matrix.scores(queries, &combine),
                    candidates_by_signs(depth),
                )?;
                Ok(top_places(
                    scores_of(source, candidates, queries, combine),
                    depth,
                ))
            }
        }
    }

    /// Returns the combined products of all datasets, in no order. If only signs are held in memory, of the nearest ones by signs.
    pub(super) fn similarities(
        &self,
        source: &VectorSource<'_, impl Fn(&DatasetId)>,
        queries: [Option<&Query>; 2],
        combine: impl Fn([Option<f64>; 2]) -> Option<f64>,
    ) -> Vec<ScoredPlace> {
        match &self.all {
            AllVectors::Exact(matrix) => matrix.scores(queries, combine).collect(),
            AllVectors::Signs(matrix) => {
                let candidates =
                    top_places(matrix.scores(queries, &combine), candidates_by_signs(0));
                scores_of(source, candidates, queries, combine).collect()
            }
        }
    }
}

/// Vectors of two texts a dataset: its metadata and its data.
struct VectorMatrix<R> {
    rows: [R; 2],
    /// For each dataset, the rows of its metadata and of its data.
    places: Vec<[Option<u32>; 2]>,
}

impl VectorMatrix<Rows> {
    /// Reads all vectors.
    fn exact(source: &VectorSource<'_, impl Fn(&DatasetId)>) -> Self {
        let description = source.vectors.description();
        let mut values = [Vec::new(), Vec::new()];
        let places = read(source, |text, row| values[text].extend(row));
        let rows =
            values.map(|values| Rows::pack(&values, description.columns, description.precision));
        Self { rows, places }
    }
}

impl VectorMatrix<SignRows> {
    /// Reads the signs of all vectors.
    fn signs(source: &VectorSource<'_, impl Fn(&DatasetId)>) -> Self {
        let mut rows = [(); 2].map(|()| SignRows::new(source.vectors.description().columns));
        let places = read(source, |text, row| rows[text].push(&row));
        Self { rows, places }
    }
}

impl<R: Comparable> VectorMatrix<R> {
    /// Returns the scores of all datasets: of the products of their metadata and of their data with two queries, as far as both
    /// exist. Datasets without a score are omitted.
    fn scores(
        &self,
        queries: [Option<&Query>; 2],
        combine: impl Fn([Option<f64>; 2]) -> Option<f64>,
    ) -> impl Iterator<Item = ScoredPlace> {
        let products =
            [0, 1].map(|text| queries[text].map(|query| self.rows[text].products(query)));
        (0..).zip(&self.places).filter_map(move |(place, rows)| {
            let score = combine(
                [0, 1].map(|text| Some(f64::from(products[text].as_ref()?[rows[text]? as usize]))),
            )?;
            Some(ScoredPlace { score, place })
        })
    }
}

/// Computes the scores of a few datasets from their stored vectors.
fn scores_of(
    source: &VectorSource<'_, impl Fn(&DatasetId)>,
    mut places: Vec<u32>,
    queries: [Option<&Query>; 2],
    combine: impl Fn([Option<f64>; 2]) -> Option<f64>,
) -> impl Iterator<Item = ScoredPlace> {
    // Vectors are read from the file in ascending order where datasets were encoded in that of their ids.
    places.sort_unstable();
    let queries = queries.map(|query| {
        query
            .filter(|query| query.rows() > 0)
            .map(|query| query.row(0))
    });
    places.into_iter().filter_map(move |place| {
        let stored = source.get(place)?;
        let score = combine([
            first_row_product(queries[0].as_deref(), &stored.metadata),
            first_row_product(queries[1].as_deref(), &stored.data),
        ])?;
        Some(ScoredPlace { score, place })
    })
}

/// Returns the product of a query and the first of some rows, if both exist.
fn first_row_product(query: Option<&[f32]>, rows: &Rows) -> Option<f64> {
    if rows.rows() == 0 {
        return None;
    }
    Some(f64::from(dpr::product(query?, &rows.row(0))))
}

/// Passes all vectors to `put`: of metadata with 0, of data with 1. Returns the rows of each dataset, counted for each text.
fn read(
    source: &VectorSource<'_, impl Fn(&DatasetId)>,
    mut put: impl FnMut(usize, Vec<f32>),
) -> Vec<[Option<u32>; 2]> {
    let mut counts = [0; 2];
    let mut places = Vec::with_capacity(source.vectors.len());
    for place in source.places() {
        let mut rows = [None; 2];
        if let Some(stored) = source.get(place) {
            for (text, matrix) in [&stored.metadata, &stored.data].into_iter().enumerate() {
                if matrix.rows() > 0 {
                    put(text, matrix.row(0));
                    rows[text] = Some(counts[text]);
                    counts[text] += 1;
                }
            }
        }
        places.push(rows);
    }
    places
}

/// A dataset, by its place among the stored vectors, and its score. The greatest is the best: that with the highest score, then the
/// last id.
pub(super) struct ScoredPlace {
    pub(super) score: f64,
    pub(super) place: u32,
}

impl Ord for ScoredPlace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| self.place.cmp(&other.place))
    }
}

impl PartialOrd for ScoredPlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ScoredPlace {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ScoredPlace {}

/// Returns the best `depth` datasets, in no order.
pub(super) fn top_places(scored: impl Iterator<Item = ScoredPlace>, depth: usize) -> Vec<u32> {
    // A buffer of twice the depth, halved whenever it is full: few datasets reach it once its worst score is known.
    let mut best: Vec<ScoredPlace> = Vec::new();
    let mut worst = f64::NEG_INFINITY;
    for one in scored {
        // Equal scores, too: of these, the last id is the best.
        if one.score >= worst {
            best.push(one);
        }
        if best.len() > depth.max(512).saturating_mul(2) {
            best.select_nth_unstable_by(depth, |a, b| b.cmp(a));
            best.truncate(depth);
            worst = best
                .iter()
                .map(|one| one.score)
                .fold(f64::INFINITY, f64::min);
        }
    }
    if depth < best.len() {
        best.select_nth_unstable_by(depth, |a, b| b.cmp(a));
        best.truncate(depth);
    }
    best.into_iter().map(|scored| scored.place).collect()
}

/// Returns the best `depth` datasets that pass a filter, in no order.
///
/// If few datasets pass, their ids are read and the others dropped. If many pass, datasets are tested from the best one on
/// until enough have passed. Either way needs at most about √(depth · all) look-ups, provided that the filter is independent
/// of the similarity.
pub(super) fn top_filtered_places(
    scored: impl Iterator<Item = ScoredPlace>,
    depth: usize,
    vectors: &VectorsSnapshot,
    index: &Snapshot,
    filtered: &FilteredDocs,
) -> Result<Vec<u32>, EngineError> {
    let scored: Vec<ScoredPlace> = scored.collect();
    let max_ids = depth.saturating_mul(scored.len()).isqrt();
    if let Some(ids) = index.ids_if_few(filtered, max_ids)? {
        let places: FxHashSet<usize> = ids.iter().filter_map(|id| vectors.place(id)).collect();
        return Ok(top_places(
            scored
                .into_iter()
                .filter(|scored| places.contains(&(scored.place as usize))),
            depth,
        ));
    }
    // A heap is built in linear time, and few datasets are taken from it.
    let mut remaining = BinaryHeap::from(scored);
    let mut best = Vec::new();
    while best.len() < depth
        && let Some(scored) = remaining.pop()
    {
        let id = &vectors.ids()[scored.place as usize];
        if index
            .address(id)?
            .is_some_and(|address| filtered.contains(address))
        {
            best.push(scored.place);
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_index::vectors::{Description, Precision, Vectors, VectorsWriter};
    use lodeseek_rerank::{Combination, Matrix};
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    const COLUMNS: usize = 96;
    const DATASETS: usize = 9_000;

    /// Vectors around 300 centres, from a seed: every third dataset has no data, every fifth no metadata.
    fn vectors(folder: &std::path::Path) -> Vec<Vec<f32>> {
        let mut state = 7_u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let centres: Vec<Vec<f32>> = (0..300)
            .map(|_| (0..COLUMNS).map(|_| number()).collect())
            .collect();
        let mut near = |centre: usize| -> Vec<f32> {
            centres[centre]
                .iter()
                .map(|value| value + number() / 2.0)
                .collect()
        };
        let description = Description {
            model: "m".to_owned(),
            fingerprint: "f".to_owned(),
            columns: COLUMNS,
            precision: Precision::F16,
        };
        let mut writer = VectorsWriter::open(folder, description).expect("opened");
        let none = Rows::pack(&[], COLUMNS, Precision::F16);
        for place in 0..DATASETS {
            let [metadata, data] =
                [(); 2].map(|()| Rows::pack(&near(place % 300), COLUMNS, Precision::F16));
            let metadata = if place % 5 == 1 { &none } else { &metadata };
            let data = if place % 3 == 1 { &none } else { &data };
            let id = DatasetId::new(format!("{place:05}")).expect("an id");
            writer
                .put(id, "d".to_owned(), [metadata, data])
                .expect("put");
        }
        writer.finish().expect("finished");
        (0..40).map(|centre| near(centre * 7)).collect()
    }

    #[test]
    fn the_nearest_by_signs_are_the_nearest() {
        let folder = tempfile::tempdir().expect("a folder");
        let queries = vectors(folder.path());
        let vectors = Vectors::open(folder.path(), "f")
            .expect("opened")
            .snapshot()
            .expect("read");
        let damaged = RefCell::new(Vec::new());
        let source = VectorSource {
            vectors: &vectors,
            on_damage: |id: &DatasetId| damaged.borrow_mut().push(id.clone()),
        };
        let [exact, signs] = [usize::MAX, 0].map(|max_exact| StoredMatrix::new(&source, max_exact));
        assert!(
            matches!(exact.all, AllVectors::Exact(_)) && matches!(signs.all, AllVectors::Signs(_))
        );
        for combination in Combination::ALL {
            let combine = |[metadata, data]: [Option<f64>; 2]| combination.combine(metadata, data);
            let (mut found, mut all) = (0, 0);
            for query in &queries {
                let query = Query::new(&Matrix::new(COLUMNS, query.clone()));
                let [exact, by_signs] = [&exact, &signs].map(|matrix| {
                    let select = |scored: &mut dyn Iterator<Item = ScoredPlace>, depth| {
                        Ok(top_places(scored, depth))
                    };
                    matrix
                        .nearest(&source, [Some(&query); 2], combine, 10, select)
                        .expect("selected")
                });
                all += exact.len();
                found += exact.iter().filter(|id| by_signs.contains(id)).count();
            }
            assert!(
                all == 400 && found >= 398,
                "{}: {found} of {all}",
                combination.name()
            );
        }
        let query = Query::new(&Matrix::new(COLUMNS, queries[0].clone()));
        let mean = |[metadata, data]: [Option<f64>; 2]| Combination::Mean.combine(metadata, data);
        let [exact, by_signs] =
            [&exact, &signs].map(|matrix| matrix.similarities(&source, [Some(&query); 2], mean));
        assert_eq!(
            (exact.len(), by_signs.len()),
            (DATASETS - DATASETS / 15, candidates_by_signs(0))
        );
        let exact: BTreeMap<u32, f64> = exact
            .into_iter()
            .map(|one| (one.place, one.score))
            .collect();
        assert!(
            by_signs
                .iter()
                .all(|one| (exact[&one.place] - one.score).abs() < 1e-4),
            "the scores are exact"
        );
        let even = |scored: &mut dyn Iterator<Item = ScoredPlace>, depth| {
            Ok(top_places(scored.filter(|one| one.place % 2 == 0), depth))
        };
        let filtered = signs
            .nearest(&source, [Some(&query); 2], mean, 5, even)
            .expect("selected");
        assert!(filtered.len() == 5 && filtered.iter().all(|place| place % 2 == 0));
        assert!(damaged.borrow().is_empty());
    }
}
