//! The server process: opens a home, listens, runs background tasks, and shuts down gracefully.

#[cfg(unix)]
use crate::admin::LocalSocket;
use crate::admin::Operators;
use crate::api::Titles;
use crate::branding::Branding;
use crate::connections::{ConnectionLimits, serve_connections};
use crate::hosts::HostName;
use crate::mcp;
use crate::memory::fit_to_memory;
use crate::portal::Portal;
use crate::proxies::Proxies;
use crate::public_url::PublicUrl;
use crate::sparql::Editor;
use crate::state::AppState;
use crate::tls::Tls;
use crate::work_limits::SnippetLimits;
use crate::workers::Workers;
use axum::Router;
use lodeseek_changes::{Background, ScheduledSource, SettingFiles, StopSignal, WorkerOptions};
use lodeseek_engine::{EngineError, Reranker, Searcher};
use lodeseek_net::egress::IpNet;
use lodeseek_net::sparql_client::SparqlClient;
use lodeseek_snapshot::{SnapshotError, StorageOptions};
use lodeseek_sparql::SparqlLimits;
use lodeseek_store::{Access, Store};
use lodeseek_worker::WorkerError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket};

/// Time that connections have to end after the stop signal. Then they are closed.
const GRACE_PERIOD: Duration = Duration::from_secs(10);
/// Time that running work of requests has to end after their connections were closed. No client receives its results.
pub(crate) const WORK_GRACE_PERIOD: Duration = Duration::from_secs(5);
/// Time that a running change has to end after the server stopped.
const CHANGE_GRACE_PERIOD: Duration = Duration::from_secs(30);
/// Number of connections that wait to be accepted. Those beyond it are repeated by their clients after a second. The system may
/// allow fewer.
const LISTEN_BACKLOG: u32 = 4096;

/// Options of the server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Client of remote endpoints for `SERVICE`. Its egress policy decides which endpoints queries may use.
    pub endpoints: Arc<SparqlClient>,
    /// Addresses to listen on: the first that is possible.
    pub bind: Vec<SocketAddr>,
    /// Address at which clients reach the server. Default: the base of the home; with the default base the address of the server.
    pub public_url: Option<PublicUrl>,
    /// Names in `Host` of requests to a server on a loopback address, beside those of this machine and of the public URL. Others get
    /// status 421. Without effect if other machines or a trusted proxy can reach the server.
    pub host_names: Vec<HostName>,
    /// Certificate and key; `None` for plain HTTP. SIGHUP reads them again.
    pub tls: Option<Tls>,
    /// Limits of connections.
    pub connections: ConnectionLimits,
    /// Limits of a SPARQL query.
    pub sparql: SparqlLimits,
    /// Worker processes for untrusted work; `None` if this process does it.
    pub workers: Option<WorkerOptions>,
    /// Limits of snippets computed on demand.
    pub snippets: SnippetLimits,
    /// Proxies whose forwarding headers are trusted.
    pub proxies: Proxies,
    /// Editor of the SPARQL page; `None` for a plain form.
    pub editor: Option<Editor>,
    /// Name, description and publisher of the portal.
    pub portal: Portal,
    /// Branding of the pages.
    pub branding: Branding,
    /// Task that runs beside the server. If there is one, the home is opened for writing.
    pub background: Option<Background>,
    /// Sources of the configuration that this task harvests, for the operator's pages.
    pub schedule: Vec<ScheduledSource>,
    /// Access rule of the operator's routes.
    pub operators: Operators,
    /// Reads the access rule again at SIGHUP.
    pub reload: Option<Reload>,
    /// If true, clients with a token and local users change the collection. The home is then opened for writing.
    pub admin: bool,
    /// Access to storage, for the publication of snapshots.
    pub storage: StorageOptions,
    /// Reader of the files that the settings name, for backups.
    pub setting_files: SettingFiles,
    /// Folder of the backups that operators request in a browser; `None` if they cannot.
    pub backup_folder: Option<PathBuf>,
    /// Private networks to which harvests and downloads that clients with a token request may connect.
    pub private_networks: Vec<IpNet>,
}

/// Function that reads settings again while the server runs.
#[derive(Clone)]
pub struct Reload(Arc<dyn Fn() -> Result<Operators, String> + Send + Sync>);

impl Reload {
    /// Creates the function. Its error is logged, and the settings stay as they are.
    pub fn new(read: impl Fn() -> Result<Operators, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reload")
    }
}

