//! The server process: TLS, its certificate, a log that nobody reads, and traces.

use super::support::{TEST_TIMEOUT, program, run};
use rustls::pki_types::CertificateDer;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a folder");
    for arguments in [&["load", "testdata/dumps/trees.nt.gz"][..], &["index"]] {
        assert_eq!(run(home.path(), arguments).code, Some(0));
    }
    home
}

/// A running server. Only the test reads its messages.
pub(crate) struct Server {
    child: Child,
    messages: BufReader<ChildStderr>,
    address: String,
}

impl Server {
    pub(crate) fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = program(home);
        command
            .args(["serve", "--bind", "127.0.0.1:0"])
            .args(arguments)
            .stderr(Stdio::piped());
        // Spans are sent after 100 ms instead of 5 s.
        command.env("OTEL_BSP_SCHEDULE_DELAY", "100");
        let mut child = command.spawn().expect("started");
        let messages = BufReader::new(child.stderr.take().expect("stderr"));
        let mut server = Self {
            child,
            messages,
            address: String::new(),
        };
        let line = server.wait_for("listening on ");
        let address = line
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        server.address = address.expect("an address").to_owned();
        server
    }

    /// Reads messages until one contains a text, and returns it.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.messages.read_line(&mut line).expect("UTF-8") > 0,
                "the server ended before {text}"
            );
            if line.contains(text) {
                return line;
            }
        }
    }

    fn send_signal(&self, name: &str) {
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -{name} {}", self.child.id())])
            .status();
        assert!(sent.expect("a shell").success());
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("connected");
        stream.set_read_timeout(Some(TEST_TIMEOUT)).expect("set");
        stream
    }

    /// Requests a path by HTTP.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = self.connect();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("UTF-8");
        response
    }

    /// Requests a path by HTTPS from a server with this certificate.
    fn get_by_tls(
        &self,
        certificate: &CertificateDer<'static>,
        path: &str,
    ) -> std::io::Result<String> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider);
        let builder = builder
            .with_safe_default_protocol_versions()
            .expect("supported versions");
        let config = Arc::new(builder.with_root_certificates(roots).with_no_client_auth());
        let name = "localhost".try_into().expect("a name");
        let connection = rustls::ClientConnection::new(config, name).expect("a client");
        let mut stream = rustls::StreamOwned::new(connection, self.connect());
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Writes a new certificate for `localhost` with its key into a home, and returns the certificate.
fn write_certificate(home: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = home.join("key.pem");
    fs::write(home.join("certificate.pem"), made.cert.pem()).expect("written");
    fs::write(&key, made.signing_key.serialize_pem()).expect("written");
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .expect("private");
    made.cert.der().clone()
}

fn configure(home: &Path, text: &str) {
    let path = home.join("lodeseek.toml");
    let present = fs::read_to_string(&path).expect("read");
    fs::write(&path, format!("{present}{text}")).expect("written");
}

#[test]
fn a_server_with_tls_links_to_itself_and_reads_its_certificate_again() {
    let home = home();
    let home = home.path();
    let certificate = write_certificate(home);
    configure(
        home,
        "[server]\ntls-certificate = \"certificate.pem\"\ntls-key = \"key.pem\"\n",
    );
    let mut server = Server::start(home, &[]);
    let port = server.address.rsplit(':').next().expect("a port");
    let robots = server
        .get_by_tls(&certificate, "/robots.txt")
        .expect("trusted");
    assert!(
        robots.contains(&format!("Sitemap: https://localhost:{port}/sitemap.xml")),
        "{robots}"
    );
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "permissions-policy: ",
    ] {
        assert!(robots.contains(header), "{header}: {robots}");
    }
    assert!(
        !robots.contains("strict-transport-security"),
        "other programs share the name localhost: {robots}"
    );

    fs::write(home.join("certificate.pem"), "").expect("written");
    server.send_signal("HUP");
    let message = server.wait_for("cannot reload the certificate");
    assert!(
        message.contains("certificate.pem contains no certificate"),
        "{message}"
    );
    assert!(
        server
            .get_by_tls(&certificate, "/livez")
            .expect("trusted")
            .ends_with("ok\n")
    );
    let renewed = write_certificate(home);
    server.send_signal("HUP");
    server.wait_for("reloaded the certificate");
    assert!(
        server.get_by_tls(&certificate, "/livez").is_err(),
        "the old certificate is not sent any more"
    );
    assert!(
        server
            .get_by_tls(&renewed, "/livez")
            .expect("trusted")
            .ends_with("ok\n")
    );
    drop(server);

    let server = Server::start(home, &["--public-url", "https://data.example.org/"]);
    let page = server.get_by_tls(&renewed, "/livez").expect("trusted");
    assert!(
        page.contains("strict-transport-security: max-age=31536000"),
        "{page}"
    );
}

