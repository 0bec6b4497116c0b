//! Names of the research commands in a program built without them: each returns an error with the remedy.

use crate::ExitStatus;
use std::ffi::OsString;

/// The research commands, hidden from the help.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    #[command(hide = true)]
    TuneFields(Ignored),
    #[command(hide = true)]
    EvaluateSnippets(Ignored),
    #[command(hide = true)]
    Fuse(Ignored),
    #[command(hide = true)]
    Interleave(Ignored),
    #[command(hide = true)]
    Tag(Ignored),
    #[command(hide = true)]
    TrainingData(Ignored),
    #[command(hide = true)]
    Reproduce(Ignored),
}

/// Arguments of any form.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Ignored {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

impl Command {
    /// Returns the error that names the missing feature.
    pub(crate) fn refuse(&self) -> anyhow::Result<ExitStatus> {
        let name = match self {
            Self::TuneFields(_) => "tune-fields",
            Self::EvaluateSnippets(_) => "evaluate-snippets",
            Self::Fuse(_) => "fuse",
            Self::Interleave(_) => "interleave",
            Self::Tag(_) => "tag",
            Self::TrainingData(_) => "training-data",
            Self::Reproduce(_) => "reproduce",
        };
        anyhow::bail!(
            "`{name}` is a research command, and this program was built without them; \
             build with `cargo build --release --features lab`"
        )
    }
}
