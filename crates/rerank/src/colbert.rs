//! Late interaction: MaxSim(q, d) = Σᵢ maxⱼ qᵢ · dⱼ, over the rows of the query and of the document.
//!
//! O. Khattab, M. Zaharia: *ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over
//! BERT*, SIGIR 2020.

use super::product::{Query, Sink, products};
use lodeseek_index::vectors::{PANEL_ROWS, Rows};

/// The document row with the highest similarity to a query row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestMatch {
    /// Index of the document row; the first of equal ones.
    pub row: usize,
    /// Inner product.
    pub similarity: f32,
}

/// Computes MaxSim; `None` for a document without rows.
#[must_use]
pub fn max_sim(query: &Query, document: &Rows) -> Option<f64> {
    let best_matches = best_matches(query, document);
    (document.rows() > 0).then(|| {
        best_matches
            .iter()
            .map(|best_match| f64::from(best_match.similarity))
            .sum()
    })
}

/// Returns the best match of each query row; an empty list for a document without rows.
#[must_use]
pub fn best_matches(query: &Query, document: &Rows) -> Vec<BestMatch> {
    if document.rows() == 0 {
        return Vec::new();
    }
    let mut best = vec![
        Lanes {
            similarity: [f32::NEG_INFINITY; PANEL_ROWS],
            panel: [0; PANEL_ROWS]
        };
        query.rows()
    ];
    products(query, document, &mut best);
    best.iter().map(Lanes::best_match).collect()
}

/// Best matches by lane: lane *i* holds the best of every sixteenth row, and the lanes are compared at the end.
#[derive(Clone)]
struct Lanes {
    similarity: [f32; PANEL_ROWS],
    panel: [u32; PANEL_ROWS],
}

impl Lanes {
    fn best_match(&self) -> BestMatch {
        let mut best = BestMatch {
            row: 0,
            similarity: f32::NEG_INFINITY,
        };
        for lane in 0..PANEL_ROWS {
            let (row, similarity) = (
                self.panel[lane] as usize * PANEL_ROWS + lane,
                self.similarity[lane],
            );
            // As for a scan of all rows in their order: of equal ones the first is the best.
            let is_first = similarity == best.similarity && row < best.row;
            if similarity > best.similarity || is_first {
                best = BestMatch { row, similarity };
            }
        }
        best
    }
}

impl Sink for Vec<Lanes> {
    #[inline(always)]
    fn take(&mut self, row: usize, panel: usize, _rows: usize, products: &[f32; PANEL_ROWS]) {
        let best = &mut self[row];
        for ((similarity, at), product) in best
            .similarity
            .iter_mut()
            .zip(&mut best.panel)
            .zip(products)
        {
            // Not `>=`: of equal rows of a lane, the first remains. No branches, so that the loop can use vector
            // registers.
            let better = *product > *similarity;
            *similarity = if better { *product } else { *similarity };
            *at = if better { panel as u32 } else { *at };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Matrix, dpr};
    use super::*;
    use lodeseek_index::vectors::Precision;
    use proptest::prelude::*;

    /// Computes the formula in double precision, over the rows as they are stored.
    fn naive(query: &Matrix, document: &Rows) -> Vec<(usize, f64)> {
        let dot = |a: &[f32], b: &[f32]| {
            a.iter()
                .zip(b)
                .map(|(a, b)| f64::from(*a) * f64::from(*b))
                .sum::<f64>()
        };
        let best = |row: usize| {
            let products = (0..document.rows())
                .map(|other| (other, dot(query.row(row), &document.row(other))));
            products.fold((0, f64::NEG_INFINITY), |best, next| {
                if next.1 > best.1 { next } else { best }
            })
        };
        (0..query.rows()).map(best).collect()
    }

    #[test]
    fn by_hand() {
        let query = Matrix::new(2, vec![1.0, 0.0, 0.0, 2.0]);
        let document = Rows::pack(&[0.5, 0.5, 0.25, 1.0, 0.5, -1.0], 2, Precision::F16);
        let expected = [
            BestMatch {
                row: 0,
                similarity: 0.5,
            },
            BestMatch {
                row: 1,
                similarity: 2.0,
            },
        ];
        assert_eq!(best_matches(&Query::new(&query), &document), expected);
        assert_eq!(max_sim(&Query::new(&query), &document), Some(2.5));
        assert_eq!(
            max_sim(&Query::new(&query), &Rows::pack(&[], 2, Precision::F16)),
            None
        );
        assert_eq!(
            max_sim(&Query::new(&Matrix::default()), &document),
            Some(0.0)
        );
    }

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_add(1);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    proptest! {
        #[test]
        fn as_the_formula_says(
            queries in 0_usize..20, rows in 0_usize..70, columns in 1_usize..50, seed in any::<u32>(), precision in prop::sample::select(vec![Precision::F16, Precision::I8, Precision::I2]),
        ) {
            let query = Matrix::new(columns, numbers(queries * columns, seed));
            let document = Rows::pack(&numbers(rows * columns, !seed), columns, precision);
            let (found, packed) = (best_matches(&Query::new(&query), &document), Query::new(&query));
            if rows == 0 {
                prop_assert!(found.is_empty());
                return Ok(());
            }
            for (row, (best_match, (naive, similarity))) in found.iter().zip(naive(&query, &document)).enumerate() {
                prop_assert!((f64::from(best_match.similarity) - similarity).abs() < 1e-4, "{best_match:?} {similarity}");
                let there = document.row(best_match.row).iter().zip(query.row(row)).map(|(a, b)| a * b).sum::<f32>();
                prop_assert!(best_match.row == naive || (f64::from(there) - similarity).abs() < 1e-4, "{best_match:?} {naive}");
            }
            prop_assert_eq!(&found, &best_matches(&packed, &document));
            if queries > 0 {
                let best = dpr::dot(&packed, &document).into_iter().fold(f32::NEG_INFINITY, f32::max);
                prop_assert_eq!(best, found[0].similarity);
            }
        }

        /// Each product is the chain of fused additions in the order of the columns, independent of the vector width.
        #[test]
        fn to_the_last_bit(rows in 1_usize..40, columns in 1_usize..40, seed in any::<u32>()) {
            let query = Matrix::new(columns, numbers(columns, seed));
            let document = Rows::pack(&numbers(rows * columns, !seed), columns, Precision::F16);
            let chain = |row: usize, fused: bool| document.row(row).iter().zip(query.values()).fold(0.0_f32, |sum, (a, b)| {
                if fused { b.mul_add(*a, sum) } else { sum + b * a }
            });
            let scores = dpr::dot(&Query::new(&query), &document);
            let is = |fused| (0..rows).all(|row| scores[row] == chain(row, fused));
            prop_assert!(is(true) || is(false));
        }
    }
}
