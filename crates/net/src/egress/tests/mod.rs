//! Attacks on the egress policy, with servers on loopback that the configuration allows or forbids.

pub(crate) mod server;

use super::*;
use crate::egress::EgressFault as Fault;
use server::{Server, TEST_TIMEOUT, answer};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Names whose addresses change with each look-up until the last ones. Other names are resolved by the system.
#[derive(Default)]
struct Names {
    addresses: Mutex<HashMap<&'static str, Vec<Vec<&'static str>>>>,
    look_ups: AtomicUsize,
}

impl Names {
    fn new(names: &[(&'static str, &[&[&'static str]])]) -> Arc<Self> {
        let owned = names
            .iter()
            .map(|(name, turns)| (*name, turns.iter().map(|turn| turn.to_vec()).collect()));
        Arc::new(Self {
            addresses: Mutex::new(owned.collect()),
            look_ups: AtomicUsize::new(0),
        })
    }
}

impl Resolve for Names {
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        self.look_ups.fetch_add(1, Ordering::Relaxed);
        let mut addresses = self.addresses.lock().expect("no panic");
        let Some(turns) = addresses.get_mut(host) else {
            return SystemResolver.resolve(host, port);
        };
        let turn = if turns.len() > 1 {
            turns.remove(0)
        } else {
            turns[0].clone()
        };
        Ok(turn
            .into_iter()
            .map(|ip| SocketAddr::new(ip.parse::<IpAddr>().expect("an address"), port))
            .collect())
    }
}

/// Permits listed IRIs on loopback, and all public hosts.
fn policy(listed: &[String]) -> EgressPolicy {
    EgressPolicy {
        listed: listed
            .iter()
            .map(|prefix| prefix.parse().expect("a prefix"))
            .collect(),
        others: OtherHosts::AnyPublic,
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
    }
}

fn egress_to(server: &Server) -> Egress {
    Egress::new(policy(&[server.iri("/")]))
}

fn fault(sent: Result<Response, EgressError>) -> Fault {
    sent.expect_err("refused").fault
}

fn read(response: Response) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    match response.into_body().read_to_end(&mut body) {
        Ok(_) => Ok(body),
        Err(error) => Err(EgressError::find_in(&error).expect("carried").fault.clone()),
    }
}

fn within(milliseconds: u64) -> RequestLimits {
    RequestLimits {
        total: Duration::from_millis(milliseconds),
        ..RequestLimits::default()
    }
}

/// Hosts with forbidden addresses, without a port.
const FORBIDDEN_HOSTS: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "017700000001",
    "%31%32%37.0.0.1",
    "①②⑦.⓪.⓪.①",
    "0",
    "0.0.0.0",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "172.16.0.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[ff02::1]",
    "loop.example",
    "loop6.example",
    "metadata.example",
    "mapped.example",
    "mixed.example",
    "mixed-late.example",
];

fn attackers_names() -> Arc<Names> {
    Names::new(&[
        ("localhost", &[&["::1", "127.0.0.1"]]),
        ("localhost.", &[&["127.0.0.1"]]),
        ("loop.example", &[&["127.0.0.1"]]),
        ("loop6.example", &[&["::1"]]),
        ("metadata.example", &[&["169.254.169.254"]]),
        ("mapped.example", &[&["::ffff:127.0.0.1"]]),
        ("mixed.example", &[&["127.0.0.1", "1.1.1.1"]]),
        (
            "mixed-late.example",
            &[&["1.1.1.1", "2606:4700:4700::1111", "10.1.2.3"]],
        ),
    ])
}

#[test]
fn no_host_leads_inside() {
    let canary = Server::constant(answer("200 OK", "", "inside"));
    let egress = Egress::with_resolver(policy(&[]), attackers_names());
    for host in FORBIDDEN_HOSTS {
        for port in [canary.port, 80] {
            let iri = format!("http://{host}:{port}/");
            assert_eq!(
                fault(egress.get(&iri).with_limits(within(5000)).send()),
                Fault::Address,
                "{iri}"
            );
        }
    }
    assert_eq!(canary.received().len(), 0);
}

#[test]
fn no_redirect_leads_inside() {
    let canary = Server::constant(answer("200 OK", "", "inside"));
    let inside = canary.port;
    let server = Server::start(move |_, request, stream| {
        let (status, host) = request.path[1..]
            .split_once('/')
            .expect("a status and a host");
        let location = format!("Location: http://{host}:{inside}/\r\n");
        stream
            .write_all(&answer(&format!("{status} Redirect"), &location, ""))
            .ok();
    });
    let egress = Egress::with_resolver(policy(&[server.iri("/")]), attackers_names());
    for (number, host) in FORBIDDEN_HOSTS
        .iter()
        .filter(|host| host.is_ascii())
        .enumerate()
    {
        let status = [301, 302, 303, 307, 308][number % 5];
        let sent = egress.get(&server.iri(&format!("/{status}/{host}"))).send();
        assert_eq!(fault(sent), Fault::Address, "{host}");
    }
    assert_eq!(canary.received().len(), 0);
}

