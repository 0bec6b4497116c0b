//! Rows as points of the plane, near where they were near: t-SNE.

use super::knn::each;
use super::rows::{DenseRows, Rows};
use bhtsne::tSNE;
use faer::{Mat, Side};

/// How points are found: t-SNE by the crate `bhtsne` (Barnes and Hut's approximation), by default with openTSNE's settings.
///
/// Nothing in it is drawn by lot: neighbours are exact, points begin on two components, and one thread moves them, so the
/// same rows give the same map; on another kind of processor, or with another C library, it may be another one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TSne {
    /// How many neighbours count, more or less; three times as many are looked at.
    pub perplexity: f32,
    /// Steps in which likenesses are exaggerated.
    pub early: usize,
    /// Steps after those.
    pub steps: usize,
    /// By how much they are exaggerated at first.
    pub exaggeration: f32,
    /// The angle below which far points count as one.
    pub theta: f32,
}

impl Default for TSne {
    fn default() -> Self {
        Self { perplexity: 30.0, early: 250, steps: 500, exaggeration: 12.0, theta: 0.5 }
    }
}

/// There is no thread to move points on.
#[derive(Debug, thiserror::Error)]
#[error("no thread can be started for a map")]
pub struct NoThread(#[from] rayon::ThreadPoolBuildError);

/// The deviation of the points' first coordinates when they begin.
const START: f64 = 1e-4;

impl TSne {
    /// The points of rows, begun from the given ones, of which only the shape counts.
    ///
    /// Fewer rows than three times the perplexity lower it. Up to three rows stay where they begin.
    ///
    /// # Panics
    ///
    /// Where there is not a first point with two numbers for each row.
    pub fn of<R: Rows>(&self, rows: &R, start: &DenseRows) -> Result<DenseRows, NoThread> {
        let [map] = self.begun(rows, [start])?;
        Ok(map)
    }

    /// Four maps, begun from the given points and from their mirror images, by the second number, the first, both.
    ///
    /// Which way a component points means nothing, so each is as good as the others; yet sums are rounded otherwise, and
    /// points go other ways. What is to be said of a map should hold for the four.
    ///
    /// # Panics
    ///
    /// As [`of`](Self::of).
    pub fn mirrored<R: Rows>(&self, rows: &R, start: &DenseRows) -> Result<[DenseRows; 4], NoThread> {
        let by =
            |x: f32, y: f32| DenseRows::new(2, start.iter().flat_map(|point| [x * point[0], y * point[1]]).collect());
        self.begun(rows, [start, &by(1.0, -1.0), &by(-1.0, 1.0), &by(-1.0, -1.0)])
    }

    /// A map from each start, side by side.
    fn begun<R: Rows, const N: usize>(&self, rows: &R, starts: [&DenseRows; N]) -> Result<[DenseRows; N], NoThread> {
        assert!(starts.iter().all(|start| start.len() == rows.len() && start.width() == 2), "a point for each row");
        let starts = starts.map(scaled);
        if rows.len() < 4 {
            return Ok(starts);
        }
        let most = (rows.len() - 1) as f32 / 3.0;
        let perplexity = self.perplexity.min(most);
        let neighbors = each(rows.len(), |place| neighbors(rows, place, (3.0 * perplexity) as usize));
        // The crate sums in the order in which threads happen to finish, and points that start a last digit apart end far
        // from one another: one thread a map.
        let pools: Vec<_> =
            starts.iter().map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build()).collect::<Result<_, _>>()?;
        let mut maps = starts;
        let neighbors = &neighbors;
        rayon::ThreadPoolBuilder::new().num_threads(N).build()?.scope(|scope| {
            for (pool, map) in pools.iter().zip(&mut maps) {
                let mut moved =
                    move || *map = DenseRows::new(2, pool.install(|| self.moved(perplexity, map, neighbors)));
                scope.spawn(move |_| moved());
            }
        });
        Ok(maps)
    }

    fn moved(&self, perplexity: f32, start: &DenseRows, neighbors: &[Vec<bhtsne::Neighbor<f32>>]) -> Vec<f32> {
        let places: Vec<usize> = (0..neighbors.len()).collect();
        let mut points: tSNE<'_, f32, usize> = tSNE::new(&places);
        points
            .perplexity(perplexity)
            .epochs(self.early + self.steps)
            .stop_lying_epoch(self.early)
            .momentum_switch_epoch(self.early)
            .early_exaggeration(self.exaggeration)
            .momentum(0.8)
            .final_momentum(0.8)
            .learning_rate(neighbors.len() as f32 / self.exaggeration)
            .initial_embedding(start.iter().flatten().copied().collect::<Vec<_>>())
            .barnes_hut_with_neighbors(self.theta, neighbors);
        points.embedding()
    }
}

