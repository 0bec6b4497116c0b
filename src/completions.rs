//! `lodeseek completions`: what a shell needs to complete the program's arguments.

use super::Done;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Done> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "lodeseek", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Done::Something)
}
