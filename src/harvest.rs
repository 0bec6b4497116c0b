//! `lodeseek harvest`: portals and feeds into the store, again and again.

use super::Done;
use super::egress::Others;
use super::encoder::EncoderArguments;
use super::terminal::{bar, cut, grouped, memory_note};
use anyhow::Context;
use ipnet::IpNet;
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_engine::{IndexOptions, Updater};
use lodeseek_harvest::{
    Batch, Budget, Downloads, Failure, DelistedPolicy, HarvestOptions, HarvestProgress, HarvestReport, Harvester, IdScheme, DatasetSink,
    StoreOutcome, SourceReport, default_name, is_address,
};
use lodeseek_index::vectors::Precision;
use lodeseek_net::egress::{Cancellation, Egress, EgressPolicy, IriPrefix};
use lodeseek_rdf::dump::Outcome;
use lodeseek_server::{Background, Live, when_asked_to_stop};
use lodeseek_store::{Access, DatasetOutcome, DatasetReport, LoadOptions, Loader, Stamp, Store};
use oxrdf::NamedNode;
use oxsdatatypes::DateTime;
use serde::Serialize;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Lines shown of one kind; the report holds all.
const SHOWN: usize = 5;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The address of a feed in DCAT (with Hydra's pages or `Link` headers), of a CKAN portal or its API, of a page or file
    /// of any form that `load` reads; or a local path.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// The name that files and state are kept under (`home/harvest/NAME`). Default: one for each source, made of it.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Fetch the files in RDF that the catalogues describe, too. Their hosts must be the sources' own, or allowed by --host
    /// or --other-hosts.
    #[arg(long)]
    download: bool,
    /// Harvest and index again and again, this long after the last beginning (90s, 30m, 6h, 1d), until stopped: what is
    /// being done is then brought to its end, or at once when stopped a second time. With --dpr and --colbert, vectors are
    /// made as well.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    every: Option<Duration>,
    /// Write what became of every source and dataset, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Number of consecutive incremental harvests of a CKAN portal before it is read completely again; 0 reads it completely
    /// now.
    #[arg(long, alias = "whole-after", value_name = "HARVESTS", default_value_t = HarvestOptions::default().full_harvest_every)]
    full_harvest_every: u32,
    /// Put the name before every dataset id. Without it only ids that another harvest has already get it.
    #[arg(long)]
    id_prefix: bool,
    /// Keep datasets that their source does not list any more.
    #[arg(long)]
    keep_gone: bool,
    /// What may be asked beside the sources' own hosts, or the beginning of the addresses of several; any number of times.
    #[arg(long, value_name = "IRI")]
    host: Vec<IriPrefix>,
    /// Whether hosts that neither a source nor --host names may be asked.
    #[arg(long, value_enum, default_value_t = Others::Refused)]
    other_hosts: Others,
    /// Allow a private network for the sources and --host only (127.0.0.0/8, 10.1.0.0/16). Repeatable.
    #[arg(long, alias = "inner-network", value_name = "CIDR")]
    allow_private_network: Vec<IpNet>,
    /// Milliseconds between two requests to one host.
    #[arg(long, value_name = "MS", default_value_t = 250)]
    pause: u64,
    /// Requests of one harvest at most.
    #[arg(long, value_name = "N", default_value_t = Budget::default().requests)]
    max_requests: u64,
    /// Megabytes of answers of one harvest at most.
    #[arg(long, value_name = "MB", default_value_t = Budget::default().bytes >> 20)]
    max_megabytes: u64,
    /// Minutes of one harvest at most.
    #[arg(long, value_name = "MINUTES", default_value_t = Budget::default().time.as_secs() / 60)]
    max_minutes: u64,
    /// Pages of one source at most.
    #[arg(long, value_name = "N", default_value_t = Budget::default().pages)]
    max_pages: u64,
    /// Megabytes of one page or file at most.
    #[arg(long, value_name = "MB", default_value_t = HarvestOptions::default().max_file_bytes >> 20)]
    max_file_megabytes: u64,
    /// Seconds of one request at most.
    #[arg(long, value_name = "SECONDS", default_value_t = HarvestOptions::default().request_timeout.as_secs())]
    max_file_seconds: u64,
    /// The base of all IRIs; set once, when the home is made.
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// How vectors are stored: f16 or int8, half the size. Another than they have encodes every dataset anew.
    #[arg(long, value_name = "PRECISION", default_value_t, requires = "every")]
    vectors: Precision,
}

