//! Conditions: retrieval experiments with expected scores, one TOML file each.

use super::dsebench::{self, ExplanationTable};
use super::experiment::{
    ExperimentModels, check_mandatory_keys, describe_needed_data, read_experiment_file,
};
use super::field_weights::{FieldPools, WeightProgress, WeightTuning};
use super::report::{
    Cell, Decision, RankCell, RankingColumn, RankingReport, Report, RowComparison, RowReport,
    TableReport,
};
use super::reranking::{Encoders, RerankSpec};
use super::tuning::{FusionTuning, LearnOn, TuningProgress, find_first_equal_runs};
use super::verification::{Collection, VerifiedCollection};
use anyhow::{Context, bail, ensure};
use lodeseek_engine::Searcher;
use lodeseek_eval::CoordinateSearch;
use lodeseek_eval::{Comparison, Differences, Metric, Run, SignificanceTest, Topic, holm, mean};
use lodeseek_index::sparse::{FieldSet, FieldWeights, LengthMode, ModelKind, SparseModel};
use lodeseek_ranking::Ranking;
use lodeseek_rerank::{Fusion, Method};
use serde::{Deserialize, Deserializer, de};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A retrieval experiment: its collection, its tables and their expected scores. All paths are relative to the data
/// folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Name of the file without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Title in a few words.
    pub title: String,
    /// Description in a few sentences.
    pub about: String,
    /// Shell command that runs the condition.
    pub command: String,
    /// Source of the data.
    pub get: String,
    /// Models whose scores are expected. If absent, those of the index.
    #[serde(default)]
    pub models: ExperimentModels,
    /// Reason why the condition has not been run yet, if so.
    pub awaits: Option<String>,
    /// Judgements and folds, with the counts that are verified.
    pub collection: Collection,
    /// Tables of expected scores.
    pub tables: Vec<Table>,
    /// Printed rankings of single topics.
    #[serde(default)]
    pub rankings: Vec<PrintedRankings>,
    /// Scores of published explanations.
    #[serde(default)]
    pub explanations: Vec<ExplanationTable>,
}

/// Printed rankings of a topic.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedRankings {
    /// Identifier within the condition, for quoting.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Source of the expected rankings.
    pub source: String,
    /// The topic.
    pub topic: String,
    /// Runs and their printed rankings.
    pub columns: Vec<PrintedRanking>,
}

/// A run and its printed ranking of a topic.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedRanking {
    /// Name of the run.
    pub name: String,
    /// The run file.
    pub run: PathBuf,
    /// Identifiers of the printed datasets, the first rank first.
    pub expected: Vec<String>,
    /// Ranks, counted from 1, at which the run differs from the print for a known reason.
    #[serde(default)]
    pub known: Vec<RankErratum>,
}

/// A rank at which a published run differs from the print.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankErratum {
    /// The rank, counted from 1.
    pub rank: usize,
    /// The dataset of the run at this rank. Any other dataset fails.
    pub found: String,
    /// Explanation of the difference.
    pub reason: String,
}

/// A table of expected scores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Identifier within the condition, for quoting.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Source of the expected numbers.
    pub source: String,
    /// Averaging of topics.
    pub average: Average,
    /// Measures, one a column.
    #[serde(deserialize_with = "by_name")]
    pub measures: Vec<Metric>,
    /// Rows.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// Further rows, listed in a file of scores.
    pub listed: Option<ScoreFile>,
    /// Cells whose published number is known to be wrong.
    #[serde(default, rename = "known")]
    pub errata: Vec<Erratum>,
}

/// Averaging of topics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// The mean over all judged topics. A topic without a ranking counts as 0.
    Micro,
    /// The mean over folds of the means over their test topics.
    Macro,
}

/// A row and its expected scores.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RowFile")]
pub struct Row {
    /// Name of the row.
    pub name: String,
    /// Source of the rankings.
    pub source: RankingSource,
    /// Scores in the order of the measures; empty if nothing is expected.
    pub expected: Vec<f64>,
    /// Rows that this row is compared with in significance tests, topic by topic.
    pub against: Vec<String>,
    /// Published decisions of significance, in the order of the measures: true for an improvement over the one row of
    /// `against` with p < .05 by the paired t-test, without correction. Empty if none are published.
    pub significant: Vec<bool>,
    /// Averaging of topics, if it differs from that of the table.
    pub average: Option<Average>,
}

