#![doc = include_str!("../README.md")]

mod assess;
mod compliance;
mod description;
mod dqv;
mod indicator;
mod controlled_vocabularies;
mod overview;
mod url_checks;
// Shared with the tests of lodeseek-net.
#[cfg(test)]
#[path = "../../net/src/egress/tests/server.rs"]
#[allow(
    dead_code,
    reason = "shared with the tests of lodeseek-net, which use all of it"
)]
mod server;
#[cfg(test)]
mod tests;

pub use assess::assess;
pub use compliance::{Fault, Recommendation, Violation};
pub use controlled_vocabularies::{FormatIris, media_type_iri};
pub use dqv::to_dqv;
pub use indicator::{Dimension, Indicator};
pub use overview::{DatasetLabel, DatasetRow, Overview, Problem, PublisherRow};
pub use url_checks::{CheckOptions, UrlCheck, UrlChecks, check_urls};

use serde::Serialize;

/// Maximum score: the points of all scored indicators.
pub const MAX_SCORE: u32 = 405;

/// Outcome of an indicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The indicator is met; its points are given.
    Met,
    /// The indicator is missed; no points are given.
    Missed,
    /// The outcome cannot be determined.
    Unknown,
}

/// Result of one indicator for one dataset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The indicator.
    pub indicator: Indicator,
    /// Outcome.
    pub outcome: Outcome,
    /// Reason, as a short phrase.
    pub reason: String,
}

/// Points given, of those that could be determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Points {
    /// Points given.
    pub given: u32,
    /// Points that could be determined.
    pub of: u32,
}

impl Points {
    /// Returns the score: the share of the points, out of [`MAX_SCORE`], rounded. `None` if no outcome could be
    /// determined.
    #[must_use]
    pub fn score(self) -> Option<u32> {
        // The divisor is doubled to round half up in integers; the product is at most 2 · 405².
        (self.of > 0).then(|| (2 * self.given * MAX_SCORE + self.of) / (2 * self.of))
    }
}

/// Rating bands of the MQA.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Band {
    /// Up to 120.
    Bad,
    /// From 121 on.
    Sufficient,
    /// From 221 on.
    Good,
    /// From 351 on.
    Excellent,
}

impl Band {
    /// All bands, best first.
    pub const ALL: [Self; 4] = [Self::Excellent, Self::Good, Self::Sufficient, Self::Bad];

    /// Returns the band of a score.
    #[must_use]
    pub fn from_score(score: u32) -> Self {
        match score {
            0..=120 => Self::Bad,
            121..=220 => Self::Sufficient,
            221..=350 => Self::Good,
            _ => Self::Excellent,
        }
    }

    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Sufficient => "sufficient",
            Self::Good => "good",
            Self::Excellent => "excellent",
        }
    }
}

/// Quality assessment of a dataset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assessment {
    /// Results of all indicators, in their order.
    pub findings: Vec<Finding>,
    /// Name of the distribution that counts for the indicators of distributions.
    pub distribution: Option<String>,
    /// Violations of DCAT-AP.
    pub violations: Vec<Violation>,
    /// Recommended properties of DCAT-AP that are missing.
    pub recommendations: Vec<Recommendation>,
}

impl Assessment {
    /// Returns the points of the dimensions selected by `counts`.
    fn points_where(&self, counts: impl Fn(Dimension) -> bool) -> Points {
        let counted = self
            .findings
            .iter()
            .filter(|finding| counts(finding.indicator.dimension()));
        counted.fold(Points::default(), |points, finding| {
            points.with(finding.indicator, finding.outcome)
        })
    }

    /// Returns the points of a dimension.
    #[must_use]
    pub fn points_of(&self, dimension: Dimension) -> Points {
        self.points_where(|other| other == dimension)
    }

    /// Returns the points of the score.
    #[must_use]
    pub fn points(&self) -> Points {
        self.points_where(Dimension::is_scored)
    }

    /// Returns the score, from 0 to 405.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.points().score().unwrap_or_default()
    }

    /// Returns the rating.
    #[must_use]
    pub fn band(&self) -> Band {
        Band::from_score(self.score())
    }

    /// Returns the missed indicators, those with the most points first. Indicators outside of the score come last.
    #[must_use]
    pub fn improvements(&self) -> Vec<&Finding> {
        let mut missed: Vec<&Finding> = self
            .findings
            .iter()
            .filter(|finding| finding.outcome == Outcome::Missed)
            .collect();
        missed.sort_by_key(|finding| {
            let indicator = finding.indicator;
            (
                !indicator.dimension().is_scored(),
                std::cmp::Reverse(indicator.weight()),
                indicator,
            )
        });
        missed
    }
}

impl Points {
    fn with(self, indicator: Indicator, outcome: Outcome) -> Self {
        let weight = indicator.weight();
        match outcome {
            Outcome::Met => Self {
                given: self.given + weight,
                of: self.of + weight,
            },
            Outcome::Missed => Self {
                of: self.of + weight,
                ..self
            },
            Outcome::Unknown => self,
        }
    }
}
