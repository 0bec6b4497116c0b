//! Limits of work on whole graphs, and the permits of requests for it.

use crate::AppState;
use crate::error::ApiError;
use crate::memory::MAX_PARSES;
use crate::permits::{Permit, Permits};
use crate::site::Client;
use axum::extract::FromRef;
use std::sync::Arc;
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

/// Permits of requests, which several states of a server share.
#[derive(Clone)]
pub(crate) struct WorkLimits {
    /// Limits of snippets computed on demand.
    pub(crate) snippets: Arc<SnippetLimits>,
    /// One permit for each expensive request.
    permits: Arc<Permits>,
    /// One permit for each example that a client sends.
    uploads: Arc<Permits>,
    /// One permit for each example that is parsed or compared.
    parses: Arc<Permits>,
    /// One permit for each graph that a client downloads.
    downloads: Arc<Permits>,
}

impl FromRef<AppState> for WorkLimits {
    fn from_ref(state: &AppState) -> Self {
        state.limits.clone()
    }
}

impl WorkLimits {
    pub(crate) fn new(snippets: SnippetLimits) -> Self {
        let permits = Permits::new(snippets.concurrent, snippets.concurrent.div_ceil(2));
        Self {
            snippets: Arc::new(snippets),
            permits: Arc::new(permits),
            uploads: Arc::new(Permits::new(MAX_UPLOADS, MAX_UPLOADS_OF_CLIENT)),
            parses: Arc::new(Permits::new(MAX_PARSES, MAX_PARSES_OF_CLIENT)),
            downloads: Arc::new(Permits::new(MAX_DOWNLOADS, MAX_DOWNLOADS_OF_CLIENT)),
        }
    }

    /// Returns other limits of snippets with the permits of these.
    pub(crate) fn with_permits_of(self, other: &Self) -> Self {
        Self {
            snippets: self.snippets,
            ..other.clone()
        }
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
}