/// Source of a row's rankings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RankingSource {
    /// A run file.
    Run(PathBuf),
    /// Several run files. The value of a topic is the mean of their values.
    MeanOf(Vec<PathBuf>),
    /// A run file over the questions of the topics. The value of a topic is the mean over its questions.
    QuestionRun(PathBuf),
    /// A fusion of several runs.
    Fusion(FusionSpec),
    /// A sparse model, over the index of a home.
    Model(ModelSpec),
    /// Candidates of a home, re-ranked by vectors.
    Rerank(RerankSpec),
}

/// A row in the file, with one source of rankings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RowFile {
    name: String,
    run: Option<PathBuf>,
    mean_of: Option<Vec<PathBuf>>,
    question_run: Option<PathBuf>,
    fusion: Option<FusionSpec>,
    model: Option<ModelSpec>,
    rerank: Option<RerankSpec>,
    #[serde(default)]
    expected: Vec<f64>,
    #[serde(default)]
    against: Vec<String>,
    #[serde(default)]
    significant: Vec<bool>,
    average: Option<Average>,
}

impl TryFrom<RowFile> for Row {
    type Error = String;

    fn try_from(row: RowFile) -> Result<Self, String> {
        let mut sources = row
            .run
            .map(RankingSource::Run)
            .into_iter()
            .collect::<Vec<_>>();
        sources.extend(row.mean_of.map(RankingSource::MeanOf));
        sources.extend(row.question_run.map(RankingSource::QuestionRun));
        sources.extend(row.fusion.map(RankingSource::Fusion));
        sources.extend(row.model.map(RankingSource::Model));
        sources.extend(row.rerank.map(RankingSource::Rerank));
        // Exactly one source: none is left after it is taken.
        let (Some(source), true) = (sources.pop(), sources.is_empty()) else {
            return Err(format!(
                "{}: a row has one of run, mean-of, question-run, fusion, model and rerank",
                row.name
            ));
        };
        Ok(Self {
            name: row.name,
            source,
            expected: row.expected,
            against: row.against,
            significant: row.significant,
            average: row.average,
        })
    }
}

/// A sparse model and its weights.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelSpec {
    /// The model.
    pub name: ModelKind,
    /// The fields that it reads (default: all).
    #[serde(default)]
    pub fields: FieldSet,
    /// Source of its weights (default: published).
    #[serde(default)]
    pub weights: WeightSource,
    /// Field lengths in the formula: `exact` (default), or `lucene` for scores identical to Lucene's.
    #[serde(default)]
    pub lengths: LengthMode,
    /// Number of candidates of a topic from which weights are learned: the first of the ranking with uniform weights
    /// (default 1000; ACORDAR's authors had 100).
    #[serde(default = "default_candidates")]
    pub candidates: usize,
    /// Values that a learned weight may have (default 0, 0.1 … 1; the grid of ACORDAR's authors has no 0).
    #[serde(default = "default_grid")]
    pub grid: Vec<f64>,
    /// Given weights of title, description, author, tags, entities, literals, classes and properties, one list for each
    /// fold. A topic is ranked with those of the fold that tests it. In place of `weights`.
    #[serde(default)]
    pub by_fold: Vec<[f64; 8]>,
}

fn default_candidates() -> usize {
    WeightTuning::DEFAULT_CANDIDATES
}

fn default_grid() -> Vec<f64> {
    CoordinateSearch::GRID.to_vec()
}

impl ModelSpec {
    /// Returns the model with its published weights, restricted to its fields.
    fn model(&self) -> Box<dyn SparseModel> {
        self.name
            .model(self.lengths)
            .restricted_to(&|field| self.fields.contains(field))
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            !self.grid.is_empty() && self.grid.iter().all(is_weight),
            "`grid` needs numbers from 0 on"
        );
        ensure!(self.candidates > 0, "`candidates` must be at least 1");
        ensure!(
            self.by_fold.iter().flatten().all(is_weight),
            "`by-fold` needs numbers from 0 on"
        );
        ensure!(
            self.by_fold.is_empty() || self.weights == WeightSource::Published,
            "weights are either given (`by-fold`) or learned (`weights`): use one of the two"
        );
        ensure!(
            self.by_fold.is_empty() || self.fields == FieldSet::All,
            "`by-fold` has a weight for every field: use 0 for fields to ignore, in place of `fields`"
        );
        Ok(())
    }
}

