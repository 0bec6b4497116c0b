//! Tests of the client with servers on loopback that imitate endpoints.

use super::*;
use crate::egress::tests::server::{Received, Server, TEST_TIMEOUT, answer};
use crate::egress::{EgressFault, EgressPolicy};
use oxrdf::{Literal, Term};
use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::channel;
use std::thread;

const QUERY: &str = "SELECT * { ?s ?p ?o }";
const JSON_TYPE: &str = "Content-Type: application/sparql-results+json\r\n";
const XML_TYPE: &str = "Content-Type: application/sparql-results+xml\r\n";
const JSON: &str = r#"{"head": {"vars": ["a", "b"]}, "results": {"bindings": [
    {"a": {"type": "uri", "value": "http://e.org/1"}, "b": {"type": "literal", "value": "one", "xml:lang": "en"}},
    {"a": {"type": "bnode", "value": "x"}}
]}}"#;
const XML: &str = r#"<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#">
    <head><variable name="a"/><variable name="b"/></head><results>
    <result><binding name="a"><uri>http://e.org/1</uri></binding>
    <binding name="b"><literal xml:lang="en">one</literal></binding></result>
    <result><binding name="a"><bnode>x</bnode></binding></result></results></sparql>"#;

fn client_with(options: ClientOptions) -> SparqlClient {
    let policy = EgressPolicy {
        listed: Vec::new(),
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    };
    client_of(policy, options, &[])
}

fn client_of(
    mut policy: EgressPolicy,
    options: ClientOptions,
    servers: &[&Server],
) -> SparqlClient {
    policy.listed.extend(
        servers
            .iter()
            .map(|server| server.iri("/").parse().expect("a prefix")),
    );
    SparqlClient::new(Arc::new(Egress::new(policy)), options)
}

/// Returns options with short delays.
fn hasty() -> ClientOptions {
    ClientOptions {
        back_off: [10, 20].map(Duration::from_millis).to_vec(),
        ..ClientOptions::default()
    }
}

/// Creates a client whose policy allows the server.
fn client(server: &Server, options: ClientOptions) -> SparqlClient {
    let policy = EgressPolicy {
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    };
    client_of(policy, options, &[server])
}

fn endpoint(server: &Server) -> NamedNode {
    NamedNode::new(server.iri("/sparql")).expect("an IRI")
}

type Row = Vec<Option<Term>>;

fn rows(
    client: &SparqlClient,
    server: &Server,
    options: &CallOptions,
) -> Result<Vec<Row>, RemoteError> {
    let solutions = client.select(endpoint(server).as_ref(), QUERY, options)?;
    solutions
        .map(|row| row.map(|row| row.values().to_vec()))
        .collect()
}

fn asked(server: &Server) -> Result<Vec<Row>, RemoteError> {
    rows(&client(server, hasty()), server, &CallOptions::default())
}

fn json(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", JSON_TYPE, body)
}

