//! `lodeseek load`: stores catalogues and dumps; with `--endpoint`, samples of the graphs of a SPARQL endpoint.

use super::ExitStatus;
use super::config::Config;
use super::endpoint::EndpointArguments;
use super::local::{local_home, make_local_change, unexpected_report};
use super::provenance;
use super::server_client::{ServerArguments, ServerClient};
use super::terminal::{counted, cut, grouped, memory_note, rate, safe};
use super::worker::WorkerArguments;
use anyhow::Context;
use lodeseek_catalog::{CitingWork, CitingWorks};
use lodeseek_changes::{
    Assigned, Change, ChangeReport, DumpsRequest, LoadOutcome, LoadRequest, LocalHome, WorksUpload,
};
use lodeseek_cli::streams::messages;
use lodeseek_engine::AddedWorks;
use lodeseek_harvest::is_address;
use lodeseek_net::egress::Cancellation;
use lodeseek_rdf::dump::{FileReport, Outcome};
use lodeseek_store::{
    ContentPlace, DatasetCounts, DatasetOutcome, DatasetReport, IdConflict, LoadReport,
};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Catalogue, RDF dump, table, or folder of these; plain or compressed (gzip, bzip2, xz, zstd). Catalogues: DCAT or VoID
    /// in any RDF syntax; CKAN; data.json; Data Package; DataCite; ISO 19139; OGC API Records; STAC collections; CSV on the
    /// Web; schema.org or Croissant, also in an HTML page; RO-Crate; the LOD Cloud's list; a registry of ontologies;
    /// ACORDAR's or Papers with Code's datasets.json; DataFinder's collection.jsonl. Dumps: Turtle, TriG, N3, N-Triples,
    /// N-Quads, RDF/XML, JSON-LD, HDT. Tables: CSV, TSV, XLSX, XLS, ODS, GeoJSON. Lists of works that use datasets: JSON
    /// Lines with title, abstract, year, url and datasets (ids).
    #[arg(
        required_unless_present = "endpoint",
        conflicts_with = "endpoint",
        value_name = "SOURCE"
    )]
    sources: Vec<PathBuf>,
    /// Folder of dumps named after the ids of the datasets, as ACORDAR publishes them: files ID.nt, ID.ttl.gz and so on, and all
    /// RDF files in folders ID; or a zip or tar archive of such a folder, which is extracted into a temporary folder (TMPDIR). They
    /// replace the links of the catalogue, which are kept as metadata.
    #[arg(long, value_name = "PATH", conflicts_with = "endpoint")]
    dumps: Option<PathBuf>,
    /// Path of a dataset's dump, or of a folder of its dumps, in the folder of --dumps, such as {id}/data.nt.
    #[arg(long, value_name = "PATH", requires = "dumps")]
    dumps_pattern: Option<String>,
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
    /// Replace datasets of other sources that have the same ids. Without it, a dataset whose id another source uses gets another
    /// id. A dataset with an IRI is the same in every source.
    #[arg(long, conflicts_with = "endpoint")]
    replace: bool,
    /// Keep the content in files only, not in the RDF store: search, snippets, pages and downloads work, SPARQL over the content
    /// does not. Saves most of the time and disk space of large dumps.
    #[arg(long, conflicts_with = "endpoint")]
    no_store: bool,
    /// List every dataset with a problem, and the first problems of its files. Without it, problems are summarized.
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    workers: WorkerArguments,
    #[command(flatten)]
    server: ServerArguments,
}

/// Maximum number of problems printed for one dataset. The report file contains more.
const MAX_PROBLEMS: usize = 3;
/// Maximum number of printed kinds of problems of catalogues.
const MAX_PROBLEM_KINDS: usize = 12;

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    if let Some(address) = arguments.sources.iter().find(|source| is_web(source)) {
        let address = address.display();
        anyhow::bail!("{address} is an address on the web: `lodeseek harvest {address}` reads it");
    }
    let base = arguments
        .base
        .as_deref()
        .or(config.settings.base.as_deref());
    let server = arguments.server.find(home)?;
    if arguments.endpoint.is_given() {
        anyhow::ensure!(
            server.is_none(),
            "--endpoint cannot be used through a server; stop the server, or sample the endpoint into another home"
        );
        let Arguments {
            report, id_prefix, ..
        } = arguments;
        return arguments
            .endpoint
            .load(home, config, base, id_prefix, report.as_deref());
    }
    let place = match server {
        Some(server) => {
            arguments.check_server(&server)?;
            Place::Server(server)
        }
        None => Place::Home(local_home(home, config, base, &arguments.workers)?),
    };
    arguments.load(&place)
}

