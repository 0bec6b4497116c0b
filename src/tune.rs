//! `lodeseek tune`: learns how the rankings of a home are fused, and writes a significant gain into the configuration.

use super::ExitStatus;
use super::config::Config;
use super::encoder::{EncoderArguments, RerankArguments, WorksUse};
use super::filter::topic_filter;
use super::ranking::{Choice, FusionSettings};
use super::terminal::{bar, counted};
use anyhow::{Context, bail, ensure};
use lodeseek_catalog::DatasetId;
use lodeseek_cli::streams::report_output;
use lodeseek_engine::{ComponentRankings, RerankOptions, Searcher};
use lodeseek_eval::mean;
use lodeseek_eval::{
    CoordinateSearch, Differences, Folds, Grades, Metric, Qrels, SignificanceTest, Start, Topic,
    Topics,
};
use lodeseek_index::sparse::ModelKind;
use lodeseek_ranking::Ranking;
use lodeseek_rerank::Granularity;
use lodeseek_rerank::fusion::Pool;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Pools to choose from. The first is the default.
const POOLS: [&[ModelKind]; 3] = [
    &[ModelKind::Fsdm, ModelKind::Bm25],
    &[ModelKind::Bm25],
    &[ModelKind::Fsdm, ModelKind::Bm25, ModelKind::Lmd],
];
/// Largest weight of popularity. Fused scores of the best datasets differ by tenths.
const MAX_POPULARITY: f64 = 0.2;
/// Name of the table in the configuration.
const TABLE: &str = "fusion";
/// Significance level: a gain with a p value of this or more may be chance.
const MAX_P_VALUE: f64 = 0.05;
/// Minimum number of judged queries: with fewer, what is learned is chance.
const MIN_TOPICS: usize = 10;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Topics, one a line: id, tab, text, and optionally a tab and a year. Needs --qrels.
    #[arg(long, value_name = "FILE", requires = "qrels")]
    topics: Option<PathBuf>,
    /// Judgements in TREC format.
    #[arg(long, value_name = "FILE", requires = "topics")]
    qrels: Option<PathBuf>,
    /// Clicks, one a line: query, tab, id of the dataset. A dataset that was clicked counts as relevant to its query.
    #[arg(long, value_name = "FILE", conflicts_with = "topics")]
    clicks: Option<PathBuf>,
    /// Number of folds of the cross-validation.
    #[arg(long, value_name = "N", default_value = "5")]
    folds: usize,
    /// Measure that is maximised.
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    objective: Metric,
    /// Report only: do not change lodeseek.toml.
    #[arg(long)]
    dry_run: bool,
    /// Write a gain that is not significant as well (p of .05 or more).
    #[arg(long, conflicts_with = "dry_run")]
    accept: bool,
    #[command(flatten)]
    encoders: EncoderArguments,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let (topics, qrels) = arguments.judgements()?;
    let judged = qrels
        .topics()
        .filter(|topic| topics.0.iter().any(|one| one.id == *topic))
        .count();
    ensure!(
        judged >= MIN_TOPICS,
        "{} with judgements are too few to learn from: give at least {MIN_TOPICS}",
        counted(judged, "query")
    );
    let possible = (3..=judged).contains(&arguments.folds);
    ensure!(
        possible,
        "cannot make {} folds of {judged} queries: use a number from 3 to {judged}",
        arguments.folds
    );
    // A configuration that cannot be changed is an error before the search, not after it.
    if !arguments.dry_run {
        Config::check_table(home, TABLE)?;
    }
    // The learned fusion replaces the configured one, so it is compared with the default of the program.
    let choice =
        Choice::new(home, config, Some(&arguments.encoders), None)?.without_fusion_settings();
    let mut candidates = Vec::with_capacity(POOLS.len());
    for pool in POOLS {
        candidates.push(PoolSamples::new(home, &choice, pool, &topics, &qrels)?);
    }
    let folds = Folds::split(
        &qrels.only(topics.0.iter().map(|topic| topic.id.as_str())),
        arguments.folds,
    );
    let tuning = Tuning {
        pools: &candidates,
        objective: arguments.objective,
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for fold in &folds.0 {
        let learned = tuning.learn(fold.train.topics().chain(fold.valid.topics()));
        for topic in fold.test.topics() {
            before.push(tuning.default_value(topic, &topics, &qrels)?);
            after.push(tuning.value(&learned, topic));
        }
    }
    // The folds only measure the gain; what is written is learned from all queries.
    let learned = tuning.learn(qrels.topics());
    let differences = Differences::new(
        after
            .iter()
            .zip(&before)
            .map(|(after, before)| after - before),
    );
    let p = SignificanceTest::default().p(&differences);
    let mut out = report_output();
    writeln!(
        out,
        "{} of {}: default {:.4}, learned {:.4} (cross-validated, {} folds), p = {p:.3}",
        arguments.objective,
        counted(before.len(), "query"),
        mean(&before),
        mean(&after),
        arguments.folds,
    )?;
    let table = tuning.describe(&learned);
    let names = candidates[learned.pool].names.join(", ");
    writeln!(out, "rankings: {names}")?;
    for (key, value) in &table {
        writeln!(out, "fusion.{key} = \"{value}\"")?;
    }
    if differences.mean() <= 0.0 {
        writeln!(
            out,
            "what is learned ranks unseen queries no better: the configuration is unchanged"
        )?;
        return Ok(ExitStatus::NoResult);
    }
    if arguments.dry_run {
        return Ok(ExitStatus::Success);
    }
    if p >= MAX_P_VALUE && !arguments.accept {
        writeln!(
            out,
            "the gain may be chance (p = {p:.3}): the configuration is unchanged; --accept writes it"
        )?;
        return Ok(ExitStatus::NoResult);
    }
    let path = Config::write_table(
        home,
        TABLE,
        &format!("Learned by `lodeseek tune`; weights of {names}."),
        &table,
    )?;
    writeln!(
        out,
        "written to {}; a running server uses it after a restart",
        path.display()
    )?;
    Ok(ExitStatus::Success)
}

