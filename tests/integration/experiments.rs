//! `run` and the models of `search` as people run them.

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
