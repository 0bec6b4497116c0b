//! Relevance judgements in TREC's form: `topic iteration document grade`.

use super::EvalError;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Grades by topic and document. What was not judged counts as not relevant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qrels(BTreeMap<String, BTreeMap<String, i32>>);

impl Qrels {
    /// Reads a file; a line of another form is refused with its number.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let text = fs::read_to_string(path).map_err(|cause| EvalError::Io { path: path.to_owned(), cause })?;
        let mut qrels = Self::default();
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let error = |reason: String| EvalError::Line { path: path.to_owned(), line: place + 1, reason };
            let parts: Vec<&str> = line.split_whitespace().collect();
            let [topic, _, document, grade] = parts[..] else {
                return Err(error(format!("{} columns instead of four", parts.len())));
            };
            let grade = grade.parse().map_err(|_| error(format!("{grade:?} is no grade")))?;
            qrels.insert(topic, document, grade);
        }
        Ok(qrels)
    }

    /// Adds a judgement; a repeated one replaces the first.
    pub fn insert(&mut self, topic: &str, document: &str, grade: i32) {
        self.0.entry(topic.to_owned()).or_default().insert(document.to_owned(), grade);
    }

    /// The grade of a document; 0 where it was not judged.
    #[must_use]
    pub fn grade(&self, topic: &str, document: &str) -> i32 {
        self.0.get(topic).and_then(|grades| grades.get(document)).copied().unwrap_or(0)
    }

    /// The grades above 0 of a topic.
    pub fn relevant(&self, topic: &str) -> impl Iterator<Item = i32> {
        self.0.get(topic).into_iter().flat_map(|grades| grades.values().copied()).filter(|&grade| grade > 0)
    }

    /// The judgements of some topics.
    #[must_use]
    pub fn only<'t>(&self, topics: impl Iterator<Item = &'t str>) -> Self {
        let kept = topics.filter_map(|topic| self.0.get(topic).map(|grades| (topic.to_owned(), grades.clone())));
        Self(kept.collect())
    }

    /// The topics with judgements.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
