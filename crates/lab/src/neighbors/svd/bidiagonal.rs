//! Golub-Kahan-Lanczos bidiagonalisation: a small bidiagonal matrix between two growing orthonormal bases.

use crate::neighbors::matrices::{Rows, SparseRow, SparseRows};
use nalgebra::{DMatrix, DMatrixView, DVector, DVectorView, SVD};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// Numbers up to this bound, relative to the norm of the matrix, count as rounding errors of 0.
const ROUNDING: f64 = 1e-13;

/// Largest number of QR sweeps of the small decomposition for each singular value. A few are usual.
const SWEEPS: usize = 30;

/// A matrix with at least as many rows as columns. Input with fewer rows than columns is transposed.
pub(super) struct Matrix<'r> {
    rows: &'r SparseRows,
    transposed: bool,
    /// Frobenius norm.
    norm: f64,
}

impl<'r> Matrix<'r> {
    /// Returns `None` if the norm is not finite.
    pub(super) fn new(rows: &'r SparseRows) -> Option<Self> {
        let squares = (0..rows.len()).flat_map(|row| rows.row(row).values).map(|value| value * value);
        let norm = squares.sum::<f64>().sqrt();
        norm.is_finite().then(|| Self { rows, transposed: rows.len() < rows.width(), norm })
    }

    pub(super) fn long(&self) -> usize {
        self.rows.len().max(self.rows.width())
    }

    pub(super) fn short(&self) -> usize {
        self.rows.len().min(self.rows.width())
    }

    /// Computes A · x.
    fn times(&self, other: DVectorView<'_, f64>) -> DVector<f64> {
        if self.transposed { self.by_columns(other) } else { self.by_rows(other) }
    }

    /// Computes Aᵀ · x.
    fn transpose_times(&self, other: DVectorView<'_, f64>) -> DVector<f64> {
        if self.transposed { self.by_rows(other) } else { self.by_columns(other) }
    }

    fn by_rows(&self, other: DVectorView<'_, f64>) -> DVector<f64> {
        DVector::from_fn(self.rows.len(), |row, _| dot(self.rows.row(row), other))
    }

    fn by_columns(&self, other: DVectorView<'_, f64>) -> DVector<f64> {
        DVector::from_fn(self.rows.width(), |column, _| dot(self.rows.column(column), other))
    }
}

fn dot(sparse: SparseRow<'_>, other: DVectorView<'_, f64>) -> f64 {
    sparse.iter().map(|(place, value)| value * other[place as usize]).sum()
}

/// Singular triplets, largest value first. Each column of `long` is a left singular vector (one entry for each row of
/// the [`Matrix`]). Each column of `short` is a right singular vector (one entry for each column).
pub(super) struct Triplets {
    pub(super) values: Vec<f64>,
    pub(super) long: DMatrix<f64>,
    pub(super) short: DMatrix<f64>,
}

impl Triplets {
    pub(super) fn none(matrix: &Matrix<'_>) -> Self {
        Self { values: Vec::new(), long: DMatrix::zeros(matrix.long(), 0), short: DMatrix::zeros(matrix.short(), 0) }
    }

    /// Merges two sets of triplets.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let (values, here) = ([&self.values[..], &other.values].concat(), self.values.len());
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|one, two| values[*two].total_cmp(&values[*one]));
        let gathered = |mine: &DMatrix<f64>, others: &DMatrix<f64>| {
            DMatrix::from_fn(mine.nrows(), order.len(), |row, place| match order[place].checked_sub(here) {
                None => mine[(row, order[place])],
                Some(place) => others[(row, place)],
            })
        };
        let (long, short) = (gathered(&self.long, &other.long), gathered(&self.short, &other.short));
        Self { values: order.iter().map(|place| values[*place]).collect(), long, short }
    }
}

/// State of the iteration: A · V = U · B and Aᵀ · U = V · Bᵀ + β v eᵀ.
///
/// B is bidiagonal, with `diagonal` and all but the last of `superdiagonal`. The columns of U and V are orthonormal. β
/// is the last of `superdiagonal`, and v is the vector of V with which the next step begins. All vectors are orthogonal
/// to those of the `known` triplets.
pub(super) struct Basis<'m> {
    matrix: &'m Matrix<'m>,
    known: usize,
    /// The known vectors, then the columns of U and V so far. Further columns are unused capacity.
    long: DMatrix<f64>,
    short: DMatrix<f64>,
    diagonal: Vec<f64>,
    superdiagonal: Vec<f64>,
}

