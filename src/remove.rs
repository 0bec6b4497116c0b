//! `lodeseek remove`: removes datasets from the store and the index, or works.

use super::ExitStatus;
use super::server_client::ServerArguments;
use super::terminal::counted;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{remove_datasets, remove_works, similar_ids};
use lodeseek_store::{Access, Store, check_home};
use std::io::{self, Write};
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

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    if let Some(server) = arguments.server.find(home)? {
        let (result, unit) = if arguments.works {
            (server.remove_works(&arguments.ids)?, "work")
        } else {
            (server.remove(&arguments.ids)?, "dataset")
        };
        let removed = result["removed"].as_u64().unwrap_or(0);
        writeln!(
            io::stderr().lock(),
            "{} removed by {}",
            counted(removed, unit),
            server.name()
        )?;
        return Ok(ExitStatus::Success);
    }
    check_home(home)?;
    let store = Store::open(home, Access::Write, None)?;
    if arguments.works {
        let removed = remove_works(&store, &arguments.ids)?;
        writeln!(io::stderr().lock(), "{} removed", counted(removed, "work"))?;
        return Ok(ExitStatus::Success);
    }
    let present = store.ids()?;
    let mut ids = Vec::with_capacity(arguments.ids.len());
    for name in &arguments.ids {
        let id = DatasetId::new(name.as_str())
            .ok()
            .filter(|id| present.binary_search(id).is_ok());
        ids.push(id.ok_or_else(|| unknown(name, &present))?);
    }
    let removed = remove_datasets(&store, &ids)?;
    writeln!(
        io::stderr().lock(),
        "{} removed",
        counted(removed, "dataset")
    )?;
    Ok(ExitStatus::Success)
}

/// Returns the error for an id without a dataset, with the most similar ids.
fn unknown(name: &str, present: &[DatasetId]) -> anyhow::Error {
    let similar: Vec<String> = similar_ids(name, present)
        .into_iter()
        .map(|id| format!("`{id}`"))
        .collect();
    let hint = match similar.as_slice() {
        [] => "`lodeseek list` lists all ids".to_owned(),
        similar => format!("did you mean {}?", similar.join(", ")),
    };
    anyhow::anyhow!("there is no dataset {name:?}, and nothing was removed; {hint}")
}
