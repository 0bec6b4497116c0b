//! Evaluation in worker processes.
//!
//! The engine sends the text of a query with its limits to a worker, which reads the store by a view of its own and returns the answer
//! part by part. The services of a worker call the process of the engine, because a worker has neither network nor index.

use super::stream::{Cancellation, Part, Sink};
use super::{
    Provenance, QueryEngine, QueryRequest, Services, SparqlError, SparqlLimits, WorkerServices,
    catch_panic, evaluate, plan, wire,
};
use lodeseek_store::{Store, StoreView};
use lodeseek_worker::{AnswerCall, Call, Handler, Pool, Task, TaskContext, WorkerError};
use oxrdf::NamedNode;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Query that is sent to a worker.
#[derive(Serialize, Deserialize)]
struct RemoteQuery {
    /// Folder of the view of the store.
    folder: PathBuf,
    query: String,
    default_graphs: Vec<String>,
    named_graphs: Vec<String>,
    limits: SparqlLimits,
    /// Settings of its services. `None` if it has no services.
    services: Option<String>,
    provenance: Provenance,
}

impl RemoteQuery {
    fn request(self, services: Option<Arc<dyn Services>>) -> QueryRequest {
        let nodes =
            |graphs: Vec<String>| graphs.into_iter().map(NamedNode::new_unchecked).collect();
        QueryRequest {
            query: self.query,
            default_graphs: nodes(self.default_graphs),
            named_graphs: nodes(self.named_graphs),
            services,
            provenance: self.provenance,
            client: None,
        }
    }
}

/// Evaluates a query in a worker and forwards its answer.
pub(super) fn evaluate_in_worker(
    pool: &Pool,
    view: &StoreView,
    request: &QueryRequest,
    services: Option<String>,
    limits: &SparqlLimits,
    cancellation: &Cancellation,
    sink: &mut Sink<'_>,
) -> Result<(), SparqlError> {
    let texts = |graphs: &[NamedNode]| {
        graphs
            .iter()
            .map(|graph| graph.as_str().to_owned())
            .collect()
    };
    let query = RemoteQuery {
        folder: view.folder().to_owned(),
        query: request.query.clone(),
        default_graphs: texts(&request.default_graphs),
        named_graphs: texts(&request.named_graphs),
        limits: limits.clone(),
        services,
        provenance: request.provenance,
    };
    let task =
        serde_json::to_vec(&query).map_err(|error| SparqlError::Evaluation(error.to_string()))?;
    let is_cancelled = || cancellation.is_cancelled();
    let answer = request
        .services
        .clone()
        .filter(|_| query.services.is_some())
        .map(call_handler);
    let answer = answer.as_ref();
    let task = Task {
        task: &task,
        input: &[],
        time: limits.deadline,
        is_cancelled: &is_cancelled,
        answer,
    };
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
            outcome = Some(Err(SparqlError::Worker(format!(
                "its answer cannot be read: {error}"
            ))));
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

fn call_handler(services: Arc<dyn Services>) -> Arc<AnswerCall> {
    Arc::new(move |request: &[u8], call: Call| services.answer(request, &call))
}

fn worker_error(error: WorkerError, limits: &SparqlLimits) -> SparqlError {
    match error {
        WorkerError::Memory(megabytes) => SparqlError::Memory(megabytes),
        WorkerError::Time(_) => SparqlError::Deadline(limits.deadline),
        WorkerError::Cancelled => SparqlError::Cancelled,
        other => SparqlError::Worker(other.to_string()),
    }
}

/// Handler of a worker process: evaluates queries over views of a home.
pub struct QueryWorker {
    home: PathBuf,
    services: WorkerServices,
    opened: Mutex<Option<(PathBuf, Arc<QueryEngine>)>>,
}

impl QueryWorker {
    /// Creates the handler of a home, whose queries have these services.
    #[must_use]
    pub fn new(home: PathBuf, services: WorkerServices) -> Self {
        Self {
            home,
            services,
            opened: Mutex::new(None),
        }
    }

    /// Returns the engine of a view. The latest view remains open.
    fn engine(&self, folder: &Path) -> Result<Arc<QueryEngine>, SparqlError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, engine)) = opened
            .as_ref()
            .filter(|(known, _)| known.as_path() == folder)
        {
            return Ok(Arc::clone(engine));
        }
        *opened = None; // closed before the next is opened
        let store = Store::open_view(&self.home, folder);
        let store = store
            .map_err(|error| SparqlError::Worker(format!("it cannot read the store: {error}")))?;
        let engine = QueryEngine::new(Arc::new(store));
        *opened = Some((folder.to_owned(), Arc::clone(&engine)));
        Ok(engine)
    }

    fn answer(
        &self,
        query: RemoteQuery,
        context: &TaskContext,
        cancellation: &Cancellation,
        sink: &mut Sink<'_>,
    ) -> Result<(), SparqlError> {
        let engine = self.engine(&query.folder)?;
        let limits = query.limits.clone();
        let services = query
            .services
            .as_deref()
            .map(|settings| (self.services)(settings, context.calls()))
            .transpose();
        let services = services
            .map_err(|error| SparqlError::Worker(format!("it cannot create services: {error}")))?;
        let request = query.request(services);
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
        let outcome = catch_panic(|| self.answer(query, context, &cancellation, &mut sink));
        sink.end(outcome);
        lost.map_or(Ok(()), Err)
    }
}