impl<'m> Basis<'m> {
    /// Starts without a step. There must be fewer known triplets than the matrix has.
    pub(super) fn new(matrix: &'m Matrix<'m>, known: &Triplets, generator: &mut ChaCha8Rng) -> Self {
        let (long, short) = (known.long.clone(), known.short.clone());
        let known = known.values.len();
        let mut basis = Self { matrix, known, long, short, diagonal: Vec::new(), superdiagonal: Vec::new() };
        let first = random(&basis.short, known, generator);
        push(&mut basis.short, known, &first);
        basis
    }

    /// Returns the number of steps.
    pub(super) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Takes one more step. The number of steps may not exceed the number of columns minus that of known triplets.
    pub(super) fn step(&mut self, generator: &mut ChaCha8Rng) {
        let (matrix, place) = (self.matrix, self.known + self.len());
        let least = ROUNDING * matrix.norm;
        // Orthogonalisation removes the parts of A · v and Aᵀ · u along earlier vectors.
        let mut left = matrix.times(self.short.column(place));
        orthogonalize(self.long.columns(0, place), &mut left);
        self.diagonal.push(normalize(&mut left, least));
        if self.diagonal.last() == Some(&0.0) {
            left = random(&self.long, place, generator);
        }
        push(&mut self.long, place, &left);
        let mut right = matrix.transpose_times(left.as_view());
        orthogonalize(self.short.columns(0, place + 1), &mut right);
        self.superdiagonal.push(normalize(&mut right, least));
        if place + 1 == matrix.short() {
            return; // nothing is orthogonal to all
        }
        if self.superdiagonal.last() == Some(&0.0) {
            right = random(&self.short, place + 1, generator);
        }
        push(&mut self.short, place + 1, &right);
    }

    /// Returns the `count` largest triplets after the steps so far, and the residual of each: ‖Aᵀ · u − σ v‖, where A ·
    /// v = σ u. `None`: the small decomposition did not converge.
    pub(super) fn triplets(&self, count: usize) -> Option<(Triplets, Vec<f64>)> {
        let steps = self.len();
        let mut small = DMatrix::zeros(steps, steps);
        for place in 0..steps {
            small[(place, place)] = self.diagonal[place];
            if place + 1 < steps {
                small[(place, place + 1)] = self.superdiagonal[place];
            }
        }
        let svd = SVD::try_new(small, true, true, f64::EPSILON, SWEEPS * steps)?;
        let values = svd.singular_values.iter().take(count).copied().collect();
        let (left, right) = (svd.u?.columns(0, count).into_owned(), svd.v_t?.rows(0, count).transpose());
        let long = self.long.columns(self.known, steps) * &left;
        let short = self.short.columns(self.known, steps) * right;
        let last = self.superdiagonal[steps - 1];
        let errors = (0..count).map(|place| (last * left[(steps - 1, place)]).abs()).collect();
        Some((Triplets { values, long, short }, errors))
    }
}

/// Removes the components of a vector along the columns of a basis.
fn orthogonalize(basis: DMatrixView<'_, f64>, vector: &mut DVector<f64>) {
    for _ in 0..2 {
        let along = basis.tr_mul(vector);
        vector.gemv(-1.0, &basis, &along, 1.0);
    }
}

/// Scales a vector to length 1 and returns its former length. Returns 0 and changes nothing if the length is at most
/// `least`.
fn normalize(vector: &mut DVector<f64>, least: f64) -> f64 {
    let length = vector.norm();
    if length <= least {
        return 0.0;
    }
    *vector /= length;
    length
}

/// Returns a random vector of length 1, orthogonal to the first columns of a matrix. There must be fewer columns than
/// rows.
fn random(basis: &DMatrix<f64>, columns: usize, generator: &mut ChaCha8Rng) -> DVector<f64> {
    loop {
        let number = |_, _| f64::from(generator.next_u32()) / f64::from(1_u32 << 31) - 1.0;
        let mut vector = DVector::from_fn(basis.nrows(), number);
        let least = ROUNDING * vector.norm();
        orthogonalize(basis.columns(0, columns), &mut vector);
        if normalize(&mut vector, least) != 0.0 {
            return vector;
        }
    }
}

/// Writes a column and grows the matrix if necessary.
fn push(basis: &mut DMatrix<f64>, place: usize, column: &DVector<f64>) {
    if basis.ncols() <= place {
        basis.resize_horizontally_mut((2 * place).max(32), 0.0);
    }
    basis.set_column(place, column);
}
