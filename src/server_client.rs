//! Client of a running server: over the local socket of its home, or over HTTP with `--server`.
//!
//! A command that changes a served home goes through the server, because it holds the lock of the home.

mod remote;
mod upload;

use super::harvest::cancellation_on_stop_signal;
use super::terminal::{bar, grouped};
use anyhow::{Context, bail};
use indicatif::ProgressBar;
use lodeseek_catalog::{CitingWork, DatasetId};
use lodeseek_changes::{Harvests, LoadOutcome, LoadRequest};
use lodeseek_engine::AddedWorks;
use lodeseek_eval::Topic;
use lodeseek_harvest::{HarvestRequest, is_address};
use lodeseek_net::egress::Cancellation;
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_snapshot::SnapshotLocation;
use remote::Remote;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use upload::{UnsentFiles, Upload};

/// Time that one response may wait for the end of a job. Progress is shown in between.
const MAX_WAIT_SECONDS: u64 = 1;
/// Size of the lists in which works are sent, in bytes. A list of the server may have twice as many.
const MAX_LIST_BYTES: usize = 8 << 20;
/// Time without any data after which the server counts as hanging.
const READ_TIMEOUT: Duration = Duration::from_secs(120);

/// A server elsewhere, and the token for it.
#[derive(clap::Args, Debug, Default)]
pub(super) struct ServerArguments {
    /// Use the server at this address, started with `serve --admin`, instead of a home on this machine. `load` uploads files.
    #[arg(long, value_name = "URL", env = "LODESEEK_SERVER")]
    server: Option<String>,
    /// File with the token for --server, which `lodeseek token add` created.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Token for --server. Other users of this machine can read the arguments of a process: prefer the variable or --token-file.
    #[arg(
        long,
        value_name = "TOKEN",
        env = "LODESEEK_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,
}

impl ServerArguments {
    /// Opens the client of `--server`, or returns `None` without it.
    ///
    /// # Errors
    /// If the address or the token is not valid.
    pub(super) fn remote(&self) -> anyhow::Result<Option<ServerClient>> {
        let Some(address) = self.server.as_deref().filter(|address| !address.is_empty()) else {
            anyhow::ensure!(
                self.token_file.is_none(),
                "--token-file needs --server, the address of a server"
            );
            return Ok(None);
        };
        let remote = Remote::new(address, self.token_file.as_deref(), self.token.as_deref())?;
        Ok(Some(ServerClient(Connection::Remote(remote))))
    }

    /// Opens the client of `--server`, else of the server that runs on a home. `None` if there is none.
    ///
    /// # Errors
    /// If the address or the token of `--server` is not valid.
    pub(super) fn find(&self, home: &Path) -> anyhow::Result<Option<ServerClient>> {
        Ok(self.remote()?.or_else(|| ServerClient::of_home(home)))
    }
}

/// A client of a server.
pub(super) struct ServerClient(Connection);

/// Response of a server to a search.
pub(super) struct Found {
    /// Datasets with their scores.
    pub(super) ranking: Ranking,
    /// Ranking model of the server.
    pub(super) model: String,
}

impl Found {
    /// Reads the response of `/api/search`. Datasets after the candidates of re-ranking have no score of it, and follow in their
    /// order. Returns `None` if the response is invalid.
    fn new(response: &Value) -> Option<Self> {
        let mut scores: Vec<Scored> = Vec::new();
        for hit in response["hits"].as_array()? {
            let score = match &hit["score"] {
                Value::Null => match scores.last() {
                    Some(last) => last.score - 1.0,
                    None => 0.0,
                },
                score => score.as_f64()?,
            };
            scores.push(Scored {
                id: DatasetId::new(hit["id"].as_str()?).ok()?,
                score,
            });
        }
        let model = response["model"].as_str()?.to_owned();
        Some(Self {
            ranking: Ranking::from_scores(scores),
            model,
        })
    }
}

enum Connection {
    /// Socket of a home on this machine.
    #[cfg(unix)]
    Local(PathBuf),
    Remote(Remote),
}

impl ServerClient {
    /// Creates a client of the public search of a server, which needs no token.
    ///
    /// # Errors
    /// If the address is not valid.
    pub(super) fn at(address: &str) -> anyhow::Result<Self> {
        Ok(Self(Connection::Remote(Remote::new(address, None, None)?)))
    }

