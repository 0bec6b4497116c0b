//! `lodeseek cluster`: plans, derives and assembles a collection on many machines. A scheduler such as Spark runs the workers.

use super::ExitStatus;
use super::config::Config;
use super::egress::{Others, private_network};
use super::encoder::EncoderArguments;
use super::index::IndexUpdate;
use super::ranking::{Choice, Preset};
use super::replica::storage_options;
use super::terminal::{bar, counted, cut};
use super::worker;
use anyhow::Context;
use clap::Subcommand;
use ipnet::IpNet;
use lodeseek_catalog::{Catalog, DumpFolder, Iris};
use lodeseek_cli::streams::{messages, report_output};
use lodeseek_cluster::{
    Assembly, DERIVATION_ROLE, Plan, PlanOptions, TaskResult, TaskStatus, Worker, WorkerOptions,
    read_results,
};
use lodeseek_harvest::{Budget, Downloader, Downloads, HarvestOptions};
use lodeseek_index::AnalysisKind;
use lodeseek_index::vectors::Precision;
use lodeseek_net::egress::{Egress, EgressPolicy, IriPrefix};
use lodeseek_rdf::MAX_COMPACT_BYTES;
use lodeseek_snapshot::{RemoteFiles, RemoteSnapshots, SnapshotLocation};
use lodeseek_store::{Access, Stamp, Store};
use oxsdatatypes::DateTime;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Write the tasks of catalogues to stdout, one row a dataset, as an Arrow stream.
    Plan(PlanArguments),
    /// Read tasks from stdin, derive their datasets, and write results to stdout, as Arrow streams.
    Work(WorkArguments),
    /// Read results from stdin as an Arrow stream, and make or update the collection.
    Assemble(AssembleArguments),
}

#[derive(clap::Args, Debug)]
struct PlanArguments {
    /// Catalogues, RDF dumps, or folders of these, as for `load`.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Folder of dumps named after the ids of the datasets, as for `load`.
    #[arg(long, value_name = "DIR")]
    dumps: Option<PathBuf>,
    /// Path of a dataset's dump in the folder of --dumps, as for `load`.
    #[arg(long, value_name = "PATH", requires = "dumps")]
    dumps_pattern: Option<String>,
    /// Address at which workers find the files of the folder --files, such as s3://BUCKET/PREFIX [default: the local files].
    #[arg(long, value_name = "URL", requires = "files")]
    files_at: Option<Url>,
    /// Folder whose files have been copied to --files-at.
    #[arg(long, value_name = "DIR", requires = "files_at")]
    files: Option<PathBuf>,
    /// Let workers download the files of the web with RDF or tables that the catalogues describe.
    #[arg(long)]
    download: bool,
    /// Base of all IRIs. It must be that of the assembled collection.
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
    /// Prefix of each dataset id, so that two catalogues can use the same ids.
    #[arg(long, value_name = "TEXT", default_value = "")]
    id_prefix: String,
}

#[derive(clap::Args, Debug)]
struct WorkArguments {
    /// Location of the results: s3://BUCKET/PREFIX or file:///FOLDER, as for `publish`. The variables AWS_* configure the access.
    #[arg(value_name = "URL")]
    location: SnapshotLocation,
    /// Memory of the derivation of one dataset, in megabytes. A dataset that needs more fails.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    memory: u64,
    /// Time of the derivation of one dataset, in seconds, and of each request for a file of the web. A dataset that needs more
    /// fails; a file that needs more is not read.
    #[arg(long, value_name = "S", default_value_t = 3600)]
    time: u64,
    /// Folder for temporary files [default: the system's].
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    web: WebArguments,
    /// Text analysis of the index [default: multilingual].
    #[arg(long, value_name = "KIND")]
    analysis: Option<AnalysisKind>,
    /// Ranking of searches: words and balanced need no vectors [default: best].
    #[arg(long, value_name = "PRESET")]
    ranking: Option<Preset>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// Number format of vectors: f16, int8 or int2 [default: f16].
    #[arg(long, value_name = "PRECISION")]
    vectors: Option<Precision>,
}

