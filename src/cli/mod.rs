//! The command line: arguments here, a file for each command beside.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done (for `search`: something was found), 1 nothing
//! found (for `load`: a dataset was kept as it was, since a file of it cannot be read now, or a graph of an endpoint was not
//! surveyed to its end; for `harvest`: a page or a file was not had; for `reproduce`: a score is not
//! the one expected), 2 an error.

mod completions;
mod egress;
mod encoder;
mod endpoint;
mod evaluate;
mod evaluate_snippets;
mod filter;
mod fuse;
mod harvest;
mod index;
mod load;
mod man;
mod method;
mod model;
mod provenance;
mod quality;
mod query;
mod reproduce;
mod run;
mod search;
mod serve;
mod show;
mod similar;
mod snippet;
mod sources;
mod syntax;
mod tag;
mod terminal;
mod training_data;
mod tune;

use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Find RDF datasets by what they say and what they contain.
#[derive(Parser, Debug)]
#[command(name = "lodeseek", version, max_term_width = 110)]
pub struct Arguments {
    /// The folder that holds the collection.
    #[arg(long, global = true, value_name = "DIR", default_value = "lodeseek-home", env = "LODESEEK_HOME")]
    home: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Read catalogues and dumps into the collection.
    Load(load::Arguments),
    /// Bring portals' catalogues, and the files they describe, into the collection, again and again.
    Harvest(harvest::Arguments),
    /// Bring profiles, snippets, the text index and vectors up to date.
    Index(index::Arguments),
    /// Find datasets for a need in words.
    Search(search::Arguments),
    /// Show a dataset.
    Show(show::Arguments),
    /// The datasets most like one, or like an RDF file, and why.
    Similar(similar::Arguments),
    /// A few triples that say what a dataset, or an RDF file, is.
    Snippet(snippet::Arguments),
    /// Ask the collection in SPARQL.
    Query(query::Arguments),
    /// How good the datasets are, by their descriptions and their content, and what to do next.
    Quality(quality::Arguments),
    /// Which datasets can answer a query in SPARQL, pattern by pattern.
    Sources(sources::Arguments),
    /// Serve search, datasets and SPARQL over HTTP.
    Serve(serve::Arguments),
    /// Rank the datasets for a file of topics, as a TREC run.
    Run(run::Arguments),
    /// Learn field weights by cross-validation.
    Tune(tune::Arguments),
    /// Measure rankings against relevance judgements.
    Evaluate(evaluate::Arguments),
    /// Measure snippet methods over the datasets of the collection.
    EvaluateSnippets(evaluate_snippets::Arguments),
    /// Make one ranking of several, with weights given or learned by folds.
    Fuse(fuse::Arguments),
    /// Find the datasets of the collection that papers name.
    Tag(tag::Arguments),
    /// Make training data for encoders: queries, passages that answer them and passages that do not.
    TrainingData(training_data::Arguments),
    /// Compute the scores of a condition and hold them against those expected.
    Reproduce(reproduce::Arguments),
    /// Write what a shell needs to complete the arguments.
    Completions(completions::Arguments),
    /// Write manual pages into a folder, one for each command.
    Man(man::Arguments),
}

/// How a command ended well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Done {
    Something,
    Nothing,
}

/// Runs the program with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "lodeseek=info,warn".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false).init();
    match run(&Arguments::parse()) {
        Ok(Done::Something) => ExitCode::SUCCESS,
        Ok(Done::Nothing) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "lodeseek: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<Done> {
    let home = &arguments.home;
    match &arguments.command {
        Command::Load(arguments) => load::run(home, arguments),
        Command::Harvest(arguments) => harvest::run(home, arguments),
        Command::Index(arguments) => index::run(home, arguments),
        Command::Search(arguments) => search::run(home, arguments),
        Command::Show(arguments) => show::run(home, arguments),
        Command::Similar(arguments) => similar::run(home, arguments),
        Command::Snippet(arguments) => snippet::run(home, arguments),
        Command::Query(arguments) => query::run(home, arguments),
        Command::Quality(arguments) => quality::run(home, arguments),
        Command::Sources(arguments) => sources::run(home, arguments),
        Command::Serve(arguments) => serve::run(home, arguments),
        Command::Run(arguments) => run::run(home, arguments),
        Command::Tune(arguments) => tune::run(home, arguments),
        Command::Evaluate(arguments) => evaluate::run(home, arguments),
        Command::EvaluateSnippets(arguments) => evaluate_snippets::run(home, arguments),
        Command::Fuse(arguments) => fuse::run(arguments),
        Command::Tag(arguments) => tag::run(home, arguments),
        Command::TrainingData(arguments) => training_data::run(home, arguments),
        Command::Reproduce(arguments) => reproduce::run(home, arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    }
}

/// Whoever read our output has seen enough: no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_arguments_are_sound() {
        use clap::CommandFactory;
        super::Arguments::command().debug_assert();
    }
}
