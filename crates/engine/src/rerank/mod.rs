//! Re-ranking: the best candidates of sparse models, and optionally the nearest by vectors, are scored by encoders' vectors
//! and ranked by these scores, alone or fused with the sparse rankings.

mod fused;
mod multilingual;
mod options;
mod pairs;

pub use multilingual::MULTILINGUAL_WEIGHT;
pub use options::{LongQueryOptions, RerankError, RerankOptions, WeightedFusion};
pub use pairs::{CrossEncoding, PairSummary};

use super::dense::{
    DenseMatch, DenseRetriever, EncodedQuery, MatchCondition, PartShare, ScoringOptions,
};
use super::scope::CandidateScope;
use super::spelling::WordList;
use super::works::{VoteLimits, WorkEvidence, WorkRetriever, WorkVotes};
use super::{EncodingOptions, EngineError, IndexedCatalog};
pub(super) use fused::is_value_of;
use fused::{FusedRankings, RankingSource, WeightedRanking};
use lodeseek_catalog::DatasetId;
use lodeseek_index::sparse::Explanation;
use lodeseek_index::{AnalyzedQuery, Snapshot};
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rerank::{Encoder, Fusion, Granularity, Similarity};
use multilingual::{MultilingualRetriever, multilingual_weight};
use options::check_options;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Minimum depth of sparse rankings that are fused. A candidate below this depth counts as not found by the model.
const MIN_FUSION_DEPTH: usize = 100;

/// Encoders, their vectors of a home's datasets, and the options of re-ranking with them.
pub struct Reranker {
    /// Has all encoders.
    default: Configuration,
    /// Replaces the default while `ranks_by_works` is true.
    of_works: Option<Configuration>,
    ranks_by_works: AtomicBool,
    cross_encoding: Option<CrossEncoding>,
}

impl WordList for Reranker {
    /// The vocabularies of the encoders.
    fn contains(&self, word: &str) -> bool {
        let Configuration {
            encoders,
            multilingual,
            ..
        } = &self.default;
        let others = multilingual.iter().map(|multilingual| &multilingual.dense);
        let mut all = encoders.iter().map(Arc::as_ref).chain(others);
        all.any(|dense| dense.encoder().has_word(word))
    }
}

/// Encoders, works and options that rank together.
struct Configuration {
    encoders: Vec<Arc<DenseRetriever>>,
    multilingual: Option<MultilingualRetriever>,
    /// The place of the encoder with vectors of works, and the works. Empty until there are such vectors.
    works: OnceLock<(usize, WorkRetriever)>,
    options: RerankOptions,
}

/// A summary of a re-ranking.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct RerankSummary {
    /// The sparse models of the pool. Empty for the searcher's model.
    pub pool: Vec<&'static str>,
    /// The fusion method. `None` if one encoder ranked alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fusion: Option<String>,
    /// The weight of popularity. `None` if popularity is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub popularity: Option<f64>,
    /// Number of datasets that were re-ranked.
    pub candidates: usize,
    /// One summary for each encoder.
    pub encoders: Vec<EncoderSummary>,
    /// Number of datasets for which the works nearest to the query voted. `None` without works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub works: Option<usize>,
    /// The part of the cross-encoder, if there is one.
    #[serde(rename = "crossEncoder", skip_serializing_if = "Option::is_none")]
    pub cross_encoder: Option<PairSummary>,
}

/// A summary of an encoder's part in a re-ranking.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct EncoderSummary {
    /// The name of the encoder.
    pub model: String,
    /// The unit of text for which it has one vector.
    pub granularity: Granularity,
    /// Number of candidates that were not encoded since they changed, or whose vectors are damaged. Only the other rankings place
    /// them. Those without a text that the encoder reads are none of them.
    pub unencoded: usize,
    /// Number of datasets whose vectors were found damaged so far. Searches by vectors do not find them.
    #[serde(skip_serializing_if = "is_zero")]
    pub damaged: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The rankings of one query's candidates that are fused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentRankings {
    /// The rankings by the models of the pool, in their order.
    pub sparse: Vec<Ranking>,
    /// The rankings by the encoders, in their order.
    pub dense: Vec<Ranking>,
    /// The ranking by the [multilingual encoder](Reranker::with_multilingual), if there is one. Its weight is not one of those of
    /// the fusion.
    pub multilingual: Option<MultilingualRanking>,
    /// The ranking by the works nearest to the query, if works are used.
    pub works: Option<Ranking>,
}

