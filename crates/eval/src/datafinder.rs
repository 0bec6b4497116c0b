//! Topics of DataFinder: research ideas that need datasets.
//!
//! V. Viswanathan et al.: *DataFinder: Scientific Dataset Recommendation from Natural Language Descriptions*, ACL 2023.
//!
//! A topic describes one paper by a sentence and a few keyphrases, with its year and the kind of data it needs. The topic
//! identifier in runs and judgements is the sentence, with `_` for white space. Files that were exported from a
//! spreadsheet wrap some identifiers in quotation marks and double the inner ones.

use super::lines::Lines;
use super::{EvalError, Qrels};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Research idea of one paper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResearchTopic {
    /// Identifier: [`topic_id`] of the sentence.
    pub id: String,
    /// Description in one sentence.
    pub sentence: String,
    /// Description in keyphrases; empty if unknown.
    pub keyphrases: String,
    /// Publication year of the paper, if known.
    pub year: Option<i32>,
    /// Abstract of the paper; empty if unknown.
    pub summary: String,
    /// Requirements on the data, by kind.
    pub parts: BTreeMap<QueryPart, String>,
}

/// Form of a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryForm {
    /// A full sentence.
    Sentences,
    /// Keyphrases, as in a search box.
    Keyphrases,
}

impl QueryForm {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Sentences, Self::Keyphrases];
}

impl fmt::Display for QueryForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sentences => "sentences",
            Self::Keyphrases => "keyphrases",
        })
    }
}

/// Kind of a requirement on the data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QueryPart {
    /// Task, such as image segmentation.
    Task,
    /// Field of the data, such as biomedicine.
    Domain,
    /// Modality: text, images, sound.
    Modality,
    /// Languages of texts.
    Language,
    /// Length of texts.
    TextLength,
    /// Training style: supervised, few-shot and so on.
    TrainingStyle,
}

impl QueryPart {
    /// All six kinds.
    pub const ALL: [Self; 6] = [
        Self::Task,
        Self::Domain,
        Self::Modality,
        Self::Language,
        Self::TextLength,
        Self::TrainingStyle,
    ];

    /// Returns the key in the topic file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Domain => "domain",
            Self::Modality => "modality",
            Self::Language => "language",
            Self::TextLength => "text_length",
            Self::TrainingStyle => "training_style",
        }
    }
}

/// Line of the topic file.
#[derive(Deserialize)]
struct TopicLine {
    query: String,
    #[serde(default)]
    keyphrase_query: String,
    year: Option<i32>,
    #[serde(default, rename = "abstract")]
    summary: String,
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

impl ResearchTopic {
    /// Reads a JSON Lines file with the keys `query`, `keyphrase_query`, `year`, `abstract` and
    /// [the names of the parts](QueryPart::name). Of several topics with the same sentence, the first is kept.
    pub fn read(path: &Path) -> Result<Vec<Self>, EvalError> {
        let lines = Lines::read(path)?;
        let mut topics: Vec<Self> = Vec::new();
        for (number, line) in lines.iter() {
            let line: TopicLine = serde_json::from_str(line)
                .map_err(|cause| lines.error(number, cause.to_string()))?;
            let topic = Self::from_line(&line);
            if topic.id.is_empty() {
                return Err(lines.error(number, "empty query"));
            }
            if !topics.iter().any(|known| known.id == topic.id) {
                topics.push(topic);
            }
        }
        if topics.is_empty() {
            Err(lines.empty("topics"))
        } else {
            Ok(topics)
        }
    }

    fn from_line(line: &TopicLine) -> Self {
        let mut parts = BTreeMap::new();
        for part in QueryPart::ALL {
            let value = line
                .others
                .get(part.name())
                .and_then(|value| value.as_str());
            let text = value.unwrap_or_default().trim();
            if !text.is_empty() {
                parts.insert(part, text.to_owned());
            }
        }
        Self {
            id: topic_id(&line.query),
            sentence: line.query.trim().to_owned(),
            keyphrases: line.keyphrase_query.trim().to_owned(),
            year: line.year,
            summary: line.summary.trim().to_owned(),
            parts,
        }
    }

    /// Returns the query text in one form.
    #[must_use]
    pub fn text(&self, form: QueryForm) -> &str {
        match form {
            QueryForm::Sentences => &self.sentence,
            QueryForm::Keyphrases => &self.keyphrases,
        }
    }

    /// Removes the words of one part from the query text. Returns `None` if the text contains none of them.
    ///
    /// ```
    /// use lodeseek_eval::{QueryForm, QueryPart, ResearchTopic};
    /// let topic = ResearchTopic {
    ///     keyphrases: "3d image segmentation mri biomedical".to_owned(),
    ///     parts: [(QueryPart::Modality, "MRI".to_owned())].into(),
    ///     ..ResearchTopic::default()
    /// };
    /// let concealed = topic.without_part(QueryPart::Modality, QueryForm::Keyphrases);
    /// assert_eq!(concealed.as_deref(), Some("3d image segmentation biomedical"));
    /// assert_eq!(topic.without_part(QueryPart::Task, QueryForm::Keyphrases), None);
    /// ```
    #[must_use]
    pub fn without_part(&self, part: QueryPart, form: QueryForm) -> Option<String> {
        let mut removed: Vec<String> = self
            .parts
            .get(&part)?
            .split_whitespace()
            .map(normalize_word)
            .collect();
        removed.retain(|word| !word.is_empty());
        let mut words: Vec<&str> = self.text(form).split_whitespace().collect();
        let count = words.len();
        words.retain(|word| !removed.contains(&normalize_word(word)));
        (words.len() < count).then(|| words.join(" "))
    }
}

/// Normalizes a word for comparison: lower case, without surrounding punctuation and plural s.
fn normalize_word(word: &str) -> String {
    let word = word
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    // The s of short words is rarely a plural: `gas`, `bus`.
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 => stem.to_owned(),
        _ => word,
    }
}

