//! `lodeseek load`: stores catalogues and dumps; with `--endpoint`, samples of the graphs of a SPARQL endpoint.

use super::ExitStatus;
use super::endpoint::EndpointArguments;
use super::terminal::{bar, cut, grouped, memory_note, rate};
use anyhow::Context;
use lodeseek_catalog::Catalog;
use lodeseek_rdf::dump::Outcome;
use lodeseek_store::{
    Access, DatasetOutcome, DatasetReport, LoadOptions, LoadProgress, LoadReport, Loader, Phase, Stamp, Store,
};
use oxsdatatypes::DateTime;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Catalogue, RDF dump, or folder of these; plain or compressed (gzip, bzip2, xz, zstd). Catalogues: DCAT or VoID in any
    /// RDF syntax; CKAN; data.json; schema.org or Croissant, also in an HTML page; the LOD Cloud's list; a registry of
    /// ontologies; ACORDAR's or Papers with Code's datasets.json; DataFinder's collection.jsonl. Dumps: Turtle, TriG, N3,
    /// N-Triples, N-Quads, RDF/XML, JSON-LD, HDT.
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint", value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    endpoint: EndpointArguments,
    /// Write the outcome of each dataset and file as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Base of all IRIs. It is fixed when the home is created.
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
    /// Prefix of each dataset id, so that two catalogues can use the same ids.
    #[arg(long, value_name = "TEXT", default_value = "")]
    id_prefix: String,
}

/// Maximum number of problems printed for one dataset. The report file contains more.
const SHOWN: usize = 3;

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    if arguments.endpoint.is_given() {
        let Arguments { report, base, id_prefix, .. } = arguments;
        return arguments.endpoint.load(home, base.as_deref(), id_prefix, report.as_deref());
    }
    // All sources are read before anything is written, so that a mistyped name does not interrupt a load.
    let mut catalogs = Vec::new();
    let mut sources_of_ids = BTreeMap::new();
    for source in &arguments.sources {
        let mut catalog = Catalog::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        for dataset in &mut catalog.datasets {
            let id = format!("{}{}", arguments.id_prefix, dataset.metadata.id);
            dataset.metadata.id = lodeseek_catalog::DatasetId::new(id)?;
            if let Some(other) = sources_of_ids.insert(dataset.metadata.id.clone(), source) {
                anyhow::bail!(
                    "the dataset id {} is in {} and in {}; load the sources one by one, with --id-prefix",
                    dataset.metadata.id,
                    other.display(),
                    source.display()
                );
            }
        }
        catalogs.push(catalog);
    }
    let mut report_file = match &arguments.report {
        Some(path) => Some(File::create(path).with_context(|| format!("cannot write {}", path.display()))?),
        None => None,
    };
    let store = Store::open(home, Access::Write, arguments.base.as_deref())?;
    let started = Instant::now();
    let mut total = LoadReport::default();
    for catalog in catalogs {
        let report = load(&store, catalog)?;
        total.datasets.extend(report.datasets);
        total.catalog_problems.extend(report.catalog_problems);
        total.cleared_graphs += report.cleared_graphs;
    }
    let time = started.elapsed();
    if let Some(file) = &mut report_file {
        serde_json::to_writer_pretty(&mut *file, &total)?;
        writeln!(file)?;
    }
    let mut out = io::stderr().lock();
    write_problems(&mut out, &total, arguments.report.is_some())?;
    let count = |outcome: DatasetOutcome| total.datasets.iter().filter(|dataset| dataset.outcome == outcome).count();
    writeln!(
        out,
        "{} datasets: {} loaded, {} replaced, {} unchanged, {} without content; {} distinct triples of {} read in {:.1} s ({} triples/s{})",
        total.datasets.len(),
        count(DatasetOutcome::Loaded),
        count(DatasetOutcome::Replaced),
        count(DatasetOutcome::Unchanged),
        count(DatasetOutcome::MetadataOnly),
        grouped(total.triples()),
        grouped(total.datasets.iter().map(|dataset| dataset.read).sum()),
        time.as_secs_f64(),
        rate(total.triples(), time),
        memory_note(),
    )?;
    let kept = count(DatasetOutcome::Kept);
    if kept > 0 {
        writeln!(out, "{kept} keep their previous content: a file of theirs cannot be read")?;
        return Ok(ExitStatus::NoResult);
    }
    Ok(ExitStatus::Success)
}

fn load(store: &Store, catalog: Catalog) -> anyhow::Result<LoadReport> {
    let bar = bar(1, "{msg:8} {bar:30} {bytes} of {total_bytes} · {prefix} · {eta} left");
    let started = Instant::now();
    let show = |progress: LoadProgress| {
        bar.set_length(progress.bytes_total.max(1));
        bar.set_position(progress.bytes);
        bar.set_message(match progress.phase {
            Phase::Reading => "reading",
            Phase::Writing => "writing",
            Phase::Clearing => "clearing",
        });
        bar.set_prefix(format!(
            "{} of {} datasets · {} triples/s",
            progress.datasets,
            progress.datasets_total,
            rate(progress.triples, started.elapsed())
        ));
    };
    let stamp = Stamp { now: Some(DateTime::now()), origin: None };
    let options = LoadOptions { stamp, ..LoadOptions::default() };
    let report = Loader::new(store).with_options(options).load(catalog, &show)?;
    bar.finish_and_clear();
    Ok(report)
}

fn write_problems(out: &mut impl Write, report: &LoadReport, has_file: bool) -> io::Result<()> {
    for problem in &report.catalog_problems {
        writeln!(out, "catalogue: {}", cut(problem, 200))?;
    }
    let affected: Vec<&DatasetReport> = report.with_problems().collect();
    if affected.is_empty() {
        return Ok(());
    }
    writeln!(out, "{:<12} {:>9} {:>8}  problems", "dataset", "triples", "skipped")?;
    for dataset in &affected {
        writeln!(
            out,
            "{:<12} {:>9} {:>8}  {}",
            cut(dataset.id.as_str(), 12),
            grouped(dataset.triples),
            dataset.skipped,
            cut(&dataset.title, 60)
        )?;
        let problems = dataset.files.iter().filter(|file| !file.is_clean()).flat_map(|file| {
            let outcome = match file.outcome {
                Outcome::Refused => "refused: ",
                Outcome::Unreadable => "not read: ",
                Outcome::Complete | Outcome::Skipped | Outcome::Truncated => "",
            };
            file.problems.iter().map(move |problem| format!("{}: {outcome}{problem}", file.file))
        });
        let problems: Vec<String> = problems.collect();
        for problem in problems.iter().take(SHOWN) {
            writeln!(out, "{:<32} {}", "", cut(problem, 160))?;
        }
        if problems.len() > SHOWN {
            writeln!(out, "{:<32} … and {} more", "", problems.len() - SHOWN)?;
        }
    }
    if !has_file {
        writeln!(out, "(--report FILE writes all problems as JSON)")?;
    }
    Ok(())
}
