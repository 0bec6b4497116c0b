#![doc = include_str!("../README.md")]

pub mod endpoint_sampler;
mod changes;
mod ckan;
mod csw;
mod datasets;
mod digest;
mod downloader;
mod downloads;
mod error;
mod fetch;
#[cfg(fuzzing)]
pub mod fuzzing;
mod ldes;
mod linked;
mod oai_pmh;
mod pages;
mod protocol;
mod query_parameters;
mod quarantine;
mod record_lists;
mod report;
mod request;
mod robots;
mod sitemap;
mod sparql_catalog;
mod state;
mod storage;

pub use downloader::{Download, Downloader};
pub use downloads::is_content_file;
pub use error::HarvestError;
pub use protocol::{HarvestProtocol, UnknownProtocol};
pub use report::{Failure, HarvestCounts, HarvestReport, SourceReport};
pub use request::HarvestRequest;
pub use state::forget_datasets;

use error::FetchError;

use datasets::PendingDatasets;
use fetch::Fetcher;
use lodeseek_catalog::{CatalogReader, Dataset, DatasetId, DirectCatalogReader};
use lodeseek_net::egress::{Cancellation, Egress, EgressFault, EgressPolicy, PrefixError};
use serde::{Deserialize, Serialize};
use state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use storage::Storage;

/// Limits of one harvest.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Maximum number of requests, retries included. Default 100,000.
    pub requests: u64,
    /// Maximum size of all responses in bytes. Default 64 GiB.
    pub bytes: u64,
    /// Maximum duration, storing included. Default 24 h.
    pub time: Duration,
    /// Maximum number of pages of one source. Default 20,000.
    pub pages: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            requests: 100_000,
            bytes: 64 << 30,
            time: Duration::from_secs(24 * 3600),
            pages: 20_000,
        }
    }
}

/// Requests and bytes used so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Number of requests, retries included.
    pub requests: u64,
    /// Number of responses with status 304 (not modified).
    pub not_modified: u64,
    /// Size of all responses in bytes.
    pub bytes: u64,
}

/// Handling of the files that a catalogue describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Downloads {
    /// Fetch no files; use those that an earlier harvest fetched.
    #[default]
    None,
    /// Fetch the files with content: RDF and tables.
    Content,
}

/// Handling of datasets that their source no longer lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DelistedPolicy {
    /// Remove them from the sink.
    #[default]
    Remove,
    /// Report them only.
    Keep,
}

/// Scheme of dataset ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IdScheme {
    /// Ids of the catalogue, prefixed with the harvest's name only if another harvest of the home uses the id.
    #[default]
    Original,
    /// Ids always prefixed with the harvest's name, independent of other harvests.
    Prefixed,
}

/// Options of a [`Harvester`].
#[derive(Clone, Debug)]
pub struct HarvestOptions {
    /// Protocol of the sources. Default [`HarvestProtocol::Auto`].
    pub protocol: HarvestProtocol,
    /// Handling of described files. Default [`Downloads::None`].
    pub downloads: Downloads,
    /// Handling of delisted datasets. Default [`DelistedPolicy::Remove`].
    pub delisted: DelistedPolicy,
    /// Scheme of dataset ids. Default [`IdScheme::Original`].
    pub ids: IdScheme,
    /// Limits of the harvest.
    pub budget: Budget,
    /// Maximum size of one file or page in bytes. Default 8 GiB.
    pub max_file_bytes: u64,
    /// Maximum duration of one request, the response body included. Default 1 h.
    pub request_timeout: Duration,
    /// Pause between two requests to one host. Default 250 ms.
    pub pause: Duration,
    /// Delays before retries, one per retry. Default 1, 5 and 20 s.
    pub backoff: Vec<Duration>,
    /// Maximum delay accepted from `Retry-After` or `Crawl-delay`. Default 120 s.
    pub max_wait: Duration,
    /// Maximum time without a byte from a host, summed over failed requests and their retries until the host responds. Further
    /// requests to it then fail at once. Default 10 min: some endpoints compute for minutes before their first byte, but the other
    /// harvests of a schedule wait meanwhile.
    pub max_silence: Duration,
    /// Number of packages in one page of CKAN. Default 100.
    pub page_size: u64,
    /// Number of consecutive incremental harvests of a CKAN portal, a repository or a catalogue service before it is read
    /// completely again, because some changes do not get a new date. Default 28, a week at four harvests a day; 0 reads it
    /// completely each time.
    pub full_harvest_every: u32,
    /// Maximum number of datasets passed to the sink at once. Default 1,000.
    pub batch_size: usize,
    /// Ids of the datasets in the home. Datasets outside this set are stored even if unchanged. Ids in this set that no
    /// harvest assigned are never reused.
    pub existing_ids: BTreeSet<DatasetId>,
    /// Keys of the datasets in the home that were loaded from elsewhere, as [`Dataset::key`] returns them. A dataset that such a
    /// load has replaced under its id gets another id.
    pub loaded_keys: BTreeMap<DatasetId, String>,
    /// Reader of catalogues. Default: this process reads them.
    pub reader: Arc<dyn CatalogReader>,
    /// Cancellation of the harvest.
    pub cancellation: Cancellation,
}

