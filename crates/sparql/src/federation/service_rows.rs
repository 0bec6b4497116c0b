//! Rows of one `SERVICE`, requested block by block while they are read.
//!
//! A separate thread computes the bindings, splits them into blocks and sends requests; readers wait for rows. The
//! thread runs at most [`AHEAD`] rows ahead of its readers, so that a `LIMIT` ends a query before everything is
//! requested.
//!
//! *Block size.* The first block has [`FIRST`] rows and is sent alone. A block answered within [`BRISK`] doubles the
//! next one, up to [`MOST`]; one that takes longer than [`SLOW`] halves it; one that the service rejects as too large
//! is sent again in halves. From the second block on, up to [`AT_ONCE`] requests run concurrently.
//!
//! *Few rows and many bindings.* After [`WHOLE_AFTER`] blocks one request without bindings is sent, for up to [`MOST`]
//! rows. If these are all rows, no further block is needed, however many bindings there are.

use super::super::EvaluationContext;
use super::super::algebra::children;
use super::{Bindings, ServiceCall, ServiceError, ServiceRow, Services};
use oxigraph::sparql::{CancellationToken, QueryEvaluationError, QueryResults, QuerySolution, QuerySolutionIter};
use oxrdf::{NamedNode, Term, Variable};
use rustc_hash::FxHashSet;
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const FIRST: usize = 100;
const LEAST: usize = 10;
const MOST: usize = 2000;
/// Bytes of the bindings of a block at most.
const MOST_BYTES: usize = 256 << 10;
const BRISK: Duration = Duration::from_millis(500);
const SLOW: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 3;
const WHOLE_AFTER: usize = 4;
const AHEAD: usize = 5000;
/// Interval at which a waiting reader checks for cancellation.
const WATCH: Duration = Duration::from_millis(20);
/// Rows handed over at once.
const BATCH: usize = 256;

/// Whom a service is.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Constant(NamedNode),
    /// Each value of a variable that the context binds.
    Each(Variable),
}

/// The solutions that tell which bindings matter.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The shared variables.
    pub(super) keys: Vec<Variable>,
    /// Solutions with those variables, each once.
    pub(super) pattern: GraphPattern,
}

/// Inputs of the requesting thread.
pub(super) struct RowSourceInputs {
    pub(super) target: Target,
    pub(super) pattern: GraphPattern,
    pub(super) variables: Vec<Variable>,
    pub(super) silent: bool,
    /// `None`: nothing around it restricts it.
    pub(super) context: Option<Context>,
    pub(super) services: Arc<dyn Services>,
    pub(super) evaluation: EvaluationContext,
    pub(super) most_rows: usize,
}

/// The rows of a service, as far as they are there.
pub(crate) struct ServiceRows {
    /// The variables of a row: those of the pattern, and that of the service's name where it is one.
    pub(super) variables: Arc<[Variable]>,
    state: Mutex<State>,
    changed: Condvar,
    /// The query's token, and that of the feeds of the query.
    cancelled: [CancellationToken; 2],
}

#[derive(Default)]
struct State {
    rows: Vec<ServiceRow>,
    /// Up to which row somebody has asked.
    wanted: usize,
    done: bool,
    failure: Option<ServiceError>,
}

impl ServiceRows {
    pub(super) fn new(variables: Vec<Variable>, cancelled: [CancellationToken; 2]) -> Arc<Self> {
        Arc::new(Self { variables: variables.into(), state: Mutex::default(), changed: Condvar::new(), cancelled })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.iter().any(CancellationToken::is_cancelled)
    }

    fn is_over(&self) -> bool {
        self.is_cancelled() || self.lock().failure.is_some()
    }

