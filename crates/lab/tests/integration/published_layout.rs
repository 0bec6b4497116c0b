//! A collection in ACORDAR's published layout, from its files to a table: `datasets.json` with links only, dumps named after ids,
//! judgements split in folders.

use super::support::{Ran, load, run};
use lodeseek_catalog::{Catalog, DumpFolder};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Subjects of the datasets 1 to 6; the words occur in the dumps only. Dataset 6 has no dump.
const SUBJECTS: [&str; 6] = ["heron", "otter", "beaver", "salmon", "osprey", "mussel"];

const CONDITION: &str = r#"title = "A small ACORDAR"
about = "Made up."
command = "lodeseek-lab reproduce CONDITION"
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

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, text).expect("written");
}

/// Returns the judgements of topics: each finds the dataset of its number.
fn judgements(topics: &[usize]) -> String {
    let mut lines = String::new();
    for topic in topics {
        lines.push_str(&format!("{topic}\t0\t{topic}\t2\n"));
    }
    lines
}

/// Writes the collection.
fn published() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let (mut entries, mut queries) = (Vec::new(), String::new());
    for (place, subject) in SUBJECTS.iter().enumerate() {
        let number = place + 1;
        entries.push(json!({
            "dataset_id": number.to_string(), "title": format!("Dataset {number}"), "description": "",
            "download": format!("https://e.org/{number}.rdf"),
        }));
        if number < SUBJECTS.len() {
            queries.push_str(&format!("{number}\t{subject}\n"));
            let triple = format!(
                "<http://e.org/{number}> <http://www.w3.org/2000/01/rdf-schema#label> \"{subject}\" .\n"
            );
            write(&root.join(format!("dumps/{number}.nt")), &triple);
        }
    }
    write(&root.join("datasets.json"), &json!(entries).to_string());
    write(&root.join("queries.tsv"), &queries);
    write(&root.join("qrels.txt"), &judgements(&[1, 2, 3, 4, 5]));
    write(&root.join("small.toml"), CONDITION);
    let mut topics = [1, 2, 3, 4, 5];
    for fold in 0..5 {
        let splits = root.join(format!("Splits for Cross Validation/fold{fold}"));
        write(&splits.join("train.txt"), &judgements(&topics[..3]));
        write(&splits.join("valid.txt"), &judgements(&topics[3..4]));
        write(&splits.join("test.txt"), &judgements(&topics[4..]));
        topics.rotate_left(1);
    }
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

fn reproduce(folder: &Path) -> Ran {
    let (condition, data) = (path(folder, "small.toml"), path(folder, ""));
    let output = path(folder, "RESULTS.md");
    let arguments = [
        "reproduce",
        &condition,
        "--data",
        &data,
        "--output",
        &output,
    ];
    run(&folder.join("home"), &arguments)
}

#[test]
fn from_the_published_files_to_a_table() {
    let folder = published();
    let home = folder.path().join("home");
    let datasets = folder.path().join("datasets.json");
    load(&home, Catalog::read(&datasets).expect("a catalogue"));
    let refused = reproduce(folder.path());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for part in [
        "0 of 6 datasets in the home have content",
        "load datasets.json --dumps DIR",
    ] {
        assert!(refused.err.contains(part), "{refused:?}");
    }

    let dumps = DumpFolder::open(&folder.path().join("dumps"), None).expect("a folder");
    let mut catalogs = [Catalog::read(&datasets).expect("a catalogue")];
    dumps.assign(&mut catalogs, "").expect("assigned");
    let [catalog] = catalogs;
    load(&home, catalog);
    let reproduced = reproduce(folder.path());
    assert_eq!(reproduced.code, Some(0), "{reproduced:?}");
    assert!(reproduced.out.contains("2 cells: 2 OK"), "{reproduced:?}");
    let written = fs::read_to_string(folder.path().join("RESULTS.md")).expect("results");
    assert!(written.contains("| BM25 | 1.0000 | 1.0000 |"), "{written}");
}
