//! The ICLR benchmark: k-NN classification of papers by vectors of their abstracts.
//!
//! R. González-Márquez and D. Kobak, *Learning representations of learning representations*, 2024. Every submission to
//! the conference is labelled by its keywords. The accuracy is the share of labelled papers whose label is the majority
//! of their ten nearest neighbours, over ten folds. It is measured on the vectors and on their two-dimensional maps.
//! The accuracy of a single map varies with its start: maps of 1,458 papers from mirrored starts differ by up to four
//! percentage points. Four maps are computed, and their mean is reported.

mod parquet_file;
mod papers;
mod vectors;

pub use papers::{KeywordLabels, Paper};
pub use vectors::Vectors;

use super::condition::Average;
use super::experiment::{describe_needed_data, read_experiment_file};
use super::report::{Cell, Report, RowReport, TableReport};
use crate::neighbors::{DenseRows, Rows, cross_val_predict, stratified_folds};
use anyhow::{Context, ensure};
use lodeseek_eval::digest;
use lodeseek_eval::mean;
use lodeseek_rerank::Encoder;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use vectors::Representation;

/// The ICLR experiment: its papers, its rows and their expected accuracies. All paths are relative to the data folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Iclr {
    /// Name of the file without `.toml`.
    #[serde(skip)]
    pub name: String,
    #[serde(rename = "task")]
    _task: String,
    /// Title in a few words.
    pub title: String,
    /// Description in a few sentences.
    pub about: String,
    /// Shell command that runs the experiment.
    pub command: String,
    /// Source of the data.
    pub get: String,
    /// The papers, as JSON lines or Parquet.
    pub papers: PathBuf,
    /// Map of keywords to labels.
    pub keywords: PathBuf,
    /// Required counts of the papers.
    pub counts: Counts,
    /// SHA-256 digests of the files.
    pub sha256: BTreeMap<PathBuf, String>,
    /// The table of accuracies.
    pub table: Table,
    /// The published table.
    pub printed: Printed,
}

/// Required counts of the papers. They are verified before accuracies are computed.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Number of papers.
    pub papers: usize,
    /// Number of papers with a label.
    pub labelled: usize,
    /// Number of distinct labels.
    pub labels: usize,
}

/// A table of expected accuracies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Identifier within the experiment, for quoting.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Source of the expected and the published numbers.
    pub source: String,
    /// Rows.
    pub rows: Vec<Row>,
}

/// A row and its expected accuracies, in all dimensions and in two.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the row; for an encoder, the name of the model.
    pub name: String,
    /// Method that computes the vectors.
    pub vectors: Vectors,
    /// Accuracies measured by this program.
    pub expected: [f64; 2],
}

/// Accuracies that the publication prints for the whole collection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Number of papers of the whole collection. Fewer papers have other accuracies for a known reason.
    pub papers: usize,
    /// Rows of the printed table.
    pub rows: Vec<PrintedRow>,
}

/// Row of the printed table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedRow {
    /// Name of the row: that of a row of the experiment, or that of an encoder's folder.
    pub name: String,
    /// Accuracies in all dimensions and in two, with three decimals.
    pub accuracies: [f64; 2],
}

/// Progress of the experiment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum IclrProgress<'i> {
    /// A row is being computed.
    Row(&'i str),
    /// Number of encoded abstracts, and number of all abstracts.
    Encoded(usize, usize),
    /// A row is skipped, because no encoder was given.
    Skipped(&'i str),
}

/// Input of the experiment.
pub struct IclrInput<'i> {
    /// The data folder.
    pub data: &'i Path,
    /// Other papers than the experiment's. They are measured without verification and without expected accuracies.
    pub papers: Option<&'i Path>,
    /// Model of the encoder's row.
    pub encoder: Option<&'i dyn Encoder>,
}

/// Two-dimensional map of a row's vectors.
#[derive(Clone, PartialEq, Debug)]
pub struct PaperMap {
    /// Name of the row.
    pub row: String,
    /// k-NN accuracy in this map. The table contains the mean of four maps instead.
    pub accuracy: f64,
    /// Position of every paper.
    pub points: Vec<[f32; 2]>,
    /// Label of every paper.
    pub labels: Vec<Option<String>>,
}

/// Columns of the table.
const MEASURES: [&str; 2] = ["all dimensions", "2-D"];

impl Iclr {
    /// Number of neighbours that vote.
    pub const NEIGHBOR_COUNT: usize = 10;
    /// Number of folds.
    pub const FOLD_COUNT: usize = 10;

