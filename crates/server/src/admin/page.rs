//! The operator's page: the server's state as HTML.

use super::forms::Nav;
use super::schemas::OperatorOnly;
use super::{Overview, RouteView, TaskView, overview};
use crate::AppState;
use crate::pages::{PageContext, error, render};
use crate::text::href;
use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use lodeseek_store::{DatasetOutcome, PastDataset, PastLoad};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// Maximum number of routes shown, those with the largest total time.
const MAX_ROUTES: usize = 40;
/// Maximum number of datasets of the last loads shown.
const MAX_DATASETS: usize = 20;
/// Height of the tallest bar, and width of a bar with its gap, in pixels.
const BAR_HEIGHT: u64 = 24;
const BAR_STEP: usize = 8;

#[derive(Template)]
#[template(path = "operator.html")]
struct Page {
    page: PageContext,
    /// Menu of the administration; `None` if it is disabled.
    nav: Option<Nav>,
    facts: Vec<(&'static str, String)>,
    pace: Vec<(&'static str, String)>,
    routes: Vec<RouteRow>,
    /// Outcomes of background tasks.
    outcomes: Vec<TaskRow>,
    loads: Vec<LoadRow>,
    loaded: Vec<DatasetRow>,
    with_skipped: u64,
    endpoints: Vec<EndpointRow>,
}

struct RouteRow {
    route: String,
    requests: u64,
    refused: u64,
    failed: u64,
    times: [String; 3],
    bars: Vec<Bar>,
    width: usize,
    description: String,
}

struct Bar {
    x: usize,
    y: u64,
    height: u64,
    description: String,
}

struct TaskRow {
    is_done: bool,
    ago: String,
    what: String,
    outcome: String,
}

struct LoadRow {
    ago: String,
    origin: Option<String>,
    datasets: usize,
    written: usize,
    triples: u64,
    with_problems: usize,
    with_failures: usize,
    catalog_problems: usize,
}

struct DatasetRow {
    ago: String,
    title: String,
    /// Address of its page; `None` if it was removed since.
    href: Option<String>,
    outcome: &'static str,
    is_failed: bool,
    triples: u64,
    problems: u64,
    failures: usize,
    first_problem: String,
}

struct EndpointRow {
    address: String,
    calls: u64,
    failures: u64,
    mean: String,
}

/// `GET /operator`.
#[utoipa::path(get, path = "/operator", tag = "Server", operation_id = "operatorPage", summary = "State of the server: a page",
    responses((status = 200, description = "Current state.", content_type = "text/html", body = String),
        (status = 303, description = "A browser without a session: the login, on a server with the administration."), OperatorOnly),
    security((), ("bearer" = []), ("basic" = [])))]
pub(crate) async fn operator(
    State(state): State<AppState>,
    context: PageContext,
    headers: HeaderMap,
) -> Response {
    let nav = Nav::of_status(&state, &headers);
    match state.work(overview).await {
        Ok(overview) => render(&Page {
            nav,
            ..status_page(context, overview, SystemTime::now())
        }),
        Err(failed) => error(&context, &failed),
    }
}

fn status_page(context: PageContext, overview: Overview, now: SystemTime) -> Page {
    let mut facts = vec![
        ("Version", overview.version.to_owned()),
        ("Up for", format_age(overview.since, now)),
        ("Datasets", overview.datasets.to_string()),
    ];
    facts.extend(
        overview
            .indexed
            .map(|time| ("Index changed", format!("{} ago", format_age(time, now)))),
    );
    facts.extend(
        overview
            .memory
            .map(|bytes| ("Memory", format!("{} MB", bytes >> 20))),
    );
    let names = [
        "a second, in the last minute",
        "in the last five",
        "in the last fifteen",
    ];
    let pace = names
        .into_iter()
        .zip(overview.pace)
        .map(|(name, pace)| (name, format!("{pace:.1}")));
    let mut loaded: Vec<_> = overview
        .loads
        .iter()
        .flat_map(|load| load.listed.iter().map(move |dataset| (load, dataset)))
        .collect();
    // Datasets with failures first, then those with problems, each the latest first.
    loaded.sort_by_key(|(_, dataset)| (dataset.failures == 0, dataset.problems == 0));
    Page {
        nav: None,
        loads: overview
            .loads
            .iter()
            .map(|load| load_row(load, load_age(load, now)))
            .collect(),
        loaded: loaded
            .into_iter()
            .take(MAX_DATASETS)
            .map(|(load, dataset)| {
                let is_present = overview.present.contains(&dataset.dataset);
                dataset_row(dataset, load_age(load, now), is_present)
            })
            .collect(),
        with_skipped: overview.with_skipped,
        page: context,
        facts,
        // The count includes the request for this page.
        pace: pace
            .chain([("in progress", overview.in_flight.to_string())])
            .collect(),
        routes: overview
            .routes
            .into_iter()
            .take(MAX_ROUTES)
            .map(route_row)
            .collect(),
        outcomes: overview
            .tasks
            .into_iter()
            .map(|task| task_row(task, now))
            .collect(),
        endpoints: overview.endpoints.iter().map(endpoint_row).collect(),
    }
}

