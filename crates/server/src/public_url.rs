//! Public URL: the address at which clients reach the server.

use crate::site::SiteState;
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use lodeseek_catalog::Iris;
use oxrdf::NamedNode;
use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;

/// Address at which clients reach the server: scheme, host, port, and the path that a proxy adds, with a slash at the end.
///
/// ```
/// use lodeseek_server::PublicUrl;
/// let url: PublicUrl = "https://data.example.org".parse()?;
/// assert_eq!(url.as_str(), "https://data.example.org/");
/// # Ok::<_, lodeseek_server::InvalidPublicUrl>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl {
    url: String,
    /// Number of bytes of scheme and authority.
    origin_bytes: usize,
}

/// Error: the public URL is not valid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not a public URL; write scheme, host and, behind a proxy, its path, for example https://data.example.org/ or https://data.example.org/portal/"
)]
pub struct InvalidPublicUrl(String);

impl PublicUrl {
    /// Returns the address, with a slash at the end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// Returns the path without the slash at its end; empty if there is none.
    pub(crate) fn path(&self) -> &str {
        self.url[self.origin_bytes..].trim_end_matches('/')
    }

    /// Returns the public URL of a scheme and an authority. `None` if they are not those of a web address.
    pub(crate) fn from_parts(scheme: &str, authority: &str) -> Option<Self> {
        if authority.contains('/') {
            return None;
        }
        format!("{}://{authority}", scheme.to_ascii_lowercase())
            .parse()
            .ok()
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl FromStr for PublicUrl {
    type Err = InvalidPublicUrl;

    fn from_str(text: &str) -> Result<Self, InvalidPublicUrl> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(InvalidPublicUrl(text.to_owned()));
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let path = path.strip_suffix('/').unwrap_or(path);
        let is_host = !authority.is_empty()
            && authority
                .chars()
                .all(|c| c.is_alphanumeric() || ".-_~:[]".contains(c));
        let is_path = path.is_empty() || path.split('/').all(is_segment);
        let origin = format!("{scheme}://{authority}");
        let url = if path.is_empty() {
            format!("{origin}/")
        } else {
            format!("{origin}/{path}/")
        };
        let is_web = matches!(scheme, "http" | "https");
        if is_web && is_host && is_path && NamedNode::new(&url).is_ok() {
            Ok(Self {
                url,
                origin_bytes: origin.len(),
            })
        } else {
            Err(InvalidPublicUrl(text.to_owned()))
        }
    }
}

/// Returns true if a text is a segment of a path that needs no encoding.
fn is_segment(text: &str) -> bool {
    !text.is_empty()
        && !matches!(text, "." | "..")
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._~".contains(c))
}

/// First part of absolute links in a response, with a slash at the end: the configured public URL, else the address that a
/// trusted proxy forwards, else the address of the server. The header `Host` is ignored, because every client can set it.
#[derive(Clone, Debug)]
pub(crate) struct LinkBase(Arc<str>);

impl LinkBase {
    /// Returns the base of a server without requests.
    pub(crate) fn new(
        public_url: Option<&PublicUrl>,
        iris: &Iris,
        listening: Option<Listening>,
    ) -> Self {
        if let Some(url) = public_url {
            return Self(url.as_str().into());
        }
        match listening {
            // Nobody chose the default base as an address.
            Some(listening) if iris.base() == Iris::DEFAULT_BASE => Self(listening.url().into()),
            _ => Self(iris.base().into()),
        }
    }

    /// Returns the base for the client of a request.
    pub(crate) fn from_headers(
        site: &SiteState,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Self {
        if site.public_url.is_none()
            && let Some(forwarded) = site.proxies.public_url(headers, extensions)
        {
            return Self(forwarded.as_str().into());
        }
        site.link_base.clone()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the link to an IRI of this home.
    pub(crate) fn link(&self, iri: &str, iris: &Iris) -> String {
        match iri.strip_prefix(iris.base()) {
            Some(path) => format!("{}{path}", self.0),
            None => iri.to_owned(),
        }
    }
}

impl fmt::Display for LinkBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Address on which a server listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    pub(crate) has_tls: bool,
}

impl Listening {
    pub(crate) fn scheme(self) -> &'static str {
        if self.has_tls { "https" } else { "http" }
    }

