#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! Home of a collection on disk: Oxigraph on RocksDB, and a compact copy of every graph.
//!
//! ```text
//! home/lodeseek.toml   base of all IRIs
//! home/loads.json      reports of the latest loads
//! home/commit.json     number of the last commit, which the store must have, too
//! home/lock            held exclusively by the writer, shared by readers
//! home/store/          Oxigraph: one named graph per dataset version, the graphs catalogue, profiles, snippets, works,
//!                      the pointers from datasets to their current versions, the origins, edits and files of
//!                      datasets, and the statements of each dataset about resources of the web
//! home/graphs/         one file per dataset version, for stages that scan whole graphs, with its counts,
//!                      canonical fingerprint and, if it exceeds memory, a sample
//! home/examined.json   what the last complete run of the indexer found (written by a later stage)
//! home/index/          the text index (written by a later stage), with duplicates.json and quality/
//! home/works/          the list of works that use datasets, and their vectors (written by a later stage)
//! home/views/          checkpoints of the store for worker processes, while it is open for writing
//! home/files/          the files of datasets as they were loaded, by the hash of their bytes
//! home/scratch/        temporary files of large graphs, while they are loaded or indexed
//! ```
//!
//! *Why versions?* Replacing a graph in place cannot be both atomic and fast: clearing a million triples takes Oxigraph
//! more than a minute. New content therefore goes into a new graph, named after the hash of its content. One small
//! transaction then replaces the description and the pointer (`lodeseek:graph`, [`Store::pointers`]), and old versions are
//! cleared afterwards. A process killed at any moment leaves either the old or the new pointer. A graph without a pointer is
//! invisible to queries and is cleared by the next load. Outside the store, the graph of a dataset has the IRI of the dataset.
//!
//! *Why a second copy?* Oxigraph answers patterns; it takes about ten microseconds per triple to return a whole graph,
//! since each term is looked up by its hash. Profiles, snippets and documents read graphs whole. A graph file is read
//! at memory speed and verified by its hash. If it is lost, the graph is read from the store, which keeps numbers and
//! dates by their value alone (`54.0` becomes `54`); the next load restores the file.

//!
//! *Large graphs.* A graph whose compact form exceeds 128 MiB is never held in memory. Its file is merged from sorted runs and
//! read sequentially, with the same bytes and the same version as any other. A dataset can also be *index-only*: its content
//! is then in its graph file alone, and the store has none of its triples.

mod atomic_file;
mod blank;
mod change;
mod changes_feed;
mod commit_record;
mod content;
mod content_facts;
mod content_folder;
pub mod counts;
mod derived;
mod description;
mod edits;
mod files;
mod fingerprint;
mod graph_file;
mod holders;
mod home_folder;
mod intake;
mod internal_facts;
mod journal;
mod labels;
mod load;
mod load_report;
mod named_graphs;
mod new_datasets;
mod occurrences;
mod origin;
mod pointers;
mod quad_changes;
mod rebase;
mod record;
mod remove;
mod repair;
mod resource;
mod sample;
mod series;
mod statements;
mod undo;
mod verify;
mod view;
mod works;

pub use atomic_file::{FileAccess, replace_file};
pub use changes_feed::{ChangeKind, DatasetChange};
pub use content::StoredContent;
pub use content_folder::{ContentFolder, version_paths};
pub use counts::{GraphCounts, UsageCounts};
pub use derived::DerivedWriter;
pub use edits::DatasetEdits;
pub use files::{MAX_KEPT_FILE_BYTES, MAX_KEPT_FILES, StoredFile};
pub use fingerprint::Fingerprint;
pub use graph_file::{read_checked, with_checksum, write_checked, write_whole};
pub use home_folder::{create_private_file, create_private_folder, make_private};
pub use intake::{
    ContentReader, DatasetContent, DirectContentReader, DumpFile, SourceFile, SourcePlace,
    describe_dataset, source_files,
};
pub use journal::{PastDataset, PastLoad};
pub use labels::{MAX_LABELLED_RESOURCES, MultilingualLabels, ResourceLabels};
pub use load::{
    ContentPlace, Incomplete, LoadOptions, LoadProgress, Loader, Phase, Replaced, StagedDataset,
    TableTreatment,
};
pub use load_report::{DatasetCounts, DatasetOutcome, DatasetReport, LoadReport};
pub use named_graphs::StoredGraph;
pub use occurrences::{Occurrences, Uses};
pub use origin::{DatasetOrigin, IdConflict, LoadSource, OtherSources};
pub use rebase::change_base;
pub use record::Stamp;
pub use repair::{Lost, LostDataset, find_damaged_store, rebuild_store, undo_interrupted_repair};
pub use resource::{Excerpt, Position, Resources, parse_resource, text_bytes};
pub use undo::Undo;
pub use verify::{Damage, DamagedPart, Verification, verify_home};
pub use view::StoreView;
pub use works::{
    DatasetWork, DatasetWorks, read_dataset_works, read_works, works_checksum, works_folder,
    works_path,
};

