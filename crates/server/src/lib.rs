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

mod background;
mod catalog;
mod cite;
mod ckan;
mod croissant;
mod dataset;
mod described;
mod description;
mod editor;
mod endpoints;
mod entity;
mod error;
mod examples;
mod feed;
mod filter;
mod form;
mod graph_store;
mod kept;
mod negotiation;
mod openapi;
mod operator;
mod page;
mod quality;
pub mod rdf;
mod related;
mod schema_org;
mod search;
mod signposting;
mod similar;
mod sitemap;
mod snippet;
mod proxy;
mod sparql;
mod suggest;
mod transfer;

pub use background::{Background, Live};
pub use editor::{Editor, EditorError};
pub use operator::Operators;
pub use proxy::Proxies;
pub use quality::{assessment_json, overview_json};
pub use search::hit_json;
pub use snippet::SnippetLimits;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::routing::get;
use error::ApiError;
use lodeseek_engine::{EngineError, Federation, IndexOptions, Indexer, Reranker, Searcher, index_folder};
use lodeseek_net::egress::Egress;
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use lodeseek_sparql::{QueryEngine, Services, SparqlLimits};
use lodeseek_store::{Access, Store};
use operator::Operator;
use std::io;
use std::iter;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;

/// Time that connections have to end once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(10);
/// Bytes of a request's body.
const BODY: usize = 1 << 20;
/// Nothing from elsewhere, and no script but the pages' own, without which they work too.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How the server runs.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The client by which `SERVICE` asks, and with it whom it may ask.
    pub endpoints: Arc<SparqlClient>,
    /// The address to listen on.
    pub bind: SocketAddr,
    /// What one SPARQL query may cost.
    pub sparql: SparqlLimits,
    /// What snippets made on demand may cost.
    pub snippets: SnippetLimits,
    /// Who may say for whom a request comes.
    pub proxies: Proxies,
    /// The editor of the page for queries; without one it has a plain form.
    pub editor: Option<Editor>,
    /// What the portal says of itself.
    pub portal: Portal,
    /// What is done beside. Where there is something, the home is opened for writing.
    pub background: Option<Background>,
    /// Who may see how the server runs.
    pub operators: Operators,
}

/// What the portal says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Portal {
    /// Its name.
    pub title: String,
    /// What it is.
    pub description: String,
    /// Who runs it.
    pub publisher: String,
    /// The IRI of who runs it, where there is one.
    pub publisher_iri: Option<String>,
}

