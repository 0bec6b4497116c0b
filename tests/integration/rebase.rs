//! `lodeseek rebase`: all IRIs of a home begin with another base, and nothing else changes, wherever it is interrupted.

use super::support::{copy, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const OLD: &str = "http://localhost:7878/";
const NEW: &str = "https://data.example.org/sets/";
/// Everything that queries may read: the catalogue, profiles, snippets and the content of all datasets.
const ALL: &str = "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }";

fn succeeds(home: &Path, arguments: &[&str]) -> String {
    let ran = run(home, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.err);
    ran.out
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    succeeds(home.path(), &["load", "testdata/catalog.ttl"]);
    succeeds(home.path(), &["index"]);
    home
}

/// Returns the rows of a query as N-Triples terms; blank nodes without their labels, which depend on the graph.
fn rows(home: &Path, query: &str) -> Vec<String> {
    let text = succeeds(home, &["query", query, "--format", "tsv"]);
    let cell = |cell: &str| {
        if cell.starts_with("_:") {
            "_:".to_owned()
        } else {
            cell.to_owned()
        }
    };
    let mut rows: Vec<String> = text
        .lines()
        .map(|line| line.split('\t').map(cell).collect::<Vec<_>>().join("\t"))
        .collect();
    rows.sort();
    rows
}

#[test]
fn every_iri_of_the_home_moves_and_content_stays() {
    let home = home();
    let home = home.path();
    let before = rows(home, ALL);
    let found = succeeds(home, &["search", "water", "--json"]);
    let content = rows(
        home,
        "SELECT ?s ?p ?o { GRAPH <http://localhost:7878/dataset/street-trees> { ?s ?p ?o } }",
    );
    assert!(
        before.len() > 500 && content.len() > 10,
        "{} rows",
        before.len()
    );

    let ran = run(home, &["rebase", NEW]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.ends_with(&format!(
            "the base of {} is {NEW}: 12 datasets\n",
            home.display()
        )),
        "{}",
        ran.err
    );

    let after = rows(home, ALL);
    let expected: BTreeSet<String> = before.iter().map(|row| row.replace(OLD, NEW)).collect();
    assert_eq!(after.iter().cloned().collect::<BTreeSet<_>>(), expected);
    assert_eq!(after.len(), before.len());
    let moved = format!("SELECT ?s ?p ?o {{ GRAPH <{NEW}dataset/street-trees> {{ ?s ?p ?o }} }}");
    assert_eq!(rows(home, &moved), content);
    assert_eq!(
        succeeds(home, &["search", "water", "--json"]),
        found.replace(OLD, NEW)
    );
    assert!(succeeds(home, &["verify"]).contains("no damage"));
    let again = run(home, &["load", "testdata/catalog.ttl"]);
    assert!(again.err.contains("12 unchanged"), "{}", again.err);
    assert!(!home.join("store.old").exists() && !home.join("rebase.json").exists());

    // The base that the home has changes nothing; one that is not valid neither.
    assert_eq!(run(home, &["rebase", NEW]).code, Some(0));
    let invalid = run(home, &["rebase", "data.example.org"]);
    assert_eq!(invalid.code, Some(2));
    assert!(
        invalid
            .err
            .contains("use an absolute http(s) IRI that ends with a slash"),
        "{}",
        invalid.err
    );
    assert_eq!(rows(home, ALL), after);
}

#[test]
fn an_interrupted_migration_is_reported_and_completed() {
    let old = home();
    let new = tempfile::tempdir().expect("a folder");
    copy(old.path(), new.path());
    succeeds(new.path(), &["rebase", NEW]);
    let expected = rows(new.path(), ALL);
    let record = fs::read_to_string(new.path().join("commit.json")).expect("a record");
    let record: serde_json::Value =
        serde_json::from_str(record.split_once('\n').expect("a checksum").1).expect("a record");
    let mark =
        serde_json::json!({ "from": OLD, "to": NEW, "commit": record["commit"] }).to_string();

    // (folder of the old store, folder of the new one, base in the configuration)
    let states = [
        ("store", "store.new", OLD),
        ("store.old", "store.new", OLD),
        ("store.old", "store", OLD),
        ("store.old", "store", NEW),
    ];
    for (old_store, new_store, base) in states {
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path();
        copy(old.path(), home);
        fs::rename(home.join("store"), home.join("moving")).expect("renamed");
        copy(&new.path().join("store"), &home.join(new_store));
        fs::rename(home.join("moving"), home.join(old_store)).expect("renamed");
        fs::write(home.join("rebase.json"), &mark).expect("written");
        fs::write(home.join("lodeseek.toml"), format!("base = \"{base}\"\n")).expect("written");
        let remedy = format!("run `lodeseek rebase {NEW}` again to complete it");
        for command in [
            &["query", ALL][..],
            &["load", "testdata/catalog.ttl"],
            &["verify"],
            &["repair"],
            &["rebase", "http://other.org/"],
        ] {
            let ran = run(home, command);
            assert!(
                ran.code != Some(0) && format!("{}{}", ran.err, ran.out).contains(&remedy),
                "{command:?}: {ran:?}"
            );
        }
        succeeds(home, &["rebase", NEW]);
        assert_eq!(rows(home, ALL), expected, "{old_store} and {new_store}");
        assert!(succeeds(home, &["verify"]).contains("no damage"));
        assert!(!home.join("store.old").exists() && !home.join("rebase.json").exists());
    }
}
