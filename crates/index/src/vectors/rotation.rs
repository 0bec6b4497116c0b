//! A fixed rotation of vectors, after which the numbers of any vector are nearly normally distributed.

/// Rotation of vectors: twice, random signs and a Walsh–Hadamard transform, over the first and then over the last 2^k numbers, the
/// largest power of two that a vector has. Takes O(n log n) for n numbers and no memory but the signs.
///
/// It is part of the format of stored vectors: the same for all vectors with the same number of columns.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// One for each round: −1 or 1 for each number.
    signs: [Vec<f32>; ROUNDS],
    /// Number of transformed numbers of each round.
    width: usize,
}

const ROUNDS: usize = 2;

impl Rotation {
    /// Returns the rotation of vectors with some number of columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        // 2⁶⁴ divided by the golden ratio. Any seed but 0 would do, but it is part of the format.
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let signs =
            std::array::from_fn(|_| (0..columns).map(|_| random_sign(&mut state)).collect());
        let width = match columns.checked_ilog2() {
            Some(log) => 1 << log,
            None => 0,
        };
        Self { signs, width }
    }

    /// Rotates a vector.
    ///
    /// # Panics
    ///
    /// If the vector has another number of columns.
    pub fn apply(&self, vector: &mut [f32]) {
        for (round, signs) in self.signs.iter().enumerate() {
            multiply(vector, signs);
            self.transform(vector, round);
        }
    }

    /// Reverses [`apply`](Self::apply).
    ///
    /// # Panics
    ///
    /// If the vector has another number of columns.
    pub fn invert(&self, vector: &mut [f32]) {
        for (round, signs) in self.signs.iter().enumerate().rev() {
            self.transform(vector, round);
            multiply(vector, signs);
        }
    }

    /// Transforms the first numbers in even rounds, the last ones in odd rounds. Each transform is its own inverse.
    fn transform(&self, vector: &mut [f32], round: usize) {
        let start = if round.is_multiple_of(2) {
            0
        } else {
            vector.len() - self.width
        };
        let numbers = &mut vector[start..start + self.width];
        let mut half = 1;
        while half < self.width {
            for pair in numbers.chunks_exact_mut(2 * half) {
                let (first, second) = pair.split_at_mut(half);
                for (a, b) in first.iter_mut().zip(second) {
                    (*a, *b) = (*a + *b, *a - *b);
                }
            }
            half *= 2;
        }
        // This makes the transform orthogonal: lengths and inner products remain.
        let scale = 1.0 / (self.width as f32).sqrt();
        numbers.iter_mut().for_each(|number| *number *= scale);
    }
}

/// Returns 1 or −1 by the next state of a generator: Xorshift (G. Marsaglia, 2003).
fn random_sign(state: &mut u64) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    if *state >> 63 == 0 { 1.0 } else { -1.0 }
}

fn multiply(vector: &mut [f32], signs: &[f32]) {
    assert_eq!(
        vector.len(),
        signs.len(),
        "a rotation is for one number of columns"
    );
    vector
        .iter_mut()
        .zip(signs)
        .for_each(|(number, sign)| *number *= sign);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_kept_and_vectors_come_back(
            pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..200),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let rotation = Rotation::new(a.len());
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            let (mut c, mut d) = (a.clone(), b.clone());
            rotation.apply(&mut c);
            rotation.apply(&mut d);
            prop_assert!((dot(&a, &b) - dot(&c, &d)).abs() < 1e-4);
            rotation.invert(&mut c);
            prop_assert!(a.iter().zip(&c).all(|(a, c)| (a - c).abs() < 1e-5));
        }
    }

    #[test]
    fn one_large_number_is_spread_over_all() {
        for columns in [128, 96, 384] {
            for place in 0..columns {
                let mut vector = vec![0.0; columns];
                vector[place] = 1.0;
                Rotation::new(columns).apply(&mut vector);
                let largest = vector
                    .iter()
                    .fold(0.0_f32, |largest, number| largest.max(number.abs()));
                assert!(largest < 0.5, "{columns} columns: {largest}");
            }
        }
    }
}
