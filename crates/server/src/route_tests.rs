//! Promises of all routes: the names of the server, and the headers on which responses depend. The table of routes comes from the
//! sources, because axum does not list them: a new route is tested without an entry here.

use crate::AppState;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use lodeseek_catalog::{Catalog, Iris};
use lodeseek_engine::{IndexOptions, Indexer, Searcher};
use lodeseek_sparql::SparqlLimits;
use lodeseek_store::{Loader, Store};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tower::ServiceExt as _;

/// Returns the paths of all routers with their parameters in braces.
pub(crate) fn routes() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_routes(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    assert!(found.len() > 60, "{found:?}");
    found
}

fn collect_routes(place: &Path, found: &mut BTreeSet<String>) {
    if place.is_dir() {
        for entry in fs::read_dir(place).expect("a folder") {
            collect_routes(&entry.expect("an entry").path(), found);
        }
        return;
    }
    let name = place.file_name().expect("a name").to_string_lossy();
    if name.ends_with("tests.rs") || !name.ends_with(".rs") {
        return;
    }
    let text = fs::read_to_string(place).expect("a source file");
    let code = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    for call in [".route(", ".route_service("] {
        for rest in code.split(call).skip(1) {
            let argument = rest.trim_start();
            let path = match argument.strip_prefix('"') {
                Some(literal) => literal.split('"').next().unwrap_or_default(),
                None => constant(code, argument),
            };
            found.insert(path.to_owned());
        }
    }
}

/// Returns the text of the constant with which an argument begins.
fn constant<'c>(code: &'c str, argument: &str) -> &'c str {
    let name: String = argument
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let declaration = format!("const {name}: &str = \"");
    let value = code
        .split(declaration.as_str())
        .nth(1)
        .unwrap_or_else(|| panic!("the path of a route is neither a text nor a constant: {name}"));
    value.split('"').next().unwrap_or_default()
}

/// Returns an address of a route.
fn address(route: &str) -> String {
    let address = route
        .replace("{id}", "trees")
        .replace("{name}", "package_list")
        .replace("{part}", "1.xml")
        .replace("{job}", "1")
        .replace("{page}", "0");
    assert!(
        !address.contains('{'),
        "give the parameters of {route} a value"
    );
    address
}

fn site(change: impl FnOnce(AppState) -> AppState) -> (Router, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.ttl");
    let turtle = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . \
                  <http://e.org/trees> a dcat:Dataset ; dct:identifier \"trees\" ; dct:title \"Trees\" .";
    fs::write(&path, turtle).expect("written");
    let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
    let store = Store::in_memory(folder.path(), iris).expect("a store");
    Loader::new(&store)
        .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
        .expect("loaded");
    Indexer::new(&store, IndexOptions::default())
        .run(&|_| ())
        .expect("indexed");
    let searcher = Searcher::open(folder.path()).expect("an index");
    let state = AppState::new(searcher, store, SparqlLimits::default());
    (crate::app(change(state)), folder)
}

async fn send(
    site: &Router,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).expect("a request");
    let response = site.clone().oneshot(request).await.expect("a response");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    (parts.status, parts.headers, body.to_vec())
}

#[tokio::test]
async fn a_local_server_has_no_other_names() {
    let local = "127.0.0.1:7878".parse().expect("an address");
    let names = ["data.example.org".parse().expect("a name")];
    let url = "https://portal.example.org/".parse().expect("a URL");
    let (site, _folder) = site(|state| {
        state
            .with_host_names(&names)
            .with_public_url(Some(url))
            .at(local)
    });
    let other = "192.0.2.1:80".parse().expect("an address");
    let (public, _other) = self::site(|state| state.at(other));
    for route in routes() {
        let path = address(&route);
        for method in [
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::PUT,
            Method::DELETE,
            Method::OPTIONS,
        ] {
            let status = async |site: &Router, host: &str| {
                send(site, method.clone(), &path, &[("host", host)]).await.0
            };
            for host in [
                "evil.example",
                "evil.example:7878",
                "192.0.2.1",
                "localhost.evil.example",
            ] {
                let status = status(&site, host).await;
                assert_eq!(
                    status,
                    StatusCode::MISDIRECTED_REQUEST,
                    "{method} {path} {host}"
                );
            }
            for host in [
                "localhost:7878",
                "127.0.0.1",
                "[::1]:7878",
                "data.example.org",
                "portal.example.org",
            ] {
                let status = status(&site, host).await;
                assert_ne!(
                    status,
                    StatusCode::MISDIRECTED_REQUEST,
                    "{method} {path} {host}"
                );
            }
            let status = status(&public, "any.example").await;
            assert_ne!(status, StatusCode::MISDIRECTED_REQUEST, "{method} {path}");
        }
    }
    let (status, _, body) = send(&site, Method::GET, "/", &[("host", "evil.example")]).await;
    let body = String::from_utf8_lossy(&body).into_owned();
    assert!(status == 421 && body.contains("--allowed-host"), "{body}");
}

