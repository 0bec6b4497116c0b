//! Jobs, backups and the audit log.

use super::datasets::edit_address;
use super::sources::format_interval;
use super::{Fields, Nav, Operator, job_address, queue_change};
use crate::AppState;
use crate::admin::management::management;
use crate::admin::page::format_duration;
use crate::error::ApiError;
use crate::pages::{PageContext, render};
use crate::parameters::Pairs;
use crate::text::href;
use askama::Template;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_changes::{Change, Job, JobState, Scope, list_elements, written_datasets};
use lodeseek_engine::BACKUP_MANIFEST;
use oxsdatatypes::{DateTime, DayTimeDuration};
use serde_json::Value;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Maximum number of jobs, and of entries of the audit log, on a page.
const MAX_JOBS: usize = 100;
const MAX_AUDIT: usize = 200;
/// Maximum number of datasets of a job on its page.
const MAX_JOB_DATASETS: usize = 20;
/// Maximum number of lines of the report of a job.
const MAX_REPORT_LINES: usize = 50;

struct JobRow {
    id: u64,
    action: &'static str,
    what: String,
    by: String,
    state: &'static str,
    is_failed: bool,
    has_ended: bool,
    ago: String,
    progress: String,
    error: String,
}

#[derive(Template)]
#[template(path = "operator-jobs.html")]
struct JobsPage {
    page: PageContext,
    nav: Nav,
    jobs: Vec<JobRow>,
    /// The result of a single harvest or load, line by line.
    report: Vec<String>,
    /// Datasets of a single job.
    datasets: Vec<DatasetLink>,
    /// Number of its datasets that are not shown.
    unlisted: usize,
    /// The result of a single job as JSON.
    result: Option<String>,
    is_running: bool,
}

pub(super) async fn page(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    Query(parameters): Query<Pairs>,
) -> Response {
    let answer = async {
        let mut jobs = management(&state)?.jobs.list();
        let single: Option<u64> = Fields(parameters).get("job").parse().ok();
        if let Some(id) = single {
            jobs.retain(|job| job.id == id);
        }
        if single.is_some() && jobs.is_empty() {
            return Err(ApiError::not_found(
                "there is no such job since the start of the server; the audit log contains ended ones",
            ));
        }
        jobs.truncate(MAX_JOBS);
        let mut ids = match jobs.first().filter(|_| single.is_some()) {
            Some(job) => dataset_ids(job),
            None => Vec::new(),
        };
        let unlisted = ids.len().saturating_sub(MAX_JOB_DATASETS);
        ids.truncate(MAX_JOB_DATASETS);
        let datasets = state.work(move |state| dataset_links(state, ids)).await?;
        let result = jobs.first().filter(|_| single.is_some());
        let result = result.and_then(|job| job.result.as_ref());
        Ok(render(&JobsPage {
            nav: operator.nav("jobs"),
            report: result.map(report_lines).unwrap_or_default(),
            datasets,
            unlisted,
            result: result.map(|result| format!("{result:#}")),
            is_running: jobs.iter().any(|job| !job.state.has_ended()),
            jobs: jobs.iter().map(job_row).collect(),
            page: page.clone(),
        }))
    };
    operator.respond(&page, "jobs", answer).await
}

/// A dataset of a job.
struct DatasetLink {
    title: String,
    /// Addresses of its page and its form; `None` if it was removed.
    hrefs: Option<(String, String)>,
}

/// Returns the ids of the datasets that a job names, or that it added, changed or removed.
fn dataset_ids(job: &Job) -> Vec<String> {
    match &job.result {
        Some(result) if job.datasets.is_empty() => written_datasets(result),
        _ => job.datasets.clone(),
    }
}

