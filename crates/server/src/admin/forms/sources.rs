//! Sources of descriptions, harvests and uploads.

use super::jobs::format_ago;
use super::{Fields, Nav, Operator, queue_change};
use crate::AppState;
use crate::admin::management::{management, restrict};
use crate::admin::uploads::{SourceNaming, receive_sources};
use crate::error::ApiError;
use crate::pages::{PageContext, render};
use crate::parameters::Pairs;
use askama::Template;
use axum::extract::{Query, Request, State};
use axum::response::Response;
use lodeseek_changes::{Change, HarvestRecord, Job, ScheduledSource, Scope, harvest_records};
use lodeseek_engine::{CollectionDataset, list_datasets};
use lodeseek_harvest::{HarvestRequest, is_address};
use lodeseek_store::PastLoad;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

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
    /// Interval of its scheduled harvests; empty without a schedule.
    every: String,
    /// If false, it is a local path, which a request cannot name.
    is_address: bool,
    /// Number of other sources that were harvested together with it, under one name.
    others: usize,
}

#[derive(Template)]
#[template(path = "operator-sources.html")]
struct SourcesPage {
    page: PageContext,
    nav: Nav,
    sources: Vec<SourceRow>,
}

pub(super) async fn page(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
) -> Response {
    let answer = async {
        let jobs = management(&state)?.jobs.list();
        let schedule = Arc::clone(&state.changes.schedule);
        let (datasets, loads, records) = state
            .work(|state| {
                let datasets = list_datasets(&state.store)?;
                let records = harvest_records(state.store.home());
                Ok((datasets, state.store.past_loads()?, records))
            })
            .await?;
        Ok(render(&SourcesPage {
            nav: operator.nav("sources"),
            sources: source_rows(datasets, &jobs, &loads, &records, &schedule),
            page: page.clone(),
        }))
    };
    operator.respond(&page, "sources", answer).await
}

/// Returns the addresses from which descriptions came, and the sources that are harvested on schedule.
fn source_rows(
    datasets: Vec<CollectionDataset>,
    jobs: &[Job],
    loads: &[PastLoad],
    records: &[HarvestRecord],
    schedule: &[ScheduledSource],
) -> Vec<SourceRow> {
    let mut sources: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for scheduled in schedule {
        sources.insert(scheduled.source.clone(), (0, String::new()));
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
        let scheduled = schedule.iter().find(|one| one.source == address);
        let recorded = match (record, load) {
            (Some(record), _) => format_ago(record.time),
            (None, Some(load)) => describe_load(load),
            (None, None) => String::new(),
        };
        rows.push(SourceRow {
            recorded,
            every: match scheduled {
                Some(one) => format_interval(one.every),
                None => String::new(),
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

/// Formats an interval in the largest unit of which it is a multiple.
fn format_interval(interval: Duration) -> String {
    let seconds = interval.as_secs();
    for (unit, name) in [(86_400, "days"), (3600, "hours"), (60, "minutes")] {
        if seconds > 0 && seconds.is_multiple_of(unit) {
            return format!("{} {name}", seconds / unit);
        }
    }
    format!("{seconds} seconds")
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

/// Returns the request of the last harvest of a source, or one with the default options.
async fn repeated_request(state: &AppState, source: String) -> Result<HarvestRequest, ApiError> {
    state
        .work(move |state| {
            let records = harvest_records(state.store.home());
            Ok(match last_harvest(&records, &source) {
                Some(record) => record.request.clone(),
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

/// Harvests a source now: with default options, or with those of its last harvest. The box for downloads decides in both cases.
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
        let mut request = match fields.get("repeat") {
            "true" => repeated_request(&state, source).await?,
            _ => request_for(source),
        };
        request.download = fields.get("download") == "true";
        restrict(&mut request, &state)?;
        request
            .policy(&request.sources)
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
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
    use lodeseek_harvest::{Downloads, HarvestProtocol};

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
        let row = |records: &[HarvestRecord]| {
            let rows = source_rows(vec![dataset.clone()], &[], &[], records, &[]);
            let row = &rows[0];
            (row.is_download, row.others, row.recorded.clone())
        };
        assert_eq!(row(&[]), (false, 0, String::new()));
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
        let (is_download, others, recorded) = row(&records);
        assert!(is_download && others == 1 && recorded.ends_with(" ago"));
        let last = last_harvest(&records, &address).expect("a record");
        assert_eq!(last.request.sources.len(), 2);
        let scheduled = ScheduledSource {
            source: "catalogue.ttl".to_owned(),
            protocol: HarvestProtocol::Auto,
            every: Duration::from_secs(6 * 3600),
            downloads: Downloads::None,
        };
        let rows = source_rows(vec![dataset.clone()], &[], &[], &[], &[scheduled]);
        let every: Vec<&str> = rows.iter().map(|row| row.every.as_str()).collect();
        assert_eq!(
            every,
            ["6 hours", ""],
            "a source without datasets is listed, too"
        );
        assert!(last_harvest(&records, "https://e.org/new").is_none());
    }
}
