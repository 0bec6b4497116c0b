//! Dense and sparse matrices by rows, and Euclidean distances between rows.

use super::knn::{Neighbor, find_closest};

/// A matrix whose rows can be compared by Euclidean distance.
pub trait Rows: Sync + Sized {
    /// A row, or a query vector of the same length.
    type Row<'r>: Copy
    where
        Self: 'r;

    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Returns the row at a position.
    fn row(&self, place: usize) -> Self::Row<'_>;

    /// Returns the squared distance of every row from a vector, summed in double precision.
    fn squared_distances(&self, query: Self::Row<'_>) -> Vec<f64>;

    /// Returns the rows at these positions, in this order.
    #[must_use]
    fn select(&self, places: &[usize]) -> Self;

    /// Returns true if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the `k` rows nearest to a vector, nearest first.
    ///
    /// Among equally near rows the one with the lower position comes first. scikit-learn leaves this order open,
    /// because it partitions and then sorts without regard to positions.
    fn nearest(&self, query: Self::Row<'_>, k: usize) -> Vec<Neighbor> {
        self.nearest_among(query, k, |_| true)
    }

    /// Returns the `k` nearest rows among those for which `keep` is true.
    fn nearest_among(
        &self,
        query: Self::Row<'_>,
        k: usize,
        keep: impl Fn(usize) -> bool,
    ) -> Vec<Neighbor> {
        find_closest(&self.squared_distances(query), k, keep)
    }
}

/// A sparse vector: its non-zero columns, ascending, and their values.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct SparseRow<'r> {
    /// Columns of the non-zero values.
    pub columns: &'r [u32],
    /// Values, one for each column.
    pub values: &'r [f64],
}

impl<'r> SparseRow<'r> {
    /// Returns pairs of column and value.
    pub fn iter(self) -> impl Iterator<Item = (u32, f64)> + 'r {
        self.columns
            .iter()
            .copied()
            .zip(self.values.iter().copied())
    }

    fn squared_norm(self) -> f64 {
        self.values.iter().map(|value| value * value).sum()
    }
}

/// A sparse matrix in compressed row (CSR) and compressed column (CSC) form. A query reads only its own columns.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SparseRows {
    rows: Compressed,
    columns: Compressed,
    squared_norms: Vec<f64>,
}

/// Lists of positions and values, concatenated. `ends` contains the end of each list; the first begins at 0.
#[derive(Clone, Debug, PartialEq, Default)]
struct Compressed {
    ends: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Compressed {
    fn list(&self, place: usize) -> SparseRow<'_> {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        let range = start..self.ends[place];
        SparseRow {
            columns: &self.places[range.clone()],
            values: &self.values[range],
        }
    }

    /// Returns the transposed form: columns become rows.
    fn transpose(&self, width: usize) -> Self {
        let mut next = vec![0; width + 1];
        for &place in &self.places {
            next[place as usize + 1] += 1;
        }
        for place in 0..width {
            next[place + 1] += next[place];
        }
        let (mut places, mut values) = (vec![0; self.places.len()], vec![0.0; self.places.len()]);
        // Rows are read in their order, so the positions in each column ascend.
        for row in 0..self.ends.len() {
            for (column, value) in self.list(row).iter() {
                let slot = &mut next[column as usize];
                (places[*slot], values[*slot]) = (row as u32, value);
                *slot += 1;
            }
        }
        next.truncate(width); // every start has moved to its end
        Self {
            ends: next,
            places,
            values,
        }
    }
}

impl SparseRows {
    /// Builds a matrix of `width` columns. The columns of each row must ascend.
    ///
    /// # Panics
    ///
    /// Panics if a column is not below `width`.
    #[must_use]
    pub fn new(width: usize, rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut all = Compressed::default();
        for row in rows {
            debug_assert!(
                row.is_sorted_by(|one, other| one.0 < other.0),
                "columns ascend"
            );
            all.places.extend(row.iter().map(|(column, _)| *column));
            all.values.extend(row.iter().map(|(_, value)| *value));
            all.ends.push(all.places.len());
        }
        let squared_norms = (0..all.ends.len())
            .map(|row| all.list(row).squared_norm())
            .collect();
        Self {
            columns: all.transpose(width),
            rows: all,
            squared_norms,
        }
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.ends.len()
    }

    /// Returns the rows in which a column is not zero, with the values of the column.
    #[must_use]
    pub fn column(&self, column: usize) -> SparseRow<'_> {
        self.columns.list(column)
    }
}

impl Rows for SparseRows {
    type Row<'r> = SparseRow<'r>;

    fn len(&self) -> usize {
        self.rows.ends.len()
    }

    fn row(&self, place: usize) -> SparseRow<'_> {
        self.rows.list(place)
    }

    fn select(&self, places: &[usize]) -> Self {
        Self::new(
            self.width(),
            places.iter().map(|&place| self.row(place).iter().collect()),
        )
    }

    /// Computes |a|² + |b|² − 2ab, as scikit-learn does. Columns that no row contains add to the query's norm only.
    fn squared_distances(&self, query: SparseRow<'_>) -> Vec<f64> {
        let mut products = vec![0.0; self.len()];
        for (column, value) in query
            .iter()
            .filter(|(column, _)| (*column as usize) < self.width())
        {
            for (row, other) in self.columns.list(column as usize).iter() {
                products[row as usize] += value * other;
            }
        }
        let norm = query.squared_norm();
        let squared = products
            .iter()
            .zip(&self.squared_norms)
            .map(|(product, own)| norm + own - 2.0 * product);
        // Rounding can make the squared distance of equal vectors negative.
        squared.map(|distance| distance.max(0.0)).collect()
    }
}

