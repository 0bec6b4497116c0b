//! Response bytes, and excerpts of them for error messages.

use super::error::{Excerpt, RemoteError};
use crate::egress::EgressError;
use sparesults::QueryResultsParseError;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of bytes kept of the beginning of a response, for error messages.
const HEAD_BYTES: usize = 1200;
/// Number of bytes kept of the end of a response, to detect truncation.
const TAIL_BYTES: usize = 1024;

/// Beginning and end of the part of a response that was read.
#[derive(Default)]
struct ResponseEnds {
    beginning: Vec<u8>,
    ending: Vec<u8>,
}

impl ResponseEnds {
    fn add(&mut self, bytes: &[u8]) {
        let keep = bytes.len().min(HEAD_BYTES - self.beginning.len());
        self.beginning.extend_from_slice(&bytes[..keep]);
        self.ending.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.ending.len().saturating_sub(TAIL_BYTES);
        self.ending.drain(..surplus);
    }
}

/// Endpoint, format and excerpts of a response.
pub(super) struct ResponseContext {
    pub(super) endpoint: String,
    pub(super) json: bool,
    ends: Arc<Mutex<ResponseEnds>>,
}

impl ResponseContext {
    pub(super) fn new(endpoint: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), json: false, ends: Arc::default() }
    }

    pub(super) fn unreadable(&self, message: &str) -> RemoteError {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        RemoteError::Unreadable {
            endpoint: self.endpoint.clone(),
            json: self.json,
            message: Excerpt::from_bytes(message.as_bytes()).as_str().to_owned(),
            text: Excerpt::from_bytes(&ends.beginning),
        }
    }

    /// Returns true if the root element is closed. The parser does not check this and would accept a truncated response.
    pub(super) fn xml_has_ended(&self) -> bool {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&ends.ending);
        let tag = text.rfind("</").map(|place| &text[place + 2..]);
        let name = tag.and_then(|tag| Some(tag.split_once('>')?.0.trim_end()));
        name.is_some_and(|name| name == "sparql" || name.ends_with(":sparql"))
    }

    pub(super) fn io(&self, error: &io::Error) -> RemoteError {
        match EgressError::find_in(error) {
            Some(error) => error.clone().into(),
            None => self.unreadable(&error.to_string()),
        }
    }

    pub(super) fn parser(&self, error: &QueryResultsParseError) -> RemoteError {
        match error {
            QueryResultsParseError::Io(error) => self.io(error),
            QueryResultsParseError::Syntax(error) => self.unreadable(&error.to_string()),
        }
    }
}

/// Beginning of a blank node in Virtuoso's JSON. Its `://` is not valid in a label.
///
/// The quotes would be escaped inside a literal, so these bytes occur nowhere else.
const VIRTUOSO_NODE_ID: &[u8] = b"\"bnode\", \"value\": \"nodeID://";
/// Number of trailing bytes that are not valid in a label.
const INVALID_BYTES: usize = 3;

/// Filter that makes Virtuoso's blank node labels valid: `nodeID://b1` becomes `nodeID___b1`.
pub(super) struct VirtuosoNodeIdFilter<R> {
    reader: R,
    /// Bytes of [`VIRTUOSO_NODE_ID`] that were read last.
    matched: usize,
}

impl<R> VirtuosoNodeIdFilter<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, matched: 0 }
    }

    fn rename(&mut self, byte: &mut u8) {
        if *byte != VIRTUOSO_NODE_ID[self.matched] {
            self.matched = usize::from(*byte == VIRTUOSO_NODE_ID[0]); // a quote may start the next match
            return;
        }
        self.matched += 1;
        if self.matched > VIRTUOSO_NODE_ID.len() - INVALID_BYTES {
            *byte = b'_';
        }
        self.matched %= VIRTUOSO_NODE_ID.len();
    }
}

impl<R: Read> Read for VirtuosoNodeIdFilter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        buffer[..length].iter_mut().for_each(|byte| self.rename(byte));
        Ok(length)
    }
}

/// Reader that counts bytes and keeps the beginning and end of a response.
pub(super) struct Meter<R> {
    reader: R,
    bytes: Arc<AtomicU64>,
    ends: Arc<Mutex<ResponseEnds>>,
}

impl<R> Meter<R> {
    pub(super) fn new(reader: R, bytes: Arc<AtomicU64>, context: &ResponseContext) -> Self {
        Self { reader, bytes, ends: Arc::clone(&context.ends) }
    }
}

impl<R: Read> Read for Meter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..length]);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader of one byte at a time, which splits the input everywhere.
    struct Slow<'s>(&'s [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.take(1).read(buffer).inspect(|length| self.0 = &self.0[*length..])
        }
    }

    #[test]
    fn blank_nodes_of_virtuoso_are_renamed_and_nothing_else() {
        for (text, expected) in [
            (
                r#"{"s": { "type": "bnode", "value": "nodeID://b1" }}"#,
                r#"{"s": { "type": "bnode", "value": "nodeID___b1" }}"#,
            ),
            (r#"{"type": "uri", "value": "nodeID://b1"}"#, r#"{"type": "uri", "value": "nodeID://b1"}"#),
            (r#""\"bnode\", \"value\": \"nodeID://b1""#, r#""\"bnode\", \"value\": \"nodeID://b1""#),
            (
                r#"""bnode", "value": "nodeID://"bnode", "value": "nodeID://"#,
                r#"""bnode", "value": "nodeID___"bnode", "value": "nodeID___"#,
            ),
        ] {
            let mut read = String::new();
            VirtuosoNodeIdFilter::new(Slow(text.as_bytes())).read_to_string(&mut read).expect("in memory");
            assert_eq!(read, expected);
        }
    }
}
