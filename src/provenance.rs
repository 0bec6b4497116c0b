//! What made a file: the record kept beside runs.

use anyhow::Context;
use lodeseek_engine::Searcher;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The arguments of this process, the program left out.
pub(super) fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// What tells this build of the program from others: a debug build knows no commit.
pub(super) fn build() -> Value {
    let file = std::env::current_exe().and_then(std::fs::metadata).ok();
    let changed = file.as_ref().and_then(|file| file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok());
    json!({ "bytes": file.map(|file| file.len()), "modified": changed.map(|time| time.as_secs()) })
}

/// The index that ranked.
pub(super) fn collection(searcher: &Searcher) -> anyhow::Result<Value> {
    let (datasets, analysis) = (searcher.len()?, searcher.analysis()?);
    Ok(json!({ "datasets": datasets, "analysis": analysis, "sha256": searcher.fingerprint()? }))
}

/// Where the record of a file lies: beside it, with `.json` added to its name.
pub(super) fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

/// Writes a record, whole or not at all.
pub(super) fn write(path: &Path, record: &Value) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(record)?;
    text.push(b'\n');
    write_whole(path, &text)
}

/// Writes a file under another name and renames it: nobody reads half of it.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    std::fs::write(&unfinished, bytes).with_context(|| unfinished.display().to_string())?;
    std::fs::rename(&unfinished, path).with_context(|| path.display().to_string())
}
