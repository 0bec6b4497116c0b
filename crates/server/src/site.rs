//! Addresses of the server: where it listens, how clients reach it, and which of them is behind a request.

use crate::AppState;
use crate::hosts::HostName;
use crate::proxies::Proxies;
use crate::public_url::{LinkBase, Listening, PublicUrl};
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use lodeseek_catalog::Iris;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

/// Address of the client of a request; `None` for requests without a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) Option<IpAddr>);

impl<S: Send + Sync> FromRequestParts<S> for Client
where
    SiteState: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let site = SiteState::from_ref(state);
        Ok(Self(site.proxies.client(&parts.headers, &parts.extensions)))
    }
}

/// Addresses of the server, and the proxies before it.
#[derive(Clone)]
pub(crate) struct SiteState {
    /// Proxies whose forwarding headers are trusted.
    pub(crate) proxies: Arc<Proxies>,
    /// Configured public URL.
    pub(crate) public_url: Option<PublicUrl>,
    /// Names of a server that only this machine can reach, beside those of this machine.
    pub(crate) host_names: Arc<[HostName]>,
    /// First part of absolute links, unless a trusted proxy forwards another one.
    pub(crate) link_base: LinkBase,
    /// Base addresses at which the server listens.
    pub(crate) addresses: Vec<String>,
    /// Address on which the server listens.
    listening: Option<Listening>,
}

impl FromRef<AppState> for SiteState {
    fn from_ref(state: &AppState) -> Self {
        state.site.clone()
    }
}

impl SiteState {
    /// Creates the state of a home that no server serves yet.
    pub(crate) fn new(iris: &Iris) -> Self {
        Self {
            proxies: Arc::default(),
            public_url: None,
            host_names: Arc::default(),
            link_base: LinkBase::new(None, iris, None),
            addresses: Vec::new(),
            listening: None,
        }
    }

    /// Sets the address on which the server listens.
    pub(crate) fn listen_at(&mut self, listening: Listening) {
        let (scheme, address) = (listening.scheme(), listening.address);
        self.addresses = vec![format!("{scheme}://{address}/")];
        if address.ip().is_loopback() {
            self.addresses
                .push(format!("{scheme}://localhost:{}/", address.port()));
        }
        self.listening = Some(listening);
    }

    /// Takes over the address of the state that this one replaces.
    pub(crate) fn listen_as(&mut self, other: &Self) {
        self.listening = other.listening;
        self.addresses.clone_from(&other.addresses);
    }

    /// Derives the base of links from the other fields.
    pub(crate) fn update_links(&mut self, iris: &Iris) {
        self.link_base = LinkBase::new(self.public_url.as_ref(), iris, self.listening);
    }

    /// Returns the path of the public URL without a slash at the end; empty if it has none.
    pub(crate) fn base_path(&self) -> &str {
        match &self.public_url {
            Some(url) => url.path(),
            None => "",
        }
    }

    /// If true, only this machine can reach the server: it listens on a loopback address, and neither a proxy nor a public
    /// URL is configured.
    pub(crate) fn is_local_only(&self) -> bool {
        self.is_on_loopback() && self.proxies.is_empty() && self.public_url.is_none()
    }

    fn is_on_loopback(&self) -> bool {
        self.listening
            .is_some_and(|listening| listening.address.ip().to_canonical().is_loopback())
    }

    /// Returns the names in `Host` that are accepted beside those of this machine; `None` if all are, because other machines can reach
    /// the server. A proxy on this machine may forward any name.
    pub(crate) fn allowed_hosts(&self) -> Option<Arc<[HostName]>> {
        if !self.is_on_loopback() || !self.proxies.is_empty() {
            return None;
        }
        let public = self
            .public_url
            .as_ref()
            .and_then(|url| HostName::of_url(url.as_str()));
        Some(self.host_names.iter().cloned().chain(public).collect())
    }

    /// If true, browsers may remember that the host of this server has TLS. Other programs on this machine share its own name.
    pub(crate) fn is_https_only(&self) -> bool {
        self.listening.is_some_and(|listening| listening.has_tls) && !self.is_local_only()
    }
}