fn dataset_links(state: &AppState, ids: Vec<String>) -> Result<Vec<DatasetLink>, ApiError> {
    let mut links = Vec::new();
    for id in ids {
        let entry = match DatasetId::new(&id) {
            Ok(id) if state.store.contains(&id)? => Some(state.store.entry(&id)?),
            _ => None,
        };
        links.push(match entry {
            Some(entry) => DatasetLink {
                title: entry.dataset.metadata.plain_texts().title().to_owned(),
                hrefs: Some((href(&entry.dataset.metadata.id), edit_address(&id))),
            },
            None => DatasetLink {
                title: id,
                hrefs: None,
            },
        });
    }
    Ok(links)
}

/// Returns what a job did, and what failed: the sources of a harvest, the datasets of a load, the files that a backup lacks.
fn report_lines(result: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(copied) = result["copiedFiles"].as_u64() {
        let (datasets, files) = (&result["datasets"], &result["files"]);
        lines.push(format!(
            "datasets: {datasets}; files: {files}, of which copied: {copied}"
        ));
    }
    for file in list_elements(&result["notCopied"]) {
        lines.push(format!(
            "not in the backup, since it is missing or outside of the home: {}, which the setting `{}` names",
            format_value(&file["path"]),
            format_value(&file["key"])
        ));
    }
    let changed = list_elements(&result["changed"]);
    if !changed.is_empty() {
        let keys: Vec<String> = changed.iter().map(format_value).collect();
        lines.push(format!("changed: {}", keys.join(", ")));
    }
    for (key, name) in [
        ("removed", "datasets removed"),
        ("indexed", "datasets indexed"),
    ] {
        if let Some(number) = result[key].as_u64() {
            lines.push(format!("{name}: {number}"));
        }
    }
    if let Some(interval) = result.get("intervalSeconds") {
        lines.push(match interval.as_u64() {
            Some(seconds) => format!(
                "harvested {}",
                format_interval(Duration::from_secs(seconds))
            ),
            None => "harvested by no schedule any more".to_owned(),
        });
    }
    for harvest in list_elements(&result["harvests"]) {
        for source in list_elements(&harvest["sources"]) {
            let name = format_value(&source["source"]);
            lines.push(format!("{name}: {} listed", source["datasets"]));
            for failed in list_elements(&source["failed"]) {
                lines.push(format!("not read: {}", format_value(&failed["reason"])));
            }
            lines.extend(list_elements(&source["problems"]).iter().map(format_value));
        }
        for (key, outcome) in [
            ("new", "new"),
            ("changed", "changed"),
            ("kept", "not loaded"),
        ] {
            let number = list_elements(&harvest[key]).len();
            if number > 0 {
                lines.push(format!("{number} {outcome}"));
            }
        }
        if let Some(number) = harvest["unchanged"].as_u64().filter(|number| *number > 0) {
            lines.push(format!("{number} unchanged"));
        }
        for failed in list_elements(&harvest["failed_files"]) {
            let (file, reason) = (
                format_value(&failed["what"]),
                format_value(&failed["reason"]),
            );
            lines.push(if reason.contains(&file) {
                format!("file not fetched: {reason}")
            } else {
                format!("file not fetched: {file}: {reason}")
            });
        }
        if let Some(number) = harvest["unlisted_failed_files"].as_u64() {
            lines.push(format!("{number} more files were not fetched"));
        }
        for dataset in list_elements(&harvest["problems"]) {
            let name = format!(
                "{} ({})",
                format_value(&dataset["title"]),
                format_value(&dataset["id"])
            );
            let files = file_lines(dataset);
            lines.extend(files.iter().map(|file| format!("{name}: {file}")));
        }
    }
    for dataset in list_elements(&result["datasets"]) {
        let (title, id) = (
            format_value(&dataset["title"]),
            format_value(&dataset["id"]),
        );
        let (triples, skipped) = (&dataset["triples"], &dataset["skipped"]);
        lines.push(match format_value(&dataset["outcome"]).as_str() {
            "kept" => format!(
                "{title} ({id}): not loaded, since a file is missing, damaged, or holds nothing that can be read; nothing of it was changed"
            ),
            outcome => format!(
                "{title} ({id}): {outcome}; triples: {triples}; broken statements skipped: {skipped}"
            ),
        });
        lines.extend(file_lines(dataset));
    }
    lines.extend(
        list_elements(&result["catalog_problems"])
            .iter()
            .map(format_value),
    );
    if lines.len() > MAX_REPORT_LINES {
        let more = lines.len() - MAX_REPORT_LINES;
        lines.truncate(MAX_REPORT_LINES);
        lines.push(format!("{more} more lines are in the JSON"));
    }
    lines
}

