//! Files for readers that need a path.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Folder in memory, if the system has one.
const MEMORY_FOLDER: &str = "/dev/shm";

/// Returns the folder of the process. It is created at the first call.
///
/// # Panics
/// If no folder can be created.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(new_folder).path()
}

/// Creates a folder that is deleted when the value is dropped.
///
/// # Panics
/// If no folder can be created.
#[must_use]
pub fn new_folder() -> TempDir {
    let memory = Path::new(MEMORY_FOLDER);
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.expect("a temporary folder")
}

/// Writes a file of the process's folder and returns its path. The next call with the same name replaces it.
///
/// # Panics
/// If the file cannot be written.
#[must_use]
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    fs::write(&path, bytes).expect("a temporary file");
    path
}
