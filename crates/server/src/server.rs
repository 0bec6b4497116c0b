//! The server process: opens a home, listens, runs background tasks, and shuts down gracefully.

use crate::admin::{Background, Live, Operators, StopSignal};
use crate::api::Titles;
use crate::portal::Portal;
use crate::proxies::Proxies;
use crate::sparql::Editor;
use crate::state::{AppState, SnippetLimits};
use lodeseek_engine::{EngineError, IndexOptions, Indexer, Reranker, Searcher, index_folder};
use lodeseek_net::sparql_client::SparqlClient;
use lodeseek_sparql::SparqlLimits;
use lodeseek_store::{Access, Store};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Time that connections have to end after the stop signal. Then they are closed.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Options of the server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Client of remote endpoints for `SERVICE`. Its egress policy decides which endpoints queries may use.
    pub endpoints: Arc<SparqlClient>,
    /// Address to listen on.
    pub bind: SocketAddr,
    /// Limits of a SPARQL query.
    pub sparql: SparqlLimits,
    /// Limits of snippets computed on demand.
    pub snippets: SnippetLimits,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Proxies,
    /// Editor of the SPARQL page; `None` for a plain form.
    pub editor: Option<Editor>,
    /// Name, description and publisher of the portal.
    pub portal: Portal,
    /// Task that runs beside the server. If there is one, the home is opened for writing.
    pub background: Option<Background>,
    /// Access rule of the operator's routes.
    pub operators: Operators,
}

/// Error of the server at start or while it runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The home cannot be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {cause}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The metrics cannot be registered.
    #[error("cannot register the metrics: {0}")]
    Metrics(#[from] prometheus::Error),
    /// An input or output error of the server.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves a home until the process gets a stop signal, then completes the requests in progress. With a reranker, searches
/// without the parameter `model` are re-ranked.
///
/// # Errors
/// See [`ServeError`].
pub fn serve(home: &Path, reranker: Option<Reranker>, options: &ServeOptions) -> Result<(), ServeError> {
    let access = if options.background.is_some() { Access::Write } else { Access::Read };
    let store = Store::open(home, access, None).map_err(EngineError::from)?;
    if access == Access::Write && !index_folder(home).join("meta.json").exists() {
        // A home that a background task fills may be empty at start.
        Indexer::new(&store, IndexOptions::default()).run(&|_| ())?;
    }
    let mut searcher = Searcher::open(home)?.with_content_cache(options.snippets.cache_bytes);
    if let Some(reranker) = reranker {
        searcher = searcher.with_reranker(reranker);
    }
    let state = AppState::new(searcher, store, options.sparql.clone())
        .with_snippets(options.snippets.clone())
        .with_proxies(options.proxies.clone())
        .with_editor(options.editor.clone())
        .with_endpoints(Arc::clone(&options.endpoints))
        .with_portal(options.portal.clone())
        .with_operators(options.operators.clone())?;
    let warming = state.clone();
    std::thread::spawn(move || fill_caches(&warming));
    let stop = StopSignal::default();
    if let Some(task) = options.background.clone() {
        let live = Live::new(&state, stop.clone());
        std::thread::Builder::new().name("background".to_owned()).spawn(move || task.run(&live))?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(listen(state, options.bind, stop))
}

/// Serves requests until the stop signal, then waits at most [`GRACE_PERIOD`] for open connections.
async fn listen(state: AppState, bind: SocketAddr, stop_background: StopSignal) -> Result<(), ServeError> {
    let listener = tokio::net::TcpListener::bind(bind).await;
    let listener = listener.map_err(|cause| ServeError::Bind { address: bind, cause })?;
    let address = listener.local_addr()?;
    tracing::info!("listening on http://{address}");
    let (signal_sent, signal_received) = tokio::sync::oneshot::channel::<()>();
    let stop = async move {
        stop_signal().await;
        stop_background.request();
        let _ = signal_sent.send(()); // the receiver lives as long as the server runs
    };
    let service = crate::app(state.at(address)).into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service).with_graceful_shutdown(stop);
    let grace_period = async {
        let _ = signal_received.await;
        tokio::time::sleep(GRACE_PERIOD).await;
    };
    tokio::select! {
        ended = serving.into_future() => ended?,
        () = grace_period => {
            tracing::warn!("some connections did not end within {} s and were closed", GRACE_PERIOD.as_secs());
        }
    }
    tracing::info!("stopped");
    Ok(())
}

/// Fills caches that the first requests would otherwise wait for. Until then, statistics are computed by evaluation.
fn fill_caches(state: &AppState) {
    match state.sparql.engine.prepare_statistics() {
        Ok(()) => tracing::debug!("statistics of all graphs are cached"),
        Err(error) => tracing::warn!(%error, "some statistics are not cached; queries for them are evaluated"),
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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listen = move || loop {
        runtime.block_on(stop_signal());
        act();
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
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
