//! Dumps into the store: one thread reads and parses, the calling thread writes, batch by batch.
//!
//! A batch is some hundred thousand triples of whole datasets. Its content and the descriptions of its new datasets become table
//! files, and a commit makes those of some batches visible: after that they are there, whatever happens next. Datasets that replace
//! others are committed batch by batch, after their content.

use super::description::Description;
use super::edits::DatasetEdits;
use super::files::{self, LoadedFile, StoredFile};
use super::intake::{
    ContentReader, DatasetContent, DirectContentReader, ReadFiles, SourceFile, SourcePlace,
    bytes_of, source_files,
};
use super::internal_facts::NewFacts;
use super::load_report::{DatasetOutcome, DatasetReport, LoadReport};
use super::new_datasets::NewDatasets;
use super::quad_changes::QuadChanges;
use super::{
    DatasetOrigin, LoadSource, Stamp, Store, StoreError, StoredContent, blank, graph_file, journal,
};
use lodeseek_catalog::{Catalog, Dataset, DatasetId, Dialect, Edits, IdOrigin};
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::dump::Limits;
use oxrdf::{NamedNode, Quad, Triple};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// Options of a load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Triples after which a batch is written, at most 2,000,000. Default 500,000.
    pub batch_triples: usize,
    /// Threads of Oxigraph's bulk loader. Default 2.
    pub threads: usize,
    /// Rough memory of the bulk loader in megabytes. Default 200.
    pub memory_megabytes: usize,
    /// Limits of reading one dump.
    pub limits: Limits,
    /// Reader of dumps. Default: this process reads them.
    pub reader: Arc<dyn ContentReader>,
    /// Content of the catalogue records. Default: no record is written.
    pub stamp: Stamp,
    /// Treatment of replaced versions. Default: they are cleared.
    pub replaced: Replaced,
    /// Treatment of a new dataset with a file that cannot be read. Default: it is stored with what can be read.
    pub incomplete: Incomplete,
    /// Place of the content. Default: that of the home's key `content`, else the store.
    pub content: Option<ContentPlace>,
    /// Treatment of tables. Default: the home's key `tables`, else they are stored.
    pub tables: Option<TableTreatment>,
    /// Source that is recorded as the origin of the datasets. Default: present origins are kept.
    pub source: Option<LoadSource>,
    /// If true, the bytes of the files are kept for downloads. Default: the home's key `keep-files`, else true.
    pub keep_files: Option<bool>,
}

/// Place of the content of loaded datasets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentPlace {
    /// Graph files and the store: SPARQL can query it.
    #[default]
    Store,
    /// Graph files alone: enough for search, snippets, pages and downloads. SPARQL cannot query it.
    IndexOnly,
}

/// Treatment of the files that are tables: text tables, workbooks, JSON and XML without RDF.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableTreatment {
    /// They are content like RDF.
    #[default]
    Store,
    /// A dataset with such a file has the place [`ContentPlace::IndexOnly`].
    IndexOnly,
    /// They are not read. Their datasets have the rest of their content.
    Off,
}

/// Treatment of a new dataset of which a file is missing, damaged, or holds nothing that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Incomplete {
    /// It is stored with the content that can be read, unless it is a dump without a description of which nothing can be read.
    #[default]
    Stored,
    /// It is not stored. Its outcome is [`DatasetOutcome::Kept`], as that of a dataset that keeps its previous version.
    Rejected,
}

impl Incomplete {
    /// Returns the treatment of the datasets of a catalogue: a dump that is loaded without a description is nothing but its content.
    #[must_use]
    pub fn of_catalog(catalog: &Catalog) -> Self {
        if catalog.dialect == Dialect::Dump {
            Self::Rejected
        } else {
            Self::Stored
        }
    }
}

/// Treatment of content that was replaced by other content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Replaced {
    /// It is cleared at the end of the load.
    #[default]
    Cleared,
    /// It stays until [`Store::clear_replaced`], for those who still read it.
    Kept,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            batch_triples: 500_000,
            threads: 2,
            memory_megabytes: 200,
            limits: Limits::default(),
            reader: Arc::new(DirectContentReader),
            stamp: Stamp::default(),
            replaced: Replaced::default(),
            incomplete: Incomplete::default(),
            content: None,
            tables: None,
            source: None,
            keep_files: None,
        }
    }
}

/// Parsed datasets waiting to be written; more would only fill memory.
const MAX_WAITING_DATASETS: usize = 4;
/// Parsed triples waiting to be written, from which on no further dataset is parsed.
const MAX_WAITING_TRIPLES: u64 = 2_000_000;
/// Datasets after which a batch is written, however few triples they have. The descriptions of a batch are held in memory: about
/// 16 KB a dataset.
const MAX_BATCH_DATASETS: usize = 2000;
/// Quads after which new datasets are committed: more than that is not lost if a load is killed. They are some forty table files of
/// each order of the store, which readers search one by one until RocksDB has merged them.
const MAX_COMMIT_QUADS: u64 = 4_000_000;

/// Phase of a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Reading dumps.
    Reading,
    /// Writing a batch.
    Writing,
    /// Clearing replaced versions.
    Clearing,
}

