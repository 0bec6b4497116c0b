//! The datasets of a catalogue together: what most of them lack, and whose they are.

use super::{Assessment, Band, Dimension, Indicator, Outcome, Points};
use lodeseek_catalog::DatasetId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a dataset is called, and who publishes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatasetLabel {
    /// Its id.
    pub id: DatasetId,
    /// Its title.
    pub title: String,
    /// The name of its publisher.
    pub publisher: Option<String>,
}

/// A dataset among others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatasetRow {
    /// What it is called.
    pub dataset: DatasetLabel,
    /// Its points.
    pub points: Points,
    /// Of 405.
    pub score: u32,
}

/// How datasets do on an indicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The indicator.
    pub indicator: Indicator,
    /// Datasets that meet it.
    pub met: u64,
    /// Datasets that miss it.
    pub missed: u64,
    /// Datasets of which it cannot be told.
    pub unknown: u64,
}

impl Problem {
    fn new(indicator: Indicator) -> Self {
        Self { indicator, met: 0, missed: 0, unknown: 0 }
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Met => self.met += 1,
            Outcome::Missed => self.missed += 1,
            Outcome::Unknown => self.unknown += 1,
        }
    }

    /// The points that datasets lose by it.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.missed * u64::from(self.indicator.weight())
    }
}

/// The datasets of one publisher.
#[derive(Clone, PartialEq, Debug)]
pub struct PublisherRow {
    /// Its name; nothing for datasets that tell none.
    pub name: Option<String>,
    /// How many they are.
    pub datasets: u64,
    /// Their mean score.
    pub mean: f64,
    /// What costs them most.
    pub worst: Option<Problem>,
}

struct Tally {
    datasets: u64,
    scores: u64,
    problems: Vec<Problem>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { datasets: 0, scores: 0, problems: Indicator::all().map(Problem::new).collect() }
    }
}

impl Tally {
    fn add(&mut self, assessment: &Assessment) {
        self.datasets += 1;
        self.scores += u64::from(assessment.score());
        for finding in &assessment.findings {
            self.problems[finding.indicator as usize].add(finding.outcome);
        }
    }

    fn mean(&self) -> f64 {
        if self.datasets == 0 { 0.0 } else { self.scores as f64 / self.datasets as f64 }
    }

    /// What costs most points first; what is no part of the score behind.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        problems.sort_by_key(|problem| {
            (!problem.indicator.dimension().is_scored(), Reverse(problem.lost()), problem.indicator)
        });
        problems
    }
}

/// Counts and means over datasets. The order in which they are added does not matter.
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
        self.publishers.entry(named.publisher.clone()).or_default().add(assessment);
        self.rows.push(DatasetRow { dataset: named, points: assessment.points(), score: assessment.score() });
    }

    /// How many datasets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The mean score.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.all.mean()
    }

    /// The mean share of the points of a dimension, of those that could be told.
    #[must_use]
    pub fn share_of(&self, dimension: Dimension) -> Option<f64> {
        let of_dimension = || self.all.problems.iter().filter(|problem| problem.indicator.dimension() == dimension);
        let sum = |count: fn(&Problem) -> u64| -> u64 {
            of_dimension().map(|problem| count(problem) * u64::from(problem.indicator.weight())).sum()
        };
        let told = sum(|problem| problem.met + problem.missed);
        (told > 0).then(|| sum(|problem| problem.met) as f64 / told as f64)
    }

    /// How many datasets each band has, the best first.
    #[must_use]
    pub fn bands(&self) -> [(Band, usize); 4] {
        Band::ALL.map(|band| (band, self.rows.iter().filter(|row| Band::from_score(row.score) == band).count()))
    }

    /// The indicators, those that cost most points first; those that are no part of the score behind.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.all.problems()
    }

    /// The publishers, those with most datasets first.
    #[must_use]
    pub fn publishers(&self) -> Vec<PublisherRow> {
        let mut rows: Vec<PublisherRow> = self
            .publishers
            .iter()
            .map(|(name, tally)| PublisherRow {
                name: name.clone(),
                datasets: tally.datasets,
                mean: tally.mean(),
                worst: tally.problems().first().copied().filter(|problem| problem.missed > 0),
            })
            .collect();
        rows.sort_by(|a, b| (Reverse(a.datasets), &a.name).cmp(&(Reverse(b.datasets), &b.name)));
        rows
    }

    /// The datasets with the lowest scores, the lowest first, then by id.
    #[must_use]
    pub fn worst(&self, most: usize) -> Vec<&DatasetRow> {
        let mut rows: Vec<&DatasetRow> = self.rows.iter().collect();
        rows.sort_by(|a, b| (a.score, &a.dataset.id).cmp(&(b.score, &b.dataset.id)));
        rows.truncate(most);
        rows
    }
}
