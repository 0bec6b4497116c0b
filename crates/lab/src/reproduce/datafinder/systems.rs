//! Ranking methods of the DataFinder experiment.

use super::collection::Collection;
use super::vectors::{Side, encode};
use super::{
    DataFinder, DataFinderProgress, HomeSpec, PaperSimilarity, Rankings, SystemKind, TextForm,
    View, YearFilter, with_score,
};
use crate::neighbors::{
    DenseRows, DocumentFrequency, Neighbor, Rows, SparseRows, TfIdf, TfIdfOptions, parallel_map,
};
use crate::reproduce::Encoders;
use anyhow::{Context, ensure};
use lodeseek_engine::{
    AnalysisKind, Filter, LongQueryOptions, RerankOptions, Reranker, Searcher, Texts,
    WeightedFusion,
};
use lodeseek_eval::{Folds, Metric, QueryForm, mean};
use lodeseek_index::sparse::{Bm25, LengthMode};
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::Ranking;
use lodeseek_rerank::{Encoder, Fusion, Granularity, Method};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of ranks that are evaluated.
const MAX_RANKS: usize = 1000;
/// Maximum number of results of each ranking that take part in a fusion.
const MAX_FUSED_RESULTS: usize = 100;
/// Grid of BM25's k₁ and b for tuning.
const K1: [f64; 6] = [0.2, 0.4, 0.8, 1.2, 1.6, 2.0];
const B: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
const FOLD_COUNT: usize = 5;

/// Words of a topic, or a part of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Query {
    /// Position of the topic.
    pub(super) topic: usize,
    pub(super) text: String,
}

/// An encoder: its folder among trained models, or `None` for the encoder of the command line.
type Model = Option<PathBuf>;

/// State of a running experiment. Texts are indexed and encoded once, and rankings are cached.
pub(super) struct ExperimentContext<'l> {
    pub(super) experiment: &'l DataFinder,
    pub(super) collection: &'l Collection,
    home: &'l Path,
    encoders: &'l Encoders<'l>,
    opened: BTreeMap<Model, Arc<dyn Encoder>>,
    progress: &'l DataFinderProgress<'l>,
    indexes: BTreeMap<TextForm, Texts>,
    vectors: BTreeMap<(Model, TextForm), DenseRows>,
    words: Option<(TfIdf, SparseRows)>,
    examples: BTreeMap<Model, DenseRows>,
    rankings: BTreeMap<(String, YearFilter, Vec<Query>), Rankings>,
}

impl<'l> ExperimentContext<'l> {
    pub(super) fn new(
        experiment: &'l DataFinder,
        collection: &'l Collection,
        home: &'l Path,
        encoders: &'l Encoders<'l>,
        progress: &'l DataFinderProgress<'l>,
    ) -> anyhow::Result<Self> {
        let mut systems = experiment.systems.iter();
        // Another home is reported before minutes of encoding.
        if systems.any(|system| matches!(system.ranks, SystemKind::Home(_))) {
            check_home(&Searcher::open(home)?, home, collection)?;
        }
        Ok(Self {
            experiment,
            collection,
            home,
            encoders,
            opened: BTreeMap::new(),
            progress,
            indexes: BTreeMap::new(),
            vectors: BTreeMap::new(),
            words: None,
            examples: BTreeMap::new(),
            rankings: BTreeMap::new(),
        })
    }

    /// Returns the topics in a form.
    pub(super) fn queries(&self, form: QueryForm) -> Vec<Query> {
        let topics = self.collection.topics.iter().enumerate();
        topics
            .map(|(topic, one)| Query {
                topic,
                text: one.text(form).to_owned(),
            })
            .collect()
    }

    /// Returns a system's rankings for a table.
    pub(super) fn view(&mut self, system: &str, view: View) -> anyhow::Result<Rankings> {
        let queries = self.queries(view.form);
        self.rank(system, &queries, view.years)
    }

