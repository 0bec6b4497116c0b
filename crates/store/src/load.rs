//! Dumps into the store: one thread reads and parses, the calling thread writes, batch by batch.
//!
//! A batch is some hundred thousand triples of whole datasets. Its content is bulk-loaded into new graphs, then one
//! transaction writes descriptions and pointers: after that the batch's datasets are there, whatever happens next.

use super::counts::GraphCounts;
use super::intake::{DatasetContent, bytes_of, describe_dataset, read_source_files, source_files};
use super::{Description, Stamp, Store, StoreError, blank, fingerprint, graph_file, journal, read_content};
use lodeseek_catalog::{Catalog, Dataset, DatasetId};
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::dump::{FileReport, Limits};
use lodeseek_rdf::vocab::lodeseek;
use oxrdf::{Literal, NamedNode, Triple};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Options of a load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Triples after which a batch is committed. Default 500,000.
    pub batch_triples: usize,
    /// Threads of Oxigraph's bulk loader. Default 2.
    pub threads: usize,
    /// Rough memory of the bulk loader in megabytes. Default 400.
    pub memory_megabytes: usize,
    /// Limits of reading one dump.
    pub limits: Limits,
    /// Content of the catalogue records. Default: no record is written.
    pub stamp: Stamp,
    /// Treatment of replaced versions. Default: they are cleared.
    pub replaced: Replaced,
    /// Treatment of a new dataset with a file that cannot be read. Default: it is stored with what can be read.
    pub incomplete: Incomplete,
}

/// Treatment of a new dataset of which a file is missing, damaged, or holds nothing that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Incomplete {
    /// It is stored with the content that can be read.
    #[default]
    Stored,
    /// It is not stored. Its outcome is [`DatasetOutcome::Kept`], as that of a dataset that keeps its previous version.
    Rejected,
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
            memory_megabytes: 400,
            limits: Limits::default(),
            stamp: Stamp::default(),
            replaced: Replaced::default(),
            incomplete: Incomplete::default(),
        }
    }
}

/// Parsed datasets waiting to be written; more would only fill memory.
const WAITING_DATASETS: usize = 4;
/// Datasets after which a batch is committed, however few triples they have. The descriptions of a batch are one transaction, which
/// is held in memory: about 16 KB a dataset.
const BATCH_DATASETS: usize = 2000;

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

/// Outcome of one dataset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatasetOutcome {
    /// New in the store.
    Loaded,
    /// Was there with other content or metadata.
    Replaced,
    /// Was there as it is; nothing was written.
    Unchanged,
    /// Was there, and keeps its previous version: a file of it is missing, damaged, or holds nothing that can be read.
    Kept,
    /// In the catalogue, but without a triple: no dump, or none that could be read.
    MetadataOnly,
}

/// The report of one dataset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DatasetReport {
    /// Its id.
    pub id: DatasetId,
    /// Its title.
    pub title: String,
    /// Outcome.
    pub outcome: DatasetOutcome,
    /// Distinct triples over all its files.
    pub triples: u64,
    /// Triples read, repeated ones counted again.
    pub read: u64,
    /// Statements skipped.
    pub skipped: u64,
    /// Its files.
    pub files: Vec<FileReport>,
}

/// The report of a load.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoadReport {
    /// Every dataset, in the order of the catalogue.
    pub datasets: Vec<DatasetReport>,
    /// Problems of the catalogue itself.
    pub catalog_problems: Vec<String>,
    /// Graphs of replaced versions that were cleared.
    pub cleared_graphs: usize,
}

impl DatasetReport {
    /// Creates the report of a dataset with so many distinct triples.
    #[must_use]
    pub fn new(id: DatasetId, title: &str, triples: u64, files: Vec<FileReport>) -> Self {
        let read = files.iter().map(|file| file.triples).sum();
        let skipped = files.iter().map(|file| file.skipped).sum();
        Self { id, title: title.to_owned(), outcome: DatasetOutcome::Loaded, triples, read, skipped, files }
    }
}

impl LoadReport {
    /// Distinct triples of all datasets.
    #[must_use]
    pub fn triples(&self) -> u64 {
        self.datasets.iter().map(|dataset| dataset.triples).sum()
    }

