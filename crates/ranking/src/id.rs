//! Dataset identifiers.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Identifier of a dataset within a home.
///
/// It is a string, never a number: rankings break ties by its characters.
///
/// ```
/// use lodeseek_ranking::DatasetId;
///
/// assert_eq!(DatasetId::new("soil-map")?.as_str(), "soil-map");
/// assert!(DatasetId::new("soil map").is_err());
/// assert_eq!(DatasetId::from_text("soil map").map(|id| id.to_string()).as_deref(), Some("soil-map"));
/// # Ok::<(), lodeseek_ranking::InvalidDatasetId>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct DatasetId(String);

/// Text that is not a valid [`DatasetId`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("invalid dataset id {0:?}: use 1 to 200 characters without white space or control characters")]
pub struct InvalidDatasetId(String);

impl DatasetId {
    /// Validates an identifier: 1 to 200 characters, no white space, no control characters.
    ///
    /// White space separates the columns of run files.
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidDatasetId> {
        let id = id.into();
        let length = id.chars().count();
        if length == 0 || length > 200 || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(InvalidDatasetId(id));
        }
        Ok(Self(id))
    }

    /// Derives an identifier from any text.
    ///
    /// White space and control characters become `-`, and the text is cut after 200 characters. Returns `None` for blank text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let cleaned: String =
            text.trim().chars().map(|c| if c.is_whitespace() || c.is_control() { '-' } else { c }).take(200).collect();
        Self::new(cleaned).ok()
    }

    /// Returns the identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for DatasetId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for DatasetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
