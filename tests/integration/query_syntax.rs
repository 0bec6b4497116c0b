//! Phrases, exclusions and names in queries, through the JSON API and the page.

use super::http::Site;
use serde_json::Value;

fn ids(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().expect("hits");
    hits.iter()
        .map(|hit| hit["id"].as_str().expect("an id"))
        .collect()
}

#[tokio::test]
async fn a_phrase_must_occur_as_typed() {
    let site = Site::testdata();
    let found = site
        .get("/api/search?q=%22nitrogen+reduction%22")
        .await
        .json();
    assert_eq!(ids(&found), ["chesapeake-water"]);
    assert_eq!(found["interpretations"][0]["kind"], "phrase");
    assert_eq!(found["interpretations"][0]["text"], "nitrogen reduction");
    let reversed = site
        .get("/api/search?q=%22reduction+nitrogen%22")
        .await
        .json();
    assert!(ids(&reversed).is_empty());
    let literal = site
        .get("/api/search?q=%22reduction+nitrogen%22&literal=true")
        .await
        .json();
    assert!(ids(&literal).contains(&"chesapeake-water"));
    assert!(literal.get("interpretations").is_none());
}

#[tokio::test]
async fn a_minus_excludes() {
    let site = Site::testdata();
    let all = site.get("/api/search?q=water+nitrogen").await.json();
    assert!(ids(&all).contains(&"chesapeake-water"));
    let found = site.get("/api/search?q=water+-nitrogen").await.json();
    assert!(!ids(&found).contains(&"chesapeake-water"));
    assert_eq!(found["interpretations"][0]["excluded"], true);
}

#[tokio::test]
async fn names_filter_or_are_words() {
    let site = Site::testdata();
    let found = site.get("/api/search?q=trees+skos:prefLabel").await.json();
    assert_eq!(found["interpretations"][0]["kind"], "property");
    assert!(!ids(&found).contains(&"street-trees"));
    let unknown = site.get("/api/search?q=nitrogen+foaf:Nobody").await.json();
    assert_eq!(unknown["interpretations"][0]["kind"], "unknown");
    assert!(ids(&unknown).contains(&"chesapeake-water"));
}

#[tokio::test]
async fn the_page_shows_the_interpretation_with_a_link_to_undo_it() {
    let site = Site::testdata();
    let page = site.get("/?q=%22nitrogen+reduction%22&lang=en").await;
    assert!(
        page.body.contains("the phrase") && page.body.contains("literal=true"),
        "{}",
        page.body
    );
    let literal = site
        .get("/?q=%22nitrogen+reduction%22&lang=en&literal=true")
        .await;
    assert!(!literal.body.contains("the phrase"), "{}", literal.body);
}
