//! Rows of one `SERVICE`, requested block by block while they are read.
//!
//! A separate thread computes the bindings, splits them into blocks and sends requests; readers wait for rows. The thread runs at
//! most [`MAX_ROWS_AHEAD`] rows ahead of its readers, so that a `LIMIT` ends a query before everything is requested.
//!
//! *Block size.* The first block has [`FIRST_BLOCK_ROWS`] rows and is sent alone. A block answered within
//! [`MAX_FAST_RESPONSE_TIME`] doubles the next one, up to [`MAX_BLOCK_ROWS`]. One that takes longer than
//! [`MIN_SLOW_RESPONSE_TIME`] halves it. One that the service rejects as too large is sent again in halves. From the second block
//! on, up to [`MAX_CONCURRENT_REQUESTS`] requests run concurrently.
//!
//! *Few rows and many bindings.* After [`BLOCKS_BEFORE_FULL_REQUEST`] blocks one request without bindings is sent, for up to
//! [`MAX_BLOCK_ROWS`] rows. If these are all rows, no further block is needed.
//!
//! *Values that restrict nothing.* Bindings that no request can contain ([`join_keys`](super::join_keys)) are collected. One request
//! without bindings at the end serves all of them.

use super::super::EvaluationContext;
use super::super::algebra::{Variables, child_patterns};
use super::join_keys::{JoinRequest, canonical_term, is_unrestricted};
use super::{Bindings, ServiceCall, ServiceError, ServiceRow, Services};
use oxigraph::sparql::{
    CancellationToken, QueryEvaluationError, QueryResults, QuerySolution, QuerySolutionIter,
};
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

/// Rows of the first block.
const FIRST_BLOCK_ROWS: usize = 100;
/// Minimum size to which a slow block is halved.
const MIN_BLOCK_ROWS: usize = 10;
/// Maximum number of rows of a block.
const MAX_BLOCK_ROWS: usize = 2000;
/// Maximum size of the bindings of a block in bytes.
const MAX_BLOCK_BYTES: usize = 256 << 10;
/// Duration below which the next block is larger.
const MAX_FAST_RESPONSE_TIME: Duration = Duration::from_millis(500);
/// Duration above which the next block is smaller.
const MIN_SLOW_RESPONSE_TIME: Duration = Duration::from_secs(5);
/// Maximum number of concurrent requests to one service.
const MAX_CONCURRENT_REQUESTS: usize = 3;
/// Number of blocks after which all rows are requested at once.
const BLOCKS_BEFORE_FULL_REQUEST: usize = 4;
/// Maximum number of rows ahead of the readers.
const MAX_ROWS_AHEAD: usize = 5000;
/// Interval at which a waiting reader checks for cancellation.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of rows of a batch for readers.
const MAX_BATCH_ROWS: usize = 256;

/// Name of the service.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// An IRI.
    Constant(NamedNode),
    /// Each value of a variable that the context binds.
    Each(Variable),
}

/// Local solutions with which the rows of the service are joined.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The shared variables.
    pub(super) keys: Vec<Variable>,
    /// Those that the service needs, and receives as terms.
    pub(super) needed: Vec<Variable>,
    /// Pattern of the distinct solutions with those variables.
    pub(super) pattern: GraphPattern,
}

/// Inputs of the requesting thread.
pub(super) struct RowSourceInputs {
    pub(super) target: Target,
    pub(super) pattern: GraphPattern,
    pub(super) variables: Vec<Variable>,
    pub(super) silent: bool,
    /// Variables that other patterns bind in each solution of a failed silent service, which binds none. On the right of `MINUS` the
    /// variables of the left side are unbound: then nothing is removed.
    pub(super) bound_outside: Variables,
    /// `None` if no pattern restricts the service.
    pub(super) context: Option<Context>,
    pub(super) services: Arc<dyn Services>,
    pub(super) evaluation: EvaluationContext,
    pub(super) max_rows: usize,
}

/// Rows of a service received so far.
pub(crate) struct ServiceRows {
    /// Variables of a row: those of the pattern, the variable of the service's name, and that of the provenance.
    pub(super) variables: Arc<[Variable]>,
    state: Mutex<State>,
    changed: Condvar,
    /// Tokens of the query and of its services.
    cancelled: [CancellationToken; 2],
}

