//! Below which score a hit is merely the closest there is: what hits score for queries with an answer in the collection, for
//! queries with none, and for datasets that people judged.
//!
//! A hit counts as found where one encoder at least puts it above its floor, as the engine has it. Floors are chosen and
//! judged on the same queries: the rates are those of this collection, and somewhat flattering.

use super::measure::Spread;
use super::models::{Clocked, GRANULARITIES, default_options, encoded_home, searcher};
use super::queries::likeness;
use super::{Arguments, Failure};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Searcher, vectors_folder};
use lodeseek_eval::{Qrels, Topics};
use lodeseek_index::vectors::{Vectors, VectorsSnapshot, model_folder};
use lodeseek_rerank::encoder::configured_min_similarity;
use lodeseek_rerank::{Combination, Query};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Queries of other worlds, and letters that are no words.
const OFF_TOPIC: &str = include_str!("off_topic.txt");
const THREADS: usize = 2;

/// By the vector of the text, and by those of the pieces for a piece of the query.
type Scores = [f64; 2];

struct Judge {
    searcher: Searcher,
    encoders: Vec<Arc<Clocked>>,
    vectors: Vec<Arc<VectorsSnapshot>>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (model, home) = (arguments.model()?, arguments.home()?);
    let variant = arguments.variant.as_deref().unwrap_or("model.onnx");
    let temporary = tempfile::tempdir()?;
    let keep = arguments.keep.as_deref().unwrap_or(temporary.path());
    let judge = Judge::open(&encoded_home(home, keep, model, variant)?, model, variant)?;
    let topics = Topics::read(arguments.topics()?)?;
    let real = topics
        .0
        .iter()
        .map(|topic| judge.hits(&topic.text))
        .collect::<Result<Vec<_>, _>>()?;
    let other = OFF_TOPIC
        .lines()
        .map(|query| judge.hits(query))
        .collect::<Result<Vec<_>, _>>()?;
    let judged = judge.judged(&topics, &Qrels::read(arguments.qrels()?)?)?;
    println!("{variant}: scores, p5 p50 p95, of DPR, and of ColBERT for a piece of the query");
    tell(
        "best hits, topics",
        &real.iter().map(|hits| best(hits)).collect::<Vec<_>>(),
    );
    tell(
        "best hits, off-topic queries",
        &other.iter().map(|hits| best(hits)).collect::<Vec<_>>(),
    );
    for (grade, scores) in &judged {
        tell(&format!("datasets judged {grade}"), scores);
    }
    let [text, piece] =
        GRANULARITIES.map(|granularity| configured_min_similarity(model, granularity));
    floors(
        &real,
        &other,
        &judged,
        text?.zip(piece?).map(<[f64; 2]>::from),
    );
    for (query, hits) in OFF_TOPIC.lines().zip(&other) {
        let [text, piece] = best(hits);
        println!("  {text:.3} {piece:.3}  {query}");
    }
    Ok(())
}

impl Judge {
    fn open(
        home: &std::path::Path,
        model: &std::path::Path,
        variant: &str,
    ) -> Result<Self, Failure> {
        let encoders = GRANULARITIES
            .iter()
            .map(|granularity| Clocked::open(model, variant, *granularity, THREADS))
            .collect::<Result<Vec<_>, _>>()?;
        let mut vectors = Vec::new();
        for encoder in &encoders {
            let fingerprint = encoder.encoder.fingerprint();
            vectors.push(
                Vectors::open(
                    &model_folder(&vectors_folder(home), fingerprint),
                    fingerprint,
                )?
                .snapshot()?,
            );
        }
        Ok(Self {
            searcher: searcher(home, &encoders, &default_options(THREADS))?,
            encoders,
            vectors,
        })
    }

    fn query(&self, query: &str) -> Result<Vec<Query>, Failure> {
        let of = |encoder: &Arc<Clocked>| {
            let matrix = encoder
                .encoder
                .encode_queries(&[query])?
                .pop()
                .unwrap_or_default();
            Ok(Query::new(&matrix))
        };
        self.encoders.iter().map(of).collect()
    }

    /// The scores of all that a search for the query shows.
    fn hits(&self, query: &str) -> Result<Vec<Scores>, Failure> {
        let asked = self.query(query)?;
        let ranking = self.searcher.rank(query, usize::MAX)?;
        ranking
            .iter()
            .filter_map(|scored| self.score(&asked, &scored.id).transpose())
            .collect()
    }