/// Returns JSON results with `count` rows.
fn numbers(count: usize) -> String {
    let rows: Vec<String> = (0..count)
        .map(|n| format!(r#"{{"n": {{"type": "literal", "value": "{n}"}}}}"#))
        .collect();
    format!(
        r#"{{"head": {{"vars": ["n"]}}, "results": {{"bindings": [{}]}}}}"#,
        rows.join(",")
    )
}

fn is_expected(rows: &[Row]) -> bool {
    let literal = Literal::new_language_tagged_literal_unchecked("one", "en").into();
    let first = vec![
        Some(NamedNode::new_unchecked("http://e.org/1").into()),
        Some(literal),
    ];
    rows.len() == 2 && rows[0] == first && matches!(rows[1][..], [Some(Term::BlankNode(_)), None])
}

#[test]
fn the_query_is_sent_as_the_protocol_says() {
    let server = Server::constant(json(JSON));
    assert!(is_expected(&asked(&server).expect("rows")));
    let Received {
        method, path, body, ..
    } = &server.received()[0];
    assert_eq!((&**method, &**path), ("POST", "/sparql"));
    assert_eq!(body, "query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D");
    let received = &server.received()[0];
    for (name, value) in [
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", RESULTS_ACCEPT[0]),
        ("accept-encoding", "gzip"),
    ] {
        assert_eq!(received.header(name), Some(value));
    }
}

#[test]
fn the_first_character_tells_the_format() {
    let gzipped = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(JSON.as_bytes()).expect("in memory");
        encoder.finish().expect("in memory")
    };
    for reply in [
        json(JSON),
        answer("200 OK", XML_TYPE, XML),
        answer("200 OK", XML_TYPE, JSON),
        answer("200 OK", JSON_TYPE, XML),
        answer("200 OK", "", JSON),
        answer("206 Partial", "Content-Type: text/plain\r\n", JSON),
        answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", XML),
        json(format!("\u{feff}\r\n  {JSON}")),
        json(format!("{}{XML}", " ".repeat(2000))),
        answer(
            "200 OK",
            &format!("{JSON_TYPE}Content-Encoding: gzip\r\n"),
            gzipped,
        ),
    ] {
        let server = Server::constant(reply.clone());
        let rows = asked(&server)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&reply)));
        assert!(is_expected(&rows), "{rows:?}");
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn json_that_cannot_be_read_is_asked_for_in_xml() {
    for broken in [
        r#"{"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "uri", "value": "#,
        "{]",
    ] {
        let server = Server::in_turn(vec![json(broken), answer("200 OK", XML_TYPE, XML)]);
        assert!(is_expected(&asked(&server).expect("rows")));
        let accepts: Vec<_> = server
            .received()
            .iter()
            .map(|request| request.header("accept").map(str::to_owned))
            .collect();
        assert_eq!(
            accepts,
            RESULTS_ACCEPT
                .iter()
                .map(|accept| Some((*accept).to_owned()))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn what_no_format_saves_is_reported_as_it_came_first() {
    let server = Server::in_turn(vec![
        json("{\"head\":\u{7}\n oops"),
        answer("406 Not Acceptable", "", "no XML"),
    ]);
    let error = asked(&server).expect_err("unreadable");
    assert_eq!(error.kind(), FailureKind::Unreadable);
    assert!(error.to_string().ends_with("{\"head\": oops"), "{error}");
    assert_eq!(server.received().len(), 2);
}

#[test]
fn half_an_answer_is_an_error_and_no_end() {
    let cut = |text: &'static str, before: &str| &text[..text.rfind(before).expect("there")];
    for reply in [
        json(cut(JSON, "bnode")),
        json(cut(JSON, r#"{"a": {"type": "bnode"#)),
        json(cut(JSON, "]")),
        json(cut(JSON, "}")),
        answer("200 OK", XML_TYPE, cut(XML, "<bnode>")),
        answer("200 OK", XML_TYPE, cut(XML, "<result>")),
        answer("200 OK", XML_TYPE, cut(XML, "</results>")),
        answer("200 OK", XML_TYPE, cut(XML, "</sparql>")),
    ] {
        let server = Server::constant(reply);
        let client = client(&server, hasty());
        let mut solutions = client
            .select(endpoint(&server).as_ref(), QUERY, &CallOptions::default())
            .expect("a first row");
        assert!(solutions.next().expect("a row").is_ok());
        let error = solutions
            .find_map(Result::err)
            .expect("an error at the end");
        assert_eq!(error.kind(), FailureKind::Unreadable, "{error}");
        assert!(solutions.next().is_none());
        assert_eq!(
            server.received().len(),
            1,
            "no second attempt once a row was handed out"
        );
    }
}

#[test]
fn a_connection_that_breaks_is_an_error() {
    let cut = JSON.find("bnode").expect("there");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}",
        JSON.len(),
        &JSON[..cut]
    );
    let server = Server::constant(head);
    let error = asked(&server).expect_err("broken");
    assert_eq!(error.kind(), FailureKind::Connection, "{error}");
}

#[test]
fn rows_are_handed_out_before_the_answer_ends() {
    let (receipt, received) = channel();
    let received = Mutex::new(received);
    let server = Server::start(move |_, _, stream| {
        let (now, later) = JSON.split_at(JSON.find(r#"{"a": {"type": "bnode""#).expect("there"));
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok();
        stream.write_all(now.as_bytes()).ok();
        // The rest follows when the first row was received.
        if received
            .lock()
            .expect("no panic")
            .recv_timeout(TEST_TIMEOUT)
            .is_ok()
        {
            stream.write_all(later.as_bytes()).ok();
        }
    });
    let client = client(&server, hasty());
    let options = CallOptions {
        time: 2 * TEST_TIMEOUT,
        ..CallOptions::default()
    };
    let mut solutions = client
        .select(endpoint(&server).as_ref(), QUERY, &options)
        .expect("rows");
    assert!(solutions.next().expect("a row").is_ok());
    receipt.send(()).expect("the server waits");
    assert_eq!(solutions.filter(Result::is_ok).count(), 1);
}

#[test]
fn get_takes_over_where_post_is_refused() {
    for status in ["405 Method Not Allowed", "501 Not Implemented"] {
        let server = Server::start(move |_, request, stream| {
            let reply = if request.method == "GET" {
                json(JSON)
            } else {
                answer(status, "", "GET only")
            };
            stream.write_all(&reply).ok();
        });
        let client = client(&server, hasty());
        for _ in 0..2 {
            assert!(is_expected(
                &rows(&client, &server, &CallOptions::default()).expect("rows")
            ));
        }
        let received: Vec<_> = server
            .received()
            .into_iter()
            .map(|request| (request.method, request.path))
            .collect();
        let get = (
            "GET".to_owned(),
            "/sparql?query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D".to_owned(),
        );
        assert_eq!(
            received,
            [("POST".to_owned(), "/sparql".to_owned()), get.clone(), get]
        );
        let long = format!("{QUERY} # {}", "x".repeat(MAX_GET_QUERY_BYTES));
        let error = client
            .select(endpoint(&server).as_ref(), &long, &CallOptions::default())
            .expect_err("too long");
        assert_eq!(error.kind(), FailureKind::Status);
    }
}

#[test]
fn failures_are_told_apart() {
    for (status, kind, requests) in [
        ("400 Bad Request", FailureKind::Rejected, 1),
        ("401 Unauthorized", FailureKind::Status, 1),
        ("404 Not Found", FailureKind::Status, 1),
        ("413 Content Too Large", FailureKind::RequestTooLarge, 1),
        ("414 URI Too Long", FailureKind::RequestTooLarge, 1),
        (
            "431 Header Fields Too Large",
            FailureKind::RequestTooLarge,
            1,
        ),
        ("500 Internal Server Error", FailureKind::Status, 1),
        ("429 Too Many Requests", FailureKind::Busy, 3),
        ("502 Bad Gateway", FailureKind::Busy, 3),
        ("503 Service Unavailable", FailureKind::Busy, 3),
        ("504 Gateway Timeout", FailureKind::Busy, 3),
        ("200 OK", FailureKind::Unreadable, 1),
    ] {
        let server = Server::constant(answer(status, "", "Line 1:\n\u{1b}[2Jno such thing"));
        let error = asked(&server).expect_err("a failure");
        assert_eq!(
            (error.kind(), server.received().len()),
            (kind, requests),
            "{status}"
        );
        assert!(
            error.to_string().ends_with(": Line 1: [2Jno such thing"),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .starts_with(&format!("<{}>", server.iri("/sparql"))),
            "{error}"
        );
    }
}

#[test]
fn what_may_pass_is_tried_again() {
    let busy = answer("503 Service Unavailable", "", "starting");
    let server = Server::in_turn(vec![busy.clone(), Vec::new(), json(JSON)]);
    assert!(is_expected(&asked(&server).expect("rows at last")));
    assert_eq!(server.received().len(), 3);
}

#[test]
fn an_endpoint_is_asked_again_when_it_says() {
    let busy = |headers: &str| answer("429 Too Many Requests", headers, "");
    let seconds = "Retry-After: 1\r\n";
    let date =
        "Date: Sat, 21 Nov 2026 10:00:00 GMT\r\nRetry-After: Sat, 21 Nov 2026 10:00:01 GMT\r\n";
    for headers in [seconds, date] {
        let server = Server::in_turn(vec![busy(headers), json(JSON)]);
        let start = Instant::now();
        assert!(is_expected(&asked(&server).expect("rows")));
        assert!(
            start.elapsed() >= Duration::from_secs(1),
            "{headers}: {:?}",
            start.elapsed()
        );
    }
    let server = Server::constant(busy("Retry-After: 3600\r\n"));
    let start = Instant::now();
    let error = asked(&server).expect_err("too late");
    assert!(
        matches!(error, RemoteError::Busy { retry_after: Some(wait), .. } if wait.as_secs() == 3600)
    );
    assert!(start.elapsed() < TEST_TIMEOUT, "no wait that cannot help");
    assert_eq!(server.received().len(), 1);
}

#[test]
fn blank_nodes_of_two_answers_never_meet() {
    let twice = r#"{"head": {"vars": ["a", "b", "c"]}, "results": {"bindings": [
        {"a": {"type": "bnode", "value": "x"}, "b": {"type": "bnode", "value": "x"}, "c": {"type": "bnode", "value": "y"}}
    ]}}"#;
    let server = Server::constant(json(twice));
    let client = client(&server, hasty());
    let mut seen = HashSet::new();
    for _ in 0..3 {
        let rows = rows(&client, &server, &CallOptions::default()).expect("rows");
        assert_eq!(rows[0][0], rows[0][1]);
        assert_ne!(rows[0][0], rows[0][2]);
        seen.extend(rows[0].iter().flatten().cloned());
    }
    assert_eq!(seen.len(), 6);
    assert!(
        seen.iter()
            .all(|term| matches!(term, Term::BlankNode(node) if node.as_str().starts_with('b')))
    );
}

#[test]
fn limits_end_a_call_and_never_cut_it() {
    let server = Server::constant(json(numbers(1000)));
    let client = client(&server, hasty());
    let all = CallOptions {
        rows: 1000,
        ..CallOptions::default()
    };
    assert_eq!(
        rows(&client, &server, &all).expect("just so many").len(),
        1000
    );
    for (options, seen) in [
        (
            CallOptions {
                rows: 999,
                ..CallOptions::default()
            },
            999..=999,
        ),
        (
            CallOptions {
                rows: 0,
                ..CallOptions::default()
            },
            0..=0,
        ),
        (
            CallOptions {
                bytes: 1000,
                ..CallOptions::default()
            },
            0..=30,
        ),
    ] {
        let error = rows(&client, &server, &options).expect_err("too much");
        assert_eq!(error.kind(), FailureKind::TooLong, "{error}");
        let solutions = client.select(endpoint(&server).as_ref(), QUERY, &options);
        let handed_out = match solutions {
            Ok(solutions) => solutions.filter(Result::is_ok).count(),
            Err(_) => 0,
        };
        assert!(seen.contains(&handed_out), "{handed_out}: {error}");
    }
}

#[test]
fn time_ends_a_call_wherever_it_is() {
    let begun = r#"{"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "literal", "value": "1"}},"#;
    for (head, kind) in [
        (String::new(), FailureKind::TimedOut),
        (
            format!("HTTP/1.1 200 OK\r\n\r\n{}", &begun[..20]),
            FailureKind::TimedOut,
        ),
        (
            format!("HTTP/1.1 200 OK\r\n\r\n{begun}"),
            FailureKind::TimedOut,
        ),
    ] {
        let server = Server::stalling(head);
        let options = CallOptions {
            time: Duration::from_millis(300),
            ..CallOptions::default()
        };
        let start = Instant::now();
        let error = rows(&client(&server, hasty()), &server, &options).expect_err("too slow");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(start.elapsed() < TEST_TIMEOUT);
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn a_call_is_given_up_while_it_waits_to_try_again() {
    let server = Server::constant(answer("503 Busy", "Retry-After: 600\r\n", ""));
    let start = Instant::now();
    let cancellation = Cancellation::from_fn(move || start.elapsed() > Duration::from_millis(200));
    let options = CallOptions {
        cancellation,
        time: 4 * TEST_TIMEOUT,
        ..CallOptions::default()
    };
    let error = rows(&client(&server, hasty()), &server, &options).expect_err("given up");
    assert_eq!(error.kind(), FailureKind::Cancelled);
    assert!(start.elapsed() < TEST_TIMEOUT);
}

#[test]
fn the_policy_is_asked_first() {
    let server = Server::constant(json(JSON));
    let client = client_with(ClientOptions::default());
    let error = rows(&client, &server, &CallOptions::default()).expect_err("not listed");
    assert!(matches!(&error, RemoteError::Egress(error) if error.fault == EgressFault::NotListed));
    assert_eq!(
        (
            error.kind(),
            server.received().len(),
            client.snapshot().len()
        ),
        (FailureKind::Refused, 0, 0)
    );
}

#[test]
fn a_long_iri_has_no_statistics() {
    let server = Server::constant(json(JSON));
    let client = client(&server, hasty());
    let long = NamedNode::new(server.iri(&format!("/{}", "a".repeat(1 << 20)))).expect("an IRI");
    let error = client
        .ask(long.as_ref(), "ASK {}", &CallOptions::default())
        .expect_err("too long");
    assert!(
        matches!(&error, RemoteError::Egress(error) if matches!(error.fault, EgressFault::IriTooLong(_)))
    );
    assert!(
        error.kind() == FailureKind::Refused && error.to_string().len() < 1000,
        "{error}"
    );
    assert!(client.snapshot().is_empty());
}

#[test]
fn an_endpoint_is_not_overrun() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, seen) = (Arc::clone(&running), Arc::clone(&most));
    let server = Server::start(move |_, _, stream| {
        seen.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(50));
        inside.fetch_sub(1, Ordering::SeqCst);
        stream.write_all(&json(JSON)).ok();
    });
    let client = client(
        &server,
        ClientOptions {
            concurrent: 3,
            ..hasty()
        },
    );
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| assert!(rows(&client, &server, &CallOptions::default()).is_ok()));
        }
    });
    assert_eq!(most.load(Ordering::SeqCst), 3);
    assert_eq!(
        (client.snapshot()[0].calls, server.received().len()),
        (12, 12)
    );
}