    /// Reads an experiment file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let (mut iclr, name) = read_experiment_file::<Self>(path)?;
        iclr.name = name;
        Ok(iclr)
    }

    /// Verifies the papers, then computes every row. The map is the first one of the row with the best mean accuracy in
    /// the plane.
    ///
    /// # Errors
    ///
    /// Fails if data are missing or differ from the expected counts and digests, or if vectors cannot be computed.
    pub fn reproduce(
        &self,
        input: &IclrInput<'_>,
        progress: &dyn Fn(IclrProgress<'_>),
    ) -> anyhow::Result<(Report, Option<PaperMap>)> {
        let papers = self.read_papers(input)?;
        let benchmark = Benchmark::new(&papers)?;
        let (mut rows, mut best) = (Vec::new(), None::<(f64, PaperMap)>);
        for row in &self.table.rows {
            let Some(name) = row.find_name(input) else {
                progress(IclrProgress::Skipped(&row.name));
                continue;
            };
            progress(IclrProgress::Row(&name));
            let representation =
                vectors::compute(row.vectors, &benchmark.texts, input.encoder, progress)?;
            let judged = benchmark.judge(&representation)?;
            let (mean, map) = (
                benchmark.accuracy(&judged.plane),
                benchmark.map(&name, &judged),
            );
            // Another model or other papers have other accuracies.
            let expected = (name == row.name && input.papers.is_none()).then_some(row.expected);
            rows.push(benchmark.report(name, expected, &judged));
            best = best.filter(|(best, _)| *best >= mean).or(Some((mean, map)));
        }
        Ok((
            self.report(&benchmark.counts, rows),
            best.map(|(_, map)| map),
        ))
    }

    fn read_papers(&self, input: &IclrInput<'_>) -> anyhow::Result<Vec<Paper>> {
        let labels = KeywordLabels::read(&input.data.join(&self.keywords))
            .with_context(|| self.describe_needed_data(input.data))?;
        if let Some(path) = input.papers {
            return papers::read(path, &labels);
        }
        for (path, expected) in &self.sha256 {
            let found = digest(&input.data.join(path))
                .with_context(|| self.describe_needed_data(input.data))?;
            ensure!(
                found == *expected,
                "{} is not the one expected: its SHA-256 is {found}, not {expected}",
                path.display()
            );
        }
        let papers = papers::read(&input.data.join(&self.papers), &labels)
            .with_context(|| self.describe_needed_data(input.data))?;
        let counts = Counts::from_papers(&papers);
        ensure!(
            counts == self.counts,
            "{} instead of {}",
            counts.sentence(),
            self.counts.sentence()
        );
        Ok(papers)
    }

    fn report(&self, counts: &Counts, rows: Vec<RowReport>) -> Report {
        let printed = self.printed_table(counts, &rows);
        let measured = TableReport {
            id: self.table.id.clone(),
            title: self.table.title.clone(),
            source: self.table.source.clone(),
            average: Some(Average::Macro),
            measures: MEASURES.map(str::to_owned).to_vec(),
            rows,
        };
        Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection: counts.sentence(),
            tables: vec![measured, printed],
            rankings: Vec::new(),
        }
    }

    fn describe_needed_data(&self, data: &Path) -> String {
        describe_needed_data(&self.name, data, &self.get)
    }

    /// Compares the printed table with the rows of the same names.
    fn printed_table(&self, counts: &Counts, rows: &[RowReport]) -> TableReport {
        let is_whole = counts.papers == self.printed.papers;
        let mut compared = Vec::with_capacity(self.printed.rows.len());
        for printed in &self.printed.rows {
            let found = rows.iter().find(|row| row.name == printed.name);
            let mut cells = Vec::with_capacity(printed.accuracies.len());
            for (column, &accuracy) in printed.accuracies.iter().enumerate() {
                let measured = found.map(|row| row.cells[column].measured);
                let is_known = !is_whole || found.is_none();
                cells.push(Cell::from_print(accuracy, measured, is_known));
            }
            compared.push(RowReport {
                name: printed.name.clone(),
                fused: false,
                cells,
                note: None,
                by_topic: Vec::new(),
                against: Vec::new(),
                decisions: Vec::new(),
            });
        }
        let reason = match is_whole {
            true => "Known differences: no model of this name was given (`--dpr`).".to_owned(),
            false => format!(
                "Known differences: {} of {} papers, or no model of this name was given (`--dpr`).",
                counts.papers, self.printed.papers
            ),
        };
        TableReport {
            id: "printed".to_owned(),
            title: "The published table".to_owned(),
            source: format!("In brackets the print, with three decimals. {reason}"),
            average: Some(Average::Macro),
            measures: MEASURES.map(str::to_owned).to_vec(),
            rows: compared,
        }
    }
}

impl Row {
    /// Returns the name of the row if it can be computed. The name of an encoder's row is that of the given model.
    fn find_name(&self, input: &IclrInput<'_>) -> Option<String> {
        match self.vectors {
            Vectors::Encoder => input.encoder.map(|encoder| encoder.name().to_owned()),
            _ => Some(self.name.clone()),
        }
    }
}

impl Counts {
    fn from_papers(papers: &[Paper]) -> Self {
        let labels = papers.iter().filter_map(|paper| paper.label.as_ref());
        Self {
            papers: papers.len(),
            labelled: labels.clone().count(),
            labels: labels.collect::<BTreeSet<_>>().len(),
        }
    }

