//! Homes, and the program itself, for the other modules.

use lodeseek_catalog::Catalog;
use lodeseek_engine::{IndexOptions, Indexer};
use lodeseek_store::{Access, Loader, Store};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

pub(crate) fn testdata(name: &str) -> PathBuf {
    root().join("testdata").join(name)
}

/// Makes an indexed home of a catalogue, given by its path in the repository.
pub(crate) fn home(catalog: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = Catalog::read(&root().join(catalog)).expect("a catalogue");
    load(folder.path(), catalog);
    folder
}

/// Loads and indexes a catalogue. The store is closed afterwards, so that the program can open it.
pub(crate) fn load(home: &Path, catalog: Catalog) {
    let store = Store::open(home, Access::Write, None).expect("a home");
    Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
    Indexer::new(&store, IndexOptions::default())
        .run(&|_| ())
        .expect("indexed");
}

/// Outcome of a run of the program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program in the root of the repository, without the variables of the caller that change its output.
pub(crate) fn run(home: &Path, arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_lodeseek-lab"))
        .env_remove("LODESEEK_HOME")
        .env_remove("RUST_LOG")
        .env("NO_COLOR", "1")
        .current_dir(root())
        .arg("--home")
        .arg(home)
        .args(arguments)
        .output()
        .expect("the program starts");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
