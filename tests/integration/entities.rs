//! From words to entities, and from a resource to datasets: in SPARQL, in the API and on the page.

use super::http::{Reply, Site};
use super::support::{Home, limits, testdata};
use axum::http::StatusCode;
use lodeseek_engine::{EntityRequest, Federation};
use lodeseek_snippet::Deadline;
use lodeseek_sparql::{Answer, QueryRequest, Services, SparqlError};
use oxrdf::Term;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

const GINKGO: &str = "<http://example.org/trees/species/ginkgo_biloba>";

struct Served {
    home: Home,
    services: Arc<dyn Services>,
}

/// The test data, indexed once.
fn served() -> &'static Served {
    static SERVED: OnceLock<Served> = OnceLock::new();
    SERVED.get_or_init(|| {
        let home = Home::from_catalog(&testdata("catalog.ttl"));
        let services =
            Federation::new(&home.queries, limits()).with_search(Arc::new(home.searcher()));
        Served {
            home,
            services: Arc::new(services),
        }
    })
}

fn ask(query: &str) -> Result<Answer, SparqlError> {
    let Served { home, services } = served();
    let query = format!("PREFIX search: <https://w3id.org/lodeseek/search#> {query}");
    let request = QueryRequest {
        query,
        services: Some(Arc::clone(services)),
        ..QueryRequest::default()
    };
    home.queries.evaluate(&request, &limits())
}

fn rows(query: &str) -> Vec<Vec<String>> {
    let answer = ask(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let Answer::Solutions { rows, .. } = answer else {
        panic!("no solutions: {query}")
    };
    let text = |term: Option<Term>| match term {
        Some(Term::Literal(literal)) => literal.value().to_owned(),
        Some(other) => other.to_string(),
        None => "-".to_owned(),
    };
    rows.into_iter()
        .map(|row| row.into_iter().map(text).collect())
        .collect()
}

fn error(query: &str) -> String {
    ask(query)
        .map(|answer| panic!("{query}: {answer:?}"))
        .unwrap_err()
        .to_string()
}

fn column(rows: &[Vec<String>], place: usize) -> BTreeSet<String> {
    rows.iter().map(|row| row[place].clone()).collect()
}

#[test]
fn entities_are_the_subjects_of_literals_with_the_words() {
    for word in ["ginkgo", "river", "station"] {
        let found = rows(&format!(
            "SELECT ?dataset ?entity ?property ?literal {{ ?m search:literalText '{word}' ; search:limit 1000 ;
               search:dataset ?dataset ; search:entity ?entity ; search:property ?property ; search:literal ?literal }}"
        ));
        let expected = rows(&format!(
            "SELECT DISTINCT ?dataset ?entity {{ GRAPH ?dataset {{ ?entity ?p ?l
               FILTER(ISIRI(?entity) && REGEX(STR(?l), '(^|[^a-z]){word}([^a-z]|$)', 'i') && ISLITERAL(?l)) }} }}"
        ));
        let named = |rows: &[Vec<String>]| {
            let pairs = rows.iter().map(|row| (row[0].clone(), row[1].clone()));
            pairs
                .filter(|(_, entity)| entity.starts_with('<'))
                .collect::<BTreeSet<_>>()
        };
        assert!(!expected.is_empty(), "{word}");
        assert_eq!(named(&found), named(&expected), "{word}");
        assert!(
            found.iter().all(|row| row[3].to_lowercase().contains(word)),
            "{found:?}"
        );
    }
}

#[test]
fn names_come_first_and_ranks_and_scores_are_ordered() {
    let found = rows(
        "SELECT ?rank ?score ?entity ?complete { SERVICE search:service { ?m search:literalText 'ginkgo' ;
           search:rank ?rank ; search:score ?score ; search:entity ?entity ; search:complete ?complete } } ORDER BY ?rank",
    );
    assert_eq!(found[0][2], GINKGO);
    let scores: Vec<f64> = found
        .iter()
        .map(|row| row[1].parse().expect("a number"))
        .collect();
    assert!(
        scores.windows(2).all(|pair| pair[0] >= pair[1]),
        "{scores:?}"
    );
    assert!(
        found
            .iter()
            .enumerate()
            .all(|(place, row)| row[0] == (place + 1).to_string() && row[3] == "true")
    );
    let second = rows(
        "SELECT ?rank ?entity { ?m search:literalText 'station' ; search:limit 1 ; search:offset 1 ; search:rank ?rank ;
           search:entity ?entity }",
    );
    assert_eq!((second.len(), second[0][0].as_str()), (1, "2"));
}

#[test]
fn entities_join_the_content_of_their_datasets() {
    let found = rows(
        "SELECT ?entity ?family { SERVICE search:service { ?m search:literalText 'ginkgo' ; search:limit 100 ;
           search:dataset ?dataset ; search:entity ?entity }
         GRAPH ?dataset { ?entity <http://example.org/trees/vocab#family> ?family } }",
    );
    assert!(
        found.contains(&vec![GINKGO.to_owned(), "Ginkgoaceae".to_owned()]),
        "{found:?}"
    );
}

