#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! SPARQL 1.1 queries over the store, bounded in time and size. <https://www.w3.org/TR/sparql11-query/>
//!
//! *Visible graphs.* The default graph is the metadata: catalogue, profiles, snippets and works. The named graphs are the current
//! contents of the datasets, and have their IRIs (`graph_names`). Other versions are invisible. `GRAPH` with a constant reads graphs
//! of metadata, too. They are values of `GRAPH ?g` if a query or request declares them.
//!
//! *Statistics first.* Counts and listings that are precomputed are read from statistics
//! ([`SparqlLimits::statistics`]); the rest of the query is evaluated.
//!
//! *Why a thread per query?* Oxigraph checks its cancellation token only when it reads the store. At the deadline the client gets an
//! error, the token is set, and the thread ends later. Filters make it end soon (`cancellation`); until then it holds one of the
//! [`SparqlLimits::concurrent`] permits. Operators that neither read the store nor pass a filter are bounded before they run: rows
//! written in the query, and the length of strings that it builds.
//!
//! *Worker processes.* With [`QueryEngine::with_workers`] only queries of bounded cost (`bounded`) are evaluated in this process. The
//! others run in workers, which can be killed at any moment: at the deadline, at the limit of memory, and when the client disconnects.
//! A worker has no network. Its services call this process ([`Services::answer`]), which sends their requests. Queries of bounded cost
//! have permits of their own, so that they do not wait for expensive ones. Of equal queries at the same time one is evaluated
//! (`shared_answers`), unless it depends on the time, on random values or on a service.

mod algebra;
mod bounded;
mod federation;
mod functions;
#[cfg(fuzzing)]
pub mod fuzzing;
mod geometry;
mod graph_names;
mod graphs;
mod string_limits;
mod cancellation;
mod columns;
mod statistics_cache;
mod limits;
mod ordering;
mod path_rows;
mod select_aliases;
mod paths;
mod admission;
mod running_times;
mod shared_answers;
mod sources;
mod statistics;
mod stream;
mod syntax_error;
mod wire;
mod worker;

pub use federation::{
    Bindings, ServiceCall, ServiceError, ServiceRow, Services, WorkerServices, triple_patterns,
};
pub use geometry::extension_functions;
pub use limits::{SparqlLimits, Statistics};
pub use lodeseek_worker::{Call, Calls};
pub use ordering::value_sort_key;
pub use sources::{PatternSources, Source, Sources};
pub use stream::{AnswerStream, Cancellation, Head, SendError, resident_memory, row_bytes};
pub use syntax_error::{SyntaxError, SyntaxErrorCause};
pub use wire::{decode_rows, encode_rows};
pub use worker::QueryWorker;

use admission::{Admission, Permit, PermitRequest};
use federation::{Reader, ServiceRows};
use graph_names::GraphNames;
use graphs::{Graphs, Visible};
use limits::{Cost, check_size, deadline_after};
use lodeseek_rdf::{RdfVersion, XmlFilter};
use lodeseek_store::{Store, StoreError};
use lodeseek_worker::Pool;
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{
    CancellationToken, PreparedSparqlQuery, QueryEvaluationError, SparqlEvaluator,
};
use oxigraph::store::StorageError;
use oxrdf::{GraphName, NamedNode, Term, Triple, Variable};
use running_times::Shape;
use serde::{Deserialize, Serialize};
use shared_answers::{Recorder, Role, SharedAnswers, SharedKey, SharedOutcome, is_repeatable};
use spargebra::{Query, SparqlParser};
use statistics_cache::StatisticsCache;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};
use stream::{Admitted, Output, Part, Sink};
use worker::WorkerQuery;

/// Stack of the thread of a query in bytes: the parser recurses; queries within the limits need less.
const STACK_BYTES: usize = 256 << 20;

/// Provenance columns in the rows of a `SELECT`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Provenance {
    /// No provenance columns.
    #[default]
    None,
    /// One more variable `?provenance_N` for the Nth `SERVICE`, in call order: the endpoint that returned the row.
    /// Services inside `EXISTS`, `MINUS`, aggregates and sub-selects have none.
    PerService,
}

