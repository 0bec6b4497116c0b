//! Vectors of changed datasets and works, and the ranking that follows them.

use lodeseek_engine::{
    EncodingOptions, EngineError, Searcher, encode_all_until, encode_works_until,
};
use lodeseek_rerank::Encoder;
use lodeseek_store::works_checksum;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Updates of the vectors of a served collection.
#[derive(Debug, Default)]
pub struct VectorUpdates {
    /// Checksum of the list of works whose vectors were updated last.
    encoded_works: Mutex<Option<String>>,
}

impl VectorUpdates {
    /// Updates the vectors of a searcher's encoders to the index and to the works of the home, and chooses the options of its
    /// ranking. Returns the number of datasets encoded. As soon as `is_cancelled` returns true, it ends after the current batch; the
    /// next call encodes the rest.
    ///
    /// # Errors
    /// If vectors cannot be computed, read or written.
    pub fn run(
        &self,
        searcher: &Searcher,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<usize, EngineError> {
        let Some(reranker) = searcher.reranker() else {
            return Ok(0);
        };
        let home = searcher.catalog().home();
        let mut jobs = reranker.encoding_jobs()?;
        let reports = encode_all_until(home, &jobs, None, &|_| (), is_cancelled)?;
        let datasets = reports.iter().map(|report| report.encoded).sum();
        jobs.truncate(reranker.encoders().len()); // Works have no vectors of the multilingual encoder.
        self.encode_works(home, &jobs, is_cancelled)?;
        if !is_cancelled() {
            reranker.follow_works(searcher.catalog())?;
        }
        Ok(datasets)
    }

    /// Updates the vectors of works, unless their list is that of the last complete update.
    fn encode_works(
        &self,
        home: &Path,
        jobs: &[(&dyn Encoder, EncodingOptions)],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EngineError> {
        let list = works_checksum(home)?;
        let mut encoded = self
            .encoded_works
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *encoded == list {
            return Ok(());
        }
        for (encoder, options) in jobs {
            encode_works_until(home, *encoder, options.precision, &|_| (), is_cancelled)?;
        }
        if !is_cancelled() {
            *encoded = list;
        }
        Ok(())
    }
}
