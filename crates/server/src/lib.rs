#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each of these modules has its own router; [`app`] merges them. Upper modules may import lower ones:
//!
//! | module | routes | state |
//! |---|---|---|
//! | `openapi` | the API as OpenAPI, and as a page | |
//! | `admin` | operator page, metrics; background tasks | `AdminState` |
//! | `api` | JSON API, linked data of datasets | `ApiState` |
//! | `sparql` | SPARQL protocol, service description, VoID, graph store | `SparqlState` |
//! | `pages` | search page and static files; rendering for the other modules | |
//! | `mcp` | Model Context Protocol: tools for agents, over the routes of `api` and `sparql` | |
//! | `portal` | CKAN, DCAT-AP catalogue, feeds, sitemaps, Croissant, citations | `PortalState` |
//! | `connections`, `hosts`, `memory`, `permits`, `proxies`, `public_url`, `workers`, `parameters`, `negotiation`, `response_formats`, `error`, `cache`, `documentation`, `text`, `tls`, `locale`, `branding`, `entities`, `example_queries` | shared code | |
//!
//! # Routes
//!
//! | route | response |
//! |---|---|
//! | `GET /` | search page; `?q=`, `?page=`, `?sort=`, `?model=`, `?lang=` and filters; without `q` a list of the datasets that pass the filters |
//! | `GET /api/search?q=&k=&skip=&model=&explain=&snippet=&facets=` | search results as JSON |
//! | … `&duplicates=all` | duplicates are separate hits |
//! | … `&since=&before=&task=&modality=&theme=&class=&keyword=&publisher=&creator=` | filters; all except the years are repeatable |
//! | … `&within=west,south,east,north&covers=2010..2015` | filters by the area and the period of the data |
//! | … `&format=&license=&language=&vocabulary=&source=` | more filters; classes and vocabularies by IRI, or as `foaf:Person`, `foaf` |
//! | `GET /api/duplicates` | groups of duplicates with reasons, and of editions, as JSON |
//! | `GET /dataset/{id}` | HTML, Turtle, JSON-LD, N-Triples or RDF/XML, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/snippet?method=&budget=&query=&lang=` | HTML, JSON, SVG or RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/croissant` | Croissant, for datasets with files or for machine learning |
//! | `GET /dataset/{id}/examples` | example queries as JSON, text or RDF, by `Accept` or `?format=` |
//! | `GET`, `POST`, `QUERY /sparql` | SPARQL 1.1 Protocol, queries only; without a query the service description |
//! | … `/search` | the same; the service of search in SPARQL queries |
//! | `GET /rdf-graph-store?graph=IRI`, `?default` | SPARQL 1.1 Graph Store Protocol, read operations |
//! | `GET`, `POST /api/3/action/{name}`, `/api/action/{name}` | CKAN's Action API, read actions |
//! | `POST /mcp` | Model Context Protocol (Streamable HTTP, stateless, JSON): tools for agents |
//! | `GET /api/endpoints` | statistics of remote endpoints in `SERVICE` patterns, as JSON |
//! | `GET /.well-known/void` | VoID of all datasets |
//! | `GET /quality`, `/api/quality` | quality of all datasets: HTML, JSON |
//! | `GET /dataset/{id}/quality`, `/api/quality/{id}` | quality of one dataset: HTML, JSON, DQV as RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/related` | duplicates and editions of a dataset: JSON, editions as RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/similar?k=` | most similar datasets with reasons: JSON, HTML, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/entity?iri=&skip=&to=` | one resource: HTML, or its description as RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/cite?format=` | citation: BibTeX, RIS, CSL-JSON, by `Accept` or `?format=` |
//! | `GET /like?dataset=`, `POST /like` | datasets most similar to one, or to RDF in the body: JSON, HTML |
//! | `GET /feeds/datasets.atom?q=` | Atom: the best for a query, or the last changed; with the filters of the search |
//! | `GET /suggest?q=` | titles for a prefix, as OpenSearch suggestions |
//! | `GET /opensearch.xml`, `/robots.txt`, `/sitemap.xml`, `/sitemap/{n}.xml` | descriptions for browsers and crawlers |
//! | `GET /catalog`, `/catalog.ttl` (`.rdf`, `.xml`, `.jsonld`, `.nt`) | all datasets in DCAT-AP, page by page |
//! | `GET /livez` | 200 while the server runs |
//! | `GET /readyz`, `/healthz` | 200 if the index can be read |
//! | `GET /openapi.json`, `/api` | the API as OpenAPI, and as a page |
//! | `PUT`, `DELETE /api/admin/datasets/{id}`, `POST /api/admin/load`, `…/remove`, `…/index`, `…/harvest` | jobs that change the collection; with a token |
//! | `GET /api/admin/datasets`, `/api/admin/status` | datasets and state of the collection; with a token |
//! | `GET /api/admin/jobs`, `/api/admin/audit`, `DELETE /api/admin/jobs/{job}` | jobs and the log of changes; with a token |
//! | `GET /operator`, `/api/operator`, `/metrics` | state of the server: HTML, JSON, Prometheus; for the operator only |

mod access_log;
mod admin;
mod api;
mod branding;
mod cache;
mod connections;
mod documentation;
mod entities;
mod entity_search;
mod error;
mod example_queries;
mod hosts;
mod locale;
mod mcp;
mod memory;
mod negotiation;
mod openapi;
mod pages;
mod parameters;
mod parsing;
mod permits;
mod portal;
mod proxies;
mod public_url;
mod replica;
mod response_formats;
mod server;
mod sparql;
mod state;
mod text;
mod tls;
mod workers;

