//! Frequencies of term pairs in a field: adjacent in order, and within a window.

/// Width of unordered windows in tokens (Metzler and Croft: *A Markov random field model for term dependencies*, SIGIR
/// 2005).
pub const WINDOW_WIDTH: u32 = 8;

/// Frequencies of a pair of adjacent query terms in a field of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairFrequencies {
    /// Number of positions at which the second term immediately follows the first.
    pub ordered: u32,
    /// Number of windows of eight tokens that contain both terms; 0 in a shorter field.
    pub unordered: u32,
}

impl PairFrequencies {
    /// Counts from the sorted positions of both terms in a field of `length` tokens. Linear in their number.
    #[must_use]
    pub fn count(first: &[u32], second: &[u32], length: u32) -> Self {
        Self {
            ordered: count_ordered_pairs(first, second),
            unordered: count_unordered_pairs(first, second, length),
        }
    }
}

fn count_ordered_pairs(first: &[u32], second: &[u32]) -> u32 {
    let mut count = 0;
    let mut rest = second;
    for &position in first {
        let skip = rest.partition_point(|&other| other <= position);
        rest = &rest[skip..];
        count += u32::from(rest.first() == Some(&(position + 1)));
    }
    count
}

fn count_unordered_pairs(first: &[u32], second: &[u32], length: u32) -> u32 {
    let Some(last) = length.checked_sub(WINDOW_WIDTH) else {
        return 0;
    };
    let mut a = Starts::new(first, last);
    let mut b = Starts::new(second, last);
    let mut left = a.next();
    let mut right = b.next();
    let mut count = 0;
    while let (Some(one), Some(other)) = (left, right) {
        let from = one.0.max(other.0);
        let to = one.1.min(other.1);
        count += to.saturating_sub(from);
        // The range that ends first cannot overlap any later one.
        if one.1 <= other.1 {
            left = a.next();
        } else {
            right = b.next();
        }
    }
    count
}

/// Starts of the windows that contain a term: disjoint half-open ranges, ascending.
struct Starts<'p> {
    positions: &'p [u32],
    /// Last start of a window in the field.
    last: u32,
}

impl<'p> Starts<'p> {
    fn new(positions: &'p [u32], last: u32) -> Self {
        Self { positions, last }
    }

    /// Returns the starts of the windows that contain a position, as a half-open range.
    fn starts_around(&self, position: u32) -> (u32, u32) {
        (
            position.saturating_sub(WINDOW_WIDTH - 1),
            position.min(self.last) + 1,
        )
    }
}

impl Iterator for Starts<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let (&first, mut rest) = self.positions.split_first()?;
        let mut range = self.starts_around(first);
        while let Some((&next, further)) = rest.split_first() {
            let (start, end) = self.starts_around(next);
            if start > range.1 {
                break;
            }
            range.1 = end;
            rest = further;
        }
        self.positions = rest;
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts literally by the definition.
    fn brute_force(tokens: &[u8], first: u8, second: u8) -> PairFrequencies {
        let ordered = tokens
            .windows(2)
            .filter(|pair| pair == &[first, second])
            .count();
        let unordered = tokens
            .windows(WINDOW_WIDTH as usize)
            .filter(|window| window.contains(&first) && window.contains(&second))
            .count();
        PairFrequencies {
            ordered: ordered as u32,
            unordered: unordered as u32,
        }
    }

    fn positions(tokens: &[u8], term: u8) -> Vec<u32> {
        tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| **token == term)
            .map(|(place, _)| place as u32)
            .collect()
    }

    #[test]
    fn a_pair_by_hand() {
        // Eleven tokens; windows start at 0..=3. x is at 1, y at 2 and 10.
        let first = [1];
        let second = [2, 10];
        assert_eq!(
            PairFrequencies::count(&first, &second, 11),
            PairFrequencies {
                ordered: 1,
                unordered: 2
            }
        );
        assert_eq!(PairFrequencies::count(&first, &second, 7).unordered, 0);
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_definition(tokens in proptest::collection::vec(0u8..5, 0..60), second in 0u8..2) {
            let counted =
                PairFrequencies::count(&positions(&tokens, 0), &positions(&tokens, second), tokens.len() as u32);
            prop_assert_eq!(counted, brute_force(&tokens, 0, second));
        }
    }
}
