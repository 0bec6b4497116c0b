//! Name resolution. The addresses that are checked here are those of the connection.

use super::address::is_open;
use super::cancellation;
use super::error::EgressFault;
use ipnet::IpNet;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Maximum number of addresses of a host that are tried.
const MAX_ADDRESSES: usize = 16;

/// Resolver of host names.
pub trait Resolve: Send + Sync {
    /// Returns all addresses of a host. The call may block: it runs in a separate thread.
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// Resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok((host, port).to_socket_addrs()?.collect())
    }
}

/// Resolver that returns the addresses of a host only if all of them are permitted.
pub(super) struct CheckedResolver {
    pub(super) names: Arc<dyn Resolve>,
    /// Private networks that are permitted.
    pub(super) private_networks: Vec<IpNet>,
}

impl fmt::Debug for CheckedResolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CheckedResolver")
            .field("private_networks", &self.private_networks)
            .finish_non_exhaustive()
    }
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self
            .look_up(uri, *timeout.after)
            .map_err(EgressFault::into_io)?;
        let mut addresses = self.empty();
        found
            .into_iter()
            .take(MAX_ADDRESSES)
            .for_each(|address| addresses.push(address));
        Ok(addresses)
    }
}

impl CheckedResolver {
    fn look_up(&self, uri: &Uri, timeout: Duration) -> Result<Vec<SocketAddr>, EgressFault> {
        let host = uri.host().ok_or(EgressFault::Malformed)?;
        let port = uri
            .port_u16()
            .unwrap_or(if uri.scheme_str() == Some("https") {
                443
            } else {
                80
            });
        // A literal address needs no resolver, but the same check.
        let found = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => self.addresses(host, port, timeout)?,
        };
        self.check(host, &found)?;
        Ok(found)
    }

    fn check(&self, host: &str, found: &[SocketAddr]) -> Result<(), EgressFault> {
        if found.is_empty() {
            return Err(EgressFault::Unresolved);
        }
        // All must be permitted, because the client tries one after the other.
        match found
            .iter()
            .find(|address| !is_open(address.ip(), &self.private_networks))
        {
            Some(closed) => {
                tracing::warn!(host, address = %closed, "refused to connect: not a public address");
                Err(EgressFault::Address)
            }
            None => Ok(()),
        }
    }

    /// Resolves a name in a separate thread, because the system's resolver has no timeout.
    fn addresses(
        &self,
        host: &str,
        port: u16,
        timeout: Duration,
    ) -> Result<Vec<SocketAddr>, EgressFault> {
        let (names, name) = (Arc::clone(&self.names), host.to_owned());
        // One place, so that the thread ends with its result even if nobody receives it any more.
        let (sender, receiver) = sync_channel(1);
        let thread = thread::Builder::new().name("resolve".to_owned());
        let started = thread.spawn(move || sender.send(names.resolve(&name, port)).ok());
        started.map_err(|error| EgressFault::Connect(error.kind()))?;
        receive_until(&receiver, timeout)?.map_err(|error| {
            tracing::debug!(host, %error, "not resolved");
            EgressFault::Unresolved
        })
    }
}

fn receive_until<T>(receiver: &Receiver<T>, timeout: Duration) -> Result<T, EgressFault> {
    let start = Instant::now();
    loop {
        if cancellation::is_cancelled() {
            return Err(EgressFault::Cancelled);
        }
        let left = timeout.saturating_sub(start.elapsed());
        match receiver.recv_timeout(left.min(cancellation::POLL_INTERVAL)) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(EgressFault::TimedOut),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(EgressFault::Unresolved),
        }
    }
}