impl Arguments {
    /// Reads topics and judgements, or clicks as both.
    fn judgements(&self) -> anyhow::Result<(Topics, Qrels)> {
        match (&self.topics, &self.qrels, &self.clicks) {
            (Some(topics), Some(qrels), _) => Ok((Topics::read(topics)?, Qrels::read(qrels)?)),
            (_, _, Some(clicks)) => read_clicks(clicks),
            _ => bail!(
                "no judged queries are given; name them with --topics and --qrels, or with --clicks"
            ),
        }
    }
}

/// Reads a file of `query<TAB>id` lines: each distinct query is a topic, and its clicked datasets are relevant.
fn read_clicks(path: &Path) -> anyhow::Result<(Topics, Qrels)> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut by_query: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let columns = line
            .split_once('\t')
            .map(|(query, id)| (query.trim().to_lowercase(), id.trim()));
        let Some((query, id)) = columns.filter(|(query, id)| !query.is_empty() && !id.is_empty())
        else {
            bail!(
                "{}:{}: a query, a tab and the id of a dataset are expected",
                path.display(),
                number + 1
            );
        };
        by_query.entry(query).or_default().insert(id);
    }
    let (mut topics, mut qrels) = (Topics::default(), Qrels::default());
    for (place, (query, ids)) in by_query.into_iter().enumerate() {
        let id = format!("click{place:06}");
        ids.into_iter()
            .for_each(|clicked| qrels.insert(&id, clicked, 1));
        topics.0.push(Topic {
            id,
            text: query,
            year: None,
        });
    }
    Ok((topics, qrels))
}

/// Weights of the rankings of a pool, and of popularity.
#[derive(Clone, Debug)]
struct Learned {
    /// Index of the pool.
    pool: usize,
    weights: Vec<f64>,
    popularity: f64,
    /// Mean of the measure over the queries from which it was learned.
    value: f64,
}

impl Learned {
    /// Converts a point of the search: a weight for each ranking, and perhaps the share of popularity.
    fn at(pool: usize, rankings: usize, point: &[f64]) -> Self {
        Self {
            pool,
            weights: point[..rankings].to_vec(),
            // The grid of the search has values from 0 to 1.
            popularity: match point.get(rankings) {
                Some(share) => share * MAX_POPULARITY,
                None => 0.0,
            },
            value: 0.0,
        }
    }
}

/// The candidates of all queries with one pool.
struct PoolSamples {
    models: &'static [ModelKind],
    /// Names of the fused rankings.
    names: Vec<String>,
    /// Weights of the default fusion.
    defaults: Vec<f64>,
    has_popularity: bool,
    /// Ranks by the pool with the defaults of the program.
    searcher: Searcher,
    samples: BTreeMap<String, Sample>,
}

