use super::*;
use crate::tls::tests::{TestFiles, write_pair};
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{get, post};
use http_body::Frame;
use rustls::pki_types::CertificateDer;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep};
use tokio_rustls::TlsConnector;

const LARGE: usize = 64 << 20;
/// Time that a test takes only if the limit that it tests is missing. It is long, because a loaded machine may be slow.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);

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
            .route(
                "/slow",
                get(|| async { sleep(Duration::from_secs(1)).await }),
            )
            .route("/large", get(|| async { vec![b'x'; LARGE] }))
            .route("/streamed", get(|| async { Body::new(StreamedBody(None)) }))
            .route(
                "/length",
                post(|body: Bytes| async move { body.len().to_string() }),
            )
            .route(
                "/trusted",
                post(|request: Request| async move {
                    TrustedBody::grant(request.extensions());
                    match axum::body::to_bytes(request.into_body(), LARGE).await {
                        Ok(body) => body.len().to_string(),
                        Err(_) => "0".to_owned(),
                    }
                }),
            )
            .route(
                "/unread",
                post(|| async { StatusCode::SERVICE_UNAVAILABLE }),
            )
            .layer(DefaultBodyLimit::max(LARGE));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            serve_connections(listener, router, &proxies, &limits, tls.as_ref(), stopped).await;
        });
        Self {
            address,
            stop: Some(stop),
            ended,
        }
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
    for sent in [
        "",
        "GET / HTTP/1.1\r\nhost: loc",
        "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ] {
        let began = Instant::now();
        let received = site.exchange(sent).await;
        assert_eq!(
            received.contains("home"),
            sent.ends_with("\r\n\r\n"),
            "{received}"
        );
        assert!(
            began.elapsed() >= Duration::from_millis(350),
            "{sent:?}: {:?}",
            began.elapsed()
        );
    }
    // Bytes now and then do not extend the time.
    let mut stream = site.connect().await;
    for byte in request("/").bytes() {
        if stream.write_all(&[byte]).await.is_err() {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert!(!rest(&mut stream).await.contains("200 OK"));
}

#[tokio::test]
async fn a_stalled_or_slow_request_body_times_out() {
    let site = Site::start(short(), Proxies::default()).await;
    let head = "POST /length HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n";
    let received = site.exchange(head).await;
    assert!(
        received.starts_with("HTTP/1.1 408 ") && received.contains("connection: close"),
        "{received}"
    );
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
    let site = Site::start(
        ConnectionLimits {
            min_rate: 1,
            ..short()
        },
        Proxies::default(),
    )
    .await;
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
    assert!(
        began.elapsed() >= Duration::from_millis(1900),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn a_body_of_an_administrator_may_take_longer() {
    let limits = ConnectionLimits {
        body_timeout: Duration::from_millis(300),
        max_lag: Duration::from_secs(5),
        ..short()
    };
    let site = Site::start(limits, Proxies::default()).await;
    for (path, expected) in [("/length", "HTTP/1.1 408 "), ("/trusted", "HTTP/1.1 200 ")] {
        let mut stream = site.connect().await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\nx"
        );
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
    stream
        .write_all(request("/large").as_bytes())
        .await
        .expect("sent");
    sleep(Duration::from_secs(2)).await;
    assert!(
        rest(&mut stream).await.len() < LARGE,
        "the transfer ended early"
    );
}

#[tokio::test]
async fn connections_are_limited_in_total_and_for_each_client() {
    let site = Site::start(
        ConnectionLimits {
            total: 3,
            of_client: 2,
            ..short()
        },
        Proxies::default(),
    )
    .await;
    let held = [site.connect().await, site.connect().await];
    let received = site.exchange(&request("/")).await;
    assert!(
        received.starts_with("HTTP/1.1 429 ") && received.contains("retry-after: 5"),
        "{received}"
    );
    drop(held);
    sleep(Duration::from_millis(50)).await;
    assert!(
        site.exchange(&request("/")).await.contains("home"),
        "closed connections do not count"
    );

    let proxy = Proxies::new(&["127.0.0.1".parse().expect("an address")]);
    let site = Site::start(
        ConnectionLimits {
            total: 3,
            of_client: 1,
            ..short()
        },
        proxy,
    )
    .await;
    let slow = request("/slow");
    let received = tokio::join!(
        site.exchange(&slow),
        site.exchange(&slow),
        site.exchange(&slow),
        async {
            sleep(Duration::from_millis(300)).await;
            site.exchange(&request("/")).await
        }
    );
    assert!(
        received.3.starts_with("HTTP/1.1 503 ") && received.3.contains("retry-after: 5"),
        "{}",
        received.3
    );
    assert!(
        [received.0, received.1, received.2]
            .iter()
            .all(|received| received.starts_with("HTTP/1.1 200 "))
    );
}

#[tokio::test]
async fn a_request_takes_the_place_of_the_connection_that_waited_longest() {
    let patient = ConnectionLimits {
        header_timeout: Duration::from_secs(60),
        ..short()
    };
    let site = Site::start(
        ConnectionLimits {
            total: 3,
            of_client: 3,
            ..patient
        },
        Proxies::default(),
    )
    .await;
    let kept = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut used = site.connect().await;
    let [mut silent, _other] = [site.connect().await, site.connect().await];
    sleep(Duration::from_millis(50)).await;
    used.write_all(kept.as_bytes()).await.expect("sent");
    let mut status = [0; 12];
    used.read_exact(&mut status).await.expect("a response");
    sleep(Duration::from_millis(50)).await;

    let mut client = IpAddr::from([127, 0, 0, 2]);
    let mut exchange_as_other = async |text: &str| {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind((client, 0).into()).expect("a loopback address");
        client = IpAddr::from([127, 0, 0, 3]);
        let mut stream = socket.connect(site.address).await.expect("connected");
        stream.write_all(text.as_bytes()).await.expect("sent");
        rest(&mut stream).await
    };
    assert!(exchange_as_other(&request("/")).await.contains("home"));
    assert_eq!(
        rest(&mut silent).await,
        "",
        "it waited longer than the one with a response"
    );
    used.write_all(request("/").as_bytes()).await.expect("sent");
    assert!(rest(&mut used).await.ends_with("home"));
}

#[tokio::test]
async fn requests_of_one_client_behind_a_proxy_are_limited() {
    let proxy = Proxies::new(&["127.0.0.1".parse().expect("an address")]);
    let site = Site::start(
        ConnectionLimits {
            of_client: 2,
            ..short()
        },
        proxy,
    )
    .await;
    let of = |client: &str| {
        request("/slow").replace(
            "connection:",
            &format!("x-forwarded-for: {client}\r\nconnection:"),
        )
    };
    let (one, other) = (of("192.0.2.1"), of("192.0.2.2"));
    let replies = tokio::join!(
        site.exchange(&one),
        site.exchange(&one),
        site.exchange(&one),
        site.exchange(&other),
    );
    let statuses = [&replies.0, &replies.1, &replies.2].map(|reply| reply[9..12].to_owned());
    assert_eq!(
        statuses.iter().filter(|status| *status == "429").count(),
        1,
        "{statuses:?}"
    );
    assert_eq!(&replies.3[9..12], "200");
}

#[tokio::test]
async fn a_streamed_response_holds_its_permit_until_its_end() {
    let proxy = Proxies::new(&["127.0.0.1".parse().expect("an address")]);
    let site = Site::start(
        ConnectionLimits {
            of_client: 1,
            ..short()
        },
        proxy,
    )
    .await;
    let of_client = |path: &str| {
        request(path).replace("connection:", "x-forwarded-for: 192.0.2.1\r\nconnection:")
    };
    let mut stream = site.connect().await;
    stream
        .write_all(of_client("/streamed").as_bytes())
        .await
        .expect("sent");
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.expect("a response");
    assert_eq!(&status, b"HTTP/1.1 200");
    assert!(
        site.exchange(&of_client("/"))
            .await
            .starts_with("HTTP/1.1 429 "),
        "the response is in progress"
    );
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
    assert!(
        received.starts_with(b"HTTP/1.1 503 "),
        "{}",
        String::from_utf8_lossy(&received)
    );
}

#[tokio::test]
async fn a_request_of_http_1_1_has_a_host() {
    let site = Site::start(short(), Proxies::default()).await;
    assert!(
        site.exchange("GET / HTTP/1.1\r\n\r\n")
            .await
            .starts_with("HTTP/1.1 400 ")
    );
    assert!(
        site.exchange("GET / HTTP/1.0\r\n\r\n")
            .await
            .contains("home")
    );
}

/// A client that trusts one certificate.
fn tls_client(certificate: &CertificateDer<'static>) -> TlsConnector {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder
        .with_safe_default_protocol_versions()
        .expect("supported versions");
    TlsConnector::from(Arc::new(
        builder.with_root_certificates(roots).with_no_client_auth(),
    ))
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
    let limits = ConnectionLimits {
        total: 3,
        of_client: 3,
        ..short()
    };
    let site = Site::start_with(limits, Proxies::default(), Some(tls.clone())).await;
    let client = tls_client(&files.certificate);
    let get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let home = exchange_by_tls(&site, &client, get).await.expect("trusted");
    assert!(
        home.starts_with("HTTP/1.1 200 ") && home.ends_with("home"),
        "{home}"
    );
    // The response is sent although the body is not read.
    let post =
        format!("POST /unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGE}\r\n\r\n");
    let refused = exchange_by_tls(&site, &client, &(post + &"x".repeat(1 << 20)))
        .await
        .expect("trusted");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    let large = "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert!(
        exchange_by_tls(&site, &client, large)
            .await
            .expect("trusted")
            .len()
            > LARGE
    );

    // No HTTP without TLS, and no connection without a handshake.
    assert!(!site.exchange(get).await.contains("HTTP/1.1"));
    let mut silent = site.connect().await;
    let ended = timeout(TEST_TIMEOUT, rest(&mut silent)).await;
    assert_eq!(ended.expect("closed after the time of a header"), "");
    let held = [
        site.connect().await,
        site.connect().await,
        site.connect().await,
    ];
    sleep(Duration::from_millis(100)).await;
    assert!(
        exchange_by_tls(&site, &client, get).await.is_err(),
        "connections in a handshake count for the address"
    );
    drop(held);
    sleep(Duration::from_millis(100)).await;

    let renewed = write_pair(files.folder.path());
    tls.reload().expect("valid files");
    // A new client: one with a session resumes it, and receives no certificate.
    let client = tls_client(&files.certificate);
    assert!(
        exchange_by_tls(&site, &client, get).await.is_err(),
        "the old certificate is not sent any more"
    );
    assert!(
        exchange_by_tls(&site, &tls_client(&renewed), get)
            .await
            .expect("trusted")
            .ends_with("home")
    );
}

#[tokio::test]
async fn a_stopped_server_completes_requests_in_progress() {
    let mut site = Site::start(
        ConnectionLimits {
            header_timeout: 2 * TEST_TIMEOUT,
            ..short()
        },
        Proxies::default(),
    )
    .await;
    let mut idle = site.connect().await;
    let mut busy = site.connect().await;
    busy.write_all(request("/slow").as_bytes())
        .await
        .expect("sent");
    sleep(Duration::from_millis(200)).await;
    site.stop
        .take()
        .expect("running")
        .send(())
        .expect("it runs");
    assert!(rest(&mut busy).await.starts_with("HTTP/1.1 200 "));
    assert_eq!(rest(&mut idle).await, "", "idle connections are closed");
    let ended = timeout(TEST_TIMEOUT, &mut site.ended).await;
    ended.expect("it ends").expect("no panic");
    assert!(
        TcpStream::connect(site.address).await.is_err(),
        "nobody listens"
    );
}

#[tokio::test]
async fn only_time_in_which_the_client_is_awaited_counts() {
    let mut pace = ConnectionLimits {
        max_lag: Duration::from_secs(1),
        min_rate: 1000,
        ..short()
    }
    .pace();
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
    assert!(
        step(100, 100_000).await,
        "time between transfers does not count"
    );
    assert!(step(600, 1).await, "the credit was full again");
    assert!(!step(5000, 1).await, "and not more");
}
