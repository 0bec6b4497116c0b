//! State that all routes share, and limits of work on whole graphs.

use crate::admin::{AdminState, ChangeLock, Management, Operators};
use crate::api::ApiState;
use crate::branding::Branding;
use crate::error::ApiError;
use crate::hosts::HostName;
use crate::memory::MAX_PARSES;
use crate::parsing::Parser;
use crate::permits::{Permit, Permits};
use crate::portal::{Portal, PortalState};
use crate::proxies::Proxies;
use crate::public_url::{LinkBase, Listening, PublicUrl};
use crate::search_log::SearchLog;
use crate::server::ServeError;
use crate::sparql::{Editor, SparqlState};
use crate::workers::Workers;
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    Card, QuerySyntax, SearchRequest, SearchResponse, Searcher, SettingFile, SnippetKind,
};
use lodeseek_index::sparse::ModelKind;
use lodeseek_index::{PartForm, parse_query};
use lodeseek_net::egress::IpNet;
use lodeseek_net::sparql_client::SparqlClient;
use lodeseek_snapshot::{SnapshotHome, StorageOptions};
use lodeseek_sparql::{QueryEngine, SparqlLimits};
use lodeseek_store::{Store, StoreError};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::Instrument;

/// Limits of snippets computed on demand. In addition, every method bounds its number of steps.
#[derive(Clone, Debug)]
pub struct SnippetLimits {
    /// Time after which a method returns its best result so far (default 2 s). Such results are not cacheable.
    pub deadline: Duration,
    /// Maximum number of concurrent expensive requests, such as those that read whole graphs or run a model (default 4). Half of
    /// them may be of one client address.
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

/// Maximum number of examples that are received at one time: a bound on their memory.
const MAX_UPLOADS: usize = 8;
/// Of these, examples of one client address.
const MAX_UPLOADS_OF_CLIENT: usize = 2;
/// Of [`MAX_PARSES`], examples of one client address.
const MAX_PARSES_OF_CLIENT: usize = 1;
/// Maximum number of concurrent downloads of graphs.
const MAX_DOWNLOADS: usize = 8;
/// Of these, downloads of one client address.
const MAX_DOWNLOADS_OF_CLIENT: usize = 2;

/// Reader of the files that the settings of the home name. The settings may change while the server runs.
#[derive(Clone)]
pub struct SettingFiles(Arc<dyn Fn() -> Result<Vec<SettingFile>, String> + Send + Sync>);

impl SettingFiles {
    /// Creates a reader from a function. Its error is the reason why the settings cannot be read.
    pub fn new(
        read: impl Fn() -> Result<Vec<SettingFile>, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(read))
    }

    /// Returns the files that the present settings name.
    pub(crate) fn read(&self) -> Result<Vec<SettingFile>, String> {
        (self.0)()
    }
}

impl Default for SettingFiles {
    fn default() -> Self {
        Self::new(|| Ok(Vec::new()))
    }
}

impl std::fmt::Debug for SettingFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SettingFiles")
    }
}

/// Address of the client of a request; `None` for requests without a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) Option<IpAddr>);

impl FromRequestParts<AppState> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self(
            state.proxies.client(&parts.headers, &parts.extensions),
        ))
    }
}

