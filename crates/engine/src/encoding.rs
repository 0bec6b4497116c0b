//! Encoding: vectors of the texts of all indexed datasets, updated incrementally.

use super::{DerivedSource, EngineError, index_folder, vectors_folder};
use lodeseek_catalog::DatasetId;
use lodeseek_index::document::CompactDocument;
use lodeseek_index::vectors::{
    self, Description, Precision, Rows, StoredVectors, Vectors, VectorsError, VectorsSnapshot,
    VectorsWriter, model_folder,
};
use lodeseek_index::{Index, Snapshot};
use lodeseek_rerank::{Encoder, Granularity, Matrix, Passage, Similarity, dpr};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of word pieces of a triple, after Q. Chen et al., *Dense Re-Ranking with Weak Supervision for RDF Dataset Search*, ISWC 2023.
const MAX_PIECES_PER_TRIPLE: usize = 45;

/// Options of encoding.
#[derive(Clone, Copy, Debug)]
pub struct EncodingOptions {
    /// The number format of stored vectors. A change re-encodes every dataset.
    pub precision: Precision,
    /// Number of datasets passed to the encoder at once. Default 16. With some hundred texts, two heads of one network no
    /// longer share a forward pass.
    pub batch: usize,
    /// Number of datasets after which vectors are committed: at least a 64th of those that have vectors. Default 512.
    pub commit: usize,
}

impl Default for EncodingOptions {
    fn default() -> Self {
        Self {
            precision: Precision::default(),
            batch: 16,
            commit: 512,
        }
    }
}

impl EncodingOptions {
    /// Returns the number format in which the vectors of an encoder are stored.
    #[must_use]
    pub fn stored_precision(&self, encoder: &dyn Encoder) -> Precision {
        precision_of(encoder, self.precision)
    }
}

/// The progress of encoding.
#[derive(Clone, Copy, Debug)]
pub struct EncodingProgress {
    /// Number of datasets done.
    pub datasets: usize,
    /// Number of datasets to encode.
    pub total: usize,
}

/// A report of encoding.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EncodingReport {
    /// The name of the model.
    pub model: String,
    /// Number of datasets encoded.
    pub encoded: usize,
    /// Number of datasets among them that were encoded elsewhere.
    pub reused: usize,
    /// Number of datasets whose texts had not changed.
    pub unchanged: usize,
    /// Number of datasets removed, because the index no longer has them.
    pub removed: usize,
    /// The time spent.
    pub time: Duration,
    /// Size of all vectors in use, in bytes.
    pub bytes: u64,
}

/// Updates the vectors of an encoder to the index of a home. An interrupted run continues from its last commit.
pub fn encode(
    home: &Path,
    encoder: &dyn Encoder,
    options: &EncodingOptions,
    on_progress: &dyn Fn(EncodingProgress),
) -> Result<EncodingReport, EngineError> {
    encode_all(home, &[(encoder, *options)], on_progress).map(|mut reports| reports.remove(0))
}

/// Updates the vectors of several encoders, which take turns at every batch: two heads of one network then share its forward
/// passes.
///
/// Returns one report for each encoder with the time of its own part. The first head's time includes the shared passes.
///
/// # Errors
/// The failure of the first encoder that fails. The other encoders continue nevertheless.
pub fn encode_all(
    home: &Path,
    encoders: &[(&dyn Encoder, EncodingOptions)],
    on_progress: &dyn Fn(EncodingProgress),
) -> Result<Vec<EncodingReport>, EngineError> {
    encode_all_with(home, encoders, None, on_progress)
}

/// Does the same as [`encode_all`], and takes vectors from a source, as far as it has them.
///
/// # Errors
/// As [`encode_all`].
pub fn encode_all_with(
    home: &Path,
    encoders: &[(&dyn Encoder, EncodingOptions)],
    source: Option<&dyn DerivedSource>,
    on_progress: &dyn Fn(EncodingProgress),
) -> Result<Vec<EncodingReport>, EngineError> {
    encode_all_until(home, encoders, source, on_progress, &|| false)
}

