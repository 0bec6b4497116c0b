//! The ICLR benchmark: how well vectors of abstracts tell what papers are about.
//!
//! González-Márquez and Kobak, "Learning representations of learning representations" (2024): every submission to the
//! conference, labelled by its keywords, and the share of labelled papers whose label their ten nearest neighbours vote
//! for, over ten folds; by the vectors as they are, and by maps of them in the plane. One map's accuracy is as much luck as
//! merit: begun from mirror images, maps of 1,458 papers differ by up to four points in a hundred. So four are drawn, and
//! their mean is told.

mod columns;
mod papers;
mod vectors;

pub use papers::{KeywordLabels, Paper};
pub use vectors::Vectors;

use super::condition::Average;
use super::report::{Cell, Report, RowReport, TableReport};
use crate::neighbors::{DenseRows, Rows, predicted, stratified};
use anyhow::{Context, ensure};
use lodeseek_eval::digest;
use lodeseek_eval::mean;
use lodeseek_rerank::Encoder;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use vectors::Representation;

/// The experiment: its papers, its rows and the accuracies expected of them. All paths are relative to the data folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Iclr {
    /// The name of its file, without `.toml`.
    #[serde(skip)]
    pub name: String,
    #[serde(rename = "task")]
    _task: String,
    /// In a few words.
    pub title: String,
    /// In a few sentences.
    pub about: String,
    /// What to type.
    pub command: String,
    /// How to get the data.
    pub get: String,
    /// The papers, as JSON lines or Parquet.
    pub papers: PathBuf,
    /// Which keywords make which labels.
    pub keywords: PathBuf,
    /// What must be true of the papers.
    pub counts: Counts,
    /// Of files.
    pub sha256: BTreeMap<PathBuf, String>,
    /// The one table.
    pub table: Table,
}

/// What must be true of the papers before a number is believed.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// All of them.
    pub papers: usize,
    /// Those with a label.
    pub labelled: usize,
    /// Different labels.
    pub labels: usize,
}

/// A table of expected accuracies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// A name for it within the experiment, for quoting.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Where the expected and the published numbers come from.
    pub source: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row and the accuracies expected of it, in all dimensions and in two.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name; of an encoder, the model's.
    pub name: String,
    /// What makes its vectors.
    pub vectors: Vectors,
    /// Measured by this program.
    pub expected: [f64; 2],
    /// Published for the whole collection.
    pub published: Option<[f64; 2]>,
}

/// How far the experiment is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum IclrProgress<'i> {
    /// A row is being computed.
    Row(&'i str),
    /// So many abstracts of all are encoded.
    Encoded(usize, usize),
    /// A row is left out, since no encoder was given.
    Skipped(&'i str),
}

/// What is measured, and by what.
pub struct IclrInput<'i> {
    /// The data folder.
    pub data: &'i Path,
    /// Other papers than the experiment's: nothing is verified or expected of them.
    pub papers: Option<&'i Path>,
    /// The model of an encoder's row.
    pub encoder: Option<&'i dyn Encoder>,
}

/// The papers of a row in the plane.
#[derive(Clone, PartialEq, Debug)]
pub struct PaperMap {
    /// The row.
    pub row: String,
    /// The accuracy by neighbours in this plane; of a table's row, it is the mean of four maps.
    pub accuracy: f64,
    /// Where every paper is.
    pub points: Vec<[f32; 2]>,
    /// Its label.
    pub labels: Vec<Option<String>>,
}

/// The columns.
const MEASURES: [&str; 2] = ["all dimensions", "2-D"];

