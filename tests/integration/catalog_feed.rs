//! `/catalog`: all datasets in DCAT-AP, page by page.

use super::http::{Reply, Site, encoded, triples};
use super::support::{limits, testdata};
use axum::http::{Method, StatusCode};
use std::collections::BTreeSet;
use std::fs;

const DATASET: &str = "http://www.w3.org/ns/dcat#dataset";
const HYDRA: &str = "http://www.w3.org/ns/hydra/core#";

/// The objects of a property on a page in N-Triples.
fn objects(page: &Reply, property: &str) -> Vec<String> {
    let found = page
        .body
        .lines()
        .filter_map(|line| line.split_once(&format!(" <{property}> ")));
    found
        .map(|(_, object)| {
            object
                .trim_end_matches(" .")
                .trim_matches(['<', '>'])
                .to_owned()
        })
        .collect()
}

fn path(address: &str) -> String {
    address
        .strip_prefix("http://localhost:7878")
        .expect("an address of this base")
        .to_owned()
}

#[tokio::test]
async fn the_pages_hold_every_dataset_once_whichever_way_they_are_followed() {
    let site = Site::testdata();
    let all = fs::read_to_string(testdata("catalog.ttl"))
        .expect("readable")
        .matches(" a dcat:Dataset")
        .count();
    for next in ["next", "nextPage", "Link"] {
        let (mut seen, mut pages, mut following) =
            (Vec::new(), 0, Some("/catalog.nt?rows=5".to_owned()));
        while let Some(address) = following {
            let page = site.get(&address).await;
            assert_eq!(
                (page.status, page.media_type()),
                (StatusCode::OK, "application/n-triples"),
                "{}",
                page.body
            );
            seen.extend(objects(&page, DATASET));
            pages += 1;
            following = match next {
                "Link" => page.headers.get_all("link").iter().find_map(|link| {
                    let link = link.to_str().expect("text");
                    link.strip_suffix(">; rel=\"next\"")
                        .map(|link| path(link.trim_start_matches('<')))
                }),
                property => objects(&page, &format!("{HYDRA}{property}"))
                    .first()
                    .map(|address| path(address)),
            };
            let total = objects(&page, &format!("{HYDRA}totalItems"));
            assert!(
                total
                    .iter()
                    .all(|count| count.contains(&format!("\"{all}\""))),
                "{total:?}"
            );
        }
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(
            (pages, seen.len(), distinct.len()),
            (all.div_ceil(5), all, all),
            "{next}"
        );
    }
    let beyond = site.get("/catalog.nt?rows=5&page=99").await;
    assert_eq!(beyond.status, StatusCode::NOT_FOUND);
    for wrong in [
        "page=0",
        "page=x",
        "rows=0",
        "rows=1001",
        "modified_since=lately",
    ] {
        let refused = site.get(&format!("/catalog.ttl?{wrong}")).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let long = site
        .get(&format!("/catalog.ttl?q={}", "tree+".repeat(500)))
        .await;
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
        assert_eq!(
            (negotiated.media_type(), triples(&negotiated.body, name)),
            (media_type, expected)
        );
    }
    let browser = site.accept("/catalog", "text/html").await;
    assert_eq!(
        (browser.status, browser.header("location")),
        (StatusCode::SEE_OTHER, "/"),
        "people find the search"
    );
    assert_eq!(
        site.accept("/catalog", "image/png").await.status,
        StatusCode::NOT_ACCEPTABLE
    );
}

