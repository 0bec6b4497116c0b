//! Egress policy: the IRIs and networks that requests may use.

use super::address::is_open;
use super::error::EgressFault;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use url::{Host, Url};

/// Maximum length of an IRI that can be requested, in bytes. Parameters that a request appends do not count.
pub const MAX_IRI_BYTES: usize = 8 << 10;

/// Egress policy. The default blocks every request.
///
/// ```
/// use lodeseek_net::egress::{EgressPolicy, OtherHosts};
///
/// let policy = EgressPolicy {
///     listed: vec!["https://query.wikidata.org/sparql".parse()?, "http://localhost:7200/repositories".parse()?],
///     private_networks: vec!["127.0.0.0/8".parse()?],
///     ..EgressPolicy::default()
/// };
/// assert_eq!(policy.others, OtherHosts::Refused);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EgressPolicy {
    /// Allow list of IRI prefixes.
    pub listed: Vec<IriPrefix>,
    /// Treatment of hosts that are not in the allow list.
    pub others: OtherHosts,
    /// Private networks that may be connected to, for IRIs in the allow list only.
    ///
    /// Queries cannot scan these networks with other addresses. The former name of this setting is `inner`.
    #[serde(alias = "inner")]
    pub private_networks: Vec<IpNet>,
}

/// Treatment of requests to hosts that are not in the allow list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherHosts {
    /// Block the request.
    #[default]
    Refused,
    /// Permit the request if all addresses of the host are public and the port is 80, 443 or at least 1024.
    AnyPublic,
}

/// Prefix of permitted IRIs: scheme, host, port and complete path segments.
///
/// `https://example.org/data` covers itself, `https://example.org/data/1` and `https://example.org/data?query=…`. It covers
/// neither `https://example.org/database` nor `https://example.org.evil/data`, because components are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IriPrefix(Url);

/// Text that is not a valid [`IriPrefix`].
#[derive(Debug, thiserror::Error)]
#[error(
    "invalid IRI prefix {0:?}: expected http or https, a host and a path, without user name, query or fragment"
)]
pub struct PrefixError(String);

impl std::str::FromStr for IriPrefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let url = parse_iri(text)
            .ok()
            .filter(|url| url.query().is_none() && url.fragment().is_none());
        url.map(Self).ok_or_else(|| PrefixError(text.to_owned()))
    }
}

impl fmt::Display for IriPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str())
    }
}

impl TryFrom<String> for IriPrefix {
    type Error = PrefixError;

    fn try_from(text: String) -> Result<Self, PrefixError> {
        text.parse()
    }
}

impl From<IriPrefix> for String {
    fn from(IriPrefix(url): IriPrefix) -> Self {
        url.into()
    }
}

impl IriPrefix {
    fn covers(&self, url: &Url) -> bool {
        let Self(prefix) = self;
        let origins =
            [prefix, url].map(|url| (url.scheme(), url.host(), url.port_or_known_default()));
        origins[0] == origins[1] && is_under(prefix.path(), url.path())
    }
}

fn is_under(prefix: &str, path: &str) -> bool {
    let Some(rest) = path.strip_prefix(prefix) else {
        return false;
    };
    let at_boundary = rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/');
    // Below the root, no path leaves the prefix.
    at_boundary && (prefix == "/" || !has_parent_segment(rest))
}

/// Returns true if a server might interpret the path as one that leaves the prefix.
///
/// URL parsing has already resolved plain `..`. Some servers also decode `%2e%2e`, `%2f` and `%252e`, or accept `..;`.
fn has_parent_segment(rest: &str) -> bool {
    let rest = rest.to_ascii_lowercase();
    ["%2e", "%2f", "%5c", "%25"]
        .iter()
        .any(|code| rest.contains(code))
        || rest.split('/').any(|segment| segment.starts_with(".."))
}

/// Addresses that a permitted request may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AddressScope {
    /// Public addresses and configured private networks, for IRIs in the allow list.
    Listed,
    /// Public addresses only.
    Public,
}

impl EgressPolicy {
    /// Returns the allowed prefixes that no request can reach: their host is an address that is neither public nor in a configured
    /// private network. Each has the network that would permit it. Names other than `localhost` are not resolved.
    #[must_use]
    pub fn blocked_prefixes(&self) -> Vec<(&IriPrefix, IpNet)> {
        let mut blocked = Vec::new();
        for prefix in &self.listed {
            let address = match prefix.0.host() {
                Some(Host::Ipv4(address)) => IpAddr::V4(address),
                Some(Host::Ipv6(address)) => IpAddr::V6(address),
                Some(Host::Domain("localhost")) => IpAddr::V4(Ipv4Addr::LOCALHOST),
                _ => continue,
            };
            if !is_open(address, &self.private_networks) {
                blocked.push((prefix, address.to_canonical().into()));
            }
        }
        blocked
    }

