//! `lodeseek load --endpoint`: a survey of an endpoint into the store.

use super::Done;
use super::egress::EgressArguments;
use super::terminal::{bar, cut, grouped};
use anyhow::Context;
use lodeseek_catalog::Dataset;
use lodeseek_harvest::survey::{
    Budget, GraphOutcome, GraphReport, GraphSelection, CachePolicy, SamplerOptions, SamplerProgress, SamplerReport, EndpointSampler,
};
use lodeseek_net::egress::{Cancellation, IriPrefix};
use lodeseek_net::sparql_client::ClientOptions;
use lodeseek_rdf::TripleGraph;
use lodeseek_store::{Access, DatasetOutcome, DatasetReport, Loader, Store};
use oxrdf::NamedNode;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Triples of samples after which those waiting are stored: the home is held no longer than that takes, not while the
/// endpoint is asked.
const BATCH_TRIPLES: usize = 500_000;
/// Lines shown of what was left out of one graph; the report holds all.
const SHOWN: usize = 3;

#[derive(clap::Args, Debug)]
pub(super) struct EndpointArguments {
    /// A SPARQL endpoint instead of files: each of its graphs becomes a dataset whose content stays there, with the
    /// endpoint's counts and a sample. Run again to go on where a run was broken off.
    #[arg(long, value_name = "IRI", value_parser = |iri: &str| NamedNode::new(iri))]
    endpoint: Option<NamedNode>,
    /// Which graphs: `all` that have names, the `default` graph, or IRIs; any number of times.
    #[arg(long, value_name = "all|default|IRI", default_value = "all", requires = "endpoint")]
    graphs: Vec<String>,
    /// Triples of each sample at most; a graph that has no more is taken whole.
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "endpoint")]
    sample_triples: usize,
    /// Milliseconds between two requests.
    #[arg(long, value_name = "MS", default_value_t = 250, requires = "endpoint")]
    pause: u64,
    /// Requests of this run at most.
    #[arg(long, value_name = "REQUESTS", default_value_t = 2000, requires = "endpoint")]
    budget: u64,
    /// Megabytes of answers of this run at most.
    #[arg(long, value_name = "MB", default_value_t = 1024, requires = "endpoint")]
    budget_megabytes: u64,
    /// Minutes of this run at most.
    #[arg(long, value_name = "MINUTES", requires = "endpoint")]
    budget_minutes: Option<u64>,
    /// Seconds of one question at most.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "endpoint")]
    patience: u64,
    /// Forget the answers that earlier runs kept.
    #[arg(long, requires = "endpoint")]
    anew: bool,
    #[command(flatten)]
    egress: EgressArguments,
}

/// A run as JSON.
#[derive(Serialize)]
struct Report<'r> {
    #[serde(flatten)]
    survey: &'r SamplerReport,
    seconds: f64,
    datasets: &'r [DatasetReport],
}

impl EndpointArguments {
    pub(super) fn is_named(&self) -> bool {
        self.endpoint.is_some()
    }

    pub(super) fn load(
        &self,
        home: &Path,
        base: Option<&str>,
        id_prefix: &str,
        report: Option<&Path>,
    ) -> anyhow::Result<Done> {
        let endpoint = self.endpoint.as_ref().context("no endpoint is named")?;
        let prefix: IriPrefix = endpoint.as_str().parse()?;
        let (graphs, started) = (self.graphs()?, Instant::now());
        drop(Store::open(home, Access::Write, base)?); // a home in use, or of another base, is told before anything is asked
        let mut report_file = match report {
            Some(path) => Some(File::create(path).with_context(|| format!("cannot write {}", path.display()))?),
            None => None,
        };
        let pause = Duration::from_millis(self.pause);
        let client = self.egress.client_of(prefix, ClientOptions { concurrent: 1, pause, ..ClientOptions::default() });
        let folder = home.join("remote");
        let surveyor = EndpointSampler::new(&client, endpoint, &folder).with_options(self.options(id_prefix, started));
        let mut sink = SampleSink { home, base, waiting: Vec::new(), triples: 0, datasets: Vec::new() };
        let bar = bar(1, "{msg:9} {bar:30} {pos} of {len} graphs · {prefix}");
        let show = |progress: SamplerProgress| {
            bar.set_length(progress.graphs_total.max(1) as u64);
            bar.set_position(progress.graphs as u64);
            bar.set_message("surveying");
            let spent = progress.spent;
            bar.set_prefix(format!("{} requests · {} bytes", grouped(spent.requests), grouped(spent.bytes)));
        };
        let survey = surveyor.run(&graphs, &mut |surveyed| sink.take(surveyed.dataset, surveyed.graph), &show);
        bar.finish_and_clear();
        let stored = sink.store(); // also where the survey broke off
        let survey = survey?;
        stored?;
        let seconds = started.elapsed().as_secs_f64();
        if let Some(file) = &mut report_file {
            serde_json::to_writer_pretty(&mut *file, &Report { survey: &survey, seconds, datasets: &sink.datasets })?;
            writeln!(file)?;
        }
        write_report(&mut io::stderr().lock(), &survey, &sink.datasets, seconds)?;
        let whole = survey.count(GraphOutcome::Sampled) == survey.graphs.len();
        Ok(if whole { Done::Something } else { Done::Nothing })
    }

