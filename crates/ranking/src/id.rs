//! Dataset identifiers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The id of a dataset within a home. A string, never a number: rankings break ties by its characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DatasetId(String);

/// An id that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is no dataset id: it must have 1 to 200 characters, none of them white space or control")]
pub struct InvalidDatasetId(String);

impl DatasetId {
    /// Checks an id: 1 to 200 characters, no white space (run files are split at it), no control characters.
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidDatasetId> {
        let id = id.into();
        let length = id.chars().count();
        if length == 0 || length > 200 || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(InvalidDatasetId(id));
        }
        Ok(Self(id))
    }

    /// The id of any text: white space and control characters become `-`, at most 200 characters are kept.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let cleaned: String =
            text.trim().chars().map(|c| if c.is_whitespace() || c.is_control() { '-' } else { c }).take(200).collect();
        Self::new(cleaned).ok()
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatasetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