/// The ranking of one query's candidates by the multilingual encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct MultilingualRanking {
    /// The ranking.
    pub ranking: Ranking,
    /// Its weight in the fusion, as a share of the sum of all other weights.
    pub share: f64,
}

/// The text of a query for encoders.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncoderQuery<'q> {
    /// As typed. The multilingual encoder reads it.
    pub(super) typed: &'q str,
    /// Translated into the languages of the collection, if there is a translation. All others read it.
    pub(super) text: &'q str,
    /// Share of the words that the collection contains in no form and no translation, from 0 to 1. The multilingual encoder weighs
    /// more for them.
    unknown_words: f64,
}

impl<'q> EncoderQuery<'q> {
    pub(super) fn new(typed: &'q str, analyzed: &'q AnalyzedQuery) -> Self {
        Self {
            typed,
            text: analyzed.encoder_text(typed),
            unknown_words: 0.0,
        }
    }

    /// Sets the share of the words that the collection does not contain. Default: 0.
    pub(super) fn with_unknown_words(self, unknown_words: f64) -> Self {
        Self {
            unknown_words,
            ..self
        }
    }
}

/// The result of re-ranking.
pub(super) struct Reranked {
    pub(super) ranking: Ranking,
    pub(super) dense: FxHashMap<DatasetId, Vec<DenseMatch>>,
    pub(super) works: WorkVotes,
    pairs: FxHashMap<DatasetId, f64>,
    /// The rankings whose fusion is the ranking. `None` without a fusion.
    fused: Option<FusedRankings>,
    pub(super) summary: RerankSummary,
}

impl Reranked {
    /// Returns the scores of a dataset by vectors, one for each encoder that has some.
    pub(super) fn dense_matches(&self, id: &DatasetId) -> Vec<DenseMatch> {
        self.dense.get(id).cloned().unwrap_or_default()
    }

    /// Returns the number of datasets at the top with comparable scores: of a cross-encoder those that it ordered, else all.
    pub(super) fn comparable(&self) -> usize {
        if self.pairs.is_empty() {
            self.ranking.len()
        } else {
            self.pairs.len()
        }
    }

    /// Returns the score of a dataset by the cross-encoder, if it was scored.
    pub(super) fn pair_score(&self, id: &DatasetId) -> Option<f64> {
        self.pairs.get(id).copied()
    }

    /// Returns the works nearest to the query that use a dataset.
    pub(super) fn work_evidence(&self, id: &DatasetId) -> Option<WorkEvidence> {
        self.works.0.get(id).cloned()
    }

    /// Returns the score of a candidate as a tree. `sparse` is that of the score by the searcher's model, `popularity` the part of
    /// the score for popularity. For a dataset that is no candidate, `sparse` is returned.
    pub(super) fn explain(
        &self,
        id: &DatasetId,
        sparse: Explanation,
        model: &str,
        popularity: Option<f64>,
    ) -> Explanation {
        let fused = match &self.fused {
            Some(fused) => fused.explain(id, &sparse, model),
            // One encoder ranks alone, or none.
            None => self.dense.get(id).and_then(|matches| {
                let matched = matches.first()?;
                Some(Explanation {
                    value: matched.score,
                    description: format!(
                        "similarity by {}, which orders the candidates of {model}",
                        matched.model
                    ),
                    details: vec![sparse.clone()],
                })
            }),
        };
        let mut tree = fused.unwrap_or(sparse);
        if let Some(boost) = popularity {
            let boost = Explanation::leaf(boost, "popularity");
            tree = Explanation::sum("score and popularity", vec![tree, boost]);
        }
        let cross_encoder = self.summary.cross_encoder.as_ref();
        if let (Some(score), Some(cross_encoder)) = (self.pair_score(id), cross_encoder) {
            let PairSummary { model, scored, .. } = cross_encoder;
            tree = Explanation {
                value: score,
                description: format!(
                    "score by the cross-encoder {model}, which orders the first {scored} datasets"
                ),
                details: vec![tree],
            };
        }
        tree
    }