/// A query and the graphs of the request, which replace those of `FROM` (SPARQL 1.1 Protocol, 2.1.4).
#[derive(Clone, Debug, Default)]
pub struct QueryRequest {
    /// Text of the query.
    pub query: String,
    /// Values of the parameter `default-graph-uri`.
    pub default_graphs: Vec<NamedNode>,
    /// Values of the parameter `named-graph-uri`.
    pub named_graphs: Vec<NamedNode>,
    /// Evaluators of `SERVICE`. Without them such queries are rejected.
    pub services: Option<Arc<dyn Services>>,
    /// Provenance columns for each `SERVICE`.
    pub provenance: Provenance,
    /// Client address, if [`SparqlLimits::concurrent_of_client`] applies.
    pub client: Option<IpAddr>,
    /// If true, the query is a part of a query that has a permit.
    pub is_part: bool,
}

/// Complete answer in memory, bounded by [`SparqlLimits::rows`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Answer of an `ASK`.
    Boolean(bool),
    /// Answer of a `SELECT`.
    Solutions {
        /// Variables in the order of the query.
        variables: Vec<Variable>,
        /// Rows with one value for each variable.
        rows: Vec<Vec<Option<Term>>>,
        /// If true, rows beyond the limit were dropped.
        truncated: bool,
    },
    /// Answer of a `CONSTRUCT` or `DESCRIBE`.
    Graph {
        /// The triples.
        triples: Vec<Triple>,
        /// If true, triples beyond the limit were dropped.
        truncated: bool,
    },
}

impl Answer {
    /// Returns true if the answer was truncated at a limit.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        matches!(
            self,
            Self::Solutions {
                truncated: true,
                ..
            } | Self::Graph {
                truncated: true,
                ..
            }
        )
    }

    /// Writes solutions or a boolean in one of the result formats, for readers of this version of RDF; `None` for a graph, which is RDF.
    #[must_use]
    pub fn write_results(
        &self,
        media_type: &str,
        version: RdfVersion,
    ) -> Option<io::Result<SerializedResults>> {
        let format = QueryResultsFormat::from_media_type(media_type)?;
        match self {
            Self::Boolean(value) => {
                let bytes = QueryResultsSerializer::from_format(format)
                    .serialize_boolean_to_writer(Vec::new(), *value);
                Some(bytes.map(|bytes| SerializedResults {
                    bytes,
                    removed_characters: 0,
                }))
            }
            Self::Solutions {
                variables, rows, ..
            } => Some(write_solutions(format, version, variables, rows)),
            Self::Graph { .. } => None,
        }
    }
}

/// Serialized results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SerializedResults {
    /// The document.
    pub bytes: Vec<u8>,
    /// Number of characters that XML does not permit, and that were left out.
    pub removed_characters: u64,
}

fn write_solutions(
    format: QueryResultsFormat,
    version: RdfVersion,
    variables: &[Variable],
    rows: &[Vec<Option<Term>>],
) -> io::Result<SerializedResults> {
    if format != QueryResultsFormat::Xml {
        let bytes = write_rows(format, version, variables, rows, Vec::new())?;
        return Ok(SerializedResults {
            bytes,
            removed_characters: 0,
        });
    }
    let filter = write_rows(format, version, variables, rows, XmlFilter::new(Vec::new()))?;
    let (bytes, removed_characters) = filter.finish()?;
    Ok(SerializedResults {
        bytes,
        removed_characters,
    })
}

fn write_rows<W: io::Write>(
    format: QueryResultsFormat,
    version: RdfVersion,
    variables: &[Variable],
    rows: &[Vec<Option<Term>>],
    writer: W,
) -> io::Result<W> {
    let serializer = QueryResultsSerializer::from_format(format);
    let mut writer = serializer.serialize_solutions_to_writer(writer, variables.to_vec())?;
    for row in rows {
        let terms: Vec<_> = row
            .iter()
            .map(|term| Some(version.convert_term(term.clone()?)))
            .collect();
        let bound = variables.iter().zip(&terms);
        writer.serialize(
            bound.filter_map(|(variable, term)| Some((variable.as_ref(), term.as_ref()?.as_ref()))),
        )?;
    }
    writer.finish()
}

