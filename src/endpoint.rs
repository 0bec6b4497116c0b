//! `lodeseek load --endpoint`: stores samples of the graphs of a SPARQL endpoint.

use super::ExitStatus;
use super::config::Config;
use super::egress::EgressArguments;
use super::provenance;
use super::terminal::{bar, cut, grouped};
use anyhow::Context;
use indicatif::ProgressBar;
use lodeseek_catalog::{Dataset, DatasetId};
use lodeseek_cli::streams::messages;
use lodeseek_harvest::endpoint_sampler::{
    Budget, CachePolicy, EndpointSampler, GraphOutcome, GraphReport, GraphSelection,
    SamplerOptions, SamplerProgress, SamplerReport,
};
use lodeseek_net::egress::{Cancellation, IriPrefix};
use lodeseek_net::sparql_client::ClientOptions;
use lodeseek_rdf::TripleGraph;
use lodeseek_store::{
    Access, DatasetOutcome, DatasetReport, LoadOptions, LoadSource, Loader, Store, StoreError,
};
use oxrdf::NamedNode;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of sampled triples after which the pending samples are stored. The home is open only while they are stored, not
/// while the endpoint is queried.
const BATCH_TRIPLES: usize = 500_000;
/// Maximum number of omissions printed for one graph. The report file contains all.
const MAX_OMISSIONS: usize = 3;

#[derive(clap::Args, Debug)]
pub(super) struct EndpointArguments {
    /// SPARQL endpoint to read instead of files. Each of its graphs becomes a dataset with the endpoint's counts and a sample;
    /// the content stays at the endpoint. An interrupted run continues when the command is repeated.
    #[arg(long, value_name = "IRI", value_parser = |iri: &str| NamedNode::new(iri))]
    endpoint: Option<NamedNode>,
    /// Graphs: all (all named graphs), default (the default graph), or the IRI of a graph. Repeatable.
    #[arg(
        long,
        value_name = "all|default|IRI",
        default_value = "all",
        requires = "endpoint"
    )]
    graphs: Vec<String>,
    /// Maximum number of triples of a sample. Smaller graphs are read completely.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        requires = "endpoint"
    )]
    sample_triples: usize,
    /// Milliseconds between two requests.
    #[arg(long, value_name = "MS", default_value_t = 250, requires = "endpoint")]
    pause: u64,
    /// Maximum number of requests of this run.
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = 2000,
        requires = "endpoint"
    )]
    budget: u64,
    /// Maximum size of all responses of this run, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = 1024, requires = "endpoint")]
    budget_megabytes: u64,
    /// Maximum duration of this run, in minutes [default: none].
    #[arg(long, value_name = "MINUTES", requires = "endpoint")]
    budget_minutes: Option<u64>,
    /// Timeout of one request, in seconds.
    #[arg(
        long,
        alias = "patience",
        value_name = "SECONDS",
        default_value_t = 60,
        requires = "endpoint"
    )]
    request_timeout: u64,
    /// Discard the cached responses of earlier runs.
    #[arg(long, alias = "anew", requires = "endpoint")]
    discard_cache: bool,
    #[command(flatten)]
    egress: EgressArguments,
}

/// Report of a run, written as JSON.
#[derive(Serialize)]
struct Report<'r> {
    #[serde(flatten)]
    sampling: &'r SamplerReport,
    seconds: f64,
    datasets: &'r [DatasetReport],
}

impl EndpointArguments {
    /// Returns true if an endpoint is given.
    pub(super) fn is_given(&self) -> bool {
        self.endpoint.is_some()
    }

