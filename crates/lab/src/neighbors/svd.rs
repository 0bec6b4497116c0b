//! Truncated singular value decomposition (SVD): reduces sparse rows to a few dense columns.

mod bidiagonal;

use super::matrices::{DenseRows, Rows, SparseRows};
use bidiagonal::{Basis, Matrix, Triplets};
use faer::ColRef;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Parameters of a truncated SVD by Golub-Kahan-Lanczos bidiagonalisation.
///
/// The method is described in G. Golub and W. Kahan, *Calculating the singular values and pseudo-inverse of a matrix*,
/// 1965. It reads the matrix only through products with vectors. It runs without restarts until the tolerance is met,
/// and stores two vectors a step. A hundred components of texts need some hundreds of steps. Every new vector is
/// orthogonalised twice against all earlier ones, which is enough (L. Giraud et al., *The loss of orthogonality in the
/// Gram-Schmidt orthogonalization process*, 2005).
///
/// One start vector finds only one direction for each singular value. Further start vectors, orthogonal to the results
/// so far, search for other directions. The search ends when the remaining values are no larger than the smallest
/// requested one.
///
/// A component has scikit-learn's sign: the entry of its right vector with the largest absolute value is positive. The
/// seed of the start vectors therefore changes only the last digits. Exceptions are equal singular values, whose
/// components may be rotated, and several entries with equal absolute values.
///
/// faer's `partial_svd` is not used. In 0.24.4 two of its vectors may not be orthogonal after a restart, and then a
/// loop never ends. This was observed with 100 components of 1,176 abstracts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TruncatedSvd {
    /// Number of columns of the result (default 100).
    pub components: usize,
    /// Seed of the generator (ChaCha8) of start vectors (default 42).
    pub seed: u64,
    /// Largest accepted residual ‖Aᵀu − σv‖ of a component, relative to the largest singular value (default 10⁻¹⁰). The
    /// error of a singular value is smaller. The error of a direction depends on the gap to other values.
    pub tolerance: f64,
}

impl Default for TruncatedSvd {
    fn default() -> Self {
        Self {
            components: 100,
            seed: 42,
            tolerance: 1e-10,
        }
    }
}

/// Errors of [`TruncatedSvd::fit_transform`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SvdError {
    /// The number of components is 0, or larger than the number of rows or columns.
    #[error(
        "cannot compute {requested} components of {rows} rows and {columns} columns: use 1 to the smaller of the two"
    )]
    TooMany {
        /// The requested number of components.
        requested: usize,
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A number is not finite, or the sum of squares overflows.
    #[error("the matrix contains a number that is not finite or too large")]
    NotFinite,
    /// The decomposition of the small bidiagonal matrix did not converge.
    #[error("the singular values of {rows} rows and {columns} columns did not converge")]
    NotConverged {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
}

impl TruncatedSvd {
    /// Returns the rows in the directions of the largest singular values, largest first: U · Σ. Columns of zeros have
    /// no effect.
    ///
    /// # Errors
    ///
    /// Fails if there are too many components, if a number is not finite, or if the decomposition does not converge.
    pub fn fit_transform(&self, rows: &SparseRows) -> Result<DenseRows, SvdError> {
        let (height, width) = (rows.len(), rows.width());
        let requested = self.components;
        if requested == 0 || requested > height.min(width) {
            return Err(SvdError::TooMany {
                requested,
                rows: height,
                columns: width,
            });
        }
        let matrix = Matrix::new(rows).ok_or(SvdError::NotFinite)?;
        let found = self.triplets(&matrix).ok_or(SvdError::NotConverged {
            rows: height,
            columns: width,
        })?;
        // The matrix is transposed if it has fewer rows than columns: its short side then belongs to the rows.
        let (left, right) = if height < width {
            (&found.short, &found.long)
        } else {
            (&found.long, &found.short)
        };
        let scales: Vec<f64> = (0..requested)
            .map(|place| found.values[place] * sign(right.col(place)))
            .collect();
        let scaled = (0..height).flat_map(|row| {
            scales
                .iter()
                .enumerate()
                .map(move |(column, by)| (row, column, by))
        });
        Ok(DenseRows::new(
            requested,
            scaled
                .map(|(row, column, by)| (left[(row, column)] * by) as f32)
                .collect(),
        ))
    }

    /// Returns the largest singular triplets, at least as many as `components`.
    fn triplets(&self, matrix: &Matrix<'_>) -> Option<Triplets> {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        let mut found = self.deflated_triplets(
            matrix,
            &Triplets::none(matrix),
            self.components,
            &mut generator,
        )?;
        while found.values.len() < matrix.short() {
            let next = self.deflated_triplets(matrix, &found, 1, &mut generator)?;
            if next.values[0]
                <= found.values[self.components - 1] + self.tolerance * found.values[0]
            {
                break;
            }
            found = found.merge(&next);
        }
        Some(found)
    }

    /// Returns the largest triplets beside known ones that one start vector can reach. Of several triplets with the
    /// same singular value one vector reaches only one.
    fn deflated_triplets(
        &self,
        matrix: &Matrix<'_>,
        known: &Triplets,
        requested: usize,
        generator: &mut ChaCha8Rng,
    ) -> Option<Triplets> {
        // There are no further directions that are orthogonal to the known ones.
        let most = matrix.short() - known.values.len();
        let mut basis = Basis::new(matrix, known, generator);
        let mut steps = 2 * requested + 20;
        loop {
            while basis.len() < steps.min(most) {
                basis.step(generator);
            }
            let (triplets, errors) = basis.triplets(requested)?;
            // Values are sorted, and known ones are larger than those found after them.
            let largest = known.values.first().unwrap_or(&triplets.values[0]);
            // Beyond the last possible step only rounding errors remain.
            if steps >= most
                || errors
                    .iter()
                    .all(|error| *error <= self.tolerance * largest)
            {
                return Some(triplets);
            }
            // Growth by a share needs few decompositions of the small matrix, which are repeated from the beginning.
            steps += steps / 4;
        }
    }
}

