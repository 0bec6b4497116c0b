//! Search times: `make bench-search`, or `make bench-search SIZES="476 31589 1000000" KEEP=FOLDER`.
//!
//! `search DATA/lod [--keep=FOLDER] [--rounds=N] [SIZE …]`: 476 stands for the datasets of DATA/lod themselves, with the
//! queries that belong to them, and adds the times of whole searches; every other size for a collection made up from a
//! seed. Beside each model stands tantivy's own BM25 over the same index in the same run. With `--keep`, made-up
//! collections stay in a folder and are used again.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod collection;
mod contest;

use contest::{Times, milliseconds};
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_engine::{IndexOptions, Indexer, SearchRequest, Searcher};
use lodeseek_eval::Topics;
use lodeseek_index::document::Field;
use lodeseek_index::{Analysis, Index, IndexDocument, IndexWriter};
use lodeseek_store::{Access, Loader, Store};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Datasets of DATA/lod.
const REAL: usize = 476;
/// ACORDAR's size.
const ACORDAR: usize = 31_589;
const QUERIES: usize = 200;

struct Arguments {
    data: Option<PathBuf>,
    keep: Option<PathBuf>,
    rounds: usize,
    sizes: Vec<usize>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut parsed = Arguments {
        data: None,
        keep: None,
        rounds: 11,
        sizes: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        if let Some(folder) = argument.strip_prefix("--keep=") {
            parsed.keep = Some(PathBuf::from(folder));
        } else if let Some(rounds) = argument.strip_prefix("--rounds=") {
            parsed.rounds = rounds.parse()?;
        } else if let Ok(size) = argument.parse() {
            parsed.sizes.push(size);
        } else if !argument.starts_with("--") {
            parsed.data = Some(PathBuf::from(argument));
        }
    }
    if parsed.sizes.is_empty() {
        parsed.sizes = vec![REAL, ACORDAR];
    }
    Ok(parsed)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    for &size in &arguments.sizes {
        match &arguments.data {
            Some(data) if size == REAL && data.join("datasets.json").exists() => {
                real(data, arguments.rounds)?
            }
            Some(data) if size == REAL => println!("SKIPPED: {} is not here", data.display()),
            None if size == REAL => println!("SKIPPED: no data folder given"),
            _ => made_up(size, &arguments)?,
        }
    }
    Ok(())
}

/// DATA/lod: the models, then whole searches.
fn real(data: &Path, rounds: usize) -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    {
        let store = Store::open(home.path(), Access::Write, None)?;
        Loader::new(&store).load(Catalog::read(&data.join("datasets.json"))?, &|_| ())?;
        Indexer::new(&store, IndexOptions::default()).run(&|_| ())?;
    }
    println!("{REAL} datasets of DATA/lod");
    let topics = Topics::read(&data.join("dev/queries.tsv"))?;
    let queries: Vec<String> = topics.0.iter().map(|topic| topic.text.clone()).collect();
    let index = home.path().join("index");
    facts(&index)?;
    contest::run(&index, &queries, rounds)?;
    searches(home.path(), &queries, rounds)
}

