//! Snapshots: `publish` to a folder, and servers that follow it.

use super::support::{Ran, TEST_TIMEOUT, copy, program, run};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

fn succeeds(home: &Path, arguments: &[&str]) -> Ran {
    let ran = run(home, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    ran
}

/// A home with one dataset, and a folder for everything else.
struct Site {
    folder: TempDir,
}

impl Site {
    fn new() -> Self {
        let site = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        site.load("testdata/dumps/trees.nt.gz");
        site
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn remote(&self) -> PathBuf {
        self.folder.path().join("remote")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn url(&self) -> String {
        format!("file://{}", self.remote().display())
    }

    fn load(&self, path: &str) {
        succeeds(&self.home(), &["load", path]);
        succeeds(&self.home(), &["index"]);
    }

    fn publish(&self) -> Value {
        let ran = succeeds(&self.home(), &["publish", &self.url(), "--json"]);
        serde_json::from_str(&ran.out).expect("JSON")
    }

    fn serve(&self) -> Replica {
        Replica::start(
            &self.folder.path().join("none"),
            &["--snapshot", &self.url()],
            &self.cache(),
        )
    }

    /// Starts a server whose first snapshot cannot be served, and returns its message.
    fn serve_first(&self) -> String {
        let cache = self.cache();
        let ran = run(
            &self.folder.path().join("none"),
            &[
                "serve",
                "--snapshot",
                &self.url(),
                "--bind",
                "127.0.0.1:0",
                "--cache",
                cache.to_str().expect("a path"),
            ],
        );
        assert_eq!(ran.code, Some(2), "{ran:?}");
        ran.err
    }

    /// Returns the objects of the storage that the cache lacks, without manifests, the largest first.
    fn new_objects(&self) -> Vec<PathBuf> {
        let mut objects = files_below(&self.remote().join("objects"));
        objects.retain(|path| {
            !self
                .cache()
                .join(path.strip_prefix(self.remote()).expect("below"))
                .exists()
        });
        objects.retain(|path| {
            !fs::read(path)
                .expect("a file")
                .starts_with(b"{\n  \"format\"")
        });
        objects.sort_by_key(|path| std::cmp::Reverse(path.metadata().expect("a file").len()));
        objects
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_below(&path))
        } else {
            found.push(path)
        }
    }
    found
}

/// Changes one bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("written");
}

/// A running server of snapshots.
struct Replica {
    child: Child,
    address: String,
    messages: BufReader<std::process::ChildStderr>,
}

impl Replica {
    fn start(home: &Path, arguments: &[&str], cache: &Path) -> Self {
        let mut command = program(home);
        command
            .args([
                "serve",
                "--bind",
                "127.0.0.1:0",
                "--cache",
                cache.to_str().expect("a path"),
            ])
            .args(arguments);
        command
            .env("LODESEEK_SERVER_SNAPSHOT_INTERVAL", "1")
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let messages = BufReader::new(child.stderr.take().expect("stderr"));
        let mut replica = Self {
            child,
            address: String::new(),
            messages,
        };
        let line = replica.wait_for("listening on ");
        let address = line
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        replica.address = address.expect("an address").to_owned();
        replica
    }

    /// Reads messages until one contains a text, and returns it.
    fn wait_for(&mut self, text: &str) -> String {
        let mut before = String::new();
        loop {
            let mut line = String::new();
            assert!(
                self.messages.read_line(&mut line).expect("UTF-8") > 0,
                "it ended before {text:?}: {before}"
            );
            if line.contains(text) {
                return line;
            }
            before += &line;
        }
    }

    fn get(&self, path: &str) -> String {
        get(&self.address, path)
    }

