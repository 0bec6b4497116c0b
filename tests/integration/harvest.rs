//! Harvests of portals on loopback that loop, fail, stall, lie and change.

use super::support::{Home, TEST_TIMEOUT};
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_harvest::{
    Batch, Budget, DatasetSink, DelistedPolicy, Downloads, HarvestOptions, HarvestReport,
    Harvester, IdScheme, StoreOutcome,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use lodeseek_store::{DatasetOutcome, LoadOptions, Loader, Stamp, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A request as it came: its path with the query, and its headers in lower case.
pub(crate) struct Asked {
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
    /// Number of earlier requests of the path.
    times: usize,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.path.split_once('?')?;
        form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.parameter(name)?.parse().ok()
    }
}

/// An answer.
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Bytes of the body after which the connection is closed.
    cut: Option<usize>,
    delay: Duration,
}

impl Reply {
    pub(crate) fn new(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
        Self {
            status,
            headers,
            body: body.into(),
            cut: None,
            delay: Duration::ZERO,
        }
    }

    pub(crate) fn turtle(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/turtle", body)
    }

    fn json(body: &serde_json::Value) -> Self {
        Self::new(200, "application/json", body.to_string())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::new(status, "text/plain", "that is how it is")
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// After some time.
    pub(crate) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// With a tag made of the body, and nothing but it where who asks has it.
    fn tagged(self, asked: &Asked) -> Self {
        let tag = format!(
            "\"{:x}\"",
            self.body
                .iter()
                .fold(7u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(*byte))
        );
        if asked.header("if-none-match") == Some(&tag) {
            return Self::new(304, "text/plain", "").with("ETag", &tag);
        }
        self.with("ETag", &tag)
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        thread::sleep(self.delay);
        let mut head = format!("HTTP/1.1 {} So\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let length = if self.status == 304 {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", self.body.len())
        };
        stream.write_all(format!("{head}{length}\r\n").as_bytes())?;
        stream.write_all(&self.body[..self.cut.unwrap_or(self.body.len())])
    }
}

/// A server on loopback, for as long as the tests run.
#[derive(Clone)]
pub(crate) struct Portal {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Portal {
    pub(crate) fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let (all, answer) = (Arc::new(Mutex::new(Vec::<String>::new())), Arc::new(answer));
        let log = Arc::clone(&all);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || {
                    let Some(mut asked) = read(&stream) else {
                        return;
                    };
                    {
                        let mut log = log.lock().expect("unharmed");
                        asked.times = log.iter().filter(|path| **path == asked.path).count();
                        log.push(asked.path.clone());
                    }
                    answer(&asked).send(&mut stream).ok();
                });
            }
        });
        Self { port, asked: all }
    }

    pub(crate) fn iri(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the paths requested since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("unharmed"))
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    Some(Asked {
        path,
        headers,
        times: 0,
    })
}

/// Sink that records batches without a store.
#[derive(Default)]
struct Heap {
    titles: BTreeMap<DatasetId, String>,
    batches: usize,
    removed: Vec<DatasetId>,
}

impl DatasetSink for Heap {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        self.batches += 1;
        let stored = batch.datasets.into_iter().map(|dataset| {
            let id = dataset.metadata.id.clone();
            self.titles
                .insert(id.clone(), dataset.metadata.title().to_owned());
            (id, StoreOutcome::Stored)
        });
        Ok(stored.collect())
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        ids.iter().for_each(|id| drop(self.titles.remove(id)));
        self.removed.extend_from_slice(ids);
        Ok(())
    }
}

/// A store.
struct Kept<'s>(&'s Store);

impl DatasetSink for Kept<'_> {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let stamp = Stamp {
            now: Some("2026-01-02T03:04:05Z".parse()?),
            origin: None,
        };
        let options = LoadOptions {
            stamp,
            ..LoadOptions::default()
        };
        let catalog = Catalog {
            folder: batch.folder,
            datasets: batch.datasets,
            ..Catalog::default()
        };
        let report = Loader::new(self.0)
            .with_options(options)
            .load(catalog, &|_| ())?;
        let store_outcome = |outcome| match outcome {
            DatasetOutcome::Kept => StoreOutcome::Retained,
            DatasetOutcome::Unchanged => StoreOutcome::Unchanged,
            _ => StoreOutcome::Stored,
        };
        Ok(report
            .datasets
            .into_iter()
            .map(|dataset| (dataset.id, store_outcome(dataset.outcome)))
            .collect())
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.remove(ids)?;
        Ok(())
    }
}

fn options() -> HarvestOptions {
    let backoff = [1, 1, 1].map(Duration::from_millis).to_vec();
    HarvestOptions {
        pause: Duration::ZERO,
        backoff,
        ..HarvestOptions::default()
    }
}

/// Loopback requests are permitted to the portals alone.
fn egress(portals: &[&Portal]) -> Egress {
    let listed = portals
        .iter()
        .map(|portal| portal.iri("/").parse().expect("a prefix"))
        .collect();
    let inner = vec!["127.0.0.0/8".parse().expect("a network")];
    Egress::new(EgressPolicy {
        listed,
        private_networks: inner,
        ..EgressPolicy::default()
    })
}

fn harvest(
    portal: &Portal,
    path: &str,
    folder: &Path,
    sink: &mut dyn DatasetSink,
    options: HarvestOptions,
) -> HarvestReport {
    let egress = egress(&[portal]);
    let harvester = Harvester::new(&egress, folder, "here").with_options(options);
    harvester
        .run(&[portal.iri(path)], sink, &|_| ())
        .expect("harvested")
}