/// Whole searches, with cards and snippets.
fn searches(home: &Path, queries: &[String], rounds: usize) -> Result<(), Box<dyn Error>> {
    let searcher = Searcher::open(home)?;
    for explain in [false, true] {
        let mut times = Vec::new();
        for round in 0..=rounds {
            for query in queries {
                let request = SearchRequest {
                    explain,
                    ..SearchRequest::new(query.clone())
                };
                let (time, found) = milliseconds(|| searcher.search(&request));
                found?;
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let times = Times::new(times);
        println!(
            "  {}: p50 {:.2} ms, p95 {:.2} ms, max {:.2} ms",
            if explain {
                "whole search, with explanations and matching triples"
            } else {
                "whole search, ten hits"
            },
            times.at(0.5),
            times.at(0.95),
            times.at(1.0)
        );
    }
    Ok(())
}

fn made_up(size: usize, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let temporary = tempfile::tempdir()?;
    let folder = arguments
        .keep
        .as_deref()
        .unwrap_or(temporary.path())
        .join(size.to_string());
    println!("{size} datasets made up");
    if !folder.join("finished").exists() {
        write(&folder, size)?;
        std::fs::write(folder.join("finished"), "")?;
    }
    facts(&folder)?;
    contest::run(&folder, &collection::queries(QUERIES), arguments.rounds)
}

/// Writes a made-up collection. Cards and compact documents are empty: the index proper is measured.
fn write(folder: &Path, size: usize) -> Result<(), Box<dyn Error>> {
    let (mut random, analysis) = (collection::Random::new(size as u64), Analysis::default());
    let mut writer = IndexWriter::open(folder)?;
    let (mut bytes, mut generating) = (0, 0.0);
    let started = Instant::now();
    for number in 0..size {
        let (time, (document, text)) = milliseconds(|| collection::document(&mut random, size));
        generating += time / 1000.0;
        bytes += text;
        let id = DatasetId::new(format!(
            "{:x}",
            number.wrapping_mul(0x9e37_79b1) & 0xffff_ffff
        ))?;
        writer.put(IndexDocument::new(
            id,
            String::new(),
            &document,
            &analysis,
            Vec::new(),
            Vec::new(),
        ))?;
    }
    writer.commit()?;
    let written = started.elapsed().as_secs_f64() - generating;
    writer.finish()?;
    let all = started.elapsed().as_secs_f64() - generating;
    println!(
        "  indexed in {all:.1} s, merging {:.1} s of it: {:.0} datasets/s, {:.2} MB/s of text ({:.0} MB)",
        all - written,
        size as f64 / all,
        bytes as f64 / 1e6 / all,
        bytes as f64 / 1e6
    );
    Ok(())
}

/// Size on disk, opening time, memory, and lengths of fields.
fn facts(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut bytes = std::collections::BTreeMap::<String, u64>::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = match entry.path().extension() {
            Some(kind) => kind.to_string_lossy().into_owned(),
            None => String::new(),
        };
        *bytes.entry(kind).or_default() += entry.metadata()?.len();
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let of_kind: Vec<String> = bytes
        .iter()
        .filter(|(_, bytes)| **bytes > 100_000)
        .map(|(kind, bytes)| format!("{kind} {:.1}", megabytes(*bytes)))
        .collect();
    println!(
        "  on disk: {:.1} MB ({})",
        megabytes(bytes.values().sum()),
        of_kind.join(", ")
    );
    let before = resident();
    let (time, snapshot) = milliseconds(|| Index::open(folder).and_then(|index| index.snapshot()));
    let snapshot = snapshot?;
    let memory = resident().saturating_sub(before);
    println!(
        "  opening {} datasets: {time:.1} ms, {:.1} MB more in memory",
        snapshot.len(),
        megabytes(memory)
    );
    lengths(folder)
}

/// The resident memory of this process in bytes; 0 where the system does not tell.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

/// Prints the lengths of fields: real ones are what made-up ones were chosen by.
fn lengths(folder: &Path) -> Result<(), Box<dyn Error>> {
    let searcher = tantivy::Index::open_in_dir(folder)?.reader()?.searcher();
    let mut told = Vec::new();
    for field in Field::ALL {
        let mut all = Vec::new();
        for reader in searcher.segment_readers() {
            let column = reader
                .fast_fields()
                .u64(&format!("{}_length", field.name()))?;
            all.extend((0..reader.max_doc()).map(|document| column.first(document).unwrap_or(0)));
        }
        all.sort_unstable();
        let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
        told.push(format!(
            "{field} {}/{}/{}/{}",
            at(0.25),
            at(0.5),
            at(0.9),
            at(1.0)
        ));
    }
    println!("  tokens, p25/p50/p90/max: {}", told.join(", "));
    Ok(())
}
