//! The one door to the network: every request the program makes goes through an [`Egress`] and its [`EgressPolicy`].
//!
//! Whom a query, a catalogue or a document makes us ask is not ours to choose, so what may be asked is: http and https
//! alone, what the policy lists, at addresses that are public unless configuration opens their network. The addresses
//! checked are those connected to, since a name is resolved once. Redirects are followed by hand, at most [`MAX_REDIRECTS`],
//! each checked like the first request, none from https to http. There is no proxy: the environment's would undo all that.
//!
//! Every request has an end: a time for connecting, a time for all of it, the last byte included, a length of the answer
//! after decompression, and a [`Cancellation`] that is looked at every 50 ms.
//!
//! ```
//! use lodeseek_net::egress::{Egress, EgressPolicy};
//!
//! let egress = Egress::new(EgressPolicy::default());
//! let refused = egress.get("http://169.254.169.254/latest/meta-data").send().unwrap_err();
//! assert_eq!(refused.to_string(), "<http://169.254.169.254/latest/meta-data>: it is not among what may be asked");
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
pub use policy::{EgressPolicy, IriPrefix, OtherHosts, PrefixError};
pub use resolve::{Resolve, SystemResolver};
pub use response::{Body, Response};

use cancellation::{CancellableConnector, with_cancellation};
use error::ResponseStarted;
use ipnet::IpNet;
use policy::{AddressScope, parse, redirect_target};
use resolve::CheckedResolver;
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http;
use ureq::unversioned::transport::{Connector, RustlsConnector, TcpConnector};
use url::{Url, form_urlencoded};

/// How many redirects are followed.
pub const MAX_REDIRECTS: usize = 3;
/// How the program names itself.
const USER_AGENT: &str = concat!("lodeseek/", env!("CARGO_PKG_VERSION"));
/// Bytes of the headers of an answer.
const MAX_HEADER_BYTES: usize = 32 << 10;
/// How long a connection is kept for the next request.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// What one request may cost.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Time until the connection stands, on each address tried. Default 5 s.
    pub connect: Duration,
    /// Time until the last byte of the answer is read, redirects included. Default 30 s.
    pub total: Duration,
    /// Bytes of the answer, decompressed. Default 100 MiB.
    pub bytes: u64,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), total: Duration::from_secs(30), bytes: 100 << 20 }
    }
}

/// Makes requests as far as its policy allows them. To be shared: it keeps connections.
#[derive(Debug)]
pub struct Egress {
    policy: EgressPolicy,
    listed: Agent,
    /// Apart, so that no connection into an inner network serves a request that is not listed.
    public: Agent,
}

/// Nobody may be asked.
impl Default for Egress {
    fn default() -> Self {
        Self::new(EgressPolicy::default())
    }
}

impl Egress {
    /// With the names of the operating system.
    #[must_use]
    pub fn new(policy: EgressPolicy) -> Self {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    /// With names of one's own.
    #[must_use]
    pub fn with_resolver(policy: EgressPolicy, names: Arc<dyn Resolve>) -> Self {
        let listed = agent(Arc::clone(&names), policy.private_networks.clone());
        Self { listed, public: agent(names, Vec::new()), policy }
    }

    /// A request by GET.
    pub fn get(&self, iri: &str) -> Request<'_> {
        self.request(iri, Method::Get)
    }

