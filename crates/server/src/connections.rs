//! Connections of clients: limits of their number, timeouts, minimum rates, and graceful shutdown.
//!
//! | client | consequence |
//! |---|---|
//! | connects while [`ConnectionLimits::total`] connections are open | 503, closed |
//! | … while its address has [`ConnectionLimits::of_client`] | 429, closed |
//! | sends no complete request header in time, or is idle between requests | closed |
//! | sends a request body too slowly, or for too long | 408, closed |
//! | reads a response too slowly | closed |
//! | does not complete the TLS handshake within [`ConnectionLimits::header_timeout`] | closed |
//! | sends a body that the response does not need | the rest is discarded for a second, so that the client receives the response |

use crate::error::ApiError;
use crate::observed_body::ObservedBody;
use crate::permits::{Exhausted, Permit, Permits};
use crate::proxies::{Proxies, client_of_peer};
use crate::tls::Tls;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, HeaderValue, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

/// Maximum size of all request bodies in bytes that were received in part. Further ones receive status 503.
const MAX_UNFINISHED_BYTES: usize = 192 << 20;
/// Buffer of a connection in bytes. It limits the size of a request header, and the part of a response that waits.
const BUFFER_BYTES: usize = 128 << 10;
/// Maximum number of refused connections that receive a response at one time. Further ones are closed without it.
const MAX_REFUSALS: usize = 64;
/// Time to send the response of a refused connection, and to discard a body that the response does not need.
const LINGER_TIME: Duration = Duration::from_secs(1);
/// Pause after an error of the listener, for example if no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Limits of connections.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// Maximum number of open connections (default 512). Further ones receive status 503.
    pub total: usize,
    /// Maximum number of open connections of one client address (default 128). Further ones receive status 429. For a trusted
    /// proxy, it limits the concurrent requests of each of its clients instead.
    pub of_client: usize,
    /// Time limit of a request header. An idle connection is closed after the same time (default 15 s).
    pub header_timeout: Duration,
    /// Time limit of a request body (default 120 s). Then status 408.
    pub body_timeout: Duration,
    /// Minimum rate of request bodies and responses in bytes per second (default 8,192).
    pub min_rate: u32,
    /// Time by which a transfer may fall behind the minimum rate (default 15 s). So long may it stall.
    pub max_lag: Duration,
}

impl ConnectionLimits {
    /// Returns the default limits for this number of connections. A client address may have a quarter of them.
    #[must_use]
    pub fn with_total(total: usize) -> Self {
        Self {
            total,
            of_client: total.div_ceil(4),
            header_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(120),
            min_rate: 8 << 10,
            max_lag: Duration::from_secs(15),
        }
    }

    fn pace(&self) -> Pace {
        Pace { min_rate: self.min_rate.max(1), max_lag: self.max_lag, credit: self.max_lag, stall: None }
    }
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self::with_total(512)
    }
}

/// Accepts connections until `stop`, and serves each until its client or a limit ends it. Returns when all connections are
/// closed. With `tls`, other connections than those of TLS are closed.
pub(crate) async fn serve_connections(
    listener: TcpListener,
    router: Router,
    proxies: &Proxies,
    limits: &ConnectionLimits,
    tls: Option<&Tls>,
    stop: impl Future<Output = ()>,
) {
    let server = Arc::new(Server {
        router,
        limits: limits.clone(),
        connections: Permits::new(limits.total, limits.of_client),
        requests: Permits::new(usize::MAX, limits.of_client),
        refusals: Permits::new(MAX_REFUSALS, MAX_REFUSALS),
        unfinished_bytes: Arc::default(),
        proxies: proxies.clone(),
        tls: tls.map(Tls::acceptor),
    });
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => server.accept(stream, peer, &graceful),
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    graceful.shutdown().await;
}

/// If true, the client closed the connection before it was accepted.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// State that all connections share.
struct Server {
    router: Router,
    limits: ConnectionLimits,
    connections: Permits,
    /// Concurrent requests of the clients of trusted proxies.
    requests: Permits,
    refusals: Permits,
    /// Bytes of request bodies that were received in part.
    unfinished_bytes: Arc<AtomicUsize>,
    proxies: Proxies,
    tls: Option<TlsAcceptor>,
}

