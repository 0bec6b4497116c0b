//! The parent's side: a pool of workers that start on demand and are replaced.

use crate::calls::{Call, CallLimits, Calls};
use crate::confinement::Limits;
use crate::process::Process;
use crate::protocol::{self, Frame, Kind};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// Interval at which time, memory and cancellation of a task are checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// Time that a cancelled task has to end. Then its worker is ended.
const GRACE_PERIOD: Duration = Duration::from_millis(200);
/// Memory that a worker may keep between tasks that follow each other, in bytes: caches of what the tasks read. One that keeps more, or
/// more than a quarter of its limit, is replaced, so that the memory is returned.
const MAX_KEPT_MEMORY_BYTES: u64 = 192 << 20;
/// Memory that a worker without tasks may keep, in bytes.
const MAX_IDLE_MEMORY_BYTES: u64 = 64 << 20;
/// Length of the pieces in which the input of a task is sent.
const PIECE_BYTES: usize = 1 << 20;
/// Maximum length of what is sent without a thread of its own: it fits into the buffer of the pipe.
const MAX_BUFFERED_BYTES: usize = 32 << 10;
/// Limits on the calls of a task. Each call has a thread of the parent.
const CALL_LIMITS: CallLimits = CallLimits {
    calls: 128,
    messages: 16,
    bytes: 32 << 20,
};
/// Stack of a thread that answers a call, in bytes.
const CALL_STACK_BYTES: usize = 16 << 20;

/// Answers a call of a task in a thread of its own: it receives the request and the call.
pub type AnswerCall = dyn Fn(&[u8], Call) + Send + Sync;

/// Error of a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The worker process cannot be started.
    #[error("cannot start a worker process: {0}")]
    Start(String),
    /// The task reached the limit of memory, in megabytes.
    #[error("the task needs more than {0} MB of memory")]
    Memory(u64),
    /// The task reached its limit of time.
    #[error("the task needs more than {} s", .0.as_secs_f32())]
    Time(Duration),
    /// The caller cancelled the task.
    #[error("the task was cancelled")]
    Cancelled,
    /// The worker process ended.
    #[error("the worker process ended: {0}")]
    Ended(String),
}

/// Options of a pool.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Program of the workers.
    pub program: PathBuf,
    /// Arguments of the program. The limits follow them as one more argument, in JSON.
    pub arguments: Vec<OsString>,
    /// Limits that each worker sets on itself.
    pub limits: Limits,
    /// Maximum number of workers that wait for tasks for longer than `idle_time`. A new process has no caches, so that more are kept
    /// for the next tasks.
    pub idle: usize,
    /// Time after which workers without tasks end, except for `idle` of them.
    pub idle_time: Duration,
    /// Number of tasks after which a worker is replaced.
    pub tasks: usize,
}

/// A task for a worker.
#[derive(Clone, Copy)]
pub struct Task<'t> {
    /// Description of the task, for the handler.
    pub task: &'t [u8],
    /// Input of the task.
    pub input: &'t [u8],
    /// Time until the task is cancelled.
    pub time: Duration,
    /// Returns true if nobody waits for the result any more.
    pub is_cancelled: &'t (dyn Fn() -> bool + Sync),
    /// Answers the calls of the task. Without it, a task that calls is ended.
    pub answer: Option<&'t Arc<AnswerCall>>,
}

/// A pool of worker processes. Its users bound the number of concurrent tasks.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pool")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

struct Shared {
    options: PoolOptions,
    idle: Mutex<Idle>,
    missing: Vec<String>,
}

/// Workers that wait for tasks.
#[derive(Default)]
struct Idle {
    /// The last one worked last.
    processes: Vec<Process>,
    /// If true, a thread ends those that wait long.
    is_watched: bool,
}

impl Idle {
    /// Removes the workers that have waited for a time, except for a number of those that worked last and keep little memory.
    fn remove_long(&mut self, options: &PoolOptions) -> Vec<Process> {
        let mut kept = 0;
        let mut removed = Vec::new();
        // From the end: those that worked last are kept first, and a removal shifts no place that is still to come.
        for place in (0..self.processes.len()).rev() {
            let process = &self.processes[place];
            let is_small = process.grown_bytes() <= MAX_IDLE_MEMORY_BYTES;
            let is_recent = process.idle_since.elapsed() < options.idle_time;
            if is_recent || (kept < options.idle && is_small) {
                kept += 1;
            } else {
                removed.push(self.processes.remove(place));
            }
        }
        removed
    }
}