/// Returns the identifier of a topic or document with this text.
///
/// Each run of white space or `_` becomes one `_`, and none remains at the ends. Quotation marks that a spreadsheet
/// export added are removed.
///
/// ```
/// use lodeseek_eval::topic_id;
/// assert_eq!(topic_id("Deep  nets for text. "), "Deep_nets_for_text.");
/// assert_eq!(topic_id("\"An_\"\"in-the-wild\"\"_set\""), "An_\"in-the-wild\"_set");
/// ```
#[must_use]
pub fn topic_id(text: &str) -> String {
    let text = text.trim();
    let quoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let text = match quoted {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => text.to_owned(),
    };
    let words = text
        .split(|c: char| c.is_whitespace() || c == '_')
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// Brings topics and judgements under the same identifiers.
///
/// Judged topics that are missing in `topics` are created from their sentence. Topics without judgements are dropped.
#[must_use]
pub fn match_judgements(topics: Vec<ResearchTopic>, qrels: &Qrels) -> (Vec<ResearchTopic>, Qrels) {
    let mut by_id: BTreeMap<String, ResearchTopic> = topics
        .into_iter()
        .map(|topic| (topic.id.clone(), topic))
        .collect();
    let (mut kept, mut renamed) = (Vec::new(), Qrels::default());
    for topic in qrels.topics() {
        let id = topic_id(topic);
        for (document, grade) in qrels.judgements(topic) {
            renamed.insert(&id, document, grade);
        }
        kept.push(by_id.remove(&id).unwrap_or_else(|| ResearchTopic {
            sentence: id.replace('_', " "),
            id: id.clone(),
            ..ResearchTopic::default()
        }));
    }
    // Several identifiers may have become one. The sort is stable: the topic with its parts precedes those made from the
    // sentence.
    kept.sort_by(|a, b| a.id.cmp(&b.id));
    kept.dedup_by(|a, b| a.id == b.id);
    (kept, renamed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(&file, text).expect("written");
        file
    }

    #[test]
    fn topics_meet_their_judgements_whatever_was_done_to_ids() {
        let topics = file(concat!(
            r#"{"query": "Finding  boats. ", "keyphrase_query": "boats images", "year": 2019, "task": "boats", "language": ""}"#,
            "\n",
            r#"{"query": "Finding boats.", "keyphrase_query": "other"}"#,
            "\n",
            r#"{"query": "Nobody judged this", "year": null}"#
        ));
        let topics = ResearchTopic::read(topics.path()).expect("read");
        assert_eq!(
            topics
                .iter()
                .map(|topic| topic.id.as_str())
                .collect::<Vec<_>>(),
            ["Finding_boats.", "Nobody_judged_this"]
        );
        let qrels = file(
            "QueryID\t0\tDocID\tRelevance\nFinding_boats.\tQ0\tHarbour_1\t1\n\"A_\"\"hard\"\"_one\"\tQ0\tHarbour_1\t1\n",
        );
        let qrels = Qrels::read(qrels.path()).expect("a heading is passed over");
        let (topics, qrels) = match_judgements(topics, &qrels);
        assert_eq!(topics.len(), 2);
        let [unknown, boats] = &topics[..] else {
            panic!("two topics")
        };
        assert_eq!(
            (
                unknown.sentence.as_str(),
                unknown.keyphrases.as_str(),
                unknown.year
            ),
            ("A \"hard\" one", "", None)
        );
        assert_eq!(
            (boats.keyphrases.as_str(), boats.year),
            ("boats images", Some(2019))
        );
        assert_eq!(
            boats.parts,
            BTreeMap::from([(QueryPart::Task, "boats".to_owned())])
        );
        assert_eq!(qrels.grade("A_\"hard\"_one", "Harbour_1"), 1);
        assert_eq!(qrels.len(), 2);
    }

    #[test]
    fn a_bad_line_is_named() {
        let broken = file("{\"query\": \"one\"}\n{\"query\": 2}\n");
        let error = ResearchTopic::read(broken.path())
            .expect_err("refused")
            .to_string();
        assert!(error.contains(":2: "), "{error}");
    }

    #[test]
    fn parts_are_concealed_word_by_word() {
        let topic = ResearchTopic {
            sentence: "Detecting faces in images, of faces.".to_owned(),
            parts: [(QueryPart::Task, "face detection".to_owned())].into(),
            ..ResearchTopic::default()
        };
        let text = topic.without_part(QueryPart::Task, QueryForm::Sentences);
        assert_eq!(text.as_deref(), Some("Detecting in images, of"));
        assert_eq!(
            topic.without_part(QueryPart::Task, QueryForm::Keyphrases),
            None
        );
    }
}
