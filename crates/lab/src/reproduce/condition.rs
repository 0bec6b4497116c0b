//! A condition: an experiment in a file.

use super::field_weights::{FieldPools, WeightProgress, WeightTuning};
use super::report::{Against, Cell, Report, RowReport, TableReport};
use super::reranked::{Encoders, RerankSpec};
use super::tuning::{FusionTuning, LearnOn, TuningProgress, distinct};
use super::verify::{Collection, Facts};
use anyhow::{Context, bail, ensure};
use lodeseek_engine::Searcher;
use lodeseek_eval::{Comparison, Differences, Metric, Run, SignificanceTest, Topic, holm, mean};
use lodeseek_index::sparse::{FieldSet, LengthMode, ModelKind};
use lodeseek_ranking::Ranking;
use lodeseek_rerank::{Fusion, Method};
use serde::{Deserialize, Deserializer, de};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// An experiment: its collection, its tables and the scores expected in them. All paths are relative to the data folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The name of its file, without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// In a few words.
    pub title: String,
    /// In a few sentences.
    pub about: String,
    /// What to type.
    pub command: String,
    /// How to get the data.
    pub get: String,
    /// Why nobody has run it yet, where that is so.
    pub awaits: Option<String>,
    /// The judgements, and what must be true of them.
    pub collection: Collection,
    /// The tables.
    pub tables: Vec<Table>,
}

/// A table of expected scores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// A name for it within the condition, for quoting.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Where the expected numbers come from.
    pub source: String,
    /// How the values of topics become one.
    pub average: Average,
    /// The columns.
    #[serde(deserialize_with = "by_name")]
    pub measures: Vec<Metric>,
    /// The rows.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// More rows, listed in a file of scores.
    pub listed: Option<Listed>,
    /// Cells that are known to differ from their source.
    #[serde(default)]
    pub known: Vec<Known>,
}

/// How the values of topics become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// The mean over all judged topics; one without a ranking counts 0.
    Micro,
    /// The mean over folds of the means over their test topics.
    Macro,
}

/// A row and the scores expected of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RowFile")]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What makes its rankings.
    pub source: Source,
    /// The scores, in the order of the measures.
    pub expected: Vec<f64>,
    /// The rows whose values of topics this one's are tested against.
    pub against: Vec<String>,
}

/// What makes the rankings of a row.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Source {
    /// A run in a file.
    Run(PathBuf),
    /// Several runs fused.
    Fusion(FusionSpec),
    /// A model, over the index of a home.
    Model(ModelSpec),
    /// Candidates of a home ranked again by vectors.
    Rerank(RerankSpec),
}

/// A row as it is written: one of `run`, `fusion`, `model` and `rerank`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    name: String,
    run: Option<PathBuf>,
    fusion: Option<FusionSpec>,
    model: Option<ModelSpec>,
    rerank: Option<RerankSpec>,
    expected: Vec<f64>,
    #[serde(default)]
    against: Vec<String>,
}

impl TryFrom<RowFile> for Row {
    type Error = String;

    fn try_from(row: RowFile) -> Result<Self, String> {
        let mut sources = row.run.map(Source::Run).into_iter().collect::<Vec<_>>();
        sources.extend(row.fusion.map(Source::Fusion));
        sources.extend(row.model.map(Source::Model));
        sources.extend(row.rerank.map(Source::Rerank));
        let (Some(source), true) = (sources.pop(), sources.is_empty()) else {
            return Err(format!("{}: a row has one of run, fusion, model and rerank", row.name));
        };
        Ok(Self { name: row.name, source, expected: row.expected, against: row.against })
    }
}

/// A model and its weights.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelSpec {
    /// The model.
    pub name: ModelKind,
    /// The fields it reads.
    #[serde(default)]
    pub fields: FieldSet,
    /// Where its weights come from.
    #[serde(default)]
    pub weights: WeightSource,
}