impl Default for Portal {
    fn default() -> Self {
        Self {
            title: "Lodeseek".to_owned(),
            description: "Datasets, searched by what they say and what they contain".to_owned(),
            publisher: "Lodeseek".to_owned(),
            publisher_iri: None,
        }
    }
}

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The home cannot be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        cause: io::Error,
    },
    /// Its counters cannot be made.
    #[error("cannot count requests: {0}")]
    Metrics(#[from] prometheus::Error),
    /// The server broke off.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What handlers share.
#[derive(Clone)]
pub struct AppState {
    searcher: Arc<Searcher>,
    store: Arc<Store>,
    /// SPARQL evaluation over the store; its limits count all queries of the process.
    queries: Arc<QueryEngine>,
    sparql: Arc<SparqlLimits>,
    services: Arc<dyn Services>,
    endpoints: Arc<SparqlClient>,
    addresses: Vec<String>,
    snippets: Arc<SnippetLimits>,
    facts: Arc<description::Facts>,
    portal: Arc<ckan::KeptTable>,
    /// What the pages of the catalogue are cut from.
    listing: Arc<catalog::KeptListing>,
    portal_says: Arc<Portal>,
    titles: Arc<suggest::KeptTitles>,
    quality: Arc<quality::KeptOverview>,
    proxies: Arc<Proxies>,
    editor: Option<Arc<Editor>>,
    operator: Option<Arc<Operator>>,
    /// A place for each request that reads whole graphs.
    places: Arc<Semaphore>,
}

impl AppState {
    /// The state over an opened home.
    #[must_use]
    pub fn new(searcher: Searcher, store: Store, sparql: SparqlLimits) -> Self {
        let (searcher, store) = (Arc::new(searcher), Arc::new(store));
        let endpoints = Arc::new(SparqlClient::new(Arc::new(Egress::default()), ClientOptions::default()));
        let queries = QueryEngine::new(Arc::clone(&store));
        let services = Federation::new(&queries, sparql.clone()).with_search(Arc::clone(&searcher));
        let state = Self {
            searcher,
            store,
            queries,
            sparql: Arc::new(sparql),
            services: Arc::new(services),
            endpoints,
            addresses: Vec::new(),
            snippets: Arc::default(),
            facts: Arc::default(),
            portal: Arc::default(),
            listing: Arc::default(),
            portal_says: Arc::default(),
            titles: Arc::default(),
            quality: Arc::default(),
            proxies: Arc::default(),
            editor: None,
            operator: None,
            places: Arc::new(Semaphore::new(0)),
        };
        state.with_snippets(SnippetLimits::default())
    }

    /// With other limits of snippets made on demand.
    #[must_use]
    pub fn with_snippets(self, limits: SnippetLimits) -> Self {
        let places = Semaphore::new(limits.concurrent);
        Self { snippets: Arc::new(limits), places: Arc::new(places), ..self }
    }

    /// Behind proxies.
    #[must_use]
    pub fn with_proxies(self, proxies: Proxies) -> Self {
        Self { proxies: Arc::new(proxies), ..self }
    }

    /// With endpoints that `SERVICE` may ask.
    #[must_use]
    pub fn with_endpoints(self, client: Arc<SparqlClient>) -> Self {
        Self { endpoints: client, ..self }.federated()
    }

    /// Listening at an address: what it names there is meant where `SERVICE` names it.
    #[must_use]
    pub fn at(self, address: SocketAddr) -> Self {
        let local = address.ip().is_loopback().then(|| format!("http://localhost:{}/", address.port()));
        let addresses = iter::once(format!("http://{address}/")).chain(local).collect();
        Self { addresses, ..self }.federated()
    }

    fn federated(self) -> Self {
        let services = Federation::new(&self.queries, SparqlLimits::clone(&self.sparql))
            .with_search(Arc::clone(&self.searcher))
            .with_addresses(self.addresses.clone())
            .with_endpoints(Arc::clone(&self.endpoints));
        Self { services: Arc::new(services), ..self }
    }

    /// Saying this of itself.
    #[must_use]
    pub fn with_portal(self, portal: Portal) -> Self {
        Self { portal_says: Arc::new(portal), ..self }
    }

    /// With an editor for queries.
    #[must_use]
    pub fn with_editor(self, editor: Option<Editor>) -> Self {
        Self { editor: editor.map(Arc::new), ..self }
    }

    /// Counting requests, and telling an operator of it.
    pub fn with_operators(self, operators: Operators) -> Result<Self, ServeError> {
        let operator = Operator::new(operators, Arc::default())?;
        Ok(Self { operator: Some(Arc::new(operator)), ..self })
    }

    /// Waits for a place among those who read whole graphs, but not for ever.
    async fn turn(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = tokio::time::timeout(self.snippets.patience, Arc::clone(&self.places).acquire_owned());
        place.await.ok().and_then(Result::ok).ok_or_else(|| {
            let message =
                format!("{} requests read whole graphs or run a model already; try again", self.snippets.concurrent);
            ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, message)
        })
    }

    /// Runs work that computes or reads the disk off the threads that answer connections.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let state = self.clone();
        tokio::task::spawn_blocking(move || work(&state)).await.map_err(|error| ApiError::internal(&error))?
    }
}

