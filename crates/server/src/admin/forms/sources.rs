//! Sources of descriptions, harvests and uploads.

use super::jobs::ago;
use super::{Fields, Nav, Operator, make, respond};
use crate::AppState;
use crate::admin::management::{management, restrict};
use crate::admin::uploads::{SourceNaming, receive_sources};
use crate::error::ApiError;
use crate::pages::{PageContext, render};
use crate::parameters::Pairs;
use askama::Template;
use axum::extract::{Query, Request, State};
use axum::response::Response;
use lodeseek_changes::{Change, Job, Scope};
use lodeseek_engine::{CollectionDataset, list_datasets};
use lodeseek_harvest::{HarvestRequest, is_address};
use lodeseek_store::PastLoad;
use std::collections::BTreeMap;

/// A source of descriptions.
#[derive(Default)]
struct SourceRow {
    address: String,
    datasets: usize,
    /// Time since the last change of one of its descriptions.
    changed: String,
    /// The last harvest since the start of the server, with its job.
    harvest: Option<(u64, String)>,
    /// The last recorded load from it, in words. Loads without changes and problems are not recorded.
    recorded: String,
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
    respond(&page, async {
        let jobs = management(&state)?.jobs.list();
        let (datasets, loads) = state
            .work(|state| Ok((list_datasets(&state.store)?, state.store.past_loads()?)))
            .await?;
        Ok(render(&SourcesPage {
            nav: operator.nav("sources"),
            sources: sources(datasets, &jobs, &loads),
            page: page.clone(),
        }))
    })
    .await
}

/// Returns the addresses from which descriptions came.
fn sources(datasets: Vec<CollectionDataset>, jobs: &[Job], loads: &[PastLoad]) -> Vec<SourceRow> {
    let mut sources: BTreeMap<String, (usize, String)> = BTreeMap::new();
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
        let harvest = jobs.iter().find(|job| {
            job.action == "harvest" && harvested_sources(job).contains(&address.as_str())
        });
        let load = loads
            .iter()
            .find(|load| load.origin.as_deref() == Some(address.as_str()));
        rows.push(SourceRow {
            recorded: load.map(describe_load).unwrap_or_default(),
            harvest: harvest.map(|job| (job.id, ago(job.ended.unwrap_or(job.requested)))),
            changed: changed.get(..16).unwrap_or(&changed).replace('T', " "),
            address,
            datasets,
        });
    }
    rows
}

/// Returns the time and the counts of a load in words.
fn describe_load(load: &PastLoad) -> String {
    let mut text = format!(
        "{}: {} of {} changed",
        ago(load.time),
        load.written,
        load.datasets
    );
    if load.with_problems > 0 {
        text += &format!(", {} with problems", load.with_problems);
    }
    text
}

/// Returns the sources in the reports of a harvest.
fn harvested_sources(job: &Job) -> Vec<&str> {
    let reports = job
        .result
        .as_ref()
        .and_then(|result| result["harvests"].as_array());
    let mut sources = Vec::new();
    for report in reports.into_iter().flatten() {
        for source in report["sources"].as_array().into_iter().flatten() {
            sources.extend(source["source"].as_str());
        }
    }
    sources
}

/// Harvests a source now.
pub(super) async fn harvest(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    request: Request,
) -> Response {
    respond(&page, async {
        let fields = Fields::read(request).await?;
        operator.authorize(Scope::Admin, fields.get("form"))?;
        let mut request = HarvestRequest {
            sources: vec![fields.get("source").to_owned()],
            download: fields.get("download") == "true",
            ..HarvestRequest::default()
        };
        restrict(&mut request, &state)?;
        request
            .policy(&request.sources)
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
        make(&state, &operator, Change::Harvest(Box::new(request))).await
    })
    .await
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
    respond(&page, async {
        operator.authorize(Scope::Write, Fields(parameters).get("form"))?;
        let spool = management(&state)?
            .new_spool()
            .map_err(|error| ApiError::of_file(&error))?;
        let change = receive_sources(request, spool, SourceNaming::EachFile).await?;
        make(&state, &operator, change).await
    })
    .await
}
