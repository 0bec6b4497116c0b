//! Connections of clients: limits of their number, timeouts, minimum rates, and graceful shutdown.
//!
//! | client | consequence |
//! |---|---|
//! | connects while [`ConnectionLimits::total`] connections are open | one waiting connection is closed: the oldest one of the client with the most waiting connections. If none waits: 503, closed |
//! | … while its address has [`ConnectionLimits::of_client`] | 429, closed |
//! | sends no complete request header in time, or is idle between requests | closed |
//! | sends a request body too slowly, or for too long | 408, closed |
//! | reads a response too slowly | closed |
//! | does not complete the TLS handshake within [`ConnectionLimits::header_timeout`] | closed |
//! | sends a body that the response does not need | the rest is discarded for a second, so that the client receives the response |

mod idle;
mod transfer;

use self::idle::{IdleConnections, Place};
use self::transfer::{PacedBody, PacedStream};
use crate::error::ApiError;
use crate::observed_body::ObservedBody;
use crate::permits::{Exhausted, Permit, Permits};
use crate::proxies::{Proxies, client_of_peer};
use crate::tls::Tls;
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, HeaderValue, Version, header};
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
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
    /// Maximum number of open connections (default 512). A further one closes another that waits for a request: the one that has
    /// waited longest, of the client with most of them. If all have a request in progress, it receives status 503.
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
        idle: Arc::default(),
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
            // No fault of this server: a pause would delay other clients.
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // No connection is accepted while the open ones end.
    drop(listener);
    graceful.shutdown().await;
}

/// If true, the client closed the connection before it was accepted.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// State that all connections share.
struct Server {
    router: Router,
    limits: ConnectionLimits,
    connections: Permits,
    idle: Arc<IdleConnections>,
    /// Concurrent requests of the clients of trusted proxies.
    requests: Permits,
    refusals: Permits,
    /// Bytes of request bodies that were received in part.
    unfinished_bytes: Arc<AtomicUsize>,
    proxies: Proxies,
    tls: Option<TlsAcceptor>,
}

/// State shared by the requests of a connection.
#[derive(Clone)]
struct Connection {
    peer: SocketAddr,
    place: Arc<Place>,
    /// If true, the client may still send a body that nobody reads.
    has_unread: Arc<AtomicBool>,
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

impl Server {
    /// Starts the task of a connection, or that of its refusal.
    fn accept(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, graceful: &GracefulShutdown) {
        // A proxy has the connections of all its clients: their limit is that of their requests.
        let client = (!self.proxies.trusts(peer.ip())).then(|| client_of_peer(peer.ip()));
        let mut permit = self.connections.try_acquire(client);
        // Not for the limit of a client: it may close connections of its own.
        if matches!(permit, Err(Exhausted::Total(_))) && self.idle.close_one() {
            permit = self.connections.try_acquire(client);
        }
        match permit {
            Ok(permit) => self.serve(
                stream,
                peer,
                Place::new(&self.idle, client, permit),
                graceful,
            ),
            Err(exhausted) => self.refuse(stream, peer, exhausted),
        }
    }

    fn serve(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        place: Place,
        graceful: &GracefulShutdown,
    ) {
        let (server, watcher, place) = (Arc::clone(self), graceful.watcher(), Arc::new(place));
        tokio::spawn(async move {
            // The losing future is dropped, which closes the connection.
            tokio::select! {
                () = server.serve_connection(stream, peer, &place, watcher) => {}
                () = place.wait_for_close() => tracing::debug!(%peer, "a waiting connection was closed for another one"),
            }
        });
    }

    async fn serve_connection(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        place: &Arc<Place>,
        watcher: Watcher,
    ) {
        let has_unread = Arc::new(AtomicBool::new(false));
        let connection = Connection {
            peer,
            place: Arc::clone(place),
            has_unread: Arc::clone(&has_unread),
        };
        let io = PacedStream {
            stream,
            pace: self.limits.pace(),
            place: Arc::clone(place),
            has_unread,
            linger: None,
        };
        let Some(tls) = &self.tls else {
            return self.serve_stream(io, connection, watcher).await;
        };
        // Below TLS, minimum rates hold for handshakes, too.
        match timeout(self.limits.header_timeout, tls.accept(io)).await {
            Ok(Ok(stream)) => self.serve_stream(stream, connection, watcher).await,
            Ok(Err(error)) => tracing::debug!(%error, %peer, "a TLS handshake failed"),
            Err(_) => tracing::debug!(%peer, "a TLS handshake was not completed in time"),
        }
    }

    /// Serves the requests of a connection until it ends.
    async fn serve_stream<S: AsyncRead + AsyncWrite + Unpin + 'static>(
        self: &Arc<Self>,
        stream: S,
        of: Connection,
        watcher: Watcher,
    ) {
        let (server, peer) = (Arc::clone(self), of.peer);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (server, of) = (Arc::clone(&server), of.clone());
            async move {
                let busy = of.place.begin();
                let response = server.respond(request, &of).await;
                Ok::<_, Infallible>(keep_until_end(response, busy))
            }
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

    async fn respond(&self, request: Request<Incoming>, of: &Connection) -> Response {
        let Connection {
            peer, has_unread, ..
        } = of;
        // RFC 9112, 3.2: HTTP/1.1 requires a Host, HTTP/1.0 does not.
        let is_modern = request.version() >= Version::HTTP_11;
        if is_modern && !request.headers().contains_key(header::HOST) {
            return close_after(
                ApiError::bad_request("the header Host is missing").into_response(),
            );
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
                has_unread: Arc::clone(has_unread),
                failure: Arc::clone(&failure),
                trusted: trusted.clone(),
                unfinished_bytes: Arc::clone(&self.unfinished_bytes),
                received: 0,
            })
        });
        request.extensions_mut().insert(ConnectInfo(*peer));
        request.extensions_mut().insert(trusted);
        let permit = match self.request_permit(&request, peer.ip()) {
            Ok(permit) => permit,
            Err(exhausted) => {
                return close_after(exhausted.error("requests in progress").into_response());
            }
        };
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        // A handler may have made another error of a body that ended early. The cause is here.
        match failure.get() {
            Some(failure) => close_after(failure.error().into_response()),
            None => match permit {
                Some(permit) => keep_until_end(response, permit),
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
        client
            .map(|client| self.requests.try_acquire(Some(client)))
            .transpose()
    }

    /// Sends a short response on a connection over the limit, and closes it. With TLS it is closed only: a handshake costs too
    /// much.
    fn refuse(&self, mut stream: TcpStream, peer: SocketAddr, exhausted: Exhausted) {
        tracing::debug!(%peer, ?exhausted, "a connection was refused");
        if self.tls.is_some() {
            return;
        }
        let Ok(permit) = self.refusals.try_acquire(None) else {
            return;
        };
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

/// Keeps a value until the end of the response: until then, a streamed one is in progress.
fn keep_until_end(response: Response, guard: impl Send + Unpin + 'static) -> Response {
    response.map(|body| {
        ObservedBody::wrap(body, move |_| {
            let _guard = &guard;
            Ok(())
        })
    })
}

/// Sets the header after which both sides close the connection.
fn close_after(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests;
