//! `lodeseek run`: ranks the datasets for a file of topics, as a TREC run with a provenance record.

use super::ExitStatus;
use super::config::{Config, check_analysis};
use super::encoder::{self, RerankArguments};
use super::filter::topic_filter;
use super::model::ModelArguments;
use super::provenance;
use super::server_client::{Found, ServerClient};
use super::terminal::first_names;
use super::values::positive;
use anyhow::{Context, ensure};
use indicatif::ProgressBar;
use lodeseek_engine::Searcher;
use lodeseek_eval::{Input, Provenance, Run, Topic, Topics};
use lodeseek_ranking::Ranking;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Maximum number of datasets in a response of `/api/search`.
const MAX_REMOTE_DEPTH: usize = 100;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// File of topics, one a line: id, tab, text. After another tab, a line may have a year: then only datasets and works up
    /// to this year, and those of unknown year, are ranked.
    #[arg(long, value_name = "FILE")]
    topics: PathBuf,
    /// Rank by the public search of the server at this address, with its settings, instead of a home on this machine. Its
    /// responses have at most 100 datasets.
    #[arg(long, value_name = "URL", conflicts_with_all = ["ModelArguments", "EncoderArguments", "ranking", "cross_encoder",
        "cross_encoder_deadline", "pool", "pool_depth", "dense_depth", "combine", "fusion", "fusion_weights", "popularity", "works",
        "min_similarity"])]
    server: Option<String>,
    /// Maximum number of datasets ranked for a topic. With --dpr or --colbert also limited by the number of candidates.
    #[arg(long, value_name = "N", default_value = "100", value_parser = positive)]
    depth: NonZeroUsize,
    /// Output file; the provenance record is written to FILE.json [default: stdout, without a record].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Tag of the run, its last column [default: the model, the fields unless all, the encoders, popularity and the cross-encoder].
    #[arg(long, value_name = "NAME", value_parser = parse_tag)]
    tag: Option<String>,
    #[command(flatten)]
    model: ModelArguments,
    // Last, because its heading holds for all arguments after it.
    #[command(flatten)]
    rerank: RerankArguments,
}

/// Parses the tag of a run.
fn parse_tag(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return Err("a tag is one word without white space".to_owned());
    }
    Ok(text.to_owned())
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let topics = Topics::read(&arguments.topics)?;
    if let Some(output) = &arguments.output {
        ensure!(
            !provenance::is_same_file(output, &arguments.topics),
            "the output file {} is the file of topics, which it would replace; choose another one",
            output.display()
        );
        // A mistyped folder is found before the topics are ranked.
        provenance::check_writable(output).context("the run cannot be written")?;
    }
    if let Some(address) = &arguments.server {
        return run_at(address, &topics, arguments);
    }
    let model = arguments.model.model()?;
    let record = arguments.model.record(model.as_ref());
    let mut searcher = Searcher::open(home)?.with_model(model);
    check_analysis(config, searcher.catalog().analysis()?)?;
    let mut tag = arguments.model.fields().tag(arguments.model.kind());
    let mut reranked = Value::Null;
    let choice = arguments
        .rerank
        .choice(home, config, Some(&arguments.model))?;
    if let Some(reranker) = arguments
        .rerank
        .reranker(home, &choice, Some(&arguments.model), 1)?
    {
        tag = encoder::run_tag(&tag, &reranker);
        reranked = encoder::describe_reranker(&reranker);
        searcher = searcher.with_reranker(reranker);
    }
    let tag = arguments.tag.clone().unwrap_or(tag);
    let depth = arguments.depth.get();
    let run = rank_topics(&topics, tag, |topic| {
        Ok(searcher.rank_filtered(&topic.text, &topic_filter(topic), depth)?)
    })?;
    let record = json!({
        "model": record,
        "ranking": choice.preset().to_string(),
        "rerank": reranked,
        "collection": provenance::collection(&searcher)?,
    });
    write_run(&run, record, arguments)
}

/// Ranks by the public search of a server.
fn run_at(address: &str, topics: &Topics, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    ensure!(
        arguments.depth.get() <= MAX_REMOTE_DEPTH,
        "a server returns at most {MAX_REMOTE_DEPTH} datasets of a topic: use --depth {MAX_REMOTE_DEPTH} or less"
    );
    let client = ServerClient::at(address)?;
    let mut model = String::new();
    let tag = arguments.tag.clone().unwrap_or_else(|| "server".to_owned());
    let run = rank_topics(topics, tag, |topic| {
        let Found {
            ranking,
            model: used,
        } = client.rank(topic, arguments.depth.get())?;
        model = used;
        Ok(ranking)
    })?;
    write_run(
        &run,
        json!({ "model": model, "server": client.name() }),
        arguments,
    )
}

/// Ranks for all topics.
fn rank_topics(
    topics: &Topics,
    tag: String,
    mut ranked: impl FnMut(&Topic) -> anyhow::Result<Ranking>,
) -> anyhow::Result<Run> {
    let mut run = Run::new(tag);
    let bar = ProgressBar::new(topics.0.len() as u64);
    for topic in &topics.0 {
        run.insert(
            &topic.id,
            ranked(topic).with_context(|| format!("topic {}", topic.id))?,
        );
        bar.inc(1);
    }
    bar.finish_and_clear();
    let rankings = run.iter().filter(|(_, ranking)| ranking.is_empty());
    let empty: Vec<&str> = rankings.map(|(topic, _)| topic).collect();
    if !empty.is_empty() {
        tracing::warn!(
            "no dataset was found for {} of {} topics: {}",
            empty.len(),
            topics.0.len(),
            first_names(empty)
        );
    }
    Ok(run)
}

/// Writes a run with its provenance record, which gets the fields that all runs have.
fn write_run(run: &Run, mut record: Value, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let mut text = Vec::new();
    run.write(&mut text)?;
    let Some(output) = &arguments.output else {
        io::stdout().lock().write_all(&text)?;
        return Ok(ExitStatus::Success);
    };
    provenance::write_atomically(output, &text)?;
    record["tag"] = json!(run.tag);
    record["depth"] = json!(arguments.depth);
    record["topics"] = json!(Input::read(&arguments.topics)?);
    record["program"] = json!(Provenance::new("lodeseek"));
    record["arguments"] = json!(provenance::arguments());
    provenance::write(&provenance::sidecar(output), &record)?;
    Ok(ExitStatus::Success)
}
