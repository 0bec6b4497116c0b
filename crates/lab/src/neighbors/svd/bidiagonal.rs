//! Golub-Kahan-Lanczos bidiagonalisation: a small bidiagonal matrix between two growing orthonormal bases.

use crate::neighbors::matrices::{Rows, SparseRow, SparseRows};
use faer::{Col, ColRef, Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// Numbers up to this bound, relative to the norm of the matrix, count as rounding errors of 0.
const MAX_ROUNDING_ERROR: f64 = 1e-13;

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
        let squares = (0..rows.len())
            .flat_map(|row| rows.row(row).values)
            .map(|value| value * value);
        // The Frobenius norm is an upper bound of the largest singular value, and needs no decomposition.
        let norm = squares.sum::<f64>().sqrt();
        norm.is_finite().then(|| Self {
            rows,
            transposed: rows.len() < rows.width(),
            norm,
        })
    }

    pub(super) fn long(&self) -> usize {
        self.rows.len().max(self.rows.width())
    }

    pub(super) fn short(&self) -> usize {
        self.rows.len().min(self.rows.width())
    }

    /// Computes A · x.
    fn times(&self, other: ColRef<'_, f64>) -> Col<f64> {
        if self.transposed {
            self.by_columns(other)
        } else {
            self.by_rows(other)
        }
    }

    /// Computes Aᵀ · x.
    fn transpose_times(&self, other: ColRef<'_, f64>) -> Col<f64> {
        if self.transposed {
            self.by_rows(other)
        } else {
            self.by_columns(other)
        }
    }

    fn by_rows(&self, other: ColRef<'_, f64>) -> Col<f64> {
        Col::from_fn(self.rows.len(), |row| dot(self.rows.row(row), other))
    }

    fn by_columns(&self, other: ColRef<'_, f64>) -> Col<f64> {
        Col::from_fn(self.rows.width(), |column| {
            dot(self.rows.column(column), other)
        })
    }
}

fn dot(sparse: SparseRow<'_>, other: ColRef<'_, f64>) -> f64 {
    sparse
        .iter()
        .map(|(place, value)| value * other[place as usize])
        .sum()
}

/// Singular triplets, largest value first. Each column of `long` is a left singular vector (one entry for each row of
/// the [`Matrix`]). Each column of `short` is a right singular vector (one entry for each column).
pub(super) struct Triplets {
    pub(super) values: Vec<f64>,
    pub(super) long: Mat<f64>,
    pub(super) short: Mat<f64>,
}

impl Triplets {
    pub(super) fn none(matrix: &Matrix<'_>) -> Self {
        Self {
            values: Vec::new(),
            long: Mat::zeros(matrix.long(), 0),
            short: Mat::zeros(matrix.short(), 0),
        }
    }

    /// Merges two sets of triplets.
    pub(super) fn merge(&self, other: &Self) -> Self {
        let (values, here) = (
            [&self.values[..], &other.values].concat(),
            self.values.len(),
        );
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|one, two| values[*two].total_cmp(&values[*one]));
        let (long, short) = (
            select_columns(&self.long, &other.long, here, &order),
            select_columns(&self.short, &other.short, here, &order),
        );
        Self {
            values: order.iter().map(|place| values[*place]).collect(),
            long,
            short,
        }
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
    long: Mat<f64>,
    short: Mat<f64>,
    diagonal: Vec<f64>,
    superdiagonal: Vec<f64>,
}

impl<'m> Basis<'m> {
    /// Starts without a step. There must be fewer known triplets than the matrix has.
    pub(super) fn new(
        matrix: &'m Matrix<'m>,
        known: &Triplets,
        generator: &mut ChaCha8Rng,
    ) -> Self {
        let (long, short) = (known.long.clone(), known.short.clone());
        let known = known.values.len();
        let mut basis = Self {
            matrix,
            known,
            long,
            short,
            diagonal: Vec::new(),
            superdiagonal: Vec::new(),
        };
        let first = random_direction(basis.short.as_ref(), known, generator);
        set_column(&mut basis.short, known, &first);
        basis
    }

