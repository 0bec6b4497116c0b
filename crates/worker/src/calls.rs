//! Calls: conversations of a task with its parent, for work that a worker cannot do itself.
//!
//! The worker opens a call with a request. Then both sides send messages until one of them closes the call. Several calls may be open
//! at a time. They end with their task.

use crate::protocol::{self, Kind};
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Length of the number of a call, before the content of its frames, in bytes.
const NUMBER_BYTES: usize = 4;

/// Numbers of the calls of this process. A late frame of an earlier task never belongs to a call of the current one.
static NUMBERS: AtomicU32 = AtomicU32::new(0);

/// Why the frame of a call ends the worker that sent it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallFault {
    #[error("its frame has no number of a call")]
    NoNumber,
    #[error("it opened call {0}, which is open")]
    OpenNumber(u32),
    #[error("it opened more than {0} calls at a time")]
    TooManyCalls(usize),
    #[error("it sent more than {0} messages before they were read")]
    TooManyMessages(usize),
    #[error("its requests and unread messages have more than {0} bytes")]
    TooManyBytes(usize),
}

/// Limits on the calls of a task that the other side opens.
#[derive(Clone, Copy)]
pub(crate) struct CallLimits {
    /// Maximum number of calls that this side has not dropped. The other side may have closed them.
    pub(crate) calls: usize,
    /// Maximum number of messages of a call that wait.
    pub(crate) messages: usize,
    /// Maximum length of the requests and waiting messages of all these calls, in bytes.
    pub(crate) bytes: usize,
}

impl CallLimits {
    /// No limits: for the side that trusts the other.
    pub(crate) const NONE: Self = Self {
        calls: usize::MAX,
        messages: usize::MAX,
        bytes: usize::MAX,
    };
}

/// The calls of a task, on one side.
#[derive(Clone)]
pub struct Calls(Arc<Shared>);

struct Shared {
    writer: Arc<Mutex<File>>,
    open: Mutex<HashMap<u32, Peer>>,
    /// If true, the task has ended. It is set while the writer is locked, so that no frame follows the end of the task.
    is_over: AtomicBool,
    limits: CallLimits,
    /// Number of calls that this side has not dropped.
    live: AtomicUsize,
    /// Length of their requests and waiting messages, in bytes.
    held_bytes: AtomicUsize,
}

/// Receiver of the frames of an open call.
struct Peer {
    messages: Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    is_closed: Arc<AtomicBool>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Calls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Calls")
            .field("open", &lock(&self.0.open).len())
            .finish_non_exhaustive()
    }
}

impl Calls {
    pub(crate) fn new(writer: Arc<Mutex<File>>, limits: CallLimits) -> Self {
        let (open, is_over) = (Mutex::default(), AtomicBool::new(false));
        let (live, held_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self(Arc::new(Shared {
            writer,
            open,
            is_over,
            limits,
            live,
            held_bytes,
        }))
    }

    /// Opens a call with a request to the parent.
    ///
    /// # Errors
    /// If the task has ended, or if the parent no longer listens.
    pub fn open(&self, request: &[u8]) -> io::Result<Call> {
        // The number must be unique only, so that no order with other memory is needed. The call is registered before the frame
        // is sent: the first message may follow at once.
        let call = self.call(NUMBERS.fetch_add(1, Ordering::Relaxed), 0);
        self.0.send(Kind::Open, call.number, request)?;
        Ok(call)
    }

    /// Accepts a call that the other side opened. Returns the call and its request.
    pub(crate) fn accept(&self, frame: &[u8]) -> Result<(Call, Vec<u8>), CallFault> {
        let (number, request) = split_number(frame)?;
        if lock(&self.0.open).contains_key(&number) {
            return Err(CallFault::OpenNumber(number));
        }
        // One thread accepts calls, so that no other one exceeds the limit between check and count.
        if self.0.live.load(Ordering::Acquire) >= self.0.limits.calls {
            return Err(CallFault::TooManyCalls(self.0.limits.calls));
        }
        self.0.reserve_bytes(request.len())?;
        Ok((self.call(number, request.len()), request.to_owned()))
    }

    fn call(&self, number: u32, request_bytes: usize) -> Call {
        self.0.live.fetch_add(1, Ordering::AcqRel);
        let (messages, receiver) = channel();
        let (waiting, is_closed) = (Arc::default(), Arc::default());
        let peer = Peer {
            messages,
            waiting: Arc::clone(&waiting),
            is_closed: Arc::clone(&is_closed),
        };
        lock(&self.0.open).insert(number, peer);
        Call {
            number,
            calls: self.clone(),
            messages: receiver,
            waiting,
            is_closed,
            request_bytes,
        }
    }

    /// Hands a message to its call. That of a call that is closed is dropped.
    pub(crate) fn deliver(&self, frame: &[u8]) -> Result<(), CallFault> {
        let (number, message) = split_number(frame)?;
        let open = lock(&self.0.open);
        let Some(peer) = open.get(&number) else {
            return Ok(());
        };
        // A fault ends the worker, and with it all calls: the counts need not be corrected.
        if peer.waiting.fetch_add(1, Ordering::AcqRel) >= self.0.limits.messages {
            return Err(CallFault::TooManyMessages(self.0.limits.messages));
        }
        self.0.reserve_bytes(message.len())?;
        let _ = peer.messages.send(message.to_owned()); // its receiver lives: a call that is dropped leaves the map first
        Ok(())
    }

    /// Closes a call that the other side closed.
    pub(crate) fn close(&self, frame: &[u8]) -> Result<(), CallFault> {
        let (number, _) = split_number(frame)?;
        lock(&self.0.open).remove(&number);
        Ok(())
    }

    /// Ends all calls: no frame of them is sent any more.
    pub(crate) fn end(&self) {
        let writer = lock(&self.0.writer);
        self.0.is_over.store(true, Ordering::Release);
        drop(writer);
        lock(&self.0.open).clear();
    }
}

impl Shared {
    /// Counts the bytes of a request or a message, until [`Self::release_bytes`].
    fn reserve_bytes(&self, bytes: usize) -> Result<(), CallFault> {
        let bytes_before = self.held_bytes.fetch_add(bytes, Ordering::AcqRel);
        if bytes_before.saturating_add(bytes) > self.limits.bytes {
            return Err(CallFault::TooManyBytes(self.limits.bytes));
        }
        Ok(())
    }