/// Collection into which sources are loaded.
enum Place {
    /// That of a server.
    Server(ServerClient),
    /// A home that no server serves.
    Home(LocalHome),
}

impl Place {
    fn load(&self, request: LoadRequest) -> anyhow::Result<LoadOutcome> {
        match self {
            Self::Server(server) => server.load(&request),
            Self::Home(local) => {
                let change = Change::Load(Box::new(request));
                match make_local_change(local, change, "datasets", Cancellation::default())? {
                    ChangeReport::Load(outcome) => Ok(*outcome),
                    other => Err(unexpected_report(&other)),
                }
            }
        }
    }

    fn add_works(&self, works: Vec<CitingWork>) -> anyhow::Result<AddedWorks> {
        match self {
            Self::Server(server) => server.add_works(&works),
            Self::Home(local) => {
                let change = Change::Works(WorksUpload::List(works));
                match make_local_change(local, change, "works", Cancellation::default())? {
                    ChangeReport::Works(added) => Ok(added),
                    other => Err(unexpected_report(&other)),
                }
            }
        }
    }

    /// Returns the end of the line of numbers: the effort, or who has indexed the datasets.
    fn note(&self, report: &LoadReport, time: Duration) -> String {
        match self {
            Self::Server(server) => format!("; indexed by {}", server.name()),
            Self::Home(_) => format_effort(report, time),
        }
    }

    /// Returns the name of the command or server that makes the vectors of works.
    fn maker(&self) -> &str {
        match self {
            Self::Server(server) => server.name(),
            Self::Home(_) => "`lodeseek index`",
        }
    }
}

/// Returns true if a source is an address on the web, not a path.
fn is_web(source: &Path) -> bool {
    source.to_str().is_some_and(is_address)
}

impl Arguments {
    /// Reads the sources that are lists of works, and writes their problems. Returns the works, `None` without such a source,
    /// and the other sources.
    ///
    /// # Errors
    /// If a list cannot be read or contains no work.
    fn read_works(&self) -> anyhow::Result<(Option<Vec<CitingWork>>, Vec<PathBuf>)> {
        let (mut works, mut others) = (None, Vec::new());
        for source in &self.sources {
            if !CitingWorks::is_list(source)? {
                others.push(source.clone());
                continue;
            }
            let list = CitingWorks::read(source)?;
            if let Some(first) = list.problems.first() {
                let lines = counted(list.problems.len(), "line");
                anyhow::ensure!(
                    !list.works.is_empty(),
                    "{} contains no work: {first}",
                    source.display()
                );
                writeln!(
                    messages(),
                    "{lines} of {} not read; first: {}",
                    source.display(),
                    cut(first, 160)
                )?;
            }
            works
                .get_or_insert_with(Vec::new)
                .extend(list.with_prefix(&self.id_prefix)?);
        }
        Ok((works, others))
    }

    /// Rejects options that a server cannot follow.
    fn check_server(&self, server: &ServerClient) -> anyhow::Result<()> {
        let name = server.name();
        if let Some(base) = &self.base {
            server.check_base(base)?;
        }
        anyhow::ensure!(
            self.dumps.is_none() || !server.is_remote(),
            "--dumps cannot be used with --server: {name} receives single files; run the command on its machine"
        );
        anyhow::ensure!(
            !self.workers.is_any(),
            "--worker-memory and --no-workers cannot be used, because {name} has its own workers; omit them"
        );
        Ok(())
    }

