//! Papers that name datasets: labelled examples in the format of `lodeseek-lab tag`.

use anyhow::Context;
use lodeseek_ranking::DatasetId;
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// A paper and the datasets that it names.
pub(super) struct Example {
    /// Title and abstract.
    pub(super) text: String,
    pub(super) year: Option<i32>,
    pub(super) datasets: Vec<DatasetId>,
}

#[derive(Deserialize)]
struct Line {
    title: String,
    #[serde(rename = "abstract")]
    summary: String,
    year: Option<i32>,
    positives: Vec<String>,
}

impl Example {
    pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Self>> {
        let file = File::open(path).with_context(|| path.display().to_string())?;
        let numbered = BufReader::new(file).lines().enumerate();
        numbered
            .map(|(place, line)| {
                Self::parse(&line?).with_context(|| format!("{}:{}", path.display(), place + 1))
            })
            .collect()
    }

    fn parse(line: &str) -> anyhow::Result<Self> {
        let line: Line = serde_json::from_str(line)?;
        // Ids have the form of Papers with Code catalogues: names without white space.
        let datasets = line
            .positives
            .iter()
            .map(|name| DatasetId::new(name.split_whitespace().collect::<Vec<_>>().join("_")))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            text: format!("{}. {}", line.title, line.summary),
            year: line.year,
            datasets,
        })
    }
}
