//! Content that ends the process is not read again at each start: the portal would stay down.
//!
//! The harvest runs in a child process, which is this test program with an environment variable.

use lodeseek_catalog::DatasetId;
use lodeseek_harvest::{
    Batch, DatasetSink, HarvestOptions, HarvestReport, Harvester, StoreOutcome, allow_source_hosts,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

const FOLDER: &str = "LODESEEK_TEST_QUARANTINE";
const PREFIXES: &str =
    "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix hydra: <http://www.w3.org/ns/hydra/core#> .\n";

/// Sink that ends the process when it stores the dataset `bad`.
#[derive(Default)]
struct Sink {
    stored: BTreeSet<String>,
    removed: usize,
}

impl DatasetSink for Sink {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let ids: Vec<DatasetId> = batch
            .datasets
            .into_iter()
            .map(|dataset| dataset.metadata.id)
            .collect();
        if ids.iter().any(|id| id.as_str() == "bad") {
            process::abort();
        }
        self.stored.extend(ids.iter().map(ToString::to_string));
        Ok(ids
            .into_iter()
            .map(|id| (id, StoreOutcome::Stored))
            .collect())
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.removed += ids.len();
        Ok(())
    }
}

fn described(ids: &[&str]) -> String {
    let dataset = |id: &&str| {
        format!(
            "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{id}\" .\n"
        )
    };
    PREFIXES.to_owned() + &ids.iter().map(dataset).collect::<String>()
}

fn harvest(folder: &Path, source: &str, sink: &mut Sink) -> HarvestReport {
    let private_networks = vec!["127.0.0.0/8".parse().expect("a network")];
    let mut policy = EgressPolicy {
        private_networks,
        ..EgressPolicy::default()
    };
    allow_source_hosts(&mut policy, &[source.to_owned()]).expect("an address with a host");
    let egress = Egress::new(policy);
    let options = HarvestOptions {
        pause: Duration::ZERO,
        backoff: Vec::new(),
        ..HarvestOptions::default()
    };
    let harvester = Harvester::new(&egress, folder, "here").with_options(options);
    harvester
        .run(&[source.to_owned()], sink, &|_| ())
        .expect("harvested")
}

/// Held by each test. A child that another test starts has the lock file of a harvest open until it executes its program.
static SERIAL: Mutex<()> = Mutex::new(());

/// The child process; without the variable, nothing.
#[test]
fn child() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let mut sink = Sink::default();
    let report = harvest(
        folder,
        &folder.join("catalog.ttl").display().to_string(),
        &mut sink,
    );
    let reasons: Vec<&str> = report.sources[0]
        .failed
        .iter()
        .map(|failure| failure.reason.as_str())
        .collect();
    let stored: Vec<&str> = sink.stored.iter().map(String::as_str).collect();
    fs::write(
        folder.join("result"),
        format!("{}\n{}", stored.join(" "), reasons.join("\n")),
    )
    .expect("written");
}

#[test]
fn a_dataset_that_ends_the_process_is_left_out() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("catalog.ttl"),
        described(&["a", "b", "bad", "c", "d"]),
    )
    .expect("written");
    let run = || {
        let mut child = Command::new(env::current_exe().expect("this program"));
        child
            .args(["--exact", "child"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        child.status().expect("started").success()
    };
    // With all others, alone, and alone again.
    for attempt in 1..=3 {
        assert!(!run(), "attempt {attempt}");
        assert!(!folder.path().join("result").exists());
    }
    for _ in 0..2 {
        assert!(run(), "the process does not end any more");
        let result = fs::read_to_string(folder.path().join("result")).expect("a result");
        let (stored, reasons) = result.split_once('\n').expect("two lines");
        assert_eq!(stored, "a b c d");
        assert!(
            reasons.starts_with("dataset bad: the process ended 2 times"),
            "{reasons}"
        );
    }
}

/// Starts a server on loopback with a feed of two pages; the second page has these datasets.
fn start(second: Arc<Mutex<String>>) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let site = format!("http://{}/", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().expect("a socket"))
                .lines()
                .map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines
                .by_ref()
                .take_while(|line| !line.is_empty())
                .for_each(drop);
            let body = if first.contains("page=2") {
                second.lock().expect("not poisoned").clone()
            } else {
                described(&["a", "b"])
                    + "<?page=1> a hydra:PartialCollectionView ; hydra:next <?page=2> .\n"
            };
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/turtle\r\n";
            let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    site
}

#[test]
fn a_page_that_ended_the_process_twice_is_skipped_until_it_changes() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let second = Arc::new(Mutex::new(described(&["c"])));
    let site = start(Arc::clone(&second));
    let (folder, mut sink) = (tempfile::tempdir().expect("a folder"), Sink::default());
    let source = format!("{site}feed?page=1");
    let report = harvest(folder.path(), &source, &mut sink);
    assert_eq!(report.new.len(), 3, "{report:?}");
    let files = folder.path().join("here");
    let state = fs::read(files.join("state.json")).expect("a state");
    let state: serde_json::Value = serde_json::from_slice(&state).expect("JSON");
    let page = state["files"]
        .as_object()
        .expect("files")
        .iter()
        .find(|(address, _)| address.ends_with("page=2"));
    // What two processes leave behind that ended while they read the page.
    let step = serde_json::json!({"what": "a page", "content": page.expect("the page").1["sha256"], "attempts": 2});
    fs::write(files.join("reading.json"), step.to_string()).expect("written");
    for round in 0..2 {
        let report = harvest(folder.path(), &source, &mut sink);
        let failed = &report.sources[0].failed;
        assert_eq!(
            (report.sources[0].datasets, failed.len(), sink.removed),
            (2, 1, 0),
            "{round}: {report:?}"
        );
        assert!(failed[0].what.ends_with("page=2"), "{failed:?}");
        assert!(
            failed[0]
                .reason
                .contains("skipped until it changes; delete"),
            "{failed:?}"
        );
        assert!(!files.join("reading.json").exists());
    }
    *second.lock().expect("not poisoned") = described(&["c", "d"]);
    let report = harvest(folder.path(), &source, &mut sink);
    assert!(
        report.sources[0].failed.is_empty() && report.sources[0].whole,
        "{report:?}"
    );
    assert_eq!(
        sink.stored.into_iter().collect::<Vec<_>>(),
        ["a", "b", "c", "d"]
    );
}
