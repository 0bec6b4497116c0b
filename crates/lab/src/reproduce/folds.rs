//! Sources of folds, and checks that they belong to the judgements.

use super::dsebench;
use anyhow::{Context, ensure};
use lodeseek_eval::digest;
use lodeseek_eval::{Folds, Qrels};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A folder of folds, or a number of folds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FoldSource {
    /// Deal the sorted topics into this number of folds: [`Folds::split`].
    Dealt(usize),
    /// A folder in the format of ACORDAR or DSEBench.
    Folder(PathBuf),
}

impl FromStr for FoldSource {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.parse::<usize>() {
            Ok(count) => Self::Dealt(count),
            Err(_) => Self::Folder(text.into()),
        })
    }
}

impl FoldSource {
    /// Reads or makes the folds. A folder is relative to `base`.
    ///
    /// # Errors
    ///
    /// Fails if a folder cannot be read, or if its folds do not test every judged topic once with the given judgements.
    pub fn read(&self, base: &Path, qrels: &Qrels) -> anyhow::Result<Folds> {
        match self {
            Self::Dealt(count) => {
                let topics = qrels.len();
                let possible = (3..=topics).contains(count);
                ensure!(
                    possible,
                    "cannot make {count} folds of {topics} topics: use a number from 3 to {topics}"
                );
                Ok(Folds::split(qrels, *count))
            }
            Self::Folder(folder) => {
                let folder = base.join(folder);
                let folds = if dsebench::has_folds(&folder) {
                    dsebench::read_folds(&folder, qrels)?
                } else {
                    Folds::read(&folder)?
                };
                folds.check(qrels).with_context(|| {
                    format!(
                        "the folds of {} and the judgements do not belong together",
                        folder.display()
                    )
                })?;
                Ok(folds)
            }
        }
    }

    /// Returns the source and the numbers of its topics, for provenance records.
    pub fn record(&self, base: &Path) -> anyhow::Result<Value> {
        match self {
            Self::Dealt(count) => Ok(json!({ "dealt": count })),
            Self::Folder(folder) => {
                Ok(json!({ "path": folder, "sha256": digest(&base.join(folder))? }))
            }
        }
    }
}
