//! Errors of calls to endpoints.

use crate::egress::{EgressError, EgressFault};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Maximum number of characters of an endpoint's text in a message.
const MAX_EXCERPT_CHARACTERS: usize = 300;

/// Excerpt of an endpoint's error text for messages.
///
/// It is one line of at most 300 characters, without control characters and characters that change the text direction.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Excerpt(String);

impl Excerpt {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let clean = text.replace(|c: char| c.is_control() || is_format(c), " ");
        let words: Vec<&str> = clean.split_whitespace().collect();
        Self(
            words
                .join(" ")
                .chars()
                .take(MAX_EXCERPT_CHARACTERS)
                .collect(),
        )
    }

    /// Returns the excerpt; an empty one in place of a page for browsers.
    fn without_page(self) -> Self {
        if is_html(&self.0) {
            Self(String::new())
        } else {
            self
        }
    }

    /// Returns the text. It is empty if the endpoint sent none.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns true for the beginning of an HTML page, with or without a declaration before it.
fn is_html(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let elements = ["<html", "<head", "<body", "<!doctype html"];
    text.starts_with('<') && elements.iter().any(|element| text.contains(element))
}

/// Returns true for invisible formatting characters, which can rearrange or hide others.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(formatter, ": {}", self.0)
        }
    }
}

/// Failed call to an endpoint.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RemoteError {
    /// Blocked or failed request: policy, network, timeout, size limit or cancellation.
    /// It belongs to the process that sent the request, and is not serialized.
    #[error(transparent)]
    #[serde(skip)]
    Egress(#[from] EgressError),
    /// Query rejected by the endpoint: status 400.
    #[error("<{endpoint}> rejected the query{text}")]
    Rejected {
        /// Endpoint IRI.
        endpoint: String,
        /// Text of the error response.
        text: Excerpt,
    },
    /// Query too long for the endpoint: status 413, 414 or 431.
    #[error("<{endpoint}> rejected the query as too long ({status}){text}")]
    RequestTooLarge {
        /// Endpoint IRI.
        endpoint: String,
        /// HTTP status code.
        status: u16,
        /// Text of the error response.
        text: Excerpt,
    },
    /// Overloaded or unavailable endpoint, after all retries: status 429, 502, 503 or 504.
    #[error("<{endpoint}> is busy ({status}){text}")]
    Busy {
        /// Endpoint IRI.
        endpoint: String,
        /// HTTP status code.
        status: u16,
        /// Delay before the next attempt, from `Retry-After`.
        retry_after: Option<Duration>,
        /// Text of the error response.
        text: Excerpt,
    },
    /// Any other status.
    #[error("<{endpoint}> returned status {status}{text}")]
    Status {
        /// Endpoint IRI.
        endpoint: String,
        /// HTTP status code.
        status: u16,
        /// Text of the error response.
        text: Excerpt,
    },
    /// Response that cannot be parsed as a result of the query.
    #[error("<{endpoint}> returned an invalid response ({message}){text}")]
    Unreadable {
        /// Endpoint IRI.
        endpoint: String,
        /// If true, the response is JSON, and a retry with XML may succeed.
        json: bool,
        /// Parse error.
        message: String,
        /// Beginning of the response.
        text: Excerpt,
    },
    /// More rows than the limit of the call.
    #[error("<{endpoint}> returned more than {limit} rows")]
    TooManyRows {
        /// Endpoint IRI.
        endpoint: String,
        /// Limit.
        limit: u64,
    },
    /// No permit before the deadline: other calls used all of the host's concurrent calls.
    #[error("<{endpoint}>: timed out while waiting for other calls to this host")]
    Crowded {
        /// Endpoint IRI.
        endpoint: String,
    },
}

/// Kind of a failure in statistics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FailureKind {
    /// Blocked by the egress policy.
    Refused,
    /// Failed or lost connection.
    Connection,
    /// Exceeded timeout.
    TimedOut,
    /// Cancelled by the caller.
    Cancelled,
    /// Query rejected by the endpoint.
    Rejected,
    /// Query too long for the endpoint.
    RequestTooLarge,
    /// Overloaded or unavailable endpoint.
    Busy,
    /// Other HTTP status.
    Status,
    /// Invalid response.
    Unreadable,
    /// Response over a limit of the call.
    TooLong,
    /// No permit for a call to the host.
    Crowded,
}