/// With what the heap holds taken for the home's.
fn again(portal: &Portal, path: &str, folder: &TempDir, heap: &mut Heap) -> HarvestReport {
    let existing_ids = heap.titles.keys().cloned().collect();
    harvest(
        portal,
        path,
        folder.path(),
        heap,
        HarvestOptions {
            existing_ids,
            ..options()
        },
    )
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn id(text: &str) -> DatasetId {
    DatasetId::new(text).expect("an id")
}

const PREFIXES: &str =
    "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix hydra: <http://www.w3.org/ns/hydra/core#> .\n";

fn described(number: usize, title: &str) -> String {
    format!(
        "<http://e.org/set/s{number}> a dcat:Dataset ; dct:title \"{title} {number}\" ; dct:description \"{}\" .\n",
        "x".repeat(200)
    )
}

/// A page of a feed, with the next one in the dialect of its turn.
fn feed(page: usize, numbers: impl Iterator<Item = usize>, next: Option<usize>) -> String {
    let mut text = PREFIXES.to_owned();
    numbers.for_each(|number| text += &described(number, "Set"));
    let Some(next) = next else { return text };
    text += &match page % 3 {
        0 => {
            format!("<?page={page}> a hydra:PartialCollectionView ; hydra:next <?page={next}> .\n")
        }
        1 => format!(
            "<?page={page}> a hydra:PagedCollection ; hydra:nextPage \"/feed?page={next}\" .\n"
        ),
        _ => format!("# {next} by a header\n"), // a page with another one after it has another tag
    };
    text
}

pub(crate) fn feed_reply(asked: &Asked, rows: usize, all: usize) -> Reply {
    let page = asked.number("page").unwrap_or(0);
    let next = ((page + 1) * rows < all).then_some(page + 1);
    let reply =
        Reply::turtle(feed(page, page * rows..all.min((page + 1) * rows), next)).tagged(asked);
    match next.filter(|_| page % 3 == 2) {
        Some(next) => reply
            .with("Link", "<?page=0>; rel=first")
            .with("Link", &format!("<?page={next}>; rel=\"next\"")),
        None => reply,
    }
}

#[test]
fn ten_thousand_datasets_once_and_again() {
    let portal = Portal::start(|asked| {
        // Every seventh page fails at first, some with a wait.
        match asked.number("page") {
            Some(page) if page % 7 == 3 && asked.times == 0 => Reply::status(500),
            Some(page) if page % 7 == 4 && asked.times == 0 => {
                Reply::status(429).with("Retry-After", "0")
            }
            _ => feed_reply(asked, 100, 10_000),
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    let first = harvest(&portal, "/feed", folder.path(), &mut heap, options());
    assert_eq!(
        (first.new.len(), first.changed.len(), first.unchanged),
        (10_000, 0, 0),
        "{:?}",
        first.sources
    );
    assert!(first.is_clean() && heap.batches == 10 && first.sources[0].pages == 100);
    assert_eq!(first.spent.requests, 100 + 14 + 14);
    portal.asked();
    let second = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!(
        (second.new.len(), second.changed.len(), second.unchanged),
        (0, 0, 10_000)
    );
    assert_eq!(
        (second.spent.not_modified, heap.batches),
        (100, 10),
        "nothing was handed over"
    );
    assert!(
        second.spent.bytes * 100 < first.spent.bytes,
        "{:?} {:?}",
        first.spent,
        second.spent
    );
    assert!(second.is_clean() && second.counts().gone == 0);
    // A dataset that the home has lost is handed over, though nothing has changed.
    heap.titles.remove(&id("s77"));
    let third = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!((third.changed, heap.batches), (vec![id("s77")], 11));
}

#[test]
fn pages_that_lead_round_in_circles() {
    // Page 3 leads back to page 1, and later to itself under ever new names.
    for endless in [false, true] {
        let portal = Portal::start(move |asked| {
            let page = asked.number("page").unwrap_or(0);
            match (page, endless) {
                (3, false) => Reply::turtle(feed(0, 30..40, Some(1))),
                (3.., true) => Reply::turtle(
                    feed(3, 30..40, Some(page + 1)).replace(&format!("?page={page}"), ""),
                )
                .with("Link", ""),
                _ => feed_reply(asked, 10, 40),
            }
        });
        let (folder, mut heap) = (folder(), Heap::default());
        let options = || HarvestOptions {
            budget: Budget {
                pages: 50,
                ..Budget::default()
            },
            ..options()
        };
        let report = harvest(&portal, "/feed", folder.path(), &mut heap, options());
        assert_eq!(heap.titles.len(), 40, "{report:?}");
        assert!(
            !report.is_whole() && report.sources[0].failed.len() == 1,
            "{report:?}"
        );
        assert!(portal.asked().len() <= 50);
    }
}

#[test]
fn an_endless_feed_ends_at_the_limit_of_pages_and_of_requests() {
    let portal = Portal::start(|asked| feed_reply(asked, 1, usize::MAX / 2));
    let (folder, mut heap) = (folder(), Heap::default());
    let pages = Budget {
        pages: 20,
        ..Budget::default()
    };
    let report = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut heap,
        HarvestOptions {
            budget: pages,
            ..options()
        },
    );
    assert_eq!((heap.titles.len(), report.is_whole()), (20, false));
    let requests = Budget {
        requests: 30,
        ..Budget::default()
    };
    let report = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut heap,
        HarvestOptions {
            budget: requests,
            ..options()
        },
    );
    assert_eq!((heap.titles.len(), report.spent.requests), (30, 30));
    assert!(
        report.sources[0]
            .failed
            .iter()
            .any(|failure| failure.reason.contains("budget of requests")),
        "{report:?}"
    );
    assert_eq!(
        report.spent.not_modified, 20,
        "what was had is asked for on conditions"
    );
}

#[test]
fn what_is_gone_is_removed_only_by_a_whole_harvest() {
    let state = Arc::new(Mutex::new((40, false)));
    let shared = Arc::clone(&state);
    let portal = Portal::start(move |asked| {
        let (all, broken) = *shared.lock().expect("unharmed");
        if broken && asked.number("page") == Some(2) {
            Reply::status(500)
        } else {
            feed_reply(asked, 10, all)
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    again(&portal, "/feed", &folder, &mut heap);
    *state.lock().expect("unharmed") = (30, true);
    let broken = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!(
        (broken.counts().gone, heap.titles.len()),
        (20, 40),
        "reported alone: {broken:?}"
    );
    *state.lock().expect("unharmed") = (30, false);
    let kept = HarvestOptions {
        delisted: DelistedPolicy::Keep,
        existing_ids: heap.titles.keys().cloned().collect(),
        ..options()
    };
    let kept = harvest(&portal, "/feed", folder.path(), &mut heap, kept);
    assert_eq!((kept.counts().gone, heap.titles.len()), (10, 40));
    let whole = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!(
        (whole.counts().gone, heap.titles.len(), heap.removed.len()),
        (10, 30, 10)
    );
    assert_eq!(
        again(&portal, "/feed", &folder, &mut heap).counts().gone,
        0,
        "gone once"
    );
    *state.lock().expect("unharmed") = (0, false);
    let empty = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!(
        (heap.titles.len(), empty.is_whole()),
        (30, false),
        "a portal that lists nothing: {empty:?}"
    );
}

/// A feed that breaks off in the middle of a statement, or that has one unreadable statement, may list what was not read.
#[test]
fn a_feed_with_a_skipped_statement_loses_none() {
    let shown = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&shown);
    let whole = feed(0, 0..20, None);
    let cut = whole[..whole.len() / 2].to_owned();
    let spoilt = format!(
        "{}<http://e.org/set/s20> a dcat:Dataset ; dct:title \"unclosed .\n",
        feed(0, 0..19, None)
    );
    let portal = Portal::start(move |_| {
        Reply::turtle([&whole, &cut, &spoilt][*shared.lock().expect("unharmed")].clone())
    });
    let (folder, mut heap) = (folder(), Heap::default());
    assert!(again(&portal, "/feed", &folder, &mut heap).is_clean());
    for worse in [1, 2] {
        *shown.lock().expect("unharmed") = worse;
        let report = again(&portal, "/feed", &folder, &mut heap);
        assert!(!report.is_whole(), "{report:?}");
        assert!(heap.titles.len() >= 20 && heap.removed.is_empty());
    }
}

/// A portal that lists an id which the home has from elsewhere neither writes nor removes that dataset.
#[test]
fn what_no_harvest_brought_is_left_alone() {
    let count = Arc::new(Mutex::new(2));
    let shared = Arc::clone(&count);
    let portal =
        Portal::start(move |asked| feed_reply(asked, 10, *shared.lock().expect("unharmed")));
    let (folder, mut heap) = (folder(), Heap::default());
    heap.titles.insert(id("s1"), "My own".to_owned());
    let first = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!((first.new.len(), heap.titles.len()), (2, 3), "{first:?}");
    assert_eq!(heap.titles[&id("s1")], "My own");
    let second = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!(
        (second.unchanged, heap.titles.len()),
        (2, 3),
        "and it keeps the id it got: {second:?}"
    );
    *count.lock().expect("unharmed") = 1;
    assert_eq!(again(&portal, "/feed", &folder, &mut heap).counts().gone, 1);
    assert_eq!(
        heap.titles
            .keys()
            .map(DatasetId::as_str)
            .collect::<Vec<_>>(),
        ["s0", "s1"]
    );
    assert_eq!(heap.titles[&id("s1")], "My own");
}

/// A process killed after a batch was stored recognises the batch later.
#[test]
fn a_batch_is_known_before_it_is_stored() {
    struct Killed;
    impl DatasetSink for Killed {
        fn store(
            &mut self,
            _: Batch,
        ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
            Err("killed here".into())
        }

        fn remove(&mut self, _: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
            Ok(())
        }
    }
    let count = Arc::new(Mutex::new(5));
    let shared = Arc::clone(&count);
    let portal =
        Portal::start(move |asked| feed_reply(asked, 10, *shared.lock().expect("unharmed")));
    let (folder, mut heap) = (folder(), Heap::default());
    let egress = egress(&[&portal]);
    let harvester = Harvester::new(&egress, folder.path(), "here").with_options(options());
    assert!(
        harvester
            .run(&[portal.iri("/feed")], &mut Killed, &|_| ())
            .is_err()
    );
    // Stored, but not recorded.
    heap.titles
        .extend((0..5).map(|number| (id(&format!("s{number}")), format!("Set {number}"))));
    *count.lock().expect("unharmed") = 3;
    let next = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!((next.changed.len(), next.counts().gone), (3, 2), "{next:?}");
    assert_eq!(
        heap.titles
            .keys()
            .map(DatasetId::as_str)
            .collect::<Vec<_>>(),
        ["s0", "s1", "s2"]
    );
}

#[test]
fn what_moves_from_one_source_to_another_is_not_gone() {
    let moved = Arc::new(Mutex::new(false));
    let shared = Arc::clone(&moved);
    let portal = Portal::start(move |asked| {
        let numbers = match (asked.path.as_str(), *shared.lock().expect("unharmed")) {
            ("/one", false) => vec![1, 2],
            ("/one", true) => vec![1],
            (_, false) => vec![3],
            (_, true) => vec![2, 3],
        };
        Reply::turtle(
            numbers
                .into_iter()
                .fold(PREFIXES.to_owned(), |text, number| {
                    text + &described(number, "Set")
                }),
        )
    });
    let (folder, egress, mut heap) = (folder(), egress(&[&portal]), Heap::default());
    let sources = [portal.iri("/one"), portal.iri("/two")];
    let mut run = || {
        let options = HarvestOptions {
            existing_ids: heap.titles.keys().cloned().collect(),
            ..options()
        };
        let harvester = Harvester::new(&egress, folder.path(), "both").with_options(options);
        harvester
            .run(&sources, &mut heap, &|_| ())
            .expect("harvested")
    };
    assert_eq!(run().new.len(), 3);
    *moved.lock().expect("unharmed") = true;
    let report = run();
    assert_eq!(
        (report.unchanged, report.counts().gone, heap.removed.len()),
        (3, 0, 0),
        "{report:?}"
    );
}

#[test]
fn two_portals_with_the_same_ids() {
    let portal = |word: &'static str| {
        Portal::start(move |_| {
            let text = described(1, word).replace("http://e.org", &format!("http://{word}.org"));
            Reply::turtle(format!("{PREFIXES}{text}"))
        })
    };
    let (one, other) = (portal("one"), portal("other"));
    let (folder, egress) = (folder(), egress(&[&one, &other]));
    let mut heap = Heap::default();
    let mut run = |name: &str, portal: &Portal, ids: IdScheme| {
        let options = HarvestOptions {
            ids,
            existing_ids: heap.titles.keys().cloned().collect(),
            ..options()
        };
        let harvester = Harvester::new(&egress, folder.path(), name).with_options(options);
        harvester
            .run(&[portal.iri("/feed")], &mut heap, &|_| ())
            .expect("harvested")
    };
    assert_eq!(run("one", &one, IdScheme::Original).new, [id("s1")]);
    assert_eq!(
        run("other", &other, IdScheme::Original).new,
        [id("other-s1")]
    );
    for _ in 0..2 {
        assert_eq!(
            run("other", &other, IdScheme::Original).unchanged,
            1,
            "the id stays"
        );
        assert_eq!(run("one", &one, IdScheme::Original).unchanged, 1);
    }
    assert_eq!(run("third", &one, IdScheme::Prefixed).new, [id("third-s1")]);
    assert_eq!(heap.titles.len(), 3);
}

/// A portal of packages with numbers; some are hidden, some changed, and one spoils every answer that has it.
struct Ckan {
    packages: Vec<usize>,
    changed: BTreeSet<usize>,
    spoilt: Option<usize>,
}

impl Ckan {
    fn package(&self, number: usize) -> serde_json::Value {
        let title = if self.changed.contains(&number) {
            "Changed"
        } else {
            "Package"
        };
        serde_json::json!({
            "name": format!("p{number:04}"), "id": format!("00-{number}"), "title": format!("{title} {number}"),
            "notes": "y".repeat(300), "resources": [{"url": format!("http://e.org/{number}.csv"), "format": "CSV"}],
        })
    }

    fn answer(&self, asked: &Asked) -> Reply {
        let result = |result: serde_json::Value| {
            Reply::json(&serde_json::json!({"success": true, "result": result})).tagged(asked)
        };
        let spoils =
            |numbers: &[usize]| self.spoilt.is_some_and(|spoilt| numbers.contains(&spoilt));
        match asked.path.split('?').next().unwrap_or_default() {
            "/" => Reply::new(200, "text/html", "<!doctype html><title>A portal</title>"),
            "/api/3/action/package_list" => {
                let names: Vec<String> = self
                    .packages
                    .iter()
                    .map(|number| format!("p{number:04}"))
                    .collect();
                result(serde_json::json!(names))
            }
            "/api/3/action/package_show" => {
                let name = asked.parameter("id").unwrap_or_default();
                let number = name[1..].parse().expect("a number");
                if spoils(&[number]) {
                    Reply::status(500)
                } else {
                    result(self.package(number))
                }
            }
            "/api/3/action/package_search" => {
                let sort = asked.parameter("sort").expect("an order");
                assert!(
                    sort == "name asc" || sort == "metadata_modified desc, name asc",
                    "{sort}"
                );
                let rows = asked.number("rows").expect("rows").min(60);
                let page: Vec<usize> = self
                    .packages
                    .iter()
                    .copied()
                    .skip(asked.number("start").expect("start"))
                    .take(rows)
                    .collect();
                if spoils(&page) {
                    return Reply::status(500);
                }
                let packages: Vec<_> = page.iter().map(|number| self.package(*number)).collect();
                result(serde_json::json!({"count": self.packages.len(), "results": packages}))
            }
            _ => Reply::status(404),
        }
    }
}

#[test]
fn a_ckan_portal_of_a_thousand_packages() {
    let ckan = Ckan {
        packages: (0..1000).collect(),
        changed: BTreeSet::new(),
        spoilt: Some(437),
    };
    let ckan = Arc::new(Mutex::new(ckan));
    let shared = Arc::clone(&ckan);
    let portal = Portal::start(move |asked| shared.lock().expect("unharmed").answer(asked));
    let (folder, mut heap) = (folder(), Heap::default());
    let first = again(&portal, "/", &folder, &mut heap);
    let source = &first.sources[0];
    assert_eq!(
        (first.new.len(), source.form.as_deref()),
        (999, Some("ckan")),
        "{source:?}"
    );
    assert!(
        !source.whole && source.failed.len() == 1 && source.failed[0].what.contains("id=p0437"),
        "{source:?}"
    );
    {
        let mut ckan = ckan.lock().expect("unharmed");
        ckan.spoilt = None;
        ckan.packages.retain(|number| number % 100 != 50);
        ckan.changed.insert(7);
    }
    let second = again(&portal, "/api/3", &folder, &mut heap);
    assert_eq!(
        (second.new.as_slice(), second.changed.as_slice()),
        ([id("p0437")].as_slice(), [id("p0007")].as_slice())
    );
    assert_eq!(
        (second.unchanged, second.counts().gone),
        (988, 0),
        "those of another source are not this one's"
    );
    let third = again(&portal, "/", &folder, &mut heap);
    assert_eq!(
        (third.unchanged, third.spent.not_modified),
        (990, third.spent.requests - 1),
        "but for the page"
    );
    assert!(
        third.spent.bytes * 100 < first.spent.bytes && third.is_clean(),
        "{third:?}"
    );
    assert_eq!(heap.titles[&id("p0007")], "Changed 7");
}

/// While a portal's index is made anew it counts fewer packages, and later pages have none.
#[test]
fn a_ckan_portal_that_counts_less_loses_none() {
    let broken = Arc::new(Mutex::new(false));
    let shared = Arc::clone(&broken);
    let ckan = Ckan {
        packages: (0..150).collect(),
        changed: BTreeSet::new(),
        spoilt: None,
    };
    let portal = Portal::start(move |asked| {
        let later = asked.number("start").is_some_and(|start| start > 0);
        if later && *shared.lock().expect("unharmed") {
            return Reply::json(
                &serde_json::json!({"success": true, "result": {"count": 0, "results": []}}),
            );
        }
        ckan.answer(asked)
    });
    let (folder, mut heap) = (folder(), Heap::default());
    assert!(again(&portal, "/api/3", &folder, &mut heap).is_whole());
    *broken.lock().expect("unharmed") = true;
    let report = again(&portal, "/api/3", &folder, &mut heap);
    assert_eq!(
        (report.is_whole(), heap.titles.len(), heap.removed.len()),
        (false, 150, 0),
        "{report:?}"
    );
}

/// A portal that lists the times of changes and sends no entity tags, as CKAN does.
struct Clocked {
    /// By number: id, name, title and moment.
    packages: BTreeMap<usize, (String, String, String, String)>,
    /// Ticks of its clock.
    clock: usize,
    sorts: bool,
    /// The address of the file that all packages have, and the file.
    resource: Option<(String, String)>,
}

impl Clocked {
    fn with_packages(count: usize) -> Self {
        let mut all = Self {
            packages: BTreeMap::new(),
            clock: 0,
            sorts: true,
            resource: None,
        };
        (0..count).for_each(|number| all.put(number, "Package"));
        all
    }

    /// Adds a package, or changes one.
    fn put(&mut self, number: usize, title: &str) {
        self.clock += 1;
        self.put_at(number, title, &Self::moment(self.clock));
    }

    fn put_at(&mut self, number: usize, title: &str, moment: &str) {
        let (id, name) = (format!("00-{number:04}"), format!("p{number:04}"));
        self.packages.insert(
            number,
            (id, name, format!("{title} {number}"), moment.to_owned()),
        );
    }

    /// Six minutes from one to the next: more than a change may be late.
    fn moment(tick: usize) -> String {
        let minute = 6 * tick;
        format!(
            "2024-05-{:02}T{:02}:{:02}:07.004711",
            minute / 1440 + 1,
            minute / 60 % 24,
            minute % 60
        )
    }

    fn answer(&self, asked: &Asked) -> Reply {
        let path = asked.path.split('?').next().unwrap_or_default();
        if let Some((_, file)) = self.resource.as_ref().filter(|_| path == "/file.nt") {
            return Reply::new(200, "application/n-triples", file.clone());
        }
        if path != "/api/3/action/package_search" {
            return Reply::status(404);
        }
        let mut packages: Vec<_> = self.packages.values().collect();
        if self.sorts
            && asked
                .parameter("sort")
                .is_some_and(|sort| sort.starts_with("metadata_modified desc"))
        {
            packages.sort_by(|one, other| (&other.3, &one.1).cmp(&(&one.3, &other.1)));
        }
        let (start, rows) = (
            asked.number("start").expect("start"),
            asked.number("rows").expect("rows"),
        );
        let url = match &self.resource {
            Some((url, _)) => url.as_str(),
            None => "http://e.org/table.csv",
        };
        let packages =
            packages
                .into_iter()
                .skip(start)
                .take(rows)
                .map(|(id, name, title, moment)| {
                    serde_json::json!({
                        "id": id, "name": name, "title": title, "metadata_modified": moment,
                        "notes": "z".repeat(300), "resources": [{"url": url}],
                    })
                });
        let packages: Vec<serde_json::Value> = packages.collect();
        let count = self.packages.len();
        Reply::json(
            &serde_json::json!({"success": true, "result": {"count": count, "results": packages}}),
        )
    }
}

/// A portal by its clock, and a home that harvests it.
struct Clockwork {
    portal: Portal,
    clocked: Arc<Mutex<Clocked>>,
    folder: TempDir,
    heap: Heap,
}

impl Clockwork {
    fn new(clocked: Clocked) -> Self {
        let clocked = Arc::new(Mutex::new(clocked));
        let shared = Arc::clone(&clocked);
        let portal = Portal::start(move |asked| shared.lock().expect("unharmed").answer(asked));
        Self {
            portal,
            clocked,
            folder: folder(),
            heap: Heap::default(),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Clocked)) {
        change(&mut self.clocked.lock().expect("unharmed"));
    }

    fn harvest_with(&mut self, options: HarvestOptions) -> HarvestReport {
        let existing_ids = self.heap.titles.keys().cloned().collect();
        let options = HarvestOptions {
            existing_ids,
            ..options
        };
        harvest(
            &self.portal,
            "/api/3",
            self.folder.path(),
            &mut self.heap,
            options,
        )
    }

    fn harvest(&mut self) -> HarvestReport {
        let report = self.harvest_with(options());
        self.is_right(&report);
        report
    }

    /// Whatever was requested: the home has what the portal has, and nothing else.
    fn is_right(&self, report: &HarvestReport) {
        let clocked = self.clocked.lock().expect("unharmed");
        let there = clocked
            .packages
            .values()
            .map(|(_, name, title, _)| (id(name), title.clone()));
        assert_eq!(
            self.heap.titles,
            there.collect::<BTreeMap<_, _>>(),
            "{:?}",
            report.sources
        );
        assert!(report.is_clean(), "{:?}", report.sources);
        assert_eq!(
            report.sources[0].datasets,
            clocked.packages.len() as u64,
            "{:?}",
            report.sources
        );
    }
}

/// Why the one source was read whole.
fn doubt(report: &HarvestReport) -> &str {
    report.sources[0]
        .complete_reason
        .as_deref()
        .unwrap_or_default()
}

/// (new, changed, unchanged, gone)
fn counted(report: &HarvestReport) -> [usize; 4] {
    [
        report.new.len(),
        report.changed.len(),
        report.unchanged as usize,
        report.counts().gone,
    ]
}

#[test]
fn an_unchanged_ckan_portal_costs_one_request() {
    let mut work = Clockwork::new(Clocked::with_packages(1000));
    let first = work.harvest();
    assert_eq!(
        (counted(&first), first.spent.requests),
        ([1000, 0, 0, 0], 1 + 10),
        "the newest, and all pages"
    );
    assert_eq!((first.sources[0].not_requested, doubt(&first)), (0, ""));
    for _ in 0..3 {
        let again = work.harvest();
        assert_eq!(
            (counted(&again), again.spent.requests),
            ([0, 0, 1000, 0], 1),
            "{:?}",
            again.sources
        );
        assert_eq!(
            (
                again.sources[0].not_requested,
                again.sources[0].pages,
                doubt(&again)
            ),
            (995, 1, "")
        );
        assert!(
            again.spent.bytes * 100 < first.spent.bytes,
            "{:?} {:?}",
            again.spent,
            first.spent
        );
    }
    assert_eq!(work.heap.batches, 1, "nothing was handed over again");
    // What the home has lost is handed over though the portal is as it was.
    work.heap.titles.remove(&id("p0077"));
    let third = work.harvest();
    assert_eq!(
        (third.changed.as_slice(), third.spent.requests),
        ([id("p0077")].as_slice(), 1)
    );
}

#[test]
fn what_a_ckan_portal_changes_is_asked_for_alone() {
    let mut work = Clockwork::new(Clocked::with_packages(1000));
    let first = work.harvest();
    work.change(|portal| portal.put(7, "Changed"));
    let one = work.harvest();
    assert_eq!(
        (counted(&one), one.spent.requests),
        ([0, 1, 999, 0], 1),
        "{:?}",
        one.sources
    );
    work.change(|portal| portal.put(1000, "Added"));
    let added = work.harvest();
    assert_eq!(
        (counted(&added), added.spent.requests),
        ([1, 0, 1000, 0], 1),
        "{:?}",
        added.sources
    );
    // More than a page of changes, 7 once more among them, and an addition.
    work.change(|portal| {
        (0..150).for_each(|number| portal.put(number, "Changed again"));
        portal.put(1001, "Added");
    });
    let many = work.harvest();
    assert_eq!(
        (counted(&many), many.spent.requests),
        ([1, 150, 851, 0], 3),
        "{:?}",
        many.sources
    );
    assert!(
        many.sources[0].not_requested > 700 && many.spent.bytes * 4 < first.spent.bytes,
        "{many:?}"
    );
    // A package that is called otherwise now is another dataset, and the one that it was is gone.
    work.change(|portal| {
        portal.put(5, "Renamed");
        portal.packages.get_mut(&5).expect("there").1 = "q5".to_owned();
    });
    let renamed = work.harvest();
    assert_eq!(
        (counted(&renamed), renamed.spent.requests),
        ([1, 0, 1001, 1], 1),
        "{:?}",
        renamed.sources
    );
    assert_eq!(counted(&work.harvest()), [0, 0, 1002, 0]);
}

#[test]
fn what_a_ckan_portal_removes_has_it_read_whole() {
    let mut work = Clockwork::new(Clocked::with_packages(300));
    work.harvest();
    work.change(|portal| drop(portal.packages.remove(&50)));
    let removed = work.harvest();
    assert_eq!(
        (counted(&removed), removed.spent.requests),
        ([0, 0, 299, 1], 1 + 3)
    );
    assert_eq!(
        doubt(&removed),
        "it counts 299 packages, and counted 300 before"
    );
    assert_eq!(work.harvest().spent.requests, 1, "and is known again");
    // As many as before, but not the same.
    work.change(|portal| {
        portal.packages.remove(&60);
        portal.put(300, "Added");
    });
    let exchanged = work.harvest();
    assert_eq!(
        (counted(&exchanged), exchanged.spent.requests),
        ([1, 0, 298, 1], 1 + 3)
    );
    assert!(
        doubt(&exchanged).contains("300 were found"),
        "{}",
        doubt(&exchanged)
    );
    // The newest itself, for one of which nothing was known and which claims to be old.
    work.change(|portal| {
        portal.packages.remove(&300);
        portal.put_at(301, "Old", &Clocked::moment(1));
    });
    let newest = work.harvest();
    assert_eq!(
        (counted(&newest), newest.spent.requests),
        ([1, 0, 298, 1], 1 + 3)
    );
    assert!(
        doubt(&newest).contains("is no longer among the newest"),
        "{}",
        doubt(&newest)
    );
    assert_eq!(work.harvest().spent.requests, 1);
}

#[test]
fn packages_of_one_moment_are_told_apart_by_their_ids() {
    let mut portal = Clocked::with_packages(300);
    let moment = Clocked::moment(1000);
    (0..40).for_each(|number| portal.put_at(number, "At once", &moment));
    let mut work = Clockwork::new(portal);
    let first = work.harvest();
    let again = work.harvest();
    assert_eq!(
        (counted(&again), again.spent.requests),
        ([0, 0, 300, 0], 2),
        "all of that moment are looked at"
    );
    assert!(again.spent.bytes * 2 < first.spent.bytes);
    work.change(|portal| {
        portal.packages.remove(&20);
        portal.put_at(300, "At once", &moment);
    });
    let exchanged = work.harvest();
    assert_eq!(
        (counted(&exchanged), exchanged.spent.requests),
        ([1, 0, 299, 1], 2 + 3)
    );
    assert_eq!(
        doubt(&exchanged),
        "package 00-0020 is no longer among the newest"
    );
    // One more of them, and one with another description at the same moment.
    work.change(|portal| {
        portal.put_at(301, "At once", &moment);
        portal.put_at(3, "Otherwise", &moment);
    });
    let same = work.harvest();
    assert_eq!(
        (counted(&same), same.spent.requests),
        ([1, 1, 299, 0], 2),
        "{:?}",
        same.sources
    );
}

#[test]
fn a_ckan_portal_that_cannot_be_relied_on_is_read_whole() {
    let unsorted = Clocked {
        sorts: false,
        ..Clocked::with_packages(300)
    };
    let mut undated = Clocked::with_packages(300);
    undated
        .packages
        .values_mut()
        .for_each(|package| package.3.clear());
    let mut dates = Clocked::with_packages(300);
    dates
        .packages
        .values_mut()
        .zip(1..)
        .for_each(|(package, day)| package.3 = format!("2024-01-{:02}T00:00:00", day % 28 + 1));
    for portal in [unsorted, undated, dates] {
        let mut work = Clockwork::new(portal);
        for change in 0..3 {
            let report = work.harvest();
            assert_eq!(
                (report.spent.requests, report.sources[0].not_requested),
                (1 + 3, 0),
                "{:?}",
                report.sources
            );
            work.change(|portal| {
                let moment = portal.packages[&9].3.clone();
                portal.put_at(9, &format!("Changed {change}"), &moment);
            });
        }
    }
    // One that sorted, and does not any more.
    let mut work = Clockwork::new(Clocked::with_packages(300));
    work.harvest();
    work.change(|portal| {
        portal.sorts = false;
        portal.put(200, "Changed");
    });
    let report = work.harvest();
    assert_eq!(
        (counted(&report), report.spent.requests),
        ([0, 1, 299, 0], 1 + 3)
    );
    assert!(!doubt(&report).is_empty());
    assert_eq!(doubt(&work.harvest()), "", "it is not known any more");
}

#[test]
fn a_ckan_portal_is_read_whole_when_asked_and_when_due() {
    let mut work = Clockwork::new(Clocked::with_packages(300));
    work.harvest();
    // Changed without a new moment: nothing but a whole reading finds it.
    work.change(|portal| portal.put_at(9, "Silently", &Clocked::moment(10)));
    let twice = || HarvestOptions {
        full_harvest_every: 2,
        ..options()
    };
    for _ in 0..2 {
        let report = work.harvest_with(twice());
        assert_eq!(
            (counted(&report), report.spent.requests),
            ([0, 0, 300, 0], 1)
        );
    }
    let due = work.harvest_with(twice());
    work.is_right(&due);
    assert_eq!((counted(&due), due.spent.requests), ([0, 1, 299, 0], 1 + 3));
    assert_eq!(doubt(&due), "it is due after 2 incremental harvests");
    assert_eq!(work.harvest_with(twice()).spent.requests, 1, "counted anew");
    let asked = work.harvest_with(HarvestOptions {
        full_harvest_every: 0,
        ..options()
    });
    assert_eq!(
        (asked.spent.requests, doubt(&asked)),
        (1 + 3, "incremental harvests are disabled")
    );
    assert_eq!(work.harvest().spent.requests, 1);
    // A kept page that is lost.
    let files = work.folder.path().join("here/files");
    let largest = std::fs::read_dir(files)
        .expect("files")
        .map(|file| file.expect("a file").path());
    let largest = largest
        .max_by_key(|path| path.metadata().expect("there").len())
        .expect("a file");
    std::fs::remove_file(largest).expect("removed");
    let lost = work.harvest();
    assert_eq!(
        (counted(&lost), lost.spent.requests),
        ([0, 0, 300, 0], 1 + 3)
    );
    assert!(doubt(&lost).contains("is missing"), "{}", doubt(&lost));
}

/// A harvest that breaks off among the changes loses nothing, and the next one goes on from what was known before.
#[test]
fn changes_that_are_not_had_to_their_end() {
    let mut work = Clockwork::new(Clocked::with_packages(300));
    work.harvest();
    work.change(|portal| {
        (0..150).for_each(|number| portal.put(number, "Changed"));
        portal.packages.remove(&299);
        portal.put(300, "Added");
    });
    let few = Budget {
        requests: 2,
        ..Budget::default()
    };
    let broken = work.harvest_with(HarvestOptions {
        budget: few,
        ..options()
    });
    assert!(
        !broken.is_whole() && work.heap.removed.is_empty() && work.heap.titles.len() == 300,
        "{broken:?}"
    );
    let next = work.harvest();
    assert_eq!(counted(&next), [1, 150, 149, 1], "{:?}", next.sources);
}

/// A file may change though its package does not.
#[test]
fn files_of_packages_that_did_not_change_are_asked_for() {
    let mut work = Clockwork::new(Clocked::with_packages(20));
    let url = work.portal.iri("/file.nt");
    work.change(|portal| portal.resource = Some((url.clone(), TRIPLE.to_owned())));
    let download = || HarvestOptions {
        downloads: Downloads::Content,
        ..options()
    };
    let first = work.harvest_with(download());
    assert_eq!(
        (counted(&first), first.new_files),
        ([20, 0, 0, 0], 1),
        "{first:?}"
    );
    work.change(|portal| portal.resource = Some((url, TRIPLE.replace("/b>", "/c>"))));
    let second = work.harvest_with(download());
    assert_eq!(
        (counted(&second), second.new_files),
        ([0, 20, 0, 0], 1),
        "{second:?}"
    );
    assert_eq!(
        (second.sources[0].not_requested, second.sources[0].pages),
        (15, 1)
    );
}

const TRIPLE: &str = "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("packed");
    encoder.finish().expect("packed")
}

/// A dump whose lines differ, so that packing does not make it small.
fn dump(lines: usize) -> String {
    (0..lines)
        .map(|line| {
            format!(
                "<http://e.org/{line}> <http://e.org/p> \"{}\" .\n",
                line * 7919 % 104_729
            )
        })
        .collect()
}

/// A portal of datasets with one file each.
fn files(names: &[&str]) -> String {
    let mut text = PREFIXES.to_owned();
    for (number, name) in names.iter().enumerate() {
        text += &described(number, "With a file");
        let place = if name.contains("://") {
            (*name).to_owned()
        } else {
            format!("/{name}")
        };
        let _ = writeln!(
            text,
            "<http://e.org/set/s{number}> dcat:distribution [ dcat:downloadURL <{place}> ] ."
        );
    }
    text
}

#[test]
fn files_that_break_do_not_stop_the_others() {
    let names = [
        "good.nt",
        "cut.nt.gz",
        "slow.nt",
        "away.nt",
        "private/secret.nt",
        "broken.nt",
        "none.nt",
        "http://169.254.169.254/latest/meta-data.nt",
        "file:///etc/passwd.nt",
        "leaflet.pdf",
        "packed.nt.gz",
        "relative.ttl",
        "wells.csv",
    ];
    let whole = dump(20_000);
    let body = whole.clone();
    let portal = Portal::start(move |asked| match asked.path.as_str() {
        "/feed" => Reply::turtle(files(&names)),
        "/robots.txt" => Reply::new(
            200,
            "text/plain",
            "User-agent: *\nDisallow: /private/\nCrawl-delay: 0\n\nUser-agent: other\nDisallow: /\n",
        ),
        "/good.nt" => Reply::new(200, "application/n-triples", TRIPLE).tagged(asked),
        "/relative.ttl" => Reply::turtle("<#a> <b> <../c> ."),
        "/wells.csv" => Reply::new(200, "text/csv", "well,depth\nElm,21\nOak,35\n").tagged(asked),
        "/packed.nt.gz" => Reply::new(200, "application/gzip", gzip(TRIPLE)).tagged(asked),
        "/cut.nt.gz" => {
            let mut packed = gzip(&dump(1000));
            packed.truncate(packed.len() / 2);
            Reply::new(200, "application/gzip", packed)
        }
        "/slow.nt" => Reply {
            delay: 2 * TEST_TIMEOUT,
            ..Reply::new(200, "application/n-triples", TRIPLE)
        },
        "/away.nt" => Reply::status(302).with("Location", "http://127.0.0.2:9/secret"),
        "/broken.nt" => {
            let start = asked.header("range").and_then(|range| {
                range
                    .strip_prefix("bytes=")?
                    .strip_suffix('-')?
                    .parse::<usize>()
                    .ok()
            });
            let start = start.filter(|_| asked.header("if-range") == Some("\"v1\""));
            let rest = body.as_bytes()[start.unwrap_or(0)..].to_vec();
            let cut = (asked.times < 2).then_some(rest.len() / 3);
            let status = if start.is_some() { 206 } else { 200 };
            let range = format!(
                "bytes {}-{}/{}",
                start.unwrap_or(0),
                body.len() - 1,
                body.len()
            );
            Reply {
                cut,
                ..Reply::new(status, "application/n-triples", rest)
            }
            .with("ETag", "\"v1\"")
            .with("Content-Range", &range)
        }
        _ => Reply::status(404),
    });
    let (folder, home) = (folder(), Home::new());
    let options = || HarvestOptions {
        downloads: Downloads::Content,
        request_timeout: Duration::from_secs(1),
        existing_ids: home.store.ids().expect("ids").into_iter().collect(),
        ..options()
    };
    let started = Instant::now();
    let report = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        options(),
    );
    assert!(started.elapsed() < TEST_TIMEOUT);
    assert_eq!(
        (report.new.len(), report.files),
        (names.len(), 5),
        "{report:#?}"
    );
    let reason = |name: &str| {
        report
            .failed_files
            .iter()
            .find(|f| f.what.contains(name))
            .map(|f| f.reason.clone())
            .unwrap_or_default()
    };
    for (name, expected) in [
        ("cut.nt.gz", "truncated or damaged"),
        ("slow.nt", "timed out"),
        ("away.nt", "redirect to a forbidden address"),
        ("secret.nt", "robots.txt does not allow it"),
        ("none.nt", "status 404"),
        ("meta-data.nt", "not in the allow list"),
        ("passwd.nt", "only http and https"),
    ] {
        assert!(reason(name).contains(expected), "{name}: {}", reason(name));
    }
    assert_eq!(report.failed_files.len(), 7, "{:#?}", report.failed_files);
    let triples = |number: usize| {
        let entry = home
            .store
            .entry(&id(&format!("s{number}")))
            .expect("an entry");
        home.store.content(&entry).expect("content").len()
    };
    assert_eq!([0, 1, 5, 10, 11].map(triples), [1, 0, 20_000, 1, 1]);
    let entry = home.store.entry(&id("s11")).expect("an entry");
    let content = home.store.content(&entry).expect("content");
    assert!(
        content.iri(&portal.iri("/relative.ttl#a")).is_some(),
        "relative to where it was had"
    );
    let entry = home.store.entry(&id("s12")).expect("an entry");
    let table = home.store.content(&entry).expect("content");
    let depth = portal.iri("/wells.csv#depth");
    assert!(table.iri(&depth).is_some(), "a table is content");
    let asked = portal.asked();
    assert!(
        !asked.iter().any(|path| path.contains("secret")),
        "{asked:?}"
    );
    assert_eq!(asked.iter().filter(|path| *path == "/broken.nt").count(), 3);
    // The beginning of the broken file was sent once: what was read is the file and no more than the others are long.
    assert!(
        report.spent.bytes < whole.len() as u64 + 40_000,
        "{} of {}",
        report.spent.bytes,
        whole.len()
    );
    // Again: what failed is tried again, nothing is loaded, and without files the copies stay.
    let again = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        options(),
    );
    assert_eq!(
        (again.unchanged, again.changed.len(), again.new_files),
        (names.len() as u64, 0, 0),
        "{again:#?}"
    );
    let without = HarvestOptions {
        downloads: Downloads::None,
        ..options()
    };
    harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        without,
    );
    assert_eq!([0, 5, 10].map(triples), [1, 20_000, 1]);
}