    /// Searches for the words of a topic as they are, up to its year, with duplicates as separate datasets.
    ///
    /// # Errors
    /// If the server cannot be reached, or rejects the search.
    pub(super) fn rank(&self, topic: &Topic, depth: usize) -> anyhow::Result<Found> {
        let depth = depth.to_string();
        let parameters = [
            ("q", topic.text.as_str()),
            ("k", &depth),
            ("literal", "true"),
            ("duplicates", "all"),
        ];
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query
            .extend_pairs(parameters)
            .extend_pairs(topic.year.map(|year| ("before", year.to_string())));
        let query = query.finish();
        let response = self.get(&format!("/api/search?{query}"))?;
        Found::new(&response).with_context(|| self.invalid_response())
    }

    /// Searches, and returns the JSON of `/api/search`.
    ///
    /// # Errors
    /// If the server cannot be reached, or rejects the search.
    pub(super) fn search(&self, parameters: &str) -> anyhow::Result<Value> {
        self.get(&format!("/api/search?{parameters}"))
    }

    /// Returns a message for a response that cannot be read.
    pub(super) fn invalid_response(&self) -> String {
        format!(
            "{} sent an invalid response; it must be lodeseek of this version",
            self.name()
        )
    }

    /// Finds the server of a home; `None` if none accepts changes.
    #[cfg(unix)]
    pub(super) fn of_home(home: &Path) -> Option<Self> {
        let socket = lodeseek_changes::socket_path(home);
        std::os::unix::net::UnixStream::connect(&socket).ok()?;
        Some(Self(Connection::Local(socket)))
    }

    #[cfg(not(unix))]
    pub(super) fn of_home(_: &Path) -> Option<Self> {
        None
    }

    /// Returns a name for messages.
    pub(super) fn name(&self) -> &str {
        match &self.0 {
            #[cfg(unix)]
            Connection::Local(_) => "the running server",
            Connection::Remote(remote) => remote.address(),
        }
    }

    /// Rejects a base other than that of the server's collection.
    ///
    /// # Errors
    /// If the base is another one, or the server cannot be reached.
    pub(super) fn check_base(&self, base: &str) -> anyhow::Result<()> {
        let status = self.status()?;
        let present = status["status"]["base"]
            .as_str()
            .with_context(|| self.invalid_response())?;
        anyhow::ensure!(
            base == present,
            "--base {base}: the base of {} is {present}; omit --base, or stop the server and run `lodeseek rebase`",
            self.name()
        );
        Ok(())
    }

    /// Loads files of this machine. Another server receives them, with the files that a catalogue describes.
    pub(super) fn load(&self, request: &LoadRequest) -> anyhow::Result<LoadOutcome> {
        let LoadRequest {
            sources,
            id_prefix,
            replace,
            content,
            dumps,
            ..
        } = request;
        let mut unsent = UnsentFiles::default();
        let result = match &self.0 {
            #[cfg(unix)]
            Connection::Local(_) => {
                let mut absolute = Vec::new();
                for source in sources {
                    absolute.push(absolute_path(source)?);
                }
                let mut body = json!({
                    "sources": absolute, "idPrefix": id_prefix, "replace": replace, "content": content,
                });
                if let Some(dumps) = dumps {
                    body["dumps"] = json!(absolute_path(&dumps.path)?);
                    body["dumpsPattern"] = json!(dumps.pattern);
                }
                self.change("/api/admin/load", Some(&body), "datasets")
            }
            Connection::Remote(remote) => {
                let mut upload = Upload::new(sources, id_prefix)?
                    .with_replacement(*replace)
                    .with_content(*content);
                unsent = upload.take_unsent();
                // A token without this right is reported before an upload that may take long.
                let token = self.get("/api/admin/token")?;
                anyhow::ensure!(
                    token["scope"] != "read",
                    "{} does not allow this: the token {} has the scope read; this request needs write",
                    remote.address(),
                    token["name"].as_str().unwrap_or_default()
                );
                let job = remote.upload("/api/admin/load", upload)?;
                self.follow(job, "datasets", &cancellation_on_stop_signal()?)
            }
        }?;
        let mut outcome: LoadOutcome =
            serde_json::from_value(result).with_context(|| self.invalid_response())?;
        unsent.add_to(&mut outcome);
        Ok(outcome)
    }

