//! Works that use datasets: loading, queries, encoding, ranking by the nearest, backup, verification and repair, through the program.

#![expect(clippy::print_stderr, reason = "a test that skips reports so")]

use super::support::{Ran, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const DPR: &str = "testdata/models/sentence-transformers";
const QUERY: &str = "detecting boats in photographs";

/// Returns a home with six descriptions and four works.
fn loaded() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = ["load", "testdata/research/collection.jsonl", "testdata/research/papers.jsonl"];
    let ran = run(folder.path(), &sources);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("4 works: 4 new, 0 replaced, 0 unchanged; they use 5 datasets"), "{ran:?}");
    assert!(ran.err.contains("1 other id is no dataset of the home"), "{ran:?}");
    folder
}

fn search(home: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["search", "--json", "--dpr", DPR].iter().chain(arguments).copied().collect();
    let ran = run(home, &all);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Returns (number of near works, number of all works) of a dataset.
fn works_of(answer: &Value, id: &str) -> Option<(u64, u64)> {
    let hits = answer["hits"].as_array().expect("hits");
    let works = &hits.iter().find(|hit| hit["id"] == id)?["works"];
    Some((works["near"].as_u64()?, works["all"].as_u64()?))
}

#[test]
fn lists_of_works_are_merged_and_bad_lines_named() {
    let home = loaded();
    let load = |text: &str| -> Ran {
        let path = home.path().join("more.jsonl");
        fs::write(&path, text).expect("written");
        run(home.path(), &["load", path.to_str().expect("UTF-8")])
    };
    assert!(run(home.path(), &["status"]).out.contains("works     4\n"));
    let again = run(home.path(), &["load", "testdata/research/papers.jsonl"]);
    assert!(again.err.contains("4 works: 0 new, 0 replaced, 4 unchanged"), "{again:?}");
    let changed = load(concat!(
        "{\"title\": \"Counting masts\", \"year\": 2016, \"datasets\": [\"Late Boats\"]}\n",
        "{\"title\": \"New\", \"datasets\": [\"Harbour Cam\"]}\n",
        "{\"title\": \"Unlabelled\", \"abstract\": \"None.\"}\n"
    ));
    assert!(changed.err.contains("5 works: 1 new, 1 replaced, 0 unchanged"), "{changed:?}");
    assert!(changed.err.contains("more.jsonl:3: no list `datasets`; `lodeseek tag`"), "{changed:?}");
    let none = load("{\"title\": \"Unlabelled\", \"abstract\": \"None.\"}\n");
    assert!(none.code == Some(2) && none.err.contains("contains no work"), "{none:?}");
}

/// Returns the numbers of works, of datasets that they use, and of links from datasets of the home.
fn numbers_in_rdf(home: &Path) -> [String; 3] {
    let patterns = [
        "?work a <https://schema.org/CreativeWork> ; <http://purl.org/dc/terms/title> ?title",
        "?work a <https://schema.org/CreativeWork> ; <http://purl.org/spar/cito/usesDataFrom> ?dataset",
        "?dataset a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/isReferencedBy> ?work",
    ];
    patterns.map(|pattern| {
        let ran = run(home, &["query", &format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}")]);
        ran.out.trim_start_matches("?n\n").trim_end().to_owned()
    })
}

#[test]
fn works_are_queried_by_sparql() {
    let home = loaded();
    let home = home.path();
    assert_eq!(numbers_in_rdf(home), ["4", "6", "5"]);
    let table = || run(home, &["query", "@queries/works.rq", "--format", "csv"]).out.replace("\r\n", "\n");
    insta::assert_snapshot!(table(), @r"
    dataset,title,works
    http://localhost:7878/dataset/Harbour_Cam,Harbour Cam,1
    http://localhost:7878/dataset/Late_Boats,Late Boats,1
    http://localhost:7878/dataset/Leaf_Letters,Leaf Letters,1
    http://localhost:7878/dataset/Market_Voices,Market Voices,1
    http://localhost:7878/dataset/Undated_Boats,Undated Boats,1
    ");

    let more = home.join("more.jsonl");
    let changed = concat!(
        "{\"title\": \"Counting masts\", \"year\": 2016, \"datasets\": [\"Late Boats\"]}\n",
        "{\"title\": \"New\", \"url\": \"https://e.org/new\", \"datasets\": [\"Harbour Cam\", \"Late Boats\"]}\n",
    );
    fs::write(&more, changed).expect("written");
    assert_eq!(run(home, &["load", more.to_str().expect("UTF-8")]).code, Some(0));
    assert_eq!(numbers_in_rdf(home), ["5", "8", "7"]);
    assert!(!table().contains("Undated"), "no work uses it any more");

    assert_eq!(run(home, &["remove", "Late_Boats"]).code, Some(0));
    assert_eq!(numbers_in_rdf(home), ["5", "8", "4"]);
    assert_eq!(run(home, &["load", "testdata/research/collection.jsonl"]).code, Some(0));
    assert_eq!(numbers_in_rdf(home), ["5", "8", "7"]);

    assert_eq!(run(home, &["rebase", "https://data.example.org/"]).code, Some(0));
    assert_eq!(numbers_in_rdf(home), ["5", "8", "7"]);
    let address = "SELECT ?url { GRAPH <https://data.example.org/works> {
        ?work <https://schema.org/url> ?url ;
            <http://purl.org/spar/cito/usesDataFrom> <https://data.example.org/dataset/Harbour_Cam> } }";
    assert_eq!(run(home, &["query", address]).out, "?url\n<https://e.org/new>\n");
}

#[test]
fn near_works_vote_for_the_datasets_they_use() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!("SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`");
        return;
    }
    let home = loaded();
    let indexed = run(home.path(), &["index", "--dpr", DPR]);
    assert!(indexed.err.contains("4 works encoded by sentence-transformers, 0 unchanged"), "{indexed:?}");
    let again = run(home.path(), &["index", "--dpr", DPR]);
    assert!(again.err.contains("0 works encoded by sentence-transformers, 4 unchanged"), "{again:?}");

    let answer = search(home.path(), &[QUERY]);
    assert_eq!(works_of(&answer, "Late_Boats"), Some((1, 1)), "{answer}");
    assert_eq!(works_of(&answer, "Undated_Boats"), Some((1, 1)), "{answer}");
    assert!(answer["rerank"]["works"].as_u64() >= Some(3), "{answer}");
    let without = search(home.path(), &["--works", "0", QUERY]);
    assert!(works_of(&without, "Undated_Boats").is_none() && without["rerank"]["works"].is_null(), "{without}");

    // A work of 2022 is no evidence for a search up to 2018.
    let earlier = search(home.path(), &["--before", "2018", QUERY]);
    assert_eq!(works_of(&earlier, "Harbour_Cam"), None, "{earlier}");
    assert_eq!(works_of(&earlier, "Undated_Boats"), Some((1, 1)), "{earlier}");

    let shown = run(home.path(), &["search", "--dpr", DPR, QUERY]).out;
    assert!(shown.contains("used by 1 work near to the query, of 1 in total:"), "{shown}");
    assert!(shown.contains("Counting masts (2016)"), "{shown}");
    let wrong = run(home.path(), &["search", "--dpr", DPR, "--fusion-weights", "1,1,1", QUERY]);
    assert!(wrong.code == Some(2) && wrong.err.contains("one for works if the home has vectors of works"), "{wrong:?}");
}

#[test]
fn topics_with_a_year_are_ranked_as_searches_up_to_it() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!("SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`");
        return;
    }
    let home = loaded();
    let indexed = run(home.path(), &["index", "--dpr", DPR]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    let (topics, output) = (home.path().join("topics.tsv"), home.path().join("boats.run"));
    fs::write(&topics, format!("all\t{QUERY}\nearly\t{QUERY}\t2018\n")).expect("written");
    let [topics, output] = [&topics, &output].map(|path| path.to_str().expect("UTF-8"));
    let ran = run(home.path(), &["run", "--topics", topics, "--dpr", DPR, "-o", output]);
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let lines = fs::read_to_string(output).expect("a run");
    let of_topic = |topic: &str| -> Vec<String> {
        let columns = lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        columns.filter(|columns| columns[0] == topic).map(|columns| columns[2].to_owned()).collect()
    };
    let of_search = |arguments: &[&str]| -> Vec<String> {
        let answer = search(home.path(), &[&["-k", "100", "--duplicates"], arguments].concat());
        let id = |hit: &Value| hit["id"].as_str().expect("an id").to_owned();
        answer["hits"].as_array().expect("hits").iter().map(id).collect()
    };
    assert_eq!(of_topic("all"), of_search(&[QUERY]));
    assert_eq!(of_topic("early"), of_search(&["--before", "2018", QUERY]));
    assert!(of_topic("all").len() > of_topic("early").len(), "{lines}");

    let record = fs::read_to_string(format!("{output}.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let weights = serde_json::json!([0.075, 0.075, 1.0, 0.4]);
    assert_eq!(record["rerank"]["fusion_weights"], weights, "documented in rank-by-works.md: {record}");
}

#[test]
fn works_are_backed_up_verified_and_repaired() {
    let home = loaded();
    let copy = tempfile::tempdir().expect("a folder");
    let backup = copy.path().join("backup");
    let backup_path = backup.to_str().expect("UTF-8");
    assert_eq!(run(home.path(), &["backup", backup_path]).code, Some(0));
    let restored = copy.path().join("home");
    let ran = run(&restored, &["restore", backup_path]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let file = |home: &Path| home.join("works/works.jsonl");
    assert_eq!(fs::read(file(&restored)).expect("restored"), fs::read(file(home.path())).expect("a file"));
    assert_eq!(numbers_in_rdf(&restored), ["4", "6", "5"]);

    let mut bytes = fs::read(file(&restored)).expect("a file");
    let last = bytes.len() - 9;
    bytes[last] ^= 4;
    fs::write(file(&restored), bytes).expect("written");
    let verified = run(&restored, &["verify"]);
    assert!(verified.code == Some(1) && verified.out.contains("works.jsonl"), "{verified:?}");
    let repaired = run(&restored, &["repair"]);
    assert!(repaired.code == Some(1) && repaired.out.contains("load all lists of works again"), "{repaired:?}");
    assert_eq!(run(&restored, &["verify"]).code, Some(0));
    assert_eq!(numbers_in_rdf(&restored), ["0", "0", "0"]);
}
