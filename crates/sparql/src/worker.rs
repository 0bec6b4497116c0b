//! Evaluation in worker processes.
//!
//! The engine sends the text of a query with its limits to a worker, which reads the store by a view of its own and returns the answer
//! part by part. The services of a worker call the process of the engine, because a worker has neither network nor index.

use super::admission::Permit;
use super::running_times::Shape;
use super::shared_answers::{Evaluation, Recorder, SharedAnswer};
use super::stream::{Cancellation, Output, Part, Sink};
use super::{
    Provenance, QueryEngine, QueryRequest, Services, SparqlError, SparqlLimits, WorkerServices,
    catch_panic, evaluate_query, evaluation_error, plan_query, wire,
};
use lodeseek_store::{Store, StoreView};
use lodeseek_worker::{AnswerCall, Call, Handler, Pool, Task, TaskContext, WorkerError};
use oxrdf::NamedNode;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a full channel is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);
/// Time that an evaluation may wait for its receiver before its timeout is no longer that of equal queries.
const MAX_RECEIVER_WAIT: Duration = Duration::from_secs(1);

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
    fn into_request(self, services: Option<Arc<dyn Services>>) -> QueryRequest {
        QueryRequest {
            query: self.query,
            default_graphs: graph_names(self.default_graphs),
            named_graphs: graph_names(self.named_graphs),
            services,
            provenance: self.provenance,
            client: None,
            is_part: false,
        }
    }
}

/// A query for a worker.
pub(super) struct WorkerQuery<'q> {
    pub(super) pool: &'q Pool,
    pub(super) view: &'q StoreView,
    pub(super) request: &'q QueryRequest,
    /// Settings of its services. `None` if it has no services.
    pub(super) services: Option<String>,
    pub(super) limits: &'q SparqlLimits,
    pub(super) shape: Shape,
}

impl WorkerQuery<'_> {
    fn serialize(&self) -> Result<Vec<u8>, SparqlError> {
        let query = RemoteQuery {
            folder: self.view.folder().to_owned(),
            query: self.request.query.clone(),
            default_graphs: graph_iris(&self.request.default_graphs),
            named_graphs: graph_iris(&self.request.named_graphs),
            limits: self.limits.clone(),
            services: self.services.clone(),
            provenance: self.request.provenance,
        };
        serde_json::to_vec(&query).map_err(evaluation_error)
    }
}

fn graph_names(iris: Vec<String>) -> Vec<NamedNode> {
    iris.into_iter().map(NamedNode::new_unchecked).collect()
}

fn graph_iris(graphs: &[NamedNode]) -> Vec<String> {
    graphs
        .iter()
        .map(|graph| graph.as_str().to_owned())
        .collect()
}

/// Evaluates a query in a worker and forwards its answer. If the answer is recorded for equal queries, it does not wait for the
/// client of this one, and goes on without it, as long as one of them waits.
pub(super) fn evaluate_in_worker(
    query: &WorkerQuery<'_>,
    permit: &Permit,
    mut recorder: Option<Recorder>,
    cancellation: &Cancellation,
    sink: &mut Sink<'_>,
) -> Result<(), SparqlError> {
    let bytes = query.serialize()?;
    let evaluation = recorder.as_ref().map(Recorder::evaluation);
    let control = Control {
        query,
        permit,
        cancellation,
        evaluation: evaluation.as_deref(),
        refusal: Mutex::new(None),
    };
    let answer = query
        .request
        .services
        .clone()
        .filter(|_| query.services.is_some())
        .map(call_handler);
    let task = Task {
        task: &bytes,
        input: &[],
        time: query.limits.deadline,
        is_cancelled: &|| control.is_cancelled(),
        answer: answer.as_ref(),
    };
    let waited = sink.waited;
    let mut outcome = None;
    let mut unsent = UnsentParts::default();
    let run = query
        .pool
        .run(&task, &mut |bytes| match wire::decode(&bytes) {
            Ok(Part::End { truncated }) => {
                outcome = Some(Ok(truncated));
                ControlFlow::Continue(())
            }
            Ok(Part::Failed(error)) => {
                outcome = Some(Err(error));
                ControlFlow::Continue(())
            }
            Ok(part) => {
                if let Some(recorder) = &mut recorder {
                    recorder.record(&bytes);
                }
                unsent.add(part, bytes);
                unsent.forward_ready(sink, &control)
            }
            Err(error) => {
                outcome = Some(Err(unreadable_error(&error)));
                ControlFlow::Break(())
            }
        });
    let outcome = match (run, outcome) {
        (Ok(()), Some(Ok(truncated))) => Ok(truncated),
        // The error of the evaluation explains more than that of its process.
        (_, Some(Err(error))) => Err(error),
        (Err(error), _) => Err(control
            .lock_refusal()
            .take()
            .unwrap_or_else(|| worker_error(error, query.limits))),
        (Ok(()), None) => Err(SparqlError::Worker("its answer has no end".to_owned())),
    };
    if let Some(mut recorder) = recorder {
        let is_timeout = matches!(outcome, Err(SparqlError::Deadline(_)));
        // Otherwise the recorder is dropped, and equal queries are evaluated again.
        if !is_timeout || sink.waited - waited < MAX_RECEIVER_WAIT {
            recorder.finish(&outcome);
        }
    }
    sink.truncated = outcome?;
    unsent.forward_all(sink)
}