/// Ranges refer to the encoded content, but the received part is decompressed.
#[test]
fn a_compressed_response_is_not_resumed() {
    let packed = gzip(&dump(20_000));
    let portal = Portal::start(move |asked| match asked.path.as_str() {
        "/feed" => Reply::turtle(files(&["a.nt"])),
        "/a.nt" if asked.header("range").is_some() => {
            Reply::status(206).with("Content-Range", "bytes 0-0/1")
        }
        "/a.nt" => {
            let cut = (asked.times == 0).then_some(packed.len() / 2);
            Reply {
                cut,
                ..Reply::new(200, "application/n-triples", packed.clone())
            }
            .with("Content-Encoding", "gzip")
            .with("ETag", "\"v1\"")
        }
        _ => Reply::status(404),
    });
    let (folder, home) = (folder(), Home::new());
    let options = HarvestOptions {
        downloads: Downloads::Content,
        ..options()
    };
    let report = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        options,
    );
    assert_eq!(
        (report.files, report.failed_files.len()),
        (1, 0),
        "{report:#?}"
    );
    let requests = portal
        .asked()
        .iter()
        .filter(|path| *path == "/a.nt")
        .count();
    assert_eq!(requests, 2, "the second one is for the whole file");
    let entry = home.store.entry(&id("s0")).expect("an entry");
    assert_eq!(home.store.content(&entry).expect("content").len(), 20_000);
}

