//! `lodeseek snippet`: of a dataset in the home, or of any RDF file.

use super::Done;
use super::syntax::Syntax;
use super::terminal::safe;
use crate::catalog::DatasetId;
use crate::engine::Searcher;
use crate::profile::{Patterns, Profile};
use crate::rdf::intake::{Intake, Outcome};
use crate::rdf::{Labels, RdfSyntax, TripleGraph, TripleGraphBuilder};
use crate::snippet::metrics::Report;
use crate::snippet::{Deadline, IlluSnip, SnippetExtractor, Starts, TripleBudget, labelled};
use crate::store;
use anyhow::Context;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// A dataset's id, or an RDF file.
    #[arg(value_name = "DATASET|FILE")]
    target: String,
    /// The most triples.
    #[arg(short = 'k', long, value_name = "N", default_value_t = TripleBudget::default().0)]
    budget: usize,
    /// Give the best found after this many milliseconds. Without it the search is bounded by work, and always the same.
    #[arg(long, value_name = "MS")]
    deadline: Option<u64>,
    /// Stop after this many heap operations: deterministic, unlike a deadline.
    #[arg(long, value_name = "N", conflicts_with = "deadline")]
    work: Option<u64>,
    /// How to choose.
    #[arg(long, value_enum, default_value_t = Method::OptRank)]
    method: Method,
    /// Write RDF instead of labels.
    #[arg(long, value_enum, value_name = "SYNTAX")]
    rdf: Option<Syntax>,
    /// Tell how well the snippet stands for the whole.
    #[arg(long)]
    metrics: bool,
}

/// The variants of IlluSnip.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Method {
    /// IlluSnip from every triple: slow.
    Basic,
    /// IlluSnip from the heaviest triple: fastest.
    OptMax,
    /// IlluSnip from the heaviest triples within the bounds.
    OptRank,
}

impl From<Method> for Starts {
    fn from(method: Method) -> Self {
        match method {
            Method::Basic => Self::All,
            Method::OptMax => Self::Heaviest,
            Method::OptRank => Self::Ranked,
        }
    }
}

pub(super) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let graph = graph_of(home, &arguments.target)?;
    let started = Instant::now();
    let profile = Profile::of(&graph);
    let passed = || arguments.deadline.is_some_and(|limit| started.elapsed() >= Duration::from_millis(limit));
    let mut extractor = IlluSnip::default().with_starts(arguments.method.into()).with_deadline(Deadline::when(&passed));
    if let Some(work) = arguments.work.or(arguments.deadline.map(|_| u64::MAX)) {
        extractor = extractor.with_work(work);
    }
    let snippet = extractor.extract(&graph, &profile, TripleBudget(arguments.budget));
    let mut out = io::stdout().lock();
    if let Some(syntax) = arguments.rdf {
        let triples: Vec<_> = snippet.triples.iter().map(|&triple| graph.to_triple(triple)).collect();
        out.write_all(&RdfSyntax::from(syntax).write(&triples)?)?;
    } else {
        let labels = Labels::for_display(&graph, &["en"]);
        for &triple in &snippet.triples {
            let shown = labelled(&graph, &labels, triple);
            writeln!(
                out,
                "{} — {} — {}",
                safe(&shown.subject.label),
                safe(&shown.predicate.label),
                safe(&shown.object.label)
            )?;
        }
    }
    if arguments.metrics {
        writeln!(io::stderr(), "{}", Report::of(&graph, &profile, &Patterns::of(&graph), &snippet))?;
    }
    let note = if snippet.interrupted { "; not every start was tried" } else { "" };
    writeln!(
        io::stderr(),
        "{}: {} of {} triples, gain {:.4}, {:.0} ms{note}",
        extractor.name(),
        snippet.triples.len(),
        graph.len(),
        snippet.gain,
        started.elapsed().as_secs_f64() * 1000.0
    )?;
    Ok(if snippet.triples.is_empty() { Done::Nothing } else { Done::Something })
}

fn graph_of(home: &Path, target: &str) -> anyhow::Result<TripleGraph> {
    let path = Path::new(target);
    if path.is_file() {
        let mut builder = TripleGraphBuilder::new();
        for report in Intake::default().read_file(path, target, "file:///", &mut builder) {
            for problem in &report.problems {
                writeln!(io::stderr(), "{}: {}", safe(&report.file), safe(&problem.to_string()))?;
            }
            let failed = matches!(report.outcome, Outcome::Refused | Outcome::Unreadable);
            anyhow::ensure!(!failed || !builder.is_empty(), "{target} was not read");
        }
        return Ok(builder.finish());
    }
    let id = DatasetId::new(target)?;
    let card = Searcher::open(home)?
        .card(&id)?
        .with_context(|| format!("{target} is neither a file nor a dataset of the index"))?;
    Ok(store::read_content(home, &card.version)?)
}
