//! `lodeseek-lab reproduce`: computes the scores of a condition and compares them with the expected ones.

mod map;

use crate::settings::Config;
use anyhow::{Context, ensure};
use lodeseek_cli::encoder::{EncoderArguments, Execution, SHIPPED_MODEL, encoder_options};
use lodeseek_cli::ranking_record::read_ranking_record;
use lodeseek_cli::streams::messages;
use lodeseek_cli::{ExitStatus, terminal};
use lodeseek_lab::reproduce::{
    Experiment, ExperimentModels, Iclr, IclrInput, IclrProgress, Report, TableReport,
};
use lodeseek_rerank::encoder::open;
use lodeseek_rerank::{Encoder, Granularity};
use serde::Deserialize;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Models: those of the arguments, else those that the condition states, else those of the index, else \
                  lodeseek-minilm. iclr uses a model only with --dpr."
)]
pub(crate) struct Arguments {
    /// Condition file, or the NAME of acordar/NAME.toml in the current folder.
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
    #[arg(long, short, value_name = "FILE")]
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
    /// Folder of trained models in ONNX format, for conditions that name them (see training/README.md) [default: the
    /// installed models of these names].
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    #[command(flatten)]
    encoders: EncoderArguments,
}

/// Models that the home was indexed with, of the record of `lodeseek index`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct IndexedModels {
    dpr: Option<String>,
    colbert: Option<String>,
    sparse: Option<String>,
    pooling: Option<String>,
    onnx: Option<String>,
}

impl IndexedModels {
    fn is_any(&self) -> bool {
        self.dpr.is_some() || self.colbert.is_some() || self.sparse.is_some()
    }
}

/// A model, and the settings of its folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct SelectedModel {
    /// Name or path.
    name: String,
    pooling: Option<String>,
    onnx: Option<String>,
}

/// Models of an experiment. Precedence: arguments, the experiment file, the record of the index, the included model.
struct Models<'a> {
    arguments: &'a Arguments,
    config: &'a Config,
    /// Models that the experiment file states.
    stated: ExperimentModels,
    indexed: IndexedModels,
}

