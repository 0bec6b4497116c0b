//! HTTP client with an egress policy. Every outgoing request of the program is sent by an [`Egress`].
//!
//! Queries, catalogues and documents contain addresses that are chosen by others. The [`EgressPolicy`] protects against
//! server-side request forgery:
//!
//! - Only http and https are allowed, and only IRIs in the allow list or, if configured, any public host.
//! - Only public IP addresses are allowed, unless the configuration opens a private network.
//! - A host name is resolved once, and the connection uses the checked addresses (no DNS rebinding).
//! - At most [`MAX_REDIRECTS`] redirects are followed. Each is checked like the first request, and none leads from https
//!   to http.
//! - Proxy settings of the environment are ignored, because a proxy would bypass these checks.
//!
//! Every request is bounded: by a connect timeout, a total timeout up to the last byte, a maximum length of the response
//! after decompression, and a [`Cancellation`] that is checked every 50 ms.
//!
//! ```
//! use lodeseek_net::egress::{Egress, EgressPolicy};
//!
//! let egress = Egress::new(EgressPolicy::default());
//! let error = egress.get("http://169.254.169.254/latest/meta-data").send().unwrap_err();
//! assert!(error.fault.is_refusal());
//! assert!(error.to_string().contains("blocked by the egress policy: not in the allow list"));
//! ```

mod address;
mod error;
mod policy;
mod resolve;
mod response;
#[cfg(test)]
pub(crate) mod tests;
mod cancellation;

pub use cancellation::Cancellation;
pub use error::{EgressError, EgressFault};
pub use ipnet::IpNet;
pub use policy::{EgressPolicy, IriPrefix, MAX_IRI_BYTES, OtherHosts, PrefixError};
pub use resolve::{Resolve, SystemResolver};
pub use response::{Body, Response};

use cancellation::{CancellableConnector, with_cancellation};
use error::ResponseStarted;
use policy::{AddressScope, parse_iri, redirect_target};
use resolve::CheckedResolver;
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http;
use ureq::unversioned::transport::{Connector, RustlsConnector, TcpConnector};
use url::{Url, form_urlencoded};

/// Maximum number of redirects of a request.
pub const MAX_REDIRECTS: usize = 3;
/// Value of the `User-Agent` header.
const USER_AGENT: &str = concat!("lodeseek/", env!("CARGO_PKG_VERSION"));
/// Maximum size of the response headers in bytes.
const MAX_HEADER_BYTES: usize = 32 << 10;
/// Time for which an idle connection is kept open.
const MAX_IDLE: Duration = Duration::from_secs(10);
/// Maximum time until a deadline, one year. The system cannot represent the end of much longer ones.
const MAX_TIME: Duration = Duration::from_secs(366 * 86_400);

/// Limits of one request.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Connect timeout for each address. Default 5 s.
    pub connect: Duration,
    /// Total timeout, from the first request to the last byte of the response, with redirects. Default 30 s.
    pub total: Duration,
    /// Maximum size of the decompressed response in bytes. Default 100 MiB.
    pub bytes: u64,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            total: Duration::from_secs(30),
            bytes: 100 << 20,
        }
    }
}

/// Returns the instant at which a time from now ends. More than a year counts as one.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// assert!(lodeseek_net::egress::deadline_after(Duration::MAX) > Instant::now());
/// ```
#[must_use]
pub fn deadline_after(time: Duration) -> Instant {
    Instant::now() + time.min(MAX_TIME)
}

/// HTTP client that sends the requests its policy permits. Share one instance: it pools connections.
#[derive(Debug)]
pub struct Egress {
    policy: EgressPolicy,
    listed: Agent,
    /// Separate pool: a connection into a private network must not serve a request that is not listed.
    public: Agent,
}

/// Creates a client that blocks every request.
impl Default for Egress {
    fn default() -> Self {
        Self::new(EgressPolicy::default())
    }
}

impl Egress {
    /// Creates a client with the resolver of the operating system.
    #[must_use]
    pub fn new(policy: EgressPolicy) -> Self {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    /// Creates a client with a custom resolver.
    #[must_use]
    pub fn with_resolver(policy: EgressPolicy, names: Arc<dyn Resolve>) -> Self {
        let listed = build_agent(Arc::clone(&names), policy.private_networks.clone());
        Self {
            listed,
            public: build_agent(names, Vec::new()),
            policy,
        }
    }

    /// Prepares a GET request.
    pub fn get(&self, iri: &str) -> Request<'_> {
        self.request(iri, Method::Get)
    }

