//! Requests to the server: CKAN's actions with their parameters, the other routes that visitors use, and tools for agents (`/mcp`).
//!
//! Names of parameters and headers are the documented ones; values are generated from parts of the query languages, or any text.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::site::{self, Site};
use lodeseek_fuzz::start;
use serde_json::{Value as Json, json};
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
const PATHS: [&str; 37] = [
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
    "/entities",
    "/api/entities",
    "/api/terms",
    "/api/endpoints",
    "/api/quality/boreholes",
    "/dataset/boreholes/shapes",
    "/dataset/boreholes/void",
    "/opensearch.xml",
    "/theme/x",
    "/healthz",
    "/dataset/%2e%2e",
];
const PATH_PARAMETERS: [&str; 35] = [
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
    "named-graph-uri",
    "graph",
    "within",
    "covers",
    "like",
    "license",
    "property",
    "vocabulary",
    "duplicates",
    "sort",
    "snippet",
    "skip",
    "dataset",
];
const VALUES: [&str; 34] = [
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
    "-180,-90,180,90",
    "2.5,49.4,nan,1e400",
    "2010..2015",
    "..2010-02-30",
    "-0001..99999",
    "foaf:Person",
    "stored",
    "de,en;q=0.5,*",
];
/// Names of headers that the server reads, and values of any of them.
const HEADERS: [&str; 18] = [
    "accept",
    "accept-language",
    "accept-encoding",
    "host",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "origin",
    "sec-fetch-site",
    "prefer",
    "if-none-match",
    "range",
    "content-type",
    "authorization",
    "cookie",
    "mcp-protocol-version",
    "access-control-request-method",
];
const HEADER_VALUES: [&str; 30] = [
    "*/*",
    "text/html",
    "application/json",
    "text/turtle",
    "application/ld+json;profile=\"x\"",
    "application/rdf+xml;q=0.5, text/turtle",
    ";q=,",
    "application/n-triples",
    "application/sparql-results+xml",
    "text/csv;q=1.5",
    "application/json, text/event-stream",
    "application/sparql-query",
    "localhost:7878",
    "[::1]:7878",
    "[::1",
    "user@host:99999",
    "for=\"[2001:db8::1]:80\";proto=https;host=\"a b\"",
    "for=unknown, for=127.0.0.1",
    "127.0.0.1, ::ffff:10.0.0.1",
    "https",
    "http://localhost:7878",
    "null",
    "cross-site",
    "return=minimal; wait=\"10\"",
    "W/\"x\", *",
    "bytes=0-1,-5",
    "Bearer x",
    "de-AT;q=0.9, *;q=0",
    "gzip, br;q=0",
    "2025-06-18",
];
/// `Accept` of requests that have none. Tools for agents need both.
const ACCEPT: &str = "*/*, application/json, text/event-stream";
const TOOLS: [&str; 7] = [
    "search_datasets",
    "get_dataset",
    "get_schema",
    "sample_triples",
    "similar_datasets",
    "find_sources",
    "query_sparql",
];
const TOOL_PARAMETERS: [&str; 10] = [
    "query", "id", "limit", "like", "since", "within", "covers", "keyword", "class", "license",
];
const METHODS: [&str; 7] = [
    "tools/call",
    "tools/list",
    "initialize",
    "resources/read",
    "resources/templates/list",
    "ping",
    "notifications/initialized",
];

/// Way to send the parameters.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Transport {
    Address,
    Form,
    Json,
    /// The text as the query part of the address, and as the body of a POST.
    Raw,
    /// The text as JSON.
    Rpc,
}

#[derive(Debug)]
struct Input {
    path: String,
    parameters: Vec<(&'static str, String)>,
    transport: Transport,
    headers: Vec<(&'static str, String)>,
    raw: String,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let kind = u.int_in_range(0..=6)?;
        let (path, names): (String, &[&str]) = match kind {
            0..=2 => (
                format!("/api/3/action/{}", u.choose(&ACTIONS)?),
                &ACTION_PARAMETERS,
            ),
            3..=5 => ((*u.choose(&PATHS)?).to_owned(), &PATH_PARAMETERS),
            _ => ("/mcp".to_owned(), &TOOL_PARAMETERS),
        };
        let parameters = pairs(u, names, value)?;
        let headers = pairs(u, &HEADERS, header_value)?;
        if kind == 6 {
            return Ok(Self {
                raw: call(u, &parameters)?,
                path,
                parameters,
                transport: Transport::Rpc,
                headers,
            });
        }
        Ok(Self {
            path,
            parameters,
            transport: u.arbitrary()?,
            headers,
            raw: u.arbitrary()?,
        })
    }
}

type Value = fn(&mut Unstructured<'_>) -> Result<String>;

fn pairs(
    u: &mut Unstructured<'_>,
    names: &[&'static str],
    value: Value,
) -> Result<Vec<(&'static str, String)>> {
    (0..u.int_in_range(0..=5)?)
        .map(|_| Ok((*u.choose(names)?, value(u)?)))
        .collect()
}

/// Returns a request of JSON-RPC, or any text.
fn call(u: &mut Unstructured<'_>, arguments: &[(&'static str, String)]) -> Result<String> {
    if u.ratio(1, 8)? {
        return u.arbitrary();
    }
    let parameters = match u.int_in_range(0..=3)? {
        0 => json!({ "uri": format!("dataset://{}", value(u)?) }),
        1 => {
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "0" } })
        }
        _ => {
            let arguments: Json = serde_json::from_str(&site::json(arguments)).unwrap_or_default();
            json!({ "name": u.choose(&TOOLS)?, "arguments": arguments })
        }
    };
    let method = if u.ratio(3, 4)? {
        METHODS[0]
    } else {
        *u.choose(&METHODS)?
    };
    Ok(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters }).to_string())
}

fn header_value(u: &mut Unstructured<'_>) -> Result<String> {
    if u.ratio(3, 4)? {
        Ok((*u.choose(&HEADER_VALUES)?).to_owned())
    } else {
        u.arbitrary()
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
            Transport::Json => (
                self.path.clone(),
                "application/json",
                site::json(&self.parameters),
            ),
            Transport::Raw => (
                format!("{}?{}", self.path, self.raw),
                "text/turtle",
                self.raw.clone(),
            ),
            Transport::Rpc => (self.path.clone(), "application/json", self.raw.clone()),
        };
        let method = if body.is_empty() { "GET" } else { "POST" };
        let mut request = Request::builder()
            .method(method)
            .uri(address)
            .extension(ConnectInfo(site::PROXY));
        let is_given = |header: &str| self.headers.iter().any(|(name, _)| *name == header);
        let usual = [
            ("host", "localhost:7878"),
            ("accept", ACCEPT),
            ("content-type", media_type),
        ];
        for (name, value) in usual.into_iter().filter(|(name, _)| !is_given(name)) {
            request = request.header(name, value);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value.as_str());
        }
        request.body(body.into()).ok()
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
