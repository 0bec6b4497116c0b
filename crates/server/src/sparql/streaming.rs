//! Streamed response bodies: a computing thread writes, the connection reads.
//!
//! At most a few chunks are in memory. A body that does not end explicitly is aborted, so that clients do not take a part for
//! the whole.

use crate::response_formats;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue};
use http_body::Frame;
use lodeseek_rdf::Omissions;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Size of a chunk in bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// Maximum number of chunks that wait for the client.
const MAX_WAITING_CHUNKS: usize = 4;

/// Time limit for a client to receive data. After it the writer fails.
#[derive(Clone, Copy)]
pub(crate) enum Timeout {
    /// Limit for each chunk.
    ForEach(Duration),
    /// Limit for all chunks together.
    Until(Instant),
}

/// End of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The body is complete.
    Complete,
    /// The body is truncated, and marked as such.
    Truncated,
}

enum Chunk {
    Text(Bytes),
    /// End of the body, with its trailers.
    End(HeaderMap),
}

/// Creates a writer and the body that reads from it. Dropping the body, after the transfer or when the client disconnects,
/// drops `guard`.
pub(crate) fn transfer<K: Send + 'static>(
    timeout: Timeout,
    guard: K,
) -> (ChunkWriter, Transfer<K>) {
    let (sender, receiver) = channel(MAX_WAITING_CHUNKS);
    let writer = ChunkWriter {
        sender,
        buffer: Vec::with_capacity(CHUNK_BYTES),
        timeout,
        runtime: Handle::current(),
    };
    (
        writer,
        Transfer {
            first: None,
            receiver,
            ended: false,
            _guard: guard,
        },
    )
}

/// Writer into the channel of a response body.
pub(crate) struct ChunkWriter {
    sender: Sender<io::Result<Chunk>>,
    buffer: Vec<u8>,
    timeout: Timeout,
    runtime: Handle,
}

impl ChunkWriter {
    fn hand_over(&self, piece: io::Result<Chunk>) -> io::Result<()> {
        let time = match self.timeout {
            Timeout::ForEach(time) => time,
            Timeout::Until(deadline) => deadline.saturating_duration_since(Instant::now()),
        };
        // The timer needs the runtime's clock.
        let sent = self
            .runtime
            // Writers run on threads for blocking work, which may wait.
            .block_on(async { tokio::time::timeout(time, self.sender.send(piece)).await });
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Replaces the last bytes written. Fails if these are not `end`.
    pub(super) fn amend(&mut self, end: &str, other: &str) -> io::Result<()> {
        let Some(kept) = self.buffer.strip_suffix(end.as_bytes()).map(<[u8]>::len) else {
            let message = format!("the text does not end with {end:?}");
            return Err(io::Error::other(message));
        };
        self.buffer.truncate(kept);
        self.buffer.extend_from_slice(other.as_bytes());
        Ok(())
    }

    /// Marks the end of the body. Trailers name what is missing in it.
    pub(crate) fn end(&mut self, end: End, omissions: &Omissions) -> io::Result<()> {
        self.flush()?;
        let mut trailers = HeaderMap::new();
        if end == End::Truncated {
            trailers.insert(
                response_formats::TRUNCATED,
                HeaderValue::from_static(response_formats::TRUNCATED_NOTE),
            );
        }
        response_formats::mark_omissions(omissions, &mut trailers);
        self.hand_over(Ok(Chunk::End(trailers)))
    }

    /// Aborts the body, so that the client detects it. Without a client this has no effect.
    pub(crate) fn abort(&self, error: io::Error) {
        let _ = self.hand_over(Err(error));
    }
}

impl Write for ChunkWriter {
    /// The last bytes stay in the buffer until the next flush, so that they can be amended.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > CHUNK_BYTES {
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES));
        self.hand_over(Ok(Chunk::Text(chunk.into())))
    }
}

/// Response body: the first chunk, then the rest.
pub(crate) struct Transfer<K> {
    first: Option<io::Result<Chunk>>,
    receiver: Receiver<io::Result<Chunk>>,
    ended: bool,
    _guard: K,
}

impl<K: Send + Unpin + 'static> Transfer<K> {
    /// Returns the body after its first chunk is available. Earlier errors are returned here.
    pub(crate) async fn start(mut self) -> io::Result<Body> {
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

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => std::task::ready!(self.receiver.poll_recv(context)),
        };
        self.ended = !matches!(next, Some(Ok(Chunk::Text(_))));
        Poll::Ready(match next {
            Some(Ok(Chunk::Text(text))) => Some(Ok(Frame::data(text))),
            Some(Ok(Chunk::End(trailers))) if trailers.is_empty() => None,
            Some(Ok(Chunk::End(trailers))) => Some(Ok(Frame::trailers(trailers))),
            Some(Err(error)) => Some(Err(error)),
            // The writer was dropped without an end, for example by a panic.
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    /// Returns the bytes that a client receives.
    async fn read(write: impl FnOnce(ChunkWriter) + Send + 'static) -> io::Result<(Vec<u8>, bool)> {
        let (writer, transfer) = transfer(Timeout::ForEach(Duration::from_secs(5)), ());
        let writing = tokio::task::spawn_blocking(move || write(writer));
        let whole = transfer
            .start()
            .await?
            .collect()
            .await
            .map_err(io::Error::other)?;
        writing.await.expect("written");
        let marked = whole
            .trailers()
            .is_some_and(|trailers| trailers.contains_key(response_formats::TRUNCATED));
        Ok((whole.to_bytes().to_vec(), marked))
    }

    #[tokio::test]
    async fn only_a_body_with_an_end_is_complete() {
        let text = |writer: &mut ChunkWriter, times: usize| {
            for _ in 0..times {
                writer.write_all(b"ab}").expect("written");
            }
        };
        for (end, marked) in [(End::Complete, false), (End::Truncated, true)] {
            let write = move |mut writer: ChunkWriter| {
                text(&mut writer, 100_000);
                writer.end(end, &Omissions::default()).expect("ended");
            };
            assert_eq!(
                read(write).await.expect("whole"),
                (b"ab}".repeat(100_000), marked)
            );
        }
        let gone = move |mut writer: ChunkWriter| text(&mut writer, 100_000);
        assert!(read(gone).await.is_err(), "the writer went away");
        let broken = move |mut writer: ChunkWriter| {
            text(&mut writer, 100_000);
            writer.abort(io::Error::other("store"));
        };
        assert!(read(broken).await.is_err());
    }

    #[tokio::test]
    async fn the_end_can_be_amended_whatever_was_sent() {
        for length in [
            CHUNK_BYTES - 2,
            CHUNK_BYTES - 1,
            CHUNK_BYTES,
            CHUNK_BYTES + 1,
        ] {
            let write = move |mut writer: ChunkWriter| {
                writer.write_all(&vec![b'a'; length]).expect("written");
                writer.write_all(b"}").expect("written");
                assert!(writer.amend("]", "").is_err());
                writer.amend("}", ",b}").expect("amended");
                writer
                    .end(End::Complete, &Omissions::default())
                    .expect("ended");
            };
            let (bytes, _) = read(write).await.expect("whole");
            assert_eq!(
                (bytes.len(), &bytes[length..]),
                (length + 3, b",b}".as_slice()),
                "{length}"
            );
        }
    }
}
