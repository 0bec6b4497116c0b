//! Similar datasets, the search by example, resources of a dataset and citations, through the router.

use super::http::Site;
use super::support::{Home, chain_of_prefixes, limits};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    Example, ExampleGraph, Facet, Filter, SearchRequest, SearchResponse, SimilarityBasis,
};
use lodeseek_rdf::TripleGraphBuilder;
use lodeseek_rdf::dump::DumpReader;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

const PREFIXES: &str =
    "@prefix v: <http://vocab.example.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
    @prefix d: <http://places.example.org/id/> . @prefix x: <http://elsewhere.example.net/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n";

/// Two datasets of rivers with one vocabulary, one of people, one that links to the people, the rivers again as another
/// edition, and two without content.
fn home() -> (TempDir, Home) {
    let folder = tempfile::tempdir().expect("a folder");
    let contents = [
        (
            "rivers-a",
            "Rivers of the north",
            "d:a a v:River ; v:flow 3 ; v:joins d:b ; rdfs:label \"Alfa\"@en . d:b a v:River ; v:gauge [ v:level 2 ] .",
        ),
        (
            "rivers-b",
            "Waters of the south",
            "x:q a v:River ; v:flow 9 ; v:gauge [ v:level 4 ] .",
        ),
        (
            "people",
            "People",
            "<http://people.example.org/1> a foaf:Person ; foaf:name \"Ada <i>L</i>\" .",
        ),
        (
            "readings",
            "Who read",
            "<http://r.example.com/1> v:readBy <http://people.example.org/1> ; v:of <http://people.example.org/9> .",
        ),
        (
            "series-2020",
            "Series of flows 2020",
            "<http://s.example.org/1> a v:Sample ; v:sampleOf d:a ; v:unit \"m\" .",
        ),
        (
            "series-2021",
            "Series of flows 2021",
            "<http://s.example.org/2> a v:Sample ; v:sampleOf d:a ; v:unit \"m\" .",
        ),
    ];
    let mut catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
            .to_owned();
    for (id, title, content) in contents {
        fs::write(
            folder.path().join(format!("{id}.ttl")),
            format!("{PREFIXES}{content}"),
        )
        .expect("written");
        catalog += &format!(
            "<http://c.example.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{title}\" ;
             dcat:landingPage <http://c.example.org/page/{}> ; dct:issued \"2021-02-11\" ; dct:publisher <http://c.example.org/office> ;
             dcat:distribution [ dcat:downloadURL <{id}.ttl> ] .\n",
            id.trim_end_matches(|c: char| c.is_ascii_digit())
        );
    }
    for (id, title) in [
        ("maps-1", "Old maps of glaciers {1}"),
        ("maps-2", "Glaciers on maps"),
    ] {
        catalog += &format!(
            "<http://c.example.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{title}\" .\n"
        );
    }
    catalog += "<http://c.example.org/office> a <http://xmlns.com/foaf/0.1/Agent> ; <http://xmlns.com/foaf/0.1/name> \"Office\" .\n";
    let path = folder.path().join("catalog.ttl");
    fs::write(&path, catalog).expect("written");
    let home = Home::from_catalog(&path);
    (folder, home)
}

fn site() -> (TempDir, Site) {
    let (folder, home) = home();
    let (app, kept) = home.serve(limits());
    (folder, Site::behind(app, kept))
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["similar"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["id"].as_str().expect("an id"))
        .collect()
}