    /// Returns true if no candidate reaches the minimum similarity of any encoder.
    pub(super) fn is_closest(&self) -> bool {
        !self.dense.is_empty() && self.dense.values().flatten().all(|matched| matched.closest)
    }
}

/// The scores of candidates by all encoders.
struct CandidateScores {
    components: ComponentRankings,
    dense: FxHashMap<DatasetId, Vec<DenseMatch>>,
    works: Option<WorkVotes>,
    candidates: usize,
    /// Number of candidates without current, sound vectors by encoder; the multilingual one is the last.
    unencoded: Vec<usize>,
}

impl Reranker {
    /// Opens the vectors that the encoders made of a home's datasets.
    pub fn open(
        home: &Path,
        encoders: impl IntoIterator<Item = Box<dyn Encoder>>,
        options: RerankOptions,
    ) -> Result<Self, EngineError> {
        let mut retrievers = Vec::new();
        for encoder in encoders {
            retrievers.push(Arc::new(DenseRetriever::open(home, encoder)?));
        }
        let works = OnceLock::new();
        if let Some(opened) = open_works(home, &retrievers, &options)? {
            let _ = works.set(opened); // it is empty
        }
        check_options(&options, &retrievers, works.get().is_some())?;
        Ok(Self {
            default: Configuration {
                encoders: retrievers,
                multilingual: None,
                works,
                options,
            },
            of_works: None,
            ranks_by_works: AtomicBool::default(),
            cross_encoding: None,
        })
    }

    /// Sets the options that replace the others while [`follow_works`](Self::follow_works) finds that
    /// [works rank with their own defaults](crate::ranks_by_works). Encoders of other granularities than these are not used then.
    /// If the options do not fit the encoders and the works, works are not used, and a warning is logged.
    #[must_use]
    pub fn with_works_options(self, options: RerankOptions, granularities: &[Granularity]) -> Self {
        let mut encoders = self.default.encoders.clone();
        encoders.retain(|dense| granularities.contains(&dense.encoder().granularity()));
        Self {
            of_works: Some(Configuration {
                encoders,
                multilingual: None,
                works: OnceLock::new(),
                options,
            }),
            ..self
        }
    }

    /// Ranks by the works of a home from the beginning, with their own options.
    ///
    /// # Errors
    /// If the works cannot be read, or the options do not fit them.
    pub fn starting_with_works(self, home: &Path) -> Result<Self, EngineError> {
        if let Some(of_works) = &self.of_works {
            check_options(&of_works.options, &of_works.encoders, true)?;
            of_works.open_first_works(home)?;
        }
        self.ranks_by_works.store(true, Ordering::Release);
        Ok(self)
    }

    /// Adds a multilingual encoder with one vector per text, whose ranking is fused with the others. Configurations with
    /// [works](Self::with_works_options) do not use it. It needs a fusion. Without a minimum similarity, its scores alone make no match.
    pub fn with_multilingual(
        mut self,
        home: &Path,
        encoder: Box<dyn Encoder>,
        min_similarity: Option<f64>,
    ) -> Result<Self, EngineError> {
        if self.default.options.fusion.is_none() {
            return Err(RerankError::NoFusion(self.default.encoders.len() + 1).into());
        }
        self.default.multilingual =
            Some(MultilingualRetriever::open(home, encoder, min_similarity)?);
        Ok(self)
    }

