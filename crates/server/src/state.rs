//! State that all routes share, and limits of work on whole graphs.

use crate::admin::{AdminState, Operators};
use crate::api::ApiState;
use crate::error::ApiError;
use crate::portal::{Portal, PortalState};
use crate::proxies::Proxies;
use crate::server::ServeError;
use crate::sparql::{Editor, SparqlState};
use axum::extract::FromRef;
use axum::http::StatusCode;
use lodeseek_engine::{SearchRequest, Searcher, SnippetKind};
use lodeseek_net::sparql_client::SparqlClient;
use lodeseek_sparql::SparqlLimits;
use lodeseek_store::Store;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits of snippets computed on demand. In addition, every method bounds its number of steps.
#[derive(Clone, Debug)]
pub struct SnippetLimits {
    /// Time after which a method returns its best result so far (default 2 s). Such results are not cacheable.
    pub deadline: Duration,
    /// Maximum number of concurrent requests that read whole graphs (default 4).
    pub concurrent: usize,
    /// Time that a request waits for a permit before status 503 (default 5 s).
    pub permit_timeout: Duration,
    /// Maximum number of triples of a snippet (default 100).
    pub budget: usize,
    /// Size of the cache of graphs in bytes (default 256 MiB).
    pub cache_bytes: usize,
}

impl Default for SnippetLimits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(2),
            concurrent: 4,
            permit_timeout: Duration::from_secs(5),
            budget: 100,
            cache_bytes: 256 << 20,
        }
    }
}

/// State of the application: the opened home, and the states of the modules.
#[derive(Clone)]
pub struct AppState {
    pub(crate) searcher: Arc<Searcher>,
    pub(crate) store: Arc<Store>,
    pub(crate) snippets: Arc<SnippetLimits>,
    /// One permit for each request that reads whole graphs or runs a model.
    permits: Arc<Semaphore>,
    pub(crate) proxies: Arc<Proxies>,
    /// Base addresses under which the server listens.
    pub(crate) addresses: Vec<String>,
    pub(crate) api: Arc<ApiState>,
    pub(crate) portal: Arc<PortalState>,
    pub(crate) sparql: SparqlState,
    /// Metrics and access of the operator; `None` if requests are not counted.
    pub(crate) admin: Option<Arc<AdminState>>,
}

impl FromRef<AppState> for SparqlState {
    fn from_ref(state: &AppState) -> Self {
        state.sparql.clone()
    }
}

impl AppState {
    /// Creates the state of an opened home.
    #[must_use]
    pub fn new(searcher: Searcher, store: Store, limits: SparqlLimits) -> Self {
        let (searcher, store) = (Arc::new(searcher), Arc::new(store));
        let sparql = SparqlState::new(&store, &searcher, limits);
        let snippets = SnippetLimits::default();
        Self {
            searcher,
            store,
            permits: Arc::new(Semaphore::new(snippets.concurrent)),
            snippets: Arc::new(snippets),
            proxies: Arc::default(),
            addresses: Vec::new(),
            api: Arc::default(),
            portal: Arc::default(),
            sparql,
            admin: None,
        }
    }

    /// Sets the limits of snippets computed on demand.
    #[must_use]
    pub fn with_snippets(self, limits: SnippetLimits) -> Self {
        let permits = Semaphore::new(limits.concurrent);
        Self { snippets: Arc::new(limits), permits: Arc::new(permits), ..self }
    }

    /// Sets the trusted proxies.
    #[must_use]
    pub fn with_proxies(self, proxies: Proxies) -> Self {
        Self { proxies: Arc::new(proxies), ..self }
    }

    /// Sets the client of remote endpoints, for `SERVICE` in queries.
    #[must_use]
    pub fn with_endpoints(mut self, client: Arc<SparqlClient>) -> Self {
        self.sparql.client = client;
        self.with_federation()
    }

    /// Sets the address of the server. `SERVICE` patterns with this address are evaluated locally.
    #[must_use]
    pub fn at(mut self, address: SocketAddr) -> Self {
        self.addresses = vec![format!("http://{address}/")];
        if address.ip().is_loopback() {
            self.addresses.push(format!("http://localhost:{}/", address.port()));
        }
        self.with_federation()
    }

    fn with_federation(mut self) -> Self {
        self.sparql.set_services(&self.searcher, self.addresses.clone());
        self
    }

    /// Sets name, description and publisher of the portal.
    #[must_use]
    pub fn with_portal(self, portal: Portal) -> Self {
        Self { portal: Arc::new(PortalState::new(portal)), ..self }
    }

    /// Sets the editor of the SPARQL page.
    #[must_use]
    pub fn with_editor(mut self, editor: Option<Editor>) -> Self {
        self.sparql.editor = editor.map(Arc::new);
        self
    }

    /// Enables metrics, and the operator's routes for these operators.
    ///
    /// # Errors
    /// [`ServeError::Metrics`] if the metrics cannot be registered.
    pub fn with_operators(self, operators: Operators) -> Result<Self, ServeError> {
        let admin = AdminState::new(operators, Arc::default())?;
        Ok(Self { admin: Some(Arc::new(admin)), ..self })
    }

    /// Waits for a permit to read whole graphs or to run a model. Status 503 if there is none in time.
    pub(crate) async fn acquire_permit(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let permit = Arc::clone(&self.permits).acquire_owned();
        match tokio::time::timeout(self.snippets.permit_timeout, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => {
                let running = self.snippets.concurrent;
                let message = format!("{running} requests already read whole graphs or run a model; try again later");
                Err(ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, message))
            }
        }
    }

    /// Waits for a permit if a search reads whole graphs or runs a model.
    pub(crate) async fn acquire_search_permit(
        &self,
        request: &SearchRequest,
    ) -> Result<Option<OwnedSemaphorePermit>, ApiError> {
        let reads_graphs = request.explain || request.snippet != SnippetKind::Stored;
        let runs_model = request.model.is_none() && self.searcher.has_reranker();
        if reads_graphs || runs_model { self.acquire_permit().await.map(Some) } else { Ok(None) }
    }

    /// Runs work that computes or reads the disk on a thread for blocking work.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let state = self.clone();
        tokio::task::spawn_blocking(move || work(&state)).await.map_err(|error| ApiError::internal(&error))?
    }
}
