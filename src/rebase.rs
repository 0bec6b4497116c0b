//! `lodeseek rebase`: changes the base of all IRIs of the home.

use super::ExitStatus;
use super::terminal::counted;
use lodeseek_cli::streams::messages;
use lodeseek_store::change_base;
use std::io::Write;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The new base: an absolute http(s) IRI that ends with a slash, as https://data.example.org/.
    #[arg(value_name = "IRI")]
    base: String,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let datasets = change_base(home, &arguments.base)?;
    let datasets = counted(datasets as u64, "dataset");
    writeln!(
        messages(),
        "the base of {} is {}: {datasets}",
        home.display(),
        arguments.base
    )?;
    Ok(ExitStatus::Success)
}