/// The candidates of a query, prepared for thousands of evaluations.
struct Sample {
    pool: Pool,
    /// Weight of the last ranking of the pool, that of the multilingual encoder, as a share of the sum of the others. It is not tuned.
    multilingual_share: Option<f64>,
    /// ln(1 + popularity) of the pool's datasets, in their order.
    popularity: Vec<f64>,
    /// Grades of the pool's datasets, in their order, and then of the named ones that the pool lacks.
    grades: Vec<Option<i32>>,
    /// Places in `grades` of the datasets that the query names. A search returns them first.
    named: Vec<usize>,
    /// All grades, best first.
    judged: Vec<i32>,
}

impl PoolSamples {
    fn new(
        home: &Path,
        choice: &Choice,
        models: &'static [ModelKind],
        topics: &Topics,
        qrels: &Qrels,
    ) -> anyhow::Result<Self> {
        let opened = choice.open_for(home)?;
        ensure!(
            !opened.encoders.is_empty(),
            "the home has only rankings by words, whose fusion is fixed{}",
            opened
                .missing
                .map(|reason| format!(": {reason}"))
                .unwrap_or_default()
        );
        let mut names: Vec<String> = models.iter().map(|kind| kind.name().to_owned()).collect();
        let reranker = RerankArguments::default().reranker_of(
            home,
            choice,
            opened,
            models.to_vec(),
            1,
            WorksUse::AtStart,
        )?;
        let reranker = reranker.context("one ranking needs no fusion")?;
        names.extend(
            reranker
                .encoders()
                .map(|encoder| match encoder.granularity() {
                    Granularity::Text => format!("dpr ({})", encoder.name()),
                    Granularity::Piece => format!("colbert ({})", encoder.name()),
                    Granularity::Term => format!("sparse ({})", encoder.name()),
                }),
        );
        let RerankOptions { fusion, .. } = reranker.options().clone();
        let fusion = fusion.context("one ranking needs no fusion")?;
        let depth = reranker.fusion_depth();
        let searcher = Searcher::open(home)?.with_reranker(reranker);
        let mut defaults = fusion.weights;
        let mut samples = BTreeMap::new();
        let bar = bar(
            topics.0.len() as u64,
            "ranking {bar:30} {pos} of {len} queries",
        );
        let tuning_pool = searcher.tuning_pool();
        for topic in topics.0.iter().filter(|topic| qrels.has(&topic.id)) {
            let filter = topic_filter(topic);
            let rankings = tuning_pool.component_rankings_with_filter(&topic.text, &filter)?;
            let rankings = rankings.unwrap_or_default();
            let ComponentRankings {
                sparse,
                dense,
                works,
                multilingual,
            } = rankings;
            let has_works = works.is_some();
            let mut cut: Vec<Ranking> = sparse
                .into_iter()
                .chain(dense)
                .chain(works)
                .map(|one| one.cut(depth))
                .collect();
            if has_works && names.len() < cut.len() {
                names.push("works".to_owned());
            }
            // No weights stand for equal ones.
            if defaults.is_empty() {
                defaults = vec![1.0; cut.len()];
            }
            let multilingual_share = multilingual.as_ref().map(|one| one.share);
            cut.extend(multilingual.map(|one| one.ranking.cut(depth)));
            let pool = Pool::new(fusion.method, &cut.iter().collect::<Vec<_>>());
            let named = tuning_pool.named_datasets(&topic.text, &filter)?;
            let mut sample = Sample::new(pool, &named, qrels, &topic.id);
            sample.multilingual_share = multilingual_share;
            sample.read_popularity(&searcher)?;
            samples.insert(topic.id.clone(), sample);
            bar.inc(1);
        }
        bar.finish_and_clear();
        let has_popularity = samples
            .values()
            .any(|sample| sample.popularity.iter().any(|value| *value > 0.0));
        Ok(Self {
            models,
            names,
            defaults,
            has_popularity,
            searcher,
            samples,
        })
    }
}

impl Sample {
    /// Creates a sample without a multilingual ranking and without popularity.
    fn new(pool: Pool, named: &[DatasetId], qrels: &Qrels, topic: &str) -> Self {
        let mut grades = Vec::with_capacity(pool.len());
        for document in pool.documents() {
            grades.push(qrels.find_grade(topic, document));
        }
        let mut places = Vec::with_capacity(named.len());
        for id in named {
            let ranked = pool
                .documents()
                .position(|document| document == id.as_str());
            places.push(match ranked {
                Some(place) => place,
                None => grades.len(),
            });
            if ranked.is_none() {
                grades.push(qrels.find_grade(topic, id.as_str()));
            }
        }
        Self {
            multilingual_share: None,
            popularity: vec![0.0; pool.len()],
            grades,
            named: places,
            judged: Grades::judgements(qrels, topic),
            pool,
        }
    }

