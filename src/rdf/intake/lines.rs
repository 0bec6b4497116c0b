//! N-Triples and N-Quads: a broken line is skipped, the next one is read. Graph names are dropped: a dataset is one graph.

use super::{Refusal, Sink};
use oxrdf::Triple;
use oxttl::{NQuadsParser, TurtleParseError};
use std::io::{self, Read};

/// Refuses input in which more than `limit` bytes pass between two occurrences of `delimiter`, so that no reader behind
/// it has to hold more than that.
pub(super) struct TokenGuard<R> {
    inner: R,
    delimiter: u8,
    limit: usize,
    since_delimiter: usize,
    line: u64,
}

impl<R> TokenGuard<R> {
    pub(super) fn new(inner: R, delimiter: u8, limit: usize) -> Self {
        Self { inner, delimiter, limit, since_delimiter: 0, line: 1 }
    }
}

impl<R: Read> Read for TokenGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut start = 0;
        for place in memchr::memchr_iter(self.delimiter, &buffer[..read]) {
            self.check(self.since_delimiter + place - start)?;
            self.since_delimiter = 0;
            start = place + 1;
        }
        self.since_delimiter += read - start;
        self.check(self.since_delimiter)?;
        self.line += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
        Ok(read)
    }
}

impl<R> TokenGuard<R> {
    fn check(&self, length: usize) -> io::Result<()> {
        if length > self.limit {
            return Err(Refusal::TokenSize { limit: self.limit, line: self.line }.into());
        }
        Ok(())
    }
}

pub(super) fn read(reader: impl Read, sink: &mut Sink<'_>) -> io::Result<()> {
    let limit = sink.limits.token_bytes;
    let mut last_broken = 0;
    // N-Quads is a superset of N-Triples: a file of either may be named as the other.
    for quad in NQuadsParser::new().for_reader(TokenGuard::new(reader, b'\n', limit)) {
        match quad {
            Ok(quad) => sink.triple(&Triple::new(quad.subject, quad.predicate, quad.object)),
            Err(TurtleParseError::Syntax(error)) => {
                let line = error.location().start.line + 1;
                if line != last_broken {
                    sink.skip(Some(line), error.message());
                }
                last_broken = line;
            }
            Err(TurtleParseError::Io(error)) => return Err(error),
        }
    }
    Ok(())
}