/// Mark of a request, set when its client is known to be an administrator. Its body may take longer than
/// [`ConnectionLimits::body_timeout`], and does not count among unfinished bodies. The minimum rate applies to it, too.
#[derive(Clone, Default)]
pub(crate) struct TrustedBody(Arc<AtomicBool>);

impl TrustedBody {
    /// Sets the mark of a request.
    pub(crate) fn grant(extensions: &Extensions) {
        if let Some(Self(mark)) = extensions.get() {
            mark.store(true, Ordering::Relaxed);
        }
    }

    fn is_granted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Cause of an incomplete request body, other than a disconnected client.
#[derive(Clone, Copy)]
enum BodyFailure {
    TooSlow,
    NoMemory,
}

impl BodyFailure {
    fn error(self) -> ApiError {
        match self {
            Self::TooSlow => ApiError::with_status(StatusCode::REQUEST_TIMEOUT, "the request body arrived too slowly"),
            Self::NoMemory => ApiError::with_status(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("unfinished request bodies fill {} MB; try again later", MAX_UNFINISHED_BYTES >> 20),
            ),
        }
    }
}

impl Server {
    /// Starts the task of a connection, or that of its refusal.
    fn accept(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, graceful: &GracefulShutdown) {
        let client = (!self.proxies.trusts(peer.ip())).then(|| client_of_peer(peer.ip()));
        match self.connections.try_acquire(client) {
            Ok(permit) => self.serve(stream, peer, permit, graceful),
            Err(exhausted) => self.refuse(stream, peer, exhausted),
        }
    }

    fn serve(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, permit: Permit, graceful: &GracefulShutdown) {
        let has_unread = Arc::new(AtomicBool::new(false));
        let io = PacedStream { stream, pace: self.limits.pace(), has_unread: Arc::clone(&has_unread), linger: None };
        let (server, watcher) = (Arc::clone(self), graceful.watcher());
        tokio::spawn(async move {
            let _permit = permit;
            let Some(tls) = &server.tls else { return server.serve_stream(io, peer, has_unread, watcher).await };
            // Below TLS, minimum rates hold for handshakes, too.
            match timeout(server.limits.header_timeout, tls.accept(io)).await {
                Ok(Ok(stream)) => server.serve_stream(stream, peer, has_unread, watcher).await,
                Ok(Err(error)) => tracing::debug!(%error, %peer, "a TLS handshake failed"),
                Err(_) => tracing::debug!(%peer, "a TLS handshake was not completed in time"),
            }
        });
    }