    /// Reads the popularity of the pool's datasets.
    fn read_popularity(&mut self, searcher: &Searcher) -> anyhow::Result<()> {
        for (document, popularity) in self.pool.documents().zip(&mut self.popularity) {
            let numbers = searcher
                .catalog()
                .numeric_facts(&DatasetId::new(document)?)?
                .unwrap_or_default();
            *popularity = (numbers.popularity() as f64).ln_1p();
        }
        Ok(())
    }

    /// Returns the measure of the ranking by some weights.
    fn value(&self, weights: &[f64], popularity: f64, objective: Metric) -> f64 {
        let ranked = self.rank(weights, popularity);
        let depth = if objective.depth() == 0 {
            ranked.len()
        } else {
            objective.depth()
        };
        let grades: Vec<Option<i32>> = ranked
            .iter()
            .take(depth)
            .map(|place| self.grades[*place])
            .collect();
        objective.evaluate_grades(&grades, &self.judged)
    }

    /// Returns the places of the datasets as a search with some weights ranks them.
    fn rank(&self, weights: &[f64], popularity: f64) -> Vec<usize> {
        let mut weights = weights.to_vec();
        if let Some(share) = self.multilingual_share {
            let others: f64 = weights.iter().sum();
            weights.push(share * others);
        }
        let mut order: Vec<(f64, usize)> = Vec::with_capacity(self.pool.len());
        for (place, score) in self.pool.scores(&weights).into_iter().enumerate() {
            order.extend(score.map(|score| (score + popularity * self.popularity[place], place)));
        }
        // The pool has the order of equal scores.
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (mut ranked, others): (Vec<usize>, Vec<usize>) = order
            .into_iter()
            .map(|(_, place)| place)
            .partition(|place| self.named.contains(place));
        for place in &self.named {
            if !ranked.contains(place) {
                ranked.push(*place);
            }
        }
        ranked.extend(others);
        ranked
    }
}

/// The search for weights.
struct Tuning<'s> {
    pools: &'s [PoolSamples],
    objective: Metric,
}