/// All routes.
pub fn app(state: AppState) -> Router {
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
    };
    let counted = state.operator.clone();
    let routes = Router::new()
        .route("/", get(page::search))
        .route("/style.css", get(page::style))
        .route("/page.js", get(page::script))
        .route("/editor.js", get(editor::script))
        .route("/editor.css", get(editor::style))
        .route("/icon.svg", get(page::icon))
        .route("/api/search", get(search::search))
        .route("/dataset/{id}", get(dataset::dataset))
        .route("/dataset/{id}/snippet", get(snippet::snippet))
        .route("/dataset/{id}/examples", get(examples::of_dataset))
        .route("/dataset/{id}/croissant", get(croissant::croissant))
        .route("/dataset/{id}/quality", get(quality::page_of_one))
        .route("/dataset/{id}/related", get(related::related))
        .route("/dataset/{id}/entity", get(entity::entity))
        .route("/dataset/{id}/cite", get(cite::cite))
        .route("/dataset/{id}/similar", get(similar::of_dataset))
        .route("/like", get(similar::form).post(similar::example).layer(DefaultBodyLimit::max(similar::EXAMPLE_BYTES)))
        .route("/quality", get(quality::page_of_all))
        .route("/api/duplicates", get(search::duplicates))
        .route("/api/quality", get(quality::all))
        .route("/api/quality/{id}", get(quality::one))
        .route("/feeds/datasets.atom", get(feed::datasets))
        .route("/suggest", get(suggest::suggest))
        .route("/opensearch.xml", get(feed::opensearch))
        .route("/sitemap.xml", get(sitemap::index))
        .route("/sitemap/{part}", get(sitemap::part))
        .route("/robots.txt", get(sitemap::robots))
        .route("/api/3/action/{name}", get(ckan::action).post(ckan::action))
        .route("/api/action/{name}", get(ckan::action).post(ckan::action))
        .route("/api/3", get(ckan::version))
        .route("/api", get(page::api))
        .route("/openapi.json", get(openapi::document))
        .route("/api/endpoints", get(endpoints::endpoints))
        .route("/.well-known/void", get(description::datasets))
        .route("/catalog", catalog::ending(""))
        .route("/catalog.ttl", catalog::ending(".ttl"))
        .route("/catalog.rdf", catalog::ending(".rdf"))
        .route("/catalog.xml", catalog::ending(".xml"))
        .route("/catalog.jsonld", catalog::ending(".jsonld"))
        .route("/catalog.nt", catalog::ending(".nt"))
        .route("/healthz", get(health))
        .fallback(page::not_found)
        .layer(open())
        .merge(endpoints())
        .merge(operators(&state))
        .with_state(state)
        .layer(DefaultBodyLimit::max(BODY));
    let routes = match counted {
        Some(operator) => routes.layer(from_fn(move |request: Request, next: Next| {
            operator::observe(Arc::clone(&operator.metrics), request, next)
        })),
        None => routes,
    };
    routes
        .layer(header(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "no-referrer"))
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(TraceLayer::new_for_http())
}

/// Every page of every site may read what is served.
fn open() -> CorsLayer {
    CorsLayer::new().allow_origin(Any).allow_methods(Any).allow_headers(Any).expose_headers(Any)
}

/// What SPARQL's protocols speak to. Each answer names the methods and bodies taken, that of `OPTIONS` too, which the layer
/// for other origins gives before any route is asked.
fn endpoints() -> Router<AppState> {
    let always = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    let queries = || get(sparql::get).post(sparql::post).fallback(sparql::other);
    let sparql = Router::new()
        .route("/sparql", queries())
        // Where other engines ask the search: what asks there is told by its properties.
        .route("/search", queries())
        .layer(open())
        .layer(always(header::ALLOW, sparql::METHODS))
        .layer(always(HeaderName::from_static("accept-post"), sparql::BODIES))
        .layer(always(HeaderName::from_static("accept-query"), sparql::BODIES));
    let graphs = Router::new()
        .route("/rdf-graph-store", get(graph_store::get).fallback(graph_store::other))
        .layer(open())
        .layer(always(header::ALLOW, graph_store::METHODS));
    sparql.merge(graphs)
}

