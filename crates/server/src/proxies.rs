//! Client addresses: the peer of the connection or, behind trusted proxies, the address in `X-Forwarded-For`.

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Trusted proxies. Every client can send `X-Forwarded-For`, so that of other peers is ignored.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Vec<IpAddr>);

impl Proxies {
    /// Trusts these proxies only.
    #[must_use]
    pub fn new(addresses: &[IpAddr]) -> Self {
        Self(addresses.iter().map(IpAddr::to_canonical).collect())
    }

    /// Returns the client's address; `None` for requests without a connection. For IPv6 it is the /64 network, which one client
    /// can use freely.
    pub(crate) fn client(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
        let peer = peer.ip().to_canonical();
        let forwarded = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let forwarded: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
        // Each proxy appends its peer. Entries before the last untrusted address may be forged.
        let mut client = peer;
        for said in forwarded.iter().rev() {
            if !self.0.contains(&client) {
                break;
            }
            match said.parse::<IpAddr>() {
                Ok(address) => client = address.to_canonical(),
                Err(_) => break,
            }
        }
        Some(match client {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
            v4 => v4,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proxies_that_are_named_are_believed() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let proxies = Proxies::new(&[address("10.0.0.1"), address("10.0.0.2")]);
        for (peer, forwarded, expected) in [
            ("192.0.2.7", "", "192.0.2.7"),
            ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
            ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
            ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "203.0.113.9, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
            ("10.0.0.1", "unknown", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::"),
        ] {
            let (mut headers, mut extensions) = (HeaderMap::new(), Extensions::new());
            if !forwarded.is_empty() {
                headers.insert("x-forwarded-for", forwarded.parse().expect("a header"));
            }
            extensions.insert(ConnectInfo(SocketAddr::new(address(peer), 1)));
            assert_eq!(proxies.client(&headers, &extensions), Some(address(expected)), "{peer} {forwarded}");
        }
        assert_eq!(proxies.client(&HeaderMap::new(), &Extensions::new()), None);
    }
}