    /// A request by HEAD: what GET would answer, without the body.
    pub fn head(&self, iri: &str) -> Request<'_> {
        self.request(iri, Method::Head)
    }

    /// A request by POST.
    pub fn post(&self, iri: &str, content_type: &str, body: Vec<u8>) -> Request<'_> {
        self.request(iri, Method::Post { content_type: content_type.to_owned(), body })
    }

    /// A request by POST that carries a form.
    pub fn post_form(&self, iri: &str, fields: &[(&str, &str)]) -> Request<'_> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        self.post(iri, "application/x-www-form-urlencoded", form.finish().into_bytes())
    }

    /// Whether nobody may be asked.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.policy.listed.is_empty() && self.policy.others == OtherHosts::Refused
    }

    /// Whether the policy allows to ask, as far as the IRI tells: the addresses of its host are yet to be seen.
    pub fn check(&self, iri: &str) -> Result<(), EgressError> {
        let admitted = parse(iri).and_then(|url| self.policy.admit(&url));
        admitted.map(drop).map_err(|fault| EgressError { iri: shown(iri), fault })
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

fn agent(names: Arc<dyn Resolve>, private_networks: Vec<IpNet>) -> Agent {
    let config = Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(USER_AGENT)
        .max_response_header_size(MAX_HEADER_BYTES)
        .max_idle_age(MAX_IDLE)
        .build();
    let connector = TcpConnector::default().chain(CancellableConnector).chain(RustlsConnector::default());
    Agent::with_parts(config, connector, CheckedResolver { names, private_networks })
}

#[derive(Clone, Debug)]
enum Method {
    Get,
    Head,
    Post { content_type: String, body: Vec<u8> },
}

/// A request to be sent.
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
    /// What the answer should be: the value of `Accept`.
    pub fn with_accept(mut self, accept: &str) -> Self {
        accept.clone_into(&mut self.accept);
        self
    }

    /// A parameter of the query of the IRI, encoded and appended.
    pub fn with_parameter(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A header for the host asked: a redirect to another one does not take it along.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A header that asks for less of an answer, a condition or a range. It tells nothing of us: redirects take it along.
    pub fn with_condition(mut self, name: &str, value: &str) -> Self {
        self.conditions.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What it may cost.
    pub fn with_limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Redirects to another host, if the policy allows them, are not followed but told ([`EgressFault::OtherHost`]): who asks may
    /// have to ask that host something first.
    pub fn with_same_origin_only(mut self) -> Self {
        self.stays = true;
        self
    }

    /// When it is given up.
    pub fn with_cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Sends it, follows redirects, and waits for the headers of the answer. What status says is the caller's to judge.
    pub fn send(self) -> Result<Response, EgressError> {
        let iri = shown(&self.iri);
        self.follow(&iri).map_err(|fault| {
            tracing::debug!(%iri, %fault, "no answer");
            EgressError { iri, fault }
        })
    }

    /// By a redirect a request keeps its method and body, but for 303, which points to what is to be got.
    fn follow(mut self, shown: &str) -> Result<Response, EgressFault> {
        let deadline = Instant::now() + self.limits.total;
        let mut first = parse(&self.iri)?;
        if !self.parameters.is_empty() {
            first.query_pairs_mut().extend_pairs(&self.parameters);
        }
        let mut url = first.clone();
        let mut scope = self.egress.policy.admit(&url)?;
        for _ in 0..=MAX_REDIRECTS {
            let own = url.origin() == first.origin();
            let (parts, body) = self.exchange(&url, scope, own, deadline)?.into_parts();
            let status = parts.status.as_u16();
            if !matches!(status, 301 | 302 | 303 | 307 | 308) {
                let body = Body::new(body.into_reader(), shown.to_owned(), self.limits.bytes, self.cancellation);
                return Ok(Response::new(parts, url.into(), body));
            }
            let location = parts.headers.get(http::header::LOCATION).and_then(|value| value.to_str().ok());
            url = redirect_target(&url, location.ok_or(EgressFault::Location)?)?;
            tracing::debug!(iri = shown, target = %url, "redirected");
            scope = self.egress.policy.admit(&url).map_err(|fault| EgressFault::Redirected(Box::new(fault)))?;
            if self.stays && url.origin() != first.origin() {
                return Err(EgressFault::OtherHost(url.into()));
            }
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
                let head = self.head(url, own).method("POST").header("Content-Type", content_type);
                self.run(agent, head, body, left)
            }
        });
        answer.map_err(|error| EgressFault::from_http(error, ResponseStarted::No))
    }

    fn head(&self, url: &Url, own: bool) -> http::request::Builder {
        let head = http::Request::builder().uri(url.as_str()).header("Accept", &self.accept);
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
        agent.run(request.timeout_global(Some(left)).timeout_connect(Some(connect)).build())
    }
}

/// An IRI as messages name it: without query, fragment and user name, in one line of bounded length.
fn shown(iri: &str) -> String {
    let end = iri.find(['?', '#']).unwrap_or(iri.len());
    let text: String = iri[..end].chars().filter(|character| !character.is_control()).take(200).collect();
    let Some((scheme, rest)) = text.split_once("://") else { return text };
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => text,
    }
}
