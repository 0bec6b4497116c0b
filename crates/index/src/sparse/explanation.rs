//! Score explanation as a tree, after Lucene's and tantivy's `Explanation`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Value with a description and details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Value.
    pub value: f64,
    /// Description of the value.
    pub description: String,
    /// Values from which it is computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Explanation>,
}

impl Explanation {
    /// Creates a value without details.
    #[must_use]
    pub fn leaf(value: f64, description: impl Into<String>) -> Self {
        Self {
            value,
            description: description.into(),
            details: Vec::new(),
        }
    }

    /// Creates the sum of its details.
    #[must_use]
    pub fn sum(description: impl Into<String>, details: Vec<Self>) -> Self {
        Self {
            value: details.iter().map(|detail| detail.value).sum(),
            description: description.into(),
            details,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        // Probabilities are small; four decimals would show all of them as zero.
        let value = if self.value != 0.0 && self.value.abs() < 1e-3 {
            format!("{:.3e}", self.value)
        } else {
            format!("{:.4}", self.value)
        };
        writeln!(
            f,
            "{:indent$}{value}  {}",
            "",
            self.description,
            indent = 2 * depth
        )?;
        self.details
            .iter()
            .try_for_each(|detail| detail.write(f, depth + 1))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
