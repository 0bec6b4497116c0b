//! `GET /openapi.json`: the API as OpenAPI 3.1 (<https://spec.openapis.org/oas/v3.1.1>), for generators of clients. `/api`
//! shows the same document as a page. It is collected from the `#[utoipa::path]` attributes of the handlers; a test compares
//! it with the routes.

mod page;

use crate::documentation::Error;
use crate::{AppState, admin, api, portal, sparql};
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::LazyLock;
use utoipa::openapi::RefOr;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi, openapi};

const MEDIA_TYPE: &str = "application/vnd.oai.openapi+json;version=3.1";
const SUMMARY: &str = "Search for RDF datasets by metadata and content";

/// The whole document.
static DOCUMENT: LazyLock<openapi::OpenApi> = LazyLock::new(|| {
    let mut document = General::openapi();
    for part in [
        api::Operations::openapi(),
        portal::Operations::openapi(),
        sparql::Operations::openapi(),
        admin::Operations::openapi(),
        admin::ManagementOperations::openapi(),
    ] {
        document.merge(part);
    }
    document
});

/// The general parts of the document, and the operations without a module.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lodeseek",
        description = "All routes are readable without a key, also by pages of other origins, except those of the operator and of \
            the administration. Any request can get status 429 or 503 with Retry-After if its client address, or the server, has \
            too many open connections.",
        license(name = "Apache 2.0", identifier = "Apache-2.0")
    ),
    servers((url = "/")),
    tags(
        (name = "Search", description = "Ranked datasets."),
        (name = "Datasets", description = "One dataset."),
        (name = "Quality", description = "Quality of datasets and its problems."),
        (name = "SPARQL", description = "SPARQL over metadata and content."),
        (name = "Catalogue", description = "Catalogue for harvesters."),
        (name = "CKAN", description = "Interface for CKAN's clients."),
        (name = "Server", description = "State of the server."),
        (name = "Administration", description = "Changes of the collection, with a token: else status 401. Without --admin, status 404."),
    ),
    paths(crate::health, crate::alive, crate::ready),
    components(schemas(Error)),
    modifiers(&Additions)
)]
struct General;

/// Parts of the document that the attribute of [`General`] cannot express.
struct Additions;

impl Modify for Additions {
    fn modify(&self, document: &mut openapi::OpenApi) {
        // `summary` is a field of OpenAPI 3.1 that utoipa lacks; extensions are written beside the other fields.
        document.info.extensions = Some(Extensions::from_iter([("summary", SUMMARY)]));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(
            "bearer",
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        );
        components.add_security_scheme(
            "basic",
            SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)),
        );
    }
}

/// Returns each path with `GET`, the names of its parameters of the query, and true if it has a page.
pub(crate) fn query_parameters() -> Vec<(String, Vec<String>, bool)> {
    let mut found = Vec::new();
    for (path, item) in &DOCUMENT.paths.paths {
        let Some(operation) = &item.get else { continue };
        let names: Vec<String> = page::parameters(operation)
            .filter(|parameter| parameter.parameter_in == ParameterIn::Query)
            .map(|parameter| parameter.name.clone())
            .collect();
        let has_page = operation.responses.responses.values().any(|response| {
            matches!(response, RefOr::T(response) if response.content.contains_key("text/html"))
        });
        found.push((path.clone(), names, has_page));
    }
    found
}

/// Returns the routes of the document.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/api", get(page::page))
        .route("/openapi.json", get(document))
}

async fn document(State(state): State<AppState>) -> Response {
    document_response(state.site.base_path())
}

