//! Answers of `/sparql` that are sent while they are computed: complete or visibly cut, cancelled when the client
//! leaves.

use super::http::{Site, encoded, triples};
use super::support::{TEST_TIMEOUT, limits};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, Version};
use axum::response::Response;
use http_body_util::BodyExt;
use lodeseek_sparql::SparqlLimits;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Triples of the dataset.
const TRIPLES: usize = 6000;
const GRAPH: &str = "http://localhost:7878/dataset/many";
const MARK: &str = "lodeseek-truncated";
/// A quick query that is not of bounded cost, and so needs a permit of the expensive ones.
const PROBE: &str = "ASK { ?s ?p ?o . ?s ?q ?o }";

fn site(limits: SparqlLimits) -> Site {
    let home = tempfile::tempdir().expect("a folder");
    let mut dump = String::new();
    for number in 0..TRIPLES {
        let _ = writeln!(
            dump,
            "<http://e.org/{number}> <http://e.org/is> \"the number {number} of many\" ."
        );
    }
    fs::write(home.path().join("many.nt"), dump).expect("written");
    let catalog =
        serde_json::json!([{ "dataset_id": "many", "title": "Many", "download": ["many.nt"] }]);
    let path = home.path().join("datasets.json");
    fs::write(&path, catalog.to_string()).expect("written");
    Site::from_catalog(&path, limits)
}

fn solutions() -> String {
    format!("SELECT * {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}")
}

fn graph() -> String {
    format!("CONSTRUCT {{ ?s ?p ?o }} {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}")
}

/// Many rows, which are sent for a while.
fn product() -> String {
    format!("SELECT * {{ GRAPH <{GRAPH}> {{ ?a ?b ?c . ?d ?e ?f }} }}")
}

/// Queries that run for seconds in little memory, with nothing to send before the end. The first reads the store for every row;
/// of the others Oxigraph multiplies the rows in memory.
fn counts() -> Vec<String> {
    let counted =
        |pattern: &str| format!("SELECT (COUNT(*) AS ?n) {{ GRAPH <{GRAPH}> {{ {pattern} }} }}");
    vec![
        counted("{ SELECT ?p { ?a ?p ?b } LIMIT 1500 } ?c ?p ?d"),
        counted("?a ?b ?c . ?d ?e ?f"),
        counted("?a ?p ?b OPTIONAL { ?c ?q ?d }"),
        counted("{ SELECT ?p { ?a ?p ?b } } { SELECT ?p { ?c ?p ?d } }"),
        counted(
            "{ SELECT ?a { ?a ?b ?c } LIMIT 2000 } { ?d ?e ?f } UNION { ?f ?e ?d } MINUS { ?a ?h ?d }",
        ),
        counted(
            "{ SELECT ?x { ?x ?y ?z } LIMIT 1 }
             FILTER NOT EXISTS { { SELECT ?a ?c { ?a ?b ?c } LIMIT 1500 } ?d ?e ?f FILTER(?c = ?f && ?a != ?d) }",
        ),
    ]
}

fn path(query: &str, format: &str) -> String {
    format!(
        "/sparql?{}",
        encoded(&[("query", query), ("format", format)])
    )
}

fn get(query: &str, format: &str) -> Request<Body> {
    Request::get(path(query, format))
        .body(Body::empty())
        .expect("a request")
}

#[tokio::test]
async fn what_nothing_could_stop_is_refused() {
    let site = site(SparqlLimits {
        combinations: 500,
        growth: 500,
        ..limits()
    });
    let unions = "{ } UNION { } ".repeat(9);
    let doublings: String = (0..9)
        .map(|n| format!("BIND(CONCAT(?x{n}, ?x{n}) AS ?x{}) ", n + 1))
        .collect();
    for query in [
        format!("SELECT (COUNT(*) AS ?n) {{ {unions} }}"),
        format!("SELECT (STRLEN(?x9) AS ?n) {{ ?s ?p ?x0 {doublings} }}"),
    ] {
        let (status, text) = {
            let response = site.begin(get(&query, "json")).await;
            (response.status(), read(response).await.expect("a body").0)
        };
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("rejected"), "{text}");
    }
}