fn format_age(time: SystemTime, now: SystemTime) -> String {
    format_duration(now.duration_since(time).unwrap_or_default())
}

fn load_age(load: &PastLoad, now: SystemTime) -> String {
    format_age(SystemTime::UNIX_EPOCH + Duration::from_secs(load.time), now)
}

fn task_row(task: TaskView, now: SystemTime) -> TaskRow {
    TaskRow {
        is_done: task.is_done,
        ago: format_age(task.when, now),
        what: task.what,
        outcome: task.outcome,
    }
}

fn load_row(load: &PastLoad, ago: String) -> LoadRow {
    LoadRow {
        ago,
        origin: load.origin.clone(),
        datasets: load.datasets,
        written: load.written,
        triples: load.triples,
        with_problems: load.with_problems,
        with_failures: load.with_failures,
        catalog_problems: load.catalog_problems,
    }
}

fn dataset_row(dataset: &PastDataset, ago: String, is_present: bool) -> DatasetRow {
    let title = if dataset.title.is_empty() {
        dataset.dataset.to_string()
    } else {
        dataset.title.clone()
    };
    DatasetRow {
        ago,
        title,
        href: is_present.then(|| href(&dataset.dataset)),
        outcome: outcome_label(dataset.outcome),
        is_failed: dataset.failures > 0,
        triples: dataset.triples,
        problems: dataset.problems,
        failures: dataset.failures,
        first_problem: dataset.first_problem.clone().unwrap_or_default(),
    }
}

fn outcome_label(outcome: DatasetOutcome) -> &'static str {
    match outcome {
        DatasetOutcome::Loaded => "new",
        DatasetOutcome::Replaced => "replaced",
        DatasetOutcome::Unchanged => "unchanged",
        DatasetOutcome::Kept => "not replaced: a file could not be read",
        DatasetOutcome::MetadataOnly => "metadata only",
    }
}

fn route_row(row: RouteView) -> RouteRow {
    let tallest = row
        .bars
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0)
        .max(1);
    let mut bars = Vec::with_capacity(row.bars.len());
    for (place, (bound, count)) in row.bars.iter().enumerate() {
        // Any count above zero is visible.
        let height = (count * BAR_HEIGHT / tallest).max(u64::from(*count > 0));
        bars.push(Bar {
            x: place * BAR_STEP,
            y: BAR_HEIGHT - height,
            height,
            description: describe_bucket(*bound, *count),
        });
    }
    let there = row.bars.iter().filter(|(_, count)| *count > 0);
    RouteRow {
        width: row.bars.len() * BAR_STEP,
        description: there
            .map(|(bound, count)| describe_bucket(*bound, *count))
            .collect::<Vec<_>>()
            .join(", "),
        bars,
        times: row.milliseconds.map(format_quantile),
        route: row.route,
        requests: row.requests,
        refused: row.refused,
        failed: row.failed,
    }
}

fn describe_bucket(bound: Option<f64>, count: u64) -> String {
    match bound {
        Some(seconds) => format!("up to {} ms: {count}", seconds * 1000.0),
        None => format!("longer: {count}"),
    }
}

/// Formats a quantile in milliseconds. `None` is a time beyond the last bucket.
fn format_quantile(time: Option<f64>) -> String {
    match time {
        Some(time) => format_milliseconds(time),
        None => "> 30 s".to_owned(),
    }
}

fn format_milliseconds(time: f64) -> String {
    if time < 10.0 {
        format!("{time:.1}")
    } else {
        format!("{time:.0}")
    }
}

fn endpoint_row(one: &Value) -> EndpointRow {
    let failures = one["failures"].as_object();
    EndpointRow {
        address: one["endpoint"].as_str().unwrap_or_default().to_owned(),
        calls: one["calls"].as_u64().unwrap_or(0),
        failures: match failures {
            Some(kinds) => kinds.values().filter_map(Value::as_u64).sum(),
            None => 0,
        },
        mean: format!(
            "{:.0} ms",
            one["meanSeconds"].as_f64().unwrap_or(0.0) * 1000.0
        ),
    }
}

/// Formats a duration in its largest unit.
pub(super) fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_in_their_largest_unit() {
        for (seconds, expected) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (119, "1 minute"),
            (7200, "2 hours"),
            (200_000, "2 days"),
        ] {
            assert_eq!(format_duration(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn a_single_request_among_many_is_still_seen() {
        let row = RouteView {
            route: "/".to_owned(),
            requests: 1001,
            refused: 0,
            failed: 0,
            milliseconds: [Some(3.21), Some(41.0), None],
            bars: vec![(Some(0.005), 1000), (Some(0.01), 0), (None, 1)],
        };
        let row = route_row(row);
        assert_eq!(
            row.bars.iter().map(|bar| bar.height).collect::<Vec<_>>(),
            [24, 0, 1]
        );
        assert_eq!(row.times, ["3.2", "41", "> 30 s"]);
        assert_eq!(row.description, "up to 5 ms: 1000, longer: 1");
    }
}
