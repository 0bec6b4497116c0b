//! Names of the parameters of `GET` requests: an unknown one is status 400, with the most similar of the known names. A misspelt
//! parameter must not return what it would have excluded.
//!
//! The names are those of the OpenAPI document. Routes of standards with errors of their own are not checked here: SPARQL,
//! OAI-PMH and CKAN. Routes outside of `/api/` accept parameters with which other sites mark their links.

use crate::AppState;
use crate::error::ApiError;
use crate::negotiation::best;
use crate::pages::{self, PageContext};
use crate::parameters::{pairs, unknown_parameter};
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Routes whose standard has errors of its own.
const UNCHECKED: [&str; 2] = ["/oai", "/api/3/action/{name}"];
/// (route, name): other spellings of documented parameters.
const SPELLINGS: [(&str, &str); 1] = [("/catalog", "_profile")];
/// Other names of the parameter `format`.
const FORMAT_NAMES: [&str; 2] = ["output", "results"];
/// Parameters by which other sites recognise the visitors that they send. They are ignored.
const TRACKING: [&str; 24] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "fbclid",
    "gad_campaignid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "ref",
    "srsltid",
    "ttclid",
    "twclid",
    "wbraid",
    "yclid",
    "ysclid",
];
/// First parts of further such parameters.
const TRACKING_PREFIXES: [&str; 4] = ["hsa_", "mtm_", "pk_", "utm_"];

/// Parameters of a route.
#[derive(Default)]
struct RouteParameters {
    names: Vec<String>,
    /// If true, the route has a page.
    has_page: bool,
    /// If true, other sites link to the route: it is none of the JSON interface.
    is_linked: bool,
}

impl RouteParameters {
    fn is_known(&self, name: &str) -> bool {
        let is_tracking = TRACKING.contains(&name)
            || TRACKING_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix));
        self.names.iter().any(|known| known == name)
            || self.has_page && name == "lang"
            || self.is_linked && is_tracking
    }
}

/// Parameters of the routes that have any, by path.
static ROUTES: LazyLock<BTreeMap<String, RouteParameters>> = LazyLock::new(|| {
    let mut routes = BTreeMap::new();
    for (path, names, has_page) in crate::openapi::query_parameters() {
        if names.is_empty() || UNCHECKED.contains(&path.as_str()) {
            continue;
        }
        let mut route = RouteParameters {
            names,
            has_page,
            is_linked: !path.starts_with("/api/"),
        };
        if route.names.iter().any(|name| name == "format") {
            route.names.extend(FORMAT_NAMES.map(str::to_owned));
        }
        let spellings = SPELLINGS.iter().filter(|(known, _)| *known == path);
        route
            .names
            .extend(spellings.map(|(_, name)| (*name).to_owned()));
        routes.insert(path, route);
    }
    let start = RouteParameters {
        names: pages::search_parameters(),
        has_page: true,
        is_linked: true,
    };
    routes.insert("/".to_owned(), start);
    routes
});

/// Rejects a request with a parameter that its route does not have.
pub(crate) async fn check_names(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let Some(error) = unknown_name(&request) else {
        return next.run(request).await;
    };
    let has_page = find_route(&request).is_some_and(|route| route.has_page);
    let (mut parts, _) = request.into_parts();
    match PageContext::from_request_parts(&mut parts, &state).await {
        Ok(page) => error_response(&parts, has_page.then_some(&page), error),
        Err(never) => match never {},
    }
}

/// Returns the parameters of the route of a request; `None` if it is not checked.
fn find_route(request: &Request) -> Option<&'static RouteParameters> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let path = request.extensions().get::<MatchedPath>()?.as_str();
    // The catalogue has a route for each syntax.
    let path = if path.starts_with("/catalog.") {
        "/catalog"
    } else {
        path
    };
    ROUTES.get(path)
}

fn unknown_name(request: &Request) -> Option<ApiError> {
    let route = find_route(request)?;
    let query = request.uri().query()?;
    let parameters = pairs(query.as_bytes());
    let unknown = parameters
        .iter()
        .find(|(name, _)| !name.is_empty() && !route.is_known(name));
    unknown.map(|(name, _)| unknown_parameter(name, &route.names))
}

/// Returns the error in the form of the route: JSON, a page, or text.
fn error_response(request: &Parts, page: Option<&PageContext>, error: ApiError) -> Response {
    let query = request.uri.query().unwrap_or_default();
    let parameters = pairs(query.as_bytes());
    let format = parameters.iter().find(|(name, _)| name == "format");
    let format = format.map(|(_, format)| format.as_str());
    if request.uri.path().starts_with("/api/") || format == Some("json") {
        return error.to_json_response();
    }
    let offers = [
        "text/html",
        "application/xhtml+xml",
        "application/json",
        "text/plain",
    ];
    let accepted = match format {
        Some("html") => Some(offers[0]),
        Some(_) => None,
        None if request.headers.contains_key(header::ACCEPT) => best(&request.headers, &offers),
        None => Some(offers[0]),
    };
    match (accepted, page) {
        (Some("application/json"), _) => error.to_json_response(),
        (Some("text/html" | "application/xhtml+xml"), Some(page)) => pages::error(page, &error),
        _ => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_have_their_documented_parameters() {
        for (path, name, expected) in [
            ("/dataset/{id}/snippet", "query", true),
            ("/dataset/{id}/snippet", "rows", true),
            ("/dataset/{id}/snippet", "lang", true),
            ("/dataset/{id}/snippet", "output", true),
            ("/dataset/{id}/snippet", "utm_source", true),
            ("/dataset/{id}/snippet", "q", false),
            ("/api/search", "facets", true),
            ("/api/search", "utm_source", false),
            ("/catalog", "_profile", true),
            ("/catalog", "lang", false),
            ("/catalog", "utm_source", true),
            ("/feeds/datasets.atom", "pk_campaign", true),
            ("/", "covers", true),
            ("/", "place", true),
            ("/", "gclid", true),
            ("/", "k", false),
        ] {
            let route = &ROUTES[path];
            assert_eq!(route.is_known(name), expected, "{path}: {name}");
        }
        for path in UNCHECKED {
            assert!(!ROUTES.contains_key(path), "{path}");
        }
        assert!(!ROUTES.contains_key("/healthz"));
    }
}