impl FailureKind {
    /// Returns the name used in statistics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Connection => "connection",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::RequestTooLarge => "request-too-large",
            Self::Busy => "busy",
            Self::Status => "status",
            Self::Unreadable => "unreadable",
            Self::TooLong => "too-long",
            Self::Crowded => "crowded",
        }
    }
}

impl RemoteError {
    /// Returns the kind of the failure.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Egress(error) => kind_of(&error.fault),
            Self::Rejected { .. } => FailureKind::Rejected,
            Self::RequestTooLarge { .. } => FailureKind::RequestTooLarge,
            Self::Busy { .. } => FailureKind::Busy,
            Self::Status { .. } => FailureKind::Status,
            Self::Unreadable { .. } => FailureKind::Unreadable,
            Self::TooManyRows { .. } => FailureKind::TooLong,
            Self::Crowded { .. } => FailureKind::Crowded,
        }
    }

    /// Returns true if a retry may succeed.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Egress(error) => error.fault.is_transient(),
            other => matches!(other, Self::Busy { .. }),
        }
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        if let Self::Busy { retry_after, .. } = self {
            *retry_after
        } else {
            None
        }
    }

    /// Converts an HTTP status other than success.
    pub(super) fn from_status(
        endpoint: &str,
        status: u16,
        retry_after: Option<Duration>,
        text: Excerpt,
    ) -> Self {
        let endpoint = endpoint.to_owned();
        // A page may name the fault of the query. Of other statuses, it states no more than the status.
        let text = if status == 400 {
            text
        } else {
            text.without_page()
        };
        match status {
            400 => Self::Rejected { endpoint, text },
            413 | 414 | 431 => Self::RequestTooLarge {
                endpoint,
                status,
                text,
            },
            429 | 502..=504 => Self::Busy {
                endpoint,
                status,
                retry_after,
                text,
            },
            _ => Self::Status {
                endpoint,
                status,
                text,
            },
        }
    }
}

fn kind_of(fault: &EgressFault) -> FailureKind {
    match fault {
        EgressFault::TimedOut => FailureKind::TimedOut,
        EgressFault::Cancelled => FailureKind::Cancelled,
        EgressFault::TooLarge(_) => FailureKind::TooLong,
        EgressFault::Protocol => FailureKind::Unreadable,
        fault if fault.is_refusal() => FailureKind::Refused,
        _ => FailureKind::Connection,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_no_text_of_an_error() {
        fn error(status: u16, text: &str) -> String {
            let text = Excerpt::from_bytes(text.as_bytes());
            RemoteError::from_status("http://e.org/", status, None, text).to_string()
        }
        for page in [
            "<!DOCTYPE html>\n<html><title>404</title></html>",
            " <html lang=en>no",
            "<?xml version=\"1.0\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0\"><html/>",
        ] {
            assert_eq!(error(404, page), "<http://e.org/> returned status 404");
            assert_eq!(error(503, page), "<http://e.org/> is busy (503)");
            assert!(error(400, page).contains("<html"), "{page}");
        }
        assert!(error(404, "no prefix in <html").ends_with("no prefix in <html"));
    }

    #[test]
    fn an_excerpt_is_a_line_of_harmless_text() {
        let excerpt = |text: &str| Excerpt::from_bytes(text.as_bytes()).0;
        assert_eq!(
            excerpt("  one\r\n\ttwo \u{1b}[31mred\u{202e}der\u{0} "),
            "one two [31mred der"
        );
        assert_eq!(excerpt(&"é".repeat(1000)).chars().count(), 300);
        assert_eq!(Excerpt::from_bytes(b"\xff<p>").0, "\u{fffd}<p>");
        assert_eq!(format!("a{}", Excerpt::default()), "a");
    }
}