/// Error of the server at start or while it runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The home cannot be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The worker processes cannot be started.
    #[error(
        "{0}; with `server.workers = false` in lodeseek.toml the server process does their work itself"
    )]
    Workers(#[from] WorkerError),
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {cause}{}", suggest_remedy(cause))]
    Bind {
        /// The addresses.
        address: String,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The metrics cannot be registered.
    #[error("cannot register the metrics: {0}")]
    Metrics(#[from] prometheus::Error),
    /// A snapshot cannot be fetched.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A snapshot cannot be served with these settings.
    #[error("cannot serve snapshot {number}: {reason}")]
    Replica {
        /// Number of the snapshot.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// An input or output error of the server.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves a home until the process gets a stop signal, then completes the requests in progress. With a reranker, searches
/// without the parameter `model` are re-ranked. Work that did not end in time continues until the process ends.
///
/// # Errors
/// See [`ServeError`].
pub fn serve(
    home: &Path,
    reranker: Option<Reranker>,
    options: &ServeOptions,
) -> Result<(), ServeError> {
    let state = open(home, reranker, options)?;
    let (state, worker) = if options.admin {
        let (state, worker) = state.with_administration()?;
        (state, Some(worker))
    } else {
        (state, None)
    };
    let warming = state.clone();
    std::thread::spawn(move || fill_caches(&warming));
    let stop = StopSignal::default();
    let background = match options.background.clone() {
        Some(task) => {
            let live = state.live(stop.clone());
            Some(
                std::thread::Builder::new()
                    .name("background".to_owned())
                    .spawn(move || task.run(&live))?,
            )
        }
        None => None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        if options.admin {
            serve_local_socket(home, &state);
        }
        reload_on_hangup(&state, options.reload.clone(), options.tls.clone());
        let (listener, address) = bind(options).await?;
        let router = crate::app(add_address(state, address, options));
        accept_requests(listener, router, options, stop.clone()).await;
        Ok(())
    });
    // Ends the local socket. Work that still runs, such as the parse of a description, requests no change: the queue is stopped
    // below.
    runtime.shutdown_timeout(WORK_GRACE_PERIOD);
    stop.request(); // also after an error
    // Changes and the background task have this time together.
    let until = Instant::now() + CHANGE_GRACE_PERIOD;
    if let Some(worker) = worker {
        worker.stop(CHANGE_GRACE_PERIOD);
    }
    if let Some(background) = background {
        while !background.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        if !background.is_finished() {
            tracing::warn!(
                "the scheduled harvest did not end in time and was interrupted; the next start continues it"
            );
        }
    }
    served
}

/// Serves a home to one client over standard input and output, in the Model Context Protocol. The home is only read.
///
/// # Errors
/// See [`ServeError`].
pub fn serve_mcp(
    home: &Path,
    reranker: Option<Reranker>,
    options: &ServeOptions,
) -> Result<(), ServeError> {
    let state = open(home, reranker, options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(mcp::serve_stdio(state));
    runtime.shutdown_background(); // a read of standard input cannot be cancelled
    Ok(served?)
}

/// Opens a home with the options of a server.
pub(crate) fn open(
    home: &Path,
    reranker: Option<Reranker>,
    options: &ServeOptions,
) -> Result<AppState, ServeError> {
    let is_changed = options.background.is_some() || options.admin;
    let access = if is_changed {
        Access::Write
    } else {
        Access::Read
    };
    let store = Store::open(home, access, None).map_err(EngineError::from)?;
    let mut searcher = Searcher::open(home)?.with_content_cache(options.snippets.cache_bytes);
    if let Some(reranker) = reranker {
        searcher = searcher.with_reranker(reranker);
    }
    let sparql = fit_to_memory(options.sparql.clone());
    let query_megabytes = sparql.memory_megabytes;
    let state = AppState::new(searcher, store, sparql)
        .with_snippets(options.snippets.clone())
        .with_proxies(options.proxies.clone())
        .with_public_url(options.public_url.clone())
        .with_host_names(&options.host_names)
        .with_editor(options.editor.clone())
        .with_endpoints(Arc::clone(&options.endpoints))
        .with_private_networks(&options.private_networks)
        .with_portal(options.portal.clone())
        .with_branding(options.branding.clone())
        .with_storage(options.storage.clone())
        .with_setting_files(options.setting_files.clone())
        .with_backup_folder(options.backup_folder.as_deref())
        .with_schedule(&options.schedule)
        .with_operators(options.operators.clone())?;
    match &options.workers {
        Some(workers) => {
            let memory_megabytes = workers.memory_megabytes.min(query_megabytes);
            let workers = WorkerOptions {
                memory_megabytes,
                ..workers.clone()
            };
            Ok(state
                .with_workers(Workers::start(home, &workers)?)
                .map_err(EngineError::from)?)
        }
        None => {
            tracing::warn!(
                "untrusted input is processed without worker processes; a crash stops the server"
            );
            Ok(state)
        }
    }
}

/// Reads settings again at each SIGHUP, which would otherwise end the process. Tokens of the administration need no signal.
#[cfg(unix)]
pub(crate) fn reload_on_hangup(state: &AppState, reload: Option<Reload>, tls: Option<Tls>) {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = match signal(SignalKind::hangup()) {
        Ok(hangup) => hangup,
        Err(error) => {
            tracing::warn!(%error, "cannot receive SIGHUP; settings are read at start only");
            return;
        }
    };
    let admin = state.admin.clone();
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            match tls.as_ref().map(Tls::reload) {
                Some(Ok(())) => tracing::info!("reloaded the certificate"),
                Some(Err(error)) => {
                    tracing::error!(%error, "cannot reload the certificate; the previous one stays in use")
                }
                None => {}
            }
            let Some((Reload(read), admin)) = reload.as_ref().zip(admin.as_ref()) else {
                continue;
            };
            match read() {
                Ok(operators) => {
                    admin.set_access(operators);
                    tracing::info!("reloaded the operator token");
                }
                Err(error) => {
                    tracing::error!(error, "cannot reload settings; they stay as they are")
                }
            }
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn reload_on_hangup(_: &AppState, _: Option<Reload>, _: Option<Tls>) {}

/// Serves the administration to local users. Without the socket, clients with a token can still use it.
#[cfg(unix)]
fn serve_local_socket(home: &Path, state: &AppState) {
    let socket = match LocalSocket::bind(home) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::warn!(%error, "cannot create the local socket; `load`, `harvest`, `index` and `remove` cannot reach this server");
            return;
        }
    };
    let serving = socket.serve(state.clone());
    tokio::spawn(async move {
        if let Err(error) = serving.await {
            tracing::error!(%error, "the local socket failed");
        }
    });
}

#[cfg(not(unix))]
fn serve_local_socket(_: &Path, _: &AppState) {}

/// Returns the remedy for an address that cannot be used, if there is one.
fn suggest_remedy(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::AddrInUse => "; choose another port with --bind",
        _ => "",
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // A server that starts again may use the address at once. On Windows the option would allow two servers.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Listens on the first possible address.
pub(crate) async fn bind(options: &ServeOptions) -> Result<(TcpListener, SocketAddr), ServeError> {
    let mut listener = Err(io::ErrorKind::InvalidInput.into());
    for address in &options.bind {
        listener = listen(*address);
        if listener.is_ok() {
            break;
        }
    }
    let listener = listener.map_err(|cause| {
        let address = options
            .bind
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        ServeError::Bind { address, cause }
    })?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Returns the state of a server that listens on an address.
pub(crate) fn add_address(
    state: AppState,
    address: SocketAddr,
    options: &ServeOptions,
) -> AppState {
    let (state, scheme) = match &options.tls {
        Some(_) => (state.at_with_tls(address), "https"),
        None => (state.at(address), "http"),
    };
    tracing::info!(
        "listening on {scheme}://{address} (public URL: {})",
        state.site.link_base
    );
    state
}

/// Serves requests until the stop signal, then waits at most [`GRACE_PERIOD`] for open connections.
pub(crate) async fn accept_requests(
    listener: TcpListener,
    router: Router,
    options: &ServeOptions,
    stop_background: StopSignal,
) {
    let (signal_sent, signal_received) = tokio::sync::oneshot::channel::<()>();
    let stop = async move {
        stop_signal().await;
        stop_background.request();
        let _ = signal_sent.send(()); // the receiver lives as long as the server runs
    };
    let serving = serve_connections(
        listener,
        router,
        &options.proxies,
        &options.connections,
        options.tls.as_ref(),
        stop,
    );
    let grace_period = async {
        let _ = signal_received.await;
        tokio::time::sleep(GRACE_PERIOD).await;
    };
    tokio::select! {
        () = serving => {}
        () = grace_period => {
            tracing::warn!("some connections did not end within {} s and were closed", GRACE_PERIOD.as_secs());
        }
    }
    tracing::info!("stopped");
}

/// Fills caches that the first requests would otherwise wait for. Until then, statistics are computed by evaluation.
pub(crate) fn fill_caches(state: &AppState) {
    match state.sparql.engine.prepare_statistics() {
        Ok(()) => tracing::debug!("statistics of all graphs are cached"),
        Err(error) => {
            tracing::warn!(%error, "some statistics are not cached; queries for them are evaluated")
        }
    }
    if Titles::current(state).is_err() {
        tracing::warn!("cannot compute the list of datasets; the next request for it tries again");
    }
}

/// Calls a function, on a thread of its own, at each stop signal. The signal no longer ends the process.
///
/// # Errors
/// If the thread cannot be started.
pub fn on_stop_signal(act: impl Fn() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            loop {
                runtime.block_on(stop_signal());
                act();
            }
        })?;
    Ok(())
}

/// Waits for SIGINT or SIGTERM.
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
