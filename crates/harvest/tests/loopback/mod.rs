//! A server on loopback, and a sink without a store.

use lodeseek_catalog::DatasetId;
use lodeseek_harvest::{
    Batch, DatasetSink, HarvestOptions, HarvestReport, Harvester, StoreOutcome,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// A request: its path with the query, its headers in lower case, and its body.
pub(crate) struct Asked {
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.path.split_once('?')?;
        form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }

    pub(crate) fn with_body(&self, body: String) -> Self {
        Self {
            path: self.path.clone(),
            headers: self.headers.clone(),
            body,
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.parameter(name)?.parse().ok()
    }
}

/// A response.
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Number of bytes of the body after which the connection is closed.
    cut: Option<usize>,
}

impl Reply {
    pub(crate) fn new(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
        Self {
            status,
            headers,
            body: body.into(),
            cut: None,
        }
    }

    pub(crate) fn turtle(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/turtle", body)
    }

    pub(crate) fn json(body: &serde_json::Value) -> Self {
        Self::new(200, "application/json", body.to_string())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::new(status, "text/plain", "that is how it is")
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn cut_at(self, bytes: usize) -> Self {
        Self {
            cut: Some(bytes),
            ..self
        }
    }

    /// Adds a tag of the body, and leaves the body out if the client has it.
    pub(crate) fn tagged(mut self, asked: &Asked) -> Self {
        let hash = self
            .body
            .iter()
            .fold(7u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(*byte));
        let tag = format!("\"{hash:x}\"");
        if asked.header("if-none-match") == Some(&tag) {
            (self.status, self.body) = (304, Vec::new());
        }
        self.headers.push(("ETag".to_owned(), tag));
        self
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {} So\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if self.status != 304 {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(&self.body[..self.cut.unwrap_or(self.body.len())])
    }
}

/// A server on loopback, for as long as the tests run.
pub(crate) struct Portal {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Portal {
    pub(crate) fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let (all, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let log = Arc::clone(&all);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || {
                    let Some(asked) = read(&stream) else {
                        return;
                    };
                    log.lock().expect("unharmed").push(asked.path.clone());
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
    let length = headers.get("content-length");
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        path,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Sink that records titles without a store.
#[derive(Default)]
pub(crate) struct Heap {
    pub(crate) titles: BTreeMap<DatasetId, String>,
    pub(crate) removed: Vec<DatasetId>,
}

impl DatasetSink for Heap {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let stored = batch.datasets.into_iter().map(|dataset| {
            let id = dataset.metadata.id.clone();
            let title = dataset.metadata.title().to_owned();
            self.titles.insert(id.clone(), title);
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

pub(crate) fn options() -> HarvestOptions {
    HarvestOptions {
        pause: Duration::ZERO,
        backoff: vec![Duration::from_millis(1)],
        ..HarvestOptions::default()
    }
}

/// Harvests a path. Requests are permitted to the server alone.
pub(crate) fn harvest(
    portal: &Portal,
    path: &str,
    folder: &Path,
    sink: &mut dyn DatasetSink,
    options: HarvestOptions,
) -> HarvestReport {
    let egress = Egress::new(EgressPolicy {
        listed: vec![portal.iri("/").parse().expect("a prefix")],
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    });
    let harvester = Harvester::new(&egress, folder, "here").with_options(options);
    harvester
        .run(&[portal.iri(path)], sink, &|_| ())
        .expect("harvested")
}

/// Harvests a path into a home that has the datasets of the sink.
pub(crate) fn again(
    portal: &Portal,
    path: &str,
    folder: &TempDir,
    heap: &mut Heap,
) -> HarvestReport {
    let options = HarvestOptions {
        existing_ids: heap.titles.keys().cloned().collect(),
        ..options()
    };
    harvest(portal, path, folder.path(), heap, options)
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn id(text: &str) -> DatasetId {
    DatasetId::new(text).expect("an id")
}

/// Returns the numbers of new, changed, unchanged and delisted datasets.
pub(crate) fn counted(report: &HarvestReport) -> [usize; 4] {
    let counts = report.counts();
    let unchanged = usize::try_from(report.unchanged).expect("a number");
    [counts.new, counts.changed, unchanged, counts.gone]
}