/// State of the application: the opened home, and the states of the modules.
#[derive(Clone)]
pub struct AppState {
    pub(crate) searcher: Arc<Searcher>,
    pub(crate) store: Arc<Store>,
    pub(crate) snippets: Arc<SnippetLimits>,
    /// One permit for each expensive request.
    permits: Arc<Permits>,
    /// One permit for each example that a client sends.
    uploads: Arc<Permits>,
    /// One permit for each example that is parsed or compared.
    parses: Arc<Permits>,
    /// One permit for each graph that a client downloads.
    downloads: Arc<Permits>,
    pub(crate) proxies: Arc<Proxies>,
    /// Configured public URL.
    pub(crate) public_url: Option<PublicUrl>,
    /// Names of a server that only this machine can reach, beside those of this machine.
    host_names: Arc<[HostName]>,
    /// First part of absolute links, unless a trusted proxy forwards another one.
    pub(crate) link_base: LinkBase,
    /// Address on which the server listens.
    listening: Option<Listening>,
    /// Base addresses at which the server listens.
    pub(crate) addresses: Vec<String>,
    pub(crate) api: Arc<ApiState>,
    pub(crate) portal: Arc<PortalState>,
    pub(crate) branding: Arc<Branding>,
    pub(crate) sparql: SparqlState,
    /// Processes for untrusted work; `None` if this process does it.
    pub(crate) workers: Option<Workers>,
    /// Metrics and access of the operator; `None` if requests are not counted.
    pub(crate) admin: Option<Arc<AdminState>>,
    /// Tokens and jobs; `None` if the collection cannot be changed over HTTP.
    pub(crate) management: Option<Arc<Management>>,
    /// Held while the collection is changed.
    pub(crate) changes: Arc<ChangeLock>,
    /// Held by the harvest that runs.
    pub(crate) harvests: Arc<Mutex<()>>,
    /// Private networks to which requests of the administration may be sent.
    pub(crate) private_networks: Arc<[IpNet]>,
    /// Access to storage, for the publication of snapshots.
    pub(crate) storage: Arc<StorageOptions>,
    /// Reader of the files that the settings name, for backups.
    pub(crate) setting_files: SettingFiles,
    /// Folder of the backups that operators request in a browser.
    pub(crate) backup_folder: Option<Arc<Path>>,
    /// Log of the searches of the last days.
    pub(crate) searches: Arc<SearchLog>,
    /// The served snapshot, whose folder lasts as long as it is used; `None` for a home.
    pub(crate) snapshot: Option<Arc<SnapshotHome>>,
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
            link_base: LinkBase::new(None, store.iris(), None),
            public_url: None,
            host_names: Arc::default(),
            listening: None,
            searcher,
            store,
            permits: Arc::new(Permits::new(
                snippets.concurrent,
                snippets.concurrent.div_ceil(2),
            )),
            uploads: Arc::new(Permits::new(MAX_UPLOADS, MAX_UPLOADS_OF_CLIENT)),
            parses: Arc::new(Permits::new(MAX_PARSES, MAX_PARSES_OF_CLIENT)),
            downloads: Arc::new(Permits::new(MAX_DOWNLOADS, MAX_DOWNLOADS_OF_CLIENT)),
            snippets: Arc::new(snippets),
            proxies: Arc::default(),
            addresses: Vec::new(),
            api: Arc::default(),
            portal: Arc::default(),
            branding: Arc::default(),
            sparql,
            workers: None,
            admin: None,
            management: None,
            changes: Arc::default(),
            harvests: Arc::default(),
            private_networks: Arc::default(),
            storage: Arc::default(),
            setting_files: SettingFiles::default(),
            backup_folder: None,
            searches: Arc::default(),
            snapshot: None,
        }
    }

    /// Sets the reader of the files that the settings name: a backup contains them. Default: none.
    #[must_use]
    pub fn with_setting_files(self, setting_files: SettingFiles) -> Self {
        Self {
            setting_files,
            ..self
        }
    }

    /// Sets the folder of the backups that operators request in a browser. Default: none.
    #[must_use]
    pub fn with_backup_folder(self, folder: Option<&Path>) -> Self {
        Self {
            backup_folder: folder.map(Arc::from),
            ..self
        }
    }

    /// Sets the limits of snippets computed on demand.
    #[must_use]
    pub fn with_snippets(self, limits: SnippetLimits) -> Self {
        let permits = Permits::new(limits.concurrent, limits.concurrent.div_ceil(2));
        Self {
            snippets: Arc::new(limits),
            permits: Arc::new(permits),
            ..self
        }
    }

    /// Allows private networks for harvests and downloads that clients of the administration request. Default: none.
    #[must_use]
    pub fn with_private_networks(self, networks: &[IpNet]) -> Self {
        Self {
            private_networks: networks.into(),
            ..self
        }
    }

    /// Sets the trusted proxies.
    #[must_use]
    pub fn with_proxies(self, proxies: Proxies) -> Self {
        Self {
            proxies: Arc::new(proxies),
            ..self
        }
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

    /// Sets the public URL. Default: the base of the home; with the default base the address of the server.
    #[must_use]
    pub fn with_public_url(self, url: Option<PublicUrl>) -> Self {
        Self {
            public_url: url,
            ..self
        }
        .with_links()
    }

    /// Allows names in `Host` of requests to a server that only this machine can reach, beside those of this machine. Default: none.
    #[must_use]
    pub fn with_host_names(self, names: &[HostName]) -> Self {
        Self {
            host_names: names.into(),
            ..self
        }
    }

    /// Returns the path of the public URL without a slash at the end; empty if it has none.
    pub(crate) fn base_path(&self) -> &str {
        self.public_url.as_ref().map_or("", PublicUrl::path)
    }

    fn with_links(mut self) -> Self {
        self.link_base = LinkBase::new(self.public_url.as_ref(), self.store.iris(), self.listening);
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
        let (scheme, address) = (listening.scheme(), listening.address);
        self.addresses = vec![format!("{scheme}://{address}/")];
        if address.ip().is_loopback() {
            self.addresses
                .push(format!("{scheme}://localhost:{}/", address.port()));
        }
        self.listening = Some(listening);
        self.with_links()
    }

    fn with_federation(mut self) -> Self {
        let mut addresses = self.addresses.clone();
        addresses.push(self.link_base.as_str().to_owned());
        self.sparql.set_services(&self.searcher, addresses);
        self
    }

    /// If true, only this machine can reach the server: it listens on a loopback address, and neither a proxy nor a public
    /// URL is configured.
    pub(crate) fn is_local_only(&self) -> bool {
        self.is_on_loopback() && self.proxies.is_empty() && self.public_url.is_none()
    }

    fn is_on_loopback(&self) -> bool {
        self.listening
            .is_some_and(|listening| listening.address.ip().to_canonical().is_loopback())
    }

    /// Returns the names in `Host` that are accepted beside those of this machine; `None` if all are, because other machines can reach
    /// the server. A proxy on this machine may forward any name.
    pub(crate) fn allowed_hosts(&self) -> Option<Arc<[HostName]>> {
        if !self.is_on_loopback() || !self.proxies.is_empty() {
            return None;
        }
        let public = self
            .public_url
            .as_ref()
            .and_then(|url| HostName::of_url(url.as_str()));
        Some(self.host_names.iter().cloned().chain(public).collect())
    }

    /// If true, browsers may remember that the host of this server has TLS. Other programs on this machine share its own name.
    pub(crate) fn is_https_only(&self) -> bool {
        self.listening.is_some_and(|listening| listening.has_tls) && !self.is_local_only()
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
    pub fn with_storage(self, storage: StorageOptions) -> Self {
        Self {
            storage: Arc::new(storage),
            ..self
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
    pub(crate) fn replacing(self, other: &Self) -> Self {
        let next = Self {
            permits: Arc::clone(&other.permits),
            uploads: Arc::clone(&other.uploads),
            parses: Arc::clone(&other.parses),
            downloads: Arc::clone(&other.downloads),
            listening: other.listening,
            addresses: other.addresses.clone(),
            admin: other
                .admin
                .as_ref()
                .map(|admin| Arc::new(admin.for_other_home())),
            ..self
        };
        next.with_links()
    }

    /// Waits for a permit for an expensive request: one that reads whole graphs, descriptions or positions of words, runs a
    /// model, or compares all datasets. Status 503 if there is none in time.
    pub(crate) async fn acquire_permit(&self, client: Client) -> Result<Permit, ApiError> {
        let span = tracing::info_span!(target: "traces", "wait for permit");
        let permit = self
            .permits
            .acquire(client.0, self.snippets.permit_timeout)
            .instrument(span)
            .await;
        permit.map_err(|exhausted| exhausted.error("expensive requests"))
    }

    /// Waits for a permit to receive an example. To be called before the body is read: bodies in memory are bounded.
    pub(crate) async fn acquire_upload_permit(&self, client: Client) -> Result<Permit, ApiError> {
        let permit = self
            .uploads
            .acquire(client.0, self.snippets.permit_timeout)
            .await;
        permit.map_err(|exhausted| exhausted.error("uploads"))
    }

    /// Waits for a permit to parse an example and to compare it. It is not one of those for which searches wait.
    pub(crate) async fn acquire_parse_permit(&self, client: Client) -> Result<Permit, ApiError> {
        let permit = self
            .parses
            .acquire(client.0, self.snippets.permit_timeout)
            .await;
        permit.map_err(|exhausted| exhausted.error("examples to parse"))
    }

    /// Waits for a permit to send a whole graph. Slow downloads take no permits of other work.
    pub(crate) async fn acquire_download_permit(&self, client: Client) -> Result<Permit, ApiError> {
        let permit = self
            .downloads
            .acquire(client.0, self.snippets.permit_timeout)
            .await;
        permit.map_err(|exhausted| exhausted.error("downloads of graphs"))
    }

    /// Waits for a permit if a search reads whole graphs, runs a model, or compares examples with all datasets. FSDM and phrases
    /// read positions of words. Exclusions may be phrases, and names are looked up in all datasets.
    pub(crate) async fn acquire_search_permit(
        &self,
        client: Client,
        request: &SearchRequest,
    ) -> Result<Option<Permit>, ApiError> {
        let reads_graphs = request.explain || request.snippet != SnippetKind::Stored;
        let runs_model = request.model.is_none() && self.searcher.has_reranker();
        let compares = !request.examples.is_empty();
        let model = request
            .model
            .map_or(self.searcher.model_name(), ModelKind::name);
        let has_conditions = request.syntax == QuerySyntax::Interpreted
            && parse_query(&request.query)
                .iter()
                .any(|part| part.form != PartForm::Word || part.excluded);
        let reads_positions = model == ModelKind::Fsdm.name() || has_conditions;
        if reads_graphs || runs_model || compares || reads_positions {
            self.acquire_permit(client).await.map(Some)
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

    /// Runs expensive work, as [`work`](Self::work) does, with a permit ([`acquire_permit`](Self::acquire_permit)) that ends with
    /// the work, even if the client has left.
    pub(crate) async fn work_with_permit<T: Send + 'static>(
        &self,
        client: Client,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.acquire_permit(client).await?;
        let permitted = move |state: &Self| {
            let _permit = permit;
            work(state)
        };
        self.work(permitted).await
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