#[test]
fn the_host_that_a_file_is_moved_to_is_asked_for_its_rules() {
    let other = Portal::start(|asked| match asked.path.as_str() {
        "/robots.txt" => Reply::new(200, "text/plain", "User-agent: *\nDisallow: /hidden/\n"),
        _ => Reply::new(200, "application/n-triples", TRIPLE),
    });
    let places = ["open.nt", "hidden/secret.nt"].map(|name| other.iri(&format!("/{name}")));
    let portal = Portal::start(move |asked| match asked.path.as_str() {
        "/feed" => Reply::turtle(files(&["a.nt", "b.nt"])),
        "/a.nt" => Reply::status(302).with("Location", &places[0]),
        "/b.nt" => Reply::status(302).with("Location", &places[1]),
        _ => Reply::status(404),
    });
    let (folder, home) = (folder(), Home::new());
    let options = HarvestOptions {
        downloads: Downloads::Content,
        ..options()
    };
    let egress = egress(&[&portal, &other]);
    let harvester = Harvester::new(&egress, folder.path(), "here").with_options(options);
    let report = harvester
        .run(&[portal.iri("/feed")], &mut Kept(&home.store), &|_| ())
        .expect("harvested");
    assert_eq!(
        (report.files, report.failed_files.len()),
        (1, 1),
        "{report:#?}"
    );
    assert!(
        report.failed_files[0]
            .reason
            .contains("robots.txt does not allow it"),
        "{report:#?}"
    );
    assert_eq!(other.asked(), ["/robots.txt", "/open.nt"]);
}

