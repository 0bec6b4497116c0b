//! The signs of vectors: an estimate of inner products from one bit for each number.
//!
//! Two vectors with an angle of α differ in the signs of about α/π of their numbers (M. Charikar: *Similarity Estimation Techniques
//! from Rounding Algorithms*, STOC 2002, for random directions). Comparing a query with a million vectors takes milliseconds; the
//! best ones must be compared exactly afterwards.

use super::product::Query;
use pulp::{Arch, Simd, WithSimd};
use std::f32::consts::PI;

/// Bits of a word.
const WORD_BITS: usize = u64::BITS as usize;
/// Rows of a block.
const BLOCK_ROWS: usize = 16;

/// The signs and lengths of vectors.
#[derive(Clone, Debug, Default)]
pub struct SignRows {
    columns: usize,
    /// One bit for each number, 1 if it is negative: by blocks of rows, the first word of each row, then the second ones.
    words: Vec<[u64; BLOCK_ROWS]>,
    lengths: Vec<f32>,
}

impl SignRows {
    /// Creates a list of vectors with some number of columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            ..Self::default()
        }
    }

    /// Returns the number of vectors.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the size of the signs and lengths in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice()) + size_of_val(self.lengths.as_slice())
    }

    /// Appends a vector.
    ///
    /// # Panics
    ///
    /// If it has another number of columns.
    pub fn push(&mut self, row: &[f32]) {
        assert_eq!(
            row.len(),
            self.columns,
            "vectors of one list have one number of columns"
        );
        let lane = self.rows() % BLOCK_ROWS;
        let words_per_row = self.columns.div_ceil(WORD_BITS);
        if lane == 0 {
            self.words
                .resize(self.words.len() + words_per_row, [0; BLOCK_ROWS]);
        }
        let start = self.words.len() - words_per_row;
        for (words, word) in self.words[start..].iter_mut().zip(sign_words(row)) {
            words[lane] = word;
        }
        self.lengths.push(vector_length(row));
    }

    /// Estimates the inner product of the first row of a query with each vector.
    ///
    /// # Panics
    ///
    /// If query and vectors have different numbers of columns.
    #[must_use]
    pub fn estimate(&self, query: &Query) -> Vec<f32> {
        if query.rows() == 0 || self.rows() == 0 {
            return vec![0.0; self.rows()];
        }
        assert_eq!(
            query.columns(),
            self.columns,
            "query and document vectors come from different models"
        );
        let row = query.row(0);
        let scale = vector_length(&row);
        // The angle is estimated as π · different / columns. Its cosine has few values, which are computed once.
        let products: Vec<f32> = (0..=self.columns)
            .map(|different| scale * (PI * different as f32 / self.columns as f32).cos())
            .collect();
        let query: Vec<u64> = sign_words(&row).collect();
        let mut estimates = Vec::with_capacity(self.rows());
        Arch::new().dispatch(Estimates {
            rows: self,
            query: &query,
            products: &products,
            estimates: &mut estimates,
        });
        estimates
    }
}

/// Dispatched for the processor's instruction that counts bits.
struct Estimates<'e> {
    rows: &'e SignRows,
    query: &'e [u64],
    /// Estimated product with a vector of length 1, by the number of different signs.
    products: &'e [f32],
    estimates: &'e mut Vec<f32>,
}

impl WithSimd for Estimates<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (block, lengths) in self
            .rows
            .words
            .chunks_exact(self.query.len())
            .zip(self.rows.lengths.chunks(BLOCK_ROWS))
        {
            let mut different = [0_u64; BLOCK_ROWS];
            for (words, query) in block.iter().zip(self.query) {
                for (count, word) in different.iter_mut().zip(words) {
                    *count += u64::from((word ^ query).count_ones());
                }
            }
            self.estimates.extend(
                lengths
                    .iter()
                    .zip(different)
                    .map(|(length, count)| length * self.products[count as usize]),
            );
        }
    }
}

fn sign_words(row: &[f32]) -> impl Iterator<Item = u64> {
    row.chunks(WORD_BITS).map(|numbers| {
        numbers.iter().enumerate().fold(0, |word, (bit, number)| {
            word | u64::from(*number < 0.0) << bit
        })
    })
}

fn vector_length(row: &[f32]) -> f32 {
    row.iter().map(|number| number * number).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let mut rows = SignRows::new(2);
        for row in [[3.0, 4.0], [-3.0, -4.0], [1.0, -1.0]] {
            rows.push(&row);
        }
        let estimates = rows.estimate(&Query::new(&Matrix::new(2, vec![2.0, 0.5])));
        let length = 4.25_f32.sqrt();
        let expected = [5.0 * length, -5.0 * length, 0.0];
        assert!(
            estimates
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-5),
            "{estimates:?} {expected:?}"
        );
        assert_eq!((rows.rows(), rows.bytes()), (3, 16 * 8 + 3 * 4));
        assert!(
            SignRows::new(2)
                .estimate(&Query::new(&Matrix::default()))
                .is_empty()
        );
    }

    proptest! {
        /// The formula over the numbers, for any number of columns.
        #[test]
        fn as_the_formula_says(
            columns in 1_usize..200, values in prop::collection::vec(-1.0_f32..1.0, 800),
        ) {
            let mut rows = SignRows::new(columns);
            let vectors: Vec<&[f32]> = values.chunks_exact(columns).collect();
            vectors.iter().for_each(|row| rows.push(row));
            let query = Query::new(&Matrix::new(columns, vectors[0].to_vec()));
            for (estimate, row) in rows.estimate(&query).iter().zip(&vectors) {
                let different = row.iter().zip(vectors[0]).filter(|(a, b)| (**a < 0.0) != (**b < 0.0)).count();
                let expected = vector_length(row) * vector_length(vectors[0]) * (PI * different as f32 / columns as f32).cos();
                prop_assert!((estimate - expected).abs() < 1e-4, "{estimate} {expected}");
            }
        }
    }
}