/// Errors of queries. Exhaustive, since the server maps every case to a status.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
pub enum SparqlError {
    /// The query has a syntax error.
    #[error("{0}")]
    Syntax(String),
    /// The query is larger or nested deeper than allowed.
    #[error("query rejected: {0}")]
    TooLarge(String),
    /// The deadline passed.
    #[error("no answer within {} s; add a LIMIT or a more specific pattern", .0.as_secs_f32())]
    Deadline(Duration),
    /// The answer takes too much memory.
    #[error(
        "the answer takes more than {0} MB of memory; add a LIMIT without ORDER BY, or a more specific pattern"
    )]
    Memory(u64),
    /// Too many concurrent queries.
    #[error("{0} queries are running; retry in a moment")]
    Busy(usize),
    /// Cancelled: queries are queued, and the maximum number of slow queries is running.
    #[error("cancelled in favour of queued queries: {0} slow queries are running; retry later")]
    SlowLimit(usize),
    /// Too many concurrent queries of one client.
    #[error("{0} queries of this client are running; wait for one of them to end")]
    TooMany(usize),
    /// Cancelled by the client.
    #[error("cancelled: the client closed the connection")]
    Cancelled,
    /// The query uses an unsupported feature, for example an unknown service or function.
    #[error("{0}")]
    Unsupported(String),
    /// Requests to a service are forbidden.
    #[error("{0}")]
    Refused(String),
    /// A service failed.
    #[error("{0}")]
    Service(String),
    /// The worker process of the query failed. Other queries are not affected.
    #[error("the worker process of this query failed: {0}; simplify the query, or retry later")]
    Worker(String),
    /// The evaluation failed.
    #[error("{0}")]
    Evaluation(String),
}

impl From<ServiceError> for SparqlError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Refused(reason) => Self::Refused(reason),
            ServiceError::Wrong(reason) => Self::Unsupported(reason),
            ServiceError::TooLarge(reason) | ServiceError::Failed(reason) => Self::Service(reason),
        }
    }
}

impl From<QueryEvaluationError> for SparqlError {
    fn from(error: QueryEvaluationError) -> Self {
        match error {
            QueryEvaluationError::Service(error) => match error.downcast::<ServiceError>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::Service(error.to_string()),
            },
            QueryEvaluationError::UnboundService
            | QueryEvaluationError::InvalidServiceName(_)
            | QueryEvaluationError::UnsupportedService(_)
            | QueryEvaluationError::UnsupportedCustomFunction(_)
            | QueryEvaluationError::UnsupportedCustomFunctionArity { .. } => {
                Self::Unsupported(error.to_string())
            }
            // Its message names the commands that list and repair the damage.
            QueryEvaluationError::Dataset(error) => match error.downcast::<StorageError>() {
                Ok(error) => Self::Evaluation(StoreError::from(*error).to_string()),
                Err(error) => Self::Evaluation(error.to_string()),
            },
            other => Self::Evaluation(other.to_string()),
        }
    }
}

/// Query engine of an opened store, with permits and cached statistics.
pub struct QueryEngine {
    store: Arc<Store>,
    /// Permits for expensive queries.
    admission: Arc<Admission>,
    /// Permits for queries of bounded cost, and for all queries until their cost is known.
    bounded_admission: Arc<Admission>,
    /// Expensive queries that equal ones can join.
    shared_answers: Arc<SharedAnswers>,
    statistics: StatisticsCache,
    /// Processes that evaluate expensive queries. Without them, this process evaluates them.
    workers: Option<Pool>,
    /// If true, this process is such a worker, which is killed if its query does not end.
    can_be_killed: bool,
}

impl QueryEngine {
    /// Creates the engine of a store. All queries of a process go through one engine, since limits count per engine.
    #[must_use]
    pub fn new(store: Arc<Store>) -> Arc<Self> {
        Arc::new(Self::with_pool(store, None))
    }

    /// Creates the engine of a store whose expensive queries are evaluated by worker processes: those of a [`QueryWorker`] for the
    /// home of the store. Queries whose services have no [`Services::worker_settings`] are evaluated in this process.
    ///
    /// # Errors
    /// [`StoreError::InMemory`] if the store is in memory, and other errors if it cannot be read by other processes.
    pub fn with_workers(store: Arc<Store>, workers: Pool) -> Result<Arc<Self>, StoreError> {
        store.view()?;
        Ok(Arc::new(Self::with_pool(store, Some(workers))))
    }

