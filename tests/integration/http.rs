//! The HTTP face: every handler through the router, without a socket.

use super::support::{Home, iri, json, limits, testdata};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use lodeseek_rdf::TripleGraphBuilder;
use lodeseek_rdf::dump::{DumpReader, Outcome};
use lodeseek_server::{AppState, Editor, SnippetLimits};
use lodeseek_sparql::SparqlLimits;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tower::ServiceExt;

/// A served home.
pub(crate) struct Site {
    app: Router,
    folder: TempDir,
}

/// Response with its body.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        match self.headers.get(name) {
            Some(value) => value.to_str().expect("text"),
            None => "",
        }
    }

    pub(crate) fn media_type(&self) -> &str {
        self.header("content-type")
            .split(';')
            .next()
            .unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Site {
    pub(crate) fn from_catalog(catalog: &Path, limits: SparqlLimits) -> Self {
        let (app, folder) = Home::from_catalog(catalog).serve(limits);
        Self { app, folder }
    }

    pub(crate) fn testdata() -> Self {
        Self::from_catalog(&testdata("catalog.ttl"), limits())
    }

    pub(crate) fn behind(app: Router, folder: TempDir) -> Self {
        Self { app, folder }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.app.clone().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(bytes.to_vec()).expect("UTF-8"),
        }
    }

    /// Returns the response before its body is read.
    pub(crate) async fn begin(&self, request: Request<Body>) -> axum::response::Response {
        self.app.clone().oneshot(request).await.expect("an answer")
    }

    pub(crate) fn app(&self) -> Router {
        self.app.clone()
    }

    pub(crate) async fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(
            request
                .body(Body::from(body.to_owned()))
                .expect("a request"),
        )
        .await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.request(Method::GET, path, &[], "").await
    }

    pub(crate) async fn accept(&self, path: &str, media_type: &str) -> Reply {
        self.request(Method::GET, path, &[("accept", media_type)], "")
            .await
    }

    pub(crate) async fn post(&self, path: &str, media_type: &str, body: &str) -> Reply {
        self.request(Method::POST, path, &[("content-type", media_type)], body)
            .await
    }
}

#[tokio::test]
async fn search_answers_in_json() {
    let site = Site::testdata();
    let reply = site
        .get("/api/search?q=nitrogen%20reduction%20plan%20Chesapeake%20Bay&k=2")
        .await;
    assert_eq!(
        (reply.status, reply.media_type()),
        (StatusCode::OK, "application/json")
    );
    let answer = reply.json();
    assert_eq!(answer["query"], "nitrogen reduction plan Chesapeake Bay");
    assert_eq!(
        answer["terms"],
        serde_json::json!(["nitrogen", "reduction", "plan", "chesapeake", "bay"])
    );
    let hits = answer["hits"].as_array().expect("hits");
    assert!(hits.len() <= 2 && answer["total"].as_u64() >= Some(hits.len() as u64));
    let hit = &hits[0];
    assert_eq!(
        (&hit["rank"], &hit["id"]),
        (&1.into(), &"chesapeake-water".into())
    );
    assert_eq!(
        hit["title"],
        "Stream gauge samples, Maryland and Pennsylvania"
    );
    assert_eq!(hit["triples"], 103);
    let fields = hit["fields"].as_array().expect("fields");
    let sum: f64 = fields
        .iter()
        .map(|field| field["score"].as_f64().expect("a score"))
        .sum();
    assert!(
        (sum - hit["score"].as_f64().expect("a score")).abs() < 1e-9,
        "the fields' scores add up"
    );
    assert!(
        fields
            .iter()
            .any(|field| field["field"] == "literal" && field["terms"][0] == "nitrogen"),
        "{fields:#?}"
    );
    let snippet = hit["snippet"].as_array().expect("a snippet");
    assert_eq!(snippet.len(), 20);
    for triple in snippet {
        for part in ["subject", "predicate", "object"] {
            assert!(
                triple[part]["label"].is_string() && triple[part]["value"].is_string(),
                "{triple:#}"
            );
        }
        assert_eq!(triple["predicate"]["type"], "iri");
    }
    assert!(
        snippet
            .iter()
            .any(|triple| triple["matched"][0] == "nitrogen"),
        "the query's words are marked"
    );
    assert!(hit.get("explanation").is_none());
}

