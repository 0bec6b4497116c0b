//! A replica: serves the snapshots of a location, one after the other.
//!
//! A new snapshot is fetched and opened beside the served one. Then it replaces it: requests that began before the change are
//! completed with the old snapshot, all others use the new one. If a snapshot cannot be fetched or opened, the old one stays.

use crate::observed_body::BodyOfUnknownSize;
use crate::server::{
    ServeError, ServeOptions, WORK_GRACE_PERIOD, accept_requests, add_address, bind, fill_caches,
    open, reload_on_hangup,
};
use crate::state::AppState;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, header};
use lodeseek_changes::{StopSignal, WorkerOptions};
use lodeseek_engine::Reranker;
use lodeseek_snapshot::{SnapshotCache, SnapshotHome};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tower::ServiceExt as _;

/// Options of a server that depend on the home, beside [`ServeOptions`].
pub struct HomeOptions {
    /// Reranker of the home, if there is one.
    pub reranker: Option<Reranker>,
    /// Worker processes that read the home; `None` if the server process does their work.
    pub workers: Option<WorkerOptions>,
}

impl fmt::Debug for HomeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HomeOptions")
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}

/// Function that returns the options of a home, or a message.
type Prepare = dyn Fn(&Path) -> Result<HomeOptions, String> + Send;

/// The source of the snapshots of a server.
pub struct Replica {
    cache: SnapshotCache,
    interval: Duration,
    prepare: Box<Prepare>,
}

impl fmt::Debug for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica")
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

impl Replica {
    /// Creates the source. The storage is checked for a new snapshot after each `interval`.
    pub fn new(
        cache: SnapshotCache,
        interval: Duration,
        prepare: impl Fn(&Path) -> Result<HomeOptions, String> + Send + 'static,
    ) -> Self {
        Self {
            cache,
            interval,
            prepare: Box::new(prepare),
        }
    }

    /// Opens a snapshot, and deletes from the cache what it does not use.
    fn open(&mut self, home: SnapshotHome, options: &ServeOptions) -> Result<AppState, ServeError> {
        let HomeOptions { reranker, workers } =
            (self.prepare)(home.path()).map_err(|reason| ServeError::Replica {
                number: home.number(),
                reason,
            })?;
        let state = open(
            home.path(),
            reranker,
            &ServeOptions {
                workers,
                ..options.clone()
            },
        )?;
        // After the home was opened: a snapshot that cannot be opened must not replace the one in the cache.
        if let Err(error) = self.cache.keep_only(&home) {
            tracing::warn!(%error, "cannot delete old files of the cache; the next snapshot deletes them");
        }
        Ok(state.with_snapshot(Arc::new(home)))
    }

    /// Returns the state of the last snapshot, if it is not that of a state.
    fn next(
        &mut self,
        state: &AppState,
        options: &ServeOptions,
    ) -> Result<Option<AppState>, ServeError> {
        let Some(home) = self.cache.fetch(state.snapshot.as_deref())? else {
            return Ok(None);
        };
        Ok(Some(self.open(home, options)?.replacing(state)))
    }
}

/// Serves the last snapshot until the process gets a stop signal, and each newer one from its publication on.
///
/// # Errors
/// See [`ServeError`]. Errors of a newer snapshot are logged, and the served one stays.
pub fn serve_replica(mut replica: Replica, options: &ServeOptions) -> Result<(), ServeError> {
    let first = replica.cache.fetch_first()?;
    let state = replica.open(first, options)?;
    log_snapshot(&state, replica.cache.location());
    let warming = state.clone();
    std::thread::spawn(move || fill_caches(&warming));
    let stop = StopSignal::default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        reload_on_hangup(&state, options.reload.clone(), options.tls.clone());
        let (listener, address) = bind(options).await?;
        let state = add_address(state, address, options);
        let current = CurrentRouter::new(crate::app(state.clone()));
        let router = current.router();
        let (follow_options, stopped) = (options.clone(), stop.clone());
        std::thread::Builder::new()
            .name("snapshots".to_owned())
            .spawn(move || follow_snapshots(replica, state, &current, &follow_options, &stopped))?;
        accept_requests(listener, router, options, stop).await;
        Ok(())
    });
    runtime.shutdown_timeout(WORK_GRACE_PERIOD);
    served
}

