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

/// Why folds are no parting of judgements; numbers of folds count from 0, as in their file names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldsMismatch {
    /// There is no fold.
    #[error("there are no folds")]
    None,
    /// A topic is tested twice, and would count twice.
    #[error("topic {topic} is in the test parts of fold {first} and of fold {second}")]
    Twice {
        /// The topic.
        topic: String,
        /// The first fold that tests it.
        first: usize,
        /// The second one.
        second: usize,
    },
    /// A topic is tested in no fold, and would not count.
    #[error("topic {topic} of the judgements is in the test part of no fold")]
    Untested {
        /// The topic.
        topic: String,
    },
    /// A tested topic was not judged.
    #[error("topic {topic}, tested in fold {fold}, is not in the judgements")]
    Unjudged {
        /// The topic.
        topic: String,
        /// The fold.
        fold: usize,
    },
    /// A document has another grade, or is judged here only.
    #[error("topic {topic} is judged otherwise in the test part of fold {fold} than in the judgements")]
    Grades {
        /// The topic.
        topic: String,
        /// The fold.
        fold: usize,
    },
}

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
    pub fn split(qrels: &Qrels, count: usize) -> Self {
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

    /// The fold that tests a topic, from 0.
    #[must_use]
    pub fn test_fold(&self, topic: &str) -> Option<usize> {
        self.0.iter().position(|fold| fold.test.has(topic))
    }

    /// Checks that the test parts are a parting of these judgements: every topic in exactly one, with the same grades.
    pub fn check(&self, qrels: &Qrels) -> Result<(), FoldsMismatch> {
        if self.0.is_empty() {
            return Err(FoldsMismatch::None);
        }
        for (number, fold) in self.0.iter().enumerate() {
            fold.test.topics().try_for_each(|topic| self.check_topic(qrels, topic, number))?;
        }
        match qrels.topics().find(|topic| self.test_fold(topic).is_none()) {
            Some(topic) => Err(FoldsMismatch::Untested { topic: topic.to_owned() }),
            None => Ok(()),
        }
    }

    /// One topic of a test part.
    fn check_topic(&self, qrels: &Qrels, topic: &str, fold: usize) -> Result<(), FoldsMismatch> {
        let name = topic.to_owned();
        match self.test_fold(topic) {
            Some(first) if first < fold => Err(FoldsMismatch::Twice { topic: name, first, second: fold }),
            _ if !qrels.has(topic) => Err(FoldsMismatch::Unjudged { topic: name, fold }),
            _ if !qrels.judgements(topic).eq(self.0[fold].test.judgements(topic)) => {
                Err(FoldsMismatch::Grades { topic: name, fold })
            }
            _ => Ok(()),
        }
    }
}