#[tokio::test]
async fn expensive_requests_need_a_permit() {
    let (state, folder) = Home::from_catalog(&testdata("catalog.ttl")).state(limits());
    let none = SnippetLimits {
        concurrent: 0,
        permit_timeout: Duration::ZERO,
        ..SnippetLimits::default()
    };
    let site = Site::behind(lodeseek_server::app(state.with_snippets(none)), folder);
    for path in [
        "/api/search?q=water&model=fsdm",
        "/api/search?q=%22public+water%22&model=bm25",
        "/api/search?q=water+-air-quality",
        "/?q=water+foaf:Person&model=bm25",
        "/dataset/street-trees",
        "/dataset/street-trees?format=nt",
        "/dataset/street-trees/entity?iri=http://example.org/oak",
        "/dataset/street-trees/entity?iri=http://example.org/oak&format=nt",
        "/dataset/street-trees/void",
        "/catalog.ttl",
        "/quality",
        "/api/quality",
        "/api/quality/street-trees",
        "/dataset/street-trees/quality",
        "/dataset/street-trees/similar",
        "/like?dataset=street-trees",
        "/api/3/action/package_search?rows=1",
        "/api/3/action/resource_search?query=format:csv&limit=1",
    ] {
        let reply = site.get(path).await;
        assert_eq!(
            reply.status,
            StatusCode::SERVICE_UNAVAILABLE,
            "{path}: {}",
            reply.body
        );
    }
    let form = "application/x-www-form-urlencoded";
    assert_eq!(
        site.post("/like", form, "dataset=street-trees")
            .await
            .status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    for path in [
        "/api/search?q=water",
        "/api/search?q=%22public+water%22&literal=true",
        "/?q=water+air-quality&model=bm25",
        "/api/3/action/package_show?id=street-trees",
    ] {
        assert_eq!(site.get(path).await.status, StatusCode::OK, "{path}");
    }
    for path in [
        "/dataset/absent",
        "/dataset/absent?format=nt",
        "/dataset/absent/entity?iri=http://example.org/oak",
        "/dataset/absent/void",
    ] {
        assert_eq!(site.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn search_is_what_the_engine_finds() {
    let site = Site::testdata();
    let expected: Value =
        serde_json::from_str(&json(site.folder.path(), "asthma inhaler")).expect("JSON");
    assert_eq!(
        site.get("/api/search?q=asthma+inhaler").await.json(),
        expected
    );
}

#[tokio::test]
async fn search_pages_and_explains() {
    let site = Site::testdata();
    let ids = |reply: &Reply| -> Vec<String> {
        let hits = reply.json()["hits"].as_array().expect("hits").clone();
        hits.iter()
            .map(|hit| hit["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    let all = ids(&site.get("/api/search?q=city+water+public&k=100").await);
    assert!(all.len() >= 3, "{all:?}");
    let second = site.get("/api/search?q=city+water+public&k=1&skip=1").await;
    assert_eq!(ids(&second), all[1..2]);
    assert_eq!(second.json()["hits"][0]["rank"], 2);
    assert_eq!(
        ids(&site.get("/api/search?q=city+water+public&skip=1000").await),
        Vec::<String>::new()
    );
    assert_eq!(
        ids(&site.get("/api/search?q=zzzzzz").await),
        Vec::<String>::new()
    );

    let modelled = site.get("/api/search?q=ginkgo&k=1&model=fsdm").await.json();
    assert!(
        modelled["model"] == "fsdm" && modelled["hits"][0]["score"].as_f64() < Some(0.0),
        "{modelled}"
    );
    assert_eq!(
        site.get("/api/search?q=ginkgo&model=bm26").await.status,
        400
    );
    let explaining = site
        .get("/api/search?q=ginkgo+biloba&k=1&snippet=query")
        .await
        .json();
    let snippet = explaining["hits"][0]["snippet"]
        .as_array()
        .expect("a snippet");
    let marked = snippet.iter().filter(|triple| {
        triple["matched"]
            .as_array()
            .is_some_and(|words| !words.is_empty())
    });
    assert!(snippet.len() <= 20 && marked.count() > 0, "{explaining}");
    let unknown = site.get("/api/search?q=ginkgo&snippet=any").await;
    assert!(
        unknown.status == 400 && unknown.body.contains("stored, query, none, illusnip"),
        "{}",
        unknown.body
    );
    let stored = site.get("/api/search?q=ginkgo+biloba&k=1").await;
    let short = site
        .get("/api/search?q=ginkgo+biloba&k=1&snippet=none")
        .await;
    assert!(
        short.body.len() * 2 < stored.body.len(),
        "{} of {} bytes",
        short.body.len(),
        stored.body.len()
    );
    let (mut stored, short) = (stored.json(), short.json());
    stored["hits"][0]["snippet"] = Value::Array(Vec::new());
    assert_eq!(short, stored, "nothing else is omitted");
    let many = site.get("/api/search?q=water&k=50&snippet=none").await;
    assert_eq!(many.status, 200, "{}", many.body);
    let explained = site
        .get("/api/search?q=ginkgo&k=1&explain=true")
        .await
        .json();
    let hit = &explained["hits"][0];
    assert_eq!(hit["explanation"]["value"], hit["score"]);
    let evidence = hit["evidence"].as_array().expect("evidence");
    assert!(
        !evidence.is_empty() && evidence.iter().all(|one| one["terms"][0] == "ginkgo"),
        "{evidence:#?}"
    );
}

#[tokio::test]
async fn bad_searches_are_refused_with_a_reason() {
    let site = Site::testdata();
    let long = format!("/api/search?q={}", "a".repeat(2001));
    for (path, status, reason) in [
        ("/api/search", 400, "q is missing"),
        ("/api/search?q=", 400, "empty"),
        ("/api/search?q=%20%09", 400, "empty"),
        ("/api/search?q=!!!", 400, "empty"),
        ("/api/search?q=a&k=0", 400, "from 1 to 100"),
        ("/api/search?q=a&k=abc", 400, "k must be from 1 to 100"),
        ("/api/search?q=a&k=-1", 400, "k must be from 1 to 100"),
        ("/api/search?q=a&skip=x", 400, "skip must be a whole number"),
        (
            "/api/search?q=a&facets=x",
            400,
            "facets must be true or false",
        ),
        ("/api/search?q=a&k=1000", 400, "from 1 to 100"),
        ("/api/search?q=a&k=-1", 400, "k"),
        ("/api/search?q=a&k=ten", 400, "k"),
        (
            "/api/search?q=a&licence=x",
            400,
            "unknown parameter \"licence\"; did you mean license?",
        ),
        (
            "/api/search?q=a&wheelbarrow=x",
            400,
            "unknown parameter \"wheelbarrow\"; supported parameters: q, k, skip",
        ),
        (
            "/api/search?q=a&model=bm26",
            400,
            "model: unknown model \"bm26\"; supported: tf-idf, bm25, lmd, fsdm",
        ),
        ("/api/search?q=a&q=b", 400, "duplicate"),
        (long.as_str(), 414, "2000 characters"),
    ] {
        let reply = site.get(path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.media_type()),
            (status, "application/json"),
            "{path}"
        );
        let error = reply.json()["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(error.contains(reason), "{path}: {error}");
    }
    assert_eq!(
        site.get(&format!("/api/search?q={}", "%C3%A4".repeat(2000)))
            .await
            .status,
        200,
        "characters, not bytes"
    );
    assert_eq!(
        site.post("/api/search", "application/json", "{}")
            .await
            .status,
        405
    );
}

#[tokio::test]
async fn the_page_answers_with_and_without_a_query() {
    let site = Site::testdata();
    let welcome = site.get("/").await;
    assert_eq!(
        (welcome.status, welcome.media_type()),
        (StatusCode::OK, "text/html")
    );
    assert!(welcome.body.contains("12 datasets") && welcome.body.contains("name=\"q\""));
    let found = site.get("/?q=whaling+ship+logbook").await;
    assert_eq!(found.status, 200);
    assert!(
        found.body.contains("Catalogue of the Port Town Library") && found.body.contains("<mark>")
    );
    assert!(
        found.body.contains("href=\"/dataset/port-library\"")
            && found
                .body
                .contains("required value=\"whaling ship logbook\">")
    );
    assert_eq!(
        found.body.matches("<script").count(),
        1,
        "its own alone, for comfort"
    );
    let nothing = site.get("/?q=zzzzzz").await;
    assert!(nothing.status == 200 && nothing.body.contains("Nothing found"));
    let long = site.get(&format!("/?q={}", "a".repeat(2001))).await;
    assert_eq!(
        (long.status.as_u16(), long.media_type()),
        (414, "text/html")
    );
    assert_eq!(site.get("/nowhere").await.status, 404);
}

/// Without words the page leads to lists: of all, and of what has a value of a facet.
#[tokio::test]
async fn the_page_lists_without_a_query() {
    let site = Site::testdata();
    let welcome = site.get("/").await.body;
    assert!(
        welcome.contains("<h2 id=\"around\">Topics</h2>")
            && welcome.contains("href=\"/?q=&#38;page=0\""),
        "{welcome}"
    );
    assert!(
        welcome.contains("href=\"/?q=&#38;page=0&#38;keyword=Environment\""),
        "{welcome}"
    );
    let titles = |page: &str| page.matches("<article>").count();
    let all = site.get("/?q=&page=0").await;
    assert!(all.status == 200 && all.body.contains(">12 datasets</h1>") && titles(&all.body) == 10);
    assert!(
        !all.body.contains("<summary>Ranking</summary>") && !all.body.contains("the query"),
        "{}",
        all.body
    );
    assert!(all.body.contains("rel=\"next\"") && titles(&site.get("/?q=&page=1").await.body) == 2);
    let environment = site.get("/?keyword=environment").await.body;
    assert!(environment.contains(" datasets</h1>") && environment.contains("Keyword: environment"));
    assert!(
        titles(&environment) > 1 && titles(&environment) < 10,
        "{}",
        titles(&environment)
    );
    for (address, similar) in [
        (
            "/?keyword=environmnet",
            "\"/?q=&page=0&keyword=Environment\"",
        ),
        (
            "/?q=trees&keyword=environmnet&sort=title",
            "\"/?q=trees&page=0&sort=title&keyword=Environment\"",
        ),
    ] {
        let none = site.get(address).await.body;
        let line = none.lines().find(|line| line.contains("Did you mean"));
        let line = line
            .unwrap_or_default()
            .replace("&#38;", "&")
            .replace("&amp;", "&");
        assert!(
            line.contains("Keyword: environmnet") && line.contains(similar),
            "{line}"
        );
    }
    let response = site
        .get("/api/search?q=trees&keyword=environmnet&class=foo:Bar")
        .await;
    let unknown = response.json()["unknownValues"].clone();
    for expected in [
        serde_json::json!({ "facet": "class", "value": "foo:Bar", "similar": [] }),
        serde_json::json!({ "facet": "keyword", "value": "environmnet", "similar": ["Environment"] }),
    ] {
        let values = unknown.as_array().expect("a list");
        assert!(values.contains(&expected), "{expected} in {unknown}");
    }
    let none = site.get("/?keyword=nobody+has+this").await.body;
    assert!(
        none.contains("No dataset passes these filters") && none.contains("Remove a filter"),
        "{none}"
    );
    let behind = site.get("/?page=9").await.body;
    assert!(
        behind.contains("No more results") && behind.contains("The list ends before this page"),
        "{behind}"
    );
    assert_eq!(site.get("/?page=18446744073709551615").await.status, 200);
    // What was chosen stays.
    let chosen = "&#38;lang=de&#38;duplicates=all&#38;model=lmd&#38;before=2021";
    let kept = site
        .get("/?lang=de&duplicates=all&model=lmd&before=2021")
        .await
        .body;
    assert!(
        kept.contains(&format!("page=0{chosen}&#38;keyword=")),
        "{kept}"
    );
    assert!(
        kept.contains("/snippet?lang=de\"")
            && kept.contains("<title>Datensätze, Bis 2021 – Lodeseek"),
        "{kept}"
    );
    let begun = site.get("/?lang=de&model=lmd").await.body;
    assert!(
        begun.contains("<h2 id=\"around\">Themen</h2>")
            && begun.contains("name=\"model\" value=\"lmd\""),
        "{begun}"
    );
    assert_eq!(site.get("/?page=0&snippet=nonsense").await.status, 400);
    assert_eq!(site.get("/?before=soon").await.status, 400);
}

/// A page keeps what was chosen: in its links, in its forms, and where it shows it.
#[tokio::test]
async fn the_page_narrows_down() {
    let site = Site::from_catalog(&testdata("papers-with-code.json"), limits());
    let page = site.get("/?q=domain+adaptation%0D%0Afor+images&before=2018&task=domain+adaptation&snippet=query").await;
    assert_eq!(page.status, 200, "{}", page.body);
    let body = page.body.replace("&#38;", "&").replace("&amp;", "&");
    assert!(
        body.contains("required value=\"domain adaptation for images\">"),
        "line breaks are spaces"
    );
    for part in [
        "<input type=\"hidden\" name=\"before\" value=\"2018\">",
        "<input type=\"hidden\" name=\"task\" value=\"domain adaptation\">",
        "<input type=\"hidden\" name=\"q\" value=\"domain adaptation for images\">",
        "name=\"until\" type=\"number\" min=\"0\" max=\"9999\" step=\"1\" placeholder=\"2021\" value=\"2018\"",
        "Up to 2018",
        "<cite>Reading a harbour pixel by pixel</cite>",
        "3 good matches</h1>",
    ] {
        assert!(body.contains(part), "{part} in {body}");
    }
    let links: Vec<&str> = hrefs(&body)
        .into_iter()
        .filter(|href| href.starts_with("/?"))
        .collect();
    let query = "/?q=domain+adaptation+for+images&page=0&snippet=query";
    for link in [
        format!("{query}&task=domain+adaptation"),
        format!("{query}&before=2018"),
        query.to_owned(),
        format!("{query}&before=2018&task=domain+adaptation&task=Semantic+Segmentation"),
    ] {
        assert!(links.contains(&link.as_str()), "{link} in {links:#?}");
        assert_eq!(site.get(&link).await.status, 200);
    }
    assert!(
        !body.contains("class=\"histogram\""),
        "of few years, a histogram shows nothing"
    );
    assert!(
        !body.contains("<h2>Modalities</h2>"),
        "all have the same: there is nothing to choose"
    );
    let none = site.get("/?q=images&language=Klingon").await;
    assert!(
        none.body.contains("No dataset passes these filters")
            && none.body.contains("Language: Klingon")
    );
    let rdf = Site::testdata().get("/?q=city+water+public").await.body;
    for (title, there) in [
        ("Licences", true),
        ("Authors and publishers", true),
        ("Tasks", false),
        ("Modalities", false),
    ] {
        assert_eq!(rdf.contains(&format!("<h2>{title}</h2>")), there, "{title}");
    }
    let script = site.get("/page.js").await;
    assert_eq!(
        (script.status.as_u16(), script.media_type()),
        (200, "text/javascript")
    );
    assert!(
        site.get("/")
            .await
            .header("content-security-policy")
            .contains("script-src 'self'")
    );
}

/// A dataset of Papers with Code: no data as markup, only web addresses as links.
#[tokio::test]
async fn a_page_of_papers_with_code() {
    let site = Site::from_catalog(&testdata("papers-with-code.json"), limits());
    let page = site.get("/dataset/Harbour_Scenes").await.body;
    for part in [
        "<b>Harbour Scenes val</b>",
        "1,204 works, according to the catalogue",
        "task=Domain+Adaptation\" dir=\"auto\">Domain Adaptation</a>, ",
        "<a href=\"https://pwc.example.org/paper/reading-a-harbour\" rel=\"noreferrer\"><cite>Reading a harbour",
        "<a href=\"https://harbour-scenes.example.org/\"",
        "only the description of this dataset",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let fog = site.get("/dataset/Fog_%26_Quay").await.body;
    assert!(
        fog.contains("<cite>Seeing the quay through the fog</cite>") && !fog.contains("#work-1\""),
        "{fog}"
    );
    let crane = site.get("/dataset/Crane_Clouds").await.body;
    assert!(
        hrefs(&crane)
            .iter()
            .all(|href| href.starts_with('/') || href.starts_with('#') || href.starts_with("http"))
    );
    let gulls = site.get("/dataset/Gull_Sounds").await.body;
    assert!(
        gulls.contains("0 works") && !gulls.contains("Introduced by"),
        "{gulls}"
    );
    let turtle = site
        .accept("/dataset/Harbour_Scenes", "text/turtle")
        .await
        .body;
    assert!(
        turtle.contains("lodeseek:uses 1204") && turtle.contains("dct:alternative"),
        "{turtle}"
    );
}

#[tokio::test]
async fn search_filters_and_counts_in_json() {
    let site = Site::from_catalog(&testdata("papers-with-code.json"), limits());
    let path = "/api/search?q=semantic+segmentation&k=1&before=2018&modality=images&modality=texts&facets=true";
    let answer = site.get(path).await.json();
    insta::assert_snapshot!(serde_json::to_string(&answer["facets"]).expect("JSON").replace("]},", "]},\n"), @r#"
    [{"distinct":4,"facet":"task","values":[{"chosen":false,"count":3,"value":"Semantic Segmentation"},{"chosen":false,"count":2,"value":"Domain Adaptation"},{"chosen":false,"count":1,"value":"3D Object Detection"},{"chosen":false,"count":1,"value":"Instance Segmentation"}]},
    {"distinct":2,"facet":"modality","values":[{"chosen":true,"count":3,"value":"Images"},{"chosen":false,"count":1,"value":"Point cloud"},{"chosen":true,"count":0,"value":"Texts"}]},
    {"distinct":1,"facet":"source","values":[{"chosen":false,"count":3,"value":"pwc.example.org"}]}]
    "#);
    assert_eq!(
        answer["years"],
        serde_json::json!({"known": {"2016": 2, "2018": 1, "2021": 1}, "unknown": 0})
    );
    let hit = &answer["hits"][0];
    assert_eq!(
        (&hit["year"], &hit["modalities"][0], &answer["total"]),
        (&2016.into(), &"Images".into(), &3.into())
    );
    assert!(
        hit["introducedBy"][0]["title"].is_string() && hit["tasks"].is_array(),
        "{hit:#}"
    );
    assert!(
        site.get("/api/search?q=semantic")
            .await
            .json()
            .get("facets")
            .is_none()
    );
    let long = format!("/api/search?q=a&task={}", "x".repeat(201));
    let many = format!(
        "/api/search?q=a{}",
        (0..51).map(|n| format!("&task={n}")).collect::<String>()
    );
    for (path, reason) in [
        ("/api/search?q=a&before=soon", "expected a year"),
        ("/api/search?q=a&before=20188", "expected a year"),
        ("/api/search?q=a&before=-5", "expected a year"),
        ("/api/search?q=a&facets=perhaps", "facets"),
        (long.as_str(), "200 characters"),
        (many.as_str(), "50 values"),
    ] {
        let reply = site.get(path).await;
        let error = reply.json()["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(
            reply.status == 400 && error.contains(reason),
            "{path}: {error}"
        );
    }
    assert_eq!(
        site.get("/api/search?q=semantic&before=&task=")
            .await
            .status,
        200,
        "an untouched form"
    );
    assert_eq!(site.get("/?q=a&before=soon").await.status, 400);
}

/// The values of all `href` attributes.
fn hrefs(html: &str) -> Vec<&str> {
    html.split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// A dataset that attacks whoever shows it: (the catalogue's folder, its id).
pub(crate) fn hostile() -> (TempDir, &'static str) {
    let folder = tempfile::tempdir().expect("a folder");
    let id = "a/b\"><img&c=%2F?#é";
    let catalog = serde_json::json!([{
        "dataset_id": id,
        "title": "<script>alert(1)</script>",
        "description": "\"><svg onload=alert(2)> quokka",
        "author": "<b>author</b>",
        "tags": ["<i>tag</i>", "' onmouseover='alert(3)"],
        "license": "javascript:alert(4)",
        "url": "javascript:alert(1)",
        "download": ["<u>.nt", "dump.nt"],
    }]);
    fs::write(folder.path().join("datasets.json"), catalog.to_string()).expect("written");
    fs::write(
        folder.path().join("dump.nt"),
        "<javascript:alert(5)> <http://e.org/p> \"</td><script>alert(6)</script>\" .\n\
         <javascript:alert(5)> <http://e.org/q> <data:text/html,alert> .\n",
    )
    .expect("written");
    (folder, id)
}

#[tokio::test]
async fn nothing_from_data_becomes_markup() {
    let (folder, id) = hostile();
    let site = Site::from_catalog(&folder.path().join("datasets.json"), limits());
    let results = site.get("/?q=quokka").await;
    let own = hrefs(&results.body)
        .into_iter()
        .find(|href| href.starts_with("/dataset/"))
        .expect("a link")
        .to_owned();
    let page = site.get(&own).await;
    assert_eq!(
        page.status, 200,
        "the link of a result leads to its page: {own}"
    );
    assert!(
        page.body.contains("&#60;script&#62;alert(1)")
            || page.body.contains("&lt;script&gt;alert(1)")
    );
    let all = "SELECT * { GRAPH ?g { ?s ?p ?o } }";
    let form: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("query", all)
        .append_pair("format", "html")
        .finish();
    let table = site
        .post("/sparql", "application/x-www-form-urlencoded", &form)
        .await;
    assert!(table.body.contains("alert(5)"), "the triples are shown");
    let echoed = site
        .get("/?q=%22%3E%3Cscript%3Ealert(7)%3C%2Fscript%3E")
        .await;
    let failed = site
        .accept("/sparql?query=%3Cscript%3Ealert(8)", "text/html")
        .await;
    let missing = site
        .get("/dataset/%3Cscript%3Ealert(9)%3C%2Fscript%3E")
        .await;
    assert_eq!(missing.status, 404);
    let drawn = site
        .get(&format!("{own}/snippet?query=%22%3E%3Cscript%3Ealert(1)"))
        .await;
    assert_eq!(drawn.status, 200);
    for reply in [&results, &drawn, &page, &table, &echoed, &failed, &missing] {
        assert_eq!(reply.media_type(), "text/html");
        // The page's own picture; what is in it comes from data.
        let body = reply.body.replacen(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\"",
            "",
            1,
        );
        let body = body.replacen("<script src=\"/page.js\" defer></script>", "", 1);
        let body = body.replacen("<script src=\"/query.js\" defer></script>", "", 1);
        let body = without_json_ld(&body).replace("<img src=\"/dataset/", "");
        for tag in [
            "<script",
            "<svg",
            "<img",
            "<b>author",
            "<i>",
            "<u>",
            "onmouseover='",
        ] {
            assert!(!body.contains(tag), "{tag} in {body}");
        }
        for href in hrefs(&reply.body) {
            let safe = ["/", "#", "http://", "https://"]
                .iter()
                .any(|start| href.starts_with(start));
            assert!(safe, "{href} in {}", reply.body);
        }
    }
    let found = site.get("/api/search?q=quokka").await.json();
    assert_eq!(found["hits"][0]["id"], id);
}

/// A page without its block of JSON-LD, which ends where a browser would end it, and is JSON.
fn without_json_ld(page: &str) -> String {
    let Some((before, rest)) = page.split_once("<script type=\"application/ld+json\">") else {
        return page.to_owned();
    };
    let (block, after) = rest.split_once("</script>").expect("an end");
    serde_json::from_str::<Value>(block).unwrap_or_else(|error| panic!("{error}: {block}"));
    format!("{before}{after}")
}

/// The triples of a document, counted, if it is sound.
pub(crate) fn triples(body: &str, name: &str) -> usize {
    let mut graph = TripleGraphBuilder::new();
    let reports = DumpReader::default().read(body.as_bytes(), name, "http://e.org/", &mut graph);
    assert!(
        reports
            .iter()
            .all(|report| report.outcome == Outcome::Complete),
        "{reports:#?}\n{body}"
    );
    graph.finish().len()
}

#[tokio::test]
async fn a_dataset_comes_as_the_client_likes_it() {
    let site = Site::testdata();
    let path = "/dataset/soil-types";
    let expected = triples(
        &site.accept(path, "application/n-triples").await.body,
        "a.nt",
    );
    assert!(
        expected > 100,
        "description, profile and snippet: {expected}"
    );
    for (accept, format, media_type, name) in [
        ("text/turtle", "ttl", "text/turtle", "a.ttl"),
        (
            "application/ld+json",
            "jsonld",
            "application/ld+json",
            "a.jsonld",
        ),
        (
            "application/n-triples",
            "nt",
            "application/n-triples",
            "a.nt",
        ),
        ("application/rdf+xml", "rdf", "application/rdf+xml", "a.rdf"),
        (
            "text/html;q=0.1, text/turtle;q=0.9",
            "turtle",
            "text/turtle",
            "a.ttl",
        ),
    ] {
        for reply in [
            site.accept(path, accept).await,
            site.get(&format!("{path}?format={format}")).await,
        ] {
            assert_eq!(
                (reply.status, reply.media_type()),
                (StatusCode::OK, media_type),
                "{accept}"
            );
            assert_eq!(triples(&reply.body, name), expected, "{accept}");
            assert!(
                reply.header("vary").contains("accept"),
                "{:?}",
                reply.headers
            );
        }
    }
    for accept in [
        "text/html",
        "*/*",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    ] {
        let reply = site.accept(path, accept).await;
        assert_eq!(
            (reply.status, reply.media_type()),
            (StatusCode::OK, "text/html"),
            "{accept}"
        );
        assert!(
            reply.body.contains("Thesaurus of soil types")
                && reply.body.contains(&iri("soil-types")[1..5])
        );
    }
    let turtle = site.accept(path, "text/turtle").await.body;
    assert!(
        turtle.contains("dct:title") && turtle.contains("PREFIX dcat:"),
        "{turtle}"
    );

    assert_eq!(site.accept(path, "image/png").await.status, 406);
    assert_eq!(site.get(&format!("{path}?format=png")).await.status, 400);
    for (accept, media_type) in [("text/html", "text/html"), ("text/turtle", "text/plain")] {
        let reply = site.accept("/dataset/none", accept).await;
        assert_eq!(
            (reply.status.as_u16(), reply.media_type()),
            (404, media_type)
        );
        assert!(reply.body.contains("no dataset none"), "{}", reply.body);
    }
    assert_eq!(site.get("/dataset/a%20b").await.status, 404);
}

#[tokio::test]
async fn the_query_on_a_datasets_page_can_be_run() {
    let site = Site::testdata();
    let page = site.get("/dataset/street-trees").await.body;
    let text = page
        .split("<textarea id=\"query-text\"")
        .nth(1)
        .and_then(|rest| rest.split_once('>'))
        .expect("a query")
        .1;
    let text = text.split("</textarea>").next().expect("its end");
    let query = text
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    assert!(query.contains(&iri("street-trees")), "{query}");
    let reply = site
        .post("/sparql?format=json", "application/sparql-query", &query)
        .await;
    assert_eq!(
        reply.json()["results"]["bindings"].as_array().map(Vec::len),
        Some(50)
    );
}

pub(crate) fn encoded(parameters: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish()
}

const COUNT: &str = "SELECT (COUNT(*) AS ?n) { ?d a <http://www.w3.org/ns/dcat#Dataset> }";
const FORM: &str = "application/x-www-form-urlencoded";
const QUERY: &str = "application/sparql-query";

#[tokio::test]
async fn sparql_takes_queries_in_the_three_ways_of_the_protocol() {
    let site = Site::testdata();
    let pair = encoded(&[("query", COUNT)]);
    for reply in [
        site.get(&format!("/sparql?{pair}")).await,
        site.post("/sparql", FORM, &pair).await,
        site.post(
            "/sparql",
            "application/x-www-form-urlencoded; charset=utf-8",
            &pair,
        )
        .await,
        site.post("/sparql", QUERY, COUNT).await,
    ] {
        assert_eq!(
            (reply.status, reply.media_type()),
            (StatusCode::OK, "application/sparql-results+json")
        );
        assert_eq!(reply.json()["results"]["bindings"][0]["n"]["value"], "12");
    }
}

#[tokio::test]
async fn sparql_results_come_as_asked() {
    let site = Site::testdata();
    let path = |query: &str, format: &str| {
        format!(
            "/sparql?{}",
            encoded(&[("query", query), ("format", format)])
        )
    };
    for (query, accept, format, media_type, part) in [
        (
            COUNT,
            "application/sparql-results+json",
            "json",
            "application/sparql-results+json",
            "\"12\"",
        ),
        (
            COUNT,
            "application/json",
            "srj",
            "application/sparql-results+json",
            "\"12\"",
        ),
        (
            COUNT,
            "application/sparql-results+xml",
            "xml",
            "application/sparql-results+xml",
            ">12</literal>",
        ),
        (COUNT, "text/csv", "csv", "text/csv", "n\r\n12"),
        (
            COUNT,
            "text/tab-separated-values",
            "tsv",
            "text/tab-separated-values",
            "?n\n12",
        ),
        (COUNT, "text/html", "html", "text/html", "<td>12</td>"),
        (
            "ASK {}",
            "*/*",
            "json",
            "application/sparql-results+json",
            "true",
        ),
        (
            "CONSTRUCT { <a:a> <a:b> 1 } {}",
            "*/*",
            "ttl",
            "text/turtle",
            "<a:a>",
        ),
        (
            "CONSTRUCT { <a:a> <a:b> 1 } {}",
            "application/ld+json",
            "jsonld",
            "application/ld+json",
            "a:a",
        ),
        (
            "CONSTRUCT { <a:a> <a:b> 1 } {}",
            "application/n-triples",
            "nt",
            "application/n-triples",
            "<a:a> <a:b> ",
        ),
        (
            "CONSTRUCT { <a:a> <a:b> 1 } {}",
            "application/rdf+xml",
            "rdf",
            "application/rdf+xml",
            "rdf:RDF",
        ),
        (
            "CONSTRUCT { <a:a> <a:b> 1 } {}",
            "text/html",
            "html",
            "text/html",
            "<td>a:a</td>",
        ),
    ] {
        for reply in [
            site.accept(&path(query, ""), accept).await,
            site.get(&path(query, format)).await,
        ] {
            assert_eq!(
                (reply.status, reply.media_type()),
                (StatusCode::OK, media_type),
                "{query} {accept} {format}"
            );
            assert!(
                reply.body.contains(part),
                "{query} {accept} {format}: {}",
                reply.body
            );
        }
    }
    assert_eq!(site.accept(&path(COUNT, ""), "image/png").await.status, 406);
    assert_eq!(site.get(&path(COUNT, "png")).await.status, 400);
    assert_eq!(
        site.get(&path(COUNT, "ttl")).await.media_type(),
        "application/sparql-results+json",
        "solutions are no graph, and have their default form"
    );
}

#[tokio::test]
async fn sparql_has_a_page_for_browsers() {
    let site = Site::testdata();
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let form = site.accept("/sparql", browser).await;
    assert_eq!(
        (form.status, form.media_type()),
        (StatusCode::OK, "text/html")
    );
    assert!(form.body.contains("<textarea") && form.body.contains("dcat:Dataset"));
    let answer = site
        .accept(
            &format!("/sparql?{}", encoded(&[("query", COUNT)])),
            browser,
        )
        .await;
    assert!(answer.body.contains("<td>12</td>") && answer.body.contains("SELECT (COUNT(*) AS ?n)"));
    let broken = site
        .accept(
            &format!("/sparql?{}", encoded(&[("query", "SELECT oops")])),
            browser,
        )
        .await;
    assert_eq!(
        (broken.status.as_u16(), broken.media_type()),
        (400, "text/html")
    );
    assert!(
        broken.body.contains("role=\"alert\"") && broken.body.contains("SELECT oops</textarea>")
    );
}

#[tokio::test]
async fn sparql_requests_name_their_graphs() {
    let site = Site::testdata();
    let count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";
    let named = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }";
    let (trees, stops) = (iri("street-trees"), iri("transit-stops"));
    let (trees, stops) = (
        trees.trim_matches(['<', '>']),
        stops.trim_matches(['<', '>']),
    );
    for (query, graphs, expected) in [
        (count, vec![("default-graph-uri", trees)], "105"),
        (
            count,
            vec![("default-graph-uri", trees), ("default-graph-uri", stops)],
            "190",
        ),
        (count, vec![("named-graph-uri", trees)], "0"),
        (named, vec![("named-graph-uri", trees)], "105"),
        (named, vec![("default-graph-uri", trees)], "0"),
        (
            count,
            vec![("default-graph-uri", "http://e.org/unknown")],
            "0",
        ),
    ] {
        let mut parameters = graphs.clone();
        let direct = site
            .post(&format!("/sparql?{}", encoded(&parameters)), QUERY, query)
            .await;
        parameters.push(("query", query));
        let get = site.get(&format!("/sparql?{}", encoded(&parameters))).await;
        let form = site.post("/sparql", FORM, &encoded(&parameters)).await;
        for reply in [direct, get, form] {
            assert_eq!(
                reply.json()["results"]["bindings"][0]["n"]["value"],
                expected,
                "{query} {graphs:?}"
            );
        }
    }
    let bad = site
        .get(&format!(
            "/sparql?{}",
            encoded(&[("query", count), ("default-graph-uri", "no iri")])
        ))
        .await;
    assert!(
        bad.status == 400 && bad.body.contains("no iri"),
        "{}",
        bad.body
    );
}

#[tokio::test]
async fn sparql_refuses_with_a_reason() {
    let site = Site::testdata();
    let get = |query: &str| format!("/sparql?{}", encoded(&[("query", query)]));
    let update = "DELETE WHERE { ?s ?p ?o }";
    let deep = format!("ASK {{ FILTER({}1{}) }}", "(".repeat(151), ")".repeat(151));
    for (reply, status, reason) in [
        (
            site.get(&get("SELECT ?s { ?s ?p }")).await,
            400,
            "not possible here",
        ),
        (site.get(&get(&deep)).await, 400, "nests deeper"),
        (site.get(&get(update)).await, 403, "read-only"),
        (
            site.post("/sparql", FORM, "").await,
            400,
            "query is missing",
        ),
        (
            site.get("/sparql?query=ASK%7B%7D&query=ASK%7B%7D").await,
            400,
            "more than one",
        ),
        (site.get("/sparql?update=CLEAR+ALL").await, 403, "read-only"),
        (
            site.post("/sparql", FORM, &encoded(&[("update", update)]))
                .await,
            403,
            "read-only",
        ),
        (
            site.post("/sparql", "application/sparql-update", update)
                .await,
            403,
            "read-only",
        ),
        (
            site.post("/sparql", "text/plain", COUNT).await,
            415,
            "sparql-query",
        ),
        (
            site.request(Method::POST, "/sparql", &[], COUNT).await,
            415,
            "sparql-query",
        ),
        (
            site.post("/sparql", QUERY, &" ".repeat(300 << 10)).await,
            400,
            "bytes",
        ),
        (
            site.post("/sparql", QUERY, &" ".repeat(2 << 20)).await,
            413,
            "",
        ),
        (site.request(Method::PUT, "/sparql", &[], "").await, 405, ""),
        (
            site.request(Method::DELETE, "/sparql", &[], "").await,
            405,
            "",
        ),
    ] {
        assert_eq!(reply.status.as_u16(), status, "{reason}: {}", reply.body);
        assert!(
            reply.body.to_lowercase().contains(reason),
            "{status}: {}",
            reply.body
        );
    }
    // The page that explains an error does not parse a query that was refused unparsed.
    for nested in ["(".repeat(151), format!("ASK {{ FILTER({}", "!(".repeat(9))] {
        let form = encoded(&[("query", &nested)]);
        let page = tokio::time::timeout(
            Duration::from_secs(20),
            site.post("/sparql?format=html", FORM, &form),
        )
        .await;
        let page = page.expect("a page at once");
        assert!(
            page.status == 400 && page.body.contains("nests"),
            "{}",
            page.body
        );
    }
    let invalid = Request::post("/sparql")
        .header(header::CONTENT_TYPE, QUERY)
        .body(Body::from(vec![b'A', 0xff]));
    assert_eq!(site.send(invalid.expect("a request")).await.status, 400);
    let elsewhere = site
        .get(&get(
            "SELECT * { SERVICE <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        ))
        .await;
    assert!(
        elsewhere.status == 403 && elsewhere.body.contains("127.0.0.1"),
        "{}",
        elsewhere.body
    );
    assert_eq!(
        site.get(&get(COUNT)).await.json()["results"]["bindings"][0]["n"]["value"],
        "12",
        "nothing was changed"
    );
}

#[tokio::test]
async fn sparql_answers_are_bounded() {
    let few = Site::from_catalog(
        &testdata("catalog.ttl"),
        SparqlLimits {
            rows: 7,
            ..limits()
        },
    );
    let query = encoded(&[("query", "SELECT * { ?s ?p ?o }")]);
    let cut = few.get(&format!("/sparql?{query}")).await;
    assert_eq!(
        cut.json()["results"]["bindings"].as_array().map(Vec::len),
        Some(7)
    );
    assert!(cut.header("lodeseek-truncated").contains("more rows"));
    let html = few.get(&format!("/sparql?{query}&format=html")).await;
    assert!(html.body.contains("There are more rows"));
    // A page holds its answer: long terms end it before the limit of other formats.
    let long = format!("SELECT (\"{}\" AS ?x) {{ ?s ?p ?o }}", "x".repeat(60_000));
    let site = Site::testdata();
    let page = site
        .post("/sparql?format=html", FORM, &encoded(&[("query", &long)]))
        .await;
    assert!(
        page.status == 200
            && page.body.contains("There are more rows")
            && page.body.len() < 20 << 20
    );
    let whole = few
        .get(&format!(
            "/sparql?{}",
            encoded(&[("query", "SELECT * { ?s ?p ?o } LIMIT 7")])
        ))
        .await;
    assert!(whole.status == 200 && !whole.headers.contains_key("lodeseek-truncated"));

    let slow = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c } LIMIT 4000 } { SELECT * { ?d ?e ?f } LIMIT 4000 } }";
    let deadline = std::time::Duration::from_millis(50);
    let hasty = Site::from_catalog(
        &testdata("catalog.ttl"),
        SparqlLimits {
            deadline,
            ..limits()
        },
    );
    let given_up = hasty
        .get(&format!("/sparql?{}", encoded(&[("query", slow)])))
        .await;
    assert_eq!(
        (given_up.status.as_u16(), given_up.header("retry-after")),
        (503, ""),
        "it would fail again"
    );
    let page = hasty
        .get(&format!(
            "/sparql?{}",
            encoded(&[("query", slow), ("format", "html")])
        ))
        .await;
    assert_eq!(
        (page.status.as_u16(), page.header("retry-after")),
        (503, "")
    );

    let busy = Site::from_catalog(
        &testdata("catalog.ttl"),
        SparqlLimits {
            concurrent: 0,
            waiting: 0,
            ..limits()
        },
    );
    let refused = busy.get(&format!("/sparql?{query}")).await;
    assert_eq!(
        (refused.status.as_u16(), refused.header("retry-after")),
        (503, "5")
    );
}

#[tokio::test]
async fn the_json_of_a_dataset_is_that_of_its_hit() {
    let site = Site::testdata();
    let path = "/dataset/street-trees";
    let reply = site.accept(path, "application/json").await;
    assert_eq!(
        (reply.status.as_u16(), reply.media_type()),
        (200, "application/json"),
        "{}",
        reply.body
    );
    let named = site.get(&format!("{path}?format=json")).await;
    assert_eq!(named.body, reply.body);
    let mut object = reply.json();
    let object = object.as_object_mut().expect("an object");
    assert_eq!(
        object.remove("iri"),
        Some("http://localhost:7878/dataset/street-trees".into())
    );
    let downloads = object.remove("downloads").expect("downloads");
    assert!(
        downloads[0]["url"]
            .as_str()
            .is_some_and(|url| url.contains("://"))
            && downloads[0]["mediaType"].is_string(),
        "{downloads}"
    );
    let found = site.get("/api/search?q=city+tree+register&k=1").await;
    let mut hit = found.json()["hits"][0].clone();
    let hit = hit.as_object_mut().expect("a hit");
    for name in ["rank", "score", "match", "fields"] {
        assert!(hit.remove(name).is_some(), "{name}");
    }
    let snippet = hit["snippet"].as_array_mut().expect("a snippet");
    for triple in snippet {
        triple.as_object_mut().expect("a triple").remove("matched");
    }
    assert_eq!(object, hit);

    let linked = "application/ld+json, application/json";
    let linked = site.accept(path, linked).await;
    assert_eq!(linked.media_type(), "application/ld+json");
    let missing = site.accept("/dataset/none", "application/json").await;
    assert_eq!(missing.status, 404);
    assert!(
        missing.json()["error"]
            .as_str()
            .is_some_and(|error| error.contains("none")),
        "{}",
        missing.body
    );
}

#[tokio::test]
async fn results_are_saved_if_the_page_requests_a_download() {
    let site = Site::testdata();
    let page = encoded(&[("query", COUNT), ("format", "html")]);
    let page = site.get(&format!("/sparql?{page}")).await;
    assert!(
        page.body.contains("name=\"download\" value=\"true\""),
        "{}",
        page.body
    );
    let construct = "CONSTRUCT { ?d a ?class } { ?d a ?class } LIMIT 1";
    for (query, format, name) in [
        (COUNT, "csv", "results.csv"),
        (COUNT, "json", "results.json"),
        (construct, "json", "results.jsonld"),
    ] {
        let form = encoded(&[("query", query), ("download", "true"), ("format", format)]);
        let saved = site.post("/sparql", FORM, &form).await;
        assert_eq!(
            (saved.status.as_u16(), saved.header("content-disposition")),
            (200, format!("attachment; filename=\"{name}\"").as_str())
        );
    }
    let shown = encoded(&[("query", COUNT), ("format", "json")]);
    let shown = site.get(&format!("/sparql?{shown}")).await;
    assert_eq!(shown.header("content-disposition"), "");
    let failed = encoded(&[("query", "SELECT"), ("download", "true")]);
    let failed = site.post("/sparql", FORM, &failed).await;
    assert_eq!(
        (failed.status.as_u16(), failed.header("content-disposition")),
        (400, "")
    );
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let site = Site::testdata();
    let sparql = format!("/sparql?{}", encoded(&[("query", COUNT)]));
    for path in [
        "/",
        "/?q=water",
        "/style.css",
        "/icon.svg",
        "/api/search?q=water",
        "/api/search",
        "/dataset/contracts",
        "/dataset/contracts?format=ttl",
        "/dataset/contracts/snippet",
        "/dataset/contracts/snippet?format=svg",
        "/dataset/none",
        "/sparql",
        "/.well-known/void",
        "/rdf-graph-store?default",
        &sparql,
        "/healthz",
        "/nowhere",
    ] {
        for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::PATCH] {
            let reply = site.request(method.clone(), path, &[], "").await;
            let policy = reply.header("content-security-policy");
            assert!(
                policy.contains("default-src 'none'") && !policy.contains("unsafe"),
                "{method} {path}: {policy}"
            );
            assert_eq!(
                reply.header("x-content-type-options"),
                "nosniff",
                "{method} {path}"
            );
            assert_eq!(
                reply.header("referrer-policy"),
                "no-referrer",
                "{method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn pages_bring_all_they_need() {
    let site = Site::testdata();
    let page = site.get("/").await.body;
    for (path, media_type) in [("/style.css", "text/css"), ("/icon.svg", "image/svg+xml")] {
        assert!(page.contains(path));
        let reply = site.get(path).await;
        assert_eq!(
            (reply.status, reply.media_type()),
            (StatusCode::OK, media_type)
        );
        assert!(
            !reply.body.contains("http://") || path == "/icon.svg",
            "nothing from elsewhere"
        );
    }
}

#[tokio::test]
async fn health_head_and_cors() {
    let site = Site::testdata();
    let health = site.get("/healthz").await;
    assert_eq!(
        (health.status, health.body.as_str()),
        (StatusCode::OK, "ok: 12 datasets\n")
    );
    for path in ["/", "/api/search?q=water", "/dataset/contracts", "/healthz"] {
        let head = site.request(Method::HEAD, path, &[], "").await;
        assert_eq!(
            (head.status, head.body.as_str()),
            (StatusCode::OK, ""),
            "{path}"
        );
    }
    let asks = [
        ("origin", "https://other.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type"),
    ];
    for path in ["/sparql", "/api/search", "/dataset/contracts"] {
        let preflight = site.request(Method::OPTIONS, path, &asks, "").await;
        assert!(preflight.status.is_success(), "{path}");
        assert_eq!(
            preflight.header("access-control-allow-origin"),
            "*",
            "{path}"
        );
        assert_eq!(
            preflight.header("access-control-allow-methods"),
            "*",
            "{path}"
        );
        assert_eq!(
            preflight.header("access-control-allow-headers"),
            "*",
            "{path}"
        );
        let reply = site.request(Method::GET, path, &asks[..1], "").await;
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{path}");
        assert!(
            !reply
                .headers
                .contains_key("access-control-allow-credentials"),
            "{path}"
        );
    }
}

/// Of every dataset: each example is SPARQL, has an answer, and is where pages and descriptions say.
#[tokio::test]
async fn every_dataset_has_examples_that_answer() {
    for catalog in ["catalog.ttl", "papers-with-code.json"] {
        let site = Site::from_catalog(&testdata(catalog), limits());
        let void = site.get("/.well-known/void?format=nt").await.body;
        let ids = site
            .get(&format!(
                "/sparql?{}",
                encoded(&[("query", DATASETS), ("format", "csv")])
            ))
            .await
            .body;
        let ids: Vec<&str> = ids
            .lines()
            .skip(1)
            .filter_map(|iri| iri.rsplit('/').next())
            .collect();
        assert!(ids.len() >= 10, "{ids:?}");
        let mut kinds = 0;
        for id in ids {
            let address = format!("/dataset/{id}/examples");
            let examples = site.get(&address).await;
            assert_eq!(
                (examples.status.as_u16(), examples.media_type()),
                (200, "application/json"),
                "{id}"
            );
            let examples = examples.json();
            let examples = examples.as_array().expect("a list");
            kinds = kinds.max(examples.len());
            let page = site
                .accept(&format!("/dataset/{id}"), "text/html")
                .await
                .body;
            let known = void.contains(&format!("<http://localhost:7878{address}>"));
            assert!(
                examples.is_empty() || known && examples.len() >= 4,
                "{id}: {examples:#?}"
            );
            for example in examples {
                let (title, query) = (
                    example["title"].as_str().expect("a title"),
                    example["query"].as_str(),
                );
                let query = query.expect("a query");
                let answer = site.post("/sparql?format=json", QUERY, query).await;
                assert_eq!(
                    answer.status, 200,
                    "{id}, {title}: {}\n{query}",
                    answer.body
                );
                let rows = match answer.json()["results"]["bindings"].as_array() {
                    Some(rows) => rows.len(),
                    None => 0,
                };
                assert!(rows > 0, "{id}, {title}: no answer\n{query}");
                let asked = encoded(&[("query", query), ("format", "html")]).replace('&', "&#38;");
                assert!(page.contains(&asked), "{id}: {title} is not on the page");
            }
            let rdf = site.get(&format!("{address}?format=ttl")).await;
            assert_eq!(
                (rdf.status.as_u16(), rdf.media_type()),
                (200, "text/turtle")
            );
            assert_eq!(
                triples(&rdf.body, "a.ttl"),
                5 * examples.len(),
                "{id}: {}",
                rdf.body
            );
            let text = site.get(&format!("{address}?format=text")).await;
            assert_eq!(
                text.body.matches("SELECT").count(),
                examples.len(),
                "{id}: {}",
                text.body
            );
        }
        assert!(
            catalog != "catalog.ttl" || kinds == 7,
            "every kind of example occurs: {kinds}"
        );
    }
    let site = Site::testdata();
    assert_eq!(site.get("/dataset/none/examples").await.status, 404);
    assert_eq!(
        site.get("/dataset/contracts/examples?format=png")
            .await
            .status,
        400
    );
    assert_eq!(
        site.accept("/dataset/contracts/examples", "image/png")
            .await
            .status,
        406
    );
    let description = site.accept("/sparql", "application/n-triples").await.body;
    assert_eq!(
        description
            .matches("<http://www.w3.org/ns/shacl#select>")
            .count(),
        8
    );
}

const DATASETS: &str = "SELECT ?d { ?d a <http://www.w3.org/ns/dcat#Dataset> }";

/// An editor takes the form's place where one is served, and the page alone may run it.
#[tokio::test]
async fn the_page_for_queries_carries_an_editor_where_there_is_one() {
    let plain = Site::testdata();
    assert!(
        !plain
            .accept("/sparql", "text/html")
            .await
            .body
            .contains("editor")
    );
    assert_eq!(plain.get("/editor.js").await.status, 404);

    let files = tempfile::tempdir().expect("a folder");
    let missing = Editor::read(files.path())
        .expect_err("nothing is there")
        .to_string();
    assert!(
        missing.contains("editor.js") && missing.contains("make web"),
        "{missing}"
    );
    fs::write(files.path().join("editor.js"), "let a;").expect("written");
    fs::write(files.path().join("editor.css"), "a {}").expect("written");
    let editor = Editor::read(files.path()).expect("both files");
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let (searcher, folder) = (home.searcher(), tempfile::tempdir().expect("a folder"));
    let store = lodeseek_store::Store::in_memory(folder.path(), home.store.iris().clone())
        .expect("a store");
    let state = AppState::new(searcher, store, limits()).with_editor(Some(editor));
    let site = Site::behind(lodeseek_server::app(state), home.into_folder());
    for (path, media_type, body) in [
        ("/editor.js", "text/javascript", "let a;"),
        ("/editor.css", "text/css", "a {}"),
    ] {
        let file = site.get(path).await;
        assert_eq!(
            (file.status.as_u16(), file.media_type(), file.body.as_str()),
            (200, media_type, body)
        );
    }
    let page = site.accept("/sparql", "text/html").await;
    assert!(
        page.body.contains("src=\"/editor.js\"") && page.body.contains("<form class=\"query\""),
        "{}",
        page.body
    );
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("connect-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
    let everywhere = site.get("/").await;
    let everywhere = everywhere.header("content-security-policy");
    assert!(
        everywhere.contains("connect-src 'self'") && !everywhere.contains("data:"),
        "{everywhere}"
    );
}

/// Titles while somebody types, in OpenSearch's form, found by the address that the description of the search names.
#[tokio::test]
async fn titles_are_suggested() {
    let site = Site::testdata();
    let description = site.get("/opensearch.xml").await.body;
    let template = description
        .split("suggestions+json\" template=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    assert_eq!(
        template,
        Some("http://localhost:7878/suggest?q={searchTerms}")
    );
    let reply = site.get("/suggest?q=for").await;
    assert_eq!(reply.media_type(), "application/x-suggestions+json");
    insta::assert_snapshot!(reply.body, @r#"["for",["Forages et sondages de la région"],["Registre des forages : position, profondeur et couches traversées."],["http://localhost:7878/dataset/boreholes"]]"#);
    let titles = |typed: &str| format!("/suggest?q={typed}");
    for (typed, first) in [
        ("REGION", "Forages et sondages de la région"),
        ("regist", "Register of clinical trials"),
    ] {
        assert_eq!(
            site.get(&titles(typed)).await.json()[1][0],
            first,
            "{typed}"
        );
    }
    for nothing in ["", "zzz", "%3F"] {
        assert_eq!(
            site.get(&titles(nothing)).await.json()[1],
            serde_json::json!([]),
            "{nothing}"
        );
    }
    assert_eq!(
        site.get("/suggest").await.json(),
        serde_json::json!(["", [], [], []])
    );
}

/// A typing error is corrected, on the page and in JSON. A literal search has a link to what was meant.
#[tokio::test]
async fn typing_errors_are_corrected() {
    let site = Site::testdata();
    let page = site.get("/?q=Tree+regsiter&model=lmd").await.body;
    assert!(
        page.contains("Searched for “Tree register”") && page.contains("literal=true"),
        "{page}"
    );
    let corrected = site.get("/api/search?q=Tree+regsiter").await.json();
    assert_eq!(corrected["corrected"], "Tree register");
    let typed = site.get("/api/search?q=Tree+register").await.json();
    assert_eq!(corrected["hits"], typed["hits"], "results without a click");
    let literal = site
        .get("/api/search?q=Tree+regsiter&literal=true")
        .await
        .json();
    assert_eq!(literal["suggestion"], "Tree register");
    assert!(literal.get("corrected").is_none());
    let page = site.get("/?q=Tree+regsiter&literal=true").await.body;
    assert!(
        page.contains("Did you mean") && page.contains(">Tree register</a>"),
        "{page}"
    );
    assert!(
        site.get("/api/search?q=tree+register")
            .await
            .json()
            .get("suggestion")
            .is_none()
    );
    assert!(
        !site
            .get("/?q=tree+register")
            .await
            .body
            .contains("Did you mean")
    );
}

/// The choice of ranking is part of the address: the page ranks as the API does, and names the ranking.
#[tokio::test]
async fn the_page_ranks_as_it_is_asked_to() {
    let site = Site::testdata();
    for model in ["tf-idf", "lmd", "fsdm"] {
        let page = site
            .get(&format!("/?q=city+water&model={model}"))
            .await
            .body;
        assert!(
            page.contains(&format!("value=\"{model}\" checked")),
            "{page}"
        );
        assert!(
            page.contains(&format!(
                "/feeds/datasets.atom?q=city+water&#38;model={model}"
            )),
            "{page}"
        );
        let hits = site
            .get(&format!("/api/search?q=city+water&model={model}"))
            .await
            .json();
        let ids = hits["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|hit| hit["id"].as_str().expect("an id").to_owned());
        let places: Vec<Option<usize>> = ids
            .map(|id| page.find(&format!("<h2><a href=\"/dataset/{id}\"")))
            .collect();
        assert!(
            places.len() > 1 && places.is_sorted() && places.iter().all(Option::is_some),
            "{model}: {places:?}"
        );
    }
    let usual = site.get("/?q=city+water&model=").await;
    assert!(
        usual.body.contains("value=\"\" checked") && !usual.body.contains("&#38;model="),
        "{}",
        usual.body
    );
    assert_eq!(site.get("/?q=city&model=magic").await.status.as_u16(), 400);
    assert_eq!(
        site.get("/feeds/datasets.atom?q=city&model=magic")
            .await
            .status
            .as_u16(),
        400
    );
}

/// Classes of a dataset: an IRI has a label, and may be filtered by a prefixed name.
#[tokio::test]
async fn classes_and_formats_are_facets() {
    let site = Site::testdata();
    let facets = site
        .get("/api/search?q=city+water+trees+data&facets=true")
        .await
        .json()["facets"]
        .clone();
    let of = |name: &str| {
        let all = facets.as_array().expect("facets").iter();
        all.filter(|one| one["facet"] == name)
            .flat_map(|one| one["values"].as_array().cloned().expect("values"))
            .collect::<Vec<_>>()
    };
    assert!(
        of("vocabulary").iter().any(|one| one["label"] == "rdfs"),
        "{facets}"
    );
    let class = of("class").into_iter().next().expect("a class");
    assert!(
        class["value"].as_str().expect("an IRI").starts_with("http") && class["label"].is_string(),
        "{class}"
    );
    let found = site
        .get("/api/search?q=city+water+trees+data&vocabulary=rdfs&format=turtle")
        .await
        .json();
    let page = site
        .get("/?q=city+water+trees+data&vocabulary=rdfs&format=turtle")
        .await
        .body;
    assert!(
        found["total"].as_u64().is_some_and(|total| total > 0),
        "{found}"
    );
    assert!(
        page.contains("Vocabulary: rdfs<") && page.contains("Format: turtle<"),
        "{page}"
    );
    assert!(
        page.contains("vocabulary=http%3A%2F%2Fwww.w3.org%2F2000%2F01%2Frdf-schema%23"),
        "{page}"
    );
}

#[tokio::test]
async fn unknown_parameters_are_rejected_by_all_routes() {
    let site = Site::testdata();
    let json = "application/json";
    for (path, accept, media_type) in [
        ("/dataset/street-trees/snippet?query=a", json, json),
        (
            "/dataset/street-trees/snippet?query=a",
            "text/html",
            "text/html",
        ),
        ("/dataset/street-trees/snippet?format=json", "*/*", json),
        ("/dataset/street-trees?lang=de", "text/html", "text/html"),
        ("/dataset/street-trees?lang=de", "text/turtle", "text/plain"),
        ("/dataset/street-trees/similar?k=3", json, json),
        ("/dataset/street-trees/related?format=json", json, json),
        (
            "/dataset/street-trees/table?skip=0",
            "text/html",
            "text/html",
        ),
        ("/dataset/street-trees/cite?format=ris", "*/*", "text/plain"),
        ("/api/search?q=trees", "*/*", json),
        ("/api/entities?q=trees", "*/*", json),
        ("/api/quality/street-trees?format=json", "*/*", json),
        ("/suggest?q=t", "*/*", "text/plain"),
        ("/feeds/datasets.atom?q=trees", "*/*", "text/plain"),
        ("/catalog?page=1", "text/turtle", "text/plain"),
        ("/catalog.ttl?page=1", "*/*", "text/plain"),
        ("/?q=trees&page=0", "text/html", "text/html"),
    ] {
        let known = site.accept(path, accept).await;
        assert_eq!(known.status, StatusCode::OK, "{path}: {}", known.body);
        let unknown = site.accept(&format!("{path}&frobnicate=2"), accept).await;
        assert_eq!(unknown.status, StatusCode::BAD_REQUEST, "{path}");
        assert!(
            unknown.header("content-type").starts_with(media_type),
            "{path}"
        );
        assert!(
            unknown.body.contains("frobnicate"),
            "{path}: {}",
            unknown.body
        );
    }
    let near = site
        .accept("/dataset/street-trees/snippet?querry=a", json)
        .await;
    assert!(near.body.contains("did you mean query?"), "{}", near.body);
    for path in [
        "/?q=trees&utm_source=letter&fbclid=1",
        "/dataset/street-trees?utm_source=letter",
        "/healthz?time=1",
    ] {
        let page = site.accept(path, "text/html").await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
    }
    // The SPARQL Protocol allows further parameters.
    let query = site
        .accept("/sparql?query=ASK%7B%7D&frobnicate=2", "*/*")
        .await;
    assert_eq!(query.status, StatusCode::OK);
}