    fn push(&self, rows: &mut Vec<ServiceRow>, most: usize) -> ControlFlow<()> {
        let mut state = self.lock();
        state.rows.append(rows);
        if state.rows.len() > most && state.failure.is_none() {
            state.failure = Some(ServiceError::Failed(format!("its answer has more than {most} rows")));
        }
        self.changed.notify_all();
        if state.failure.is_some() || self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn fail(&self, error: ServiceError) {
        self.lock().failure.get_or_insert(error);
        self.changed.notify_all();
    }

    fn finish(&self) {
        self.lock().done = true;
        self.changed.notify_all();
    }

    /// Waits until somebody is about to need more rows; `false` where nobody will.
    fn wait_for_readers(&self) -> bool {
        let mut state = self.lock();
        while state.failure.is_none() && !self.is_cancelled() {
            if state.rows.len() < state.wanted + AHEAD {
                return true;
            }
            state = self.changed.wait_timeout(state, WATCH).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Rows from a place on; none at the end.
    fn read(&self, from: usize) -> Result<Vec<ServiceRow>, QueryEvaluationError> {
        let mut state = self.lock();
        state.wanted = state.wanted.max(from + BATCH);
        self.changed.notify_all();
        loop {
            if from < state.rows.len() {
                let end = state.rows.len().min(from + BATCH);
                return Ok(state.rows[from..end].to_vec());
            }
            if let Some(failure) = &state.failure {
                return Err(QueryEvaluationError::Service(Box::new(failure.clone())));
            }
            if state.done {
                return Ok(Vec::new());
            }
            if self.is_cancelled() {
                return Err(QueryEvaluationError::Cancelled);
            }
            state = self.changed.wait_timeout(state, WATCH).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// All rows from the first on, waiting for those that are not there yet.
    pub(super) fn solutions(self: &Arc<Self>) -> QuerySolutionIter<'static> {
        let (feed, mut place, mut batch) = (Arc::clone(self), 0, Vec::new().into_iter());
        let variables = Arc::clone(&self.variables);
        let mut ended = false;
        let rows = std::iter::from_fn(move || {
            if ended {
                return None;
            }
            // Rows that are there already are combined without a look at the store, which is where a query is stopped.
            if feed.is_cancelled() {
                ended = true;
                return Some(Err(QueryEvaluationError::Cancelled));
            }
            if let Some(row) = batch.next() {
                return Some(Ok(QuerySolution::from((Arc::clone(&feed.variables), row))));
            }
            match feed.read(place) {
                Ok(rows) => {
                    place += rows.len();
                    batch = rows.into_iter();
                    batch.next().map(|row| Ok(QuerySolution::from((Arc::clone(&feed.variables), row))))
                }
                Err(error) => {
                    ended = true;
                    Some(Err(error))
                }
            }
        });
        QuerySolutionIter::new(variables, rows)
    }

    /// Fills a feed, until it is full or nobody reads it any more.
    pub(super) fn fill(self: &Arc<Self>, job: &RowSourceInputs) {
        let _finished = Finish(self);
        let asker = Asker { feed: self, job, size: AtomicUsize::new(FIRST), failed: AtomicBool::new(false) };
        match &job.context {
            Some(context) => {
                if let Err(error) = asker.request_bindings(context) {
                    self.fail(error);
                }
            }
            None => asker.ask_for_all(),
        }
    }
}

/// Guard that wakes readers when a thread ends early.
struct EndGuard<'f>(&'f ServiceRows);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(ServiceError::Failed("asking broke off".to_owned()));
        }
    }
}

/// Ends a feed however its thread ends.
struct Finish<'f>(&'f ServiceRows);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        drop(EndGuard(self.0));
        self.0.finish();
    }
}

/// A block: who is asked, for which bindings.
struct Block {
    service: NamedNode,
    bindings: Bindings,
}

struct Asker<'f> {
    feed: &'f ServiceRows,
    job: &'f RowSourceInputs,
    /// Rows of the next block.
    size: AtomicUsize,
    /// If true, a `SERVICE SILENT` failed.
    failed: AtomicBool,
}