#[derive(Default)]
struct State {
    rows: Vec<ServiceRow>,
    /// Number of rows that readers have requested.
    requested: usize,
    done: bool,
    failure: Option<ServiceError>,
    /// If true, a reader received the failure.
    is_failure_read: bool,
}

impl ServiceRows {
    pub(super) fn new(variables: Vec<Variable>, cancelled: [CancellationToken; 2]) -> Arc<Self> {
        Arc::new(Self {
            variables: variables.into(),
            state: Mutex::default(),
            changed: Condvar::new(),
            cancelled,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.iter().any(CancellationToken::is_cancelled)
    }

    fn is_closed(&self) -> bool {
        self.is_cancelled() || self.lock().failure.is_some()
    }

    /// Appends rows. Fails the service if it has more than `max_rows`.
    fn push(&self, rows: &mut Vec<ServiceRow>, max_rows: usize) -> ControlFlow<()> {
        let mut state = self.lock();
        state.rows.append(rows);
        if state.rows.len() > max_rows && state.failure.is_none() {
            state.failure = Some(ServiceError::Failed(format!(
                "its answer has more than {max_rows} rows"
            )));
        }
        self.changed.notify_all();
        if state.failure.is_some() || self.is_cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn fail(&self, error: ServiceError) {
        self.lock().failure.get_or_insert(error);
        self.changed.notify_all();
    }

    /// Returns the failure, if a reader received it. `EXISTS` and `MINUS` of Oxigraph ignore errors of their patterns.
    pub(crate) fn failure(&self) -> Option<ServiceError> {
        let state = self.lock();
        state.failure.clone().filter(|_| state.is_failure_read)
    }

    fn finish(&self) {
        self.lock().done = true;
        self.changed.notify_all();
    }

    /// Waits until readers need more rows. Returns false if no more rows are needed.
    fn wait_for_readers(&self) -> bool {
        let mut state = self.lock();
        while state.failure.is_none() && !self.is_cancelled() {
            if state.rows.len() < state.requested + MAX_ROWS_AHEAD {
                return true;
            }
            state = self
                .changed
                .wait_timeout(state, CHECK_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        false
    }

    /// Returns the next rows from an index on; none at the end.
    fn read(&self, from: usize) -> Result<Vec<ServiceRow>, QueryEvaluationError> {
        let mut state = self.lock();
        state.requested = state.requested.max(from + MAX_BATCH_ROWS);
        self.changed.notify_all();
        loop {
            if from < state.rows.len() {
                let end = state.rows.len().min(from + MAX_BATCH_ROWS);
                // Copied, because several readers may read them.
                return Ok(state.rows[from..end].to_vec());
            }
            if let Some(failure) = state.failure.clone() {
                state.is_failure_read = true;
                return Err(QueryEvaluationError::Service(Box::new(failure)));
            }
            if state.done {
                return Ok(Vec::new());
            }
            if self.is_cancelled() {
                return Err(QueryEvaluationError::Cancelled);
            }
            state = self
                .changed
                .wait_timeout(state, CHECK_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Iterates over all rows, and waits for those that have not been received yet.
    pub(super) fn solutions(self: &Arc<Self>) -> QuerySolutionIter<'static> {
        let (source, mut place, mut batch) = (Arc::clone(self), 0, Vec::new().into_iter());
        let variables = Arc::clone(&self.variables);
        let mut ended = false;
        let rows = std::iter::from_fn(move || {
            if ended {
                return None;
            }
            // Oxigraph checks for cancellation when it reads the store. Joins of received rows do not read it.
            if source.is_cancelled() {
                ended = true;
                return Some(Err(QueryEvaluationError::Cancelled));
            }
            if let Some(row) = batch.next() {
                return Some(Ok(QuerySolution::from((
                    Arc::clone(&source.variables),
                    row,
                ))));
            }
            match source.read(place) {
                Ok(rows) => {
                    place += rows.len();
                    batch = rows.into_iter();
                    batch
                        .next()
                        .map(|row| Ok(QuerySolution::from((Arc::clone(&source.variables), row))))
                }
                Err(error) => {
                    ended = true;
                    Some(Err(error))
                }
            }
        });
        QuerySolutionIter::new(variables, rows)
    }

    /// Requests rows until all are received or no reader is left.
    pub(super) fn fill(self: &Arc<Self>, job: &RowSourceInputs) {
        let _guard = FinishGuard(self);
        let requester = Requester {
            rows: self,
            job,
            size: AtomicUsize::new(FIRST_BLOCK_ROWS),
            failed: AtomicBool::new(false),
        };
        match &job.context {
            Some(context) => {
                if let Err(error) = requester.request_bindings(context) {
                    self.fail(error);
                }
            }
            None => requester.request_without_bindings(),
        }
    }
}

/// Guard that reports the panic of a requesting thread to the readers.
struct PanicGuard<'f>(&'f ServiceRows);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(ServiceError::Failed(
                "the requesting thread panicked".to_owned(),
            ));
        }
    }
}

/// Guard that marks the rows as complete when their thread ends.
struct FinishGuard<'f>(&'f ServiceRows);

impl Drop for FinishGuard<'_> {
    fn drop(&mut self) {
        // First, so that readers do not take the rows for complete.
        drop(PanicGuard(self.0));
        self.0.finish();
    }
}

/// Bindings that are requested together, and the service.
struct Block {
    service: NamedNode,
    /// Values of the keys. One empty row without keys requests all rows of the service.
    rows: Vec<Vec<GroundTerm>>,
    /// If true, no request can contain the bindings.
    is_unrestricted: bool,
}

/// Sender of the requests of one `SERVICE`.
struct Requester<'f> {
    rows: &'f ServiceRows,
    job: &'f RowSourceInputs,
    /// Number of rows of the next block.
    size: AtomicUsize,
    /// If true, a `SERVICE SILENT` failed.
    failed: AtomicBool,
}