/// Returns the files of a dataset that have problems: the file, its outcome, and each problem.
fn file_lines(dataset: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for file in list_elements(&dataset["files"]) {
        let mut start = format_value(&file["file"]);
        let outcome = match file["outcome"].as_str() {
            Some("skipped") => "statements were skipped",
            Some("truncated") => "read in part",
            Some("refused") => "not read",
            Some("unreadable") => "cannot be read",
            _ => "",
        };
        if !outcome.is_empty() {
            start += ": ";
            start += outcome;
        }
        let problems = list_elements(&file["problems"]);
        if problems.is_empty() && !outcome.is_empty() {
            lines.push(start.clone());
        }
        for problem in problems {
            let message = format_value(&problem["message"]);
            lines.push(match problem["line"].as_u64() {
                Some(number) => format!("{start}: line {number}: {message}"),
                None => format!("{start}: {message}"),
            });
        }
    }
    lines
}

/// Returns a text as it is, and another value as JSON.
fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn job_row(job: &Job) -> JobRow {
    let progress = &job.progress;
    let mut parts = Vec::new();
    if progress.total > 0 && !job.state.has_ended() {
        parts.push(format!("{} of {}", progress.done, progress.total));
    }
    for (number, name) in [
        (progress.pages, "pages"),
        (progress.requests, "requests"),
        (progress.bytes, "bytes"),
    ] {
        parts.extend(number.map(|number| format!("{name}: {number}")));
    }
    let named = if job.datasets.is_empty() {
        &job.sources
    } else {
        &job.datasets
    };
    let mut what: Vec<&str> = named.iter().take(3).map(String::as_str).collect();
    if named.len() > what.len() {
        what.push("…");
    }
    // A load whose every dataset is as it was before ends well for the server, and not for the operator.
    let datasets = job.result.as_ref().map(|result| &result["datasets"]);
    let datasets = datasets.map(list_elements).unwrap_or_default();
    let loads_nothing =
        !datasets.is_empty() && datasets.iter().all(|dataset| dataset["outcome"] == "kept");
    JobRow {
        id: job.id,
        action: job.action,
        what: what.join(", "),
        by: job.by.clone(),
        state: if loads_nothing {
            "nothing loaded"
        } else {
            job.state.name()
        },
        is_failed: loads_nothing || job.state == JobState::Failed,
        has_ended: job.state.has_ended(),
        ago: format_ago(job.ended.or(job.started).unwrap_or(job.requested)),
        progress: parts.join(" · "),
        error: job.error.clone().unwrap_or_default(),
    }
}

/// Returns the time since a moment in seconds since 1970.
pub(super) fn format_ago(seconds: u64) -> String {
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let time = SystemTime::now().duration_since(moment).unwrap_or_default();
    format!("{} ago", format_duration(time))
}

/// Returns a moment in seconds since 1970 as a date and time in UTC. Empty if XML Schema has no such time.
fn utc_time(seconds: u64) -> String {
    let (Ok(epoch), Ok(seconds)) = (
        "1970-01-01T00:00:00Z".parse::<DateTime>(),
        i64::try_from(seconds),
    ) else {
        return String::new();
    };
    match epoch.checked_add_day_time_duration(DayTimeDuration::new(seconds)) {
        Some(time) => time.to_string(),
        None => String::new(),
    }
}