    /// Sets the cross-encoder that orders the best datasets.
    #[must_use]
    pub fn with_cross_encoding(self, cross_encoding: CrossEncoding) -> Self {
        Self {
            cross_encoding: Some(cross_encoding),
            ..self
        }
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &RerankOptions {
        &self.current().options
    }

    fn current(&self) -> &Configuration {
        match &self.of_works {
            Some(of_works) if self.ranks_by_works.load(Ordering::Acquire) => of_works,
            _ => &self.default,
        }
    }

    /// Returns the cross-encoder that orders the best datasets, if there is one.
    #[must_use]
    pub fn cross_encoding(&self) -> Option<&CrossEncoding> {
        self.cross_encoding.as_ref()
    }

    /// Returns the encoders without the multilingual one.
    pub fn encoders(&self) -> impl ExactSizeIterator<Item = &dyn Encoder> {
        self.default.encoders.iter().map(|dense| dense.encoder())
    }

    /// Returns the multilingual encoder with the minimum similarity of a match, if there is one.
    #[must_use]
    pub fn multilingual(&self) -> Option<(&dyn Encoder, Option<f64>)> {
        let multilingual = self.default.multilingual.as_ref()?;
        Some((multilingual.dense.encoder(), multilingual.min_similarity))
    }

    /// Returns the encoder with one vector per text and cosine similarity, if there is one.
    pub(super) fn text_encoder(&self) -> Option<&DenseRetriever> {
        let mut encoders = self.default.encoders.iter().map(Arc::as_ref);
        encoders.find(|dense| {
            is_text_encoder(dense) && dense.encoder().similarity() == Similarity::Cosine
        })
    }

    /// Returns the encoders whose vectors follow the datasets, with the present number format of their vectors. The multilingual one
    /// is the last.
    ///
    /// # Errors
    /// If the vectors cannot be read.
    pub fn encoding_jobs(&self) -> Result<Vec<(&dyn Encoder, EncodingOptions)>, EngineError> {
        let mut jobs = Vec::with_capacity(self.default.encoders.len() + 1);
        for dense in self.default.retrievers() {
            let options = EncodingOptions {
                precision: dense.precision()?,
                ..EncodingOptions::default()
            };
            jobs.push((dense.encoder(), options));
        }
        Ok(jobs)
    }

    /// Opens the works of a home as soon as they have vectors, and chooses the options: works rank with their own as long as there are
    /// vectors of works, and the datasets are descriptions alone. To be called after each change of works, by one thread.
    ///
    /// # Errors
    /// If the works or the index cannot be read.
    pub fn follow_works(&self, catalog: &IndexedCatalog) -> Result<(), EngineError> {
        for configuration in std::iter::once(&self.default).chain(&self.of_works) {
            configuration.open_first_works(catalog.home())?;
        }
        if let Some(of_works) = &self.of_works {
            let ranks_by_works = of_works.has_works()? && !catalog.has_content()?;
            // After the works are open: a thread that reads the flag finds them.
            self.ranks_by_works.store(ranks_by_works, Ordering::Release);
        }
        Ok(())
    }

    /// Returns the depth to which sparse rankings are needed.
    pub(super) fn sparse_depth(&self) -> usize {
        let RerankOptions { fusion, depth, .. } = self.options();
        if fusion.is_some() {
            (*depth).max(MIN_FUSION_DEPTH)
        } else {
            *depth
        }
    }

    /// Returns the depth to which rankings are fused. Every candidate is within this depth of the ranking that proposed it. A
    /// ranking by vectors has scores of all candidates: those below this depth count as not found, as by the other models.
    #[must_use]
    pub fn fusion_depth(&self) -> usize {
        self.current().fusion_depth()
    }

    /// Encodes a query as typed by the multilingual encoder, if there is one, into its cache. [`Self::rank`] returns a failure.
    pub(super) fn cache_multilingual(&self, typed: &str) {
        if let Some(multilingual) = &self.current().multilingual {
            let _ = multilingual.dense.encode_query(typed);
        }
    }

    /// Ranks the union of the candidates by sparse rankings and, if configured, by vectors.
    ///
    /// The sparse rankings must be restricted to the scope. Candidates by vectors are searched only in the scope.
    pub(super) fn rank(
        &self,
        query: EncoderQuery<'_>,
        sparse: &[Ranking],
        scope: CandidateScope<'_>,
    ) -> Result<Reranked, EngineError> {
        let current = self.current();
        let CandidateScores {
            components,
            dense,
            works,
            candidates,
            unencoded,
        } = current.scores(query, current.options.works_for(query.text), sparse, scope)?;
        let mut encoders = Vec::with_capacity(unencoded.len());
        for (dense, unencoded) in current.retrievers().zip(unencoded) {
            let encoder = dense.encoder();
            encoders.push(EncoderSummary {
                model: encoder.name().to_owned(),
                granularity: encoder.granularity(),
                unencoded,
                damaged: dense.count_damaged(),
            });
        }
        let (ranking, fused) = current.fuse(query, components);
        let ranking = self.add_popularity(ranking, scope.snapshot)?;
        let (ranking, pairs, cross_encoder) = match &self.cross_encoding {
            Some(cross_encoding) => {
                let (ranking, pairs) = cross_encoding.rank(query.text, ranking, scope.snapshot)?;
                (ranking, pairs.scores, Some(pairs.summary))
            }
            None => (ranking, FxHashMap::default(), None),
        };
        let summary = RerankSummary {
            pool: current
                .options
                .pool
                .iter()
                .map(|kind| kind.name())
                .collect(),
            fusion: current
                .options
                .fusion
                .as_ref()
                .map(|fusion| fusion.method.to_string()),
            popularity: current.options.popularity,
            candidates,
            encoders,
            works: works.as_ref().map(|works| works.0.len()),
            cross_encoder,
        };
        Ok(Reranked {
            ranking,
            dense,
            works: works.unwrap_or_default(),
            pairs,
            fused,
            summary,
        })
    }

    /// Adds the popularity boost to every score, if popularity is weighted.
    fn add_popularity(
        &self,
        ranking: Ranking,
        snapshot: &Snapshot,
    ) -> Result<Ranking, EngineError> {
        if self.options().popularity.is_none() {
            return Ok(ranking);
        }
        let mut boosted = Vec::with_capacity(ranking.len());
        for scored in ranking.iter() {
            let boost = self.popularity_boost(&scored.id, snapshot)?.unwrap_or(0.0);
            boosted.push(Scored {
                id: scored.id.clone(),
                score: scored.score + boost,
            });
        }
        Ok(Ranking::from_scores(boosted))
    }

    /// Returns the part of a dataset's score for its popularity. `None` if popularity is ignored.
    pub(super) fn popularity_boost(
        &self,
        id: &DatasetId,
        snapshot: &Snapshot,
    ) -> Result<Option<f64>, EngineError> {
        let Some(weight) = self.options().popularity else {
            return Ok(None);
        };
        let numbers = snapshot.numeric_facts(id)?.unwrap_or_default();
        Ok(Some(weight * (numbers.popularity() as f64).ln_1p()))
    }

    /// Returns the rankings that are fused for a query, with the number of works for all queries.
    pub(super) fn component_rankings(
        &self,
        query: EncoderQuery<'_>,
        sparse: &[Ranking],
        scope: CandidateScope<'_>,
    ) -> Result<ComponentRankings, EngineError> {
        let current = self.current();
        current
            .scores(query, current.options.works, sparse, scope)
            .map(|scores| scores.components)
    }

    /// Returns the parts of a dataset's texts that contribute most to its score by an encoder.
    pub(super) fn explain(
        &self,
        query: EncoderQuery<'_>,
        id: &DatasetId,
        matched: &DenseMatch,
        index: &Snapshot,
    ) -> Result<Vec<PartShare>, EngineError> {
        if matched.is_multilingual {
            return match &self.default.multilingual {
                Some(multilingual) => multilingual.explain(query.typed, id, matched, index),
                None => Ok(Vec::new()),
            };
        }
        for dense in &self.default.encoders {
            let encoder = dense.encoder();
            if encoder.name() == matched.model && encoder.granularity() == matched.granularity {
                return dense.explain(query.text, id, matched, self.options().combination, index);
            }
        }
        Ok(Vec::new())
    }
}

impl Configuration {
    /// Opens the works as soon as they have vectors. The caller excludes another update.
    fn open_first_works(&self, home: &Path) -> Result<(), EngineError> {
        if self.works.get().is_some() {
            return Ok(());
        }
        let Some(works) = open_works(home, &self.encoders, &self.options)? else {
            return Ok(());
        };
        match check_options(&self.options, &self.encoders, true) {
            Ok(()) => {
                let _ = self.works.set(works); // it is empty
            }
            Err(error) => tracing::warn!(%error, "works are not used for ranking"),
        }
        Ok(())
    }