use lodeseek_catalog::{Dataset, DatasetId, InvalidBase, Iris, dcat};
use lodeseek_rdf::{MAX_COMPACT_BYTES, TripleGraph, TripleGraphBuilder};
use oxigraph::store::{StorageError, Store as Oxigraph};
use oxrdf::{GraphNameRef, NamedNode, NamedOrBlankNode, NamedOrBlankNodeRef, Term, Triple};
use serde::Deserialize;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use view::ViewCache;

/// Errors of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process holds the home.
    #[error(
        "{home} is in use by another lodeseek process that {holder}; wait for it, or stop it (a server started with --admin makes changes itself; to read beside it, use its pages, for example /quality, /sparql and /mcp, or `search --server URL`)"
    )]
    InUse {
        /// The home.
        home: PathBuf,
        /// Activity of the other process, and its number and command line if the system reports them.
        holder: String,
    },
    /// Committed changes are missing in the store.
    #[error(
        "{home} is damaged: {reason}; `lodeseek verify` lists the damage, `lodeseek repair` repairs it"
    )]
    Damaged {
        /// The home.
        home: PathBuf,
        /// The damage.
        reason: String,
    },
    /// The checksum of a file is wrong.
    #[error(
        "{path} is damaged: its checksum is wrong; `lodeseek verify` lists the damage, `lodeseek repair` repairs it"
    )]
    DamagedFile {
        /// The file.
        path: PathBuf,
    },
    /// There is no home here.
    #[error("{home} is not a Lodeseek home; run `lodeseek load` to create one")]
    NoHome {
        /// The folder.
        home: PathBuf,
    },
    /// The home is a file.
    #[error("{home} is a file, not the folder of a collection; name another one with --home")]
    HomeIsFile {
        /// The file.
        home: PathBuf,
    },
    /// The restoration of a backup to the home has not ended.
    #[error(
        "{home} is not complete: a backup is being restored to it, or that was interrupted; run `lodeseek restore DIR` again with the same backup"
    )]
    RestoreInterrupted {
        /// The home.
        home: PathBuf,
    },
    /// The home's settings cannot be read.
    #[error("{path}: {reason}")]
    Settings {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The base of an existing home differs from the requested one.
    #[error(
        "cannot open {home} with the base {requested}: its base is {current}; `lodeseek rebase {requested}` changes it"
    )]
    OtherBase {
        /// The home.
        home: PathBuf,
        /// Base of the home.
        current: String,
        /// Requested base.
        requested: String,
    },
    /// A change of the base was interrupted.
    #[error(
        "the change of the base of {home} was interrupted; run `lodeseek rebase {base}` again to complete it"
    )]
    RebaseInterrupted {
        /// The home.
        home: PathBuf,
        /// The new base.
        base: String,
    },
    /// A repair was interrupted while it replaced the store.
    #[error(
        "{home} is not complete: it is being repaired, or that was interrupted; run `lodeseek repair` again"
    )]
    RepairInterrupted {
        /// The home.
        home: PathBuf,
    },
    /// The base is not valid.
    #[error(transparent)]
    Base(#[from] InvalidBase),
    /// A file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// The reader of dataset files failed, for example because no worker process can be started.
    #[error("cannot read the files of datasets: {0}")]
    Reader(io::Error),
    /// RocksDB or Oxigraph found damaged data.
    #[error(
        "the store is damaged: {0}; `lodeseek verify` lists the damage, `lodeseek repair` repairs it"
    )]
    Corruption(String),
    /// Oxigraph failed.
    #[error("store: {0}")]
    Oxigraph(String),
    /// No such dataset.
    #[error("there is no dataset {0}")]
    NoDataset(DatasetId),
    /// An edit of a description cannot be applied.
    #[error(
        "the edits of {id} cannot be applied: {reason}; `lodeseek edit {id} --reset` removes them"
    )]
    Edit {
        /// The dataset.
        id: DatasetId,
        /// The key and the reason.
        reason: String,
    },
    /// No id distinguishes a loaded dataset from those of the home.
    #[error("a dataset of another source has the id {0}, and no other id is free; use --id-prefix")]
    NoId(DatasetId),
    /// The content of a dataset exceeds memory.
    #[error(
        "the content of {id} exceeds the memory limit; run `lodeseek index`, which stores a sample for snippets"
    )]
    TooLarge {
        /// The dataset, or the version of its content.
        id: String,
    },
    /// The store has no files that another process could read.
    #[error("the store is in memory; other processes need a home on disk")]
    InMemory,
}

