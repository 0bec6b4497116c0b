//! Evaluation in worker processes.
//!
//! The engine sends the text of a query with its limits to a worker, which reads the store by a view of its own and returns the answer
//! part by part. A worker has no services: queries with `SERVICE` are evaluated in the process of the engine.

use super::stream::{Cancellation, Part, Sink};
use super::{Provenance, QueryEngine, QueryRequest, SparqlError, SparqlLimits, catch_panic, evaluate, plan, wire};
use lodeseek_store::{Store, StoreView};
use lodeseek_worker::{Handler, Pool, Task, TaskContext, WorkerError};
use oxrdf::NamedNode;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A query as it goes to a worker.
#[derive(Serialize, Deserialize)]
struct RemoteQuery {
    /// Folder of the view of the store.
    folder: PathBuf,
    query: String,
    default_graphs: Vec<String>,
    named_graphs: Vec<String>,
    limits: SparqlLimits,
}

impl RemoteQuery {
    fn request(self) -> QueryRequest {
        let nodes = |graphs: Vec<String>| graphs.into_iter().map(NamedNode::new_unchecked).collect();
        QueryRequest {
            query: self.query,
            default_graphs: nodes(self.default_graphs),
            named_graphs: nodes(self.named_graphs),
            services: None,
            provenance: Provenance::None,
            client: None,
        }
    }
}

/// Evaluates a query in a worker, and passes on its answer.
pub(super) fn evaluate_in_worker(
    pool: &Pool,
    view: &StoreView,
    request: &QueryRequest,
    limits: &SparqlLimits,
    cancellation: &Cancellation,
    sink: &mut Sink<'_>,
) -> Result<(), SparqlError> {
    let texts = |graphs: &[NamedNode]| graphs.iter().map(|graph| graph.as_str().to_owned()).collect();
    let query = RemoteQuery {
        folder: view.folder().to_owned(),
        query: request.query.clone(),
        default_graphs: texts(&request.default_graphs),
        named_graphs: texts(&request.named_graphs),
        limits: limits.clone(),
    };
    let task = serde_json::to_vec(&query).map_err(|error| SparqlError::Evaluation(error.to_string()))?;
    let is_cancelled = || cancellation.is_cancelled();
    let task = Task { task: &task, input: &[], time: limits.deadline, is_cancelled: &is_cancelled };
    let mut outcome = None;
    let run = pool.run(&task, &mut |bytes| match wire::decode(&bytes) {
        Ok(Part::End { truncated }) => {
            outcome = Some(Ok(truncated));
            ControlFlow::Continue(())
        }
        Ok(Part::Failed(error)) => {
            outcome = Some(Err(error));
            ControlFlow::Continue(())
        }
        Ok(part) => sink.forward(part),
        Err(error) => {
            outcome = Some(Err(SparqlError::Worker(format!("its answer cannot be read: {error}"))));
            ControlFlow::Break(())
        }
    });
    match (run, outcome) {
        (Ok(()), Some(Ok(truncated))) => {
            sink.truncated = truncated;
            Ok(())
        }
        (_, Some(Err(error))) => Err(error),
        (Err(error), _) => Err(worker_error(error, limits)),
        (Ok(()), None) => Err(SparqlError::Worker("its answer has no end".to_owned())),
    }
}

fn worker_error(error: WorkerError, limits: &SparqlLimits) -> SparqlError {
    match error {
        WorkerError::Memory(megabytes) => SparqlError::Memory(megabytes),
        WorkerError::Time(_) => SparqlError::Deadline(limits.deadline),
        WorkerError::Cancelled => SparqlError::Cancelled,
        other => SparqlError::Worker(other.to_string()),
    }
}

/// The worker's side: evaluates queries over views of a home.
pub struct QueryWorker {
    home: PathBuf,
    opened: Mutex<Option<(PathBuf, Arc<QueryEngine>)>>,
}

impl QueryWorker {
    /// Creates the handler of a home.
    #[must_use]
    pub fn new(home: PathBuf) -> Self {
        Self { home, opened: Mutex::new(None) }
    }

    /// Returns the engine of a view. The last one stays open.
    fn engine(&self, folder: &Path) -> Result<Arc<QueryEngine>, SparqlError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, engine)) = opened.as_ref().filter(|(known, _)| known.as_path() == folder) {
            return Ok(Arc::clone(engine));
        }
        *opened = None; // closed before the next is opened
        let store = Store::open_view(&self.home, folder);
        let store = store.map_err(|error| SparqlError::Worker(format!("it cannot read the store: {error}")))?;
        let engine = QueryEngine::new(Arc::new(store));
        *opened = Some((folder.to_owned(), Arc::clone(&engine)));
        Ok(engine)
    }

    fn answer(&self, query: RemoteQuery, cancellation: &Cancellation, sink: &mut Sink<'_>) -> Result<(), SparqlError> {
        let engine = self.engine(&query.folder)?;
        let limits = query.limits.clone();
        let request = query.request();
        let planned = plan(&engine, &request, &limits)?;
        evaluate(&engine, planned, &request, &limits, cancellation, sink)
    }
}

impl Handler for QueryWorker {
    fn handle(&self, task: &[u8], context: &TaskContext) -> io::Result<()> {
        let query: RemoteQuery = serde_json::from_slice(task)?;
        let cancellation = Cancellation::default();
        let cancelled = cancellation.clone();
        context.on_cancel(move || cancelled.cancel());
        let mut lost = None;
        let send = |part: Part| match wire::encode(part)
            .and_then(|bytes| bytes.map_or(Ok(()), |bytes| context.send(&bytes)))
        {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                lost = Some(error);
                ControlFlow::Break(())
            }
        };
        let limits = query.limits.clone();
        let mut sink = Sink::new(Box::new(send), &limits);
        let outcome = catch_panic(|| self.answer(query, &cancellation, &mut sink));
        sink.end(outcome);
        lost.map_or(Ok(()), Err)
    }
}
