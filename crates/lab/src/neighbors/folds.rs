//! Stratified folds: every class is as frequent in each fold as in the whole collection.

use std::collections::BTreeMap;

/// Errors of [`stratified_folds`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StratifyError {
    /// Fewer than two folds: cross-validation needs one fold to test and one to learn from.
    #[error("cannot make {0} folds: at least two are needed")]
    TooFew(usize),
    /// No class has a member for every fold.
    #[error("cannot make {folds} folds: the largest class has only {largest} members")]
    NoClassFits {
        /// The requested number of folds.
        folds: usize,
        /// The number of members of the largest class.
        largest: usize,
    },
}

/// Returns for each label the fold that tests it, counted from 0.
///
/// The folds are those of scikit-learn's `StratifiedKFold` without shuffling. Labels are sorted by class, and classes
/// by their first appearance. Dealing this list to the folds in turn fixes how many members of a class each fold gets.
/// The members of a class then fill the folds in their own order. A class with fewer members than folds is missing from
/// some folds.
///
/// # Errors
///
/// Fails with fewer than two folds, and if every class has fewer members than there are folds. scikit-learn rejects the
/// same inputs.
///
/// ```
/// let folds = lodeseek_lab::neighbors::stratified_folds(&["b", "a", "b", "b", "a", "b"], 2)?;
/// assert_eq!(folds, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), lodeseek_lab::neighbors::StratifyError>(())
/// ```
pub fn stratified_folds<T: Ord>(labels: &[T], folds: usize) -> Result<Vec<usize>, StratifyError> {
    if folds < 2 {
        return Err(StratifyError::TooFew(folds));
    }
    let classes = group_by_label(labels);
    let largest = classes.iter().map(Vec::len).max().unwrap_or(0);
    if largest < folds {
        return Err(StratifyError::NoClassFits { folds, largest });
    }
    let (mut fold_of, mut dealt) = (vec![0; labels.len()], 0);
    for members in classes {
        let mut shares = vec![0; folds];
        for _ in &members {
            shares[dealt % folds] += 1;
            dealt += 1;
        }
        let folds = shares
            .iter()
            .enumerate()
            .flat_map(|(fold, &share)| std::iter::repeat_n(fold, share));
        for (member, fold) in members.into_iter().zip(folds) {
            fold_of[member] = fold;
        }
    }
    Ok(fold_of)
}

/// Returns the positions of every class's members. Classes are in the order of their first appearance.
fn group_by_label<T: Ord>(labels: &[T]) -> Vec<Vec<usize>> {
    let (mut numbers, mut members) = (BTreeMap::new(), Vec::new());
    for (place, label) in labels.iter().enumerate() {
        let number = *numbers.entry(label).or_insert(members.len());
        if number == members.len() {
            members.push(Vec::new());
        }
        members[number].push(place);
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_remainder_of_a_class_goes_where_the_one_before_ended() {
        // Sorted by first appearance: x x x y y y y z, dealt to 0 1 2 0 1 2 0 1.
        let folds = stratified_folds(&["x", "y", "x", "z", "y", "y", "x", "y"], 3).expect("folds");
        assert_eq!(folds, [0, 0, 1, 1, 0, 1, 2, 2]);
    }

    #[test]
    fn classes_must_fit() {
        assert_eq!(
            stratified_folds(&[1, 2, 1], 1),
            Err(StratifyError::TooFew(1))
        );
        assert_eq!(
            stratified_folds(&[1, 2, 1], 3),
            Err(StratifyError::NoClassFits {
                folds: 3,
                largest: 2
            })
        );
        assert_eq!(
            stratified_folds::<u8>(&[], 2),
            Err(StratifyError::NoClassFits {
                folds: 2,
                largest: 0
            })
        );
    }

    proptest! {
        #[test]
        fn folds_and_classes_differ_by_one_at_most(labels in prop::collection::vec(0_u8..5, 20..90), folds in 2_usize..5) {
            let dealt = stratified_folds(&labels, folds).expect("twenty labels of five classes: four of one");
            let even = |counts: Vec<usize>| {
                counts.iter().max().zip(counts.iter().min()).is_some_and(|(most, least)| most - least <= 1)
            };
            let count = |of: &dyn Fn(usize) -> bool| {
                (0..folds).map(|fold| (0..labels.len()).filter(|&place| dealt[place] == fold && of(place)).count()).collect()
            };
            prop_assert!(even(count(&|_| true)));
            for class in 0..5 {
                prop_assert!(even(count(&|place| labels[place] == class)));
            }
        }
    }
}
