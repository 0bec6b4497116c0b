//! `lodeseek harvest`: reads portals and feeds into the store, once or repeatedly.

use super::ExitStatus;
use super::config::{Config, HarvestSettings, parse_duration};
use super::egress::{Others, private_network, private_networks};
use super::encoder::EncoderArguments;
use super::index::IndexUpdate;
use super::local::{local_home, make_local_change, unexpected_report};
use super::provenance;
use super::ranking::{Choice, Preset};
use super::server_client::{ServerArguments, ServerClient};
use super::terminal::{counted, cut, grouped, memory_note, verb_form};
use super::worker::WorkerArguments;
use anyhow::Context;
use ipnet::IpNet;
use lodeseek_changes::{
    Change, ChangeReport, HarvestOutcome, HarvestSchedule, Harvests, LocalHome, ScheduledSource,
};
use lodeseek_cli::streams::messages;
use lodeseek_harvest::{
    Budget, Failure, HarvestCounts, HarvestOptions, HarvestProtocol, HarvestRequest, SourceReport,
};
use lodeseek_index::vectors::Precision;
use lodeseek_net::egress::{Cancellation, IriPrefix};
use lodeseek_server::on_stop_signal;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of lines printed of one kind. The report file contains all.
const MAX_LINES: usize = 5;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Address of a DCAT feed (with Hydra pages or `Link` headers), of a portal or service (CKAN, CSW, OAI-PMH, OGC API Records,
    /// STAC, a SPARQL endpoint, a FAIR Data Point, a sitemap), or of a page or file in any format that `load` reads; or a local
    /// path.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Protocol of the sources: auto, pages, ckan, csw, oai-pmh, linked, sparql, sitemap or ldes. With auto, the address and the first
    /// response decide. Parameters, such as the set of a repository, are in the address.
    #[arg(long, value_name = "PROTOCOL", default_value_t = HarvestProtocol::Auto)]
    protocol: HarvestProtocol,
    /// Name of the folder for files and state (`home/harvest/NAME`) [default: one for each source, derived from it].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Also download the files with RDF or tables that the catalogues describe. Their hosts must be hosts of the sources, or be allowed by
    /// --host or --other-hosts.
    #[arg(long)]
    download: bool,
    /// Harvest and index repeatedly, with this time between two beginnings (90s, 30m, 6h, 1d). The first stop signal completes
    /// the current step; the second stops at once. Vectors are updated as well, as by `lodeseek index`.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    every: Option<Duration>,
    /// Write the outcome of each source and dataset as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Number of consecutive incremental harvests of a CKAN portal, a repository or a catalogue service before it is read
    /// completely again; 0 reads it completely now.
    #[arg(long, alias = "whole-after", value_name = "HARVESTS", default_value_t = HarvestOptions::default().full_harvest_every)]
    full_harvest_every: u32,
    /// Prefix each dataset id with the name. Without it, only ids that another harvest uses already are prefixed.
    #[arg(long)]
    id_prefix: bool,
    /// Keep datasets that their source no longer lists.
    #[arg(long)]
    keep_gone: bool,
    /// Allow requests to this host or IRI prefix, in addition to the hosts of the sources. Repeatable.
    #[arg(long, value_name = "IRI")]
    host: Vec<IriPrefix>,
    /// Requests to hosts that are neither a source nor allowed by --host.
    #[arg(long, value_enum, default_value_t = Others::Refused)]
    other_hosts: Others,
    /// Allow a private network for the sources and --host only (127.0.0.0/8, 10.1.0.0/16). Repeatable [default: the key
    /// `private-networks` in the table [service] of lodeseek.toml].
    #[arg(long, alias = "inner-network", value_name = "CIDR", value_parser = private_network)]
    allow_private_network: Vec<IpNet>,
    /// Milliseconds between two requests to one host.
    #[arg(long, value_name = "MS", default_value_t = 250)]
    pause: u64,
    /// Maximum number of requests of one harvest.
    #[arg(long, value_name = "N", default_value_t = Budget::default().requests)]
    max_requests: u64,
    /// Maximum size of all responses of one harvest, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = Budget::default().bytes >> 20)]
    max_megabytes: u64,
    /// Maximum duration of one harvest, in minutes.
    #[arg(long, value_name = "MINUTES", default_value_t = Budget::default().time.as_secs() / 60)]
    max_minutes: u64,
    /// Maximum number of pages of one source.
    #[arg(long, value_name = "N", default_value_t = Budget::default().pages)]
    max_pages: u64,
    /// Maximum size of one page or file, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = HarvestOptions::default().max_file_bytes >> 20)]
    max_file_megabytes: u64,
    /// Maximum duration of one request, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = HarvestOptions::default().request_timeout.as_secs())]
    max_file_seconds: u64,
    /// Base of all IRIs, written when the home is created; `rebase` changes it.
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
    /// Ranking with --every: words, balanced or best; best makes vectors [default: as indexed, else best].
    #[arg(long, value_name = "PRESET", requires = "every")]
    ranking: Option<Preset>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// Number format of stored vectors: f16, int8 for half the size, or int2 for an eighth (of texts: int8). A change encodes all
    /// datasets again [default: that of the stored vectors, else f16].
    #[arg(long, value_name = "PRECISION", requires = "every")]
    vectors: Option<Precision>,
    #[command(flatten)]
    workers: WorkerArguments,
    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &arguments.report {
        provenance::check_writable(path).context("the report cannot be written")?;
    }
    if let Some(server) = arguments.server.find(home)? {
        return arguments.harvest_through(&server);
    }
    if let Some(every) = arguments.every {
        return arguments.harvest_repeatedly(home, config, every);
    }
    anyhow::ensure!(
        !arguments.encoders.is_any(),
        "--dpr and --colbert require --every; after a single harvest, run `lodeseek index` with them"
    );
    let local = arguments.local_home(home, config)?;
    let networks = private_networks(&arguments.allow_private_network, config);
    arguments.harvest(&local, &networks, &Cancellation::default())
}

