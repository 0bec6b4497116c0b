//! Reading of tasks, records and derivations without storage and processes. Only in fuzz builds.

use crate::record::Record;
use crate::worker::{Output, OutputLimits};
use crate::{ClusterError, Task};
use arrow_ipc::reader::StreamReader;
use oxrdf::Triple;
use std::path::Path;

/// Reads tasks as an Arrow stream.
///
/// # Errors
/// If the stream is not valid.
pub fn read_tasks(stream: &[u8]) -> Result<Vec<Task>, ClusterError> {
    let failed = ClusterError::arrow(crate::task::TABLE);
    let mut tasks = Vec::new();
    for batch in StreamReader::try_new(stream, None).map_err(&failed)? {
        tasks.extend(Task::from_batch(&batch.map_err(&failed)?)?);
    }
    Ok(tasks)
}

/// Reads all parts of a record. Returns the triples of its profile and of its snippet.
///
/// # Errors
/// If the file is no record, or lacks these triples.
pub fn read_record(
    path: &Path,
    fingerprint: &str,
    digest: &str,
) -> Result<[Vec<Triple>; 2], ClusterError> {
    let record = Record::read(path)?;
    let _ = (record.header(), record.description(""), record.document(""));
    let _ = (
        record.precision(fingerprint),
        record.vectors(fingerprint, digest),
    );
    record.derived_triples("")
}

/// Writes the pieces of a derivation to files in a folder. Returns true if it is complete.
///
/// # Errors
/// If a file cannot be written.
pub fn write_derivation(
    pieces: &[&[u8]],
    folder: &Path,
    max_bytes: u64,
) -> Result<bool, ClusterError> {
    let mut output = Output::new(
        folder,
        OutputLimits {
            graph_bytes: max_bytes,
            other_bytes: max_bytes,
        },
    );
    for piece in pieces {
        output.take(piece)?;
    }
    Ok(output.finish().is_ok())
}
