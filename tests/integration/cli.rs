//! The program as users run it: exit codes, stdout and stderr.

use super::support::{
    Home, Ran, chain_of_prefixes, iri, json, open, program, queries, run, run_with, testdata,
};
use insta::assert_snapshot;
use lodeseek_store::{Access, Store};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A home made by the program itself.
fn home() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["load", "testdata/catalog.ttl"][..], &["index"]] {
        let ran = run(folder.path(), arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    }
    folder
}

fn fails(home: &Path, arguments: &[&str]) -> String {
    let Ran { code, out, err } = run(home, arguments);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
    assert!(
        !err.contains("panicked") && !err.contains("Backtrace"),
        "{err}"
    );
    err
}

#[test]
fn load_and_index_say_what_they_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let (home, report) = (
        folder.path().join("home"),
        folder.path().join("report.json"),
    );
    let loaded = run(
        &home,
        &[
            "load",
            "testdata/catalog.ttl",
            "--verbose",
            "--report",
            report.to_str().expect("a path"),
        ],
    );
    assert_eq!(
        (loaded.code, loaded.out.as_str()),
        (Some(0), ""),
        "results alone go to stdout: {loaded:?}"
    );
    for part in [
        "12 datasets: 12 loaded; ",
        "1,081 distinct triples of 1,099 read",
        "air-quality",
        "line 24: ",
        "line 35: ",
    ] {
        assert!(loaded.err.contains(part), "{part:?} in {}", loaded.err);
    }
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(report).expect("a report")).expect("JSON");
    let datasets = report["datasets"].as_array().expect("datasets");
    let air = datasets
        .iter()
        .find(|dataset| dataset["id"] == "air-quality")
        .expect("air-quality");
    assert_eq!(
        (&air["outcome"], &air["skipped"]),
        (&"loaded".into(), &3.into())
    );
    assert_eq!(air["files"][0]["problems"][1]["line"], 30);

    let indexed = run(&home, &["index"]);
    assert!(
        indexed.code == Some(0) && indexed.out.is_empty(),
        "{indexed:?}"
    );
    for part in [
        "12 datasets indexed, 0 unchanged, 0 removed; 1,081 triples",
        "profiles",
        "snippets",
    ] {
        assert!(indexed.err.contains(part), "{part:?} in {}", indexed.err);
    }
    let (again, index_again) = (
        run(&home, &["load", "testdata/catalog.ttl"]),
        run(&home, &["index"]),
    );
    assert!(
        again.err.contains("12 datasets: 12 unchanged; "),
        "{}",
        again.err
    );
    assert!(
        index_again
            .err
            .contains("0 datasets indexed, 12 unchanged, 0 removed"),
        "{}",
        index_again.err
    );
    let rebuilt = run(&home, &["index", "--rebuild", "--snippet-budget", "3"]);
    assert!(
        rebuilt.err.contains("12 datasets indexed"),
        "{}",
        rebuilt.err
    );

    let both = run(
        &home,
        &["load", "testdata/acordar.json", "--id-prefix", "acordar:"],
    );
    assert!(
        both.err
            .contains("4 datasets: 3 loaded, 1 with a description and no data; "),
        "{}",
        both.err
    );
    assert!(
        both.err.contains("1 file: not read; ")
            && both.err.contains("dumps/port-library-2019.zip: "),
        "{}",
        both.err
    );
}

#[test]
fn a_dump_is_a_catalogue_of_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = run(
        folder.path(),
        &[
            "load",
            "testdata/dumps/trees.nt.gz",
            "testdata/dumps/soils.ttl",
        ],
    );
    assert!(
        ran.code == Some(0) && ran.err.contains("2 datasets: 2 loaded"),
        "{ran:?}"
    );
    assert_eq!(run(folder.path(), &["index"]).code, Some(0));
    let found = run(folder.path(), &["search", "ginkgo"]);
    assert!(
        found.code == Some(0) && found.out.contains("[trees]"),
        "{found:?}"
    );
}

#[test]
fn search_in_words_and_in_json() {
    let home = home();
    let found = run(home.path(), &["search", "-k", "1", "ginkgo", "biloba"]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""));
    assert_snapshot!(found.out, @r#"
    1 good match for “ginkgo biloba” among 12 datasets

     1. City tree register  [street-trees]
        Parks Department · 2018 · 105 triples · https://creativecommons.org/publicdomain/zero/1.0/
        Trees in the care of the parks department, with year of planting and girth.
        matched in literal (ginkgo, biloba); entity (ginkgo)
        │ T0011 — a — Street Tree
        │ T0011 — has Species — coast redwood
        │ coast redwood — a — Species
        │ T0011 — planted Year — “1954”
        │ T0011 — street Name — “Botanical Garden”
    "#);
    let reference = Home::from_catalog(&testdata("catalog.ttl"));
    for (_, text) in queries() {
        let printed = run(home.path(), &["search", "--json", &text]);
        assert_eq!(
            (printed.code, printed.out),
            (Some(0), reference.json(&text)),
            "{text}"
        );
        assert_eq!(reference.json(&text), json(home.path(), &text));
    }
    let none = run(home.path(), &["search", "zzzzzz"]);
    assert_eq!(
        (none.code, none.out.as_str()),
        (
            Some(1),
            "No dataset contains any of the words of “zzzzzz”.\n"
        )
    );
    let none = run(home.path(), &["search", "--json", "zzzzzz"]);
    assert!(
        none.code == Some(1) && none.out.contains("\"hits\": []"),
        "{none:?}"
    );
}

