#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Most of these modules have their own router; [`app`] merges them, and adds `/healthz`, `/livez` and `/readyz`. Upper modules
//! import lower ones. `/openapi.json` lists all routes. What has no HTTP is in other crates: changes of the collection in
//! `lodeseek-changes`.
//!
//! | module | routes | state |
//! |---|---|---|
//! | `state`, `server`, `replica`, `workers` | the application from these modules, and its processes | `AppState` |
//! | `openapi` | the API as OpenAPI, and as a page | |
//! | `admin` | operator page, metrics, requests of changes | `AdminState`, `ChangeState` |
//! | `mcp` | Model Context Protocol: tools for agents, over the routes of `api` and `sparql` | |
//! | `api` | JSON API, linked data of datasets | `ApiState` |
//! | `sparql` | SPARQL protocol, service description, VoID, graph store | `SparqlState` |
//! | `pages` | search page and static files; rendering for the other modules | |
//! | `portal` | CKAN, DCAT-AP catalogue, feeds, sitemaps, Croissant, citations | `PortalState` |
//! | `access_log`, `base_path`, `connections`, `entity_search`, `hosts`, `memory`, `permits`, `proxies`, `public_url`, `parameters`, `negotiation`, `observed_body`, `response_formats`, `site`, `tables`, `error`, `cache`, `documentation`, `text`, `tls`, `work_limits`, `locale`, `localized`, `branding`, `entities`, `example_queries` | shared code | |

mod access_log;
mod admin;
mod api;
mod base_path;
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
mod localized;
mod mcp;
mod memory;
mod negotiation;
mod observed_body;
mod openapi;
mod pages;
mod parameter_names;
mod parameters;
mod permits;
mod portal;
mod proxies;
mod public_url;
mod replica;
mod request_encoding;
mod response_formats;
#[cfg(test)]
mod route_tests;
mod search_log;
mod server;
mod site;
mod sparql;
mod state;
mod tables;
mod text;
mod tls;
mod work_limits;
mod workers;

pub use admin::Operators;
pub use branding::{
    Branding, BrandingError, Color, ColorError, FooterLink, InvalidFooterLink, Logo, Theme,
};
pub use connections::ConnectionLimits;
pub use hosts::{HostName, InvalidHostName};
pub use locale::{TextError, default_texts};
pub use localized::{Localized, LocalizedError};
pub use portal::Portal;
pub use proxies::Proxies;
pub use public_url::{InvalidPublicUrl, PublicUrl};
pub use replica::{HomeOptions, Replica, serve_replica};
pub use server::{Reload, ServeError, ServeOptions, on_stop_signal, serve, serve_mcp};
pub use sparql::{Editor, EditorError};
pub use state::AppState;
pub use tls::{Tls, TlsError};
pub use work_limits::SnippetLimits;
pub use workers::{Workers, run_worker};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::routing::get;
use error::ApiError;
use response_formats::AsStored;
use std::sync::Arc;
use tower::util::option_layer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate};
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
    let is_https_only = state.site.is_https_only();
    let proxies = Arc::clone(&state.site.proxies);
    let path = state.site.base_path().to_owned();
    let allowed_hosts = state.site.allowed_hosts();
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
        .layer(from_fn_with_state(
            state.clone(),
            parameter_names::check_names,
        ))
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
    let routes = base_path::add_to_responses(&path, routes)
        .layer(from_fn(negotiation::set_vary))
        .layer(default_header(
            header::CONTENT_SECURITY_POLICY,
            CONTENT_SECURITY_POLICY,
        ))
        .layer(default_header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(default_header(header::REFERRER_POLICY, "no-referrer"))
        .layer(default_header(
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ))
        .layer(default_header(
            HeaderName::from_static("permissions-policy"),
            PERMISSIONS_POLICY,
        ))
        .layer(option_layer(is_https_only.then(|| {
            default_header(header::STRICT_TRANSPORT_SECURITY, "max-age=31536000")
        })))
        .layer(from_fn(request_encoding::check_request))
        .layer(from_fn(move |request: Request, next: Next| {
            let allowed = allowed_hosts.clone();
            async move { hosts::check_host(allowed.as_deref(), request, next).await }
        }))
        .layer(CatchPanicLayer::new())
        .layer(from_fn(error::json_errors))
        .layer(CompressionLayer::new().compress_when(DefaultPredicate::new().and(is_compressible)))
        .layer(TraceLayer::new_for_http().make_span_with(request_span))
        .layer(from_fn(move |request: Request, next: Next| {
            access_log::log_access(Arc::clone(&proxies), request, next)
        }))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(from_fn(access_log::check_request_id));
    base_path::remove_from_requests(&path, routes)
}

/// Returns false for responses that are sent as they are stored: their size is that of the file.
fn is_compressible(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    extensions.get::<AsStored>().is_none()
}

/// Returns the span of a request, whose id all messages about it carry.
fn request_span(request: &Request) -> tracing::Span {
    tracing::info_span!("request", id = access_log::request_id(request.headers()))
}

/// Returns the origins whose pages may read responses. A server that only this machine can reach serves pages of this machine
/// only: else every web page could read through the browser of a user here.
fn allowed_origins(state: &AppState) -> AllowOrigin {
    if state.site.is_local_only() {
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
    let datasets = state
        .work(|state| Ok(state.searcher.catalog().len()?))
        .await?;
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
    health(state)
        .await
        .map_err(|error| ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, error.message))
}
