//! `lodeseek remove`: removes datasets from the store and the index.

use super::ExitStatus;
use super::server_client::ServerArguments;
use super::terminal::counted;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{remove_datasets, similar_ids};
use lodeseek_store::{Access, Store, StoreError, is_home};
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Ids of the datasets. If one of them is unknown, nothing is removed.
    #[arg(required = true, value_name = "DATASET")]
    datasets: Vec<String>,
    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    if let Some(server) = arguments.server.find(home)? {
        let result = server.remove(&arguments.datasets)?;
        let removed = result["removed"].as_u64().unwrap_or(0);
        writeln!(io::stderr().lock(), "{} removed by {}", counted(removed, "dataset"), server.name())?;
        return Ok(ExitStatus::Success);
    }
    if !is_home(home) {
        return Err(StoreError::NoHome { home: home.to_owned() }.into());
    }
    let store = Store::open(home, Access::Write, None)?;
    let present = store.ids()?;
    let mut ids = Vec::with_capacity(arguments.datasets.len());
    for name in &arguments.datasets {
        let id = DatasetId::new(name.as_str()).ok().filter(|id| present.binary_search(id).is_ok());
        ids.push(id.ok_or_else(|| unknown(name, &present))?);
    }
    let removed = remove_datasets(&store, &ids)?;
    writeln!(io::stderr().lock(), "{} removed", counted(removed, "dataset"))?;
    Ok(ExitStatus::Success)
}

/// Returns the error for an id without a dataset, with the most similar ids.
fn unknown(name: &str, present: &[DatasetId]) -> anyhow::Error {
    let similar: Vec<String> = similar_ids(name, present).into_iter().map(|id| format!("`{id}`")).collect();
    let hint = match similar.as_slice() {
        [] => "`lodeseek list` lists all ids".to_owned(),
        similar => format!("did you mean {}?", similar.join(", ")),
    };
    anyhow::anyhow!("there is no dataset {name:?}, and nothing was removed; {hint}")
}