/// Progress of a load.
#[derive(Clone, Copy, Debug)]
pub struct LoadProgress {
    /// Current phase.
    pub phase: Phase,
    /// Datasets read, of [`Self::datasets_total`].
    pub datasets: usize,
    /// All datasets of this load.
    pub datasets_total: usize,
    /// Bytes of dump files read, of [`Self::bytes_total`].
    pub bytes: u64,
    /// Bytes of all dump files.
    pub bytes_total: u64,
    /// Distinct triples so far.
    pub triples: u64,
}

/// A dataset that was read elsewhere.
#[derive(Clone, Debug)]
pub struct StagedDataset {
    /// Its description in the catalogue graph, as from [`describe_dataset`].
    pub description: Vec<Triple>,
    /// The version of its content.
    pub version: String,
    /// If true, a file that should hold content is missing, damaged, or holds nothing that can be read.
    pub lacks_content: bool,
    /// The report of reading its files.
    pub report: DatasetReport,
}

/// A dataset read and ready to be written.
struct Parsed {
    /// Its description in the catalogue graph, without the number of skipped statements and the place of the content.
    description: Vec<Triple>,
    content: StoredContent,
    version: String,
    /// If true, a file that should hold content is missing, damaged, or holds nothing that can be read.
    lacks_content: bool,
    /// If true, it is a dump without a description: nothing but its content.
    is_mere_dump: bool,
    report: DatasetReport,
    /// Origin to record.
    origin: Option<DatasetOrigin>,
    /// Edits with which it is described.
    edits: Option<DatasetEdits>,
    /// Its files, whose bytes the home has. `None` keeps those that are listed.
    kept_files: Option<Vec<StoredFile>>,
}

impl Parsed {
    fn new(
        dataset: &Dataset,
        content: DatasetContent,
        loader: &Loader<'_>,
    ) -> Result<Self, StoreError> {
        let (store, source) = (loader.store, &loader.options.source);
        let origin = source
            .as_ref()
            .map(|source| DatasetOrigin::new(source, dataset));
        let DatasetContent {
            version,
            content,
            files,
            lacks_content,
            ..
        } = content;
        let report = DatasetReport::new(
            dataset.metadata.id.clone(),
            dataset.metadata.plain_texts().title(),
            content.len(),
            files,
        );
        let (description, edits) = store.edited_description(dataset)?;
        Ok(Self {
            description,
            content,
            version,
            lacks_content,
            is_mere_dump: matches!(dataset.entry.origin, IdOrigin::File(_)),
            report,
            origin,
            edits,
            kept_files: None,
        })
    }

    /// Returns the facts to store, without those of the description.
    fn take_facts(&mut self) -> NewFacts {
        NewFacts {
            origin: self.origin.take(),
            edits: Some(self.edits.take()),
            files: self.kept_files.take(),
        }
    }
}

/// Loads catalogues into a store.
///
/// ```
/// use lodeseek_catalog::{Catalog, Iris};
/// use lodeseek_store::{Loader, Store};
/// # let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("tiny.ttl"), "<http://e.org/a> <http://e.org/p> 1 .")?;
/// let catalog = Catalog::read(&folder.path().join("tiny.ttl"))?;
/// let store = Store::in_memory(folder.path(), Iris::new(Iris::DEFAULT_BASE)?)?;
/// let report = Loader::new(&store).load(catalog, &|_| ())?;
/// assert_eq!(report.triples(), 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Loader<'s> {
    store: &'s Store,
    options: LoadOptions,
}

impl<'s> Loader<'s> {
    /// A loader with the default options.
    #[must_use]
    pub fn new(store: &'s Store) -> Self {
        Self {
            store,
            options: LoadOptions::default(),
        }
    }

    /// A loader with other options.
    #[must_use]
    pub fn with_options(self, mut options: LoadOptions) -> Self {
        // With a larger batch, the parsing side would stop before the writing side starts.
        options.batch_triples = options.batch_triples.min(MAX_WAITING_TRIPLES as usize);
        Self { options, ..self }
    }