// The messages contain the causes, which are therefore not sources: they would be printed twice.
impl From<StorageError> for StoreError {
    fn from(error: StorageError) -> Self {
        let message = error.to_string();
        let signs = ["Corruption:", "No such file or directory"]; // a file that the store refers to is missing
        let is_corruption = matches!(error, StorageError::Corruption(_))
            || signs.iter().any(|sign| message.contains(sign));
        if is_corruption {
            Self::Corruption(message)
        } else {
            Self::Oxigraph(message)
        }
    }
}

impl StoreError {
    /// Returns a function that adds the path of a file to its error.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            path: path.to_owned(),
            cause,
        }
    }
}

/// Mode in which a home is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Shared access: several readers, and no writer.
    Read,
    /// Exclusive access: one writer, and no reader.
    Write,
}

/// The keys of the configuration file that belong to the store. All other keys belong to the program.
#[derive(Deserialize)]
struct Settings {
    base: Option<String>,
    #[serde(default)]
    content: ContentPlace,
    #[serde(default)]
    tables: TableTreatment,
    #[serde(default = "default_keep_files", rename = "keep-files")]
    keep_files: bool,
}

fn default_keep_files() -> bool {
    true
}

/// Name of the configuration file in a home.
pub const SETTINGS: &str = "lodeseek.toml";
/// Name of the file in a home to which a backup is being restored. It is created first and removed last.
pub const RESTORING: &str = "restoring";
/// Name of the folder of the store in a home.
const STORE: &str = "store";
/// Maximum number of new triples of derived data in one transaction, which holds them in memory.
const MAX_TRANSACTION_TRIPLES: usize = 20_000;

/// Returns true if a folder is a home. A home whose first load was killed before the first write is none.
#[must_use]
pub fn is_home(home: &Path) -> bool {
    home.join(SETTINGS).is_file() && home.join(STORE).is_dir()
}

/// Returns an error if a folder is no home, or an incomplete one.
///
/// # Errors
/// [`StoreError::NoHome`], and the errors of [`check_complete`].
pub fn check_home(home: &Path) -> Result<(), StoreError> {
    check_complete(home)?;
    if is_home(home) {
        return Ok(());
    }
    Err(StoreError::NoHome {
        home: home.to_owned(),
    })
}

/// Returns an error if a folder is a home that an interrupted command left incomplete. Everything that reads a home checks this first:
/// each file may be valid, but not all belong together.
///
/// # Errors
/// [`StoreError::HomeIsFile`] for a file, [`StoreError::RestoreInterrupted`] during and after an incomplete restoration, [`StoreError::RebaseInterrupted`] after an incomplete
/// change of the base, [`StoreError::RepairInterrupted`] after a repair that left no store.
pub fn check_complete(home: &Path) -> Result<(), StoreError> {
    if home.is_file() {
        return Err(StoreError::HomeIsFile {
            home: home.to_owned(),
        });
    }
    check_restoration(home)?;
    rebase::check(home)?;
    repair::check_replacement(home)
}

