//! Metrics of the server, with names and units after Prometheus (<https://prometheus.io/docs/practices/naming/>).

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use lodeseek_changes::{Tasks, unix_seconds};
use prometheus::core::Collector;
use prometheus::proto::{Metric, MetricFamily};
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Upper bounds of the histogram in seconds: searches take milliseconds, queries up to their deadline.
const BOUNDS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0,
];
/// Number of last seconds whose requests are counted individually, for rates.
const MAX_RATE_SECONDS: u64 = 900;
/// Route label of requests without a route. Arbitrary paths are no labels.
const NOWHERE: &str = "none";

/// Counters, and the time of their start.
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    seconds: HistogramVec,
    in_flight: IntGauge,
    datasets: IntGauge,
    indexed: IntGauge,
    memory: IntGauge,
    snapshot: IntGauge,
    /// Locked while its counters are raised, because concurrent scrapes would both add a difference.
    tasks: Mutex<IntCounterVec>,
    task_ends: IntGaugeVec,
    began: Instant,
    pub(crate) since: SystemTime,
    /// (second since the start, requests in it), in ascending order.
    pace: Mutex<VecDeque<(u64, u64)>>,
}

/// Statistics of the requests of one route.
pub(crate) struct RouteRow {
    pub(crate) route: String,
    pub(crate) requests: u64,
    /// Sum of the durations of all requests in seconds.
    pub(crate) seconds: f64,
    /// Number of responses of status 4xx.
    pub(crate) refused: u64,
    /// Number of responses of status 5xx.
    pub(crate) failed: u64,
    /// Time to the first byte in seconds: median, 95th and 99th percentile. Infinite beyond the last bound.
    pub(crate) quantiles: [f64; 3],
    /// (upper bound in seconds, requests between it and the bound before); the last has no bound.
    pub(crate) bars: Vec<(Option<f64>, u64)>,
}

impl Metrics {
    pub(crate) fn new() -> prometheus::Result<Self> {
        let registry = Registry::new_custom(Some("lodeseek".to_owned()), None)?;
        let build = IntGaugeVec::new(
            Opts::new("build_info", "The program, always 1."),
            &["version"],
        );
        register(&registry, build)?
            .with_label_values(&[env!("CARGO_PKG_VERSION")])
            .set(1);
        let since = SystemTime::now();
        register_gauge(
            &registry,
            "start_time_seconds",
            "When the server began, since 1970.",
        )?
        .set(gauge_value(unix_seconds(since)));
        let requests = Opts::new("http_requests_total", "Requests answered.");
        let seconds = HistogramOpts::new(
            "http_request_duration_seconds",
            "Time until an answer begins.",
        );
        Ok(Self {
            requests: register(
                &registry,
                IntCounterVec::new(requests, &["route", "method", "status"]),
            )?,
            seconds: register(
                &registry,
                HistogramVec::new(seconds.buckets(BOUNDS.into()), &["route"]),
            )?,
            in_flight: register_gauge(
                &registry,
                "http_requests_in_flight",
                "Requests whose answer has not begun.",
            )?,
            datasets: register_gauge(&registry, "datasets", "Datasets that are found.")?,
            indexed: register_gauge(
                &registry,
                "index_timestamp_seconds",
                "When the index last changed, since 1970.",
            )?,
            memory: register_gauge(&registry, "resident_memory_bytes", "Memory of the process.")?,
            snapshot: register_gauge(
                &registry,
                "snapshot",
                "Number of the served snapshot; 0 if a home is served.",
            )?,
            tasks: Mutex::new(register(
                &registry,
                IntCounterVec::new(
                    Opts::new(
                        "tasks_total",
                        "Background tasks, such as scheduled harvests.",
                    ),
                    &["task", "outcome"],
                ),
            )?),
            task_ends: register(
                &registry,
                IntGaugeVec::new(
                    Opts::new(
                        "task_timestamp_seconds",
                        "When a task last ended so, since 1970.",
                    ),
                    &["task", "outcome"],
                ),
            )?,
            registry,
            began: Instant::now(),
            since,
            pace: Mutex::default(),
        })
    }

    fn count(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        // Clients can send arbitrary methods, too.
        let method = match *method {
            Method::GET | Method::HEAD | Method::POST | Method::OPTIONS => method.as_str(),
            _ => "other",
        };
        self.requests
            .with_label_values(&[route, method, status.as_str()])
            .inc();
        self.seconds
            .with_label_values(&[route])
            .observe(took.as_secs_f64());
        let second = self.began.elapsed().as_secs();
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        match pace.back_mut() {
            Some((last, count)) if *last == second => *count += 1,
            _ => pace.push_back((second, 1)),
        }
        // Only the front can be older, since seconds never decrease.
        while pace
            .front()
            .is_some_and(|(first, _)| first + MAX_RATE_SECONDS < second)
        {
            pace.pop_front();
        }
    }

