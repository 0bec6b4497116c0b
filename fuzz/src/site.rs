//! A server without sockets, over `testdata/`.

use crate::{queries, scratch};
use axum::Router;
use lodeseek_catalog::{Catalog, Iris};
use lodeseek_engine::{IndexOptions, Indexer, Searcher};
use lodeseek_server::{AppState, Proxies, app};
use lodeseek_sparql::Statistics;
use lodeseek_store::{Loader, Store};
use serde_json::{Map, Value};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// Address of the trusted proxy.
pub const PROXY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

/// The application and the runtime of its requests.
pub struct Site {
    /// All routes.
    pub app: Router,
    /// A runtime with one thread.
    pub runtime: Runtime,
}

impl fmt::Debug for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Site").finish_non_exhaustive()
    }
}

impl Default for Site {
    fn default() -> Self {
        Self::new()
    }
}

impl Site {
    /// Opens the application over [`home`]. A proxy at [`PROXY`] is trusted.
    ///
    /// # Panics
    /// If that fails.
    #[must_use]
    pub fn new() -> Self {
        let (searcher, store) = home();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let state = AppState::new(searcher, store, queries::limits(Statistics::First));
        Self {
            app: app(state.with_proxies(Proxies::new(&[PROXY.ip()]))),
            runtime,
        }
    }
}

/// Loads and indexes the catalogue of `testdata/`.
///
/// # Panics
/// If that fails.
#[must_use]
pub fn home() -> (Searcher, Store) {
    let folder = scratch::folder().join("home");
    std::fs::create_dir_all(&folder).expect("a folder");
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/catalog.ttl");
    let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
    let store = Arc::new(Store::in_memory(&folder, iris).expect("a store"));
    Loader::new(&store)
        .load(Catalog::read(&catalog).expect("a catalogue"), &|_| {})
        .expect("loaded");
    Indexer::new(&store, IndexOptions::default())
        .run(&|_| {})
        .expect("indexed");
    let searcher = Searcher::open(&folder).expect("an index");
    (
        searcher,
        Arc::into_inner(store).expect("the store has one owner"),
    )
}

/// Encodes parameters as a form.
#[must_use]
pub fn encoded(parameters: &[(&'static str, String)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish()
}

/// Encodes parameters as a JSON object. A text that is JSON becomes a value.
#[must_use]
pub fn json(parameters: &[(&'static str, String)]) -> String {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let object: Map<String, Value> = parameters
        .iter()
        .map(|(name, text)| ((*name).to_owned(), value(text)))
        .collect();
    Value::Object(object).to_string()
}