fn is_weight(weight: &f64) -> bool {
    weight.is_finite() && *weight >= 0.0
}

/// Source of a model's weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightSource {
    /// Published weights.
    #[default]
    Published,
    /// Learned for nDCG@10 on the training and validation parts of folds.
    Tuned,
    /// Learned for nDCG@10 on the validation parts only, like ACORDAR's baselines.
    TunedOnValid,
}

/// Progress of the slow parts of a condition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ConditionProgress<'c> {
    /// Fusion weights of a row are being learned.
    Fusion(TuningProgress),
    /// Field weights of a row are being learned.
    Weights(&'c str, WeightProgress),
}

impl fmt::Display for ConditionProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, fold, search) = match self {
            Self::Fusion(step) => (step.method.to_string(), step.fold, step.search),
            Self::Weights(row, step) => ((*row).to_owned(), step.fold, step.search),
        };
        write!(
            f,
            "fold {}, {what}, round {}: {:.4}",
            fold + 1,
            search.round + 1,
            search.value
        )
    }
}

/// Runs and the methods of their fusion.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FusionSpec {
    /// Run files, and folders of them. Duplicate runs are dropped.
    pub runs: Vec<PathBuf>,
    /// Methods to choose from. With given weights there must be one method.
    #[serde(deserialize_with = "by_name")]
    pub methods: Vec<Method>,
    /// Given weights, one for each run. If absent, weights are learned by cross-validation.
    pub weights: Option<Vec<f64>>,
    /// Objective of learned weights: the mean of these measures.
    #[serde(default, deserialize_with = "by_name")]
    pub objective: Vec<Metric>,
    /// Judgements that weights are learned from.
    #[serde(default)]
    pub learn_on: LearnOn,
}

/// Rows from a file of tab-separated scores. Its first line is a heading; its first column is the name of a system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreFile {
    /// The file.
    pub file: PathBuf,
    /// Columns of the measures, counted from 0.
    pub columns: Vec<usize>,
    /// Required number of rows.
    pub count: usize,
    /// Selected systems and the paths of their runs.
    pub systems: Vec<System>,
}

/// Systems whose names share a prefix. A name belongs to the first system whose prefix fits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Prefix of the name.
    pub prefix: String,
    /// Path of the run; `{}` stands for the rest of the name.
    pub run: String,
}

/// A cell whose published number differs from the number that its published run gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    /// Name of the row.
    pub row: String,
    /// Name of the measure.
    pub measure: String,
    /// The published number. The row's own number is the expected one.
    pub printed: f64,
    /// Explanation of the difference.
    pub reason: String,
}

fn by_name<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names
        .iter()
        .map(|name| name.parse().map_err(de::Error::custom))
        .collect()
}

impl Row {
    /// Returns true if the row is averaged over folds, or has weights or models by folds.
    fn needs_folds(&self, average: Average) -> bool {
        if self.average.unwrap_or(average) == Average::Macro {
            return true;
        }
        match &self.source {
            RankingSource::Fusion(spec) => spec.weights.is_none(),
            RankingSource::Model(spec) => {
                spec.weights != WeightSource::Published || !spec.by_fold.is_empty()
            }
            RankingSource::Rerank(spec) => spec.weights != WeightSource::Published || spec.by_fold,
            RankingSource::Run(_) | RankingSource::MeanOf(_) | RankingSource::QuestionRun(_) => {
                false
            }
        }
    }

    fn check(&self, measures: usize) -> anyhow::Result<()> {
        let (name, decisions) = (&self.name, self.significant.len());
        ensure!(
            decisions == 0 || decisions == measures,
            "{name}: {decisions} decisions of significance for {measures} measures"
        );
        ensure!(
            decisions == 0 || self.against.len() == 1,
            "{name}: `significant` needs one row in `against`, not {}",
            self.against.len()
        );
        if let RankingSource::MeanOf(runs) = &self.source {
            ensure!(!runs.is_empty(), "{name}: `mean-of` needs at least one run");
        }
        if let RankingSource::Model(spec) = &self.source {
            spec.check().with_context(|| name.clone())?;
        }
        if let RankingSource::Rerank(spec) = &self.source {
            spec.check().with_context(|| name.clone())?;
        }
        Ok(())
    }
}

