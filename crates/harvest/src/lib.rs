//! Catalogues of the web: portals and feeds, page by page, and the files that they describe, again and again.
//!
//! A source is an address or a local path: a DCAT feed with Hydra's pages or `Link` headers, a CKAN portal by its Action
//! API, or a page of any form that [`Catalog`](lodeseek_catalog::Catalog) reads. What was had is kept in the home with what
//! the server said of it, and asked for again on conditions, so that an unchanged portal costs next to nothing. A CKAN portal
//! is asked for what it changed since, and read whole wherever that leaves a doubt. Datasets are handed to a [`Shelf`] in
//! batches: no portal is held in memory as a whole.
//!
//! *Politeness.* One request at a time, a pause between two to the same host, further attempts with longer and longer
//! waits, `Retry-After` obeyed. `robots.txt` is obeyed for the files that a catalogue describes, its crawl delay included,
//! and so is that of every host that such a file is moved to.
//! The source itself and its pages are exempt: the operator names it, it is made for machines, and portals commonly
//! disallow the paths of their own interfaces to keep search engines away.
//!
//! *What is gone.* A dataset is gone when its source was read to its end without a failure and does not list it any more.
//! A source that broke off, leads round in a circle, lists nothing at all or has unreadable entries has nothing gone.

pub mod survey;
mod changes;
mod ckan;
mod datasets;
mod downloads;
mod error;
mod fetch;
mod pages;
mod report;
mod robots;
mod state;

pub use error::HarvestError;
pub use report::{Failure, HarvestReport, SourceReport};

use error::FetchError;

use datasets::Waiting;
use fetch::Fetcher;
use lodeseek_catalog::{Dataset, DatasetId};
use lodeseek_net::egress::{Cancellation, Egress};
use serde::Serialize;
use state::State;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a whole harvest may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Requests, repeated ones counted again. Default 100,000.
    pub requests: u64,
    /// Bytes of answers, as read. Default 64 GiB.
    pub bytes: u64,
    /// Time of asking and storing. Default 24 h.
    pub time: Duration,
    /// Pages of one source. Default 20,000.
    pub pages: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { requests: 100_000, bytes: 64 << 30, time: Duration::from_secs(24 * 3600), pages: 20_000 }
    }
}

/// What has been spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Spent {
    /// Requests.
    pub requests: u64,
    /// Answers that said that nothing has changed.
    pub not_modified: u64,
    /// Bytes of answers, as read.
    pub bytes: u64,
}

/// Whether the files that a catalogue describes are fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Downloads {
    /// They are not; what an earlier harvest fetched is used.
    #[default]
    None,
    /// Those in RDF are.
    Rdf,
}

/// What becomes of datasets that are gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gone {
    /// They are removed.
    #[default]
    Removed,
    /// They are reported.
    Kept,
}

/// How ids are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ids {
    /// As the catalogue gives them; with the harvest's name before it where another harvest of the home has the id.
    #[default]
    AsGiven,
    /// All with the harvest's name before them: then no other harvest has a say.
    Prefixed,
}

/// How a harvest is done.
#[derive(Clone, Debug)]
pub struct HarvestOptions {
    /// Whether files are fetched.
    pub downloads: Downloads,
    /// What becomes of datasets that are gone.
    pub gone: Gone,
    /// How ids are made.
    pub ids: Ids,
    /// What it may cost.
    pub budget: Budget,
    /// Bytes of one file or page. Default 8 GiB.
    pub file_bytes: u64,
    /// Time of one request, its whole answer included. Default 1 h.
    pub file_time: Duration,
    /// Between two requests to one host. Default 250 ms.
    pub pause: Duration,
    /// Waits before further attempts. Default 1, 5 and 20 s.
    pub back_off: Vec<Duration>,
    /// The longest wait that a server may ask for. Default 120 s.
    pub longest_wait: Duration,
    /// Packages of one page of CKAN. Default 100.
    pub rows: u64,
    /// Harvests in a row that may ask a CKAN portal for its changes alone, until it is read whole again: not all that a
    /// portal changes gets a new date. Default 28, a week of four a day; 0 reads it whole each time.
    pub whole_after: u32,
    /// Datasets handed over at once. Default 1,000.
    pub batch: usize,
    /// Datasets that the home has: others are handed over though nothing has changed, and those that no harvest brought
    /// keep their ids for themselves.
    pub present: BTreeSet<DatasetId>,
    /// When it is given up.
    pub cancellation: Cancellation,
}

impl Default for HarvestOptions {
    fn default() -> Self {
        Self {
            downloads: Downloads::default(),
            gone: Gone::default(),
            ids: Ids::default(),
            budget: Budget::default(),
            file_bytes: 8 << 30,
            file_time: Duration::from_secs(3600),
            pause: Duration::from_millis(250),
            back_off: [1, 5, 20].map(Duration::from_secs).to_vec(),
            longest_wait: Duration::from_secs(120),
            rows: 100,
            whole_after: 28,
            batch: 1000,
            present: BTreeSet::new(),
            cancellation: Cancellation::default(),
        }
    }
}

/// Datasets of one source to be stored.
#[derive(Debug)]
pub struct Batch {
    /// The source.
    pub source: String,
    /// The folder that local paths are relative to, and may not leave.
    pub folder: PathBuf,
    /// The datasets.
    pub datasets: Vec<Dataset>,
}

/// What became of a dataset that was handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shelved {
    /// It is stored as it is now.
    Stored,
    /// It was stored like this before.
    Unchanged,
    /// It stays as it was: a file of it cannot be had or read. It is handed over again next time.
    Kept,
}

