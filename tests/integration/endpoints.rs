//! `SERVICE` over HTTP: the W3C's tests with real endpoints, and attacks by and on endpoints.

use super::http::Site;
use super::protocol::{MF, Manifest, QT, w3c};
use super::support::{Home, isolated, limits, testdata};
use axum::Router;
use lodeseek_net::egress::{Egress, EgressPolicy, OtherHosts};
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use lodeseek_server::{AppState, app};
use lodeseek_sparql::SparqlLimits;
use oxrdf::Term;
use sparesults::{QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const DATASET: &str = "http://localhost:7878/dataset/data";

fn client(policy: EgressPolicy) -> Arc<SparqlClient> {
    let options = ClientOptions {
        back_off: Vec::new(),
        ..ClientOptions::default()
    };
    Arc::new(SparqlClient::new(Arc::new(Egress::new(policy)), options))
}

/// Loopback alone, as far as it is listed.
fn local(listed: &[String]) -> EgressPolicy {
    EgressPolicy {
        listed: listed
            .iter()
            .map(|prefix| prefix.parse().expect("a prefix"))
            .collect(),
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    }
}

/// A home whose one dataset holds some Turtle, asking with a client.
fn served(turtle: &str, client: Arc<SparqlClient>, limits: SparqlLimits) -> (Router, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("data.ttl"), turtle).expect("written");
    let catalog = folder.path().join("datasets.json");
    fs::write(
        &catalog,
        r#"[{"dataset_id": "data", "title": "data", "download": ["data.ttl"]}]"#,
    )
    .expect("written");
    let home = Home::from_catalog(&catalog);
    let searcher = home.searcher();
    let (store, folder) = (Arc::clone(&home.store), home.into_folder());
    let store = Arc::into_inner(store).expect("nobody else holds the store");
    let state = AppState::new(searcher, store, limits).with_endpoints(client);
    (app(isolated(state, folder.path())), folder)
}

/// An endpoint on loopback; it lasts as long as the runtime.
async fn endpoint(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        axum::serve(
            listener,
            app.into_make_service_with_connect_info::<SocketAddr>(),
        )
        .await
    });
    format!("http://{address}/sparql")
}

type Bag = BTreeMap<Vec<(String, String)>, usize>;

/// The rows of results, their variables by name; blank nodes are all alike.
fn bag(format: QueryResultsFormat, results: &[u8]) -> Bag {
    let parsed = QueryResultsParser::from_format(format)
        .for_slice(results)
        .expect("results");
    let SliceQueryResultsParserOutput::Solutions(solutions) = parsed else {
        panic!("no solutions")
    };
    let mut bag = Bag::new();
    for solution in solutions {
        let solution = solution.expect("a solution");
        let shown = |term: &Term| {
            if term.is_blank_node() {
                "_:".to_owned()
            } else {
                term.to_string()
            }
        };
        let mut row: Vec<(String, String)> = solution
            .iter()
            .map(|(variable, term)| (variable.as_str().to_owned(), shown(term)))
            .collect();
        row.sort();
        *bag.entry(row).or_default() += 1;
    }
    bag
}

/// The W3C's tests of federated queries, each with a server for every endpoint it names; those servers ask each other.
#[tokio::test(flavor = "multi_thread")]
async fn the_service_manifest() {
    let Some(folder) = w3c("service") else { return };
    let manifest = Manifest::read(&folder.join("manifest.ttl"));
    let mut passed = Vec::new();
    for (name, test) in manifest.entries() {
        let action = manifest
            .object(&test, &format!("{MF}action"))
            .expect("an action");
        let read = |file: Option<String>| {
            file.map(|file| fs::read_to_string(folder.join(file)).expect("readable"))
        };
        // The last endpoint starts first, so that one that nests another has its address.
        let mut names: Vec<(String, String)> = Vec::new();
        let mut folders = Vec::new();
        let mut services = manifest.objects(&action, &format!("{QT}serviceData"));
        services.sort_by_key(|service| {
            std::cmp::Reverse(
                manifest
                    .object(service, &format!("{QT}endpoint"))
                    .map(|term| term.to_string()),
            )
        });
        for service in services {
            let Some(Term::NamedNode(iri)) = manifest.object(&service, &format!("{QT}endpoint"))
            else {
                panic!()
            };
            let data = renamed(
                &read(manifest.file(&service, &format!("{QT}data"))).expect("data"),
                &names,
            );
            let (app, kept) = served(&data, client(local(&[ported(&names)])), limits());
            folders.push(kept);
            names.push((
                iri.into_string(),
                format!("{}?default-graph-uri={DATASET}", endpoint(app).await),
            ));
        }
        let here = renamed(
            &read(manifest.file(&action, &format!("{QT}data"))).unwrap_or_default(),
            &names,
        );
        let listed: Vec<String> = names
            .iter()
            .map(|(_, url)| url.split('?').next().expect("a path").to_owned())
            .collect();
        let (app, kept) = served(&here, client(local(&listed)), limits());
        let site = Site::behind(app, kept);
        let query = renamed(
            &read(manifest.file(&action, &format!("{QT}query"))).expect("a query"),
            &names,
        );
        let path = format!("/sparql?default-graph-uri={DATASET}&format=xml");
        let reply = site.post(&path, "application/sparql-query", &query).await;
        assert_eq!(reply.status, 200, "{name}: {}", reply.body);
        let expected = renamed(
            &read(manifest.file(&test, &format!("{MF}result"))).expect("a result"),
            &names,
        );
        let (found, expected) = (
            bag(QueryResultsFormat::Xml, reply.body.as_bytes()),
            bag(QueryResultsFormat::Xml, expected.as_bytes()),
        );
        assert_eq!(found, expected, "{name}: {query}");
        passed.push(name);
    }
    assert_eq!(passed.len(), 7, "{passed:?}");
}

