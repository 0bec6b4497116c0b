//! `lodeseek repair`: makes damaged parts of the home again, and lists what must be loaded again.

use super::ExitStatus;
use super::config::Config;
use super::terminal::{Format, bar, safe};
use super::verify::{administration_damage, missing_setting_files, write_damage};
use lodeseek_cli::streams::report_output;
use lodeseek_engine::{RepairReport, repair};
use lodeseek_harvest::forget_datasets;
use lodeseek_index::AnalysisKind;
use lodeseek_store::Lost;
use oxsdatatypes::DateTime;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let bar = bar(1, "verifying {bar:30} {pos} of {len} datasets");
    let analysis = config
        .settings
        .analysis
        .unwrap_or(AnalysisKind::Multilingual);
    let report = repair(home, analysis, Some(DateTime::now()), &|done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let mut report = report?;
    let mut unrepairable = administration_damage(home);
    unrepairable.extend(missing_setting_files(config));
    report.found.extend(unrepairable.iter().cloned());
    report.remaining.extend(unrepairable);
    // A harvest would take unchanged sources for stored datasets.
    let lost: BTreeSet<_> = report
        .load_again
        .iter()
        .map(|lost| lost.id.clone())
        .collect();
    forget_datasets(&home.join("harvest"), &lost)?;
    let mut out = report_output();
    match arguments.format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        }
        Format::Text => write_report(&mut out, home, &report)?,
    }
    let is_whole = !report.lost_commits
        && report.lost_works.is_none()
        && !report.lost_translations
        && report.remaining.is_empty()
        && report.load_again.is_empty()
        && report.encode_again.is_empty();
    Ok(if is_whole {
        ExitStatus::Success
    } else {
        ExitStatus::NoResult
    })
}

fn write_report(out: &mut impl Write, home: &Path, report: &RepairReport) -> io::Result<()> {
    if report.found.is_empty() {
        return writeln!(out, "no damage was found");
    }
    writeln!(out, "found:")?;
    write_damage(out, home, &report.found)?;
    if report.indexed > 0 {
        writeln!(out, "{} datasets were indexed again", report.indexed)?;
    }
    if let Some(folder) = &report.replaced_store {
        writeln!(
            out,
            "the store was written anew; the damaged one is {}, and can be deleted",
            folder.display()
        )?;
    }
    for folder in &report.encode_again {
        writeln!(
            out,
            "damaged vectors were removed from {}; run `lodeseek index` with their encoder",
            folder.display()
        )?;
    }
    if let Some(path) = &report.lost_works {
        writeln!(
            out,
            "the list of works cannot be read and is now {}; load all lists of works again",
            path.display()
        )?;
    }
    if report.lost_translations {
        writeln!(
            out,
            "the damaged dictionary of your files was removed; run `lodeseek translations` with its files again"
        )?;
    }
    if report.lost_commits {
        writeln!(
            out,
            "changes are lost, and the index cannot complete them; load and harvest all sources again"
        )?;
    }
    if !report.load_again.is_empty() {
        writeln!(
            out,
            "load again with `lodeseek load` or `lodeseek harvest`, then run `lodeseek index`:"
        )?;
    }
    for lost in &report.load_again {
        let what = match lost.lost {
            Lost::Content => "all triples are lost",
            Lost::Description => "some statements of its description are lost",
            Lost::LexicalForms => "the spelling of numbers and dates is lost",
            Lost::File => "a file for downloads is lost",
        };
        let source = lost
            .source
            .as_deref()
            .map(|source| format!(", from {}", safe(source)))
            .unwrap_or_default();
        writeln!(
            out,
            "  {} ({}): {what}{source}",
            safe(lost.id.as_str()),
            safe(&lost.title)
        )?;
    }
    if report.remaining.is_empty() {
        return writeln!(out, "no damage remains");
    }
    writeln!(out, "remaining:")?;
    write_damage(out, home, &report.remaining)
}
