//! Indexing: computes profile, snippet and document of every dataset that changed in the store.

mod examined;
mod prepare;

pub(crate) use examined::{Examined, ExaminedDataset};
pub use prepare::DerivedDataset;
pub(crate) use prepare::description_version;

use super::card::read_card;
use super::duplicates;
use super::translations::{concern_labels, has_other_labels, update_own_translations};
use super::{EngineError, index_folder};
use lodeseek_catalog::duplicates::Candidate;
use lodeseek_catalog::{DatasetId, Iris, plain_text};
use lodeseek_index::vectors::Rows;
use lodeseek_index::{Analysis, AnalysisKind, IndexWriter, Snapshot};
use lodeseek_snippet::{IlluSnip, Method, MethodError, TripleBudget};
use lodeseek_store::{DerivedWriter, Entry, Store, StoreError};
use oxrdf::Triple;
use oxsdatatypes::DateTime;
use serde::Serialize;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Number of ranked triples from which an encoder's text is filled: as in DR2, about 512 word pieces of three words each.
pub(super) const COMPACT_BUDGET: TripleBudget = TripleBudget(171);
/// Maximum entries of a profile's lists in a card.
const MAX_CARD_LIST: usize = 50;
/// The default method that ranks triples for encoders.
pub(super) const DEFAULT_COMPACT_METHOD: Method = Method::IlluSnipMax;
/// Minimum number of table files of the store for it to be compacted. RocksDB searches several of them for every term that is read: to
/// read the descriptions of 20,000 datasets took 112 s with 232 files and 27 s afterwards, those of 476 datasets as long with 29 files
/// as compacted.
const MIN_COMPACTED_FILES: usize = 100;
/// Minimum ratio of indexed to unchanged datasets for the store to be compacted: most of the store is then new.
const MIN_COMPACTED_RATIO: usize = 4;
/// Number of triples of derived data after which they are written.
const MAX_BATCH_TRIPLES: u64 = 100_000;
/// Maximum number of descriptions that are read ahead.
const MAX_WAITING_DATASETS: usize = 16;
/// Maximum number of patterns of either kind in a profile.
const MAX_PROFILE_PATTERNS: usize = 50;

/// Options of indexing.
#[derive(Clone, Copy, Debug)]
pub struct IndexOptions {
    /// Number of threads that make documents. Default 2.
    pub threads: usize,
    /// Number of triples, of datasets, profiles and snippets, after which the index is committed. Default 4,000,000.
    pub commit_triples: u64,
    /// Maximum number of triples of the stored snippets.
    pub snippet_budget: TripleBudget,
    /// The extraction method of the stored snippets. It must not need a query. Default IlluSnip.
    pub snippet_method: Method,
    /// Maximum number of steps of one snippet. Default: a few milliseconds per dataset.
    pub snippet_work: Option<u64>,
    /// The method that ranks triples for [encoders](super::encode). It must not need a query. Default: the method of the
    /// existing index, else IlluSnip from the heaviest triple. [`Method::Patterns`] gives DR2's other compact documents,
    /// after PCSG. A change re-indexes every dataset.
    pub compact_method: Option<Method>,
    /// The current time, recorded as the creation time of snippets. A change re-indexes no dataset.
    pub now: Option<DateTime>,
    /// If true, unchanged datasets are re-indexed too. Default false.
    pub rebuild: bool,
    /// The kind of text analysis. Default: that of the existing index. A change re-indexes every dataset.
    pub analysis: Option<AnalysisKind>,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            threads: 2,
            commit_triples: 4_000_000,
            snippet_budget: TripleBudget::default(),
            snippet_method: Method::default(),
            snippet_work: None,
            compact_method: None,
            now: None,
            rebuild: false,
            analysis: None,
        }
    }
}

/// The progress of indexing.
#[derive(Clone, Copy, Debug)]
pub struct IndexProgress {
    /// Number of datasets done.
    pub datasets: usize,
    /// Number of datasets to index.
    pub total: usize,
    /// Number of triples done.
    pub triples: u64,
}

/// The working time of each stage, summed over threads.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names are the stages'")]
pub struct StageTimes {
    pub read: Duration,
    pub profile: Duration,
    pub snippet: Duration,
    pub document: Duration,
    pub index: Duration,
    pub store: Duration,
}

