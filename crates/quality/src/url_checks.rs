//! Results of the latest checks of URLs.
//!
//! URLs are checked with HEAD, and with GET if the server does not support HEAD. Each host gets one request at a time,
//! with a pause between requests. Only `lodeseek quality --check` sends requests.

use lodeseek_net::egress::{Egress, EgressError, RequestLimits, Response};
use oxsdatatypes::DateTime;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Result of checking a URL.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UrlCheck {
    /// HTTP status; `None` without a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Reason why there was no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Time of the check (`xsd:dateTime`).
    #[serde(rename = "checkedAt", alias = "asked")]
    pub checked_at: String,
}

impl UrlCheck {
    /// If true, the status is a success (2xx).
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }
}

impl fmt::Display for UrlCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, &self.fault) {
            (Some(status), _) => write!(f, "status {status} at {}", self.checked_at),
            (None, fault) => {
                write!(
                    f,
                    "no response at {}: {}",
                    self.checked_at,
                    fault.as_deref().unwrap_or("unknown reason")
                )
            }
        }
    }
}

/// Latest checks by URL.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlChecks(BTreeMap<String, UrlCheck>);

impl UrlChecks {
    /// Returns the latest check of a URL.
    #[must_use]
    pub fn get(&self, address: &str) -> Option<&UrlCheck> {
        self.0.get(address)
    }

    /// Stores the result of a check.
    pub fn insert(&mut self, address: String, result: UrlCheck) {
        self.0.insert(address, result);
    }

    /// Returns at most `most` of the URLs for the next check: unchecked ones first, then by age of their check, oldest
    /// first.
    #[must_use]
    pub fn oldest(&self, addresses: &BTreeSet<String>, most: usize) -> Vec<String> {
        let mut waiting: Vec<(Option<&str>, &String)> = addresses
            .iter()
            .map(|address| {
                (
                    self.get(address).map(|result| result.checked_at.as_str()),
                    address,
                )
            })
            .collect();
        // `None` comes first, and times of one form have the order of their texts.
        waiting.sort_unstable();
        waiting
            .into_iter()
            .take(most)
            .map(|(_, address)| address.clone())
            .collect()
    }
}

/// Options for checking URLs.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// Number of hosts checked in parallel. Default 8.
    pub hosts: usize,
    /// Pause between two requests to a host. Default 200 ms.
    pub pause: Duration,
    /// Limits of one request. Default 10 s, of which 5 s for the connection.
    pub limits: RequestLimits,
}

impl Default for CheckOptions {
    fn default() -> Self {
        let limits = RequestLimits {
            total: Duration::from_secs(10),
            ..RequestLimits::default()
        };
        Self {
            hosts: 8,
            pause: Duration::from_millis(200),
            limits,
        }
    }
}

/// Checks URLs, several hosts in parallel. Calls `on_answer` with each result as it arrives.
pub fn check_urls(
    egress: &Egress,
    addresses: &[String],
    now: DateTime,
    options: &CheckOptions,
    mut on_answer: impl FnMut(String, UrlCheck),
) {
    let mut by_host: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for address in addresses {
        by_host
            .entry(address.split('/').nth(2).unwrap_or_default())
            .or_default()
            .push(address);
    }
    let hosts: Mutex<VecDeque<Vec<&String>>> = Mutex::new(by_host.into_values().collect());
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..options.hosts {
            let (sender, hosts) = (sender.clone(), &hosts);
            scope.spawn(move || {
                // A host belongs to one thread, so it never gets two requests at once.
                while let Some(addresses) = take_next_host(hosts) {
                    for (place, address) in addresses.into_iter().enumerate() {
                        thread::sleep(if place > 0 {
                            options.pause
                        } else {
                            Duration::ZERO
                        });
                        // The receiver lives as long as this scope.
                        let _ = sender
                            .send((address.clone(), check_url(egress, address, now, options)));
                    }
                }
            });
        }
        // The receiver ends when no sender is left, neither in a thread nor here.
        drop(sender);
        receiver
            .into_iter()
            .for_each(|(address, result)| on_answer(address, result));
    });
}

/// Takes the addresses of the next host. The lock is released on return, so that other threads continue meanwhile.
fn take_next_host<'a>(hosts: &Mutex<VecDeque<Vec<&'a String>>>) -> Option<Vec<&'a String>> {
    hosts
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front()
}

fn check_url(egress: &Egress, address: &str, now: DateTime, options: &CheckOptions) -> UrlCheck {
    let answered = match egress.head(address).with_limits(options.limits).send() {
        // Servers without support for HEAD respond with one of these.
        Ok(answer) if matches!(answer.status(), 400 | 403 | 404 | 405 | 501) => {
            egress.get(address).with_limits(options.limits).send()
        }
        other => other,
    };
    let (status, fault) = match answered.as_ref() {
        Ok(answer) => (Some(Response::status(answer)), None),
        Err(EgressError { fault, .. }) => (None, Some(fault.to_string())),
    };
    UrlCheck {
        status,
        fault,
        checked_at: now.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Server, answer};
    use lodeseek_net::egress::{EgressPolicy, OtherHosts};
    use std::io::Write;

    fn check_paths(
        server: &Server,
        policy: EgressPolicy,
        paths: &[&str],
    ) -> BTreeMap<String, UrlCheck> {
        let addresses: Vec<String> = paths.iter().map(|path| server.iri(path)).collect();
        let options = CheckOptions {
            pause: Duration::ZERO,
            ..CheckOptions::default()
        };
        let now: DateTime = "2026-01-02T03:04:05Z".parse().expect("a time");
        let mut found = BTreeMap::new();
        check_urls(
            &Egress::new(policy),
            &addresses,
            now,
            &options,
            |address, result| {
                found.insert(address, result);
            },
        );
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
    fn an_address_is_reachable_if_head_or_get_succeeds() {
        let server = site();
        let found = check_paths(&server, policy(&server), &["/there", "/only-get", "/gone"]);
        let of = |path: &str| &found[&server.iri(path)];
        assert!(
            of("/there").is_reachable()
                && of("/only-get").is_reachable()
                && !of("/gone").is_reachable()
        );
        assert_eq!(
            of("/gone").to_string(),
            "status 404 at 2026-01-02T03:04:05Z"
        );
        let requests = server.received();
        let methods = |path: &str| {
            let of_path = requests.iter().filter(|request| request.path == path);
            of_path
                .map(|request| request.method.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (methods("/there"), methods("/only-get")),
            (vec!["HEAD"], vec!["HEAD", "GET"])
        );
    }

    #[test]
    fn forbidden_addresses_are_not_requested() {
        let server = site();
        let found = check_paths(&server, EgressPolicy::default(), &["/there"]);
        let result = &found[&server.iri("/there")];
        assert!(
            !result.is_reachable()
                && result
                    .fault
                    .as_deref()
                    .is_some_and(|fault| fault.contains("not in the allow list"))
        );
        assert!(server.received().is_empty());
    }

    #[test]
    fn the_oldest_checks_come_first() {
        let mut url_checks = UrlChecks::default();
        let result = |time: &str| UrlCheck {
            status: Some(200),
            fault: None,
            checked_at: time.to_owned(),
        };
        url_checks.insert("http://e.org/a".to_owned(), result("2026-02-01T00:00:00Z"));
        url_checks.insert("http://e.org/b".to_owned(), result("2026-01-01T00:00:00Z"));
        let all = ["a", "b", "c"].map(|name| format!("http://e.org/{name}"));
        let first = url_checks.oldest(&all.into_iter().collect(), 2);
        assert_eq!(first, ["http://e.org/c", "http://e.org/b"]);
    }
}
