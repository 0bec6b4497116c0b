//! The operator's routes and their access rule.

use super::http::Site;
use super::support::{Home, copy_of_testdata, limits, testdata};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lodeseek_catalog::Catalog;
use lodeseek_server::{AppState, Operators, Proxies, app};
use lodeseek_store::{LoadOptions, Loader, Stamp};
use oxrdf::NamedNode;
use std::fs;
use std::net::SocketAddr;

const PATHS: [&str; 3] = ["/operator", "/api/operator", "/metrics"];

fn site(operators: Operators, proxies: Proxies) -> Site {
    let (state, folder): (AppState, _) =
        Home::from_catalog(&testdata("catalog.ttl")).state(limits());
    let state = state
        .with_proxies(proxies)
        .with_operators(operators)
        .expect("counters");
    Site::behind(app(state), folder)
}

fn request(path: &str, peer: [u8; 4], headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Body::empty()).expect("a request");
    request
        .extensions_mut()
        .insert(ConnectInfo(SocketAddr::from((peer, 1))));
    request
}

const HERE: [u8; 4] = [127, 0, 0, 1];

#[tokio::test]
async fn without_a_token_it_is_for_this_machine_alone() {
    let site = site(Operators::default(), Proxies::default());
    let elsewhere: [(_, &[(&str, &str)], u16); 18] = [
        (HERE, &[("host", "localhost:7878")], 200),
        (HERE, &[("host", "127.0.0.1")], 200),
        (HERE, &[("host", "[::1]:7878")], 200),
        (HERE, &[("host", "LOCALHOST.:7878")], 200),
        (
            HERE,
            &[("host", "localhost"), ("x-real-ip", "192.0.2.7")],
            403,
        ),
        // A name that was made to point here, as a page elsewhere may do.
        (HERE, &[("host", "attacker.example")], 403),
        (HERE, &[("host", "localhost.attacker.example")], 403),
        (HERE, &[("host", "127.0.0.1.attacker.example")], 403),
        (HERE, &[("host", "user@localhost")], 400),
        (HERE, &[("host", "localhost"), ("host", "localhost")], 400),
        (
            HERE,
            &[("host", "localhost"), ("sec-fetch-site", "cross-site")],
            403,
        ),
        (
            HERE,
            &[("host", "localhost"), ("sec-fetch-site", "same-site")],
            403,
        ),
        (
            HERE,
            &[("host", "localhost"), ("sec-fetch-site", "same-origin")],
            200,
        ),
        (
            HERE,
            &[("host", "localhost"), ("sec-fetch-site", "none")],
            200,
        ),
        (HERE, &[], 403),
        (
            HERE,
            &[("host", "localhost"), ("x-forwarded-for", "192.0.2.7")],
            403,
        ),
        (HERE, &[("host", "localhost"), ("via", "1.1 proxy")], 403),
        ([192, 0, 2, 7], &[("host", "localhost")], 403),
    ];
    for path in PATHS {
        for (peer, headers, expected) in elsewhere {
            let reply = site.send(request(path, peer, headers)).await;
            assert_eq!(reply.status, expected, "{path} {peer:?} {headers:?}");
            assert_eq!(
                reply.header("access-control-allow-origin"),
                "",
                "no page of another site reads {path}"
            );
            assert_eq!(
                reply.header("cache-control") == "no-store",
                expected == 200,
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn a_local_server_is_read_by_local_pages_only() {
    let site = |address: &str, proxies: Proxies| {
        let (state, folder) = Home::from_catalog(&testdata("catalog.ttl")).state(limits());
        let address: SocketAddr = address.parse().expect("an address");
        Site::behind(app(state.with_proxies(proxies).at(address)), folder)
    };
    let proxies = || Proxies::new(&[[10, 0, 0, 1].into()]);
    for (address, proxies, origin, expected) in [
        (
            "127.0.0.1:7878",
            Proxies::default(),
            "https://attacker.example",
            "",
        ),
        ("127.0.0.1:7878", Proxies::default(), "null", ""),
        (
            "127.0.0.1:7878",
            Proxies::default(),
            "http://localhost:3000",
            "http://localhost:3000",
        ),
        ("127.0.0.1:7878", proxies(), "https://notebook.example", "*"),
        (
            "192.0.2.1:7878",
            Proxies::default(),
            "https://notebook.example",
            "*",
        ),
    ] {
        let site = site(address, proxies);
        for path in ["/api/search?q=tree", "/sparql?query=ASK%7B%7D"] {
            let reply = site.send(request(path, HERE, &[("origin", origin)])).await;
            assert_eq!(
                (
                    reply.status.as_u16(),
                    reply.header("access-control-allow-origin")
                ),
                (200, expected),
                "{address} {origin}"
            );
        }
    }
}

#[tokio::test]
async fn with_a_token_it_is_for_who_knows_it_and_nobody_else() {
    let token = "correct horse battery";
    let site = site(Operators::with_token(token), Proxies::default());
    let basic = |user: &str, password: &str| {
        format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
    };
    let bearer = format!("Bearer {token}");
    for (said, expected) in [
        (bearer.as_str(), 200),
        (&basic("prometheus", token), 200),
        (&basic("", token), 200),
        ("Bearer wrong", 401),
        (&basic(token, "wrong"), 401),
        ("Basic !!!", 401),
        ("", 401),
    ] {
        for path in PATHS {
            let reply = site
                .send(request(path, [192, 0, 2, 7], &[("authorization", said)]))
                .await;
            assert_eq!(reply.status, expected, "{path} {said}");
            assert_eq!(
                reply.header("www-authenticate").starts_with("Basic realm"),
                expected == 401
            );
        }
    }
    let here = site
        .send(request("/metrics", HERE, &[("host", "localhost")]))
        .await;
    assert_eq!(
        here.status, 401,
        "a proxy on this machine makes everybody local"
    );
}

#[tokio::test]
async fn requests_are_counted_by_their_route() {
    let site = site(Operators::default(), Proxies::default());
    for path in [
        "/api/search?q=tree",
        "/api/search?q=rain",
        "/api/search",
        "/dataset/none",
        "/a/made/up/path",
        "/healthz",
    ] {
        site.send(request(path, HERE, &[])).await;
    }
    let here = [("host", "localhost")];
    let told = site
        .send(request("/api/operator", HERE, &here))
        .await
        .json();
    let routes = told["routes"].as_array().expect("routes");
    let row = |route: &str| {
        routes
            .iter()
            .find(|row| row["route"] == route)
            .unwrap_or_else(|| panic!("{route}: {told}"))
    };
    let counts =
        |route: &str| ["requests", "refused", "failed"].map(|key| row(route)[key].as_u64());
    assert_eq!(counts("/api/search"), [Some(3), Some(1), Some(0)]);
    assert_eq!(counts("/dataset/{id}"), [Some(1), Some(1), Some(0)]);
    assert_eq!(
        counts("none"),
        [Some(1), Some(1), Some(0)],
        "what people make up is no label"
    );
    assert!(
        row("/healthz")["milliseconds"]["p99"]
            .as_f64()
            .is_some_and(|time| time > 0.0),
        "{told}"
    );
    let datasets = told["datasets"].as_u64().expect("a number");
    assert!(
        datasets > 0 && told["indexedAt"].as_u64() >= Some(1_700_000_000),
        "{told}"
    );

    let reply = site.send(request("/metrics", HERE, &here)).await;
    assert_eq!(reply.header("content-type"), "text/plain; version=0.0.4");
    for line in [
        "lodeseek_http_requests_total{method=\"GET\",route=\"/api/search\",status=\"200\"} 2",
        "lodeseek_http_request_duration_seconds_count{route=\"/api/search\"} 3",
        "lodeseek_http_requests_in_flight 1",
        &format!("lodeseek_datasets {datasets}"),
    ] {
        assert!(
            reply.body.lines().any(|told| told == line),
            "{line}: {}",
            reply.body
        );
    }
    let page = site.send(request("/operator", HERE, &here)).await;
    assert!(
        page.body.contains("<code>/dataset/{id}</code>") && page.body.contains("Server status"),
        "{}",
        page.body
    );
}

/// A dump with a broken statement, and one that is gone.
#[tokio::test]
async fn loads_are_told_with_what_was_wrong() {
    let data = copy_of_testdata();
    let soils = data.path().join("dumps/soils.ttl");
    let text =
        fs::read_to_string(&soils).expect("readable") + "\n<http://e.org/a> unknown:prefix 1 .\n";
    fs::write(&soils, text).expect("written");
    fs::remove_file(data.path().join("dumps/boreholes.rdf")).expect("removed");
    let home = Home::new();
    let stamp = Stamp {
        now: Some("2024-05-06T07:08:09Z".parse().expect("a time")),
        origin: Some(NamedNode::new_unchecked("https://data.example.org/catalog")),
    };
    let catalog = Catalog::read(&data.path().join("catalog.ttl")).expect("a catalogue");
    let options = LoadOptions {
        stamp,
        ..LoadOptions::default()
    };
    let report = Loader::new(&home.store)
        .with_options(options)
        .load(catalog, &|_| ())
        .expect("loaded");
    home.index();
    let (state, folder) = home.state(limits());
    let site = Site::behind(
        app(state
            .with_operators(Operators::default())
            .expect("counters")),
        folder,
    );

    let here = [("host", "localhost")];
    let told = site
        .send(request("/api/operator", HERE, &here))
        .await
        .json();
    let [load] = told["loads"].as_array().expect("loads").as_slice() else {
        panic!("{told}")
    };
    assert_eq!(
        (&load["time"], &load["datasets"]),
        (&1_714_979_289.into(), &report.datasets.len().into())
    );
    assert_eq!(
        (&load["withFailures"], &load["triples"]),
        (&1.into(), &report.triples().into())
    );
    assert_eq!(load["withProblems"], report.with_problems().count());
    assert_eq!(load["origin"], "https://data.example.org/catalog");
    let first = &load["listed"][0];
    assert_eq!(
        (&first["dataset"], &first["outcome"]),
        (&"boreholes".into(), &"metadata-only".into()),
        "{first}"
    );
    assert!(
        first["firstProblem"]
            .as_str()
            .is_some_and(|told| told.starts_with("dumps/boreholes.rdf: ")),
        "{first}"
    );
    let soils = load["listed"]
        .as_array()
        .expect("datasets")
        .iter()
        .find(|one| one["dataset"] == "soil-types");
    let soils = soils.expect("those with problems come before the others");
    assert_eq!(
        (&soils["failures"], soils["problems"].as_u64() >= Some(1)),
        (&0.into(), true),
        "{soils}"
    );
    let skipped = report
        .datasets
        .iter()
        .filter(|dataset| dataset.skipped > 0)
        .count();
    assert!(skipped > 0);
    assert_eq!(told["datasetsWithSkippedStatements"], skipped);

    let page = site.send(request("/operator", HERE, &here)).await;
    for shown in [
        "The last loads with changes",
        "href=\"/dataset/boreholes\"",
        "https://data.example.org/catalog",
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
}

#[tokio::test]
async fn who_counts_nothing_shows_nothing() {
    let site = Site::testdata();
    for path in PATHS {
        assert_eq!(
            site.send(request(path, HERE, &[("host", "localhost")]))
                .await
                .status,
            404,
            "{path}"
        );
    }
}