/// Returns the document of a server whose public URL has this path.
fn document_response(path: &str) -> Response {
    // This header replaces that of `Json`.
    let headers = [(header::CONTENT_TYPE, MEDIA_TYPE)];
    if path.is_empty() {
        return (headers, axum::Json(&*DOCUMENT)).into_response();
    }
    let mut document = DOCUMENT.clone();
    document.servers = Some(vec![openapi::Server::new(path)]);
    (headers, axum::Json(document)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_engine::Facet;
    use std::collections::BTreeSet;

    /// Routes outside the document: files of the pages, and resources that other standards describe.
    const UNDOCUMENTED: [&str; 33] = [
        "/operator/login",
        "/operator/logout",
        "/operator/sources",
        "/operator/upload",
        "/operator/datasets",
        "/operator/dataset",
        "/operator/jobs",
        "/operator/backup",
        "/operator/audit",
        "/operator/searches",
        "/api/admin/backup",
        "/api/admin/publish",
        "/mcp",
        "/api/admin/load",
        "/",
        "/style.css",
        "/page.js",
        "/query.js",
        "/editor.js",
        "/editor.css",
        "/icon.svg",
        "/logo",
        "/theme/{name}",
        "/opensearch.xml",
        "/sitemap.xml",
        "/sitemap/{part}",
        "/robots.txt",
        "/api/action/{name}",
        "/api/3",
        "/search",
        "/quality",
        "/api",
        "/openapi.json",
    ];

    /// Returns the paths of all routers. The catalogue has a path for each syntax; one is documented.
    fn routes() -> BTreeSet<String> {
        let mut routes = crate::route_tests::routes();
        routes.retain(|path| !path.starts_with("/catalog."));
        routes
    }

    #[test]
    fn every_route_is_documented_and_nothing_else_is() {
        let documented: BTreeSet<String> = DOCUMENT.paths.paths.keys().cloned().collect();
        let there = routes();
        assert!(there.len() > 20, "{there:?}");
        let undocumented: Vec<_> = there
            .iter()
            .filter(|path| !documented.contains(*path) && !UNDOCUMENTED.contains(&path.as_str()))
            .collect();
        assert!(
            undocumented.is_empty(),
            "routes without an operation: {undocumented:?}"
        );
        let absent: Vec<_> = documented
            .iter()
            .filter(|path| !there.contains(*path))
            .collect();
        assert!(absent.is_empty(), "paths that are no routes: {absent:?}");
    }

    #[tokio::test]
    async fn the_response_is_the_document_with_its_media_type() {
        let response = document_response("");
        assert_eq!(response.headers()[header::CONTENT_TYPE], MEDIA_TYPE);
        let body = axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .expect("a body");
        let document: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(document["info"]["summary"], SUMMARY);
    }

    #[test]
    fn the_search_has_every_facet_as_parameter() {
        let item = &DOCUMENT.paths.paths["/api/search"];
        let search = item.get.as_ref().expect("an operation");
        let named: BTreeSet<&str> = page::parameters(search)
            .map(|one| one.name.as_str())
            .collect();
        for facet in Facet::ALL {
            assert!(named.contains(facet.name()), "{facet}");
        }
    }

    #[test]
    fn limits_of_load_are_documented() {
        let document = serde_json::to_value(&*DOCUMENT).expect("JSON");
        let paths = document["paths"].as_object().expect("paths");
        let operations = paths.iter().flat_map(|(path, item)| {
            item.as_object()
                .into_iter()
                .flatten()
                .map(move |(method, operation)| (path, method, operation))
        });
        let mut limited = BTreeSet::new();
        for (path, method, operation) in operations {
            let responses = operation["responses"].as_object().expect("responses");
            let has = |status: &str| responses.contains_key(status);
            assert_eq!(
                !operation["requestBody"].is_null(),
                has("408"),
                "{method} {path}: a body can arrive too slowly"
            );
            assert!(
                !has("429") || has("503"),
                "{method} {path}: a limit of a client is a part of one of all clients"
            );
            if has("429") {
                limited.insert(format!("{method} {path}"));
            }
        }
        let expected = [
            "get /api/3/action/{name}",
            "get /api/entities",
            "get /api/quality",
            "get /api/quality/{id}",
            "get /api/search",
            "get /catalog",
            "get /dataset/{id}",
            "get /dataset/{id}/entity",
            "get /dataset/{id}/files/{name}",
            "get /dataset/{id}/quality",
            "get /dataset/{id}/shapes",
            "get /dataset/{id}/similar",
            "get /dataset/{id}/snippet",
            "get /dataset/{id}/table",
            "get /dataset/{id}/void",
            "get /entities",
            "get /feeds/changes",
            "get /feeds/changes/{page}",
            "get /feeds/datasets.atom",
            "get /like",
            "get /oai",
            "get /rdf-graph-store",
            "get /sparql",
            "post /like",
            "post /sparql",
        ];
        assert_eq!(limited, expected.map(str::to_owned).into());
    }

    #[test]
    fn the_catalogue_has_the_status_of_long_queries() {
        let document = serde_json::to_value(&*DOCUMENT).expect("JSON");
        let long = &document["paths"]["/catalog"]["get"]["responses"]["414"];
        assert!(long["content"]["text/plain"].is_object(), "{long}");
    }

    #[test]
    fn every_operation_is_complete_and_every_reference_resolves() {
        let tags: BTreeSet<&str> = DOCUMENT
            .tags
            .iter()
            .flatten()
            .map(|tag| tag.name.as_str())
            .collect();
        let mut ids = BTreeSet::new();
        for (path, item) in &DOCUMENT.paths.paths {
            for (method, operation) in page::operations(item) {
                let mut tagged = operation.tags.iter().flatten();
                assert!(
                    tagged.clone().count() > 0 && tagged.all(|tag| tags.contains(tag.as_str())),
                    "{method} {path}"
                );
                assert!(
                    operation.summary.is_some() && !operation.responses.responses.is_empty(),
                    "{method} {path}"
                );
                assert_eq!(
                    page::parameters(operation).count(),
                    operation.parameters.iter().flatten().count()
                );
                assert!(
                    ids.insert(&operation.operation_id),
                    "{method} {path}: {:?}",
                    operation.operation_id
                );
            }
        }
        let document = serde_json::to_value(&*DOCUMENT).expect("JSON");
        let text = document.to_string();
        let references = text
            .split("\"$ref\":\"#")
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        for reference in references {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }
}
