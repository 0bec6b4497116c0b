//! `lodeseek verify`: compares everything in the home with its checksums and counts.

use super::ExitStatus;
use super::config::{Config, setting_files};
use super::output::OutputArguments;
use super::terminal::{Format, bar, grouped, safe, show_step};
use lodeseek_changes::{TokenError, Tokens, audit_path, verify_audit};
use lodeseek_engine::{IntegrityReport, SettingFile, verify};
use lodeseek_store::{Damage, DamagedPart};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    output: OutputArguments,
}

/// Maximum number of lines for one kind of damage. JSON contains all.
const MAX_LINES: usize = 20;

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let bar = bar(1, "verifying {bar:30} {pos} of {len} datasets · {eta} left");
    let report = verify(home, &|done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        if done == total {
            show_step(
                &bar,
                "verifying the index, the vectors and the files beside them",
            );
        }
    });
    bar.finish_and_clear();
    let mut report = report?;
    report.damage.extend(administration_damage(home));
    report.damage.extend(missing_setting_files(config));
    let mut out = io::stdout().lock();
    match arguments.output.format() {
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        }
        Format::Text => write_report(&mut out, home, &report)?,
    }
    Ok(if report.is_sound() {
        ExitStatus::Success
    } else {
        ExitStatus::NoResult
    })
}

/// Returns the files that the settings name and that do not exist. Nothing can repair them.
pub(super) fn missing_setting_files(config: &Config) -> Vec<Damage> {
    let missing = setting_files(config)
        .into_iter()
        .filter(|file| !file.path.exists());
    let damage = missing.map(|SettingFile { key, path }| {
        let problem = format!(
            "the setting `{key}` names it, and it does not exist; `serve` needs it: restore it, or correct the setting"
        );
        Damage::new(DamagedPart::Settings, path, problem)
    });
    damage.collect()
}

/// Returns the damage of the files of the administration. Nothing can repair them: the home has only digests of tokens, and no copy of
/// the audit log.
pub(super) fn administration_damage(home: &Path) -> Vec<Damage> {
    token_damage(home)
        .into_iter()
        .chain(audit_damage(home))
        .collect()
}

fn token_damage(home: &Path) -> Option<Damage> {
    let error = Tokens::new(home).list().err()?;
    let problem = error.to_string();
    let path = match error {
        TokenError::Damaged { path, .. } | TokenError::Io { path, .. } => path,
        _ => home.to_owned(),
    };
    Some(Damage::new(DamagedPart::Tokens, path, problem))
}

fn audit_damage(home: &Path) -> Option<Damage> {
    let path = audit_path(home);
    let damage = match verify_audit(home) {
        Ok(damage) => damage,
        Err(error) => return Some(Damage::new(DamagedPart::Audit, path, error.to_string())),
    };
    let mut problems = Vec::new();
    problems.extend(lines_problem(&damage.damaged, "line", "is damaged"));
    problems.extend(lines_problem(
        &damage.gaps,
        "entries before line",
        "are missing",
    ));
    if damage.is_cut {
        problems.push("entries at the end are missing".to_owned());
    }
    if problems.is_empty() {
        return None;
    }
    let problem = format!(
        "{}; restore audit.jsonl and audit.head from a backup, or move both away: the server then begins a new log",
        problems.join(", ")
    );
    Some(Damage::new(DamagedPart::Audit, path, problem))
}

/// Names the first of some lines, and their number.
fn lines_problem(lines: &[usize], before: &str, after: &str) -> Option<String> {
    let first = lines.first()?;
    let total = match lines.len() {
        1 => String::new(),
        count => format!(" ({count} in total)"),
    };
    Some(format!("{before} {first} {after}{total}"))
}

fn write_report(out: &mut impl Write, home: &Path, report: &IntegrityReport) -> io::Result<()> {
    write_damage(out, home, &report.damage)?;
    writeln!(
        out,
        "verified {} datasets with {} triples, {} index files, {} vectors of datasets and works: {}",
        grouped(report.datasets as u64),
        grouped(report.triples),
        grouped(report.index_files as u64),
        grouped(report.vectors as u64),
        match report.damage.len() {
            0 => "no damage".to_owned(),
            1 => "1 damage; run `lodeseek repair`".to_owned(),
            number => format!("{number} damages; run `lodeseek repair`"),
        }
    )
}

/// Writes a line for each damage, at most [`MAX_LINES`] of each kind.
pub(super) fn write_damage(out: &mut impl Write, home: &Path, damage: &[Damage]) -> io::Result<()> {
    let mut numbers: BTreeMap<_, usize> = BTreeMap::new();
    for one in damage {
        let number = numbers.entry(one.part).or_default();
        *number += 1;
        if *number > MAX_LINES {
            continue;
        }
        let path = one.path.strip_prefix(home).unwrap_or(&one.path);
        let dataset = one
            .dataset
            .as_ref()
            .map(|id| format!(" of {}", safe(id.as_str())))
            .unwrap_or_default();
        writeln!(
            out,
            "{}{dataset}: {}: {}",
            one.part.name(),
            safe(&path.to_string_lossy()),
            safe(&one.problem)
        )?;
    }
    for (part, number) in numbers.iter().filter(|(_, number)| **number > MAX_LINES) {
        writeln!(out, "… and {} more of {}", number - MAX_LINES, part.name())?;
    }
    Ok(())
}
