//! `lodeseek-lab training-data`: writes queries with relevant and irrelevant passages, to train encoders with.

use anyhow::{Context, ensure};
use clap::Subcommand;
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_cli::streams::messages;
use lodeseek_cli::terminal::{self, grouped};
use lodeseek_cli::{ExitStatus, provenance};
use lodeseek_engine::Searcher;
use lodeseek_eval::{Input, Provenance};
use lodeseek_eval::{Qrels, ResearchTopic, Topics};
use lodeseek_lab::reproduce::FoldSource;
use lodeseek_lab::training::abstracts::make_abstract_examples;
use lodeseek_lab::training::crops::make_crop_examples;
use lodeseek_lab::training::judged::make_judged_examples;
use lodeseek_lab::training::mentions::make_mention_examples;
use lodeseek_lab::training::queries::{QueryOptions, make_query_examples};
use lodeseek_lab::training::titles::make_title_examples;
use lodeseek_lab::training::{PaperOptions, TrainingData, TrainingError, check_output_folder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Subcommand, Debug)]
enum Kind {
    /// Titles of datasets as queries for their metadata with the title masked. Datasets of the home or of catalogues.
    Titles(Titles),
    /// Queries generated from metadata and content of the home's datasets.
    Queries(Queries),
    /// Topics with human judgements: datasets of grade 1 or more against those of grade 0.
    Judged(Judged),
    /// Papers that name datasets of the home, with the names removed, as queries for these datasets.
    Mentions(Mentions),
    /// Titles of the same papers as queries for their abstracts.
    Abstracts(Papers),
    /// Pieces of abstracts of the same papers as queries for other pieces of the same abstract.
    Crops(Papers),
}

#[derive(clap::Args, Debug)]
struct Output {
    /// Output folder for passages.jsonl, examples.jsonl and about.json. Existing training data is replaced; a folder
    /// with other files is an error.
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
}

#[derive(clap::Args, Debug)]
struct Titles {
    #[command(flatten)]
    output: Output,
    /// Use the titles of these catalogues instead of the home's. They need not be loaded. May list several files.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    catalog: Vec<PathBuf>,
    /// With --catalog: also use the titles of the home.
    #[arg(long, requires = "catalog")]
    with_home: bool,
    /// Number of irrelevant passages of each query.
    #[arg(long, value_name = "N", default_value_t = 4)]
    negatives: usize,
}

#[derive(clap::Args, Debug)]
struct Queries {
    #[command(flatten)]
    output: Output,
    /// Exclude the datasets in these judgements (TREC format).
    #[arg(long, value_name = "QRELS")]
    judged: Option<PathBuf>,
    /// Queries written by a language model, used instead of keyphrases. Each line: dataset id, tab, query. `python -m
    /// lodeseek_training generate` writes such files.
    #[arg(long, value_name = "FILE")]
    written: Option<PathBuf>,
    /// Maximum number of queries of each dataset.
    #[arg(long, value_name = "N", default_value_t = QueryOptions::default().per_dataset)]
    per_dataset: usize,
    /// Number of datasets that are negatives of each query.
    #[arg(long, value_name = "N", default_value_t = QueryOptions::default().negatives)]
    negatives: usize,
    /// Seed of random choices.
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
    /// Judgements in TREC format.
    #[arg(long, value_name = "FILE")]
    qrels: PathBuf,
    /// Number of folds to deal the sorted topics into.
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "folds_dir",
        conflicts_with = "folds_dir"
    )]
    folds: Option<usize>,
    /// Folder of existing folds: fold0.test.qrels and so on.
    #[arg(long, value_name = "DIR")]
    folds_dir: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
struct Mentions {
    #[command(flatten)]
    papers: Papers,
    /// Queries of people, one a line, without relevance information. Each paper gets up to two queries that fit it.
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Number of irrelevant passages of each query.
    #[arg(long, value_name = "N", default_value_t = 7)]
    negatives: usize,
}

#[derive(clap::Args, Debug)]
struct Papers {
    #[command(flatten)]
    output: Output,
    /// Papers, one JSON object a line: title, abstract, positives, mentions; optional: year, keywords, tldr_query.
    #[arg(long, value_name = "FILE")]
    papers: PathBuf,
    /// Test topics: papers that overlap them are excluded. May be repeated.
    #[arg(long, value_name = "FILE")]
    topics: Vec<PathBuf>,
    /// Judgements of further test topics whose ids are their sentences: topics without a file. May be repeated.
    #[arg(long, value_name = "FILE")]
    qrels: Vec<PathBuf>,
}