/// The prefix of the last endpoint begun; one that nobody has where there is none.
fn ported(names: &[(String, String)]) -> String {
    let last = match names.last() {
        Some((_, url)) => url.as_str(),
        None => "http://127.0.0.1:9/",
    };
    last.split('?').next().expect("a path").to_owned()
}

fn renamed(text: &str, names: &[(String, String)]) -> String {
    names
        .iter()
        .fold(text.to_owned(), |text, (iri, url)| text.replace(iri, url))
}

/// Reply of a server: a head, a body that is sent some times with pauses, and an end.
#[derive(Clone, Copy)]
struct Repeated {
    head: &'static str,
    body: &'static str,
    times: usize,
    pause: Duration,
    end: &'static str,
}

/// A server that answers every request with the same bytes.
fn stub(reply: Repeated) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let mut request = [0; 8192];
                let _ = stream.read(&mut request);
                let mut sent = stream.write_all(reply.head.as_bytes());
                for _ in 0..reply.times {
                    thread::sleep(reply.pause);
                    sent = sent.and_then(|()| stream.write_all(reply.body.as_bytes()));
                    if sent.is_err() {
                        return;
                    }
                }
                let _ = stream.write_all(reply.end.as_bytes());
            });
        }
    });
    format!("http://{address}/sparql")
}

/// A server that answers every request with a head and a body, once.
fn once(head: &'static str, body: &'static str) -> String {
    stub(Repeated {
        head,
        body,
        times: 1,
        pause: Duration::ZERO,
        end: "",
    })
}

