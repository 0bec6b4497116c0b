//! `lodeseek reproduce`: a condition's scores against those expected.

mod map;

use crate::encoder::EncoderArguments;
use crate::{Done, terminal};
use anyhow::{Context, ensure};
use lodeseek_lab::reproduce::{Condition, DataFinder, Experiment, Iclr, IclrInput, IclrProgress, Report, TableReport};
use lodeseek_rerank::{Encoder, Granularity};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
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
    /// Of iclr: other papers to measure on, JSON lines or Parquet. Nothing is verified or expected of them, and results are
    /// written only where --output says.
    #[arg(long, value_name = "FILE")]
    papers: Option<PathBuf>,
    /// Of iclr: draws the papers in the plane, by the row whose plane tells labels best, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    map: Option<PathBuf>,
    /// The folder of trained models, exported to ONNX, where a condition asks for them (training/README.md).
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    #[command(flatten)]
    encoders: EncoderArguments,
}

impl Arguments {
    fn encoder(&self, granularity: Granularity, trained: Option<&Path>) -> anyhow::Result<Box<dyn Encoder>> {
        let Some(folder) = trained else { return self.encoders.one(granularity) };
        let models = self.models.as_deref().context("this needs trained models: --models FOLDER")?;
        self.encoders.of_folder(granularity, &models.join(folder))
    }
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let path = file(&arguments.condition);
    let report = match Experiment::read(&path)? {
        Experiment::Ranking(condition) => ranked(&condition, home, arguments)?,
        Experiment::DataFinder(experiment) => found(&experiment, home, arguments)?,
        Experiment::Iclr(iclr) => mapped(&iclr, arguments)?,
    };
    // Files first: what is printed may be cut off by whoever reads it.
    let beside = || arguments.papers.is_none().then(|| path.with_file_name("RESULTS.md"));
    if let Some(output) = arguments.output.clone().or_else(beside) {
        write(&report, &output)?;
    }
    if let Some(path) = &arguments.by_topic {
        fs::write(path, report.by_topic()).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    match print(&report) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed?,
    }
    Ok(if report.fails() { Done::Nothing } else { Done::Something })
}

fn ranked(condition: &Condition, home: &Path, arguments: &Arguments) -> anyhow::Result<Report> {
    no_papers(&condition.name, arguments)?;
    if let Some(reason) = &condition.awaits {
        writeln!(io::stderr().lock(), "{}: nobody has run this yet: {reason}", condition.name)?;
    }
    let bar = terminal::bar(0, "{spinner} {msg}");
    let encoders = |granularity, trained: Option<&Path>| arguments.encoder(granularity, trained);
    let report = condition.reproduce(&arguments.data, home, &encoders, &|step| bar.set_message(step.to_string()));
    bar.finish_and_clear();
    report
}

fn found(experiment: &DataFinder, home: &Path, arguments: &Arguments) -> anyhow::Result<Report> {
    no_papers(&experiment.name, arguments)?;
    let bar = terminal::bar(0, "{spinner} {msg}");
    let encoders = |granularity, trained: Option<&Path>| arguments.encoder(granularity, trained);
    let report = experiment.reproduce(&arguments.data, home, &encoders, &|doing| bar.set_message(doing.to_owned()));
    bar.finish_and_clear();
    report
}

fn no_papers(name: &str, arguments: &Arguments) -> anyhow::Result<()> {
    let other = arguments.papers.is_some() || arguments.map.is_some();
    ensure!(!other, "--papers and --map are for iclr, not for {name}");
    Ok(())
}

fn mapped(iclr: &Iclr, arguments: &Arguments) -> anyhow::Result<Report> {
    let encoder = arguments.encoders.text()?;
    let (papers, encoder) = (arguments.papers.as_deref(), encoder.as_deref());
    let bar = terminal::bar(0, "{spinner} {msg}");
    let input = IclrInput { data: &arguments.data, papers, encoder };
    let done = iclr.reproduce(&input, &|step| match step {
        IclrProgress::Row(row) => bar.set_message(row.to_owned()),
        IclrProgress::Encoded(done, of) => bar.set_message(format!("{done} of {of} abstracts encoded")),
        IclrProgress::Skipped(row) => tracing::warn!("the row {row} is SKIPPED: it needs a model, --dpr FOLDER"),
    });
    bar.finish_and_clear();
    let (report, best) = done?;
    if let (Some(path), Some(best)) = (&arguments.map, &best) {
        fs::write(path, map::draw(best)?).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(report)
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
    if table.has_published() {
        write!(out, "  published")?;
    }
    writeln!(out)?;
    for row in &table.rows {
        write!(out, "{:width$}", row.name)?;
        for (column, cell) in row.cells.iter().enumerate() {
            write!(out, "  {:.4}{:1} {:<5}", cell.measured, row.mark(column), cell.outcome)?;
        }
        for score in &row.published {
            write!(out, "  {}", score.map_or("–".to_owned(), |score| format!("{score:.3}")))?;
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