/// RFC 9309, section 2.3.1: without a `robots.txt` (4xx) everything is allowed; if it is unreachable (5xx), nothing is. A busy
/// host (429) has not stated that it has no rules.
#[test]
fn an_unreachable_robots_txt_forbids_downloads() {
    for (status, allowed) in [
        (404, true),
        (403, true),
        (429, false),
        (500, false),
        (503, false),
    ] {
        let portal = Portal::start(move |asked| match asked.path.as_str() {
            "/feed" => Reply::turtle(files(&["a.nt"])),
            "/robots.txt" => Reply::status(status),
            _ => Reply::new(200, "application/n-triples", TRIPLE),
        });
        let (folder, home) = (folder(), Home::new());
        let options = HarvestOptions {
            downloads: Downloads::Content,
            ..options()
        };
        let report = harvest(
            &portal,
            "/feed",
            folder.path(),
            &mut Kept(&home.store),
            options,
        );
        assert_eq!(
            portal.asked().iter().any(|path| path == "/a.nt"),
            allowed,
            "status {status}: {report:#?}"
        );
        assert_eq!(
            report.failed_files.len(),
            usize::from(!allowed),
            "status {status}"
        );
    }
}

#[test]
fn content_stays_where_its_file_cannot_be_had() {
    let broken = Arc::new(Mutex::new(false));
    let shared = Arc::clone(&broken);
    let portal = Portal::start(move |asked| {
        match (asked.path.as_str(), *shared.lock().expect("unharmed")) {
            ("/feed", false) => Reply::turtle(files(&["a.nt"])),
            ("/feed", true) => Reply::turtle(files(&["a.nt"]).replace("With a file", "Renamed")),
            ("/a.nt", false) => Reply::new(200, "application/n-triples", TRIPLE),
            ("/robots.txt", _) => Reply::status(404),
            _ => Reply::status(503),
        }
    });
    let (folder, home) = (folder(), Home::new());
    let options = || HarvestOptions {
        downloads: Downloads::Content,
        ..options()
    };
    let first = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        options(),
    );
    assert!(first.is_clean() && first.new == [id("s0")], "{first:?}");
    *broken.lock().expect("unharmed") = true;
    let second = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        options(),
    );
    assert!(
        !second.is_clean() && second.changed == [id("s0")] && second.failed_files.len() == 1,
        "{second:?}"
    );
    let entry = home.store.entry(&id("s0")).expect("an entry");
    assert_eq!(
        (
            entry.dataset.metadata.title(),
            home.store.content(&entry).expect("content").len()
        ),
        ("Renamed 0", 1)
    );
    // Without a copy the dataset stays as it was, and is tried again.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let third = harvest(
        &portal,
        "/feed",
        elsewhere.path(),
        &mut Kept(&home.store),
        options(),
    );
    assert_eq!(third.kept, [id("s0")], "{third:?}");
    let entry = home.store.entry(&id("s0")).expect("an entry");
    assert_eq!(home.store.content(&entry).expect("content").len(), 1);
}

