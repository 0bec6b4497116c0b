//! Polite download of files: conditional requests, one at a time, with pauses, retries and a budget.

use super::digest::{hash_of, hash_of_text};
use super::robots::RobotsRules;
use super::state::{CachedFile, State};
use super::{FetchError, HarvestError, HarvestOptions, Usage};
use lodeseek_net::egress::{
    Cancellation, Egress, EgressError, EgressFault, Request, RequestLimits, Response, origin_of,
};
use lodeseek_rdf::dump::{self, Limits};
use oxiri::Iri;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which a wait checks for cancellation.
const CANCELLATION_INTERVAL: Duration = Duration::from_millis(50);
/// Timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a media type with its parameters in bytes. A longer one is ignored.
const MAX_MEDIA_TYPE_BYTES: usize = 1_000;
/// Maximum number of redirects from host to host for one file.
const MAX_REDIRECTED_HOSTS: usize = 3;
/// `Accept` header for pages.
const PAGES: &str = "text/turtle, application/ld+json;q=0.9, application/rdf+xml;q=0.8, application/json;q=0.7, \
                     text/html;q=0.5, */*;q=0.1";
/// `Accept` header for pages in JSON.
const JSON_PAGES: &str = "application/geo+json, application/json;q=0.9, */*;q=0.1";
/// `Accept` header for responses of services in XML.
const SERVICES: &str = "application/xml, text/xml;q=0.9, application/rdf+xml;q=0.5, */*;q=0.1";
/// `Accept` header for pages of event streams.
const EVENTS: &str = "application/trig, text/turtle;q=0.9, application/n-triples;q=0.8, */*;q=0.1";
/// `Accept` header for files.
const FILES: &str = "application/n-triples, application/n-quads, text/turtle;q=0.9, application/trig;q=0.9, \
                     application/rdf+xml;q=0.8, application/ld+json;q=0.7, */*;q=0.5";

/// Purpose of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// A page of the catalogue, named by the operator or by another page.
    Page,
    /// A page of the catalogue, in JSON rather than RDF.
    JsonPage,
    /// A response of a service in XML, which the operator named.
    Service,
    /// A page of an event stream, whose named graphs matter.
    Events,
    /// A file that the catalogue describes; subject to `robots.txt`.
    Download,
}

impl Purpose {
    fn accept(self) -> &'static str {
        match self {
            Self::Page => PAGES,
            Self::JsonPage => JSON_PAGES,
            Self::Service => SERVICES,
            Self::Events => EVENTS,
            Self::Download => FILES,
        }
    }
}

/// An up-to-date file in the cache.
#[derive(Clone, Debug)]
pub(super) struct FetchedFile {
    pub(super) path: PathBuf,
    pub(super) file: CachedFile,
    /// If true, its content differs from the earlier version.
    pub(super) is_new: bool,
}

/// Time of the last byte from a host. A waiting request reads it.
#[derive(Clone)]
struct LastByte(Arc<Mutex<Instant>>);

impl LastByte {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// Sets the time to the present.
    fn update(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Returns the time since the last byte.
    fn age(&self) -> Duration {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed()
    }
}

/// HTTP client that caches files and limits its requests.
pub(super) struct Fetcher<'h> {
    pub(super) egress: &'h Egress,
    pub(super) options: &'h HarvestOptions,
    pub(super) state: State,
    pub(super) spent: Usage,
    pub(super) robots: BTreeMap<String, RobotsRules>,
    /// For each origin: the earliest time of the next request, and the crawl delay.
    slots: BTreeMap<String, (Instant, Duration)>,
    /// Origins to which no connection was possible, with all retries, and none since.
    unreachable: BTreeSet<String>,
    /// For each origin that has not responded since: the time for which it sent nothing.
    silences: BTreeMap<String, Duration>,
    last_byte: LastByte,
    started: Instant,
}

/// Returns scheme, host and port of an address in lower case, otherwise as they are written.
pub(super) fn written_origin(address: &str) -> Option<String> {
    let iri = Iri::parse(address).ok()?;
    Some(format!(
        "{}://{}",
        iri.scheme().to_ascii_lowercase(),
        iri.authority()?.to_ascii_lowercase()
    ))
}

impl<'h> Fetcher<'h> {
    pub(super) fn new(egress: &'h Egress, options: &'h HarvestOptions, state: State) -> Self {
        let (robots, slots) = (BTreeMap::new(), BTreeMap::new());
        Self {
            egress,
            options,
            state,
            spent: Usage::default(),
            robots,
            slots,
            unreachable: BTreeSet::new(),
            silences: BTreeMap::new(),
            last_byte: LastByte::new(),
            started: Instant::now(),
        }
    }

