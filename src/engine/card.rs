//! What is shown of a dataset, kept with its document in the index: a search needs nothing else.

use crate::catalog::{Distribution, Metadata};
use crate::profile::Summary;
use crate::snippet::LabelledTriple;
use serde::{Deserialize, Serialize};

/// Everything about a dataset that a result or its page shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// What the catalogue says.
    pub metadata: Metadata,
    /// Where its content lies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Distribution>,
    /// The version of its content.
    pub version: String,
    /// Its numbers, the longest lists cut.
    pub profile: Summary,
    /// How its snippet was chosen.
    pub snippet_method: String,
    /// Its snippet.
    pub snippet: Vec<LabelledTriple>,
}
