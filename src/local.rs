//! Changes of a home that no server serves, by the executor that a server uses.

use super::config::{Config, setting_files};
use super::terminal::{bar, grouped, rate};
use super::worker::WorkerArguments;
use lodeseek_changes::{
    Change, ChangeError, ChangeReport, Collection, Control, LocalHome, Progress, SettingFiles,
    make_change,
};
use lodeseek_net::egress::Cancellation;
use std::path::Path;
use std::time::Instant;

/// Returns a home with the settings of its configuration.
///
/// # Errors
/// If the path of this program or of the home is unknown.
pub(super) fn local_home(
    home: &Path,
    config: &Config,
    base: Option<&str>,
    workers: &WorkerArguments,
) -> anyhow::Result<LocalHome> {
    let files = setting_files(config);
    Ok(LocalHome {
        home: home.to_owned(),
        base: base.or(config.settings.base.as_deref()).map(str::to_owned),
        parser: workers.parser(home, config)?,
        content: config.settings.content,
        tables: config.settings.tables,
        keep_files: config.settings.keep_files,
        setting_files: SettingFiles::new(move || Ok(files.clone())),
        ..LocalHome::default()
    })
}

/// Makes a change of a local home, and shows its progress in units such as "datasets".
///
/// # Errors
/// If the change is not made.
pub(super) fn make_local_change(
    local: &LocalHome,
    change: Change,
    unit: &str,
    stop: Cancellation,
) -> Result<ChangeReport, ChangeError> {
    let bar = bar(
        1,
        &format!("{{bar:30}} {{pos}} of {{len}} {unit} · {{elapsed}}{{prefix}}"),
    );
    let started = Instant::now();
    let shown = bar.clone();
    let control = Control::new(stop, move |progress: Progress| {
        let done = progress.done as u64;
        shown.set_length((progress.total as u64).max(done).max(1));
        shown.set_position(done);
        shown.set_prefix(format_progress(&progress, started));
    });
    let made = make_change(change, Collection::Local(local), &control);
    bar.finish_and_clear();
    made
}

/// Returns the numbers of a progress beside those of the bar.
fn format_progress(progress: &Progress, started: Instant) -> String {
    let mut text = String::new();
    for (number, unit) in [
        (progress.pages, "pages"),
        (progress.requests, "requests"),
        (progress.bytes, "bytes"),
    ] {
        if let Some(number) = number {
            text += &format!(" · {} {unit}", grouped(number));
        }
    }
    if let Some(triples) = progress.triples {
        text += &format!(" · {} triples/s", rate(triples, started.elapsed()));
    }
    text
}

/// Returns the error of a report of another change than the requested one, which the executor never returns.
pub(super) fn unexpected_report(report: &ChangeReport) -> anyhow::Error {
    anyhow::anyhow!("internal error: the change was reported as {report:?}")
}
