//! Relevance judgements (qrels) in TREC format: `topic iteration document grade`.

use super::EvalError;
use super::lines::Lines;
use std::collections::BTreeMap;
use std::path::Path;

/// Relevance grades by topic and document. Documents without a judgement count as not relevant.
///
/// ```
/// use lodeseek_eval::Qrels;
///
/// let mut qrels = Qrels::default();
/// qrels.insert("t1", "soil", 2);
/// assert_eq!((qrels.grade("t1", "soil"), qrels.grade("t1", "rain")), (2, 0));
/// assert_eq!(qrels.find_grade("t1", "rain"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qrels(BTreeMap<String, BTreeMap<String, i32>>);

impl Qrels {
    /// Highest accepted grade. Exponential gain overflows with higher ones.
    pub const MAX_GRADE: i32 = 1000;

    /// Reads a qrels file. Columns are separated by white space, and a heading in the first line is skipped.
    ///
    /// # Errors
    ///
    /// Returns [`EvalError::Line`] for a malformed line and for a document with two different grades for one topic.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let lines = Lines::read(path)?;
        let mut qrels = Self::default();
        for (number, line) in lines.iter() {
            let [topic, _, document, grade] =
                lines.columns(number, line, "topic iteration document grade")?;
            if lines.is_heading(number, grade) {
                continue;
            }
            let grade: i32 = grade.parse().map_err(|_| {
                let reason = format!("invalid grade {grade:?}: expected an integer");
                lines.error(number, reason)
            })?;
            if grade > Self::MAX_GRADE {
                return Err(lines.error(
                    number,
                    format!("grade {grade} is above {}", Self::MAX_GRADE),
                ));
            }
            match qrels.find_grade(topic, document) {
                Some(before) if before != grade => {
                    let reason = format!(
                        "document {document} has grade {grade} for topic {topic}, but an earlier line has grade {before}"
                    );
                    return Err(lines.error(number, reason));
                }
                _ => qrels.insert(topic, document, grade),
            }
        }
        if qrels.0.is_empty() {
            Err(lines.empty("judgements"))
        } else {
            Ok(qrels)
        }
    }

    /// Adds a judgement. It replaces an earlier one of the same document and topic.
    pub fn insert(&mut self, topic: &str, document: &str, grade: i32) {
        // Files have many judgements of a topic: its name is copied for the first one only.
        let grades = match self.0.get_mut(topic) {
            Some(grades) => grades,
            None => self.0.entry(topic.to_owned()).or_default(),
        };
        grades.insert(document.to_owned(), grade);
    }

    /// Returns the grade of a document, or 0 if it was not judged.
    #[must_use]
    pub fn grade(&self, topic: &str, document: &str) -> i32 {
        self.find_grade(topic, document).unwrap_or(0)
    }

    /// Returns the grade of a document, if it was judged.
    #[must_use]
    pub fn find_grade(&self, topic: &str, document: &str) -> Option<i32> {
        self.0
            .get(topic)
            .and_then(|grades| grades.get(document))
            .copied()
    }

    /// Iterates over the grades of a topic that are above 0.
    pub fn relevant(&self, topic: &str) -> impl Iterator<Item = i32> {
        self.judgements(topic)
            .map(|(_, grade)| grade)
            .filter(|&grade| grade > 0)
    }

    /// Iterates over the judged documents of a topic with their grades, ordered by document.
    pub fn judgements(&self, topic: &str) -> impl Iterator<Item = (&str, i32)> {
        self.0
            .get(topic)
            .into_iter()
            .flatten()
            .map(|(document, &grade)| (document.as_str(), grade))
    }

    /// Returns the judgements of the given topics.
    #[must_use]
    pub fn only<'t>(&self, topics: impl Iterator<Item = &'t str>) -> Self {
        let kept = topics.filter_map(|topic| {
            self.0
                .get(topic)
                .map(|grades| (topic.to_owned(), grades.clone()))
        });
        Self(kept.collect())
    }

    /// Iterates over the topics with judgements, in order of identifier.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns true if a topic has judgements.
    #[must_use]
    pub fn has(&self, topic: &str) -> bool {
        self.0.contains_key(topic)
    }

    /// Returns the number of topics with judgements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of judgements of all topics.
    ///
    /// ```
    /// use lodeseek_eval::Qrels;
    ///
    /// let mut qrels = Qrels::default();
    /// for (topic, document) in [("t1", "soil"), ("t1", "rain"), ("t2", "soil")] {
    ///     qrels.insert(topic, document, 1);
    /// }
    /// assert_eq!((qrels.len(), qrels.judgement_count()), (2, 3));
    /// ```
    #[must_use]
    pub fn judgement_count(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Returns true if there are no judgements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
