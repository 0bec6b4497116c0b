//! Experiments by their files: what a file is about stands in it.

use super::condition::Condition;
use super::iclr::Iclr;
use anyhow::Context;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// An experiment in a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Experiment {
    /// Rankings against judgements.
    Condition(Box<Condition>),
    /// Vectors of papers against their labels.
    Iclr(Box<Iclr>),
}

/// The key that says what is measured; without it, rankings are.
#[derive(Deserialize)]
struct Head {
    task: Option<Task>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    Iclr,
}

impl Experiment {
    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("no condition at {}", path.display()))?;
        let head: Head = toml::from_str(&text).with_context(|| path.display().to_string())?;
        match head.task {
            None => Condition::read(path).map(|condition| Self::Condition(Box::new(condition))),
            Some(Task::Iclr) => Iclr::read(path).map(|iclr| Self::Iclr(Box::new(iclr))),
        }
    }
}