    /// Fetches the file of an address, unless the cached version is up to date.
    pub(super) fn get(
        &mut self,
        address: &str,
        purpose: Purpose,
    ) -> Result<FetchedFile, FetchError> {
        if purpose == Purpose::Download {
            self.check_robots(address)?;
        }
        self.with_retries(address, |fetcher| fetcher.attempt(address, purpose))
    }

    /// Removes what an incomplete download of an address left.
    pub(super) fn remove_partial_file(&self, address: &str) -> Result<(), HarvestError> {
        PartialFile::new(&self.state, address).remove()
    }

    /// Repeats an attempt until it succeeds, fails permanently, or has no retries left. Requests to a host to which no connection
    /// was possible before, with all retries, are not repeated. Requests to a host that was silent for
    /// [`HarvestOptions::max_silence`] are not sent.
    pub(super) fn with_retries<T>(
        &mut self,
        address: &str,
        mut attempt: impl FnMut(&mut Self) -> Result<T, FetchError>,
    ) -> Result<T, FetchError> {
        let options = self.options;
        let origin = origin_of(address).unwrap_or_default();
        let steps: &[Duration] = if self.unreachable.contains(&origin) {
            &[]
        } else {
            &options.backoff
        };
        let mut steps = steps.iter();
        if self.silence_left(&origin).is_zero() {
            return Err(self.silent_error(address));
        }
        self.last_byte.update();
        loop {
            let error = match attempt(self) {
                Ok(done) => {
                    self.unreachable.remove(&origin);
                    self.silences.remove(&origin);
                    return Ok(done);
                }
                Err(error) => error,
            };
            let step = steps.next().filter(|_| error.is_transient());
            let wait = step.map(|step| error.retry_after().unwrap_or(*step));
            let silence = self.last_byte.age();
            // A longer `Retry-After` ends the retries: the time of the harvest belongs to other hosts, too.
            let Some(wait) = wait.filter(|wait| {
                *wait <= options.max_wait && silence + *wait <= self.silence_left(&origin)
            }) else {
                self.unreachable.remove(&origin);
                let unreachable = error.unreachable_address().and_then(origin_of);
                self.unreachable.extend(unreachable);
                if error.is_outage() {
                    *self.silences.entry(origin).or_default() += silence;
                } else {
                    self.silences.remove(&origin);
                }
                return Err(error);
            };
            tracing::debug!(address, %error, ?wait, "retrying");
            self.wait_until(Instant::now() + wait)?;
        }
    }

    /// Returns the time for which an origin may still send nothing.
    fn silence_left(&self, origin: &str) -> Duration {
        let silence = self.silences.get(origin).copied().unwrap_or_default();
        self.options.max_silence.saturating_sub(silence)
    }

    fn silent_error(&self, address: &str) -> FetchError {
        FetchError::Silent {
            address: address.to_owned(),
            seconds: self.options.max_silence.as_secs(),
        }
    }

    /// Returns the cancellation of a request: that of the harvest, or the silence of the host.
    fn request_cancellation(&self, address: &str) -> Cancellation {
        let origin = origin_of(address).unwrap_or_default();
        let (cancellation, last_byte) = (self.options.cancellation.clone(), self.last_byte.clone());
        let silence_left = self.silence_left(&origin);
        Cancellation::from_fn(move || {
            cancellation.is_cancelled() || last_byte.age() >= silence_left
        })
    }

    /// Sets the minimum pause between requests to a host. A shorter pause does not replace a longer one.
    pub(super) fn set_crawl_delay(&mut self, origin: &str, pause: Duration) {
        let slot = self
            .slots
            .entry(origin.to_owned())
            .or_insert((Instant::now(), Duration::ZERO));
        slot.1 = slot.1.max(pause);
    }

