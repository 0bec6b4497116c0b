//! Untrusted work in worker processes: the answers are the same, and an input that crashes, hangs or fills its process costs nobody
//! else anything.

use super::http::{Reply, Site, encoded};
use super::support::{
    Home, TEST_TIMEOUT, limits, open, program, run, start_query_workers, start_workers, testdata,
};
use axum::http::Method;
use lodeseek_net::egress::{Egress, EgressPolicy};
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use lodeseek_server::app;
use lodeseek_sparql::{Answer, QueryEngine, QueryRequest, SparqlLimits};
use oxrdf::Term;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A quick query that is not of bounded cost.
const PROBE: &str = "ASK { ?s ?p ?o . ?s ?q ?o }";
/// Rows that exceed the memory of the workers here, because all of them are held and sorted.
const GREEDY: &str = "SELECT DISTINCT * { { SELECT * { ?a ?b ?c } LIMIT 500 } { SELECT * { ?d ?e ?f } LIMIT 500 } } ORDER BY ?c";
/// Rows that are read for some seconds, in little memory.
const SLOW: &str = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c } LIMIT 4000 } { SELECT * { ?d ?e ?f } LIMIT 4000 } }";

/// The same with the rows of paths.
const SLOW_PATHS: &str = "SELECT (COUNT(*) AS ?n) { { SELECT * { GRAPH <http://localhost:7878/profiles> { ?a (<x:p>|!<x:p>)* ?b } } LIMIT 4000 } \
     { SELECT * { GRAPH <http://localhost:7878/profiles> { ?c (<x:p>|!<x:p>)* ?d } } LIMIT 4000 } }";

fn site_of(catalog: &Path, limits: SparqlLimits, memory_megabytes: u64) -> Site {
    let (state, folder) = Home::from_catalog(catalog).state(limits);
    let workers = start_workers(folder.path(), memory_megabytes);
    Site::behind(
        app(state.with_workers(workers).expect("a store on disk")),
        folder,
    )
}

fn site(limits: SparqlLimits, memory_megabytes: u64) -> Site {
    site_of(&testdata("catalog.ttl"), limits, memory_megabytes)
}

async fn ask(site: &Site, query: &str) -> Reply {
    site.get(&format!("/sparql?{}", encoded(&[("query", query)])))
        .await
}

/// Searches and queries of bounded cost, beside whatever runs.
async fn others_are_answered(site: &Site) {
    for path in [
        "/api/search?q=water",
        "/healthz",
        "/sparql?query=ASK%20%7B%7D",
    ] {
        let reply = site.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    }
}