#[test]
fn a_search_may_be_restricted_to_datasets() {
    let home = &served().home;
    let all = rows(
        "SELECT ?d { ?m search:literalText 'nitrogen station' ; search:limit 1000 ; search:dataset ?d }",
    );
    assert!(column(&all, 0).len() > 1, "{all:?}");
    for dataset in column(&all, 0) {
        let one = rows(&format!(
            "SELECT ?d {{ ?m search:literalText 'nitrogen station' ; search:limit 1000 ; search:inDataset {dataset} ; search:dataset ?d }}"
        ));
        assert_eq!(
            one,
            all.iter()
                .filter(|row| row[0] == dataset)
                .cloned()
                .collect::<Vec<_>>()
        );
    }
    let each = rows(
        "SELECT ?dataset ?d { SERVICE search:service { ?dataset search:text 'nitrogen' ; search:rank ?rank }
         SERVICE search:service { ?m search:literalText 'nitrogen station' ; search:inDataset ?dataset ; search:limit 1000 ;
           search:dataset ?d } }",
    );
    assert!(
        !each.is_empty() && each.iter().all(|row| row[0] == row[1]),
        "{each:?}"
    );
    let unknown = rows(&format!(
        "SELECT ?d {{ ?m search:literalText 'river' ; search:inDataset <{}dataset/none> ; search:dataset ?d }}",
        home.queries.store().iris().base()
    ));
    assert!(unknown.is_empty());
}

#[test]
fn wrong_searches_are_rejected_with_a_reason() {
    for (pattern, reason) in [
        ("?m search:literalText ' ' ; search:entity ?e", "empty"),
        (
            "?m search:literalText 'a' ; search:limit 1001 ; search:entity ?e",
            "from 1 to 1000",
        ),
        (
            "?m search:literalText 'a' ; search:offset 10001 ; search:entity ?e",
            "at most 10000",
        ),
        (
            "?m search:literalText 'a' ; search:inDataset <http://e.org/x> ; search:entity ?e",
            "no dataset of this store",
        ),
        (
            "?m search:literalText <http://e.org/x> ; search:entity ?e",
            "expected a literal",
        ),
        (
            "?m search:literalText 'a' ; search:theme 'b' ; search:entity ?e",
            "cannot be combined",
        ),
        (
            "?m search:text 'a' ; search:literalText 'b' ; search:entity ?e",
            "cannot be combined",
        ),
        (
            "?m search:occurrenceOf 'a' ; search:dataset ?d",
            "expected an IRI",
        ),
        ("?m search:entity ?e", "a search needs words"),
        (
            "?d search:text 'a' ; search:titel ?t",
            "no property <https://w3id.org/lodeseek/search#titel>",
        ),
    ] {
        let message = error(&format!(
            "SELECT * {{ SERVICE search:service {{ {pattern} }} }}"
        ));
        assert!(message.contains(reason), "{pattern}: {message}");
    }
}

#[test]
fn occurrences_are_those_of_the_contents() {
    let concept = "<http://www.w3.org/2004/02/skos/core#Concept>";
    let found = rows(&format!(
        "SELECT ?d ?role ?count {{ ?o search:occurrenceOf {concept} ; search:dataset ?d ; search:role ?role ; search:count ?count }}"
    ));
    let as_class = rows(&format!(
        "SELECT ?d ('class' AS ?role) (COUNT(DISTINCT ?e) AS ?n) {{ GRAPH ?d {{ ?e a {concept} }} }} GROUP BY ?d"
    ));
    assert!(
        !as_class.is_empty() && as_class.iter().all(|row| found.contains(row)),
        "{found:?} {as_class:?}"
    );
    let ginkgo = rows(&format!(
        "SELECT ?d ?role ?count {{ ?o search:occurrenceOf {GINKGO} ; search:dataset ?d ; search:role ?role ; search:count ?count }}"
    ));
    for (role, pattern) in [
        ("subject", format!("{GINKGO} ?p ?o")),
        ("object", format!("?s ?p {GINKGO}")),
    ] {
        let expected = rows(&format!(
            "SELECT ?d ('{role}' AS ?role) (COUNT(*) AS ?n) {{ GRAPH ?d {{ {pattern} }} }} GROUP BY ?d"
        ));
        assert_eq!(
            ginkgo
                .iter()
                .filter(|row| row[1] == role)
                .cloned()
                .collect::<Vec<_>>(),
            expected
        );
    }
    assert!(
        rows("SELECT ?d { ?o search:occurrenceOf <http://e.org/none> ; search:dataset ?d }")
            .is_empty()
    );
}