/// Returns an error if the restoration of a backup to a home has not ended.
fn check_restoration(home: &Path) -> Result<(), StoreError> {
    if home.join(RESTORING).exists() {
        return Err(StoreError::RestoreInterrupted {
            home: home.to_owned(),
        });
    }
    Ok(())
}

/// Content of a dataset version that fits in memory.
#[derive(Debug)]
pub enum ReadContent {
    /// All triples.
    Complete(TripleGraph),
    /// [Sample](ContentFolder::write_sample) of a graph that exceeds memory.
    Sample(TripleGraph),
}

/// Reads the content of a dataset version from its files, without opening the store. Another process may have it open.
///
/// # Errors
/// [`StoreError::TooLarge`] if a sample is needed, and there is none.
pub fn read_content(home: &Path, version: &str) -> Result<ReadContent, StoreError> {
    read_content_within(home, version, MAX_COMPACT_BYTES)
}

fn read_content_within(
    home: &Path,
    version: &str,
    limit: usize,
) -> Result<ReadContent, StoreError> {
    if let Some(sample) = sample::read(home, version) {
        return Ok(ReadContent::Sample(sample));
    }
    match ContentFolder::new(home)
        .with_graph_limit(limit)
        .open(version)?
    {
        StoredContent::InMemory(graph) => Ok(ReadContent::Complete(graph)),
        StoredContent::Streamed(_) => Err(StoreError::TooLarge {
            id: version.to_owned(),
        }),
    }
}

/// Returns the version of all datasets without content.
#[must_use]
pub fn empty_version() -> String {
    graph_file::checksum(&TripleGraphBuilder::new().finish().to_compact())
}

/// An opened home.
pub struct Store {
    home: PathBuf,
    iris: Iris,
    oxigraph: Oxigraph,
    access: Access,
    /// Folder of the files of dataset versions: the home.
    content_folder: ContentFolder,
    /// Place of the content of loaded datasets.
    content_place: ContentPlace,
    /// Treatment of files that are tables.
    tables: TableTreatment,
    /// If true, the bytes of loaded files are kept.
    keep_files: bool,
    /// Incremented before and after each change of metadata.
    changes: AtomicU64,
    /// Number of replaced descriptions since the store was opened.
    described: AtomicU64,
    /// Graph with the pointers to current content.
    pointers: NamedNode,
    /// If false, the home is of an earlier version, and descriptions share statements, see [`statements`].
    has_separate_statements: bool,
    views: Mutex<ViewCache>,
    /// Number of the last commit, see [`commit_record`].
    last_commit: Mutex<u64>,
    /// Lock of the home, held while the store is open. The system releases it when the process ends. `None` if the store is in
    /// memory, or if another process holds the lock.
    lock: Option<File>,
}

/// A dataset of the catalogue and the version of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Metadata and distributions from the catalogue.
    pub dataset: Dataset,
    /// Hash of its content, which is part of the name of its graph.
    pub version: String,
    /// Source of its description, if it was harvested.
    pub origin: Option<String>,
}

impl Store {
    /// Opens a home. With [`Access::Write`], a missing home is created with `base` or the default base.
    pub fn open(home: &Path, access: Access, base: Option<&str>) -> Result<Self, StoreError> {
        let mut store = Self::open_without_check(home, access, base)?;
        let commit = store.check_commit()?;
        *store
            .last_commit
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = commit;
        if access == Access::Write {
            store.move_pointers()?;
            store.separate_statements()?;
        }
        store.update_work_descriptions()?;
        Ok(store)
    }