    /// Loads every dataset of a catalogue. What is wrong with one dataset is in its report; an error is one of the store.
    pub fn load(
        &self,
        catalog: Catalog,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, StoreError> {
        let Catalog {
            folder,
            datasets,
            problems,
            duplicates,
            ..
        } = catalog;
        let mut run = Run::new(
            self,
            &datasets,
            &folder,
            LoadReport::of_catalog(problems, duplicates),
            on_progress,
        );
        let (sender, receiver) = sync_channel(MAX_WAITING_DATASETS);
        let backlog = Backlog::default();
        thread::scope(|scope| {
            let backlog = &backlog;
            scope.spawn(move || self.parse_all(datasets, &folder, backlog, &sender));
            // This drops the receiver, so that a blocked `send` of the parser fails.
            let received = run.receive(receiver, backlog);
            // Otherwise the parser would wait for room for ever if writing failed.
            backlog.close();
            received
        })?;
        run.finish()
    }

    /// Loads datasets whose content was had elsewhere, with that content.
    pub fn load_graphs(
        &self,
        datasets: Vec<(Dataset, TripleGraph)>,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, StoreError> {
        let mut run = Run::new(self, &[], Path::new(""), LoadReport::default(), on_progress);
        run.progress.datasets_total = datasets.len();
        for (dataset, graph) in datasets {
            let content =
                self.store
                    .content_folder
                    .write_graph(graph, ReadFiles::default(), &mut None)?;
            let mut parsed = Parsed::new(&dataset, content, self)?;
            parsed.report.read = parsed.report.triples;
            run.add_dataset(parsed, 0, &Backlog::default())?;
        }
        run.write(&Backlog::default())?;
        run.finish()
    }

    /// Replaces the description of a present dataset. Its content is not opened: version, place of the content and number of
    /// skipped statements stay.
    ///
    /// # Errors
    /// [`StoreError::NoDataset`] if there is no such dataset; errors of the store.
    pub fn replace_description(&self, dataset: &Dataset) -> Result<LoadReport, StoreError> {
        let origin = self
            .options
            .source
            .as_ref()
            .map(|source| DatasetOrigin::new(source, dataset));
        let described = self.store.edited_description(dataset)?;
        self.describe(dataset, described, origin, &self.options.stamp)
    }

    /// Replaces the edits of a dataset's description. Without edits it is described as its source states it.
    ///
    /// # Errors
    /// [`StoreError::NoDataset`] if there is no such dataset, [`StoreError::Edit`] if an edit cannot be stated; errors of the
    /// store.
    pub fn edit(&self, id: &DatasetId, edits: Edits) -> Result<LoadReport, StoreError> {
        let source = match self.store.dataset_edits(id)? {
            Some(present) => present.source,
            // Without edits, the stored description is that of the source.
            None => self.store.entry(id)?.dataset,
        };
        let edits = DatasetEdits { edits, source };
        let edited = edits.apply()?;
        let triples = super::describe_dataset(&edited, &self.store.iris);
        let edits = Some(edits).filter(|edits| !edits.edits.is_empty());
        // The description is still that of its source.
        let origin = self
            .store
            .origin(id)?
            .and_then(|iri| NamedNode::new(iri).ok());
        let stamp = Stamp {
            origin,
            ..self.options.stamp.clone()
        };
        self.describe(&edited, (triples, edits), None, &stamp)
    }

    /// Stores the description of a present dataset.
    fn describe(
        &self,
        dataset: &Dataset,
        (mut description, edits): (Vec<Triple>, Option<DatasetEdits>),
        origin: Option<DatasetOrigin>,
        stamp: &Stamp,
    ) -> Result<LoadReport, StoreError> {
        let (store, id) = (self.store, &dataset.metadata.id);
        let version = store
            .version(id)?
            .ok_or_else(|| StoreError::NoDataset(id.clone()))?;
        let triples = store.counts(id, &version)?.all.triples;
        let mut report = DatasetReport::new(
            id.clone(),
            dataset.metadata.plain_texts().title(),
            triples,
            Vec::new(),
        );
        (report.read, report.skipped) = (triples, store.skipped_statements(id)?);
        store.add_content_facts(
            &mut description,
            id,
            report.skipped,
            store.is_index_only(id)?,
        );
        // Without a time, a load writes no records, and none is missing.
        let has_record = stamp.now.is_none() || store.has_record(id)?;
        let facts = NewFacts {
            origin,
            edits: Some(edits),
            files: None,
        };
        if has_record && store.is_described(id, &description)? {
            report.outcome = DatasetOutcome::Unchanged;
            let facts = store.without_present_facts(id, facts)?;
            store.replace_facts(&[(id.clone(), facts)])?;
        } else {
            report.outcome = DatasetOutcome::Replaced;
            store.describe(
                &[Description {
                    id: id.clone(),
                    version,
                    triples: description,
                    facts,
                }],
                stamp,
            )?;
        }
        // An edit is no load: the list for the operator keeps the loads.
        Ok(LoadReport {
            datasets: vec![report],
            ..LoadReport::default()
        })
    }

    /// Adds a load to the list for the operator. The datasets are stored: a failure to list them is logged only.
    fn note_load(&self, report: LoadReport) -> LoadReport {
        if let Err(error) = journal::note(self.store, &report, &self.options.stamp) {
            tracing::warn!(%error, "the load is not noted for the operator");
        }
        report
    }

    /// Loads datasets that were read elsewhere, in the given order. Their [files](super::version_paths) must be in the home.
    ///
    /// # Errors
    /// The first error of `datasets`; if a graph file is missing or damaged; errors of the store.
    pub fn load_staged_datasets<E: From<StoreError>>(
        &self,
        datasets: impl Iterator<Item = Result<StagedDataset, E>>,
        total: usize,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, E> {
        let mut run = Run::new(self, &[], Path::new(""), LoadReport::default(), on_progress);
        run.progress.datasets_total = total;
        for dataset in datasets {
            let StagedDataset {
                description,
                version,
                lacks_content,
                report,
            } = dataset?;
            let content = self.store.content_folder.open(&version)?;
            let (description, edits) = self.store.edited_triples(&report.id, description)?;
            let parsed = Parsed {
                description,
                content,
                version,
                lacks_content,
                is_mere_dump: false,
                report,
                origin: None,
                edits,
                // Those of an earlier version are not its files.
                kept_files: Some(Vec::new()),
            };
            run.add_dataset(parsed, 0, &Backlog::default())?;
        }
        run.write(&Backlog::default())?;
        Ok(run.finish()?)
    }
}

/// The writing side of one load.
struct Run<'r> {
    loader: &'r Loader<'r>,
    on_progress: &'r dyn Fn(LoadProgress),
    progress: LoadProgress,
    waiting: Vec<Parsed>,
    waiting_triples: u64,
    new: NewDatasets<'r>,
    report: LoadReport,
}

impl<'r> Run<'r> {
    fn new(
        loader: &'r Loader<'r>,
        datasets: &[Dataset],
        folder: &Path,
        report: LoadReport,
        on_progress: &'r dyn Fn(LoadProgress),
    ) -> Self {
        let bytes_total = datasets
            .iter()
            .map(|dataset| bytes_of(dataset, folder))
            .sum();
        let progress = LoadProgress {
            phase: Phase::Reading,
            datasets: 0,
            datasets_total: datasets.len(),
            bytes: 0,
            bytes_total,
            triples: 0,
        };
        Self {
            loader,
            on_progress,
            progress,
            waiting: Vec::new(),
            waiting_triples: 0,
            new: NewDatasets::new(
                loader.store,
                &loader.options.stamp,
                loader.options.threads,
                loader.options.memory_megabytes,
            ),
            report,
        }
    }

    fn receive(
        &mut self,
        parsed: Receiver<Result<(Parsed, u64), StoreError>>,
        backlog: &Backlog,
    ) -> Result<(), StoreError> {
        for parsed in parsed {
            let (parsed, bytes) = parsed?;
            self.add_dataset(parsed, bytes, backlog)?;
        }
        self.write(backlog)
    }

    /// Takes a dataset, and writes those waiting if they are enough.
    fn add_dataset(
        &mut self,
        parsed: Parsed,
        bytes: u64,
        backlog: &Backlog,
    ) -> Result<(), StoreError> {
        self.progress.datasets += 1;
        self.progress.bytes += bytes;
        self.progress.triples += parsed.report.triples;
        self.waiting_triples += parsed.content.len();
        self.waiting.push(parsed);
        (self.on_progress)(self.progress);
        let is_full = self.waiting_triples >= self.loader.options.batch_triples as u64
            || self.waiting.len() >= MAX_BATCH_DATASETS;
        if is_full { self.write(backlog) } else { Ok(()) }
    }

    fn finish(mut self) -> Result<LoadReport, StoreError> {
        self.new.commit()?;
        let (total, on_progress) = (self.progress, self.on_progress);
        if self.loader.options.replaced == Replaced::Cleared {
            self.report.cleared_graphs = self.loader.store.clear_replaced(&|_, _| {
                on_progress(LoadProgress {
                    phase: Phase::Clearing,
                    ..total
                });
            })?;
        }
        Ok(self.loader.note_load(self.report))
    }

    /// Writes what is waiting, and commits it unless it may wait for more.
    fn write(&mut self, backlog: &Backlog) -> Result<(), StoreError> {
        (self.on_progress)(LoadProgress {
            phase: Phase::Writing,
            ..self.progress
        });
        let store = self.loader.store;
        let mut batch = std::mem::take(&mut self.waiting);
        let triples = std::mem::take(&mut self.waiting_triples);
        let (mut new, mut replaced) = (Vec::new(), Vec::new());
        let mut facts = Vec::new();
        let mut new_content = Vec::new();
        for (number, parsed) in batch.iter_mut().enumerate() {
            let id = &parsed.report.id;
            let place = self.loader.place_of(parsed);
            let description = describe_parsed_dataset(parsed, place, store);
            let present = store.version(id)?;
            // The content of an index-only dataset is its graph file, which was written when it was parsed.
            let has_content = place == ContentPlace::IndexOnly || store.has_content(id, parsed)?;
            let same_content = present.as_ref() == Some(&parsed.version) && has_content;
            // A dump of which nothing can be read is no dataset, also among others in a folder.
            let is_kept = present.is_some()
                || parsed.is_mere_dump
                || self.loader.options.incomplete == Incomplete::Rejected;
            // An incomplete reading must not replace a version that may be complete.
            if is_kept && !same_content && parsed.lacks_content {
                parsed.report.outcome = DatasetOutcome::Kept;
                continue;
            }
            let must_have_record = self.loader.options.stamp.now.is_some();
            if same_content
                && (!must_have_record || store.has_record(id)?)
                && store.is_described(id, &description)?
            {
                parsed.report.outcome = DatasetOutcome::Unchanged;
                let id = id.clone();
                let changed = store.without_present_facts(&id, parsed.take_facts())?;
                facts.push((id, changed));
                continue;
            }
            parsed.report.outcome = match present {
                Some(_) => DatasetOutcome::Replaced,
                None if parsed.content.is_empty() => DatasetOutcome::MetadataOnly,
                None => DatasetOutcome::Loaded,
            };
            if !same_content {
                new_content.push((number, place));
            }
            let described = Description {
                id: id.clone(),
                version: parsed.version.clone(),
                triples: description,
                facts: parsed.take_facts(),
            };
            if present.is_some() {
                replaced.push(described);
            } else {
                new.push(described);
            }
        }
        let new_facts = new
            .iter()
            .chain(&replaced)
            .map(|description| &description.facts)
            .chain(facts.iter().map(|(_, facts)| facts));
        // Synced before the commit that lists them: after a power cut, a listed file must not be missing.
        store.sync_kept_files(new_facts.filter_map(|facts| facts.files.as_ref()).flatten())?;
        // The store keeps numbers by their value; as they were written they are in these files alone.
        graph_file::sync_files(
            &store.home,
            &new_content
                .iter()
                .map(|&(number, _)| batch[number].version.as_str())
                .collect::<Vec<_>>(),
        )?;
        new_content.retain(|(_, place)| *place == ContentPlace::Store);
        self.write_content(&batch, &new_content)?;
        replaced.extend(self.write_new_descriptions(new)?);
        facts.retain(|(_, facts)| !facts.is_empty());
        let is_full = self.new.waiting_quads() >= MAX_COMMIT_QUADS;
        if is_full || !replaced.is_empty() || !facts.is_empty() {
            // Content is committed before `describe` moves the pointers of replaced datasets to it.
            self.new.commit()?;
        }
        if !replaced.is_empty() {
            store.describe(&replaced, &self.loader.options.stamp)?;
        }
        store.replace_facts(&facts)?;
        self.report
            .datasets
            .extend(batch.into_iter().map(|parsed| parsed.report));
        backlog.remove(triples);
        Ok(())
    }

    /// Writes the descriptions of datasets that have no current version. Returns those of which the store has other
    /// statements, such as a record.
    fn write_new_descriptions(
        &mut self,
        descriptions: Vec<Description>,
    ) -> Result<Vec<Description>, StoreError> {
        let store = self.loader.store;
        let (mut ids, mut new) = (Vec::new(), QuadChanges::default());
        let mut changed = Vec::new();
        for description in descriptions {
            match store.describe_new(&description, &self.loader.options.stamp)? {
                Some(changes) => {
                    new.append(changes);
                    ids.push(description.id);
                }
                None => changed.push(description),
            }
        }
        if !ids.is_empty() {
            self.new.add_descriptions(ids, new)?;
        }
        Ok(changed)
    }

    fn write_content(
        &mut self,
        batch: &[Parsed],
        new: &[(usize, ContentPlace)],
    ) -> Result<(), StoreError> {
        if new.is_empty() {
            return Ok(());
        }
        let store = self.loader.store;
        let new = new.iter().map(|&(number, _)| &batch[number]);
        let in_memory = new.clone().filter_map(|parsed| match &parsed.content {
            StoredContent::InMemory(graph) => Some((parsed, graph)),
            StoredContent::Streamed(_) => None,
        });
        self.new.add_content(
            in_memory.flat_map(|(parsed, graph)| content_quads(store, parsed, graph)),
        )?;
        for parsed in new {
            if let StoredContent::Streamed(_) = parsed.content {
                let path = graph_file::path(&store.home, &parsed.version);
                parsed.content.each_part(&path, |part| {
                    self.new.add_content(content_quads(store, parsed, part))
                })?;
            }
        }
        Ok(())
    }
}

/// Returns the quads of a parsed dataset's graph, or of a part of it.
fn content_quads<'p>(
    store: &Store,
    parsed: &Parsed,
    part: &'p TripleGraph,
) -> impl Iterator<Item = Quad> + use<'p> {
    let graph = store.iris.graph(&parsed.report.id, &parsed.version);
    let space = blank::BlankNodeScope::from_graph(&graph);
    part.triples().iter().map(move |&triple| {
        space
            .to_store(part.to_triple(triple))
            .in_graph(graph.clone())
    })
}

