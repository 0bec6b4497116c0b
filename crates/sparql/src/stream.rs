//! Streamed answers: rows and triples in batches, through a bounded channel.
//!
//! The evaluating thread waits while the channel is full, so a slow reader costs time and no memory (backpressure). The receiver
//! checks deadline, memory and cancellation, whatever the evaluation does. The deadline includes the time of a slow reader, which
//! could otherwise hold a permit for ever.

use super::admission::Permit;
use super::{Answer, SparqlError, SparqlLimits};
use lodeseek_rdf::{Omissions, RdfForm, RdfVersion, XmlFilter};
use oxigraph::sparql::results::{
    QueryResultsFormat, QueryResultsSerializer, WriterSolutionsSerializer,
};
use oxigraph::sparql::{CancellationToken, QueryEvaluationError, QueryResults};
use oxrdf::{NamedOrBlankNode, Term, Triple, Variable};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use std::time::{Duration, Instant};

/// Interval at which memory and the presence of a reader are checked.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of rows or triples of a batch.
const MAX_BATCH_ITEMS: usize = 256;
/// Maximum memory of a batch in bytes. A single row may be larger.
const MAX_BATCH_BYTES: usize = 64 << 10;
/// Maximum number of batches in the channel.
pub(super) const MAX_WAITING_BATCHES: usize = 4;
/// Time after which a batch is sent, even if it is small.
const MAX_BATCH_AGE: Duration = Duration::from_millis(50);

/// Token that cancels an evaluation whose answer is no longer needed.
#[derive(Clone, Default)]
pub struct Cancellation(CancellationToken);

impl Cancellation {
    /// Requests the end of the evaluation; it ends when it next reads the store.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    pub(super) fn token(&self) -> CancellationToken {
        self.0.clone()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Form of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// Complete answer of an `ASK`.
    Boolean(bool),
    /// Variables of a `SELECT`, whose rows follow.
    Solutions(Vec<Variable>),
    /// Head of a `CONSTRUCT` or `DESCRIBE`, whose triples follow.
    Graph,
}

/// Row or triple of an answer.
pub(super) enum Item {
    Row(Vec<Option<Term>>),
    Triple(Box<Triple>),
}

impl Item {
    /// Approximate memory in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Row(terms) => row_bytes(terms),
            Self::Triple(triple) => size_of::<Self>() + triple_bytes(triple),
        }
    }
}

/// Returns the approximate memory of a row in bytes. Unbound cells count, too.
#[must_use]
pub fn row_bytes(row: &[Option<Term>]) -> usize {
    size_of::<Item>() + size_of_val(row) + row.iter().flatten().map(term_bytes).sum::<usize>()
}

fn triple_bytes(triple: &Triple) -> usize {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => node.as_str().len(),
        NamedOrBlankNode::BlankNode(node) => node.as_str().len(),
    };
    size_of::<Triple>() + subject + triple.predicate.as_str().len() + term_bytes(&triple.object)
}

/// Returns the approximate memory of a term besides the `Term` itself, in bytes.
fn term_bytes(term: &Term) -> usize {
    match term {
        Term::NamedNode(node) => node.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => {
            let kind_bytes = match literal.language() {
                Some(language) => language.len(),
                None => literal.datatype().as_str().len(),
            };
            literal.value().len() + kind_bytes
        }
        Term::Triple(triple) => triple_bytes(triple),
    }
}

/// Admission of a query.
pub(super) struct Admitted {
    pub(super) permit: Arc<Permit>,
    /// If true, the evaluation uses the memory of this process, and its growth is limited.
    pub(super) uses_memory: bool,
}

/// Messages of the evaluation to the receiver of its answer.
pub(super) enum Part {
    /// The query is evaluated, or waits for the answer of an equal one. Its deadline starts now.
    Admitted(Admitted),
    Head(Head),
    Batch(Vec<Item>),
    End {
        truncated: bool,
    },
    Failed(SparqlError),
}