    /// Serves the requests of a connection until it ends.
    async fn serve_stream<S: AsyncRead + AsyncWrite + Unpin + 'static>(
        self: &Arc<Self>,
        stream: S,
        peer: SocketAddr,
        has_unread: Arc<AtomicBool>,
        watcher: Watcher,
    ) {
        let server = Arc::clone(self);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (server, has_unread) = (Arc::clone(&server), Arc::clone(&has_unread));
            async move { Ok::<_, Infallible>(server.respond(request, peer, has_unread).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_buf_size(BUFFER_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, %peer, "a connection ended early");
        }
    }

    async fn respond(&self, request: Request<Incoming>, peer: SocketAddr, has_unread: Arc<AtomicBool>) -> Response {
        let is_modern = request.version() >= Version::HTTP_11;
        if is_modern && !request.headers().contains_key(header::HOST) {
            return closing(ApiError::bad_request("the header Host is missing").into_response());
        }
        let (failure, trusted) = (Arc::new(OnceLock::new()), TrustedBody::default());
        let mut request = request.map(|body| {
            if body.is_end_stream() {
                return Body::empty();
            }
            has_unread.store(true, Ordering::Relaxed);
            Body::new(PacedBody {
                body,
                pace: self.limits.pace(),
                deadline: Box::pin(sleep(self.limits.body_timeout)),
                has_unread: Arc::clone(&has_unread),
                failure: Arc::clone(&failure),
                trusted: trusted.clone(),
                unfinished_bytes: Arc::clone(&self.unfinished_bytes),
                received: 0,
            })
        });
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(trusted);
        let permit = match self.request_permit(&request, peer.ip()) {
            Ok(permit) => permit,
            Err(exhausted) => return closing(exhausted.error("requests in progress").into_response()),
        };
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        match failure.get() {
            Some(failure) => closing(failure.error().into_response()),
            None => match permit {
                // A streamed response is in progress until its end.
                Some(permit) => response.map(|body| {
                    ObservedBody::wrap(body, move |_| {
                        let _held = &permit;
                    })
                }),
                None => response,
            },
        }
    }

    /// Returns a permit for a request of a client behind a trusted proxy. Other clients are limited by their connections.
    fn request_permit(&self, request: &Request, peer: IpAddr) -> Result<Option<Permit>, Exhausted> {
        if !self.proxies.trusts(peer) {
            return Ok(None);
        }
        let client = self.proxies.client(request.headers(), request.extensions());
        // The proxy itself, for example its health check, has no limit.
        let client = client.filter(|client| *client != client_of_peer(peer));
        client.map(|client| self.requests.try_acquire(Some(client))).transpose()
    }

    /// Sends a short response on a connection over the limit, and closes it. With TLS it is closed only: a handshake costs too
    /// much.
    fn refuse(&self, mut stream: TcpStream, peer: SocketAddr, exhausted: Exhausted) {
        tracing::debug!(%peer, ?exhausted, "a connection was refused");
        if self.tls.is_some() {
            return;
        }
        let Ok(permit) = self.refusals.try_acquire(None) else { return };
        let status = exhausted.status();
        let reason = status.canonical_reason().unwrap_or_default();
        let text = format!("{}\n", exhausted.error("connections").message);
        let response = format!(
            "HTTP/1.1 {} {reason}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nretry-after: 5\r\nconnection: close\r\n\r\n{text}",
            status.as_u16(),
            text.len(),
        );
        tokio::spawn(async move {
            let _permit = permit;
            let send = async {
                stream.write_all(response.as_bytes()).await?;
                stream.shutdown().await?;
                // Closing with unread data would reset the connection before the client reads the response.
                let mut buffer = [0; 1024];
                while stream.read(&mut buffer).await? > 0 {}
                io::Result::Ok(())
            };
            let _ = timeout(LINGER_TIME, send).await; // the client may already be gone
        });
    }
}

/// Sets the header after which both sides close the connection.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Minimum rate of a transfer. Only time during which the client keeps the server waiting counts.
struct Pace {
    min_rate: u32,
    max_lag: Duration,
    /// Remaining time to wait. Waiting consumes it; transferred bytes restore it, up to `max_lag`.
    credit: Duration,
    stall: Option<Stall>,
}

/// The current wait for a client.
struct Stall {
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Pace {
    /// Accounts for the outcome of a transfer. Returns an error if the client has used up its credit. `bytes` returns the size of
    /// what was transferred.
    fn check<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<T>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(transferred) = outcome {
            if let Some(stall) = self.stall.take() {
                self.credit = self.credit.saturating_sub(stall.since.elapsed());
            }
            let earned = Duration::from_secs_f64(bytes(&transferred) as f64 / f64::from(self.min_rate));
            self.credit = self.credit.saturating_add(earned).min(self.max_lag);
            return Poll::Ready(Ok(transferred));
        }
        let credit = self.credit;
        let stall = self.stall.get_or_insert_with(|| Stall { since: Instant::now(), timer: Box::pin(sleep(credit)) });
        ready!(stall.timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// A request body that fails if the client sends it too slowly.
struct PacedBody {
    body: Incoming,
    pace: Pace,
    deadline: Pin<Box<Sleep>>,
    /// Set to false when the body is complete.
    has_unread: Arc<AtomicBool>,
    failure: Arc<OnceLock<BodyFailure>>,
    trusted: TrustedBody,
    /// Bytes of all unfinished bodies, with `received` of this one.
    unfinished_bytes: Arc<AtomicUsize>,
    received: usize,
}

impl PacedBody {
    /// Adds bytes to those of unfinished bodies. Returns false if these are too many.
    fn count(&mut self, bytes: usize) -> bool {
        if self.trusted.is_granted() {
            return true;
        }
        self.received += bytes;
        self.unfinished_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_UNFINISHED_BYTES
    }

    fn fail(&self, failure: BodyFailure, error: io::ErrorKind) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let _ = self.failure.set(failure); // the first one counts
        Poll::Ready(Some(Err(io::Error::from(error).into())))
    }
}

impl Drop for PacedBody {
    fn drop(&mut self) {
        self.unfinished_bytes.fetch_sub(self.received, Ordering::Relaxed);
    }
}

impl http_body::Body for PacedBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = &mut *self;
        let received = Pin::new(&mut this.body).poll_frame(context);
        let is_late =
            received.is_pending() && !this.trusted.is_granted() && this.deadline.as_mut().poll(context).is_ready();
        let size = |frame: &Option<Result<Frame<Bytes>, hyper::Error>>| match frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
            Some(Err(_)) | None => 0,
        };
        if is_late {
            return this.fail(BodyFailure::TooSlow, io::ErrorKind::TimedOut);
        }
        let Ok(received) = ready!(this.pace.check(context, received, size)) else {
            return this.fail(BodyFailure::TooSlow, io::ErrorKind::TimedOut);
        };
        if !this.count(size(&received)) {
            return this.fail(BodyFailure::NoMemory, io::ErrorKind::OutOfMemory);
        }
        if this.body.is_end_stream() || received.is_none() {
            this.has_unread.store(false, Ordering::Relaxed);
        }
        Poll::Ready(received.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection that fails if the client reads too slowly.
struct PacedStream {
    stream: TcpStream,
    pace: Pace,
    /// If true, the client may still send a body that nobody reads.
    has_unread: Arc<AtomicBool>,
    /// Time limit to discard this body.
    linger: Option<Pin<Box<Sleep>>>,
}

impl PacedStream {
    /// Discards what the client still sends, for a bounded time.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let timer = self.linger.get_or_insert_with(|| Box::pin(sleep(LINGER_TIME)));
        if timer.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut bytes = [0; 8 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
    }
}

impl AsyncRead for PacedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for PacedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.pace.check(context, written, written_bytes).map(io::Result::flatten)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.pace.check(context, written, written_bytes).map(io::Result::flatten)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        if self.has_unread.load(Ordering::Relaxed) {
            ready!(self.poll_discard(context));
        }
        Poll::Ready(Ok(()))
    }
}

fn written_bytes(written: &io::Result<usize>) -> usize {
    written.as_ref().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::tests::{TestFiles, write_pair};
    use axum::extract::DefaultBodyLimit;
    use axum::routing::{get, post};
    use rustls::pki_types::CertificateDer;
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;
    use tokio_rustls::TlsConnector;

    const LARGE: usize = 64 << 20;

    /// A server with short timeouts on a free port.
    struct Site {
        address: SocketAddr,
        stop: Option<oneshot::Sender<()>>,
        ended: JoinHandle<()>,
    }

    fn short() -> ConnectionLimits {
        ConnectionLimits {
            header_timeout: Duration::from_millis(400),
            body_timeout: Duration::from_secs(2),
            max_lag: Duration::from_millis(400),
            ..ConnectionLimits::default()
        }
    }

    /// Body of one byte that ends after a second.
    struct StreamedBody(Option<Pin<Box<Sleep>>>);

    impl http_body::Body for StreamedBody {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match &mut self.0 {
                Some(end) => end.as_mut().poll(context).map(|()| None),
                None => {
                    self.0 = Some(Box::pin(sleep(Duration::from_secs(1))));
                    Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
                }
            }
        }
    }

