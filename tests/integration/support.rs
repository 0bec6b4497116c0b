//! Homes, and the program itself, for the other modules.

use lodeseek_catalog::{Catalog, DatasetId, Iris};
use lodeseek_engine::{IndexOptions, IndexReport, Indexer, SearchRequest, Searcher, hit_json};
use lodeseek_server::AppState;
use lodeseek_sparql::{Answer, QueryEngine, QueryRequest, SparqlError, SparqlLimits};
use lodeseek_store::{LoadReport, Loader, Store};
use oxrdf::Term;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Time that a test takes only if the limit that it tests is missing. It is long, because a loaded machine may be slow.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(300);

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn testdata(name: &str) -> PathBuf {
    root().join("testdata").join(name)
}

/// The places for queries are shared by the whole process, and so by all tests running at once.
pub(crate) fn limits() -> SparqlLimits {
    SparqlLimits {
        concurrent: 1000,
        ..SparqlLimits::default()
    }
}

/// An opened home in a temporary folder: on disk with the feature `rocksdb`, else with its store in memory.
pub(crate) struct Home {
    folder: TempDir,
    pub(crate) store: Arc<Store>,
    pub(crate) queries: Arc<QueryEngine>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        #[cfg(feature = "rocksdb")]
        let store = Store::open(folder.path(), lodeseek_store::Access::Write, None);
        #[cfg(not(feature = "rocksdb"))]
        let store = Store::in_memory(
            folder.path(),
            Iris::new(Iris::DEFAULT_BASE).expect("the default"),
        );
        let store = Arc::new(store.expect("a new home"));
        Self {
            queries: QueryEngine::new(Arc::clone(&store)),
            store,
            folder,
        }
    }

    /// With keys of the configuration file.
    #[cfg(feature = "rocksdb")]
    pub(crate) fn with_settings(settings: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("lodeseek.toml"), settings).expect("written");
        let store = Store::open(folder.path(), lodeseek_store::Access::Write, None);
        let store = Arc::new(store.expect("a new home"));
        Self {
            queries: QueryEngine::new(Arc::clone(&store)),
            store,
            folder,
        }
    }

    /// With a catalogue loaded and indexed.
    pub(crate) fn from_catalog(catalog: &Path) -> Self {
        let home = Self::new();
        home.load(catalog);
        home.index();
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn load(&self, catalog: &Path) -> LoadReport {
        let catalog = Catalog::read(catalog).expect("a catalogue");
        Loader::new(&self.store)
            .load(catalog, &|_| ())
            .expect("loaded")
    }

    pub(crate) fn index(&self) -> IndexReport {
        self.index_with(IndexOptions::default())
    }

    pub(crate) fn index_with(&self, options: IndexOptions) -> IndexReport {
        Indexer::new(&self.store, options)
            .run(&|_| ())
            .expect("indexed")
    }

    pub(crate) fn searcher(&self) -> Searcher {
        Searcher::open(self.path()).expect("an index")
    }

    /// The ids found, best first.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let ranking = self.searcher().rank(query, 100).expect("ranked");
        ranking.iter().map(|scored| scored.id.to_string()).collect()
    }

    pub(crate) fn ask(&self, query: &str) -> Result<Answer, SparqlError> {
        ask(&self.store, query)
    }

    pub(crate) fn count(&self, query: &str) -> u64 {
        count(&self.store, query)
    }

    /// Returns the output of `search --json`.
    pub(crate) fn json(&self, query: &str) -> String {
        json(self.path(), query)
    }

    /// The home behind its HTTP face; it lasts as long as the folder.
    pub(crate) fn serve(self, limits: SparqlLimits) -> (axum::Router, TempDir) {
        let (state, folder) = self.state(limits);
        (lodeseek_server::app(state), folder)
    }

    /// Returns the state of a server, and the folder.
    pub(crate) fn state(self, limits: SparqlLimits) -> (AppState, TempDir) {
        let searcher = self.searcher();
        drop(self.queries); // it shares the store
        let store = Arc::into_inner(self.store).expect("nobody else holds the store");
        (
            AppState::new(searcher.with_content_cache(1 << 20), store, limits),
            self.folder,
        )
    }

    /// Returns an engine over the same store whose expensive queries are evaluated by worker processes.
    #[cfg(all(target_os = "linux", feature = "rocksdb"))]
    pub(crate) fn isolated_queries(&self) -> Arc<QueryEngine> {
        let pool = start_query_workers(self.path());
        QueryEngine::with_workers(Arc::clone(&self.store), pool).expect("a store on disk")
    }

    /// The folder alone, the store closed.
    pub(crate) fn into_folder(self) -> TempDir {
        self.folder
    }

    /// The IRI of a dataset, in angle brackets.
    pub(crate) fn iri(&self, id: &str) -> String {
        iri(id)
    }
}

/// Starts the worker processes that evaluate the queries of a home.
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
pub(crate) fn start_query_workers(home: &Path) -> lodeseek_worker::Pool {
    use lodeseek_worker::{Limits, Pool, PoolOptions};
    let program = PathBuf::from(env!("CARGO_BIN_EXE_lodeseek"));
    let arguments = vec![
        "--home".into(),
        home.into(),
        "worker-process".into(),
        "queries".into(),
    ];
    let readable = vec![home.to_owned()];
    let limits = Limits {
        memory_megabytes: 512,
        open_files: 1024,
        stack_megabytes: 256,
        readable,
        writable: Vec::new(),
        file_bytes: 0,
    };
    Pool::start(PoolOptions {
        program,
        arguments,
        limits,
        idle: 2,
        idle_time: Duration::from_secs(60),
        tasks: 100,
    })
    .expect("a pool")
}