    fn wait_until(&self, then: Instant) -> Result<(), FetchError> {
        loop {
            self.time_left()?;
            let wait = then.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return Ok(());
            }
            thread::sleep(wait.min(CANCELLATION_INTERVAL));
        }
    }

    fn time_left(&self) -> Result<Duration, FetchError> {
        if self.options.cancellation.is_cancelled() {
            return Err(FetchError::Cancelled);
        }
        let left = self
            .options
            .budget
            .time
            .saturating_sub(self.started.elapsed());
        if left.is_zero() {
            Err(FetchError::Budget("time"))
        } else {
            Ok(left)
        }
    }

    /// Sends a GET request as [`Self::send_request`] does.
    pub(super) fn send(
        &mut self,
        address: &str,
        prepare: impl Fn(Request<'h>) -> Request<'h>,
    ) -> Result<Response, FetchError> {
        self.send_request(address, |egress| prepare(egress.get(address)))
    }

    /// Fetches the response to a SPARQL query, which is sent by POST, or by GET if the endpoint refuses that. It is cached until the
    /// next harvest. Returns the maximum number of rows or triples that the response states, too.
    pub(super) fn query(
        &mut self,
        endpoint: &str,
        query: &str,
        accept: &str,
    ) -> Result<(FetchedFile, Option<u64>), FetchError> {
        // A fragment, which no requested address has: the entry cannot be that of a page.
        let key = format!("{endpoint}#query-{}", &hash_of_text(query)[..24]);
        self.with_retries(endpoint, |fetcher| {
            let posted = fetcher.send_request(endpoint, |egress| {
                egress
                    .post_form(endpoint, &[("query", query)])
                    .with_accept(accept)
            });
            let response = match posted {
                // The endpoint accepts no POST.
                Err(FetchError::Status {
                    status: 405 | 501, ..
                }) => fetcher.send_request(endpoint, |egress| {
                    egress
                        .get(endpoint)
                        .with_parameter("query", query)
                        .with_accept(accept)
                })?,
                posted => posted?,
            };
            // Virtuoso states a timeout within an answer in this way.
            let is_cut = response.status() == 206
                || response
                    .header("x-sql-state")
                    .is_some_and(|state| state.trim() == "S1TAT");
            if is_cut {
                return Err(FetchError::PartialAnswer(endpoint.to_owned()));
            }
            let max_rows = response
                .header("x-sparql-maxrows")
                .and_then(|rows| rows.trim().parse().ok());
            let part = PartialFile::new(&fetcher.state, &key);
            let fetched = fetcher.receive(&key, response, &part, None, None)?;
            Ok((fetched, max_rows))
        })
    }

    /// Waits for the next slot of the host and sends one request. The response has status 2xx or 304; any other status is an error.
    fn send_request(
        &mut self,
        address: &str,
        request: impl FnOnce(&'h Egress) -> Request<'h>,
    ) -> Result<Response, FetchError> {
        let budget = self.options.budget;
        let bytes = budget.bytes.saturating_sub(self.spent.bytes);
        if self.spent.requests >= budget.requests || bytes == 0 {
            return Err(FetchError::Budget(if bytes == 0 {
                "bytes"
            } else {
                "requests"
            }));
        }
        self.wait_for_slot(address)?;
        let total = self.options.request_timeout.min(self.time_left()?);
        let limits = RequestLimits {
            connect: CONNECT_TIMEOUT,
            total,
            bytes: bytes.min(self.options.max_file_bytes),
        };
        // Before the request is sent: one that fails costs the host as much.
        self.spent.requests += 1;
        let response = request(self.egress)
            .with_limits(limits)
            .with_cancellation(self.request_cancellation(address))
            .send()
            .map_err(|error| self.as_budget_error(error))?;
        self.last_byte.update();
        match response.status() {
            200..=299 | 304 => Ok(response),
            status => {
                let retry_after = response.retry_after();
                Err(FetchError::Status {
                    address: address.to_owned(),
                    status,
                    retry_after,
                })
            }
        }
    }

    /// Sends one request. A download follows a redirect to another host only after checking that host's `robots.txt`.
    fn send_checking_redirects(
        &mut self,
        address: &str,
        purpose: Purpose,
        prepare: impl Fn(Request<'h>) -> Request<'h>,
    ) -> Result<Response, FetchError> {
        if purpose != Purpose::Download {
            return self.send(address, prepare);
        }
        let mut target = address.to_owned();
        for _ in 0..MAX_REDIRECTED_HOSTS {
            match self.send(&target, |request| prepare(request).with_same_origin_only()) {
                Err(FetchError::Egress(EgressError {
                    fault: EgressFault::OtherHost(other),
                    ..
                })) => target = other,
                response => return response,
            }
            self.check_robots(&target)?;
        }
        // Another redirect to a further host is an error here.
        self.send(&target, |request| prepare(request).with_same_origin_only())
    }

    fn wait_for_slot(&mut self, address: &str) -> Result<(), FetchError> {
        let Some(origin) = origin_of(address) else {
            return Ok(());
        };
        let (next, pause) = self
            .slots
            .get(&origin)
            .copied()
            .unwrap_or((Instant::now(), Duration::ZERO));
        self.wait_until(next)?;
        // The pause counts from the start of the request, because requests follow one another anyway.
        self.slots.insert(
            origin,
            (Instant::now() + pause.max(self.options.pause), pause),
        );
        Ok(())
    }

    /// Converts an error. A request limit that resulted from the remaining budget is reported as an exhausted budget.
    fn as_budget_error(&self, error: EgressError) -> FetchError {
        match error.fault {
            EgressFault::Cancelled if !self.options.cancellation.is_cancelled() => {
                self.silent_error(&error.iri)
            }
            EgressFault::Cancelled => FetchError::Cancelled,
            EgressFault::TimedOut if self.time_left().is_err() => FetchError::Budget("time"),
            EgressFault::TooLarge(limit) if limit < self.options.max_file_bytes => {
                FetchError::Budget("bytes")
            }
            _ => error.into(),
        }
    }

    fn attempt(&mut self, address: &str, purpose: Purpose) -> Result<FetchedFile, FetchError> {
        let cached = self.state.cached_file(address);
        let part = PartialFile::new(&self.state, address);
        // Pages may be compressed on the way, so that ranges do not refer to their content.
        let resumed = part.resumable().filter(|_| purpose == Purpose::Download);
        let response = self.send_checking_redirects(address, purpose, |request| {
            let request = request.with_accept(purpose.accept());
            let request = match purpose {
                Purpose::Page | Purpose::JsonPage | Purpose::Service | Purpose::Events => request,
                Purpose::Download => without_encoding(request),
            };
            match (&resumed, &cached) {
                (Some((length, etag)), _) => request
                    .with_condition("Range", &format!("bytes={length}-"))
                    .with_condition("If-Range", etag),
                (None, Some(cached)) => with_conditions(request, cached),
                (None, None) => request,
            }
        });
        let response = match response {
            Err(FetchError::Status { status: 416, .. }) if resumed.is_some() => {
                // The part is longer than the file, so it belongs to another version. The next attempt begins without it.
                part.remove()?;
                return Err(FetchError::WrongRange(address.to_owned()));
            }
            response => response?,
        };
        if response.status() == 304 {
            // A 304 without a condition is a fault of the server.
            let mut cached = cached.ok_or_else(|| FetchError::WrongRange(address.to_owned()))?;
            // The next page may change although this page does not.
            if let Some(next) = next_link(response.headers("link"), &cached.address) {
                cached.next = Some(next);
                self.state.cache_file(address, cached.clone())?;
            }
            self.spent.not_modified += 1;
            return Ok(FetchedFile {
                path: self.state.path(&cached.file),
                file: cached,
                is_new: false,
            });
        }
        // With status 200 the file has changed, or the server has no ranges: the complete file follows.
        let resumed = if response.status() == 206 {
            resumed.map(|(length, _)| length)
        } else {
            None
        };
        // Only a part that begins where the received one ends can be appended.
        if response.status() == 206
            && (resumed.is_none() || resumed != start_of(&response) || !is_plain(&response))
        {
            part.remove()?;
            return Err(FetchError::WrongRange(address.to_owned()));
        }
        self.receive(address, response, &part, resumed, cached)
    }

    fn receive(
        &mut self,
        address: &str,
        response: Response,
        part: &PartialFile,
        resumed: Option<u64>,
        before: Option<CachedFile>,
    ) -> Result<FetchedFile, FetchError> {
        let etag = response.header("etag").map(str::to_owned);
        let last_modified = response
            .header("last-modified")
            .filter(|time| is_strong(time, response.header("date")));
        let last_modified = last_modified.map(str::to_owned);
        let media_type = response
            .header("content-type")
            .filter(|media_type| media_type.len() <= MAX_MEDIA_TYPE_BYTES)
            .map(str::to_owned);
        let final_address = response.address().to_owned();
        let next = next_link(response.headers("link"), &final_address);
        // Only a strong tag may be used in `If-Range` (RFC 9110, 13.1.5).
        let strong = etag
            .as_deref()
            .filter(|tag| tag.starts_with('"') && is_plain(&response));
        part.create(resumed, strong)?;
        self.write(response, part, resumed)?;
        let (length, sha256) = part.check(address)?;
        let file = format!("{}-{}", &hash_of_text(address)[..24], &sha256[..24]);
        let path = self.state.path(&file);
        part.finish(&path)?;
        let is_new = before.is_none_or(|before| before.sha256 != sha256);
        let cached = CachedFile {
            file,
            length,
            sha256,
            etag,
            last_modified,
            media_type,
            address: final_address,
            next,
        };
        self.state.cache_file(address, cached.clone())?;
        Ok(FetchedFile {
            path,
            file: cached,
            is_new,
        })
    }

    /// Converts an error of a response body. The received part is cached if the download can be resumed.
    fn body_error(&self, error: io::Error, part: &PartialFile) -> Result<FetchError, HarvestError> {
        let Some(error) = EgressError::find_in(&error).cloned() else {
            return Ok(HarvestError::Io {
                path: part.path.clone(),
                cause: error,
            }
            .into());
        };
        let is_too_large = matches!(error.fault, EgressFault::TooLarge(_));
        // It would exceed the limit again.
        if is_too_large {
            part.remove()?
        } else {
            part.keep_if_resumable()?
        }
        Ok(self.as_budget_error(error))
    }

    /// Appends a body to the partial file. After an error the received part is cached, so that the download can be resumed.
    fn write(
        &mut self,
        response: Response,
        part: &PartialFile,
        resumed: Option<u64>,
    ) -> Result<(), FetchError> {
        let open = File::options().append(true).open(&part.path);
        let mut file = open.map_err(HarvestError::io(&part.path))?;
        let (mut body, mut buffer) = (response.into_body(), vec![0; 1 << 16]);
        let mut length = resumed.unwrap_or(0);
        loop {
            let read = match body.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) => {
                    return Err(self.body_error(error, part)?);
                }
            };
            self.last_byte.update();
            self.spent.bytes += read as u64;
            length += read as u64;
            // The egress limits the response, not the file that several responses resume.
            if length > self.options.max_file_bytes {
                part.remove()?;
                let fault = EgressFault::TooLarge(self.options.max_file_bytes);
                return Err(EgressError {
                    iri: part.address.clone(),
                    fault,
                }
                .into());
            }
            file.write_all(&buffer[..read])
                .map_err(HarvestError::io(&part.path))?;
        }
    }
}

