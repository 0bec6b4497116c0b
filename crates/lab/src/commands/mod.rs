//! The commands of the program, one file each.

pub(crate) mod evaluate_snippets;
pub(crate) mod fuse;
pub(crate) mod interleave;
pub(crate) mod reproduce;
pub(crate) mod tag;
pub(crate) mod training_data;
pub(crate) mod tune_fields;

use anyhow::ensure;
use lodeseek_cli::provenance;
use lodeseek_eval::Run;
use std::path::{Path, PathBuf};

/// Reads runs from which another one is made.
///
/// # Errors
/// If the output is one of them, or a run cannot be read.
fn read_runs(paths: &[PathBuf], output: &Path) -> anyhow::Result<Vec<Run>> {
    let mut runs = Vec::with_capacity(paths.len());
    for path in paths {
        ensure!(
            !provenance::is_same_file(path, output),
            "{} is both an input run and the output: choose another --output",
            output.display()
        );
        runs.push(Run::read(path)?);
    }
    Ok(runs)
}