    /// Returns the requests a second in the last seconds, or since the start if that is shorter.
    pub(crate) fn pace(&self, seconds: u64) -> f64 {
        let now = self.began.elapsed().as_secs_f64();
        let since = now - seconds.min(MAX_RATE_SECONDS) as f64;
        let pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let count: u64 = pace
            .iter()
            .filter(|(second, _)| *second as f64 >= since)
            .map(|(_, count)| count)
            .sum();
        // At least a second: shortly after the start, the rate would be infinite.
        count as f64 / now.min(seconds as f64).max(1.0)
    }

    /// Sets the gauges that are measured at each scrape.
    pub(crate) fn set(&self, datasets: u64, indexed: Option<SystemTime>, memory: Option<u64>) {
        self.datasets.set(gauge_value(datasets));
        let indexed = indexed.map(unix_seconds).unwrap_or(0);
        self.indexed.set(gauge_value(indexed));
        self.memory.set(gauge_value(memory.unwrap_or(0)));
    }

    /// Sets the number of the served snapshot.
    pub(crate) fn set_snapshot(&self, number: u64) {
        self.snapshot.set(gauge_value(number));
    }

    /// Sets the totals of background tasks.
    pub(crate) fn set_tasks(&self, tasks: &Tasks) {
        let counters = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for ((task, is_done), total) in tasks.totals() {
            let labels = [task.as_str(), if is_done { "done" } else { "failed" }];
            let counter = counters.with_label_values(&labels);
            // Counters have no setter, as they can only grow: the difference brings this one to the total.
            counter.inc_by(total.count.saturating_sub(counter.get()));
            let ended = gauge_value(unix_seconds(total.last));
            self.task_ends.with_label_values(&labels).set(ended);
        }
    }

    pub(crate) fn in_flight(&self) -> i64 {
        self.in_flight.get()
    }

    /// Returns all metrics in Prometheus' text format, version 0.0.4.
    pub(crate) fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }

    /// Returns the routes with requests, in descending order of total time.
    pub(crate) fn routes(&self) -> Vec<RouteRow> {
        let counts = self.requests.collect();
        let timed = self.seconds.collect();
        let mut rows: Vec<RouteRow> = list_metrics(&timed)
            .map(|metric| route_row(metric, &counts))
            .collect();
        rows.sort_by(|a, b| {
            b.seconds
                .total_cmp(&a.seconds)
                .then_with(|| a.route.cmp(&b.route))
        });
        rows
    }
}

fn register<C: Collector + Clone + 'static>(
    registry: &Registry,
    made: prometheus::Result<C>,
) -> prometheus::Result<C> {
    let collector = made?;
    registry.register(Box::new(collector.clone()))?;
    Ok(collector)
}

fn register_gauge(registry: &Registry, name: &str, help: &str) -> prometheus::Result<IntGauge> {
    register(registry, IntGauge::new(name, help))
}

/// Converts a number to the value of a gauge. Larger numbers become the maximum.
fn gauge_value(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn list_metrics(families: &[MetricFamily]) -> impl Iterator<Item = &Metric> {
    families.iter().flat_map(MetricFamily::get_metric)
}

fn label_value<'m>(metric: &'m Metric, name: &str) -> &'m str {
    let mut labels = metric.get_label().iter();
    match labels.find(|label| label.name() == name) {
        Some(label) => label.value(),
        None => "",
    }
}

/// Counts the requests of a route with a class of status codes, such as `5`.
fn count_status(counts: &[MetricFamily], route: &str, class: char) -> u64 {
    let of_class = list_metrics(counts).filter(|metric| {
        label_value(metric, "route") == route && label_value(metric, "status").starts_with(class)
    });
    of_class
        .map(|metric| metric.get_counter().get_value() as u64)
        .sum()
}

fn route_row(timed: &Metric, counts: &[MetricFamily]) -> RouteRow {
    let route = label_value(timed, "route");
    let histogram = timed.get_histogram();
    let buckets = histogram.get_bucket();
    let upto: Vec<(f64, u64)> = buckets
        .iter()
        .map(|one| (one.upper_bound(), one.cumulative_count()))
        .collect();
    let requests = histogram.get_sample_count();
    RouteRow {
        route: route.to_owned(),
        requests,
        seconds: histogram.get_sample_sum(),
        refused: count_status(counts, route, '4'),
        failed: count_status(counts, route, '5'),
        quantiles: [0.5, 0.95, 0.99].map(|share| estimate_quantile(&upto, requests, share)),
        bars: histogram_bars(&upto, requests),
    }
}

/// Estimates a quantile like PromQL's `histogram_quantile`: values are assumed uniform within a bucket.
fn estimate_quantile(upto: &[(f64, u64)], requests: u64, share: f64) -> f64 {
    let rank = share * requests as f64;
    let mut below = (0.0, 0);
    for &(bound, count) in upto {
        // An empty bucket has no values between which to interpolate, and would divide by zero.
        if count as f64 >= rank && count > below.1 {
            return below.0
                + (bound - below.0) * (rank - below.1 as f64) / (count - below.1) as f64;
        }
        below = (bound, count);
    }
    f64::INFINITY
}