    /// Adds works, in several changes if they are many.
    ///
    /// # Errors
    /// If the server rejects a change, or it fails or is cancelled. Earlier changes are kept.
    pub(super) fn add_works(&self, works: &[CitingWork]) -> anyhow::Result<AddedWorks> {
        let stop = cancellation_on_stop_signal()?;
        let mut sum = AddedWorks::default();
        for list in json_lists(works)? {
            let job = self.send("POST", "/api/admin/works", "application/jsonl", &list)?;
            let result = self.follow(job, "works", &stop)?;
            let report: AddedWorks =
                serde_json::from_value(result).with_context(|| self.invalid_response())?;
            sum = AddedWorks {
                added: sum.added + report.added,
                replaced: sum.replaced + report.replaced,
                unchanged: sum.unchanged + report.unchanged,
                // Totals are those after the last list.
                ..report
            };
        }
        Ok(sum)
    }

    /// Harvests now.
    pub(super) fn harvest(&self, request: &HarvestRequest) -> anyhow::Result<Harvests> {
        let mut request = request.clone();
        for source in request
            .sources
            .iter_mut()
            .filter(|source| !is_address(source))
        {
            anyhow::ensure!(
                !self.is_remote(),
                "{source:?} is no http or https address: {} cannot read files of this machine; `load` uploads them",
                self.name()
            );
            let path = Path::new(source.as_str()).canonicalize();
            let path = path.with_context(|| format!("cannot read {source}"))?;
            *source = path
                .into_os_string()
                .into_string()
                .map_err(|_| anyhow::anyhow!("{source} is not in UTF-8"))?;
        }
        let result = self.change("/api/admin/harvest", Some(&json!(request)), "datasets")?;
        serde_json::from_value(result).with_context(|| self.invalid_response())
    }

