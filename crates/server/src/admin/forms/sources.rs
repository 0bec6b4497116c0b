//! Sources of descriptions, their harvests and schedules, and uploads.

use super::jobs::format_ago;
use super::{Fields, MAX_JOB_WAIT, Nav, Operator, job_address, queue_change};
use crate::AppState;
use crate::admin::management::{management, queue, restrict};
use crate::admin::uploads::{SourceNaming, receive_sources};
use crate::error::ApiError;
use crate::pages::{PageContext, render};
use crate::parameters::Pairs;
use askama::Template;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use lodeseek_changes::{
    Change, HarvestRecord, Job, JobState, ScheduleChange, ScheduledSource, Scope, StoredSchedule,
    harvest_records, stored_schedules,
};
use lodeseek_engine::{CollectionDataset, list_datasets};
use lodeseek_harvest::{HarvestRequest, is_address};
use lodeseek_store::PastLoad;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Intervals of the forms in seconds: an hour, a day, a week.
const INTERVALS: [u64; 3] = [3600, 86_400, 7 * 86_400];
/// Maximum interval in seconds: a leap year.
const MAX_INTERVAL_SECONDS: u64 = 366 * 86_400;

/// A source of descriptions.
#[derive(Default)]
struct SourceRow {
    address: String,
    datasets: usize,
    /// Time since the last change of one of its descriptions.
    changed: String,
    /// The last harvest since the start of the server, with its job.
    harvest: Option<(u64, String)>,
    /// The last recorded harvest or load from it, in words. Loads without changes and problems are not recorded.
    recorded: String,
    /// If true, the last harvest downloaded files.
    is_download: bool,
    /// Schedule of the configuration in words; empty without one.
    configured: String,
    /// Interval of the schedule that operators have set, in seconds.
    interval: Option<u64>,
    /// If true, the scheduled harvests download files.
    has_scheduled_download: bool,
    /// If false, it is a local path, which a request cannot name.
    is_address: bool,
    /// Number of other sources that were harvested together with it, under one name.
    others: usize,
}

impl SourceRow {
    /// Returns the intervals to choose from.
    fn choices(&self) -> Vec<IntervalChoice> {
        interval_choices(self.interval)
    }

    /// Returns the schedule in words.
    fn schedule(&self) -> String {
        match self.interval {
            _ if !self.configured.is_empty() => self.configured.clone(),
            Some(seconds) => format_interval(Duration::from_secs(seconds)),
            None => "never".to_owned(),
        }
    }
}

/// An interval to choose.
struct IntervalChoice {
    /// Value of the form.
    value: String,
    name: String,
    is_selected: bool,
}

/// Returns the intervals to choose from: none, those of the forms, and the present one if it is another.
fn interval_choices(present: Option<u64>) -> Vec<IntervalChoice> {
    let mut intervals = INTERVALS.to_vec();
    intervals.extend(present);
    intervals.sort_unstable();
    intervals.dedup();
    let mut choices = vec![IntervalChoice {
        value: "never".to_owned(),
        name: "never".to_owned(),
        is_selected: present.is_none(),
    }];
    for seconds in intervals {
        choices.push(IntervalChoice {
            value: seconds.to_string(),
            name: format_interval(Duration::from_secs(seconds)),
            is_selected: present == Some(seconds),
        });
    }
    choices
}

#[derive(Template)]
#[template(path = "operator-sources.html")]
struct SourcesPage {
    page: PageContext,
    nav: Nav,
    /// Intervals of a new source.
    choices: Vec<IntervalChoice>,
    sources: Vec<SourceRow>,
}

/// Jobs, loads, records and schedules of the harvests of a home.
struct HarvestFacts<'h> {
    jobs: &'h [Job],
    loads: &'h [PastLoad],
    records: &'h [HarvestRecord],
    /// Schedules of the configuration.
    configured: &'h [ScheduledSource],
    /// Schedules that operators have set.
    stored: &'h [StoredSchedule],
}