fn histogram_bars(upto: &[(f64, u64)], requests: u64) -> Vec<(Option<f64>, u64)> {
    let mut below = 0;
    let bounded = upto
        .iter()
        .map(|&(bound, count)| (Some(bound), count))
        .chain([(None, requests)]);
    bounded
        // Prometheus' buckets are cumulative; bars are not.
        .map(|(bound, count)| (bound, count - std::mem::replace(&mut below, count)))
        .collect()
}

/// Counts a request and the time to the start of its response.
pub(crate) async fn observe(metrics: Arc<Metrics>, request: Request, next: Next) -> Response {
    let matched = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| path.as_str().to_owned());
    let route = matched.unwrap_or_else(|| NOWHERE.to_owned());
    let method = request.method().clone();
    let started = Instant::now();
    let _in_flight = InFlight::new(&metrics.in_flight);
    let response = next.run(request).await;
    metrics.count(&route, &method, response.status(), started.elapsed());
    response
}

/// Guard that counts a request in progress. Dropping it also works if the client disconnects and the future is dropped.
struct InFlight(IntGauge);

impl InFlight {
    fn new(gauge: &IntGauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread;

    fn took(milliseconds: &[u64]) -> Metrics {
        let metrics = Metrics::new().expect("names that Prometheus takes");
        for time in milliseconds {
            metrics.count(
                "/",
                &Method::GET,
                StatusCode::OK,
                Duration::from_millis(*time),
            );
        }
        metrics
    }

    #[test]
    fn quantiles_lie_within_the_bucket_that_holds_them() {
        let metrics = took(&[3; 90].into_iter().chain([70; 10]).collect::<Vec<u64>>());
        let routes = metrics.routes();
        let [half, most, nearly_all] = routes[0].quantiles;
        assert!(0.0025 < half && half <= 0.005, "{half}");
        assert!(
            0.05 < most && most <= nearly_all && nearly_all <= 0.1,
            "{most} {nearly_all}"
        );
        assert_eq!(
            routes[0].bars.iter().map(|(_, count)| count).sum::<u64>(),
            100
        );
        let slow = took(&[40_000]).routes();
        assert_eq!(
            (slow[0].quantiles[0], slow[0].bars.last().copied()),
            (f64::INFINITY, Some((None, 1)))
        );
        assert!(took(&[]).routes().is_empty());
    }

    #[test]
    fn tasks_are_counted_by_outcome() {
        let (metrics, tasks) = (took(&[]), Tasks::default());
        for outcome in [Ok("read".to_owned()), Err("no answer".to_owned())] {
            tasks.add("harvest", outcome);
            metrics.set_tasks(&tasks);
            metrics.set_tasks(&tasks);
        }
        let text = metrics.text().expect("a text");
        for outcome in ["done", "failed"] {
            let labels = format!("{{outcome=\"{outcome}\",task=\"harvest\"}}");
            assert!(
                text.contains(&format!("lodeseek_tasks_total{labels} 1\n")),
                "{text}"
            );
            assert!(
                text.contains(&format!("lodeseek_task_timestamp_seconds{labels} 1")),
                "{text}"
            );
        }
    }

    #[test]
    fn concurrent_scrapes_count_a_task_once() {
        const ROUNDS: usize = 500;
        let (metrics, tasks) = (took(&[]), Tasks::default());
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        if barrier.wait().is_leader() {
                            tasks.add("harvest", Ok("read".to_owned()));
                        }
                        barrier.wait();
                        metrics.set_tasks(&tasks);
                    }
                });
            }
        });
        let text = metrics.text().expect("a text");
        let expected =
            format!("lodeseek_tasks_total{{outcome=\"done\",task=\"harvest\"}} {ROUNDS}\n");
        assert!(text.contains(&expected), "{text}");
    }

    #[test]
    fn errors_are_told_by_route_and_made_up_methods_are_one() {
        let metrics = took(&[1, 1]);
        for (route, method, status) in [
            ("/", "GET", 404),
            ("/sparql", "POST", 503),
            ("/sparql", "BREW", 405),
        ] {
            let (method, status) = (
                method.parse().expect("a method"),
                StatusCode::from_u16(status).expect("a status"),
            );
            metrics.count(route, &method, status, Duration::ZERO);
        }
        let counted: Vec<_> = metrics
            .routes()
            .iter()
            .map(|row| (row.route.clone(), row.requests, row.refused, row.failed))
            .collect();
        assert_eq!(
            counted,
            [("/".to_owned(), 3, 1, 0), ("/sparql".to_owned(), 2, 1, 1)]
        );
        let text = metrics.text().expect("a text");
        assert!(
            text.contains(
                "lodeseek_http_requests_total{method=\"other\",route=\"/sparql\",status=\"405\"} 1"
            ),
            "{text}"
        );
        assert!(metrics.pace(60) >= 5.0 / 60.0);
    }
}