/// Time between two checks of a stop request while waiting.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Exit code of an interrupted process (128 + SIGINT).
const INTERRUPTED_EXIT_CODE: i32 = 130;

/// Arguments of scheduled harvests while serving.
#[derive(clap::Args, Debug, Clone, Default)]
pub(super) struct ScheduleArguments {
    /// Harvest this address or path repeatedly while serving. Repeatable. Changes are served at once.
    #[arg(long = "harvest", value_name = "SOURCE", help_heading = SCHEDULE)]
    sources: Vec<String>,
    /// Time between the beginnings of two harvests (90s, 30m, 6h, 1d) [default: 6h].
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "sources", help_heading = SCHEDULE)]
    every: Option<Duration>,
    /// Also download the files with RDF or tables that the harvested catalogues describe.
    #[arg(long, requires = "sources", help_heading = SCHEDULE)]
    download: bool,
}

/// Heading of the arguments of scheduled harvests in the help.
const SCHEDULE: &str = "Scheduled harvests";

/// Default time between the beginnings of two scheduled harvests.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(6 * 3600);

impl ScheduleArguments {
    /// Returns the schedule of the arguments or, without --harvest, of the configuration.
    pub(super) fn schedule(
        &self,
        config: &Config,
        private_networks: Vec<IpNet>,
    ) -> HarvestSchedule {
        let settings: Vec<HarvestSettings> = match &self.sources[..] {
            [] => config.settings.harvest.clone(),
            sources => sources
                .iter()
                .map(|source| HarvestSettings {
                    source: source.clone(),
                    protocol: HarvestProtocol::Auto,
                    every: self.every,
                    download: self.download,
                    hosts: Vec::new(),
                })
                .collect(),
        };
        let mut sources = Vec::with_capacity(settings.len());
        for settings in settings {
            sources.push(ScheduledSource {
                request: HarvestRequest {
                    sources: vec![settings.source],
                    protocol: settings.protocol,
                    download: settings.download,
                    hosts: settings.hosts,
                    ..HarvestRequest::default()
                },
                every: settings.every.unwrap_or(DEFAULT_INTERVAL),
            });
        }
        HarvestSchedule {
            sources,
            private_networks,
        }
    }
}

/// Returns a cancellation that the first stop signal sets. The second one ends the process at once.
pub(super) fn cancellation_on_stop_signal() -> io::Result<Cancellation> {
    let is_stopped = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&is_stopped);
    on_stop_signal(move || {
        // Only the flag itself is shared, so no other memory has to be ordered.
        if signalled.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTED_EXIT_CODE);
        }
    })?;
    Ok(Cancellation::from(is_stopped))
}

impl Arguments {
    /// Returns the home in which harvested datasets are stored.
    fn local_home(&self, home: &Path, config: &Config) -> anyhow::Result<LocalHome> {
        local_home(home, config, self.base.as_deref(), &self.workers)
    }

