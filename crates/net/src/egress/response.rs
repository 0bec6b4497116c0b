//! Answers, read within their bounds.

use super::cancellation::{Cancellation, with_cancellation};
use super::error::{EgressError, EgressFault, ResponseStarted};
use std::fmt;
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::HeaderMap;
use ureq::http::response::Parts;

/// The status and headers of an answer; its body is still to be read.
#[derive(Debug)]
pub struct Response {
    status: u16,
    headers: HeaderMap,
    address: String,
    body: Body,
}

impl Response {
    pub(super) fn new(parts: Parts, address: String, body: Body) -> Self {
        Self { status: parts.status.as_u16(), headers: parts.headers, address, body }
    }

    /// Who started: what was asked, or what it redirected to in the end.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The status code: any but those of a redirect that could be followed.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// A header, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Every header of a name that is text.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// When to ask again (`Retry-After`): seconds, or a date, which the server's own clock (`Date`) turns into a time from
    /// now.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.header("retry-after")?.trim();
        if let Ok(seconds) = value.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let then = httpdate::parse_http_date(value).ok()?;
        let now = httpdate::parse_http_date(self.header("date")?).ok()?;
        Some(then.duration_since(now).unwrap_or_default())
    }

    /// The body, decompressed.
    #[must_use]
    pub fn into_body(self) -> Body {
        self.body
    }
}

/// A body: at most as long, in time and in bytes after decompression, as the request allowed.
///
/// Its errors carry an [`EgressError`], found by [`EgressError::find_in`].
pub struct Body {
    reader: Box<dyn Read + Send>,
    iri: String,
    limit: u64,
    read: u64,
    cancellation: Cancellation,
}

impl Body {
    pub(super) fn new(reader: impl Read + Send + 'static, iri: String, limit: u64, cancellation: Cancellation) -> Self {
        Self { reader: Box::new(reader), iri, limit, read: 0, cancellation }
    }

    /// A piece of the body, checked against the limit: nothing of a longer one passes for its end.
    fn next(&mut self, buffer: &mut [u8]) -> Result<usize, EgressFault> {
        if self.cancellation.is_cancelled() {
            return Err(EgressFault::Cancelled);
        }
        let reader = &mut self.reader;
        let read = with_cancellation(&self.cancellation, || reader.read(buffer));
        let length = read.map_err(|error| EgressFault::from_io(&error, ResponseStarted::Yes))?;
        self.read += length as u64;
        if self.read > self.limit { Err(EgressFault::TooLarge(self.limit)) } else { Ok(length) }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.next(buffer).map_err(|fault| io::Error::other(EgressError { iri: self.iri.clone(), fault }))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { iri, limit, read, .. } = self;
        let mut body = formatter.debug_struct("Body");
        body.field("iri", iri).field("limit", limit).field("read", read).finish_non_exhaustive()
    }
}
