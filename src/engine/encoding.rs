//! Texts to vectors: every dataset of the index whose texts a model has not encoded yet.

use super::{EngineError, index_folder, vectors_folder};
use crate::catalog::DatasetId;
use crate::document::CompactDocument;
use crate::index::vectors::{
    self, Description, Listed, Precision, Rows, Vectors, VectorsSnapshot, VectorsWriter, model_folder,
};
use crate::index::{Index, Snapshot};
use crate::rerank::{Encoder, Granularity, Matrix, Passage, Similarity, dpr};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pieces kept of a triple, as Q. Chen et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023.
const PIECES_A_TRIPLE: usize = 45;

/// How datasets are encoded.
#[derive(Clone, Copy, Debug)]
pub struct EncodingOptions {
    /// How vectors are stored. Another precision than they have encodes every dataset anew.
    pub precision: Precision,
    /// Datasets handed to the encoder at once. Default 16.
    pub batch: usize,
    /// Datasets after which what is done is committed. Default 512.
    pub commit: usize,
}

impl Default for EncodingOptions {
    fn default() -> Self {
        Self { precision: Precision::default(), batch: 16, commit: 512 }
    }
}

/// How far the encoding has come.
#[derive(Clone, Copy, Debug)]
pub struct EncodingProgress {
    /// Datasets done.
    pub datasets: usize,
    /// Datasets to do.
    pub total: usize,
}

/// What an encoding did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EncodingReport {
    /// The model.
    pub model: String,
    /// Datasets encoded.
    pub encoded: usize,
    /// Datasets whose texts had not changed.
    pub unchanged: usize,
    /// Datasets no longer in the index.
    pub removed: usize,
    /// The time it took.
    pub time: Duration,
    /// Bytes of all vectors in use.
    pub bytes: u64,
}

/// Brings the vectors of an encoder up to date with the index of a home. Interrupted at any moment, it has kept what it
/// committed, and goes on from there.
pub fn encode(
    home: &Path,
    encoder: &dyn Encoder,
    options: &EncodingOptions,
    on_progress: &dyn Fn(EncodingProgress),
) -> Result<EncodingReport, EngineError> {
    let started = Instant::now();
    let snapshot = Index::open(&index_folder(home))?.snapshot()?;
    let description = Description {
        model: encoder.name().to_owned(),
        fingerprint: encoder.fingerprint().to_owned(),
        columns: encoder.dimension(),
        precision: options.precision,
    };
    let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
    let mut writer = VectorsWriter::open(&folder, description)?;
    let mut report = EncodingReport { model: encoder.name().to_owned(), ..EncodingReport::default() };
    let ids: Vec<DatasetId> = snapshot.versions()?.into_keys().collect();
    report.removed = remove_others(&mut writer, &ids);
    let waiting = waiting(ids, &snapshot, &writer, &mut report)?;
    let mut uncommitted = 0;
    for batch in waiting.chunks(options.batch.max(1)) {
        encode_batch(batch, &snapshot, encoder, &mut writer)?;
        report.encoded += batch.len();
        uncommitted += batch.len();
        if uncommitted >= options.commit {
            writer.commit()?;
            uncommitted = 0;
        }
        on_progress(EncodingProgress { datasets: report.encoded, total: waiting.len() });
    }
    report.bytes = writer.bytes().1;
    writer.finish()?;
    report.time = started.elapsed();
    Ok(report)
}

/// The vectors of a home, each with the number of datasets of the index that have none of the texts they have now.
pub fn vectors_of(home: &Path) -> Result<Vec<(Listed, usize)>, EngineError> {
    let listed = vectors::list(&vectors_folder(home))?;
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    // Vectors that cannot be read are of no use to any dataset.
    let read = |one: &Listed| {
        let description = one.description.as_ref().ok()?;
        Vectors::open(&one.folder, &description.fingerprint).ok()?.snapshot().ok()
    };
    let made: Vec<Option<Arc<VectorsSnapshot>>> = listed.iter().map(read).collect();
    let mut missing = vec![0; listed.len()];
    let snapshot = Index::open(&index_folder(home))?.snapshot()?;
    for id in snapshot.versions()?.into_keys() {
        let Some(compact) = compact(&snapshot, &id)? else { continue };
        let digest = digest(&compact)?;
        for (vectors, missing) in made.iter().zip(&mut missing) {
            let encoded = vectors.as_ref().and_then(|vectors| vectors.digest(&id));
            *missing += usize::from(encoded != Some(digest.as_str()));
        }
    }
    Ok(listed.into_iter().zip(missing).collect())
}