/// A harvest as JSON.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    harvest: HarvestReport,
    /// Datasets with a file that was not read as it stands.
    problems: Vec<DatasetReport>,
    seconds: f64,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    if let Some(every) = arguments.every {
        return arguments.again_and_again(home, every);
    }
    let misplaced = "--dpr and --colbert go with --every: after a single harvest, `lodeseek index` makes vectors";
    anyhow::ensure!(!arguments.encoders.is_any(), misplaced);
    arguments.harvest(home, &Cancellation::default())
}

/// How long a wait goes on without looking whether it was given up.
const SPELL: Duration = Duration::from_millis(100);
/// How a process ends that was interrupted.
const INTERRUPTED: i32 = 130;

/// What is harvested while it is served.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct LiveArguments {
    /// Harvest this address or path while serving, again and again; any number of times. Changes are served at once.
    #[arg(long = "harvest", value_name = "SOURCE")]
    sources: Vec<String>,
    /// How long after the last beginning the next harvest begins (90s, 30m, 6h, 1d).
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "6h", requires = "sources")]
    every: Duration,
    /// Fetch the files in RDF that the harvested catalogues describe, too.
    #[arg(long, requires = "sources")]
    download: bool,
}

/// How long what was replaced stays for those who still read it.
const STAYS: Duration = Duration::from_secs(60);

impl LiveArguments {
    /// The task, where there is a source.
    pub(super) fn task(&self, home: &Path, allow_private_network: &[IpNet]) -> Option<Background> {
        if self.sources.is_empty() {
            return None;
        }
        let (live, home, inner) = (self.clone(), home.to_owned(), allow_private_network.to_vec());
        Some(Background::new(move |served| {
            let updater = || Updater::new(&served.store, LoadOptions::default(), IndexOptions::default());
            match updater().catch_up(&served.searcher) {
                Ok(0) => {}
                Ok(count) => tracing::info!("{count} datasets were not indexed as they are; they are now"),
                Err(error) => tracing::error!(%error, "what is not indexed cannot be"),
            }
            let mut pause = Duration::ZERO;
            while served.sleep(pause) {
                let started = Instant::now();
                // Each under a name of its own: a source more or less is nothing to the others.
                for source in live.sources.chunks(1) {
                    let harvested = live.harvest(source, &home, &inner, served);
                    match &harvested {
                        Ok(line) => tracing::info!("harvested {line}"),
                        Err(error) => tracing::error!("harvest: {error:#}; trying again when it is time"),
                    }
                    served.tell("harvest", harvested.map_err(|error| format!("{}: {error:#}", source.join(" "))));
                }
                if !served.sleep(STAYS.min(live.every)) {
                    return;
                }
                if let Err(error) = updater().clear() {
                    tracing::warn!(%error, "replaced content cannot be cleared; it is tried again later");
                }
                pause = live.every.saturating_sub(started.elapsed());
            }
        }))
    }

    /// One harvest of one source, in a line.
    fn harvest(&self, source: &[String], home: &Path, inner: &[IpNet], served: &Live) -> anyhow::Result<String> {
        let egress = Egress::new(policy(source, Vec::new(), Others::Refused, inner.to_vec())?);
        let existing_ids = served.store.ids()?.into_iter().collect();
        let downloads = if self.download { Downloads::Rdf } else { Downloads::None };
        let options = HarvestOptions { existing_ids, downloads, ..HarvestOptions::default() };
        let mut sink = LiveSink { served };
        let harvester = Harvester::new(&egress, &home.join("harvest"), &default_name(source)).with_options(options);
        let report = harvester.run(source, &mut sink, &|_| ())?;
        let has_changed = !report.new.is_empty() || !report.changed.is_empty() || report.gone().next().is_some();
        if has_changed {
            sink.updater(None).find_duplicates()?;
        }
        let encoded = served.searcher.encode()?;
        served.queries.prepare_statistics()?;
        let failures = report.sources.iter().flat_map(|source| &source.failed).chain(&report.failed_files);
        for failure in failures.take(SHOWN) {
            tracing::warn!("harvest: {}: {}", failure.what, failure.reason);
        }
        Ok(format!(
            "{}: {} new, {} changed, {} unchanged, {} gone, {encoded} encoded; {} requests, {} bytes",
            report.name,
            report.new.len(),
            report.changed.len(),
            report.unchanged,
            report.gone().count(),
            report.spent.requests,
            report.spent.bytes,
        ))
    }
}

