//! Records of training data: passages, examples and counts.

use lodeseek_ranking::DatasetId;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Kind of text of a passage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageKind {
    /// Metadata of a dataset.
    Metadata,
    /// Triples of a dataset.
    Data,
    /// Metadata of a dataset without its title.
    Masked,
    /// Abstract of a paper. It belongs to no dataset.
    Abstract,
    /// Piece of a paper's abstract. It belongs to no dataset.
    Crop,
}

impl PassageKind {
    /// Returns the name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Data => "data",
            Self::Masked => "masked",
            Self::Abstract => "abstract",
            Self::Crop => "crop",
        }
    }

    /// Returns the id of a dataset's passage of this kind.
    #[must_use]
    pub fn passage_id(self, dataset: &DatasetId) -> String {
        format!("{dataset}#{}", self.name())
    }
}

/// A line of `passages.jsonl`: the text that an encoder reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PassageRecord {
    /// Dataset id, `#`, and kind of text.
    pub id: String,
    /// The dataset.
    pub dataset: DatasetId,
    /// Kind of text.
    pub text: PassageKind,
    /// Parts that the encoder joins with separators.
    pub parts: Vec<String>,
    /// Maximum number of tokens of each part.
    pub pieces_a_part: Option<usize>,
    /// Year in which the dataset first became known.
    pub year: Option<i32>,
}

/// Origin of a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Title of a dataset or of a paper.
    Title,
    /// Keyphrases of a dataset.
    Generated,
    /// A topic with human judgements.
    Judged,
    /// One or two sentences of a paper's abstract about its task.
    Sentence,
    /// Title and beginning of the abstract of a paper.
    Abstract,
    /// Summary of a paper.
    Summary,
    /// Keyphrases of a paper.
    Keyphrases,
    /// A query of a person that fits a paper.
    #[serde(rename = "asked")]
    UserQuery,
    /// A piece of a paper's abstract.
    Crop,
}

impl Style {
    /// Returns the name of the style.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Generated => "generated",
            Self::Judged => "judged",
            Self::Sentence => "sentence",
            Self::Abstract => "abstract",
            Self::Summary => "summary",
            Self::Keyphrases => "keyphrases",
            Self::UserQuery => "asked",
            Self::Crop => "crop",
        }
    }
}

/// Use of an example.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Training.
    Train,
    /// Validation, for early stopping.
    Valid,
}

/// One of this number of sources is used for validation.
const SOURCES_PER_VALIDATION: u64 = 10;

impl Split {
    /// Assigns the source of a query to a split by a hash of its name. One in ten is for validation.
    #[must_use]
    pub fn from_source(source: &str) -> Self {
        // With a hash, a source keeps its split when others are added.
        if stable_hash(source).is_multiple_of(SOURCES_PER_VALIDATION) {
            Self::Valid
        } else {
            Self::Train
        }
    }

    /// Returns the name of the split.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
        }
    }
}

/// Returns a hash of a text that is the same on all machines and in all versions.
pub(super) fn stable_hash(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A line of `examples.jsonl`: a query, relevant passages and irrelevant passages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Example {
    /// Id of the example.
    pub id: String,
    /// Text of the query.
    pub query: String,
    /// Origin of the query.
    pub style: Style,
    /// Ids of relevant passages, best first.
    pub positives: Vec<String>,
    /// Ids of irrelevant passages, hardest first.
    pub negatives: Vec<String>,
    /// Year of the query. Newer datasets are not relevant.
    pub year: Option<i32>,
    /// Use of the example. Absent for judged topics, which have folds.
    pub split: Option<Split>,
    /// Fold that tests the topic, for judged topics.
    pub fold: Option<usize>,
}

/// Passages, examples, and counts of excluded items.
#[derive(Clone, Debug, Default)]
pub struct TrainingData {
    /// Passages by id.
    pub passages: BTreeMap<String, PassageRecord>,
    /// Examples in the order of their sources.
    pub examples: Vec<Example>,
    /// Numbers of excluded items, by reason.
    pub left_out: Counts,
    /// Names of excluded items that the record lists, by reason.
    pub excluded: BTreeMap<&'static str, Vec<String>>,
}

/// Numbers by the things that they count.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    /// Adds one.
    pub fn add(&mut self, reason: &'static str) {
        self.add_many(reason, 1);
    }

    /// Adds a number. A count of 0 is recorded too: it documents that the check was made.
    pub fn add_many(&mut self, reason: &'static str, number: usize) {
        *self.0.entry(reason).or_default() += number as u64;
    }

    /// Returns all counts, sorted by reason.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }

    /// Returns one count, 0 if it is absent.
    #[must_use]
    pub fn get(&self, reason: &str) -> u64 {
        self.0.get(reason).copied().unwrap_or(0)
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl TrainingData {
    pub(super) fn insert(&mut self, passage: PassageRecord) {
        self.passages.insert(passage.id.clone(), passage);
    }

    /// Returns the numbers of passages and examples by kind, and of excluded items.
    #[must_use]
    pub fn counts(&self) -> Value {
        let mut passages: BTreeMap<&str, u64> = BTreeMap::new();
        for passage in self.passages.values() {
            *passages.entry(passage.text.name()).or_default() += 1;
        }
        let mut examples: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
        for example in &self.examples {
            let part = match (example.split, example.fold) {
                (Some(split), _) => split.name().to_owned(),
                (None, Some(fold)) => format!("fold{fold}"),
                (None, None) => "none".to_owned(),
            };
            *examples
                .entry(example.style.name())
                .or_default()
                .entry(part)
                .or_default() += 1;
        }
        json!({ "passages": passages, "examples": examples, "left_out": self.left_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_source_in_ten_is_for_validation_whatever_else_there_is() {
        assert_eq!(
            stable_hash("abc"),
            0xba78_16bf_8f01_cfea,
            "SHA-256 of FIPS 180-4's example"
        );
        let valid = (0..10_000)
            .filter(|number| Split::from_source(&format!("source {number}")) == Split::Valid)
            .count();
        assert!((900..1_100).contains(&valid), "{valid}");
    }
}