    /// Returns true if there are vectors of works.
    fn has_works(&self) -> Result<bool, EngineError> {
        match self.works.get() {
            Some((_, works)) => works.has_vectors(),
            None => Ok(false),
        }
    }

    fn fusion_depth(&self) -> usize {
        let dense = match self.options.dense {
            Some(depth) => depth.get(),
            None => 0,
        };
        self.options.depth.max(dense).max(MIN_FUSION_DEPTH)
    }

    /// Returns all encoders with their vectors, the multilingual one last.
    fn retrievers(&self) -> impl Iterator<Item = &DenseRetriever> {
        let multilingual = self.multilingual.iter().map(|one| &one.dense);
        self.encoders.iter().map(Arc::as_ref).chain(multilingual)
    }

    /// Collects the candidates and scores them by every encoder.
    fn scores(
        &self,
        query: EncoderQuery<'_>,
        works: Option<NonZeroUsize>,
        sparse: &[Ranking],
        scope: CandidateScope<'_>,
    ) -> Result<CandidateScores, EngineError> {
        let mut queries = Vec::with_capacity(self.encoders.len());
        for dense in &self.encoders {
            queries.push(dense.encode_query(query.text)?);
        }
        let works = match (self.works.get(), works) {
            (Some((encoder, retriever)), Some(works)) => {
                let min_similarity = self
                    .options
                    .min_similarities
                    .get(*encoder)
                    .copied()
                    .flatten();
                let limits = VoteLimits {
                    works,
                    until: scope.until,
                    min_similarity,
                };
                Some(retriever.votes(queries[*encoder].vectors(), &limits)?)
            }
            _ => None,
        };
        let mut candidates = self.candidates(sparse, &queries, works.as_ref(), scope)?;
        let encoded = match &self.multilingual {
            Some(multilingual) => {
                let encoded = multilingual.dense.encode_query(query.typed)?;
                if let Some(depth) = self.options.dense {
                    candidates.extend(multilingual.nearest(&encoded, depth, scope)?);
                }
                Some((multilingual, encoded))
            }
            None => None,
        };
        let candidates: Vec<DatasetId> = candidates.into_iter().collect();
        let mut matches = FxHashMap::<_, Vec<DenseMatch>>::default();
        let mut dense_rankings = Vec::with_capacity(self.encoders.len());
        let mut unencoded = Vec::with_capacity(self.encoders.len() + 1);
        for (place, (dense, query)) in self.encoders.iter().zip(&queries).enumerate() {
            let current = dense.current_candidates(query, &candidates, scope.snapshot)?;
            let mut scored = Vec::with_capacity(current.len());
            for (id, matched) in dense.scores(query, &current, &self.scoring_options(place)) {
                scored.push(Scored {
                    id: id.clone(),
                    score: matched.score,
                });
                matches.entry(id).or_default().push(matched);
            }
            dense_rankings.push(Ranking::from_scores(scored));
            unencoded.push(candidates.len() - current.len() + dense.count_damaged_among(&current));
        }
        let mut multilingual = None;
        if let Some((retriever, encoded)) = encoded {
            let threads = self.options.threads;
            let current =
                retriever
                    .dense
                    .current_candidates(&encoded, &candidates, scope.snapshot)?;
            let mut scored = Vec::new();
            for (id, matched) in retriever.scores(&encoded, &current, threads) {
                scored.push(Scored {
                    id: id.clone(),
                    score: matched.score,
                });
                matches.entry(id).or_default().push(matched);
            }
            multilingual = Some(MultilingualRanking {
                ranking: Ranking::from_scores(scored),
                share: multilingual_weight(query.unknown_words),
            });
            let damaged = retriever.dense.count_damaged_among(&current);
            unencoded.push(candidates.len() - current.len() + damaged);
        }
        let sparse = sparse
            .iter()
            .map(|ranking| restrict_ranking(ranking, &candidates))
            .collect();
        let work_ranking = works
            .as_ref()
            .map(|works| restrict_ranking(&works.ranking(), &candidates));
        let components = ComponentRankings {
            sparse,
            dense: dense_rankings,
            multilingual,
            works: work_ranking,
        };
        Ok(CandidateScores {
            components,
            dense: matches,
            works,
            candidates: candidates.len(),
            unencoded,
        })
    }

