//! The same dataset from several portals: found when the index is built, shown once in results, by itself on request.

use super::http::Site;
#[cfg(feature = "rocksdb")]
use super::support::run;
use super::support::{Home, limits};
use axum::http::StatusCode;
use lodeseek_engine::{BrowseRequest, DatasetListing, DuplicateMode, SearchRequest};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// Twelve registers of trees, each of one kind: `oak` from three portals by its DOI, `elm` from two by title and page, one
/// of two editions, and others alone.
fn home() -> (TempDir, Home) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut turtle = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        @prefix adms: <http://www.w3.org/ns/adms#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        .to_owned();
    let mut add = |id: &str, title: &str, publisher: &str, more: &str| {
        turtle += &format!(
            "<http://{id}.example.org/set> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{title}\" ;
             dct:publisher [ a foaf:Agent ; foaf:name \"{publisher}\" ] {more} .\n"
        );
    };
    add(
        "oak-a",
        "Trees: oak",
        "Portal A",
        "; adms:identifier [ skos:notation \"https://doi.org/10.1234/OAK\" ]",
    );
    add(
        "oak-b",
        "Register of oak trees",
        "Portal B",
        "; adms:identifier [ skos:notation \"doi:10.1234/oak\" ]",
    );
    add(
        "oak-c",
        "Oak and other trees",
        "Portal C",
        "; owl:sameAs <https://oak-b.example.org/set/>",
    );
    add(
        "elm-a",
        "Elm trees",
        "Parks",
        "; dcat:landingPage <http://e.org/elm/>",
    );
    add(
        "elm-b",
        "Elm trees",
        "Parks",
        "; dcat:landingPage <https://www.e.org/elm>",
    );
    add(
        "ash-1",
        "Ash trees 2020",
        "Parks",
        "; dcat:landingPage <http://e.org/ash>",
    );
    add(
        "ash-2",
        "Ash trees 2021",
        "Parks",
        "; dcat:landingPage <http://e.org/ash>",
    );
    for kind in ["fir", "yew", "lime", "birch", "willow"] {
        add(kind, &format!("Trees of the kind {kind}"), kind, "");
    }
    let catalog = folder.path().join("catalog.ttl");
    fs::write(&catalog, turtle).expect("written");
    let home = Home::from_catalog(&catalog);
    (folder, home)
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .map(|hit| hit["id"].as_str().expect("an id"))
        .collect()
}

async fn search(site: &Site, more: &str) -> Value {
    let reply = site.get(&format!("/api/search?q=trees&k=100{more}")).await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
    reply.json()
}