    /// Returns a system's rankings of queries.
    pub(super) fn rank(
        &mut self,
        system: &str,
        queries: &[Query],
        years: YearFilter,
    ) -> anyhow::Result<Rankings> {
        let key = (system.to_owned(), years, queries.to_vec());
        if let Some(rankings) = self.rankings.get(&key) {
            return Ok(rankings.clone());
        }
        let experiment = self.experiment;
        let spec = experiment.systems.iter().find(|spec| spec.name == system);
        let spec = spec.with_context(|| format!("there is no system {system}"))?;
        (self.progress)(system);
        let rankings = match &spec.ranks {
            SystemKind::Bm25 { text, k1, b } => self.bm25(*text, *k1, *b, queries),
            SystemKind::TunedBm25 { text } => self.tuned_bm25(*text, queries, years),
            SystemKind::Dense { text, trained } => self.dense(trained, *text, queries),
            SystemKind::Neighbors {
                by,
                k,
                later,
                trained,
            } => self.neighbors(*by, *k, *later, trained, queries),
            SystemKind::Home(spec) => self.home(spec, queries, years),
            SystemKind::Fusion {
                of,
                weights,
                method,
            } => self.fusion(of, weights, *method, queries, years),
            SystemKind::Prior { on, weight } => self.prior(on, *weight, queries, years),
        };
        let rankings = rankings.with_context(|| system.to_owned())?;
        let kept: Rankings = rankings
            .into_iter()
            .zip(queries)
            .map(|(one, query)| self.filter_by_year(&one, query, years))
            .collect();
        self.rankings.insert(key, kept.clone());
        Ok(kept)
    }

    /// Filters a ranking by year, then cuts it off. DataFinder cuts off first, so some topics keep fewer results.
    fn filter_by_year(&self, ranking: &Ranking, query: &Query, years: YearFilter) -> Ranking {
        let topic = &self.collection.topics[query.topic];
        let kept = ranking
            .iter()
            .filter(|scored| {
                years == YearFilter::All || !self.collection.is_too_late(&scored.id, topic)
            })
            .take(MAX_RANKS)
            .cloned();
        Ranking::from_scores(kept.collect())
    }

    fn index(&mut self, form: TextForm) -> anyhow::Result<&Texts> {
        if !self.indexes.contains_key(&form) {
            let texts: Vec<String> = self
                .collection
                .datasets
                .iter()
                .map(|dataset| dataset.text(form))
                .collect();
            let ids = self
                .collection
                .datasets
                .iter()
                .map(|dataset| dataset.metadata.id.clone());
            let texts = Texts::new(
                ids.zip(texts.iter().map(String::as_str)),
                AnalysisKind::English,
            )?;
            self.indexes.insert(form, texts);
        }
        Ok(&self.indexes[&form])
    }

    fn bm25(
        &mut self,
        form: TextForm,
        k1: f64,
        b: f64,
        queries: &[Query],
    ) -> anyhow::Result<Rankings> {
        // All datasets, because the filter by year follows.
        let depth = self.collection.datasets.len();
        let texts = self.index(form)?;
        let model = Texts::model(&Bm25 {
            k1,
            b,
            ..Bm25::default()
        });
        let ranked = parallel_map(queries.len(), |place| {
            texts.rank(model.as_ref(), &queries[place].text, depth)
        });
        Ok(ranked.into_iter().collect::<Result<_, _>>()?)
    }

