//! The models beside tantivy's own BM25 over the same index, query by query.

use lodeseek_index::document::Field;
use lodeseek_index::sparse::{FieldWeights, LengthMode, ModelKind, SparseModel, rank};
use lodeseek_index::{Analysis, AnalyzedQuery, Index, Snapshot};
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Searcher, Term};

const HITS: usize = 10;

/// Milliseconds, sorted.
pub(super) struct Times(Vec<f64>);

impl Times {
    pub(super) fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    pub(super) fn at(&self, share: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * share).round() as usize]
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

/// Milliseconds a call takes.
pub(super) fn milliseconds<T>(call: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let outcome = black_box(call());
    (started.elapsed().as_secs_f64() * 1000.0, outcome)
}

/// tantivy's BM25 of the same terms in the same fields, weights as boosts. Parameters are the same; it sums in `f32`, keeps
/// lengths in a byte, and counts documents without a field among those that have it.
struct Tantivy {
    searcher: Searcher,
}

impl Tantivy {
    fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            searcher: tantivy::Index::open_in_dir(folder)?.reader()?.searcher(),
        })
    }

    fn query(
        &self,
        query: &AnalyzedQuery,
        weights: &FieldWeights,
    ) -> Result<BooleanQuery, Box<dyn Error>> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (term, said) in query.distinct.iter().zip(query.multiplicities()) {
            for field in Field::ALL {
                let text = self.searcher.schema().get_field(field.name())?;
                let term = TermQuery::new(
                    Term::from_field_text(text, &term.text),
                    IndexRecordOption::WithFreqs,
                );
                let boost = (said as f64 * weights.weight(field)) as f32;
                clauses.push((
                    Occur::Should,
                    Box::new(BoostQuery::new(Box::new(term), boost)),
                ));
            }
        }
        Ok(BooleanQuery::new(clauses))
    }
}

/// A function that runs a query and returns the number of matching documents, if it counts them.
type Contender<'c> = Box<dyn Fn(&AnalyzedQuery) -> Result<Option<usize>, Box<dyn Error>> + 'c>;

fn contenders<'c>(snapshot: &'c Snapshot, tantivy: &'c Tantivy) -> Vec<(String, Contender<'c>)> {
    let weights = FieldWeights::ACORDAR_BM25;
    let mut all: Vec<(String, Contender<'c>)> = vec![
        (
            "tantivy, best 10".to_owned(),
            Box::new(move |query| {
                let query = tantivy.query(query, &weights)?;
                black_box(
                    tantivy
                        .searcher
                        .search(&query, &TopDocs::with_limit(HITS).order_by_score())?,
                );
                Ok(None)
            }),
        ),
        (
            "tantivy, and total".to_owned(),
            Box::new(move |query| {
                let query = tantivy.query(query, &weights)?;
                let collectors = (TopDocs::with_limit(HITS).order_by_score(), Count);
                Ok(Some(
                    black_box(tantivy.searcher.search(&query, &collectors)?).1,
                ))
            }),
        ),
    ];
    for kind in [
        ModelKind::Bm25,
        ModelKind::TfIdf,
        ModelKind::Lmd,
        ModelKind::Fsdm,
    ] {
        let model: Box<dyn SparseModel> = kind.model(LengthMode::Exact);
        let search: Contender<'c> = Box::new(move |query| {
            Ok(Some(
                black_box(rank(model.as_ref(), query, snapshot, HITS)?).total,
            ))
        });
        all.push((kind.name().to_owned(), search));
    }
    all
}

/// Prints what each takes: of every query the median of `rounds`, and of those the percentiles. A first round, in which
/// statistics of terms are read for the first time, is reported apart.
pub(super) fn run(folder: &Path, queries: &[String], rounds: usize) -> Result<(), Box<dyn Error>> {
    let snapshot = Index::open(folder)?.snapshot()?;
    let tantivy = Tantivy::open(folder)?;
    let analysis = Analysis::default();
    let queries: Vec<AnalyzedQuery> = queries
        .iter()
        .map(|text| AnalyzedQuery::new(text, &analysis))
        .collect();
    let contenders = contenders(&snapshot, &tantivy);
    // By contender, query, round.
    let mut times = vec![vec![Vec::new(); queries.len()]; contenders.len()];
    let mut matches = Vec::new();
    for round in 0..=rounds {
        for (place, query) in queries.iter().enumerate() {
            let mut totals = Vec::new();
            for turn in 0..contenders.len() {
                // Nobody always comes first.
                let who = (turn + place + round) % contenders.len();
                let (time, total) = milliseconds(|| contenders[who].1(query));
                times[who][place].push(time);
                totals.extend(total?);
            }
            assert!(
                totals.windows(2).all(|two| two[0] == two[1]),
                "totals differ: {totals:?}"
            );
            if round == 0 {
                matches.push(totals[0] as f64);
            }
        }
    }
    println!(
        "  {} queries, matching {:.0} datasets on average, {rounds} rounds:",
        queries.len(),
        Times::new(matches).mean()
    );
    report(&contenders, times);
    Ok(())
}

fn report(contenders: &[(String, Contender<'_>)], times: Vec<Vec<Vec<f64>>>) {
    let all: Vec<(Times, Times)> = times
        .into_iter()
        .map(|of_contender| {
            let first = Times::new(of_contender.iter().map(|rounds| rounds[0]).collect());
            (
                Times::new(
                    of_contender
                        .iter()
                        .map(|rounds| Times::new(rounds[1..].to_vec()).at(0.5))
                        .collect(),
                ),
                first,
            )
        })
        .collect();
    println!(
        "  {:<20}{:>9}{:>9}{:>9}{:>9}{:>12}{:>12}",
        "ms", "p50", "p95", "max", "mean", "mean/best 10", "first p95"
    );
    for ((name, _), (times, first)) in contenders.iter().zip(&all) {
        let [p50, p95, max] = [0.5, 0.95, 1.0].map(|share| times.at(share));
        let (mean, ratio) = (times.mean(), times.mean() / all[0].0.mean());
        println!(
            "  {name:<20}{p50:>9.3}{p95:>9.3}{max:>9.3}{mean:>9.3}{ratio:>12.2}{:>12.3}",
            first.at(0.95)
        );
    }
}
