//! `lodeseek-lab fuse`: fuses several runs into one.

use anyhow::ensure;
use lodeseek_cli::streams::messages;
use lodeseek_cli::{ExitStatus, provenance, terminal};
use lodeseek_eval::{Input, Provenance};
use lodeseek_eval::{Metric, Qrels, Run, mean};
use lodeseek_lab::reproduce::{
    FoldSource, FusionTuning, LearnOn, TunedFusion, find_first_equal_runs,
};
use lodeseek_ranking::Ranking;
use lodeseek_rerank::{Fusion, Method, Normalization};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Run files in TREC format, at least one.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// File for the fused run. Its provenance record is written to FILE.json.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Fusion method. With --folds, several methods may be given, separated by commas: each fold takes the one with the
    /// best objective on its validation part.
    #[arg(
        long,
        value_name = "METHOD",
        value_delimiter = ',',
        default_value = "rrf"
    )]
    method: Vec<Name>,
    /// Normalization of scores, for all methods except rrf.
    #[arg(long, value_name = "min-max|z", default_value = "min-max")]
    normalize: Normalization,
    /// Constant k of reciprocal rank fusion (rrf): a number from 0.
    #[arg(long, value_name = "K", default_value_t = Method::RECIPROCAL_RANK_K)]
    k: f64,
    /// Weights from 0, one for each run, separated by commas. Default: 1 for every run.
    #[arg(
        long,
        value_name = "W",
        value_delimiter = ',',
        conflicts_with = "folds"
    )]
    weights: Vec<f64>,
    /// Maximum number of documents of a topic.
    #[arg(long, value_name = "N", default_value_t = FusionTuning::DEFAULT_DEPTH)]
    depth: usize,
    /// Judgements in TREC format. Weights are learned from them by cross-validation.
    #[arg(long, value_name = "FILE", requires = "folds")]
    qrels: Option<PathBuf>,
    /// Folder with foldN.train.qrels, foldN.valid.qrels and foldN.test.qrels, N from 0, or a number of folds to deal
    /// the topics into.
    #[arg(long, value_name = "DIR|N", requires = "qrels")]
    folds: Option<String>,
    /// Measure that learned weights maximise; of several, separated by commas, their mean.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "nDCG@10"
    )]
    objective: Vec<Metric>,
    /// Part of each fold that weights are learned from: train+valid or valid.
    #[arg(long, value_name = "PARTS", default_value = "train+valid")]
    on: LearnOn,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Name {
    Rrf,
    Combsum,
    Combmnz,
    Mixed,
}

