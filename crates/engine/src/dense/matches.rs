//! Scores of datasets by vectors.

use lodeseek_rerank::Granularity;
use serde::Serialize;

/// The score of a dataset by an encoder's vectors.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct DenseMatch {
    /// The name of the encoder.
    pub model: String,
    /// The unit of text for which the encoder has one vector.
    pub granularity: Granularity,
    /// The score.
    pub score: f64,
    /// The score of its metadata, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<f64>,
    /// The score of its triples, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<f64>,
    /// If true, the score is below the encoder's minimum similarity: the dataset is one of the nearest, but no match.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closest: bool,
    /// If true, the encoder is the multilingual one beside the others.
    #[serde(skip)]
    pub is_multilingual: bool,
    /// The parts that contribute most to the score, if explanations were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartShare>,
}

/// A part of a dataset's texts and its contribution to the score.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct PartShare {
    /// The text to which it belongs.
    pub of: PartKind,
    /// Its words. With one weight per term (learned sparse models): a term of the model.
    pub text: String,
    /// Its contribution. With one weight per term: the product of the term's weights in the query and in the text. With one vector per word piece (ColBERT): the sum of the similarities of the query's pieces that it
    /// matches best. With one vector per text (DPR): the score of the part as a text of its own.
    pub score: f64,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// A title, a description, tags, an author.
    Metadata,
    /// A triple.
    Triple,
}

impl PartKind {
    pub(super) const BOTH: [Self; 2] = [Self::Metadata, Self::Triple];
}
