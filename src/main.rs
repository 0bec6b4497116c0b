//! Command line of Lodeseek. This file defines the commands; each command has a file of its own.
//!
//! Results are written to stdout, everything else to stderr. Exit codes:
//!
//! - 0: success; for commands that search, at least one result.
//! - 1: no result, or an incomplete one. `list`: there is no dataset, or with `--works` no work. `load`: a dataset keeps its previous content, because a file cannot be read, or the
//!   sampling of an endpoint is unfinished. `harvest`: a page or file could not be fetched. `reproduce`: a score differs from
//!   the expected one. `verify`: there is damage. `repair`: something must be loaded or encoded again, or damage remains.
//! - 2: error.

mod backup;
mod cluster;
mod completions;
mod config;
mod dataset_ids;
mod edit;
mod egress;
mod encoder;
mod endpoint;
mod errors;
mod evaluate;
mod filter;
mod harvest;
mod index;
mod installation;
#[cfg(feature = "lab")]
mod lab;
#[cfg(not(feature = "lab"))]
mod lab_missing;
mod list;
mod load;
mod logging;
mod man;
mod method;
mod model;
mod output;
mod provenance;
mod publish;
mod quality;
mod query;
mod ranking;
mod rebase;
mod remove;
mod repair;
mod replica;
mod rows;
mod run;
mod search;
mod serve;
mod server_client;
mod show;
mod similar;
mod snippet;
mod sources;
mod status;
mod syntax;
mod terminal;
mod tips;
mod token;
mod traces;
mod translations;
mod tune;
mod values;
mod verify;
mod worker;

use clap::{Parser, Subcommand};
use config::Config;
#[cfg(feature = "lab")]
use lab::{evaluate_snippets, fuse, interleave, reproduce, tag, training_data, tune_fields};
use logging::{LogFormat, LogWriter};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use traces::Traces;

/// Find RDF datasets by their metadata and content.
#[derive(Parser, Debug)]
#[command(
    name = "lodeseek",
    bin_name = "lodeseek",
    version,
    max_term_width = 110
)]
struct Arguments {
    /// Folder of the collection.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "lodeseek-home",
        env = "LODESEEK_HOME"
    )]
    home: PathBuf,
    /// Format of log messages on stderr: text, or json for one object a line.
    #[arg(
        long,
        global = true,
        value_enum,
        hide_possible_values = true,
        value_name = "FORMAT",
        default_value = "text",
        env = "LODESEEK_LOG_FORMAT"
    )]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Load catalogues and dumps into the collection.
    Load(load::Arguments),
    /// Harvest the catalogues of portals, and the files they describe, into the collection.
    Harvest(harvest::Arguments),
    /// Update profiles, snippets, the text index and vectors.
    Index(index::Arguments),
    /// Create the dictionary by which queries in other languages find datasets, from labels in RDF files.
    Translations(translations::Arguments),
    /// Search datasets by words.
    Search(search::Arguments),
    /// List the datasets of the collection with their triples and states, or the works that use them.
    List(list::Arguments),
    /// Show the state of the collection: datasets, index, vectors, sizes.
    Status(status::Arguments),
    /// Remove datasets, or works that use them, from the collection and its index.
    Remove(remove::Arguments),
    /// Edit the description of a dataset. Edits are kept apart from its source, and survive loads and harvests.
    Edit(edit::Arguments),
    /// Verify everything in the collection: counts, checksums, files.
    Verify(verify::Arguments),
    /// Repair a damaged collection, and list what must be loaded again.
    Repair(repair::Arguments),
    /// Back up the collection to a folder, incrementally; it may be served meanwhile.
    Backup(backup::Arguments),
    /// Restore the collection from a backup.
    Restore(backup::Arguments),
    /// Publish a snapshot of the collection to object storage, for `serve --snapshot`.
    Publish(publish::Arguments),
    /// Plan, derive and assemble the collection on many machines.
    Cluster(cluster::Arguments),
    /// Change the base of all IRIs of the collection.
    Rebase(rebase::Arguments),
    /// Show a dataset.
    Show(show::Arguments),
    /// List the datasets most similar to a dataset or an RDF file, with reasons.
    Similar(similar::Arguments),
    /// Compute a snippet: a few triples that represent a dataset or an RDF file.
    Snippet(snippet::Arguments),
    /// Query the collection with SPARQL.
    Query(query::Arguments),
    /// Assess the quality of descriptions and content, and name the next improvement.
    Quality(quality::Arguments),
    /// List the datasets that match each triple pattern of a SPARQL query.
    Sources(sources::Arguments),
    /// Serve search, datasets and SPARQL over HTTP.
    Serve(serve::Arguments),
    /// Serve the collection to an agent, in the Model Context Protocol over stdin and stdout.
    Mcp,
    /// Create, list and remove tokens of the administration (`serve --admin`).
    Token(token::Arguments),
    /// Rank the datasets for a file of topics, as a TREC run.
    Run(run::Arguments),
    /// Learn how rankings are fused, from judged queries or clicks, and write it into the configuration.
    Tune(tune::Arguments),
    #[cfg(feature = "lab")]
    /// Learn field weights by cross-validation.
    TuneFields(tune_fields::Arguments),
    /// Evaluate rankings against relevance judgements.
    Evaluate(evaluate::Arguments),
    #[cfg(feature = "lab")]
    /// Evaluate snippet methods on the datasets of the collection.
    EvaluateSnippets(evaluate_snippets::Arguments),
    #[cfg(feature = "lab")]
    /// Fuse several rankings into one, with given weights or weights learned by cross-validation.
    Fuse(fuse::Arguments),
    #[cfg(feature = "lab")]
    /// Interleave several rankings into one, rank by rank (balanced interleaving).
    Interleave(interleave::Arguments),
    #[cfg(feature = "lab")]
    /// Tag papers with the datasets of the collection that they mention.
    Tag(tag::Arguments),
    #[cfg(feature = "lab")]
    /// Generate training data for encoders: queries with positive and negative passages.
    TrainingData(training_data::Arguments),
    #[cfg(feature = "lab")]
    /// Reproduce the scores of an experiment and compare them with the expected ones.
    Reproduce(reproduce::Arguments),
    /// Research commands that are not part of this build.
    #[cfg(not(feature = "lab"))]
    #[command(flatten)]
    Missing(lab_missing::Command),
    /// Show, check or create the configuration of the home.
    Config(config::command::Arguments),
    /// Write the completion script of a shell.
    Completions(completions::Arguments),
    /// Write manual pages into a folder, one for each command.
    Man(man::Arguments),
    /// Process untrusted input for the server, which starts this command.
    #[command(name = worker::COMMAND, hide = true)]
    Worker(worker::Arguments),
}