impl Condition {
    /// Reads a condition file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed, or if its tables are inconsistent.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        check_mandatory_keys(path)?;
        let (mut condition, name) = read_experiment_file::<Self>(path)?;
        condition.name = name;
        condition
            .check()
            .with_context(|| path.display().to_string())?;
        Ok(condition)
    }

    fn check(&self) -> anyhow::Result<()> {
        for table in &self.tables {
            let width = table.measures.len();
            for row in &table.rows {
                ensure!(
                    row.expected.is_empty() || row.expected.len() == width,
                    "{}: {} scores for {width} measures",
                    row.name,
                    row.expected.len()
                );
                row.check(width)?;
                ensure!(
                    self.collection.folds.is_some() || !row.needs_folds(table.average),
                    "{}, {}: `folds` of [collection] is missing: the row has the average `macro`, or weights or models by folds",
                    table.id,
                    row.name
                );
            }
            ensure!(
                self.collection.folds.is_some()
                    || table.listed.is_none()
                    || table.average == Average::Micro,
                "{}: `folds` of [collection] is missing: the table has the average `macro`",
                table.id
            );
            let columns = match &table.listed {
                Some(listed) => listed.columns.len(),
                None => width,
            };
            ensure!(
                columns == width,
                "{}: {columns} columns for {width} measures",
                table.id
            );
        }
        let mut ids: BTreeSet<&str> = BTreeSet::new();
        ids.extend(self.tables.iter().map(|table| table.id.as_str()));
        ids.extend(self.rankings.iter().map(|printed| printed.id.as_str()));
        ids.extend(self.explanations.iter().map(|table| table.id.as_str()));
        ensure!(
            ids.len() == self.tables.len() + self.rankings.len() + self.explanations.len(),
            "two tables have the same id"
        );
        for column in self.rankings.iter().flat_map(|printed| &printed.columns) {
            for known in &column.known {
                let is_printed = (1..=column.expected.len()).contains(&known.rank);
                ensure!(
                    is_printed,
                    "{}: no rank {} of {}",
                    column.name,
                    known.rank,
                    column.expected.len()
                );
            }
        }
        Ok(())
    }

    /// Returns true if a row needs the index of a home.
    #[must_use]
    pub fn needs_home(&self) -> bool {
        self.tables.iter().flat_map(|table| &table.rows).any(|row| {
            matches!(
                row.source,
                RankingSource::Model(_) | RankingSource::Rerank(_)
            )
        })
    }

    /// Verifies the collection, then computes every table. `progress` is called while weights are learned.
    ///
    /// # Errors
    ///
    /// Fails if data are missing or differ from the expected counts and digests, or if a row cannot be computed.
    pub fn reproduce(
        &self,
        data: &Path,
        home: &Path,
        encoders: &Encoders<'_>,
        progress: &Progress<'_>,
    ) -> anyhow::Result<Report> {
        let collection = self
            .collection
            .verify(data)
            .with_context(|| self.describe_needed_data(data))?;
        let mut context = ExperimentContext {
            data,
            home,
            encoders,
            collection: &collection,
            runs: BTreeMap::new(),
            progress,
        };
        let tables = self
            .tables
            .iter()
            .map(|table| context.table(table))
            .collect::<Result<Vec<_>, _>>();
        let mut tables = if self.needs_home() {
            tables?
        } else {
            tables.with_context(|| self.describe_needed_data(data))?
        };
        for explanations in &self.explanations {
            let table = explanations.reproduce(data, &self.collection.qrels);
            tables.push(table.with_context(|| self.describe_needed_data(data))?);
        }
        let rankings = self
            .rankings
            .iter()
            .map(|printed| context.compare_with_print(printed))
            .collect::<Result<Vec<_>, _>>();
        let rankings = rankings.with_context(|| self.describe_needed_data(data))?;
        Ok(Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection: collection.sentence(),
            tables,
            rankings,
        })
    }

    fn describe_needed_data(&self, data: &Path) -> String {
        describe_needed_data(&self.name, data, &self.get)
    }
}

type Progress<'p> = dyn Fn(ConditionProgress<'_>) + Sync + 'p;

/// State of a running condition. Each run file is read once for all tables.
pub(super) struct ExperimentContext<'l> {
    pub(super) data: &'l Path,
    pub(super) home: &'l Path,
    pub(super) encoders: &'l Encoders<'l>,
    pub(super) collection: &'l VerifiedCollection,
    runs: BTreeMap<PathBuf, Run>,
    progress: &'l Progress<'l>,
}