/// Conditions under which an evaluation ends early.
struct Control<'c> {
    query: &'c WorkerQuery<'c>,
    permit: &'c Permit,
    cancellation: &'c Cancellation,
    /// Evaluation for which equal queries may wait.
    evaluation: Option<&'c Evaluation>,
    /// Reason to cancel an evaluation for which queries wait.
    refusal: Mutex<Option<SparqlError>>,
}

impl Control<'_> {
    fn is_awaited(&self) -> bool {
        self.evaluation.is_some_and(Evaluation::is_awaited)
    }

    /// Checks the client and, because the receiver that checks it may have left, the slow permit.
    fn is_cancelled(&self) -> bool {
        if self.cancellation.is_cancelled() && !self.is_awaited() {
            return true;
        }
        match self.permit.check_running_time(self.query.limits) {
            Ok(()) => false,
            Err(error) => {
                *self.lock_refusal() = Some(error);
                true
            }
        }
    }

    fn lock_refusal(&self) -> MutexGuard<'_, Option<SparqlError>> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parts for which the receiver was not ready, in their order.
#[derive(Default)]
struct UnsentParts {
    next: Option<Part>,
    /// The parts after the next one, as they came from the worker.
    rest: VecDeque<Vec<u8>>,
}

impl UnsentParts {
    fn add(&mut self, part: Part, bytes: Vec<u8>) {
        if self.next.is_none() {
            self.next = Some(part);
        } else {
            self.rest.push_back(bytes);
        }
    }

    /// Forwards parts. While other queries wait for the answer, those for which the receiver is not ready remain, and those that it left
    /// are dropped.
    fn forward_ready(&mut self, sink: &mut Sink<'_>, control: &Control<'_>) -> ControlFlow<()> {
        while let Some(part) = self.next.take() {
            match sink.try_forward(part) {
                Ok(ControlFlow::Continue(())) => self.next = self.decode_next(),
                Ok(ControlFlow::Break(())) if control.is_awaited() => self.rest.clear(),
                Ok(ControlFlow::Break(())) => return ControlFlow::Break(()),
                Err(part) => {
                    self.next = Some(part);
                    if control.is_awaited() {
                        // The evaluation continues, so it keeps its slot.
                        sink.set_waiting(false);
                        return ControlFlow::Continue(());
                    }
                    sink.wait(RETRY_INTERVAL);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Forwards all parts. Waits for the receiver.
    fn forward_all(mut self, sink: &mut Sink<'_>) -> Result<(), SparqlError> {
        while let Some(part) = self.next.take() {
            if sink.forward(part).is_break() {
                return Err(SparqlError::Cancelled);
            }
            self.next = self.decode_next();
        }
        Ok(())
    }

    fn decode_next(&mut self) -> Option<Part> {
        let bytes = self.rest.pop_front()?;
        wire::decode(&bytes).ok() // it was decoded before
    }
}

fn unreadable_error(error: &io::Error) -> SparqlError {
    SparqlError::Worker(format!("its answer cannot be read: {error}"))
}

/// Forwards the answer of an equal query.
pub(super) fn forward_answer(
    answer: &SharedAnswer,
    sink: &mut Sink<'_>,
) -> Result<(), SparqlError> {
    for bytes in answer.parts.iter() {
        let part = wire::decode(bytes).map_err(|error| unreadable_error(&error))?;
        if sink.forward(part).is_break() {
            return Err(SparqlError::Cancelled);
        }
    }
    sink.truncated = answer.truncated;
    Ok(())
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
    fn open_engine(&self, folder: &Path) -> Result<Arc<QueryEngine>, SparqlError> {
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
        let engine = QueryEngine::in_worker(Arc::new(store));
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
        let engine = self.open_engine(&query.folder)?;
        let limits = query.limits.clone();
        let services = query
            .services
            .as_deref()
            .map(|settings| (self.services)(settings, context.calls()))
            .transpose();
        let services = services
            .map_err(|error| SparqlError::Worker(format!("it cannot create services: {error}")))?;
        let request = query.into_request(services);
        let planned = plan_query(&engine, &request, &limits)?;
        evaluate_query(&engine, planned, &request, &limits, cancellation, sink)
    }
}

impl Handler for QueryWorker {
    fn handle(&self, task: &[u8], context: &TaskContext) -> io::Result<()> {
        let query: RemoteQuery = serde_json::from_slice(task)?;
        let cancellation = Cancellation::default();
        let cancelled = cancellation.clone();
        context.on_cancel(move || cancelled.cancel());
        let mut lost = None;
        let limits = query.limits.clone();
        let output = Output::Function(Box::new(|part| match send_part(context, part) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                lost = Some(error);
                ControlFlow::Break(())
            }
        }));
        let mut sink = Sink::new(output, &limits);
        let outcome = catch_panic(|| self.answer(query, context, &cancellation, &mut sink));
        sink.end(outcome);
        match lost {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

fn send_part(context: &TaskContext, part: Part) -> io::Result<()> {
    match wire::encode(part)? {
        Some(bytes) => context.send(&bytes),
        None => Ok(()),
    }
}