    /// Opens a home without comparing the store with the commit record.
    pub(crate) fn open_without_check(
        home: &Path,
        access: Access,
        base: Option<&str>,
    ) -> Result<Self, StoreError> {
        if let Some(base) = base {
            Iris::new(base)?; // before a folder is created
        }
        check_complete(home)?; // before anything is created
        if access == Access::Write {
            create_private_folder(home)?;
            ContentFolder::new(home).create()?;
        }
        let lock = lock_home(home, access)?;
        // A restoration, a change of the base or a repair may have begun before this process got the lock.
        check_complete(home)?;
        let HomeSettings {
            iris,
            content_place,
            tables,
            keep_files,
        } = read_settings(home, access, base)?;
        if access == Access::Write {
            // This process has the exclusive lock: all temporary files are left from killed processes.
            view::remove_old_views(home)?;
            ContentFolder::new(home).remove_scratch()?;
            graph_file::remove_temporary_files(home)?;
            graph_file::remove_bulk_files(&home.join(STORE))?;
            for folder in ["graphs", "index", "works"] {
                graph_file::remove_temporary_files(&home.join(folder))?;
            }
            files::remove_temporary_files(home)?;
        }
        let oxigraph = open_oxigraph(&home.join(STORE), access)?;
        Ok(Self {
            content_place,
            tables,
            keep_files,
            ..Self::with_parts(home, iris, oxigraph, access, Some(lock))
        })
    }

    fn with_parts(
        home: &Path,
        iris: Iris,
        oxigraph: Oxigraph,
        access: Access,
        lock: Option<File>,
    ) -> Self {
        let pointers = pointers::find_graph(&oxigraph, &iris);
        let has_separate_statements = statements::are_separate(&oxigraph, &iris, &pointers);
        Self {
            has_separate_statements,
            home: home.to_owned(),
            iris,
            pointers,
            oxigraph,
            access,
            content_folder: ContentFolder::new(home),
            content_place: ContentPlace::default(),
            tables: TableTreatment::default(),
            keep_files: true,
            changes: AtomicU64::default(),
            described: AtomicU64::default(),
            views: Mutex::default(),
            last_commit: Mutex::default(),
            lock,
        }
    }

    /// Returns true if the store has no files.
    fn is_in_memory(&self) -> bool {
        // A view of another process has no lock either, but it is read-only.
        self.access == Access::Write && self.lock.is_none()
    }

    /// Creates a store in memory with its graph files in `folder`, for tests and for use as a library.
    pub fn in_memory(folder: &Path, iris: Iris) -> Result<Self, StoreError> {
        ContentFolder::new(folder).create()?;
        Ok(Self::with_parts(
            folder,
            iris,
            Oxigraph::new()?,
            Access::Write,
            None,
        ))
    }

    /// Returns the IRIs of this home.
    #[must_use]
    pub fn iris(&self) -> &Iris {
        &self.iris
    }

