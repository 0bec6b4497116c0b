//! Errors of requests.

use std::io;
use std::sync::Arc;

/// Blocked or failed request.
///
/// The message is safe for anonymous clients: it contains no internal address and no redirect target. Those are logged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("<{iri}>: {fault}")]
pub struct EgressError {
    /// Requested IRI, without its query string.
    pub iri: String,
    /// Cause of the error.
    pub fault: EgressFault,
}

/// Cause of a blocked or failed request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressFault {
    /// Not an absolute http or https IRI.
    #[error("not an absolute http or https IRI")]
    Malformed,
    /// IRI longer than the limit in bytes.
    #[error("the IRI is longer than {0} bytes")]
    IriTooLong(usize),
    /// Scheme other than http and https.
    #[error("blocked by the egress policy: only http and https are allowed")]
    Scheme,
    /// User name or password in the IRI.
    #[error("blocked by the egress policy: the IRI contains a user name or password")]
    UserInfo,
    /// IRI outside the allow list.
    #[error(
        "blocked by the egress policy: not in the allow list (`query` and `serve` allow an endpoint by --service IRI)"
    )]
    NotListed,
    /// Host with an address in a network that is not public.
    #[error(
        "the host has no address that the egress policy permits; private networks need --allow-private-network"
    )]
    Address,
    /// Host without an address.
    ///
    /// The message equals that of [`EgressFault::Address`]. Otherwise clients could probe for names in private networks.
    #[error(
        "the host has no address that the egress policy permits; private networks need --allow-private-network"
    )]
    Unresolved,
    /// Too many redirects, with the limit.
    #[error("more than {0} redirects")]
    Redirects(usize),
    /// Redirect from https to http.
    #[error("redirect from https to http")]
    Downgrade,
    /// Redirect without a valid `Location` header.
    #[error("redirect without a valid Location header")]
    Location,
    /// Redirect that the policy blocks.
    #[error("blocked by the egress policy: redirect to a forbidden address")]
    Redirected(#[source] Box<EgressFault>),
    /// Redirect to another origin, with the target.
    ///
    /// See [`Request::with_same_origin_only`](super::Request::with_same_origin_only).
    #[error("redirect to another host")]
    OtherHost(String),
    /// Failed connection attempt.
    #[error("connection failed ({0})")]
    Connect(io::ErrorKind),
    /// TLS failure.
    #[error("TLS handshake or certificate error")]
    Tls,
    /// Connection lost before the end of the response.
    #[error("connection lost ({0})")]
    Broken(io::ErrorKind),
    /// Response that is not valid HTTP or has a damaged encoding.
    #[error("invalid HTTP response")]
    Protocol,
    /// Exceeded timeout.
    #[error("timed out")]
    TimedOut,
    /// Request cancelled by the caller.
    #[error("cancelled")]
    Cancelled,
    /// Response longer than the limit in bytes.
    #[error("response larger than {0} bytes")]
    TooLarge(u64),
}

impl EgressFault {
    /// Returns true if a retry may succeed.
    ///
    /// An unknown host name is not transient: most are misspelt or no longer exist.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Connect(_) | Self::Broken(_))
    }

    /// Returns true if the policy blocks the request.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        use EgressFault::{
            Address, Downgrade, IriTooLong, Malformed, NotListed, Redirected, Scheme, UserInfo,
        };
        matches!(
            self,
            Malformed
                | IriTooLong(_)
                | Scheme
                | UserInfo
                | NotListed
                | Address
                | Downgrade
                | Redirected(_)
        )
    }

    /// Wraps the fault in an [`io::Error`], so that it passes through the HTTP library.
    pub(super) fn into_io(self) -> io::Error {
        io::Error::other(self)
    }

    /// Converts an error of the HTTP library.
    pub(super) fn from_http(error: ureq::Error, started: ResponseStarted) -> Self {
        match error {
            ureq::Error::Io(error) => Self::from_io(&error, started),
            ureq::Error::Timeout(_) => Self::TimedOut,
            ureq::Error::HostNotFound => Self::Unresolved,
            ureq::Error::ConnectionFailed => Self::Connect(io::ErrorKind::Other),
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::TlsRequired => Self::Tls,
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Self::Malformed,
            _ => Self::Protocol,
        }
    }

    pub(super) fn from_io(error: &io::Error, started: ResponseStarted) -> Self {
        let inner = error.get_ref();
        if let Some(fault) = inner.and_then(|inner| inner.downcast_ref::<Self>()) {
            return fault.clone();
        }
        match inner.and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
            Some(ureq::Error::Timeout(_)) => return Self::TimedOut,
            Some(ureq::Error::Io(error)) => return Self::from_io(error, started),
            Some(ureq::Error::Rustls(_) | ureq::Error::Tls(_)) => return Self::Tls,
            Some(_) => return Self::Protocol,
            None => {}
        }
        match (error.kind(), started) {
            (io::ErrorKind::TimedOut, _) => Self::TimedOut,
            (io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput, ResponseStarted::No) => {
                Self::Tls
            }
            (
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other,
                ResponseStarted::Yes,
            ) => Self::Protocol,
            (
                kind @ (io::ErrorKind::UnexpectedEof
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe),
                _,
            )
            | (kind, ResponseStarted::Yes) => Self::Broken(kind),
            (kind, ResponseStarted::No) => Self::Connect(kind),
        }
    }
}

/// State of the response when an error occurred.
#[derive(Clone, Copy)]
pub(super) enum ResponseStarted {
    Yes,
    No,
}

impl EgressError {
    /// Finds the [`EgressError`] in an error of a [`Body`](super::Body)'s reader, also if a parser wrapped it.
    #[must_use]
    pub fn find_in(error: &io::Error) -> Option<&Self> {
        let inner = error.get_ref()?;
        if let Some(found) = inner.downcast_ref::<Self>() {
            return Some(found);
        }
        // Some parsers share the error of their reader.
        match inner.downcast_ref::<io::Error>() {
            Some(wrapped) => Self::find_in(wrapped),
            None => Self::find_in(inner.downcast_ref::<Arc<io::Error>>()?),
        }
    }
}