pub(super) async fn page(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
) -> Response {
    let answer = async {
        let jobs = management(&state)?.jobs.list();
        let configured = Arc::clone(&state.changes.schedule);
        let (datasets, loads, records, stored) = state
            .work(|state| {
                let datasets = list_datasets(&state.store)?;
                let home = state.store.home();
                let (records, stored) = (harvest_records(home), stored_schedules(home));
                Ok((datasets, state.store.past_loads()?, records, stored))
            })
            .await?;
        let facts = HarvestFacts {
            jobs: &jobs,
            loads: &loads,
            records: &records,
            configured: &configured,
            stored: &stored,
        };
        Ok(render(&SourcesPage {
            nav: operator.nav("sources"),
            choices: interval_choices(None),
            sources: source_rows(datasets, &facts),
            page: page.clone(),
        }))
    };
    operator.respond(&page, "sources", answer).await
}

/// Returns the addresses from which descriptions came, and the sources that are harvested on schedule.
fn source_rows(datasets: Vec<CollectionDataset>, facts: &HarvestFacts<'_>) -> Vec<SourceRow> {
    let HarvestFacts {
        jobs,
        loads,
        records,
        configured,
        stored,
    } = facts;
    let mut sources: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let scheduled = configured.iter().map(|one| &one.request);
    for request in scheduled.chain(stored.iter().map(|one| &one.request)) {
        for source in &request.sources {
            sources.insert(source.clone(), (0, String::new()));
        }
    }
    for dataset in datasets {
        let Some(origin) = dataset.origin.filter(|origin| is_address(origin)) else {
            continue;
        };
        let (number, changed) = sources.entry(origin).or_default();
        *number += 1;
        *changed = dataset.modified.unwrap_or_default().max(changed.clone());
    }
    let mut rows = Vec::new();
    for (address, (datasets, changed)) in sources {
        let harvest = jobs
            .iter()
            .find(|job| job.action == "harvest" && job.sources.contains(&address));
        let load = loads
            .iter()
            .find(|load| load.origin.as_deref() == Some(address.as_str()));
        let record = last_harvest(records, &address);
        // A scheduled harvest may be later than the last one that was requested.
        let harvest = harvest.filter(|job| {
            let ended = job.ended.unwrap_or(u64::MAX);
            record.is_none_or(|record| record.time <= ended)
        });
        let configured = configured.iter().find(|one| one.has_source(&address));
        let stored = stored.iter().find(|one| one.has_source(&address));
        let recorded = match (record, load) {
            (Some(record), _) => format_ago(record.time),
            (None, Some(load)) => describe_load(load),
            (None, None) => String::new(),
        };
        rows.push(SourceRow {
            recorded,
            configured: match configured {
                Some(one) => format!("{} (configuration)", format_interval(one.every)),
                None => String::new(),
            },
            interval: stored.map(|one| one.every),
            has_scheduled_download: match (configured, stored) {
                (Some(one), _) => one.request.download,
                (None, Some(one)) => one.request.download,
                (None, None) => false,
            },
            is_address: is_address(&address),
            is_download: record.is_some_and(|record| record.request.download),
            others: match record {
                Some(record) => record.request.sources.len().saturating_sub(1),
                None => 0,
            },
            harvest: harvest.map(|job| (job.id, format_ago(job.ended.unwrap_or(job.requested)))),
            changed: changed.get(..16).unwrap_or(&changed).replace('T', " "),
            address,
            datasets,
        });
    }
    rows
}

/// Formats an interval in the largest unit of which it is a multiple: "every day", "every 6 hours".
pub(super) fn format_interval(interval: Duration) -> String {
    let seconds = interval.as_secs();
    let units = [
        (7 * 86_400, "week"),
        (86_400, "day"),
        (3600, "hour"),
        (60, "minute"),
    ];
    for (unit, name) in units {
        if seconds > 0 && seconds.is_multiple_of(unit) {
            return match seconds / unit {
                1 => format!("every {name}"),
                number => format!("every {number} {name}s"),
            };
        }
    }
    match seconds {
        1 => "every second".to_owned(),
        seconds => format!("every {seconds} seconds"),
    }
}