#[test]
fn removed_datasets_leave_nothing_behind() {
    let all = Arc::new(Mutex::new(3));
    let shared = Arc::clone(&all);
    let portal =
        Portal::start(move |asked| feed_reply(asked, 10, *shared.lock().expect("unharmed")));
    let (folder, home) = (folder(), Home::new());
    harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        options(),
    );
    home.index();
    let mentions = |store: &Arc<Store>| {
        let node = super::support::iri("s2");
        let node = node.trim_matches(['<', '>']);
        super::support::count(
            store,
            &format!(
                "SELECT (COUNT(*) AS ?n) {{ {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} }}
                   FILTER(STRSTARTS(STR(?s), '{node}') || STRSTARTS(STR(?o), '{node}')) }}"
            ),
        )
    };
    assert!(mentions(&home.store) > 5 && home.store.records().expect("records").len() == 3);
    assert_eq!(home.found("set").len(), 3);
    *all.lock().expect("unharmed") = 2;
    let report = harvest(
        &portal,
        "/feed",
        folder.path(),
        &mut Kept(&home.store),
        options(),
    );
    assert_eq!(
        report
            .sources
            .iter()
            .flat_map(|source| &source.gone)
            .collect::<Vec<_>>(),
        [&id("s2")]
    );
    assert_eq!(mentions(&home.store), 0);
    assert_eq!(home.store.ids().expect("ids"), [id("s0"), id("s1")]);
    assert_eq!(home.store.records().expect("records").len(), 2);
    home.index();
    assert_eq!(home.found("set").len(), 2);
    assert_eq!(
        home.store
            .remove(&[id("s2"), id("never")])
            .expect("nothing to do"),
        0
    );
}

