//! Cache of recent network outputs, shared by the two heads of one network.
//!
//! If both heads encode the same text in short succession, the network runs once. It is not predictable when, or if, the other
//! head encodes a text, so the oldest unused entries are evicted.

use super::Granularity;
use super::tokenization::TokenizedText;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Maximum number of texts. They are searched linearly, which takes microseconds.
const MAX_TEXTS: usize = 512;
/// Maximum number of values (64 MiB): five times those of sixteen datasets with 256 tokens a text and 384 columns. Larger
/// batches do not benefit, because their first entries are evicted before they are used.
const MAX_VALUES: usize = 16 << 20;

/// Network outputs that the other head has not used yet.
#[derive(Default)]
pub(super) struct ForwardCache {
    passes: Mutex<VecDeque<ForwardPass>>,
}

struct ForwardPass {
    by: Granularity,
    ids: Vec<u32>,
    expansion: usize,
    attended: bool,
    rows: Vec<f32>,
}

impl ForwardPass {
    /// Returns true if the network input was identical.
    fn is_of(&self, pieces: &TokenizedText) -> bool {
        self.ids == pieces.ids
            && self.expansion == pieces.expansion
            && self.attended == pieces.attended
    }
}

impl ForwardCache {
    /// Removes and returns the rows that the other head stored for a text.
    pub(super) fn take(&self, by: Granularity, pieces: &TokenizedText) -> Option<Vec<f32>> {
        let mut passes = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
        let place = passes
            .iter()
            .position(|pass| pass.by != by && pass.is_of(pieces))?;
        passes.remove(place).map(|pass| pass.rows)
    }

    /// Stores the rows of a text, one per token, for the other head. An unused earlier entry of this head is replaced.
    pub(super) fn store(&self, by: Granularity, pieces: &TokenizedText, rows: &[f32]) {
        let TokenizedText {
            ids,
            expansion,
            attended,
            ..
        } = pieces;
        let pass = ForwardPass {
            by,
            ids: ids.clone(),
            expansion: *expansion,
            attended: *attended,
            rows: rows.to_vec(),
        };
        let mut passes = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
        passes.retain(|earlier| earlier.by != by || !earlier.is_of(pieces));
        passes.push_back(pass);
        let mut numbers: usize = passes.iter().map(|pass| pass.rows.len()).sum();
        while passes.len() > MAX_TEXTS || numbers > MAX_VALUES {
            let Some(oldest) = passes.pop_front() else {
                break;
            };
            numbers -= oldest.rows.len();
        }
    }
}

#[cfg(test)]
impl ForwardCache {
    pub(super) fn len(&self) -> usize {
        self.passes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(id: u32) -> TokenizedText {
        TokenizedText {
            ids: vec![id; 3],
            ..TokenizedText::default()
        }
    }

    #[test]
    fn a_pass_serves_the_other_head_once() {
        let forward_cache = ForwardCache::default();
        forward_cache.store(Granularity::Text, &pieces(7), &[1.0, 2.0]);
        assert_eq!(forward_cache.take(Granularity::Text, &pieces(7)), None);
        assert_eq!(
            forward_cache.take(
                Granularity::Piece,
                &TokenizedText {
                    expansion: 1,
                    ..pieces(7)
                }
            ),
            None
        );
        assert_eq!(
            forward_cache.take(Granularity::Piece, &pieces(7)),
            Some(vec![1.0, 2.0])
        );
        assert_eq!(forward_cache.take(Granularity::Piece, &pieces(7)), None);
    }

    #[test]
    fn what_nobody_takes_makes_room() {
        let forward_cache = ForwardCache::default();
        (0..MAX_TEXTS as u32 + 2)
            .for_each(|id| forward_cache.store(Granularity::Text, &pieces(id), &[0.0]));
        (0..9).for_each(|_| forward_cache.store(Granularity::Text, &pieces(1_000), &[0.0]));
        let left = |id| {
            forward_cache
                .take(Granularity::Piece, &pieces(id))
                .is_some()
        };
        assert_eq!(
            [0, 1, 2, 3, 1_000].map(left),
            [false, false, false, true, true]
        );
        forward_cache.store(Granularity::Text, &pieces(1), &vec![0.0; MAX_VALUES]);
        assert_eq!(
            [4, 1].map(|id| forward_cache
                .take(Granularity::Piece, &pieces(id))
                .is_some()),
            [false, true]
        );
        forward_cache.store(Granularity::Text, &pieces(1), &vec![0.0; MAX_VALUES + 1]);
        assert_eq!(forward_cache.take(Granularity::Piece, &pieces(1)), None);
    }
}