/// Returns −1 if the entry with the largest absolute value is negative, else 1. Among equal ones the first entry
/// decides.
fn sign(vector: ColRef<'_, f64>) -> f64 {
    let mut farthest = 0.0_f64;
    for &number in vector.iter() {
        if number.abs() > farthest.abs() {
            farthest = number;
        }
    }
    if farthest < 0.0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use rand_chacha::rand_core::RngCore;
    use std::collections::BTreeMap;

    /// Random rows of `width` columns. A tenth of the entries is not 0.
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

    /// Singular values of the dense decomposition of the whole matrix.
    fn values(rows: &SparseRows) -> Vec<f64> {
        let mut matrix = Mat::zeros(rows.len(), rows.width());
        for row in 0..rows.len() {
            for (column, value) in rows.row(row).iter() {
                matrix[(row, column as usize)] = value;
            }
        }
        matrix.singular_values().expect("singular values")
    }

    fn decomposed(rows: &SparseRows, components: usize, seed: u64) -> DenseRows {
        TruncatedSvd {
            components,
            seed,
            ..TruncatedSvd::default()
        }
        .fit_transform(rows)
        .expect("a decomposition")
    }

    /// Checks that columns are as long as singular values and orthogonal, and that the error equals that of the best
    /// approximation.
    fn check(rows: &SparseRows, components: usize, name: &str) {
        let (values, decomposed) = (values(rows), decomposed(rows, components, 42));
        let found = &decomposed;
        let near = |one: f64, other: f64| (one - other).abs() < 1e-5 * values[0].max(1e-9).powi(2);
        let product = |one: usize, other: usize| {
            found
                .iter()
                .map(move |row| f64::from(row[one]) * f64::from(row[other]))
        };
        for (one, value) in values.iter().enumerate().take(components) {
            for other in 0..components {
                let expected = if one == other { value.powi(2) } else { 0.0 };
                let sum = product(one, other).sum::<f64>();
                assert!(
                    near(sum, expected),
                    "{name}, {components}: {one}, {other}: {sum}, not {expected}"
                );
            }
        }
        // The eigenvalues of the rest of AAᵀ are those not used: their squares add up.
        let rest: f64 = values[components..].iter().map(|value| value.powi(4)).sum();
        let mut left = 0.0;
        for one in 0..rows.len() {
            let dense: BTreeMap<u32, f64> = rows.row(one).iter().collect();
            for other in 0..rows.len() {
                let exact = rows
                    .row(other)
                    .iter()
                    .filter_map(|(column, value)| Some(dense.get(&column)? * value));
                let pairs = found.row(one).iter().zip(found.row(other));
                let kept: f64 = pairs
                    .map(|(one, other)| f64::from(*one) * f64::from(*other))
                    .sum();
                left += (exact.sum::<f64>() - kept).powi(2);
            }
        }
        assert!(
            (left - rest).abs() < 1e-4 * values[0].max(1e-9).powi(4),
            "{name}, {components}: {left}, not {rest}"
        );
    }

    #[test]
    fn the_largest_by_hand() {
        // Two orthogonal rows: the singular values are their lengths.
        let rows = SparseRows::new(3, [vec![(0, 3.0), (1, 4.0)], vec![(2, 2.0)]]);
        let of = |components| {
            TruncatedSvd {
                components,
                ..TruncatedSvd::default()
            }
            .fit_transform(&rows)
        };
        let both = of(2).expect("a decomposition");
        let rounded: Vec<f32> = both.iter().flatten().map(|value| value.round()).collect();
        assert_eq!(rounded, [5.0, 0.0, 0.0, 2.0]);
        assert_eq!(
            of(3),
            Err(SvdError::TooMany {
                requested: 3,
                rows: 2,
                columns: 3
            })
        );
        assert_eq!(
            of(0),
            Err(SvdError::TooMany {
                requested: 0,
                rows: 2,
                columns: 3
            })
        );
        // A direction whose largest entry is negative changes its sign.
        let rows = SparseRows::new(
            2,
            [
                vec![(0, -3.0), (1, 4.0)],
                vec![(0, 4.0), (1, 3.0)],
                vec![(0, 30.0)],
            ],
        );
        let first: Vec<f32> = decomposed(&rows, 1, 42).iter().map(|row| row[0]).collect();
        assert!(first[2] > 29.0 && first[0] < 0.0, "{first:?}");
    }

    #[test]
    fn iterating_finds_what_the_whole_decomposition_has() {
        for (height, width, seed) in [
            (120, 90, 1),
            (90, 120, 2),
            (40, 40, 3),
            (60, 4, 4),
            (4, 60, 5),
            (1, 30, 6),
        ] {
            let rows = random(height, width, seed);
            for components in [1, 3, 7, 39] {
                if components <= height.min(width as usize) {
                    check(&rows, components, &format!("{height} rows of {width}"));
                }
            }
            check(&rows, height.min(width as usize), "all there are");
        }
    }

    #[test]
    fn singular_values_that_come_more_than_once_are_all_found() {
        let one = random(24, 18, 8);
        let block = |number: u32| {
            let row = |row: usize| {
                one.row(row)
                    .iter()
                    .map(move |(column, value)| (column + 18 * number, value))
                    .collect()
            };
            (0..one.len()).map(row).collect::<Vec<_>>()
        };
        let copies = SparseRows::new(4 * 18, (0..4).flat_map(block));
        // One vector finds the largest of these long before it has reached as many directions as there are values.
        let pairs = SparseRows::new(
            120,
            (0..120).map(|row| vec![(row, 0.7_f64.powi(row as i32 / 2))]),
        );
        let identity = SparseRows::new(50, (0..50).map(|row| vec![(row, 1.0)]));
        for components in [1, 2, 5, 12] {
            check(&copies, components, "four times the same");
            check(&pairs, components, "each value twice");
            check(&identity, components, "the identity");
        }
    }

    #[test]
    fn what_has_fewer_directions_than_components_is_zero_in_the_others() {
        let few = random(3, 40, 9);
        let rows = SparseRows::new(40, (0..50).map(|row| few.row(row % 3).iter().collect()));
        check(&rows, 10, "three rows, many times");
        let nothing = SparseRows::new(30, (0..20).map(|_| Vec::new()));
        assert!(
            decomposed(&nothing, 5, 42)
                .iter()
                .flatten()
                .all(|value| *value == 0.0)
        );
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for number in [f64::NAN, f64::INFINITY, 1e200] {
            let rows = SparseRows::new(
                3,
                (0..3).map(|row| vec![(row, if row == 1 { number } else { 1.0 })]),
            );
            let svd = TruncatedSvd {
                components: 2,
                ..TruncatedSvd::default()
            };
            assert_eq!(
                svd.fit_transform(&rows),
                Err(SvdError::NotFinite),
                "{number}"
            );
        }
    }

    #[test]
    fn the_seed_changes_last_digits() {
        let rows = random(120, 90, 1);
        let (one, other) = (decomposed(&rows, 7, 42), decomposed(&rows, 7, 7));
        let pairs = one.iter().flatten().zip(other.iter().flatten());
        assert!(
            pairs
                .map(|(one, other)| (one - other).abs())
                .fold(0.0, f32::max)
                < 1e-5
        );
        assert_eq!(one, decomposed(&rows, 7, 42), "the same on every run");
    }
}
