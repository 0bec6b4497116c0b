//! Whole queries through `Searcher::rank`, on real datasets, and the same model run by Python.
//!
//! Each round runs each query once, on a searcher that has not run it; the model is opened once. One query warms up each
//! searcher and is not counted.

use super::measure::{CANDIDATES, Cost, Spread, cost};
use super::models::{
    Clocked, GRANULARITIES, VARIANTS, called, default_options, encoded_home, options, searcher,
};
use super::{Arguments, Failure};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{RerankOptions, Searcher, index_folder};
use lodeseek_eval::Topics;
use lodeseek_index::document::CompactDocument;
use lodeseek_index::sparse::{LengthMode, ModelKind};
use lodeseek_index::vectors::{Precision, Rows};
use lodeseek_index::{Index, Snapshot};
use lodeseek_rerank::{Granularity, Passage, Query, colbert, dpr};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Pieces kept of a triple, as the engine has it.
const PIECES_A_TRIPLE: usize = 45;
/// Queries whose candidates are encoded while they wait.
const ON_THE_FLY: usize = 4;
/// Candidates whose texts the other program gets.
const PEER: usize = 20;
/// Datasets encoded by both.
const ENCODED: usize = 64;
const WARMING: &str = "something to begin with";

/// One model file on so many threads.
struct Setting<'s> {
    home: &'s Path,
    variant: &'s str,
    threads: usize,
    queries: &'s [String],
    rounds: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (model, home) = (arguments.model()?, arguments.home()?);
    let queries: Vec<String> = Topics::read(arguments.topics()?)?
        .0
        .into_iter()
        .map(|topic| topic.text)
        .collect();
    let temporary = tempfile::tempdir()?;
    let keep = arguments.keep.as_deref().unwrap_or(temporary.path());
    let wanted = |variant: &&str| {
        arguments
            .variant
            .as_ref()
            .is_none_or(|wanted| wanted == variant)
    };
    for variant in VARIANTS.into_iter().filter(wanted) {
        let home = encoded_home(home, keep, model, variant)?;
        let mut told = Vec::new();
        for threads in [1, 2] {
            let setting = Setting {
                home: &home,
                variant,
                threads,
                queries: &queries,
                rounds: arguments.rounds,
            };
            setting.measure(model, &mut told)?;
        }
        peer(arguments, &home, variant, &queries, &told)?;
    }
    Ok(())
}

