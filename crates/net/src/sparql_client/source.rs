//! Response bytes, and excerpts of them for error messages.

use super::error::{Excerpt, RemoteError};
use super::terms::ReadError;
use crate::egress::EgressError;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of bytes kept of the beginning of a response, for error messages.
const MAX_HEAD_BYTES: usize = 1200;

/// Endpoint, format and beginning of a response.
pub(super) struct ResponseContext {
    pub(super) endpoint: String,
    pub(super) json: bool,
    /// The first bytes that were read.
    beginning: Arc<Mutex<Vec<u8>>>,
}

impl ResponseContext {
    pub(super) fn new(endpoint: &str) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            json: false,
            beginning: Arc::default(),
        }
    }

    pub(super) fn unreadable_error(&self, message: &str) -> RemoteError {
        let beginning = self
            .beginning
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        RemoteError::Unreadable {
            endpoint: self.endpoint.clone(),
            json: self.json,
            message: Excerpt::from_bytes(message.as_bytes()).as_str().to_owned(),
            text: Excerpt::from_bytes(&beginning),
        }
    }

    pub(super) fn io_error(&self, error: &io::Error) -> RemoteError {
        match EgressError::find_in(error) {
            Some(error) => error.clone().into(),
            None => self.unreadable_error(&error.to_string()),
        }
    }

    pub(super) fn read_error(&self, error: ReadError, limit: u64) -> RemoteError {
        match error {
            ReadError::Io(error) => self.io_error(&error),
            ReadError::Invalid(message) => self.unreadable_error(&message),
            ReadError::TooManyRows => RemoteError::TooManyRows {
                endpoint: self.endpoint.clone(),
                limit,
            },
        }
    }
}

/// Reader that counts bytes and keeps the beginning of a response.
pub(super) struct Meter<R> {
    reader: R,
    bytes: Arc<AtomicU64>,
    beginning: Arc<Mutex<Vec<u8>>>,
}

impl<R> Meter<R> {
    pub(super) fn new(reader: R, bytes: Arc<AtomicU64>, context: &ResponseContext) -> Self {
        Self {
            reader,
            bytes,
            beginning: Arc::clone(&context.beginning),
        }
    }
}

impl<R: Read> Read for Meter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        let mut beginning = self
            .beginning
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let keep = length.min(MAX_HEAD_BYTES - beginning.len());
        beginning.extend_from_slice(&buffer[..keep]);
        Ok(length)
    }
}