/// Starts the worker processes of a home.
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
pub(crate) fn start_workers(home: &Path, memory_megabytes: u64) -> lodeseek_server::Workers {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_lodeseek"));
    let arguments = vec!["--home".into(), home.into(), "worker-process".into()];
    let options = lodeseek_changes::WorkerOptions {
        program,
        arguments,
        memory_megabytes,
    };
    lodeseek_server::Workers::start(home, &options).expect("workers")
}

/// Returns the state with worker processes, where the system and the store have them.
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
pub(crate) fn isolated(state: AppState, home: &Path) -> AppState {
    state
        .with_workers(start_workers(home, 1024))
        .expect("a store on disk")
}

#[cfg(not(all(target_os = "linux", feature = "rocksdb")))]
pub(crate) fn isolated(state: AppState, _: &Path) -> AppState {
    state
}

pub(crate) fn iri(id: &str) -> String {
    let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
    iris.dataset(&DatasetId::new(id).expect("an id"))
        .to_string()
}

pub(crate) fn ask(store: &Arc<Store>, query: &str) -> Result<Answer, SparqlError> {
    QueryEngine::new(Arc::clone(store)).evaluate(
        &QueryRequest {
            query: query.to_owned(),
            ..QueryRequest::default()
        },
        &limits(),
    )
}

/// The one number a query answers with.
pub(crate) fn count(store: &Arc<Store>, query: &str) -> u64 {
    let answer = ask(store, query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let Answer::Solutions { rows, .. } = answer else {
        panic!("{query} has no solutions")
    };
    match &rows[0][0] {
        Some(Term::Literal(number)) => number.value().parse().expect("a number"),
        other => panic!("{query}: {other:?}"),
    }
}

pub(crate) fn json(home: &Path, query: &str) -> String {
    let response = Searcher::open(home)
        .expect("an index")
        .search(&SearchRequest::new(query))
        .expect("searched");
    serde_json::to_string_pretty(&hit_json(query, &response)).expect("JSON") + "\n"
}

/// (id, text) of the judged queries.
pub(crate) fn queries() -> Vec<(String, String)> {
    let topics = lodeseek_eval::Topics::read(&testdata("queries.tsv")).expect("topics");
    topics
        .0
        .into_iter()
        .map(|topic| (topic.id, topic.text))
        .collect()
}

/// Returns a JSON-LD document whose prefixes are defined one by the other.
pub(crate) fn chain_of_prefixes(prefixes: usize) -> String {
    let chain: String = (1..prefixes)
        .map(|prefix| format!(", \"a{prefix}\": \"a{}:x\"", prefix - 1))
        .collect();
    format!(
        "{{\"@context\": {{\"a0\": \"http://e.org/\"{chain}}}, \"@id\": \"http://e.org/a\", \"http://e.org/p\": 1}}"
    )
}

/// A copy of `testdata/` that may be changed.
pub(crate) fn copy_of_testdata() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&root().join("testdata"), folder.path());
    folder
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

#[cfg(feature = "rocksdb")]
pub(crate) use program::{AS_INDEXED, Ran, open, program, run, run_with};

#[cfg(feature = "rocksdb")]
mod program {
    use lodeseek_store::{Access, Store, StoreError};
    use std::path::Path;
    use std::process::Command;
    use std::thread;
    use std::time::Duration;

    /// Opens a home that this process had open before. Another test may just be starting a program: between its fork and
    /// its exec that child holds copies of our files, and so of the lock, which then outlives the store for a moment.
    pub(crate) fn open(
        home: &Path,
        access: Access,
        base: Option<&str>,
    ) -> Result<Store, StoreError> {
        for _ in 0..500 {
            match Store::open(home, access, base) {
                Err(StoreError::InUse { .. }) => thread::sleep(Duration::from_millis(10)),
                result => return result,
            }
        }
        Store::open(home, access, base)
    }

    /// Outcome of a run of the program.
    #[derive(Debug)]
    pub(crate) struct Ran {
        pub(crate) code: Option<i32>,
        pub(crate) out: String,
        pub(crate) err: String,
    }

    /// The program, without whatever the caller's environment would tell it. It ranks by words over published analysis, whether
    /// ONNX Runtime is installed or not; tests of other rankings state them.
    pub(crate) fn program(home: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lodeseek"));
        command
            .env_remove("LODESEEK_HOME")
            .env_remove("RUST_LOG")
            .env("NO_COLOR", "1");
        command
            .env("LODESEEK_RANKING", "words")
            .env("LODESEEK_ANALYSIS", "acordar");
        command.current_dir(super::root()).arg("--home").arg(home);
        command
    }

    pub(crate) fn run(home: &Path, arguments: &[&str]) -> Ran {
        run_with(home, &[], arguments)
    }

    /// Variable without which the program ranks as the home is configured or indexed.
    pub(crate) const AS_INDEXED: (&str, &str) = ("LODESEEK_RANKING", "");

    /// Runs the program with environment variables. An empty one is not set.
    pub(crate) fn run_with(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let output = program(home)
            .envs(variables.iter().copied())
            .args(arguments)
            .output()
            .expect("the program starts");
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}
