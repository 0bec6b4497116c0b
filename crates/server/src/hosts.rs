//! Hosts and origins of requests: the headers `Host`, `Origin` and `Sec-Fetch-Site`.
//!
//! A page elsewhere can make the browser of a user on this machine send requests here. With DNS rebinding, its own name points to
//! this machine. The name in `Host` shows that.

use crate::error::ApiError;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Rejects requests with more than one `Host`, with an invalid one, or with one that differs from the request target (RFC 9112,
/// 3.2). Proxies and servers may understand these differently.
pub(crate) async fn check_host(request: Request, next: Next) -> Response {
    match host_problem(&request) {
        Some(problem) => ApiError::bad_request(problem).into_response(),
        None => next.run(request).await,
    }
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
