//! `lodeseek similar`: the datasets most like one, or like an RDF file.

use super::Done;
use super::encoder::EncoderArguments;
use super::terminal::{Style, grouped, safe};
use anyhow::Context;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    Clause, Example, RerankOptions, Reranker, Searcher, SimilarDataset, SimilarDatasets, SimilarityPart,
};
use serde::Serialize;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The dataset's id.
    #[arg(value_name = "DATASET", required_unless_present = "file", conflicts_with = "file")]
    dataset: Option<String>,
    /// Compare with an RDF file instead, which is not kept.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// How many datasets.
    #[arg(short = 'k', long, value_name = "N", default_value = "10")]
    depth: NonZeroUsize,
    /// Write JSON instead.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    encoders: EncoderArguments,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let mut searcher = Searcher::open(home)?;
    if let Some(encoder) = arguments.encoders.text()? {
        searcher = searcher.with_reranker(Reranker::open(home, [encoder], RerankOptions::default())?);
    }
    let depth = arguments.depth.get();
    let found = match (&arguments.file, &arguments.dataset) {
        (Some(file), _) => searcher.similar_to(&Example::new(super::snippet::read_file(file)?), depth)?,
        (None, Some(id)) => {
            let id = DatasetId::new(id.as_str())?;
            searcher.similar(&id, depth)?.with_context(|| format!("there is no dataset {id} in the index"))?
        }
        (None, None) => anyhow::bail!("name a dataset, or a file with --file"),
    };
    let mut out = io::stdout().lock();
    if arguments.json {
        let told = Told { dataset: arguments.dataset.as_deref(), file: arguments.file.as_deref(), found: &found };
        serde_json::to_writer_pretty(&mut out, &told)?;
        writeln!(out)?;
    } else {
        write_similar(&mut out, &found)?;
    }
    Ok(if found.similar.is_empty() { Done::Nothing } else { Done::Something })
}

/// The answer, and to what.
#[derive(Serialize)]
struct Told<'f> {
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'f str>,
    #[serde(flatten)]
    found: &'f SimilarDatasets,
}

fn write_similar(out: &mut impl Write, found: &SimilarDatasets) -> io::Result<()> {
    if found.similar.is_empty() {
        return writeln!(out, "None of {} datasets is much like it.", grouped(found.of));
    }
    found.similar.iter().try_for_each(|one| write_one(out, one))
}

fn write_one(out: &mut impl Write, one: &SimilarDataset) -> io::Result<()> {
    let (style, id) = (Style::of_stdout(), safe(one.dataset.id.as_str()));
    let title = style.strong(&safe(&one.dataset.title));
    writeln!(out, "{:.2}  {title}  {}", one.score, style.faint(&format!("[{id}]")))?;
    one.parts.iter().flat_map(SimilarityPart::clauses).try_for_each(|clause| writeln!(out, "      {}", said(&clause)))
}

fn said(clause: &Clause) -> String {
    let names: Vec<String> = clause.names.iter().map(|(name, _)| safe(name)).collect();
    let between = match (names.is_empty(), clause.all) {
        (true, _) => "",
        (false, true) => ": ",
        (false, false) => ", among them ",
    };
    format!("{}{between}{}", safe(&clause.says), names.join(", "))
}
