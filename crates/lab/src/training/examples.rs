//! What training data consists of.

use lodeseek_ranking::DatasetId;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Which text of a dataset a passage is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageKind {
    /// Its metadata.
    Metadata,
    /// Its triples.
    Data,
    /// Its metadata without its title.
    Masked,
    /// No dataset's: a paper's abstract.
    Abstract,
    /// No dataset's: a piece of a paper's abstract.
    Crop,
}

impl PassageKind {
    /// Its name.
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

    /// The id of a dataset's passage.
    #[must_use]
    pub fn of(self, dataset: &DatasetId) -> String {
        format!("{dataset}#{}", self.name())
    }
}

/// A line of `passages.jsonl`: what an encoder reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PassageRecord {
    /// The dataset's id, `#`, and which text.
    pub id: String,
    /// The dataset.
    pub dataset: DatasetId,
    /// Which text.
    pub text: PassageKind,
    /// The parts that separators part.
    pub parts: Vec<String>,
    /// Pieces kept of a part.
    pub pieces_a_part: Option<usize>,
    /// Since when the dataset has been known.
    pub year: Option<i32>,
}

/// How a query came about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// The title of a dataset, or of a paper.
    Title,
    /// Keyphrases of a dataset.
    Generated,
    /// A topic that people judged.
    Judged,
    /// What a paper's abstract says is done, in a sentence or two.
    Sentence,
    /// The title and the beginning of the abstract of a paper.
    Abstract,
    /// A summary of a paper.
    Summary,
    /// Keyphrases of a paper.
    Keyphrases,
    /// What somebody asked that a paper fits.
    Asked,
    /// A piece of a paper's abstract.
    Crop,
}

impl Style {
    /// Its name.
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
            Self::Asked => "asked",
            Self::Crop => "crop",
        }
    }
}

/// What an example is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// To learn from.
    Train,
    /// To see when learning enough is enough.
    Valid,
}

/// One of how many sources is kept for validation.
const VALID: u64 = 10;

impl Split {
    /// The split of whatever a query came from: one in ten is for validation, by a hash of its name.
    #[must_use]
    pub fn of(source: &str) -> Self {
        if stable_hash(source).is_multiple_of(VALID) { Self::Valid } else { Self::Train }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
        }
    }
}

/// A number that a text has on every machine and in every version.
pub(super) fn stable_hash(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A line of `examples.jsonl`: a query, and passages that answer it or do not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Example {
    /// Its id.
    pub id: String,
    /// What somebody would type.
    pub query: String,
    /// How it came about.
    pub style: Style,
    /// Ids of passages that answer it, the best first.
    pub positives: Vec<String>,
    /// Ids of passages that do not, the hardest to tell first.
    pub negatives: Vec<String>,
    /// The year of the query: what is later does not answer it.
    pub year: Option<i32>,
    /// What it is for; of judged topics the folds say it.
    pub split: Option<Split>,
    /// The fold that tests it, of judged topics.
    pub fold: Option<usize>,
}

/// Passages, examples, and what was left out.
#[derive(Clone, Debug, Default)]
pub struct TrainingData {
    /// By id.
    pub passages: BTreeMap<String, PassageRecord>,
    /// In the order of their sources.
    pub examples: Vec<Example>,
    /// How many were left out, by reason.
    pub left_out: Counts,
    /// What was left out and is to be known by name, by reason.
    pub excluded: BTreeMap<&'static str, Vec<String>>,
}

/// Numbers by what they count.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, reason: &'static str) {
        self.add_many(reason, 1);
    }

    /// Counts more. Nothing found is told, too: 0 says that it was looked for.
    pub fn add_many(&mut self, reason: &'static str, number: usize) {
        *self.0.entry(reason).or_default() += number as u64;
    }

    /// All of them, by reason.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }

    /// How many.
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

    /// The numbers of passages and examples, by kind, and of what was left out.
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
            *examples.entry(example.style.name()).or_default().entry(part).or_default() += 1;
        }
        json!({ "passages": passages, "examples": examples, "left_out": self.left_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_source_in_ten_is_for_validation_whatever_else_there_is() {
        assert_eq!(stable_hash("abc"), 0xba78_16bf_8f01_cfea, "SHA-256 of FIPS 180-4's example");
        let valid = (0..10_000).filter(|number| Split::of(&format!("source {number}")) == Split::Valid).count();
        assert!((900..1_100).contains(&valid), "{valid}");
    }
}
