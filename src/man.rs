//! `lodeseek man`: manual pages, one for the program and one for each command.

use super::Done;
use clap::CommandFactory;
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The folder for the pages; it is made where there is none.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Done> {
    fs::create_dir_all(&arguments.folder)?;
    clap_mangen::generate_to(super::Arguments::command(), &arguments.folder)?;
    Ok(Done::Something)
}