    /// Returns the ids of the candidates by all but the multilingual encoder.
    fn candidates(
        &self,
        sparse: &[Ranking],
        queries: &[EncodedQuery],
        works: Option<&WorkVotes>,
        scope: CandidateScope<'_>,
    ) -> Result<BTreeSet<DatasetId>, EngineError> {
        let mut candidates = BTreeSet::new();
        for id in works.iter().flat_map(|works| works.0.keys()) {
            // Works vote for datasets of the whole collection.
            if scope.contains(id)? {
                candidates.insert(id.clone());
            }
        }
        for ranking in sparse {
            candidates.extend(
                ranking
                    .iter()
                    .take(self.options.depth)
                    .map(|scored| scored.id.clone()),
            );
        }
        if let Some(depth) = self.options.dense {
            for (dense, query) in self.encoders.iter().zip(queries) {
                if dense.encoder().granularity() != Granularity::Piece {
                    candidates.extend(dense.nearest(
                        query,
                        self.options.combination,
                        depth.get(),
                        scope,
                    )?);
                }
            }
        }
        Ok(candidates)
    }

    fn scoring_options(&self, encoder: usize) -> ScoringOptions {
        ScoringOptions {
            combination: self.options.combination,
            condition: match self.options.min_similarities.get(encoder) {
                None => MatchCondition::Always,
                Some(Some(min_similarity)) => MatchCondition::AtLeast(*min_similarity),
                Some(None) => MatchCondition::Never,
            },
            threads: self.options.threads,
        }
    }

