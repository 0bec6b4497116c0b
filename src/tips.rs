//! Tips for the names that other programs give to commands and arguments: `--port`, `--limit`, `delete`.

use super::Arguments;
use clap::builder::UnknownArgumentValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};

/// Arguments of other programs: command, argument without dashes, and the argument that this program has.
const ARGUMENTS: [(&str, &str, &str); 5] = [
    ("serve", "port", "--bind 127.0.0.1:PORT"),
    ("serve", "host", "--bind HOST:7878"),
    ("search", "limit", "-k"),
    ("similar", "limit", "-k"),
    ("snippet", "limit", "-k"),
];
/// Commands of other programs, and the command that this program has.
const COMMANDS: [(&str, &str); 5] = [
    ("add", "load"),
    ("delete", "remove"),
    ("import", "load"),
    ("rm", "remove"),
    ("sparql", "query"),
];
/// Commands that moved to the program `lodeseek-lab`.
const RESEARCH_COMMANDS: [&str; 7] = [
    "evaluate-snippets",
    "fuse",
    "interleave",
    "reproduce",
    "tag",
    "training-data",
    "tune-fields",
];

/// Parses the arguments of the process. Ends the process if they are not valid.
pub(super) fn parse() -> Arguments {
    let parsed = command()
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Ok(arguments) => arguments,
        Err(error) => with_command_tip(error).exit(),
    }
}

/// Returns the command line with hidden arguments that are rejected with a tip.
pub(super) fn command() -> Command {
    let mut command = Arguments::command();
    for (name, foreign, own) in ARGUMENTS {
        let argument = Arg::new(foreign)
            .long(foreign)
            .hide(true)
            .value_parser(UnknownArgumentValueParser::suggest_arg(own));
        command = command.mut_subcommand(name, |command| command.arg(argument));
    }
    command
}

/// Names the command of this program in the error for a command of another one, and `lodeseek-lab` for a research command.
fn with_command_tip(mut error: Error) -> Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if RESEARCH_COMMANDS.contains(&name.as_str()) {
        let message = format!(
            "`{name}` is a research command: run `lodeseek-lab {name}`; `make release-lab` in a clone of the repository builds \
             that program\n"
        );
        return Error::raw(ErrorKind::InvalidSubcommand, message);
    }
    if let Some((_, own)) = COMMANDS.iter().find(|(foreign, _)| foreign == name) {
        let own = vec![(*own).to_owned()];
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(own));
    }
    error
}
