//! Response bytes, and excerpts of them for error messages.

use super::error::{Excerpt, RemoteError};
use super::json_results::JsonError;
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
        self.ending
            .extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
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
        Self {
            endpoint: endpoint.to_owned(),
            json: false,
            ends: Arc::default(),
        }
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

    pub(super) fn json_error(&self, error: JsonError, limit: u64) -> RemoteError {
        match error {
            JsonError::Io(error) => self.io(&error),
            JsonError::Invalid(message) => self.unreadable(&message),
            JsonError::TooManyRows => RemoteError::TooManyRows {
                endpoint: self.endpoint.clone(),
                limit,
            },
        }
    }

    pub(super) fn parser(&self, error: &QueryResultsParseError) -> RemoteError {
        match error {
            QueryResultsParseError::Io(error) => self.io(error),
            QueryResultsParseError::Syntax(error) => self.unreadable(&error.to_string()),
        }
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
        Self {
            reader,
            bytes,
            ends: Arc::clone(&context.ends),
        }
    }
}

impl<R: Read> Read for Meter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        self.ends
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&buffer[..length]);
        Ok(length)
    }
}