impl Asker<'_> {
    fn ask_for_all(&self) {
        match &self.job.target {
            Target::Constant(service) => {
                self.request(&Block { service: service.clone(), bindings: Bindings::unrestricted() });
            }
            Target::Each(variable) => self.feed.fail(ServiceError::Failed(format!(
                "nothing outside SERVICE {variable} binds {variable}, so no service can be called"
            ))),
        }
    }

    /// Requests the bindings of a context: the first block alone, then several concurrently.
    fn request_bindings(&self, context: &Context) -> Result<(), ServiceError> {
        let query = Query::Select { dataset: None, pattern: context.pattern.clone(), base_iri: None };
        let failed = |error: QueryEvaluationError| match error {
            QueryEvaluationError::Service(error) => match error.downcast::<ServiceError>() {
                Ok(error) => *error,
                Err(error) => ServiceError::Failed(error.to_string()),
            },
            other => ServiceError::Failed(other.to_string()),
        };
        let results = self
            .job
            .evaluation
            .prepare(query)
            .on_store(self.job.evaluation.engine.store.oxigraph())
            .execute()
            .map_err(failed)?;
        let QueryResults::Solutions(solutions) = results else { return Ok(()) };
        let (sender, receiver) = sync_channel(0);
        let receiver = Mutex::new(receiver);
        let mut not_requested = thread::scope(|scope| {
            let mut blocks = Blocks {
                asker: self,
                context,
                scope,
                sender: Some(sender),
                receiver: &receiver,
                workers: 0,
                sent: 0,
                open: BTreeMap::new(),
                asked: self.may_request_all().then(FxHashSet::default),
                is_complete: false,
                not_requested: Vec::new(),
            };
            for solution in solutions {
                if blocks.is_complete || self.feed.is_over() {
                    break;
                }
                blocks.add(&solution.map_err(failed)?);
            }
            blocks.flush();
            Ok(std::mem::take(&mut blocks.not_requested))
        })?;
        if self.failed.load(Ordering::Relaxed) {
            let _ = self.feed.push(&mut not_requested, self.job.most_rows);
        }
        Ok(())
    }

    /// Requests a block; in halves if it is too large.
    fn request(&self, block: &Block) {
        if !self.feed.wait_for_readers() {
            return;
        }
        let started = Instant::now();
        match self.call(block) {
            Ok(()) => self.adapt(block.bindings.rows.len(), started.elapsed()),
            Err(ServiceError::TooLarge(_)) if block.bindings.rows.len() > 1 => {
                let half = block.bindings.rows.len() / 2;
                self.size.store(half.max(LEAST), Ordering::Relaxed);
                for rows in [&block.bindings.rows[..half], &block.bindings.rows[half..]] {
                    let bindings = Bindings { variables: block.bindings.variables.clone(), rows: rows.to_vec() };
                    self.request(&Block { service: block.service.clone(), bindings });
                }
            }
            // SILENT: as if the service had answered with one solution that binds nothing.
            Err(_) if self.job.silent => {
                self.failed.store(true, Ordering::Relaxed);
                let _ = self.feed.push(&mut self.nothing(block), self.job.most_rows);
            }
            Err(error) => self.feed.fail(error),
        }
    }

    fn adapt(&self, rows: usize, took: Duration) {
        let size = self.size.load(Ordering::Relaxed);
        if took < BRISK && rows >= size {
            self.size.store((size * 2).min(MOST), Ordering::Relaxed);
        } else if took > SLOW {
            self.size.store((size / 2).max(LEAST), Ordering::Relaxed);
        }
    }

    /// A call of a service for some bindings.
    fn call_of<'c>(&'c self, service: &'c NamedNode, bindings: &'c Bindings) -> ServiceCall<'c> {
        let RowSourceInputs { pattern, variables, evaluation, .. } = self.job;
        let (deadline, cancelled) = (evaluation.deadline, &evaluation.token);
        ServiceCall { service, pattern, variables, bindings, most: None, deadline, cancelled }
    }

    /// A row of a service as readers have it: with the name's variable, and provenance.
    fn complete(&self, row: &mut ServiceRow, endpoint: &Term) {
        row.resize(self.job.variables.len(), None);
        row.resize(self.feed.variables.len(), Some(endpoint.clone()));
    }

    /// Hands the rows of a block on, a batch at a time; those of a silent service only once all are there, since half an
    /// answer and an error are an error.
    fn call(&self, block: &Block) -> Result<(), ServiceError> {
        let job = self.job;
        let call = self.call_of(&block.service, &block.bindings);
        let endpoint: Term = block.service.clone().into();
        let mut rows = Vec::new();
        job.services.call(&call, &mut |mut row| {
            self.complete(&mut row, &endpoint);
            rows.push(row);
            if rows.len() < BATCH || job.silent {
                ControlFlow::Continue(())
            } else {
                self.feed.push(&mut rows, job.most_rows)
            }
        })?;
        let _ = self.feed.push(&mut rows, job.most_rows); // the next block detects a full buffer itself
        Ok(())
    }

    /// Returns true if a request for all rows is worth a trial: it is fast if there are few, and serves any number of
    /// bindings.
    fn may_request_all(&self) -> bool {
        let job = self.job;
        let Target::Constant(service) = &job.target else { return false };
        !job.silent && job.services.needs(service, &job.pattern).is_empty() && is_simple(&job.pattern)
    }

    /// Requests all rows and passes on those of bindings that were not requested yet. Returns true if the rows are
    /// complete; after a failure, or with too many rows, nothing has changed.
    fn request_all(&self, service: &NamedNode, keys: &[Variable], asked: &FxHashSet<Vec<GroundTerm>>) -> bool {
        let job = self.job;
        let all = Bindings::unrestricted();
        let call = ServiceCall { most: Some(MOST + 1), ..self.call_of(service, &all) };
        let mut rows: Vec<ServiceRow> = Vec::new();
        let called = job.services.call(&call, &mut |row| {
            rows.push(row);
            if rows.len() > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if called.is_err() || rows.len() > MOST {
            return false;
        }
        let places: Vec<Option<usize>> =
            keys.iter().map(|key| job.variables.iter().position(|variable| variable == key)).collect();
        let was_asked_for = |row: &ServiceRow| {
            let key = places.iter().map(|place| GroundTerm::try_from(row.get((*place)?)?.clone()?).ok());
            key.collect::<Option<Vec<_>>>().is_some_and(|key| asked.contains(&key))
        };
        let endpoint: Term = service.clone().into();
        let mut new: Vec<ServiceRow> = rows.into_iter().filter(|row| !was_asked_for(row)).collect();
        new.iter_mut().for_each(|row| self.complete(row, &endpoint));
        let _ = self.feed.push(&mut new, job.most_rows);
        true
    }

    /// The rows of a block as they are where the service adds nothing.
    fn nothing(&self, block: &Block) -> Vec<ServiceRow> {
        let name: Term = block.service.clone().into();
        let value = |variable: &Variable, row: &[GroundTerm]| match &self.job.target {
            Target::Each(target) if target == variable => Some(name.clone()),
            _ => {
                let place = block.bindings.variables.iter().position(|bound| bound == variable)?;
                Some(row[place].clone().into())
            }
        };
        let row = |row: &Vec<GroundTerm>| self.feed.variables.iter().map(|variable| value(variable, row)).collect();
        block.bindings.rows.iter().map(row).collect()
    }
}

/// Returns true if the first rows of a pattern arrive before all of them are computed.
fn is_simple(pattern: &GraphPattern) -> bool {
    matches!(pattern, GraphPattern::Bgp { .. } | GraphPattern::Join { .. } | GraphPattern::Filter { .. })
        && children(pattern).into_iter().all(is_simple)
}

/// Bindings on their way into blocks.
struct Blocks<'s, 'e, 'f> {
    asker: &'e Asker<'f>,
    context: &'e Context,
    scope: &'s thread::Scope<'s, 'e>,
    sender: Option<SyncSender<Block>>,
    receiver: &'e Mutex<Receiver<Block>>,
    workers: usize,
    sent: usize,
    open: BTreeMap<NamedNode, (Vec<Vec<GroundTerm>>, usize)>,
    /// Bindings requested so far, as long as all rows may still be requested.
    asked: Option<FxHashSet<Vec<GroundTerm>>>,
    /// If true, all rows were requested and received.
    is_complete: bool,
    /// Rows of a silent service for solutions that were never requested, used if it fails.
    not_requested: Vec<ServiceRow>,
}

