//! `lodeseek-lab tune-fields`: learns field weights by cross-validation, and ranks the test topics with them.

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use lodeseek_cli::ExitStatus;
use lodeseek_cli::model::ModelArguments;
use lodeseek_cli::provenance;
use lodeseek_engine::Searcher;
use lodeseek_eval::{CoordinateSearch, Folds, Metric, Qrels, Run, Topics};
use lodeseek_eval::{Input, Provenance};
use lodeseek_index::document::Field;
use lodeseek_lab::reproduce::{FieldPools, FoldSource, LearnOn, TunedWeights, WeightTuning};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Topics, one a line: id, tab, text.
    #[arg(long, value_name = "FILE")]
    topics: PathBuf,
    /// Judgements in TREC format.
    #[arg(long, value_name = "FILE")]
    qrels: PathBuf,
    /// Folder with foldN.train.qrels, foldN.valid.qrels and foldN.test.qrels, N from 0, or a number of folds to deal
    /// the judged topics into.
    #[arg(long, value_name = "DIR|N", default_value = "5")]
    folds: FoldSource,
    #[command(flatten)]
    ranking: ModelArguments,
    /// Measure that the weights maximise.
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    objective: Metric,
    /// Part of each fold that weights are learned from: train+valid or valid.
    #[arg(long, value_name = "PART", default_value = "train+valid")]
    on: LearnOn,
    /// Number of candidate datasets of each topic: the best with every field weighted 1. fsdm uses at most the 100 of
    /// its first stage.
    #[arg(long, value_name = "N", default_value = "1000")]
    candidates: NonZeroUsize,
    /// Number of ranked datasets of each test topic.
    #[arg(long, value_name = "N", default_value = "100")]
    depth: NonZeroUsize,
    /// File for the run of all test topics. Its record, with the weights of every fold, is written to FILE.json.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let (topics, qrels) = (
        Topics::read(&arguments.topics)?,
        Qrels::read(&arguments.qrels)?,
    );
    let folds = arguments.folds.read(Path::new(""), &qrels)?;
    let without = qrels
        .topics()
        .filter(|topic| !topics.0.iter().any(|one| one.id == *topic))
        .count();
    if without > 0 {
        tracing::warn!(
            "{without} judged topics have no text in --topics; they are not ranked and count as 0"
        );
    }
    let model = arguments.ranking.model()?;
    let tuning = WeightTuning {
        objective: arguments.objective,
        learn_on: arguments.on,
        published: *model.weights(),
        grid: CoordinateSearch::GRID.to_vec(),
    };
    let record = arguments.ranking.record(model.as_ref());
    let searcher = Searcher::open(home)?.with_model(model);
    let record = json!({
        "model": record,
        "objective": arguments.objective.to_string(),
        "on": arguments.on,
        "candidates": arguments.candidates,
        "depth": arguments.depth,
        "topics": Input::read(&arguments.topics)?,
        "qrels": Input::read(&arguments.qrels)?,
        "folds": arguments.folds.record(Path::new(""))?,
        "collection": provenance::collection(&searcher)?,
        "program": Provenance::new(crate::PROGRAM),
    });
    let state = State::open(&arguments.output, &record);
    let pools = collect_pools(&searcher, &topics, arguments.candidates.get())?;
    let tuned = learn_weights(&tuning, &pools, &folds, &state)?;
    let test = test_run(home, arguments, &topics, &folds, &tuned)?;
    let mut text = Vec::new();
    test.write(&mut text)?;
    provenance::write_atomically(&arguments.output, &text)?;
    provenance::write(
        &provenance::sidecar(&arguments.output),
        &with_folds(record, &tuned),
    )?;
    // Only now: until the output is complete, an interrupted command resumes from the state.
    state.finish();
    print_report(arguments, &searcher, &topics, &qrels, &folds, &tuned, &test)?;
    Ok(ExitStatus::Success)
}