/// Parses the interval of a form: a number of seconds, or `never`.
fn parse_interval(text: &str) -> Result<Option<Duration>, ApiError> {
    if ["", "never"].contains(&text) {
        return Ok(None);
    }
    match text.parse() {
        Ok(seconds @ 1..=MAX_INTERVAL_SECONDS) => Ok(Some(Duration::from_secs(seconds))),
        _ => Err(ApiError::bad_request(format!(
            "{text:?} is no interval: write never, or a number of seconds from 1 to {MAX_INTERVAL_SECONDS}"
        ))),
    }
}

/// Returns the time and the counts of a load in words.
fn describe_load(load: &PastLoad) -> String {
    let mut text = format!(
        "{}: {} of {} changed",
        format_ago(load.time),
        load.written,
        load.datasets
    );
    if load.with_problems > 0 {
        text += &format!(", {} with problems", load.with_problems);
    }
    text
}

/// Returns the last harvest of a source. The records are sorted, the latest first.
fn last_harvest<'r>(records: &'r [HarvestRecord], address: &str) -> Option<&'r HarvestRecord> {
    records.iter().find(|record| {
        let mut sources = record.request.sources.iter();
        sources.any(|source| source == address)
    })
}

/// Returns the request of the last harvest of a source, else that of its schedule, else one with the default options.
async fn repeated_request(state: &AppState, source: String) -> Result<HarvestRequest, ApiError> {
    state
        .work(move |state| {
            let home = state.store.home();
            if let Some(record) = last_harvest(&harvest_records(home), &source) {
                return Ok(record.request.clone());
            }
            let mut stored = stored_schedules(home).into_iter();
            Ok(match stored.find(|one| one.has_source(&source)) {
                Some(schedule) => schedule.request,
                None => request_for(source),
            })
        })
        .await
}

fn request_for(source: String) -> HarvestRequest {
    HarvestRequest {
        sources: vec![source],
        ..HarvestRequest::default()
    }
}

/// Sets or removes the schedule of the sources of a request. Returns its job, which may still wait in the queue.
async fn change_schedule(
    state: &AppState,
    operator: &Operator,
    request: HarvestRequest,
    every: Option<Duration>,
) -> Result<Job, ApiError> {
    for source in &request.sources {
        let configured = &state.changes.schedule;
        if configured.iter().any(|one| one.has_source(source)) {
            return Err(ApiError::with_status(
                StatusCode::CONFLICT,
                format!(
                    "{source} has a schedule in the configuration; change it in lodeseek.toml or in the options of the server, and restart it"
                ),
            ));
        }
    }
    let change = Change::Schedule(Box::new(ScheduleChange { request, every }));
    queue(state, change, &operator.caller, MAX_JOB_WAIT).await
}

/// Harvests a source now, and sets its schedule if the form has an interval; or sets only the schedule. A new source is harvested with
/// default options, a known one with those of its last harvest. The box for downloads decides on these.
pub(super) async fn harvest(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    request: Request,
) -> Response {
    let answer = async {
        let fields = Fields::read(request).await?;
        operator.authorize(Scope::Admin, fields.get("form"))?;
        let source = fields.get("source").to_owned();
        let every = parse_interval(fields.get("every"))?;
        let is_schedule = fields.get("do") == "schedule";
        let mut request = if is_schedule || fields.get("repeat") == "true" {
            repeated_request(&state, source).await?
        } else {
            request_for(source)
        };
        if !is_schedule {
            request.download = fields.get("download") == "true";
        }
        restrict(&mut request, &state)?;
        request
            .policy(&request.sources)
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
        if is_schedule || every.is_some() {
            let job = change_schedule(&state, &operator, request.clone(), every).await?;
            let is_done = job.state == JobState::Done;
            if is_schedule && is_done {
                return Ok(Redirect::to("/operator/sources").into_response());
            }
            // A job that waits does not keep the harvest from waiting behind it.
            if is_schedule || job.state.has_ended() && !is_done {
                return Ok(Redirect::to(&job_address(job.id)).into_response());
            }
        }
        queue_change(&state, &operator, Change::Harvest(Box::new(request))).await
    };
    operator.respond(&page, "sources", answer).await
}

