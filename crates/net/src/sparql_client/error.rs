//! Why an endpoint gave no answer, or none that can be used.

use crate::egress::{EgressError, EgressFault};
use std::fmt;
use std::time::Duration;

/// Characters of an endpoint's text that a message repeats.
const EXCERPT_CHARS: usize = 300;

/// What an endpoint said, as far as a message repeats it: one line of at most 300 characters, without any that control
/// a terminal or the direction of the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Excerpt(String);

impl Excerpt {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let clean = text.replace(|c: char| c.is_control() || is_format(c), " ");
        let words: Vec<&str> = clean.split_whitespace().collect();
        Self(words.join(" ").chars().take(EXCERPT_CHARS).collect())
    }

    /// The text; empty where the endpoint said nothing.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Characters without a shape that rearrange or hide others.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.0) }
    }
}

/// A call that gave no answer, or only part of one.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// No request was made, or no whole answer came: the policy, the network, the time, the length, or nobody waits.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// The endpoint finds the query wrong: 400.
    #[error("<{endpoint}> refuses the query{text}")]
    Rejected {
        /// Who said so.
        endpoint: String,
        /// What it said.
        text: Excerpt,
    },
    /// The query is too long for the endpoint: 413, 414 or 431. A shorter one may pass.
    #[error("<{endpoint}> finds the query too long ({status}){text}")]
    RequestTooLarge {
        /// Who said so.
        endpoint: String,
        /// The status code.
        status: u16,
        /// What it said.
        text: Excerpt,
    },
    /// The endpoint has no time now, however often it was asked: 429, 502, 503 or 504.
    #[error("<{endpoint}> is busy ({status}){text}")]
    Busy {
        /// Who said so.
        endpoint: String,
        /// The status code.
        status: u16,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
        /// What it said.
        text: Excerpt,
    },
    /// Any other status.
    #[error("<{endpoint}> answers with status {status}{text}")]
    Status {
        /// Who said so.
        endpoint: String,
        /// The status code.
        status: u16,
        /// What it said.
        text: Excerpt,
    },
    /// An answer that is no result of the query, or a damaged one.
    #[error("<{endpoint}> gives an answer that cannot be read ({message}){text}")]
    Unreadable {
        /// Whose answer.
        endpoint: String,
        /// Whether it is JSON: then XML may be better.
        json: bool,
        /// What is wrong with it.
        message: String,
        /// How it begins.
        text: Excerpt,
    },
    /// More rows than the call allows.
    #[error("<{endpoint}> gives more than {limit} rows")]
    TooManyRows {
        /// Whose answer.
        endpoint: String,
        /// The limit.
        limit: u64,
    },
    /// As many calls as the endpoint may have at one time were running until the time was up.
    #[error("<{endpoint}> is kept busy by other calls")]
    Crowded {
        /// Which one.
        endpoint: String,
    },
}

/// Failures, as statistics count them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FailureKind {
    /// The policy does not allow the request.
    Refused,
    /// No connection, or a broken one.
    Connection,
    /// The time was up.
    TimedOut,
    /// Nobody waited any more.
    Cancelled,
    /// The endpoint found the query wrong.
    Rejected,
    /// The endpoint found the query too long.
    RequestTooLarge,
    /// The endpoint had no time.
    Busy,
    /// Another status.
    Status,
    /// The answer could not be read.
    Unreadable,
    /// The answer was longer than the call allowed.
    TooLong,
    /// Too many calls of ours.
    Crowded,
}

impl FailureKind {
    /// The name, as statistics show it.
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
    /// Which kind of failure it is.
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

    /// Whether the same request may have luck a moment later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Egress(error) => error.fault.is_transient(),
            other => matches!(other, Self::Busy { .. }),
        }
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        if let Self::Busy { retry_after, .. } = self { *retry_after } else { None }
    }

    /// What a status that is no success says.
    pub(super) fn from_status(endpoint: &str, status: u16, retry_after: Option<Duration>, text: Excerpt) -> Self {
        let endpoint = endpoint.to_owned();
        match status {
            400 => Self::Rejected { endpoint, text },
            413 | 414 | 431 => Self::RequestTooLarge { endpoint, status, text },
            429 | 502..=504 => Self::Busy { endpoint, status, retry_after, text },
            _ => Self::Status { endpoint, status, text },
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
    fn an_excerpt_is_a_line_of_harmless_text() {
        let excerpt = |text: &str| Excerpt::from_bytes(text.as_bytes()).0;
        assert_eq!(excerpt("  one\r\n\ttwo \u{1b}[31mred\u{202e}der\u{0} "), "one two [31mred der");
        assert_eq!(excerpt(&"é".repeat(1000)).chars().count(), 300);
        assert_eq!(Excerpt::from_bytes(b"\xff<p>").0, "\u{fffd}<p>");
        assert_eq!(format!("a{}", Excerpt::default()), "a");
    }
}
