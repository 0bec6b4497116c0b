//! `lodeseek remove`: removes datasets from the store and the index, or works.

use super::ExitStatus;
use super::config::Config;
use super::local::{local_home, make_local_change, unexpected_report};
use super::server_client::ServerArguments;
use super::terminal::counted;
use super::worker::WorkerArguments;
use anyhow::Context;
use lodeseek_catalog::DatasetId;
use lodeseek_changes::{Change, ChangeReport, Removed};
use lodeseek_cli::streams::messages;
use lodeseek_net::egress::Cancellation;
use lodeseek_store::check_home;
use std::io::Write;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Ids of the datasets, or with --works of the works. If one of them is unknown, nothing is removed.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Remove works that use datasets, by the ids that `list --works` lists.
    #[arg(long)]
    works: bool,
    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    if let Some(server) = arguments.server.find(home)? {
        let result = if arguments.works {
            server.remove_works(&arguments.ids)?
        } else {
            server.remove(&arguments.ids)?
        };
        let removed = result["removed"].as_u64().unwrap_or(0);
        writeln!(
            messages(),
            "{} removed by {}",
            counted(removed, arguments.unit()),
            server.name()
        )?;
        return Ok(ExitStatus::Success);
    }
    check_home(home)?;
    let change = arguments.change()?;
    let local = local_home(home, config, None, &WorkerArguments::default())?;
    let removed =
        match make_local_change(&local, change, arguments.unit(), Cancellation::default())? {
            ChangeReport::Remove(Removed { removed }) => removed,
            other => return Err(unexpected_report(&other)),
        };
    writeln!(messages(), "{} removed", counted(removed, arguments.unit()))?;
    Ok(ExitStatus::Success)
}

impl Arguments {
    fn unit(&self) -> &'static str {
        if self.works { "work" } else { "dataset" }
    }

    /// Returns the change of the arguments.
    ///
    /// # Errors
    /// If an id is not valid.
    fn change(&self) -> anyhow::Result<Change> {
        if self.works {
            return Ok(Change::RemoveWorks(self.ids.clone()));
        }
        let mut ids = Vec::with_capacity(self.ids.len());
        for name in &self.ids {
            let id = DatasetId::new(name.as_str());
            ids.push(
                id.with_context(|| format!("nothing was removed: {name:?} is no id of a dataset"))?,
            );
        }
        Ok(Change::Remove(ids))
    }
}
