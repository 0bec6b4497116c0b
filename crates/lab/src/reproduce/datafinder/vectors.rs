//! Cache of text vectors in the home. An experiment is repeated far more often than its texts change.

use crate::neighbors::DenseRows;
use anyhow::{Context, ensure};
use lodeseek_rerank::{Encoder, Granularity, Passage, Similarity};
use lodeseek_store::{FileAccess, replace_file};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of texts in a batch of the encoder.
const MAX_BATCH_TEXTS: usize = 64;

/// Role of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Queries,
    Passages,
}

/// Returns one vector for each text, of length 1 if the model compares by cosine. Cached vectors are read.
pub(super) fn encode(
    encoder: &dyn Encoder,
    side: Side,
    texts: &[String],
    home: &Path,
    on_progress: &dyn Fn(usize),
) -> anyhow::Result<DenseRows> {
    ensure!(
        encoder.granularity() == Granularity::Text,
        "{} does not compute one vector for each text",
        encoder.name()
    );
    let path = cache_path(encoder, side, texts, home);
    // A file of another length is damaged; it is computed again and replaced.
    if let Ok(bytes) = fs::read(&path)
        && bytes.len() == texts.len() * encoder.dimension() * size_of::<f32>()
    {
        let (numbers, _) = bytes.as_chunks();
        return Ok(DenseRows::new(
            encoder.dimension(),
            numbers
                .iter()
                .map(|&four| f32::from_le_bytes(four))
                .collect(),
        ));
    }
    let rows = encode_batches(encoder, side, texts, on_progress)?;
    let bytes: Vec<u8> = rows
        .iter()
        .flatten()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    write_cache_file(&path, &bytes).with_context(|| path.display().to_string())?;
    Ok(rows)
}

/// Returns the cache file. Its name is a digest of everything that determines the vectors.
fn cache_path(encoder: &dyn Encoder, side: Side, texts: &[String], home: &Path) -> PathBuf {
    let mut hasher = Sha256::new();
    hasher.update(encoder.fingerprint());
    hasher.update([u8::from(side == Side::Queries)]);
    for text in texts {
        // The length separates the texts: `ab`, `c` must differ from `a`, `bc`.
        hasher.update(text.len().to_le_bytes());
        hasher.update(text);
    }
    let name: String = hasher
        .finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    home.join("experiments").join(format!("{name}.f32"))
}

/// Writes a file of the cache, and creates its folder.
fn write_cache_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    replace_file(path, bytes, FileAccess::Kept)
}

fn encode_batches(
    encoder: &dyn Encoder,
    side: Side,
    texts: &[String],
    on_progress: &dyn Fn(usize),
) -> anyhow::Result<DenseRows> {
    let dimension = encoder.dimension();
    let mut values = Vec::with_capacity(texts.len() * dimension);
    for (batch, texts) in texts.chunks(MAX_BATCH_TEXTS).enumerate() {
        on_progress(batch * MAX_BATCH_TEXTS);
        let matrices = match side {
            Side::Queries => {
                encoder.encode_queries(&texts.iter().map(String::as_str).collect::<Vec<_>>())?
            }
            Side::Passages => encoder.encode_passages(
                &texts
                    .iter()
                    .map(|part| Passage {
                        parts: std::slice::from_ref(part),
                        pieces_a_part: None,
                    })
                    .collect::<Vec<_>>(),
            )?,
        };
        for matrix in matrices {
            // A text without words has a vector of zeros: it is similar to nothing.
            let row = if matrix.rows() == 0 {
                vec![0.0; dimension]
            } else {
                matrix.row(0).to_vec()
            };
            values.extend(row);
        }
    }
    let rows = DenseRows::new(dimension, values);
    Ok(if encoder.similarity() == Similarity::Cosine {
        rows.normalize()
    } else {
        rows
    })
}
