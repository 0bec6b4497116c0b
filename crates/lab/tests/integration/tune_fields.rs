//! `tune-fields` as people run it.

use super::support::{Ran, home, run, testdata};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

fn tune(home: &Path, output: &str) -> Ran {
    let files = [
        "--topics",
        "testdata/queries.tsv",
        "--qrels",
        "testdata/qrels.txt",
        "--folds",
        "3",
    ];
    run(
        home,
        &[
            &["tune-fields", "--fields", "metadata", "--output", output][..],
            &files,
        ]
        .concat(),
    )
}

/// Identifies this build of the program.
fn build() -> Value {
    let file = fs::metadata(env!("CARGO_BIN_EXE_lodeseek-lab")).expect("the program");
    let changed = file
        .modified()
        .expect("a time")
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970");
    serde_json::json!({ "bytes": file.len(), "modified": changed.as_secs() })
}

#[test]
fn folds_of_other_judgements_are_refused() {
    let (home, out) = (
        home("testdata/catalog.ttl"),
        tempfile::tempdir().expect("a folder"),
    );
    let qrels = fs::read_to_string(testdata("qrels.txt")).expect("judgements");
    for fold in 0..3 {
        for part in ["train", "valid", "test"] {
            let lines: String = qrels
                .lines()
                .take(3)
                .map(|line| format!("{line}\n"))
                .collect();
            fs::write(out.path().join(format!("fold{fold}.{part}.qrels")), lines).expect("written");
        }
    }
    let folds = out.path().to_str().expect("a path");
    let files = [
        "--topics",
        "testdata/queries.tsv",
        "--qrels",
        "testdata/qrels.txt",
        "--folds",
        folds,
    ];
    let output = out.path().join("t.run");
    let ran = run(
        home.path(),
        &[
            &["tune-fields", "--output", output.to_str().expect("a path")][..],
            &files,
        ]
        .concat(),
    );
    assert!(
        ran.code == Some(2) && ran.err.contains("do not belong together"),
        "{ran:?}"
    );
}

#[test]
fn tuning_ranks_every_topic_once_and_goes_on_where_it_was() {
    let (home, out) = (
        home("testdata/catalog.ttl"),
        tempfile::tempdir().expect("a folder"),
    );
    let file = out.path().join("t.run");
    let path = file.to_str().expect("a path");
    let tuned = tune(home.path(), path);
    assert_eq!(tuned.code, Some(0), "{}", tuned.err);
    assert!(
        tuned
            .out
            .contains("over all 10 topics, each tested once: untuned 0.4000, tuned 0.4000"),
        "{}",
        tuned.out
    );
    let mut record = json(&out.path().join("t.run.json"));
    let folds = record["weights_of_folds"]
        .as_array()
        .expect("folds")
        .clone();
    assert_eq!(folds.len(), 3);
    assert!(
        folds.iter().all(|fold| fold["weights"][5] == 0.0),
        "literals stay out: {folds:?}"
    );
    assert!(
        !out.path().join("t.run.tuning.json").exists(),
        "what is finished is not kept"
    );

    // A tuning that was stopped after its first fold, with weights no search would give.
    let object = record.as_object_mut().expect("an object");
    object.remove("weights_of_folds");
    object.remove("arguments");
    let odd = serde_json::json!({ "weights": [0.123, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "learned": 0.5 });
    let state =
        serde_json::json!({ "of": { "record": record, "build": build() }, "folds": { "0": odd } });
    fs::write(out.path().join("t.run.tuning.json"), state.to_string()).expect("written");
    let again = tune(home.path(), path);
    assert!(
        again.err.contains("resuming an interrupted tuning"),
        "{}",
        again.err
    );
    assert_eq!(
        json(&out.path().join("t.run.json"))["weights_of_folds"][0],
        odd
    );

    // Of other inputs it is not taken.
    record["folds"] = serde_json::json!({ "dealt": 4 });
    let other =
        serde_json::json!({ "of": { "record": record, "build": build() }, "folds": { "0": odd } });
    fs::write(out.path().join("t.run.tuning.json"), other.to_string()).expect("written");
    assert_eq!(tune(home.path(), path).code, Some(0));
    assert_eq!(
        json(&out.path().join("t.run.json"))["weights_of_folds"].as_array(),
        Some(&folds)
    );
}
