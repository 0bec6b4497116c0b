//! `lodeseek status`: the state of the collection on one screen.

use super::ExitStatus;
use super::output::OutputArguments;
use super::server_client::ServerArguments;
use super::terminal::{Format, counted, grouped, safe};
use anyhow::Context;
use lodeseek_cli::encoder::{MULTILINGUAL_MODEL, SHIPPED_MODEL};
use lodeseek_engine::{
    CollectionStatus, CoverageCounts, IndexStatus, VectorStatus, collection_status,
};
use lodeseek_rdf::language_name;
use lodeseek_store::{Access, Store};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    server: ServerArguments,
}

/// JSON output: the state, with the folder or the address, and the version of the program.
#[derive(Serialize)]
struct Output<'s> {
    #[serde(flatten)]
    place: Place<'s>,
    version: &'s str,
    #[serde(flatten)]
    status: &'s CollectionStatus,
}

/// Place of a collection.
#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Place<'s> {
    /// Folder on this machine.
    Home(&'s Path),
    /// Address of a server.
    Server(&'s str),
}

/// State of the collection of a server.
#[derive(Deserialize)]
struct ServerStatus {
    version: String,
    status: CollectionStatus,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let format = arguments.output.format();
    if let Some(server) = arguments.server.find(home)? {
        let received = serde_json::from_value(server.status()?);
        let ServerStatus { version, status } =
            received.context("the server runs another version of lodeseek")?;
        let place = if server.is_remote() {
            Place::Server(server.name())
        } else {
            Place::Home(home)
        };
        write_output(
            format,
            &Output {
                place,
                version: &version,
                status: &status,
            },
        )?;
        return Ok(ExitStatus::Success);
    }
    let status = collection_status(&Store::open(home, Access::Read, None)?)?;
    write_output(
        format,
        &Output {
            place: Place::Home(home),
            version: env!("CARGO_PKG_VERSION"),
            status: &status,
        },
    )?;
    Ok(ExitStatus::Success)
}

fn write_output(format: Format, output: &Output<'_>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, output)?;
            writeln!(out)?;
        }
        Format::Text => write_status_text(&mut out, output)?,
    }
    Ok(())
}

fn write_status_text(out: &mut impl Write, output: &Output<'_>) -> io::Result<()> {
    let status = output.status;
    match output.place {
        Place::Home(home) => writeln!(out, "home      {}", home.display())?,
        Place::Server(address) => writeln!(out, "server    {address}")?,
    }
    writeln!(out, "base      {}", status.base)?;
    writeln!(out, "version   {}", safe(output.version))?;
    let without = match status.without_content {
        0 => String::new(),
        number => format!(", {} without content", grouped(number)),
    };
    writeln!(
        out,
        "datasets  {}{without}; {} triples",
        grouped(status.datasets),
        grouped(status.triples)
    )?;
    if let Some(modified) = &status.modified {
        writeln!(out, "changed   {}", safe(modified))?;
    }
    match &status.index {
        None => writeln!(out, "index     none; run `lodeseek index`")?,
        Some(index) => {
            writeln!(out, "index     {}", index_line(index))?;
            writeln!(out, "places    {}", coverage_line(index.places))?;
            writeln!(out, "periods   {}", coverage_line(index.periods))?;
        }
    }
    if let Some(translations) = &status.translations {
        let into: Vec<&str> = translations
            .into
            .iter()
            .map(|code| language_name(code))
            .collect();
        writeln!(
            out,
            "languages queries are translated into {}: {} expressions of {}",
            safe(&into.join(", ")),
            grouped(translations.expressions),
            counted(translations.languages, "language")
        )?;
    }
    for vectors in &status.vectors {
        writeln!(out, "vectors   {}", vectors_line(vectors))?;
    }
    let models: Vec<&str> = status
        .vectors
        .iter()
        .map(|one| one.model.as_str())
        .collect();
    if models.contains(&SHIPPED_MODEL) && !models.contains(&MULTILINGUAL_MODEL) {
        writeln!(
            out,
            "vectors   none of {MULTILINGUAL_MODEL}: `index` makes them if texts are in other languages than English"
        )?;
    }
    if status.works > 0 {
        writeln!(out, "works     {}", grouped(status.works))?;
    }
    let total: u64 = status.bytes.values().sum();
    let mut parts: Vec<(&String, &u64)> = status
        .bytes
        .iter()
        .filter(|(_, bytes)| **bytes * 100 >= total)
        .collect();
    parts.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let parts: Vec<String> = parts
        .iter()
        .map(|(name, bytes)| format!("{} {}", safe(name), format_size(**bytes)))
        .collect();
    writeln!(
        out,
        "size      {}: {}",
        format_size(total),
        parts.join(", ")
    )
}

fn index_line(index: &IndexStatus) -> String {
    let freshness = if index.is_up_to_date() {
        "up to date".to_owned()
    } else {
        let counts = [
            (index.not_indexed, "not indexed"),
            (index.outdated, "outdated"),
            (index.removed, "no longer in the store"),
        ];
        let counts = counts.iter().filter(|(number, _)| *number > 0);
        let counts: Vec<String> = counts
            .map(|(number, what)| format!("{} {what}", grouped(*number)))
            .collect();
        format!("{}; run `lodeseek index`", counts.join(", "))
    };
    format!(
        "{} datasets, analysis {}; {freshness}",
        grouped(index.datasets),
        index.analysis
    )
}

fn coverage_line(counts: CoverageCounts) -> String {
    let all = grouped(counts.metadata + counts.content);
    format!(
        "{all}: {} from metadata, {} from content",
        grouped(counts.metadata),
        grouped(counts.content)
    )
}

fn vectors_line(vectors: &VectorStatus) -> String {
    if let Some(problem) = &vectors.problem {
        return format!("{}: {}", safe(&vectors.model), safe(problem));
    }
    let form = match (vectors.columns, vectors.precision) {
        (Some(columns), Some(precision)) => format!(", {columns} columns of {precision}"),
        _ => String::new(),
    };
    let freshness = match vectors.missing {
        0 => "up to date".to_owned(),
        missing => format!("datasets without up-to-date vectors: {missing}"),
    };
    format!(
        "{}{form}, {}; {freshness}",
        safe(&vectors.model),
        format_size(vectors.bytes)
    )
}

/// Returns a size in a unit for people.
fn format_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}