    /// Returns true for a server that `--server` names.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.0, Connection::Remote(_))
    }

    /// Indexes the datasets that are not up to date, or all.
    pub(super) fn index(&self, rebuild: bool) -> anyhow::Result<Value> {
        self.change(
            &format!("/api/admin/index?rebuild={rebuild}"),
            None,
            "datasets",
        )
    }

    /// Removes datasets, all or none.
    pub(super) fn remove(&self, ids: &[String]) -> anyhow::Result<Value> {
        self.change(
            "/api/admin/remove",
            Some(&json!({ "datasets": ids })),
            "datasets",
        )
    }

    /// Returns the description of a dataset, its edits and its entity tag.
    pub(super) fn dataset(&self, id: &str) -> anyhow::Result<Value> {
        self.get(&dataset_path(id))
    }

    /// Edits the description of a dataset by a JSON Merge Patch, if it has this entity tag.
    pub(super) fn edit(&self, id: &str, patch: &Value, tag: &str) -> anyhow::Result<Value> {
        let stop = cancellation_on_stop_signal()?;
        let request = Conditional {
            method: "PATCH",
            path: &dataset_path(id),
            media_type: "application/merge-patch+json",
            if_match: Some(tag),
        };
        let job = self.send_if(&request, &patch.to_string())?;
        self.follow(job, "datasets", &stop)
    }

    /// Removes the edits of keys of a description, or all, if the dataset has this entity tag.
    pub(super) fn remove_edits(&self, id: &str, keys: &[&str], tag: &str) -> anyhow::Result<Value> {
        let stop = cancellation_on_stop_signal()?;
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let query = query
            .extend_pairs(keys.iter().map(|key| ("key", key)))
            .finish();
        let request = Conditional {
            method: "DELETE",
            path: &format!("{}/edits?{query}", dataset_path(id)),
            media_type: "application/json",
            if_match: Some(tag),
        };
        let job = self.send_if(&request, "")?;
        self.follow(job, "datasets", &stop)
    }

    /// Removes works, all or none.
    pub(super) fn remove_works(&self, ids: &[String]) -> anyhow::Result<Value> {
        self.change("/api/admin/remove", Some(&json!({ "works": ids })), "works")
    }

    /// Writes a backup of the home to a folder of this machine.
    pub(super) fn backup(&self, folder: &Path) -> anyhow::Result<Value> {
        let absolute = std::path::absolute(folder)
            .with_context(|| format!("cannot use {}", folder.display()))?;
        self.change(
            "/api/admin/backup",
            Some(&json!({ "folder": absolute })),
            "files",
        )
    }

    /// Publishes a snapshot of the home.
    pub(super) fn publish(
        &self,
        location: &SnapshotLocation,
        keep: Option<NonZeroUsize>,
        key: Option<&Path>,
        force: bool,
    ) -> anyhow::Result<Value> {
        // The server reads the file, perhaps in another folder.
        let key = key
            .map(|key| {
                key.canonicalize()
                    .with_context(|| format!("cannot read {}", key.display()))
            })
            .transpose()?;
        let target =
            json!({ "location": location.to_string(), "keep": keep, "key": key, "force": force });
        self.change("/api/admin/publish", Some(&target), "files")
    }

    /// Returns the datasets with their states.
    pub(super) fn list(&self) -> anyhow::Result<Value> {
        self.get("/api/admin/datasets")
    }

    /// Returns the works that use datasets.
    pub(super) fn list_works(&self) -> anyhow::Result<Value> {
        self.get("/api/admin/works")
    }

    /// Returns version, token and state of the collection.
    pub(super) fn status(&self) -> anyhow::Result<Value> {
        self.get("/api/admin/status")
    }

    fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.request("GET", path, None)
    }

    /// Requests a change, shows its progress in units such as "datasets", and returns its result.
    ///
    /// # Errors
    /// If the server rejects the change, or it fails or is cancelled.
    fn change(&self, path: &str, body: Option<&Value>, unit: &str) -> anyhow::Result<Value> {
        // Before the request, which waits for the end of a short job: a signal must not leave the job behind.
        let stop = cancellation_on_stop_signal()?;
        let job = self.request("POST", path, body)?;
        self.follow(job, unit, &stop)
    }

    /// Waits for the end of a job. The first stop signal cancels the job, the second ends this process.
    fn follow(&self, mut job: Value, unit: &str, stop: &Cancellation) -> anyhow::Result<Value> {
        let address = format!("/api/admin/jobs/{}", job["id"]);
        let bar = bar(
            1,
            &format!("{{bar:30}} {{pos}} of {{len}} {unit} · {{elapsed}}{{prefix}}"),
        );
        let mut is_cancelled = false;
        let ended = loop {
            match job["state"].as_str() {
                Some("queued" | "running") => {}
                _ => break job,
            }
            if stop.is_cancelled() && !is_cancelled {
                is_cancelled = true;
                bar.println(format!(
                    "cancelling job {}; it ends after its current step",
                    job["id"]
                ));
                self.request("DELETE", &address, None)?;
            }
            show_progress(&bar, &job["progress"]);
            job = self.get(&address)?;
        };
        bar.finish_and_clear();
        match ended["state"].as_str() {
            Some("done") => Ok(ended["result"].clone()),
            Some("cancelled") => bail!(
                "job {} was cancelled; steps that were done are kept",
                ended["id"]
            ),
            _ => bail!(
                "{}",
                ended["error"]
                    .as_str()
                    .unwrap_or("the server sent no reason")
            ),
        }
    }

    /// Sends a request over a connection of its own, and returns the JSON of the response.
    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        self.send(method, path, "application/json", &body)
    }

    /// Sends a request with a body of a media type, as [`Self::request`].
    fn send(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: &str,
    ) -> anyhow::Result<Value> {
        let request = Conditional {
            method,
            path,
            media_type,
            if_match: None,
        };
        self.send_if(&request, body)
    }

    /// Sends a request that may have a condition.
    fn send_if(&self, request: &Conditional<'_>, body: &str) -> anyhow::Result<Value> {
        match &self.0 {
            #[cfg(unix)]
            Connection::Local(socket) => local_request(socket, request, body),
            Connection::Remote(remote) => remote.request(request, body),
        }
    }
}

/// A request without its body.
struct Conditional<'r> {
    method: &'r str,
    path: &'r str,
    media_type: &'r str,
    /// Entity tag that the resource must have.
    if_match: Option<&'r str>,
}