impl Arguments {
    fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();
        for name in &self.method {
            methods.push(match name {
                Name::Rrf => Method::ReciprocalRank { k: self.k },
                Name::Combsum => Method::CombSum(self.normalize),
                Name::Combmnz => Method::CombMnz(self.normalize),
                Name::Mixed => Method::Mixed(self.normalize),
            });
        }
        methods
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    ensure!(
        arguments.k.is_finite() && arguments.k >= 0.0,
        "the constant of rrf cannot be {}: use a number from 0",
        arguments.k
    );
    let runs = super::read_runs(&arguments.runs, &arguments.output)?;
    let (run, how) = match (&arguments.qrels, &arguments.folds) {
        (Some(qrels), Some(folds)) => fuse_by_folds(arguments, runs, qrels, folds)?,
        _ => fuse_with_given_weights(arguments, &runs)?,
    };
    write_output(arguments, &run, &how)?;
    Ok(if run.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

fn fuse_with_given_weights(arguments: &Arguments, runs: &[Run]) -> anyhow::Result<(Run, Value)> {
    let [method] = arguments.methods()[..] else {
        anyhow::bail!("several methods need --qrels and --folds to choose from; give one --method")
    };
    let weights = if arguments.weights.is_empty() {
        vec![1.0; runs.len()]
    } else {
        arguments.weights.clone()
    };
    ensure!(
        weights.len() == runs.len(),
        "{} weights for {} runs: give one weight for each run",
        weights.len(),
        runs.len()
    );
    ensure!(
        weights
            .iter()
            .all(|weight| weight.is_finite() && *weight >= 0.0),
        "a weight must be a number from 0 on"
    );
    ensure!(
        weights.iter().any(|weight| *weight > 0.0),
        "every weight is 0: at least one must be larger"
    );
    let fusion = Fusion::default()
        .with_method(method)
        .with_depth(arguments.depth);
    let topics: BTreeSet<&str> = runs
        .iter()
        .flat_map(|run| run.iter().map(|(topic, _)| topic))
        .collect();
    let (none, mut fused) = (Ranking::default(), Run::new("lodeseek-fusion"));
    for topic in topics {
        let rankings = runs.iter().map(|run| run.ranking(topic).unwrap_or(&none));
        let ranking = fusion.fuse(&rankings.zip(weights.iter().copied()).collect::<Vec<_>>());
        if !ranking.is_empty() {
            fused.insert(topic, ranking);
        }
    }
    let inputs = describe_inputs(&arguments.runs, &(0..runs.len()).collect::<Vec<_>>())?;
    Ok((
        fused,
        json!({ "inputs": inputs, "method": method.to_string(), "weights": weights }),
    ))
}

fn fuse_by_folds(
    arguments: &Arguments,
    runs: Vec<Run>,
    qrels: &Path,
    parts: &str,
) -> anyhow::Result<(Run, Value)> {
    let judgements = Qrels::read(qrels)?;
    let Ok(source) = parts.parse::<FoldSource>();
    let folds = source.read(Path::new(""), &judgements)?;
    let firsts = find_first_equal_runs(&runs);
    let runs: Vec<Run> = runs
        .into_iter()
        .enumerate()
        .filter(|(own, _)| firsts[*own] == *own)
        .map(|(_, run)| run)
        .collect();
    let tuning = FusionTuning::default()
        .with_methods(arguments.methods())
        .with_objective(arguments.objective.clone())
        .with_learn_on(arguments.on)
        .with_depth(arguments.depth);
    let bar = terminal::bar(0, "{spinner} {msg}");
    let tuned = tuning.run(&runs, &folds, &|step| {
        let (fold, round, value) = (step.fold + 1, step.search.round + 1, step.search.value);
        bar.set_message(format!(
            "fold {fold}, {}, round {round}: {value:.4}",
            step.method
        ));
    });
    bar.finish_and_clear();
    let tuned = tuned?;
    print_report(&tuned, &judgements, &arguments.objective)?;
    let how = json!({
        "inputs": describe_inputs(&arguments.runs, &firsts)?,
        "qrels": Input::read(qrels)?,
        "folds": source.record(Path::new(""))?,
        "objective": metric_names(&arguments.objective),
        "learned_from": arguments.on,
        "by_fold": tuned.folds.iter().map(fold_json).collect::<Vec<_>>(),
        "documents_fused_for_a_topic": tuned.pool,
    });
    Ok((tuned.run, how))
}

fn fold_json(fold: &lodeseek_lab::reproduce::TunedFold) -> Value {
    let validated = fold
        .validated
        .iter()
        .map(|(method, value)| (method.to_string(), json!(value)))
        .collect::<serde_json::Map<_, _>>();
    json!({
        "method": fold.method.to_string(), "weights": fold.weights, "objective_learned": fold.learned,
        "objective_validated": validated, "test_topics": fold.topics,
    })
}

fn metric_names(metrics: &[Metric]) -> Vec<String> {
    metrics.iter().map(Metric::to_string).collect()
}

/// Returns every file with its digest. A duplicate names the file that it repeats, and has no weight.
fn describe_inputs(paths: &[PathBuf], firsts: &[usize]) -> anyhow::Result<Vec<Value>> {
    let mut inputs = Vec::new();
    for (own, path) in paths.iter().enumerate() {
        let mut value = serde_json::to_value(Input::read(path)?)?;
        if firsts[own] != own {
            value["same_as"] = json!(paths[firsts[own]]);
        }
        inputs.push(value);
    }
    Ok(inputs)
}

fn print_report(tuned: &TunedFusion, qrels: &Qrels, objective: &[Metric]) -> io::Result<()> {
    let mut err = messages();
    for (place, fold) in tuned.folds.iter().enumerate() {
        let used = fold.weights.iter().filter(|weight| **weight > 0.0).count();
        writeln!(
            err,
            "fold {place}: {}, {used} of {} runs, {:.4} on training topics",
            fold.method,
            fold.weights.len(),
            fold.learned
        )?;
    }
    for metric in objective {
        let topics = tuned.folds.iter().map(|fold| fold.topics).sum::<usize>() as f64;
        let values: Vec<f64> = tuned
            .run
            .iter()
            .map(|(topic, ranking)| metric.evaluate(qrels, topic, ranking))
            .collect();
        writeln!(
            err,
            "{metric} {:.4} over {topics} test topics",
            // The run has no topics without results, but these count as 0.
            mean(&values) * values.len() as f64 / topics
        )?;
    }
    writeln!(
        err,
        "{:.1} distinct documents fused for each topic",
        tuned.pool
    )
}

fn write_output(arguments: &Arguments, run: &Run, how: &Value) -> anyhow::Result<()> {
    let mut text = Vec::new();
    run.write(&mut text)?;
    provenance::write_atomically(&arguments.output, &text)?;
    let mut record =
        json!({ "program": Provenance::new(crate::PROGRAM), "depth": arguments.depth });
    for (key, value) in how.as_object().into_iter().flatten() {
        record[key] = value.clone();
    }
    record["arguments"] = json!(provenance::arguments());
    provenance::write(&provenance::sidecar(&arguments.output), &record)
}
