//! Field length modes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Field length that scoring formulas use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LengthMode {
    /// Exact number of tokens.
    #[default]
    Exact,
    /// Lucene's one-byte encoding: exact up to 40 tokens, then four significant bits of the length minus 24. Use it for
    /// scores identical to Lucene's.
    #[serde(rename = "lucene")]
    LuceneByte,
}

/// Lengths up to this are exact; of others, the part beyond it is encoded.
const FREE_TOKENS: u32 = 24;
/// Number of significant bits.
const SIGNIFICANT_BITS: u32 = 4;

impl LengthMode {
    /// Returns the length used for a number of tokens.
    ///
    /// ```
    /// use lodeseek_index::sparse::LengthMode;
    /// assert_eq!([40, 41, 100, 1000].map(|tokens| LengthMode::LuceneByte.apply(tokens)), [40, 40, 96, 984]);
    /// ```
    #[must_use]
    pub fn apply(self, tokens: u32) -> u32 {
        match self {
            Self::LuceneByte if tokens > FREE_TOKENS => {
                let rest = tokens - FREE_TOKENS;
                let shift = (u32::BITS - rest.leading_zeros()).saturating_sub(SIGNIFICANT_BITS);
                FREE_TOKENS + (rest >> shift << shift)
            }
            _ => tokens,
        }
    }
}

impl fmt::Display for LengthMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::LuceneByte => "lucene",
        })
    }
}

impl std::str::FromStr for LengthMode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "exact" => Ok(Self::Exact),
            "lucene" => Ok(Self::LuceneByte),
            other => Err(format!(
                "unknown length mode {other:?}; supported: exact, lucene"
            )),
        }
    }
}
