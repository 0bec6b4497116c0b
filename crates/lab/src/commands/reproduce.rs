//! `lodeseek-lab reproduce`: computes the scores of a condition and compares them with the expected ones.

mod map;

use crate::settings::Config;
use anyhow::{Context, ensure};
use lodeseek_cli::encoder::{EncoderArguments, Execution, encoder_options};
use lodeseek_cli::streams::messages;
use lodeseek_cli::{ExitStatus, terminal};
use lodeseek_lab::reproduce::{Experiment, Iclr, IclrInput, IclrProgress, Report, TableReport};
use lodeseek_rerank::encoder::open;
use lodeseek_rerank::{Encoder, Granularity};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Condition file, or the NAME of acordar/NAME.toml.
    condition: String,
    /// Data folder. Paths in the condition are relative to it.
    #[arg(
        long,
        value_name = "DIR",
        env = "LODESEEK_DATA",
        default_value = "../shared/data"
    )]
    data: PathBuf,
    /// Results file; the condition's section in it is replaced. Default: RESULTS.md in the folder of the condition.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write the value of every topic to this file, tab-separated, for significance tests.
    #[arg(long, value_name = "FILE")]
    by_topic: Option<PathBuf>,
    /// Only for iclr: measure other papers, JSON lines or Parquet. Nothing is verified or expected of them, and results
    /// are written only to --output.
    #[arg(long, value_name = "FILE")]
    papers: Option<PathBuf>,
    /// Only for iclr: draw the papers in the plane as SVG, by the row with the best accuracy in the plane.
    #[arg(long, value_name = "FILE.svg")]
    map: Option<PathBuf>,
    /// Folder of trained models in ONNX format, required by conditions that name them (see training/README.md).
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    #[command(flatten)]
    encoders: EncoderArguments,
}

impl Arguments {
    /// Opens the model of a granularity: that of an argument, or a trained one in a folder of `--models`.
    fn encoder(
        &self,
        config: &Config,
        granularity: Granularity,
        trained: Option<&Path>,
    ) -> anyhow::Result<Box<dyn Encoder>> {
        let Some(trained) = trained else {
            return self.open_argument(config, granularity);
        };
        let models = self
            .models
            .as_deref()
            .context("this condition needs trained models: --models FOLDER")?;
        self.open(config, granularity, &models.join(trained))
    }

    /// Opens the model of an argument.
    fn open_argument(
        &self,
        config: &Config,
        granularity: Granularity,
    ) -> anyhow::Result<Box<dyn Encoder>> {
        let (model, flag) = match granularity {
            Granularity::Text => (&self.encoders.dpr, "--dpr"),
            Granularity::Piece => (&self.encoders.colbert, "--colbert"),
            Granularity::Term => (&self.encoders.sparse, "--sparse"),
        };
        let model = model
            .as_deref()
            .with_context(|| format!("no model is given; add {flag} MODEL"))?;
        let folder = self.execution(config).folder(model)?;
        self.open(config, granularity, &folder)
    }

    fn open(
        &self,
        config: &Config,
        granularity: Granularity,
        folder: &Path,
    ) -> anyhow::Result<Box<dyn Encoder>> {
        ensure!(
            folder.is_dir(),
            "there is no model at {}; name a folder that contains model.onnx",
            folder.display()
        );
        let options = encoder_options(
            &self.execution(config),
            self.encoders.onnx.clone(),
            Some(granularity),
            self.encoders.pooling.clone(),
            None,
        );
        Ok(open(folder, &options)?)
    }