/// The whole body, if it is whole, and its trailers.
async fn read(response: Response) -> Result<(String, HeaderMap), axum::Error> {
    let body = response.into_body().collect().await?;
    let trailers = body.trailers().cloned().unwrap_or_default();
    Ok((
        String::from_utf8(body.to_bytes().to_vec()).expect("UTF-8"),
        trailers,
    ))
}

fn rows(json: &str) -> (usize, Value) {
    let value: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}"));
    (
        value["results"]["bindings"].as_array().expect("rows").len(),
        value[MARK].clone(),
    )
}

#[tokio::test]
async fn large_answers_come_whole_in_every_form() {
    let site = site(limits());
    for (query, format, name) in [
        (solutions(), "json", ""),
        (solutions(), "xml", ""),
        (solutions(), "csv", ""),
        (solutions(), "tsv", ""),
        (graph(), "ttl", "a.ttl"),
        (graph(), "nt", "a.nt"),
        (graph(), "nq", "a.nq"),
        (graph(), "trig", "a.trig"),
        (graph(), "rdf", "a.rdf"),
        (graph(), "jsonld", "a.jsonld"),
    ] {
        let response = site.begin(get(&query, format)).await;
        assert_eq!(response.status(), 200, "{format}");
        let headers = response.headers().clone();
        assert!(
            !headers.contains_key("content-length"),
            "{format}: it is streamed"
        );
        assert!(
            headers["trailer"].to_str().expect("text").contains(MARK),
            "{format}"
        );
        let (body, trailers) = read(response)
            .await
            .unwrap_or_else(|error| panic!("{format}: {error}"));
        assert!(trailers.is_empty() && !body.contains(MARK), "{format}");
        let found = match format {
            "json" => rows(&body).0,
            "xml" => body.matches("<result>").count(),
            "csv" | "tsv" => body.lines().count() - 1,
            _ => triples(&body, name),
        };
        assert_eq!(found, TRIPLES, "{format}");
        assert_eq!(
            body.matches("the number 5999 of many").count(),
            1,
            "{format}"
        );
    }
    let mut old = get(&solutions(), "json");
    *old.version_mut() = Version::HTTP_10;
    let response = site.begin(old).await;
    assert!(
        !response.headers().contains_key("trailer"),
        "HTTP/1.0 has no way to break off"
    );
    assert_eq!(rows(&read(response).await.expect("whole").0).0, TRIPLES);
}

#[tokio::test]
async fn what_is_cut_while_it_is_sent_says_so_or_breaks_off() {
    for (limits, least, most) in [
        (
            SparqlLimits {
                rows: 4000,
                ..limits()
            },
            4000,
            4000,
        ),
        (
            SparqlLimits {
                answer_megabytes: 0,
                ..limits()
            },
            0,
            0,
        ),
    ] {
        let site = site(limits);
        for (query, format, comment) in [
            (solutions(), "json", ""),
            (solutions(), "xml", "<!-- "),
            (graph(), "ttl", "# "),
            (graph(), "nt", "# "),
            (graph(), "trig", "# "),
            (graph(), "nq", "# "),
            (graph(), "rdf", "<!-- "),
        ] {
            let response = site.begin(get(&query, format)).await;
            assert_eq!(response.status(), 200);
            let is_small = response.headers().contains_key(MARK);
            assert_eq!(
                is_small,
                most == 0,
                "{format}: what was held back is marked in its header"
            );
            let (body, trailers) = read(response)
                .await
                .unwrap_or_else(|error| panic!("{format}: {error}"));
            assert_eq!(trailers.contains_key(MARK), !is_small, "{format}");
            let found = match format {
                "json" => rows(&body).0,
                "xml" => body.matches("<result>").count(),
                _ => triples(&body, &format!("a.{format}")),
            };
            assert!((least..=most).contains(&found), "{format}: {found}");
            let mark = format!("{comment}{MARK}: the answer has more rows");
            assert_eq!(
                body.contains(&mark),
                !is_small && format != "json",
                "{format}"
            );
            assert_eq!(
                format == "json" && rows(&body).1.is_string(),
                !is_small && format == "json"
            );
        }
        for (query, format) in [
            (solutions(), "csv"),
            (solutions(), "tsv"),
            (graph(), "jsonld"),
        ] {
            let response = site.begin(get(&query, format)).await;
            let is_small = response.headers().contains_key(MARK);
            assert_eq!(
                (is_small, read(response).await.is_ok()),
                (most == 0, most == 0),
                "{format}"
            );
        }
    }
}

