//! The model, opened once and used by many rerankers; homes with its vectors.

use super::Failure;
use super::measure::{Cost, cost};
use lodeseek_engine::{
    EncodingOptions, RerankOptions, Reranker, Searcher, WeightedFusion, encode, index_folder,
    vectors_folder,
};
use lodeseek_index::sparse::ModelKind;
use lodeseek_index::vectors::model_folder;
use lodeseek_rerank::encoder::{Device, EncoderOptions, open, open_both};
use lodeseek_rerank::{
    EncodeError, Encoder, Granularity, Matrix, Method, Normalization, Passage, Similarity,
};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The model's files.
pub(super) const VARIANTS: [&str; 2] = ["model.onnx", "model_int8.onnx"];
/// A vector a text, a vector a piece.
pub(super) const GRANULARITIES: [Granularity; 2] = [Granularity::Text, Granularity::Piece];

/// Returns the name of a granularity in the output.
pub(super) fn called(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Text => "DPR",
        Granularity::Piece => "ColBERT",
        Granularity::Term => "learned sparse",
    }
}

/// An encoder, and what its work on queries has cost.
pub(super) struct Clocked {
    pub(super) encoder: Box<dyn Encoder>,
    spent: Mutex<Cost>,
}

impl Clocked {
    pub(super) fn open(
        model: &Path,
        variant: &str,
        granularity: Granularity,
        threads: usize,
    ) -> Result<Arc<Self>, Failure> {
        Self::open_to(model, variant, granularity, threads, None)
    }

    /// With texts cut to another length than the model's own.
    pub(super) fn open_to(
        model: &Path,
        variant: &str,
        granularity: Granularity,
        threads: usize,
        document_length: Option<usize>,
    ) -> Result<Arc<Self>, Failure> {
        let granularity = Some(granularity);
        let options = EncoderOptions {
            granularity,
            document_length,
            ..encoder_options(variant, threads)
        };
        Ok(Arc::new(Self {
            encoder: open(model, &options)?,
            spent: Mutex::default(),
        }))
    }

    /// Both heads of one network, as [`GRANULARITIES`] has them.
    pub(super) fn open_both(
        model: &Path,
        variant: &str,
        threads: usize,
    ) -> Result<[Arc<Self>; 2], Failure> {
        let both = open_both(model, &encoder_options(variant, threads))?;
        Ok(both.map(|encoder| {
            Arc::new(Self {
                encoder,
                spent: Mutex::default(),
            })
        }))
    }

    /// Returns the cost of queries since the last call.
    pub(super) fn spent(&self) -> Cost {
        std::mem::take(&mut self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn encoder_options(variant: &str, threads: usize) -> EncoderOptions {
    EncoderOptions {
        library: std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from),
        device: Device::Cpu,
        threads: Some(threads),
        variant: Some(variant.to_owned()),
        ..EncoderOptions::default()
    }
}

/// The same encoder for one more reranker.
struct Share(Arc<Clocked>);

impl Encoder for Share {
    fn name(&self) -> &str {
        self.0.encoder.name()
    }

    fn fingerprint(&self) -> &str {
        self.0.encoder.fingerprint()
    }

    fn granularity(&self) -> Granularity {
        self.0.encoder.granularity()
    }

    fn similarity(&self) -> Similarity {
        self.0.encoder.similarity()
    }

    fn dimension(&self) -> usize {
        self.0.encoder.dimension()
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Vec<Matrix>, EncodeError> {
        let (cost, matrices) = cost(|| self.0.encoder.encode_queries(queries));
        let mut spent = self.0.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = *spent + cost;
        matrices
    }

    fn encode_passages(&self, passages: &[Passage<'_>]) -> Result<Vec<Matrix>, EncodeError> {
        self.0.encoder.encode_passages(passages)
    }

    fn origins(&self, passage: Passage<'_>) -> Result<Vec<Option<usize>>, EncodeError> {
        self.0.encoder.origins(passage)
    }

    fn query_pieces(&self, query: &str) -> Result<Vec<String>, EncodeError> {
        self.0.encoder.query_pieces(query)
    }
}

/// A searcher without a query in its memory.
pub(super) fn searcher(
    home: &Path,
    encoders: &[Arc<Clocked>],
    options: &RerankOptions,
) -> Result<Searcher, Failure> {
    let shares = encoders
        .iter()
        .map(|encoder| Box::new(Share(Arc::clone(encoder))) as Box<dyn Encoder>);
    Ok(Searcher::open(home)?.with_reranker(Reranker::open(home, shares, options.clone())?))
}

/// The best of BM25 as candidates; fused where there are several encoders.
pub(super) fn options(encoders: usize, depth: usize, threads: usize) -> RerankOptions {
    RerankOptions {
        depth,
        fusion: (encoders > 1).then(|| WeightedFusion {
            method: Method::CombSum(Normalization::MinMax),
            weights: Vec::new(),
        }),
        threads: NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
        ..RerankOptions::default()
    }
}

/// Uses the defaults of `lodeseek search`.
pub(super) fn default_options(threads: usize) -> RerankOptions {
    RerankOptions {
        pool: vec![ModelKind::Fsdm, ModelKind::Bm25],
        dense: NonZeroUsize::new(10),
        ..options(2, 30, threads)
    }
}

/// The home itself where it holds the model's vectors; else another one in `keep`, with the same index.
pub(super) fn encoded_home(
    home: &Path,
    keep: &Path,
    model: &Path,
    variant: &str,
) -> Result<PathBuf, Failure> {
    let mut chosen = home.to_owned();
    for granularity in GRANULARITIES {
        let clocked = Clocked::open(model, variant, granularity, 2)?;
        if model_folder(&vectors_folder(&chosen), clocked.encoder.fingerprint()).exists() {
            continue;
        }
        if chosen == home {
            chosen = keep.join(variant);
            copy(&index_folder(home), &index_folder(&chosen))?;
        }
        let report = encode(
            &chosen,
            clocked.encoder.as_ref(),
            &EncodingOptions::default(),
            &|_| (),
        )?;
        println!(
            "{} datasets encoded by {variant} for {} in {:.1} s, 2 threads, {} unchanged: {:.1} MB",
            report.encoded,
            called(granularity),
            report.time.as_secs_f64(),
            report.unchanged,
            report.bytes as f64 / 1e6
        );
    }
    Ok(chosen)
}

/// Copies a folder of files.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