#[test]
fn redirects_end() {
    let server = Server::start(|_, request, stream| {
        let location = match &*request.path {
            "/loop" => "/loop",
            "/1" => "/2",
            "/2" => "/3",
            "/3" => "/end",
            "/0" => "/1",
            "/file" => "file:///etc/passwd",
            "/ftp" => "ftp://127.0.0.1/",
            "/gopher" => "gopher://127.0.0.1:6379/_FLUSHALL",
            "/user" => "http://user:secret@example.org/",
            "/nowhere" => "http://[",
            "/port" => "http://1.1.1.1:22/",
            "/silent" => return drop(stream.write_all(&answer("302 Found", "", ""))),
            _ => return drop(stream.write_all(&answer("200 OK", "", "end"))),
        };
        stream
            .write_all(&answer(
                "302 Found",
                &format!("Location: {location}\r\n"),
                "",
            ))
            .ok();
    });
    let egress = egress_to(&server);
    let get = |path: &str| egress.get(&server.iri(path)).send();
    let to = |fault| Fault::Redirected(Box::new(fault));
    assert_eq!(get("/1").map(read).expect("sent"), Ok(b"end".to_vec()));
    for (path, expected) in [
        ("/loop", Fault::Redirects(3)),
        ("/0", Fault::Redirects(3)),
        ("/file", to(Fault::Scheme)),
        ("/ftp", to(Fault::Scheme)),
        ("/gopher", to(Fault::Scheme)),
        ("/user", to(Fault::UserInfo)),
        ("/nowhere", Fault::Location),
        ("/port", to(Fault::NotListed)),
        ("/silent", Fault::Location),
    ] {
        let before = server.received().len();
        assert_eq!(fault(get(path)), expected, "{path}");
        assert!(server.received().len() - before <= 4, "{path}");
    }
}

#[test]
fn a_listed_prefix_does_not_open_its_neighbours() {
    let server = Server::start(|_, request, stream| {
        let headers = if request.path == "/open/away" {
            "Location: /closed\r\n"
        } else {
            ""
        };
        let status = if headers.is_empty() {
            "200 OK"
        } else {
            "307 Away"
        };
        stream.write_all(&answer(status, headers, "")).ok();
    });
    let egress = Egress::new(policy(&[server.iri("/open")]));
    assert_eq!(
        egress
            .get(&server.iri("/open/1"))
            .send()
            .expect("listed")
            .status(),
        200
    );
    // Not listed, it is one of the public hosts, and no public one.
    assert_eq!(
        fault(egress.get(&server.iri("/closed")).send()),
        Fault::Address
    );
    assert_eq!(
        fault(egress.get(&server.iri("/open/away")).send()),
        Fault::Address
    );
    assert_eq!(
        server
            .received()
            .iter()
            .filter(|request| request.path == "/closed")
            .count(),
        0
    );
}

#[test]
fn a_name_is_resolved_once_a_request() {
    let server = Server::constant(answer("200 OK", "", "first"));
    let names = Names::new(&[("rebinding.example", &[&["127.0.0.1"], &["10.0.0.1"]])]);
    let iri = format!("http://rebinding.example:{}/", server.port);
    let egress = Egress::with_resolver(
        policy(std::slice::from_ref(&iri)),
        Arc::clone(&names) as Arc<dyn Resolve>,
    );
    assert_eq!(
        egress.get(&iri).send().map(read).expect("sent"),
        Ok(b"first".to_vec())
    );
    assert_eq!(names.look_ups.load(Ordering::Relaxed), 1);
    assert_eq!(
        server.received()[0].header("host"),
        Some(&*format!("rebinding.example:{}", server.port))
    );
    assert_eq!(fault(egress.get(&iri).send()), Fault::Address);
}

#[test]
fn a_name_that_is_not_found_reads_like_one_inside() {
    let egress = Egress::with_resolver(policy(&[]), Names::new(&[("nobody.example", &[&[]])]));
    let missing = egress
        .get("http://nobody.example/")
        .send()
        .expect_err("no address");
    let inside = egress.get("http://127.0.0.1/").send().expect_err("inside");
    assert_eq!(
        (&missing.fault, &inside.fault),
        (&Fault::Unresolved, &Fault::Address)
    );
    assert_eq!(missing.fault.to_string(), inside.fault.to_string());
}

