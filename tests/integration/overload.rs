//! Clients that hold connections, uploads or downloads: they leave room for others. On Linux, each client has a loopback address.

use super::http::Site;
use super::support::{Home, TEST_TIMEOUT, limits, program, run};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::response::Response;
use http_body_util::BodyExt;
use lodeseek_server::{SnippetLimits, app};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// The program as a server; it ends with the value.
struct Server {
    child: Child,
    address: SocketAddr,
    /// Reads the log to its end, so that the program can log on.
    log: Option<JoinHandle<String>>,
    _home: TempDir,
}

impl Server {
    fn start(variables: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        for arguments in [&["load", "testdata/catalog.ttl"][..], &["index"]] {
            assert_eq!(run(home.path(), arguments).code, Some(0));
        }
        let mut command = program(home.path());
        command
            .args(["serve", "--bind", "127.0.0.1:0"])
            .envs(variables.iter().copied());
        let mut child = command
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let address = lines.by_ref().find_map(|line| {
            let line = line.expect("text");
            let rest = line.split_once("listening on http://")?.1;
            rest.split([';', ' ']).next()?.parse().ok()
        });
        let log =
            std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
        Self {
            child,
            address: address.expect("it listens"),
            log: Some(log),
            _home: home,
        }
    }

    /// Connects from one of this machine's loopback addresses.
    async fn connect(&self, client: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().expect("a socket");
        let client: IpAddr = client.parse().expect("an address");
        socket.bind((client, 0).into()).expect("a loopback address");
        socket.connect(self.address).await.expect("connected")
    }

