//! The nearest of many, and what they vote for.

use super::rows::Rows;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

/// A row and how far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Its place.
    pub row: usize,
    /// Its Euclidean distance.
    pub distance: f32,
}

/// The places of the `k` least numbers for which `keep` holds, least first, ties by place.
pub(super) fn closest(squared: &[f64], k: usize, keep: impl Fn(usize) -> bool) -> Vec<Neighbor> {
    let nearer = |&one: &usize, &other: &usize| squared[one].total_cmp(&squared[other]).then(one.cmp(&other));
    let mut places: Vec<usize> = (0..squared.len()).filter(|&place| keep(place)).collect();
    if k < places.len() {
        places.select_nth_unstable_by(k, nearer);
        places.truncate(k);
    }
    places.sort_unstable_by(nearer);
    places.into_iter().map(|row| Neighbor { row, distance: squared[row].sqrt() as f32 }).collect()
}

/// What most say; of those said equally often, the smallest, as scikit-learn's vote. `None` of none.
///
/// ```
/// assert_eq!(lodeseek_lab::neighbors::majority(["b", "c", "a", "b", "a"]), Some("a"));
/// ```
pub fn majority<T: Ord>(votes: impl IntoIterator<Item = T>) -> Option<T> {
    let mut counts = BTreeMap::new();
    for vote in votes {
        *counts.entry(vote).or_insert(0_usize) += 1;
    }
    // Of equal maxima, `max_by_key` takes the last: the smallest, from behind.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(vote, _)| vote)
}

/// What the `k` nearest rows of other folds vote for, of each row; `None` where there is no other fold.
///
/// # Panics
///
/// Where there is not a label and a fold for each row.
pub fn predicted<R: Rows, L: Ord + Copy + Sync + Send>(
    rows: &R,
    labels: &[L],
    folds: &[usize],
    k: usize,
) -> Vec<Option<L>> {
    assert!(labels.len() == rows.len() && folds.len() == rows.len(), "a label and a fold for each row");
    each(rows.len(), |place| {
        let near = rows.nearest_among(rows.row(place), k, |other| folds[other] != folds[place]);
        majority(near.iter().map(|near| labels[near.row]))
    })
}

/// What `of` makes of 0, 1, … `count` − 1, in that order, computed by all processors.
pub fn each<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let part = count.div_ceil(threads).max(1);
    let of = &of;
    thread::scope(|scope| {
        let parts = (0..count).step_by(part).map(|start| start..(start + part).min(count));
        let workers: Vec<_> = parts.map(|part| scope.spawn(move || part.map(of).collect::<Vec<T>>())).collect();
        let done = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::DenseRows;

    #[test]
    fn ties_go_to_the_first_place_and_the_smallest_class() {
        let rows = |k, keep: fn(usize) -> bool| {
            closest(&[4.0, 1.0, 4.0, 0.0, 4.0], k, keep).iter().map(|near| near.row).collect::<Vec<_>>()
        };
        assert_eq!(rows(3, |_| true), [3, 1, 0]);
        assert_eq!(rows(9, |_| true), [3, 1, 0, 2, 4]);
        assert_eq!(rows(2, |row| row % 2 == 0), [0, 2]);
        assert_eq!(closest(&[4.0], 1, |_| true), [Neighbor { row: 0, distance: 2.0 }]);
        assert_eq!((majority([3, 2, 3, 2, 9]), majority([1, 2, 2]), majority::<u8>([])), (Some(2), Some(2), None));
    }

    #[test]
    fn a_row_does_not_vote_for_its_own_fold() {
        let rows = DenseRows::new(1, vec![0.0, 0.1, 5.0, 5.1, 0.2]);
        let labels = ["a", "a", "b", "b", "b"];
        let votes = predicted(&rows, &labels, &[0, 1, 0, 1, 0], 1);
        assert_eq!(votes, [Some("a"), Some("a"), Some("b"), Some("b"), Some("a")]);
        assert_eq!(predicted(&rows, &labels, &[0; 5], 1), [None; 5]);
    }

    #[test]
    fn each_keeps_the_order() {
        for count in [0, 1, 2, 1000] {
            assert_eq!(each(count, |place| place * 2), (0..count).map(|place| place * 2).collect::<Vec<_>>());
        }
    }
}
