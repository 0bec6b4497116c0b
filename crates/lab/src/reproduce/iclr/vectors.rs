//! Vectors of abstracts.

use super::IclrProgress;
use crate::neighbors::{
    DenseRows, SparseRows, TSne, TermFrequency, TfIdf, TfIdfOptions, TruncatedSvd,
    principal_components,
};
use anyhow::{Context, ensure};
use lodeseek_rerank::{Encoder, Granularity, Passage};
use serde::Deserialize;

/// Method that computes vectors of abstracts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Vectors {
    /// TF-IDF with sublinear term frequencies, fitted to all abstracts.
    TfIdf,
    /// The hundred largest singular components of TF-IDF.
    Svd,
    /// The same components, every row scaled to length 1.
    SvdL2,
    /// A neural encoder.
    Encoder,
}

/// Vectors; sparse ones with the initial points of their maps.
pub(super) enum Representation {
    Sparse { rows: SparseRows, start: DenseRows },
    Dense(DenseRows),
}

/// Maximum number of abstracts in a batch of the encoder.
const MAX_BATCH_TEXTS: usize = 64;

pub(super) fn compute(
    vectors: Vectors,
    texts: &[&str],
    encoder: Option<&dyn Encoder>,
    progress: &dyn Fn(IclrProgress<'_>),
) -> anyhow::Result<Representation> {
    match vectors {
        Vectors::TfIdf => {
            let rows = tf_idf(texts);
            let start = TruncatedSvd {
                components: 2,
                ..TruncatedSvd::default()
            }
            .fit_transform(&rows)?;
            Ok(Representation::Sparse { rows, start })
        }
        Vectors::Svd => Ok(Representation::Dense(
            TruncatedSvd::default().fit_transform(&tf_idf(texts))?,
        )),
        Vectors::SvdL2 => Ok(Representation::Dense(
            TruncatedSvd::default()
                .fit_transform(&tf_idf(texts))?
                .normalize(),
        )),
        Vectors::Encoder => encode_texts(
            texts,
            encoder.context("this row needs an encoder: --dpr FOLDER")?,
            progress,
        ),
    }
}

fn tf_idf(texts: &[&str]) -> SparseRows {
    let options = TfIdfOptions {
        term_frequency: TermFrequency::Sublinear,
        ..TfIdfOptions::default()
    };
    TfIdf::fit(texts, options).transform(texts)
}

/// Encodes each abstract as a passage of one part, truncated to the model's length, like `encode` of
/// sentence-transformers. A text without words is a vector of zeros.
fn encode_texts(
    texts: &[&str],
    encoder: &dyn Encoder,
    progress: &dyn Fn(IclrProgress<'_>),
) -> anyhow::Result<Representation> {
    ensure!(
        encoder.granularity() == Granularity::Text,
        "{} does not compute one vector for each text",
        encoder.name()
    );
    let mut values = Vec::with_capacity(texts.len() * encoder.dimension());
    for (batch, batch_texts) in texts.chunks(MAX_BATCH_TEXTS).enumerate() {
        progress(IclrProgress::Encoded(batch * MAX_BATCH_TEXTS, texts.len()));
        let parts: Vec<[String; 1]> = batch_texts
            .iter()
            .map(|text| [(*text).to_owned()])
            .collect();
        let passages: Vec<Passage<'_>> = parts
            .iter()
            .map(|parts| Passage {
                parts,
                pieces_a_part: None,
            })
            .collect();
        for matrix in encoder.encode_passages(&passages)? {
            let end = values.len() + encoder.dimension();
            values.extend_from_slice(matrix.values());
            values.resize(end, 0.0);
        }
    }
    Ok(Representation::Dense(DenseRows::new(
        encoder.dimension(),
        values,
    )))
}

impl Representation {
    /// Computes four maps of all papers, including those without a label. They start from the first two singular
    /// vectors of TF-IDF or the first two principal components, and from their mirror images.
    pub(super) fn maps(&self) -> anyhow::Result<[DenseRows; 4]> {
        let maps = match self {
            Self::Sparse { rows, start } => TSne::default().embed_mirror_images(rows, start),
            Self::Dense(rows) => {
                TSne::default().embed_mirror_images(rows, &principal_components(rows)?)
            }
        }?;
        Ok(maps)
    }
}