/// Returns the parts of a response that content negotiation chooses.
fn choice(status: StatusCode, headers: &HeaderMap) -> (u16, String, String) {
    let text = |name| {
        headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .unwrap_or_default()
    };
    (
        status.as_u16(),
        text(header::CONTENT_TYPE),
        text(header::LOCATION),
    )
}

/// Returns true if `Vary` names a header.
fn varies(headers: &HeaderMap, name: &str) -> bool {
    headers
        .get_all(header::VARY)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|named| named.trim().eq_ignore_ascii_case(name))
}

/// Parameters of requests; routes ignore those that they do not know, or reject them.
const QUERIES: [&str; 4] = [
    "",
    "?q=trees",
    "?query=ASK%7B%7D",
    "?dataset=trees&iri=http://e.org/a&default",
];

#[tokio::test]
async fn responses_name_the_headers_that_choose_them() {
    let (site, _folder) = site(|state| state);
    let accepted = [
        "*/*",
        "text/html",
        "text/turtle",
        "application/ld+json",
        "application/json",
        "application/sparql-results+xml",
        "image/png",
        "text/turtle; version=1.2",
    ];
    let mut negotiated = 0;
    for route in routes() {
        for query in QUERIES {
            let path = format!("{}{query}", address(&route));
            let mut responses = Vec::new();
            for accept in accepted {
                let (status, headers, _) =
                    send(&site, Method::GET, &path, &[("accept", accept)]).await;
                responses.push((accept, choice(status, &headers), headers));
            }
            let first = responses[0].1.clone();
            if responses.iter().all(|(_, choice, _)| *choice == first) {
                continue;
            }
            negotiated += 1;
            for (accept, choice, headers) in &responses {
                assert!(varies(headers, "accept"), "{path} {accept}: {choice:?}");
            }
        }
    }
    assert!(negotiated > 20, "{negotiated}");
}

#[tokio::test]
async fn responses_name_the_languages_that_choose_them() {
    let (site, _folder) = site(|state| state);
    let mut negotiated = 0;
    for route in routes() {
        let path = address(&route);
        let mut responses = Vec::new();
        for language in ["en", "de"] {
            let headers = [("accept", "text/html"), ("accept-language", language)];
            responses.push(send(&site, Method::GET, &path, &headers).await);
        }
        if responses[0].2 == responses[1].2 {
            continue;
        }
        negotiated += 1;
        for (_, headers, _) in &responses {
            assert!(varies(headers, "accept-language"), "{path}");
        }
    }
    assert!(negotiated > 5, "{negotiated}");
}

/// Beginnings of addresses of this server in pages, feeds, RDF and JSON.
const BEGINNINGS: [&str; 4] = [
    " href=\"/",
    " src=\"/",
    " action=\"/",
    "https://data.example.org/",
];

#[tokio::test]
async fn addresses_have_the_path_of_the_public_url() {
    let url = "https://data.example.org/portal/".parse().expect("a URL");
    let (site, _folder) = site(|state| state.with_public_url(Some(url)));
    let (mut addresses, mut redirections) = (0, 0);
    for route in routes() {
        for query in QUERIES {
            for accept in ["text/html", "application/json", "text/turtle"] {
                let path = format!("{}{query}", address(&route));
                let accept = [("accept", accept)];
                let (status, headers, body) =
                    send(&site, Method::GET, &format!("/portal{path}"), &accept).await;
                let (stripped, ..) = send(&site, Method::GET, &path, &accept).await;
                assert_eq!(status, stripped, "{path}: the proxy may remove the path");
                let text = String::from_utf8_lossy(&body).into_owned();
                for beginning in BEGINNINGS {
                    for rest in text.split(beginning).skip(1) {
                        let rest: String = rest.chars().take(60).collect();
                        assert!(
                            rest.starts_with("portal/"),
                            "{path} {accept:?}: {beginning}{rest}"
                        );
                        addresses += 1;
                    }
                }
                let location = headers.get(header::LOCATION);
                if let Some(location) = location.and_then(|location| location.to_str().ok()) {
                    let path_of = location.trim_start_matches("https://data.example.org");
                    assert!(path_of.starts_with("/portal/"), "{path}: {location}");
                    redirections += 1;
                }
            }
        }
    }
    assert!(
        addresses > 1000 && redirections > 0,
        "{addresses} {redirections}"
    );
}

#[tokio::test]
async fn head_states_no_other_size_than_get() {
    let (site, _folder) = site(|state| state);
    let (mut sized, mut streamed) = (0, 0);
    for route in routes() {
        for query in QUERIES {
            let path = format!("{}{query}", address(&route));
            let (status, got, _) = send(&site, Method::GET, &path, &[]).await;
            if !status.is_success() {
                continue; // messages name the method
            }
            let (_, headers, _) = send(&site, Method::HEAD, &path, &[]).await;
            let (size, expected) = (
                headers.get(header::CONTENT_LENGTH),
                got.get(header::CONTENT_LENGTH),
            );
            assert!(
                size.is_none() || size == expected,
                "{path}: {size:?} {expected:?}"
            );
            *(if expected.is_some() {
                &mut sized
            } else {
                &mut streamed
            }) += 1;
        }
    }
    assert!(sized > 20 && streamed > 0, "{sized} {streamed}");
}