#[derive(Template)]
#[template(path = "operator-upload.html")]
struct UploadPage {
    page: PageContext,
    nav: Nav,
}

pub(super) async fn upload_page(page: PageContext, operator: Operator) -> Response {
    render(&UploadPage {
        nav: operator.nav("upload"),
        page,
    })
}

/// Loads uploaded files. The secret of the form is in the address, because the body is received into files.
pub(super) async fn upload(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    Query(parameters): Query<Pairs>,
    request: Request,
) -> Response {
    let answer = async {
        operator.authorize(Scope::Write, Fields(parameters).get("form"))?;
        let spool = management(&state)?
            .new_spool()
            .map_err(|error| ApiError::of_file(&error))?;
        let change = receive_sources(request, spool, SourceNaming::EachFile).await?;
        queue_change(&state, &operator, change).await
    };
    operator.respond(&page, "upload", answer).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::DatasetId;
    use lodeseek_engine::IndexState;

    #[test]
    fn sources_have_the_options_of_their_last_harvest() {
        let address = "https://e.org/catalog.ttl".to_owned();
        let dataset = CollectionDataset {
            id: DatasetId::new("trees").expect("an id"),
            title: "Trees".to_owned(),
            triples: 7,
            state: IndexState::Indexed,
            modified: None,
            origin: Some(address.clone()),
        };
        let unknown = HarvestFacts {
            jobs: &[],
            loads: &[],
            records: &[],
            configured: &[],
            stored: &[],
        };
        let rows = source_rows(vec![dataset.clone()], &unknown);
        let row = &rows[0];
        assert!(!row.is_download && row.others == 0 && row.recorded.is_empty());
        assert_eq!(row.schedule(), "never");
        let record = |sources: &[&str], download: bool| HarvestRecord {
            time: 1,
            request: HarvestRequest {
                sources: sources.iter().map(|source| (*source).to_owned()).collect(),
                download,
                ..HarvestRequest::default()
            },
        };
        // The first record with the source is the latest one.
        let records = [
            record(&["https://e.org/other"], false),
            record(&["https://e.org/other", &address], true),
            record(&[&address], false),
        ];
        let facts = HarvestFacts {
            records: &records,
            ..unknown
        };
        let rows = source_rows(vec![dataset.clone()], &facts);
        let row = &rows[0];
        assert!(row.is_download && row.others == 1 && row.recorded.ends_with(" ago"));
        let last = last_harvest(&records, &address).expect("a record");
        assert_eq!(last.request.sources.len(), 2);
        let configured = ScheduledSource {
            request: request_for("catalogue.ttl".to_owned()),
            every: Duration::from_secs(6 * 3600),
        };
        let stored = StoredSchedule {
            every: 86_400,
            set: 1,
            request: request_for("https://e.org/new.ttl".to_owned()),
        };
        let facts = HarvestFacts {
            configured: &[configured],
            stored: &[stored],
            ..unknown
        };
        let rows = source_rows(vec![dataset.clone()], &facts);
        let schedules: Vec<String> = rows.iter().map(SourceRow::schedule).collect();
        assert_eq!(
            schedules,
            ["every 6 hours (configuration)", "never", "every day"],
            "sources without datasets are listed, too"
        );
        assert!(last_harvest(&records, "https://e.org/new").is_none());
    }

    #[test]
    fn intervals_of_forms() {
        for (text, expected) in [("", None), ("never", None), ("3600", Some(3600))] {
            let parsed = parse_interval(text).expect("an interval");
            assert_eq!(parsed.map(|every| every.as_secs()), expected);
        }
        for wrong in ["0", "-1", "1h", "31622401", "18446744073709551616"] {
            assert!(parse_interval(wrong).is_err(), "{wrong}");
        }
        let names: Vec<String> = interval_choices(Some(7200))
            .into_iter()
            .map(|choice| {
                let mark = if choice.is_selected { "*" } else { "" };
                format!("{mark}{}", choice.name)
            })
            .collect();
        assert_eq!(
            names,
            [
                "never",
                "every hour",
                "*every 2 hours",
                "every day",
                "every week"
            ]
        );
    }
}