/// Where the weights of a model come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightSource {
    /// Those published.
    #[default]
    Published,
    /// Learned for nDCG@10 on the training and validation parts of folds.
    Tuned,
    /// Learned for nDCG@10 on the validation parts alone, as ACORDAR's baselines were.
    TunedOnValid,
}

/// How far a condition is, where that takes long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ConditionProgress<'c> {
    /// A row's fusion is being learned.
    Fusion(TuningProgress),
    /// A row's field weights are being learned.
    Weights(&'c str, WeightProgress),
}

impl fmt::Display for ConditionProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, fold, search) = match self {
            Self::Fusion(step) => (step.method.to_string(), step.fold, step.search),
            Self::Weights(row, step) => ((*row).to_owned(), step.fold, step.search),
        };
        write!(f, "fold {}, {what}, round {}: {:.4}", fold + 1, search.round + 1, search.value)
    }
}

/// Runs and how they are fused.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FusionSpec {
    /// Files, and folders that stand for the `.run` files in them. Copies of a run are left out.
    pub runs: Vec<PathBuf>,
    /// The methods to choose from; with given weights, the one method.
    #[serde(deserialize_with = "by_name")]
    pub methods: Vec<Method>,
    /// Given weights, one for each run. Without them weights are learned by folds.
    pub weights: Option<Vec<f64>>,
    /// What learned weights maximise: the mean of these measures.
    #[serde(default, deserialize_with = "by_name")]
    pub objective: Vec<Metric>,
    /// What weights are learned from.
    #[serde(default)]
    pub learn_on: LearnOn,
}

/// Rows from a file of tab-separated scores, its first line a heading, its first column the name of a system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The file.
    pub file: PathBuf,
    /// The columns of the measures, from 0.
    pub columns: Vec<usize>,
    /// How many rows there must be.
    pub count: usize,
    /// Which systems to take, and where their runs are.
    pub systems: Vec<System>,
}

/// Systems whose names begin alike. A name goes to the first that fits it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The beginning of the name.
    pub prefix: String,
    /// The run; `{}` stands for the rest of the name.
    pub run: String,
}

/// A cell whose source is known to say something else than its run gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The row.
    pub row: String,
    /// The measure, by its name.
    pub measure: String,
    /// What the source says. The row's own number is what is expected.
    pub printed: f64,
    /// Why.
    pub reason: String,
}

fn by_name<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names.iter().map(|name| name.parse().map_err(de::Error::custom)).collect()
}

impl Condition {
    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("no condition at {}", path.display()))?;
        let mut condition: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        condition.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        condition.check().with_context(|| path.display().to_string())?;
        Ok(condition)
    }

    fn check(&self) -> anyhow::Result<()> {
        for table in &self.tables {
            let width = table.measures.len();
            for row in &table.rows {
                ensure!(
                    row.expected.len() == width,
                    "{}: {} scores for {width} measures",
                    row.name,
                    row.expected.len()
                );
            }
            let columns = table.listed.as_ref().map_or(width, |listed| listed.columns.len());
            ensure!(columns == width, "{}: {columns} columns for {width} measures", table.id);
        }
        let ids: BTreeSet<&str> = self.tables.iter().map(|table| table.id.as_str()).collect();
        ensure!(ids.len() == self.tables.len(), "two tables of one id");
        Ok(())
    }

    /// Whether a home ranks for it.
    #[must_use]
    pub fn needs_home(&self) -> bool {
        let ranks = |row: &Row| matches!(row.source, Source::Model(_) | Source::Rerank(_));
        self.tables.iter().flat_map(|table| &table.rows).any(ranks)
    }

    /// Verifies the collection, then computes every table. The hook hears of weights being learned.
    pub fn reproduce(
        &self,
        data: &Path,
        home: &Path,
        encoders: &Encoders<'_>,
        progress: &Progress<'_>,
    ) -> anyhow::Result<Report> {
        let facts = self.collection.verify(data).with_context(|| self.advice(data))?;
        let mut laboratory = Laboratory { data, home, encoders, facts: &facts, runs: BTreeMap::new(), progress };
        let tables = self.tables.iter().map(|table| laboratory.table(table)).collect::<Result<Vec<_>, _>>();
        let tables = if self.needs_home() { tables? } else { tables.with_context(|| self.advice(data))? };
        Ok(Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection: facts.sentence(),
            tables,
        })
    }

    fn advice(&self, data: &Path) -> String {
        format!("{} needs its data under {} ({})", self.name, data.display(), self.get.trim())
    }
}

