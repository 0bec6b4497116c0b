//! An experiment of whatever kind: what its file says it is.

use super::{Condition, DataFinder, Encoders, Report};
use anyhow::{Context, bail};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// An experiment in a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Experiment {
    /// Runs, fusions and models on topics with folds: a file without a `task`.
    Ranking(Box<Condition>),
    /// Research ideas: `task = "datafinder"`.
    DataFinder(Box<DataFinder>),
}

#[derive(Deserialize)]
struct Kind {
    task: Option<String>,
}

impl Experiment {
    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("no condition at {}", path.display()))?;
        let kind: Kind = toml::from_str(&text).with_context(|| path.display().to_string())?;
        Ok(match kind.task.as_deref() {
            None => Self::Ranking(Box::new(Condition::read(path)?)),
            Some("datafinder") => Self::DataFinder(Box::new(DataFinder::read(path)?)),
            Some(other) => bail!("{}: {other:?} is no task; known is datafinder", path.display()),
        })
    }

    /// The name of its file, without `.toml`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Ranking(condition) => &condition.name,
            Self::DataFinder(experiment) => &experiment.name,
        }
    }

    /// What to type.
    #[must_use]
    pub fn command(&self) -> &str {
        match self {
            Self::Ranking(condition) => &condition.command,
            Self::DataFinder(experiment) => &experiment.command,
        }
    }

    /// In a few sentences.
    #[must_use]
    pub fn about(&self) -> &str {
        match self {
            Self::Ranking(condition) => &condition.about,
            Self::DataFinder(experiment) => &experiment.about,
        }
    }

    /// Why nobody has run it yet, where that is so.
    #[must_use]
    pub fn awaits(&self) -> Option<&str> {
        match self {
            Self::Ranking(condition) => condition.awaits.as_deref(),
            Self::DataFinder(_) => None,
        }
    }

    /// The names of its tables.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        match self {
            Self::Ranking(condition) => condition.tables.iter().map(|table| table.id.clone()).collect(),
            Self::DataFinder(experiment) => experiment.tables(),
        }
    }

    /// Verifies its data, then computes every table. The hook hears what is being done.
    pub fn reproduce(
        &self,
        data: &Path,
        home: &Path,
        encoders: &Encoders<'_>,
        progress: &(dyn Fn(&str) + Sync),
    ) -> anyhow::Result<Report> {
        match self {
            Self::Ranking(condition) => {
                condition.reproduce(data, home, encoders, &|step| progress(&step.to_string()))
            }
            Self::DataFinder(experiment) => experiment.reproduce(data, home, encoders, progress),
        }
    }
}