    /// Prepares a HEAD request.
    pub fn head(&self, iri: &str) -> Request<'_> {
        self.request(iri, Method::Head)
    }

    /// Prepares a POST request.
    pub fn post(&self, iri: &str, content_type: &str, body: Vec<u8>) -> Request<'_> {
        self.request(
            iri,
            Method::Post {
                content_type: content_type.to_owned(),
                body,
            },
        )
    }

    /// Prepares a POST request with a URL-encoded form.
    pub fn post_form(&self, iri: &str, fields: &[(&str, &str)]) -> Request<'_> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        self.post(
            iri,
            "application/x-www-form-urlencoded",
            form.finish().into_bytes(),
        )
    }

    /// Returns true if the policy blocks every request.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.policy.listed.is_empty() && self.policy.others == OtherHosts::Refused
    }

    /// Checks an IRI against the policy without resolving its host name.
    ///
    /// # Errors
    ///
    /// Returns the reason if the policy blocks the IRI. The IP addresses are checked later, when the request is sent.
    pub fn check(&self, iri: &str) -> Result<(), EgressError> {
        let admitted = parse_iri(iri).and_then(|url| self.policy.admit(&url));
        admitted.map(drop).map_err(|fault| EgressError {
            iri: shorten_iri(iri),
            fault,
        })
    }

    fn request(&self, iri: &str, method: Method) -> Request<'_> {
        Request {
            egress: self,
            method,
            iri: iri.to_owned(),
            parameters: Vec::new(),
            accept: "*/*".to_owned(),
            headers: Vec::new(),
            conditions: Vec::new(),
            limits: RequestLimits::default(),
            cancellation: Cancellation::default(),
            stays: false,
        }
    }

    fn agent(&self, scope: AddressScope) -> &Agent {
        match scope {
            AddressScope::Listed => &self.listed,
            AddressScope::Public => &self.public,
        }
    }
}

fn build_agent(names: Arc<dyn Resolve>, private_networks: Vec<IpNet>) -> Agent {
    let config = Agent::config_builder()
        .proxy(None)
        // This client follows redirects itself, to check each of them.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(USER_AGENT)
        .max_response_header_size(MAX_HEADER_BYTES)
        .max_idle_age(MAX_IDLE)
        .build();
    // Below TLS, so that handshakes can be cancelled, too. No other connectors: those of the library include proxies.
    let connector = TcpConnector::default()
        .chain(CancellableConnector)
        .chain(RustlsConnector::default());
    Agent::with_parts(
        config,
        connector,
        CheckedResolver {
            names,
            private_networks,
        },
    )
}

#[derive(Clone, Debug)]
enum Method {
    Get,
    Head,
    Post { content_type: String, body: Vec<u8> },
}

/// Prepared request.
#[derive(Debug)]
#[must_use]
pub struct Request<'e> {
    egress: &'e Egress,
    method: Method,
    iri: String,
    parameters: Vec<(String, String)>,
    accept: String,
    headers: Vec<(String, String)>,
    conditions: Vec<(String, String)>,
    limits: RequestLimits,
    cancellation: Cancellation,
    stays: bool,
}