#[test]
fn a_slow_resolver_has_no_more_time_than_the_request() {
    struct Slow;
    impl Resolve for Slow {
        fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
            thread::sleep(2 * TEST_TIMEOUT);
            Ok(Vec::new())
        }
    }
    let egress = Egress::with_resolver(policy(&[]), Arc::new(Slow));
    let start = Instant::now();
    assert_eq!(
        fault(
            egress
                .get("http://slow.example/")
                .with_limits(within(200))
                .send()
        ),
        Fault::TimedOut
    );
    assert!(start.elapsed() < TEST_TIMEOUT);
}

#[test]
fn a_refusal_names_what_was_asked_and_no_more() {
    let server = Server::constant(answer(
        "302 Found",
        "Location: http://wiki.corp.example:6379/?token=1\r\n",
        "",
    ));
    let names = Names::new(&[("wiki.corp.example", &[&["10.1.2.3"]])]);
    let egress = Egress::with_resolver(policy(&[server.iri("/")]), names);
    let asked = server
        .iri("/a?query=secret#b")
        .replace("127", "user:password@127");
    assert_eq!(
        egress.get(&asked).send().expect_err("refused").to_string(),
        format!(
            "<{}>: blocked by the egress policy: the IRI contains a user name or password",
            server.iri("/a")
        )
    );
    let refused = egress
        .get(&server.iri("/a?query=secret"))
        .send()
        .expect_err("refused");
    let expected = format!(
        "<{}>: the host has no address that the egress policy permits; private networks need --allow-private-network",
        server.iri("/a")
    );
    assert_eq!(refused.to_string(), expected);
    assert!(!format!("{refused:?}").contains("10.1.2.3"));
}

#[test]
fn the_request_is_sent_as_written() {
    let server = Server::start(|number, _, stream| {
        let away = "Location: /moved\r\n";
        let reply = if number == 0 {
            answer("308 Moved", away, "")
        } else {
            answer("418 Teapot", "X-A: b\r\n", "no")
        };
        stream.write_all(&reply).ok();
    });
    let egress = egress_to(&server);
    let request = egress.post(&server.iri("/a?b=c"), "text/plain", b"body".to_vec());
    let response = request
        .with_accept("text/turtle")
        .with_header("X-Key", "1")
        .send()
        .expect("started");
    assert_eq!(
        (response.status(), response.header("x-a")),
        (418, Some("b"))
    );
    assert_eq!(read(response), Ok(b"no".to_vec()));
    let received = server.received();
    assert_eq!(
        [&*received[0].path, &received[1].path],
        ["/a?b=c", "/moved"]
    );
    for request in received {
        assert_eq!((&*request.method, &*request.body), ("POST", "body"));
        for (name, value) in [
            ("user-agent", USER_AGENT),
            ("accept", "text/turtle"),
            ("accept-encoding", "gzip"),
            ("content-type", "text/plain"),
            ("x-key", "1"),
        ] {
            assert_eq!(request.header(name), Some(value));
        }
    }
}

#[test]
fn a_key_stays_with_its_host() {
    let other = Server::constant(answer("200 OK", "", ""));
    let away = format!("Location: {}\r\n", other.iri("/"));
    let server = Server::constant(answer("303 See Other", &away, ""));
    let egress = Egress::new(policy(&[server.iri("/"), other.iri("/")]));
    let request = egress
        .post(&server.iri("/"), "text/plain", b"body".to_vec())
        .with_header("Authorization", "key");
    assert_eq!(request.send().expect("started").status(), 200);
    assert_eq!(server.received()[0].header("authorization"), Some("key"));
    let received = &other.received()[0];
    assert_eq!(
        (
            &*received.method,
            received.header("authorization"),
            &*received.body
        ),
        ("GET", None, "")
    );
}

#[test]
fn no_secret_goes_over_a_line_that_is_not_secure() {
    let server = Server::constant(answer("200 OK", "", ""));
    let iri = server.iri("/").replace("http:", "https:");
    let egress = Egress::new(policy(std::slice::from_ref(&iri)));
    let refused = fault(egress.get(&iri).with_limits(within(3000)).send());
    assert!(
        matches!(refused, Fault::Tls | Fault::Broken(_)),
        "{refused:?}"
    );
    assert!(
        server
            .received()
            .iter()
            .all(|request| request.method != "GET")
    );
}