    fn release_bytes(&self, bytes: usize) {
        self.held_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    fn send(&self, kind: Kind, number: u32, content: &[u8]) -> io::Result<()> {
        let mut writer = lock(&self.writer);
        if self.is_over.load(Ordering::Acquire) {
            return Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                "the task has ended",
            ));
        }
        protocol::write_parts(&mut *writer, kind, &[&number.to_le_bytes(), content])
    }
}

fn split_number(frame: &[u8]) -> Result<(u32, &[u8]), CallFault> {
    let (number, content) = frame
        .split_first_chunk::<NUMBER_BYTES>()
        .ok_or(CallFault::NoNumber)?;
    Ok((u32::from_le_bytes(*number), content))
}

/// One side of an open call. Dropping it closes the call.
#[derive(Debug)]
pub struct Call {
    number: u32,
    calls: Calls,
    messages: Receiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    is_closed: Arc<AtomicBool>,
    /// Length of the request if the other side opened the call; else 0.
    request_bytes: usize,
}

impl Call {
    /// Sends a message. It blocks while the other process does not read.
    ///
    /// # Errors
    /// If the other side closed the call, or if the other process ended.
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                "the call is closed",
            ));
        }
        self.calls.0.send(Kind::Message, self.number, message)
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`] after the time; [`RecvTimeoutError::Disconnected`] if the call is closed.
    pub fn receive(&self, time: Duration) -> Result<Vec<u8>, RecvTimeoutError> {
        self.messages
            .recv_timeout(time)
            .inspect(|message| self.release_message(message))
    }

    /// Returns the next message, if there is one.
    #[must_use]
    pub fn try_receive(&self) -> Option<Vec<u8>> {
        match self.messages.try_recv() {
            Ok(message) => {
                self.release_message(&message);
                Some(message)
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }

    fn release_message(&self, message: &[u8]) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        self.calls.0.release_bytes(message.len());
    }

    /// Removes the call from the open ones. Returns false if it was closed; its number may be that of a new call then.
    fn remove(&self) -> bool {
        let mut open = lock(&self.calls.0.open);
        let is_open = open
            .get(&self.number)
            .is_some_and(|peer| Arc::ptr_eq(&peer.is_closed, &self.is_closed));
        is_open && open.remove(&self.number).is_some()
    }

    /// Returns the flag that is true once the other side closed the call. Messages that it sent before may still wait.
    #[must_use]
    pub fn closed_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_closed)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.remove() {
            let _ = self.calls.0.send(Kind::Close, self.number, &[]); // the other process may have ended
        }
        // The call is out of the map, so that no message follows those that are released here.
        while self.try_receive().is_some() {}
        self.calls.0.release_bytes(self.request_bytes);
        self.calls.0.live.fetch_sub(1, Ordering::AcqRel); // last, because sending may block
    }
}
