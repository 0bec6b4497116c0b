//! `lodeseek snippet`: of a dataset in the home, or of any RDF file.

use super::Done;
use super::provenance::write_whole;
use super::syntax::Syntax;
use super::terminal::{Style, grouped, safe};
use anyhow::Context;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Content, DatasetSnippet, MadeSnippet, Searcher, SnippetRequest, make_snippet};
use lodeseek_index::Analysis;
use lodeseek_profile::Patterns;
use lodeseek_rdf::dump::{DumpReader, Outcome};
use lodeseek_rdf::{RdfSyntax, TripleGraph, TripleGraphBuilder, TripleSink};
use lodeseek_snippet::metrics::Report;
use lodeseek_snippet::sample::CountingPass;
use lodeseek_snippet::{Deadline, LabelledTerm, LabelledTriple, Method, TripleBudget, draw_document};
use lodeseek_store::{Access, Store};
use oxsdatatypes::DateTime;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// A dataset's id, or an RDF file.
    #[arg(value_name = "DATASET|FILE")]
    target: String,
    /// The most triples.
    #[arg(short = 'k', long, value_name = "N", default_value_t = TripleBudget::default().0)]
    budget: usize,
    /// Give the best found after this many milliseconds. Without it the search is bounded by work, and always the same.
    #[arg(long, value_name = "MS")]
    deadline: Option<u64>,
    /// Stop after this many steps: deterministic, unlike a deadline.
    #[arg(long, value_name = "N", conflicts_with = "deadline")]
    work: Option<u64>,
    /// How to choose: `illusnip` by default, for a query `optimal`.
    #[arg(long, value_parser = super::method::any())]
    method: Option<Method>,
    /// Choose for these words, or mark them where the method takes no query.
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// For files that do not fit memory: read twice, choose among at most this many triples, and weigh by the counts of
    /// the whole. With the IlluSnip methods.
    #[arg(long, value_name = "N", conflicts_with = "metrics")]
    sample: Option<usize>,
    /// The languages of labels, best first: `de,en`.
    #[arg(long, value_name = "TAG", value_delimiter = ',', default_value = "en")]
    lang: Vec<String>,
    /// Write RDF instead of labels.
    #[arg(long, value_enum, value_name = "SYNTAX")]
    rdf: Option<Syntax>,
    /// Tell in the RDF what made the snippet, of which content, and when; for datasets of the home.
    #[arg(long, requires = "rdf")]
    provenance: bool,
    /// Draw it: to a file with `--svg=FILE`.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "rdf")]
    svg: Option<Option<PathBuf>>,
    /// Tell how well the snippet stands for the whole.
    #[arg(long)]
    metrics: bool,
}

impl Arguments {
    fn request(&self) -> SnippetRequest {
        let default = if self.query.is_some() { Method::Optimal } else { Method::IlluSnip };
        SnippetRequest {
            method: self.method.unwrap_or(default),
            budget: TripleBudget(self.budget),
            work: self.work.or(self.deadline.map(|_| u64::MAX)),
            query: self.query.clone(),
            languages: self.lang.clone(),
        }
    }
}

/// What the snippet is made of.
enum Source {
    File(Box<Content>),
    Dataset(Box<Searcher>, DatasetId),
}

/// The snippet with what it was made of.
enum Made {
    File(Box<Content>, Box<MadeSnippet>),
    Dataset(Box<DatasetSnippet>),
}

impl Source {
    fn of(home: &Path, arguments: &Arguments, method: Method) -> anyhow::Result<Self> {
        let target = &arguments.target;
        if Path::new(target).is_file() {
            let content = match arguments.sample {
                Some(triples) => sample_file(target, triples, method)?,
                None => Content::new(read_file(target)?),
            };
            return Ok(Self::File(Box::new(content)));
        }
        anyhow::ensure!(arguments.sample.is_none(), "--sample reads a file, and {target} is none");
        Ok(Self::Dataset(Box::new(Searcher::open(home)?), DatasetId::new(target)?))
    }

    fn make(self, request: &SnippetRequest, deadline: Deadline<'_>) -> anyhow::Result<Made> {
        match self {
            Self::File(content) => {
                let made = make_snippet(&content, &Analysis::default(), request, deadline)?;
                Ok(Made::File(content, Box::new(made)))
            }
            Self::Dataset(searcher, id) => {
                let made = searcher.snippet(&id, request, deadline)?;
                let missing = || format!("{id} is neither a file nor a dataset of the index");
                Ok(Made::Dataset(Box::new(made.with_context(missing)?)))
            }
        }
    }
}

impl Made {
    fn parts(&self) -> (&Content, &MadeSnippet) {
        match self {
            Self::File(content, made) => (content, made),
            Self::Dataset(snippet) => (&snippet.content, &snippet.made),
        }
    }

