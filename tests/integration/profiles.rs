//! Application profiles of DCAT, series of datasets, and shapes of content.

use super::http::Site;
use super::support::{Home, limits, testdata};
use axum::http::{Method, StatusCode};
use lodeseek_catalog::{Catalog, Iris};
use lodeseek_engine::{IndexOptions, Indexer, Searcher};
use lodeseek_server::{AppState, app};
use lodeseek_store::{Loader, Store};

fn site() -> Site {
    Site::from_catalog(&testdata("profiles/catalog.ttl"), limits())
}

/// Returns the lines of an N-Triples document that contain all of these parts.
fn lines<'b>(body: &'b str, parts: &[&str]) -> Vec<&'b str> {
    body.lines()
        .filter(|line| parts.iter().all(|part| line.contains(part)))
        .collect()
}

#[tokio::test]
async fn texts_of_profiles_are_found() {
    let site = site();
    for (words, id) in [("nurses+night", "sleep-2024"), ("parchment", "terraces")] {
        let found = site.get(&format!("/api/search?q={words}")).await.json();
        assert_eq!(found["hits"][0]["id"], id, "{words}: {found}");
    }
}

#[tokio::test]
async fn the_page_shows_properties_of_profiles() {
    let site = site();
    let health = site.get("/dataset/sleep-2024?lang=en").await.body;
    for shown in [
        "Number of individuals",
        "300",
        "Health data access body",
        "Data Access Body",
        "2024-01-01 – 2034-12-31",
    ] {
        assert!(health.contains(shown), "{shown}");
    }
    let geo = site.get("/dataset/terraces?lang=en").await.body;
    for shown in [
        "Reference system",
        "1 : 25 000",
        "Geological Survey",
        "Ann Field (author)",
        "class=\"land\"",
    ] {
        assert!(geo.contains(shown), "{shown}");
    }
}

#[tokio::test]
async fn a_series_links_to_its_members_and_they_to_it() {
    let site = site();
    let series = site.get("/dataset/sleep-series?lang=en").await.body;
    assert!(
        series.contains("A series of datasets") && !series.contains("only its description"),
        "{series}"
    );
    for member in ["sleep-2023", "sleep-2024"] {
        assert!(
            series.contains(&format!("<li><a href=\"/dataset/{member}?lang=en\"")),
            "{series}"
        );
    }
    assert!(!series.contains("/dataset/terraces?"), "{series}");
    let member = site.get("/dataset/sleep-2024?lang=de").await.body;
    assert!(
        member.contains("<dt>Reihe</dt>") && member.contains(">Schlafstudien</a>"),
        "{member}"
    );
    assert!(
        member.contains("Voriger der Reihe") && member.contains(">Sleep study 2023</a>"),
        "{member}"
    );
    let hits = site.get("/?q=sleep&lang=en").await.body;
    assert_eq!(
        hits.matches("title=\"A series of datasets").count(),
        1,
        "{hits}"
    );
}

#[test]
fn members_are_found_by_the_iris_of_the_source() {
    let home = Home::from_catalog(&testdata("profiles/catalog.ttl"));
    let id = |text: &str| lodeseek_catalog::DatasetId::new(text).expect("an id");
    let members = home
        .store
        .series_members(&id("sleep-series"))
        .expect("read");
    assert_eq!(
        members.iter().map(|id| id.as_str()).collect::<Vec<_>>(),
        ["sleep-2023", "sleep-2024"]
    );
    assert!(
        home.store
            .series_members(&id("terraces"))
            .expect("read")
            .is_empty()
    );
    for (iri, expected) in [
        ("http://profiles.example.org/series", Some("sleep-series")),
        ("http://localhost:7878/dataset/terraces", Some("terraces")),
        ("http://localhost:7878/dataset/nothing", None),
        ("http://profiles.example.org/nothing", None),
    ] {
        let found = home.store.dataset_with_iri(iri).expect("read");
        assert_eq!(found.as_ref().map(|id| id.as_str()), expected, "{iri}");
    }
}

#[tokio::test]
async fn a_series_is_published_beside_each_of_its_members() {
    let site = site();
    let page = site.get("/catalog.nt").await.body;
    let member = "<http://localhost:7878/dataset/sleep-2024> <http://www.w3.org/ns/dcat#";
    let to = |id: &str| format!("> <http://localhost:7878/dataset/{id}> .");
    for (property, id) in [("inSeries", "sleep-series"), ("prev", "sleep-2023")] {
        assert_eq!(
            lines(&page, &[&format!("{member}{property}{}", to(id))]).len(),
            1,
            "{property}: {page}"
        );
    }
    let last = site.get("/catalog.nt?rows=1&page=2").await.body;
    assert_eq!(
        lines(&last, &["<http://www.w3.org/ns/dcat#dataset>"]).len(),
        1
    );
    assert_eq!(
        lines(
            &last,
            &[
                "/dataset/sleep-series> ",
                "<http://www.w3.org/ns/dcat#DatasetSeries>"
            ]
        )
        .len(),
        1,
        "{last}"
    );
}

