//! Combination of the scores of a dataset's two texts: metadata and data.

use std::fmt;
use std::str::FromStr;

/// Function that combines the scores of metadata and data. An empty text has no score and is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Combination {
    /// The higher of the two, after Q. Chen et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023.
    #[default]
    Max,
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The score of the metadata only.
    Metadata,
    /// The score of the data only.
    Data,
}

impl Combination {
    /// All combinations.
    pub const ALL: [Self; 5] = [Self::Max, Self::Sum, Self::Mean, Self::Metadata, Self::Data];

    /// Returns the name, as parsed by `from_str`.
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

    /// Returns the combined score; `None` if no text has a score.
    #[must_use]
    pub fn combine(self, metadata: Option<f64>, data: Option<f64>) -> Option<f64> {
        match (self, metadata, data) {
            (Self::Metadata, metadata, _) => metadata,
            (Self::Data, _, data) => data,
            (Self::Max, Some(metadata), Some(data)) => Some(metadata.max(data)),
            (Self::Sum, Some(metadata), Some(data)) => Some(metadata + data),
            (Self::Mean, Some(metadata), Some(data)) => Some(f64::midpoint(metadata, data)),
            (_, metadata, data) => metadata.or(data),
        }
    }

    /// Returns one flag each for metadata and data: true if that text determines the score.
    #[must_use]
    pub fn contributions(self, metadata: Option<f64>, data: Option<f64>) -> [bool; 2] {
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

/// Error of parsing an unknown combination.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown combination of scores {0:?}; supported: max, sum, mean, metadata, data")]
pub struct UnknownCombination(String);

impl FromStr for Combination {
    type Err = UnknownCombination;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|one| one.name() == name)
            .ok_or_else(|| UnknownCombination(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let combined = |metadata, data| Combination::ALL.map(|one| one.combine(metadata, data));
        assert_eq!(
            combined(Some(1.0), Some(4.0)),
            [Some(4.0), Some(5.0), Some(2.5), Some(1.0), Some(4.0)]
        );
        assert_eq!(
            combined(Some(-1.0), None),
            [Some(-1.0), Some(-1.0), Some(-1.0), Some(-1.0), None]
        );
        assert_eq!(combined(None, None), [None; 5]);
        assert_eq!(
            Combination::Max.contributions(Some(1.0), Some(4.0)),
            [false, true]
        );
        assert_eq!(
            Combination::Max.contributions(Some(-1.0), None),
            [true, false]
        );
        assert_eq!(
            Combination::Mean.contributions(Some(-1.0), Some(4.0)),
            [true, true]
        );
        for one in Combination::ALL {
            assert_eq!(one.to_string().parse(), Ok(one));
        }
        assert!("best".parse::<Combination>().is_err());
    }
}
