//! Works that use datasets: loading, lists, removal, queries, encoding, ranking by the nearest, backup, verification and repair, through
//! the program.

#![expect(clippy::print_stderr, reason = "a test that skips reports so")]

use super::admin::{READ, WRITE, site};
use super::http::Site;
use super::support::{AS_INDEXED, Home, Ran, TEST_TIMEOUT, limits, run, run_with, testdata};
use axum::http::Method;
use lodeseek_catalog::{CitingWork, DatasetId};
use lodeseek_engine::add_works;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const DPR: &str = "testdata/models/sentence-transformers";
#[cfg(all(unix, feature = "rocksdb"))]
const COLBERT: &str = "testdata/models/colbert-native";
/// Options of a server that ranks with the models of the index.
#[cfg(all(unix, feature = "rocksdb"))]
const SERVER: &[&str] = &["--admin", "--ranking", "best"];
const QUERY: &str = "detecting boats in photographs";

/// Returns a home with six descriptions and four works.
fn loaded() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = [
        "load",
        "testdata/research/collection.jsonl",
        "testdata/research/papers.jsonl",
    ];
    let ran = run(folder.path(), &sources);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.err
            .contains("4 works: 4 new, 0 replaced, 0 unchanged; they use 5 datasets"),
        "{ran:?}"
    );
    assert!(
        ran.err.contains("1 other id is no dataset of the home"),
        "{ran:?}"
    );
    folder
}

fn search(home: &Path, arguments: &[&str]) -> Value {
    search_with(home, &[], arguments)
}