#[test]
fn an_explanation_shows_the_score_and_the_triples() {
    let home = home();
    let explained = run(home.path(), &["search", "--explain", "-k", "1", "ginkgo"]);
    assert_snapshot!(explained.out, @r#"
    1 good match for “ginkgo” among 12 datasets

     1. City tree register  [street-trees] 0.781
        Parks Department · 2018 · 105 triples · https://creativecommons.org/publicdomain/zero/1.0/
        Trees in the care of the parks department, with year of planting and girth.
        matched in literal (ginkgo); entity (ginkgo)
          0.7808  BM25 over fields
            0.7808  “ginkgo”
              0.3802  entity: ginkgo
                0.2000  weight of the field entity
                2.1595  idf: in 1 of 12 datasets with this field
                0.8804  tf: 7 times among 158 tokens (average 218.3)
              0.4005  literal: ginkgo
                0.3000  weight of the field literal
                2.1595  idf: in 1 of 12 datasets with this field
                0.6183  tf: 2 times among 103 tokens (average 99.2)
        triples that match:
          ginkgo — label — “Ginkgo biloba”
          ginkgo — label — “ginkgo”
          T0001 — has Species — ginkgo
          T0009 — has Species — ginkgo
          T0010 — has Species — ginkgo
        │ T0011 — a — Street Tree
        │ T0011 — has Species — coast redwood
        │ coast redwood — a — Species
        │ T0011 — planted Year — “1954”
        │ T0011 — street Name — “Botanical Garden”
    "#);
}

#[test]
fn similar_in_json_says_to_what() {
    let home = Home::from_catalog(&testdata("catalog.ttl")).into_folder();
    let told = |arguments: &[&str]| -> serde_json::Value {
        let ran = run(home.path(), arguments);
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.err);
        serde_json::from_str(&ran.out).expect("JSON")
    };
    let file = testdata("dumps/trees.nt.gz").display().to_string();
    let of = |answer: &serde_json::Value| {
        (
            answer["dataset"].clone(),
            answer["file"].clone(),
            answer["of"].clone(),
        )
    };
    let answer = told(&["similar", "street-trees", "--json"]);
    assert_eq!(
        of(&answer),
        ("street-trees".into(), serde_json::Value::Null, 12.into())
    );
    let answer = told(&["similar", "--file", &file, "--json"]);
    assert_eq!(
        of(&answer),
        (serde_json::Value::Null, file.as_str().into(), 12.into())
    );
    assert_eq!(answer["similar"][0]["id"], "street-trees");
    let named = told(&["similar", &file, "--json"]);
    assert_eq!(named, answer, "a path needs no --file");
}