/// Cancels a job.
pub(super) async fn cancel(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    request: Request,
) -> Response {
    let answer = async {
        let fields = Fields::read(request).await?;
        operator.authorize(Scope::Write, fields.get("form"))?;
        let job: u64 = fields
            .get("job")
            .parse()
            .map_err(|_| ApiError::bad_request("the form names no job"))?;
        let management = Arc::clone(management(&state)?);
        state
            .work(move |_| {
                management.jobs.cancel(job);
                Ok(())
            })
            .await?;
        Ok(Redirect::to(&job_address(job)).into_response())
    };
    operator.respond(&page, "jobs", answer).await
}

#[derive(Template)]
#[template(path = "operator-backup.html")]
struct BackupPage {
    page: PageContext,
    nav: Nav,
    /// Folder of the configuration.
    folder: Option<String>,
    /// Time since the last backup in the folder.
    last: Option<String>,
    jobs: Vec<JobRow>,
}

pub(super) async fn backup_page(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
) -> Response {
    let answer = async {
        let jobs = management(&state)?.jobs.list();
        let folder = state.changes.backup_folder.clone();
        let last = folder.as_ref().and_then(|folder| {
            let manifest = fs::metadata(folder.join(BACKUP_MANIFEST)).ok()?;
            let time = SystemTime::now().duration_since(manifest.modified().ok()?);
            Some(format!("{} ago", format_duration(time.unwrap_or_default())))
        });
        let backups = jobs.iter().filter(|job| job.action == "backup");
        Ok(render(&BackupPage {
            nav: operator.nav("backup"),
            folder: folder.map(|folder| folder.display().to_string()),
            last,
            jobs: backups.map(job_row).collect(),
            page: page.clone(),
        }))
    };
    operator.respond(&page, "backup", answer).await
}

/// Makes a backup in the folder of the configuration.
pub(super) async fn back_up(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    request: Request,
) -> Response {
    let answer = async {
        let fields = Fields::read(request).await?;
        operator.authorize(Scope::Admin, fields.get("form"))?;
        let folder = state.changes.backup_folder.as_ref().ok_or_else(|| {
            ApiError::bad_request(
                "no folder for backups is configured: set `backup-folder` in the table [server] of lodeseek.toml",
            )
        })?;
        let change = Change::Backup(folder.to_path_buf());
        queue_change(&state, &operator, change).await
    };
    operator.respond(&page, "backup", answer).await
}

struct AuditRow {
    ago: String,
    /// Time in UTC, as XML Schema writes it; empty for a damaged entry.
    time: String,
    by: String,
    action: String,
    what: String,
    fields: String,
    outcome: String,
    is_failed: bool,
}

impl AuditRow {
    /// Returns the time for readers.
    fn date_text(&self) -> String {
        self.time.replace('T', " ").replace('Z', "")
    }
}

#[derive(Template)]
#[template(path = "operator-audit.html")]
struct AuditPage {
    page: PageContext,
    nav: Nav,
    entries: Vec<AuditRow>,
}

pub(super) async fn audit_page(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
) -> Response {
    let answer = async {
        let management = Arc::clone(management(&state)?);
        let lines = state
            .work(move |_| {
                let last = management.jobs.audit.last(MAX_AUDIT);
                last.map_err(|error| ApiError::internal(&error))
            })
            .await?;
        let entries = lines.lines().rev().map(audit_row).collect();
        Ok(render(&AuditPage {
            nav: operator.nav("audit"),
            entries,
            page: page.clone(),
        }))
    };
    operator.respond(&page, "audit", answer).await
}

fn audit_row(line: &str) -> AuditRow {
    let entry: Value = serde_json::from_str(line).unwrap_or_default();
    if let Some(damaged) = entry["damaged"].as_str() {
        return AuditRow {
            ago: String::new(),
            time: String::new(),
            by: String::new(),
            action: "damaged entry".to_owned(),
            what: damaged.to_owned(),
            fields: String::new(),
            outcome: String::new(),
            is_failed: true,
        };
    }
    let outcome = entry["outcome"].as_str().unwrap_or_default();
    let detail = entry["detail"].as_str().unwrap_or_default();
    let time = entry["time"].as_u64().unwrap_or_default();
    let lists = ["datasets", "works", "sources"].map(|key| join_values(&entry[key]));
    let named: Vec<&str> = lists
        .iter()
        .map(String::as_str)
        .filter(|list| !list.is_empty())
        .collect();
    AuditRow {
        ago: format_ago(time),
        time: utc_time(time),
        by: entry["by"].as_str().unwrap_or_default().to_owned(),
        action: entry["action"].as_str().unwrap_or_default().to_owned(),
        what: named.join("; "),
        fields: join_values(&entry["fields"]),
        is_failed: outcome == "failed",
        outcome: if detail.is_empty() {
            outcome.to_owned()
        } else {
            format!("{outcome}: {detail}")
        },
    }
}

