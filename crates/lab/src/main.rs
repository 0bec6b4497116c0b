//! Command line of the laboratory. This file defines the commands; each command has a file of its own.
//!
//! Results are written to stdout, everything else to stderr. Exit codes:
//!
//! - 0: success.
//! - 1: no result, or for `reproduce` a score that differs from the expected one.
//! - 2: error.

mod commands;
mod settings;

use clap::{Parser, Subcommand};
use commands::{evaluate_snippets, fuse, interleave, reproduce, tag, training_data, tune_fields};
use lodeseek_cli::logging::{self, LogFilter, LogWriter};
use lodeseek_cli::{ExitStatus, GlobalArguments};
use settings::Config;
use std::process::ExitCode;

/// Name of the program.
const PROGRAM: &str = "lodeseek-lab";

/// Make experiments on dataset search: reproduce published tables, tune, tag papers, generate training data.
#[derive(Parser, Debug)]
#[command(
    name = PROGRAM,
    bin_name = PROGRAM,
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
    /// Reproduce the scores of an experiment and compare them with the expected ones.
    Reproduce(reproduce::Arguments),
    /// Learn field weights by cross-validation.
    TuneFields(tune_fields::Arguments),
    /// Fuse several rankings into one, with given weights or weights learned by cross-validation.
    Fuse(fuse::Arguments),
    /// Interleave several rankings into one, rank by rank (balanced interleaving).
    Interleave(interleave::Arguments),
    /// Evaluate snippet methods on the datasets of the collection.
    EvaluateSnippets(evaluate_snippets::Arguments),
    /// Tag papers with the datasets of the collection that they mention.
    Tag(tag::Arguments),
    /// Generate training data for encoders: queries with positive and negative passages.
    TrainingData(training_data::Arguments),
}

/// Runs the program with the arguments of the process.
fn main() -> ExitCode {
    lodeseek_cli::exit_code(PROGRAM, run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let home = &arguments.global.home;
    let config = &match arguments.command {
        // They read files alone.
        Command::Fuse(_) | Command::Interleave(_) => Config::default(),
        _ => Config::load(home)?,
    };
    let log = &config.settings.log;
    let LogFilter { filter, warning } = log.filter(&config.place("log.filter"))?;
    logging::init(arguments.global.log_format, LogWriter::Direct, filter, None);
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    match &arguments.command {
        Command::Reproduce(arguments) => reproduce::run(home, config, arguments),
        Command::TuneFields(arguments) => tune_fields::run(home, arguments),
        Command::Fuse(arguments) => fuse::run(arguments),
        Command::Interleave(arguments) => interleave::run(arguments),
        Command::EvaluateSnippets(arguments) => evaluate_snippets::run(home, arguments),
        Command::Tag(arguments) => tag::run(home, arguments),
        Command::TrainingData(arguments) => training_data::run(home, arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, PROGRAM};
    use clap::{CommandFactory, Parser};
    use lodeseek_cli::documentation::documented_commands;
    use std::path::Path;

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_commands_of_the_documentation_parse() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let commands = documented_commands(root, PROGRAM).expect("pages");
        assert!(commands.len() >= 20, "{} commands", commands.len());
        for command in commands {
            if let Err(error) = Arguments::try_parse_from(&command.words) {
                panic!("{command:?}: {error}");
            }
        }
    }
}