    /// Returns the folder of the home.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns all datasets of the catalogue, sorted by id.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let mut origins = self.origins()?;
        let mut entries = Vec::new();
        for (id, version) in self.versions()? {
            if let Some(dataset) =
                dcat::from_triples(&self.description_graph(&id)?, &self.iris.dataset(&id))
            {
                entries.push(Entry {
                    dataset,
                    version,
                    origin: origins.remove(&id),
                });
            }
        }
        Ok(entries)
    }

    /// Calls a function with each dataset of the catalogue, sorted by id. One description at a time is in memory.
    ///
    /// # Errors
    /// If the store cannot be read, or the first error of the function.
    pub fn for_each_entry<E: From<StoreError>>(
        &self,
        mut act: impl FnMut(Entry) -> Result<(), E>,
    ) -> Result<(), E> {
        for (id, version) in self.versions()? {
            // Without a description it is not in the catalogue.
            if let Some(entry) = self.read_entry(&id, version)? {
                act(entry)?;
            }
        }
        Ok(())
    }

    /// Returns one dataset of the catalogue.
    pub fn entry(&self, id: &DatasetId) -> Result<Entry, StoreError> {
        let entry = match self.version(id)? {
            Some(version) => self.read_entry(id, version)?,
            None => None,
        };
        entry.ok_or_else(|| StoreError::NoDataset(id.clone()))
    }

    /// Returns a dataset of [`Self::versions`], if it has a description.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read_entry(&self, id: &DatasetId, version: String) -> Result<Option<Entry>, StoreError> {
        let dataset = dcat::from_triples(&self.description_graph(id)?, &self.iris.dataset(id));
        let Some(dataset) = dataset else {
            return Ok(None);
        };
        Ok(Some(Entry {
            dataset,
            version,
            origin: self.origin(id)?,
        }))
    }

    /// Returns the complete content of a dataset.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if it exceeds memory; [`Self::open_content`] opens it.
    pub fn content(&self, entry: &Entry) -> Result<TripleGraph, StoreError> {
        match self.open_content(entry)? {
            StoredContent::InMemory(graph) => Ok(graph),
            StoredContent::Streamed(_) => Err(StoreError::TooLarge {
                id: entry.dataset.metadata.id.to_string(),
            }),
        }
    }

    /// Compacts the store. Bulk loads write many files, and each is searched for every term that is read. The duration grows with
    /// the store: half a minute for sixteen million triples.
    pub fn optimize(&self) -> Result<(), StoreError> {
        // A store in memory has no files.
        #[cfg(feature = "rocksdb")]
        self.oxigraph.optimize()?;
        Ok(())
    }

    /// Returns the number of table files of the store: 0 if it is in memory.
    ///
    /// # Errors
    /// If its folder cannot be read.
    pub fn table_files(&self) -> Result<usize, StoreError> {
        let folder = self.home.join(STORE);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(StoreError::io(&folder)(error)),
        };
        let mut count = 0;
        for entry in entries {
            let name = entry.map_err(StoreError::io(&folder))?.file_name();
            count += usize::from(name.to_string_lossy().ends_with(".sst"));
        }
        Ok(count)
    }

    /// Returns true if the store was opened for writing.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.access == Access::Write
    }

    /// Returns the files of the current versions: graph files, counts, fingerprints, samples and labels, as far as they exist.
    pub fn version_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut versions: Vec<String> = self.versions()?.into_values().collect();
        versions.sort();
        versions.dedup();
        let mut paths = Vec::with_capacity(5 * versions.len());
        for version in versions {
            paths.extend(version_paths(&self.home, &version).into_iter().flatten());
        }
        paths.retain(|path| path.exists());
        Ok(paths)
    }

    /// Returns the counts of a dataset version: from their file, or computed and, if the home is writable, written.
    pub fn counts(&self, id: &DatasetId, version: &str) -> Result<GraphCounts, StoreError> {
        if let Some(counts) = GraphCounts::read(&self.home, version) {
            return Ok(counts);
        }
        let counts = self
            .content_folder
            .count(&self.open_content_of(id, version)?)?;
        if self.access == Access::Write {
            counts.write(&self.home, version)?;
        }
        Ok(counts)
    }

    /// Returns a term of a dataset's graph as the store holds it: blank nodes are scoped to the graph.
    #[must_use]
    pub fn to_stored_term(graph: &NamedNode, term: Term) -> Term {
        blank::BlankNodeScope::from_graph(graph).term_to_store(term)
    }

    /// Returns the underlying Oxigraph store.
    #[must_use]
    pub fn oxigraph(&self) -> &Oxigraph {
        &self.oxigraph
    }

    /// Returns the sorted ids of all datasets.
    pub fn ids(&self) -> Result<Vec<DatasetId>, StoreError> {
        Ok(self.versions()?.into_keys().collect())
    }

    /// Returns a number that changes with every change of the catalogue graph.
    #[must_use]
    pub fn catalog_generation(&self) -> u64 {
        self.described.load(Ordering::SeqCst)
    }

    /// Returns the catalogue graph.
    pub fn catalog_graph(&self) -> Result<TripleGraph, StoreError> {
        self.read_graph(&self.iris.catalog())
    }

    fn read_graph(&self, graph: &NamedNode) -> Result<TripleGraph, StoreError> {
        let mut builder = TripleGraphBuilder::new();
        for quad in self
            .oxigraph
            .quads_for_pattern(None, None, None, Some(graph.as_ref().into()))
        {
            builder.insert_with_labels(blank::from_store(quad?).as_ref());
        }
        Ok(builder.finish())
    }

    fn subject_triples(
        &self,
        graph: &NamedNode,
        subject: &NamedNode,
    ) -> Result<Vec<Triple>, StoreError> {
        let graph = GraphNameRef::NamedNode(graph.as_ref());
        let subject = NamedOrBlankNodeRef::NamedNode(subject.as_ref());
        let quads = self
            .oxigraph
            .quads_for_pattern(Some(subject), None, None, Some(graph));
        quads
            .map(|quad| {
                quad.map(|quad| Triple::new(quad.subject, quad.predicate, quad.object))
                    .map_err(Into::into)
            })
            .collect()
    }

    /// Removes content without a pointer: replaced versions, and graphs of killed loads. Returns the number of removed graphs.
    pub fn clear_replaced(&self, on_progress: &dyn Fn(usize, usize)) -> Result<usize, StoreError> {
        let versions = self.versions()?;
        let index_only = self.index_only()?;
        // The store keeps no content of index-only datasets: a graph that one had before is stale.
        let stored = versions.iter().filter(|(id, _)| !index_only.contains(id));
        let current: std::collections::HashSet<NamedNode> = stored
            .map(|(id, version)| self.iris.graph(id, version))
            .collect();
        let prefix = format!("{}graph/", self.iris.base());
        let mut stale = Vec::new();
        for graph in self.oxigraph.named_graphs() {
            if let NamedOrBlankNode::NamedNode(graph) = graph?
                && graph.as_str().starts_with(&prefix)
                && !current.contains(&graph)
            {
                stale.push(graph);
            }
        }
        for (done, graph) in stale.iter().enumerate() {
            on_progress(done, stale.len());
            self.remove_graph(graph)?;
        }
        if !stale.is_empty() {
            self.flush()?;
        }
        graph_file::remove_unnamed_files(&self.home, &versions.into_values().collect())?;
        self.remove_unlisted_files()?;
        Ok(stale.len())
    }

    /// Removes a graph in transactions of bounded size: Oxigraph holds a transaction in memory. Interrupted, it leaves a part of a
    /// graph to which nothing points.
    fn remove_graph(&self, graph: &NamedNode) -> Result<(), StoreError> {
        let mut quads =
            self.oxigraph
                .quads_for_pattern(None, None, None, Some(graph.as_ref().into()));
        loop {
            // The iterator reads a snapshot, which the removals below do not change.
            let batch = quads
                .by_ref()
                .take(MAX_REMOVED_TRIPLES)
                .collect::<Result<Vec<_>, _>>()?;
            if batch.is_empty() {
                break;
            }
            let mut transaction = self.oxigraph.start_transaction()?;
            for quad in &batch {
                transaction.remove(quad);
            }
            transaction.commit()?;
        }
        // The name goes last: an interrupted removal is found by it, and continued by the next load.
        Ok(self.oxigraph.remove_named_graph(graph)?)
    }
}

