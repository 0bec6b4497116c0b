//! What made a file: the record kept beside runs.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The program, and the commit of a release build.
pub(super) fn program() -> Value {
    json!({ "name": "lodeseek", "version": env!("CARGO_PKG_VERSION"), "commit": option_env!("LODESEEK_COMMIT") })
}

/// The arguments of this process, the program left out.
pub(super) fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// A file and the SHA-256 of its bytes.
pub(super) fn input(path: &Path) -> anyhow::Result<Value> {
    use anyhow::Context;
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({ "path": path.display().to_string(), "sha256": digest }))
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
    use anyhow::Context;
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    std::fs::write(&unfinished, bytes).with_context(|| unfinished.display().to_string())?;
    std::fs::rename(&unfinished, path).with_context(|| path.display().to_string())
}