    /// Ranks each fold's topics with the parameters that give the topics of all other folds the best mean average
    /// precision.
    fn tuned_bm25(
        &mut self,
        form: TextForm,
        queries: &[Query],
        years: YearFilter,
    ) -> anyhow::Result<Rankings> {
        let folds = Folds::split(&self.collection.qrels, FOLD_COUNT);
        let by_fold: Vec<Option<usize>> = queries
            .iter()
            .map(|query| folds.test_fold(&self.collection.topics[query.topic].id))
            .collect();
        let precision: Metric = "AP".parse()?;
        let mut best = vec![(f64::NEG_INFINITY, Ranking::default()); queries.len()];
        for (k1, b) in K1.into_iter().flat_map(|k1| B.map(|b| (k1, b))) {
            let rankings = self.bm25(form, k1, b, queries)?;
            let kept = rankings
                .iter()
                .zip(queries)
                .map(|(one, query)| self.filter_by_year(one, query, years));
            let kept: Rankings = kept.collect();
            let precisions = self.values(&kept, queries, precision);
            for (place, best) in best.iter_mut().enumerate() {
                let others = precisions
                    .iter()
                    .zip(&by_fold)
                    .filter(|(_, fold)| **fold != by_fold[place]);
                let value = mean(&others.map(|(value, _)| *value).collect::<Vec<_>>());
                if value > best.0 {
                    *best = (value, kept[place].clone());
                }
            }
        }
        Ok(best.into_iter().map(|(_, ranking)| ranking).collect())
    }

    /// Returns the values of a measure in the order of the queries.
    pub(super) fn values(
        &self,
        rankings: &[Ranking],
        queries: &[Query],
        measure: Metric,
    ) -> Vec<f64> {
        let mut values = Vec::with_capacity(queries.len());
        for (ranking, query) in rankings.iter().zip(queries) {
            let topic = &self.collection.topics[query.topic];
            values.push(measure.evaluate(&self.collection.qrels, &topic.id, ranking));
        }
        values
    }

    fn encode(
        &mut self,
        model: &Model,
        side: Side,
        texts: &[String],
        what: &str,
    ) -> anyhow::Result<DenseRows> {
        if !self.opened.contains_key(model) {
            let encoder = (self.encoders)(Granularity::Text, model.as_deref())?;
            self.opened.insert(model.clone(), encoder.into());
        }
        encode(
            self.opened[model].as_ref(),
            side,
            texts,
            self.home,
            &|done| (self.progress)(&format!("{what}: {done} of {} texts encoded", texts.len())),
        )
    }

    fn encode_queries(&mut self, model: &Model, queries: &[Query]) -> anyhow::Result<DenseRows> {
        let texts: Vec<String> = queries.iter().map(|query| query.text.clone()).collect();
        self.encode(model, Side::Queries, &texts, "queries")
    }

    fn dense(
        &mut self,
        model: &Model,
        form: TextForm,
        queries: &[Query],
    ) -> anyhow::Result<Rankings> {
        let datasets = &self.collection.datasets;
        let key = (model.clone(), form);
        if !self.vectors.contains_key(&key) {
            let texts: Vec<String> = datasets.iter().map(|dataset| dataset.text(form)).collect();
            let vectors = self.encode(model, Side::Passages, &texts, "datasets")?;
            self.vectors.insert(key.clone(), vectors);
        }
        let (encoded, vectors) = (self.encode_queries(model, queries)?, &self.vectors[&key]);
        Ok(parallel_map(queries.len(), |place| {
            // A query without words has no results.
            if queries[place].text.is_empty() {
                return Ranking::from_scores(Vec::new());
            }
            let mut results = Vec::with_capacity(datasets.len());
            for (dataset, row) in datasets.iter().zip(vectors.iter()) {
                let likeness = dot(encoded.row(place), row);
                results.push(with_score(&dataset.metadata.id, likeness));
            }
            Ranking::from_scores(results)
        }))
    }

    /// Scores each dataset by the sum of similarities of the nearest papers that name it. The similarity is 1 minus
    /// half the squared distance: the cosine of vectors of length 1. DataFinder's script uses the distance as score, so
    /// that the farthest papers count most.
    fn neighbors(
        &mut self,
        by: PaperSimilarity,
        k: usize,
        later: bool,
        model: &Model,
        queries: &[Query],
    ) -> anyhow::Result<Rankings> {
        match by {
            PaperSimilarity::TfIdf => self.learn_words(),
            PaperSimilarity::Encoder => self.encode_examples(model)?,
        }
        let nearest = match by {
            PaperSimilarity::TfIdf => self.nearest_by_words(k, later, queries),
            PaperSimilarity::Encoder => self.nearest_by_vectors(k, later, model, queries)?,
        };
        Ok(nearest.iter().map(|papers| self.vote(papers)).collect())
    }

