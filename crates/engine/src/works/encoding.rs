//! Vectors of works, updated incrementally.

use crate::EngineError;
use crate::encoding::{EncodingProgress, pack_rows, precision_of};
use lodeseek_catalog::{CitingWork, DatasetId};
use lodeseek_index::vectors::{self, Description, Precision, Rows, VectorsWriter, model_folder};
use lodeseek_rerank::{Encoder, Granularity, Matrix};
use lodeseek_store::{read_works, works_folder};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of works passed to the encoder at once.
const BATCH_WORKS: usize = 32;
/// Number of works after which vectors are committed.
const COMMIT_WORKS: usize = 1024;

/// Report of encoding works.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WorksReport {
    /// Name of the model.
    pub model: String,
    /// Number of works encoded.
    pub encoded: usize,
    /// Number of works whose texts had not changed.
    pub unchanged: usize,
    /// The time spent.
    pub time: Duration,
}

/// Updates the vectors of a home's works, as far as an encoder makes one vector per text. Returns `None` if the home has no
/// works, or the encoder makes one vector per token.
///
/// A work is encoded as a query: a query describes an idea for a work, not a dataset. An interrupted run continues from its
/// last commit.
///
/// # Errors
/// If the works are damaged, or vectors cannot be computed or written.
pub fn encode_works(
    home: &Path,
    encoder: &dyn Encoder,
    precision: Precision,
    on_progress: &dyn Fn(EncodingProgress),
) -> Result<Option<WorksReport>, EngineError> {
    encode_works_until(home, encoder, precision, on_progress, &|| false)
}

/// Does the same as [`encode_works`] until a cancellation: then it ends after the current batch, and the next run continues.
pub fn encode_works_until(
    home: &Path,
    encoder: &dyn Encoder,
    precision: Precision,
    on_progress: &dyn Fn(EncodingProgress),
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Option<WorksReport>, EngineError> {
    let works = read_works(home)?;
    let folder = model_folder(&works_folder(home), encoder.fingerprint());
    if encoder.granularity() != Granularity::Text || works.is_empty() && !folder.exists() {
        return Ok(None);
    }
    let precision = precision_of(encoder, precision);
    let started = Instant::now();
    let description = Description {
        model: encoder.name().to_owned(),
        fingerprint: encoder.fingerprint().to_owned(),
        columns: encoder.dimension(),
        precision,
    };
    let mut writer = VectorsWriter::open(&folder, description)?;
    let mut report = WorksReport {
        model: encoder.name().to_owned(),
        ..WorksReport::default()
    };
    let pending = remove_former_and_select_pending(&works, &mut writer)?;
    report.unchanged = works.len() - pending.len();
    let empty = Rows::pack(&[], encoder.dimension(), precision);
    let mut uncommitted = 0;
    for batch in pending.chunks(BATCH_WORKS) {
        if is_cancelled() {
            break;
        }
        let texts: Vec<String> = batch.iter().map(|(_, work)| work.text()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let matrices: Vec<Matrix> = encoder.encode_queries(&texts)?;
        for ((id, work), matrix) in batch.iter().zip(&matrices) {
            writer.put(
                id.clone(),
                text_digest(work),
                [&pack_rows(encoder, matrix, precision), &empty],
            )?;
        }
        report.encoded += batch.len();
        uncommitted += batch.len();
        if uncommitted >= COMMIT_WORKS {
            writer.commit()?;
            uncommitted = 0;
        }
        on_progress(EncodingProgress {
            datasets: report.encoded,
            total: pending.len(),
        });
    }
    writer.finish()?;
    report.time = started.elapsed();
    Ok(Some(report))
}

/// Removes the vectors of former works. Returns the works without current vectors, with their keys.
fn remove_former_and_select_pending<'w>(
    works: &'w BTreeMap<String, CitingWork>,
    writer: &mut VectorsWriter,
) -> Result<Vec<(DatasetId, &'w CitingWork)>, EngineError> {
    let former: Vec<DatasetId> = writer
        .ids()
        .filter(|id| !works.contains_key(id.as_str()))
        .cloned()
        .collect();
    for id in &former {
        writer.remove(id);
    }
    let mut pending = Vec::new();
    for (key, work) in works {
        // Keys are hexadecimal digits, which are valid ids.
        let Ok(id) = DatasetId::new(key.as_str()) else {
            continue;
        };
        let is_current =
            writer.digest(&id) == Some(text_digest(work).as_str()) && writer.is_sound(&id)?;
        if !is_current {
            pending.push((id, work));
        }
    }
    Ok(pending)
}

/// Removes the vectors of works by all models.
///
/// # Errors
/// If vectors cannot be read or written.
pub(super) fn remove_vectors(home: &Path, keys: &BTreeSet<&str>) -> Result<(), EngineError> {
    for stored in vectors::list(&works_folder(home))? {
        // Unreadable vectors are not used: `lodeseek repair` deletes them.
        let Ok(description) = stored.description else {
            continue;
        };
        let mut writer = VectorsWriter::open(&stored.folder, description)?;
        let removed: Vec<DatasetId> = writer
            .ids()
            .filter(|id| keys.contains(id.as_str()))
            .cloned()
            .collect();
        for id in &removed {
            writer.remove(id);
        }
        if !removed.is_empty() {
            writer.finish()?;
        }
    }
    Ok(())
}

/// Returns a digest of the encoded text of a work.
pub(super) fn text_digest(work: &CitingWork) -> String {
    Sha256::digest(work.text())
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