fn collect_pools(
    searcher: &Searcher,
    topics: &Topics,
    candidates: usize,
) -> anyhow::Result<FieldPools> {
    let bar = ProgressBar::new(topics.0.len() as u64).with_message("finding candidates");
    bar.set_style(ProgressStyle::with_template(
        "{msg} {pos}/{len} topics {wide_bar}",
    )?);
    let mut pools = FieldPools::new();
    for topic in &topics.0 {
        pools.insert(
            topic.id.clone(),
            searcher.tuning_pool().candidates(&topic.text, candidates)?,
        );
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(pools)
}

fn learn_weights(
    tuning: &WeightTuning,
    pools: &FieldPools,
    folds: &Folds,
    state: &State,
) -> anyhow::Result<Vec<TunedWeights>> {
    let bar = ProgressBar::new(folds.0.len() as u64);
    bar.set_style(ProgressStyle::with_template(
        "{pos}/{len} folds {wide_bar} {msg}",
    )?);
    bar.set_position(state.known.len() as u64);
    let tuned = tuning.run(
        pools,
        folds,
        &state.known,
        &|fold, tuned| {
            state.keep(fold, tuned);
            bar.inc(1);
        },
        &|progress| {
            let search = progress.search;
            bar.set_message(format!(
                "fold {}: {} {:.4}, {} points tried",
                progress.fold, tuning.objective, search.value, search.evaluations
            ));
        },
    )?;
    bar.finish_and_clear();
    Ok(tuned)
}

/// Ranks the test topics of every fold with the weights of that fold.
fn test_run(
    home: &Path,
    arguments: &Arguments,
    topics: &Topics,
    folds: &Folds,
    tuned: &[TunedWeights],
) -> anyhow::Result<Run> {
    let mut run = Run::new(format!(
        "{}.tuned",
        arguments.ranking.fields().tag(arguments.ranking.kind())
    ));
    for (fold, tuned) in folds.0.iter().zip(tuned) {
        let searcher = Searcher::open(home)?
            .with_model(arguments.ranking.model()?.with_weights(tuned.weights));
        for topic in fold.test.topics() {
            let Some(topic) = topics.0.iter().find(|one| one.id == topic) else {
                continue;
            };
            run.insert(
                &topic.id,
                searcher.rank(&topic.text, arguments.depth.get())?,
            );
        }
    }
    Ok(run)
}

fn as_json(tuned: &TunedWeights) -> Value {
    json!({ "weights": tuned.weights.0, "learned": tuned.learned })
}

fn with_folds(mut record: Value, tuned: &[TunedWeights]) -> Value {
    if let Some(record) = record.as_object_mut() {
        record.insert(
            "weights_of_folds".to_owned(),
            tuned.iter().map(as_json).collect(),
        );
        record.insert("arguments".to_owned(), json!(provenance::arguments()));
    }
    record
}

/// Identifies this build by the size and modification time of the executable. Debug builds contain no commit.
fn identify_build() -> Value {
    let file = std::env::current_exe().and_then(std::fs::metadata).ok();
    let modified = file.as_ref().and_then(|file| {
        file.modified()
            .ok()?
            .duration_since(std::time::UNIX_EPOCH)
            .ok()
    });
    json!({ "bytes": file.map(|file| file.len()), "modified": modified.map(|time| time.as_secs()) })
}

/// Saved state of the tuning, beside the output. An interrupted command resumes from it.
struct State {
    path: PathBuf,
    record: Value,
    known: BTreeMap<usize, TunedWeights>,
    folds: Mutex<BTreeMap<usize, TunedWeights>>,
}

impl State {
    /// Loads folds that were learned from the same inputs, with the same parameters, by the same build of the program.
    fn open(output: &Path, record: &Value) -> Self {
        let record = &json!({ "record": record, "build": identify_build() });
        let mut path = output.as_os_str().to_owned();
        path.push(".tuning.json");
        let path = PathBuf::from(path);
        let known = Self::read(&path, record).unwrap_or_default();
        if !known.is_empty() {
            tracing::info!(folds = known.len(), "resuming an interrupted tuning");
        }
        Self {
            path,
            record: record.clone(),
            folds: Mutex::new(known.clone()),
            known,
        }
    }

    fn read(path: &Path, record: &Value) -> Option<BTreeMap<usize, TunedWeights>> {
        let state: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        if state.get("of") != Some(record) {
            return None;
        }
        let mut folds = BTreeMap::new();
        for (fold, tuned) in state.get("folds")?.as_object()? {
            let weights = serde_json::from_value(tuned.get("weights")?.clone()).ok()?;
            let learned = tuned.get("learned")?.as_f64()?;
            folds.insert(fold.parse().ok()?, TunedWeights { weights, learned });
        }
        Some(folds)
    }

    /// Saves a fold. An error is only logged: without the state the command cannot resume, but its result is complete.
    fn keep(&self, fold: usize, tuned: &TunedWeights) {
        let mut folds = self
            .folds
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        folds.insert(fold, *tuned);
        let folds: BTreeMap<String, Value> = folds
            .iter()
            .map(|(fold, tuned)| (fold.to_string(), as_json(tuned)))
            .collect();
        if let Err(error) =
            provenance::write(&self.path, &json!({ "of": self.record, "folds": folds }))
        {
            tracing::warn!(%error, "cannot save the state of the tuning; an interrupted command starts again");
        }
    }

    fn finish(&self) {
        // A state that remains is harmless: it only saves work if the same command is repeated.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Prints the weights of every fold, and the measure of its test topics with and without them.
fn print_report(
    arguments: &Arguments,
    searcher: &Searcher,
    topics: &Topics,
    qrels: &Qrels,
    folds: &Folds,
    tuned: &[TunedWeights],
    test: &Run,
) -> anyhow::Result<()> {
    let mut untuned = Run::new("untuned");
    for (topic, _) in test.iter() {
        let text = topics
            .0
            .iter()
            .find(|one| one.id == topic)
            .context("a ranked topic has no text")?;
        untuned.insert(topic, searcher.rank(&text.text, arguments.depth.get())?);
    }
    let objective = arguments.objective;
    let mut out = io::stdout().lock();
    write!(out, "{:<5}", "fold")?;
    for field in Field::ALL {
        write!(out, " {:>11}", field.name())?;
    }
    writeln!(out, " {:>8} {:>8} {:>8}", "learned", "untuned", "tuned")?;
    for (place, (fold, tuned)) in folds.0.iter().zip(tuned).enumerate() {
        write!(out, "{place:<5}")?;
        for weight in tuned.weights.0 {
            write!(out, " {weight:>11.1}")?;
        }
        let (before, after) = (
            mean_over_topics(objective, &untuned, &fold.test),
            mean_over_topics(objective, test, &fold.test),
        );
        writeln!(out, " {:>8.4} {before:>8.4} {after:>8.4}", tuned.learned)?;
    }
    let (before, after) = (
        mean_over_topics(objective, &untuned, qrels),
        mean_over_topics(objective, test, qrels),
    );
    writeln!(
        out,
        "{objective} over all {} topics, each tested once: untuned {before:.4}, tuned {after:.4}",
        qrels.topics().count()
    )?;
    Ok(())
}

/// Returns the mean of a measure over the judged topics. A topic without a ranking counts as 0.
fn mean_over_topics(measure: Metric, run: &Run, qrels: &Qrels) -> f64 {
    let mut values = Vec::new();
    for topic in qrels.topics() {
        values.push(match run.ranking(topic) {
            Some(ranking) => measure.evaluate(qrels, topic, ranking),
            None => 0.0,
        });
    }
    lodeseek_eval::mean(&values)
}
