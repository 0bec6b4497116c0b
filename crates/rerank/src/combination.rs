//! The score of a dataset from those of its two texts.

use std::fmt;
use std::str::FromStr;

/// How the score of the metadata and that of the data become one. A text that is empty has no score, and takes no part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Combination {
    /// The better one, as Q. Chen et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023.
    #[default]
    Max,
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// That of the metadata alone.
    Metadata,
    /// That of the data alone.
    Data,
}

impl Combination {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Max, Self::Sum, Self::Mean, Self::Metadata, Self::Data];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Metadata => "metadata",
            Self::Data => "data",
        }
    }

    /// The score; `None` where there is nothing to score by.
    #[must_use]
    pub fn of(self, metadata: Option<f64>, data: Option<f64>) -> Option<f64> {
        match (self, metadata, data) {
            (Self::Metadata, metadata, _) => metadata,
            (Self::Data, _, data) => data,
            (Self::Max, Some(metadata), Some(data)) => Some(metadata.max(data)),
            (Self::Sum, Some(metadata), Some(data)) => Some(metadata + data),
            (Self::Mean, Some(metadata), Some(data)) => Some(f64::midpoint(metadata, data)),
            (_, metadata, data) => metadata.or(data),
        }
    }

    /// Whether the metadata, and whether the data, made the score.
    #[must_use]
    pub fn carried(self, metadata: Option<f64>, data: Option<f64>) -> [bool; 2] {
        match self {
            Self::Metadata => [true, false],
            Self::Data => [false, true],
            Self::Sum | Self::Mean => [true, true],
            Self::Max => [metadata >= data, data >= metadata],
        }
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no combination's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is no combination of scores; known are max, sum, mean, metadata and data")]
pub struct UnknownCombination(String);

impl FromStr for Combination {
    type Err = UnknownCombination;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| UnknownCombination(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let of = |metadata, data| Combination::ALL.map(|one| one.of(metadata, data));
        assert_eq!(of(Some(1.0), Some(4.0)), [Some(4.0), Some(5.0), Some(2.5), Some(1.0), Some(4.0)]);
        assert_eq!(of(Some(-1.0), None), [Some(-1.0), Some(-1.0), Some(-1.0), Some(-1.0), None]);
        assert_eq!(of(None, None), [None; 5]);
        assert_eq!(Combination::Max.carried(Some(1.0), Some(4.0)), [false, true]);
        assert_eq!(Combination::Max.carried(Some(-1.0), None), [true, false]);
        assert_eq!(Combination::Mean.carried(Some(-1.0), Some(4.0)), [true, true]);
        for one in Combination::ALL {
            assert_eq!(one.to_string().parse(), Ok(one));
        }
        assert!("best".parse::<Combination>().is_err());
    }
}