#[tokio::test]
async fn what_shares_rare_terms_is_similar_and_tells_them() {
    let (_folder, site) = site();
    let answer = site.get("/dataset/rivers-a/similar").await.json();
    assert_eq!(ids(&answer)[0], "rivers-b", "{answer:#}");
    let first = &answer["similar"][0];
    let part = &first["parts"][0];
    assert_eq!(part["by"], "vocabulary");
    assert_eq!(
        (&part["classes"]["count"], &part["classes"]["telling"][0]),
        (&1.into(), &"http://vocab.example.org/River".into())
    );
    assert_eq!(
        part["properties"]["count"], 3,
        "flow, gauge and level, but not rdf:type: {part:#}"
    );
    let sum: f64 = first["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|part| {
            part["score"].as_f64().expect("a number") * part["weight"].as_f64().expect("a number")
        })
        .sum();
    assert!(
        (sum - first["score"].as_f64().expect("a score")).abs() < 1e-9,
        "the parts add up: {first:#}"
    );
    let scores: Vec<f64> = answer["similar"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["score"].as_f64().expect("a score"))
        .collect();
    assert!(
        scores.is_sorted_by(|a, b| a >= b)
            && scores.iter().all(|score| (0.1..=1.0).contains(score)),
        "{scores:?}"
    );
    assert!(!ids(&answer).contains(&"rivers-a"));
    let page = site.accept("/dataset/rivers-a", "text/html").await.body;
    assert!(
        page.contains("Similar datasets")
            && page.contains("/dataset/rivers-b")
            && page.contains("1 class in common"),
        "{page}"
    );
    assert_eq!(
        site.get("/dataset/nothing/similar").await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        site.get("/dataset/people/similar?k=0").await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn links_are_reasons_in_both_directions() {
    let (_folder, site) = site();
    for (from, to, direction) in [("readings", "people", "to"), ("people", "readings", "from")] {
        let answer = site.get(&format!("/dataset/{from}/similar")).await.json();
        let one = answer["similar"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|one| one["id"] == to);
        let parts = one.unwrap_or_else(|| panic!("{to} is not like {from}: {answer:#}"))["parts"]
            .as_array()
            .expect("parts");
        let links = parts
            .iter()
            .find(|part| part["by"] == "links")
            .expect("links");
        assert_eq!(
            links[direction]["telling"][0], "http://people.example.org/",
            "{links:#}"
        );
    }
}

/// Datasets that have nothing in common but a link to a hub, into which most datasets link.
#[test]
fn a_link_to_a_hub_makes_no_datasets_similar() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
            .to_owned();
    for place in 0..20 {
        // Most datasets link to the hub and have their own property, the last four have a rare target and a rare property.
        let (target, property) = match place {
            0..16 => (
                "http://hub.example.org/Q",
                format!("http://d{place}.example.org/p"),
            ),
            _ => (
                "http://rare.example.org/id/",
                "http://rare.example.org/vocabulary/p".to_owned(),
            ),
        };
        let content = format!("<http://d{place}.example.org/1> <{property}> <{target}{place}> .");
        fs::write(folder.path().join(format!("{place}.ttl")), content).expect("written");
        catalog += &format!(
            "<http://c.example.org/{place}> a dcat:Dataset ; dct:identifier \"{place}\" ; dct:title \"Title {place}\" ;
             dcat:distribution [ dcat:downloadURL <{place}.ttl> ] .\n"
        );
    }
    let path = folder.path().join("catalog.ttl");
    fs::write(&path, catalog).expect("written");
    let home = Home::from_catalog(&path);
    let similar = |id: &str| {
        let id = DatasetId::new(id).expect("an id");
        let found = home
            .searcher()
            .similar(&id, 20)
            .expect("found")
            .expect("a dataset")
            .similar;
        found
            .into_iter()
            .map(|one| one.dataset.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(similar("3"), Vec::<String>::new(), "the hub is no reason");
    let rare = similar("17");
    assert!(
        rare.len() == 3 && rare.iter().all(|id| id.starts_with('1') && id.len() == 2),
        "{rare:?}"
    );
}

#[test]
fn editions_are_not_similar_and_words_count_where_nothing_else_does() {
    let (_folder, home) = home();
    let searcher = home.searcher();
    let similar = |id: &str| {
        searcher
            .similar(&DatasetId::new(id).expect("an id"), 10)
            .expect("found")
            .expect("a dataset")
            .similar
    };
    let found = similar("series-2020");
    let editions = searcher
        .catalog()
        .related_datasets(&DatasetId::new("series-2020").expect("an id"))
        .expect("read")
        .expect("there")
        .editions;
    assert_eq!(editions.len(), 1, "the test needs an edition");
    assert!(
        found
            .iter()
            .all(|one| one.dataset.id.as_str() != "series-2021"),
        "{found:#?}"
    );
    let found = similar("maps-1");
    assert_eq!(found[0].dataset.id.as_str(), "maps-2");
    assert!(
        matches!(&found[0].parts[0].basis, SimilarityBasis::Words { words } if words.contains(&"glaciers".to_owned())),
        "{found:#?}"
    );
}

#[test]
fn an_example_is_most_like_the_dataset_it_was_taken_from() {
    let (_folder, home) = home();
    let turtle = format!("{PREFIXES}<http://my.example/> a v:River ; v:flow 7 ; v:unheard 1 .");
    let mut builder = TripleGraphBuilder::new();
    DumpReader::default().read(
        turtle.as_bytes(),
        "x.ttl",
        "http://my.example/",
        &mut builder,
    );
    let found = home
        .searcher()
        .similar_to(&ExampleGraph::new(&builder.finish()), 1)
        .expect("found")
        .similar;
    assert_eq!(found.len(), 1);
    assert!(
        found[0].dataset.id.as_str().starts_with("rivers-"),
        "{found:#?}"
    );
}

fn form(parts: &[(&str, &str, &str)]) -> Request<Body> {
    let mut body = String::new();
    for (name, file, text) in parts {
        let file = if file.is_empty() {
            String::new()
        } else {
            format!("; filename=\"{file}\"")
        };
        body += &format!(
            "--XX\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{text}\r\n"
        );
    }
    body += "--XX--\r\n";
    let request = Request::builder()
        .method(Method::POST)
        .uri("/like?format=html");
    request
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(Body::from(body))
        .expect("a request")
}

#[tokio::test]
async fn examples_are_sent_pasted_and_named() {
    let (_folder, site) = site();
    let turtle = format!("{PREFIXES}<http://my.example/> a v:River ; v:flow 7 .");
    let sent = site.post("/like", "text/turtle", &turtle).await;
    assert_eq!(sent.status, StatusCode::OK, "{}", sent.body);
    assert!(ids(&sent.json())[0].starts_with("rivers-"));
    assert_eq!(sent.json()["example"]["triples"], 2);
    let page = site
        .send(form(&[
            ("file", "../a/my.ttl", &turtle),
            ("text", "", ""),
            ("dataset", "", ""),
        ]))
        .await;
    assert!(
        page.status == StatusCode::OK
            && page.body.contains("my.ttl</b>: 2 triples were read.")
            && page.body.contains("rivers-a"),
        "{}",
        page.body
    );
    let file = ("file", "my.ttl", turtle.as_str());
    let page = site.send(form(&[file, file])).await;
    assert!(
        page.status == StatusCode::BAD_REQUEST && page.body.contains("several files"),
        "{}",
        page.body
    );
    let broken = format!("{turtle}\n<http://my.example/> v:flow unknown:prefix .\n");
    let page = site
        .send(form(&[("file", "", ""), ("text", "", &broken)]))
        .await;
    assert!(
        page.body.contains("line 5") && page.body.contains("rivers-a"),
        "{}",
        page.body
    );
    let page = site.send(form(&[("text", "", "<<< this is no RDF")])).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.body);
    assert_eq!(
        site.send(form(&[("text", "", " ")])).await.status,
        StatusCode::BAD_REQUEST
    );
    let named = site.get("/like?dataset=rivers-a").await.json();
    assert_eq!(ids(&named)[0], "rivers-b");
    let large = "#".repeat((16 << 20) + 1);
    assert_eq!(
        site.post("/like", "text/turtle", &large).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let refused = site
        .post("/like", "application/ld+json", &chain_of_prefixes(65))
        .await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(
        refused
            .body
            .contains("up to 65 terms are defined one by the other"),
        "{}",
        refused.body
    );
    let page = site.accept("/like", "text/html").await;
    assert!(page.status == StatusCode::OK && page.body.contains("enctype=\"multipart/form-data\""));
}

#[tokio::test]
async fn a_resource_is_shown_with_what_leads_to_it() {
    let (_folder, site) = site();
    let address = "/dataset/rivers-a/entity?iri=http%3A%2F%2Fplaces.example.org%2Fid%2Fb";
    let page = site.accept(address, "text/html").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(
        page.body.contains("<h2>Referenced by</h2>") && page.body.contains("Alfa"),
        "{}",
        page.body
    );
    assert!(
        page.body
            .contains("entity?iri=http%3A%2F%2Fplaces.example.org%2Fid%2Fa"),
        "links stay within: {}",
        page.body
    );
    assert!(
        page.body.contains("entity?iri=_%3Ab"),
        "blank nodes too: {}",
        page.body
    );
    let turtle = site.accept(address, "text/turtle").await;
    let mut graph = TripleGraphBuilder::new();
    DumpReader::default().read(turtle.body.as_bytes(), "x.ttl", "http://e.org/", &mut graph);
    assert_eq!(
        graph.finish().len(),
        4,
        "type, gauge, its level, and what joins it: {}",
        turtle.body
    );
    let blank = site
        .accept("/dataset/rivers-a/entity?iri=_:b0", "text/html")
        .await;
    assert!(
        blank.status == StatusCode::OK && blank.body.contains("level"),
        "{}",
        blank.body
    );
    let hostile = site
        .accept(
            "/dataset/people/entity?iri=http://people.example.org/1",
            "text/html",
        )
        .await;
    assert!(
        hostile.body.contains("Ada &#60;i&#62;L") && !hostile.body.contains("<i>L"),
        "{}",
        hostile.body
    );
    for (path, status) in [
        (
            "/dataset/people/entity?iri=http://nobody.example.org/",
            StatusCode::NOT_FOUND,
        ),
        (
            "/dataset/people/entity?iri=no%20iri",
            StatusCode::BAD_REQUEST,
        ),
        ("/dataset/people/entity", StatusCode::BAD_REQUEST),
        (
            "/dataset/nobody/entity?iri=http://e.org/",
            StatusCode::NOT_FOUND,
        ),
        (
            "/dataset/people/entity?iri=http://people.example.org/1&skip=20001",
            StatusCode::BAD_REQUEST,
        ),
    ] {
        assert_eq!(
            site.accept(path, "text/html").await.status,
            status,
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_page_shows_the_shape_and_examples() {
    let (_folder, site) = site();
    let page = site.accept("/dataset/rivers-a", "text/html").await.body;
    for part in [
        "class=\"drawing schema\"",
        "<summary>2 links</summary>",
        "Vocabularies",
        "one of 2",
        "entity?iri=",
        "<summary>BibTeX</summary>",
        "/rdf-graph-store?graph=",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[tokio::test]
async fn citations_come_in_three_forms() {
    let (_folder, site) = site();
    let bibtex = site.get("/dataset/maps-1/cite").await;
    assert_eq!(bibtex.media_type(), "application/x-bibtex");
    assert!(
        bibtex.body.starts_with("@misc{maps-1,")
            && bibtex
                .body
                .contains("glaciers \\textbraceleft{}1\\textbraceright{}"),
        "{}",
        bibtex.body
    );
    let ris = site.get("/dataset/rivers-a/cite?format=ris").await.body;
    assert!(
        ris.starts_with("TY  - DATA\r\n")
            && ris.contains("PY  - 2021\r\n")
            && ris.ends_with("ER  - \r\n"),
        "{ris}"
    );
    let csl = site
        .accept(
            "/dataset/rivers-a/cite",
            "application/vnd.citationstyles.csl+json",
        )
        .await
        .json();
    assert_eq!(csl[0]["title"], "Rivers of the north");
    assert_eq!(
        site.get("/dataset/rivers-a/cite?format=endnote")
            .await
            .status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        site.get("/dataset/nobody/cite").await.status,
        StatusCode::NOT_FOUND
    );
}

#[test]
fn words_and_examples_rank_together() {
    let (_folder, home) = home();
    let search = |query: &str, examples: &[Example]| {
        let request = SearchRequest {
            examples: examples.to_vec(),
            ..SearchRequest::new(query)
        };
        home.searcher().search(&request)
    };
    let like = |id: &str| Example::Dataset(DatasetId::new(id).expect("an id"));
    let ids = |response: &SearchResponse| -> Vec<String> {
        response
            .hits
            .iter()
            .map(|hit| hit.card.metadata.id.to_string())
            .collect()
    };
    let words = search("waters of people", &[]).expect("found");
    assert!(
        ids(&words)
            .iter()
            .all(|id| id == "people" || id == "rivers-b"),
        "{:?}",
        ids(&words)
    );

    let both = search("waters of people", &[like("rivers-a")]).expect("found");
    assert_eq!(
        ids(&both)[0],
        "rivers-b",
        "found by words and similar to the example"
    );
    assert!(
        !ids(&both).contains(&"rivers-a".to_owned()),
        "the example itself is not found"
    );
    let best = &both.hits[0];
    assert_eq!(best.similar_to.len(), 1);
    assert!(
        best.similar_to[0].score > 0.2 && !best.similar_to[0].parts.is_empty(),
        "{:?}",
        best.similar_to
    );
    let people = both
        .hits
        .iter()
        .find(|hit| hit.card.metadata.id.as_str() == "people")
        .expect("found by words");
    assert!(people.similar_to.is_empty() && !people.fields.is_empty());
    assert_eq!(
        both.examples[0]
            .as_ref()
            .map(|example| example.title.as_str()),
        Some("Rivers of the north")
    );

    let similar_only = search("glaciers", &[like("rivers-a"), like("readings")]).expect("found");
    let found = ids(&similar_only);
    assert!(
        found.contains(&"rivers-b".to_owned()),
        "similar datasets without a word of the query are found: {found:?}"
    );
    assert_eq!(similar_only.total, found.len(), "the total counts them");
    let second = similar_only
        .hits
        .iter()
        .flat_map(|hit| &hit.similar_to)
        .any(|similarity| similarity.example == 1);
    assert!(second, "the links of the second example are a reason");

    let filter = Filter::default().with(Facet::Class, "http://xmlns.com/foaf/0.1/Person");
    let filtered = SearchRequest {
        filter,
        examples: vec![like("rivers-a")],
        ..SearchRequest::new("waters of people")
    };
    assert_eq!(
        ids(&home.searcher().search(&filtered).expect("found")),
        ["people"]
    );

    let unknown = search("waters", &[like("nothing")])
        .expect_err("unknown")
        .to_string();
    assert_eq!(
        unknown,
        "like: the index has no dataset with the id nothing"
    );
    let many = search("waters", &vec![like("people"); 6])
        .expect_err("too many")
        .to_string();
    assert_eq!(many, "like: 6 examples; the limit is 5");
}

#[tokio::test]
async fn examples_of_a_search_are_parameters() {
    let (_folder, site) = site();
    let answer = site.get("/api/search?q=waters&like=rivers-a").await.json();
    let hits = answer["hits"].as_array().expect("hits");
    assert!(
        hits[0]["id"] == "rivers-b" && hits.iter().all(|hit| hit["id"] != "rivers-a"),
        "{answer}"
    );
    assert_eq!(answer["examples"][0]["id"], "rivers-a");
    let similarity = &answer["hits"][0]["similarTo"][0];
    assert!(
        similarity["example"] == 0 && similarity["parts"][0]["by"] == "vocabulary",
        "{answer}"
    );
    let unknown = site.get("/api/search?q=waters&like=nothing").await;
    assert!(
        unknown.status == StatusCode::BAD_REQUEST && unknown.body.contains("nothing"),
        "{}",
        unknown.body
    );

    let page = site.get("/?q=waters&like=rivers-a&lang=en").await.body;
    assert!(page.contains("Similar to Rivers of the north"), "{page}");
    assert!(
        page.contains("1 class in common") && page.contains("name=\"like\" value=\"rivers-a\""),
        "{page}"
    );
    assert_eq!(
        site.get("/?q=&like=rivers-a&like=people").await.status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        site.get("/feeds/datasets.atom?like=rivers-a").await.status,
        StatusCode::BAD_REQUEST
    );
    let to_similar = site.get("/?q=&like=rivers-a").await;
    assert_eq!(
        (to_similar.status, to_similar.header("location")),
        (
            StatusCode::SEE_OTHER,
            "/dataset/rivers-a/similar?format=html&k=50"
        )
    );
    assert!(
        site.get("/dataset/rivers-a?format=html")
            .await
            .body
            .contains("name=\"like\" value=\"rivers-a\"")
    );

    for (value, expected) in [
        ("<http://localhost:7878/dataset/rivers-a>", Ok(hits.len())),
        (
            "<http://elsewhere.example/rivers-a>",
            Err("no dataset of this store"),
        ),
        ("'rivers-a'", Err("expected the IRI of a dataset")),
    ] {
        let query = format!(
            "PREFIX search: <https://w3id.org/lodeseek/search#>
             SELECT ?d {{ SERVICE search:service {{ ?d search:text 'waters' ; search:like {value} ; search:rank ?rank }} }}"
        );
        let reply = site
            .post("/sparql", "application/sparql-query", &query)
            .await;
        match expected {
            Ok(number) => {
                assert_eq!(
                    reply.json()["results"]["bindings"]
                        .as_array()
                        .expect("rows")
                        .len(),
                    number,
                    "{}",
                    reply.body
                );
            }
            Err(part) => {
                assert!(
                    reply.status == StatusCode::BAD_REQUEST && reply.body.contains(part),
                    "{}",
                    reply.body
                )
            }
        }
    }
}

#[cfg(feature = "rocksdb")]
#[test]
fn the_command_line_searches_by_words_and_examples() {
    use super::support::run;
    let (folder, home) = home();
    let file = folder.path().join("rivers-a.ttl");
    let file = file.to_str().expect("UTF-8");
    let home = home.into_folder();
    let by_id = run(home.path(), &["search", "waters", "--like", "rivers-a"]);
    assert!(
        by_id.out.contains("similar to rivers-a: ") && by_id.out.contains("class in common: "),
        "{}",
        by_id.out
    );
    let by_file = run(
        home.path(),
        &["search", "waters", "--like", file, "--explain"],
    );
    assert!(
        by_file.out.contains(&format!("similar to {file} (0.")),
        "{}",
        by_file.out
    );
    let unknown = run(home.path(), &["search", "waters", "--like", "rivers"]);
    assert!(
        unknown.code == Some(2) && unknown.err.contains("neither a dataset nor a file"),
        "{}",
        unknown.err
    );
}