fn asking(service: &str) -> String {
    format!("SELECT * {{ SERVICE <{service}> {{ ?s ?p ?o }} }}")
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_inside_is_asked_for_a_stranger() {
    let open = EgressPolicy {
        others: OtherHosts::AnyPublic,
        ..EgressPolicy::default()
    };
    let inside = once(
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        r#"{"head":{"vars":[]},"results":{"bindings":[]}}"#,
    );
    let port = inside
        .split(':')
        .nth(2)
        .and_then(|rest| rest.split('/').next())
        .expect("a port")
        .to_owned();
    let (app, folder) = served(
        "<http://e.example/a> a <http://e.example/B> .",
        client(open),
        limits(),
    );
    let site = Site::behind(app, folder);
    for service in [
        inside.clone(),
        format!("http://localhost:{port}/sparql"),
        format!("http://LOCALHOST.:{port}/sparql"),
        format!("http://127.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.0.0.1:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://user@127.0.0.1:{port}/"),
        "http://10.0.0.1/sparql".to_owned(),
        "http://172.16.0.1/sparql".to_owned(),
        "http://192.168.1.1/sparql".to_owned(),
        "http://100.64.0.1/sparql".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[fd00:ec2::254]/".to_owned(),
        "http://[fe80::1]/".to_owned(),
        "http://[64:ff9b::7f00:1]/".to_owned(),
        "http://224.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "ftp://example.org/".to_owned(),
        "gopher://example.org/".to_owned(),
        "urn:uuid:00000000-0000-0000-0000-000000000000".to_owned(),
    ] {
        let reply = site
            .post("/sparql", "application/sparql-query", &asking(&service))
            .await;
        // A name of an inner address is reported like one that does not resolve.
        let named = service.to_ascii_lowercase().contains("localhost");
        assert!(
            reply.status == 403 || named && reply.status == 502,
            "{service}: {} {}",
            reply.status,
            reply.body
        );
        assert!(
            service.contains("127.") || !reply.body.contains("127."),
            "{}",
            reply.body
        );
    }
    let still = site
        .post("/sparql", "application/sparql-query", "ASK {}")
        .await;
    assert!(
        still.status.is_success(),
        "the server answers after all that"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_that_misbehave_are_bounded() {
    const ROW: &str = r#"{"s":{"type":"uri","value":"http://e.example/s"}},"#;
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\nConnection: close\r\n\r\n{\"head\":{\"vars\":[\"s\"]},\"results\":{\"bindings\":[";
    let attacks = [
        (
            "redirect to metadata",
            once(
                "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
                "",
            ),
            403,
        ),
        (
            "redirect to a file",
            once(
                "HTTP/1.1 302 Found\r\nLocation: file:///data.ttl\r\nContent-Length: 0\r\n\r\n",
                "",
            ),
            403,
        ),
        (
            "more rows than allowed",
            stub(Repeated {
                head: json,
                body: ROW,
                times: 600,
                pause: Duration::ZERO,
                end: "{}]}}",
            }),
            502,
        ),
        (
            "half a literal",
            once(json, "{\"s\":{\"type\":\"literal\",\"value\":\"xxxx"),
            502,
        ),
        (
            "no answer",
            stub(Repeated {
                head: "",
                body: "",
                times: 50,
                pause: Duration::from_millis(100),
                end: "",
            }),
            503,
        ),
        (
            "a byte now and then",
            stub(Repeated {
                head: json,
                body: " ",
                times: 100,
                pause: Duration::from_millis(50),
                end: "]}}",
            }),
            503,
        ),
        ("half an answer", once(json, ROW), 502),
        (
            "a page",
            once(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n",
                "<!DOCTYPE html><html><body>Hello</body></html>",
            ),
            502,
        ),
        (
            "an error",
            once("HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n", "it broke"),
            502,
        ),
    ];
    let listed: Vec<String> = attacks.iter().map(|(_, url, _)| url.clone()).collect();
    let bounds = SparqlLimits {
        deadline: Duration::from_secs(3),
        service_rows: 500,
        ..limits()
    };
    let (app, folder) = served(
        "<http://e.example/a> a <http://e.example/B> .",
        client(local(&listed)),
        bounds,
    );
    let site = Site::behind(app, folder);
    for (name, url, status) in attacks {
        let reply = site
            .post("/sparql", "application/sparql-query", &asking(&url))
            .await;
        assert_eq!(reply.status.as_u16(), status, "{name}: {}", reply.body);
        let silent = asking(&url).replace("SERVICE", "SERVICE SILENT");
        let others = site.get("/api/search?q=data").await;
        assert_eq!(others.status, 200, "{name}: {}", others.body);
        if status != 503 {
            let reply = site
                .post("/sparql", "application/sparql-query", &silent)
                .await;
            assert_eq!(reply.status, 200, "{name}: {}", reply.body);
            assert_eq!(
                reply.json()["results"]["bindings"].as_array().map(Vec::len),
                Some(1),
                "{name}: {}",
                reply.body
            );
        }
    }
    let statistics = site.get("/api/endpoints").await.json();
    assert!(
        statistics["endpoints"]
            .as_array()
            .is_some_and(|known| known.len() >= 8),
        "{statistics:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_say_who_answered_where_asked() {
    let (there, _kept) = served(
        "<http://e.example/a> <http://e.example/p> 1 .",
        client(EgressPolicy::default()),
        limits(),
    );
    let url = endpoint(there).await;
    let (app, folder) = served(
        "<http://e.example/a> a <http://e.example/B> .",
        client(local(std::slice::from_ref(&url))),
        limits(),
    );
    let site = Site::behind(app, folder);
    let service = format!("{url}?default-graph-uri={DATASET}");
    let query = format!(
        "SELECT ?o {{ ?s a <http://e.example/B> SERVICE <{service}> {{ ?s <http://e.example/p> ?o }} }}"
    );
    for (parameter, provenance) in [("", None), ("&provenance=true", Some(service.as_str()))] {
        let path = format!("/sparql?default-graph-uri={DATASET}{parameter}");
        let reply = site.post(&path, "application/sparql-query", &query).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        let row = &reply.json()["results"]["bindings"][0];
        assert_eq!(row["o"]["value"], "1");
        assert_eq!(
            row["provenance_1"]["value"].as_str(),
            provenance,
            "{}",
            reply.body
        );
    }
    let described = site.accept("/sparql", "text/turtle").await;
    assert!(
        described.body.contains("BasicFederatedQuery"),
        "{}",
        described.body
    );
    let closed = Site::from_catalog(&testdata("catalog.ttl"), limits())
        .accept("/sparql", "text/turtle")
        .await;
    assert!(
        !closed.body.contains("BasicFederatedQuery") && closed.body.contains("propertyFeature"),
        "{}",
        closed.body
    );
}