    fn graphs(&self) -> anyhow::Result<GraphSelection> {
        Ok(match &*self.graphs.iter().map(String::as_str).collect::<Vec<_>>() {
            ["all"] => GraphSelection::All,
            ["default"] => GraphSelection::Default,
            names => {
                let node = |name: &&str| NamedNode::new(*name).with_context(|| format!("{name} is no graph"));
                GraphSelection::Named(names.iter().map(node).collect::<Result<_, _>>()?)
            }
        })
    }

    fn options(&self, id_prefix: &str, started: Instant) -> SamplerOptions {
        let mut options = SamplerOptions {
            sample_triples: self.sample_triples,
            budget: Budget { requests: self.budget, bytes: self.budget_megabytes << 20 },
            cache_policy: if self.anew { CachePolicy::Discard } else { CachePolicy::Reuse },
            id_prefix: id_prefix.to_owned(),
            ..SamplerOptions::default()
        };
        options.call.time = Duration::from_secs(self.patience);
        if let Some(minutes) = self.budget_minutes {
            let most = Duration::from_secs(60 * minutes);
            options.call.cancellation = Cancellation::from_fn(move || started.elapsed() >= most);
        }
        options
    }
}

/// Samples on their way into the store.
struct SampleSink<'s> {
    home: &'s Path,
    base: Option<&'s str>,
    waiting: Vec<(Dataset, TripleGraph)>,
    triples: usize,
    datasets: Vec<DatasetReport>,
}

impl SampleSink<'_> {
    fn take(&mut self, dataset: Dataset, graph: TripleGraph) -> anyhow::Result<()> {
        self.triples += graph.len();
        self.waiting.push((dataset, graph));
        if self.triples >= BATCH_TRIPLES { self.store() } else { Ok(()) }
    }

    fn store(&mut self) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.triples = 0;
        if !waiting.is_empty() {
            let store = Store::open(self.home, Access::Write, self.base)
                .context("the samples cannot be stored; the answers are kept, and a further run asks for little")?;
            self.datasets.extend(Loader::new(&store).load_graphs(waiting, &|_| ())?.datasets);
        }
        Ok(())
    }
}

fn write_report(
    out: &mut impl Write,
    survey: &SamplerReport,
    datasets: &[DatasetReport],
    seconds: f64,
) -> io::Result<()> {
    for line in &survey.left_out {
        writeln!(out, "left out: {}", cut(line, 200))?;
    }
    for graph in &survey.graphs {
        write_graph(out, graph)?;
    }
    let count = |outcome: DatasetOutcome| datasets.iter().filter(|dataset| dataset.outcome == outcome).count();
    writeln!(
        out,
        "{} graphs: {} surveyed ({} loaded, {} replaced, {} unchanged), {} unfinished, {} failed; {} triples held; {} requests, {} bytes, {seconds:.1} s",
        survey.graphs.len(),
        survey.count(GraphOutcome::Sampled),
        count(DatasetOutcome::Loaded),
        count(DatasetOutcome::Replaced),
        count(DatasetOutcome::Unchanged),
        survey.count(GraphOutcome::Unfinished),
        survey.count(GraphOutcome::Failed),
        grouped(survey.graphs.iter().map(|graph| graph.sampled).sum()),
        grouped(survey.spent.requests),
        grouped(survey.spent.bytes),
    )?;
    if survey.count(GraphOutcome::Unfinished) > 0 {
        writeln!(out, "what was answered is kept: the same command goes on from here")?;
    }
    Ok(())
}

fn write_graph(out: &mut impl Write, graph: &GraphReport) -> io::Result<()> {
    let id = graph.dataset.as_ref().map_or("-", |id| id.as_str());
    let outcome = match graph.outcome {
        GraphOutcome::Sampled => "surveyed",
        GraphOutcome::Unfinished => "unfinished",
        GraphOutcome::Failed => "failed",
    };
    writeln!(
        out,
        "{outcome:<10} {:<30} {:>9} of {:>12} triples  {:>4} requests{}",
        cut(id, 30),
        grouped(graph.sampled),
        graph.triples.map_or_else(|| "?".to_owned(), grouped),
        graph.spent.requests,
        graph.graph.as_ref().map(|graph| format!("  {}", cut(graph, 80))).unwrap_or_default(),
    )?;
    for line in graph.left_out.iter().take(SHOWN) {
        writeln!(out, "{:<10} left out: {}", "", cut(line, 160))?;
    }
    if graph.left_out.len() > SHOWN {
        writeln!(out, "{:<10} … and {} more", "", graph.left_out.len() - SHOWN)?;
    }
    Ok(())
}