fn with_conditions<'e>(request: Request<'e>, cached: &CachedFile) -> Request<'e> {
    match (&cached.etag, &cached.last_modified) {
        (Some(etag), _) => request.with_condition("If-None-Match", etag),
        (None, Some(time)) => request.with_condition("If-Modified-Since", time),
        (None, None) => request,
    }
}

/// Reports whether a file with this `Last-Modified` cannot have changed later within the same second
/// ([RFC 9110, section 8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2)). A conditional request with any other
/// time could miss that change for ever.
fn is_strong(last_modified: &str, date: Option<&str>) -> bool {
    let (Ok(modified), Some(Ok(date))) = (
        httpdate::parse_http_date(last_modified),
        date.map(httpdate::parse_http_date),
    ) else {
        return false;
    };
    date.duration_since(modified)
        .is_ok_and(|age| age >= Duration::from_secs(1))
}

/// Requests the identity encoding, because lengths and ranges refer to the encoded content.
fn without_encoding(request: Request<'_>) -> Request<'_> {
    request.with_condition("Accept-Encoding", "identity")
}

/// Returns true if the body is known to be the encoded content, to which ranges refer. A response that the client decompressed has
/// neither of these headers. A chunked one has no length either, so it is not resumed.
fn is_plain(response: &Response) -> bool {
    response.header("content-encoding").is_none() && response.header("content-length").is_some()
}

/// Returns the first byte position of a partial response.
fn start_of(response: &Response) -> Option<u64> {
    response
        .header("content-range")?
        .trim()
        .strip_prefix("bytes")?
        .trim()
        .split('-')
        .next()?
        .trim()
        .parse()
        .ok()
}

/// Returns the address of the next page in `Link` headers (RFC 8288).
pub(super) fn next_link<'l>(
    headers: impl Iterator<Item = &'l str>,
    address: &str,
) -> Option<String> {
    let base = Iri::parse(address).ok()?;
    for header in headers {
        // Splitting at commas would cut addresses, which may contain them.
        for link in header.split('<').skip(1) {
            let Some((target, parameters)) = link.split_once('>') else {
                continue;
            };
            let is_next = parameters.split([';', ',']).any(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or_default();
                let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
                name.trim().eq_ignore_ascii_case("rel")
                    && relations.any(|one| one.eq_ignore_ascii_case("next"))
            });
            if is_next {
                return base.resolve(target.trim()).ok().map(Iri::into_inner);
            }
        }
    }
    None
}

