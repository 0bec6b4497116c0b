//! Changes while the collection is served: tokens, jobs, and what others see of a change meanwhile.

#![expect(
    clippy::print_stderr,
    reason = "a test reports the latencies it measured"
)]

use super::http::{Reply, Site};
use super::support::{Home, limits};
use axum::body::Body;
use axum::http::{Method, Request};
use http_body_util::{BodyExt, Full};
use lodeseek_changes::{ChangeWorker, Scope, Tokens};
use lodeseek_index::IndexWriter;
use lodeseek_server::{Operators, app};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) const WRITE: &str = "Bearer write-secret";
pub(crate) const READ: &str = "Bearer read-secret";
const ADMIN: &str = "Bearer admin-secret";

/// An empty home that is served with its administration.
pub(crate) fn site() -> (Site, ChangeWorker, std::path::PathBuf) {
    site_with(Operators::default())
}

/// A site with tokens of all scopes, and an access rule of the operator's routes.
pub(crate) fn site_with(operators: Operators) -> (Site, ChangeWorker, std::path::PathBuf) {
    let home = Home::new();
    home.index();
    let (state, folder) = home.state(limits());
    let tokens = Tokens::new(folder.path());
    for (name, scope) in [
        ("read", Scope::Read),
        ("write", Scope::Write),
        ("admin", Scope::Admin),
    ] {
        tokens
            .add(name, scope, &format!("{name}-secret"), 1)
            .expect("added");
    }
    let state = state.with_operators(operators).expect("counters");
    let (state, worker) = state.with_administration().expect("started");
    let path = folder.path().to_owned();
    (Site::behind(app(state), folder), worker, path)
}

/// A form with a description and files.
fn form(metadata: Option<&Value>, dumps: &[(&str, &str)]) -> String {
    let mut body = String::new();
    if let Some(metadata) = metadata {
        body += &format!(
            "--BOUNDARY\r\nContent-Disposition: form-data; name=\"metadata\"; filename=\"m.json\"\r\n\
             Content-Type: application/json\r\n\r\n{metadata}\r\n"
        );
    }
    for (name, text) in dumps {
        body += &format!(
            "--BOUNDARY\r\nContent-Disposition: form-data; name=\"dump\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{text}\r\n"
        );
    }
    body + "--BOUNDARY--\r\n"
}

async fn put(
    site: &Site,
    token: &str,
    id: &str,
    metadata: Option<&Value>,
    dumps: &[(&str, &str)],
) -> Reply {
    let headers = [
        ("authorization", token),
        ("content-type", "multipart/form-data; boundary=BOUNDARY"),
        ("prefer", "wait=120"),
    ];
    site.request(
        Method::PUT,
        &format!("/api/admin/datasets/{id}"),
        &headers,
        &form(metadata, dumps),
    )
    .await
}

async fn admin(site: &Site, method: Method, path: &str) -> Reply {
    site.request(
        method,
        path,
        &[("authorization", ADMIN), ("prefer", "wait=120")],
        "",
    )
    .await
}

/// The ids found by a search, with their titles.
async fn found(site: &Site, words: &str) -> Vec<(String, String)> {
    let answer = site
        .get(&format!("/api/search?k=100&duplicates=all&q={words}"))
        .await
        .json();
    let hits = answer["hits"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    hits.iter()
        .map(|hit| (text(&hit["id"]), text(&hit["title"])))
        .collect()
}

#[tokio::test]
async fn a_token_that_is_removed_while_a_body_arrives_changes_nothing() {
    let (site, _worker, home) = site();
    let turtle = "<http://e.org/d> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> \"Trees\" .";
    let works =
        "{\"title\": \"On trees\", \"url\": \"http://e.org/w\", \"datasets\": [\"trees\"]}\n";
    for (method, path, media_type, text) in [
        (
            Method::PUT,
            "/api/admin/datasets/trees",
            "text/turtle",
            turtle,
        ),
        (Method::POST, "/api/admin/works", "application/jsonl", works),
        (
            Method::POST,
            "/api/admin/remove",
            "application/json",
            "{\"datasets\": [\"trees\"]}",
        ),
    ] {
        let tokens = Tokens::new(&home);
        tokens
            .add("late", Scope::Write, "late-secret", 1)
            .expect("added");
        let body = Full::from(text).map_frame(move |frame| {
            tokens.remove("late").expect("removed");
            frame
        });
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", "Bearer late-secret")
            .header("content-type", media_type)
            .header("prefer", "wait=120")
            .body(Body::new(body))
            .expect("a request");
        let reply = site.send(request).await;
        assert_eq!(reply.status, 401, "{path}: {}", reply.body);
        assert!(reply.header("www-authenticate").starts_with("Bearer"));
        assert!(reply.body.contains("token late"), "{}", reply.body);
    }
    let jobs = admin(&site, Method::GET, "/api/admin/jobs").await.json();
    assert_eq!(jobs["jobs"], json!([]), "nothing was queued");
}

#[tokio::test]
async fn a_removed_token_ends_its_waiting_jobs() {
    let (site, _worker, home) = site();
    let metadata = json!({"title": "Trees"});
    let added = put(&site, WRITE, "trees", Some(&metadata), &[]).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let request = async |token: &str, method, path: &str| {
        site.request(method, path, &[("authorization", token)], "")
            .await
    };
    // The removal waits behind work of another token.
    for _ in 0..30 {
        let queued = request(ADMIN, Method::POST, "/api/admin/index?rebuild=true").await;
        assert_eq!(queued.status, 202, "{}", queued.body);
    }
    let removal = request(WRITE, Method::DELETE, "/api/admin/datasets/trees").await;
    assert_eq!(removal.status, 202, "{}", removal.body);
    assert!(Tokens::new(&home).remove("write").expect("removed"));
    // A token with the same name is another one.
    Tokens::new(&home)
        .add("write", Scope::Write, "another secret", 2)
        .expect("added");
    let job = removal.json()["id"].as_u64().expect("a number");
    let ended = admin(&site, Method::GET, &format!("/api/admin/jobs/{job}")).await;
    let ended = ended.json();
    assert_eq!(ended["state"], "failed", "{ended}");
    let error = ended["error"].as_str().unwrap_or_default();
    assert!(error.contains("the token write"), "{error}");
    assert_eq!(site.get("/dataset/trees").await.status, 200);
}

#[tokio::test]
async fn rights_are_checked_before_a_body_is_parsed() {
    let (site, _worker, _home) = site();
    for path in ["backup", "publish", "harvest", "load", "remove", "works"] {
        for (token, status) in [("", 401), (READ, 403)] {
            let headers = [
                ("authorization", token),
                ("content-type", "application/json"),
            ];
            let path = format!("/api/admin/{path}");
            let reply = site.request(Method::POST, &path, &headers, "{").await;
            assert_eq!(reply.status, status, "{path} {token}: {}", reply.body);
        }
    }
}

#[tokio::test]
async fn changes_need_a_token_with_the_scope() {
    let (site, _worker, home) = site();
    let metadata = json!({"title": "Trees"});
    for (token, status) in [
        ("", 401),
        ("Bearer wrong", 401),
        ("Basic d3JpdGU6d3JpdGUtc2VjcmV0", 401),
        (READ, 403),
    ] {
        let reply = put(&site, token, "trees", Some(&metadata), &[]).await;
        assert_eq!(reply.status, status, "{token}: {}", reply.body);
        assert_eq!(
            reply.header("www-authenticate").starts_with("Bearer"),
            status == 401
        );
        assert_eq!(
            reply.header("access-control-allow-origin"),
            "",
            "no page of another site uses it"
        );
    }
    assert!(
        found(&site, "trees").await.is_empty(),
        "nothing was changed"
    );
    let index = |token: &'static str| {
        let site = &site;
        async move {
            site.request(
                Method::POST,
                "/api/admin/index",
                &[("authorization", token)],
                "",
            )
            .await
            .status
        }
    };
    assert_eq!(index(WRITE).await, 403);
    assert!(
        index(ADMIN).await.is_success(),
        "200 if it is done already, else 202"
    );
    let load = [
        ("authorization", ADMIN),
        ("content-type", "application/json"),
    ];
    let reply = site
        .request(
            Method::POST,
            "/api/admin/load",
            &load,
            "{\"sources\": [\"/etc/passwd\"]}",
        )
        .await;
    assert!(
        reply.status == 403 && reply.body.contains("local socket"),
        "{}",
        reply.body
    );
    let reply = site
        .request(
            Method::POST,
            "/api/admin/backup",
            &load,
            "{\"folder\": \"/tmp/backup\"}",
        )
        .await;
    assert!(
        reply.status == 403 && reply.body.contains("local socket"),
        "{}",
        reply.body
    );
    // A token is removed while the server runs.
    let jobs = || {
        site.request(
            Method::GET,
            "/api/admin/jobs",
            &[("authorization", READ)],
            "",
        )
    };
    assert_eq!(jobs().await.status, 200);
    assert_eq!(
        site.request(Method::GET, "/metrics", &[("authorization", READ)], "")
            .await
            .status,
        200
    );
    assert!(Tokens::new(&home).remove("read").expect("removed"));
    assert_eq!(jobs().await.status, 401);
}

