//! `lodeseek load`: catalogues and dumps into the store; with `--endpoint`, samples of what an endpoint holds.

use super::Done;
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
    /// A catalogue, plain or in gzip, bzip2, xz or zstd (DCAT or VoID in any RDF syntax; CKAN; data.json; schema.org or
    /// Croissant, also in a page; the LOD Cloud's list; a registry of ontologies; ACORDAR's or Papers with Code's
    /// datasets.json; DataFinder's collection.jsonl), an RDF dump (Turtle, TriG, N3, N-Triples, N-Quads, RDF/XML, JSON-LD or
    /// HDT), or a folder of these.
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint", value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    endpoint: EndpointArguments,
    /// Write what became of every dataset and file, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The base of all IRIs; set once, when the home is made.
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
    /// Put this before every dataset id, so that two catalogues may use the same ids.
    #[arg(long, value_name = "TEXT", default_value = "")]
    id_prefix: String,
}

/// Problems shown for one dataset; the report holds more.
const SHOWN: usize = 3;

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    if arguments.endpoint.is_named() {
        let Arguments { report, base, id_prefix, .. } = arguments;
        return arguments.endpoint.load(home, base.as_deref(), id_prefix, report.as_deref());
    }
    // Every source is read before anything is written: a mistyped name must not stop a load half-way.
    let mut catalogs = Vec::new();
    let mut sources_of_ids = BTreeMap::new();
    for source in &arguments.sources {
        let mut catalog = Catalog::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        for dataset in &mut catalog.datasets {
            let id = format!("{}{}", arguments.id_prefix, dataset.metadata.id);
            dataset.metadata.id = lodeseek_catalog::DatasetId::new(id)?;
            if let Some(other) = sources_of_ids.insert(dataset.metadata.id.clone(), source) {
                anyhow::bail!(
                    "the dataset id {} is in {} and in {}: load them one by one, with --id-prefix",
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
    let mut whole = LoadReport::default();
    for catalog in catalogs {
        let report = load(&store, catalog)?;
        whole.datasets.extend(report.datasets);
        whole.catalog_problems.extend(report.catalog_problems);
        whole.cleared_graphs += report.cleared_graphs;
    }
    let time = started.elapsed();
    if let Some(file) = &mut report_file {
        serde_json::to_writer_pretty(&mut *file, &whole)?;
        writeln!(file)?;
    }
    let mut out = io::stderr().lock();
    write_problems(&mut out, &whole, arguments.report.is_some())?;
    let count = |outcome: DatasetOutcome| whole.datasets.iter().filter(|dataset| dataset.outcome == outcome).count();
    writeln!(
        out,
        "{} datasets: {} loaded, {} replaced, {} unchanged, {} without content; {} distinct triples of {} read in {:.1} s ({} triples/s{})",
        whole.datasets.len(),
        count(DatasetOutcome::Loaded),
        count(DatasetOutcome::Replaced),
        count(DatasetOutcome::Unchanged),
        count(DatasetOutcome::MetadataOnly),
        grouped(whole.triples()),
        grouped(whole.datasets.iter().map(|dataset| dataset.read).sum()),
        time.as_secs_f64(),
        rate(whole.triples(), time),
        memory_note(),
    )?;
    let kept = count(DatasetOutcome::Kept);
    if kept > 0 {
        writeln!(out, "{kept} kept as they were before, since a file of theirs cannot be read now")?;
        return Ok(Done::Nothing);
    }
    Ok(Done::Something)
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
    let troubled: Vec<&DatasetReport> = report.with_problems().collect();
    if troubled.is_empty() {
        return Ok(());
    }
    writeln!(out, "{:<12} {:>9} {:>8}  problems", "dataset", "triples", "skipped")?;
    for dataset in &troubled {
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
