//! Responses with bounded bodies.

use super::cancellation::{Cancellation, with_cancellation};
use super::error::{EgressError, EgressFault, ResponseStarted};
use std::fmt;
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::HeaderMap;
use ureq::http::response::Parts;

/// Status and headers of a response, and its unread body.
#[derive(Debug)]
pub struct Response {
    status: u16,
    headers: HeaderMap,
    address: String,
    body: Body,
}

impl Response {
    pub(super) fn new(parts: Parts, address: String, body: Body) -> Self {
        Self {
            status: parts.status.as_u16(),
            headers: parts.headers,
            address,
            body,
        }
    }

    /// Returns the IRI of the response, after all redirects.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the status code. It is never that of a followed redirect.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns a header, if its value is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Iterates over the text values of all headers with a name.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
    }

    /// Returns the delay before a retry from the `Retry-After` header.
    ///
    /// The header contains seconds or a date. A date is compared with the server's `Date` header.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.header("retry-after")?.trim();
        if let Ok(seconds) = value.parse() {
            return Some(Duration::from_secs(seconds));
        }
        // The date is one of the server's clock: the local one may differ.
        let then = httpdate::parse_http_date(value).ok()?;
        let now = httpdate::parse_http_date(self.header("date")?).ok()?;
        Some(then.duration_since(now).unwrap_or_default())
    }

    /// Returns the decompressed body.
    #[must_use]
    pub fn into_body(self) -> Body {
        self.body
    }
}

/// Decompressed body, bounded by the timeout and the size limit of the request.
///
/// Its errors contain an [`EgressError`]; [`EgressError::find_in`] returns it.
pub struct Body {
    reader: Box<dyn Read + Send>,
    iri: String,
    limit: u64,
    read: u64,
    cancellation: Cancellation,
}

impl Body {
    pub(super) fn new(
        reader: impl Read + Send + 'static,
        iri: String,
        limit: u64,
        cancellation: Cancellation,
    ) -> Self {
        Self {
            reader: Box::new(reader),
            iri,
            limit,
            read: 0,
            cancellation,
        }
    }

    /// Reads a part of the body and checks the limit. A body over the limit ends with an error, not with its end.
    fn next(&mut self, buffer: &mut [u8]) -> Result<usize, EgressFault> {
        if self.cancellation.is_cancelled() {
            return Err(EgressFault::Cancelled);
        }
        let reader = &mut self.reader;
        let read = with_cancellation(&self.cancellation, || reader.read(buffer));
        let length = read.map_err(|error| EgressFault::from_io(&error, ResponseStarted::Yes))?;
        self.read += length as u64;
        if self.read > self.limit {
            Err(EgressFault::TooLarge(self.limit))
        } else {
            Ok(length)
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.next(buffer).map_err(|fault| {
            io::Error::other(EgressError {
                iri: self.iri.clone(),
                fault,
            })
        })
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            iri, limit, read, ..
        } = self;
        let mut body = formatter.debug_struct("Body");
        body.field("iri", iri)
            .field("limit", limit)
            .field("read", read)
            .finish_non_exhaustive()
    }
}