/// The service description and VoID are those of the present collection.
#[tokio::test]
async fn descriptions_of_the_endpoint_follow_changes() {
    let (site, _worker, _home) = site();
    for path in ["/.well-known/void?format=nt", "/sparql?format=nt"] {
        assert!(
            !site.get(path).await.body.contains("dataset/trees>"),
            "{path}"
        );
    }
    let dump = "<http://e.org/oak> <http://e.org/height> \"12\" .\n";
    let stored = put(
        &site,
        WRITE,
        "trees",
        Some(&json!({"title": "Trees"})),
        &[("trees.nt", dump)],
    )
    .await;
    assert_eq!(stored.status, 201, "{}", stored.body);
    for path in ["/.well-known/void?format=nt", "/sparql?format=nt"] {
        assert!(
            site.get(path).await.body.contains("dataset/trees>"),
            "{path}"
        );
    }
    assert_eq!(
        admin(&site, Method::DELETE, "/api/admin/datasets/trees")
            .await
            .status,
        200
    );
    for path in ["/.well-known/void?format=nt", "/sparql?format=nt"] {
        assert!(
            !site.get(path).await.body.contains("dataset/trees>"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn bodies_are_limited_by_route() {
    let (site, _worker, _home) = site();
    let ids = |count: usize| json!({ "datasets": vec!["d".repeat(190); count] }).to_string();
    for (path, body, status) in [
        ("/api/admin/remove", ids(10_000), 422),
        ("/api/admin/remove", ids(30_000), 413),
        ("/api/admin/harvest", ids(10_000), 413),
    ] {
        let (answered, text) = post(&site, ADMIN, path, &body).await;
        assert_eq!(
            answered,
            status,
            "{path}: {}",
            text.chars().take(200).collect::<String>()
        );
    }
}

/// Sends a request with a JSON body, and returns status and body.
async fn post(site: &Site, token: &str, path: &str, body: &str) -> (u16, String) {
    let headers = [
        ("authorization", token),
        ("content-type", "application/json"),
        ("prefer", "wait=120"),
    ];
    let reply = site.request(Method::POST, path, &headers, body).await;
    (reply.status.as_u16(), reply.body)
}

#[tokio::test]
async fn clients_elsewhere_reach_no_files_and_networks_of_the_server() {
    let (site, _worker, home) = site();
    for (token, body, status, message) in [
        (
            WRITE,
            r#"{"sources": ["https://e.org/"]}"#,
            403,
            "needs admin",
        ),
        (ADMIN, r#"{"sources": []}"#, 400, "1 to 100 sources"),
        (
            ADMIN,
            r#"{"sources": ["https://e.org/"], "hurry": true}"#,
            400,
            "hurry",
        ),
        (
            ADMIN,
            r#"{"sources": ["/etc/passwd"]}"#,
            403,
            "local socket",
        ),
        (
            ADMIN,
            r#"{"sources": ["https://e.org/", "file:///etc/passwd"]}"#,
            403,
            "local socket",
        ),
        (
            ADMIN,
            r#"{"sources": ["https://e.org/"], "privateNetworks": ["10.0.0.0/8"]}"#,
            403,
            "settings only",
        ),
        (
            ADMIN,
            r#"{"sources": ["https://a@e.org/"]}"#,
            400,
            "invalid IRI prefix",
        ),
        (
            ADMIN,
            r#"{"sources": ["http://127.0.0.1:9/"], "name": "../x"}"#,
            422,
            "not a valid harvest name",
        ),
    ] {
        let (found, text) = post(&site, token, "/api/admin/harvest", body).await;
        assert!(
            found == status && text.contains(message),
            "{body}: {found} {text}"
        );
    }
    // A server on loopback is no public host.
    let (status, text) = post(
        &site,
        ADMIN,
        "/api/admin/harvest",
        r#"{"sources": ["http://127.0.0.1:9/"]}"#,
    )
    .await;
    assert!(
        status == 422 && text.contains("no catalogue was found") && text.contains("not public"),
        "the failure has the reason: {status} {text}"
    );
    let headers = [
        ("authorization", WRITE),
        ("content-type", "application/json"),
        ("prefer", "wait=120"),
    ];
    for (body, status, message) in [
        (
            r#"{"url": "http://127.0.0.1:9/a.ttl"}"#,
            422,
            "nothing was changed: cannot download",
        ),
        (
            r#"{"url": "file:///etc/passwd"}"#,
            400,
            "no http or https address",
        ),
    ] {
        let reply = site
            .request(Method::PUT, "/api/admin/datasets/by-url", &headers, body)
            .await;
        assert!(
            reply.status == status && reply.body.contains(message),
            "{body}: {}",
            reply.body
        );
    }
    assert_eq!(
        std::fs::read_dir(home.join("uploads"))
            .map(Iterator::count)
            .unwrap_or(0),
        0,
        "nothing is left"
    );
}

/// A form with files and sources of a load.
fn load_form(files: &[(&str, &str)], sources: &[&str]) -> String {
    let part = |head: String, value: &str| {
        format!("--BOUNDARY\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n")
    };
    let files = files
        .iter()
        .map(|(name, text)| part(format!("name=\"file\"; filename=\"{name}\""), text));
    let sources = sources
        .iter()
        .map(|name| part("name=\"source\"".to_owned(), name));
    sources.chain(files).collect::<String>() + "--BOUNDARY--\r\n"
}

#[tokio::test]
async fn uploaded_catalogues_stay_in_their_folder() {
    let (site, _worker, home) = site();
    let headers = [
        ("authorization", WRITE),
        ("content-type", "multipart/form-data; boundary=BOUNDARY"),
        ("prefer", "wait=120"),
    ];
    let oak = "<http://e.org/oak> <http://e.org/name> \"Quercus robur\" .\n";
    let load = |files: &[(&str, &str)], sources: &[&str]| {
        let body = load_form(files, sources);
        let site = &site;
        async move {
            site.request(Method::POST, "/api/admin/load", &headers, &body)
                .await
        }
    };
    for name in [
        "../oak.nt",
        "/tmp/oak.nt",
        "a/../../oak.nt",
        "a//oak.nt",
        "",
        ".",
    ] {
        let reply = load(&[(name, oak)], &["oak.nt"]).await;
        assert!(
            reply.status == 400 && reply.body.contains("no relative path"),
            "{name:?}: {}",
            reply.body
        );
        let reply = load(&[("oak.nt", oak)], &[name]).await;
        assert!(
            reply.status == 400 && reply.body.contains("no relative path"),
            "{name:?}: {}",
            reply.body
        );
    }
    let reply = load(&[("oak.nt", oak)], &[]).await;
    assert!(
        reply.status == 400 && reply.body.contains("`source`"),
        "{}",
        reply.body
    );
    let reply = load(&[("a/oak.nt", oak), ("a/oak.nt", "")], &["a/oak.nt"]).await;
    assert!(
        reply.status == 400 && reply.body.contains("a/oak.nt"),
        "no file replaces another: {}",
        reply.body
    );
    let reply = load(&[("oak.nt", oak)], &["elm.nt"]).await;
    assert!(
        reply.status == 422 && reply.body.contains("cannot read elm.nt"),
        "no path of the server: {}",
        reply.body
    );
    let nowhere = "x".repeat(65 << 20);
    let reply = site
        .request(Method::POST, "/api/admin/load", &headers, &nowhere)
        .await;
    assert!(
        reply.status == 400 && reply.body.contains("declared boundary"),
        "{} {}",
        reply.status,
        reply.body
    );
    let reply = load(
        &[("0/trees/oak.nt", oak), ("1/elm.nt", "broken")],
        &["0/trees", "1/elm.nt"],
    )
    .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(found(&site, "quercus").await.len(), 1);
    let files = std::fs::read_dir(home.join("uploads"))
        .map(Iterator::count)
        .unwrap_or(0);
    assert_eq!(files, 0, "uploaded files are deleted");

    // The result lists a part of many datasets, and counts the others.
    let entries: Vec<Value> = (0..1010)
        .map(|number| json!({"title": "Set", "identifier": format!("s{number}")}))
        .collect();
    let reply = load(
        &[("data.json", &json!({ "dataset": entries }).to_string())],
        &["data.json"],
    )
    .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let result = &reply.json()["result"];
    assert_eq!(result["datasets"].as_array().map(Vec::len), Some(1000));
    let unlisted = &result["unlisted_datasets"];
    assert_eq!(
        (&unlisted["datasets"], &unlisted["metadata_only"]),
        (&10.into(), &10.into()),
        "{unlisted}"
    );
}

#[tokio::test]
async fn a_server_without_administration_changes_nothing() {
    let site = Site::testdata();
    let reply = put(&site, WRITE, "trees", Some(&json!({"title": "Trees"})), &[]).await;
    assert!(
        reply.status == 404 && reply.body.contains("serve --admin"),
        "{}",
        reply.body
    );
}

#[tokio::test]
async fn a_dataset_is_added_edited_replaced_and_removed() {
    let (site, _worker, home) = site();
    let dump = "<http://e.org/oak> <http://e.org/name> \"Quercus robur\" .\n<http://e.org/oak> <http://e.org/p> \"x\" .\n";
    let metadata = json!({"title": "Trees of the city", "tags": "wood; leaves"});
    let added = put(
        &site,
        WRITE,
        "trees",
        Some(&metadata),
        &[("trees.nt", dump)],
    )
    .await;
    assert_eq!(added.status, 201, "{}", added.body);
    let job = added.json();
    assert_eq!(
        (&job["state"], &job["result"]["triples"], &job["by"]),
        (&"done".into(), &2.into(), &"write".into())
    );
    assert_eq!(
        found(&site, "quercus").await,
        [("trees".to_owned(), "Trees of the city".to_owned())]
    );

    // The description alone: the content stays. In RDF, not in a form.
    let turtle =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/d> a dcat:Dataset ; dct:title \"Shrubs and trees\" .";
    let headers = [
        ("authorization", WRITE),
        ("content-type", "text/turtle"),
        ("prefer", "wait=120"),
    ];
    let edited = site
        .request(Method::PUT, "/api/admin/datasets/trees", &headers, turtle)
        .await;
    assert_eq!(edited.status, 200, "{}", edited.body);
    assert_eq!(
        found(&site, "quercus").await,
        [("trees".to_owned(), "Shrubs and trees".to_owned())]
    );

    // The content alone: the description stays.
    let other = "<http://e.org/elm> <http://e.org/name> \"Ulmus\" .\n";
    let replaced = put(&site, WRITE, "trees", None, &[("trees.nt", other)]).await;
    assert_eq!(
        (
            replaced.status.as_u16(),
            &replaced.json()["result"]["triples"]
        ),
        (200, &1.into())
    );
    assert!(found(&site, "quercus").await.is_empty());
    assert_eq!(
        found(&site, "ulmus").await,
        [("trees".to_owned(), "Shrubs and trees".to_owned())]
    );

    assert_eq!(
        admin(&site, Method::DELETE, "/api/admin/datasets/shrubs")
            .await
            .status,
        404
    );
    let removed = admin(&site, Method::DELETE, "/api/admin/datasets/trees").await;
    assert_eq!(
        (
            removed.status.as_u16(),
            &removed.json()["result"]["removed"]
        ),
        (200, &1.into())
    );
    assert!(
        found(&site, "ulmus").await.is_empty() && site.get("/dataset/trees").await.status == 404
    );

    let audit = admin(&site, Method::GET, "/api/admin/audit").await.body;
    let lines: Vec<Value> = audit
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let told: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {} {}", line["by"], line["action"], line["outcome"]))
        .collect();
    let by_write = "\"write\" \"put\" \"done\"";
    assert_eq!(
        told,
        [
            by_write,
            by_write,
            by_write,
            "\"admin\" \"remove\" \"done\""
        ]
    );
    assert_eq!(
        std::fs::read_dir(home.join("uploads"))
            .expect("a folder")
            .count(),
        0,
        "uploads are deleted"
    );
}

#[tokio::test]
async fn bad_uploads_are_rejected_at_once() {
    let (site, _worker, _home) = site();
    let title = json!({"title": "T"});
    let two = json!([{"dataset_id": 1, "title": "a"}, {"dataset_id": 2, "title": "b"}]);
    let none = json!([]);
    type Upload<'a> = (
        &'a str,
        Option<&'a Value>,
        &'a [(&'a str, &'a str)],
        &'a str,
    );
    let uploads: [Upload<'_>; 6] = [
        ("a", None, &[], "the upload is empty"),
        ("a", Some(&two), &[], "it describes 2 datasets"),
        ("a", Some(&none), &[], "it describes no dataset"),
        ("a%20b", Some(&title), &[], "a b"),
        ("a", Some(&title), &[("..", "")], "no usable file name"),
        (
            "a",
            Some(&title),
            &[("a.nt", ""), ("a.nt", "")],
            "two dumps with the name a.nt",
        ),
    ];
    for (id, metadata, dumps, reason) in uploads {
        let reply = put(&site, WRITE, id, metadata, dumps).await;
        let error = reply.json()["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(
            reply.status == 400 && error.contains(reason),
            "{id} {reason}: {} {error}",
            reply.status
        );
        assert!(
            !error.contains("uploads/"),
            "no path of the server: {error}"
        );
    }
    let jobs = admin(&site, Method::GET, "/api/admin/jobs").await.json();
    assert_eq!(jobs["jobs"].as_array().map(Vec::len), Some(0), "{jobs}");
}

#[tokio::test]
async fn a_failed_change_leaves_everything_as_it_was() {
    let (site, _worker, home) = site();
    let dump = "<http://e.org/oak> <http://e.org/name> \"Quercus robur\" .\n";
    assert_eq!(
        put(
            &site,
            WRITE,
            "trees",
            Some(&json!({"title": "Trees"})),
            &[("trees.nt", dump)]
        )
        .await
        .status,
        201
    );
    let before = site.get("/dataset/trees?format=nt").await.body;

    // A file that holds nothing readable: neither the present dataset changes, nor is a new one made.
    let page = "<!DOCTYPE html><html><body>503 Service Unavailable</body></html>";
    for id in ["trees", "shrubs"] {
        let failed = put(
            &site,
            WRITE,
            id,
            Some(&json!({"title": "Broken"})),
            &[("trees.nt", page)],
        )
        .await;
        let error = failed.json()["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(
            failed.status == 422 && error.contains("nothing was changed: trees.nt"),
            "{}",
            failed.body
        );
    }
    assert!(found(&site, "broken").await.is_empty());

    // The index cannot be written: what the store has committed by then is undone.
    let writer = IndexWriter::open(&home.join("index")).expect("the lock");
    for (id, title) in [("trees", "Renamed"), ("shrubs", "New")] {
        let failed = put(
            &site,
            WRITE,
            id,
            Some(&json!({"title": title})),
            &[("trees.nt", "<e:a> <e:b> \"1\" .\n")],
        )
        .await;
        assert_eq!(failed.status, 422, "{}", failed.body);
    }
    let failed = admin(&site, Method::DELETE, "/api/admin/datasets/trees").await;
    assert_eq!(failed.status, 422, "{}", failed.body);
    drop(writer);
    assert_eq!(site.get("/dataset/trees?format=nt").await.body, before);
    assert_eq!(site.get("/dataset/shrubs").await.status, 404);
    let again = put(
        &site,
        WRITE,
        "trees",
        Some(&json!({"title": "Renamed"})),
        &[],
    )
    .await;
    assert_eq!(again.status, 200, "{}", again.body);
    assert_eq!(
        found(&site, "quercus").await,
        [("trees".to_owned(), "Renamed".to_owned())]
    );
}

#[tokio::test]
async fn the_index_is_completed_and_rebuilt() {
    let home = Home::new();
    home.index();
    // Loaded, and not indexed.
    home.load(&super::support::testdata("catalog.ttl"));
    let (state, folder) = home.state(limits());
    Tokens::new(folder.path())
        .add("admin", Scope::Admin, "admin-secret", 1)
        .expect("added");
    let (state, _worker) = state.with_administration().expect("started");
    let site = Site::behind(app(state), folder);
    let indexed = admin(&site, Method::POST, "/api/admin/index").await;
    assert_eq!(indexed.status, 200, "{}", indexed.body);
    assert_eq!(
        found(&site, "ginkgo").await.len(),
        1,
        "indexed at the start, or by the job"
    );
    let rebuilt = admin(&site, Method::POST, "/api/admin/index?rebuild=true")
        .await
        .json();
    assert_eq!(
        (&rebuilt["result"]["indexed"], &rebuilt["progress"]["total"]),
        (&12.into(), &12.into()),
        "{rebuilt}"
    );
}

/// Responses carry an id; one from a proxy is kept, one that does not fit a log is replaced.
#[tokio::test]
async fn requests_have_ids() {
    let site = Site::testdata();
    let id = site.get("/livez").await.header("x-request-id").to_owned();
    assert!(id.len() >= 16, "{id:?}");
    let long = "x".repeat(65);
    for (sent, kept) in [
        ("from-proxy-7", true),
        (long.as_str(), false),
        ("a b", false),
    ] {
        let reply = site
            .request(Method::GET, "/readyz", &[("x-request-id", sent)], "")
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("x-request-id") == sent),
            (200, kept),
            "{sent}"
        );
    }
}

/// Number of changes if LODESEEK_ADMIN_CHANGES is set: then the times of searches are measured, too.
fn measured_changes() -> Option<usize> {
    std::env::var("LODESEEK_ADMIN_CHANGES").ok()?.parse().ok()
}

/// Datasets of the collection that is changed, and clients that search it.
const DATASETS: usize = 20;
const CLIENTS: usize = 32;

/// Title and content of a version.
fn version_of(number: usize) -> (Value, String) {
    let dump =
        format!("<http://e.org/s> <http://e.org/is> \"content version{number} of many\" .\n");
    (json!({"title": format!("Dataset version{number}")}), dump)
}

/// Searches until the end, and checks that each hit is of one version. Returns the times of the searches.
async fn search_until(
    site: Arc<Site>,
    is_done: Arc<AtomicBool>,
    checked: Arc<AtomicUsize>,
) -> Vec<Duration> {
    let mut times = Vec::new();
    while !is_done.load(Ordering::Relaxed) {
        let started = Instant::now();
        let reply = site
            .get("/api/search?q=dataset+content+many&k=100&duplicates=all")
            .await;
        times.push(started.elapsed());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let answer = reply.json();
        let hits = answer["hits"].as_array().expect("hits");
        assert!(
            hits.len() >= DATASETS - 1,
            "only one is ever missing: {}",
            hits.len()
        );
        for hit in hits {
            let title = hit["title"].as_str().expect("a title");
            let version = title.rsplit(' ').next().expect("a version");
            let snippet = hit["snippet"].to_string();
            assert!(
                snippet.contains(&format!("content {version} ")),
                "{title}: {snippet}"
            );
            checked.fetch_add(1, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times
}

fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * 99 / 100]
}

/// Runs searching clients beside some work, and returns the times of their searches.
async fn beside_clients(
    site: &Arc<Site>,
    checked: &Arc<AtomicUsize>,
    work: impl Future<Output = ()>,
) -> Vec<Duration> {
    let is_done = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            tokio::spawn(search_until(
                Arc::clone(site),
                Arc::clone(&is_done),
                Arc::clone(checked),
            ))
        })
        .collect();
    work.await;
    is_done.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await.expect("a client without a failed check"));
    }
    times
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_changes_beside_searches_are_neither_lost_nor_half_visible() {
    let (site, _worker, home) = site();
    let site = Arc::new(site);
    for number in 0..DATASETS {
        let (metadata, dump) = version_of(0);
        let reply = put(
            &site,
            WRITE,
            &format!("d{number}"),
            Some(&metadata),
            &[("d.nt", &dump)],
        )
        .await;
        assert_eq!(reply.status, 201, "{}", reply.body);
    }
    let (checked, measured) = (Arc::new(AtomicUsize::new(0)), measured_changes());
    let changes = measured.unwrap_or(DATASETS);
    let started = Instant::now();
    let changing = async {
        for change in 1..=changes {
            let id = format!("d{}", change % DATASETS);
            // Every tenth change removes the dataset, and the next one of its id adds it again.
            if change % 10 == 0 {
                let reply =
                    admin(&site, Method::DELETE, &format!("/api/admin/datasets/{id}")).await;
                assert_eq!(reply.status, 200, "{}", reply.body);
            }
            let (metadata, dump) = version_of(change);
            let reply = put(&site, WRITE, &id, Some(&metadata), &[("d.nt", &dump)]).await;
            assert!(reply.status.is_success(), "{}", reply.body);
            // The change is visible when it is reported as done.
            let visible = found(&site, &format!("version{change}")).await;
            assert_eq!(visible, [(id, format!("Dataset version{change}"))]);
        }
    };
    let with_changes = beside_clients(&site, &checked, changing).await;
    let time = started.elapsed();
    assert!(
        checked.load(Ordering::Relaxed) > 100,
        "somebody searched meanwhile"
    );
    for number in 0..DATASETS {
        let last = (1..=changes)
            .rev()
            .find(|change| change % DATASETS == number)
            .unwrap_or(0);
        let reply = site.get(&format!("/dataset/d{number}?format=nt")).await;
        assert!(
            reply.body.contains(&format!("Dataset version{last}")),
            "d{number} is of version {last}"
        );
    }
    let audit = std::fs::read_to_string(home.join("audit.jsonl")).expect("the audit log");
    let done = audit
        .lines()
        .filter(|line| line.contains("\"outcome\":\"done\""))
        .count();
    assert_eq!(
        done,
        DATASETS + changes + changes / 10,
        "one entry for each change"
    );
    if measured.is_some() {
        let without_changes = beside_clients(
            &site,
            &checked,
            tokio::time::sleep(time.min(Duration::from_secs(20))),
        )
        .await;
        eprintln!(
            "{changes} changes in {:.1} s beside {CLIENTS} clients; p99 of {} searches {:.1} ms, of {} without changes {:.1} ms",
            time.as_secs_f64(),
            with_changes.len(),
            p99(with_changes.clone()).as_secs_f64() * 1000.0,
            without_changes.len(),
            p99(without_changes).as_secs_f64() * 1000.0,
        );
    }
}