type Progress<'p> = dyn Fn(ConditionProgress<'_>) + Sync + 'p;

/// Runs are read once for all tables.
pub(super) struct Laboratory<'l> {
    data: &'l Path,
    pub(super) home: &'l Path,
    pub(super) encoders: &'l Encoders<'l>,
    pub(super) facts: &'l Facts,
    runs: BTreeMap<PathBuf, Run>,
    progress: &'l Progress<'l>,
}

impl Laboratory<'_> {
    fn table(&mut self, table: &Table) -> anyhow::Result<TableReport> {
        let mut rows = table.rows.clone();
        if let Some(listed) = &table.listed {
            rows.extend(self.listed(listed)?);
        }
        for known in &table.known {
            let fits = rows.iter().any(|row| row.name == known.row)
                && table.measures.iter().any(|measure| measure.to_string() == known.measure);
            ensure!(fits, "{}: no cell {} of {}", table.id, known.measure, known.row);
        }
        let mut reports: Vec<RowReport> = rows.iter().map(|row| self.row(table, row)).collect::<Result<_, _>>()?;
        compare(&rows, &mut reports, table.measures.len())?;
        let rows = reports;
        let measures = table.measures.iter().map(Metric::to_string).collect();
        let (id, title, source) = (table.id.clone(), table.title.clone(), table.source.clone());
        Ok(TableReport { id, title, source, average: table.average, measures, rows })
    }

    fn row(&mut self, table: &Table, row: &Row) -> anyhow::Result<RowReport> {
        let (run, note) = match &row.source {
            Source::Run(path) => (self.run(path)?.clone(), None),
            Source::Fusion(spec) => self.fuse(spec).map(|(run, note)| (run, Some(note)))?,
            Source::Model(spec) => self.rank(&row.name, *spec)?,
            Source::Rerank(spec) => self.rerank(spec)?,
        };
        let (mut cells, mut by_topic) = (Vec::new(), Vec::new());
        for (&measure, &expected) in table.measures.iter().zip(&row.expected) {
            let values = self.facts.values(&run, measure);
            let measured = match table.average {
                Average::Micro => mean(&values.values().copied().collect::<Vec<_>>()),
                Average::Macro => self.facts.mean_of_folds(&values),
            };
            let known = table.known.iter().find(|known| known.row == row.name && known.measure == measure.to_string());
            cells.push(match known {
                Some(known) => Cell::known(expected, known.printed, measured, known.reason.clone()),
                None => Cell::new(expected, measured),
            });
            by_topic.push(values);
        }
        let fused = matches!(row.source, Source::Fusion(_));
        Ok(RowReport {
            name: row.name.clone(),
            fused,
            cells,
            published: Vec::new(),
            note,
            by_topic,
            against: Vec::new(),
        })
    }

    fn run(&mut self, path: &Path) -> anyhow::Result<&Run> {
        if !self.runs.contains_key(path) {
            let run = Run::read(&self.data.join(path))?;
            self.runs.insert(path.to_owned(), run);
        }
        Ok(&self.runs[path])
    }

    fn listed(&self, listed: &Listed) -> anyhow::Result<Vec<Row>> {
        let path = self.data.join(&listed.file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut rows = Vec::new();
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let name = columns[0];
            let Some(system) = listed.systems.iter().find(|system| name.starts_with(&system.prefix)) else { continue };
            let score = |column: &usize| columns.get(*column).and_then(|cell| cell.parse().ok());
            let Some(expected) = listed.columns.iter().map(score).collect() else {
                bail!("{}: no scores for {name}", path.display());
            };
            let run = system.run.replace("{}", &name[system.prefix.len()..]);
            rows.push(Row { name: name.to_owned(), source: Source::Run(run.into()), expected, against: Vec::new() });
        }
        ensure!(rows.len() == listed.count, "{}: {} rows instead of {}", path.display(), rows.len(), listed.count);
        Ok(rows)
    }

    /// The fused run, and in words how it was fused.
    fn fuse(&mut self, spec: &FusionSpec) -> anyhow::Result<(Run, String)> {
        let runs = self.distinct_runs(&spec.runs)?;
        let Some(weights) = &spec.weights else { return self.fuse_by_folds(spec, &runs) };
        let [method] = spec.methods[..] else { bail!("given weights need one method") };
        ensure!(weights.len() == runs.len(), "{} weights for {} distinct runs", weights.len(), runs.len());
        let fusion = Fusion::default().with_method(method).with_depth(FusionTuning::DEPTH);
        let (none, mut fused) = (Ranking::default(), Run::new("lodeseek-fusion"));
        for topic in &self.facts.topics {
            let rankings = runs.iter().map(|run| run.ranking(topic).unwrap_or(&none));
            fused.insert(topic, fusion.fuse(&rankings.zip(weights.iter().copied()).collect::<Vec<_>>()));
        }
        let note = format!("{} runs, {method}, weights as given", runs.len());
        Ok((fused, note))
    }

    fn fuse_by_folds(&self, spec: &FusionSpec, runs: &[Run]) -> anyhow::Result<(Run, String)> {
        let tuning = FusionTuning::default().with_methods(spec.methods.clone()).with_learn_on(spec.learn_on);
        let tuned = tuning
            .with_objective(spec.objective.clone())
            .run(runs, &self.facts.folds, &|step| (self.progress)(ConditionProgress::Fusion(step)))?;
        let by_fold = |text: &dyn Fn(usize) -> String| (0..tuned.folds.len()).map(text).collect::<Vec<_>>().join(", ");
        let used =
            by_fold(&|fold| tuned.folds[fold].weights.iter().filter(|weight| **weight > 0.0).count().to_string());
        let methods = by_fold(&|fold| tuned.folds[fold].method.to_string());
        let note = format!(
            "{} distinct runs; by fold, runs of a weight above 0: {used}; methods taken: {methods}; {:.1} distinct documents \
             fused for a test topic on average",
            runs.len(),
            tuned.pool
        );
        Ok((tuned.run, note))
    }

    /// What the home ranks, and in words how its weights were learned.
    fn rank(&self, row: &str, spec: ModelSpec) -> anyhow::Result<(Run, Option<String>)> {
        let model = || spec.name.model(LengthMode::Exact).only(&|field| spec.fields.holds(field));
        let searcher = Searcher::open(self.home)?.with_model(model());
        if let Some(expected) = &self.facts.home {
            expected.verify(&searcher).with_context(|| self.home.display().to_string())?;
        }
        let queries = self.queries();
        let mut run = Run::new(spec.fields.tag(spec.name));
        if spec.weights == WeightSource::Published {
            for query in queries {
                run.insert(&query.id, searcher.rank(&query.text, FusionTuning::DEPTH)?);
            }
            return Ok((run, None));
        }
        let mut pools = FieldPools::new();
        for query in queries.clone() {
            pools.insert(query.id.clone(), searcher.pool(&query.text, WeightTuning::CANDIDATES)?);
        }
        let learn_on = match spec.weights {
            WeightSource::TunedOnValid => LearnOn::Valid,
            _ => LearnOn::TrainAndValid,
        };
        let tuning = WeightTuning { objective: Metric::ndcg(10), learn_on, published: *model().weights() };
        let told = |step| (self.progress)(ConditionProgress::Weights(row, step));
        let tuned = tuning.run(&pools, &self.facts.folds, &BTreeMap::new(), &|_, _| (), &told)?;
        for (fold, tuned) in self.facts.folds.0.iter().zip(&tuned) {
            let searcher = Searcher::open(self.home)?.with_model(model().with_weights(tuned.weights));
            for query in queries.clone().filter(|query| fold.test.has(&query.id)) {
                run.insert(&query.id, searcher.rank(&query.text, FusionTuning::DEPTH)?);
            }
        }
        let weights: Vec<String> = tuned.iter().map(|tuned| tuned.weights.to_string()).collect();
        Ok((run, Some(format!("weights by fold: {}", weights.join("; ")))))
    }

    /// The judged queries.
    pub(super) fn queries(&self) -> impl Iterator<Item = &Topic> + Clone {
        self.facts.queries.0.iter().filter(|query| self.facts.topics.contains(&query.id))
    }

    pub(super) fn tell_fusion(&self, step: TuningProgress) {
        (self.progress)(ConditionProgress::Fusion(step));
    }

    fn distinct_runs(&mut self, places: &[PathBuf]) -> anyhow::Result<Vec<Run>> {
        let mut paths = Vec::new();
        for place in places {
            paths.extend(run_files(self.data, place)?);
        }
        let runs = paths.iter().map(|path| self.run(path).cloned()).collect::<Result<Vec<_>, _>>()?;
        let firsts = distinct(&runs);
        Ok(runs.into_iter().enumerate().filter(|(own, _)| firsts[*own] == *own).map(|(_, run)| run).collect())
    }
}