    pub(super) fn admit(&self, url: &Url) -> Result<AddressScope, EgressFault> {
        check_url(url)?;
        if self.listed.iter().any(|prefix| prefix.covers(url)) {
            return Ok(AddressScope::Listed);
        }
        // Other low ports are those of other protocols, such as SMTP.
        let usual = url
            .port_or_known_default()
            .is_some_and(|port| matches!(port, 80 | 443 | 1024..));
        if self.others == OtherHosts::AnyPublic && usual {
            Ok(AddressScope::Public)
        } else {
            Err(EgressFault::NotListed)
        }
    }
}

fn check_url(url: &Url) -> Result<(), EgressFault> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(EgressFault::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EgressFault::UserInfo);
    }
    if url.host().is_none() {
        Err(EgressFault::Malformed)
    } else {
        Ok(())
    }
}

/// Parses an IRI. Characters that a browser would repair (blanks, backslashes) are rejected.
pub(super) fn parse_iri(iri: &str) -> Result<Url, EgressFault> {
    if iri.len() > MAX_IRI_BYTES {
        return Err(EgressFault::IriTooLong(MAX_IRI_BYTES));
    }
    if !is_clean(iri) {
        return Err(EgressFault::Malformed);
    }
    let mut url = Url::parse(iri).map_err(|_| EgressFault::Malformed)?;
    check_url(&url)?;
    // `http:host` is repaired by the parser of URLs: two readers could see different hosts.
    if !iri[url.scheme().len()..].starts_with("://") {
        return Err(EgressFault::Malformed);
    }
    url.set_fragment(None);
    Ok(url)
}

/// Resolves a redirect. Redirects from https to http are rejected.
pub(super) fn redirect_target(from: &Url, location: &str) -> Result<Url, EgressFault> {
    let joined = is_clean(location)
        .then(|| from.join(location).ok())
        .flatten();
    let mut url = joined.ok_or(EgressFault::Location)?;
    if from.scheme() == "https" && url.scheme() == "http" {
        return Err(EgressFault::Downgrade);
    }
    url.set_fragment(None);
    Ok(url)
}

