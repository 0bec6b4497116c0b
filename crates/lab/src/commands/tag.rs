//! `lodeseek-lab tag`: finds the datasets that papers name in their titles and abstracts.
//!
//! The papers are read twice: first for statistics of the names, then to tag them.

mod papers;
mod report;

use anyhow::{Context, ensure};
use lodeseek_catalog::{Catalog, Metadata};
use lodeseek_cli::streams::messages;
use lodeseek_cli::terminal::{grouped, rate};
use lodeseek_cli::{ExitStatus, provenance};
use lodeseek_lab::tagger::{Lexicon, Mention, Statistics, Tagger, TaggerOptions, Verdict};
use lodeseek_store::{Access, Store};
use papers::{Paper, read_papers};
use report::{Report, Side};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Papers, one JSON object a line. The file is read twice, so it cannot be a pipe.
    #[arg(value_name = "PAPERS.jsonl")]
    papers: PathBuf,
    /// Keys of the texts to read, separated by commas.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "title,abstract"
    )]
    text_keys: Vec<String>,
    /// Catalogue whose dataset names are searched for. Default: the collection in the home.
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// File for the tagged papers. Default: stdout; nothing with --evaluate or --sample.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write rejected mentions, with the reasons.
    #[arg(long)]
    rejected: bool,
    /// Compare the tags with the `positives` in the papers, and print precision, recall and F1.
    #[arg(long)]
    evaluate: bool,
    /// Print the comparison as JSON.
    #[arg(long, requires = "evaluate")]
    json: bool,
    /// Print N randomly drawn pairs of paper and dataset for manual review: line, dataset, rule or reason, and the
    /// words around the mention, tab-separated.
    #[arg(long, value_name = "N", conflicts_with = "evaluate")]
    sample: Option<usize>,
    /// Seed of --sample. The same seed draws the same pairs.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample")]
    seed: u64,
    /// Pairs to draw from.
    #[arg(long, value_enum, value_name = "SIDE", default_value_t = Side::Ours, requires = "sample")]
    of: Side,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let is_stream = fs::metadata(&arguments.papers).is_ok_and(|papers| !papers.is_file());
    ensure!(
        !is_stream,
        "{} is no file: papers are read twice, so pipes and folders are not possible",
        arguments.papers.display()
    );
    let lexicon = Lexicon::from_datasets(&read_metadata(home, arguments)?)?;
    ensure!(
        !lexicon.is_empty(),
        "no dataset names: load datasets, or give a catalogue with --catalog"
    );
    let started = Instant::now();
    let names = lexicon.len();
    let tagger = learn_statistics(lexicon, arguments)?;
    let mut report = Report::default();
    tag_papers(&tagger, arguments, &mut report)?;
    let (tagged, time) = (report.tagged, started.elapsed());
    writeln!(
        messages(),
        "{} papers: {} name {} of their datasets, {} mentions by {} names; {:.1} s ({} papers/s, {} kB/s)",
        grouped(tagged.papers),
        grouped(tagged.papers_with),
        grouped(tagged.pairs),
        grouped(tagged.mentions),
        grouped(names as u64),
        time.as_secs_f64(),
        rate(tagged.papers, time),
        rate(tagged.bytes / 1000, time),
    )?;
    let mut out = io::stdout().lock();
    match arguments.sample {
        Some(number) => report.write_sample(&mut out, number, arguments.seed, arguments.of)?,
        None if arguments.evaluate => report.write_agreement(&mut out, arguments.json)?,
        None => {}
    }
    Ok(if tagged.pairs > 0 {
        ExitStatus::Success
    } else {
        ExitStatus::NoResult
    })
}

fn read_metadata(home: &Path, arguments: &Arguments) -> anyhow::Result<Vec<Metadata>> {
    let Some(path) = &arguments.catalog else {
        let entries = Store::open(home, Access::Read, None)?.entries()?;
        return Ok(entries
            .into_iter()
            .map(|entry| entry.dataset.metadata)
            .collect());
    };
    let catalog = Catalog::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    for problem in &catalog.problems {
        tracing::warn!("{problem}");
    }
    Ok(catalog
        .datasets
        .into_iter()
        .map(|dataset| dataset.metadata)
        .collect())
}