/// Destination of the parts of an answer. It breaks if the receiver was dropped.
pub(super) enum Output<'s> {
    /// Channel to the receiver in this process.
    Channel(SyncSender<Part>),
    /// Function, for example of a worker process.
    Function(Box<dyn FnMut(Part) -> ControlFlow<()> + 's>),
}

impl Output<'_> {
    fn send(&mut self, part: Part) -> ControlFlow<()> {
        match self {
            Self::Channel(sender) => match sender.send(part) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            },
            Self::Function(send) => send(part),
        }
    }
}

/// Sending end of the channel. It stops the evaluation at the limits, and if the receiver was dropped.
pub(super) struct Sink<'s> {
    output: Output<'s>,
    batch: Vec<Item>,
    batch_bytes: usize,
    sent: Instant,
    rows_left: usize,
    bytes_left: u64,
    /// If true, the answer was truncated at a limit.
    pub(super) truncated: bool,
    /// Time that the evaluation waited for the receiver.
    pub(super) waited: Duration,
    /// Permit of the query, if it has one in this process.
    permit: Option<Arc<Permit>>,
}

impl<'s> Sink<'s> {
    pub(super) fn new(output: Output<'s>, limits: &SparqlLimits) -> Self {
        Self {
            output,
            batch: Vec::new(),
            batch_bytes: 0,
            sent: Instant::now(),
            rows_left: limits.rows,
            bytes_left: limits.answer_megabytes.saturating_mul(1 << 20),
            truncated: false,
            waited: Duration::ZERO,
            permit: None,
        }
    }

    /// Sets the permit, whose slot is free while the evaluation waits for the receiver.
    pub(super) fn set_permit(&mut self, permit: &Arc<Permit>) {
        self.permit = Some(Arc::clone(permit));
    }

    pub(super) fn set_waiting(&self, is_waiting: bool) {
        if let Some(permit) = &self.permit {
            permit.set_waiting(is_waiting);
        }
    }