fn join_values(list: &Value) -> String {
    let texts = list.as_array().into_iter().flatten();
    let texts: Vec<&str> = texts.filter_map(Value::as_str).collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::dump::FileReport;
    use serde_json::json;

    #[test]
    fn entries_of_the_audit_log_have_a_date_and_their_sources() {
        let entry = json!({
            "time": 1_714_979_289, "job": 1, "by": "ci", "action": "harvest", "datasets": ["wells"],
            "sources": ["https://e.org/catalog.ttl"], "outcome": "done"
        });
        let row = audit_row(&entry.to_string());
        assert_eq!(row.date_text(), "2024-05-06 07:08:09");
        assert_eq!(
            (row.time.as_str(), row.what.as_str()),
            ("2024-05-06T07:08:09Z", "wells; https://e.org/catalog.ttl")
        );
        let old =
            audit_row(r#"{"time":1,"job":1,"action":"remove","datasets":["a"],"works":["0f"]}"#);
        assert_eq!(
            (old.time.as_str(), old.what.as_str()),
            ("1970-01-01T00:00:01Z", "a; 0f")
        );
    }

    #[test]
    fn results_say_what_was_not_done() {
        let backup = json!({
            "datasets": 3, "files": 12, "copiedFiles": 2,
            "notCopied": [{ "key": "portal.logo", "path": "/etc/logo.svg" }]
        });
        assert_eq!(
            report_lines(&backup),
            [
                "datasets: 3; files: 12, of which copied: 2",
                "not in the backup, since it is missing or outside of the home: /etc/logo.svg, which the setting `portal.logo` names"
            ]
        );
        let mut file = FileReport::unreadable("wells.ttl", "no statement");
        file.problems.truncate(1);
        let files = json!([file]);
        let load = json!({ "datasets": [
            { "title": "Wells", "id": "wells", "outcome": "kept", "triples": 0, "skipped": 1, "files": files },
            { "title": "Oaks", "id": "oaks", "outcome": "loaded", "triples": 7, "skipped": 0, "files": [] },
        ] });
        let lines = report_lines(&load);
        assert!(
            lines[0].starts_with("Wells (wells): not loaded"),
            "{lines:?}"
        );
        assert_eq!(
            lines[1..],
            [
                "wells.ttl: cannot be read: no statement",
                "Oaks (oaks): loaded; triples: 7; broken statements skipped: 0"
            ]
        );
        let harvest = json!({ "harvests": [{
            "sources": [{ "source": "https://e.org/catalog.ttl", "datasets": 3 }],
            "unchanged": 3,
            "failed_files": [{ "what": "https://e.org/missing.ttl", "reason": "status 404" }],
            "problems": [{ "title": "Wells", "id": "wells", "files": [
                { "file": "a.nt", "outcome": "skipped", "problems": [{ "line": 7, "message": "no IRI" }] },
                { "file": "b.nt", "outcome": "complete" },
            ] }],
        }] });
        assert_eq!(
            report_lines(&harvest),
            [
                "https://e.org/catalog.ttl: 3 listed",
                "3 unchanged",
                "file not fetched: https://e.org/missing.ttl: status 404",
                "Wells (wells): a.nt: statements were skipped: line 7: no IRI",
            ]
        );
        assert_eq!(
            report_lines(&json!({ "changed": ["title", "license"] })),
            ["changed: title, license"]
        );
    }
}