/// Parsed triples that are not written yet. Large datasets are parsed faster than written, and a few of them fill memory.
#[derive(Default)]
struct Backlog {
    /// Number of triples; `None` after the end of writing.
    triples: Mutex<Option<u64>>,
    changed: Condvar,
}

impl Backlog {
    fn add(&self, triples: u64) {
        let mut waiting = self.triples.lock().unwrap_or_else(PoisonError::into_inner);
        // This may follow `close`. Then the next `send` fails, and nothing waits any more.
        *waiting = Some(waiting.unwrap_or_default() + triples);
    }

    fn remove(&self, triples: u64) {
        let mut waiting = self.triples.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.map(|waiting| waiting.saturating_sub(triples));
        self.changed.notify_all();
    }

    fn close(&self) {
        *self.triples.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.changed.notify_all();
    }

    /// Waits until there is room for another dataset, or writing has ended.
    fn wait_for_room(&self) {
        let waiting = self.triples.lock().unwrap_or_else(PoisonError::into_inner);
        drop(
            self.changed
                .wait_while(waiting, |waiting| {
                    waiting.is_some_and(|triples| triples >= MAX_WAITING_TRIPLES)
                })
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

impl Store {
    /// Returns true if the store has the graph of a parsed dataset. Lost content must not count as unchanged. A partial graph of an
    /// index-only dataset does not count.
    fn has_content(&self, id: &DatasetId, parsed: &Parsed) -> Result<bool, StoreError> {
        let graph = self.iris.graph(id, &parsed.version);
        Ok(parsed.content.is_empty()
            || (self.oxigraph.contains_named_graph(graph.as_ref())? && !self.is_index_only(id)?))
    }
}

/// Returns the description of a dataset with the number of skipped statements and the place of the content.
fn describe_parsed_dataset(parsed: &Parsed, place: ContentPlace, store: &Store) -> Vec<Triple> {
    let mut triples = parsed.description.clone();
    let is_index_only = place == ContentPlace::IndexOnly && !parsed.content.is_empty();
    store.add_content_facts(
        &mut triples,
        &parsed.report.id,
        parsed.report.skipped,
        is_index_only,
    );
    triples
}

impl Loader<'_> {
    fn tables(&self) -> TableTreatment {
        self.options.tables.unwrap_or(self.store.tables)
    }

    /// Returns the place of a dataset's content.
    fn place_of(&self, parsed: &Parsed) -> ContentPlace {
        let place = self.options.content.unwrap_or(self.store.content_place);
        let has_tables = parsed
            .report
            .files
            .iter()
            .any(|file| !file.tables.is_empty());
        match self.tables() {
            TableTreatment::IndexOnly if has_tables => ContentPlace::IndexOnly,
            _ => place,
        }
    }

    fn parse_all(
        &self,
        datasets: Vec<Dataset>,
        folder: &Path,
        backlog: &Backlog,
        sender: &SyncSender<Result<(Parsed, u64), StoreError>>,
    ) {
        let mut empty_version = None;
        for dataset in datasets {
            backlog.wait_for_room();
            let bytes = bytes_of(&dataset, folder);
            let parsed = self.parse(&dataset, folder, &mut empty_version);
            let parsed = parsed.map(|parsed| (parsed, bytes));
            if let Ok((parsed, _)) = &parsed {
                backlog.add(parsed.content.len());
            }
            if sender.send(parsed).is_err() {
                return; // the writing side has failed and reported the reason
            }
        }
    }

    /// Reads the files of a dataset. `empty_version`: version of empty content, once this load has written its files.
    fn parse(
        &self,
        dataset: &Dataset,
        folder: &Path,
        empty_version: &mut Option<String>,
    ) -> Result<Parsed, StoreError> {
        let (store, LoadOptions { limits, reader, .. }) = (self.store, &self.options);
        let sources = source_files(dataset, folder, &store.iris);
        let mut limits = limits.clone();
        if self.tables() == TableTreatment::Off {
            limits.table_cells = 0;
        }
        let content = store.content_folder.read_sources_of_many(
            &sources,
            folder,
            &limits,
            reader.as_ref(),
            empty_version,
        )?;
        let kept = self.keep_files(&sources, &content.readable)?;
        let mut parsed = Parsed::new(dataset, content, self)?;
        parsed.kept_files = Some(kept.0);
        parsed.report.unkept_files = kept.1;
        Ok(parsed)
    }

    /// Keeps the bytes of the files that were read as RDF. Returns them, and messages about those that are not kept. Other files are
    /// not: a catalogue may name any file of its folder.
    fn keep_files(
        &self,
        sources: &[SourceFile],
        readable: &[usize],
    ) -> Result<(Vec<StoredFile>, Vec<String>), StoreError> {
        if !self.options.keep_files.unwrap_or(self.store.keep_files) {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut loaded = Vec::with_capacity(readable.len());
        for source in readable.iter().filter_map(|&number| sources.get(number)) {
            if let SourcePlace::File(path) = &source.place {
                loaded.push(LoadedFile {
                    path,
                    location: &source.name,
                    media_type: source.media_type.as_deref(),
                });
            }
        }
        files::keep(&self.store.home, &loaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::{Catalog, Iris};
    use std::fs;

    const CATALOG: &str = r#"
        @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/trees> a dcat:Dataset ; dct:identifier "trees" ; dct:title "Trees" ;
            dcat:distribution [ dcat:downloadURL <trees.ttl> ] ."#;

    #[test]
    fn a_dump_of_a_folder_without_readable_content_is_no_dataset() {
        let folder = tempfile::tempdir().expect("a folder");
        let dumps = folder.path().join("dumps");
        fs::create_dir(&dumps).expect("made");
        fs::write(
            dumps.join("oak.ttl"),
            "<http://e.org/oak> a <http://e.org/Tree> .",
        )
        .expect("written");
        fs::write(dumps.join("empty.ttl"), "").expect("written");
        fs::write(dumps.join("words.nt"), "hello world").expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let catalog = Catalog::read(&dumps).expect("a catalogue");
        let report = Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
        let kept = report
            .datasets
            .iter()
            .filter(|one| one.outcome == DatasetOutcome::Kept);
        assert_eq!(kept.count(), 2, "{report:?}");
        let ids: Vec<String> = store
            .ids()
            .expect("ids")
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(ids, ["oak"]);
    }

    #[test]
    fn a_dump_without_readable_content_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (catalog, dump) = (
            folder.path().join("catalog.ttl"),
            folder.path().join("trees.ttl"),
        );
        fs::write(&catalog, CATALOG).expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let load = |content: &[u8]| {
            fs::write(&dump, content).expect("written");
            let catalog = Catalog::read(&catalog).expect("a catalogue");
            let report = Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
            let triples = store
                .content(&store.entries().expect("entries")[0])
                .expect("content")
                .len();
            (report.datasets[0].outcome, triples)
        };
        assert_eq!(
            load(b"<http://e.org/oak> a <http://e.org/Tree> ."),
            (DatasetOutcome::Loaded, 1)
        );
        let page: &[u8] = b"<!DOCTYPE html><html><body>503 Service Unavailable</body></html>";
        for broken in [
            page,
            b"",
            b"\0\x01\x02\xff\xfe",
            b"this is no statement .\nnor is this .",
        ] {
            assert_eq!(
                load(broken),
                (DatasetOutcome::Kept, 1),
                "{:?}",
                String::from_utf8_lossy(broken)
            );
        }
        assert_eq!(
            load(b"# no triples, and no error\n"),
            (DatasetOutcome::Replaced, 0)
        );
    }

    #[test]
    fn values_that_the_store_writes_otherwise_are_the_same_description() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("catalog.ttl");
        let turtle = CATALOG.replace(
            "dct:title",
            "dct:issued \"2020-05-31+00:00\" ; dct:modified \"2020-06-01T00:00:00.50Z\" ; dct:title",
        );
        fs::write(&path, turtle).expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let load = || {
            let catalog = Catalog::read(&path).expect("a catalogue");
            Loader::new(&store)
                .load(catalog, &|_| ())
                .expect("loaded")
                .datasets
                .remove(0)
                .outcome
        };
        assert_eq!(
            [load(), load()],
            [DatasetOutcome::MetadataOnly, DatasetOutcome::Unchanged]
        );
    }

    #[test]
    fn triple_terms_beyond_the_limit_are_reported_and_replace_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (catalog, dump) = (
            folder.path().join("catalog.ttl"),
            folder.path().join("trees.ttl"),
        );
        fs::write(&catalog, CATALOG).expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris)
            .expect("a store")
            .with_graph_limit(300);
        let load = |statements: usize| {
            let mut turtle = "<e:a> <e:p> <<( <e:a> <e:q> 1 )>> .\n".to_owned();
            turtle.extend(
                (1..statements).map(|number| format!("<e:a{number}> <e:p> <e:b{number}> .\n")),
            );
            fs::write(&dump, turtle).expect("written");
            let catalog = Catalog::read(&catalog).expect("a catalogue");
            let report = Loader::new(&store)
                .load(catalog, &|_| ())
                .expect("loaded")
                .datasets
                .remove(0);
            let entry = store.entries().expect("entries").remove(0);
            (
                report.outcome,
                store.open_content(&entry).expect("content").len(),
                report.files,
            )
        };
        let (outcome, triples, files) = load(100);
        assert_eq!((outcome, triples), (DatasetOutcome::MetadataOnly, 0));
        let problem = format!("{:?}", files[0].problems);
        assert!(
            problem.contains("triple terms of RDF 1.2 beyond 300 bytes is not supported"),
            "{problem}"
        );
        let (outcome, triples, files) = load(3);
        assert_eq!(
            (outcome, triples, files[0].is_clean()),
            (DatasetOutcome::Replaced, 3, true)
        );
        let (outcome, triples, _) = load(100);
        assert_eq!((outcome, triples), (DatasetOutcome::Kept, 3));
        // A version that another program built in memory is not streamed.
        let version = store.entries().expect("entries").remove(0).version;
        let opened = graph_file::open(&graph_file::path(store.home(), &version), &version, 5)
            .expect("opened");
        assert!(matches!(opened, StoredContent::InMemory(graph) if graph.len() == 3));
    }

    #[test]
    fn a_new_description_changes_nothing_about_the_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let (catalog, dump) = (
            folder.path().join("catalog.ttl"),
            folder.path().join("trees.ttl"),
        );
        fs::write(&catalog, CATALOG).expect("written");
        fs::write(&dump, "<e:a> <e:p> 1, 2, 3 .\nthis is no statement .\n").expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        // The content exceeds memory.
        let store = Store::in_memory(&folder.path().join("home"), iris)
            .expect("a store")
            .with_graph_limit(5);
        let options = LoadOptions {
            content: Some(ContentPlace::IndexOnly),
            ..LoadOptions::default()
        };
        let loader = Loader::new(&store).with_options(options);
        let loaded = loader
            .load(Catalog::read(&catalog).expect("a catalogue"), &|_| ())
            .expect("loaded");
        assert!(loaded.datasets[0].skipped > 0, "{loaded:?}");
        let before = store.entries().expect("entries").remove(0);
        let id = &before.dataset.metadata.id;
        let mut dataset = before.dataset.clone();
        dataset
            .metadata
            .keywords
            .push(lodeseek_catalog::Text::plain("wood"));
        for outcome in [DatasetOutcome::Replaced, DatasetOutcome::Unchanged] {
            let report = Loader::new(&store)
                .replace_description(&dataset)
                .expect("described")
                .datasets
                .remove(0);
            assert_eq!(
                (report.outcome, report.triples, report.skipped),
                (outcome, 3, loaded.datasets[0].skipped)
            );
            let after = store.entry(id).expect("present");
            assert_eq!(
                (&after.dataset, &after.version),
                (&dataset, &before.version)
            );
            assert!(store.is_index_only(id).expect("read"));
            assert_eq!(store.with_skipped_statements().expect("counted"), 1);
        }
        let other = Dataset::new(lodeseek_catalog::Metadata::new(
            DatasetId::new("elms").expect("an id"),
        ));
        let error = Loader::new(&store)
            .replace_description(&other)
            .expect_err("absent");
        assert!(matches!(error, StoreError::NoDataset(_)), "{error}");
    }

