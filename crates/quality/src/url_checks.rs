//! Which addresses answered when they were last asked: kept in the home, in `quality/reached.json`.
//!
//! Addresses are asked with HEAD, and with GET where a server does not know that, of each host one at a time with a pause
//! between. Nobody is asked but by `lodeseek quality --check`.

use super::QualityError;
use lodeseek_net::egress::{Egress, EgressError, RequestLimits, Response};
use oxsdatatypes::DateTime;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

/// What came of asking an address.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UrlCheck {
    /// The status of the answer; nothing where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// When (`xsd:dateTime`).
    #[serde(rename = "asked")]
    pub checked_at: String,
}

impl UrlCheck {
    /// Whether something is there.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

impl fmt::Display for UrlCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, &self.fault) {
            (Some(status), _) => write!(f, "status {status} at {}", self.checked_at),
            (None, fault) => write!(f, "no answer at {}: {}", self.checked_at, fault.as_deref().unwrap_or("unknown")),
        }
    }
}

/// What is known of addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlChecks(BTreeMap<String, UrlCheck>);

impl UrlChecks {
    fn path(home: &Path) -> PathBuf {
        home.join("quality").join("reached.json")
    }

    /// What a home knows; nothing where nobody was asked.
    pub fn read(home: &Path) -> Result<Self, QualityError> {
        let path = Self::path(home);
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read(&path).map_err(|cause| QualityError::Io { path: path.clone(), cause })?;
        serde_json::from_slice(&text).map_err(|cause| QualityError::Json { path, cause })
    }

    /// Keeps it in a home, as a whole or not at all.
    pub fn write(&self, home: &Path) -> Result<(), QualityError> {
        let path = Self::path(home);
        let failed = |cause| QualityError::Io { path: path.clone(), cause };
        let text = serde_json::to_vec_pretty(self).map_err(|cause| QualityError::Json { path: path.clone(), cause })?;
        let waiting = path.with_extension("json.new");
        fs::create_dir_all(home.join("quality")).map_err(failed)?;
        fs::write(&waiting, text).and_then(|()| fs::rename(&waiting, &path)).map_err(failed)
    }

    /// When what a home knows was written last.
    #[must_use]
    pub fn last_modified(home: &Path) -> Option<SystemTime> {
        fs::metadata(Self::path(home)).and_then(|metadata| metadata.modified()).ok()
    }

    /// What is known of an address.
    #[must_use]
    pub fn get(&self, address: &str) -> Option<&UrlCheck> {
        self.0.get(address)
    }

    /// Learns what came of asking an address.
    pub fn insert(&mut self, address: String, reach: UrlCheck) {
        self.0.insert(address, reach);
    }

    /// Those of some addresses that are to be asked first: never asked ones, then those asked longest ago.
    #[must_use]
    pub fn oldest(&self, addresses: &BTreeSet<String>, most: usize) -> Vec<String> {
        let mut waiting: Vec<(Option<&str>, &String)> = addresses
            .iter()
            .map(|address| (self.get(address).map(|reach| reach.checked_at.as_str()), address))
            .collect();
        waiting.sort_unstable();
        waiting.into_iter().take(most).map(|(_, address)| address.clone()).collect()
    }
}

/// How addresses are asked.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// Hosts asked at once. Default 8.
    pub hosts: usize,
    /// Time between two requests to a host. Default 200 ms.
    pub pause: Duration,
    /// What one request may cost. Default 10 s, 5 s of them for the connection.
    pub limits: RequestLimits,
}

impl Default for CheckOptions {
    fn default() -> Self {
        let limits = RequestLimits { total: Duration::from_secs(10), ..RequestLimits::default() };
        Self { hosts: 8, pause: Duration::from_millis(200), limits }
    }
}