    /// Sends results while they are computed.
    pub(super) fn take(&mut self, results: QueryResults<'_>) -> Result<(), QueryEvaluationError> {
        match results {
            QueryResults::Boolean(value) => self.send_head(Head::Boolean(value)),
            QueryResults::Solutions(solutions) => {
                let variables = solutions.variables().to_vec();
                self.send_head(Head::Solutions(variables.clone()));
                for solution in solutions {
                    let solution = solution?;
                    let row = variables
                        .iter()
                        .map(|variable| solution.get(variable).cloned())
                        .collect();
                    // The answer is truncated, or its receiver has left.
                    if self.add(Item::Row(row)).is_break() {
                        break;
                    }
                }
            }
            QueryResults::Graph(triples) => {
                self.send_head(Head::Graph);
                for triple in triples {
                    if self.add(Item::Triple(Box::new(triple?))).is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends the outcome of the evaluation. To be called after the evaluation has released its resources.
    pub(super) fn end(mut self, outcome: Result<(), SparqlError>) {
        let last = match outcome {
            Ok(()) => Part::End {
                truncated: self.truncated,
            },
            Err(error) => Part::Failed(error),
        };
        if self.send_batch().is_continue() {
            let _ = self.forward(last); // the receiver may have been dropped at the deadline
        }
    }

    /// Sends a part unchanged.
    pub(super) fn forward(&mut self, part: Part) -> ControlFlow<()> {
        let part = match self.try_forward(part) {
            Ok(sent) => return sent,
            Err(part) => part,
        };
        let before = Instant::now();
        self.set_waiting(true);
        let sent = self.output.send(part);
        self.set_waiting(false);
        self.waited += before.elapsed();
        sent
    }

    /// Sends a part unchanged if the receiver is ready for it. Otherwise returns it.
    pub(super) fn try_forward(&mut self, part: Part) -> Result<ControlFlow<()>, Part> {
        let sent = match &mut self.output {
            Output::Channel(sender) => match sender.try_send(part) {
                Ok(()) => ControlFlow::Continue(()),
                Err(TrySendError::Disconnected(_)) => ControlFlow::Break(()),
                Err(TrySendError::Full(part)) => return Err(part),
            },
            function => function.send(part),
        };
        self.set_waiting(false);
        Ok(sent)
    }

    /// Waits for the receiver, until a part is sent.
    pub(super) fn wait(&mut self, time: Duration) {
        self.set_waiting(true);
        std::thread::sleep(time);
        self.waited += time;
    }

    fn send_head(&mut self, head: Head) {
        let _ = self.forward(Part::Head(head)); // the next batch detects a dropped receiver
    }

    fn add(&mut self, item: Item) -> ControlFlow<()> {
        let bytes = item.bytes();
        if self.rows_left == 0 || self.bytes_left < bytes as u64 {
            self.truncated = true;
            return ControlFlow::Break(());
        }
        self.rows_left -= 1;
        self.bytes_left -= bytes as u64;
        self.batch_bytes += bytes;
        self.batch.push(item);
        let due = self.batch.len() >= MAX_BATCH_ITEMS
            || self.batch_bytes >= MAX_BATCH_BYTES
            || self.sent.elapsed() >= MAX_BATCH_AGE;
        if due {
            self.send_batch()
        } else {
            ControlFlow::Continue(())
        }
    }

    fn send_batch(&mut self) -> ControlFlow<()> {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let sent = if batch.is_empty() {
            ControlFlow::Continue(())
        } else {
            self.forward(Part::Batch(batch))
        };
        // Only now: the time that the receiver took is not the age of the next batch.
        self.sent = Instant::now();
        sent
    }
}

/// Resident memory of this process in bytes, if the system reports it.
#[must_use]
pub fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn resident_megabytes() -> Option<u64> {
    resident_memory().map(|bytes| bytes >> 20)
}

/// Checks of limits from outside the evaluation.
struct Watch {
    /// Permit of the query, once it is admitted.
    permit: Option<Arc<Permit>>,
    started: Instant,
    limits: SparqlLimits,
    /// Resident memory at the start in megabytes. `None` if it is not limited.
    before: Option<u64>,
    last_check: Instant,
}

impl Watch {
    fn new(limits: &SparqlLimits) -> Self {
        let now = Instant::now();
        Self {
            permit: None,
            started: now,
            limits: limits.clone(),
            before: None,
            last_check: now,
        }
    }

    /// Starts the time of the query.
    fn admit(&mut self, admitted: Admitted) {
        self.permit = Some(admitted.permit);
        self.before = if admitted.uses_memory {
            resident_megabytes()
        } else {
            None
        };
        (self.started, self.last_check) = (Instant::now(), Instant::now());
    }

    fn time_left(&self) -> Duration {
        self.limits.deadline.saturating_sub(self.started.elapsed())
    }

    /// Time until the next check.
    fn check_interval(&self) -> Duration {
        if self.permit.is_some() {
            CHECK_INTERVAL.min(self.time_left())
        } else {
            CHECK_INTERVAL
        }
    }

    /// Replaces the error of a service at the deadline by that of the deadline. Calls of services have the same deadline, and may end
    /// first.
    fn replace_service_timeout(&self, error: SparqlError) -> SparqlError {
        match error {
            SparqlError::Service(_) if self.time_left() < CHECK_INTERVAL => {
                SparqlError::Deadline(self.limits.deadline)
            }
            other => other,
        }
    }

    fn check(&mut self, cancellation: &Cancellation) -> Result<(), SparqlError> {
        if cancellation.0.is_cancelled() {
            return Err(SparqlError::Cancelled);
        }
        let Some(permit) = &self.permit else {
            return Ok(());
        }; // waiting for a permit has a timeout of its own
        if self.time_left().is_zero() {
            return Err(SparqlError::Deadline(self.limits.deadline));
        }
        // Reading the memory is a system call, and parts may follow quickly.
        if self.last_check.elapsed() < CHECK_INTERVAL {
            return Ok(());
        }
        self.last_check = Instant::now();
        let grown = match (self.before, resident_megabytes()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => 0,
        };
        if grown > self.limits.memory_megabytes {
            return Err(SparqlError::Memory(self.limits.memory_megabytes));
        }
        permit.check_running_time(&self.limits)
    }
}

/// Errors while an answer is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The evaluation failed or was cancelled.
    #[error(transparent)]
    Sparql(#[from] SparqlError),
    /// The output cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Streamed answer. It holds the permit of its query. Dropping it cancels the evaluation.
pub struct AnswerStream {
    head: Head,
    receiver: Receiver<Part>,
    /// Items received and not yet read.
    buffered: VecDeque<Item>,
    /// `None` before the end, then true if the answer was truncated.
    ended: Option<bool>,
    watch: Watch,
    cancellation: Cancellation,
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        self.cancellation.cancel();
    }
}

impl AnswerStream {
    /// Waits for the head.
    pub(super) fn receive_from(
        receiver: Receiver<Part>,
        limits: &SparqlLimits,
        cancellation: &Cancellation,
    ) -> Result<Self, SparqlError> {
        let mut stream = Self {
            head: Head::Graph,
            receiver,
            buffered: VecDeque::new(),
            ended: None,
            watch: Watch::new(limits),
            cancellation: cancellation.clone(),
        };
        loop {
            match stream.receive(&mut || ())? {
                Part::Admitted(admitted) => stream.watch.admit(admitted),
                Part::Head(head) => {
                    stream.head = head;
                    return Ok(stream);
                }
                Part::Failed(error) => return Err(error),
                Part::Batch(_) | Part::End { .. } => {
                    return Err(SparqlError::Evaluation("the answer has no head".to_owned()));
                }
            }
        }
    }

    /// Returns the form of the answer.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns true if the answer was truncated at a limit; false before its end.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.ended == Some(true)
    }

    /// Returns the time until the deadline.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.watch.time_left()
    }

    /// Receives the answer until it ends or takes this memory in bytes. Returns true if the answer ended.
    pub fn hold(&mut self, bytes: usize) -> Result<bool, SparqlError> {
        let mut buffered_bytes: usize = self.buffered.iter().map(Item::bytes).sum();
        while self.ended.is_none() && buffered_bytes < bytes {
            let before = self.buffered.len();
            self.receive_more(&mut || ())?;
            buffered_bytes += self
                .buffered
                .range(before..)
                .map(Item::bytes)
                .sum::<usize>();
        }
        Ok(self.ended.is_some())
    }

    /// Receives the complete answer.
    pub fn whole(self) -> Result<Answer, SparqlError> {
        self.whole_within(usize::MAX)
    }

    /// Receives the answer. It is truncated when it takes this memory in bytes.
    pub fn whole_within(mut self, bytes: usize) -> Result<Answer, SparqlError> {
        let is_ended = self.hold(bytes)?;
        let truncated = !is_ended || self.is_truncated();
        let items = std::mem::take(&mut self.buffered).into_iter();
        Ok(match &self.head {
            Head::Boolean(value) => Answer::Boolean(*value),
            Head::Solutions(variables) => Answer::Solutions {
                variables: variables.clone(),
                rows: items.filter_map(into_row).collect(),
                truncated,
            },
            Head::Graph => Answer::Graph {
                triples: items.filter_map(into_triple).collect(),
                truncated,
            },
        })
    }

    /// Writes solutions or a boolean in one of the result formats, for clients of this version of RDF. The writer is flushed before each
    /// wait for further rows. Returns the number of characters that XML does not permit, and that were left out.
    pub fn write_results(
        &mut self,
        media_type: &str,
        version: RdfVersion,
        writer: &mut impl Write,
    ) -> Result<u64, SendError> {
        let format =
            QueryResultsFormat::from_media_type(media_type).unwrap_or(QueryResultsFormat::Json);
        let serializer = QueryResultsSerializer::from_format(format);
        let shared = RefCell::new(writer);
        match self.head.clone() {
            Head::Boolean(value) => {
                serializer.serialize_boolean_to_writer(Shared(&shared), value)?;
                Ok(0)
            }
            Head::Solutions(variables) if format == QueryResultsFormat::Xml => {
                let filter = XmlFilter::new(Shared(&shared));
                let solutions =
                    serializer.serialize_solutions_to_writer(filter, variables.clone())?;
                let filter = self.write_rows(solutions, &variables, version, &shared)?;
                Ok(filter.finish()?.1)
            }
            Head::Solutions(variables) => {
                let solutions =
                    serializer.serialize_solutions_to_writer(Shared(&shared), variables.clone())?;
                self.write_rows(solutions, &variables, version, &shared)?;
                Ok(0)
            }
            Head::Graph => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
        }
    }

    /// Writes the rows of a `SELECT`, and returns the writer of the serializer.
    fn write_rows<W: Write, F: Write>(
        &mut self,
        mut solutions: WriterSolutionsSerializer<F>,
        variables: &[Variable],
        version: RdfVersion,
        shared: &RefCell<&mut W>,
    ) -> Result<F, SendError> {
        while let Some(item) = self.next(&mut || flush_writer(shared)) {
            let terms: Vec<_> = into_row(item?).unwrap_or_default();
            let terms: Vec<_> = terms
                .into_iter()
                .map(|term| Some(version.convert_term(term?)))
                .collect();
            let bound = variables.iter().zip(&terms);
            solutions.serialize(bound.filter_map(|(variable, term)| {
                Some((variable.as_ref(), term.as_ref()?.as_ref()))
            }))?;
        }
        Ok(solutions.finish()?)
    }

    /// Writes a graph. The writer is flushed before each wait for further triples. Returns what the syntax cannot express.
    pub fn write_graph(
        &mut self,
        form: RdfForm,
        writer: &mut impl Write,
    ) -> Result<Omissions, SendError> {
        let shared = RefCell::new(writer);
        let triples = std::iter::from_fn(|| self.next(&mut || flush_writer(&shared)));
        let triples = triples.filter_map(|item| item.map(into_triple).transpose());
        form.write_to(
            triples.map(|triple| triple.map_err(SendError::from)),
            Shared(&shared),
        )
    }

    /// Waits for the next row of a `SELECT`. Returns `None` at the end, and for other forms of answers.
    pub fn next_row(&mut self) -> Option<Result<Vec<Option<Term>>, SparqlError>> {
        self.next(&mut || ())?.map(into_row).transpose()
    }

    fn next(&mut self, idle: &mut dyn FnMut()) -> Option<Result<Item, SparqlError>> {
        while self.buffered.is_empty() && self.ended.is_none() {
            if let Err(error) = self.receive_more(idle) {
                return Some(Err(error));
            }
        }
        self.buffered.pop_front().map(Ok)
    }

    fn receive_more(&mut self, idle: &mut dyn FnMut()) -> Result<(), SparqlError> {
        match self.receive(idle)? {
            Part::Batch(items) => self.buffered.extend(items),
            Part::End { truncated } => self.ended = Some(truncated),
            Part::Failed(error) => return Err(error),
            Part::Head(_) | Part::Admitted(_) => {}
        }
        Ok(())
    }

    /// Receives the next part. Calls `idle` before it waits.
    fn receive(&mut self, idle: &mut dyn FnMut()) -> Result<Part, SparqlError> {
        // Also if parts are ready: otherwise, a fast evaluation would never be checked.
        self.watch.check(&self.cancellation)?;
        let mut part = match self.receiver.try_recv() {
            Err(TryRecvError::Empty) => {
                idle();
                Err(RecvTimeoutError::Timeout)
            }
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Ok(part) => Ok(part),
        };
        loop {
            match part {
                Ok(Part::Failed(error)) => return Err(self.watch.replace_service_timeout(error)),
                Ok(part) => return Ok(part),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(SparqlError::Evaluation(
                        "the evaluation ended without a result".to_owned(),
                    ));
                }
                Err(RecvTimeoutError::Timeout) => self.watch.check(&self.cancellation)?,
            }
            part = self.receiver.recv_timeout(self.watch.check_interval());
        }
    }
}

fn into_row(item: Item) -> Option<Vec<Option<Term>>> {
    match item {
        Item::Row(terms) => Some(terms),
        Item::Triple(_) => None,
    }
}

fn into_triple(item: Item) -> Option<Triple> {
    match item {
        Item::Triple(triple) => Some(*triple),
        Item::Row(_) => None,
    }
}

/// Flushes a writer. An error is returned by the next write.
fn flush_writer<W: Write>(writer: &RefCell<&mut W>) {
    let _ = writer.borrow_mut().flush();
}

/// Writer shared with a serializer, so that it can be flushed between rows.
struct Shared<'s, 'w, W>(&'s RefCell<&'w mut W>);

impl<W: Write> Write for Shared<'_, '_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::admission::{Admission, PermitRequest};
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn unbound_cells_count_toward_the_size_of_an_answer() {
        let limits = SparqlLimits {
            answer_megabytes: 1,
            ..SparqlLimits::default()
        };
        let mut sink = Sink::new(
            Output::Function(Box::new(|_: Part| ControlFlow::Continue(()))),
            &limits,
        );
        let mut rows = 0;
        while sink.add(Item::Row(vec![None; 64])).is_continue() {
            rows += 1;
        }
        assert!(sink.truncated && rows > 0);
        assert!(
            rows * 64 * size_of::<Option<Term>>() <= 1 << 20,
            "{rows} rows"
        );
    }

