//! Texts to vectors: every dataset of the index whose texts a model has not encoded yet.

use super::{EngineError, index_folder, vectors_folder};
use lodeseek_catalog::DatasetId;
use lodeseek_index::document::CompactDocument;
use lodeseek_index::vectors::{
    self, Description, StoredVectors, Precision, Rows, Vectors, VectorsSnapshot, VectorsWriter, model_folder,
};
use lodeseek_index::{Index, Snapshot};
use lodeseek_rerank::{Encoder, Granularity, Matrix, Passage, Similarity, dpr};
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
    /// Datasets handed to the encoder at once. Default 16. Of some hundred texts two heads of one network share no pass any
    /// more.
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
    encode_by(home, &[(encoder, *options)], on_progress).map(|mut reports| reports.remove(0))
}

/// The same by several encoders, one after the other for every few datasets: two heads of a network run it once then. A
/// report for each, whose time is what its own part took: the first head runs the network, the other takes what it gave.
/// Where one fails, the others go on; the first failure is the result.
pub fn encode_by(
    home: &Path,
    encoders: &[(&dyn Encoder, EncodingOptions)],
    on_progress: &dyn Fn(EncodingProgress),
) -> Result<Vec<EncodingReport>, EngineError> {
    if encoders.is_empty() {
        return Ok(Vec::new());
    }
    let snapshot = Index::open(&index_folder(home))?.snapshot()?;
    let ids: Vec<DatasetId> = snapshot.versions()?.into_keys().collect();
    let begin = |(encoder, options): &(_, _)| Work::begin(home, *encoder, *options, &ids, &snapshot);
    let mut works = encoders.iter().map(begin).collect::<Result<Vec<_>, _>>()?;
    let is_waiting = |id: &&DatasetId| works.iter().any(|work| work.is_waiting(id));
    let waiting: Vec<&DatasetId> = ids.iter().filter(is_waiting).collect();
    let batch = encoders.iter().map(|(_, options)| options.batch.max(1)).min().unwrap_or(1);
    let mut datasets = 0;
    for batch in waiting.chunks(batch) {
        let mut texts = Vec::with_capacity(batch.len());
        for id in batch {
            texts.extend(compact(&snapshot, id)?.map(|compact| (*id, compact)));
        }
        // One encoder's failure costs none of the others what it has to do; at the end it is told.
        works.iter_mut().for_each(|work| work.encode(&texts));
        if works.iter().all(|work| work.failure.is_some()) {
            break;
        }
        datasets += batch.len();
        on_progress(EncodingProgress { datasets, total: waiting.len() });
    }
    let ended: Vec<_> = works.into_iter().map(Work::finish).collect();
    ended.into_iter().collect()
}

/// What an encoder has to do.
struct Work<'e> {
    encoder: &'e dyn Encoder,
    writer: VectorsWriter,
    commit: usize,
    /// Datasets to be encoded, sorted.
    waiting: Vec<DatasetId>,
    uncommitted: usize,
    report: EncodingReport,
    /// Why it goes on no longer. What was committed stays, as after any end.
    failure: Option<EngineError>,
}

impl<'e> Work<'e> {
    fn begin(
        home: &Path,
        encoder: &'e dyn Encoder,
        options: EncodingOptions,
        ids: &[DatasetId],
        snapshot: &Snapshot,
    ) -> Result<Self, EngineError> {
        let started = Instant::now();
        let description = Description {
            model: encoder.name().to_owned(),
            fingerprint: encoder.fingerprint().to_owned(),
            columns: encoder.dimension(),
            precision: options.precision,
        };
        let folder = model_folder(&vectors_folder(home), encoder.fingerprint());
        let mut writer = VectorsWriter::open(&folder, description)?;
        let mut report = EncodingReport { model: encoder.name().to_owned(), ..EncodingReport::default() };
        report.removed = remove_others(&mut writer, ids);
        let waiting = waiting(ids, snapshot, &writer, &mut report)?;
        report.time = started.elapsed();
        Ok(Self { encoder, writer, commit: options.commit, waiting, uncommitted: 0, report, failure: None })
    }

    fn is_waiting(&self, id: &DatasetId) -> bool {
        self.waiting.binary_search(id).is_ok()
    }

    /// Encodes those of some datasets that wait for it, unless it has failed.
    fn encode(&mut self, texts: &[(&DatasetId, CompactDocument)]) {
        if self.failure.is_none() {
            self.failure = self.try_encode(texts).err();
        }
    }

    fn try_encode(&mut self, texts: &[(&DatasetId, CompactDocument)]) -> Result<(), EngineError> {
        let started = Instant::now();
        let texts: Vec<_> = texts.iter().filter(|(id, _)| self.is_waiting(id)).collect();
        let passages: Vec<Passage<'_>> = texts.iter().flat_map(|(_, compact)| passages(compact)).collect();
        let matrices = self.encoder.encode_passages(&passages)?;
        let precision = self.writer.description().precision;
        for ((id, compact), matrices) in texts.iter().zip(matrices.as_chunks::<2>().0) {
            let [metadata, data] = matrices.each_ref().map(|matrix| stored(self.encoder, matrix, precision));
            self.writer.put((*id).clone(), digest(compact)?, [&metadata, &data])?;
        }
        self.report.encoded += texts.len();
        self.uncommitted += texts.len();
        if self.uncommitted >= self.commit {
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

/// The vectors of a home, each with the number of datasets of the index that have none of the texts they have now.
pub fn vectors_of(home: &Path) -> Result<Vec<(StoredVectors, usize)>, EngineError> {
    let listed = vectors::list(&vectors_folder(home))?;
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    // Vectors that cannot be read are of no use to any dataset.
    let read = |one: &StoredVectors| {
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

/// The datasets whose texts are not the ones encoded, or whose vectors are damaged. The texts themselves are read again when
/// their turn comes: all of them at once need not fit the memory.
fn waiting(
    ids: &[DatasetId],
    snapshot: &Snapshot,
    writer: &VectorsWriter,
    report: &mut EncodingReport,
) -> Result<Vec<DatasetId>, EngineError> {
    let mut waiting = Vec::new();
    for id in ids {
        let Some(compact) = compact(snapshot, id)? else { continue };
        if writer.digest(id) == Some(digest(&compact)?.as_str()) && writer.is_sound(id)? {
            report.unchanged += 1;
        } else {
            waiting.push(id.clone());
        }
    }
    Ok(waiting)
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