    /// Loads the sources, and then the works.
    fn load(&self, place: &Place) -> anyhow::Result<ExitStatus> {
        // A mistyped name does not interrupt a load.
        let (works, sources) = self.read_works()?;
        // A report that cannot be written is an error before the load, which may take hours.
        if let Some(path) = &self.report {
            provenance::check_writable(path).context("the report cannot be written")?;
        }
        let started = Instant::now();
        let outcome = if sources.is_empty() {
            None
        } else {
            Some(place.load(self.request(&sources))?)
        };
        let time = started.elapsed();
        if let Some(path) = &self.report {
            let empty = LoadReport::default();
            let report = outcome.as_ref().map(|outcome| &outcome.report);
            provenance::write(path, report.unwrap_or(&empty))?;
        }
        let mut out = messages();
        if let Some(LoadOutcome { report, .. }) = &outcome {
            self.write_problems(&mut out, report)?;
            writeln!(
                out,
                "{}{}",
                format_outcomes(report),
                place.note(report, time)
            )?;
        }
        // The works follow the datasets that they use.
        if let Some(works) = works {
            write_added_works(&mut out, &place.add_works(works)?, place.maker())?;
        }
        let Some(outcome) = outcome else {
            return Ok(ExitStatus::Success);
        };
        if let (Some(assigned), Some(folder)) = (&outcome.assigned_dumps, &self.dumps) {
            write_assigned_dumps(&mut out, assigned, folder, self.verbose)?;
        }
        let incomplete: Vec<PathBuf> = outcome
            .incomplete_sources
            .iter()
            .filter_map(|number| sources.get(*number).cloned())
            .collect();
        Ok(write_losses(&mut out, &outcome.report, &incomplete)?)
    }

    /// Returns the request of a load.
    fn request(&self, sources: &[PathBuf]) -> LoadRequest {
        let dumps = self.dumps.as_ref().map(|path| DumpsRequest {
            path: path.clone(),
            pattern: self.dumps_pattern.clone(),
        });
        LoadRequest {
            sources: sources.to_vec(),
            id_prefix: self.id_prefix.clone(),
            replace: self.replace,
            content: self.no_store.then_some(ContentPlace::IndexOnly),
            dumps,
            ..LoadRequest::default()
        }
    }

    /// Writes the problems of a load: each, or a summary.
    fn write_problems(&self, out: &mut impl Write, report: &LoadReport) -> io::Result<()> {
        let problems = Problems {
            report,
            has_file: self.report.is_some(),
        };
        if self.verbose {
            problems.write_all(out)
        } else {
            problems.write_summary(out)
        }
    }
}

/// Returns the numbers of datasets by outcome, and of triples. Outcomes of no dataset are omitted.
fn format_outcomes(report: &LoadReport) -> String {
    let DatasetCounts {
        datasets,
        loaded,
        replaced,
        unchanged,
        kept,
        metadata_only,
        triples,
        ..
    } = report.counts();
    let mut parts = Vec::new();
    for (number, outcome) in [
        (loaded, "loaded"),
        (replaced, "replaced"),
        (unchanged, "unchanged"),
        (kept, "not loaded"),
        (metadata_only, "with a description and no data"),
    ] {
        if number > 0 {
            parts.push(format!("{} {outcome}", grouped(number as u64)));
        }
    }
    let mut text = counted(datasets, "dataset");
    if !parts.is_empty() {
        text = format!("{text}: {}", parts.join(", "));
    }
    if triples > 0 {
        text = format!("{text}; {}", counted(triples, "distinct triple"));
    }
    text
}

/// Returns the number of triples read and their rate, if there are any, and the time.
fn format_effort(report: &LoadReport, time: Duration) -> String {
    let read: u64 = report.datasets.iter().map(|dataset| dataset.read).sum();
    let seconds = time.as_secs_f64();
    if read == 0 {
        return format!(" in {seconds:.1} s");
    }
    format!(
        " of {} read in {seconds:.1} s ({} triples/s{})",
        grouped(read),
        rate(report.triples(), time),
        memory_note()
    )
}