#[test]
fn bodies_are_bounded_after_decompression() {
    let limit: u64 = 64 << 10;
    let long = vec![b'a'; 128 << 10];
    let packed = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&long).expect("in memory");
        encoder.finish().expect("in memory")
    };
    assert!(packed.len() < 1 << 10);
    let zipped = answer("200 OK", "Content-Encoding: gzip\r\n", &packed);
    let plain = |head: &'static str| {
        let long = long.clone();
        Server::start(move |_, _, stream| {
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(&long));
        })
    };
    let in_chunks = |head: &'static str| {
        Server::start(move |_, _, stream| {
            stream.write_all(head.as_bytes()).ok();
            for _ in 0..40_000 {
                if stream.write_all(b"4\r\naaaa\r\n").is_err() {
                    return;
                }
            }
        })
    };
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for server in [
        Server::constant(zipped),
        plain("HTTP/1.1 200 OK\r\n\r\n"),
        plain("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"),
        in_chunks(chunked),
    ] {
        let egress = egress_to(&server);
        let limits = RequestLimits {
            bytes: limit,
            ..RequestLimits::default()
        };
        let response = egress
            .get(&server.iri("/"))
            .with_limits(limits)
            .send()
            .expect("headers");
        let mut body = response.into_body();
        let mut read = Vec::new();
        let error = body.read_to_end(&mut read).expect_err("too long");
        assert_eq!(
            EgressError::find_in(&error).expect("carried").fault,
            Fault::TooLarge(limit)
        );
        assert!(read.len() as u64 <= limit, "{}", read.len());
    }
}

#[test]
fn headers_are_bounded() {
    let server = Server::start(|_, _, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n").ok();
        let line = b"X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
        stream.write_all(&line.repeat(10_000)).ok();
    });
    assert_eq!(
        fault(egress_to(&server).get(&server.iri("/")).send()),
        Fault::Protocol
    );
}

/// Sends `head`, then a byte every 20 ms for some seconds.
fn drip(head: &'static str) -> Server {
    Server::start(move |_, _, stream| {
        stream.write_all(head.as_bytes()).ok();
        for _ in 0..250 {
            if stream.write_all(b"a").is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    })
}

#[test]
fn slowness_does_not_outlast_the_time() {
    for head in [
        "HTTP/1.1 200 O",
        "HTTP/1.1 200 OK\r\nX-A: ",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n",
    ] {
        let server = drip(head);
        let sent = egress_to(&server)
            .get(&server.iri("/"))
            .with_limits(within(400))
            .send();
        assert_eq!(
            sent.map_err(|error| error.fault).and_then(read),
            Err(Fault::TimedOut),
            "{head:?}"
        );
    }
}

#[test]
fn a_request_is_given_up_while_it_waits() {
    for head in ["", "HTTP/1.1 200 OK\r\n\r\nbeginning"] {
        let server = Server::stalling(head);
        let flag = Arc::new(AtomicBool::new(false));
        let later = Arc::clone(&flag);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            later.store(true, Ordering::Relaxed);
        });
        let egress = egress_to(&server);
        let limits = RequestLimits {
            total: 2 * TEST_TIMEOUT,
            ..RequestLimits::default()
        };
        let sent = egress
            .get(&server.iri("/"))
            .with_limits(limits)
            .with_cancellation(flag.into())
            .send();
        assert_eq!(
            sent.map_err(|error| error.fault).and_then(read),
            Err(Fault::Cancelled),
            "{head:?}"
        );
    }
}

#[test]
fn half_an_answer_is_none() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec();
    let chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n".to_vec();
    let zipped = answer("200 OK", "Content-Encoding: gzip\r\n", "no gzip");
    for (bytes, transient) in [(cut, true), (chunks, true), (zipped, false)] {
        let server = Server::constant(bytes);
        let response = egress_to(&server)
            .get(&server.iri("/"))
            .send()
            .expect("headers");
        let fault = read(response).expect_err("damaged");
        assert_eq!(fault.is_transient(), transient, "{fault:?}");
    }
    let nobody = egress_to(&Server::constant(""))
        .get(&Server::constant("").iri("/"))
        .send();
    assert_eq!(fault(nobody), Fault::Address);
}

#[test]
fn connections_serve_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let iri = format!("http://{}/", listener.local_addr().expect("bound"));
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                        .ok();
                }
            });
        }
    });
    let egress = Egress::new(policy(std::slice::from_ref(&iri)));
    for _ in 0..5 {
        assert_eq!(
            egress.get(&iri).send().map(read).expect("sent"),
            Ok(b"ok".to_vec())
        );
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}