    /// Creates the engine of a worker process.
    fn in_worker(store: Arc<Store>) -> Arc<Self> {
        Arc::new(Self {
            can_be_killed: true,
            ..Self::with_pool(store, None)
        })
    }

    fn with_pool(store: Arc<Store>, workers: Option<Pool>) -> Self {
        Self {
            store,
            admission: Arc::default(),
            bounded_admission: Arc::new(Admission::with_slots_for_all()),
            shared_answers: Arc::default(),
            statistics: StatisticsCache::default(),
            workers,
            can_be_killed: false,
        }
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Reads the counts of every graph, from which queries over one pattern are answered. Otherwise the first such query reads them
    /// and takes longer.
    pub fn prepare_statistics(&self) -> Result<(), StoreError> {
        self.statistics.prepare(&self.store)
    }

    /// Evaluates a query and collects the answer; blocks at most until the deadline.
    pub fn evaluate(
        self: &Arc<Self>,
        request: &QueryRequest,
        limits: &SparqlLimits,
    ) -> Result<Answer, SparqlError> {
        self.stream(request, limits, &Cancellation::default())?
            .whole()
    }

    /// Starts the evaluation of a query. Blocks until the form of the answer is known, at most until the deadline.
    pub fn stream(
        self: &Arc<Self>,
        request: &QueryRequest,
        limits: &SparqlLimits,
        cancellation: &Cancellation,
    ) -> Result<AnswerStream, SparqlError> {
        check_size(&request.query, limits)?;
        let permit_request = PermitRequest {
            client: request.client,
            shape: None,
            cancellation: cancellation.clone(),
        };
        let permit = Permit::acquire(
            &self.bounded_admission,
            &permit_request,
            &limits.for_bounded_queries(),
        )?;
        let (sender, receiver) = sync_channel(stream::MAX_WAITING_BATCHES);
        let (engine, request, bounds) = (Arc::clone(self), request.clone(), limits.clone());
        let cancelled = cancellation.clone();
        thread::Builder::new()
            .name("sparql".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let mut sink = Sink::new(Output::Channel(sender), &bounds);
                let outcome =
                    catch_panic(|| engine.answer(permit, &request, &bounds, &cancelled, &mut sink));
                // The receiver of the answer may close the home, which services hold, too.
                drop(request);
                drop(engine);
                sink.end(outcome);
            })
            .map_err(evaluation_error)?;
        let answer = AnswerStream::receive_from(receiver, limits, cancellation);
        if answer.is_err() {
            cancellation.cancel();
        }
        answer
    }

    /// Answers a query in its thread. A query that is not of bounded cost releases its first permit and acquires another.
    fn answer(
        self: &Arc<Self>,
        permit: Permit,
        request: &QueryRequest,
        limits: &SparqlLimits,
        cancellation: &Cancellation,
        sink: &mut Sink<'_>,
    ) -> Result<(), SparqlError> {
        let planned = plan_query(self, request, limits)?;
        let services = request.services.as_ref().filter(|_| planned.is_federated);
        let settings = services.map(|services| services.worker_settings());
        // A worker needs the settings to create the services.
        let can_leave = settings.as_ref().is_none_or(Option::is_some);
        let pool = self.workers.as_ref().filter(|_| can_leave);
        let uses_memory = pool.is_none();
        if planned.is_bounded {
            let permit = Arc::new(permit);
            send_admission(&permit, uses_memory, cancellation, sink)?;
            return evaluate_query(self, planned, request, limits, cancellation, sink);
        }
        drop(permit);
        let shape = planned.shape;
        let Some(pool) = pool else {
            let permit = self.acquire_permit(shape, request, limits, cancellation)?;
            send_admission(&permit, uses_memory, cancellation, sink)?;
            return permit
                .measure(|| evaluate_query(self, planned, request, limits, cancellation, sink));
        };
        let view = self.store.view().map_err(evaluation_error)?;
        // Statistics of a federated query are read after its services are resolved.
        let may_use = planned.uses_statistics || planned.is_federated;
        let statistics = if may_use {
            limits.statistics
        } else {
            Statistics::Never
        };
        let limits = SparqlLimits {
            statistics,
            ..limits.clone()
        };
        let query = WorkerQuery {
            pool,
            view: &view,
            request,
            services: settings.flatten(),
            limits: &limits,
            shape,
        };
        let is_repeatable = planned.is_repeatable;
        // The worker plans the query itself.
        drop(planned);
        if is_repeatable {
            self.answer_once(&query, cancellation, sink)
        } else {
            self.answer_in_worker(&query, None, None, cancellation, sink)
        }
    }