/// Takes away what is no longer in the index.
fn remove_others(writer: &mut VectorsWriter, ids: &[DatasetId]) -> usize {
    let gone: Vec<DatasetId> = writer.ids().filter(|id| ids.binary_search(id).is_err()).cloned().collect();
    gone.iter().for_each(|id| writer.remove(id));
    gone.len()
}

/// The datasets whose texts are not the ones encoded, or whose vectors are damaged. The texts themselves are read again when their turn comes: all of
/// them at once need not fit the memory.
fn waiting(
    ids: Vec<DatasetId>,
    snapshot: &Snapshot,
    writer: &VectorsWriter,
    report: &mut EncodingReport,
) -> Result<Vec<DatasetId>, EngineError> {
    let mut waiting = Vec::new();
    for id in ids {
        let Some(compact) = compact(snapshot, &id)? else { continue };
        if writer.digest(&id) == Some(digest(&compact)?.as_str()) && writer.is_sound(&id)? {
            report.unchanged += 1;
        } else {
            waiting.push(id);
        }
    }
    Ok(waiting)
}

fn encode_batch(
    ids: &[DatasetId],
    snapshot: &Snapshot,
    encoder: &dyn Encoder,
    writer: &mut VectorsWriter,
) -> Result<(), EngineError> {
    let mut texts = Vec::with_capacity(ids.len());
    for id in ids {
        texts.extend(compact(snapshot, id)?.map(|compact| (id, compact)));
    }
    let passages: Vec<Passage<'_>> = texts.iter().flat_map(|(_, compact)| passages(compact)).collect();
    let matrices = encoder.encode_passages(&passages)?;
    let precision = writer.description().precision;
    for ((id, compact), matrices) in texts.iter().zip(matrices.as_chunks::<2>().0) {
        let [metadata, data] = matrices.each_ref().map(|matrix| stored(encoder, matrix, precision));
        writer.put((*id).clone(), digest(compact)?, [&metadata, &data])?;
    }
    Ok(())
}

/// A matrix as it is stored: of length 1 where vectors are compared by cosine.
fn stored(encoder: &dyn Encoder, matrix: &Matrix, precision: Precision) -> Rows {
    let comparable = comparable(encoder, matrix);
    Rows::pack(comparable.values(), comparable.columns(), precision)
}

/// A matrix whose inner products are the likeness that the model was trained for.
pub(super) fn comparable(encoder: &dyn Encoder, matrix: &Matrix) -> Matrix {
    match (encoder.granularity(), encoder.similarity()) {
        (Granularity::Text, Similarity::Cosine) => dpr::unit(matrix),
        _ => matrix.clone(),
    }
}

/// The compact document of a dataset; `None` where the index has no such dataset.
pub(super) fn compact(snapshot: &Snapshot, id: &DatasetId) -> Result<Option<CompactDocument>, EngineError> {
    let Some(bytes) = snapshot.compact(id)? else { return Ok(None) };
    Ok(Some(serde_json::from_slice(&bytes)?))
}

/// What is encoded of a dataset: its metadata, and its triples.
#[must_use]
pub fn passages(compact: &CompactDocument) -> [Passage<'_>; 2] {
    [
        Passage { parts: &compact.metadata, pieces_a_part: None },
        Passage { parts: &compact.triples, pieces_a_part: Some(PIECES_A_TRIPLE) },
    ]
}

/// A digest of exactly what is encoded.
pub(super) fn digest(compact: &CompactDocument) -> Result<String, EngineError> {
    use sha2::{Digest, Sha256};
    let told = passages(compact).map(|passage| (passage.parts, passage.pieces_a_part));
    let digest = Sha256::digest(serde_json::to_vec(&told)?);
    Ok(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
