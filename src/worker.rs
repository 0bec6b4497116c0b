//! `lodeseek worker-process`: a worker process of the server or of `cluster work`, which start it. It is not for users.

use super::ExitStatus;
use lodeseek_cluster::{DERIVATION_ROLE, run_derivation_worker};
use lodeseek_server::run_worker;
use std::path::Path;

/// Name of the command.
pub(crate) const COMMAND: &str = "worker-process";

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Work of the process: queries, examples or derivation.
    role: String,
    /// Limits of the process, in JSON.
    limits: String,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let Arguments { role, limits } = arguments;
    if role == DERIVATION_ROLE {
        run_derivation_worker(limits)?;
    } else {
        run_worker(role.parse().map_err(anyhow::Error::msg)?, home, limits)?;
    }
    Ok(ExitStatus::Success)
}