impl Setting<'_> {
    fn measure(&self, model: &Path, told: &mut Vec<Value>) -> Result<(), Failure> {
        let Self {
            variant,
            threads,
            queries,
            rounds,
            ..
        } = self;
        println!(
            "{variant}, {threads} thread(s), {} queries, {rounds} rounds",
            queries.len()
        );
        let encoders =
            GRANULARITIES.map(|granularity| Clocked::open(model, variant, granularity, *threads));
        let [text, piece] = encoders;
        let both = [text?, piece?];
        for encoders in [&both[..1], &both[1..], &both[..]] {
            for count in CANDIDATES {
                told.extend(self.stored(
                    encoders,
                    &options(encoders.len(), count, *threads),
                    &count.to_string(),
                )?);
            }
        }
        self.stored(
            &both,
            &default_options(*threads),
            "as `search` does it with a model for each",
        )?;
        let heads = Clocked::open_both(model, variant, *threads)?;
        self.stored(
            &heads,
            &default_options(*threads),
            "as `search` does it with two heads of one network",
        )?;
        for (what, pair) in [
            ("a model for each", &both),
            ("two heads of one network", &heads),
        ] {
            self.encoded(what, pair)?;
        }
        // More threads show at the smallest count; the rest would take minutes.
        let counts = if *threads == 1 {
            &CANDIDATES[..]
        } else {
            &CANDIDATES[..1]
        };
        for encoder in &both {
            for count in counts {
                told.push(self.on_the_fly(encoder, *count)?);
            }
        }
        Ok(())
    }

    /// By vectors that are there. What the figures are for others, where there is one encoder on one thread.
    fn stored(
        &self,
        encoders: &[Arc<Clocked>],
        options: &RerankOptions,
        what: &str,
    ) -> Result<Option<Value>, Failure> {
        let sparse = sparse(self.home, options)?;
        let (mut costs, mut candidates) = (Vec::new(), 0);
        for _ in 0..self.rounds {
            let searcher = searcher(self.home, encoders, options)?;
            searcher.rank(WARMING, options.depth)?;
            for query in self.queries {
                for encoder in encoders {
                    encoder.spent();
                }
                let (all, ranking) = cost(|| searcher.rank(query, usize::MAX));
                candidates += ranking?.len();
                let encoding = encoders
                    .iter()
                    .fold(Cost::default(), |sum, encoder| sum + encoder.spent());
                let sparse =
                    sparse
                        .iter()
                        .try_fold(Cost::default(), |sum, (searcher, depth)| {
                            let (cost, ranking) = cost(|| searcher.rank(query, *depth));
                            ranking.map(|_| sum + cost)
                        })?;
                costs.push([all, sparse, encoding, all - sparse - encoding]);
            }
        }
        let names = encoders
            .iter()
            .map(|encoder| called(encoder.encoder.granularity()))
            .collect::<Vec<_>>()
            .join(" and ");
        let candidates = candidates as f64 / costs.len() as f64;
        println!(
            "  stored, {names}, {what}, {candidates:.1} candidates found: {}",
            self.summary(&costs)
        );
        let ms = Spread::new(
            costs
                .iter()
                .map(|[_, _, encoding, scoring]| encoding.wall + scoring.wall),
        )
        .at(0.5);
        let one = encoders.len() == 1 && self.threads == 1;
        Ok(one
            .then(|| json!({ "model": names, "way": "stored", "count": options.depth, "ms": ms })))
    }

    /// The texts of some datasets by both encoders, one after the other.
    fn encoded(&self, what: &str, encoders: &[Arc<Clocked>; 2]) -> Result<(), Failure> {
        let snapshot = Index::open(&index_folder(self.home))?.snapshot()?;
        let ids = snapshot.versions()?.into_keys().take(ENCODED);
        let texts = ids
            .map(|id| compact(&snapshot, &id))
            .collect::<Result<Vec<_>, _>>()?;
        let passages: Vec<Passage<'_>> = texts.iter().flat_map(passages).collect();
        let (cost, done) = cost(|| -> Result<(), Failure> {
            // As `index` hands them over.
            for passages in passages.chunks(32) {
                encoders.iter().try_for_each(|encoder| {
                    encoder.encoder.encode_passages(passages).map(|_| ())
                })?;
            }
            Ok(())
        });
        done?;
        println!(
            "  {} datasets encoded for both, {what}: {:.0} ms, a dataset {:.1} ms",
            texts.len(),
            cost.wall,
            cost.wall / texts.len() as f64
        );
        Ok(())
    }

    /// Measures searches that encode the texts of the candidates for each query.
    fn on_the_fly(&self, clocked: &Clocked, count: usize) -> Result<Value, Failure> {
        let sparse = Searcher::open(self.home)?;
        let snapshot = Index::open(&index_folder(self.home))?.snapshot()?;
        let (mut costs, mut candidates) = (Vec::new(), 0);
        for query in self.queries.iter().take(ON_THE_FLY) {
            let ids: Vec<DatasetId> = sparse
                .rank(query, count)?
                .iter()
                .map(|scored| scored.id.clone())
                .collect();
            candidates += ids.len();
            let (cost, scores) = cost(|| encoded_scores(clocked, query, &ids, &snapshot));
            scores?;
            costs.push(cost);
        }
        let [wall, core] = [|cost: &Cost| cost.wall, |cost: &Cost| cost.core]
            .map(|of| Spread::new(costs.iter().map(of)));
        let (name, candidates) = (
            called(clocked.encoder.granularity()),
            candidates as f64 / costs.len() as f64,
        );
        println!(
            "  encoded on the fly, {name}, {count}, {candidates:.1} candidates found, {} queries: mean {:.0} ms, a candidate {:.1} ms, \
             on its core mean {:.0} ms",
            costs.len(),
            wall.mean(),
            wall.mean() / candidates,
            core.mean()
        );
        let ms = if self.threads == 1 {
            core.mean()
        } else {
            f64::NAN
        };
        Ok(json!({ "model": name, "way": "on the fly", "count": count, "ms": ms }))
    }

    /// Formats wall-clock times and their parts. With one thread also the mean CPU time. The system counts CPU time in steps
    /// of a few milliseconds, so its median has no meaning.
    fn summary(&self, costs: &[[Cost; 4]]) -> String {
        let wall = spread(costs, 0);
        let [sparse, encoding, rest] = [1, 2, 3].map(|part| spread(costs, part).at(0.5));
        let core = Spread::new(costs.iter().map(|costs| costs[0].core)).mean();
        let core = if self.threads == 1 {
            format!(", mean on its core {core:.2}")
        } else {
            String::new()
        };
        format!(
            "p50 {:.2} p95 {:.2} mean {:.2}{core} ms (p50 of sparse {sparse:.2} + query {encoding:.2} + scoring {rest:.2})",
            wall.at(0.5),
            wall.at(0.95),
            wall.mean()
        )
    }
}

/// Returns the spread of the wall-clock times of one part.
fn spread(costs: &[[Cost; 4]], part: usize) -> Spread {
    Spread::new(costs.iter().map(|costs| costs[part].wall))
}

