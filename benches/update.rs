//! One dataset of many changes while all are searched: how long until the change is found, and what searches wait for.
//!
//! `cargo bench --bench update -- SIZE FOLDER` makes up SIZE datasets of twenty triples in FOLDER, once; loads and indexes
//! them, once; then changes one of them twenty times. A thread searches all the while. Printed are the time from the
//! beginning of an update until its word is found, by parts, and the times of searches with and without updates beside.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_engine::{IndexOptions, Indexer, SearchRequest, Searcher, Updater};
use lodeseek_store::{Access, LoadOptions, Loader, Stamp, Store};
use oxsdatatypes::DateTime;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;
const WORDS: [&str; 16] = [
    "water", "forest", "school", "traffic", "census", "music", "river", "energy", "health",
    "museum", "library", "weather", "market", "city", "language", "species",
];

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let size: usize = arguments
        .next()
        .and_then(|size| size.parse().ok())
        .expect("usage: SIZE FOLDER");
    let folder = arguments
        .next()
        .map(PathBuf::from)
        .expect("usage: SIZE FOLDER");
    fs::create_dir_all(folder.join("files")).expect("a folder");
    let home = folder.join("home");
    if !home.exists() {
        make(size, &folder, &home);
    }
    let store = Store::open(&home, Access::Write, None).expect("a home");
    let searcher = Searcher::open(&home).expect("an index");
    println!("{} datasets", searcher.catalog().len().expect("a number"));
    let alone = beside(&searcher, || thread::sleep(Duration::from_secs(10)));
    println!("searches alone:    {}", told(&alone));
    let mut parts = Vec::new();
    let searched = beside(&searcher, || {
        for round in 0..ROUNDS {
            parts.push(change(&store, &searcher, &folder, size, round));
            thread::sleep(Duration::from_millis(200));
        }
    });
    println!("searches meanwhile: {}", told(&searched));
    for (name, of) in [("load", 0), ("index", 1), ("visible", 2), ("in all", 3)] {
        println!(
            "update {name:8} {}",
            told(
                &parts
                    .iter()
                    .map(|part: &[Duration; 4]| part[of])
                    .collect::<Vec<_>>()
            )
        );
    }
    let started = Instant::now();
    let updater = Updater::new(&store, LoadOptions::default(), IndexOptions::default());
    println!(
        "clearing {} replaced graphs: {:?}",
        updater.clear_replaced().expect("cleared"),
        started.elapsed()
    );
}

/// The times of searches while something is done.
fn beside(searcher: &Searcher, work: impl FnOnce()) -> Vec<Duration> {
    let (done, times) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let query = format!("{} {}", WORDS[round % 16], WORDS[(round / 16) % 16]);
                let started = Instant::now();
                searcher
                    .search(&SearchRequest::new(query))
                    .expect("an answer");
                times.lock().expect("unharmed").push(started.elapsed());
                thread::sleep(Duration::from_millis(2));
            }
        });
        work();
        done.store(true, Ordering::Relaxed);
    });
    times.into_inner().expect("unharmed")
}

fn told(times: &[Duration]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    format!(
        "p50 {:.2} ms, p95 {:.2} ms, most {:.2} ms, of {}",
        at(0.5),
        at(0.95),
        at(1.0),
        sorted.len()
    )
}

/// Changes one dataset, and waits until a search finds its new word.
fn change(
    store: &Store,
    searcher: &Searcher,
    folder: &Path,
    size: usize,
    round: usize,
) -> [Duration; 4] {
    let number = (round * 977) % size;
    // Each run has words of its own: what a former run wrote is no change.
    let word = format!(
        "changed{}",
        DateTime::now()
            .to_string()
            .chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    );
    let entry = dataset(folder, number, &word);
    let path = folder.join("changed.json");
    fs::write(&path, serde_json::json!([entry]).to_string()).expect("written");
    let started = Instant::now();
    let catalog = Catalog::read(&path).expect("a catalogue");
    let stamp = Stamp {
        now: Some(DateTime::now()),
        origin: None,
    };
    let load = LoadOptions {
        stamp,
        ..LoadOptions::default()
    };
    let report = Updater::new(store, load, IndexOptions::default())
        .run(catalog, &[])
        .expect("updated");
    assert_eq!(report.index.indexed, 1);
    let updated = started.elapsed();
    let index: Duration = report.index.times.index;
    searcher.refresh().expect("refreshed");
    let found = searcher.rank(&word, 10).expect("ranked");
    assert!(
        found
            .iter()
            .any(|scored| scored.id == DatasetId::new(format!("d{number}")).expect("an id"))
    );
    let all = started.elapsed();
    [updated.saturating_sub(index), index, all - updated, all]
}

fn make(size: usize, folder: &Path, home: &Path) {
    let entries: Vec<_> = (0..size)
        .map(|number| dataset(folder, number, "first"))
        .collect();
    let path = folder.join("datasets.json");
    fs::write(&path, serde_json::Value::from(entries).to_string()).expect("written");
    let started = Instant::now();
    let store = Store::open(home, Access::Write, None).expect("a home");
    Loader::new(&store)
        .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
        .expect("loaded");
    println!("loaded in {:?}", started.elapsed());
    Indexer::new(&store, IndexOptions::default())
        .run(&|_| ())
        .expect("indexed");
    println!("and indexed in {:?}", started.elapsed());
}

/// Writes the file of a dataset, and gives its entry.
fn dataset(folder: &Path, number: usize, word: &str) -> serde_json::Value {
    let of = |place: usize| WORDS[(number / 16usize.pow(place as u32 % 4) + place) % 16];
    let mut text = String::new();
    for place in 0..20 {
        let (subject, object) = (place / 4, format!("{} {} {word}", of(place), of(place + 1)));
        let _ = writeln!(
            text,
            "<http://e.org/{number}/{subject}> <http://e.org/{}> \"{object} {place}\" .",
            of(place)
        );
    }
    let file = format!("files/d{number}.nt");
    fs::write(folder.join(&file), text).expect("written");
    let title = format!("Dataset {number} of {} and {}", of(0), of(1));
    let description = format!("All about {}, {} and {}, {word}.", of(0), of(2), of(3));
    serde_json::json!({ "dataset_id": format!("d{number}"), "title": title, "description": description, "download": [file] })
}