/// Number of triples that one transaction removes.
const MAX_REMOVED_TRIPLES: usize = 50_000;

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum time for which a locked home is awaited: a process that is being started holds all files of the process that starts it,
/// until it executes its program.
const MAX_LOCK_WAIT: Duration = Duration::from_millis(200);

fn lock_home(home: &Path, access: Access) -> Result<File, StoreError> {
    let path = home.join("lock");
    // The file is empty, and a copy of a home may lack it.
    let must_create = access == Access::Write || (!path.exists() && is_home(home));
    let opened = if must_create {
        File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
    } else {
        File::open(&path)
    };
    let file = opened.map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => StoreError::NoHome {
            home: home.to_owned(),
        },
        _ => StoreError::Io {
            path: path.clone(),
            cause,
        },
    })?;
    let (try_lock, activity) = match access {
        Access::Write => (File::try_lock as fn(&File) -> _, "reads or writes it"),
        Access::Read => (File::try_lock_shared as fn(&File) -> _, "writes it"),
    };
    let mut taken = try_lock(&file);
    let until = Instant::now() + MAX_LOCK_WAIT;
    // `File` has no lock with a timeout.
    while matches!(taken, Err(TryLockError::WouldBlock)) && Instant::now() < until {
        thread::sleep(MAX_LOCK_WAIT / 20);
        taken = try_lock(&file);
    }
    match taken {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let holder = match holders::describe(&file) {
                Some(processes) => format!("{activity} ({processes})"),
                None => format!("{activity} (a running `serve`?)"),
            };
            Err(StoreError::InUse {
                home: home.to_owned(),
                holder,
            })
        }
        Err(TryLockError::Error(cause)) => Err(StoreError::Io { path, cause }),
    }
}