#[cfg(all(unix, feature = "rocksdb"))]
pub(crate) mod program {
    use super::super::harvest::{Portal, Reply, feed_reply};
    use super::super::support::{Ran, TEST_TIMEOUT, program, run};
    use super::*;
    use std::process::{Child, Command};

    /// A running server, its messages kept in a file.
    pub(crate) struct Served {
        child: Child,
        log: tempfile::NamedTempFile,
    }

    impl Served {
        pub(crate) fn start(home: &Path, arguments: &[&str]) -> Self {
            Self::start_with(home, arguments, "listening on http://")
        }

        fn start_with(home: &Path, arguments: &[&str], message: &str) -> Self {
            let log = tempfile::NamedTempFile::new().expect("a file");
            let mut command = program(home);
            command
                .env_remove("NO_COLOR")
                .args(["serve", "--bind", "127.0.0.1:0"])
                .args(arguments);
            let child = command
                .stderr(log.reopen().expect("a file"))
                .spawn()
                .expect("started");
            let served = Self { child, log };
            served.wait_for(message);
            served
        }

        pub(super) fn log(&self) -> String {
            std::fs::read_to_string(self.log.path()).expect("UTF-8")
        }

        fn wait_for(&self, text: &str) {
            let started = Instant::now();
            while !self.log().contains(text) {
                assert!(started.elapsed() < TEST_TIMEOUT, "{text}: {}", self.log());
                std::thread::sleep(Duration::from_millis(50));
            }
        }

