//! `lodeseek reproduce`: a condition's scores against those expected.

use super::encoder::EncoderArguments;
use super::{Done, terminal};
use crate::reproduce::{Experiment, Report, TableReport};
use anyhow::Context;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// A condition's file, or the NAME of acordar/NAME.toml.
    condition: String,
    /// The folder that holds the data; a condition's paths start there.
    #[arg(long, value_name = "DIR", env = "LODESEEK_DATA", default_value = "../shared/data")]
    data: PathBuf,
    /// The results to write the condition's section into; by default RESULTS.md beside the condition.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Writes the value of every topic, for significance tests.
    #[arg(long, value_name = "FILE")]
    by_topic: Option<PathBuf>,
    #[command(flatten)]
    encoders: EncoderArguments,
}

pub(super) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let path = file(&arguments.condition);
    let experiment = Experiment::read(&path)?;
    if let Some(reason) = experiment.awaits() {
        writeln!(io::stderr().lock(), "{}: nobody has run this yet: {reason}", experiment.name())?;
    }
    let bar = terminal::bar(0, "{spinner} {msg}");
    let encoders = |granularity| arguments.encoders.one(granularity);
    let report =
        experiment.reproduce(&arguments.data, home, &encoders, &|doing| bar.set_message(doing.to_owned()));
    bar.finish_and_clear();
    let report = report?;
    // Files first: what is printed may be cut off by whoever reads it.
    let output = arguments.output.clone().unwrap_or_else(|| path.with_file_name("RESULTS.md"));
    write(&report, &output)?;
    if let Some(path) = &arguments.by_topic {
        fs::write(path, report.by_topic()).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    match print(&report) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed?,
    }
    Ok(if report.fails() { Done::Nothing } else { Done::Something })
}

fn file(condition: &str) -> PathBuf {
    if condition.ends_with(".toml") { condition.into() } else { Path::new("acordar").join(format!("{condition}.toml")) }
}

fn print(report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}\n{}", report.title, report.collection)?;
    for table in &report.tables {
        writeln!(out, "\n{}", table.title)?;
        print_table(table, &mut out)?;
        writeln!(out, "{}", table.summary())?;
    }
    Ok(())
}

fn print_table(table: &TableReport, out: &mut dyn Write) -> io::Result<()> {
    let width = table.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    write!(out, "{:width$}", "")?;
    for measure in &table.measures {
        write!(out, "  {measure:<13}")?;
    }
    writeln!(out)?;
    for row in &table.rows {
        write!(out, "{:width$}", row.name)?;
        for (column, cell) in row.cells.iter().enumerate() {
            write!(out, "  {:.4}{:1} {:<5}", cell.measured, row.mark(column), cell.outcome)?;
        }
        writeln!(out)?;
        if let Some(note) = &row.note {
            writeln!(out, "  {note}")?;
        }
    }
    Ok(())
}

/// Other conditions' sections stay; a file without any is not ours to replace.
fn write(report: &Report, output: &Path) -> anyhow::Result<()> {
    let before = match fs::read_to_string(output) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| output.display().to_string()),
    };
    let ours = before.trim().is_empty() || before.starts_with("# Results\n");
    anyhow::ensure!(ours, "{} holds something else than results: nothing was written", output.display());
    fs::write(output, report.put_into(&before)).with_context(|| format!("{} cannot be written", output.display()))
}
