//! `lodeseek evaluate`: measures runs against relevance judgements and tests their differences for significance.
//!
//! Rows are runs, columns are measures. With `--topics`, the rankings of the home are measured, by model and fields.

mod report;

use super::ExitStatus;
use super::config::Config;
use super::encoder::{self, RerankArguments, WorksUse};
use super::filter::topic_filter;
use super::terminal::first_names;
use super::values::parse_list;
use anyhow::{Context, ensure};
use lodeseek_cli::streams::messages;
use lodeseek_engine::Searcher;
use lodeseek_eval::{
    Average, Comparison, Correction, Folds, Metric, Qrels, Resampling, Run, ScorePrecision,
    SignificanceTest, TopicValues, Topics, compare,
};
use lodeseek_index::sparse::{FieldSet, LengthMode, ModelKind};
use report::{Baselines, Format, MAX_BASELINES, Report, Row, RowComparison};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Relevance judgements in TREC qrels format.
    #[arg(value_name = "QRELS")]
    qrels: PathBuf,
    /// Runs in TREC format. Their scores define the order.
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Measure the rankings of the home for these topics instead of runs. One topic a line: id, tab, text, and
    /// optionally a tab and a year, after which datasets and works do not count. Each of --models ranks alone, unless
    /// --ranking, a model of vectors, --cross-encoder or --popularity is given.
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    topics: Option<PathBuf>,
    /// Ranking models to measure with --topics, separated by commas; each over all fields, metadata only and data only.
    /// Rows are named like the tags of `run`: by model, fields and encoders.
    #[arg(long, value_name = "LIST", value_parser = parse_list::<ModelKind>, default_value = DEFAULT_MODELS, requires = "topics")]
    models: Vec<Vec<ModelKind>>,
    /// Maximum number of datasets ranked for a topic, with --topics.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "topics")]
    depth: usize,
    /// Measures, with their ir_measures names, separated by commas.
    #[arg(long, value_name = "LIST", value_parser = parse_list::<Metric>, default_value = DEFAULT_METRICS)]
    metrics: Vec<Vec<Metric>>,
    /// Folder of the folds (fold0.test.qrels and so on). The mean over the folds is reported.
    #[arg(long, value_name = "DIR")]
    folds: Option<PathBuf>,
    /// Topics over which the mean is computed [default: all, or macro with --folds].
    #[arg(long, value_enum, value_name = "WHICH")]
    average: Option<Averaging>,
    /// Test the differences to these baselines, files or row names of runs, separated by commas [default: the first run].
    #[arg(long, value_name = "BASELINE", num_args = 0.., require_equals = true, value_delimiter = ',')]
    compare: Option<Vec<String>>,
    /// Significance test.
    #[arg(long, value_enum, value_name = "TEST", default_value = "t")]
    test: Test,
    /// Correction of the p values for the number of comparisons under each measure.
    #[arg(long, value_enum, value_name = "METHOD", default_value = "holm")]
    correction: CorrectionMethod,
    /// Number of random samples of the bootstrap and the randomisation test.
    #[arg(long, value_name = "N", default_value_t = Resampling::default().samples, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Also print the values of each topic.
    #[arg(long)]
    per_query: bool,
    /// Output format.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Short for `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Precision in which scores of runs are compared: double as in trec_eval 9.0.8, or single as in pytrec_eval.
    #[arg(long, value_enum, value_name = "PRECISION", default_value = "double")]
    scores: Scores,
    // Last, because its heading holds for all arguments after it.
    #[command(flatten)]
    rerank: RerankArguments,
}

/// Default of `--metrics`: [`Metric::ACORDAR`].
const DEFAULT_METRICS: &str = "nDCG@5,nDCG@10,AP@5,AP@10";
/// Default of `--models`: [`ModelKind::ALL`].
const DEFAULT_MODELS: &str = "tf-idf,bm25,lmd,fsdm";