impl Iclr {
    /// Neighbours that vote.
    pub const NEIGHBORS: usize = 10;
    /// Folds, as many.
    pub const FOLDS: usize = 10;

    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("no condition at {}", path.display()))?;
        let mut iclr: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        iclr.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(iclr)
    }

    /// Verifies the papers, then computes every row; the map is the first of the row whose planes tell labels best.
    pub fn reproduce(
        &self,
        input: &IclrInput<'_>,
        progress: &dyn Fn(IclrProgress<'_>),
    ) -> anyhow::Result<(Report, Option<PaperMap>)> {
        let papers = self.verified(input)?;
        let bench = Bench::new(&papers)?;
        let (mut rows, mut best) = (Vec::new(), None::<(f64, PaperMap)>);
        for row in &self.table.rows {
            let Some(name) = row.named(input) else {
                progress(IclrProgress::Skipped(&row.name));
                continue;
            };
            progress(IclrProgress::Row(&name));
            let representation = vectors::of(row.vectors, &bench.texts, input.encoder, progress)?;
            let judged = bench.judge(&representation)?;
            let (mean, map) = (bench.accuracy(&judged.plane), bench.map(&name, &judged));
            let expected = (name == row.name && input.papers.is_none()).then_some(row.expected);
            rows.push(bench.report(name, row, expected, &judged));
            best = best.filter(|(best, _)| *best >= mean).or(Some((mean, map)));
        }
        Ok((self.report(bench.counts.sentence(), rows), best.map(|(_, map)| map)))
    }

    fn verified(&self, input: &IclrInput<'_>) -> anyhow::Result<Vec<Paper>> {
        let advice = || format!("{} needs its data under {} ({})", self.name, input.data.display(), self.get.trim());
        let labels = KeywordLabels::read(&input.data.join(&self.keywords)).with_context(advice)?;
        if let Some(path) = input.papers {
            return papers::read(path, &labels);
        }
        for (path, expected) in &self.sha256 {
            let found = digest(&input.data.join(path)).with_context(advice)?;
            ensure!(found == *expected, "{} is not the one expected: SHA-256 {found}, not {expected}", path.display());
        }
        let papers = papers::read(&input.data.join(&self.papers), &labels).with_context(advice)?;
        let counts = Counts::of(&papers);
        ensure!(counts == self.counts, "{} instead of {}", counts.sentence(), self.counts.sentence());
        Ok(papers)
    }

    fn report(&self, collection: String, rows: Vec<RowReport>) -> Report {
        Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection,
            tables: vec![TableReport {
                id: self.table.id.clone(),
                title: self.table.title.clone(),
                source: self.table.source.clone(),
                average: Average::Macro,
                measures: MEASURES.map(str::to_owned).to_vec(),
                rows,
            }],
        }
    }
}

impl Row {
    /// Its name, where it can be computed: an encoder's is that of the model at hand.
    fn named(&self, input: &IclrInput<'_>) -> Option<String> {
        match self.vectors {
            Vectors::Encoder => input.encoder.map(|encoder| encoder.name().to_owned()),
            _ => Some(self.name.clone()),
        }
    }
}

impl Counts {
    fn of(papers: &[Paper]) -> Self {
        let labels = papers.iter().filter_map(|paper| paper.label.as_ref());
        Self { papers: papers.len(), labelled: labels.clone().count(), labels: labels.collect::<BTreeSet<_>>().len() }
    }

    fn sentence(&self) -> String {
        format!(
            "{} papers, {} of them with one of {} labels, {} folds",
            self.papers,
            self.labelled,
            self.labels,
            Iclr::FOLDS
        )
    }
}

/// Papers, and how their vectors are judged: vectors are made of all abstracts, neighbours are sought among the labelled.
struct Bench<'p> {
    papers: &'p [Paper],
    counts: Counts,
    texts: Vec<&'p str>,
    labelled: Vec<usize>,
    labels: Vec<&'p str>,
    folds: Vec<usize>,
}