    fn sentence(&self) -> String {
        format!(
            "{} papers, {} of them with one of {} labels, {} folds",
            self.papers,
            self.labelled,
            self.labels,
            Iclr::FOLD_COUNT
        )
    }
}

/// Papers prepared for k-NN classification. Vectors are computed from all abstracts; neighbours are searched among the
/// labelled ones.
struct Benchmark<'p> {
    papers: &'p [Paper],
    counts: Counts,
    texts: Vec<&'p str>,
    labelled: Vec<usize>,
    labels: Vec<&'p str>,
    folds: Vec<usize>,
}

impl<'p> Benchmark<'p> {
    fn new(papers: &'p [Paper]) -> anyhow::Result<Self> {
        let labelled: Vec<usize> = (0..papers.len())
            .filter(|&place| papers[place].label.is_some())
            .collect();
        let labels: Vec<&str> = labelled
            .iter()
            .filter_map(|&place| papers[place].label.as_deref())
            .collect();
        let folds = stratified_folds(&labels, Iclr::FOLD_COUNT)?;
        let texts = papers.iter().map(|paper| paper.text.as_str()).collect();
        Ok(Self {
            papers,
            counts: Counts::from_papers(papers),
            texts,
            labelled,
            labels,
            folds,
        })
    }

    fn judge(&self, representation: &Representation) -> anyhow::Result<RowResult> {
        let planes = representation.maps()?;
        let all = match representation {
            Representation::Sparse { rows, .. } => self.hits(rows),
            Representation::Dense(rows) => self.hits(rows),
        };
        let by_plane: Vec<Vec<f64>> = planes.iter().map(|plane| self.hits(plane)).collect();
        let mut plane = Vec::with_capacity(self.labelled.len());
        for paper in 0..self.labelled.len() {
            let hits: Vec<f64> = by_plane.iter().map(|hits| hits[paper]).collect();
            plane.push(mean(&hits));
        }
        let accuracies = by_plane.iter().map(|hits| self.accuracy(hits)).collect();
        let [first, ..] = planes;
        Ok(RowResult {
            all,
            plane,
            accuracies,
            first,
        })
    }

    fn map(&self, row: &str, result: &RowResult) -> PaperMap {
        PaperMap {
            row: row.to_owned(),
            accuracy: result.accuracies[0],
            points: result
                .first
                .iter()
                .map(|point| [point[0], point[1]])
                .collect(),
            labels: self
                .papers
                .iter()
                .map(|paper| paper.label.clone())
                .collect(),
        }
    }

    /// Returns 1 for each labelled paper whose neighbours predict its label, else 0.
    fn hits<R: Rows>(&self, rows: &R) -> Vec<f64> {
        let predicted = cross_val_predict(
            &rows.select(&self.labelled),
            &self.labels,
            &self.folds,
            Iclr::NEIGHBOR_COUNT,
        );
        let mut hits = Vec::with_capacity(predicted.len());
        for (predicted, label) in predicted.iter().zip(&self.labels) {
            hits.push(if *predicted == Some(*label) { 1.0 } else { 0.0 });
        }
        hits
    }

    /// Returns the mean over folds of the share of hits.
    fn accuracy(&self, hits: &[f64]) -> f64 {
        let mut means = Vec::with_capacity(Iclr::FOLD_COUNT);
        for fold in 0..Iclr::FOLD_COUNT {
            let tested = hits
                .iter()
                .zip(&self.folds)
                .filter(|(_, other)| **other == fold);
            means.push(mean(&tested.map(|(hit, _)| *hit).collect::<Vec<_>>()));
        }
        mean(&means)
    }

    fn report(&self, name: String, expected: Option<[f64; 2]>, result: &RowResult) -> RowReport {
        let (mut cells, mut by_topic) = (Vec::new(), Vec::new());
        for (measure, hits) in [&result.all, &result.plane].into_iter().enumerate() {
            let measured = self.accuracy(hits);
            let expected = expected.map(|accuracies| accuracies[measure]);
            cells.push(Cell::with_optional_expectation(expected, measured));
            let papers = self
                .labelled
                .iter()
                .map(|&place| self.papers[place].id.clone());
            by_topic.push(papers.zip(hits.iter().copied()).collect());
        }
        let each: Vec<String> = result
            .accuracies
            .iter()
            .map(|accuracy| format!("{accuracy:.4}"))
            .collect();
        RowReport {
            name,
            fused: false,
            cells,
            note: Some(format!("maps: {}", each.join(" "))),
            by_topic,
            against: Vec::new(),
            decisions: Vec::new(),
        }
    }
}

/// Results of a row.
struct RowResult {
    /// In all dimensions: 1 or 0 for each labelled paper.
    all: Vec<f64>,
    /// In the plane: the share of maps that predict the paper's label.
    plane: Vec<f64>,
    /// Accuracy of each map.
    accuracies: Vec<f64>,
    /// The first map.
    first: DenseRows,
}

#[cfg(test)]
mod tests;
