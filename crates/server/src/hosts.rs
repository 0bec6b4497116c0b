//! Hosts and origins of requests: the headers `Host`, `Origin` and `Sec-Fetch-Site`.
//!
//! A page elsewhere can make the browser of a user on this machine send requests here. With DNS rebinding, its own name points to
//! this machine. The name in `Host` shows that.

use crate::error::ApiError;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Host name or address of a server in requests, in lower case and without a port.
///
/// ```
/// use lodeseek_server::HostName;
/// let name: HostName = "Data.Example.org".parse()?;
/// assert_eq!(name.to_string(), "data.example.org");
/// assert!("data.example.org:80".parse::<HostName>().is_err());
/// # Ok::<_, lodeseek_server::InvalidHostName>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostName(String);

/// Error: a text is no host name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is no host name; write a name or an address without a port, for example data.example.org"
)]
pub struct InvalidHostName(String);

impl FromStr for HostName {
    type Err = InvalidHostName;

    fn from_str(text: &str) -> Result<Self, InvalidHostName> {
        let is_bare =
            is_authority(text) && text.parse().is_ok_and(|one: Authority| one.host() == text);
        match name_of(text) {
            Some(name) if is_bare && !name.is_empty() => Ok(Self(name)),
            _ => Err(InvalidHostName(text.to_owned())),
        }
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HostName {
    /// Returns the host of a web address.
    pub(crate) fn of_url(url: &str) -> Option<Self> {
        let (_, rest) = url.split_once("://")?;
        name_of(rest.split('/').next()?).map(Self)
    }
}

/// Rejects requests with more than one `Host`, with an invalid one, or with one that differs from the request target (RFC 9112,
/// 3.2). Proxies and servers may understand these differently. A server with `allowed` hosts rejects all other names that are not
/// those of this machine: status 421. With DNS rebinding, a page elsewhere has a name that points to this machine.
pub(crate) async fn check_host(
    allowed: Option<&[HostName]>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(problem) = host_problem(&request) {
        return ApiError::bad_request(problem).into_response();
    }
    if let Some(name) = allowed.and_then(|allowed| unknown_host(&request, allowed)) {
        let message = format!(
            "this server is not {name:?}: it answers requests to localhost only; allow another name with `serve --allowed-host`"
        );
        return ApiError::with_status(StatusCode::MISDIRECTED_REQUEST, message).into_response();
    }
    next.run(request).await
}

/// Returns the name in a request if it is neither one of this machine nor allowed. Requests without a name come from no browser.
fn unknown_host(request: &Request, allowed: &[HostName]) -> Option<String> {
    let host = match request.headers().get(header::HOST) {
        Some(host) => host.to_str().ok()?,
        None => request.uri().authority()?.as_str(),
    };
    let name = name_of(host)?;
    let is_known = is_loopback(&name) || allowed.iter().any(|allowed| allowed.0 == name);
    (!is_known).then_some(name)
}

fn host_problem(request: &Request) -> Option<&'static str> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next()?;
    if hosts.next().is_some() {
        return Some("the request has more than one header Host");
    }
    let Some(host) = host.to_str().ok().filter(|host| is_authority(host)) else {
        return Some("the header Host is not a host name with an optional port");
    };
    let target = request.uri().authority();
    let differs = target.is_some_and(|target| !target.as_str().eq_ignore_ascii_case(host));
    differs.then_some("the header Host differs from the request target")
}

/// If true, a text is a host with an optional port, without user information. The specification allows it to be empty.
fn is_authority(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let Some(authority) = text
        .parse::<Authority>()
        .ok()
        .filter(|_| !text.contains('@'))
    else {
        return false;
    };
    let port = &text[authority.host().len()..];
    port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the host name of a request in lower case, without port and brackets; `None` if it is missing or not valid.
fn host_name(headers: &HeaderMap) -> Option<String> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    if hosts.next().is_some() || !is_authority(host) {
        return None;
    }
    name_of(host)
}

fn name_of(authority: &str) -> Option<String> {
    let authority: Authority = authority.parse().ok()?;
    Some(
        authority
            .host()
            .trim_matches(['[', ']'])
            // A name with a dot at its end is the same name for DNS.
            .trim_end_matches('.')
            .to_ascii_lowercase(),
    )
}

fn is_loopback(name: &str) -> bool {
    name == "localhost"
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// If true, `Host` names this machine by a name that nobody else can own.
pub(crate) fn is_loopback_host(headers: &HeaderMap) -> bool {
    host_name(headers).is_some_and(|name| is_loopback(&name))
}

/// If true, an `Origin` is a page that this machine serves.
pub(crate) fn is_loopback_origin(origin: &[u8]) -> bool {
    let origin = std::str::from_utf8(origin).unwrap_or_default();
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    let name = authority
        .filter(|authority| is_authority(authority))
        .and_then(name_of);
    name.is_some_and(|name| is_loopback(&name))
}

/// If true, a browser declares that a page of another origin caused the request. Other clients do not send the header.
pub(crate) fn is_from_other_origin(headers: &HeaderMap) -> bool {
    let site = headers.get_all("sec-fetch-site").iter();
    // `none`: the user entered the address, or opened a bookmark.
    site.into_iter()
        .any(|site| site != "same-origin" && site != "none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(target: &str, hosts: &[&str]) -> Request {
        let mut request = Request::builder().uri(target);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        request.body(Body::empty()).expect("a request")
    }

    #[test]
    fn a_request_has_one_valid_host() {
        for (target, hosts, is_valid) in [
            ("/", &[][..], true),
            ("/", &[""], true),
            ("/", &["localhost"], true),
            ("/", &["data.example.org:7878"], true),
            ("/", &["[::1]:7878"], true),
            ("/", &["localhost", "localhost"], false),
            ("/", &["localhost", "data.example.org"], false),
            ("/", &["user@localhost"], false),
            ("/", &["localhost:port"], false),
            ("/", &["localhost/operator"], false),
            ("/", &["local host"], false),
            ("http://localhost:7878/", &["LOCALHOST:7878"], true),
            ("http://data.example.org/", &["localhost"], false),
        ] {
            assert_eq!(
                host_problem(&request(target, hosts)).is_none(),
                is_valid,
                "{target} {hosts:?}"
            );
        }
    }

    #[test]
    fn unknown_hosts_are_neither_of_this_machine_nor_allowed() {
        let allowed = ["data.example.org".parse().expect("a name")];
        for (target, hosts, is_unknown) in [
            ("/", &[][..], false),
            ("/", &[""], false),
            ("/", &["localhost:7878"], false),
            ("/", &["127.0.0.1"], false),
            ("/", &["[::1]:7878"], false),
            ("/", &["DATA.example.org.:7878"], false),
            ("/", &["evil.example"], true),
            ("/", &["data.example.org.evil.example"], true),
            ("/", &["192.168.0.1"], true),
            ("http://evil.example/", &[], true),
            ("http://localhost/", &[], false),
        ] {
            let unknown = unknown_host(&request(target, hosts), &allowed);
            assert_eq!(unknown.is_some(), is_unknown, "{target} {hosts:?}");
        }
    }

    #[test]
    fn host_names_have_no_port() {
        for text in ["data.example.org", "[::1]", "10.0.0.1", "Localhost"] {
            assert!(text.parse::<HostName>().is_ok(), "{text}");
        }
        for text in ["", "a:80", "http://a", "a/b", "u@a", "a b"] {
            assert!(text.parse::<HostName>().is_err(), "{text}");
        }
        let host = HostName::of_url("https://Data.example.org:8443/").expect("a host");
        assert_eq!(host.to_string(), "data.example.org");
    }

    #[test]
    fn loopback_hosts_are_names_that_nobody_else_owns() {
        for (hosts, expected) in [
            (&["localhost"][..], true),
            (&["LOCALHOST.:80"], true),
            (&["127.0.0.1:7878"], true),
            (&["127.8.8.8"], true),
            (&["[::1]:7878"], true),
            (&[], false),
            (&[""], false),
            (&["localhost", "localhost"], false),
            (&["user@localhost"], false),
            (&["localhost:80@evil.example"], false),
            (&["localhost.evil.example"], false),
            (&["127.0.0.1.evil.example"], false),
            (&["evil.example"], false),
            (&["0.0.0.0"], false),
        ] {
            assert_eq!(
                is_loopback_host(request("/", hosts).headers()),
                expected,
                "{hosts:?}"
            );
        }
    }

    #[test]
    fn loopback_origins_are_pages_of_this_machine() {
        for (origin, expected) in [
            ("http://localhost:3000", true),
            ("https://127.0.0.1", true),
            ("http://[::1]:3000", true),
            ("null", false),
            ("", false),
            ("https://localhost.evil.example", false),
            ("http://user@localhost", false),
            ("file://localhost", false),
        ] {
            assert_eq!(is_loopback_origin(origin.as_bytes()), expected, "{origin}");
        }
    }
}
