//! `lodeseek snippet`: computes a snippet of a dataset of the home or of an RDF file.

use super::ExitStatus;
use super::dataset_ids;
use super::provenance::write_atomically;
use super::rows::table_lines;
use super::syntax::{Syntax, write_graph};
use super::terminal::{Style, grouped, safe};
use super::values::positive;
use anyhow::Context;
use lodeseek_catalog::DatasetId;
use lodeseek_cli::streams::messages;
use lodeseek_engine::{
    Content, DatasetSnippet, ExtractedSnippet, QueryWords, Searcher, SnippetRequest, check_query,
    extract_snippet,
};
use lodeseek_index::Analysis;
use lodeseek_profile::Patterns;
use lodeseek_rdf::dump::{DumpReader, Outcome};
use lodeseek_rdf::{RdfSyntax, TripleGraph, TripleGraphBuilder, TripleSink};
use lodeseek_snippet::metrics::Report;
use lodeseek_snippet::sample::CountingPass;
use lodeseek_snippet::{
    Deadline, LabelledTerm, LabelledTriple, Method, RowBudget, TripleBudget, draw_document,
};
use lodeseek_store::{Access, Store, StoreError, check_home};
use oxsdatatypes::DateTime;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Id of a dataset, or path of an RDF file.
    #[arg(value_name = "DATASET|FILE")]
    target: String,
    /// Maximum number of triples.
    #[arg(short = 'k', long, value_name = "N", default_value = "20", value_parser = positive)]
    budget: NonZeroUsize,
    /// Return the best snippet found after this time, in milliseconds. Without it, the number of steps is bounded, and the
    /// result is deterministic.
    #[arg(long, value_name = "MS")]
    deadline: Option<u64>,
    /// Maximum number of steps. Unlike --deadline, the result is deterministic.
    #[arg(long, value_name = "N", conflicts_with = "deadline")]
    work: Option<u64>,
    /// Snippet method [default: illusnip, or optimal with --query].
    #[arg(long, value_parser = super::method::any())]
    method: Option<Method>,
    /// Query words, for a method that uses a query.
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// Sample at most this many triples of a file that does not fit in memory. The file is read twice, so that weights are those
    /// of the complete file. For the IlluSnip methods.
    #[arg(long, value_name = "N", conflicts_with = "metrics")]
    sample: Option<usize>,
    /// Languages of labels, in order of preference: `de,en`.
    #[arg(long, value_name = "TAG", value_delimiter = ',', default_value = "en")]
    lang: Vec<String>,
    /// Write RDF instead of labels in this syntax.
    #[arg(long, value_enum, value_name = "SYNTAX")]
    rdf: Option<Syntax>,
    /// Add the provenance of the snippet to the RDF: method, content and time. For datasets of the home.
    #[arg(long, requires = "rdf")]
    provenance: bool,
    /// Draw the snippet as SVG, to stdout or with `--svg=FILE` to a file.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "rdf")]
    svg: Option<Option<PathBuf>>,
    /// Print quality measures of the snippet to stderr.
    #[arg(long)]
    metrics: bool,
}

impl Arguments {
    /// Rejects a query that the method does not use, and an empty one.
    fn check_query(&self) -> anyhow::Result<()> {
        let Some(query) = &self.query else {
            return Ok(());
        };
        check_query(query)?;
        if let Some(method) = self.method.filter(|method| !method.takes_query()) {
            let with_query = Method::ALL.into_iter().filter(|one| one.takes_query());
            let names: Vec<&str> = with_query.map(Method::name).collect();
            anyhow::bail!(
                "snippet method {method} does not use a query; methods with a query: {}",
                names.join(", ")
            );
        }
        Ok(())
    }

    fn request(&self) -> SnippetRequest {
        let default = if self.query.is_some() {
            Method::Optimal
        } else {
            Method::IlluSnip
        };
        SnippetRequest {
            method: self.method.unwrap_or(default),
            budget: TripleBudget(self.budget.get()),
            // With a deadline, the time alone ends the computation.
            work: self.work.or(self.deadline.map(|_| u64::MAX)),
            query: self.query.clone(),
            languages: self.lang.clone(),
            rows: RowBudget::default().rows,
        }
    }
}

/// Input of the snippet.
enum Source {
    File(Box<Content>),
    Dataset(Box<Searcher>, DatasetId),
}

/// Snippet with its input.
enum SnippetResult {
    File(Box<Content>, Box<ExtractedSnippet>),
    Dataset(Box<DatasetSnippet>),
}

