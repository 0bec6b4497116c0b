//! A collection in ACORDAR's published layout, from its files to a table: `datasets.json` with links only, dumps named after ids,
//! judgements split in folders.

use super::support::{Ran, run};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Subjects of the datasets 1 to 6; the words occur in the dumps only.
const SUBJECTS: [&str; 6] = ["heron", "otter", "beaver", "salmon", "osprey", "mussel"];

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, text).expect("written");
}

/// Writes the collection. Dataset 5 has a broken dump, dataset 6 has none, and one dump belongs to no dataset.
fn published() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let entry = |number: usize| {
        json!({
            "dataset_id": number.to_string(), "title": format!("Dataset {number}"), "description": "", "author": "None",
            "tags": "nature;water", "license": "", "version": "", "size": "1 kB", "created": "2019-01-01", "updated": "",
            "download": format!("https://e.org/{number}.rdf; https://e.org/{number}.nt"),
        })
    };
    let entries: Vec<_> = (1..=6).map(entry).collect();
    write(
        &folder.path().join("datasets.json"),
        &json!(entries).to_string(),
    );
    let triple = |number: usize| {
        format!(
            "<http://e.org/{number}> <http://www.w3.org/2000/01/rdf-schema#label> \"{}\" .\n",
            SUBJECTS[number - 1]
        )
    };
    let dumps = folder.path().join("dumps");
    write(&dumps.join("1.nt"), &triple(1));
    write(&dumps.join("2/part1.nt"), &triple(2));
    write(
        &dumps.join("2/part2.ttl"),
        "<http://e.org/2> <http://e.org/size> 3 .",
    );
    write(&dumps.join("3.ttl"), &triple(3));
    write(&dumps.join("4.nt"), &triple(4));
    write(
        &dumps.join("5.nt"),
        &format!("{}this is no triple\n", triple(5)),
    );
    write(&dumps.join("77.nt"), &triple(1));
    let judgements = |topics: &[usize]| {
        topics
            .iter()
            .map(|topic| format!("{topic}\t0\t{topic}\t2\n"))
            .collect::<String>()
    };
    write(
        &folder.path().join("qrels.txt"),
        &judgements(&[1, 2, 3, 4, 5]),
    );
    let queries: String = (1..=5)
        .map(|topic| format!("{topic}\t{}\n", SUBJECTS[topic - 1]))
        .collect();
    write(&folder.path().join("queries.tsv"), &queries);
    for fold in 0..5 {
        let part = |first: usize, count: usize| {
            judgements(
                &(first..first + count)
                    .map(|place| (fold + place) % 5 + 1)
                    .collect::<Vec<_>>(),
            )
        };
        let splits = folder
            .path()
            .join(format!("Splits for Cross Validation/fold{fold}"));
        write(&splits.join("train.txt"), &part(0, 3));
        write(&splits.join("valid.txt"), &part(3, 1));
        write(&splits.join("test.txt"), &part(4, 1));
    }
    let condition = r#"title = "A small ACORDAR"
about = "Made up."
command = "lodeseek reproduce CONDITION"
get = "it is made by a test"

[collection]
qrels = "qrels.txt"
queries = "queries.tsv"
folds = "Splits for Cross Validation"
topics = 5
judgements = 5
topics_by_fold = [1, 1, 1, 1, 1]
home = { datasets = 6, analysis = "acordar", with-content = 5 }

[[tables]]
id = "all"
title = "All"
source = "Every topic names its dataset."
average = "macro"
measures = ["nDCG@5", "AP@5"]
rows = [{ name = "BM25", model = { name = "bm25" }, expected = [1.0, 1.0] }]
"#;
    write(&folder.path().join("small.toml"), condition);
    folder
}

