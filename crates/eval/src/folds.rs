//! Cross-validation folds in ACORDAR's files `foldN.train.qrels`, `foldN.valid.qrels` and `foldN.test.qrels`.

use super::{EvalError, Qrels};
use std::path::{Path, PathBuf};

/// Split of the judgements into training, validation and test parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fold {
    /// Training part, to learn from.
    pub train: Qrels,
    /// Validation part, to select parameters.
    pub valid: Qrels,
    /// Test part, for the reported results.
    pub test: Qrels,
}

/// Ordered folds with disjoint test parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds(pub Vec<Fold>);

/// Reason why folds do not partition the judgements. Fold numbers start at 0, as in the file names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldsMismatch {
    /// No folds.
    #[error("there are no folds")]
    None,
    /// Topic in two test parts, which would count twice.
    #[error("topic {topic} is in the test parts of fold {first} and of fold {second}")]
    Twice {
        /// Topic identifier.
        topic: String,
        /// First fold with this test topic.
        first: usize,
        /// Second fold with this test topic.
        second: usize,
    },
    /// Topic in no test part, which would not count.
    #[error("topic {topic} of the judgements is in the test part of no fold")]
    Untested {
        /// Topic identifier.
        topic: String,
    },
    /// Test topic without judgements.
    #[error("topic {topic}, tested in fold {fold}, is not in the judgements")]
    Unjudged {
        /// Topic identifier.
        topic: String,
        /// Fold number.
        fold: usize,
    },
    /// Test topic with other judgements than in the qrels.
    #[error("topic {topic} has other judgements in the test part of fold {fold} than in the qrels")]
    Grades {
        /// Topic identifier.
        topic: String,
        /// Fold number.
        fold: usize,
    },
}

impl Folds {
    /// Reads the folds 0, 1 and so on of a folder, up to the first missing number. A part (train, valid, test) is the file
    /// `foldN.PART.qrels`, or `foldN/PART.txt` as ACORDAR publishes it.
    ///
    /// # Errors
    /// If a part of a fold cannot be read. The error names the first of the two paths if neither exists.
    pub fn read(folder: &Path) -> Result<Self, EvalError> {
        if !folder.is_dir() {
            return Err(EvalError::NoFolder(folder.to_owned()));
        }
        let mut folds = Vec::new();
        loop {
            let fold = folds.len();
            // Fold 0 is read without this check, so that a folder without folds is an error with a path.
            if fold > 0 && !part_path(folder, fold, "test").exists() {
                return Ok(Self(folds));
            }
            folds.push(Fold {
                train: Qrels::read(&part_path(folder, fold, "train"))?,
                valid: Qrels::read(&part_path(folder, fold, "valid"))?,
                test: Qrels::read(&part_path(folder, fold, "test"))?,
            });
        }
    }

    /// Splits the topics into `count` folds.
    ///
    /// The sorted topics are assigned to `count` groups in turn. Fold i tests on group i, validates on group i + 1 and trains
    /// on all others.
    #[must_use]
    pub fn split(qrels: &Qrels, count: usize) -> Self {
        let mut folds = Vec::with_capacity(count);
        for test in 0..count {
            // Each group is the validation part of exactly one fold, too.
            let valid = (test + 1) % count;
            folds.push(Fold {
                train: select_groups(qrels, count, |group| group != test && group != valid),
                valid: select_groups(qrels, count, |group| group == valid),
                test: select_groups(qrels, count, |group| group == test),
            });
        }
        Self(folds)
    }

    /// Returns the number of the fold that tests a topic, starting at 0.
    #[must_use]
    pub fn test_fold(&self, topic: &str) -> Option<usize> {
        self.0.iter().position(|fold| fold.test.has(topic))
    }

    /// Checks that the test parts partition these judgements: each topic is in exactly one, with the same grades.
    pub fn check(&self, qrels: &Qrels) -> Result<(), FoldsMismatch> {
        if self.0.is_empty() {
            return Err(FoldsMismatch::None);
        }
        for (number, fold) in self.0.iter().enumerate() {
            fold.test
                .topics()
                .try_for_each(|topic| self.check_topic(qrels, topic, number))?;
        }
        match qrels.topics().find(|topic| self.test_fold(topic).is_none()) {
            Some(topic) => Err(FoldsMismatch::Untested {
                topic: topic.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Checks one topic of a test part.
    fn check_topic(&self, qrels: &Qrels, topic: &str, fold: usize) -> Result<(), FoldsMismatch> {
        let name = topic.to_owned();
        match self.test_fold(topic) {
            // `test_fold` returns the first fold with the topic: any other fold repeats it.
            Some(first) if first < fold => Err(FoldsMismatch::Twice {
                topic: name,
                first,
                second: fold,
            }),
            _ if !qrels.has(topic) => Err(FoldsMismatch::Unjudged { topic: name, fold }),
            _ if !qrels
                .judgements(topic)
                .eq(self.0[fold].test.judgements(topic)) =>
            {
                Err(FoldsMismatch::Grades { topic: name, fold })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the judgements of the topics whose group is selected. Topic i is in group i modulo `count`.
fn select_groups(qrels: &Qrels, count: usize, is_selected: impl Fn(usize) -> bool) -> Qrels {
    let topics = qrels.topics().enumerate();
    qrels.only(
        topics
            .filter(|(place, _)| is_selected(place % count))
            .map(|(_, topic)| topic),
    )
}

/// Returns the file of a part (train, valid, test) of a fold: the one that ACORDAR publishes if it exists.
fn part_path(folder: &Path, fold: usize, part: &str) -> PathBuf {
    let published = folder
        .join(format!("fold{fold}"))
        .join(format!("{part}.txt"));
    if published.is_file() {
        published
    } else {
        folder.join(format!("fold{fold}.{part}.qrels"))
    }
}
