//! Ranking by meaning as people run it: models in folders, through the program itself.

#![expect(clippy::print_stderr, reason = "a test that skips says so")]

use super::support::{AS_INDEXED, Ran, program, run, run_with};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const DPR: &str = "testdata/models/sentence-transformers";
const COLBERT: &str = "testdata/models/colbert-native";

fn loaded() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        run(folder.path(), &["load", "testdata/catalog.ttl"]).code,
        Some(0)
    );
    folder
}

/// The program without any ONNX Runtime that is not named to it.
fn without_library(home: &Path, arguments: &[&str]) -> Ran {
    let mut command = program(home);
    command
        .env_remove("ORT_DYLIB_PATH")
        .env("LODESEEK_CACHE", home.join("no cache"))
        .args(arguments);
    ran(&mut command)
}

/// The program with the ranking that the index recorded.
fn as_indexed(home: &Path, arguments: &[&str]) -> Ran {
    ran(program(home).env_remove("LODESEEK_RANKING").args(arguments))
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

#[test]
fn what_is_missing_is_said_before_anything_is_indexed() {
    let home = loaded();
    let nowhere = run(home.path(), &["index", "--dpr", "nowhere"]);
    assert!(
        nowhere.code == Some(2) && nowhere.err.contains("the model nowhere was not found in"),
        "{nowhere:?}"
    );
    let library = ["index", "--dpr", DPR, "--onnxruntime", "testdata/README.md"];
    let wrong = without_library(home.path(), &library);
    assert!(
        wrong.code == Some(2) && wrong.err.contains("testdata/README.md"),
        "{wrong:?}"
    );
    assert!(
        wrong.err.lines().count() <= 2 && !wrong.err.contains("panicked"),
        "{wrong:?}"
    );
    let unindexed = run(home.path(), &["search", "trees"]);
    assert!(
        unindexed.code == Some(2) && unindexed.err.contains("there is no index"),
        "{unindexed:?}"
    );
    let device = run(home.path(), &["index", "--dpr", DPR, "--device", "gpu"]);
    assert!(
        device.code == Some(2) && device.err.contains("auto, cpu, cuda, cuda:N"),
        "{device:?}"
    );
}

#[test]
fn encode_search_run_and_forget() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let home = loaded();
    let with = |arguments: &[&'static str]| {
        let all: Vec<&str> = arguments
            .iter()
            .copied()
            .chain(["--dpr", DPR, "--colbert", COLBERT])
            .collect();
        run(home.path(), &all)
    };
    let indexed = with(&["index"]);
    for part in [
        "12 datasets encoded, DPR vectors by sentence-transformers, 0 unchanged",
        "ColBERT vectors by colbert-native",
    ] {
        assert!(
            indexed.code == Some(0) && indexed.err.contains(part),
            "{indexed:?}"
        );
    }
    let again = with(&["index"]);
    assert!(
        again.err.matches("0 datasets encoded").count() == 2,
        "{again:?}"
    );

    let search = |variables: &[(&'static str, &'static str)], arguments: &[&'static str]| {
        let variables = [&[AS_INDEXED], variables].concat();
        run_with(home.path(), &variables, &[&["search"], arguments].concat())
    };
    let found = search(&[], &["--json", "contamination of the atmosphere"]);
    let answer: serde_json::Value = serde_json::from_str(&found.out).expect("JSON");
    assert_eq!(
        answer["rerank"]["encoders"].as_array().map(Vec::len),
        Some(2),
        "{answer}"
    );
    let hit = &answer["hits"][0];
    assert_eq!(
        (
            hit["fields"].as_array().map(Vec::len),
            hit["dense"].as_array().map(Vec::len)
        ),
        (Some(0), Some(2))
    );
    let carried = &hit["dense"][1]["parts"][0]["text"];
    assert!(
        carried.as_str().is_some_and(|text| !text.is_empty()),
        "what is near is named: {hit}"
    );
    let shown = search(&[], &["-k", "1", "contamination of the atmosphere"]);
    assert!(
        shown
            .out
            .contains("contains none of the words; similar in meaning:"),
        "{}",
        shown.out
    );
    let closest = search(
        &[("LODESEEK_RERANK_MIN_SIMILARITY", "99,99")],
        &["--json", "contamination of the atmosphere"],
    );
    let answer: serde_json::Value = serde_json::from_str(&closest.out).expect("JSON");
    assert_eq!(
        (closest.code, &answer["onlyClosest"]),
        (Some(1), &true.into()),
        "nothing was found"
    );

    let ranked = [0, 1].map(|_| with(&["run", "--topics", "testdata/queries.tsv"]));
    assert!(
        ranked[0]
            .out
            .contains("fsdm+bm25+dpr:sentence-transformers+colbert:colbert-native")
            && ranked[0].out == ranked[1].out
    );
    let by_lmd = with(&["run", "--topics", "testdata/queries.tsv", "--model", "lmd"]);
    assert!(
        by_lmd
            .out
            .contains("lmd+dpr:sentence-transformers+colbert:colbert-native")
            && by_lmd.out != ranked[0].out
    );
    let topics = ["run", "--topics", "testdata/queries.tsv"];
    for (arguments, said) in [
        (&["--fusion", "none"][..], "2 encoders without a fusion"),
        (&["--fusion-weights", "1"], "1 weights for 4 rankings"),
        (&["--floor", "1"], "1 minimum similarities for 2 encoders"),
        (
            &["--model", "lmd", "--pool", "bm25"],
            "--pool cannot be combined with --model",
        ),
    ] {
        let refused = with(&[&topics[..], arguments].concat());
        assert!(
            refused.code == Some(2) && refused.err.contains(said),
            "{refused:?}"
        );
    }
    for (variable, said) in [
        (
            ("LODESEEK_FUSION_METHOD", "none"),
            "2 encoders without a fusion",
        ),
        (
            ("LODESEEK_RERANK_MIN_SIMILARITY", "1"),
            "1 minimum similarities for 2 encoders",
        ),
    ] {
        let refused = search(&[variable], &["trees"]);
        assert!(
            refused.code == Some(2) && refused.err.contains(said),
            "{refused:?}"
        );
    }
    assert_eq!(
        run(
            home.path(),
            &["index", "--forget-vectors", "sentence-transformers"]
        )
        .code,
        Some(0)
    );
    let forgotten = with(&topics);
    let named = forgotten
        .err
        .contains("requires vectors of sentence-transformers, but")
        && forgotten
            .err
            .contains("has vectors of colbert-native only; run `lodeseek index --dpr");
    assert!(forgotten.code == Some(2) && named, "{forgotten:?}");
}