    fn execution(&self, config: &Config) -> Execution {
        let settings = &config.settings;
        self.encoders
            .execution(&settings.encoders, settings.models.as_deref())
    }
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let path = file(&arguments.condition);
    let report = measure(&Experiment::read(&path)?, home, config, arguments)?;
    // Files first: printing fails if the reader of stdout closes it early.
    let beside = || {
        arguments
            .papers
            .is_none()
            .then(|| path.with_file_name("RESULTS.md"))
    };
    if let Some(output) = arguments.output.clone().or_else(beside) {
        write(&report, &output)?;
    }
    if let Some(path) = &arguments.by_topic {
        fs::write(path, report.by_topic())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match print(&report) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed?,
    }
    Ok(if report.fails() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

/// Runs an experiment, with a line of progress.
fn measure(
    experiment: &Experiment,
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<Report> {
    let data = &arguments.data;
    let bar = terminal::bar(0, "{spinner} {msg}");
    let encoders =
        |granularity, trained: Option<&Path>| arguments.encoder(config, granularity, trained);
    let report = match experiment {
        Experiment::Ranking(condition) => {
            no_papers(&condition.name, arguments)?;
            if let Some(reason) = &condition.awaits {
                writeln!(messages(), "{}: not run yet: {reason}", condition.name)?;
            }
            condition.reproduce(data, home, &encoders, &|step| {
                bar.set_message(step.to_string())
            })
        }
        Experiment::DataFinder(datafinder) => {
            no_papers(&datafinder.name, arguments)?;
            datafinder.reproduce(data, home, &encoders, &|step| {
                bar.set_message(step.to_owned())
            })
        }
        Experiment::Matches(matches) => {
            no_papers(&matches.name, arguments)?;
            matches.reproduce(data, home, &encoders, &|step| {
                bar.set_message(step.to_owned())
            })
        }
        Experiment::Words(words) => {
            no_papers(&words.name, arguments)?;
            words.reproduce(home, &encoders, &|step| bar.set_message(step.to_owned()))
        }
        Experiment::Iclr(iclr) => {
            map_papers(iclr, config, arguments, &|text| bar.set_message(text))
        }
    };
    bar.finish_and_clear();
    report
}

fn no_papers(name: &str, arguments: &Arguments) -> anyhow::Result<()> {
    let other = arguments.papers.is_some() || arguments.map.is_some();
    ensure!(
        !other,
        "--papers and --map are for iclr; {name} does not accept them"
    );
    Ok(())
}

fn map_papers(
    iclr: &Iclr,
    config: &Config,
    arguments: &Arguments,
    show: &dyn Fn(String),
) -> anyhow::Result<Report> {
    let encoder = match &arguments.encoders.dpr {
        Some(_) => Some(arguments.open_argument(config, Granularity::Text)?),
        None => None,
    };
    let input = IclrInput {
        data: &arguments.data,
        papers: arguments.papers.as_deref(),
        encoder: encoder.as_deref(),
    };
    let (report, best) = iclr.reproduce(&input, &|step| match step {
        IclrProgress::Row(row) => show(row.to_owned()),
        IclrProgress::Encoded(done, of) => show(format!("{done} of {of} abstracts encoded")),
        IclrProgress::Skipped(row) => {
            tracing::warn!("row {row} SKIPPED: it needs an encoder, --dpr FOLDER")
        }
    })?;
    if let (Some(path), Some(best)) = (&arguments.map, &best) {
        fs::write(path, map::draw(best)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(report)
}

fn file(condition: &str) -> PathBuf {
    if condition.ends_with(".toml") {
        condition.into()
    } else {
        Path::new("acordar").join(format!("{condition}.toml"))
    }
}

fn print(report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}\n{}", report.title, report.collection)?;
    for table in &report.tables {
        writeln!(out, "\n{}", table.title)?;
        print_table(table, &mut out)?;
        writeln!(out, "{}", table.summary())?;
    }
    for ranking in &report.rankings {
        writeln!(out, "\n{}\n{}", ranking.title, ranking.summary())?;
    }
    Ok(())
}

fn print_table(table: &TableReport, out: &mut dyn Write) -> io::Result<()> {
    let width = table
        .rows
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0);
    write!(out, "{:width$}", "")?;
    for measure in &table.measures {
        write!(out, "  {measure:<13}")?;
    }
    writeln!(out)?;
    for row in &table.rows {
        write!(out, "{:width$}", row.name)?;
        for (column, cell) in row.cells.iter().enumerate() {
            let measured = if cell.measured.is_nan() {
                "–".to_owned()
            } else {
                format!("{:.4}", cell.measured)
            };
            write!(
                out,
                "  {measured:6}{:1} {:<5}",
                row.mark(column),
                cell.outcome
            )?;
        }
        writeln!(out)?;
        if let Some(note) = &row.note {
            writeln!(out, "  {note}")?;
        }
    }
    Ok(())
}

/// Replaces the condition's section in a results file. A file without results is not overwritten.
fn write(report: &Report, output: &Path) -> anyhow::Result<()> {
    let before = match fs::read_to_string(output) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| output.display().to_string()),
    };
    let ours = before.trim().is_empty() || before.starts_with("# Results\n");
    anyhow::ensure!(
        ours,
        "{} holds something else than results and was not changed: choose another --output",
        output.display()
    );
    fs::write(output, report.replace_section(&before))
        .with_context(|| format!("cannot write {}", output.display()))
}