    /// Returns the nearest papers of each query by TF-IDF. A query without a known word is equally far from all papers
    /// and gets none.
    fn nearest_by_words(&self, k: usize, later: bool, queries: &[Query]) -> Vec<Vec<Neighbor>> {
        let Some((model, rows)) = &self.words else {
            return vec![Vec::new(); queries.len()];
        };
        let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
        let words = model.transform(&texts);
        parallel_map(queries.len(), |place| {
            let row = words.row(place);
            if row.columns.is_empty() {
                return Vec::new();
            }
            rows.nearest_among(row, k, |example| {
                self.may_vote(example, &queries[place], later)
            })
        })
    }

    /// Returns the nearest papers of each query by vectors. A query without text gets none.
    fn nearest_by_vectors(
        &mut self,
        k: usize,
        later: bool,
        model: &Model,
        queries: &[Query],
    ) -> anyhow::Result<Vec<Vec<Neighbor>>> {
        let encoded = self.encode_queries(model, queries)?;
        let examples = &self.examples[model];
        Ok(parallel_map(queries.len(), |place| {
            if queries[place].text.is_empty() {
                return Vec::new();
            }
            examples.nearest_among(encoded.row(place), k, |example| {
                self.may_vote(example, &queries[place], later)
            })
        }))
    }

    /// Returns true if an example is not newer than the query, or if `later` accepts newer ones. Unknown years are
    /// accepted.
    fn may_vote(&self, example: usize, query: &Query, later: bool) -> bool {
        let years = self.collection.examples[example]
            .year
            .zip(self.collection.topics[query.topic].year);
        later || years.is_none_or(|(example, query)| example <= query)
    }

    fn learn_words(&mut self) {
        if self.words.is_none() {
            let texts: Vec<&str> = self
                .collection
                .examples
                .iter()
                .map(|example| example.text.as_str())
                .collect();
            let options = TfIdfOptions {
                min_df: DocumentFrequency::Count(2),
                ..TfIdfOptions::default()
            };
            let model = TfIdf::fit(&texts, options);
            let rows = model.transform(&texts);
            self.words = Some((model, rows));
        }
    }

    fn encode_examples(&mut self, model: &Model) -> anyhow::Result<()> {
        if !self.examples.contains_key(model) {
            let texts: Vec<String> = self
                .collection
                .examples
                .iter()
                .map(|example| example.text.clone())
                .collect();
            // Papers are compared with queries, so they are encoded like them.
            let vectors = self.encode(model, Side::Queries, &texts, "papers")?;
            self.examples.insert(model.clone(), vectors);
        }
        Ok(())
    }

    /// Ranks the datasets of the nearest papers by their sums of similarities.
    fn vote(&self, nearest: &[Neighbor]) -> Ranking {
        let mut votes = BTreeMap::<&DatasetId, f64>::new();
        for neighbor in nearest {
            let likeness = 1.0 - 0.5 * f64::from(neighbor.distance).powi(2);
            for id in &self.collection.examples[neighbor.row].datasets {
                *votes.entry(id).or_default() += likeness;
            }
        }
        let known = votes
            .into_iter()
            .filter(|(id, likeness)| *likeness > 0.0 && self.collection.place(id).is_some());
        Ranking::from_scores(
            known
                .map(|(id, likeness)| with_score(id, likeness))
                .collect(),
        )
    }

    /// Ranks with the home's own search: sparse models, and vectors of all datasets if requested, fused with the given
    /// weights or equal ones.
    fn home(
        &self,
        spec: &HomeSpec,
        queries: &[Query],
        years: YearFilter,
    ) -> anyhow::Result<Rankings> {
        let searcher = self.searcher(spec)?;
        let mut rankings = Vec::with_capacity(queries.len());
        for query in queries {
            let filter = Filter {
                until: self.collection.topics[query.topic]
                    .year
                    .filter(|_| years == YearFilter::Known),
                ..Filter::default()
            };
            rankings.push(searcher.rank_filtered(&query.text, &filter, MAX_RANKS)?);
        }
        Ok(rankings)
    }