fn is_clean(iri: &str) -> bool {
    !iri.bytes()
        .any(|byte| byte <= b' ' || byte == 0x7f || byte == b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(listed: &[&str], others: OtherHosts) -> EgressPolicy {
        let listed = listed
            .iter()
            .map(|prefix| prefix.parse().expect("a prefix"))
            .collect();
        EgressPolicy {
            listed,
            others,
            private_networks: Vec::new(),
        }
    }

    fn admits(policy: &EgressPolicy, iri: &str) -> bool {
        parse_iri(iri).and_then(|url| policy.admit(&url)).is_ok()
    }

    #[test]
    fn prefixes_without_a_permitted_address_are_known() {
        let blocked = |prefix: &str, networks: &[&str]| {
            let policy = EgressPolicy {
                listed: vec![prefix.parse().expect("a prefix")],
                private_networks: networks
                    .iter()
                    .map(|network| network.parse().expect("a network"))
                    .collect(),
                ..EgressPolicy::default()
            };
            policy
                .blocked_prefixes()
                .first()
                .map(|(_, network)| network.to_string())
        };
        assert_eq!(
            blocked("http://127.0.0.1:8000/", &[]).as_deref(),
            Some("127.0.0.1/32")
        );
        assert_eq!(
            blocked("http://localhost:8000/sparql", &[]).as_deref(),
            Some("127.0.0.1/32")
        );
        assert_eq!(
            blocked("http://[::1]/", &["127.0.0.0/8"]).as_deref(),
            Some("::1/128")
        );
        assert_eq!(
            blocked("http://10.1.2.3/", &["10.2.0.0/16"]).as_deref(),
            Some("10.1.2.3/32")
        );
        assert_eq!(blocked("http://127.0.0.1:8000/", &["127.0.0.0/8"]), None);
        assert_eq!(blocked("http://8.8.8.8/", &[]), None);
        assert_eq!(blocked("http://portal.example/", &[]), None);
    }

    #[test]
    fn nothing_is_allowed_by_default() {
        assert!(!admits(&EgressPolicy::default(), "https://example.org/"));
        let read: EgressPolicy = serde_json::from_str("{}").expect("a policy");
        assert!(!admits(&read, "https://example.org/"));
    }

    #[test]
    fn a_policy_is_read_or_refused_whole() {
        let text = r#"{"listed": ["http://localhost:7200/"], "others": "any-public", "private-networks": ["127.0.0.0/8"]}"#;
        let policy: EgressPolicy = serde_json::from_str(text).expect("a policy");
        assert_eq!(
            (
                policy.listed.len(),
                policy.others,
                policy.private_networks.len()
            ),
            (1, OtherHosts::AnyPublic, 1)
        );
        let former_name: EgressPolicy =
            serde_json::from_str(r#"{"inner": ["127.0.0.0/8"]}"#).expect("a policy");
        assert_eq!(former_name.private_networks.len(), 1);
        for text in [
            r#"{"listed": ["example.org"]}"#,
            r#"{"listed": ["ftp://example.org/"]}"#,
            r#"{"listed": ["http://a@example.org/"]}"#,
            r#"{"listed": ["http://example.org/?a"]}"#,
            r#"{"listed": ["http:/example.org/"]}"#,
            r#"{"inner": ["127.0.0.0/33"]}"#,
            r#"{"allow": []}"#,
        ] {
            assert!(
                serde_json::from_str::<EgressPolicy>(text).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_prefix_ends_where_a_part_ends() {
        let policy = policy(
            &["http://good.example/sparql", "https://open.example:8443/"],
            OtherHosts::Refused,
        );
        for iri in [
            "http://good.example/sparql",
            "http://good.example:80/sparql?query=%2e%2e",
            "http://GOOD.example/sparql/1",
            "http://good.example/a/../sparql",
            "http://good.example/sparql/v1.2..3",
            "https://open.example:8443/any%2fthing",
        ] {
            assert!(admits(&policy, iri), "{iri}");
        }
        for iri in [
            "http://good.example/",
            "http://good.example/sparqlx",
            "http://good.example/sparql/../admin",
            "http://good.example/sparql/%2e%2e/admin",
            "http://good.example/sparql/..%2fadmin",
            "http://good.example/sparql/..;/admin",
            "http://good.example/sparql/%252e%252e/admin",
            "https://good.example/sparql",
            "http://good.example:8080/sparql",
            "http://good.example.evil/sparql",
            "http://good.example./sparql",
            "http://evil.example/http://good.example/sparql",
            "http://good.example@evil.example/sparql",
            "http://good.example:80@evil.example/sparql",
            "http://evil.example#@good.example/sparql",
            "http://evil.example\\@good.example/sparql",
            "http://user@good.example/sparql",
            "http://user:secret@good.example/sparql",
            "http:good.example/sparql",
            "http:/good.example/sparql",
            "//good.example/sparql",
            " http://good.example/sparql",
            "http://good.example/spa\nrql",
            "https://open.example/",
            "file:///etc/passwd",
            "ftp://good.example/sparql",
            "gopher://good.example/sparql",
            "data:text/plain,a",
            "urn:a",
            "",
        ] {
            assert!(!admits(&policy, iri), "{iri}");
        }
    }

    #[test]
    fn the_length_of_an_iri_is_limited() {
        let iri = |length: usize| format!("{:a<length$}", "https://good.example/");
        let policy = policy(&["https://good.example/"], OtherHosts::AnyPublic);
        assert!(admits(&policy, &iri(MAX_IRI_BYTES)));
        assert_eq!(
            parse_iri(&iri(MAX_IRI_BYTES + 1)),
            Err(EgressFault::IriTooLong(MAX_IRI_BYTES))
        );
        assert!(iri(MAX_IRI_BYTES + 1).parse::<IriPrefix>().is_err());
    }

    #[test]
    fn any_public_host_has_no_system_service() {
        let policy = policy(&["http://good.example:25/"], OtherHosts::AnyPublic);
        for (iri, admitted) in [
            ("http://any.example/", true),
            ("https://any.example/", true),
            ("http://any.example:8890/sparql", true),
            ("http://any.example:22/", false),
            ("http://any.example:25/", false),
            ("http://good.example:25/", true),
        ] {
            assert_eq!(admits(&policy, iri), admitted, "{iri}");
        }
    }

    #[test]
    fn redirects_never_lose_the_lock() {
        let from = parse_iri("https://good.example/a/b").expect("an IRI");
        let to = |location: &str| redirect_target(&from, location).map(String::from);
        assert_eq!(to("c?d#e"), Ok("https://good.example/a/c?d".to_owned()));
        assert_eq!(
            to("//other.example/"),
            Ok("https://other.example/".to_owned())
        );
        assert_eq!(to("http://good.example/"), Err(EgressFault::Downgrade));
        assert_eq!(to("http://[::1"), Err(EgressFault::Location));
        assert_eq!(to("/\\evil.example"), Err(EgressFault::Location));
    }
}