#[test]
fn endpoints_of_one_host_share_its_places() {
    let server = Server::constant(json(JSON));
    let client = client(
        &server,
        ClientOptions {
            concurrent: 1,
            ..hasty()
        },
    );
    let other = NamedNode::new(server.iri("/other/sparql")).expect("an IRI");
    let unread_rows = client
        .select(endpoint(&server).as_ref(), QUERY, &CallOptions::default())
        .expect("rows");
    let brief = CallOptions {
        time: Duration::from_millis(100),
        ..CallOptions::default()
    };
    let crowded = client
        .ask(other.as_ref(), "ASK {}", &brief)
        .expect_err("no place");
    assert_eq!(crowded.kind(), FailureKind::Crowded);
    drop(unread_rows);
    assert!(
        client
            .select(other.as_ref(), QUERY, &CallOptions::default())
            .is_ok()
    );
    assert_eq!(client.snapshot().len(), 2, "each has statistics of its own");
}

#[test]
fn rows_held_back_keep_their_place() {
    let server = Server::constant(json(JSON));
    let client = client(
        &server,
        ClientOptions {
            concurrent: 1,
            ..hasty()
        },
    );
    let unread_rows = client
        .select(endpoint(&server).as_ref(), QUERY, &CallOptions::default())
        .expect("rows");
    let brief = CallOptions {
        time: Duration::from_millis(100),
        ..CallOptions::default()
    };
    assert_eq!(
        rows(&client, &server, &brief).expect_err("no place").kind(),
        FailureKind::Crowded
    );
    drop(unread_rows);
    assert!(rows(&client, &server, &CallOptions::default()).is_ok());
}