/// An incomplete download.
struct PartialFile {
    address: String,
    path: PathBuf,
    /// File with the strong `ETag` of the complete file, needed to resume the download.
    tag: PathBuf,
}

impl PartialFile {
    fn new(state: &State, address: &str) -> Self {
        let hash = hash_of_text(address);
        let name = &hash[..24];
        Self {
            address: address.to_owned(),
            path: state.path(&format!("{name}.part")),
            tag: state.path(&format!("{name}.part-tag")),
        }
    }

    /// Returns the received length in bytes and the `ETag`, if the download can be resumed.
    fn resumable(&self) -> Option<(u64, String)> {
        let tag = fs::read_to_string(&self.tag)
            .ok()
            .filter(|tag| !tag.is_empty())?;
        let length = self.path.metadata().ok()?.len();
        (length > 0).then_some((length, tag))
    }

    fn create(&self, resumed: Option<u64>, tag: Option<&str>) -> Result<(), HarvestError> {
        if resumed.is_none() {
            self.remove()?;
            // The tag is written after the old part is gone: it never belongs to another content.
            File::create(&self.path).map_err(HarvestError::io(&self.path))?;
            if let Some(tag) = tag {
                fs::write(&self.tag, tag).map_err(HarvestError::io(&self.tag))?;
            }
        }
        Ok(())
    }

