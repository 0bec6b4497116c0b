//! `lodeseek worker-process`: a worker process of the server, which starts it. It is not for users.

use super::ExitStatus;
use lodeseek_server::{WorkerRole, run_worker};
use std::path::Path;

/// Name of the command.
pub(crate) const COMMAND: &str = "worker-process";

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Work of the process: queries or examples.
    role: WorkerRole,
    /// Limits of the process, in JSON.
    limits: String,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    run_worker(arguments.role, home, &arguments.limits)?;
    Ok(ExitStatus::Success)
}