#[test]
fn a_passed_deadline_gives_an_incomplete_result() {
    let searcher = served().home.searcher();
    let request = EntityRequest {
        text: "river".to_owned(),
        depth: 10,
        ..EntityRequest::default()
    };
    let found = searcher
        .search_entities(&request, Deadline::new(&|| true))
        .expect("found");
    assert!(found.hits.is_empty() && !found.is_complete);
    assert!(
        searcher
            .search_entities(&request, Deadline::never())
            .expect("found")
            .is_complete
    );
}

fn assert_is(reply: &Reply, status: StatusCode, text: &str) {
    assert_eq!(reply.status, status, "{}", reply.body);
    assert!(
        reply.body.contains(text),
        "{text:?} is not in {}",
        reply.body
    );
}

#[tokio::test]
async fn the_api_returns_entities_and_occurrences() {
    let site = Site::testdata();
    let found = site.get("/api/entities?q=ginkgo").await.json();
    assert_eq!(
        found["hits"][0]["entity"]["value"],
        "http://example.org/trees/species/ginkgo_biloba"
    );
    assert_eq!(
        (found["complete"].as_bool(), found["terms"][0].as_str()),
        (Some(true), Some("ginkgo"))
    );
    assert_eq!(found["hits"][0]["dataset"]["id"], "street-trees");
    let one = site
        .get("/api/entities?q=station+river&dataset=chesapeake-water&k=100")
        .await
        .json();
    let hits = one["hits"].as_array().expect("hits");
    assert!(
        !hits.is_empty()
            && hits
                .iter()
                .all(|hit| hit["dataset"]["id"] == "chesapeake-water"),
        "{one}"
    );
    assert_eq!(one["total"], hits.len());
    let resource = site
        .get("/api/entities?q=http://example.org/trees/species/ginkgo_biloba")
        .await
        .json();
    assert_eq!(resource["datasets"][0]["id"], "street-trees");
    assert!(
        resource["datasets"][0]["subject"].as_u64() > Some(2) && resource["exact"] == true,
        "{resource}"
    );
    for (address, status, reason) in [
        ("/api/entities", StatusCode::BAD_REQUEST, "q is missing"),
        ("/api/entities?q=", StatusCode::BAD_REQUEST, "empty"),
        (
            "/api/entities?q=a&k=101",
            StatusCode::BAD_REQUEST,
            "from 1 to 100",
        ),
        (
            "/api/entities?q=a&skip=10001",
            StatusCode::BAD_REQUEST,
            "at most 10000",
        ),
        (
            "/api/entities?q=a&datset=b",
            StatusCode::BAD_REQUEST,
            "did you mean dataset?",
        ),
        (
            "/api/entities?q=a&dataset=none",
            StatusCode::NOT_FOUND,
            "none",
        ),
    ] {
        let reply = site.get(address).await;
        assert_is(&reply, status, reason);
        assert!(reply.json()["error"].is_string(), "{}", reply.body);
    }
}

#[tokio::test]
async fn the_pages_lead_to_entities_and_to_datasets() {
    let site = Site::testdata();
    let page = site.get("/entities?q=ginkgo").await;
    assert_is(&page, StatusCode::OK, "<mark>");
    assert!(
        page.body.contains("/dataset/street-trees/entity?iri="),
        "{}",
        page.body
    );
    let results = site.get("/?q=ginkgo").await;
    assert_is(&results, StatusCode::OK, "/entities?q=ginkgo");
    let entity = site
        .get("/dataset/street-trees/entity?iri=http://example.org/trees/species/ginkgo_biloba")
        .await;
    assert_is(
        &entity,
        StatusCode::OK,
        "/entities?q=%3Chttp%3A%2F%2Fexample.org%2Ftrees%2Fspecies%2Fginkgo_biloba%3E",
    );
    let occurrences = site
        .get("/entities?q=%3Chttp%3A%2F%2Fexample.org%2Ftrees%2Fspecies%2Fginkgo_biloba%3E")
        .await;
    assert_is(
        &occurrences,
        StatusCode::OK,
        "/dataset/street-trees/entity?iri=",
    );
    assert!(
        occurrences.body.contains("subject of"),
        "{}",
        occurrences.body
    );
    let first = site.get("/entities?q=station&k=1").await;
    assert_is(&first, StatusCode::OK, "skip=1");
    assert_is(
        &site.get("/entities?q=xqzw").await,
        StatusCode::OK,
        "0 entities",
    );
    assert_is(
        &site.get("/dataset/street-trees").await,
        StatusCode::OK,
        "action=\"/entities\"",
    );
    assert_is(
        &site.get("/entities?q=%3Cb%3Ex%26").await,
        StatusCode::OK,
        "&#60;b&#62;x&#38;",
    );
    assert_eq!(
        site.get("/entities?q=a&dataset=none").await.status,
        StatusCode::NOT_FOUND
    );
}