    /// Answers a query by a worker, or by the answer of an equal query that is being evaluated.
    fn answer_once(
        &self,
        query: &WorkerQuery<'_>,
        cancellation: &Cancellation,
        sink: &mut Sink<'_>,
    ) -> Result<(), SparqlError> {
        let mut sharing: Option<Arc<Permit>> = None;
        loop {
            let key = SharedKey::new(query.view, query.request, query.limits);
            let waiting = match self.shared_answers.join(key) {
                Role::First(recorder) => {
                    let recorder = Some(recorder);
                    return self.answer_in_worker(query, sharing, recorder, cancellation, sink);
                }
                Role::Waiting(waiting) => waiting,
            };
            if sharing.is_none() {
                let client = query.request.client;
                let permit = Permit::acquire_sharing(&self.admission, client, query.limits)?;
                let Some(permit) = permit.map(Arc::new) else {
                    // Otherwise, the other evaluation would go on for this query, too.
                    drop(waiting);
                    return self.answer_in_worker(query, None, None, cancellation, sink);
                };
                send_admission(&permit, false, cancellation, sink)?;
                sharing = Some(permit);
            }
            match waiting.wait_for_outcome(cancellation) {
                Some(SharedOutcome::Ended(answer)) => {
                    return worker::forward_answer(&answer?, sink);
                }
                Some(SharedOutcome::TooLarge) => {
                    return self.answer_in_worker(query, sharing, None, cancellation, sink);
                }
                // The evaluation begins again, for one of the queries that waited.
                Some(SharedOutcome::Cancelled) => {}
                None => return Err(SparqlError::Cancelled),
            }
        }
    }

    /// Answers a query by a worker, when it has a permit. `sharing` is the permit of a query that waited for the answer of an equal
    /// one. Without a permit, queries that wait for this one are answered on their own.
    fn answer_in_worker(
        &self,
        query: &WorkerQuery<'_>,
        sharing: Option<Arc<Permit>>,
        recorder: Option<Recorder>,
        cancellation: &Cancellation,
        sink: &mut Sink<'_>,
    ) -> Result<(), SparqlError> {
        let permit = match sharing {
            Some(permit) => {
                let request = permit_request(query.shape, query.request, cancellation);
                permit.run(&request, query.limits)?;
                permit
            }
            None => self.acquire_permit(query.shape, query.request, query.limits, cancellation)?,
        };
        send_admission(&permit, false, cancellation, sink)?;
        permit.measure(|| worker::evaluate_in_worker(query, &permit, recorder, cancellation, sink))
    }

    /// Acquires a permit for an expensive query.
    fn acquire_permit(
        &self,
        shape: Shape,
        request: &QueryRequest,
        limits: &SparqlLimits,
        cancellation: &Cancellation,
    ) -> Result<Arc<Permit>, SparqlError> {
        let request = permit_request(shape, request, cancellation);
        Permit::acquire(&self.admission, &request, limits).map(Arc::new)
    }
}

/// Returns the request for a permit of an expensive query. A part of a query that has a permit does not wait for a slow one, which
/// that query may have.
fn permit_request(
    shape: Shape,
    request: &QueryRequest,
    cancellation: &Cancellation,
) -> PermitRequest {
    PermitRequest {
        client: request.client,
        shape: Some(shape).filter(|_| !request.is_part),
        cancellation: cancellation.clone(),
    }
}

/// Sends the admission to the receiver, which starts the deadline. The evaluation keeps the permit, too: it may end later than its
/// receiver.
fn send_admission(
    permit: &Arc<Permit>,
    uses_memory: bool,
    cancellation: &Cancellation,
    sink: &mut Sink<'_>,
) -> Result<(), SparqlError> {
    let admitted = Admitted {
        permit: Arc::clone(permit),
        uses_memory,
    };
    if cancellation.is_cancelled() || sink.forward(Part::Admitted(admitted)).is_break() {
        return Err(SparqlError::Cancelled);
    }
    sink.set_permit(permit);
    Ok(())
}