#[test]
fn wrong_settings_of_tls_are_errors_at_the_start() {
    let home = home();
    let home = home.path();
    write_certificate(home);
    let (certificate, key) = (home.join("certificate.pem"), home.join("key.pem"));
    let (certificate, key) = (
        certificate.to_str().expect("a path"),
        key.to_str().expect("a path"),
    );
    let other = tempfile::tempdir().expect("a folder");
    write_certificate(other.path());
    let other_key = other.path().join("key.pem");
    for (arguments, reason) in [
        (
            &["--tls-certificate", certificate][..],
            "the certificate has no key; set --tls-key",
        ),
        (
            &["--tls-key", key],
            "the key has no certificate; set --tls-certificate",
        ),
        (
            &["--tls-certificate", "no/such.pem", "--tls-key", key],
            "cannot read no/such.pem",
        ),
        (
            &["--tls-certificate", certificate, "--tls-key", certificate],
            "certificate.pem contains no private key",
        ),
        (
            &[
                "--tls-certificate",
                certificate,
                "--tls-key",
                other_key.to_str().expect("a path"),
            ],
            "key.pem does not match the first certificate in",
        ),
    ] {
        let ran = run(
            home,
            &[&["serve", "--bind", "127.0.0.1:0"], arguments].concat(),
        );
        assert!(
            ran.code == Some(2) && ran.err.contains(reason),
            "{reason}: {ran:?}"
        );
    }
}

#[test]
fn a_log_that_nobody_reads_stops_no_request() {
    let home = home();
    let server = Server::start(home.path(), &[]);
    let started = Instant::now();
    let id = "i".repeat(64);
    // A pipe holds 64 KiB; the messages of these requests are longer.
    for number in 0..1000 {
        let mut stream = server.connect();
        write!(stream, "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: {id}\r\n\r\n")
            .expect("sent");
        let mut response = String::new();
        stream
            .read_to_string(&mut response)
            .unwrap_or_else(|error| panic!("request {number}: {error}"));
        assert!(response.ends_with("ok\n"), "request {number}: {response}");
    }
    assert!(started.elapsed() < TEST_TIMEOUT);
    server.send_signal("TERM");
    let mut server = server;
    let until = Instant::now() + TEST_TIMEOUT;
    while server.child.try_wait().expect("a child").is_none() {
        assert!(
            Instant::now() < until,
            "the server waits for a reader of its log"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_change_beside_a_server_that_only_reads_names_the_remedy() {
    let home = home();
    let server = Server::start(home.path(), &[]);
    for arguments in [
        &["load", "testdata/dumps/soils.ttl"][..],
        &["remove", "trees"],
        &["index"],
    ] {
        let ran = run(home.path(), arguments);
        assert!(
            ran.code == Some(2)
                && ran
                    .err
                    .contains("a server started with --admin makes changes itself"),
            "{ran:?}"
        );
        assert!(
            ran.err.contains(&server.child.id().to_string()),
            "the process is named: {ran:?}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("backup");
    assert_eq!(
        run(home.path(), &["backup", target.to_str().expect("a path")]).code,
        Some(0),
        "it reads, too"
    );
}

/// Receives what a server sends to a collector: the bodies of `POST /v1/traces`, one after the other, until the process ends.
fn collect(listener: TcpListener) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            loop {
                let (mut line, mut length) = (String::new(), 0);
                if stream.read_line(&mut line).unwrap_or(0) == 0 {
                    break;
                }
                assert!(line.starts_with("POST /v1/traces HTTP/1.1"), "{line}");
                while line != "\r\n" {
                    line.clear();
                    stream.read_line(&mut line).expect("a header");
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().expect("a number");
                    }
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).expect("a body");
                stream
                    .get_mut()
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    .expect("sent");
                sender.send(body).ok();
            }
        }
    });
    receiver
}