#[tokio::test]
async fn datasets_that_are_one_are_shown_once() {
    let (_folder, home) = home();
    let (app, kept) = home.serve(limits());
    let site = Site::behind(app, kept);
    let all = search(&site, "&duplicates=all").await;
    let once = search(&site, "").await;
    assert_eq!((ids(&all).len(), ids(&once).len()), (12, 9));
    // The best of each group stays where it is among the others.
    let group = |id: &str| {
        id.strip_suffix(['a', 'b', 'c'])
            .filter(|kind| kind.ends_with('-'))
            .unwrap_or(id)
            .to_owned()
    };
    let mut seen = std::collections::BTreeSet::new();
    let expected: Vec<&str> = ids(&all)
        .into_iter()
        .filter(|id| seen.insert(group(id)))
        .collect();
    assert_eq!(ids(&once), expected);
    let ranks: Vec<u64> = once["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .filter_map(|hit| hit["rank"].as_u64())
        .collect();
    assert_eq!(ranks, (1..=9).collect::<Vec<_>>());
    let others = |start: &str| {
        let hit = once["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .find(|hit| hit["id"].as_str().is_some_and(|id| id.starts_with(start)));
        hit.map(|hit| (hit["id"].clone(), hit["duplicates"].clone()))
            .expect("found")
    };
    let (shown, oak) = others("oak");
    let names: Vec<&Value> = oak
        .as_array()
        .expect("others")
        .iter()
        .map(|other| &other["id"])
        .collect();
    let expected: Vec<Value> = ["oak-a", "oak-b", "oak-c"]
        .map(Value::from)
        .into_iter()
        .filter(|id| *id != shown)
        .collect();
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
    assert!(others("ash").1.is_null() && others("fir").1.is_null());
    assert!(
        all["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .all(|hit| hit["duplicates"].is_null())
    );
    // Pages go on where the page before ended.
    let mut paged = Vec::new();
    for skip in (0..12).step_by(2) {
        let page = site
            .get(&format!("/api/search?q=trees&k=2&skip={skip}"))
            .await
            .json();
        paged.extend(ids(&page).into_iter().map(str::to_owned));
    }
    assert_eq!(paged, ids(&once));
    assert_eq!(
        site.get("/api/search?q=trees&duplicates=some").await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn why_they_are_one_is_told() {
    let (_folder, home) = home();
    let (app, kept) = home.serve(limits());
    let site = Site::behind(app, kept);
    let found = site.get("/api/duplicates").await.json();
    assert_eq!(
        found,
        json!({
            "groups": [
                { "members": ["elm-a", "elm-b"], "reasons": ["title-and-page"] },
                { "members": ["oak-a", "oak-b", "oak-c"], "reasons": ["identifier"] },
            ],
            "versions": [["ash-1", "ash-2"]],
        })
    );
    let page = site.get("/?q=elm").await.body;
    assert!(
        page.contains("Also from <a href=\"/dataset/elm-a\">Parks</a>"),
        "{page}"
    );
    assert!(
        !site
            .get("/?q=elm&duplicates=all")
            .await
            .body
            .contains("Also from")
    );
    // A list of nine, though twelve are counted: one page, and no next.
    let listed = site.get("/?page=0").await.body;
    assert!(
        listed.matches("<article>").count() == 9
            && listed.contains("Also from")
            && listed.contains("12 datasets")
    );
    assert!(
        !listed.contains("rel=\"next\"") && listed.contains("The numbers include duplicates"),
        "{listed}"
    );
    let each = site.get("/?page=0&duplicates=all").await.body;
    assert!(
        each.matches("<article>").count() == 10
            && each.contains("rel=\"next\"")
            && !each.contains("Also from")
    );
}

#[tokio::test]
async fn what_is_related_has_a_resource_of_its_own() {
    let (_folder, home) = home();
    let (app, kept) = home.serve(limits());
    let site = Site::behind(app, kept);
    let oak = site.get("/dataset/oak-a/related").await.json();
    let ids: Vec<&Value> = oak["duplicates"]
        .as_array()
        .expect("others")
        .iter()
        .map(|other| &other["id"])
        .collect();
    assert_eq!(
        (ids, &oak["reasons"]),
        (
            vec![&json!("oak-b"), &json!("oak-c")],
            &json!(["identifier"])
        )
    );
    let ash = site.get("/dataset/ash-2/related?format=json").await.json();
    assert_eq!(ash["duplicates"], json!([]));
    assert_eq!(
        (&ash["editions"][0]["id"], &ash["editions"][0]["edition"]),
        (&json!("ash-1"), &json!("previous-in-series"))
    );
    // The same statement from both ends, and none in the description or the feed, where others would harvest it.
    let base = "http://localhost:7878/dataset/";
    let line = format!("<{base}ash-2> <http://www.w3.org/ns/dcat#prev> <{base}ash-1> .\n");
    for id in ["ash-1", "ash-2"] {
        assert_eq!(
            site.get(&format!("/dataset/{id}/related?format=nt"))
                .await
                .body,
            line
        );
        assert!(
            !site
                .get(&format!("/dataset/{id}?format=nt"))
                .await
                .body
                .contains("dcat#prev")
        );
    }
    assert_eq!(site.get("/dataset/oak-a/related?format=nt").await.body, "");
    assert!(!site.get("/catalog.nt").await.body.contains("dcat#prev>"));
    assert_eq!(
        site.get("/dataset/none/related").await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        site.get("/dataset/ash-1/related?format=csv").await.status,
        StatusCode::BAD_REQUEST
    );
    let page = site.get("/dataset/ash-1?format=html").await.body;
    assert!(
        page.contains(
            "<a href=\"/dataset/ash-2\">Ash trees 2021</a>, <span lang=\"en\">the one after</span>"
        ),
        "{page}"
    );
    let page = site.get("/dataset/elm-b?format=html").await.body;
    let told = "Also from <a href=\"/dataset/elm-a\">Parks</a> (<span lang=\"en\">the same title, publisher and landing page</span>).";
    assert!(page.contains(told), "{page}");
    assert_eq!(
        search(&site, "").await["counts"],
        "every dataset, those that are the same each"
    );
    assert!(search(&site, "&duplicates=all").await["counts"].is_null());
}

#[test]
fn a_list_shows_each_once_whatever_the_pages() {
    let (_folder, home) = home();
    let searcher = home.searcher();
    let page = |skip: usize, depth: usize| {
        let request = BrowseRequest {
            skip,
            depth,
            duplicates: DuplicateMode::Grouped,
            ..BrowseRequest::default()
        };
        searcher.catalog().browse(&request).expect("listed")
    };
    let whole = page(0, 100);
    let ids = |listing: &DatasetListing| {
        listing
            .datasets
            .iter()
            .map(|one| one.card.metadata.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (whole.of, whole.total, whole.datasets.len(), whole.more),
        (12, 12, 9, false)
    );
    for depth in 1..=10 {
        let (mut all, mut skip) = (Vec::new(), 0);
        loop {
            let part = page(skip, depth);
            assert!(
                part.datasets
                    .iter()
                    .enumerate()
                    .all(|(place, one)| one.rank == skip + place + 1)
            );
            all.extend(ids(&part));
            if !part.more {
                break;
            }
            assert_eq!(part.datasets.len(), depth);
            skip += depth;
        }
        assert_eq!(all, ids(&whole), "pages of {depth}");
        for skip in (0..9).step_by(depth) {
            let request = SearchRequest {
                skip,
                depth,
                duplicates: DuplicateMode::Grouped,
                ..SearchRequest::new("trees")
            };
            let found = searcher.search(&request).expect("found");
            assert_eq!(
                (found.hits.len(), found.more),
                (depth.min(9 - skip), skip + depth < 9),
                "{skip}, {depth}"
            );
        }
    }
}

/// Measurements do not change: requests of the library and runs do not group duplicates.
#[test]
fn rankings_that_are_measured_hold_every_dataset() {
    let (_folder, home) = home();
    let searcher = home.searcher();
    assert_eq!(
        searcher.rank("trees", 100).expect("ranked").iter().count(),
        12
    );
    let request = SearchRequest {
        depth: 100,
        ..SearchRequest::new("trees")
    };
    assert_eq!(request.duplicates, DuplicateMode::All);
    assert_eq!(searcher.search(&request).expect("found").hits.len(), 12);
    // An index of before has no file, and no groups.
    fs::remove_file(home.path().join("duplicates.json")).expect("there");
    let once = SearchRequest {
        duplicates: DuplicateMode::Grouped,
        ..request
    };
    assert_eq!(searcher.search(&once).expect("found").hits.len(), 12);
    home.index();
    assert_eq!(searcher.search(&once).expect("found").hits.len(), 9);
}

#[cfg(feature = "rocksdb")]
#[test]
fn the_program_shows_them_once() {
    let (_folder, home) = home();
    let home = home.into_folder();
    let found = run(home.path(), &["search", "elm"]);
    assert!(
        found.out.contains("also from: Parks [elm-a]"),
        "{}{}",
        found.out,
        found.err
    );
    let shown = run(home.path(), &["show", "elm-b"]);
    assert!(
        shown
            .out
            .contains("also from  Parks [elm-a], because of the same title"),
        "{}{}",
        shown.out,
        shown.err
    );
    let shown = run(home.path(), &["show", "ash-1"]);
    assert!(
        shown
            .out
            .contains("edition    Ash trees 2021 [ash-2], the one after"),
        "{}{}",
        shown.out,
        shown.err
    );
    let all = run(home.path(), &["search", "elm", "--duplicates"]);
    assert!(
        all.out.contains("[elm-b]") && !all.out.contains("also from"),
        "{}",
        all.out
    );
}

/// One graph in two syntaxes, orders and sets of labels; another graph; and nets whose nodes all look alike.
#[test]
fn content_is_one_whatever_its_syntax_and_labels() {
    let folder = tempfile::tempdir().expect("a folder");
    let knot = |label: &str| -> String {
        let pairs = (0..60).flat_map(|one| [1, 59, 30].map(|step| (one, (one + step) % 60)));
        pairs
            .map(|(one, other)| format!("_:{label}{one} <http://e.org/knows> _:{label}{other} .\n"))
            .collect()
    };
    let turned = |lines: &str| {
        lines
            .lines()
            .rev()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let (one, other) = (knot("a"), turned(&knot("b")));
    for (name, text) in [
        (
            "oak-a.ttl",
            "@prefix e: <http://e.org/> . e:oak e:seen [ e:by \"Ann\" ] , [ e:by \"Bob\" ; e:in e:park ] .",
        ),
        (
            "oak-b.nt",
            "_:y <http://e.org/in> <http://e.org/park> .
             _:y <http://e.org/by> \"Bob\" .
             <http://e.org/oak> <http://e.org/seen> _:x .
             <http://e.org/oak> <http://e.org/seen> _:y .
             _:x <http://e.org/by> \"Ann\" .",
        ),
        (
            "oak-c.ttl",
            "@prefix e: <http://e.org/> . e:oak e:seen [ e:by \"Bob\" ] , [ e:by \"Ann\" ; e:in e:park ] .",
        ),
        ("knot-a.nt", &one),
        ("knot-b.nt", &one),
        ("knot-c.nt", &other),
    ] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let entry = |file: &str| {
        let (id, _) = file.split_once('.').expect("an ending");
        let kind = id.split('-').next().expect("a kind");
        format!(
            "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"The {kind}\" ;
             dct:publisher [ foaf:name \"Portal of {id}\" ] ; dcat:distribution [ dcat:downloadURL <{file}> ] .\n"
        )
    };
    let files = [
        "oak-a.ttl",
        "oak-b.nt",
        "oak-c.ttl",
        "knot-a.nt",
        "knot-b.nt",
        "knot-c.nt",
    ];
    let prefixes =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        @prefix foaf: <http://xmlns.com/foaf/0.1/> .\n";
    let catalog = folder.path().join("catalog.ttl");
    fs::write(&catalog, prefixes.to_owned() + &files.map(entry).concat()).expect("written");
    let home = Home::from_catalog(&catalog);
    let expected = json!({
        "groups": [
            { "members": ["knot-a", "knot-b"], "reasons": ["labelled-content-and-title"] },
            { "members": ["oak-a", "oak-b"], "reasons": ["content-and-title"] },
        ],
        "versions": [],
    });
    let found = |home: &Home| {
        serde_json::to_value(home.searcher().catalog().duplicates().expect("read")).expect("JSON")
    };
    assert_eq!(found(&home), expected);
    // A home of before has no fingerprints: they are made when they are needed, and no load is.
    let fingerprints = || {
        let files = fs::read_dir(home.path().join("graphs"))
            .expect("a folder")
            .map(|entry| entry.expect("read").path());
        files
            .filter(|path| path.extension().is_some_and(|end| end == "rdfc"))
            .collect::<Vec<_>>()
    };
    let before = fingerprints();
    assert_eq!(
        before.len(),
        5,
        "the two knots with the same labels are one version"
    );
    before
        .iter()
        .for_each(|path| fs::remove_file(path).expect("removed"));
    for name in ["duplicates.json", "examined.json"] {
        fs::remove_file(home.path().join(name)).expect("removed");
    }
    home.index();
    assert_eq!((found(&home), fingerprints().len()), (expected, 5));
}
