//! Requests to a server at an address, with a token.

use super::upload::Upload;
use super::{Conditional, MAX_WAIT_SECONDS, READ_TIMEOUT};
use crate::terminal::bar;
use anyhow::{Context, bail};
use lodeseek_cli::streams::messages;
use serde_json::Value;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Request, Response};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Body, SendBody};

/// Timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response in bytes: the list of the datasets of a large collection.
const MAX_RESPONSE_BYTES: u64 = 1 << 30;
/// Variable with a file of trusted certificates (PEM), as OpenSSL and curl use it.
const CERTIFICATES: &str = "SSL_CERT_FILE";

/// A server at an address.
pub(super) struct Remote {
    agent: Agent,
    /// Address without a slash at its end.
    address: String,
    token: Option<String>,
}

impl Remote {
    /// Creates a client. The token of a file precedes the other one. Writes a warning if others can read the token on the way.
    ///
    /// # Errors
    /// If the address is not valid, or the token or the trusted certificates cannot be read.
    pub(super) fn new(
        address: &str,
        token_file: Option<&Path>,
        token: Option<&str>,
    ) -> anyhow::Result<Self> {
        let address = address.trim_end_matches('/');
        let host = parse_host(address).with_context(|| {
            format!("--server: {address:?} is no address of a server; write for example https://data.example.org/")
        })?;
        let token = match token_file {
            Some(file) => Some(read_token(file)?),
            None => token
                .map(|token| token.trim().to_owned())
                .filter(|token| !token.is_empty()),
        };
        if token
            .as_ref()
            .is_some_and(|token| token.contains(|c: char| c.is_control() || c.is_whitespace()))
        {
            bail!(
                "the token has white space or control characters; use the line that `lodeseek token add` printed"
            );
        }
        if address.starts_with("http://") && token.is_some() && !is_loopback(host) {
            let mut out = messages();
            writeln!(
                out,
                "lodeseek: {address} has no TLS: others on the network can read the token; use https"
            )?;
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could send the token to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(READ_TIMEOUT))
            .timeout_recv_body(Some(READ_TIMEOUT))
            .tls_config(tls_config()?)
            .user_agent(concat!("lodeseek/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: Agent::new_with_config(config),
            address: address.to_owned(),
            token,
        })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Sends a request with a body of a media type, and returns the JSON of the response.
    pub(super) fn request(&self, request: &Conditional<'_>, body: &str) -> anyhow::Result<Value> {
        let mut head = self.head(request.method, request.path, request.media_type);
        if let Some(tag) = request.if_match {
            head = head.header("if-match", tag);
        }
        let request = head.body(body)?;
        self.read(
            self.agent
                .run(request)
                .with_context(|| self.unreachable())?,
        )
    }

    /// Sends files, and returns the JSON of the response.
    pub(super) fn upload(&self, path: &str, upload: Upload) -> anyhow::Result<Value> {
        let bar = bar(
            upload.bytes().max(1),
            "uploading {bar:30} {bytes} of {total_bytes} · {eta} left",
        );
        let content_type = upload.content_type();
        let body = SendBody::from_owned_reader(bar.wrap_read(upload.into_body()));
        let sent = self
            .agent
            .run(self.head("POST", path, &content_type).body(body)?);
        bar.finish_and_clear();
        let response = sent.with_context(|| {
            format!(
                "the upload to {} was interrupted; its log has the reason",
                self.address
            )
        })?;
        self.read(response)
    }

    fn head(&self, method: &str, path: &str, content_type: &str) -> ureq::http::request::Builder {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address));
        request = request
            .header("prefer", format!("wait={MAX_WAIT_SECONDS}"))
            .header("content-type", content_type);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request
    }

    fn unreachable(&self) -> String {
        format!(
            "cannot reach the server {}; check the address, and that `lodeseek serve` runs there",
            self.address
        )
    }

    /// Reads the JSON of a response.
    fn read(&self, mut response: Response<Body>) -> anyhow::Result<Value> {
        let status = response.status().as_u16();
        let location = response
            .headers()
            .get("location")
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_RESPONSE_BYTES)
            .read_to_vec();
        let value = serde_json::from_slice(&text.with_context(|| self.unreachable())?).ok();
        self.check(status, location.as_deref(), value)
    }

    /// Returns the JSON of a response, or the error that it states.
    fn check(
        &self,
        status: u16,
        location: Option<&str>,
        value: Option<Value>,
    ) -> anyhow::Result<Value> {
        let address = &self.address;
        let is_job = value
            .as_ref()
            .is_some_and(|value| value.get("state").is_some());
        let reason = value
            .as_ref()
            .and_then(|value| value["error"].as_str())
            .filter(|_| !is_job);
        match (status, reason, value.as_ref()) {
            (401, _, _) if self.token.is_none() => bail!(
                "{address} needs a token: set LODESEEK_TOKEN or --token-file; `lodeseek token add NAME` on its machine creates one"
            ),
            (401, _, _) => {
                bail!(
                    "{address} rejects the token; `lodeseek token list` on its machine lists the valid ones"
                )
            }
            (403, Some(reason), _) => bail!("{address} does not allow this: {reason}"),
            (_, Some(reason), _) => bail!("{address}: {reason}"),
            (300..=399, ..) => bail!(
                "{address} redirects to {}; use that address for --server, because tokens are not sent elsewhere",
                location.unwrap_or("another address")
            ),
            // Jobs that failed have error statuses, too: their state is the response.
            (200..=299 | 409 | 412 | 422 | 428, None, Some(_)) => Ok(value.unwrap_or_default()),
            (404, ..) => bail!(
                "{address} has no administration (status 404): check the address, and that the server is lodeseek of this \
                 version with `serve --admin`"
            ),
            _ => bail!(
                "{address} returned status {status} without a reason; check the address and the server's log"
            ),
        }
    }
}