impl StageTimes {
    fn add(&mut self, other: Self) {
        self.read += other.read;
        self.profile += other.profile;
        self.snippet += other.snippet;
        self.document += other.document;
        self.index += other.index;
        self.store += other.store;
    }
}

/// Datasets that were derived elsewhere, by [`Deriver`] in another process.
pub trait DerivedSource: Sync {
    /// Returns the data of a dataset's document with this version, if it is known. Unknown and unusable data is derived anew.
    fn derived_dataset(&self, id: &DatasetId, version: &str) -> Option<DerivedDataset>;

    /// Returns the vectors of a dataset's metadata and triples by the encoder with this fingerprint, if they are known for the
    /// texts with this digest.
    fn vectors(&self, id: &DatasetId, fingerprint: &str, digest: &str) -> Option<[Rows; 2]>;
}

/// Derives the profile, the snippet and the document of datasets, without a store. The indexer and workers share it.
pub struct Deriver<'i> {
    iris: &'i Iris,
    options: IndexOptions,
    analysis: Analysis,
}

/// A report of indexing.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IndexReport {
    /// The kind of text analysis.
    pub analysis: AnalysisKind,
    /// Number of datasets indexed.
    pub indexed: usize,
    /// Number of datasets among them that were derived elsewhere.
    pub reused: usize,
    /// Number of datasets that had not changed.
    pub unchanged: usize,
    /// Number of datasets removed, because the catalogue no longer has them.
    pub removed: usize,
    /// Number of resources beyond the limits of the dictionary of the collection. 0 if it was not made again.
    pub labels_omitted: u64,
    /// Number of triples of the datasets indexed.
    pub triples: u64,
    /// Number of triples of their profiles and snippets.
    pub derived: u64,
    /// The time of each stage.
    pub times: StageTimes,
}

/// Maximum number of PCSG steps at index time: below its default, because every dataset pays for it.
const MAX_PATTERN_STEPS: u64 = 1_000_000;

impl IndexOptions {
    /// Returns the maximum number of steps for the snippet of a graph with so many triples, if its method has a bound.
    fn work(&self, triples: usize) -> Option<u64> {
        let is_illusnip = self.snippet_method == Method::IlluSnip;
        let default = if is_illusnip {
            IlluSnip::indexing_work(triples as u64)
        } else {
            MAX_PATTERN_STEPS
        };
        self.snippet_method
            .default_work()
            .map(|_| self.snippet_work.unwrap_or(default))
    }

    fn compact_method(&self) -> Method {
        self.compact_method.unwrap_or(DEFAULT_COMPACT_METHOD)
    }

    fn check_methods(&self) -> Result<(), MethodError> {
        for method in [Some(self.snippet_method), self.compact_method]
            .into_iter()
            .flatten()
        {
            if method.takes_query() {
                return Err(MethodError::NeedsQuery(method));
            }
        }
        Ok(())
    }
}

/// Indexes the datasets of a store.
pub struct Indexer<'s> {
    store: &'s Store,
    options: IndexOptions,
    source: Option<&'s dyn DerivedSource>,
}

impl<'s> Indexer<'s> {
    /// Creates an indexer of a store.
    #[must_use]
    pub fn new(store: &'s Store, options: IndexOptions) -> Self {
        Self {
            store,
            options,
            source: None,
        }
    }

