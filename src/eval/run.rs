//! Runs in TREC's form: `topic Q0 document rank score tag`.

use super::EvalError;
use crate::catalog::DatasetId;
use crate::ranking::{Ranking, Scored};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// A ranking for every topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What made it; the last column.
    pub tag: String,
    rankings: BTreeMap<String, Ranking>,
}

impl Run {
    /// An empty run.
    #[must_use]
    pub fn new(tag: impl Into<String>) -> Self {
        Self { tag: tag.into(), rankings: BTreeMap::new() }
    }

    /// Reads a file. The rank column is ignored, as trec_eval ignores it; a line of another form, a score that is no
    /// number, and a document ranked twice for a topic are refused with their line.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let text = fs::read_to_string(path).map_err(|cause| EvalError::Io { path: path.to_owned(), cause })?;
        let (mut tag, mut scored) = (None, BTreeMap::<String, Vec<Scored>>::new());
        let mut seen = rustc_hash::FxHashSet::default();
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let error = |reason: String| EvalError::Line { path: path.to_owned(), line: place + 1, reason };
            let parts = columns(line);
            let [topic, _, document, _, score, name] = parts[..] else {
                return Err(error(format!("{} columns instead of six", parts.len())));
            };
            let score: f64 = score.parse().map_err(|_| error(format!("{score:?} is no score")))?;
            if score.is_nan() {
                return Err(error("a score that is not a number".to_owned()));
            }
            if !seen.insert((topic, document)) {
                return Err(error(format!("document {document} is ranked twice for topic {topic}")));
            }
            let id = DatasetId::new(document).map_err(|cause| error(cause.to_string()))?;
            scored.entry(topic.to_owned()).or_default().push(Scored { id, score });
            tag.get_or_insert_with(|| name.to_owned());
        }
        let rankings = scored.into_iter().map(|(topic, scored)| (topic, Ranking::from_scores(scored))).collect();
        Ok(Self { tag: tag.unwrap_or_default(), rankings })
    }

    /// Writes the run, ranks from 1, scores with all their digits.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (topic, ranking) in &self.rankings {
            for (place, entry) in ranking.iter().enumerate() {
                writeln!(out, "{topic}\tQ0\t{}\t{}\t{}\t{}", entry.id, place + 1, entry.score, self.tag)?;
            }
        }
        Ok(())
    }

    /// Puts the ranking for a topic.
    pub fn insert(&mut self, topic: impl Into<String>, ranking: Ranking) {
        self.rankings.insert(topic.into(), ranking);
    }

    /// The ranking for a topic.
    #[must_use]
    pub fn ranking(&self, topic: &str) -> Option<&Ranking> {
        self.rankings.get(topic)
    }

    /// All topics and their rankings, by topic.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Ranking)> {
        self.rankings.iter().map(|(topic, ranking)| (topic.as_str(), ranking))
    }

    /// The number of topics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rankings.len()
    }

    /// Whether no topic has a ranking.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rankings.is_empty()
    }
}

/// Between tabs a tag may hold spaces: `FSDM [d]`, as in runs published with ACORDAR.
fn columns(line: &str) -> Vec<&str> {
    let tabbed: Vec<&str> = line.split('\t').map(str::trim).collect();
    if tabbed.len() == 6 { tabbed } else { line.split_whitespace().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_may_hold_spaces_between_tabs() {
        assert_eq!(columns("1\tQ0\ta\t1\t-2.5\tFSDM [d]"), ["1", "Q0", "a", "1", "-2.5", "FSDM [d]"]);
        assert_eq!(columns("1 Q0 a 1 2.5 tag").len(), 6);
        assert_eq!(columns("1 Q0 a 1 2.5 FSDM [d]").len(), 7);
    }
}
