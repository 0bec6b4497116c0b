//! `lodeseek similar`: lists the datasets most similar to a dataset or an RDF file, with reasons.

use super::ExitStatus;
use super::config::{Config, check_analysis};
use super::dataset_ids;
use super::output::{OutputArguments, write_json};
use super::ranking::Choice;
use super::terminal::{Style, counted, safe};
use super::values::positive;
use anyhow::Context;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    DatasetReference, ExampleGraph, RerankOptions, Reranker, Searcher, SimilarDataset,
    SimilarDatasets, SimilarityClause, SimilarityPart, overlap_clauses,
};
use serde::Serialize;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Id of a dataset, or path of an RDF file.
    #[arg(
        value_name = "DATASET|FILE",
        required_unless_present = "file",
        conflicts_with = "file"
    )]
    dataset: Option<String>,
    /// Compare with an RDF file, also if its path is the id of a dataset. It is not stored.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Maximum number of datasets.
    #[arg(short = 'k', long, value_name = "N", default_value = "10", value_parser = positive)]
    depth: NonZeroUsize,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let mut searcher = Searcher::open(home)?;
    check_analysis(config, searcher.catalog().analysis()?)?;
    let choice = Choice::new(home, config, None, None)?.with_text_model_only();
    if let Some(encoder) = choice
        .open_for(home)?
        .or_warn()?
        .encoders
        .into_iter()
        .next()
    {
        searcher =
            searcher.with_reranker(Reranker::open(home, [encoder], RerankOptions::default())?);
    }
    let depth = arguments.depth.get();
    let source = arguments.source(&searcher)?;
    let found = match source {
        Source::File(file) => similar_to_file(&searcher, file, depth)?,
        Source::Dataset(id) => {
            let id = DatasetId::new(id)?;
            searcher
                .similar(&id, depth)?
                .ok_or_else(|| dataset_ids::unknown(home, &searcher, &id))
                .with_context(|| format!("{id} is neither an indexed dataset nor a file"))?
        }
    };
    let mut out = io::stdout().lock();
    if arguments.output.is_json() {
        let response = Response {
            dataset: source.dataset(),
            file: source.file(),
            found: &found,
        };
        write_json(&mut out, &response)?;
    } else {
        write_similar(&mut out, &found)?;
    }
    Ok(if found.similar.is_empty() && found.tables.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

/// Dataset or file that the datasets are compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source<'a> {
    /// Id of a dataset.
    Dataset(&'a str),
    /// Path of an RDF file.
    File(&'a str),
}

impl<'a> Source<'a> {
    fn dataset(self) -> Option<&'a str> {
        match self {
            Self::Dataset(id) => Some(id),
            Self::File(_) => None,
        }
    }

    fn file(self) -> Option<&'a str> {
        match self {
            Self::Dataset(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

impl Arguments {
    /// Returns the dataset or file to compare with. As for `search --like`, a dataset precedes a file of the same name.
    fn source(&self, searcher: &Searcher) -> anyhow::Result<Source<'_>> {
        if let Some(file) = &self.file {
            return Ok(Source::File(file));
        }
        let named = self
            .dataset
            .as_deref()
            .context("no dataset is given; name one, or a file")?;
        if let Ok(id) = DatasetId::new(named)
            && searcher.catalog().numeric_facts(&id)?.is_some()
        {
            return Ok(Source::Dataset(named));
        }
        Ok(if Path::new(named).is_file() {
            Source::File(named)
        } else {
            Source::Dataset(named)
        })
    }
}

/// Compares the datasets with an RDF file.
fn similar_to_file(
    searcher: &Searcher,
    file: &str,
    depth: usize,
) -> anyhow::Result<SimilarDatasets> {
    let graph = super::snippet::read_file(file)?;
    let mut example = ExampleGraph::new(&graph);
    if searcher.encodes_examples() {
        example = example.with_texts(&graph);
    }
    Ok(searcher.similar_to(&example, depth)?)
}

/// JSON output: the similar datasets with the dataset or file they are compared with.
#[derive(Serialize)]
struct Response<'f> {
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'f str>,
    #[serde(flatten)]
    found: &'f SimilarDatasets,
}

fn write_similar(out: &mut impl Write, found: &SimilarDatasets) -> io::Result<()> {
    if found.similar.is_empty() {
        writeln!(out, "None of {} is similar.", counted(found.of, "dataset"))?;
    }
    found
        .similar
        .iter()
        .try_for_each(|one| write_one(out, one))?;
    if !found.tables.is_empty() {
        writeln!(out, "\nTables to join or unite:")?;
    }
    for one in &found.tables {
        writeln!(out, "{}", title_of(&one.dataset))?;
        for clause in overlap_clauses(&one.overlap) {
            writeln!(out, "      {}", reason(&clause))?;
        }
    }
    Ok(())
}

/// Returns the title of a dataset with its id.
fn title_of(dataset: &DatasetReference) -> String {
    let style = Style::of_stdout();
    let title = style.strong(&safe(&dataset.title));
    let id = style.faint(&format!("[{}]", safe(dataset.id.as_str())));
    format!("{title}  {id}")
}

fn write_one(out: &mut impl Write, one: &SimilarDataset) -> io::Result<()> {
    writeln!(out, "{:.2}  {}", one.score, title_of(&one.dataset))?;
    one.parts
        .iter()
        .flat_map(SimilarityPart::clauses)
        .try_for_each(|clause| writeln!(out, "      {}", reason(&clause)))
}

/// Returns a reason for the similarity as text.
pub(super) fn reason(clause: &SimilarityClause) -> String {
    let names: Vec<String> = clause.names.iter().map(|(name, _)| safe(name)).collect();
    let between = match (names.is_empty(), clause.all) {
        (true, _) => "",
        (false, true) => ": ",
        (false, false) => ", among them ",
    };
    format!("{}{between}{}", safe(&clause.text), names.join(", "))
}