#[test]
fn requests_keep_their_distance() {
    let server = Server::constant(json(JSON));
    let pause = Duration::from_millis(100);
    let client = client(&server, ClientOptions { pause, ..hasty() });
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(rows(&client, &server, &CallOptions::default()).is_ok()));
        }
    });
    assert!(start.elapsed() >= pause * 3, "{:?}", start.elapsed());
}

#[test]
fn statistics_tell_how_it_went() {
    let busy = answer("503 Busy", "", "busy");
    let wrong = answer("400 Bad Request", "", "parse error");
    let server = Server::in_turn(vec![busy, json(JSON), wrong, json(JSON)]);
    let client = client(&server, hasty());
    let options = CallOptions::default();
    assert!(rows(&client, &server, &options).is_ok());
    assert!(rows(&client, &server, &options).is_err());
    drop(
        client
            .select(endpoint(&server).as_ref(), QUERY, &options)
            .expect("rows nobody reads"),
    );
    let [statistics] = &client.snapshot()[..] else {
        panic!("one endpoint")
    };
    assert_eq!(statistics.endpoint, endpoint(&server));
    assert_eq!(
        (statistics.calls, statistics.requests, statistics.rows),
        (3, 4, 2)
    );
    assert_eq!(statistics.bytes, 2 * JSON.len() as u64);
    assert_eq!(statistics.failures, [(FailureKind::Rejected, 1)].into());
    let (failed, message) = statistics.last_error.as_ref().expect("a failure");
    assert!(
        message.ends_with("rejected the query: parse error"),
        "{message}"
    );
    assert!(
        statistics
            .last_success
            .is_some_and(|succeeded| succeeded > *failed)
    );
    assert!(
        statistics.max_time <= statistics.total_time
            && statistics.max_time >= Duration::from_millis(10)
    );
}