#[tokio::test]
async fn a_deadline_breaks_the_transfer_off() {
    let deadline = Duration::from_millis(1500);
    let site = site(SparqlLimits {
        deadline,
        rows: usize::MAX,
        concurrent: 1,
        waiting: 0,
        ..limits()
    });
    for format in ["json", "xml", "csv"] {
        let response = begin_soon(&site, format).await;
        assert_eq!(response.status(), 200, "{format}: the place is free again");
        assert!(read(response).await.is_err(), "{format}");
    }
    // A reader that takes one chunk and then no more.
    let slow = begin_soon(&site, "csv").await;
    assert_eq!(slow.status(), 200);
    let mut slow = slow.into_body();
    assert!(slow.frame().await.expect("a frame").is_ok());
    assert_eq!(
        site.begin(get(PROBE, "json")).await.status(),
        503,
        "its place is taken"
    );
    assert_eq!(
        site.begin(get("ASK {}", "json")).await.status(),
        200,
        "queries of bounded cost have places of their own"
    );
    tokio::time::sleep(deadline).await;
    assert!(soon(&site).await, "but not for ever");
    assert!(slow.collect().await.is_err());
}

/// Sends [`product`] until the only permit is free: a query before returns it a moment after its response.
async fn begin_soon(site: &Site, format: &str) -> Response {
    let begun = Instant::now();
    loop {
        let response = site.begin(get(&product(), format)).await;
        if response.status() != 503 || begun.elapsed() > TEST_TIMEOUT {
            return response;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns true if the only permit is released after a while.
async fn soon(site: &Site) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < TEST_TIMEOUT {
        if site.begin(get(PROBE, "json")).await.status() == 200 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// Returns true if the only place is taken within 20 seconds. The first probe follows at once: some queries reach their limit of
/// memory after a second. Between probes the place is free for the query.
async fn is_occupied(site: &Site) -> bool {
    for _ in 0..20 {
        if site.begin(get(PROBE, "json")).await.status() == 503 {
            return true;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    false
}

/// Sends a query that the server accepts. One that arrives while a probe still holds the only place is rejected, and sent again.
async fn started(address: SocketAddr, path: &str, begins: bool) -> TcpStream {
    for _ in 0..20 {
        let mut client = TcpStream::connect(address).await.expect("a connection");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client.write_all(request.as_bytes()).await.expect("sent");
        let mut bytes = [0; 64];
        match tokio::time::timeout(Duration::from_millis(200), client.read_exact(&mut bytes)).await
        {
            Err(_) if !begins => return client,
            Err(_) => {
                client.read_exact(&mut bytes).await.expect("the beginning");
            }
            Ok(read) => drop(read.expect("the beginning")),
        }
        if begins && bytes.starts_with(b"HTTP/1.1 200") {
            return client;
        }
        assert!(
            bytes.starts_with(b"HTTP/1.1 503"),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path} was rejected twenty times");
}

/// Requests the head of a query's answer.
async fn head_of(site: &Site, query: &str) -> Response {
    let request = Request::builder()
        .method(Method::HEAD)
        .uri(path(query, "csv"))
        .body(Body::empty());
    site.begin(request.expect("a request")).await
}

/// With a deadline far away and one place, what ends a query is that its client left.
#[tokio::test]
async fn who_leaves_is_waited_for_no_longer() {
    let deadline = 2 * TEST_TIMEOUT;
    let site = site(SparqlLimits {
        deadline,
        rows: usize::MAX,
        concurrent: 1,
        waiting: 0,
        ..limits()
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let service = site
        .app()
        .into_make_service_with_connect_info::<SocketAddr>();
    let serving = tokio::spawn(async move { axum::serve(listener, service).await });
    // Before the answer has begun, and in the middle of it.
    for (query, begins) in counts()
        .into_iter()
        .map(|count| (count, false))
        .chain([(product(), true)])
    {
        let client = started(address, &path(&query, "csv"), begins).await;
        assert!(
            is_occupied(&site).await,
            "{query} runs as long as its client waits"
        );
        drop(client);
        assert!(soon(&site).await, "{query}");
    }
    // Reads only the head of an answer. The last probe may still hold the only place.
    let begun = Instant::now();
    let mut response = head_of(&site, &product()).await;
    while response.status() == 503 && begun.elapsed() < TEST_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(20)).await;
        response = head_of(&site, &product()).await;
    }
    assert_eq!(response.status(), 200);
    assert_eq!(read(response).await.expect("nothing").0, "");
    assert!(soon(&site).await, "HEAD");
    serving.abort();
}

#[tokio::test]
async fn answers_are_compressed_while_they_are_sent() {
    let deadline = 2 * TEST_TIMEOUT;
    let site = site(SparqlLimits {
        deadline,
        rows: usize::MAX,
        ..limits()
    });
    let asked = |query: &str, encoding: &str| {
        let mut request = get(query, "csv");
        request
            .headers_mut()
            .insert("accept-encoding", encoding.parse().expect("a header"));
        request
    };
    let plain = read(site.begin(get(&solutions(), "csv")).await)
        .await
        .expect("whole")
        .0;
    for (accepted, encoding) in [
        ("gzip", "gzip"),
        ("zstd", "zstd"),
        ("gzip, zstd", "zstd"),
        ("br", ""),
    ] {
        let response = site.begin(asked(&solutions(), accepted)).await;
        let named = match response.headers().get("content-encoding") {
            Some(value) => value.to_str().expect("text"),
            None => "",
        };
        assert_eq!(named, encoding, "{accepted}");
        assert!(
            response
                .headers()
                .get_all("vary")
                .iter()
                .any(|value| value.as_bytes().starts_with(b"accept-encoding"))
        );
        let bytes = response
            .into_body()
            .collect()
            .await
            .expect("whole")
            .to_bytes()
            .to_vec();
        let mut text = String::new();
        match encoding {
            "gzip" => flate2::read::GzDecoder::new(bytes.as_slice())
                .read_to_string(&mut text)
                .expect("gzip"),
            "zstd" => ruzstd::decoding::StreamingDecoder::new(bytes.as_slice())
                .expect("zstd")
                .read_to_string(&mut text)
                .expect("zstd"),
            _ => Read::read_to_string(&mut bytes.as_slice(), &mut text).expect("text"),
        };
        assert_eq!(text, plain, "{accepted}");
        assert!(
            encoding.is_empty() || bytes.len() * 3 < plain.len(),
            "{accepted}: {} bytes",
            bytes.len()
        );
        // Of a long answer the beginning comes.
        let mut long = site.begin(asked(&product(), accepted)).await.into_body();
        for _ in 0..3 {
            let frame = tokio::time::timeout(TEST_TIMEOUT, long.frame()).await;
            assert!(
                frame.expect("in time").expect("a frame").is_ok(),
                "{accepted}"
            );
        }
    }
}

#[tokio::test]
async fn a_client_has_no_more_than_its_places() {
    let site = site(SparqlLimits {
        concurrent_of_client: 0,
        ..limits()
    });
    for format in ["json", "html"] {
        let mut request = get("ASK {}", format);
        request
            .extensions_mut()
            .insert(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 1))));
        let refused = site.begin(request).await;
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["retry-after"]),
            (429, &"5".parse().expect("text"))
        );
        assert!(
            read(refused)
                .await
                .expect("a body")
                .0
                .contains("of this client")
        );
    }
    assert_eq!(
        site.begin(get("ASK {}", "json")).await.status(),
        200,
        "who is no client of the network is not counted"
    );
}
