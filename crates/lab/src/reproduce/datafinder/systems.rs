//! What ranks the topics.

use super::collection::Collection;
use super::vectors::{Side, encode};
use super::{DataFinder, DataFinderProgress, Nearness, Rankings, SystemKind, TextForm, View, Years, scored};
use crate::neighbors::{DenseRows, DocumentFrequency, Neighbor, Rows, SparseRows, TfIdf, TfIdfOptions, each};
use crate::reproduce::Encoders;
use anyhow::{Context, ensure};
use lodeseek_engine::{AnalysisKind, Filter, RerankOptions, Reranker, Searcher, Texts, WeightedFusion};
use lodeseek_eval::{Folds, Metric, QueryForm, mean};
use lodeseek_index::sparse::{Bm25, LengthMode, ModelKind};
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rerank::{Encoder, Fusion, Granularity, Method};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ranks that are judged.
const DEPTH: usize = 1000;
/// Of each ranking, what takes part in a fusion.
const FUSED: usize = 100;
/// What tuning tries: k₁, and b.
const K1: [f64; 6] = [0.2, 0.4, 0.8, 1.2, 1.6, 2.0];
const B: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
const FOLDS: usize = 5;

/// A topic's words, or some of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Query {
    /// The place of the topic.
    pub(super) topic: usize,
    pub(super) text: String,
}

/// A model: its folder among trained ones, or the one that the command line names.
type Model = Option<PathBuf>;

/// What an experiment works with; texts are indexed and encoded once, rankings made once.
pub(super) struct Laboratory<'l> {
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
    known: BTreeMap<(String, Years, Vec<Query>), Rankings>,
}