#[cfg(unix)]
pub use admin::socket_path;
pub use admin::{
    Background, ChangeGuard, ChangeWorker, HarvestOutcome, HarvestSchedule, Live, MAX_CATALOG_FILES, MAX_SOURCES,
    MAX_UPLOAD_BYTES, Operators, ScheduledSource, Scope, Token, TokenError, Tokens, has_unread_file,
};
pub use branding::{Branding, BrandingError, Color, ColorError, FooterLink, InvalidFooterLink, Logo, Theme};
pub use connections::ConnectionLimits;
pub use locale::TextError;
pub use parsing::{ContentParser, Parser};
pub use portal::Portal;
pub use proxies::Proxies;
pub use public_url::{InvalidPublicUrl, PublicUrl};
pub use replica::{HomeOptions, Replica, serve_replica};
pub use server::{Reload, ServeError, ServeOptions, on_stop_signal, serve, serve_mcp};
pub use sparql::{Editor, EditorError};
pub use state::{AppState, SnippetLimits};
pub use tls::{Tls, TlsError};
pub use workers::{WorkerOptions, WorkerRole, Workers, run_worker};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::routing::get;
use error::ApiError;
use std::sync::Arc;
use tower::util::option_layer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowOrigin, Any, CorsLayer};
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;

/// Maximum size of a request body in bytes. Routes may set another.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Content security policy: no resources of other origins, and no inline scripts. The pages work without their script.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Permissions policy: the pages use no device.
const PERMISSIONS_POLICY: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

/// Returns the application with all routes.
pub fn app(state: AppState) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(allowed_origins(&state))
        .allow_methods(Any)
        .allow_headers(Any)
        .expose_headers(Any);
    let admin = state.admin.clone();
    let is_https_only = state.is_https_only();
    let proxies = Arc::clone(&state.proxies);
    let routes = Router::new()
        .merge(openapi::router())
        .merge(api::router())
        .merge(pages::router())
        .merge(portal::router())
        .merge(sparql::router())
        .route("/healthz", get(health))
        .route("/livez", get(alive))
        .route("/readyz", get(ready))
        .fallback(pages::not_found)
        .layer(cors.clone())
        .merge(sparql::protocol_router(&cors))
        .merge(admin::router(&state))
        .merge(mcp::router(&state))
        .with_state(state)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES));
    let routes = match admin {
        Some(admin) => routes.layer(from_fn(move |request: Request, next: Next| {
            admin::observe(Arc::clone(&admin.metrics), request, next)
        })),
        None => routes,
    };
    routes
        .layer(default_header(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY))
        .layer(default_header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(default_header(header::REFERRER_POLICY, "no-referrer"))
        .layer(default_header(HeaderName::from_static("cross-origin-opener-policy"), "same-origin"))
        .layer(default_header(HeaderName::from_static("permissions-policy"), PERMISSIONS_POLICY))
        .layer(option_layer(
            is_https_only.then(|| default_header(header::STRICT_TRANSPORT_SECURITY, "max-age=31536000")),
        ))
        .layer(from_fn(error::json_errors))
        .layer(from_fn(hosts::check_host))
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(TraceLayer::new_for_http().make_span_with(request_span))
        .layer(from_fn(move |request: Request, next: Next| access_log::log_access(Arc::clone(&proxies), request, next)))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(from_fn(access_log::check_request_id))
}

/// Returns the span of a request, whose id all messages about it carry.
fn request_span(request: &Request) -> tracing::Span {
    tracing::info_span!("request", id = access_log::request_id(request.headers()))
}

/// Returns the origins whose pages may read responses. A server that only this machine can reach serves pages of this machine
/// only: else every web page could read through the browser of a user here.
fn allowed_origins(state: &AppState) -> AllowOrigin {
    if state.is_local_only() {
        return AllowOrigin::predicate(|origin, _| hosts::is_loopback_origin(origin.as_bytes()));
    }
    AllowOrigin::from(Any)
}

/// Sets a header of all responses without it.
fn default_header(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

/// `GET /healthz`: status 200 if the index can be read.
#[utoipa::path(get, path = "/healthz", tag = "Server", summary = "Health check",
    responses((status = 200, description = "The index is readable.", body = String)))]
async fn health(State(state): State<AppState>) -> Result<String, ApiError> {
    let datasets = state.work(|state| Ok(state.searcher.catalog().len()?)).await?;
    Ok(format!("ok: {datasets} datasets\n"))
}

/// `GET /livez`: status 200 while the server answers. A supervisor restarts a server that does not.
#[utoipa::path(get, path = "/livez", tag = "Server", summary = "Liveness check",
    responses((status = 200, description = "The server runs.", body = String)))]
async fn alive() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: status 200 if the index can be read, else 503. A load balancer sends no requests meanwhile.
#[utoipa::path(get, path = "/readyz", tag = "Server", summary = "Readiness check",
    responses(
        (status = 200, description = "The server can answer searches.", body = String),
        (status = 503, description = "The index cannot be read.", body = String)))]
async fn ready(state: State<AppState>) -> Result<String, ApiError> {
    health(state).await.map_err(|error| ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, error.message))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Modules with routers, from the lowest to the highest. None imports a higher one.
    const MODULES: [&str; 6] = ["portal", "pages", "sparql", "api", "admin", "openapi"];

    fn sources(folder: &Path) -> String {
        let mut text = String::new();
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                text += &sources(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text += &fs::read_to_string(&path).expect("a source file");
            }
        }
        text
    }

    #[test]
    fn modules_import_only_lower_modules() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for (place, module) in MODULES.iter().enumerate() {
            let text = sources(&folder.join(module));
            for higher in &MODULES[place + 1..] {
                assert!(!text.contains(&format!("crate::{higher}::")), "{module} imports {higher}");
                assert!(!text.contains(&format!("crate::{{{higher}")), "{module} imports {higher}");
            }
        }
    }
}
