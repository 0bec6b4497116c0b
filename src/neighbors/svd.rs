//! Truncated singular value decomposition: rows of many columns in few.

use super::rows::{DenseRows, Rows, SparseRow, SparseRows};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::eigen::{partial_svd, partial_svd_scratch};
use faer::matrix_free::{BiLinOp, LinOp};
use faer::{Col, Mat, MatMut, MatRef, Par};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// How a decomposition is computed.
///
/// faer's Lanczos method with restarts, which reads the matrix by its products with vectors alone. It runs until every
/// component is exact to the tolerance: the seed, of the vector it begins with, changes signs and the last digits.
///
/// faer 0.24.4 has a fault: after a restart two of its vectors may no longer be at right angles, and the loop that makes a
/// new one be so to both then never ends. Seen once, with 100 components of 1,176 abstracts; six fewer were decomposed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TruncatedSvd {
    /// The columns of the result.
    pub components: usize,
    /// Where the generator of the first vector (ChaCha8) begins.
    pub seed: u64,
    /// The error of a singular vector, relative to the largest singular value.
    pub tolerance: f64,
}

impl Default for TruncatedSvd {
    fn default() -> Self {
        Self { components: 100, seed: 42, tolerance: 1e-10 }
    }
}

/// Why there is no decomposition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SvdError {
    /// A matrix has no more components than it has rows or columns.
    #[error("{asked} components of {rows} rows and {columns} columns")]
    TooMany {
        /// The components asked for.
        asked: usize,
        /// The rows.
        rows: usize,
        /// The columns.
        columns: usize,
    },
    /// The iteration ended before every component was found.
    #[error("{found} of {asked} components were found: the others do not converge")]
    NotConverged {
        /// The components asked for.
        asked: usize,
        /// Those found.
        found: usize,
    },
}

/// faer's method keeps twice as many vectors as it looks for, and at least this many; a matrix must be larger.
const LEAST_VECTORS: usize = 64;

impl TruncatedSvd {
    /// The rows in the directions of the largest singular values, largest first: U · Σ. What is 0 in all rows stays out.
    pub fn of(&self, rows: &SparseRows) -> Result<DenseRows, SvdError> {
        let (height, width) = (rows.len(), rows.width());
        let asked = self.components;
        if asked == 0 || asked > height.min(width) {
            return Err(SvdError::TooMany { asked, rows: height, columns: width });
        }
        let (left, values) =
            if height.min(width) > LEAST_VECTORS.max(2 * asked) { self.iterated(rows)? } else { self.whole(rows)? };
        let scaled = (0..height).flat_map(|row| (0..asked).map(move |column| (row, column)));
        Ok(DenseRows::new(asked, scaled.map(|(row, column)| (left[(row, column)] * values[column]) as f32).collect()))
    }

    fn iterated(&self, rows: &SparseRows) -> Result<(Mat<f64>, Vec<f64>), SvdError> {
        let operator = Operator(rows);
        let mut values = vec![0.0; self.components];
        let mut left = Mat::zeros(rows.len(), self.components);
        let mut right = Mat::zeros(rows.width(), self.components);
        let need = partial_svd_scratch(&operator, self.components, Par::Seq, Default::default());
        let mut buffer = MemBuffer::new(need);
        let found = partial_svd(
            left.as_mut(),
            right.as_mut(),
            &mut values,
            &operator,
            self.start(rows.width()).as_ref(),
            self.tolerance,
            Par::Seq,
            MemStack::new(&mut buffer),
            Default::default(),
        );
        let found = found.n_converged_eigen;
        if found < self.components {
            return Err(SvdError::NotConverged { asked: self.components, found });
        }
        Ok((left, values))
    }

    /// For matrices too small to iterate on.
    fn whole(&self, rows: &SparseRows) -> Result<(Mat<f64>, Vec<f64>), SvdError> {
        let mut matrix = Mat::zeros(rows.len(), rows.width());
        for row in 0..rows.len() {
            for (column, value) in rows.row(row).iter() {
                matrix[(row, column as usize)] = value;
            }
        }
        let asked = self.components;
        let svd = matrix.thin_svd().map_err(|_| SvdError::NotConverged { asked, found: 0 })?;
        Ok((svd.U().to_owned(), svd.S().column_vector().iter().copied().collect()))
    }