/// A home that is served.
struct LiveSink<'l> {
    served: &'l Live,
}

impl LiveSink<'_> {
    fn updater(&self, origin: Option<NamedNode>) -> Updater<'_> {
        let now = Some(DateTime::now());
        let load = LoadOptions { stamp: Stamp { now, origin }, ..LoadOptions::default() };
        Updater::new(&self.served.store, load, IndexOptions { now, ..IndexOptions::default() })
    }
}

impl DatasetSink for LiveSink<'_> {
    fn store(&mut self, batch: Batch) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let origin = Some(batch.source).filter(|source| is_address(source));
        let updater = self.updater(origin.and_then(|source| NamedNode::new(source).ok()));
        let catalog = Catalog { folder: batch.folder, datasets: batch.datasets, ..Catalog::default() };
        let report = updater.run(catalog, &[])?;
        self.served.searcher.refresh()?;
        Ok(report.load.datasets.iter().map(|dataset| (dataset.id.clone(), store_outcome(dataset.outcome))).collect())
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.updater(None).remove(ids)?;
        self.served.searcher.refresh()?;
        Ok(())
    }
}

/// The sources' own hosts may be asked, whatever else is.
fn policy(
    sources: &[String],
    hosts: Vec<IriPrefix>,
    others: Others,
    inner: Vec<IpNet>,
) -> anyhow::Result<EgressPolicy> {
    let mut listed = hosts;
    for source in sources.iter().filter(|source| is_address(source)) {
        let (scheme, rest) = source.split_once("://").context("an address has a scheme")?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        listed.push(format!("{scheme}://{host}/").parse()?);
    }
    Ok(EgressPolicy { listed, others: others.into(), private_networks: inner })
}

/// A number with its unit.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration: a number and s, m, h or d");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(wrong()),
    };
    let number = number.parse::<u64>().ok().filter(|number| *number > 0).and_then(|number| number.checked_mul(seconds));
    number.map(Duration::from_secs).ok_or_else(wrong)
}

