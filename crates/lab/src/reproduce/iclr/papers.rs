//! Papers of the ICLR benchmark, and their labels.

use super::parquet_file;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A submission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Paper {
    /// OpenReview id; if absent, the row number counted from 1.
    pub id: String,
    /// Abstract.
    pub text: String,
    /// Label, if the keywords determine one.
    pub label: Option<String>,
}

/// A published row. Other columns (title, authors, decision, scores) are ignored.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub(super) struct Record {
    pub(super) id: Option<String>,
    #[serde(rename = "abstract")]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    #[serde(alias = "label")]
    pub(super) labels: Option<String>,
}

/// Published label of papers without a label.
const UNLABELED: &str = "unlabeled";

/// Rules that map keywords to labels.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeywordLabels {
    /// Number of papers of the whole collection with a keyword, in lower case.
    keyword_frequency: BTreeMap<String, u64>,
    /// Label of each keyword. Several keywords may share one.
    keyword_to_label: BTreeMap<String, String>,
}

impl KeywordLabels {
    /// Reads a JSON file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let labels: Self =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        if let Some(keyword) = labels
            .keyword_frequency
            .keys()
            .find(|key| !labels.keyword_to_label.contains_key(*key))
        {
            bail!("{}: the keyword {keyword} has no label", path.display());
        }
        Ok(labels)
    }

    /// Returns the label of the rarest listed keyword of a paper. Among equally rare keywords the first wins.
    #[must_use]
    pub fn label<T: AsRef<str>>(&self, keywords: &[T]) -> Option<&str> {
        let lower = keywords
            .iter()
            .map(|keyword| keyword.as_ref().trim().to_lowercase());
        let listed =
            lower.filter_map(|keyword| Some((*self.keyword_frequency.get(&keyword)?, keyword)));
        let (_, rarest) = listed.min_by_key(|(frequency, _)| *frequency)?;
        self.keyword_to_label.get(&rarest).map(String::as_str)
    }
}

/// Reads the papers of a JSON lines or Parquet file. Labels of the file take precedence over those of keywords.
pub(super) fn read(path: &Path, labels: &KeywordLabels) -> anyhow::Result<Vec<Paper>> {
    let parquet = path.extension().is_some_and(|end| end == "parquet");
    let records = if parquet {
        parquet_file::read(path)
    } else {
        read_json_lines(path)
    }?;
    let own = records.iter().any(|record| record.labels.is_some());
    let mut papers = Vec::with_capacity(records.len());
    for (place, record) in records.into_iter().enumerate() {
        let label = if own {
            record.labels
        } else {
            labels.label(&record.keywords).map(str::to_owned)
        };
        let text = record
            .text
            .with_context(|| format!("{}: paper {} has no abstract", path.display(), place + 1))?;
        let label = label.filter(|label| label != UNLABELED);
        papers.push(Paper {
            id: record.id.unwrap_or_else(|| (place + 1).to_string()),
            text,
            label,
        });
    }
    Ok(papers)
}

fn read_json_lines(path: &Path) -> anyhow::Result<Vec<Record>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(place, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}", path.display(), place + 1))
        })
        .collect()
}