/// What stores datasets.
pub trait Shelf {
    /// Stores a batch, and tells what became of every dataset.
    fn store(&mut self, batch: Batch) -> Result<Vec<(DatasetId, Shelved)>, Box<dyn Error + Send + Sync>>;
    /// Removes datasets.
    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// How far a harvest has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct HarvestProgress {
    /// Pages read.
    pub pages: u64,
    /// Datasets seen.
    pub datasets: u64,
    /// What has been spent.
    pub spent: Spent,
}

/// Harvests sources into a shelf.
#[derive(Debug)]
pub struct Harvester<'h> {
    egress: &'h Egress,
    folder: PathBuf,
    name: String,
    options: HarvestOptions,
}

impl<'h> Harvester<'h> {
    /// Under a name, with its files and state in the folder of all harvests.
    #[must_use]
    pub fn new(egress: &'h Egress, folder: &Path, name: &str) -> Self {
        Self { egress, folder: folder.to_owned(), name: name.to_owned(), options: HarvestOptions::default() }
    }

    /// With other options.
    #[must_use]
    pub fn with_options(self, options: HarvestOptions) -> Self {
        Self { options, ..self }
    }

    /// Harvests all sources. What goes wrong with one of them is in the report and does not stop the others.
    pub fn run(
        &self,
        sources: &[String],
        shelf: &mut dyn Shelf,
        on_progress: &dyn Fn(HarvestProgress),
    ) -> Result<HarvestReport, HarvestError> {
        let state = State::open(&self.folder, &self.name)?;
        state.clear()?;
        let fetcher = Fetcher::new(self.egress, &self.options, state);
        let mut run = Run {
            harvester: self,
            fetcher,
            shelf,
            on_progress,
            report: HarvestReport { name: self.name.clone(), ..HarvestReport::default() },
            seen: BTreeSet::new(),
            taken: BTreeSet::new(),
            waiting: Waiting::default(),
            stopped: false,
        };
        let outcome = sources.iter().try_for_each(|source| run.source(source));
        run.fetcher.state.save()?; // also where the harvest broke off
        outcome?;
        run.finish(sources)
    }
}

/// One source being read.
struct Source {
    address: String,
    /// The folder of a local one.
    folder: PathBuf,
    report: SourceReport,
    visited: BTreeSet<String>,
    /// Hashes of pages.
    contents: BTreeSet<String>,
}

impl Source {
    fn new(address: &str) -> Self {
        let report = SourceReport { source: address.to_owned(), whole: true, ..SourceReport::default() };
        let (visited, contents) = (BTreeSet::new(), BTreeSet::new());
        Self { address: address.to_owned(), folder: PathBuf::new(), report, visited, contents }
    }

    /// Something of it was not had: what is missing may be there.
    fn fail(&mut self, what: &str, reason: impl ToString) {
        self.report.fail(what, reason);
    }
}

/// One harvest on its way.
struct Run<'r, 'h> {
    harvester: &'r Harvester<'h>,
    fetcher: Fetcher<'r>,
    shelf: &'r mut dyn Shelf,
    on_progress: &'r dyn Fn(HarvestProgress),
    report: HarvestReport,
    /// The keys of the datasets of this run.
    seen: BTreeSet<String>,
    /// Their ids.
    taken: BTreeSet<DatasetId>,
    waiting: Waiting,
    /// Nothing more is to be asked.
    stopped: bool,
}

impl Run<'_, '_> {
    fn source(&mut self, address: &str) -> Result<(), HarvestError> {
        let mut source = Source::new(address);
        if self.stopped {
            source.fail(address, "it was not asked any more");
        } else if is_address(address) {
            self.remote(&mut source)?;
        } else {
            self.local(&mut source)?;
        }
        self.flush(&mut source)?;
        self.report.sources.push(source.report);
        Ok(())
    }

    fn finish(mut self, sources: &[String]) -> Result<HarvestReport, HarvestError> {
        // Only now: what one source has given up another may have taken on.
        let mut reports = std::mem::take(&mut self.report.sources);
        reports.iter_mut().try_for_each(|report| self.gone(report))?;
        self.report.sources = reports;
        if self.report.is_whole() {
            self.fetcher.state.forget_untouched(sources);
            self.fetcher.state.save()?;
        }
        self.fetcher.state.clear()?;
        self.report.spent = self.fetcher.spent;
        Ok(self.report)
    }

    /// A failure that nothing else can be asked after, if it is one.
    fn note(&mut self, error: FetchError) -> Result<String, HarvestError> {
        self.stopped |= error.ends_all();
        match error {
            FetchError::Disk(error) => Err(error),
            error => Ok(error.to_string()),
        }
    }

    fn show(&self) {
        let pages = self.report.sources.iter().map(|source| source.pages).sum();
        let datasets = self.seen.len() as u64;
        (self.on_progress)(HarvestProgress { pages, datasets, spent: self.fetcher.spent });
    }
}

/// Whether a source is an address on the web; else it is a path.
#[must_use]
pub fn is_address(source: &str) -> bool {
    let scheme = source.get(..8).unwrap_or(source).to_ascii_lowercase();
    scheme.starts_with("http://") || scheme.starts_with("https://")
}

/// A name for the harvest of some sources: no two lists of sources have the same.
#[must_use]
pub fn default_name(sources: &[String]) -> String {
    let first = sources.first().map(String::as_str).unwrap_or_default();
    let host = fetch::origin_of(first).and_then(|origin| Some(origin.split_once("://")?.1.to_owned()));
    let host = host.unwrap_or_else(|| first.rsplit('/').find(|part| !part.is_empty()).unwrap_or("local").to_owned());
    let proper = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '-' };
    let host: String = host.chars().map(proper).take(60).collect();
    let hash = state::hash_of_text(&sources.join("\n"));
    format!("{}-{}", host.trim_matches(['.', '-']), &hash[..6]).trim_start_matches('-').to_owned()
}