/// Writes the number of datasets that were not replaced, and the incomplete sources. Returns the exit status of the load.
fn write_losses(
    out: &mut impl Write,
    report: &LoadReport,
    incomplete: &[PathBuf],
) -> io::Result<ExitStatus> {
    let kept: Vec<&DatasetReport> = report
        .datasets
        .iter()
        .filter(|dataset| dataset.outcome == DatasetOutcome::Kept)
        .collect();
    for dataset in kept.iter().take(MAX_PROBLEMS) {
        let name = match dataset.files.iter().find(|file| file.triples == 0) {
            Some(file) => safe(&file.file),
            None => "its file".to_owned(),
        };
        writeln!(
            out,
            "{} is not loaded: {name} cannot be read, or holds no statement; content loaded before is unchanged",
            dataset.id
        )?;
    }
    let unkept = report
        .datasets
        .iter()
        .flat_map(|dataset| &dataset.unkept_files);
    for message in unkept.take(MAX_PROBLEMS) {
        writeln!(out, "{}", cut(message, 240))?;
    }
    let number = report.counts().kept;
    if number > MAX_PROBLEMS {
        writeln!(
            out,
            "neither are {}",
            counted(number - MAX_PROBLEMS, "other dataset")
        )?;
    }
    for source in incomplete {
        writeln!(
            out,
            "{}: datasets may be missing, because a file or an entry is truncated or cannot be read; the problems above name it",
            source.display()
        )?;
    }
    write_conflicts(out, report)?;
    let duplicates = report.duplicate_count();
    for duplicate in report.duplicates.iter().take(MAX_PROBLEMS) {
        writeln!(out, "not loaded: {}", cut(duplicate, 240))?;
    }
    if duplicates > MAX_PROBLEMS {
        writeln!(
            out,
            "neither are {} listed twice",
            counted(duplicates - MAX_PROBLEMS, "other entry")
        )?;
    }
    let mut files = report.datasets.iter().flat_map(|dataset| &dataset.files);
    let is_truncated = files.any(|file| file.outcome == Outcome::Truncated);
    let is_complete = number == 0 && duplicates == 0 && incomplete.is_empty() && !is_truncated;
    Ok(if is_complete {
        ExitStatus::Success
    } else {
        ExitStatus::NoResult
    })
}

/// Writes the datasets whose ids another source uses, with their other ids.
fn write_conflicts(out: &mut impl Write, report: &LoadReport) -> io::Result<()> {
    for conflict in report.id_conflicts.iter().take(MAX_PROBLEMS) {
        let IdConflict {
            id,
            title,
            new_id,
            former_id,
            other_title,
            other_source,
        } = conflict;
        let former = former_id
            .as_ref()
            .map(|former| format!("; it is no longer {former}"))
            .unwrap_or_default();
        let source = other_source
            .as_ref()
            .map(|source| format!(" from {}", safe(source)))
            .unwrap_or_default();
        let (title, other) = (cut(title, 80), cut(other_title, 80));
        match new_id {
            Some(new_id) => writeln!(
                out,
                "{title:?} has the id {new_id}, because {id} is {other:?}{source}"
            )?,
            None => writeln!(
                out,
                "{title:?} has replaced {id}, which was {other:?}{source}{former}"
            )?,
        }
    }
    let number = report.id_conflicts.len() + report.unlisted_id_conflicts;
    if number > MAX_PROBLEMS {
        writeln!(
            out,
            "the ids of {} are those of other sources, too",
            counted(number - MAX_PROBLEMS, "other dataset")
        )?;
    }
    Ok(())
}

/// Writes the number of works and of the datasets that they use, and the name of the command or server that makes their vectors.
fn write_added_works(out: &mut impl Write, added: &AddedWorks, maker: &str) -> io::Result<()> {
    let AddedWorks {
        added,
        replaced,
        unchanged,
        total,
        used_datasets,
        unknown_datasets,
    } = *added;
    writeln!(
        out,
        "{}: {added} new, {replaced} replaced, {unchanged} unchanged; they use {}; {maker} makes their vectors",
        counted(total, "work"),
        counted(used_datasets, "dataset"),
    )?;
    if unknown_datasets > 0 {
        let (verb, them) = if unknown_datasets == 1 {
            ("is", "it is")
        } else {
            ("are", "they are")
        };
        let ids = counted(unknown_datasets, "other id");
        writeln!(
            out,
            "{ids} {verb} no dataset of the home; {them} used as soon as such a dataset is loaded"
        )?;
    }
    Ok(())
}

