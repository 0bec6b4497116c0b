//! `lodeseek-lab evaluate-snippets`: measures the quality and the run time of each method's snippets.

mod plot;
mod table;

use anyhow::Context;
use lodeseek_catalog::{DatasetId, Metadata};
use lodeseek_cli::ExitStatus;
use lodeseek_cli::provenance::write_atomically;
use lodeseek_cli::streams::messages;
use lodeseek_cli::terminal::{bar, safe};
use lodeseek_engine::{QueryTerms, index_folder};
use lodeseek_eval::{MinimumGrade, Qrels, Topics};
use lodeseek_index::{Analysis, AnalyzedQuery, Index};
use lodeseek_profile::{Patterns, Profile};
use lodeseek_rdf::TripleGraph;
use lodeseek_snippet::metrics::{InformationNeed, Reference, Report};
use lodeseek_snippet::{Method, MethodOptions, SnippetExtractor, TripleBudget};
use lodeseek_store::{Access, Entry, Store};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Method to measure; may be repeated. Default: all except illusnip-basic, whose run time is unbounded.
    #[arg(long = "method", value_parser = lodeseek_cli::method::any(), value_name = "METHOD")]
    methods: Vec<Method>,
    /// Maximum number of triples of a snippet.
    #[arg(short = 'k', long, value_name = "N", default_value_t = TripleBudget::default().0)]
    budget: usize,
    /// Number of datasets to measure, drawn at random with --seed. Default: all datasets.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of --sample. The same seed draws the same datasets, whatever else the collection contains.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Queries, one a line: id, tab, text. Each query is used for the datasets judged relevant to it; other datasets
    /// are skipped. Default: the title of a dataset is its query.
    #[arg(long, value_name = "FILE", requires = "qrels")]
    queries: Option<PathBuf>,
    /// Relevance judgements in TREC format: topic, iteration, dataset, grade.
    #[arg(long, value_name = "FILE", requires = "queries")]
    qrels: Option<PathBuf>,
    /// Format of the measures on stdout.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: table::Format,
    /// Also write the measures as an SVG chart to this file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Arguments {
    fn methods(&self) -> Vec<Method> {
        if !self.methods.is_empty() {
            return self.methods.clone();
        }
        Method::ALL
            .into_iter()
            .filter(|method| method.is_bounded())
            .collect()
    }
}

/// Means of one method over all datasets.
#[derive(Clone, Debug, Serialize)]
struct Row {
    method: String,
    /// Number of snippets: one for each dataset, or one for each dataset and query if the method uses queries.
    snippets: usize,
    /// Number of datasets with triples and at least one empty snippet.
    failures: usize,
    /// Means by [`Report::NAMES`], over the datasets that have the measure.
    means: BTreeMap<&'static str, f64>,
    triples: f64,
    milliseconds: f64,
    p95_milliseconds: f64,
}