/// A dense matrix in single precision, stored row by row.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DenseRows {
    width: usize,
    values: Vec<f32>,
}

/// Number of partial sums. Independent sums let the processor add several at once (SIMD).
const LANES: usize = 8;

impl DenseRows {
    /// Builds a matrix of `width` columns from the concatenated rows.
    ///
    /// # Panics
    ///
    /// Panics if the number of values is not a multiple of `width`.
    #[must_use]
    pub fn new(width: usize, values: Vec<f32>) -> Self {
        assert!(
            width > 0 && values.len().is_multiple_of(width),
            "{} numbers in rows of {width}",
            values.len()
        );
        Self { width, values }
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns all rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.width)
    }

    /// Scales every row to Euclidean length 1. Rows of zeros stay as they are.
    #[must_use]
    pub fn normalize(mut self) -> Self {
        for row in self.values.chunks_exact_mut(self.width) {
            let norm = row
                .iter()
                .map(|&value| f64::from(value).powi(2))
                .sum::<f64>()
                .sqrt();
            for value in row.iter_mut().filter(|_| norm > 0.0) {
                *value = (f64::from(*value) / norm) as f32;
            }
        }
        self
    }
}

impl Rows for DenseRows {
    type Row<'r> = &'r [f32];

    fn len(&self) -> usize {
        // The empty default has the width 0.
        self.values.len() / self.width.max(1)
    }

    fn row(&self, place: usize) -> &[f32] {
        &self.values[place * self.width..][..self.width]
    }

    fn select(&self, places: &[usize]) -> Self {
        Self {
            width: self.width,
            values: places
                .iter()
                .flat_map(|&place| self.row(place))
                .copied()
                .collect(),
        }
    }

    fn squared_distances(&self, query: &[f32]) -> Vec<f64> {
        self.iter()
            .map(|row| squared_distance(row, query))
            .collect()
    }
}

fn squared_distance(one: &[f32], other: &[f32]) -> f64 {
    let (ones, others) = (one.chunks_exact(LANES), other.chunks_exact(LANES));
    let rest: f64 = ones
        .remainder()
        .iter()
        .zip(others.remainder())
        .map(|(&one, &other)| squared_difference(one, other))
        .sum();
    let mut sums = [0.0; LANES];
    for (ones, others) in ones.zip(others) {
        for lane in 0..LANES {
            sums[lane] += squared_difference(ones[lane], others[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

fn squared_difference(one: f32, other: f32) -> f64 {
    (f64::from(one) - f64::from(other)).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sparse(width: usize, rows: &[Vec<f32>]) -> SparseRows {
        SparseRows::new(
            width,
            rows.iter().map(|row| {
                let all = (0..).zip(row.iter().map(|&value| f64::from(value)));
                all.filter(|(_, value)| *value != 0.0).collect()
            }),
        )
    }

    fn brute(rows: &[Vec<f32>], query: &[f32], k: usize) -> Vec<usize> {
        let square = |row: &Vec<f32>| {
            row.iter()
                .zip(query)
                .map(|(a, b)| f64::from(a - b).powi(2))
                .sum::<f64>()
        };
        let mut all: Vec<(f64, usize)> = rows.iter().map(square).zip(0..).collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        all.into_iter().take(k).map(|(_, row)| row).collect()
    }

    proptest! {
        /// Distances of whole numbers are exact in both computations, and ties are frequent.
        #[test]
        fn neighbours_are_those_of_brute_force(
            rows in prop::collection::vec(prop::collection::vec(-2_i8..3, 11), 1..30),
            k in 1_usize..12,
        ) {
            let rows: Vec<Vec<f32>> = rows.into_iter().map(|row| row.into_iter().map(f32::from).collect()).collect();
            let (thin, dense) = (sparse(11, &rows), DenseRows::new(11, rows.concat()));
            for (place, row) in rows.iter().enumerate() {
                let expected = brute(&rows, row, k);
                let found = |found: Vec<Neighbor>| found.iter().map(|neighbor| neighbor.row).collect::<Vec<_>>();
                prop_assert_eq!(&found(thin.nearest(thin.row(place), k)), &expected);
                prop_assert_eq!(&found(dense.nearest(dense.row(place), k)), &expected);
            }
        }
    }

    #[test]
    fn a_column_that_no_row_has_makes_distances_greater() {
        let rows = sparse(2, &[vec![1.0, 0.0], vec![0.0, 2.0]]);
        let query = SparseRow {
            columns: &[1, 7],
            values: &[2.0, 3.0],
        };
        assert_eq!(rows.squared_distances(query), [14.0, 9.0]);
        assert_eq!((rows.width(), rows.column(1).columns), (2, &[1][..]));
    }

    #[test]
    fn a_row_of_zeros_has_no_direction() {
        let rows = DenseRows::new(2, vec![3.0, 4.0, 0.0, 0.0]).normalize();
        assert_eq!(rows.iter().collect::<Vec<_>>(), [[0.6, 0.8], [0.0, 0.0]]);
        assert_eq!(rows.select(&[1, 0]).row(1), [0.6, 0.8]);
    }
}