    fn score(&self, asked: &[Query], id: &DatasetId) -> Result<Option<Scores>, Failure> {
        let mut scores = [f64::NAN; 2];
        for (((score, encoder), vectors), query) in scores
            .iter_mut()
            .zip(&self.encoders)
            .zip(&self.vectors)
            .zip(asked)
        {
            let Some(stored) = vectors.get(id)? else {
                return Ok(None);
            };
            let granularity = encoder.encoder.granularity();
            let [metadata, data] =
                [&stored.metadata, &stored.data].map(|rows| likeness(granularity, query, rows));
            let Some(combined) = Combination::default().combine(metadata, data) else {
                return Ok(None);
            };
            *score = combined / query.rows() as f64;
        }
        Ok(Some(scores))
    }

    /// The scores of judged datasets, by their grades.
    fn judged(
        &self,
        topics: &Topics,
        qrels: &Qrels,
    ) -> Result<BTreeMap<i32, Vec<Scores>>, Failure> {
        let mut judged = BTreeMap::<i32, Vec<Scores>>::new();
        for topic in &topics.0 {
            let asked = self.query(&topic.text)?;
            for (id, grade) in qrels.judgements(&topic.id) {
                judged
                    .entry(grade)
                    .or_default()
                    .extend(self.score(&asked, &DatasetId::new(id)?)?);
            }
        }
        Ok(judged)
    }
}

/// The best score by each encoder, of one hit or two.
fn best(hits: &[Scores]) -> Scores {
    hits.iter().fold([f64::NEG_INFINITY; 2], |best, scores| {
        [best[0].max(scores[0]), best[1].max(scores[1])]
    })
}

fn tell(what: &str, scores: &[Scores]) {
    let of = |place: usize| {
        let spread = Spread::new(scores.iter().map(|scores| scores[place]));
        format!(
            "{:.3} {:.3} {:.3}",
            spread.at(0.05),
            spread.at(0.5),
            spread.at(0.95)
        )
    };
    println!("  {what} ({}): {}; {}", scores.len(), of(0), of(1));
}

/// Measures the error rates of two minimum similarities.
struct Rates {
    floors: Scores,
    /// Off-topic queries with a hit found.
    false_found: f64,
    /// Topics without one.
    false_closest: f64,
    /// Datasets judged relevant, below the floors.
    lost: f64,
    /// Datasets judged irrelevant, above them.
    kept: f64,
}

/// For so many off-topic queries with a hit found at most, the floors that lose least; and the model's own.
fn floors(
    real: &[Vec<Scores>],
    other: &[Vec<Scores>],
    judged: &BTreeMap<i32, Vec<Scores>>,
    own: Option<Scores>,
) {
    let of = |wanted: fn(i32) -> bool| -> Vec<Scores> {
        judged
            .iter()
            .filter(|(grade, _)| wanted(**grade))
            .flat_map(|(_, scores)| scores.clone())
            .collect()
    };
    let (relevant, irrelevant) = (of(|grade| grade > 0), of(|grade| grade == 0));
    let grid = |from: usize, to: usize| {
        (from..=to)
            .rev()
            .step_by(2)
            .map(|percent| percent as f64 / 100.0)
    };
    let rates = |floors: Scores| {
        let found = |scores: &Scores| scores[0] >= floors[0] || scores[1] >= floors[1];
        let answered = |queries: &[Vec<Scores>]| share(queries, |hits| hits.iter().any(found));
        Rates {
            floors,
            false_found: answered(other),
            false_closest: 1.0 - answered(real),
            lost: 1.0 - share(&relevant, found),
            kept: share(&irrelevant, found),
        }
    };
    let all: Vec<Rates> = grid(20, 60)
        .flat_map(|text| grid(30, 80).map(move |piece| [text, piece]))
        .map(rates)
        .collect();
    for most in [0.0, 0.05, 0.1, 0.15, 0.25, 1.0] {
        let allowed = all.iter().filter(|rates| rates.false_found <= most);
        let Some(least) = allowed
            .min_by(|a, b| (a.false_closest + a.lost).total_cmp(&(b.false_closest + b.lost)))
        else {
            continue;
        };
        tell_rates(least);
    }
    if let Some(own) = own {
        println!("  of the folder, both, and each by itself:");
        [own, [own[0], f64::INFINITY], [f64::INFINITY, own[1]]]
            .map(rates)
            .iter()
            .for_each(tell_rates);
    }
}

fn tell_rates(
    Rates {
        floors,
        false_found,
        false_closest,
        lost,
        kept,
    }: &Rates,
) {
    println!(
        "  --floor {:.2},{:.2}: off-topic queries with a hit found {:.1} %, topics with none {:.1} %; relevant datasets taken for \
         closest {:.1} %, irrelevant ones for found {:.1} %",
        floors[0],
        floors[1],
        false_found * 100.0,
        false_closest * 100.0,
        lost * 100.0,
        kept * 100.0
    );
}

fn share<T>(all: &[T], is: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| is(one)).count() as f64 / all.len() as f64
}