/// Converts a panic of the evaluation into an error: the client gets an answer, and the thread releases its permit.
fn catch_panic(evaluate: impl FnOnce() -> Result<(), SparqlError>) -> Result<(), SparqlError> {
    catch_unwind(AssertUnwindSafe(evaluate)).unwrap_or_else(|_| {
        Err(SparqlError::Evaluation(
            "the evaluation failed by an internal error; simplify the query".to_owned(),
        ))
    })
}

/// Inputs of an evaluation.
#[derive(Clone)]
struct EvaluationContext {
    engine: Arc<QueryEngine>,
    visible: Arc<Visible>,
    names: Arc<GraphNames>,
    token: CancellationToken,
    deadline: Instant,
    /// Row source of each `SERVICE`.
    service_rows: Vec<(NamedNode, Arc<ServiceRows>)>,
}

impl EvaluationContext {
    /// Returns true if a term is the subject or object of a triple in a graph; `None` is the default graph. Also if the store cannot be
    /// read: then the evaluation fails with the reason.
    fn is_node(&self, term: &Term, graph: Option<&NamedNode>) -> bool {
        let store = self.engine.store.oxigraph();
        let graphs = match graph {
            Some(graph) => std::slice::from_ref(graph),
            None => self.visible.default.as_slice(),
        };
        graphs.iter().any(|graph| {
            let graph = Some(graph.as_ref().into());
            let subject = match term {
                Term::NamedNode(node) => Some(node.as_ref().into()),
                Term::BlankNode(node) => Some(node.as_ref().into()),
                Term::Literal(_) | Term::Triple(_) => None,
            };
            subject.is_some()
                && store
                    .quads_for_pattern(subject, None, None, graph)
                    .next()
                    .is_some()
                || store
                    .quads_for_pattern(None, None, Some(term.as_ref()), graph)
                    .next()
                    .is_some()
        })
    }

    /// Returns the failure of a service that the evaluation has read. Parts of the evaluation ignore it.
    fn service_failure(&self) -> Option<ServiceError> {
        self.service_rows
            .iter()
            .find_map(|(_, rows)| rows.failure())
    }

    fn prepare(&self, mut query: Query) -> PreparedSparqlQuery {
        let functions = functions::replace_calls(&mut query);
        // It also replaces blank nodes by variables, as the functions after it require.
        cancellation::insert_filters(&mut query);
        path_rows::expand(&mut query, &|node, graph| self.is_node(node, graph));
        self.names.bind_graphs(&mut query);
        paths::bind_starts(&mut query, self.engine.can_be_killed);
        ordering::use_keys(&mut query);
        let plain = SparqlEvaluator::new().with_cancellation_token(self.token.clone());
        let computing =
            ordering::with_function(geometry::with_functions(statistics::with_functions(plain)));
        let mut evaluator =
            cancellation::with_function(functions.register(computing), self.token.clone());
        for (name, rows) in &self.service_rows {
            evaluator = evaluator.with_service_handler(name.clone(), Reader(Arc::clone(rows)));
        }
        let mut prepared = evaluator.for_query(query);
        let default = self
            .visible
            .default
            .iter()
            .cloned()
            .map(GraphName::NamedNode)
            .collect();
        prepared.dataset_mut().set_default_graph(default);
        if let Some(named) = self.names.readable_graphs() {
            prepared.dataset_mut().set_available_named_graphs(named);
        }
        prepared
    }
}

fn evaluation_error(error: impl fmt::Display) -> SparqlError {
    SparqlError::Evaluation(error.to_string())
}

/// Runs a function in a thread with the stack that the parser needs for the permitted nesting.
fn on_deep_stack<T: Send>(run: impl FnOnce() -> T + Send) -> Result<T, SparqlError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("parser".to_owned())
            .stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, run).map_err(evaluation_error)?;
        thread
            .join()
            .map_err(|_| evaluation_error("the parser panicked"))
    })
}