impl Tuning<'_> {
    /// Returns the default of the program.
    fn default(&self) -> Learned {
        Learned {
            pool: 0,
            weights: self.pools[0].defaults.clone(),
            popularity: 0.0,
            value: 0.0,
        }
    }

    /// Returns the measure of a query.
    fn value(&self, learned: &Learned, topic: &str) -> f64 {
        match self.pools[learned.pool].samples.get(topic) {
            Some(sample) => sample.value(&learned.weights, learned.popularity, self.objective),
            None => 0.0,
        }
    }

    /// Returns the mean of the measure over some queries.
    fn mean_value(&self, learned: &Learned, topics: &[&str]) -> f64 {
        let values = topics.iter().map(|topic| self.value(learned, topic));
        values.sum::<f64>() / topics.len().max(1) as f64
    }

    /// Returns the measure of a query by the defaults of the program, which may depend on the query.
    fn default_value(&self, topic: &str, topics: &Topics, qrels: &Qrels) -> anyhow::Result<f64> {
        let PoolSamples {
            searcher, samples, ..
        } = &self.pools[0];
        let topic = topics.0.iter().find(|one| one.id == topic);
        let Some((topic, sample)) = topic.and_then(|topic| Some((topic, samples.get(&topic.id)?)))
        else {
            return Ok(0.0);
        };
        let ranking =
            searcher.rank_filtered(&topic.text, &topic_filter(topic), sample.grades.len())?;
        Ok(self.objective.evaluate(qrels, &topic.id, &ranking))
    }

    /// Learns from some queries. Among equals, the default and the earlier pool stay.
    fn learn<'t>(&self, topics: impl Iterator<Item = &'t str>) -> Learned {
        let topics: Vec<&str> = topics.collect();
        let mut best: Option<Learned> = None;
        for (place, pool) in self.pools.iter().enumerate() {
            let rankings = pool.names.len();
            let dimensions = rankings + usize::from(pool.has_popularity);
            let mut start = pool.defaults.clone();
            // The default gives no weight to popularity.
            start.resize(dimensions, 0.0);
            let search =
                CoordinateSearch::default().with_starts(vec![Start::At(start), Start::BestAlone]);
            let optimum = search.maximize(
                dimensions,
                &|point: &[f64]| self.mean_value(&Learned::at(place, rankings, point), &topics),
                &|_| (),
            );
            let found = Learned {
                value: optimum.value,
                ..Learned::at(place, rankings, &optimum.weights)
            };
            if best
                .as_ref()
                .is_none_or(|best| found.value > best.value + CoordinateSearch::MIN_GAIN)
            {
                best = Some(found);
            }
        }
        best.unwrap_or_else(|| self.default())
    }

    /// Returns the keys and values of the configuration.
    fn describe(&self, learned: &Learned) -> Vec<(&'static str, String)> {
        let pool = &self.pools[learned.pool];
        let models: Vec<&str> = pool.models.iter().map(|kind| kind.name()).collect();
        let mut table = vec![
            ("pool", models.join(",")),
            ("weights", FusionSettings::text(&learned.weights)),
        ];
        if learned.popularity > 0.0 {
            table.push(("popularity", format!("{:.2}", learned.popularity)));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_ranking::Scored;
    use lodeseek_rerank::{Method, Normalization};

    fn id(name: &str) -> DatasetId {
        DatasetId::new(name).expect("an id")
    }

    fn ranking(scores: &[(&str, f64)]) -> Ranking {
        let mut scored = Vec::new();
        for (name, score) in scores {
            scored.push(Scored {
                id: id(name),
                score: *score,
            });
        }
        Ranking::from_scores(scored)
    }

    /// Returns the names in the order of a sample.
    fn names(sample: &Sample, named: &[&str]) -> Vec<String> {
        let mut all: Vec<String> = sample.pool.documents().map(str::to_owned).collect();
        for name in named {
            if !all.iter().any(|known| known == name) {
                all.push((*name).to_owned());
            }
        }
        sample
            .rank(&[1.0], 0.0)
            .into_iter()
            .map(|place| all[place].clone())
            .collect()
    }

    #[test]
    fn samples_are_ranked_as_searches_are() {
        let words = ranking(&[("oaks", 3.0), ("elms", 2.0), ("firs", 1.0)]);
        let meanings = ranking(&[("firs", 1.0), ("elms", 0.0)]);
        let method = Method::CombSum(Normalization::MinMax);
        let qrels = Qrels::default();
        let alone = Sample::new(Pool::new(method, &[&words]), &[], &qrels, "t");
        assert_eq!(names(&alone, &[]), ["oaks", "elms", "firs"]);
        // Firs have 0 by words, and 1 by meanings, of which the weight is twice that of words.
        let mut both = Sample::new(Pool::new(method, &[&words, &meanings]), &[], &qrels, "t");
        both.multilingual_share = Some(2.0);
        assert_eq!(names(&both, &[]), ["firs", "oaks", "elms"]);
        // Named datasets come first: the ranked one, then the one that no ranking has.
        let named = [id("yews"), id("firs")];
        let sample = Sample::new(Pool::new(method, &[&words]), &named, &qrels, "t");
        assert_eq!(
            names(&sample, &["yews", "firs"]),
            ["firs", "yews", "oaks", "elms"]
        );
    }

    #[test]
    fn the_measure_counts_named_datasets_and_the_multilingual_ranking() {
        let words = ranking(&[("oaks", 2.0), ("elms", 1.0)]);
        let meanings = ranking(&[("firs", 1.0)]);
        let mut qrels = Qrels::default();
        qrels.insert("t", "firs", 1);
        let method = Method::CombSum(Normalization::MinMax);
        let objective: Metric = "nDCG@1".parse().expect("a measure");
        let pool = Pool::new(method, &[&words, &meanings]);
        let mut sample = Sample::new(pool, &[], &qrels, "t");
        assert!(sample.value(&[1.0], 0.0, objective).abs() < 1e-9);
        sample.multilingual_share = Some(2.0);
        assert!((sample.value(&[1.0], 0.0, objective) - 1.0).abs() < 1e-9);
        let named = Sample::new(Pool::new(method, &[&words]), &[id("firs")], &qrels, "t");
        assert!((named.value(&[1.0], 0.0, objective) - 1.0).abs() < 1e-9);
    }
}