    /// Takes datasets from a source, as far as it has them.
    #[must_use]
    pub fn with_source(self, source: &'s dyn DerivedSource) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// Updates the index to the store. An interrupted run keeps its commits, and the next one continues from there.
    ///
    /// # Errors
    /// If a method needs a query, or the store or the index cannot be read or written.
    pub fn run(&self, on_progress: &dyn Fn(IndexProgress)) -> Result<IndexReport, EngineError> {
        self.options.check_methods()?;
        let writer = IndexWriter::open(&index_folder(self.store.home()))?;
        self.with_index_defaults(&writer)?
            .run_with(writer, on_progress)
    }

    /// Returns an indexer with the compact method of the existing index, unless the options name one.
    fn with_index_defaults(&self, writer: &IndexWriter) -> Result<Self, EngineError> {
        let compact_method = match self.options.compact_method {
            Some(method) => Some(method),
            None => compact_method_of(&writer.snapshot()?)?,
        };
        Ok(Self {
            options: IndexOptions {
                compact_method,
                ..self.options
            },
            ..*self
        })
    }

    /// Returns true if the content of a dataset has derived data.
    fn has_content(&self, id: &DatasetId) -> Result<bool, StoreError> {
        Ok(self.store.stores_content(id)? || self.store.is_index_only(id)?)
    }

    fn run_with(
        &self,
        mut writer: IndexWriter,
        on_progress: &dyn Fn(IndexProgress),
    ) -> Result<IndexReport, EngineError> {
        if let Some(analysis) = self.options.analysis {
            writer = writer.with_analysis(analysis);
        }
        let snapshot = writer.snapshot()?;
        let mut report = IndexReport {
            analysis: writer.analysis(),
            ..IndexReport::default()
        };
        let deriver = self.deriver(&writer);
        let home = self.store.home();
        let last_run = Examined::read(home, &deriver);
        // Every change of the store and of the index is a commit: without one, no dataset has to be compared.
        if !self.options.rebuild && last_run.includes_all(self.store, &snapshot) {
            let datasets = last_run.datasets.values();
            let contents = datasets.map(|dataset| dataset.content.clone()).collect();
            report.unchanged = last_run.datasets.len();
            self.update_groups_and_labels(&last_run.datasets, &contents, &deriver, &mut report)?;
            return Ok(report);
        }
        // If this run is interrupted, the next one reads everything.
        Examined::remove(home)?;
        let (examined, indexed) = (last_run.datasets, snapshot.versions()?);
        let versions = self.store.versions()?;
        let selection = self.index_datasets(
            versions.len(),
            |changed| {
                self.select_changed_datasets(&versions, examined, &indexed, &deriver, changed)
            },
            &deriver,
            &mut writer,
            &mut report,
            on_progress,
        )?;
        let Selection {
            mut datasets,
            without_digest,
            contents,
            unchanged,
        } = selection;
        report.unchanged = unchanged;
        for id in indexed.keys().filter(|id| !datasets.contains_key(*id)) {
            writer.remove(id);
            report.removed += 1;
        }
        self.update_groups_and_labels(&datasets, &contents, &deriver, &mut report)?;
        let started = Instant::now();
        writer.commit()?;
        writer.finish()?;
        report.times.index += started.elapsed();
        for (id, digest) in self.store.add_description_digests(without_digest)? {
            if let Some(dataset) = datasets.get_mut(&id) {
                dataset.description = digest;
            }
        }
        Examined::new(&deriver, self.store, datasets).write(home)?;
        Ok(report)
    }

    /// Writes the groups of duplicates and the dictionary of the collection's labels, unless they are current.
    fn update_groups_and_labels(
        &self,
        datasets: &BTreeMap<DatasetId, ExaminedDataset>,
        contents: &BTreeSet<String>,
        deriver: &Deriver<'_>,
        report: &mut IndexReport,
    ) -> Result<(), EngineError> {
        let candidates: Vec<Candidate> = datasets
            .values()
            .map(|dataset| dataset.candidate.clone())
            .collect();
        duplicates::update(self.store, &candidates)?;
        if self.options.rebuild || has_other_labels(self.store, contents)? {
            report.labels_omitted = update_own_translations(self.store, &deriver.analysis)?;
        }
        Ok(())
    }

    /// Returns true if the store should be [compacted](Store::optimize): most datasets were just indexed, and it has many files.
    ///
    /// Reading the whole catalogue is several times faster afterwards. Smaller updates are left to RocksDB, which compacts in the
    /// background while a store is open for writing.
    ///
    /// # Errors
    /// If the folder of the store cannot be read.
    pub fn needs_compaction(&self, report: &IndexReport) -> Result<bool, EngineError> {
        Ok(is_compaction_due(report, self.store.table_files()?))
    }

    /// Indexes changed datasets and removes others from the index, without reading the rest of the store. All changes become
    /// visible in one commit.
    pub fn update(
        &self,
        changed: &[DatasetId],
        removed: &[DatasetId],
    ) -> Result<IndexReport, EngineError> {
        self.options.check_methods()?;
        let mut writer = IndexWriter::open(&index_folder(self.store.home()))?;
        let indexer = self.with_index_defaults(&writer)?;
        let mut report = IndexReport {
            analysis: writer.analysis(),
            removed: removed.len(),
            ..IndexReport::default()
        };
        for id in removed {
            writer.remove(id);
        }
        let deriver = indexer.deriver(&writer);
        let snapshot = writer.snapshot()?;
        // Before indexing: the index still has the former versions.
        let had_labels = concern_labels(self.store, changed, &|id| indexed_version(&snapshot, id))?
            || concern_labels(self.store, removed, &|id| indexed_version(&snapshot, id))?;
        // A single commit: all changes become visible together.
        let options = IndexOptions {
            commit_triples: u64::MAX,
            ..indexer.options
        };
        Indexer { options, ..indexer }.index_datasets(
            changed.len(),
            |selected| {
                for id in changed {
                    let entry = self.store.entry(id)?;
                    let version = deriver.version(&entry)?;
                    selected.send(ChangedDataset { entry, version })?;
                }
                Ok(())
            },
            &deriver,
            &mut writer,
            &mut report,
            &|_| (),
        )?;
        if had_labels
            || concern_labels(self.store, changed, &|id| {
                Ok(Some(self.store.entry(id)?.version))
            })?
        {
            report.labels_omitted = update_own_translations(self.store, &deriver.analysis)?;
        }
        let started = Instant::now();
        writer.merge_segments()?;
        report.times.index += started.elapsed();
        Ok(report)
    }

    fn deriver(&self, writer: &IndexWriter) -> Deriver<'s> {
        Deriver::new(self.store.iris(), self.options, writer.analysis())
    }