fn neighbors<R: Rows>(rows: &R, place: usize, count: usize) -> Vec<bhtsne::Neighbor<f32>> {
    let nearest = rows.nearest_among(rows.row(place), count, |other| other != place);
    nearest.iter().map(|near| bhtsne::Neighbor { index: near.row, distance: near.distance }).collect()
}

/// Small, so that points find their own ways.
fn scaled(start: &DenseRows) -> DenseRows {
    let first: Vec<f64> = start.iter().map(|point| f64::from(point[0])).collect();
    let mean = first.iter().sum::<f64>() / first.len() as f64;
    let variance = first.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / first.len() as f64;
    let factor = if variance > 0.0 { START / variance.sqrt() } else { 1.0 };
    DenseRows::new(2, start.iter().flatten().map(|&value| (f64::from(value) * factor) as f32).collect())
}

/// The first two principal components of rows; zeros where there is no second.
#[must_use]
pub fn principal(rows: &DenseRows) -> DenseRows {
    let (count, width) = (rows.len(), rows.width());
    let mean: Vec<f64> =
        (0..width).map(|column| rows.iter().map(|row| f64::from(row[column])).sum::<f64>() / count as f64).collect();
    let centred = Mat::from_fn(count, width, |row, column| f64::from(rows.row(row)[column]) - mean[column]);
    let directions = (centred.transpose() * &centred).self_adjoint_eigen(Side::Lower);
    let Ok(directions) = directions else { return DenseRows::new(2, vec![0.0; 2 * count]) };
    // Eigenvalues ascend.
    let along = |row: usize, last: usize| match width.checked_sub(last) {
        Some(place) => (0..width).map(|column| centred[(row, column)] * directions.U()[(column, place)]).sum::<f64>(),
        None => 0.0,
    };
    DenseRows::new(2, (0..count).flat_map(|row| [along(row, 1) as f32, along(row, 2) as f32]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::majority;

    /// Three clouds of forty points in five dimensions, one after the other.
    fn clouds() -> DenseRows {
        let mut state = 1_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        let middle = |cloud: usize, column: usize| if cloud == column { 5.0 } else { 0.0 };
        let points = (0..120).flat_map(|place| (0..5).map(move |column| middle(place / 40, column)));
        DenseRows::new(5, points.map(|middle| middle + noise()).collect())
    }

    #[test]
    fn clouds_stay_apart_and_maps_the_same() {
        let rows = clouds();
        let options = TSne { steps: 250, ..TSne::default() };
        let map = options.of(&rows, &principal(&rows)).expect("a map");
        assert_eq!(map.len(), 120);
        for place in 0..120 {
            let near = map.nearest_among(map.row(place), 5, |other| other != place);
            assert_eq!(majority(near.iter().map(|near| near.row / 40)), Some(place / 40), "{place}");
        }
        assert_eq!(options.of(&rows, &principal(&rows)).expect("a map"), map, "nothing is drawn by lot");
    }

    #[test]
    fn maps_begun_from_mirror_images_keep_what_is_near() {
        let rows = clouds();
        let start = principal(&rows);
        let maps = TSne { steps: 250, ..TSne::default() }.mirrored(&rows, &start).expect("maps");
        let first = TSne { steps: 250, ..TSne::default() }.of(&rows, &start).expect("a map");
        assert_eq!(maps[0], first);
        // Where a map begins it mostly stays: mirrored by the second number, by the first, by both.
        let along = |map: &DenseRows, column: usize| -> f32 {
            map.iter().zip(first.iter()).map(|(here, there)| here[column] * there[column]).sum()
        };
        let sides: Vec<[bool; 2]> = maps.iter().map(|map| [along(map, 0) > 0.0, along(map, 1) > 0.0]).collect();
        assert_eq!(sides, [[true, true], [true, false], [false, true], [false, false]]);
        for map in &maps {
            let near = map.nearest_among(map.row(50), 5, |other| other != 50);
            assert_eq!(majority(near.iter().map(|near| near.row / 40)), Some(1));
        }
    }

    #[test]
    fn components_by_hand() {
        // Along (3, 4) / 5, far; across it, near.
        let rows = DenseRows::new(2, vec![3.0, 4.0, -3.0, -4.0, 0.4, -0.3, -0.4, 0.3]);
        let points: Vec<f32> =
            principal(&rows).iter().flatten().map(|value| (value * 100.0).round().abs() / 100.0).collect();
        assert_eq!(points, [5.0, 0.0, 5.0, 0.0, 0.0, 0.5, 0.0, 0.5]);
        assert_eq!(principal(&DenseRows::new(1, vec![1.0, 3.0])).row(0)[1], 0.0);
    }

    #[test]
    fn few_rows_are_no_trouble() {
        for count in 1..9 {
            let rows = DenseRows::new(1, (0..count).map(|value| value as f32).collect());
            let map = TSne { early: 5, steps: 5, ..TSne::default() }.of(&rows, &principal(&rows)).expect("a map");
            assert!(map.len() == count && map.iter().flatten().all(|value| value.is_finite()));
        }
    }
}