impl Blocks<'_, '_, '_> {
    /// Adds a solution of the context. One with a blank node joins nothing, unless a silent service fails.
    fn add(&mut self, solution: &QuerySolution) {
        let job = self.asker.job;
        let service = match &job.target {
            Target::Constant(service) => service.clone(),
            Target::Each(variable) => match solution.get(variable) {
                Some(Term::NamedNode(service)) => service.clone(),
                // No service at all is one that fails.
                _ if job.silent => {
                    let _ = self.asker.feed.push(&mut vec![self.as_it_is(solution)], job.most_rows);
                    return;
                }
                other => {
                    let what = other.map_or_else(|| "nothing".to_owned(), ToString::to_string);
                    return self
                        .asker
                        .feed
                        .fail(ServiceError::Failed(format!("{variable} is {what}, which is no service")));
                }
            },
        };
        let keys = self.context.keys.iter().map(|key| GroundTerm::try_from(solution.get(key)?.clone()).ok());
        let Some(row) = keys.collect::<Option<Vec<GroundTerm>>>() else {
            if job.silent {
                self.not_requested.push(self.as_it_is(solution));
            }
            return;
        };
        let bytes: usize = row.iter().map(|term| term.to_string().len()).sum();
        let (rows, size) = self.open.entry(service.clone()).or_default();
        rows.push(row);
        *size += bytes;
        if rows.len() >= self.asker.size.load(Ordering::Relaxed) || *size > MOST_BYTES {
            let (rows, _) = self.open.remove(&service).unwrap_or_default();
            self.send(service, rows);
        }
    }

    /// The row that joins a solution of the context with nothing more.
    fn as_it_is(&self, solution: &QuerySolution) -> ServiceRow {
        let told = |variable: &Variable| {
            let is_target = matches!(&self.asker.job.target, Target::Each(target) if target == variable);
            (is_target || self.context.keys.contains(variable)).then(|| solution.get(variable).cloned()).flatten()
        };
        self.asker.feed.variables.iter().map(told).collect()
    }

    fn flush(&mut self) {
        for (service, (rows, _)) in std::mem::take(&mut self.open) {
            self.send(service, rows);
        }
        self.sender = None; // the workers end once what is sent is answered
    }

    /// The first block is sent from this thread, so that its duration sets the size of the next; workers send the
    /// others.
    fn send(&mut self, service: NamedNode, rows: Vec<Vec<GroundTerm>>) {
        if self.is_complete {
            return;
        }
        if self.sent == WHOLE_AFTER
            && let Some(asked) = self.asked.take()
            && self.asker.request_all(&service, &self.context.keys, &asked)
        {
            self.is_complete = true;
            return;
        }
        if let Some(asked) = &mut self.asked {
            asked.extend(rows.iter().cloned());
        }
        let block = Block { service, bindings: Bindings { variables: self.context.keys.clone(), rows } };
        self.sent += 1;
        if self.sent == 1 && matches!(self.asker.job.target, Target::Constant(_)) {
            return self.asker.request(&block);
        }
        if self.workers < AT_ONCE {
            self.workers += 1;
            let (asker, receiver) = (self.asker, self.receiver);
            self.scope.spawn(move || work(asker, receiver));
        }
        // Not by waiting alone: workers may have come to an end, all of them.
        let mut waiting = Some(block);
        while let (Some(sender), Some(block)) = (&self.sender, waiting.take()) {
            if let Err(TrySendError::Full(block)) = sender.try_send(block)
                && !self.asker.feed.is_over()
            {
                waiting = Some(block);
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

fn work(asker: &Asker<'_>, receiver: &Mutex<Receiver<Block>>) {
    let _alarm = EndGuard(asker.feed);
    loop {
        let block = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(block) = block else { return };
        asker.request(&block);
    }
}