    fn searcher(&self, spec: &HomeSpec) -> anyhow::Result<Searcher> {
        let searcher = Searcher::open(self.home)?;
        if let ([model], 0) = (&spec.pool[..], spec.dense) {
            return Ok(searcher.with_model(model.model(LengthMode::Exact)));
        }
        let encoders = if spec.dense > 0 {
            vec![(self.encoders)(Granularity::Text, None)?]
        } else {
            Vec::new()
        };
        let fusion = Some(WeightedFusion {
            method: "combsum".parse()?,
            weights: spec.weights.clone(),
        });
        let [dense, works] = [spec.dense, spec.works].map(NonZeroUsize::new);
        ensure!(
            spec.long_queries.is_none() || spec.works > 0 && !spec.weights.is_empty(),
            "`long_queries` needs `works` and `weights`"
        );
        let long_queries = spec
            .long_queries
            .map(|(works, works_weight)| LongQueryOptions {
                works,
                works_weight,
            });
        let options = RerankOptions {
            pool: spec.pool.clone(),
            depth: spec.depth,
            dense,
            fusion,
            works,
            long_queries,
            ..RerankOptions::default()
        };
        Ok(searcher.with_reranker(Reranker::open(self.home, encoders, options)?))
    }

    fn fusion(
        &mut self,
        of: &[String],
        weights: &[f64],
        method: Method,
        queries: &[Query],
        years: YearFilter,
    ) -> anyhow::Result<Rankings> {
        let mut parts = Vec::with_capacity(of.len());
        for name in of {
            let rankings = self.rank(name, queries, years)?;
            parts.push(
                rankings
                    .into_iter()
                    .map(|ranking| ranking.cut(MAX_FUSED_RESULTS))
                    .collect::<Rankings>(),
            );
        }
        let fusion = Fusion::default().with_method(method);
        let mut fused = Vec::with_capacity(queries.len());
        for place in 0..queries.len() {
            let weighted: Vec<_> = parts
                .iter()
                .map(|part| &part[place])
                .zip(weights.iter().copied())
                .collect();
            fused.push(fusion.fuse(&weighted));
        }
        Ok(fused)
    }

    fn prior(
        &mut self,
        on: &str,
        weight: f64,
        queries: &[Query],
        years: YearFilter,
    ) -> anyhow::Result<Rankings> {
        let rankings = self.rank(on, queries, years)?;
        let mut raised = Vec::with_capacity(rankings.len());
        for ranking in &rankings {
            let scores = ranking.iter().map(|one| {
                with_score(
                    &one.id,
                    one.score + weight * self.popularity(&one.id).ln_1p(),
                )
            });
            raised.push(Ranking::from_scores(scores.collect()));
        }
        Ok(raised)
    }

    /// Returns the popularity of a dataset, 0 for datasets outside the collection.
    fn popularity(&self, id: &DatasetId) -> f64 {
        match self.collection.place(id) {
            Some(place) => self.collection.datasets[place].popularity() as f64,
            None => 0.0,
        }
    }
}

/// Computes the inner product.
fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter()
        .zip(other)
        .map(|(one, other)| f64::from(*one) * f64::from(*other))
        .sum()
}

/// Checks that a home has the datasets of the experiment, with the analysis that it expects.
fn check_home(searcher: &Searcher, home: &Path, collection: &Collection) -> anyhow::Result<()> {
    let analysis = searcher.catalog().analysis()?;
    ensure!(
        analysis == AnalysisKind::Multilingual,
        "the home's analysis is {analysis} instead of multilingual: run `lodeseek index --analysis multilingual`"
    );
    let found = searcher.catalog().len()?;
    let expected = collection.datasets.len();
    ensure!(
        found == expected as u64,
        "the home {} has {found} datasets instead of {expected}: load the catalogue of the experiment",
        home.display()
    );
    Ok(())
}
