//! `lodeseek publish`: snapshots of the home on object storage.

use super::ExitStatus;
use super::backup::write_report;
use super::config::Config;
use super::local::{local_home, make_local_change, unexpected_report};
use super::output::OutputArguments;
use super::replica::storage_options;
use super::server_client::ServerClient;
use super::terminal::{counted, grouped};
use super::values::positive;
use super::worker::WorkerArguments;
use anyhow::Context;
use lodeseek_changes::{Change, ChangeReport, LocalHome, Publication};
use lodeseek_net::egress::Cancellation;
use lodeseek_snapshot::{PublishReport, SnapshotLocation};
use lodeseek_store::check_home;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Location of the snapshots: s3://BUCKET/PREFIX or file:///FOLDER. The variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    /// AWS_REGION and AWS_ENDPOINT_URL (another server than Amazon's) configure the access. Only contents that the location
    /// lacks are uploaded.
    #[arg(value_name = "URL")]
    location: SnapshotLocation,
    /// Delete all but the N latest snapshots, and objects older than a day that only deleted ones use [default: keep all].
    #[arg(long, value_name = "N", value_parser = positive)]
    keep: Option<NonZeroUsize>,
    /// File with the private key that signs the snapshot: Ed25519 in PEM, as `openssl genpkey -algorithm ed25519` makes it. Replicas
    /// with its public key (`serve --snapshot-key`) accept no other snapshots. Other users may not read the file.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Delete records that are not of this home and block its next snapshot: of other homes, copied under a higher number, or damaged.
    /// Replicas of another home at this location get no further snapshots.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    check_home(home)?;
    let report: PublishReport = match ServerClient::of_home(home) {
        Some(server) => {
            let result = server.publish(
                &arguments.location,
                arguments.keep,
                arguments.key.as_deref(),
                arguments.force,
            )?;
            serde_json::from_value(result).with_context(|| server.invalid_response())?
        }
        None => publish_here(home, config, arguments)?,
    };
    let deleted = match report.deleted_snapshots {
        0 => String::new(),
        count => format!(
            "; {} deleted, with {} objects",
            counted(count as u64, "snapshot"),
            report.deleted_objects
        ),
    };
    let removed = match report.removed_records {
        0 => String::new(),
        count => format!("; {} of others deleted", counted(count as u64, "record")),
    };
    let text = format!(
        "snapshot {} {}: {}, {} files, {:.1} MB; {} files, {:.1} MB were uploaded, {} files reused{deleted}{removed}",
        report.snapshot,
        if report.unchanged {
            "is up to date"
        } else {
            "published"
        },
        counted(report.datasets as u64, "dataset"),
        grouped(report.files as u64),
        report.bytes as f64 / 1e6,
        grouped(report.uploaded_files as u64),
        report.uploaded_bytes as f64 / 1e6,
        grouped(report.reused_files as u64),
    );
    write_report(arguments.output.format(), &report, &text)
}

/// Publishes a snapshot in this process.
fn publish_here(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<PublishReport> {
    let local = LocalHome {
        storage: Arc::new(storage_options()),
        ..local_home(home, config, None, &WorkerArguments::default())?
    };
    let change = Change::Publish(Box::new(Publication {
        location: arguments.location.clone(),
        keep: arguments.keep,
        key: arguments.key.clone(),
        force: arguments.force,
    }));
    match make_local_change(&local, change, "files", Cancellation::default())? {
        ChangeReport::Publish(report) => Ok(report),
        other => Err(unexpected_report(&other)),
    }
}
