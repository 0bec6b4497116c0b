//! Descriptions that come in and go out in other forms than DCAT: Croissant, markup for dataset search engines, HTML.

use super::http::Site;
use super::support::{limits, testdata};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// Returns the JSON with lists in one order: statements have none.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(values) => {
            let mut values: Vec<Value> = values.iter().map(sorted).collect();
            values.sort_by_key(Value::to_string);
            Value::Array(values)
        }
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (key.clone(), sorted(value)))
            .collect(),
        other => other.clone(),
    }
}

/// Returns the markup of a dataset's page.
async fn markup(site: &Site, id: &str) -> Value {
    let page = site
        .accept(&format!("/dataset/{id}"), "text/html")
        .await
        .body;
    let script = page
        .split("<script type=\"application/ld+json\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(script.expect("a script")).expect("JSON")
}

async fn found(site: &Site, query: &str) -> Vec<String> {
    let answer = site.get(&format!("/api/search?q={query}")).await.json();
    let hits = answer["hits"].as_array().expect("hits").iter();
    hits.map(|hit| hit["id"].as_str().expect("an id").to_owned())
        .collect()
}

fn croissant_document() -> Value {
    let text = fs::read_to_string(testdata("catalogs/croissant-fields.json")).expect("read");
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test]
async fn croissant_leaves_as_it_came() {
    let site = Site::from_catalog(&testdata("catalogs/croissant-fields.json"), limits());
    let reply = site.get("/dataset/shells/croissant").await;
    assert_eq!(
        (reply.status, reply.media_type()),
        (StatusCode::OK, "application/ld+json"),
        "{}",
        reply.body
    );
    let (mut document, mut expected) = (reply.json(), croissant_document());
    let context = document
        .as_object_mut()
        .and_then(|object| object.remove("@context"))
        .expect("a context");
    for (term, meaning) in expected["@context"].as_object().expect("a context") {
        assert_eq!(&context[term], meaning, "{term}");
    }
    expected
        .as_object_mut()
        .expect("an object")
        .remove("@context");
    // A number of bytes gets its unit.
    for file in expected["distribution"].as_array_mut().expect("files") {
        if file["contentSize"] == "4096" {
            file["contentSize"] = json!("4096 B");
        }
    }
    assert_eq!(sorted(&document), sorted(&expected));
}

#[tokio::test]
async fn croissant_of_version_1_0_has_its_context() {
    let mut own = croissant_document();
    own["conformsTo"] = json!("http://mlcommons.org/croissant/1.0");
    own["name"] = json!("Sea shells");
    for term in ["containedIn", "name", "description"] {
        own["@context"]
            .as_object_mut()
            .expect("a context")
            .remove(term);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shells.json");
    fs::write(&path, own.to_string()).expect("written");
    let document = Site::from_catalog(&path, limits())
        .get("/dataset/shells/croissant")
        .await
        .json();
    assert_eq!(document["conformsTo"], own["conformsTo"]);
    assert!(
        document["@context"]["containedIn"].is_null() && document["@context"]["name"].is_null()
    );
    assert_eq!(
        document["distribution"][0]["containedIn"],
        json!({"@id": "archive.zip"})
    );
}

#[tokio::test]
async fn texts_of_fields_are_found() {
    let site = Site::from_catalog(&testdata("catalogs/croissant-fields.json"), limits());
    for query in ["hinge", "width", "Strandens"] {
        assert_eq!(found(&site, query).await, ["shells"], "{query}");
    }
    let matched = site.get("/api/search?q=hinge").await.json();
    assert_eq!(matched["hits"][0]["fields"][0]["field"], "description");
}

#[tokio::test]
async fn descriptions_without_content_state_no_triples() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("short.ttl");
    let turtle = r#"@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/set/short> a dcat:Dataset ; dct:title "Moths" ; dct:description "Moths at night" ; dcat:keyword "insects" ;
            dct:publisher [ <http://xmlns.com/foaf/0.1/name> "Institute of Nights and Lights" ] ;
            dcat:distribution [ dcat:downloadURL <http://e.org/moths.csv> ] ."#;
    fs::write(&path, turtle).expect("written");
    let site = Site::from_catalog(&path, limits());
    let document = site.get("/dataset/short/croissant").await.json();
    assert_eq!(document["description"], "Moths at night");
    assert_eq!(
        markup(&site, "short").await["description"],
        "Moths at night",
        "a short description is not extended"
    );
}

#[tokio::test]
async fn markup_follows_the_rules_of_search_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.ttl");
    let long = "A very long description of moths. ".repeat(300);
    let turtle = format!(
        r#"@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        @prefix geo: <http://www.opengis.net/ont/geosparql#> . @prefix e: <http://e.org/set/> . @prefix schema: <https://schema.org/> .
        e:closed a dcat:Dataset ; dct:title "Moths" ; dct:description "{long}" ; dct:license <http://e.org/licence> ;
            dct:temporal [ dcat:startDate "2001-02-03"^^xsd:date ; dcat:endDate "2004-05-06"^^xsd:date ] ;
            dct:spatial [ dcat:bbox "POLYGON((4 50, 6 50, 6 51.5, 4 51.5, 4 50))"^^geo:wktLiteral ] ; schema:isAccessibleForFree true .
        e:open a dcat:Dataset ; dct:title "Bats" ; dct:license "On request" ; dct:temporal [ dcat:startDate "2010-07-01"^^xsd:date ] ;
            dct:spatial [ dcat:centroid "POINT(5.5 50.5)"^^geo:wktLiteral ] .
        e:until a dcat:Dataset ; dct:title "Owls" ; dct:temporal [ dcat:endDate "2012-12-31"^^xsd:date ] ; dct:spatial "Old forest" .
        e:day a dcat:Dataset ; dct:title "Foxes" ; dct:license <https://creativecommons.org/publicdomain/zero/1.0/> ;
            dct:temporal [ dcat:startDate "2012-12-31"^^xsd:date ; dcat:endDate "2012-12-31"^^xsd:date ] ."#
    );
    fs::write(&path, turtle).expect("written");
    let site = Site::from_catalog(&path, limits());
    let mut pages = BTreeMap::new();
    for id in ["closed", "open", "until", "day"] {
        pages.insert(id, markup(&site, id).await);
    }
    let text = pages["closed"]["description"].as_str().expect("a text");
    assert!(
        (4990..=5000).contains(&text.chars().count()),
        "{}",
        text.chars().count()
    );
    let values = |key: &str| -> Vec<Value> {
        ["closed", "open", "until", "day"]
            .iter()
            .map(|id| pages[id][key].clone())
            .collect()
    };
    assert_eq!(
        values("temporalCoverage"),
        [
            json!("2001-02-03/2004-05-06"),
            json!("2010-07-01/.."),
            json!("../2012-12-31"),
            json!("2012-12-31")
        ]
    );
    assert_eq!(
        values("spatialCoverage"),
        [
            json!({"@type": "Place", "geo": {"@type": "GeoShape", "box": "50 4 51.5 6"}}),
            json!({"@type": "Place", "geo": {"@type": "GeoCoordinates", "latitude": 50.5, "longitude": 5.5}}),
            json!({"@type": "Place", "name": "Old forest"}),
            Value::Null,
        ]
    );
    assert_eq!(
        values("license"),
        [
            json!("http://e.org/licence"),
            json!({"@type": "CreativeWork", "name": "On request"}),
            Value::Null,
            json!("https://creativecommons.org/publicdomain/zero/1.0/"),
        ]
    );
    assert_eq!(
        values("isAccessibleForFree"),
        [json!(true), Value::Null, Value::Null, Value::Null]
    );
}

#[tokio::test]
async fn html_is_shown_and_found_as_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.json");
    let html = "<div style=\"color:purple\"><p>Counts of <b>moths</b> &amp; bats.</p><ul><li>every night</li></ul>\
        <p><a href=\"http://e.org/nights\" target=\"_top\">More</a></p></div>";
    let catalog = json!({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [
        {"identifier": "moths", "title": "Moths &amp; lamps", "description": html, "keyword": ["R&amp;D"], "accessLevel": "public"},
        {"identifier": "types", "title": "Types", "description": "Of Vec<String> and a < b", "keyword": ["code"], "accessLevel": "public"},
    ]});
    fs::write(&path, catalog.to_string()).expect("written");
    let site = Site::from_catalog(&path, limits());
    let text = "Counts of moths & bats.\n\n• every night\n\nMore";
    let hit = site.get("/api/search?q=moths").await.json()["hits"][0].clone();
    assert_eq!(
        (&hit["title"], &hit["description"]),
        (&json!("Moths & lamps"), &json!(text))
    );
    for query in ["purple", "href", "top", "amp"] {
        assert_eq!(found(&site, query).await, Vec::<String>::new(), "{query}");
    }
    assert_eq!(found(&site, "string").await, ["types"]);
    let page = site.accept("/dataset/moths", "text/html").await.body;
    assert!(
        page.contains("Counts of moths &#38; bats.") && !page.contains("color:purple"),
        "{page}"
    );
    assert_eq!(markup(&site, "moths").await["name"], "Moths & lamps");
    let feed = site.get("/feeds/datasets.atom?q=moths").await.body;
    assert!(
        feed.contains("every night") && !feed.contains("purple"),
        "{feed}"
    );
    // The published text is kept where other programs read it.
    let package = site.get("/api/3/action/package_show?id=moths").await.json();
    assert_eq!(
        (&package["result"]["notes"], &package["result"]["title"]),
        (&json!(html), &json!("Moths & lamps"))
    );
    assert!(
        site.get("/dataset/moths?format=nt")
            .await
            .body
            .contains("color:purple")
    );
}
