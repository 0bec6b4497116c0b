//! Access to described files depends on the host's `robots.txt` (RFC 9309): without rules (4xx) every file is fetched;
//! while the rules are unreachable (5xx, connection error) none is.

use lodeseek_catalog::DatasetId;
use lodeseek_harvest::{
    Batch, DatasetSink, Downloads, HarvestOptions, HarvestReport, Harvester, StoreOutcome,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const TRIPLE: &str = "<http://e.org/s> <http://e.org/p> <http://e.org/o> .\n";

struct Discard;

impl DatasetSink for Discard {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let ids = batch
            .datasets
            .into_iter()
            .map(|dataset| dataset.metadata.id);
        Ok(ids.map(|id| (id, StoreOutcome::Stored)).collect())
    }

    fn remove(&mut self, _ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

fn response(status: u16, media_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Status\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn feed(port: u16) -> String {
    format!(
        "@prefix dcat: <http://www.w3.org/ns/dcat#> .
         <http://e.org/dataset> a dcat:Dataset ; dcat:distribution <http://e.org/file> .
         <http://e.org/file> a dcat:Distribution ;
             dcat:downloadURL <http://127.0.0.1:{port}/a.nt> ; dcat:mediaType \"application/n-triples\" ."
    )
}

/// Describes two files of one host, whose name is written in two ways.
fn feed_with_spellings(port: u16) -> String {
    let second = format!(
        "\n<http://e.org/dataset> dcat:distribution <http://e.org/other> .
         <http://e.org/other> a dcat:Distribution ;
             dcat:downloadURL <HTTP://127.1:{port}/b.nt> ; dcat:mediaType \"application/n-triples\" ."
    );
    feed(port) + &second
}

fn requested_path(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut header = String::new();
    while reader.read_line(&mut header).ok()? > 2 {
        header.clear();
    }
    Some(first.split(' ').nth(1)?.to_owned())
}

/// Starts a server on loopback whose `robots.txt` is this raw response; an empty response closes the connection.
fn start(robots: String) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let Some(path) = requested_path(&stream) else {
                continue;
            };
            let reply = match path.as_str() {
                "/feed.ttl" => response(200, "text/turtle", &feed(port)),
                "/spellings.ttl" => response(200, "text/turtle", &feed_with_spellings(port)),
                "/robots.txt" => robots.clone(),
                _ => response(200, "application/n-triples", TRIPLE),
            };
            log.lock().expect("not poisoned").push(path);
            stream.write_all(reply.as_bytes()).ok();
        }
    });
    (port, requests)
}

/// Harvests the feed of a server with this `robots.txt`. Returns the report, and true if the described file was requested.
fn harvest(robots: String) -> (HarvestReport, bool) {
    let (report, requests) = harvest_feed(robots, "feed.ttl");
    (report, requests.contains(&"/a.nt".to_owned()))
}

/// Harvests a feed of a server with this `robots.txt`. Returns the report and the requested paths.
fn harvest_feed(robots: String, feed: &str) -> (HarvestReport, Vec<String>) {
    let (port, requests) = start(robots);
    let site = format!("http://127.0.0.1:{port}/");
    let egress = Egress::new(EgressPolicy {
        listed: vec![site.parse().expect("a prefix")],
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    });
    let options = HarvestOptions {
        downloads: Downloads::Content,
        pause: Duration::ZERO,
        backoff: vec![Duration::from_millis(1)],
        ..HarvestOptions::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let harvester = Harvester::new(&egress, folder.path(), "robots").with_options(options);
    let report = harvester
        .run(&[format!("{site}{feed}")], &mut Discard, &|_| ())
        .expect("a report");
    assert_eq!(report.sources[0].datasets, 1, "{report:#?}");
    let requests = requests.lock().expect("not poisoned").clone();
    assert!(requests.contains(&"/robots.txt".to_owned()), "{requests:?}");
    (report, requests)
}

#[test]
fn rules_are_requested_once_for_all_spellings_of_a_host() {
    let (report, requests) = harvest_feed(response(404, "text/plain", ""), "spellings.ttl");
    assert_eq!(report.files, 2, "{report:#?}");
    assert_eq!(
        requests
            .iter()
            .filter(|path| *path == "/robots.txt")
            .count(),
        1,
        "{requests:?}"
    );
}

#[test]
fn unreachable_rules_disallow_every_file() {
    let truncated =
        response(200, "text/plain", "User-agent: *\nAllow: /\n").replace("Length: ", "Length: 9");
    let cases = [
        ("500", response(500, "text/plain", "")),
        (
            "503",
            response(503, "text/plain", "User-agent: *\nAllow: /\n"),
        ),
        ("closed connection", String::new()),
        ("truncated body", truncated),
    ];
    for (name, robots) in cases {
        let (report, is_requested) = harvest(robots);
        assert!(!is_requested, "{name}: the file was requested");
        assert_eq!(
            (report.files, report.failed_files.len()),
            (0, 1),
            "{name}: {report:#?}"
        );
        let reason = &report.failed_files[0].reason;
        assert!(
            reason.contains("robots.txt is unreachable"),
            "{name}: {reason}"
        );
    }
}

#[test]
fn missing_rules_allow_every_file() {
    for status in [403, 404, 410] {
        let (report, is_requested) = harvest(response(
            status,
            "text/plain",
            "User-agent: *\nDisallow: /\n",
        ));
        assert!(is_requested && report.files == 1, "{status}: {report:#?}");
    }
}

#[test]
fn rules_apply_to_files() {
    let (report, is_requested) =
        harvest(response(200, "text/plain", "User-agent: *\nDisallow: /b\n"));
    assert!(is_requested && report.files == 1, "{report:#?}");
    let (report, is_requested) = harvest(response(
        200,
        "text/plain",
        "User-agent: lodeseek\nDisallow: /a\n",
    ));
    assert!(
        !is_requested
            && report.failed_files[0]
                .reason
                .contains("robots.txt does not allow it"),
        "{report:#?}"
    );
}