impl Requester<'_> {
    /// Requests all rows, if no pattern restricts them.
    fn request_without_bindings(&self) {
        match &self.job.target {
            Target::Constant(service) => {
                let block = Block {
                    service: service.clone(),
                    rows: vec![Vec::new()],
                    is_unrestricted: true,
                };
                self.request_block(&block);
            }
            Target::Each(variable) => self.rows.fail(ServiceError::Failed(format!(
                "nothing outside SERVICE {variable} binds {variable}, so no service can be called"
            ))),
        }
    }

    /// Requests the bindings of a context: the first block alone, then several concurrently.
    fn request_bindings(&self, context: &Context) -> Result<(), ServiceError> {
        let query = Query::Select {
            dataset: None,
            pattern: context.pattern.clone(),
            base_iri: None,
        };
        let results = self
            .job
            .evaluation
            .prepare(query)
            .on_store(self.job.evaluation.engine.store.oxigraph())
            .execute()
            .map_err(to_service_error)?;
        let QueryResults::Solutions(solutions) = results else {
            return Ok(());
        };
        // Without a buffer: bindings are computed only as fast as the workers take blocks.
        let (sender, receiver) = sync_channel(0);
        let receiver = Mutex::new(receiver);
        let mut not_requested = thread::scope(|scope| {
            let mut blocks = Blocks {
                requester: self,
                context,
                scope,
                sender: Some(sender),
                receiver: &receiver,
                workers: 0,
                sent: 0,
                open: BTreeMap::new(),
                unrestricted: BTreeMap::new(),
                requested: self.may_request_all().then(FxHashSet::default),
                is_complete: false,
                not_requested: Vec::new(),
            };
            for solution in solutions {
                if blocks.is_complete
                    || self.rows.is_closed()
                    || self.job.evaluation.service_failure().is_some()
                {
                    break;
                }
                blocks.add(&solution.map_err(to_service_error)?);
            }
            if let Some(failure) = self.job.evaluation.service_failure() {
                return Err(failure);
            }
            blocks.flush();
            Ok(std::mem::take(&mut blocks.not_requested))
        })?;
        if self.failed.load(Ordering::Relaxed) {
            let _ = self.rows.push(&mut not_requested, self.job.max_rows);
        }
        Ok(())
    }

    /// Requests a block; in halves if it is too large.
    fn request_block(&self, block: &Block) {
        if !self.rows.wait_for_readers() {
            return;
        }
        let started = Instant::now();
        match self.call(block) {
            Ok(()) => self.adapt_block_size(block.rows.len(), started.elapsed()),
            Err(ServiceError::TooLarge(_)) if block.rows.len() > 1 && !block.is_unrestricted => {
                let half = block.rows.len() / 2;
                self.size.store(half.max(MIN_BLOCK_ROWS), Ordering::Relaxed);
                for rows in [&block.rows[..half], &block.rows[half..]] {
                    let (service, rows) = (block.service.clone(), rows.to_vec());
                    self.request_block(&Block {
                        service,
                        rows,
                        is_unrestricted: false,
                    });
                }
            }
            // SILENT: a failure counts as one solution without bindings.
            Err(_) if self.job.silent => {
                self.failed.store(true, Ordering::Relaxed);
                let _ = self
                    .rows
                    .push(&mut self.unmatched_rows(block), self.job.max_rows);
            }
            Err(error) => self.rows.fail(error),
        }
    }

    /// Adapts the size of the next block to the duration of a request.
    fn adapt_block_size(&self, rows: usize, took: Duration) {
        let size = self.size.load(Ordering::Relaxed);
        // A block that was not full is no measure of full ones.
        if took < MAX_FAST_RESPONSE_TIME && rows >= size {
            self.size
                .store((size * 2).min(MAX_BLOCK_ROWS), Ordering::Relaxed);
        } else if took > MIN_SLOW_RESPONSE_TIME {
            self.size
                .store((size / 2).max(MIN_BLOCK_ROWS), Ordering::Relaxed);
        }
    }

    /// Returns the call of a service for some bindings.
    fn service_call<'c>(
        &'c self,
        service: &'c NamedNode,
        bindings: &'c Bindings,
    ) -> ServiceCall<'c> {
        let RowSourceInputs {
            pattern,
            variables,
            evaluation,
            ..
        } = self.job;
        let (deadline, cancelled) = (evaluation.deadline, &evaluation.token);
        ServiceCall {
            service,
            pattern,
            variables,
            bindings,
            limit: None,
            deadline,
            cancelled,
        }
    }

    /// Adds the variable of the service's name and the provenance to a row.
    fn complete_row(&self, row: &mut ServiceRow, endpoint: &Term) {
        row.resize(self.job.variables.len(), None);
        row.resize(self.rows.variables.len(), Some(endpoint.clone()));
    }

    /// Returns the shared variables.
    fn shared_variables(&self) -> &[Variable] {
        match &self.job.context {
            Some(context) => &context.keys,
            None => &[],
        }
    }

    /// Requests a block and passes its rows on in batches.
    ///
    /// A block may have several requests. Its rows are passed on once the last one is answered: if an earlier one is rejected as too
    /// large, the block is sent again in halves. Rows of a silent service are passed on at the end, since a failure discards them.
    fn call(&self, block: &Block) -> Result<(), ServiceError> {
        let job = self.job;
        let needed: &[Variable] = match &job.context {
            Some(context) => &context.needed,
            None => &[],
        };
        let requests = JoinRequest::for_rows(self.shared_variables(), needed, &block.rows);
        let places = self.places_of_keys();
        let endpoint: Term = block.service.clone().into();
        let last = requests.len().saturating_sub(1);
        let mut rows = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            let call = self.service_call(&block.service, &request.bindings);
            let may_pass_on = number == last && !job.silent;
            job.services.call(&call, &mut |mut row| {
                if !request.accepts(key_of(&row, &places)) {
                    return ControlFlow::Continue(());
                }
                self.complete_row(&mut row, &endpoint);
                rows.push(row);
                if rows.len() > job.max_rows {
                    ControlFlow::Break(())
                } else if rows.len() < MAX_BATCH_ROWS || !may_pass_on {
                    ControlFlow::Continue(())
                } else {
                    self.rows.push(&mut rows, job.max_rows)
                }
            })?;
        }
        let _ = self.rows.push(&mut rows, job.max_rows); // the next block detects a full buffer itself
        Ok(())
    }

    /// Returns the place of each shared variable in a row of the service.
    fn places_of_keys(&self) -> Vec<Option<usize>> {
        let variables = &self.job.variables;
        self.shared_variables()
            .iter()
            .map(|key| variables.iter().position(|variable| variable == key))
            .collect()
    }

    /// Returns true if all rows may be requested at once. Such a request serves any number of bindings, and is fast if there are few
    /// rows.
    fn may_request_all(&self) -> bool {
        let job = self.job;
        let Target::Constant(service) = &job.target else {
            return false;
        };
        !job.silent
            && job.services.needs(service, &job.pattern).is_empty()
            && is_simple(&job.pattern)
    }

    /// Requests all rows and passes on those of bindings that were not requested yet. Returns true if the rows are complete. After a
    /// failure, or with too many rows, no row is passed on.
    fn request_all(&self, service: &NamedNode, requested: &FxHashSet<Vec<Term>>) -> bool {
        let job = self.job;
        let all = Bindings::unrestricted();
        let call = ServiceCall {
            limit: Some(MAX_BLOCK_ROWS + 1),
            ..self.service_call(service, &all)
        };
        let mut rows: Vec<ServiceRow> = Vec::new();
        let called = job.services.call(&call, &mut |row| {
            rows.push(row);
            if rows.len() > MAX_BLOCK_ROWS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if called.is_err() || rows.len() > MAX_BLOCK_ROWS {
            return false;
        }
        let places = self.places_of_keys();
        rows.retain(|row| key_of(row, &places).is_none_or(|key| !requested.contains(&key)));
        let endpoint: Term = service.clone().into();
        rows.iter_mut()
            .for_each(|row| self.complete_row(row, &endpoint));
        let _ = self.rows.push(&mut rows, job.max_rows);
        true
    }

    /// Returns the bindings of a block as rows without further values.
    fn unmatched_rows(&self, block: &Block) -> Vec<ServiceRow> {
        let name: Term = block.service.clone().into();
        let mut rows = Vec::with_capacity(block.rows.len());
        for row in &block.rows {
            let variables = self.rows.variables.iter();
            rows.push(
                variables
                    .map(|variable| self.find_binding(variable, row, &name))
                    .collect(),
            );
        }
        rows
    }

    /// Returns the value of a variable in a row of bindings for a service, if it is bound outside.
    fn find_binding(
        &self,
        variable: &Variable,
        row: &[GroundTerm],
        service: &Term,
    ) -> Option<Term> {
        match &self.job.target {
            _ if !self.job.bound_outside.contains(variable) => None,
            Target::Each(target) if target == variable => Some(service.clone()),
            _ => {
                let place = self
                    .shared_variables()
                    .iter()
                    .position(|bound| bound == variable)?;
                Some(row[place].clone().into())
            }
        }
    }
}

fn to_service_error(error: QueryEvaluationError) -> ServiceError {
    match error {
        QueryEvaluationError::Service(error) => match error.downcast::<ServiceError>() {
            Ok(error) => *error,
            Err(error) => ServiceError::Failed(error.to_string()),
        },
        other => ServiceError::Failed(other.to_string()),
    }
}

/// Returns the canonical values of a row at some places. `None` if one of them is unbound.
fn key_of(row: &ServiceRow, places: &[Option<usize>]) -> Option<Vec<Term>> {
    places
        .iter()
        .map(|place| row.get((*place)?)?.as_ref().map(canonical_term))
        .collect()
}

/// Returns true if the first rows of a pattern arrive before all of them are computed.
fn is_simple(pattern: &GraphPattern) -> bool {
    matches!(
        pattern,
        GraphPattern::Bgp { .. } | GraphPattern::Join { .. } | GraphPattern::Filter { .. }
    ) && child_patterns(pattern).into_iter().all(is_simple)
}

/// Bindings that are collected into blocks and sent.
struct Blocks<'s, 'e, 'f> {
    requester: &'e Requester<'f>,
    context: &'e Context,
    scope: &'s thread::Scope<'s, 'e>,
    sender: Option<SyncSender<Block>>,
    receiver: &'e Mutex<Receiver<Block>>,
    workers: usize,
    sent: usize,
    open: BTreeMap<NamedNode, (Vec<Vec<GroundTerm>>, usize)>,
    /// Bindings that no request can contain.
    unrestricted: BTreeMap<NamedNode, Vec<Vec<GroundTerm>>>,
    /// Bindings requested so far. `None` if all rows may not be requested at once.
    requested: Option<FxHashSet<Vec<Term>>>,
    /// If true, all rows were requested and received.
    is_complete: bool,
    /// Rows of a silent service for solutions that were never requested, used if it fails.
    not_requested: Vec<ServiceRow>,
}