#[test]
fn pages_of_other_forms_and_what_they_point_to() {
    let portal = Portal::start(|asked| match asked.path.as_str() {
        "/page" => Reply::new(
            200,
            "text/html",
            r#"<!doctype html><script type="application/ld+json">{"@context": "https://schema.org/",
            "@type": "Dataset", "@id": "http://e.org/one", "name": "One", "description": "It is one",
            "distribution": {"@type": "DataDownload", "contentUrl": "files/one.nt"}}</script>"#,
        ),
        "/" => Reply::new(
            200,
            "text/html",
            r#"<!doctype html><link rel="alternate" type="text/turtle" href="feed.ttl">"#,
        ),
        "/feed.ttl" => Reply::turtle(format!("{PREFIXES}{}", described(5, "Alternate"))),
        "/data.json" => Reply::json(
            &serde_json::json!({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [
            {"identifier": "j1", "title": "J", "distribution": [{"downloadURL": "../j.nt", "format": "N-Triples"}]}]}),
        ),
        "/a/j.nt" | "/files/one.nt" | "/j.nt" => Reply::new(200, "application/n-triples", TRIPLE),
        "/trees.nt" => Reply::new(200, "application/n-triples", TRIPLE),
        "/empty" => Reply::new(200, "text/html", "<!doctype html><p>nothing"),
        _ => Reply::status(404),
    });
    let home = Home::new();
    for (path, expected, form) in [
        ("/page", "one", "schema.org"),
        ("/", "s5", "dcat"),
        ("/data.json", "j1", "data.json"),
        ("/trees.nt", "trees", "dump"),
    ] {
        let options = HarvestOptions {
            downloads: Downloads::Content,
            ..options()
        };
        let report = harvest(
            &portal,
            path,
            folder().path(),
            &mut Kept(&home.store),
            options,
        );
        assert_eq!(
            (report.new.as_slice(), report.sources[0].form.as_deref()),
            ([id(expected)].as_slice(), Some(form)),
            "{report:#?}"
        );
        assert!(report.is_clean(), "{report:#?}");
    }
    for with_content in ["one", "j1", "trees"] {
        let entry = home.store.entry(&id(with_content)).expect("an entry");
        assert_eq!(
            home.store.content(&entry).expect("content").len(),
            1,
            "{with_content}"
        );
    }
    let nothing = harvest(
        &portal,
        "/empty",
        folder().path(),
        &mut Kept(&home.store),
        options(),
    );
    assert!(
        nothing.sources[0].form.is_none()
            && nothing.sources[0].failed[0]
                .reason
                .contains("without a description"),
        "{nothing:?}"
    );
}

#[test]
fn changing_tags_are_no_change() {
    let portal = Portal::start(|asked| {
        Reply::turtle(format!("{PREFIXES}{}", described(1, "Same")))
            .with("ETag", &format!("\"{}\"", asked.times))
    });
    let (folder, mut heap) = (folder(), Heap::default());
    again(&portal, "/feed", &folder, &mut heap);
    let second = again(&portal, "/feed", &folder, &mut heap);
    assert_eq!(
        (second.unchanged, second.spent.not_modified, heap.batches),
        (1, 0, 1)
    );
}

/// A file that changes twice within one second has one `Last-Modified`, and servers answer conditional requests with it by 304.
#[test]
fn a_change_within_the_second_of_the_first_request_is_found() {
    const MODIFIED: &str = "Mon, 23 Nov 2026 10:00:00 GMT";
    for (date, title) in [
        (MODIFIED, "Second 1"),
        ("Mon, 23 Nov 2026 10:00:01 GMT", "First 1"),
    ] {
        let portal = Portal::start(move |asked| {
            let reply = match (asked.times, asked.header("if-modified-since")) {
                (1.., Some(time)) if time == MODIFIED => Reply::new(304, "text/plain", ""),
                (0, _) => Reply::turtle(format!("{PREFIXES}{}", described(1, "First"))),
                _ => Reply::turtle(format!("{PREFIXES}{}", described(1, "Second"))),
            };
            reply.with("Last-Modified", MODIFIED).with("Date", date)
        });
        let (folder, mut heap) = (folder(), Heap::default());
        again(&portal, "/feed", &folder, &mut heap);
        again(&portal, "/feed", &folder, &mut heap);
        let titles: Vec<&String> = heap.titles.values().collect();
        assert_eq!(titles, [title], "with Date {date}");
    }
}

/// Our own feed, all its pages, into another home: the same datasets with the same descriptions.
#[test]
fn our_own_feed_comes_back() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .expect("a port");
    let root = format!("http://{}/", listener.local_addr().expect("an address"));
    let (first, second, kept) = (folder(), Home::new(), folder());
    let iris = lodeseek_catalog::Iris::new(&root).expect("a base");
    let store = Store::in_memory(first.path(), iris.clone()).expect("a store");
    let catalog = Catalog::read(&super::support::testdata("catalog.ttl")).expect("a catalogue");
    Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
    lodeseek_engine::Indexer::new(&store, lodeseek_engine::IndexOptions::default())
        .run(&|_| ())
        .expect("indexed");
    let entries = store.entries().expect("entries");
    let searcher = lodeseek_engine::Searcher::open(first.path()).expect("an index");
    let state = lodeseek_server::AppState::new(searcher, store, super::support::limits());
    runtime.spawn(async move { axum::serve(listener, lodeseek_server::app(state)).await });
    let policy = EgressPolicy {
        listed: vec![root.parse().expect("a prefix")],
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    };
    let egress = Egress::new(policy);
    let harvester = Harvester::new(&egress, kept.path(), "ours").with_options(options());
    let sources = [format!("{root}catalog.ttl?rows=2")];
    let report = harvester
        .run(&sources, &mut Kept(&second.store), &|_| ())
        .expect("harvested");
    assert!(
        report.is_clean() && report.sources[0].pages == entries.len().div_ceil(2) as u64,
        "{report:#?}"
    );
    assert!(entries.len() > 4, "several pages");
    for entry in entries {
        let before = entry.dataset.metadata;
        let after = second
            .store
            .entry(&before.id)
            .expect("harvested")
            .dataset
            .metadata;
        assert_eq!(
            after.source.as_deref(),
            Some(iris.dataset(&before.id).as_str())
        );
        assert_eq!(
            (&after.titles, &after.keywords, &after.themes),
            (&before.titles, &before.keywords, &before.themes)
        );
        assert!(before.descriptions.is_empty() || after.descriptions == before.descriptions);
        let names = |agents: &[lodeseek_catalog::Agent]| {
            agents
                .iter()
                .map(|a| a.name.clone())
                .collect::<BTreeSet<_>>()
        };
        assert_eq!(names(&after.creators), names(&before.creators));
    }
    let options = HarvestOptions {
        existing_ids: second.store.ids().expect("ids").into_iter().collect(),
        ..options()
    };
    let again = Harvester::new(&egress, kept.path(), "ours").with_options(options);
    let again = again
        .run(&sources, &mut Kept(&second.store), &|_| ())
        .expect("harvested");
    assert_eq!(
        (again.spent.not_modified, again.spent.bytes),
        (report.spent.requests, 0),
        "{again:#?}"
    );
    assert_eq!(again.unchanged as usize, report.new.len());
}

#[cfg(feature = "rocksdb")]
mod by_the_program {
    #![expect(clippy::print_stderr, reason = "a test that skips says so")]

    use super::super::support::{AS_INDEXED, program, run, run_with};
    use super::*;
    use std::process::{Child, Command};