/// Measurements of one method, one value for each dataset.
struct Measured {
    method: Method,
    name: &'static str,
    reports: Vec<[Option<f64>; 6]>,
    triples: Vec<f64>,
    times: Vec<Duration>,
    failures: usize,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let store = Store::open(home, Access::Read, None)?;
    let index = Index::open(&index_folder(home))?;
    let analysis = index.snapshot()?.analysis().clone();
    let queries = Queries::read(arguments)?;
    let entries = queries.entries(store.entries()?, arguments);
    let mut measured = arguments
        .methods()
        .into_iter()
        .map(Measured::new)
        .collect::<anyhow::Result<Vec<_>>>()?;
    let progress = bar(
        entries.len() as u64,
        "measuring {bar:30} {pos} of {len} datasets · {eta} left",
    );
    let mut unread = 0;
    for entry in &entries {
        match store.content(entry) {
            Ok(graph) => {
                let texts = queries.texts(&entry.dataset.metadata);
                measure_dataset(
                    &graph,
                    &texts,
                    &analysis,
                    TripleBudget(arguments.budget),
                    &mut measured,
                )?;
            }
            Err(error) => {
                unread += 1;
                writeln!(
                    messages(),
                    "{}: {}",
                    safe(entry.dataset.metadata.id.as_str()),
                    safe(&error.to_string())
                )?;
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    let rows: Vec<Row> = measured.iter().map(Measured::row).collect();
    arguments.format.write(&mut io::stdout().lock(), &rows)?;
    if let Some(file) = &arguments.plot {
        write_atomically(file, plot::draw(&rows)?.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    writeln!(
        messages(),
        "{} datasets, {unread} of them unreadable",
        entries.len()
    )?;
    Ok(if entries.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

/// Measures every method on one dataset.
fn measure_dataset(
    graph: &TripleGraph,
    texts: &[&str],
    analysis: &Analysis,
    budget: TripleBudget,
    measured: &mut [Measured],
) -> anyhow::Result<()> {
    if graph.is_empty() {
        return Ok(());
    }
    // Computed before the measurement: the time is that of the method alone.
    let (profile, patterns) = (Profile::new(graph), Patterns::new(graph));
    let reference = Reference::new(graph, &profile, &patterns);
    let queries: Vec<AnalyzedQuery> = texts
        .iter()
        .map(|text| AnalyzedQuery::new(text, analysis))
        .collect();
    let matches: Vec<_> = queries
        .iter()
        .map(|query| QueryTerms::new(&query.distinct, analysis).matches(graph))
        .collect();
    let needs: Vec<InformationNeed<'_>> = queries
        .iter()
        .zip(&matches)
        .map(|(query, matches)| InformationNeed::new(graph, matches, &query.sequence))
        .collect();
    for one in measured {
        let (mut reports, mut empty) = (Vec::new(), false);
        let mut snippet = None;
        for (query, need) in queries.iter().zip(&needs) {
            // Without the query as input, the snippet of a dataset is the same for all queries.
            if snippet.is_none() || one.method.takes_query() {
                let terms = QueryTerms::new(&query.distinct, analysis);
                let started = Instant::now();
                let made = open_extractor(one.method, &terms)?.extract(graph, &profile, budget);
                one.times.push(started.elapsed());
                one.triples.push(made.triples.len() as f64);
                empty |= made.triples.is_empty();
                snippet = Some(made);
            }
            reports.extend(
                snippet
                    .as_ref()
                    .map(|snippet| reference.report(snippet, Some(need)).values()),
            );
        }
        one.failures += usize::from(empty);
        one.reports.push(std::array::from_fn(|place| {
            mean(reports.iter().filter_map(|report| report[place]))
        }));
    }
    Ok(())
}

/// Returns the extractor of a method. Some extractors use the terms of a query.
fn open_extractor<'t>(
    method: Method,
    terms: &'t QueryTerms<'_>,
) -> anyhow::Result<Box<dyn SnippetExtractor + 't>> {
    Ok(method.extractor(&MethodOptions {
        keywords: Some(terms),
        ..MethodOptions::default()
    })?)
}

impl Measured {
    fn new(method: Method) -> anyhow::Result<Self> {
        let name = open_extractor(method, &QueryTerms::new(&[], &Analysis::default()))?.name();
        Ok(Self {
            method,
            name,
            reports: Vec::new(),
            triples: Vec::new(),
            times: Vec::new(),
            failures: 0,
        })
    }

    fn row(&self) -> Row {
        let means = Report::NAMES
            .iter()
            .enumerate()
            .filter_map(|(place, name)| {
                Some((
                    *name,
                    mean(self.reports.iter().filter_map(|report| report[place]))?,
                ))
            });
        let mut times: Vec<f64> = self
            .times
            .iter()
            .map(|time| time.as_secs_f64() * 1000.0)
            .collect();
        times.sort_unstable_by(f64::total_cmp);
        Row {
            method: self.name.to_owned(),
            snippets: times.len(),
            failures: self.failures,
            means: means.collect(),
            triples: mean(self.triples.iter().copied()).unwrap_or(0.0),
            milliseconds: mean(times.iter().copied()).unwrap_or(0.0),
            p95_milliseconds: percentile(&times, 95),
        }
    }
}

/// Returns a percentile by the nearest-rank method.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| {
        (sum + value, count + 1)
    });
    (count > 0).then(|| sum / count as f64)
}

/// Queries of each dataset.
enum Queries {
    Titles,
    Relevant {
        topics: Topics,
        of: BTreeMap<String, Vec<usize>>,
    },
}

impl Queries {
    fn read(arguments: &Arguments) -> anyhow::Result<Self> {
        let (Some(topics), Some(qrels)) = (&arguments.queries, &arguments.qrels) else {
            return Ok(Self::Titles);
        };
        let (topics, qrels) = (Topics::read(topics)?, Qrels::read(qrels)?);
        let relevant = MinimumGrade::default().get();
        let mut of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, topic) in topics.0.iter().enumerate() {
            for (dataset, _) in qrels
                .judgements(&topic.id)
                .filter(|(_, grade)| *grade >= relevant)
            {
                of.entry(dataset.to_owned()).or_default().push(place);
            }
        }
        Ok(Self::Relevant { topics, of })
    }

    fn texts<'q>(&'q self, metadata: &'q Metadata) -> Vec<&'q str> {
        match self {
            Self::Titles => vec![metadata.title()],
            Self::Relevant { topics, of } => {
                let places = of.get(metadata.id.as_str()).into_iter().flatten();
                places.map(|&place| topics.0[place].text.as_str()).collect()
            }
        }
    }

    /// Selects the datasets with queries, or a sample of them.
    fn entries(&self, entries: Vec<Entry>, arguments: &Arguments) -> Vec<Entry> {
        let mut entries: Vec<Entry> = entries
            .into_iter()
            .filter(|entry| !self.texts(&entry.dataset.metadata).is_empty())
            .collect();
        if let Some(sample) = arguments.sample {
            entries
                .sort_by_cached_key(|entry| sample_key(arguments.seed, &entry.dataset.metadata.id));
            entries.truncate(sample);
        }
        entries
    }
}

/// Returns the sort key of a dataset in the sample. It depends only on the seed and the dataset.
fn sample_key(seed: u64, id: &DatasetId) -> [u8; 32] {
    Sha256::digest(format!("{seed} {id}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        assert_eq!(mean([].into_iter()), None);
        assert_eq!(mean([1.0, 2.0].into_iter()), Some(1.5));
        let times: Vec<f64> = (1..=40).map(f64::from).collect();
        assert_eq!(
            (
                percentile(&times, 95),
                percentile(&times[..1], 95),
                percentile(&[], 95)
            ),
            (38.0, 1.0, 0.0)
        );
    }

    #[test]
    fn a_plot_has_a_panel_for_each_measure() {
        let mut measured = Measured::new(Method::Ksd).expect("made");
        measured.reports.push([Some(0.5); 6]);
        measured.times.push(Duration::from_millis(3));
        let svg = plot::draw(&[
            measured.row(),
            Measured::new(Method::Cover).expect("made").row(),
        ])
        .expect("drawn");
        assert!(
            svg.starts_with("<svg") && svg.contains("SkmRep") && svg.contains("keyword cover"),
            "{svg}"
        );
    }
}