#[test]
fn show_in_words_rdf_and_json() {
    let home = home();
    let shown = run(home.path(), &["show", "soil-types"]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    let (facts, snippet) = shown
        .out
        .split_once("\n\nIlluSnip OPT-RANK:\n")
        .expect("facts and a snippet");
    assert_eq!(snippet.lines().count(), 20);
    assert_snapshot!(facts, @r#"
    Thesaurus of soil types  [soil-types]
    A small SKOS thesaurus in English, German and French.
      by         Working Group Soil Terms
      keywords   Boden, soil, sol, thesaurus, Environment, Umwelt
      licence    https://creativecommons.org/licenses/by/4.0/
      issued     2014-09-01
      modified   2020-01-20
      source     http://example.org/dataset/soil-types
      files      dumps/soils.ttl
      language   de, en, fr
      theme      Environment

    103 triples, 12 entities, 2 classes, 15 properties, 59 literals
      classes    Concept 10, Concept Scheme 1
      properties pref Label 30, type 11, definition 10, in Scheme 10, alt Label 7, broader 7, narrower 7, notation 7
      languages  en 20, de 17, fr 15
    "#);
    let card = run(home.path(), &["show", "soil-types", "--json"]);
    let card: serde_json::Value = serde_json::from_str(&card.out).expect("JSON");
    assert_eq!(
        (&card["metadata"]["id"], &card["profile"]["triples"]),
        (&"soil-types".into(), &103.into())
    );
    for (syntax, part) in [
        ("turtle", "dct:identifier \"soil-types\""),
        (
            "nt",
            "<http://purl.org/dc/terms/identifier> \"soil-types\" .",
        ),
        ("jsonld", "\"http://purl.org/dc/terms/identifier\""),
        ("rdfxml", "rdf:RDF"),
    ] {
        let ran = run(home.path(), &["show", "soil-types", "--rdf", syntax]);
        assert!(
            ran.code == Some(0) && ran.out.contains(part),
            "{syntax}: {ran:?}"
        );
    }
}

#[test]
fn snippets_of_datasets_and_files_are_the_same() {
    let home = home();
    let dataset = run(home.path(), &["snippet", "street-trees", "-k", "5"]);
    assert_eq!(dataset.code, Some(0), "{dataset:?}");
    assert_snapshot!(dataset.out, @r#"
    T0004 — a — Street Tree
    T0004 — has Species — small-leaved lime
    small-leaved lime — a — Species
    T0004 — planted Year — 1968
    T0004 — street Name — School Lane
    "#);
    assert!(dataset.err.contains("5 of 105 triples"), "{}", dataset.err);
    let nowhere = home.path().join("nowhere");
    let file = run(
        &nowhere,
        &["snippet", "testdata/dumps/trees.nt.gz", "-k", "5"],
    );
    assert_eq!(
        (file.code, &file.out),
        (Some(0), &dataset.out),
        "a file needs no home"
    );
    let whole = run(
        &nowhere,
        &[
            "snippet",
            "testdata/dumps/trees.nt.gz",
            "-k",
            "5",
            "--sample",
            "1000",
        ],
    );
    assert_eq!(whole.out, file.out, "what fits is not sampled");
    let sampled = run(
        &nowhere,
        &[
            "snippet",
            "testdata/dumps/trees.nt.gz",
            "-k",
            "5",
            "--sample",
            "20",
        ],
    );
    assert!(
        sampled.err.contains("of 105 triples") && sampled.out.lines().count() == 5,
        "{sampled:?}"
    );
    let refused = fails(
        &nowhere,
        &[
            "snippet",
            "testdata/dumps/trees.nt.gz",
            "--sample",
            "20",
            "--method",
            "pcsg",
        ],
    );
    assert!(refused.contains("not pcsg"), "{refused}");
    let rdf = run(
        &nowhere,
        &[
            "snippet",
            "testdata/dumps/trees.nt.gz",
            "-k",
            "5",
            "--rdf",
            "nt",
        ],
    );
    assert_eq!(rdf.out.lines().count(), 5, "{}", rdf.out);
    let empty = home.path().join("empty.nt");
    fs::write(&empty, "").expect("written");
    assert_eq!(
        run(&nowhere, &["snippet", empty.to_str().expect("a path")]).code,
        Some(1)
    );
}

#[test]
fn query_writes_every_format() {
    let home = home();
    let count = "SELECT (COUNT(*) AS ?n) { ?d a <http://www.w3.org/ns/dcat#Dataset> }";
    let ran = |arguments: &[&str]| {
        let ran = run(home.path(), &[&["query"], arguments].concat());
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        ran
    };
    assert_eq!(ran(&[count]).out.trim_end(), "?n\n12");
    for (format, part) in [
        ("csv", "n\r\n12"),
        ("json", "\"12\""),
        ("xml", ">12</literal>"),
    ] {
        let out = ran(&[count, "--format", format]).out;
        assert!(out.contains(part), "{out}");
    }
    assert_eq!(ran(&["ASK {}"]).out.trim(), "true");
    let construct =
        "CONSTRUCT { ?d <http://purl.org/dc/terms/title> ?t } WHERE { ?d <http://purl.org/dc/terms/title> ?t }
        ORDER BY ?d ?t LIMIT 2";
    assert_snapshot!(ran(&[construct]).out, @r#"
    PREFIX dct: <http://purl.org/dc/terms/>

    <http://example.org/catalog>
      dct:title "Hand-made datasets of Lodeseek"@en.

    <http://localhost:7878/dataset/air-quality>
      dct:title "Air quality in the city"@en.
    "#);
    let of_trees = format!(
        "SELECT (COUNT(*) AS ?n) FROM {} {{ ?s ?p ?o }}",
        iri("street-trees")
    );
    assert_eq!(ran(&[&of_trees]).out.trim_end(), "?n\n105");
    for file in [
        "content",
        "datasets",
        "datasets-by-class",
        "sources-of-a-pattern",
    ] {
        assert!(
            ran(&[&format!("@queries/{file}.rq")]).out.lines().count() > 1,
            "{file}"
        );
    }
    let cut = ran(&["SELECT * { ?s ?p ?o }", "--rows", "3"]);
    assert!(
        cut.out.trim_end().lines().count() == 4 && cut.err.contains("truncated to 3 rows"),
        "{cut:?}"
    );
}

#[test]
fn sources_names_the_datasets_that_can_answer() {
    let folder = Home::from_catalog(&testdata("catalog.ttl")).into_folder();
    let sources = |arguments: &[&str]| run(folder.path(), &[&["sources"], arguments].concat());
    let query = "PREFIX skos: <http://www.w3.org/2004/02/skos/core#> SELECT * { ?c a skos:Concept ; skos:prefLabel ?l }";
    let json: serde_json::Value =
        serde_json::from_str(&sources(&[query, "--json"]).out).expect("JSON");
    let ids = |list: &serde_json::Value| {
        let ids = list
            .as_array()
            .expect("a list")
            .iter()
            .map(|dataset| dataset["id"].to_string());
        ids.collect::<std::collections::BTreeSet<_>>()
    };
    // The VoID of the profiles contains the same.
    let asked = run(
        folder.path(),
        &["query", "@queries/sources-of-a-pattern.rq"],
    )
    .out;
    let alone = ids(&json["alone"]);
    let told: std::collections::BTreeSet<&str> = asked
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert!(
        !alone.is_empty() && told.len() == alone.len(),
        "{asked} {json}"
    );
    assert!(
        ids(&json["patterns"][0]["sources"]).is_superset(&alone),
        "{json}"
    );
    let table = sources(&[query, "--limit", "1"]);
    assert!(
        table.code == Some(0) && table.out.contains("datasets that answer the query alone"),
        "{table:?}"
    );
    let nothing = sources(&["SELECT * { ?s <http://nowhere.example/p> ?o }"]);
    assert_eq!(
        (nothing.code, nothing.out.lines().count()),
        (Some(1), 2),
        "{nothing:?}"
    );
    assert!(
        fails(folder.path(), &["sources", "SELECT"]).contains("line 1, column 7"),
        "a syntax error has a place"
    );
}

#[test]
fn evaluate_measures_a_home() {
    let home = home();
    let arguments = [
        "evaluate",
        "testdata/qrels.txt",
        "--topics",
        "testdata/queries.tsv",
    ];
    let ran = run(home.path(), &arguments);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_snapshot!(ran.out, @r#"
    run                nDCG@5  nDCG@10     AP@5    AP@10   (10 topics)
    tf-idf             1.0000   1.0000   1.0000   1.0000
    tf-idf.metadata    0.4000   0.4000   0.4000   0.4000
    tf-idf.data        1.0000   1.0000   1.0000   1.0000
    bm25               1.0000   1.0000   1.0000   1.0000
    bm25.metadata      0.4000   0.4000   0.4000   0.4000
    bm25.data          1.0000   1.0000   1.0000   1.0000
    lmd                1.0000   1.0000   1.0000   1.0000
    lmd.metadata       0.4000   0.4000   0.4000   0.4000
    lmd.data           1.0000   1.0000   1.0000   1.0000
    fsdm               1.0000   1.0000   1.0000   1.0000
    fsdm.metadata      0.4000   0.4000   0.4000   0.4000
    fsdm.data          1.0000   1.0000   1.0000   1.0000
    "#);
    let options = ["--models", "bm25", "--compare", "--metrics", "nDCG@5,RR"];
    let compared = run(home.path(), &[&arguments[..], &options].concat());
    assert_snapshot!(compared.out, @r#"
    run                nDCG@5        RR    (10 topics)
    bm25               1.0000    1.0000
    bm25.metadata      0.4000†   0.4000†
    bm25.data          1.0000    1.0000
    † p < .05, ‡ p < .01: differs from bm25; paired t-test, by topic, corrected over the 2 other runs (Holm)
    "#);
    let wrong = fails(
        home.path(),
        &[&arguments[..], &["--metrics", "ERR"]].concat(),
    );
    assert!(wrong.contains("nDCG@k"), "{wrong}");
    let swapped = [
        "evaluate",
        "testdata/queries.tsv",
        "--topics",
        "testdata/qrels.txt",
    ];
    assert!(fails(home.path(), &swapped).contains("testdata/queries.tsv:1: "));
}

#[test]
fn errors_say_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = folder.path().join("nowhere");
    for arguments in [
        &["index"][..],
        &["search", "a"],
        &["show", "a"],
        &["show", "a", "--rdf", "nt"],
        &["snippet", "a"],
        &["query", "ASK {}"],
        &["serve", "--bind", "127.0.0.1:0"],
    ] {
        let err = fails(&nowhere, arguments);
        assert!(
            err.contains("is not a Lodeseek home; run `lodeseek load` to create one"),
            "{arguments:?}: {err}"
        );
        assert!(!nowhere.exists(), "{arguments:?} made a home");
    }

    let missing = fails(
        &nowhere,
        &["load", "testdata/catalog.ttl", "testdata/missing.ttl"],
    );
    assert!(
        missing.contains("cannot read testdata/missing.ttl"),
        "{missing}"
    );
    let base = fails(
        &nowhere,
        &["load", "testdata/catalog.ttl", "--base", "ftp://e.org/"],
    );
    assert!(
        base.contains("\"ftp://e.org/\" is not a valid base for IRIs"),
        "{base}"
    );
    assert!(
        !nowhere.exists(),
        "nothing was written before everything was checked"
    );
    assert!(fails(&nowhere, &["load"]).contains("<SOURCE>"));
    assert!(fails(&nowhere, &["search"]).contains("<QUERY>"));
    assert!(fails(&nowhere, &["lode"]).contains("unrecognized subcommand"));
    let not_rdf = folder.path().join("page.ttl");
    fs::write(&not_rdf, "<!doctype html><html></html>").expect("written");
    let html = fails(&nowhere, &["load", not_rdf.to_str().expect("a path")]);
    assert!(html.contains("page.ttl") && html.contains("HTML"), "{html}");

    let loaded = tempfile::tempdir().expect("a folder");
    assert_eq!(
        run(loaded.path(), &["load", "testdata/catalog.ttl"]).code,
        Some(0)
    );
    assert!(
        fails(loaded.path(), &["search", "a"]).contains("there is no index"),
        "a home not indexed yet"
    );
    assert_eq!(run(loaded.path(), &["index"]).code, Some(0));
    let other = fails(
        loaded.path(),
        &["load", "testdata/catalog.ttl", "--base", "http://e.org/"],
    );
    assert!(
        other.contains(
            "its base is http://localhost:7878/; `lodeseek rebase http://e.org/` changes it"
        ),
        "{other}"
    );
    for arguments in [&["show", "none"][..], &["show", "none", "--rdf", "nt"]] {
        let unknown = fails(loaded.path(), arguments);
        assert!(unknown.contains("there is no dataset none"), "{unknown}");
    }
    let neither = fails(loaded.path(), &["snippet", "none"]);
    assert!(
        neither.contains(
            "none is neither a file nor a dataset: there is no dataset none in the index"
        ),
        "{neither}"
    );
    let neither = fails(loaded.path(), &["similar", "none"]);
    assert!(
        neither.contains("none is neither an indexed dataset nor a file: there is no dataset none"),
        "{neither}"
    );
    let empty = fails(loaded.path(), &["snippet", "street-trees", "-k", "0"]);
    assert!(empty.contains("at least 1"), "{empty}");
    for command in ["show", "similar", "snippet", "quality"] {
        let unknown = fails(loaded.path(), &[command, "street-tree"]);
        assert!(
            unknown.contains("did you mean street-trees"),
            "{command}: {unknown}"
        );
    }
    let method = fails(
        loaded.path(),
        &["snippet", "street-trees", "--method", "illusnpi"],
    );
    assert!(
        method.contains("similar value exists: 'illusnip'") || method.contains("illusnip"),
        "{method}"
    );
    assert!(fails(loaded.path(), &["query", "SELECT oops"]).contains("lodeseek: "));
    assert!(fails(loaded.path(), &["query", "@missing.rq"]).contains("cannot read missing.rq"));
    assert!(
        fails(
            loaded.path(),
            &["query", "SELECT * { ?s ?p ?o }", "--deadline", "0"]
        )
        .contains("no answer within")
    );
}

#[test]
fn a_home_in_use_is_left_alone() {
    let home = home();
    let reader = Store::open(home.path(), Access::Read, None).expect("a reader");
    for arguments in [&["load", "testdata/catalog.ttl"][..], &["index"]] {
        let err = fails(home.path(), arguments);
        assert!(
            err.contains("is in use by another lodeseek process"),
            "{err}"
        );
    }
    assert_eq!(
        run(home.path(), &["query", "ASK {}"]).code,
        Some(0),
        "readers share it"
    );
    drop(reader);
    let _writer = open(home.path(), Access::Write, None).expect("a writer");
    for arguments in [
        &["query", "ASK {}"][..],
        &["show", "contracts", "--rdf", "nt"],
        &["serve", "--bind", "127.0.0.1:0"],
    ] {
        let err = fails(home.path(), arguments);
        assert!(
            err.contains("is in use by another lodeseek process that writes it"),
            "{err}"
        );
    }
    assert_eq!(
        run(home.path(), &["search", "ginkgo"]).code,
        Some(0),
        "the index can be searched meanwhile"
    );
}

#[test]
fn the_explanation_of_a_fused_score_has_every_ranking() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [
        &["load", "testdata/catalog.ttl"][..],
        &["index", "--ranking", "balanced"],
    ] {
        assert_eq!(run(folder.path(), arguments).code, Some(0));
    }
    let search = |more: &[&str]| {
        let arguments = ["search", "--explain", "street trees of the city"];
        let output = program(folder.path())
            .env_remove("LODESEEK_RANKING")
            .args([&arguments[..], more].concat())
            .output()
            .expect("the program starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let found: serde_json::Value = serde_json::from_str(&search(&["--json"])).expect("JSON");
    for hit in found["hits"].as_array().expect("hits") {
        let (tree, score) = (&hit["explanation"], &hit["score"]);
        let (value, score) = (tree["value"].as_f64(), score.as_f64());
        let Some(score) = score else { continue };
        assert!((value.expect("a value") - score).abs() < 1e-9, "{hit}");
    }
    let tree = &found["hits"][0]["explanation"];
    let rankings = tree["details"].as_array().expect("rankings");
    assert_eq!(rankings.len(), 2, "{tree}");
    for ranking in rankings {
        let numbers: Vec<f64> = ranking["details"]
            .as_array()
            .expect("factors")
            .iter()
            .map(|factor| factor["value"].as_f64().expect("a number"))
            .collect();
        let product = ranking["value"].as_f64().expect("a number");
        assert!(
            (numbers[0] * numbers[1] - product).abs() < 1e-9,
            "{ranking}"
        );
        assert_eq!(
            numbers.len(),
            3,
            "weight, normalised score and score: {ranking}"
        );
    }
    let text = search(&[]);
    for part in [
        "sum of the rankings (",
        "weight\n",
        "rank 1",
        "score by fsdm",
    ] {
        assert!(text.to_lowercase().contains(part), "{part:?} in {text}");
    }
}

#[test]
fn an_empty_query_is_an_error() {
    let home = home();
    for query in ["", "!!!", " "] {
        let error = fails(home.path(), &["search", query]);
        assert!(error.contains("the query is empty"), "{error}");
    }
    let abstract_file = home.path().join("abstract.txt");
    fs::write(&abstract_file, "ginkgo\ntrees\n").expect("written");
    let output = program(home.path())
        .args(["search", "-"])
        .stdin(fs::File::open(&abstract_file).expect("a file"))
        .output()
        .expect("the program starts");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(out.contains("for “ginkgo trees” among"), "{out}");
}

#[test]
fn the_form_of_a_query_decides_on_its_formats() {
    let home = home();
    let construct = "CONSTRUCT { ?s a ?c } WHERE { ?s a ?c } LIMIT 1";
    for (format, start) in [("nt", "<"), ("jsonld", "["), ("rdfxml", "<?xml")] {
        let ran = run(home.path(), &["query", construct, "--format", format]);
        assert!(ran.code == Some(0) && ran.out.starts_with(start), "{ran:?}");
    }
    let error = fails(home.path(), &["query", construct, "--format", "csv"]);
    assert!(error.contains("turtle, jsonld, nt, rdfxml"), "{error}");
    for query in ["ASK {}", "SELECT * { ?s ?p ?o } LIMIT 1"] {
        let error = fails(home.path(), &["query", query, "--format", "turtle"]);
        assert!(error.contains("tsv, csv, json, xml"), "{error}");
    }
}

#[test]
fn a_collection_without_datasets_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    let loaded = run(&home, &["load", "testdata/catalog.ttl"]);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    for id in ids(&home) {
        assert_eq!(run(&home, &["remove", &id]).code, Some(0));
    }
    let indexed = run(&home, &["index"]);
    let message = "the collection has no datasets; `lodeseek load`";
    assert!(indexed.err.contains(message), "{indexed:?}");
    let searched = run(&home, &["search", "trees"]);
    assert_eq!(searched.code, Some(1), "{searched:?}");
    assert!(
        searched.out.starts_with("The collection has no datasets;"),
        "{searched:?}"
    );
    assert_eq!(run(&home, &["load", "testdata/catalog.ttl"]).code, Some(0));
    let searched = run(&home, &["search", "trees"]);
    assert!(
        searched.out.starts_with("No dataset is indexed;"),
        "{searched:?}"
    );
}

fn ids(home: &Path) -> Vec<String> {
    let listed = run(home, &["list", "--json"]);
    let listed: Vec<serde_json::Value> = serde_json::from_str(&listed.out).expect("JSON");
    let ids = listed
        .iter()
        .map(|one| one["id"].as_str().expect("an id").to_owned());
    ids.collect()
}

#[test]
fn messages_name_what_was_typed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, nowhere) = (folder.path().join("topics.tsv"), folder.path().join("none"));
    fs::write(&file, "1\ttrees\n2\tzyxw\n").expect("written");
    for arguments in [
        &["search", "snow"][..],
        &["list"],
        &["load", "testdata/catalog.ttl"],
    ] {
        let error = fails(&file, arguments);
        assert!(
            error.contains("topics.tsv is a file, not the folder"),
            "{error}"
        );
    }
    let error = fails(&nowhere, &["snippet", "lod/nofile.ttl"]);
    assert!(
        error.contains("lod/nofile.ttl is neither a file nor a dataset: ")
            && error.contains("is not a Lodeseek home"),
        "{error}"
    );
    let home = home();
    let query = [
        "snippet",
        "street-trees",
        "--method",
        "illusnip",
        "--query",
        "snow",
    ];
    let error = fails(home.path(), &query);
    assert!(
        error.contains("illusnip does not use a query; methods with a query: "),
        "{error}"
    );
    let topics = file.to_str().expect("a path");
    let error = fails(
        home.path(),
        &["run", "--topics", topics, "--output", "/nodir/x.run"],
    );
    assert!(
        error.contains("/nodir/x.run: the folder /nodir does not exist"),
        "{error}"
    );
    let output = folder.path().join("x.run");
    let output = output.to_str().expect("a path");
    let ran = run(
        home.path(),
        &["run", "--topics", topics, "--output", output],
    );
    assert!(
        ran.err
            .contains("no dataset was found for 1 of 2 topics: 2"),
        "{ran:?}"
    );
    let qrels = folder.path().join("q.qrels");
    fs::write(&qrels, "1 0 street-trees 1\n7 0 street-trees 1\n").expect("written");
    let qrels = qrels.to_str().expect("a path");
    let evaluated = run(home.path(), &["evaluate", qrels, output, "--json"]);
    assert!(
        evaluated
            .err
            .contains("1 of 2 judged topics are not in the run and count 0: 7"),
        "{evaluated:?}"
    );
    let _: serde_json::Value = serde_json::from_str(&evaluated.out).expect("JSON");
    let error = fails(
        home.path(),
        &["evaluate", qrels, output, "--folds", "/nodir"],
    );
    assert!(
        error.contains("the folder /nodir does not exist"),
        "{error}"
    );
}

#[test]
fn mistakes_get_a_remedy() {
    let home = home();
    let at = |arguments: &[&str]| run(home.path(), arguments);
    let excluded = at(&[
        "search",
        "trees",
        "--filter",
        "class=foo:Bar",
        "--filter",
        "source=nowhere.example",
    ]);
    assert_eq!(excluded.code, Some(1), "{excluded:?}");
    let line = "No dataset has the class foo:Bar, or the source nowhere.example; --facets";
    assert!(excluded.out.contains(line), "{excluded:?}");
    let columns = at(&[
        "search",
        "trees",
        "--column",
        "nix",
        "--filter",
        "format=turtel",
    ]);
    let line = "No dataset has the column nix, or the format turtel (did you mean Turtle?);";
    assert!(columns.out.contains(line), "{columns:?}");
    let long = format!(
        "trees -\"{}\"",
        (0..17)
            .map(|number| format!("w{number}"))
            .collect::<Vec<_>>()
            .join(" ")
    );
    let searched = at(&["search", &long]);
    assert!(
        searched
            .out
            .contains("w16” (common or too many words; ignored)"),
        "{searched:?}"
    );
    let after = at(&["search", "data", "--since", "2100"]);
    assert!(
        after.code == Some(1) && after.out.contains("No dataset has a year from 2100 on;"),
        "{after:?}"
    );
    assert!(
        fails(home.path(), &["search", "trees", "-k", "0"])
            .contains("expected a whole number of at least 1")
    );
    assert!(
        fails(home.path(), &["search", "trees", "--before", "abc"]).contains("expected a year")
    );
    assert!(
        fails(home.path(), &["evaluate", "testdata/qrels.txt"])
            .contains("give run files, or --topics FILE")
    );
    assert!(
        fails(home.path(), &["snippet", "nope"])
            .contains("nope is neither a file nor a dataset: there is no dataset")
    );
    assert_eq!(at(&["load", "testdata/dumps/soils.ttl"]).code, Some(0));
    assert!(
        fails(home.path(), &["show", "soils"])
            .contains("soils is loaded, but not indexed; run `lodeseek index`")
    );
    let nowhere = home.path().join("nowhere");
    let checked = run(&nowhere, &["config", "check"]);
    assert!(
        checked.code == Some(0) && checked.out.contains("there is no home at"),
        "{checked:?}"
    );
}

/// README shows the output of the program.
#[test]
fn the_answer_in_the_readme_holds() {
    let readme = fs::read_to_string(super::support::root().join("README.md")).expect("README");
    let shown = readme
        .split("```console\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a console block");
    let (command, answer) = shown.split_once('\n').expect("a command and its answer");
    let (options, query) = command
        .strip_prefix("$ lodeseek ")
        .and_then(|c| c.split_once('"'))
        .expect("a quoted query");
    let mut arguments: Vec<&str> = options.split_whitespace().collect();
    arguments.push(query.trim_end_matches('"'));
    let home = home();
    assert_eq!(run(home.path(), &arguments).out, answer);
}

/// The first of the worked queries in which SPARQL searches.
#[test]
fn the_search_inside_sparql_in_the_documentation_holds() {
    let page = documentation("reference/search-vocabulary.md");
    let query = super::support::root().join("queries/search-datasets.rq");
    let home = home();
    let answer = run(home.path(), &["query", &format!("@{}", query.display())]);
    let shown = format!(
        "$ lodeseek query @queries/search-datasets.rq\n{}```",
        answer.out
    );
    assert!(
        page.contains(&shown),
        "the page shows the answer:\n{}",
        answer.out
    );
}

/// Reads a page of the documentation.
fn documentation(page: &str) -> String {
    fs::read_to_string(super::support::root().join("docs/src").join(page)).expect("a page")
}

fn packed(path: &std::path::Path, bytes: &[u8]) {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, bytes).expect("packed");
    fs::write(path, encoder.finish().expect("packed")).expect("written");
}

/// Papers with Code's list, packed, searched with filters, and joined with SPARQL; then DataFinder's form beside it.
#[test]
fn papers_with_code_from_the_dump_to_the_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("datasets.json.gz");
    packed(
        &list,
        &fs::read(testdata("papers-with-code.json")).expect("read"),
    );
    let home = folder.path().join("home");
    let loaded = run(&home, &["load", list.to_str().expect("a path")]);
    assert!(
        loaded
            .err
            .contains("10 datasets: 10 with a description and no data in "),
        "{loaded:?}"
    );
    assert_eq!(run(&home, &["index"]).code, Some(0));
    let need = "I want to use adversarial learning to perform domain adaptation for semantic segmentation of images";
    let found = run(
        &home,
        &[
            "search",
            need,
            "--before",
            "2018",
            "--filter",
            "task=semantic segmentation",
            "--facets",
            "-k",
            "1",
        ],
    );
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""));
    for part in [
        "1 good match, 2 weaker for “I want to use",
        " among 10 datasets, with the filters\n",
        "Domain Adaptation 3 · ✓ Semantic Segmentation 3",
        "\n 1. Harbour Scenes  [Harbour_Scenes]\n",
        "introduced by “Reading a harbour pixel by pixel”",
    ] {
        assert!(found.out.contains(part), "{part:?} in {}", found.out);
    }
    let hits = run(&home, &["search", need, "--json"]);
    let file = folder.path().join("hits.json");
    fs::write(&file, &hits.out).expect("written");
    let hits = file.to_str().expect("a path");
    let joined = run(
        &home,
        &["query", "@queries/datasets-of-a-task.rq", "--hits", hits],
    );
    assert_eq!(joined.code, Some(0), "{joined:?}");
    for part in [
        "?rank\t?title\t?year\t?paper\n1\t\"Harbour Scenes\"\t2016\t",
        "\t\"Rendered Harbour\"\t2016\t\"Playing for labels in the port\"\n",
    ] {
        assert!(joined.out.contains(part), "{part:?} in {}", joined.out);
    }
    let none = run(&home, &["search", "images", "--filter", "language=Klingon"]);
    assert_eq!(
        (none.code, none.out.as_str()),
        (
            Some(1),
            "No dataset that passes the filters contains any of the words of “images”.\nNo dataset has the language Klingon; --facets lists the values of all hits.\n"
        )
    );
    fs::write(&file, "{}").expect("written");
    assert!(fails(&home, &["query", "ASK {}", "--hits", hits]).contains("search --json"));
    assert!(fails(&home, &["search", "images", "--before", "soon"]).contains("--before"));
    let shown = run(&home, &["show", "Harbour_Scenes"]);
    assert!(
        shown
            .out
            .contains("used by    1,204 works, as of the catalogue"),
        "{}",
        shown.out
    );
    let lines = folder.path().join("collection.jsonl.gz");
    let line = b"{\"id\": \"Tugs\", \"contents\": \"Pictures of tugs\", \"year\": 2012, \"title\": \"Tugging\"}\n";
    packed(&lines, line);
    let loaded = run(&home, &["load", lines.to_str().expect("a path")]);
    assert!(
        loaded
            .err
            .contains("1 dataset: 1 with a description and no data in "),
        "{loaded:?}"
    );
}

