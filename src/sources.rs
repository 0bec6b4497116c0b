//! `lodeseek sources`: lists the datasets that match the triple patterns of a query.

use super::ExitStatus;
use super::output::{OutputArguments, write_json};
use super::query::read_argument;
use super::terminal::{Style, counted, cut, grouped, safe};
use lodeseek_catalog::{DatasetId, plain_text};
use lodeseek_sparql::{QueryEngine, Sources, SparqlLimits};
use lodeseek_store::{Access, Store, StoreError};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// SPARQL query; `-` reads it from stdin, `@FILE` from a file.
    #[arg(value_name = "SPARQL")]
    query: String,
    /// Maximum number of datasets printed for each pattern. JSON lists all datasets of all patterns.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let store = Store::open(home, Access::Read, None)?;
    let store = Arc::new(store);
    let found = QueryEngine::new(Arc::clone(&store))
        .sources(&read_argument(&arguments.query)?, &SparqlLimits::default())?;
    let mut out = io::stdout().lock();
    if arguments.output.is_json() {
        write_json(&mut out, &found.to_json(store.iris()))?;
    } else {
        write_table(&mut out, &store, &found, arguments.limit)?;
    }
    Ok(if found.alone.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

fn write_table(
    out: &mut impl Write,
    store: &Store,
    found: &Sources,
    limit: usize,
) -> anyhow::Result<()> {
    let style = Style::of_stdout();
    for pattern in &found.patterns {
        let all = pattern.sources.len();
        writeln!(
            out,
            "{}  {}",
            style.strong(&safe(&pattern.pattern)),
            counted(all, "dataset")
        )?;
        for source in pattern.sources.iter().take(limit) {
            let title = dataset_title(store, &source.dataset)?;
            let name = format_name(found, &source.dataset, style);
            writeln!(out, "{:>14}  {title}  {name}", grouped(source.triples))?;
        }
        write_remaining(out, all, limit)?;
    }
    writeln!(
        out,
        "{}  {}",
        style.strong("datasets that answer the query alone"),
        counted(found.alone.len(), "dataset")
    )?;
    for id in found.alone.iter().take(limit) {
        let title = dataset_title(store, id)?;
        let name = format_name(found, id, style);
        writeln!(out, "{:>14}  {title}  {name}", "")?;
    }
    write_remaining(out, found.alone.len(), limit)?;
    for service in &found.services {
        let service = safe(service);
        writeln!(
            out,
            "the patterns in SERVICE {service} are not listed: that service finds their answers"
        )?;
    }
    Ok(())
}

fn dataset_title(store: &Store, id: &DatasetId) -> Result<String, StoreError> {
    let entry = store.entry(id)?;
    Ok(cut(&plain_text(entry.dataset.metadata.title()), 80))
}

/// Returns the id of a dataset, with the endpoints that serve it.
fn format_name(found: &Sources, id: &DatasetId, style: Style) -> String {
    let mut name = style.faint(&format!("[{}]", safe(id.as_str())));
    for endpoint in found.endpoints.get(id).into_iter().flatten() {
        name += &format!("  <{}>", safe(endpoint));
    }
    name
}

/// Writes the number of datasets beyond the limit, if there are any.
fn write_remaining(out: &mut impl Write, all: usize, limit: usize) -> io::Result<()> {
    if all > limit {
        writeln!(
            out,
            "{:>14}  and {} more",
            "",
            grouped((all - limit) as u64)
        )?;
    }
    Ok(())
}