impl Default for HarvestOptions {
    fn default() -> Self {
        Self {
            protocol: HarvestProtocol::default(),
            downloads: Downloads::default(),
            delisted: DelistedPolicy::default(),
            ids: IdScheme::default(),
            budget: Budget::default(),
            max_file_bytes: 8 << 30,
            request_timeout: Duration::from_secs(3600),
            pause: Duration::from_millis(250),
            backoff: [1, 5, 20].map(Duration::from_secs).to_vec(),
            max_wait: Duration::from_secs(120),
            max_silence: Duration::from_secs(600),
            page_size: 100,
            full_harvest_every: 28,
            batch_size: 1000,
            existing_ids: BTreeSet::new(),
            loaded_keys: BTreeMap::new(),
            reader: Arc::new(DirectCatalogReader),
            cancellation: Cancellation::default(),
        }
    }
}

/// Datasets of one source to store.
#[derive(Debug)]
pub struct Batch {
    /// Address or path of the source.
    pub source: String,
    /// Base folder of local paths; paths outside it are not allowed.
    pub folder: PathBuf,
    /// Datasets.
    pub datasets: Vec<Dataset>,
}

/// Outcome of storing one dataset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreOutcome {
    /// The current version is stored.
    Stored,
    /// It is stored without a file whose parser was ended. The next harvest passes the dataset again.
    Incomplete,
    /// The stored version is identical.
    Unchanged,
    /// The stored version was retained, because a file is missing or unreadable. The next harvest passes the dataset again.
    Retained,
    /// It is not stored: another change has added a dataset with this id since the harvest began. The harvest reports a failure,
    /// and the next one passes the dataset with another id.
    Conflict,
}

/// Destination of harvested datasets.
pub trait DatasetSink: Send {
    /// Stores a batch and returns the outcome of every dataset. Runs in a thread of its own: the harvest fetches and reads the next
    /// pages meanwhile.
    ///
    /// # Errors
    ///
    /// If the batch cannot be stored; this aborts the harvest.
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>>;
    /// Removes datasets.
    ///
    /// # Errors
    ///
    /// If the datasets cannot be removed; this aborts the harvest.
    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Progress of a harvest.
#[derive(Clone, Copy, Debug, Default)]
pub struct HarvestProgress {
    /// Number of pages read.
    pub pages: u64,
    /// Number of datasets listed.
    pub datasets: u64,
    /// Requests and bytes used so far.
    pub spent: Usage,
}

/// Harvester of one or more sources under one name.
#[derive(Debug)]
pub struct Harvester<'h> {
    egress: &'h Egress,
    folder: PathBuf,
    name: String,
    options: HarvestOptions,
}

