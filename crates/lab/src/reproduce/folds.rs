//! Where folds come from, and that they belong to the judgements.

use anyhow::{Context, ensure};
use lodeseek_eval::digest;
use lodeseek_eval::{Folds, Qrels};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A folder of folds, or how many the sorted topics are dealt into.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FoldSource {
    /// [`Folds::split`].
    Dealt(usize),
    /// A folder, in ACORDAR's form.
    Folder(PathBuf),
}

impl FromStr for FoldSource {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Folder(text.into()), Self::Dealt))
    }
}

impl FoldSource {
    /// The folds; a folder is looked for in `base`. That they test every judged topic once, with the judgements given, is
    /// made sure.
    pub fn read(&self, base: &Path, qrels: &Qrels) -> anyhow::Result<Folds> {
        match self {
            Self::Dealt(count) => {
                let topics = qrels.len();
                let possible = (3..=topics).contains(count);
                ensure!(possible, "{count} folds of {topics} topics: from 3 to {topics} are possible");
                Ok(Folds::split(qrels, *count))
            }
            Self::Folder(folder) => {
                let folder = base.join(folder);
                let folds = Folds::read(&folder)?;
                let both = || format!("the folds of {} and the judgements do not belong together", folder.display());
                folds.check(qrels).with_context(both)?;
                Ok(folds)
            }
        }
    }

    /// The source and what it held, for the record.
    pub fn record(&self, base: &Path) -> anyhow::Result<Value> {
        match self {
            Self::Dealt(count) => Ok(json!({ "dealt": count })),
            Self::Folder(folder) => Ok(json!({ "path": folder, "sha256": digest(&base.join(folder))? })),
        }
    }
}
