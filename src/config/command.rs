//! `lodeseek config`: shows, checks and creates the configuration of a home.

use super::{Config, KEYS, Key, Kind, check_analysis};
use crate::ExitStatus;
use crate::encoder::RerankArguments;
use crate::output::OutputArguments;
use crate::ranking::Choice;
use crate::terminal::counted;
use anyhow::{Context, ensure};
use lodeseek_cli::config::{FILE, path, read};
use lodeseek_cli::streams::report_output;
use lodeseek_engine::index_folder;
use lodeseek_index::{AnalysisKind, Index};
use lodeseek_server::default_texts;
use lodeseek_store::check_base;
use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use toml::Value;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Show the effective value of every key, and the place it comes from.
    Show {
        #[command(flatten)]
        output: OutputArguments,
    },
    /// Check the configuration: keys, values, files and the index.
    Check,
    /// Write a configuration file with every key as a comment.
    Init,
    /// Print the texts of the pages with their ids, in the syntax of the files `messages/LANGUAGE.ftl` of a theme.
    Texts {
        /// Language of the texts: en, de, fr, es or it.
        #[arg(default_value = "en")]
        language: String,
    },
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    match &arguments.command {
        Command::Show { output } => print_config(home, output.is_json())?,
        Command::Check => check_config(home)?,
        Command::Init => write_template(home)?,
        Command::Texts { language } => print_texts(language)?,
    }
    Ok(ExitStatus::Success)
}

/// The effective value of a key.
struct Effective {
    /// Value in TOML, or a description of the default.
    value: String,
    /// Place; `index` for recorded values.
    source: String,
    is_set: bool,
}

/// Returns the effective value of a key: of variable or file, else as recorded with the index, else the default.
fn effective_value(
    key: &Key,
    config: &Config,
    choice: &Choice,
    analysis: Option<&str>,
) -> Effective {
    if let (Some(value), Some(source)) = (config.value(key.path), config.source(key.path)) {
        return Effective {
            value: value.to_string(),
            source: source.to_string(),
            is_set: true,
        };
    }
    let recorded = match key.path {
        "analysis" => analysis.map(str::to_owned),
        path => choice.recorded_value(path),
    };
    if let Some(value) = recorded {
        return Effective {
            value: Value::from(value).to_string(),
            source: "index".to_owned(),
            is_set: true,
        };
    }
    let default = if choice.excludes_model(key.path) {
        "none".to_owned()
    } else {
        (key.default)()
    };
    Effective {
        value: default,
        source: "default".to_owned(),
        is_set: false,
    }
}

fn print_config(home: &Path, is_json: bool) -> anyhow::Result<()> {
    let config = Config::load(home)?;
    let choice = Choice::new(home, &config, None, None)?;
    let analysis = index_analysis(home).map(AnalysisKind::name);
    let rows = KEYS
        .iter()
        .map(|key| (key, effective_value(key, &config, &choice, analysis)));
    let rows: Vec<(&Key, Effective)> = rows.collect();
    let mut out = io::stdout().lock();
    if is_json {
        let mut listed = Vec::with_capacity(rows.len());
        for (key, row) in &rows {
            let value = match config.value(key.path) {
                Some(value) => json!(value),
                None => json!(row.value.trim_matches('"')),
            };
            listed.push(json!({
                "key": key.path, "value": value, "source": row.source, "variable": key.variable(),
            }));
        }
        serde_json::to_writer_pretty(&mut out, &listed)?;
        writeln!(out)?;
        return Ok(());
    }
    let width = KEYS.iter().map(|key| key.path.len()).max().unwrap_or(0);
    for (key, row) in &rows {
        let value = if row.is_set {
            row.value.clone()
        } else {
            format!("({})", row.value)
        };
        writeln!(out, "{:width$}  {value}  # {}", key.path, row.source)?;
    }
    Ok(())
}

/// Returns the analysis of the index of a home, if there is an index.
fn index_analysis(home: &Path) -> Option<AnalysisKind> {
    let snapshot = Index::open(&index_folder(home)).ok()?.snapshot().ok()?;
    Some(snapshot.analysis().kind())
}

fn check_config(home: &Path) -> anyhow::Result<()> {
    let config = Config::load(home)?;
    for key in KEYS
        .iter()
        .filter(|key| matches!(key.kind, Kind::Path | Kind::Model))
    {
        let Some(Value::String(value)) = config.value(key.path) else {
            continue;
        };
        // The server creates its own folders.
        let is_created = super::OWN_FOLDERS.contains(&key.path);
        if !is_created && (key.kind == Kind::Path || super::is_path(value)) {
            ensure!(
                Path::new(value).exists(),
                "{}: `{}`: there is no file or folder {value}",
                config.place(key.path),
                key.path
            );
        }
    }
    if let Some(indexed) = index_analysis(home) {
        check_analysis(&config, indexed)?;
    }
    Choice::new(home, &config, None, None)?.check()?;
    RerankArguments::check_configured_weights(home, &config)?;
    // What `serve` reads when it starts.
    check_base(home, config.settings.base.as_deref())?;
    crate::serve::read_branding(&config)?;
    crate::serve::operators(config.settings.server.operator_token_file.as_deref())?;
    ensure!(
        config.unknown_variables.is_empty(),
        "{}",
        config.unknown_variables.join("\n")
    );
    let count = counted(
        KEYS.iter()
            .filter(|key| config.source(key.path).is_some())
            .count(),
        "setting",
    );
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {count}, no problem found", path(home).display())?;
    if !home.exists() {
        writeln!(
            out,
            "there is no home at {} yet; `lodeseek load` creates it",
            home.display()
        )?;
    }
    Ok(())
}

