//! Quality of all datasets of a catalogue: frequent problems, publishers, lowest scores.

use super::{Assessment, Band, Dimension, Indicator, Outcome, Points};
use lodeseek_catalog::DatasetId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Id, title and publisher of a dataset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatasetLabel {
    /// Id.
    pub id: DatasetId,
    /// Title.
    pub title: String,
    /// Name of the publisher.
    pub publisher: Option<String>,
}

/// Score of one dataset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatasetRow {
    /// Id, title and publisher.
    pub dataset: DatasetLabel,
    /// Points.
    pub points: Points,
    /// Score, from 0 to 405.
    pub score: u32,
}

/// Number of datasets by outcome of one indicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Indicator.
    pub indicator: Indicator,
    /// Datasets that meet the indicator.
    pub met: u64,
    /// Datasets that miss the indicator.
    pub missed: u64,
    /// Datasets without a determined outcome.
    pub unknown: u64,
}

impl Problem {
    fn new(indicator: Indicator) -> Self {
        Self {
            indicator,
            met: 0,
            missed: 0,
            unknown: 0,
        }
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Met => self.met += 1,
            Outcome::Missed => self.missed += 1,
            Outcome::Unknown => self.unknown += 1,
        }
    }

    /// Returns the number of points that the datasets lose.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.missed * u64::from(self.indicator.weight())
    }
}

/// Scores of one publisher's datasets.
#[derive(Clone, PartialEq, Debug)]
pub struct PublisherRow {
    /// Name of the publisher; `None` for datasets without one.
    pub name: Option<String>,
    /// Number of datasets.
    pub datasets: u64,
    /// Mean score.
    pub mean: f64,
    /// Indicator with the most lost points.
    pub worst: Option<Problem>,
}

struct Tally {
    datasets: u64,
    scores: u64,
    problems: Vec<Problem>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            datasets: 0,
            scores: 0,
            problems: Indicator::all().map(Problem::new).collect(),
        }
    }
}

impl Tally {
    fn add(&mut self, assessment: &Assessment) {
        self.datasets += 1;
        self.scores += u64::from(assessment.score());
        for finding in &assessment.findings {
            // The counts have the order of the enum.
            self.problems[finding.indicator as usize].add(finding.outcome);
        }
    }

    fn mean(&self) -> f64 {
        if self.datasets == 0 {
            0.0
        } else {
            self.scores as f64 / self.datasets as f64
        }
    }

    /// Returns the indicators by descending number of lost points. Those outside of the score come last.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        problems.sort_by_key(|problem| {
            (
                !problem.indicator.dimension().is_scored(),
                Reverse(problem.lost()),
                problem.indicator,
            )
        });
        problems
    }
}

/// Counts and means over datasets. The order in which datasets are added has no effect.
#[derive(Default)]
pub struct Overview {
    rows: Vec<DatasetRow>,
    all: Tally,
    publishers: BTreeMap<Option<String>, Tally>,
}

impl Overview {
    /// Adds a dataset.
    pub fn add(&mut self, named: DatasetLabel, assessment: &Assessment) {
        self.all.add(assessment);
        self.publishers
            .entry(named.publisher.clone())
            .or_default()
            .add(assessment);
        self.rows.push(DatasetRow {
            dataset: named,
            points: assessment.points(),
            score: assessment.score(),
        });
    }

    /// Returns the number of datasets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// If true, there are no datasets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the mean score.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.all.mean()
    }

    /// Returns the mean share of the points of a dimension, of those that could be determined.
    #[must_use]
    pub fn share_of(&self, dimension: Dimension) -> Option<f64> {
        let (mut met, mut checked) = (0, 0);
        for problem in &self.all.problems {
            if problem.indicator.dimension() == dimension {
                let weight = u64::from(problem.indicator.weight());
                met += problem.met * weight;
                checked += (problem.met + problem.missed) * weight;
            }
        }
        (checked > 0).then(|| met as f64 / checked as f64)
    }

    /// Returns the mean share of the points of a dimension in percent, rounded half up: the number that people are shown.
    #[must_use]
    pub fn percent_of(&self, dimension: Dimension) -> Option<u32> {
        self.share_of(dimension).map(round_percent)
    }

    /// Returns the number of datasets of each band, best band first.
    #[must_use]
    pub fn bands(&self) -> [(Band, usize); 4] {
        Band::ALL.map(|band| {
            (
                band,
                self.rows
                    .iter()
                    .filter(|row| Band::from_score(row.score) == band)
                    .count(),
            )
        })
    }

    /// Returns the indicators by descending number of lost points. Those outside of the score come last.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.all.problems()
    }

    /// Returns the publishers by descending number of datasets.
    #[must_use]
    pub fn publishers(&self) -> Vec<PublisherRow> {
        let mut rows: Vec<PublisherRow> = self
            .publishers
            .iter()
            .map(|(name, tally)| PublisherRow {
                name: name.clone(),
                datasets: tally.datasets,
                mean: tally.mean(),
                worst: tally
                    .problems()
                    .first()
                    .copied()
                    // Without losses, the first one is not a problem.
                    .filter(|problem| problem.missed > 0),
            })
            .collect();
        rows.sort_by(|a, b| (Reverse(a.datasets), &a.name).cmp(&(Reverse(b.datasets), &b.name)));
        rows
    }

    /// Returns the datasets with the lowest scores, lowest first, then by id.
    #[must_use]
    pub fn worst(&self, max_rows: usize) -> Vec<&DatasetRow> {
        let mut rows: Vec<&DatasetRow> = self.rows.iter().collect();
        rows.sort_by(|a, b| (a.score, &a.dataset.id).cmp(&(b.score, &b.dataset.id)));
        rows.truncate(max_rows);
        rows
    }
}

/// Returns a share in percent, rounded half up. Formatting with `{:.0}` rounds half to even instead.
fn round_percent(share: f64) -> u32 {
    (100.0 * share).round() as u32
}

#[cfg(test)]
mod tests {
    use super::round_percent;

    #[test]
    fn halves_are_rounded_up() {
        assert_eq!(
            [0.0, 0.624, 0.725, 0.735, 1.0].map(round_percent),
            [0, 62, 73, 74, 100]
        );
    }
}
