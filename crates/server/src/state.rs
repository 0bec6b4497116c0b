//! State that all routes share.

use crate::admin::{AdminState, ChangeState, Operators};
use crate::api::ApiState;
use crate::branding::Branding;
use crate::error::ApiError;
use crate::hosts::HostName;
use crate::permits::Permit;
use crate::portal::{Portal, PortalState};
use crate::proxies::Proxies;
use crate::public_url::{Listening, PublicUrl};
use crate::search_log::SearchLog;
use crate::server::ServeError;
use crate::site::{Client, SiteState};
use crate::sparql::{Editor, SparqlState};
use crate::work_limits::{SnippetLimits, WorkLimits};
use crate::workers::Workers;
use axum::extract::FromRef;
use lodeseek_catalog::DatasetId;
use lodeseek_changes::{Live, Parser, ScheduledSource, SettingFiles, StopSignal};
use lodeseek_engine::{Card, SearchRequest, SearchResponse, Searcher};
use lodeseek_net::egress::IpNet;
use lodeseek_net::sparql_client::SparqlClient;
use lodeseek_snapshot::{SnapshotHome, StorageOptions};
use lodeseek_sparql::{QueryEngine, SparqlLimits};
use lodeseek_store::{Store, StoreError};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// State of the application: the opened home, and the states of its areas. A handler that needs one area extracts that state.
#[derive(Clone)]
pub struct AppState {
    pub(crate) searcher: Arc<Searcher>,
    pub(crate) store: Arc<Store>,
    /// The served snapshot, whose folder lasts as long as it is used; `None` for a home.
    pub(crate) snapshot: Option<Arc<SnapshotHome>>,
    /// Permits of expensive requests.
    pub(crate) limits: WorkLimits,
    /// Addresses of the server.
    pub(crate) site: SiteState,
    pub(crate) api: Arc<ApiState>,
    pub(crate) portal: Arc<PortalState>,
    pub(crate) branding: Arc<Branding>,
    pub(crate) sparql: SparqlState,
    /// Processes for untrusted work; `None` if this process does it.
    pub(crate) workers: Option<Workers>,
    /// Metrics and access of the operator; `None` if requests are not counted.
    pub(crate) admin: Option<Arc<AdminState>>,
    /// Queue and settings of changes.
    pub(crate) changes: ChangeState,
    /// Log of the searches of the last days.
    pub(crate) searches: Arc<SearchLog>,
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
        Self {
            site: SiteState::new(store.iris()),
            searcher,
            store,
            snapshot: None,
            limits: WorkLimits::new(SnippetLimits::default()),
            api: Arc::default(),
            portal: Arc::default(),
            branding: Arc::default(),
            sparql,
            workers: None,
            admin: None,
            changes: ChangeState::default(),
            searches: Arc::default(),
        }
    }

    /// Sets the reader of the files that the settings name: a backup contains them. Default: none.
    #[must_use]
    pub fn with_setting_files(mut self, setting_files: SettingFiles) -> Self {
        self.changes.setting_files = setting_files;
        self
    }

    /// Sets the folder of the backups that operators request in a browser. Default: none.
    #[must_use]
    pub fn with_backup_folder(mut self, folder: Option<&Path>) -> Self {
        self.changes.backup_folder = folder.map(Arc::from);
        self
    }

    /// Sets the sources of the configuration that a background task harvests: the operator's page lists them. Default: none.
    #[must_use]
    pub fn with_schedule(mut self, sources: &[ScheduledSource]) -> Self {
        self.changes.schedule = sources.into();
        self
    }

    /// Sets the limits of snippets computed on demand.
    #[must_use]
    pub fn with_snippets(self, limits: SnippetLimits) -> Self {
        Self {
            limits: WorkLimits::new(limits),
            ..self
        }
    }

    /// Allows private networks for harvests and downloads that clients of the administration request. Default: none.
    #[must_use]
    pub fn with_private_networks(mut self, networks: &[IpNet]) -> Self {
        self.changes.private_networks = networks.into();
        self
    }

    /// Sets the trusted proxies.
    #[must_use]
    pub fn with_proxies(mut self, proxies: Proxies) -> Self {
        self.site.proxies = Arc::new(proxies);
        self
    }

    /// Evaluates expensive SPARQL queries and parses files of others in worker processes. Without them this process does, and
    /// an input that makes it crash or fills the memory stops all requests.
    ///
    /// # Errors
    /// If other processes cannot read the store.
    pub fn with_workers(mut self, workers: Workers) -> Result<Self, StoreError> {
        self.sparql.engine =
            QueryEngine::with_workers(Arc::clone(&self.store), workers.queries.clone())?;
        self.workers = Some(workers);
        Ok(self.with_federation())
    }

    /// Returns the parser of catalogues and dumps: in worker processes if there are any.
    pub(crate) fn parser(&self) -> Parser {
        self.workers
            .as_ref()
            .map(|workers| workers.parser.clone())
            .unwrap_or_default()
    }

    /// Returns the collection for a task that changes it, until a signal.
    pub(crate) fn live(&self, stop: StopSignal) -> Live {
        let tasks = self.admin.as_ref().map(|admin| Arc::clone(&admin.tasks));
        Live {
            store: Arc::clone(&self.store),
            queries: Arc::clone(&self.sparql.engine),
            searcher: Arc::clone(&self.searcher),
            storage: Arc::clone(&self.changes.storage),
            setting_files: self.changes.setting_files.clone(),
            parser: self.parser(),
            stop,
            tasks: tasks.unwrap_or_default(),
            turns: Arc::clone(&self.changes.turns),
        }
    }

    /// Sets the public URL. Default: the base of the home; with the default base the address of the server.
    #[must_use]
    pub fn with_public_url(mut self, url: Option<PublicUrl>) -> Self {
        self.site.public_url = url;
        self.with_links()
    }

    /// Allows names in `Host` of requests to a server that only this machine can reach, beside those of this machine. Default: none.
    #[must_use]
    pub fn with_host_names(mut self, names: &[HostName]) -> Self {
        self.site.host_names = names.into();
        self
    }

    fn with_links(mut self) -> Self {
        self.site.update_links(self.store.iris());
        self.with_federation()
    }

    /// Sets the client of remote endpoints, for `SERVICE` in queries.
    #[must_use]
    pub fn with_endpoints(mut self, client: Arc<SparqlClient>) -> Self {
        self.sparql.client = client;
        self.with_federation()
    }

    /// Sets the address of the server. `SERVICE` patterns with this address are evaluated locally.
    #[must_use]
    pub fn at(self, address: SocketAddr) -> Self {
        self.listening_at(Listening {
            address,
            has_tls: false,
        })
    }

    /// Sets the address of a server with TLS.
    #[must_use]
    pub fn at_with_tls(self, address: SocketAddr) -> Self {
        self.listening_at(Listening {
            address,
            has_tls: true,
        })
    }

    fn listening_at(mut self, listening: Listening) -> Self {
        self.site.listen_at(listening);
        self.with_links()
    }

    fn with_federation(mut self) -> Self {
        let mut addresses = self.site.addresses.clone();
        addresses.push(self.site.link_base.as_str().to_owned());
        self.sparql.set_services(&self.searcher, addresses);
        self
    }

    /// Sets name, description and publisher of the portal.
    #[must_use]
    pub fn with_portal(self, portal: Portal) -> Self {
        Self {
            portal: Arc::new(PortalState::new(portal)),
            ..self
        }
    }

    /// Sets the branding of the pages.
    #[must_use]
    pub fn with_branding(self, branding: Branding) -> Self {
        Self {
            branding: Arc::new(branding),
            ..self
        }
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
        Ok(Self {
            admin: Some(Arc::new(admin)),
            ..self
        })
    }

    /// Sets the access to storage, for the publication of snapshots.
    #[must_use]
    pub fn with_storage(mut self, storage: StorageOptions) -> Self {
        self.changes.storage = Arc::new(storage);
        self
    }

    /// Returns the number of the served snapshot; 0 for a home.
    pub(crate) fn snapshot_number(&self) -> u64 {
        match &self.snapshot {
            Some(home) => home.number(),
            None => 0,
        }
    }

    /// Sets the snapshot that is served.
    pub(crate) fn with_snapshot(self, snapshot: Arc<SnapshotHome>) -> Self {
        Self {
            snapshot: Some(snapshot),
            ..self
        }
    }

    /// Takes over the address, the permits, the counters and the access rule of the state that this one replaces.
    pub(crate) fn replacing(mut self, other: &Self) -> Self {
        self.limits = self.limits.with_permits_of(&other.limits);
        self.site.listen_as(&other.site);
        let admin = other.admin.as_ref();
        self.admin = admin.map(|admin| Arc::new(admin.for_other_home()));
        self.with_links()
    }

    /// Waits for a permit if a search is expensive.
    pub(crate) async fn acquire_search_permit(
        &self,
        client: Client,
        request: &SearchRequest,
    ) -> Result<Option<Permit>, ApiError> {
        if request.is_expensive(&self.searcher) {
            self.limits.acquire_permit(client).await.map(Some)
        } else {
            Ok(None)
        }
    }

    /// Records a search for the operator. Further pages of a result are no searches.
    pub(crate) fn record_search(
        &self,
        client: Client,
        request: &SearchRequest,
        response: &SearchResponse,
    ) {
        if request.skip == 0 {
            let has_result = response.total > 0 && !response.only_closest;
            self.searches.record(client.0, &request.query, has_result);
        }
    }

    /// Runs expensive work, as [`work`](Self::work) does, with a permit ([`acquire_permit`](WorkLimits::acquire_permit)) that ends with
    /// the work, even if the client has left.
    pub(crate) async fn work_with_permit<T: Send + 'static>(
        &self,
        client: Client,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.limits.acquire_permit(client).await?;
        self.work(move |state| {
            let _permit = permit;
            work(state)
        })
        .await
    }

    /// Returns the card of a dataset, or status 404, without a permit.
    pub(crate) async fn card(&self, id: &DatasetId) -> Result<Card, ApiError> {
        let id = id.clone();
        self.work(move |state| {
            state
                .searcher
                .catalog()
                .card(&id)?
                .ok_or_else(|| ApiError::no_dataset(&id))
        })
        .await
    }

    /// Returns status 404 for an unknown dataset, without a permit.
    pub(crate) async fn check_dataset(&self, id: &DatasetId) -> Result<(), ApiError> {
        let id = id.clone();
        self.work(move |state| {
            if state.store.contains(&id)? {
                Ok(())
            } else {
                Err(ApiError::no_dataset(&id))
            }
        })
        .await
    }

    /// Runs work that computes or reads the disk on a thread for blocking work.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let state = self.clone();
        // Messages of the work carry the id of the request.
        let span = tracing::Span::current();
        tokio::task::spawn_blocking(move || span.in_scope(|| work(&state)))
            .await
            .map_err(|error| ApiError::internal(&error))?
    }
}