/// Returns the sources of the candidates: a searcher for each model of the pool, and its depth.
fn sparse(home: &Path, options: &RerankOptions) -> Result<Vec<(Searcher, usize)>, Failure> {
    // Scores are known to this depth where rankings are fused (`engine::rerank`).
    let depth = if options.fusion.is_some() {
        options.depth.max(100)
    } else {
        options.depth
    };
    let pool = if options.pool.is_empty() {
        vec![ModelKind::Bm25]
    } else {
        options.pool.clone()
    };
    let mut searchers = Vec::new();
    for kind in pool {
        let searcher = Searcher::open(home)?.with_model(kind.model(LengthMode::Exact));
        searcher.rank(WARMING, depth)?;
        searchers.push((searcher, depth));
    }
    Ok(searchers)
}

fn compact(snapshot: &Snapshot, id: &DatasetId) -> Result<CompactDocument, Failure> {
    Ok(serde_json::from_slice(
        &snapshot.compact(id)?.ok_or("a candidate without texts")?,
    )?)
}

/// Texts of a dataset that the engine encodes.
pub(super) fn passages(compact: &CompactDocument) -> [Passage<'_>; 2] {
    [
        Passage {
            parts: &compact.metadata,
            pieces_a_part: None,
        },
        Passage {
            parts: &compact.triples,
            pieces_a_part: Some(PIECES_A_TRIPLE),
        },
    ]
}

fn encoded_scores(
    clocked: &Clocked,
    query: &str,
    ids: &[DatasetId],
    snapshot: &Snapshot,
) -> Result<Vec<f64>, Failure> {
    let encoder = clocked.encoder.as_ref();
    let query = Query::new(&encoder.encode_queries(&[query])?.pop().unwrap_or_default());
    let texts = ids
        .iter()
        .map(|id| compact(snapshot, id))
        .collect::<Result<Vec<_>, _>>()?;
    let passages: Vec<Passage<'_>> = texts.iter().flat_map(passages).collect();
    let matrices = encoder.encode_passages(&passages)?;
    let scored = matrices.as_chunks::<2>().0.iter().map(|texts| {
        let rows = texts
            .iter()
            .map(|matrix| Rows::pack(matrix.values(), matrix.columns(), Precision::F16));
        rows.filter_map(|rows| likeness(encoder.granularity(), &query, &rows))
            .fold(f64::NEG_INFINITY, f64::max)
    });
    Ok(scored.collect())
}

pub(super) fn likeness(granularity: Granularity, query: &Query, rows: &Rows) -> Option<f64> {
    match granularity {
        Granularity::Text => dpr::dot(query, rows).first().map(|score| f64::from(*score)),
        Granularity::Piece => colbert::max_sim(query, rows),
        // Not among the models of this benchmark.
        Granularity::Term => None,
    }
}

/// Has Python score the same candidates, by the same texts; it compares the scores, too.
fn peer(
    arguments: &Arguments,
    home: &Path,
    variant: &str,
    queries: &[String],
    told: &[Value],
) -> Result<(), Failure> {
    let Some(script) = &arguments.peer else {
        println!("SKIPPED: the same model in Python; --peer names the script");
        return Ok(());
    };
    let (model, snapshot) = (
        arguments.model()?,
        Index::open(&index_folder(home))?.snapshot()?,
    );
    let searchers = GRANULARITIES.map(|granularity| {
        let clocked = Clocked::open(model, variant, granularity, 1)?;
        searcher(home, &[clocked], &options(1, PEER, 1))
    });
    let [text, piece] = searchers;
    let (text, piece, sparse) = (text?, piece?, Searcher::open(home)?);
    let mut tasks = Vec::new();
    for query in queries {
        let scores = [text.rank(query, PEER)?, piece.rank(query, PEER)?];
        let mut candidates = Vec::new();
        for scored in sparse.rank(query, PEER)?.iter() {
            let of = |ranking: &lodeseek_ranking::Ranking| {
                ranking
                    .iter()
                    .find(|one| one.id == scored.id)
                    .map(|one| one.score)
            };
            let [dpr, colbert] = scores.each_ref().map(of);
            let CompactDocument { metadata, triples } = compact(&snapshot, &scored.id)?;
            candidates.push(
                json!({ "id": scored.id, "metadata": metadata, "triples": triples, "DPR": dpr, "ColBERT": colbert }),
            );
        }
        tasks.push(json!({ "text": query, "candidates": candidates }));
    }
    let task = tempfile::NamedTempFile::new()?;
    let told = json!({
        "model": model, "variant": variant, "queries": tasks, "ours": told, "pieces_a_triple": PIECES_A_TRIPLE,
        "rounds": arguments.rounds, "on_the_fly": ON_THE_FLY, "pylate": arguments.pylate,
    });
    serde_json::to_writer(task.as_file(), &told)?;
    let status = Command::new("python3")
        .arg(script)
        .arg(task.path())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{}: {status}", script.display()).into())
    }
}
