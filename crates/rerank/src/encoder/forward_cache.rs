//! What a network gave for texts a moment ago, left by one of its heads to the other.
//!
//! Two heads of one network that are asked about the same texts, one soon after the other, need it run once. Neither knows
//! when the other will be asked, or whether: what is left and not taken makes room for what is left later.

use super::Granularity;
use super::tokenization::TokenizedText;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Texts that are left at most. They are searched one by one, which takes microseconds.
const MAX_TEXTS: usize = 512;
/// Numbers that are left at most, 64 MiB of them: five times what the texts of sixteen datasets have at 256 pieces and 384
/// columns. Of larger batches nothing is shared: what comes first has made room when it is asked for.
const MAX_VALUES: usize = 16 << 20;

/// The rows of texts, for the head that has not asked for them.
#[derive(Default)]
pub(super) struct ForwardCache {
    left: Mutex<VecDeque<ForwardPass>>,
}

struct ForwardPass {
    by: Granularity,
    ids: Vec<u32>,
    expansion: usize,
    attended: bool,
    rows: Vec<f32>,
}

impl ForwardPass {
    /// Whether the network read the same.
    fn is_of(&self, pieces: &TokenizedText) -> bool {
        self.ids == pieces.ids && self.expansion == pieces.expansion && self.attended == pieces.attended
    }
}

impl ForwardCache {
    /// The rows that the other head has left of a text; they are gone then.
    pub(super) fn take(&self, by: Granularity, pieces: &TokenizedText) -> Option<Vec<f32>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let place = left.iter().position(|pass| pass.by != by && pass.is_of(pieces))?;
        left.remove(place).map(|pass| pass.rows)
    }

    /// Leaves the rows of a text, one for each of its pieces, to the other head. What this head has left of it before goes:
    /// nobody wanted it.
    pub(super) fn leave(&self, by: Granularity, pieces: &TokenizedText, rows: &[f32]) {
        let TokenizedText { ids, expansion, attended, .. } = pieces;
        let pass = ForwardPass { by, ids: ids.clone(), expansion: *expansion, attended: *attended, rows: rows.to_vec() };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|earlier| earlier.by != by || !earlier.is_of(pieces));
        left.push_back(pass);
        let mut numbers: usize = left.iter().map(|pass| pass.rows.len()).sum();
        while left.len() > MAX_TEXTS || numbers > MAX_VALUES {
            numbers -= left.pop_front().map_or(numbers, |pass| pass.rows.len());
        }
    }
}

#[cfg(test)]
impl ForwardCache {
    pub(super) fn waiting(&self) -> usize {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(id: u32) -> TokenizedText {
        TokenizedText { ids: vec![id; 3], ..TokenizedText::default() }
    }

    #[test]
    fn a_pass_serves_the_other_head_once() {
        let forward_cache = ForwardCache::default();
        forward_cache.leave(Granularity::Text, &pieces(7), &[1.0, 2.0]);
        assert_eq!(forward_cache.take(Granularity::Text, &pieces(7)), None);
        assert_eq!(forward_cache.take(Granularity::Piece, &TokenizedText { expansion: 1, ..pieces(7) }), None);
        assert_eq!(forward_cache.take(Granularity::Piece, &pieces(7)), Some(vec![1.0, 2.0]));
        assert_eq!(forward_cache.take(Granularity::Piece, &pieces(7)), None);
    }

    #[test]
    fn what_nobody_takes_makes_room() {
        let forward_cache = ForwardCache::default();
        (0..MAX_TEXTS as u32 + 2).for_each(|id| forward_cache.leave(Granularity::Text, &pieces(id), &[0.0]));
        (0..9).for_each(|_| forward_cache.leave(Granularity::Text, &pieces(1_000), &[0.0]));
        let left = |id| forward_cache.take(Granularity::Piece, &pieces(id)).is_some();
        assert_eq!([0, 1, 2, 3, 1_000].map(left), [false, false, false, true, true]);
        forward_cache.leave(Granularity::Text, &pieces(1), &vec![0.0; MAX_VALUES]);
        assert_eq!([4, 1].map(|id| forward_cache.take(Granularity::Piece, &pieces(id)).is_some()), [false, true]);
        forward_cache.leave(Granularity::Text, &pieces(1), &vec![0.0; MAX_VALUES + 1]);
        assert_eq!(forward_cache.take(Granularity::Piece, &pieces(1)), None);
    }
}