#[test]
fn two_sources_with_one_id_are_not_mixed_up() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a", "b"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
        fs::write(
            folder.path().join(name).join("data.nt"),
            format!("<http://e.org/{name}> <http://e.org/p> \"x\" .\n"),
        )
        .expect("written");
    }
    let path = |name: &str| {
        folder
            .path()
            .join(name)
            .join("data.nt")
            .to_str()
            .expect("a path")
            .to_owned()
    };
    let home = folder.path().join("home");
    let message = fails(&home, &["load", &path("a"), &path("b")]);
    assert!(
        message.contains("the dataset id data is in") && message.contains("--id-prefix"),
        "{message}"
    );
    assert!(!home.exists(), "nothing was begun");
}

#[test]
fn shells_and_manuals_know_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = run(folder.path(), &["completions", "bash"]);
    assert_eq!(script.code, Some(0), "{}", script.err);
    assert!(script.out.contains("complete -F _lodeseek") && script.out.contains("--public-url"));
    assert_eq!(
        run(folder.path(), &["completions", "no-shell"]).code,
        Some(2)
    );
    let pages = folder.path().join("man");
    assert_eq!(
        run(folder.path(), &["man", pages.to_str().expect("UTF-8")]).code,
        Some(0)
    );
    let page = std::fs::read_to_string(pages.join("lodeseek-search.1")).expect("a page");
    assert!(
        page.contains(".TH lodeseek-search 1") && page.contains("\\-\\-filter"),
        "{page}"
    );
    assert!(pages.join("lodeseek.1").exists());
}