    /// Sends the datasets that the index does not have in this version, as they are read. A description that is that of the last run
    /// is not read.
    fn select_changed_datasets(
        &self,
        versions: &BTreeMap<DatasetId, String>,
        mut examined: BTreeMap<DatasetId, ExaminedDataset>,
        indexed: &BTreeMap<DatasetId, String>,
        deriver: &Deriver<'_>,
        changed: &ChangedSender<'_>,
    ) -> Result<Selection, SelectionError> {
        let mut digests = self.store.description_digests()?;
        let mut selection = Selection::default();
        for (id, content) in versions {
            selection.contents.insert(content.clone());
            let digest = digests.remove(id);
            let known = examined.remove(id).filter(|known| {
                !self.options.rebuild
                    && known.is_unchanged(content, digest.as_ref())
                    && indexed.get(id) == Some(&known.document)
            });
            if let Some(known) = known
                && self.has_its_derived_data(id)?
            {
                selection.datasets.insert(id.clone(), known);
                selection.unchanged += 1;
                changed.skip();
                continue;
            }
            let Some(entry) = self.store.read_entry(id, content.clone())? else {
                changed.skip();
                continue; // Without a description it is not in the catalogue.
            };
            let version = deriver.version(&entry)?;
            if digest.is_none() {
                selection.without_digest.push(id.clone());
            }
            let dataset = ExaminedDataset {
                description: digest.unwrap_or_default(),
                content: content.clone(),
                document: version.clone(),
                title: Some(plain_text(entry.dataset.metadata.title()).into_owned()),
                candidate: duplicates::candidate(self.store, &entry)?,
            };
            selection.datasets.insert(id.clone(), dataset);
            if self.is_indexed(id, &version, indexed)? {
                selection.unchanged += 1;
                changed.skip();
            } else {
                changed.send(ChangedDataset { entry, version })?;
            }
        }
        Ok(selection)
    }

    /// Returns true if the index has a dataset with this version of its document, and the store its derived data.
    fn is_indexed(
        &self,
        id: &DatasetId,
        version: &str,
        indexed: &BTreeMap<DatasetId, String>,
    ) -> Result<bool, EngineError> {
        if self.options.rebuild || indexed.get(id).map(String::as_str) != Some(version) {
            return Ok(false);
        }
        self.has_its_derived_data(id)
    }

    /// Returns false for a dataset with content and without derived data: an interrupted rebuild leaves such datasets in the index.
    fn has_its_derived_data(&self, id: &DatasetId) -> Result<bool, EngineError> {
        let profiles = self.store.iris().profiles();
        Ok(self.store.has_derived(&profiles, id)? || !self.has_content(id)?)
    }