impl Shared {
    fn lock_idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a worker for the next task.
    fn keep_idle(self: &Arc<Self>, mut process: Process) {
        process.idle_since = Instant::now();
        let mut idle = self.lock_idle();
        idle.processes.push(process);
        if idle.is_watched {
            return;
        }
        // The thread must not keep the pool alive: its processes end with its last user.
        let shared = Arc::downgrade(self);
        let time = self.options.idle_time;
        let started = thread::Builder::new()
            .name("idle workers".to_owned())
            .spawn(move || {
                loop {
                    thread::sleep(time);
                    let Some(shared) = shared.upgrade() else {
                        return;
                    };
                    if !shared.end_idle() {
                        return;
                    }
                }
            });
        match started {
            Ok(_) => idle.is_watched = true,
            Err(error) => tracing::warn!(%error, "worker processes without tasks do not end"),
        }
    }

    /// Ends workers that have waited for long. Returns false if no remaining worker can time out.
    fn end_idle(self: &Arc<Self>) -> bool {
        let mut idle = self.lock_idle();
        let removed = idle.remove_long(&self.options);
        idle.is_watched = idle
            .processes
            .iter()
            .any(|process| process.idle_since.elapsed() < self.options.idle_time);
        let (is_watched, is_empty) = (idle.is_watched, idle.processes.is_empty());
        // Dropping a process waits for its end. The lock is released before, so that tasks can start.
        drop(idle);
        let has_ended = !removed.is_empty();
        drop(removed);
        // Workers that keep much memory end even if they are the last ones.
        if has_ended && is_empty {
            self.replenish();
        }
        is_watched
    }

    /// Starts a worker in the background if none is idle, so that the next task does not wait for it.
    fn replenish(self: &Arc<Self>) {
        if !self.lock_idle().processes.is_empty() {
            return;
        }
        let shared = Arc::downgrade(self);
        let options = self.options.clone();
        if let Err(error) = thread::Builder::new()
            .name("worker start".to_owned())
            .spawn(move || Self::add_idle(&shared, &options))
        {
            tracing::warn!(%error, "cannot replace a worker process; the next task tries again");
        }
    }

    /// Starts a worker, and keeps it for the next task if the pool still exists.
    fn add_idle(shared: &Weak<Self>, options: &PoolOptions) {
        match Process::start(options) {
            Ok(process) => {
                if let Some(shared) = shared.upgrade() {
                    shared.keep_idle(process);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot replace a worker process; the next task tries again")
            }
        }
    }
}

/// End of a task as the parent saw it.
enum End {
    /// The worker sent the complete result.
    Done,
    /// The worker stopped when the task was cancelled, and can run others.
    Stopped(WorkerError),
    /// The worker must be replaced.
    Failed(WorkerError),
    /// The worker ended before it accepted the task. Another one can run it.
    NotAccepted(WorkerError),
}

impl End {
    fn into_result(self) -> Result<(), WorkerError> {
        match self {
            Self::Done => Ok(()),
            Self::Stopped(error) | Self::Failed(error) | Self::NotAccepted(error) => Err(error),
        }
    }
}

impl Pool {
    /// Creates a pool and starts its first worker, so that a program that cannot be started is detected now.
    ///
    /// # Errors
    /// [`WorkerError::Start`] if the worker cannot be started.
    pub fn start(options: PoolOptions) -> Result<Self, WorkerError> {
        let first = Process::start(&options)?;
        let missing = first.missing.clone();
        let shared = Arc::new(Shared {
            options,
            idle: Mutex::default(),
            missing,
        });
        shared.keep_idle(first);
        Ok(Self(shared))
    }

    /// Returns the protections that this system lacks.
    #[must_use]
    pub fn missing_protections(&self) -> &[String] {
        &self.0.missing
    }

    /// Returns the limits of a worker.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.options.limits
    }

