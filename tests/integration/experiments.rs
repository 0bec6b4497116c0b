//! `run`, `tune` and `tune-fields` as people run them.

use super::support::{Ran, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn home() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["load", "testdata/catalog.ttl"][..], &["index"]] {
        assert_eq!(run(folder.path(), arguments).code, Some(0), "{arguments:?}");
    }
    folder
}

fn well(home: &Path, arguments: &[&str]) -> Ran {
    let ran = run(home, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.err);
    ran
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

#[test]
fn every_model_makes_a_run_with_its_record() {
    let (home, out) = (home(), tempfile::tempdir().expect("a folder"));
    let file = out.path().join("a.run");
    let path = file.to_str().expect("a path");
    for (model, first) in [("tf-idf", 1.0), ("bm25", 1.0), ("lmd", 1.0), ("fsdm", 1.0)] {
        well(
            home.path(),
            &[
                "run",
                "--topics",
                "testdata/queries.tsv",
                "--model",
                model,
                "--output",
                path,
            ],
        );
        let lines = fs::read_to_string(&file).expect("a run");
        let fields: Vec<&str> = lines.lines().next().expect("a line").split('\t').collect();
        assert!(
            matches!(fields[..], ["q1", "Q0", "chesapeake-water", "1", _, tag] if tag == model),
            "{fields:?}"
        );
        let record = json(&out.path().join("a.run.json"));
        assert_eq!(
            (
                &record["model"]["name"],
                &record["model"]["weights"]["title"]
            ),
            (&model.into(), &first.into())
        );
        assert_eq!(record["collection"]["datasets"], 12);
        assert_eq!(record["topics"]["sha256"].as_str().map(str::len), Some(64));
    }
    let metadata = well(
        home.path(),
        &[
            "run",
            "--topics",
            "testdata/queries.tsv",
            "--fields",
            "metadata",
        ],
    );
    assert!(
        metadata.out.contains("\tbm25.metadata\n") && !metadata.out.contains("\tbm25\n"),
        "{}",
        metadata.out
    );
    let none = run(
        home.path(),
        &[
            "run",
            "--topics",
            "testdata/queries.tsv",
            "--fields",
            "data",
            "--weights",
            "title=1",
        ],
    );
    assert!(
        none.code == Some(2) && none.err.contains("no field is left"),
        "{none:?}"
    );
    let topics = out.path().join("topics.tsv");
    fs::copy("testdata/queries.tsv", &topics).expect("copied");
    let name = topics.to_str().expect("a path");
    let refused = run(home.path(), &["run", "--topics", name, "--output", name]);
    assert!(
        refused.code == Some(2) && refused.err.contains("is the file of topics"),
        "{refused:?}"
    );
    assert_eq!(
        fs::read(&topics).expect("kept"),
        fs::read("testdata/queries.tsv").expect("read")
    );
    for wrong in [
        ["--model", "bm26"],
        ["--weights", "name=1"],
        ["--lengths", "long"],
    ] {
        let refused = run(
            home.path(),
            &[&["run", "--topics", "testdata/queries.tsv"][..], &wrong].concat(),
        );
        assert!(
            refused.code == Some(2) && refused.err.contains(wrong[1]),
            "{refused:?}"
        );
    }
}

#[test]
fn search_takes_a_model_and_explains_it() {
    let home = home();
    for (model, title) in [
        ("tf-idf", "TF-IDF over fields"),
        ("lmd", "language model with Dirichlet smoothing over fields"),
        ("fsdm", "fielded sequential dependence model"),
    ] {
        let found = well(
            home.path(),
            &[
                "search",
                "nitrogen reduction plan",
                "--model",
                model,
                "--explain",
                "-k",
                "1",
            ],
        );
        assert!(
            found.out.contains(title) && found.out.contains("chesapeake-water"),
            "{}",
            found.out
        );
    }
    let pairs = well(
        home.path(),
        &[
            "search",
            "nitrogen reduction",
            "--model",
            "fsdm",
            "--explain",
            "-k",
            "1",
        ],
    )
    .out;
    assert!(
        pairs.contains("“nitrogen reduction” in order") && pairs.contains("within 8 tokens"),
        "{pairs}"
    );
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
    let file = fs::metadata(env!("CARGO_BIN_EXE_lodeseek")).expect("the program");
    let changed = file
        .modified()
        .expect("a time")
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970");
    serde_json::json!({ "bytes": file.len(), "modified": changed.as_secs() })
}

#[test]
fn folds_of_other_judgements_are_refused() {
    let (home, out) = (home(), tempfile::tempdir().expect("a folder"));
    let qrels = fs::read_to_string("testdata/qrels.txt").expect("judgements");
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
    let (home, out) = (home(), tempfile::tempdir().expect("a folder"));
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

/// An index written by another version of the program is reported as such, and `--rebuild` replaces it.
#[test]
fn an_index_of_another_version_is_rebuilt() {
    let home = home();
    let meta = home.path().join("index/meta.json");
    let text = fs::read_to_string(&meta).expect("the schema");
    fs::write(
        &meta,
        text.replacen("\"fieldnorms\": true", "\"fieldnorms\": false", 1),
    )
    .expect("written");
    for arguments in [&["search", "ginkgo"][..], &["index"]] {
        let refused = run(home.path(), arguments);
        assert!(
            refused.code == Some(2) && refused.err.contains("lodeseek index --rebuild"),
            "{refused:?}"
        );
    }
    well(home.path(), &["index", "--rebuild"]);
    assert!(
        well(home.path(), &["search", "ginkgo"])
            .out
            .contains("street-trees")
    );
}