#[test]
fn yes_or_no() {
    let yes = r#"{"head": {}, "boolean": true}"#;
    let no = r#"<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><boolean>false</boolean></sparql>"#;
    for (reply, expected) in [(json(yes), true), (answer("200 OK", XML_TYPE, no), false)] {
        let server = Server::constant(reply);
        let client = client(&server, hasty());
        let ask = || {
            client.ask(
                endpoint(&server).as_ref(),
                "ASK {}",
                &CallOptions::default(),
            )
        };
        assert_eq!(ask().expect("an answer"), expected);
        let error = rows(&client, &server, &CallOptions::default()).expect_err("no rows");
        assert_eq!(error.kind(), FailureKind::Unreadable);
    }
}

fn constructed(reply: Vec<u8>, options: &CallOptions) -> Result<RemoteGraph, RemoteError> {
    let server = Server::constant(reply);
    client(&server, hasty()).construct(
        endpoint(&server).as_ref(),
        "CONSTRUCT WHERE { ?s ?p ?o }",
        options,
    )
}

#[test]
fn graphs_are_read_in_any_syntax() {
    let options = CallOptions::default();
    let turtle = "@prefix e: <http://e.org/> . e:a e:p e:b , _:x . _:x e:p 1 .";
    let lines = "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n<http://e.org/a> <http://e.org/p> _:x .\n\
                 <http://e.org/a> <http://e.org/p> <b c> .\n_:x <http://e.org/p> \"1\" .\n";
    for (media_type, body, skipped) in [
        ("text/turtle", turtle, 0),
        ("text/plain", turtle, 0),
        ("application/n-triples", lines, 1),
    ] {
        let reply = answer("200 OK", &format!("Content-Type: {media_type}\r\n"), body);
        let graph = constructed(reply, &options).expect("a graph");
        assert_eq!(
            (graph.triples.len(), graph.skipped),
            (3, skipped),
            "{media_type}"
        );
        let blank = graph
            .triples
            .iter()
            .find_map(|triple| match &triple.object {
                Term::BlankNode(node) => Some(node.clone()),
                _ => None,
            });
        let blank = blank.expect("an object");
        assert!(
            blank.as_str().starts_with('b')
                && graph
                    .triples
                    .iter()
                    .any(|triple| triple.subject == blank.clone().into())
        );
    }
    let empty = constructed(
        answer("200 OK", "Content-Type: application/n-triples\r\n", ""),
        &options,
    );
    assert_eq!(empty.expect("nothing"), RemoteGraph::default());
}

