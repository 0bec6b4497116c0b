//! `lodeseek run`: ranks the datasets for a file of topics, as a TREC run with a provenance record.

use super::ExitStatus;
use super::config::Config;
use super::encoder::{self, RerankArguments};
use super::model::ModelArguments;
use super::provenance;
use indicatif::ProgressBar;
use lodeseek_engine::Searcher;
use lodeseek_eval::{Input, Provenance};
use lodeseek_eval::{Run, Topics};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// File of topics, one a line: id, tab, text.
    #[arg(long, value_name = "FILE")]
    topics: PathBuf,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    rerank: RerankArguments,
    /// Maximum number of datasets ranked for a topic. With --dpr or --colbert also limited by the number of candidates.
    #[arg(long, value_name = "N", default_value = "100")]
    depth: NonZeroUsize,
    /// Output file; the provenance record is written to FILE.json [default: stdout, without a record].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Tag of the run, its last column [default: the model, the fields unless all, and the encoders].
    #[arg(long, value_name = "NAME", value_parser = tag)]
    tag: Option<String>,
}

/// Parses the tag of a run.
fn tag(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return Err("a tag is one word without white space".to_owned());
    }
    Ok(text.to_owned())
}

pub(crate) fn run(home: &Path, config: &Config, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let topics = Topics::read(&arguments.topics)?;
    let model = arguments.model.model()?;
    let record = arguments.model.record(model.as_ref());
    let mut searcher = Searcher::open(home)?.with_model(model);
    config.check_analysis(searcher.catalog().analysis()?)?;
    let mut tag = arguments.model.fields().tag(arguments.model.kind());
    let mut reranked = Value::Null;
    let choice = arguments.rerank.choice(home, config, Some(&arguments.model))?;
    if let Some(reranker) = arguments.rerank.reranker(home, &choice, Some(&arguments.model), 1)? {
        tag = encoder::tag(&tag, &reranker);
        reranked = encoder::record(&reranker);
        searcher = searcher.with_reranker(reranker);
    }
    let mut run = Run::new(arguments.tag.clone().unwrap_or(tag));
    let bar = ProgressBar::new(topics.0.len() as u64);
    for topic in &topics.0 {
        run.insert(&topic.id, searcher.rank(&topic.text, arguments.depth.get())?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let empty = run.iter().filter(|(_, ranking)| ranking.is_empty()).count();
    if empty > 0 {
        tracing::warn!("no dataset was found for {empty} of {} topics", topics.0.len());
    }
    let mut text = Vec::new();
    run.write(&mut text)?;
    let Some(output) = &arguments.output else {
        io::stdout().lock().write_all(&text)?;
        return Ok(ExitStatus::Success);
    };
    provenance::write_atomically(output, &text)?;
    let record = json!({
        "tag": run.tag,
        "model": record,
        "ranking": choice.preset().to_string(),
        "rerank": reranked,
        "depth": arguments.depth,
        "topics": Input::read(&arguments.topics)?,
        "collection": provenance::collection(&searcher)?,
        "program": Provenance::default(),
        "arguments": provenance::arguments(),
    });
    provenance::write(&provenance::sidecar(output), &record)?;
    Ok(ExitStatus::Success)
}