    /// Numbers in [−1, 1).
    fn start(&self, width: usize) -> Col<f64> {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        Col::from_fn(width, |_| f64::from(generator.next_u32()) / f64::from(1_u32 << 31) - 1.0)
    }
}

/// The rows as faer multiplies them with vectors.
#[derive(Debug)]
struct Operator<'r>(&'r SparseRows);

/// A matrix by its lists, times another.
fn multiply<'r>(list: impl Fn(usize) -> SparseRow<'r>, mut out: MatMut<'_, f64>, other: MatRef<'_, f64>) {
    for place in 0..out.nrows() {
        for column in 0..out.ncols() {
            let products = list(place).iter().map(|(row, value)| value * other[(row as usize, column)]);
            out[(place, column)] = products.sum();
        }
    }
}

impl LinOp<f64> for Operator<'_> {
    fn apply_scratch(&self, _columns: usize, _par: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.0.len()
    }

    fn ncols(&self) -> usize {
        self.0.width()
    }

    fn apply(&self, out: MatMut<'_, f64>, other: MatRef<'_, f64>, _par: Par, _stack: &mut MemStack) {
        multiply(|row| self.0.row(row), out, other);
    }

    fn conj_apply(&self, out: MatMut<'_, f64>, other: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.apply(out, other, par, stack);
    }
}

impl BiLinOp<f64> for Operator<'_> {
    fn transpose_apply_scratch(&self, _columns: usize, _par: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn transpose_apply(&self, out: MatMut<'_, f64>, other: MatRef<'_, f64>, _par: Par, _stack: &mut MemStack) {
        multiply(|column| self.0.column(column), out, other);
    }

    fn adjoint_apply(&self, out: MatMut<'_, f64>, other: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.transpose_apply(out, other, par, stack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random rows of so many columns, a tenth of them not 0.
    fn random(height: usize, width: u32, seed: u64) -> SparseRows {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut next = || f64::from(generator.next_u32()) / f64::from(u32::MAX);
        let mut rows = Vec::new();
        for _ in 0..height {
            let row: Vec<(u32, f64)> = (0..width).map(|column| (column, next())).collect();
            rows.push(row.into_iter().filter(|_| next() < 0.1).collect());
        }
        SparseRows::new(width as usize, rows)
    }

    fn norms(rows: &DenseRows) -> Vec<f64> {
        let square = |column: usize| rows.iter().map(|row| f64::from(row[column]).powi(2)).sum::<f64>();
        (0..rows.width()).map(|column| square(column).sqrt()).collect()
    }

    #[test]
    fn the_largest_by_hand() {
        // Two independent rows: singular values are their lengths.
        let rows = SparseRows::new(3, [vec![(0, 3.0), (1, 4.0)], vec![(2, 2.0)]]);
        let of = |components| TruncatedSvd { components, ..TruncatedSvd::default() }.of(&rows);
        let both = of(2).expect("a decomposition");
        let absolute: Vec<f32> = both.iter().flatten().map(|value| value.abs().round()).collect();
        assert_eq!(absolute, [5.0, 0.0, 0.0, 2.0]);
        assert_eq!(of(3), Err(SvdError::TooMany { asked: 3, rows: 2, columns: 3 }));
    }

    #[test]
    fn iterating_finds_what_the_whole_decomposition_has() {
        let rows = random(120, 90, 1);
        let svd = TruncatedSvd { components: 7, ..TruncatedSvd::default() };
        let (_, values) = svd.whole(&rows).expect("a decomposition");
        let reduced = svd.of(&rows).expect("a decomposition");
        for (norm, value) in norms(&reduced).iter().zip(&values) {
            assert!((norm - value).abs() < 1e-4 * values[0], "{norm} and {value}");
        }
        let other = TruncatedSvd { seed: 7, ..svd }.of(&rows).expect("a decomposition");
        for place in 0..rows.len() {
            let distances = reduced.squared_distances(reduced.row(place)).into_iter();
            let others = other.squared_distances(other.row(place)).into_iter();
            assert!(distances.zip(others).all(|(one, other)| (one - other).abs() < 1e-4), "the seed is no matter");
        }
        assert_eq!(svd.of(&rows), Ok(reduced), "the same on every run");
    }
}