impl<'p> Bench<'p> {
    fn new(papers: &'p [Paper]) -> anyhow::Result<Self> {
        let labelled: Vec<usize> = (0..papers.len()).filter(|&place| papers[place].label.is_some()).collect();
        let labels: Vec<&str> = labelled.iter().filter_map(|&place| papers[place].label.as_deref()).collect();
        let folds = stratified(&labels, Iclr::FOLDS)?;
        let texts = papers.iter().map(|paper| paper.text.as_str()).collect();
        Ok(Self { papers, counts: Counts::of(papers), texts, labelled, labels, folds })
    }

    fn judge(&self, representation: &Representation) -> anyhow::Result<Judged> {
        let planes = representation.planes()?;
        let all = match representation {
            Representation::Sparse { rows, .. } => self.hits(rows),
            Representation::Dense(rows) => self.hits(rows),
        };
        let by_plane: Vec<Vec<f64>> = planes.iter().map(|plane| self.hits(plane)).collect();
        let of_paper = |paper: usize| mean(&by_plane.iter().map(|hits| hits[paper]).collect::<Vec<_>>());
        let plane = (0..self.labelled.len()).map(of_paper).collect();
        let accuracies = by_plane.iter().map(|hits| self.accuracy(hits)).collect();
        let [first, ..] = planes;
        Ok(Judged { all, plane, accuracies, first })
    }

    fn map(&self, row: &str, judged: &Judged) -> PaperMap {
        PaperMap {
            row: row.to_owned(),
            accuracy: judged.accuracies[0],
            points: judged.first.iter().map(|point| [point[0], point[1]]).collect(),
            labels: self.papers.iter().map(|paper| paper.label.clone()).collect(),
        }
    }

    /// Of each labelled paper, 1 where its neighbours tell its label, else 0.
    fn hits<R: Rows>(&self, rows: &R) -> Vec<f64> {
        let predicted = predicted(&rows.select(&self.labelled), &self.labels, &self.folds, Iclr::NEIGHBORS);
        let told = |(found, label): (&Option<&str>, &&str)| if *found == Some(*label) { 1.0 } else { 0.0 };
        predicted.iter().zip(&self.labels).map(told).collect()
    }

    /// The mean over folds of the share of hits.
    fn accuracy(&self, hits: &[f64]) -> f64 {
        let of = |fold: usize| {
            let tested = hits.iter().zip(&self.folds).filter(|(_, other)| **other == fold);
            mean(&tested.map(|(hit, _)| *hit).collect::<Vec<_>>())
        };
        mean(&(0..Iclr::FOLDS).map(of).collect::<Vec<_>>())
    }

    fn report(&self, name: String, row: &Row, expected: Option<[f64; 2]>, judged: &Judged) -> RowReport {
        let hits = [&judged.all, &judged.plane];
        let cell = |(measure, hits): (usize, &&Vec<f64>)| {
            let measured = self.accuracy(hits);
            expected.map_or_else(|| Cell::unexpected(measured), |expected| Cell::new(expected[measure], measured))
        };
        let by_paper = |hits: &&Vec<f64>| {
            let papers = self.labelled.iter().map(|&place| self.papers[place].id.clone());
            papers.zip(hits.iter().copied()).collect()
        };
        let published = row.published.filter(|_| name == row.name);
        let each: Vec<String> = judged.accuracies.iter().map(|accuracy| format!("{accuracy:.4}")).collect();
        RowReport {
            name,
            fused: false,
            cells: hits.iter().enumerate().map(cell).collect(),
            published: published.map_or(Vec::new(), |published| published.map(Some).to_vec()),
            note: Some(format!("maps: {}", each.join(" "))),
            by_topic: hits.iter().map(by_paper).collect(),
            against: Vec::new(),
        }
    }
}

/// How a row's vectors tell labels.
struct Judged {
    /// In all dimensions: of each labelled paper, 1 or 0.
    all: Vec<f64>,
    /// In the plane: the share of maps that tell it.
    plane: Vec<f64>,
    /// Of each map.
    accuracies: Vec<f64>,
    /// The first map.
    first: DenseRows,
}

#[cfg(test)]
mod tests;