    impl Site {
        async fn start(limits: ConnectionLimits, proxies: Proxies) -> Self {
            Self::start_with(limits, proxies, None).await
        }

        async fn start_with(limits: ConnectionLimits, proxies: Proxies, tls: Option<Tls>) -> Self {
            let router = Router::new()
                .route("/", get(|| async { "home" }))
                .route("/slow", get(|| async { sleep(Duration::from_secs(1)).await }))
                .route("/large", get(|| async { vec![b'x'; LARGE] }))
                .route("/streamed", get(|| async { Body::new(StreamedBody(None)) }))
                .route("/length", post(|body: Bytes| async move { body.len().to_string() }))
                .route(
                    "/trusted",
                    post(|request: Request| async move {
                        TrustedBody::grant(request.extensions());
                        axum::body::to_bytes(request.into_body(), LARGE).await.map_or(0, |body| body.len()).to_string()
                    }),
                )
                .route("/unread", post(|| async { StatusCode::SERVICE_UNAVAILABLE }))
                .layer(DefaultBodyLimit::max(LARGE));
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("an address");
            let (stop, stopped) = oneshot::channel();
            let ended = tokio::spawn(async move {
                let stopped = async { stopped.await.unwrap_or_default() };
                serve_connections(listener, router, &proxies, &limits, tls.as_ref(), stopped).await;
            });
            Self { address, stop: Some(stop), ended }
        }