    #[test]
    fn harvested_reported_and_harvested_again() {
        let portal = Portal::start(|asked| feed_reply(asked, 10, 40));
        let home = folder();
        let report = home.path().join("report.json");
        let feed = portal.iri("/feed");
        let arguments = [
            "harvest",
            &feed,
            "--allow-private-network",
            "127.0.0.0/8",
            "--pause",
            "0",
            "--report",
            report.to_str().expect("UTF-8"),
        ];
        let first = run(home.path(), &arguments);
        assert!(
            first.code == Some(0) && first.err.contains("40 new, 0 changed, 0 unchanged, 0 gone"),
            "{first:?}"
        );
        let second = run(home.path(), &arguments);
        assert!(
            second
                .err
                .contains("0 new, 0 changed, 40 unchanged, 0 gone (0 removed)"),
            "{second:?}"
        );
        let text = std::fs::read_to_string(&report).expect("a report");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            (&json["unchanged"], &json["not_modified"]),
            (&serde_json::json!(40), &serde_json::json!(4))
        );
        let refused = run(home.path(), &["harvest", &feed]);
        assert!(
            refused.code == Some(2)
                && refused
                    .err
                    .contains("allow it with --allow-private-network"),
            "{refused:?}"
        );
        // The networks of the configuration are allowed, too.
        let settings = home.path().join("lodeseek.toml");
        let text = std::fs::read_to_string(&settings).expect("settings");
        let text = format!("{text}\n[service]\nprivate-networks = [\"127.0.0.0/8\"]\n");
        std::fs::write(&settings, text).expect("written");
        let configured = run(home.path(), &["harvest", &feed, "--pause", "0"]);
        assert!(
            configured.code == Some(0) && configured.err.contains("40 unchanged"),
            "{configured:?}"
        );
        // A server repeats the harvest with the options of this one.
        let records = lodeseek_changes::harvest_records(home.path());
        let last = &records.first().expect("a record").request;
        assert_eq!((last.sources.as_slice(), last.pause), (&[feed][..], 0));
        assert!(last.private_networks.is_empty());
        let local = run(home.path(), &["harvest", "testdata/catalog.ttl"]);
        assert!(local.code.is_some(), "{local:?}");
    }

    /// The program while it runs, its messages kept in a file.
    struct Going {
        child: Child,
        said: TempDir,
    }

    impl Going {
        fn start(home: &Path, arguments: &[&str]) -> Self {
            let said = folder();
            let file = std::fs::File::create(said.path().join("said")).expect("a file");
            let child = program(home)
                .args(arguments)
                .stderr(file)
                .spawn()
                .expect("started");
            Self { child, said }
        }

        fn said(&self) -> String {
            std::fs::read_to_string(self.said.path().join("said")).expect("UTF-8")
        }

        fn wait_for(&self, what: &str, is_so: impl Fn(&str) -> bool) {
            let started = Instant::now();
            while !is_so(&self.said()) {
                assert!(started.elapsed() < TEST_TIMEOUT, "{what}: {}", self.said());
                thread::sleep(Duration::from_millis(100));
            }
        }

        /// Stops it; returns its exit status and its messages.
        fn end(mut self) -> (Option<i32>, String) {
            let asked = Command::new("sh")
                .args(["-c", &format!("kill -TERM {}", self.child.id())])
                .status();
            assert!(asked.expect("a shell").success());
            let started = Instant::now();
            let ended = loop {
                if let Some(status) = self.child.try_wait().expect("it can be asked") {
                    break status;
                }
                assert!(
                    started.elapsed() < TEST_TIMEOUT,
                    "it goes on: {}",
                    self.said()
                );
                thread::sleep(Duration::from_millis(20));
            };
            (ended.code(), self.said())
        }
    }

    impl Drop for Going {
        fn drop(&mut self) {
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }

    /// Two datasets, the title of the first as the test has it.
    fn titled(title: &Arc<Mutex<String>>) -> Portal {
        let shared = Arc::clone(title);
        Portal::start(move |asked| {
            let title = shared.lock().expect("unharmed").clone();
            Reply::turtle(format!(
                "{PREFIXES}{}{}",
                described(1, &title),
                described(2, "Steady")
            ))
            .tagged(asked)
        })
    }

    const EVERY: [&str; 6] = [
        "--allow-private-network",
        "127.0.0.0/8",
        "--pause",
        "0",
        "--every",
        "1s",
    ];

    /// The ids that the program finds; none while the home is not to be read.
    fn found(home: &Path, word: &str) -> Vec<String> {
        let ran = run(home, &["search", "--json", word]);
        let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
        let hits = answer["hits"].as_array().cloned().unwrap_or_default();
        hits.iter()
            .map(|hit| hit["id"].as_str().expect("an id").to_owned())
            .collect()
    }

    #[test]
    fn again_and_again_until_it_is_told_to_end() {
        let title = Arc::new(Mutex::new("Quokka".to_owned()));
        let portal = titled(&title);
        let (home, feed) = (folder(), portal.iri("/feed"));
        let going = Going::start(home.path(), &[&["harvest", &feed][..], &EVERY].concat());
        going.wait_for("the first round is found", |_| {
            found(home.path(), "quokka") == ["s1"]
        });
        assert!(found(home.path(), "wombat").is_empty() && found(home.path(), "steady") == ["s2"]);
        "Wombat".clone_into(&mut title.lock().expect("unharmed"));
        going.wait_for("a later round is found", |_| {
            found(home.path(), "wombat") == ["s1"]
        });
        assert!(found(home.path(), "quokka").is_empty() && found(home.path(), "steady") == ["s2"]);
        going.wait_for("a round without a change", |said| {
            said.contains("0 new, 0 changed, 2 unchanged")
        });
        let (code, said) = going.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(
            said.contains("0 new, 1 changed, 1 unchanged") && !said.contains("retrying"),
            "{said}"
        );
        portal.asked();
        thread::sleep(Duration::from_millis(1500));
        assert!(portal.asked().is_empty(), "it is over");
    }

    #[test]
    fn what_waits_for_a_portal_ends_too() {
        let portal = Portal::start(|_| Reply {
            delay: Duration::from_secs(60),
            ..Reply::status(200)
        });
        let (home, feed) = (folder(), portal.iri("/feed"));
        let going = Going::start(home.path(), &[&["harvest", &feed][..], &EVERY].concat());
        going.wait_for("a request", |_| {
            !portal.asked.lock().expect("unharmed").is_empty()
        });
        let (code, said) = going.end();
        assert!(
            code == Some(0) && !said.contains("retrying"),
            "{code:?} {said}"
        );
    }

    #[test]
    fn vectors_are_made_where_models_are_given() {
        const DPR: &str = "testdata/models/sentence-transformers";
        let title = Arc::new(Mutex::new("Quokka".to_owned()));
        let portal = titled(&title);
        let (home, feed) = (folder(), portal.iri("/feed"));
        let nowhere = run(
            home.path(),
            &[&["harvest", &feed, "--dpr", "nowhere"][..], &EVERY].concat(),
        );
        assert!(
            nowhere.code == Some(2) && nowhere.err.contains("the model nowhere was not found in"),
            "{nowhere:?}"
        );
        let once = run(home.path(), &["harvest", &feed, "--dpr", DPR]);
        assert!(
            once.code == Some(2) && once.err.contains("require --every"),
            "{once:?}"
        );
        assert!(portal.asked().is_empty(), "nothing was asked");
        if std::env::var_os("ORT_DYLIB_PATH").is_none() {
            eprintln!(
                "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH, or use `make test`"
            );
            return;
        }
        let going = Going::start(
            home.path(),
            &[&["harvest", &feed, "--dpr", DPR][..], &EVERY].concat(),
        );
        going.wait_for("all are encoded", |said| {
            said.contains("2 datasets encoded, DPR vectors by sentence-transformers")
        });
        "Wombat".clone_into(&mut title.lock().expect("unharmed"));
        going.wait_for("what changed is encoded", |said| {
            said.contains("1 dataset encoded")
        });
        let (code, said) = going.end();
        assert!(
            code == Some(0) && !said.contains("no up-to-date vectors"),
            "{said}"
        );
        let model = ("LODESEEK_ENCODERS_DPR", DPR);
        let near = run_with(
            home.path(),
            &[AS_INDEXED, model],
            &["search", "--json", "wombat"],
        );
        let answer: serde_json::Value = serde_json::from_str(&near.out).expect("JSON");
        assert!(
            answer["hits"][0]["id"] == "s1" && answer["hits"][0]["dense"].is_array(),
            "{answer}"
        );
        // Without the model the vectors fall behind, and a message reports it.
        "Numbat".clone_into(&mut title.lock().expect("unharmed"));
        let going = Going::start(home.path(), &[&["harvest", &feed][..], &EVERY].concat());
        going.wait_for("one is without", |said| {
            said.contains("MB; 1 dataset has no up-to-date vectors")
        });
        assert_eq!(going.end().0, Some(0));
        let indexed = run(home.path(), &["index", "--dpr", DPR]);
        assert!(
            indexed.err.contains("1 dataset encoded")
                && !indexed.err.contains("no up-to-date vectors"),
            "{indexed:?}"
        );
    }

    #[test]
    fn killed_and_gone_on_with() {
        let portal = Portal::start(|asked| feed_reply(asked, 10, 400));
        let (home, feed) = (folder(), portal.iri("/feed"));
        let arguments = [
            "harvest",
            &feed,
            "--allow-private-network",
            "127.0.0.0/8",
            "--name",
            "killed",
        ];
        let mut child = program(home.path())
            .args(arguments)
            .args(["--pause", "200"])
            .spawn()
            .expect("started");
        let started = Instant::now();
        while portal.asked.lock().expect("unharmed").len() < 20 && started.elapsed() < TEST_TIMEOUT
        {
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        let ended = run(
            home.path(),
            &[&arguments[..], &["--pause", "0", "--report", "/dev/stdout"]].concat(),
        );
        assert!(
            ended.code == Some(0) && ended.err.contains("400 new"),
            "{ended:?}"
        );
        let json: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
        assert!(
            json["not_modified"].as_u64() >= Some(5),
            "pages had are not asked for as a whole: {}",
            json["not_modified"]
        );
    }
}
