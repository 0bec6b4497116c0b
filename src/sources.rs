//! `lodeseek sources`: lists the datasets that match the triple patterns of a query.

use super::ExitStatus;
use super::output::{OutputArguments, write_json};
use super::query::text;
use super::terminal::{Style, counted, cut, grouped, safe};
use lodeseek_catalog::{DatasetId, plain_text};
use lodeseek_sparql::{QueryEngine, Sources, SparqlLimits};
use lodeseek_store::{Access, Store};
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
        .sources(&text(&arguments.query)?, &SparqlLimits::default())?;
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
    let line = |id: &DatasetId, number: String| -> anyhow::Result<String> {
        let title = cut(&plain_text(store.entry(id)?.dataset.metadata.title()), 80);
        let endpoints = found
            .endpoints
            .get(id)
            .into_iter()
            .flatten()
            .map(|endpoint| format!("  <{}>", safe(endpoint)));
        let name = style.faint(&format!("[{}]", safe(id.as_str())));
        Ok(format!(
            "{number:>14}  {title}  {name}{}",
            endpoints.collect::<String>()
        ))
    };
    let more = |all: usize| {
        if all > limit {
            format!("{:>14}  and {} more", "", grouped((all - limit) as u64))
        } else {
            String::new()
        }
    };
    for pattern in &found.patterns {
        let all = pattern.sources.len();
        writeln!(
            out,
            "{}  {}",
            style.strong(&safe(&pattern.pattern)),
            counted(all, "dataset")
        )?;
        for source in pattern.sources.iter().take(limit) {
            writeln!(out, "{}", line(&source.dataset, grouped(source.triples))?)?;
        }
        write_if_any(out, &more(all))?;
    }
    writeln!(
        out,
        "{}  {}",
        style.strong("datasets that answer the query alone"),
        counted(found.alone.len(), "dataset")
    )?;
    for id in found.alone.iter().take(limit) {
        writeln!(out, "{}", line(id, String::new())?)?;
    }
    write_if_any(out, &more(found.alone.len()))?;
    Ok(())
}

fn write_if_any(out: &mut impl Write, line: &str) -> io::Result<()> {
    if line.is_empty() {
        Ok(())
    } else {
        writeln!(out, "{line}")
    }
}
