//! Configuration and ranking of a home, through the program.

#![expect(clippy::print_stderr, reason = "a skipped test is reported")]

use super::support::{Ran, TEST_TIMEOUT, program, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const DPR: &str = "testdata/models/sentence-transformers";

fn loaded() -> TempDir {
    let home = tempfile::tempdir().expect("a folder");
    let loaded = run(home.path(), &["load", "testdata/catalog.ttl"]);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    home
}

/// Runs the program with the defaults of a user: no ranking and no analysis is set.
fn with_defaults(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = program(home);
    command
        .env_remove("LODESEEK_RANKING")
        .env_remove("LODESEEK_ANALYSIS")
        .args(arguments);
    let output = command
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn configure(home: &Path, text: &str) {
    let path = home.join("lodeseek.toml");
    let before = fs::read_to_string(&path).unwrap_or_default();
    let base = before
        .lines()
        .find(|line| line.starts_with("base = "))
        .unwrap_or_default();
    fs::write(path, format!("{base}\n{text}")).expect("written");
}

/// Returns the value and the source of a key in `config show --json`.
fn shown(ran: &Ran, key: &str) -> (Value, String) {
    let rows: Vec<Value> =
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let row = rows.iter().find(|row| row["key"] == key).expect("the key");
    (
        row["value"].clone(),
        row["source"].as_str().expect("a source").to_owned(),
    )
}

#[test]
fn a_wrong_file_is_an_error_of_every_command() {
    let home = loaded();
    for (text, expected) in [
        ("this is no TOML", "lodeseek.toml:2: "),
        (
            "[portal]\ntitel = \"A\"",
            "lodeseek.toml:3: unknown key `portal.titel`; did you mean `portal.title`?",
        ),
        (
            "[sparql]\nrows = \"many\"",
            "lodeseek.toml:3: `sparql.rows`: ",
        ),
    ] {
        configure(home.path(), text);
        for command in [
            &["search", "trees"][..],
            &["index"],
            &["show", "street-trees"],
            &["serve"],
            &["config", "check"],
        ] {
            let ran = run(home.path(), command);
            assert!(
                ran.code == Some(2) && ran.err.contains(expected),
                "{command:?} {text}: {ran:?}"
            );
        }
    }
}

#[test]
fn flags_precede_variables_and_these_the_file() {
    let home = loaded();
    let show = ["config", "show", "--json"];
    configure(
        home.path(),
        "ranking = \"words\"\n[portal]\ntitle = \"File\"",
    );
    let ran = with_defaults(home.path(), &[], &show);
    assert_eq!(
        shown(&ran, "portal.title"),
        ("File".into(), "lodeseek.toml:4".to_owned())
    );
    assert_eq!(
        shown(&ran, "sparql.rows"),
        ("100000".into(), "default".to_owned())
    );
    let ran = with_defaults(home.path(), &[("LODESEEK_PORTAL_TITLE", "Variable")], &show);
    assert_eq!(
        shown(&ran, "portal.title"),
        ("Variable".into(), "LODESEEK_PORTAL_TITLE".to_owned())
    );
    assert_eq!(with_defaults(home.path(), &[], &["index"]).code, Some(0));
    assert_eq!(
        shown(&with_defaults(home.path(), &[], &show), "analysis"),
        ("multilingual".into(), "index".to_owned())
    );

    let pool = |variables: &[(&str, &str)], arguments: &[&str]| {
        let ran = with_defaults(
            home.path(),
            variables,
            &[&["search", "--json", "trees"], arguments].concat(),
        );
        let answer: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        answer["rerank"]["pool"].as_array().map(Vec::len)
    };
    let balanced = [("LODESEEK_RANKING", "balanced")];
    assert_eq!(pool(&[], &[]), None, "the file");
    assert_eq!(pool(&balanced, &[]), Some(2), "the variable");
    assert_eq!(pool(&balanced, &["--ranking", "words"]), None, "the flag");
    assert_eq!(
        pool(&balanced, &["--model", "bm25"]),
        None,
        "one model alone, also the default one"
    );
    let wrong = with_defaults(
        home.path(),
        &[("LODESEEK_RANKING", "bets")],
        &["search", "trees"],
    );
    assert!(
        wrong.code == Some(2) && wrong.err.contains("LODESEEK_RANKING=bets: unknown ranking"),
        "{wrong:?}"
    );
    let unknown = with_defaults(
        home.path(),
        &[("LODESEEK_RANKNG", "best")],
        &["search", "trees"],
    );
    assert!(
        unknown.err.contains("LODESEEK_RANKNG") && unknown.err.contains("LODESEEK_RANKING"),
        "{unknown:?}"
    );
}

#[test]
fn a_template_is_written_before_or_after_the_first_load() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("lodeseek.toml");
    assert_eq!(run(home.path(), &["config", "init"]).code, Some(0));
    let unloaded = run(home.path(), &["search", "trees"]);
    assert!(
        unloaded.code == Some(2) && unloaded.err.contains("is not a Lodeseek home"),
        "{unloaded:?}"
    );
    assert_eq!(
        run(
            home.path(),
            &["load", "--base", "http://e.org/", "testdata/catalog.ttl"]
        )
        .code,
        Some(0)
    );
    let text = fs::read_to_string(&path).expect("read");
    assert!(
        text.starts_with("base = \"http://e.org/\"\n# lodeseek.toml")
            && text.contains("\n[portal]"),
        "{text}"
    );
    assert_eq!(run(home.path(), &["config", "check"]).code, Some(0));
    let again = run(home.path(), &["config", "init"]);
    assert!(
        again.code == Some(2) && again.err.contains("was not changed"),
        "{again:?}"
    );
    fs::write(&path, "ranking = \"words\"").expect("written");
    let without = run(home.path(), &["show", "street-trees", "--rdf", "nt"]);
    assert!(
        without.code == Some(2)
            && without
                .err
                .contains("the key `base` is missing; restore it"),
        "{without:?}"
    );
    let checked = run(home.path(), &["config", "check"]);
    assert!(
        checked.code == Some(2)
            && checked
                .err
                .contains("the key `base` is missing; restore it"),
        "{checked:?}"
    );
    fs::write(&path, "base = \"no address\"").expect("written");
    assert_eq!(run(home.path(), &["config", "check"]).code, Some(2));
}

#[test]
fn what_index_was_told_every_command_uses() {
    let home = loaded();
    let indexed = with_defaults(home.path(), &[], &["index", "--ranking", "balanced"]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    let searched = with_defaults(home.path(), &[], &["search", "--json", "trees"]);
    let answer: Value = serde_json::from_str(&searched.out).expect("JSON");
    assert_eq!(
        answer["rerank"]["pool"],
        serde_json::json!(["fsdm", "bm25"]),
        "{answer}"
    );
    assert!(searched.err.is_empty(), "{searched:?}");
    let run = with_defaults(
        home.path(),
        &[],
        &["run", "--topics", "testdata/queries.tsv"],
    );
    assert!(
        run.out
            .lines()
            .next()
            .is_some_and(|line| line.ends_with("\tfsdm+bm25")),
        "{run:?}"
    );
    let plain = with_defaults(home.path(), &[], &["index"]);
    let shown = with_defaults(home.path(), &[], &["config", "show"]);
    assert!(
        plain.code == Some(0) && shown.out.contains("\"balanced\"  # index"),
        "a record is kept: {shown:?}"
    );
    configure(home.path(), "analysis = \"acordar\"");
    for command in [
        &["search", "trees"][..],
        &["similar", "street-trees"],
        &["config", "check"],
    ] {
        let ran = with_defaults(home.path(), &[], command);
        let expected = "lodeseek.toml:2: `analysis` is acordar, but the index was made with multilingual; run `lodeseek index`";
        assert!(
            ran.code == Some(2) && ran.err.contains(expected),
            "{command:?}: {ran:?}"
        );
    }
    let changed = with_defaults(home.path(), &[], &["index"]);
    assert!(
        changed
            .err
            .contains("the analysis changes from multilingual to acordar"),
        "{changed:?}"
    );
    assert_eq!(
        with_defaults(home.path(), &[], &["search", "ginkgo"]).code,
        Some(0)
    );
}

#[test]
fn a_missing_runtime_or_model_costs_one_line() {
    let home = loaded();
    let no_models = home.path().join("none").display().to_string();
    let no_models = [("LODESEEK_MODELS", no_models.as_str())];
    let line = "lodeseek: datasets are ranked by words, not by meaning: the model lodeseek-minilm was not found in";
    let indexed = with_defaults(home.path(), &no_models, &["index"]);
    assert!(
        indexed.code == Some(0) && indexed.err.matches(line).count() == 1,
        "{indexed:?}"
    );
    let searched = with_defaults(home.path(), &no_models, &["search", "--json", "ginkgo"]);
    assert!(
        searched.code == Some(0)
            && searched.err.lines().count() == 1
            && searched.err.contains(line),
        "{searched:?}"
    );
    let answer: Value = serde_json::from_str(&searched.out).expect("JSON");
    assert_eq!(
        answer["rerank"]["pool"],
        serde_json::json!(["fsdm", "bm25"]),
        "{answer}"
    );
    let explicit = with_defaults(
        home.path(),
        &no_models,
        &["search", "--ranking", "best", "ginkgo"],
    );
    assert!(
        explicit.code == Some(2) && explicit.err.contains("was not found in"),
        "{explicit:?}"
    );
    let library = home.path().join("none.so").display().to_string();
    let no_library = [("ORT_DYLIB_PATH", library.as_str())];
    let indexed = with_defaults(home.path(), &no_library, &["index"]);
    let expected = if cfg!(feature = "onnx") {
        "ONNX Runtime could not be loaded from"
    } else {
        "without the feature onnx"
    };
    assert!(
        indexed.code == Some(0) && indexed.err.contains(expected),
        "{indexed:?}"
    );
}

#[test]
fn a_model_is_given_once() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() || !cfg!(feature = "onnx") {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let home = loaded();
    let indexed = with_defaults(
        home.path(),
        &[],
        &["index", "--dpr", DPR, "--vectors", "int8"],
    );
    assert!(
        indexed.code == Some(0) && indexed.err.contains("12 datasets encoded"),
        "{indexed:?}"
    );
    let again = with_defaults(home.path(), &[], &["index"]);
    assert!(
        again.err.contains("0 datasets encoded, DPR vectors") && again.err.contains("int8"),
        "{again:?}"
    );
    let searched = with_defaults(
        home.path(),
        &[],
        &["search", "--json", "contamination of the atmosphere"],
    );
    let answer: Value = serde_json::from_str(&searched.out).expect("JSON");
    assert_eq!(
        answer["rerank"]["encoders"][0]["model"], "sentence-transformers",
        "{answer}"
    );
    let similar = with_defaults(home.path(), &[], &["similar", "--json", "street-trees"]);
    assert!(
        similar.code == Some(0) && similar.err.is_empty() && similar.out.contains("\"meaning\""),
        "{similar:?}"
    );
    let other = with_defaults(
        home.path(),
        &[],
        &[
            "run",
            "--topics",
            "testdata/queries.tsv",
            "--colbert",
            "testdata/models/colbert-native",
        ],
    );
    let expected =
        "--colbert testdata/models/colbert-native requires vectors of colbert-native, but";
    assert!(
        other.code == Some(2) && other.err.contains(expected),
        "{other:?}"
    );
    assert!(
        other
            .err
            .contains("has vectors of sentence-transformers only; run `lodeseek index --colbert"),
        "{other:?}"
    );
    let set = [(
        "LODESEEK_ENCODERS_COLBERT",
        "testdata/models/colbert-native",
    )];
    let other = with_defaults(home.path(), &set, &["search", "trees"]);
    let expected = "`encoders.colbert` requires vectors of colbert-native, but";
    assert!(
        other.code == Some(2) && other.err.contains(expected),
        "{other:?}"
    );
    let words = with_defaults(
        home.path(),
        &[],
        &["search", "--json", "--ranking", "words", "trees"],
    );
    assert_eq!(
        serde_json::from_str::<Value>(&words.out).expect("JSON")["rerank"],
        Value::Null
    );
}

#[test]
fn two_bits_are_for_the_vectors_of_tokens() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() || !cfg!(feature = "onnx") {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let home = loaded();
    let models = ["--dpr", DPR, "--colbert", "testdata/models/colbert-native"];
    let index = |precision| {
        with_defaults(
            home.path(),
            &[],
            &[&["index"], &models[..], &["--vectors", precision]].concat(),
        )
    };
    let search = || {
        with_defaults(
            home.path(),
            &[],
            &["search", "--json", "contamination of the atmosphere"],
        )
    };
    let scores = |answer: &str| -> BTreeMap<String, f64> {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        let hits = answer["hits"].as_array().expect("hits").iter();
        hits.map(|hit| {
            (
                hit["id"].to_string(),
                hit["dense"][1]["score"].as_f64().expect("of tokens"),
            )
        })
        .collect()
    };
    assert_eq!(index("f16").code, Some(0));
    let before = scores(&search().out);
    let indexed = index("int2");
    assert!(
        indexed.err.contains("columns of int8") && indexed.err.contains("columns of int2"),
        "{}",
        indexed.err
    );
    let after = scores(&search().out);
    assert_eq!((before.len(), after.len()), (10, 10));
    for (id, score) in &after {
        let near = before
            .get(id)
            .is_none_or(|before| (score / before - 1.0).abs() < 0.15);
        assert!(near, "{id}: {score} in place of {:?}", before.get(id));
    }
    assert!(before != after && with_defaults(home.path(), &[], &["verify"]).code == Some(0));
    let unknown = index("int3");
    assert!(
        unknown.code == Some(2) && unknown.err.contains("supported: f16, int8, int2"),
        "{unknown:?}"
    );
}

/// A server in a process of its own, ended when dropped.
struct Server {
    child: Child,
    address: String,
    public: String,
}

impl Server {
    fn start(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut command = program(home);
        command
            .env_remove("LODESEEK_RANKING")
            .env_remove("LODESEEK_ANALYSIS");
        let child = command
            .envs(variables.iter().copied())
            .arg("serve")
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut server = Self {
            child,
            address: String::new(),
            public: String::new(),
        };
        let mut lines = BufReader::new(server.child.stderr.take().expect("stderr")).lines();
        let mut seen = Vec::new();
        for line in lines.by_ref() {
            let line = line.expect("text");
            if let Some((_, rest)) = line.split_once("listening on http://") {
                let (address, public) = rest.split_once(" (public URL: ").expect("both addresses");
                address.clone_into(&mut server.address);
                public.trim_end_matches(')').clone_into(&mut server.public);
                std::thread::spawn(move || lines.for_each(drop));
                return server;
            }
            seen.push(line);
        }
        panic!("the server ended: {seen:?}");
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connected");
        let host = &self.address;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        reply
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_listens_on_a_host_name_and_links_to_itself() {
    let home = loaded();
    assert_eq!(
        with_defaults(home.path(), &[], &["index", "--ranking", "words"]).code,
        Some(0)
    );
    let server = Server::start(home.path(), &[], &["--bind", "localhost:0"]);
    let port = server.address.rsplit(':').next().expect("a port");
    assert_eq!(server.public, format!("http://localhost:{port}/"));
    assert!(
        server
            .get("/robots.txt")
            .contains(&format!("Sitemap: {}sitemap.xml", server.public))
    );
    drop(server);
    configure(
        home.path(),
        "public-url = \"https://data.example.org\"\n[portal]\ntitle = \"Northport\"",
    );
    let server = Server::start(home.path(), &[], &["--bind", "127.0.0.1:0"]);
    assert_eq!(server.public, "https://data.example.org/");
    let status = server.get("/api/3/action/status_show");
    assert!(
        status.contains("\"site_url\":\"https://data.example.org\"")
            && status.contains("Northport"),
        "{status}"
    );
    drop(server);
    let wrong = with_defaults(
        home.path(),
        &[],
        &["serve", "--bind", "no-such-host.invalid:1"],
    );
    assert!(
        wrong.code == Some(2)
            && wrong
                .err
                .contains("write an address or a host name, and a port"),
        "{wrong:?}"
    );
}

/// Texts of the portal are one for all languages, or one by language. The ids of the texts of pages are printed.
#[test]
fn texts_of_the_portal_may_have_languages() {
    let home = loaded();
    configure(
        home.path(),
        "[portal]\ntitle = { en = \"Trees\", de = \"Bäume\" }\nquestions = { de = [\"Wo?\"] }\n[portal.description]\nen = \"All\"",
    );
    let checked = run(home.path(), &["config", "check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let ran = run(home.path(), &["config", "show", "--json"]);
    assert_eq!(
        shown(&ran, "portal.title").0,
        serde_json::json!({ "en": "Trees", "de": "Bäume" })
    );
    configure(
        home.path(),
        "[portal]\ntitle = { \"in German\" = \"Bäume\" }",
    );
    let wrong = run(home.path(), &["config", "check"]);
    assert!(
        wrong.code == Some(2)
            && wrong.err.contains("lodeseek.toml:3: `portal.title`")
            && wrong.err.contains("is not a language tag"),
        "{wrong:?}"
    );
    let texts = run(home.path(), &["config", "texts", "de"]);
    assert!(
        texts.code == Some(0) && texts.out.contains("\nstart-title = "),
        "{texts:?}"
    );
    assert_eq!(run(home.path(), &["config", "texts", "ja"]).code, Some(2));
}

#[test]
fn the_server_is_configured_by_the_file() {
    let home = loaded();
    assert_eq!(
        with_defaults(home.path(), &[], &["index", "--ranking", "words"]).code,
        Some(0)
    );
    let statuses = |variables: &[(&str, &str)]| {
        let server = Server::start(home.path(), variables, &["--bind", "127.0.0.1:0"]);
        let admin = server.get("/api/admin/jobs");
        std::thread::sleep(Duration::from_millis(200)); // until its connection does not count any more
        let _held = TcpStream::connect(&server.address).expect("connected");
        let second = server.get("/livez");
        [admin, second].map(|reply| reply[9..12].to_owned())
    };
    assert_eq!(statuses(&[]), ["404", "200"], "the defaults");
    configure(
        home.path(),
        "[server]\nadmin = true\nmax-connections = 1\nworkers = false\nworker-memory = 64",
    );
    assert_eq!(statuses(&[]), ["401", "429"], "the file");
    assert_eq!(
        statuses(&[("LODESEEK_SERVER_MAX_CONNECTIONS", "8")]),
        ["401", "200"],
        "the variable"
    );
    let ran = with_defaults(
        home.path(),
        &[("LODESEEK_SERVER_ADMIN", "false")],
        &["config", "show", "--json"],
    );
    assert_eq!(
        shown(&ran, "server.admin"),
        (false.into(), "LODESEEK_SERVER_ADMIN".to_owned())
    );
    assert_eq!(
        shown(&ran, "server.workers"),
        (false.into(), "lodeseek.toml:5".to_owned())
    );
    configure(home.path(), "[server]\nworker-memory = 1");
    let wrong = run(home.path(), &["serve"]);
    assert!(
        wrong.code == Some(2)
            && wrong
                .err
                .contains("`server.worker-memory`: 1 is not from 16"),
        "{wrong:?}"
    );
}

#[test]
fn a_fresh_home_is_harvested_and_encoded_while_serving() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() || !cfg!(feature = "onnx") {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let arguments = [
        "--bind",
        "127.0.0.1:0",
        "--harvest",
        "testdata/catalog.ttl",
        "--every",
        "1h",
    ];
    let model = [("LODESEEK_ENCODERS_DPR", DPR)];
    let server = Server::start(&home.path().join("new"), &model, &arguments);
    let started = Instant::now();
    let path = "/api/search?q=contamination+of+the+atmosphere&k=1";
    loop {
        let reply = server.get(path);
        if reply.contains("\"dense\":[{") {
            break;
        }
        assert!(started.elapsed() < TEST_TIMEOUT, "{reply}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