impl<'l> Laboratory<'l> {
    pub(super) fn new(
        experiment: &'l DataFinder,
        collection: &'l Collection,
        home: &'l Path,
        encoders: &'l Encoders<'l>,
        progress: &'l DataFinderProgress<'l>,
    ) -> anyhow::Result<Self> {
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
            known: BTreeMap::new(),
        })
    }

    /// The topics in a form.
    pub(super) fn queries(&self, form: QueryForm) -> Vec<Query> {
        let topics = self.collection.topics.iter().enumerate();
        topics.map(|(topic, one)| Query { topic, text: one.text(form).to_owned() }).collect()
    }

    /// How a system ranks the topics of a table.
    pub(super) fn view(&mut self, system: &str, view: View) -> anyhow::Result<Rankings> {
        let queries = self.queries(view.form);
        self.rank(system, &queries, view.years)
    }

    /// How a system ranks queries.
    pub(super) fn rank(&mut self, system: &str, queries: &[Query], years: Years) -> anyhow::Result<Rankings> {
        let key = (system.to_owned(), years, queries.to_vec());
        if let Some(rankings) = self.known.get(&key) {
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
            SystemKind::Neighbors { by, k, later, trained } => self.neighbors(*by, *k, *later, trained, queries),
            SystemKind::Home { pool, depth, dense, weights } => {
                self.home(pool, *depth, *dense, weights, queries, years)
            }
            SystemKind::Fusion { of, weights, method } => self.fusion(of, weights, *method, queries, years),
            SystemKind::Prior { on, weight } => self.prior(on, *weight, queries, years),
        };
        let rankings = rankings.with_context(|| system.to_owned())?;
        let kept: Rankings =
            rankings.into_iter().zip(queries).map(|(one, query)| self.kept(&one, query, years)).collect();
        self.known.insert(key, kept.clone());
        Ok(kept)
    }

    /// What the filter lets through, the filter before the cut: DataFinder cut first, so that some topics kept fewer.
    fn kept(&self, ranking: &Ranking, query: &Query, years: Years) -> Ranking {
        let topic = &self.collection.topics[query.topic];
        let passes = |id: &DatasetId| years == Years::All || !self.collection.is_too_late(id, topic);
        let kept = ranking.iter().filter(|scored| passes(&scored.id)).take(DEPTH).cloned();
        Ranking::from_scores(kept.collect())
    }

    fn index(&mut self, form: TextForm) -> anyhow::Result<&Texts> {
        if !self.indexes.contains_key(&form) {
            let texts: Vec<String> = self.collection.datasets.iter().map(|dataset| dataset.text(form)).collect();
            let ids = self.collection.datasets.iter().map(|dataset| dataset.metadata.id.clone());
            let texts = Texts::new(ids.zip(texts.iter().map(String::as_str)), AnalysisKind::English)?;
            self.indexes.insert(form, texts);
        }
        Ok(&self.indexes[&form])
    }

    fn bm25(&mut self, form: TextForm, k1: f64, b: f64, queries: &[Query]) -> anyhow::Result<Rankings> {
        let depth = self.collection.datasets.len();
        let texts = self.index(form)?;
        let model = Texts::model(&Bm25 { k1, b, ..Bm25::default() });
        let ranked = each(queries.len(), |place| texts.rank(model.as_ref(), &queries[place].text, depth));
        Ok(ranked.into_iter().collect::<Result<_, _>>()?)
    }

    /// Each fold's topics are ranked with what gave the topics of all other folds the best mean average precision.
    fn tuned_bm25(&mut self, form: TextForm, queries: &[Query], years: Years) -> anyhow::Result<Rankings> {
        let folds = Folds::split(&self.collection.qrels, FOLDS);
        let fold_of = |query: &Query| folds.test_fold(&self.collection.topics[query.topic].id);
        let by_fold: Vec<Option<usize>> = queries.iter().map(fold_of).collect();
        let precision: Metric = "AP".parse()?;
        let mut best = vec![(f64::NEG_INFINITY, Ranking::default()); queries.len()];
        for (k1, b) in K1.into_iter().flat_map(|k1| B.map(|b| (k1, b))) {
            let rankings = self.bm25(form, k1, b, queries)?;
            let kept = rankings.iter().zip(queries).map(|(one, query)| self.kept(one, query, years));
            let kept: Rankings = kept.collect();
            let precisions = self.values(&kept, queries, precision);
            for (place, best) in best.iter_mut().enumerate() {
                let others = precisions.iter().zip(&by_fold).filter(|(_, fold)| **fold != by_fold[place]);
                let value = mean(&others.map(|(value, _)| *value).collect::<Vec<_>>());
                if value > best.0 {
                    *best = (value, kept[place].clone());
                }
            }
        }
        Ok(best.into_iter().map(|(_, ranking)| ranking).collect())
    }

    /// The values of a measure, in the order of the queries.
    pub(super) fn values(&self, rankings: &[Ranking], queries: &[Query], measure: Metric) -> Vec<f64> {
        let id = |query: &Query| &self.collection.topics[query.topic].id;
        let of = |(ranking, query)| measure.evaluate(&self.collection.qrels, id(query), ranking);
        rankings.iter().zip(queries).map(of).collect()
    }

    fn encode(&mut self, model: &Model, side: Side, texts: &[String], what: &str) -> anyhow::Result<DenseRows> {
        if !self.opened.contains_key(model) {
            let encoder = (self.encoders)(Granularity::Text, model.as_deref())?;
            self.opened.insert(model.clone(), encoder.into());
        }
        let told = |done: usize| (self.progress)(&format!("{what}: {done} of {} texts encoded", texts.len()));
        encode(self.opened[model].as_ref(), side, texts, self.home, &told)
    }

    fn encode_queries(&mut self, model: &Model, queries: &[Query]) -> anyhow::Result<DenseRows> {
        let texts: Vec<String> = queries.iter().map(|query| query.text.clone()).collect();
        self.encode(model, Side::Queries, &texts, "queries")
    }

    fn dense(&mut self, model: &Model, form: TextForm, queries: &[Query]) -> anyhow::Result<Rankings> {
        let datasets = &self.collection.datasets;
        let key = (model.clone(), form);
        if !self.vectors.contains_key(&key) {
            let texts: Vec<String> = datasets.iter().map(|dataset| dataset.text(form)).collect();
            let vectors = self.encode(model, Side::Passages, &texts, "datasets")?;
            self.vectors.insert(key.clone(), vectors);
        }
        let (asked, vectors) = (self.encode_queries(model, queries)?, &self.vectors[&key]);
        let rank = |place: usize| {
            // Nothing was asked where there are no words.
            let ids = datasets.iter().filter(|_| !queries[place].text.is_empty());
            let likeness = |row: &[f32]| dot(asked.row(place), row);
            Ranking::from_scores(
                ids.zip(vectors.iter()).map(|(dataset, row)| scored(&dataset.metadata.id, likeness(row))).collect(),
            )
        };
        Ok(each(queries.len(), rank))
    }

    /// Every dataset of the nearest papers scores the sum of their likenesses: 1 minus half the squared distance, the cosine
    /// of vectors at length 1. (DataFinder's script writes distances as scores, so that the farthest count most.)
    fn neighbors(
        &mut self,
        by: Nearness,
        k: usize,
        later: bool,
        model: &Model,
        queries: &[Query],
    ) -> anyhow::Result<Rankings> {
        match by {
            Nearness::TfIdf => self.learn_words(),
            Nearness::Encoder => self.encode_examples(model)?,
        }
        let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
        let (words, asked) = match (by, &self.words) {
            (Nearness::TfIdf, Some((model, _))) => (Some(model.transform(&texts)), None),
            _ => (None, Some(self.encode_queries(model, queries)?)),
        };
        let examples = self.examples.get(model);
        let rank = |place: usize| {
            let year = self.collection.topics[queries[place].topic].year;
            let is_earlier = |example: usize| {
                later || self.collection.examples[example].year.zip(year).is_none_or(|(own, asked)| own <= asked)
            };
            let nearest = match (&words, &self.words, &asked, examples) {
                (Some(asked), Some((_, rows)), ..) => rows.nearest_among(asked.row(place), k, is_earlier),
                (_, _, Some(asked), Some(rows)) => rows.nearest_among(asked.row(place), k, is_earlier),
                _ => Vec::new(),
            };
            // A query without a known word is equally far from all: it has no neighbours.
            let says_nothing = words.as_ref().is_some_and(|asked| asked.row(place).columns.is_empty());
            if says_nothing || queries[place].text.is_empty() { Ranking::default() } else { self.voted(&nearest) }
        };
        Ok(each(queries.len(), rank))
    }

    fn learn_words(&mut self) {
        if self.words.is_none() {
            let texts: Vec<&str> = self.collection.examples.iter().map(|example| example.text.as_str()).collect();
            let options = TfIdfOptions { min_df: DocumentFrequency::Count(2), ..TfIdfOptions::default() };
            let model = TfIdf::fit(&texts, options);
            let rows = model.transform(&texts);
            self.words = Some((model, rows));
        }
    }

    fn encode_examples(&mut self, model: &Model) -> anyhow::Result<()> {
        if !self.examples.contains_key(model) {
            let texts: Vec<String> = self.collection.examples.iter().map(|example| example.text.clone()).collect();
            let vectors = self.encode(model, Side::Queries, &texts, "papers")?;
            self.examples.insert(model.clone(), vectors);
        }
        Ok(())
    }

    fn voted(&self, nearest: &[Neighbor]) -> Ranking {
        let mut votes = BTreeMap::<&DatasetId, f64>::new();
        for neighbor in nearest {
            let likeness = 1.0 - 0.5 * f64::from(neighbor.distance).powi(2);
            for id in &self.collection.examples[neighbor.row].datasets {
                *votes.entry(id).or_default() += likeness;
            }
        }
        let known = votes.into_iter().filter(|(id, likeness)| *likeness > 0.0 && self.collection.place(id).is_some());
        Ranking::from_scores(known.map(|(id, likeness)| scored(id, likeness)).collect())
    }

    /// The home's own search: the models of words, and vectors of all datasets where wanted, fused with equal weights.
    fn home(
        &self,
        pool: &[ModelKind],
        depth: usize,
        dense: usize,
        weights: &[f64],
        queries: &[Query],
        years: Years,
    ) -> anyhow::Result<Rankings> {
        let searcher = self.searcher(pool, depth, dense, weights)?;
        let found = searcher.len()?;
        let expected = self.collection.datasets.len();
        ensure!(found == expected as u64, "{}: {found} datasets instead of {expected}", self.home.display());
        let rank = |query: &Query| {
            let until = self.collection.topics[query.topic].year.filter(|_| years == Years::Known);
            searcher.rank_filtered(&query.text, &Filter { until, ..Filter::default() }, DEPTH)
        };
        Ok(queries.iter().map(rank).collect::<Result<_, _>>()?)
    }

    fn searcher(&self, pool: &[ModelKind], depth: usize, dense: usize, weights: &[f64]) -> anyhow::Result<Searcher> {
        let searcher = Searcher::open(self.home)?;
        let analysis = searcher.analysis()?;
        ensure!(
            analysis == AnalysisKind::Multilingual,
            "the home's analysis is {analysis}: `lodeseek index --analysis multilingual`"
        );
        if let ([model], 0) = (pool, dense) {
            return Ok(searcher.with_model(model.model(LengthMode::Exact)));
        }
        let encoders = if dense > 0 { vec![(self.encoders)(Granularity::Text, None)?] } else { Vec::new() };
        let fusion = Some(WeightedFusion { method: "combsum".parse()?, weights: weights.to_vec() });
        let dense = NonZeroUsize::new(dense);
        let options = RerankOptions { pool: pool.to_vec(), depth, dense, fusion, ..RerankOptions::default() };
        Ok(searcher.with_reranker(Reranker::open(self.home, encoders, options)?))
    }

    fn fusion(
        &mut self,
        of: &[String],
        weights: &[f64],
        method: Method,
        queries: &[Query],
        years: Years,
    ) -> anyhow::Result<Rankings> {
        let mut parts = Vec::with_capacity(of.len());
        for name in of {
            let rankings = self.rank(name, queries, years)?;
            parts.push(rankings.into_iter().map(|ranking| ranking.cut(FUSED)).collect::<Rankings>());
        }
        let fusion = Fusion::default().with_method(method);
        let fuse = |place: usize| {
            let weighted: Vec<_> = parts.iter().map(|part| &part[place]).zip(weights.iter().copied()).collect();
            fusion.fuse(&weighted)
        };
        Ok((0..queries.len()).map(fuse).collect())
    }

    fn prior(&mut self, on: &str, weight: f64, queries: &[Query], years: Years) -> anyhow::Result<Rankings> {
        let rankings = self.rank(on, queries, years)?;
        let of = |id: &DatasetId| self.collection.place(id).map(|place| self.collection.datasets[place].popularity());
        let raised = |one: &Scored| scored(&one.id, one.score + weight * (of(&one.id).unwrap_or(0) as f64).ln_1p());
        let with = |ranking: &Ranking| Ranking::from_scores(ranking.iter().map(raised).collect());
        Ok(rankings.iter().map(with).collect())
    }
}

/// The inner product.
fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
}