/// Tests the rows that name others against those; p values are corrected over all of a column.
fn compare(rows: &[Row], reports: &mut [RowReport], measures: usize) -> anyhow::Result<()> {
    let named: Vec<(&str, &[String])> = rows.iter().map(|row| (row.name.as_str(), &row.against[..])).collect();
    compare_rows(&named, reports, measures)
}

/// The same, of rows by their names and those of the rows that they are tested against.
pub(super) fn compare_rows(
    rows: &[(&str, &[String])],
    reports: &mut [RowReport],
    measures: usize,
) -> anyhow::Result<()> {
    let mut pairs = Vec::new();
    for (place, (name, against)) in rows.iter().enumerate() {
        for other in *against {
            let baseline = rows.iter().position(|(row, _)| row == other);
            pairs.push((place, baseline.with_context(|| format!("{name}: there is no row {other}"))?));
        }
    }
    let mut columns = Vec::new();
    for measure in 0..measures {
        let differences = |&(place, baseline): &(usize, usize)| {
            let others = &reports[baseline].by_topic[measure];
            Differences::new(reports[place].by_topic[measure].iter().map(|(topic, value)| value - others[topic]))
        };
        let mut column: Vec<Comparison> =
            pairs.iter().map(|pair| Comparison::new(&differences(pair), SignificanceTest::StudentT)).collect();
        let corrected = holm(&column.iter().map(|comparison| comparison.p).collect::<Vec<_>>());
        for (comparison, corrected) in column.iter_mut().zip(corrected) {
            comparison.corrected_p = corrected;
        }
        columns.push(column);
    }
    for (which, &(place, baseline)) in pairs.iter().enumerate() {
        let comparisons = columns.iter().map(|column| column[which]).collect();
        reports[place].against.push(Against { row: rows[baseline].0.to_owned(), comparisons });
    }
    Ok(())
}

/// A file itself; of a folder, its `.run` files by name.
fn run_files(data: &Path, place: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = data.join(place);
    if !folder.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let names = entries.map(|entry| Ok(PathBuf::from(entry?.file_name()))).collect::<std::io::Result<Vec<_>>>()?;
    let mut files: Vec<PathBuf> = names
        .iter()
        .filter(|name| name.extension().is_some_and(|end| end == "run"))
        .map(|name| place.join(name))
        .collect();
    files.sort_unstable();
    ensure!(!files.is_empty(), "no .run file in {}", folder.display());
    Ok(files)
}