    /// Datasets with a file that was not read as it stands.
    pub fn with_problems(&self) -> impl Iterator<Item = &DatasetReport> {
        self.datasets.iter().filter(|dataset| dataset.files.iter().any(|file| !file.is_clean()))
    }
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
    /// Its description in the catalogue graph, without the number of skipped statements.
    description: Vec<Triple>,
    graph: TripleGraph,
    version: String,
    /// If true, a file that should hold content is missing, damaged, or holds nothing that can be read.
    lacks_content: bool,
    report: DatasetReport,
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
        Self { store, options: LoadOptions::default() }
    }

    /// A loader with other options.
    #[must_use]
    pub fn with_options(self, options: LoadOptions) -> Self {
        Self { options, ..self }
    }

    /// Loads every dataset of a catalogue. What is wrong with one dataset is in its report; an error is one of the store.
    pub fn load(&self, catalog: Catalog, on_progress: &dyn Fn(LoadProgress)) -> Result<LoadReport, StoreError> {
        let Catalog { folder, datasets, problems, .. } = catalog;
        let mut run = Run::new(self, &datasets, &folder, problems, on_progress);
        let (sender, receiver) = sync_channel(WAITING_DATASETS);
        let (store, limits) = (self.store, &self.options.limits);
        thread::scope(|scope| {
            scope.spawn(move || parse_all(datasets, &folder, store, limits, &sender));
            run.receive(receiver)
        })?;
        run.finish()
    }

    /// Loads datasets whose content was had elsewhere, with that content.
    pub fn load_graphs(
        &self,
        datasets: Vec<(Dataset, TripleGraph)>,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, StoreError> {
        let mut run = Run::new(self, &[], Path::new(""), Vec::new(), on_progress);
        run.progress.datasets_total = datasets.len();
        for (dataset, graph) in datasets {
            let content = DatasetContent { graph, files: Vec::new(), lacks_content: false };
            let mut parsed = parsed(&dataset, content, self.store)?;
            parsed.report.read = parsed.report.triples;
            run.take(parsed, 0)?;
        }
        run.write()?;
        run.finish()
    }

    /// Loads datasets that were read elsewhere, in the given order. Their [files](super::VersionFiles) must be in the home.
    ///
    /// # Errors
    /// The first error of `datasets`; if a graph file is missing or damaged; errors of the store.
    pub fn load_staged<E: From<StoreError>>(
        &self,
        datasets: impl Iterator<Item = Result<StagedDataset, E>>,
        total: usize,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, E> {
        let mut run = Run::new(self, &[], Path::new(""), Vec::new(), on_progress);
        run.progress.datasets_total = total;
        for dataset in datasets {
            let StagedDataset { description, version, lacks_content, report } = dataset?;
            let graph = read_content(&self.store.home, &version)?;
            run.take(Parsed { description, graph, version, lacks_content, report }, 0)?;
        }
        run.write()?;
        Ok(run.finish()?)
    }
}

/// The writing side of one load.
struct Run<'r> {
    loader: &'r Loader<'r>,
    on_progress: &'r dyn Fn(LoadProgress),
    progress: LoadProgress,
    waiting: Vec<Parsed>,
    waiting_triples: usize,
    report: LoadReport,
}

impl<'r> Run<'r> {
    fn new(
        loader: &'r Loader<'r>,
        datasets: &[Dataset],
        folder: &Path,
        catalog_problems: Vec<String>,
        on_progress: &'r dyn Fn(LoadProgress),
    ) -> Self {
        let bytes_total = datasets.iter().map(|dataset| bytes_of(dataset, folder)).sum();
        let progress = LoadProgress {
            phase: Phase::Reading,
            datasets: 0,
            datasets_total: datasets.len(),
            bytes: 0,
            bytes_total,
            triples: 0,
        };
        let report = LoadReport { catalog_problems, ..LoadReport::default() };
        Self { loader, on_progress, progress, waiting: Vec::new(), waiting_triples: 0, report }
    }

    fn receive(&mut self, parsed: Receiver<Result<(Parsed, u64), StoreError>>) -> Result<(), StoreError> {
        for parsed in parsed {
            let (parsed, bytes) = parsed?;
            self.take(parsed, bytes)?;
        }
        self.write()
    }

    /// Takes a dataset, and writes those waiting if they are enough.
    fn take(&mut self, parsed: Parsed, bytes: u64) -> Result<(), StoreError> {
        self.progress.datasets += 1;
        self.progress.bytes += bytes;
        self.progress.triples += parsed.report.triples;
        self.waiting_triples += parsed.graph.len();
        self.waiting.push(parsed);
        (self.on_progress)(self.progress);
        let is_full = self.waiting_triples >= self.loader.options.batch_triples || self.waiting.len() >= BATCH_DATASETS;
        if is_full { self.write() } else { Ok(()) }
    }