    /// Keeps the received part for another attempt if the download can be resumed, and removes it otherwise.
    fn keep_if_resumable(&self) -> Result<(), HarvestError> {
        if self.resumable().is_none() {
            self.remove()
        } else {
            Ok(())
        }
    }

    fn remove(&self) -> Result<(), HarvestError> {
        // The tag first: a part without it is never resumed.
        for path in [&self.tag, &self.path] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(HarvestError::io(path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns length and SHA-256. A compressed file is decompressed to its end, to detect a truncated download.
    fn check(&self, address: &str) -> Result<(u64, String), FetchError> {
        let measured = self
            .path
            .metadata()
            .and_then(|metadata| Ok((metadata.len(), hash_of(File::open(&self.path)?)?)));
        let measured = measured.map_err(HarvestError::io(&self.path))?;
        if let Err(cause) = decompress_to_end(&self.path) {
            self.remove()?;
            return Err(FetchError::Damaged {
                address: address.to_owned(),
                cause,
            });
        }
        Ok(measured)
    }

    fn finish(&self, path: &Path) -> Result<(), HarvestError> {
        fs::rename(&self.path, path).map_err(HarvestError::io(path))?;
        self.remove()
    }
}

fn decompress_to_end(path: &Path) -> io::Result<()> {
    io::copy(&mut dump::open(path, &Limits::default())?, &mut io::sink()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_the_next_page() {
        let next =
            |headers: &[&str]| next_link(headers.iter().copied(), "http://e.org/a/feed?page=1");
        let two = Some("http://e.org/a/feed?page=2".to_owned());
        assert_eq!(
            next(&["<?page=0>; rel=\"prev\", <?page=2>; rel=\"next last\""]),
            two
        );
        assert_eq!(
            next(&[
                "<http://e.org/x>; rel=first",
                "<feed?page=2>; title=\"a, b\"; REL=next"
            ]),
            two
        );
        assert_eq!(next(&["<?page=2>; rel=\"nextish\"", "broken", "<"]), None);
    }

    #[test]
    fn a_time_of_the_same_second_is_no_strong_validator() {
        let modified = "Mon, 23 Nov 2026 10:00:00 GMT";
        assert!(is_strong(modified, Some("Mon, 23 Nov 2026 10:00:01 GMT")));
        let weak = [
            Some(modified),
            Some("Mon, 23 Nov 2026 09:59:59 GMT"),
            Some("today"),
            None,
        ];
        assert!(weak.into_iter().all(|date| !is_strong(modified, date)));
    }

    #[test]
    fn origins() {
        assert_eq!(
            written_origin("HTTP://E.org:80/a?b").as_deref(),
            Some("http://e.org:80")
        );
        assert_eq!(written_origin("mailto:a@e.org"), None);
        assert_eq!(written_origin("a/b"), None);
    }
}