#[test]
fn a_graph_is_whole_or_an_error() {
    let line = "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n";
    let reply = answer(
        "200 OK",
        "Content-Type: application/n-triples\r\n",
        line.repeat(10_000),
    );
    for (options, kind) in [
        (
            CallOptions {
                rows: 9_999,
                ..CallOptions::default()
            },
            FailureKind::TooLong,
        ),
        (
            CallOptions {
                bytes: 1000,
                ..CallOptions::default()
            },
            FailureKind::TooLong,
        ),
    ] {
        assert_eq!(
            constructed(reply.clone(), &options)
                .expect_err("too long")
                .kind(),
            kind
        );
    }
    let all = CallOptions {
        rows: 10_000,
        ..CallOptions::default()
    };
    assert_eq!(
        constructed(reply, &all)
            .expect("just so many")
            .triples
            .len(),
        10_000
    );
    let cut = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/n-triples\r\nContent-Length: 999\r\n\r\n{line}"
    );
    assert_eq!(
        constructed(cut.into(), &all).expect_err("broken").kind(),
        FailureKind::Connection
    );
    let page = answer(
        "200 OK",
        "Content-Type: text/html\r\n",
        "<!DOCTYPE html><html><p>Error 37000</html>",
    );
    let error = constructed(page, &all).expect_err("a page");
    assert_eq!(error.kind(), FailureKind::Unreadable);
    assert!(error.to_string().contains("Error 37000"), "{error}");
}

#[test]
fn endpoints_are_forgotten_when_there_are_too_many() {
    let mut endpoints = FxHashMap::default();
    for number in 0..3 {
        let iri = NamedNode::new_unchecked(format!("http://e.org/{number}"));
        let endpoint = Endpoint::new(iri.clone(), endpoints.values());
        endpoint.last_use.store(number, Ordering::Relaxed);
        endpoints.insert(iri, Arc::new(endpoint));
    }
    let used = Arc::clone(&endpoints[&NamedNode::new_unchecked("http://e.org/0")]);
    evict_one(&mut endpoints);
    let left: BTreeSet<_> = endpoints.keys().map(NamedNode::as_str).collect();
    assert_eq!(left, ["http://e.org/0", "http://e.org/2"].into());
    drop(used);
}