    /// Sends a request, and returns the whole response.
    async fn exchange(&self, client: &str, request: &str) -> String {
        let mut stream = self.connect(client).await;
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received).await; // a reset ends it too
        String::from_utf8_lossy(&received).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SEARCH: &str =
    "GET /api/search?q=tree HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

fn upload(length: usize, body: &str) -> String {
    format!(
        "POST /like HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: text/turtle\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn status(reply: &str) -> &str {
    reply.get(9..12).unwrap_or(reply)
}

#[tokio::test]
async fn one_address_leaves_connections_to_others() {
    let server = Server::start(&[("LODESEEK_SERVER_MAX_CONNECTIONS", "16")]);
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(server.connect("127.0.0.2").await);
    }
    let refused = server.exchange("127.0.0.2", SEARCH).await;
    assert!(
        status(&refused) == "429" && refused.contains("retry-after: 5"),
        "{refused}"
    );
    assert_eq!(status(&server.exchange("127.0.0.3", SEARCH).await), "200");
    drop(held);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(status(&server.exchange("127.0.0.2", SEARCH).await), "200");
}

#[tokio::test]
async fn unfinished_uploads_leave_room_for_others() {
    let server = Server::start(&[]);
    let mut held = Vec::new();
    for client in ["127.0.0.2", "127.0.0.2", "127.0.0.3"] {
        let mut stream = server.connect(client).await;
        stream
            .write_all(upload(1_000_000, "@prefix").as_bytes())
            .await
            .expect("sent");
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let triple = "<http://e.org/tree> <http://e.org/label> \"tree\" .";
    let complete = upload(triple.len(), triple);
    let (own, other) = tokio::join!(
        server.exchange("127.0.0.2", &complete),
        server.exchange("127.0.0.3", &complete)
    );
    assert!(
        status(&own) == "429" && own.contains("retry-after: 5"),
        "{own}"
    );
    assert_eq!(status(&other), "200", "{other}");
    // Eight uploads of four addresses are all that are received at one time.
    for client in [
        "127.0.0.3",
        "127.0.0.4",
        "127.0.0.4",
        "127.0.0.5",
        "127.0.0.5",
    ] {
        let mut stream = server.connect(client).await;
        stream
            .write_all(upload(1_000_000, "@prefix").as_bytes())
            .await
            .expect("sent");
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let full = server.exchange("127.0.0.6", &complete).await;
    assert!(
        status(&full) == "503" && full.contains("retry-after: 5"),
        "{full}"
    );
    assert_eq!(
        status(&server.exchange("127.0.0.6", SEARCH).await),
        "200",
        "searches go on"
    );
    // The clients leave: during the upload, and after it without the response.
    drop(held);
    for _ in 0..8 {
        server
            .connect("127.0.0.2")
            .await
            .write_all(complete.as_bytes())
            .await
            .expect("sent");
    }
    let began = Instant::now();
    while status(&server.exchange("127.0.0.2", &complete).await) != "200" {
        assert!(
            began.elapsed() < TEST_TIMEOUT,
            "the permits of clients that left are free"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut held = Vec::new();
    for client in [
        "127.0.0.3",
        "127.0.0.3",
        "127.0.0.4",
        "127.0.0.4",
        "127.0.0.5",
        "127.0.0.5",
        "127.0.0.6",
    ] {
        let mut stream = server.connect(client).await;
        stream
            .write_all(upload(1_000_000, "@prefix").as_bytes())
            .await
            .expect("sent");
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let last = server.exchange("127.0.0.2", &complete).await;
    assert_eq!(
        status(&last),
        "200",
        "seven permits are taken, not more: {last}"
    );
}

/// Examples that take seconds to parse do not take the permits of searches, which read whole graphs to explain hits.
#[tokio::test]
async fn searches_do_not_wait_for_examples() {
    let server = Server::start(&[]);
    let subject = format!("<http://e.org/{}> <http://e.org/p> ", "s".repeat(100_000));
    let slow = format!("{subject}{} 1 .\n", "x:y, ".repeat(120_000));
    let slow = upload(slow.len(), &slow);
    let uploads = async {
        let [second, third, fourth, fifth] = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
        let exchange = |client| server.exchange(client, &slow);
        tokio::join!(
            exchange(second),
            exchange(third),
            exchange(fourth),
            exchange(fifth)
        )
    };
    let explained = SEARCH.replace("q=tree", "q=tree&explain=true");
    let search = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.exchange("127.0.0.7", &explained).await
    };
    let (found, _) = tokio::join!(search, uploads);
    assert_eq!(status(&found), "200", "{found}");
}

#[tokio::test]
async fn a_stop_signal_closes_idle_connections() {
    let mut server = Server::start(&[]);
    let mut idle = server.connect("127.0.0.1").await;
    assert_eq!(status(&server.exchange("127.0.0.1", SEARCH).await), "200");
    let killed = Command::new("kill")
        .arg(server.child.id().to_string())
        .status()
        .expect("kill");
    assert!(killed.success());
    assert_eq!(idle.read(&mut [0; 1]).await.expect("no reset"), 0);
    let ended = server.child.wait().expect("it ends");
    let log = server
        .log
        .take()
        .expect("running")
        .join()
        .expect("no panic");
    assert!(
        ended.success() && !log.contains("did not end within"),
        "{ended}: {log}"
    );
}

/// Not about load, but about the same command: secrets that every user of this machine could read.
#[test]
fn files_of_the_operator_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().join("home");
    assert_eq!(run(&home, &["load", "testdata/catalog.ttl"]).code, Some(0));
    assert_eq!(
        fs::metadata(&home).expect("a folder").permissions().mode() & 0o777,
        0o700
    );
    let token = folder.path().join("token");
    fs::write(&token, "correct horse battery").expect("written");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).expect("changed");
    let options = [
        "serve",
        "--bind",
        "127.0.0.1:0",
        "--operator-token-file",
        token.to_str().expect("a path"),
    ];
    let refused = run(&home, &options);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .err
            .contains("every user of this machine can access the operator token"),
        "{}",
        refused.err
    );
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("changed");
    let started = run(&home, &options);
    assert!(
        started.err.contains("there is no index"),
        "the token is accepted: {}",
        started.err
    );
}

#[tokio::test]
async fn slow_downloads_leave_room_for_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut dump = String::new();
    for number in 0..8000 {
        let _ = writeln!(
            dump,
            "<http://e.org/{number}> <http://e.org/is> \"the number {number} of very many numbers\" ."
        );
    }
    fs::write(folder.path().join("many.nt"), dump).expect("written");
    let catalog =
        serde_json::json!([{ "dataset_id": "many", "title": "Many", "download": ["many.nt"] }]);
    let path = folder.path().join("datasets.json");
    fs::write(&path, catalog.to_string()).expect("written");
    let (state, home) = Home::from_catalog(&path).state(limits());
    let at_once = SnippetLimits {
        permit_timeout: Duration::from_millis(100),
        ..SnippetLimits::default()
    };
    let site = Site::behind(app(state.with_snippets(at_once)), home);
    let begin = async |client: u8| -> Response {
        let path =
            "/rdf-graph-store?graph=http%3A%2F%2Flocalhost%3A7878%2Fdataset%2Fmany&format=nt";
        let mut request = Request::builder()
            .uri(path)
            .body(Body::empty())
            .expect("a request");
        request
            .extensions_mut()
            .insert(ConnectInfo(SocketAddr::from(([192, 0, 2, client], 1))));
        site.begin(request).await
    };
    let held = [begin(1).await, begin(1).await];
    assert_eq!(
        held.each_ref().map(|response| response.status().as_u16()),
        [200, 200]
    );
    for _ in 0..2 {
        let refused = begin(1).await;
        assert_eq!(
            (
                refused.status().as_u16(),
                refused.headers()["retry-after"].as_bytes()
            ),
            (429, &b"5"[..])
        );
    }
    let other = begin(2).await;
    assert_eq!(other.status(), 200);
    let text = other
        .into_body()
        .collect()
        .await
        .expect("complete")
        .to_bytes();
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 8000);
    // Downloads take no permits of other work.
    let mut more = Vec::new();
    for client in [2, 2, 3, 3, 4, 4] {
        more.push(begin(client).await);
    }
    assert_eq!(begin(5).await.status(), 503);
    let mut snippet = Request::builder()
        .uri("/dataset/many/snippet?format=json")
        .body(Body::empty())
        .expect("a request");
    snippet
        .extensions_mut()
        .insert(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 1))));
    assert_eq!(site.send(snippet).await.status, 200);
}