impl<'h> Harvester<'h> {
    /// Creates a harvester with default options. Its files and state are stored in `folder/name`.
    #[must_use]
    pub fn new(egress: &'h Egress, folder: &Path, name: &str) -> Self {
        Self {
            egress,
            folder: folder.to_owned(),
            name: name.to_owned(),
            options: HarvestOptions::default(),
        }
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(self, options: HarvestOptions) -> Self {
        Self { options, ..self }
    }

    /// Harvests all sources. A failure of one source is recorded in the report and does not affect the others.
    ///
    /// # Errors
    ///
    /// If the name is invalid or in use, the state cannot be read or written, or the sink fails.
    pub fn run(
        &self,
        sources: &[String],
        sink: &mut dyn DatasetSink,
        on_progress: &dyn Fn(HarvestProgress),
    ) -> Result<HarvestReport, HarvestError> {
        let mut state = State::open(&self.folder, &self.name)?;
        state.clear()?;
        state.remove_replaced_datasets(&self.options.loaded_keys);
        let fetcher = Fetcher::new(self.egress, &self.options, state);
        thread::scope(|scope| {
            let mut run = Run {
                harvester: self,
                fetcher,
                storage: Storage::start(scope, sink),
                on_progress,
                sources,
                report: HarvestReport {
                    name: self.name.clone(),
                    ..HarvestReport::default()
                },
                seen: BTreeSet::new(),
                descriptions: BTreeMap::new(),
                taken: BTreeSet::new(),
                pending: PendingDatasets::default(),
                pages: 0,
                stopped: false,
            };
            let outcome = sources
                .iter()
                .try_for_each(|source| run.harvest_source(source));
            // Even if the harvest failed.
            let stored = run.finish_storing(&mut Source::new(""));
            // The state is saved before an error is returned: what was stored must not be stored again.
            run.fetcher.state.save()?;
            outcome.and(stored)?;
            run.finish(sources)
        })
    }
}

/// State of one source during a harvest.
struct Source {
    address: String,
    /// Folder of a local source.
    folder: PathBuf,
    report: SourceReport,
    visited: BTreeSet<String>,
    /// SHA-256 of the pages read.
    contents: BTreeSet<String>,
    /// Datasets that may be changed versions of others with the same title. Pages that are not read yet may list those.
    deferred: Vec<Dataset>,
}

impl Source {
    fn new(address: &str) -> Self {
        let report = SourceReport {
            source: address.to_owned(),
            whole: true,
            ..SourceReport::default()
        };
        let (visited, contents) = (BTreeSet::new(), BTreeSet::new());
        Self {
            address: address.to_owned(),
            folder: PathBuf::new(),
            report,
            visited,
            contents,
            deferred: Vec::new(),
        }
    }

    /// Records a failure and marks the source as incomplete.
    fn fail(&mut self, what: &str, reason: impl ToString) {
        self.report.fail(what, reason);
    }
}

/// State of one harvest.
struct Run<'r, 'h> {
    harvester: &'r Harvester<'h>,
    fetcher: Fetcher<'r>,
    storage: Storage,
    sources: &'r [String],
    on_progress: &'r dyn Fn(HarvestProgress),
    report: HarvestReport,
    /// Keys of the datasets listed in this run.
    seen: BTreeSet<String>,
    /// Digests of the descriptions of the datasets of the current source whose keys are identifiers of its own.
    descriptions: BTreeMap<String, String>,
    /// Ids assigned in this run.
    taken: BTreeSet<DatasetId>,
    pending: PendingDatasets,
    /// Number of pages of the current source.
    pages: u64,
    /// If true, no further requests are sent.
    stopped: bool,
}

impl Run<'_, '_> {
    fn harvest_source(&mut self, address: &str) -> Result<(), HarvestError> {
        let mut source = Source::new(address);
        if self.stopped {
            source.fail(address, "not requested: the harvest had stopped");
        } else if is_address(address) {
            self.harvest_remote(&mut source)?;
        } else {
            self.harvest_local(&mut source)?;
        }
        self.process_deferred_datasets(&mut source)?;
        self.descriptions.clear();
        self.flush(&mut source)?;
        self.finish_storing(&mut source)?;
        let SourceReport {
            datasets, repeated, ..
        } = source.report;
        if datasets == 0 && repeated == 0 && source.report.failed.is_empty() {
            let form = source.report.form.as_deref().unwrap_or("no catalogue");
            let reason = format!("it lists no dataset (read as {form})");
            source.fail(address, reason);
        }
        self.report.sources.push(source.report);
        self.pages = 0;
        Ok(())
    }

