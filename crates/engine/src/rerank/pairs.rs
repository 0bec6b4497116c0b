//! The last stage of a ranking: a cross-encoder orders the best datasets of the fused ranking.

use crate::EngineError;
use crate::encoding::read_compact_document;
use lodeseek_catalog::DatasetId;
use lodeseek_index::Snapshot;
use lodeseek_index::document::CompactDocument;
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rerank::PairScorer;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// A cross-encoder and its limits.
pub struct CrossEncoding {
    /// The model.
    pub scorer: Box<dyn PairScorer>,
    /// Number of the best datasets that it orders. Default 10.
    pub depth: NonZeroUsize,
    /// Maximum time for one query. Default 1 s. It is checked between two datasets. If it passes, the fused order remains.
    pub deadline: Duration,
}

impl CrossEncoding {
    /// Default number of datasets.
    pub const DEFAULT_DEPTH: NonZeroUsize = NonZeroUsize::new(10).expect("above 0");
    /// Default deadline of one query.
    pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(1);

    /// Creates the stage with the default limits.
    #[must_use]
    pub fn new(scorer: Box<dyn PairScorer>) -> Self {
        Self {
            scorer,
            depth: Self::DEFAULT_DEPTH,
            deadline: Self::DEFAULT_DEADLINE,
        }
    }
}

/// A summary of the part of a cross-encoder in a ranking.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PairSummary {
    /// The name of the model.
    pub model: String,
    /// Number of datasets scored.
    pub scored: usize,
    /// If true, the deadline passed before all were scored, and the order is that of the fusion.
    pub deadline_passed: bool,
}

/// The scores of the best datasets.
pub(super) struct PairScores {
    pub(super) summary: PairSummary,
    pub(super) scores: FxHashMap<DatasetId, f64>,
}

impl CrossEncoding {
    /// Scores the best datasets of a ranking. If all are scored in time, returns the ranking with these in the new order.
    ///
    /// The scores of the other datasets then encode their order only.
    pub(super) fn rank(
        &self,
        query: &str,
        ranking: Ranking,
        snapshot: &Snapshot,
    ) -> Result<(Ranking, PairScores), EngineError> {
        let started = Instant::now();
        let mut scored = Vec::with_capacity(self.depth.get());
        let mut deadline_passed = false;
        for best in ranking.iter().take(self.depth.get()) {
            if started.elapsed() >= self.deadline {
                deadline_passed = true;
                break;
            }
            let Some(compact) = read_compact_document(snapshot, &best.id)? else {
                continue;
            };
            let score = self.scorer.score(query, &pair_text(&compact))?;
            scored.push(Scored {
                id: best.id.clone(),
                score,
            });
        }
        let summary = PairSummary {
            model: self.scorer.name().to_owned(),
            scored: scored.len(),
            deadline_passed,
        };
        if deadline_passed {
            return Ok((
                ranking,
                PairScores {
                    summary,
                    scores: FxHashMap::default(),
                },
            ));
        }
        let scores = scored
            .iter()
            .map(|one| (one.id.clone(), one.score))
            .collect();
        Ok((
            Ranking::from_scores(scored).append(&ranking),
            PairScores { summary, scores },
        ))
    }
}

/// Returns the text that is scored: the description of a dataset, then its triples. The model cuts it to its length.
fn pair_text(compact: &CompactDocument) -> String {
    let parts: Vec<&str> = compact
        .metadata
        .iter()
        .chain(&compact.triples)
        .map(String::as_str)
        .collect();
    parts.join("\n")
}
