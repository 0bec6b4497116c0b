//! `lodeseek token`: creates, lists and removes tokens of the administration.

use super::ExitStatus;
use super::output::{OutputArguments, write_json};
use lodeseek_changes::{Scope, Tokens};
use lodeseek_cli::streams::report_output;
use lodeseek_store::check_home;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

/// Beginning of all tokens, by which scanners for leaked secrets recognise them.
const PREFIX: &str = "lodeseek_";
/// Number of random bytes of a token.
const SECRET_BYTES: usize = 32;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Create a token and print it. It is shown once: the home stores its digest only.
    Add {
        /// Name of the token, which the audit log contains: the user or program that has it.
        #[arg(value_name = "NAME")]
        name: String,
        /// Rights: read (jobs, audit log, metrics), write (also changes of datasets) or admin (also indexing and harvests).
        #[arg(long, value_name = "SCOPE", default_value = "write")]
        scope: Scope,
    },
    /// List the tokens by name.
    List {
        #[command(flatten)]
        output: OutputArguments,
    },
    /// Remove a token. A running server rejects it from then on.
    Remove {
        /// Name of the token.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    check_home(home)?;
    let tokens = Tokens::new(home);
    let mut out = report_output();
    match &arguments.command {
        Command::Add { name, scope } => {
            let secret = new_secret()?;
            let now = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)?
                .as_secs();
            tokens.add(name, *scope, &secret, now)?;
            writeln!(out, "{secret}")?;
            Ok(ExitStatus::Success)
        }
        Command::List { output } => {
            let listed = tokens.list()?;
            if output.is_json() {
                let mut rows = Vec::with_capacity(listed.len());
                for token in listed.iter() {
                    rows.push(json!({
                        "name": token.name, "scope": token.scope, "created": token.created,
                    }));
                }
                write_json(&mut out, &json!({ "tokens": rows }))?;
            } else {
                for token in listed.iter() {
                    writeln!(out, "{:<6} {}", token.scope.name(), token.name)?;
                }
            }
            Ok(if listed.is_empty() {
                ExitStatus::NoResult
            } else {
                ExitStatus::Success
            })
        }
        Command::Remove { name } => {
            let removed = tokens.remove(name)?;
            anyhow::ensure!(
                removed,
                "there is no token {name}; `lodeseek token list` lists all"
            );
            Ok(ExitStatus::Success)
        }
    }
}

/// Returns a new token: 256 random bits.
fn new_secret() -> anyhow::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system has no random numbers: {error}"))?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{PREFIX}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_differ() {
        let (one, other) = (new_secret().expect("random"), new_secret().expect("random"));
        assert!(one.starts_with(PREFIX) && one.len() == PREFIX.len() + 64 && one != other);
    }
}
