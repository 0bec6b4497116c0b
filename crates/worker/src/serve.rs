//! The worker's side: reads tasks from the standard input and runs them one after the other.

use crate::calls::{CallLimits, Calls};
use crate::confinement::{Limits, allow_processor_time};
use crate::protocol::{self, Kind};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Work of a worker.
pub trait Handler: Send + Sync + 'static {
    /// Runs a task. The result goes to [`TaskContext::send`].
    ///
    /// # Errors
    /// If the parent no longer listens. Other errors are part of the result. An error ends the worker.
    fn handle(&self, task: &[u8], context: &TaskContext) -> io::Result<()>;
}

/// A running task: its input, its output and its cancellation.
pub struct TaskContext {
    input: Mutex<Receiver<Vec<u8>>>,
    output: Arc<Mutex<File>>,
    cancellation: Arc<Mutex<TaskCancellation>>,
    calls: Calls,
}

/// Cancellation of a task: what to do, or that it was requested.
#[derive(Default)]
struct TaskCancellation {
    requested: bool,
    act: Option<Box<dyn FnOnce() + Send>>,
}

impl TaskCancellation {
    fn request(&mut self) {
        self.requested = true;
        if let Some(act) = self.act.take() {
            act();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TaskContext {
    /// Returns the input of the task.
    pub fn input(&self) -> impl Read + '_ {
        TaskInput {
            pieces: lock(&self.input),
            piece: Vec::new(),
            place: 0,
        }
    }

    /// Sends a piece of the result to the parent.
    ///
    /// # Errors
    /// If the parent no longer listens.
    pub fn send(&self, output: &[u8]) -> io::Result<()> {
        protocol::write(&mut *lock(&self.output), Kind::Output, output)
    }

    /// Returns the calls of the task to its parent. The parent answers them if the task has an [`AnswerCall`](crate::AnswerCall).
    #[must_use]
    pub fn calls(&self) -> Calls {
        self.calls.clone()
    }

    /// Calls a function when the parent cancels the task, or at once if it did.
    pub fn on_cancel(&self, act: impl FnOnce() + Send + 'static) {
        let mut cancellation = lock(&self.cancellation);
        cancellation.act = Some(Box::new(act));
        if cancellation.requested {
            cancellation.request();
        }
    }
}

/// Reader of the input of a task.
struct TaskInput<'c> {
    pieces: MutexGuard<'c, Receiver<Vec<u8>>>,
    piece: Vec<u8>,
    place: usize,
}

impl Read for TaskInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.place == self.piece.len() {
            match self.pieces.recv() {
                Ok(piece) => (self.piece, self.place) = (piece, 0),
                Err(_) => return Ok(0),
            }
        }
        let mut rest = &self.piece[self.place..];
        let read = rest.read(buffer)?;
        self.place += read;
        Ok(read)
    }
}

/// Length of the time that a task may take, before its description, in bytes.
pub(crate) const TIME_BYTES: usize = 4;

/// Serves the tasks of the parent process until the standard input ends. The limits apply from the first moment.
///
/// # Errors
/// If the limits cannot be set, or if the parent breaks the protocol.
pub fn serve(limits: &Limits, handler: impl Handler) -> io::Result<()> {
    let missing = limits.apply()?;
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    // The standard output of the library is flushed at line breaks, which frames do not have. A file writes at once.
    let output = Arc::new(Mutex::new(File::from(
        io::stdout().as_fd().try_clone_to_owned()?,
    )));
    protocol::write(
        &mut *lock(&output),
        Kind::Ready,
        &serde_json::to_vec(&missing)?,
    )?;
    let stack = usize::try_from(limits.stack_megabytes.saturating_mul(1 << 20))
        .map_err(io::Error::other)?;
    let (tasks, waiting) = channel::<(Vec<u8>, TaskContext)>();
    // Tasks run in a thread of their own: this one must receive a cancellation meanwhile.
    thread::Builder::new()
        .name("task".to_owned())
        .stack_size(stack)
        .spawn(move || {
            while let Ok((task, context)) = waiting.recv() {
                run_task(&handler, &task, &context);
            }
        })?;
    let mut pieces: Option<Sender<Vec<u8>>> = None;
    let mut cancellation = Arc::new(Mutex::new(TaskCancellation::default()));
    let mut calls = Calls::new(Arc::clone(&output), CallLimits::NONE);
    while let Some(frame) = protocol::read(&mut input)? {
        match frame.kind {
            Kind::Task => {
                // After this frame the parent does not run the task in another worker.
                protocol::write(&mut *lock(&output), Kind::Accepted, &[])?;
                // No bound: if this thread waited until the task reads its input, it could not receive a cancellation. The
                // limit of memory applies.
                let (sender, receiver) = channel();
                pieces = Some(sender);
                cancellation = Arc::default();
                calls = Calls::new(Arc::clone(&output), CallLimits::NONE);
                let context = TaskContext {
                    input: Mutex::new(receiver),
                    output: Arc::clone(&output),
                    cancellation: Arc::clone(&cancellation),
                    calls: calls.clone(),
                };
                tasks
                    .send((frame.content, context))
                    .map_err(io::Error::other)?;
            }
            Kind::Input => {
                if let Some(pieces) = &pieces {
                    let _ = pieces.send(frame.content); // a task may end before its input
                }
            }
            Kind::EndOfInput => pieces = None,
            Kind::Message => calls.deliver(&frame.content).map_err(io::Error::other)?,
            Kind::Close => calls.close(&frame.content).map_err(io::Error::other)?,
            Kind::Cancel => lock(&cancellation).request(),
            other => {
                return Err(io::Error::other(format!(
                    "{other:?} is no frame for a worker"
                )));
            }
        }
    }
    end_process()
}

/// Runs a task. If it panics or loses its parent, the process ends: its state is not trusted any more.
fn run_task(handler: &impl Handler, frame: &[u8], context: &TaskContext) {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let (time, task) = frame
            .split_at_checked(TIME_BYTES)
            .ok_or(io::ErrorKind::InvalidData)?;
        let seconds = u32::from_le_bytes(time.try_into().map_err(io::Error::other)?);
        allow_processor_time(Duration::from_secs(u64::from(seconds) * 2))?;
        handler.handle(task, context)?;
        // A frame of a call after `Done` would be taken for one of the next task.
        context.calls.end();
        protocol::write(&mut *lock(&context.output), Kind::Done, &[])
    }));
    if !matches!(outcome, Ok(Ok(()))) {
        std::process::abort();
    }
}

/// Ends the process at once, without the destructors of libraries whose threads still run.
fn end_process() -> ! {
    // The filter of system calls permits no other signal.
    std::process::abort()
}
