//! `lodeseek completions`: completion scripts for shells.

use super::ExitStatus;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Shell for which the script is written to stdout.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut super::Arguments::command(),
        "lodeseek",
        &mut script,
    );
    io::stdout().lock().write_all(&script)?;
    Ok(ExitStatus::Success)
}