    /// Harvests and indexes until the process receives a stop signal.
    fn harvest_repeatedly(
        &self,
        home: &Path,
        config: &Config,
        every: Duration,
    ) -> anyhow::Result<ExitStatus> {
        // The models are opened first, so that a missing one is reported before any request.
        let choice = Choice::new(home, config, Some(&self.encoders), self.ranking)?;
        let mut update = IndexUpdate::new(config, &choice, self.vectors)?;
        let stop = cancellation_on_stop_signal()?;
        let local = self.local_home(home, config)?;
        let networks = private_networks(&self.allow_private_network, config);
        while !stop.is_cancelled() {
            let started = Instant::now();
            let outcome = match self.harvest(&local, &networks, &stop) {
                // The next run indexes what a stopped harvest has stored.
                Ok(_) if stop.is_cancelled() => break,
                Ok(_) => update.run(home),
                Err(error) => Err(error),
            };
            if let Err(error) = outcome {
                let retry = if stop.is_cancelled() {
                    ""
                } else {
                    "; retrying at the next scheduled time"
                };
                writeln!(
                    messages(),
                    "lodeseek: {}{retry}",
                    super::errors::message(&error)
                )?;
            }
            while !stop.is_cancelled() && started.elapsed() < every {
                thread::sleep(POLL_INTERVAL.min(every.saturating_sub(started.elapsed())));
            }
        }
        Ok(ExitStatus::Success)
    }

    /// Harvests into a home that no server serves.
    fn harvest(
        &self,
        local: &LocalHome,
        private_networks: &[IpNet],
        stop: &Cancellation,
    ) -> anyhow::Result<ExitStatus> {
        let request = HarvestRequest {
            private_networks: private_networks.to_vec(),
            ..self.request()
        };
        let change = Change::Harvest(Box::new(request.clone()));
        let harvests = match make_local_change(local, change, "datasets", stop.clone())? {
            ChangeReport::Harvest(harvests) => harvests,
            other => return Err(unexpected_report(&other)),
        };
        self.finish(&request, &harvests, &memory_note())
    }

    /// Harvests through a server, beside its other changes.
    fn harvest_through(&self, server: &ServerClient) -> anyhow::Result<ExitStatus> {
        let name = server.name();
        anyhow::ensure!(
            self.every.is_none(),
            "--every cannot be used through {name}; schedule the harvest there with `serve --harvest`, or [[harvest]] in \
             lodeseek.toml"
        );
        if let Some(base) = &self.base {
            server.check_base(base)?;
        }
        anyhow::ensure!(
            !self.encoders.is_any(),
            "--dpr and --colbert cannot be used, because {name} uses its own models; omit them"
        );
        anyhow::ensure!(
            !self.workers.is_any(),
            "--worker-memory and --no-workers cannot be used, because {name} has its own workers; omit them"
        );
        let request = self.request();
        let harvests = server.harvest(&request)?;
        self.finish(&request, &harvests, &format!("; indexed by {name}"))
    }