impl Arguments {
    /// Harvests and indexes until the process is asked to stop.
    fn again_and_again(&self, home: &Path, every: Duration) -> anyhow::Result<Done> {
        // A model that cannot be had is better known before anything is asked.
        let encoders = self.encoders.open(None)?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_stopped);
        when_asked_to_stop(move || {
            if asked.swap(true, Ordering::Relaxed) {
                process::exit(INTERRUPTED);
            }
        })?;
        let stop = Cancellation::from(is_stopped);
        while !stop.is_cancelled() {
            let started = Instant::now();
            let harvested = self.harvest(home, &stop);
            let outcome = match harvested {
                // What a stopped harvest stored is indexed by the next one.
                Ok(_) if stop.is_cancelled() => break,
                Ok(_) => super::index::update(home, &encoders, self.vectors),
                Err(error) => Err(error),
            };
            if let Err(error) = outcome {
                let again = if stop.is_cancelled() { "" } else { "; trying again when it is time" };
                writeln!(io::stderr().lock(), "lodeseek: {error:#}{again}")?;
            }
            while !stop.is_cancelled() && started.elapsed() < every {
                thread::sleep(SPELL.min(every.saturating_sub(started.elapsed())));
            }
        }
        Ok(Done::Something)
    }

    /// Harvests all sources: under one name where there is one, else each under a name of its own, so that a source more
    /// or less is nothing to the others.
    fn harvest(&self, home: &Path, stop: &Cancellation) -> anyhow::Result<Done> {
        let single = self.name.is_some() || self.sources.len() == 1;
        let parts = if single { vec![&self.sources[..]] } else { self.sources.chunks(1).collect() };
        let mut reports = Vec::new();
        for sources in parts {
            reports.push(self.harvest_of(home, sources, stop)?);
        }
        if let Some(path) = &self.report {
            let whole = if single { serde_json::to_value(&reports[0])? } else { serde_json::to_value(&reports)? };
            let text = serde_json::to_string_pretty(&whole)? + "\n";
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let is_found = |source: &SourceReport| source.form.is_some();
        if !stop.is_cancelled() && !reports.iter().flat_map(|report| &report.harvest.sources).any(is_found) {
            anyhow::bail!("no catalogue was found");
        }
        let is_clean = reports.iter().all(|report| report.harvest.is_clean());
        Ok(if is_clean { Done::Something } else { Done::Nothing })
    }

    fn harvest_of(&self, home: &Path, sources: &[String], stop: &Cancellation) -> anyhow::Result<Report> {
        let policy = policy(sources, self.host.clone(), self.other_hosts, self.allow_private_network.clone())?;
        let (started, egress) = (Instant::now(), Egress::new(policy));
        // A home in use, or of another base, is told before anything is asked.
        let store = Store::open(home, Access::Write, self.base.as_deref())?;
        let existing_ids = store.ids()?.into_iter().collect();
        drop(store);
        let name = self.name.clone().unwrap_or_else(|| default_name(sources));
        let options = HarvestOptions { existing_ids, cancellation: stop.clone(), ..self.options() };
        let harvester = Harvester::new(&egress, &home.join("harvest"), &name).with_options(options);
        let mut sink = HomeSink { home, base: self.base.as_deref(), problems: Vec::new() };
        let bar = bar(1, "harvesting · {prefix}");
        let show = |progress: HarvestProgress| {
            let HarvestProgress { pages, datasets, spent } = progress;
            let [pages, datasets, requests, bytes] = [pages, datasets, spent.requests, spent.bytes].map(grouped);
            bar.set_prefix(format!("{pages} pages · {datasets} datasets · {requests} requests · {bytes} bytes"));
        };
        let harvested = harvester.run(sources, &mut sink, &show);
        bar.finish_and_clear();
        let report = Report { harvest: harvested?, problems: sink.problems, seconds: started.elapsed().as_secs_f64() };
        write_report(&mut io::stderr().lock(), &report.harvest, &report.problems, report.seconds)?;
        Ok(report)
    }

    fn options(&self) -> HarvestOptions {
        HarvestOptions {
            downloads: if self.download { Downloads::Rdf } else { Downloads::None },
            delisted: if self.keep_gone { DelistedPolicy::Keep } else { DelistedPolicy::Remove },
            ids: if self.id_prefix { IdScheme::Prefixed } else { IdScheme::Original },
            budget: Budget {
                requests: self.max_requests,
                bytes: self.max_megabytes << 20,
                time: Duration::from_secs(60 * self.max_minutes),
                pages: self.max_pages,
            },
            max_file_bytes: self.max_file_megabytes << 20,
            request_timeout: Duration::from_secs(self.max_file_seconds),
            pause: Duration::from_millis(self.pause),
            full_harvest_every: self.full_harvest_every,
            ..HarvestOptions::default()
        }
    }
}

/// The home, opened while something is stored and no longer.
struct HomeSink<'s> {
    home: &'s Path,
    base: Option<&'s str>,
    problems: Vec<DatasetReport>,
}

