//! `lodeseek list`: lists the datasets of the store and their states, or the works.

use super::ExitStatus;
use super::output::OutputArguments;
use super::server_client::ServerArguments;
use super::terminal::{Format, cut, grouped, safe};
use anyhow::Context;
use lodeseek_cli::streams::messages;
use lodeseek_engine::{CollectionDataset, CollectionWork, list_datasets, list_works};
use lodeseek_store::{Access, Store};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{self, StdoutLock, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// List the works that use datasets, by title.
    #[arg(long)]
    works: bool,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    server: ServerArguments,
}

/// Maximum number of characters of a title.
const MAX_TITLE_CHARACTERS: usize = 60;

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let server = arguments.server.find(home)?;
    if arguments.works {
        let works: Vec<CollectionWork> = match server {
            Some(server) => parse_list(server.list_works()?)?,
            None => list_works(&Store::open(home, Access::Read, None)?)?,
        };
        return arguments.write(&works, write_works);
    }
    let datasets: Vec<CollectionDataset> = match server {
        Some(server) => parse_list(server.list()?)?,
        None => list_datasets(&Store::open(home, Access::Read, None)?)?,
    };
    arguments.write(&datasets, write_datasets)
}

/// Parses the list of a server.
fn parse_list<T: DeserializeOwned>(list: Value) -> anyhow::Result<T> {
    serde_json::from_value(list).context("the server runs another version of lodeseek")
}

impl Arguments {
    /// Writes a list as JSON or as a table.
    fn write<T: Serialize>(
        &self,
        list: &[T],
        write_table: impl FnOnce(&mut StdoutLock<'static>, &[T]) -> io::Result<()>,
    ) -> anyhow::Result<ExitStatus> {
        let mut out = io::stdout().lock();
        match self.output.format() {
            Format::Json => {
                serde_json::to_writer_pretty(&mut out, list)?;
                writeln!(out)?;
            }
            Format::Text => write_table(&mut out, list)?,
        }
        if list.is_empty() {
            writeln!(
                messages(),
                "the collection contains no {}; `lodeseek load` adds some",
                if self.works { "works" } else { "datasets" }
            )?;
            return Ok(ExitStatus::NoResult);
        }
        Ok(ExitStatus::Success)
    }
}

fn write_works(out: &mut StdoutLock<'static>, works: &[CollectionWork]) -> io::Result<()> {
    let width = works
        .iter()
        .map(|work| work.id.len())
        .max()
        .unwrap_or(0)
        .max("work".len());
    writeln!(out, "{:<width$}  year  datasets  title", "work")?;
    for work in works {
        let year = work.year.map(|year| year.to_string()).unwrap_or_default();
        let datasets = grouped(work.datasets.len() as u64);
        writeln!(
            out,
            "{:<width$}  {year:<4}  {datasets:>8}  {}",
            safe(&work.id),
            cut(&work.title, MAX_TITLE_CHARACTERS)
        )?;
    }
    Ok(())
}

fn write_datasets(out: &mut StdoutLock<'static>, datasets: &[CollectionDataset]) -> io::Result<()> {
    let width = datasets
        .iter()
        .map(|dataset| dataset.id.as_str().chars().count())
        .max()
        .unwrap_or(0)
        .max("dataset".len());
    writeln!(
        out,
        "{:<width$}  {:>12}  {:<11}  title",
        "dataset", "triples", "state"
    )?;
    for dataset in datasets {
        writeln!(
            out,
            "{:<width$}  {:>12}  {:<11}  {}",
            safe(dataset.id.as_str()),
            grouped(dataset.triples),
            dataset.state.name(),
            cut(&dataset.title, MAX_TITLE_CHARACTERS)
        )?;
    }
    Ok(())
}