        /// Host and port.
        fn address(&self) -> String {
            let log = self.log();
            let address = log
                .split("listening on http://")
                .nth(1)
                .expect("an address");
            address
                .chars()
                .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ':'))
                .collect()
        }

        /// Sends a request with a token, and returns the JSON of the response.
        fn admin(&self, method: &str, path: &str, token: &str) -> Value {
            let head =
                format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
            let response = self.request(&format!("{head}Authorization: Bearer {token}\r\n\r\n"));
            let (_, body) = response.split_once("\r\n\r\n").expect("a body");
            serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"))
        }

        /// Waits until a job is in a state, and returns it.
        fn wait_for_job(&self, job: u64, token: &str, is_so: impl Fn(&Value) -> bool) -> Value {
            let started = Instant::now();
            loop {
                let found = self.admin("GET", &format!("/api/admin/jobs/{job}"), token);
                if is_so(&found) {
                    return found;
                }
                assert!(started.elapsed() < TEST_TIMEOUT, "{found}: {}", self.log());
                std::thread::sleep(Duration::from_millis(50));
            }
        }

        /// Sends a request, and returns the response.
        pub(crate) fn request(&self, request: &str) -> String {
            use std::io::{Read, Write};
            let address = self.address();
            let mut stream = std::net::TcpStream::connect(&address).expect("connected");
            write!(stream, "{request}").expect("sent");
            let mut response = String::new();
            stream.read_to_string(&mut response).expect("received");
            response
        }

        /// The status of the metrics for a token.
        fn status_of(&self, which: &str) -> u16 {
            let token = format!("the {which} token of the operator");
            let head = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer";
            let response = self.request(&format!("{head} {token}\r\n\r\n"));
            response
                .split(' ')
                .nth(1)
                .and_then(|status| status.parse().ok())
                .expect("a status")
        }

        fn hang_up(&self) {
            let sent = Command::new("sh")
                .args(["-c", &format!("kill -HUP {}", self.child.id())])
                .status();
            assert!(sent.expect("a shell").success());
        }

        /// Stops the server, and returns its exit code.
        pub(crate) fn stop(mut self) -> (Option<i32>, String) {
            let sent = Command::new("sh")
                .args(["-c", &format!("kill -TERM {}", self.child.id())])
                .status();
            assert!(sent.expect("a shell").success());
            let code = self.child.wait().expect("ended").code();
            (code, self.log())
        }
    }

    impl Drop for Served {
        fn drop(&mut self) {
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }

    #[test]
    fn commands_go_through_the_running_server() {
        let home = tempfile::tempdir().expect("a folder");
        for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        let served = Served::start(home.path(), &["--admin"]);
        let loaded = run(home.path(), &["load", "testdata/dumps/soils.ttl"]);
        assert!(
            loaded.code == Some(0) && loaded.err.contains("1 dataset: 1 loaded"),
            "{loaded:?}"
        );
        let found = run(home.path(), &["search", "--json", "Boden"]);
        assert!(
            found.out.contains("\"id\": \"soils\""),
            "found at once: {found:?}"
        );
        let missing = run(home.path(), &["load", "testdata/missing.ttl"]);
        assert!(
            missing.code == Some(2) && missing.err.contains("cannot read testdata/missing.ttl"),
            "{missing:?}"
        );
        // The same problems and exit code as without a server.
        let broken = tempfile::tempdir().expect("a folder");
        std::fs::write(
            broken.path().join("broken.nt"),
            "<e:a> <e:p> <e:b> .\nno statement .\n",
        )
        .expect("written");
        let listed = |number: u64| {
            let title = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!(
                "<e:{number}> a <http://www.w3.org/ns/dcat#Dataset>; <http://purl.org/dc/terms/title> \"{title:x}\".\n"
            )
        };
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(
            &mut packed,
            (0..2000).map(listed).collect::<String>().as_bytes(),
        )
        .expect("packed");
        let packed = packed.finish().expect("packed");
        std::fs::write(
            broken.path().join("cut.ttl.gz"),
            &packed[..packed.len() * 9 / 10],
        )
        .expect("written");
        let sources =
            ["broken.nt", "cut.ttl.gz"].map(|name| broken.path().join(name).display().to_string());
        let arguments = ["load", sources[0].as_str(), sources[1].as_str()];
        let (there, here) = (
            run(home.path(), &arguments),
            run(&broken.path().join("home"), &arguments),
        );
        assert_eq!(
            (here.code, there.code),
            (Some(1), Some(1)),
            "{here:?} {there:?}"
        );
        for expected in [
            "1 broken statement skipped",
            "cut.ttl.gz: datasets may be missing",
            "catalogue: ",
        ] {
            assert!(
                here.err.contains(expected) && there.err.contains(expected),
                "{expected}: {here:?} {there:?}"
            );
        }
        let indexed = run(home.path(), &["index"]);
        assert!(
            indexed.code == Some(0)
                && indexed
                    .err
                    .contains("0 datasets indexed by the running server"),
            "{indexed:?}"
        );
        let rejected = run(
            home.path(),
            &[
                "index",
                "--ranking",
                "words",
                "--vectors",
                "int8",
                "--device",
                "cpu",
            ],
        );
        assert!(
            rejected.code == Some(2)
                && rejected
                    .err
                    .contains("--ranking, --vectors, --device cannot be used"),
            "{rejected:?}"
        );
        let unknown = run(home.path(), &["remove", "soils", "nothing"]);
        assert!(
            unknown.code == Some(2) && unknown.err.contains("there is no dataset nothing"),
            "{unknown:?}"
        );
        let removed = run(home.path(), &["remove", "soils"]);
        assert!(
            removed.code == Some(0)
                && removed
                    .err
                    .contains("1 dataset removed by the running server"),
            "{removed:?}"
        );
        assert!(
            !run(home.path(), &["search", "--json", "Boden"])
                .out
                .contains("soils")
        );
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(home.path().join("admin"))
            .expect("a folder")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "other users cannot reach the socket");
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
        assert!(!home.path().join("admin/socket").exists());
        assert!(!log.contains('\u{1b}'), "no colours in a file: {log}");
        let audit =
            std::fs::read_to_string(home.path().join("audit.jsonl")).expect("the audit log");
        assert!(
            audit.lines().count() == 5 && audit.contains("\"by\":\"local\""),
            "{audit}"
        );
        assert_eq!(
            run(home.path(), &["query", "ASK {}"]).code,
            Some(0),
            "the lock is free again"
        );
    }

    /// Runs `load` with a report file, and returns the report and the messages.
    fn load_with_report(home: &Path, arguments: &[&str]) -> (Value, Ran) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("report.json");
        let report = file.to_str().expect("UTF-8");
        let done = run(home, &[&["load", "--report", report], arguments].concat());
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {done:?}"));
        (serde_json::from_str(&text).expect("JSON"), done)
    }

    /// Options that a server once rejected are followed by it, and reports are the same as without it.
    #[test]
    fn a_load_is_the_same_with_and_without_a_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let [alone, shared] = ["alone", "shared"].map(|name| folder.path().join(name));
        for home in [&alone, &shared] {
            for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
                assert_eq!(run(home, arguments).code, Some(0));
            }
        }
        let dumps = folder.path().join("dumps");
        std::fs::create_dir(&dumps).expect("created");
        let catalog = folder.path().join("catalog.ttl");
        let described = "<http://e.org/oaks> a <http://www.w3.org/ns/dcat#Dataset>; <http://purl.org/dc/terms/title> \"Oaks\" .";
        std::fs::write(&catalog, described).expect("written");
        let content = "<http://e.org/a> <http://e.org/p> \"in files alone\" .\nno statement .\n";
        std::fs::write(dumps.join("oaks.nt"), content).expect("written");
        let served = Served::start(&shared, &["--admin"]);
        let [catalog, dumps] = [&catalog, &dumps].map(|path| path.to_str().expect("UTF-8"));
        let arguments = [catalog, "--dumps", dumps, "--no-store"];
        let (here, there) = (
            load_with_report(&alone, &arguments),
            load_with_report(&shared, &arguments),
        );
        assert_eq!(here.0, there.0);
        assert_eq!(here.0["datasets"][0]["skipped"], 1, "{}", here.0);
        for (_, done) in [&here, &there] {
            assert!(
                done.code == Some(0) && done.err.contains("1 of 1 dataset have a dump in"),
                "{done:?}"
            );
        }
        let ask =
            "ASK%20%7B%20GRAPH%20%3Fg%20%7B%20%3Fs%20%3Fp%20%22in%20files%20alone%22%20%7D%20%7D";
        let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let is_in_sparql = |served: &Served| {
            let response = served.request(&format!("GET /sparql?format=json&query={ask} {head}"));
            assert!(response.contains("\"boolean\""), "{response}");
            response.contains("true")
        };
        assert!(!is_in_sparql(&served), "--no-store reaches the server");
        let (_, stored) = load_with_report(&shared, &[catalog, "--dumps", dumps]);
        assert!(
            stored.code == Some(0) && is_in_sparql(&served),
            "{stored:?}"
        );
        let other = run(&shared, &["load", catalog, "--base", "https://e.org/"]);
        assert!(
            other.code == Some(2) && other.err.contains("the base of the running server is"),
            "{other:?}"
        );
        let base = lodeseek_catalog::Iris::DEFAULT_BASE;
        let same = run(&shared, &["load", catalog, "--base", base]);
        assert_eq!(same.code, Some(0), "{same:?}");
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
    }

    /// Edits and removals of a home without a server follow the same rules as jobs.
    #[test]
    fn a_local_change_checks_conditions_and_names_similar_ids() {
        let home = tempfile::tempdir().expect("a folder");
        for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        let outdated = [
            "edit",
            "trees",
            "--set",
            "title=Oaks",
            "--if-match",
            "\"x\"",
        ];
        let outdated = run(home.path(), &outdated);
        assert!(
            outdated.code == Some(2) && outdated.err.contains("was changed meanwhile"),
            "{outdated:?}"
        );
        let edited = run(home.path(), &["edit", "trees", "--set", "title=Oaks"]);
        assert!(
            edited.code == Some(0) && edited.err.contains("Oaks"),
            "{edited:?}"
        );
        let found = run(home.path(), &["search", "--json", "Oaks"]);
        assert!(found.out.contains("\"id\": \"trees\""), "{found:?}");
        let unknown = run(home.path(), &["remove", "tree"]);
        assert!(
            unknown.code == Some(2) && unknown.err.contains("did you mean `trees`"),
            "{unknown:?}"
        );
        let removed = run(home.path(), &["remove", "trees"]);
        assert_eq!(removed.code, Some(0), "{removed:?}");
        let found = run(home.path(), &["search", "--json", "Oaks"]);
        assert!(!found.out.contains("trees"), "{found:?}");
    }

    const HERE: &str = "127.0.0.0/8";

    /// A home with one dataset, and a token of each scope.
    fn home_with_tokens() -> (tempfile::TempDir, [String; 3]) {
        let home = tempfile::tempdir().expect("a folder");
        for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        let token = |scope: &str| {
            let added = run(home.path(), &["token", "add", scope, "--scope", scope]);
            assert_eq!(added.code, Some(0), "{added:?}");
            added.out.trim().to_owned()
        };
        let tokens = ["read", "write", "admin"].map(token);
        (home, tokens)
    }

    /// Runs a command against a server at an address, without a home.
    fn run_at(address: &str, token: &str, arguments: &[&str]) -> Ran {
        let mut command = program(Path::new("no-home-here"));
        command
            .env_remove("LODESEEK_SERVER")
            .env("LODESEEK_TOKEN", token);
        let output = command
            .args(arguments)
            .args(["--server", address])
            .output()
            .expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Starts a portal with a feed of four pages. The second page is sent when the test has made other changes and sets the
    /// first value; the second value is the number of requested pages.
    fn gated_portal() -> (Portal, Arc<AtomicBool>, Arc<AtomicUsize>) {
        let (is_open, gate) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let (open, asked_pages) = (Arc::clone(&is_open), Arc::clone(&gate));
        let portal = Portal::start(move |asked| {
            if !asked.path.starts_with("/feed") {
                return Reply::status(404);
            }
            if asked_pages.fetch_add(1, Ordering::SeqCst) == 1 {
                let started = Instant::now();
                while !open.load(Ordering::SeqCst) && started.elapsed() < TEST_TIMEOUT {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            feed_reply(asked, 10, 40)
        });
        (portal, is_open, gate)
    }

    #[test]
    fn a_harvest_does_not_replace_what_others_added_meanwhile() {
        let (portal, is_open, gate) = gated_portal();
        let (home, [read, ..]) = home_with_tokens();
        let served = Served::start(home.path(), &["--admin"]);
        let files = tempfile::tempdir().expect("a folder");
        let file = files.path().join("s15.nt");
        std::fs::write(
            &file,
            "<http://e.org/a> <http://e.org/name> \"Zelkova\" .\n",
        )
        .expect("written");
        let (feed, folder) = (portal.iri("/feed"), home.path().to_owned());
        let arguments = [
            "harvest",
            &feed,
            "--allow-private-network",
            HERE,
            "--pause",
            "0",
        ]
        .map(str::to_owned);
        let harvest = move || run(&folder, &arguments.each_ref().map(String::as_str));
        let again = harvest.clone();
        let harvesting = std::thread::spawn(harvest);
        served.wait_for_job(1, &read, |_| gate.load(Ordering::SeqCst) > 1);
        let loaded = run(home.path(), &["load", file.to_str().expect("UTF-8")]);
        assert!(
            loaded.code == Some(0) && loaded.err.contains("1 dataset: 1 loaded"),
            "{loaded:?}"
        );
        is_open.store(true, Ordering::SeqCst);
        let harvested = harvesting.join().expect("no panic");
        assert!(
            harvested.code == Some(1)
                && harvested.err.contains("39 new, 0 changed")
                && harvested
                    .err
                    .contains("dataset s15: another change added a dataset with this id"),
            "{harvested:?}"
        );
        // The state is read through the server, which holds the home.
        let status = run(home.path(), &["status"]);
        assert!(
            status.code == Some(0)
                && status.out.starts_with("home ")
                && status.out.contains("datasets  41"),
            "{status:?}"
        );
        // The next harvest stores the portal's dataset with another id.
        let harvested = again();
        assert!(
            harvested.code == Some(0) && harvested.err.contains("1 new, 0 changed, 39 unchanged"),
            "{harvested:?}"
        );
        assert!(
            run(home.path(), &["search", "--json", "Zelkova"])
                .out
                .contains("\"id\": \"s15\"")
        );
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
    }

    #[test]
    fn uploads_replace_no_dataset_of_another_source() {
        use crate::identity::{catalog, titles};
        let (home, [_, write, _]) = home_with_tokens();
        let files = tempfile::tempdir().expect("a folder");
        let file = |folder: &str, title: &str| {
            let path = files.path().join(folder).join("data.json");
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(&path, catalog(&[("1", title)])).expect("written");
            path.to_str().expect("UTF-8").to_owned()
        };
        let (first, second, third) = (file("a", "Firs"), file("b", "Palms"), file("c", "Yews"));
        let served = Served::start(home.path(), &["--admin"]);
        let address = format!("http://{}", served.address());
        let upload = |arguments: &[&str]| {
            let ran = run_at(&address, &write, arguments);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            ran.err
        };
        upload(&["load", &first]);
        let other = upload(&["load", &second]);
        assert!(
            other.contains("\"Palms\" has the id data-1, because 1 is \"Firs\""),
            "{other}"
        );
        file("b", "Date palms");
        let again = upload(&["load", &second]);
        assert!(again.contains("1 replaced"), "{again}");
        let local = run(home.path(), &["load", &third]);
        assert!(
            local.code == Some(0) && local.err.contains("because 1 is \"Firs\""),
            "{local:?}"
        );
        let replaced = upload(&["load", &second, "--replace"]);
        assert!(
            replaced.contains("\"Date palms\" has replaced 1, which was \"Firs\""),
            "{replaced}"
        );
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
        let titles = titles(home.path());
        assert!(
            titles.contains(&"1 Date palms".to_owned())
                && !titles.iter().any(|title| title.ends_with("Firs")),
            "{titles:?}"
        );
        assert_eq!(
            titles
                .iter()
                .filter(|title| title.ends_with("palms"))
                .count(),
            1,
            "{titles:?}"
        );
    }

    #[test]
    fn a_harvest_goes_through_the_running_server_beside_other_changes() {
        let (portal, is_open, gate) = gated_portal();
        let (home, [read, ..]) = home_with_tokens();
        let served = Served::start(home.path(), &["--admin"]);
        let report = home.path().join("report.json");
        let (feed, path) = (portal.iri("/feed"), report.to_str().expect("UTF-8"));
        let arguments = [
            "harvest",
            &feed,
            "--allow-private-network",
            HERE,
            "--pause",
            "0",
            "--report",
            path,
        ]
        .map(str::to_owned);
        let folder = home.path().to_owned();
        let harvesting =
            std::thread::spawn(move || run(&folder, &arguments.each_ref().map(String::as_str)));
        let job = served.wait_for_job(1, &read, |_| gate.load(Ordering::SeqCst) > 1);
        assert_eq!(
            (&job["action"], &job["state"]),
            (&"harvest".into(), &"running".into()),
            "{job}"
        );
        // The harvest waits for its second page. Other changes and searches do not wait for it.
        let loaded = run(home.path(), &["load", "testdata/dumps/soils.ttl"]);
        assert!(
            loaded.code == Some(0) && loaded.err.contains("1 dataset: 1 loaded"),
            "{loaded:?}"
        );
        assert!(
            run(home.path(), &["search", "--json", "Boden"])
                .out
                .contains("\"id\": \"soils\"")
        );
        assert_eq!(run(home.path(), &["remove", "soils"]).code, Some(0));
        assert!(!harvesting.is_finished(), "the changes were made meanwhile");
        is_open.store(true, Ordering::SeqCst);
        let harvested = harvesting.join().expect("no panic");
        assert!(
            harvested.code == Some(0)
                && harvested
                    .err
                    .contains("40 new, 0 changed, 0 unchanged, 0 gone")
                && harvested.err.contains("indexed by the running server"),
            "{harvested:?}"
        );
        let written: Value =
            serde_json::from_str(&std::fs::read_to_string(&report).expect("a report"))
                .expect("JSON");
        assert_eq!(
            (
                written["new"].as_array().map(Vec::len),
                &written["sources"][0]["pages"]
            ),
            (Some(40), &4.into())
        );
        let job = served.admin("GET", "/api/admin/jobs/1", &read);
        assert_eq!(
            (&job["progress"]["pages"], &job["progress"]["done"]),
            (&4.into(), &40.into()),
            "{job}"
        );
        assert!(
            run(home.path(), &["search", "--json", "Set 39"])
                .out
                .contains("\"title\": \"Set 39\"")
        );

        let again = run(
            home.path(),
            &[
                "harvest",
                &feed,
                "--allow-private-network",
                HERE,
                "--pause",
                "0",
            ],
        );
        assert!(
            again.code == Some(0) && again.err.contains("0 new, 0 changed, 40 unchanged"),
            "{again:?}"
        );
        let refused = run(home.path(), &["harvest", &feed]);
        assert!(
            refused.code == Some(2)
                && refused
                    .err
                    .contains("allow it with --allow-private-network"),
            "the same error as without a server: {refused:?}"
        );
        let scheduled = run(home.path(), &["harvest", &feed, "--every", "1h"]);
        assert!(
            scheduled.code == Some(2) && scheduled.err.contains("serve --harvest"),
            "{scheduled:?}"
        );
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
        let verified = run(home.path(), &["verify"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
    }

    /// A browser that has logged in at a server.
    struct BrowserSession<'s> {
        served: &'s Served,
        cookie: String,
        /// Secret of the forms.
        form: String,
    }

    impl<'s> BrowserSession<'s> {
        fn log_in(served: &'s Served, token: &str) -> Self {
            let mut session = Self {
                served,
                cookie: String::new(),
                form: String::new(),
            };
            let response = session.post("/operator/login", &[("token", token)]);
            let cookie = response
                .lines()
                .find_map(|line| line.strip_prefix("set-cookie: "))
                .and_then(|cookie| cookie.split(';').next());
            cookie
                .unwrap_or_else(|| panic!("no cookie in {response}"))
                .clone_into(&mut session.cookie);
            let page = session.get("/operator/sources");
            let secret = page
                .split("name=\"form\" value=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next());
            secret
                .unwrap_or_else(|| panic!("no secret in {page}"))
                .clone_into(&mut session.form);
            session
        }

        fn get(&self, path: &str) -> String {
            let cookie = &self.cookie;
            self.served.request(&format!(
                "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: text/html\r\nCookie: {cookie}\r\n\r\n"
            ))
        }

        fn post(&self, path: &str, fields: &[(&str, &str)]) -> String {
            let fields = [fields, &[("form", self.form.as_str())]].concat();
            let body = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(&fields)
                .finish();
            let (cookie, length) = (&self.cookie, body.len());
            self.served.request(&format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\nCookie: {cookie}\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
            ))
        }
    }

    /// Waits until a portal is harvested again.
    fn wait_for_harvest(portal: &Portal, served: &Served) {
        portal.asked();
        let started = Instant::now();
        while portal.asked().is_empty() {
            assert!(started.elapsed() < TEST_TIMEOUT, "{}", served.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    #[test]
    fn a_schedule_that_is_set_in_a_browser_survives_a_restart_and_a_backup() {
        let portal = Portal::start(|asked| feed_reply(asked, 10, 40));
        let (home, [_, _, admin]) = home_with_tokens();
        let options = ["--admin", "--allow-private-network", HERE];
        let feed = portal.iri("/feed");
        let source = ("source", feed.as_str());
        let served = Served::start(home.path(), &options);
        let browser = BrowserSession::log_in(&served, &admin);
        let wrong = browser.post("/operator/sources", &[source, ("every", "soon")]);
        assert!(
            wrong.starts_with("HTTP/1.1 400") && wrong.contains("is no interval"),
            "{wrong}"
        );
        // The schedule is set, and the source is harvested now.
        let added = browser.post("/operator/sources", &[source, ("every", "1")]);
        assert!(
            added.starts_with("HTTP/1.1 303") && added.contains("/operator/jobs?job=2"),
            "{added}"
        );
        let job = served.wait_for_job(2, &admin, |job| job["state"] == "done");
        assert_eq!(job["action"], "harvest", "{job}");
        wait_for_harvest(&portal, &served);
        let page = browser.get("/operator/sources");
        assert!(
            page.contains("<option value=\"1\" selected>every second</option>"),
            "{page}"
        );
        let schedule = ("do", "schedule");
        let changed = browser.post("/operator/sources", &[source, schedule, ("every", "86400")]);
        assert!(
            changed.starts_with("HTTP/1.1 303") && changed.contains("location: /operator/sources"),
            "{changed}"
        );
        let page = browser.get("/operator/sources");
        assert!(
            page.contains("<option value=\"86400\" selected>every day</option>"),
            "{page}"
        );

        // A harvest that had begun ends.
        std::thread::sleep(Duration::from_secs(4));
        let backup = tempfile::tempdir().expect("a folder");
        let folder = backup.path().join("backup");
        let folder = folder.to_str().expect("UTF-8");
        let backed_up = run(home.path(), &["backup", folder]);
        assert_eq!(backed_up.code, Some(0), "{backed_up:?}");
        let restored = backup.path().join("restored");
        let ran = run(&restored, &["restore", folder]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let schedules = lodeseek_changes::stored_schedules(&restored);
        assert!(
            schedules.len() == 1 && schedules[0].every == 86_400 && schedules[0].has_source(&feed),
            "{schedules:?}"
        );
        browser.post("/operator/sources", &[source, schedule, ("every", "1")]);
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");

        let served = Served::start(home.path(), &options);
        wait_for_harvest(&portal, &served);
        let browser = BrowserSession::log_in(&served, &admin);
        browser.post("/operator/sources", &[source, schedule, ("every", "never")]);
        let audit = browser.get("/operator/audit");
        assert!(audit.contains("<td>unschedule</td>"), "{audit}");
        assert!(lodeseek_changes::stored_schedules(home.path()).is_empty());
        std::thread::sleep(Duration::from_secs(4));
        portal.asked();
        std::thread::sleep(Duration::from_secs(3));
        assert!(portal.asked().is_empty(), "{}", served.log());
    }

    #[test]
    fn harvests_run_one_after_the_other_and_can_be_cancelled() {
        // A feed without an end.
        let portal = Portal::start(|asked| {
            feed_reply(asked, 5, usize::MAX / 1000).after(Duration::from_millis(50))
        });
        let (home, [read, write, _]) = home_with_tokens();
        let served = Served::start(home.path(), &["--admin"]);
        let start = |path: &str| {
            let log = tempfile::NamedTempFile::new().expect("a file");
            let mut command = program(home.path());
            command.args([
                "harvest",
                &portal.iri(path),
                "--allow-private-network",
                HERE,
                "--pause",
                "0",
            ]);
            (
                command
                    .stderr(log.reopen().expect("a file"))
                    .spawn()
                    .expect("started"),
                log,
            )
        };
        let (mut first, first_log) = start("/feed?a");
        served.wait_for_job(1, &read, |job| job["progress"]["pages"].as_u64() > Some(1));
        let (mut second, second_log) = start("/feed?b");
        let job = served.wait_for_job(2, &read, |job| job.get("state").is_some());
        assert_eq!(job["state"], "queued", "{job}");
        // A stop signal cancels the job of its command.
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -TERM {}", first.id())])
            .status();
        assert!(sent.expect("a shell").success());
        let job = served.wait_for_job(1, &read, |job| job["state"] == "cancelled");
        assert!(job.get("result").is_none(), "{job}");
        assert_eq!(first.wait().expect("ended").code(), Some(2));
        let message = std::fs::read_to_string(first_log.path()).expect("UTF-8");
        assert!(message.contains("job 1 was cancelled"), "{message}");
        // Then the second one runs, and is cancelled by another client.
        served.wait_for_job(2, &read, |job| job["progress"]["pages"].as_u64() > Some(0));
        let refused = served.admin("DELETE", "/api/admin/jobs/2", &read);
        assert!(
            refused["error"]
                .as_str()
                .is_some_and(|error| error.contains("needs write")),
            "{refused}"
        );
        served.admin("DELETE", "/api/admin/jobs/2", &write);
        served.wait_for_job(2, &read, |job| job["state"] == "cancelled");
        assert_eq!(second.wait().expect("ended").code(), Some(2));
        let message = std::fs::read_to_string(second_log.path()).expect("UTF-8");
        assert!(message.contains("job 2 was cancelled"), "{message}");
        // A server that stops cancels its harvest, and ends in time.
        let (mut third, _log) = start("/feed?c");
        served.wait_for_job(3, &read, |job| job["progress"]["pages"].as_u64() > Some(0));
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
        assert!(!log.contains("did not end in time"), "{log}");
        third.wait().expect("ended");
        assert_eq!(run(home.path(), &["verify"]).code, Some(0));
    }

    #[test]
    fn commands_reach_a_server_elsewhere() {
        let portal = Portal::start(|asked| match asked.path.as_str() {
            path if path.starts_with("/feed") => feed_reply(asked, 10, 10),
            "/oaks.ttl" => {
                Reply::turtle("<http://e.org/oak> <http://e.org/name> \"Quercus petraea\" .")
            }
            "/elsewhere/api/admin/datasets" => {
                Reply::status(301).with("Location", "https://data.example.org/")
            }
            _ => Reply::status(404),
        });
        let (home, [read, write, admin]) = home_with_tokens();
        let served = Served::start(home.path(), &["--admin", "--allow-private-network", HERE]);
        let server = format!("http://{}/", served.address());

        // A catalogue with the files that it describes.
        let loaded = run_at(
            &server,
            &write,
            &["load", "testdata/catalog.ttl", "--id-prefix", "a-"],
        );
        assert!(
            loaded.code == Some(0) && loaded.err.contains("12 datasets: 12 loaded;"),
            "{loaded:?}"
        );
        let here = tempfile::tempdir().expect("a folder");
        assert_eq!(
            run(
                here.path(),
                &["load", "testdata/catalog.ttl", "--id-prefix", "a-"]
            )
            .code,
            Some(0)
        );
        let triples = |listed: &str| -> Vec<(String, Value)> {
            let listed: Vec<Value> = serde_json::from_str(listed).expect("JSON");
            let all = listed.iter().map(|one| {
                (
                    one["id"].as_str().expect("an id").to_owned(),
                    one["triples"].clone(),
                )
            });
            all.filter(|(id, _)| id.starts_with("a-")).collect()
        };
        let listed = run_at(&server, &read, &["list", "--json"]);
        let expected = run(here.path(), &["list", "--json"]);
        assert_eq!(
            triples(&listed.out),
            triples(&expected.out),
            "as a load on this machine"
        );
        assert!(
            !home.path().join("uploads").join("0").exists(),
            "uploaded files are deleted"
        );
        let again = run_at(
            &server,
            &write,
            &["load", "testdata/catalog.ttl", "--id-prefix", "a-"],
        );
        assert!(
            again.code == Some(0) && again.err.contains("12 unchanged"),
            "{again:?}"
        );

        let harvested = run_at(
            &server,
            &admin,
            &["harvest", &portal.iri("/feed"), "--pause", "0"],
        );
        assert!(
            harvested.code == Some(0) && harvested.err.contains("10 new, 0 changed"),
            "{harvested:?}"
        );
        let status = run_at(&server, &read, &["status", "--json"]);
        let status: Value =
            serde_json::from_str(&status.out).unwrap_or_else(|error| panic!("{error}: {status:?}"));
        assert_eq!(
            (&status["datasets"], &status["index"]["notIndexed"]),
            (&23.into(), &0.into()),
            "{status}"
        );
        // A file by its address. It is in a private network.
        let put = |token: &str| {
            let body = json!({ "url": portal.iri("/oaks.ttl") }).to_string();
            served.request(&format!(
                "PUT /api/admin/datasets/oaks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nPrefer: wait=60\r\n\
                 Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ))
        };
        let refused = put(&write);
        assert!(
            refused.starts_with("HTTP/1.1 422") && refused.contains("cannot download"),
            "{refused}"
        );
        let added = put(&admin);
        assert!(
            added.starts_with("HTTP/1.1 201") && added.contains("\"triples\":1"),
            "{added}"
        );
        assert!(
            run(home.path(), &["search", "--json", "petraea"])
                .out
                .contains("\"id\": \"oaks\"")
        );
        assert!(
            run(home.path(), &["show", "oaks"])
                .out
                .contains("/oaks.ttl"),
            "the description has the address"
        );

        let removed = run_at(&server, &write, &["remove", "a-air-quality", "a-boreholes"]);
        assert!(
            removed.code == Some(0) && removed.err.contains("2 datasets removed by http://"),
            "{removed:?}"
        );
        let indexed = run_at(&server, &admin, &["index"]);
        assert!(
            indexed.code == Some(0) && indexed.err.contains("0 datasets indexed"),
            "{indexed:?}"
        );

        // The first line of a file precedes the variable.
        let file = here.path().join("token");
        std::fs::write(&file, format!("{read}\n")).expect("written");
        let by_file = ["list", "--token-file", file.to_str().expect("UTF-8")];
        assert_eq!(run_at(&server, "wrong", &by_file).code, Some(0));

        let feed = portal.iri("/feed");
        let missing = portal.iri("");
        let elsewhere = portal.iri("/elsewhere");
        for (server, token, arguments, message) in [
            (server.as_str(), "wrong", &["list"][..], "rejects the token"),
            (&server, "", &["list"], "needs a token"),
            (
                &server,
                &read,
                &["load", "testdata/dumps/soils.ttl"],
                "the token read has the scope read",
            ),
            (
                &server,
                &read,
                &["remove", "trees"],
                "the token read has the scope read",
            ),
            (&server, &write, &["index"], "this request needs admin"),
            (
                &server,
                &write,
                &["harvest", &feed],
                "this request needs admin",
            ),
            (
                &server,
                &admin,
                &["harvest", "testdata/catalog.ttl"],
                "`load` uploads them",
            ),
            (
                &server,
                &admin,
                &["harvest", &feed, "--allow-private-network", HERE],
                "by the server's settings only",
            ),
            (
                &server,
                &write,
                &["load", "testdata/missing.ttl"],
                "cannot read testdata/missing.ttl",
            ),
            (
                &server,
                &write,
                &["remove", "trees", "nothing"],
                "there is no dataset nothing",
            ),
            (
                &missing,
                &read,
                &["list"],
                "has no administration (status 404)",
            ),
            (
                &elsewhere,
                &read,
                &["list"],
                "redirects to https://data.example.org/",
            ),
            (
                "http://127.0.0.1:9",
                &read,
                &["list"],
                "cannot reach the server",
            ),
            (
                "data.example.org",
                &read,
                &["list"],
                "is no address of a server",
            ),
        ] {
            let failed = run_at(server, token, arguments);
            assert!(
                failed.code == Some(2) && failed.err.contains(message),
                "{arguments:?}, {message}: {failed:?}"
            );
        }
        assert_eq!(
            run_at(&server, &read, &["status"]).code,
            Some(0),
            "the server goes on"
        );
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
        let audit =
            std::fs::read_to_string(home.path().join("audit.jsonl")).expect("the audit log");
        assert!(
            audit.contains("\"by\":\"write\"") && !audit.contains(&write),
            "names, and no secrets: {audit}"
        );
        let plain = Served::start(home.path(), &[]);
        let disabled = run_at(&format!("http://{}", plain.address()), &read, &["list"]);
        assert!(
            disabled.code == Some(2) && disabled.err.contains("serve --admin"),
            "{disabled:?}"
        );
    }

    #[test]
    fn a_server_with_tls_is_reached_with_its_certificate() {
        let (home, [read, ..]) = home_with_tokens();
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let (certificate, key) = (
            home.path().join("certificate.pem"),
            home.path().join("key.pem"),
        );
        std::fs::write(&certificate, made.cert.pem()).expect("written");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("private");
        let [shown, key] = [&certificate, &key].map(|path| path.to_str().expect("UTF-8"));
        let arguments = ["--admin", "--tls-certificate", shown, "--tls-key", key];
        let served = Served::start_with(home.path(), &arguments, "listening on https://");
        let log = served.log();
        let port: String = log
            .split("listening on https://127.0.0.1:")
            .nth(1)
            .expect("a port")
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let server = format!("https://localhost:{port}");
        let list = |trusted: Option<&Path>| {
            let mut command = program(Path::new("no-home-here"));
            command
                .env_remove("LODESEEK_SERVER")
                .env("LODESEEK_TOKEN", &read)
                .env_remove("SSL_CERT_FILE");
            if let Some(file) = trusted {
                command.env("SSL_CERT_FILE", file);
            }
            command
                .args(["list", "--server", &server])
                .output()
                .expect("the program starts")
        };
        let listed = list(Some(&certificate));
        assert!(
            listed.status.success() && String::from_utf8_lossy(&listed.stdout).contains("trees"),
            "{listed:?}"
        );
        let refused = list(None);
        assert!(
            refused.status.code() == Some(2)
                && String::from_utf8_lossy(&refused.stderr).contains("cannot reach the server"),
            "an unknown certificate: {refused:?}"
        );
    }

    #[test]
    fn topics_are_ranked_by_a_server_as_by_its_home() {
        let home = tempfile::tempdir().expect("a folder");
        for arguments in [&["load", "testdata/catalog.ttl"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        let served = Served::start(home.path(), &[]);
        let server = format!("http://{}", served.address());
        let arguments = [
            "run",
            "--topics",
            "testdata/queries.tsv",
            "--tag",
            "one",
            "--depth",
            "50",
        ];
        let here = run(home.path(), &arguments);
        assert!(
            here.code == Some(0) && here.out.lines().count() > 3,
            "{here:?}"
        );
        // JSON keeps all but the last bit of a score.
        let ranks = |run: &Ran| -> Vec<String> {
            run.out
                .lines()
                .filter_map(|line| line.rsplitn(3, '\t').last().map(str::to_owned))
                .collect()
        };
        assert_eq!(ranks(&run_at(&server, "", &arguments)), ranks(&here));
        let output = home.path().join("remote.run");
        let output = output.to_str().expect("UTF-8");
        assert_eq!(
            run_at(
                &server,
                "",
                &[
                    "run",
                    "--topics",
                    "testdata/queries.tsv",
                    "--output",
                    output
                ]
            )
            .code,
            Some(0)
        );
        let record = std::fs::read_to_string(format!("{output}.json")).expect("a record");
        let record: Value = serde_json::from_str(&record).expect("JSON");
        assert_eq!(
            (&record["server"], &record["tag"]),
            (&server.as_str().into(), &"server".into()),
            "{record}"
        );
        for (more, message) in [
            (["--depth", "101"], "at most 100 datasets of a topic"),
            (["--model", "fsdm"], "cannot be used with"),
            (["--combine", "max"], "cannot be used with"),
            (["--ranking", "words"], "cannot be used with"),
            (["--device", "cpu"], "cannot be used with"),
        ] {
            let refused = run_at(&server, "", &[&arguments[..3], &more[..]].concat());
            assert!(
                refused.code == Some(2) && refused.err.contains(message),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn a_backup_goes_through_the_running_server() {
        let home = tempfile::tempdir().expect("a folder");
        for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        assert_eq!(run(home.path(), &["token", "add", "ci"]).code, Some(0));
        let folder = tempfile::tempdir().expect("a folder");
        let (target, restored) = (folder.path().join("backup"), folder.path().join("restored"));
        let target = target.to_str().expect("a path");
        let served = Served::start(home.path(), &["--admin"]);
        assert_eq!(
            run(home.path(), &["load", "testdata/dumps/soils.ttl"]).code,
            Some(0)
        );
        let made = run(home.path(), &["backup", target, "--json"]);
        let report: Value =
            serde_json::from_str(&made.out).unwrap_or_else(|error| panic!("{error}: {made:?}"));
        assert!(made.code == Some(0) && report["datasets"] == 2, "{report}");
        let inside = run(
            home.path(),
            &[
                "backup",
                home.path().join("inside").to_str().expect("a path"),
            ],
        );
        assert!(
            inside.code == Some(2) && inside.err.contains("inside the home"),
            "{inside:?}"
        );
        assert_eq!(run(home.path(), &["remove", "soils"]).code, Some(0));
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");

        assert_eq!(run(&restored, &["restore", target]).code, Some(0));
        assert!(
            run(&restored, &["search", "--json", "Boden"])
                .out
                .contains("\"id\": \"soils\"")
        );
        assert_eq!(
            run(&restored, &["token", "list"]).out,
            "write  ci\n",
            "tokens are part of the backup"
        );
        assert!(restored.join("audit.jsonl").exists() && !restored.join("admin").exists());
        assert_eq!(run(&restored, &["verify"]).code, Some(0));
    }

    #[test]
    fn tokens_are_made_by_the_program() {
        let home = tempfile::tempdir().expect("a folder");
        assert_eq!(
            run(home.path(), &["token", "list"]).code,
            Some(2),
            "there is no home"
        );
        assert_eq!(
            run(home.path(), &["load", "testdata/dumps/trees.nt.gz"]).code,
            Some(0)
        );
        let added = run(home.path(), &["token", "add", "ci", "--scope", "read"]);
        assert!(
            added.code == Some(0) && added.out.starts_with("lodeseek_"),
            "{added:?}"
        );
        let again = run(home.path(), &["token", "add", "ci"]);
        assert!(
            again.code == Some(2) && again.err.contains("lodeseek token remove ci"),
            "{again:?}"
        );
        assert!(
            run(home.path(), &["token", "add", "x", "--scope", "root"])
                .err
                .contains("supported scopes")
        );
        assert_eq!(run(home.path(), &["token", "list"]).out, "read   ci\n");
        let listed: Value =
            serde_json::from_str(&run(home.path(), &["token", "list", "--json"]).out)
                .expect("JSON");
        assert_eq!(
            (
                &listed["tokens"][0]["name"],
                listed["tokens"][0].get("sha256")
            ),
            (&"ci".into(), None)
        );
        assert_eq!(run(home.path(), &["token", "remove", "ci"]).code, Some(0));
        assert_eq!(run(home.path(), &["token", "list"]).code, Some(1));
    }

    #[test]
    fn damaged_tokens_are_rejected_and_reported() {
        let (home, [read, ..]) = home_with_tokens();
        let path = home.path().join("tokens.json");
        let sound = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, sound.replace("\"read\"", "\"admin\"")).expect("written");
        let served = Served::start(home.path(), &["--admin"]);
        let refused = served.admin("GET", "/api/admin/token", &read);
        assert!(
            refused["error"]
                .as_str()
                .is_some_and(|error| error.contains("server's log")),
            "{refused}"
        );
        let (_, log) = served.stop();
        assert!(
            log.contains("requests with a token are rejected")
                && log.contains("tokens.json is damaged"),
            "{log}"
        );
        let listed = run(home.path(), &["token", "list"]);
        assert!(
            listed.code == Some(2) && listed.err.contains("run `lodeseek token add`"),
            "{listed:?}"
        );
        for command in ["verify", "repair"] {
            let ran = run(home.path(), &[command]);
            assert!(
                ran.code == Some(1) && ran.out.contains("tokens: tokens.json: "),
                "{ran:?}"
            );
        }
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(run(home.path(), &["verify"]).code, Some(0));
        assert_eq!(run(home.path(), &["token", "add", "new"]).code, Some(0));
    }

    #[test]
    fn a_hangup_reads_the_operator_token_again() {
        let home = tempfile::tempdir().expect("a folder");
        for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        let file = home.path().join("operator-token");
        std::fs::write(&file, "the first token of the operator").expect("written");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("private");
        let served = Served::start(
            home.path(),
            &["--operator-token-file", file.to_str().expect("a path")],
        );
        assert_eq!(
            [served.status_of("first"), served.status_of("second")],
            [200, 401]
        );
        std::fs::write(&file, "short").expect("written");
        served.hang_up();
        served.wait_for("too short");
        assert_eq!(
            served.status_of("first"),
            200,
            "an invalid file changes nothing"
        );
        std::fs::write(&file, "the second token of the operator").expect("written");
        served.hang_up();
        served.wait_for("reloaded the operator token");
        assert_eq!(
            [served.status_of("first"), served.status_of("second")],
            [401, 200]
        );
    }

    #[test]
    fn logs_are_json_lines_with_each_request() {
        let home = tempfile::tempdir().expect("a folder");
        for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        let served = Served::start(home.path(), &["--log-format", "json"]);
        let head =
            "GET /api/search?q=secret+words HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        let response = served.request(&format!("{head}X-Request-Id: id-7\r\n\r\n"));
        assert!(response.contains("x-request-id: id-7"), "{response}");
        served.wait_for("\"id\":\"id-7\"");
        let (code, log) = served.stop();
        assert_eq!(code, Some(0), "{log}");
        let lines: Vec<Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let access = lines
            .iter()
            .find(|line| line["id"] == "id-7")
            .expect("the request");
        assert_eq!(
            (
                &access["method"],
                &access["path"],
                &access["status"],
                &access["client"]
            ),
            (
                &"GET".into(),
                &"/api/search".into(),
                &200.into(),
                &"127.0.0.1".into()
            ),
            "{access}"
        );
        assert!(
            access["bytes"].as_u64() > Some(50) && access["ms"].is_u64(),
            "{access}"
        );
        assert!(!log.contains("secret"), "queries are not logged: {log}");
    }
}
