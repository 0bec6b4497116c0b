//! Command line of Lodeseek. This file defines the commands; each command has a file of its own.
//!
//! Results are written to stdout, everything else to stderr. Exit codes:
//!
//! - 0: success; for commands that search, at least one result.
//! - 1: no result, or an incomplete one. `list`: there is no dataset, or with `--works` no work. `load`: a dataset keeps its previous
//!   content, because a file cannot be read, or the sampling of an endpoint is unfinished. `harvest`: a page or file could not be
//!   fetched. `verify`: there is damage. `repair`: something must be loaded or encoded again, or damage remains.
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
mod evaluate;
mod filter;
mod harvest;
mod index;
mod list;
mod local;
mod load;
mod man;
mod output;
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
mod tips;
mod token;
mod traces;
mod translations;
mod tune;
mod verify;
mod worker;

use clap::{Parser, Subcommand};
use config::Config;
use lodeseek_cli::logging::{self, LogFilter, LogWriter};
use lodeseek_cli::{
    ExitStatus, GlobalArguments, errors, method, model, provenance, terminal, values,
};
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
    #[command(flatten)]
    global: GlobalArguments,
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
    /// Evaluate rankings against relevance judgements.
    Evaluate(evaluate::Arguments),
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

/// Runs the program with the arguments of the process.
fn main() -> ExitCode {
    lodeseek_cli::exit_code("lodeseek", run(&tips::parse()))
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
        _ => Config::load(&arguments.global.home),
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
    let log = &config.settings.log;
    let LogFilter { filter, warning } = log.filter(&config.place("log.filter"))?;
    let layer = traces.as_ref().map(Traces::layer);
    let _writer = logging::init(arguments.global.log_format, writer, filter, layer);
    // Dropped before the writer: the end of the traces may be logged.
    let _traces = traces;
    // Workers have the variables of the process that starts them, which reports it.
    if let Some(warning) = warning
        && !matches!(arguments.command, Command::Worker(_))
    {
        tracing::warn!("{warning}");
    }
    for message in &config.unknown_variables {
        tracing::warn!("{message}");
    }
    let home = &arguments.global.home;
    match &arguments.command {
        Command::Load(arguments) => load::run(home, config, arguments),
        Command::Harvest(arguments) => harvest::run(home, config, arguments),
        Command::Index(arguments) => index::run(home, config, arguments),
        Command::Translations(arguments) => translations::run(home, arguments),
        Command::Search(arguments) => search::run(home, config, arguments),
        Command::List(arguments) => list::run(home, arguments),
        Command::Status(arguments) => status::run(home, arguments),
        Command::Remove(arguments) => remove::run(home, config, arguments),
        Command::Edit(arguments) => edit::run(home, config, arguments),
        Command::Verify(arguments) => verify::run(home, config, arguments),
        Command::Repair(arguments) => repair::run(home, config, arguments),
        Command::Backup(arguments) => backup::run(home, config, arguments),
        Command::Restore(arguments) => backup::run_restore(home, arguments),
        Command::Publish(arguments) => publish::run(home, config, arguments),
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
        Command::Evaluate(arguments) => evaluate::run(home, config, arguments),
        Command::Config(arguments) => config::command::run(home, arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
        Command::Worker(arguments) => worker::run(home, arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    use clap::{CommandFactory, Parser};
    use lodeseek_cli::documentation::documented_commands;
    use std::path::Path;

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
        super::tips::command().debug_assert();
    }

    #[test]
    fn the_commands_of_the_documentation_parse() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let commands = documented_commands(root, "lodeseek").expect("pages");
        assert!(commands.len() >= 100, "{} commands", commands.len());
        for command in commands {
            if let Err(error) = Arguments::try_parse_from(&command.words) {
                let is_shown = matches!(error.kind(), DisplayHelp | DisplayVersion);
                assert!(is_shown, "{command:?}: {error}");
            }
        }
    }
}