    fn finish(mut self, sources: &[String]) -> Result<HarvestReport, HarvestError> {
        // After all sources, because a dataset may have moved from one source to another.
        let mut reports = std::mem::take(&mut self.report.sources);
        reports
            .iter_mut()
            .try_for_each(|report| self.remove_delisted_datasets(report))?;
        self.report.sources = reports;
        // Only then it is known which files no source needs any more.
        if self.report.is_whole() {
            self.fetcher.state.remove_untouched_files(sources);
            self.fetcher.state.save()?;
            self.fetcher.state.quarantine.forget_interrupted_steps()?;
        }
        self.fetcher.state.clear()?;
        self.report.spent = self.fetcher.spent;
        Ok(self.report)
    }

    /// Returns the reason of a failure, and stops the harvest if the failure is fatal.
    fn failure_reason(&mut self, error: FetchError) -> Result<String, HarvestError> {
        self.stopped |= error.is_fatal();
        match error {
            FetchError::Disk(error) => Err(error),
            error => Ok(with_remedy(&error)),
        }
    }

    fn report_progress(&self) {
        let earlier: u64 = self.report.sources.iter().map(|source| source.pages).sum();
        let pages = earlier + self.pages;
        let datasets = self.seen.len() as u64;
        (self.on_progress)(HarvestProgress {
            pages,
            datasets,
            spent: self.fetcher.spent,
        });
    }
}

/// Returns the message of an error, and what an operator can do about a request that the policy blocks.
fn with_remedy(error: &FetchError) -> String {
    let FetchError::Egress(egress) = error else {
        return error.to_string();
    };
    match egress.fault {
        EgressFault::Address => format!(
            "<{}>: the host is in a network that is not public; allow it with --allow-private-network, for example \
             127.0.0.0/8 for this machine, or by `private-networks` in the table [service] of lodeseek.toml",
            egress.iri
        ),
        EgressFault::Unresolved => format!(
            "<{}>: the host name has no address; check its spelling",
            egress.iri
        ),
        EgressFault::NotListed => format!(
            "<{}>: blocked by the egress policy: not in the allow list; `lodeseek harvest` allows the host with --host, or all \
             public hosts with --other-hosts any-public; a scheduled harvest allows it with the key `hosts` of [[harvest]]",
            egress.iri
        ),
        _ => error.to_string(),
    }
}

/// Returns true if a source is an HTTP address, false if it is a path.
#[must_use]
pub fn is_address(source: &str) -> bool {
    let scheme = source.get(..8).unwrap_or(source).to_ascii_lowercase();
    scheme.starts_with("http://") || scheme.starts_with("https://")
}

/// Adds the hosts of the sources that are addresses to the allow list of an egress policy.
///
/// # Errors
/// If an address has no valid host.
pub fn allow_source_hosts(
    policy: &mut EgressPolicy,
    sources: &[String],
) -> Result<(), PrefixError> {
    for source in sources.iter().filter(|source| is_address(source)) {
        let (scheme, rest) = source.split_once("://").unwrap_or(("", source));
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        policy.listed.push(format!("{scheme}://{host}/").parse()?);
    }
    Ok(())
}

/// Derives a harvest name from a list of sources: the first host and a hash of the list.
#[must_use]
pub fn default_name(sources: &[String]) -> String {
    let first = sources.first().map(String::as_str).unwrap_or_default();
    let host = fetch::written_origin(first)
        .and_then(|origin| Some(origin.split_once("://")?.1.to_owned()));
    let host = host.unwrap_or_else(|| {
        first
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or("local")
            .to_owned()
    });
    let host: String = host.chars().map(file_name_char).take(60).collect();
    let hash = digest::hash_of_text(&sources.join("\n"));
    format!("{}-{}", host.trim_matches(['.', '-']), &hash[..6])
        .trim_start_matches('-')
        .to_owned()
}

fn file_name_char(c: char) -> char {
    if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') {
        c
    } else {
        '-'
    }
}