/// Colours and links only if requested: there is no terminal here.
#[test]
fn matches_stand_out_where_that_shows() {
    let home = home();
    let ran = |variables: &[(&str, &str)]| {
        let mut program = super::support::program(home.path());
        program
            .env_remove("NO_COLOR")
            .envs(variables.iter().copied())
            .args(["search", "gauges", "-k", "1"]);
        String::from_utf8(program.output().expect("the program starts").stdout).expect("UTF-8")
    };
    assert!(!ran(&[]).contains('\u{1b}'));
    let coloured = ran(&[("CLICOLOR_FORCE", "1")]);
    assert!(
        coloured.contains("\u{1b}[1;4;33mgauges\u{1b}[0m"),
        "{coloured}"
    );
    assert!(!ran(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
    let linked = ran(&[("FORCE_HYPERLINK", "1")]);
    assert!(
        linked
            .contains("\u{1b}]8;;http://example.org/water/about.html\u{1b}\\Stream gauge samples"),
        "{linked}"
    );
}

#[test]
fn a_typing_error_is_told() {
    let home = home();
    let ran = run(home.path(), &["search", "City", "tree", "regsiter"]);
    assert!(
        ran.out
            .contains("searched for “City tree register” (--literal"),
        "{}",
        ran.out
    );
}

#[test]
fn a_source_without_datasets_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let message = fails(&home, &["load", empty.to_str().expect("a path")]);
    assert!(
        message.contains("no dataset was found in") && message.contains("neither a catalogue nor"),
        "{message}"
    );
    let truncated = folder.path().join("catalog.rdf");
    let text =
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:dcat='http://www.w3.org/ns/dcat#'>
        <dcat:Catalog rdf:about='http://e.org/c'><dcat:dataset><dcat:Dat";
    fs::write(&truncated, text).expect("written");
    let message = fails(&home, &["load", truncated.to_str().expect("a path")]);
    assert!(
        message.contains("no dataset was found in") && message.contains("--help"),
        "{message}"
    );
    let list = folder.path().join("datasets.json");
    fs::write(&list, "[]").expect("written");
    assert!(
        fails(&home, &["load", list.to_str().expect("a path")]).contains("it describes no dataset")
    );
    assert!(!home.exists(), "nothing was begun");
}

/// The compressed file ends early, and is shorter than what is read ahead.
#[test]
fn a_truncated_compressed_catalogue_keeps_what_precedes_the_break() {
    let folder = tempfile::tempdir().expect("a folder");
    let homes = tempfile::tempdir().expect("a folder");
    let home = homes.path().join("home");
    let file = folder.path().join("catalog.ttl.gz");
    let text = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/a> a dcat:Dataset ; dct:title \"A\" . <http://e.org/b> a dcat:Dataset ; dct:title \"B\" .";
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, text.as_bytes()).expect("packed");
    let packed = packed.finish().expect("packed");
    fs::write(&file, &packed[..packed.len() - 12]).expect("written");
    let path = file.to_str().expect("a path");
    let ran = run(&home, &["load", path]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for expected in [
        "catalog.ttl.gz: incomplete deflate stream; the rest was not read",
        "1 dataset: 1 with a description and no data",
        &format!("{path}: datasets may be missing"),
    ] {
        assert!(ran.err.contains(expected), "{expected}: {}", ran.err);
    }
    // In a folder, it does not stop the other files.
    fs::write(
        folder.path().join("trees.nt"),
        "<http://e.org/a> <http://e.org/p> \"1\" .",
    )
    .expect("written");
    let source = folder.path().to_str().expect("a path");
    let ran = run(&home, &["load", source]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for expected in [
        "incomplete deflate stream",
        "2 datasets: 1 loaded, 1 unchanged",
        &format!("{source}: datasets may be missing"),
    ] {
        assert!(ran.err.contains(expected), "{expected}: {}", ran.err);
    }
}

/// A dump and a table of some hundred bytes, whose download broke off.
#[test]
fn a_short_truncated_dump_keeps_what_precedes_the_break() {
    let folder = tempfile::tempdir().expect("a folder");
    let statements: String = (0..10)
        .map(|number| format!("<http://e.org/{number}> <http://e.org/p> \"{number}\" .\n"))
        .collect();
    let rows: String = (0..10)
        .map(|number| format!("Oak {number},{}\n", number * 7))
        .collect();
    for (name, text) in [
        ("trees.nt.gz", statements),
        ("trees.csv.gz", format!("name,height\n{rows}")),
    ] {
        let file = folder.path().join(name);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, text.as_bytes()).expect("packed");
        let packed = packed.finish().expect("packed");
        fs::write(&file, &packed[..packed.len() - 12]).expect("written");
        let home = folder.path().join(format!("home of {name}"));
        let ran = run(&home, &["load", file.to_str().expect("a path")]);
        assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
        for expected in ["truncated; read up to the break", "1 dataset: 1 loaded"] {
            assert!(
                ran.err.contains(expected),
                "{name}: {expected}: {}",
                ran.err
            );
        }
    }
}

/// A catalogue whose files are on the web, as real ones are.
#[test]
fn problems_are_summarized_unless_verbose() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("datasets.json");
    let mut datasets = Vec::new();
    for number in 0..40 {
        datasets.push(serde_json::json!({"dataset_id": number, "download": format!("https://e.org/{number}.nt")}));
    }
    datasets.push(serde_json::json!({"dataset_id": "broken", "download": "broken.nt"}));
    fs::write(
        folder.path().join("broken.nt"),
        "<http://e.org/a> <http://e.org/p> 1 .\nno statement\n",
    )
    .expect("written");
    fs::write(&list, serde_json::Value::from(datasets).to_string()).expect("written");
    let load = |home: &str, options: &[&str]| {
        let home = folder.path().join(home);
        run(
            &home,
            &[&["load", list.to_str().expect("a path")], options].concat(),
        )
    };
    let summary = load("short", &[]);
    assert_eq!(summary.code, Some(0), "{summary:?}");
    assert!(summary.err.lines().count() <= 5, "{}", summary.err);
    for part in [
        "40 files: on the web; `lodeseek harvest",
        "1 file: 2 broken statements skipped; broken, broken.nt: ",
    ] {
        assert!(summary.err.contains(part), "{part:?} in {}", summary.err);
    }
    let verbose = load("long", &["--verbose"]);
    assert!(
        verbose.err.lines().count() > 80 && verbose.err.contains("https://e.org/39.nt"),
        "{}",
        verbose.err
    );
}

