//! Reverse proxies: the client's address and the public URL, as trusted proxies forward them.

use crate::public_url::PublicUrl;
use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Trusted proxies. Every client can send `X-Forwarded-For` and related headers, so those of other peers are ignored.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Vec<IpAddr>);

impl Proxies {
    /// Trusts these proxies only.
    #[must_use]
    pub fn new(addresses: &[IpAddr]) -> Self {
        Self(addresses.iter().map(IpAddr::to_canonical).collect())
    }

    /// If true, this address is that of a trusted proxy.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// If true, there is no trusted proxy.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the client's address, as [`client_of_peer`] does; `None` for requests without a connection.
    pub(crate) fn client(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
        let peer = peer.ip().to_canonical();
        let forwarded = headers
            .get_all("x-forwarded-for")
            .iter()
            .filter_map(|value| value.to_str().ok());
        let forwarded: Vec<&str> = forwarded
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .collect();
        // Each proxy appends its peer. Entries before the last untrusted address may be forged.
        let mut client = peer;
        for entry in forwarded.iter().rev() {
            if !self.0.contains(&client) {
                break;
            }
            match forwarded_address(entry) {
                Some(address) => client = address.to_canonical(),
                None => break,
            }
        }
        Some(client_of_peer(client))
    }

    /// Returns the address that a trusted proxy forwards: of `Forwarded` (RFC 7239), else of `X-Forwarded-Host` and
    /// `X-Forwarded-Proto`. Of several values the last is used, which the nearest proxy wrote.
    pub(crate) fn public_url(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Option<PublicUrl> {
        let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
        if !self.0.contains(&peer.ip().to_canonical()) {
            return None;
        }
        if let Some(forwarded) = last_value(headers, "forwarded")
            && let Some(host) = forwarded_parameter(forwarded, "host")
        {
            return PublicUrl::from_parts(
                forwarded_parameter(forwarded, "proto").unwrap_or("http"),
                host,
            );
        }
        PublicUrl::from_parts(
            last_value(headers, "x-forwarded-proto").unwrap_or("http"),
            last_value(headers, "x-forwarded-host")?,
        )
    }
}

/// Returns the last value of a header that lists values.
fn last_value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(str::trim)
}

/// Returns the address that identifies a client. For IPv6 it is the /64 network, which one client can use freely.
pub(crate) fn client_of_peer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if address.is_loopback() => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        v4 => v4,
    }
}

/// Returns the address of an entry of `X-Forwarded-For`. Some proxies append a port, or write IPv6 addresses in brackets.
fn forwarded_address(entry: &str) -> Option<IpAddr> {
    if let Ok(address) = entry.parse::<SocketAddr>() {
        return Some(address.ip());
    }
    let in_brackets = entry
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    in_brackets.unwrap_or(entry).parse().ok()
}

/// Returns a parameter of an element of `Forwarded`, without quotation marks.
fn forwarded_parameter<'h>(element: &'h str, name: &str) -> Option<&'h str> {
    let pairs = element
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    let mut named = pairs.filter(|(known, _)| known.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.trim_matches('"'))
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
            (
                "10.0.0.1",
                "203.0.113.9, 198.51.100.1, 10.0.0.2",
                "198.51.100.1",
            ),
            ("10.0.0.1", "198.51.100.1:567, 10.0.0.2:80", "198.51.100.1"),
            ("10.0.0.1", "[2001:db8:1:2:3:4:5:6]:567", "2001:db8:1:2::"),
            ("10.0.0.1", "[::1]", "::1"),
            ("10.0.0.1", "unknown", "10.0.0.1"),
            ("10.0.0.1", "198.51.100.1:x", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::"),
            ("::1", "", "::1"),
        ] {
            let (mut headers, mut extensions) = (HeaderMap::new(), Extensions::new());
            if !forwarded.is_empty() {
                headers.insert("x-forwarded-for", forwarded.parse().expect("a header"));
            }
            extensions.insert(ConnectInfo(SocketAddr::new(address(peer), 1)));
            assert_eq!(
                proxies.client(&headers, &extensions),
                Some(address(expected)),
                "{peer} {forwarded}"
            );
        }
        assert_eq!(proxies.client(&HeaderMap::new(), &Extensions::new()), None);
    }

    #[test]
    fn the_public_url_of_trusted_proxies_is_used() {
        let proxies = Proxies::new(&["10.0.0.1".parse().expect("an address")]);
        for (peer, sent, expected) in [
            (
                "10.0.0.1",
                &[
                    ("x-forwarded-host", "e.org"),
                    ("x-forwarded-proto", "https"),
                ][..],
                Some("https://e.org/"),
            ),
            (
                "10.0.0.1",
                &[("x-forwarded-host", "forged.example, e.org:8443")],
                Some("http://e.org:8443/"),
            ),
            (
                "10.0.0.1",
                &[("forwarded", "for=192.0.2.1;host=\"e.org:81\";proto=https")],
                Some("https://e.org:81/"),
            ),
            (
                "10.0.0.1",
                &[(
                    "forwarded",
                    "host=forged.example, for=192.0.2.1; Host=e.org",
                )],
                Some("http://e.org/"),
            ),
            (
                "10.0.0.1",
                &[
                    ("x-forwarded-host", "e.org/path"),
                    ("x-forwarded-proto", "https"),
                ],
                None,
            ),
            (
                "10.0.0.1",
                &[
                    ("x-forwarded-host", "e.org"),
                    ("x-forwarded-proto", "javascript"),
                ],
                None,
            ),
            ("10.0.0.1", &[("x-forwarded-proto", "https")], None),
            (
                "192.0.2.7",
                &[
                    ("x-forwarded-host", "e.org"),
                    ("x-forwarded-proto", "https"),
                ],
                None,
            ),
            ("192.0.2.7", &[("forwarded", "host=e.org")], None),
        ] {
            let (mut headers, mut extensions) = (HeaderMap::new(), Extensions::new());
            for (name, value) in sent {
                headers.append(*name, value.parse().expect("a header"));
            }
            extensions.insert(ConnectInfo(SocketAddr::new(
                peer.parse().expect("an address"),
                1,
            )));
            let found = proxies.public_url(&headers, &extensions);
            assert_eq!(
                found.as_ref().map(PublicUrl::as_str),
                expected,
                "{peer} {sent:?}"
            );
        }
    }
}