        async fn connect(&self) -> TcpStream {
            TcpStream::connect(self.address).await.expect("connected")
        }

        /// Sends text on a new connection, and returns everything that the server sends until it closes.
        async fn exchange(&self, text: &str) -> String {
            let mut stream = self.connect().await;
            stream.write_all(text.as_bytes()).await.expect("sent");
            rest(&mut stream).await
        }
    }

    async fn rest(stream: &mut TcpStream) -> String {
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received).await; // a reset ends it too
        String::from_utf8_lossy(&received).into_owned()
    }

    fn request(path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    }

    #[tokio::test]
    async fn an_incomplete_header_and_an_idle_connection_time_out() {
        let site = Site::start(short(), Proxies::default()).await;
        for sent in ["", "GET / HTTP/1.1\r\nhost: loc", "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
            let began = Instant::now();
            let received = site.exchange(sent).await;
            assert_eq!(received.contains("home"), sent.ends_with("\r\n\r\n"), "{received}");
            let elapsed = began.elapsed();
            assert!((Duration::from_millis(350)..Duration::from_secs(5)).contains(&elapsed), "{sent:?}: {elapsed:?}");
        }
        // Bytes now and then do not extend the time.
        let (mut stream, began) = (site.connect().await, Instant::now());
        for byte in request("/").bytes() {
            if stream.write_all(&[byte]).await.is_err() {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
        assert!(!rest(&mut stream).await.contains("200 OK"));
        assert!(began.elapsed() < Duration::from_secs(5));
    }

    #[tokio::test]
    async fn a_stalled_or_slow_request_body_times_out() {
        let site = Site::start(short(), Proxies::default()).await;
        let head = "POST /length HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n";
        let received = site.exchange(head).await;
        assert!(received.starts_with("HTTP/1.1 408 ") && received.contains("connection: close"), "{received}");
        // Slower than the minimum rate.
        let mut stream = site.connect().await;
        stream.write_all(head.as_bytes()).await.expect("sent");
        let (mut reader, mut writer) = stream.split();
        let drops = async {
            while writer.write_all(b"x").await.is_ok() {
                sleep(Duration::from_millis(100)).await;
            }
        };
        let mut received = [0; 12];
        tokio::select! {
            () = drops => panic!("no response"),
            read = reader.read_exact(&mut received) => { read.expect("a response"); }
        }
        assert_eq!(&received, b"HTTP/1.1 408");
        // Fast enough.
        let body = "x".repeat(200_000);
        let sent = format!(
            "POST /length HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 200000\r\n\r\n{body}"
        );
        assert!(site.exchange(&sent).await.ends_with("\r\n\r\n200000"));
    }

    #[tokio::test]
    async fn a_request_body_has_a_time_limit_in_total() {
        let site = Site::start(ConnectionLimits { min_rate: 1, ..short() }, Proxies::default()).await;
        let mut stream = site.connect().await;
        let head = "POST /length HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.expect("sent");
        let began = Instant::now();
        let (mut reader, mut writer) = stream.split();
        let drops = async {
            while writer.write_all(b"xx").await.is_ok() {
                sleep(Duration::from_millis(50)).await;
            }
        };
        let mut received = [0; 12];
        tokio::select! {
            () = drops => panic!("no response"),
            read = reader.read_exact(&mut received) => { read.expect("a response"); }
        }
        assert_eq!(&received, b"HTTP/1.1 408");
        assert!((Duration::from_millis(1900)..Duration::from_secs(10)).contains(&began.elapsed()));
    }

    #[tokio::test]
    async fn a_body_of_an_administrator_may_take_longer() {
        let limits =
            ConnectionLimits { body_timeout: Duration::from_millis(300), max_lag: Duration::from_secs(5), ..short() };
        let site = Site::start(limits, Proxies::default()).await;
        for (path, expected) in [("/length", "HTTP/1.1 408 "), ("/trusted", "HTTP/1.1 200 ")] {
            let mut stream = site.connect().await;
            let head =
                format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\nx");
            stream.write_all(head.as_bytes()).await.expect("sent");
            sleep(Duration::from_millis(800)).await;
            let _ = stream.write_all(b"x").await; // the server may be gone
            let received = rest(&mut stream).await;
            assert!(received.starts_with(expected), "{path}: {received}");
        }
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_disconnected() {
        let site = Site::start(short(), Proxies::default()).await;
        let whole = site.exchange(&request("/large")).await;
        assert!(whole.len() > LARGE);
        let mut stream = site.connect().await;
        stream.write_all(request("/large").as_bytes()).await.expect("sent");
        sleep(Duration::from_secs(2)).await;
        assert!(rest(&mut stream).await.len() < LARGE, "the transfer ended early");
    }

    #[tokio::test]
    async fn connections_are_limited_in_total_and_for_each_client() {
        let site = Site::start(ConnectionLimits { total: 3, of_client: 2, ..short() }, Proxies::default()).await;
        let held = [site.connect().await, site.connect().await];
        let received = site.exchange(&request("/")).await;
        assert!(received.starts_with("HTTP/1.1 429 ") && received.contains("retry-after: 5"), "{received}");
        drop(held);
        sleep(Duration::from_millis(50)).await;
        assert!(site.exchange(&request("/")).await.contains("home"), "closed connections do not count");

        let proxy = Proxies::new(&["127.0.0.1".parse().expect("an address")]);
        let site = Site::start(ConnectionLimits { total: 3, of_client: 1, ..short() }, proxy).await;
        let _held = [site.connect().await, site.connect().await, site.connect().await];
        let received = site.exchange(&request("/")).await;
        assert!(received.starts_with("HTTP/1.1 503 ") && received.contains("retry-after: 5"), "{received}");
    }

    #[tokio::test]
    async fn requests_of_one_client_behind_a_proxy_are_limited() {
        let proxy = Proxies::new(&["127.0.0.1".parse().expect("an address")]);
        let site = Site::start(ConnectionLimits { of_client: 2, ..short() }, proxy).await;
        let of = |client: &str| {
            request("/slow").replace("connection:", &format!("x-forwarded-for: {client}\r\nconnection:"))
        };
        let (one, other) = (of("192.0.2.1"), of("192.0.2.2"));
        let replies =
            tokio::join!(site.exchange(&one), site.exchange(&one), site.exchange(&one), site.exchange(&other),);
        let statuses = [&replies.0, &replies.1, &replies.2].map(|reply| reply[9..12].to_owned());
        assert_eq!(statuses.iter().filter(|status| *status == "429").count(), 1, "{statuses:?}");
        assert_eq!(&replies.3[9..12], "200");
    }

    #[tokio::test]
    async fn a_streamed_response_holds_its_permit_until_its_end() {
        let proxy = Proxies::new(&["127.0.0.1".parse().expect("an address")]);
        let site = Site::start(ConnectionLimits { of_client: 1, ..short() }, proxy).await;
        let of_client = |path: &str| request(path).replace("connection:", "x-forwarded-for: 192.0.2.1\r\nconnection:");
        let mut stream = site.connect().await;
        stream.write_all(of_client("/streamed").as_bytes()).await.expect("sent");
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.expect("a response");
        assert_eq!(&status, b"HTTP/1.1 200");
        assert!(site.exchange(&of_client("/")).await.starts_with("HTTP/1.1 429 "), "the response is in progress");
        rest(&mut stream).await;
        assert!(site.exchange(&of_client("/")).await.contains("home"));
    }

    #[tokio::test]
    async fn a_response_before_the_end_of_the_body_reaches_the_client() {
        let site = Site::start(short(), Proxies::default()).await;
        let mut stream = site.connect().await;
        let head = "POST /unread HTTP/1.1\r\nhost: localhost\r\ncontent-length: 30000000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.expect("sent");
        let (mut reader, mut writer) = stream.split();
        let body = vec![b'x'; 3_000_000];
        let mut received = Vec::new();
        let (sent, read) = tokio::join!(writer.write_all(&body), reader.read_to_end(&mut received));
        sent.expect("the server reads on");
        read.expect("no reset");
        assert!(received.starts_with(b"HTTP/1.1 503 "), "{}", String::from_utf8_lossy(&received));
    }

    #[tokio::test]
    async fn a_request_of_http_1_1_has_a_host() {
        let site = Site::start(short(), Proxies::default()).await;
        assert!(site.exchange("GET / HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
        assert!(site.exchange("GET / HTTP/1.0\r\n\r\n").await.contains("home"));
    }

    /// A client that trusts one certificate.
    fn tls_client(certificate: &CertificateDer<'static>) -> TlsConnector {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().expect("supported versions");
        TlsConnector::from(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
    }

    async fn exchange_by_tls(site: &Site, client: &TlsConnector, text: &str) -> io::Result<String> {
        let name = "localhost".try_into().expect("a name");
        let mut stream = client.connect(name, site.connect().await).await?;
        stream.write_all(text.as_bytes()).await?;
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received).await; // a reset ends it too
        Ok(String::from_utf8_lossy(&received).into_owned())
    }

    #[tokio::test]
    async fn tls_has_the_same_limits_and_a_new_certificate_after_a_reload() {
        let files = TestFiles::new();
        let tls = files.tls().expect("valid files");
        let limits = ConnectionLimits { total: 3, of_client: 3, ..short() };
        let site = Site::start_with(limits, Proxies::default(), Some(tls.clone())).await;
        let client = tls_client(&files.certificate);
        let get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let home = exchange_by_tls(&site, &client, get).await.expect("trusted");
        assert!(home.starts_with("HTTP/1.1 200 ") && home.ends_with("home"), "{home}");
        // The response is sent although the body is not read.
        let post = format!("POST /unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGE}\r\n\r\n");
        let refused = exchange_by_tls(&site, &client, &(post + &"x".repeat(1 << 20))).await.expect("trusted");
        assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
        let large = "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        assert!(exchange_by_tls(&site, &client, large).await.expect("trusted").len() > LARGE);

        // No HTTP without TLS, and no connection without a handshake.
        assert!(!site.exchange(get).await.contains("HTTP/1.1"));
        let mut silent = site.connect().await;
        let ended = timeout(Duration::from_secs(5), rest(&mut silent)).await;
        assert_eq!(ended.expect("closed after the time of a header"), "");
        let held = [site.connect().await, site.connect().await, site.connect().await];
        sleep(Duration::from_millis(100)).await;
        assert!(exchange_by_tls(&site, &client, get).await.is_err(), "connections in a handshake count");
        drop(held);
        sleep(Duration::from_millis(100)).await;

        let renewed = write_pair(files.folder.path());
        tls.reload().expect("valid files");
        // A new client: one with a session resumes it, and receives no certificate.
        let client = tls_client(&files.certificate);
        assert!(exchange_by_tls(&site, &client, get).await.is_err(), "the old certificate is not sent any more");
        assert!(exchange_by_tls(&site, &tls_client(&renewed), get).await.expect("trusted").ends_with("home"));
    }

    #[tokio::test]
    async fn a_stopped_server_completes_requests_in_progress() {
        let mut site =
            Site::start(ConnectionLimits { header_timeout: Duration::from_secs(60), ..short() }, Proxies::default())
                .await;
        let mut idle = site.connect().await;
        let mut busy = site.connect().await;
        busy.write_all(request("/slow").as_bytes()).await.expect("sent");
        sleep(Duration::from_millis(200)).await;
        site.stop.take().expect("running").send(()).expect("it runs");
        assert!(rest(&mut busy).await.starts_with("HTTP/1.1 200 "));
        assert_eq!(rest(&mut idle).await, "", "idle connections are closed");
        let ended = timeout(Duration::from_secs(5), &mut site.ended).await;
        ended.expect("it ends").expect("no panic");
        assert!(TcpStream::connect(site.address).await.is_err(), "nobody listens");
    }

    #[tokio::test]
    async fn only_time_in_which_the_client_is_awaited_counts() {
        let mut pace = ConnectionLimits { max_lag: Duration::from_secs(1), min_rate: 1000, ..short() }.pace();
        let mut step = async |wait: u64, bytes: usize| {
            let mut arrival = Box::pin(sleep(Duration::from_millis(wait)));
            std::future::poll_fn(|context| {
                let arrived = arrival.as_mut().poll(context).map(|()| bytes);
                pace.check(context, arrived, |bytes| *bytes)
            })
            .await
            .is_ok()
        };
        assert!(step(600, 10).await, "about 0.4 s are left");
        sleep(Duration::from_millis(1100)).await;
        assert!(step(100, 100_000).await, "time between transfers does not count");
        assert!(step(600, 1).await, "the credit was full again");
        assert!(!step(5000, 1).await, "and not more");
    }
}
