//! Bodies written while they are sent: a thread that computes writes, the connection takes.
//!
//! Only what the client has not taken yet is in memory, a few chunks of it. What does not say that it ended is broken off,
//! so that no client takes the half of something for all of it.

use crate::response_formats;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue};
use http_body::Frame;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes handed over at a time.
const CHUNK: usize = 64 << 10;
/// Chunks that wait for the client.
const WAITING: usize = 4;

/// How long a client may let the writer wait; after that it is given up.
#[derive(Clone, Copy)]
pub(super) enum Timeout {
    /// For each chunk.
    ForEach(Duration),
    /// For all of them.
    Until(Instant),
}

/// How a body ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// There is nothing more.
    Whole,
    /// There was more, and the body says so.
    Truncated,
}

enum Piece {
    Text(Bytes),
    End(End),
}

/// A writer, and the body that it writes. The body drops `kept` when it is dropped itself: when it was sent, or when the
/// client is gone.
pub(super) fn transfer<K: Send + 'static>(timeout: Timeout, kept: K) -> (ChunkWriter, Transfer<K>) {
    let (sender, receiver) = channel(WAITING);
    let writer = ChunkWriter { sender, buffer: Vec::with_capacity(CHUNK), timeout, runtime: Handle::current() };
    (writer, Transfer { first: None, receiver, ended: false, _kept: kept })
}

/// Writes into a channel that an answer's body reads.
pub(super) struct ChunkWriter {
    sender: Sender<io::Result<Piece>>,
    buffer: Vec<u8>,
    timeout: Timeout,
    runtime: Handle,
}

impl ChunkWriter {
    fn hand_over(&self, piece: io::Result<Piece>) -> io::Result<()> {
        let time = match self.timeout {
            Timeout::ForEach(time) => time,
            Timeout::Until(deadline) => deadline.saturating_duration_since(Instant::now()),
        };
        // On the runtime's clock, so that the timer is made where there is one.
        let sent = self.runtime.block_on(async { tokio::time::timeout(time, self.sender.send(piece)).await });
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Writes something else in the place of the last bytes written, if they are what they should be.
    pub(super) fn amend(&mut self, end: &str, other: &str) -> io::Result<()> {
        let kept = self.buffer.strip_suffix(end.as_bytes()).map(<[u8]>::len);
        let unexpected = || io::Error::other(format!("the text does not end with {end:?}"));
        self.buffer.truncate(kept.ok_or_else(unexpected)?);
        self.buffer.extend_from_slice(other.as_bytes());
        Ok(())
    }

    /// Says that the body ends here.
    pub(super) fn end(&mut self, end: End) -> io::Result<()> {
        self.flush()?;
        self.hand_over(Ok(Piece::End(end)))
    }

    /// Lets the client see that there should have been more. Without a client nothing is to be done.
    pub(super) fn break_off(&self, error: io::Error) {
        let _ = self.hand_over(Err(error));
    }
}

impl Write for ChunkWriter {
    /// What is written last stays in the buffer until it is flushed from outside, and can be amended.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > CHUNK {
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK));
        self.hand_over(Ok(Piece::Text(chunk.into())))
    }
}

/// The body of an answer: what was received already, then the rest.
pub(super) struct Transfer<K> {
    first: Option<io::Result<Piece>>,
    receiver: Receiver<io::Result<Piece>>,
    ended: bool,
    _kept: K,
}

impl<K: Send + Unpin + 'static> Transfer<K> {
    /// The body, once there is something to send; what fails before fails here.
    pub(super) async fn begun(mut self) -> io::Result<Body> {
        match self.receiver.recv().await {
            Some(Err(error)) => Err(error),
            first => {
                self.first = first;
                Ok(Body::new(self))
            }
        }
    }
}

impl<K: Unpin> HttpBody for Transfer<K> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => std::task::ready!(self.receiver.poll_recv(context)),
        };
        self.ended = !matches!(next, Some(Ok(Piece::Text(_))));
        Poll::Ready(match next {
            Some(Ok(Piece::Text(text))) => Some(Ok(Frame::data(text))),
            Some(Ok(Piece::End(End::Whole))) => None,
            Some(Ok(Piece::End(End::Truncated))) => {
                let mut trailers = HeaderMap::new();
                trailers
                    .insert(response_formats::TRUNCATED, HeaderValue::from_static(response_formats::TRUNCATED_NOTE));
                Some(Ok(Frame::trailers(trailers)))
            }
            Some(Err(error)) => Some(Err(error)),
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    /// What a client reads of what is written.
    async fn read(write: impl FnOnce(ChunkWriter) + Send + 'static) -> io::Result<(Vec<u8>, bool)> {
        let (writer, transfer) = transfer(Timeout::ForEach(Duration::from_secs(5)), ());
        let writing = tokio::task::spawn_blocking(move || write(writer));
        let whole = transfer.begun().await?.collect().await.map_err(io::Error::other)?;
        writing.await.expect("written");
        let marked = whole.trailers().is_some_and(|trailers| trailers.contains_key(response_formats::TRUNCATED));
        Ok((whole.to_bytes().to_vec(), marked))
    }

    #[tokio::test]
    async fn only_what_says_so_is_whole() {
        let text = |writer: &mut ChunkWriter, times: usize| {
            for _ in 0..times {
                writer.write_all(b"ab}").expect("written");
            }
        };
        for (end, marked) in [(End::Whole, false), (End::Truncated, true)] {
            let write = move |mut writer: ChunkWriter| {
                text(&mut writer, 100_000);
                writer.end(end).expect("ended");
            };
            assert_eq!(read(write).await.expect("whole"), (b"ab}".repeat(100_000), marked));
        }
        let gone = move |mut writer: ChunkWriter| text(&mut writer, 100_000);
        assert!(read(gone).await.is_err(), "the writer went away");
        let broken = move |mut writer: ChunkWriter| {
            text(&mut writer, 100_000);
            writer.break_off(io::Error::other("store"));
        };
        assert!(read(broken).await.is_err());
    }

    #[tokio::test]
    async fn the_end_can_be_amended_whatever_was_sent() {
        for length in [CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1] {
            let write = move |mut writer: ChunkWriter| {
                writer.write_all(&vec![b'a'; length]).expect("written");
                writer.write_all(b"}").expect("written");
                assert!(writer.amend("]", "").is_err());
                writer.amend("}", ",b}").expect("amended");
                writer.end(End::Whole).expect("ended");
            };
            let (bytes, _) = read(write).await.expect("whole");
            assert_eq!((bytes.len(), &bytes[length..]), (length + 3, b",b}".as_slice()), "{length}");
        }
    }
}