    /// Returns the number of steps.
    pub(super) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Takes one more step. The number of steps may not exceed the number of columns minus that of known triplets.
    pub(super) fn step(&mut self, generator: &mut ChaCha8Rng) {
        let (matrix, place) = (self.matrix, self.known + self.len());
        let least = MAX_ROUNDING_ERROR * matrix.norm;
        // Orthogonalisation removes the parts of A · v and Aᵀ · u along earlier vectors.
        let mut left = matrix.times(self.short.col(place));
        orthogonalize(self.long.subcols(0, place), &mut left);
        self.diagonal.push(normalize(&mut left, least));
        if self.diagonal.last() == Some(&0.0) {
            // The subspace so far is complete. The iteration continues in any direction that is orthogonal to it.
            left = random_direction(self.long.as_ref(), place, generator);
        }
        set_column(&mut self.long, place, &left);
        let mut right = matrix.transpose_times(left.as_ref());
        orthogonalize(self.short.subcols(0, place + 1), &mut right);
        self.superdiagonal.push(normalize(&mut right, least));
        if place + 1 == matrix.short() {
            return; // nothing is orthogonal to all
        }
        if self.superdiagonal.last() == Some(&0.0) {
            right = random_direction(self.short.as_ref(), place + 1, generator);
        }
        set_column(&mut self.short, place + 1, &right);
    }

    /// Returns the `count` largest triplets after the steps so far, and the residual of each: ‖Aᵀ · u − σ v‖, where A ·
    /// v = σ u. `None`: the small decomposition did not converge.
    pub(super) fn triplets(&self, count: usize) -> Option<(Triplets, Vec<f64>)> {
        let steps = self.len();
        let mut small = Mat::zeros(steps, steps);
        for place in 0..steps {
            small[(place, place)] = self.diagonal[place];
            if place + 1 < steps {
                small[(place, place + 1)] = self.superdiagonal[place];
            }
        }
        let svd = small.thin_svd().ok()?;
        let values = svd
            .S()
            .column_vector()
            .iter()
            .take(count)
            .copied()
            .collect();
        let (left, right) = (svd.U().subcols(0, count), svd.V().subcols(0, count));
        let long = self.long.subcols(self.known, steps) * left;
        let short = self.short.subcols(self.known, steps) * right;
        // Of Aᵀ · U = V · Bᵀ + β v eᵀ, only the last term remains as the residual.
        let last = self.superdiagonal[steps - 1];
        let errors = (0..count)
            .map(|place| (last * left[(steps - 1, place)]).abs())
            .collect();
        Some((
            Triplets {
                values,
                long,
                short,
            },
            errors,
        ))
    }
}

/// Removes the components of a vector along the columns of a basis.
fn orthogonalize(basis: MatRef<'_, f64>, vector: &mut Col<f64>) {
    for _ in 0..2 {
        // The second pass removes what rounding has left in the first.
        let along = basis.transpose() * &*vector;
        *vector -= basis * along;
    }
}

/// Scales a vector to length 1 and returns its former length. Returns 0 and changes nothing if the length is at most
/// `least`.
fn normalize(vector: &mut Col<f64>, least: f64) -> f64 {
    let length = vector.norm_l2();
    if length <= least {
        return 0.0;
    }
    *vector /= faer::Scale(length);
    length
}

/// Returns columns of two matrices in an order. Positions from `split` on are those of the second matrix.
fn select_columns(one: &Mat<f64>, other: &Mat<f64>, split: usize, order: &[usize]) -> Mat<f64> {
    Mat::from_fn(one.nrows(), order.len(), |row, place| {
        match order[place].checked_sub(split) {
            None => one[(row, order[place])],
            Some(place) => other[(row, place)],
        }
    })
}

/// Returns a random vector of length 1, orthogonal to the first columns of a matrix. There must be fewer columns than
/// rows.
fn random_direction(
    basis: MatRef<'_, f64>,
    columns: usize,
    generator: &mut ChaCha8Rng,
) -> Col<f64> {
    loop {
        let mut vector = Col::from_fn(basis.nrows(), |_| {
            f64::from(generator.next_u32()) / f64::from(1_u32 << 31) - 1.0
        });
        let least = MAX_ROUNDING_ERROR * vector.norm_l2();
        orthogonalize(basis.subcols(0, columns), &mut vector);
        if normalize(&mut vector, least) != 0.0 {
            return vector;
        }
    }
}

/// Writes a column and grows the matrix if necessary.
fn set_column(basis: &mut Mat<f64>, place: usize, column: &Col<f64>) {
    if basis.ncols() <= place {
        // Each growth copies the matrix; doubling makes that rare.
        basis.resize_with(basis.nrows(), (2 * place).max(32), |_, _| 0.0);
    }
    basis.col_mut(place).copy_from(column);
}
