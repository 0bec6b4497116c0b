//! Links of a server: they begin with the public URL, and dataset IRIs with the base of the home.

use super::support::{Home, limits, testdata};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use http_body_util::BodyExt;
use lodeseek_server::{AppState, Proxies};
use std::net::SocketAddr;
use tempfile::TempDir;
use tower::ServiceExt;

const IRI: &str = "http://localhost:7878/dataset/street-trees";

fn state() -> (AppState, TempDir) {
    Home::from_catalog(&testdata("catalog.ttl")).state(limits())
}

/// Returns headers and body of a response.
async fn get(state: &AppState, path: &str, headers: &[(&str, &str)]) -> String {
    let mut request = Request::get(path).body(Body::empty()).expect("a request");
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().expect("a name");
        request
            .headers_mut()
            .append(name, value.parse().expect("a value"));
    }
    request
        .extensions_mut()
        .insert(ConnectInfo(SocketAddr::from(([10, 0, 0, 1], 5000))));
    let response = lodeseek_server::app(state.clone())
        .oneshot(request)
        .await
        .expect("a response");
    assert_eq!(response.status(), 200, "{path}");
    let links: Vec<String> = response
        .headers()
        .get_all("link")
        .iter()
        .map(|link| link.to_str().expect("text").to_owned())
        .collect();
    let body = response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    format!("{}\n{}", links.join("\n"), String::from_utf8_lossy(&body))
}

/// Paths of responses with absolute links, and a link in each, without its first part.
const LINKS: &[(&str, &str)] = &[
    ("/sitemap.xml", "sitemap/1.xml<"),
    ("/sitemap/1.xml", "dataset/street-trees<"),
    ("/robots.txt", "sitemap.xml"),
    ("/opensearch.xml", "?q={searchTerms}"),
    ("/suggest?q=City", "dataset/street-trees\""),
    (
        "/feeds/datasets.atom?q=ginkgo",
        "feeds/datasets.atom?q=ginkgo",
    ),
    ("/feeds/datasets.atom?q=ginkgo", "dataset/street-trees\""),
    ("/catalog.ttl", "catalog.ttl?page=1>"),
    ("/catalog.ttl", "dataset/street-trees/files/"),
    (
        "/api/3/action/status_show",
        "api/3/action/help_show?name=status_show\"",
    ),
    (
        "/api/3/action/package_show?id=street-trees",
        "dataset/street-trees/files/",
    ),
    (
        "/dataset/street-trees/croissant",
        "dataset/street-trees/files/",
    ),
    (
        "/dataset/street-trees?format=html",
        "dataset/street-trees\">",
    ),
    (
        "/dataset/street-trees?format=html",
        "dataset/street-trees?format=ttl>",
    ),
    ("/sparql?format=nt", "sparql>"),
    ("/.well-known/void?format=nt", "sparql>"),
    (
        "/.well-known/void?format=nt",
        "dataset/street-trees/examples>",
    ),
];

async fn check(state: &AppState, headers: &[(&str, &str)], base: &str) {
    for (path, link) in LINKS {
        let reply = get(state, path, headers).await;
        assert!(
            reply.contains(&format!("{base}{link}")),
            "{path}: no {base}{link} in {reply}"
        );
    }
}

#[tokio::test]
async fn links_follow_the_public_url_and_iris_do_not() {
    let (state, _folder) = state();
    let public = state
        .clone()
        .with_public_url(Some("https://data.example.org/".parse().expect("a URL")));
    check(
        &public,
        &[("host", "evil.example")],
        "https://data.example.org/",
    )
    .await;
    for path in [
        "/dataset/street-trees?format=nt",
        "/dataset/street-trees/croissant",
        "/catalog.ttl",
    ] {
        let reply = get(&public, path, &[]).await;
        assert!(
            reply.contains(IRI)
                && !reply.contains("https://data.example.org/dataset/street-trees>"),
            "{reply}"
        );
    }
    let cite = get(&public, "/dataset/street-trees?format=html", &[]).await;
    assert!(
        cite.contains(&format!("<{IRI}>; rel=\"cite-as\"")),
        "{cite}"
    );
    let own = "SELECT * { SERVICE <https://data.example.org/sparql> { <http://localhost:7878/dataset/street-trees> a ?c } }";
    let own: String = own.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let reply = get(&public, &format!("/sparql?format=json&query={own}"), &[]).await;
    assert!(
        reply.contains("http://www.w3.org/ns/dcat#Dataset"),
        "the public endpoint is this server: {reply}"
    );
}

#[tokio::test]
async fn a_default_home_at_another_port_has_links_that_work() {
    let (state, _folder) = state();
    let served = state.at("127.0.0.1:8100".parse().expect("an address"));
    check(
        &served,
        &[("host", "localhost:7878")],
        "http://localhost:8100/",
    )
    .await;
}

#[tokio::test]
async fn only_trusted_proxies_forward_the_public_url() {
    let (state, _folder) = state();
    let headers = [
        ("x-forwarded-host", "data.example.org"),
        ("x-forwarded-proto", "https"),
    ];
    check(&state, &headers, "http://localhost:7878/").await;
    let trusting = state.with_proxies(Proxies::new(&["10.0.0.1".parse().expect("an address")]));
    check(&trusting, &headers, "https://data.example.org/").await;
    let forged = [
        ("x-forwarded-host", "e.org/\"><script>"),
        ("x-forwarded-proto", "https"),
    ];
    check(&trusting, &forged, "http://localhost:7878/").await;
}