impl ExperimentContext<'_> {
    fn table(&mut self, table: &Table) -> anyhow::Result<TableReport> {
        let mut rows = table.rows.clone();
        if let Some(listed) = &table.listed {
            rows.extend(self.read_score_file(listed)?);
        }
        for erratum in &table.errata {
            let fits = rows.iter().any(|row| row.name == erratum.row)
                && table
                    .measures
                    .iter()
                    .any(|measure| measure.to_string() == erratum.measure);
            ensure!(
                fits,
                "{}: no cell {} of {}",
                table.id,
                erratum.measure,
                erratum.row
            );
        }
        let mut reports: Vec<RowReport> = rows
            .iter()
            .map(|row| self.row(table, row))
            .collect::<Result<_, _>>()?;
        // After all rows, since a row may name a later one.
        compare_named_rows(&rows, &mut reports, table.measures.len())?;
        for (row, report) in rows.iter().zip(&mut reports) {
            let comparisons = report
                .against
                .iter()
                .flat_map(|against| &against.comparisons);
            let decisions = row.significant.iter().zip(comparisons);
            report.decisions = decisions
                .map(|(&published, comparison)| Decision::new(published, comparison))
                .collect();
        }
        let rows = reports;
        let measures = table.measures.iter().map(Metric::to_string).collect();
        let (id, title, source) = (table.id.clone(), table.title.clone(), table.source.clone());
        Ok(TableReport {
            id,
            title,
            source,
            average: Some(table.average),
            measures,
            rows,
        })
    }

    fn row(&mut self, table: &Table, row: &Row) -> anyhow::Result<RowReport> {
        let (runs, note) = self.rankings(row)?;
        let (mut cells, mut by_topic) = (Vec::new(), Vec::new());
        for (place, &measure) in table.measures.iter().enumerate() {
            let values = self.values(row, &runs, measure)?;
            let measured = match row.average.unwrap_or(table.average) {
                Average::Micro => mean(&values.values().copied().collect::<Vec<_>>()),
                Average::Macro => self.collection.mean_of_folds(&values),
            };
            let erratum = table
                .errata
                .iter()
                .find(|erratum| erratum.row == row.name && erratum.measure == measure.to_string());
            cells.push(match (row.expected.get(place).copied(), erratum) {
                (Some(expected), Some(erratum)) => {
                    Cell::with_erratum(expected, erratum.printed, measured, erratum.reason.clone())
                }
                (expected, _) => Cell::with_optional_expectation(expected, measured),
            });
            by_topic.push(values);
        }
        let fused = matches!(row.source, RankingSource::Fusion(_));
        Ok(RowReport {
            name: row.name.clone(),
            fused,
            cells,
            note,
            by_topic,
            against: Vec::new(),
            decisions: Vec::new(),
        })
    }

    /// Returns the runs of a row, and a description of their origin for the report.
    fn rankings(&mut self, row: &Row) -> anyhow::Result<(Vec<Run>, Option<String>)> {
        let (run, note) = match &row.source {
            RankingSource::Run(path) | RankingSource::QuestionRun(path) => {
                (self.run(path)?.clone(), None)
            }
            RankingSource::MeanOf(paths) => {
                let runs = paths
                    .iter()
                    .map(|path| self.run(path).cloned())
                    .collect::<Result<_, _>>()?;
                return Ok((runs, None));
            }
            RankingSource::Fusion(spec) => self.fuse(spec).map(|(run, note)| (run, Some(note)))?,
            RankingSource::Model(spec) => self.rank(&row.name, spec)?,
            RankingSource::Rerank(spec) => self.rerank(spec)?,
        };
        Ok((vec![run], note))
    }

    /// Returns the value of every topic: the mean over the runs of a row, or over the questions of the topic.
    fn values(
        &self,
        row: &Row,
        runs: &[Run],
        measure: Metric,
    ) -> anyhow::Result<BTreeMap<String, f64>> {
        if let RankingSource::QuestionRun(path) = &row.source {
            return self
                .collection
                .values_of_questions(&runs[0], measure)
                .with_context(|| path.display().to_string());
        }
        let mut values: BTreeMap<String, f64> = BTreeMap::new();
        for run in runs {
            for (topic, value) in self.collection.values(run, measure) {
                *values.entry(topic).or_default() += value / runs.len() as f64;
            }
        }
        Ok(values)
    }

    /// Compares printed rankings of a topic with those of the runs.
    fn compare_with_print(&mut self, printed: &PrintedRankings) -> anyhow::Result<RankingReport> {
        let mut columns = Vec::new();
        for column in &printed.columns {
            let ranking = self.run(&column.run)?.ranking(&printed.topic).cloned();
            let ranking = ranking.with_context(|| {
                format!(
                    "{} has no ranking of the topic {}",
                    column.run.display(),
                    printed.topic
                )
            })?;
            let found: Vec<String> = ranking.iter().map(|scored| scored.id.to_string()).collect();
            let mut ranks = Vec::new();
            for (place, expected) in column.expected.iter().enumerate() {
                let found = found.get(place).cloned();
                let known = column
                    .known
                    .iter()
                    .find(|known| known.rank == place + 1 && Some(&known.found) == found.as_ref());
                ranks.push(RankCell {
                    expected: expected.clone(),
                    grade: found
                        .as_ref()
                        .and_then(|id| self.collection.grade(&printed.topic, id)),
                    reason: known.map(|known| known.reason.clone()),
                    found,
                });
            }
            columns.push(RankingColumn {
                name: column.name.clone(),
                ranks,
            });
        }
        let (id, title, source) = (
            printed.id.clone(),
            printed.title.clone(),
            printed.source.clone(),
        );
        Ok(RankingReport {
            id,
            title,
            source,
            columns,
        })
    }

    pub(super) fn run(&mut self, path: &Path) -> anyhow::Result<&Run> {
        if !self.runs.contains_key(path) {
            let file = self.data.join(path);
            let run = if dsebench::is_json(path) {
                dsebench::read_run(&file)?
            } else {
                Run::read(&file)?
            };
            self.runs.insert(path.to_owned(), run);
        }
        Ok(&self.runs[path])
    }

    /// Returns a row for each line of a file whose system has runs.
    fn read_score_file(&self, listed: &ScoreFile) -> anyhow::Result<Vec<Row>> {
        let path = self.data.join(&listed.file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut rows = Vec::new();
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let name = columns[0];
            let Some(system) = listed
                .systems
                .iter()
                .find(|system| name.starts_with(&system.prefix))
            else {
                continue;
            };
            let Some(expected) = listed
                .columns
                .iter()
                .map(|column| columns.get(*column)?.parse().ok())
                .collect()
            else {
                bail!(
                    "{}: the line of {name} has no score in a required column",
                    path.display()
                );
            };
            let run = system.run.replace("{}", &name[system.prefix.len()..]);
            rows.push(Row {
                name: name.to_owned(),
                source: RankingSource::Run(run.into()),
                expected,
                against: Vec::new(),
                significant: Vec::new(),
                average: None,
            });
        }
        ensure!(
            rows.len() == listed.count,
            "{}: {} rows instead of {}",
            path.display(),
            rows.len(),
            listed.count
        );
        Ok(rows)
    }

    /// Returns the fused run, and a description of the fusion for the report.
    fn fuse(&mut self, spec: &FusionSpec) -> anyhow::Result<(Run, String)> {
        let runs = self.distinct_runs(&spec.runs)?;
        let Some(weights) = &spec.weights else {
            return self.fuse_by_folds(spec, &runs);
        };
        let [method] = spec.methods[..] else {
            bail!("given weights need exactly one method")
        };
        ensure!(
            weights.len() == runs.len(),
            "{} weights for {} distinct runs",
            weights.len(),
            runs.len()
        );
        let fusion = Fusion::default()
            .with_method(method)
            .with_depth(FusionTuning::DEFAULT_DEPTH);
        let (none, mut fused) = (Ranking::default(), Run::new("lodeseek-fusion"));
        for topic in &self.collection.topics {
            // An empty ranking keeps the weights beside their runs.
            let rankings = runs.iter().map(|run| run.ranking(topic).unwrap_or(&none));
            fused.insert(
                topic,
                fusion.fuse(&rankings.zip(weights.iter().copied()).collect::<Vec<_>>()),
            );
        }
        let note = format!("{} runs, {method}, weights as given", runs.len());
        Ok((fused, note))
    }

    fn fuse_by_folds(&self, spec: &FusionSpec, runs: &[Run]) -> anyhow::Result<(Run, String)> {
        let tuning = FusionTuning::default()
            .with_methods(spec.methods.clone())
            .with_learn_on(spec.learn_on);
        let tuned = tuning.with_objective(spec.objective.clone()).run(
            runs,
            &self.collection.folds,
            &|step| (self.progress)(ConditionProgress::Fusion(step)),
        )?;
        let (mut used, mut methods) = (Vec::new(), Vec::new());
        for fold in &tuned.folds {
            used.push(
                fold.weights
                    .iter()
                    .filter(|weight| **weight > 0.0)
                    .count()
                    .to_string(),
            );
            methods.push(fold.method.to_string());
        }
        let note = format!(
            "{} distinct runs; by fold, runs of a weight above 0: {}; methods taken: {}; {:.1} distinct documents \
             fused for a test topic on average",
            runs.len(),
            used.join(", "),
            methods.join(", "),
            tuned.pool
        );
        Ok((tuned.run, note))
    }

    /// Returns the home's rankings, and a description of learned weights for the report.
    fn rank(&self, row: &str, spec: &ModelSpec) -> anyhow::Result<(Run, Option<String>)> {
        let searcher = Searcher::open(self.home)?.with_model(spec.model());
        if let Some(expected) = &self.collection.home {
            expected
                .verify(&searcher)
                .with_context(|| self.home.display().to_string())?;
        }
        let learn_on = match spec.weights {
            WeightSource::Published if !spec.by_fold.is_empty() => {
                return Ok((self.rank_with_given_weights(spec)?, None));
            }
            WeightSource::Published => {
                return Ok((self.rank_with_published_weights(&searcher, spec)?, None));
            }
            WeightSource::Tuned => LearnOn::TrainAndValid,
            WeightSource::TunedOnValid => LearnOn::Valid,
        };
        self.rank_by_folds(&searcher, row, spec, learn_on)
            .map(|(run, note)| (run, Some(note)))
    }

    fn rank_with_published_weights(
        &self,
        searcher: &Searcher,
        spec: &ModelSpec,
    ) -> anyhow::Result<Run> {
        let mut run = Run::new(spec.fields.tag(spec.name));
        for query in self.queries() {
            run.insert(
                &query.id,
                searcher.rank(&query.text, FusionTuning::DEFAULT_DEPTH)?,
            );
        }
        Ok(run)
    }

    /// Learns field weights for every fold, and ranks the fold's test topics with them.
    fn rank_by_folds(
        &self,
        searcher: &Searcher,
        row: &str,
        spec: &ModelSpec,
        learn_on: LearnOn,
    ) -> anyhow::Result<(Run, String)> {
        let mut pools = FieldPools::new();
        for query in self.queries() {
            pools.insert(
                query.id.clone(),
                searcher
                    .tuning_pool()
                    .candidates(&query.text, spec.candidates)?,
            );
        }
        let tuning = WeightTuning {
            objective: Metric::ndcg(10),
            learn_on,
            published: *spec.model().weights(),
            grid: spec.grid.clone(),
        };
        let tuned = tuning.run(
            &pools,
            &self.collection.folds,
            &BTreeMap::new(),
            &|_, _| (),
            &|step| (self.progress)(ConditionProgress::Weights(row, step)),
        )?;
        let run = self.rank_test_topics(spec, tuned.iter().map(|tuned| tuned.weights))?;
        let weights: Vec<String> = tuned
            .iter()
            .map(|tuned| tuned.weights.to_string())
            .collect();
        Ok((run, format!("weights by fold: {}", weights.join("; "))))
    }

    /// Ranks each fold's test topics with the weights that are given for the fold.
    fn rank_with_given_weights(&self, spec: &ModelSpec) -> anyhow::Result<Run> {
        let (weights, folds) = (spec.by_fold.len(), self.collection.folds.0.len());
        ensure!(
            weights == folds,
            "`by-fold` has weights for {weights} folds instead of {folds}"
        );
        self.rank_test_topics(
            spec,
            spec.by_fold.iter().map(|weights| FieldWeights(*weights)),
        )
    }

    /// Ranks each fold's test topics with the weights of the fold.
    fn rank_test_topics(
        &self,
        spec: &ModelSpec,
        weights: impl Iterator<Item = FieldWeights>,
    ) -> anyhow::Result<Run> {
        let mut run = Run::new(spec.fields.tag(spec.name));
        for (fold, weights) in self.collection.folds.0.iter().zip(weights) {
            let searcher =
                Searcher::open(self.home)?.with_model(spec.model().with_weights(weights));
            for query in self.queries().filter(|query| fold.test.has(&query.id)) {
                run.insert(
                    &query.id,
                    searcher.rank(&query.text, FusionTuning::DEFAULT_DEPTH)?,
                );
            }
        }
        Ok(run)
    }

    /// Returns the queries with judgements.
    pub(super) fn queries(&self) -> impl Iterator<Item = &Topic> + Clone {
        self.collection
            .queries
            .0
            .iter()
            .filter(|query| self.collection.topics.contains(&query.id))
    }

    pub(super) fn report_fusion(&self, step: TuningProgress) {
        (self.progress)(ConditionProgress::Fusion(step));
    }

    fn distinct_runs(&mut self, places: &[PathBuf]) -> anyhow::Result<Vec<Run>> {
        let mut paths = Vec::new();
        for place in places {
            paths.extend(run_files(self.data, place)?);
        }
        let runs = paths
            .iter()
            .map(|path| self.run(path).cloned())
            .collect::<Result<Vec<_>, _>>()?;
        // Duplicate runs would divide one weight among them in an arbitrary way.
        let firsts = find_first_equal_runs(&runs);
        Ok(runs
            .into_iter()
            .enumerate()
            .filter(|(own, _)| firsts[*own] == *own)
            .map(|(_, run)| run)
            .collect())
    }
}

