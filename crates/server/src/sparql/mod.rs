//! SPARQL: the query endpoint with its description and page, the graph store, and statistics of remote endpoints.

mod chart;
mod description;
mod editor;
mod endpoints;
mod failure;
mod graph_store;
mod page;
mod protocol;
pub(crate) mod streaming;

pub use editor::{Editor, EditorError};

pub(crate) use description::{DescriptionCache, endpoint_iri};
pub(crate) use endpoints::endpoint_statistics;
pub(crate) use page::MAX_ADDRESS_BYTES;

use crate::AppState;
use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::routing::{MethodRouter, get};
use lodeseek_engine::{Federation, Searcher};
use lodeseek_net::egress::Egress;
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use lodeseek_sparql::{QueryEngine, Services, SparqlLimits};
use lodeseek_store::Store;
use std::sync::Arc;
use tower_http::cors::CorsLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;

/// Limits, services and caches of the endpoint.
#[derive(Clone)]
pub(crate) struct SparqlState {
    /// Evaluation over the store. Its limits count all queries of the process.
    pub(crate) engine: Arc<QueryEngine>,
    pub(crate) limits: Arc<SparqlLimits>,
    /// Evaluates `SERVICE` patterns.
    pub(crate) services: Arc<dyn Services>,
    /// Client of remote endpoints.
    pub(crate) client: Arc<SparqlClient>,
    pub(crate) description: Arc<DescriptionCache>,
    pub(crate) editor: Option<Arc<Editor>>,
}

impl SparqlState {
    pub(crate) fn new(store: &Arc<Store>, searcher: &Arc<Searcher>, limits: SparqlLimits) -> Self {
        let engine = QueryEngine::new(Arc::clone(store));
        let services = Federation::new(&engine, limits.clone()).with_search(Arc::clone(searcher));
        Self {
            engine,
            limits: Arc::new(limits),
            services: Arc::new(services),
            client: Arc::new(SparqlClient::new(
                Arc::new(Egress::default()),
                ClientOptions::default(),
            )),
            description: Arc::default(),
            editor: None,
        }
    }

    /// Sets up `SERVICE` for the current client and the addresses of this server.
    pub(crate) fn set_services(&mut self, searcher: &Arc<Searcher>, addresses: Vec<String>) {
        let services = Federation::new(&self.engine, SparqlLimits::clone(&self.limits))
            .with_search(Arc::clone(searcher))
            .with_addresses(addresses)
            .with_endpoints(Arc::clone(&self.client));
        self.services = Arc::new(services);
    }
}

/// Descriptions of the operations.
#[derive(OpenApi)]
#[openapi(paths(
    protocol::get,
    protocol::post,
    graph_store::get,
    description::datasets,
    endpoints::endpoints
))]
pub(crate) struct Operations;

/// Returns the routes other than those of the protocols.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/api/endpoints", get(endpoints::endpoints))
        .route("/.well-known/void", get(description::datasets))
        .route("/editor.js", get(editor::script))
        .route("/editor.css", get(editor::style))
}

/// Returns the routes of the two protocols. All responses list the supported methods and bodies. These headers are set outside
/// the CORS layer, which answers `OPTIONS` itself.
pub(crate) fn protocol_router(cors: &CorsLayer) -> Router<AppState> {
    let queries = Router::new()
        .route("/sparql", query_methods())
        // The service of search in SPARQL queries of other engines. Its properties identify it.
        .route(
            "/search",
            get(protocol::get_search)
                .post(protocol::post)
                .fallback(protocol::other),
        )
        .layer(cors.clone())
        .layer(set_header(header::ALLOW, protocol::METHODS))
        .layer(set_header(
            HeaderName::from_static("accept-post"),
            protocol::BODIES,
        ))
        .layer(set_header(
            HeaderName::from_static("accept-query"),
            protocol::BODIES,
        ));
    let graphs = Router::new()
        .route(
            "/rdf-graph-store",
            get(graph_store::get).fallback(graph_store::other),
        )
        .layer(cors.clone())
        .layer(set_header(header::ALLOW, graph_store::METHODS));
    queries.merge(graphs)
}

/// Returns the route of queries alone, for requests within the server.
pub(crate) fn query_router() -> Router<AppState> {
    Router::new().route("/sparql", query_methods())
}

fn query_methods() -> MethodRouter<AppState> {
    get(protocol::get)
        .post(protocol::post)
        .fallback(protocol::other)
}

fn set_header(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}