    pub(super) fn load(
        &self,
        home: &Path,
        config: &Config,
        base: Option<&str>,
        id_prefix: &str,
        report_path: Option<&Path>,
    ) -> anyhow::Result<ExitStatus> {
        let endpoint = self
            .endpoint
            .as_ref()
            .context("no endpoint is given; add --endpoint IRI")?;
        let prefix: IriPrefix = endpoint.as_str().parse()?;
        let graphs = self.graphs()?;
        let started = Instant::now();
        // The home is opened first, so that one that is in use, or has another base, is reported before any request.
        let existing_ids = existing_ids(&Store::open(home, Access::Write, base)?, endpoint)?;
        if let Some(path) = report_path {
            provenance::check_writable(path).context("the report cannot be written")?;
        }
        let pause = Duration::from_millis(self.pause);
        let options = ClientOptions {
            concurrent: 1,
            pause,
            ..ClientOptions::default()
        };
        let client = self.egress.client_for(config, prefix, options);
        let folder = home.join("remote");
        let options = SamplerOptions {
            existing_ids,
            ..self.options(id_prefix, started)
        };
        let sampler = EndpointSampler::new(&client, endpoint, &folder).with_options(options);
        let mut sink = SampleSink {
            home,
            base,
            endpoint: endpoint.as_str(),
            waiting: Vec::new(),
            triples: 0,
            datasets: Vec::new(),
        };
        let bar = bar(1, "{msg:9} {bar:30} {pos} of {len} graphs · {prefix}");
        let sampled = sampler.run(
            &graphs,
            &mut |sample| sink.add(sample.dataset, sample.graph),
            &|progress| show_progress(&bar, progress),
        );
        bar.finish_and_clear();
        let stored = sink.store(); // even if sampling failed
        let report = sampled?;
        stored?;
        let seconds = started.elapsed().as_secs_f64();
        if let Some(path) = report_path {
            provenance::write(
                path,
                &Report {
                    sampling: &report,
                    seconds,
                    datasets: &sink.datasets,
                },
            )?;
        }
        write_report(&mut messages(), &report, &sink.datasets, seconds)?;
        let is_complete = report.count(GraphOutcome::Sampled) == report.graphs.len();
        Ok(if is_complete {
            ExitStatus::Success
        } else {
            ExitStatus::NoResult
        })
    }

    fn graphs(&self) -> anyhow::Result<GraphSelection> {
        Ok(
            match &*self.graphs.iter().map(String::as_str).collect::<Vec<_>>() {
                ["all"] => GraphSelection::All,
                ["default"] => GraphSelection::Default,
                names => {
                    let mut graphs = Vec::with_capacity(names.len());
                    for name in names {
                        graphs.push(NamedNode::new(*name).with_context(|| {
                            format!("{name} is not a graph; write all, default or IRIs")
                        })?);
                    }
                    GraphSelection::Named(graphs)
                }
            },
        )
    }

    fn options(&self, id_prefix: &str, started: Instant) -> SamplerOptions {
        let mut options = SamplerOptions {
            sample_triples: self.sample_triples,
            budget: Budget {
                requests: self.budget,
                bytes: self.budget_megabytes.saturating_mul(1 << 20),
            },
            cache_policy: if self.discard_cache {
                CachePolicy::Discard
            } else {
                CachePolicy::Reuse
            },
            id_prefix: id_prefix.to_owned(),
            ..SamplerOptions::default()
        };
        options.call.time = Duration::from_secs(self.request_timeout);
        if let Some(minutes) = self.budget_minutes {
            let most = Duration::from_secs(minutes.saturating_mul(60));
            options.call.cancellation = Cancellation::from_fn(move || started.elapsed() >= most);
        }
        options
    }
}

/// Returns the ids of all datasets, with the graphs of those that are from this endpoint ([`SamplerOptions::existing_ids`]).
fn existing_ids(
    store: &Store,
    endpoint: &NamedNode,
) -> Result<BTreeMap<DatasetId, Option<String>>, StoreError> {
    let mut ids = BTreeMap::new();
    store.for_each_entry(|entry| {
        let is_harvested = entry.origin.is_some();
        let remote = entry
            .dataset
            .remote
            .filter(|remote| !is_harvested && remote.endpoint == endpoint.as_str());
        let graph = remote.map(|remote| remote.graph.unwrap_or(remote.endpoint));
        ids.insert(entry.dataset.metadata.id, graph);
        Ok::<(), StoreError>(())
    })?;
    Ok(ids)
}

/// Sink that collects samples and stores them in batches.
struct SampleSink<'s> {
    home: &'s Path,
    base: Option<&'s str>,
    /// Address of the endpoint.
    endpoint: &'s str,
    waiting: Vec<(Dataset, TripleGraph)>,
    triples: usize,
    datasets: Vec<DatasetReport>,
}

