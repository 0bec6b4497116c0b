//! k-nearest-neighbour search and majority vote.

use super::matrices::Rows;
use std::cmp;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A row and its distance from the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Position of the row.
    pub row: usize,
    /// Euclidean distance.
    pub distance: f32,
}

/// Returns the positions of the `k` smallest numbers for which `keep` is true. The smallest comes first; ties go by
/// position.
pub(super) fn find_closest(
    squared: &[f64],
    k: usize,
    keep: impl Fn(usize) -> bool,
) -> Vec<Neighbor> {
    let mut places: Vec<usize> = (0..squared.len()).filter(|&place| keep(place)).collect();
    if k < places.len() {
        // Sorting all rows for each query would cost more than a partition.
        places.select_nth_unstable_by(k, |one, other| compare_places(squared, *one, *other));
        places.truncate(k);
    }
    places.sort_unstable_by(|one, other| compare_places(squared, *one, *other));
    places
        .into_iter()
        .map(|row| Neighbor {
            row,
            distance: squared[row].sqrt() as f32,
        })
        .collect()
}

/// Compares two places by their numbers. Ties go by position.
fn compare_places(squared: &[f64], one: usize, other: usize) -> cmp::Ordering {
    squared[one]
        .total_cmp(&squared[other])
        .then(one.cmp(&other))
}

/// Returns the most frequent vote, and `None` without votes.
///
/// Among equally frequent votes the smallest wins, as in scikit-learn's `KNeighborsClassifier`.
///
/// ```
/// assert_eq!(lodeseek_lab::neighbors::majority(["b", "c", "a", "b", "a"]), Some("a"));
/// ```
pub fn majority<T: Ord>(votes: impl IntoIterator<Item = T>) -> Option<T> {
    let mut counts = BTreeMap::new();
    for vote in votes {
        *counts.entry(vote).or_insert(0_usize) += 1;
    }
    // `max_by_key` returns the last of equal maxima. In reverse order that is the smallest vote.
    counts
        .into_iter()
        .rev()
        .max_by_key(|(_, count)| *count)
        .map(|(vote, _)| vote)
}

/// Predicts the label of each row by the majority of its `k` nearest rows in other folds.
///
/// A row is `None` if there is no other fold.
///
/// # Panics
///
/// Panics unless there are as many labels and as many folds as rows.
pub fn cross_val_predict<R: Rows, L: Ord + Copy + Sync + Send>(
    rows: &R,
    labels: &[L],
    folds: &[usize],
    k: usize,
) -> Vec<Option<L>> {
    assert!(
        labels.len() == rows.len() && folds.len() == rows.len(),
        "a label and a fold for each row"
    );
    parallel_map(rows.len(), |place| {
        let near = rows.nearest_among(rows.row(place), k, |other| folds[other] != folds[place]);
        majority(near.iter().map(|near| labels[near.row]))
    })
}

/// Computes `work(0)`, `work(1)` … `work(count − 1)` on all processors and returns the results in this order.
///
/// Each thread takes the next index when it is free, so items may differ in cost. A panic of `work` is resumed.
pub fn parallel_map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let processors = match thread::available_parallelism() {
        Ok(processors) => processors.get(),
        Err(_) => 1,
    };
    let threads = processors.min(count);
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, T)> = Vec::with_capacity(count);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| take_items(&next, count, &work)))
            .collect();
        for worker in workers {
            match worker.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Does the work of one thread: the next free index, until all are taken.
fn take_items<T>(next: &AtomicUsize, count: usize, work: &impl Fn(usize) -> T) -> Vec<(usize, T)> {
    let mut results = Vec::new();
    loop {
        // Only distinct indices matter here: the results reach the other thread by its join.
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= count {
            return results;
        }
        results.push((index, work(index)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::DenseRows;

    #[test]
    fn ties_go_to_the_first_place_and_the_smallest_class() {
        let rows = |k, keep: fn(usize) -> bool| {
            find_closest(&[4.0, 1.0, 4.0, 0.0, 4.0], k, keep)
                .iter()
                .map(|near| near.row)
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(3, |_| true), [3, 1, 0]);
        assert_eq!(rows(9, |_| true), [3, 1, 0, 2, 4]);
        assert_eq!(rows(2, |row| row % 2 == 0), [0, 2]);
        assert_eq!(
            find_closest(&[4.0], 1, |_| true),
            [Neighbor {
                row: 0,
                distance: 2.0
            }]
        );
        assert_eq!(
            (
                majority([3, 2, 3, 2, 9]),
                majority([1, 2, 2]),
                majority::<u8>([])
            ),
            (Some(2), Some(2), None)
        );
    }

    #[test]
    fn a_row_does_not_vote_for_its_own_fold() {
        let rows = DenseRows::new(1, vec![0.0, 0.1, 5.0, 5.1, 0.2]);
        let labels = ["a", "a", "b", "b", "b"];
        let votes = cross_val_predict(&rows, &labels, &[0, 1, 0, 1, 0], 1);
        assert_eq!(
            votes,
            [Some("a"), Some("a"), Some("b"), Some("b"), Some("a")]
        );
        assert_eq!(cross_val_predict(&rows, &labels, &[0; 5], 1), [None; 5]);
    }

    #[test]
    fn each_keeps_the_order() {
        for count in [0, 1, 2, 1000] {
            assert_eq!(
                parallel_map(count, |place| place * 2),
                (0..count).map(|place| place * 2).collect::<Vec<_>>()
            );
        }
    }
}
