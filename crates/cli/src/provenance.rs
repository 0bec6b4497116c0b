//! Provenance records of run files, with arguments and collection, and files that are written atomically.

use super::streams::ignore_broken_pipe;
use anyhow::Context;
use lodeseek_engine::Searcher;
use lodeseek_store::{FileAccess, replace_file};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Returns the arguments of this process without the program name.
pub fn arguments() -> Vec<String> {
    std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// Describes the index: number of datasets, analysis and fingerprint.
///
/// # Errors
/// If the index cannot be read.
pub fn collection(searcher: &Searcher) -> anyhow::Result<Value> {
    Ok(
        json!({ "datasets": searcher.catalog().len()?, "analysis": searcher.catalog().analysis()?, "sha256": searcher.catalog().fingerprint()? }),
    )
}

/// Returns the path of a file's record: the path of the file with `.json` appended.
pub fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

/// Writes a record or a report atomically.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, record: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(record)?;
    text.push(b'\n');
    write_atomically(path, &text)
}

/// Returns true if both paths lead to the same existing file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize()
        .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Checks that [`write_atomically`] can write a file. The file keeps its content.
///
/// # Errors
/// If the file cannot be written.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    if is_special(path) {
        return Ok(());
    }
    check_folder(path)?;
    let empty = temporary_path(path);
    std::fs::write(&empty, b"").with_context(|| empty.display().to_string())?;
    std::fs::remove_file(&empty).with_context(|| empty.display().to_string())
}

/// Checks that the folder of a file exists.
///
/// # Errors
/// If it does not.
fn check_folder(path: &Path) -> anyhow::Result<()> {
    if let Some(folder) = path.parent()
        && !folder.as_os_str().is_empty()
        && !folder.is_dir()
    {
        let (path, folder) = (path.display(), folder.display());
        anyhow::bail!("{path}: the folder {folder} does not exist");
    }
    Ok(())
}

/// Returns the name of an empty file beside a file.
fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// Returns true for devices and pipes, such as `/dev/stdout`, which keep their place.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|known| !known.is_file())
}

/// Writes a file atomically, as [`replace_file`] does. Devices and pipes are written as they are.
///
/// # Errors
/// If the file cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if is_special(path) {
        // The reader of a pipe may have ended. The report is then dropped.
        let written = ignore_broken_pipe(std::fs::write(path, bytes));
        return written.with_context(|| path.display().to_string());
    }
    check_folder(path)?;
    replace_file(path, bytes, FileAccess::Kept).with_context(|| path.display().to_string())
}