/// Writes the number of datasets with dumps, and the ids of those without: the first ones, or all.
fn write_assigned_dumps(
    out: &mut impl Write,
    assigned: &Assigned,
    folder: &Path,
    all: bool,
) -> io::Result<()> {
    let datasets = assigned.datasets + assigned.missing.len();
    write!(
        out,
        "{} of {} have a dump in {}",
        grouped(assigned.datasets as u64),
        counted(datasets, "dataset"),
        folder.display()
    )?;
    if assigned.unused_files > 0 {
        write!(
            out,
            "; {} there belong to none",
            counted(assigned.unused_files, "file")
        )?;
    }
    writeln!(out)?;
    if !assigned.missing.is_empty() {
        let shown = if all {
            assigned.missing.len()
        } else {
            MAX_PROBLEMS.min(assigned.missing.len())
        };
        let ids: Vec<&str> = assigned.missing[..shown]
            .iter()
            .map(|id| id.as_str())
            .collect();
        let rest = assigned.missing.len() - shown;
        let more = if rest > 0 {
            format!(" and {} more (--verbose lists all)", grouped(rest as u64))
        } else {
            String::new()
        };
        writeln!(out, "without a dump: {}{more}", ids.join(", "))?;
    }
    Ok(())
}

/// Writer of the problems of a load.
struct Problems<'r> {
    report: &'r LoadReport,
    /// If true, a report file contains all problems.
    has_file: bool,
}

/// Files with one kind of problem.
#[derive(Default)]
struct Summary<'r> {
    files: usize,
    statements: u64,
    first: Option<(&'r DatasetReport, &'r FileReport)>,
}

impl<'r> Problems<'r> {
    /// Writes one line for each kind of problem, with its first example.
    fn write_summary(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_kinds(out)?;
        let mut summaries: BTreeMap<Kind, Summary<'r>> = BTreeMap::new();
        for dataset in self.report.with_problems() {
            for file in dataset.files.iter().filter(|file| !file.is_clean()) {
                let summary = summaries.entry(Kind::new(file)).or_default();
                summary.files += 1;
                summary.statements += file.skipped;
                summary.first = summary.first.or(Some((dataset, file)));
            }
        }
        for (kind, summary) in &summaries {
            writeln!(
                out,
                "{}: {}{}",
                counted(summary.files, "file"),
                kind.text(summary.statements),
                first_problem(*kind, summary)
            )?;
        }
        self.write_unlisted_count(out)?;
        let is_complete = summaries.is_empty()
            && self
                .report
                .catalog_problem_kinds
                .iter()
                .all(|kind| kind.count == 1);
        if !is_complete && !self.has_file {
            writeln!(
                out,
                "(--verbose lists all problems, --report FILE writes them as JSON)"
            )?;
        }
        Ok(())
    }

    /// Writes one line for each kind of problem of the catalogues, with its first example.
    fn write_kinds(&self, out: &mut impl Write) -> io::Result<()> {
        let kinds = &self.report.catalog_problem_kinds;
        for kind in kinds.iter().take(MAX_PROBLEM_KINDS) {
            let number = if kind.count == 1 {
                String::new()
            } else {
                format!("{} like ", grouped(kind.count as u64))
            };
            writeln!(out, "catalogue: {number}{}", cut(&kind.example, 240))?;
        }
        let others: usize = kinds
            .iter()
            .skip(MAX_PROBLEM_KINDS)
            .map(|kind| kind.count)
            .sum();
        if others > 0 {
            writeln!(
                out,
                "catalogue: … and {} of other kinds",
                counted(others, "problem")
            )?;
        }
        Ok(())
    }