impl Models<'_> {
    /// Opens the model of a granularity, or a trained one of this name.
    fn encoder(
        &self,
        granularity: Granularity,
        trained: Option<&Path>,
    ) -> anyhow::Result<Box<dyn Encoder>> {
        let Some(trained) = trained else {
            return self.open_model(granularity);
        };
        let encoders = &self.arguments.encoders;
        let settings = SelectedModel {
            pooling: encoders.pooling.clone(),
            onnx: encoders.onnx.clone(),
            ..SelectedModel::default()
        };
        self.open(granularity, &self.trained_folder(trained)?, settings)
    }

    /// Returns the folder of a trained model: in that of `--models`, else of an installed model.
    fn trained_folder(&self, name: &Path) -> anyhow::Result<PathBuf> {
        if let Some(models) = &self.arguments.models {
            return Ok(models.join(name));
        }
        let advice = "this condition needs trained models: --models FOLDER";
        // Models by folds are in folders of folders, and are never installed.
        ensure!(name.components().count() == 1, advice);
        self.execution()
            .folder(&name.to_string_lossy())
            .context(advice)
    }

    /// Opens the selected model of a granularity.
    fn open_model(&self, granularity: Granularity) -> anyhow::Result<Box<dyn Encoder>> {
        let model = self.select(granularity)?;
        let folder = self.execution().folder(&model.name)?;
        self.open(granularity, &folder, model)
    }

    /// Selects the model of a granularity.
    fn select(&self, granularity: Granularity) -> anyhow::Result<SelectedModel> {
        let encoders = &self.arguments.encoders;
        let (flag, argument, stated, indexed) = match granularity {
            Granularity::Text => ("--dpr", &encoders.dpr, &self.stated.dpr, &self.indexed.dpr),
            Granularity::Piece => (
                "--colbert",
                &encoders.colbert,
                &self.stated.colbert,
                &self.indexed.colbert,
            ),
            Granularity::Term => (
                "--sparse",
                &encoders.sparse,
                &self.stated.sparse,
                &self.indexed.sparse,
            ),
        };
        let (pooling, onnx) = (encoders.pooling.clone(), encoders.onnx.clone());
        if let Some(name) = argument.as_ref().or(stated.as_ref()) {
            return Ok(SelectedModel {
                name: name.clone(),
                pooling,
                onnx,
            });
        }
        if let Some(name) = indexed {
            return Ok(SelectedModel {
                name: name.clone(),
                pooling: pooling.or_else(|| self.indexed.pooling.clone()),
                onnx: onnx.or_else(|| self.indexed.onnx.clone()),
            });
        }
        ensure!(
            !self.indexed.is_any(),
            "the home was indexed without a model for {flag}; run `lodeseek index` with one, and add {flag} MODEL"
        );
        ensure!(
            granularity != Granularity::Term,
            "no learned sparse model is given; add {flag} MODEL"
        );
        Ok(SelectedModel {
            name: SHIPPED_MODEL.to_owned(),
            pooling,
            onnx,
        })
    }

    fn open(
        &self,
        granularity: Granularity,
        folder: &Path,
        model: SelectedModel,
    ) -> anyhow::Result<Box<dyn Encoder>> {
        ensure!(
            folder.is_dir(),
            "there is no model at {}; name a folder that contains model.onnx",
            folder.display()
        );
        let options = encoder_options(
            &self.execution(),
            model.onnx,
            Some(granularity),
            model.pooling,
            None,
        );
        Ok(open(folder, &options)?)
    }

    fn execution(&self) -> Execution {
        let settings = &self.config.settings;
        self.arguments
            .encoders
            .execution(&settings.encoders, settings.models.as_deref())
    }
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let path = condition_path(&arguments.condition);
    let report = run_experiment(&Experiment::read(&path)?, home, config, arguments)?;
    // Files first: printing fails if the reader of stdout closes it early.
    if let Some(output) = &arguments.output {
        write_results(&report, output)?;
    } else if arguments.papers.is_none() {
        write_results(&report, &path.with_file_name("RESULTS.md"))?;
    }
    if let Some(path) = &arguments.by_topic {
        fs::write(path, report.by_topic())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match print_report(&report) {
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
fn run_experiment(
    experiment: &Experiment,
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<Report> {
    let data = &arguments.data;
    let bar = terminal::bar(0, "{spinner} {msg}");
    let models = Models {
        arguments,
        config,
        stated: experiment.models(),
        indexed: read_ranking_record(home)?,
    };
    let report = match experiment {
        Experiment::Ranking(condition) => {
            reject_papers(&condition.name, arguments)?;
            if let Some(reason) = &condition.awaits {
                writeln!(messages(), "{}: not run yet: {reason}", condition.name)?;
            }
            condition.reproduce(
                data,
                home,
                &|granularity, trained| models.encoder(granularity, trained),
                &|step| bar.set_message(step.to_string()),
            )
        }
        Experiment::DataFinder(datafinder) => {
            reject_papers(&datafinder.name, arguments)?;
            datafinder.reproduce(
                data,
                home,
                &|granularity, trained| models.encoder(granularity, trained),
                &|step| bar.set_message(step.to_owned()),
            )
        }
        Experiment::Matches(matches) => {
            reject_papers(&matches.name, arguments)?;
            matches.reproduce(
                data,
                home,
                &|granularity, trained| models.encoder(granularity, trained),
                &|step| bar.set_message(step.to_owned()),
            )
        }
        Experiment::Words(words) => {
            reject_papers(&words.name, arguments)?;
            words.reproduce(
                home,
                &|granularity, trained| models.encoder(granularity, trained),
                &|step| bar.set_message(step.to_owned()),
            )
        }
        Experiment::Iclr(iclr) => map_papers(iclr, &models, &|text| bar.set_message(text)),
    };
    bar.finish_and_clear();
    report
}

fn reject_papers(name: &str, arguments: &Arguments) -> anyhow::Result<()> {
    let other = arguments.papers.is_some() || arguments.map.is_some();
    ensure!(
        !other,
        "--papers and --map are for iclr; {name} does not accept them"
    );
    Ok(())
}

fn map_papers(iclr: &Iclr, models: &Models<'_>, show: &dyn Fn(String)) -> anyhow::Result<Report> {
    let arguments = models.arguments;
    // Nothing is indexed: without an argument, the rows of an encoder are skipped.
    let encoder = match &arguments.encoders.dpr {
        Some(_) => Some(models.open_model(Granularity::Text)?),
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

fn condition_path(condition: &str) -> PathBuf {
    if condition.ends_with(".toml") {
        condition.into()
    } else {
        Path::new("acordar").join(format!("{condition}.toml"))
    }
}

fn print_report(report: &Report) -> io::Result<()> {
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
fn write_results(report: &Report, output: &Path) -> anyhow::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments() -> Arguments {
        Arguments {
            condition: "c".to_owned(),
            data: PathBuf::new(),
            output: None,
            by_topic: None,
            papers: None,
            map: None,
            models: None,
            encoders: EncoderArguments::default(),
        }
    }

    fn named(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn arguments_precede_the_condition_and_this_the_index() {
        let (mut arguments, config) = (arguments(), Config::default());
        let name = |arguments: &Arguments, stated: &ExperimentModels, dpr: Option<String>| {
            let models = Models {
                arguments,
                config: &config,
                stated: stated.clone(),
                indexed: IndexedModels {
                    dpr,
                    pooling: named("cls"),
                    ..IndexedModels::default()
                },
            };
            models.select(Granularity::Text).expect("a model")
        };
        let mut stated = ExperimentModels::default();
        assert_eq!(name(&arguments, &stated, None).name, SHIPPED_MODEL);
        let of_index = name(&arguments, &stated, named("indexed"));
        assert_eq!(
            (of_index.name.as_str(), of_index.pooling.as_deref()),
            ("indexed", Some("cls"))
        );
        stated.dpr = named("stated");
        let of_condition = name(&arguments, &stated, named("indexed"));
        assert_eq!(
            (of_condition.name.as_str(), of_condition.pooling),
            ("stated", None),
            "the pooling belongs to the model of the index"
        );
        arguments.encoders.dpr = named("argument");
        assert_eq!(name(&arguments, &stated, named("indexed")).name, "argument");
    }

    #[test]
    fn a_model_that_the_index_lacks_is_an_error() {
        let (arguments, config) = (arguments(), Config::default());
        let models = Models {
            arguments: &arguments,
            config: &config,
            stated: ExperimentModels::default(),
            indexed: IndexedModels {
                dpr: named("indexed"),
                ..IndexedModels::default()
            },
        };
        for (granularity, flag) in [
            (Granularity::Piece, "--colbert MODEL"),
            (Granularity::Term, "--sparse MODEL"),
        ] {
            let error = models.select(granularity).expect_err("none").to_string();
            assert!(error.contains(flag), "{error}");
        }
        let by_fold = models.trained_folder(Path::new("models/fold0"));
        let error = by_fold.expect_err("never installed").to_string();
        assert!(error.contains("--models FOLDER"), "{error}");
    }
}