impl DatasetSink for HomeSink<'_> {
    fn store(&mut self, batch: Batch) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let store = Store::open(self.home, Access::Write, self.base)?;
        let origin = Some(batch.source).filter(|source| is_address(source));
        let stamp = Stamp { now: Some(DateTime::now()), origin: origin.and_then(|source| NamedNode::new(source).ok()) };
        let loader = Loader::new(&store).with_options(LoadOptions { stamp, ..LoadOptions::default() });
        let catalog = Catalog { folder: batch.folder, datasets: batch.datasets, ..Catalog::default() };
        let report = loader.load(catalog, &|_| ())?;
        let store_outcome = report.datasets.iter().map(|dataset| (dataset.id.clone(), store_outcome(dataset.outcome))).collect();
        self.problems.extend(report.datasets.into_iter().filter(has_problem));
        Ok(store_outcome)
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let store = Store::open(self.home, Access::Write, self.base)?;
        store.remove(ids)?;
        store.clear_replaced(&|_, _| ())?;
        Ok(())
    }
}

fn store_outcome(outcome: DatasetOutcome) -> StoreOutcome {
    match outcome {
        DatasetOutcome::Loaded | DatasetOutcome::Replaced | DatasetOutcome::MetadataOnly => StoreOutcome::Stored,
        DatasetOutcome::Unchanged => StoreOutcome::Unchanged,
        DatasetOutcome::Kept => StoreOutcome::Retained,
    }
}

/// Files that nobody wanted to fetch are no problem.
fn has_problem(dataset: &DatasetReport) -> bool {
    dataset.files.iter().any(|file| !file.is_clean() && file.outcome != Outcome::Refused)
}

fn write_report(
    out: &mut impl Write,
    report: &HarvestReport,
    problems: &[DatasetReport],
    seconds: f64,
) -> io::Result<()> {
    for source in &report.sources {
        write_source(out, source)?;
    }
    write_failures(out, "file not had", &report.failed_files)?;
    let gone: usize = report.gone().count();
    let removed: usize = report.sources.iter().filter(|source| source.removed).map(|source| source.gone.len()).sum();
    writeln!(
        out,
        "{}: {} new, {} changed, {} unchanged, {gone} gone ({removed} removed); {} files ({} new), {} not had; {} requests ({} not modified), {} bytes, {seconds:.1} s{}",
        report.name,
        report.new.len(),
        report.changed.len(),
        report.unchanged,
        report.files,
        report.new_files,
        report.failed_files.len(),
        grouped(report.spent.requests),
        grouped(report.spent.not_modified),
        grouped(report.spent.bytes),
        memory_note(),
    )?;
    if !report.kept.is_empty() {
        writeln!(out, "{} kept as they were before, since a file of theirs cannot be had or read", report.kept.len())?;
    }
    if !problems.is_empty() {
        writeln!(out, "{} datasets with statements or files not read (--report FILE writes which)", problems.len())?;
    }
    Ok(())
}

fn write_source(out: &mut impl Write, source: &SourceReport) -> io::Result<()> {
    writeln!(
        out,
        "{}: {}, {} pages, {} datasets{}{}{}",
        cut(&source.source, 120),
        source.form.unwrap_or("no catalogue"),
        source.pages,
        grouped(source.datasets),
        if source.as_before > 0 {
            format!(", {} as before, not asked for", grouped(source.as_before))
        } else {
            String::new()
        },
        if source.repeated > 0 { format!(", {} listed again", source.repeated) } else { String::new() },
        if source.whole { "" } else { "; not whole, nothing was removed" },
    )?;
    if let Some(reason) = &source.whole_because {
        writeln!(out, "  read whole: {}", cut(reason, 240))?;
    }
    write_failures(out, "failed", &source.failed)?;
    let problems: Vec<Failure> =
        source.problems.iter().map(|problem| Failure { what: String::new(), reason: problem.clone() }).collect();
    write_failures(out, "problem", &problems)
}

fn write_failures(out: &mut impl Write, kind: &str, failures: &[Failure]) -> io::Result<()> {
    for Failure { what, reason } in failures.iter().take(SHOWN) {
        let what = if what.is_empty() || reason.contains(what.as_str()) { String::new() } else { format!("{what}: ") };
        writeln!(out, "  {kind}: {}", cut(&format!("{what}{reason}"), 240))?;
    }
    if failures.len() > SHOWN {
        writeln!(out, "  … and {} more", failures.len() - SHOWN)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("6h"), Ok(Duration::from_secs(21_600)));
        for wrong in ["", "h", "6", "0h", "-1h", "6 h", "é", "99999999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
