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
#[error(
    "invalid dataset id {0:?}: use 1 to 200 characters without white space or control characters, and neither `.` nor `..`"
)]
pub struct InvalidDatasetId(String);

impl DatasetId {
    /// Validates an identifier: 1 to 200 characters, no white space, no control characters, also none of the direction of writing,
    /// and neither `.` nor `..`.
    ///
    /// White space separates the columns of run files. Clients remove `.` and `..` from the path of an address.
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidDatasetId> {
        let id = id.into();
        let length = id.chars().count();
        if length == 0 || length > 200 || matches!(&*id, "." | "..") || id.chars().any(is_excluded)
        {
            return Err(InvalidDatasetId(id));
        }
        Ok(Self(id))
    }

    /// Derives an identifier from any text.
    ///
    /// White space and control characters become `-`, as do the dots of `.` and `..`, and the text is cut after 200 characters.
    /// Returns `None` for blank text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_path = matches!(text, "." | "..");
        let cleaned: String = text
            .chars()
            .map(|c| if is_excluded(c) || is_path { '-' } else { c })
            .take(200)
            .collect();
        Self::new(cleaned).ok()
    }

    /// Returns the identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns true for characters that an identifier cannot have: white space, control characters, and those that change the
/// direction of writing, so that a text looks like another one.
fn is_excluded(c: char) -> bool {
    let is_bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_whitespace() || c.is_control() || is_bidi
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_parts_of_addresses() {
        for text in [
            ".",
            "..",
            "a\u{202e}b",
            "\u{2066}a",
            "a\u{200f}",
            "\u{61c}",
            "a\tb",
            "",
        ] {
            assert_eq!(
                DatasetId::new(text),
                Err(InvalidDatasetId(text.to_owned())),
                "{text:?}"
            );
        }
        for text in ["...", ".a", "a..b", "日本", "درخت‌ها"] {
            assert_eq!(DatasetId::new(text).expect("an id").as_str(), text);
        }
        let cleaned = |text: &str| DatasetId::from_text(text).map(|id| id.to_string());
        assert_eq!(cleaned(" .. ").as_deref(), Some("--"));
        assert_eq!(cleaned("a\u{202e}b c").as_deref(), Some("a-b-c"));
        assert_eq!(cleaned(" \n "), None);
    }
}
