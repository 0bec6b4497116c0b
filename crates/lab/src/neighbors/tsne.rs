//! Two-dimensional maps of vectors: t-SNE and principal components.

use super::knn::parallel_map;
use super::matrices::{DenseRows, Rows};
use bhtsne::tSNE;
use faer::{Mat, Side};

/// Parameters of t-SNE in Barnes and Hut's approximation, computed by the crate `bhtsne`. The defaults are openTSNE's.
///
/// The result is not random. Neighbours are exact, points start at two given components, and one thread moves them. The
/// same rows give the same map on the same machine. Another processor type or C library may give another map.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TSne {
    /// Effective number of neighbours (default 30). Three times as many nearest neighbours are used.
    pub perplexity: f32,
    /// Number of steps with early exaggeration (default 250).
    pub early: usize,
    /// Number of steps after early exaggeration (default 500).
    pub steps: usize,
    /// Factor of early exaggeration (default 12).
    pub exaggeration: f32,
    /// Barnes and Hut's angle: distant points below it are summarised as one (default 0.5).
    pub theta: f32,
}

impl Default for TSne {
    fn default() -> Self {
        Self {
            perplexity: 30.0,
            early: 250,
            steps: 500,
            exaggeration: 12.0,
            theta: 0.5,
        }
    }
}