#[tokio::test]
async fn who_has_a_page_is_told_that_it_is_the_same() {
    let site = Site::testdata();
    let page = site.get("/catalog.ttl?rows=4").await;
    let tag = page.header("etag").to_owned();
    let again = site
        .request(
            Method::GET,
            "/catalog.ttl?rows=4",
            &[("if-none-match", &tag)],
            "",
        )
        .await;
    assert_eq!(
        (again.status, again.body.as_str(), again.header("etag")),
        (StatusCode::NOT_MODIFIED, "", tag.as_str())
    );
    for other in ["/catalog.nt?rows=4", "/catalog.ttl?rows=4&page=2"] {
        let other = site
            .request(Method::GET, other, &[("if-none-match", &tag)], "")
            .await;
        assert_eq!(other.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_search_is_a_catalogue_too() {
    let site = Site::testdata();
    let page = site.get("/catalog.nt?q=nitrogen").await;
    let found = objects(&page, DATASET);
    assert!(
        found.contains(&"http://localhost:7878/dataset/chesapeake-water".to_owned()),
        "{found:?}"
    );
    assert!(found.len() < 12);
    assert_eq!(
        objects(&site.get("/catalog.nt?q=xyzzyx").await, DATASET),
        Vec::<String>::new()
    );
    // Without records, as here, nobody knows that nothing changed.
    assert_eq!(
        objects(
            &site.get("/catalog.nt?modified_since=2999-01-01").await,
            DATASET
        )
        .len(),
        12
    );
}

/// A description with a character and a property that RDF/XML cannot express.
fn troublesome() -> Site {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/c> a dcat:Catalog ; dcat:dataset <http://e.org/slides> , <http://e.org/numbers> .
        <http://e.org/slides> a dcat:Dataset ; dct:identifier \"slides\" ; dct:title \"Slides\"@de ; dct:description \"one\\u000Btwo\\r\\nthree\" .
        <http://e.org/numbers> a dcat:Dataset , <http://e.org/2> ; dct:identifier \"numbers\" ; dct:title \"Zähler\" ; <http://e.org/1> \"x\" .";
    let path = folder.path().join("catalog.ttl");
    fs::write(&path, catalog).expect("written");
    Site::from_catalog(&path, limits())
}

#[tokio::test]
async fn documents_of_xml_are_well_formed() {
    let site = troublesome();
    let feed = site.get("/catalog.rdf").await;
    assert_eq!(feed.status, StatusCode::OK);
    assert_eq!(feed.header("lodeseek-removed-characters"), "1");
    assert_eq!(feed.header("lodeseek-omitted-statements"), "1");
    assert!(
        triples(&feed.body, "a.rdf") > 5 && feed.body.contains("onetwo&#xD;\nthree"),
        "{}",
        feed.body
    );
    assert!(
        feed.body.contains("\"http://e.org/2\""),
        "a class without a name: {}",
        feed.body
    );
    let refused = site.get("/dataset/numbers?format=rdf").await;
    assert_eq!(refused.status, StatusCode::NOT_ACCEPTABLE);
    assert!(
        refused.body.contains("<http://e.org/1>") && refused.body.contains("text/turtle"),
        "{}",
        refused.body
    );
    let slides = site.get("/dataset/slides?format=rdf").await;
    assert_eq!(
        (slides.status, slides.header("lodeseek-removed-characters")),
        (StatusCode::OK, "1")
    );
    let atom = site.get("/feeds/datasets.atom").await;
    assert!(
        atom.status == StatusCode::OK && !atom.body.contains('\u{B}'),
        "{}",
        atom.body
    );
    let query = encoded(&[
        (
            "query",
            "SELECT ?o { ?s <http://purl.org/dc/terms/description> ?o }",
        ),
        ("format", "xml"),
    ]);
    let rows = site.get(&format!("/sparql?{query}")).await;
    assert!(rows.body.contains("onetwo&#xD;\nthree"), "{}", rows.body);
    assert_eq!(rows.header("lodeseek-removed-characters"), "1");
}

#[tokio::test]
async fn texts_have_a_charset() {
    let site = troublesome();
    for path in [
        "/catalog.ttl",
        "/dataset/numbers?format=ttl",
        "/rdf-graph-store?default&format=ttl",
        "/.well-known/void?format=ttl",
    ] {
        assert_eq!(
            site.get(path).await.header("content-type"),
            "text/turtle; charset=utf-8",
            "{path}"
        );
    }
    for format in ["csv", "tsv"] {
        let query = encoded(&[
            ("query", "SELECT * { ?s ?p ?o } LIMIT 1"),
            ("format", format),
        ]);
        let reply = site.get(&format!("/sparql?{query}")).await;
        assert!(
            reply.header("content-type").ends_with("; charset=utf-8"),
            "{format}"
        );
    }
}