impl Blocks<'_, '_, '_> {
    /// Adds a solution of the context. One with a blank node joins nothing, unless a silent service fails.
    fn add(&mut self, solution: &QuerySolution) {
        let job = self.requester.job;
        let service = match &job.target {
            Target::Constant(service) => service.clone(),
            Target::Each(variable) => match solution.get(variable) {
                Some(Term::NamedNode(service)) => service.clone(),
                // A service name that is unbound or no IRI counts as a failure.
                _ if job.silent => {
                    let _ = self
                        .requester
                        .rows
                        .push(&mut vec![self.unmatched_row(solution)], job.max_rows);
                    return;
                }
                other => {
                    let value = match other {
                        Some(term) => term.to_string(),
                        None => "unbound".to_owned(),
                    };
                    return self.requester.rows.fail(ServiceError::Failed(format!(
                        "{variable} is {value}, which is no service"
                    )));
                }
            },
        };
        let keys = self
            .context
            .keys
            .iter()
            .map(|key| GroundTerm::try_from(solution.get(key)?.clone()).ok());
        let Some(row) = keys.collect::<Option<Vec<GroundTerm>>>() else {
            if job.silent {
                self.not_requested.push(self.unmatched_row(solution));
            }
            return;
        };
        if !self.context.keys.is_empty()
            && is_unrestricted(&self.context.keys, &self.context.needed, &row)
        {
            self.unrestricted.entry(service).or_default().push(row);
            return;
        }
        let bytes: usize = row.iter().map(|term| term.to_string().len()).sum();
        let (rows, size) = self.open.entry(service.clone()).or_default();
        rows.push(row);
        *size += bytes;
        if rows.len() >= self.requester.size.load(Ordering::Relaxed) || *size > MAX_BLOCK_BYTES {
            let (rows, _) = self.open.remove(&service).unwrap_or_default();
            self.send_rows(service, rows);
        }
    }

    /// Returns the bindings of a solution of the context as a row without further values.
    fn unmatched_row(&self, solution: &QuerySolution) -> ServiceRow {
        let bound_outside = &self.requester.job.bound_outside;
        let variables = self.requester.rows.variables.iter();
        variables
            .map(|variable| {
                if bound_outside.contains(variable) {
                    solution.get(variable).cloned()
                } else {
                    None
                }
            })
            .collect()
    }

    fn flush(&mut self) {
        for (service, (rows, _)) in std::mem::take(&mut self.open) {
            self.send_rows(service, rows);
        }
        for (service, rows) in std::mem::take(&mut self.unrestricted) {
            if !self.is_complete {
                self.send_block(Block {
                    service,
                    rows,
                    is_unrestricted: true,
                });
            }
        }
        self.sender = None; // the workers end after the last block
    }

    /// Sends a block, or requests all rows after some blocks.
    fn send_rows(&mut self, service: NamedNode, rows: Vec<Vec<GroundTerm>>) {
        if self.is_complete {
            return;
        }
        // Tried once. Whatever its outcome, the bindings need not be collected further.
        if self.sent == BLOCKS_BEFORE_FULL_REQUEST
            && let Some(requested) = self.requested.take()
            && self.requester.request_all(&service, &requested)
        {
            self.is_complete = true;
            return;
        }
        if let Some(requested) = &mut self.requested {
            requested.extend(rows.iter().map(|row| {
                row.iter()
                    .map(|term| canonical_term(&term.clone().into()))
                    .collect()
            }));
        }
        self.send_block(Block {
            service,
            rows,
            is_unrestricted: false,
        });
    }

    /// Sends a block. This thread sends the first one, whose duration sets the size of the next. Workers send the others.
    fn send_block(&mut self, block: Block) {
        self.sent += 1;
        // With a variable, the blocks are for different services, whose times differ.
        if self.sent == 1 && matches!(self.requester.job.target, Target::Constant(_)) {
            return self.requester.request_block(&block);
        }
        if self.workers < MAX_CONCURRENT_REQUESTS {
            self.workers += 1;
            let (requester, receiver) = (self.requester, self.receiver);
            self.scope.spawn(move || send_blocks(requester, receiver));
        }
        // A blocking send could wait for ever, since all workers may have ended.
        let mut waiting = Some(block);
        while let (Some(sender), Some(block)) = (&self.sender, waiting.take()) {
            if let Err(TrySendError::Full(block)) = sender.try_send(block)
                && !self.requester.rows.is_closed()
            {
                waiting = Some(block);
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

fn send_blocks(requester: &Requester<'_>, receiver: &Mutex<Receiver<Block>>) {
    let _guard = PanicGuard(requester.rows);
    loop {
        let block = receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(block) = block else { return };
        requester.request_block(&block);
    }
}