impl Source {
    /// Opens the file or dataset that the arguments name.
    fn open(home: &Path, arguments: &Arguments, method: Method) -> anyhow::Result<Self> {
        let target = &arguments.target;
        if Path::new(target).is_file() {
            let content = match arguments.sample {
                Some(triples) => sample_file(target, triples, method)?,
                None => Content::new(read_file(target)?),
            };
            return Ok(Self::File(Box::new(content)));
        }
        anyhow::ensure!(
            arguments.sample.is_none(),
            "--sample requires a file, but {target} is not a file"
        );
        if let Err(error @ StoreError::NoHome { .. }) = check_home(home) {
            let context = format!("{target} is neither a file nor a dataset");
            return Err(anyhow::Error::from(error).context(context));
        }
        Ok(Self::Dataset(
            Box::new(Searcher::open(home)?),
            DatasetId::new(target)?,
        ))
    }

    fn make(
        self,
        home: &Path,
        request: &SnippetRequest,
        deadline: Deadline<'_>,
    ) -> anyhow::Result<SnippetResult> {
        match self {
            Self::File(content) => {
                let made = extract_snippet(&content, &Analysis::default(), request, deadline)?;
                Ok(SnippetResult::File(content, Box::new(made)))
            }
            Self::Dataset(searcher, id) => {
                let Some(made) = searcher.snippet(&id, request, deadline)? else {
                    let unknown = dataset_ids::unknown(home, &searcher, &id);
                    anyhow::bail!("{id} is neither a file nor a dataset: {unknown}");
                };
                Ok(SnippetResult::Dataset(Box::new(made)))
            }
        }
    }
}

impl SnippetResult {
    fn parts(&self) -> (&Content, &ExtractedSnippet) {
        match self {
            Self::File(content, made) => (content, made),
            Self::Dataset(snippet) => (&snippet.content, &snippet.extracted),
        }
    }