    /// Writes the outcomes and the report file, and returns the exit status. `note` follows the line with the numbers.
    fn finish(
        &self,
        request: &HarvestRequest,
        harvests: &Harvests,
        note: &str,
    ) -> anyhow::Result<ExitStatus> {
        let mut out = messages();
        for outcome in &harvests.harvests {
            write_outcome(&mut out, outcome, note)?;
        }
        if let Some(path) = &self.report {
            let json = match &harvests.harvests[..] {
                [single] if request.is_single() => serde_json::to_value(single)?,
                outcomes => serde_json::to_value(outcomes)?,
            };
            let text = serde_json::to_string_pretty(&json)? + "\n";
            provenance::write_atomically(path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if !harvests.is_cancelled && harvests.failure().is_some() {
            anyhow::bail!(
                "no catalogue was found in the sources; the lines above name the reason for each source"
            );
        }
        let mut outcomes = harvests.harvests.iter();
        let is_clean = outcomes.all(|outcome| outcome.harvest.is_clean());
        Ok(if is_clean {
            ExitStatus::Success
        } else {
            ExitStatus::NoResult
        })
    }

    /// Returns the request of the arguments.
    fn request(&self) -> HarvestRequest {
        HarvestRequest {
            sources: self.sources.clone(),
            name: self.name.clone(),
            protocol: self.protocol,
            download: self.download,
            keep_gone: self.keep_gone,
            id_prefix: self.id_prefix,
            full_harvest_every: self.full_harvest_every,
            hosts: self.host.clone(),
            other_hosts: self.other_hosts.into(),
            private_networks: self.allow_private_network.clone(),
            pause: self.pause,
            max_requests: self.max_requests,
            max_megabytes: self.max_megabytes,
            max_minutes: self.max_minutes,
            max_pages: self.max_pages,
            max_file_megabytes: self.max_file_megabytes,
            max_file_seconds: self.max_file_seconds,
        }
    }
}

/// Writes the outcome of a harvest. `note` follows the line with the numbers.
fn write_outcome(out: &mut impl Write, outcome: &HarvestOutcome, note: &str) -> io::Result<()> {
    let HarvestOutcome {
        harvest: report,
        problems,
        unlisted_problems,
        seconds,
    } = outcome;
    let HarvestCounts {
        new,
        changed,
        kept,
        gone,
        removed,
        failed_files,
    } = report.counts();
    for source in &report.sources {
        write_source(out, source)?;
    }
    write_failures(
        out,
        "file not fetched",
        &report.failed_files,
        report.unlisted_failed_files,
    )?;
    writeln!(
        out,
        "{}: {new} new, {changed} changed, {} unchanged, {gone} gone ({removed} removed); {} ({} new), {failed_files} not fetched; {} ({} not modified), {}, {seconds:.1} s{}",
        report.name,
        report.unchanged,
        counted(report.files, "file"),
        report.new_files,
        counted(report.spent.requests, "request"),
        grouped(report.spent.not_modified),
        counted(report.spent.bytes, "byte"),
        note,
    )?;
    if kept > 0 {
        let keeps = verb_form(kept, "keeps its", "keep their");
        writeln!(
            out,
            "{} {keeps} previous content: a file cannot be fetched or read",
            counted(kept, "dataset")
        )?;
    }
    let with_problems = problems.len() + unlisted_problems;
    if with_problems > 0 {
        writeln!(
            out,
            "{} {} statements or files that could not be read (--report FILE lists {})",
            counted(with_problems, "dataset"),
            verb_form(with_problems, "has", "have"),
            if *unlisted_problems == 0 {
                "them".to_owned()
            } else {
                format!("{} of them", problems.len())
            },
        )?;
    }
    Ok(())
}

fn write_source(out: &mut impl Write, source: &SourceReport) -> io::Result<()> {
    writeln!(
        out,
        "{}: {}, {}, {}{}{}{}",
        cut(&source.source, 120),
        source.form.as_deref().unwrap_or("no catalogue"),
        counted(source.pages, "page"),
        counted(source.datasets, "dataset"),
        if source.not_requested > 0 {
            format!(
                ", {} unchanged and not requested",
                grouped(source.not_requested)
            )
        } else {
            String::new()
        },
        if source.repeated > 0 {
            format!(", {} listed again", source.repeated)
        } else {
            String::new()
        },
        if source.whole {
            ""
        } else {
            "; incomplete, nothing was removed"
        },
    )?;
    if let Some(reason) = &source.complete_reason {
        writeln!(out, "  read completely: {}", cut(reason, 240))?;
    }
    write_failures(out, "failed", &source.failed, source.unlisted_failed)?;
    for kind in source.problem_kinds.iter().take(MAX_LINES) {
        let number = if kind.count == 1 {
            "problem".to_owned()
        } else {
            format!("{} like", counted(kind.count, "problem"))
        };
        writeln!(out, "  {number}: {}", cut(&kind.example, 240))?;
    }
    let others: usize = source
        .problem_kinds
        .iter()
        .skip(MAX_LINES)
        .map(|kind| kind.count)
        .sum();
    if others > 0 {
        writeln!(
            out,
            "  … and {} of other kinds (--report FILE lists them)",
            counted(others, "problem")
        )?;
    }
    Ok(())
}

/// Writes the first failures, and the number of the others. `unlisted` is the number of those that the report does not list.
fn write_failures(
    out: &mut impl Write,
    kind: &str,
    failures: &[Failure],
    unlisted: usize,
) -> io::Result<()> {
    for Failure { what, reason } in failures.iter().take(MAX_LINES) {
        let what = if what.is_empty() || reason.contains(what.as_str()) {
            String::new()
        } else {
            format!("{what}: ")
        };
        writeln!(out, "  {kind}: {}", cut(&format!("{what}{reason}"), 240))?;
    }
    let rest = failures.len().saturating_sub(MAX_LINES) + unlisted;
    if rest > 0 {
        writeln!(out, "  … and {rest} more")?;
    }
    Ok(())
}