/// Returns the error of a query that cannot be parsed.
fn syntax_error(query: &str, error: &dyn std::fmt::Display) -> SparqlError {
    let error = SyntaxError::new(query, &error.to_string());
    match error.cause {
        SyntaxErrorCause::Update => SparqlError::Refused(error.to_string()),
        _ => SparqlError::Syntax(error.to_string()),
    }
}

/// A parsed query and its properties, before it is evaluated.
struct PlannedQuery {
    query: Query,
    graphs: Arc<Graphs>,
    visible: Arc<Visible>,
    /// If true, services answer parts of it.
    is_federated: bool,
    /// If true, statistics answer parts of it.
    uses_statistics: bool,
    /// If true, its cost is bounded.
    is_bounded: bool,
    /// If true, its answer depends on the store only.
    is_repeatable: bool,
    shape: Shape,
}

/// Parses a query, checks its size, and replaces parts that statistics answer.
fn plan_query(
    engine: &Arc<QueryEngine>,
    request: &QueryRequest,
    limits: &SparqlLimits,
) -> Result<PlannedQuery, SparqlError> {
    let parser = SparqlParser::new()
        .with_base_iri(engine.store.iris().base())
        .map_err(evaluation_error)?;
    let text = select_aliases::without_mark(&request.query);
    let mut query =
        select_aliases::parse_query(parser, text).map_err(|error| syntax_error(text, &error))?;
    columns::order_columns(&mut query, text);
    Cost::from_query(&query).check(limits)?;
    let graphs = engine
        .statistics
        .graphs(&engine.store)
        .map_err(evaluation_error)?;
    if let Some(dataset) = graphs.find_index_only(request, &query) {
        return Err(SparqlError::Unsupported(format!(
            "the content of {dataset} is index-only: it is not in the RDF store, and cannot be queried; download it, or load it \
             without --no-store"
        )));
    }
    let visible = graphs.visible(request, &query);
    graphs.resolve(&mut query, &visible);
    let services = federation::services_of(request);
    federation::expand(&mut query, services.as_ref(), limits)?;
    let shape = Shape::from_query(&query);
    let is_federated = shape.is_federated;
    let is_repeatable = !is_federated && is_repeatable(&query);
    let mut uses_statistics = false;
    if !is_federated {
        let before = query.clone();
        statistics::answer_first(engine, &graphs, &mut query, &visible, limits)
            .map_err(evaluation_error)?;
        uses_statistics = query != before;
    }
    let is_bounded = bounded::is_bounded(&query, services.as_ref(), limits);
    Ok(PlannedQuery {
        query,
        graphs,
        visible: Arc::new(visible),
        is_federated,
        uses_statistics,
        is_bounded,
        is_repeatable,
        shape,
    })
}

