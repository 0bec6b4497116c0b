//! Client of a server that runs on the same home: changes go through its local socket, because it holds the lock of the home.

use super::terminal::bar;
use anyhow::{Context, bail};
use lodeseek_snapshot::SnapshotLocation;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

/// Time that one response may wait for the end of a job. Progress is shown in between.
const WAIT_SECONDS: u64 = 1;
/// Time without any data after which the server counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A connection to the server of a home.
pub(super) struct LocalServer {
    #[cfg(unix)]
    socket: std::path::PathBuf,
}

impl LocalServer {
    /// Finds the server of a home; `None` if none accepts changes.
    #[cfg(unix)]
    pub(super) fn find(home: &Path) -> Option<Self> {
        let socket = lodeseek_server::socket_path(home);
        std::os::unix::net::UnixStream::connect(&socket).ok()?;
        Some(Self { socket })
    }

    #[cfg(not(unix))]
    pub(super) fn find(_: &Path) -> Option<Self> {
        None
    }

    /// Requests a change, shows its progress in units such as "datasets", and returns its result.
    ///
    /// # Errors
    /// If the server rejects the change, or it fails or is cancelled.
    fn change(&self, path: &str, body: Option<&Value>, unit: &str) -> anyhow::Result<Value> {
        let mut job = self.request("POST", path, body)?;
        let bar = bar(1, &format!("{{bar:30}} {{pos}} of {{len}} {unit} · {{elapsed}}"));
        let ended = loop {
            match job["state"].as_str() {
                Some("queued" | "running") => {}
                _ => break job,
            }
            bar.set_length(job["progress"]["total"].as_u64().unwrap_or(0).max(1));
            bar.set_position(job["progress"]["done"].as_u64().unwrap_or(0));
            job = self.request("GET", &format!("/api/admin/jobs/{}", job["id"]), None)?;
        };
        bar.finish_and_clear();
        match ended["state"].as_str() {
            Some("done") => Ok(ended["result"].clone()),
            Some("cancelled") => bail!("the change was cancelled"),
            _ => bail!("{}", ended["error"].as_str().unwrap_or("the server sent no reason")),
        }
    }

    /// Loads files of this machine.
    pub(super) fn load(&self, sources: &[std::path::PathBuf], id_prefix: &str) -> anyhow::Result<Value> {
        let mut absolute = Vec::new();
        for source in sources {
            absolute.push(source.canonicalize().with_context(|| format!("cannot read {}", source.display()))?);
        }
        self.change("/api/admin/load", Some(&json!({ "sources": absolute, "idPrefix": id_prefix })), "datasets")
    }

    /// Indexes the datasets that are not up to date, or all.
    pub(super) fn index(&self, rebuild: bool) -> anyhow::Result<Value> {
        self.change(&format!("/api/admin/index?rebuild={rebuild}"), None, "datasets")
    }

    /// Removes datasets, all or none.
    pub(super) fn remove(&self, ids: &[String]) -> anyhow::Result<Value> {
        self.change("/api/admin/remove", Some(&json!({ "datasets": ids })), "datasets")
    }

    /// Writes a backup of the home to a folder.
    pub(super) fn backup(&self, folder: &Path) -> anyhow::Result<Value> {
        let absolute = std::path::absolute(folder).with_context(|| format!("cannot use {}", folder.display()))?;
        self.change("/api/admin/backup", Some(&json!({ "folder": absolute })), "files")
    }

    /// Publishes a snapshot of the home.
    pub(super) fn publish(&self, location: &SnapshotLocation, keep: Option<NonZeroUsize>) -> anyhow::Result<Value> {
        let target = json!({ "location": location.to_string(), "keep": keep });
        self.change("/api/admin/publish", Some(&target), "files")
    }

    /// Sends a request over a connection of its own, and returns the JSON of the response.
    #[cfg(unix)]
    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let exchange = || -> io::Result<Vec<u8>> {
            let mut stream = std::os::unix::net::UnixStream::connect(&self.socket)?;
            stream.set_read_timeout(Some(TIMEOUT))?;
            let body = body.map(Value::to_string).unwrap_or_default();
            write!(
                stream,
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nPrefer: wait={WAIT_SECONDS}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )?;
            let mut response = Vec::new();
            stream.read_to_end(&mut response)?;
            Ok(response)
        };
        let response = exchange()
            .context("the running server does not answer; restart it, or stop it and run the command again")?;
        let value =
            json_of(&response).context("the running server sent an invalid response; restart it with this version")?;
        match (value.get("state"), value["error"].as_str()) {
            (None, Some(error)) => bail!("{error}"),
            _ => Ok(value),
        }
    }

    #[cfg(not(unix))]
    fn request(&self, _: &str, _: &str, _: Option<&Value>) -> anyhow::Result<Value> {
        bail!("local sockets are not supported on this system")
    }
}

/// Returns the JSON body of a response. The server ends it with the connection, and does not split it into chunks.
fn json_of(response: &[u8]) -> Option<Value> {
    let head = response.windows(4).position(|window| window == b"\r\n\r\n")?;
    serde_json::from_slice(&response[head + 4..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_follows_an_empty_line() {
        assert_eq!(json_of(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n{\"id\": 1}"), Some(json!({"id": 1})));
        assert_eq!(json_of(b"HTTP/1.1 200 OK\r\n"), None);
    }

    #[test]
    fn a_home_without_a_server_has_none() {
        let home = tempfile::tempdir().expect("a folder");
        assert!(LocalServer::find(home.path()).is_none());
    }
}