/// Tests rows against the rows that they name. P values are corrected over all comparisons of a column (Holm).
fn compare_named_rows(
    rows: &[Row],
    reports: &mut [RowReport],
    measures: usize,
) -> anyhow::Result<()> {
    let named: Vec<(&str, &[String])> = rows
        .iter()
        .map(|row| (row.name.as_str(), &row.against[..]))
        .collect();
    compare_rows(&named, reports, measures)
}

/// Does the same for rows given as names, each with the names of the rows to compare with.
pub(super) fn compare_rows(
    rows: &[(&str, &[String])],
    reports: &mut [RowReport],
    measures: usize,
) -> anyhow::Result<()> {
    let mut pairs = Vec::new();
    for (place, (name, against)) in rows.iter().enumerate() {
        for other in *against {
            let baseline = rows.iter().position(|(row, _)| row == other);
            pairs.push((
                place,
                baseline
                    .with_context(|| format!("{name}: cannot compare with {other}: no such row"))?,
            ));
        }
    }
    let mut columns = Vec::new();
    for measure in 0..measures {
        let mut column: Vec<Comparison> = Vec::with_capacity(pairs.len());
        for &(place, baseline) in &pairs {
            let others = &reports[baseline].by_topic[measure];
            let differences = Differences::new(
                reports[place].by_topic[measure]
                    .iter()
                    .map(|(topic, value)| value - others[topic]),
            );
            column.push(Comparison::new(&differences, SignificanceTest::StudentT));
        }
        let corrected = holm(
            &column
                .iter()
                .map(|comparison| comparison.p)
                .collect::<Vec<_>>(),
        );
        for (comparison, corrected) in column.iter_mut().zip(corrected) {
            comparison.corrected_p = corrected;
        }
        columns.push(column);
    }
    for (which, &(place, baseline)) in pairs.iter().enumerate() {
        let comparisons = columns.iter().map(|column| column[which]).collect();
        reports[place].against.push(RowComparison {
            row: rows[baseline].0.to_owned(),
            comparisons,
        });
    }
    Ok(())
}

/// Returns the file itself, or the run files of a folder sorted by name: `.run`, and `.json` of DSEBench.
fn run_files(data: &Path, place: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = data.join(place);
    if !folder.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let names = entries
        .map(|entry| Ok(PathBuf::from(entry?.file_name())))
        .collect::<std::io::Result<Vec<_>>>()?;
    let mut files: Vec<PathBuf> = names
        .iter()
        .filter(|name| {
            name.extension()
                .is_some_and(|end| end == "run" || end == "json")
        })
        .map(|name| place.join(name))
        .collect();
    // The system returns the entries in any order, but weights belong to runs by position.
    files.sort_unstable();
    ensure!(
        !files.is_empty(),
        "no .run or .json file in {}",
        folder.display()
    );
    Ok(files)
}
