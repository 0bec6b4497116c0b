//! Research ideas that ask for datasets: the topics of DataFinder.
//!
//! V. Viswanathan et al.: *DataFinder: Scientific Dataset Recommendation from Natural Language Descriptions*, ACL 2023. A
//! topic is a sentence and a few keyphrases, both about one paper, with the year of that paper and what kind of data it
//! needs. Its id in runs and judgements is its sentence, with `_` for each run of white space; files that went through a
//! table calculator wrap some ids in quotation marks and double those within.

use super::lines::Lines;
use super::{EvalError, Qrels};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A research idea.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResearchTopic {
    /// Its id: [`topic_id`] of the sentence.
    pub id: String,
    /// The idea in a sentence.
    pub sentence: String,
    /// The idea in keyphrases; empty where they are not known.
    pub keyphrases: String,
    /// The year of the paper behind it, where it is known.
    pub year: Option<i32>,
    /// The abstract of the paper behind it; empty where it is not known.
    pub summary: String,
    /// What is said of the data, by kind.
    pub parts: BTreeMap<QueryPart, String>,
}

/// How a topic is put into words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryForm {
    /// A sentence, as one would tell a colleague.
    Sentences,
    /// Keyphrases, as one would type them into a search box.
    Keyphrases,
}

impl QueryForm {
    /// Both.
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

/// What a part of a topic is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QueryPart {
    /// What is to be learned or done.
    Task,
    /// The field that the data come from.
    Domain,
    /// Text, images, sound.
    Modality,
    /// The languages of texts.
    Language,
    /// How long texts are.
    TextLength,
    /// Supervised, few-shot and so on.
    TrainingStyle,
}

impl QueryPart {
    /// All six.
    pub const ALL: [Self; 6] =
        [Self::Task, Self::Domain, Self::Modality, Self::Language, Self::TextLength, Self::TrainingStyle];

    /// The key in the file of topics.
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

/// A line of the file.
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
    /// Reads a file of JSON objects, one a line: `query`, `keyphrase_query`, `year`, `abstract`, and the parts by
    /// [their names](QueryPart::name). Of topics of one sentence the first stays.
    pub fn read(path: &Path) -> Result<Vec<Self>, EvalError> {
        let lines = Lines::read(path)?;
        let mut topics: Vec<Self> = Vec::new();
        for (number, line) in lines.iter() {
            let line: TopicLine = serde_json::from_str(line).map_err(|cause| lines.error(number, cause.to_string()))?;
            let topic = Self::from_line(&line);
            if topic.id.is_empty() {
                return Err(lines.error(number, "an empty query"));
            }
            if !topics.iter().any(|known| known.id == topic.id) {
                topics.push(topic);
            }
        }
        if topics.is_empty() { Err(lines.empty("topics")) } else { Ok(topics) }
    }

    fn from_line(line: &TopicLine) -> Self {
        let part = |part: QueryPart| {
            let text = line.others.get(part.name())?.as_str()?.trim();
            (!text.is_empty()).then(|| (part, text.to_owned()))
        };
        Self {
            id: topic_id(&line.query),
            sentence: line.query.trim().to_owned(),
            keyphrases: line.keyphrase_query.trim().to_owned(),
            year: line.year,
            summary: line.summary.trim().to_owned(),
            parts: QueryPart::ALL.into_iter().filter_map(part).collect(),
        }
    }

    /// The words of a form.
    #[must_use]
    pub fn text(&self, form: QueryForm) -> &str {
        match form {
            QueryForm::Sentences => &self.sentence,
            QueryForm::Keyphrases => &self.keyphrases,
        }
    }

    /// The words of a form without those of a part; `None` where the form has none of them.
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
        let words = |text: &str| text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        let concealed = words(self.parts.get(&part)?);
        let kept: Vec<&str> =
            self.text(form).split_whitespace().filter(|word| !concealed.contains(&bare(word))).collect();
        (kept.len() < self.text(form).split_whitespace().count()).then(|| kept.join(" "))
    }
}

/// A word as it is compared: in lower case, without punctuation around it or a plural s.
fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    word.strip_suffix('s').filter(|stem| stem.len() > 2).map_or(word.clone(), str::to_owned)
}

/// The id of a topic or document with this text: every run of white space or `_` is one `_`, none at the ends, and
/// quotation marks that a table calculator put around it are gone.
///
/// ```
/// use lodeseek_eval::topic_id;
/// assert_eq!(topic_id("Deep  nets for text. "), "Deep_nets_for_text.");
/// assert_eq!(topic_id("\"An_\"\"in-the-wild\"\"_set\""), "An_\"in-the-wild\"_set");
/// ```
#[must_use]
pub fn topic_id(text: &str) -> String {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = quoted.map_or_else(|| text.to_owned(), |quoted| quoted.replace("\"\"", "\""));
    let words = text.split(|c: char| c.is_whitespace() || c == '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// Topics and their judgements under the same ids. Judged topics that the file of topics does not have are known by their
/// sentence alone; topics that nobody judged are left out.
#[must_use]
pub fn match_judgements(topics: Vec<ResearchTopic>, qrels: &Qrels) -> (Vec<ResearchTopic>, Qrels) {
    let mut by_id: BTreeMap<String, ResearchTopic> =
        topics.into_iter().map(|topic| (topic.id.clone(), topic)).collect();
    let (mut kept, mut renamed) = (Vec::new(), Qrels::default());
    for topic in qrels.topics() {
        let id = topic_id(topic);
        for (document, grade) in qrels.judgements(topic) {
            renamed.insert(&id, document, grade);
        }
        let bare = || ResearchTopic { sentence: id.replace('_', " "), id: id.clone(), ..ResearchTopic::default() };
        kept.push(by_id.remove(&id).unwrap_or_else(bare));
    }
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
            topics.iter().map(|topic| topic.id.as_str()).collect::<Vec<_>>(),
            ["Finding_boats.", "Nobody_judged_this"]
        );
        let qrels = file(
            "QueryID\t0\tDocID\tRelevance\nFinding_boats.\tQ0\tHarbour_1\t1\n\"A_\"\"hard\"\"_one\"\tQ0\tHarbour_1\t1\n",
        );
        let qrels = Qrels::read(qrels.path()).expect("a heading is passed over");
        let (topics, qrels) = match_judgements(topics, &qrels);
        assert_eq!(topics.len(), 2);
        let [unknown, boats] = &topics[..] else { panic!("two topics") };
        assert_eq!(
            (unknown.sentence.as_str(), unknown.keyphrases.as_str(), unknown.year),
            ("A \"hard\" one", "", None)
        );
        assert_eq!((boats.keyphrases.as_str(), boats.year), ("boats images", Some(2019)));
        assert_eq!(boats.parts, BTreeMap::from([(QueryPart::Task, "boats".to_owned())]));
        assert_eq!(qrels.grade("A_\"hard\"_one", "Harbour_1"), 1);
        assert_eq!(qrels.len(), 2);
    }

    #[test]
    fn a_bad_line_is_named() {
        let broken = file("{\"query\": \"one\"}\n{\"query\": 2}\n");
        let error = ResearchTopic::read(broken.path()).expect_err("refused").to_string();
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
        assert_eq!(topic.without_part(QueryPart::Task, QueryForm::Keyphrases), None);
    }
}