    /// Writes all problems of the catalogues, and the first problems of each dataset.
    fn write_all(&self, out: &mut impl Write) -> io::Result<()> {
        for problem in &self.report.catalog_problems {
            writeln!(out, "catalogue: {}", cut(problem, 200))?;
        }
        if self.report.unlisted_catalog_problems > 0 {
            writeln!(
                out,
                "catalogue: … and {} more",
                grouped(self.report.unlisted_catalog_problems as u64)
            )?;
        }
        let affected: Vec<&DatasetReport> = self.report.with_problems().collect();
        if affected.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "{:<12} {:>9} {:>8}  problems",
            "dataset", "triples", "skipped"
        )?;
        affected
            .iter()
            .try_for_each(|dataset| write_dataset(out, dataset))?;
        self.write_unlisted_count(out)?;
        if !self.has_file {
            writeln!(out, "(--report FILE writes all problems as JSON)")?;
        }
        Ok(())
    }

    /// Writes the number of datasets with problems that the report of a server does not list.
    fn write_unlisted_count(&self, out: &mut impl Write) -> io::Result<()> {
        match self.report.unlisted_datasets.with_problems {
            0 => Ok(()),
            number => writeln!(
                out,
                "{} with problems are not listed",
                counted(number, "further dataset")
            ),
        }
    }
}

/// Kinds of problems with files, in the order of the summary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Unreadable,
    Truncated,
    Refused,
    Remote,
    Skipped,
}

impl Kind {
    fn new(file: &FileReport) -> Self {
        match file.outcome {
            Outcome::Unreadable => Self::Unreadable,
            Outcome::Truncated => Self::Truncated,
            Outcome::Refused if file.is_on_web() => Self::Remote,
            Outcome::Refused => Self::Refused,
            Outcome::Complete | Outcome::Skipped => Self::Skipped,
        }
    }

    fn text(self, statements: u64) -> String {
        match self {
            Self::Unreadable => "not read".to_owned(),
            Self::Truncated => "truncated; read up to the break".to_owned(),
            Self::Refused => "refused".to_owned(),
            Self::Remote => {
                "on the web; `lodeseek harvest --download` reads such files, too".to_owned()
            }
            Self::Skipped => format!("{} skipped", counted(statements, "broken statement")),
        }
    }
}

/// Returns the first problem of a kind with its file. Addresses on the web need none.
fn first_problem(kind: Kind, summary: &Summary<'_>) -> String {
    let Some((dataset, file)) = summary.first.filter(|_| kind != Kind::Remote) else {
        return String::new();
    };
    let problem = file
        .problems
        .first()
        .map(|problem| format!(": {problem}"))
        .unwrap_or_default();
    let text = format!("{}, {}{problem}", dataset.id, file.file);
    format!(
        "; {}{}",
        if summary.files > 1 { "first: " } else { "" },
        cut(&text, 160)
    )
}

fn write_dataset(out: &mut impl Write, dataset: &DatasetReport) -> io::Result<()> {
    writeln!(
        out,
        "{:<12} {:>9} {:>8}  {}",
        cut(dataset.id.as_str(), 12),
        grouped(dataset.triples),
        dataset.skipped,
        cut(&dataset.title, 60)
    )?;
    let problems = dataset
        .files
        .iter()
        .filter(|file| !file.is_clean())
        .flat_map(|file| {
            let outcome = match file.outcome {
                Outcome::Refused => "refused: ",
                Outcome::Unreadable => "not read: ",
                Outcome::Complete | Outcome::Skipped | Outcome::Truncated => "",
            };
            file.problems
                .iter()
                .map(move |problem| format!("{}: {outcome}{problem}", file.file))
        });
    let problems: Vec<String> = problems.collect();
    for problem in problems.iter().take(MAX_PROBLEMS) {
        writeln!(out, "{:<32} {}", "", cut(problem, 160))?;
    }
    if problems.len() > MAX_PROBLEMS {
        writeln!(
            out,
            "{:<32} … and {} more",
            "",
            problems.len() - MAX_PROBLEMS
        )?;
    }
    Ok(())
}