/// Result of a command that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExitStatus {
    /// The command succeeded. Exit code 0.
    Success,
    /// There is no result, or an incomplete one. Exit code 1.
    NoResult,
}

/// Runs the program with the arguments of the process.
fn main() -> ExitCode {
    match run(&tips::parse()) {
        Ok(ExitStatus::Success) => ExitCode::SUCCESS,
        Ok(ExitStatus::NoResult) => ExitCode::from(1),
        Err(error) if errors::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "lodeseek: {}", errors::message(&error));
            ExitCode::from(2)
        }
    }
}

/// Reads the configuration of the home. Commands without a home, and those that check the configuration, need none.
///
/// # Errors
/// If the configuration is not valid.
fn read_config(arguments: &Arguments) -> anyhow::Result<Config> {
    match arguments.command {
        Command::Config(_) | Command::Completions(_) | Command::Man(_) | Command::Worker(_) => {
            Ok(Config::default())
        }
        #[cfg(feature = "lab")]
        Command::Fuse(_) | Command::Interleave(_) => Ok(Config::default()),
        #[cfg(not(feature = "lab"))]
        Command::Missing(_) => Ok(Config::default()),
        _ => Config::load(&arguments.home),
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let config = &read_config(arguments)?;
    let is_server = matches!(arguments.command, Command::Serve(_));
    let writer = if is_server {
        LogWriter::Background
    } else {
        LogWriter::Direct
    };
    let traces = match &config.settings.log.otlp {
        Some(collector) if is_server => Some(Traces::start(collector)?),
        _ => None,
    };
    let _log = logging::init(arguments.log_format, writer, traces, config)?;
    let home = &arguments.home;
    match &arguments.command {
        Command::Load(arguments) => load::run(home, config, arguments),
        Command::Harvest(arguments) => harvest::run(home, config, arguments),
        Command::Index(arguments) => index::run(home, config, arguments),
        Command::Translations(arguments) => translations::run(home, arguments),
        Command::Search(arguments) => search::run(home, config, arguments),
        Command::List(arguments) => list::run(home, arguments),
        Command::Status(arguments) => status::run(home, arguments),
        Command::Remove(arguments) => remove::run(home, arguments),
        Command::Edit(arguments) => edit::run(home, arguments),
        Command::Verify(arguments) => verify::run(home, config, arguments),
        Command::Repair(arguments) => repair::run(home, config, arguments),
        Command::Backup(arguments) => backup::run(home, config, arguments),
        Command::Restore(arguments) => backup::run_restore(home, arguments),
        Command::Publish(arguments) => publish::run(home, arguments),
        Command::Cluster(arguments) => cluster::run(home, config, arguments),
        Command::Rebase(arguments) => rebase::run(home, arguments),
        Command::Show(arguments) => show::run(home, arguments),
        Command::Similar(arguments) => similar::run(home, config, arguments),
        Command::Snippet(arguments) => snippet::run(home, arguments),
        Command::Query(arguments) => query::run(home, config, arguments),
        Command::Quality(arguments) => quality::run(home, arguments),
        Command::Sources(arguments) => sources::run(home, arguments),
        Command::Serve(arguments) => serve::run(home, config, arguments),
        Command::Mcp => serve::run_mcp(home, config),
        Command::Token(arguments) => token::run(home, arguments),
        Command::Run(arguments) => run::run(home, config, arguments),
        Command::Tune(arguments) => tune::run(home, config, arguments),
        #[cfg(feature = "lab")]
        Command::TuneFields(arguments) => tune_fields::run(home, arguments),
        Command::Evaluate(arguments) => evaluate::run(home, config, arguments),
        #[cfg(feature = "lab")]
        Command::EvaluateSnippets(arguments) => evaluate_snippets::run(home, arguments),
        #[cfg(feature = "lab")]
        Command::Fuse(arguments) => fuse::run(arguments),
        #[cfg(feature = "lab")]
        Command::Interleave(arguments) => interleave::run(arguments),
        #[cfg(feature = "lab")]
        Command::Tag(arguments) => tag::run(home, arguments),
        #[cfg(feature = "lab")]
        Command::TrainingData(arguments) => training_data::run(home, arguments),
        #[cfg(feature = "lab")]
        Command::Reproduce(arguments) => reproduce::run(home, config, arguments),
        #[cfg(not(feature = "lab"))]
        Command::Missing(command) => command.refuse(),
        Command::Config(arguments) => config::command::run(home, arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
        Command::Worker(arguments) => worker::run(home, arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::{CommandFactory, Parser};
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
        super::tips::command().debug_assert();
    }

    fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder of the documentation") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pages(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }

    /// Returns the commands of a page: lines that start with `lodeseek` or `$ lodeseek`, with their continuations. `$model`,
    /// the variable of a shell loop over ranking models, is replaced by one of them.
    fn commands(text: &str) -> Vec<String> {
        let joined = text.replace("\\\n", " ").replace("$model", "bm25");
        let lines = joined
            .lines()
            .map(|line| line.trim_start().trim_start_matches("$ "));
        lines
            .filter(|line| line.starts_with("lodeseek ") && !line.contains(['<', '…']))
            .map(str::to_owned)
            .collect()
    }

    /// Splits a command as a shell does: white space outside quotes separates words; `|`, `>`, `&` and `#` end it.
    fn words(command: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for character in command.chars() {
            match (quote, character) {
                (Some(open), close) if open == close => quote = None,
                (Some(_), inside) => word.get_or_insert_default().push(inside),
                (None, '"' | '\'') => {
                    quote = Some(character);
                    word.get_or_insert_default();
                }
                (None, '|' | '>' | '&' | '#') => break,
                (None, white) if white.is_whitespace() => words.extend(word.take()),
                (None, other) => word.get_or_insert_default().push(other),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn the_commands_of_the_documentation_parse() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = vec![root.join("README.md")];
        pages(&root.join("docs"), &mut found);
        let mut parsed = 0;
        for page in found {
            for command in commands(&fs::read_to_string(&page).expect("a page")) {
                if let Err(error) = Arguments::try_parse_from(words(&command)) {
                    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
                    assert!(
                        matches!(error.kind(), DisplayHelp | DisplayVersion),
                        "{}: {command}: {error}",
                        page.display()
                    );
                }
                parsed += 1;
            }
        }
        assert!(
            parsed >= 10,
            "{parsed} commands were found in the documentation"
        );
    }
}