    fn finish(mut self) -> Result<LoadReport, StoreError> {
        let (total, on_progress) = (self.progress, self.on_progress);
        if self.loader.options.replaced == Replaced::Cleared {
            let show = |_, _| on_progress(LoadProgress { phase: Phase::Clearing, ..total });
            self.report.cleared_graphs = self.loader.store.clear_replaced(&show)?;
        }
        // The datasets are stored: a list for people is no reason to call that failed.
        if let Err(error) = journal::note(self.loader.store, &self.report, &self.loader.options.stamp) {
            tracing::warn!(%error, "the load is not noted for the operator");
        }
        Ok(self.report)
    }

    /// Writes and commits what is waiting.
    fn write(&mut self) -> Result<(), StoreError> {
        (self.on_progress)(LoadProgress { phase: Phase::Writing, ..self.progress });
        let store = self.loader.store;
        let mut batch = std::mem::take(&mut self.waiting);
        self.waiting_triples = 0;
        let mut descriptions = Vec::new();
        let mut new_content = Vec::new();
        for (place, parsed) in batch.iter_mut().enumerate() {
            let id = &parsed.report.id;
            let description = description(parsed, store);
            let present = store.version(id)?;
            let same_content = present.as_ref() == Some(&parsed.version) && store.has_content(id, parsed)?;
            let is_kept = present.is_some() || self.loader.options.incomplete == Incomplete::Rejected;
            if is_kept && !same_content && parsed.lacks_content {
                parsed.report.outcome = DatasetOutcome::Kept;
                continue;
            }
            let has_record = self.loader.options.stamp.now.is_none() || store.has_record(id)?;
            if same_content && has_record && store.is_described(id, &description)? {
                parsed.report.outcome = DatasetOutcome::Unchanged;
                continue;
            }
            parsed.report.outcome = match present {
                Some(_) => DatasetOutcome::Replaced,
                None if parsed.graph.is_empty() => DatasetOutcome::MetadataOnly,
                None => DatasetOutcome::Loaded,
            };
            if !same_content {
                new_content.push(place);
            }
            descriptions.push(Description { id: id.clone(), version: parsed.version.clone(), triples: description });
        }
        // The store keeps numbers by their value; as they were written they are in these files alone.
        graph_file::settle(
            &store.home,
            &new_content.iter().map(|&place| batch[place].version.as_str()).collect::<Vec<_>>(),
        )?;
        self.write_content(&batch, &new_content)?;
        if !descriptions.is_empty() {
            store.describe(&descriptions, &self.loader.options.stamp)?;
        }
        self.report.datasets.extend(batch.into_iter().map(|parsed| parsed.report));
        Ok(())
    }

    fn write_content(&self, batch: &[Parsed], places: &[usize]) -> Result<(), StoreError> {
        let (store, options) = (self.loader.store, &self.loader.options);
        let quads = places.iter().map(|&place| &batch[place]).flat_map(|parsed| {
            let graph = store.iris.graph(&parsed.report.id, &parsed.version);
            let space = blank::BlankNodeScope::from_graph(&graph);
            let triples = parsed.graph.triples().iter();
            triples.map(move |&triple| space.to_store(parsed.graph.to_triple(triple)).in_graph(graph.clone()))
        });
        let mut bulk = store
            .oxigraph
            .bulk_loader()
            .with_num_threads(options.threads)
            .with_max_memory_size_in_megabytes(options.memory_megabytes);
        bulk.load_quads(quads)?;
        bulk.commit()?;
        Ok(())
    }
}

impl Store {
    /// Returns true if the store has the graph of a parsed dataset. Lost content must not count as unchanged.
    fn has_content(&self, id: &DatasetId, parsed: &Parsed) -> Result<bool, StoreError> {
        let graph = self.iris.graph(id, &parsed.version);
        Ok(parsed.graph.is_empty() || self.oxigraph.contains_named_graph(graph.as_ref())?)
    }
}