/// Does the same as [`encode_all_with`] until a cancellation: then it ends after the current batch, and the next run continues.
pub fn encode_all_until(
    home: &Path,
    encoders: &[(&dyn Encoder, EncodingOptions)],
    source: Option<&dyn DerivedSource>,
    on_progress: &dyn Fn(EncodingProgress),
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<EncodingReport>, EngineError> {
    if encoders.is_empty() {
        return Ok(Vec::new());
    }
    let snapshot = Index::open(&index_folder(home))?.snapshot()?;
    let ids: Vec<DatasetId> = snapshot.versions()?.into_keys().collect();
    let mut jobs = Vec::with_capacity(encoders.len());
    for (encoder, options) in encoders {
        jobs.push(EncodingJob::new(home, *encoder, *options, &ids, &snapshot)?);
    }
    let pending: Vec<&DatasetId> = ids
        .iter()
        .filter(|id| jobs.iter().any(|job| job.is_pending(id)))
        .collect();
    let batch = encoders
        .iter()
        .map(|(_, options)| options.batch.max(1))
        .min()
        .unwrap_or(1);
    let mut datasets = 0;
    for batch in pending.chunks(batch) {
        if is_cancelled() {
            break;
        }
        let mut texts = Vec::with_capacity(batch.len());
        for id in batch {
            texts.extend(read_compact_document(&snapshot, id)?.map(|compact| (*id, compact)));
        }
        // After a failure of one encoder the others continue; the failure is returned at the end.
        for job in &mut jobs {
            job.encode(&texts, source);
        }
        if jobs.iter().all(|job| job.failure.is_some()) {
            break;
        }
        datasets += batch.len();
        on_progress(EncodingProgress {
            datasets,
            total: pending.len(),
        });
    }
    // All jobs finish before the first failure is returned.
    let reports: Vec<_> = jobs.into_iter().map(EncodingJob::finish).collect();
    reports.into_iter().collect()
}

/// The encoding by one encoder.
struct EncodingJob<'e> {
    encoder: &'e dyn Encoder,
    writer: VectorsWriter,
    commit: usize,
    /// The datasets to encode, in ascending order of their ids.
    pending: Vec<DatasetId>,
    uncommitted: usize,
    report: EncodingReport,
    /// The failure that stopped this job. Committed vectors remain.
    failure: Option<EngineError>,
}

impl<'e> EncodingJob<'e> {
    fn new(
        home: &Path,
        encoder: &'e dyn Encoder,
        options: EncodingOptions,
        ids: &[DatasetId],
        snapshot: &Snapshot,
    ) -> Result<Self, EngineError> {
        let started = Instant::now();
        let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
        let mut writer = VectorsWriter::open(&folder, describe_vectors(encoder, &options))?;
        let mut report = EncodingReport {
            model: encoder.name().to_owned(),
            ..EncodingReport::default()
        };
        report.removed = remove_unindexed_vectors(&mut writer, ids);
        let pending = find_pending(ids, snapshot, &writer, &mut report)?;
        report.time = started.elapsed();
        Ok(Self {
            encoder,
            writer,
            commit: options.commit,
            pending,
            uncommitted: 0,
            report,
            failure: None,
        })
    }

    fn is_pending(&self, id: &DatasetId) -> bool {
        self.pending.binary_search(id).is_ok()
    }

    /// Encodes the pending ones of some datasets, unless the job has failed.
    fn encode(
        &mut self,
        texts: &[(&DatasetId, CompactDocument)],
        source: Option<&dyn DerivedSource>,
    ) {
        if self.failure.is_none() {
            self.failure = self.try_encode(texts, source).err();
        }
    }

    fn try_encode(
        &mut self,
        texts: &[(&DatasetId, CompactDocument)],
        source: Option<&dyn DerivedSource>,
    ) -> Result<(), EngineError> {
        let started = Instant::now();
        let texts: Vec<_> = texts.iter().filter(|(id, _)| self.is_pending(id)).collect();
        let Description {
            fingerprint,
            columns,
            precision,
            ..
        } = self.writer.description().clone();
        let mut unknown = Vec::with_capacity(texts.len());
        for (id, compact) in &texts {
            let digest = document_digest(compact)?;
            let known = source.and_then(|source| source.vectors(id, &fingerprint, &digest));
            let usable = known.filter(|matrices| {
                matrices.iter().all(|rows| {
                    // A matrix without rows fits every format.
                    rows.rows() == 0 || (rows.columns(), rows.precision()) == (columns, precision)
                })
            });
            match usable {
                Some([metadata, data]) => {
                    self.writer.put((*id).clone(), digest, [&metadata, &data])?;
                    self.report.reused += 1;
                }
                None => unknown.push((*id, digest, compact)),
            }
        }
        let documents: Vec<&CompactDocument> =
            unknown.iter().map(|(_, _, compact)| *compact).collect();
        let matrices = encode_documents(self.encoder, &documents, precision)?;
        for ((id, digest, _), [metadata, data]) in unknown.into_iter().zip(matrices) {
            self.writer.put(id.clone(), digest, [&metadata, &data])?;
        }
        self.report.encoded += texts.len();
        self.uncommitted += texts.len();
        // A commit writes the whole directory: with more datasets it must be worth more.
        if self.uncommitted >= self.commit.max(self.writer.len() / 64) {
            self.writer.commit()?;
            self.uncommitted = 0;
        }
        self.report.time += started.elapsed();
        Ok(())
    }