    /// Returns the data of a dataset's document: from the source, else from its content.
    fn derive(
        &self,
        deriver: &Deriver<'_>,
        ChangedDataset { entry, version }: &ChangedDataset,
        description_read: Duration,
    ) -> Result<DerivedDataset, EngineError> {
        let id = &entry.dataset.metadata.id;
        if let Some(derived) = self
            .source
            .and_then(|source| source.derived_dataset(id, version))
        {
            return Ok(DerivedDataset {
                is_reused: true,
                ..derived
            });
        }
        let started = Instant::now();
        let content = self.store.open_content(entry)?;
        let read = description_read + started.elapsed();
        let mut derived = deriver.derive(self.store.content_folder(), entry, version, &content)?;
        derived.times.read += read;
        Ok(derived)
    }

    /// Prepares the datasets that `select` sends in worker threads, and writes them in this one. Few descriptions are in memory: those
    /// of a large collection may not fit. `total` is the number of datasets that may be sent.
    fn index_datasets<S: Send>(
        &self,
        total: usize,
        select: impl FnOnce(&ChangedSender<'_>) -> Result<S, SelectionError> + Send,
        deriver: &Deriver<'_>,
        writer: &mut IndexWriter,
        report: &mut IndexReport,
        on_progress: &dyn Fn(IndexProgress),
    ) -> Result<S, EngineError> {
        let total = &AtomicUsize::new(total);
        let (changed_sender, changed) = sync_channel(MAX_WAITING_DATASETS);
        // The threads own it, so that the selection ends with them.
        let changed = Arc::new(Mutex::new(changed));
        let (sender, receiver) = sync_channel(self.options.threads);
        thread::scope(|scope| {
            let selecting = scope.spawn(move || select(&ChangedSender::new(changed_sender, total)));
            for _ in 0..self.options.threads {
                let (sender, changed) = (sender.clone(), Arc::clone(&changed));
                scope.spawn(move || {
                    while let Some((dataset, read)) = next_dataset(&changed) {
                        if sender.send(self.derive(deriver, &dataset, read)).is_err() {
                            return; // The writing thread has failed and returns its error.
                        }
                    }
                });
            }
            drop((sender, changed));
            self.write_documents(receiver, total, writer, report, on_progress)?;
            match selecting.join() {
                Ok(Ok(selection)) => Ok(selection),
                Ok(Err(SelectionError::Failed(error))) => Err(error),
                Ok(Err(SelectionError::Stopped)) => Err(EngineError::Io {
                    path: self.store.home().to_owned(),
                    cause: io::Error::other("the threads that read datasets ended early"),
                }),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Writes datasets as they are prepared, and commits them.
    fn write_documents(
        &self,
        receiver: Receiver<Result<DerivedDataset, EngineError>>,
        total: &AtomicUsize,
        writer: &mut IndexWriter,
        report: &mut IndexReport,
        on_progress: &dyn Fn(IndexProgress),
    ) -> Result<(), EngineError> {
        let mut derived = self.store.derived_writer();
        let (mut batch, mut waiting) = (Batch::default(), 0);
        for prepared in receiver {
            let prepared: DerivedDataset = prepared?;
            report.indexed += 1;
            report.reused += usize::from(prepared.is_reused);
            report.triples += prepared.triples;
            report.times.add(prepared.times);
            let new = (prepared.profile.len() + prepared.snippet.len()) as u64;
            report.derived += new;
            waiting += prepared.triples + new;
            batch.triples += new;
            let id = &prepared.document.id;
            batch.profiles.push((id.clone(), prepared.profile));
            batch.snippets.push((id.clone(), prepared.snippet));
            let started = Instant::now();
            writer.put(prepared.document)?;
            report.times.index += started.elapsed();
            let must_commit = waiting >= self.options.commit_triples;
            if must_commit || batch.triples >= MAX_BATCH_TRIPLES {
                let batch = std::mem::take(&mut batch);
                self.write_batch(batch, &mut derived, &mut report.times)?;
            }
            if must_commit {
                commit(&mut derived, writer, &mut report.times)?;
                waiting = 0;
            }
            on_progress(IndexProgress {
                datasets: report.indexed,
                // For display only: nothing else depends on the number.
                total: total.load(Ordering::Relaxed),
                triples: report.triples,
            });
        }
        self.write_batch(batch, &mut derived, &mut report.times)?;
        commit(&mut derived, writer, &mut report.times)
    }

    fn write_batch(
        &self,
        batch: Batch,
        writer: &mut DerivedWriter<'_>,
        times: &mut StageTimes,
    ) -> Result<(), EngineError> {
        let started = Instant::now();
        let iris = self.store.iris();
        writer.replace([
            (iris.profiles(), batch.profiles),
            (iris.snippets(), batch.snippets),
        ])?;
        times.store += started.elapsed();
        Ok(())
    }
}

/// Returns the version of the content of a dataset in the index.
fn indexed_version(snapshot: &Snapshot, id: &DatasetId) -> Result<Option<String>, EngineError> {
    Ok(read_card(snapshot, id)?.map(|card| card.version))
}

fn is_compaction_due(report: &IndexReport, table_files: usize) -> bool {
    report.indexed >= MIN_COMPACTED_RATIO * report.unchanged && table_files >= MIN_COMPACTED_FILES
}

/// Commits derived data first and the index last: after an interruption, the next run prepares datasets again that are missing in the
/// index or have no derived data.
fn commit(
    derived: &mut DerivedWriter<'_>,
    index: &mut IndexWriter,
    times: &mut StageTimes,
) -> Result<(), EngineError> {
    let started = Instant::now();
    derived.commit()?;
    times.store += started.elapsed();
    let started = Instant::now();
    index.commit()?;
    times.index += started.elapsed();
    Ok(())
}

/// A dataset to index.
struct ChangedDataset {
    entry: Entry,
    /// Version of its document.
    version: String,
}

/// The receiving side of the selection of datasets.
struct ChangedSender<'t> {
    sender: SyncSender<(ChangedDataset, Duration)>,
    /// Number of datasets to index, as far as it is known.
    total: &'t AtomicUsize,
    /// The end of the last sending.
    sent: Cell<Instant>,
}

impl<'t> ChangedSender<'t> {
    fn new(sender: SyncSender<(ChangedDataset, Duration)>, total: &'t AtomicUsize) -> Self {
        Self {
            sender,
            total,
            sent: Cell::new(Instant::now()),
        }
    }

    /// Counts a dataset that need not be indexed.
    fn skip(&self) {
        self.total.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sends a dataset. It waits while enough datasets are waiting.
    fn send(&self, dataset: ChangedDataset) -> Result<(), SelectionError> {
        let sent = self.sender.send((dataset, self.sent.get().elapsed()));
        self.sent.set(Instant::now());
        sent.map_err(|_| SelectionError::Stopped)
    }
}

/// Failure to select datasets.
enum SelectionError {
    Failed(EngineError),
    /// The receiving threads have ended, because writing failed.
    Stopped,
}

impl From<EngineError> for SelectionError {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl From<StoreError> for SelectionError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

/// All datasets of a store, as they were read.
#[derive(Default)]
struct Selection {
    datasets: BTreeMap<DatasetId, ExaminedDataset>,
    /// Those whose description has no digest.
    without_digest: Vec<DatasetId>,
    /// Versions of the contents.
    contents: BTreeSet<String>,
    /// Number of datasets that the index has.
    unchanged: usize,
}

/// Returns the next dataset to index. `None` after the last one.
fn next_dataset(
    changed: &Mutex<Receiver<(ChangedDataset, Duration)>>,
) -> Option<(ChangedDataset, Duration)> {
    let changed = changed.lock().unwrap_or_else(PoisonError::into_inner);
    changed.recv().ok()
}

/// Derived data in memory.
#[derive(Default)]
struct Batch {
    profiles: Vec<(DatasetId, Vec<Triple>)>,
    snippets: Vec<(DatasetId, Vec<Triple>)>,
    triples: u64,
}

/// Returns the compact method of an existing index, from one of its cards.
pub(super) fn compact_method_of(snapshot: &Snapshot) -> Result<Option<Method>, EngineError> {
    let Some(id) = snapshot.any_id()? else {
        return Ok(None);
    };
    Ok(read_card(snapshot, &id)?.and_then(|card| card.compact_method.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_of_many_files_is_compacted_if_most_of_it_is_new() {
        let report = |indexed, unchanged| IndexReport {
            indexed,
            unchanged,
            ..IndexReport::default()
        };
        assert!(is_compaction_due(&report(8, 2), MIN_COMPACTED_FILES));
        assert!(!is_compaction_due(&report(8, 2), MIN_COMPACTED_FILES - 1));
        assert!(!is_compaction_due(&report(7, 2), MIN_COMPACTED_FILES));
    }
}