/// Training data, and the contents of its record.
struct Artifact {
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
        | Self::Mentions(Mentions {
            papers: Papers { output, .. },
            ..
        })
        | Self::Abstracts(Papers { output, .. })
        | Self::Crops(Papers { output, .. })) = self;
        &output.output
    }

    /// Returns true if no home is needed.
    fn needs_no_home(&self) -> bool {
        matches!(self, Self::Titles(Titles { catalog, with_home: false, .. }) if !catalog.is_empty())
    }
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let kind = &arguments.kind;
    // Before the computation: an unusable output folder is reported at once.
    check_output_folder(kind.output())?;
    let (artifact, collection) = if kind.needs_no_home() {
        (make_artifact(kind, None)?, None)
    } else {
        make_from_home(kind, home)?
    };
    let about = describe_artifact(&artifact, collection)?;
    artifact.data.write(kind.output(), &about)?;
    print_report(&artifact.data)?;
    Ok(if artifact.data.examples.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

/// Makes data from a home, and describes the home's index.
fn make_from_home(kind: &Kind, home: &Path) -> anyhow::Result<(Artifact, Option<Value>)> {
    let searcher = Searcher::open(home)?;
    let collection = provenance::collection(&searcher)?;
    Ok((make_artifact(kind, Some(searcher))?, Some(collection)))
}

fn make_artifact(kind: &Kind, searcher: Option<Searcher>) -> anyhow::Result<Artifact> {
    match (kind, searcher) {
        (Kind::Titles(arguments), searcher) => make_titles(searcher.as_ref(), arguments),
        (Kind::Queries(arguments), Some(searcher)) => make_queries(searcher, arguments),
        (Kind::Judged(arguments), Some(searcher)) => make_from_judgements(searcher, arguments),
        (Kind::Mentions(arguments), Some(searcher)) => make_mentions(searcher, arguments),
        (Kind::Abstracts(arguments), Some(searcher)) => {
            make_from_papers("abstracts", make_abstract_examples, &searcher, arguments)
        }
        (Kind::Crops(arguments), Some(searcher)) => {
            make_from_papers("crops", make_crop_examples, &searcher, arguments)
        }
        (_, None) => anyhow::bail!("this kind of training data is made from a home"),
    }
}

fn make_titles(searcher: Option<&Searcher>, arguments: &Titles) -> anyhow::Result<Artifact> {
    let mut catalogs = Vec::new();
    for path in &arguments.catalog {
        let catalog =
            Catalog::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        catalog
            .problems
            .iter()
            .for_each(|problem| tracing::warn!("{problem}"));
        catalogs.push((file_name(path), catalog));
    }
    let bar = terminal::bar(0, "{spinner} {msg}");
    let data = make_title_examples(searcher, &catalogs, arguments.negatives, &|done, all| {
        bar.set_message(format!("{done} of {all} titles"));
    })?;
    bar.finish_and_clear();
    let parameters = json!({ "negatives": arguments.negatives, "home": searcher.is_some() });
    Ok(Artifact {
        data,
        kind: "titles",
        inputs: arguments.catalog.clone(),
        parameters,
    })
}

fn make_queries(searcher: Searcher, arguments: &Queries) -> anyhow::Result<Artifact> {
    let qrels = arguments.judged.as_deref().map(Qrels::read).transpose()?;
    let Queries {
        per_dataset,
        negatives,
        seed,
        ..
    } = *arguments;
    let written = arguments.written.as_deref().map(read_queries).transpose()?;
    let options = QueryOptions {
        per_dataset,
        negatives,
        seed,
        judged: qrels.as_ref(),
        written: written.as_ref(),
    };
    let bar = terminal::bar(0, "{spinner} {msg}");
    let data = make_query_examples(searcher, &options, &|done, all| {
        bar.set_message(format!("{done} of {all} datasets"))
    })?;
    bar.finish_and_clear();
    let parameters = json!({ "per_dataset": per_dataset, "negatives": negatives, "seed": seed });
    let inputs = arguments
        .judged
        .iter()
        .chain(&arguments.written)
        .cloned()
        .collect();
    Ok(Artifact {
        data,
        kind: "queries",
        inputs,
        parameters,
    })
}

/// Reads queries by dataset.
fn read_queries(path: &Path) -> anyhow::Result<BTreeMap<DatasetId, Vec<String>>> {
    let mut queries: BTreeMap<DatasetId, Vec<String>> = BTreeMap::new();
    for line in &read_lines(path)? {
        let (id, query) = line
            .split_once('\t')
            .with_context(|| describe_wrong_line(path, line))?;
        let id = DatasetId::new(id).with_context(|| describe_wrong_line(path, line))?;
        queries.entry(id).or_default().push(query.to_owned());
    }
    Ok(queries)
}

fn describe_wrong_line(path: &Path, line: &str) -> String {
    format!(
        "{}: {line:?} is no dataset's id, a tab and a query: one such line for each query",
        path.display()
    )
}

fn make_from_judgements(searcher: Searcher, arguments: &Judged) -> anyhow::Result<Artifact> {
    let (topics, qrels) = (
        Topics::read(&arguments.topics)?,
        Qrels::read(&arguments.qrels)?,
    );
    let source = match (&arguments.folds_dir, arguments.folds) {
        (Some(folder), _) => FoldSource::Folder(folder.clone()),
        (None, count) => FoldSource::Dealt(count.unwrap_or_default()),
    };
    let folds = source.read(Path::new(""), &qrels)?;
    let mut inputs = vec![arguments.topics.clone(), arguments.qrels.clone()];
    inputs.extend(arguments.folds_dir.clone());
    let parameters = json!({ "folds": folds.0.len() });
    Ok(Artifact {
        data: make_judged_examples(searcher, &topics, &qrels, &folds)?,
        kind: "judged",
        inputs,
        parameters,
    })
}

fn make_mentions(searcher: Searcher, arguments: &Mentions) -> anyhow::Result<Artifact> {
    let Mentions {
        papers,
        queries,
        negatives,
    } = arguments;
    let topics = papers.topics()?;
    let queries_of_people = queries
        .as_deref()
        .map(read_lines)
        .transpose()?
        .unwrap_or_default();
    let options = PaperOptions {
        papers: &papers.papers,
        topics: &topics,
    };
    let bar = terminal::bar(0, "{spinner} {msg}");
    let data = make_mention_examples(
        searcher,
        &options,
        &queries_of_people,
        *negatives,
        &|done, all| bar.set_message(format!("{done} of {all} queries")),
    )?;
    bar.finish_and_clear();
    Ok(Artifact {
        data,
        kind: "mentions",
        inputs: [papers.inputs(), queries.iter().cloned().collect()].concat(),
        parameters: json!({ "negatives": negatives }),
    })
}

fn read_lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}