    /// Runs a task in a worker of its own, and passes on the pieces of the result as they come. It blocks until the worker is free
    /// for other tasks or has ended.
    ///
    /// # Errors
    /// If the task reaches a limit, if it is cancelled, also by a break of `receive`, or if the worker ends.
    pub fn run(
        &self,
        task: &Task<'_>,
        receive: &mut dyn FnMut(Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), WorkerError> {
        // A task that was not accepted had no effect, so that it can run in another worker.
        while let Some(process) = self.pop_idle() {
            let end = self.run_in(process, task, receive);
            // An idle worker may have been killed since its last task, by the system or an operator.
            if !matches!(end, End::NotAccepted(WorkerError::Ended(_))) {
                return end.into_result();
            }
        }
        let end = self.run_in(Process::start(&self.0.options)?, task, receive);
        if let End::NotAccepted(_) = end {
            self.0.replenish();
        }
        end.into_result()
    }

    /// Runs a task in a worker, which then waits for the next task or is replaced.
    fn run_in(
        &self,
        mut process: Process,
        task: &Task<'_>,
        receive: &mut dyn FnMut(Vec<u8>) -> ControlFlow<()>,
    ) -> End {
        let input = process.input();
        let calls = Calls::new(process.input(), CALL_LIMITS);
        let end = thread::scope(|scope| {
            // A worker that does not read must not block the thread that ends it.
            if task.task.len() + task.input.len() <= MAX_BUFFERED_BYTES {
                write_task(&input, task);
            } else {
                let input = Arc::clone(&input);
                scope.spawn(move || write_task(&input, task));
            }
            let end = self.watch(&mut process, task, &calls, scope, receive);
            if let End::Failed(_) | End::NotAccepted(_) = end {
                process.kill(); // this also unblocks the writing thread
            }
            end
        });
        // Threads that answer calls get an error, instead of writing into the next task.
        calls.end();
        process.tasks += 1;
        match end {
            End::Done | End::Stopped(_) => self.give_back(process),
            End::Failed(_) => {
                drop(process); // its memory is free before the next task starts
                self.0.replenish();
            }
            End::NotAccepted(_) => {}
        }
        end
    }

    /// Passes on the frames of a worker, and checks the limits.
    fn watch<'s>(
        &self,
        process: &mut Process,
        task: &Task<'_>,
        calls: &Calls,
        scope: &'s Scope<'s, '_>,
        receive: &mut dyn FnMut(Vec<u8>) -> ControlFlow<()>,
    ) -> End {
        let started = Instant::now();
        let limit = self.limits().memory_megabytes;
        let mut checked = started;
        let mut is_accepted = false;
        let mut cancelled: Option<(Instant, WorkerError)> = None;
        loop {
            match process.receive(WATCH_INTERVAL) {
                Ok(Ok(Frame {
                    kind: Kind::Done, ..
                })) => {
                    // `Done` follows a cancellation, too: the streams are at the beginning of a frame, and the worker can be
                    // kept.
                    return match cancelled {
                        Some((_, error)) => End::Stopped(error),
                        None => End::Done,
                    };
                }
                Ok(Ok(Frame {
                    kind: Kind::Accepted,
                    ..
                })) => is_accepted = true,
                Ok(Ok(Frame {
                    kind: Kind::Output,
                    content,
                })) => {
                    if cancelled.is_none() && receive(content).is_break() {
                        cancel_task(process, scope);
                        cancelled = Some((Instant::now(), WorkerError::Cancelled));
                    }
                }
                Ok(Ok(frame)) => {
                    if let Err(reason) = handle_call(&frame, task, calls) {
                        return End::Failed(WorkerError::Ended(reason));
                    }
                }
                Ok(Err(error)) => return End::Failed(WorkerError::Ended(error.to_string())),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Some((_, error)) = cancelled {
                        return End::Failed(error);
                    }
                    return if is_accepted {
                        End::Failed(self.report_end(process, "its task failed, others continue"))
                    } else {
                        End::NotAccepted(self.report_end(process, "it had not accepted its task"))
                    };
                }
            }
            // By the clock, not by timeouts: a worker that sends without a pause would have none. Not at each frame, because a
            // file of `/proc` is read.
            if checked.elapsed() < WATCH_INTERVAL {
                continue;
            }
            checked = Instant::now();
            if process
                .memory_bytes()
                .is_some_and(|memory| memory >> 20 >= limit)
            {
                let error = match cancelled {
                    Some((_, error)) => error,
                    None => WorkerError::Memory(limit),
                };
                return End::Failed(error);
            }
            match &cancelled {
                Some((since, error)) if since.elapsed() >= GRACE_PERIOD => {
                    return End::Failed(error.clone());
                }
                Some(_) => {}
                None => {
                    let error = if (task.is_cancelled)() {
                        WorkerError::Cancelled
                    } else if started.elapsed() >= task.time {
                        WorkerError::Time(task.time)
                    } else {
                        continue;
                    };
                    cancel_task(process, scope);
                    cancelled = Some((Instant::now(), error));
                }
            }
        }
    }

    /// Returns the error for a worker that ended by itself, and logs it with its consequence.
    fn report_end(&self, process: &mut Process, consequence: &str) -> WorkerError {
        let reason = process.end_reason();
        if process.ran_out_of_memory() {
            return WorkerError::Memory(self.limits().memory_megabytes);
        }
        tracing::warn!(%reason, "a worker process ended unexpectedly; {consequence}");
        WorkerError::Ended(reason)
    }

    fn pop_idle(&self) -> Option<Process> {
        self.0.lock_idle().processes.pop()
    }

    /// Keeps a worker for the next task, or replaces it if it has run many tasks or keeps much memory.
    fn give_back(&self, process: Process) {
        let quarter = self.limits().memory_bytes() / 4;
        let is_used_up = process.tasks >= self.0.options.tasks
            || process.grown_bytes() > MAX_KEPT_MEMORY_BYTES.min(quarter);
        if is_used_up {
            drop(process);
            self.0.replenish();
        } else {
            self.0.keep_idle(process);
        }
    }
}

