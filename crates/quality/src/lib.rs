//! How good a dataset's description is, and what its content shows, with the reason of every point.
//!
//! The score is that of the Metadata Quality Assessment of data.europa.eu: its five dimensions, its indicators and weights
//! (405 points in all), its four bands. <https://data.europa.eu/mqa/methodology>
//!
//! | dimension | points | indicators |
//! |---|---|---|
//! | findability | 100 | keywords 30, themes 30, place 20, period 20 |
//! | accessibility | 100 | access address answers 50, download address 20, and it answers 30 |
//! | interoperability | 110 | format 20, media type 10, of a list 10, belongs to nobody 20, machine-readable 20, DCAT-AP 30 |
//! | reusability | 75 | licence 20, of a list 10, access rights 10, of a list 5, contact 20, publisher 10 |
//! | contextuality | 20 | rights 5, size 5, issued 5, modified 5 |
//!
//! What is done otherwise than there:
//! - An address counts as answering only when it was asked ([`UrlChecks`]). Points of what was never asked are neither given
//!   nor lost: the score is the share of the points that could be told, out of 405.
//! - Of several distributions the one with the most points counts for all indicators of distributions, not for
//!   interoperability alone: they are taken for the same content in several forms.
//! - The profile is held by what its shapes make mandatory and by kinds of values ([`Violation`]), not by a SHACL engine:
//!   what the controlled lists and classes of its shapes ask beyond that is not looked at.
//! - Licences, formats and vocabularies are known by lists of the program's own.
//!
//! Two dimensions are our own, 100 points each, and no part of the score: *texts* (languages and the length that Google's
//! dataset search takes) and *content* (statements that could not be read, links, vocabularies, classes, languages), of
//! datasets whose content is held.

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
#[allow(dead_code, reason = "shared with the tests of lodeseek-net, which use all of it")]
mod server;
#[cfg(test)]
mod tests;

pub use assess::assess;
pub use compliance::{Fault, Recommendation, Violation};
pub use dqv::to_dqv;
pub use indicator::{Dimension, Indicator};
pub use overview::{DatasetLabel, DatasetRow, Overview, Problem, PublisherRow};
pub use url_checks::{CheckOptions, UrlCheck, UrlChecks, check};

use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// The points of all scored indicators.
pub const POINTS: u32 = 405;

/// What is known of addresses cannot be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QualityError {
    /// The file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The file is not what this program wrote.
    #[error("{path}: {cause}")]
    Json {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: serde_json::Error,
    },
}

/// Whether an indicator is met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Its points are given.
    Met,
    /// They are not.
    Missed,
    /// It cannot be told.
    Unknown,
}

/// An indicator of one dataset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The indicator.
    pub indicator: Indicator,
    /// Whether it is met.
    pub outcome: Outcome,
    /// Why, in a few words.
    pub reason: String,
}

/// Points given, of those that could be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Points {
    /// Given.
    pub given: u32,
    /// Of so many.
    pub of: u32,
}

impl Points {
    /// The score: the share of the points, out of [`POINTS`], rounded. Nothing where nothing could be told.
    #[must_use]
    pub fn score(self) -> Option<u32> {
        (self.of > 0).then(|| (2 * self.given * POINTS + self.of) / (2 * self.of))
    }
}

/// The ratings of the MQA.
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
    /// The best first.
    pub const ALL: [Self; 4] = [Self::Excellent, Self::Good, Self::Sufficient, Self::Bad];

    /// The band of a score.
    #[must_use]
    pub fn from_score(score: u32) -> Self {
        match score {
            0..=120 => Self::Bad,
            121..=220 => Self::Sufficient,
            221..=350 => Self::Good,
            _ => Self::Excellent,
        }
    }

    /// Its name, in lower case.
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

/// How good a dataset is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assessment {
    /// All indicators, in their order.
    pub findings: Vec<Finding>,
    /// The distribution that counts for indicators of distributions.
    pub distribution: Option<String>,
    /// Breaches of DCAT-AP.
    pub violations: Vec<Violation>,
    /// What DCAT-AP recommends, and is not there.
    pub recommendations: Vec<Recommendation>,
}

impl Assessment {
    /// The points of some dimensions.
    fn points_where(&self, counts: impl Fn(Dimension) -> bool) -> Points {
        let told = self.findings.iter().filter(|finding| counts(finding.indicator.dimension()));
        told.fold(Points::default(), |points, finding| points.with(finding.indicator, finding.outcome))
    }

    /// The points of a dimension.
    #[must_use]
    pub fn points_of(&self, dimension: Dimension) -> Points {
        self.points_where(|other| other == dimension)
    }

    /// The points of the score.
    #[must_use]
    pub fn points(&self) -> Points {
        self.points_where(Dimension::is_scored)
    }

    /// The score, of 405.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.points().score().unwrap_or_default()
    }

    /// Its rating.
    #[must_use]
    pub fn band(&self) -> Band {
        Band::from_score(self.score())
    }

    /// What to do next: what is missed, that with the most points first; what is no part of the score comes last.
    #[must_use]
    pub fn improvements(&self) -> Vec<&Finding> {
        let mut missed: Vec<&Finding> =
            self.findings.iter().filter(|finding| finding.outcome == Outcome::Missed).collect();
        missed.sort_by_key(|finding| {
            let indicator = finding.indicator;
            (!indicator.dimension().is_scored(), std::cmp::Reverse(indicator.weight()), indicator)
        });
        missed
    }
}

impl Points {
    fn with(self, indicator: Indicator, outcome: Outcome) -> Self {
        let weight = indicator.weight();
        match outcome {
            Outcome::Met => Self { given: self.given + weight, of: self.of + weight },
            Outcome::Missed => Self { of: self.of + weight, ..self },
            Outcome::Unknown => self,
        }
    }
}