/// A function that makes examples of papers.
type MakeFromPapers = fn(&Searcher, &PaperOptions<'_>) -> Result<TrainingData, TrainingError>;

fn make_from_papers(
    kind: &'static str,
    make_examples: MakeFromPapers,
    searcher: &Searcher,
    papers: &Papers,
) -> anyhow::Result<Artifact> {
    let topics = papers.topics()?;
    let data = make_examples(
        searcher,
        &PaperOptions {
            papers: &papers.papers,
            topics: &topics,
        },
    )?;
    Ok(Artifact {
        data,
        kind,
        inputs: papers.inputs(),
        parameters: json!({}),
    })
}

impl Papers {
    /// Reads the test topics.
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
        std::iter::once(&self.papers)
            .chain(&self.topics)
            .chain(&self.qrels)
            .cloned()
            .collect()
    }
}

/// Builds the provenance record: kind, program, arguments, digests of input files, and counts. It contains file names
/// without folders.
fn describe_artifact(artifact: &Artifact, collection: Option<Value>) -> anyhow::Result<Value> {
    let mut inputs = Vec::new();
    for path in &artifact.inputs {
        ensure!(
            path.file_name().is_some(),
            "{} is not the path of a file",
            path.display()
        );
        inputs.push(json!({ "file": file_name(path), "sha256": Input::read(path)?.sha256 }));
    }
    Ok(json!({
        "kind": artifact.kind,
        "program": Provenance::new(crate::PROGRAM),
        "arguments": artifact.parameters,
        "inputs": inputs,
        "collection": collection,
        "counts": artifact.data.counts(),
        "excluded": artifact.data.excluded,
    }))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn print_report(data: &TrainingData) -> anyhow::Result<()> {
    let mut err = messages();
    let (examples, passages) = (
        grouped(data.examples.len() as u64),
        grouped(data.passages.len() as u64),
    );
    writeln!(err, "{examples} examples, {passages} passages")?;
    for (reason, count) in data.left_out.iter().filter(|(_, count)| *count > 0) {
        writeln!(err, "excluded: {} {reason}", grouped(count))?;
    }
    Ok(())
}
