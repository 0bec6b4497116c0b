//! SPARQL 1.1 queries over the store, bounded in time and size. <https://www.w3.org/TR/sparql11-query/>
//!
//! *Which graphs a query sees.* The default graph is the metadata: catalogue, profiles and snippets. The named graphs are
//! those three and the present content of every dataset; versions being replaced are invisible. The IRI of a dataset may
//! stand for its content's graph wherever a query or request names one.
//!
//! *Statistics answer first.* Counts and listings that are counted already are read off ([`SparqlLimits::statistics`]);
//! what remains of the query is evaluated.
//!
//! *Why a thread for each query?* Oxigraph looks at its cancellation token only when it reads the store, so a query that
//! computes without reading cannot be stopped. At the deadline the answer is given up at once, the token is set, and the
//! thread is left to end; until it does it holds one of the [`SparqlLimits::concurrent`] places.

mod graphs;
mod kept;
mod limits;
mod sources;
mod statistics;

pub use limits::{SparqlLimits, Statistics};
pub use sources::{PatternSources, Source, Sources, sources};

pub(super) use kept::Kept;

use super::Store;
use limits::{Cost, check_size};
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{CancellationToken, QueryEvaluationError, QueryResults, SparqlEvaluator};
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use spargebra::{Query, SparqlParser};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running query's memory is looked at.
const WATCH: Duration = Duration::from_millis(20);

/// A query and the graphs the request names; those win over `FROM` (SPARQL 1.1 Protocol, 2.1.4).
#[derive(Clone, Debug, Default)]
pub struct QueryRequest {
    /// The query.
    pub query: String,
    /// `default-graph-uri`.
    pub default_graphs: Vec<NamedNode>,
    /// `named-graph-uri`.
    pub named_graphs: Vec<NamedNode>,
}

/// An answer, whole in memory: [`SparqlLimits::rows`] bounds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Of an `ASK`.
    Boolean(bool),
    /// Of a `SELECT`.
    Solutions {
        /// The variables, in the order of the query.
        variables: Vec<Variable>,
        /// One value a variable.
        rows: Vec<Vec<Option<Term>>>,
        /// Whether there were more rows than the limit.
        truncated: bool,
    },
    /// Of a `CONSTRUCT` or `DESCRIBE`.
    Graph {
        /// The triples.
        triples: Vec<Triple>,
        /// Whether there were more triples than the limit.
        truncated: bool,
    },
}

impl Answer {
    /// Whether the answer was cut at the limit.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        matches!(self, Self::Solutions { truncated: true, .. } | Self::Graph { truncated: true, .. })
    }

    /// Writes solutions or a boolean in one of the result formats; `None` for a graph, which is RDF.
    #[must_use]
    pub fn write_results(&self, media_type: &str) -> Option<io::Result<Vec<u8>>> {
        let format = QueryResultsFormat::from_media_type(media_type)?;
        let serializer = QueryResultsSerializer::from_format(format);
        match self {
            Self::Boolean(value) => Some(serializer.serialize_boolean_to_writer(Vec::new(), *value)),
            Self::Solutions { variables, rows, .. } => {
                let write = || {
                    let mut writer = serializer.serialize_solutions_to_writer(Vec::new(), variables.clone())?;
                    for row in rows {
                        let bound = variables
                            .iter()
                            .zip(row)
                            .filter_map(|(v, term)| Some((v.as_ref(), term.as_ref()?.as_ref())));
                        writer.serialize(bound)?;
                    }
                    writer.finish()
                };
                Some(write())
            }
            Self::Graph { .. } => None,
        }
    }
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SparqlError {
    /// The query is not SPARQL.
    #[error("{0}")]
    Syntax(String),
    /// The query is larger or nested deeper than allowed.
    #[error("the query is refused: {0}")]
    TooLarge(String),
    /// The deadline passed.
    #[error("no answer within {} s; a LIMIT or a more specific pattern may help", .0.as_secs_f32())]
    Deadline(Duration),
    /// The answer takes too much memory.
    #[error(
        "the answer takes more than {0} MB of memory; a LIMIT without ORDER BY, or a more specific pattern, may help"
    )]
    Memory(u64),
    /// Too many queries at once.
    #[error("{0} queries are being answered; try again in a moment")]
    Busy(usize),
    /// The query asks for what this store does not offer: another service, an unknown function.
    #[error("{0}")]
    Unsupported(String),
    /// The evaluation failed.
    #[error("{0}")]
    Evaluation(String),
}

impl From<QueryEvaluationError> for SparqlError {
    fn from(error: QueryEvaluationError) -> Self {
        match error {
            QueryEvaluationError::Service(_)
            | QueryEvaluationError::UnboundService
            | QueryEvaluationError::InvalidServiceName(_)
            | QueryEvaluationError::UnsupportedService(_)
            | QueryEvaluationError::UnsupportedCustomFunction(_)
            | QueryEvaluationError::UnsupportedCustomFunctionArity { .. } => Self::Unsupported(error.to_string()),
            other => Self::Evaluation(other.to_string()),
        }
    }
}