/// The parser defines a chain of terms recursively; its length is limited to 64.
#[test]
fn a_chain_of_json_ld_prefixes_costs_its_own_dataset_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = folder.path().join("files");
    fs::create_dir(&files).expect("created");
    fs::write(files.join("chain.jsonld"), chain_of_prefixes(65)).expect("written");
    fs::write(
        files.join("other.nt"),
        "<http://e.org/oak> <http://e.org/p> \"an oak\" .\n",
    )
    .expect("written");
    let loaded = run(
        &folder.path().join("home"),
        &["load", files.to_str().expect("a path")],
    );
    assert_eq!(loaded.code, Some(1), "{loaded:?}");
    assert!(loaded.err.contains("1 dataset: 1 loaded"), "{}", loaded.err);
    assert!(
        loaded
            .err
            .contains("up to 65 terms are defined one by the other"),
        "{}",
        loaded.err
    );
}

#[test]
fn numbers_agree_with_their_nouns() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    let file = folder.path().join("tiny.nt");
    fs::write(&file, "<http://e.org/oak> <http://e.org/p> \"an oak\" .\n").expect("written");
    let loaded = run(&home, &["load", file.to_str().expect("a path")]);
    assert!(
        loaded.err.contains("1 dataset: 1 loaded")
            && loaded.err.contains("1 distinct triple of 1 read"),
        "{loaded:?}"
    );
    let indexed = run(&home, &["index"]);
    assert!(
        indexed.err.contains("1 dataset indexed") && indexed.err.contains("; 1 triple in"),
        "{indexed:?}"
    );
    let found = run(&home, &["search", "oak"]);
    assert!(
        found
            .out
            .starts_with("1 good match for “oak” among 1 dataset"),
        "{found:?}"
    );
}

