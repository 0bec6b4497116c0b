//! `lodeseek evaluate`: how good the rankings are, by fields.

use super::Done;
use crate::document::Field;
use crate::engine::Searcher;
use crate::eval::{Metric, Qrels, Topics, mean};
use crate::sparse::{LengthMode, ModelKind};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// Topics, one a line: id, tab, text.
    #[arg(long, value_name = "FILE")]
    topics: PathBuf,
    /// Judgements in TREC's form.
    #[arg(long, value_name = "FILE")]
    qrels: PathBuf,
    /// Measures, by their ir_measures names.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_values = ["nDCG@5", "nDCG@10", "AP@5", "AP@10"])]
    metrics: Vec<Metric>,
    /// Datasets ranked for a topic.
    #[arg(long, value_name = "N", default_value_t = 100)]
    depth: usize,
}

type Choice = (&'static str, fn(Field) -> bool);

/// The fields of each row.
const ROWS: &[Choice] = &[
    ("metadata + data", |_| true),
    ("metadata only", Field::is_metadata),
    ("data only", |field| !field.is_metadata()),
];

pub(super) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let (topics, qrels) = (Topics::read(&arguments.topics)?, Qrels::read(&arguments.qrels)?);
    let judged: Vec<_> = topics.0.iter().filter(|topic| qrels.relevant(&topic.id).next().is_some()).collect();
    anyhow::ensure!(!judged.is_empty(), "no topic has a relevant judgement: do the files belong together?");
    let depth = arguments.metrics.iter().map(|metric| metric.depth()).fold(arguments.depth, usize::max);
    let mut out = io::stdout().lock();
    write!(out, "{:<18}", "bm25, fields")?;
    for metric in &arguments.metrics {
        write!(out, " {:>8}", metric.to_string())?;
    }
    writeln!(out, "   ({} topics)", judged.len())?;
    for (name, passes) in ROWS {
        let model = ModelKind::Bm25.model(LengthMode::Exact).only(passes);
        let searcher = Searcher::open(home)?.with_model(model);
        let mut values = vec![Vec::new(); arguments.metrics.len()];
        for topic in &judged {
            let ranking = searcher.rank(&topic.text, depth)?;
            for (values, metric) in values.iter_mut().zip(&arguments.metrics) {
                values.push(metric.of(&qrels, &topic.id, &ranking));
            }
        }
        write!(out, "{name:<18}")?;
        for values in &values {
            write!(out, " {:>8.4}", mean(values))?;
        }
        writeln!(out)?;
    }
    Ok(Done::Something)
}
