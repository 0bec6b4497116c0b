//! Abstracts as vectors.

use super::IclrProgress;
use crate::neighbors::{
    DenseRows, NoThread, SparseRows, TSne, TermFrequency, TfIdf, TfIdfOptions, TruncatedSvd, principal,
};
use anyhow::{Context, ensure};
use lodeseek_rerank::{Encoder, Granularity, Passage};
use serde::Deserialize;

/// What makes vectors of abstracts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Vectors {
    /// TF-IDF with sublinear term frequencies, fitted to all abstracts.
    TfIdf,
    /// Its hundred largest components.
    Svd,
    /// The same, every row at length 1.
    SvdL2,
    /// A neural model.
    Encoder,
}

/// Vectors, and for a map of sparse ones where its points begin.
pub(super) enum Representation {
    Sparse { rows: SparseRows, start: DenseRows },
    Dense(DenseRows),
}

/// Abstracts encoded at a time.
const BATCH: usize = 64;

pub(super) fn of(
    vectors: Vectors,
    texts: &[&str],
    encoder: Option<&dyn Encoder>,
    progress: &dyn Fn(IclrProgress<'_>),
) -> anyhow::Result<Representation> {
    match vectors {
        Vectors::TfIdf => {
            let rows = tf_idf(texts);
            let start = TruncatedSvd { components: 2, ..TruncatedSvd::default() }.of(&rows)?;
            Ok(Representation::Sparse { rows, start })
        }
        Vectors::Svd => Ok(Representation::Dense(TruncatedSvd::default().of(&tf_idf(texts))?)),
        Vectors::SvdL2 => Ok(Representation::Dense(TruncatedSvd::default().of(&tf_idf(texts))?.normalized())),
        Vectors::Encoder => encoded(texts, encoder.context("this row needs an encoder")?, progress),
    }
}

fn tf_idf(texts: &[&str]) -> SparseRows {
    let options = TfIdfOptions { term_frequency: TermFrequency::Sublinear, ..TfIdfOptions::default() };
    TfIdf::fit(texts, options).transform(texts)
}

/// Every abstract as a passage of one part, cut to the length the model reads: with sentence-transformers, `encode`. A text
/// without words is a vector of zeros.
fn encoded(
    texts: &[&str],
    encoder: &dyn Encoder,
    progress: &dyn Fn(IclrProgress<'_>),
) -> anyhow::Result<Representation> {
    ensure!(encoder.granularity() == Granularity::Text, "{} has no vector a text", encoder.name());
    let mut values = Vec::with_capacity(texts.len() * encoder.dimension());
    for (batch, texts) in texts.chunks(BATCH).enumerate() {
        progress(IclrProgress::Encoded(batch * BATCH, texts.len()));
        let parts: Vec<[String; 1]> = texts.iter().map(|text| [(*text).to_owned()]).collect();
        let passages: Vec<Passage<'_>> = parts.iter().map(|parts| Passage { parts, pieces_a_part: None }).collect();
        for matrix in encoder.encode_passages(&passages)? {
            let end = values.len() + encoder.dimension();
            values.extend_from_slice(matrix.values());
            values.resize(end, 0.0);
        }
    }
    Ok(Representation::Dense(DenseRows::new(encoder.dimension(), values)))
}

impl Representation {
    /// All papers in the plane, those without a label as well: begun from the first two singular vectors of TF-IDF, else
    /// from the first two principal components, and from their mirror images.
    pub(super) fn planes(&self) -> Result<[DenseRows; 4], NoThread> {
        match self {
            Self::Sparse { rows, start } => TSne::default().mirrored(rows, start),
            Self::Dense(rows) => TSne::default().mirrored(rows, &principal(rows)),
        }
    }
}