fn write_template(home: &Path) -> anyhow::Result<()> {
    let path = path(home);
    let before = read(&path)?;
    // A new home has a file with its base alone.
    let is_new = before
        .lines()
        .all(|line| line.trim().is_empty() || line.starts_with("base"));
    ensure!(
        is_new,
        "{} has settings or comments already and was not changed; `lodeseek config show` lists all keys",
        path.display()
    );
    fs::create_dir_all(home).with_context(|| format!("cannot create {}", home.display()))?;
    crate::provenance::write_atomically(
        &path,
        (before.clone() + &config_template(!before.is_empty())).as_bytes(),
    )?;
    writeln!(
        report_output(),
        "{}: remove the # of the keys that you set",
        path.display()
    )?;
    Ok(())
}

fn print_texts(language: &str) -> anyhow::Result<()> {
    let texts = default_texts(language).with_context(|| {
        format!("the pages have no language `{language}`; supported are en, de, fr, es and it")
    })?;
    io::stdout().lock().write_all(texts.as_bytes())?;
    Ok(())
}

/// Returns a file with every key as a comment, with its explanation and an example.
fn config_template(has_base: bool) -> String {
    let mut text = format!(
        "# {FILE}: settings of this home. A flag precedes a variable LODESEEK_…, which precedes this file.\n"
    );
    let mut table = "";
    for key in KEYS.iter().filter(|key| !(has_base && key.path == "base")) {
        let (of, name) = key.path.split_once('.').unwrap_or(("", key.path));
        if key.kind == Kind::Harvests {
            table = key.path;
            text += &format!("\n# {}.\n# [[{}]]\n# {}\n", key.help, key.path, key.example);
            continue;
        }
        if of != table {
            table = of;
            text += &format!("\n[{table}]");
        }
        let flag = if key.flags.is_empty() {
            String::new()
        } else {
            format!("; flag: {}", key.flags)
        };
        text += &format!(
            "\n# {} (default: {}{flag}).\n# {name} = {}\n",
            key.help,
            (key.default)(),
            key.example
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_cli::ranking_record::RANKING_RECORD;
    use std::collections::BTreeMap;

    /// Returns the value and the place of a key in a home with a record and a configuration.
    fn show_key(record: &str, settings: &str, path: &str) -> (String, String) {
        let home = tempfile::tempdir().expect("a folder");
        fs::write(home.path().join(RANKING_RECORD), record).expect("written");
        let config = Config::parse(&home.path().join(FILE), settings, &BTreeMap::new());
        let config = config.expect("valid settings");
        let choice = Choice::new(home.path(), &config, None, None).expect("a choice");
        let key = KEYS
            .iter()
            .find(|key| key.path == path)
            .expect("a known key");
        let shown = effective_value(key, &config, &choice, None);
        (shown.value, shown.source)
    }

    #[test]
    fn values_of_the_record_are_shown_as_searches_use_them() {
        let record = r#"{"ranking": "best", "dpr": "a", "sparse": "c", "pooling": "mean", "onnx": "e.onnx"}"#;
        for (path, value) in [
            ("ranking", "\"best\""),
            ("encoders.dpr", "\"a\""),
            ("encoders.sparse", "\"c\""),
            ("encoders.pooling", "\"mean\""),
            ("encoders.onnx", "\"e.onnx\""),
        ] {
            let shown = show_key(record, "", path);
            assert_eq!(shown, (value.to_owned(), "index".to_owned()), "{path}");
        }
        let colbert = show_key(record, "", "encoders.colbert");
        assert_eq!(colbert, ("none".to_owned(), "default".to_owned()));
        // Settings replace all recorded models together.
        let settings = "[encoders]\ncolbert = \"b\"\n";
        for path in ["encoders.dpr", "encoders.sparse"] {
            let shown = show_key(record, settings, path);
            assert_eq!(shown, ("none".to_owned(), "default".to_owned()), "{path}");
        }
        for path in ["encoders.pooling", "encoders.onnx"] {
            let (_, source) = show_key(record, settings, path);
            assert_eq!(source, "default", "{path}");
        }
    }

    #[test]
    fn the_template_is_valid_and_sets_nothing() {
        let text = config_template(false);
        let settings: toml::Table = toml::from_str(&text).expect("TOML");
        assert!(
            settings
                .values()
                .all(|table| table.as_table().is_some_and(toml::Table::is_empty)),
            "{settings:?}"
        );
        toml::from_str::<super::super::Settings>(&text).expect("settings");
    }
}