/// Evaluates a query in this process.
fn evaluate_query(
    engine: &Arc<QueryEngine>,
    planned: PlannedQuery,
    request: &QueryRequest,
    limits: &SparqlLimits,
    cancellation: &Cancellation,
    sink: &mut Sink<'_>,
) -> Result<(), SparqlError> {
    let PlannedQuery {
        mut query,
        graphs,
        visible,
        is_federated,
        ..
    } = planned;
    let names = Arc::new(GraphNames::new(&graphs, &visible, engine.store.pointers()));
    let (engine, token) = (Arc::clone(engine), cancellation.token());
    let deadline = deadline_after(limits.deadline);
    let context = EvaluationContext {
        engine,
        visible,
        names,
        token,
        deadline,
        service_rows: Vec::new(),
    };
    let federated = federation::resolve(&mut query, context, request, limits)?;
    let context = &federated.evaluation;
    if is_federated {
        // After `SERVICE` is resolved: patterns sent to other services are not counted here.
        statistics::answer_first(
            &context.engine,
            &graphs,
            &mut query,
            &context.visible,
            limits,
        )
        .map_err(evaluation_error)?;
    }
    let results = context
        .prepare(query)
        .on_store(context.engine.store.oxigraph())
        .execute()?;
    // Parts of an evaluation ignore failures of services. So they are checked before the head is sent, and after the
    // last row.
    if let Some(failure) = context.service_failure() {
        return Err(failure.into());
    }
    sink.take(results)?;
    match context.service_failure() {
        Some(failure) => Err(failure.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::Iris;

    fn evaluate(engine: &Arc<QueryEngine>, query: String) -> Result<Answer, SparqlError> {
        let limits = SparqlLimits {
            concurrent: 1,
            ..SparqlLimits::default()
        };
        engine.evaluate(
            &QueryRequest {
                query,
                ..QueryRequest::default()
            },
            &limits,
        )
    }

    #[test]
    fn a_panic_is_an_error() {
        let outcome = catch_panic(|| panic!("no total order"));
        assert!(
            matches!(&outcome, Err(SparqlError::Evaluation(why)) if why.contains("internal error")),
            "{outcome:?}"
        );
    }

    #[test]
    fn literals_of_mixed_datatypes_are_sorted() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let engine = QueryEngine::new(Arc::new(
            Store::in_memory(folder.path(), iris).expect("a store"),
        ));
        let sorted = evaluate(
            &engine,
            "SELECT ?x { VALUES ?x { 3 '2' 1 'b' 2 '1' 'a' } } ORDER BY ?x".to_owned(),
        );
        let Ok(Answer::Solutions { rows, .. }) = sorted else {
            panic!("{sorted:?}")
        };
        let values: Vec<String> = rows
            .iter()
            .filter_map(|row| match &row[0] {
                Some(Term::Literal(literal)) => Some(literal.value().to_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(values, ["1", "2", "3", "1", "2", "a", "b"]);
    }

    #[test]
    fn a_syntax_error_is_readable() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let engine = QueryEngine::new(Arc::new(
            Store::in_memory(folder.path(), iris).expect("a store"),
        ));
        for query in [
            "",
            "S",
            "SELECT",
            "SELECT * WHERE { ?s ?p ?o",
            "ASK { ?s ?p ?o FILTER(",
        ] {
            let error = evaluate(&engine, query.to_owned())
                .expect_err("a syntax error")
                .to_string();
            assert!(
                !error.contains("[_]") && error.contains("line 1, column "),
                "{query}: {error}"
            );
        }
    }

    #[test]
    fn damage_is_reported_with_its_remedy() {
        let error = StorageError::Io(io::Error::other("Corruption: block checksum mismatch"));
        let reported =
            SparqlError::from(QueryEvaluationError::Dataset(Box::new(error))).to_string();
        assert!(reported.contains("`lodeseek repair`"), "{reported}");
    }

    #[test]
    fn any_panic_is_an_error() {
        let outcome = catch_panic(|| panic!("out of order"));
        assert!(
            matches!(outcome, Err(SparqlError::Evaluation(why)) if why.contains("internal error"))
        );
    }

    #[test]
    fn an_open_path_ends_soon_after_its_deadline() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let engine = QueryEngine::new(Arc::new(
            Store::in_memory(folder.path(), iris).expect("a store"),
        ));
        let node = |number: usize| NamedNode::new_unchecked(format!("x:{}", number % 200));
        let graph = engine.store.iris().catalog();
        for edge in 0..2_000 {
            let quad = oxrdf::Quad::new(
                node(edge),
                node(0),
                node(edge * 79 + edge / 200),
                graph.clone(),
            );
            engine.store.oxigraph().insert(&quad).expect("inserted");
        }
        let limits = SparqlLimits {
            concurrent: 1,
            deadline: Duration::from_millis(20),
            ..SparqlLimits::default()
        };
        let query =
            "SELECT (COUNT(*) AS ?n) { GRAPH <catalog> { ?a (<x:p>|!<x:p>)* ?b } }".to_owned();
        let outcome = engine.evaluate(
            &QueryRequest {
                query,
                ..QueryRequest::default()
            },
            &limits,
        );
        assert!(
            matches!(outcome, Err(SparqlError::Deadline(_))),
            "{outcome:?}"
        );
        let soon = SparqlLimits {
            queue_timeout: Duration::from_secs(5),
            ..limits
        };
        let next = engine.evaluate(
            &QueryRequest {
                query: "ASK { ?a ?p ?b . ?b ?q ?c }".to_owned(),
                ..QueryRequest::default()
            },
            &soon,
        );
        assert!(next.is_ok(), "the permit is free: {next:?}");
    }
}
