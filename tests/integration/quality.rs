//! Quality by HTTP and by the program: one dataset, all together, as RDF, and after URL checks.

use super::http::Site;
#[cfg(feature = "rocksdb")]
use super::support::{Home, program, run, testdata};
use axum::http::{Method, StatusCode};
use lodeseek_engine::write_url_checks;
use lodeseek_quality::{UrlCheck, UrlChecks};
use oxttl::TurtleParser;
use serde_json::{Value, json};

fn indicators(answer: &Value) -> Vec<&Value> {
    let dimensions = answer["dimensions"].as_array().expect("dimensions").iter();
    dimensions
        .flat_map(|dimension| dimension["indicators"].as_array().expect("indicators"))
        .collect()
}

fn outcome<'v>(answer: &'v Value, key: &str) -> (&'v str, &'v str) {
    let found = indicators(answer)
        .into_iter()
        .find(|one| one["indicator"] == key)
        .expect(key);
    (
        found["outcome"].as_str().expect("an outcome"),
        found["reason"].as_str().expect("a reason"),
    )
}

/// Computed by hand: keywords 30, media type 10, in IANA's list 10, not proprietary 20, machine-readable 20, a licence
/// 20 in a list 10, two dates 10, the size of the file, which this portal states, 5, no violations 30: 165. The file lies in the home
/// alone, so the 100 points of its addresses cannot be assessed, and 165 of 305 are 219 of 405.
#[tokio::test]
async fn one_dataset_in_json() {
    let site = Site::testdata();
    let reply = site.get("/api/quality/street-trees").await;
    assert_eq!(
        (reply.status, reply.media_type()),
        (StatusCode::OK, "application/json")
    );
    let answer = reply.json();
    assert_eq!(
        (&answer["score"], &answer["of"], &answer["band"]),
        (&json!(219), &json!(405), &json!("sufficient"))
    );
    assert_eq!(answer["points"], json!({ "given": 165, "of": 305 }));
    assert_eq!(answer["title"], "City tree register");
    assert_eq!(answer["distribution"], "distribution-1");
    let points: Vec<&Value> = answer["dimensions"]
        .as_array()
        .expect("dimensions")
        .iter()
        .map(|one| &one["points"]["given"])
        .collect();
    assert_eq!(
        points[..6],
        [
            &json!(30),
            &json!(0),
            &json!(90),
            &json!(30),
            &json!(15),
            &json!(100)
        ]
    );
    assert_eq!(outcome(&answer, "download-address").0, "unknown");
    assert_eq!(
        outcome(&answer, "open-format"),
        ("met", "RDF_N_TRIPLES is an open format")
    );
    assert_eq!(answer["improvements"][0]["indicator"], "themes");
    assert_eq!(answer["violations"], json!([]));
    assert_eq!(indicators(&answer).len(), 33);
    assert_eq!(
        site.get("/api/quality/nobody").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn errors_of_the_api_are_json() {
    let site = Site::testdata();
    for (path, status, message) in [
        (
            "/api/nope",
            StatusCode::NOT_FOUND,
            "no resource has this address",
        ),
        (
            "/api/quality/nobody?format=json",
            StatusCode::NOT_FOUND,
            "there is no dataset nobody",
        ),
        ("/api/search?q=a&k=x", StatusCode::BAD_REQUEST, "k"),
    ] {
        let reply = site.accept(path, "text/html").await;
        assert_eq!(
            (reply.status, reply.media_type()),
            (status, "application/json"),
            "{path}"
        );
        let error = reply.json()["error"]
            .as_str()
            .map(str::to_owned)
            .unwrap_or_default();
        assert!(error.contains(message), "{path}: {error}");
    }
    assert_eq!(
        site.accept("/nope", "text/html").await.media_type(),
        "text/html",
        "other addresses have pages"
    );
    let refused = site
        .request(Method::DELETE, "/api/search?q=trees", &[], "")
        .await;
    assert_eq!(
        (refused.status, refused.media_type()),
        (StatusCode::METHOD_NOT_ALLOWED, "application/json")
    );
    assert!(
        refused.json()["error"]
            .as_str()
            .is_some_and(|error| error.starts_with("DELETE is not supported here"))
    );
    assert!(
        !refused.header("allow").is_empty(),
        "the methods are listed"
    );
}

#[tokio::test]
async fn forms_of_one_dataset() {
    let site = Site::testdata();
    for (path, accept, media_type) in [
        ("/api/quality/street-trees", "*/*", "application/json"),
        ("/api/quality/street-trees", "text/html", "text/html"),
        ("/dataset/street-trees/quality", "*/*", "text/html"),
        (
            "/dataset/street-trees/quality",
            "application/json",
            "application/json",
        ),
        (
            "/dataset/street-trees/quality",
            "text/turtle",
            "text/turtle",
        ),
        (
            "/dataset/street-trees/quality?format=json",
            "text/html",
            "application/json",
        ),
        (
            "/api/quality/street-trees?format=ttl",
            "text/html",
            "text/turtle",
        ),
        (
            "/api/quality/street-trees?format=jsonld",
            "*/*",
            "application/ld+json",
        ),
    ] {
        let reply = site.accept(path, accept).await;
        assert_eq!(
            (reply.status, reply.media_type()),
            (StatusCode::OK, media_type),
            "{path} {accept}"
        );
        assert!(reply.header("vary").contains("accept"), "{path} {accept}");
    }
    assert_eq!(
        site.accept("/api/quality/street-trees", "image/png")
            .await
            .status,
        StatusCode::NOT_ACCEPTABLE
    );
    assert_eq!(
        site.get("/api/quality/street-trees?format=csv")
            .await
            .status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn measurements_in_rdf() {
    let site = Site::testdata();
    let turtle = site.get("/api/quality/street-trees?format=ttl").await.body;
    let triples: Vec<_> = TurtleParser::new()
        .for_slice(&turtle)
        .map(|triple| triple.expect("Turtle"))
        .collect();
    let measured = |name: &str| {
        triples
            .iter()
            .filter(|triple| {
                triple.predicate.as_str() == format!("http://www.w3.org/ns/dqv#{name}")
            })
            .count()
    };
    // Every indicator can be assessed for a dataset whose content is held, except the three of addresses, and the score.
    assert_eq!(
        (
            measured("value"),
            measured("isMeasurementOf"),
            measured("computedOn")
        ),
        (31, 31, 31)
    );
    assert!(
        turtle.contains("http://localhost:7878/dataset/street-trees/quality#score"),
        "{turtle}"
    );
}

#[tokio::test]
async fn pages_say_what_json_says() {
    let site = Site::testdata();
    let page = site.get("/dataset/street-trees/quality").await.body;
    for text in [
        "City tree register",
        "sufficient",
        "<b>219</b> / 405",
        "Add a theme from a controlled vocabulary.",
        "the file has no address of its own; this portal serves it",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(
        site.get("/dataset/street-trees")
            .await
            .body
            .contains("href=\"/dataset/street-trees/quality\"")
    );
    let all = site.get("/quality").await.body;
    assert!(
        all.contains("12 datasets were assessed.") && all.contains("Town Museum"),
        "{all}"
    );
    assert_eq!(
        site.get("/dataset/nobody/quality").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn all_datasets_together() {
    let site = Site::testdata();
    let all = site.get("/api/quality").await.json();
    let ids = site.get("/api/3/action/package_list").await.json();
    let mut scores = Vec::new();
    for id in ids["result"].as_array().expect("names") {
        scores.push(
            site.get(&format!("/api/quality/{}", id.as_str().expect("a name")))
                .await
                .json()["score"]
                .as_u64()
                .expect("a score"),
        );
    }
    let mean = scores.iter().sum::<u64>() as f64 / scores.len() as f64;
    assert_eq!((&all["datasets"], scores.len()), (&json!(12), 12));
    assert!(
        (all["meanScore"].as_f64().expect("a mean") - mean).abs() <= 0.05,
        "{all}"
    );
    let bands: u64 = all["bands"]
        .as_array()
        .expect("bands")
        .iter()
        .filter_map(|band| band["datasets"].as_u64())
        .sum();
    assert_eq!(bands, 12);
    for problem in all["problems"].as_array().expect("problems") {
        let sum: u64 = ["met", "missed", "unknown"]
            .iter()
            .filter_map(|key| problem[key].as_u64())
            .sum();
        assert_eq!(sum, 12, "{problem}");
    }
    assert_eq!(
        all["worst"][0]["score"].as_u64(),
        scores.iter().min().copied()
    );
    let datasets: u64 = all["publishers"]
        .as_array()
        .expect("publishers")
        .iter()
        .filter_map(|row| row["datasets"].as_u64())
        .sum();
    assert_eq!(datasets, 12);
}

/// A running server shows the results of a check, also in the overview.
#[tokio::test]
async fn addresses_count_once_they_were_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = folder.path().join("catalog.ttl");
    let turtle = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/a> a dcat:Dataset ; dct:title \"A\"@en ; dct:description \"B\"@en ;
          dcat:distribution [ dcat:accessURL <http://e.org/page> ; dcat:downloadURL <http://e.org/a.ttl> ] .";
    std::fs::write(&catalog, turtle).expect("written");
    let home = super::support::Home::from_catalog(&catalog);
    let path = home.path().to_owned();
    let (app, kept) = home.serve(super::support::limits());
    let site = Site::behind(app, kept);
    let before = site.get("/api/quality/a").await.json();
    assert_eq!(outcome(&before, "access-reached").0, "unknown");
    assert_eq!(before["points"], json!({ "given": 50, "of": 325 }));
    assert_eq!(
        site.get("/api/quality").await.json()["worst"][0]["points"]["of"],
        325
    );
    let mut reached = UrlChecks::default();
    let reach = |status| UrlCheck {
        status: Some(status),
        fault: None,
        checked_at: "2026-01-01T00:00:00Z".to_owned(),
    };
    reached.insert("http://e.org/page".to_owned(), reach(200));
    reached.insert("http://e.org/a.ttl".to_owned(), reach(404));
    write_url_checks(&path, &reached).expect("written");
    let after = site.get("/api/quality/a").await.json();
    assert_eq!(after["points"], json!({ "given": 100, "of": 405 }));
    assert_eq!(
        outcome(&after, "download-reached"),
        (
            "missed",
            "http://e.org/a.ttl: status 404 at 2026-01-01T00:00:00Z"
        )
    );
    assert_eq!(
        site.get("/api/quality").await.json()["worst"][0]["points"]["of"],
        405
    );
}

#[cfg(feature = "rocksdb")]
#[test]
fn the_program_tells_the_same() {
    let home = Home::from_catalog(&testdata("catalog.ttl")).into_folder();
    let text = run(home.path(), &["quality", "street-trees"]);
    assert_eq!(text.code, Some(0), "{}", text.err);
    for line in [
        "sufficient: 219 of 405 (165 of 305 measurable points)",
        "+ 30/30 keywords",
        "+ 30/30 profile",
        "Next: Add a theme from a controlled vocabulary. (+30)",
    ] {
        assert!(text.out.contains(line), "{line}\n{}", text.out);
    }
    let json = run(
        home.path(),
        &["quality", "street-trees", "--format", "json"],
    );
    let answer: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(answer["score"], 219);
    let all = run(home.path(), &["quality"]);
    assert!(
        all.out.starts_with("12 datasets, mean score "),
        "{}",
        all.out
    );
    // Nothing of it lies on the web: there is nobody to ask.
    assert_eq!(
        run(home.path(), &["quality", "street-trees", "--check"]).code,
        Some(0)
    );
    assert_eq!(run(home.path(), &["quality", "nobody"]).code, Some(2));
    assert!(
        program(home.path())
            .args(["quality", "--budget", "3"])
            .output()
            .expect("started")
            .status
            .code()
            == Some(2)
    );
}

#[cfg(feature = "rocksdb")]
#[test]
fn damaged_checks_are_reported_and_removed_by_a_repair() {
    let home = Home::from_catalog(&testdata("catalog.ttl")).into_folder();
    let home = home.path();
    write_url_checks(home, &UrlChecks::default()).expect("written");
    assert_eq!(run(home, &["verify"]).code, Some(0));
    let path = home.join("quality/reached.json");
    let text = std::fs::read_to_string(&path).expect("a file");
    std::fs::write(&path, text.replace("{}", "{ }")).expect("written");
    let assessed = run(home, &["quality"]);
    assert!(
        assessed.code == Some(2) && assessed.err.contains("reached.json is damaged"),
        "{assessed:?}"
    );
    let verified = run(home, &["verify"]);
    assert!(
        verified.code == Some(1) && verified.out.contains("quality: quality/reached.json: "),
        "{verified:?}"
    );
    assert_eq!(run(home, &["repair"]).code, Some(0));
    assert_eq!(run(home, &["verify"]).code, Some(0));
    assert_eq!(run(home, &["quality"]).code, Some(0));
}
