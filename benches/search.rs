//! Search times over a home made of DATA/lod, and of its queries: `make bench-search`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use lodeseek::catalog::Catalog;
use lodeseek::engine::{IndexOptions, Indexer, SearchRequest, Searcher};
use lodeseek::eval::Topics;
use lodeseek::store::{Access, Loader, Store};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

const ROUNDS: usize = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(data) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).map(PathBuf::from) else {
        println!("SKIPPED: no data folder given");
        return Ok(());
    };
    if !data.join("datasets.json").exists() {
        println!("SKIPPED: {} is not here", data.display());
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    {
        let store = Store::open(folder.path(), Access::Write, None)?;
        Loader::new(&store).load(Catalog::read(&data.join("datasets.json"))?, &|_| ())?;
        Indexer::new(&store, IndexOptions::default()).run(&|_| ())?;
    }
    let opened = Instant::now();
    let searcher = Searcher::open(folder.path())?;
    searcher.len()?;
    println!("opening the index: {:.2} ms", opened.elapsed().as_secs_f64() * 1000.0);
    let topics = Topics::read(&data.join("dev/queries.tsv"))?;
    for explain in [false, true] {
        let mut times = Vec::new();
        for round in 0..=ROUNDS {
            for topic in &topics.0 {
                let request = SearchRequest { explain, ..SearchRequest::new(topic.text.clone()) };
                let started = Instant::now();
                std::hint::black_box(searcher.search(&request)?);
                if round > 0 {
                    times.push(started.elapsed().as_secs_f64() * 1000.0);
                }
            }
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!(
            "{}: {} searches over {} datasets, ten hits each: p50 {:.2} ms, p95 {:.2} ms, max {:.2} ms",
            if explain { "with explanations and matching triples" } else { "search" },
            times.len(),
            searcher.len()?,
            at(0.5),
            at(0.95),
            at(1.0)
        );
    }
    Ok(())
}