/// The thread pool of a map cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start a thread for a map")]
pub struct ThreadPoolError(#[from] rayon::ThreadPoolBuildError);

/// Errors of [`principal_components`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// A number is not finite.
    #[error("the rows contain a number that is not finite")]
    NotFinite,
    /// The decomposition of the covariance matrix did not converge.
    #[error("the principal components of {rows} rows and {columns} columns did not converge")]
    NotConverged {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
}

/// Standard deviation of the first coordinates of the initial points.
const START_DEVIATION: f64 = 1e-4;

impl TSne {
    /// Embeds rows in the plane, starting from the given points.
    ///
    /// The start is rescaled, so only its shape matters. The perplexity is lowered if there are fewer rows than three
    /// times its value. Up to three rows stay at their start.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be started.
    ///
    /// # Panics
    ///
    /// Panics unless `start` has one point with two coordinates for each row.
    pub fn embed<R: Rows>(
        &self,
        rows: &R,
        start: &DenseRows,
    ) -> Result<DenseRows, ThreadPoolError> {
        let [map] = self.embed_from(rows, [start])?;
        Ok(map)
    }

    /// Embeds rows four times: from the given points, and from their mirror images by the second axis, the first axis,
    /// and both.
    ///
    /// The sign of a component is arbitrary, so the four starts are equally valid. Rounding differs between them, and
    /// points take other ways. A statement about a map should hold for all four.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be started.
    ///
    /// # Panics
    ///
    /// Panics under the condition of [`embed`](Self::embed).
    pub fn embed_mirror_images<R: Rows>(
        &self,
        rows: &R,
        start: &DenseRows,
    ) -> Result<[DenseRows; 4], ThreadPoolError> {
        let by_second = scale_axes(start, 1.0, -1.0);
        let by_first = scale_axes(start, -1.0, 1.0);
        let by_both = scale_axes(start, -1.0, -1.0);
        self.embed_from(rows, [start, &by_second, &by_first, &by_both])
    }

    /// Computes one map for each start, in parallel.
    fn embed_from<R: Rows, const N: usize>(
        &self,
        rows: &R,
        starts: [&DenseRows; N],
    ) -> Result<[DenseRows; N], ThreadPoolError> {
        assert!(
            starts
                .iter()
                .all(|start| start.len() == rows.len() && start.width() == 2),
            "a point for each row"
        );
        let starts = starts.map(scaled_start);
        if rows.len() < 4 {
            return Ok(starts);
        }
        // bhtsne reads three neighbours for each unit of perplexity, and a row has all others as neighbours at most.
        let most = (rows.len() - 1) as f32 / 3.0;
        let perplexity = self.perplexity.min(most);
        let neighbors = parallel_map(rows.len(), |place| {
            find_neighbors(rows, place, (3.0 * perplexity) as usize)
        });
        // bhtsne sums in the order in which its threads finish. A difference in the last digit of a start grows until
        // points end far apart. One thread a map makes the result reproducible.
        let pools: Vec<_> = starts
            .iter()
            .map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build())
            .collect::<Result<_, _>>()?;
        let mut maps = starts;
        let neighbors = &neighbors;
        rayon::ThreadPoolBuilder::new()
            .num_threads(N)
            .build()?
            .scope(|scope| {
                for (pool, map) in pools.iter().zip(&mut maps) {
                    scope.spawn(move |_| {
                        let points = pool.install(|| self.move_points(perplexity, map, neighbors));
                        *map = DenseRows::new(2, points);
                    });
                }
            });
        Ok(maps)
    }

    fn move_points(
        &self,
        perplexity: f32,
        start: &DenseRows,
        neighbors: &[Vec<bhtsne::Neighbor<f32>>],
    ) -> Vec<f32> {
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

/// Multiplies the coordinates of points by a factor for each axis.
fn scale_axes(points: &DenseRows, x: f32, y: f32) -> DenseRows {
    DenseRows::new(
        2,
        points
            .iter()
            .flat_map(|point| [x * point[0], y * point[1]])
            .collect(),
    )
}

fn find_neighbors<R: Rows>(rows: &R, place: usize, count: usize) -> Vec<bhtsne::Neighbor<f32>> {
    let nearest = rows.nearest_among(rows.row(place), count, |other| other != place);
    nearest
        .iter()
        .map(|near| bhtsne::Neighbor {
            index: near.row,
            distance: near.distance,
        })
        .collect()
}

/// Scales the start so that its first coordinates have the standard deviation [`START_DEVIATION`]. A small start leaves points
/// free to move.
fn scaled_start(start: &DenseRows) -> DenseRows {
    let first: Vec<f64> = start.iter().map(|point| f64::from(point[0])).collect();
    let mean = first.iter().sum::<f64>() / first.len() as f64;
    let variance = first
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / first.len() as f64;
    let factor = if variance > 0.0 {
        START_DEVIATION / variance.sqrt()
    } else {
        1.0
    };
    DenseRows::new(
        2,
        start
            .iter()
            .flatten()
            .map(|&value| (f64::from(value) * factor) as f32)
            .collect(),
    )
}

/// Returns the first two principal components of rows. The second is zero if the rows have only one column.
///
/// # Errors
///
/// Fails if a number is not finite, or if the decomposition does not converge.
pub fn principal_components(rows: &DenseRows) -> Result<DenseRows, ComponentError> {
    let (count, width) = (rows.len(), rows.width());
    if rows.iter().flatten().any(|value| !value.is_finite()) {
        return Err(ComponentError::NotFinite);
    }
    let mean: Vec<f64> = (0..width)
        .map(|column| rows.iter().map(|row| f64::from(row[column])).sum::<f64>() / count as f64)
        .collect();
    let centred = Mat::from_fn(count, width, |row, column| {
        f64::from(rows.row(row)[column]) - mean[column]
    });
    let directions = (centred.transpose() * &centred)
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| ComponentError::NotConverged {
            rows: count,
            columns: width,
        })?;
    let mut coordinates = Vec::with_capacity(2 * count);
    for row in 0..count {
        // Eigenvalues are in ascending order.
        for last in [1, 2] {
            let coordinate = match width.checked_sub(last) {
                Some(place) => (0..width)
                    .map(|column| centred[(row, column)] * directions.U()[(column, place)])
                    .sum::<f64>(),
                None => 0.0,
            };
            coordinates.push(coordinate as f32);
        }
    }
    Ok(DenseRows::new(2, coordinates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::majority;

    fn components(rows: &DenseRows) -> DenseRows {
        principal_components(rows).expect("finite numbers")
    }

    /// Three clouds of forty points in five dimensions, one after the other.
    fn clouds() -> DenseRows {
        let mut state = 1_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        let middle = |cloud: usize, column: usize| if cloud == column { 5.0 } else { 0.0 };
        let points =
            (0..120).flat_map(|place| (0..5).map(move |column| middle(place / 40, column)));
        DenseRows::new(5, points.map(|middle| middle + noise()).collect())
    }

    #[test]
    fn clouds_stay_apart_and_maps_the_same() {
        let rows = clouds();
        let options = TSne {
            steps: 250,
            ..TSne::default()
        };
        let map = options.embed(&rows, &components(&rows)).expect("a map");
        assert_eq!(map.len(), 120);
        for place in 0..120 {
            let near = map.nearest_among(map.row(place), 5, |other| other != place);
            assert_eq!(
                majority(near.iter().map(|near| near.row / 40)),
                Some(place / 40),
                "{place}"
            );
        }
        assert_eq!(
            options.embed(&rows, &components(&rows)).expect("a map"),
            map,
            "nothing is drawn by lot"
        );
    }

    #[test]
    fn maps_begun_from_mirror_images_keep_what_is_near() {
        let rows = clouds();
        let start = components(&rows);
        let maps = TSne {
            steps: 250,
            ..TSne::default()
        }
        .embed_mirror_images(&rows, &start)
        .expect("maps");
        let first = TSne {
            steps: 250,
            ..TSne::default()
        }
        .embed(&rows, &start)
        .expect("a map");
        assert_eq!(maps[0], first);
        // A map mostly keeps the orientation of its start: mirrored by the second axis, by the first, by both.
        let along = |map: &DenseRows, column: usize| -> f32 {
            map.iter()
                .zip(first.iter())
                .map(|(here, there)| here[column] * there[column])
                .sum()
        };
        let sides: Vec<[bool; 2]> = maps
            .iter()
            .map(|map| [along(map, 0) > 0.0, along(map, 1) > 0.0])
            .collect();
        assert_eq!(
            sides,
            [[true, true], [true, false], [false, true], [false, false]]
        );
        for map in &maps {
            let near = map.nearest_among(map.row(50), 5, |other| other != 50);
            assert_eq!(majority(near.iter().map(|near| near.row / 40)), Some(1));
        }
    }

    #[test]
    fn components_by_hand() {
        // Along (3, 4) / 5, far; across it, near.
        let rows = DenseRows::new(2, vec![3.0, 4.0, -3.0, -4.0, 0.4, -0.3, -0.4, 0.3]);
        let points: Vec<f32> = components(&rows)
            .iter()
            .flatten()
            .map(|value| (value * 100.0).round().abs() / 100.0)
            .collect();
        assert_eq!(points, [5.0, 0.0, 5.0, 0.0, 0.0, 0.5, 0.0, 0.5]);
        assert_eq!(
            components(&DenseRows::new(1, vec![1.0, 3.0])).row(0)[1],
            0.0
        );
        assert_eq!(
            principal_components(&DenseRows::new(1, vec![1.0, f32::NAN])),
            Err(ComponentError::NotFinite)
        );
    }

    #[test]
    fn few_rows_are_no_trouble() {
        for count in 1..9 {
            let rows = DenseRows::new(1, (0..count).map(|value| value as f32).collect());
            let map = TSne {
                early: 5,
                steps: 5,
                ..TSne::default()
            }
            .embed(&rows, &components(&rows))
            .expect("a map");
            assert!(map.len() == count && map.iter().flatten().all(|value| value.is_finite()));
        }
    }
}