    fn finds(&self, word: &str, id: &str) -> bool {
        self.get(&format!("/api/search?q={word}"))
            .contains(&format!("\"id\":\"{id}\""))
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(TEST_TIMEOUT)).expect("set");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .expect("sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("received");
    response
}

fn wait_until(mut holds: impl FnMut() -> bool, message: &str) {
    let until = Instant::now() + TEST_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < until, "{message}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_publication_uploads_what_changed() {
    let site = Site::new();
    let first = site.publish();
    assert_eq!(
        (&first["snapshot"], &first["datasets"]),
        (&1.into(), &1.into()),
        "{first}"
    );
    assert!(first["uploadedFiles"].as_u64() > Some(5), "{first}");
    let second = site.publish();
    assert_eq!(
        (&second["snapshot"], &second["unchanged"]),
        (&1.into(), &true.into()),
        "{second}"
    );
    assert_eq!(
        (&second["uploadedFiles"], &second["reusedFiles"]),
        (&0.into(), &first["files"]),
        "{second}"
    );
    site.load("testdata/dumps/soils.ttl");
    let third = site.publish();
    assert_eq!(
        (&third["snapshot"], &third["datasets"]),
        (&2.into(), &2.into()),
        "{third}"
    );
    assert!(
        third["reusedFiles"].as_u64() > Some(0) && third["unchanged"] == false,
        "{third}"
    );
    assert_eq!(
        fs::read_dir(site.remote().join("snapshots"))
            .expect("a folder")
            .count(),
        2
    );
    let private = ["tokens.json", "audit.jsonl", "lodeseek.toml", "harvest"];
    for path in files_below(&site.remote()) {
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        assert!(
            !private
                .iter()
                .any(|name| text.contains(&format!("\"{name}"))),
            "{}",
            path.display()
        );
    }
}

#[test]
fn an_object_that_was_deleted_is_uploaded_again() {
    let site = Site::new();
    site.publish();
    let object = site.new_objects().remove(0);
    fs::remove_file(&object).expect("removed");
    let again = site.publish();
    assert_eq!(
        (&again["snapshot"], &again["uploadedFiles"]),
        (&1.into(), &1.into()),
        "{again}"
    );
    assert!(object.exists());
}

#[test]
fn old_snapshots_are_deleted_if_requested() {
    let site = Site::new();
    site.publish();
    for path in files_below(&site.remote()) {
        let file = fs::File::options().write(true).open(&path).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(48 * 3600))
            .expect("set");
    }
    site.load("testdata/dumps/soils.ttl");
    let before = files_below(&site.remote()).len();
    let ran = succeeds(
        &site.home(),
        &["publish", &site.url(), "--keep", "1", "--json"],
    );
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        (&report["snapshot"], &report["deletedSnapshots"]),
        (&2.into(), &1.into()),
        "{report}"
    );
    // One record is new and one is deleted; so is the manifest.
    let deleted = report["deletedObjects"].as_u64().expect("a number");
    let uploaded = report["uploadedFiles"].as_u64().expect("a number");
    assert!(deleted > 1, "{report}");
    assert_eq!(
        files_below(&site.remote()).len() as u64,
        before as u64 + uploaded + 1 - deleted,
        "{report}"
    );
    let replica = site.serve();
    assert!(replica.finds("Boden", "soils") && replica.finds("ginkgo", "trees"));
}

#[test]
fn locations_and_combinations_that_cannot_work_are_refused() {
    let site = Site::new();
    for (location, reason) in [
        ("somewhere", "is no location of snapshots"),
        ("ftp://host/folder", "unknown scheme"),
        ("s3:///prefix", "it has no bucket"),
        ("file:///", "it has no folder"),
    ] {
        let ran = run(&site.home(), &["publish", location]);
        assert!(
            ran.code == Some(2) && ran.err.contains(reason),
            "{location}: {ran:?}"
        );
    }
    let unindexed = site.folder.path().join("unindexed");
    succeeds(&unindexed, &["load", "testdata/dumps/soils.ttl"]);
    let ran = run(&unindexed, &["publish", &site.url()]);
    assert!(
        ran.code == Some(2) && ran.err.contains("has no index yet; run `lodeseek index`"),
        "{ran:?}"
    );
    let (none, url, cache) = (site.folder.path().join("none"), site.url(), site.cache());
    let serve = [
        "serve",
        "--snapshot",
        &url,
        "--cache",
        cache.to_str().expect("a path"),
    ];
    let missing = run(&none, &serve);
    assert!(
        missing.code == Some(2) && missing.err.contains("there is no snapshot"),
        "{missing:?}"
    );
    for flags in [&["--admin"][..], &["--harvest", "testdata/catalog.ttl"]] {
        let ran = run(&none, &[&serve[..], flags].concat());
        assert!(
            ran.code == Some(2) && ran.err.contains("a server of snapshots only reads"),
            "{ran:?}"
        );
    }
    let alone = run(&site.home(), &["serve", "--cache", "x"]);
    assert!(
        alone.code == Some(2) && alone.err.contains("set --snapshot"),
        "{alone:?}"
    );
}

