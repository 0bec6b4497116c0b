//! The HTTP face: a search API, pages, datasets as linked data, and a SPARQL endpoint, all read-only.
//!
//! | route | answer |
//! |---|---|
//! | `GET /` | search page; `?q=`, `?page=` and `?model=`, and the filters of the search; without `q` a list of what passes them |
//! | `GET /api/search?q=&k=&skip=&model=&explain=&snippet=&facets=` | JSON |
//! | … `&duplicates=all` | datasets that are one are shown each by itself, not as one |
//! | … `&before=&task=&modality=&theme=&class=&keyword=&publisher=&creator=` | filters; all but the year any number of times |
//! | … `&format=&license=&language=&vocabulary=&source=` | more of them; classes and vocabularies by IRI, or as `foaf:Person`, `foaf` |
//! | `GET /api/duplicates` | JSON: the datasets that are one and why, and the editions of one |
//! | `GET /dataset/{id}` | HTML, Turtle, JSON-LD, N-Triples or RDF/XML, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/snippet?method=&budget=&query=&lang=` | HTML, JSON, SVG or RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/croissant` | Croissant, for what has files or is of machine learning |
//! | `GET /dataset/{id}/examples` | SPARQL queries to begin with: JSON, text or RDF, by `Accept` or `?format=` |
//! | `GET`, `POST`, `QUERY /sparql` | SPARQL 1.1 Protocol, queries only; without a query the service description |
//! | … `/search` | the same, where the search is asked as a service of SPARQL |
//! | `GET /rdf-graph-store?graph=IRI`, `?default` | SPARQL 1.1 Graph Store Protocol, its reading half |
//! | `GET`, `POST /api/3/action/{name}`, `/api/action/{name}` | CKAN's Action API, its reading half |
//! | `GET /api/endpoints` | JSON: how the endpoints that `SERVICE` asked have answered |
//! | `GET /.well-known/void` | VoID of all datasets |
//! | `GET /quality`, `/api/quality` | how good all datasets are together: HTML, JSON |
//! | `GET /dataset/{id}/quality`, `/api/quality/{id}` | how good one is: HTML, JSON, DQV as RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/related` | the same dataset under other ids, and its editions: JSON, editions as RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/similar?k=` | the datasets most like it, and why: JSON, HTML, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/entity?iri=&skip=&to=` | one resource of it: HTML, or its description as RDF, by `Accept` or `?format=` |
//! | `GET /dataset/{id}/cite?format=` | how to cite it: BibTeX, RIS, CSL-JSON, by `Accept` or `?format=` |
//! | `GET /like?dataset=`, `POST /like` | the datasets most like one, or like RDF that is sent: JSON, HTML |
//! | `GET /feeds/datasets.atom?q=` | Atom: the best for a query, or the last changed; with the filters of the search |
//! | `GET /suggest?q=` | JSON: titles that somebody may be typing, as OpenSearch's suggestions |
//! | `GET /opensearch.xml`, `/robots.txt`, `/sitemap.xml`, `/sitemap/{n}.xml` | what browsers and crawlers look for |
//! | `GET /catalog`, `/catalog.ttl` (`.rdf`, `.xml`, `.jsonld`, `.nt`) | all datasets in DCAT-AP, page by page |
//! | `GET /healthz` | 200 once the index can be read |
//! | `GET /openapi.json`, `/api` | all of this as OpenAPI, and as a page |
//! | `GET /operator`, `/api/operator`, `/metrics` | how the server runs: HTML, JSON, Prometheus; for its operator alone |

mod admin;
mod api;
mod cache;
mod entities;
mod error;
mod example_queries;
mod negotiation;
mod pages;
mod parameters;
mod portal;
mod proxies;
mod response_formats;
mod server;
mod sparql;
mod state;
mod text;

pub use admin::{Background, HarvestSchedule, Live, Operators, store_outcome};
pub use portal::Portal;
pub use proxies::Proxies;
pub use server::{ServeError, ServeOptions, on_stop_signal, serve};
pub use sparql::{Editor, EditorError};
pub use state::{AppState, SnippetLimits};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn};
use axum::routing::get;
use error::ApiError;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;

/// Maximum size of a request body in bytes. Routes may set another.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Content security policy: no resources of other origins, and no inline scripts. The pages work without their script.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Returns the application with all routes.
pub fn app(state: AppState) -> Router {
    let cors = CorsLayer::new().allow_origin(Any).allow_methods(Any).allow_headers(Any).expose_headers(Any);
    let admin = state.admin.clone();
    let routes = Router::new()
        .merge(api::router())
        .merge(pages::router())
        .merge(portal::router())
        .merge(sparql::router())
        .route("/healthz", get(health))
        .fallback(pages::not_found)
        .layer(cors.clone())
        .merge(sparql::protocol_router(&cors))
        .merge(admin::router(&state))
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
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(TraceLayer::new_for_http())
}

/// Sets a header of all responses without it.
fn default_header(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

/// `GET /healthz`: status 200 if the index can be read.
async fn health(State(state): State<AppState>) -> Result<String, ApiError> {
    let datasets = state.work(|state| Ok(state.searcher.catalog().len()?)).await?;
    Ok(format!("ok: {datasets} datasets\n"))
}
