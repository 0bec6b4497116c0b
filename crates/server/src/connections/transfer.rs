//! Transfers with a minimum rate: request bodies, and the stream of a connection.

use super::idle::Place;
use super::{ConnectionLimits, LINGER_TIME, MAX_UNFINISHED_BYTES, TrustedBody};
use crate::error::ApiError;
use axum::body::Bytes;
use axum::http::StatusCode;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// Cause of an incomplete request body, other than a disconnected client.
#[derive(Clone, Copy)]
pub(super) enum BodyFailure {
    TooSlow,
    NoMemory,
}

impl BodyFailure {
    pub(super) fn error(self) -> ApiError {
        match self {
            Self::TooSlow => ApiError::with_status(
                StatusCode::REQUEST_TIMEOUT,
                "the request body arrived too slowly",
            ),
            Self::NoMemory => ApiError::with_status(
                StatusCode::SERVICE_UNAVAILABLE,
                format!(
                    "unfinished request bodies fill {} MB; try again later",
                    MAX_UNFINISHED_BYTES >> 20
                ),
            ),
        }
    }
}

/// Minimum rate of a transfer. Only time during which the client keeps the server waiting counts.
pub(super) struct Pace {
    min_rate: u32,
    max_lag: Duration,
    /// Remaining time to wait. Waiting consumes it; transferred bytes restore it, up to `max_lag`.
    credit: Duration,
    stall: Option<Stall>,
}

/// The current wait for a client.
struct Stall {
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl ConnectionLimits {
    pub(super) fn pace(&self) -> Pace {
        Pace {
            min_rate: self.min_rate.max(1),
            max_lag: self.max_lag,
            credit: self.max_lag,
            stall: None,
        }
    }
}

impl Pace {
    /// Accounts for the outcome of a transfer. Returns an error if the client has used up its credit. `bytes` returns the size of
    /// what was transferred.
    pub(super) fn check<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<T>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(transferred) = outcome {
            if let Some(stall) = self.stall.take() {
                self.credit = self.credit.saturating_sub(stall.since.elapsed());
            }
            let earned =
                Duration::from_secs_f64(bytes(&transferred) as f64 / f64::from(self.min_rate));
            self.credit = self.credit.saturating_add(earned).min(self.max_lag);
            return Poll::Ready(Ok(transferred));
        }
        let credit = self.credit;
        // One timer for each wait, however often the future is polled.
        let stall = self.stall.get_or_insert_with(|| Stall {
            since: Instant::now(),
            timer: Box::pin(sleep(credit)),
        });
        ready!(stall.timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// A request body that fails if the client sends it too slowly.
pub(super) struct PacedBody {
    pub(super) body: Incoming,
    pub(super) pace: Pace,
    pub(super) deadline: Pin<Box<Sleep>>,
    /// Set to false when the body is complete.
    pub(super) has_unread: Arc<AtomicBool>,
    pub(super) failure: Arc<OnceLock<BodyFailure>>,
    pub(super) trusted: TrustedBody,
    /// Bytes of all unfinished bodies, with `received` of this one.
    pub(super) unfinished_bytes: Arc<AtomicUsize>,
    pub(super) received: usize,
}

impl PacedBody {
    /// Adds bytes to those of unfinished bodies. Returns false if these are too many.
    fn count(&mut self, bytes: usize) -> bool {
        if self.trusted.is_granted() {
            return true;
        }
        self.received += bytes;
        // Relaxed: the sum needs no order with other memory.
        self.unfinished_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_UNFINISHED_BYTES
    }

    fn fail(
        &self,
        failure: BodyFailure,
        error: io::ErrorKind,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let _ = self.failure.set(failure); // the first one counts
        Poll::Ready(Some(Err(io::Error::from(error).into())))
    }
}

impl Drop for PacedBody {
    fn drop(&mut self) {
        self.unfinished_bytes
            .fetch_sub(self.received, Ordering::Relaxed);
    }
}

impl http_body::Body for PacedBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = &mut *self;
        let received = Pin::new(&mut this.body).poll_frame(context);
        // A part that has arrived is accepted even after the deadline.
        let is_late = received.is_pending()
            && !this.trusted.is_granted()
            && this.deadline.as_mut().poll(context).is_ready();
        if is_late {
            return this.fail(BodyFailure::TooSlow, io::ErrorKind::TimedOut);
        }
        let Ok(received) = ready!(this.pace.check(context, received, count_bytes)) else {
            return this.fail(BodyFailure::TooSlow, io::ErrorKind::TimedOut);
        };
        if !this.count(count_bytes(&received)) {
            return this.fail(BodyFailure::NoMemory, io::ErrorKind::OutOfMemory);
        }
        if this.body.is_end_stream() || received.is_none() {
            this.has_unread.store(false, Ordering::Relaxed);
        }
        Poll::Ready(received.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn count_bytes(frame: &Option<Result<Frame<Bytes>, hyper::Error>>) -> usize {
    let Some(Ok(frame)) = frame else {
        return 0;
    };
    match frame.data_ref() {
        Some(data) => data.len(),
        None => 0,
    }
}

/// A connection that fails if the client reads too slowly.
pub(super) struct PacedStream {
    pub(super) stream: TcpStream,
    pub(super) pace: Pace,
    pub(super) place: Arc<Place>,
    /// If true, the client may still send a body that nobody reads.
    pub(super) has_unread: Arc<AtomicBool>,
    /// Time limit to discard this body.
    pub(super) linger: Option<Pin<Box<Sleep>>>,
}

impl PacedStream {
    /// Discards what the client still sends, for a bounded time.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let timer = self
            .linger
            .get_or_insert_with(|| Box::pin(sleep(LINGER_TIME)));
        if timer.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut bytes = [0; 8 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
    }
}

impl AsyncRead for PacedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for PacedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.pace
            .check(context, written, written_bytes)
            .map(io::Result::flatten)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.pace
            .check(context, written, written_bytes)
            .map(io::Result::flatten)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.place.record_flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Once: later polls only discard.
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        if self.has_unread.load(Ordering::Relaxed) {
            ready!(self.poll_discard(context));
        }
        Poll::Ready(Ok(()))
    }
}

fn written_bytes(written: &io::Result<usize>) -> usize {
    written.as_ref().copied().unwrap_or_default()
}