/// Cancels the task of a worker. The frame is written in a thread of its own, because the worker may not read.
fn cancel_task<'s>(process: &Process, scope: &'s Scope<'s, '_>) {
    let input = process.input();
    scope.spawn(move || {
        let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = protocol::write(&mut *input, Kind::Cancel, &[]); // a worker that ended needs no cancellation
    });
}

/// Handles a frame of a call. The error is the reason for which the worker is ended.
fn handle_call(frame: &Frame, task: &Task<'_>, calls: &Calls) -> Result<(), String> {
    match (frame.kind, task.answer) {
        (Kind::Open, Some(answer)) => {
            let (call, request) = calls
                .accept(&frame.content)
                .map_err(|fault| fault.to_string())?;
            let answer = Arc::clone(answer);
            let thread = thread::Builder::new()
                .name("worker call".to_owned())
                .stack_size(CALL_STACK_BYTES);
            thread
                .spawn(move || answer(&request, call))
                .map(drop)
                .map_err(|error| error.to_string())
        }
        (Kind::Message, Some(_)) => calls
            .deliver(&frame.content)
            .map_err(|fault| fault.to_string()),
        (Kind::Close, Some(_)) => calls
            .close(&frame.content)
            .map_err(|fault| fault.to_string()),
        (kind, _) => Err(format!("it sent {kind:?}")),
    }
}

/// Writes a task and its input. If the worker has ended, the frames of the worker end as well, and report it.
fn write_task(input: &Mutex<File>, task: &Task<'_>) {
    let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = write_to(&mut *input, task) {
        tracing::debug!(%error, "a worker process does not read its task");
    }
}

fn write_to(input: &mut impl Write, task: &Task<'_>) -> io::Result<()> {
    // Rounded up: the limit of the worker must not precede that of the parent.
    let seconds = u32::try_from(task.time.as_secs())
        .unwrap_or(u32::MAX / 4)
        .saturating_add(1);
    protocol::write(
        input,
        Kind::Task,
        &[&seconds.to_le_bytes(), task.task].concat(),
    )?;
    for piece in task.input.chunks(PIECE_BYTES) {
        protocol::write(input, Kind::Input, piece)?;
    }
    protocol::write(input, Kind::EndOfInput, &[])
}
