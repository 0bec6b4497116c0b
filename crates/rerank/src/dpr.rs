//! One vector per text: relevance is the inner product of the query's vector and the document's.
//!
//! V. Karpukhin et al.: *Dense Passage Retrieval for Open-Domain Question Answering*, EMNLP 2020. For models trained with
//! cosine similarity, both vectors are normalised to length 1 first; see [`unit`].

use super::Matrix;
use super::product::{Query, Sink, products};
use lodeseek_index::vectors::{PANEL_ROWS, Rows};

/// Computes the inner product of the first row of a query with each row of a matrix.
#[must_use]
pub fn dot(query: &Query, rows: &Rows) -> Vec<f32> {
    let mut scores = Scores(vec![0.0; rows.rows()]);
    products(query, rows, &mut scores);
    scores.0
}

/// Computes the inner product of two vectors, up to rounding as [`dot`]: for single rows, for which `dot` multiplies a whole panel.
#[must_use]
pub fn product(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

struct Scores(Vec<f32>);

impl Sink for Scores {
    #[inline(always)]
    fn take(&mut self, row: usize, panel: usize, rows: usize, products: &[f32; PANEL_ROWS]) {
        if row == 0 {
            self.0[panel * PANEL_ROWS..panel * PANEL_ROWS + rows]
                .copy_from_slice(&products[..rows]);
        }
    }
}

/// Normalises every row to length 1; a row of zeros is unchanged.
#[must_use]
pub fn unit(matrix: &Matrix) -> Matrix {
    let mut values = matrix.values().to_vec();
    for row in values.chunks_exact_mut(matrix.columns().max(1)) {
        let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|value| *value /= length);
        }
    }
    Matrix::new(matrix.columns(), values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_index::vectors::Precision;

    #[test]
    fn by_hand() {
        let query = Query::new(&Matrix::new(2, vec![2.0, -1.0]));
        let rows = Rows::pack(&[1.0, 0.0, 0.5, 3.0], 2, Precision::F16);
        assert_eq!(dot(&query, &rows), [2.0, -2.0]);
        assert_eq!(dot(&Query::new(&Matrix::default()), &rows), [0.0, 0.0]);
        let numbers: Vec<f32> = (0..37_u8).map(f32::from).collect();
        assert_eq!(product(&numbers, &numbers), 36.0 * 37.0 * 73.0 / 6.0);
        let unit = unit(&Matrix::new(2, vec![3.0, 4.0, 0.0, 0.0]));
        assert_eq!(unit.values(), [0.6, 0.8, 0.0, 0.0]);
    }
}
