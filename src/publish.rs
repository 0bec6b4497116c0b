//! `lodeseek publish`: snapshots of the home on object storage.

use super::ExitStatus;
use super::backup::write;
use super::local_server::LocalServer;
use super::output::OutputArguments;
use super::replica::storage_options;
use super::terminal::{bar, grouped};
use anyhow::Context;
use lodeseek_snapshot::{PublishReport, RemoteSnapshots, SnapshotLocation, publish};
use lodeseek_store::{Access, Store, StoreError, is_home};
use oxsdatatypes::DateTime;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Location of the snapshots: s3://BUCKET/PREFIX or file:///FOLDER. The variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    /// AWS_REGION and AWS_ENDPOINT_URL (another server than Amazon's) configure the access. Only contents that the location
    /// lacks are uploaded.
    #[arg(value_name = "URL")]
    location: SnapshotLocation,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    if !is_home(home) {
        return Err(StoreError::NoHome { home: home.to_owned() }.into());
    }
    let report: PublishReport = match LocalServer::find(home) {
        Some(server) => {
            let result = server.publish(&arguments.location)?;
            serde_json::from_value(result).context("the running server is of another version; restart it")?
        }
        None => publish_here(home, &arguments.location)?,
    };
    let text = format!(
        "snapshot {} {}: {} datasets, {} files, {:.1} MB; {} files, {:.1} MB were uploaded, {} files reused",
        report.snapshot,
        if report.unchanged { "is up to date" } else { "published" },
        grouped(report.datasets as u64),
        grouped(report.files as u64),
        report.bytes as f64 / 1e6,
        grouped(report.uploaded_files as u64),
        report.uploaded_bytes as f64 / 1e6,
        grouped(report.reused_files as u64),
    );
    write(arguments.output.format(), &report, &text)
}

/// Publishes a snapshot in this process.
fn publish_here(home: &Path, location: &SnapshotLocation) -> anyhow::Result<PublishReport> {
    let store = Store::open(home, Access::Read, None)?;
    let remote = RemoteSnapshots::open(location, &storage_options())?;
    let bar = bar(1, "publishing {bar:30} {pos} of {len} files · {eta} left");
    let report = publish(&store, &remote, Some(DateTime::now()), &|done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    Ok(report?)
}