    fn title<'t>(&'t self, target: &'t str) -> &'t str {
        match self {
            Self::File(..) => target,
            Self::Dataset(snippet) => snippet.card.metadata.title(),
        }
    }
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let request = arguments.request();
    let source = Source::of(home, arguments, request.method)?;
    let started = Instant::now();
    let passed = || arguments.deadline.is_some_and(|limit| started.elapsed() >= Duration::from_millis(limit));
    let made = source.make(&request, Deadline::new(&passed))?;
    let time = started.elapsed();
    let (content, snippet) = made.parts();
    if let Some(syntax) = arguments.rdf {
        io::stdout().lock().write_all(&rdf(home, arguments, &request, &made, syntax.into())?)?;
    } else if let Some(file) = &arguments.svg {
        let triples: Vec<LabelledTriple> = snippet.triples.iter().map(|shown| shown.triple.clone()).collect();
        write_drawing(file.as_deref(), &draw_document(&triples, made.title(&arguments.target)))?;
    } else {
        write_triples(&mut io::stdout().lock(), snippet)?;
    }
    if arguments.metrics {
        let report = Report::new(content.graph(), content.profile(), &Patterns::new(content.graph()), &snippet.snippet);
        writeln!(io::stderr(), "{report}")?;
    }
    write_note(&mut io::stderr().lock(), content.graph(), snippet, time)?;
    Ok(if snippet.triples.is_empty() { Done::Nothing } else { Done::Something })
}

fn rdf(
    home: &Path,
    arguments: &Arguments,
    request: &SnippetRequest,
    made: &Made,
    syntax: RdfSyntax,
) -> anyhow::Result<Vec<u8>> {
    let triples = match made {
        Made::Dataset(snippet) if arguments.provenance => {
            let store = Store::open(home, Access::Read, None)?;
            snippet.to_triples(store.iris(), request, Some(DateTime::now()))
        }
        Made::File(..) if arguments.provenance => {
            anyhow::bail!("{} is no dataset of the home: a file's snippet has no provenance", arguments.target)
        }
        made => {
            let (content, snippet) = made.parts();
            snippet.snippet.triples.iter().map(|&triple| content.graph().to_triple(triple)).collect()
        }
    };
    Ok(syntax.write(&triples)?)
}

fn write_drawing(file: Option<&Path>, svg: &str) -> anyhow::Result<()> {
    match file {
        Some(file) => write_whole(file, svg.as_bytes()).with_context(|| format!("{} was not written", file.display())),
        None => Ok(writeln!(io::stdout().lock(), "{svg}")?),
    }
}

fn write_triples(out: &mut impl Write, snippet: &MadeSnippet) -> io::Result<()> {
    let style = Style::of_stdout();
    let shown = |term: &LabelledTerm| style.marked(&safe(&term.label), |word| snippet.words.is_match(word));
    for LabelledTriple { subject, predicate, object } in snippet.triples.iter().map(|shown| &shown.triple) {
        writeln!(out, "{} — {} — {}", shown(subject), shown(predicate), shown(object))?;
    }
    Ok(())
}

fn write_note(out: &mut impl Write, graph: &TripleGraph, made: &MadeSnippet, time: Duration) -> io::Result<()> {
    let note = if made.snippet.interrupted { "; not every possibility was tried" } else { "" };
    writeln!(
        out,
        "{}: {} of {} triples, gain {:.4}, {:.0} ms{note}",
        made.method,
        made.triples.len(),
        graph.len(),
        made.snippet.gain,
        time.as_secs_f64() * 1000.0
    )
}

pub(super) fn read_file(target: &str) -> anyhow::Result<TripleGraph> {
    let mut builder = TripleGraphBuilder::new();
    let failed = read_into(target, &mut builder)?;
    anyhow::ensure!(!failed || !builder.is_empty(), "{target} was not read");
    Ok(builder.finish())
}

fn sample_file(target: &str, triples: usize, method: Method) -> anyhow::Result<Content> {
    let illusnip = [Method::IlluSnip, Method::IlluSnipMax, Method::IlluSnipBasic];
    anyhow::ensure!(illusnip.contains(&method), "--sample goes with illusnip and its variants, not with {method}");
    let mut survey = CountingPass::new(triples);
    let failed = read_into(target, &mut survey)?;
    let mut sampling = survey.finish();
    if sampling.needs_second_pass() {
        read_quietly(target, &mut sampling);
    }
    let sample = sampling.finish();
    anyhow::ensure!(!failed || !sample.graph.is_empty(), "{target} was not read");
    if !sample.is_whole {
        let error = match sample.count_error {
            0 => String::new(),
            error => format!("; counts of classes and properties may be {} too small", grouped(error)),
        };
        let (held, all) = (grouped(sample.graph.len() as u64), grouped(sample.profile.triples));
        writeln!(io::stderr(), "a sample of {held} of {all} triples{error}")?;
    }
    Ok(Content::of_sample(sample))
}

/// Reads a file and tells its problems; whether some of it could not be read at all.
fn read_into(target: &str, sink: &mut dyn TripleSink) -> anyhow::Result<bool> {
    let mut failed = false;
    for report in DumpReader::default().read_file(Path::new(target), target, "file:///", sink) {
        for problem in &report.problems {
            writeln!(io::stderr(), "{}: {}", safe(&report.file), safe(&problem.to_string()))?;
        }
        failed |= matches!(report.outcome, Outcome::Refused | Outcome::Unreadable);
    }
    Ok(failed)
}

/// Reads a file again, whose problems were told the first time.
fn read_quietly(target: &str, sink: &mut dyn TripleSink) {
    DumpReader::default().read_file(Path::new(target), target, "file:///", sink);
}