#[test]
fn a_replica_follows_publications_without_losing_a_request() {
    let site = Site::new();
    site.publish();
    let mut replica = site.serve();
    assert!(replica.finds("ginkgo", "trees") && !replica.finds("Boden", "soils"));
    assert!(
        replica
            .get("/sparql?query=ASK%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D")
            .contains("true")
    );
    let used = run(
        &site.folder.path().join("none"),
        &[
            "serve",
            "--snapshot",
            &site.url(),
            "--cache",
            site.cache().to_str().expect("a path"),
        ],
    );
    assert!(
        used.code == Some(2) && used.err.contains("is used by another process"),
        "{used:?}"
    );
    let refused = replica.get("/api/admin/jobs");
    assert!(
        refused.starts_with("HTTP/1.1 403") && refused.contains("only reads a snapshot"),
        "{refused}"
    );

    let (stop, requests) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (stop, requests, address) = (
                Arc::clone(&stop),
                Arc::clone(&requests),
                replica.address.clone(),
            );
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let response = get(&address, "/api/search?q=ginkgo");
                    assert!(
                        response.starts_with("HTTP/1.1 200")
                            && response.contains("\"id\":\"trees\""),
                        "{response}"
                    );
                    requests.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    site.load("testdata/dumps/soils.ttl");
    site.publish();
    replica.wait_for("serving snapshot 2");
    let before = requests.load(Ordering::Relaxed);
    wait_until(
        || requests.load(Ordering::Relaxed) > before + 8,
        "requests after the change",
    );
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().expect("no request failed");
    }
    assert!(replica.finds("Boden", "soils") && replica.finds("ginkgo", "trees"));
    assert!(replica.get("/metrics").contains("lodeseek_snapshot 2"));
    let homes = || {
        fs::read_dir(site.cache().join("homes"))
            .expect("a folder")
            .count()
    };
    wait_until(|| homes() == 1, "the home of the old snapshot is deleted");
    let manifests = files_below(&site.cache().join("objects"));
    assert!(
        manifests.len() < files_below(&site.remote().join("objects")).len(),
        "old objects are deleted"
    );
}

#[test]
fn a_damaged_object_is_named_and_not_served() {
    let site = Site::new();
    site.publish();
    let mut replica = site.serve();
    site.load("testdata/dumps/soils.ttl");
    // The object is damaged before the replica can see the snapshot: it is published to a copy of the location.
    let hidden = site.folder.path().join("hidden");
    copy(&site.remote(), &hidden);
    succeeds(
        &site.home(),
        &["publish", &format!("file://{}", hidden.display())],
    );
    let records = site.remote().join("snapshots");
    for object in files_below(&hidden.join("objects")) {
        let to = site
            .remote()
            .join(object.strip_prefix(&hidden).expect("below"));
        fs::create_dir_all(to.parent().expect("a folder")).expect("created");
        fs::copy(&object, &to).expect("copied");
    }
    let damaged = site.new_objects().remove(0);
    flip(&damaged);
    fs::copy(
        hidden.join("snapshots/0000000002.json"),
        records.join("0000000002.json"),
    )
    .expect("copied");
    let key = damaged
        .strip_prefix(site.remote())
        .expect("below")
        .to_str()
        .expect("a path")
        .to_owned();
    let message = replica.wait_for("cannot serve a newer snapshot");
    assert!(
        message.contains(&key) && message.contains("snapshot 1 is still served"),
        "{message}"
    );
    assert!(replica.finds("ginkgo", "trees") && !replica.finds("Boden", "soils"));
    let operator = replica.get("/api/operator");
    assert!(operator.contains("is damaged"), "{operator}");

    fs::remove_file(&damaged).expect("removed");
    let repaired = site.publish();
    assert_eq!(
        (&repaired["snapshot"], &repaired["uploadedFiles"]),
        (&2.into(), &1.into()),
        "{repaired}"
    );
    replica.wait_for("serving snapshot 2");
    assert!(replica.finds("Boden", "soils"));
}

#[test]
fn a_replica_starts_from_its_cache_and_repairs_it() {
    let site = Site::new();
    site.publish();
    drop(site.serve());
    let mut objects = files_below(&site.cache().join("objects"));
    objects.sort_by_key(|path| path.metadata().expect("a file").len());
    let damaged = objects.pop().expect("an object");
    flip(&damaged);
    let mut replica = site.serve();
    assert!(
        replica.finds("ginkgo", "trees"),
        "the damaged file was downloaded again"
    );
    replica.child.kill().expect("killed");
    drop(replica);
    // A record that cannot be read stands for storage that cannot be reached.
    fs::write(site.remote().join("snapshots/0000000002.json"), "x").expect("written");
    let replica = site.serve();
    assert!(replica.finds("ginkgo", "trees"));
}