/// Runs a command on the home of the collection.
fn command(folder: &Path, arguments: &[&str]) -> Ran {
    run(&folder.join("home"), arguments)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

fn index(folder: &Path) {
    let indexed = command(
        folder,
        &["index", "--analysis", "acordar", "--ranking", "words"],
    );
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
}

#[test]
fn dumps_are_found_by_id_and_the_rest_is_reported() {
    let folder = published();
    let (datasets, dumps) = (
        path(folder.path(), "datasets.json"),
        path(folder.path(), "dumps"),
    );
    let loaded = command(
        folder.path(),
        &[
            "load",
            &datasets,
            "--dumps",
            &dumps,
            "--report",
            &path(folder.path(), "r.json"),
        ],
    );
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    for expected in [
        "5 of 6 datasets have a dump in ",
        "; 1 file there belong",
        "without a dump: 6\n",
        "6 datasets: 5 loaded, 1 with a description and no data; ",
        "1 broken statement skipped; 5, 5.nt",
    ] {
        assert!(loaded.err.contains(expected), "{expected}: {}", loaded.err);
    }
    assert!(
        !loaded.err.contains("on the web"),
        "links beside a dump are no problem: {}",
        loaded.err
    );
    let archive = path(folder.path(), "dumps.tar.gz");
    let packed = Command::new("tar")
        .args(["-C", &path(folder.path(), "."), "-czf", &archive, "dumps"])
        .status();
    assert!(packed.expect("tar").success());
    let again = command(folder.path(), &["load", &datasets, "--dumps", &archive]);
    assert!(
        again.code == Some(0) && again.err.contains("6 datasets: 6 unchanged"),
        "{again:?}"
    );

    index(folder.path());
    let shown = command(folder.path(), &["show", "2"]);
    assert!(
        shown.out.contains("https://e.org/2.rdf") && shown.out.contains("https://e.org/2.nt"),
        "{shown:?}"
    );

    let without = command(
        folder.path(),
        &["load", &datasets, "--dumps", &path(folder.path(), "home")],
    );
    assert!(
        without.code == Some(2) && without.err.contains("no dump of any of the 6 datasets"),
        "{without:?}"
    );
    let wrong = command(
        folder.path(),
        &[
            "load",
            &datasets,
            "--dumps",
            &dumps,
            "--dumps-pattern",
            "x.nt",
        ],
    );
    assert!(
        wrong.code == Some(2) && wrong.err.contains("{id}"),
        "{wrong:?}"
    );

    // A dump that is gone does not delete the content of an earlier load.
    fs::remove_file(folder.path().join("dumps/1.nt")).expect("removed");
    let again = command(folder.path(), &["load", &datasets, "--dumps", &dumps]);
    assert!(
        again.code == Some(1) && again.err.contains("content loaded before is unchanged"),
        "{again:?}"
    );
}

#[cfg(feature = "lab")]
#[test]
fn from_the_published_files_to_a_table() {
    let folder = published();
    let (datasets, data) = (
        path(folder.path(), "datasets.json"),
        path(folder.path(), ""),
    );
    let condition = path(folder.path(), "small.toml");
    let reproduce = [
        "reproduce",
        &condition,
        "--data",
        &data,
        "--output",
        &path(folder.path(), "RESULTS.md"),
    ];
    let loaded = command(folder.path(), &["load", &datasets]);
    assert!(
        loaded.err.contains("6 with a description and no data"),
        "{loaded:?}"
    );
    index(folder.path());
    let refused = command(folder.path(), &reproduce);
    assert!(
        refused.code == Some(2)
            && refused
                .err
                .contains("0 of 6 datasets in the home have content"),
        "{refused:?}"
    );
    assert!(
        refused.err.contains("load datasets.json --dumps DIR"),
        "{refused:?}"
    );

    let loaded = command(
        folder.path(),
        &["load", &datasets, "--dumps", &path(folder.path(), "dumps")],
    );
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    index(folder.path());
    let reproduced = command(folder.path(), &reproduce);
    assert!(
        reproduced.code == Some(0) && reproduced.out.contains("2 cells: 2 OK"),
        "{reproduced:?}"
    );
    let written = fs::read_to_string(folder.path().join("RESULTS.md")).expect("results");
    assert!(written.contains("| BM25 | 1.0000 | 1.0000 |"), "{written}");
}