    fn finish(mut self) -> Result<EncodingReport, EngineError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let started = Instant::now();
        self.report.bytes = self.writer.bytes().1;
        self.writer.finish()?;
        self.report.time += started.elapsed();
        Ok(self.report)
    }
}

/// Returns the stored vectors of documents by an encoder: of their metadata and of their triples.
fn encode_documents(
    encoder: &dyn Encoder,
    documents: &[&CompactDocument],
    precision: Precision,
) -> Result<Vec<[Rows; 2]>, EngineError> {
    let passages: Vec<Passage<'_>> = documents
        .iter()
        .flat_map(|document| passages(document))
        .collect();
    let matrices = encoder.encode_passages(&passages)?;
    let pairs = matrices.as_chunks::<2>().0.iter();
    Ok(pairs
        .map(|pair| {
            pair.each_ref()
                .map(|matrix| pack_rows(encoder, matrix, precision))
        })
        .collect())
}

/// Vectors of a dataset by one encoder.
#[derive(Clone, Debug)]
pub struct EncodedDataset {
    /// Fingerprint of the encoder.
    pub fingerprint: String,
    /// Digest of the encoded texts.
    pub digest: String,
    /// Vectors of the metadata and of the triples.
    pub matrices: [Rows; 2],
}

/// Encodes the compact document of a dataset outside of a home.
///
/// # Errors
/// If the compact document is not valid JSON, or if the encoder fails.
pub fn encode_dataset(
    encoder: &dyn Encoder,
    precision: Precision,
    compact: &[u8],
) -> Result<EncodedDataset, EngineError> {
    let compact: CompactDocument = serde_json::from_slice(compact)?;
    let precision = precision_of(encoder, precision);
    let matrices = encode_documents(encoder, &[&compact], precision)?
        .pop()
        .unwrap_or_else(|| {
            let empty = Rows::pack(&[], encoder.dimension(), precision);
            [empty.clone(), empty]
        });
    Ok(EncodedDataset {
        fingerprint: encoder.fingerprint().to_owned(),
        digest: document_digest(&compact)?,
        matrices,
    })
}