pub(super) fn same_triples(present: &[Triple], new: &[Triple]) -> bool {
    let lines = |triples: &[Triple]| {
        let mut lines: Vec<String> = triples.iter().map(ToString::to_string).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    lines(present) == lines(&own(new))
}

/// The triples of a description without those about the catalogue and about agents with IRIs of their own.
fn own(description: &[Triple]) -> Vec<Triple> {
    let node = description
        .iter()
        .find(|triple| triple.predicate.as_str() == lodeseek::GRAPH)
        .map(|triple| triple.subject.to_string());
    let prefix = node.map(|node| node.trim_end_matches('>').to_owned()).unwrap_or_default();
    let is_own = |triple: &&Triple| {
        let subject = triple.subject.to_string();
        subject.strip_prefix(&prefix).is_some_and(|rest| rest == ">" || rest.starts_with('#'))
    };
    description.iter().filter(is_own).cloned().collect()
}

/// Returns the description of a dataset with the number of skipped statements.
fn description(parsed: &Parsed, store: &Store) -> Vec<Triple> {
    let mut triples = parsed.description.clone();
    if parsed.report.skipped > 0 {
        let node = store.iris.dataset(&parsed.report.id);
        let skipped = NamedNode::new_unchecked(lodeseek::SKIPPED_STATEMENTS);
        triples.push(Triple::new(node, skipped, Literal::from(parsed.report.skipped as i64)));
    }
    triples
}

fn parse_all(
    datasets: Vec<Dataset>,
    folder: &Path,
    store: &Store,
    limits: &Limits,
    sender: &SyncSender<Result<(Parsed, u64), StoreError>>,
) {
    for dataset in datasets {
        let bytes = bytes_of(&dataset, folder);
        let parsed = parse(&dataset, folder, store, limits).map(|parsed| (parsed, bytes));
        if sender.send(parsed).is_err() {
            return; // the writing side has failed and reported the reason
        }
    }
}

fn parse(dataset: &Dataset, folder: &Path, store: &Store, limits: &Limits) -> Result<Parsed, StoreError> {
    let content = read_source_files(&source_files(dataset, folder, &store.iris), limits);
    parsed(dataset, content, store)
}

/// Keeps the graph's file, counts and fingerprint.
fn parsed(dataset: &Dataset, content: DatasetContent, store: &Store) -> Result<Parsed, StoreError> {
    let DatasetContent { graph, files, lacks_content } = content;
    let version = graph_file::write(&store.home, &graph)?;
    GraphCounts::keep(&store.home, &version, &graph)?;
    fingerprint::keep(&store.home, &version, &graph)?;
    let report = DatasetReport::new(dataset.metadata.id.clone(), dataset.metadata.title(), graph.len() as u64, files);
    Ok(Parsed { description: describe_dataset(dataset, &store.iris), graph, version, lacks_content, report })
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
    fn a_dump_without_readable_content_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (catalog, dump) = (folder.path().join("catalog.ttl"), folder.path().join("trees.ttl"));
        fs::write(&catalog, CATALOG).expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let load = |content: &[u8]| {
            fs::write(&dump, content).expect("written");
            let catalog = Catalog::read(&catalog).expect("a catalogue");
            let report = Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
            let triples = store.content(&store.entries().expect("entries")[0]).expect("content").len();
            (report.datasets[0].outcome, triples)
        };
        assert_eq!(load(b"<http://e.org/oak> a <http://e.org/Tree> ."), (DatasetOutcome::Loaded, 1));
        let page: &[u8] = b"<!DOCTYPE html><html><body>503 Service Unavailable</body></html>";
        for broken in [page, b"", b"\0\x01\x02\xff\xfe", b"this is no statement .\nnor is this ."] {
            assert_eq!(load(broken), (DatasetOutcome::Kept, 1), "{:?}", String::from_utf8_lossy(broken));
        }
        assert_eq!(load(b"# no triples, and no error\n"), (DatasetOutcome::Replaced, 0));
    }

    /// A `data.json` of many small entries became one transaction of gigabytes.
    #[test]
    fn many_datasets_without_content_are_committed_in_batches() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.json");
        let entries: Vec<String> = (0..4500)
            .map(|number| format!(r#"{{"title": "Set {number}", "identifier": "s{number}", "keyword": ["k"]}}"#))
            .collect();
        fs::write(&path, format!(r#"{{"dataset": [{}]}}"#, entries.join(","))).expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let batches = std::cell::Cell::new(0);
        let count = |progress: LoadProgress| batches.set(batches.get() + u32::from(progress.phase == Phase::Writing));
        let report = Loader::new(&store).load(Catalog::read(&path).expect("a catalogue"), &count).expect("loaded");
        assert_eq!((report.datasets.len(), batches.get()), (4500, 3));
        assert_eq!(store.ids().expect("ids").len(), 4500);
    }
}
