//! `lodeseek backup` and `lodeseek restore`: incremental backups of the home with checksums.

use super::ExitStatus;
use super::config::Config;
use super::local::{local_home, make_local_change, unexpected_report};
use super::output::OutputArguments;
use super::server_client::ServerClient;
use super::terminal::{Format, bar, grouped};
use super::verify::missing_setting_files;
use super::worker::WorkerArguments;
use anyhow::Context;
use lodeseek_changes::{Change, ChangeReport};
use lodeseek_cli::streams::{messages, report_output};
use lodeseek_engine::{BackupReport, SettingFile, restore};
use lodeseek_net::egress::Cancellation;
use lodeseek_store::check_home;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Folder of the backup. A further `backup` into it copies only what changed; `restore` writes it to a home that is empty or
    /// missing.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    check_home(home)?;
    let report = match ServerClient::of_home(home) {
        Some(server) => {
            let result = server.backup(&arguments.folder)?;
            serde_json::from_value(result).with_context(|| server.invalid_response())?
        }
        None => backup_here(home, config, &arguments.folder)?,
    };
    let mut text = format!(
        "{} datasets backed up: {} files, {:.1} MB, of which {} files, {:.1} MB were copied",
        grouped(report.datasets as u64),
        grouped(report.files as u64),
        report.bytes as f64 / 1e6,
        grouped(report.copied_files as u64),
        report.copied_bytes as f64 / 1e6,
    );
    for SettingFile { key, path } in &report.not_copied {
        let reason = if path.exists() {
            "outside of the home"
        } else {
            "missing"
        };
        text.push_str(&format!(
            "\nnot in the backup: {}, which the setting `{key}` names, is {reason}{}",
            path.display(),
            if path.exists() {
                "; copy it yourself, or move it into the home"
            } else {
                ""
            }
        ));
    }
    write_report(arguments.output.format(), &report, &text)
}

/// Writes a backup in this process.
fn backup_here(home: &Path, config: &Config, folder: &Path) -> anyhow::Result<BackupReport> {
    let local = local_home(home, config, None, &WorkerArguments::default())?;
    let change = Change::Backup(folder.to_owned());
    match make_local_change(&local, change, "files", Cancellation::default())? {
        ChangeReport::Backup(report) => Ok(report),
        other => Err(unexpected_report(&other)),
    }
}

pub(crate) fn run_restore(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let bar = bar(1, "restoring {bar:30} {pos} of {len} files · {eta} left");
    let report = restore(&arguments.folder, home, &|done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let report = report?;
    let text = format!(
        "{} datasets restored to {}: {} files, {:.1} MB, all with the right checksum",
        grouped(report.datasets as u64),
        home.display(),
        grouped(report.files as u64),
        report.bytes as f64 / 1e6,
    );
    write_report(arguments.output.format(), &report, &text)?;
    let missing = missing_setting_files(&Config::load(home)?);
    for damage in &missing {
        writeln!(messages(), "{}: {}", damage.path.display(), damage.problem)?;
    }
    Ok(if missing.is_empty() {
        ExitStatus::Success
    } else {
        ExitStatus::NoResult
    })
}

/// Writes a report: JSON to stdout, or a text to stderr.
pub(super) fn write_report(
    format: Format,
    report: &impl Serialize,
    text: &str,
) -> anyhow::Result<ExitStatus> {
    match format {
        Format::Json => {
            let mut out = report_output();
            serde_json::to_writer_pretty(&mut out, report)?;
            writeln!(out)?;
        }
        Format::Text => writeln!(messages(), "{text}")?,
    }
    Ok(ExitStatus::Success)
}
