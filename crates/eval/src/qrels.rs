//! Relevance judgements in TREC's form: `topic iteration document grade`.

use super::EvalError;
use super::lines::Lines;
use std::collections::BTreeMap;
use std::path::Path;

/// Grades by topic and document. What was not judged counts as not relevant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qrels(BTreeMap<String, BTreeMap<String, i32>>);

impl Qrels {
    /// Higher grades are refused: exponential gain could not be computed.
    pub const HIGHEST: i32 = 1000;

    /// Reads a file. Columns may be parted by any white space; a heading in the first line is passed over; a line of another
    /// form is refused with its number, and so is a second judgement of a document that contradicts the first.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let lines = Lines::read(path)?;
        let mut qrels = Self::default();
        for (number, line) in lines.iter() {
            let [topic, _, document, grade] = lines.columns(number, line, "topic iteration document grade")?;
            if lines.is_heading(number, grade) {
                continue;
            }
            let grade: i32 = grade.parse().map_err(|_| lines.error(number, format!("{grade:?} is no grade")))?;
            if grade > Self::HIGHEST {
                return Err(lines.error(number, format!("grade {grade} is above {}", Self::HIGHEST)));
            }
            match qrels.judged(topic, document) {
                Some(before) if before != grade => {
                    let reason =
                        format!("document {document} gets grade {grade} for topic {topic}, and {before} before");
                    return Err(lines.error(number, reason));
                }
                _ => qrels.insert(topic, document, grade),
            }
        }
        if qrels.0.is_empty() { Err(lines.empty("judgements")) } else { Ok(qrels) }
    }

    /// Adds a judgement; a repeated one replaces the first.
    pub fn insert(&mut self, topic: &str, document: &str, grade: i32) {
        let grades = match self.0.get_mut(topic) {
            Some(grades) => grades,
            None => self.0.entry(topic.to_owned()).or_default(),
        };
        grades.insert(document.to_owned(), grade);
    }

    /// The grade of a document; 0 where it was not judged.
    #[must_use]
    pub fn grade(&self, topic: &str, document: &str) -> i32 {
        self.judged(topic, document).unwrap_or(0)
    }

    /// The grade of a document, if it was judged.
    #[must_use]
    pub fn judged(&self, topic: &str, document: &str) -> Option<i32> {
        self.0.get(topic).and_then(|grades| grades.get(document)).copied()
    }

    /// The grades above 0 of a topic.
    pub fn relevant(&self, topic: &str) -> impl Iterator<Item = i32> {
        self.judgements(topic).map(|(_, grade)| grade).filter(|&grade| grade > 0)
    }

    /// The judged documents of a topic and their grades, by document.
    pub fn judgements(&self, topic: &str) -> impl Iterator<Item = (&str, i32)> {
        self.0.get(topic).into_iter().flatten().map(|(document, &grade)| (document.as_str(), grade))
    }

    /// The judgements of some topics.
    #[must_use]
    pub fn only<'t>(&self, topics: impl Iterator<Item = &'t str>) -> Self {
        let kept = topics.filter_map(|topic| self.0.get(topic).map(|grades| (topic.to_owned(), grades.clone())));
        Self(kept.collect())
    }

    /// The topics with judgements, by id.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether a topic has judgements.
    #[must_use]
    pub fn has(&self, topic: &str) -> bool {
        self.0.contains_key(topic)
    }

    /// The number of topics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was judged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