    #[test]
    fn a_batch_is_not_larger_than_the_backlog() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(folder.path(), iris).expect("a store");
        let options = LoadOptions {
            batch_triples: usize::MAX,
            ..LoadOptions::default()
        };
        let loader = Loader::new(&store).with_options(options);
        assert_eq!(loader.options.batch_triples as u64, MAX_WAITING_TRIPLES);
    }

    /// Beyond a limit, repeated triples are sorted on disk, although the graph without repetitions is within the limit.
    #[test]
    fn repeated_triples_do_not_change_the_fingerprint() {
        let folder = tempfile::tempdir().expect("a folder");
        let (catalog, dump) = (
            folder.path().join("catalog.ttl"),
            folder.path().join("trees.ttl"),
        );
        fs::write(&catalog, CATALOG).expect("written");
        let load = |home: &str, limit: usize, repetitions: usize| {
            fs::write(&dump, "_:a <e:p> _:b .\n".repeat(repetitions)).expect("written");
            let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
            let store = Store::in_memory(&folder.path().join(home), iris)
                .expect("a store")
                .with_graph_limit(limit);
            let catalog = Catalog::read(&catalog).expect("a catalogue");
            Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
            let entry = store.entries().expect("entries").remove(0);
            (store.fingerprint(&entry).expect("read"), entry.version)
        };
        let expected = load("one", 200, 1);
        assert!(matches!(expected.0, crate::Fingerprint::Canonical(_)));
        assert_eq!(load("one", 200, 100), expected, "in a home that has it");
        assert_eq!(load("two", 200, 100), expected, "in a new home");
        assert_eq!(load("one", 1, 100), expected, "streamed");
    }

    /// Datasets that replace others are committed apart from those that are new.
    #[test]
    fn a_batch_may_have_new_and_replaced_datasets() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("catalog.ttl");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let stamp = Stamp {
            now: Some("2026-01-02T03:04:05Z".parse().expect("a time")),
            origin: None,
        };
        let load = |datasets: &[(&str, u32)]| {
            let mut turtle = String::from(
                "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n",
            );
            for (id, number) in datasets {
                turtle += &format!(
                    "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{id} {number}\" ; dcat:distribution [ dcat:downloadURL <{id}.ttl> ] .\n"
                );
                let triples = format!("<e:s> <e:p> 1, \"{id} {number}\" .\n");
                fs::write(folder.path().join(format!("{id}.ttl")), triples).expect("written");
            }
            fs::write(&path, turtle).expect("written");
            let options = LoadOptions {
                stamp: stamp.clone(),
                ..LoadOptions::default()
            };
            let catalog = Catalog::read(&path).expect("a catalogue");
            let report = Loader::new(&store)
                .with_options(options)
                .load(catalog, &|_| ())
                .expect("loaded");
            let outcomes: Vec<_> = report.datasets.iter().map(|one| one.outcome).collect();
            let commit = store.read_commit().expect("read");
            (outcomes, commit)
        };
        use DatasetOutcome::{Loaded, Replaced, Unchanged};
        assert_eq!(load(&[("a", 1), ("b", 1)]), (vec![Loaded, Loaded], 1));
        let mixed = load(&[("a", 1), ("b", 2), ("c", 1)]);
        assert_eq!(mixed, (vec![Unchanged, Replaced, Loaded], 3));
        // A removed dataset has a record of its removal, which the new one replaces.
        let a = DatasetId::new("a").expect("an id");
        store.remove(std::slice::from_ref(&a)).expect("removed");
        assert_eq!(load(&[("a", 1)]).0, [Loaded]);
        let changes = store.latest_changes().expect("changes");
        let numbers: Vec<_> = changes
            .iter()
            .map(|(id, change)| (id.as_str(), change.number))
            .collect();
        assert_eq!(numbers, [("a", 6), ("b", 4), ("c", 3)]);
        for entry in store.entries().expect("entries") {
            assert_eq!(store.content(&entry).expect("content").len(), 2);
            assert!(
                store
                    .stores_content(&entry.dataset.metadata.id)
                    .expect("read")
            );
        }
    }

    /// A `data.json` of many small entries became one transaction of gigabytes.
    #[test]
    fn many_datasets_without_content_are_committed_in_batches() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.json");
        let entries: Vec<String> = (0..4500)
            .map(|number| {
                format!(
                    r#"{{"title": "Set {number}", "identifier": "s{number}", "keyword": ["k"]}}"#
                )
            })
            .collect();
        fs::write(&path, format!(r#"{{"dataset": [{}]}}"#, entries.join(","))).expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let batches = std::cell::Cell::new(0);
        let count = |progress: LoadProgress| {
            batches.set(batches.get() + u32::from(progress.phase == Phase::Writing))
        };
        let report = Loader::new(&store)
            .load(Catalog::read(&path).expect("a catalogue"), &count)
            .expect("loaded");
        assert_eq!((report.datasets.len(), batches.get()), (4500, 3));
        assert_eq!(store.ids().expect("ids").len(), 4500);
    }
}
