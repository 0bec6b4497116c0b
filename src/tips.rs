//! Tips for the names that other programs give to commands and arguments (`--port`, `--limit`, `delete`), and for removed arguments.

use super::Arguments;
use super::config::KEYS;
use clap::builder::{TypedValueParser, UnknownArgumentValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};
use std::ffi::OsStr;

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

/// Place at which a removed argument is set now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// The argument of `index`, which records it, and this key.
    Index(&'static str),
    /// This key, and the argument of `run` for experiments.
    Setting(&'static str),
    /// The argument of `run` only.
    Run,
    /// This key.
    Key(&'static str),
    /// This key with the value false.
    False(&'static str),
}

impl Place {
    /// Returns what to do instead of using a removed argument.
    fn describe(self, argument: &str) -> String {
        match self {
            Self::Index(key) => format!(
                "choose it with `lodeseek index --{argument}`, or by `{key}` in lodeseek.toml or {}; measure others with \
                 `lodeseek run --{argument}`",
                variable_name(key)
            ),
            Self::Setting(key) => format!(
                "set `{key}` in lodeseek.toml, or {}; measure other values with `lodeseek run --{argument}`",
                variable_name(key)
            ),
            Self::Run => format!("measure it with `lodeseek run --{argument}`"),
            Self::Key(key) => format!("set `{key}` in lodeseek.toml, or {}", variable_name(key)),
            Self::False(key) => format!(
                "set `{key} = false` in lodeseek.toml, or {}=false",
                variable_name(key)
            ),
        }
    }
}

/// A removed argument and its new place.
type NewPlace = (&'static str, Place);

/// Commands that use the models of the home, and have no arguments for them.
const WITHOUT_MODELS: [&str; 3] = ["search", "serve", "similar"];
/// Removed arguments of these commands.
const MODELS: [NewPlace; 8] = [
    ("dpr", Place::Index("encoders.dpr")),
    ("colbert", Place::Index("encoders.colbert")),
    ("sparse", Place::Index("encoders.sparse")),
    ("pooling", Place::Index("encoders.pooling")),
    ("onnx", Place::Index("encoders.onnx")),
    ("device", Place::Setting("encoders.device")),
    ("model-threads", Place::Setting("encoders.threads")),
    ("onnxruntime", Place::Setting("encoders.onnxruntime")),
];
/// Commands that re-rank as configured, and have no arguments for it.
const WITHOUT_RERANKING: [&str; 2] = ["search", "serve"];
/// Removed arguments of these commands.
const RERANKING: [NewPlace; 12] = [
    ("cross-encoder", Place::Setting("encoders.cross-encoder")),
    (
        "cross-encoder-deadline",
        Place::Setting("encoders.cross-encoder-deadline"),
    ),
    ("pool", Place::Setting("fusion.pool")),
    ("pool-depth", Place::Setting("rerank.pool-depth")),
    ("dense-depth", Place::Setting("rerank.dense-depth")),
    ("combine", Place::Setting("rerank.combine")),
    ("fusion", Place::Setting("fusion.method")),
    ("fusion-weights", Place::Setting("fusion.weights")),
    ("popularity", Place::Setting("fusion.popularity")),
    ("works", Place::Setting("rerank.works")),
    ("min-similarity", Place::Setting("rerank.min-similarity")),
    ("floor", Place::Setting("rerank.min-similarity")),
];
/// Other removed arguments of `search`.
const OF_SEARCH: [NewPlace; 3] = [
    ("fields", Place::Run),
    ("weights", Place::Run),
    ("lengths", Place::Run),
];
/// Other removed arguments of `serve`.
const OF_SERVE: [NewPlace; 13] = [
    ("max-connections", Place::Key("server.max-connections")),
    ("worker-memory", Place::Key("server.worker-memory")),
    ("no-workers", Place::False("server.workers")),
    ("snippet-deadline", Place::Key("server.snippet-deadline")),
    ("graph-cache", Place::Key("server.graph-cache")),
    ("sparql-deadline", Place::Key("sparql.deadline")),
    ("sparql-rows", Place::Key("sparql.rows")),
    ("sparql-megabytes", Place::Key("sparql.megabytes")),
    ("sparql-queries", Place::Key("sparql.queries")),
    (
        "sparql-queries-of-client",
        Place::Key("sparql.queries-of-client"),
    ),
    ("description", Place::Key("portal.description")),
    ("publisher", Place::Key("portal.publisher")),
    ("publisher-iri", Place::Key("portal.publisher-iri")),
];

/// A removed argument.
#[derive(Clone, Debug)]
struct Removed {
    command: &'static str,
    argument: &'static str,
    place: Place,
}

impl Removed {
    /// Returns the message of the error.
    fn message(&self) -> String {
        let Self {
            command,
            argument,
            place,
        } = self;
        format!(
            "`{command} --{argument}` was removed: {}",
            place.describe(argument)
        )
    }
}

/// Rejects the argument.
impl TypedValueParser for Removed {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        _argument: Option<&Arg>,
        _value: &OsStr,
    ) -> Result<String, Error> {
        let mut command = command.clone();
        Err(command.error(ErrorKind::UnknownArgument, self.message()))
    }
}

/// Arguments of commands that people write before the command: argument, and the name of its value.
const OF_COMMANDS: [(&str, &str); 3] = [
    ("server", "URL"),
    ("token", "TOKEN"),
    ("token-file", "FILE"),
];

/// An argument of commands that is written before the command.
#[derive(Clone, Copy, Debug)]
struct Misplaced {
    argument: &'static str,
    value: &'static str,
}

/// Rejects the argument.
impl TypedValueParser for Misplaced {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        _argument: Option<&Arg>,
        _value: &OsStr,
    ) -> Result<String, Error> {
        let Self { argument, value } = self;
        let message = format!(
            "--{argument} belongs after the command, for example `lodeseek status --{argument} {value}`"
        );
        Err(command.clone().error(ErrorKind::UnknownArgument, message))
    }
}

/// Returns all removed arguments.
fn removed_arguments() -> Vec<Removed> {
    let lists: [(&[&'static str], &[NewPlace]); 4] = [
        (&WITHOUT_MODELS, &MODELS),
        (&WITHOUT_RERANKING, &RERANKING),
        (&["search"], &OF_SEARCH),
        (&["serve"], &OF_SERVE),
    ];
    let mut removed = Vec::new();
    for (commands, arguments) in lists {
        for command in commands {
            for &(argument, place) in arguments {
                removed.push(Removed {
                    command,
                    argument,
                    place,
                });
            }
        }
    }
    removed
}

/// Returns the environment variable of a key, empty for an unknown key.
fn variable_name(path: &str) -> String {
    let key = KEYS.iter().find(|key| key.path == path);
    key.map(|key| key.variable()).unwrap_or_default()
}

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
    for (argument, value) in OF_COMMANDS {
        let misplaced = Arg::new(argument)
            .long(argument)
            .hide(true)
            .num_args(0..=1)
            .default_missing_value("")
            .value_parser(Misplaced { argument, value });
        command = command.arg(misplaced);
    }
    for (name, foreign, own) in ARGUMENTS {
        let argument = Arg::new(foreign)
            .long(foreign)
            .hide(true)
            .value_parser(UnknownArgumentValueParser::suggest_arg(own));
        command = command.mut_subcommand(name, |command| command.arg(argument));
    }
    for removed in removed_arguments() {
        let name = removed.command;
        // With or without a value, the message is the same.
        let argument = Arg::new(removed.argument)
            .long(removed.argument)
            .hide(true)
            .num_args(0..=1)
            .default_missing_value("")
            .allow_hyphen_values(true)
            .value_parser(removed);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum number of arguments of a command for daily use.
    const MAX_ARGUMENTS: usize = 25;

    fn subcommand(program: &Command, name: &str) -> Command {
        let mut program = program.clone();
        program.build();
        program.find_subcommand(name).expect("a command").clone()
    }

    fn has_argument(program: &Command, command: &str, argument: &str) -> bool {
        let command = subcommand(program, command);
        let mut arguments = command.get_arguments();
        arguments.any(|one| {
            !one.is_hide_set()
                && (one.get_long() == Some(argument)
                    || one
                        .get_all_aliases()
                        .is_some_and(|aliases| aliases.contains(&argument)))
        })
    }

    #[test]
    fn commands_for_daily_use_have_few_arguments() {
        for name in ["search", "serve"] {
            let command = subcommand(&command(), name);
            let shown: Vec<&str> = command
                .get_arguments()
                .filter(|argument| !argument.is_hide_set())
                .filter_map(Arg::get_long)
                .collect();
            assert!(
                shown.len() <= MAX_ARGUMENTS,
                "{name}: {} of {MAX_ARGUMENTS}: {shown:?}",
                shown.len()
            );
        }
    }

    #[test]
    fn arguments_for_daily_use_are_grouped() {
        for name in ["search", "serve"] {
            let command = subcommand(&Arguments::command(), name);
            for argument in command.get_arguments() {
                let Some(long) = argument.get_long() else {
                    continue;
                };
                let is_general = ["help", "home", "log-format", "server"].contains(&long);
                let heading = argument.get_help_heading();
                assert_eq!(heading.is_none(), is_general, "{name} --{long}");
            }
        }
    }

    #[test]
    fn removed_arguments_are_rejected_with_their_new_place() {
        for removed in removed_arguments() {
            let Removed {
                command: name,
                argument,
                place,
            } = removed;
            let flag = format!("--{argument}");
            for arguments in [
                vec!["lodeseek", name, &flag, "value"],
                vec!["lodeseek", name, &flag],
                vec!["lodeseek", name, &flag, "-1"],
            ] {
                let error = command()
                    .try_get_matches_from(&arguments)
                    .expect_err("a removed argument")
                    .to_string();
                let expected = format!("error: `{name} {flag}` was removed: ");
                assert!(error.starts_with(&expected), "{arguments:?}: {error}");
                assert!(error.contains(&place.describe(argument)), "{error}");
            }
        }
    }

    #[test]
    fn arguments_before_the_command_are_rejected_with_their_place() {
        for (argument, value) in OF_COMMANDS {
            let flag = format!("--{argument}");
            let error = command()
                .try_get_matches_from(["lodeseek", &flag, "value", "status"])
                .expect_err("a misplaced argument")
                .to_string();
            let expected = format!(
                "error: {flag} belongs after the command, for example `lodeseek status {flag} {value}`"
            );
            assert!(error.starts_with(&expected), "{error}");
            let program = Arguments::command();
            assert!(has_argument(&program, "status", argument), "{argument}");
            assert!(
                command()
                    .try_get_matches_from(["lodeseek", "status", &flag, "value"])
                    .is_ok()
            );
        }
    }

    #[test]
    fn the_new_places_exist() {
        let program = Arguments::command();
        for Removed {
            command,
            argument,
            place,
        } in removed_arguments()
        {
            assert!(
                !has_argument(&program, command, argument),
                "{command} --{argument}"
            );
            match place {
                Place::Index(key) => {
                    assert!(!variable_name(key).is_empty(), "{key}");
                    assert!(has_argument(&program, "index", argument), "{argument}");
                    assert!(has_argument(&program, "run", argument), "{argument}");
                }
                Place::Setting(key) => {
                    assert!(!variable_name(key).is_empty(), "{key}");
                    assert!(has_argument(&program, "run", argument), "{argument}");
                }
                Place::Run => assert!(has_argument(&program, "run", argument), "{argument}"),
                Place::Key(key) | Place::False(key) => {
                    assert!(!variable_name(key).is_empty(), "{key}");
                }
            }
        }
    }
}
