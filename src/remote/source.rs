//! The bytes of an answer, and what messages need of them.

use super::error::{Excerpt, RemoteError};
use crate::egress::EgressError;
use sparesults::QueryResultsParseError;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of an answer kept for messages.
const BEGINNING: usize = 1200;
/// Bytes of an answer kept to see whether it ended.
const ENDING: usize = 1024;

/// Both ends of an answer, as far as it was read.
#[derive(Default)]
struct Ends {
    beginning: Vec<u8>,
    ending: Vec<u8>,
}

impl Ends {
    fn add(&mut self, bytes: &[u8]) {
        let keep = bytes.len().min(BEGINNING - self.beginning.len());
        self.beginning.extend_from_slice(&bytes[..keep]);
        self.ending.extend_from_slice(&bytes[bytes.len().saturating_sub(ENDING)..]);
        let surplus = self.ending.len().saturating_sub(ENDING);
        self.ending.drain(..surplus);
    }
}

/// Whose answer it is and how it begins.
pub(super) struct Origin {
    pub(super) endpoint: String,
    pub(super) json: bool,
    ends: Arc<Mutex<Ends>>,
}

impl Origin {
    pub(super) fn new(endpoint: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), json: false, ends: Arc::default() }
    }

    pub(super) fn unreadable(&self, message: &str) -> RemoteError {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        RemoteError::Unreadable {
            endpoint: self.endpoint.clone(),
            json: self.json,
            message: Excerpt::of(message.as_bytes()).as_str().to_owned(),
            text: Excerpt::of(&ends.beginning),
        }
    }

    /// Whether the root element was closed, which the parser does not ask: half an answer would pass for a whole one.
    pub(super) fn xml_has_ended(&self) -> bool {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&ends.ending);
        let tag = text.rfind("</").map(|place| &text[place + 2..]);
        let name = tag.and_then(|tag| Some(tag.split_once('>')?.0.trim_end()));
        name.is_some_and(|name| name == "sparql" || name.ends_with(":sparql"))
    }

    pub(super) fn io(&self, error: &io::Error) -> RemoteError {
        match EgressError::behind(error) {
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

/// Counts what is read and keeps both its ends.
pub(super) struct Meter<R> {
    reader: R,
    bytes: Arc<AtomicU64>,
    ends: Arc<Mutex<Ends>>,
}

impl<R> Meter<R> {
    pub(super) fn new(reader: R, bytes: Arc<AtomicU64>, origin: &Origin) -> Self {
        Self { reader, bytes, ends: Arc::clone(&origin.ends) }
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