    /// Fuses the component rankings. Returns the fused ranking, and the rankings with their weights. Without a fusion, the encoder ranks alone, followed by candidates without vectors.
    fn fuse(
        &self,
        query: EncoderQuery<'_>,
        ComponentRankings {
            sparse,
            dense,
            multilingual,
            works,
        }: ComponentRankings,
    ) -> (Ranking, Option<FusedRankings>) {
        let Some(fusion) = &self.options.fusion else {
            if self.encoders.is_empty() {
                return (sparse.into_iter().next().unwrap_or_default(), None);
            }
            let weighted: Vec<_> = sparse.iter().map(|ranking| (ranking, 1.0)).collect();
            let unencoded = Fusion::default().with_depth(usize::MAX).fuse(&weighted);
            let first = dense.into_iter().next().unwrap_or_default();
            return (first.append(&unencoded), None);
        };
        let depth = self.fusion_depth();
        let mut weights = fusion.weights.clone();
        // Works are the last ranking, as below.
        if works.is_some()
            && let (Some(of_works), Some(weight)) = (
                weights.last_mut(),
                self.options.works_weight_for(query.text),
            )
        {
            *of_works = weight;
        }
        let mut components = Vec::with_capacity(weights.len() + 1);
        for (place, ranking) in sparse.into_iter().enumerate() {
            let kind = self.options.pool.get(place).copied();
            components.push((RankingSource::Sparse(kind), ranking));
        }
        for (encoder, ranking) in self.encoders.iter().zip(dense) {
            components.push((RankingSource::from_encoder(encoder.encoder()), ranking));
        }
        components.extend(works.map(|ranking| (RankingSource::Works, ranking)));
        if weights.is_empty() {
            weights = vec![1.0; components.len()];
        }
        let mut rankings = Vec::with_capacity(components.len() + 1);
        for ((source, ranking), weight) in components.into_iter().zip(weights) {
            rankings.push(WeightedRanking {
                source,
                ranking: ranking.cut(depth),
                weight,
            });
        }
        if let (Some(multilingual), Some(retriever)) = (multilingual, &self.multilingual) {
            let others: f64 = rankings.iter().map(|one| one.weight).sum();
            rankings.push(WeightedRanking {
                source: RankingSource::from_encoder(retriever.dense.encoder()),
                ranking: multilingual.ranking.cut(depth),
                weight: multilingual.share * others,
            });
        }
        let fused = FusedRankings {
            method: fusion.method,
            rankings,
        };
        (fused.fuse(), Some(fused))
    }
}

/// Returns the part of a ranking that consists of candidates, which must be in ascending order.
fn restrict_ranking(ranking: &Ranking, candidates: &[DatasetId]) -> Ranking {
    let restricted = ranking
        .iter()
        .filter(|scored| candidates.binary_search(&scored.id).is_ok());
    Ranking::from_scores(restricted.cloned().collect())
}

/// Opens the works of a home by the first encoder that has vectors of them, unless the options exclude works.
fn open_works(
    home: &Path,
    encoders: &[Arc<DenseRetriever>],
    options: &RerankOptions,
) -> Result<Option<(usize, WorkRetriever)>, EngineError> {
    if options.works.is_none() || options.fusion.is_none() {
        return Ok(None);
    }
    for (place, dense) in encoders.iter().enumerate() {
        if let Some(works) = WorkRetriever::open(home, dense.encoder())? {
            return Ok(Some((place, works)));
        }
    }
    Ok(None)
}

/// Returns true if an encoder has one vector per text.
fn is_text_encoder(dense: &DenseRetriever) -> bool {
    dense.encoder().granularity() == Granularity::Text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking_of(names: [&str; 2]) -> Ranking {
        Ranking::from_scores(
            names
                .into_iter()
                .enumerate()
                .map(|(place, name)| Scored {
                    id: DatasetId::new(name).expect("an id"),
                    score: 2.0 - place as f64,
                })
                .collect(),
        )
    }

    fn options() -> RerankOptions {
        let works = NonZeroUsize::new(25).expect("above 0");
        RerankOptions {
            long_queries: Some(LongQueryOptions {
                works,
                works_weight: 3.0,
            }),
            fusion: Some(WeightedFusion {
                weights: vec![1.0, 0.4],
                ..WeightedFusion::default()
            }),
            ..RerankOptions::default()
        }
    }

    const SEVEN_WORDS: &str = "trees of a city with their heights";
    const EIGHT_WORDS: &str = "a map of trees of a city park";

    #[test]
    fn works_have_another_weight_for_long_queries() {
        let configuration = Configuration {
            encoders: Vec::new(),
            multilingual: None,
            works: OnceLock::new(),
            options: options(),
        };
        let fused = |query: &str, works: Option<Ranking>| {
            let sparse = vec![ranking_of(["oaks", "elms"])];
            let components = ComponentRankings {
                sparse,
                works,
                ..ComponentRankings::default()
            };
            let query = EncoderQuery {
                typed: query,
                text: query,
                unknown_words: 0.0,
            };
            configuration.fuse(query, components).0
        };
        let oaks_first = ["oaks", "elms"].map(|name| DatasetId::new(name).expect("an id"));
        let by_works = Some(ranking_of(["elms", "oaks"]));
        let ids = |ranking: Ranking| {
            ranking
                .iter()
                .map(|scored| scored.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(fused(SEVEN_WORDS, by_works.clone())), oaks_first);
        assert_ne!(ids(fused(EIGHT_WORDS, by_works)), oaks_first);
        assert_eq!(
            ids(fused(EIGHT_WORDS, None)),
            oaks_first,
            "the last weight is not one of works"
        );
    }

    #[test]
    fn another_number_of_works_votes_for_long_queries() {
        let options = options();
        assert_eq!(
            options.works_for(SEVEN_WORDS),
            RerankOptions::default().works
        );
        assert_eq!(options.works_for(EIGHT_WORDS), NonZeroUsize::new(25));
        let without = RerankOptions {
            works: None,
            ..options
        };
        assert_eq!(without.works_for(EIGHT_WORDS), None, "works are ignored");
    }
}
