//! `lodeseek training-data`: queries with passages that answer them and passages that do not, to train encoders on.

use crate::terminal::{self, grouped};
use crate::{Done, provenance};
use anyhow::{Context, ensure};
use clap::Subcommand;
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_engine::Searcher;
use lodeseek_eval::{Input, Provenance};
use lodeseek_eval::{Qrels, ResearchTopic, Topics};
use lodeseek_lab::reproduce::FoldSource;
use lodeseek_lab::training::abstracts::abstracts;
use lodeseek_lab::training::crops::crops;
use lodeseek_lab::training::judged::judged;
use lodeseek_lab::training::mentions::mentions;
use lodeseek_lab::training::queries::{QueryOptions, queries};
use lodeseek_lab::training::titles::titles;
use lodeseek_lab::training::{PaperOptions, TrainingData, TrainingError, check_free};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Subcommand, Debug)]
enum Kind {
    /// Titles of datasets, masked in their metadata, of the home or of catalogues.
    Titles(Titles),
    /// Queries generated from what the datasets of the home say and hold.
    Queries(Queries),
    /// Topics that people judged: datasets of grade 1 and more against those of grade 0.
    Judged(Judged),
    /// Papers that name datasets of the home, the names taken out.
    Mentions(Mentions),
    /// Titles of the same papers, and their abstracts.
    Abstracts(Papers),
    /// Pieces of abstracts of the same papers, and other pieces of the same abstracts.
    Crops(Papers),
}

#[derive(clap::Args, Debug)]
struct Output {
    /// The folder that is made: passages.jsonl, examples.jsonl and about.json. Training data there is replaced.
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
}

#[derive(clap::Args, Debug)]
struct Titles {
    #[command(flatten)]
    output: Output,
    /// Take the titles of these catalogues, which need not be loaded, instead of the home's.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    catalog: Vec<PathBuf>,
    /// With --catalog: the home's titles, too.
    #[arg(long, requires = "catalog")]
    with_home: bool,
    /// Negatives of a query.
    #[arg(long, value_name = "N", default_value_t = 4)]
    negatives: usize,
}

#[derive(clap::Args, Debug)]
struct Queries {
    #[command(flatten)]
    output: Output,
    /// Leave out datasets that these judgements judge.
    #[arg(long, value_name = "QRELS")]
    judged: Option<PathBuf>,
    /// Queries that a language model wrote, a dataset's id, a tab and a query on each line, instead of keyphrases; made by
    /// `python -m lodeseek_training generate`.
    #[arg(long, value_name = "FILE")]
    written: Option<PathBuf>,
    /// Queries of a dataset.
    #[arg(long, value_name = "N", default_value_t = QueryOptions::default().per_dataset)]
    per_dataset: usize,
    /// Datasets that are negatives of a query.
    #[arg(long, value_name = "N", default_value_t = QueryOptions::default().negatives)]
    negatives: usize,
    /// Of the draws.
    #[arg(long, value_name = "N", default_value_t = QueryOptions::default().seed)]
    seed: u64,
}

#[derive(clap::Args, Debug)]
struct Judged {
    #[command(flatten)]
    output: Output,
    /// Topics, one a line: id, tab, text.
    #[arg(long, value_name = "FILE")]
    topics: PathBuf,
    /// Their judgements in TREC's form.
    #[arg(long, value_name = "FILE")]
    qrels: PathBuf,
    /// Deal the sorted topics into so many folds.
    #[arg(long, value_name = "N", required_unless_present = "folds_dir", conflicts_with = "folds_dir")]
    folds: Option<usize>,
    /// Take the folds of a folder: fold0.test.qrels and so on.
    #[arg(long, value_name = "DIR")]
    folds_dir: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
struct Mentions {
    #[command(flatten)]
    papers: Papers,
    /// Queries that people asked, one a line, of which it is not known what for: papers are given those that fit them.
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Negatives of a query.
    #[arg(long, value_name = "N", default_value_t = 7)]
    negatives: usize,
}

#[derive(clap::Args, Debug)]
struct Papers {
    #[command(flatten)]
    output: Output,
    /// Papers, one JSON object a line: title, abstract, positives, mentions, and year, keywords, tldr_query where known.
    #[arg(long, value_name = "FILE")]
    papers: PathBuf,
    /// Topics that are tested on: papers that say nearly the same are left out. May be repeated.
    #[arg(long, value_name = "FILE")]
    topics: Vec<PathBuf>,
    /// Judgements of such topics, whose ids are their sentences: topics that no file of topics tells are known by these.
    #[arg(long, value_name = "FILE")]
    qrels: Vec<PathBuf>,
}

/// What was made, and what is to be told of it.
struct Made {
    data: TrainingData,
    kind: &'static str,
    inputs: Vec<PathBuf>,
    parameters: Value,
}

impl Kind {
    fn output(&self) -> &Path {
        let (Self::Titles(Titles { output, .. })
        | Self::Queries(Queries { output, .. })
        | Self::Judged(Judged { output, .. })
        | Self::Mentions(Mentions { papers: Papers { output, .. }, .. })
        | Self::Abstracts(Papers { output, .. })
        | Self::Crops(Papers { output, .. })) = self;
        &output.output
    }

