//! `lodeseek list`: lists the datasets of the store and their states.

use super::ExitStatus;
use super::output::OutputArguments;
use super::server_client::ServerArguments;
use super::terminal::{Format, cut, grouped, safe};
use anyhow::Context;
use lodeseek_engine::{CollectionDataset, list_datasets};
use lodeseek_store::{Access, Store};
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    server: ServerArguments,
}

/// Maximum number of characters of a title.
const TITLE: usize = 60;

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let datasets: Vec<CollectionDataset> = match arguments.server.remote()? {
        Some(server) => {
            serde_json::from_value(server.list()?).context("the server runs another version of lodeseek")?
        }
        None => list_datasets(&Store::open(home, Access::Read, None)?)?,
    };
    let mut out = io::stdout().lock();
    match arguments.output.format() {
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &datasets)?;
            writeln!(out)?;
        }
        Format::Text => write_table(&mut out, &datasets)?,
    }
    Ok(if datasets.is_empty() { ExitStatus::NoResult } else { ExitStatus::Success })
}

fn write_table(out: &mut impl Write, datasets: &[CollectionDataset]) -> io::Result<()> {
    let width =
        datasets.iter().map(|dataset| dataset.id.as_str().chars().count()).max().unwrap_or(0).max("dataset".len());
    writeln!(out, "{:<width$}  {:>12}  {:<11}  title", "dataset", "triples", "state")?;
    for dataset in datasets {
        writeln!(
            out,
            "{:<width$}  {:>12}  {:<11}  {}",
            safe(dataset.id.as_str()),
            grouped(dataset.triples),
            dataset.state.name(),
            cut(&dataset.title, TITLE)
        )?;
    }
    Ok(())
}