impl Arguments {
    /// Returns the measures of all lists.
    fn metrics(&self) -> Vec<Metric> {
        self.metrics.concat()
    }
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Averaging {
    /// All judged topics. Topics without a ranking count 0.
    All,
    /// The judged topics for which the run has a ranking.
    Intersection,
    /// The mean over the folds of the means of their test topics.
    Macro,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Test {
    /// Student's paired t-test.
    T,
    /// The paired bootstrap test.
    Bootstrap,
    /// Fisher's paired randomisation test.
    Randomisation,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum CorrectionMethod {
    /// Holm's step-down procedure.
    Holm,
    /// Bonferroni's: each p value times the number of comparisons.
    Bonferroni,
    None,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Scores {
    Double,
    Single,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    ensure!(
        arguments.topics.is_some() || !arguments.runs.is_empty(),
        "there is nothing to evaluate: give run files, or --topics FILE to rank with the home"
    );
    let can_rerank = arguments.topics.is_some() || !arguments.rerank.is_requested();
    anyhow::ensure!(
        can_rerank,
        "re-ranking requires --topics: the order of run files is not changed"
    );
    let qrels = Qrels::read(&arguments.qrels)?;
    let folds = read_folds(arguments, &qrels)?;
    let average = match (arguments.average, &folds) {
        (None | Some(Averaging::Macro), Some(folds)) => Average::Macro(folds),
        (Some(Averaging::Macro), None) => anyhow::bail!("--average macro needs --folds"),
        (Some(Averaging::Intersection), _) => Average::Intersection,
        (None | Some(Averaging::All), _) => Average::AllTopics,
    };
    let runs = match &arguments.topics {
        Some(topics) => rank_by_home(home, config, &Topics::read(topics)?, &qrels, arguments)?,
        None => read_runs(arguments)?,
    };
    for (name, run) in &runs {
        check_topics(name, run, &qrels, average)?;
    }
    let mut rows: Vec<Row> = runs
        .iter()
        .map(|run| evaluate_run(run, &qrels, arguments))
        .collect();
    let baselines = find_baselines(arguments, &rows)?;
    if let Some(baselines) = &baselines {
        compare_rows(&mut rows, baselines, average);
    }
    let report = Report {
        qrels: arguments.qrels.display().to_string(),
        topics: qrels.len(),
        metrics: arguments.metrics(),
        average,
        baselines,
        topic_rows: arguments.per_query,
        rows,
    };
    let format = if arguments.json {
        Format::Json
    } else {
        arguments.format
    };
    report.write(format, &mut io::stdout().lock())?;
    Ok(ExitStatus::Success)
}

/// Reads the folds.
///
/// # Errors
/// If they do not match the judgements.
fn read_folds(arguments: &Arguments, qrels: &Qrels) -> anyhow::Result<Option<Folds>> {
    let Some(folder) = &arguments.folds else {
        return Ok(None);
    };
    let folds = Folds::read(folder)?;
    folds.check(qrels).with_context(|| {
        format!(
            "the folds {} and the judgements {} do not match",
            folder.display(),
            arguments.qrels.display()
        )
    })?;
    Ok(Some(folds))
}

/// Reads the runs and names their rows: by the stems of the files, or by their paths if two stems are equal.
fn read_runs(arguments: &Arguments) -> anyhow::Result<Vec<(String, Run)>> {
    for (place, path) in arguments.runs.iter().enumerate() {
        let again = arguments.runs[..place].contains(path);
        anyhow::ensure!(
            !again,
            "{} is given twice; select a baseline with --compare={0}",
            path.display()
        );
    }
    let precision = match arguments.scores {
        Scores::Double => ScorePrecision::Double,
        Scores::Single => ScorePrecision::Single,
    };
    let mut runs = Vec::with_capacity(arguments.runs.len());
    for path in &arguments.runs {
        let stem = file_stem(path);
        let same_stem = arguments.runs.iter().filter(|path| file_stem(path) == stem);
        let name = if same_stem.count() == 1 {
            stem
        } else {
            path.display().to_string()
        };
        runs.push((name, Run::read_with(path, precision)?));
    }
    Ok(runs)
}

fn file_stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Ranks the judged topics: one run for each model and set of fields.
fn rank_by_home(
    home: &Path,
    config: &Config,
    topics: &Topics,
    qrels: &Qrels,
    arguments: &Arguments,
) -> anyhow::Result<Vec<(String, Run)>> {
    // A measure with a deeper cut-off needs more ranks.
    let depth = arguments
        .metrics()
        .iter()
        .map(|metric| metric.depth())
        .fold(arguments.depth, usize::max);
    let mut searcher = Searcher::open(home)?;
    let pool = arguments.rerank.pool_of_each_model()?;
    if arguments.rerank.is_requested() {
        let choice = arguments.rerank.choice(home, config, None)?;
        let opened = choice.open_for(home)?.or_warn()?;
        if let Some(reranker) =
            arguments
                .rerank
                .reranker_of(home, &choice, opened, pool, 1, WorksUse::AtStart)?
        {
            searcher = searcher.with_reranker(reranker);
        }
    }
    let mut runs = Vec::new();
    for &kind in arguments.models.iter().flatten() {
        for fields in FieldSet::ALL {
            let model = kind
                .model(LengthMode::Exact)
                .restricted_to(&|field| fields.contains(field));
            searcher = searcher.with_model(model);
            let mut run = Run::new(ranking_tag(&searcher, kind, fields));
            for topic in topics.0.iter().filter(|topic| qrels.has(&topic.id)) {
                run.insert(
                    &topic.id,
                    searcher.rank_filtered(&topic.text, &topic_filter(topic), depth)?,
                );
            }
            runs.push((run.tag.clone(), run));
        }
    }
    Ok(runs)
}

/// Returns the tag that `lodeseek run` gives to the rankings of a searcher by a model over these fields.
fn ranking_tag(searcher: &Searcher, kind: ModelKind, fields: FieldSet) -> String {
    let tag = fields.tag(kind);
    match searcher.reranker() {
        Some(reranker) => encoder::run_tag(&tag, reranker),
        None => tag,
    }
}

/// Reports topics that only the run or only the judgements contain.
///
/// # Errors
/// If they have no topic in common.
fn check_topics(name: &str, run: &Run, qrels: &Qrels, average: Average<'_>) -> anyhow::Result<()> {
    let shared = run.iter().filter(|(topic, _)| qrels.has(topic)).count();
    anyhow::ensure!(
        shared > 0,
        "{name}: none of its topics was judged; check that the run and the judgements belong to the same topics"
    );
    let topics: BTreeSet<&str> = run.iter().map(|(topic, _)| topic).collect();
    let missing: Vec<&str> = qrels
        .topics()
        .filter(|topic| !topics.contains(topic))
        .collect();
    let unjudged: Vec<&str> = topics
        .into_iter()
        .filter(|topic| !qrels.has(topic))
        .collect();
    let mut err = messages();
    if !missing.is_empty() {
        let counted = if matches!(average, Average::Intersection) {
            "do not count"
        } else {
            "count 0"
        };
        writeln!(
            err,
            "lodeseek: {name}: {} of {} judged topics are not in the run and {counted}: {}",
            missing.len(),
            qrels.len(),
            first_names(missing)
        )?;
    }
    if !unjudged.is_empty() {
        writeln!(
            err,
            "lodeseek: {name}: {} of its {} topics were not judged and do not count: {}",
            unjudged.len(),
            run.len(),
            first_names(unjudged)
        )?;
    }
    Ok(())
}

fn evaluate_run((name, run): &(String, Run), qrels: &Qrels, arguments: &Arguments) -> Row {
    let columns = TopicValues::evaluate(run, qrels, &arguments.metrics());
    Row {
        name: name.clone(),
        tag: run.tag.clone(),
        columns,
        comparisons: Vec::new(),
    }
}

/// Returns the baselines, found by the names of their rows or their paths.
fn find_baselines(arguments: &Arguments, rows: &[Row]) -> anyhow::Result<Option<Baselines>> {
    let Some(names) = &arguments.compare else {
        return Ok(None);
    };
    anyhow::ensure!(
        rows.len() > 1,
        "--compare needs a second run to compare with"
    );
    let mut places = Vec::new();
    for name in names {
        let place = (0..rows.len())
            .find(|&place| {
                let path = arguments.runs.get(place);
                rows[place].name == *name || path.is_some_and(|path| path == Path::new(name))
            })
            .with_context(|| {
                let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
                format!("unknown baseline {name}; the runs are {}", names.join(", "))
            })?;
        anyhow::ensure!(
            !places.contains(&place),
            "the baseline {name} is given twice"
        );
        places.push(place);
    }
    if places.is_empty() {
        places.push(0);
    }
    anyhow::ensure!(
        places.len() <= MAX_BASELINES,
        "--compare accepts at most {MAX_BASELINES} baselines"
    );
    let resampling = Resampling {
        samples: arguments.samples,
        ..Resampling::default()
    };
    let test = match arguments.test {
        Test::T => SignificanceTest::StudentT,
        Test::Bootstrap => SignificanceTest::Bootstrap(resampling),
        Test::Randomisation => SignificanceTest::Randomisation(resampling),
    };
    let correction = match arguments.correction {
        CorrectionMethod::Holm => Correction::Holm,
        CorrectionMethod::Bonferroni => Correction::Bonferroni,
        CorrectionMethod::None => Correction::None,
    };
    Ok(Some(Baselines {
        places,
        test,
        correction,
    }))
}

/// Compares every row with the baselines, measure by measure. A baseline is compared with those before it: each pair once.
fn compare_rows(rows: &mut [Row], baselines: &Baselines, average: Average<'_>) {
    let mut pairs = Vec::new();
    for (rank, &baseline) in baselines.places.iter().enumerate() {
        pairs.extend(
            (0..rows.len())
                .filter(|row| !baselines.places[..=rank].contains(row))
                .map(|row| (row, baseline)),
        );
    }
    let columns: Vec<Vec<Comparison>> = (0..rows[0].columns.len())
        .map(|column| {
            let values: Vec<(&TopicValues, &TopicValues)> = pairs
                .iter()
                .map(|&(row, baseline)| {
                    (&rows[row].columns[column], &rows[baseline].columns[column])
                })
                .collect();
            compare(&values, average, baselines.test, baselines.correction)
        })
        .collect();
    for (pair, &(row, baseline)) in pairs.iter().enumerate() {
        let measures = columns.iter().map(|column| column[pair]).collect();
        rows[row]
            .comparisons
            .push(RowComparison { baseline, measures });
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, DEFAULT_METRICS, DEFAULT_MODELS, parse_list};
    use clap::{Args, Command, FromArgMatches};
    use lodeseek_eval::Metric;
    use lodeseek_index::sparse::ModelKind;

    fn parse(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        let command = Arguments::augment_args(Command::new("evaluate"));
        let words = ["evaluate", "qrels", "run"].iter().chain(arguments);
        Arguments::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    #[test]
    fn defaults_of_lists_are_written_as_they_are_parsed() {
        assert_eq!(parse_list(DEFAULT_METRICS), Ok(Metric::ACORDAR.to_vec()));
        assert_eq!(parse_list(DEFAULT_MODELS), Ok(ModelKind::ALL.to_vec()));
        let arguments = parse(&[]).expect("valid");
        assert_eq!(arguments.metrics(), Metric::ACORDAR);
        assert_eq!(arguments.models.concat(), ModelKind::ALL);
    }

    #[test]
    fn measures_have_commas_or_spaces_or_an_option_each() {
        for arguments in [
            &["--metrics", "RR,P@5"][..],
            &["--metrics", "RR P@5"],
            &["--metrics", "RR", "--metrics", "P@5"],
        ] {
            let metrics = parse(arguments).expect("valid").metrics();
            let names: Vec<String> = metrics.iter().map(ToString::to_string).collect();
            assert_eq!(names, ["RR", "P@5"], "{arguments:?}");
        }
        let error = parse(&["--metrics", "RR;P@5"]).expect_err("unknown");
        assert!(
            error
                .to_string()
                .contains("separate several values with commas"),
            "{error}"
        );
    }
}