/// What the operator sees. Pages of other sites may not read it.
fn operators(state: &AppState) -> Router<AppState> {
    Router::new()
        .route("/operator", get(page::operator))
        .route("/api/operator", get(operator::json))
        .route("/metrics", get(operator::prometheus))
        .layer(from_fn_with_state(state.clone(), operator::guarded))
}

async fn health(State(state): State<AppState>) -> Result<String, ApiError> {
    let datasets = state.work(|state| Ok(state.searcher.len()?)).await?;
    Ok(format!("ok: {datasets} datasets\n"))
}

/// Serves a home until the process is asked to stop; requests being answered are finished first. Where there is a reranker,
/// every search that asks for no model of its own is ranked by it.
pub fn serve(home: &Path, reranker: Option<Reranker>, options: &ServeOptions) -> Result<(), ServeError> {
    let access = if options.background.is_some() { Access::Write } else { Access::Read };
    let store = Store::open(home, access, None).map_err(EngineError::from)?;
    if access == Access::Write && !index_folder(home).join("meta.json").exists() {
        // A home that is filled while it is served may be empty.
        Indexer::new(&store, IndexOptions::default()).run(&|_| ())?;
    }
    let mut searcher = Searcher::open(home)?.with_kept_content(options.snippets.kept_bytes);
    if let Some(reranker) = reranker {
        searcher = searcher.with_reranker(reranker);
    }
    let state = AppState::new(searcher, store, options.sparql.clone()).with_snippets(options.snippets.clone());
    let state = state.with_proxies(options.proxies.clone()).with_editor(options.editor.clone());
    let state = state.with_endpoints(Arc::clone(&options.endpoints)).with_portal(options.portal.clone());
    let state = state.with_operators(options.operators.clone())?;
    let warming = state.clone();
    std::thread::spawn(move || warm(&warming));
    let stop_background = background::Stop::default();
    if let Some(task) = options.background.clone() {
        let live = Live::new(&state, stop_background.clone());
        std::thread::Builder::new().name("background".to_owned()).spawn(move || task.run(&live))?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let bound = tokio::net::TcpListener::bind(options.bind).await;
        let listener = bound.map_err(|cause| ServeError::Bind { address: options.bind, cause })?;
        let address = listener.local_addr()?;
        tracing::info!("listening on http://{address}");
        let (asked, wait) = tokio::sync::oneshot::channel::<()>();
        let stop = async move {
            stop_signal().await;
            stop_background.ask();
            let _ = asked.send(()); // the other side waits as long as the server runs
        };
        let service = app(state.at(address)).into_make_service_with_connect_info::<SocketAddr>();
        let serving = axum::serve(listener, service).with_graceful_shutdown(stop);
        tokio::select! {
            ended = serving.into_future() => ended?,
            () = async { let _ = wait.await; tokio::time::sleep(GRACE).await } => {
                tracing::warn!("some connections did not end within {} s and were closed", GRACE.as_secs());
            }
        }
        tracing::info!("stopped");
        Ok(())
    })
}

/// Learns what the first requests would else wait for. Queries are answered meanwhile, by evaluation where counts are not
/// there yet.
fn warm(state: &AppState) {
    match state.queries.prepare_statistics() {
        Ok(()) => tracing::debug!("the counts of all graphs are known"),
        Err(error) => tracing::warn!(%error, "some counts are not known; queries for them are evaluated"),
    }
    if suggest::Titles::current(state).is_err() {
        tracing::warn!("the list of datasets cannot be made; it is tried again when it is asked for");
    }
}

/// Calls something, in a thread of its own, each time the process is asked to stop: it does not end by itself any more.
pub fn when_asked_to_stop(act: impl Fn() + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listen = move || loop {
        runtime.block_on(stop_signal());
        act();
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
    Ok(())
}

async fn stop_signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => {},
                _ = terminate.recv() => {},
            }
            return;
        }
    }
    let _ = interrupt.await;
}