    fn title<'t>(&'t self, target: &'t str) -> &'t str {
        match self {
            Self::File(..) => target,
            Self::Dataset(snippet) => snippet.card.metadata.title(),
        }
    }
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    arguments.check_query()?;
    let request = arguments.request();
    let source = Source::open(home, arguments, request.method)?;
    let started = Instant::now();
    let limit = arguments.deadline.map(Duration::from_millis);
    let made = source.make(
        home,
        &request,
        Deadline::new(&|| limit.is_some_and(|limit| started.elapsed() >= limit)),
    )?;
    let time = started.elapsed();
    let (content, snippet) = made.parts();
    if let Some(syntax) = arguments.rdf {
        io::stdout().lock().write_all(&snippet_rdf(
            home,
            arguments,
            &request,
            &made,
            syntax.into(),
        )?)?;
    } else if let Some(file) = &arguments.svg {
        let triples: Vec<LabelledTriple> = snippet
            .triples
            .iter()
            .map(|shown| shown.triple.clone())
            .collect();
        write_drawing(
            file.as_deref(),
            &draw_document(&triples, made.title(&arguments.target)),
        )?;
    } else {
        write_snippet(&mut io::stdout().lock(), snippet)?;
    }
    if arguments.metrics {
        let report = Report::new(
            content.graph(),
            content.profile(),
            &Patterns::new(content.graph()),
            &snippet.snippet,
        );
        writeln!(messages(), "{report}")?;
    }
    write_note(&mut messages(), content.graph(), snippet, time)?;
    Ok(if snippet.triples.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

fn snippet_rdf(
    home: &Path,
    arguments: &Arguments,
    request: &SnippetRequest,
    made: &SnippetResult,
    syntax: RdfSyntax,
) -> anyhow::Result<Vec<u8>> {
    let triples = match made {
        SnippetResult::Dataset(snippet) if arguments.provenance => {
            let store = Store::open(home, Access::Read, None)?;
            snippet.to_triples(store.iris(), request, Some(DateTime::now()))
        }
        SnippetResult::File(..) if arguments.provenance => {
            anyhow::bail!(
                "--provenance requires a dataset of the home, but {} is a file",
                arguments.target
            )
        }
        made => {
            let (content, snippet) = made.parts();
            snippet
                .snippet
                .triples
                .iter()
                .map(|&triple| content.graph().to_triple(triple))
                .collect()
        }
    };
    write_graph(syntax, &triples)
}

fn write_drawing(file: Option<&Path>, svg: &str) -> anyhow::Result<()> {
    match file {
        Some(file) => write_atomically(file, svg.as_bytes())
            .with_context(|| format!("cannot write {}", file.display())),
        None => Ok(writeln!(io::stdout().lock(), "{svg}")?),
    }
}

fn write_snippet(out: &mut impl Write, snippet: &ExtractedSnippet) -> io::Result<()> {
    let style = Style::of_stdout();
    if let Some(table) = &snippet.table {
        for line in table_lines(table, style, Some(&snippet.words)) {
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    for LabelledTriple {
        subject,
        predicate,
        object,
    } in snippet.triples.iter().map(|shown| &shown.triple)
    {
        writeln!(
            out,
            "{} — {} — {}",
            mark_words(subject, &snippet.words, style),
            mark_words(predicate, &snippet.words, style),
            mark_words(object, &snippet.words, style)
        )?;
    }
    Ok(())
}

/// Returns the label of a term, with the words of the query emphasised.
fn mark_words(term: &LabelledTerm, words: &QueryWords, style: Style) -> String {
    style.highlight_words(&safe(&term.label), words.in_text(&term.label))
}

fn write_note(
    out: &mut impl Write,
    graph: &TripleGraph,
    made: &ExtractedSnippet,
    time: Duration,
) -> io::Result<()> {
    let note = if made.snippet.interrupted {
        "; stopped before all alternatives were examined"
    } else {
        ""
    };
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

/// Reads an RDF file and prints its problems.
///
/// # Errors
/// If nothing could be read.
pub(super) fn read_file(target: &str) -> anyhow::Result<TripleGraph> {
    let mut builder = TripleGraphBuilder::new();
    let failed = read_into(target, &mut builder)?;
    anyhow::ensure!(
        !failed || !builder.is_empty(),
        "cannot read {target}: no triple could be parsed; a table has triples once it is loaded, by `lodeseek load {target}` and \
         `lodeseek index`, and is named by its id from then on"
    );
    Ok(builder.finish())
}

/// Reads a sample of an RDF file and prints its problems.
fn sample_file(target: &str, triples: usize, method: Method) -> anyhow::Result<Content> {
    let illusnip = [Method::IlluSnip, Method::IlluSnipMax, Method::IlluSnipBasic];
    anyhow::ensure!(
        illusnip.contains(&method),
        "--sample requires illusnip or one of its variants, not {method}"
    );
    let mut counting = CountingPass::new(triples);
    let failed = read_into(target, &mut counting)?;
    let mut sampling = counting.finish();
    if sampling.needs_second_pass() {
        read_quietly(target, &mut sampling);
    }
    let sample = sampling.finish();
    anyhow::ensure!(
        !failed || !sample.graph.is_empty(),
        "cannot read {target}: no triple could be parsed"
    );
    if !sample.is_whole {
        let error = match sample.count_error {
            0 => String::new(),
            error => format!(
                "; counts of classes and properties may be too small by {}",
                grouped(error)
            ),
        };
        let (sampled, all) = (
            grouped(sample.graph.len() as u64),
            grouped(sample.profile.triples),
        );
        writeln!(messages(), "a sample of {sampled} of {all} triples{error}")?;
    }
    Ok(Content::from_sample(sample))
}

/// Reads a file and prints its problems. Returns true if a part of it could not be read.
fn read_into(target: &str, sink: &mut dyn TripleSink) -> anyhow::Result<bool> {
    let mut failed = false;
    for report in DumpReader::default().read_file(Path::new(target), target, "file:///", sink) {
        for problem in &report.problems {
            writeln!(
                messages(),
                "{}: {}",
                safe(&report.file),
                safe(&problem.to_string())
            )?;
        }
        failed |= matches!(report.outcome, Outcome::Refused | Outcome::Unreadable);
    }
    Ok(failed)
}

/// Reads a file again without printing its problems.
fn read_quietly(target: &str, sink: &mut dyn TripleSink) {
    DumpReader::default().read_file(Path::new(target), target, "file:///", sink);
}

#[cfg(test)]
mod tests {
    use super::{Arguments, TripleBudget};
    use clap::{Args, Command, FromArgMatches};

    fn budget(arguments: &[&str]) -> Result<TripleBudget, clap::Error> {
        let command = Arguments::augment_args(Command::new("snippet"));
        let words = ["snippet", "oaks"].iter().chain(arguments);
        let arguments = Arguments::from_arg_matches(&command.try_get_matches_from(words)?)?;
        Ok(arguments.request().budget)
    }

    #[test]
    fn a_snippet_has_at_least_one_triple() {
        assert_eq!(budget(&[]).expect("the default"), TripleBudget::default());
        assert_eq!(budget(&["-k", "1"]).expect("valid"), TripleBudget(1));
        let error = budget(&["-k", "0"]).expect_err("no triple");
        assert!(error.to_string().contains("at least 1"), "{error}");
    }
}
