//! `lodeseek-lab interleave`: interleaves several runs into one.

use lodeseek_cli::{ExitStatus, provenance};
use lodeseek_eval::{Input, Provenance};
use lodeseek_lab::interleave::interleave_runs;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Run files in TREC format, at least two. Within a rank, the dataset of an earlier file comes first.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// File for the interleaved run. Its provenance record is written to FILE.json.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Maximum number of datasets of a topic.
    #[arg(long, value_name = "N", default_value_t = 100)]
    depth: usize,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let runs = super::read_runs(&arguments.runs, &arguments.output)?;
    let run = interleave_runs(&runs, arguments.depth);
    let mut text = Vec::new();
    run.write(&mut text)?;
    provenance::write_atomically(&arguments.output, &text)?;
    let inputs = arguments
        .runs
        .iter()
        .map(|path| Input::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    let record = json!({
        "program": Provenance::new(crate::PROGRAM),
        "method": "balanced interleaving",
        "depth": arguments.depth,
        "inputs": inputs,
        "arguments": provenance::arguments(),
    });
    provenance::write(&provenance::sidecar(&arguments.output), &record)?;
    Ok(if run.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}
