//! Field weights.

use crate::document::Field;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Weight of every field, in the order of [`Field::ALL`]. A weight of 0 excludes the field.
///
/// ```
/// use lodeseek_index::document::Field;
/// use lodeseek_index::sparse::FieldWeights;
/// let weights: FieldWeights = "title=1,literal=.3".parse().expect("weights");
/// assert_eq!((weights.weight(Field::Title), weights.weight(Field::Literal), weights.weight(Field::Tags)), (1.0, 0.3, 0.0));
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct FieldWeights(pub [f64; 8]);

impl FieldWeights {
    /// Equal weights of all fields.
    pub const UNIFORM: Self = Self([1.0; 8]);
    /// Weights with which ACORDAR's authors pooled TF-IDF results for judgement.
    pub const ACORDAR_TF_IDF: Self = Self([1.0, 0.7, 0.9, 0.9, 0.8, 0.5, 0.1, 0.4]);
    /// Weights with which they pooled BM25 results.
    pub const ACORDAR_BM25: Self = Self([1.0, 0.9, 0.9, 0.6, 0.2, 0.3, 0.1, 0.1]);
    /// Weights with which they pooled language model results.
    pub const ACORDAR_LMD: Self = Self([1.0, 0.9, 0.1, 1.0, 0.2, 0.3, 0.2, 0.1]);
    /// Weights with which they pooled FSDM results.
    pub const ACORDAR_FSDM: Self = Self([1.0, 0.1, 0.5, 0.9, 0.1, 0.1, 0.4, 0.6]);

    /// Returns the weight of a field.
    #[must_use]
    pub fn weight(&self, field: Field) -> f64 {
        self.0[field.index()]
    }

    /// Returns these weights for fields that satisfy a predicate, and 0 for others.
    #[must_use]
    pub fn restricted_to(mut self, passes: &dyn Fn(Field) -> bool) -> Self {
        for field in Field::ALL.into_iter().filter(|&field| !passes(field)) {
            self.0[field.index()] = 0.0;
        }
        self
    }

    /// Returns the fields with a positive weight.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        Field::ALL
            .into_iter()
            .filter(|&field| self.weight(field) > 0.0)
    }

    /// Returns these weights divided by their sum; all 0 if none is positive.
    #[must_use]
    pub fn normalize(self) -> Self {
        let sum: f64 = self.0.iter().sum();
        if sum > 0.0 {
            Self(self.0.map(|weight| weight / sum))
        } else {
            Self([0.0; 8])
        }
    }
}

/// Maximum weight. Only ratios matter, and sums must be finite.
const MAX_WEIGHT: f64 = 1e6;

/// Error for malformed weights.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("invalid weights {0:?}: expected eight numbers or FIELD=NUMBER pairs, separated by commas, from 0 to 1000000, not all 0; fields: {fields}", fields = Field::ALL.map(Field::name).join(", "))]
pub struct ParseWeightsError(String);

impl FromStr for FieldWeights {
    type Err = ParseWeightsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_weights(text).ok_or_else(|| ParseWeightsError(text.to_owned()))
    }
}

/// Parses the weights of all fields in their order, or of the fields with these names. `None` if the text is malformed, or no weight
/// is positive.
fn parse_weights(text: &str) -> Option<FieldWeights> {
    let parts: Vec<&str> = text.split(',').collect();
    let mut weights = FieldWeights([0.0; 8]);
    if parts.len() == 8 && !text.contains('=') {
        for (weight, part) in weights.0.iter_mut().zip(parts) {
            *weight = parse_weight(part)?;
        }
    } else {
        for part in parts {
            let (name, weight) = part.split_once('=')?;
            let field = Field::ALL
                .into_iter()
                .find(|field| field.name() == name.trim())?;
            weights.0[field.index()] = parse_weight(weight)?;
        }
    }
    weights.fields().next().is_some().then_some(weights)
}

fn parse_weight(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|weight| (0.0..=MAX_WEIGHT).contains(weight))
}

impl fmt::Display for FieldWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self
            .fields()
            .map(|field| format!("{field}={}", self.weight(field)))
            .collect();
        f.write_str(&pairs.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_as_written() {
        let weights = FieldWeights::ACORDAR_LMD;
        assert_eq!(weights.to_string().parse(), Ok(weights));
        assert_eq!("1,.9,.1,1,.2,.3,.2,.1".parse(), Ok(weights));
        for wrong in [
            "",
            "1,2",
            "title",
            "name=1",
            "title=-1",
            "title=nan",
            "title=1e7",
            "title=0",
            "0,0,0,0,0,0,0,0",
        ] {
            assert!(wrong.parse::<FieldWeights>().is_err(), "{wrong}");
        }
    }
}