/// Searches with the models of the index, and with environment variables.
fn search_with(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Value {
    let variables = [&[AS_INDEXED], variables].concat();
    let ran = run_with(
        home,
        &variables,
        &[&["search", "--json"], arguments].concat(),
    );
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
    assert!(
        again
            .err
            .contains("4 works: 0 new, 0 replaced, 4 unchanged"),
        "{again:?}"
    );
    let changed = load(concat!(
        "{\"title\": \"Counting masts\", \"year\": 2016, \"datasets\": [\"Late Boats\"]}\n",
        "{\"title\": \"New\", \"datasets\": [\"Harbour Cam\"]}\n",
        "{\"title\": \"Unlabelled\", \"abstract\": \"None.\"}\n"
    ));
    assert!(
        changed
            .err
            .contains("5 works: 1 new, 1 replaced, 0 unchanged"),
        "{changed:?}"
    );
    assert!(
        changed
            .err
            .contains("more.jsonl:3: no list `datasets`; `lodeseek-lab tag`"),
        "{changed:?}"
    );
    let none = load("{\"title\": \"Unlabelled\", \"abstract\": \"None.\"}\n");
    assert!(
        none.code == Some(2) && none.err.contains("contains no work"),
        "{none:?}"
    );
}

/// Returns the numbers of works, of datasets that they use, and of links from datasets of the home.
fn numbers_in_rdf(home: &Path) -> [String; 3] {
    let patterns = [
        "?work a <https://schema.org/CreativeWork> ; <http://purl.org/dc/terms/title> ?title",
        "?work a <https://schema.org/CreativeWork> ; <http://purl.org/spar/cito/usesDataFrom> ?dataset",
        "?dataset a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/isReferencedBy> ?work",
    ];
    patterns.map(|pattern| {
        let ran = run(
            home,
            &["query", &format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}")],
        );
        ran.out.trim_start_matches("?n\n").trim_end().to_owned()
    })
}

#[test]
fn works_are_queried_by_sparql() {
    let home = loaded();
    let home = home.path();
    assert_eq!(numbers_in_rdf(home), ["4", "6", "5"]);
    let table = || {
        run(home, &["query", "@queries/works.rq", "--format", "csv"])
            .out
            .replace("\r\n", "\n")
    };
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
    assert_eq!(
        run(home, &["load", more.to_str().expect("UTF-8")]).code,
        Some(0)
    );
    assert_eq!(numbers_in_rdf(home), ["5", "8", "7"]);
    assert!(!table().contains("Undated"), "no work uses it any more");

    assert_eq!(run(home, &["remove", "Late_Boats"]).code, Some(0));
    assert_eq!(numbers_in_rdf(home), ["5", "8", "4"]);
    assert_eq!(
        run(home, &["load", "testdata/research/collection.jsonl"]).code,
        Some(0)
    );
    assert_eq!(numbers_in_rdf(home), ["5", "8", "7"]);

    assert_eq!(
        run(home, &["rebase", "https://data.example.org/"]).code,
        Some(0)
    );
    assert_eq!(numbers_in_rdf(home), ["5", "8", "7"]);
    let address = "SELECT ?url { GRAPH <https://data.example.org/works> {
        ?work <https://schema.org/url> ?url ;
            <http://purl.org/spar/cito/usesDataFrom> <https://data.example.org/dataset/Harbour_Cam> } }";
    assert_eq!(
        run(home, &["query", address]).out,
        "?url\n<https://e.org/new>\n"
    );
}

/// Returns the id of the work with a title, as `list --works` lists it.
fn work_id(home: &Path, title: &str) -> String {
    let listed = run(home, &["list", "--works", "--json"]);
    let works: Value =
        serde_json::from_str(&listed.out).unwrap_or_else(|error| panic!("{error}: {listed:?}"));
    let work = works
        .as_array()
        .and_then(|works| works.iter().find(|work| work["title"] == title));
    work.and_then(|work| work["id"].as_str())
        .unwrap_or_else(|| panic!("{title}: {works}"))
        .to_owned()
}

#[test]
fn works_are_listed_and_removed() {
    let home = loaded();
    let home = home.path();
    let table = run(home, &["list", "--works"]);
    assert_eq!(table.code, Some(0), "{table:?}");
    let titles: Vec<&str> = table
        .out
        .lines()
        .filter_map(|line| line.get(50..))
        .map(str::trim_end)
        .collect();
    let expected = [
        "title",
        "Boats by night and day",
        "Counting masts",
        "Hearing questions",
        "Reading questions",
    ];
    assert_eq!(titles, expected, "{table:?}");
    let listed: Value =
        serde_json::from_str(&run(home, &["list", "--works", "--json"]).out).expect("JSON");
    let masts = work_id(home, "Counting masts");
    let expected = serde_json::json!({"id": masts, "title": "Counting masts", "year": 2016, "datasets": ["Undated_Boats"]});
    assert_eq!(listed[1], expected);
    assert_eq!(
        listed[2]["datasets"],
        serde_json::json!(["Market_Voices", "No_Longer_Listed"])
    );

    let unknown = run(home, &["remove", "--works", &masts, "Counting masts"]);
    let message = "nothing was removed: there is no work \"Counting masts\"; `lodeseek list --works` lists all";
    assert!(
        unknown.code == Some(2) && unknown.err.contains(message),
        "{unknown:?}"
    );
    assert_eq!(numbers_in_rdf(home), ["4", "6", "5"]);
    let removed = run(home, &["remove", "--works", &masts]);
    assert!(
        removed.code == Some(0) && removed.err.contains("1 work removed"),
        "{removed:?}"
    );
    assert_eq!(numbers_in_rdf(home), ["3", "5", "4"]);
    assert!(
        run(home, &["list"]).out.contains("Undated_Boats"),
        "datasets stay"
    );
    let others = [
        "Boats by night and day",
        "Hearing questions",
        "Reading questions",
    ]
    .map(|title| work_id(home, title));
    let removed = run(
        home,
        &[
            &["remove", "--works"][..],
            &others.each_ref().map(String::as_str),
        ]
        .concat(),
    );
    assert!(removed.err.contains("3 works removed"), "{removed:?}");
    assert_eq!(numbers_in_rdf(home), ["0", "0", "0"]);
    assert_eq!(
        run(home, &["list", "--works"]).code,
        Some(1),
        "there is none"
    );
    assert!(!run(home, &["status"]).out.contains("works  "));
    assert_eq!(run(home, &["verify"]).code, Some(0));
}

#[test]
fn works_are_shown_with_the_dataset_that_they_use() {
    let home = loaded();
    let home = home.path();
    let mut list = String::new();
    for year in 2001..=2009 {
        list += &format!(
            "{{\"title\": \"Boats of {year}\", \"year\": {year}, \"url\": \"https://e.org/{year}\", \"datasets\": [\"Harbour Cam\"]}}\n"
        );
    }
    let more = home.join("more.jsonl");
    fs::write(&more, list).expect("written");
    let added = run(home, &["load", more.to_str().expect("UTF-8")]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let indexed = run(home, &["index", "--dpr", DPR]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    let shown = run(home, &["show", "Harbour_Cam"]);
    let first = concat!(
        "  used by    10 works of the collection\n",
        "  work       Boats by night and day (2022)\n",
        "  work       Boats of 2009 (2009), https://e.org/2009\n",
    );
    assert!(
        shown.out.contains(first) && shown.out.contains("  work       and 2 more\n"),
        "{shown:?}"
    );
    let shown = run(home, &["show", "Harbour_Cam", "--json"]);
    let shown: Value = serde_json::from_str(&shown.out).expect("JSON");
    let works = &shown["works"];
    assert_eq!(
        (&works["all"], works["works"].as_array().map(Vec::len)),
        (&Value::from(10), Some(10))
    );
    assert_eq!(works["works"][9]["url"], "https://e.org/2001");
}

#[tokio::test]
async fn pages_and_json_of_datasets_list_the_works_that_use_them() {
    let home = Home::from_catalog(&testdata("research/collection.jsonl"));
    let mut works = Vec::new();
    for year in 1901..=1960 {
        // Only addresses of the web are links.
        let scheme = if year == 1960 { "javascript" } else { "https" };
        works.push(CitingWork {
            title: format!("Harbours in {year}"),
            summary: String::new(),
            year: Some(year),
            url: Some(format!("{scheme}://e.org/{year}")),
            datasets: vec![DatasetId::new("Harbour_Cam").expect("an id")],
        });
    }
    add_works(&home.store, works).expect("added");
    let (app, folder) = home.serve(limits());
    let site = Site::behind(app, folder);
    let page = site.accept("/dataset/Harbour_Cam", "text/html").await.body;
    for part in [
        "<summary>Used by 60 works</summary>",
        "<li><cite>Harbours in 1960</cite>, 1960</li>",
        "<a href=\"https://e.org/1911\" rel=\"noreferrer\"><cite>Harbours in 1911</cite></a>, 1911",
        "<p class=\"note\">10 more</p>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Harbours in 1910"), "{page}");
    let german = site.get("/dataset/Harbour_Cam?lang=de").await.body;
    assert!(german.contains("Verwendet in 60 Arbeiten"), "{german}");
    let other = site.accept("/dataset/Late_Boats", "text/html").await.body;
    assert!(!other.contains("Used by"), "{other}");

    let object = site
        .accept("/dataset/Harbour_Cam", "application/json")
        .await
        .json();
    let works = &object["works"];
    assert_eq!(
        (&works["all"], works["works"].as_array().map(Vec::len)),
        (&Value::from(60), Some(50)),
        "{object}"
    );
    assert_eq!(works["works"][0]["title"], "Harbours in 1960");
}

/// Uploads a list of works, and returns status and body.
async fn upload(site: &Site, token: &str, list: &str) -> (u16, String) {
    let headers = [
        ("authorization", token),
        ("content-type", "application/jsonl"),
        ("prefer", "wait=120"),
    ];
    let reply = site
        .request(Method::POST, "/api/admin/works", &headers, list)
        .await;
    (reply.status.as_u16(), reply.body)
}

#[tokio::test]
async fn uploaded_works_are_added_or_rejected_as_a_whole() {
    let (site, _worker, home) = site();
    let list = concat!(
        "{\"title\": \"Masts\", \"year\": 2016, \"datasets\": [\"boats\"]}\n",
        "{\"title\": \"Sails\", \"url\": \"https://e.org/sails\", \"datasets\": [\"boats\", \"winds\"]}\n",
    );
    assert_eq!(upload(&site, "", list).await.0, 401);
    assert_eq!(upload(&site, READ, list).await.0, 403);
    let too_large = " ".repeat((16 << 20) + 1);
    let nested = format!("{{\"title\": {}", "[".repeat(129));
    for (body, status, reasons) in [
        (
            format!("{list}no JSON\n{{\"title\": \"x\"}}\n"),
            422,
            &["line 3: ", "line 4: no list `datasets`"][..],
        ),
        ("no JSON\n".repeat(1000), 422, &["line 10: "]),
        (nested, 422, &["line 1: recursion limit"]),
        (String::new(), 422, &["contains no work"]),
        (too_large, 413, &["at most 16777216 bytes"]),
    ] {
        let (found, text) = upload(&site, WRITE, &body).await;
        let is_expected = found == status && reasons.iter().all(|reason| text.contains(reason));
        assert!(
            is_expected && text.len() < 2000,
            "{reasons:?}: {found} {text}"
        );
        assert!(!text.contains("line 11"), "few lines are listed: {text}");
    }
    assert!(
        !home.join("works/works.jsonl").exists(),
        "nothing was changed"
    );

    let result = |(status, text): (u16, String)| -> Value {
        assert_eq!(status, 200, "{text}");
        serde_json::from_str::<Value>(&text).expect("JSON")["result"].clone()
    };
    let added = result(upload(&site, WRITE, list).await);
    let expected = r#"{"added": 2, "replaced": 0, "unchanged": 0, "total": 2, "usedDatasets": 0, "unknownDatasets": 2}"#;
    assert_eq!(
        added,
        serde_json::from_str::<Value>(expected).expect("JSON")
    );
    let changed = result(upload(&site, WRITE, &list.replace("Sails", "Sails and winds")).await);
    assert_eq!(
        [
            &changed["added"],
            &changed["replaced"],
            &changed["unchanged"]
        ],
        [0, 1, 1],
        "{changed}"
    );
    let query = "SELECT ?title { GRAPH <http://localhost:7878/works> { ?work <http://purl.org/dc/terms/title> ?title } }";
    let titles = site
        .post("/sparql", "application/sparql-query", query)
        .await
        .body;
    assert!(
        titles.contains("Sails and winds") && !titles.contains("\"Sails\""),
        "{titles}"
    );
    let audit = fs::read_to_string(home.join("audit.jsonl")).expect("the audit log");
    assert_eq!(
        audit
            .matches("\"by\":\"write\",\"action\":\"works\"")
            .count(),
        6,
        "{audit}"
    );
    assert_eq!(
        fs::read_dir(home.join("uploads"))
            .expect("a folder")
            .count(),
        0,
        "uploads are deleted"
    );
}

#[tokio::test]
async fn works_are_listed_and_removed_by_http() {
    let (site, _worker, home) = site();
    let list = concat!(
        "{\"title\": \"Masts\", \"year\": 2016, \"datasets\": [\"boats\"]}\n",
        "{\"title\": \"Oars\", \"datasets\": [\"boats\"]}\n",
        "{\"title\": \"Sails\", \"url\": \"https://e.org/sails\", \"datasets\": [\"boats\", \"winds\"]}\n",
    );
    assert_eq!(upload(&site, WRITE, list).await.0, 200);
    let send = |method: Method, path: String, token: &'static str, body: String| {
        let site = &site;
        async move {
            let headers = [
                ("authorization", token),
                ("content-type", "application/json"),
                ("prefer", "wait=120"),
            ];
            let reply = site.request(method, &path, &headers, &body).await;
            let value: Value = serde_json::from_str(&reply.body)
                .unwrap_or_else(|_| Value::from(reply.body.as_str()));
            (reply.status.as_u16(), value)
        }
    };
    let works = || {
        send(
            Method::GET,
            "/api/admin/works".to_owned(),
            READ,
            String::new(),
        )
    };
    assert_eq!(
        send(
            Method::GET,
            "/api/admin/works".to_owned(),
            "",
            String::new()
        )
        .await
        .0,
        401
    );
    let (status, listed) = works().await;
    assert_eq!(
        (status, listed.as_array().map(Vec::len)),
        (200, Some(3)),
        "{listed}"
    );
    let ids: Vec<String> = (0..3)
        .map(|place| listed[place]["id"].as_str().expect("an id").to_owned())
        .collect();
    let sails = serde_json::json!({"id": ids[2], "title": "Sails", "url": "https://e.org/sails", "datasets": ["boats", "winds"]});
    assert_eq!(listed[2], sails);

    let delete = |id: &str, token| {
        send(
            Method::DELETE,
            format!("/api/admin/works/{id}"),
            token,
            String::new(),
        )
    };
    assert_eq!(delete(&ids[0], READ).await.0, 403);
    let (status, error) = delete("Masts", WRITE).await;
    assert!(
        status == 400 && error.to_string().contains("no id of a work"),
        "{status} {error}"
    );
    let (status, error) = delete(&"0".repeat(32), WRITE).await;
    assert!(
        status == 404 && error.to_string().contains("there is no work 0000"),
        "{status} {error}"
    );
    let remove = |body: Value| {
        send(
            Method::POST,
            "/api/admin/remove".to_owned(),
            WRITE,
            body.to_string(),
        )
    };
    for (body, expected) in [
        (serde_json::json!({}), 400),
        (serde_json::json!({"works": []}), 400),
        (
            serde_json::json!({"works": [ids[0]], "datasets": ["boats"]}),
            400,
        ),
        (serde_json::json!({"works": [ids[0], "Masts"]}), 400),
        (serde_json::json!({"works": [ids[0], "0".repeat(32)]}), 422),
    ] {
        let (status, answer) = remove(body.clone()).await;
        assert_eq!(status, expected, "{body}: {answer}");
    }
    assert_eq!(works().await.1, listed, "nothing was removed");

    let (status, job) = delete(&ids[0], WRITE).await;
    assert_eq!(
        (status, &job["result"]["removed"], &job["works"][0]),
        (200, &1.into(), &ids[0].as_str().into()),
        "{job}"
    );
    let (status, job) = remove(serde_json::json!({"works": ids[1..]})).await;
    assert_eq!(
        (status, &job["result"]["removed"]),
        (200, &2.into()),
        "{job}"
    );
    assert_eq!(works().await.1, serde_json::json!([]));
    let query = "ASK { GRAPH <http://localhost:7878/works> { ?s ?p ?o } }";
    let described = site
        .post("/sparql", "application/sparql-query", query)
        .await
        .body;
    assert!(described.contains("false"), "{described}");
    let audit = fs::read_to_string(home.join("audit.jsonl")).expect("the audit log");
    let entry = format!(
        "\"by\":\"write\",\"action\":\"remove\",\"datasets\":[],\"works\":[\"{}\"],\"outcome\":\"done\"",
        ids[0]
    );
    assert!(audit.contains(&entry), "{audit}");
}

/// Works are loaded into a served home, rank after a moment, and are removed.
#[cfg(all(unix, feature = "rocksdb"))]
#[test]
fn works_are_loaded_through_the_running_server() {
    use super::admin::program::Served;
    use std::time::{Duration, Instant};

    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    for arguments in [
        &["load", "testdata/research/collection.jsonl"][..],
        &["index", "--dpr", DPR, "--colbert", COLBERT],
    ] {
        assert_eq!(run(home, arguments).code, Some(0));
    }
    let search_at = |served: &Served| -> Value {
        let query = QUERY.replace(' ', "+");
        let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let response = served.request(&format!("GET /api/search?duplicates=all&q={query} {head}"));
        let (_, body) = response.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"))
    };
    let works_of_server = |served: &Served, id: &str| works_of(&search_at(served), id);
    let wait_for = |served: &Served, id: &str, works: u64| {
        let started = Instant::now();
        while works_of_server(served, id).map(|(_, all)| all) != Some(works) {
            assert!(
                started.elapsed() < TEST_TIMEOUT,
                "{id}: {:?}",
                works_of_server(served, id)
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    };

    let served = Served::start(home, SERVER);
    assert_eq!(works_of_server(&served, "Late_Boats"), None);
    let encoders = |answer: &Value| answer["rerank"]["encoders"].as_array().map(Vec::len);
    assert_eq!(
        encoders(&search_at(&served)),
        Some(2),
        "vectors of texts and of tokens"
    );
    let sources = [
        "load",
        "testdata/research/papers.jsonl",
        "testdata/research/collection.jsonl",
    ];
    let loaded = run(home, &sources);
    assert!(
        loaded.code == Some(0) && loaded.err.contains("5 datasets: 5 unchanged"),
        "{loaded:?}"
    );
    assert!(
        loaded
            .err
            .contains("4 works: 4 new, 0 replaced, 0 unchanged; they use 5 datasets; the running"),
        "{loaded:?}"
    );
    wait_for(&served, "Late_Boats", 1);
    wait_for(&served, "Undated_Boats", 1);

    // A work with its old text needs no new vector; another one is encoded.
    let papers = fs::read_to_string("testdata/research/papers.jsonl").expect("a list");
    let masts = papers
        .lines()
        .nth(1)
        .expect("a work")
        .replace("[\"Undated Boats\"]", "[\"Leaf Letters\"]");
    let more = home.join("more.jsonl");
    let new = "{\"title\": \"Detecting boats in photographs\", \"datasets\": [\"Late Boats\"]}";
    fs::write(&more, format!("{masts}\n{new}\nno JSON\n")).expect("written");
    let changed = run(home, &["load", more.to_str().expect("UTF-8")]);
    assert!(
        changed
            .err
            .contains("5 works: 1 new, 1 replaced, 0 unchanged"),
        "{changed:?}"
    );
    assert!(changed.err.contains("more.jsonl:3: "), "{changed:?}");
    assert_eq!(works_of_server(&served, "Undated_Boats"), None, "at once");
    wait_for(&served, "Late_Boats", 2);
    let first = search_at(&served);
    let (code, log) = served.stop();
    assert_eq!(code, Some(0), "{log}");

    // The first works rank by the same settings as after a restart.
    let served = Served::start(home, SERVER);
    let again = search_at(&served);
    assert_eq!(
        (&first["hits"], &first["rerank"]),
        (&again["hits"], &again["rerank"])
    );
    assert_eq!(
        encoders(&again),
        Some(1),
        "with works, vectors of tokens are not used"
    );
    assert_eq!(works_of_server(&served, "Undated_Boats"), None);

    let removed = run(
        home,
        &[
            "remove",
            "--works",
            &work_id(home, "Detecting boats in photographs"),
        ],
    );
    assert!(
        removed.code == Some(0) && removed.err.contains("1 work removed by the running server"),
        "{removed:?}"
    );
    assert_eq!(
        works_of_server(&served, "Late_Boats"),
        Some((1, 1)),
        "at once"
    );
    let (code, log) = served.stop();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(numbers_in_rdf(home), ["4", "6", "5"]);
    let indexed = run(home, &["index", "--dpr", DPR]);
    assert!(
        indexed
            .err
            .contains("0 works encoded by sentence-transformers, 4 unchanged"),
        "{indexed:?}"
    );
}

/// Returns the number of encoders that rank a search of a server.
#[cfg(all(unix, feature = "rocksdb"))]
fn encoders_of(served: &super::admin::program::Served) -> Option<usize> {
    let query = QUERY.replace(' ', "+");
    let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let response = served.request(&format!("GET /api/search?q={query} {head}"));
    let (_, body) = response.split_once("\r\n\r\n").expect("a body");
    let answer: Value =
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"));
    answer["rerank"]["encoders"].as_array().map(Vec::len)
}

/// A server that started with works follows their removal without a restart.
#[test]
#[cfg(all(unix, feature = "rocksdb"))]
fn a_server_stops_ranking_by_works_that_are_removed() {
    use super::admin::program::Served;
    use std::time::{Duration, Instant};

    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    for arguments in [
        &[
            "load",
            "testdata/research/collection.jsonl",
            "testdata/research/papers.jsonl",
        ][..],
        &["index", "--dpr", DPR, "--colbert", COLBERT],
    ] {
        let done = run(home, arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    let served = Served::start(home, SERVER);
    assert_eq!(encoders_of(&served), Some(1), "works rank with texts alone");
    let listed = run(home, &["list", "--works", "--json"]);
    let works: Value = serde_json::from_str(&listed.out).expect("JSON");
    let mut removal = vec!["remove", "--works"];
    removal.extend(
        works
            .as_array()
            .expect("works")
            .iter()
            .filter_map(|work| work["id"].as_str()),
    );
    let removed = run(home, &removal);
    assert!(
        removed.code == Some(0)
            && removed
                .err
                .contains("4 works removed by the running server"),
        "{removed:?}"
    );
    let started = Instant::now();
    while encoders_of(&served) != Some(2) {
        assert!(
            started.elapsed() < TEST_TIMEOUT,
            "without works, vectors of tokens rank, too"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    let (code, log) = served.stop();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn near_works_vote_for_the_datasets_they_use() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let home = loaded();
    let indexed = run(home.path(), &["index", "--dpr", DPR]);
    assert!(
        indexed
            .err
            .contains("4 works encoded by sentence-transformers, 0 unchanged"),
        "{indexed:?}"
    );
    let again = run(home.path(), &["index", "--dpr", DPR]);
    assert!(
        again
            .err
            .contains("0 works encoded by sentence-transformers, 4 unchanged"),
        "{again:?}"
    );

    let answer = search(home.path(), &[QUERY]);
    assert_eq!(works_of(&answer, "Late_Boats"), Some((1, 1)), "{answer}");
    assert_eq!(works_of(&answer, "Undated_Boats"), Some((1, 1)), "{answer}");
    assert!(answer["rerank"]["works"].as_u64() >= Some(3), "{answer}");
    let without = search_with(home.path(), &[("LODESEEK_RERANK_WORKS", "0")], &[QUERY]);
    assert!(
        works_of(&without, "Undated_Boats").is_none() && without["rerank"]["works"].is_null(),
        "{without}"
    );

    // A work of 2022 is no evidence for a search up to 2018.
    let earlier = search(home.path(), &["--before", "2018", QUERY]);
    assert_eq!(works_of(&earlier, "Harbour_Cam"), None, "{earlier}");
    assert_eq!(
        works_of(&earlier, "Undated_Boats"),
        Some((1, 1)),
        "{earlier}"
    );

    let shown = run_with(home.path(), &[AS_INDEXED], &["search", QUERY]).out;
    assert!(
        shown.contains("used by 1 work near to the query, of 1 in total:"),
        "{shown}"
    );
    assert!(shown.contains("Counting masts (2016)"), "{shown}");
    assert_eq!(
        run(
            home.path(),
            &["remove", "--works", &work_id(home.path(), "Counting masts")]
        )
        .code,
        Some(0)
    );
    let reduced = search(home.path(), &[QUERY]);
    assert_eq!(works_of(&reduced, "Undated_Boats"), None, "{reduced}");
    assert_eq!(works_of(&reduced, "Late_Boats"), Some((1, 1)), "{reduced}");
    let wrong = run(
        home.path(),
        &[
            "run",
            "--topics",
            "testdata/queries.tsv",
            "--dpr",
            DPR,
            "--fusion-weights",
            "1,1,1",
        ],
    );
    assert!(
        wrong.code == Some(2)
            && wrong
                .err
                .contains("one for works if the home has vectors of works"),
        "{wrong:?}"
    );
}

#[test]
fn topics_with_a_year_are_ranked_as_searches_up_to_it() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
        );
        return;
    }
    let home = loaded();
    let indexed = run(home.path(), &["index", "--dpr", DPR]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    let (topics, output) = (
        home.path().join("topics.tsv"),
        home.path().join("boats.run"),
    );
    fs::write(&topics, format!("all\t{QUERY}\nearly\t{QUERY}\t2018\n")).expect("written");
    let [topics, output] = [&topics, &output].map(|path| path.to_str().expect("UTF-8"));
    let ran = run(
        home.path(),
        &["run", "--topics", topics, "--dpr", DPR, "-o", output],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let lines = fs::read_to_string(output).expect("a run");
    let of_topic = |topic: &str| -> Vec<String> {
        let columns = lines
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        columns
            .filter(|columns| columns[0] == topic)
            .map(|columns| columns[2].to_owned())
            .collect()
    };
    let of_search = |arguments: &[&str]| -> Vec<String> {
        let answer = search(
            home.path(),
            &[&["-k", "100", "--duplicates"], arguments].concat(),
        );
        answer["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|hit| hit["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    assert_eq!(of_topic("all"), of_search(&[QUERY]));
    assert_eq!(of_topic("early"), of_search(&["--before", "2018", QUERY]));
    assert!(of_topic("all").len() > of_topic("early").len(), "{lines}");

    let record = fs::read_to_string(format!("{output}.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let weights = serde_json::json!([0.075, 0.075, 1.0, 0.4]);
    assert_eq!(
        record["rerank"]["fusion_weights"], weights,
        "documented in rank-by-works.md: {record}"
    );
    let documented = serde_json::json!({ "works": 25, "works_weight": 0.5 });
    assert_eq!(
        record["rerank"]["long_queries"], documented,
        "documented in rank-by-works.md: {record}"
    );
    for (place, own) in [["--works", "30"], ["--fusion-weights", "0.2,0.2,1,0.4"]]
        .into_iter()
        .enumerate()
    {
        let output = format!("{output}.{place}");
        let ran = run(
            home.path(),
            &[
                &["run", "--topics", topics, "--dpr", DPR, "-o", &output],
                &own[..],
            ]
            .concat(),
        );
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let record = fs::read_to_string(format!("{output}.json")).expect("a record");
        let record: Value = serde_json::from_str(&record).expect("JSON");
        assert_eq!(record["rerank"]["long_queries"], Value::Null, "{own:?}");
    }
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
    assert_eq!(
        fs::read(file(&restored)).expect("restored"),
        fs::read(file(home.path())).expect("a file")
    );
    assert_eq!(numbers_in_rdf(&restored), ["4", "6", "5"]);

    let mut bytes = fs::read(file(&restored)).expect("a file");
    let last = bytes.len() - 9;
    bytes[last] ^= 4;
    fs::write(file(&restored), bytes).expect("written");
    let verified = run(&restored, &["verify"]);
    assert!(
        verified.code == Some(1) && verified.out.contains("works.jsonl"),
        "{verified:?}"
    );
    let repaired = run(&restored, &["repair"]);
    assert!(
        repaired.code == Some(1) && repaired.out.contains("load all lists of works again"),
        "{repaired:?}"
    );
    assert_eq!(run(&restored, &["verify"]).code, Some(0));
    assert_eq!(numbers_in_rdf(&restored), ["0", "0", "0"]);
}