#[test]
fn an_invalid_log_filter_is_reported() {
    let home = tempfile::tempdir().expect("a folder");
    let ran = run_with(
        home.path(),
        &[("RUST_LOG", "lodeseek=loud")],
        &["config", "show"],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.err.contains("RUST_LOG is ignored") && ran.err.contains("lodeseek=loud"),
        "{ran:?}"
    );
    let ran = run(home.path(), &["config", "show"]);
    assert_eq!(ran.err, "");
}

#[test]
fn json_is_requested_in_the_same_way_everywhere() {
    let home = home();
    let trees = "SELECT * { ?s ?p ?o }";
    for command in [
        &["search", "ginkgo"][..],
        &["show", "street-trees"],
        &["similar", "street-trees"],
        &["sources", trees],
        &["quality"],
        &["quality", "street-trees"],
        &["list"],
        &["status"],
        &["verify"],
        &["config", "show"],
    ] {
        let long = run(home.path(), &[command, &["--format", "json"]].concat());
        let short = run(home.path(), &[command, &["--json"]].concat());
        let value: serde_json::Value = serde_json::from_str(&long.out)
            .unwrap_or_else(|error| panic!("{command:?}: {error}: {long:?}"));
        assert!(!value.is_null() && long.out == short.out, "{command:?}");
        let plain = run(home.path(), command).out;
        assert_eq!(
            run(home.path(), &[command, &["--format", "text"]].concat()).out,
            plain,
            "{command:?}"
        );
    }
    let filtered = fails(home.path(), &["search", "ginkgo", "--format", "Turtle"]);
    assert!(filtered.contains("--filter format=CSV"), "{filtered}");
    let found = run(
        home.path(),
        &["search", "ginkgo", "--filter", "format=no such format"],
    );
    assert_eq!(found.code, Some(1), "{found:?}");
}

