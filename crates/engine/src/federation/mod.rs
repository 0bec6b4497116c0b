//! Resolution of `SERVICE` calls: to the search, to this store under its own IRI, or to permitted remote endpoints.
//!
//! Patterns are matched, and responses of endpoints parsed, in the process that evaluates the query. If that is a worker, it has neither
//! network nor index: its requests go to the parent process ([`worker`]), which answers them as those of its own queries ([`local`]).

mod local;
mod worker;

pub use worker::worker_services;

use super::{Searcher, service};
use local::LocalRequests;
use lodeseek_net::sparql_client::SparqlClient;
use lodeseek_rdf::vocab::search;
use lodeseek_sparql::{
    Call, QueryEngine, ServiceCall, ServiceError, ServiceRow, Services, SparqlLimits,
};
use oxrdf::{NamedNode, Term, Triple, Variable};
use serde::{Deserialize, Serialize};
use spargebra::algebra::GraphPattern;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use worker::WorkerRequests;

/// Interval at which a waiting call checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The services of a home.
pub struct Federation {
    names: ServiceNames,
    requests: Requests,
}

/// Place in which the requests of the services are answered.
enum Requests {
    /// In this process.
    Here(Box<LocalRequests>),
    /// In the parent process of this worker.
    Parent(WorkerRequests),
}

/// Names of the services, which a worker needs to distinguish them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ServiceNames {
    /// Base of the IRIs of the home.
    base: String,
    /// Addresses of the home besides its base.
    addresses: Vec<String>,
    /// Maximum number of rows of a response.
    max_rows: u64,
}

impl ServiceNames {
    fn is_search(&self, service: &NamedNode) -> bool {
        service.as_str() == search::SERVICE || self.is_part(service, "search")
    }

    fn is_own(&self, service: &NamedNode) -> bool {
        self.is_part(service, "sparql")
    }

    fn is_part(&self, service: &NamedNode, part: &str) -> bool {
        let addresses = self.addresses.iter().chain([&self.base]);
        addresses
            .into_iter()
            .any(|address| service.as_str().strip_prefix(address.as_str()) == Some(part))
    }
}

impl fmt::Debug for Federation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Federation")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl Federation {
    /// Creates the services of an opened home. Calls of its own endpoint obey the limits.
    #[must_use]
    pub fn new(queries: &Arc<QueryEngine>, limits: SparqlLimits) -> Self {
        let names = ServiceNames {
            base: queries.store().iris().base().to_owned(),
            addresses: Vec::new(),
            max_rows: limits.service_rows as u64,
        };
        Self {
            names,
            requests: Requests::Here(Box::new(LocalRequests::new(queries, limits))),
        }
    }

    /// Adds the search service of an index.
    #[must_use]
    pub fn with_search(self, searcher: Arc<Searcher>) -> Self {
        self.map_local(|local| local.with_search(searcher))
    }

    /// Adds the search service of an index that is opened for the first search. A failure to open it is that of the search.
    #[must_use]
    pub fn with_search_on_demand(
        self,
        open: impl Fn() -> Result<Arc<Searcher>, String> + Send + Sync + 'static,
    ) -> Self {
        self.map_local(|local| local.with_search_on_demand(Box::new(open)))
    }

    /// Sets the addresses of this home besides its base, as `http://127.0.0.1:7878/`. Queries sent to such an address, and
    /// other engines that forward a `SERVICE`, use it in the IRIs of the search and the endpoint.
    #[must_use]
    pub fn with_addresses(self, addresses: Vec<String>) -> Self {
        Self {
            names: ServiceNames {
                addresses,
                ..self.names
            },
            ..self
        }
    }

    /// Sets the client for remote endpoints, which are restricted by the client's egress policy.
    #[must_use]
    pub fn with_endpoints(self, client: Arc<SparqlClient>) -> Self {
        self.map_local(|local| local.with_endpoints(client))
    }

    fn map_local(self, change: impl FnOnce(LocalRequests) -> LocalRequests) -> Self {
        let requests = match self.requests {
            Requests::Here(local) => Requests::Here(Box::new(change(*local))),
            Requests::Parent(parent) => Requests::Parent(parent),
        };
        Self { requests, ..self }
    }

    /// Executes a search with some parameters and returns its hits as triples.
    fn search(
        &self,
        parameters: &[(&str, Term)],
        call: &ServiceCall<'_>,
    ) -> Result<Vec<Triple>, ServiceError> {
        match &self.requests {
            Requests::Here(local) => local.search(parameters, &|| {
                call.cancelled.is_cancelled() || Instant::now() >= call.deadline
            }),
            Requests::Parent(parent) => parent.search(parameters, call),
        }
    }
}

impl Services for Federation {
    fn call(
        &self,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        if self.names.is_search(call.service) {
            return service::answer(call, rows, &mut |parameters| self.search(parameters, call));
        }
        match &self.requests {
            Requests::Here(local) => local.select(call, self.names.is_own(call.service), rows),
            Requests::Parent(parent) => parent.select(call, self.names.max_rows, rows),
        }
    }

    fn needs(&self, _: &NamedNode, pattern: &GraphPattern) -> Vec<Variable> {
        // The search of another home needs its parameters, too.
        service::needs(pattern)
    }

    fn is_bounded(&self, service: &NamedNode, pattern: &GraphPattern) -> bool {
        self.names.is_search(service) && service::is_bounded(pattern)
    }

    fn worker_settings(&self) -> Option<String> {
        serde_json::to_string(&self.names).ok()
    }

    fn answer(&self, request: &[u8], call: &Call) {
        if let Requests::Here(local) = &self.requests {
            worker::answer(local, &self.names, request, call);
        }
    }

    fn of_property(&self, property: &NamedNode) -> Option<NamedNode> {
        service::has_property(property).then(|| NamedNode::new_unchecked(search::SERVICE))
    }
}