/// Reads the papers for statistics of the names, and reports unreadable lines.
fn learn_statistics(lexicon: Lexicon, arguments: &Arguments) -> anyhow::Result<Tagger> {
    let mut statistics = Statistics::new(&lexicon);
    let mut err = messages();
    for (line, paper) in read_papers(&arguments.papers, &arguments.text_keys)? {
        match paper {
            Ok(paper) => statistics.add(&lexicon, &paper.texts()),
            Err(reason) => writeln!(err, "{}:{line}: {reason}", arguments.papers.display())?,
        }
    }
    Ok(Tagger::new(lexicon, &statistics, &TaggerOptions::default()))
}

fn tag_papers(tagger: &Tagger, arguments: &Arguments, report: &mut Report) -> anyhow::Result<()> {
    let mut output = open_output(arguments)?;
    for (line, paper) in read_papers(&arguments.papers, &arguments.text_keys)? {
        // The first reading has reported these lines.
        let Ok(paper) = paper else { continue };
        let mentions = tagger.tag(&paper.texts());
        if arguments.evaluate || arguments.sample.is_some() {
            report.compare(line, &paper, &mentions, arguments.sample.is_some());
        }
        report.count(&paper, &mentions);
        if let Some(output) = &mut output {
            serde_json::to_writer(&mut *output, &add_results(paper, &mentions, arguments))?;
            writeln!(output)?;
        }
    }
    if let Some(mut output) = output {
        output.flush()?;
    }
    Ok(())
}

/// Opens the output for tagged papers, if there is one.
fn open_output(arguments: &Arguments) -> anyhow::Result<Option<Box<dyn Write>>> {
    if let Some(path) = &arguments.output {
        // Creating the output would empty the papers before they are read.
        ensure!(
            !provenance::is_same_file(path, &arguments.papers),
            "{} is both the papers and the output",
            path.display()
        );
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        return Ok(Some(Box::new(BufWriter::new(file))));
    }
    let elsewhere = arguments.evaluate || arguments.sample.is_some();
    Ok((!elsewhere).then(|| Box::new(BufWriter::new(io::stdout())) as Box<dyn Write>))
}

/// Adds the results to a paper: dataset ids, names to mask, and each mention with its place and rule.
fn add_results(paper: Paper, mentions: &[Mention], arguments: &Arguments) -> Value {
    let accepted: Vec<&Mention> = mentions
        .iter()
        .filter(|mention| mention.accepted_dataset().is_some())
        .collect();
    let ids = accepted
        .iter()
        .filter_map(|mention| mention.accepted_dataset())
        .map(ToString::to_string);
    let surfaces = accepted.iter().map(|mention| mention.surface.clone());
    let mut object: Map<String, Value> = paper.object;
    object.insert("positives".to_owned(), deduplicate(ids).into());
    object.insert("mentions".to_owned(), deduplicate(surfaces).into());
    let spans: Vec<Value> = accepted
        .iter()
        .map(|mention| describe_mention(mention, &arguments.text_keys))
        .collect();
    object.insert("spans".to_owned(), spans.into());
    if arguments.rejected {
        let rejected = mentions
            .iter()
            .filter(|mention| mention.accepted_dataset().is_none());
        let spans: Vec<Value> = rejected
            .map(|mention| describe_mention(mention, &arguments.text_keys))
            .collect();
        object.insert("rejected".to_owned(), spans.into());
    }
    object.into()
}

/// Returns the distinct values in the order of their first occurrence.
fn deduplicate(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

fn describe_mention(mention: &Mention, keys: &[String]) -> Value {
    let mut span = json!({
        "text": keys[mention.text], "start": mention.place.start, "end": mention.place.end, "surface": mention.surface,
    });
    match mention.verdict {
        Verdict::Accepted(rule) => {
            span["dataset"] = json!(mention.accepted_dataset());
            span["rule"] = json!(rule);
        }
        Verdict::Rejected(reason) => {
            span["datasets"] = json!(mention.datasets);
            span["reason"] = json!(reason);
        }
    }
    span
}