/// `lodeseek … | head -1`: the reader leaves before the output is complete, which is no error.
#[test]
fn a_closed_pipe_is_quiet() {
    let home = home();
    let all = "SELECT * { ?s ?p ?o }";
    for arguments in [
        &["search", "--json", "ginkgo"][..],
        &["search", "ginkgo"],
        &["show", "street-trees", "--json"],
        &["show", "street-trees", "--rdf", "nt"],
        &["similar", "street-trees"],
        &["snippet", "street-trees"],
        &["sources", all, "--json"],
        &["query", all],
        &["query", all, "--format", "json"],
        &["quality", "--json"],
        &[
            "evaluate",
            "testdata/qrels.txt",
            "--topics",
            "testdata/queries.tsv",
        ],
        &["run", "--topics", "testdata/queries.tsv"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut program = super::support::program(home.path());
        program
            .args(arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = program.spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {err}");
        assert!(
            !err.contains("lodeseek: ") && !err.contains("roken pipe") && !err.contains("panicked"),
            "{arguments:?}: {err}"
        );
    }
}

#[test]
fn a_path_is_named_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in ["testdata/missing.ttl", "testdata/missing.json"] {
        let message = fails(folder.path(), &["load", path]);
        assert_eq!(message.matches(path).count(), 1, "{message}");
    }
}

/// The names of other programs lead to the names of this one.
#[test]
fn foreign_names_get_a_tip() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, tip) in [
        (&["serve", "--port", "8080"][..], "--bind 127.0.0.1:PORT"),
        (&["search", "--limit", "3", "oak"], "'-k'"),
        (
            &["search", "--filter", "file-format=CSV", "oak"],
            "unknown facet \"file-format\"; supported: task, ",
        ),
        (
            &["search", "--dpr", "x", "oak"],
            "`search --dpr` was removed: choose it with `lodeseek index --dpr`",
        ),
        (
            &["serve", "--no-workers"],
            "set `server.workers = false` in lodeseek.toml, or LODESEEK_SERVER_WORKERS=false",
        ),
        (&["delete", "street-trees"], "'remove'"),
        (
            &["reproduce", "dr2", "--data", "x"],
            "run `lodeseek-lab reproduce`",
        ),
        (&["tag", "--help"], "run `lodeseek-lab tag`"),
        (&["help", "tag"], "run `lodeseek-lab tag`"),
        (
            &["load", "https://e.org/catalog.ttl"],
            "`lodeseek harvest https://e.org/catalog.ttl` reads it",
        ),
    ] {
        let error = fails(folder.path(), arguments);
        assert!(error.contains(tip), "{arguments:?}: {error}");
    }
    let home = home();
    let error = fails(home.path(), &["query", "queries/datasets.rq"]);
    assert!(error.contains("write @queries/datasets.rq"), "{error}");
}

#[test]
fn an_empty_collection_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        run(folder.path(), &["load", "testdata/catalog.ttl"]).code,
        Some(0)
    );
    let works = run(folder.path(), &["list", "--works"]);
    assert_eq!(
        (works.code, works.err.as_str()),
        (
            Some(1),
            "the collection contains no works; `lodeseek load` adds some\n"
        )
    );
}