#[test]
fn a_collector_receives_the_traces_of_requests_without_their_queries() {
    let home = home();
    let home = home.path();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let collector = listener.local_addr().expect("an address");
    configure(home, &format!("[log]\notlp = \"http://{collector}\"\n"));
    let received = collect(listener);
    let mut server = Server::start(home, &[]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let mut stream = server.connect();
    write!(
        stream,
        "GET /api/search?q=ginkgo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n"
    )
    .expect("sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("received");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    server.send_signal("TERM");
    assert!(server.child.wait().expect("ended").success());

    let sent: Vec<u8> = received.try_iter().flatten().collect();
    let has = |text: &[u8]| sent.windows(text.len()).any(|window| window == text);
    for name in ["lodeseek", "GET /api/search", "http.route", "rank", "hits"] {
        assert!(
            has(name.as_bytes()),
            "{name} is not in {:?}",
            String::from_utf8_lossy(&sent)
        );
    }
    let trace = u128::from_str_radix(trace, 16)
        .expect("a number")
        .to_be_bytes();
    assert!(has(&trace), "the trace of the client is not continued");
    assert!(!has(b"ginkgo"), "the words of a search were sent");
}

#[test]
fn a_collector_that_is_down_is_named_once_and_stops_no_request() {
    let home = home();
    let home = home.path();
    let port = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    configure(home, &format!("[log]\notlp = \"http://{port}\"\n"));
    let mut server = Server::start(home, &[]);
    let get = |server: &Server| {
        let mut stream = server.connect();
        write!(
            stream,
            "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("received");
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    };
    get(&server);
    let warning = server.wait_for("traces cannot be sent");
    assert!(warning.contains(&port.to_string()), "{warning}");
    get(&server);

    let wrong = tempfile::tempdir().expect("a folder");
    assert_eq!(
        run(wrong.path(), &["load", "testdata/dumps/trees.nt.gz"]).code,
        Some(0)
    );
    configure(wrong.path(), "[log]\notlp = \"not an address\"\n");
    let refused = run(wrong.path(), &["serve", "--bind", "127.0.0.1:0"]);
    assert!(
        refused.code == Some(2) && refused.err.contains("`log.otlp`: \"not an address\""),
        "{}",
        refused.err
    );
}

#[test]
fn search_on_a_server_needs_no_home() {
    let home = home();
    let server = Server::start(home.path(), &[]);
    let address = format!("http://{}", server.address);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let search = |arguments: &[&str]| {
        let all = [&["search", "--server", &address][..], arguments].concat();
        run(elsewhere.path(), &all)
    };
    let found = search(&["-k", "1", "--facets", "tree"]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    for part in [
        "good match for “tree”",
        "\n 1. ",
        "[trees]",
        "matched in ",
        "  format",
    ] {
        assert!(found.out.contains(part), "{part} in {}", found.out);
    }
    let local = run(home.path(), &["search", "--json", "tree"]);
    let remote = search(&["--json", "tree"]);
    let ids = |out: &str| {
        let found: serde_json::Value = serde_json::from_str(out).expect("JSON");
        found["hits"][0]["id"].clone()
    };
    assert_eq!(ids(&local.out), ids(&remote.out));
    let none = search(&["zzzzzz"]);
    assert_eq!(
        (none.code, none.out.as_str()),
        (Some(1), "No dataset was found for “zzzzzz”.\n")
    );
    // Filters are sent; settings of another program are not.
    let filtered = search(&["tree", "--filter", "format=CSV"]);
    assert_eq!(filtered.code, Some(1), "{}", filtered.out);
    let refused = search(&["tree", "--ranking", "words"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let nowhere = run(
        elsewhere.path(),
        &["search", "--server", "http://127.0.0.1:1", "tree"],
    );
    assert!(
        nowhere.code == Some(2) && nowhere.err.contains("cannot reach the server"),
        "{}",
        nowhere.err
    );
}
