//! Ranking by meaning as people run it: models in folders, through the program itself.

#![expect(clippy::print_stderr, reason = "a test that skips says so")]

use super::support::{Ran, program, run};
use std::path::Path;
use tempfile::TempDir;

const DPR: &str = "testdata/models/sentence-transformers";
const COLBERT: &str = "testdata/models/colbert-native";

fn loaded() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(run(folder.path(), &["load", "testdata/catalog.ttl"]).code, Some(0));
    folder
}

/// The program without any ONNX Runtime that is not named to it.
fn without_library(home: &Path, arguments: &[&str]) -> Ran {
    let mut command = program(home);
    command.env_remove("ORT_DYLIB_PATH").env("LODESEEK_CACHE", home.join("no cache")).args(arguments);
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn what_is_missing_is_said_before_anything_is_indexed() {
    let home = loaded();
    let nowhere = run(home.path(), &["index", "--dpr", "nowhere"]);
    assert!(nowhere.code == Some(2) && nowhere.err.contains("the model nowhere was not found in"), "{nowhere:?}");
    let library = ["index", "--dpr", DPR, "--onnxruntime", "testdata/README.md"];
    let wrong = without_library(home.path(), &library);
    assert!(wrong.code == Some(2) && wrong.err.contains("testdata/README.md"), "{wrong:?}");
    assert!(wrong.err.lines().count() <= 2 && !wrong.err.contains("panicked"), "{wrong:?}");
    let unindexed = run(home.path(), &["search", "trees"]);
    assert!(unindexed.code == Some(2) && unindexed.err.contains("there is no index"), "{unindexed:?}");
    let device = run(home.path(), &["index", "--dpr", DPR, "--device", "gpu"]);
    assert!(device.code == Some(2) && device.err.contains("auto, cpu, cuda, cuda:N"), "{device:?}");
}

#[test]
fn encode_search_run_and_forget() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!("SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`");
        return;
    }
    let home = loaded();
    let with = |arguments: &[&'static str]| {
        let all: Vec<&str> = arguments.iter().copied().chain(["--dpr", DPR, "--colbert", COLBERT]).collect();
        run(home.path(), &all)
    };
    let indexed = with(&["index"]);
    for part in
        ["12 datasets encoded, DPR vectors by sentence-transformers, 0 unchanged", "ColBERT vectors by colbert-native"]
    {
        assert!(indexed.code == Some(0) && indexed.err.contains(part), "{indexed:?}");
    }
    let again = with(&["index"]);
    assert!(again.err.matches("0 datasets encoded").count() == 2, "{again:?}");

    let found = with(&["search", "--json", "contamination of the atmosphere"]);
    let answer: serde_json::Value = serde_json::from_str(&found.out).expect("JSON");
    assert_eq!(answer["rerank"]["encoders"].as_array().map(Vec::len), Some(2), "{answer}");
    let hit = &answer["hits"][0];
    assert_eq!((hit["fields"].as_array().map(Vec::len), hit["dense"].as_array().map(Vec::len)), (Some(0), Some(2)));
    let carried = &hit["dense"][1]["parts"][0]["text"];
    assert!(carried.as_str().is_some_and(|text| !text.is_empty()), "what is near is named: {hit}");
    let shown = with(&["search", "-k", "1", "contamination of the atmosphere"]);
    assert!(shown.out.contains("contains none of the words; similar in meaning:"), "{}", shown.out);
    let closest = with(&["search", "--json", "--min-similarity", "99,99", "contamination of the atmosphere"]);
    let answer: serde_json::Value = serde_json::from_str(&closest.out).expect("JSON");
    assert_eq!((closest.code, &answer["onlyClosest"]), (Some(1), &true.into()), "nothing was found");

    let ranked = [0, 1].map(|_| with(&["run", "--topics", "testdata/queries.tsv"]));
    assert!(ranked[0].out.contains("fsdm+bm25+sentence-transformers+colbert-native") && ranked[0].out == ranked[1].out);
    let by_lmd = with(&["run", "--topics", "testdata/queries.tsv", "--model", "lmd"]);
    assert!(by_lmd.out.contains("lmd+sentence-transformers+colbert-native") && by_lmd.out != ranked[0].out);
    for (arguments, said) in [
        (&["search", "--fusion", "none", "trees"][..], "2 encoders without a fusion"),
        (&["search", "--fusion-weights", "1", "trees"], "1 weights for 4 rankings"),
        (&["search", "--floor", "1", "trees"], "1 minimum similarities for 2 encoders"),
        (&["search", "--model", "lmd", "--pool", "bm25", "trees"], "--pool cannot be combined with --model"),
    ] {
        let refused = with(arguments);
        assert!(refused.code == Some(2) && refused.err.contains(said), "{refused:?}");
    }
    assert_eq!(run(home.path(), &["index", "--forget-vectors", "sentence-transformers"]).code, Some(0));
    let forgotten = with(&["search", "trees"]);
    let named = forgotten.err.contains("requires vectors of sentence-transformers, but")
        && forgotten.err.contains("has vectors of colbert-native only; run `lodeseek index --dpr");
    assert!(forgotten.code == Some(2) && named, "{forgotten:?}");
}