#[tokio::test]
async fn a_harvester_chooses_the_profile() {
    let site = site();
    let get = async |path: &str, accepted: &str| {
        let headers: &[(&str, &str)] = if accepted.is_empty() {
            &[]
        } else {
            &[("accept-profile", accepted)]
        };
        site.request(Method::GET, path, headers, "").await
    };
    let health = "http://healthdataportal.eu/ns/health#";
    for (path, accepted, expected) in [
        ("/catalog.nt", "", "http://data.europa.eu/r5r/"),
        (
            "/catalog.nt",
            "<http://data.europa.eu/930/>",
            "http://data.europa.eu/930/",
        ),
        (
            "/catalog.nt",
            "<http://data.europa.eu/930/>;q=0.4, <http://healthdataportal.eu/ns/health#>;q=0.9",
            health,
        ),
        (
            "/catalog.nt",
            "<http://unknown.example.org/>",
            "http://data.europa.eu/r5r/",
        ),
        (
            "/catalog.nt?profile=dcat-us",
            "<http://data.europa.eu/930/>",
            "http://resources.data.gov/ontology/dcat-us#",
        ),
        (
            "/catalog.nt?_profile=http%3A%2F%2Fdata.europa.eu%2F930",
            "",
            "http://data.europa.eu/930/",
        ),
    ] {
        let reply = get(path, accepted).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
        assert_eq!(
            reply.header("content-profile"),
            format!("<{expected}>"),
            "{path} {accepted}"
        );
        let links: Vec<&str> = reply
            .headers
            .get_all("link")
            .iter()
            .map(|link| link.to_str().expect("text"))
            .collect();
        assert!(
            links.contains(&format!("<{expected}>; rel=\"profile\"").as_str()),
            "{links:?}"
        );
        assert_eq!(
            links
                .iter()
                .filter(|link| link.contains("rel=\"alternate\"; profile="))
                .count(),
            3,
            "{links:?}"
        );
    }
    let unknown = get("/catalog.nt?profile=dcat-mars", "").await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    assert!(unknown.body.contains("healthdcat-ap"), "{}", unknown.body);
}

#[tokio::test]
async fn profiles_have_the_area_in_their_form() {
    let site = site();
    let bbox = "<http://www.w3.org/ns/dcat#bbox> \"POLYGON ((10 50, 11 50, 11 51, 10 51, 10 50))\"";
    let west = "<http://resources.data.gov/ontology/dcat-us#westBoundingLongitude> \"10\"";
    for (profile, has_bbox, has_west) in [
        ("dcat-ap", false, false),
        ("healthdcat-ap", false, false),
        ("geodcat-ap", true, false),
        ("dcat-us", false, true),
    ] {
        let page = site
            .get(&format!("/catalog.nt?profile={profile}"))
            .await
            .body;
        assert_eq!(
            (page.contains(bbox), page.contains(west)),
            (has_bbox, has_west),
            "{profile}: {page}"
        );
        // Declared properties are in every profile, with the ranges that theirs requires.
        for part in [
            "numberOfRecords> \"1200\"^^<http://www.w3.org/2001/XMLSchema#nonNegativeInteger>",
            "930/custodian>",
        ] {
            assert!(page.contains(part), "{profile}: {part}");
        }
    }
}

#[tokio::test]
async fn shapes_and_statistics_are_rdf() {
    let site = Site::testdata();
    let shapes = site
        .accept("/dataset/street-trees/shapes", "application/n-triples")
        .await;
    assert_eq!(
        (shapes.status, shapes.media_type()),
        (StatusCode::OK, "application/n-triples")
    );
    let targets = lines(&shapes.body, &["<http://www.w3.org/ns/shacl#targetClass>"]);
    assert!(
        !targets.is_empty()
            && targets[0].starts_with("<http://localhost:7878/dataset/street-trees/shapes#class-")
    );
    let current = [("if-none-match", shapes.header("etag"))];
    let again = site
        .request(
            Method::GET,
            "/dataset/street-trees/shapes?format=nt",
            &current,
            "",
        )
        .await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    let turtle = site.get("/dataset/street-trees/shapes").await;
    assert!(turtle.body.contains("sh:NodeShape"), "{}", turtle.body);
    let void = site.get("/dataset/street-trees/void?format=nt").await;
    assert!(
        void.body
            .contains("<http://rdfs.org/ns/void#triples> \"105\""),
        "{}",
        void.body
    );
    for path in ["/dataset/nothing/shapes", "/dataset/nothing/void"] {
        assert_eq!(site.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let page = site
        .accept("/dataset/street-trees/shapes", "image/png")
        .await;
    assert_eq!(page.status, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn content_beyond_memory_has_statistics_and_no_shapes() {
    let folder = tempfile::tempdir().expect("a folder");
    let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
    let store = Store::in_memory(folder.path(), iris)
        .expect("a store")
        .with_graph_limit(300);
    let catalog = Catalog::read(&testdata("catalog.ttl")).expect("a catalogue");
    Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
    Indexer::new(&store, IndexOptions::default())
        .run(&|_| ())
        .expect("indexed");
    let searcher = Searcher::open(folder.path()).expect("an index");
    let site = Site::behind(app(AppState::new(searcher, store, limits())), folder);
    let shapes = site.get("/dataset/street-trees/shapes").await;
    assert_eq!(shapes.status, StatusCode::NOT_FOUND, "{}", shapes.body);
    assert!(
        shapes
            .body
            .contains("street-trees: its content exceeds memory"),
        "{}",
        shapes.body
    );
    assert_eq!(
        site.get("/dataset/street-trees/void").await.status,
        StatusCode::OK
    );
    let page = site.get("/dataset/street-trees").await;
    assert!(
        page.body.contains("/void?format=ttl") && !page.body.contains("/shapes"),
        "{}",
        page.body
    );
    let links: Vec<&str> = page
        .headers
        .get_all("link")
        .iter()
        .filter_map(|link| link.to_str().ok())
        .collect();
    assert!(
        links.iter().any(|link| link.contains("/void>")),
        "{links:?}"
    );
    assert!(
        !links.iter().any(|link| link.contains("/shapes>")),
        "{links:?}"
    );
}
