//! The bytes of an answer, and what messages need of them.

use super::error::{Excerpt, RemoteError};
use crate::egress::EgressError;
use sparesults::QueryResultsParseError;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of an answer kept for messages.
const BEGINNING: usize = 1200;

/// The beginning of an answer, as far as it was read.
#[derive(Clone, Default)]
struct Beginning(Arc<Mutex<Vec<u8>>>);

/// Whose answer it is and how it begins.
pub(super) struct Origin {
    pub(super) endpoint: String,
    pub(super) json: bool,
    beginning: Beginning,
}

impl Origin {
    pub(super) fn new(endpoint: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), json: false, beginning: Beginning::default() }
    }

    pub(super) fn unreadable(&self, message: &str) -> RemoteError {
        let beginning = self.beginning.0.lock().unwrap_or_else(PoisonError::into_inner);
        RemoteError::Unreadable {
            endpoint: self.endpoint.clone(),
            json: self.json,
            message: Excerpt::of(message.as_bytes()).as_str().to_owned(),
            text: Excerpt::of(&beginning),
        }
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

/// Counts what is read and keeps its beginning.
pub(super) struct Meter<R> {
    reader: R,
    bytes: Arc<AtomicU64>,
    beginning: Beginning,
    kept: usize,
}

impl<R> Meter<R> {
    pub(super) fn new(reader: R, bytes: Arc<AtomicU64>, origin: &Origin) -> Self {
        Self { reader, bytes, beginning: origin.beginning.clone(), kept: 0 }
    }
}

impl<R: Read> Read for Meter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        let keep = length.min(BEGINNING - self.kept);
        if keep > 0 {
            self.kept += keep;
            let mut beginning = self.beginning.0.lock().unwrap_or_else(PoisonError::into_inner);
            beginning.extend_from_slice(&buffer[..keep]);
        }
        Ok(length)
    }
}