/// Asks addresses, hosts beside each other. What came of each is handed out as it comes.
pub fn check(
    egress: &Egress,
    addresses: &[String],
    now: DateTime,
    options: &CheckOptions,
    mut on_answer: impl FnMut(String, UrlCheck),
) {
    let mut by_host: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for address in addresses {
        by_host.entry(address.split('/').nth(2).unwrap_or_default()).or_default().push(address);
    }
    let hosts: Mutex<VecDeque<Vec<&String>>> = Mutex::new(by_host.into_values().collect());
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..options.hosts {
            let (sender, hosts) = (sender.clone(), &hosts);
            scope.spawn(move || {
                let next = || hosts.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                while let Some(of_host) = next() {
                    for (place, address) in of_host.into_iter().enumerate() {
                        thread::sleep(if place > 0 { options.pause } else { Duration::ZERO });
                        // The other side takes all that comes.
                        let _ = sender.send((address.clone(), ask(egress, address, now, options)));
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().for_each(|(address, reach)| on_answer(address, reach));
    });
}

fn ask(egress: &Egress, address: &str, now: DateTime, options: &CheckOptions) -> UrlCheck {
    let answered = match egress.head(address).with_limits(options.limits).send() {
        // Servers that do not know HEAD say so, or have no such page for it.
        Ok(answer) if matches!(answer.status(), 400 | 403 | 404 | 405 | 501) => {
            egress.get(address).with_limits(options.limits).send()
        }
        other => other,
    };
    let (status, fault) = match answered.as_ref() {
        Ok(answer) => (Some(Response::status(answer)), None),
        Err(EgressError { fault, .. }) => (None, Some(fault.to_string())),
    };
    UrlCheck { status, fault, checked_at: now.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Server, answer};
    use lodeseek_net::egress::{EgressPolicy, OtherHosts};
    use std::io::Write;

    fn checked(server: &Server, policy: EgressPolicy, paths: &[&str]) -> BTreeMap<String, UrlCheck> {
        let addresses: Vec<String> = paths.iter().map(|path| server.iri(path)).collect();
        let options = CheckOptions { pause: Duration::ZERO, ..CheckOptions::default() };
        let now: DateTime = "2026-01-02T03:04:05Z".parse().expect("a time");
        let mut found = BTreeMap::new();
        check(&Egress::new(policy), &addresses, now, &options, |address, reach| {
            found.insert(address, reach);
        });
        found
    }

    fn policy(server: &Server) -> EgressPolicy {
        EgressPolicy {
            listed: vec![server.iri("/").parse().expect("a prefix")],
            others: OtherHosts::Refused,
            private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        }
    }

    fn site() -> Server {
        Server::start(|_, request, stream| {
            let status = match (request.path.as_str(), request.method.as_str()) {
                ("/there", "HEAD") | ("/only-get", "GET") => "200 OK",
                ("/only-get", "HEAD") => "405 Method Not Allowed",
                _ => "404 Not Found",
            };
            stream.write_all(&answer(status, "", "")).ok();
        })
    }

    #[test]
    fn an_address_is_there_if_head_or_get_says_so() {
        let server = site();
        let found = checked(&server, policy(&server), &["/there", "/only-get", "/gone"]);
        let of = |path: &str| &found[&server.iri(path)];
        assert!(of("/there").is_reachable() && of("/only-get").is_reachable() && !of("/gone").is_reachable());
        assert_eq!(of("/gone").to_string(), "status 404 at 2026-01-02T03:04:05Z");
        let asked = server.received();
        let methods = |path: &str| {
            let of_path = asked.iter().filter(|request| request.path == path);
            of_path.map(|request| request.method.as_str()).collect::<Vec<_>>()
        };
        assert_eq!((methods("/there"), methods("/only-get")), (vec!["HEAD"], vec!["HEAD", "GET"]));
    }

    #[test]
    fn who_may_not_be_asked_is_not() {
        let server = site();
        let found = checked(&server, EgressPolicy::default(), &["/there"]);
        let reach = &found[&server.iri("/there")];
        assert!(!reach.is_reachable() && reach.fault.as_deref().is_some_and(|fault| fault.contains("not in the allow list")));
        assert!(server.received().is_empty());
    }

    #[test]
    fn what_was_asked_longest_ago_comes_first_and_all_is_kept() {
        let home = tempfile::tempdir().expect("a folder");
        assert_eq!(UrlChecks::read(home.path()).expect("nothing yet"), UrlChecks::default());
        let mut reached = UrlChecks::default();
        let reach = |asked: &str| UrlCheck { status: Some(200), fault: None, checked_at: asked.to_owned() };
        reached.insert("http://e.org/a".to_owned(), reach("2026-02-01T00:00:00Z"));
        reached.insert("http://e.org/b".to_owned(), reach("2026-01-01T00:00:00Z"));
        reached.write(home.path()).expect("written");
        assert_eq!(UrlChecks::read(home.path()).expect("read"), reached);
        assert!(UrlChecks::last_modified(home.path()).is_some());
        let all = ["a", "b", "c"].map(|name| format!("http://e.org/{name}"));
        let first = reached.oldest(&all.into_iter().collect(), 2);
        assert_eq!(first, ["http://e.org/c", "http://e.org/b"]);
        fs::write(UrlChecks::path(home.path()), "{").expect("written");
        assert!(UrlChecks::read(home.path()).is_err());
    }
}