/// Returns true if a home has vectors of an encoder, also if none are up to date.
pub fn has_vectors(home: &Path, encoder: &dyn Encoder) -> Result<bool, EngineError> {
    let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
    match Vectors::open(&folder, encoder.fingerprint()) {
        Ok(_) => Ok(true),
        Err(VectorsError::Missing(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Creates vectors of an encoder without any dataset, for a home that is filled later.
pub fn create_vectors(
    home: &Path,
    encoder: &dyn Encoder,
    options: &EncodingOptions,
) -> Result<(), EngineError> {
    let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
    Ok(VectorsWriter::open(&folder, describe_vectors(encoder, options))?.finish()?)
}

fn describe_vectors(encoder: &dyn Encoder, options: &EncodingOptions) -> Description {
    Description {
        model: encoder.name().to_owned(),
        fingerprint: encoder.fingerprint().to_owned(),
        columns: encoder.dimension(),
        precision: precision_of(encoder, options.precision),
    }
}

/// Returns the number format of an encoder's vectors: for single vectors of texts, int8 in place of int2, whose error only
/// the many vectors of a text's tokens level out; for weights of terms f16, in which the numbers of terms are exact.
pub(super) fn precision_of(encoder: &dyn Encoder, requested: Precision) -> Precision {
    match (encoder.granularity(), requested) {
        (Granularity::Text, Precision::I2) => Precision::I8,
        (Granularity::Term, _) => Precision::F16,
        _ => requested,
    }
}

/// Lists the vectors of a home, each with the number of indexed datasets that have no vectors of their current texts.
pub fn list_vectors(home: &Path) -> Result<Vec<(StoredVectors, usize)>, EngineError> {
    let mut listed = vectors::list(&vectors_folder(home))?;
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    // Unreadable vectors count as missing for every dataset.
    let mut snapshots: Vec<Option<Arc<VectorsSnapshot>>> = Vec::with_capacity(listed.len());
    for one in &mut listed {
        let Ok(description) = &one.description else {
            snapshots.push(None);
            continue;
        };
        match open_snapshot(&one.folder, &description.fingerprint) {
            Ok(snapshot) => snapshots.push(Some(snapshot)),
            Err(error) => {
                one.description = Err(error.to_string());
                snapshots.push(None);
            }
        }
    }
    let mut missing = vec![0; listed.len()];
    let snapshot = Index::open(&index_folder(home))?.snapshot()?;
    for id in snapshot.versions()?.into_keys() {
        let Some(compact) = read_compact_document(&snapshot, &id)? else {
            continue;
        };
        let digest = document_digest(&compact)?;
        for (vectors, missing) in snapshots.iter().zip(&mut missing) {
            let encoded = vectors.as_ref().and_then(|vectors| vectors.digest(&id));
            *missing += usize::from(encoded != Some(digest.as_str()));
        }
    }
    Ok(listed.into_iter().zip(missing).collect())
}

fn open_snapshot(folder: &Path, fingerprint: &str) -> Result<Arc<VectorsSnapshot>, VectorsError> {
    Vectors::open(folder, fingerprint)?.snapshot()
}

/// Removes the vectors of datasets that are no longer in the index. Returns their number.
fn remove_unindexed_vectors(writer: &mut VectorsWriter, ids: &[DatasetId]) -> usize {
    let unindexed: Vec<DatasetId> = writer
        .ids()
        .filter(|id| ids.binary_search(id).is_err())
        .cloned()
        .collect();
    for id in &unindexed {
        writer.remove(id);
    }
    unindexed.len()
}

/// Returns the datasets whose texts have changed since they were encoded, or whose vectors are damaged. Their texts are read
/// again for encoding, because all of them together may exceed the memory.
fn find_pending(
    ids: &[DatasetId],
    snapshot: &Snapshot,
    writer: &VectorsWriter,
    report: &mut EncodingReport,
) -> Result<Vec<DatasetId>, EngineError> {
    let mut pending = Vec::new();
    for id in ids {
        let Some(compact) = read_compact_document(snapshot, id)? else {
            continue;
        };
        if writer.digest(id) == Some(document_digest(&compact)?.as_str()) && writer.is_sound(id)? {
            report.unchanged += 1;
        } else {
            pending.push(id.clone());
        }
    }
    Ok(pending)
}

/// Returns a matrix in its stored form: with rows of length 1 if vectors are compared by cosine.
pub(super) fn pack_rows(encoder: &dyn Encoder, matrix: &Matrix, precision: Precision) -> Rows {
    let normalized = normalize(encoder, matrix);
    Rows::pack(normalized.values(), normalized.columns(), precision)
}

/// Returns a matrix whose inner products are the similarities that the model was trained for.
pub(super) fn normalize(encoder: &dyn Encoder, matrix: &Matrix) -> Matrix {
    match (encoder.granularity(), encoder.similarity()) {
        (Granularity::Text, Similarity::Cosine) => dpr::unit(matrix),
        _ => matrix.clone(),
    }
}

/// Reads the compact document of a dataset. `None` if the index has no such dataset.
pub(super) fn read_compact_document(
    snapshot: &Snapshot,
    id: &DatasetId,
) -> Result<Option<CompactDocument>, EngineError> {
    let Some(bytes) = snapshot.compact(id)? else {
        return Ok(None);
    };
    Ok(Some(serde_json::from_slice(&bytes)?))
}

/// Returns the two passages that are encoded of a dataset: its metadata and its triples.
#[must_use]
pub fn passages(compact: &CompactDocument) -> [Passage<'_>; 2] {
    [
        Passage {
            parts: &compact.metadata,
            pieces_a_part: None,
        },
        Passage {
            parts: &compact.triples,
            pieces_a_part: Some(MAX_PIECES_PER_TRIPLE),
        },
    ]
}

/// Returns a digest of the encoded texts: the first 16 bytes of SHA-256, in hexadecimal.
pub(super) fn document_digest(compact: &CompactDocument) -> Result<String, EngineError> {
    use sha2::{Digest, Sha256};
    let encoded = passages(compact).map(|passage| (passage.parts, passage.pieces_a_part));
    let digest = Sha256::digest(serde_json::to_vec(&encoded)?);
    Ok(digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect())
}