#[test]
fn two_publications_do_not_overwrite_each_other() {
    let site = Site::new();
    let url = site.url();
    let other = site.folder.path().join("other");
    succeeds(&other, &["load", "testdata/dumps/soils.ttl"]);
    succeeds(&other, &["index"]);
    let homes = [site.home(), other];
    let ran: Vec<Ran> = thread::scope(|scope| {
        let threads: Vec<_> = homes
            .iter()
            .map(|home| scope.spawn(|| run(home, &["publish", &url])))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("ended"))
            .collect()
    });
    let published = ran.iter().filter(|ran| ran.code == Some(0)).count();
    let records = fs::read_dir(site.remote().join("snapshots"))
        .expect("a folder")
        .count();
    assert_eq!(
        published, records,
        "each success has a snapshot of its own: {ran:?}"
    );
    for ran in ran.iter().filter(|ran| ran.code != Some(0)) {
        assert!(
            ran.err
                .contains("another process published snapshot 1 meanwhile")
                || ran
                    .err
                    .contains("cannot continue after snapshot 1: another home published it"),
            "{ran:?}"
        );
    }
    assert_eq!(published, 1, "two homes do not share a location: {ran:?}");
}

#[test]
fn a_record_that_blocks_a_location_is_deleted_on_request() {
    let site = Site::new();
    site.publish();
    let records = site.remote().join("snapshots");
    let last = records.join("9999999999.json");
    fs::copy(records.join("0000000001.json"), &last).expect("copied");
    let url = site.url();
    let refused = run(&site.home(), &["publish", &url]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.err.contains("it is the record of snapshot 1") && refused.err.contains("--force"),
        "{refused:?}"
    );
    let message = site.serve_first();
    assert!(
        message.contains("snapshot 9999999999 is not served"),
        "{message}"
    );
    let forced = succeeds(&site.home(), &["publish", &url, "--force", "--json"]);
    let forced: Value = serde_json::from_str(&forced.out).expect("JSON");
    assert_eq!(
        (&forced["removedRecords"], &forced["snapshot"]),
        (&1.into(), &1.into()),
        "{forced}"
    );
    assert!(!last.exists());
    site.load("testdata/dumps/soils.ttl");
    assert_eq!(site.publish()["snapshot"], 2);
    let replica = site.serve();
    assert!(replica.finds("Boden", "soils"));
}

#[cfg(unix)]
#[test]
fn replicas_with_a_key_serve_signed_snapshots() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new();
    let path = |name: &str| {
        let path = site.folder.path().join(name);
        path.to_str().expect("a path").to_owned()
    };
    let (private, public) = (path("publisher.pem"), path("publisher.pub.pem"));
    // The key of RFC 8032, 7.1, test 1.
    let pem = |kind: &str, text: &str| {
        format!("-----BEGIN {kind} KEY-----\n{text}\n-----END {kind} KEY-----\n")
    };
    let secret = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
    fs::write(&private, pem("PRIVATE", secret)).expect("written");
    let key = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    fs::write(&public, pem("PUBLIC", key)).expect("written");
    let url = site.url();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o644)).expect("changed");
    let refused = run(&site.home(), &["publish", &url, "--key", &private]);
    assert!(
        refused.code == Some(2) && refused.err.contains("chmod 600"),
        "{refused:?}"
    );
    fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).expect("changed");
    succeeds(&site.home(), &["publish", &url, "--key", &private]);
    let none = site.folder.path().join("none");
    let arguments = ["--snapshot", &url, "--snapshot-key", &public];
    let mut replica = Replica::start(&none, &arguments, &site.cache());
    assert!(replica.finds("ginkgo", "trees"));
    // The next snapshot has no signature.
    site.load("testdata/dumps/soils.ttl");
    site.publish();
    let message = replica.wait_for("cannot serve a newer snapshot");
    assert!(message.contains("it has no signature"), "{message}");
    assert!(replica.finds("ginkgo", "trees") && !replica.finds("Boden", "soils"));
    // The same content is published again, signed.
    succeeds(&site.home(), &["publish", &url, "--key", &private]);
    replica.wait_for("serving snapshot 3");
    assert!(replica.finds("Boden", "soils"));
}

#[test]
fn a_server_with_changes_publishes_itself() {
    let site = Site::new();
    let home = site.home();
    let mut command = program(&home);
    command
        .args(["serve", "--bind", "127.0.0.1:0", "--admin"])
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let messages = BufReader::new(child.stderr.take().expect("stderr"));
    let mut server = Replica {
        child,
        address: String::new(),
        messages,
    };
    server.wait_for("listening on ");
    succeeds(&home, &["load", "testdata/dumps/soils.ttl"]);
    let published = site.publish();
    assert_eq!(
        (&published["snapshot"], &published["datasets"]),
        (&1.into(), &2.into()),
        "{published}"
    );
    let replica = site.serve();
    assert!(replica.finds("Boden", "soils"));
}