/// Returns the absolute path of a file or folder that the server reads.
#[cfg(unix)]
fn absolute_path(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize()
        .with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the path of a dataset in the administration.
fn dataset_path(id: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("/api/admin/datasets/{}", encoded.replace('+', "%20"))
}

/// Returns works as JSON lines, in lists of limited size.
fn json_lists(works: &[CitingWork]) -> anyhow::Result<Vec<String>> {
    let mut lists = vec![String::new()];
    for work in works {
        let line = serde_json::to_string(work)? + "\n";
        match lists.last_mut() {
            // A line above the limit is a list of its own.
            Some(last) if last.is_empty() || last.len() + line.len() <= MAX_LIST_BYTES => {
                last.push_str(&line)
            }
            _ => lists.push(line),
        }
    }
    Ok(lists)
}

/// Shows the progress of a job. The number of datasets of a harvest is unknown before its end.
fn show_progress(bar: &ProgressBar, progress: &Value) {
    let done = progress["done"].as_u64().unwrap_or(0);
    bar.set_length(progress["total"].as_u64().unwrap_or(0).max(done).max(1));
    bar.set_position(done);
    let mut prefix = String::new();
    for unit in ["pages", "requests", "bytes"] {
        if let Some(number) = progress[unit].as_u64() {
            prefix += &format!(" · {} {unit}", grouped(number));
        }
    }
    bar.set_prefix(prefix);
}

/// Sends a request over a local socket, and returns the JSON of the response.
#[cfg(unix)]
fn local_request(socket: &Path, request: &Conditional<'_>, body: &str) -> anyhow::Result<Value> {
    let response = exchange_bytes(socket, request, body).context(
        "the running server does not answer; restart it, or stop it and run the command again",
    )?;
    let value = json_of(&response).context(
        "the running server sent an invalid response; restart it with this version of lodeseek",
    )?;
    // A failed job has an error, too, but its request did not fail; its state distinguishes it.
    match (value.get("state"), value["error"].as_str()) {
        (None, Some(error)) => bail!("{error}"),
        _ => Ok(value),
    }
}

/// Sends a request over a local socket, and returns the response with its headers.
#[cfg(unix)]
fn exchange_bytes(socket: &Path, request: &Conditional<'_>, body: &str) -> io::Result<Vec<u8>> {
    let Conditional {
        method,
        path,
        media_type,
        if_match,
    } = request;
    let condition = if_match
        .map(|tag| format!("If-Match: {tag}\r\n"))
        .unwrap_or_default();
    let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nPrefer: wait={MAX_WAIT_SECONDS}\r\n\
         Content-Type: {media_type}\r\n{condition}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    Ok(response)
}

/// Returns the JSON body of a response. The server ends it with the connection, and does not split it into chunks.
fn json_of(response: &[u8]) -> Option<Value> {
    let head = response
        .windows(4)
        .position(|window| window == b"\r\n\r\n")?;
    serde_json::from_slice(&response[head + 4..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_follows_an_empty_line() {
        assert_eq!(
            json_of(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n{\"id\": 1}"),
            Some(json!({"id": 1}))
        );
        assert_eq!(json_of(b"HTTP/1.1 200 OK\r\n"), None);
    }

    #[test]
    fn works_are_sent_in_lists_of_limited_size() {
        let work = |number: usize| CitingWork {
            title: format!("{number} {}", "x".repeat(MAX_LIST_BYTES / 4)),
            summary: String::new(),
            year: None,
            url: None,
            datasets: vec![DatasetId::new("a").expect("an id")],
        };
        let works: Vec<CitingWork> = (0..8).map(work).collect();
        let lists = json_lists(&works).expect("JSON");
        assert_eq!(
            lists
                .iter()
                .map(|list| list.lines().count())
                .collect::<Vec<_>>(),
            [3, 3, 2]
        );
        assert!(lists.iter().all(|list| list.len() <= MAX_LIST_BYTES));
    }

    #[test]
    fn hits_without_a_score_follow_those_with_one() {
        let hits = json!([{"id": "a", "score": 0.5}, {"id": "c", "score": null}, {"id": "b", "score": null}]);
        let found = Found::new(&json!({"model": "best", "hits": hits})).expect("a response");
        let ranks: Vec<String> = found.ranking.iter().map(|one| one.id.to_string()).collect();
        assert_eq!(
            (ranks.join(" ").as_str(), found.model.as_str()),
            ("a c b", "best")
        );
        for invalid in [
            json!({}),
            json!({"model": "best", "hits": [{"id": "a b", "score": 1}]}),
        ] {
            assert!(Found::new(&invalid).is_none(), "{invalid}");
        }
    }

    #[test]
    fn a_home_without_a_server_has_none() {
        let home = tempfile::tempdir().expect("a folder");
        assert!(
            ServerArguments::default()
                .find(home.path())
                .expect("no address")
                .is_none()
        );
        let arguments = ServerArguments {
            token_file: Some("token".into()),
            ..ServerArguments::default()
        };
        assert!(
            arguments
                .find(home.path())
                .is_err_and(|error| error.to_string().contains("--server"))
        );
    }
}
