//! kill -9 in the middle of `load` and of `index`: what was committed stays, and the next run finishes the work.
//!
//! Every round writes another generation of all datasets, so that each load replaces and each indexing starts anew. A
//! killed load may leave a dataset in its old or in its new generation, never in a mixture.

use super::support::{iri, json, program, run};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const DATASETS: usize = 60;
const ENTITIES: usize = 100;
/// Three of each entity, and the generation.
const TRIPLES: u64 = 3 * ENTITIES as u64 + 1;
const ROUNDS: u32 = 6;
/// Loaded and indexed once, before anything is killed, and never loaded again.
const KEPT: &str = "kept";

fn write_catalog(folder: &Path, generation: u32) {
    let mut entries = Vec::new();
    for dataset in 0..DATASETS {
        let mut dump = String::new();
        for entity in 0..ENTITIES {
            let subject = format!("<http://e.org/{dataset}/{entity}>");
            let next = (entity * 7 + dataset) % ENTITIES;
            let _ = writeln!(
                dump,
                "{subject} <http://www.w3.org/2000/01/rdf-schema#label> \"thing {entity} of generation{generation}\" .\n\
                 {subject} <http://e.org/next> <http://e.org/{dataset}/{next}> .\n\
                 {subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.org/Class{}> .",
                entity % 5
            );
        }
        let _ = writeln!(
            dump,
            "<http://e.org/{dataset}> <http://e.org/generation> \"{generation}\" ."
        );
        fs::write(folder.join(format!("{dataset}.nt")), dump).expect("written");
        entries.push(serde_json::json!({
            "dataset_id": format!("d{dataset}"),
            "title": format!("Things {dataset}"),
            "download": format!("{dataset}.nt"),
        }));
    }
    fs::write(
        folder.join("datasets.json"),
        serde_json::Value::from(entries).to_string(),
    )
    .expect("written");
}

/// Runs the program to its end, and returns its duration.
fn complete(home: &Path, arguments: &[&str]) -> Duration {
    let started = Instant::now();
    let ran = run(home, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.err);
    started.elapsed()
}

/// Runs the program for a while and kills it; whether it was still at work.
fn killed(home: &Path, arguments: &[&str], after: Duration) -> bool {
    let mut command = program(home);
    let mut child = command
        .args(arguments)
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    thread::sleep(after);
    child.kill().expect("killed");
    let status = child.wait().expect("ended");
    assert!(
        status.code().is_none_or(|code| code == 0),
        "{arguments:?} failed by itself: {status}"
    );
    !status.success()
}

/// The rows of a query's answer, each cut at its commas.
fn rows(home: &Path, query: &str) -> Vec<Vec<String>> {
    let ran = run(home, &["query", "--format", "csv", query]);
    assert_eq!(
        ran.code,
        Some(0),
        "the home opens after a kill: {}",
        ran.err
    );
    ran.out
        .trim_end()
        .lines()
        .skip(1)
        .map(|line| line.trim_end().split(',').map(str::to_owned).collect())
        .collect()
}

