//! Why a request was not made or not started.

use std::io;
use std::sync::Arc;

/// A request that was refused, or failed. What it says is fit for anonymous clients: no address of ours, no name that a
/// redirect gave away; those are traced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("<{iri}>: {fault}")]
pub struct EgressError {
    /// What was asked, without its query.
    pub iri: String,
    /// Why there is no answer.
    pub fault: EgressFault,
}

/// Why a request was refused, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressFault {
    /// No absolute IRI of the web.
    #[error("it is no absolute http or https IRI")]
    Malformed,
    /// Neither http nor https.
    #[error("only http and https may be asked")]
    Scheme,
    /// A name or password before the host.
    #[error("an IRI with a user name is not asked")]
    UserInfo,
    /// The policy does not list it.
    #[error("it is not among what may be asked")]
    NotListed,
    /// One of its addresses is of a network that is not public.
    #[error("its host has no address that may be asked")]
    Address,
    /// Its host has no address. Reads like [`EgressFault::Address`]: else a client could learn which names exist in
    /// networks it does not see.
    #[error("its host has no address that may be asked")]
    Unresolved,
    /// Too many redirects.
    #[error("it redirects more than {0} times")]
    Redirects(usize),
    /// From https to http.
    #[error("it redirects from https to http")]
    Downgrade,
    /// A redirect to nowhere.
    #[error("it redirects without saying where to")]
    Location,
    /// A redirect to what the policy does not allow.
    #[error("it redirects to what may not be asked")]
    Redirected(#[source] Box<EgressFault>),
    /// A redirect to another host, which who asks follows itself.
    #[error("it redirects to another host")]
    OtherHost(String),
    /// No connection.
    #[error("no connection ({0})")]
    Connect(io::ErrorKind),
    /// The connection is not secure.
    #[error("no secure connection")]
    Tls,
    /// The connection ended before the answer did.
    #[error("the connection broke ({0})")]
    Broken(io::ErrorKind),
    /// The answer is no HTTP, or its encoding is damaged.
    #[error("the answer is not proper HTTP")]
    Protocol,
    /// The time was up.
    #[error("the time is up")]
    TimedOut,
    /// Nobody waits for the answer any more.
    #[error("the request was given up")]
    Cancelled,
    /// The answer is longer than the limit, in bytes.
    #[error("the answer has more than {0} bytes")]
    TooLarge(u64),
}

impl EgressFault {
    /// Whether the same request may have luck a moment later. A name that is not found is not: most are misspelt or gone.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Connect(_) | Self::Broken(_))
    }

    /// Whether the policy forbids the request, whatever the state of the network.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        use EgressFault::{Address, Downgrade, Malformed, NotListed, Redirected, Scheme, UserInfo};
        matches!(self, Malformed | Scheme | UserInfo | NotListed | Address | Downgrade | Redirected(_))
    }

    /// The fault as the layers below hand it through.
    pub(super) fn into_io(self) -> io::Error {
        io::Error::other(self)
    }

    /// What an error of the HTTP library means.
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
            (io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput, ResponseStarted::No) => Self::Tls,
            (io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other, ResponseStarted::Yes) => {
                Self::Protocol
            }
            (kind @ (io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe), _)
            | (kind, ResponseStarted::Yes) => Self::Broken(kind),
            (kind, ResponseStarted::No) => Self::Connect(kind),
        }
    }
}

/// Whether the answer had begun.
#[derive(Clone, Copy)]
pub(super) enum ResponseStarted {
    Yes,
    No,
}

impl EgressError {
    /// The error behind one of a [`Body`](super::Body)'s reader, however deep a parser wrapped it.
    #[must_use]
    pub fn find_in(error: &io::Error) -> Option<&Self> {
        let inner = error.get_ref()?;
        let wrapped = || inner.downcast_ref::<io::Error>().or_else(|| Some(&**inner.downcast_ref::<Arc<io::Error>>()?));
        inner.downcast_ref::<Self>().or_else(|| Self::find_in(wrapped()?))
    }
}