    #[test]
    fn a_query_whose_receiver_does_not_read_uses_no_slot() {
        let limits = SparqlLimits {
            queue_timeout: Duration::ZERO,
            ..SparqlLimits::default()
        };
        let admission = Arc::new(Admission::with_processors(1));
        let request = PermitRequest {
            client: None,
            shape: None,
            cancellation: Cancellation::default(),
        };
        let acquire = || Permit::acquire(&admission, &request, &limits);
        let [first, _second] = [(); 2].map(|()| Arc::new(acquire().expect("a slot")));
        assert!(acquire().is_err());
        let (sender, receiver) = sync_channel(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut sink = Sink::new(Output::Channel(sender), &limits);
                sink.set_permit(&first);
                assert!(sink.forward(Part::Head(Head::Graph)).is_continue());
                assert!(acquire().is_err(), "it computes again");
                sink.wait(Duration::ZERO);
            });
            let until = Instant::now() + Duration::from_secs(60);
            while acquire().is_err() {
                assert!(Instant::now() < until, "its slot is not free");
            }
            assert!(receiver.recv().is_ok());
        });
        assert!(acquire().is_ok());
    }

    #[test]
    fn rows_are_read_one_by_one() {
        let row = vec![Some(Term::from(oxrdf::Literal::from(1))), None];
        let variables = ["a", "b"].map(Variable::new_unchecked).to_vec();
        let (sender, receiver) = sync_channel(3);
        for part in [
            Part::Head(Head::Solutions(variables)),
            Part::Batch(vec![Item::Row(row.clone()), Item::Row(row.clone())]),
            Part::End { truncated: true },
        ] {
            assert!(sender.send(part).is_ok());
        }
        let mut answer = AnswerStream::receive_from(
            receiver,
            &SparqlLimits::default(),
            &Cancellation::default(),
        )
        .unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..2 {
            assert_eq!(
                answer.next_row().map(|read| read.expect("a row")),
                Some(row.clone())
            );
        }
        assert!(answer.next_row().is_none() && answer.is_truncated());
    }
}
