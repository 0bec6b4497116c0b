//! Scores a TREC run against relevance judgements.
//!
//! Usage: `cargo run -p lodeseek-eval --example score_run -- QRELS RUN [METRIC ...]`
//!
//! The default metrics are nDCG@10, AP@10, R@10 and RR. Without files, a small built-in example is scored.

#![expect(clippy::print_stdout, reason = "the example prints its result")]

use lodeseek_eval::{Average, Metric, Qrels, Run, TopicValues};
use lodeseek_ranking::{DatasetId, InvalidDatasetId, Ranking, Scored};
use std::error::Error;
use std::path::Path;

const DEFAULT_METRICS: [&str; 4] = ["nDCG@10", "AP@10", "R@10", "RR"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (qrels, run) = match &arguments[..] {
        [] => (sample_qrels(), sample_run()?),
        [qrels, run, ..] => (Qrels::read(Path::new(qrels))?, Run::read(Path::new(run))?),
        _ => return Err("usage: score_run QRELS RUN [METRIC ...]".into()),
    };
    let metrics = parse_metrics(arguments.get(2..).unwrap_or_default())?;

    println!(
        "run {}: {} topics ranked, {} topics judged",
        run.tag,
        run.len(),
        qrels.len()
    );
    for column in TopicValues::evaluate(&run, &qrels, &metrics) {
        println!(
            "{:<12} {:.4}",
            column.metric().to_string(),
            column.mean(Average::AllTopics)
        );
    }
    Ok(())
}

fn parse_metrics(names: &[String]) -> Result<Vec<Metric>, Box<dyn Error>> {
    let mut metrics = Vec::new();
    for name in names {
        metrics.push(name.parse()?);
    }
    if metrics.is_empty() {
        for name in DEFAULT_METRICS {
            metrics.push(name.parse()?);
        }
    }
    Ok(metrics)
}

/// Returns judgements of one topic: `soil` is highly relevant, `rain` is relevant, `music` is not.
fn sample_qrels() -> Qrels {
    let mut qrels = Qrels::default();
    for (document, grade) in [("soil", 2), ("rain", 1), ("music", 0)] {
        qrels.insert("soil moisture", document, grade);
    }
    qrels
}

/// Returns a run that ranks `rain` before `soil`.
fn sample_run() -> Result<Run, InvalidDatasetId> {
    let mut entries = Vec::new();
    for (document, score) in [("rain", 9.0), ("soil", 8.0), ("music", 1.0)] {
        entries.push(Scored {
            id: DatasetId::new(document)?,
            score,
        });
    }
    let mut run = Run::new("sample");
    run.insert("soil moisture", Ranking::from_scores(entries));
    Ok(run)
}