/// Returns true if the permit of the expensive queries is free after a while.
async fn soon(site: &Site) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < TEST_TIMEOUT {
        if ask(site, PROBE).await.status == 200 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_return_the_answers_of_the_process() {
    let (here, elsewhere) = (Site::testdata(), site(limits(), 512));
    let dataset = "<http://localhost:7878/dataset/contracts>";
    for query in [
        "PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>
         SELECT ?d ?t { ?d a dcat:Dataset ; dct:title ?t OPTIONAL { ?d dct:creator ?c } } ORDER BY ?d ?t",
        "SELECT ?p (COUNT(DISTINCT ?o) AS ?n) { GRAPH ?g { ?s ?p ?o FILTER(ISIRI(?s)) } } GROUP BY ?p ORDER BY ?p",
        &format!(
            "SELECT ?p ?o {{ GRAPH {dataset} {{ ?s ?p ?o . ?s a ?c FILTER(!ISBLANK(?o)) }} }} ORDER BY ?p ?o LIMIT 50"
        ),
        &format!("SELECT (COUNT(*) AS ?n) FROM {dataset} {{ ?s ?p ?o FILTER(STRLEN(STR(?o)) > 3) }}"),
        // Statistics answer a part of it.
        "SELECT ?n ?m { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } { SELECT (COUNT(*) AS ?m) { ?a a ?b . ?a ?c ?d } } }",
        "PREFIX dct: <http://purl.org/dc/terms/> ASK { ?a dct:title ?t . ?a dct:description ?u FILTER(STRLEN(?t) > 1000000) }",
        PROBE,
    ] {
        let (expected, answer) = (ask(&here, query).await, ask(&elsewhere, query).await);
        assert_eq!(
            (expected.status, answer.status),
            (200.try_into().expect("a status"), expected.status),
            "{}",
            answer.body
        );
        assert_eq!(answer.json(), expected.json(), "{query}");
    }
    let construct =
        "CONSTRUCT { ?s <http://e.org/is> ?o } { ?s a ?o . ?s ?p ?v FILTER(ISIRI(?s)) }";
    let lines = |reply: Reply| {
        let mut lines: Vec<String> = reply.body.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let path = format!(
        "/sparql?{}",
        encoded(&[("query", construct), ("format", "nt")])
    );
    let expected = lines(here.get(&path).await);
    assert!(expected.len() > 10);
    assert_eq!(lines(elsewhere.get(&path).await), expected);
    let wrong = "SELECT * { ?a ?b ?c . ?c ?d ?e FILTER(<http://e.org/no-function>(?a)) }";
    assert_eq!(
        ask(&elsewhere, wrong).await.status,
        ask(&here, wrong).await.status,
        "errors keep their status"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_at_the_limit_of_memory_costs_nobody_else_anything() {
    let site = Arc::new(site(
        SparqlLimits {
            deadline: Duration::from_secs(120),
            ..limits()
        },
        64,
    ));
    // Equal queries would share one evaluation.
    let queries = (0..3).map(|number| {
        let (site, query) = (Arc::clone(&site), format!("{GREEDY} # {number}"));
        tokio::spawn(async move { ask(&site, &query).await })
    });
    let queries: Vec<_> = queries.collect();
    for _ in 0..10 {
        others_are_answered(&site).await;
    }
    for query in queries {
        let reply = query.await.expect("answered");
        assert_eq!(
            (reply.status.as_u16(), reply.header("retry-after")),
            (503, ""),
            "{}",
            reply.body
        );
        assert!(
            reply.body.contains("more than 64 MB of memory"),
            "{}",
            reply.body
        );
    }
    assert_eq!(ask(&site, PROBE).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_permit_is_free_after_the_deadline() {
    let deadline = Duration::from_secs(1);
    let site = site(
        SparqlLimits {
            deadline,
            concurrent: 1,
            waiting: 0,
            ..limits()
        },
        512,
    );
    assert_eq!(ask(&site, PROBE).await.status, 200);
    for query in [SLOW, SLOW_PATHS] {
        let reply = ask(&site, query).await;
        assert_eq!(reply.status, 503, "{}", reply.body);
        others_are_answered(&site).await;
        assert!(soon(&site).await, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_queries_share_one_evaluation() {
    let site = Arc::new(site(
        SparqlLimits {
            deadline: TEST_TIMEOUT,
            concurrent: 1,
            queue_timeout: Duration::from_millis(100),
            ..limits()
        },
        512,
    ));
    assert_eq!(ask(&site, PROBE).await.status, 200, "a worker runs");
    let query = SLOW.replace("4000", "2500");
    let begin = |query: String| {
        let site = Arc::clone(&site);
        tokio::spawn(async move { ask(&site, &query).await })
    };
    let first = begin(query.clone());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let second = begin(query.clone());
    // It has no permit, and depends on the time.
    let other = begin(format!("{query} HAVING (NOW() > 0 || COUNT(*) > 0)"));
    assert_eq!(other.await.expect("answered").status, 503);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!first.is_finished(), "the query takes longer");
    first.abort();
    let third = begin(query.clone());
    let second = second.await.expect("answered");
    assert_eq!(second.status, 200, "{}", second.body);
    assert_eq!(
        second.json()["results"]["bindings"][0]["n"]["value"],
        "6250000"
    );
    let third = third.await.expect("answered");
    assert_eq!((third.status, third.json()), (second.status, second.json()));
}

/// Returns the processes whose command line contains both texts.
pub(crate) fn processes(home: &Path, role: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        if line.contains(&*home.to_string_lossy()) && line.contains(role) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

pub(crate) fn kill(process: &str) {
    assert!(
        Command::new("kill")
            .args(["-9", process])
            .status()
            .expect("kill")
            .success()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_costs_its_own_query() {
    let (state, folder) = Home::from_catalog(&testdata("catalog.ttl")).state(limits());
    let workers = start_workers(folder.path(), 512);
    let home = folder.path().to_owned();
    let site = Arc::new(Site::behind(
        app(state.with_workers(workers).expect("a store on disk")),
        folder,
    ));
    assert_eq!(ask(&site, PROBE).await.status, 200);
    let query = tokio::spawn({
        let site = Arc::clone(&site);
        async move { ask(&site, SLOW).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let running = processes(&home, "queries");
    assert!(!running.is_empty());
    running.iter().for_each(|process| kill(process));
    let reply = query.await.expect("answered");
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert!(
        reply
            .body
            .contains("the worker process of this query failed"),
        "{}",
        reply.body
    );
    others_are_answered(&site).await;
    assert_eq!(ask(&site, PROBE).await.status, 200);
}

/// A server that answers every request with one row, after a time.
fn endpoint(pause: Duration) -> String {
    const BODY: &str = r#"{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"http://e.org/x"}}]}}"#;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 8192]);
                thread::sleep(pause);
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\nConnection: close\r\n\r\n";
                let _ = stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(BODY.as_bytes()));
            });
        }
    });
    format!("http://{address}/sparql")
}

/// Federated queries cost themselves only: one that fills its memory, one whose worker is killed, and one whose endpoint is slow.
#[tokio::test(flavor = "multi_thread")]
async fn a_federated_query_costs_itself_only() {
    let (quick, slow) = (endpoint(Duration::ZERO), endpoint(2 * TEST_TIMEOUT));
    let policy = EgressPolicy {
        listed: [&quick, &slow]
            .map(|url| url.parse().expect("a prefix"))
            .to_vec(),
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    };
    let client = Arc::new(SparqlClient::new(
        Arc::new(Egress::new(policy)),
        ClientOptions::default(),
    ));
    let bounds = SparqlLimits {
        deadline: 2 * TEST_TIMEOUT,
        ..limits()
    };
    let (state, folder) = Home::from_catalog(&testdata("catalog.ttl")).state(bounds);
    let home = folder.path().to_owned();
    let state = state
        .with_endpoints(client)
        .with_workers(start_workers(&home, 96))
        .expect("a store on disk");
    let site = Arc::new(Site::behind(app(state), folder));
    let joined = |service: &str, rest: &str| {
        format!("SELECT * {{ SERVICE <{service}> {{ ?x ?y ?z }} {rest} }}")
    };
    let small = ask(&site, &joined(&quick, "?d a ?c . ?d ?p ?o")).await;
    assert_eq!(small.status, 200, "{}", small.body);
    assert!(small.body.contains("http://e.org/x"), "{}", small.body);
    let rows = "{ SELECT * { ?a ?b ?c } LIMIT 600 } { SELECT * { ?d ?e ?f } LIMIT 600 }";
    let greedy = joined(&quick, rows) + " ORDER BY ?c";
    let greedy = tokio::spawn({
        let site = Arc::clone(&site);
        async move { ask(&site, &greedy).await }
    });
    others_are_answered(&site).await;
    let reply = greedy.await.expect("answered");
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert!(
        reply.body.contains("more than 96 MB of memory"),
        "{}",
        reply.body
    );
    let waiting = tokio::spawn({
        let (site, query) = (Arc::clone(&site), joined(&slow, "?a ?b ?c . ?c ?d ?e"));
        async move { ask(&site, &query).await }
    });
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let begun = Instant::now();
    let running = processes(&home, "queries");
    running.iter().for_each(|process| kill(process));
    let reply = waiting.await.expect("answered");
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert!(
        reply
            .body
            .contains("the worker process of this query failed"),
        "{}",
        reply.body
    );
    assert!(
        begun.elapsed() < TEST_TIMEOUT,
        "its request does not hold the query: {:?}",
        begun.elapsed()
    );
    others_are_answered(&site).await;
    let again = ask(&site, &joined(&quick, "?d a ?c . ?d ?p ?o")).await;
    assert_eq!(again.status, 200, "{}", again.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn examples_beyond_the_limits_are_refused() {
    let site = site(limits(), 20);
    let mut large = String::new();
    for number in 0..200_000 {
        let _ = writeln!(
            large,
            "<http://e.org/{number}> <http://e.org/p{}> \"text {number}\" .",
            number % 50
        );
    }
    let reply = site.post("/like", "application/n-triples", &large).await;
    assert_eq!(reply.status, 413, "{}", reply.body);
    assert!(
        reply.json()["error"]
            .as_str()
            .is_some_and(|error| error.contains("more than 20 MB of memory")),
        "{}",
        reply.body
    );
    others_are_answered(&site).await;
    let small = "<http://e.org/a> a <http://xmlns.com/foaf/0.1/Person> ; <http://e.org/p> 1 , broken:x , 2 .";
    let path = "/like?format=json";
    let reply = site
        .request(
            Method::POST,
            path,
            &[("content-type", "text/turtle")],
            small,
        )
        .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let here = Site::testdata()
        .request(
            Method::POST,
            path,
            &[("content-type", "text/turtle")],
            small,
        )
        .await;
    assert_eq!(reply.json(), here.json(), "as without workers");
    let nothing = site
        .post("/like?format=json", "text/turtle", "nothing")
        .await;
    assert_eq!(nothing.status, 400, "{}", nothing.body);
}

fn count(engine: &Arc<QueryEngine>) -> String {
    // The filter is why statistics do not answer it.
    let query = "PREFIX dcat: <http://www.w3.org/ns/dcat#> SELECT (COUNT(*) AS ?n) { ?d a dcat:Dataset FILTER(ISIRI(?d)) }";
    let request = QueryRequest {
        query: query.to_owned(),
        ..QueryRequest::default()
    };
    match engine.evaluate(&request, &limits()) {
        Ok(Answer::Solutions { rows, .. }) => match &rows[0][0] {
            Some(Term::Literal(number)) => number.value().to_owned(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn workers_see_what_was_written_last() {
    let home = Home::new();
    let pool = start_query_workers(home.path());
    let engine = QueryEngine::with_workers(Arc::clone(&home.store), pool).expect("a store on disk");
    assert_eq!(count(&engine), "0");
    home.load(&testdata("catalog.ttl"));
    let loaded = count(&engine);
    assert_ne!(loaded, "0");
    assert_eq!(count(&engine), loaded);
    let views = fs::read_dir(home.path().join("views"))
        .expect("views")
        .count();
    assert_eq!(views, 1, "old checkpoints are removed");
}

#[test]
fn workers_end_with_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        run(folder.path(), &["load", "testdata/catalog.ttl"]).code,
        Some(0)
    );
    assert_eq!(run(folder.path(), &["index"]).code, Some(0));
    drop(open(folder.path(), lodeseek_store::Access::Read, None).expect("a home"));
    for (setting, workers) in [("true", 2), ("false", 0)] {
        let mut serve = program(folder.path());
        serve
            .args(["serve", "--bind", "127.0.0.1:0"])
            .env("LODESEEK_SERVER_WORKERS", setting)
            .stderr(Stdio::piped());
        let mut serve = serve.spawn().expect("started");
        let mut log = BufReader::new(serve.stderr.take().expect("a log"));
        let mut lines = String::new();
        while !lines.contains("listening on") {
            assert!(log.read_line(&mut lines).expect("a line") > 0, "{lines}");
        }
        assert_eq!(
            lines.contains("without worker processes"),
            workers == 0,
            "{lines}"
        );
        assert_eq!(processes(folder.path(), "worker-process").len(), workers);
        kill(&serve.id().to_string());
        serve.wait().expect("ended");
        let begun = Instant::now();
        while !processes(folder.path(), "worker-process").is_empty() {
            assert!(
                begun.elapsed() < TEST_TIMEOUT,
                "a worker survived its server"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
