//! Requests to the server: CKAN's actions with their parameters, and the other routes that visitors use.
//!
//! Names of parameters are the documented ones; values are generated from parts of the query languages, or any text.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::site::{self, Site};
use lodeseek_fuzz::start;
use std::sync::OnceLock;
use tower::ServiceExt;

const ACTIONS: [&str; 14] = [
    "package_search",
    "package_show",
    "package_list",
    "current_package_list_with_resources",
    "package_autocomplete",
    "resource_show",
    "resource_search",
    "organization_list",
    "organization_show",
    "group_list",
    "group_show",
    "tag_list",
    "tag_show",
    "help_show",
];
const ACTION_PARAMETERS: [&str; 16] = [
    "q",
    "fq",
    "fq_list",
    "sort",
    "rows",
    "start",
    "facet",
    "facet.field",
    "facet.limit",
    "id",
    "limit",
    "offset",
    "query",
    "all_fields",
    "order_by",
    "name",
];
const PATHS: [&str; 26] = [
    "/",
    "/api/search",
    "/api/duplicates",
    "/dataset/boreholes",
    "/dataset/boreholes/snippet",
    "/dataset/boreholes/examples",
    "/dataset/boreholes/quality",
    "/dataset/boreholes/related",
    "/dataset/boreholes/entity",
    "/dataset/boreholes/similar",
    "/like",
    "/quality",
    "/api/quality",
    "/suggest",
    "/sparql",
    "/search",
    "/rdf-graph-store",
    "/dataset/boreholes/croissant",
    "/dataset/boreholes/cite",
    "/feeds/datasets.atom",
    "/sitemap.xml",
    "/sitemap/1",
    "/catalog.ttl",
    "/catalog",
    "/catalog.rdf",
    "/.well-known/void",
];
const PATH_PARAMETERS: [&str; 22] = [
    "q",
    "query",
    "model",
    "k",
    "page",
    "limit",
    "offset",
    "format",
    "since",
    "before",
    "task",
    "theme",
    "class",
    "keyword",
    "publisher",
    "iri",
    "id",
    "method",
    "budget",
    "style",
    "lang",
    "default-graph-uri",
];
const VALUES: [&str; 26] = [
    "water",
    "soil quality",
    "*:*",
    "title:soil*",
    "+a -b",
    "NOT x OR (y AND z)",
    "[2000 TO *]",
    "{a TO b}",
    "metadata_modified:[2000-01-01T00:00:00Z TO NOW]",
    "tags:\"x y\"",
    "[\"tags\"]",
    "[1",
    "0",
    "1",
    "10",
    "-1",
    "99999999999999999999",
    "true",
    "name asc, metadata_modified desc",
    "score desc",
    "boreholes",
    "http://example.org/x",
    "../..",
    "%",
    "SELECT * { ?a ?b ?c }",
    "",
];
const ACCEPT: [&str; 8] = [
    "*/*",
    "text/html",
    "application/json",
    "text/turtle",
    "application/ld+json",
    "application/rdf+xml;q=0.5, text/turtle",
    ";q=,",
    "application/n-triples",
];

/// Way to send the parameters.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Transport {
    Address,
    Form,
    Json,
    /// The text as the query part of the address, and as the body of a POST.
    Raw,
}

#[derive(Debug)]
struct Input {
    path: String,
    parameters: Vec<(&'static str, String)>,
    transport: Transport,
    accept: &'static str,
    raw: String,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let is_action = u.ratio(2, 3)?;
        let path =
            if is_action { format!("/api/3/action/{}", u.choose(&ACTIONS)?) } else { (*u.choose(&PATHS)?).to_owned() };
        let mut parameters = Vec::new();
        for _ in 0..u.int_in_range(0..=5)? {
            let name = if is_action { u.choose(&ACTION_PARAMETERS)? } else { u.choose(&PATH_PARAMETERS)? };
            parameters.push((*name, value(u)?));
        }
        let (transport, accept) = (u.arbitrary()?, *u.choose(&ACCEPT)?);
        Ok(Self { path, parameters, transport, accept, raw: u.arbitrary()? })
    }
}

/// Returns up to three parts of values with any text between.
fn value(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(1..=3)? {
        if u.ratio(3, 4)? {
            text.push_str(u.choose(&VALUES)?);
        } else {
            text.push_str(u.arbitrary()?);
        }
    }
    Ok(text)
}

impl Input {
    /// Returns the request, or `None` if its address is not valid.
    fn request(&self) -> Option<Request<Body>> {
        let form = site::encoded(&self.parameters);
        let (address, media_type, body) = match self.transport {
            Transport::Address => (format!("{}?{form}", self.path), "", String::new()),
            Transport::Form => (self.path.clone(), "application/x-www-form-urlencoded", form),
            Transport::Json => (self.path.clone(), "application/json", site::json(&self.parameters)),
            Transport::Raw => (format!("{}?{}", self.path, self.raw), "text/turtle", self.raw.clone()),
        };
        let method = if body.is_empty() { "GET" } else { "POST" };
        let request = Request::builder().method(method).uri(address).header(header::HOST, "localhost:7878");
        request.header(header::ACCEPT, self.accept).header(header::CONTENT_TYPE, media_type).body(body.into()).ok()
    }
}

fuzz_target!(init: start(), |input: Input| {
    static SITE: OnceLock<Site> = OnceLock::new();
    let site = SITE.get_or_init(Site::new);
    let Some(request) = input.request() else { return };
    let status = site.runtime.block_on(async {
        let response = site.app.clone().oneshot(request).await.expect("the service cannot fail");
        let status = response.status();
        // A connection that is aborted while the answer is sent is no failure of the program.
        let _ = response.into_body().collect().await;
        status
    });
    assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{input:?}");
});
