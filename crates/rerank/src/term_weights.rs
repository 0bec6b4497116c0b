//! Learned sparse vectors: weights of terms, as rows of three numbers.
//!
//! A term is a number of the model's vocabulary. Its quotient and its remainder by 1,024 are stored, so that each is exact in f16 up to
//! two million terms. Weights have the precision of f16: eleven bits.

use super::product::Query;
use lodeseek_index::vectors::Rows;

/// Number of columns of a row.
pub const COLUMNS: usize = 3;
/// Divisor of a term's number.
const TERM_DIVISOR: u32 = 1024;

/// Returns the row of a term.
#[must_use]
pub fn row(term: u32, weight: f32) -> [f32; COLUMNS] {
    [
        (term / TERM_DIVISOR) as f32,
        (term % TERM_DIVISOR) as f32,
        weight,
    ]
}

/// Returns the term and the weight of a row.
fn weighted_term(row: &[f32]) -> (u32, f32) {
    let term = to_integer(row[0])
        .saturating_mul(TERM_DIVISOR)
        .saturating_add(to_integer(row[1]));
    (term, row[2])
}

/// Converts a stored number; 0 if it is damaged.
fn to_integer(value: f32) -> u32 {
    // A cast of a large number yields the greatest one: the sums below saturate.
    if value.is_finite() { value as u32 } else { 0 }
}

/// Returns the terms of stored rows with their weights.
///
/// # Panics
///
/// If the rows do not have [`COLUMNS`] columns.
#[must_use]
pub fn stored_terms(rows: &Rows) -> Vec<(u32, f32)> {
    (0..rows.rows())
        .map(|place| weighted_term(&rows.row(place)))
        .collect()
}

/// Returns the terms of a query with their weights.
#[must_use]
pub fn query_terms(query: &Query) -> Vec<(u32, f32)> {
    (0..query.rows())
        .map(|place| weighted_term(&query.row(place)))
        .collect()
}

/// Returns the products of the weights of each query term in the query and in stored rows; 0 for terms that the rows lack. Their sum is
/// the score. `None` if there are no rows.
#[must_use]
pub fn products(query: &Query, rows: &Rows) -> Option<Vec<f64>> {
    if rows.rows() == 0 {
        return None;
    }
    let mut stored = stored_terms(rows);
    stored.sort_unstable_by_key(|(term, _)| *term);
    let mut products = Vec::with_capacity(query.rows());
    for (term, weight) in query_terms(query) {
        products.push(
            match stored.binary_search_by_key(&term, |(term, _)| *term) {
                Ok(place) => f64::from(weight) * f64::from(stored[place].1),
                Err(_) => 0.0,
            },
        );
    }
    Some(products)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use lodeseek_index::vectors::Precision;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn terms_are_exact_and_weights_nearly(terms in proptest::collection::btree_map(0_u32..300_000, 0.001_f32..5.0, 1..60)) {
            let values: Vec<f32> = terms.iter().flat_map(|(term, weight)| row(*term, *weight)).collect();
            let rows = Rows::pack(&values, COLUMNS, Precision::F16);
            let query = Query::new(&Matrix::new(COLUMNS, values));
            let stored = stored_terms(&rows);
            prop_assert_eq!(stored.iter().map(|(term, _)| *term).collect::<Vec<_>>(), terms.keys().copied().collect::<Vec<_>>());
            let expected: f64 = terms.values().map(|weight| f64::from(*weight).powi(2)).sum();
            let found: f64 = products(&query, &rows).expect("rows").iter().sum();
            prop_assert!((found - expected).abs() <= expected * 5e-4, "{} {}", found, expected);
        }
    }

    #[test]
    fn terms_that_only_one_has_add_nothing() {
        let query = Query::new(&Matrix::new(
            COLUMNS,
            [row(7, 2.0), row(5_000, 1.0)].concat(),
        ));
        let rows = Rows::pack(
            &[row(5_000, 0.5), row(8, 9.0)].concat(),
            COLUMNS,
            Precision::F16,
        );
        assert_eq!(products(&query, &rows), Some(vec![0.0, 0.5]));
        assert_eq!(
            products(&query, &Rows::pack(&[], COLUMNS, Precision::F16)),
            None
        );
    }
}