/// Arguments of requests for files of the web.
#[derive(clap::Args, Debug)]
struct WebArguments {
    /// Allow downloads from this host or IRI prefix, also if it is in a network of --allow-private-network. Repeatable.
    #[arg(long, value_name = "IRI")]
    host: Vec<IriPrefix>,
    /// Downloads from hosts that --host does not allow.
    #[arg(long, value_enum, default_value_t = Others::AnyPublic)]
    other_hosts: Others,
    /// Allow a private network for --host only (127.0.0.0/8, 10.1.0.0/16). Repeatable.
    #[arg(long, value_name = "CIDR", requires = "host", value_parser = private_network)]
    allow_private_network: Vec<IpNet>,
    /// Maximum size of a file of the web, in megabytes. A larger one is not read.
    #[arg(long, value_name = "MB", default_value_t = HarvestOptions::default().max_file_bytes >> 20)]
    max_file_megabytes: u64,
}

impl WebArguments {
    fn egress(&self) -> Egress {
        Egress::new(EgressPolicy {
            listed: self.host.clone(),
            others: self.other_hosts.into(),
            private_networks: self.allow_private_network.clone(),
        })
    }

    /// Returns the options of downloads. Only single files have limits, because a worker has no last task.
    fn options(&self, request_timeout: Duration) -> HarvestOptions {
        HarvestOptions {
            budget: Budget {
                requests: u64::MAX,
                bytes: u64::MAX,
                time: Duration::MAX,
                ..Budget::default()
            },
            max_file_bytes: self.max_file_megabytes.saturating_mul(1 << 20),
            request_timeout,
            // A host that was silent during one task may answer during a later one.
            max_silence: Duration::MAX,
            ..HarvestOptions::default()
        }
    }
}

#[derive(clap::Args, Debug)]
struct AssembleArguments {
    /// Location of the results, as for `work`.
    #[arg(value_name = "URL")]
    location: SnapshotLocation,
    /// Base of all IRIs, written when the collection is created [default: that of the results].
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
    /// Ranking of searches [default: as recorded, else best]. Vectors that the workers did not make are made now.
    #[arg(long, value_name = "PRESET")]
    ranking: Option<Preset>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// Number format of stored vectors [default: that of the stored vectors, else f16].
    #[arg(long, value_name = "PRECISION")]
    vectors: Option<Precision>,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    match &arguments.command {
        Command::Plan(arguments) => arguments.run(config),
        Command::Work(arguments) => arguments.run(home, config),
        Command::Assemble(arguments) => arguments.run(home, config),
    }
}

impl PlanArguments {
    fn run(&self, config: &Config) -> anyhow::Result<ExitStatus> {
        let mut catalogs = Catalog::read_all(&self.sources, &self.id_prefix)?;
        if let Some(folder) = &self.dumps {
            DumpFolder::open(folder, self.dumps_pattern.as_deref())?
                .assign(&mut catalogs, &self.id_prefix)?;
        }
        let base = self
            .base
            .as_deref()
            .or(config.settings.base.as_deref())
            .unwrap_or(Iris::DEFAULT_BASE);
        let files_at = match (&self.files_at, &self.files) {
            (Some(url), Some(folder)) => {
                let folder = folder
                    .canonicalize()
                    .with_context(|| format!("cannot read {}", folder.display()))?;
                Some((url.clone(), folder))
            }
            _ => None,
        };
        let downloads = if self.download {
            Downloads::Content
        } else {
            Downloads::None
        };
        let options = PlanOptions {
            iris: Iris::new(base)?,
            now: Some(DateTime::now()),
            files_at,
            downloads,
        };
        let mut plan = Plan::default();
        for catalog in &catalogs {
            plan.add(catalog, &options)?;
        }
        plan.write(BufWriter::new(report_output()))?;
        let bytes: u64 = plan.tasks().iter().map(lodeseek_cluster::Task::bytes).sum();
        let tasks = counted(plan.tasks().len() as u64, "task");
        writeln!(messages(), "{tasks}; {:.1} MB of files", bytes as f64 / 1e6)?;
        Ok(ExitStatus::Success)
    }
}

