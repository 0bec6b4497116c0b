//! Folds for cross-validation, as ACORDAR keeps them: `foldN.train.qrels`, `foldN.valid.qrels`, `foldN.test.qrels`.

use super::{EvalError, Qrels};
use std::path::Path;

/// One way of parting the topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fold {
    /// To learn from.
    pub train: Qrels,
    /// To choose by.
    pub valid: Qrels,
    /// To report on.
    pub test: Qrels,
}

/// Folds, in order. The test parts are disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds(pub Vec<Fold>);

impl Folds {
    /// Reads `fold0.*.qrels`, `fold1.*.qrels` … of a folder, as far as they go.
    pub fn read(folder: &Path) -> Result<Self, EvalError> {
        let mut folds = Vec::new();
        loop {
            let part = |name: &str| Qrels::read(&folder.join(format!("fold{}.{name}.qrels", folds.len())));
            if !folds.is_empty() && !folder.join(format!("fold{}.test.qrels", folds.len())).exists() {
                return Ok(Self(folds));
            }
            folds.push(Fold { train: part("train")?, valid: part("valid")?, test: part("test")? });
        }
    }

    /// Parts the topics of judgements into `count` folds: sorted topics dealt out in turn. Of fold i, the test part is
    /// the i-th hand, the validation part the next, and the training part all others.
    #[must_use]
    pub fn deal(qrels: &Qrels, count: usize) -> Self {
        let topics: Vec<&str> = qrels.topics().collect();
        let part = |hands: &dyn Fn(usize) -> bool| {
            let chosen = topics.iter().enumerate().filter(|(place, _)| hands(place % count)).map(|(_, topic)| *topic);
            qrels.only(chosen)
        };
        let fold = |i: usize| Fold {
            test: part(&|hand| hand == i),
            valid: part(&|hand| hand == (i + 1) % count),
            train: part(&|hand| hand != i && hand != (i + 1) % count),
        };
        Self((0..count).map(fold).collect())
    }
}