    /// Returns the address as links contain it.
    fn url(self) -> String {
        let (scheme, ip) = (self.scheme(), self.address.ip());
        if ip.is_loopback() || ip.is_unspecified() {
            return format!("{scheme}://localhost:{}/", self.address.port());
        }
        format!("{scheme}://{}/", self.address)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for LinkBase
where
    SiteState: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let site = SiteState::from_ref(state);
        Ok(Self::from_headers(&site, &parts.headers, &parts.extensions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_begin_with_the_public_url_or_the_address() {
        let default = Iris::default();
        let own = Iris::new("https://data.example.org/x/").expect("a base");
        let url: PublicUrl = "https://e.org/".parse().expect("a URL");
        let listening = |text: &str, has_tls| {
            Some(Listening {
                address: text.parse().expect("an address"),
                has_tls,
            })
        };
        let address = |text: &str| listening(text, false);
        for (url, iris, listening, expected) in [
            (
                Some(&url),
                &own,
                address("127.0.0.1:8100"),
                "https://e.org/",
            ),
            (
                None,
                &own,
                address("127.0.0.1:8100"),
                "https://data.example.org/x/",
            ),
            (
                None,
                &default,
                address("127.0.0.1:8100"),
                "http://localhost:8100/",
            ),
            (
                None,
                &default,
                address("0.0.0.0:8100"),
                "http://localhost:8100/",
            ),
            (
                None,
                &default,
                address("[::1]:8100"),
                "http://localhost:8100/",
            ),
            (
                None,
                &default,
                address("192.0.2.1:80"),
                "http://192.0.2.1:80/",
            ),
            (
                None,
                &default,
                listening("127.0.0.1:8443", true),
                "https://localhost:8443/",
            ),
            (
                None,
                &default,
                listening("192.0.2.1:443", true),
                "https://192.0.2.1:443/",
            ),
            (None, &default, None, "http://localhost:7878/"),
        ] {
            assert_eq!(LinkBase::new(url, iris, listening).as_str(), expected);
        }
        let links = LinkBase::new(Some(&url), &own, None);
        assert_eq!(
            links.link("https://data.example.org/x/dataset/1", &own),
            "https://e.org/dataset/1"
        );
        assert_eq!(
            links.link("https://other.example.org/1", &own),
            "https://other.example.org/1"
        );
    }

    #[test]
    fn public_urls_have_a_host_and_a_plain_path() {
        for (text, expected) in [
            ("https://data.example.org/", "https://data.example.org/"),
            ("http://localhost:8100", "http://localhost:8100/"),
            ("http://[::1]:8100", "http://[::1]:8100/"),
            ("https://münchen.example/", "https://münchen.example/"),
            ("https://e.org/data/", "https://e.org/data/"),
            ("https://e.org/open/data-2", "https://e.org/open/data-2/"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().expect("valid").as_str(), expected);
        }
        let path = |text: &str| text.parse::<PublicUrl>().expect("valid").path().to_owned();
        assert_eq!(path("https://e.org"), "");
        assert_eq!(path("https://e.org/open/data/"), "/open/data");
        for text in [
            "",
            "data.example.org",
            "ftp://e.org/",
            "https://",
            "https:///",
            "https://e.org/data//x",
            "https://e.org/../x",
            "https://e.org/a b/",
            "https://e.org/\"/",
            "https://e.org?x",
            "https://user@e.org/",
            "https://e.org/\r\n",
            "https://e.org:x/",
            "https://e.org\"><script>",
        ] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text}");
        }
    }
}