impl WorkArguments {
    fn run(&self, home: &Path, config: &Config) -> anyhow::Result<ExitStatus> {
        let choice = Choice::new(home, config, Some(&self.encoders), self.ranking)?;
        let options = WorkerOptions {
            program: std::env::current_exe().context("cannot find the program")?,
            arguments: vec![worker::COMMAND.into(), DERIVATION_ROLE.into()],
            scratch: self.scratch.clone().unwrap_or_else(std::env::temp_dir),
            memory_megabytes: self.memory,
            time: Duration::from_secs(self.time),
            analysis: self
                .analysis
                .or(config.settings.analysis)
                .unwrap_or(AnalysisKind::Multilingual),
            precision: self
                .vectors
                .or(config.settings.encoders.vectors)
                .unwrap_or_default(),
            graph_limit: MAX_COMPACT_BYTES,
        };
        let remote = RemoteSnapshots::open(&self.location, &storage_options())?;
        let encoders = choice.open(None)?.or_warn()?.into_all();
        let (egress, web) = (self.web.egress(), self.web.options(options.time));
        let downloader = Downloader::open(&egress, &web, &options.scratch)?;
        let files = RemoteFiles::new(storage_options())?;
        let mut worker = Worker::start(options, remote, files, downloader, encoders)?;
        for missing in worker.missing_protections() {
            writeln!(
                messages(),
                "lodeseek: worker processes lack a protection: {missing}"
            )?;
        }
        worker.serve(
            BufReader::new(io::stdin().lock()),
            BufWriter::new(io::stdout().lock()),
        )?;
        Ok(ExitStatus::Success)
    }
}

impl AssembleArguments {
    fn run(&self, home: &Path, config: &Config) -> anyhow::Result<ExitStatus> {
        let choice = Choice::new(home, config, Some(&self.encoders), self.ranking)?;
        let update = IndexUpdate::new(config, &choice, self.vectors)?;
        let results = read_results(BufReader::new(io::stdin().lock()))?;
        let first = results
            .first()
            .context("stdin holds no results; run `lodeseek cluster work`")?;
        write_failures(&mut messages(), &results)?;
        let remote = RemoteSnapshots::open(&self.location, &storage_options())?;
        let base = self
            .base
            .as_deref()
            .or(config.settings.base.as_deref())
            .unwrap_or(&first.base);
        let store = Store::open(home, Access::Write, Some(base))?;
        let mut assembly = Assembly::new(&remote, &results, &store, update.target(home)?)?;
        let stamp = Stamp {
            now: Some(DateTime::now()),
            origin: None,
        };
        let bar = bar(1, "loading {bar:30} {pos} of {len} datasets · {eta} left");
        let report = assembly.load(&store, stamp, &|progress| {
            bar.set_length(progress.datasets_total as u64);
            bar.set_position(progress.datasets as u64);
        })?;
        bar.finish_and_clear();
        let triples = counted(report.triples(), "distinct triple");
        writeln!(
            messages(),
            "{} loaded; {triples}",
            counted(report.datasets.len(), "dataset")
        )?;
        // The update opens the store itself, and a home has one writer.
        drop(store);
        update.with_source(&assembly).run(home)?;
        for (id, error) in assembly.damaged_datasets() {
            writeln!(
                messages(),
                "lodeseek: the record of {id} is damaged, its dataset was derived again: {error}"
            )?;
        }
        let failed = results
            .iter()
            .any(|result| result.status == TaskStatus::Failed);
        Ok(if failed {
            ExitStatus::NoResult
        } else {
            ExitStatus::Success
        })
    }
}

/// Maximum number of failed tasks that are listed.
const MAX_FAILED_TASKS: usize = 10;

/// Lists the first failed tasks with their reasons.
fn write_failures(out: &mut impl Write, results: &[TaskResult]) -> io::Result<()> {
    let failed: Vec<&TaskResult> = results
        .iter()
        .filter(|result| result.status == TaskStatus::Failed)
        .collect();
    for result in failed.iter().take(MAX_FAILED_TASKS) {
        let reason = result.reason.as_deref().unwrap_or_default();
        writeln!(out, "not derived: {}: {}", result.id, cut(reason, 160))?;
    }
    if failed.len() > MAX_FAILED_TASKS {
        writeln!(out, "… and {} more", failed.len() - MAX_FAILED_TASKS)?;
    }
    Ok(())
}
