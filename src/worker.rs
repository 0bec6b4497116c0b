//! `lodeseek worker-process`: a worker process of the server, of `harvest` or of `cluster work`, which start it. It is not for
//! users.

use super::ExitStatus;
use super::config::{Config, WORKER_MEGABYTES};
use lodeseek_changes::{Parser, WorkerOptions};
use lodeseek_cluster::{DERIVATION_ROLE, run_derivation_worker};
use lodeseek_server::run_worker;
use lodeseek_sparql::SparqlLimits;
use std::path::Path;

/// Name of the command.
pub(crate) const COMMAND: &str = "worker-process";

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Work of the process: queries, examples, files or derivation.
    role: String,
    /// Limits of the process, in JSON.
    limits: String,
}

/// Options of worker processes.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct WorkerArguments {
    /// Memory of a worker process in megabytes. Each expensive SPARQL query, and each file of a portal or a client, is processed by a
    /// worker, which is ended at this limit [default: 1024].
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(WORKER_MEGABYTES))]
    worker_memory: Option<u64>,
    /// Process all input without worker processes. An input that makes the process crash then ends it.
    #[arg(long)]
    no_workers: bool,
}

impl WorkerArguments {
    /// Returns the memory of a worker process, in megabytes.
    pub(crate) fn memory_megabytes(&self, config: &Config) -> u64 {
        let memory = self.worker_memory.or(config.settings.server.worker_memory);
        memory.unwrap_or(SparqlLimits::default().memory_megabytes)
    }

    /// Returns the options of worker processes, which run this program. `None` if there are to be none.
    ///
    /// # Errors
    /// If the path of this program or of the home is unknown.
    pub(crate) fn options(
        &self,
        home: &Path,
        config: &Config,
    ) -> anyhow::Result<Option<WorkerOptions>> {
        if self.no_workers || !config.settings.server.workers.unwrap_or(true) {
            return Ok(None);
        }
        // Workers are of this version, also if the file was replaced by an update in the meantime.
        let running = Path::new("/proc/self/exe");
        let program = if running.exists() {
            running.to_owned()
        } else {
            std::env::current_exe()?
        };
        let home = std::path::absolute(home)?;
        let arguments = vec!["--home".into(), home.into(), COMMAND.into()];
        Ok(Some(WorkerOptions {
            program,
            arguments,
            memory_megabytes: self.memory_megabytes(config),
        }))
    }

    /// Returns the parser of untrusted files.
    ///
    /// # Errors
    /// As for [`options`](Self::options).
    pub(crate) fn parser(&self, home: &Path, config: &Config) -> anyhow::Result<Parser> {
        let options = self.options(home, config)?;
        Ok(options
            .map(|options| Parser::in_workers(home, &options))
            .unwrap_or_default())
    }

    /// Returns true if an option is set.
    pub(crate) fn is_any(&self) -> bool {
        self.no_workers || self.worker_memory.is_some()
    }
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
