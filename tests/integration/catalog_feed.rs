//! `/catalog`: all datasets in DCAT-AP, page by page.

use super::http::{Reply, Site, triples};
use super::support::testdata;
use axum::http::{Method, StatusCode};
use std::collections::BTreeSet;
use std::fs;

const DATASET: &str = "http://www.w3.org/ns/dcat#dataset";
const HYDRA: &str = "http://www.w3.org/ns/hydra/core#";

/// The objects of a property on a page in N-Triples.
fn objects(page: &Reply, property: &str) -> Vec<String> {
    let found = page.body.lines().filter_map(|line| line.split_once(&format!(" <{property}> ")));
    found.map(|(_, object)| object.trim_end_matches(" .").trim_matches(['<', '>']).to_owned()).collect()
}

fn path(address: &str) -> String {
    address.strip_prefix("http://localhost:7878").expect("an address of this base").to_owned()
}

#[tokio::test]
async fn the_pages_hold_every_dataset_once_whichever_way_they_are_followed() {
    let site = Site::testdata();
    let all = fs::read_to_string(testdata("catalog.ttl")).expect("readable").matches(" a dcat:Dataset").count();
    for next in ["next", "nextPage", "Link"] {
        let (mut seen, mut pages, mut following) = (Vec::new(), 0, Some("/catalog.nt?rows=5".to_owned()));
        while let Some(address) = following {
            let page = site.get(&address).await;
            assert_eq!((page.status, page.media_type()), (StatusCode::OK, "application/n-triples"), "{}", page.body);
            seen.extend(objects(&page, DATASET));
            pages += 1;
            following = match next {
                "Link" => page.headers.get_all("link").iter().find_map(|link| {
                    let link = link.to_str().expect("text");
                    link.strip_suffix(">; rel=\"next\"").map(|link| path(link.trim_start_matches('<')))
                }),
                property => objects(&page, &format!("{HYDRA}{property}")).first().map(|address| path(address)),
            };
            let total = objects(&page, &format!("{HYDRA}totalItems"));
            assert!(total.iter().all(|count| count.contains(&format!("\"{all}\""))), "{total:?}");
        }
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!((pages, seen.len(), distinct.len()), (all.div_ceil(5), all, all), "{next}");
    }
    let beyond = site.get("/catalog.nt?rows=5&page=99").await;
    assert_eq!(beyond.status, StatusCode::NOT_FOUND);
    for wrong in ["page=0", "page=x", "rows=0", "rows=1001", "modified_since=lately"] {
        let refused = site.get(&format!("/catalog.ttl?{wrong}")).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let long = site.get(&format!("/catalog.ttl?q={}", "tree+".repeat(500))).await;
    assert_eq!(long.status, StatusCode::URI_TOO_LONG);
}

#[tokio::test]
async fn every_syntax_says_the_same() {
    let site = Site::testdata();
    let expected = triples(&site.get("/catalog.nt").await.body, "n.nt");
    assert!(expected > 200, "{expected}");
    for (ending, name, media_type) in [
        ("ttl", "t.ttl", "text/turtle"),
        ("rdf", "r.rdf", "application/rdf+xml"),
        ("xml", "r.rdf", "application/rdf+xml"),
        ("jsonld", "j.jsonld", "application/ld+json"),
    ] {
        let written = site.get(&format!("/catalog.{ending}")).await;
        assert_eq!(written.media_type(), media_type);
        // The page's own address differs, and nothing else.
        assert_eq!(triples(&written.body, name), expected, "{ending}");
        let negotiated = site.accept("/catalog", media_type).await;
        assert_eq!((negotiated.media_type(), triples(&negotiated.body, name)), (media_type, expected));
    }
    let browser = site.accept("/catalog", "text/html").await;
    assert_eq!((browser.status, browser.header("location")), (StatusCode::SEE_OTHER, "/"), "people find the search");
    assert_eq!(site.accept("/catalog", "image/png").await.status, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn who_has_a_page_is_told_that_it_is_the_same() {
    let site = Site::testdata();
    let page = site.get("/catalog.ttl?rows=4").await;
    let tag = page.header("etag").to_owned();
    let again = site.request(Method::GET, "/catalog.ttl?rows=4", &[("if-none-match", &tag)], "").await;
    assert_eq!((again.status, again.body.as_str(), again.header("etag")), (StatusCode::NOT_MODIFIED, "", tag.as_str()));
    for other in ["/catalog.nt?rows=4", "/catalog.ttl?rows=4&page=2"] {
        let other = site.request(Method::GET, other, &[("if-none-match", &tag)], "").await;
        assert_eq!(other.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_search_is_a_catalogue_too() {
    let site = Site::testdata();
    let page = site.get("/catalog.nt?q=nitrogen").await;
    let found = objects(&page, DATASET);
    assert!(found.contains(&"http://localhost:7878/dataset/chesapeake-water".to_owned()), "{found:?}");
    assert!(found.len() < 12);
    assert_eq!(objects(&site.get("/catalog.nt?q=xyzzyx").await, DATASET), Vec::<String>::new());
    // Without records, as here, nobody knows that nothing changed.
    assert_eq!(objects(&site.get("/catalog.nt?modified_since=2999-01-01").await, DATASET).len(), 12);
}