/// Replaces the served snapshot by each newer one until the server stops.
fn follow_snapshots(
    mut replica: Replica,
    mut state: AppState,
    current: &CurrentRouter,
    options: &ServeOptions,
    stop: &StopSignal,
) {
    let mut replaced: Vec<Arc<SnapshotHome>> = Vec::new();
    while stop.sleep(replica.interval) {
        match replica.next(&state, options) {
            Ok(None) => {}
            Ok(Some(next)) => {
                // Before the change, so that no request waits for the caches of the new snapshot.
                fill_caches(&next);
                current.replace(crate::app(next.clone()));
                log_snapshot(&next, replica.cache.location());
                record_outcome(
                    &next,
                    Ok(format!("snapshot {} is served", next.snapshot_number())),
                );
                replaced.extend(state.snapshot.clone());
                state = next;
            }
            Err(error) => {
                let number = state.snapshot_number();
                tracing::error!(%error, "cannot serve a newer snapshot; snapshot {number} is still served");
                record_outcome(&state, Err(error.to_string()));
            }
        }
        // The folder of a replaced snapshot is deleted here, on this thread, once no request uses it.
        replaced.retain(|home| Arc::strong_count(home) > 1);
    }
}

fn log_snapshot(state: &AppState, location: &str) {
    let Some(home) = &state.snapshot else { return };
    let (record, number) = (home.record(), home.number());
    tracing::info!(
        "serving snapshot {number} of {location}: {} datasets, {} bytes",
        record.datasets,
        record.bytes
    );
}

/// Adds an outcome to the operator's list.
fn record_outcome(state: &AppState, outcome: Result<String, String>) {
    if let Some(admin) = &state.admin {
        admin.tasks.add("snapshot", outcome);
    }
}

/// A router that can be replaced between two requests.
#[derive(Clone)]
struct CurrentRouter(Arc<RwLock<Router>>);

impl CurrentRouter {
    fn new(router: Router) -> Self {
        Self(Arc::new(RwLock::new(router)))
    }

    fn get(&self) -> Router {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn replace(&self, router: Router) {
        let old = std::mem::replace(
            &mut *self.0.write().unwrap_or_else(PoisonError::into_inner),
            router,
        );
        drop(old); // after the lock is free
    }

    /// Returns a router that passes each request to the current one.
    fn router(&self) -> Router {
        let current = self.clone();
        Router::new().fallback(async move |request: Request| {
            let is_head = request.method() == Method::HEAD;
            let response = match current.get().oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            // The current router has removed the body.
            if is_head && !response.headers().contains_key(header::CONTENT_LENGTH) {
                return response.map(|_| Body::new(BodyOfUnknownSize));
            }
            response
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::response::Response;
    use axum::routing::get;
    use tokio::sync::Notify;

    async fn body(router: Router, path: &str) -> String {
        let request = Request::builder()
            .uri(path)
            .body(Body::empty())
            .expect("a request");
        let response = router.oneshot(request).await.expect("a response");
        let bytes = to_bytes(response.into_body(), 1000).await.expect("a body");
        String::from_utf8(bytes.to_vec()).expect("text")
    }

    #[tokio::test]
    async fn head_states_only_sizes_that_are_known() {
        let routes = Router::new()
            .route("/known", get(|| async { "four" }))
            .route(
                "/unknown",
                get(|| async { Response::new(Body::new(BodyOfUnknownSize)) }),
            );
        let router = CurrentRouter::new(routes).router();
        for (path, expected) in [("/known", Some("4")), ("/unknown", None)] {
            for method in [Method::HEAD, Method::GET] {
                let request = Request::builder().method(method).uri(path);
                let request = request.body(Body::empty()).expect("a request");
                let response = router.clone().oneshot(request).await.expect("a response");
                let length = response.headers().get(header::CONTENT_LENGTH);
                assert_eq!(
                    length.map(|value| value.to_str().expect("text")),
                    expected,
                    "{path}"
                );
            }
        }
    }

    #[test]
    fn a_request_ends_where_it_began() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            let (signal, wait) = (Arc::clone(&begun), Arc::clone(&go_on));
            let slow = move || {
                let (signal, wait) = (Arc::clone(&signal), Arc::clone(&wait));
                async move {
                    signal.notify_one();
                    wait.notified().await;
                    "old"
                }
            };
            let current = CurrentRouter::new(Router::new().route("/slow", get(slow)));
            let router = current.router();
            let request = tokio::spawn(body(router.clone(), "/slow"));
            begun.notified().await;
            current.replace(Router::new().route("/slow", get(|| async { "new" })));
            assert_eq!(body(router, "/slow").await, "new");
            go_on.notify_one();
            assert_eq!(request.await.expect("ended"), "old");
        });
    }
}