const STATIC: &str = "testdata/models/static-model2vec";
const SPARSE: &str = "testdata/models/splade-inference-free";
const CROSS_ENCODER: &str = "testdata/models/cross-encoder";

fn json(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn static_embeddings_need_no_library() {
    let home = loaded();
    let indexed = without_library(home.path(), &["index", "--dpr", STATIC]);
    let expected = "12 datasets encoded, DPR vectors by static-model2vec";
    assert!(
        indexed.code == Some(0) && indexed.err.contains(expected),
        "{indexed:?}"
    );
    let found = json(&without_library(
        home.path(),
        &["search", "--json", "--ranking", "best", "trees"],
    ));
    assert_eq!(
        found["rerank"]["encoders"][0]["model"], "static-model2vec",
        "{found}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("settings.run");
    let output = output.to_str().expect("UTF-8");
    let topics = [
        "run",
        "--topics",
        "testdata/queries.tsv",
        "--output",
        output,
    ];
    let settings = [
        AS_INDEXED,
        ("LODESEEK_RERANK_POOL_DEPTH", "7"),
        ("LODESEEK_RERANK_DENSE_DEPTH", "3"),
        ("LODESEEK_RERANK_COMBINE", "sum"),
        ("LODESEEK_FUSION_METHOD", "rrf"),
    ];
    for (flags, pool_depth, method) in [
        (&[][..], 7, "rrf k=60"),
        (
            &["--pool-depth", "9", "--fusion", "rrf k=10"],
            9,
            "rrf k=10",
        ),
    ] {
        let ran = run_with(home.path(), &settings, &[&topics, flags].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let record = std::fs::read_to_string(format!("{output}.json")).expect("a record");
        let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
        let record = &record["rerank"];
        assert_eq!(
            (
                &record["pool_depth"],
                &record["dense_depth"],
                &record["combination"],
                &record["fusion"]
            ),
            (&pool_depth.into(), &3.into(), &"sum".into(), &method.into()),
            "flags precede settings: {record}"
        );
    }
    std::fs::write(folder.path().join("config.json"), "{}").expect("written");
    let path = folder.path().to_str().expect("UTF-8");
    let plain = without_library(home.path(), &["index", "--dpr", path]);
    assert!(
        plain.code == Some(2) && plain.err.contains("add --pooling mean, cls or lasttoken"),
        "{plain:?}"
    );
}

/// Evaluates BM25 for the topics of `testdata/`.
fn evaluate_bm25(home: &Path, more: &[&str]) -> Ran {
    let measured = [
        "evaluate",
        "testdata/qrels.txt",
        "--topics",
        "testdata/queries.tsv",
        "--models",
        "bm25",
        "--metrics",
        "AP@10",
    ];
    let ran = without_library(home, &[&measured[..], more].concat());
    assert_eq!(ran.code, Some(0), "{more:?}: {ran:?}");
    ran
}

/// Returns the names of the rows of an evaluation in CSV.
fn row_names(csv: &str) -> Vec<&str> {
    csv.lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
        .collect()
}

/// A row that states `bm25` for a fusion with vectors is read as the score of BM25.
#[test]
fn evaluated_rankings_are_named_like_runs() {
    let home = loaded();
    let home = home.path();
    let indexed = without_library(home, &["index", "--dpr", STATIC]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    for (options, suffix) in [
        (&[][..], ""),
        (&["--ranking", "best"], "+dpr:static-model2vec"),
        (
            &["--ranking", "best", "--popularity", "0.5"],
            "+dpr:static-model2vec+popularity",
        ),
        (&["--popularity", "0.5"], "+popularity"),
    ] {
        let expected = ["", ".metadata", ".data"].map(|fields| format!("bm25{fields}{suffix}"));
        let csv = evaluate_bm25(home, &[options, &["--format", "csv"]].concat());
        assert_eq!(row_names(&csv.out), expected, "{options:?}");
        let table = evaluate_bm25(home, options);
        let names: Vec<&str> = table
            .out
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(names, expected, "{options:?}");
        let evaluated = json(&evaluate_bm25(home, &[options, &["--json"]].concat()));
        for ((row, fields), name) in ["all", "metadata", "data"]
            .into_iter()
            .enumerate()
            .zip(&expected)
        {
            let row = &evaluated["runs"][row];
            assert_eq!(
                (&row["run"], &row["tag"]),
                (&name.as_str().into(), &name.as_str().into())
            );
            // The same ranking as a run has the same tag and the same score.
            let output = home.join("one.run");
            let output = output.to_str().expect("UTF-8");
            let topics = [
                "run",
                "--topics",
                "testdata/queries.tsv",
                "--model",
                "bm25",
                "--fields",
                fields,
                "--output",
                output,
            ];
            let ran = without_library(home, &[&topics[..], options].concat());
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let measured = json(&without_library(
                home,
                &[
                    "evaluate",
                    "testdata/qrels.txt",
                    output,
                    "--metrics",
                    "AP@10",
                    "--json",
                ],
            ));
            let run = &measured["runs"][0];
            assert_eq!(
                (&run["tag"], &run["means"]),
                (&row["tag"], &row["means"]),
                "{options:?}"
            );
        }
    }
    let baseline = [
        "--ranking",
        "best",
        "--compare=bm25.data+dpr:static-model2vec",
    ];
    let compared = evaluate_bm25(home, &baseline);
    assert!(
        compared
            .out
            .contains("differs from bm25.data+dpr:static-model2vec;"),
        "{compared:?}"
    );
}

#[test]
fn sparse_models_and_cross_encoders() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let home = loaded();
    let indexed = run(
        home.path(),
        &[
            "index",
            "--dpr",
            STATIC,
            "--sparse",
            SPARSE,
            "--vectors",
            "int8",
        ],
    );
    let expected = "12 datasets encoded, sparse vectors by splade-inference-free";
    assert!(
        indexed.code == Some(0) && indexed.err.contains(expected),
        "{indexed:?}"
    );
    assert!(
        indexed
            .err
            .contains("of splade-inference-free, 3 columns of f16"),
        "{indexed:?}"
    );

    // The record of the index is used.
    let search_with = |variables: &[(&'static str, &'static str)], more: &[&'static str]| {
        let variables = [&[AS_INDEXED], variables].concat();
        let search = ["search", "--json", "-k", "12", "trees of the street"];
        run_with(home.path(), &variables, &[&search, more].concat())
    };
    let search = |more: &[&'static str]| search_with(&[], more);
    let fused = json(&search(&["--explain"]));
    let granularities: Vec<&serde_json::Value> = fused["rerank"]["encoders"]
        .as_array()
        .expect("encoders")
        .iter()
        .map(|one| &one["granularity"])
        .collect();
    assert_eq!(granularities, ["text", "term"]);
    let sparse = &fused["hits"][0]["dense"][1];
    let part = &sparse["parts"][0];
    assert!(
        sparse["score"].as_f64() > Some(0.0) && part["score"].as_f64() > Some(0.0),
        "{sparse}"
    );
    assert!(
        ["tree", "##s", "street", "of", "the"].contains(&part["text"].as_str().expect("a term")),
        "{part}"
    );
    let plain = json(&search(&[]));
    let wordless: Vec<_> = plain["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .filter(|hit| hit["fields"] == serde_json::json!([]))
        .collect();
    assert!(
        wordless
            .iter()
            .any(|hit| hit["dense"][1]["score"].as_f64() > Some(0.0)),
        "{plain:#}"
    );
    assert!(
        wordless
            .iter()
            .all(|hit| hit["dense"][1]["parts"].is_null()),
        "parts by terms need the network again"
    );
    let refused = as_indexed(
        home.path(),
        &[
            "run",
            "--topics",
            "testdata/queries.tsv",
            "--fusion-weights",
            "1,1,1",
        ],
    );
    assert!(
        refused.code == Some(2) && refused.err.contains("3 weights for 4 rankings"),
        "{refused:?}"
    );

    let model = ("LODESEEK_ENCODERS_CROSS_ENCODER", CROSS_ENCODER);
    let deadline = "LODESEEK_ENCODERS_CROSS_ENCODER_DEADLINE";
    let ordered = json(&search_with(&[model, (deadline, "600000")], &[]));
    let stage =
        serde_json::json!({"model": "cross-encoder", "scored": 10, "deadlinePassed": false});
    assert_eq!(ordered["rerank"]["crossEncoder"], stage);
    let hits = ordered["hits"].as_array().expect("hits");
    let scores: Vec<f64> = hits
        .iter()
        .filter_map(|hit| hit["crossEncoder"].as_f64())
        .collect();
    assert!(
        scores.len() == 10 && scores.is_sorted_by(|a, b| a >= b),
        "{scores:?}"
    );
    assert!(
        hits[..10]
            .iter()
            .all(|hit| hit["score"] == hit["crossEncoder"]),
        "{ordered:#}"
    );
    assert!(
        hits[10..].iter().all(|hit| hit["score"].is_null()),
        "scores of another kind are not shown"
    );
    let ids = |answer: &serde_json::Value| -> Vec<String> {
        answer["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|hit| hit["id"].to_string())
            .collect()
    };
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    assert_eq!(
        sorted(ids(&ordered)[..10].to_vec()),
        sorted(ids(&fused)[..10].to_vec())
    );
    assert_ne!(ids(&ordered), ids(&fused));
    assert_eq!(ids(&ordered)[10..], ids(&fused)[10..]);

    let late = json(&search_with(&[model, (deadline, "0")], &[]));
    assert_eq!(
        (
            &late["rerank"]["crossEncoder"]["deadlinePassed"],
            ids(&late)
        ),
        (&true.into(), ids(&fused))
    );
    let shown = run_with(
        home.path(),
        &[AS_INDEXED, model],
        &["search", "--explain", "trees"],
    );
    assert!(
        shown
            .out
            .contains("the first 10 datasets ordered by the cross-encoder cross-encoder"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("    cross-encoder 0."), "{}", shown.out);

    let evaluated = as_indexed(
        home.path(),
        &[
            "evaluate",
            "testdata/qrels.txt",
            "--topics",
            "testdata/queries.tsv",
            "--models",
            "bm25",
            "--format",
            "csv",
            "--cross-encoder",
            CROSS_ENCODER,
            "--cross-encoder-deadline",
            "600000",
        ],
    );
    assert_eq!(evaluated.code, Some(0), "{evaluated:?}");
    assert_eq!(
        row_names(&evaluated.out).first(),
        Some(
            &"bm25+dpr:static-model2vec+sparse:splade-inference-free>>cross-encoder:cross-encoder"
        )
    );

    // Of the configuration: for all commands.
    let settings = home.path().join("lodeseek.toml");
    let before = std::fs::read_to_string(&settings).unwrap_or_default();
    std::fs::write(
        &settings,
        format!(
            "{before}\n[encoders]\ncross-encoder = \"{}/{CROSS_ENCODER}\"\ncross-encoder-deadline = 600000\n",
            env!("CARGO_MANIFEST_DIR")
        ),
    )
    .expect("written");
    assert_eq!(ids(&json(&search(&[]))), ids(&ordered));
    let words = json(&search(&["--ranking", "words"]));
    assert_eq!(words["rerank"], serde_json::Value::Null, "only with models");
}

/// Titles of a catalogue in one language, in Turtle.
fn catalog_in(language: &str, titles: &[&str]) -> String {
    let mut text =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
            .to_owned();
    for (number, title) in titles.iter().enumerate() {
        text += &format!(
            "<http://example.org/{number}> a dcat:Dataset ; dct:identifier \"{number}\" ; dct:title \"{title}\"@{language} .\n"
        );
    }
    text
}

#[test]
fn the_multilingual_model_is_used_for_other_languages_than_english() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let by_default_with = |home: &Path, variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = program(home);
        command
            .env_remove("LODESEEK_RANKING")
            .env_remove("LODESEEK_ANALYSIS")
            .envs(variables.iter().copied());
        ran(command.args(arguments))
    };
    let by_default = |home: &Path, arguments: &[&str]| by_default_with(home, &[], arguments);
    let indexed = |language: &str, titles: &[&str]| {
        let home = tempfile::tempdir().expect("a folder");
        let catalog = home.path().join("catalog.ttl");
        std::fs::write(&catalog, catalog_in(language, titles)).expect("written");
        let catalog = catalog.to_str().expect("UTF-8");
        assert_eq!(run(home.path(), &["load", catalog]).code, Some(0));
        let index = by_default(home.path(), &["index"]);
        assert_eq!(index.code, Some(0), "{index:?}");
        (home, index)
    };
    let (german, index) = indexed(
        "de",
        &[
            "Standorte der Straßenbäume in den Stadtteilen",
            "Messwerte der Luftqualität an den Stationen des Landes",
            "Haltestellen und Fahrpläne der Straßenbahnen",
        ],
    );
    let line = "the collection has texts in other languages than English: lodeseek-multilingual is used, too";
    assert!(index.err.contains(line), "{}", index.err);
    let again = by_default(german.path(), &["index"]);
    assert!(
        again
            .err
            .contains("DPR vectors by lodeseek-multilingual, 3 unchanged")
            && !again.err.contains(line),
        "{}",
        again.err
    );
    let status = by_default(german.path(), &["status"]).out;
    assert!(
        status.contains("vectors   lodeseek-multilingual, 384 columns of f16"),
        "{status}"
    );
    for query in ["tram stops and timetables", "arrêts de tramway"] {
        let found = json(&by_default(german.path(), &["search", "--json", query]));
        let best = &found["hits"][0];
        assert_eq!(best["id"], "2", "{query}: {found}");
        let models: Vec<&str> = best["dense"]
            .as_array()
            .expect("scores by vectors")
            .iter()
            .filter_map(|one| one["model"].as_str())
            .collect();
        assert_eq!(
            models,
            [
                "lodeseek-minilm",
                "lodeseek-minilm",
                "lodeseek-multilingual"
            ]
        );
    }
    let explained = by_default(german.path(), &["search", "--explain", "tram timetables"]);
    assert!(
        explained.out.contains("DPR (lodeseek-multilingual)"),
        "{}",
        explained.out
    );
    assert!(
        !explained.out.contains("similar in meaning:"),
        "with --explain, no part follows the heading: {}",
        explained.out
    );
    // Weights of the command line name the rankings that take part.
    let topics = german.path().join("topics.tsv");
    std::fs::write(&topics, "1\ttram timetables\n").expect("written");
    let ranking = ["run", "--topics", topics.to_str().expect("UTF-8")];
    let all = by_default(german.path(), &ranking).out;
    let weighted = [&ranking[..], &["--fusion-weights", "0,0,0,1"]].concat();
    let weighted = by_default(german.path(), &weighted).out;
    let tag = "fsdm+bm25+dpr:lodeseek-minilm+colbert:lodeseek-minilm";
    let tags = [&all, &weighted].map(|run| run.trim_end().rsplit('\t').next().map(str::to_owned));
    assert_eq!(
        tags,
        [
            Some(format!("{tag}+dpr:lodeseek-multilingual")),
            Some(tag.to_owned())
        ]
    );
    // Models that a setting names are used alone.
    let named = json(&by_default_with(
        german.path(),
        &[("LODESEEK_ENCODERS_DPR", "lodeseek-multilingual")],
        &["search", "--json", "trees"],
    ));
    assert_eq!(
        named["rerank"]["encoders"].as_array().map(Vec::len),
        Some(1)
    );

    let (english, index) = indexed(
        "en",
        &[
            "Locations of street trees in the districts",
            "Measurements of the air quality at the stations of the country",
        ],
    );
    assert!(!index.err.contains("multilingual"), "{}", index.err);
    let status = by_default(english.path(), &["status"]).out;
    assert!(
        status.contains("vectors   none of lodeseek-multilingual"),
        "{status}"
    );
}

/// Weights that were learned with works do not fit the rankings without them: the defaults are used.
#[test]
fn works_can_be_ignored_after_tuning_with_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let sources = [
        "load",
        "testdata/research/collection.jsonl",
        "testdata/research/papers.jsonl",
    ];
    assert_eq!(run(home, &sources).code, Some(0));
    let indexed = without_library(home, &["index", "--dpr", STATIC]);
    assert!(
        indexed.err.contains("4 works encoded by static-model2vec"),
        "{indexed:?}"
    );
    let search = |variables: &[(&str, &str)]| {
        let variables = [&[AS_INDEXED], variables].concat();
        run_with(home, &variables, &["search", "boats"])
    };
    std::fs::write(
        home.join("lodeseek.toml"),
        "[fusion]\nweights = \"1,1,1,1\"\n",
    )
    .expect("written");
    for variables in [&[][..], &[("LODESEEK_RERANK_WORKS", "0")]] {
        let found = search(variables);
        assert_eq!(found.code, Some(0), "{found:?}");
    }
    std::fs::write(
        home.join("lodeseek.toml"),
        "[fusion]\nweights = \"1,1,1\"\n",
    )
    .expect("written");
    assert_eq!(search(&[]).code, Some(2));
}

#[test]
fn a_fusion_is_learned_and_used() {
    let home = loaded();
    assert_eq!(
        without_library(home.path(), &["index", "--dpr", STATIC]).code,
        Some(0)
    );
    let judged = [
        "--topics",
        "testdata/queries.tsv",
        "--qrels",
        "testdata/qrels.txt",
    ];
    let tune =
        |more: &[&'static str]| as_indexed(home.path(), &[&["tune"], &judged[..], more].concat());
    let dry = tune(&["--dry-run"]);
    assert!(
        dry.out.contains("nDCG@10 of 10 queries: default ") && dry.out.contains("5 folds), p = "),
        "{dry:?}"
    );
    assert!(
        dry.out
            .contains("bm25, dpr (static-model2vec)\nfusion.pool = "),
        "{dry:?}"
    );
    let settings = home.path().join("lodeseek.toml");
    let before = std::fs::read_to_string(&settings).unwrap_or_default();
    assert!(!before.contains("[fusion]"), "{before}");

    // Vectors of random numbers are worse than words, and learning finds it.
    let by_chance = tune(&[]);
    assert!(
        by_chance.code == Some(1) && by_chance.out.contains("the gain may be chance"),
        "{by_chance:?}"
    );
    assert_eq!(
        std::fs::read_to_string(&settings).unwrap_or_default(),
        before
    );
    let learned = tune(&["--accept"]);
    assert!(
        learned.code == Some(0) && learned.out.contains("written to "),
        "{learned:?}"
    );
    let written = std::fs::read_to_string(&settings).expect("a configuration");
    assert!(
        written.starts_with(before.trim_end()) && written.contains("[fusion]\n# Learned by"),
        "{written}"
    );
    let queries = ["run", "--topics", "testdata/queries.tsv"];
    let of_home = as_indexed(home.path(), &queries);
    let equal = as_indexed(
        home.path(),
        &[&queries[..], &["--fusion-weights", "1,1,1"]].concat(),
    );
    assert!(
        of_home.code == Some(0) && of_home.out != equal.out,
        "{of_home:?}"
    );
    assert_eq!(
        tune(&["--accept"]).out,
        learned.out,
        "what was learned is not the default of the next time"
    );
    assert_eq!(
        std::fs::read_to_string(&settings).expect("a configuration"),
        written,
        "one table"
    );

    std::fs::write(
        &settings,
        format!("{before}\n[fusion]\nweights = \"1,1\"\n"),
    )
    .expect("written");
    // `config check` rejects what a search rejects.
    for command in [&queries[..], &["config", "check"]] {
        let refused = as_indexed(home.path(), command);
        let expected = "are for 2 rankings, and there are 3: fsdm, bm25, --dpr;";
        assert!(
            refused.code == Some(2) && refused.err.contains(expected),
            "{refused:?}"
        );
    }
    std::fs::write(
        &settings,
        format!("{before}\n[fusion]\nweights = \"1,x\"\n"),
    )
    .expect("written");
    assert_eq!(as_indexed(home.path(), &queries).code, Some(2));
    std::fs::write(&settings, &before).expect("written");

    let clicks = home.path().join("clicks.tsv");
    std::fs::write(&clicks, "trees\tstreet-trees\nTrees\tmuseum-objects\n").expect("written");
    let path = clicks.to_str().expect("UTF-8");
    let few = as_indexed(home.path(), &["tune", "--clicks", path]);
    assert!(
        few.code == Some(2) && few.err.contains("1 query with judgements are too few"),
        "{few:?}"
    );
    std::fs::write(&clicks, "trees street-trees\n").expect("written");
    let malformed = as_indexed(home.path(), &["tune", "--clicks", path]);
    assert!(
        malformed.code == Some(2) && malformed.err.contains("clicks.tsv:1: a query, a tab"),
        "{malformed:?}"
    );
}