/// Reads the text of the configuration file. A new home may have none.
fn settings_text(path: &Path, access: Access) -> Result<String, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound && access == Access::Write => {
            Ok(String::new())
        }
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(StoreError::NoHome {
            home: path.parent().unwrap_or(path).to_owned(),
        }),
        Err(cause) => Err(StoreError::Io {
            path: path.to_owned(),
            cause,
        }),
    }
}

/// Settings of a home that concern the store.
struct HomeSettings {
    iris: Iris,
    content_place: ContentPlace,
    tables: TableTreatment,
    keep_files: bool,
}

/// Checks that the settings of a home with a store have a base, and a valid one.
///
/// # Errors
/// If the base is missing although there is a store, or is not valid.
pub fn check_base(home: &Path, base: Option<&str>) -> Result<(), StoreError> {
    let reason = match base {
        Some(base) => match Iris::new(base) {
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        },
        None if !home.join(STORE).is_dir() => return Ok(()),
        // Without the base, all IRIs in an existing store would lose their meaning.
        None => "the key `base` is missing; restore it: the store contains IRIs that begin with it"
            .to_owned(),
    };
    Err(StoreError::Settings {
        path: home.join(SETTINGS),
        reason,
    })
}

/// Reads the settings of a home that concern the store. A new home gets `base` or the default, which is written to the
/// configuration file.
fn read_settings(
    home: &Path,
    access: Access,
    base: Option<&str>,
) -> Result<HomeSettings, StoreError> {
    let path = home.join(SETTINGS);
    let text = settings_text(&path, access)?;
    let settings: Settings = toml::from_str(&text).map_err(|error| StoreError::Settings {
        path: path.clone(),
        reason: error.to_string(),
    })?;
    let has_store = home.join(STORE).is_dir();
    if access == Access::Read && !has_store {
        return Err(StoreError::NoHome {
            home: home.to_owned(),
        });
    }
    if let Some(current) = settings.base {
        return match base.filter(|requested| *requested != current) {
            Some(requested) => Err(StoreError::OtherBase {
                home: home.to_owned(),
                current,
                requested: requested.to_owned(),
            }),
            None => match Iris::new(&current) {
                Ok(iris) => Ok(HomeSettings {
                    iris,
                    content_place: settings.content,
                    tables: settings.tables,
                    keep_files: settings.keep_files,
                }),
                Err(error) => Err(StoreError::Settings {
                    path,
                    reason: error.to_string(),
                }),
            },
        };
    }
    check_base(home, settings.base.as_deref())?;
    let iris = Iris::new(base.unwrap_or(Iris::DEFAULT_BASE))?;
    let line = format!("base = {}\n", toml::Value::from(iris.base()));
    // Keys of the root table precede all tables, so the line is the first.
    graph_file::write_whole(&path, (line + &text).as_bytes())?;
    Ok(HomeSettings {
        iris,
        content_place: settings.content,
        tables: settings.tables,
        keep_files: settings.keep_files,
    })
}

#[cfg(feature = "rocksdb")]
fn open_oxigraph(folder: &Path, access: Access) -> Result<Oxigraph, StoreError> {
    Ok(match access {
        Access::Write => Oxigraph::open(folder)?,
        Access::Read => Oxigraph::open_read_only(folder)?,
    })
}

#[cfg(not(feature = "rocksdb"))]
fn open_oxigraph(folder: &Path, _: Access) -> Result<Oxigraph, StoreError> {
    let reason = "this lodeseek was built without the feature `rocksdb` and keeps no store on disk"
        .to_owned();
    Err(StoreError::Settings {
        path: folder.to_owned(),
        reason,
    })
}
