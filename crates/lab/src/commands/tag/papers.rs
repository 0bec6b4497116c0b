//! Papers as JSON lines.

use anyhow::Context;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// A paper: its JSON object, and its texts by key. Missing texts are empty.
pub(super) struct Paper {
    pub(super) object: Map<String, Value>,
    texts: Vec<String>,
}

impl Paper {
    pub(super) fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }

    /// Returns the datasets that the paper lists, as ids of loaded catalogues: white space becomes `_`.
    pub(super) fn positives(&self) -> Vec<String> {
        let names = self
            .object
            .get("positives")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        names
            .filter_map(Value::as_str)
            .map(|name| name.split_whitespace().collect::<Vec<_>>().join("_"))
            .collect()
    }

    fn read(line: &[u8], keys: &[String]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let Value::Object(object) = value else {
            return Err("no object".to_owned());
        };
        let mut texts = Vec::with_capacity(keys.len());
        let mut has_text = false;
        for key in keys {
            let text = object.get(key).and_then(Value::as_str);
            has_text |= text.is_some();
            texts.push(text.unwrap_or_default().to_owned());
        }
        if !has_text {
            return Err(format!("no text under {}", keys.join(", ")));
        }
        Ok(Self { object, texts })
    }
}

/// Returns the papers of a file with their line numbers, or the error of a line. Empty lines are skipped.
pub(super) fn read_papers<'k>(
    path: &Path,
    keys: &'k [String],
) -> anyhow::Result<impl Iterator<Item = (usize, Result<Paper, String>)> + 'k> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = BufReader::new(file).split(b'\n').zip(1..);
    let papers = lines.filter_map(move |(line, number)| match line {
        Ok(line) if line.trim_ascii().is_empty() => None,
        Ok(line) => Some((number, Paper::read(&line, keys))),
        Err(error) => Some((number, Err(error.to_string()))),
    });
    Ok(papers)
}
