//! `lodeseek similar`: lists the datasets most similar to a dataset or an RDF file, with reasons.

use super::ExitStatus;
use super::encoder::EncoderArguments;
use super::terminal::{Style, grouped, safe};
use anyhow::Context;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    ExampleGraph, RerankOptions, Reranker, Searcher, SimilarDataset, SimilarDatasets, SimilarityClause, SimilarityPart,
};
use serde::Serialize;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Id of the dataset.
    #[arg(value_name = "DATASET", required_unless_present = "file", conflicts_with = "file")]
    dataset: Option<String>,
    /// Compare with an RDF file. It is not stored.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Maximum number of datasets.
    #[arg(short = 'k', long, value_name = "N", default_value = "10")]
    depth: NonZeroUsize,
    /// Write JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    encoders: EncoderArguments,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let mut searcher = Searcher::open(home)?;
    if let Some(encoder) = arguments.encoders.open_text_encoder()? {
        searcher = searcher.with_reranker(Reranker::open(home, [encoder], RerankOptions::default())?);
    }
    let depth = arguments.depth.get();
    let found = match (&arguments.file, &arguments.dataset) {
        (Some(file), _) => searcher.similar_to(&ExampleGraph::new(super::snippet::read_file(file)?), depth)?,
        (None, Some(id)) => {
            let id = DatasetId::new(id.as_str())?;
            searcher.similar(&id, depth)?.with_context(|| format!("there is no dataset {id} in the index"))?
        }
        (None, None) => anyhow::bail!("no dataset is given; name one, or a file with --file"),
    };
    let mut out = io::stdout().lock();
    if arguments.json {
        let response =
            Response { dataset: arguments.dataset.as_deref(), file: arguments.file.as_deref(), found: &found };
        serde_json::to_writer_pretty(&mut out, &response)?;
        writeln!(out)?;
    } else {
        write_similar(&mut out, &found)?;
    }
    Ok(if found.similar.is_empty() { ExitStatus::NoResult } else { ExitStatus::Success })
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
        return writeln!(out, "None of {} datasets is similar.", grouped(found.of));
    }
    found.similar.iter().try_for_each(|one| write_one(out, one))
}

fn write_one(out: &mut impl Write, one: &SimilarDataset) -> io::Result<()> {
    let (style, id) = (Style::of_stdout(), safe(one.dataset.id.as_str()));
    let title = style.strong(&safe(&one.dataset.title));
    writeln!(out, "{:.2}  {title}  {}", one.score, style.faint(&format!("[{id}]")))?;
    one.parts.iter().flat_map(SimilarityPart::clauses).try_for_each(|clause| writeln!(out, "      {}", reason(&clause)))
}

/// Returns a reason for the similarity as text.
fn reason(clause: &SimilarityClause) -> String {
    let names: Vec<String> = clause.names.iter().map(|(name, _)| safe(name)).collect();
    let between = match (names.is_empty(), clause.all) {
        (true, _) => "",
        (false, true) => ": ",
        (false, false) => ", among them ",
    };
    format!("{}{between}{}", safe(&clause.text), names.join(", "))
}