/// The generation of every dataset in the store, each of which must be whole and of one generation.
fn generations(home: &Path) -> Vec<u64> {
    let found = rows(
        home,
        "SELECT ?id ?generation (COUNT(*) AS ?triples)
           (SUM(IF(STRENDS(STR(?o), CONCAT(\"generation\", ?generation)), 1, 0)) AS ?labels)
         { ?dataset <https://w3id.org/lodeseek/ns#graph> ?g ; <http://purl.org/dc/terms/identifier> ?id
           GRAPH ?g { ?root <http://e.org/generation> ?generation . ?s ?p ?o } } GROUP BY ?id ?generation",
    );
    assert_eq!(found.len(), DATASETS, "{found:?}");
    for row in &found {
        assert_eq!(
            row[2..],
            [TRIPLES.to_string(), ENTITIES.to_string()],
            "{row:?}"
        );
    }
    found
        .iter()
        .map(|row| row[1].parse().expect("a number"))
        .collect()
}

/// The dataset that nobody touches is still found, with all its triples.
fn kept_is_there(home: &Path) {
    let iri = iri(KEPT);
    let counted = rows(
        home,
        &format!("SELECT (COUNT(*) AS ?n) FROM {iri} {{ ?s ?p ?o }}"),
    );
    let stated = rows(
        home,
        &format!("SELECT ?n {{ {iri} <http://rdfs.org/ns/void#triples> ?n }}"),
    );
    assert_eq!(
        (counted, stated),
        (vec![vec!["2".to_owned()]], vec![vec!["2".to_owned()]])
    );
    let found = run(home, &["search", "--json", "quokka"]);
    assert!(
        found.code == Some(0) && found.out.contains("\"id\": \"kept\""),
        "{found:?}"
    );
}

/// The parts of a run's time after which it is killed: early and late ones alternate.
fn moment(round: u32, whole: Duration) -> Duration {
    whole * ((round * 5) % (ROUNDS + 1)) / (ROUNDS + 1)
}

#[test]
fn a_killed_load_or_index_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let [home, reference, data] =
        ["home", "reference", "data"].map(|name| folder.path().join(name));
    fs::create_dir_all(&data).expect("a folder");
    let kept = data.join(format!("{KEPT}.nt"));
    fs::write(
        &kept,
        "<a:a> <a:b> \"quokka\" .\n<a:a> <a:c> \"wombat\" .\n",
    )
    .expect("written");
    let catalog = data.join("datasets.json");
    let load = ["load", catalog.to_str().expect("a path")];
    let load_kept = ["load", kept.to_str().expect("a path")];

    complete(&home, &load_kept);
    complete(&home, &["index"]);
    write_catalog(&data, 0);
    let mut load_time = complete(&home, &load);
    let mut index_time = complete(&home, &["index"]);
    let (mut loads, mut indexings) = (0, 0);
    for round in 1..=ROUNDS {
        let (old, new) = (u64::from(round) - 1, u64::from(round));
        write_catalog(&data, round);
        loads += u32::from(killed(&home, &load, moment(round, load_time)));
        kept_is_there(&home);
        let present = generations(&home);
        assert!(
            present
                .iter()
                .all(|generation| [old, new].contains(generation)),
            "{present:?}"
        );

        load_time = load_time.min(complete(&home, &load));
        assert_eq!(generations(&home), vec![new; DATASETS]);
        indexings += u32::from(killed(&home, &["index"], moment(round, index_time)));
        kept_is_there(&home);
        assert_eq!(
            generations(&home),
            vec![new; DATASETS],
            "indexing leaves the content alone"
        );

        index_time = index_time.min(complete(&home, &["index"]));
        kept_is_there(&home);
    }
    assert!(
        loads > 0 && indexings > 0,
        "{loads} loads and {indexings} indexings were interrupted: too few to tell"
    );

    complete(&reference, &load_kept);
    complete(&reference, &load);
    complete(&reference, &["index"]);
    assert_eq!(generations(&reference), generations(&home));
    let last = format!("generation{ROUNDS}");
    for query in [
        "quokka",
        "thing 42",
        "next",
        "Class3 things",
        &last,
        "generation0",
    ] {
        assert_eq!(json(&home, query), json(&reference, query), "{query}");
    }
    assert!(
        json(&home, &last).contains("\"total\": 60"),
        "the last generation is indexed"
    );
    assert!(
        json(&home, "generation0").contains("\"total\": 0"),
        "the first is not"
    );

    let left = |home: &Path| {
        let derived = rows(home, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }");
        (
            derived,
            fs::read_dir(home.join("graphs")).expect("a folder").count(),
        )
    };
    assert_eq!(
        left(&home),
        left(&reference),
        "nothing half-done is left behind"
    );
}