    /// Whether it is made without the home.
    fn is_of_catalogs_alone(&self) -> bool {
        matches!(self, Self::Titles(Titles { catalog, with_home: false, .. }) if !catalog.is_empty())
    }
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let kind = &arguments.kind;
    // Before the work, not after it.
    check_free(kind.output())?;
    let (made, collection) = if kind.is_of_catalogs_alone() { (make(kind, None)?, None) } else { of_home(kind, home)? };
    let about = about(&made, collection)?;
    made.data.write(kind.output(), &about)?;
    report(&made.data)?;
    Ok(if made.data.examples.is_empty() { Done::Nothing } else { Done::Something })
}

/// With what tells the home's index from others.
fn of_home(kind: &Kind, home: &Path) -> anyhow::Result<(Made, Option<Value>)> {
    let searcher = Searcher::open(home)?;
    let collection = provenance::collection(&searcher)?;
    Ok((make(kind, Some(searcher))?, Some(collection)))
}

fn make(kind: &Kind, searcher: Option<Searcher>) -> anyhow::Result<Made> {
    match (kind, searcher) {
        (Kind::Titles(arguments), searcher) => of_titles(searcher.as_ref(), arguments),
        (Kind::Queries(arguments), Some(searcher)) => of_content(searcher, arguments),
        (Kind::Judged(arguments), Some(searcher)) => of_judgements(searcher, arguments),
        (Kind::Mentions(arguments), Some(searcher)) => of_mentions(searcher, arguments),
        (Kind::Abstracts(arguments), Some(searcher)) => of_papers("abstracts", abstracts, &searcher, arguments),
        (Kind::Crops(arguments), Some(searcher)) => of_papers("crops", crops, &searcher, arguments),
        (_, None) => anyhow::bail!("this kind is made of a home"),
    }
}

fn of_titles(searcher: Option<&Searcher>, arguments: &Titles) -> anyhow::Result<Made> {
    let mut catalogs = Vec::new();
    for path in &arguments.catalog {
        let catalog = Catalog::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        catalog.problems.iter().for_each(|problem| tracing::warn!("{problem}"));
        catalogs.push((name(path), catalog));
    }
    let bar = terminal::bar(0, "{spinner} {msg}");
    let data = titles(searcher, &catalogs, arguments.negatives, &|done, all| {
        bar.set_message(format!("{done} of {all} titles"));
    })?;
    bar.finish_and_clear();
    let parameters = json!({ "negatives": arguments.negatives, "home": searcher.is_some() });
    Ok(Made { data, kind: "titles", inputs: arguments.catalog.clone(), parameters })
}

fn of_content(searcher: Searcher, arguments: &Queries) -> anyhow::Result<Made> {
    let qrels = arguments.judged.as_deref().map(Qrels::read).transpose()?;
    let Queries { per_dataset, negatives, seed, .. } = *arguments;
    let written = arguments.written.as_deref().map(written).transpose()?;
    let options = QueryOptions { per_dataset, negatives, seed, judged: qrels.as_ref(), written: written.as_ref() };
    let bar = terminal::bar(0, "{spinner} {msg}");
    let data = queries(searcher, &options, &|done, all| bar.set_message(format!("{done} of {all} datasets")))?;
    bar.finish_and_clear();
    let parameters = json!({ "per_dataset": per_dataset, "negatives": negatives, "seed": seed });
    let inputs = arguments.judged.iter().chain(&arguments.written).cloned().collect();
    Ok(Made { data, kind: "queries", inputs, parameters })
}

/// Queries by dataset.
fn written(path: &Path) -> anyhow::Result<BTreeMap<DatasetId, Vec<String>>> {
    let mut queries: BTreeMap<DatasetId, Vec<String>> = BTreeMap::new();
    for line in &lines(path)? {
        let place = || format!("{}: {line:?} is no dataset's id, a tab and a query", path.display());
        let (id, query) = line.split_once('\t').with_context(place)?;
        queries.entry(DatasetId::new(id).with_context(place)?).or_default().push(query.to_owned());
    }
    Ok(queries)
}

fn of_judgements(searcher: Searcher, arguments: &Judged) -> anyhow::Result<Made> {
    let (topics, qrels) = (Topics::read(&arguments.topics)?, Qrels::read(&arguments.qrels)?);
    let source = match (&arguments.folds_dir, arguments.folds) {
        (Some(folder), _) => FoldSource::Folder(folder.clone()),
        (None, count) => FoldSource::Dealt(count.unwrap_or_default()),
    };
    let folds = source.read(Path::new(""), &qrels)?;
    let mut inputs = vec![arguments.topics.clone(), arguments.qrels.clone()];
    inputs.extend(arguments.folds_dir.clone());
    let parameters = json!({ "folds": folds.0.len() });
    Ok(Made { data: judged(searcher, &topics, &qrels, &folds)?, kind: "judged", inputs, parameters })
}

fn of_mentions(searcher: Searcher, arguments: &Mentions) -> anyhow::Result<Made> {
    let Mentions { papers, queries, negatives } = arguments;
    let topics = papers.topics()?;
    let asked = queries.as_deref().map(lines).transpose()?.unwrap_or_default();
    let options = PaperOptions { papers: &papers.papers, topics: &topics };
    let bar = terminal::bar(0, "{spinner} {msg}");
    let data = mentions(searcher, &options, &asked, *negatives, &|done, all| {
        bar.set_message(format!("{done} of {all} queries"))
    })?;
    bar.finish_and_clear();
    Ok(Made {
        data,
        kind: "mentions",
        inputs: [papers.inputs(), queries.iter().cloned().collect()].concat(),
        parameters: json!({ "negatives": negatives }),
    })
}

fn lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// How examples are made of papers alone.
type OfPapers = fn(&Searcher, &PaperOptions<'_>) -> Result<TrainingData, TrainingError>;

fn of_papers(kind: &'static str, made: OfPapers, searcher: &Searcher, papers: &Papers) -> anyhow::Result<Made> {
    let topics = papers.topics()?;
    let data = made(searcher, &PaperOptions { papers: &papers.papers, topics: &topics })?;
    Ok(Made { data, kind, inputs: papers.inputs(), parameters: json!({}) })
}

impl Papers {
    /// The topics that are tested on.
    fn topics(&self) -> anyhow::Result<Vec<ResearchTopic>> {
        let mut topics = Vec::new();
        for path in &self.topics {
            topics.extend(ResearchTopic::read(path)?);
        }
        for path in &self.qrels {
            topics.extend(lodeseek_eval::match_judgements(Vec::new(), &Qrels::read(path)?).0);
        }
        Ok(topics)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        std::iter::once(&self.papers).chain(&self.topics).chain(&self.qrels).cloned().collect()
    }
}

/// The record: what a reader needs to make it again, and to know what it holds. No place of this machine is told.
fn about(made: &Made, collection: Option<Value>) -> anyhow::Result<Value> {
    let mut inputs = Vec::new();
    for path in &made.inputs {
        ensure!(path.file_name().is_some(), "{} names no file", path.display());
        inputs.push(json!({ "file": name(path), "sha256": Input::read(path)?.sha256 }));
    }
    Ok(json!({
        "kind": made.kind,
        "program": Provenance::default(),
        "arguments": made.parameters,
        "inputs": inputs,
        "collection": collection,
        "counts": made.data.counts(),
        "excluded": made.data.excluded,
    }))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn report(data: &TrainingData) -> anyhow::Result<()> {
    let mut err = io::stderr().lock();
    let (examples, passages) = (grouped(data.examples.len() as u64), grouped(data.passages.len() as u64));
    writeln!(err, "{examples} examples, {passages} passages")?;
    for (reason, count) in data.left_out.iter().filter(|(_, count)| *count > 0) {
        writeln!(err, "left out: {} {reason}", grouped(count))?;
    }
    Ok(())
}
