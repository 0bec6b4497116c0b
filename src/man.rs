//! `lodeseek man`: manual pages, one for the program and one for each command.

use super::ExitStatus;
use clap::CommandFactory;
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Folder for the pages. It is created if it does not exist.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    fs::create_dir_all(&arguments.folder)?;
    clap_mangen::generate_to(super::Arguments::command(), &arguments.folder)?;
    Ok(ExitStatus::Success)
}