impl Request<'_> {
    /// Sets the `Accept` header. Default `*/*`.
    pub fn with_accept(mut self, accept: &str) -> Self {
        accept.clone_into(&mut self.accept);
        self
    }

    /// Appends a parameter to the query string of the IRI.
    pub fn with_parameter(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a header. It is not sent to another origin after a redirect.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a conditional or range header. It contains no credentials, so it is also sent after a redirect.
    pub fn with_condition(mut self, name: &str, value: &str) -> Self {
        self.conditions.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Stops at a permitted redirect to another origin and returns it as [`EgressFault::OtherHost`].
    ///
    /// The caller may have to check the robots.txt of that host first.
    pub fn with_same_origin_only(mut self) -> Self {
        self.stays = true;
        self
    }

    /// Sets the cancellation.
    pub fn with_cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Sends the request, follows redirects and waits for the response headers. The caller checks the status code.
    ///
    /// # Errors
    ///
    /// Returns an [`EgressError`] if the policy blocks the request or the transfer fails.
    pub fn send(self) -> Result<Response, EgressError> {
        let iri = shorten_iri(&self.iri);
        let span = tracing::info_span!(
            target: "traces",
            "outgoing request",
            otel.kind = "client",
            url.full = iri,
            http.response.status_code = tracing::field::Empty,
        );
        match span.in_scope(|| self.follow(&iri)) {
            Ok(response) => {
                span.record("http.response.status_code", response.status());
                Ok(response)
            }
            Err(fault) => {
                tracing::debug!(%iri, %fault, "request failed");
                Err(EgressError { iri, fault })
            }
        }
    }

    /// Follows redirects. A redirect keeps method and body, except status 303, which changes the method to GET.
    fn follow(mut self, shown: &str) -> Result<Response, EgressFault> {
        let deadline = deadline_after(self.limits.total);
        let mut first = parse_iri(&self.iri)?;
        if !self.parameters.is_empty() {
            first.query_pairs_mut().extend_pairs(&self.parameters);
        }
        let mut url = first.clone();
        let mut scope = self.egress.policy.admit(&url)?;
        // One request more than redirects: the last response may be the final one.
        for _ in 0..=MAX_REDIRECTS {
            let own = url.origin() == first.origin();
            let (parts, body) = self.exchange(&url, scope, own, deadline)?.into_parts();
            let status = parts.status.as_u16();
            if !matches!(status, 301 | 302 | 303 | 307 | 308) {
                let body = Body::new(
                    body.into_reader(),
                    shown.to_owned(),
                    self.limits.bytes,
                    self.cancellation,
                );
                return Ok(Response::new(parts, url.into(), body));
            }
            let location = parts
                .headers
                .get(http::header::LOCATION)
                .and_then(|value| value.to_str().ok());
            url = redirect_target(&url, location.ok_or(EgressFault::Location)?)?;
            tracing::debug!(iri = shown, target = %url, "redirected");
            scope = self
                .egress
                .policy
                .admit(&url)
                .map_err(|fault| EgressFault::Redirected(Box::new(fault)))?;
            // After the policy: the caller learns only of hosts that may be requested.
            if self.stays && url.origin() != first.origin() {
                return Err(EgressFault::OtherHost(url.into()));
            }
            // RFC 9110, 15.4.4: a GET, but a HEAD remains one. The body is dropped.
            if status == 303 && !matches!(self.method, Method::Head) {
                self.method = Method::Get;
            }
        }
        Err(EgressFault::Redirects(MAX_REDIRECTS))
    }

    fn exchange(
        &self,
        url: &Url,
        scope: AddressScope,
        own: bool,
        deadline: Instant,
    ) -> Result<http::Response<ureq::Body>, EgressFault> {
        if self.cancellation.is_cancelled() {
            return Err(EgressFault::Cancelled);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(EgressFault::TimedOut);
        }
        let agent = self.egress.agent(scope);
        let answer = with_cancellation(&self.cancellation, || match &self.method {
            Method::Get => self.run(agent, self.head(url, own), (), left),
            Method::Head => self.run(agent, self.head(url, own).method("HEAD"), (), left),
            Method::Post { content_type, body } => {
                let head = self
                    .head(url, own)
                    .method("POST")
                    .header("Content-Type", content_type);
                self.run(agent, head, body, left)
            }
        });
        answer.map_err(|error| EgressFault::from_http(error, ResponseStarted::No))
    }

    fn head(&self, url: &Url, own: bool) -> http::request::Builder {
        let head = http::Request::builder()
            .uri(url.as_str())
            .header("Accept", &self.accept);
        // Headers of the caller may be credentials: only the first origin gets them.
        let headers = self.headers.iter().filter(|_| own).chain(&self.conditions);
        headers.fold(head, |head, (name, value)| head.header(name, value))
    }

    fn run(
        &self,
        agent: &Agent,
        head: http::request::Builder,
        body: impl ureq::AsSendBody,
        left: Duration,
    ) -> Result<http::Response<ureq::Body>, ureq::Error> {
        let request = agent.configure_request(head.body(body)?);
        let connect = self.limits.connect.min(left);
        agent.run(
            request
                .timeout_global(Some(left))
                .timeout_connect(Some(connect))
                .build(),
        )
    }
}

/// Returns the origin of an IRI, the same for all spellings: scheme, host, and the port if it is not the default one. `None` if the
/// IRI cannot be requested.
///
/// ```
/// use lodeseek_net::egress::origin_of;
///
/// assert_eq!(origin_of("HTTP://Example.org:080/a").as_deref(), Some("http://example.org"));
/// assert_eq!(origin_of("https://example.org:8443/").as_deref(), Some("https://example.org:8443"));
/// assert_eq!(origin_of("urn:a"), None);
/// ```
#[must_use]
pub fn origin_of(iri: &str) -> Option<String> {
    parse_iri(iri)
        .ok()
        .map(|url| url.origin().ascii_serialization())
}

/// Returns an IRI for messages: without query, fragment and user name, on one line of at most 200 characters.
fn shorten_iri(iri: &str) -> String {
    let end = iri.find(['?', '#']).unwrap_or(iri.len());
    let text: String = iri[..end]
        .chars()
        .filter(|character| !character.is_control())
        .take(200)
        .collect();
    let Some((scheme, rest)) = text.split_once("://") else {
        return text;
    };
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => text,
    }
}