/// Returns the host of an http or https address without a query.
fn parse_host(address: &str) -> Option<&str> {
    let rest = address
        .strip_prefix("https://")
        .or_else(|| address.strip_prefix("http://"))?;
    let host = rest
        .split('/')
        .next()
        .filter(|host| !host.is_empty() && !host.contains('@'))?;
    let is_plain = !address.contains(['?', '#'])
        && !address.contains(|c: char| c.is_whitespace() || c.is_control());
    is_plain.then_some(host)
}

/// Returns true for a host, with or without a port, that is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Reads the token of a file: its first line.
fn read_token(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the token in {}", file.display()))?;
    let token = text.lines().next().unwrap_or_default().trim();
    anyhow::ensure!(
        !token.is_empty(),
        "{} has no token in its first line",
        file.display()
    );
    Ok(token.to_owned())
}

/// Returns the trusted certificates: those of the variable, else Mozilla's.
fn tls_config() -> anyhow::Result<TlsConfig> {
    let Some(file) = std::env::var_os(CERTIFICATES).filter(|file| !file.is_empty()) else {
        return Ok(TlsConfig::default());
    };
    let shown = file.display().to_string();
    let text =
        std::fs::read(&file).with_context(|| format!("{CERTIFICATES}: cannot read {shown}"))?;
    let mut certificates: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) =
            item.with_context(|| format!("{CERTIFICATES}: {shown}"))?
        {
            certificates.push(certificate);
        }
    }
    anyhow::ensure!(
        !certificates.is_empty(),
        "{CERTIFICATES}: {shown} has no certificate in PEM"
    );
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_and_tokens_are_checked() {
        for wrong in [
            "data.example.org",
            "ftp://e.org",
            "https://",
            "https://a@e.org",
            "https://e.org/?a=b",
            "http://a b",
        ] {
            assert!(Remote::new(wrong, None, None).is_err(), "{wrong}");
        }
        let remote = Remote::new("https://data.example.org/portal/", None, Some(" secret\n"))
            .expect("an address");
        assert_eq!(
            (remote.address(), remote.token.as_deref()),
            ("https://data.example.org/portal", Some("secret"))
        );
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        std::fs::write(&file, "of the file\n").expect("written");
        assert!(
            Remote::new("http://localhost", Some(&file), None).is_err(),
            "white space"
        );
        std::fs::write(&file, "lodeseek_1\n# for the portal\n").expect("written");
        let remote =
            Remote::new("http://localhost:7878", Some(&file), Some("other")).expect("a token");
        assert_eq!(remote.token.as_deref(), Some("lodeseek_1"));
        std::fs::write(&file, "").expect("written");
        assert!(
            Remote::new("http://localhost", Some(&file), None).is_err(),
            "no token"
        );
    }

    #[test]
    fn this_machine_is_recognised() {
        for host in [
            "localhost",
            "LOCALHOST:7878",
            "127.0.0.1:1",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "localhost.example",
            "10.0.0.1",
            "[fe80::1]:80",
            "127.0.0.1.example:80",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn errors_state_what_to_do() {
        let remote = Remote::new("https://e.org", None, Some("secret")).expect("an address");
        let error = |status, location, value| {
            remote
                .check(status, location, value)
                .map_err(|error| error.to_string())
                .expect_err("an error")
        };
        assert!(error(401, None, Some(json!({"error": "x"}))).contains("rejects the token"));
        assert!(error(403, None, Some(json!({"error": "needs admin"}))).ends_with("needs admin"));
        assert!(error(404, None, None).contains("serve --admin"));
        assert!(
            error(
                404,
                None,
                Some(json!({"error": "the administration is disabled"}))
            )
            .contains("is disabled")
        );
        assert!(error(301, Some("https://f.org/"), None).contains("https://f.org/"));
        assert!(error(502, None, None).contains("status 502"));
        let failed = json!({"id": 1, "state": "failed", "error": "a file cannot be read"});
        assert_eq!(
            remote
                .check(422, None, Some(failed.clone()))
                .expect("a job"),
            failed
        );
        let without = Remote::new("https://e.org", None, None).expect("an address");
        let error = without
            .check(401, None, None)
            .expect_err("no token")
            .to_string();
        assert!(error.contains("LODESEEK_TOKEN"), "{error}");
    }
}