impl SampleSink<'_> {
    fn add(&mut self, dataset: Dataset, graph: TripleGraph) -> anyhow::Result<()> {
        self.triples += graph.len();
        self.waiting.push((dataset, graph));
        if self.triples >= BATCH_TRIPLES {
            self.store()
        } else {
            Ok(())
        }
    }

    fn store(&mut self) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.triples = 0;
        if !waiting.is_empty() {
            let store = Store::open(self.home, Access::Write, self.base).context(
                "cannot store the samples; the responses are cached, so run the command again",
            )?;
            let source = Some(LoadSource {
                source: self.endpoint.to_owned(),
                ..LoadSource::default()
            });
            let options = LoadOptions {
                source,
                ..LoadOptions::default()
            };
            let loader = Loader::new(&store).with_options(options);
            self.datasets
                .extend(loader.load_graphs(waiting, &|_| ())?.datasets);
        }
        Ok(())
    }
}

fn show_progress(bar: &ProgressBar, progress: SamplerProgress) {
    bar.set_length(progress.graphs_total.max(1) as u64);
    bar.set_position(progress.graphs as u64);
    bar.set_message("sampling");
    bar.set_prefix(format!(
        "{} requests · {} bytes",
        grouped(progress.spent.requests),
        grouped(progress.spent.bytes)
    ));
}

fn write_report(
    out: &mut impl Write,
    report: &SamplerReport,
    datasets: &[DatasetReport],
    seconds: f64,
) -> io::Result<()> {
    for line in &report.left_out {
        writeln!(out, "left out: {}", cut(line, 200))?;
    }
    for graph in &report.graphs {
        write_graph(out, graph)?;
    }
    writeln!(
        out,
        "{} graphs: {} sampled ({} loaded, {} replaced, {} unchanged), {} unfinished, {} failed; {} triples in samples; {} requests, {} bytes, {seconds:.1} s",
        report.graphs.len(),
        report.count(GraphOutcome::Sampled),
        count_outcomes(datasets, DatasetOutcome::Loaded),
        count_outcomes(datasets, DatasetOutcome::Replaced),
        count_outcomes(datasets, DatasetOutcome::Unchanged),
        report.count(GraphOutcome::Unfinished),
        report.count(GraphOutcome::Failed),
        grouped(report.graphs.iter().map(|graph| graph.sampled).sum()),
        grouped(report.spent.requests),
        grouped(report.spent.bytes),
    )?;
    if report.count(GraphOutcome::Unfinished) > 0 {
        writeln!(
            out,
            "the responses are cached: run the same command again to continue"
        )?;
    }
    Ok(())
}

fn count_outcomes(datasets: &[DatasetReport], outcome: DatasetOutcome) -> usize {
    datasets
        .iter()
        .filter(|dataset| dataset.outcome == outcome)
        .count()
}

fn write_graph(out: &mut impl Write, graph: &GraphReport) -> io::Result<()> {
    let id = match &graph.dataset {
        Some(id) => id.as_str(),
        None => "-",
    };
    let triples = match graph.triples {
        Some(count) => grouped(count),
        None => "?".to_owned(),
    };
    let outcome = match graph.outcome {
        GraphOutcome::Sampled => "sampled",
        GraphOutcome::Unfinished => "unfinished",
        GraphOutcome::Failed => "failed",
    };
    writeln!(
        out,
        "{outcome:<10} {:<30} {:>9} of {:>12} triples  {:>4} requests{}",
        cut(id, 30),
        grouped(graph.sampled),
        triples,
        graph.spent.requests,
        graph
            .graph
            .as_ref()
            .map(|graph| format!("  {}", cut(graph, 80)))
            .unwrap_or_default(),
    )?;
    for line in graph.left_out.iter().take(MAX_OMISSIONS) {
        writeln!(out, "{:<10} left out: {}", "", cut(line, 160))?;
    }
    if graph.left_out.len() > MAX_OMISSIONS {
        writeln!(
            out,
            "{:<10} … and {} more",
            "",
            graph.left_out.len() - MAX_OMISSIONS
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        endpoint: EndpointArguments,
    }

    #[test]
    fn the_largest_budgets_are_no_small_ones() {
        let most = u64::MAX.to_string();
        let command = Command::parse_from([
            "load",
            "--endpoint",
            "http://e.org/sparql",
            "--budget-megabytes",
            &most,
            "--budget-minutes",
            &most,
        ]);
        let options = command.endpoint.options("", Instant::now());
        assert_eq!(options.budget.bytes, u64::MAX);
        assert!(!options.call.cancellation.is_cancelled());
    }
}