/// One of a store's places for queries, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(running: &Arc<AtomicUsize>, limit: usize) -> Result<Self, SparqlError> {
        let taken = running
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |running| (running < limit).then_some(running + 1));
        taken.map(|_| Self(Arc::clone(running))).map_err(SparqlError::Busy)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Memory this process holds, in megabytes, where the system tells.
fn resident_megabytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages / 256) // pages of 4 KiB
}

/// Waits for an answer until the deadline, as long as memory does not run away.
fn wait(receiver: &Receiver<Result<Answer, SparqlError>>, limits: &SparqlLimits) -> Result<Answer, SparqlError> {
    let (started, before) = (Instant::now(), resident_megabytes());
    loop {
        match receiver.recv_timeout(WATCH.min(limits.deadline.saturating_sub(started.elapsed()))) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(SparqlError::Evaluation("the evaluation broke off".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) if started.elapsed() >= limits.deadline => {
                return Err(SparqlError::Deadline(limits.deadline));
            }
            Err(RecvTimeoutError::Timeout) => {
                let grown = resident_megabytes().zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
                if grown > limits.memory_megabytes {
                    return Err(SparqlError::Memory(limits.memory_megabytes));
                }
            }
        }
    }
}

/// Answers a query, blocking at most until the deadline.
pub fn evaluate(store: &Arc<Store>, request: &QueryRequest, limits: &SparqlLimits) -> Result<Answer, SparqlError> {
    check_size(&request.query, limits)?;
    let place = Place::take(&store.running, limits.concurrent)?;
    let token = CancellationToken::new();
    let (sender, receiver) = sync_channel(1);
    let (store, request, cancel) = (Arc::clone(store), request.clone(), token.clone());
    let bounds = limits.clone();
    thread::Builder::new()
        .name("sparql".to_owned())
        .stack_size(256 << 20) // the parser recurses; what the limits let through fits, and more
        .spawn(move || {
            let answer = answer(&store, &request, &bounds, cancel);
            drop(store); // whoever gets the answer may close the home
            drop(place);
            let _ = sender.send(answer); // nobody listens any more after the deadline
        })
        .map_err(|error| SparqlError::Evaluation(error.to_string()))?;
    let answer = wait(&receiver, limits);
    if answer.is_err() {
        token.cancel();
    }
    answer
}

fn answer(
    store: &Store,
    request: &QueryRequest,
    limits: &SparqlLimits,
    token: CancellationToken,
) -> Result<Answer, SparqlError> {
    let failed = |error: &dyn std::fmt::Display| SparqlError::Evaluation(error.to_string());
    let parser = SparqlParser::new().with_base_iri(store.iris.base()).map_err(|error| failed(&error))?;
    let mut query = parser.parse_query(&request.query).map_err(|error| SparqlError::Syntax(error.to_string()))?;
    Cost::of(&query).check(limits)?;
    let graphs = store.kept.graphs(store).map_err(|error| failed(&error))?;
    graphs.resolve(&mut query);
    let from = match &query {
        Query::Select { dataset, .. }
        | Query::Construct { dataset, .. }
        | Query::Describe { dataset, .. }
        | Query::Ask { dataset, .. } => dataset.clone(),
    };
    let (default, named) = graphs.visible(request, from);
    statistics::answer_first(store, &graphs, &mut query, (&default, &named), limits).map_err(|error| failed(&error))?;
    let evaluator = statistics::with_functions(SparqlEvaluator::new().with_cancellation_token(token));
    let mut prepared = evaluator.for_query(query);
    prepared.dataset_mut().set_default_graph(default.into_iter().map(GraphName::NamedNode).collect());
    prepared.dataset_mut().set_available_named_graphs(named.into_iter().map(NamedOrBlankNode::NamedNode).collect());
    let results = prepared.on_store(&store.oxigraph).execute()?;
    Ok(collect(results, limits.rows)?)
}

fn collect(results: QueryResults<'_>, limit: usize) -> Result<Answer, QueryEvaluationError> {
    Ok(match results {
        QueryResults::Boolean(value) => Answer::Boolean(value),
        QueryResults::Solutions(solutions) => {
            let variables = solutions.variables().to_vec();
            let mut rows = Vec::new();
            let mut truncated = false;
            for solution in solutions {
                let solution = solution?;
                if rows.len() == limit {
                    truncated = true;
                    break;
                }
                rows.push(variables.iter().map(|variable| solution.get(variable).cloned()).collect());
            }
            Answer::Solutions { variables, rows, truncated }
        }
        QueryResults::Graph(graph) => {
            let mut triples = Vec::new();
            let mut truncated = false;
            for triple in graph {
                let triple = triple?;
                if triples.len() == limit {
                    truncated = true;
                    break;
                }
                triples.push(triple);
            }
            Answer::Graph { triples, truncated }
        }
    })
}
